"""`duffdp release` and `duffdp table`: the commands that run plan files."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from duffdp._cli.dialects import PLAN
from duffdp._cli.options import FILE, LEDGER_OPTIONS, PIPE_OPTION, option, output_options
from duffdp._cli.output import (
    RELEASE_FORMATS,
    TABLE_FORMATS,
    ReleasesOutput,
    TableOutput,
    check_destination,
    say_notes,
)
from duffdp._cli.output import (
    table as print_table,
)
from duffdp._cli.progress import progress
from duffdp._parameters import SOURCE

if TYPE_CHECKING:
    from duffdp._planning.plan import Cost

CHECK = click.Option(
    ["--check"],
    is_flag=True,
    help="Only show the cost and the number of rows of each result; no row is read.",
)


@click.command(
    params=[CHECK, option(SOURCE), PIPE_OPTION, *LEDGER_OPTIONS, *output_options(RELEASE_FORMATS)],
)
@click.argument("plan", type=FILE)
def release(plan: Path, **options: Any) -> None:
    """Make the releases of a plan.

    PLAN: a TOML file with source, epsilon, and a [[release]] for each result. Epsilon is split
    by weights. Everything is checked first, and the ledger is charged for all releases or for
    none.
    """
    from duffdp._planning.plan import Plan

    destination = check_destination(RELEASE_FORMATS, options)
    planned = Plan.from_toml(plan)
    planned.source = _source(planned, options)
    ledger = _ledger(planned, options)
    output = ReleasesOutput(destination, ledger, os.fspath(planned.source), plan, planned.sources)
    _run(planned, planned, output, options)


@click.command(
    params=[CHECK, option(SOURCE), PIPE_OPTION, *LEDGER_OPTIONS, *output_options(TABLE_FORMATS)]
)
@click.argument("plan", type=FILE)
def table(plan: Path, **options: Any) -> None:
    """Make one table: a row for each group, columns for its count and other statistics.

    PLAN: a TOML file with source, epsilon, statistics, bounds, by and keys. One epsilon covers
    the table. Everything is checked first, and the ledger is charged for all of the table or for
    none of it.
    """
    from duffdp._planning.table_plan import TablePlan

    destination = check_destination(TABLE_FORMATS, options)
    planned = TablePlan.from_toml(plan)
    releases = planned.plan
    releases.source = _source(releases, options)
    ledger = _ledger(releases, options)
    output = TableOutput(destination, ledger, os.fspath(releases.source), plan, releases.sources)
    _run(planned, releases, output, options)


def _source(plan: Any, options: dict[str, Any]) -> Any:
    """The source of the plan, or the data of the options, read in the same way."""
    from duffdp._cli.source import with_path

    return plan.source if options["source"] is None else with_path(plan.source, options["source"])


def _ledger(plan: Any, options: dict[str, Any]) -> Any:
    """The ledger of the options, or of the plan."""
    from duffdp._cli.source import open_ledger

    return open_ledger(
        options["ledger"] or plan.ledger,
        options["dataset"] or plan.dataset,
        options["call_id"] or plan.call_id,
    )


def _run(planned: Any, plan: Any, output: Any, options: dict[str, Any]) -> None:
    """Run a plan of releases or of a table, or show its cost."""
    from duffdp._cli.source import open_source

    with open_source(plan.source, options["pipe"]) as data:
        if options["check"]:
            _show_cost(planned.check(data, ledger=output.ledger), output.ledger, options)
            return
        with progress(len(plan.releases)) as done:
            result = planned.run(data, ledger=output.ledger, done=done, rehearsal=output.rehearse)
    in_table = isinstance(output, TableOutput)
    say_notes(output.releases(result).values(), PLAN, options, in_table)
    output.write(result)


def _show_cost(cost: Cost, ledger: Any, options: dict[str, Any]) -> None:
    """Print the cost and the shape of each result."""
    rows = [
        {
            "release": name,
            "statistic": str(facts.statistic),
            **({"mechanism": str(facts.mechanism)} if options["explain"] else {}),
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
        fits = "fits" if cost.fits else "does NOT fit"
        captions.append(
            f"budget of {ledger.dataset!r}: {float(cost.remaining):.12g} of {ledger.epsilon:g} "
            f"left, the plan {fits}"
        )
    if not options["quiet"]:
        captions += [note.worded(PLAN) for note in cost.notes]
    print_table(rows, captions)
    if not cost.fits:
        raise click.exceptions.Exit(3)
