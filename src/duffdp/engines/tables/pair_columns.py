"""Two arrays, lists or series side by side: the records are the pairs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from duffdp.domain import Floats, PublicSet
from duffdp.engines.arrays import read
from duffdp.engines.libraries import is_path, is_table, narwhals
from duffdp.engines.pairs import Pairs, as_doubles, no_numbers
from duffdp.engines.tables.adapters import memory_adapter
from duffdp.engines.tables.people import Randomness
from duffdp.errors import UnsupportedData

_SIDE = "values"


class PairColumns:
    """Two columns without a table, of which types and lengths are checked and no record is looked
    at.
    """

    close = None  # nothing is begun that has to end

    def __init__(self, data: tuple[Any, Any], domain: PublicSet) -> None:
        self.domain = domain
        (one, self._x), (other, self._y) = map(_side, ("x", "y"), data)
        if one != other:
            raise UnsupportedData(
                "x and y must be of one length, a pair for each record. Pass two columns of one "
                "table."
            )

    def sources(self, source: Randomness) -> list[Pairs]:
        """All pairs."""
        return [Pairs.of(self._x(), self._y())]


def _side(name: str, data: Any) -> tuple[int, Callable[[], Floats]]:
    """The length of one side, and what reads it."""
    if is_table(data) and not is_path(data):
        return _series(name, data)
    missing = np.ma.getmaskarray(data) if isinstance(data, np.ma.MaskedArray) else None
    array = read(data if missing is None else data.data).array
    if array.dtype.kind not in "fiubO":
        raise UnsupportedData(no_numbers(f"{name} of dtype {array.dtype}"))
    return len(array), lambda: as_doubles(array, missing)


def _series(name: str, data: Any) -> tuple[int, Callable[[], Floats]]:
    nw = narwhals()
    try:
        series = nw.from_native(data, series_only=True)
    except TypeError:
        raise UnsupportedData(
            f"{name} must be an array, a series or a list, got {type(data).__name__}. For columns "
            "of a frame pass their names, and the frame as data."
        ) from None
    adapter = memory_adapter(nw, series.alias(_SIDE).to_frame())
    dtype = adapter.schema[_SIDE]
    if not (dtype.is_numeric() or dtype in (nw.Boolean, nw.Object)):
        raise UnsupportedData(no_numbers(f"{name} of type {dtype}"))
    return len(series), lambda: as_doubles(*adapter.array(_SIDE))
