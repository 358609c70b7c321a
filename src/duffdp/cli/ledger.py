"""`duffdp ledger`: make, show and check budgets."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any

import typer

from duffdp.cli.options import Dataset, Format
from duffdp.cli.reading import Command, Group

app = typer.Typer(cls=Group, help="Make, show and verify budgets.", no_args_is_help=True)
Book = Annotated[Path, typer.Argument(metavar="LEDGER", help="The file.")]
_LONGEST = 60  # letters of a query in a table


@app.command(cls=Command)
def init(
    path: Book,
    epsilon: Annotated[float, typer.Option("--epsilon", "-e", help="The whole budget.")],
    delta: Annotated[float, typer.Option("--delta", help="The whole delta.")] = 0.0,
    dataset: Dataset = None,
) -> None:
    """Make a budget, in a new file or for another data set in one that exists."""
    from duffdp.cli.output import say
    from duffdp.ledger import Ledger

    made = Ledger(path, epsilon=epsilon, delta=delta, dataset=dataset)
    budget = f"epsilon {made.epsilon:g}, delta {made.delta:g} for {made.dataset!r}"
    say(f"{path}: {budget}, {made.remaining():g} left")


@app.command(cls=Command)
def show(
    path: Book,
    dataset: Dataset = None,
    delta: Annotated[
        float | None,
        typer.Option("--delta", help="Also the tighter total of all charges at this delta."),
    ] = None,
    form: Annotated[Format, typer.Option("--format", "-f", help="table or json.")] = Format.table,
) -> None:
    """What was spent, charge by charge, and what is left."""
    from duffdp.errors import DuffError
    from duffdp.ledger import Ledger

    if form not in (Format.table, Format.json):
        raise DuffError(f"a ledger is written as table or json, got {form}.")
    ledger = Ledger(path, dataset=dataset)
    charges = ledger.charges()
    spent, left = ledger.spent(), ledger.remaining()
    total = None if delta is None else ledger.total(delta)
    if form is Format.json:
        budget: dict[str, Any] = {
            "dataset": ledger.dataset,
            "epsilon": ledger.epsilon,
            "delta": ledger.delta,
        }
        known = budget | {"spent": spent, "remaining": left}
        if delta is not None:
            known["total"] = {"delta": delta, "epsilon": total}
        print(json.dumps(known | {"charges": charges}, indent=2))
        return
    from duffdp.cli.output import table

    rows = [
        {"number": paid["number"], "time": paid["time"][:19]}
        | charge_facts(paid)
        | {"call id": paid["call"] or ""}
        for paid in charges
    ]
    captions = [f"{ledger.dataset}: spent {spent:.12g} of {ledger.epsilon:g}, {left:.12g} left"]
    if delta is not None:
        captions.append(f"all charges together: epsilon {total:.6g} at delta {delta:g}")
    table(rows, captions)


def charge_facts(paid: dict[str, Any]) -> dict[str, Any]:
    """What a charge was for."""
    from duffdp.facts import Facts

    if "loss" not in paid:  # version 0.1 wrote texts
        asked = paid["parameters"]
        return {
            "statistic": paid["statistic"],
            "column": asked["column"] or "",
            "mechanism": paid["mechanism"],
            "protects": asked["unit"] or "",
            "groups": len(asked["keys"]) or "",
            "epsilon": float(Fraction(paid["epsilon"])),
        }
    facts = Facts.from_dict(paid)
    unit = facts.unit
    kept = "" if facts.where is None else f" where {facts.where}"
    kept += "" if facts.sql is None else f" of {_brief(facts.sql)}"
    groups = unit.groups_per_person
    each_in = "" if groups is None else f" in {groups} groups each"
    person = "" if unit.column is None else f" ({unit.column}, up to {unit.contributions}{each_in})"
    return {
        "statistic": str(facts.statistic),
        "column": f"{facts.column or ''}{kept}".lstrip(),
        "mechanism": str(facts.mechanism),
        "protects": f"{unit.kind}{person}",
        "groups": len(facts.keys) or "",
        "epsilon": float(facts.loss.epsilon),
    }


def _brief(text: str) -> str:
    """The beginning of a long text: JSON has all of it."""
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."


@app.command(cls=Command)
def verify(
    path: Book,
    head: Annotated[
        str | None,
        typer.Option("--head", help="The last hash of an earlier check, kept elsewhere."),
    ] = None,
) -> None:
    """Replay the whole ledger: every hash and every sum."""
    from duffdp.cli.output import say
    from duffdp.ledger.replay import verify as replay

    found = replay(path, head)
    counts = f"{found.entries} entries, {found.charges} charges, {found.releases} stored releases"
    say(f"in order: {counts}; budgets: {', '.join(found.datasets)}\nhead {found.head}")
