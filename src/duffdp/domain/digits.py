"""Numbers with a fixed number of significant digits, as candidates if no bounds are known.

Rounding has two implementations here, for one number and for an array, and a third one as an
expression of table engines (`_engines/queries/expressions.py`). All three give the same index. None
of them overflows, warns or fails for any number.

A number counts as the double nearest to it. Its magnitude is clamped, divided by the double nearest
to the last digit of its decade, and rounded, ties away from 0: operations that are monotone and
that every engine rounds in the same way.

Promise: The candidate of a record depends on that record and the number of digits alone, and no
record makes this fail.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from duffdp.domain._aliases import Array, Floats, Ints, Keys
from duffdp.domain.reading import bound, nearest_double, number
from duffdp.domain.snapping import least_double
from duffdp.errors import Argument, BoundsError

MAX_DIGITS = 12  # then indices stay below 2**50, whatever the magnitudes are
DEFAULT_SMALLEST, DEFAULT_LARGEST = Fraction(1, 10**9), Fraction(10**12)
_MIN_MAGNITUDE, _MAX_MAGNITUDE = (
    Fraction(1, 10**290),
    Fraction(10**308),
)  # doubles with all their digits


class Decade(NamedTuple):
    """Magnitudes with the same last digit: the position of the first of them, the digit, and the
    first of them in units of the digit.
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
        decades, place = [], 1
        for power in range(exponent(smallest), exponent(largest) + 1):
            unit = Fraction(10) ** (power - digits + 1)
            first = max(Fraction(10) ** power, smallest) / unit
            decades.append(Decade(place, unit, int(first)))
            place += 10**digits - int(first)
        last = decades[-1]
        zero = last.place + int(largest / last.unit) - last.first
        if len(decades) > 1 and zero == last.place:  # a power of ten ends the decade before it
            decades.pop()
        return cls(
            zero,
            tuple(decades),
            float(largest),
            float(smallest) / 4,
            np.array([float(decade.first * decade.unit) for decade in decades]),
            np.array([float(smallest), *(float(decade.unit) for decade in decades)]),
            np.array([0.0, *(float(decade.place - decade.first) for decade in decades)]),
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

    def threshold(self, index: int) -> float:
        """The smallest key that snaps to this index (above 0) or beyond."""
        place = index - self.zero
        guess = math.copysign(float(self.magnitude(abs(place))), place) if place else 0.0
        key = least_double(self.of_number, -self.high, self.high, index, guess)
        assert key is not None  # every candidate snaps to itself
        return key


def exponent(magnitude: Fraction) -> int:
    """The power of ten that a number above 0 reaches."""
    power = len(str(magnitude.numerator)) - len(str(magnitude.denominator))
    return power - (magnitude < Fraction(10) ** power)


class Digits:
    """Candidates that are zero and all numbers with a fixed number of significant digits.

    Parameters
    ----------
    digits
        The number of significant digits, from 1 to 12. With 3 digits there are 900 candidates from
        1 to 10, and as many from 10 to 100.
    smallest, largest
        The smallest and the largest candidate above 0: numbers with at most this many significant
        digits.

    Methods
    -------
    lower, upper, value, values, index

    Privacy
    -------
    All three are public and must not be taken from the data. Every record is rounded to the nearest
    candidate individually, ties away from 0, so neighboring data sets stay neighbors and no output
    reveals low bits of a record.

    Utility
    -------
    Rounding moves a record by at most half a unit of the last digit that is kept. With 3 digits, a
    median over 21 decades of either sign has 37,803 candidates. A grid with steps of 10**-9 would
    have about 2e21.

    References
    ----------
    Mironov, "On significance of the least significant bits for differential privacy" (CCS 2012);
    `docs/how-to/choose-bounds.md`.

    Examples
    --------
    >>> import duffdp
    >>> digits = duffdp.Digits(3)
    >>> digits.size, digits.value(digits.index(2718.28)), digits.value(digits.index(-0.0199951))
    (37803, 2720.0, -0.02)
    """

    __slots__ = ("_zero", "digits", "double_steps", "largest", "size", "smallest")

    kind = "float"
    timed = is_integer = False
    clock = None
    whole_steps = None  # every record counts as the double nearest to it

    def __init__(
        self, digits: Any, smallest: Any = DEFAULT_SMALLEST, largest: Any = DEFAULT_LARGEST
    ) -> None:
        if isinstance(digits, np.integer):
            digits = int(digits)
        if type(digits) is not int or not 1 <= digits <= MAX_DIGITS:
            raise BoundsError(
                Argument("digits"),
                f" must be a whole number from 1 to {MAX_DIGITS}, got {digits!r:.40}. Pass for "
                "example ",
                Argument("digits", 3),
                ".",
            )
        low, high = _magnitude("smallest", smallest, digits), _magnitude("largest", largest, digits)
        if low >= high:
            raise BoundsError(
                "smallest must be below largest, got "
                f"{float(low):g} and {float(high):g}. Exchange them if they are swapped."
            )
        self.digits = digits
        self.smallest, self.largest = float(low), float(high)
        self.double_steps = DigitSteps.of(digits, low, high)
        self._zero = self.double_steps.zero
        self.size = self.double_steps.size

    @property
    def lower(self) -> float:
        """The smallest candidate."""
        return -self.largest

    @property
    def upper(self) -> float:
        """The largest candidate."""
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

    def index(self, value: object) -> int:
        """Index of the candidate nearest to one value; ties go away from 0."""
        index = self.record_index(value)
        if index < 0:
            raise BoundsError(f"expected a number, got {value!r:.60}.")
        return index

    def record_index(self, record: object) -> int:
        """The index of one record, or -1 if the record is missing or no number."""
        read = number(record)
        return -1 if read is None else self.double_steps.of_number(nearest_double(read))

    def find(self, value: object) -> int | None:
        """Index of a value that is a candidate; None for any other value."""
        if bound(value) is None or number(value) is None:
            return None
        index = self.record_index(value)
        return index if self.value(index) == value else None

    def place(self, value: object) -> float:
        """Position of a value between the candidates, as a fractional index."""
        read = bound(value)
        if read is None or read[0] in ("date", "datetime"):
            raise BoundsError(f"expected a finite number, got {value!r:.60}.")
        exact = read[1]
        index = self.record_index(nearest_double(exact))
        nearest = self._exact(index)
        side = 1 if exact > nearest else -1
        if not 0 <= index + side < self.size:  # beyond the last candidate: as if they went on
            side = -side
        return float(index + side * (exact - nearest) / (self._exact(index + side) - nearest))

    def snap(self, keys: Keys) -> Ints:
        """Index of every number."""
        return self.snap_float(keys).astype(np.int64)

    def snap_float(self, keys: Keys, out: Floats | None = None) -> Floats:
        """Indices of the candidates in float64, which are exact; nan stays nan."""
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
        """The public parameters that define the domain."""
        return {"digits": self.digits, "smallest": self.smallest, "largest": self.largest}

    def __len__(self) -> int:
        return self.size

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Digits) and self.parameters() == other.parameters()

    def __hash__(self) -> int:
        return hash((self.digits, self.smallest, self.largest))

    def __repr__(self) -> str:
        if (self.smallest, self.largest) == (float(DEFAULT_SMALLEST), float(DEFAULT_LARGEST)):
            return f"Digits({self.digits})"
        return f"Digits({self.digits}, smallest={self.smallest!r}, largest={self.largest!r})"


def _magnitude(name: str, value: object, digits: int) -> Fraction:
    read = bound(value)
    if (
        read is None
        or read[0] in ("date", "datetime")
        or not _MIN_MAGNITUDE <= read[1] <= _MAX_MAGNITUDE
    ):
        raise BoundsError(
            f"{name} must be a number above 0, from 1e-290 to 1e308, got {value!r:.40}. "
            f"Pass for example {name}={'1e-9' if name == 'smallest' else '1e12'}."
        )
    if not _has_digits(read[1], digits):
        raise BoundsError(
            f"{name} must have at most {digits} significant digits, got {value!r:.40}. "
            "Pass for example a power of ten."
        )
    return read[1]


def _has_digits(magnitude: Fraction, digits: int) -> bool:
    """True if a number above 0 is written with at most so many digits that count."""
    return (magnitude / Fraction(10) ** (exponent(magnitude) - digits + 1)).denominator == 1
