"""Released counts and shares as bars from zero, in an SVG picture."""

from __future__ import annotations

from html import escape

from duffdp.printable import visible
from duffdp.report.plot import (
    LETTER,
    LONGEST,
    MOST_ROWS,
    RIGHT,
    ROW,
    TOP,
    WIDTH,
    Picture,
    marks,
    nice,
    shortened,
)
from duffdp.report.values import Number

FOOT, BAR = 28, 14
NUMBER = 60  # pixels beside the longest bar, for its number


def bars(
    labels: list[str], numbers: list[Number], title: str, most: float | None = None
) -> Picture | None:
    """One bar for each number, on an axis that holds 0 (and `most`); none for one number alone or
    if there are too many to read.
    """
    if not 1 < len(numbers) <= MOST_ROWS:
        return None
    named = [shortened(label, LONGEST) for label in labels]
    left = 20 + LETTER * max(map(len, named))
    low: float = min(0, *(number.value for number in numbers))
    high: float = max(0, *(number.value for number in numbers)) if most is None else most
    high = high if high > low else 1
    width = WIDTH - left - RIGHT - NUMBER
    step = nice((high - low) / 5)
    if most is None:
        step = max(1, step)  # counts are whole
    base = TOP + ROW * len(named)

    def place(value: float) -> float:
        return left + width * (value - low) / (high - low)

    steps = range(-int(-low // step), int(high / step + 1e-9) + 1)
    ticks = [(place(i * step), f"{i * step:,.15g}") for i in steps]
    described = "; ".join(
        f"{label} {number.said()}" for label, number in zip(labels, numbers, strict=True)
    )
    out = [
        f'<svg viewBox="0 0 {WIDTH} {base + FOOT}" role="img" '
        f'aria-label="{escape(visible(f"{title}: {described}"))}">',
        *marks(ticks, base),
    ]
    for i, (label, number) in enumerate(zip(named, numbers, strict=True)):
        y = TOP + ROW * (i + 0.5)
        begin, end = sorted((place(0), place(number.value)))
        out.append(
            f'<text x="{left - 10:.1f}" y="{y + 4:.1f}" text-anchor="end">{escape(label)}</text>'
            f'<rect class="value" x="{begin:.1f}" y="{y - BAR / 2:.1f}" '
            f'width="{end - begin:.1f}" height="{BAR}" rx="2"/>'
            f'<text class="number" x="{end + 8:.1f}" y="{y + 4:.1f}">{escape(number.text)}</text>'
        )
    return Picture("".join([*out, "</svg>"]))
