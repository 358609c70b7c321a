"""Clamp and snap as an expression: the arithmetic of `Grid.snap`, for every engine that runs queries."""

from __future__ import annotations

from typing import Any

from duffdp.domain import Grid


def snap_expression(nw: Any, column: Any, grid: Grid, *, integer: bool, shift: int = 0) -> Any:
    """The index of every row, rounded down to multiples of 2**shift."""
    if grid.whole and integer:
        low, high, step = grid.ticks
        index = column.cast(nw.Int64).clip(low, high) - low
        if step > 1:
            twice = index * 2 + step
            index = ((twice - twice % (2 * step)) / (2 * step) + 0.5).floor().cast(nw.Int64)
        return rounded_down(index, shift)
    least, most, factor, multiply = grid.scaling
    offset = column.cast(nw.Float64).clip(least, most) - least
    place = ((offset * factor if multiply else offset / factor) + 0.5).floor()
    if grid.rounds:
        return rounded_down(place.cast(nw.Int64).clip(0, grid.size - 1), shift)
    if shift:  # exact, and quicker than whole numbers
        place = (place * 2.0**-shift).floor() * 2.0**shift
    return place.cast(nw.Int64)


def rounded_down(index: Any, shift: int) -> Any:
    """A column of whole numbers of 0 and more, in multiples of 2**shift."""
    return index - index % 2**shift if shift else index
