"""The public set of possible outputs: a grid of values, or a list of categories."""

from __future__ import annotations

import datetime as dt
import math
import struct
from collections.abc import Callable, Hashable, Iterable, Iterator
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from duffdp.errors import BoundsError

if TYPE_CHECKING:
    import numpy.typing as npt

# Aliases as text: numpy.typing takes longer to import than this package.
Ints: TypeAlias = "npt.NDArray[np.int64]"
Floats: TypeAlias = "npt.NDArray[np.float64]"
Array: TypeAlias = "npt.NDArray[Any]"
Keys: TypeAlias = Array  # int64 or float64

MOST_CANDIDATES = 2**62
DEFAULT_BITS = 40
_EPOCH = dt.datetime(1970, 1, 1)
_MICROSECOND = dt.timedelta(microseconds=1)
_INT64 = np.iinfo(np.int64)
_ROUNDED = 2**50


def _read(value: Any) -> tuple[str, Fraction] | None:
    """Kind and exact position of one bound or record; None for what is not a number, date or time.

    Numbers count as the decimal that was written (0.1 is 1/10), dates as days and times as microseconds since 1970.
    """
    if isinstance(value, np.datetime64):
        day = np.datetime_data(value.dtype)[0] in ("Y", "M", "W", "D")
        value = value.astype("M8[D]" if day else "M8[us]").item()
    elif isinstance(value, np.generic):
        value = Decimal(str(value)) if isinstance(value, np.floating) and value.dtype.itemsize < 8 else value.item()
        if isinstance(value, Decimal):
            return ("float", Fraction(value)) if value.is_finite() else None
    if isinstance(value, bool | int):
        return "int", Fraction(int(value))
    if isinstance(value, float):
        return ("float", Fraction(repr(value))) if math.isfinite(value) else None
    if isinstance(value, Decimal):
        return ("decimal", Fraction(value)) if value.is_finite() else None
    if isinstance(value, Fraction):
        return "float", value
    if isinstance(value, dt.datetime):
        if value.tzinfo is not None:
            value = value.astimezone(dt.UTC).replace(tzinfo=None)
        try:
            return "datetime", Fraction((value - _EPOCH) // _MICROSECOND)
        except (TypeError, ValueError, OverflowError):  # pandas.NaT calls itself a datetime
            return None
    if isinstance(value, dt.date):
        return "date", Fraction((value - _EPOCH.date()).days)
    return None


class Grid:
    """The candidates lower, lower + step, ..., up to upper: the public set of values a release can take.

    Parameters
    ----------
    lower, upper
        Two numbers (int, float, Decimal), dates or datetimes, lower below upper. Both are candidates if
        `upper - lower` is a multiple of `step`; otherwise the last candidate is the largest below `upper`.
    step
        Distance between candidates: a number above 0; for dates a number of days, for datetimes a number of
        seconds, for both also a `timedelta`. None: one day for dates, else a power of two (of the unit, or of a
        microsecond for datetimes) that gives about 2**40 candidates.

    Privacy
    -------
    Bounds and step are public and must not be taken from the data. Every record is clamped to the bounds and snapped to
    the nearest candidate by itself, so neighbouring data sets stay neighbours and no output betrays low bits of a record.

    References
    ----------
    Mironov, "On significance of the least significant bits for differential privacy" (CCS 2012).

    Examples
    --------
    >>> grid = Grid(0, 120, 1)
    >>> grid.size, grid.value(37), grid.index(36.6)
    (121, 37, 37)
    >>> Grid(0.0, 20.0, 0.01).value(1234)
    12.34
    """

    __slots__ = (
        "_den",
        "_fhi",
        "_flo",
        "_fstep",
        "_ihi",
        "_ilo",
        "_istep",
        "_num_lo",
        "_num_step",
        "_rounds",
        "_scale",
        "_tz",
        "kind",
        "lower",
        "size",
        "step",
        "upper",
    )  # fmt: skip

    def __init__(self, lower: Any, upper: Any, step: Any = None) -> None:
        fix = "Pass for example bounds=(0, 120)."
        ends = []
        for end in (lower, upper):
            read = None if isinstance(end, bool | np.bool_) else _read(end)
            if read is None:
                raise BoundsError(f"bounds must be two finite numbers, dates or datetimes, got {end!r}. {fix}")
            ends.append(read)
        (kind_low, low), (kind_up, up) = ends
        timed = {"date", "datetime"} & {kind_low, kind_up}
        if timed and kind_low != kind_up:
            raise BoundsError(f"bounds must be of one kind, got {lower!r} and {upper!r}. Pass two numbers or two dates.")
        if (getattr(lower, "tzinfo", None) is None) != (getattr(upper, "tzinfo", None) is None):
            raise BoundsError(f"bounds must both have a time zone or both none, got {lower!r} and {upper!r}.")
        if low >= up:
            raise BoundsError(
                f"the lower bound must be below the upper bound, got {lower} and {upper}. Exchange them if they are swapped."
            )
        kinds = {kind_low, kind_up}
        if step is None:
            pitch = Fraction(1) if kind_low == "date" else _fine(low, up, least=1 if timed else None)
            kinds.add("decimal" if "decimal" in kinds else "float")
        else:
            kind_step, pitch = _read_step(step, kind_low)
            kinds.add(kind_step)
        if pitch > up - low:
            raise BoundsError(
                f"step must not be larger than the range of the bounds, got step={step!r} for {lower!r} to {upper!r}."
            )
        self.lower, self.upper = lower, upper
        self.kind = kind_low if timed else next(k for k in ("float", "decimal", "int") if k in kinds)
        self.size = int((up - low) // pitch) + 1
        if self.size > MOST_CANDIDATES:
            raise BoundsError(
                f"a grid has at most 2**62 candidates, got step={step!r} for {lower!r} to {upper!r}. Pass a larger step."
            )
        self._den = math.lcm(low.denominator, pitch.denominator)
        self._num_lo, self._num_step = int(low * self._den), int(pitch * self._den)
        self._tz = getattr(lower, "tzinfo", None)
        self.step: Any = self._step_value(pitch)
        top = low + (self.size - 1) * pitch
        # Vectorised snapping: in int64 when candidates are whole numbers that fit, else in float64.
        whole = self._den == 1 and _INT64.min < low and top <= _INT64.max
        self._ilo, self._ihi, self._istep = (int(low), int(top), int(pitch)) if whole else (0, 0, 0)
        self._flo, self._fhi, self._fstep = float(low), float(top), float(pitch)
        mantissa = math.frexp(self._fstep)[0]
        self._scale = 1 / self._fstep if mantissa == 0.5 and Fraction(self._fstep) == pitch else 0.0
        # Each operation of snapping is monotone, so the upper end tells whether any key ends above the last candidate.
        self._rounds = self.size > _ROUNDED or self.snap_float(np.array([self._fhi]))[0] > self.size - 1

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

    def value(self, index: int) -> Any:
        """The candidate with this index, in the kind of the bounds and step."""
        position = self._num_lo + int(index) * self._num_step
        if self.kind == "date":
            return _EPOCH.date() + dt.timedelta(days=position)
        if self.kind == "datetime":
            moment = _EPOCH + dt.timedelta(microseconds=position)
            return moment if self._tz is None else moment.replace(tzinfo=dt.UTC).astimezone(self._tz)
        return self._number(position, self._den)

    def values(self, indices: Iterable[int]) -> Array:
        """The candidates with these indices as an array (of objects for decimals and dates)."""
        dtype = {"int": np.int64 if self._istep else object, "float": np.float64}.get(self.kind, object)
        return np.array([self.value(i) for i in indices], dtype=dtype)

    def index(self, value: Any) -> int:
        """Index of the candidate nearest to one value, clamped to the bounds; ties go up."""
        found = self.record_index(value)
        if found < 0:
            raise BoundsError(f"expected a value of the kind of the bounds ({self.kind}), got {value!r}.")
        return found

    def record_index(self, record: Any) -> int:
        """As `index`, but -1 for a missing record or one of another kind: those are dropped, not reported."""
        if isinstance(record, float):  # the vectorised formula, so that a list and an array agree
            if record != record or self.kind in ("date", "datetime"):
                return -1
            record = min(max(float(record), self._flo), self._fhi)
            scaled: float = (record - self._flo) * self._scale if self._scale else (record - self._flo) / self._fstep
            return min(math.floor(scaled + 0.5), self.size - 1)
        read = _read(record)
        if read is None:
            infinite = (
                record.is_infinite() if isinstance(record, Decimal) else isinstance(record, np.floating) and np.isinf(record)
            )
            return (self.size - 1 if record > 0 else 0) if infinite and self._timeless else -1
        if self._timeless != (read[0] not in ("date", "datetime")):
            return -1
        nearest = math.floor((self._position(read) * self._den - self._num_lo) / self._num_step + Fraction(1, 2))
        return min(max(nearest, 0), self.size - 1)

    @property
    def _timeless(self) -> bool:
        return self.kind not in ("date", "datetime")

    def find(self, value: Any) -> int | None:
        """Index of a value that is a candidate; None if it is none."""
        index = self.record_index(value)
        return index if index >= 0 and self.value(index) == value else None

    def place(self, value: Any) -> float:
        """Where a value lies between the candidates, as a fractional index."""
        read = None if isinstance(value, bool | np.bool_) else _read(value)
        if read is None or self._timeless != (read[0] not in ("date", "datetime")):
            raise BoundsError(f"expected a finite value of the kind of the bounds ({self.kind}), got {value!r}.")
        return float((self._position(read) * self._den - self._num_lo) / self._num_step)

    def index_units(self, length: Fraction) -> Fraction:
        """A difference of two numbers as a difference of indices, exactly."""
        return length * self._den / self._num_step

    def index_place(self, number: Fraction) -> Fraction:
        """Where a number lies between the candidates of a numeric grid, exactly."""
        return (number * self._den - self._num_lo) / self._num_step

    def _position(self, read: tuple[str, Fraction]) -> Fraction:
        kind, position = read
        if self.kind == "date" and kind == "datetime":
            return Fraction(position // 86_400_000_000)
        return position * 86_400_000_000 if self.kind == "datetime" and kind == "date" else position

    @property
    def spacing(self) -> float:
        """The step as a number: in days for dates, in seconds for datetimes."""
        return self._num_step / (self._den * (1_000_000 if self.kind == "datetime" else 1))

    @property
    def scaling(self) -> tuple[float, float, float, bool]:
        """Lower end, upper end and a factor, and whether to multiply by it (else divide): `snap_float` as numbers."""
        return self._flo, self._fhi, self._scale or self._fstep, bool(self._scale)

    @property
    def between_whole(self) -> bool:
        """Whether the bounds were given as whole numbers."""
        return isinstance(self.lower, int) and isinstance(self.upper, int)

    @property
    def rounds(self) -> bool:
        """Whether `snap_float` is rounded, so that it may end above the last candidate."""
        return self._rounds

    @property
    def ticks(self) -> tuple[int, int, int]:
        """Lower end, upper end and step as whole numbers (days, microseconds) if `whole`."""
        return self._ilo, self._ihi, self._istep

    @property
    def whole(self) -> bool:
        """Whether candidates are whole numbers (days, microseconds) that fit int64, so that integer data need no floats."""
        return self._istep > 0

    def snap(self, keys: Keys) -> Ints:
        """Index of every key: a number for numeric grids, days or microseconds since 1970 for dates and times."""
        if keys.dtype == np.int64:
            offset: Ints = _clamp(keys, self._ilo, self._ihi) - self._ilo
            if self._istep > 1:
                offset, rest = np.divmod(offset, self._istep)
                offset += rest >= self._istep - rest
            return offset
        index = self.snap_float(keys).astype(np.int64)
        return np.minimum(index, self.size - 1) if self.rounds else index

    def snap_float(self, keys: Keys) -> Floats:
        """As `snap` for float64 keys, with the indices still in float64 (exact up to 2**50 candidates)."""
        index: Floats = _clamp(keys, self._flo, self._fhi) - self._flo
        if self._scale:
            if self._scale != 1.0:
                index *= self._scale
        else:
            index /= self._fstep
        index += 0.5
        return np.floor(index, out=index)

    def parameters(self) -> dict[str, Any]:
        """What makes it, all public."""
        return {"bounds": (self.lower, self.upper), "step": self.step}

    def threshold(self, index: int, integer: bool) -> float | int | None:
        """The smallest key that snaps to `index` or above: `key < threshold` says the same as `snap(key) < index`.

        None if no key gets there: beyond the last candidate, or in a grid that is finer than doubles.
        """
        if index >= self.size:
            return None
        if integer:
            low, high = self._ilo - 1, self._ihi
            if index <= 0:
                return _INT64.min
            reached: Callable[[int, int], bool] = self._reaches_integer
        else:
            if index <= 0:
                return -math.inf
            low, high = _order(self._flo) - 1, _order(self._fhi)
            reached = self._reaches_float
            if not reached(high, index):
                return None
        while high - low > 1:
            middle = (low + high) // 2
            if reached(middle, index):
                high = middle
            else:
                low = middle
        return high if integer else _unorder(high)

    def _reaches_integer(self, key: int, index: int) -> bool:
        return bool(self.snap(np.array([key], dtype=np.int64))[0] >= index)

    def _reaches_float(self, order: int, index: int) -> bool:
        return self.record_index(_unorder(order)) >= index

    def __len__(self) -> int:
        return self.size

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Grid) and self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash(self._identity())

    def _identity(self) -> tuple[Any, ...]:
        return self.kind, self.size, self._num_lo, self._num_step, self._den

    def __repr__(self) -> str:
        return f"Grid({self.lower!r}, {self.upper!r}, step={self.step!r})"


def _read_step(step: Any, kind: str) -> tuple[str, Fraction]:
    if isinstance(step, np.timedelta64):
        step = step.astype("m8[us]").item()
    if isinstance(step, dt.timedelta) and kind in ("date", "datetime"):
        pitch: Fraction = Fraction(step // _MICROSECOND, 86_400_000_000 if kind == "date" else 1)
        read: tuple[str, Fraction] | None = (kind, pitch)
    else:
        read = None if isinstance(step, bool | np.bool_) else _read(step)
        if read is not None and kind == "datetime":
            read = kind, read[1] * 1_000_000
    unit = {"date": " of days", "datetime": " of seconds"}.get(kind, "")
    if read is None or read[1] <= 0 or (read[0] in ("date", "datetime") and read[0] != kind):
        raise BoundsError(f"step must be a finite number{unit} above 0, got {step!r}. Pass for example step=1.")
    if unit and read[1].denominator != 1:
        least = "one day" if kind == "date" else "one microsecond"
        raise BoundsError(f"step must be a whole multiple of {least} for these bounds, got {step!r}.")
    return read


def _fine(low: Fraction, up: Fraction, least: int | None) -> Fraction:
    """The power of two that gives about 2**40 candidates, but no finer than doubles can tell apart."""
    span = up - low
    exponent = span.numerator.bit_length() - span.denominator.bit_length() - DEFAULT_BITS
    exponent += span > Fraction(2) ** (exponent + DEFAULT_BITS)
    pitch = Fraction(2) ** exponent
    finest = Fraction(least) if least else Fraction(math.ulp(max(abs(float(low)), abs(float(up)))))
    return max(pitch, finest)


def _clamp(keys: Keys, low: float, high: float) -> Keys:
    """Keys within bounds; what needs no clamping is not copied."""
    if keys.size and (keys.min() < low or keys.max() > high):
        return np.clip(keys, low, high)
    return keys


def _order(number: float) -> int:
    """Doubles as integers in the same order (bit pattern, negatives mirrored), so that bisection walks over doubles."""
    bits: int = struct.unpack("<q", struct.pack("<d", number))[0]
    return bits if bits >= 0 else -(bits & 0x7FFFFFFFFFFFFFFF)


def _unorder(order: int) -> float:
    bits = order if order >= 0 else (-order) | (1 << 63)
    number: float = struct.unpack("<d", struct.pack("<Q", bits))[0]
    return number


class Categories:
    """A public list of categories: the possible values of a mode.

    Parameters
    ----------
    values
        At least two different hashable values, none of them missing (None, nan).

    Privacy
    -------
    The list is public and must not be taken from the data. Records with another value are dropped.

    References
    ----------
    Gillenwater and Munoz Medina, "Duff" (NeurIPS 2020), section 4.1: modes over a finite set.

    Examples
    --------
    >>> Categories(["a", "b"]).value(1)
    'b'
    """

    __slots__ = ("_position", "size", "values_")

    def __init__(self, values: Iterable[Hashable]) -> None:
        fix = 'Pass for example categories=["yes", "no"].'
        if isinstance(values, str | bytes) or not isinstance(values, Iterable):
            raise BoundsError(f"categories must be a list of values, got {values!r}. {fix}")
        items = [item.item() if isinstance(item, np.generic) else item for item in values]
        if not items:
            raise BoundsError(f"categories must not be empty. {fix}")
        position: dict[Hashable, int] = {}
        for item in items:
            try:
                missing, seen = item is None or bool(item != item), item in position
            except (TypeError, ValueError):
                raise BoundsError(f"categories must be hashable values such as text or numbers, got {item!r}. {fix}") from None
            if missing:
                raise BoundsError(f"categories must not hold missing values, got {item!r}: missing records are dropped. {fix}")
            if seen:
                raise BoundsError(f"categories must differ from each other, got {item!r} twice. {fix}")
            position[item] = len(position)
        self.values_ = tuple(items)
        self.size = len(items)
        self._position = position

    @property
    def kind(self) -> str:
        return "category"

    def value(self, index: int) -> Any:
        """The category with this index."""
        return self.values_[index]

    def values(self, indices: Iterable[int]) -> Array:
        """The categories with these indices as an array of objects."""
        out = np.empty(len(found := list(indices)), dtype=object)
        out[:] = [self.values_[i] for i in found]
        return out

    def record_index(self, record: Any) -> int:
        """Index of a record's category; -1 for a record with no or another value."""
        try:
            return self._position.get(record, -1)
        except TypeError:
            return -1

    def find(self, value: Any) -> int | None:
        """Index of a category; None if it is none of them."""
        index = self.record_index(value)
        return index if index >= 0 else None

    def index(self, value: Any) -> int:
        """Index of a category; an error if it is none of them."""
        index = self.record_index(value)
        if index < 0:
            raise BoundsError(f"expected one of the {self.size} categories, got {value!r}.")
        return index

    def parameters(self) -> dict[str, Any]:
        """What makes it, all public."""
        return {"categories": list(self)}

    def __len__(self) -> int:
        return self.size

    def __iter__(self) -> Iterator[Any]:
        return iter(self.values_)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Categories) and self.values_ == other.values_

    def __hash__(self) -> int:
        return hash(self.values_)

    def __repr__(self) -> str:
        return f"Categories({list(self.values_)!r})"


Domain = Grid | Categories
