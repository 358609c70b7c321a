"""Clamp and snap: the index of the candidate nearest to a number within the bounds; ties go up.

Each rule stands once for one number, once for an array and once for a column of a table engine, and
all three give the same index. Nothing here overflows, warns or fails, whatever the number is.

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
from typing import Any, NamedTuple, Protocol

import numpy as np

from duffdp.domain._aliases import Array, Floats, Ints, Keys

EXACT_QUOTIENT = 2**50  # a quotient of whole numbers below this survives division in doubles
EXACT_DOUBLES = 2**48  # between such bounds doubles put a whole number on its side of every half
_HALF_WORD = 2**31
_MAX_COMPARISONS = 4
_TINY = 2.0**-1000


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
        if self._fits(limits.min, limits.max):
            index: Array = clamp(keys, self.low, self.high) - self.low
            if self.step > 1:
                index += self.step // 2
                index //= self.step
            return index.astype(np.int64, copy=False)
        thresholds = self._thresholds(limits.min, limits.max)
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

    def of_column(self, nw: Any, column: Any, dtype: Any) -> Any:
        """For a column of whole numbers or truth values, as an expression of Int64."""
        column, least, greatest = as_keys(nw, column, dtype)
        if self._fits(least, greatest):
            index = column.clip(self.low, self.high) - self.low
            if self.step > 1:
                index = _column_quotient(nw, index + self.step // 2, self.step, self.size)
            return index.cast(nw.Int64)
        thresholds = self._thresholds(least, greatest)
        index = (column * 0).cast(nw.Int64) + (thresholds.first + thresholds.negative_count)
        if thresholds.negative_count:
            gap = (thresholds.last_negative - 1) - column.clip(
                thresholds.first_negative - 1, thresholds.last_negative - 1
            )
            index = index - (column < thresholds.last_negative).cast(nw.Int64)
            if thresholds.negative_count > 1:
                index = index - _column_quotient(nw, gap, self.step, thresholds.negative_count)
        if thresholds.positive_count:
            gap = (
                column.clip(thresholds.first_positive, thresholds.last_positive)
                - thresholds.first_positive
            )
            index = index + (column >= thresholds.first_positive).cast(nw.Int64)
            if thresholds.positive_count > 1:
                index = index + _column_quotient(nw, gap, self.step, thresholds.positive_count)
        return index

    def _fits(self, least: int, greatest: int) -> bool:
        """True if the plain formula stays within a type of whole numbers."""
        room = self.high - self.low + self.step // 2
        return least <= self.low and self.high <= greatest and room <= greatest

    def _thresholds(self, least: int, greatest: int) -> _SignedThresholds:
        """The thresholds that keys of a type can meet, those below 0 apart from the others.

        A difference of two keys of the same sign never overflows.
        """
        first, last = self.of_number(least), self.of_number(greatest)
        if first == last:
            return _SignedThresholds(first, 0, 0, 0, 0, 0, 0)
        middle = min(
            max(self.of_number(-1), first), last
        )  # thresholds up to this index lie below 0
        return _SignedThresholds(
            first,
            middle - first,
            last - middle,
            self.threshold(first + 1),
            self.threshold(middle),
            self.threshold(middle + 1),
            self.threshold(last),
        )


class _SignedThresholds(NamedTuple):
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

    def of_column(self, nw: Any, column: Any, by_inverse: bool = False) -> Any:
        """For a column of numbers without nan, as an expression of Float64; see `of_array`.

        `by_inverse` says that the engine does not divide by a fixed number, but multiplies by its
        inverse, which is another number now and then. In some engines a product that is nearer to 0
        than any double stops the query.
        """
        key = column.cast(nw.Float64)
        # By comparisons: the least and the greatest of two take some engines several times as long.
        offset = nw.when(key >= self.start).then(key).otherwise(nw.lit(self.start))
        offset = nw.when(key >= self.high).then(nw.lit(self.high)).otherwise(offset)
        if self.shrink != 1.0:
            tiny = (offset > -_TINY) & (offset < _TINY)  # nothing, beside bounds so far apart
            offset = nw.when(tiny).then(nw.lit(0.0)).otherwise(offset) * self.shrink
        if self.before is not None:
            return ((offset - self.before) * self.factor).floor()
        offset = offset - self.low * self.shrink
        if self.multiply:
            return (offset * self.factor + 0.5).floor()
        return (offset / (offset * 0.0 + self.factor if by_inverse else self.factor) + 0.5).floor()

    def threshold(self, index: int) -> float | None:
        """The smallest key that snaps to this index (above 0) or beyond; None if there is none."""
        offset = (index - 0.5) / self.factor if self.multiply else (index - 0.5) * self.factor
        guess = self.low + offset / self.shrink
        return least_double(self.of_number, self.low, self.high, index, guess)


def _halves_first(first: int, size: int) -> bool:
    """True if the half may be added before an offset is rounded, for steps g = 2h that are powers
    of two and bounds `first` steps above 0.

    An offset e that is a double gives fl(e + h) either way. Another one is above h, for bounds are
    0 or at least g away from it: the first candidate is passed either way. From the next threshold
    on and up to 2**50 g, doubles just below (2k - 1) h and just below k g are equally dense, and
    both of these are even: fl(e) >= (2k - 1) h and fl(e + h) >= k g hold for the same e.
    """
    return abs(first) <= EXACT_QUOTIENT and size <= EXACT_QUOTIENT


def as_keys(nw: Any, column: Any, dtype: Any) -> tuple[Any, int, int]:
    """A column of whole numbers in a type that can be snapped, and the range of that type."""
    if dtype == nw.UInt64:
        return column, 0, 2**64 - 1
    if dtype == nw.Int128:
        return column, -(2**127), 2**127 - 1
    if dtype == nw.UInt128:
        return column, 0, 2**128 - 1
    return column.cast(nw.Int64), -(2**63), 2**63 - 1


def _quotient(gap: Array, step: int, limit: int) -> Array:
    """Differences from 0 to `limit`, divided; a step beyond the type divides nothing."""
    return (
        (gap // step).astype(np.int64, copy=False)
        if limit >= step
        else np.zeros(len(gap), dtype=np.int64)
    )


def _column_quotient(nw: Any, gap: Any, step: int, limit: int) -> Any:
    """A column of whole numbers of 0 and more, divided and rounded down, for results below `limit`.

    Engines differ in the division of whole numbers; in remainders and doubles they agree.
    """
    if limit <= _MAX_COMPARISONS:  # some engines add a step to a remainder, which must not overflow
        return sum((gap >= step * j).cast(nw.Int64) for j in range(1, limit))
    if limit <= EXACT_QUOTIENT:
        return ((gap - gap % step) / step + 0.5).floor().cast(nw.Int64)
    remainder = gap % (step * _HALF_WORD)
    high = ((gap - remainder) / (step * _HALF_WORD) + 0.5).floor().cast(nw.Int64)
    return high * _HALF_WORD + ((remainder - remainder % step) / step + 0.5).floor().cast(nw.Int64)


def clamp(keys: Keys, low: float, high: float) -> Keys:
    """Keys within bounds; what needs no clamping is not copied."""
    # The places of the least and the largest key are found sooner than these themselves.
    if keys.size and (keys.item(keys.argmin()) < low or keys.item(keys.argmax()) > high):
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


class RoundedDoubles(Protocol):
    """Candidates, with the rounding by which doubles are snapped to them."""

    @property
    def rounds(self) -> bool:
        """True if an index may come out above the last candidate."""

    def of_column(self, nw: Any, column: Any, by_inverse: bool = False) -> Any:
        """For a column of numbers without nan, as an expression of Float64."""


class Steps(Protocol):
    """Protocol of candidates in order."""

    @property
    def size(self) -> int:
        """Number of candidates."""

    @property
    def whole_steps(self) -> WholeSteps | None:
        """The rule by which whole numbers are snapped, if candidates are whole."""

    @property
    def double_steps(self) -> RoundedDoubles:
        """The rule by which all other numbers are snapped."""

    def threshold(self, index: int, integer: bool) -> float | int | None:
        """The smallest key that snaps to `index` or above; None if no key gets there."""


def snap_expression(
    nw: Any, column: Any, dtype: Any, grid: Steps, shift: int = 0, by_inverse: bool = False
) -> Any:
    """The index of every present number of a column, rounded down to a multiple of 2**shift.

    `dtype` is the type of the column: numbers, or truth values. Dates and times come as Int64, in
    days or microseconds since 1970.
    """
    if grid.whole_steps is not None and is_whole(nw, dtype):
        return rounded_down(grid.whole_steps.of_column(nw, column, dtype), shift)
    place = grid.double_steps.of_column(nw, column, by_inverse)
    if grid.double_steps.rounds:
        return rounded_down(place.cast(nw.Int64).clip(0, grid.size - 1), shift)
    if shift:  # exact, and quicker than whole numbers
        place = (place * 2.0**-shift).floor() * 2.0**shift
    return place.cast(nw.Int64)


def reaches_expression(nw: Any, column: Any, dtype: Any, grid: Steps, index: int) -> Any:
    """Expression that is true where a number of a column snaps to this index (above 0) or beyond;
    None if none can.
    """
    integral = is_whole(nw, dtype) and grid.whole_steps is not None
    edge = grid.threshold(index, integral)
    if edge is None:
        return None
    if not integral:
        return (column if dtype == nw.Float64 else column.cast(nw.Float64)) >= edge
    keys, least, greatest = as_keys(nw, column, dtype)
    return None if edge > greatest else keys >= max(edge, least)


def rounded_down(index: Any, shift: int) -> Any:
    """A column of whole numbers of 0 and more, in multiples of 2**shift."""
    return index - index % 2**shift if shift else index


def whole_rounded_down(nw: Any, index: Any, shift: int, grid: Steps) -> Any:
    """Round down with one use of the column, because some engines compute each use anew."""
    if shift == 0 or grid.size > EXACT_QUOTIENT:
        return rounded_down(index, shift)
    return (index / 2**shift).floor().cast(nw.Int64) * 2**shift


def is_whole(nw: Any, dtype: Any) -> bool:
    """True if a type holds nothing but whole numbers or truth values."""
    return bool(dtype.is_integer() or dtype == nw.Boolean)
