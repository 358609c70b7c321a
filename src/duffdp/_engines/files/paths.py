"""Sources by their path or address: files, folders, patterns, tables of database files and tables
of servers.
"""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass
from glob import glob
from pathlib import Path
from typing import TYPE_CHECKING

from duffdp._engines.addresses import ADDRESS, SEPARATOR, printable
from duffdp._engines.files.arrow import ARROW
from duffdp._engines.files.csv import CSV
from duffdp._engines.files.databases import DATABASES
from duffdp._engines.files.excel import EXCEL
from duffdp._engines.files.fields import FILE_ZONE, PLAIN_FIELDS, FieldRules
from duffdp._engines.files.format import Format, OpenRequest, Reader, ReadRequest, RowSource
from duffdp._engines.files.json_lines import JSON_LINES
from duffdp._engines.files.packing import unpacked_name
from duffdp._engines.files.parquet import PARQUET
from duffdp._engines.files.text_file import TextFile
from duffdp._parameters import TEXT_FILE_OPTIONS
from duffdp.errors import Argument, DuffError, SourceError, UnsupportedData, did_you_mean

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

#: Every format that duffdp reads. A new one is registered here.
FORMATS = (CSV, JSON_LINES, PARQUET, ARROW, EXCEL, DATABASES)
_TOGETHER = [one for one in FORMATS if not one.part]  # several files are read as one table
_ENDINGS = tuple(ending for one in _TOGETHER for ending in one.endings)


def _listed(names: list[str], word: str) -> str:
    return f" {word} ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


_KINDS = (
    f"{_listed([one.name for one in _TOGETHER], 'and')} (a file, a folder or a pattern), "
    f"{_listed([one.part for one in FORMATS if one.part], 'or')}"
)


@dataclass(frozen=True)
class OpenFile:
    """Opened files that are read as one table."""

    name: str
    reader: Reader
    rules: FieldRules
    note: str  # what users should know about its rows

    def columns(self, request: ReadRequest) -> RowSource:
        """Some columns and their types. Parquet files and tables keep their declared types. In text
        files every column is text, except that those with declared types are of these, and the
        values are read as the request says, field by field.
        """
        try:
            source = self.reader.columns(request, self.rules)
            zone = FILE_ZONE if "WITH TIME ZONE" in str(source.types.types) else None
            return source._replace(zone=zone, note=self.note)
        except Exception as error:
            raise unreadable(self.name, error) from None


@dataclass(frozen=True)
class ServerTable:
    """A table of a server, which each release connects to: its rows are those of one moment."""

    address: str

    def columns(self, request: ReadRequest) -> RowSource:
        """Some columns and their types."""
        from duffdp._engines.adapters.postgres import ServedTable

        return ServedTable(self.address, list(request.columns)).source()


def open_path(
    data: str | os.PathLike[str], connection: DuckDBPyConnection | None = None
) -> OpenFile | ServerTable:
    """Open what a path names, in a connection of its own if none is given."""
    name, declared, rules = os.fspath(data), isinstance(data, TextFile), rules_of(data)
    if ADDRESS.match(name):
        if declared:
            raise _types_not_taken(name)
        return ServerTable(name)
    try:
        import duckdb
    except ImportError:
        raise DuffError(
            "files are read by DuckDB, which is not installed. Run: pip install 'duffdp[files]'."
        ) from None
    try:
        path, part = _parts(name)
        named = _format_of_parts(path, part)
        if declared and named is not None and not named.is_text:
            raise _types_not_taken(name)
        paths = _files(path)
        form = _common_format(paths) if named is None else named
        if declared and not form.is_text:
            raise _types_not_taken(name)
        if connection is None:
            alone = form.own_database
            connection = duckdb.connect(config=settings()) if alone else _shared_connection()
        reader = form.open(OpenRequest(connection, name, paths, part, rules))
        return OpenFile(name, reader, rules, form.note(paths[0]))
    except Exception as error:
        raise unreadable(name, error) from None


def rules_of(data: str | os.PathLike[str]) -> FieldRules:
    """How the fields of a text file become values."""
    return data.rules if isinstance(data, TextFile) else PLAIN_FIELDS


_STARTED: dict[int, DuckDBPyConnection] = {}  # by process: a fork has no threads of a database


def _keep_inherited() -> None:
    """Never end the databases of the parent in a forked process: that waits forever for threads
    which are not there.
    """
    from ctypes import py_object, pythonapi

    for connection in _STARTED.values():
        pythonapi.Py_IncRef(py_object(connection))


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_keep_inherited)


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
    """Replacement for a reader's error, which may quote a line of the data; any other error is
    unchanged.
    """
    if isinstance(error, DuffError):
        return error
    import sqlite3
    import zlib

    import duckdb

    known = isinstance(error, duckdb.Error | sqlite3.Error | zlib.error | EOFError | OSError)
    if not known and type(error).__name__ != "ZstdError":
        return error
    path, part = _parts(name)
    form = format_named(path)
    if part and form is not None and not form.part:
        return UnsupportedData(
            f"cannot read {name!r}: this kind of file has no tables. Leave out "
            f"{SEPARATOR + part!r}."
        )
    return UnsupportedData(
        f"cannot read {name!r}: its content does not match its file name. duffdp reads {_KINDS}."
    )


