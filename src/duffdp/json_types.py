"""Public values as the types that JSON has, and numbers and dates back from them."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from fractions import Fraction
from typing import Any

DAY = dt.timedelta(days=1)


def as_json(value: Any) -> Any:
    """A value, or a list, tuple or dictionary of values, with nothing in it that JSON cannot hold.

    Dates and times become ISO text, exact numbers text, steps of time the numbers that `step` takes, others their text.
    """
    if value is None or type(value) in (str, bool, int, float):
        return value
    if isinstance(value, dict):
        return {str(name): as_json(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [as_json(item) for item in value]
    if isinstance(value, dt.date | dt.time):  # a datetime is a date
        return value.isoformat()
    if isinstance(value, dt.timedelta):  # days between dates, seconds between times
        return value // DAY if value % DAY == dt.timedelta(0) else value.total_seconds()
    for kind in (bool, int, float):  # numpy's doubles and enumerations are numbers too
        if isinstance(value, kind):
            return kind(value)
    if type(value).__module__ == "numpy" and hasattr(value, "item"):
        return as_json(value.item())
    return str(value)


def from_json(value: Any, kind: str) -> Any:
    """A value of a grid of this kind from what `as_json` made of it."""
    if not isinstance(value, str):
        return value
    if kind == "date":
        return dt.date.fromisoformat(value)
    if kind == "datetime":
        return dt.datetime.fromisoformat(value)
    return Decimal(value) if kind == "decimal" else Fraction(value)
