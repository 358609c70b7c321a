"""What a path names: files, folders, patterns and tables of databases, read by DuckDB where they
lie and out of core; and tables of servers, by their address.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Container, Mapping
from glob import glob
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from duffdp.engines.addresses import ADDRESS, ServedTable, printable
from duffdp.engines.parquet_zones import KEY, read_zones
from duffdp.engines.sql import AS_USUAL, FieldRules, quote_name, quote_paths
from duffdp.engines.text_file import TextFile
from duffdp.engines.text_records import unpacked_name
from duffdp.errors import DuffError, UnsupportedData

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection, DuckDBPyRelation

FILE_ZONE = "UTC"  # whatever the zone of this machine is
SEPARATOR = "::"  # "people.duckdb::table"
_PACKED = ("", ".gz", ".zst")
DELIMITED = tuple(ending + packed for ending in (".csv", ".tsv") for packed in _PACKED)
JSON_LINES = tuple(ending + packed for ending in (".jsonl", ".ndjson") for packed in _PACKED)
PARQUET = (".parquet",)
WORKBOOKS = (".xlsx", ".xlsm")
_ENDINGS = (*DELIMITED, *JSON_LINES, *PARQUET)
_DATABASES = (".duckdb", ".ddb", ".sqlite", ".sqlite3", ".db")
_KINDS = (
    "CSV, TSV, JSON lines and Parquet (a file, a folder or a pattern), a sheet of Excel as "
    "'people.xlsx::sheet', or a table as 'people.duckdb::table' or 'people.sqlite::table'"
)


class Reader(Protocol):
    """One kind of files or tables, opened for its columns."""

    @property
    def types(self) -> DuckDBPyRelation:
        """The columns and their types, perhaps without rows."""

    def rows(self) -> DuckDBPyRelation:
        """The same with all rows."""


class PathTable(NamedTuple):
    """What a path names: columns and types are known, rows are read when they are asked for.

    `types` has the columns, as a relation of DuckDB or a table of ibis; no record of a file of text
    or of SQLite is in it, or was read for it. `rows` reads such records once, into a table that may
    spill to disk; others stay where they are. Columns of files of text are `untyped` unless their
    types are declared: all are text but that of values. `close` ends what `rows` began, when all is
    counted. `zone` is what instants are given in, as the server says and UTC in files, but for
    columns of which a file says another one in `zones`. `people` are the columns one of which must
    name the person, where rows were brought together; and `like` is the frame that answers are to
    be like, if there is one.
    """

    name: str
    types: Any
    rows: Callable[[], Any]  # may fail with what `unreadable` knows
    untyped: Container[str]
    close: Callable[[], None] | None = None
    zone: str | None = None
    zones: Mapping[str, str] = {}
    people: tuple[str, ...] | None = None
    like: Any = None


def open_path(
    data: str | os.PathLike[str],
    columns: list[str],
    *,
    values: tuple[str, ...] = (),
    kind: str = "float",
    person: str | None = None,
    connection: DuckDBPyConnection | None = None,
) -> PathTable:
    """What a path names, in a connection of its own if none is given.

    `columns` are those that are needed. Parquet files and tables keep their declared types. In
    files of text every column is text, except that those with declared types are of these, and
    `values` are read as a public domain of this kind needs them, field by field. `person` is
    the column that names people, if there is one.
    """
    name = os.fspath(data)
    rules = data.rules if isinstance(data, TextFile) else None
    if ADDRESS.match(name):
        if rules is not None:
            raise _no_text(name)
        served = ServedTable(name, columns)
        return PathTable(served.name, served.types, served.rows, (), served.close, served.zone)
    try:
        import duckdb
    except ImportError:
        raise DuffError(
            "files are read by DuckDB, which is not installed. Run: pip install 'duffdp[files]'."
        ) from None
    path, table = _parts(name)
    if connection is None:
        alone = bool(table) or not path.lower().endswith(PARQUET)
        connection = duckdb.connect(config=settings()) if alone else _shared_connection()
    try:
        reader: Reader
        if path.lower().endswith(WORKBOOKS):
            reader, untyped = _open_sheet(connection, path, table, columns, values, kind, rules)
        elif not table:
            reader, untyped = _open_files(connection, _files(path), columns, values, kind, rules)
        elif rules is None:
            from duffdp.engines.databases import open_database

            reader, untyped = open_database(connection, Path(path), table, columns, person), ()
        else:
            raise _no_text(name)
        zone = FILE_ZONE if "WITH TIME ZONE" in str(reader.types.types) else None
        said = {} if rules is None else rules.zones
        zones = reader.zones if isinstance(reader, ParquetFiles) else said
        return PathTable(name, reader.types, reader.rows, untyped, zone=zone, zones=zones)
    except Exception as error:
        raise unreadable(name, error) from None


_STARTED: dict[int, DuckDBPyConnection] = {}  # by process: a fork has no threads of a database


def _shared_connection() -> DuckDBPyConnection:
    """A connection of its own to one database of this process, which takes longer to start than
    most files to read. For those who make nothing there but what ends with their connection.
    """
    import duckdb

    process = os.getpid()
    if process not in _STARTED:
        _STARTED[process] = duckdb.connect(config=settings())
    return _STARTED[process].cursor()


def settings() -> dict[str, str | bool | int | float | list[str]]:
    """Of a connection that reads files: it spills elsewhere than into the working folder, and keeps
    no block of a file, which it would take for one of another file of the same second.
    """
    return {"temp_directory": tempfile.gettempdir(), "enable_external_file_cache": False}


def unreadable(name: str, error: Exception) -> Exception:
    """What to say instead of what a reader says, which may quote a line of the data; any other
    error stays.
    """
    if isinstance(error, DuffError):
        return error
    import sqlite3
    import zlib

    import duckdb

    known = isinstance(error, duckdb.Error | sqlite3.Error | zlib.error | EOFError | OSError)
    if not known and type(error).__name__ != "ZstdError":
        return error
    return UnsupportedData(
        f"cannot read {name!r}: it is not a readable file of its kind. duffdp reads {_KINDS}."
    )


def _parts(name: str) -> tuple[str, str]:
    """The path of a file and the table in it, if there is one."""
    if os.path.exists(name):
        return name, ""
    path, _, table = name.partition(SEPARATOR)
    return path, table


def is_table_name(name: str) -> bool:
    """Whether a path is that of a table by its name, and not of a list of lines."""
    named = name.lower().endswith((*_ENDINGS, *WORKBOOKS, *_DATABASES)) or SEPARATOR in name
    return named or os.path.isdir(name) or ADDRESS.match(name) is not None


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
            f"there is no file or folder {path!r}. Check the path; for a table in a database write "
            "'file::table'."
        )
    matches = [match for match in sorted(glob(path, recursive=True)) if os.path.isfile(match)]
    if not matches:
        raise UnsupportedData(f"no file matches {path!r}. Check the pattern.")
    return matches


def _inside(folder: str) -> list[str]:
    """The files of a folder that are of a known kind, by their endings; hidden ones are left
    out.
    """
    found = Path(folder).rglob("*")
    return sorted(
        str(p)
        for p in found
        if p.name.lower().endswith(_ENDINGS) and p.name[0] not in "._" and p.is_file()
    )


def _open_sheet(
    connection: DuckDBPyConnection,
    path: str,
    sheet: str,
    columns: list[str],
    values: tuple[str, ...],
    kind: str,
    rules: FieldRules | None,
) -> tuple[Reader, Container[str]]:
    """The reader of one sheet of one workbook, and the columns that declare no types."""
    from duffdp.engines.workbook import Sheet

    (path, *others), how = _files(path), rules or AS_USUAL
    if others:
        raise UnsupportedData(f"workbooks are read one at a time, got a pattern for {path!r}.")
    sheet_reader = Sheet(connection, path, sheet, columns, values, kind, how)
    return sheet_reader, [name for name in columns if name not in how.kinds]


def _open_files(
    connection: DuckDBPyConnection,
    paths: list[str],
    columns: list[str],
    values: tuple[str, ...],
    kind: str,
    rules: FieldRules | None,
) -> tuple[Reader, Container[str]]:
    """The reader of files, and the columns that declare no types: by names and rules alone."""
    from duffdp.engines.delimited import DelimitedFiles
    from duffdp.engines.json_lines import JsonLines

    how = AS_USUAL if rules is None else rules
    untyped = columns if rules is None else [name for name in columns if name not in rules.kinds]
    if all(path.lower().endswith(DELIMITED) for path in paths):
        return DelimitedFiles(connection, paths, columns, values, kind, how), untyped
    if all(path.lower().endswith(JSON_LINES) for path in paths):
        return JsonLines(connection, paths, columns, values, kind, how), untyped
    if rules is not None:
        raise _no_text(paths[0])
    if all(path.lower().endswith(PARQUET) for path in paths):
        return ParquetFiles(connection, paths, columns), ()
    for path in paths:
        _check_kind(path)
    raise UnsupportedData(
        "files that are read together must be of one kind. Pass a pattern such as 'folder/*.csv'."
    )


def _no_text(name: str) -> UnsupportedData:
    return UnsupportedData(
        f"types, decimal and date_format are for files of text, got {printable(name)!r}. duffdp "
        "takes them for CSV, TSV, JSON lines and Excel; other kinds declare their types."
    )


def _check_kind(path: str) -> None:
    lower = path.lower()
    if lower.endswith(_DATABASES):
        raise UnsupportedData(
            f"{path!r} is a database: name the table as well, as in '{path}{SEPARATOR}table'."
        )
    if unpacked_name(path).endswith(".json"):
        raise UnsupportedData(
            f"{path!r} is one JSON document, which cannot be read record by record. Write JSON "
            "lines, an object on each line, "
            "as '.jsonl'."
        )
    if not lower.endswith(_ENDINGS):
        raise UnsupportedData(
            f"the kind of {path!r} is not known by its name. duffdp reads {_KINDS}."
        )


class ParquetFiles:
    """Parquet files with the same declared types; what folders are called (`region=north`) is
    text.
    """

    def __init__(
        self, connection: DuckDBPyConnection, paths: list[str], columns: list[str]
    ) -> None:
        listed = ", ".join(quote_paths(paths))
        differing = _differing(connection, listed, len(paths)) if len(paths) > 1 else set()
        for name in columns:
            if name in differing:
                raise UnsupportedData(
                    f"the column {name!r} is not declared alike in all of the Parquet files. Write "
                    "them with one schema."
                )
        relation = connection.sql(
            f"SELECT * FROM read_parquet([{listed}], union_by_name = {bool(differing)}, "
            "hive_types_autocast = false)"
        )
        alike = [name for name in relation.columns if name not in differing]
        # By their names: the places of columns are others in a file that is replaced meanwhile.
        chosen = relation.project(", ".join(map(quote_name, alike)))
        #: The zones of columns of instants, where all files say the same.
        self.zones = _zones(connection, listed) if "WITH TIME ZONE" in str(chosen.types) else {}
        self.types = chosen

    def rows(self) -> DuckDBPyRelation:
        return self.types


def _differing(connection: DuckDBPyConnection, listed: str, files: int) -> set[str]:
    """The columns that not all files have, or declare alike."""
    declared = connection.execute(
        "SELECT name FROM (SELECT file_name, name, list_sort(list((type, logical_type, "
        "converted_type, "
        f"precision, scale)::VARCHAR)) AS kind FROM parquet_schema([{listed}]) WHERE type IS "
        "NOT NULL "
        "GROUP BY file_name, name) GROUP BY name HAVING count(DISTINCT kind) > 1 OR count(*) < "
        f"{files}"
    )
    return {name for (name,) in declared.fetchall()}


def _zones(connection: DuckDBPyConnection, listed: str) -> dict[str, str]:
    """The zones that all files say, if they say the same."""
    said = connection.execute(
        f"SELECT DISTINCT value FROM parquet_kv_metadata([{listed}]) WHERE key = ?",
        [KEY.encode()],
    )
    known = [read_zones(schema) for (schema,) in said.fetchall()]
    return known[0] if known and all(zones == known[0] for zones in known) else {}
