"""Export of released values: frames, files and tables for people."""

from __future__ import annotations

import csv
import datetime as dt
import io
import os
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from duffdp._engines.table import of_one_type
from duffdp._facts import as_json
from duffdp._optional import load
from duffdp._pipeline.estimates import Estimate
from duffdp._text import as_csv_text, as_html, as_markdown, visible

EXTRA = "tables"  # the extra that installs all libraries used here
_STYLE = "border-collapse:collapse;font-variant-numeric:tabular-nums"
_CELL = "padding:.2em .8em;text-align:{side};border-bottom:1px solid rgba(128,128,128,.35)"
_MAX_SPREADSHEET_NUMBER = 10**15  # larger numbers are written as text: 15 digits are exact
TOO_FEW = "too few to tell"  # instead of an interval that is the whole range
Path = str | os.PathLike[str]


class DisplayTable(NamedTuple):
    """A table for people: texts, each interval beside its number, rows of little value muted."""

    header: list[str]
    rows: list[list[str]]
    caption: str
    muted: Sequence[bool] = ()
    text_columns: int = 0  # the first so many are names, the others numbers


class Exportable:
    """Base of objects with columns of values, which can be exported as a frame, a file or HTML.

    Names and keys are public and may hold anything: they are escaped in every format.
    """

    __slots__ = ()

    def wide(self) -> dict[str, list[Any]]:
        """The columns by their names, as Python values."""
        raise NotImplementedError

    def display_table(self) -> DisplayTable:
        """The table for people."""
        raise NotImplementedError

    def to_pandas(self) -> Any:
        """A pandas frame."""
        return load("pandas", EXTRA).DataFrame(self._typed())

    def to_polars(self) -> Any:
        """A polars frame."""
        return load("polars", EXTRA).DataFrame(self._typed())

    def to_arrow(self) -> Any:
        """An Arrow table."""
        return load("pyarrow", EXTRA).table(self._typed())

    def to_parquet(self, path: Path) -> None:
        """Write a Parquet file."""
        load("pyarrow.parquet", EXTRA).write_table(self.to_arrow(), path)

    def to_csv(self, path: Path | None = None) -> str:
        """CSV text, also written to `path` if there is one.

        A text that a spreadsheet would take for a formula gets an apostrophe in front.
        """
        columns, text = self.wide(), io.StringIO()
        rows = csv.writer(text, lineterminator="\n")
        rows.writerow(map(as_csv_text, columns))
        rows.writerows(map(_csv_cells, zip(*columns.values(), strict=True)))
        return _write(text.getvalue(), path)

    def to_excel(self, path: Path) -> None:
        """Write a workbook with one sheet; nothing in it is a formula or a link."""
        packed = io.BytesIO()  # a file that cannot be closed would warn when it is collected
        book = load("xlsxwriter", EXTRA).Workbook(packed)
        sheet = book.add_worksheet("table")
        bold = book.add_format({"bold": True})
        for column, (name, values) in enumerate(self.wide().items()):
            sheet.write_string(0, column, visible(name), bold)
            for row, value in enumerate(values, 1):
                if isinstance(value, bool):
                    sheet.write_boolean(row, column, value)
                elif isinstance(value, int | float) and abs(value) <= _MAX_SPREADSHEET_NUMBER:
                    sheet.write_number(row, column, value)
                elif value is not None:
                    sheet.write_string(row, column, visible(str(as_json(value))))
        sheet.freeze_panes(1, 0)
        book.close()
        with open(path, "wb") as file:
            file.write(packed.getbuffer())

    def to_markdown(self, path: Path | None = None) -> str:
        """A Markdown table, also written to `path` if there is one."""
        table = self.display_table()
        sides = ["---" if i < table.text_columns else "--:" for i in range(len(table.header))]
        lines = [list(map(as_markdown, row)) for row in (table.header, *table.rows)]
        text = "\n".join(f"| {' | '.join(row)} |" for row in (lines[0], sides, *lines[1:]))
        return _write(f"{text}\n\n{as_markdown(table.caption)}\n", path)

    def to_latex(self, path: Path | None = None) -> str:
        """A LaTeX table for the package booktabs, also written to `path` if there is one."""
        table = self.display_table()
        load("jinja2", EXTRA)
        pandas = load("pandas", EXTRA)
        rows = [list(map(visible, row)) for row in table.rows]
        sides = "l" * table.text_columns + "r" * (len(table.header) - table.text_columns)
        frame = pandas.DataFrame(rows, columns=list(map(visible, table.header)))
        text = frame.to_latex(index=False, escape=True, column_format=sides)
        return _write(text, path)

    def to_html(self, path: Path | None = None) -> str:
        """An HTML table, also written to `path` if there is one."""
        return _write(as_html_table(self.display_table()), path)

    def _repr_html_(self) -> str:
        return as_html_table(self.display_table(), self.notes)

    @property
    def notes(self) -> list[str]:
        """Lines below the table in a notebook."""
        return []

    def _typed(self) -> dict[str, list[Any]]:
        """Columns whose values have one type each."""
        return {name: of_one_type(values) for name, values in self.wide().items()}


