"""Data with a query over them, which runs in DuckDB, PostgreSQL or Spark."""

from __future__ import annotations

import os
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from duffdp._engines.addresses import ADDRESS, SEPARATOR, printable, read_address
from duffdp._engines.files.fields import FILE_ZONE, quote_name
from duffdp._engines.files.format import ReadRequest, RowSource
from duffdp._engines.files.paths import OpenFile, format_named, open_path, rules_of, settings
from duffdp._engines.files.text_file import TextFile
from duffdp._engines.libraries import Narwhals, is_path, is_table, missing_column, narwhals
from duffdp._engines.sql.checks import check_types
from duffdp._engines.sql.parse import ReadQuery, read_query
from duffdp._optional import load
from duffdp._parameters import TEXT_FILE_OPTIONS
from duffdp.errors import Argument, DuffError, UnsupportedData

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection, DuckDBPyRelation

_LETTERS = '::VARCHAR COLLATE "C"'  # others may take different people for the same
_TEXTS = ("varchar", "enum")
_TAKEN = (
    "files, tables of DuckDB, SQLite and PostgreSQL, and frames of pandas, polars, pyarrow, DuckDB "
    "and Spark"
)


@dataclass(frozen=True, eq=False, repr=False)
class Query:
    """A SQL query over data; pass it wherever data is expected.

    Parameters
    ----------
    data
        A path, the address of a PostgreSQL table, a `TextFile`, or a frame of pandas, polars,
        pyarrow, DuckDB, Spark or ibis over PostgreSQL. Queries call it `data`.
    sql
        One SELECT over `data`, optionally with WHERE, which yields at most one row per input row.
        With GROUP BY and COUNT, SUM, AVG, MIN or MAX it yields one row per group. Then the column
        that identifies the person must be in GROUP BY, and every release needs `unit`.

    Privacy
    -------
    The query is public. The guarantee holds for the rows or people of the data, because each row of
    the result is computed from one row, or from rows of one person. Everything else is refused
    before a row is read: joins, windows, DISTINCT, ORDER BY, LIMIT, nested queries, and functions
    that are not on a list. If an expression fails for a row, its value is missing.

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
    >>> release = duffdp.median(people, column="daily", epsilon=1, bounds=(0, 24), step=0.1, rng=1)
    >>> release.value
    5.7
    """

    data: Any
    sql: str

    def __post_init__(self) -> None:
        if not is_table(self.data) or isinstance(self.data, Query):
            raise UnsupportedData(
                Argument("sql"),
                f" is for {_TAKEN}, got {type(self.data).__name__}. Pass a path or a frame.",
            )
        assert self.read

    def __repr__(self) -> str:
        """Without the records of a frame, and without a password."""
        return f"Query({printable(os.fspath(self))!r}, {self.sql!r})"

    @property
    def read(self) -> ReadQuery:
        """The query as it was parsed."""
        return read_query(self.sql)

    def read_on(self, table: Sequence[str]) -> ReadQuery:
        """The query for a table with these columns, which replace `*`."""
        return read_query(self.sql, tuple(table)) if self.read.has_star else self.read

    def __fspath__(self) -> str:
        """The path of its data; what kind of frame it is, if it is one."""
        return os.fspath(self.data) if is_path(self.data) else type(self.data).__name__


class Source(Protocol):
    """An opened path, or the result of a query."""

    def columns(self, request: ReadRequest) -> RowSource:
        """Some columns with their types, and what reads their rows."""


class OpenSources:
    """The paths and queries that one call has opened, each once for all of its releases."""

    def __init__(self) -> None:
        self._sources: dict[Hashable, Source] = {}

    def open(self, data: str | os.PathLike[str]) -> Source:
        """Open a path or the result of a query, unless it is open."""
        rules, is_text = rules_of(data), isinstance(data, TextFile)
        key = data if isinstance(data, Query) else (os.fspath(data), is_text, rules.layout)
        if key not in self._sources:
            self._sources[key] = open_source(data)
        source = self._sources[key]
        return replace(source, rules=rules) if isinstance(source, OpenFile) else source


