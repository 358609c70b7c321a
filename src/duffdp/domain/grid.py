"""A grid: evenly spaced numbers, dates or times that a release can take.

Promise: The candidates of a grid follow from public bounds and a public step alone, and a record
goes to one of them.
"""

from __future__ import annotations

import datetime as dt
import math
import sys
from collections.abc import Iterable
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np

from duffdp.domain._aliases import Array, Floats, Ints, Keys
from duffdp.domain.reading import (
    DAY,
    EPOCH,
    YEARS,
    bound,
    microseconds,
    nearest_double,
    number,
)
from duffdp.domain.snapping import DoubleSteps, WholeSteps
from duffdp.domain.zones import Clock, in_zone, instant, reach, read_zone, zone_name
from duffdp.errors import Argument, BoundsError

DEFAULT_GRID_BITS = 40
MIN_STEP = Fraction(2) ** -1022  # of the doubles with all their digits
MAX_GRID_SIZE = 2**62
MAX_DECIMAL_DIGITS = 2**12  # of a range in decimals
_DAYS = (dt.date(2024, 1, 1), dt.date(2024, 12, 31))  # of an example


def read_end(end: object) -> tuple[str, Fraction]:
    """Kind and position of a bound."""
    read = bound(end)
    if read is None or abs(nearest_double(read[1])) == math.inf:
        raise BoundsError(
            Argument("bounds"),
            f" must be two finite numbers, dates or datetimes, got {end!r:.60}. Pass for example ",
            Argument("bounds", _DAYS if _is_date_text(end) else (0, 120)),
            ".",
        )
    return read


def _is_date_text(end: object) -> bool:
    """True for text that looks like a date."""
    return (
        isinstance(end, str) and any(mark in end[1:] for mark in "-./") and not _is_number_text(end)
    )


