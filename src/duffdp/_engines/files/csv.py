"""CSV and TSV files, whose first line names the columns.

Every field stays as it stands but those of the columns of values, which become what the public
domain needs. Nothing is found by looking at records. A record that is not well-formed changes
neither how another one is read nor whether there is an error.
"""

from __future__ import annotations

import re
from itertools import repeat
from typing import TYPE_CHECKING, NamedTuple

from duffdp._engines.files.fields import PLAIN_FIELDS, FieldRules, quote_paths, read_fields
from duffdp._engines.files.format import Format, Reader, ReadRequest, header_columns
from duffdp._engines.files.packing import open_bytes, packed_endings, unpacked_name
from duffdp._engines.files.text_records import (
    BYTE_ORDER_MARK,
    LONGEST,
    TABLE_NUMBERS,
    Form,
    fill_table,
    read_csv,
    read_records,
    read_with_fallback,
    skip_lines,
    split_names,
    survey,
)
from duffdp.errors import UnsupportedData

if TYPE_CHECKING:
    from duckdb import DuckDBPyRelation

DELIMITERS: tuple[bytes, ...] = (b",", b";", b"|", b"\t")


class Layout(NamedTuple):
    """The delimiter and the column names of a header line."""

    delimiter: str
    names: tuple[str, ...]


class CsvFiles(Reader):
    """CSV or TSV files with the same first line."""

    def __init__(self, request: ReadRequest) -> None:
        self._connection, rules = request.connection, request.rules
        self._rules, self._encoding, self._skip_rows = rules, rules.encoding, rules.skip_rows
        self._layout, self._paths = _one_layout(request.paths, rules)
        known = self._layout.names
        names = header_columns(known, request, _header_name(rules.skip_rows))
        self.zones = rules.zones
        self.untyped = [name for name in names if name not in rules.kinds]
        self._fields = list(map("f{}".format, range(len(known))))
        self._quoted = dict(zip(self._paths, quote_paths(self._paths), strict=True))
        as_values = request.values, request.kind, rules
        #: The columns and their types, which the records have no say in.
        self.types = request.connection.sql(
            f"SELECT {read_fields(zip(names, repeat('NULL::VARCHAR')), *as_values)} WHERE false"
        )
        # Where no column is needed, records are, and the first field stands for them.
        names = request.columns or names[:1]
        self._places = list(map(known.index, names))
        self._needed = list(map("f{}".format, self._places))
        self._select = read_fields(zip(names, self._needed, strict=True), *as_values)

    def rows(self) -> DuckDBPyRelation:
        return read_with_fallback(self._rows)

    def _rows(self, by_duckdb: bool) -> DuckDBPyRelation:
        connection, layout, needed = self._connection, self._layout, ", ".join(self._needed)
        lines, parts = [], []
        for path in self._paths:
            if read_layout(path, self._rules) != layout:
                raise UnsupportedData(
                    f"the {_header_name(self._skip_rows)} of {path!r} is another one than when "
                    "the release began. Make a copy, and release that."
                )
            form = Form.MIXED
            if by_duckdb:
                form = survey(path, layout.delimiter, self._encoding)
            if form is Form.LINES:
                lines.append(self._quoted[path])
            else:
                parts.append(f"SELECT {needed} FROM {self._table(path, form)}")
        if lines:
            reader = read_csv(
                *(lines, layout.delimiter, self._fields),
                header=True,
                quoted=False,
                skip_rows=self._skip_rows,
            )
            parts.append(f"SELECT {needed} FROM {reader}")
        # In a file of one column an empty line and an empty field look the same: neither is a
        # record.
        present = " WHERE f0 IS NOT NULL" if len(self._fields) == 1 else ""
        name = f"duffdp_rows_{next(TABLE_NUMBERS)}"
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

        layout, name = self._layout, f"duffdp_rows_{next(TABLE_NUMBERS)}"
        columns = " VARCHAR, ".join(self._needed)
        self._connection.execute(f"CREATE TEMP TABLE {name} ({columns} VARCHAR)")
        if form is Form.QUOTED and not self._skip_rows:
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
            records = read_records(
                file, layout.delimiter.encode(), len(layout.names), self._skip_rows
            )
            needed = ([record[place] for place in self._places] for record in records)
            fill_table(self._connection, name, needed, self._encoding)
        return name


def _header_name(skip_rows: int) -> str:
    """The name of the header line in errors."""
    return f"line {skip_rows + 1}" if skip_rows else "first line"


def _one_layout(paths: list[str], rules: FieldRules) -> tuple[Layout, list[str]]:
    """The layout that all files share, and those that have a header at all."""
    layouts = {path: layout for path in paths if (layout := read_layout(path, rules)) is not None}
    if not layouts:
        raise UnsupportedData(
            f"the file {paths[0]!r} is empty. Its {_header_name(rules.skip_rows)} must name the "
            "columns."
        )
    first, layout = next(iter(layouts.items()))
    for path, other in layouts.items():
        if other != layout:
            raise UnsupportedData(
                f"the headers of {first!r} and {path!r} differ. Files that are read together "
                "must have the same columns, "
                "in the same order and with the same delimiter."
            )
    return layout, list(layouts)


def read_layout(path: str, rules: FieldRules = PLAIN_FIELDS) -> Layout | None:
    """The layout of a text file with delimiters; None if there is no header."""
    skip_rows, encoding = rules.skip_rows, rules.encoding
    header = _header_name(skip_rows)
    with open_bytes(path) as file:
        skip_lines(file, skip_rows)
        line = file.readline(LONGEST + 1).removeprefix(BYTE_ORDER_MARK)
    if not line:
        return None
    line = line.removesuffix(b"\n").removesuffix(b"\r")
    if len(line) > LONGEST or b"\0" in line or b"\r" in line:
        raise UnsupportedData(
            f"the {header} of {path!r} names no columns: it is too long, or not text of UTF-8 "
            "with line feeds. "
            "Save the file as CSV in UTF-8."
        )
    bare = re.sub(rb'"(?:[^"]|"")*"', b"", line)
    tabs = unpacked_name(path).endswith(".tsv")
    # The first of those that tie; in a file of one column none that numbers are written with.
    delimiters = DELIMITERS[::-1] if tabs else DELIMITERS
    if not any(map(bare.count, delimiters)):
        marks = rules.decimal + (rules.thousands or "")
        delimiters = tuple(mark for mark in delimiters if mark.decode() not in marks)
    delimiter = max(delimiters, key=bare.count)
    names = split_names(line, delimiter, encoding)
    if not any(names):
        raise UnsupportedData(f"the {header} of {path!r} is empty. It must name the columns.")
    return Layout(delimiter.decode(), names)


CSV = Format("CSV, TSV", packed_endings(".csv", ".tsv"), CsvFiles, is_text=True)
