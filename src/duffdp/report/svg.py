"""SVG elements of charts, with colors of the page around them and escaped text."""

from __future__ import annotations

from collections.abc import Iterable

from duffdp._text import as_html

Point = tuple[float, float]


def svg(
    width: float,
    height: float,
    description: str,
    parts: Iterable[str],
    style: str = "",
    stretch: bool = False,
) -> str:
    """A whole picture; screen readers read the description instead. Stretched, it fills its box."""
    ratio = ' preserveAspectRatio="none"' if stretch else ""
    return (
        f'<svg{_style(style)} viewBox="0 0 {width:g} {height:g}"{ratio} role="img" '
        f'aria-label="{as_html(description)}">{"".join(parts)}</svg>'
    )


def line(style: str, begin: Point, end: Point) -> str:
    """A straight line."""
    (x1, y1), (x2, y2) = begin, end
    return f'<line{_style(style)} x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'


def polyline(style: str, points: Iterable[Point]) -> str:
    """Straight lines from point to point."""
    return f'<polyline{_style(style)} points="{_points(points)}"/>'


def polygon(style: str, points: Iterable[Point]) -> str:
    """An area with these corners."""
    return f'<polygon{_style(style)} points="{_points(points)}"/>'


def rectangle(
    style: str, corner: Point, width: float, height: float, radius: float = 0, title: str = ""
) -> str:
    """A rectangle by its upper left corner, with round corners and a tooltip if they are given."""
    x, y = corner
    rounding = f' rx="{radius:g}"' if radius else ""
    tooltip = f"<title>{as_html(title)}</title>" if title else ""
    return (
        f'<rect{_style(style)} x="{x:.2f}" y="{y:.2f}" width="{width:.2f}" height="{height:g}"'
        f"{rounding}>{tooltip}</rect>"
    )


def circle(style: str, center: Point, radius: float) -> str:
    """A circle."""
    x, y = center
    return f'<circle{_style(style)} cx="{x:.1f}" cy="{y:.1f}" r="{radius:.3g}"/>'


def text(content: str, at: Point, style: str = "", anchor: str = "", turned: bool = False) -> str:
    """A text, which begins at a point unless `anchor` is "middle" or "end"; turned, it goes up."""
    x, y = at
    align = f' text-anchor="{anchor}"' if anchor else ""
    turn = f' transform="rotate(-90 {x:.1f} {y:.1f})"' if turned else ""
    return f'<text{_style(style)} x="{x:.1f}" y="{y:.1f}"{align}{turn}>{as_html(content)}</text>'


def _style(name: str) -> str:
    return f' class="{name}"' if name else ""


def _points(points: Iterable[Point]) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
