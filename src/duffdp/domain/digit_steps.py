"""Rounding to significant digits: the index of the candidate nearest to a number, ties away from 0.

The rule stands once for one number, once for an array and once for a column of a table engine, and
all three give the same index. Nothing here overflows, warns or fails, whatever the number is.

A number counts as the double nearest to it. Its magnitude is clamped, divided by the double nearest
to the last digit of its decade, and rounded: operations that are monotone and that every engine
rounds in the same way.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from duffdp.domain.aliases import Floats, Keys
from duffdp.domain.snapping import least_double


class Decade(NamedTuple):
    """Magnitudes with the same last digit: the place of the first of them, that digit, and the
    first of them in units of it.
    """

    place: int
    unit: Fraction
    first: int


class DigitSteps(NamedTuple):
    """Candidates 0, smallest, ..., largest and their negatives, in doubles."""

    zero: int  # index of the candidate 0: how many there are on either side
    decades: tuple[Decade, ...]  # from the smallest on; the place of 0 is 0
    high: float
    tiny: float  # a magnitude that counts as 0; what is nearer to 0 counts as this
    begins: Floats  # the least magnitude of each decade
    units: Floats  # of what lies before the first decade, and of each decade
    offsets: Floats  # what is added to the number of units
    rounds: bool = False

    @classmethod
    def of(cls, digits: int, smallest: Fraction, largest: Fraction) -> DigitSteps:
        found, place = [], 1
        for power in range(exponent(smallest), exponent(largest) + 1):
            unit = Fraction(10) ** (power - digits + 1)
            first = max(Fraction(10) ** power, smallest) / unit
            found.append(Decade(place, unit, int(first)))
            place += 10**digits - int(first)
        last = found[-1]
        zero = last.place + int(largest / last.unit) - last.first
        if len(found) > 1 and zero == last.place:  # a power of ten ends the decade before it
            found.pop()
        return cls(
            zero,
            tuple(found),
            float(largest),
            float(smallest) / 4,
            np.array([float(decade.first * decade.unit) for decade in found]),
            np.array([float(smallest), *(float(decade.unit) for decade in found)]),
            np.array([0.0, *(float(decade.place - decade.first) for decade in found)]),
        )

    @property
    def size(self) -> int:
        """Number of candidates."""
        return 2 * self.zero + 1

    def magnitude(self, place: int) -> Fraction:
        """The candidate so many places above 0, exactly."""
        decade = self.decades[bisect_right(self.decades, place, key=lambda d: d.place) - 1]
        return (place - decade.place + decade.first) * decade.unit

    def of_number(self, key: float) -> int:
        """For any double but nan."""
        magnitude = min(max(abs(key), self.tiny), self.high)
        decade = bisect_right(self.begins, magnitude)
        place = math.floor(magnitude / float(self.units[decade]) + 0.5) + int(self.offsets[decade])
        return self.zero - place if key < 0 else self.zero + place

    def of_array(self, keys: Keys, out: Floats | None = None) -> Floats:
        """For float64, where nan stays nan; indices in float64, written to `out` if it is given."""
        magnitude = np.abs(keys)
        np.clip(magnitude, self.tiny, self.high, out=magnitude)
        decade = np.searchsorted(self.begins, magnitude, side="right")
        magnitude /= self.units[decade]
        magnitude += 0.5
        np.floor(magnitude, out=magnitude)
        magnitude += self.offsets[decade]
        np.copysign(magnitude, keys, out=magnitude)
        return np.add(magnitude, float(self.zero), out=out)

    def of_column(self, nw: Any, column: Any, by_inverse: bool = False) -> Any:
        """For a column of numbers without nan, as an expression of Float64."""
        column = column.cast(nw.Float64)
        magnitude = column.abs()

        def chosen(values: list[float], low: int, high: int) -> Any:
            """The value for magnitudes that reach `low` decades at least and `high` at most."""
            if low == high:
                return nw.lit(values[low], nw.Float64)
            middle = (low + high) // 2
            above, below = chosen(values, middle + 1, high), chosen(values, low, middle)
            return nw.when(magnitude >= float(self.begins[middle])).then(above).otherwise(below)

        units, offsets = (
            chosen(values.tolist(), 0, len(self.begins)) for values in (self.units, self.offsets)
        )
        magnitude = magnitude.clip(self.tiny, self.high)
        if by_inverse:  # a single decade has one unit
            units = magnitude * 0.0 + units
        place = (magnitude / units + 0.5).floor() + offsets
        return nw.when(column < 0.0).then(place * -1.0).otherwise(place) + float(self.zero)

    def threshold(self, index: int) -> float:
        """The smallest key that snaps to this index (above 0) or beyond."""
        found = least_double(self.of_number, -self.high, self.high, index)
        assert found is not None  # every candidate snaps to itself
        return found


def exponent(magnitude: Fraction) -> int:
    """The power of ten that a number above 0 reaches."""
    power = len(str(magnitude.numerator)) - len(str(magnitude.denominator))
    return power - (magnitude < Fraction(10) ** power)
