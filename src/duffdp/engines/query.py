"""Data with a query over them, which DuckDB runs where the rows are read."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from duffdp.engines.addresses import ADDRESS
from duffdp.engines.delimited import missing_column
from duffdp.engines.files import FILE_ZONE, PathTable, open_path
from duffdp.engines.query_text import ReadQuery, read_query
from duffdp.engines.selection import is_path, is_table, narwhals
from duffdp.engines.sql import quote_name
from duffdp.errors import DuffError, UnsupportedData
from duffdp.optional import load

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection, DuckDBPyRelation

_LETTERS = '::VARCHAR COLLATE "C"'  # others may take different people for the same
_TAKEN = "files, tables of DuckDB and SQLite, and frames of pandas, polars, pyarrow and DuckDB"


@dataclass(frozen=True, eq=False, repr=False)
class Query:
    """Data with a query over them; wherever data are asked for, it stands for its result.

    Parameters
    ----------
    data
        A path, a `TextFile`, or a frame of pandas, polars, pyarrow or DuckDB. Queries call it
        `data`.
    sql
        One SELECT over it, with WHERE if need be, that makes one row of a row at most. With GROUP
        BY and COUNT, SUM, AVG, MIN or MAX it makes one of the rows of a group; then the column that
        names the person must be one of GROUP BY, and `unit` must be given with every release.

    Privacy
    -------
    The query is public and a part of the guarantee, which holds for the rows or people of the data
    and not for those of the result alone: each row of the result is made of one row, or of rows of
    one person. Anything else is refused before a row is read: joins, windows, DISTINCT, ORDER BY,
    LIMIT, queries in queries, and functions that are not on a list. Where an expression fails for a
    row, its value is missing.

    References
    ----------
    McSherry, "Privacy integrated queries" (SIGMOD 2009), section 2.3: transformations that are
    stable keep the guarantee.

    Examples
    --------
    >>> import duffdp
    >>> people = duffdp.Query(
    ...     "demo/adult.parquet", "SELECT hours_per_week / 7 AS daily FROM data WHERE age >= 60"
    ... )
    >>> release = duffdp.median(people, column="daily", epsilon=1e6, bounds=(0, 24), step=0.1)
    >>> release.value
    5.7
    """

    data: Any
    sql: str

    def __post_init__(self) -> None:
        if not is_table(self.data) or isinstance(self.data, Query):
            raise UnsupportedData(
                f"sql is for {_TAKEN}, got {type(self.data).__name__}. Pass a path or a frame."
            )
        if is_path(self.data) and ADDRESS.match(os.fspath(self.data)):
            raise _not_here("a server")
        assert self.read

    def __repr__(self) -> str:
        """Without the records of a frame."""
        return f"Query({os.fspath(self)!r}, {self.sql!r})"

    @property
    def read(self) -> ReadQuery:
        """What it says."""
        return read_query(self.sql)

    def __fspath__(self) -> str:
        """The path of its data; what kind of frame it is, if it is one."""
        return os.fspath(self.data) if is_path(self.data) else type(self.data).__name__


def open_source(
    data: Any,
    columns: list[str],
    *,
    values: tuple[str, ...] = (),
    kind: str = "float",
    person: str | None = None,
) -> PathTable:
    """What a path names, or the result of a query; parameters as for `open_path`."""
    if not isinstance(data, Query):
        return open_path(data, columns, values=values, kind=kind, person=person)
    return _open_path(data, person) if is_path(data.data) else _open_frame(data)


def _open_path(query: Query, person: str | None) -> PathTable:
    read = query.read
    named = {one.name: one.source for one in read.outputs}
    inner = open_path(
        query.data,
        list(read.columns),
        kind="category",
        person=None if person is None else named.get(person),
        connection=_connect(),
    )
    return inner._replace(
        types=_result(read, inner.types),
        rows=lambda: _result(read, inner.rows()),
        untyped=[name for name, source in named.items() if source in inner.untyped],
        people=read.people,
    )


def _open_frame(query: Query) -> PathTable:
    nw, read = narwhals(), query.read
    frame = nw.from_native(query.data)
    kind, known = frame.implementation, frame.collect_schema()
    for name in read.columns:
        if name not in known:
            raise missing_column(name, known)
    rows: Callable[[], DuckDBPyRelation]
    if kind.is_duckdb():
        types, zone = query.data, None
        rows = lambda: query.data  # noqa: E731
    elif kind.is_pandas() or kind.is_polars() or kind.is_pyarrow():
        for name in read.columns:
            declared = query.data.dtypes[name] if kind.is_pandas() else None
            if not _is_handed_over(nw, known[name], declared):
                raise UnsupportedData(
                    f"sql: the column {name!r} is of a type that one record can keep from being "
                    f"handed to DuckDB, {known[name] if declared is None else declared}. Give it "
                    "another one first: numbers, text, dates, or times in microseconds."
                )
        connection, zone, needed = _connect(), FILE_ZONE, frame.select(*read.columns)
        types = _relation(connection, needed.head(0))
        rows = lambda: _relation(connection, needed)  # noqa: E731
    else:
        raise _not_here(str(kind))
    return PathTable(
        type(query.data).__name__,
        _result(read, types),
        lambda: _result(read, rows()),
        (),
        zone=zone,
        people=read.people,
        like=query.data,
    )


def _is_handed_over(nw: Any, dtype: Any, declared: Any) -> bool:
    """Whether every value of a type can be handed to DuckDB, and none decides what others are;
    `declared` is the type in pandas.
    """
    if declared == np.dtype(object) or getattr(declared, "storage", "pyarrow") != "pyarrow":
        return False  # of which narwhals looks at the first ones; texts that may not be UTF-8
    unit, zone = (
        getattr(declared, name, getattr(dtype, other, None))
        for name, other in (("unit", "time_unit"), ("tz", "time_zone"))
    )
    if zone is not None:  # DuckDB has such times in microseconds alone
        return unit in ("us", "ns")
    known = (nw.Boolean, nw.String, nw.Categorical, nw.Enum, nw.Date, nw.Datetime)
    return isinstance(dtype, known) or bool(dtype.is_numeric())


def _not_here(what: str) -> UnsupportedData:
    return UnsupportedData(
        f"sql is for {_TAKEN}, got {what}. Make a view there, and pass that; where= takes "
        "conditions everywhere."
    )


def _connect() -> DuckDBPyConnection:
    """A connection in which neither the machine nor the working folder has a say."""
    duckdb, config = load("duckdb", "files"), {"temp_directory": tempfile.gettempdir()}
    connection: DuckDBPyConnection = duckdb.connect(config=config)
    connection.execute(f"SET TimeZone = '{FILE_ZONE}'")
    return connection


def _relation(connection: DuckDBPyConnection, frame: Any) -> DuckDBPyRelation:
    return connection.from_arrow(frame.lazy().collect("pyarrow").to_native())


def _result(read: ReadQuery, table: DuckDBPyRelation) -> DuckDBPyRelation:
    """The result for a table; types alone decide whether the query fits."""
    import duckdb

    known = dict(zip(table.columns, map(str, table.types), strict=True))
    for name in read.columns:
        if name not in known:
            raise missing_column(name, known)
    bare = (
        f"{quote_name(name)}{_LETTERS if known[name] == 'VARCHAR' else ''} AS {quote_name(name)}"
        for name in read.columns
    )
    outputs = ", ".join(f"{one.sql} AS {quote_name(one.name)}" for one in read.outputs)
    try:
        rows = table.project(", ".join(bare))
        rows = rows if read.condition is None else rows.filter(read.condition)
        if not read.groups:
            return rows.project(outputs)
        return rows.aggregate(outputs, ", ".join(map(quote_name, read.groups)))
    except duckdb.Error as error:
        said = str(error).splitlines()[0][:200]
        raise DuffError(f"sql does not fit the types of the columns. DuckDB says: {said}") from None
