"""Files of text as relations of DuckDB: every field as it stands, the column of values as what the public domain needs.

Nothing is found by looking at records. A record that is not well-formed changes neither how another one is read nor whether
there is an error.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from duffdp.engines.fields import read_field
from duffdp.engines.sql import quote_name, quote_text
from duffdp.engines.text_layout import (
    BYTE_ORDER_MARK,
    Form,
    Layout,
    open_bytes,
    read_layout,
    survey,
)
from duffdp.engines.text_records import decode, read_lines, read_records
from duffdp.errors import UnsupportedData

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection, DuckDBPyRelation

BATCH = 50_000
_UNSPLIT = "\x1f"  # may not occur in JSON, so that a line with it is no object anyway
_LINE, _BATCH = "line", "duffdp_batch"
_numbers = itertools.count()


def open_delimited(
    connection: DuckDBPyConnection,
    paths: list[str],
    columns: list[str],
    value: str | None,
    kind: str,
    rows: bool,
) -> DuckDBPyRelation:
    """Files whose first lines name the columns: all of them the same."""
    layout, paths = _one_layout(paths)
    names = columns or [
        name for i, name in enumerate(layout.names) if name and _first(layout.names, name) == i
    ]
    places = [_place(name, layout.names) for name in names]
    if not rows:
        return _without_rows(connection, names, value, kind)
    fields = [f"f{i}" for i in range(len(layout.names))]
    picked = ", ".join(f"{fields[place]} AS v{i}" for i, place in enumerate(places))
    lines, parts = [], []
    for path in paths:
        form = survey(path, layout.delimiter)
        if form is Form.LINES:
            lines.append(path)
            continue
        table = _table(connection, len(names))
        if form is Form.MIXED or not _quoted(
            connection, path, layout.delimiter, fields, picked, table
        ):
            with open_bytes(path) as file:
                records = read_records(file, layout.delimiter.encode(), len(layout.names))
                _fill(
                    connection, table, ([record[place] for place in places] for record in records)
                )
        parts.append(f"SELECT * FROM {table}")
    if lines:
        parts.append(f"SELECT {picked} FROM {_lines(lines, layout.delimiter, fields, header=True)}")
    read = [
        f"{read_field(f'v{i}', kind if name == value else 'category')} AS {quote_name(name)}"
        for i, name in enumerate(names)
    ]
    # In a file of one column an empty line and an empty field look the same: neither is a record.
    present = " WHERE v0 IS NOT NULL" if len(fields) == 1 else ""
    return _kept(
        connection, f"SELECT {', '.join(read)} FROM ({' UNION ALL '.join(parts)}){present}"
    )


def open_json_lines(
    connection: DuckDBPyConnection,
    paths: list[str],
    columns: list[str],
    value: str | None,
    kind: str,
    rows: bool,
) -> DuckDBPyRelation:
    """Files with an object on each line; a column is there because it is asked for."""
    if not columns:
        raise UnsupportedData(
            'JSON lines have no list of columns, so one must be named. Pass for example column="age".'
        )
    if not rows:
        return _without_rows(connection, columns, value, kind)
    lines, parts = [], []
    for path in paths:
        if survey(path, None) is Form.LINES:
            lines.append(path)
            continue
        table = _table(connection, 1)
        with open_bytes(path) as file:
            _fill(connection, table, _without_mark(read_lines(file)))
        parts.append(f"SELECT v0 AS {_LINE} FROM {table}")
    if lines:
        parts.append(f"SELECT {_LINE} FROM {_lines(lines, _UNSPLIT, [_LINE], header=False)}")
    # In one expression: DuckDB may ask for fields before it leaves rows out, and not all lines are JSON.
    valid = f"CASE WHEN json_valid({_LINE}) THEN"
    pointers = ", ".join(
        quote_text("/" + name.replace("~", "~0").replace("/", "~1")) for name in columns
    )
    taken = f"SELECT {valid} json_extract_string({_LINE}, [{pointers}]) END AS texts, {valid} json_type({_LINE}) END AS kind"
    read = [
        f"{read_field(f'''NULLIF(texts[{i}], '')''', kind if name == value else 'category')} AS {quote_name(name)}"
        for i, name in enumerate(columns, 1)
    ]
    return _kept(
        connection,
        f"SELECT {', '.join(read)} FROM ({taken} FROM ({' UNION ALL '.join(parts)})) WHERE kind = 'OBJECT'",
    )


def _without_rows(
    connection: DuckDBPyConnection, names: list[str], value: str | None, kind: str
) -> DuckDBPyRelation:
    """The columns and their types, which the records have no say in."""
    read = (
        f"{read_field('NULL::VARCHAR', kind if name == value else 'category')} AS {quote_name(name)}"
        for name in names
    )
    return connection.sql(f"SELECT {', '.join(read)} WHERE false")


def _kept(connection: DuckDBPyConnection, query: str) -> DuckDBPyRelation:
    """Text is parsed once, for all queries that follow."""
    name = f"duffdp_rows_{next(_numbers)}"
    connection.execute(f"CREATE TEMP TABLE {name} AS {query}")
    return connection.table(name)


def missing_column(name: str, known: Iterable[str]) -> UnsupportedData:
    """What to say about a column that is not there."""
    import difflib

    names = list(known)
    near = difflib.get_close_matches(name, names, 3, 0.5) or names[:8]
    return UnsupportedData(f"there is no column {name!r}. Hint: {', '.join(map(repr, near))}.")


def _one_layout(paths: list[str]) -> tuple[Layout, list[str]]:
    """The layout that all files share, and those that have a first line at all."""
    layouts = {path: layout for path in paths if (layout := read_layout(path)) is not None}
    if not layouts:
        raise UnsupportedData(
            f"the file {paths[0]!r} is empty. Its first line must name the columns."
        )
    first, layout = next(iter(layouts.items()))
    for path, other in layouts.items():
        if other != layout:
            raise UnsupportedData(
                f"the first lines of {first!r} and {path!r} differ. Files that are read together must have the same columns, "
                "in the same order and with the same delimiter."
            )
    return layout, list(layouts)


def _first(names: tuple[str, ...], name: str) -> int:
    """Where a name stands first; DuckDB does not tell upper from lower case."""
    return [other.casefold() for other in names].index(name.casefold())


def _place(name: str, names: tuple[str, ...]) -> int:
    if name not in names or not name:
        raise missing_column(name, filter(None, names))
    if names.count(name) > 1:
        raise UnsupportedData(
            f"the first line names {name!r} more than once. Rename one of the columns."
        )
    return names.index(name)


def _lines(paths: list[str], delimiter: str, fields: list[str], header: bool) -> str:
    """DuckDB's reader for files in which each line is a record: no quotation, no comments, nothing found by looking."""
    return _reader(
        paths,
        delimiter,
        fields,
        header,
        "quote = '', escape = '', null_padding = true, ignore_errors = true",
    )


