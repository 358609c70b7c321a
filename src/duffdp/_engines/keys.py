"""Public keys of groups: lists, frames, declared types and files, checked before a row is read."""

from __future__ import annotations

import enum
import json
import os
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import chain, product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from duffdp._engines.addresses import printable
from duffdp._engines.files.format import ReadRequest
from duffdp._engines.files.paths import is_table_name, unreadable
from duffdp._engines.files.text_records import BYTE_ORDER_MARK, decode
from duffdp._engines.libraries import is_of_library, is_path, narwhals
from duffdp._engines.sql.query import Query, open_source
from duffdp._parameters import KEYS
from duffdp._rows import MIN_COLUMNAR_ROWS, Row, RowsOfColumns
from duffdp.domain import Categories, Pattern
from duffdp.errors import Argument, DuffError

CODE_BOOK = "file"  # of keys in a plan that are a code book, beside `key` and `label`
_SIMPLE = frozenset({int, str, bool})  # of these each is there, and can be told apart
_KEYS, _BY = Argument("keys"), Argument("by")
_EXAMPLE = (" Pass for example ", Argument("keys", KEYS.example), ".")
_FORMS = (
    "a list, a frame, a series, Categories, a Pattern, a declared type, a path, a CodeBook, or a "
    "mapping of these"
)


class FileKeys(NamedTuple):
    """Keys from a file; columns in `written` are text without declared types."""

    path: str
    rows: tuple[Row, ...]
    written: tuple[str, ...]


class CodeBook:
    """A file that lists the keys of a column, and labels for readers.

    Parameters
    ----------
    path
        The file: any table that duffdp reads, for example CSV, Excel or Parquet.
    key
        The column of the file that has the keys, as they are in the data.
    label
        The column of the file that has the labels for readers; None if there is none.

    Privacy
    -------
    Keys and labels are public. They must not come from the data.

    References
    ----------
    Dwork and Roth, "The Algorithmic Foundations of Differential Privacy" (2014), section 2.3:
    public facts need no protection.

    Examples
    --------
    >>> import pathlib, tempfile, duffdp
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "codes.csv")
    ...     _ = path.write_text("code,text\\nF,women\\nM,men\\n")
    ...     book = duffdp.CodeBook(path, key="code", label="text")
    >>> book.labels
    {'F': 'women', 'M': 'men'}
    """

    def __init__(self, path: str | os.PathLike[str], *, key: str, label: str | None = None) -> None:
        columns = [key] if label is None else [key, label]
        read = _of_path(columns, path) if is_path(path) and is_table_name(os.fspath(path)) else None
        if not isinstance(read, FileKeys) or any(len(row) != len(columns) for row in read.rows):
            raise DuffError(
                f"a code book must be a table with a column of keys, got {str(path)!r:.200}. "
                "Pass for "
                "example CodeBook('codes.csv', key='code', label='text')."
            )
        self.path, self._written = read.path, bool(read.written)
        self.keys = [row[0] for row in read.rows]
        self.labels = {row[0]: str(row[1]) for row in read.rows if label is not None}

    @classmethod
    def from_parameters(cls, parameters: Mapping[str, Any]) -> CodeBook:
        """The code book that a plan describes by `file`, `key` and `label`."""
        names = [name for name in (CODE_BOOK, "key", "label") if name in parameters]
        texts = all(isinstance(parameters[name], str) for name in names)
        if "key" not in names or set(names) != set(parameters) or not texts:
            raise DuffError(
                f"a code book must have {CODE_BOOK} and key, and may have label, got "
                f"{', '.join(map(str, parameters)):.60}. "
                'Write for example {file = "codes.csv", key = "code", label = "text"}.'
            )
        label = parameters.get("label")
        return cls(parameters[CODE_BOOK], key=parameters["key"], label=label)

    def keys_of(self, column: str) -> FileKeys:
        """The keys for a column of groups."""
        rows = tuple((key,) for key in self.keys)
        return FileKeys(self.path, rows, (column,) if self._written else ())

    def __repr__(self) -> str:
        return f"CodeBook({self.path!r})"


def load_keys(by: object, keys: object) -> Any:
    """The keys with the contents of files instead of their paths."""
    if isinstance(keys, Mapping):
        return {name: _of_part(name, part) for name, part in keys.items()}
    names = (by,) if isinstance(by, str) else by
    if not isinstance(names, list | tuple):
        return keys
    if isinstance(keys, CodeBook) and len(names) == 1:
        return keys.keys_of(str(names[0]))
    return _of_path(names, keys)


