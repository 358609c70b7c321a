"""Clamp and snap: the index of the candidate nearest to a number within the bounds; ties go up.

Each rule has two implementations here, for one number and for an array, and a third one as an
expression of table engines (`_engines/queries/expressions.py`). All three give the same index.
Nothing here overflows, warns or fails, whatever the number is.

A whole number on a grid of whole numbers is snapped exactly. Every other number counts as the
double nearest to it and is snapped in doubles.

Promise: The candidate of a record depends on that record and the public grid alone, and no record
makes this fail.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from duffdp.domain._aliases import Array, Floats, Ints, Keys

EXACT_QUOTIENT = 2**50  # a quotient of whole numbers below this survives division in doubles
EXACT_DOUBLES = 2**48  # between such bounds doubles put a whole number on its side of every half


class WholeSteps(NamedTuple):
    """Evenly spaced candidates that are whole numbers of any size, for whole keys."""

    low: int
    step: int
    size: int

    @property
    def high(self) -> int:
        """The last candidate."""
        return self.low + (self.size - 1) * self.step

    @property
    def same_in_doubles(self) -> bool:
        """True if `DoubleSteps` gives every whole number the same index."""
        return self.low >= -EXACT_DOUBLES and self.high <= EXACT_DOUBLES

    def threshold(self, index: int) -> int:
        """The smallest key that snaps to this index or above, for an index above 0."""
        return self.low + index * self.step - self.step // 2

    def of_number(self, key: int) -> int:
        nearest = (key - self.low + self.step // 2) // self.step
        return min(max(nearest, 0), self.size - 1)

    def of_array(self, keys: Keys) -> Ints:
        """For int64 or uint64."""
        limits = np.iinfo(keys.dtype)
        if self.fits(limits.min, limits.max):
            index: Array = clamp(keys, self.low, self.high) - self.low
            if self.step > 1:
                index += self.step // 2
                index //= self.step
            return index.astype(np.int64, copy=False)
        thresholds = self.thresholds(limits.min, limits.max)
        index = np.full(len(keys), thresholds.first + thresholds.negative_count, dtype=np.int64)
        if thresholds.negative_count:
            index -= keys < thresholds.last_negative
            gap = (thresholds.last_negative - 1) - np.clip(
                keys, thresholds.first_negative - 1, thresholds.last_negative - 1
            )
            index -= _quotient(gap, self.step, thresholds.last_negative - thresholds.first_negative)
        if thresholds.positive_count:
            index += keys >= thresholds.first_positive
            gap = (
                np.clip(keys, thresholds.first_positive, thresholds.last_positive)
                - thresholds.first_positive
            )
            index += _quotient(gap, self.step, thresholds.last_positive - thresholds.first_positive)
        return index

    def fits(self, least: int, greatest: int) -> bool:
        """True if the plain formula stays within a type of whole numbers."""
        room = self.high - self.low + self.step // 2
        return least <= self.low and self.high <= greatest and room <= greatest

    def thresholds(self, least: int, greatest: int) -> SignedThresholds:
        """The thresholds that keys of a type can meet, those below 0 apart from the others.

        A difference of two keys of the same sign never overflows.
        """
        first, last = self.of_number(least), self.of_number(greatest)
        if first == last:
            return SignedThresholds(first, 0, 0, 0, 0, 0, 0)
        middle = min(
            max(self.of_number(-1), first), last
        )  # thresholds up to this index lie below 0
        return SignedThresholds(
            first,
            middle - first,
            last - middle,
            self.threshold(first + 1),
            self.threshold(middle),
            self.threshold(middle + 1),
            self.threshold(last),
        )


class SignedThresholds(NamedTuple):
    """Thresholds of integer candidates, with those below 0 stored separately."""

    first: int  # the index of the least key
    negative_count: int
    positive_count: int
    first_negative: int
    last_negative: int
    first_positive: int
    last_positive: int


class DoubleSteps(NamedTuple):
    """Candidates in doubles. Each operation is monotone, so keys keep their order."""

    low: float
    high: float
    shrink: float  # 1/2 where the bounds are so far apart that their difference is no double
    factor: float
    multiply: bool  # by the factor, which is exact for steps that are powers of two; else divide
    size: int
    rounds: bool  # whether an index may come out above the last candidate
    start: float  # a key of candidate 0 from which no offset is so near 0 that its quotient is
    before: float | None  # half a step before the lower bound, if offsets from there say the same
    silent: bool  # whether nothing can over- or underflow, so that no record makes numpy warn

    @classmethod
    def of(cls, low: int, step: int, denominator: int, size: int) -> DoubleSteps:
        """For a lower bound and a step that have a denominator in common."""
        least, greatest = low / denominator, (low + (size - 1) * step) / denominator
        spacing = step / denominator
        shrink = 1.0 if math.isfinite(greatest - least) else 0.5
        pitch = spacing * shrink
        exact = math.frexp(pitch)[0] == 0.5 and Fraction(spacing) == Fraction(step, denominator)
        exact = exact and math.isfinite(1 / pitch)
        factor = 1 / pitch if exact else pitch
        steps = cls(least, greatest, shrink, factor, exact, size, False, least, None, False)
        start, fits = least + spacing / 8, exact and shrink == 1.0
        start = start if start < greatest and steps._place(start) == 0 else least
        rounds = size > EXACT_QUOTIENT or steps._place(greatest) > size - 1
        return steps._replace(
            rounds=rounds,
            start=start,
            before=(2 * low - step) / (2 * denominator)
            if fits and low % step == 0 and _halves_first(low // step, size)
            else None,
            silent=shrink == 1.0 and start > least and not rounds,
        )

    def _place(self, key: float) -> int:
        offset = min(max(key, self.low), self.high) * self.shrink - self.low * self.shrink
        return math.floor((offset * self.factor if self.multiply else offset / self.factor) + 0.5)

    def of_number(self, key: float) -> int:
        """For any double but nan."""
        return min(self._place(key), self.size - 1)

    def of_array(self, keys: Keys, out: Floats | None = None) -> Floats:
        """For float64, where nan stays nan; indices in float64, which may be too large if this
        `rounds`. They are written to `out` if it is given.
        """
        place = self.places(keys, out)
        return np.floor(place, out=place)

    def indices(self, keys: Keys) -> Ints:
        """The indices as whole numbers, for keys without nan."""
        if self.silent:  # numpy takes a while to be told so
            return self.places(keys).astype(np.int64)  # rounds towards 0: down
        with np.errstate(all="ignore"):
            index = self.places(keys).astype(np.int64)
        return np.minimum(index, self.size - 1) if self.rounds else index

    def places(self, keys: Keys, out: Floats | None = None) -> Floats:
        """The positions before they are rounded down; none is below 0."""
        inside = (
            clamp(keys, self.start, self.high)
            if out is None
            else keys.clip(self.start, self.high, out=out)
        )
        place: Floats
        if self.shrink == 1.0:
            place = np.subtract(inside, self.low if self.before is None else self.before, out=out)
        else:
            place = np.multiply(inside, self.shrink, out=out)
            place -= self.low * self.shrink
        if not self.multiply:
            place /= self.factor
        elif self.factor != 1.0:
            place *= self.factor
        if self.before is None:
            place += 0.5
        return place

    def threshold(self, index: int) -> float | None:
        """The smallest key that snaps to this index (above 0) or beyond; None if there is none."""
        offset = (index - 0.5) / self.factor if self.multiply else (index - 0.5) * self.factor
        guess = self.low + offset / self.shrink
        return least_double(self.of_number, self.low, self.high, index, guess)


def _halves_first(first: int, size: int) -> bool:
    """True if half a step may be added to an offset before it is rounded and not after, for steps
    g = 2h that are powers of two and a lower bound of `first` steps.

    Let e be the exact offset of a key and fl round to a double. Candidate k is reached if
    fl(fl(e) + h) >= k g one way, and if fl(e + h) >= k g the other way.
    - If e is a double, both are the same.
    - If not, the bound is not 0 and so at least g away from 0, and e > h: candidate 1 is reached
      both ways.
    - For k from 2 to 2**50, doubles are equally dense just below (2k - 1) h and just below k g. So
      fl(fl(e) + h) >= k g just if fl(e) >= (2k - 1) h. Both are even doubles, so rounding reaches
      them from half a gap below on: e reaches the one just if e + h reaches the other.
    """
    return abs(first) <= EXACT_QUOTIENT and size <= EXACT_QUOTIENT


def _quotient(gap: Array, step: int, limit: int) -> Array:
    """Differences from 0 to `limit`, divided; a step beyond the type divides nothing."""
    return (
        (gap // step).astype(np.int64, copy=False)
        if limit >= step
        else np.zeros(len(gap), dtype=np.int64)
    )


def clamp(keys: Keys, low: float, high: float) -> Keys:
    """Keys within bounds, where nan stays nan; what needs no clamping is not copied."""
    # The places of the least and the largest key are found sooner than these themselves. A nan is
    # both, and no comparison with it holds: then all keys are clamped.
    if keys.size and not (low <= keys.item(keys.argmin()) and keys.item(keys.argmax()) <= high):
        return keys.clip(low, high)
    return keys


def least_double(
    index_of: Callable[[float], int], low: float, high: float, index: int, guess: float
) -> float | None:
    """The smallest double from `low` to `high` that snaps to this index or beyond; None if there is
    none. Indices must rise with doubles.

    The search goes from `guess` in growing strides, then by bisection: about 6 steps, where
    bisection of all doubles takes 63.
    """
    below, reached = _order(low) - 1, _order(high)
    if index_of(high) < index:
        return None
    place, stride = _order(guess), 1
    while reached - below > 1:
        middle = place if below < place < reached else (below + reached) // 2
        if index_of(_unorder(middle)) >= index:
            reached, place = middle, middle - stride
        else:
            below, place = middle, middle + stride
        stride *= 2
    return _unorder(reached)


def _order(number: float) -> int:
    """Doubles as integers in the same order, so that bisection walks over doubles."""
    bits: int = struct.unpack("<q", struct.pack("<d", number))[0]
    return bits if bits >= 0 else -(bits & 0x7FFFFFFFFFFFFFFF)


def _unorder(order: int) -> float:
    bits = order if order >= 0 else (-order) | (1 << 63)
    number: float = struct.unpack("<d", struct.pack("<Q", bits))[0]
    return number
