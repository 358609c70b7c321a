"""`duffdp mode`."""

from __future__ import annotations

from typing import Annotated

import typer

from duffdp.cli import options as o
from duffdp.cli.single import release_statistic

Listed = Annotated[
    str | None,
    typer.Option("--categories", metavar="A,B,...", help="The public list of possible values; or @FILE, one on a line."),
]


def mode(
    data: o.Data, column: o.Column, epsilon: o.Epsilon, categories: Listed = None, bounds: o.NoBounds = None, step: o.Step = None,
    by: o.By = None, keys: o.Keys = None, unit: o.Unit = None, contributions: o.Contributions = 1,
    mechanism: o.Chosen = o.Mechanism.best, ledger: o.Book = None, dataset: o.Dataset = None, call_id: o.CallId = None,
    form: o.Shown = o.Format.table, out: o.Out = None, report: o.Report = None,
) -> None:  # fmt: skip
    """A private most common value of a column, overall or for each group."""
    release_statistic("mode", locals(), categories=categories)
