"""Tables of DuckDB and SQLite files: DuckDB's are read in place, SQLite's are copied column by
column.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from duffdp._engines.files.copied import CopiedRows
from duffdp._engines.files.fields import FieldRules, quote_name, quote_text
from duffdp._engines.files.format import Format, OpenRequest, Reader, ReadRequest, RowSource
from duffdp._engines.files.text_records import decode
from duffdp.errors import UnsupportedData, did_you_mean, quoted_names

if TYPE_CHECKING:
    import sqlite3

    from duckdb import DuckDBPyConnection

BATCH = 50_000
_BATCH = "duffdp_batch"
# Every field has a letter before its text, so that all of a batch is text for DuckDB and nothing is
# missing.
_CAST = "TRY_CAST(CASE WHEN {{0}} <> '' THEN substr({{0}}, 2) END AS {kind})"
# A cast alone would round 1.5 and 1e-07, which SQLite stores in a column of whole numbers, too.
_WHOLE = r"CASE WHEN regexp_full_match({{0}}, '=\s*[+-]?\d+\s*') THEN " + _CAST + " END"


class DuckdbTable:
    """A table or view of a DuckDB file, read in place."""

    def __init__(self, request: OpenRequest, path: Path) -> None:
        connection, table = request.connection, request.part
        connection.execute(f"ATTACH {quote_text(str(path))} AS source (READ_ONLY)")
        _check_table(path, table, _duckdb_tables(connection))
        rows = connection.sql(f"SELECT * FROM source.{quote_name(table)}")
        self._source = RowSource(request.name, rows, lambda: rows)

    def columns(self, request: ReadRequest, rules: FieldRules) -> RowSource:
        return self._source


class SqliteTable:
    """A table or view of a SQLite file. Its needed columns are copied once into a DuckDB table that
    may be on disk.

    DuckDB's own SQLite reader is an extension that has to be downloaded.
    """

    def __init__(self, request: OpenRequest, path: Path) -> None:
        self._connection, self._name, self._path = request.connection, request.name, path
        self._table = quote_name(request.part)
        with closing(_open_sqlite(path)) as base:
            _check_table(path, request.part, _sqlite_tables(base))
            described = base.execute(f"PRAGMA table_info({self._table})")
            self._declared = {row[1]: _affinity(row[2]) for row in described}
        self._rows = CopiedRows(request.connection, self._copy)

    def columns(self, request: ReadRequest, rules: FieldRules) -> RowSource:
        declared = dict(self._declared)
        if request.person in declared:
            # As it stands: no two people may become one number or one day.
            declared[request.person] = "VARCHAR"
        needed = [c for c in request.columns if c in declared] or list(declared)[:1]
        # The others are known by name, so that a misspelt column gets its hint.
        extra = [c for c in declared if c not in needed]
        types = (f"NULL::{declared[c]} AS {quote_name(c)}" for c in [*needed, *extra])
        return RowSource(
            self._name,
            self._connection.sql(f"SELECT {', '.join(types)} WHERE false"),
            self._rows.add({name: _cast(declared[name]) for name in needed}),
        )

    def _copy(self, table: str, names: Sequence[str], columns: Sequence[str]) -> None:
        """All records, a batch at a time."""
        select, texts = ", ".join(columns), [f"t{at}" for at in range(len(names))]
        empty = ", ".join(f"NULL::VARCHAR AS {text}" for text in texts)
        self._connection.execute(
            f"CREATE TEMP TABLE {table} AS SELECT {select} FROM (SELECT {empty}) WHERE false"
        )
        with closing(_open_sqlite(self._path)) as base:
            cursor = base.execute(f"SELECT {', '.join(map(quote_name, names))} FROM {self._table}")
            while batch := cursor.fetchmany(BATCH):
                fields = map(_texts, zip(*batch, strict=True))
                self._connection.register(_BATCH, dict(zip(texts, fields, strict=True)))
                self._connection.execute(f"INSERT INTO {table} SELECT {select} FROM {_BATCH}")
                self._connection.unregister(_BATCH)


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


def open_database(request: OpenRequest) -> Reader:
    """A table or view of a database file, by what the file says it is."""
    file, *others = request.paths
    if others:
        raise UnsupportedData(f"a table is read from one database, got a pattern for {file!r}.")
    path = Path(file)
    return SqliteTable(request, path) if _is_sqlite(path) else DuckdbTable(request, path)


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


def _cast(kind: str) -> Callable[[str], str]:
    """What makes the expression of a value of this type from the name of its text."""
    return (_WHOLE if kind == "BIGINT" else _CAST).format(kind=kind).format


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


def _note(path: str) -> str:
    if not _is_sqlite(Path(path)):
        return ""
    return "values that do not fit the type that SQLite declares for their column are ignored"


DATABASES = Format(
    "databases",
    (".duckdb", ".ddb", ".sqlite", ".sqlite3", ".db"),
    open_database,
    part="a table as 'people.duckdb::table' or 'people.sqlite::table'",
    needs_part=True,
    parts=table_names,
    own_database=True,
    note=_note,
)
