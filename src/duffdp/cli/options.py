"""The options that commands share."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer


class Format(StrEnum):
    """How a result is written."""

    table = "table"
    json = "json"
    csv = "csv"
    parquet = "parquet"
    excel = "excel"


# What the choices of `--mechanism` mean.
MECHANISMS = {
    "best": "the most accurate one",
    "clipped": "for wide bounds, biased where tails are heavy",
    "distance": "by dataset distance, improved",
    "duff": "the paper's",
}


def chosen(choices: tuple[str, ...]) -> Any:
    """The option of a statistic that can be drawn in several ways."""
    said = " ".join(f"{name}: {MECHANISMS[name]}." for name in choices)
    kinds = StrEnum("Mechanism", {name: name for name in choices})  # type: ignore[misc]
    return Annotated[kinds, typer.Option("--mechanism", help=said)]


class Covers(StrEnum):
    """What an interval holds."""

    data = "data"
    population = "population"


class PipeKind(StrEnum):
    """What a pipe holds."""

    csv = "csv"
    tsv = "tsv"
    jsonl = "jsonl"
    parquet = "parquet"


Data = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help=(
            "A CSV, TSV, JSON lines, Parquet or Excel file ('file.xlsx::sheet'), a folder of "
            "Parquet, 'file.duckdb::table', 'postgresql://user@host/db::table', or - for a pipe."
        ),
    ),
]
Pipe = Annotated[
    PipeKind | None,
    typer.Option("--pipe", help="What the pipe holds; CSV and Parquet are told by their header."),
]
Types = Annotated[
    str | None,
    typer.Option(
        "--types",
        metavar="COLUMN=TYPE,...",
        help="What columns of a file of text are: text, integer, double, boolean, date, timestamp "
        "or, for the times of a zone, timestamp[Europe/Berlin].",
    ),
]
Decimal = Annotated[
    str | None,
    typer.Option(
        "--decimal", metavar="MARK", help="What stands before decimals in a file of text: . or ,"
    ),
]
DateFormat = Annotated[
    str | None,
    typer.Option(
        "--date-format",
        metavar="FORMAT",
        help="How a file of text writes dates, such as '%d.%m.%Y %H:%M'; else as ISO 8601.",
    ),
]
Sql = Annotated[
    str | None,
    typer.Option(
        "--sql",
        metavar="SELECT",
        help='A query over DATA, as in "SELECT cost * 1.19 AS gross FROM data WHERE age >= 18"; '
        "with GROUP BY, --unit must be one of its columns.",
    ),
]
Column = Annotated[str, typer.Option("--column", "-c", help="The column to summarise.")]
AnyColumn = Annotated[
    str | None,
    typer.Option("--column", "-c", help="Count the rows where it is not missing; else all rows."),
]
Epsilon = Annotated[
    float, typer.Option("--epsilon", "-e", help="The whole privacy loss of this command.")
]
Bounds = Annotated[
    tuple[str, str],
    typer.Option(
        "--bounds",
        metavar="LOWER UPPER",
        help="Public bounds: two numbers or ISO dates, never from the data.",
    ),
]
BoundsOrDigits = Annotated[
    tuple[str, str] | None,
    typer.Option(
        "--bounds",
        metavar="LOWER UPPER",
        help="Public bounds: two numbers or ISO dates, never from the data; or --digits.",
    ),
]
Digits = Annotated[
    int | None,
    typer.Option(
        "--digits",
        help="In place of bounds: answers are 0 and numbers with so many significant digits, "
        "from 1e-9 to 1e12 and their negatives.",
    ),
]
NoBounds = Annotated[
    tuple[str, str] | None,
    typer.Option("--bounds", metavar="LOWER UPPER", help="Public bounds, in place of categories."),
]
Step = Annotated[
    str | None,
    typer.Option(
        "--step", help="Distance between possible answers (days for dates, seconds for times)."
    ),
]
By = Annotated[
    list[str] | None,
    typer.Option("--by", metavar="COLUMN", help="A column that forms groups; may be repeated."),
]
Keys = Annotated[
    list[str] | None,
    typer.Option(
        "--keys",
        metavar="A,B,...",
        help=(
            "The public groups, once for each --by; or @FILE, a table with that column or a text "
            "with one on a line. Every key is answered."
        ),
    ),
]
Where = Annotated[
    str | None,
    typer.Option(
        "--where",
        metavar="CONDITION",
        help="Which rows count, such as \"age >= 18 AND ward <> 'ER'\"; row by row.",
    ),
]
Unit = Annotated[
    str | None,
    typer.Option("--unit", help="The column that names the person; without it a row is protected."),
]
GroupsPerPerson = Annotated[
    int | None,
    typer.Option(
        "--groups-per-person",
        help="In how many groups a person counts at most, with --contributions rows in each.",
    ),
]
SuppressBelow = Annotated[
    int | None,
    typer.Option(
        "--suppress-below",
        metavar="COUNT",
        help="Withhold numbers of groups with a smaller noisy count, which takes a tenth of "
        "epsilon and stands beside each group.",
    ),
]
Contributions = Annotated[
    int, typer.Option("--contributions", help="How many rows of a person count at most.")
]
Interval = Annotated[
    float | None,
    typer.Option(
        "--interval",
        metavar="CONFIDENCE",
        help="Also an interval that holds the answer this often, such as 0.95.",
    ),
]
Simultaneous = Annotated[
    bool,
    typer.Option("--simultaneous", help="All intervals hold together that often, not only each."),
]
Covering = Annotated[
    Covers,
    typer.Option(
        "--covers",
        help="What the interval holds: the answer for the data, or for the population that they "
        "were drawn from.",
    ),
]
Book = Annotated[
    Path | None,
    typer.Option("--ledger", help="The budget to charge; see 'duffdp ledger init'."),
]
Dataset = Annotated[
    str | None, typer.Option("--dataset", help="Which budget of the ledger, if it has several.")
]
CallId = Annotated[
    str | None,
    typer.Option("--call-id", help="Makes a retry safe: a stored release is returned for nothing."),
]
Listed = Annotated[
    str | None,
    typer.Option(
        "--categories",
        metavar="A,B,...",
        help="The public list of possible values; or @FILE, one on a line.",
    ),
]
Edges = Annotated[
    str,
    typer.Argument(
        metavar="EDGES", help="A CSV file with an edge a line: two columns of node numbers."
    ),
]
Written = Annotated[Format, typer.Option("--format", "-f", help="How to write the result.")]
Out = Annotated[
    Path | None, typer.Option("--out", "-o", help="Write to this file instead of the terminal.")
]
USUAL_TITLE = "Private release"
Title = Annotated[str, typer.Option("--title", help="The heading of the page.")]
Author = Annotated[
    str | None, typer.Option("--author", help="Who made the page; it is printed as it is.")
]
Report = Annotated[
    Path | None,
    typer.Option("--report", help="Also write a page about the release: page.html or page.md."),
]
