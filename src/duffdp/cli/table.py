"""`duffdp table`."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from duffdp.cli import options as o
from duffdp.cli.release import Check
from duffdp.errors import DuffError

if TYPE_CHECKING:
    from duffdp.pipeline.table import Table

File = Annotated[
    Path,
    typer.Argument(
        metavar="PLAN", help="A table in TOML: source, epsilon, statistics, bounds, by, keys."
    ),
]


class TableFormat(StrEnum):
    """How a table is written."""

    table = "table"
    json = "json"
    csv = "csv"
    markdown = "markdown"
    latex = "latex"
    html = "html"
    parquet = "parquet"
    excel = "excel"


ENDINGS = {
    ".json": TableFormat.json,
    ".csv": TableFormat.csv,
    ".md": TableFormat.markdown,
    ".tex": TableFormat.latex,
    ".html": TableFormat.html,
    ".parquet": TableFormat.parquet,
    ".xlsx": TableFormat.excel,
}
NEED_FILES = (TableFormat.parquet, TableFormat.excel)
Written = Annotated[TableFormat, typer.Option("--format", "-f", help="How to write the table.")]


def table(
    plan: File,
    check: Check = False,
    pipe: o.Pipe = None,
    ledger: o.Book = None,
    dataset: o.Dataset = None,
    call_id: o.CallId = None,
    form: Written = TableFormat.table,
    out: o.Out = None,
    report: o.Report = None,
    title: o.Title = o.USUAL_TITLE,
    author: o.Author = None,
) -> None:
    """One table: groups down, statistics across, a count beside each; one epsilon for all.

    Everything is checked first, and the budget is charged for all of the table or for none of it.
    """
    from duffdp.cli.output import check_report, check_writable, write_report
    from duffdp.cli.progress import progress
    from duffdp.cli.release import say_cost
    from duffdp.cli.source import named_ledger, source_of, without_pandas
    from duffdp.pipeline.table_plan import TablePlan
    from duffdp.report.hazards import sign_off

    if form is TableFormat.table and out is not None:
        form = ENDINGS.get(out.suffix, form)
    if form in NEED_FILES and out is None:
        raise DuffError(f"{form} needs a file. Pass for example --out table.xlsx.")
    check_writable(out)
    check_report(report)
    _check_libraries(form)
    planned = TablePlan.from_toml(plan)
    if planned.wanted_errors is not None:
        from duffdp.planning.plans import TablePlan as WithPreviews

        planned = WithPreviews.from_toml(plan)
    listed = planned.plan
    book = named_ledger(
        ledger or listed.ledger, dataset or listed.dataset, call_id or listed.call_id
    )
    with source_of(listed.source, pipe) as path, without_pandas(path):
        if check:
            say_cost(planned.check(path, ledger=book), book)
            return
        with progress(len(listed.asks)) as done:
            made = planned.run(path, ledger=book, done=done)
    _write(made, form, out, lambda: sign_off(made, ledger=book, sources=listed.sources))
    if report is not None:
        source, sources = os.fspath(listed.source), listed.sources
        write_report(made, report, book, title, author, source, (plan, sources))


def _check_libraries(form: TableFormat) -> None:
    """Fail before anything is charged if a library is missing that the result needs."""
    from duffdp.optional import load
    from duffdp.pipeline.columnar import EXTRA

    needed = {
        TableFormat.latex: ("jinja2", "pandas"),
        TableFormat.parquet: ("pyarrow.parquet",),
        TableFormat.excel: ("xlsxwriter",),
    }
    for module in needed.get(form, ()):
        load(module, EXTRA)


def _write(
    made: Table, form: TableFormat, out: Path | None, answers: Callable[[], list[dict[str, Any]]]
) -> None:
    """JSON has the answers for a reviewer too. If the file fails after all, the table goes to the
    terminal, for it is paid.
    """
    from duffdp.cli.output import say, table

    told = made.readable()
    texts: dict[TableFormat, Callable[[], str]] = {
        TableFormat.json: lambda: json.dumps(made.to_dict() | {"sign_off": answers()}),
        TableFormat.csv: made.to_csv,
        TableFormat.markdown: made.to_markdown,
        TableFormat.latex: made.to_latex,
        TableFormat.html: made.to_html,
    }
    try:
        if form is TableFormat.table:
            rows = [dict(zip(told.header, row, strict=True)) for row in told.rows]
            table(rows, [told.caption], out)
        elif form is TableFormat.parquet and out is not None:
            made.to_parquet(out)
        elif form is TableFormat.excel and out is not None:
            made.to_excel(out)
        elif out is None:
            say(texts[form]().removesuffix("\n"))
        else:
            out.write_text(texts[form](), encoding="utf-8")
    except OSError as error:
        if out is None:
            raise
        say(made.to_csv())
        raise DuffError(
            f"cannot write {str(out)!r} ({error.strerror}). The table was made; it is on standard "
            "output."
        ) from None
