"""How rows are chosen: which column, which groups, who is a person. Checked before a row is
read.
"""

from __future__ import annotations

import enum
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import chain, product
from typing import Any, NamedTuple

import numpy as np

from duffdp.domain import Categories
from duffdp.engines.condition import Condition, read_condition
from duffdp.engines.keys import FileKeys
from duffdp.engines.libraries import is_of_library, narwhals
from duffdp.errors import DuffError
from duffdp.parameters import Groups
from duffdp.rows import MANY, Row, RowsOfColumns

_SIMPLE = frozenset({int, str, bool})  # of these each is there, and can be told apart
_EXAMPLE = 'Pass for example keys=["north", "south"].'
_FORMS = "a list, a frame, a series, Categories, a declared type, a path, or a mapping of these"


class Selection(NamedTuple):
    """Which column, or which two, in which groups, and who is a person."""

    column: str | None = None
    by: tuple[str, ...] = ()
    keys: Sequence[Row] = ()
    unit: str | None = None
    contributions: int = 1
    pair: tuple[str, str] | None = None  # in the place of `column`, where records are pairs
    values: tuple[str, ...] = ()  # the columns that hold what is summarised: `column`, or `pair`
    groups: Groups = Groups((), ())  # that are answered: the keys, or what they make in a margin
    within: Groups | None = None  # the groups that make up a margin
    places: Sequence[int] = ()  # for each key, which of `groups` it belongs to
    where: Condition | None = None  # rows for which it does not hold are left out
    groups_per_person: int | None = None  # in each of which so many rows count; None: in all
    written: tuple[str, ...] = ()  # the columns of groups whose keys are text of a file


def select(
    column: Any,
    by: Any,
    keys: Any,
    unit: Any,
    contributions: int = 1,
    pair: tuple[str, str] | None = None,
    margin: Any = None,
    where: Any = None,
) -> Selection:
    """Check how rows are chosen and grouped, without looking at them."""
    if column is not None and not isinstance(column, str):
        raise DuffError(
            f'column must be the name of a column, got {column!r}. Pass for example column="age".'
        )
    if unit is not None and not isinstance(unit, str):
        raise DuffError(
            f"unit must be the name of the column that names the person, got {unit!r}. Pass for "
            'example unit="person_id".'
        )
    values = pair or (() if column is None else (column,))
    selection = Selection(column, unit=unit, contributions=contributions, pair=pair, values=values)
    if where is not None:
        selection = selection._replace(where=read_condition(where))
    if unit is not None and unit in selection.values:
        raise DuffError(
            f"unit must not name the column {unit!r} itself. Pass the column that names the person."
        )
    if by is None:
        if keys is not None:
            raise DuffError(
                "keys are given without by. Pass the columns of the groups as well, for example "
                'by="region".'
            )
        if margin is not None:
            raise DuffError(
                "margin is given without by. Pass the columns of the groups as well, for example "
                'by=["region", "sex"] and margin=["region"].'
            )
        return selection
    names = (by,) if isinstance(by, str) else tuple(by) if isinstance(by, list | tuple) else ()
    if (
        not names
        or not all(isinstance(name, str) for name in names)
        or len(set(names)) < len(names)
    ):
        raise DuffError(
            f"by must be the name of a column or a list of different names, got {by!r}. Pass for "
            'example by="region".'
        )
    for name in selection.values:
        if name in names:
            raise DuffError(
                f"by must not name the column {name!r} itself. Pass the columns that form the "
                "groups."
            )
    if keys is None:
        raise DuffError(
            "by needs keys, the public list of groups: it must not come from the data. Pass for "
            'example keys=["north", "south"].'
        )
    read = _read_keys(names, keys)
    left, every = _margin(names, margin), Groups(names, read.rows)
    groups, places = in_margin(every, left)
    within = None if left == names else every
    return selection._replace(
        by=names,
        keys=every.keys,
        groups=groups,
        within=within,
        places=places,
        written=read.written,
    )


def in_margin(every: Groups, margin: tuple[str, ...]) -> tuple[Groups, Sequence[int]]:
    """The groups that keys make up where some of their columns tell them apart, and for each key
    the position of its group.
    """
    if margin == every.by:
        return every, range(len(every.keys))
    kept = [every.by.index(name) for name in margin]
    parts = [tuple(key[at] for at in kept) for key in every.keys]
    place = {part: at for at, part in enumerate(dict.fromkeys(parts))}
    groups = Groups(margin, tuple(place) if kept else ())
    return groups, tuple(place[part] for part in parts)


def _margin(by: tuple[str, ...], margin: Any) -> tuple[str, ...]:
    """The columns of a margin, in the order of `by`: all of them if none are given."""
    if margin is None:
        return by
    names = [margin] if isinstance(margin, str) else margin
    if not isinstance(names, list | tuple) or not all(name in by for name in names):
        raise DuffError(
            f"margin must be some of the columns of by, {', '.join(by)}, got {margin!r:.60}. Pass "
            "for example margin=[], which is all groups together."
        )
    return tuple(name for name in by if name in names)


class Keys(NamedTuple):
    """Different groups in the given order, and the columns whose values are text of a file that
    declares no types.
    """

    rows: Sequence[Row]
    written: tuple[str, ...] = ()