def _of_part(name: str, part: object) -> Any:
    """The keys of one column."""
    if isinstance(part, Mapping):
        if CODE_BOOK not in part:
            return Pattern.from_parameters(part)
        part = CodeBook.from_parameters(part)
    return part.keys_of(name) if isinstance(part, CodeBook) else _of_path((name,), part)


def refuse_data_as_keys(keys: Any, data: Any, name: str = "keys") -> None:
    """An error if the keys are the data themselves: which groups have rows is no public fact."""
    parts = list(keys.values()) if isinstance(keys, Mapping) else [keys]
    data = data.data if isinstance(data, Query) else data
    for part in parts:
        is_data = part is data and part is not None
        path = part.path if isinstance(part, FileKeys | CodeBook) else part
        if is_path(path) and is_path(data):
            is_data = os.path.realpath(path) == os.path.realpath(os.fspath(data))
        if is_data:
            raise DuffError(
                *(Argument(name), " must be known without the data, but these are the data. "),
                f"Pass a public list{' of the groups' if name == 'keys' else ''}.",
            )


def _of_path(by: Sequence[Any], keys: Any) -> Any:
    """Keys from the file of a path; anything else as it is."""
    if not is_path(keys):
        return keys
    name, columns = os.fspath(keys), list(map(str, by))
    if name.lower().endswith(".json"):
        return FileKeys(name, _keys_of_release(name, columns), tuple(columns))
    if not is_table_name(name):
        return FileKeys(name, tuple((line,) for line in read_lines(name)), tuple(columns))
    try:
        return _of_table(keys, name, columns)
    except DuffError as error:
        raise error.prefixed(f"the keys in {printable(name)!r}: ") from None


def _keys_of_release(path: str, columns: list[str]) -> tuple[Row, ...]:
    """The keys of a stored release or table, of some of its columns; those of a group of all others
    are left out.
    """
    try:
        fields = json.loads(Path(path).read_bytes())
        release = fields["measures"][0]["release"] if "measures" in fields else fields
        by, rows, other = release["by"], release["keys"], release.get("other")
        places = [by.index(name) for name in columns]
        keys = [tuple(row[place] for place in places) for row in rows]
        keys = [key for key in keys if key != (other,) * len(key)]
    except (OSError, ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
        raise DuffError(
            f"cannot read the keys of the release {printable(path)!r} ({type(error).__name__}). "
            f"Pass what to_json() of a release by {', '.join(columns)} returns, or a list."
        ) from None
    return tuple(dict.fromkeys(keys))


def _of_table(keys: Any, name: str, columns: list[str]) -> FileKeys:
    table = open_source(keys).columns(ReadRequest(columns, kind="category"))
    nw = narwhals()
    schema = nw.from_native(table.types).collect_schema()
    for column in columns:
        if column not in schema:
            raise DuffError(f"there is no column {column!r}, which ", _BY, " names.")
    try:
        key_rows = nw.from_native(table.rows()).select(*columns).collect()
    except Exception as error:
        raise unreadable(name, error) from None
    finally:
        if table.close is not None:
            table.close()
    written = tuple(column for column in columns if column in table.untyped)
    return FileKeys(name, tuple(map(tuple, key_rows.rows())), written)


def _one_value_each(by: tuple[str, ...], row: Row) -> tuple[str | Argument, ...]:
    """The error about a key that has not as many values as there are columns of groups."""
    if len(by) == 1:
        return (
            *(_KEYS, f" must be single values, because {by[0]!r} is one column, got {row!r:.60}. "),
            *("Pass for example ", Argument("keys", list(row)), "."),
        )
    return (
        *(f"each key must have one value for each of the {len(by)} columns of ", _BY),
        *(f", got {row!r:.60}. For all combinations pass a list for each column: "),
        *(Argument("keys", dict.fromkeys(by, KEYS.example)), "."),
    )


def read_lines(path: str, parameter: str = KEYS.name) -> list[str]:
    """The lines of a file that lists public values of a parameter, without empty ones."""
    try:
        text = Path(path).read_bytes().removeprefix(BYTE_ORDER_MARK)
    except (OSError, ValueError):
        raise DuffError(
            f"there is no file {path!r:.200} with a list of values. To list values themselves, "
            "pass ",
            *(Argument(parameter, [path[:40]]), "."),
        ) from None
    if b"\0" in text:
        raise DuffError(
            f"the list of values {path!r:.200} is not text in UTF-8 or windows-1252. Save it as "
            "text in UTF-8."
        )
    return [decode(line) for line in text.splitlines() if line]


class Keys(NamedTuple):
    """Distinct groups in the order in which they were passed, and the columns whose values are text
    of a file without declared types.
    """

    rows: Sequence[Row]
    written: tuple[str, ...] = ()


def read_keys(by: tuple[str, ...], keys: object) -> Keys:
    """Public keys as tuples, in the given order: each once, with a value for each column."""
    rows: Sequence[Row]
    written: tuple[str, ...] = ()
    if isinstance(keys, list | tuple) and keys and all(isinstance(key, Categories) for key in keys):
        if len(keys) != len(by):
            raise DuffError(
                *(_KEYS, f" must have one list for each of the {len(by)} columns of ", _BY),
                f", got {len(keys)}.",
            )
        keys = dict(zip(by, keys, strict=True))
    if isinstance(keys, Mapping):
        if set(keys) != set(by):
            raise DuffError(
                *(_KEYS, " must have a list for each column of ", _BY, f" ({', '.join(by)}), got "),
                f"{', '.join(map(str, keys)) or 'none'}. Pass for example ",
                *(Argument("keys", dict.fromkeys(by, KEYS.example)), "."),
            )
        parts = [read_keys((name,), keys[name]) for name in by]
        rows = [sum(parts_of_key, ()) for parts_of_key in product(*(part.rows for part in parts))]
        written = tuple(name for part in parts for name in part.written)
    elif isinstance(keys, FileKeys):
        rows, written = list(keys.rows), keys.written
    else:
        rows = _rows(by, keys)
    quoted = isinstance(keys, list | tuple) or not is_of_library(keys)
    return Keys(_checked(by, rows, quoted), written)


def _rows(by: tuple[str, ...], keys: object) -> Sequence[Row]:
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
                    *(_KEYS, " must have the columns of ", _BY),
                    f", {', '.join(absent)} is missing.",
                )
            return [tuple(row) for row in frame.select(*by).rows()]
    if isinstance(keys, Iterable) and not isinstance(keys, str | bytes):
        return _one_by_one(list(keys))
    raise DuffError(_KEYS, f" must be {_FORMS}, got {type(keys).__name__}.", *_EXAMPLE)


