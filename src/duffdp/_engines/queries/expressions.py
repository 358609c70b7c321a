"""Candidates, bins and times of the records of a column, as expressions of a table engine.

The rules are those of `duffdp.domain`, and every expression gives the index that the rule for one
number gives. No expression overflows or fails for any number.
"""

from __future__ import annotations

from typing import Any, cast

from duffdp._engines.libraries import DataType, Expression, Narwhals
from duffdp.domain import Digits, Ordered
from duffdp.domain.bins import Thresholds
from duffdp.domain.digits import DigitSteps
from duffdp.domain.snapping import EXACT_QUOTIENT, DoubleSteps, WholeSteps
from duffdp.domain.zones import Clock

_HALF_WORD = 2**31
_MAX_COMPARISONS = 4
_TINY = 2.0**-1000


def snap_expression(
    nw: Narwhals,
    column: Expression,
    dtype: DataType,
    grid: Ordered,
    shift: int = 0,
    by_inverse: bool = False,
) -> Expression:
    """The index of every present number of a column, rounded down to a multiple of 2**shift.

    `dtype` is the type of the column: numbers, or truth values. Dates and times come as Int64, in
    days or microseconds since 1970.

    `by_inverse` says that the engine does not divide by a fixed number, but multiplies by its
    inverse, which is another number now and then. In some engines a product that is nearer to 0
    than any double stops the query.
    """
    if grid.whole_steps is not None and is_whole(nw, dtype):
        return rounded_down(_whole_index(nw, column, dtype, grid.whole_steps), shift)
    key = column.cast(nw.Float64)
    if isinstance(grid, Digits):
        place = _digits_index(nw, key, grid.double_steps, by_inverse)
    else:
        place = _double_index(nw, key, grid.double_steps, by_inverse)
    if grid.double_steps.rounds:
        return rounded_down(place.cast(nw.Int64).clip(0, grid.size - 1), shift)
    if shift:  # exact, and quicker than whole numbers
        place = (place * 2.0**-shift).floor() * 2.0**shift
    return place.cast(nw.Int64)


def reaches_expression(
    nw: Narwhals, column: Expression, dtype: DataType, grid: Ordered, index: int
) -> Expression | None:
    """Expression that is true where a number of a column snaps to this index (above 0) or beyond;
    None if none can.
    """
    integral = is_whole(nw, dtype) and grid.whole_steps is not None
    edge = grid.threshold(index, integral)
    if edge is None:
        return None
    if not integral:
        return (column if dtype == nw.Float64 else column.cast(nw.Float64)) >= edge
    keys, least, greatest = _as_keys(nw, column, dtype)
    return None if edge > greatest else keys >= max(edge, least)


def bin_expression(
    nw: Narwhals, column: Expression, dtype: DataType, thresholds: Thresholds
) -> Expression:
    """The bin of every present number or truth value of a column, -1 outside."""
    edges: list[Any]
    if is_whole(nw, dtype):
        column, least, greatest = _as_keys(nw, column, dtype)
        edges = [max(edge, least) for edge in thresholds.integers if edge <= greatest]
    else:
        column, edges = column.cast(nw.Float64), thresholds.doubles.tolist()

    def bin_of(low: int, high: int) -> Expression:
        """For keys that reach `low` thresholds at least and `high` at most."""
        if low == high:
            return nw.lit(low - 1 if low <= thresholds.size else -1, nw.Int64)
        middle = (low + high) // 2
        reached = column >= edges[middle]
        return nw.when(reached).then(bin_of(middle + 1, high)).otherwise(bin_of(low, middle))

    # A literal alone could be one row.
    return bin_of(0, len(edges)) if edges else column.cast(nw.Int64) * 0 - 1


def clock_expression(nw: Narwhals, column: Expression, clock: Clock) -> Expression:
    """The time that clocks show at each instant of a column of whole numbers."""
    column = column.clip(clock.low, clock.high)

    def offset(first: int, last: int) -> Expression:
        if first == last:
            return nw.lit(clock.offsets[first], nw.Int64)
        middle = (first + last + 1) // 2
        later = column >= clock.starts[middle]
        return nw.when(later).then(offset(middle, last)).otherwise(offset(first, middle - 1))

    return column + offset(0, len(clock.starts) - 1)


def rounded_down(index: Expression, shift: int) -> Expression:
    """A column of whole numbers of 0 and more, in multiples of 2**shift."""
    return index - index % 2**shift if shift else index


def whole_rounded_down(nw: Narwhals, index: Expression, shift: int, grid: Ordered) -> Expression:
    """Round down with one use of the column, because some engines compute each use anew."""
    if shift == 0 or grid.size > EXACT_QUOTIENT:
        return rounded_down(index, shift)
    width = 1 << shift
    return (index / width).floor().cast(nw.Int64) * width


def is_whole(nw: Narwhals, dtype: DataType) -> bool:
    """True if a type holds nothing but whole numbers or truth values."""
    return bool(dtype.is_integer() or dtype == nw.Boolean)


