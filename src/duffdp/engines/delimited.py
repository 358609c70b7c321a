"""Files whose first line names the columns, as relations of DuckDB.

Every field stays as it stands but those of the columns of values, which become what the public
domain needs. Nothing is found by looking at records. A record that is not well-formed changes
neither how another one is read nor whether there is an error.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from itertools import repeat
from typing import TYPE_CHECKING, NamedTuple

from duffdp.engines.sql import AS_USUAL, FieldRules, quote_paths, read_fields
from duffdp.engines.text_records import (
    BYTE_ORDER_MARK,
    LONGEST,
    Form,
    open_bytes,
    read_csv,
    read_records,
    split_names,
    survey,
    unpacked_name,
)
from duffdp.engines.text_tables import TABLES, fill_table
from duffdp.errors import UnsupportedData

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection, DuckDBPyRelation

DELIMITERS = (b",", b";", b"|", b"\t")


class Layout(NamedTuple):
    """What the first line says."""

    delimiter: str
    names: tuple[str, ...]


class DelimitedFiles:
    """Files with the same first line.

    Parameters
    ----------
    connection
        Where records are read into.
    paths
        The files, in order.
    columns
        Those that are needed; if there are none, all are known and the first one is read.
    values, kind
        The columns of values, and the kind of the public domain that they are read for.
    rules
        What the caller says about fields.
    """

    def __init__(
        self,
        connection: DuckDBPyConnection,
        paths: list[str],
        columns: list[str],
        values: tuple[str, ...],
        kind: str,
        rules: FieldRules = AS_USUAL,
    ) -> None:
        self._connection = connection
        self._layout, self._paths = _one_layout(paths)
        known = self._layout.names
        for name in (*columns, *rules.kinds):
            if name not in known or not name:
                raise missing_column(name, filter(None, known))
            if known.count(name) > 1:
                raise UnsupportedData(
                    f"the first line names {name!r} more than once. Rename one of the columns."
                )
        names = columns or _all_names(known)
        self._fields = list(map("f{}".format, range(len(known))))
        self._quoted = dict(zip(self._paths, quote_paths(self._paths), strict=True))
        #: The columns and their types, which the records have no say in.
        self.types = connection.sql(
            f"SELECT {read_fields(zip(names, repeat('NULL::VARCHAR')), values, kind, rules)} "
            "WHERE false"
        )
        # Where no column is needed, records are, and the first field stands for them.
        names = columns or names[:1]
        self._places = list(map(known.index, names))
        self._needed = list(map("f{}".format, self._places))
        self._select = read_fields(zip(names, self._needed, strict=True), values, kind, rules)

    def rows(self) -> DuckDBPyRelation:
        """All records, parsed once for all queries that follow, in a table that may spill to
        disk.
        """
        import duckdb

        try:
            return self._rows(by_duckdb=True)
        # packed in a way that DuckDB does not know: no record may decide about that
        except duckdb.Error:
            return self._rows(by_duckdb=False)

    def _rows(self, by_duckdb: bool) -> DuckDBPyRelation:
        connection, layout, needed = self._connection, self._layout, ", ".join(self._needed)
        lines, parts = [], []
        for path in self._paths:
            if read_layout(path) != layout:
                raise UnsupportedData(
                    f"the first line of {path!r} is another one than when the release began. Make "
                    "a copy, and release that."
                )
            form = survey(path, layout.delimiter) if by_duckdb else Form.MIXED
            if form is Form.LINES:
                lines.append(self._quoted[path])
            else:
                parts.append(f"SELECT {needed} FROM {self._table(path, form)}")
        if lines:
            reader = read_csv(lines, layout.delimiter, self._fields, header=True, quoted=False)
            parts.append(f"SELECT {needed} FROM {reader}")
        # In a file of one column an empty line and an empty field look the same: neither is a
        # record.
        present = " WHERE f0 IS NOT NULL" if len(self._fields) == 1 else ""
        name = f"duffdp_rows_{next(TABLES)}"
        connection.execute(
            f"CREATE TEMP TABLE {name} AS SELECT {self._select} FROM "
            f"({' UNION ALL '.join(parts)}){present}"
        )
        return connection.table(name)

    def _table(self, path: str, form: Form) -> str:
        """A table of the needed fields of a file with quotation marks, or that is not
        well-formed.
        """
        import duckdb

        layout, name = self._layout, f"duffdp_rows_{next(TABLES)}"
        columns = " VARCHAR, ".join(self._needed)
        self._connection.execute(f"CREATE TEMP TABLE {name} ({columns} VARCHAR)")
        if form is Form.QUOTED:
            reader = read_csv(
                [self._quoted[path]], layout.delimiter, self._fields, header=True, quoted=True
            )
            try:
                self._connection.execute(
                    f"INSERT INTO {name} SELECT {', '.join(self._needed)} FROM {reader}"
                )
                return name
            except duckdb.Error:  # nothing is filled in: a record has other fields than the header
                pass
        with open_bytes(path) as file:
            records = read_records(file, layout.delimiter.encode(), len(layout.names))
            needed = ([record[place] for place in self._places] for record in records)
            fill_table(self._connection, name, needed)
        return name


def _one_layout(paths: list[str]) -> tuple[Layout, list[str]]:
    """The layout that all files share, and those that have a first line at all."""
    layouts = {path: layout for path in paths if (layout := read_layout(path)) is not None}
    if not layouts:
        raise UnsupportedData(
            f"the file {paths[0]!r} is empty. Its first line must name the columns."
        )
    first, layout = next(iter(layouts.items()))
    for path, other in layouts.items():
        if other != layout:
            raise UnsupportedData(
                f"the first lines of {first!r} and {path!r} differ. Files that are read together "
                "must have the same columns, "
                "in the same order and with the same delimiter."
            )
    return layout, list(layouts)


def read_layout(path: str) -> Layout | None:
    """The layout of a file of text with delimiters; None if there is not even a first line."""
    with open_bytes(path) as file:
        line = file.readline(LONGEST + 1).removeprefix(BYTE_ORDER_MARK)
    if not line:
        return None
    line = line.removesuffix(b"\n").removesuffix(b"\r")
    if len(line) > LONGEST or b"\0" in line or b"\r" in line:
        raise UnsupportedData(
            f"the first line of {path!r} names no columns: it is too long, or not text of UTF-8 "
            "with line feeds. "
            "Save the file as CSV in UTF-8."
        )
    bare = re.sub(rb'"(?:[^"]|"")*"', b"", line)
    tabs = unpacked_name(path).endswith(".tsv")
    # The first of those that tie.
    delimiter = max(DELIMITERS[::-1] if tabs else DELIMITERS, key=bare.count)
    names = split_names(line, delimiter)
    if not any(names):
        raise UnsupportedData(f"the first line of {path!r} is empty. It must name the columns.")
    return Layout(delimiter.decode(), names)


def _all_names(names: tuple[str, ...]) -> list[str]:
    """Every column that has a name, the first of those alike; DuckDB does not tell upper from
    lower case.
    """
    found: dict[str, str] = {}
    for name in filter(None, names):
        found.setdefault(name.casefold(), name)
    return list(found.values())


def missing_column(name: str, known: Iterable[str]) -> UnsupportedData:
    """What to say about a column that is not there."""
    names = list(known)
    near = difflib.get_close_matches(name, names, 3, 0.5) or names[:8]
    return UnsupportedData(f"there is no column {name!r}. Hint: {', '.join(map(repr, near))}.")
