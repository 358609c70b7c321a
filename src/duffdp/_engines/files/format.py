"""Shared parts of file formats: a `Format` that names a format, and a `Reader` of opened files."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from duffdp._engines.files.fields import FieldRules
from duffdp._engines.libraries import missing_column
from duffdp.errors import Argument, UnsupportedData, did_you_mean

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


@dataclass(frozen=True)
class OpenRequest:
    """Files to open, and how text is laid out in them."""

    connection: DuckDBPyConnection
    name: str  # of all files, as the caller has it
    paths: list[str]
    part: str  # the sheet or table after "::", or ""
    rules: FieldRules


@dataclass(frozen=True)
class ReadRequest:
    """The columns that one release needs, and the conversion from text to values."""

    columns: Sequence[str]  # none: all that there are
    values: tuple[str, ...] = ()  # columns that are read as `kind`, where a file declares no types
    kind: str = "float"  # of the public domain
    person: str | None = None  # the column that names people


class RowSource(NamedTuple):
    """Columns of a file, of a table of a server or of the result of a query: their types are known,
    rows are read when they are requested.

    `types` has the columns, as a relation of DuckDB or a table of ibis; no record of a text file or
    of SQLite is in it, or was read for it. `rows` reads such records, once for all releases of a
    call, into a table that may spill to disk; others stay where they are. Columns of text files are
    `untyped` unless their types are declared: all are text but that of values. `close` ends what
    `rows` began, when all is counted. `zone` is what instants are given in, as the server says and
    UTC in files, but for columns of which a file says another one in `zones`. `people` are the
    columns one of which must name the person, where rows were brought together; and `like` is the
    frame that answers are to be like, if there is one. `note` is what users should know about rows
    of this file format.
    """

    name: str
    types: Any
    rows: Callable[[], Any]  # may fail with what `unreadable` knows
    untyped: Container[str] = ()
    close: Callable[[], None] | None = None
    zone: str | None = None
    zones: Mapping[str, str] = {}
    people: tuple[str, ...] | None = None
    like: Any = None
    note: str = ""


class Reader(Protocol):
    """Files of one format, opened: their columns are known and no record is read."""

    def columns(self, request: ReadRequest, rules: FieldRules) -> RowSource:
        """Some columns with their types, and what reads their rows."""


def no_note(path: str) -> str:
    """The note of a format whose rows are what the file declares."""
    return ""


class Format(NamedTuple):
    """A file format: its names, how it is recognized, and its reader."""

    name: str
    endings: tuple[str, ...]  # of file names, in lower case
    open: Callable[[OpenRequest], Reader]
    is_text: bool = False  # declares no types, so a TextFile may
    part: str = ""  # an example of a path, where one table or sheet of a file is read
    needs_part: bool = False
    lists_columns: bool = True  # before a record is read
    own_database: bool = False  # not that of other files: all of it would see what this attaches
    parts: Callable[[str], list[str]] | None = None  # the sheets or tables of a file
    note: Callable[[str], str] = no_note  # what users of a file should know about its rows


def header_columns(
    header: Sequence[str], columns: Sequence[str], rules: FieldRules, line: str
) -> list[str]:
    """The requested columns, which a header must name once; without any, all that have a name.

    `line` is what errors call the header. DuckDB does not distinguish upper and lower case, so of
    names that differ in case alone the first one counts.
    """
    for name in (*columns, *rules.kinds):
        if (name not in header or not name) and rules.skip_rows:
            # If too many lines were skipped, this one is a record, which no error may quote.
            raise UnsupportedData(
                *(
                    f"there is no column {name!r} in the header, {line}. Check ",
                    Argument("skip_rows"),
                ),
                ": it must be the number of lines above the header.",
            )
        if name not in header or not name:
            error = missing_column(name, filter(None, header))
            if did_you_mean(name, header):
                raise error
            raise UnsupportedData(
                *(*error.parts, f" The {line} names them; ", Argument("skip_rows")),
                " skips titles above it.",
            )
        if header.count(name) > 1:
            raise UnsupportedData(
                f"the {line} names {name!r} more than once. Rename one of the columns."
            )
    if columns:
        return list(columns)
    first: dict[str, str] = {}
    for name in filter(None, header):
        first.setdefault(name.casefold(), name)
    return list(first.values())
