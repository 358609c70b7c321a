"""A command for every statistic of the registry, with the options that its entry asks for."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from duffdp.cli import options as o
from duffdp.cli.option_words import in_words_of_options
from duffdp.errors import DuffError
from duffdp.statistics.entry import Entry

if TYPE_CHECKING:
    from duffdp.pipeline.ask import Ask

# How the parameters of statistics are written.
PARAMETERS: dict[str, Any] = {
    "q": Annotated[
        list[float],
        typer.Option(
            "-q",
            metavar="SHARE",
            help="Which quantile, from 0 to 1; may be repeated: drawn together, for one epsilon.",
        ),
    ],
    "trim": Annotated[
        float, typer.Option("--trim", help="The share that is cut off at either end, below 0.5.")
    ],
    "k": Annotated[int, typer.Option("-k", help="Edges of a star: 2 or more.")],
    "values": Annotated[
        str | None,
        typer.Option(
            "--values",
            metavar="A,B,...",
            help="The public values that a record is among; or @FILE, one on a line.",
        ),
    ],
    "between": Annotated[
        tuple[str, str] | None,
        typer.Option(
            "--between",
            metavar="LOWER UPPER",
            help="Two public ends, both included: numbers (-inf, inf too) or ISO dates.",
        ),
    ],
    "bins": Annotated[
        str | None,
        typer.Option(
            "--bins",
            metavar="A,B,...",
            help="The public edges of bins, rising: numbers, -inf, inf, or ISO dates; or @FILE.",
        ),
    ],
    "nonnegative": Annotated[
        bool | None,
        typer.Option("--nonnegative/--negative", help="Whether counts below 0 become 0, as usual."),
    ],
    "adds_up": Annotated[
        bool | None,
        typer.Option("--adds-up", help="Make counts of 0 and more that add up to the noisy sum."),
    ],
    "confidence": Annotated[
        float | None,
        typer.Option("--confidence", help="How often the band holds, at least; 0.95 as usual."),
    ],
    "x": Annotated[str, typer.Option("--x", metavar="COLUMN", help="The column of x.")],
    "y": Annotated[str, typer.Option("--y", metavar="COLUMN", help="The column of y.")],
    "nodes": Annotated[
        int,
        typer.Option("--nodes", help="The public number of nodes, those without edges included."),
    ],
}
# What a parameter means for one statistic.
OWN_PARAMETERS: dict[tuple[str, str], Any] = {
    ("top", "k"): Annotated[int, typer.Option("-k", help="How many values: 1 or more.")],
}


def command(entry: Entry) -> Callable[..., None]:
    """The function behind a command, with the signature that typer lays out."""

    def release(**given: Any) -> None:
        with in_words_of_options():
            _release(entry, given)

    laid_out = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=kind, default=default)
        for name, kind, default in _options(entry)
    ]
    release.__signature__ = inspect.Signature(laid_out)  # type: ignore[attr-defined]
    release.__annotations__ = {parameter.name: parameter.annotation for parameter in laid_out}
    release.__doc__ = entry.summary
    return release


def _options(entry: Entry) -> list[tuple[str, Any, Any]]:
    needed = inspect.Parameter.empty
    own = [
        (
            name,
            OWN_PARAMETERS.get((entry.name, name), PARAMETERS[name]),
            None if name in entry.optional and not entry.of_pairs else needed,
        )
        for name in entry.read
    ]
    choices = entry.choices
    chosen = [("mechanism", o.chosen(choices), choices[0])] if len(choices) > 1 else []
    paid = [("ledger", o.Book, None), ("dataset", o.Dataset, None), ("call_id", o.CallId, None)]
    written = [
        ("form", o.Written, o.Format.table),
        ("out", o.Out, None),
        ("report", o.Report, None),
        ("title", o.Title, o.USUAL_TITLE),
        ("author", o.Author, None),
    ]
    if entry.of_graphs:
        return [
            ("data", o.Edges, needed),
            *own,
            ("epsilon", o.Epsilon, needed),
            *chosen,
            *paid,
            *written,
        ]
    step = ("step", o.Step, None)
    listed = ("categories", o.Listed, None)
    outputs: dict[str, list[tuple[str, Any, Any]]] = {
        "grid": [("bounds", o.BoundsOrDigits, None), ("digits", o.Digits, None), step]
        if entry.uneven
        else [("bounds", o.Bounds, needed), step],
        "grid or categories": [
            listed,
            ("bounds", o.NoBounds, None),
            ("digits", o.Digits, None),
            step,
        ],
        "own or categories": [listed],
        "own": [],
    }
    column = (
        ("column", o.AnyColumn, None) if entry.column_optional else ("column", o.Column, needed)
    )
    rows: list[tuple[str, Any, Any]] = [
        ("by", o.By, None),
        ("keys", o.Keys, None),
        ("where", o.Where, None),
        ("unit", o.Unit, None),
        ("contributions", o.Contributions, 1),
        ("groups_per_person", o.GroupsPerPerson, None),
    ]
    if entry.shape != "distribution":
        rows.append(("suppress_below", o.SuppressBelow, None))
    if entry.interval is not None:
        rows += [("interval", o.Interval, None), ("simultaneous", o.Simultaneous, False)]
    if entry.covers_population:
        rows.append(("covers", o.Covering, o.Covers.data))
    return [
        ("data", o.Data, needed),
        ("pipe", o.Pipe, None),
        ("types", o.Types, None),
        ("decimal", o.Decimal, None),
        ("date_format", o.DateFormat, None),
        ("sql", o.Sql, None),
        *own,
        *([] if entry.of_pairs else [column]),
        ("epsilon", o.Epsilon, needed),
        *outputs[entry.outputs],
        *rows,
        *chosen,
        *paid,
        *written,
    ]


def _release(entry: Entry, given: dict[str, Any]) -> None:
    """Make the release of one command. Imports wait until it runs: `--help` needs none of them."""
    from duffdp.cli.output import check_outputs, named_format, say_step, show, write_report
    from duffdp.cli.progress import progress
    from duffdp.cli.source import described, named_ledger, source_of, without_pandas
    from duffdp.pipeline.run import run
    from duffdp.pipeline.text_values import with_values

    out: Path | None = given["out"]
    form = named_format(given["form"], out)
    check_outputs(form, out, given["report"])
    ask = _ask(entry, given)
    ledger = named_ledger(given["ledger"], given["dataset"], given["call_id"])
    source: AbstractContextManager[Any] = nullcontext(given["data"])
    if not entry.of_graphs:
        fields = given["types"], given["decimal"], given["date_format"]
        source = source_of(described(given["data"], *fields, given["sql"]), given["pipe"])
    with source as path, without_pandas(path), progress(1, entry.name):
        release = run(with_values(ask, path), path, ledger)
    if entry.outputs.startswith("grid") and ask.step is None:
        say_step(release)
    show({"": release}, form, out)
    if given["report"] is not None:
        made_by = given["title"], given["author"], given["data"]
        write_report({ask.title: release}, given["report"], ledger, *made_by)


def _ask(entry: Entry, given: dict[str, Any]) -> Ask:
    """What the options ask for; keys and categories are still text."""
    from duffdp.cli.values import candidates, groups, listed, refuse_data, written_parameter
    from duffdp.pipeline.ask import Ask
    from duffdp.written import value

    refuse_data(given["data"], given)
    own = {key: written_parameter(key, given[key]) for key in entry.read}
    name, parameters = entry.for_parameters(own)
    options: dict[str, Any] = {
        key: given[key]
        for key in (
            *("column", "where", "unit", "contributions", "epsilon", "interval"),
            *("simultaneous", "groups_per_person", "suppress_below"),
        )
        if key in given
    }
    if "covers" in given:
        options["covers"] = str(given["covers"])
    if "mechanism" in given:
        options["mechanism"] = str(given["mechanism"])
    options["bounds"] = candidates(given.get("bounds"), given.get("digits"))
    if entry.outputs == "grid" and options["bounds"] is None:
        raise DuffError(
            "the public outputs are missing. Pass --bounds LOWER UPPER, or --digits 3 where nobody "
            "knows bounds."
        )
    if given.get("step") is not None:
        options["step"] = value(given["step"])
    if given.get("categories") is not None:
        options["categories"] = listed(given["categories"])
    options |= groups(list(given.get("by") or []), list(given.get("keys") or []))
    ask = Ask(statistic=name, parameters=parameters, **options)
    ask.check()
    return ask
