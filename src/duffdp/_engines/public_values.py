"""Public values (keys, categories) in the type of a column, for types whose equality is known.

No two of them are one value there, so that a row is in one group at most.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable, Container, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from functools import partial
from itertools import product
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np

from duffdp._engines.libraries import Narwhals
from duffdp._parameters import Groups
from duffdp.domain import Categories
from duffdp.domain.zones import read_zone
from duffdp.errors import Argument, DuffError, UnsupportedData

Convert = Callable[[Any], Any]
_FINEST = {"s": 1_000_000, "ms": 1000, "us": 1, "ns": 1}
# What nanoseconds in 64 bits can hold, to the second.
_NANOSECONDS = (dt.datetime(1677, 9, 21, 0, 12, 44), dt.datetime(2262, 4, 11, 23, 47, 16))
_COMPARABLE = "bool, numbers, text, dates, and times no finer than microseconds"


class PublicValues(NamedTuple):
    """Distinct values of some columns, each with the position of the public value it equals."""

    values: Sequence[tuple[Any, ...]]
    positions: Sequence[int]
    size: int
    other: int | None = None  # the position of all other values, which are dropped if it is None


def public_keys(
    nw: Narwhals,
    engine: Any,
    types: Mapping[str, Any],
    keys: Groups,
    places: Sequence[int],
    untyped: Container[str],
) -> PublicValues:
    """The keys of groups: each can occur, and no row is in two of them. `places` has the number of
    the group of each key. Columns that are `untyped` are text of a file.
    """
    for name in keys.by:
        _check_equality(nw, engine, types[name], name)
    kinds = [types[name] for name in keys.by]
    columns = (list(map(itemgetter(i), keys.keys)) for i in range(len(kinds)))
    if all(map(partial(_fits_as_it_is, nw), kinds, columns)):
        # And keys differ from each other.
        return PublicValues(keys.keys, places, max(places) + 1)
    converters = [column_values(nw, types[name], name in untyped) for name in keys.by]
    spelled = []
    for position, key in zip(places, keys.keys, strict=True):
        parts = [convert(value) for convert, value in zip(converters, key, strict=True)]
        for name, value, values in zip(keys.by, key, parts, strict=True):
            if not values:
                raise DuffError(
                    f"the keys of {name!r} must have the type of that column, {types[name]}, "
                    f"got {value!r}. List keys that the column can hold."
                )
        spelled += [(values, position) for values in product(*parts)]
    if _merged([values for values, _ in spelled]):
        raise DuffError(
            Argument("keys"),
            f" must differ from each other as values of {', '.join(map(repr, keys.by))}. List "
            "each value once.",
        )
    return PublicValues(
        [values for values, _ in spelled], [at for _, at in spelled], max(places) + 1
    )


def _fits_as_it_is(nw: Narwhals, dtype: Any, values: Sequence[Any]) -> bool:
    """True if a column of whole numbers can hold all of these, which are such numbers."""
    if not dtype.is_integer() or set(map(type, values)) != {int}:
        return False
    lowest, highest = whole_range(nw, dtype)
    return bool(lowest <= min(values) and max(values) <= highest)


def _plural(nw: Narwhals, dtype: Any) -> str:
    """The word for values of a declared type."""
    if dtype.is_integer():
        return "whole numbers"
    if dtype.is_numeric():
        return "numbers"
    if dtype == nw.Boolean:
        return "true or false"
    return "dates or times" if dtype.is_temporal() else "texts"


def public_categories(
    nw: Narwhals, engine: Any, dtype: Any, column: str, categories: Categories, untyped: bool
) -> PublicValues:
    """The categories that a column can hold; the others have no records."""
    _check_equality(nw, engine, dtype, column)
    convert = column_values(nw, dtype, untyped)
    spelled = [
        ((value,), at) for at, category in enumerate(categories) for value in convert(category)
    ]
    if not spelled:
        raise UnsupportedData(
            f"the column {column!r} has the type {dtype}, and no listed value is of that type. "
            f"List values that are {_plural(nw, dtype)}, or use another column."
        )
    if _merged([values for values, _ in spelled]):
        raise DuffError(
            f"the categories must differ from each other as values of the column {column!r}, "
            f"{dtype}. Leave some out."
        )
    return PublicValues(
        [values for values, _ in spelled], [at for _, at in spelled], categories.size
    )


def check_person(nw: Narwhals, engine: Any, dtype: Any, name: str) -> None:
    """Refuse a column of people unless any two of its values are equal or different."""
    unsure = isinstance(dtype, nw.Duration | nw.List | nw.Array | nw.Struct)
    unsure = unsure or (dtype == nw.Object and not engine.objects)
    if unsure or (dtype == nw.Unknown and not engine.tells_apart(name)):
        raise UnsupportedData(
            f"the column {name!r} is of type {dtype}, which cannot identify people reliably. Use "
            "a column of numbers, text or dates, or convert it first."
        )


def _check_equality(nw: Narwhals, engine: Any, dtype: Any, name: str) -> None:
    objects = dtype != nw.Object or engine.objects
    if not objects or not has_known_equality(nw, dtype, engine.nanoseconds):
        raise UnsupportedData(
            f"the column {name!r} is of type {dtype}, whose values cannot be compared "
            f"reliably. Groups and categories need columns of {_COMPARABLE}: convert it first."
        )


def _merged(values: list[tuple[Any, ...]]) -> bool:
    """True if two of them are one value."""
    return len(set(values)) < len(values)


def column_values(
    nw: Narwhals, dtype: Any, untyped: bool = False
) -> Callable[[Any], tuple[Any, ...]]:
    """A function from a public value to its values in a column of this type: none, one value, or
    its spellings.

    Parameters
    ----------
    nw
        The narwhals module.
    dtype
        A type for which `has_known_equality`.
    untyped
        Whether the column is text because its file declares no types: values count as what they
        print as.
    """
    if untyped and dtype == nw.String:
        return spellings
    convert = _converter(nw, dtype)

    def values(value: Any) -> tuple[Any, ...]:
        try:
            converted = convert(value)
        except (ArithmeticError, ValueError):
            return ()
        return () if converted is None else (converted,)

    return values


def has_known_equality(nw: Narwhals, dtype: Any, nanoseconds: bool) -> bool:
    """True if no engine treats two different values of this type as equal, so a row is in at most
    one group.
    """
    if isinstance(dtype, nw.Datetime):
        return dtype.time_unit in _FINEST and (nanoseconds or dtype.time_unit != "ns")
    comparable = (nw.Boolean, nw.String, nw.Categorical, nw.Enum, nw.Date, nw.Object)
    return bool(dtype.is_numeric()) or isinstance(dtype, comparable)


def spellings(value: Any) -> tuple[str, ...]:
    """Spellings of a public value in a text file."""
    if isinstance(value, bool):
        return (str(value), str(value).lower(), str(value).upper())
    if isinstance(value, dt.datetime):
        return (value.isoformat(sep=" "), value.isoformat())
    if isinstance(value, dt.date):
        return (value.isoformat(),)
    if isinstance(value, float):
        return (repr(float(value)),)
    if isinstance(value, int | Decimal):
        return (str(value),)
    text = _text(value)
    return () if text is None else (text,)


def _converter(nw: Narwhals, dtype: Any) -> Convert:
    if dtype == nw.Object:
        return lambda value: value
    if dtype == nw.Boolean:
        return lambda value: value if isinstance(value, bool) else None
    if dtype.is_numeric():
        return _number(nw, dtype)
    if isinstance(dtype, nw.Datetime):
        return _moment(dtype)
    if dtype == nw.Date:
        return _day
    return _text


def _text(value: Any) -> str | None:
    if not isinstance(value, str):
        return None
    try:
        value.encode()
    except UnicodeEncodeError:  # half of a pair: no column holds it
        return None
    return str.__str__(value)


def _day(value: Any) -> dt.date | None:
    if not isinstance(value, dt.date) or isinstance(value, dt.datetime):
        return None
    return dt.date(value.year, value.month, value.day)


def _moment(dtype: Any) -> Convert:
    """A value without a zone is a time of the clocks in that of the column."""
    finest, zoned = _FINEST[dtype.time_unit], dtype.time_zone is not None
    zone = read_zone(dtype.time_zone) if zoned else None

    def moment(value: Any) -> dt.datetime | None:
        if not isinstance(value, dt.datetime) or (value.tzinfo is not None and not zoned):
            return None
        # pandas has times with nanoseconds, which compare as equal once they are lost.
        if value.microsecond % finest or getattr(value, "nanosecond", 0):
            return None
        # The instant decides: one hour may stand for two of them, and two zones for one.
        utc = value.replace(tzinfo=value.tzinfo or zone).astimezone(dt.UTC) if zoned else value
        day, time = utc.date(), utc.time()
        naive = dt.datetime(
            day.year, day.month, day.day, time.hour, time.minute, time.second, time.microsecond
        )
        if dtype.time_unit == "ns" and not _NANOSECONDS[0] <= naive <= _NANOSECONDS[1]:
            return None
        return naive.replace(tzinfo=dt.UTC) if zoned else naive

    return moment


def _number(nw: Narwhals, dtype: Any) -> Convert:
    convert = (
        _integer(nw, dtype)
        if dtype.is_integer()
        else _decimal(dtype)
        if dtype == nw.Decimal
        else float
    )
    if dtype == nw.Float32:
        convert = _rounded_to(np.float32)
    elif not dtype.is_integer() and dtype not in (nw.Float64, nw.Decimal):
        convert = _rounded_to(np.float16)

    def number(value: Any) -> Any:
        is_number = isinstance(value, int | float | Decimal) and not isinstance(value, bool)
        return convert(value) if is_number else None

    return number


def whole_range(nw: Narwhals, dtype: Any) -> tuple[int, int]:
    """The least and the largest number of a type of whole numbers."""
    signed = {nw.Int8: 8, nw.Int16: 16, nw.Int32: 32, nw.Int64: 64, nw.Int128: 128}
    unsigned = {nw.UInt8: 8, nw.UInt16: 16, nw.UInt32: 32, nw.UInt64: 64, nw.UInt128: 128}
    kind = type(dtype)
    lowest = -(2 ** (signed[kind] - 1)) if kind in signed else 0
    highest = 2 ** (signed[kind] - 1) - 1 if kind in signed else 2 ** unsigned[kind] - 1
    return lowest, highest


def _integer(nw: Narwhals, dtype: Any) -> Convert:
    lowest, highest = whole_range(nw, dtype)

    def integer(value: Any) -> int | None:
        return int(value) if lowest <= value <= highest and int(value) == value else None

    return integer


def _decimal(dtype: Any) -> Convert:
    digits, scale = getattr(dtype, "precision", None) or 38, getattr(dtype, "scale", None) or 0

    def decimal(value: Any) -> Decimal | None:
        if isinstance(value, float) and not math.isfinite(value):
            return None
        exact = Fraction(repr(value) if isinstance(value, float) else value) * 10**scale
        if exact.denominator != 1 or abs(exact) >= 10**digits:
            return None
        number = exact.numerator
        places = tuple(map(int, str(abs(number))))
        return Decimal((int(number < 0), places, -scale))

    return decimal


def _rounded_to(kind: type[np.floating[Any]]) -> Convert:
    def rounded(value: Any) -> float:
        with np.errstate(over="ignore"):
            return float(kind(float(value)))

    return rounded
