"""Temporary tables of public records in the engine that a caller names."""

from __future__ import annotations

import datetime as dt
import re
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from duffdp._engines.libraries import LIBRARIES, narwhals
from duffdp._optional import load
from duffdp._text import without_passwords
from duffdp.errors import UnsupportedData

SCHEME = re.compile(r"([a-z][a-z0-9+]*)://", re.IGNORECASE)
PARTITIONS = 3  # of tables that are kept in several pieces


@dataclass(frozen=True, slots=True)
class EngineTable:
    """A table of an engine, the records in it, and the columns that the engine does not store
    unchanged, with the reason.
    """

    data: Any
    records: Any
    missing: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class EngineTables:
    """An engine in which tables can be made: its name, its version, and how to make a table."""

    name: str
    version: str
    make: Callable[[Any], Any]
    drop: Callable[[Any], None] = lambda table: None

    @contextmanager
    def create(self, records: Any, mild_columns: Mapping[str, Any]) -> Iterator[EngineTable]:
        """A table of records, until it is no longer needed.

        A column that the engine does not take is stored in its milder form, or left out.
        """
        missing: dict[str, str] = {}
        try:
            table = self.make(records)
        except Exception:  # of any engine
            records, missing = self._storable(records, mild_columns)
            table = self.make(records)
        try:
            yield EngineTable(table, records, missing)
        finally:
            self.drop(table)

    def _storable(
        self, records: Any, mild_columns: Mapping[str, Any]
    ) -> tuple[Any, dict[str, str]]:
        """The columns that the engine can hold, and why it cannot hold others as they are."""
        columns, missing = {}, {}
        for name in records.column_names:
            for column in (records[name], mild_columns.get(name)):
                if column is None:
                    continue
                try:
                    self.drop(self.make(type(records).from_pydict({name: column})))
                    columns[name] = column
                    break
                except Exception as error:  # the words of an engine may be long
                    missing[name] = f"the engine cannot hold all values ({type(error).__name__})"
        if not columns:
            raise UnsupportedData(
                f"{self.name} cannot create a temporary table. Check that this user is allowed to."
            ) from None
        return type(records).from_pydict(columns), missing


def open_tables(engine: Any) -> EngineTables:
    """The engine behind a connection, a session, a frame or an address."""
    if isinstance(engine, str):
        return _open_address(engine)
    library = type(engine).__module__.partition(".")[0].lstrip("_")
    if library == "ibis":
        return _ibis_tables(engine if _is_backend(engine) else engine.get_backend())
    if library == "pyspark":
        session = engine if "Session" in type(engine).__name__ else engine.sparkSession
        return _spark_tables(session)
    if library == "duckdb":
        return _duckdb_tables(engine)
    if library in LIBRARIES:
        return _frame_tables(engine, library)
    raise UnsupportedData(
        "check_engine needs a connection or session of ibis, DuckDB or Spark, a frame, or an "
        f"address such as postgresql://user@host/database, got {type(engine).__name__}."
    )


def _open_address(address: str) -> EngineTables:
    """The engine behind an address. No error quotes it: it may hold a password."""
    scheme = SCHEME.match(address)
    if scheme is None:
        raise UnsupportedData(
            "an address must begin with postgresql://, mysql://, sc:// or another scheme that "
            f"ibis.connect takes, got {without_passwords(address)!r:.60}."
        )
    name = scheme[1].lower()
    if name == "sc":
        load("pyspark", "spark")
        from pyspark.sql import SparkSession

        return _spark_tables(SparkSession.builder.remote(address).getOrCreate())
    ibis = load("ibis", "postgres")
    try:
        backend = ibis.connect(address.partition("::")[0])
    except Exception as error:
        raise UnsupportedData(
            f"cannot connect to the {name} address ({type(error).__name__}). Check host, port, "
            "user, password and database, and that ibis and its driver for it are installed."
        ) from None
    return _ibis_tables(backend)


def _is_backend(engine: Any) -> bool:
    from ibis.backends import BaseBackend

    return isinstance(engine, BaseBackend)


