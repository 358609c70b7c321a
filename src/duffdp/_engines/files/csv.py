"""CSV and TSV files, whose first line names the columns.

Every field stays as it stands but those of the columns of values, which become what the public
domain needs. Nothing is found by looking at records. A record that is not well-formed changes
neither how another one is read nor whether there is an error.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Sequence
from typing import NamedTuple

from duffdp._engines.files.copied import TextReader
from duffdp._engines.files.fields import PLAIN_FIELDS, FieldRules, quote_paths
from duffdp._engines.files.format import (
    Format,
    OpenRequest,
    ReadRequest,
    RowSource,
    header_columns,
)
from duffdp._engines.files.packing import open_bytes, packed_endings, unpacked_name
from duffdp._engines.files.text_records import (
    BYTE_ORDER_MARK,
    LONGEST,
    Form,
    read_csv,
    read_records,
    skip_lines,
    split_names,
    survey,
)
from duffdp.errors import UnsupportedData

DELIMITERS: tuple[bytes, ...] = (b",", b";", b"|", b"\t")


class Layout(NamedTuple):
    """The delimiter and the column names of a header line."""

    delimiter: str
    names: tuple[str, ...]


class CsvFiles(TextReader):
    """CSV or TSV files with the same first line."""

    def __init__(self, request: OpenRequest) -> None:
        rules = request.rules
        super().__init__(request.connection, request.name, rules.encoding)
        self._rules, self._encoding, self._skip_rows = rules, rules.encoding, rules.skip_rows
        self._layout, self._paths = _one_layout(request.paths, rules)
        self._fields = list(map("f{}".format, range(len(self._layout.names))))
        self._quoted = dict(zip(self._paths, quote_paths(self._paths), strict=True))

    def columns(self, request: ReadRequest, rules: FieldRules) -> RowSource:
        header = _header_name(self._skip_rows)
        names = header_columns(self._layout.names, request.columns, rules, header)
        # Where no column is needed, records are, and the first field stands for them.
        return self.source(names, request.columns or names[:1], request, rules)

    def parse(self, names: Sequence[str], by_duckdb: bool) -> str:
        layout, lines, parts = self._layout, [], []
        places = list(map(layout.names.index, names))
        fields = [self._fields[place] for place in places]
        needed = ", ".join(f"{field} AS t{at}" for at, field in enumerate(fields))
        # In a file of one column an empty line and an empty field look the same: neither is a
        # record.
        present = " WHERE f0 IS NOT NULL" if len(self._fields) == 1 else ""
        for path in self._paths:
            if read_layout(path, self._rules) != layout:
                raise UnsupportedData(
                    f"the {_header_name(self._skip_rows)} of {path!r} has changed since the "
                    "release began. Copy the file and use the copy."
                )
            form = Form.MIXED
            if by_duckdb:
                form = survey(path, layout.delimiter, self._encoding)
            if form is Form.LINES:
                lines.append(self._quoted[path])
            else:
                table = self._stage_file(path, form, places)
                parts.append(f"SELECT {needed} FROM {table}{present}")
        if lines:
            reader = read_csv(
                *(lines, layout.delimiter, self._fields),
                header=True,
                quoted=False,
                skip_rows=self._skip_rows,
            )
            parts.append(f"SELECT {needed} FROM {reader}{present}")
        return " UNION ALL ".join(parts)

    def _stage_file(self, path: str, form: Form, places: Sequence[int]) -> str:
        """A table of the needed fields of a file with quotation marks, or that is not
        well-formed.
        """
        import duckdb

        layout, fields = self._layout, [self._fields[place] for place in places]
        table = self.stage(fields)
        if form is Form.QUOTED and not self._skip_rows:
            reader = read_csv(
                [self._quoted[path]], layout.delimiter, self._fields, header=True, quoted=True
            )
            try:
                self.connection.execute(
                    f"INSERT INTO {table} SELECT {', '.join(fields)} FROM {reader}"
                )
                return table
            except duckdb.Error:  # nothing is filled in: a record has other fields than the header
                pass
        with open_bytes(path) as file:
            records = read_records(
                file, layout.delimiter.encode(), len(layout.names), self._skip_rows
            )
            self.insert(table, ([record[place] for place in places] for record in records))
        return table


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
    if line.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise UnsupportedData(
            f"{path!r} is in UTF-16, which is not read. Save it as 'CSV UTF-8' in Excel, or "
            "convert it with: iconv -f UTF-16 -t UTF-8."
        )
    if len(line) > LONGEST or b"\0" in line or b"\r" in line:
        raise UnsupportedData(
            f"the {header} of {path!r} has no column names: it is too long, or the file is not "
            "UTF-8 text with line feeds. Save the file as CSV in UTF-8."
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


def _note(path: str) -> str:
    return (
        "every line below the header counts as a row, totals too; lines with too many fields are "
        "ignored"
    )


CSV = Format("CSV, TSV", packed_endings(".csv", ".tsv"), CsvFiles, is_text=True, note=_note)
