"""Distributions as pictures: the shares of records with their band, in SVG."""

from __future__ import annotations

from html import escape

from duffdp.pipeline.distribution import Distribution
from duffdp.printable import visible
from duffdp.report.plot import LETTER, RIGHT, TOP, WIDTH, marks, ticks_between
from duffdp.report.words import number

HEIGHT, FOOT = 150, 28
LEVELS = (0, 0.25, 0.5, 0.75, 1)


def steps(found: Distribution, label: str) -> str:
    """The share of records up to every value, with the band around it."""
    left = 24 + LETTER * 5
    width, base = WIDTH - left - RIGHT, TOP + HEIGHT
    first, last = found.axis()

    def across(end: int) -> float:
        return left + width * min(max((end - first) / (last - first), 0.0), 1.0)

    def up(share: float) -> float:
        return base - HEIGHT * share

    outline = found.outline()
    upper = [f"{across(place):.1f},{up(high):.1f}" for place, _, high in outline]
    lower = [f"{across(place):.1f},{up(low):.1f}" for place, low, _ in outline]
    line = [
        f"{across(end):.1f},{up(step.cdf):.1f}"
        for end, step in zip(found.ends, found.steps(), strict=True)
    ]
    said = f"The share of records up to a value, with its band{f': {label}' if label else ''}"
    ticks = ticks_between(found.domain, float(first), float(last))
    out = [
        f'<svg viewBox="0 0 {WIDTH} {base + FOOT}" role="img" '
        f'aria-label="{escape(visible(said))}">',
        *marks([(left + share * width, text) for share, text in ticks], base),
    ]
    for level in LEVELS:
        out.append(
            f'<line class="row" x1="{left:.1f}" y1="{up(level):.1f}" x2="{left + width:.1f}" '
            f'y2="{up(level):.1f}"/><text class="axis" x="{left - 8:.1f}" '
            f'y="{up(level) + 4:.1f}" text-anchor="end">{number(level)}</text>'
        )
    out.append(f'<polygon class="band" points="{" ".join([*upper, *lower[::-1]])}"/>')
    out.append(f'<polyline class="steps" points="{" ".join(line)}"/>')
    return "".join([*out, "</svg>"])
