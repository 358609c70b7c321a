"""Frames of every library through narwhals: rows become indices of candidates where they are, and only counts come back."""

from __future__ import annotations

import difflib
from typing import Any

import numpy as np

from duffdp.domain import Categories, Domain, Grid, Ints
from duffdp.engines.arrays import Column, Records, wrong_kind
from duffdp.engines.descent import COUNT, GROUP, HIGH, INDEX, LOW, PART, LazyTable, fetch, rounded_down
from duffdp.engines.files import is_path, is_untyped, open_path, quote_name
from duffdp.engines.groups import by_group, counted, first_of_each, side_by_side
from duffdp.engines.held import holder
from duffdp.engines.selection import LIBRARIES, Selection, is_table, narwhals
from duffdp.engines.small import like
from duffdp.engines.source import Tally
from duffdp.errors import DuffError, UnsupportedData
from duffdp.sampling.entropy import salt

UNIT, ORDER = "__unit", "__order"
RESERVED = {INDEX, GROUP, COUNT, LOW, HIGH, PART, UNIT, ORDER}
PRIME = 2**31 - 1


def open_table(data: Any, selection: Selection, kind: str) -> Table:
    """A table of rows; an array has no columns to choose from."""
    if not is_table(data):
        raise UnsupportedData(
            f"column, by and unit need a frame or a path, got {type(data).__name__}. Pass the frame that holds the columns."
        )
    return Table(data, selection, kind)


