"""Tables of DuckDB and SQLite files: DuckDB's are read in place, SQLite's are copied column by
column.
"""

from __future__ import annotations

import itertools
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from duffdp._engines.files.fields import quote_name, quote_text
from duffdp._engines.files.format import Format, Reader, ReadRequest
from duffdp._engines.files.text_records import decode
from duffdp.errors import UnsupportedData, did_you_mean, quoted_names

if TYPE_CHECKING:
    import sqlite3

    from duckdb import DuckDBPyConnection, DuckDBPyRelation

BATCH = 50_000
_ROWS = "duffdp_rows"
_numbers = itertools.count()


class DuckdbTable(Reader):
    """A table or view of a DuckDB file, read in place."""

    has_all_columns = True

    def __init__(self, connection: DuckDBPyConnection, path: Path, table: str) -> None:
        connection.execute(f"ATTACH {quote_text(str(path))} AS source (READ_ONLY)")
        _check_table(path, table, _duckdb_tables(connection))
        self.types = connection.sql(f"SELECT * FROM source.{quote_name(table)}")


class SqliteTable(Reader):
    """A table or view of a SQLite file, copied into a DuckDB table that may be on disk.

    DuckDB's own SQLite reader is an extension that has to be downloaded.
    """

    def __init__(
        self,
        connection: DuckDBPyConnection,
        path: Path,
        table: str,
        columns: list[str],
        person: str | None,
    ) -> None:
        self._connection, self._path, self._table = connection, path, quote_name(table)
        with closing(_open_sqlite(path)) as base:
            _check_table(path, table, _sqlite_tables(base))
            described = base.execute(f"PRAGMA table_info({self._table})")
            declared = {row[1]: _affinity(row[2]) for row in described}
        if person in declared:  # as it stands: no two people may become one number or one day
            declared[person] = "VARCHAR"
        wanted = [c for c in columns if c in declared] or list(declared)[:1]
        # The others are known by name, so that a misspelt column gets its hint.
        extra = [c for c in declared if c not in wanted]
        self._needed = {quote_name(c): declared[c] for c in wanted}
        columns_and_types = (f"NULL::{declared[c]} AS {quote_name(c)}" for c in [*wanted, *extra])
        self.types = connection.sql(f"SELECT {', '.join(columns_and_types)} WHERE false")

    def rows(self) -> DuckDBPyRelation:
        """The needed columns, a batch at a time."""
        names, copy = ", ".join(self._needed), f"duffdp_sqlite_{next(_numbers)}"
        columns = ", ".join(f"{name} {kind}" for name, kind in self._needed.items())
        self._connection.execute(f"CREATE TEMP TABLE {copy} ({columns})")
        # Every field has a letter before its text, so that all of a batch is text for DuckDB and
        # nothing is missing.
        casts = ", ".join(
            f"TRY_CAST(CASE WHEN v{i} <> '' THEN substr(v{i}, 2) END AS {kind})"
            for i, kind in enumerate(self._needed.values())
        )
        with closing(_open_sqlite(self._path)) as base:
            cursor = base.execute(f"SELECT {names} FROM {self._table}")
            while batch := cursor.fetchmany(BATCH):
                batched = enumerate(zip(*batch, strict=True))
                self._connection.register(_ROWS, {f"v{i}": _texts(column) for i, column in batched})
                self._connection.execute(f"INSERT INTO {copy} SELECT {casts} FROM {_ROWS}")
                self._connection.unregister(_ROWS)
        return self._connection.table(copy)


def _open_sqlite(path: Path) -> sqlite3.Connection:
    import sqlite3  # here: a release of an array needs none

    base = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
    base.text_factory = decode
    return base


def _duckdb_tables(connection: DuckDBPyConnection) -> list[str]:
    """The tables and views of the database that is attached as `source`."""
    rows = connection.execute(
        "SELECT table_name FROM duckdb_tables() WHERE database_name = 'source' UNION ALL "
        "SELECT view_name FROM duckdb_views() WHERE database_name = 'source' AND NOT internal"
    ).fetchall()
    return [row[0] for row in rows]


def _sqlite_tables(base: sqlite3.Connection) -> list[str]:
    rows = base.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view')")
    return [row[0] for row in rows]


def _is_sqlite(path: Path) -> bool:
    with path.open("rb") as opened:
        return opened.read(15) == b"SQLite format 3"


def table_names(path: str) -> list[str]:
    """The tables and views of a database file."""
    if _is_sqlite(Path(path)):
        with closing(_open_sqlite(Path(path))) as base:
            return _sqlite_tables(base)
    import duckdb

    with duckdb.connect() as connection:
        connection.execute(f"ATTACH {quote_text(path)} AS source (READ_ONLY)")
        return _duckdb_tables(connection)


def open_database(request: ReadRequest) -> Reader:
    """A table or view of a database file, by what the file says it is.

    In SQLite, where any field holds anything, the column of persons is read as text.
    """
    connection, (file, *others) = request.connection, request.paths
    if others:
        raise UnsupportedData(f"a table is read from one database, got a pattern for {file!r}.")
    path = Path(file)
    if _is_sqlite(path):
        return SqliteTable(connection, path, request.part, request.columns, request.person)
    return DuckdbTable(connection, path, request.part)


def _check_table(path: Path, table: str, known: list[str]) -> None:
    if table not in known:
        raise UnsupportedData(
            f"there is no table {table!r} in {str(path)!r}.{did_you_mean(table, known)} "
            f"Its tables are {quoted_names(sorted(known)) or 'none'}."
        )


def _texts(values: tuple[Any, ...]) -> Any:
    """SQLite columns have no fixed type: hand text over and let each field be cast by itself; a
    BLOB is missing.
    """
    import numpy as np

    return np.array(
        ["" if v is None or isinstance(v, bytes) else f"={v}" for v in values], dtype=object
    )


def _affinity(declared: str) -> str:
    """The type that a column of SQLite is declared to have."""
    upper = declared.upper()
    if "INT" in upper:
        return "BIGINT"
    if any(word in upper for word in ("REAL", "FLOA", "DOUB", "NUM", "DEC")):
        return "DOUBLE"
    if "BOOL" in upper:
        return "BOOLEAN"
    if "TIMESTAMP" in upper or "DATETIME" in upper:
        return "TIMESTAMP"
    return "DATE" if "DATE" in upper else "VARCHAR"


DATABASES = Format(
    "databases",
    (".duckdb", ".ddb", ".sqlite", ".sqlite3", ".db"),
    open_database,
    part="a table as 'people.duckdb::table' or 'people.sqlite::table'",
    needs_part=True,
    parts=table_names,
    own_database=True,
)
