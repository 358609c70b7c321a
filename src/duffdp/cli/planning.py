"""What the two commands for planning share: records or a named shape."""

from __future__ import annotations

from typing import Any

from duffdp.cli.source import source_of
from duffdp.cli.values import candidates, listed, value
from duffdp.engines.tables import read_column
from duffdp.errors import DuffError
from duffdp.pipeline.ask import bounded
from duffdp.pipeline.text_values import column_values
from duffdp.planning.question import SHAPES


def question(
    data: str,
    column: str | None,
    n: int | None,
    statistic: str,
    q: float | None,
    bounds: tuple[str, str] | None,
    digits: int | None,
    step: str | None,
    categories: str | None,
) -> dict[str, Any]:
    """The arguments that `preview` and `epsilon_for` share; a file is read into memory."""
    asked: dict[str, Any] = {"statistic": statistic, "q": q, "n": n}
    asked["bounds"] = candidates(bounds, digits)
    if step is not None:
        asked["step"] = value(step)
    if data in SHAPES:
        return asked | {
            "data": data,
            "categories": None if categories is None else listed(categories),
        }
    if column is None:
        raise DuffError(
            f"a file needs --column; without records pass one of {', '.join(SHAPES)} and --n."
        )
    with source_of(data) as path:
        if categories is not None:
            asked["categories"] = column_values(path, column, listed(categories))
        outputs = asked["bounds"]
        kind = "category" if outputs is None else bounded(outputs, asked.get("step"), "order").kind
        return asked | {"data": read_column(path, column, kind)}
