"""Rows of a table in an engine: columns as candidates, missing values dropped, rows per person
capped, groups by public keys.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, TypeVar

import numpy as np

from duffdp._engines.adapters.query import QueryAdapter
from duffdp._engines.libraries import DataType, Expression, Frame, Narwhals
from duffdp._engines.pairs import pairs_by_group
from duffdp._engines.people import Cap
from duffdp._engines.public_values import PublicValues
from duffdp._engines.queries.clocks import reach, ticks
from duffdp._engines.queries.expressions import (
    bin_expression,
    reaches_expression,
    rounded_down,
    snap_expression,
    whole_rounded_down,
)
from duffdp._engines.queries.names import (
    COUNT,
    GROUP,
    INDEXES,
    PERSON,
    PRESENT,
    SECOND_VALUE,
    VALUE,
    VALUES,
)
from duffdp._engines.requests import Pairs
from duffdp.domain import (
    Array,
    Bins,
    Categories,
    Fields,
    Ints,
    Ordered,
    Presence,
    PublicSet,
    Scale,
)
from duffdp.domain.cells import INSIDE, MISSING, OTHER_VALUES, OUTSIDE
from duffdp.errors import UnsupportedData

MAX_KEY_SPAN = 2**20  # from the least whole key to the largest, where groups are looked up

JoinHow = Literal["inner", "left"]
Limits = dict[str, list[int]]  # columns of numbers beside GROUP, a row for each group
Source = TypeVar("Source")
Result = TypeVar("Result")


def run_query(query: Callable[[Source], Result], source: Source) -> Result:
    """Run a query; its error says nothing of the engine's own words."""
    try:
        return query(source)
    except Exception as error:
        raise query_error(error) from None


def query_error(error: Exception) -> UnsupportedData:
    """The error for a query that failed, without the engine's own words, which may quote data."""
    return UnsupportedData(
        f"the query failed in the engine that holds the data ({type(error).__name__}). Check that "
        "the data is unchanged and readable, and that the connection is open."
    )


def whole_numbers(values: Any) -> Ints:
    """Whole numbers from any type that an engine returns them as."""
    if isinstance(values, np.ndarray) and values.dtype.kind in "iu":
        return values.astype(np.int64)
    return np.array([int(value) for value in values], dtype=np.int64)


class ColumnSpec(NamedTuple):
    """A column by its name, its domain, and the domain's categories in the column's type, if there
    are any.
    """

    name: str
    domain: PublicSet
    categories: PublicValues | None


