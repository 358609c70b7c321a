"""The released values as an SVG picture that takes its colours from the page around it."""

from __future__ import annotations

import math
from html import escape

from duffdp.domain import Categories, Digits, Domain, Ordered
from duffdp.printable import visible
from duffdp.report.values import Values
from duffdp.report.words import written

MOST_ROWS = 40
MOST_CATEGORIES = 12
WIDTH, ROW, TOP, FOOT, RIGHT = 720, 26, 14, 34, 30
LETTER = 6.6  # width of a letter at 12 px, on average


def plot(values: Values, domain: Domain) -> str:
    """One line for each group, a dot where its value is and a bar for its interval; empty if there
    are none, or too many to read.
    """
    values = values.on_domain()
    if not 0 < len(values.places) <= MOST_ROWS or (
        isinstance(domain, Categories) and domain.size > MOST_CATEGORIES
    ):
        return ""
    labels = [shortened(", ".join(keys), 28) for keys in values.keys]
    left = 24 + LETTER * max(map(len, labels))
    places = [*values.places, *(end for span in values.spans if span for end in span)]
    ticks, shares = (
        _categories(domain, places, (WIDTH - left - RIGHT) / domain.size)
        if isinstance(domain, Categories)
        else _scale(domain, places)
    )
    ends = iter(shares[len(labels) :])
    width = WIDTH - left - RIGHT
    height = TOP + ROW * len(labels) + FOOT
    base = height - FOOT
    out = [
        f'<svg viewBox="0 0 {WIDTH} {height}" role="img" '
        'aria-label="The released values on their public range">'
    ]
    out += axis([(left + share * width, text) for share, text in ticks], base)
    rows = zip(labels, values.texts, shares[: len(labels)], values.spans, strict=True)
    for i, (label, text, share, span) in enumerate(rows):
        x, y = left + share * width, TOP + ROW * (i + 0.5)
        flip = share > 0.8
        out.append(
            f'<line class="row" x1="{left:.1f}" y1="{y:.1f}" x2="{left + width:.1f}" y2="{y:.1f}"/>'
        )
        out.append(
            f'<text x="{left - 14:.1f}" y="{y + 4:.1f}" text-anchor="end">{escape(label)}</text>'
        )
        if span:
            low, high = (left + next(ends) * width for _ in span)
            out.append(
                f'<line class="span" x1="{low:.1f}" y1="{y:.1f}" x2="{high:.1f}" y2="{y:.1f}"/>'
            )
        out.append(f'<circle class="value" cx="{x:.1f}" cy="{y:.1f}" r="5.5"/>')
        if not isinstance(domain, Categories):
            anchor, shift = ("end", -11) if flip else ("start", 11)
            out.append(
                f'<text class="number" x="{x + shift:.1f}" y="{y + 4:.1f}" '
                f'text-anchor="{anchor}">{escape(text)}</text>'
            )
    return "".join([*out, "</svg>"])


def axis(ticks: list[tuple[float, str]], base: float) -> list[str]:
    """Lines from top to base with what they stand for."""
    out = []
    for x, text in ticks:
        out.append(f'<line class="tick" x1="{x:.1f}" y1="{TOP - 6}" x2="{x:.1f}" y2="{base + 4}"/>')
        half = LETTER * len(text) / 2  # a long text at the end of the axis stays inside the picture
        anchor = "start" if x < half else "end" if x > WIDTH - half else "middle"
        out.append(
            f'<text class="axis" x="{x:.1f}" y="{base + 20}" '
            f'text-anchor="{anchor}">{escape(text)}</text>'
        )
    return out


def shortened(text: str, most: int) -> str:
    """Text for a picture: nothing in it acts on the screen, and it is not too long."""
    text = visible(text)
    return text if len(text) <= most else text[: most - 1] + "…"


def _categories(
    domain: Categories, places: list[int], width: float
) -> tuple[list[tuple[float, str]], list[float]]:
    room = max(3, int(width / LETTER))
    ticks = [
        ((i + 0.5) / domain.size, shortened(str(value), room)) for i, value in enumerate(domain)
    ]
    return ticks, [(place + 0.5) / domain.size for place in places]


def _scale(grid: Ordered, places: list[int]) -> tuple[list[tuple[float, str]], list[float]]:
    """Ticks and places as shares of the axis: the public range, or its part around close values."""
    low, high = 0.0, float(grid.size - 1)
    least, most = min(places), max(places)
    if 0 < most - least < high / 4:
        pad = (most - least) / 2
        low, high = max(low, least - pad), min(high, most + pad)
    return ticks_between(grid, low, high), [(place - low) / (high - low) for place in places]


def ticks_between(grid: Ordered, low: float, high: float) -> list[tuple[float, str]]:
    """Marks on an axis from one place between candidates to another, as shares of it."""
    span = high - low
    if grid.timed or isinstance(grid, Digits):
        marks = [round(low + span * i / 3) for i in range(4)]
        return [((mark - low) / span, written(grid.value(mark), grid)) for mark in marks]
    first, width = float(grid.lower) + low * grid.spacing, span * grid.spacing
    step = nice(width / 6)
    whole = range(math.ceil(first / step - 1e-9), math.floor((first + width) / step + 1e-9) + 1)
    return [((i * step - first) / width, f"{i * step:,.15g}") for i in whole]


def nice(rough: float) -> float:
    """The next of 1, 2, 5 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(rough))
    return next(power * factor for factor in (1, 2, 5, 10) if power * factor >= rough * (1 - 1e-9))