def _ibis_tables(backend: Any) -> EngineTables:
    """A database behind ibis. Its tables are temporary where one query may name such a table
    twice, and dropped at the end in any case.
    """
    ibis = load("ibis", "postgres")
    options = {} if backend.name in ("mysql", "datafusion", "polars") else {"temp": True}

    def make(records: Any) -> Any:
        name = f"duffdp_check_{uuid.uuid4().hex[:12]}"
        if backend.name == "polars":
            return backend.create_table(name, obj=records)
        backend.create_table(name, schema=ibis.schema(records.schema), **options)
        try:
            _insert(backend, name, records)
            return backend.table(name)
        except Exception:
            _drop(backend, name)
            raise

    def drop(table: Any) -> None:
        _drop(backend, table.get_name())

    version = f"{_server_version(backend)} (ibis {ibis.__version__})"
    return EngineTables(backend.name, version, make, drop)


def _drop(backend: Any, name: str) -> None:
    """Drop a table, by SQL: the method of ibis 12 fails with recent versions of sqlglot."""
    if backend.name == "polars":
        backend.drop_table(name, force=True)
        return
    import sqlglot

    table = sqlglot.to_identifier(name, quoted=backend.compiler.quoted)
    cursor = backend.raw_sql(f"DROP TABLE IF EXISTS {table.sql(backend.dialect)}")
    if backend.name in ("postgres", "mysql"):  # whose cursors keep a connection busy
        cursor.close()


def _server_version(backend: Any) -> str:
    """The version of a database, where it can be had."""
    try:
        return str(backend.version)
    except Exception:  # that of some drivers fails
        with backend.con.cursor() as cursor:
            cursor.execute("SELECT VERSION()")
            return str(cursor.fetchone()[0])


# Databases whose driver takes rows of Python, with the sign for a value: ibis sends them records
# through pandas, which has no missing times and texts.
_VALUE_SIGNS = {"sqlite": "?", "mysql": "%s"}


def _insert(backend: Any, name: str, records: Any) -> None:
    """Put records into a table."""
    sign = _VALUE_SIGNS.get(backend.name)
    if sign is None:
        backend.insert(name, records)
        return
    columns = [
        [value.isoformat(" ") if isinstance(value, dt.datetime) else value for value in column]
        for column in records.to_pydict().values()
    ]
    signs = ", ".join([sign] * len(columns))
    cursor = backend.con.cursor()
    cursor.executemany(f"INSERT INTO {name} VALUES ({signs})", list(zip(*columns, strict=True)))
    backend.con.commit()
    cursor.close()


def _spark_tables(session: Any) -> EngineTables:
    """A Spark session, classic or Connect; its frames have several partitions."""

    def make(records: Any) -> Any:
        return session.createDataFrame(records).repartition(PARTITIONS)

    kind = "Spark Connect" if "connect" in type(session).__module__ else "Spark"
    return EngineTables(kind, session.version, make)


def _duckdb_tables(engine: Any) -> EngineTables:
    """A DuckDB connection; for a relation, whose connection cannot be had, one of our own."""
    duckdb = load("duckdb", "files")
    connection = engine if isinstance(engine, duckdb.DuckDBPyConnection) else duckdb.connect()

    def make(records: Any) -> Any:
        name = f"duffdp_check_{uuid.uuid4().hex[:12]}"
        connection.register(f"{name}_records", records)
        try:
            connection.execute(f"CREATE TEMP TABLE {name} AS SELECT * FROM {name}_records")
        finally:
            connection.unregister(f"{name}_records")
        return connection.table(name)

    def drop(table: Any) -> None:
        connection.execute(f"DROP TABLE IF EXISTS {table.alias}")

    return EngineTables("duckdb", duckdb.__version__, make, drop)


def _frame_tables(engine: Any, library: str) -> EngineTables:
    """A library of frames in memory or of lazy ones: a frame of the caller's kind."""
    nw = narwhals()
    frame = nw.from_native(engine)
    lazy = isinstance(frame, nw.LazyFrame)
    kind = frame.implementation

    def make(records: Any) -> Any:
        if library == "dask":
            pandas = nw.from_arrow(records, backend="pandas").to_native()
            return load("dask.dataframe", "frames").from_pandas(pandas, npartitions=PARTITIONS)
        frame = nw.from_arrow(records, backend=kind)
        return (frame.lazy() if lazy else frame).to_native()

    version = load(library, "frames").__version__
    return EngineTables(f"{library} (lazy)" if lazy else library, version, make)