def _parts(name: str) -> tuple[str, str]:
    """The path of a file and the table or sheet in it, if there is one."""
    if os.path.exists(name):
        return name, ""
    path, _, part = name.partition(SEPARATOR)
    return path, part


def is_table_name(name: str) -> bool:
    """True if a path is the name of a table, and not of a list of lines."""
    named = format_named(name) is not None or SEPARATOR in name
    return named or os.path.isdir(name) or ADDRESS.match(name) is not None


def format_named(path: str) -> Format | None:
    """The file format for the ending of a file name."""
    lower = path.lower()
    return next((one for one in FORMATS if lower.endswith(one.endings)), None)


def format_of(path: str | os.PathLike[str]) -> Format | None:
    """The format of what a path names; None for servers, and for what cannot be opened."""
    name = os.fspath(path)
    if ADDRESS.match(name):
        return None
    try:
        file, part = _parts(name)
        return _format_of_parts(file, part) or _common_format(_files(file))
    except DuffError:
        return None


def note_of(path: str | os.PathLike[str]) -> str:
    """The note of the format of what a path names; empty if there is none, or no such file."""
    form = format_of(path)
    if form is None:
        return ""
    try:
        file, _ = _parts(os.fspath(path))
        return form.note(_files(file)[0])
    except (DuffError, OSError):
        return ""


def _format_of_parts(path: str, part: str) -> Format | None:
    """The format of one file that has tables or sheets; None for files that are read together."""
    named = None if os.path.isdir(path) else format_named(path)
    if part and (named is None or not named.part):
        return DATABASES  # whatever it is called
    if named is None or not named.part:
        return None
    if named.needs_part and not part:
        raise UnsupportedData(
            f"{path!r} is a database: name the table as well, as in '{path}{SEPARATOR}table'."
        )
    return named


def _common_format(paths: list[str]) -> Format:
    """The format of files that are read together."""
    formats = {format_named(path) for path in paths}
    form = formats.pop()
    if form is not None and not form.part and not formats:
        return form
    for path in paths:
        _check_kind(path)
    raise UnsupportedData(
        "files that are read together must have one format. Pass a pattern such as 'folder/*.csv'."
    )


def _files(path: str) -> list[str]:
    """The files that a path, a folder or a pattern names, in order."""
    if os.path.isdir(path):
        found = _inside(path)
        if not found:
            raise UnsupportedData(
                f"the folder {path!r} contains no files that can be read. duffdp reads {_KINDS}."
            )
        return found
    if os.path.exists(path):
        return [path]
    if not any(mark in path for mark in "*?["):
        raise _missing_file(path)
    matches = [match for match in sorted(glob(path, recursive=True)) if os.path.isfile(match)]
    if not matches:
        raise SourceError(f"no file matches {path!r}. Check the pattern.")
    return matches


def _missing_file(path: str) -> SourceError:
    """The error about a path that names nothing, with files of its folder that come near."""
    folder, name = os.path.split(path)
    try:
        names = [entry.name for entry in os.scandir(folder or ".") if format_named(entry.name)]
    except (OSError, ValueError):
        names = []
    fix = did_you_mean(name, names)
    if not fix and not names and os.path.basename(folder) == "demo":
        fix = " Write the demo files with: duffdp demo."
    usual = " Check the path; for a table in a database write 'file::table'."
    return SourceError(f"there is no file or folder {path!r}.{fix or usual}")


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


def _types_not_taken(name: str) -> UnsupportedData:
    takes = _listed([one.name for one in FORMATS if one.is_text], "and")
    options = [part for one in TEXT_FILE_OPTIONS for part in (", ", Argument(one.name))][1:]
    return UnsupportedData(
        *(*options, f" are only for text files ({takes}), got {printable(name)!r}. "),
        "Leave them out: other formats declare their types.",
    )


def _check_kind(path: str) -> None:
    """Refuse a file that cannot be read with others."""
    if unpacked_name(path).endswith(".json"):
        raise UnsupportedData(
            f"{path!r} is one JSON document, which cannot be read record by record. Save it as "
            "JSON lines ('.jsonl'), one object per line."
        )
    if format_named(path) is None:
        raise UnsupportedData(
            f"the format of {path!r} is not recognized by its name. duffdp reads {_KINDS}."
        )
