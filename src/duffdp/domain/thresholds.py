"""Which of several bins a number lies in: how many thresholds it reaches.

The rule stands once for one number, once for an array and once for a column of a table engine, and
all three give the same index. Nothing here overflows, warns or fails, whatever the number is.

A whole number is compared with thresholds that are whole numbers, exactly. Every other number
counts as the double nearest to it, as every edge does then.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from duffdp.domain.aliases import Floats, Ints, Keys
from duffdp.domain.reading import nearest_double
from duffdp.domain.snapping import as_keys, is_whole

Edge = Fraction | float  # a float is infinite


class Thresholds(NamedTuple):
    """The least key of every bin, and of what lies beyond the last one.

    A key in bin i reaches i + 1 of them; one that reaches none, or more than there are bins, lies
    outside.
    """

    size: int  # bins
    whole: tuple[float, ...]  # whole numbers, or infinite ones, in order
    doubles: Floats
    around: Floats  # the same between two that are below and above every key
    even: tuple[float, float] | None  # where and how steeply doubles rise, bins of one width

    @classmethod
    def of(cls, edges: tuple[Edge, ...]) -> Thresholds:
        """For edges in order, the last of which belongs to its bin."""
        *least, last = edges
        whole = [math.ceil(edge) if math.isfinite(edge) else float(edge) for edge in least]
        doubles = [nearest_double(edge) for edge in least]
        if math.isfinite(last):  # nothing is beyond infinity
            whole.append(math.floor(last) + 1)
            doubles.append(math.nextafter(nearest_double(last), math.inf))
        met = np.array(doubles)
        around = np.concatenate([[-math.inf], met, [math.nan]])
        return cls(len(least), tuple(whole), met, around, _even(met))

    def of_number(self, key: float) -> int:
        """For a whole number, or any double but nan; -1 for what lies outside."""
        place = bisect_right(self.whole if isinstance(key, int) else self.doubles, key) - 1
        return place if place < self.size else -1

    def of_array(self, keys: Keys) -> Ints:
        """For int64, uint64, or float64 without nan."""
        found = self.reached(keys) - 1
        found[found == self.size] = -1
        return found

    def reached(self, keys: Keys) -> Ints:
        """How many thresholds every key reaches."""
        if keys.dtype.kind != "f":
            limits = np.iinfo(keys.dtype)
            # What no key reaches is left out, what each one reaches is the least key.
            met = [max(edge, limits.min) for edge in self.whole if edge <= limits.max]
            return np.searchsorted(np.array(met, dtype=keys.dtype), keys, side="right")
        if self.even is None:
            return np.searchsorted(self.doubles, keys, side="right")
        # A rising function that is at most one bin off everywhere, then a look at both edges.
        first, steepness = self.even
        with np.errstate(all="ignore"):
            guess = (keys - first) * steepness
        guess += 1
        np.clip(guess, 0, len(self.doubles), out=guess)
        found = guess.astype(np.int64)
        found -= keys < self.around[found]
        found += keys >= self.around[found + 1]
        return found

    def of_column(self, nw: Any, column: Any, dtype: Any) -> Any:
        """For a column of present numbers or truth values, as an expression of Int64."""
        if is_whole(nw, dtype):
            column, least, most = as_keys(nw, column, dtype)
            met: list[Any] = [max(edge, least) for edge in self.whole if edge <= most]
        else:
            column, met = column.cast(nw.Float64), self.doubles.tolist()

        def found(low: int, high: int) -> Any:
            """For keys that reach `low` thresholds at least and `high` at most."""
            if low == high:
                return nw.lit(low - 1 if low <= self.size else -1, nw.Int64)
            middle = (low + high) // 2
            reached = column >= met[middle]
            return nw.when(reached).then(found(middle + 1, high)).otherwise(found(low, middle))

        # A literal alone could be one row.
        return found(0, len(met)) if met else column.cast(nw.Int64) * 0 - 1


def _even(doubles: Floats) -> tuple[float, float] | None:
    """The line that goes through all thresholds within a quarter of a bin, if there is one."""
    if len(doubles) < 2 or not np.isfinite(doubles).all():
        return None
    with np.errstate(all="ignore"):
        steepness = (len(doubles) - 1) / (doubles[-1] - doubles[0])
        place = (doubles - doubles[0]) * steepness
    fits = np.abs(place - np.arange(len(doubles))) <= 0.25
    return (float(doubles[0]), float(steepness)) if fits.all() else None
