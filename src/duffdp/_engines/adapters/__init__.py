"""One adapter per library, all with the same methods; no other module depends on the library."""

from __future__ import annotations

from typing import Any

from duffdp._engines.adapters.frame import MemoryFrame
from duffdp._engines.adapters.query import QueryAdapter
from duffdp._engines.libraries import Narwhals
from duffdp.errors import UnsupportedData


def memory_adapter(nw: Narwhals, frame: Any) -> MemoryFrame:
    """The adapter of a frame in memory."""
    kind = frame.implementation
    if kind.is_pandas():
        from duffdp._engines.adapters.pandas import PandasFrame

        return PandasFrame(nw, frame)
    if kind.is_polars():
        from duffdp._engines.adapters.polars import PolarsFrame

        return PolarsFrame(nw, frame)
    if kind.is_pyarrow():
        from duffdp._engines.adapters.arrow import ArrowTable

        return ArrowTable(nw, frame)
    return MemoryFrame(nw, frame)


def query_adapter(nw: Narwhals, frame: Any) -> QueryAdapter:
    """The adapter of a lazy table."""
    kind, schema = frame.implementation, frame.collect_schema()
    if kind.is_duckdb():
        from duffdp._engines.adapters.duckdb import DuckdbRelation

        return DuckdbRelation(nw, frame, schema)
    if kind.is_polars():
        from duffdp._engines.adapters.polars import PolarsLazy

        return PolarsLazy(nw, frame, schema)
    if kind.is_pyspark() or kind.is_pyspark_connect():
        from duffdp._engines.adapters.spark import SparkFrame

        return SparkFrame(nw, frame, schema)
    if kind.is_ibis():
        name = frame.to_native().get_backend().name
        if name == "postgres":
            from duffdp._engines.adapters.postgres import PostgresTable

            return PostgresTable(nw, frame, schema)
        from duffdp._engines.adapters.ibis import BACKENDS, IbisTable

        return BACKENDS.get(name, IbisTable)(nw, frame, schema)
    if kind.is_dask():
        from duffdp._engines.adapters.dask import DaskFrame
        from duffdp._engines.adapters.pandas import pandas_types

        return DaskFrame(nw, frame, pandas_types(nw, frame))
    raise UnsupportedData(
        f"lazy tables of {kind} are not supported. "
        "Pass a polars, DuckDB, Spark, dask or ibis table, a frame in memory, or a path."
    )
