"""Public keys and categories as the columns of a table hold them; no two of them are one value there."""

from __future__ import annotations

from itertools import product
from typing import Any, NamedTuple

from duffdp.domain import Categories
from duffdp.engines.selection import Selection
from duffdp.engines.tables.column_types import column_values, has_known_equality
from duffdp.errors import DuffError, UnsupportedData

_COMPARABLE = "bool, numbers, text, dates, and times no finer than microseconds"


class Known(NamedTuple):
    """Different values of some columns, and for each the position of the public value that it stands for."""

    values: list[tuple[Any, ...]]
    positions: list[int]
    size: int


def known_keys(nw: Any, adapter: Any, selection: Selection, untyped: bool) -> Known:
    """The keys of groups: each can occur, and no row is in two of them."""
    converters = []
    for name in selection.by:
        _check_equality(nw, adapter, name)
        converters.append(column_values(nw, adapter.dtype(name), untyped))
    found = []
    for position, key in enumerate(selection.keys):
        parts = [convert(value) for convert, value in zip(converters, key, strict=True)]
        for name, given, values in zip(selection.by, key, parts, strict=True):
            if not values:
                raise DuffError(
                    f"the keys of {name!r} must be of the kind of that column, {adapter.dtype(name)}, "
                    f"got {given!r}. Pass keys that the column can hold."
                )
        found += [(values, position) for values in product(*parts)]
    if _merged(adapter, [values for values, _ in found]):
        raise DuffError(
            f"keys must differ from each other as values of {', '.join(map(repr, selection.by))}. "
            "Leave some out."
        )
    return Known([values for values, _ in found], [at for _, at in found], len(selection.keys))


def known_categories(
    nw: Any, adapter: Any, column: str, categories: Categories, untyped: bool
) -> Known:
    """The categories that a column can hold; the others have no records."""
    _check_equality(nw, adapter, column)
    dtype = adapter.dtype(column)
    convert = column_values(nw, dtype, untyped)
    found = [((value,), at) for at, given in enumerate(categories) for value in convert(given)]
    if not found:
        raise UnsupportedData(
            f"no category is of the kind of the column {column!r}, {dtype}. "
            "Pass another column or other categories."
        )
    if _merged(adapter, [values for values, _ in found]):
        raise DuffError(
            f"the categories must differ from each other as values of the column {column!r}, "
            f"{dtype}. Leave some out."
        )
    return Known([values for values, _ in found], [at for _, at in found], categories.size)


def _check_equality(nw: Any, adapter: Any, name: str) -> None:
    dtype = adapter.dtype(name)
    if not has_known_equality(nw, dtype, adapter.nanoseconds):
        raise UnsupportedData(
            f"the column {name!r} is of type {dtype}, whose values cannot be told apart for certain. "
            f"Groups and categories are columns of {_COMPARABLE}: convert it first."
        )


def _merged(adapter: Any, values: list[tuple[Any, ...]]) -> bool:
    """Whether two of them are, or may be, one value where the data live."""
    same = getattr(adapter, "may_equal", None)
    if same is not None:
        values = [tuple(same(value) for value in row) for row in values]
    return len(set(values)) < len(values)
