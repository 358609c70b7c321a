"""Export of released values: frames, files and tables for people."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, NamedTuple

from duffdp._engines.one_type import of_one_type
from duffdp._facts import as_json
from duffdp._optional import load
from duffdp._pipeline.number_text import NumberFormat, as_text
from duffdp._text import as_csv_text, as_html, as_latex, as_markdown, visible
from duffdp.errors import Argument, DuffError

EXTRA = "tables"  # the extra that installs all libraries used here
_STYLE = "border-collapse:collapse;font-variant-numeric:tabular-nums"
_CELL = "padding:.2em .8em;text-align:{side};border-bottom:1px solid rgba(128,128,128,.35)"
_TITLE = "font-weight:600;margin:.6em 0 .2em"
_CARD = (
    "display:inline-block;max-width:40em;padding:.5em 1em;border-radius:6px;"
    "border:1px solid rgba(128,128,128,.35)"
)
_NUMBER = "margin:.1em 0;font-size:1.5em;font-variant-numeric:tabular-nums"
_BESIDE = "font-size:.8em;opacity:.8"
_MAX_SPREADSHEET_NUMBER = 10**15  # larger numbers are written as text: 15 digits are exact
_MAX_WIDTH = 60  # letters of a spreadsheet column
_SHEET_MARKS = str.maketrans(dict.fromkeys("[]:*?/\\'", " "))  # that names of sheets must not have
_MAX_SHEET_NAME = 31
DECIMAL_MARKS = (".", ",")
SEPARATORS = (",", ";", "\t", "|")
Path = str | os.PathLike[str]
ListedFacts = Sequence[tuple[str, str]]  # what is public about numbers, each under its name


class DisplayTable(NamedTuple):
    """A table for people: texts, intervals beside their numbers, and uninformative rows muted."""

    header: list[str]
    rows: list[list[str]]
    caption: str
    muted: Sequence[bool] = ()
    text_columns: int = 0  # the first so many are names, the others numbers
    title: str = ""


class WorkbookSheet(NamedTuple):
    """A sheet of a workbook: columns of values, each with a format."""

    name: str
    columns: Mapping[str, Sequence[Any]]
    formats: Mapping[str, NumberFormat] = {}


class Exportable:
    """Base of objects with columns of values, which can be exported as a frame, a file or HTML.

    Names and keys are public and may hold anything: they are escaped in every format.

    Methods
    -------
    to_pandas, to_polars, to_arrow, to_csv, to_excel, to_parquet, to_html, to_latex, to_markdown,
    to_text
    """

    __slots__ = ()

    def wide(self) -> dict[str, list[Any]]:
        """The columns by their names, as Python values."""
        raise NotImplementedError

    def display_tables(self) -> list[DisplayTable]:
        """The tables for people: one, or one for each statistic if they are cross tables."""
        raise NotImplementedError

    def number_formats(self) -> dict[str, NumberFormat]:
        """The formats of columns that are rounded for readers."""
        return {}

    def rounded(self, raw: bool = False) -> dict[str, list[Any]]:
        """The columns for readers, with rounded numbers unless `raw` is true."""
        formats = {} if raw else self.number_formats()
        return {
            name: [formats[name].number(value) for value in values] if name in formats else values
            for name, values in self.wide().items()
        }

    def facts_listed(self) -> ListedFacts:
        """Public facts about the numbers, for the second sheet of a workbook."""
        return []

    def to_pandas(self) -> Any:
        """The columns as a pandas frame."""
        return load("pandas", EXTRA).DataFrame(self._typed())

    def to_polars(self) -> Any:
        """The columns as a polars frame."""
        return load("polars", EXTRA).DataFrame(self._typed())

    def to_arrow(self) -> Any:
        """The columns as a pyarrow table."""
        return load("pyarrow", EXTRA).table(self._typed())

    def to_parquet(self, path: Path) -> None:
        """Write the columns to a Parquet file."""
        load("pyarrow.parquet", EXTRA).write_table(self.to_arrow(), path)

    def to_csv(
        self,
        path: Path | None = None,
        *,
        separator: str = ",",
        decimal: str = ".",
        raw: bool = False,
    ) -> str:
        """CSV text, also written to `path` if there is one.

        Numbers are rounded for readers unless `raw` is true. Text that a spreadsheet would read as
        a formula gets an apostrophe in front.
        """
        check_csv(separator, decimal)
        columns, text = self.rounded(raw), io.StringIO()
        rows = csv.writer(text, lineterminator="\n", delimiter=separator)
        rows.writerow(map(as_csv_text, columns))
        for row in zip(*columns.values(), strict=True):
            rows.writerow(csv_cell(cell, decimal) for cell in row)
        return _write(text.getvalue(), path)

    def sheets(self) -> list[WorkbookSheet]:
        """The sheets of a workbook."""
        return [WorkbookSheet("table", self.rounded(), self.number_formats())]

    def to_excel(self, path: Path) -> None:
        """Write an Excel workbook: the numbers with formats, and a sheet with the public facts
        about them, without formulas or links.
        """
        if str(path).lower().endswith(".xls"):  # which Excel would call damaged
            raise DuffError.about("path", str(path), "the path of an .xlsx file", "table.xlsx")
        packed = io.BytesIO()  # a file that cannot be closed would warn when it is collected
        book = load("xlsxwriter", EXTRA).Workbook(packed)
        facts = self.facts_listed()
        fact_sheets = [
            WorkbookSheet("about", {"fact": [n for n, _ in facts], "value": [v for _, v in facts]})
        ]
        sheet_names: set[str] = set()
        for sheet in [*self.sheets(), *(fact_sheets if facts else [])]:
            _write_sheet(book, sheet, _sheet_name(sheet.name, sheet_names))
        book.close()
        with open(path, "wb") as file:
            file.write(packed.getbuffer())

    def to_text(self) -> str:
        """Aligned columns of text, as a terminal shows them."""
        parts = []
        for table in self.display_tables():
            lines = [[*map(visible, row)] for row in (table.header, *table.rows)]
            aligned = aligned_columns(lines, table.text_columns)
            parts.append("\n".join([*filter(None, [visible(table.title)]), *aligned]))
        captions = dict.fromkeys(visible(table.caption) for table in self.display_tables())
        return "\n\n".join(parts) + "".join(f"\n{caption}" for caption in captions if caption)

    def to_markdown(self, path: Path | None = None) -> str:
        """Markdown tables, also written to `path` if there is one."""
        parts = []
        for table in self.display_tables():
            sides = ["---" if i < table.text_columns else "--:" for i in range(len(table.header))]
            lines = [list(map(as_markdown, row)) for row in (table.header, *table.rows)]
            text = "\n".join(f"| {' | '.join(row)} |" for row in (lines[0], sides, *lines[1:]))
            title = f"**{as_markdown(table.title)}**\n\n" if table.title else ""
            parts.append(f"{title}{text}\n\n")
        captions = dict.fromkeys(as_markdown(table.caption) for table in self.display_tables())
        return _write("".join(parts) + "".join(f"{caption}\n" for caption in captions), path)

    def to_latex(self, path: Path | None = None) -> str:
        """LaTeX tables for the package booktabs, also written to `path` if there is one."""
        return _write("\n".join(map(as_latex_table, self.display_tables())), path)

    def to_html(self, path: Path | None = None) -> str:
        """HTML tables, also written to `path` if there is one."""
        return _write("".join(map(as_html_table, self.display_tables())), path)

    def _repr_html_(self) -> str:
        *first, last = self.display_tables()
        return "".join(map(as_html_table, first)) + as_html_table(last, self.notes)

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

    def display_tables(self) -> list[DisplayTable]:
        rows = [list(map(as_text, row)) for row in zip(*self._columns.values(), strict=True)]
        return [DisplayTable(list(self._columns), rows, self._caption, (), len(self._columns))]

    def __str__(self) -> str:
        return self.to_text()

    def __repr__(self) -> str:
        caption = visible(self._caption.removesuffix("."))
        return f"<{caption}: {', '.join(map(visible, self._columns))}>"


def aligned_columns(lines: Sequence[Sequence[str]], text_columns: int) -> list[str]:
    """Lines of aligned columns: the first ones to the left, numbers to the right."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return [
        "  ".join(
            text.ljust(width) if i < text_columns else text.rjust(width)
            for i, (text, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    ]


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
    title = f'<p style="{_TITLE}">{as_html(table.title)}</p>' if table.title else ""
    return f'{title}<table style="{_STYLE}">{caption}{head}{body}</table>'


def as_html_card(title: str, numbers: Sequence[tuple[str, str, str]], below: Sequence[str]) -> str:
    """A few numbers for a notebook, each with its name, its text and its interval."""
    texts = [
        f'{as_html(text)} <span style="{_BESIDE}">{as_html(f"({ends})" if ends else "")}</span>'
        for _, text, ends in numbers
    ]
    if len(numbers) == 1:
        body = f'<p style="{_NUMBER}">{texts[0]}</p>'
    else:
        rows = [
            f'<tr><td style="padding-right:1em">{as_html(name)}</td><td>{text}</td></tr>'
            for (name, _, _), text in zip(numbers, texts, strict=True)
        ]
        body = f'<table style="{_STYLE};margin:.2em 0"><tbody>{"".join(rows)}</tbody></table>'
    small = "<br>".join(map(as_html, below))
    first = f'<p style="margin:0;font-weight:600">{as_html(title)}</p>'
    last = f'<p style="margin:0;font-size:.85em;opacity:.8">{small}</p>'
    return f'<div style="{_CARD}">{first}{body}{last}</div>'


def as_latex_table(table: DisplayTable) -> str:
    """A table of LaTeX in the style of booktabs; its caption is a note below it."""
    count = len(table.header)
    sides = "l" * table.text_columns + "r" * (count - table.text_columns)
    title = rf"\multicolumn{{{count}}}{{l}}{{\textbf{{{as_latex(table.title)}}}}} \\"
    lines = [
        rf"\begin{{tabular}}{{{sides}}}",
        r"\toprule",
        *([title, r"\midrule"] if table.title else []),
        " & ".join(map(as_latex, table.header)) + r" \\",
        r"\midrule",
        *(" & ".join(map(as_latex, row)) + r" \\" for row in table.rows),
        r"\bottomrule",
        r"\end{tabular}",
        "",
        rf"{{\footnotesize {as_latex(table.caption)}}}",
        "",
    ]
    return "\n".join(lines)


def check_csv(separator: object, decimal: object) -> None:
    """Refuse marks that CSV cannot be read with."""
    if separator not in SEPARATORS:
        raise DuffError.about("separator", separator, "a comma, semicolon, tab or bar", ";")
    if decimal not in DECIMAL_MARKS:
        raise DuffError.about("decimal", decimal, "a point or a comma", ",")
    if decimal == separator:
        raise DuffError(
            *(Argument("decimal"), f" must differ from the separator, got {decimal!r} for both. "),
            *("Pass for example ", Argument("separator", ";"), "."),
        )


def csv_cell(value: object, decimal: str) -> Any:
    """One cell of CSV; numbers have this decimal mark."""
    if decimal != "." and isinstance(value, float | Decimal):
        return str(as_json(value)).replace(".", decimal)
    cell = as_json(value)
    return as_csv_text(cell) if isinstance(cell, str) else cell


def _write_sheet(book: Any, sheet: WorkbookSheet, name: str) -> None:
    """One sheet: a bold header that stays, numbers with formats, columns as wide as they need."""
    page = book.add_worksheet(name)
    bold = book.add_format({"bold": True, "bottom": 1, "text_wrap": True, "valign": "bottom"})
    wrap = book.add_format({"text_wrap": True, "valign": "top"})
    for column, (header, values) in enumerate(sheet.columns.items()):
        page.write_string(0, column, visible(header), bold)
        form = sheet.formats.get(header)
        style = None if form is None else book.add_format({"num_format": form.excel})
        width = min(len(header), 24)
        for row, value in enumerate(values, 1):
            if isinstance(value, bool):
                page.write_boolean(row, column, value)
            elif isinstance(value, Decimal) and abs(value) <= _MAX_SPREADSHEET_NUMBER:
                page.write_number(row, column, float(value), style)
            elif isinstance(value, int | float) and abs(value) <= _MAX_SPREADSHEET_NUMBER:
                page.write_number(row, column, value, style)
            elif value is not None:
                page.write_string(row, column, visible(str(as_json(value))), wrap)
            text = as_text(value) if form is None else form.with_unit(value)
            width = max(width, len(text))
        page.set_column(column, column, min(width + 2, _MAX_WIDTH))
    page.freeze_panes(1, 0)


def _sheet_name(name: str, sheet_names: set[str]) -> str:
    """A name that a workbook takes, different from those in use."""
    clean = visible(name).translate(_SHEET_MARKS).strip()[:_MAX_SHEET_NAME] or "sheet"
    unique, number = clean, 2
    while unique.casefold() in sheet_names or unique.casefold() == "history":
        unique = f"{clean[: _MAX_SHEET_NAME - 4]} {number}"
        number += 1
    sheet_names.add(unique.casefold())
    return unique


def _cells(tag: str, texts: Sequence[str], sides: Sequence[str]) -> str:
    return "".join(
        f'<{tag} style="{_CELL.format(side=side)}">{as_html(text)}</{tag}>'
        for text, side in zip(texts, sides, strict=True)
    )


def _write(text: str, path: Path | None) -> str:
    if path is not None:
        with open(path, "w", encoding="utf-8", newline="") as file:
            file.write(text)
    return text
