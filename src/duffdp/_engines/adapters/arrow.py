"""pyarrow tables: types are declared, and kernels of Arrow find values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from duffdp._engines.adapters.frame import MemoryFrame
from duffdp._engines.libraries import Narwhals
from duffdp.domain import Array, Ints


class ArrowTable(MemoryFrame):
    """A pyarrow table."""

    def __init__(self, nw: Narwhals, frame: Any) -> None:
        super().__init__(nw, nw.from_native(_without_views(frame.to_native())))

    def array(self, name: str) -> tuple[Array, Array | None]:
        return numpy_array(self.column(name).to_native())

    def positions(self, name: str, values: Sequence[Any]) -> Ints:
        return arrow_positions(self.column(name).to_native(), values)

    def people(self, name: str) -> Ints:
        return arrow_people(self.column(name).to_native())


def _without_views(table: Any) -> Any:
    """A table without views, in which pyarrow can neither choose rows nor find values."""
    for at, field in enumerate(table.schema):
        if (plain := plain_type(field.type)) is not None:
            table = table.set_column(at, field.name, table.column(at).cast(plain))
    return table


def plain_type(kind: Any) -> Any:
    """The type that has the values of an Arrow type of views, of short decimals, or of a dictionary
    without text, which some functions do not take; None for other types.
    """
    import pyarrow as pa

    if pa.types.is_dictionary(kind) and not _is_text(kind.value_type):
        return kind.value_type
    if str(kind).startswith(("decimal32", "decimal64")):
        return pa.decimal128(38, kind.scale)
    plain = {"string_view": pa.large_string(), "binary_view": pa.large_binary()}
    return plain.get(str(kind))


def _is_text(kind: Any) -> bool:
    import pyarrow as pa

    return bool(
        pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    )


def arrow_people(column: Any) -> Ints:
    """For each row of an Arrow column the number of its value, -1 for null and nan."""
    import pyarrow.compute as pc

    column = _comparable(column)
    numbers = _as_int64(pc.index_in(column, value_set=pc.unique(column)))
    numbers[column.is_null(nan_is_null=True).to_numpy(zero_copy_only=False)] = -1
    return numbers


def numpy_array(column: Any) -> tuple[Array, Array | None]:
    """An Arrow column as an array of numbers or moments, and which rows are missing."""
    import pyarrow as pa

    missing = column.is_null().to_numpy(zero_copy_only=False) if column.null_count else None
    kind, view = column.type, None
    if pa.types.is_date32(kind):
        column, view = column.cast(pa.int32()).cast(pa.int64()), "M8[D]"
    elif pa.types.is_timestamp(kind):
        column, view = column.cast(pa.int64()), f"M8[{kind.unit}]"
    elif pa.types.is_decimal(kind):
        column = column.cast(pa.string()).cast(
            pa.float64()
        )  # straight away it errs in the last bit
    elif pa.types.is_boolean(kind):
        column = column.cast(pa.uint8())
    if missing is not None:
        column = column.fill_null(pa.scalar(0, column.type))
    array = (
        column.to_numpy()
        if isinstance(column, pa.ChunkedArray)
        else column.to_numpy(zero_copy_only=False)
    )
    return array if view is None else array.view(view), missing


def arrow_positions(column: Any, values: Sequence[Any]) -> Ints:
    """Positions of values in a list; text of any size, plain or from a dictionary, is text."""
    import pyarrow as pa
    import pyarrow.compute as pc

    column = _comparable(column)
    value_set = pa.array(values, type=column.type)
    return _as_int64(pc.index_in(column, value_set=value_set))


def _comparable(column: Any) -> Any:
    """A column whose equal values have equal bits: what a dictionary stands for, and 0.0 for
    -0.0.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    return pc.add(column.cast(pa.float64()), 0.0) if pa.types.is_floating(column.type) else column


def _as_int64(places: Any) -> Ints:
    """Positions with -1 for null."""
    array: Ints = np.asarray(places.fill_null(-1)).astype(np.int64)
    return array
