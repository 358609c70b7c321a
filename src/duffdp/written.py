"""Text that people write, as the public values it stands for."""

from __future__ import annotations

import csv
import datetime as dt
from typing import Any

from duffdp.errors import DuffError


def value(text: str) -> Any:
    """A number, an ISO date or an ISO time."""
    for read in (int, float, _moment):
        try:
            return read(text)
        except ValueError:
            continue
    raise DuffError(f"expected a number or an ISO date such as 2024-12-31, got {text!r}.")


def _moment(text: str) -> dt.date:
    return dt.date.fromisoformat(text) if len(text) <= 10 else dt.datetime.fromisoformat(text)


def comma_list(text: str) -> list[str]:
    """The values of a list with commas, quoted like CSV."""
    return next(csv.reader([text], skipinitialspace=True), [])
