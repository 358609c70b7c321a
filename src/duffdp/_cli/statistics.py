"""A command for each statistic, with the options that its release takes."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from duffdp._cli.options import (
    LEDGER_OPTIONS,
    READING_OPTIONS,
    Choices,
    option,
    output_options,
    read_options,
)
from duffdp._cli.output import RELEASE_FORMATS, StatisticOutput, check_destination, say_notes
from duffdp._parameters import (
    BOUNDS,
    COLUMN,
    DATA,
    DIGITS,
    EDGES,
    INTERVAL,
    LEDGER,
    MECHANISM,
    MECHANISMS,
    RNG,
    Parameter,
    X,
    Y,
)
from duffdp._pipeline.signatures import release_parameters
from duffdp.statistics.registry import SUMMARIES, statistic_spec
from duffdp.statistics.spec import StatisticSpec

if TYPE_CHECKING:
    from duffdp._pipeline.request import CheckedRequest

FORMAT_OPTIONS = output_options(RELEASE_FORMATS)
ANY_COLUMN = "Count the rows where this column is not missing; without it, all rows."


def statistic_command(name: str) -> click.Command:
    """The command of a statistic."""
    spec = statistic_spec(name)
    data = EDGES if spec.of_graphs else DATA
    return click.Command(
        name.replace("_", "-"),
        params=[
            click.Argument(["data"], metavar=data.name.upper(), type=click.Path()),
            *(_option(spec, parameter) for parameter in command_parameters(spec)),
            *(() if spec.of_graphs else READING_OPTIONS),
            *LEDGER_OPTIONS,
            *FORMAT_OPTIONS,
        ],
        callback=partial(_release, spec),
        help=f"{SUMMARIES[name]}\n\n{data.name.upper()}: {data.help}",
    )


def command_parameters(spec: StatisticSpec) -> list[Parameter[Any]]:
    """The parameters of a release that its command has beside data, ledger and output. Python
    takes `interval` even where there is none, to say why.
    """
    absent = (LEDGER, RNG) if spec.interval_choices else (LEDGER, RNG, INTERVAL)
    parameters: list[Parameter[Any]] = []
    for parameter in release_parameters(spec):
        if parameter not in absent:
            parameters.append(parameter)
        if parameter is BOUNDS and spec.allows_uneven_grid:
            parameters.append(DIGITS)
    return parameters


def _option(spec: StatisticSpec, parameter: Parameter[Any]) -> click.Option:
    """The option of a parameter. Files have columns, so a command needs names that Python can do
    without.
    """
    if parameter is COLUMN and spec.column_optional:
        return option(parameter, help=ANY_COLUMN)
    if parameter is BOUNDS:
        return option(parameter, required=spec.outputs == "grid" and not spec.allows_uneven_grid)
    if parameter is MECHANISM:
        choices = " ".join(f"{name}: {MECHANISMS[name]}." for name in spec.choices)
        return option(parameter, type=Choices(parameter, spec.choices), help=choices)
    return option(parameter, required=parameter.required or parameter in (COLUMN, X, Y))


def check_options(spec: StatisticSpec, options: Mapping[str, Any]) -> CheckedRequest:
    """The release that the options of a command ask for, checked."""
    from duffdp._pipeline.request import ReleaseRequest

    values = read_options(command_parameters(spec), options)
    name, parameters = spec.for_parameters(
        {key: values.pop(key, None) for key in spec.parameter_names}
    )
    return ReleaseRequest(name, {**values, **parameters}).check()


def _release(spec: StatisticSpec, **options: Any) -> None:
    """Make the release of one command. Imports wait until it runs: `--help` needs none of them."""
    from duffdp._cli.dialects import COMMAND_LINE
    from duffdp._cli.progress import progress
    from duffdp._cli.source import data_source, open_ledger, open_source
    from duffdp._engines.sql.query import OpenSources
    from duffdp._pipeline.rehearsal import rehearse
    from duffdp._pipeline.run import PreparedRelease, make_releases
    from duffdp._pipeline.text_values import with_values

    destination = check_destination(RELEASE_FORMATS, options)
    checked = check_options(spec, options)
    ledger = open_ledger(options["ledger"], options["dataset"], options["call_id"])
    output = StatisticOutput(destination, ledger, options["data"])
    source = options["data"] if spec.of_graphs else data_source(options)
    with (
        open_source(source, options.get("pipe")) as data,
        progress(1, spec.name),
    ):
        sources = OpenSources()
        request = with_values(checked, data, sources)
        prepared = [PreparedRelease.of(request, data, None, sources)]
        rehearse(prepared, lambda made_up: output.rehearse({checked.title: made_up[0]}))
        (release,) = make_releases(prepared, ledger)
    say_notes([release], COMMAND_LINE, options)
    output.write({checked.title: release})
