"""The pictures of the plan: SVG that takes its colours from the page around it, each with words
that say the same.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from duffdp.printable import as_html
from duffdp.studio.numbers import rounded

WIDTH, HEIGHT = 460, 250
LEFT, RIGHT, TOP, BOTTOM = 64, 28, 14, 44
ZERO = 16  # below a logarithmic axis, where 0 has its place
BASE = HEIGHT - BOTTOM
DOTS = 20
ICONS, ACROSS = 100, 10
Points = Sequence[tuple[float, float]]


class Scale(NamedTuple):
    """A logarithmic axis: two ends, and where they lie in the picture."""

    low: float
    high: float
    begin: float
    end: float

    def at(self, value: float) -> float:
        """The place of a value; 0 lies below the axis."""
        if value <= self.low:
            return self.begin + (ZERO if value == 0 else 0)
        share = math.log(min(value, self.high) / self.low) / math.log(self.high / self.low)
        return self.begin + share * (self.end - self.begin)

    def ticks(self) -> list[float]:
        """Powers of ten between the ends."""
        first, last = math.ceil(math.log10(self.low) - 1e-9), math.floor(math.log10(self.high))
        every = max(1, (last - first + 5) // 6)
        return [10.0**k for k in range(first, last + 1, every)]


def _decades(values: Sequence[float], begin: float, end: float) -> Scale:
    """The axis from the power of ten below all values to the one above them."""
    positive = [value for value in values if 0 < value < math.inf] or [1.0]
    begin -= ZERO
    low = 10.0 ** math.floor(math.log10(min(positive)) - 1e-9)
    high = 10.0 ** math.ceil(math.log10(max(positive)) + 1e-9)
    return Scale(low, max(high, 10 * low), begin, end)


def error_by_epsilon(
    curve: Points, now: tuple[float, float], sampling: float | None, unit: str, budget: float | None
) -> str:
    """The error against epsilon, on two logarithmic axes; the sampling error is a grey band."""
    across = Scale(curve[0][0], curve[-1][0], LEFT, WIDTH - RIGHT)
    known = [error for _, error in curve] + [now[1]] + ([sampling] if sampling else [])
    up = _decades(known, BASE, TOP)
    at, error = now
    said = (
        f"Error against epsilon: at epsilon {rounded(at)} the error is at most {rounded(error)} "
        f"{unit} in 95 of 100 releases."
    )
    if sampling:
        said += f" The sampling error, {rounded(sampling)} {unit}, is there at every epsilon."
    out = [_open(said), *_axes(across, up, "epsilon of the whole table", f"error in {unit}")]
    if sampling:
        out.append(_band([(across.low, sampling), (across.high, sampling)], across, up))
        y = max(up.at(sampling) - 5, TOP + 10)
        out.append(f'<text class="soft" x="{WIDTH - RIGHT - 4}" y="{y:.1f}" {END}>sampling</text>')
    if budget is not None and across.low < budget < across.high:
        x = across.at(budget)
        out.append(f'<line class="limit" x1="{x:.1f}" y1="{TOP}" x2="{x:.1f}" y2="{BASE}"/>')
        out.append(f'<text class="soft" x="{x - 4:.1f}" y="{TOP + 10}" {END}>budget left</text>')
    out += [_curve(curve, across, up), _marker(at, error, across, up)]
    return _closed(out)


def error_by_size(
    curve: Points, now: tuple[float, float], sampling: Points, unit: str, people: str
) -> str:
    """The error against the size of a group, on two logarithmic axes."""
    across = Scale(curve[0][0], curve[-1][0], LEFT, WIDTH - RIGHT)
    known = [error for _, error in (*curve, *sampling)] + [now[1]]
    up = _decades(known, BASE, TOP)
    told = ", ".join(f"{rounded(error)} {unit} for {size:,.0f} {people}" for size, error in curve)
    out = [_open(f"Error by the size of a group: {told}.")]
    out += _axes(across, up, f"{people} in a group", f"error in {unit}")
    if sampling:
        out.append(_band(sampling, across, up))
    out += [_curve(curve, across, up), _marker(*now, across, up)]
    return _closed(out)


def twenty_dots(deviations: Sequence[float], unit: str) -> str:
    """Where the answer may fall: twenty dots, each as likely as the others, around the truth."""
    reach = max(map(abs, deviations)) or 1.0
    middle, half, radius = WIDTH / 2, (WIDTH - 2 * LEFT) / 2, 8.0
    out = [
        _open(
            f"Twenty equally likely answers: from {rounded(min(deviations))} to "
            f"{rounded(max(deviations))} {unit} off the truth, half of them within "
            f"{rounded(sorted(map(abs, deviations))[DOTS // 2 - 1])} {unit}."
        )
    ]
    for share in (-1.0, -0.5, 0.0, 0.5, 1.0):
        x, at = middle + share * half, share * reach
        kind = "truth" if share == 0 else "tick"
        out.append(f'<line class="{kind}" x1="{x:.1f}" y1="{TOP}" x2="{x:.1f}" y2="{BASE + 4}"/>')
        text = "truth" if share == 0 else f"{at:+.3g}"
        out.append(f'<text class="soft" x="{x:.1f}" y="{BASE + 18}" {MIDDLE}>{text}</text>')
    stacks: dict[int, list[float]] = {}
    for deviation in deviations:
        stacks.setdefault(round(deviation / reach * half / (2 * radius)), []).append(deviation)
    tall = min(2 * radius, (BASE - TOP) / max(map(len, stacks.values())))
    size = min(radius, tall / 2) - 0.5
    for stack in stacks.values():
        x = middle + sum(stack) / len(stack) / reach * half
        for above in range(len(stack)):
            y = BASE - tall * (above + 0.5)
            out.append(f'<circle class="dot" cx="{x:.1f}" cy="{y:.1f}" r="{size:.1f}"/>')
    out.append(_label(f"difference to the truth, in {as_html(unit)}"))
    return _closed(out)


def odds_icons(share: float, who: str, taking_part: bool) -> str:
    """A hundred icons, of which so many are full: how often an attacker says that someone took
    part.
    """
    full = min(ICONS, max(0, round(ICONS * share)))
    told = "takes part" if taking_part else "does not take part"
    side = 13.0
    out = [
        f'<svg class="icons" viewBox="0 0 {ACROSS * side:.0f} {ICONS / ACROSS * side:.0f}" '
        f'role="img" aria-label="{full} of 100: {as_html(who)} {told}.">'
    ]
    for i in range(ICONS):
        row, column = divmod(i, ACROSS)
        kind = "full" if i < full else "empty"
        x, y = (column + 0.5) * side, (row + 0.5) * side
        out.append(f'<circle class="{kind}" cx="{x:.1f}" cy="{y:.1f}" r="{side * 0.36:.1f}"/>')
    return _closed(out)


def bar(parts: Sequence[tuple[str, float, str]], whole: float, said: str) -> str:
    """Parts of a whole side by side: for each a class, an amount, and what it is."""
    out = [
        f'<svg class="bar" viewBox="0 0 400 18" preserveAspectRatio="none" role="img" '
        f'aria-label="{as_html(said)}"><rect class="rest" width="400" height="18" rx="3"/>'
    ]
    x = 0.0
    for kind, amount, told in parts:
        width = 400 * max(0.0, min(amount / whole, 1.0)) if whole else 0.0
        width = min(width, 400 - x)
        out.append(
            f'<rect class="{kind}" x="{x:.2f}" width="{max(width - 0.8, 0):.2f}" height="18">'
            f"<title>{as_html(told)}</title></rect>"
        )
        x += width
    return _closed(out)


END, MIDDLE = 'text-anchor="end"', 'text-anchor="middle"'


def _open(said: str) -> str:
    return f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{as_html(said)}">'


def _closed(parts: list[str]) -> str:
    return "".join([*parts, "</svg>"])


def _label(text: str) -> str:
    middle = (LEFT + WIDTH - RIGHT) / 2
    return f'<text class="label" x="{middle:.0f}" y="{HEIGHT - 6}" {MIDDLE}>{text}</text>'


def _axes(across: Scale, up: Scale, below: str, beside: str) -> list[str]:
    out = []
    for value in across.ticks():
        x = across.at(value)
        out.append(f'<line class="tick" x1="{x:.1f}" y1="{TOP}" x2="{x:.1f}" y2="{BASE + 4}"/>')
        text = f"{value:,.0f}" if value >= 1 else f"{value:g}"
        out.append(f'<text class="soft" x="{x:.1f}" y="{BASE + 18}" {MIDDLE}>{text}</text>')
    for value in (0.0, *up.ticks()):
        y = up.at(value)
        out.append(
            f'<line class="tick" x1="{LEFT - 4}" y1="{y:.1f}" x2="{WIDTH - RIGHT}" y2="{y:.1f}"/>'
        )
        text = f"{value:,.0f}" if 1 <= value < 1e6 or not value else f"{value:g}"
        out.append(f'<text class="soft" x="{LEFT - 8}" y="{y + 4:.1f}" {END}>{text}</text>')
    turned = f'transform="rotate(-90 12 {(TOP + BASE) / 2:.0f})"'
    out.append(
        f'<text class="label" x="12" y="{(TOP + BASE) / 2:.0f}" {MIDDLE} {turned}>'
        f"{as_html(beside)}</text>"
    )
    return [*out, _label(as_html(below))]


def _band(points: Points, across: Scale, up: Scale) -> str:
    top = " ".join(f"{across.at(x):.1f},{up.at(y):.1f}" for x, y in points)
    last, first = across.at(points[-1][0]), across.at(points[0][0])
    shape = f"{top} {last:.1f},{BASE} {first:.1f},{BASE}"
    return f'<polygon class="band" points="{shape}"/>'


def _curve(points: Points, across: Scale, up: Scale) -> str:
    places = " ".join(f"{across.at(x):.1f},{up.at(y):.1f}" for x, y in points)
    return f'<polyline class="curve" points="{places}"/>'


def _marker(x: float, y: float, across: Scale, up: Scale) -> str:
    at = max(across.low, min(x, across.high))
    return f'<circle class="now" cx="{across.at(at):.1f}" cy="{up.at(y):.1f}" r="6"/>'
