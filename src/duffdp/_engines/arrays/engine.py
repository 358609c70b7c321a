"""The counting engine of one array on an ordered domain: whole, or in one piece for each group."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import partial
from itertools import chain
from typing import NamedTuple, cast

import numpy as np

from duffdp._engines.arrays.column import (
    MAX_HISTOGRAM,
    SMALL_HISTOGRAM,
    Accumulator,
    ArrayColumn,
    BinCount,
    LevelSum,
    PlainKeys,
    RecordCount,
)
from duffdp._engines.arrays.ranks import MAX_SORTED, run_begins, stable_order
from duffdp._engines.arrays.records import Records
from duffdp._engines.arrays.threads import parallel_map
from duffdp._engines.requests import (
    Answer,
    BinCounts,
    CandidateAt,
    ColumnRequest,
    CountsOfCounts,
    GroupedCounts,
    GroupedRanks,
    LevelSums,
    Quantization,
    RankAt,
    RanksNear,
    RecordCounts,
    Request,
    Sums,
    ValueCounts,
    middle_rank,
    ranges,
    rank_span,
    stretches,
)
from duffdp.domain import Array, Ints, Keys, Ordered

MAX_SNAPPED = 2**20  # records of several groups that are snapped in one go
# Groups of a block, whose arrays fit into a processor's cache: BLOCK_GROUPS of them. With few
# records each, up to MAX_BLOCK with about BLOCK_RECORDS records in all; with many records each,
# fewer, down to MIN_BLOCK, to have work for all cores.
BLOCK_GROUPS, MIN_BLOCK, MAX_BLOCK, BLOCK_RECORDS = 256, 16, 2**12, 2**16
SHORT_GROUP = 2**9  # records up to which groups of about one length are sorted by one call

Targets = Sequence[tuple[Fraction, int]]


class ArrayEngine:
    """Counts the records of one array on an ordered domain.

    Parameters
    ----------
    records
        The array.
    domain
        The candidates, to the nearest of which each record is snapped when it is counted.
    begins, sizes
        Where the records of each group begin in the array, and how many there are; without them all
        records are one group.
    """

    def __init__(
        self,
        records: Records,
        domain: Ordered,
        begins: Ints | None = None,
        sizes: Ints | None = None,
    ) -> None:
        self._column, self._begins, self._sizes = ArrayColumn.of(records, domain), begins, sizes
        self._answers: dict[Request[Answer], Answer] = {}
        if begins is not None and sizes is not None:
            self._read_keys(begins, sizes)

    @classmethod
    def by_group(
        cls, records: Records, group: Ints | None, groups: int, domain: Ordered
    ) -> ArrayEngine:
        """Records in any order, with the number of the group of each: a counting sort brings those
        of a group together.
        """
        if group is None:
            return cls(records, domain)
        sizes = np.bincount(group, minlength=groups)
        array = records.array[stable_order(group)]
        return cls(records._replace(array=array), domain, np.cumsum(sizes) - sizes, sizes)

    def _read_keys(self, begins: Ints, sizes: Ints) -> None:
        """Convert all records to keys once: pieces of keys can be selected and snapped together."""
        column = self._column
        keys, mask = column.reader.keys(column.array), column.present()
        if len(keys) < len(mask):
            before = np.append(0, np.cumsum(mask))
            self._begins, self._sizes = before[begins], before[begins + sizes] - before[begins]
        self._column = ArrayColumn(keys, column.grid, PlainKeys(column.reader))

    @property
    def groups(self) -> int:
        """Number of groups."""
        return 1 if self._begins is None else len(self._begins)

    @property
    def max_records(self) -> int:
        """Number of records of the largest group, missing ones included if there is only one."""
        return self._column.length if self._sizes is None else int(self._sizes.max(initial=0))

    def blocks(self) -> list[Ints]:
        """All groups in pieces whose records fit into a processor's cache."""
        if self._begins is None:
            return [np.zeros(1, dtype=np.int64)]
        return stretches(self.groups, self._block_size)

    @property
    def _block_size(self) -> int:
        """Number of groups that are best answered at once."""
        groups, records = self.groups, max(self._column.length, 1)
        step = min(max(BLOCK_RECORDS * groups // records, BLOCK_GROUPS), MAX_BLOCK)
        return max(min(16 * BLOCK_RECORDS * groups // records, step), MIN_BLOCK)

    def answer(self, requests: Sequence[ColumnRequest]) -> list[Answer]:
        """One answer for each request."""
        if self._begins is not None:
            return [self._answer_groups(groups, request) for _, groups, request in requests]
        unanswered = [request for _, _, request in requests]
        if self._column.length <= MAX_SORTED:
            return answer_column(self._column, unanswered)
        # The rough mean and the sums of std, variance and clipped mean have one request: their
        # programs read a long array three times instead of four.
        new = [r for r in dict.fromkeys(unanswered) if r not in self._answers]
        self._answers |= zip(new, answer_column(self._column, new), strict=True)
        return [self._answers[request] for request in unanswered]

    def _answer_groups(self, groups: Ints, request: Request[Answer]) -> Answer:
        size = self._column.grid.size
        match request:
            case RanksNear(targets, min_reach):
                return self._ranks_near(groups, targets, min_reach)
            case LevelSums(quantization):
                return self._level_sums(groups, quantization)
            case BinCounts(starts):
                return self._bin_counts(groups, starts)
            case RankAt():
                return request.answer(self._bin_counts(groups, request.bins(size).starts))
            case RecordCounts():
                assert self._sizes is not None
                counts: list[int] = self._sizes[groups].tolist()
                return counts
        return answer_by_value(self._value_counts(groups), request, size)

    def _bin_counts(self, groups: Ints, starts: Sequence[int]) -> list[Ints]:
        block = self._block(groups)
        if block is not None:
            return block.bin_counts(starts)
        return [piece.count(partial(BinCount, piece, starts)) for piece in self._pieces(groups)]

    def _value_counts(self, groups: Ints) -> GroupedCounts:
        block = self._block(groups)
        if block is not None and block.fits_memory:
            return block.value_counts()
        return GroupedCounts.join(piece.value_counts() for piece in self._pieces(groups))

    def _pieces(self, groups: Ints) -> Iterator[ArrayColumn]:
        """The records of each group."""
        assert self._begins is not None
        assert self._sizes is not None
        begins, sizes = self._begins[groups].tolist(), self._sizes[groups].tolist()
        return map(self._column.piece, begins, sizes)

    def _block(self, groups: Ints, limit: int = MAX_SNAPPED) -> _Block | None:
        """Several groups that have at most so many records; None for one group, or for more."""
        if self._begins is None or self._sizes is None or len(groups) == 1:
            return None
        sizes = self._sizes[groups]
        if int(sizes.sum()) > limit:
            return None
        return _Block(self._column.array, self._begins[groups], sizes, self._column.grid)

    def _ranks_near(
        self, groups: Ints, targets: Targets, min_reach: int | None
    ) -> list[GroupedRanks]:
        block = self._block(groups, limit=2**63)
        if block is None:
            (piece,) = self._pieces(groups)
            return [GroupedRanks.join([ranks]) for ranks in piece.ranks(targets)]
        answers, complete = zip(*block.ranks(targets, min_reach), strict=True)
        if np.all(complete):
            return list(answers)
        # Where ties reach past what was selected, the group is counted individually.
        split = [ranks.split() for ranks in answers]
        incomplete = ~np.array(complete)
        places = np.flatnonzero(incomplete.any(axis=0))
        for place, piece in zip(places.tolist(), self._pieces(groups[places]), strict=True):
            numbers = np.flatnonzero(incomplete[:, place]).tolist()
            for i, ranks in zip(numbers, piece.ranks([targets[i] for i in numbers]), strict=True):
                split[i][place] = ranks
        return [
            GroupedRanks.join(by_group) if mask.any() else ranks
            for by_group, mask, ranks in zip(split, incomplete, answers, strict=True)
        ]

    def _level_sums(self, groups: Ints, quantization: Quantization) -> list[Sums]:
        assert self._begins is not None
        # In the order in which records lie, a block on each core.
        order = np.argsort(self._begins[groups], kind="stable")
        step = self._block_size
        blocks = [groups[order[at : at + step]] for at in range(0, len(order), step)]
        sums = parallel_map(lambda block: self._block_sums(block, quantization), blocks)
        in_order = list(chain.from_iterable(sums))
        return [in_order[place] for place in np.argsort(order).tolist()]

    def _block_sums(self, groups: Ints, quantization: Quantization) -> list[Sums]:
        block = self._block(groups)
        if block is None or quantization.top * MAX_SNAPPED >= 2**63:
            pieces = self._pieces(groups)
            return [piece.count(partial(LevelSum, piece, quantization)) for piece in pieces]
        return block.level_sums(quantization)


def answer_column(column: ArrayColumn, requests: Sequence[Request[Answer]]) -> list[Answer]:
    """The answers to requests about a column that is one group: those that count by one pass, ranks
    by one or more, and those about values by one.
    """
    counts = iter(_count(column, [r for r in requests if isinstance(r, _COUNTED)]))
    targets = list(
        dict.fromkeys(t for r in requests if isinstance(r, RanksNear) for t in r.targets)
    )
    ranks = dict(zip(targets, column.ranks(targets) if targets else (), strict=True))
    values: GroupedCounts | None = None
    answers: list[Answer] = []
    for request in requests:
        if isinstance(request, _COUNTED):
            answers.append(next(counts))
        elif isinstance(request, RanksNear):
            answers.append([GroupedRanks.join([ranks[target]]) for target in request.targets])
        else:
            if values is None:
                values = GroupedCounts.join([column.value_counts()])
            answers.append(answer_by_value(values, request, column.grid.size))
    return answers


_COUNTED = (LevelSums, BinCounts, RankAt, RecordCounts)


def _count(column: ArrayColumn, requests: Sequence[Request[Answer]]) -> list[Answer]:
    """The answers to requests that one pass over a column answers."""
    if not requests:
        return []

    def make() -> list[Accumulator[Sums | Ints | int]]:
        return [_accumulator(column, request) for request in requests]

    results = [cast(Answer, [accumulator.result()]) for accumulator in column.accumulate(make)]
    return [
        request.answer(cast(list[Ints], result)) if isinstance(request, RankAt) else result
        for request, result in zip(requests, results, strict=True)
    ]


def _accumulator(column: ArrayColumn, request: Request[Answer]) -> Accumulator[Sums | Ints | int]:
    match request:
        case LevelSums(quantization):
            return LevelSum(column, quantization)
        case BinCounts(starts):
            return BinCount(column, starts)
        case RankAt():
            return BinCount(column, request.bins(column.grid.size).starts)
        case RecordCounts():
            return RecordCount()
    raise TypeError(f"numbers in order do not answer {type(request).__name__}.")


def answer_by_value(counts: GroupedCounts, request: Request[Answer], size: int) -> Answer:
    """The answer to a request from the counts of all values."""
    match request:
        case ValueCounts():
            return counts
        case CountsOfCounts():
            return GroupedCounts.join(
                counts_of_counts(group_counts, size) for _, group_counts in counts.split()
            )
        case CandidateAt(records, position):
            return [candidate_at(*group, records, position) for group in counts.split()]
        case BinCounts(starts):
            bins = np.searchsorted(starts, counts.values, side="right") - 1
            return counts._replace(values=bins).histogram(len(starts))
        case RankAt():
            answer = answer_by_value(counts, request.bins(size), size)
            return request.answer(cast(list[Ints], answer))
    raise TypeError(f"numbers in order do not answer {type(request).__name__}.")


def counts_of_counts(counts: Ints, size: int) -> tuple[Ints, Ints]:
    """Numbers of records, 0 first, and how many of `size` candidates have each."""
    records, candidates = np.unique(counts, return_counts=True)
    return np.append(0, records), np.append(size - len(counts), candidates)


def candidate_at(values: Ints, counts: Ints, records: int, position: int) -> int:
    """The candidate at a position among all that have so many records."""
    if records:
        return int(values[counts == records][position])
    # So many candidates without a record lie before each of those with one.
    before = values - np.arange(len(values))
    return position + int(np.searchsorted(before, position, side="right"))


class _BlockRanks(NamedTuple):
    """The values near one target of several groups; `complete` is false if ties extend beyond the
    selection.
    """

    ranks: GroupedRanks
    complete: Array


class _Block:
    """Pieces of one array of keys, of several groups, counted together."""

    def __init__(self, keys: Keys, begins: Ints, sizes: Ints, grid: Ordered) -> None:
        self._keys, self._begins, self.sizes, self._grid = keys, begins, sizes, grid
        self.records = int(sizes.sum())

    @property
    def _fits_histogram(self) -> bool:
        """True if one histogram of all groups has few empty cells."""
        cells = len(self.sizes) * self._grid.size
        return cells <= min(max(SMALL_HISTOGRAM, 4 * self.records), MAX_HISTOGRAM)

    @property
    def fits_memory(self) -> bool:
        """True if the values of all groups are counted at once: in one histogram, or by sorting
        groups that are short enough.
        """
        return self._fits_histogram or int(self.sizes.max(initial=0)) <= MAX_SORTED

    def value_counts(self) -> GroupedCounts:
        """Every distinct index of every group."""
        if not self._fits_histogram:
            ((ranks, _),) = self.ranks([(Fraction(0), self.records)], None)
            return GroupedCounts(*ranks[:3])
        size = self._grid.size
        code = self._numbers() * size + self._indices()
        counts = np.bincount(code, minlength=len(self.sizes) * size).reshape(-1, size)
        group, index = counts.nonzero()
        ends = np.cumsum(np.bincount(group, minlength=len(self.sizes)))
        return GroupedCounts(index, counts[group, index], ends)

    def bin_counts(self, starts: Sequence[int]) -> list[Ints]:
        """The number of records of every group from each candidate to the next one."""
        cell = np.searchsorted(np.array(starts[1:], dtype=np.int64), self._indices(), side="right")
        code = self._numbers() * len(starts) + cell
        counts = np.bincount(code, minlength=len(self.sizes) * len(starts))
        return list(counts.reshape(-1, len(starts)))

    def level_sums(self, quantization: Quantization) -> list[Sums]:
        """The sums of every group."""
        levels = quantization.of(np.clip(self._indices(), quantization.low, quantization.high))
        columns = [self.sizes, self._group_sums(levels)]
        if quantization.squares:
            columns.append(self._group_sums(levels * levels))
        return list(map(Sums, *(column.tolist() for column in columns)))

    def ranks(self, targets: Targets, min_reach: int | None) -> list[_BlockRanks]:
        """The values near each target: records are selected in each group, then snapped and counted
        all at once.
        """
        spans = [rank_span(q, reach, self.sizes) for q, reach in targets]
        lengths = [high - low + 1 for low, high in spans]
        selected = [np.empty(int(length.sum()), dtype=self._keys.dtype) for length in lengths]
        places = [np.cumsum(length) - length for length in lengths]
        short = self.sizes <= SHORT_GROUP
        if short.any():
            ordered = self._sorted(short)
            offsets = np.cumsum(self.sizes * short)[short] - self.sizes[short]
            for keys_near, (low, _), length, place in zip(
                selected, spans, lengths, places, strict=True
            ):
                if len(keys_near) == len(ordered) and short.all():
                    keys_near[:] = ordered
                else:
                    short_length = length[short]
                    keys_near[ranges(place[short], short_length)] = ordered[
                        ranges(offsets + low[short], short_length)
                    ]
        # Numbers of Python, once: then little but the sort of each group holds up other threads.
        parts = [
            (keys_near, low.tolist(), (high + 1).tolist(), place.tolist())
            for keys_near, (low, high), place in zip(selected, spans, places, strict=True)
        ]
        for i in np.flatnonzero(~short).tolist():
            begin = self._begins.item(i)
            keys = self._keys[begin : begin + self.sizes.item(i)].copy()
            sorts = len(keys) <= MAX_SORTED
            if sorts:
                keys.sort()
            else:
                keys.partition(sorted({end for low, high in spans for end in (low[i], high[i])}))
            for keys_near, first, last, place in parts:
                middle = keys[first[i] : last[i]]
                keys_near[place[i] : place[i] + len(middle)] = middle if sorts else np.sort(middle)
        return [
            self._ranks(q, min_reach, span, keys_near)
            for (q, _), span, keys_near in zip(targets, spans, selected, strict=True)
        ]

    def _sorted(self, short: Array) -> Array:
        """The records of some groups, each sorted, one group after the other."""
        begins, sizes = self._begins[short], self.sizes[short]
        ordered = np.empty(int(sizes.sum()), dtype=self._keys.dtype)
        places, bits = np.cumsum(sizes) - sizes, np.frexp(sizes)[1]
        top = np.inf if ordered.dtype == np.float64 else np.iinfo(ordered.dtype).max
        for length in np.flatnonzero(np.bincount(bits)[1:]).tolist():
            # As rows of one array, in front of what nothing is above, one call sorts them all.
            members = np.flatnonzero(bits == length + 1)
            member_sizes = sizes[members]
            inside = np.arange(int(member_sizes.max())) < member_sizes[:, None]
            rows = np.full(inside.shape, top, dtype=ordered.dtype)
            rows[inside] = self._keys[ranges(begins[members], member_sizes)]
            rows.sort(axis=1)
            ordered[ranges(places[members], member_sizes)] = rows[inside]
        return ordered

    def _ranks(
        self, q: Fraction, min_reach: int | None, span: tuple[Ints, Ints], keys: Array
    ) -> _BlockRanks:
        """The values near one target of every group, from the sorted records there."""
        low, high = span
        cuts = np.cumsum(high - low + 1)
        index = self._grid.snap(keys)
        runs = run_begins(index, cuts[:-1])
        values, counts = index[runs], np.diff(runs, append=len(index))
        begin, end = np.searchsorted(runs, cuts - (high - low + 1)), np.searchsorted(runs, cuts)
        first, last = np.zeros_like(low), np.full_like(low, self._grid.size - 1)
        # A value at the edge of what was selected may go on outside: leave it out.
        before, after = low > 0, high < self.sizes - 1
        below = low.copy()
        below[before] += counts[begin[before]]
        first[before] = values[begin[before]] + 1
        last[after] = values[end[after] - 1] - 1
        begin, end = begin + before, end - after
        cumulative = np.append(0, np.cumsum(counts))
        stop = np.maximum(end, begin)
        if min_reach is None:
            complete = ~before & ~after
        else:
            centre = middle_rank(q, self.sizes)
            upper = below + cumulative[stop] - cumulative[begin]
            complete = (begin <= end) & (~before | (below < centre - min_reach))
            complete &= ~after | (upper > centre + min_reach)
        if before.any() or after.any():
            inside = ranges(begin, stop - begin)
            values, counts = values[inside], counts[inside]
        ends = np.cumsum(stop - begin)
        return _BlockRanks(
            GroupedRanks(values, counts, ends, below, self.sizes, first, last), complete
        )

    def _indices(self) -> Ints:
        """The candidates of all records, one group after the other."""
        begins, ends = self._begins, self._begins + self.sizes
        if len(begins) and (begins[1:] == ends[:-1]).all():  # no copy where groups are neighbours
            return self._grid.snap(self._keys[begins[0] : ends[-1]])
        return self._grid.snap(self._keys[ranges(begins, self.sizes)])

    def _numbers(self) -> Ints:
        """The number of the group of each record, in the same order."""
        return np.repeat(np.arange(len(self.sizes)), self.sizes)

    def _group_sums(self, numbers: Ints) -> Ints:
        """The sum of every group; a running sum that wraps around leaves differences exact."""
        cumulative = np.zeros(len(numbers) + 1, dtype=np.int64)
        np.cumsum(numbers, out=cumulative[1:])
        end = np.cumsum(self.sizes)
        sums: Ints = cumulative[end] - cumulative[end - self.sizes]
        return sums
