"""Text from the command line as the public values it stands for."""

from __future__ import annotations

import csv
import datetime as dt
import itertools
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from duffdp.engines.tables import column_types
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


def typed_values(
    path: str, column: str, by: list[str], keys: list[list[str]], categories: list[str] | None
) -> dict[str, Any]:
    """Keys and categories as values of their columns; in files without types they stay text, as their columns do."""
    if len(keys) != len(by):
        raise DuffError(f"each --by needs its own --keys, got {len(by)} and {len(keys)}.")
    options: dict[str, Any] = {}
    wanted = [*by, *([column] if categories is not None else [])]
    types = column_types(path, wanted) if wanted else {}
    if by:
        parts = [_typed(name, types.get(name), texts) for name, texts in zip(by, keys, strict=True)]
        options = {"by": by, "keys": list(itertools.product(*parts))}
    if categories is not None:
        options["categories"] = _typed(column, types.get(column), categories)
    return options


def _typed(column: str, dtype: Any, texts: Iterable[str]) -> list[Any]:
    """Texts as values of a column of this narwhals type; None if there is no such column, which is said later."""
    return list(texts) if dtype is None else [_value(column, dtype, text) for text in texts]


def _value(column: str, dtype: Any, text: str) -> Any:
    import narwhals as nw

    try:
        if dtype.is_integer():
            return int(text)
        if dtype.is_numeric():
            return int(text) if text.lstrip("+-").isdigit() else float(text)
        if dtype == nw.Boolean:
            return _TRUTH[text.lower()]
        if dtype == nw.Date:
            return dt.date.fromisoformat(text)
        return dt.datetime.fromisoformat(text) if isinstance(dtype, nw.Datetime) else text
    except (ValueError, KeyError):
        raise DuffError(f"the column {column!r} is of type {dtype}, and {text!r} is no such value.") from None
