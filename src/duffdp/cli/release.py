"""`duffdp release`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from duffdp.cli import options as o

File = Annotated[Path, typer.Argument(metavar="PLAN", help="A plan in TOML: source, epsilon, and a [[release]] for each result.")]
Check = Annotated[bool, typer.Option("--check", help="Say what would be spent and what would come out; no row is read.")]


def release(
    plan: File, check: Check = False, ledger: o.Book = None, dataset: o.Dataset = None, call_id: o.CallId = None,
    form: o.Shown = o.Format.table, out: o.Out = None, report: o.Report = None,
) -> None:  # fmt: skip
    """Many releases over one source, as a plan says.

    One epsilon is split by weights; everything is checked first, and the budget is charged for all releases or for none.
    """
    from duffdp.cli.plan import read_plan
    from duffdp.cli.shown import check_format, show
    from duffdp.cli.single import check_report, opened_ledger, write_report
    from duffdp.cli.source import opened
    from duffdp.cli.task import carry_out, rehearse

    check_format(form, out)
    check_report(report)
    planned = read_plan(plan)
    book = opened_ledger(ledger or planned.ledger, dataset or planned.dataset, call_id or planned.call_id)
    with opened(planned.source, planned.columns, {task.value for task in planned.tasks}) as source:
        if check:
            _say(planned, rehearse(planned.tasks, source), book)
            return
        with _progress(len(planned.tasks)) as done:
            releases = carry_out(planned.tasks, source, book, done)
        show(releases, [task.title for task in planned.tasks], form, out)
        if report is not None:
            write_report(planned.tasks, releases, report, book)


def _say(planned: Any, requests: list[Any], book: Any) -> None:
    """The cost and the shape of every result."""
    from math import prod

    from duffdp.cli.shown import table

    rows = []
    for task, request in zip(planned.tasks, requests, strict=True):
        groups = prod(len(keys) for keys in task.keys)
        rows.append(
            {"release": task.title, "statistic": request.statistic, "mechanism": request.mechanism, "epsilon": float(request.epsilon),
             "rows": groups * task.numbers, "columns": ", ".join([*task.by, "value"])}
        )  # fmt: skip
    fits = True
    captions = [f"epsilon {float(planned.epsilon):g} in all; nothing was charged, only names and types of columns were read"]
    if book is not None:
        left = book.remaining()
        fits = planned.epsilon <= left
        said = "fits" if fits else "does NOT fit"
        captions.append(f"budget of {book.dataset!r}: {left:.12g} of {book.epsilon:g} left, the plan {said}")
    table(rows, captions)
    if not fits:
        raise typer.Exit(3)


@contextmanager
def _progress(total: int) -> Iterator[Callable[[], None]]:
    """A progress bar on a terminal, nothing elsewhere."""
    if not sys.stderr.isatty():
        yield lambda: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("releasing", total=total)
        yield lambda: bar.advance(task)
