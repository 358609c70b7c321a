"""Groups of numbers that an engine in this process hands over in pieces: how many records of each
group lie in every bucket of candidates.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping

import numpy as np

from duffdp.domain import Ints, Keys, Ordered
from duffdp.engines.arrays import Column, Records
from duffdp.engines.tables.lazy_rows import LazyRows

MOST_CELLS = 2**20  # buckets of all groups that are counted at once
CHUNK = 2**16  # records whose indices stay in a cache
PENDING = 2**20  # records that are kept before those of one bucket are added up

Range = tuple[int, int, int]  # first and last candidate, records before
Counts = tuple[Ints, Ints, Ints, Ints]  # group, part, first candidate of a bucket, records


def bucket_counts(lazy: LazyRows, shift: int) -> Counts:
    """All buckets of 2**shift candidates that have records."""
    many = ((lazy.domain.size - 1) >> shift) + 1
    found = np.zeros(lazy.groups * many, dtype=np.int64)
    for values, group, column in _pieces(lazy):
        place = group * many
        for begin in range(0, len(place), CHUNK):
            some = slice(begin, begin + CHUNK)
            place[some] += column.grid.snap(column.keys(values[some])) >> shift
        found += np.bincount(place, minlength=len(found))
    (place,) = found.nonzero()
    return place // many, np.zeros_like(place), place % many << shift, found[place]


def counts_within(
    lazy: LazyRows,
    shift: int,
    in_order: Callable[[Ints, Ints, Ints, Ints], Counts],
    ranges: Mapping[tuple[int, int], Range],
) -> Counts:
    """The buckets of every group in its ranges of candidates, of which each part has one; counts of
    the same bucket are made one by `in_order`.
    """
    limits: dict[int, tuple[Ints, Ints]] = {}
    for (part, group), (first, last, _) in ranges.items():
        if part not in limits:  # nothing lies from 1 to 0
            none = np.zeros(lazy.groups, dtype=np.int64)
            limits[part] = none + 1, none
        limits[part][0][group], limits[part][1][group] = first, last
    some: list[Counts] = [(np.empty(0, dtype=np.int64),) * 4]
    pending = 0
    for values, groups, column in _pieces(lazy):
        for part, (low, high) in limits.items():
            for own, index in _between(values, groups, column, low, high):
                ones = np.ones_like(own)
                some.append((own, ones * part, index >> shift << shift, ones))
                pending += len(own)
        if pending > PENDING:
            some, pending = [in_order(*map(np.concatenate, zip(*some, strict=True)))], 0
    return in_order(*map(np.concatenate, zip(*some, strict=True)))


def _between(
    values: Keys, groups: Ints, column: Column, low: Ints, high: Ints
) -> Iterator[tuple[Ints, Ints]]:
    """Groups and indices of the records that lie in the range of their group."""
    asked = high >= low
    least, most = column.edges(int(low[asked].min()), int(high.max()))
    if least is None:
        return
    for begin in range(0, len(values), CHUNK):
        keys = column.keys(values[begin : begin + CHUNK])
        inside = keys >= least
        inside &= keys <= most
        group, index = groups[begin : begin + CHUNK][inside], column.grid.snap(keys[inside])
        inside = index >= low[group]
        inside &= index <= high[group]
        yield group[inside], index[inside]


def _pieces(lazy: LazyRows) -> Iterator[tuple[Keys, Ints, Column]]:
    """Values that are present, the number of the group of each, and what snaps them."""
    assert isinstance(lazy.domain, Ordered)
    for values, group in lazy.pieces():
        if values.dtype.kind == "f" and len(values) and math.isnan(values.max()):
            present = ~np.isnan(values)
            values, group = values[present], group[present]
        yield values, group, Column(Records(values, values.dtype.kind != "f"), lazy.domain)
