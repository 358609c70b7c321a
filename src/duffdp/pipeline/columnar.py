"""Released values as frames, files and pages, each by the library that makes such things."""

from __future__ import annotations

import csv
import datetime as dt
import io
import os
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from duffdp.engines.tables.table import of_one_type
from duffdp.facts import as_json
from duffdp.optional import load
from duffdp.pipeline.span import Span
from duffdp.printable import as_csv_text, as_html, as_markdown, visible

EXTRA = "tables"  # what to install for all of this
_STYLE = "border-collapse:collapse;font-variant-numeric:tabular-nums"
_CELL = "padding:.2em .8em;text-align:{side};border-bottom:1px solid rgba(128,128,128,.35)"
_EXACT = 10**15  # whole numbers up to here are numbers in a spreadsheet, others text
TOO_FEW = "too few to tell"  # in the place of an interval that is all that could come out
Path = str | os.PathLike[str]


class Readable(NamedTuple):
    """A table for people: texts, an interval beside its number, and which rows tell little."""

    header: list[str]
    rows: list[list[str]]
    caption: str
    muted: Sequence[bool] = ()
    text_columns: int = 0  # so many from the left are names, others numbers


class Columnar:
    """What has columns of values, and can be handed on as a frame, a file or a page.

    Names and keys are public, and may hold anything: they come out as text that does nothing.
    """

    __slots__ = ()

    def wide(self) -> dict[str, list[Any]]:
        """The columns by their names, as Python has them."""
        raise NotImplementedError

    def readable(self) -> Readable:
        """The same for people."""
        raise NotImplementedError

    def to_pandas(self) -> Any:
        """A frame of pandas."""
        return load("pandas", EXTRA).DataFrame(self._typed())

    def to_polars(self) -> Any:
        """A frame of polars."""
        return load("polars", EXTRA).DataFrame(self._typed())

    def to_arrow(self) -> Any:
        """A table of Arrow."""
        return load("pyarrow", EXTRA).table(self._typed())

    def to_parquet(self, path: Path) -> None:
        """Write a Parquet file."""
        load("pyarrow.parquet", EXTRA).write_table(self.to_arrow(), path)

    def to_csv(self, path: Path | None = None) -> str:
        """The text of a CSV, written to `path` if there is one. An apostrophe stands before a text
        that a spreadsheet would take for a formula.
        """
        columns, text = self.wide(), io.StringIO()
        rows = csv.writer(text, lineterminator="\n")
        rows.writerow(map(as_csv_text, columns))
        rows.writerows(map(_csv_cells, zip(*columns.values(), strict=True)))
        return _written(text.getvalue(), path)

    def to_excel(self, path: Path) -> None:
        """Write a workbook with one sheet; nothing in it is a formula or a link."""
        book = load("xlsxwriter", EXTRA).Workbook(os.fspath(path))
        sheet = book.add_worksheet("table")
        bold = book.add_format({"bold": True})
        for at, (name, values) in enumerate(self.wide().items()):
            sheet.write_string(0, at, visible(name), bold)
            for row, value in enumerate(values, 1):
                if isinstance(value, bool):
                    sheet.write_boolean(row, at, value)
                elif isinstance(value, int | float) and abs(value) <= _EXACT:
                    sheet.write_number(row, at, value)
                elif value is not None:
                    sheet.write_string(row, at, visible(str(as_json(value))))
        sheet.freeze_panes(1, 0)
        book.close()

    def to_markdown(self, path: Path | None = None) -> str:
        """A table in Markdown, written to `path` if there is one."""
        told = self.readable()
        sides = ["---" if i < told.text_columns else "--:" for i in range(len(told.header))]
        lines = [list(map(as_markdown, row)) for row in (told.header, *told.rows)]
        table = [lines[0], sides, *lines[1:]]
        text = "\n".join(f"| {' | '.join(row)} |" for row in table)
        return _written(f"{text}\n\n{as_markdown(told.caption)}\n", path)

    def to_latex(self, path: Path | None = None) -> str:
        """A table in LaTeX by pandas, written to `path` if there is one; needs booktabs."""
        told = self.readable()
        load("jinja2", EXTRA)
        pandas = load("pandas", EXTRA)
        rows = [list(map(visible, row)) for row in told.rows]
        sides = "l" * told.text_columns + "r" * (len(told.header) - told.text_columns)
        frame = pandas.DataFrame(rows, columns=list(map(visible, told.header)))
        text = frame.to_latex(index=False, escape=True, column_format=sides)
        return _written(text, path)

    def to_html(self, path: Path | None = None) -> str:
        """A table in HTML, written to `path` if there is one; a notebook shows it by itself."""
        return _written(as_html_table(self.readable()), path)

    def _repr_html_(self) -> str:
        return self.to_html()

    def _typed(self) -> dict[str, list[Any]]:
        """Columns that can be typed."""
        return {name: of_one_type(values) for name, values in self.wide().items()}


class Columns(Columnar):
    """Columns that are given."""

    __slots__ = ("_caption", "_columns")

    def __init__(self, columns: Mapping[str, list[Any]], caption: str) -> None:
        self._columns, self._caption = dict(columns), caption

    def wide(self) -> dict[str, list[Any]]:
        return dict(self._columns)

    def readable(self) -> Readable:
        rows = [list(map(as_text, row)) for row in zip(*self._columns.values(), strict=True)]
        return Readable(list(self._columns), rows, self._caption, (), len(self._columns))

    def __repr__(self) -> str:
        return f"<{visible(self._caption)}: {', '.join(map(visible, self._columns))}>"


def as_text(value: Any) -> str:
    """A value as a person would write it; nothing if there is none."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else ""
    if isinstance(value, dt.timedelta):
        return str(value)
    if isinstance(value, float):
        return f"{value:,.6g}" if abs(value) < 1e6 else f"{value:,.0f}"
    return f"{value:,}" if isinstance(value, int) else str(as_json(value))


def with_ends(span: Span) -> str:
    """A value, and the interval around it if it has one."""
    if span.low is None:
        return TOO_FEW if span.too_few else as_text(span.value)
    told = TOO_FEW if span.too_few else f"{as_text(span.low)} to {as_text(span.high)}"
    return f"{as_text(span.value)} ({told})"


def as_html_table(told: Readable) -> str:
    """A table for a notebook, which has its own colours."""
    sides = ["left" if i < told.text_columns else "right" for i in range(len(told.header))]
    muted = told.muted or [False] * len(told.rows)
    rows = [
        f'<tr style="opacity:.5">{line}</tr>' if grey else f"<tr>{line}</tr>"
        for line, grey in zip((_cells("td", row, sides) for row in told.rows), muted, strict=True)
    ]
    head = f"<thead><tr>{_cells('th', told.header, sides)}</tr></thead>"
    caption = f'<caption style="caption-side:bottom">{as_html(told.caption)}</caption>'
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


def _written(text: str, path: Path | None) -> str:
    if path is not None:
        with open(path, "w", encoding="utf-8", newline="") as file:
            file.write(text)
    return text
