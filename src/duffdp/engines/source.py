"""What a statistic asks of the place where records live."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple, Protocol

from duffdp.domain import Ints

LEVEL_BITS = 16


class Ranks(NamedTuple):
    """All values from candidate `first` to candidate `last`: distinct indices with counts, and
    how many lie before.
    """

    values: Ints
    counts: Ints
    below: int
    total: int
    first: int
    last: int


class ManyRanks(NamedTuple):
    """The ranks of several columns side by side: the values of each end at `ends`."""

    values: Ints
    counts: Ints
    ends: Ints
    below: Ints
    total: Ints
    first: Ints
    last: Ints

    def column(self, i: int) -> Ranks:
        """The ranks of one of them."""
        own = slice(self.ends.item(i - 1) if i else 0, self.ends.item(i))
        return Ranks(self.values[own], self.counts[own], *(each.item(i) for each in self[3:]))

    def columns(self) -> list[Ranks]:
        """The ranks of each of them."""
        ends = self.ends.tolist()
        numbers = zip([0, *ends[:-1]], ends, *(each.tolist() for each in self[3:]), strict=True)
        values, counts = self.values, self.counts
        return [Ranks(values[at:end], counts[at:end], *own) for at, end, *own in numbers]


class Question(NamedTuple):
    """The values whose rank is within `reach` of `q n` for every `(q, reach)`; the sum of all
    indices; or all counts.

    Who can look further later says with how many ranks around `q n` an answer is `enough`: where
    many records are tied, the others may be left out. Without it none is.
    """

    ranks: tuple[tuple[Fraction, int], ...] = ()
    total: bool = False
    tally: bool = False
    enough: int | None = None


class Levels(NamedTuple):
    """How far records lie from the candidate `low`: clamped to `high`, and rounded to multiples of
    2**shift. With `squares`, which need few levels, their squares are of interest as well.
    """

    low: int
    high: int
    shift: int = 0
    squares: bool = False

    @classmethod
    def squared(cls, low: int, high: int) -> Levels:
        """At most 2**16 levels: finer ones would say nothing that noise does not drown."""
        return cls(low, high, max(0, (high - low).bit_length() - LEVEL_BITS), True)

    @property
    def top(self) -> int:
        """The level of `high`."""
        return int(self.of(self.high))

    def of(self, index: Any) -> Any:
        """The level of a candidate between the two, or of an array of them."""
        return (index - self.low + (1 << self.shift >> 1)) >> self.shift


class LevelSums(NamedTuple):
    """How many records there are, the sum of their levels and, where it is of interest, that of
    the squares.
    """

    records: int = 0
    levels: int = 0
    squares: int = 0


class Tally(Protocol):
    """Records as indices of candidates, wherever they live, counted by value."""

    def tally(self) -> tuple[Ints, Ints]:
        """Every distinct index with its count."""


class Classed(Tally, Protocol):
    """The same where values stay: candidates are told by how many records they have."""

    def classes(self) -> tuple[Ints, Ints]:
        """Numbers of records, 0 among them, and how many candidates have each."""

    def candidates(self, asked: Sequence[tuple[Any, int, int]]) -> list[int]:
        """For several columns of one table a number of records and a position: the candidate at
        this position among all with so many records.
        """


class Source(Tally, Protocol):
    """Records that can be asked for their ranks as well."""

    @property
    def size(self) -> int:
        """Number of candidates."""

    @property
    def length(self) -> int:
        """Number of records, or more: a guess that decides about speed alone."""

    def ask(self, question: Question) -> tuple[list[Ranks], int]:
        """The wanted ranks and, if asked for, the sum of all indices."""

    def within(self, starts: Sequence[int], of_all_groups: bool) -> list[int]:
        """How many records lie from each candidate to the next one of the list, which begins with
        0, and from the last one on; `of_all_groups` if every group asks for the same.
        """

    def count(self) -> int:
        """How many records there are."""

    def expect(self, levels: Levels) -> None:
        """Levels that will be asked for: those of all groups can be summed together."""

    def level_sums(self, levels: Levels) -> LevelSums:
        """Sums over all records."""

    def rank_of(self, index: int) -> tuple[int, int]:
        """How many records lie before this candidate and how many at it."""
