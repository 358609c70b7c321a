"""Sheets of Excel workbooks, whose first row names the columns.

Every cell has a type of its own there. It becomes the text that a CSV file would have, and that is
read as one of a CSV file is: as declared, or as the public domain needs it. A cell that does not
fit is missing, and has no say in how another one is read.
"""

from __future__ import annotations

import datetime as dt
import warnings
from collections.abc import Iterator
from itertools import islice, repeat
from typing import TYPE_CHECKING, Any

from duffdp._engines.addresses import SEPARATOR
from duffdp._engines.files.fields import FieldLabels, FieldRules, quote_name, read_field
from duffdp._engines.files.format import Format, Reader, ReadRequest, header_columns
from duffdp._engines.files.text_records import TABLE_NUMBERS, fill_table
from duffdp._optional import load
from duffdp._parameters import DEFAULT_ENCODING
from duffdp.errors import Argument, DuffError, UnsupportedData, did_you_mean, quoted_names

if TYPE_CHECKING:
    from duckdb import DuckDBPyRelation

# Before a number or a date, which is written as usual, whatever is said about texts.
_TYPED = "\x1f"


class Sheet(Reader):
    """One sheet of one workbook."""

    def __init__(self, request: ReadRequest) -> None:
        (path, *others), rules = request.paths, request.rules
        if others:
            raise UnsupportedData(f"workbooks are read one at a time, got a pattern for {path!r}.")
        if rules.encoding != DEFAULT_ENCODING:
            raise UnsupportedData(
                Argument("encoding"),
                f" is for text files, got {path!r}: workbooks say theirs. Leave it out.",
            )
        self._connection, self._path, self._sheet = request.connection, path, request.part
        self._skip_rows = rules.skip_rows
        header = next(islice(self._cells(), rules.skip_rows, None), ())
        known = tuple(_text(cell).removeprefix(_TYPED) for cell in header)
        called = f"row {rules.skip_rows + 1}" if rules.skip_rows else "first row"
        if not any(known):
            raise UnsupportedData(
                f"the {called} of the sheet in {path!r} is empty. It must name the columns."
            )
        names = header_columns(known, request, called)
        self.zones = rules.zones
        self.untyped = [name for name in names if name not in rules.kinds]
        kinds: dict[str, str | FieldLabels] = dict.fromkeys(request.values, request.kind)
        kinds |= rules.kinds
        #: The columns and their types, which the records have no say in.
        self.types = request.connection.sql(
            f"SELECT {_fields(zip(names, repeat('NULL::VARCHAR')), kinds, rules)} WHERE false"
        )
        names = request.columns or names[:1]
        self._places, self._width = list(map(known.index, names)), len(known)
        self._texts = [f"f{at}" for at in range(len(names))]
        self._select = _fields(zip(names, self._texts, strict=True), kinds, rules)

    def rows(self) -> DuckDBPyRelation:
        """All rows that are not empty, in a table that may spill to disk."""
        texts, name = (f"duffdp_rows_{next(TABLE_NUMBERS)}" for _ in range(2))
        self._connection.execute(
            f"CREATE TEMP TABLE {texts} ({' VARCHAR, '.join(self._texts)} VARCHAR)"
        )
        fill_table(self._connection, texts, self._records())
        self._connection.execute(f"CREATE TEMP TABLE {name} AS SELECT {self._select} FROM {texts}")
        self._connection.execute(f"DROP TABLE {texts}")
        return self._connection.table(name)

    def _records(self) -> Iterator[list[bytes]]:
        for row in islice(self._cells(), self._skip_rows + 1, None):
            cells = [_text(cell) for cell in row[: self._width]]
            if any(cells):
                cells += [""] * (self._width - len(cells))
                yield [cells[place].encode(errors="replace") for place in self._places]

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
    return UnsupportedData(f"cannot read {path!r}: it is not a readable workbook of Excel.")


def _fields(fields: Any, kinds: dict[str, str | FieldLabels], rules: FieldRules) -> str:
    """Columns from names and texts, each cell by itself."""
    parts = []
    for name, text in fields:
        kind, zone = kinds.get(name, "category"), rules.zones.get(name)
        typed = read_field(f"substr({text}, 2)", kind, zone=zone)
        parts.append(
            f"CASE WHEN starts_with({text}, '{_TYPED}') THEN {typed} "
            f"ELSE {read_field(text, kind, rules, zone)} END AS {quote_name(name)}"
        )
    return ", ".join(parts)


def _text(cell: Any) -> str:
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


EXCEL = Format(
    "Excel",
    (".xlsx", ".xlsm"),
    Sheet,
    is_text=True,
    part="a sheet of Excel as 'people.xlsx::sheet'",
    parts=sheet_names,
)
