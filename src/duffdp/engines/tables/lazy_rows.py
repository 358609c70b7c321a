"""Rows that stay where they are: as candidates and groups, missing ones dropped, those of a
person capped.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from duffdp.domain import Bins, Categories, Ints, Ordered, Presence, PublicSet, Scale
from duffdp.domain.membership import INSIDE, OUTSIDE
from duffdp.domain.snapping import reaches_expression, snap_expression, whole_rounded_down
from duffdp.engines.pairs import Pairs, pairs_by_group
from duffdp.engines.tables.adapters.query import QueryEngine
from duffdp.engines.tables.clocks import reach, ticks
from duffdp.engines.tables.names import COUNT, GROUP, INDEX, LOW, OTHER, PERSON, VALUE
from duffdp.engines.tables.people import Cap
from duffdp.engines.tables.public_values import Known


class LazyRows:
    """The rows of one lazy table that a selection names, as indices of one domain.

    Parameters
    ----------
    nw, engine
        narwhals, and the adapter of the engine.
    rows
        VALUE, OTHER if they are pairs, the columns of groups, and PERSON if people are asked for,
        in a frame of narwhals.
    keys, categories
        Public values as the columns hold them.
    cap, order
        How many rows of a person count, and two random keys that decide which; two more if groups
        of a person are chosen as well.
    """

    def __init__(
        self,
        nw: Any,
        engine: QueryEngine,
        rows: Any,
        keys: Known | None,
        categories: Known | None,
        domain: PublicSet,
        cap: Cap,
        order: tuple[int, ...],
    ) -> None:
        self.nw, self.engine, self.domain = nw, engine, domain
        self._keys, self._categories = keys, categories
        self._cap, self._order = cap, order
        schema = rows.collect_schema()
        self._dtype = schema[VALUE]
        self.groups = 1 if keys is None else keys.size
        self.by = [name for name in schema if name not in (VALUE, OTHER, PERSON)]
        self.has_people = PERSON in schema
        # Whether rows can be counted by their own group columns first, and joined with the keys
        # after that.
        self.late = self.groups > 1 and not self.has_people
        self._key_rows: dict[int, list[tuple[Any, ...]]] = {}
        if keys is not None:
            for row, group in zip(keys.values, keys.positions, strict=True):
                self._key_rows.setdefault(group, []).append(row)
        self._rows = self._present(rows, schema)
        #: All rows that count, as candidates; pairs are none.
        self.counted: Any = None if OTHER in schema else self.indexed()

    def of_group(self, group: int) -> Any:
        """The rows of one group."""
        if self.late:
            return self.joined(self.counted, {GROUP: [group]})
        if self.groups > 1:
            return self.counted.filter(self.nw.col(GROUP) == group)
        return self.counted

    def pairs(self) -> list[Pairs]:
        """All rows that count, fetched: the pairs of each group."""
        rows = self._rows.with_columns(
            *(self.nw.col(name).cast(self.nw.Float64) + 0.0 for name in (VALUE, OTHER))
        )
        rows = self._capped(rows)
        found = self.engine.fetch(rows)
        x, y = (np.asarray(found[name], dtype=np.float64) for name in (VALUE, OTHER))
        group = None if self._keys is None else np.asarray(found[GROUP], dtype=np.int64)
        return pairs_by_group(x, y, group, self.groups)

    def _present(self, rows: Any, schema: Any) -> Any:
        """Rows with a value and, if people are asked for, a person; nan is neither. There is one
        zero. Where rows are counted, no value is asked for.
        """
        rows_count = isinstance(self.domain, Presence) and self.domain.rows
        for name in (PERSON,) if rows_count else (VALUE, OTHER, PERSON):
            if name not in schema:
                continue
            if self.engine.own_nan:
                rows = self.engine.present(rows, name)
                continue
            keep = ~self.nw.col(name).is_null()
            if schema[name].is_float():
                keep = keep & ~self.nw.col(name).is_nan()
            rows = rows.filter(keep)
        # -0.0 is 0.0 and has other bits, by which some engines join and bring rows together.
        others = [name for name in schema if name not in (VALUE, OTHER)]
        floats = [name for name in others if schema[name].is_float()]
        return rows.with_columns(*(self.nw.col(name) + 0.0 for name in floats)) if floats else rows

    def indexed(self, first: int = 0, last: int | None = None, shift: int = 0) -> Any:
        """Rows that count, as INDEX and what tells their group: clamped, snapped, capped.

        Rows outside of the candidates from `first` to `last` may be left out, where that is
        possible early. With a `shift`, which is not for people, INDEX is rounded down to multiples
        of 2**shift.
        """
        nw = self.nw
        rows = self._with_index(first, last, shift).select(
            nw.col(INDEX), *map(nw.col, self.by), *([nw.col(PERSON)] if self.has_people else [])
        )
        if self.late:
            return rows
        return self._capped(rows)

    def _capped(self, rows: Any) -> Any:
        """The rows of groups, and of people those that count."""
        rows = self.joined(rows)
        if not self.has_people:
            return rows
        most, groups = self._cap
        if groups is None:
            return self.engine.cap(rows, self._order, most).drop(PERSON)
        both = [PERSON, GROUP]
        found = rows.group_by(both).agg(self.nw.len().alias(COUNT)).select(*both)
        found = self.engine.cap(found, self._order[2:], groups)
        chosen = rows.join(found, on=both, how="inner")
        return self.engine.cap(chosen, self._order[:2], most, GROUP).drop(PERSON)

    def joined(self, rows: Any, limits: dict[str, list[int]] | None = None) -> Any:
        """Keep what belongs to the public keys, with the number of the group.

        With `limits`, keep what belongs to the groups in them, with the limits of each.
        """
        if self._keys is None:
            return rows
        if limits is None:
            values, more = self._keys.values, {GROUP: self._keys.positions}
        else:
            picked = [
                (row, at) for at, group in enumerate(limits[GROUP]) for row in self._key_rows[group]
            ]
            values = [row for row, _ in picked]
            more = {name: [column[at] for _, at in picked] for name, column in limits.items()}
        columns = {name: [row[i] for row in values] for i, name in enumerate(self.by)}
        small = self.engine.literal_frame(rows, columns | more)
        return rows.join(small, on=self.by, how="inner").drop(*self.by)

    def sample(self, grid: Ordered) -> Ints | None:
        """Indices of a few blocks of rows, where the engine need not read everything for them:
        numbers, no groups.
        """
        if self.by or self.has_people or not self._dtype.is_numeric():
            return None
        values = self.engine.sample(self._rows, VALUE)
        return None if values is None else grid.snap(values)

    def placed(self, grid: Ordered, first: int, last: int) -> Any:
        """INDEX of the rows from one candidate to another; -1 for those before, the number of
        candidates for those after.
        """
        nw = self.nw
        rows, column, dtype = self._numbers(grid)
        place = snap_expression(nw, column, dtype, grid)
        beyond = reaches_expression(nw, column, dtype, grid, last + 1)
        if beyond is not None:
            place = nw.when(beyond).then(nw.lit(grid.size)).otherwise(place)
        if first > 0:
            inside = reaches_expression(nw, column, dtype, grid, first)
            if inside is None:
                place = place * 0 - 1  # a column, where a literal could be one row
            else:
                place = nw.when(inside).then(place).otherwise(nw.lit(-1, nw.Int64))
        return rows.select(place.alias(INDEX))

    def before(self, grid: Ordered, first: int) -> Any:
        """How many rows lie before a candidate (LOW) and in all (COUNT)."""
        nw = self.nw
        rows, column, dtype = self._numbers(grid)
        reaches = None if first == 0 else reaches_expression(nw, column, dtype, grid, first)
        if reaches is None:  # all or none of them: no need to count
            return rows.select(nw.len().alias(COUNT), (nw.len() * int(first > 0)).alias(LOW))
        aside = nw.when(reaches).then(nw.lit(0)).otherwise(nw.lit(1))
        return rows.select(nw.len().alias(COUNT), aside.sum().alias(LOW))

    def between(self, grid: Ordered, first: int, last: int) -> Any:
        """INDEX of the rows from one candidate to another, and of no others."""
        rows, column, dtype = self._numbers(grid)
        rows = self._left_out(rows, column, dtype, grid, first, last)
        return rows.select(snap_expression(self.nw, column, dtype, grid).alias(INDEX))

    def _left_out(
        self, rows: Any, column: Any, dtype: Any, grid: Ordered, first: int, last: int | None
    ) -> Any:
        """Rows without those before one candidate and after another."""
        if first > 0:
            inside = reaches_expression(self.nw, column, dtype, grid, first)
            rows = rows if inside is None else rows.filter(inside)
        beyond = (
            None if last is None else reaches_expression(self.nw, column, dtype, grid, last + 1)
        )
        return rows if beyond is None else rows.filter(~beyond)

    def _numbers(self, grid: Scale) -> tuple[Any, Any, Any]:
        """Rows, and their value as an expression of numbers with its type."""
        nw, dtype, column = self.nw, self._dtype, self.nw.col(VALUE)
        if isinstance(dtype, nw.Date | nw.Datetime):
            rows, unit = self.engine.clock(self._rows, VALUE, reach(grid))
            return rows, ticks(nw, column, unit, grid), nw.Int64
        if dtype == nw.Decimal:
            return self.engine.doubles(self._rows, VALUE), column, nw.Float64
        return self._rows, column, dtype

    def _with_index(self, first: int, last: int | None, shift: int) -> Any:
        """Rows with INDEX, without those that are in no cell of the domain."""
        nw, domain = self.nw, self.domain
        if isinstance(domain, Ordered):
            return self._snapped(domain, first, last, shift)
        if isinstance(domain, Presence):
            return self._rows.with_columns(nw.lit(0, nw.Int64).alias(INDEX))
        if isinstance(domain, Categories):
            return self._with_category("inner")
        if isinstance(domain, Bins):
            return self._binned(domain).filter(nw.col(INDEX) >= 0)
        among = domain.among
        rows = self._binned(among) if isinstance(among, Bins) else self._with_category("left")
        inside = nw.col(INDEX) >= 0 if isinstance(among, Bins) else ~nw.col(INDEX).is_null()
        cell = nw.when(inside).then(nw.lit(INSIDE, nw.Int64)).otherwise(nw.lit(OUTSIDE, nw.Int64))
        return rows.with_columns(cell.alias(INDEX))

    def _binned(self, bins: Bins) -> Any:
        """INDEX of the bin of every row, -1 for none."""
        nw = self.nw
        rows, column, dtype = self._numbers(bins)
        rows = rows.with_columns(column.alias(INDEX))  # once, as it is compared several times
        index = bins.thresholds.of_column(nw, nw.col(INDEX), dtype)
        return rows.with_columns(index.alias(INDEX))

    def _snapped(self, grid: Ordered, first: int, last: int | None, shift: int) -> Any:
        """INDEX of every row on a grid."""
        nw = self.nw
        rows, column, dtype = self._numbers(grid)
        if self.late and not isinstance(self._dtype, nw.Date | nw.Datetime):
            # Rows capped for a person must be the same in every query; others may be left out
            # early.
            rows = self._left_out(rows, column, dtype, grid, first, last)
        if self.engine.whole_floors:
            index = whole_rounded_down(nw, snap_expression(nw, column, dtype, grid), shift, grid)
        else:
            index = snap_expression(nw, column, dtype, grid, shift)
        return rows.with_columns(index.alias(INDEX))

    def _with_category(self, how: str) -> Any:
        """INDEX by a join with the public list; by a left one it is missing for other values."""
        assert self._categories is not None
        columns = {
            VALUE: [value for (value,) in self._categories.values],
            INDEX: self._categories.positions,
        }
        return self._rows.join(self.engine.literal_frame(self._rows, columns), on=VALUE, how=how)
