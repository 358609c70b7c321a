"""Dates and times of a column, whole numbers since 1970 in some unit, as what a grid of dates or
times counts in.
"""

from __future__ import annotations

from typing import Any

from duffdp.domain import Scale

DAY = 86_400_000_000
_MICROSECONDS = {"D": DAY, "s": 1_000_000, "ms": 1000, "us": 1}


def reach(grid: Scale) -> tuple[int, int]:
    """Microseconds from a day before the grid to two days after: what lies beyond clamps to its
    ends, or lies outside of bins, all the same.
    """
    low, high = grid.whole_ends  # days and microseconds are whole
    each = DAY if grid.kind == "date" else 1
    return low * each - DAY, high * each + 2 * DAY


def ticks(nw: Any, column: Any, unit: str, grid: Scale) -> Any:
    """Days for a grid of dates, microseconds for one of times; no step overflows 64 bits."""
    column = column.cast(nw.Int64)
    if grid.kind == "date":
        return _floor_divided(nw, column, DAY // _MICROSECONDS[unit])
    each = _MICROSECONDS[unit]
    if each == 1:
        return column
    low, high = reach(grid)
    return column.clip(low // each, high // each) * each


def _floor_divided(nw: Any, column: Any, divisor: int) -> Any:
    """Days, rounded down. Engines differ in the sign of a remainder; so small a quotient comes
    out of doubles exactly.
    """
    if divisor == 1:
        return column
    rest = column % divisor
    rest = nw.when(rest < 0).then(rest + divisor).otherwise(rest)
    return ((column / divisor) - (rest / divisor) + 0.5).floor().cast(nw.Int64)
