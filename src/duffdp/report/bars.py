"""Released counts and shares as bars from zero, in an SVG picture."""

from __future__ import annotations

from html import escape

from duffdp.report.plot import LETTER, MOST_ROWS, RIGHT, ROW, TOP, WIDTH, axis, nice, shortened
from duffdp.report.values import Values

FOOT, BAR = 34, 16
NUMBER = 90  # pixels beside the longest bar, for its number


def bars(values: Values, most: float | None = None) -> str:
    """One bar for each number, on an axis that holds 0 (and `most`); empty for one number alone or
    if there are too many to read.
    """
    if not 1 < len(values.numbers) <= MOST_ROWS:
        return ""
    labels = [shortened(", ".join(keys), 28) for keys in values.keys]
    left = 24 + LETTER * max(map(len, labels))
    low: float = min(0, *values.numbers)
    high: float = max(0, *values.numbers) if most is None else most
    high = high if high > low else 1
    width = WIDTH - left - RIGHT - NUMBER
    step = nice((high - low) / 6)
    if most is None:
        step = max(1, step)  # counts are whole
    base = TOP + ROW * len(labels)

    def place(number: float) -> float:
        return left + width * (number - low) / (high - low)

    marks = range(-int(-low // step), int(high / step + 1e-9) + 1)
    ticks = [(place(mark * step), f"{mark * step:,.15g}") for mark in marks]
    out = [
        f'<svg viewBox="0 0 {WIDTH} {base + FOOT}" role="img" '
        'aria-label="The released numbers as bars from zero">',
        *axis(ticks, base),
    ]
    for i, (label, text, number) in enumerate(
        zip(labels, values.texts, values.numbers, strict=True)
    ):
        y = TOP + ROW * (i + 0.5)
        begin, end = sorted((place(0), place(number)))
        out.append(
            f'<text x="{left - 14:.1f}" y="{y + 4:.1f}" text-anchor="end">{escape(label)}</text>'
            f'<rect class="value" x="{begin:.1f}" y="{y - BAR / 2:.1f}" '
            f'width="{end - begin:.1f}" height="{BAR}" rx="2"/>'
            f'<text class="number" x="{end + 8:.1f}" y="{y + 4:.1f}">{escape(text)}</text>'
        )
    return "".join([*out, "</svg>"])
