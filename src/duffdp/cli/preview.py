"""`duffdp preview`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from duffdp.cli.planning import NEEDED, question, with_options

Epsilons = Annotated[
    list[float],
    typer.Option("--epsilon", "-e", metavar="FLOAT", help="May be repeated."),
]
Mechanisms = Annotated[
    list[str] | None, typer.Option("--mechanism", metavar="NAME", help="May be repeated.")
]
Picture = Annotated[
    Path | None, typer.Option("--picture", help="Also draw it: .png, .svg or .pdf.")
]


@with_options(
    [("epsilon", Epsilons, NEEDED)],
    [("mechanism", Mechanisms, None), ("picture", Picture, None)],
)
def preview(**given: Any) -> None:
    """How far each mechanism would err.

    NOT PRIVATE for a file: use public or synthetic records.
    """
    from duffdp import planning
    from duffdp.cli.output import check_writable, table
    from duffdp.planning.question import default_mechanisms

    picture = given["picture"]
    check_writable(picture)
    asked = question(given)
    names = tuple(
        given["mechanism"] or default_mechanisms(asked["statistic"], asked.get("interval"))
    )
    found = [
        planning.preview(epsilon=each, mechanisms=names, **asked)
        for each in sorted(given["epsilon"])
    ]
    lines = ((seen.epsilon, row) for seen in found for row in seen.rows())
    rows = [{"mechanism": row["mechanism"], "epsilon": epsilon} | row for epsilon, row in lines]
    rows.sort(key=lambda row: (names.index(row["mechanism"]), row["epsilon"]))
    table(rows, found[-1].notes())
    if picture is not None:
        _draw(found, names, found[0].statistic, picture)


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
