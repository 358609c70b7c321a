"""What the two commands for planning share: records or a named shape, and the part of the library that plans."""

from __future__ import annotations

import datetime as dt
from importlib import import_module
from typing import Any

from duffdp.cli.source import opened
from duffdp.cli.values import listed, typed, value
from duffdp.engines.sql import quote_name
from duffdp.errors import DuffError

SHAPES = ("normal", "uniform", "beta")


def planner() -> Any:
    """The package that plans, if this installation has it."""
    try:
        return import_module("duffdp.planning")
    except ImportError:
        raise DuffError("this installation of duffdp cannot plan. Install a newer version.") from None


def question(
    data: str, column: str | None, n: int | None, statistic: str, q: float | None, bounds: tuple[str, str] | None,
    step: str | None, categories: str | None,
) -> dict[str, Any]:  # fmt: skip
    """The arguments that `preview` and `epsilon_for` share; records of a file are read into memory."""
    asked: dict[str, Any] = {"statistic": statistic, "q": q, "n": n}
    if bounds is not None:
        asked["bounds"] = tuple(value(text) for text in bounds)
    if step is not None:
        asked["step"] = value(step)
    if data in SHAPES:
        return asked | {"data": data, "categories": None if categories is None else listed(categories)}
    if column is None:
        raise DuffError(f"a file needs --column; without records pass one of {', '.join(SHAPES)} and --n.")
    bound = asked.get("bounds", (0.0,))[0]
    timed = "datetime" if isinstance(bound, dt.datetime) else "date" if isinstance(bound, dt.date) else "float"
    with opened(data, [column], {(column, timed if categories is None else "category")}) as source:
        if column not in source.types:
            raise DuffError(f"there is no column {column!r}. Hint: it has {', '.join(map(repr, source.types))}.")
        if categories is not None:
            asked["categories"] = typed(column, source.types[column], listed(categories))
        records = source.rows([column]).project(quote_name(column)).fetchnumpy()[column]
    return asked | {"data": records}
