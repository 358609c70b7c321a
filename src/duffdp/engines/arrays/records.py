"""What a container of records is: an array with a type, or records that are each of a type of their
own."""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import Any, NamedTuple

import numpy as np

from duffdp.domain import Array
from duffdp.errors import UnsupportedData

_TYPED = ("__array__", "__array_interface__", "__array_struct__", "__buffer__")


class Records(NamedTuple):
    """A one-dimensional array (of objects for what has no type), and whether its type says that the
    values are whole."""

    array: Array
    integer: bool


def read(data: Any) -> Records:
    """Take any one-dimensional container as an array, without copying what is one already.

    A list has no type, whatever its records are: they stay what they are until a domain says what
    they count as.
    """
    if type(data) is np.ndarray and data.ndim == 1:
        return Records(data, data.dtype.kind in "iub")
    if isinstance(data, str | bytes | Mapping | Set) or not hasattr(data, "__len__"):
        raise UnsupportedData(
            f"data must be a one-dimensional array, series or list, got {type(data).__name__}."
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
    """Whether a container has one type for all of its records."""
    if any(hasattr(data, name) for name in _TYPED):
        return True
    try:
        memoryview(data)
    except TypeError:
        return False
    return True
