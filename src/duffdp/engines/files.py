"""Files, folders and database tables, read by DuckDB where they lie and out of core."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Any

from duffdp.errors import DuffError, UnsupportedData

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection, DuckDBPyRelation

SEPARATOR = "::"  # "people.duckdb::table"
BATCH = 50_000
SNIFFED, HEAD = 20_480, 2**21  # rows in which DuckDB finds the layout of a CSV file, and bytes that hold them as a rule
# How files of text write that a number or a date is missing.
MISSING = ["", "NA", "N/A", "n/a", "na", "NaN", "nan", "NULL", "Null", "null", "None", "none", "#N/A", "<NA>", "?", "-", "."]
_READERS = {
    ".csv": "read_csv",
    ".tsv": "read_csv",
    ".csv.gz": "read_csv",
    ".parquet": "read_parquet",
    ".jsonl": "read_json",
    ".ndjson": "read_json",
    ".json": "read_json",
}
UNTYPED = (".csv", ".tsv", ".csv.gz", ".json", ".jsonl", ".ndjson")
_DATABASES = {".duckdb": "duckdb", ".ddb": "duckdb", ".sqlite": "sqlite", ".sqlite3": "sqlite", ".db": "sqlite"}
_KINDS = "CSV, TSV, Parquet (a file, a folder or a pattern), JSON lines, or a table as 'people.duckdb::table' or 'people.sqlite::table'"


def is_path(data: Any) -> bool:
    """Whether data are named by a path."""
    return isinstance(data, str | os.PathLike)


def is_untyped(data: Any) -> bool:
    """Whether data are a file in which types can only be found by looking at rows."""
    return is_path(data) and os.fspath(data).lower().endswith(UNTYPED)


def open_path(
    data: str | os.PathLike[str], columns: list[str], numbers: Collection[str], connection: DuckDBPyConnection | None = None
) -> DuckDBPyRelation:  # fmt: skip
    """A DuckDB relation over what a path names, in a connection of its own if none is given; only the types are read yet.

    In untyped files `numbers` are never of an integer type: whether all of the others are whole would decide how one is read.
    """
    try:
        import duckdb
    except ImportError:
        raise DuffError("files are read by DuckDB, which is not installed. Run: pip install 'duffdp[files]'.") from None
    name = os.fspath(data)
    path, _, table = name.partition(SEPARATOR)
    connection = connection or duckdb.connect()
    connection.execute(f"SET temp_directory = {quote_text(tempfile.gettempdir())}")  # where it may spill; not the working folder
    try:
        relation = _table(connection, Path(path), table, columns) if table else _file(connection, path, numbers)
        assert relation.columns  # reads the types
    except (duckdb.Error, UnicodeDecodeError):
        raise _unreadable(name) from None
    return relation


def _unreadable(name: str) -> UnsupportedData:
    """Without what the reader says, which may quote a line of the data."""
    return UnsupportedData(f"cannot read {name!r}: it is not a readable file of its kind. duffdp reads {_KINDS}.")


def _file(connection: DuckDBPyConnection, path: str, numbers: Collection[str]) -> DuckDBPyRelation:
    pattern = any(mark in path for mark in "*?[")
    if not pattern and not os.path.exists(path):
        raise UnsupportedData(
            f"there is no file or folder {path!r}. Check the path; for a table in a database write 'file::table'."
        )
    if os.path.isdir(path):
        if not any(Path(path).rglob("*.parquet")):
            raise UnsupportedData(
                f"the folder {path!r} holds no .parquet files. Pass a folder of Parquet files, or a pattern such as 'folder/*.csv'."
            )
        path = os.path.join(path, "**", "*.parquet")
    elif pattern and not _matches(path):
        raise UnsupportedData(f"no file matches {path!r}. Check the pattern.")
    lower = path.lower()
    reader = next((r for ending, r in _READERS.items() if lower.endswith(ending)), None)
    if reader is None:
        if any(lower.endswith(ending) for ending in _DATABASES):
            raise UnsupportedData(f"{path!r} is a database: name the table as well, as in '{path}{SEPARATOR}table'.")
        raise UnsupportedData(f"the kind of {path!r} is not known by its name. duffdp reads {_KINDS}.")
    if reader == "read_csv" and not pattern:
        if not os.path.getsize(path):
            raise UnsupportedData(f"the file {path!r} is empty. Its first line must name the columns.")
        return _csv(connection, path, numbers)
    relation = connection.sql(f"SELECT * FROM {reader}({quote_text(path)})")
    types = dict(zip(relation.columns, map(str, relation.types), strict=True)) if is_untyped(path) else {}
    doubles = [f"{quote_name(name)}::DOUBLE AS {quote_name(name)}" for name in numbers if "INT" in types.get(name, "")]
    return relation.project(f"* REPLACE ({', '.join(doubles)})") if doubles else relation


def _csv(connection: DuckDBPyConnection, path: str, numbers: Collection[str]) -> DuckDBPyRelation:
    """One file of text: its layout and types are found once, in the first rows. A record that does not fit its type is missing."""
    asked = "Delimiter, Quote, Escape, Comment, SkipRows, HasHeader, DateFormat, TimestampFormat, Columns"
    known = f"nullstr = [{', '.join(map(quote_text, MISSING))}]"
    if not _holds_quotes(path):  # where the first rows have none, later ones may
        known += """, quote = '"', escape = '"'"""
    found: Any = connection.execute(f"SELECT {asked} FROM sniff_csv({quote_text(path)}, {known})").fetchone()
    *marks, skip, header, dates, times, columns = found
    delimiter, quote, escape, comment = ("" if mark == "(empty)" else mark for mark in marks)
    layout = {"delim": delimiter or ",", "quote": quote, "escape": escape or quote, "comment": comment}
    options = ", ".join(f"{name} = {quote_text(text)}" for name, text in layout.items())
    names = ", ".join(f"{quote_text(column['name'])}: 'VARCHAR'" for column in columns)
    typed = ", ".join(_read_as(column["name"], column["type"], column["name"] in numbers, dates, times) for column in columns)
    return connection.sql(
        f"SELECT {typed} FROM read_csv({quote_text(path)}, auto_detect = false, {options}, skip = {skip}, header = {header}, "
        f"columns = {{{names}}})"
    )


def _read_as(column: str, kind: str, number: bool, dates: str | None, times: str | None) -> str:
    """A text as what its column holds, or missing; each by itself as far as the type allows."""
    name, layout = quote_name(column), {"DATE": dates, "TIMESTAMP": times}.get(kind)
    plain = f"TRY_CAST({name} AS {kind})"
    if "INT" in kind:
        double = f"TRY_CAST({name} AS DOUBLE)"
        plain = double if number else f"CASE WHEN {plain} = {double} THEN {plain} END"  # 1.5 is no 2
    elif layout is not None:
        plain = f"COALESCE({plain}, TRY_CAST(try_strptime({name}, {quote_text(layout)}) AS {kind}))"
    return f"{plain} AS {name}"


def _holds_quotes(path: str) -> bool:
    """Whether there are quotation marks in the rows in which the layout was found."""
    if path.lower().endswith(".gz"):
        import gzip

        with gzip.open(path) as packed:
            head = packed.read(HEAD)
    else:
        with open(path, "rb") as file:
            head = file.read(HEAD)
    return b'"' in head and any(b'"' in line for line in head.split(b"\n", SNIFFED)[:SNIFFED])


def _matches(pattern: str) -> bool:
    from glob import glob

    return bool(glob(pattern, recursive=True))


def _table(connection: DuckDBPyConnection, path: Path, table: str, columns: list[str]) -> DuckDBPyRelation:
    if not path.is_file():
        raise UnsupportedData(f"there is no database file {str(path)!r}. Check the path.")
    with path.open("rb") as file:
        sqlite = file.read(15) == b"SQLite format 3"
    if not sqlite:
        connection.execute(f"ATTACH {quote_text(str(path))} AS source (READ_ONLY)")
        known = [row[0] for row in connection.execute("SELECT table_name FROM duckdb_tables() WHERE database_name = 'source' UNION ALL "
                                                      "SELECT view_name FROM duckdb_views() WHERE database_name = 'source' AND NOT internal").fetchall()]  # fmt: skip
        if table not in known:
            raise UnsupportedData(
                f"there is no table {table!r} in {str(path)!r}. Hint: its tables are {', '.join(sorted(known)) or 'none'}."
            )
        return connection.sql(f"SELECT * FROM source.{quote_name(table)}")
    return _copy_sqlite(connection, path, table, columns)


def _copy_sqlite(connection: DuckDBPyConnection, path: Path, table: str, columns: list[str]) -> DuckDBPyRelation:
    """The needed columns of a SQLite table, a batch at a time, in a table of DuckDB that may lie on disk.

    DuckDB's own SQLite reader is an extension that has to be downloaded.
    """
    import sqlite3

    import numpy as np

    base = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    try:
        known = [row[0] for row in base.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view')")]
        if table not in known:
            raise UnsupportedData(
                f"there is no table {table!r} in {str(path)!r}. Hint: its tables are {', '.join(sorted(known)) or 'none'}."
            )
        declared = {row[1]: _affinity(row[2]) for row in base.execute(f"PRAGMA table_info({quote_name(table)})")}
        wanted = [c for c in columns if c in declared] or list(declared)[:1]
        extra = [c for c in declared if c not in wanted]  # known by name, so that a misspelt column gets its hint
        types = ", ".join(f"{quote_name(c)} {declared[c]}" for c in [*wanted, *extra])
        connection.execute(f"CREATE TABLE copied ({types})")
        cursor = base.execute(f"SELECT {', '.join(map(quote_name, wanted))} FROM {quote_name(table)}")
        into = ", ".join(map(quote_name, wanted))
        casts = ", ".join(f"TRY_CAST({quote_name(c)} AS {declared[c]})" for c in wanted)
        while rows := cursor.fetchmany(BATCH):
            batch = {c: _strings(np, [row[i] for row in rows]) for i, c in enumerate(wanted)}  # noqa: F841 (read by DuckDB)
            connection.execute(f"INSERT INTO copied ({into}) SELECT {casts} FROM batch")
    except sqlite3.Error:
        raise _unreadable(f"{path}{SEPARATOR}{table}") from None
    finally:
        base.close()
    return connection.table("copied")


def _strings(np: Any, values: list[Any]) -> Any:
    """SQLite columns have no fixed type: hand text over and let each record be cast by itself, or dropped."""
    return np.array(
        [None if v is None else v if isinstance(v, str) else repr(v) if isinstance(v, float) else str(v) for v in values],
        dtype=object,
    )


def _affinity(declared: str) -> str:
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


def quote_name(name: str) -> str:
    """A name in SQL."""
    return '"' + name.replace('"', '""') + '"'


def quote_text(text: str) -> str:
    """A text in SQL."""
    return "'" + text.replace("'", "''") + "'"