def _quoted(
    connection: DuckDBPyConnection,
    path: str,
    delimiter: str,
    fields: list[str],
    picked: str,
    table: str,
) -> bool:
    """Fill a table from a well-formed file; False, and nothing is filled in, if a record has other fields than the header."""
    import duckdb

    # On one core: records with line breaks inside are not safe with DuckDB's parallel reader.
    options = """quote = '"', escape = '"', parallel = false"""
    try:
        connection.execute(
            f"INSERT INTO {table} SELECT {picked} FROM {_reader([path], delimiter, fields, True, options)}"
        )
    except duckdb.Error:
        return False
    return True


def _reader(paths: list[str], delimiter: str, fields: list[str], header: bool, options: str) -> str:
    from glob import escape

    columns = ", ".join(f"{quote_text(field)}: 'VARCHAR'" for field in fields)
    return (
        f"read_csv([{', '.join(quote_text(escape(path)) for path in paths)}], auto_detect = false, hive_partitioning = false, "
        f"header = {header}, delim = {quote_text(delimiter)}, comment = '', strict_mode = true, {options}, "
        f"columns = {{{columns}}})"
    )


def _table(connection: DuckDBPyConnection, width: int) -> str:
    """A new table of texts, which may spill to disk."""
    name = f"duffdp_text_{next(_numbers)}"
    connection.execute(
        f"CREATE TEMP TABLE {name} ({', '.join(f'v{i} VARCHAR' for i in range(width))})"
    )
    return name


def _fill(connection: DuckDBPyConnection, table: str, rows: Iterator[list[bytes]]) -> None:
    """Put fields into a table, a batch at a time; an empty one is missing."""
    import numpy as np

    while batch := list(itertools.islice(rows, BATCH)):
        columns = [
            np.array([decode(text) for text in column], dtype=object)
            for column in zip(*batch, strict=True)
        ]
        connection.register(_BATCH, {f"v{i}": column for i, column in enumerate(columns)})
        fields = ", ".join(f"NULLIF(v{i}, '')" for i in range(len(columns)))
        connection.execute(f"INSERT INTO {table} SELECT {fields} FROM {_BATCH}")
        connection.unregister(_BATCH)


def _without_mark(rows: Iterator[list[bytes]]) -> Iterator[list[bytes]]:
    for first in itertools.islice(rows, 1):
        yield [first[0].removeprefix(BYTE_ORDER_MARK)]
    yield from rows
