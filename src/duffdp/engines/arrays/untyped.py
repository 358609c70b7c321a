"""Records that are each of a type of their own (lists, arrays of objects), read one by one.

What a record counts as never depends on the others: those of plain types are converted together
where that says the
same, a piece at a time, so that a strange record does not even slow down more than its own piece.
"""

from __future__ import annotations

import math

import numpy as np

from duffdp.domain import Array, Floats, Grid, Ints, Ordered
from duffdp.domain.reading import nearest_double, number

PIECE = 2**12
_DOUBLES = frozenset({float, int, bool, type(None)})
_WHOLE = frozenset({int, bool})
_FRACTIONAL = frozenset({float, type(None)})


def keys_on(array: Array, grid: Ordered) -> tuple[Array, Ordered]:
    """Records as keys of a grid, or as their indices and the grid of these."""
    if grid.timed or (grid.whole_steps is not None and not grid.whole_steps.same_in_doubles):
        return _indices(array, grid), Grid(0, grid.size - 1, 1)
    return doubles(array), grid


def doubles(array: Array) -> Floats:
    """The double nearest to each number; nan for what is dropped."""
    keys = np.empty(len(array), dtype=np.float64)
    for begin in range(0, len(array), PIECE):
        piece = array[begin : begin + PIECE]
        if _DOUBLES.issuperset(map(type, piece)):
            try:
                keys[begin : begin + PIECE] = piece.astype(np.float64)
                continue
            except OverflowError:  # a whole number beyond all doubles
                pass
        read = map(number, piece)
        keys[begin : begin + PIECE] = [math.nan if x is None else nearest_double(x) for x in read]
    return keys


def _indices(array: Array, grid: Ordered) -> Ints:
    """The index of each record that fits."""
    found = [np.empty(0, dtype=np.int64)]
    for begin in range(0, len(array), PIECE):
        piece = array[begin : begin + PIECE]
        types = set(map(type, piece))
        if not grid.timed and types <= _FRACTIONAL:
            keys = piece.astype(np.float64)
            found.append(grid.snap(keys[~np.isnan(keys)]))
            continue
        if not grid.timed and types <= _WHOLE:
            try:
                found.append(grid.snap(piece.astype(np.int64)))
                continue
            except OverflowError:
                pass
        index = np.fromiter(map(grid.record_index, piece), dtype=np.int64, count=len(piece))
        found.append(index[index >= 0])
    return np.concatenate(found)
