"""Records that are pairs of numbers, as two arrays of doubles without missing values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from duffdp._engines.adapters import memory_adapter
from duffdp._engines.arrays import read_array
from duffdp._engines.arrays.records import doubles
from duffdp._engines.libraries import is_path, is_table, narwhals
from duffdp._engines.people import Randomness
from duffdp._engines.requests import (
    Answer,
    ColumnRequest,
    PairRecords,
    Pairs,
    RecordCounts,
    Request,
    stretches,
)
from duffdp.domain import Array, Floats, Ints, PublicSet
from duffdp.errors import UnsupportedData

LARGEST_NUMBER, SMALLEST_NUMBER = 2.0**300, 2.0**-300
PAIR_GROUPS = 256  # groups that are answered at once


class PairEngine:
    """The pairs of every group."""

    def __init__(self, pairs: Sequence[Pairs]) -> None:
        self._pairs = pairs

    @property
    def groups(self) -> int:
        """Number of groups."""
        return len(self._pairs)

    @property
    def max_records(self) -> int:
        """Number of pairs of the largest group."""
        return max(len(pairs.x) for pairs in self._pairs)

    def blocks(self) -> list[Ints]:
        """All groups in pieces."""
        return stretches(self.groups, PAIR_GROUPS)

    def answer(self, requests: Sequence[ColumnRequest]) -> list[Answer]:
        """One answer for each request."""
        return [self._answer(groups, request) for _, groups, request in requests]

    def _answer(self, groups: Ints, request: Request[Answer]) -> Answer:
        pairs = [self._pairs[group] for group in groups.tolist()]
        match request:
            case PairRecords():
                return pairs
            case RecordCounts():
                return [len(group_pairs.x) for group_pairs in pairs]
        raise TypeError(f"pairs of numbers do not answer {type(request).__name__}.")


def make_pairs(x: Floats, y: Floats) -> Pairs:
    """Pairs of doubles, each read individually: nan is missing, numbers beyond the largest count as
    the largest, numbers below the smallest as 0.
    """
    present = ~(np.isnan(x) | np.isnan(y))
    return Pairs(within_range(x[present]), within_range(y[present]))


def pairs_of_records(records: Iterable[tuple[Any, Any]]) -> Pairs:
    """Pairs of any objects; an object that is no number is missing."""
    rows = list(records)
    x, y = (np.fromiter((pair[i] for pair in rows), object, len(rows)) for i in (0, 1))
    return make_pairs(doubles(x), doubles(y))


def pairs_by_group(x: Floats, y: Floats, group: Ints | None, groups: int) -> list[Pairs]:
    """The pairs of every group, in order; all together without groups."""
    if group is None:
        return [make_pairs(x, y)]
    order = np.argsort(group, kind="stable")
    cuts = np.cumsum(np.bincount(group, minlength=groups))[:-1]
    parts = zip(np.split(x[order], cuts), np.split(y[order], cuts), strict=True)
    return [make_pairs(*part) for part in parts]


def within_range(values: Floats) -> Floats:
    """Numbers whose products and differences doubles bear without an error."""
    clamped = np.clip(values, -LARGEST_NUMBER, LARGEST_NUMBER)
    numbers: Floats = np.where(np.abs(clamped) < SMALLEST_NUMBER, 0.0, clamped)
    return numbers


def as_doubles(array: Array, missing: Array | None) -> Floats:
    """Numbers of any type as doubles; nan for missing ones, and for objects that are no numbers."""
    if array.dtype == object:
        numbers = doubles(array)
    else:
        with np.errstate(all="ignore"):  # a record beyond all doubles is infinite, silently
            numbers = array.astype(np.float64)
    if missing is not None:
        numbers[missing] = np.nan
    return numbers


def no_numbers(kind: str) -> str:
    """The error about one side of the pairs."""
    return (
        f"pairs must be of numbers, got {kind}. Pass another column, or convert it: dates, for "
        "example, to days."
    )


_SIDE = "values"


class PairColumns:
    """Two columns without a table: their types and lengths are checked before the engine reads a
    record.
    """

    close = None  # nothing to close

    def __init__(self, data: tuple[Any, Any], domain: PublicSet) -> None:
        self.domain = domain
        (x_length, self._x), (y_length, self._y) = map(_side, ("x", "y"), data)
        if x_length != y_length:
            raise UnsupportedData(
                "x and y must have the same length, because each record is a pair. Pass two "
                "columns of one table."
            )

    def engine(self, randomness: Randomness) -> tuple[PairEngine, int]:
        """The engine that holds all pairs, and the number of the column in it."""
        return PairEngine([make_pairs(self._x(), self._y())]), 0


def _side(name: str, data: Any) -> tuple[int, Callable[[], Floats]]:
    """The length of one side, and what reads it."""
    if is_table(data) and not is_path(data):
        return _series(name, data)
    missing = np.ma.getmaskarray(data) if isinstance(data, np.ma.MaskedArray) else None
    array = read_array(data if missing is None else data.data).array
    if array.dtype.kind not in "fiubO":
        raise UnsupportedData(no_numbers(f"{name} of dtype {array.dtype}"))
    return len(array), lambda: as_doubles(array, missing)


def _series(name: str, data: object) -> tuple[int, Callable[[], Floats]]:
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
