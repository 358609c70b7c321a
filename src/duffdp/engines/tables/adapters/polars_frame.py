"""polars frames in memory: it brings the rows of a group together on all cores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from duffdp.domain import Array, Ints
from duffdp.engines.tables.adapters.memory_frame import MemoryFrame, positions_of_objects


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
        known = polars.DataFrame([polars.Series("v", values, dtype=series.dtype)]).with_row_index(
            "i"
        )
        found = polars.DataFrame([series.alias("v")]).join(
            known, on="v", how="left", maintain_order="left"
        )
        return found["i"].cast(polars.Int64).fill_null(-1).to_numpy()

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
