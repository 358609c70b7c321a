"""Records that are pairs of numbers: as doubles, side by side, where both are there."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from duffdp.domain import Array, Floats, Ints
from duffdp.engines.arrays.untyped import doubles

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


def pairs_by_group(x: Floats, y: Floats, group: Ints | None, many: int) -> list[Pairs]:
    """The pairs of every group, in order; all together without groups."""
    if group is None:
        return [Pairs.of(x, y)]
    by = np.argsort(group, kind="stable")
    cuts = np.cumsum(np.bincount(group, minlength=many))[:-1]
    parts = zip(np.split(x[by], cuts), np.split(y[by], cuts), strict=True)
    return [Pairs.of(*part) for part in parts]


def within_range(values: Floats) -> Floats:
    """Numbers whose products and differences doubles bear without an error."""
    clamped = np.clip(values, -LARGEST, LARGEST)
    kept: Floats = np.where(np.abs(clamped) < SMALLEST, 0.0, clamped)
    return kept


def as_doubles(array: Array, missing: Array | None) -> Floats:
    """Numbers of any type as doubles; nan for what is missing, and for objects that are none."""
    if array.dtype == object:
        numbers = doubles(array)
    else:
        with np.errstate(all="ignore"):  # a record beyond all doubles is infinite, without a word
            numbers = array.astype(np.float64)
    if missing is not None:
        numbers[missing] = np.nan
    return numbers


def no_numbers(given: str) -> str:
    """What is wrong with one side of the pairs."""
    return (
        f"pairs must be of numbers, got {given}. Pass another column, or convert it: dates, for "
        "example, to days."
    )