def _read_keys(by: tuple[str, ...], keys: Any) -> Keys:
    """Public keys as tuples, in the given order: each once, with a value for each column."""
    rows: Sequence[Row]
    written: tuple[str, ...] = ()
    if isinstance(keys, list | tuple) and keys and all(isinstance(key, Categories) for key in keys):
        if len(keys) != len(by):
            raise DuffError(
                f"keys must have one Categories for each of the {len(by)} columns of by, got "
                f"{len(keys)}."
            )
        keys = dict(zip(by, keys, strict=True))
    if isinstance(keys, Mapping):
        if set(keys) != set(by):
            raise DuffError(
                f"keys must have a list for each column of by, {', '.join(by)}, got "
                f"{', '.join(map(str, keys)) or 'none'}."
            )
        parts = [_read_keys((name,), keys[name]) for name in by]
        rows = [sum(parts_of_key, ()) for parts_of_key in product(*(part.rows for part in parts))]
        written = tuple(name for part in parts for name in part.written)
    elif isinstance(keys, FileKeys):
        rows, written = list(keys.rows), keys.written
    else:
        rows = _rows(by, keys)
    quoted = isinstance(keys, list | tuple) or not is_of_library(keys)
    return Keys(_checked(by, rows, quoted), written)


def _rows(by: tuple[str, ...], keys: Any) -> Sequence[Row]:
    """Keys that are lists, frames, series or types."""
    if isinstance(keys, list | tuple | range):
        return _one_by_one(keys)
    declared = _declared(keys)
    if declared is not None:
        return [(value,) for value in declared]
    if is_of_library(keys):
        nw = narwhals()
        try:
            frame = nw.from_native(keys, allow_series=True)
        except TypeError:  # an index or an array of the library
            frame = None
        if isinstance(frame, nw.Series):
            return [(value,) for value in frame.to_list()]
        if frame is not None:
            frame = frame.lazy().collect()
            absent = [name for name in by if name not in frame.columns]
            if absent:
                raise DuffError(
                    f"keys must hold the columns of by, {', '.join(absent)} is missing."
                )
            return [tuple(row) for row in frame.select(*by).rows()]
    if isinstance(keys, Iterable) and not isinstance(keys, str | bytes):
        return _one_by_one(list(keys))
    raise DuffError(f"keys must be {_FORMS}, got {type(keys).__name__}. {_EXAMPLE}")


def _one_by_one(keys: list[Any] | tuple[Any, ...] | range) -> Sequence[Row]:
    """Each key as a row; many of one column stay a column."""
    if len(keys) >= MANY and _SIMPLE.issuperset(map(type, keys)):
        return RowsOfColumns([keys if isinstance(keys, range) else tuple(keys)])
    return [tuple(key) if isinstance(key, tuple | list) else (key,) for key in keys]


def _declared(keys: Any) -> list[Any] | None:
    """The values that a type lists; None for what is no type."""
    if isinstance(keys, type) and issubclass(keys, enum.Enum):
        return [member.value for member in keys]
    kind = keys if isinstance(keys, type) else type(keys)
    if not is_of_library(keys) or kind.__name__ not in ("Categorical", "CategoricalDtype", "Enum"):
        return None
    if getattr(keys, "dtype", None) is not None:  # values of such a type
        return None
    listed = getattr(keys, "categories", None)
    if kind.__name__ == "Categorical" or isinstance(keys, type) or listed is None:
        raise DuffError(
            f"keys must be known without the data, and the type {kind.__name__} declares no "
            "values: such columns list what is in them. Pass a list, a polars.Enum or a "
            "pandas.CategoricalDtype with its categories."
        )
    return list(listed)


def _checked(by: tuple[str, ...], given: Sequence[Row], quoted: bool) -> Sequence[Row]:
    """Keys that can be told apart: complete, hashable, different.

    Those of a frame or series are not quoted in errors: they may be a column of the data, which no
    one can tell.
    """
    if isinstance(given, RowsOfColumns) and len(by) == 1:
        (column,) = given.columns
        if column and len(set(column)) == len(column):
            return given
    rows = given
    simple = _SIMPLE.issuperset(map(type, chain.from_iterable(given)))
    if not simple:
        rows = [
            tuple(part.item() if isinstance(part, np.generic) else part for part in row)
            for row in given
        ]
    if not rows:
        raise DuffError(f"keys must not be empty. {_EXAMPLE}")
    for row in [] if simple and set(map(len, rows)) == {len(by)} else rows:
        if len(row) != len(by):
            raise DuffError(
                f"each key must have one value for each of the {len(by)} columns of by, got "
                f"{row!r}."
            )
        if not all(isinstance(part, Hashable) for part in row):
            raise DuffError(f"keys must be plain values such as text or numbers, got {row!r:.60}.")
        if any(part is None or part != part for part in row):
            got = f"got {row!r}" if quoted else "got a frame or series with some"
            raise DuffError(f"keys must not hold missing values, {got}.")
    if len(set(rows)) < len(rows):
        if not quoted:
            raise DuffError(
                "keys must differ from each other, got a frame or series in which some stand "
                "twice, as in a column of the data. Keys must be known without the data: pass a "
                "public list, or the frame of a code book."
            )
        twice = next(row for row, many in Counter(rows).items() if many > 1)
        raise DuffError(
            f"keys must differ from each other, got {', '.join(map(repr, twice))} twice. Leave one "
            "out."
        )
    return tuple(rows)
