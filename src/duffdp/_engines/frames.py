"""Tables in memory: rows become arrays of records, groups and people, and an engine counts them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from duffdp._engines.adapters.frame import MemoryFrame
from duffdp._engines.arrays import ArrayEngine, CellEngine, Records
from duffdp._engines.arrays.cells import cell_indices, field_cells
from duffdp._engines.arrays.column import present_mask
from duffdp._engines.pairs import PairEngine, as_doubles, pairs_by_group
from duffdp._engines.people import Cap, Randomness, choose, whole_people
from duffdp._engines.public_values import PublicValues
from duffdp._engines.universe import FindPlace, KeyUniverse, counts_by_place, day_place
from duffdp._rows import RowsOfColumns
from duffdp.domain import (
    Array,
    Bins,
    Fields,
    Grid,
    Ints,
    Membership,
    Ordered,
    Pattern,
    Presence,
    PublicSet,
)
from duffdp.domain.cells import INSIDE, OUTSIDE

DENSE = 2**22  # combinations of keys that a table lists one by one


class MemoryRows:
    """The selected rows of one frame in memory."""

    def __init__(
        self,
        adapter: MemoryFrame,
        column: str,
        by: tuple[str, ...],
        keys: PublicValues | None,
        unit: str | None,
        cap: Cap,
    ) -> None:
        self._adapter, self._column, self._by, self._keys = adapter, column, by, keys
        self._unit, self._cap = unit, cap
        self.dtype = adapter.schema[column]
        self._is_integer = self.dtype.is_integer() or self.dtype == adapter.nw.Boolean

    @property
    def _groups(self) -> int:
        """Number of groups: one for each key, in order, or one in all without keys."""
        return 1 if self._keys is None else self._keys.size

    def engine(
        self, domain: PublicSet, categories: PublicValues | None, randomness: Randomness
    ) -> ArrayEngine | CellEngine:
        """The engine that counts the rows of every group on a domain."""
        if self.dtype != self._adapter.nw.Object:
            if isinstance(domain, Ordered):
                if self._unit is None:
                    return self._grouped_records(domain)
                array, missing = self._adapter.array(self._column)
                if array.dtype != object:  # snapped once it is known which of them count
                    mask = present_mask(array)
                    mask = mask if missing is None else mask & ~missing
                    rows, group = self._choose(mask, randomness)
                    records = Records(array[rows], self._is_integer)
                    return ArrayEngine.by_group(records, group, self._groups, domain)
            # Bins of a whole column are counted in chunks, without an index of every row.
            elif isinstance(domain, Bins) and self._keys is None and self._unit is None:
                array, missing = self._adapter.array(self._column)
                present = array if missing is None else array[~missing]
                return CellEngine.of_array(Records(present, self._is_integer), domain)
        index = self._indices(domain, categories)
        rows, group = self._choose(index >= 0, randomness)
        index = index[rows]
        if isinstance(domain, Ordered):
            grid = Grid(0, domain.size - 1, 1)
            return ArrayEngine.by_group(Records(index, True), group, self._groups, grid)
        return CellEngine.of_indices(index, group, self._groups, domain.size)

    def pair_engine(self, other: str, randomness: Randomness) -> PairEngine:
        """The engine that holds the pairs of the column and another one, for every group."""
        x, y = (as_doubles(*self._adapter.array(column)) for column in (self._column, other))
        rows, group = self._choose(~(np.isnan(x) | np.isnan(y)), randomness)
        return PairEngine(pairs_by_group(x[rows], y[rows], group, self._groups))

    def key_counts(
        self,
        universe: KeyUniverse,
        places: Sequence[FindPlace],
        every_row: bool,
        source: Randomness,
    ) -> dict[int, int]:
        """The number of rows of every possible key that occurs, by its place; of rows with a value
        unless every row counts.
        """
        adapter, read, codes = self._adapter, list(places), []
        present = np.ones(adapter.length, dtype=bool) if every_row else ~self._missing()
        for at, (name, part) in enumerate(zip(universe.by, universe.parts, strict=True)):
            if isinstance(part, Pattern) and adapter.schema[name] == adapter.nw.Date:
                array, missing = adapter.array(name)
                codes.append(array.astype("M8[D]").view(np.int64))
                read[at] = partial(day_place, part, 1)
                present &= ~np.isnat(array) if missing is None else ~missing
                continue
            numbers = adapter.people(name)  # equal values have equal numbers
            present &= numbers >= 0
            codes.append(numbers)
        people = None if self._unit is None else self._people(self._unit)
        if people is not None:
            present &= people >= 0
        rows = np.flatnonzero(present)
        columns = [code[rows] for code in codes]
        table = columns[0] if len(columns) == 1 else np.stack(columns, axis=1)
        _, first, group = np.unique(table, axis=0, return_index=True, return_inverse=True)
        group = group.reshape(-1)
        if people is not None:
            group = group[choose(people[rows], group, self._cap, source)] if len(rows) else group
        counts = np.bincount(group, minlength=len(first))
        examples = rows[first]
        keys = zip(
            *(
                self._values_at(name, code, examples)
                for name, code in zip(universe.by, codes, strict=True)
            ),
            strict=True,
        )
        return counts_by_place(universe, read, keys, counts.tolist())

    def _values_at(self, name: str, codes: Ints, rows: Ints) -> list[Any]:
        """The values of a column in some rows; of days their numbers."""
        if self._adapter.schema[name] == self._adapter.nw.Date:
            days: list[Any] = codes[rows].tolist()
            return days
        column = self._adapter.column(name)[rows]
        try:
            values: list[Any] = column.to_list()
        except UnicodeDecodeError:  # Arrow may hold texts that are none: each by itself
            values = [_text_or_none(column[at : at + 1]) for at in range(len(rows))]
        return values

    def _choose(self, present: Array, randomness: Randomness) -> tuple[Ints, Ints | None]:
        """Of the rows that have a value those that count, and their groups."""
        group = self._group_numbers(self._adapter) if self._keys is not None else None
        if group is not None:
            present &= group >= 0
        if self._unit is not None:
            people = self._people(self._unit)
            present &= people >= 0
        rows = np.flatnonzero(present)
        if self._unit is not None:
            row_groups = None if group is None else group[rows]
            if len(rows) < len(people):
                people = people[rows]
            rows = rows[choose(people, row_groups, self._cap, randomness)]
        return rows, None if group is None else group[rows]

    def _people(self, unit: str) -> Ints:
        """For each row the number of its person, -1 if it has none."""
        people = None
        if self._adapter.schema[unit].is_integer():
            people = whole_people(*self._adapter.array(unit))
        return self._adapter.people(unit) if people is None else people

    def _grouped_records(self, grid: Ordered) -> ArrayEngine:
        """All records, as they are until their group is counted."""
        if self._keys is None:
            array, missing = self._adapter.array(self._column)
            present = array if missing is None else array[~missing]
            return ArrayEngine(Records(present, self._is_integer), grid)
        places = self._keys.positions
        # A library that groups well does it where each group has one value of its keys.
        one_value = isinstance(places, range) or len(set(places)) == len(places)
        one_value = one_value and self._keys.other is None
        pieces = self._adapter.grouped(self._column, list(self._by)) if one_value else None
        if pieces is not None:
            keys, array, lengths = pieces
            group = self._group_numbers(keys)
            named = group >= 0
            begins, sizes = np.zeros((2, self._groups), dtype=np.int64)
            begins[group[named]] = (np.cumsum(lengths) - lengths)[named]
            sizes[group[named]] = lengths[named]
            return ArrayEngine(Records(array, self._is_integer), grid, begins, sizes)
        array, missing = self._adapter.array(self._column)
        group = self._group_numbers(self._adapter)
        present = group >= 0 if missing is None else (group >= 0) & ~missing
        records = Records(array[present], self._is_integer)
        return ArrayEngine.by_group(records, group[present], self._groups, grid)

    def _group_numbers(self, adapter: MemoryFrame) -> Ints:
        """For each row of a frame the number of its group, -1 if it is in none."""
        assert self._keys is not None
        if self._keys.other is None:
            return self._key_numbers(adapter)
        if not self._keys.values:
            return np.full(adapter.length, self._keys.other, dtype=np.int64)
        numbers = self._key_numbers(adapter)
        return np.where(numbers < 0, self._keys.other, numbers)

    def _key_numbers(self, adapter: MemoryFrame) -> Ints:
        """For each row of a frame the number of the group of its key, -1 if it is not listed."""
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
            positions = adapter.positions(name, values)
            longer = list(dict.fromkeys(row[: i + 1] for row in table))
            before = {beginning: at for at, beginning in enumerate(beginnings)}
            codes = np.array([before[row[:i]] * len(values) + place[row[i]] for row in longer])
            combined = positions if numbers is None else numbers * len(values) + positions
            if numbers is not None:
                combined[(numbers < 0) | (positions < 0)] = -1
            numbers = _places(combined, codes, len(beginnings) * len(values))
            beginnings = longer
        assert numbers is not None
        group_of = dict(zip(table, self._keys.positions, strict=True))
        groups: Ints = np.append([group_of[row] for row in beginnings], -1)[numbers]
        return groups

    def _indices(self, domain: PublicSet, categories: PublicValues | None) -> Ints:
        """For each row the index of its candidate, -1 if it is missing."""
        objects = self.dtype == self._adapter.nw.Object
        if isinstance(domain, Fields):
            absent = self._indices(Presence(), None) < 0
            members = domain.members
            if members is None:
                return field_cells(np.full(len(absent), -1), absent)
            return field_cells(self._indices(members, categories), absent)
        if isinstance(domain, Presence) and (domain.rows or not objects):
            present = ~self._missing() if not domain.rows else np.ones(self._adapter.length, bool)
            return np.where(present, 0, -1)
        if categories is not None and not objects:
            values = [value for (value,) in categories.values]
            positions = self._adapter.positions(self._column, values)
            places: Ints = np.append(np.array(categories.positions, dtype=np.int64), -1)[positions]
            if isinstance(domain, Membership):
                outside = np.where(self._missing(), -1, OUTSIDE)
                places = np.where(places >= 0, INSIDE, outside)
            return places
        array, missing = self._adapter.array(self._column)
        if isinstance(domain, Ordered) or categories is not None:
            index = np.fromiter(map(domain.record_index, array), dtype=np.int64, count=len(array))
        else:
            index = cell_indices(array, domain)
        if missing is not None:
            index[missing] = -1
        return index

    def _missing(self) -> Array:
        return self._adapter.missing(self._column)


def _text_or_none(value: Any) -> Any:
    """The only value of a series; None for bytes that are no text."""
    try:
        return value.to_list()[0]
    except UnicodeDecodeError:
        return None


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
