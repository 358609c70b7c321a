"""Clamp and snap where a table lives, in expressions of narwhals; indices as in `Grid.snap`."""

from __future__ import annotations

from typing import Any

from duffdp.domain.grid import Grid
from duffdp.domain.snapping import as_keys


def snap_expression(nw: Any, column: Any, dtype: Any, grid: Grid, shift: int = 0) -> Any:
    """The index of every present number of a column, rounded down to a multiple of 2**shift.

    `dtype` is the type of the column: numbers, or truth values. Dates and times come as Int64, in
    days or microseconds since 1970.
    """
    if grid.whole_steps is not None and is_whole(nw, dtype):
        return rounded_down(grid.whole_steps.of_column(nw, column, dtype), shift)
    place = grid.double_steps.of_column(nw, column)
    if grid.double_steps.rounds:
        return rounded_down(place.cast(nw.Int64).clip(0, grid.size - 1), shift)
    if shift:  # exact, and quicker than whole numbers
        place = (place * 2.0**-shift).floor() * 2.0**shift
    return place.cast(nw.Int64)


def reaches_expression(nw: Any, column: Any, dtype: Any, grid: Grid, index: int) -> Any:
    """Whether a number of a column snaps to this index (above 0) or beyond; None if none can."""
    whole = is_whole(nw, dtype) and grid.whole
    edge = grid.threshold(index, whole)
    if edge is None:
        return None
    if not whole:
        return (column if dtype == nw.Float64 else column.cast(nw.Float64)) >= edge
    keys, least, most = as_keys(nw, column, dtype)
    return None if edge > most else keys >= max(edge, least)


def rounded_down(index: Any, shift: int) -> Any:
    """A column of whole numbers of 0 and more, in multiples of 2**shift."""
    return index - index % 2**shift if shift else index


def is_whole(nw: Any, dtype: Any) -> bool:
    """Whether a type holds nothing but whole numbers or truth values."""
    return bool(dtype.is_integer() or dtype == nw.Boolean)
