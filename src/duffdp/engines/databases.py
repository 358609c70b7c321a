"""Tables of database files: DuckDB's own where they lie, those of SQLite copied column by column."""

from __future__ import annotations

import itertools
import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING, Any

from duffdp.engines.sql import quote_name, quote_text
from duffdp.engines.text_records import decode
from duffdp.errors import UnsupportedData

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection, DuckDBPyRelation

BATCH = 50_000
_ROWS = "duffdp_rows"
_numbers = itertools.count()


def open_database(
    connection: DuckDBPyConnection, path: Path, table: str, columns: list[str], rows: bool
) -> DuckDBPyRelation:
    """A table or view of a database file, by what the file says it is."""
    if not path.is_file():
        raise UnsupportedData(f"there is no database file {str(path)!r}. Check the path.")
    with path.open("rb") as file:
        if file.read(15) == b"SQLite format 3":
            return _copy_sqlite(connection, path, table, columns, rows)
    connection.execute(f"ATTACH {quote_text(str(path))} AS source (READ_ONLY)")
    known = connection.execute(
        "SELECT table_name FROM duckdb_tables() WHERE database_name = 'source' UNION ALL "
        "SELECT view_name FROM duckdb_views() WHERE database_name = 'source' AND NOT internal"
    ).fetchall()
    _check_table(path, table, [row[0] for row in known])
    return connection.sql(f"SELECT * FROM source.{quote_name(table)}")


def _check_table(path: Path, table: str, known: list[str]) -> None:
    if table not in known:
        raise UnsupportedData(
            f"there is no table {table!r} in {str(path)!r}. Hint: its tables are {', '.join(sorted(known)) or 'none'}."
        )


def _copy_sqlite(
    connection: DuckDBPyConnection, path: Path, table: str, columns: list[str], rows: bool
) -> DuckDBPyRelation:
    """The needed columns of a SQLite table, a batch at a time, in a table of DuckDB that may lie on disk.

    DuckDB's own SQLite reader is an extension that has to be downloaded.
    """
    base = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
    base.text_factory = decode
    try:
        _check_table(
            path,
            table,
            [
                row[0]
                for row in base.execute(
                    "SELECT name FROM sqlite_master WHERE type IN ('table', 'view')"
                )
            ],
        )
        declared = {
            row[1]: _affinity(row[2])
            for row in base.execute(f"PRAGMA table_info({quote_name(table)})")
        }
        wanted = [c for c in columns if c in declared] or list(declared)[:1]
        extra = [
            c for c in declared if c not in wanted
        ]  # known by name, so that a misspelt column gets its hint
        types = ", ".join(f"{quote_name(c)} {declared[c]}" for c in [*wanted, *extra])
        copy = f"duffdp_sqlite_{next(_numbers)}"
        connection.execute(f"CREATE TEMP TABLE {copy} ({types})")
        if not rows:
            return connection.table(copy)
        cursor = base.execute(
            f"SELECT {', '.join(map(quote_name, wanted))} FROM {quote_name(table)}"
        )
        into = ", ".join(map(quote_name, wanted))
        # Every field has a letter before its text, so that all of a batch is text for DuckDB and nothing is missing.
        casts = ", ".join(
            f"TRY_CAST(CASE WHEN v{i} <> '' THEN substr(v{i}, 2) END AS {declared[c]})"
            for i, c in enumerate(wanted)
        )
        while batch := cursor.fetchmany(BATCH):
            connection.register(
                _ROWS, {f"v{i}": _texts(column) for i, column in enumerate(zip(*batch, strict=True))}
            )
            connection.execute(f"INSERT INTO {copy} ({into}) SELECT {casts} FROM {_ROWS}")
            connection.unregister(_ROWS)
    finally:
        base.close()
    return connection.table(copy)


def _texts(values: tuple[Any, ...]) -> Any:
    """SQLite columns have no fixed type: hand text over and let each field be cast by itself; a BLOB is missing."""
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
