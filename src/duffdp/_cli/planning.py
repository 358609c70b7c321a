"""`duffdp preview` and `duffdp epsilon-for`: expected errors, from synthetic or public records."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from duffdp._cli.options import FILE, READING_OPTIONS, option, read_options
from duffdp._cli.output import check_writable, say, table
from duffdp._optional import load
from duffdp._parameters import (
    BOUNDS,
    CATEGORIES,
    COLUMN,
    CONTRIBUTIONS,
    COVERS,
    DELTA,
    DIGITS,
    DRAWS,
    GROUP_SIZE,
    HALF_BETWEEN,
    INTERVAL,
    MECHANISM,
    SAMPLE_SIZE,
    STEP,
    TEXT_FILE_OPTIONS,
    WHERE,
)
from duffdp.errors import Argument, DuffError
from duffdp.statistics.registry import SUMMARIES, statistic_spec
from duffdp.statistics.spec import StatisticSpec

PLANNED_SPECS = [spec for spec in map(statistic_spec, SUMMARIES) if spec.can_be_planned]
# The parameters of all statistics: each of them is required by some statistics alone.
STATISTIC_PARAMETERS = tuple(
    {parameter.name: parameter for spec in PLANNED_SPECS for parameter in spec.parameters}.values()
)
SAMPLE = (SAMPLE_SIZE, GROUP_SIZE, DELTA, DRAWS)
PUBLIC = (BOUNDS, DIGITS, STEP, CATEGORIES, CONTRIBUTIONS, INTERVAL, COVERS)
FILE_OPTIONS = (*(one.name for one in (WHERE, *TEXT_FILE_OPTIONS)), "sql")
SHARED = (
    click.Option(
        ["--statistic"],
        default="median",
        metavar="NAME",
        help=f"One of {', '.join(spec.name for spec in PLANNED_SPECS)}.",
    ),
    option(COLUMN, help="The column of a file."),
    option(WHERE),
    *READING_OPTIONS[1:],
    *(option(parameter, required=False, default=None) for parameter in STATISTIC_PARAMETERS),
    option(
        BOUNDS, help=f"{BOUNDS.help} For shares and histograms, the range of a named distribution."
    ),
    *map(option, PUBLIC[1:]),
    *(option(parameter, required=False) for parameter in (*SAMPLE, HALF_BETWEEN)),
)
DATA_ARGUMENT = click.Argument(["data"], metavar="DATA", type=click.Path())


@click.command(
    params=[
        DATA_ARGUMENT,
        click.Option(
            ["--epsilon", "-e"],
            type=float,
            multiple=True,
            required=True,
            help="The privacy loss in total; may be repeated.",
        ),
        *SHARED,
        click.Option(
            ["--mechanism"],
            multiple=True,
            metavar="NAME",
            help="best, clipped, duff or a baseline; may be repeated.",
        ),
        click.Option(["--picture"], type=FILE, help="Also plot the errors: .png, .svg or .pdf."),
    ]
)
def preview(
    epsilon: tuple[float, ...],
    mechanism: tuple[str, ...],
    picture: Path | None,
    **options: Any,
) -> None:
    """Show the expected error of each mechanism.

    DATA: a distribution (normal, uniform, skewed, ages or beta, with --n), or a file of PUBLIC
    records (with --column, or --x and --y). With a file the result is NOT PRIVATE: use public or
    synthetic records.
    """
    from duffdp import _planning as planning
    from duffdp._planning.previews import default_mechanisms

    check_writable(picture)
    request = _request(options)
    names = tuple(map(MECHANISM.documented_value, mechanism))
    names = names or default_mechanisms(request["statistic"], request.get("interval"))
    previews = [
        planning.preview(epsilon=budget, mechanisms=names, **request) for budget in sorted(epsilon)
    ]
    rows = [
        {"mechanism": row["mechanism"], "epsilon": result.epsilon} | row
        for result in previews
        for row in result.rows()
    ]
    rows.sort(key=lambda row: (names.index(row["mechanism"]), row["epsilon"]))
    advice = [line for result in previews for line in result.advice()]
    table(rows, [*advice, *previews[-1].notes()])
    if picture is not None:
        _plot(previews, names, picture)


@click.command(
    "epsilon-for",
    params=[
        DATA_ARGUMENT,
        click.Option(["--within"], type=float, help="The largest error that you accept."),
        click.Option(
            ["--probability", "-p"],
            type=float,
            help="The probability with which the error must be within --within; 0.95 by default.",
        ),
        click.Option(
            ["--width"],
            type=float,
            help="Or the largest mean width of the interval (with --interval).",
        ),
        *SHARED,
        click.Option(
            ["--output"],
            metavar="NAME",
            help="The number that must be accurate, if a release has several; all by default.",
        ),
        click.Option(
            ["--mechanism"], default="best", metavar="NAME", help="best, duff or a baseline."
        ),
    ],
)
def epsilon_for(
    within: float | None,
    probability: float | None,
    width: float | None,
    output: str | None,
    mechanism: str,
    **options: Any,
) -> None:
    """Find the smallest epsilon for a required accuracy.

    DATA: a distribution (normal, uniform, skewed, ages or beta, with --n), or a file of PUBLIC
    records (with --column, or --x and --y). With a file the result is NOT PRIVATE: use public or
    synthetic records.
    """
    from duffdp import _planning as planning

    if within is not None and probability is None:
        probability = 0.95
    plan = planning.epsilon_for(
        within=within,
        probability=probability,
        width=width,
        output=output,
        mechanism=mechanism,
        **_request(options),
    )
    say(str(plan))


def _request(options: dict[str, Any]) -> dict[str, Any]:
    """The arguments that `preview` and `epsilon_for` share; a file is read into memory."""
    from duffdp._planning.previews import plannable
    from duffdp._planning.synthetic import SHAPES

    spec = plannable(options["statistic"].replace("-", "_"))
    data, parameters, public = (
        options["data"],
        read_options(STATISTIC_PARAMETERS, options),
        read_options(PUBLIC, options),
    )
    request = (
        {parameter.name: options[parameter.name] for parameter in SAMPLE}
        | public
        | read_options((HALF_BETWEEN,), options)
        | {"statistic": spec.name}
    )
    if data not in SHAPES:
        return request | _file_records(spec, options, public, parameters)
    for name in FILE_OPTIONS:
        if options[name] is not None:
            raise DuffError(
                *(
                    Argument(name),
                    f" can only be used with a file, got the distribution {data!r}. Leave ",
                ),
                "it out.",
            )
    return request | parameters | {"data": data}


def _file_records(
    spec: StatisticSpec,
    options: dict[str, Any],
    public: dict[str, Any],
    statistic_options: dict[str, Any],
) -> dict[str, Any]:
    """The records of a file, and the values of its columns that were written as text."""
    from duffdp._cli.source import data_source, open_source
    from duffdp._engines.addresses import printable
    from duffdp._engines.sql.query import OpenSources
    from duffdp._engines.table import read_columns
    from duffdp._pipeline.request import ReleaseRequest
    from duffdp._pipeline.text_values import with_values
    from duffdp._planning.synthetic import SHAPES
    from duffdp.statistics.registry import check_parameter_names

    column = options["column"]
    if str(options["data"]).lower().endswith(".toml"):
        raise DuffError(
            "preview takes one statistic and no plan, for example: duffdp preview normal --n 1000 "
            "--bounds 0 100 --epsilon 0.5 --statistic mean. To check a plan, run: duffdp table "
            "PLAN --check"
        )
    if column is None and not spec.of_pairs:
        raise DuffError(
            *(
                f"{printable(options['data'])!r:.60} is not one of {', '.join(SHAPES)}, which "
                "take ",
                Argument("n"),
            ),
            *(". For a file of public records pass ", Argument("column"), " as well."),
        )
    check_parameter_names(spec, statistic_options)
    name, parameters = spec.for_parameters(statistic_options)
    domain = {key: public.get(key) for key in ("bounds", "step", "categories")}
    rows = {"column": column, "where": options["where"]}
    checked = ReleaseRequest(name, {"epsilon": 1, **parameters, **domain, **rows}).check()
    condition = checked.selection.where
    with open_source(data_source(options)) as source:
        if spec.of_pairs:
            if checked.selection.pair is None:
                raise DuffError(
                    *(f"{spec.name} needs ", Argument("x"), " and ", Argument("y")),
                    ", the names of two columns.",
                )
            pairs = read_columns(source, [*checked.selection.pair], "float", condition)
            return {"data": list(zip(*pairs, strict=True))}
        typed = with_values(checked, source, OpenSources()).options
        (records,) = read_columns(source, [column], checked.domain.kind, condition)
    lists = {key: typed[key] for key in ("values", "categories") if typed.get(key) is not None}
    return statistic_options | lists | {"data": records}


def _plot(previews: list[Any], names: tuple[str, ...], picture: Path) -> None:
    """Plot mean error against epsilon, a line for each mechanism."""
    load("matplotlib", "cli")
    from matplotlib.figure import Figure
    from matplotlib.ticker import LogFormatter

    figure = Figure(figsize=(6.4, 4.0), layout="constrained")
    axes = figure.add_subplot()
    epsilons = [preview.epsilon for preview in previews]
    for i, name in enumerate(names):  # hollow marks and dashes show lines that coincide
        axes.plot(
            epsilons,
            [preview.expected_error(name) for preview in previews],
            marker="osD^vPX<>*"[i % 10],
            linestyle=["-", "--", "-.", ":"][i % 4],
            fillstyle="none",
            markersize=6 + 2 * (i % 2),
            label=name,
        )
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xticks(epsilons, [f"{epsilon:g}" for epsilon in epsilons])
    axes.xaxis.minorticks_off()
    axes.yaxis.set_minor_formatter(LogFormatter(labelOnlyBase=False, minor_thresholds=(1, 0.5)))
    axes.set_xlabel("epsilon")
    axes.set_ylabel(f"mean error of the {previews[0].statistic}")
    axes.grid(alpha=0.3)
    axes.legend(frameon=False)
    try:
        figure.savefig(picture, dpi=150)
    except ValueError:
        raise DuffError(
            f"cannot write {str(picture)!r}: unknown picture format. Use .png, .svg or .pdf."
        ) from None
