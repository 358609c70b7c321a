"""What a path names: files, folders, patterns and tables of databases, read by DuckDB where they lie and out of core."""

from __future__ import annotations

import os
import tempfile
from glob import escape, glob
from pathlib import Path
from typing import TYPE_CHECKING, Any

from duffdp.engines.sql import quote_name as quote_name
from duffdp.engines.sql import quote_text as quote_text
from duffdp.errors import DuffError, UnsupportedData

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection, DuckDBPyRelation

SEPARATOR = "::"  # "people.duckdb::table"
DELIMITED = (".csv", ".tsv", ".csv.gz", ".tsv.gz")
JSON_LINES = (".jsonl", ".ndjson", ".jsonl.gz", ".ndjson.gz")
PARQUET = (".parquet",)
_ENDINGS = (*DELIMITED, *JSON_LINES, *PARQUET)
_DATABASES = (".duckdb", ".ddb", ".sqlite", ".sqlite3", ".db")
_KINDS = (
    "CSV, TSV, JSON lines and Parquet (a file, a folder or a pattern), or a table as 'people.duckdb::table' or "
    "'people.sqlite::table'"
)


def is_path(data: Any) -> bool:
    """Whether data are named by a path."""
    return isinstance(data, str | os.PathLike)


def is_untyped(data: Any) -> bool:
    """Whether data are files of text, which declare no types; by their names alone."""
    if not is_path(data):
        return False
    path, table = _parts(os.fspath(data))
    names = _inside(path) if os.path.isdir(path) else [path, *glob(path, recursive=True)]
    return not table and any(name.lower().endswith((*DELIMITED, *JSON_LINES)) for name in names)


def open_path(
    data: str | os.PathLike[str],
    columns: list[str],
    *,
    value: str | None = None,
    kind: str = "float",
    rows: bool = True,
    connection: DuckDBPyConnection | None = None,
) -> DuckDBPyRelation:
    """A DuckDB relation over what a path names, in a connection of its own if none is given.

    `columns` are those that are needed. Parquet files and tables keep their declared types. In files of text every column is
    text, except that `value` is read as a public domain of this kind needs it, field by field. Without `rows` names and types are
    the same, and no record of a file of text or of SQLite is read; with them such records are read once, into a table that may
    spill to disk. Others stay where they are.
    """
    try:
        import duckdb
    except ImportError:
        raise DuffError(
            "files are read by DuckDB, which is not installed. Run: pip install 'duffdp[files]'."
        ) from None
    import sqlite3
    import zlib

    from duffdp.engines.databases import open_database

    name = os.fspath(data)
    path, table = _parts(name)
    connection = connection or duckdb.connect()
    connection.execute(
        f"SET temp_directory = {quote_text(tempfile.gettempdir())}"
    )  # where it may spill; not the working folder
    try:
        if table:
            relation = open_database(connection, Path(path), table, columns, rows)
        else:
            relation = _open_files(connection, _files(path), columns, value, kind, rows)
        assert relation.columns  # reads the types
    except (duckdb.Error, sqlite3.Error, zlib.error, EOFError, OSError):
        # Without what the reader says, which may quote a line of the data.
        raise UnsupportedData(
            f"cannot read {name!r}: it is not a readable file of its kind. duffdp reads {_KINDS}."
        ) from None
    return relation


def _parts(name: str) -> tuple[str, str]:
    """The path of a file and the table in it, if there is one."""
    if os.path.exists(name):
        return name, ""
    path, _, table = name.partition(SEPARATOR)
    return path, table


def _files(path: str) -> list[str]:
    """The files that a path, a folder or a pattern names, in order."""
    if os.path.isdir(path):
        found = _inside(path)
        if not found:
            raise UnsupportedData(
                f"the folder {path!r} holds no files that can be read. duffdp reads {_KINDS}."
            )
        return found
    if os.path.exists(path):
        return [path]
    if not any(mark in path for mark in "*?["):
        raise UnsupportedData(
            f"there is no file or folder {path!r}. Check the path; for a table in a database write 'file::table'."
        )
    matches = [match for match in sorted(glob(path, recursive=True)) if os.path.isfile(match)]
    if not matches:
        raise UnsupportedData(f"no file matches {path!r}. Check the pattern.")
    return matches


def _inside(folder: str) -> list[str]:
    """The files of a folder that are of a known kind, by their endings; hidden ones are left out."""
    found = Path(folder).rglob("*")
    return sorted(
        str(p)
        for p in found
        if p.name.lower().endswith(_ENDINGS) and p.name[0] not in "._" and p.is_file()
    )


def _open_files(
    connection: DuckDBPyConnection,
    paths: list[str],
    columns: list[str],
    value: str | None,
    kind: str,
    rows: bool,
) -> DuckDBPyRelation:
    from duffdp.engines.text_files import open_delimited, open_json_lines

    for endings, reader in ((DELIMITED, open_delimited), (JSON_LINES, open_json_lines)):
        if all(path.lower().endswith(endings) for path in paths):
            return reader(connection, paths, columns, value, kind, rows)
    if all(path.lower().endswith(PARQUET) for path in paths):
        return _open_parquet(connection, paths, columns)
    for path in paths:
        _check_kind(path)
    raise UnsupportedData(
        "files that are read together must be of one kind. Pass a pattern such as 'folder/*.csv'."
    )


def _check_kind(path: str) -> None:
    lower = path.lower()
    if lower.endswith(_DATABASES):
        raise UnsupportedData(
            f"{path!r} is a database: name the table as well, as in '{path}{SEPARATOR}table'."
        )
    if lower.endswith((".json", ".json.gz")):
        raise UnsupportedData(
            f"{path!r} is one JSON document, which cannot be read record by record. Write JSON lines, an object on each line, "
            "as '.jsonl'."
        )
    if not lower.endswith(_ENDINGS):
        raise UnsupportedData(
            f"the kind of {path!r} is not known by its name. duffdp reads {_KINDS}."
        )


def _open_parquet(
    connection: DuckDBPyConnection, paths: list[str], columns: list[str]
) -> DuckDBPyRelation:
    """Parquet files with the same declared types; what folders are called (`region=north`) is text."""
    listed = ", ".join(quote_text(escape(path)) for path in paths)
    declared = connection.execute(
        f"SELECT name FROM (SELECT file_name, name, list_sort(list((type, logical_type, converted_type, "
        f"precision, scale)::VARCHAR)) AS kind FROM parquet_schema([{listed}]) WHERE type IS NOT NULL "
        f"GROUP BY file_name, name) GROUP BY name HAVING count(DISTINCT kind) > 1 OR count(*) < {len(paths)}"
    )
    differing = {name for (name,) in declared.fetchall()}
    for name in columns:
        if name in differing:
            raise UnsupportedData(
                f"the column {name!r} is not declared alike in all of the Parquet files. Write them with one schema."
            )
    relation = connection.sql(
        f"SELECT * FROM read_parquet([{listed}], union_by_name = {bool(differing)}, hive_types_autocast = false)"
    )
    alike = [name for name in relation.columns if name not in differing]
    return relation.project(", ".join(map(quote_name, alike))) if differing else relation
