"""`duffdp ledger`: make, show and check budgets."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from duffdp.cli.options import Dataset, Format

app = typer.Typer(help="Make, show and verify budgets.", no_args_is_help=True)
Book = Annotated[Path, typer.Argument(metavar="LEDGER", help="The file.")]


@app.command()
def init(
    path: Book, epsilon: Annotated[float, typer.Option("--epsilon", "-e", help="The whole budget.")],
    delta: Annotated[float, typer.Option("--delta", help="The whole delta.")] = 0.0, dataset: Dataset = None,
) -> None:  # fmt: skip
    """Make a budget, in a new file or for another data set in one that exists."""
    from duffdp.ledger import Ledger

    made = Ledger(path, epsilon=epsilon, delta=delta, dataset=dataset)
    print(f"{path}: epsilon {made.epsilon:g}, delta {made.delta:g} for {made.dataset!r}, {made.remaining():g} left")


@app.command()
def show(
    path: Book, dataset: Dataset = None,
    delta: Annotated[float | None, typer.Option("--delta", help="Also the tighter total of all charges at this delta.")] = None,
    form: Annotated[Format, typer.Option("--format", "-f", help="table or json.")] = Format.table,
) -> None:  # fmt: skip
    """What was spent, charge by charge, and what is left."""
    from duffdp.errors import DuffError
    from duffdp.ledger import Ledger

    if form not in (Format.table, Format.json):
        raise DuffError(f"a ledger is shown as table or json, got {form}.")
    ledger = Ledger(path, dataset=dataset)
    charges = ledger.charges()
    known = {"dataset": ledger.dataset, "epsilon": ledger.epsilon, "delta": ledger.delta, "spent": ledger.spent(),
             "remaining": ledger.remaining()}  # fmt: skip
    if delta is not None:
        known["total"] = {"delta": delta, "epsilon": ledger.total(delta)}
    if form is Format.json:
        print(json.dumps(known | {"charges": charges}, indent=2))
        return
    from duffdp.cli.output import table
    from duffdp.facts import Facts

    rows = []
    for paid in charges:
        facts = Facts.from_dict(paid)
        rows.append(
            {
                "number": paid["number"],
                "time": paid["time"][:19],
                "statistic": str(facts.statistic),
                "column": facts.column or "",
                "mechanism": str(facts.mechanism),
                "unit": facts.unit.kind,
                "epsilon": float(facts.loss.epsilon),
                "call id": paid["call"] or "",
            }
        )
    captions = [f"{ledger.dataset}: spent {ledger.spent():.12g} of {ledger.epsilon:g}, {ledger.remaining():.12g} left"]
    if delta is not None:
        captions.append(f"all charges together: epsilon {known['total']['epsilon']:.6g} at delta {delta:g}")  # type: ignore[index]
    table(rows, captions)


@app.command()
def verify(
    path: Book, head: Annotated[str | None, typer.Option("--head", help="The last hash of an earlier check, kept elsewhere.")] = None
) -> None:  # fmt: skip
    """Replay the whole ledger: every hash and every sum."""
    from duffdp.ledger.replay import verify as replay

    found = replay(path, head)
    names = ", ".join(found.datasets)
    print(f"in order: {found.entries} entries, {found.charges} charges, {found.releases} stored releases; budgets: {names}")
    print(f"head {found.head}")
