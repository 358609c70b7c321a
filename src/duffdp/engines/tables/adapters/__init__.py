"""One adapter a library, each with the same methods; nobody else asks which library it is."""

from __future__ import annotations

from typing import Any

from duffdp.engines.tables.adapters.memory_frame import MemoryFrame
from duffdp.engines.tables.adapters.query import QueryEngine
from duffdp.errors import UnsupportedData


def memory_adapter(nw: Any, frame: Any) -> MemoryFrame:
    """The adapter of a frame in memory."""
    kind = frame.implementation
    if kind.is_pandas():
        from duffdp.engines.tables.adapters.pandas_frame import PandasFrame

        return PandasFrame(nw, frame)
    if kind.is_polars():
        from duffdp.engines.tables.adapters.polars_frame import PolarsFrame

        return PolarsFrame(nw, frame)
    if kind.is_pyarrow():
        from duffdp.engines.tables.adapters.arrow_table import ArrowTable

        return ArrowTable(nw, frame)
    return MemoryFrame(nw, frame)


def query_adapter(nw: Any, frame: Any) -> QueryEngine:
    """The adapter of a lazy table."""
    kind, schema = frame.implementation, frame.collect_schema()
    if kind.is_duckdb():
        from duffdp.engines.tables.adapters.duckdb_relation import DuckdbRelation

        return DuckdbRelation(nw, frame, schema)
    if kind.is_polars():
        from duffdp.engines.tables.adapters.polars_lazy import PolarsLazy

        return PolarsLazy(nw, frame, schema)
    if kind.is_pyspark() or kind.is_pyspark_connect():
        from duffdp.engines.tables.adapters.spark_frame import SparkFrame

        return SparkFrame(nw, frame, schema)
    if kind.is_ibis():
        from duffdp.engines.tables.adapters.ibis_table import IbisTable, letters

        if frame.to_native().get_backend().name == "postgres":
            from duffdp.engines.tables.adapters.postgres_table import PostgresTable

            return PostgresTable(nw, frame, schema, may_equal=letters)
        return IbisTable(nw, frame, schema, may_equal=letters)
    if kind.is_dask():
        from duffdp.engines.tables.adapters.dask_frame import DaskFrame
        from duffdp.engines.tables.adapters.pandas_frame import pandas_types

        return DaskFrame(nw, frame, pandas_types(nw, frame))
    raise UnsupportedData(
        f"lazy tables of {kind} are not supported. "
        "Pass a polars, DuckDB, Spark, dask or ibis table, a frame in memory, or a path."
    )
