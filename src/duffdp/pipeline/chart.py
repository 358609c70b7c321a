"""Points with intervals, and shares with their band, on axes of matplotlib."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from decimal import Decimal
from typing import Any, NamedTuple, Protocol

from duffdp.domain import Grid
from duffdp.optional import load
from duffdp.parameters import Covers
from duffdp.pipeline.columnar import EXTRA
from duffdp.pipeline.span import Span
from duffdp.printable import visible

_LONGEST = 28  # letters of the name of a group


class Points(NamedTuple):
    """What is drawn on one pair of axes: a value for each group, ends where there are any."""

    name: str
    labels: list[str]
    spans: Sequence[Span]
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
    for place, (span, pale) in enumerate(zip(points.spans, points.muted, strict=True)):
        if span.value is None:
            continue
        strength = 0.3 if pale else 1.0
        if span.low is not None:
            ends = [_number(span.low), _number(span.high)]
            axes.plot(ends, [place] * 2, color="C0", alpha=strength, lw=2)
        axes.plot([_number(span.value)], [place], "o", color="C0", alpha=strength)
    axes.set_yticks(range(len(points.labels)), list(map(_label, points.labels)))
    axes.set_ylim(len(points.labels) - 0.5, -0.5)
    axes.set_xlabel(_label(points.name))
    axes.grid(axis="x", alpha=0.3)
    return axes


def draw_groups(
    name: str, groups: list[str], names: list[str], rows: Sequence[Sequence[Span]], ax: Any
) -> Any:
    """The numbers of groups, a line for each, or for each number where there are several."""
    labels, spans = groups, [span for row in rows for span in row]
    if len(spans) > len(groups):
        labels = [f"{group}: {one}" if group else one for group in groups for one in names]
    points = Points(name, labels, spans, [span.too_few for span in spans])
    return draw_points(points, ax or new_axes(1, len(labels))[0])


def draw_distributions(groups: list[str], distributions: Sequence[Any], ax: Any) -> Any:
    """The shares of records of groups, on the same axes."""
    axes = ax or new_axes(1, 12)[0]
    for group, whole in zip(groups, distributions, strict=True):
        whole.plot(axes, label=group)
    return axes


class Shares(Protocol):
    """Shares of records up to some values, and the corners of a band around them."""

    domain: Grid

    @property
    def confidence(self) -> float: ...
    def steps(self, covers: Covers) -> Sequence[tuple[Any, float, float, float]]: ...
    def outline(self, covers: Covers) -> Sequence[tuple[int, float, float]]: ...
    def axis(self) -> tuple[int, int]: ...


def draw_shares(shares: Shares, axes: Any, covers: Covers, label: str) -> Any:
    """Draw the shares of a distribution with its band, beside those that are there already."""
    value, first = shares.domain.value, not axes.lines
    upper, heights, _, _ = zip(*shares.steps(covers), strict=True)
    (line,) = axes.plot(list(map(_number, upper)), heights, label=_label(label) or "records")
    places, low, high = zip(*shares.outline(covers), strict=True)
    axes.fill_between(
        [_number(value(place)) for place in places],
        low,
        high,
        color=line.get_color(),
        alpha=0.25,
        linewidth=0,
        label=f"{100 * shares.confidence:g} % band, {covers}" if first else None,
    )
    ends = axes.convert_xunits([_number(value(place)) for place in shares.axis()])
    known = ends if first else axes.get_xlim()
    axes.set_xlim(min(ends[0], known[0]), max(ends[1], known[1]))
    axes.set_ylim(0, 1)
    axes.set_ylabel("share of records up to here")
    axes.legend()
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
