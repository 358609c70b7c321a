"""The ends and the step of a grid as callers give them, read exactly."""

from __future__ import annotations

import datetime as dt
import math
from fractions import Fraction
from typing import Any

import numpy as np

from duffdp.domain.reading import DAY, bound, nearest_double
from duffdp.errors import BoundsError

DEFAULT_BITS = 40
LEAST_STEP = Fraction(2) ** -1022  # of the doubles with all their digits


def read_end(end: Any) -> tuple[str, Fraction]:
    """Kind and position of a bound."""
    read = bound(end)
    if read is None or abs(nearest_double(read[1])) == math.inf:
        raise BoundsError(
            f"bounds must be two finite numbers, dates or datetimes, got {end!r}. "
            "Pass for example bounds=(0, 120)."
        )
    return read


def read_step(step: Any, kind: str) -> tuple[str, Fraction]:
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
    if read is None or read[1] <= 0 or (read[0] in ("date", "datetime") and read[0] != kind):
        raise BoundsError(
            f"step must be a finite number{unit} above 0, got {step!r}. Pass for example step=1."
        )
    if unit and read[1].denominator != 1:
        least = "one day" if kind == "date" else "one microsecond"
        raise BoundsError(
            f"step must be a whole multiple of {least} for these bounds, got {step!r}."
        )
    if not unit and read[1] < LEAST_STEP:
        raise BoundsError(
            f"step must be at least 2**-1022, about 2.3e-308, got {step!r}. Pass a larger step."
        )
    return read


def fine_step(low: Fraction, up: Fraction, least: int | None) -> Fraction:
    """The power of two for about 2**40 candidates, but no finer than doubles can tell apart."""
    span = up - low
    exponent = span.numerator.bit_length() - span.denominator.bit_length() - DEFAULT_BITS
    exponent += span > Fraction(2) ** (exponent + DEFAULT_BITS)
    pitch = Fraction(2) ** exponent
    if least:
        return max(pitch, Fraction(least))
    return max(pitch, Fraction(math.ulp(max(abs(float(low)), abs(float(up))))), LEAST_STEP)
