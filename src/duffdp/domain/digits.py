"""Numbers with so many significant digits: what a release can be where nobody knows bounds."""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import numpy as np

from duffdp.domain.aliases import Array, Floats, Ints, Keys
from duffdp.domain.digit_steps import DigitSteps, exponent
from duffdp.domain.reading import bound, nearest_double, number
from duffdp.errors import BoundsError

MOST_DIGITS = 12  # then indices stay below 2**50, whatever the magnitudes are
SMALLEST, LARGEST = Fraction(1, 10**9), Fraction(10**12)
_LEAST, _MOST = Fraction(1, 10**290), Fraction(10**308)  # doubles with all their digits


class Digits:
    """Zero, and the numbers of either sign with so many significant digits: what a release can be.

    Parameters
    ----------
    digits
        How many significant digits, from 1 to 12. With 3 of them there are 900 candidates from 1
        to 10, and as many from 10 to 100.
    smallest, largest
        The candidates above 0 that are nearest to it and furthest from it: numbers with at most so
        many significant digits.

    Privacy
    -------
    All three are public and must not be taken from the data. Every record is rounded to the nearest
    candidate by itself, ties away from 0, so neighbouring data sets stay neighbours and no output
    betrays low bits of a record.

    Utility
    -------
    Rounding moves a record by at most half of its last digit, and a decade costs no more than any
    other: with 3 digits a median over 21 decades of either sign has 37,803 candidates, where evenly
    spaced ones would be 10**21.

    References
    ----------
    Mironov, "On significance of the least significant bits for differential privacy" (CCS 2012);
    `docs/choose-bounds.md`.

    Examples
    --------
    >>> digits = Digits(3)
    >>> digits.size, digits.value(digits.index(2718.28)), digits.value(digits.index(-0.0199951))
    (37803, 2720.0, -0.02)
    """

    __slots__ = ("_zero", "digits", "double_steps", "largest", "size", "smallest")

    kind = "float"
    timed = whole = False
    clock = None
    whole_steps = None  # every record counts as the double nearest to it

    def __init__(self, digits: Any, smallest: Any = SMALLEST, largest: Any = LARGEST) -> None:
        if isinstance(digits, np.integer):
            digits = int(digits)
        if type(digits) is not int or not 1 <= digits <= MOST_DIGITS:
            raise BoundsError(
                f"digits must be a whole number from 1 to {MOST_DIGITS}, got {digits!r:.40}. "
                "Pass for example digits=3."
            )
        low, high = _magnitude("smallest", smallest, digits), _magnitude("largest", largest, digits)
        if low >= high:
            raise BoundsError(
                "the smallest magnitude must be below the largest, got "
                f"{float(low):g} and {float(high):g}. Exchange them if they are swapped."
            )
        self.digits = digits
        self.smallest, self.largest = float(low), float(high)
        self.double_steps = DigitSteps.of(digits, low, high)
        self._zero = self.double_steps.zero
        self.size = self.double_steps.size

    @property
    def lower(self) -> float:
        """The least candidate."""
        return -self.largest

    @property
    def upper(self) -> float:
        """The last candidate."""
        return self.largest

    @property
    def whole_ends(self) -> tuple[int, int]:
        """Whole numbers between which all candidates lie."""
        return math.floor(self.lower), math.ceil(self.upper)

    def value(self, index: int) -> float:
        """The candidate with this index."""
        return float(self._exact(int(index)))

    def _exact(self, index: int) -> Fraction:
        place = index - self._zero
        magnitude = self.double_steps.magnitude(abs(place)) if place else Fraction(0)
        return magnitude if place > 0 else -magnitude

    def values(self, indices: Iterable[int]) -> Array:
        """The candidates with these indices as an array."""
        return np.array([self.value(i) for i in indices], dtype=np.float64)

    def index(self, value: Any) -> int:
        """Index of the candidate nearest to one value; ties go away from 0."""
        found = self.record_index(value)
        if found < 0:
            raise BoundsError(f"expected a number, got {value!r:.60}.")
        return found

    def record_index(self, record: Any) -> int:
        """As `index`, but -1 for a record that is dropped: missing, or no number."""
        read = number(record)
        return -1 if read is None else self.double_steps.of_number(nearest_double(read))

    def find(self, value: Any) -> int | None:
        """Index of a value that is a candidate; None if it is none."""
        if bound(value) is None or number(value) is None:
            return None
        index = self.record_index(value)
        return index if self.value(index) == value else None

    def place(self, value: Any) -> float:
        """Where a value lies between the candidates, as a fractional index."""
        read = bound(value)
        if read is None or read[0] in ("date", "datetime"):
            raise BoundsError(f"expected a finite number, got {value!r:.60}.")
        exact = read[1]
        index = self.record_index(nearest_double(exact))
        near = self._exact(index)
        side = 1 if exact > near else -1
        if not 0 <= index + side < self.size:  # beyond the last candidate: as if they went on
            side = -side
        return float(index + side * (exact - near) / (self._exact(index + side) - near))

    def snap(self, keys: Keys) -> Ints:
        """Index of every number."""
        return self.snap_float(keys).astype(np.int64)

    def snap_float(self, keys: Keys, out: Floats | None = None) -> Floats:
        """The same with indices in float64, which are exact; nan stays nan."""
        with np.errstate(all="ignore"):
            return self.double_steps.of_array(keys, out)

    def threshold(self, index: int, integer: bool) -> float | None:
        """The smallest number that snaps to `index` or above; None beyond the last candidate."""
        if index >= self.size:
            return None
        return -math.inf if index <= 0 else self.double_steps.threshold(index)

    def stretches(self) -> Ints:
        """The first index of every stretch of candidates that are evenly spaced, up to the next
        one.
        """
        decades = [place for place, _, _ in self.double_steps.decades]
        below = [self._zero - place for place in reversed(decades)]
        return np.array([0, *below, *(self._zero + place for place in decades)], dtype=np.int64)

    def parameters(self) -> dict[str, Any]:
        """What makes it, all public."""
        return {"digits": self.digits, "smallest": self.smallest, "largest": self.largest}

    def __len__(self) -> int:
        return self.size

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Digits) and self.parameters() == other.parameters()

    def __hash__(self) -> int:
        return hash((self.digits, self.smallest, self.largest))

    def __repr__(self) -> str:
        if (self.smallest, self.largest) == (float(SMALLEST), float(LARGEST)):
            return f"Digits({self.digits})"
        return f"Digits({self.digits}, smallest={self.smallest!r}, largest={self.largest!r})"


def _magnitude(name: str, given: Any, digits: int) -> Fraction:
    read = bound(given)
    if read is None or read[0] in ("date", "datetime") or not _LEAST <= read[1] <= _MOST:
        raise BoundsError(
            f"{name} must be a number above 0, from 1e-290 to 1e308, got {given!r:.40}. "
            f"Pass for example {name}={'1e-9' if name == 'smallest' else '1e12'}."
        )
    if not _has_digits(read[1], digits):
        raise BoundsError(
            f"{name} must have at most {digits} significant digits, got {given!r:.40}. "
            "Pass for example a power of ten."
        )
    return read[1]


def _has_digits(magnitude: Fraction, digits: int) -> bool:
    """Whether a number above 0 is written with at most so many digits that count."""
    return (magnitude / Fraction(10) ** (exponent(magnitude) - digits + 1)).denominator == 1
