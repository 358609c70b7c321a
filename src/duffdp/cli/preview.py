"""`duffdp preview`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from duffdp.statistics.registry import entries

PLANNED = ", ".join(entry.name for entry in entries() if entry.planned is not None)

Shape = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="normal, uniform or beta (with --n), or a file of PUBLIC records (with --column).",
    ),
]
Column = Annotated[str | None, typer.Option("--column", "-c", help="The column of a file.")]
Number = Annotated[int | None, typer.Option("--n", help="How many records of a named shape.")]
Statistic = Annotated[str, typer.Option("--statistic", help=f"One of {PLANNED}.")]
Quantile = Annotated[float | None, typer.Option("-q", help="Which quantile.")]
Bounds = Annotated[
    tuple[str, str] | None,
    typer.Option("--bounds", metavar="LOWER UPPER", help="The public bounds."),
]
Digits = Annotated[
    int | None, typer.Option("--digits", help="In place of bounds: so many significant digits.")
]
Step = Annotated[str | None, typer.Option("--step", help="Distance between possible answers.")]
Categories = Annotated[
    str | None,
    typer.Option("--categories", metavar="A,B,...", help="The public values of a mode."),
]
Delta = Annotated[float | None, typer.Option("--delta", help="For mechanisms that need one.")]
Epsilons = Annotated[
    list[float],
    typer.Option(
        "--epsilon",
        "-e",
        metavar="FLOAT",
        help="May be repeated. For m rows a person, give epsilon / m.",
    ),
]
Mechanisms = Annotated[
    list[str] | None, typer.Option("--mechanism", metavar="NAME", help="May be repeated.")
]
Picture = Annotated[
    Path | None, typer.Option("--picture", help="Also draw it: .png, .svg or .pdf.")
]


def preview(
    data: Shape,
    epsilon: Epsilons,
    column: Column = None,
    n: Number = None,
    statistic: Statistic = "median",
    q: Quantile = None,
    bounds: Bounds = None,
    digits: Digits = None,
    step: Step = None,
    categories: Categories = None,
    mechanism: Mechanisms = None,
    delta: Delta = None,
    picture: Picture = None,
) -> None:
    """How far each mechanism would err.

    NOT PRIVATE for a file: use public or synthetic records.
    """
    from duffdp import planning
    from duffdp.cli.output import check_writable, table
    from duffdp.cli.planning import question
    from duffdp.planning.question import default_mechanisms

    check_writable(picture)
    asked = question(data, column, n, statistic, q, bounds, digits, step, categories)
    names = tuple(mechanism or default_mechanisms(statistic))
    found = [
        planning.preview(epsilon=each, mechanisms=names, delta=delta, **asked)
        for each in sorted(epsilon)
    ]
    rows = [
        {
            "mechanism": name,
            "epsilon": seen.epsilon,
            "mean error": f"{seen.expected_error(name):.4g}",
            "half within": f"{seen.error_within(name, 0.5):.4g}",
            "95 % within": f"{seen.error_within(name, 0.95):.4g}",
        }
        for name in names
        for seen in found
    ]
    table(rows, [str(found[0]).splitlines()[-1]])
    if picture is not None:
        _draw(found, names, statistic, picture)


def _draw(found: list[Any], names: tuple[str, ...], statistic: str, picture: Path) -> None:
    """Mean error against epsilon, a line for each mechanism."""
    from duffdp.errors import DuffError

    try:
        from matplotlib.figure import Figure
        from matplotlib.ticker import LogFormatter
    except ImportError:
        raise DuffError(
            "pictures need matplotlib, which is not installed. Run: pip install 'duffdp[cli]'."
        ) from None
    figure = Figure(figsize=(6.4, 4.0), layout="constrained")
    axes = figure.add_subplot()
    epsilons = [seen.epsilon for seen in found]
    for i, name in enumerate(
        names
    ):  # hollow marks and dashes: where lines coincide all of them are seen
        errors = [seen.expected_error(name) for seen in found]
        axes.plot(
            epsilons,
            errors,
            marker="osD^vPX<>*"[i % 10],
            linestyle=["-", "--", "-.", ":"][i % 4],
            fillstyle="none",
            markersize=6 + 2 * (i % 2),
            label=name,
        )
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xticks(epsilons, [f"{each:g}" for each in epsilons])
    axes.xaxis.minorticks_off()
    axes.yaxis.set_minor_formatter(LogFormatter(labelOnlyBase=False, minor_thresholds=(1, 0.5)))
    axes.set_xlabel("epsilon")
    axes.set_ylabel(f"mean error of the {statistic}")
    axes.grid(alpha=0.3)
    axes.legend(frameon=False)
    try:
        figure.savefig(picture, dpi=150)
    except ValueError:
        raise DuffError(
            f"cannot draw {str(picture)!r}: the kind of picture is not known. Use .png, .svg "
            "or .pdf."
        ) from None
