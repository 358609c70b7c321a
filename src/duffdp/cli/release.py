"""`duffdp release`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from duffdp.cli import options as o

if TYPE_CHECKING:
    from duffdp.pipeline.plan import Cost

File = Annotated[
    Path,
    typer.Argument(
        metavar="PLAN", help="A plan in TOML: source, epsilon, and a [[release]] for each result."
    ),
]
Check = Annotated[
    bool,
    typer.Option(
        "--check", help="Say what would be spent and what would come out; no row is read."
    ),
]


def release(
    plan: File,
    check: Check = False,
    pipe: o.Pipe = None,
    ledger: o.Book = None,
    dataset: o.Dataset = None,
    call_id: o.CallId = None,
    form: o.Written = o.Format.table,
    out: o.Out = None,
    report: o.Report = None,
    title: o.Title = o.USUAL_TITLE,
    author: o.Author = None,
) -> None:
    """Many releases over one source, as a plan says.

    One epsilon is split by weights; everything is checked first, and the budget is charged for all
    releases or for none.
    """
    from duffdp.cli.output import check_outputs, named_format, show, write_report
    from duffdp.cli.progress import progress
    from duffdp.cli.source import named_ledger, source_of, without_pandas
    from duffdp.pipeline.plan import Plan

    form = named_format(form, out)
    check_outputs(form, out, report)
    planned = Plan.from_toml(plan)
    book = named_ledger(
        ledger or planned.ledger, dataset or planned.dataset, call_id or planned.call_id
    )
    with source_of(planned.source, pipe) as path, without_pandas(path):
        if check:
            say_cost(planned.check(path, ledger=book), book)
            return
        with progress(len(planned.asks)) as done:
            releases = planned.run(path, ledger=book, done=done)
    show(releases, form, out)
    if report is not None:
        source, sources = os.fspath(planned.source), planned.sources
        write_report(releases, report, book, title, author, source, (plan, sources))


def say_cost(cost: Cost, book: Any) -> None:
    """The cost and the shape of every result."""
    from duffdp.cli.output import table

    rows = [
        {
            "release": name,
            "statistic": str(facts.statistic),
            "mechanism": str(facts.mechanism),
            "epsilon": float(facts.loss.epsilon),
            "rows": cost.rows[name],
            "columns": ", ".join([*facts.by, "value"]),
        }
        for name, facts in cost.releases.items()
    ]
    captions = [
        f"epsilon {float(cost.epsilon):g} in all; nothing was charged, only names and types of "
        "columns were read"
    ]
    if cost.remaining is not None:
        said = "fits" if cost.fits else "does NOT fit"
        captions.append(
            f"budget of {book.dataset!r}: {float(cost.remaining):.12g} of {book.epsilon:g} "
            f"left, the plan {said}"
        )
    table(rows, captions)
    if not cost.fits:
        raise typer.Exit(3)
