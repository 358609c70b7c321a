"""Public values as the types that JSON has: dates and times as ISO text, exact decimals as text, steps as numbers."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from fractions import Fraction
from typing import Any

DAY = dt.timedelta(days=1)


def plain(value: Any) -> Any:
    """A value, or a list, tuple or dictionary of values, with nothing in it that JSON cannot hold."""
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, dict):
        return {str(name): plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(plain(item) for item in value)
    if isinstance(value, dt.date | dt.time):  # a datetime is a date
        return value.isoformat()
    if isinstance(value, dt.timedelta):  # as `step` takes it: days between dates, seconds between times
        return value // DAY if value % DAY == dt.timedelta(0) else value.total_seconds()
    if isinstance(value, Decimal | Fraction):
        return str(value)
    return plain(value.item()) if hasattr(value, "item") else str(value)
