"""Text from the command line as the public values it stands for."""

from __future__ import annotations

import csv
import datetime as dt
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from duffdp.errors import DuffError

_TRUTH = {"true": True, "false": False}


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


def listed(text: str) -> list[str]:
    """The values of a comma-separated list, quoted like CSV where they hold commas; or the lines of @FILE."""
    if not text.startswith("@"):
        return next(csv.reader([text], skipinitialspace=True), [])
    try:
        return Path(text[1:]).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        raise DuffError(
            f"cannot read the list of values {text[1:]!r}. Pass values as A,B,C or a file with one on each line."
        ) from None


def typed(column: str, kind: str, values: Iterable[Any]) -> list[Any]:
    """Values for a column of this DuckDB type: text is converted, what is typed already stays."""
    return [_typed(column, kind, item) if isinstance(item, str) else item for item in values]


def _typed(column: str, kind: str, text: str) -> Any:
    try:
        if "INT" in kind:
            return int(text)
        if kind in ("DOUBLE", "FLOAT", "REAL") or kind.startswith("DECIMAL"):
            return int(text) if text.lstrip("+-").isdigit() else float(text)
        if kind == "BOOLEAN":
            return _TRUTH[text.lower()]
        if kind == "DATE":
            return dt.date.fromisoformat(text)
        return dt.datetime.fromisoformat(text) if kind.startswith("TIMESTAMP") else text
    except (ValueError, KeyError):
        raise DuffError(f"the column {column!r} is of type {kind}, and {text!r} is no such value.") from None
