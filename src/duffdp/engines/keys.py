"""The public keys of groups, in every form in which they can be given."""

from __future__ import annotations

import enum
import os
from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from duffdp.domain import Categories
from duffdp.engines.files import is_table_name, open_path, unreadable
from duffdp.engines.libraries import is_of_library, is_path, narwhals
from duffdp.errors import DuffError

Row = tuple[Any, ...]
_EXAMPLE = 'Pass for example keys=["north", "south"].'
_FORMS = "a list, a frame, a series, Categories, a declared type, a path, or a mapping of these"


class Keys(NamedTuple):
    """Different groups in the given order, and the columns whose values are text of a file that
    declares no types.
    """

    rows: tuple[Row, ...]
    written: tuple[str, ...] = ()


class FileKeys(NamedTuple):
    """What a file of keys holds; columns that are `written` are text without declared types."""

    path: str
    rows: tuple[Row, ...]
    written: tuple[str, ...]


def load_keys(by: Any, keys: Any) -> Any:
    """The keys with what files hold in the place of their paths, so that each is read once."""
    if isinstance(keys, Mapping):
        return {name: _of_path((name,), part) for name, part in keys.items()}
    names = (by,) if isinstance(by, str) else by
    return _of_path(names, keys) if isinstance(names, list | tuple) else keys


def refuse_data_as_keys(keys: Any, data: Any) -> None:
    """An error if the keys are the data themselves: which groups have rows is no public fact."""
    parts = list(keys.values()) if isinstance(keys, Mapping) else [keys]
    for part in parts:
        same = part is data and part is not None
        if isinstance(part, FileKeys) and is_path(data):
            same = os.path.realpath(part.path) == os.path.realpath(os.fspath(data))
        if same:
            raise DuffError(
                "keys must be known without the data, got the data themselves. Pass a public list "
                "of the groups."
            )


def read_keys(by: tuple[str, ...], keys: Any) -> Keys:
    """Public keys as tuples, in the given order: each once, with a value for each column."""
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
        parts = [read_keys((name,), keys[name]) for name in by]
        rows = [sum(parts_of_key, ()) for parts_of_key in product(*(part.rows for part in parts))]
        written = tuple(name for part in parts for name in part.written)
    elif isinstance(keys, FileKeys):
        rows, written = list(keys.rows), keys.written
    else:
        rows = _rows(by, keys)
    return Keys(_checked(by, rows), written)


def _rows(by: tuple[str, ...], keys: Any) -> list[Row]:
    """Keys that are lists, frames, series or types."""
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
        return [tuple(key) if isinstance(key, tuple | list) else (key,) for key in keys]
    raise DuffError(f"keys must be {_FORMS}, got {type(keys).__name__}. {_EXAMPLE}")


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


def _of_path(by: Sequence[Any], keys: Any) -> Any:
    """What the file of a path holds; anything else as it is."""
    if not is_path(keys):
        return keys
    name, columns = os.fspath(keys), list(map(str, by))
    if not is_table_name(name):
        return FileKeys(name, tuple((line,) for line in read_lines(name)), tuple(columns))
    try:
        return _of_table(keys, name, columns)
    except DuffError as error:
        raise type(error)(f"the keys in {name!r}: {error}") from None


def _of_table(keys: Any, name: str, columns: list[str]) -> FileKeys:
    table = open_path(keys, columns, kind="category")
    nw = narwhals()
    known = nw.from_native(table.types).collect_schema()
    for column in columns:
        if column not in known:
            raise DuffError(f"there is no column {column!r}, which by names.")
    try:
        found = nw.from_native(table.rows()).select(*columns).collect()
    except Exception as error:
        raise unreadable(name, error) from None
    if table.close is not None:
        table.close()
    written = tuple(column for column in columns if column in table.untyped)
    return FileKeys(name, tuple(map(tuple, found.rows())), written)


def read_lines(path: str) -> list[str]:
    """The lines of a file that lists public values, without empty ones."""
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError, ValueError):
        raise DuffError(
            f"cannot read the list of values {path!r:.200}. Pass a list, the path of a file with "
            "one value on each line, or that of a table."
        ) from None
    return [line for line in text.splitlines() if line]


def _checked(by: tuple[str, ...], given: list[Row]) -> tuple[Row, ...]:
    """Keys that can be told apart: complete, hashable, different."""
    rows = [
        tuple(part.item() if isinstance(part, np.generic) else part for part in row)
        for row in given
    ]
    if not rows:
        raise DuffError(f"keys must not be empty. {_EXAMPLE}")
    for row in rows:
        if len(row) != len(by):
            raise DuffError(
                f"each key must have one value for each of the {len(by)} columns of by, got "
                f"{row!r}."
            )
        if not all(isinstance(part, Hashable) for part in row):
            raise DuffError(f"keys must be plain values such as text or numbers, got {row!r:.60}.")
        if any(part is None or part != part for part in row):
            raise DuffError(f"keys must not hold missing values, got {row!r}.")
    if len(set(rows)) < len(rows):
        twice = next(row for i, row in enumerate(rows) if row in rows[:i])
        raise DuffError(
            f"keys must differ from each other, got {', '.join(map(repr, twice))} twice. Leave one "
            "out."
        )
    return tuple(rows)