def _whole_index(
    nw: Narwhals, column: Expression, dtype: DataType, steps: WholeSteps
) -> Expression:
    """`WholeSteps.of_array` for a column of whole numbers or truth values."""
    column, least, greatest = _as_keys(nw, column, dtype)
    if steps.fits(least, greatest):
        index = column.clip(steps.low, steps.high) - steps.low
        if steps.step > 1:
            index = _quotient(nw, index + steps.step // 2, steps.step, steps.size)
        return index.cast(nw.Int64)
    thresholds = steps.thresholds(least, greatest)
    index = (column * 0).cast(nw.Int64) + (thresholds.first + thresholds.negative_count)
    if thresholds.negative_count:
        gap = (thresholds.last_negative - 1) - column.clip(
            thresholds.first_negative - 1, thresholds.last_negative - 1
        )
        index = index - (column < thresholds.last_negative).cast(nw.Int64)
        if thresholds.negative_count > 1:
            index = index - _quotient(nw, gap, steps.step, thresholds.negative_count)
    if thresholds.positive_count:
        gap = (
            column.clip(thresholds.first_positive, thresholds.last_positive)
            - thresholds.first_positive
        )
        index = index + (column >= thresholds.first_positive).cast(nw.Int64)
        if thresholds.positive_count > 1:
            index = index + _quotient(nw, gap, steps.step, thresholds.positive_count)
    return index


def _double_index(
    nw: Narwhals, key: Expression, steps: DoubleSteps, by_inverse: bool
) -> Expression:
    """`DoubleSteps.of_array` for a column of Float64 without nan."""
    # By comparisons: the least and the greatest of two take some engines several times as long.
    offset = nw.when(key >= steps.start).then(key).otherwise(nw.lit(steps.start))
    offset = nw.when(key >= steps.high).then(nw.lit(steps.high)).otherwise(offset)
    if steps.shrink != 1.0:
        tiny = (offset > -_TINY) & (offset < _TINY)  # nothing, beside bounds so far apart
        offset = nw.when(tiny).then(nw.lit(0.0)).otherwise(offset) * steps.shrink
    if steps.before is not None:
        return ((offset - steps.before) * steps.factor).floor()
    offset = offset - steps.low * steps.shrink
    if steps.multiply:
        return (offset * steps.factor + 0.5).floor()
    return (offset / (offset * 0.0 + steps.factor if by_inverse else steps.factor) + 0.5).floor()


def _digits_index(nw: Narwhals, key: Expression, steps: DigitSteps, by_inverse: bool) -> Expression:
    """`DigitSteps.of_array` for a column of Float64 without nan."""
    magnitude = key.abs()

    def decade_value(values: list[float], low: int, high: int) -> Expression:
        """The value for magnitudes that reach `low` decades at least and `high` at most."""
        if low == high:
            return nw.lit(values[low], nw.Float64)
        middle = (low + high) // 2
        above, below = decade_value(values, middle + 1, high), decade_value(values, low, middle)
        return nw.when(magnitude >= float(steps.begins[middle])).then(above).otherwise(below)

    units, offsets = (
        decade_value(values.tolist(), 0, len(steps.begins))
        for values in (steps.units, steps.offsets)
    )
    magnitude = magnitude.clip(steps.tiny, steps.high)
    if by_inverse:  # a single decade has one unit
        units = magnitude * 0.0 + units
    place = (magnitude / units + 0.5).floor() + offsets
    return nw.when(key < 0.0).then(place * -1.0).otherwise(place) + float(steps.zero)


def _as_keys(nw: Narwhals, column: Expression, dtype: DataType) -> tuple[Expression, int, int]:
    """A column of whole numbers in a type that can be snapped, and the range of that type."""
    if dtype == nw.UInt64:
        return column, 0, 2**64 - 1
    if dtype == nw.Int128:
        return column, -(2**127), 2**127 - 1
    if dtype == nw.UInt128:
        return column, 0, 2**128 - 1
    return column.cast(nw.Int64), -(2**63), 2**63 - 1


def _quotient(nw: Narwhals, gap: Expression, step: int, limit: int) -> Expression:
    """A column of whole numbers of 0 and more, divided and rounded down, for results below `limit`.

    Engines differ in the division of whole numbers; in remainders and doubles they agree.
    """
    if limit <= _MAX_COMPARISONS:  # some engines add a step to a remainder, which must not overflow
        reached = ((gap >= step * j).cast(nw.Int64) for j in range(1, limit))
        return cast(Expression, sum(reached))
    if limit <= EXACT_QUOTIENT:
        return ((gap - gap % step) / step + 0.5).floor().cast(nw.Int64)
    remainder = gap % (step * _HALF_WORD)
    high = ((gap - remainder) / (step * _HALF_WORD) + 0.5).floor().cast(nw.Int64)
    return high * _HALF_WORD + ((remainder - remainder % step) / step + 0.5).floor().cast(nw.Int64)
