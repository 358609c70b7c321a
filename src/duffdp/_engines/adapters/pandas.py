"""pandas frames: arrays where columns are arrays, Arrow where they are Arrow, objects one by
one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from duffdp._engines.adapters.frame import (
    MemoryFrame,
    numbers_of_objects,
    positions_of_objects,
)
from duffdp._engines.libraries import Narwhals
from duffdp.domain import Array, Ints

_WIDE = (np.dtype(np.longdouble), np.dtype(np.clongdouble))  # numbers with more bits than doubles


class PandasFrame(MemoryFrame):
    """A pandas frame."""

    mixes_types = True

    def __init__(self, nw: Narwhals, frame: Any) -> None:
        super().__init__(nw, nw.from_native(_without_views(frame.to_native())))

    def declared_types(self) -> Mapping[str, Any]:
        return pandas_types(self.nw, self.frame)

    def array(self, name: str) -> tuple[Array, Array | None]:
        native = self.column(name).to_native()
        if isinstance(native.dtype, np.dtype):
            return native.to_numpy(), None
        if (arrow := _arrow(native)) is not None:
            from duffdp._engines.adapters.arrow import numpy_array

            return numpy_array(arrow)
        if hasattr(native.dtype, "tz"):
            return native.dt.tz_convert("UTC").dt.tz_localize(None).to_numpy(), None
        missing = native.isna().to_numpy()
        # Nullable numbers: what stands at missing places is not looked at.
        return native.to_numpy(
            dtype=native.dtype.numpy_dtype, na_value=0
        ), missing if missing.any() else None

    def positions(self, name: str, values: Sequence[Any]) -> Ints:
        import pandas

        native = self.column(name).to_native()
        if self._is_object(name):
            return positions_of_objects(native.to_numpy(), values)
        if (arrow := _arrow(native)) is not None:
            from duffdp._engines.adapters.arrow import arrow_positions

            return arrow_positions(arrow, values)
        if isinstance(native.dtype, pandas.CategoricalDtype):
            places = positions_of_objects(native.dtype.categories, values)
            coded: Ints = np.append(places, -1)[native.cat.codes.to_numpy()]
            return coded
        if native.dtype == np.float16:  # which no index holds
            native = native.astype(np.float32)
        index = pandas.Index(list(values), dtype=native.dtype)
        positions: Ints = index.get_indexer(pandas.Index(native)).astype(np.int64)
        return positions

    def people(self, name: str) -> Ints:
        import pandas

        series = self.column(name)
        native = series.to_native()
        if self._is_object(name):
            return numbers_of_objects(native.to_numpy())
        if (arrow := _arrow(native)) is not None:
            from duffdp._engines.adapters.arrow import arrow_people

            return arrow_people(arrow)
        if native.dtype in _WIDE:  # doubles, which pandas makes of them, may be equal
            array = native.to_numpy()
            people: Ints = np.unique(array, return_inverse=True)[1].astype(np.int64)
            return np.where(array == array, people, -1)
        numbers: Ints = pandas.factorize(native)[0].astype(np.int64)
        numbers[native.isna().to_numpy()] = -1
        if self.schema[name].is_float():  # to nullable floats a nan is a value
            numbers[series.is_nan().fill_null(False).to_numpy().astype(bool)] = -1
        return numbers

    def _is_object(self, name: str) -> bool:
        return bool(self.column(name).to_native().dtype == object)

    def answer(self, columns: dict[str, list[Any]]) -> Any:
        import pandas

        return pandas.DataFrame(columns)


def pandas_types(nw: Narwhals, frame: Any) -> dict[str, Any]:
    """The types of columns of pandas, or of dask. Objects stay objects, even if the
    first of them look like numbers; and zones have names that narwhals does not read.
    """
    declared, types = frame.to_native().dtypes, dict(frame.collect_schema())
    for name, kind in declared.items():
        if kind == np.dtype(object):
            types[name] = nw.Object()
        elif hasattr(kind, "tz"):
            types[name] = nw.Datetime(kind.unit, str(kind.tz))
        elif getattr(getattr(kind, "pyarrow_dtype", None), "tz", None) is not None:
            types[name] = nw.Datetime(kind.pyarrow_dtype.unit, kind.pyarrow_dtype.tz)
    return types


def _without_views(frame: Any) -> Any:
    """A copy of the frame without Arrow's views, in which no rows can be chosen."""
    for at, kind in enumerate(frame.dtypes):
        if getattr(kind, "pyarrow_dtype", None) is None:
            continue
        from duffdp._engines.adapters.arrow import plain_type

        if (plain := plain_type(kind.pyarrow_dtype)) is not None:
            column = frame.iloc[:, at]
            array = type(column.array)(_arrow(column).cast(plain))
            frame = frame.assign(**{frame.columns[at]: array})
    return frame


def _arrow(native: Any) -> Any:
    """The Arrow array behind a series of an Arrow type."""
    import pandas

    return native.array.__arrow_array__() if isinstance(native.dtype, pandas.ArrowDtype) else None
