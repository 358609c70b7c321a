"""The engines that every frame test runs on: how to make a frame of each from a dictionary of
columns.
"""

from __future__ import annotations

import functools
import os
import tempfile
from pathlib import Path

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa

import postgres
from duffdp._engines.selection import select
from duffdp._engines.sql.query import OpenSources
from duffdp._engines.table import SourceTable
from duffdp._sampling.entropy import entropy
from inquiries import groups_of
from java import provide_java


@functools.cache
def spark():
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    provide_java()
    from pyspark.sql import SparkSession

    session = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.extraJavaOptions", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("OFF")
    return session


def arrow(columns):
    """The columns with types that do not depend on the values: `columns` maps a name to (arrow
    type, list).
    """
    return pa.table({name: pa.array(values, type=kind) for name, (kind, values) in columns.items()})


def duckdb_relation(columns):
    table = arrow(columns)
    connection = duckdb.connect()
    connection.execute("SET TimeZone = 'UTC'")
    connection.register("given", table)
    connection.execute("CREATE TABLE held AS SELECT * FROM given")
    return connection.table("held")


def spark_frame(columns):
    signed = {
        name: (pa.int16() if kind == pa.uint8() else kind, values)
        for name, (kind, values) in columns.items()
    }
    return spark().createDataFrame(arrow(signed)).cache()


@functools.cache
def files():
    """Where tables are written to, until the tests end."""
    return tempfile.TemporaryDirectory(prefix="duffdp-test-")


def written(ending):
    def make(columns):
        path = Path(tempfile.mkdtemp(dir=files().name)) / f"table{ending}"
        table = arrow(columns)  # noqa: F841 (read by DuckDB)
        duckdb.sql(
            f"COPY (SELECT * FROM \"table\") TO '{path}'"
            if ending != ".jsonl"
            else f"COPY (SELECT * FROM \"table\") TO '{path}' (FORMAT json)"
        )
        return path

    return make


def dask_frame(columns):
    import dask.dataframe

    return dask.dataframe.from_pandas(
        arrow(columns).to_pandas(types_mapper=pd.ArrowDtype), npartitions=2
    )


def ibis_table(columns):
    import ibis

    return ibis.memtable(arrow(columns))


ENGINES = {
    "pandas": lambda c: arrow(c).to_pandas(),
    "pandas-arrow": lambda c: arrow(c).to_pandas(types_mapper=pd.ArrowDtype),
    "polars": lambda c: pl.from_arrow(arrow(c)),
    "polars-lazy": lambda c: pl.from_arrow(arrow(c)).lazy(),
    "pyarrow": arrow,
    "duckdb": duckdb_relation,
    "parquet": written(".parquet"),
    "ibis": ibis_table,
    "postgres": lambda c: postgres.table(arrow(c)),
    "dask": dask_frame,
    "spark": spark_frame,
}


# Where putting a query together and running it takes a second or so, however few rows there are.
SLOW = ("dask", "spark")


def on_engines(cases, few):
    """Every engine with every case, the slow ones with a few: what a case asks for is made by code
    that all lazy engines share, and an engine of its own only runs it.
    """
    cases = list(cases)
    return [(engine, *case) for engine in ENGINES for case in (few if engine in SLOW else cases)]


def open_engine(
    data,
    domain,
    column,
    by=None,
    keys=None,
    unit=None,
    contributions=1,
    rng=None,
    groups_per_person=None,
):
    """The engine that a release gets from data, which has one column."""
    selection = select(column, by, keys, unit, contributions)
    selection = selection._replace(groups_per_person=groups_per_person)
    table = SourceTable(data, selection, domain.kind, lambda *_: domain, OpenSources())
    engine, at = table.engine(entropy(rng))
    assert at == 0
    return engine


def open_groups(*rows, **where):
    """The groups of that engine."""
    return groups_of(open_engine(*rows, **where))
