"""Records on a grid, and counts of them in passes over cache-sized chunks, on all cores."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from functools import cached_property
from operator import add
from typing import Any, Generic, Self, TypeVar

import numpy as np

from duffdp._engines.arrays.ranks import (
    MAX_SORTED,
    add_counts,
    count_runs,
    ranks_between,
    sorted_ranks,
    trim,
)
from duffdp._engines.arrays.records import Records, object_keys
from duffdp._engines.arrays.threads import map_stretches
from duffdp._engines.requests import Quantization, Ranks, Sums, rank_span
from duffdp.domain import Array, Bins, Floats, Ints, Keys, Ordered, Scale
from duffdp.domain.reading import DAY, has_plain_unit, moments
from duffdp.errors import UnsupportedData

CHUNK = 2**18  # 2 MiB of doubles: stays in a cache, and threads seldom wait for each other
MAX_PENDING = 2**19  # indices inside a bracket before they are counted by value: 4 MiB
# Candidates up to which a histogram is cheaper than a sort, whatever the number of records, and
# those of the largest histogram: 32 MiB.
SMALL_HISTOGRAM, MAX_HISTOGRAM = 2**12, 2**22
_INT64, _UINT64 = np.iinfo(np.int64), np.iinfo(np.uint64)

T = TypeVar("T")
CountT = TypeVar("CountT", covariant=True)


def wrong_kind(timed: bool, column: str, has_moments: bool) -> str:
    """The error about a column that the bounds do not fit."""
    kind, fix = ("dates or times", "numbers") if timed else ("numbers", "dates, such as 2020-01-31")
    fits = not timed if has_moments else timed
    other = f", or bounds that are {fix}" if fits else " or convert it"
    return f"these bounds need a column of {kind}, got {column}. Use another column{other}."


class KeyReader:
    """Turns records of one numpy type into keys: the numbers that a grid or bins compare."""

    def __init__(self, dtype: np.dtype[Any], scale: Scale) -> None:
        kind = dtype.kind
        if kind not in ("M" if scale.timed else "fiub"):
            raise UnsupportedData(wrong_kind(scale.timed, f"dtype {dtype}", kind == "M"))
        if kind == "M" and not has_plain_unit(dtype):
            raise UnsupportedData(
                f"times must have a unit such as seconds, got dtype {dtype}. "
                'Convert them, for example with .astype("datetime64[us]").'
            )
        self._days, self._clock = scale.kind == "date", scale.clock
        # Bins compare whole numbers with whole numbers, whatever their edges are.
        self.integer = kind != "f" and (isinstance(scale, Bins) or scale.is_integer)
        # uint64 goes beyond int64, which matters only where candidates do as well.
        unsigned = kind == "u" and dtype.itemsize == 8
        exceeds_int64 = self.integer and scale.whole_ends[1] >= _INT64.max
        self.limits = _UINT64 if unsigned and exceeds_int64 else _INT64
        self._narrowed = unsigned and not exceeds_int64

    def keys(self, part: Array) -> Keys:
        """Those records of an array that are present, as keys."""
        if part.dtype.kind == "M":
            if self._clock is None:
                return moments(part, days=self._days)
            times = self._clock.of_array(moments(part, days=False))
            return times // DAY if self._days else times
        if self.integer:
            if self._narrowed:
                part = np.minimum(part, np.uint64(_INT64.max))
            return part.astype(self.limits.dtype, copy=False)
        floating = part.dtype.kind == "f"
        if part.dtype != np.float64:
            with np.errstate(all="ignore"):  # a record beyond all doubles is infinite, silently
                part = part.astype(np.float64)
        # A nan comes out on top: one reading, no copy, and nothing that could warn.
        if floating and part.size and math.isnan(part.item(part.argmax())):
            return part[~np.isnan(part)]
        return part


class PlainKeys(KeyReader):
    """Reads records that are keys already."""

    def __init__(self, reader: KeyReader) -> None:
        self.integer, self.limits = reader.integer, reader.limits

    def keys(self, part: Array) -> Keys:
        return part


def present_mask(array: Array) -> Array:
    """A mask of the records of a typed array that are present: no nan, no NaT."""
    with np.errstate(all="ignore"):
        mask: Array = array == array
    return mask


class Chunk:
    """Some records of a column, raw and as keys."""

    def __init__(self, array: Array, reader: KeyReader) -> None:
        self.array, self._reader = array, reader

    @cached_property
    def keys(self) -> Keys:
        """The records that are present."""
        return self._reader.keys(self.array)


class Accumulator(ABC, Generic[CountT]):
    """Accumulates counts or sums over all records, one chunk at a time."""

    @abstractmethod
    def take(self, chunk: Chunk) -> None:
        """Count some more records."""

    @abstractmethod
    def join(self, other: Self) -> None:
        """Add what another accumulator of the same thing has counted."""

    @abstractmethod
    def result(self) -> CountT:
        """The accumulated counts."""


AccumulatorT = TypeVar("AccumulatorT", bound=Accumulator[object])


class ArrayColumn:
    """Records of one array on a grid, clamped and snapped during each pass."""

    margin = 3.2  # standard errors of a sample on either side of a bracket: one in 700 misses

    def __init__(
        self, array: Array, grid: Ordered, reader: KeyReader, mask: Array | None = None
    ) -> None:
        self.array, self.grid, self.reader, self._mask = array, grid, reader, mask

    @classmethod
    def of(cls, records: Records, grid: Ordered) -> ArrayColumn:
        """The column of an array of any type; objects are read as keys."""
        array, mask = records.array, None
        if array.dtype.kind == "O":
            array, mask, grid = object_keys(array, grid)
        return cls(array, grid, KeyReader(array.dtype, grid), mask)

    def present(self) -> Array:
        """A mask of the records that are present."""
        return present_mask(self.array) if self._mask is None else self._mask

    @property
    def length(self) -> int:
        """Number of records, missing ones included."""
        return len(self.array)

    def piece(self, begin: int, size: int) -> ArrayColumn:
        """The records from a position on."""
        return ArrayColumn(self.array[begin : begin + size], self.grid, self.reader)

    def accumulate(self, make: Callable[[], list[AccumulatorT]]) -> list[AccumulatorT]:
        """Take all records by several accumulators, in one pass."""

        def work(array: Array) -> list[AccumulatorT]:
            accumulators = make()
            for begin in range(0, len(array), CHUNK):
                chunk = Chunk(array[begin : begin + CHUNK], self.reader)
                for accumulator in accumulators:
                    accumulator.take(chunk)
            return accumulators

        accumulators = make()
        for from_thread in self._map(work):
            for accumulator, other in zip(accumulators, from_thread, strict=True):
                accumulator.join(other)
        return accumulators

    def count(self, make: Callable[[], Accumulator[CountT]]) -> CountT:
        """What one accumulator counts of all records."""
        (accumulator,) = self.accumulate(lambda: [make()])
        return accumulator.result()

    def _map(self, work: Callable[[Array], T]) -> Iterable[T]:
        """The results of `work` for pieces of the records."""
        return map_stretches(work, self.array)

    def _sample(self) -> tuple[Ints, float]:
        """The indices of some records, and the share of all records that they are."""
        size = max(2**11, int(self.length ** (2 / 3)) // 3)
        # A bracket decides about speed and never about the output distribution of a release.
        places = np.random.default_rng().integers(0, self.length, size)
        return self.grid.snap(self.reader.keys(self.array[places])), size / self.length

    def ranks(self, targets: Sequence[tuple[Fraction, int]]) -> list[Ranks]:
        """The values near every target (q, reach), with all records at them."""
        if self.length <= MAX_SORTED:
            index = self.grid.snap(self.reader.keys(self.array))
            index.sort()
            total, size = np.array([len(index)]), self.grid.size
            spans = (rank_span(*target, total) for target in targets)
            return [sorted_ranks(index, size, low.item(), high.item()) for low, high in spans]
        # A sample brackets each target: one pass, and only what lies inside is snapped and sorted.
        sample, share = self._sample()
        sample.sort()
        answers: dict[int, Ranks] = {}
        margin = self.margin
        while len(answers) < len(targets):
            open_targets = {i: target for i, target in enumerate(targets) if i not in answers}
            size = self.grid.size
            ends = [
                sample_bracket(sample, share, size, *target, margin)
                for target in open_targets.values()
            ]
            for i, ranks in zip(
                open_targets, self._ranks_within(open_targets.values(), ends), strict=True
            ):
                if ranks is not None:
                    answers[i] = ranks
            margin *= 8  # a bracket that missed is widened
        return [answers[i] for i in range(len(targets))]

    def _ranks_within(
        self, targets: Iterable[tuple[Fraction, int]], brackets: list[tuple[int, int]]
    ) -> Iterator[Ranks | None]:
        """The values near every target, in one pass; None for those outside of their bracket."""

        def make() -> list[RecordCount | Bracket]:
            return [RecordCount(), *(Bracket(self, *ends) for ends in brackets)]

        counted, *inside = self.accumulate(make)
        assert isinstance(counted, RecordCount)
        total = counted.result()
        for target, bracket in zip(targets, inside, strict=True):
            assert isinstance(bracket, Bracket)
            low, high = rank_span(*target, np.array([total]))
            yield bracket.ranks(low.item(), high.item(), total)

    def edge(self, index: int) -> float | None:
        """The least key of a candidate and all after it; None if no key gets there."""
        least = self.grid.threshold(index, self.reader.integer)
        if not self.reader.integer or least is None:
            return least
        limits = self.reader.limits  # thresholds may lie beyond all keys
        return None if least > limits.max else max(least, limits.min)

    def value_counts(self) -> tuple[Ints, Ints]:
        """Every distinct index with its number of records."""
        return self.count(lambda: ValueCount(self))


def sample_bracket(
    sample: Ints, share: float, size: int, q: Fraction, reach: int, margin: float
) -> tuple[int, int]:
    """Two of `size` candidates that very likely enclose the ranks near a target, by a sorted sample
    that is such a share of all records.
    """
    length, middle = len(sample), float(q)
    half = margin * math.sqrt(length * middle * (1 - middle) + 4) + reach * share + 1
    low, high = math.floor(middle * length - half), math.ceil(middle * length + half)
    first = int(sample[low]) if 0 <= low < length else 0
    return first, int(sample[high]) if high < length else size - 1


class RecordCount(Accumulator[int]):
    """The number of records."""

    _count = 0

    def take(self, chunk: Chunk) -> None:
        self._count += len(chunk.keys)

    def join(self, other: Self) -> None:
        self._count += other._count

    def result(self) -> int:
        return self._count


class BinCount(Accumulator[Ints]):
    """The number of records from each candidate of `starts`, which begins with 0, to the next."""

    def __init__(self, column: ArrayColumn, starts: Sequence[int]) -> None:
        edges = [edge for start in starts[1:] if (edge := column.edge(start)) is not None]
        dtype = column.reader.limits.dtype if column.reader.integer else np.float64
        self._edges = np.array(edges, dtype=dtype)
        self._counts = np.zeros(len(starts), dtype=np.int64)

    def take(self, chunk: Chunk) -> None:
        # A vectorized sort takes a tenth of the time that a search for every record takes.
        records = np.sort(chunk.keys)
        places = np.searchsorted(records, self._edges, side="left")
        # Bins that no record gets to have no edge; they are the last ones.
        self._counts[: len(places) + 1] += np.diff(places, prepend=0, append=len(records))

    def join(self, other: Self) -> None:
        self._counts += other._counts

    def result(self) -> Ints:
        return self._counts


class LevelSum(Accumulator[Sums]):
    """Exact sums of levels, and of their squares if requested."""

    def __init__(self, column: ArrayColumn, quantization: Quantization) -> None:
        self._grid, self._quantization = column.grid, quantization
        self._clips = quantization.low > 0 or quantization.high < column.grid.size - 1
        # Whether indices are summed in doubles without error.
        self._in_doubles = (
            not column.reader.integer
            and column.grid.size <= 2**41
            and not column.grid.double_steps.rounds
        )
        self._buffer = np.empty(CHUNK)
        self._sums = Sums()

    def take(self, chunk: Chunk) -> None:
        part, quantization = chunk.array, self._quantization
        levels: Array
        # Doubles are rounded and added as they are, without whole numbers in between.
        if self._in_doubles and part.dtype == np.float64:
            levels = self._float_levels(part, self._buffer[: len(part)])
            total = _float_sum(levels)
            if total is None:  # some are missing
                levels = levels[~np.isnan(levels)]
                total = _float_sum(levels) or 0
        else:
            index = self._grid.snap(chunk.keys)
            if self._clips:
                index = np.clip(index, quantization.low, quantization.high)
            levels = quantization.of(index) if quantization.low or quantization.shift else index
            total = _exact_sum(levels)
        squares = 0
        if quantization.squares:
            # Levels have 16 bits: sums of squares stay below 2**53, exact in doubles.
            squares = int(np.square(levels, out=self._buffer[: len(levels)]).sum())
        self._add(Sums(len(levels), total, squares))

    def join(self, other: Self) -> None:
        self._add(other._sums)

    def result(self) -> Sums:
        return self._sums

    def _add(self, sums: Sums) -> None:
        self._sums = Sums(*map(add, self._sums, sums))

    def _float_levels(self, part: Floats, out: Floats) -> Floats:
        """Levels as doubles, without error; nan for what is missing."""
        low, high, shift, _ = self._quantization
        levels = self._grid.snap_float(part, out)
        if self._clips:
            np.clip(levels, low, high, out=levels)
        if low:
            levels -= low
        if shift:
            levels *= 2.0**-shift
            levels += 0.5
            np.floor(levels, out=levels)
        return levels


class ValueCount(Accumulator[tuple[Ints, Ints]]):
    """Every distinct index and its number of records."""

    def __init__(self, column: ArrayColumn) -> None:
        size = column.grid.size
        self._grid, self._parts = column.grid, list[Ints]()
        dense = size <= min(max(SMALL_HISTOGRAM, 4 * column.length), MAX_HISTOGRAM)
        self._histogram = np.zeros(size, dtype=np.int64) if dense else None

    def take(self, chunk: Chunk) -> None:
        index = self._grid.snap(chunk.keys)
        if self._histogram is None:
            self._parts.append(index)
        else:
            self._histogram += np.bincount(index, minlength=len(self._histogram))

    def join(self, other: Self) -> None:
        self._parts += other._parts
        if self._histogram is not None and other._histogram is not None:
            self._histogram += other._histogram

    def result(self) -> tuple[Ints, Ints]:
        if self._histogram is not None:
            index = self._histogram.nonzero()[0]
            return index, self._histogram[index]
        index = np.concatenate([*self._parts, np.empty(0, dtype=np.int64)])
        index.sort()
        return count_runs(index)


class Bracket(Accumulator["Bracket"]):
    """The records between two candidates, kept in memory, and the number of records before them."""

    def __init__(self, column: ArrayColumn, low: int, high: int) -> None:
        self._grid, self._low, self._high = column.grid, low, high
        self._least, self._stop = column.edge(low) if low else None, column.edge(high + 1)
        assert low == 0 or self._least is not None  # a record is there
        self._parts: list[Ints] = []  # indices
        self._pending = self._below = self._tied = 0
        self._values = self._counts = np.empty(0, dtype=np.int64)

    def take(self, chunk: Chunk) -> None:
        keys = chunk.keys
        inside = np.ones(len(keys), dtype=bool) if self._stop is None else keys < self._stop
        if self._least is not None:
            before = keys < self._least
            self._below += int(np.count_nonzero(before))
            inside ^= before
        if self._low == self._high:
            self._tied += int(np.count_nonzero(inside))
            return
        places = inside.nonzero()[0]
        if len(places):
            # By places: a mask takes longer for the few that lie inside.
            self._parts.append(self._grid.snap(keys.take(places)))
            self._pending += len(places)
            if self._pending > MAX_PENDING:
                self._compress()

    def join(self, other: Self) -> None:
        self._below += other._below
        self._tied += other._tied
        self._parts += other._parts
        self._pending += other._pending
        self._add(other._values, other._counts)
        if self._pending > MAX_PENDING:
            self._compress()

    def result(self) -> Bracket:
        return self

    def _compress(self) -> None:
        """Count what is pending by value."""
        index = np.concatenate(self._parts)
        self._parts, self._pending = [], 0
        if self._high - self._low < SMALL_HISTOGRAM:
            counts = np.bincount(index - self._low)
            places = counts.nonzero()[0]
            self._add(places + self._low, counts[places])
            return
        index.sort()
        self._add(*count_runs(index))

    def _add(self, values: Ints, counts: Ints) -> None:
        """Add distinct indices with their counts."""
        if not len(self._values):
            self._values, self._counts = values, counts
        elif len(values):
            values, counts = np.append(self._values, values), np.append(self._counts, counts)
            self._values, self._counts = add_counts(values, counts)

    def ranks(self, low: int, high: int, total: int) -> Ranks | None:
        """The values at the sorted positions from `low` to `high` of all records; None if the
        bracket does not cover them.
        """
        inside = self._pending + self._tied + int(self._counts.sum())
        after = self._below + inside
        if (self._below > low and self._low > 0) or (
            after <= high and self._high < self._grid.size - 1
        ):
            return None
        if self._tied:
            self._values, self._counts = np.array([self._low]), np.array([self._tied])
        elif self._pending and (len(self._values) or self._high - self._low < SMALL_HISTOGRAM):
            self._compress()
        size, ends = self._grid.size, (self._low, self._high)
        if not self._pending:
            return trim(
                Ranks(self._values, self._counts, self._below, total, *ends), size, low, high
            )
        index = np.concatenate(self._parts)
        ranks = ranks_between(index, size, low - self._below, high - self._below)
        ranks = ranks._replace(below=ranks.below + self._below, total=total)
        return trim(ranks, size, low, high)


def _exact_sum(index: Ints) -> int:
    """Sum of int64 indices from 0 to below 2**62 without overflow."""
    if len(index) and int(index.max()) * len(index) < 2**63:
        return int(index.sum())
    return (int((index >> 31).sum()) << 31) + int((index & (2**31 - 1)).sum())


def _float_sum(index: Floats) -> int | None:
    """Sum of whole numbers below 2**41 in float64, 2**12 at a time: exact, because partial sums
    stay below 2**53. None if one is missing.
    """
    remainder = len(index) % 2**12
    rows = np.einsum(
        "ij->i", index[remainder:].reshape(-1, 2**12)
    )  # which adds sooner than sum does
    sums = [*rows.tolist(), float(index[:remainder].sum())]
    return None if math.isnan(sum(sums)) else sum(map(int, sums))
