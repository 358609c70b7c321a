"""All possible keys of groups that patterns describe, counted and numbered without listing them."""

from __future__ import annotations

import datetime as dt
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from duffdp._engines.keys import read_keys
from duffdp._engines.libraries import Narwhals
from duffdp._engines.public_values import column_values, whole_range
from duffdp._rows import Row
from duffdp.domain import Categories, Pattern
from duffdp.errors import Argument, DuffError, UnsupportedData

KeyPart = Pattern | Categories
FindPlace = Callable[[Any], int | None]  # from a value of a column to its place among the possible

EPOCH_DAY = dt.date(1970, 1, 1)
_TYPES = {"text": "text", "int": "whole numbers", "date": "dates"}


@dataclass(frozen=True)
class KeyUniverse:
    """All combinations of the possible keys of some columns, in a public order."""

    by: tuple[str, ...]
    parts: tuple[KeyPart, ...]

    @property
    def size(self) -> int:
        """Number of possible keys."""
        return math.prod(part.size for part in self.parts)

    @property
    def false_keys(self) -> Fraction:
        """An upper bound of the average number of published keys that occur nowhere."""
        return min(part.false_keys for part in self.parts if isinstance(part, Pattern))

    def key(self, place: int) -> Row:
        """The possible key at a place."""
        values = []
        for part in reversed(self.parts):
            place, at = divmod(place, part.size)
            values.append(part.value(at))
        return tuple(reversed(values))

    def place(self, places: Iterable[int | None]) -> int | None:
        """The place of a key from those of its parts; None if one of them is impossible."""
        place = 0
        for part, at in zip(self.parts, places, strict=True):
            if at is None:
                return None
            place = place * part.size + at
        return place

    def mentions(self, value: Any) -> bool:
        """True if this can be a part of a key."""
        finds = (part.index if isinstance(part, Pattern) else part.find for part in self.parts)
        return any(find(value) is not None for find in finds)

    def __repr__(self) -> str:
        texts = [
            repr(part) if isinstance(part, Pattern) else f"{part.size} listed values"
            for part in self.parts
        ]
        return " x ".join(texts)


def read_universe(by: tuple[str, ...], keys: object) -> KeyUniverse | None:
    """The possible keys that patterns describe, alone or beside lists; None if there is none."""
    if isinstance(keys, Pattern):
        keys = {by[0]: keys} if len(by) == 1 else [keys]
    if isinstance(keys, list | tuple) and any(isinstance(part, Pattern) for part in keys):
        if len(keys) != len(by):
            raise DuffError(
                *(Argument("keys"), " must have one list or pattern for each of the "),
                *(f"{len(by)} columns of ", Argument("by"), f", got {len(keys)}."),
            )
        keys = dict(zip(by, keys, strict=True))
    if not isinstance(keys, Mapping) or not any(isinstance(k, Pattern) for k in keys.values()):
        return None
    if set(keys) != set(by):
        raise DuffError(
            *(Argument("keys"), " must have a list or a pattern for each column of "),
            *(Argument("by"), f" ({', '.join(by)}), got {', '.join(map(str, keys)) or 'none'}."),
        )
    parts = (keys[name] for name in by)
    listed = [part if isinstance(part, Pattern) else _listed(part) for part in parts]
    return KeyUniverse(by, tuple(listed))


def _listed(part: object) -> Categories:
    return Categories([value for (value,) in read_keys(("key",), part).rows])


def places_by_type(
    nw: Narwhals, types: Mapping[str, Any], universe: KeyUniverse, untyped: Any
) -> list[FindPlace]:
    """For each column the function from its values to places, or an error if the column cannot
    hold all possible keys: it has to come before anything is charged.
    """
    places: list[FindPlace] = []
    for name, part in zip(universe.by, universe.parts, strict=True):
        dtype, as_text = types[name], name in untyped
        if isinstance(part, Categories):
            convert = column_values(nw, dtype, as_text)
            spelled = {value: at for at, key in enumerate(part) for value in convert(key)}
            if len(set(spelled.values())) < part.size:
                raise DuffError(
                    f"the keys of {name!r} must be different values of that column, {dtype}. "
                    "Pass keys that the column can hold."
                )
            places.append(spelled.get)
            continue
        _check_kind(nw, name, dtype, part, as_text)
        places.append(part.text_index if as_text else _typed_place(part))
    return places


def _typed_place(part: Pattern) -> FindPlace:
    def place(value: object) -> int | None:
        if part.kind == "int" and isinstance(value, str):  # a number too large for an array
            return part.text_index(value)
        return part.index(value)

    return place


def _check_kind(nw: Narwhals, name: str, dtype: Any, part: Pattern, as_text: bool) -> None:
    fits = as_text or dtype == nw.Object  # of which each value is looked at
    if part.kind == "text":
        fits = fits or isinstance(dtype, nw.String | nw.Categorical | nw.Enum)
    elif part.kind == "date":
        fits = fits or dtype == nw.Date
    elif dtype.is_integer() or dtype == nw.Float64:  # pandas has doubles where some are missing
        lowest, highest = whole_range(nw, dtype) if dtype.is_integer() else (-(2**53), 2**53)
        fits = lowest <= part.value(0) and part.value(part.size - 1) <= highest
    if not fits:
        raise UnsupportedData(
            f"the column {name!r} of type {dtype} cannot hold all keys of {part!r}, which are "
            f"{_TYPES[part.kind]}. Pass a pattern of what the column holds."
        )


def day_place(part: Pattern, ticks: int, number: Any) -> int | None:
    """The place of a day that is so many ticks after 1970 began: it need not be one of Python's."""
    place = int(number) // ticks - (part.value(0) - EPOCH_DAY).days
    return place if 0 <= place < part.size else None


def counts_by_place(
    universe: KeyUniverse, places: Sequence[FindPlace], keys: Iterable[Row], counts: Iterable[int]
) -> dict[int, int]:
    """The number of records at each place; other keys are left out."""
    totals: Counter[int] = Counter()
    for key, count in zip(keys, counts, strict=True):
        place = universe.place(find(value) for find, value in zip(places, key, strict=True))
        if place is not None and count > 0:
            totals[place] += int(count)
    return dict(totals)
