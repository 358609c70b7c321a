"""Records that are pairs of numbers: as doubles, side by side, where both are there."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from duffdp.domain import Array, Floats
from duffdp.engines.arrays.untyped import doubles
from duffdp.errors import UnsupportedData

LARGEST, SMALLEST = 2.0**300, 2.0**-300


class Pairs(NamedTuple):
    """The pairs of one group: finite doubles, 0 or between 2**-300 and 2**300."""

    x: Floats
    y: Floats

    @classmethod
    def of(cls, x: Floats, y: Floats) -> Pairs:
        """Pairs of doubles, each read by itself: nan is missing, what is beyond the largest counts
        as the largest, what is below the smallest as 0.
        """
        present = ~(np.isnan(x) | np.isnan(y))
        return cls(within_range(x[present]), within_range(y[present]))

    @classmethod
    def of_records(cls, records: Iterable[tuple[Any, Any]]) -> Pairs:
        """Pairs of any objects; what is no number is missing."""
        listed = list(records)
        x, y = (np.fromiter((pair[i] for pair in listed), object, len(listed)) for i in (0, 1))
        return cls.of(doubles(x), doubles(y))


def within_range(values: Floats) -> Floats:
    """Numbers whose products and differences doubles bear without an error."""
    clamped = np.clip(values, -LARGEST, LARGEST)
    kept: Floats = np.where(np.abs(clamped) < SMALLEST, 0.0, clamped)
    return kept


def as_doubles(name: str, array: Array) -> Floats:
    """Numbers of any type, as doubles; of objects each that is none is nan."""
    if array.dtype == object:
        return doubles(array)
    if array.dtype.kind not in "fiub":
        raise UnsupportedData(
            f"{name} must be numbers, got dtype {array.dtype}. Pass another column or convert it."
        )
    with np.errstate(all="ignore"):  # a record beyond all doubles is infinite, without a word
        return array.astype(np.float64)
