"""Containers of records as arrays: typed ones, or object arrays whose records each have a type.

How an object is read never depends on the others. Objects of plain types are converted together, a
piece at a time, where that gives the same.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Set
from typing import Any, NamedTuple

import numpy as np

from duffdp.domain import Array, Floats, Grid, Ints, Ordered
from duffdp.domain.reading import nearest_double, number
from duffdp.errors import UnsupportedData

# Objects that are converted together: a strange one slows down its piece alone.
OBJECTS_AT_ONCE = 2**12
_TYPED = ("__array__", "__array_interface__", "__array_struct__", "__buffer__")
_DOUBLES = frozenset({float, int, bool, type(None)})
_INTEGER_TYPES = frozenset({int, bool})
_FRACTIONAL = frozenset({float, type(None)})


class Records(NamedTuple):
    """A one-dimensional array, and whether its type implies whole numbers; untyped records are an
    object array.
    """

    array: Array
    integer: bool


def read_array(data: Any) -> Records:
    """Read any one-dimensional container as an array, without copying one that is already an array.

    A list has no type, also if its records have one: they stay objects until a domain says how they
    are read.
    """
    if type(data) is np.ndarray and data.ndim == 1:
        return Records(data, data.dtype.kind in "iub")
    if isinstance(data, str | bytes | Mapping | Set) or not hasattr(data, "__len__"):
        raise UnsupportedData(
            f"data must be a one-dimensional array, series or list, got {type(data).__name__}. "
            "Pass "
            "for example [31, 35, 40], or a frame or the path of a file and a column."
        )
    if type(data) in (list, tuple, range):
        array = np.fromiter(data, dtype=object, count=len(data))
    elif not isinstance(data, list | tuple) and _has_type(data):
        array = data if isinstance(data, np.ma.MaskedArray) else np.asarray(data)
    else:
        array = np.fromiter(data, dtype=object)
    if array.ndim != 1:
        raise UnsupportedData(
            f"data must be one-dimensional, got {array.ndim} dimensions. Pass one column."
        )
    if isinstance(array, np.ma.MaskedArray):
        array = array.compressed()
    return Records(array, integer=array.dtype.kind in "iub")


def _has_type(data: Any) -> bool:
    """True if a container has one type for all of its records."""
    if any(hasattr(data, name) for name in _TYPED):
        return True
    try:
        memoryview(data)
    except TypeError:
        return False
    return True


def object_keys(array: Array, grid: Ordered) -> tuple[Array, Array, Ordered]:
    """Objects as keys of a grid, or as their indices and the grid of these; and a mask of the
    objects that are present.
    """
    if grid.timed or (grid.whole_steps is not None and not grid.whole_steps.same_in_doubles):
        index = _indices(array, grid)
        present = index >= 0
        return index[present], present, Grid(0, grid.size - 1, 1)
    keys = doubles(array)
    present = ~np.isnan(keys)
    return keys[present], present, grid


def doubles(array: Array) -> Floats:
    """The double nearest to each number; nan for a record that is dropped."""
    keys = np.empty(len(array), dtype=np.float64)
    for begin in range(0, len(array), OBJECTS_AT_ONCE):
        piece = array[begin : begin + OBJECTS_AT_ONCE]
        if _DOUBLES.issuperset(map(type, piece)):
            try:
                keys[begin : begin + OBJECTS_AT_ONCE] = piece.astype(np.float64)
                continue
            except OverflowError:  # a whole number beyond all doubles
                pass
        numbers = map(number, piece)
        keys[begin : begin + OBJECTS_AT_ONCE] = [
            math.nan if x is None else nearest_double(x) for x in numbers
        ]
    return keys


def _indices(array: Array, grid: Ordered) -> Ints:
    """The index of each record, -1 for what is dropped."""
    index = np.full(len(array), -1, dtype=np.int64)
    for begin in range(0, len(array), OBJECTS_AT_ONCE):
        piece, places = (
            array[begin : begin + OBJECTS_AT_ONCE],
            index[begin : begin + OBJECTS_AT_ONCE],
        )
        types = set(map(type, piece))
        if not grid.timed and types <= _FRACTIONAL:
            keys = piece.astype(np.float64)
            present = ~np.isnan(keys)
            places[present] = grid.snap(keys[present])
            continue
        if not grid.timed and types <= _INTEGER_TYPES:
            try:
                places[:] = grid.snap(piece.astype(np.int64))
                continue
            except OverflowError:
                pass
        places[:] = np.fromiter(map(grid.record_index, piece), dtype=np.int64, count=len(piece))
    return index
