"""`duffdp quantile`."""

from __future__ import annotations

from typing import Annotated

import typer

from duffdp.cli import options as o
from duffdp.cli.single import release_statistic

Qs = Annotated[
    list[float],
    typer.Option(
        "-q", metavar="SHARE", help="Which quantile, from 0 to 1; may be repeated: one epsilon for all, drawn together."
    ),
]


def quantile(
    data: o.Data, q: Qs, column: o.Column, epsilon: o.Epsilon, bounds: o.Bounds, step: o.Step = None, by: o.By = None,
    keys: o.Keys = None, unit: o.Unit = None, contributions: o.Contributions = 1, mechanism: o.Chosen = o.Mechanism.best,
    ledger: o.Book = None, dataset: o.Dataset = None, call_id: o.CallId = None, form: o.Shown = o.Format.table, out: o.Out = None,
    report: o.Report = None,
) -> None:  # fmt: skip
    """Private quantiles of a column, overall or for each group."""
    release_statistic("quantile" if len(q) == 1 else "quantiles", locals(), q=q[0] if len(q) == 1 else q)
