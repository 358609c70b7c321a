"""`duffdp describe`."""

from __future__ import annotations

from duffdp.cli import options as o
from duffdp.cli.single import release_statistic


def describe(
    data: o.Data, column: o.Column, epsilon: o.Epsilon, bounds: o.Bounds, step: o.Step = None, by: o.By = None, keys: o.Keys = None,
    unit: o.Unit = None, contributions: o.Contributions = 1, ledger: o.Book = None, dataset: o.Dataset = None,
    call_id: o.CallId = None, form: o.Shown = o.Format.table, out: o.Out = None, report: o.Report = None,
) -> None:  # fmt: skip
    """A private summary of a column: its count, quartiles, 1 % and 99 %; one epsilon for all."""
    release_statistic("describe", locals())
