"""Small frames of public or released values, in the library of the caller."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

from duffdp.engines.files import quote_name, quote_text
from duffdp.engines.selection import narwhals
from duffdp.errors import UnsupportedData


def like(frame: Any, data: dict[str, list[Any]]) -> Any:
    """A small frame of the same library as a narwhals frame."""
    nw, native, kind = narwhals(), frame.to_native(), frame.implementation
    if isinstance(frame, nw.DataFrame):
        return nw.from_dict(data, backend=kind).to_native()
    if kind.is_polars():
        import polars

        return polars.LazyFrame(data)
    if kind.is_duckdb():
        rows = ", ".join(f"({', '.join(map(_literal, row))})" for row in zip(*data.values(), strict=True))
        return native.query("__rows", f"SELECT * FROM (VALUES {rows}) AS small({', '.join(map(quote_name, data))})")
    if kind.is_pyspark() or kind.is_pyspark_connect():
        return native.sparkSession.createDataFrame(list(zip(*data.values(), strict=True)), list(data))
    if kind.is_ibis():
        import ibis

        return ibis.memtable(data)
    if kind.is_dask():
        import dask.dataframe
        import pandas

        return dask.dataframe.from_pandas(pandas.DataFrame(data), npartitions=1)
    raise UnsupportedData(f"groups are not supported for {kind}.")


def rows(frame: Any) -> list[dict[str, Any]]:
    """The rows of a small frame of any library."""
    collected = narwhals().from_native(frame).lazy().collect()
    return list(collected.iter_rows(named=True))


def _literal(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, int | Decimal):
        return str(value)
    if isinstance(value, float):
        return f"'{value!r}'::DOUBLE"
    if isinstance(value, dt.datetime):
        return f"TIMESTAMP{'TZ' if value.tzinfo else ''} '{value.isoformat(sep=' ')}'"
    if isinstance(value, dt.date):
        return f"DATE '{value.isoformat()}'"
    return quote_text(str(value))
