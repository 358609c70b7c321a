"""An array on a grid: a random bracket, one pass in cache-sized chunks, a small sort."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from duffdp.domain import Array, Floats, Grid, Ints, Keys
from duffdp.domain.reading import has_plain_unit, moments
from duffdp.engines.arrays.ranks import (
    SORTED,
    begins,
    counted_runs,
    ranks_of_few,
    trim,
    wanted,
)
from duffdp.engines.arrays.records import Records
from duffdp.engines.arrays.untyped import keys_on
from duffdp.engines.source import Levels, Question, Ranks
from duffdp.errors import UnsupportedData

CHUNK = 2**16  # 512 KiB of doubles: stays in the second-level cache between the operations on it
PENDING = 2**19  # filtered values held before they are counted by value: 4 MiB
DENSE = 2**12  # brackets with at most so many candidates are counted in a histogram
_INT64, _UINT64 = np.iinfo(np.int64), np.iinfo(np.uint64)
_INT_MAX = 2**63 - 1


def wrong_kind(dated: bool, given: str, dates: bool) -> str:
    """What is wrong with a column that bounds do not fit."""
    wanted, fix = (
        ("dates or times", "numbers") if dated else ("numbers", "dates, such as 2020-01-31")
    )
    fits = not dated if dates else dated
    other = f", or bounds that are {fix}" if fits else " or convert it"
    return f"these bounds need a column of {wanted}, got {given}. Pass another column{other}."


class Column:
    """The records of one array on one grid, clamped and snapped one by one as they pass."""

    def __init__(self, records: Records, grid: Grid) -> None:
        array = records.array
        if array.dtype.kind == "O":
            array, grid = keys_on(array, grid)
        elif array.dtype.kind not in ("M" if grid.timed else "fiub"):
            raise UnsupportedData(
                wrong_kind(grid.timed, f"dtype {array.dtype}", array.dtype.kind == "M")
            )
        elif array.dtype.kind == "M" and not has_plain_unit(array.dtype):
            raise UnsupportedData(
                f"times must count in a unit such as seconds, got dtype {array.dtype}. "
                'Convert them, for example by .astype("datetime64[us]").'
            )
        self._array, self.grid = array, grid
        self.integer = array.dtype.kind != "f" and grid.whole
        # uint64 goes beyond int64, which matters only where candidates do as well.
        unsigned = array.dtype.kind == "u" and array.dtype.itemsize == 8
        beyond = grid.whole_steps is not None and grid.whole_steps.high > _INT_MAX
        self._limits = _UINT64 if unsigned and beyond else _INT64
        self._narrowed = unsigned and not beyond

    @property
    def size(self) -> int:
        """Number of candidates."""
        return self.grid.size

    @property
    def length(self) -> int:
        """Number of records, missing ones included."""
        return len(self._array)

    def _chunks(self, length: int = CHUNK) -> Iterator[Keys]:
        """Present records as keys, a cache-sized piece at a time."""
        for begin in range(0, len(self._array), length):
            yield self._keys(self._array[begin : begin + length])

    def _keys(self, part: Array) -> Keys:
        if part.dtype.kind == "M":
            return moments(part, days=self.grid.kind == "date")
        if self.integer:
            if self._narrowed:
                part = np.minimum(part, np.uint64(_INT_MAX))
            return part.astype(self._limits.dtype, copy=False)
        with np.errstate(all="ignore"):  # a record beyond all doubles is infinite, without a word
            floating = part.dtype.kind == "f"
            part = part.astype(np.float64, copy=False)
            # A nan comes out on top: one reading, no copy.
            if floating and part.size and math.isnan(part.max()):
                return part[~np.isnan(part)]
        return part

    def indices(self) -> Ints:
        """The index of every record in order, -1 for missing ones; not for columns of objects."""
        array = self._array
        with np.errstate(all="ignore"):
            gone = array != array  # nan and NaT
        index = np.full(len(array), -1, dtype=np.int64)
        index[~gone] = self.grid.snap(self._keys(array[~gone]))
        return index

    def ask(self, question: Question) -> tuple[list[Ranks], int]:
        """The wanted ranks and, if asked for, the sum of all indices."""
        ranks, total = question.ranks, question.total
        length = len(self._array)
        if length <= SORTED:
            index = self.grid.snap(self._keys(self._array))
            return [ranks_of_few(index, self.size, q, reach) for q, reach in ranks], _exact_sum(
                index
            ) if total else 0
        sample = self.grid.snap(
            self._keys(self._array[_positions(length, max(2**11, int(length ** (2 / 3)) // 4))])
        )
        sample.sort()
        found: dict[int, Ranks] = {}
        exact, margin = 0, 4.0
        while len(found) < len(ranks):
            todo = [i for i in range(len(ranks)) if i not in found]
            gathers = [_Gather(*self._bracket(sample, *ranks[i], margin), self) for i in todo]
            seen, summed = self._scan(gathers, total and not exact)
            exact += summed
            found |= {
                i: near
                for i, gather in zip(todo, gathers, strict=True)
                if (near := gather.near(*ranks[i], seen))
            }
            margin *= 4  # a bracket that missed, perhaps one time in 10,000, is widened
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

    def _scan(self, gathers: list[_Gather], total: bool) -> tuple[int, int]:
        """One pass that fills the brackets: how many records, and if asked the sum of indices."""
        grid, seen, exact = self.grid, 0, 0
        in_floats = not self.integer and grid.size <= 2**41
        for part in self._chunks():
            seen += len(part)
            if total:
                exact += (
                    _float_sum(grid.snap_float(part)) if in_floats else _exact_sum(grid.snap(part))
                )
            for gather in gathers:
                gather.take(part)
        return seen, exact

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
        for part in self._chunks():
            before += len(part) if least is None else int(np.count_nonzero(part < least))
            upto += int(np.count_nonzero(part <= most))
        return before, upto - before

    def count(self) -> int:
        """How many records there are."""
        return sum(map(len, self._chunks()))

    def expect(self, levels: Levels) -> None:
        """An array is asked by itself."""

    def moments(self, levels: Levels) -> tuple[int, int, int]:
        """How many records there are, the sum of their levels and the sum of the squares: one
        pass.
        """
        many = total = squares = 0
        in_floats = not self.integer and self.size <= 2**41
        for part in self._chunks():
            # Levels have 16 bits: sums of squares of a chunk stay below 2**53, exact in doubles.
            if in_floats:
                level = self.grid.snap_float(part)
                np.clip(level, levels.low, levels.high, out=level)
                level -= levels.low
                if levels.shift:
                    level *= 2.0**-levels.shift
                    level += 0.5
                    np.floor(level, out=level)
            else:
                index = np.clip(self.grid.snap(part), levels.low, levels.high)
                level = levels.of(index).astype(np.float64)
            many += len(level)
            total += int(level.sum())
            squares += int(np.square(level, out=level).sum())
        return many, total, squares

    def tally(self) -> tuple[Ints, Ints]:
        """Every distinct index with its count."""
        if self.size <= max(DENSE, 4 * len(self._array)) and self.size <= 2**22:
            counts = np.zeros(self.size, dtype=np.int64)
            for part in self._chunks(max(CHUNK, self.size)):
                counts += np.bincount(self.grid.snap(part), minlength=self.size)
            index = counts.nonzero()[0]
            return index, counts[index]
        index = np.concatenate(
            [self.grid.snap(part) for part in self._chunks()] or [np.empty(0, dtype=np.int64)]
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
                self._parts.append(self._column.grid.snap(part[inside]))
                self._pending += many
                if self._pending > PENDING:
                    self._compress()
        elif self._low == self._high:
            self._dense[0] += many
        elif many:
            self._dense += np.bincount(
                self._column.grid.snap(part[inside]) - self._low, minlength=len(self._dense)
            )

    def _compress(self) -> None:
        index = np.concatenate(self._parts)
        self._parts = []
        index.sort()
        index, count = counted_runs(index)
        if len(self._index):
            joined, weight = (
                np.concatenate([self._index, index]),
                np.concatenate([self._count, count]),
            )
            order = np.argsort(joined, kind="stable")
            joined, weight = joined[order], weight[order]
            begin = begins(joined)
            index, count = joined[begin], np.add.reduceat(weight, begin)
        self._index, self._count, self._parts, self._pending = index, count, [], 0

    def near(self, q: Fraction, reach: int, total: int) -> Ranks | None:
        """The wanted ranks; None if the bracket does not cover them."""
        if self._dense is not None:
            index = self._dense.nonzero()[0]
            self._index, self._count = index + self._low, self._dense[index]
        elif len(self._index) and self._pending:
            self._compress()
        inside = self._pending + int(self._count.sum())
        low, high = wanted(q, reach, total)
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
    """Sum of int64 indices below 2**62 without overflow."""
    return (int((index >> 31).sum()) << 31) + int((index & (2**31 - 1)).sum())


def _float_sum(index: Floats) -> int:
    """Sum of whole numbers in float64: exact while the partial sums stay below 2**53."""
    return (
        sum(map(int, np.add.reduceat(index, np.arange(0, len(index), 2**12)).tolist()))
        if len(index)
        else 0
    )


def _positions(length: int, size: int) -> Ints:
    """Random places in an array, for a bracket that decides about speed and never about the law
    of a release.
    """
    return np.random.default_rng().integers(0, length, size)
