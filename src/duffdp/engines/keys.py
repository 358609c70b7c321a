"""Public keys of groups that a file holds."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from duffdp.engines.addresses import printable
from duffdp.engines.files import is_table_name, unreadable
from duffdp.engines.libraries import is_path, narwhals
from duffdp.engines.query import Query, open_source
from duffdp.errors import DuffError

Row = tuple[Any, ...]


class FileKeys(NamedTuple):
    """What a file of keys holds; columns that are `written` are text without declared types."""

    path: str
    rows: tuple[Row, ...]
    written: tuple[str, ...]


def load_keys(by: Any, keys: Any) -> Any:
    """The keys with what files hold in the place of their paths."""
    if isinstance(keys, Mapping):
        return {name: _of_path((name,), part) for name, part in keys.items()}
    names = (by,) if isinstance(by, str) else by
    return _of_path(names, keys) if isinstance(names, list | tuple) else keys


def refuse_data_as_keys(keys: Any, data: Any, name: str = "keys") -> None:
    """An error if the keys are the data themselves: which groups have rows is no public fact."""
    parts = list(keys.values()) if isinstance(keys, Mapping) else [keys]
    data = data.data if isinstance(data, Query) else data
    for part in parts:
        same = part is data and part is not None
        path = part.path if isinstance(part, FileKeys) else part
        if is_path(path) and is_path(data):
            same = os.path.realpath(path) == os.path.realpath(os.fspath(data))
        if same:
            raise DuffError(
                f"{name} must be known without the data, got the data themselves. Pass a public "
                f"list{' of the groups' if name == 'keys' else ''}."
            )


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
        raise type(error)(f"the keys in {printable(name)!r}: {error}") from None


def _of_table(keys: Any, name: str, columns: list[str]) -> FileKeys:
    table = open_source(keys, columns, kind="category")
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
