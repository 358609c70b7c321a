"""Charts of a plan: its error by epsilon and by group size, likely answers, odds and budget."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from duffdp.report.formats import rounded
from duffdp.report.svg import Point, circle, line, polygon, polyline, rectangle, svg, text

DOTS = 20
_PLOT_WIDTH, _PLOT_HEIGHT = 460, 250
_PLOT_LEFT, _PLOT_RIGHT, _PLOT_TOP, _PLOT_BOTTOM = 64, 28, 14, 44
_BASE, _EDGE = _PLOT_HEIGHT - _PLOT_BOTTOM, _PLOT_WIDTH - _PLOT_RIGHT
_ZERO_ROOM = 16  # below a logarithmic axis, where 0 has its place
_ICONS, _ICONS_ACROSS, _ICON_SIDE = 100, 10, 13.0
_BAR_WIDTH, _BAR_HEIGHT = 400, 18


class LogScale(NamedTuple):
    """A logarithmic axis: two values, and their places in the picture."""

    low: float
    high: float
    begin: float
    end: float

    def at(self, value: float) -> float:
        """The place of a value; 0 is below the axis."""
        if value <= self.low:
            return self.begin + (_ZERO_ROOM if value == 0 else 0)
        share = math.log(min(value, self.high) / self.low) / math.log(self.high / self.low)
        return self.begin + share * (self.end - self.begin)

    def ticks(self) -> list[float]:
        """Powers of ten between the two values."""
        first, last = math.ceil(math.log10(self.low) - 1e-9), math.floor(math.log10(self.high))
        step = max(1, (last - first + 5) // 6)
        return [10.0**power for power in range(first, last + 1, step)]


class LogAxes(NamedTuple):
    """Two logarithmic axes."""

    across: LogScale
    up: LogScale

    @classmethod
    def of(cls, curve: Sequence[Point], errors: Sequence[float]) -> LogAxes:
        """Axes for a curve, up to the powers of ten around these errors."""
        positive = [value for value in errors if 0 < value < math.inf] or [1.0]
        low = 10.0 ** math.floor(math.log10(min(positive)) - 1e-9)
        high = 10.0 ** math.ceil(math.log10(max(positive)) + 1e-9)
        return cls(
            LogScale(curve[0][0], curve[-1][0], _PLOT_LEFT, _EDGE),
            LogScale(low, max(high, 10 * low), _BASE - _ZERO_ROOM, _PLOT_TOP),
        )

    def places(self, points: Sequence[Point]) -> list[Point]:
        """Points in the picture."""
        return [(self.across.at(x), self.up.at(y)) for x, y in points]

    def elements(self, below: str, side_label: str) -> list[str]:
        """Both axes with their labels."""
        parts = []
        for value in self.across.ticks():
            x = self.across.at(value)
            parts.append(line("tick", (x, _PLOT_TOP), (x, _BASE + 4)))
            mark = f"{value:,.0f}" if value >= 1 else f"{value:g}"
            parts.append(text(mark, (x, _BASE + 18), "soft", "middle"))
        for value in (0.0, *self.up.ticks()):
            y = self.up.at(value)
            parts.append(line("tick", (_PLOT_LEFT - 4, y), (_EDGE, y)))
            mark = f"{value:,.0f}" if 1 <= value < 1e6 or not value else f"{value:g}"
            parts.append(text(mark, (_PLOT_LEFT - 8, y + 4), "soft", "end"))
        middle = (_PLOT_TOP + _BASE) / 2
        parts.append(text(side_label, (12, middle), "label", "middle", turned=True))
        return [*parts, _label_below(below)]

    def band(self, points: Sequence[Point]) -> str:
        """The area between points and the base."""
        places = self.places(points)
        return polygon("band", [*places, (places[-1][0], _BASE), (places[0][0], _BASE)])

    def curve(self, points: Sequence[Point], now: Point) -> list[str]:
        """A line through points, and a dot for the current choice."""
        x, y = now
        within = max(self.across.low, min(x, self.across.high))
        dot = circle("now", self.places([(within, y)])[0], 6)
        return [polyline("curve", self.places(points)), dot]


def error_by_epsilon(
    curve: Sequence[Point], now: Point, sampling: float | None, unit: str, remaining: float | None
) -> str:
    """The error by epsilon, with the sampling error as a gray band, and the remaining budget."""
    axes = LogAxes.of(curve, [*(error for _, error in (*curve, now)), *_present(sampling)])
    epsilon, error = now
    description = (
        f"Error against epsilon: at epsilon {rounded(epsilon)} the error is at most "
        f"{rounded(error)} {unit} in 95 of 100 releases."
    )
    if sampling:
        description += (
            f" The sampling error, {rounded(sampling)} {unit}, is there at every epsilon."
        )
    parts = axes.elements("epsilon of the whole table", f"error in {unit}")
    across, up = axes
    if sampling:
        parts.append(axes.band([(across.low, sampling), (across.high, sampling)]))
        y = max(up.at(sampling) - 5, _PLOT_TOP + 10)
        parts.append(text("sampling", (_EDGE - 4, y), "soft", "end"))
    if remaining is not None and across.low < remaining < across.high:
        x = across.at(remaining)
        parts.append(line("limit", (x, _PLOT_TOP), (x, _BASE)))
        parts.append(text("budget left", (x - 4, _PLOT_TOP + 10), "soft", "end"))
    return svg(_PLOT_WIDTH, _PLOT_HEIGHT, description, [*parts, *axes.curve(curve, now)])


def error_by_size(
    curve: Sequence[Point], now: Point, sampling: Sequence[Point], unit: str, people: str
) -> str:
    """The error by group size, with the sampling error as a gray band."""
    axes = LogAxes.of(curve, [error for _, error in (*curve, *sampling, now)])
    errors = ", ".join(f"{rounded(error)} {unit} for {size:,.0f} {people}" for size, error in curve)
    parts = axes.elements(f"{people} in a group", f"error in {unit}")
    if sampling:
        parts.append(axes.band(sampling))
    description = f"Error by group size: {errors}."
    return svg(_PLOT_WIDTH, _PLOT_HEIGHT, description, [*parts, *axes.curve(curve, now)])


def twenty_dots(deviations: Sequence[float], unit: str) -> str:
    """Likely answers: twenty equally likely dots around the truth."""
    reach = max(map(abs, deviations)) or 1.0
    middle, half, radius = _PLOT_WIDTH / 2, (_PLOT_WIDTH - 2 * _PLOT_LEFT) / 2, 8.0
    parts = []
    for share in (-1.0, -0.5, 0.0, 0.5, 1.0):
        x = middle + share * half
        parts.append(line("tick" if share else "truth", (x, _PLOT_TOP), (x, _BASE + 4)))
        mark = f"{share * reach:+.3g}" if share else "truth"
        parts.append(text(mark, (x, _BASE + 18), "soft", "middle"))
    stacks: dict[int, list[float]] = {}
    for deviation in deviations:
        stacks.setdefault(round(deviation / reach * half / (2 * radius)), []).append(deviation)
    height = min(2 * radius, (_BASE - _PLOT_TOP) / max(map(len, stacks.values())))
    size = min(radius, height / 2) - 0.5
    for stack in stacks.values():
        x = middle + sum(stack) / len(stack) / reach * half
        parts += [
            circle("dot", (x, _BASE - height * (above + 0.5)), size) for above in range(len(stack))
        ]
    parts.append(_label_below(f"difference from the exact answer, in {unit}"))
    description = (
        f"Twenty possible answers, equally likely: from {rounded(min(deviations))} to "
        f"{rounded(max(deviations))} {unit} from the exact answer, half of them within "
        f"{rounded(sorted(map(abs, deviations))[DOTS // 2 - 1])} {unit}."
    )
    return svg(_PLOT_WIDTH, _PLOT_HEIGHT, description, parts)


def odds_icons(share: float, subject: str, takes_part: bool) -> str:
    """A hundred icons, full for each time that an attacker says "took part"."""
    full = min(_ICONS, max(0, round(_ICONS * share)))
    parts = []
    for i in range(_ICONS):
        row, column = divmod(i, _ICONS_ACROSS)
        center = (column + 0.5) * _ICON_SIDE, (row + 0.5) * _ICON_SIDE
        parts.append(circle("full" if i < full else "empty", center, _ICON_SIDE * 0.36))
    truth = "takes part" if takes_part else "does not take part"
    side = _ICONS_ACROSS * _ICON_SIDE
    return svg(side, side, f"{full} of 100: {subject} {truth}.", parts, style="icons")


def stacked_bar(parts: Sequence[tuple[str, float, str]], total: float, description: str) -> str:
    """Parts of a total side by side: for each a style, an amount, and a tooltip."""
    bars = [rectangle("rest", (0, 0), _BAR_WIDTH, _BAR_HEIGHT, radius=3)]
    x = 0.0
    for style, amount, tooltip in parts:
        width = _BAR_WIDTH * max(0.0, min(amount / total, 1.0)) if total else 0.0
        width = min(width, _BAR_WIDTH - x)
        bars.append(rectangle(style, (x, 0), max(width - 0.8, 0), _BAR_HEIGHT, title=tooltip))
        x += width
    return svg(_BAR_WIDTH, _BAR_HEIGHT, description, bars, style="bar", stretch=True)


def _present(number: float | None) -> list[float]:
    return [number] if number else []


def _label_below(label: str) -> str:
    return text(label, ((_PLOT_LEFT + _EDGE) / 2, _PLOT_HEIGHT - 6), "label", "middle")
