"""Values of an answer that share a column: those of several types become numbers or text."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal, localcontext
from typing import Any

from duffdp._engines.public_values import spellings

_INT64, _ENGINE_DIGITS = range(-(2**63), 2**63), 38  # of whole numbers and of decimals in engines
_DECIMALS = 18  # behind the point of released decimals


def of_one_type(values: list[Any]) -> list[Any]:
    """Values as they are if a typed column can hold them together, else as numbers or text that
    it can hold; missing values stay missing.
    """
    if type(None) not in set(map(type, values)):
        return _of_one_type(values)
    converted = iter(_of_one_type([value for value in values if value is not None]))
    return [None if value is None else next(converted) for value in values]


def _of_one_type(values: list[Any]) -> list[Any]:
    kinds = set(map(type, values))
    if kinds == {Decimal}:
        return _of_decimal_type(values)
    times = values if any(issubclass(kind, dt.datetime) for kind in kinds) else []
    zones = {value.tzinfo is None for value in times if isinstance(value, dt.datetime)}
    large = kinds == {int} and not (min(values) in _INT64 and max(values) in _INT64)
    if len(kinds) == 1 and len(zones) < 2 and not large:
        return values
    if large and all(abs(value) < 10**_ENGINE_DIGITS for value in values):
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


def _of_decimal_type(values: list[Decimal]) -> list[Any]:
    """Decimals that a column of 38 digits holds, 18 of them behind the point at most: noise leaves
    no more. Floats if they are larger.
    """
    decimals = min(_DECIMALS, max(map(_decimals, values)))
    if any(value and value.adjusted() + 1 + decimals > _ENGINE_DIGITS for value in values):
        return list(map(float, values))
    unit = Decimal(1).scaleb(-_DECIMALS)
    with localcontext(prec=2 * _ENGINE_DIGITS):
        return [value.quantize(unit) if _decimals(value) > _DECIMALS else value for value in values]


def _decimals(value: Decimal) -> int:
    exponent = value.as_tuple().exponent
    return max(0, -exponent) if isinstance(exponent, int) else 0
