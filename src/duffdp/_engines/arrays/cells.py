"""The counting engine of cells: categories, bins, inside and outside of a set, presence."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence
from threading import Lock
from typing import Any

import numpy as np

from duffdp._engines.arrays.column import CHUNK, SMALL_HISTOGRAM, KeyReader, present_mask
from duffdp._engines.arrays.ranks import count_runs
from duffdp._engines.arrays.records import Records
from duffdp._engines.requests import (
    Answer,
    ColumnRequest,
    GroupedCounts,
    RecordCounts,
    Request,
    ValueCounts,
    stretches,
)
from duffdp.domain import Array, Bins, Categories, Cells, Fields, Ints, Membership, Presence
from duffdp.domain.cells import INSIDE, MISSING, OTHER_VALUES, OUTSIDE, is_present
from duffdp.domain.reading import EPOCH, FINER

MAX_CELLS = 2**24  # cells of all groups that one histogram holds: 128 MiB
# Groups of a block, more if they have no more cells than this.
HISTOGRAM_GROUPS, HISTOGRAM_CELLS = 256, 2**16
# Equal records of these types equal the same categories: one of them is looked up for all.
_HASHED_BY_VALUE = frozenset({str, bytes, int, float, bool, type(None)})
_NO_PYTHON_TIME = object()  # present, and equal to no category


class CellEngine:
    """Counts the records in every cell of a domain, for every group.

    Parameters
    ----------
    size
        Number of cells.
    groups
        Number of groups.
    count
        Counts all cells of all groups: called once, when the first request comes.
    """

    def __init__(self, size: int, groups: int, count: Callable[[], GroupedCounts]) -> None:
        self.groups, self._size, self._count = groups, size, count
        self._counts: GroupedCounts | None = None
        self._lock = Lock()

    @classmethod
    def of_array(cls, records: Records, domain: Categories | Cells) -> CellEngine:
        """The records of one array. Its type is checked here, its records are read when they are
        counted.
        """
        array, size = records.array, domain.size
        cell_indices(array[:0], domain)

        def counts() -> GroupedCounts:
            cells = np.zeros(size, dtype=np.int64)
            for begin in range(0, len(array), CHUNK):
                cells += _cell_counts(array[begin : begin + CHUNK], domain)
            index = cells.nonzero()[0]
            return GroupedCounts(index, cells[index], np.array([len(index)]))

        return cls(size, 1, counts)

    @classmethod
    def of_indices(cls, index: Ints, group: Ints | None, groups: int, size: int) -> CellEngine:
        """Records as numbers of cells, with the number of the group of each."""
        code = index if group is None else group * size + index
        return cls(size, groups, lambda: _cells_by_group(code, groups, size))

    @property
    def max_records(self) -> int:
        """Number of records of the largest group."""
        return int(self._all().totals().max(initial=0))

    def blocks(self) -> list[Ints]:
        """All groups in pieces."""
        return stretches(self.groups, max(HISTOGRAM_CELLS // self._size, HISTOGRAM_GROUPS))

    def answer(self, requests: Sequence[ColumnRequest]) -> list[Answer]:
        """One answer for each request."""
        return [self._answer(groups, request) for _, groups, request in requests]

    def _answer(self, groups: Ints, request: Request[Answer]) -> Answer:
        counts = self._all().take(groups)
        match request:
            case ValueCounts():
                return counts
            case RecordCounts():
                totals: list[int] = counts.totals().tolist()
                return totals
        raise TypeError(f"cells do not answer {type(request).__name__}.")

    def _all(self) -> GroupedCounts:
        """The counts of all groups; the first thread that needs them counts, others wait."""
        with self._lock:
            if self._counts is None:
                self._counts = self._count()
            return self._counts


def _cell_counts(array: Array, domain: Categories | Cells) -> Ints:
    """The number of records in every cell.

    Typed records are counted without the cell of each: a count of 1e7 doubles took a tenth of the
    processor time, a histogram a seventh to a third (rows "count" and "histogram" of `make bench`).
    """
    typed = array.dtype != object
    if typed and isinstance(domain, Presence):
        return np.array([_present_count(array)])
    bins = domain.members if isinstance(domain, Membership) else domain
    if typed and isinstance(bins, Bins):
        keys = KeyReader(array.dtype, bins).keys(array)
        counts = bins.thresholds.counts(keys)
        if domain is bins:
            return counts
        inside = counts.sum()
        return np.array([inside, len(keys) - inside])
    index = cell_indices(array, domain)
    return np.bincount(index[index >= 0], minlength=domain.size)


def _present_count(array: Array) -> int:
    """The number of records of a typed array that are present."""
    # A nan comes out on top: one reading, and no mask where there is none.
    if array.dtype.kind in "iub" or not len(array):
        return len(array)
    if array.dtype.kind == "f" and not np.isnan(array[array.argmax()]):
        return len(array)
    return int(np.count_nonzero(present_mask(array)))


def _cells_by_group(code: Ints, groups: int, size: int) -> GroupedCounts:
    """Counts of cells, for the number `group * size + cell` of every record."""
    cells = groups * size
    if cells <= min(max(SMALL_HISTOGRAM, 4 * len(code)), MAX_CELLS):
        counts = np.bincount(code, minlength=cells)
        number = counts.nonzero()[0]
        counts = counts[number]
    else:  # many cells without a record: no histogram of all of them
        number, counts = count_runs(np.sort(code))
    group, index = np.divmod(number, size)
    return GroupedCounts(index, counts, np.cumsum(np.bincount(group, minlength=groups)))


def cell_indices(array: Array, domain: Categories | Cells) -> Ints:
    """The cell of every record in order, -1 for those that are dropped."""
    typed = array.dtype != object
    if isinstance(domain, Presence):
        is_there = (
            present_mask(array) if typed else np.fromiter(map(is_present, array), bool, len(array))
        )
        return np.where(is_there, 0, -1)
    if isinstance(domain, Fields):
        members, is_there = domain.members, cell_indices(array, Presence()) >= 0
        place = np.full(len(array), -1) if members is None else cell_indices(array, members)
        return field_cells(place, ~is_there)
    bins = domain.members if isinstance(domain, Membership) else domain
    if typed and isinstance(bins, Bins):
        cells = bins.snap(KeyReader(array.dtype, bins).keys(array))
        if domain is not bins:
            cells = np.where(cells >= 0, INSIDE, OUTSIDE)
        index = np.full(len(array), -1, dtype=np.int64)
        index[present_mask(array)] = cells
        return index
    if isinstance(bins, Bins):
        return np.fromiter(map(domain.record_index, array), np.int64, len(array))
    if array.dtype.kind in "iubmM":
        values, places = np.unique(array, return_inverse=True)
        index = np.array([domain.record_index(_as_python(v)) for v in values], dtype=np.int64)
        return index[places]
    records = array.tolist()
    if _HASHED_BY_VALUE.issuperset(map(type, records)):
        places_of = {record: domain.record_index(record) for record in set(records)}
        return np.fromiter(map(places_of.__getitem__, records), np.int64, len(records))
    return np.fromiter(
        (domain.record_index(_as_python(record)) for record in records), np.int64, len(records)
    )


def field_cells(place: Ints, missing: Array) -> Ints:
    """The cells of all fields, from their places in the public set, -1 for none."""
    cells: Ints = np.where(
        missing, MISSING, np.where(place >= 0, OTHER_VALUES + 1 + place, OTHER_VALUES)
    )
    return cells


def _as_python(record: Any) -> Any:
    """A numpy scalar as the Python value it equals; None if it is missing."""
    if not issubclass(type(record), np.generic):  # isinstance would call the record's own code
        return record
    value = record.item()
    if not isinstance(record, np.datetime64 | np.timedelta64) or not isinstance(value, int):
        return value
    unit, multiple = np.datetime_data(record.dtype)
    micros, remainder = divmod(int(record.view(np.int64)) * multiple, FINER.get(unit, 1))
    if remainder or unit not in FINER:
        return _NO_PYTHON_TIME
    span = dt.timedelta(microseconds=micros)
    return EPOCH + span if isinstance(record, np.datetime64) else span
