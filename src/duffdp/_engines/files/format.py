"""Shared parts of file formats: a `Format` that names a format, and a `Reader` that opens its
files.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from duffdp._engines.files.fields import FieldRules
from duffdp._engines.libraries import missing_column
from duffdp.errors import Argument, UnsupportedData

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection, DuckDBPyRelation


@dataclass(frozen=True)
class ReadRequest:
    """Files to read, the needed columns, and the conversion from text to values."""

    connection: DuckDBPyConnection
    paths: list[str]
    part: str  # the sheet or table after "::", or ""
    columns: list[str]
    values: tuple[str, ...]  # columns that are read as `kind`, where a file declares no types
    kind: str  # of the public domain
    person: str | None  # the column that names people
    rules: FieldRules


class Reader:
    """Files of one format whose columns and types are known; no record has been read."""

    types: DuckDBPyRelation  # the columns and their types, perhaps without rows
    untyped: Container[str] = ()  # columns that are text because the file declares no types
    zones: Mapping[str, str] = {}  # the time zones of columns, where they are declared
    has_all_columns = False  # whatever was requested: one opening serves several releases

    def rows(self) -> DuckDBPyRelation:
        """All rows of the same columns."""
        return self.types


class Format(NamedTuple):
    """A file format: its names, how it is recognized, and its reader."""

    name: str
    endings: tuple[str, ...]  # of file names, in lower case
    open: Callable[[ReadRequest], Reader]
    is_text: bool = False  # declares no types, so a TextFile may
    part: str = ""  # an example of a path, where one table or sheet of a file is read
    needs_part: bool = False
    lists_columns: bool = True  # before a record is read
    own_database: bool = False  # not that of other files: all of it would see what this attaches
    parts: Callable[[str], list[str]] | None = None  # the sheets or tables of a file


def header_columns(header: Sequence[str], request: ReadRequest, line: str) -> list[str]:
    """The requested columns, which a header must name once; without any, all that have a name.

    `line` is what errors call the header. DuckDB does not distinguish upper and lower case, so of
    names that differ in case alone the first one counts.
    """
    for name in (*request.columns, *request.rules.kinds):
        if (name not in header or not name) and request.rules.skip_rows:
            # If too many lines were skipped, this one is a record, which no error may quote.
            raise UnsupportedData(
                *(f"the {line} does not name a column {name!r}. Check ", Argument("skip_rows")),
                ": it skips the lines above the header, and no others.",
            )
        if name not in header or not name:
            raise missing_column(name, filter(None, header))
        if header.count(name) > 1:
            raise UnsupportedData(
                f"the {line} names {name!r} more than once. Rename one of the columns."
            )
    if request.columns:
        return request.columns
    first: dict[str, str] = {}
    for name in filter(None, header):
        first.setdefault(name.casefold(), name)
    return list(first.values())
