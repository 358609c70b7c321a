"""Plots on matplotlib axes: points with intervals, and distributions with their bands."""

from __future__ import annotations

import datetime as dt
import os
from collections.abc import Sequence
from decimal import Decimal
from typing import Any, NamedTuple, Protocol

from duffdp._optional import load
from duffdp._parameters import Covers
from duffdp._pipeline.estimates import Estimate
from duffdp._pipeline.export import EXTRA
from duffdp._pipeline.number_text import PERCENT
from duffdp._text import visible
from duffdp.domain import Grid
from duffdp.errors import DuffError

_MAX_PLOT_LABEL = 28  # letters
_MAX_AXIS_LABEL = 60
_MAX_SHORT_NUMBER = 1e5  # fewer ticks have room for larger ones
_LARGE = ((1e9, "billion"), (1e6, "million"))


class PlotSeries(NamedTuple):
    """The estimates on one pair of axes, one for each label; muted ones are pale."""

    name: str
    labels: list[str]
    estimates: Sequence[Estimate]
    muted: list[bool]
    unit: str = ""


def new_axes(columns: int, rows: int) -> list[Any]:
    """Axes side by side."""
    pyplot = load("matplotlib.pyplot", EXTRA)
    _, axes = pyplot.subplots(
        1,
        columns,
        sharey=True,
        squeeze=False,
        figsize=(max(4.5, 3.2 * columns), 1.2 + 0.3 * rows),
        layout="constrained",
    )
    return list(axes[0])


def _axes(ax: Any, rows: int) -> Any:
    """The axes of the caller, or new ones."""
    if isinstance(ax, str | os.PathLike):
        raise DuffError(
            f"ax must be axes of matplotlib, got {os.fspath(ax)!r:.60}. To save the picture, call "
            'plot().figure.savefig("picture.png").'
        )
    return new_axes(1, rows)[0] if ax is None else ax


def draw_series(series: PlotSeries, axes: Any) -> Any:
    """Draw estimates as points with lines, the first on top."""
    for place, (estimate, muted) in enumerate(zip(series.estimates, series.muted, strict=True)):
        if estimate.value is None:
            continue
        alpha = 0.3 if muted else 1.0
        if estimate.low is not None:
            ends = [_number(estimate.low), _number(estimate.high)]
            axes.plot(ends, [place] * 2, color="C0", alpha=alpha, lw=2)
        axes.plot([_number(estimate.value)], [place], "o", color="C0", alpha=alpha)
    axes.set_yticks(range(len(series.labels)), list(map(_label, series.labels)))
    axes.set_ylim(max(1, len(series.labels)) - 0.5, -0.5)
    values = [estimate.value for estimate in series.estimates if estimate.value is not None]
    scale = _plain_numbers(axes.xaxis, values, series.unit)
    unit = " ".join(filter(None, (scale, series.unit)))
    axes.set_xlabel(_label(f"{series.name} ({unit})" if unit else series.name, _MAX_AXIS_LABEL))
    axes.grid(axis="x", alpha=0.3)
    return axes


def _plain_numbers(axis: Any, values: Sequence[Any], unit: str = "") -> str:
    """Ticks with all their digits, thousands apart and percent as percent; dates stay dates.
    Returns the word for millions or billions, if the ticks count these.
    """
    if not values or not all(isinstance(value, int | float | Decimal) for value in values):
        return ""
    ticker = load("matplotlib.ticker", EXTRA)
    largest = float(max(map(abs, values)))
    factor, word = next(((size, name) for size, name in _LARGE if largest >= 10 * size), (1.0, ""))
    if unit == PERCENT:
        factor = 0.01
    ticks = 3 if largest / factor >= _MAX_SHORT_NUMBER else 5
    axis.set_major_locator(ticker.MaxNLocator(ticks))
    axis.set_major_formatter(ticker.FuncFormatter(lambda x, _: f"{x / factor:,.8g}"))
    return word


def draw_groups(
    title: str, groups: list[str], names: list[str], rows: Sequence[Sequence[Estimate]], ax: object
) -> Any:
    """Draw the numbers of groups, a line for each number."""
    labels, estimates = groups, [estimate for row in rows for estimate in row]
    if len(estimates) > len(groups):
        labels = [f"{group}: {name}" if group else name for group in groups for name in names]
    muted = [estimate.too_few for estimate in estimates]
    series = PlotSeries(title, labels, estimates, muted)
    return draw_series(series, _axes(ax, len(labels)))


def draw_distributions(name: str, groups: list[str], distributions: Sequence[Any], ax: Any) -> Any:
    """Draw the distributions of groups on the same axes."""
    axes = _axes(ax, 12)
    for group, distribution in zip(groups, distributions, strict=True):
        distribution.plot(axes, label=group)
    scale = axes.get_xlabel()
    axes.set_xlabel(_label(f"{name} ({scale})" if scale else name, _MAX_AXIS_LABEL))
    return axes


class CumulativeShares(Protocol):
    """The shares of records up to some values, and the outline of a band around them."""

    domain: Grid

    @property
    def confidence(self) -> float: ...
    def steps(self, covers: Covers) -> Sequence[tuple[Any, float, float, float]]: ...
    def outline(self, covers: Covers) -> Sequence[tuple[int, float, float]]: ...
    def axis(self) -> tuple[int, int]: ...


def draw_shares(shares: CumulativeShares, axes: Any, covers: Covers, label: str) -> Any:
    """Draw the shares of a distribution with its band; earlier ones stay on the axes."""
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
        label=f"{100 * shares.confidence:g}% band, {covers}" if first else None,
    )
    ends = axes.convert_xunits([_number(value(place)) for place in shares.axis()])
    limits = ends if first else axes.get_xlim()
    axes.set_xlim(min(ends[0], limits[0]), max(ends[1], limits[1]))
    axes.set_xlabel(_plain_numbers(axes.xaxis, [_number(value(place)) for place in shares.axis()]))
    axes.set_ylim(0, 1)
    axes.set_ylabel("share of records up to here")
    axes.legend()
    return axes


def _number(value: object) -> Any:
    """A value that an axis can hold; a duration in days."""
    if isinstance(value, dt.timedelta):
        return value / dt.timedelta(days=1)
    return float(value) if isinstance(value, Decimal) else value


def _label(text: str, limit: int = _MAX_PLOT_LABEL) -> str:
    """A label without formulas, not too long."""
    text = visible(text)
    cut = text if len(text) <= limit else f"{text[: limit - 1]}…"
    return cut.replace("$", r"\$")
