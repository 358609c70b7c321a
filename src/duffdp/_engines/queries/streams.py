"""Number columns that an engine in this process passes on in pieces; counting them as arrays is
several times as fast as a query.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import TypeVar

import numpy as np

from duffdp._engines.arrays.column import SMALL_HISTOGRAM, ArrayColumn, KeyReader
from duffdp._engines.queries.ranks import Ranges, group_counts
from duffdp._engines.queries.rows import QueryRows
from duffdp._engines.requests import GroupedCounts
from duffdp.domain import Array, Ints, Keys, Ordered

MAX_BUCKETS = 2**20  # of all groups that are counted at once: 8 MiB
MIN_SAMPLE = 2**10  # records of a sample that are enough for a bracket
STREAM_CHUNK = 2**16  # records whose indices stay in a cache
MAX_PENDING_RECORDS = 2**20  # records before those of one bucket are added up

T = TypeVar("T")


class StreamColumn(ArrayColumn):
    """The records of a table without groups, read again in every pass."""

    margin = 6.0  # the rows of a block are not independent: wider than for an array
    length = 10**8  # a guess: nothing is known before the first pass

    def __init__(self, rows: QueryRows) -> None:
        assert rows.streamed_as is not None
        self._rows, grid = rows, _grid(rows)
        empty = np.empty(0, rows.streamed_as)
        super().__init__(empty, grid, KeyReader(empty.dtype, grid))

    def _map(self, work: Callable[[Array], T]) -> Iterator[T]:
        for (array,) in self._rows.pieces():
            yield work(array)

    def _sample(self) -> tuple[Ints, float]:
        sample = snapped_sample(self._rows) if self.grid.size > SMALL_HISTOGRAM else None
        return (np.empty(0, dtype=np.int64), 0.0) if sample is None else sample


def snapped_sample(rows: QueryRows) -> tuple[Ints, float] | None:
    """The indices of some records of the only column, and about which share of all they are; None
    if they are too few, or the engine has no sample.
    """
    sample = rows.sample()
    if sample is None:
        return None
    values, share = sample
    grid = _grid(rows)
    index = grid.snap(KeyReader(values.dtype, grid).keys(values))
    return (index, share) if len(index) >= MIN_SAMPLE else None


def bucket_counts(rows: QueryRows, shift: int) -> GroupedCounts:
    """All buckets of 2**shift candidates that have records, in every group."""
    buckets = ((rows.sizes[0] - 1) >> shift) + 1
    counts = np.zeros(rows.groups * buckets, dtype=np.int64)
    reader, grid = _reader(rows), _grid(rows)
    for values, group in _grouped_values(rows):
        place = group * buckets
        for begin in range(0, len(place), STREAM_CHUNK):
            chunk = slice(begin, begin + STREAM_CHUNK)
            place[chunk] += grid.snap(reader.keys(values[chunk])) >> shift
        counts += np.bincount(place, minlength=len(counts))
    (place,) = counts.nonzero()
    ends = place.searchsorted(np.arange(1, rows.groups + 1) * buckets)
    return GroupedCounts(place % buckets << shift, counts[place], ends)


def counts_within(rows: QueryRows, shift: int, ranges: Ranges) -> GroupedCounts:
    """The buckets of every group in its ranges of candidates."""
    empty = np.empty(0, dtype=np.int64)
    parts, pending = [(empty, empty, empty)], 0
    for values, groups in _grouped_values(rows):
        for low, high in zip(ranges.lows, ranges.highs, strict=True):
            for group, index in _between(rows, values, groups, low, high):
                parts.append((group, index >> shift << shift, np.ones_like(group)))
                pending += len(group)
        if pending > MAX_PENDING_RECORDS:
            parts, pending = [_add_up(parts, rows.groups)], 0
    return group_counts(*_add_up(parts, rows.groups), rows.groups)


def _add_up(parts: list[tuple[Ints, Ints, Ints]], groups: int) -> tuple[Ints, Ints, Ints]:
    """Groups, buckets and counts, each bucket once."""
    group, index, count = map(np.concatenate, zip(*parts, strict=True))
    values, counts, ends = group_counts(group, index, count, groups)
    return np.repeat(np.arange(groups), np.diff(ends, prepend=0)), values, counts


def _between(
    rows: QueryRows, values: Keys, groups: Ints, low: Ints, high: Ints
) -> Iterator[tuple[Ints, Ints]]:
    """Groups and indices of the records that lie in the range of their group."""
    reader, grid = _reader(rows), _grid(rows)
    column, has_range = ArrayColumn(values, grid, reader), high >= low
    least, stop = column.edge(int(low[has_range].min())), column.edge(int(high.max()) + 1)
    if least is None:
        return
    for begin in range(0, len(values), STREAM_CHUNK):
        keys = reader.keys(values[begin : begin + STREAM_CHUNK])
        inside = keys >= least
        if stop is not None:
            inside &= keys < stop
        group, index = groups[begin : begin + STREAM_CHUNK][inside], grid.snap(keys[inside])
        inside = index >= low[group]
        inside &= index <= high[group]
        yield group[inside], index[inside]


def _grouped_values(rows: QueryRows) -> Iterator[tuple[Array, Ints]]:
    """Values that are present, an array at a time, and the number of the group of each."""
    for values, group in rows.pieces():
        if values.dtype.kind == "f" and len(values) and math.isnan(values.max()):
            present = ~np.isnan(values)
            yield values[present], group[present]
        else:
            yield values, group


def _grid(rows: QueryRows) -> Ordered:
    domain = rows.columns[0].domain
    assert isinstance(domain, Ordered)
    return domain


def _reader(rows: QueryRows) -> KeyReader:
    return KeyReader(np.dtype(rows.streamed_as), _grid(rows))
