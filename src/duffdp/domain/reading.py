"""Readers of one record or one bound: a number, a day, a moment, or nothing.

Records are never refused here: what is missing, of another kind, or fails when asked is None.

Promise: Each record is read individually: no other record affects how, and no record causes an
error.
"""

from __future__ import annotations

import datetime as dt
import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from duffdp.domain._aliases import Array, Ints

DAY = 86_400_000_000  # in microseconds
EPOCH = dt.datetime(1970, 1, 1)
_MISSING = np.iinfo(np.int64).min  # how numpy writes NaT
_MICROSECOND = dt.timedelta(microseconds=1)
# What Python's times reach from and to; bounds lie within, records need not.
YEARS = tuple((end - EPOCH) // _MICROSECOND for end in (dt.datetime.min, dt.datetime.max))
# Bounds lie within the years 1 to 9999, and no unit overflows in microseconds between these.
_CONVERTIBLE = ["0000-01-01", "10001-01-01"]
FINER = {"ns": 10**3, "ps": 10**6, "fs": 10**9, "as": 10**12}  # in a microsecond


def bound(value: object) -> tuple[str, Fraction] | None:
    """Kind and exact position of a bound.

    A number is the decimal that was written (0.1 is 1/10), a date the days and a time the
    microseconds since 1970.
    """
    if type(value) is int:
        return "int", Fraction(value)
    if type(value) is Fraction:
        return "float", value
    if isinstance(value, bool | np.bool_ | np.timedelta64):
        return None
    if isinstance(value, np.datetime64):
        days = np.datetime_data(value.dtype)[0] in ("Y", "M", "W", "D")
        return _position(microseconds(value), days)
    if isinstance(value, np.floating):  # a short one counts as it is printed
        value = value.item() if isinstance(value, np.float64) else Decimal(str(value))
        if isinstance(value, Decimal):
            return ("float", Fraction(value)) if value.is_finite() else None
    elif isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, int):
        return "int", Fraction(int(value))
    if isinstance(value, float):
        return ("float", Fraction(Decimal(repr(float(value))))) if math.isfinite(value) else None
    if isinstance(value, Decimal):
        return ("decimal", Fraction(value)) if value.is_finite() else None
    if isinstance(value, Fraction):
        return "float", value
    if isinstance(value, dt.date):
        return _position(microseconds(value), not isinstance(value, dt.datetime))
    return None


def _position(moment: int | None, days: bool) -> tuple[str, Fraction] | None:
    if moment is None or not YEARS[0] <= moment <= YEARS[1]:
        return None
    return ("date", Fraction(moment // DAY)) if days else ("datetime", Fraction(moment))


def number(record: object) -> int | float | None:
    """A record as a whole number, or else as the double nearest to it, which may be infinite."""
    try:
        if isinstance(record, int | np.bool_ | np.integer):
            return None if isinstance(record, np.timedelta64) else int(record)
        if isinstance(record, float | np.floating | Decimal | Fraction):
            double = nearest_double(record)
            return double if double == double else None
    except Exception:  # whatever a record does when it is looked at
        return None
    return None


def nearest_double(number: Any) -> float:
    """The double nearest to a real number."""
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def microseconds(record: object) -> int | None:
    """A date or time as microseconds since 1970; without a zone it counts as UTC."""
    try:
        if isinstance(record, np.datetime64):
            if not has_plain_unit(record.dtype):
                return None
            present = moments(np.array([record]), days=False)
            return int(present[0]) if len(present) else None
        if isinstance(record, dt.datetime):
            offset = record.utcoffset()
            # Not by replace(tzinfo=None), which pandas 2 refuses for its earliest time.
            seconds = (record.hour * 60 + record.minute) * 60 + record.second
            days = record.toordinal() - EPOCH.toordinal()
            moment = int(days * DAY + seconds * 10**6 + record.microsecond)
            return moment if offset is None else moment - offset // _MICROSECOND
        if isinstance(record, dt.date):
            return (record.toordinal() - EPOCH.toordinal()) * DAY
    except Exception:  # whatever a record does; pandas.NaT calls itself a datetime
        return None
    return None


def has_plain_unit(dtype: Any) -> bool:
    """True if a datetime64 type counts in one unit of numpy, not in multiples or in none."""
    unit, multiple = np.datetime_data(dtype)
    return multiple == 1 and unit != "generic"


def moments(array: Array, days: bool) -> Ints:
    """The present ones of an array of datetime64 as days or microseconds since 1970, rounded down.

    numpy's own conversions wrap around near the ends of int64. Here a time in a coarse unit is
    clamped first, far beyond all bounds, and one in a fine unit is divided.
    """
    unit = np.datetime_data(array.dtype)[0]
    array = array.astype(array.dtype.newbyteorder("="), copy=False)
    ticks: Ints = array.view(np.int64)
    ticks = ticks[ticks != _MISSING]
    if unit == "D" and days:
        return ticks
    if unit in FINER:
        ticks = ticks // FINER[unit]
    elif unit != "us":
        coarse = np.clip(ticks.view(array.dtype), *np.array(_CONVERTIBLE, dtype=array.dtype))
        ticks = coarse.astype("M8[us]").view(np.int64)
    return ticks // DAY if days else ticks