@dataclass(frozen=True, slots=True)
class IndexColumn:
    """Turns the column `value` of a narwhals frame into the column `index` of candidates."""

    nw: Narwhals
    adapter: QueryAdapter
    value: str
    index: str
    dtype: DataType
    domain: PublicSet
    categories: PublicValues | None

    @property
    def counts_rows(self) -> bool:
        """True if rows count regardless of their values."""
        domain = self.domain
        return isinstance(domain, Fields) or (isinstance(domain, Presence) and domain.rows)

    @property
    def is_number(self) -> bool:
        """True if an index is missing where the value is a missing number, and nowhere else."""
        number = self.dtype.is_float() or self.dtype.is_integer()
        return isinstance(self.domain, Ordered) and bool(number)

    @property
    def is_time(self) -> bool:
        return isinstance(self.dtype, self.nw.Date | self.nw.Datetime)

    def without_nan(self, rows: Frame) -> Frame:
        """Rows with a value that is missing where it is nan."""
        value = self.nw.when(~self.missing()).then(self.nw.col(self.value))
        return rows.with_columns(value.alias(self.value))

    def missing(self) -> Expression:
        """Expression that is true where there is no value; nan is none."""
        column = self.nw.col(self.value)
        if self.dtype.is_float() and self.adapter.holds_nan:
            return column.is_null() | column.is_nan()
        if self.adapter.has_custom_missing and self.dtype == self.nw.Decimal:
            return column.is_null() | (column.cast(self.nw.String) == "NaN")
        return column.is_null()

    def numbers(self, rows: Frame, scale: Scale) -> tuple[Frame, Expression, DataType]:
        """Rows, and their value as an expression of numbers with its type."""
        nw, dtype, column = self.nw, self.dtype, self.nw.col(self.value)
        if self.is_time:
            rows, unit = self.adapter.clock(rows, self.value, reach(scale))
            return rows, ticks(nw, column, unit, scale), nw.Int64
        if dtype == nw.Decimal:
            return self.adapter.doubles(rows, self.value), column, nw.Float64
        return rows, column, dtype

    def between(
        self, rows: Frame, column: Expression, dtype: DataType, first: int, last: int | None
    ) -> Frame:
        """Rows without those before one candidate of a grid and after another."""
        assert isinstance(self.domain, Ordered)
        nw, grid = self.nw, self.domain
        if first > 0:
            inside = reaches_expression(nw, column, dtype, grid, first)
            rows = rows if inside is None else rows.filter(inside)
        above_last = None if last is None else reaches_expression(nw, column, dtype, grid, last + 1)
        return rows if above_last is None else rows.filter(~above_last)

    def snapped(self, column: Expression, dtype: DataType, shift: int = 0) -> Expression:
        """The index of a number on a grid, rounded down to a multiple of 2**shift."""
        assert isinstance(self.domain, Ordered)
        reciprocal = self.adapter.divides_by_reciprocal
        if not self.adapter.floor_returns_integer:
            return snap_expression(self.nw, column, dtype, self.domain, shift, reciprocal)
        index = snap_expression(self.nw, column, dtype, self.domain, 0, reciprocal)
        return whole_rounded_down(self.nw, index, shift, self.domain)

    def present_rows(
        self, rows: Frame, first: int = 0, last: int | None = None, shift: int = 0
    ) -> Frame:
        """Of rows that have a value those in a cell of the domain, with the index rounded down to a
        multiple of 2**shift. Those outside of the candidates from `first` to `last` may be left
        out.
        """
        if not isinstance(self.domain, Ordered):
            return self.cells(rows)
        rows, column, dtype = self.numbers(rows, self.domain)
        if not self.is_time:
            # By its value a row is left out before its index is computed.
            rows = self.between(rows, column, dtype, first, last)
        return rows.with_columns(self.snapped(column, dtype, shift).alias(self.index))

    def all_rows(self, rows: Frame) -> Frame:
        """All rows with the index, which is missing where the value is, or is in no cell; the
        column PRESENT is overwritten.
        """
        nw, present = self.nw, self.nw.col(PRESENT)
        if self.counts_rows:
            return self.cells(rows)
        rows = rows.with_columns((~self.missing()).alias(PRESENT))
        # No query meets a nan on its way.
        rows = rows.with_columns(nw.when(present).then(nw.col(self.value)).alias(self.value))
        if isinstance(self.domain, Ordered):
            rows, column, dtype = self.numbers(rows, self.domain)
            rows = rows.with_columns(self.snapped(column, dtype).alias(self.index))
        else:
            rows = self.cells(rows, "left")
        index = nw.when(present).then(nw.col(self.index))
        return rows.with_columns(index.alias(self.index))

    def cells(self, rows: Frame, how: JoinHow = "inner") -> Frame:
        """Rows with the index of their cell where the domain is no grid. Those that are in none are
        left out, or with a `how` of "left" have no index.
        """
        nw, domain, index = self.nw, self.domain, self.nw.col(self.index)
        if isinstance(domain, Presence):
            return rows.with_columns(nw.lit(0, nw.Int64).alias(self.index))
        if isinstance(domain, Categories):
            return self._with_category(rows, how)
        if isinstance(domain, Bins):
            rows = self._with_bin(rows, domain)
            if how == "inner":
                return rows.filter(index >= 0)
            return rows.with_columns(nw.when(index >= 0).then(index).alias(self.index))
        if isinstance(domain, Fields):
            return self._with_field(rows, domain)
        assert not isinstance(domain, Ordered)
        members = domain.members
        if isinstance(members, Bins):
            rows, inside = self._with_bin(rows, members), index >= 0
        else:
            rows, inside = self._with_category(rows, "left"), ~index.is_null()
        cell = nw.when(inside).then(nw.lit(INSIDE, nw.Int64)).otherwise(nw.lit(OUTSIDE, nw.Int64))
        return rows.with_columns(cell.alias(self.index))

    def _with_field(self, rows: Frame, fields: Fields) -> Frame:
        """The cell of every row, whether it has a value or not; PRESENT may be overwritten."""
        nw, index, members = self.nw, self.nw.col(self.index), fields.members
        missing, other = (nw.lit(cell, nw.Int64) for cell in (MISSING, OTHER_VALUES))
        if members is None:
            cell = nw.when(self.missing()).then(missing).otherwise(other)
            return rows.with_columns(cell.alias(self.index))
        if isinstance(members, Bins):
            absent = self.missing()  # said here: numbers may replace the value
            rows = rows.with_columns(absent.alias(PRESENT))
            rows = self._with_bin(rows, members)
            present = nw.when(index >= 0).then(index + OTHER_VALUES + 1).otherwise(other)
            cell = nw.when(nw.col(PRESENT)).then(missing).otherwise(present)
            return rows.with_columns(cell.alias(self.index))
        rows = replace(self, domain=members).all_rows(rows)
        present = nw.when(index.is_null()).then(other).otherwise(index + OTHER_VALUES + 1)
        cell = nw.when(nw.col(PRESENT)).then(present).otherwise(missing)
        return rows.with_columns(cell.alias(self.index))

    def _with_bin(self, rows: Frame, bins: Bins) -> Frame:
        """The number of the bin of every row, -1 for none."""
        nw = self.nw
        rows, column, dtype = self.numbers(rows, bins)
        rows = rows.with_columns(column.alias(self.index))  # once, as it is compared several times
        index = bin_expression(nw, nw.col(self.index), dtype, bins.thresholds)
        return rows.with_columns(index.alias(self.index))

    def _with_category(self, rows: Frame, how: JoinHow) -> Frame:
        """By a join with the public list; by a left one the index is missing for other values."""
        assert self.categories is not None
        columns = {
            self.value: [value for (value,) in self.categories.values],
            self.index: list(self.categories.positions),
        }
        return rows.join(self.adapter.literal_frame(rows, columns), on=self.value, how=how)


