"""Counting requests and their answers as plain data: the protocol between statistics and engines.

A statistic yields requests and receives answers; it never touches an engine. Every answer has a
group axis: it holds one entry for each group of the request, in that order. One group is several
groups with n = 1.

Promise: Statistics and engines exchange counts through these types alone, and an answer has one
entry per group.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Generic, NamedTuple, Protocol, TypeVar, cast

import numpy as np

from duffdp._parameters import MAX_SHARE_DENOMINATOR
from duffdp.domain import Floats, Ints

SQUARED_LEVEL_BITS = 16  # levels whose squares are summed: sums of 2**21 squares fit a double

AnswerT = TypeVar("AnswerT", bound="Answer", covariant=True)
A = TypeVar("A", bound="Answer")
B = TypeVar("B", bound="Answer")
Result = TypeVar("Result")
LevelT = TypeVar("LevelT", int, Ints)


class Request(Generic[AnswerT]):
    """A request for counts of the records of some groups of one column."""

    __slots__ = ()


#: A computation that needs counts on its way: it yields requests that can be answered together,
#: receives one answer for each, and returns its result.
Inquiry = Generator[tuple["Request[Answer]", ...], tuple["Answer", ...], Result]


def ask(request: Request[A]) -> Inquiry[A]:
    """Yield one request and return its answer, which has the type that the request names."""
    (answer,) = yield (request,)
    return cast(A, answer)


def ask_both(first: Request[A], second: Request[B]) -> Inquiry[tuple[A, B]]:
    """Yield two requests that one pass over the data may answer."""
    first_answer, second_answer = yield (first, second)
    return cast(A, first_answer), cast(B, second_answer)


class Ranks(NamedTuple):
    """All values of one group from candidate `first` to candidate `last`: distinct indices with
    counts, the number of records before them, and the number in all.
    """

    values: Ints
    counts: Ints
    below: int
    total: int
    first: int
    last: int


class GroupedRanks(NamedTuple):
    """The ranks of several groups: the values of group i end at `ends[i]`."""

    values: Ints
    counts: Ints
    ends: Ints
    below: Ints
    total: Ints
    first: Ints
    last: Ints

    @classmethod
    def join(cls, groups: Sequence[Ranks]) -> GroupedRanks:
        """Join the ranks of single groups."""
        values, counts, *numbers = zip(*groups, strict=True)
        lengths, *columns = np.array([list(map(len, values)), *numbers])
        if len(groups) == 1:
            return cls(values[0], counts[0], lengths, *columns)
        return cls(np.concatenate(values), np.concatenate(counts), lengths.cumsum(), *columns)

    @classmethod
    def of_counts(cls, counts: GroupedCounts, size: int) -> GroupedRanks:
        """All values of every group, on a domain of `size` candidates."""
        total = counts.totals()
        zeros = np.zeros_like(total)
        return cls(*counts, zeros, total, zeros, zeros + (size - 1))

    def group(self, i: int) -> Ranks:
        """The ranks of one group."""
        span = slice(self.ends.item(i - 1) if i else 0, self.ends.item(i))
        return Ranks(self.values[span], self.counts[span], *(array.item(i) for array in self[3:]))

    def repeat(self, copies: int) -> GroupedRanks:
        """The ranks of one group, as those of several."""
        ends = self.ends[0] * np.arange(1, copies + 1)
        values, counts = np.tile(self.values, copies), np.tile(self.counts, copies)
        return GroupedRanks(values, counts, ends, *(np.repeat(array, copies) for array in self[3:]))

    def count_before(self, places: Ints) -> Ints:
        """The number of records before each of several candidates, a row for every group; before
        one outside of a window as many as before its end.
        """
        begin = np.append(0, self.ends[:-1])[:, None]
        at = search_spans(np.append(self.values, 0), begin, self.ends[:, None], places)
        cumulative = np.append(0, np.cumsum(self.counts))
        before: Ints = self.below[:, None] + cumulative[at] - cumulative[begin]
        return before

    def split(self) -> list[Ranks]:
        """The ranks of each group."""
        ends = self.ends.tolist()
        numbers = zip([0, *ends[:-1]], ends, *(array.tolist() for array in self[3:]), strict=True)
        values, counts = self.values, self.counts
        return [
            Ranks(values[begin:end], counts[begin:end], *group_numbers)
            for begin, end, *group_numbers in numbers
        ]


class GroupedCounts(NamedTuple):
    """Distinct values of several groups, in order, with their counts: those of group i end at
    `ends[i]`.
    """

    values: Ints
    counts: Ints
    ends: Ints

    @classmethod
    def join(cls, groups: Iterable[tuple[Ints, Ints]]) -> GroupedCounts:
        """Join the values and counts of single groups."""
        values, counts = zip(*groups, strict=True)
        ends = np.cumsum([len(group_values) for group_values in values])
        return cls(np.concatenate(values), np.concatenate(counts), ends)

    def group(self, i: int) -> tuple[Ints, Ints]:
        """Values and counts of one group."""
        span = slice(self.ends.item(i - 1) if i else 0, self.ends.item(i))
        return self.values[span], self.counts[span]

    def repeat(self, copies: int) -> GroupedCounts:
        """The counts of one group, as those of several."""
        ends = self.ends[0] * np.arange(1, copies + 1)
        return GroupedCounts(np.tile(self.values, copies), np.tile(self.counts, copies), ends)

    def split(self) -> list[tuple[Ints, Ints]]:
        """Values and counts of each group."""
        return [self.group(i) for i in range(len(self.ends))]

    def take(self, groups: Ints) -> GroupedCounts:
        """The counts of some groups, in this order."""
        if len(groups) == len(self.ends) and (groups == np.arange(len(groups))).all():
            return self
        begins = np.append(0, self.ends)[groups]
        lengths = self.ends[groups] - begins
        places = ranges(begins, lengths)
        return GroupedCounts(self.values[places], self.counts[places], np.cumsum(lengths))

    def histogram(self, size: int) -> list[Ints]:
        """The count of every value below `size`, group by group; values may occur again."""
        group = np.repeat(np.arange(len(self.ends)), np.diff(self.ends, prepend=0))
        cells = np.zeros((len(self.ends), size), dtype=np.int64)
        np.add.at(cells, (group, self.values), self.counts)
        return list(cells)

    def totals(self) -> Ints:
        """The sum of the counts of each group."""
        cumulative = np.append(0, np.cumsum(self.counts))
        totals: Ints = np.diff(cumulative[np.append(0, self.ends)])
        return totals


class Quantization(NamedTuple):
    """Whole levels of candidates: the distance from candidate `low`, clamped to `high`, rounded to
    multiples of 2**shift. `squares`: the squares of the levels are summed as well.
    """

    low: int
    high: int
    shift: int = 0
    squares: bool = False

    @classmethod
    def squared(cls, low: int, high: int) -> Quantization:
        """At most 2**16 levels: finer ones would say nothing that noise does not drown."""
        return cls(low, high, max(0, (high - low).bit_length() - SQUARED_LEVEL_BITS), True)

    @property
    def top(self) -> int:
        """The level of `high`."""
        return self.of(self.high)

    def of(self, index: LevelT) -> LevelT:
        """The level of a candidate between the two, or of an array of them."""
        return (index - self.low + (1 << self.shift >> 1)) >> self.shift


class Sums(NamedTuple):
    """Number of records of a group, the sum of their levels, and of the squares if requested."""

    records: int = 0
    levels: int = 0
    squares: int = 0


class Pairs(NamedTuple):
    """The pairs of one group: finite doubles, 0 or between 2**-300 and 2**300."""

    x: Floats
    y: Floats


@dataclass(frozen=True, slots=True)
class RanksNear(Request[list[GroupedRanks]]):
    """Request for the values whose rank is within `reach` of `q n`, for every target (q, reach).

    `min_reach`: the caller can ask again, so an answer may stop after this many ranks on either
    side of `q n` where many records tie. None: the full reach is needed.
    """

    targets: tuple[tuple[Fraction, int], ...]
    min_reach: int | None = None


@dataclass(frozen=True, slots=True)
class LevelSums(Request[list[Sums]]):
    """Request for exact sums of the levels of all records."""

    quantization: Quantization


@dataclass(frozen=True, slots=True)
class BinCounts(Request[list[Ints]]):
    """Request for the number of records from each candidate of `starts`, which begins with 0, to
    the next one, and from the last one on.
    """

    starts: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ValueCounts(Request[GroupedCounts]):
    """Request for every distinct value with its number of records."""


@dataclass(frozen=True, slots=True)
class RecordCounts(Request[list[int]]):
    """Request for the number of records."""


@dataclass(frozen=True, slots=True)
class RankAt(Request[list[tuple[int, int]]]):
    """Request for the number of records before a candidate and at it."""

    index: int

    def bins(self, size: int) -> BinCounts:
        """The bins that end before the candidate and after it, on a domain of `size`."""
        return BinCounts(tuple(sorted({0, self.index, min(self.index + 1, size - 1)})))

    def answer(self, bins: Iterable[Ints]) -> list[tuple[int, int]]:
        """The answer from the counts in these bins, group by group."""
        at = min(self.index, 1)  # the first bin, or the one after it
        return [(int(counts[:at].sum()), int(counts[at])) for counts in bins]


@dataclass(frozen=True, slots=True)
class CountsOfCounts(Request[GroupedCounts]):
    """Request for the number of candidates with no record, with one, with two, and so on."""


@dataclass(frozen=True, slots=True)
class CandidateAt(Request[list[int]]):
    """Request for the candidate at a position among all candidates with this many records."""

    records: int
    position: int


@dataclass(frozen=True, slots=True)
class PairRecords(Request[list[Pairs]]):
    """Request for all records that are pairs of numbers."""


@dataclass(frozen=True, slots=True)
class EdgeRecords(Request[list[object]]):
    """Request for all records that are edges of a graph, as the caller passed them."""


#: An answer: one entry for each group, of the type that the class of the request names.
Answer = (
    list[GroupedRanks]
    | list[Sums]
    | list[Ints]
    | GroupedCounts
    | list[int]
    | list[tuple[int, int]]
    | list[Pairs]
    | list[object]
)


class ColumnRequest(NamedTuple):
    """A request about a column (0 unless an engine has several) and some groups, by number."""

    column: int
    groups: Ints
    request: Request[Answer]


class Engine(Protocol):
    """Protocol of an engine, which holds records and counts them; it contains no privacy code."""

    @property
    def groups(self) -> int:
        """Number of groups."""

    @property
    def max_records(self) -> int:
        """Number of records of the largest group, or more: a guess that affects speed alone."""

    def blocks(self) -> list[Ints]:
        """All groups in pieces that are best answered together: one piece for an engine that
        answers all groups by the same query.
        """

    def answer(self, requests: Sequence[ColumnRequest]) -> list[Answer]:
        """One answer for each request; those that can share a pass over the data do."""


def run_inquiry(inquiry: Inquiry[Result], engine: Engine, groups: Ints, column: int = 0) -> Result:
    """Run one inquiry about some groups to its end."""
    try:
        requests = next(inquiry)
        while True:
            answers = engine.answer(
                [ColumnRequest(column, groups, request) for request in requests]
            )
            requests = inquiry.send(tuple(answers))
    except StopIteration as end:
        result: Result = end.value
        return result


def rank_span(q: Fraction, reach: int, totals: Ints) -> tuple[Ints, Ints]:
    """Positions of the first and the last record near `q n`, among n in order, for several n; the
    last one is -1 if there is none.
    """
    centre = middle_rank(q, totals)
    last = totals - 1
    first = np.maximum(np.minimum(centre - reach, last), 0)
    return first, np.minimum(centre + (reach + 1), last)


def middle_rank(q: Fraction, totals: Ints) -> Ints:
    """The rank `q n`, rounded down, for several n."""
    if q.denominator <= MAX_SHARE_DENOMINATOR:  # so that no product overflows
        return q.numerator * totals // q.denominator
    ranks = [q.numerator * total // q.denominator for total in totals.tolist()]
    return np.array(ranks, dtype=np.int64)


def stretches(count: int, size: int) -> list[Ints]:
    """The numbers below a count, in pieces of so many."""
    return [np.arange(begin, min(begin + size, count)) for begin in range(0, count, size)]


def ranges(begins: Ints, lengths: Ints) -> Ints:
    """So many positions from each begin on, one range after the other."""
    before = np.cumsum(lengths) - lengths
    positions: Ints = np.repeat(begins - before, lengths) + np.arange(int(lengths.sum()))
    return positions


def search_spans(values: Ints, begin: Ints, end: Ints, least: Ints) -> Ints:
    """Of every span of ordered values the place of the first one that is at least so large."""
    begin, end, least = np.broadcast_arrays(begin, end, least)
    while (begin < end).any():
        middle = (begin + end) >> 1
        below = (values[middle] < least) & (begin < end)
        begin = np.where(below, middle + 1, begin)
        end = np.where(below, end, np.minimum(middle, end))
    return begin