def _one_by_one(keys: list[Any] | tuple[Any, ...] | range) -> Sequence[Row]:
    """Each key as a row; many of one column stay a column."""
    if len(keys) >= MIN_COLUMNAR_ROWS and _SIMPLE.issuperset(map(type, keys)):
        return RowsOfColumns([keys if isinstance(keys, range) else tuple(keys)])
    return [tuple(key) if isinstance(key, tuple | list) else (key,) for key in keys]


def _declared(keys: object) -> list[Any] | None:
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
            _KEYS,
            f" must be known without the data, but a {kind.__name__} lists the values that are "
            "in the data. Pass a list, a polars.Enum or a "
            "pandas.CategoricalDtype with its categories.",
        )
    return list(listed)


def _checked(by: tuple[str, ...], unchecked: Sequence[Row], quoted: bool) -> Sequence[Row]:
    """Keys that can be told apart: complete, hashable, different.

    Those of a frame or series are not quoted in errors: they may be a column of the data, which no
    one can tell.
    """
    if isinstance(unchecked, RowsOfColumns) and len(by) == 1:
        (column,) = unchecked.columns
        if column and len(set(column)) == len(column):
            return unchecked
    rows = unchecked
    simple = _SIMPLE.issuperset(map(type, chain.from_iterable(unchecked)))
    if not simple:
        rows = [
            tuple(part.item() if isinstance(part, np.generic) else part for part in row)
            for row in unchecked
        ]
    if not rows:
        raise DuffError(_KEYS, " must not be empty.", *_EXAMPLE)
    for row in [] if simple and set(map(len, rows)) == {len(by)} else rows:
        if len(row) != len(by):
            raise DuffError(
                *_one_value_each(by, row),
            )
        if not all(isinstance(part, Hashable) for part in row):
            raise DuffError(
                _KEYS, f" must be plain values such as text or numbers, got {row!r:.60}."
            )
        if any(part is None or part != part for part in row):
            shown_row = f"got {row!r}" if quoted else "got a frame or series with missing values"
            raise DuffError(
                *(
                    _KEYS,
                    f" must not contain missing values, {shown_row}. Leave them out, or pass ",
                ),
                *(Argument("other", "all others"), " to count rows with other keys or none."),
            )
    if len(set(rows)) < len(rows):
        if not quoted:
            raise DuffError(
                _KEYS,
                " must differ from each other, got a frame or series with duplicates, like a "
                "column of the data. Keys must be known without the data: pass a public list, or "
                "the frame of a code book.",
            )
        twice = next(row for row, count in Counter(rows).items() if count > 1)
        raise DuffError(
            *(_KEYS, f" must differ from each other, got {', '.join(map(repr, twice))} twice. "),
            "List each key once.",
        )
    return tuple(rows)
