"""An array on a grid: a random bracket, one pass in cache-sized chunks, a small sort."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import partial

import numpy as np

from duffdp.domain import Array, Floats, Grid, Ints, Keys, Ordered
from duffdp.engines.arrays.keyed_array import CHUNK, KeyedArray
from duffdp.engines.arrays.ranks import (
    SORTED,
    begins,
    counted_runs,
    ranks_of_few,
    trim,
    wanted,
)
from duffdp.engines.arrays.records import Records
from duffdp.engines.arrays.threads import in_stretches
from duffdp.engines.arrays.untyped import keys_on
from duffdp.engines.source import Levels, LevelSums, Question, Ranks

SUMMED = 2**18  # as CHUNK, where nothing else is kept in the cache
PENDING = 2**19  # filtered values held before they are counted by value: 4 MiB
DENSE = 2**12  # brackets with at most so many candidates are counted in a histogram


class Column(KeyedArray):
    """The records of one array on one grid, clamped and snapped one by one as they pass."""

    def __init__(self, records: Records, grid: Ordered) -> None:
        array = records.array
        if array.dtype.kind == "O":
            array, grid = keys_on(array, grid)
        super().__init__(array, grid)
        self.grid = grid
        self._sums: dict[Levels, LevelSums] = {}

    @property
    def size(self) -> int:
        """Number of candidates."""
        return self.grid.size

    @property
    def length(self) -> int:
        """Number of records, missing ones included."""
        return len(self._array)

    def indices(self) -> Ints:
        """The index of every record in order, -1 for missing ones; not for columns of objects."""
        present, keys = self.present_keys()
        index = np.full(len(self._array), -1, dtype=np.int64)
        index[present] = self.grid.snap(keys)
        return index

    def ask(self, question: Question) -> tuple[list[Ranks], int]:
        """The wanted ranks and, if asked for, the sum of all indices."""
        ranks, total = question.ranks, question.total
        length = len(self._array)
        if length <= SORTED:
            index = self.grid.snap(self.keys(self._array))
            return [ranks_of_few(index, self.size, q, reach) for q, reach in ranks], _exact_sum(
                index
            ) if total else 0
        sample = self.grid.snap(
            self.keys(self._array[_positions(length, max(2**11, int(length ** (2 / 3)) // 3))])
        )
        sample.sort()
        found: dict[int, Ranks] = {}
        exact, margin = 0, 3.2
        while len(found) < len(ranks):
            todo = [i for i in range(len(ranks)) if i not in found]
            brackets = [self._bracket(sample, *ranks[i], margin) for i in todo]
            gathers, seen, summed = self.scan(brackets, total and not exact)
            exact += summed
            found |= {
                i: near
                for i, gather in zip(todo, gathers, strict=True)
                if (near := gather.near(*ranks[i], seen))
            }
            margin *= 4  # a bracket that missed, perhaps one time in 700, is widened
        return [found[i] for i in range(len(ranks))], exact

    def _bracket(self, sample: Ints, q: Fraction, reach: int, margin: float) -> tuple[int, int]:
        """Two candidates that very likely enclose the wanted ranks, by a sorted sample."""
        size, share = len(sample), float(q)
        half = (
            margin * math.sqrt(size * share * (1 - share) + 4) + reach * size / len(self._array) + 1
        )
        low, high = math.floor(share * size - half), math.ceil(share * size + half)
        return (int(sample[low]) if low >= 0 and size else 0), (
            int(sample[high]) if high < size else self.size - 1
        )

    def scan(self, brackets: list[tuple[int, int]], total: bool) -> tuple[list[_Gather], int, int]:
        """One pass that fills the brackets: these, how many records, and if asked the sum of
        indices.
        """

        def scan(stretch: Array) -> tuple[list[_Gather], int, int]:
            gathers = [_Gather(low, high, self) for low, high in brackets]
            grid, seen, exact = self.grid, 0, 0
            for part in self.chunks(stretch=stretch):
                seen += len(part)
                if total:
                    exact += (
                        _float_sum(grid.snap_float(part)) or 0  # none is missing here
                        if self._in_floats
                        else _exact_sum(grid.snap(part))
                    )
                for gather in gathers:
                    gather.take(part)
            return gathers, seen, exact

        (gathers, seen, exact), *others = in_stretches(scan, self._array)
        for more, also_seen, also_exact in others:
            seen, exact = seen + also_seen, exact + also_exact
            for gather, other in zip(gathers, more, strict=True):
                gather.join(other)
        return gathers, seen, exact

    @property
    def _in_floats(self) -> bool:
        """Whether indices are summed in doubles without error."""
        return not self.integer and self.size <= 2**41 and not self.grid.double_steps.rounds

    def within(self, starts: Sequence[int], of_all_groups: bool) -> list[int]:
        """How many records lie from each candidate to the next one of the list: one pass."""
        first = np.array(starts[1:], dtype=np.int64)
        counts = np.zeros(len(starts), dtype=np.int64)
        for part in self.chunks():
            cell = np.searchsorted(first, self.grid.snap(part), side="right")
            counts += np.bincount(cell, minlength=len(starts))
        return list(counts.tolist())

    def edges(self, low: int, high: int) -> tuple[float | None, float]:
        """The least (None: no key gets there) and the largest key of candidates `low` to `high`."""
        least, beyond = (self.grid.threshold(index, self.integer) for index in (low, high + 1))
        if not self.integer:
            most = math.inf if beyond is None else math.nextafter(beyond, -math.inf)
            return least, most
        first, last = self._limits.min, self._limits.max  # thresholds may lie beyond all keys
        least = None if least is None or least > last else max(least, first)
        return least, last if beyond is None else min(beyond - 1, last)

    def rank_of(self, index: int) -> tuple[int, int]:
        """How many records lie before this candidate and how many at it: one pass."""
        least, most = self.edges(index, index)
        before = upto = 0
        for part in self.chunks():
            before += len(part) if least is None else int(np.count_nonzero(part < least))
            upto += int(np.count_nonzero(part <= most))
        return before, upto - before

    def count(self) -> int:
        """How many records there are."""
        return sum(map(len, self.chunks()))

    def expect(self, levels: Levels) -> None:
        """An array is asked by itself."""

    def level_sums(self, levels: Levels) -> LevelSums:
        """Sums over all records: one pass for the first who asks."""
        if levels not in self._sums:
            parts = in_stretches(partial(self._level_sums, levels), self._array)
            self._sums[levels] = LevelSums(*map(sum, zip(*parts, strict=True)))
        return self._sums[levels]

    def _level_sums(self, levels: Levels, stretch: Array) -> LevelSums:
        records = total = squares = 0
        level: Array
        buffer = np.empty(min(SUMMED, len(stretch)))
        for begin in range(0, len(stretch), SUMMED):
            part = stretch[begin : begin + SUMMED]
            if self._in_floats and part.dtype == np.float64:
                level = self._float_levels(part, levels, buffer[: len(part)])
                found = _float_sum(level)
                if found is None:  # some are missing
                    level = level[~np.isnan(level)]
                    found = _float_sum(level) or 0
            else:
                index = self.grid.snap(self.keys(part))
                if levels.low > 0 or levels.high < self.size - 1:
                    index = np.clip(index, levels.low, levels.high)
                whole = levels.of(index) if levels.low or levels.shift else index
                found = _exact_sum(whole)
                level = whole.astype(np.float64) if levels.squares else whole
            records += len(level)
            total += found
            if levels.squares:
                # Levels have 16 bits: sums of squares stay below 2**53, exact in doubles.
                squares += int(np.square(level, out=level).sum())
        return LevelSums(records, total, squares)

    def _float_levels(self, part: Floats, levels: Levels, out: Floats) -> Floats:
        """Levels as doubles, without error; nan for what is missing."""
        level = self.grid.snap_float(part, out)
        if levels.low > 0 or levels.high < self.size - 1:
            np.clip(level, levels.low, levels.high, out=level)
        if levels.low:
            level -= levels.low
        if levels.shift:
            level *= 2.0**-levels.shift
            level += 0.5
            np.floor(level, out=level)
        return level

    def tally(self) -> tuple[Ints, Ints]:
        """Every distinct index with its count."""
        if self.size <= max(DENSE, 4 * len(self._array)) and self.size <= 2**22:
            counts = np.zeros(self.size, dtype=np.int64)
            for part in self.chunks(max(CHUNK, self.size)):
                counts += np.bincount(self.grid.snap(part), minlength=self.size)
            index = counts.nonzero()[0]
            return index, counts[index]
        index = np.concatenate(
            [self.grid.snap(part) for part in self.chunks()] or [np.empty(0, dtype=np.int64)]
        )
        index.sort()
        return counted_runs(index)


class _Gather:
    """Collects what falls between two candidates, in memory for the distinct values there."""

    def __init__(self, low: int, high: int, column: Column) -> None:
        self._low, self._high, self._column = low, high, column
        self._least, self._most = column.edges(low, high)
        assert self._least is not None  # a record is there
        self._dense = np.zeros(high - low + 1, dtype=np.int64) if high - low < DENSE else None
        self._parts: list[Ints] = []  # indices
        self._pending = self._below = 0
        self._index = self._count = np.empty(0, dtype=np.int64)

    def take(self, part: Keys) -> None:
        if self._high == self._column.size - 1:
            inside = part >= self._least
            many = int(np.count_nonzero(inside))
            self._below += len(part) - many
        else:
            inside = part <= self._most
            many = int(np.count_nonzero(inside))
            if self._low > 0:
                before = part < self._least
                fewer = int(np.count_nonzero(before))
                inside ^= before
                many -= fewer
                self._below += fewer
        if self._dense is None:
            if many:
                self._parts.append(self._snapped(part, inside))
                self._pending += many
                if self._pending > PENDING:
                    self._compress()
        elif self._low == self._high:
            self._dense[0] += many
        elif many:
            index = self._snapped(part, inside) - self._low
            self._dense += np.bincount(index, minlength=len(self._dense))

    def _snapped(self, part: Keys, inside: Array) -> Ints:
        # By places: a mask takes longer for the few that lie inside.
        return self._column.grid.snap(part.take(inside.nonzero()[0]))

    def join(self, other: _Gather) -> None:
        """Take over what another one found in another stretch."""
        self._below += other._below
        if self._dense is not None and other._dense is not None:
            self._dense += other._dense
        self._parts += other._parts
        self._pending += other._pending
        if len(other._index):
            self._add(other._index, other._count)
        if self._pending > PENDING:
            self._compress()

    def _compress(self) -> None:
        index = np.concatenate(self._parts)
        self._parts, self._pending = [], 0
        index.sort()
        self._add(*counted_runs(index))

    def _add(self, index: Ints, count: Ints) -> None:
        """Distinct indices with their counts, beside those that are known."""
        if len(self._index):
            joined, weight = (
                np.concatenate([self._index, index]),
                np.concatenate([self._count, count]),
            )
            order = np.argsort(joined, kind="stable")
            joined, weight = joined[order], weight[order]
            begin = begins(joined)
            index, count = joined[begin], np.add.reduceat(weight, begin)
        self._index, self._count = index, count

    def near(self, q: Fraction, reach: int, total: int) -> Ranks | None:
        """The wanted ranks; None if the bracket does not cover them."""
        if self._dense is not None:
            index = self._dense.nonzero()[0]
            self._index, self._count = index + self._low, self._dense[index]
        elif len(self._index) and self._pending:
            self._compress()
        inside = self._pending + int(self._count.sum())
        low, high = wanted(q, reach, total)
        high = min(high + 1, total)  # as `ranks_of_few`: a seed gives the same by either way
        if (self._below > low and self._low > 0) or (
            self._below + inside < high and self._high < self._column.size - 1
        ):
            return None
        # Most of it is wanted, or ties kept the bracket wide: another one would not narrow it.
        if self._pending and (2 * (high - low) > inside or 2 * inside > total):
            self._compress()
        if not self._pending:
            return trim(
                Ranks(self._index, self._count, self._below, total, self._low, self._high),
                low,
                high,
            )
        values = Records(np.concatenate(self._parts), integer=True)
        centre = Fraction(q.numerator * total // q.denominator - self._below, inside)
        (near,), _ = Column(values, Grid(0, self._column.size - 1, 1)).ask(
            Question(((centre, reach),))
        )
        return Ranks(
            near.values,
            near.counts,
            near.below + self._below,
            total,
            max(near.first, self._low),
            min(near.last, self._high),
        )


def _exact_sum(index: Ints) -> int:
    """Sum of int64 indices from 0 to below 2**62 without overflow."""
    if len(index) and int(index.max()) * len(index) < 2**63:
        return int(index.sum())
    return (int((index >> 31).sum()) << 31) + int((index & (2**31 - 1)).sum())


def _float_sum(index: Floats) -> int | None:
    """Sum of whole numbers below 2**41 in float64, 2**12 at a time: exact, for partial sums stay
    below 2**53. None if one is missing.
    """
    rest = len(index) % 2**12
    rows = np.einsum("ij->i", index[rest:].reshape(-1, 2**12))  # which adds sooner than sum does
    sums = [*rows.tolist(), float(index[:rest].sum())]
    return None if math.isnan(sum(sums)) else sum(map(int, sums))


def _positions(length: int, size: int) -> Ints:
    """Random places in an array, for a bracket that decides about speed and never about the law
    of a release.
    """
    return np.random.default_rng().integers(0, length, size)
