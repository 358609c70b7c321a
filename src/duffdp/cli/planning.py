"""What the two commands for planning share: their options, and records or a named shape."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Annotated, Any

import typer

from duffdp.cli import options as o
from duffdp.cli.statistics import OWN_PARAMETERS, PARAMETERS
from duffdp.statistics.registry import entries

PLANNED = [known for known in entries() if known.exact is not None and known.summary]
NEEDED = inspect.Parameter.empty

Shape = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help=(
            "normal, uniform, skewed, ages or beta (with --n), or a file of PUBLIC records (with "
            "--column, or --x and --y)."
        ),
    ),
]
Column = Annotated[str | None, typer.Option("--column", "-c", help="The column of a file.")]
Statistic = Annotated[
    str, typer.Option("--statistic", help=f"One of {', '.join(e.name for e in PLANNED)}.")
]
Bounds = Annotated[
    tuple[str, str] | None,
    typer.Option(
        "--bounds",
        metavar="LOWER UPPER",
        help="The public bounds; for shares and histograms those of a named shape.",
    ),
]
Number = Annotated[int | None, typer.Option("--n", help="How many records of a named shape.")]
GroupSize = Annotated[
    int | None,
    typer.Option("--group-size", help="How many records the smallest group has that matters."),
]
Draws = Annotated[
    int, typer.Option("--draws", help="Releases to simulate where the law is not known.")
]
Delta = Annotated[float | None, typer.Option("--delta", help="For mechanisms that need one.")]


def _own() -> list[tuple[str, Any, Any]]:
    """The parameters of all statistics that can be planned; each is needed by some alone."""
    found = {
        name: OWN_PARAMETERS.get((known.name, name), PARAMETERS[name])
        for known in PLANNED
        for name in known.read
    }
    return [(name, kind, None) for name, kind in found.items()]


SHARED: list[tuple[str, Any, Any]] = [
    ("column", Column, None),
    ("n", Number, None),
    ("statistic", Statistic, "median"),
    *_own(),
    ("bounds", Bounds, None),
    ("digits", o.Digits, None),
    ("step", o.Step, None),
    ("categories", o.Listed, None),
    ("contributions", o.Contributions, 1),
    ("group_size", GroupSize, None),
    ("interval", o.Interval, None),
    ("covers", o.Covering, o.Covers.data),
    ("delta", Delta, None),
    ("draws", Draws, 500),
]


def with_options(
    first: list[tuple[str, Any, Any]], last: list[tuple[str, Any, Any]]
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command its own options and those that both commands have."""

    def laid_out(function: Callable[..., None]) -> Callable[..., None]:
        listed = [("data", Shape, NEEDED), *first, *SHARED, *last]
        parameters = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=kind, default=value)
            for name, kind, value in listed
        ]
        function.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        function.__annotations__ = {one.name: one.annotation for one in parameters}
        return function

    return laid_out


def question(given: dict[str, Any]) -> dict[str, Any]:
    """The arguments that `preview` and `epsilon_for` share; a file is read into memory."""
    from duffdp.cli.values import candidates, listed, written_parameter
    from duffdp.planning.question import plannable
    from duffdp.planning.shapes import SHAPES
    from duffdp.written import value

    known = plannable(given["statistic"].replace("-", "_"))
    said = {name: given[name] for name, *_ in _own() if given[name] not in (None, [])}
    own = {name: written_parameter(name, text) for name, text in said.items()}
    asked: dict[str, Any] = {
        name: given[name]
        for name in ("n", "contributions", "group_size", "interval", "delta", "draws")
    }
    asked |= {"statistic": known.name, "covers": str(given["covers"])}
    asked["bounds"] = candidates(given["bounds"], given["digits"])
    if given["step"] is not None:
        asked["step"] = value(given["step"])
    if given["categories"] is not None:
        asked["categories"] = listed(given["categories"])
    if given["data"] in SHAPES:
        return asked | own | {"data": given["data"]}
    return _of_file(known, given["data"], given["column"], asked, own)


def _of_file(
    known: Any, data: str, column: str | None, asked: dict[str, Any], own: dict[str, Any]
) -> dict[str, Any]:
    """The same with the records of a file, and with texts as values of their column."""
    from duffdp.cli.source import source_of
    from duffdp.engines.tables import read_columns
    from duffdp.errors import DuffError
    from duffdp.pipeline.ask import Ask
    from duffdp.pipeline.text_values import with_values
    from duffdp.planning.shapes import SHAPES
    from duffdp.statistics.registry import check_parameter_names

    if column is None and not known.of_pairs:
        raise DuffError(
            f"a file needs --column; without records pass one of {', '.join(SHAPES)} and --n."
        )
    check_parameter_names(known, own)
    name, parameters = known.for_parameters(own)
    public: dict[str, Any] = {key: asked.get(key) for key in ("bounds", "step", "categories")}
    ask = Ask(statistic=name, epsilon=1, parameters=parameters, column=column, **public)
    checked = ask.check()
    with source_of(data) as path:
        if known.of_pairs:
            if checked.selection.pair is None:
                raise DuffError(f"{known.name} needs --x and --y, the names of two columns.")
            pairs = read_columns(path, [*checked.selection.pair], "float")
            return asked | {"data": list(zip(*pairs, strict=True))}
        ask = with_values(ask, path)
        (records,) = read_columns(path, [str(column)], checked.domain.kind)
    typed = {"values": ask.parameters["values"]} if own.get("values") else {}
    return asked | own | typed | {"data": records, "categories": ask.categories}
