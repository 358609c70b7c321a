"""Columns of public keys and released values, for engines whose columns have one type each."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

from duffdp.engines.tables.public_values import spellings

_INT64 = range(-(2**63), 2**63)
_PLACES = 38  # of the decimals that engines have


def of_one_type(values: list[Any]) -> list[Any]:
    """Values as they are if a typed column can hold them together, else as numbers or text that it can hold."""
    kinds = set(map(type, values))
    zones = {value.tzinfo is None for value in values if isinstance(value, dt.datetime)}
    large = kinds == {int} and not all(value in _INT64 for value in values)
    if len(kinds) == 1 and len(zones) < 2 and not large:
        return values
    if large and all(abs(value) < 10**_PLACES for value in values):
        return [Decimal(value) for value in values]
    try:
        if kinds <= {int, float, Decimal} and (
            large or all(float(value) == value for value in values)
        ):
            return [float(value) for value in values]
    except OverflowError:
        pass
    if all(isinstance(value, str) for value in values):
        return [str.__str__(value) for value in values]
    return [(spellings(value) or (str(value),))[0] for value in values]
