"""Conversion of dates and times, stored as whole numbers since 1970 in some unit, to the unit of a
grid.
"""

from __future__ import annotations

from duffdp._engines.libraries import Expression, Narwhals
from duffdp._engines.queries.expressions import clock_expression
from duffdp.domain import Scale, zones
from duffdp.domain.reading import DAY

_MICROSECONDS = {"D": DAY, "s": 1_000_000, "ms": 1000, "us": 1}


def reach(grid: Scale) -> tuple[int, int]:
    """Microseconds from before the grid to after it: what lies beyond clamps to its ends, or lies
    outside of bins, all the same.
    """
    return zones.reach(grid.kind, grid.whole_ends)  # days and microseconds are whole


def microseconds(nw: Narwhals, column: Expression, unit: str, ends: tuple[int, int]) -> Expression:
    """Microseconds from whole numbers of a unit, without overflow between the two ends."""
    column, unit_length = column.cast(nw.Int64), _MICROSECONDS[unit]
    return (
        column
        if unit_length == 1
        else column.clip(ends[0] // unit_length, ends[1] // unit_length) * unit_length
    )


def ticks(nw: Narwhals, column: Expression, unit: str, grid: Scale) -> Expression:
    """Days for a grid of dates, microseconds for one of times; no step overflows 64 bits."""
    days, (low, high) = grid.kind == "date", reach(grid)
    if days and grid.clock is None:
        unit_length = _MICROSECONDS[unit]
        column = column.cast(nw.Int64).clip(low // unit_length, high // unit_length)
        return _floor_divided(nw, column, DAY // unit_length)
    column = microseconds(nw, column, unit, (low, high))
    if grid.clock is not None:
        column = clock_expression(nw, column, grid.clock)
    return _floor_divided(nw, column, DAY) if days else column


def _floor_divided(nw: Narwhals, column: Expression, divisor: int) -> Expression:
    """Days, rounded down. Engines differ in the sign of a remainder, and in whether a quotient of
    whole numbers is one; so small a one comes out of doubles exactly.
    """
    if divisor == 1:
        return column
    remainder = column % divisor
    remainder = nw.when(remainder < 0).then(remainder + divisor).otherwise(remainder)
    return ((column - remainder) / divisor + 0.5).floor().cast(nw.Int64)