def _is_number_text(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _end_text(end: object) -> str:
    """A bound for an error: a date as it is written."""
    return str(end) if isinstance(end, dt.date) else repr(end)


def read_step(step: object, kind: str) -> tuple[str, Fraction]:
    """Kind and length of a step between bounds of a kind."""
    if isinstance(step, np.timedelta64):
        step = step.astype("m8[us]").item()
    if isinstance(step, dt.timedelta) and kind in ("date", "datetime"):
        pitch: Fraction = Fraction(
            step // dt.timedelta(microseconds=1), DAY if kind == "date" else 1
        )
        read: tuple[str, Fraction] | None = (kind, pitch)
    else:
        read = bound(step)
        if read is not None and kind == "datetime":
            read = kind, read[1] * 1_000_000
    unit = {"date": " of days", "datetime": " of seconds"}.get(kind, "")
    if (
        read is None
        or read[1].numerator <= 0
        or nearest_double(read[1]) == math.inf
        or (read[0] in ("date", "datetime") and read[0] != kind)
    ):
        raise BoundsError(
            Argument("step"),
            f" must be a finite number{unit} above 0, got {step!r}. Pass for example ",
            Argument("step", 1),
            ".",
        )
    if unit and read[1].denominator != 1:
        least = "one day" if kind == "date" else "one microsecond"
        raise BoundsError(
            Argument("step"),
            f" must be a whole multiple of {least} for these bounds, got {step!r}.",
        )
    if not unit and read[1] < MIN_STEP:
        raise BoundsError(
            Argument("step"),
            f" must be at least 2**-1022, about 2.3e-308, got {step!r}. Pass a larger step.",
        )
    return read


def fine_step(low: Fraction, up: Fraction, least: int | None) -> Fraction:
    """The power of two for about 2**40 candidates, but no finer than doubles can distinguish."""
    span = up - low
    exponent = span.numerator.bit_length() - span.denominator.bit_length() - DEFAULT_GRID_BITS
    exponent += span > Fraction(2) ** (exponent + DEFAULT_GRID_BITS)
    pitch = Fraction(2) ** exponent
    if least:
        return max(pitch, Fraction(least))
    return max(pitch, Fraction(math.ulp(max(abs(float(low)), abs(float(up))))), MIN_STEP)


class Grid:
    """Candidates from lower to upper, evenly spaced by step.

    Parameters
    ----------
    lower, upper
        Two numbers (int, float, Decimal), dates or datetimes, lower below upper. Both are
        candidates if `upper - lower` is a multiple of `step`; otherwise the last candidate is the
        largest below `upper`.
    step
        Distance between candidates: a number above 0; for dates a number of days, for datetimes a
        number of seconds, for both also a `timedelta`. None: one day for dates; for numbers a power
        of two, and for datetimes a power of two in microseconds, that gives about 2**40 candidates.
        Functions such as `median` choose a larger step for bounds without one.

    Methods
    -------
    value, values, index

    Privacy
    -------
    Bounds and step are public and must not be taken from the data. Every record is clamped to the
    bounds and snapped to the nearest candidate individually, so neighboring data sets stay
    neighbors and no output reveals low bits of a record.

    References
    ----------
    Mironov, "On significance of the least significant bits for differential privacy" (CCS 2012).

    Examples
    --------
    >>> import duffdp
    >>> grid = duffdp.Grid(0, 120, 1)
    >>> grid.size, grid.value(37), grid.index(36.6)
    (121, 37, 37)
    >>> duffdp.Grid(0.0, 20.0, 0.01).value(1234)
    12.34
    """

    __slots__ = (
        "_den",
        "_num_lo",
        "_num_step",
        "clock",
        "double_steps",
        "kind",
        "lower",
        "size",
        "step",
        "upper",
        "whole_steps",
        "zone",
    )

    def __init__(self, lower: Any, upper: Any, step: Any = None) -> None:
        (kind_low, low), (kind_up, up) = read_end(lower), read_end(upper)
        kinds = {kind_low, kind_up}
        timed = not kinds.isdisjoint(("date", "datetime"))
        if timed and kind_low != kind_up:
            raise BoundsError(
                Argument("bounds"),
                f" must have the same type, got {_end_text(lower)} and {_end_text(upper)}. Pass "
                "two numbers or two dates.",
            )
        if (getattr(lower, "tzinfo", None) is None) != (getattr(upper, "tzinfo", None) is None):
            raise BoundsError(
                Argument("bounds"),
                f" must both have a time zone, or neither, got {_end_text(lower)} and "
                f"{_end_text(upper)}.",
            )
        if low >= up:
            error = BoundsError(
                f"the lower bound must be below the upper bound, got {lower} and {upper}. "
                f"{'Exchange them.' if low > up else 'Pass a larger upper bound.'}"
            )
            error.parameter = "bounds"
            raise error
        if step is None:
            pitch = (
                Fraction(1)
                if kind_low == "date"
                else fine_step(low, up, least=1 if timed else None)
            )
            kinds.add("decimal" if "decimal" in kinds else "float")
        else:
            kind_step, pitch = read_step(step, kind_low)
            kinds.add(kind_step)
        self._den = math.lcm(low.denominator, pitch.denominator)
        self._num_lo = low.numerator * (self._den // low.denominator)
        self._num_step = pitch.numerator * (self._den // pitch.denominator)
        # In whole numbers, which are divided sooner than fractions.
        span = up.numerator * self._den - self._num_lo * up.denominator
        self.size = span // (self._num_step * up.denominator) + 1
        if self.size < 2:
            raise BoundsError(
                Argument("step"),
                f" must not be larger than the range of the bounds, got {step!r:.40} for "
                f"{_end_text(lower)} to {_end_text(upper)}. Pass a smaller step.",
            )
        self.lower, self.upper = lower, upper
        self.kind = (
            kind_low if timed else next(k for k in ("float", "decimal", "int") if k in kinds)
        )
        if self.size > MAX_GRID_SIZE:
            raise BoundsError(
                "a grid can have at most 2**62 values, got ",
                Argument("step", step),
                f" for {lower!r} to {upper!r}. Pass a larger step.",
            )
        #: The zone that candidates are given in, and what its clocks show if records are counted by
        #: that and not as instants.
        self.zone: dt.tzinfo | None = getattr(lower, "tzinfo", None)
        self.clock: Clock | None = None
        self.step: Any = self._step_value(pitch)
        first, step = self._num_lo, self._num_step
        self.whole_steps = WholeSteps(first, step, self.size) if self._den == 1 else None
        self.double_steps = DoubleSteps.of(first, step, self._den, self.size)

    def _step_value(self, pitch: Fraction) -> Any:
        if self.kind == "date":
            return dt.timedelta(days=int(pitch))
        if self.kind == "datetime":
            return dt.timedelta(microseconds=int(pitch))
        return self._number(pitch.numerator, pitch.denominator)

    def _number(self, numerator: int, denominator: int) -> int | float | Decimal:
        if self.kind == "int":
            return numerator // denominator
        if self.kind == "float":
            return numerator / denominator
        with localcontext() as context:
            context.prec = len(str(abs(numerator))) + 4 * denominator.bit_length()
            return Decimal(numerator) / Decimal(denominator)

    def in_zone(self, zone: dt.tzinfo | str) -> Grid:
        """This grid for a column of instants in a time zone: dates are days of the zone, and bounds
        without a zone are in local time.

        Steps of whole days between such bounds follow local time, and other steps follow elapsed
        time.
        """
        if not self.timed:
            return self
        tzinfo = read_zone(zone)
        by_clock = self._naive and self.step % dt.timedelta(days=1) == dt.timedelta()
        if self._naive and not by_clock:
            low, high = (_first_instant(end, tzinfo) for end in (self.lower, self.upper))
        else:
            low, high = self.lower, self.upper
        grid = Grid(low, high, self.step)
        grid.lower, grid.upper, grid.zone = self.lower, self.upper, tzinfo
        if by_clock:
            grid.clock = Clock.of(tzinfo, *reach(grid.kind, grid.whole_ends))
        return grid

    @property
    def _naive(self) -> bool:
        """True if bounds are dates, or times without a zone."""
        return getattr(self.lower, "tzinfo", None) is None

    def value(self, index: int) -> Any:
        """The candidate with this index, in the type of the bounds and step."""
        position = self._num_lo + int(index) * self._num_step
        if self.kind == "date":
            return EPOCH.date() + dt.timedelta(days=position)
        if self.kind == "datetime":
            if self.zone is None:
                return EPOCH + dt.timedelta(microseconds=position)
            moment = position if self.clock is None else instant(position, self.zone)
            return in_zone(moment, self.zone)
        return self._number(position, self._den)

    def values(self, indices: Iterable[int]) -> Array:
        """The candidates with these indices as an array (of objects for decimals and dates)."""
        largest = max(abs(self._num_lo), abs(self._num_lo + (self.size - 1) * self._num_step))
        if self.kind in ("int", "float") and max(largest, self._den) <= 2**53:  # doubles hold them
            position = self._num_lo + np.fromiter(indices, dtype=np.int64) * self._num_step
            return position // self._den if self.kind == "int" else position / self._den
        short = self.kind == "int" and largest < 2**63 * self._den
        dtype = np.int64 if short else np.float64 if self.kind == "float" else object
        return np.array([self.value(i) for i in indices], dtype=dtype)

    def index(self, value: object) -> int:
        """Index of the candidate nearest to one value, clamped to the bounds; ties go up."""
        index = self.record_index(value)
        if index < 0:
            raise BoundsError(
                f"expected a value of the kind of the bounds ({self.kind}), got {value!r}."
            )
        return index

    def record_index(self, record: object) -> int:
        """The index of one record, or -1 if the record is missing or of another kind."""
        if not self.timed:
            read = number(record)
            if read is None:
                return -1
            if self.whole_steps is not None and isinstance(read, int):
                return self.whole_steps.of_number(read)
            return self.double_steps.of_number(nearest_double(read))
        moment = self._moment(record)
        if moment is None or self.whole_steps is None:
            return -1
        return self.whole_steps.of_number(moment // DAY if self.kind == "date" else moment)

    def _moment(self, record: object) -> int | None:
        """A date or time as microseconds, as candidates count them."""
        moment = microseconds(record)
        if moment is None or self.zone is None or not self._naive:
            return moment
        if getattr(record, "tzinfo", None) is not None:
            return moment if self.clock is None else self.clock.of_number(moment)
        by_clock = self.kind == "date" or self.clock is not None
        return moment if by_clock else instant(min(max(moment, YEARS[0]), YEARS[1]), self.zone)

    @property
    def timed(self) -> bool:
        """True if candidates are dates or datetimes."""
        return self.kind in ("date", "datetime")

    def find(self, value: object) -> int | None:
        """Index of a value that is a candidate; None for any other value."""
        place = self._exact_place(value)
        if place is None:
            return None
        index = math.floor(place + Fraction(1, 2))
        return index if 0 <= index < self.size and self.value(index) == value else None

    def place(self, value: object) -> float:
        """Position of a value between the candidates, as a fractional index."""
        place = self._exact_place(value)
        if place is None:
            raise BoundsError(
                f"expected a finite value of the kind of the bounds ({self.kind}), got {value!r}."
            )
        return nearest_double(place)

    def _exact_place(self, value: object) -> Fraction | None:
        read = bound(value)
        if read is None or self.timed != (read[0] in ("date", "datetime")):
            return None
        if not self.timed:
            return self.index_place(read[1])
        moment = self._moment(value)
        assert moment is not None
        return self.index_place(Fraction(moment // DAY if self.kind == "date" else moment))

    def index_units(self, length: Fraction) -> Fraction:
        """A difference of two numbers as a difference of indices, exactly."""
        return length * self._den / self._num_step

    def index_place(self, number: Fraction) -> Fraction:
        """Exact position of a number between the candidates of a numeric grid."""
        return (number * self._den - self._num_lo) / self._num_step

    def number_at(self, place: Fraction) -> float | Decimal:
        """The number at a position between the candidates of a numeric grid: a double, or a decimal
        with the default number of digits.
        """
        if self.kind == "decimal":
            exact = self.exact_at(place)
            return Decimal(exact.numerator) / Decimal(exact.denominator)
        top, bottom = place.as_integer_ratio()
        return (self._num_lo * bottom + top * self._num_step) / (bottom * self._den)  # rounded once

    def exact_at(self, place: Fraction) -> Fraction:
        """The value at a fractional index without rounding."""
        return Fraction(self._num_lo + place * self._num_step) / self._den

    @property
    def exact_unit(self) -> Fraction:
        """The largest number of which all candidates of a numeric grid are multiples."""
        return Fraction(math.gcd(self._num_lo, self._num_step), self._den)

    @property
    def units(self) -> tuple[int, int]:
        """The lower bound and the step as multiples of `exact_unit`."""
        unit = math.gcd(self._num_lo, self._num_step)
        return self._num_lo // unit, self._num_step // unit

    def multiple(self, count: int) -> int | float | Decimal:
        """A multiple of `exact_unit` in the type of the bounds and step; doubles are limited to the
        largest double.
        """
        unit = self.exact_unit
        try:
            return self._number(count * unit.numerator, unit.denominator)
        except OverflowError:
            return sys.float_info.max if count > 0 else -sys.float_info.max

    def differences(self) -> Grid:
        """The possible differences of two candidates, from 0 to the range in the same steps; for
        dates and times as numbers of steps.
        """
        if self.timed:
            return Grid(0, self.size - 1, 1)
        if self.kind == "float":
            pitch = Fraction(self._num_step, self._den)
            return Grid(0, (self.size - 1) * pitch, pitch)
        with localcontext() as context:
            context.prec = MAX_DECIMAL_DIGITS
            return Grid(0, (self.size - 1) * self.step, self.step)

    def difference(self, steps: int) -> Any:
        """A difference of this many steps, in the type of the bounds: a `timedelta` for dates."""
        return steps * self.step if self.timed else self.differences().value(steps)

    def length(self, steps: float) -> float | dt.timedelta:
        """The length of a number of steps, which need not be whole; a `timedelta` for dates."""
        if self.timed:
            length: dt.timedelta = self.step * steps
            return length
        return steps * (self._num_step / self._den)

    @property
    def spacing(self) -> float:
        """The step as a number: in days for dates, in seconds for datetimes."""
        return self._num_step / (self._den * (1_000_000 if self.kind == "datetime" else 1))

    @property
    def whole_ends(self) -> tuple[int, int]:
        """The first and the last candidate of a grid of whole numbers (days, microseconds)."""
        assert self.whole_steps is not None
        return self.whole_steps.low, self.whole_steps.high

    @property
    def is_integer(self) -> bool:
        """True if candidates are whole numbers (days, microseconds)."""
        return self.whole_steps is not None

    def snap(self, keys: Keys) -> Ints:
        """Index of every key: a number, or days or microseconds since 1970 for dates and times."""
        if keys.dtype.kind == "f":
            return self.double_steps.indices(keys)
        assert self.whole_steps is not None
        with np.errstate(all="ignore"):
            return self.whole_steps.of_array(keys)

    def snap_float(self, keys: Keys, out: Floats | None = None) -> Floats:
        """Indices of float64 keys as float64 (exact up to 2**50 candidates); nan stays nan."""
        with np.errstate(all="ignore"):
            return self.double_steps.of_array(keys, out)

    def parameters(self) -> dict[str, Any]:
        """The public parameters that define the domain."""
        return {"bounds": (self.lower, self.upper), "step": self.step}

    def threshold(self, index: int, integer: bool) -> float | int | None:
        """The smallest key that snaps to `index` or above; below it keys snap below `index`.

        None if no key gets there: beyond the last candidate, or in a grid finer than doubles.
        """
        if index >= self.size:
            return None
        if index <= 0:
            return -(2**63) if integer else -math.inf
        if not integer:
            return self.double_steps.threshold(index)
        assert self.whole_steps is not None
        return self.whole_steps.threshold(index)

    def __len__(self) -> int:
        return self.size

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Grid) and self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash(self._identity())

    def _identity(self) -> tuple[Any, ...]:
        return self.kind, self.size, self._num_lo, self._num_step, self._den, self.clock

    def __repr__(self) -> str:
        return f"Grid({self.lower!r}, {self.upper!r}, step={self.step!r})"


def _first_instant(end: object, zone: dt.tzinfo) -> dt.datetime:
    """The first instant of a bound without a zone in a time zone."""
    try:
        return in_zone(instant(microseconds(end) or 0, zone), dt.UTC)
    except OverflowError:
        raise BoundsError(
            Argument("bounds"),
            f" must be in the years 1 to 9999 also in UTC, got {end} in the zone "
            f"{zone_name(zone)}. Move it by a day.",
        ) from None
