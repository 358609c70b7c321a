"""Points with intervals, a line for each group, on axes of matplotlib."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from decimal import Decimal
from typing import Any, NamedTuple

from duffdp.optional import load
from duffdp.pipeline.columnar import EXTRA
from duffdp.printable import visible

_LONGEST = 28  # letters of the name of a group


class Points(NamedTuple):
    """What is drawn on one pair of axes: a value for each group, ends where there are any."""

    name: str
    labels: list[str]
    values: list[Any]
    ends: Sequence[Sequence[Any]]
    muted: list[bool]


def new_axes(many: int, rows: int) -> list[Any]:
    """Axes side by side for so many columns."""
    pyplot = load("matplotlib.pyplot", EXTRA)
    _, found = pyplot.subplots(
        1,
        many,
        sharey=True,
        squeeze=False,
        figsize=(max(4.5, 3.2 * many), 1.2 + 0.3 * rows),
        layout="constrained",
    )
    return list(found[0])


def draw_points(points: Points, axes: Any) -> Any:
    """Draw them, the first group on top; groups that are too small are pale."""
    for place, (value, ends, pale) in enumerate(
        zip(points.values, points.ends, points.muted, strict=True)
    ):
        if value is None:
            continue
        strength = 0.3 if pale else 1.0
        if ends and None not in ends:
            axes.plot(list(map(_number, ends)), [place] * 2, color="C0", alpha=strength, lw=2)
        axes.plot([_number(value)], [place], "o", color="C0", alpha=strength)
    axes.set_yticks(range(len(points.labels)), list(map(_label, points.labels)))
    axes.set_ylim(len(points.labels) - 0.5, -0.5)
    axes.set_xlabel(_label(points.name))
    axes.grid(axis="x", alpha=0.3)
    return axes


def _number(value: Any) -> Any:
    """What an axis can hold; a time that something lasts in days."""
    if isinstance(value, dt.timedelta):
        return value / dt.timedelta(days=1)
    return float(value) if isinstance(value, Decimal) else value


def _label(text: str) -> str:
    """Text for a picture; nothing in it is a formula."""
    text = visible(text)
    cut = text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
    return cut.replace("$", r"\$")