def open_source(data: str | os.PathLike[str]) -> Source:
    """Open a path or the result of a query."""
    if not isinstance(data, Query):
        return open_path(data)
    if not is_path(data.data):
        return _open_frame(data)
    if ADDRESS.match(os.fspath(data.data)) and not isinstance(data.data, TextFile):
        return _ServerResult(data)
    return _open_file(data)


@dataclass(frozen=True)
class _FrameResult:
    """The result for a frame."""

    source: RowSource

    def columns(self, request: ReadRequest) -> RowSource:
        return self.source


@dataclass(frozen=True)
class _ServerResult:
    """The result for a table of a server, which each release connects to."""

    query: Query

    def columns(self, request: ReadRequest) -> RowSource:
        from duffdp._engines.adapters.postgres import ServedTable, postgres_result

        address, read = os.fspath(self.query), self.query.read
        if read.has_star:
            types = ServedTable(address, []).types
            read = self.query.read_on(list(narwhals().from_native(types).collect_schema()))
        served = ServedTable(address, [], partial(postgres_result, read))
        return served.source()._replace(people=read.people)


@dataclass(frozen=True)
class _FileResult:
    """The result for a file."""

    read: ReadQuery
    file: Source

    def columns(self, request: ReadRequest) -> RowSource:
        read = self.read
        named = {output.name: output.source for output in read.outputs}
        person = None if request.person is None else named.get(request.person)
        inner = self.file.columns(ReadRequest(read.columns, kind="category", person=person))
        return inner._replace(
            types=_checked_result(read, inner.types),
            rows=lambda: _result(read, inner.rows()),
            untyped=[name for name, source in named.items() if source in inner.untyped],
            zones={
                name: inner.zones[source]
                for name, source in named.items()
                if source is not None and source in inner.zones
            },
            people=read.people,
        )


def _open_file(query: Query) -> _FileResult:
    file, read = open_path(query.data, _connect()), query.read
    if read.has_star:
        form = format_named(os.fspath(query.data))
        if form is not None and not form.lists_columns:
            raise DuffError(
                Argument("sql"),
                f" must name its columns instead of *, because {form.name} do not list their "
                "columns.",
            )
        read = query.read_on(file.columns(ReadRequest((), kind="category")).types.columns)
    return _FileResult(read, file)


def _open_frame(query: Query) -> _FrameResult:
    from duffdp._engines.adapters.duckdb import duckdb_input

    nw = narwhals()
    frame = nw.from_native(query.data)
    read = query.read_on(list(frame.columns)) if query.read.has_star else query.read
    for name in read.columns:
        if name not in (names := list(frame.columns)):
            raise missing_column(name, names)
    try:
        duckdb_source = duckdb_input(nw, frame, read.columns, _connect)
    except DuffError:
        raise
    except Exception as error:  # the library's own words may quote data
        raise UnsupportedData(
            f"the {type(query.data).__name__} cannot be read ({type(error).__name__}). Check "
            "that its connection is open."
        ) from None
    if duckdb_source is None:
        return _open_remote(query, read, nw, frame)
    result = RowSource(
        type(query.data).__name__,
        _checked_result(read, duckdb_source.types),
        lambda: _result(read, duckdb_source.rows()),
        (),
        duckdb_source.close,
        duckdb_source.zone,
        people=read.people,
        like=query.data,
    )
    return _FrameResult(result)


