"""What a statistic asks of the place where records live."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple, Protocol

from duffdp.domain import Ints


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


class Question(NamedTuple):
    """The values whose rank is within `reach` of `q n` for every `(q, reach)`; the sum of all
    indices; or all counts.
    """

    ranks: tuple[tuple[Fraction, int], ...] = ()
    total: bool = False
    tally: bool = False


class Tally(Protocol):
    """Records as indices of candidates, wherever they live, counted by value."""

    def tally(self) -> tuple[Ints, Ints]:
        """Every distinct index with its count."""


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

    def clamped_sum(self, first: int, last: int) -> tuple[int, int]:
        """How many records there are, and the sum of their indices, clamped to two candidates."""

    def outside(self, centre: int, radii: Sequence[int]) -> list[int]:
        """How many records are further than each radius from a candidate."""

    def rank_of(self, index: int) -> tuple[int, int]:
        """How many records lie before this candidate and how many at it."""