class Table:
    """One source of rows: a frame of any library, eager or lazy, or what a path names."""

    def __init__(self, data: Any, selection: Selection, kind: str = "float") -> None:
        self._nw = nw = narwhals()
        self._selection = selection
        needed = [name for name in (selection.column, *selection.by, selection.unit) if name]
        native = open_path(data, needed, value=selection.column, kind=kind) if is_path(data) else data
        self.untyped = is_untyped(data)
        try:
            frame = nw.from_native(native, allow_series=True)
            self._series = isinstance(frame, nw.Series)
            if self._series:
                if needed:
                    raise DuffError(f"data are one series, so there is no column {needed[0]!r}. Pass a frame.")
                frame = frame.alias("values").to_frame()
                selection = self._selection = selection._replace(column="values")
            self.schema = frame.collect_schema()
        except DuffError:
            raise
        except TypeError:
            raise UnsupportedData(f"data must be a frame, a series, an array or a path, got {type(data).__name__}.") from None
        except Exception as error:  # the library's own words may quote data
            raise UnsupportedData(
                f"the {type(data).__name__} cannot be read ({type(error).__name__}). Is its connection closed?"
            ) from None
        if selection.column is None:
            raise DuffError(f"data have columns, so one must be named. Hint: column= one of {', '.join(map(repr, self.schema))}.")
        for name in (selection.column, *selection.by, selection.unit):
            if name in RESERVED:
                raise UnsupportedData(f"a column cannot be called {name!r}, which is used inside of the queries. Rename it.")
            if name is not None and name not in self.schema:
                near = difflib.get_close_matches(name, list(self.schema), 3, 0.5) or list(self.schema)[:8]
                raise UnsupportedData(
                    f"there is no column {name!r}. Hint: {', '.join(map(repr, near)) or 'the data have no columns'}."
                )
        self.frame = frame
        self.dtype = self.schema[selection.column]
        self.integer = self.dtype.is_integer() or self.dtype == nw.Boolean
        self.eager = isinstance(frame, nw.DataFrame)
        self._check_keys()

    def without_rows(self) -> Table:
        """The same columns with nothing in them; a lazy table reads no row until it is asked."""
        return Table(self.frame.head(0).to_native(), self._selection) if self.eager else self

    def sources(self, domain: Domain) -> list[Tally]:
        """One source of counts for each key, in order; one in all without keys."""
        try:
            return self._sources(domain)
        except Exception as error:  # the library's own words may quote data
            if type(error).__module__.partition(".")[0].lstrip("_") not in LIBRARIES:
                raise
            raise UnsupportedData(f"the query cannot be made ({type(error).__name__}). Is the connection closed?") from None

    def _sources(self, domain: Domain) -> list[Tally]:
        plain = not self._selection.by and self._selection.unit is None
        if self.eager and plain and isinstance(domain, Grid):
            return [Column(self._records(), domain)]
        groups = len(self._selection.keys) or 1
        if not self.eager:
            return list(LazyTable(domain, groups, self).sources())
        if isinstance(domain, Grid) and self._selection.unit is None and self.dtype != self._nw.Object:
            return list(self._side_by_side(domain, groups))
        rows = self.indexed(domain)
        index = rows.get_column(INDEX).to_numpy()
        group = rows.get_column(GROUP).to_numpy() if groups > 1 else None
        if isinstance(domain, Categories):
            return list(counted(index, group, groups, domain))
        return list(by_group(Records(index, True), group, groups, Grid(0, domain.size - 1, 1)))

    def _side_by_side(self, grid: Grid, groups: int) -> list[Column]:
        """Groups of a frame in memory. Records stay as they are until their group is looked at."""
        name, by = str(self._selection.column), list(self.by)
        rows = self.frame.select(name, *by)
        if rows.get_column(name).null_count():
            rows = rows.filter(~self._nw.col(name).is_null())
        if rows.implementation.is_polars():  # it brings the rows of a group together on all cores
            lists = rows.to_native().group_by(by).agg(name)
            records = self._records(self._nw.from_native(lists[name].explode(), series_only=True))
            size = lists[name].list.len().cast(int)
            found = self._nw.from_native(lists.select(by).with_columns(size.alias(COUNT), (size.cum_sum() - size).alias(INDEX)))
            found = self.joined(found, {GROUP: list(range(groups))})
            at = found.get_column(GROUP).to_numpy()
            begins, sizes = np.zeros((2, groups), dtype=np.int64)
            begins[at], sizes[at] = found.get_column(INDEX).to_numpy(), found.get_column(COUNT).to_numpy()
            return side_by_side(records, begins, sizes, grid)
        rows = self.joined(rows, {GROUP: list(range(groups))})
        return by_group(self._records(rows.get_column(name)), rows.get_column(GROUP).to_numpy(), groups, grid)

    def sample(self, grid: Grid) -> Ints | None:
        """Indices of a few blocks of rows, where the engine samples without reading everything: DuckDB, numbers, no groups."""
        plain = not self._selection.by and self._selection.unit is None and self.dtype.is_numeric()
        if not plain or not self.frame.implementation.is_duckdb():
            return None
        some = self.frame.to_native().query(
            "__rows", f"SELECT {quote_name(str(self._selection.column))} AS x FROM __rows USING SAMPLE 1% (system)"
        )
        values = np.ma.filled(fetch(self._nw.from_native(some))["x"].astype(np.float64), np.nan)
        return grid.snap(values[~np.isnan(values)])

    def placed(self, grid: Grid, first: int, last: int) -> Any:
        """INDEX of the rows from one candidate to another; -1 for those before and the number of candidates for those after."""
        nw = self._nw
        rows, column = self.raw()
        key, integer = self._key(column, grid)
        place = self._index(column, grid)
        if (beyond := grid.threshold(last + 1, integer)) is not None:
            place = nw.when(key >= beyond).then(nw.lit(grid.size)).otherwise(place)
        if first > 0:  # a record is there, so that keys reach it
            place = nw.when(key < grid.threshold(first, integer)).then(nw.lit(-1)).otherwise(place)
        return rows.select(place.alias(INDEX))

    def raw(self) -> Any:
        """The column itself as an expression, its present rows, and whether it is whole numbers; for numeric types only."""
        nw, name = self._nw, self._selection.column
        column = nw.col(name)
        keep = ~column.is_null()
        if self.dtype.is_float():
            keep = keep & ~column.is_nan()
        return self.frame.filter(keep), column

    def indexed(self, domain: Domain, first: int = 0, last: int | None = None, shift: int = 0) -> Any:
        """Rows that count, as INDEX and what tells their group: missing dropped, clamped, snapped, capped.

        Rows outside of the candidates from `first` to `last` may be left out, where the engine can do so early. With a `shift`,
        which is not for people, INDEX is rounded down to multiples of 2**shift.
        """
        nw, selection = self._nw, self._selection
        frame = self._with_index(domain, first, last, shift) if isinstance(domain, Grid) else self._with_category(domain)
        wanted = [nw.col(INDEX), *(nw.col(name) for name in selection.by)]
        if selection.unit is not None:
            wanted.append(nw.col(selection.unit).alias(UNIT))
        frame = frame.select(*wanted)
        if self.late:
            return frame
        frame = self.joined(frame, {GROUP: list(range(len(selection.keys)))})
        return self.capped(frame) if selection.unit is not None else frame

    @property
    def by(self) -> tuple[str, ...]:
        """The columns that form groups."""
        return self._selection.by

    @property
    def has_people(self) -> bool:
        """Whether rows are capped for each person."""
        return self._selection.unit is not None

    @property
    def late(self) -> bool:
        """Whether rows can be counted by their own group columns first, and joined with the keys after that."""
        return not self.eager and len(self._selection.keys) > 1 and self._selection.unit is None

    def joined(self, frame: Any, more: dict[str, list[Any]], keys: list[int] | None = None) -> Any:
        """Keep what belongs to the public keys (or to those at these positions), with more columns for each."""
        by = self._selection.by
        if not by:
            return frame
        rows = self._selection.keys if keys is None else [self._selection.keys[g] for g in keys]
        small = like(self.frame, {name: [row[i] for row in rows] for i, name in enumerate(by)} | more)
        frame, small = self.matched(frame, small, list(by))
        return frame.join(small, on=list(by), how="inner").drop(*by)

    def capped(self, frame: Any) -> Any:
        """At most `contributions` rows of each person, by a salted order that depends on that person's rows alone.

        Rows that tie in the order are the same in all that counts, so every query sees the same choice.
        """
        nw = self._nw
        if frame.implementation.is_dask():
            raise UnsupportedData(
                "unit is not supported for dask frames. Hint: pass the frame's .compute(), or the files by their path."
            )
        mixed = (nw.col(INDEX) % PRIME) * (1 + salt(PRIME - 1)) + salt(PRIME)
        if self.by:
            mixed = mixed + nw.col(GROUP).cast(nw.Int64) * 7919
        frame = frame.filter(~nw.col(UNIT).is_null()).with_columns((mixed % PRIME).alias(ORDER))
        order = [ORDER, INDEX, *([GROUP] if self.by else [])]
        if self.eager:
            keep = first_of_each(
                frame.get_column(UNIT), [frame.get_column(name).to_numpy() for name in order], self._selection.contributions
            )
            return frame.filter(keep.tolist()).drop(UNIT, ORDER)
        rank = nw.col(UNIT).cum_count().over(UNIT, order_by=order)
        return frame.with_columns(rank.alias(ORDER)).filter(nw.col(ORDER) <= self._selection.contributions).drop(UNIT, ORDER)

    def _with_index(self, grid: Grid, first: int, last: int | None, shift: int) -> Any:
        """INDEX of every present row: the arithmetic of `Grid.snap`, written for every engine."""
        nw, name, dtype = self._nw, self._selection.column, self.dtype
        timed = grid.kind in ("date", "datetime")
        if timed != isinstance(dtype, nw.Date | nw.Datetime) or not (timed or dtype.is_numeric() or dtype == nw.Boolean):
            if self.eager and dtype == nw.Object:
                return self._index_in_memory(grid)
            raise UnsupportedData(wrong_kind(timed, f"{name!r} of type {dtype}", isinstance(dtype, nw.Date | nw.Datetime)))
        if self.eager:
            return self._index_in_memory(grid)
        frame, column = self.raw()
        if timed:
            frame, column = self._epoch(frame, str(name), grid.kind == "date")
        elif self.late:  # rows capped for a person must be the same in every query
            frame = self._between(frame, column, grid, first, grid.size - 1 if last is None else last)
        return frame.with_columns(self._index(column, grid, shift).alias(INDEX))

    def _between(self, frame: Any, column: Any, grid: Grid, first: int, last: int) -> Any:
        """Rows that snap to candidates from first to last, by a comparison that needs no snapping."""
        key, integer = self._key(column, grid)
        if first > 0:
            frame = frame.filter(key >= grid.threshold(first, integer))
        beyond = grid.threshold(last + 1, integer)
        return frame if beyond is None else frame.filter(key < beyond)

    def _key(self, column: Any, grid: Grid) -> tuple[Any, bool]:
        """The column as what `Grid.threshold` compares with: whole numbers, or else doubles."""
        integer = self.integer and grid.whole
        return (column if integer or self.dtype == self._nw.Float64 else column.cast(self._nw.Float64)), integer

    def _index(self, column: Any, grid: Grid, shift: int = 0) -> Any:
        nw = self._nw
        timed = grid.kind in ("date", "datetime")
        if grid.whole and (timed or (self.integer and self.dtype != nw.UInt64 and grid.ticks[2] == 1)):
            low, high, step = grid.ticks
            index = column.cast(nw.Int64).clip(low, high) - low
            if step > 1:
                twice = index * 2 + step
                index = ((twice - twice % (2 * step)) / (2 * step) + 0.5).floor().cast(nw.Int64)
            return rounded_down(index, shift)
        least, most, factor, multiply = grid.scaling
        offset = column.cast(nw.Float64).clip(least, most) - least
        place = ((offset * factor if multiply else offset / factor) + 0.5).floor()
        if grid.rounds:
            return rounded_down(place.cast(nw.Int64).clip(0, grid.size - 1), shift)
        if shift:  # exact, and quicker than whole numbers
            place = (place * 2.0**-shift).floor() * 2.0**shift
        return place.cast(nw.Int64)

    def _with_category(self, categories: Categories) -> Any:
        """INDEX by a join with the public list."""
        nw, name = self._nw, str(self._selection.column)
        if self.dtype == nw.Object and self.eager:
            return self._index_in_memory(categories)
        places = enumerate(map(holder(nw, self.dtype), categories))
        known = [(value, i) for i, value in places if value is not None]
        if not known:
            raise UnsupportedData(
                f"no category is of the kind of the column {name!r}, {self.dtype}. Pass another column or other categories."
            )
        if len({value for value, _ in known}) < len(known):
            raise DuffError(
                f"the categories must differ from each other as values of the column {name!r}, {self.dtype}. Leave some out."
            )
        frame, small = self.matched(
            self.frame, like(self.frame, {name: [v for v, _ in known], INDEX: [i for _, i in known]}), [name]
        )
        return frame.join(small.with_columns(nw.col(INDEX).cast(nw.Int64)), on=name, how="inner")

    def matched(self, frame: Any, native: Any, names: list[str]) -> tuple[Any, Any]:
        """A frame and a small one, with columns of the same types to be joined on."""
        nw = self._nw
        small = nw.from_native(native)
        for name in names:
            dtype = self.schema[name]
            # Arrow has texts of two sizes that do not join with each other.
            text = (
                dtype == nw.Categorical
                or isinstance(dtype, nw.Enum)
                or (dtype == nw.String and frame.implementation.is_pyarrow())
            )
            small = small.with_columns(nw.col(name).cast(nw.String if text else dtype))
            if text:
                frame = frame.with_columns(nw.col(name).cast(nw.String))
        return frame, small

    def _epoch(self, frame: Any, name: str, days: bool) -> tuple[Any, Any]:
        """A date or time as days or microseconds since 1970, in UTC if it has a zone."""
        nw, native = self._nw, frame.to_native()
        kind = frame.implementation
        if kind.is_duckdb():
            call = f"epoch_us({quote_name(name)}::TIMESTAMP{'TZ' if self._zoned else ''})"
            native = native.project(f"*, {call} AS {quote_name(ORDER)}")
        elif kind.is_pyspark() or kind.is_pyspark_connect():
            from pyspark.sql import functions

            native = native.withColumn(ORDER, functions.unix_micros(functions.col(name).cast("timestamp")))
        elif kind.is_ibis():
            moment = native[name].cast("timestamp")
            native = native.mutate(
                **{ORDER: moment.epoch_seconds().cast("int64") * 1_000_000 + moment.microsecond().cast("int64")}
            )
        else:
            native = frame.with_columns(nw.col(name).dt.timestamp("us").cast(nw.Int64).alias(ORDER)).to_native()
        column = nw.col(ORDER)
        if days:
            day = 86_400_000_000
            column = ((column - column % day) / day + 0.5).floor() if not kind.is_pyspark() else _floor_days(column, day)
        return nw.from_native(native), column

    @property
    def _zoned(self) -> bool:
        return getattr(self.dtype, "time_zone", None) is not None

    def _index_in_memory(self, domain: Domain) -> Any:
        """INDEX of a column in memory, by the arithmetic of arrays."""
        nw = self._nw
        series = self.frame.get_column(self._selection.column)
        if self.dtype == nw.Object:
            index = np.fromiter(map(domain.record_index, series.to_numpy()), dtype=np.int64, count=len(series))
        else:
            assert isinstance(domain, Grid)
            index = np.full(len(series), -1, dtype=np.int64)
            present = ~series.is_null().to_numpy()
            index[present] = Column(self._records(series if present.all() else series.drop_nulls()), domain).indices()
        places = nw.new_series(INDEX, index, nw.Int64, backend=self.frame.implementation)
        return self.frame.with_columns(places).filter(nw.col(INDEX) >= 0)

    def _records(self, series: Any = None) -> Records:
        """A column in memory as an array, without a copy where it is one; nulls that an array cannot hold are dropped."""
        nw, dtype = self._nw, self.dtype
        series = self.frame.get_column(self._selection.column) if series is None else series
        native = series.to_native()
        if isinstance(getattr(native, "dtype", None), np.dtype):
            return Records(native.to_numpy(), self.integer)
        if isinstance(dtype, nw.Datetime) and dtype.time_zone is not None:
            series = series.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
        elif dtype == nw.Decimal:
            series = series.cast(nw.Float64)
        elif not (dtype.is_numeric() or dtype.is_temporal() or dtype == nw.Boolean):
            raise UnsupportedData(f"a column of numbers or dates is needed, got {self._selection.column!r} of type {dtype}.")
        if series.null_count():
            series = series.drop_nulls()
        return Records(series.to_numpy(), self.integer)

    def answers(self, columns: dict[str, list[Any]]) -> Any:
        """Keys and released values as a frame of the caller's own library; a polars LazyFrame is answered with a DataFrame."""
        keys = {column: [row[i] for row in self._selection.keys] for i, column in enumerate(self._selection.by)}
        frame = like(
            self.frame, keys | {name if name not in keys else f"{name}_value": values for name, values in columns.items()}
        )
        return frame.collect() if self.frame.implementation.is_polars() and not self.eager else frame

    def _check_keys(self) -> None:
        """Keys as the columns hold them: each can occur, and no two become the same, or a row would count in two groups."""
        selection = self._selection
        columns = []
        for i, name in enumerate(selection.by):
            hold = holder(self._nw, self.schema[name])
            columns.append([hold(row[i]) for row in selection.keys])
            if None in columns[-1]:
                given = selection.keys[columns[-1].index(None)][i]
                raise DuffError(f"the keys of {name!r} must be of the kind of that column, {self.schema[name]}, got {given!r}.")
        held = tuple(zip(*columns, strict=True))
        if len(set(held)) < len(held):
            raise DuffError(
                f"keys must differ from each other as values of {', '.join(map(repr, selection.by))}. Leave some out."
            )
        self._selection = selection._replace(keys=held)


def _floor_days(column: Any, day: int) -> Any:
    """Whole days; Spark's remainder takes the sign of the number, so that days before 1970 need the detour."""
    rest = column % day
    return ((column - (rest + day) % day) / day + 0.5).floor()