class QueryRows:
    """The selected rows of one lazy table, with an index for each of its columns.

    Parameters
    ----------
    nw, adapter
        narwhals, and the adapter of the engine.
    rows
        VALUES of the columns, SECOND_VALUE if they are pairs, the columns of groups, and PERSON if
        people are protected, in a narwhals frame.
    keys
        Public values as the columns of groups hold them.
    columns
        The columns, some of which may have the same name.
    cap, order
        How many rows of a person count, and two random keys that decide which; two more if groups
        of a person are chosen as well.
    """

    def __init__(
        self,
        nw: Narwhals,
        adapter: QueryAdapter,
        rows: Frame,
        keys: PublicValues | None,
        columns: Sequence[ColumnSpec],
        cap: Cap,
        order: tuple[int, ...],
    ) -> None:
        self.nw, self.adapter = nw, adapter
        self._keys, self._cap, self._order = keys, cap, order
        self._schema = schema = rows.collect_schema()
        values = [VALUES.format(at) for at in range(len(columns))]
        self.by = [name for name in schema if name not in (*values, SECOND_VALUE, PERSON)]
        self.groups = 1 if keys is None else keys.size
        self.has_people = PERSON in schema
        #: Rows are counted by their own group columns first, and joined with the keys after that:
        #: a join of all rows takes longer.
        has_other = keys is not None and keys.other is not None
        self.joins_keys_after_grouping = self.groups > 1 and not self.has_people and not has_other
        self._key_rows: dict[int, list[tuple[Any, ...]]] = {}
        if keys is not None:
            for row, group in zip(keys.values, keys.positions, strict=True):
                self._key_rows.setdefault(group, []).append(row)
        self._names = [column.name for column in columns]
        self.columns = [
            IndexColumn(nw, adapter, value, INDEXES.format(at), schema[value], *column[1:])
            for at, (value, column) in enumerate(zip(values, columns, strict=True))
        ]
        self._rows = rows
        self._capped: Frame | None = (
            None  # rows of people that count, as candidates; pairs are none
        )
        if self.has_people and SECOND_VALUE not in schema:
            single = len(columns) == 1
            # Once: every query is about the same rows of a person.
            self._capped = adapter.stored(
                self._capped_column() if single else self._capped_columns()
            )
        #: The numpy type of values that the engine streams to this process, if it does.
        self.streamed_as: str | None = None
        counts_all = not self.has_people and not has_other and (self.groups > 1 or not self.by)
        if counts_all and len(columns) == 1 and isinstance(columns[0].domain, Ordered):
            self.streamed_as = adapter.piece_type(schema[VALUE])
        self._group_places = self._look_up_groups() if self.streamed_as and self.by else None

    @property
    def sizes(self) -> list[int]:
        """The number of candidates of each column."""
        return [column.domain.size for column in self.columns]

    def column_rows(
        self, column: int, first: int = 0, last: int | None = None, shift: int = 0
    ) -> Frame:
        """The rows that count for one column: its INDEXES, and the columns of groups.

        Rows outside of the candidates from `first` to `last` may be left out. With a `shift` the
        index is rounded down to a multiple of 2**shift.
        """
        nw, spec = self.nw, self.columns[column]
        if self._capped is None:
            rows = self._present(self._rows, [] if spec.counts_rows else [spec.value])
            rows = spec.present_rows(rows, first, last, shift).select(spec.index, *self.by)
            return rows if self.joins_keys_after_grouping else self.join_keys(rows)
        rows = self._capped
        if len(self.columns) > 1:
            rows = rows.filter(~nw.col(spec.index).is_null())
        if shift:
            rows = rows.with_columns(rounded_down(nw.col(spec.index), shift).alias(spec.index))
        return rows

    def side_by_side(self, columns: Sequence[int]) -> Frame:
        """All rows with the INDEXES of some columns, missing where a row does not count for one,
        and the columns of groups. With one column, only rows that count for it.
        """
        if len(columns) == 1:
            return self.column_rows(columns[0])
        if self._capped is not None:
            return self._capped
        rows = self._present(self._rows, [])
        for column in columns:
            rows = self.columns[column].all_rows(rows)
        rows = rows.select(*self.by, *map(INDEXES.format, columns))
        return rows if self.joins_keys_after_grouping else self.join_keys(rows)

    def in_groups(self, rows: Frame, limits: Limits | None) -> tuple[Frame, list[str]]:
        """Rows, and the columns of their groups. With `limits`, the rows of the groups in
        them, and the limits of each beside.
        """
        if limits is None:
            by = self.by if self.joins_keys_after_grouping else [GROUP]
            return rows, by if self.groups > 1 else []
        if self.joins_keys_after_grouping:
            return self.join_keys(rows, limits), [GROUP]
        return rows.join(self.adapter.literal_frame(rows, limits), on=GROUP, how="inner"), [GROUP]

    def fetch(self, results: Frame, by: Sequence[str] = ()) -> dict[str, Any]:
        """The rows of a finished query, column by column; those that have the columns of keys get
        GROUP instead. A group that is spelled in several ways has several rows.
        """
        if by and by == self.by:
            results = self.join_keys(results)
        return run_query(self.adapter.fetch, results)

    def join_keys(self, rows: Frame, limits: Limits | None = None) -> Frame:
        """Keep what belongs to the public keys, with the number of the group.

        With `limits`, keep what belongs to the groups in them, with the limits of each.
        """
        if self._keys is None:
            return rows
        if limits is None:
            values, key_columns = self._keys.values, {GROUP: list(self._keys.positions)}
        else:
            key_rows = [
                (row, at) for at, group in enumerate(limits[GROUP]) for row in self._key_rows[group]
            ]
            values = [row for row, _ in key_rows]
            key_columns = {
                name: [column[at] for _, at in key_rows] for name, column in limits.items()
            }
        columns = {name: [row[i] for row in values] for i, name in enumerate(self.by)}
        if self._keys.other is not None and not values:
            other = self.nw.lit(self._keys.other, self.nw.Int64)
            return rows.with_columns(other.alias(GROUP)).drop(*self.by)
        small = self.adapter.literal_frame(rows, columns | key_columns)
        if self._keys.other is None:
            return rows.join(small, on=self.by, how="inner").drop(*self.by)
        group = self.nw.col(GROUP)
        other = self.nw.lit(self._keys.other, self.nw.Int64)
        numbered = self.nw.when(group.is_null()).then(other).otherwise(group)
        joined = rows.join(small, on=self.by, how="left").drop(*self.by)
        return joined.with_columns(numbered.cast(self.nw.Int64).alias(GROUP))

    def pairs(self) -> list[Pairs]:
        """All rows that count, fetched: the pairs of each group."""
        rows = self._present(self._rows, [VALUE, SECOND_VALUE])
        numbers = (self.nw.col(name).cast(self.nw.Float64) + 0.0 for name in (VALUE, SECOND_VALUE))
        rows = self.join_keys(rows.with_columns(*numbers))
        fetched = self.adapter.fetch(self._cap_people(rows) if self.has_people else rows)
        x, y = (np.asarray(fetched[name], dtype=np.float64) for name in (VALUE, SECOND_VALUE))
        group = None if self._keys is None else np.asarray(fetched[GROUP], dtype=np.int64)
        return pairs_by_group(x, y, group, self.groups)

    def present(self) -> Frame:
        """The rows that have a value in the only column."""
        return self._present(self._rows, [VALUE])

    def sample(self) -> tuple[Array, float] | None:
        """Numbers of a few blocks of rows of the only column, and about which share they are; None
        where the engine would read everything for them.
        """
        return self.adapter.sample(self._rows, VALUE)

    def pieces(self) -> Iterator[list[Array]]:
        """The values of all rows that have one, an array at a time, and if there are groups their
        numbers; nan may be among them.
        """
        assert self.streamed_as is not None
        types = {VALUE: self.streamed_as}
        if not self.by:
            yield from self.adapter.pieces(self._rows, types)
        elif self._group_places is None:
            rows = self.join_keys(self._present(self._rows, [VALUE]))
            yield from self.adapter.pieces(rows, types | {GROUP: "int64"})
        else:
            # Whole numbers are looked up sooner than joined.
            before, places = self._group_places
            for values, keys in self.adapter.pieces(self._rows, types | {self.by[0]: "int64"}):
                group = places[np.clip(keys, before, before + len(places) - 1) - before]
                public = group >= 0
                yield [values, group] if public.all() else [values[public], group[public]]

    def _present(self, rows: Frame, values: Sequence[str]) -> Frame:
        """Rows that have a person, if people are protected, and something in the columns `values`;
        nan is nothing. There is one zero.
        """
        for name in (*values, PERSON) if self.has_people else values:
            if self.adapter.has_custom_missing:
                rows = self.adapter.present(rows, name)
                continue
            present = ~self.nw.col(name).is_null()
            if self._schema[name].is_float() and self.adapter.holds_nan:
                present = present & ~self.nw.col(name).is_nan()
            rows = rows.filter(present)
        # -0.0 is 0.0 and has other bits, by which some engines join and bring rows together.
        key_names = [*self.by, PERSON] if self.has_people else self.by
        floats = [name for name in key_names if self._schema[name].is_float()]
        return rows.with_columns(*(self.nw.col(name) + 0.0 for name in floats)) if floats else rows

    def _capped_column(self) -> Frame:
        """The rows of people that count for the only column."""
        (spec,) = self.columns
        rows = self._present(self._rows, [] if spec.counts_rows else [spec.value])
        rows = spec.present_rows(rows).select(spec.index, *self.by, PERSON)
        return self._cap_people(self.join_keys(rows))

    def _cap_people(self, rows: Frame) -> Frame:
        """The rows of people that count, without their person."""
        counted = cap_people(self.nw, self.adapter, rows, [GROUP], self._cap, self._order)
        return counted.drop(PERSON)

    def _capped_columns(self) -> Frame:
        """The rows of people that count for any column; an index is missing where a row does not
        count for its column.
        """
        rows = self._present(self._rows, [])
        first_value: dict[str, str] = {}  # of columns that are capped before they are snapped
        capped, snapped_later = [], []
        for name, spec in zip(self._names, self.columns, strict=True):
            if not (self.adapter.caps_values and spec.is_number):
                rows = spec.all_rows(rows)
                capped.append(spec.index)
                continue
            if name not in first_value:
                first_value[name] = spec.value
                rows = spec.without_nan(rows)
                capped.append(spec.value)
            snapped_later.append(replace(spec, value=first_value[name]))
        rows = self.join_keys(rows.select(*self.by, PERSON, *capped))
        rows = self.adapter.cap_per_column(rows, self._order, self._cap.rows, capped).drop(PERSON)
        for spec in snapped_later:
            rows = spec.all_rows(rows)
        indexes = (spec.index for spec in self.columns)
        return rows.select(*([GROUP] if self.by else []), *indexes)

    def _look_up_groups(self) -> tuple[int, Ints] | None:
        """A whole number before all keys, and the group of each one from there to after them, -1
        for none; None if keys are no whole numbers, or lie wide apart.
        """
        if len(self.by) > 1 or self.adapter.piece_type(self._schema[self.by[0]]) != "int64":
            return None
        keys = {key: group for group, rows in self._key_rows.items() for (key,) in rows}
        if not all(isinstance(key, int) for key in keys):
            return None
        before, after = min(keys, default=0) - 1, max(keys, default=0) + 1
        if after - before > MAX_KEY_SPAN or before < -(2**62) or after > 2**62:
            return None
        places = np.full(after - before + 1, -1, dtype=np.int64)
        for key, group in keys.items():
            places[key - before] = group
        return before, places


def cap_people(
    nw: Narwhals,
    adapter: QueryAdapter,
    rows: Frame,
    by: Sequence[str],
    cap: Cap,
    order: tuple[int, ...],
) -> Frame:
    """The rows that count of each person: in all groups together, or in each of a few groups,
    which the columns `by` identify.
    """
    if cap.groups is None:
        return adapter.cap(rows, order[:2], cap.rows)
    memberships = choose_groups(nw, adapter, rows, by, cap.groups, order[2:])
    limited = rows.join(memberships, on=[PERSON, *by], how="inner")
    return adapter.cap(limited, order[:2], cap.rows, *by)


def choose_groups(
    nw: Narwhals,
    adapter: QueryAdapter,
    rows: Frame,
    by: Sequence[str],
    limit: int,
    order: tuple[int, ...],
) -> Frame:
    """A row for each group that counts of each person, however many rows they have in it."""
    pair = [PERSON, *by]
    memberships = rows.group_by(*pair).agg(nw.len().alias(COUNT)).select(*pair)
    return adapter.cap(memberships, order, limit)
