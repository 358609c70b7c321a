"""The released numbers of groups as points with their intervals, in an SVG picture that takes its
colours from the page around it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from html import escape
from typing import Any, NamedTuple

from duffdp.domain import Categories, Digits, Ordered, PublicSet
from duffdp.pipeline.columnar import TOO_FEW
from duffdp.printable import visible
from duffdp.report.values import Number
from duffdp.report.words import written
from duffdp.statistics.entry import NumberKind

MOST_ROWS = 40
MOST_CATEGORIES = 6
WIDTH, ROW, TOP, FOOT, RIGHT = 440, 24, 12, 28, 26
LETTER = 6.6  # width of a letter at 12 px, on average
LONGEST = 18  # letters of a label
BOX = 5  # so many numbers are drawn as a box: ends, quartiles, middle
ROOM = 0.04  # of the axis beyond the largest number
Ticks = list[tuple[float, str]]


class Picture(NamedTuple):
    """An SVG, and what has to be said about its axis."""

    svg: str
    note: str = ""


class Axis(NamedTuple):
    """Marks with their places as shares of the axis, how a number becomes such a share, and what
    has to be said.
    """

    ticks: Ticks
    share: Callable[[Any], float]
    note: str = ""


def points(
    labels: list[str],
    rows: list[list[Number]],
    kind: NumberKind,
    domain: PublicSet,
    title: str,
) -> Picture | None:
    """A line for each label with a dot for each of its numbers, a bar for an interval, a box
    between the quartiles of five numbers; none if there are none, or too many to read.
    """
    told = [number for row in rows for number in row if not number.too_few]
    if not 0 < len(labels) <= MOST_ROWS:
        return None
    left = 20 + LETTER * max(len(shortened(label, LONGEST)) for label in labels)
    axis = _axis(kind, domain, told)
    if axis is None:
        return None
    width, base = WIDTH - left - RIGHT, TOP + ROW * len(labels)
    described = "; ".join(
        f"{label} {', '.join(number.said() for number in row)}".strip()
        for label, row in zip(labels, rows, strict=True)
    )
    out = [
        f'<svg viewBox="0 0 {WIDTH} {base + FOOT}" role="img" '
        f'aria-label="{escape(visible(f"{title}: {described}"))}">',
        *marks([(left + share * width, text) for share, text in axis.ticks], base),
    ]
    for i, (label, row) in enumerate(zip(labels, rows, strict=True)):
        y = TOP + ROW * (i + 0.5)
        out.append(
            f'<text x="{left - 10:.1f}" y="{y + 4:.1f}" text-anchor="end">'
            f"{escape(shortened(label, LONGEST))}</text>"
        )
        if all(number.too_few for number in row):
            out.append(
                f'<text class="axis" x="{left + width / 2:.1f}" y="{y + 4:.1f}" '
                f'text-anchor="middle">{TOO_FEW}</text>'
            )
            continue
        out.append(_line("row", left, left + width, y))
        across = [left + width * axis.share(number.value) for number in row]
        ends = [
            left + width * axis.share(end) for number in row for end in number.span or ()
        ] or across
        if min(ends) < max(ends):
            out.append(_line("span", min(ends), max(ends), y))
        if len(row) == BOX:
            out.append(
                f'<rect class="band" x="{across[1]:.1f}" y="{y - 7:.1f}" '
                f'width="{across[3] - across[1]:.1f}" height="14" rx="2"/>'
            )
            across = across[2:3]
        out += [f'<circle class="value" cx="{x:.1f}" cy="{y:.1f}" r="4.5"/>' for x in across]
    return Picture("".join([*out, "</svg>"]), axis.note)


def marks(ticks: Ticks, base: float) -> list[str]:
    """Lines from top to base with what they stand for."""
    out, free = [], 0.0
    for x, text in ticks:
        out.append(f'<line class="tick" x1="{x:.1f}" y1="{TOP - 6}" x2="{x:.1f}" y2="{base + 4}"/>')
        half = LETTER * len(text) / 2  # a long text at the end of the axis stays inside the picture
        anchor = "end" if x > WIDTH - half else "middle"
        begin = x - half * (2 if anchor == "end" else 1)
        if begin < free:  # it would be written over the one before
            continue
        free = begin + 2 * half + 4
        out.append(
            f'<text class="axis" x="{x:.1f}" y="{base + 19}" '
            f'text-anchor="{anchor}">{escape(text)}</text>'
        )
    return out


def shortened(text: str, most: int) -> str:
    """Text for a picture: nothing in it acts on the screen, and it is not too long."""
    text = visible(text)
    return text if len(text) <= most else text[: most - 1] + "…"


def _line(name: str, begin: float, end: float, y: float) -> str:
    return f'<line class="{name}" x1="{begin:.1f}" y1="{y:.1f}" x2="{end:.1f}" y2="{y:.1f}"/>'


def _axis(kind: NumberKind, domain: PublicSet, told: list[Number]) -> Axis | None:
    """The axis for these numbers; none for what is no number."""
    if kind == "candidate" and isinstance(domain, Categories):
        if domain.size > MOST_CATEGORIES:
            return None
        room = max(3, int(300 / domain.size / LETTER))
        ticks = [
            ((i + 0.5) / domain.size, shortened(str(value), room)) for i, value in enumerate(domain)
        ]
        return Axis(ticks, lambda value: (domain.index(value) + 0.5) / domain.size)
    if kind == "candidate" and isinstance(domain, Ordered) and domain.timed:
        return _of_places(domain)
    numbers = [
        float(value)
        for number in told
        for value in (number.value, *(number.span or ()))
        if isinstance(value, int | float) or hasattr(value, "as_tuple")  # a Decimal
    ]
    if len(numbers) < len(told):
        return None
    apart = (
        kind == "candidate"
        and isinstance(domain, Ordered)
        and not isinstance(domain, Digits)
        and not float(domain.lower) <= 0 <= float(domain.upper)
    )
    if apart:  # no number could be zero
        assert isinstance(domain, Ordered)
        low, high = float(domain.lower), float(domain.upper)
        note = f"The axis is the public range, from {written(domain.lower, domain)}, without zero."
        return Axis(_ticks(low, high), lambda value: (float(value) - low) / (high - low), note)
    low, high = min(0.0, *numbers, 0.0), max(0.0, *numbers, 0.0)
    high = high if high > low else 1.0
    span = high - low
    low, high = low - (ROOM * span if low < 0 else 0), high + (ROOM * span if high > 0 else 0)
    return Axis(_ticks(low, high), lambda value: (float(value) - low) / (high - low))


def _of_places(domain: Ordered) -> Axis:
    """Dates and times: the public range, which has no zero."""
    last = float(domain.size - 1) or 1.0
    note = "The axis is the public range; dates have no zero."
    return Axis(ticks_between(domain, 0.0, last), lambda value: domain.index(value) / last, note)


def _ticks(low: float, high: float) -> Ticks:
    step = nice((high - low) / 5)
    whole = range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)
    return [((i * step - low) / (high - low), f"{i * step:,.15g}") for i in whole]


def ticks_between(grid: Ordered, low: float, high: float) -> Ticks:
    """Marks on an axis from one place between candidates to another, as shares of it."""
    span = high - low
    if grid.timed or isinstance(grid, Digits):
        places = [round(low + span * i / 3) for i in range(4)]
        return [((place - low) / span, written(grid.value(place), grid)) for place in places]
    first, width = float(grid.lower) + low * grid.spacing, span * grid.spacing
    return _ticks(first, first + width)


def nice(rough: float) -> float:
    """The next of 1, 2, 5 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(rough))
    return next(power * factor for factor in (1, 2, 5, 10) if power * factor >= rough * (1 - 1e-9))
