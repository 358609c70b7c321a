"""Tables in memory: rows become positions of candidates, groups and people, as arrays side by
side.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from duffdp.domain import Array, Bins, Grid, Ints, Membership, Ordered, Presence, PublicSet
from duffdp.domain.membership import INSIDE, OUTSIDE
from duffdp.engines.arrays import BinColumn, Column, Records
from duffdp.engines.groups import SideBySide, by_group, counted
from duffdp.engines.pairs import Pairs, as_doubles, pairs_by_group
from duffdp.engines.source import Tally
from duffdp.engines.tables.adapters.memory_frame import MemoryFrame
from duffdp.engines.tables.people import Cap, Randomness, choose, whole_people
from duffdp.engines.tables.public_values import Known
from duffdp.rows import RowsOfColumns

DENSE = 2**22  # combinations of keys that a table lists one by one


class MemoryRows:
    """The rows of one frame in memory that a selection names."""

    def __init__(
        self,
        adapter: MemoryFrame,
        column: str,
        by: tuple[str, ...],
        keys: Known | None,
        unit: str | None,
        cap: Cap,
    ) -> None:
        self._adapter, self._column, self._by, self._keys = adapter, column, by, keys
        self._unit, self._cap = unit, cap
        self.dtype = adapter.schema[column]
        self._whole = self.dtype.is_integer() or self.dtype == adapter.nw.Boolean

    def sources(
        self, domain: PublicSet, categories: Known | None, source: Randomness
    ) -> Sequence[Tally]:
        """One source of counts for each key, in order; one in all without keys."""
        many = 1 if self._keys is None else self._keys.size
        objects = self.dtype == self._adapter.nw.Object
        if isinstance(domain, Ordered) and self._unit is None and not objects:
            return self._records_by_group(domain, many)
        if isinstance(domain, Bins) and self._keys is None and self._unit is None and not objects:
            array, missing = self._adapter.array(self._column)
            kept = array if missing is None else array[~missing]
            return [BinColumn(Records(kept, self._whole), domain)]
        if isinstance(domain, Ordered) and not objects:
            array, missing = self._adapter.array(self._column)
            if array.dtype != object:  # records are snapped once it is known which of them count
                rows, group = self._chosen(_present(array, missing), source)
                return by_group(Records(array[rows], self._whole), group, many, domain)
        index = self._indices(domain, categories)
        rows, group = self._chosen(index >= 0, source)
        index = index[rows]
        if not isinstance(domain, Ordered):
            return list(counted(index, group, many, domain.size))
        return by_group(Records(index, True), group, many, Grid(0, domain.size - 1, 1))

    def pairs(self, other: str, source: Randomness) -> list[Pairs]:
        """The column beside another one: the pairs of each key, in order; of all without keys."""
        x, y = (as_doubles(*self._adapter.array(column)) for column in (self._column, other))
        rows, group = self._chosen(~(np.isnan(x) | np.isnan(y)), source)
        return pairs_by_group(x[rows], y[rows], group, 1 if self._keys is None else self._keys.size)

    def _chosen(self, present: Array, source: Randomness) -> tuple[Ints, Ints | None]:
        """Of the rows that have a value those that count, and their groups."""
        groups = self._groups(self._adapter) if self._keys is not None else None
        if groups is not None:
            present &= groups >= 0
        if self._unit is not None:
            people = self._people(self._unit)
            present &= people >= 0
        rows = np.flatnonzero(present)
        if self._unit is not None:
            own = None if groups is None else groups[rows]
            if len(rows) < len(people):
                people = people[rows]
            rows = rows[choose(people, own, self._cap, source)]
        return rows, None if groups is None else groups[rows]

    def _people(self, unit: str) -> Ints:
        """For each row the number of its person, -1 if it has none."""
        people = None
        if self._adapter.schema[unit].is_integer():
            people = whole_people(*self._adapter.array(unit))
        return self._adapter.people(unit) if people is None else people

    def _records_by_group(self, grid: Ordered, many: int) -> Sequence[Column]:
        """Records stay as they are until their group is looked at."""
        if self._keys is None:
            array, missing = self._adapter.array(self._column)
            return [
                Column(Records(array if missing is None else array[~missing], self._whole), grid)
            ]
        places = self._keys.positions
        # Whether each group has one value of its keys.
        apart = isinstance(places, range) or len(set(places)) == len(places)
        grouped = self._adapter.grouped(self._column, list(self._by)) if apart else None
        if grouped is not None:
            keys, array, sizes = grouped
            at = self._groups(keys)
            begins, found = np.zeros((2, many), dtype=np.int64)
            begins[at[at >= 0]] = (np.cumsum(sizes) - sizes)[at >= 0]
            found[at[at >= 0]] = sizes[at >= 0]
            return SideBySide(Records(array, self._whole), begins, found, grid)
        array, missing = self._adapter.array(self._column)
        groups = self._groups(self._adapter)
        present = groups >= 0 if missing is None else (groups >= 0) & ~missing
        return by_group(Records(array[present], self._whole), groups[present], many, grid)

    def _groups(self, adapter: MemoryFrame) -> Ints:
        """For each row of a frame the number of its group, -1 if it is in none."""
        assert self._keys is not None
        numbers: Ints | None = None
        table = self._keys.values
        if len(self._by) == 1:
            column = table.columns[0] if isinstance(table, RowsOfColumns) else None
            numbers = adapter.positions(self._by[0], column or [value for (value,) in table])
            if isinstance(self._keys.positions, range):  # from 0 on
                return numbers
            return np.append(self._keys.positions, -1)[numbers]
        # Column by column: the number of a row among the beginnings of keys, until they are whole
        # keys.
        beginnings: list[tuple[Any, ...]] = [()]
        for i, name in enumerate(self._by):
            values = list(dict.fromkeys(row[i] for row in table))
            place = {value: at for at, value in enumerate(values)}
            found = adapter.positions(name, values)
            longer = list(dict.fromkeys(row[: i + 1] for row in table))
            before = {beginning: at for at, beginning in enumerate(beginnings)}
            codes = np.array([before[row[:i]] * len(values) + place[row[i]] for row in longer])
            combined = found if numbers is None else numbers * len(values) + found
            if numbers is not None:
                combined[(numbers < 0) | (found < 0)] = -1
            numbers = _places(combined, codes, len(beginnings) * len(values))
            beginnings = longer
        assert numbers is not None
        group_of = dict(zip(table, self._keys.positions, strict=True))
        found_groups: Ints = np.append([group_of[row] for row in beginnings], -1)[numbers]
        return found_groups

    def _indices(self, domain: PublicSet, categories: Known | None) -> Ints:
        """For each row the index of its candidate, -1 if it is missing."""
        objects = self.dtype == self._adapter.nw.Object
        if isinstance(domain, Presence) and (domain.rows or not objects):
            present = ~self._missing() if not domain.rows else np.ones(self._adapter.length, bool)
            return np.where(present, 0, -1)
        if categories is not None and not objects:
            found = self._adapter.positions(self._column, [value for (value,) in categories.values])
            places: Ints = np.append(np.array(categories.positions, dtype=np.int64), -1)[found]
            if isinstance(domain, Membership):
                outside = np.where(self._missing(), -1, OUTSIDE)
                places = np.where(places >= 0, INSIDE, outside)
            return places
        array, missing = self._adapter.array(self._column)
        records = Records(array, self._whole)
        if array.dtype == object or categories is not None or isinstance(domain, Presence):
            index = np.fromiter(map(domain.record_index, array), dtype=np.int64, count=len(array))
        elif isinstance(domain, Ordered):
            index = Column(records, domain).indices()
        else:
            assert isinstance(domain, Bins | Membership)
            index = BinColumn(records, domain).indices()
        if missing is not None:
            index[missing] = -1
        return index

    def _missing(self) -> Array:
        return self._adapter.missing(self._column)


def _present(array: Array, missing: Array | None) -> Array:
    """Which records of a typed array are there: not missing, not nan, no moment that is none."""
    with np.errstate(all="ignore"):
        present: Array = array == array
    return present if missing is None else present & ~missing


def _places(combined: Ints, codes: Ints, size: int) -> Ints:
    """For each number its position in a list of different codes below `size`, -1 if it is not
    there.
    """
    if size <= DENSE:  # looked up: a search takes several times as long
        place = np.full(size + 1, -1, dtype=np.int64)  # the last one is for -1
        place[codes] = np.arange(len(codes))
        looked_up: Ints = place[combined]
        return looked_up
    order = np.argsort(codes)
    at = np.minimum(np.searchsorted(codes, combined, sorter=order), len(codes) - 1)
    return np.where(codes[order][at] == combined, order[at], -1)
