"""Records of every kind that a list can hold: numbers, times, and what counts as nothing."""

from __future__ import annotations

import datetime as dt
import enum
import math
from decimal import Decimal
from fractions import Fraction
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd

EAST = dt.timezone(dt.timedelta(hours=14))
WEST = dt.timezone(-dt.timedelta(hours=12))


class Failing:
    """Fails in whatever it is asked."""

    __hash__ = None

    def _fail(self, *_):
        raise RuntimeError("a record")

    __eq__ = __ne__ = __lt__ = __le__ = __float__ = __int__ = __index__ = __bool__ = __len__ = _fail
    __iter__ = __array__ = __getitem__ = _fail

    @property
    def __class__(self):
        raise RuntimeError("a record")


class FailingFloat(float):
    def __float__(self):
        raise RuntimeError("a record")


class FailingZone(dt.tzinfo):
    def utcoffset(self, moment):
        raise RuntimeError("a record")


class Chameleon:
    """Equal to everything, with the hash of one category."""

    def __eq__(self, other):
        return True

    def __hash__(self):
        return hash("b")


class Level(enum.IntEnum):
    THREE = 3


NUMBERS = [
    0,
    1,
    7,
    -1,
    True,
    False,
    2**53 - 1,
    2**53 + 1,
    -(2**53) - 1,
    2**61 + 1,
    2**62,
    2**63 - 1,
    2**63,
    -(2**63),
    -(2**63) - 1,
    2**64,
    10**400,
    -(10**400),
    0.0,
    -0.0,
    1.5,
    2.5,
    0.1,
    1e308,
    -1e308,
    5e-324,
    math.inf,
    -math.inf,
    2.0**53,
    2.0**63,
    Decimal(3),
    Decimal("1.5"),
    Decimal("1e400"),
    Decimal("-1e9999999"),
    Decimal("Infinity"),
    Decimal("-Infinity"),
    Decimal("0.1"),
    Fraction(1, 3),
    Fraction(10**400),
    Fraction(-(10**400), 3),
    Level.THREE,
    np.int8(3),
    np.uint64(2**64 - 1),
    np.int64(-(2**63)),
    np.bool_(True),
    np.float16(0.1),
    np.float32(0.1),
    np.float64(0.1),
    np.longdouble("1e4000"),
    np.longdouble("-1e4000"),
    np.longdouble("0.1"),
    np.float64("inf"),
]
TIMES = [
    dt.date.min,
    dt.date.max,
    dt.date(2024, 1, 5),
    dt.datetime.min,
    dt.datetime.max,
    dt.datetime(2024, 1, 5, 23, 59),
    dt.datetime.min.replace(tzinfo=EAST),
    dt.datetime.max.replace(tzinfo=WEST),
    dt.datetime.max.replace(tzinfo=dt.UTC),
    dt.datetime.max.replace(tzinfo=ZoneInfo("America/New_York")),
    dt.datetime(2024, 1, 5, 3, tzinfo=EAST),
    np.datetime64("2024-01-05"),
    np.datetime64("2024-01-05T10", "h"),
    np.datetime64(2**62, "s"),
    np.datetime64(-(2**62), "s"),
    np.datetime64(2**63 - 1, "Y"),
    np.datetime64(-(2**63) + 1, "Y"),
    np.datetime64(2**63 - 1, "W"),
    np.datetime64(2**63 - 1, "D"),
    np.datetime64(2**63 - 1, "ns"),
    np.datetime64(-(2**63) + 1, "ns"),
    np.datetime64("294247-01-11", "us"),
    np.datetime64(5, "as"),
    pd.Timestamp("2024-01-05 12:00"),
    pd.Timestamp("2024-01-05 12:00", tz="UTC"),
    pd.Timestamp.max,
    pd.Timestamp.min,
]
NOTHING = [
    None,
    math.nan,
    Decimal("NaN"),
    Decimal("sNaN"),
    np.float32("nan"),
    np.longdouble("nan"),
    "3",
    "",
    b"3",
    [1],
    [],
    (1, 2),
    {1: 2},
    {3},
    1j,
    np.complex64(3),
    np.timedelta64(3, "ns"),
    np.timedelta64(3, "s"),
    dt.timedelta(3),
    dt.time(3),
    np.str_("3"),
    object(),
    np.array(3.0),
    np.array([1.0, 2.0]),
    np.datetime64("NaT"),
    np.datetime64("NaT", "s"),
    np.datetime64(5, "7s"),
    pd.NaT,
    pd.NA,
    Failing(),
    FailingFloat(3),
    dt.datetime(2024, 1, 5, tzinfo=FailingZone()),
    Chameleon(),
    range(3),
    float,
    lambda: 3,
]
RECORDS = [*NUMBERS, *TIMES, *NOTHING]
