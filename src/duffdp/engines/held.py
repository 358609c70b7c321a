"""Public values (keys, categories) as a column of some type holds them."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np


def holder(nw: Any, dtype: Any) -> Callable[[Any], Any]:
    """What makes of a public value what a column of this type holds; None if it cannot be."""
    if dtype == nw.Object:
        return lambda value: value
    if dtype == nw.Boolean:
        return lambda value: value if isinstance(value, bool) else None
    if dtype.is_numeric():
        return _number_holder(nw, dtype)
    if isinstance(dtype, nw.Datetime):
        finest, zoned = {"s": 1_000_000, "ms": 1000}.get(dtype.time_unit, 1), dtype.time_zone is not None

        def moment(value: Any) -> Any:
            fits = isinstance(value, dt.datetime) and (value.tzinfo is not None) == zoned and value.microsecond % finest == 0
            return value if fits else None

        return moment
    if dtype == nw.Date:
        return lambda value: value if isinstance(value, dt.date) and not isinstance(value, dt.datetime) else None
    return lambda value: value if isinstance(value, str) else None


def _number_holder(nw: Any, dtype: Any) -> Callable[[Any], Any]:
    name, scale = str(dtype).lower(), getattr(dtype, "scale", None)
    limits = np.iinfo(name) if dtype.is_integer() and name in np.sctypeDict else None
    least, most = (limits.min, limits.max) if limits else (-math.inf, math.inf)

    def whole(value: Any) -> Any:
        return int(value) if least <= value <= most and int(value) == value else None

    def decimal(value: Any) -> Any:
        exact = Decimal(repr(value) if isinstance(value, float) else value)
        return exact if scale is None or exact == exact.quantize(Decimal((0, (1,), -scale))) else None

    convert: Callable[[Any], Any] = whole if dtype.is_integer() else decimal if dtype == nw.Decimal else float
    if dtype == nw.Float32:
        convert = lambda value: float(np.float32(value))  # noqa: E731

    def number(value: Any) -> Any:
        try:
            return convert(value) if isinstance(value, int | float | Decimal) and not isinstance(value, bool) else None
        except (ArithmeticError, ValueError):
            return None

    return number
