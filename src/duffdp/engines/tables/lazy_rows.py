"""Rows that stay where they are: as candidates and groups, missing ones dropped, those of a
person capped.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from duffdp.domain import Array, Bins, Categories, Ints, Ordered, Presence, PublicSet, Scale
from duffdp.domain.membership import INSIDE, OUTSIDE
from duffdp.domain.snapping import reaches_expression, snap_expression, whole_rounded_down
from duffdp.engines.arrays import Column, read
from duffdp.engines.pairs import Pairs, pairs_by_group
from duffdp.engines.tables.adapters.query import QueryEngine
from duffdp.engines.tables.clocks import reach, ticks
from duffdp.engines.tables.names import COUNT, GROUP, INDEX, LOW, OTHER, PERSON, VALUE
from duffdp.engines.tables.people import Cap
from duffdp.engines.tables.public_values import Known

MOST_PLACES = 2**20  # from the least key to the largest


@dataclass(frozen=True, slots=True)
class Candidates:
    """How the column `value` of a frame of narwhals becomes the column `index`.

    `categories` are public values as the column holds them, if the domain has some.
    """

    nw: Any
    engine: QueryEngine
    value: str
    index: str
    dtype: Any
    domain: PublicSet
    categories: Known | None

    @property
    def of_rows(self) -> bool:
        """Whether rows count whatever is in them."""
        return isinstance(self.domain, Presence) and self.domain.rows

    @property
    def missing_as_given(self) -> bool:
        """Whether an index is missing where the value is a missing number, and nowhere else."""
        number = self.dtype.is_float() or self.dtype.is_integer()
        return isinstance(self.domain, Ordered) and bool(number)

    def without_nan(self, rows: Any) -> Any:
        """Rows with a value that is missing where it is nan."""
        value = self.nw.when(~self.missing()).then(self.nw.col(self.value))
        return rows.with_columns(value.alias(self.value))

    def missing(self) -> Any:
        """Whether there is no value; nan is none."""
        column = self.nw.col(self.value)
        if self.dtype.is_float():
            return column.is_null() | column.is_nan()
        if self.engine.own_nan and self.dtype == self.nw.Decimal:
            return column.is_null() | (column.cast(self.nw.String) == "NaN")
        return column.is_null()

    def numbers(self, rows: Any, scale: Scale) -> tuple[Any, Any, Any]:
        """Rows, and their value as an expression of numbers with its type."""
        nw, dtype, column = self.nw, self.dtype, self.nw.col(self.value)
        if isinstance(dtype, nw.Date | nw.Datetime):
            rows, unit = self.engine.clock(rows, self.value, reach(scale))
            return rows, ticks(nw, column, unit, scale), nw.Int64
        if dtype == nw.Decimal:
            return self.engine.doubles(rows, self.value), column, nw.Float64
        return rows, column, dtype

    def between(self, rows: Any, column: Any, dtype: Any, first: int, last: int | None) -> Any:
        """Rows without those before one candidate of a grid and after another."""
        assert isinstance(self.domain, Ordered)
        nw, grid = self.nw, self.domain
        if first > 0:
            inside = reaches_expression(nw, column, dtype, grid, first)
            rows = rows if inside is None else rows.filter(inside)
        beyond = None if last is None else reaches_expression(nw, column, dtype, grid, last + 1)
        return rows if beyond is None else rows.filter(~beyond)

    def snapped(self, column: Any, dtype: Any, shift: int = 0) -> Any:
        """The index of a number on a grid, rounded down to a multiple of 2**shift."""
        assert isinstance(self.domain, Ordered)
        if not self.engine.whole_floors:
            how = shift, self.engine.by_inverse
            return snap_expression(self.nw, column, dtype, self.domain, *how)
        index = snap_expression(self.nw, column, dtype, self.domain, 0, self.engine.by_inverse)
        return whole_rounded_down(self.nw, index, shift, self.domain)

    def cells(self, rows: Any, how: str = "inner") -> Any:
        """Rows with the index of their cell where the domain is no grid. Those that are in none are
        left out, or with a `how` of "left" have no index.
        """
        nw, domain, index = self.nw, self.domain, self.nw.col(self.index)
        if isinstance(domain, Presence):
            return rows.with_columns(nw.lit(0, nw.Int64).alias(self.index))
        if isinstance(domain, Categories):
            return self._with_category(rows, how)
        if isinstance(domain, Bins):
            rows = self._binned(rows, domain)
            if how == "inner":
                return rows.filter(index >= 0)
            return rows.with_columns(nw.when(index >= 0).then(index).alias(self.index))
        assert not isinstance(domain, Ordered)
        among = domain.among
        if isinstance(among, Bins):
            rows, inside = self._binned(rows, among), index >= 0
        else:
            rows, inside = self._with_category(rows, "left"), ~index.is_null()
        cell = nw.when(inside).then(nw.lit(INSIDE, nw.Int64)).otherwise(nw.lit(OUTSIDE, nw.Int64))
        return rows.with_columns(cell.alias(self.index))

    def beside(self, rows: Any, present: str) -> Any:
        """All rows with the index, which is missing where the value is, or is in no cell; a column
        `present` is taken for what is known meanwhile.
        """
        nw, known = self.nw, self.nw.col(present)
        if self.of_rows:
            return self.cells(rows)
        rows = rows.with_columns((~self.missing()).alias(present))
        # No query meets a nan on its way.
        rows = rows.with_columns(nw.when(known).then(nw.col(self.value)).alias(self.value))
        if isinstance(self.domain, Ordered):
            rows, column, dtype = self.numbers(rows, self.domain)
            rows = rows.with_columns(self.snapped(column, dtype).alias(self.index))
        else:
            rows = self.cells(rows, "left")
        index = nw.when(known).then(nw.col(self.index))
        return rows.with_columns(index.alias(self.index))

    def _binned(self, rows: Any, bins: Bins) -> Any:
        """The number of the bin of every row, -1 for none."""
        nw = self.nw
        rows, column, dtype = self.numbers(rows, bins)
        rows = rows.with_columns(column.alias(self.index))  # once, as it is compared several times
        index = bins.thresholds.of_column(nw, nw.col(self.index), dtype)
        return rows.with_columns(index.alias(self.index))

    def _with_category(self, rows: Any, how: str) -> Any:
        """By a join with the public list; by a left one the index is missing for other values."""
        assert self.categories is not None
        columns = {
            self.value: [value for (value,) in self.categories.values],
            self.index: list(self.categories.positions),
        }
        return rows.join(self.engine.literal_frame(rows, columns), on=self.value, how=how)


class GroupedRows:
    """Rows of a lazy table and the public keys of their groups.

    `schema` is that of the rows: KEY columns, PERSON if people are asked for, and `values`.
    """

    def __init__(
        self, nw: Any, engine: QueryEngine, keys: Known | None, schema: Any, values: Sequence[str]
    ) -> None:
        self.nw, self.engine, self._keys = nw, engine, keys
        self._values = values
        self.groups = 1 if keys is None else keys.size
        self.by = [name for name in schema if name not in (*values, PERSON)]
        self.has_people = PERSON in schema
        # Whether rows can be counted by their own group columns first, and joined with the keys
        # after that.
        self.late = self.groups > 1 and not self.has_people
        self._key_rows: dict[int, list[tuple[Any, ...]]] = {}
        if keys is not None:
            for row, group in zip(keys.values, keys.positions, strict=True):
                self._key_rows.setdefault(group, []).append(row)

    def present(self, rows: Any, schema: Any, names: Sequence[str]) -> Any:
        """Rows that have something in these columns, as far as there are such; nan is nothing.
        There is one zero.
        """
        for name in names:
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
        others = [name for name in schema if name not in self._values]
        floats = [name for name in others if schema[name].is_float()]
        return rows.with_columns(*(self.nw.col(name) + 0.0 for name in floats)) if floats else rows

    def joined(self, rows: Any, limits: dict[str, list[int]] | None = None) -> Any:
        """Keep what belongs to the public keys, with the number of the group.

        With `limits`, keep what belongs to the groups in them, with the limits of each.
        """
        if self._keys is None:
            return rows
        if limits is None:
            values, more = self._keys.values, {GROUP: list(self._keys.positions)}
        else:
            picked = [
                (row, at) for at, group in enumerate(limits[GROUP]) for row in self._key_rows[group]
            ]
            values = [row for row, _ in picked]
            more = {name: [column[at] for _, at in picked] for name, column in limits.items()}
        columns = {name: [row[i] for row in values] for i, name in enumerate(self.by)}
        small = self.engine.literal_frame(rows, columns | more)
        return rows.join(small, on=self.by, how="inner").drop(*self.by)


class LazyRows(GroupedRows):
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
        schema = rows.collect_schema()
        super().__init__(nw, engine, keys, schema, (VALUE, OTHER))
        self.domain, self._cap, self._order = domain, cap, order
        self._dtype = schema[VALUE]
        self._candidates = Candidates(nw, engine, VALUE, INDEX, self._dtype, domain, categories)
        needed = (PERSON,) if self._candidates.of_rows else (VALUE, OTHER, PERSON)
        self._all_rows, self._rows = rows, self.present(rows, schema, needed)
        #: The type in which numbers are handed over, piece by piece, if they are.
        self.streamed_as: str | None = None
        if isinstance(domain, Ordered) and not self.has_people and (self.late or not self.by):
            self.streamed_as = engine.piece_type(self._dtype)
        self._places = self._group_places(schema) if self.late and self.streamed_as else None
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
        return self.engine.stored(self._capped(rows)) if self.has_people else self._capped(rows)

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

    def sample(self, grid: Ordered) -> Ints | None:
        """Indices of a few blocks of rows, where the engine need not read everything for them:
        numbers, no groups.
        """
        if self.by or self.has_people or not self._dtype.is_numeric():
            return None
        values = self.engine.sample(self._all_rows, VALUE)
        return None if values is None else grid.snap(Column(read(values), grid).keys(values))

    def pieces(self) -> Iterator[list[Array]]:
        """The values of all rows that have one, an array at a time, and if there are groups their
        numbers; nan may be among them.
        """
        assert self.streamed_as is not None
        types = {VALUE: self.streamed_as}
        if not self.by:
            yield from self.engine.pieces(self._all_rows, types)
        elif self._places is None:
            yield from self.engine.pieces(self.joined(self._rows), types | {GROUP: "int64"})
        else:
            # Whole numbers are looked up sooner than joined.
            before, places = self._places
            for values, keys in self.engine.pieces(self._all_rows, types | {self.by[0]: "int64"}):
                group = places[np.clip(keys, before, before + len(places) - 1) - before]
                known = group >= 0
                yield [values, group] if known.all() else [values[known], group[known]]

    def _group_places(self, schema: Any) -> tuple[int, Ints] | None:
        """A whole number before all keys, and the group of each one from there to after them, -1
        for none; None if keys are no whole numbers, or lie wide apart.
        """
        if len(self.by) > 1 or self.engine.piece_type(schema[self.by[0]]) != "int64":
            return None
        keys = {key: group for group, rows in self._key_rows.items() for (key,) in rows}
        if not all(isinstance(key, int) for key in keys):
            return None
        before, after = min(keys, default=0) - 1, max(keys, default=0) + 1
        if after - before > MOST_PLACES or before < -(2**62) or after > 2**62:
            return None
        places = np.full(after - before + 1, -1, dtype=np.int64)
        for key, group in keys.items():
            places[key - before] = group
        return before, places

    def placed(self, grid: Ordered, first: int, last: int) -> Any:
        """INDEX of the rows from one candidate to another; -1 for those before, the number of
        candidates for those after.
        """
        nw = self.nw
        rows, column, dtype = self._candidates.numbers(self._rows, grid)
        place = snap_expression(nw, column, dtype, grid, 0, self.engine.by_inverse)
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
        rows, column, dtype = self._candidates.numbers(self._rows, grid)
        reaches = None if first == 0 else reaches_expression(nw, column, dtype, grid, first)
        if reaches is None:  # all or none of them: no need to count
            return rows.select(nw.len().alias(COUNT), (nw.len() * int(first > 0)).alias(LOW))
        aside = nw.when(reaches).then(nw.lit(0)).otherwise(nw.lit(1))
        return rows.select(nw.len().alias(COUNT), aside.sum().alias(LOW))

    def between(self, grid: Ordered, first: int, last: int) -> Any:
        """INDEX of the rows from one candidate to another, and of no others."""
        rows, column, dtype = self._candidates.numbers(self._rows, grid)
        rows = self._candidates.between(rows, column, dtype, first, last)
        index = snap_expression(self.nw, column, dtype, grid, 0, self.engine.by_inverse)
        return rows.select(index.alias(INDEX))

    def _with_index(self, first: int, last: int | None, shift: int) -> Any:
        """Rows with INDEX, without those that are in no cell of the domain."""
        nw, domain, candidates = self.nw, self.domain, self._candidates
        if not isinstance(domain, Ordered):
            return candidates.cells(self._rows)
        rows, column, dtype = candidates.numbers(self._rows, domain)
        if self.late and not isinstance(self._dtype, nw.Date | nw.Datetime):
            # Rows capped for a person must be the same in every query; others may be left out
            # early.
            rows = candidates.between(rows, column, dtype, first, last)
        return rows.with_columns(candidates.snapped(column, dtype, shift).alias(INDEX))