def _open_remote(query: Query, read: ReadQuery, nw: Narwhals, frame: Any) -> _FrameResult:
    """The result for a frame whose rows lie elsewhere, where they stay."""
    from duffdp._engines.adapters import query_adapter

    try:
        # Of the others the types do not matter, not even whether anybody here knows them.
        engine = query_adapter(nw, frame.select(*read.columns))
        result = engine.queried(read)
        assert result is None or nw.from_native(result).collect_schema()
    except DuffError:
        raise
    except Exception as error:  # the library's own words may quote data
        raise DuffError(
            f"sql does not fit the types of the columns ({type(error).__name__})."
        ) from None
    if result is None:
        raise _not_here(str(frame.implementation))
    zone = engine.session_zone
    name = type(query.data).__name__
    rows = RowSource(
        name, result, lambda: result, (), zone=zone, people=read.people, like=query.data
    )
    return _FrameResult(rows)


def _not_here(engine_name: str) -> UnsupportedData:
    return UnsupportedData(
        Argument("sql"),
        f" is for {_TAKEN}, got {engine_name}. Make a view there, and pass that; where= takes "
        "conditions everywhere.",
    )


def _connect() -> DuckDBPyConnection:
    """A connection in which neither the machine nor the working folder has a say."""
    from duffdp._engines.adapters.duckdb import UNSAFE

    connection: DuckDBPyConnection = load("duckdb", "files").connect(config=settings())
    connection.execute(f"SET TimeZone = '{FILE_ZONE}'")
    connection.execute(f"SET disabled_optimizers = '{','.join(sorted(UNSAFE))}'")
    return connection


def _checked_result(read: ReadQuery, table: DuckDBPyRelation) -> DuckDBPyRelation:
    """The result for a table of which no record is read; types alone decide whether the query
    fits.
    """
    result = _result(read, table)
    check_types(read.trees, _bare(read, table))
    return result


def _bare(read: ReadQuery, table: DuckDBPyRelation) -> DuckDBPyRelation:
    """The columns that a query looks at, texts without collations."""
    type_ids = {name: kind.id for name, kind in zip(table.columns, table.types, strict=True)}
    for name in read.columns:
        if name not in type_ids:
            raise missing_column(name, type_ids)
    # What an ENUM may hold and in which order need not be public.
    bare = (
        f"{quote_name(name)}{_LETTERS if type_ids[name] in _TEXTS else ''} AS {quote_name(name)}"
        for name in read.columns
    )
    return table.project(", ".join(bare))


def _result(read: ReadQuery, table: DuckDBPyRelation) -> DuckDBPyRelation:
    """The result for a table."""
    import duckdb

    outputs = ", ".join(f"{output.sql} AS {quote_name(output.name)}" for output in read.outputs)
    try:
        rows = _bare(read, table)
        rows = rows if read.condition is None else rows.filter(read.condition)
        if not read.groups:
            return rows.project(outputs)
        return rows.aggregate(outputs, ", ".join(map(quote_name, read.groups)))
    except duckdb.Error as error:
        message = str(error).splitlines()[0][:200]
        raise DuffError(
            f"sql does not fit the types of the columns. DuckDB reports: {message}. Columns of a "
            "text file are text unless types declares them."
        ) from None


class Piped(str):
    """The path of a temporary file with piped input, which has a different name each time."""

    __slots__ = ()


def source_name(data: Any) -> str | None:
    """Name of the data in a ledger, by which a retry is checked: the file or table, and how its
    fields are read; None for data without a name.
    """
    if isinstance(data, Query):
        return source_name(data.data)
    if not is_path(data):
        return None
    name = os.fspath(data)
    if isinstance(name, Piped):
        return None
    if ADDRESS.match(name):
        _, server, schema, table = read_address(name)  # a hash of a password could be guessed
        return repr((server, schema, table))
    file, mark, table = name.partition(SEPARATOR)
    name = f"{os.path.realpath(file)}{mark}{table}"
    if isinstance(data, TextFile):
        options = (getattr(data, one.name) for one in TEXT_FILE_OPTIONS)
        return repr((name, *(sorted(o.items()) if isinstance(o, Mapping) else o for o in options)))
    return name
