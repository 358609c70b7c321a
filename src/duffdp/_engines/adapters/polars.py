"""polars frames, in memory and lazy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from duffdp._engines.adapters.frame import MemoryFrame, positions_of_objects
from duffdp._engines.adapters.query import NarwhalsQuery
from duffdp._engines.libraries import Frame
from duffdp._engines.queries.names import COPY, ORDER, PERSON
from duffdp.domain import Array, Ints


class PolarsFrame(MemoryFrame):
    """A polars DataFrame."""

    def array(self, name: str) -> tuple[Array, Array | None]:
        return _numpy_array(self._series(name))

    def positions(self, name: str, values: Sequence[Any]) -> Ints:
        import polars

        series = self._series(name)
        if series.dtype == polars.Object:
            return positions_of_objects(series.to_list(), values)
        if series.dtype in (polars.Categorical, polars.Enum):
            series = series.cast(polars.String)
        numbered = polars.DataFrame(
            [polars.Series("v", values, dtype=series.dtype)]
        ).with_row_index("i")
        joined = polars.DataFrame([series.alias("v")]).join(
            numbered, on="v", how="left", maintain_order="left"
        )
        return joined["i"].cast(polars.Int64).fill_null(-1).to_numpy()

    def people(self, name: str) -> Ints:
        import polars

        series = self._series(name)
        if series.dtype == polars.Object:
            return super().people(name)
        rows = polars.DataFrame([series.alias("v")]).with_row_index("i")
        # The first row of a person is their number.
        numbers = rows.select(polars.col("i").min().over("v"))["i"].cast(polars.Int64).to_numpy()
        return np.where(self.missing(name), -1, numbers)

    def grouped(self, name: str, by: list[str]) -> tuple[Any, Array, Ints] | None:
        import polars

        keys = [self._series(key).alias(str(i)) for i, key in enumerate(by)]
        rows = polars.DataFrame([*keys, self._series(name).alias("v")])
        if rows["v"].null_count():
            rows = rows.filter(polars.col("v").is_not_null())
        lists = rows.group_by(*(key.name for key in keys)).agg("v")
        groups = lists.select(polars.exclude("v")).rename({str(i): key for i, key in enumerate(by)})
        sizes = lists["v"].list.len().cast(polars.Int64).to_numpy()
        values = _numpy_array(lists["v"].explode())[0] if len(lists) else _numpy_array(rows["v"])[0]
        return PolarsFrame(self.nw, self.nw.from_native(groups, eager_only=True)), values, sizes

    def _series(self, name: str) -> Any:
        return self.column(name).to_native()


def _numpy_array(series: Any) -> tuple[Array, Array | None]:
    import polars

    missing = series.is_null().to_numpy() if series.null_count() else None
    dtype, view = series.dtype, None
    if isinstance(dtype, polars.Date | polars.Datetime):
        view = "M8[D]" if isinstance(dtype, polars.Date) else f"M8[{dtype.time_unit}]"
        series = series.to_physical().cast(polars.Int64)
    elif isinstance(dtype, polars.Decimal):
        series = series.cast(polars.Float64)
    elif dtype == polars.Boolean:
        series = series.cast(polars.UInt8)
    elif dtype in (polars.Object, polars.Int128, polars.UInt128):  # no array holds these
        return np.array([*series.to_list(), None], dtype=object)[:-1], None
    if missing is not None:
        series = series.fill_null(0)
    array = series.to_numpy()
    return (array if view is None else array.view(view)), missing


class PolarsLazy(NarwhalsQuery):
    """A polars LazyFrame."""

    nanoseconds = True
    divides_by_reciprocal = True

    def rows(self, columns: dict[str, str]) -> Frame:
        import polars
        from polars import selectors

        parts = []
        for new, name in columns.items():
            column = selectors.by_name(name).as_expr()  # a name is never a pattern
            if self.schema[name] in (self.nw.Categorical, self.nw.Enum):
                column = column.cast(polars.String)
            parts.append(column.alias(new))
        return self.as_frame(self.native.select(*parts))

    def literal_frame(self, rows: Frame, columns: dict[str, list[Any]]) -> Frame:
        import polars

        declared = rows.to_native().collect_schema()
        schema = {name: declared.get(name, polars.Int64) for name in columns}
        return self.as_frame(polars.LazyFrame(columns, schema=schema))

    def clock(self, rows: Frame, name: str, ends: tuple[int, int]) -> tuple[Frame, str]:
        import polars

        dtype: Any = rows.collect_schema()[name]
        unit = "D" if dtype == self.nw.Date else dtype.time_unit
        number = polars.col(name).to_physical().cast(polars.Int64)
        if unit == "ns":
            number, unit = number // 1000, "us"
        return self.as_frame(rows.to_native().with_columns(number)), unit

    def cap(self, rows: Frame, keys: tuple[int, ...], limit: int, *within: str) -> Frame:
        import polars

        native, names = self._with_random_order(rows, keys, within)
        # A row counts unless the one `limit` places before it is of the same person and group.
        other_groups = (
            polars.col(name).ne_missing(polars.col(name).shift(limit)) for name in within
        )
        person = polars.col(PERSON)
        counts = polars.any_horizontal(person.ne_missing(person.shift(limit)), *other_groups)
        return self.as_frame(native.filter(counts).select(*names, PERSON))

    def cap_per_column(
        self, rows: Frame, keys: tuple[int, ...], limit: int, names: list[str]
    ) -> Frame:
        import polars

        native, columns = self._with_random_order(rows, keys, ())
        presence = {name: polars.col(name).is_not_null().cast(polars.Int64) for name in names}
        counts = (
            polars.when(presence[name].cum_sum().over(PERSON) <= limit).then(name).alias(name)
            for name in names
        )
        return self.as_frame(native.with_columns(*counts).select(*columns, PERSON))

    def _with_random_order(
        self, rows: Frame, keys: tuple[int, ...], within: tuple[str, ...]
    ) -> Any:
        """Rows in the order that decides which of a person count, and the names of all columns but
        that of people.
        """
        import polars

        native = rows.to_native()
        names = [name for name in native.collect_schema() if name != PERSON]
        first, second = (key % 2**64 for key in keys)
        # Copies of a row are numbered by counting them: windows over so many small groups are slow.
        copies = polars.int_ranges(0, polars.col(COPY)).alias(COPY)
        native = native.group_by(PERSON, *names).len(COPY).with_columns(copies).explode(COPY)
        # Mixed again with another key: the orders of different people have nothing in common.
        row_hash = polars.struct(PERSON, *names, COPY).hash(first).hash(second)
        native = native.with_columns(row_hash.alias(ORDER))
        return native.sort(PERSON, *within, ORDER, *names, COPY), names

    def stored(self, rows: Frame) -> Frame:
        return self.as_frame(rows.to_native().collect().lazy())

    def answer(self, columns: dict[str, list[Any]]) -> Any:
        import polars

        return polars.DataFrame(columns)
