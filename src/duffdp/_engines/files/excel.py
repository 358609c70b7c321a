"""Sheets of Excel workbooks, whose first row names the columns.

Every cell has a type of its own there. It becomes the text that a CSV file would have, and that is
read as one of a CSV file is: as declared, or as the public domain needs it. A cell that does not
fit is missing, and has no say in how another one is read.
"""

from __future__ import annotations

import datetime as dt
import warnings
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from duffdp._engines.addresses import SEPARATOR
from duffdp._engines.files.copied import TextReader
from duffdp._engines.files.fields import FieldLabels, FieldRules, read_field
from duffdp._engines.files.format import (
    Format,
    OpenRequest,
    ReadRequest,
    RowSource,
    header_columns,
)
from duffdp._optional import load
from duffdp._parameters import DEFAULT_ENCODING
from duffdp.errors import Argument, DuffError, UnsupportedData, did_you_mean, quoted_names

# Before a number or a date, which is written as usual, whatever is said about texts.
_TYPED = "\x1f"


class Sheet(TextReader):
    """One sheet of one workbook."""

    def __init__(self, request: OpenRequest) -> None:
        (path, *others), rules = request.paths, request.rules
        super().__init__(request.connection, request.name, DEFAULT_ENCODING)
        if others:
            raise UnsupportedData(f"workbooks are read one at a time, got a pattern for {path!r}.")
        if rules.encoding != DEFAULT_ENCODING:
            raise UnsupportedData(
                Argument("encoding"),
                f" is for text files, got {path!r}: workbooks declare their own. Leave it out.",
            )
        self._path, self._sheet, self._skip_rows = path, request.part, rules.skip_rows
        self._header_name = f"row {rules.skip_rows + 1}" if rules.skip_rows else "first row"
        self._header = _header(islice(self._cells(), rules.skip_rows, None))
        if not any(self._header):
            raise UnsupportedData(
                f"the {self._header_name} of the sheet in {path!r} is empty. It must name the "
                "columns."
            )

    def columns(self, request: ReadRequest, rules: FieldRules) -> RowSource:
        names = header_columns(self._header, request.columns, rules, self._header_name)
        return self.source(names, request.columns or names[:1], request, rules)

    def field(self, text: str, kind: str | FieldLabels, rules: FieldRules, zone: str | None) -> str:
        typed = read_field(f"substr({text}, 2)", kind, zone=zone)
        return (
            f"CASE WHEN starts_with({text}, '{_TYPED}') THEN {typed} "
            f"ELSE {read_field(text, kind, rules, zone)} END"
        )

    def parse(self, names: Sequence[str], by_duckdb: bool) -> str:
        """All rows that are not empty."""
        table = self.stage([f"t{at}" for at in range(len(names))])
        self.insert(table, self._records(list(map(self._header.index, names))))
        return f"SELECT * FROM {table}"

    def _records(self, places: Sequence[int]) -> Iterator[list[bytes]]:
        rows, width = islice(self._cells(), self._skip_rows, None), len(self._header)
        if _header(rows) != self._header:
            raise UnsupportedData(
                f"the {self._header_name} of the sheet in {self._path!r} has changed since the "
                "release began. Copy the file and use the copy."
            )
        for row in rows:
            cells = [_text(cell) for cell in row[:width]]
            if any(cells):
                cells += [""] * (width - len(cells))
                yield [cells[place].encode(errors="replace") for place in places]

    def _cells(self) -> Iterator[tuple[Any, ...]]:
        """The rows of the sheet, one after the other; no error or warning quotes a cell."""
        openpyxl = load("openpyxl", "excel")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                book = openpyxl.load_workbook(self._path, read_only=True, data_only=True)
                sheet = book[self._chosen(book.sheetnames)]
                sheet.reset_dimensions()  # which need not be true
                yield from sheet.iter_rows(values_only=True)
                book.close()
            except DuffError:
                raise
            except Exception:
                raise _unreadable(self._path) from None

    def _chosen(self, known: list[str]) -> str:
        if self._sheet in known:
            return self._sheet
        if not self._sheet and len(known) == 1:
            return known[0]
        problem = (
            f"there is no sheet {self._sheet!r} in {self._path!r}."
            f"{did_you_mean(self._sheet, known)}"
            if self._sheet
            else f"{self._path!r} has several sheets. Name one, as in "
            f"'{self._path}{SEPARATOR}{known[0]}'."
        )
        raise UnsupportedData(f"{problem} Its sheets are {quoted_names(known)}.")


def sheet_names(path: str) -> list[str]:
    """The sheets of a workbook, in order."""
    openpyxl = load("openpyxl", "excel")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            book = openpyxl.load_workbook(path, read_only=True)
            names = list(book.sheetnames)
            book.close()
        except Exception:
            raise _unreadable(path) from None
    return names


def _unreadable(path: str) -> UnsupportedData:
    return UnsupportedData(f"cannot read {path!r}: it is not a readable Excel workbook.")


def _header(rows: Iterator[tuple[Any, ...]]) -> tuple[str, ...]:
    """The names of columns in the next row."""
    return tuple(_text(cell).removeprefix(_TYPED) for cell in next(rows, ()))


def _text(cell: object) -> str:
    """A cell as a CSV file has it: numbers in short, days and times by ISO 8601."""
    if cell is None:
        return ""
    if isinstance(cell, str):
        return cell.lstrip(_TYPED)
    if isinstance(cell, bool):
        return f"{_TYPED}{str(cell).lower()}"
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < 2**53:
        cell = int(cell)
    if isinstance(cell, int | float):
        return f"{_TYPED}{cell!r}"
    if isinstance(cell, dt.datetime):
        day = cell.time() == dt.time()
        return f"{_TYPED}{cell.date().isoformat() if day else cell.isoformat(sep=' ')}"
    return f"{_TYPED}{cell}"


def _note(path: str) -> str:
    return (
        "every row below the header counts, hidden rows and totals too; only the first of "
        "merged cells has their value, and a formula has the result that was saved"
    )


EXCEL = Format(
    "Excel",
    (".xlsx", ".xlsm"),
    Sheet,
    is_text=True,
    part="a sheet of Excel as 'people.xlsx::sheet'",
    parts=sheet_names,
    note=_note,
)
