"""Arrays and lists: a random bracket, one counting and filtering pass in cache-sized chunks, a small sort."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from duffdp.domain import Array, Categories, Floats, Grid, Ints, Keys
from duffdp.engines.source import Question, Ranks
from duffdp.errors import UnsupportedData
from duffdp.sampling.entropy import positions

CHUNK = 2**16  # 512 KiB of doubles: stays in the second-level cache between the operations on it
SORTED = 2**14  # up to here a sort is cheaper than a bracket
PENDING = 2**19  # filtered values held before they are counted by value: 4 MiB
DENSE = 2**12  # brackets with at most so many candidates are counted in a histogram
_INT_MIN, _INT_MAX = np.iinfo(np.int64).min, np.iinfo(np.int64).max
_NUMBERS = frozenset({float, int, bool, type(None)})


class Records(NamedTuple):
    """A one-dimensional array, and whether its type says that the values are whole numbers."""

    array: Array
    integer: bool

    @property
    def untyped(self) -> bool:
        """Whether types are found by looking at rows; an array has one."""
        return False

    def without_rows(self) -> Records:
        """The same type with nothing in it."""
        return Records(self.array[:0], self.integer)


def read(data: Any) -> Records:
    """Take any one-dimensional container as an array, without copying what is one already."""
    if isinstance(data, list | tuple | range):
        return Records(_from_sequence(data), integer=False)
    if isinstance(data, np.ma.MaskedArray):
        data = data.compressed()
    elif isinstance(data, str | bytes | dict | set | frozenset) or not hasattr(data, "__len__"):
        raise UnsupportedData(f"data must be a one-dimensional array, series or list, got {type(data).__name__}.")
    array = np.asarray(data)
    if array.ndim != 1:
        raise UnsupportedData(f"data must be one-dimensional, got {array.ndim} dimensions. Pass one column.")
    return Records(array, integer=array.dtype.kind in "iub")


def _from_sequence(data: list[Any] | tuple[Any, ...] | range) -> Array:
    """A plain sequence has no declared type: decide record by record, and drop what does not fit."""
    if isinstance(data, range):
        return np.arange(data.start, data.stop, data.step)
    types = set(map(type, data))
    if types - {type(None)} and types <= _NUMBERS:
        try:
            return np.array(data, dtype=np.float64 if float in types or type(None) in types else None)
        except OverflowError:
            pass
    if types and types <= {list, tuple, np.ndarray}:
        raise UnsupportedData("data must be one-dimensional, got a list of lists. Pass one column.")
    array = np.empty(len(data), dtype=object)
    array[:] = data
    return array


def wrong_kind(dated: bool, given: str, dates: bool) -> str:
    """What is wrong with a column that bounds do not fit."""
    wanted, fix = ("dates or times", "numbers") if dated else ("numbers", "dates, such as 2020-01-31")
    fits = not dated if dates else dated
    return f"these bounds need a column of {wanted}, got {given}. Pass another column{f', or bounds that are {fix}' if fits else ' or convert it'}."


class Column:
    """The records of one array on one grid, clamped and snapped one by one as they pass."""

    def __init__(self, records: Records, grid: Grid) -> None:
        array, timed = records.array, grid.kind in ("date", "datetime")
        kind = array.dtype.kind
        if kind == "O":
            array = _object_indices(array, grid)
            grid = Grid(0, grid.size - 1, 1)  # the records are indices now
        elif kind not in ("M" if timed else "fiub"):
            raise UnsupportedData(wrong_kind(timed, f"dtype {array.dtype}", kind == "M"))
        self._array, self.grid = array, grid
        self._missing = array.dtype.kind in "fM"
        self._unit = "M8[D]" if grid.kind == "date" else "M8[us]"
        self.integer = array.dtype.kind != "f" and grid.whole

    @property
    def size(self) -> int:
        """Number of candidates."""
        return self.grid.size

    @property
    def length(self) -> int:
        """Number of records, missing ones included."""
        return len(self._array)

    def _chunks(self, length: int = CHUNK) -> Iterator[Keys]:
        """Present records as keys, float64 or int64, a cache-sized piece at a time."""
        for begin in range(0, len(self._array), length):
            yield self._keys(self._array[begin : begin + length])

    def _keys(self, part: Array) -> Keys:
        if part.dtype.kind == "M":
            moments: Ints = part.astype(self._unit).view(np.int64)
            present: Ints = moments[moments != _INT_MIN]
            return present
        if self.integer:
            if part.dtype == np.uint64:
                part = np.minimum(part, np.uint64(_INT_MAX))
            return part.astype(np.int64, copy=False)
        part = part.astype(np.float64, copy=False)
        if self._missing and part.size and math.isnan(part.max()):  # a nan comes out on top: one reading, no copy
            return part[~np.isnan(part)]
        return part

    def indices(self) -> Ints:
        """The index of every record in order, -1 for missing ones; not for columns of objects."""
        array = self._array
        gone = (
            np.isnat(array)
            if array.dtype.kind == "M"
            else np.isnan(array)
            if array.dtype.kind == "f"
            else np.zeros(len(array), bool)
        )
        index = np.full(len(array), -1, dtype=np.int64)
        index[~gone] = self.grid.snap(self._keys(array[~gone]))
        return index

    def ask(self, question: Question) -> tuple[list[Ranks], int]:
        """The wanted ranks and, if asked for, the sum of all indices."""
        ranks, total = question.ranks, question.total
        length = len(self._array)
        if length <= SORTED:
            index = self.grid.snap(self._keys(self._array))
            return [_around_small(index, self.size, q, reach) for q, reach in ranks], _exact_sum(index) if total else 0
        sample = self.grid.snap(self._keys(self._array[positions(length, max(2**11, int(length ** (2 / 3)) // 4))]))
        sample.sort()
        found: dict[int, Ranks] = {}
        exact, margin = 0, 4.0
        while len(found) < len(ranks):
            todo = [i for i in range(len(ranks)) if i not in found]
            gathers = [_Gather(*self._bracket(sample, *ranks[i], margin), self) for i in todo]
            seen, summed = self._scan(gathers, total and not exact)
            exact += summed
            found |= {i: near for i, gather in zip(todo, gathers, strict=True) if (near := gather.near(*ranks[i], seen))}
            margin *= 4  # a bracket that missed, perhaps one time in 10,000, is widened
        return [found[i] for i in range(len(ranks))], exact

    def _bracket(self, sample: Ints, q: Fraction, reach: int, margin: float) -> tuple[int, int]:
        """Two candidates that very likely enclose the wanted ranks, by the order statistics of a sample."""
        size, share = len(sample), float(q)
        half = margin * math.sqrt(size * share * (1 - share) + 4) + reach * size / len(self._array) + 1
        low, high = math.floor(share * size - half), math.ceil(share * size + half)
        return (int(sample[low]) if low >= 0 and size else 0), (int(sample[high]) if high < size else self.size - 1)

    def _scan(self, gathers: list[_Gather], total: bool) -> tuple[int, int]:
        """One pass over the records: fill the brackets; return the number of records and, if asked, the sum of indices."""
        grid, seen, exact = self.grid, 0, 0
        in_floats = not self.integer and grid.size <= 2**41
        for part in self._chunks():
            seen += len(part)
            if total:
                exact += _float_sum(grid.snap_float(part)) if in_floats else _exact_sum(grid.snap(part))
            for gather in gathers:
                gather.take(part)
        return seen, exact

    def edges(self, low: int, high: int) -> tuple[float | int | None, float | int]:
        """The smallest and the largest key that snap to candidates from `low` to `high`; None if no key reaches `low`."""
        least, beyond = (self.grid.threshold(index, self.integer) for index in (low, high + 1))
        if beyond is None:
            return least, _INT_MAX if self.integer else math.inf
        return least, beyond - 1 if self.integer else math.nextafter(beyond, -math.inf)

    def rank_of(self, index: int) -> tuple[int, int]:
        """How many records lie before this candidate and how many at it: one pass."""
        least, most = self.edges(index, index)
        before = upto = 0
        for part in self._chunks():
            before += len(part) if least is None else int(np.count_nonzero(part < least))
            upto += int(np.count_nonzero(part <= most))
        return before, upto - before

    def tally(self) -> tuple[Ints, Ints]:
        """Every distinct index with its count."""
        if self.size <= max(DENSE, 4 * len(self._array)) and self.size <= 2**22:
            counts = np.zeros(self.size, dtype=np.int64)
            for part in self._chunks(max(CHUNK, self.size)):
                counts += np.bincount(self.grid.snap(part), minlength=self.size)
            index = counts.nonzero()[0]
            return index, counts[index]
        index = np.concatenate([self.grid.snap(part) for part in self._chunks()] or [np.empty(0, dtype=np.int64)])
        index.sort()
        return _distinct(index)


class _Gather:
    """Collects what falls between two candidates; memory is bounded by the distinct values there."""

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
            self._dense += np.bincount(self._column.grid.snap(part[inside]) - self._low, minlength=len(self._dense))

    def _compress(self) -> None:
        index = np.concatenate(self._parts)
        self._parts = []
        index.sort()
        index, count = _distinct(index)
        if len(self._index):
            joined, weight = np.concatenate([self._index, index]), np.concatenate([self._count, count])
            order = np.argsort(joined, kind="stable")
            joined, weight = joined[order], weight[order]
            begin = _begins(joined)
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
        if (self._below > low and self._low > 0) or (self._below + inside < high and self._high < self._column.size - 1):
            return None
        # Most of it is wanted, or ties kept the bracket wide: another one would not narrow it.
        if self._pending and (2 * (high - low) > inside or 2 * inside > total):
            self._compress()
        if not self._pending:
            return trim(Ranks(self._index, self._count, self._below, total, self._low, self._high), low, high)
        values = Records(np.concatenate(self._parts), integer=True)
        centre = Fraction(q.numerator * total // q.denominator - self._below, inside)
        (near,), _ = Column(values, Grid(0, self._column.size - 1, 1)).ask(Question(((centre, reach),)))
        return Ranks(
            near.values,
            near.counts,
            near.below + self._below,
            total,
            max(near.first, self._low),
            min(near.last, self._high),
        )


def _object_indices(array: Array, grid: Grid) -> Ints:
    """Indices of the records that fit. A column with nothing but text is taken for the wrong column."""
    types = set(map(type, array))
    if types and types <= {str, bytes, np.str_, np.bytes_}:
        raise UnsupportedData("these bounds need a column of numbers or dates, got text. Pass another column or convert it.")
    index = np.fromiter(map(grid.record_index, array), dtype=np.int64, count=len(array))
    return index[index >= 0]


class CategoryColumn:
    """The records of one array that fall into categories; others are dropped."""

    def __init__(self, records: Records, categories: Categories) -> None:
        self._array, self._categories = records.array, categories

    def tally(self) -> tuple[Ints, Ints]:
        """Every category with records, and how many."""
        counts = np.zeros(self._categories.size, dtype=np.int64)
        for begin in range(0, len(self._array), CHUNK):
            for record, number in _value_counts(self._array[begin : begin + CHUNK]):
                if (place := self._categories.record_index(record)) >= 0:
                    counts[place] += number
        index = counts.nonzero()[0]
        return index, counts[index]


def _value_counts(part: Array) -> Iterable[tuple[Any, int]]:
    if part.dtype.kind in "iub":
        value, count = np.unique(part, return_counts=True)
        return zip(value.tolist(), count.tolist(), strict=True)
    try:
        return Counter(part.tolist()).items()
    except TypeError:  # something in it cannot be a category: one by one
        return ((record, 1) for record in part)


def _begins(ordered: Ints) -> Ints:
    """Where the runs of equal values begin in a sorted array."""
    first = np.empty(len(ordered), dtype=bool)
    first[:1] = True
    np.not_equal(ordered[1:], ordered[:-1], out=first[1:])
    return first.nonzero()[0]


def distinct(ordered: Ints, also: Ints) -> tuple[Ints, Ints, Ints]:
    """Distinct values of sorted stretches that begin at 0 and at the places in `also`, their counts, and where they begin."""
    first = np.empty(len(ordered), dtype=bool)
    first[:1] = True
    np.not_equal(ordered[1:], ordered[:-1], out=first[1:])
    first[also[also < len(ordered)]] = True
    begin = first.nonzero()[0]
    return ordered[begin], np.diff(begin, append=len(ordered)), begin


def _distinct(ordered: Ints) -> tuple[Ints, Ints]:
    begin = _begins(ordered)
    if len(begin) == len(ordered):
        return ordered, np.ones(len(ordered), dtype=np.int64)
    count = np.empty(len(begin), dtype=np.int64)
    if len(begin):
        np.subtract(begin[1:], begin[:-1], out=count[:-1])
        count[-1] = len(ordered) - begin[-1]
    return ordered[begin], count


def wanted(q: Fraction, reach: int, total: int) -> tuple[int, int]:
    centre = q.numerator * total // q.denominator
    return max(centre - reach, 0), min(centre + 1 + reach, total)


def _around_small(index: Ints, size: int, q: Fraction, reach: int) -> Ranks:
    """The wanted ranks of a small array, which is reordered: select both ends, then sort what lies between."""
    total = len(index)
    low, high = wanted(q, reach, total)
    low, high = max(min(low, total - 1), 0), min(high, total - 1)
    if total and (low > 0 or high < total - 1):
        index.partition((low, high))
    middle = np.sort(index[low : high + 1])  # a copy: the next rank reorders the array
    distinct, count = _distinct(middle)
    below, first, last = 0, 0, size - 1
    if low > 0:
        first = int(distinct[0])
        tied = int(np.count_nonzero(index[:low] == first))
        count[0] += tied
        below = low - tied
    if high < total - 1:
        last = int(distinct[-1])
        count[-1] += np.count_nonzero(index[high + 1 :] == last)
    return Ranks(distinct, count, below, total, first, last)


def trim(near: Ranks, low: int, high: int) -> Ranks:
    """Cut distinct values down to those that cover the wanted ranks."""
    upto = near.below + np.cumsum(near.counts)
    most = int(upto[-1]) if len(upto) else near.below
    begin = int(upto.searchsorted(low, side="right")) if low > near.below else 0
    end = min(int(upto.searchsorted(high)) + 1, len(upto)) if high < most else len(upto)
    first = int(near.values[begin]) if begin else near.first
    last = int(near.values[end - 1]) if end < len(upto) else near.last
    below = int(upto[begin - 1]) if begin else near.below
    return Ranks(near.values[begin:end], near.counts[begin:end], below, near.total, first, last)


def _exact_sum(index: Ints) -> int:
    """Sum of int64 indices below 2**62 without overflow."""
    return (int((index >> 31).sum()) << 31) + int((index & (2**31 - 1)).sum())


def _float_sum(index: Floats) -> int:
    """Sum of whole numbers in float64: exact while the partial sums stay below 2**53."""
    return sum(map(int, np.add.reduceat(index, np.arange(0, len(index), 2**12)).tolist())) if len(index) else 0
