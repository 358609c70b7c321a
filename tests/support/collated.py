"""Tables whose texts a collation takes for one another, wherever one can be declared: a number x, a
group g and a person p in each row.
"""

from __future__ import annotations

import itertools
import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import duckdb

import duffdp
import servers

_numbers = itertools.count()  # of files: one that a release has open stays as it is
Rows = Sequence[tuple[Any, ...]]
_DUCKDB = "x BIGINT, g VARCHAR COLLATE NOCASE.NOACCENT, p VARCHAR COLLATE NOCASE.NOACCENT"
_PLAIN = "x BIGINT, g VARCHAR, p VARCHAR"


def _fill(connection: Any, columns: str, rows: Rows) -> Any:
    connection.execute(f"CREATE OR REPLACE TABLE t ({columns})")
    if rows:
        connection.executemany("INSERT INTO t VALUES (?, ?, ?)", rows)
    return connection


def _duckdb(rows: Rows, _: Path) -> Any:
    return _fill(duckdb.connect(), _DUCKDB, rows).table("t")


def _duckdb_session(rows: Rows, _: Path) -> Any:
    connection = _fill(duckdb.connect(), _PLAIN, rows)
    connection.execute("SET default_collation = 'NOCASE'")
    return connection.table("t")


def _duckdb_file(rows: Rows, folder: Path) -> str:
    path = folder / f"collated {next(_numbers)}.duckdb"
    with duckdb.connect(str(path)) as connection:
        _fill(connection, _DUCKDB, rows)
    return f"{path}::t"


def _ibis_duckdb(columns: str, *statements: str) -> Callable[[Rows, Path], Any]:
    def make(rows: Rows, _: Path) -> Any:
        import ibis

        connection = _fill(duckdb.connect(), columns, rows)
        for statement in statements:
            connection.execute(statement)
        return ibis.duckdb.from_connection(connection).table("t")

    return make


def _sqlite_file(collation: str, encoding: str = "UTF-8") -> Callable[[Rows, Path], str]:
    def make(rows: Rows, folder: Path) -> str:
        path = folder / f"collated {next(_numbers)}.sqlite"
        base = sqlite3.connect(path)
        base.execute(f"PRAGMA encoding = '{encoding}'")
        declared = f"x INTEGER, g TEXT COLLATE {collation}, p TEXT COLLATE {collation}"
        base.execute(f"CREATE TABLE t ({declared})")
        base.executemany("INSERT INTO t VALUES (?, ?, ?)", rows)
        base.commit()
        base.close()
        return f"{path}::t"

    return make


def _ibis_sqlite(collation: str, encoding: str = "UTF-8") -> Callable[[Rows, Path], Any]:
    def make(rows: Rows, folder: Path) -> Any:
        import ibis

        path = _sqlite_file(collation, encoding)(rows, folder).removesuffix("::t")
        return ibis.sqlite.connect(path).table("t")

    return make


def _postgres(kind: str) -> Callable[[Rows, Path], str]:
    def make(rows: Rows, _: Path) -> str:
        name = servers.postgres_table(f"x bigint, g {kind}, p {kind}", list(rows))
        return servers.postgres_address(name)

    return make


def _ibis_postgres(kind: str) -> Callable[[Rows, Path], Any]:
    def make(rows: Rows, _: Path) -> Any:
        name = servers.postgres_table(f"x bigint, g {kind}, p {kind}", list(rows))
        return servers.postgres().table(name)

    return make


def _mariadb(kind: str) -> Callable[[Rows, Path], Any]:
    columns = f"x BIGINT, g VARCHAR(999) {kind}, p VARCHAR(999) {kind}"
    return lambda rows, _: servers.mariadb_table(columns, list(rows))


def _queried(make: Callable[[Rows, Path], Any]) -> Callable[[Rows, Path], duffdp.Query]:
    return lambda rows, folder: duffdp.Query(make(rows, folder), "SELECT x, g, p FROM data")


TABLES: dict[str, Callable[[Rows, Path], Any]] = {
    "duckdb": _duckdb,
    "duckdb session": _duckdb_session,
    "duckdb file": _duckdb_file,
    "duckdb query": _queried(_duckdb_file),
    "ibis duckdb": _ibis_duckdb(_DUCKDB),
    "ibis duckdb session": _ibis_duckdb(_PLAIN, "SET default_collation = 'NOCASE'"),
    "sqlite file": _sqlite_file("NOCASE"),
    "ibis sqlite": _ibis_sqlite("NOCASE"),
    "ibis sqlite rtrim": _ibis_sqlite("RTRIM", "UTF-16le"),
    "postgresql": _postgres("text COLLATE loose"),
    "postgresql query": _queried(_postgres("text COLLATE loose")),
    "ibis postgresql": _ibis_postgres("text COLLATE loose"),
    "ibis postgresql citext": _ibis_postgres("citext"),
    "ibis mariadb": _mariadb("CHARACTER SET utf8mb4"),
    "ibis mariadb latin1": _mariadb("CHARACTER SET latin1"),
}


def missing(name: str) -> str | None:
    """Why a table cannot be made here; None if it can."""
    for server in (servers.MARIADB, servers.POSTGRES):
        if server in name:
            return servers.missing(server)
    return None


def holds(name: str, text: str) -> bool:
    """Whether a table can hold a text."""
    try:
        text.encode("latin1" if "latin1" in name else "utf-8")
    except UnicodeEncodeError:
        return False
    return True
