"""`duffdp ledger`: create, show and verify privacy budgets."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from duffdp._cli.options import FILE, option
from duffdp._cli.output import say, table
from duffdp._parameters import DATASET, DELTA, EPSILON
from duffdp.errors import Argument, DuffError

MAX_SQL = 60  # characters of a query in a table


@click.group()
def ledger() -> None:
    """Create, show and verify privacy budgets."""


@ledger.command(
    params=[
        option(EPSILON, help="The total budget."),
        option(DELTA, default=0.0, required=False, help="The total delta."),
        option(DATASET, help="The data set that the budget is for."),
    ]
)
@click.argument("path", metavar="LEDGER", type=FILE)
def init(path: Path, epsilon: float, delta: float, dataset: str | None) -> None:
    """Create a privacy budget, in a new file or for another data set in an existing file.

    LEDGER: the file.
    """
    from duffdp.ledger import Ledger

    book = Ledger(path, epsilon=epsilon, delta=delta, dataset=dataset)
    budget = f"epsilon {book.epsilon:g}, delta {book.delta:g} for {book.dataset!r}"
    say(f"{path}: {budget}, {book.remaining():g} left")


@ledger.command(
    params=[
        option(DATASET, help="The data set to show, if the ledger has several."),
        option(
            DELTA,
            default=None,
            required=False,
            help="Also show the total epsilon of all charges at this delta, which is often "
            "smaller.",
        ),
        click.Option(
            ["listing_format", "--format", "-f"],
            type=click.Choice(["table", "json"]),
            default="table",
            help="The format of the list.",
        ),
    ]
)
@click.argument("path", metavar="LEDGER", type=FILE)
def show(path: Path, dataset: str | None, delta: float | None, listing_format: str) -> None:
    """Show every charge, the epsilon that was spent, and the epsilon that is left.

    LEDGER: the file.
    """
    from duffdp.ledger import Ledger
    from duffdp.ledger.ledger import datasets

    names = datasets(path)
    if dataset is None and len(names) > 1:
        if delta is not None:
            raise DuffError(
                *(Argument("delta"), " needs one data set. Pass for example "),
                *(Argument("dataset", names[0]), "."),
            )
        _list_datasets(path, names, listing_format)
        return
    book = Ledger(path, dataset=dataset)
    charges, spent, remaining = book.charges(), book.spent(), book.remaining()
    total = None if delta is None else book.total(delta)
    if listing_format == "json":
        budget: dict[str, Any] = {
            "dataset": book.dataset,
            "epsilon": book.epsilon,
            "delta": book.delta,
            "spent": spent,
            "remaining": remaining,
        }
        if delta is not None:
            budget["total"] = {"delta": delta, "epsilon": total}
        print(json.dumps(budget | {"charges": charges}, indent=2))
        return
    rows = [
        {"number": charge["number"], "time": charge["time"][:19]}
        | charge_facts(charge)
        | {"call id": charge["call"] or ""}
        for charge in charges
    ]
    captions = [f"{book.dataset}: spent {spent:.12g} of {book.epsilon:g}, {remaining:.12g} left"]
    if delta is not None:
        captions.append(
            f"all charges together: epsilon {total:.6g} at delta {delta:g}, if their number and "
            "epsilons were fixed beforehand"
        )
    table(rows, captions)


def _list_datasets(path: Path, names: list[str], listing_format: str) -> None:
    """List the budget of every data set."""
    from duffdp.ledger import Ledger

    books = [Ledger(path, dataset=name) for name in names]
    rows = [
        {
            "dataset": book.dataset,
            "epsilon": book.epsilon,
            "spent": book.spent(),
            "remaining": book.remaining(),
        }
        for book in books
    ]
    if listing_format == "json":
        print(json.dumps({"datasets": rows}, indent=2))
    else:
        table(rows, ["pass --dataset NAME to see the charges of one of them"])


@ledger.command()
@click.argument("path", metavar="LEDGER", type=FILE)
@click.option("--head", help="The last hash from an earlier check, to detect removed entries.")
def verify(path: Path, head: str | None) -> None:
    """Check the whole ledger: every hash and every sum.

    LEDGER: the file.
    """
    from duffdp.ledger.verification import verify as replay

    report = replay(path, head)
    counts = (
        f"{report.entries} entries, {report.charges} charges, {report.releases} stored releases"
    )
    say(f"in order: {counts}; budgets: {', '.join(report.datasets)}\nhead {report.head}")


def charge_facts(charge: dict[str, Any]) -> dict[str, Any]:
    """The facts of a charge in a table."""
    from duffdp._facts import Facts

    facts = Facts.from_dict(charge)
    unit = facts.unit
    rows = "" if facts.where is None else f" where {facts.where}"
    rows += "" if facts.sql is None else f" of {_shortened(facts.sql)}"
    groups = unit.groups_per_person
    each_in = "" if groups is None else f" in {groups} groups each"
    person = "" if unit.column is None else f" ({unit.column}, up to {unit.contributions}{each_in})"
    return {
        "statistic": str(facts.statistic),
        "column": f"{facts.column or ''}{rows}".lstrip(),
        "mechanism": str(facts.mechanism),
        "protects": f"{unit.kind}{person}",
        "groups": len(facts.keys) or "",
        "epsilon": float(facts.loss.epsilon),
    }


def _shortened(sql: str) -> str:
    """The beginning of a long query; JSON has all of it."""
    return sql if len(sql) <= MAX_SQL else f"{sql[: MAX_SQL - 3]}..."