class SimpleTable(Exportable):
    """A table of columns."""

    __slots__ = ("_caption", "_columns")

    def __init__(self, columns: Mapping[str, list[Any]], caption: str) -> None:
        self._columns, self._caption = dict(columns), caption

    def wide(self) -> dict[str, list[Any]]:
        return dict(self._columns)

    def display_table(self) -> DisplayTable:
        rows = [list(map(as_text, row)) for row in zip(*self._columns.values(), strict=True)]
        return DisplayTable(list(self._columns), rows, self._caption, (), len(self._columns))

    def __repr__(self) -> str:
        return f"<{visible(self._caption)}: {', '.join(map(visible, self._columns))}>"


def as_text(value: Any) -> str:
    """A value as a person would write it; empty for None."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else ""
    if isinstance(value, dt.timedelta):
        return str(value)
    if isinstance(value, float):
        return f"{value:,.6g}" if abs(value) < 1e6 else f"{value:,.0f}"
    return f"{value:,}" if isinstance(value, int) else str(as_json(value))


def estimate_text(estimate: Estimate) -> str:
    """A value with its interval, if it has one."""
    value, low, high, too_few = estimate
    if low is None:
        return TOO_FEW if too_few else as_text(value)
    interval = TOO_FEW if too_few else f"{as_text(low)} to {as_text(high)}"
    return f"{as_text(value)} ({interval})"


def as_html_table(table: DisplayTable, notes: Sequence[str] = ()) -> str:
    """A table for a notebook, in the colors of the notebook, with notes below its caption."""
    sides = ["left" if i < table.text_columns else "right" for i in range(len(table.header))]
    muted = table.muted or [False] * len(table.rows)
    rows = [
        f'<tr style="opacity:.5">{line}</tr>' if grey else f"<tr>{line}</tr>"
        for line, grey in zip((_cells("td", row, sides) for row in table.rows), muted, strict=True)
    ]
    head = f"<thead><tr>{_cells('th', table.header, sides)}</tr></thead>"
    below = "<br>".join(map(as_html, (table.caption, *notes)))
    caption = f'<caption style="caption-side:bottom">{below}</caption>'
    body = f"<tbody>{''.join(rows)}</tbody>"
    return f'<table style="{_STYLE}">{caption}{head}{body}</table>'


def _cells(tag: str, texts: Sequence[str], sides: Sequence[str]) -> str:
    return "".join(
        f'<{tag} style="{_CELL.format(side=side)}">{as_html(text)}</{tag}>'
        for text, side in zip(texts, sides, strict=True)
    )


def _csv_cells(row: Sequence[Any]) -> list[Any]:
    cells = map(as_json, row)
    return [as_csv_text(cell) if isinstance(cell, str) else cell for cell in cells]


def _write(text: str, path: Path | None) -> str:
    if path is not None:
        with open(path, "w", encoding="utf-8", newline="") as file:
            file.write(text)
    return text
