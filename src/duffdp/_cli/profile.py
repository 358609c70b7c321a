"""`duffdp profile`: a private first look at a file."""

from __future__ import annotations

from typing import Any

import click

from duffdp._cli.options import (
    LEDGER_OPTIONS,
    READING_OPTIONS,
    option,
    output_options,
    read_groups,
    read_list,
)
from duffdp._cli.output import TABLE_FORMATS, ProfileOutput, check_destination, say_lines
from duffdp._parameters import BY, CONTRIBUTIONS, DATA, EPSILON, KEYS, UNIT, WHERE
from duffdp._text import value
from duffdp.errors import Argument, DuffError

OF_RELEASES = ("registry", "engine_check", "explain")  # a profile is no deployment


@click.command(
    params=[
        click.Argument(["data"], metavar="DATA", type=click.Path()),
        option(EPSILON),
        click.Option(
            ["--columns"], metavar="A,B,...", help="The columns to profile; all by default."
        ),
        click.Option(
            ["--bounds"],
            multiple=True,
            nargs=3,
            metavar="COLUMN LOWER UPPER",
            help="Public bounds of a column, to release the share inside them; may be repeated.",
        ),
        *map(option, (BY, KEYS, WHERE, UNIT, CONTRIBUTIONS)),
        *READING_OPTIONS,
        *LEDGER_OPTIONS,
        *(one for one in output_options(TABLE_FORMATS) if one.name not in OF_RELEASES),
    ],
    help="Take a private first look at a table: readable fields, quartiles, bounds to use."
    f"\n\nDATA: {DATA.help}",
)
def profile(**options: Any) -> None:
    """Make the profile. Imports wait until it runs: `--help` needs none of them."""
    from duffdp._cli.dialects import COMMAND_LINE
    from duffdp._cli.progress import progress
    from duffdp._cli.source import data_source, open_ledger, open_source
    from duffdp._pipeline.rehearsal import rehearse
    from duffdp._planning.profile import ProfilePlan

    destination = check_destination(TABLE_FORMATS, options)
    columns = options["columns"]
    groups = read_groups(options["by"], options["keys"])
    ledger = open_ledger(options["ledger"], options["dataset"], options["call_id"])
    output = ProfileOutput(destination, ledger, options["data"])
    with open_source(data_source(options), options["pipe"]) as data:
        plan = ProfilePlan(
            data,
            columns=None if columns is None else read_list(columns),
            bounds=_bounds(options["bounds"]),
            **{key: options[key] for key in ("epsilon", "where", "unit", "contributions")},
            **groups,
        )
        prepared = plan.prepared()
        names = list(prepared)
        rehearse(
            list(prepared.values()),
            lambda made_up: output.rehearse(plan.profile(dict(zip(names, made_up, strict=True)))),
        )
        with progress(1, "profile"):
            result = plan.make(prepared, ledger)
    say_lines(plan.notes, COMMAND_LINE, options)
    output.write(result)


def _bounds(texts: tuple[tuple[str, str, str], ...]) -> dict[str, Any]:
    bounds: dict[str, Any] = {}
    for name, lower, upper in texts:
        if name in bounds:
            raise DuffError(Argument("bounds"), f" of {name!r} are given twice. Leave one out.")
        bounds[name] = (value(lower), value(upper))
    return bounds
