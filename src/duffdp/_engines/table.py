"""Tables: a frame or a path, opened for its column types and then asked for counts."""

from __future__ import annotations

import os
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from contextlib import contextmanager
from operator import itemgetter
from typing import Any

import numpy as np

from duffdp._engines.adapters import memory_adapter, query_adapter
from duffdp._engines.adapters.query import QueryAdapter
from duffdp._engines.arrays import wrong_kind
from duffdp._engines.files.fields import PLAIN_FIELDS, FieldRules, field_type
from duffdp._engines.files.format import ReadRequest, RowSource
from duffdp._engines.files.paths import format_of, unreadable
from duffdp._engines.files.text_file import TextFile
from duffdp._engines.frames import MemoryRows
from duffdp._engines.libraries import (
    Narwhals,
    is_of_library,
    is_path,
    is_table,
    missing_column,
    narwhals,
)
from duffdp._engines.one_type import of_one_type
from duffdp._engines.pairs import PairEngine, no_numbers
from duffdp._engines.people import Cap, Randomness
from duffdp._engines.public_values import (
    PublicValues,
    check_person,
    public_categories,
    public_keys,
)
from duffdp._engines.queries.engine import QueryEngine
from duffdp._engines.queries.key_counts import query_key_counts
from duffdp._engines.queries.names import (
    CONDITION_COLUMN,
    KEY,
    NUMBER,
    PERSON,
    SECOND_VALUE,
    VALUES,
)
from duffdp._engines.queries.rows import ColumnSpec, QueryRows, query_error
from duffdp._engines.requests import Engine
from duffdp._engines.selection import Selection
from duffdp._engines.sql.query import OpenSources, Query, open_source
from duffdp._engines.summed import SummedEngine
from duffdp._engines.universe import KeyUniverse, places_by_type
from duffdp._engines.where import Condition, RowFilter
from duffdp._parameters import Groups
from duffdp._rows import Row
from duffdp.domain import Categories, Digits, Fields, Membership, Presence, PublicSet
from duffdp.errors import Argument, DuffError, UnsupportedData, quoted_names

SERIES = "values"  # the column of a series
EVERY_ROW = Presence(rows=True)
MAX_SCALE = 6  # of declared decimals that a step follows
# For a frame: a file declares its types.
TEXT_FIX = (
    " If the frame was read from a text file, pass the path of that file instead, with ",
    *(Argument("decimal"), ", ", Argument("thousands"), " or ", Argument("date_format")),
    " of duffdp.TextFile if it needs them.",
)


def column_types(data: Any, columns: list[str], sources: OpenSources) -> dict[str, Any]:
    """The declared types of some columns of a table, those that it has; in text files all are
    text.
    """
    if is_path(data):
        data = sources.open(data).columns(ReadRequest(columns, kind="category")).types
    schema = narwhals().from_native(data).collect_schema()
    return {name: schema[name] for name in columns if name in schema}


def declared_types(
    path: str | os.PathLike[str], columns: Sequence[str], sources: OpenSources
) -> dict[str, Any]:
    """All columns of what a path names with their declared types, in order; None for the type of a
    column that declares none. `columns` are those of files that do not list them. No record is
    read.
    """
    form = format_of(path)
    listed = form is None or form.lists_columns
    named = sources.open(path).columns(ReadRequest(() if listed else columns, kind="category"))
    try:
        schema = narwhals().from_native(named.types).collect_schema()
    finally:
        if named.close is not None:
            named.close()
    return {name: None if name in named.untyped else schema[name] for name in schema}


def columns(data: Any) -> dict[str, str]:
    """Names of the columns of a table with their declared types; no record is read.

    Parameters
    ----------
    data
        A frame, a path, a `TextFile` or a `Query`, as the statistics take them.

    Returns
    -------
    dict
        The type name of each column, in order; "text" if a file declares none.

    Privacy
    -------
    Names and types are public, so this costs no epsilon. The values of an enumeration are not
    listed: they may come from records.

    References
    ----------
    Dwork and Roth, "The Algorithmic Foundations of Differential Privacy" (2014), definition 2.4:
    facts that do not depend on records cost nothing.

    Examples
    --------
    >>> import duffdp, polars
    >>> duffdp.columns(polars.DataFrame({"age": [33], "sex": ["f"]}))
    {'age': 'Int64', 'sex': 'String'}
    """
    types = source_types(data, (), OpenSources())
    return {name: type_name(dtype) for name, dtype in types.items()}


def source_types(data: Any, columns: Sequence[str], sources: OpenSources) -> dict[str, Any]:
    """All columns of a table with their declared types, in order, None where none is declared;
    `columns` are needed where a file does not list them. No record is read.
    """
    if is_path(data):
        return declared_types(data, columns, sources)
    nw = narwhals()
    frame = _as_frame(nw, data, [])
    if isinstance(frame, nw.Series):
        raise UnsupportedData("data is a single series, so it has no columns. Pass a frame.")
    eager = isinstance(frame, nw.DataFrame)
    adapter: Any = memory_adapter(nw, frame) if eager else query_adapter(nw, frame)
    return dict(adapter.schema)


def type_name(dtype: Any) -> str:
    """The name of a declared type, with the zone of times."""
    if dtype is None:
        return "text"
    kind = dtype.__name__ if isinstance(dtype, type) else type(dtype).__name__
    zone = None if isinstance(dtype, type) else getattr(dtype, "time_zone", None)
    return kind if zone is None else f"{kind}[{zone}]"


def read_columns(
    path: str | os.PathLike[str], columns: list[str], kind: str, where: Condition | None = None
) -> list[Any]:
    """All records of some columns as arrays, those that a condition keeps: not private, for
    planning with public records.
    """
    names = list(dict.fromkeys([*columns, *(() if where is None else where.columns)]))
    named = open_source(path).columns(ReadRequest(names, tuple(columns), kind))
    try:
        frame = _collected(named, names)
    finally:
        if named.close is not None:
            named.close()
    nw = narwhals()
    if where is not None:
        adapter = memory_adapter(nw, frame)
        row_filter = RowFilter(nw, where, adapter.schema, named.untyped, objects=True)
        frame = frame[np.flatnonzero(row_filter.mask(adapter))]
    return [frame.get_column(column).to_numpy() for column in columns]


def _collected(named: RowSource, names: list[str]) -> Any:
    """All records of some columns, as a frame of narwhals."""
    try:
        relation = named.rows()
    except Exception as error:
        raise unreadable(named.name, error) from None
    for column in names:
        if column not in relation.columns:
            raise missing_column(column, relation.columns)
    return narwhals().from_native(relation).select(*names).collect()


def close_after(drop: Callable[[], None], close: Callable[[], None] | None) -> Callable[[], None]:
    """A function that drops what an engine stores, and then closes the source."""

    def close_both() -> None:
        try:
            drop()
        finally:
            if close is not None:
                close()

    return close_both


class SourceTable:
    """One source of rows whose types are known; no row has been read.

    Parameters
    ----------
    data
        A frame or series of any library, or a path.
    selection
        Which column, in which groups, and who is a person.
    kind
        The kind of the public domain ("int", "float", "decimal", "date", "datetime" or "category"):
        what a file without types is read as.
    domain_for
        The public domain for a column, given whether its type is one of whole numbers, whether it
        declares none, and the decimals that it declares.
    sources
        What the call has opened: tables of the same path share it.
    """

    def __init__(
        self,
        data: Any,
        selection: Selection,
        kind: str,
        domain_for: Callable[[bool, bool, int | None], PublicSet],
        sources: OpenSources,
    ) -> None:
        self._sources = sources
        self.nw, self.data, self.kind, self.selection = narwhals(), data, kind, selection
        self._path: RowSource | None = None
        self._untyped: Container[str] = ()  # columns of text that declare no type
        self._series = False
        self.close: Callable[[], None] | None = None  # ends what was begun to read
        #: Gives the engine, if the rows are read together with those of other tables.
        self.shared: Callable[[Randomness], tuple[Engine, int]] | None = None
        self._keys_of_others: Sequence[Row] = ()
        condition = () if selection.where is None else selection.where.columns
        names = (*selection.values, *selection.by, selection.unit, *condition)
        self._column_names = list(dict.fromkeys(name for name in names if name is not None))
        frame = self._open()
        self._check_columns(list(frame.collect_schema()))
        self._eager = isinstance(frame, self.nw.DataFrame)
        make_adapter: Any = memory_adapter if self._eager else query_adapter
        self.adapter = make_adapter(self.nw, frame)
        if not self._eager:
            self.close = close_after(self.adapter.drop, self.close)
        # What the types forbid is refused here, before a row is read or anything is charged.
        types = self._types()
        self._read_selection(types)
        self.domain = self._domain(types, domain_for)
        self.categories = self._read_values(types)
        if not self._eager and self._path is None:
            self._rehearse()

    def _open(self) -> Any:
        """The frame of the data, for names and types alone: rows are read by `engine`."""
        if not is_path(self.data):
            frame = _as_frame(self.nw, self.data, self._column_names)
            if isinstance(frame, self.nw.Series):
                self._series, self._column_names = True, [SERIES]
                self.selection = self.selection._replace(column=SERIES, values=(SERIES,))
                frame = frame.alias(SERIES).to_frame()
            return frame
        self._path = self.open(self._column_names, self.selection.values)
        if self._path.people is not None:
            _check_people(self._path.people, self.selection.unit)
        self._untyped, self.close = self._path.untyped, self._path.close
        return self.nw.from_native(self._path.types)

    def open(self, columns: list[str], values: tuple[str, ...]) -> RowSource:
        """This file, opened for other columns."""
        request = ReadRequest(columns, values, self.kind, self.selection.unit)
        return self._sources.open(self.data).columns(request)

    def _check_columns(self, names: list[str]) -> None:
        """Refuse columns that are not there, and data of several columns without a name."""
        if self.selection.column is None and self.kind == EVERY_ROW.kind:
            # Any column stands for the row, whatever is in it.
            first = (*self._column_names, *names)[:1]
            self.selection = self.selection._replace(column=(*first, None)[0], values=first)
        if not self.selection.values:
            raise DuffError(
                *(Argument("column"), " is required for a table. Available columns: "),
                f"{quoted_names(names)}.",
            )
        for name in self._column_names:
            if name not in names:
                raise missing_column(name, names)

    def _types(self) -> Mapping[str, Any]:
        """The declared types of all columns, with their zones."""
        types: Mapping[str, Any] = self.adapter.schema
        zone = self.adapter.session_zone if self._path is None else self._path.zone
        if zone is None:
            return types
        return _in_zone(self.nw, types, zone, {} if self._path is None else self._path.zones)

    def _read_selection(self, types: Mapping[str, Any]) -> None:
        """Read the condition, the person and the keys of groups by the types of their columns."""
        nw, selection = self.nw, self.selection
        self.row_filter: RowFilter | None = None
        if selection.where is not None:
            self.row_filter = RowFilter(nw, selection.where, types, self._untyped, self._eager)
        if selection.unit is not None:
            check_person(nw, self.adapter, types[selection.unit], selection.unit)
        if not self._eager:
            condition = () if selection.where is None else selection.where.columns
            for name in (*selection.by, *condition, *filter(None, [selection.unit])):
                self.adapter.check_equality(name)
        self.keys: PublicValues | None = None
        self._key_types = {name: types[name] for name in selection.by}
        if selection.universe is not None:
            self._read_universe(selection.universe)
        elif selection.by:
            self.keys = self._public_keys()

    def _public_keys(self) -> PublicValues:
        """The keys of the selection, as the columns of groups hold them."""
        selection, others = self.selection, self._keys_of_others
        leaves: Sequence[int] = selection.leaf_of_key
        places = range(len(selection.leaves.keys)) if selection.sums_leaves else selection.places
        size, other = max(places, default=-1) + 1, None
        if selection.other is not None:
            other = places[-1]
        if others:
            leaves = [*leaves, *selection.leaves_of_others(others)]
        keys = [*selection.keys, *others] if others else selection.keys
        if not keys:
            return PublicValues((), (), size, other)
        straight = isinstance(leaves, range)
        places = places[: len(leaves)] if straight else [places[leaf] for leaf in leaves]
        groups = Groups(selection.by, keys)
        engine, untyped = self.adapter, self._untyped
        values = public_keys(self.nw, engine, self._key_types, groups, places, untyped)
        return values._replace(size=size, other=other)

    def _read_universe(self, universe: KeyUniverse) -> None:
        """Check that the columns can hold all possible keys. Until keys are found, the first of
        them stands for them, so all checks are made before anything is charged.
        """
        self._key_places = places_by_type(self.nw, self._key_types, universe, self._untyped)
        texts = [part for part in universe.parts if part.kind in ("text", "category")]
        if not self._eager and texts and not self.adapter.reads_texts:
            raise UnsupportedData(
                f"the texts of {self.adapter.native.get_backend().name} cannot be found by a "
                "pattern. List the keys, or write the table to a Parquet file and pass its path."
            )
        self.regroup([universe.key(0)])

    def regroup(self, keys: Sequence[Row], keys_of_others: Sequence[Row] = ()) -> None:
        """Form groups of these keys, which were found in the data at a price. `keys_of_others`
        occur as well: they say which group of others a row is in, and are not private.
        """
        self.selection = self.selection.with_keys(tuple(keys))
        self._keys_of_others = keys_of_others
        self.keys = self._public_keys()

    @property
    def has_no_groups(self) -> bool:
        """True if groups are formed, and no key of them was found."""
        return bool(self.selection.by) and not self.selection.leaves.keys

    def key_counts(self, cap: Cap, every_row: bool, randomness: Randomness) -> dict[int, int]:
        """The number of rows of every possible key that occurs, by its place: of all rows, or of
        those with a value. Not private.
        """
        with self._errors_without_quotes():
            if self._eager:
                return self._memory_key_counts(self._memory_rows(cap), every_row, randomness)
            return self._key_counts_by(self._opened_adapter(), cap, every_row, randomness)

    def key_places(self) -> set[int]:
        """The places of all possible keys that occur in any row of any person. Not
        private.
        """
        everyone = Cap(1)
        with self._errors_without_quotes():
            if self._eager:
                rows = self._memory_rows(everyone, by_person=False)
                return set(self._memory_key_counts(rows, True, _NO_CHOICE))
            adapter = self._opened_adapter()
            return set(self._key_counts_by(adapter, everyone, True, _NO_CHOICE, by_person=False))

    def _memory_key_counts(
        self, rows: MemoryRows, every_row: bool, randomness: Randomness
    ) -> dict[int, int]:
        universe = self.selection.universe
        assert universe is not None
        return rows.key_counts(universe, self._key_places, every_row, randomness)

    def _opened_adapter(self) -> QueryAdapter:
        """The adapter of a lazy table, with the rows of its file."""
        if self._path is not None:
            self.adapter.frame = rows_of(self.nw, self._path)
        adapter: QueryAdapter = self.adapter
        return adapter

    def _key_counts_by(
        self,
        adapter: QueryAdapter,
        cap: Cap,
        every_row: bool,
        randomness: Randomness,
        by_person: bool = True,
    ) -> dict[int, int]:
        selection, universe = self.selection, self.selection.universe
        assert universe is not None
        names = {KEY.format(at): name for at, name in enumerate(selection.by)}
        if not every_row:
            names[VALUES.format(0)] = selection.values[0]
        order: tuple[int, ...] = ()
        if selection.unit is not None and by_person:
            names[PERSON] = selection.unit
            order = tuple(randomness.words(4).view(np.int64).tolist())
        rows = adapter.rows(names) if self.row_filter is None else self._filtered(adapter, names)
        places = self._key_places
        return query_key_counts(self.nw, adapter, rows, universe, places, cap, order)

    def _domain(
        self, types: Mapping[str, Any], domain_for: Callable[[bool, bool, int | None], PublicSet]
    ) -> PublicSet:
        """The public domain by the types of the columns of values, in their zone."""
        nw, names = self.nw, self.selection.values
        is_integer = all(types[name].is_integer() or types[name] == nw.Boolean for name in names)
        undeclared = any(name in self._untyped or types[name] == nw.Object for name in names)
        scales = {_scale(nw, types[name]) for name in names}
        domain = domain_for(is_integer, undeclared, scales.pop() if len(scales) == 1 else None)
        zone = getattr(types[names[0]], "time_zone", None)
        if zone is not None and not isinstance(domain, Categories | Digits | Presence):
            domain = domain.in_zone(zone)
        # The records of a series are its values.
        return Presence() if self._series and domain == EVERY_ROW else domain

    def _read_values(self, types: Mapping[str, Any]) -> PublicValues | None:
        """Categories as the column holds them, if the domain has some; other domains refuse columns
        of another kind.
        """
        nw, domain, categories = self.nw, self.domain, None
        members = domain.members if isinstance(domain, Membership | Fields) else domain
        for name in self.selection.values:
            dtype = types[name]
            if isinstance(members, Categories):
                if not self._eager:
                    self.adapter.check_equality(name)
                untyped = name in self._untyped
                categories = public_categories(nw, self.adapter, dtype, name, members, untyped)
            elif not (isinstance(members, Presence | None) or (self._eager and dtype == nw.Object)):
                self._check_kind(name, dtype)
        return categories

    def _check_kind(self, name: str, dtype: Any) -> None:
        """Refuse numbers for a domain of times, times for one of numbers, and text for both."""
        nw, timed = self.nw, self.domain.kind in ("date", "datetime")
        moments = isinstance(dtype, nw.Date | nw.Datetime)
        if timed == moments and (timed or dtype.is_numeric() or dtype == nw.Boolean):
            return
        column, pair = f"{name!r} of type {dtype}", self.selection.pair
        message = no_numbers(column) if pair else wrong_kind(timed, column, moments)
        fix: tuple[str | Argument, ...] = ()
        if dtype == nw.String and self._path is None:
            fix = TEXT_FIX
        elif dtype == nw.String and isinstance(self.data, TextFile):
            fix = (" It is declared as text: change ", Argument("types"), ".")
        raise UnsupportedData(message, *fix)

    def _rehearse(self) -> None:
        """Send every kind of query about no rows, where the engine may lack what is in them: what
        it lacks is refused before anything is charged.
        """
        adapter = self.adapter.without_rows()
        if adapter is None:
            return
        try:
            if self.selection.universe is not None:
                self._key_counts_by(adapter, Cap(2, 2), False, _NO_CHOICE)
            if self.selection.pair is None:
                QueryEngine(self.query_rows(adapter, self._columns, _NO_CHOICE)).rehearse()
            else:
                self._pair_rows(adapter, _NO_CHOICE).pairs()
        except Exception as error:  # its words may quote a query, which is of no use
            reason = type(error.__context__ or error).__name__
            raise UnsupportedData(
                f"the database {adapter.native.get_backend().name} does not support the queries "
                f"of this release ({reason}). Export the table to a file (Parquet, DuckDB, "
                "SQLite) and pass its path, or release without people, groups or a condition."
            ) from None
        finally:
            adapter.drop()

    def engine(self, randomness: Randomness) -> tuple[Engine, int]:
        """The engine that counts the rows, and the number of the column in it; `randomness` decides
        which rows of a person count.
        """
        with self._errors_without_quotes():
            engine, column = (self.shared or self.own_engine)(randomness)
        if self.selection.sums_leaves:
            return SummedEngine(engine, self.selection.places), column
        return engine, column

    def own_engine(self, randomness: Randomness) -> tuple[Engine, int]:
        """The engine that counts the rows of this table alone."""
        return self._memory_engine(randomness) if self._eager else self._query_engine(randomness)

    @contextmanager
    def _errors_without_quotes(self) -> Iterator[None]:
        """Replace errors of engines, whose words may quote data."""
        try:
            yield
        except Exception as error:  # of any type: a query may call a function of the caller
            if isinstance(error, DuffError) or (self._eager and not is_of_library(error)):
                raise
            raise query_error(error) from None

    def _query_engine(self, randomness: Randomness) -> tuple[Engine, int]:
        adapter = self._opened_adapter()
        if self.selection.pair is None:
            return QueryEngine(self.query_rows(adapter, self._columns, randomness)), 0
        return PairEngine(self._pair_rows(adapter, randomness).pairs()), 0

    @property
    def _columns(self) -> list[ColumnSpec]:
        """The column of values, as it is read."""
        return [ColumnSpec(self.selection.values[0], self.domain, self.categories)]

    def _pair_rows(self, adapter: QueryAdapter, randomness: Randomness) -> QueryRows:
        """The rows of pairs."""
        first, second = self.selection.values
        columns = [ColumnSpec(first, EVERY_ROW, None)]
        return self.query_rows(adapter, columns, randomness, other=second)

    def query_rows(
        self,
        adapter: QueryAdapter,
        columns: Sequence[ColumnSpec],
        randomness: Randomness,
        other: str | None = None,
    ) -> QueryRows:
        """The rows that the selection names, with some columns; `other` is that of the second
        numbers of pairs.
        """
        selection = self.selection
        names = {VALUES.format(at): column.name for at, column in enumerate(columns)}
        if other is not None:
            names[SECOND_VALUE] = other
        names |= {KEY.format(at): name for at, name in enumerate(selection.by)}
        cap = Cap(selection.contributions, selection.groups_per_person)
        order: tuple[int, ...] = ()
        if selection.unit is not None:
            names[PERSON] = selection.unit
            # Two signed 64-bit numbers, for a keyed hash that is the same in every query, and two
            # for the choice of groups.
            words = randomness.words(2 if cap.groups is None else 4)
            order = tuple(words.view(np.int64).tolist())
        rows = adapter.rows(names) if self.row_filter is None else self._filtered(adapter, names)
        return QueryRows(self.nw, adapter, rows, self.keys, columns, cap, order)

    def _filtered(self, adapter: QueryAdapter, columns: dict[str, str]) -> Any:
        """The rows that the condition keeps, with these columns."""
        assert self.row_filter is not None
        assert self.selection.where is not None
        condition_names = {
            name: CONDITION_COLUMN.format(at)
            for at, name in enumerate(self.selection.where.columns)
        }
        numbers = {name: NUMBER.format(at) for at, name in enumerate(self.row_filter.numbers)}
        extra_columns = [
            (new, name) for named in (condition_names, numbers) for name, new in named.items()
        ]
        rows = adapter.rows(columns | dict(extra_columns))
        return self.row_filter.filtered(adapter, rows, condition_names, numbers).select(*columns)

    def _memory_rows(self, cap: Cap, by_person: bool = True) -> MemoryRows:
        """The rows in memory that the selection names."""
        adapter, selection = self.adapter, self.selection
        person = selection.unit if by_person else None
        if self.row_filter is not None:
            selected = np.flatnonzero(self.row_filter.mask(adapter))
            unit = () if person is None else (person,)
            names = dict.fromkeys([*selection.values, *selection.by, *unit])
            # Rows of other columns may be of types in which none can be chosen.
            adapter = memory_adapter(self.nw, adapter.frame.select(*names)[selected])
        column = selection.values[0]
        return MemoryRows(adapter, column, selection.by, self.keys, person, cap)

    def _memory_engine(self, randomness: Randomness) -> tuple[Engine, int]:
        selection = self.selection
        rows = self._memory_rows(Cap(selection.contributions, selection.groups_per_person))
        if selection.pair is not None:
            return rows.pair_engine(selection.pair[1], randomness), 0
        return rows.engine(self.domain, self.categories, randomness), 0

    @property
    def can_be_shared(self) -> bool:
        """True if its rows can be read together with others: no text is read in two ways."""
        condition = () if self.selection.where is None else self.selection.where.columns
        one_way = self.read_as is None or self.selection.values[0] not in condition
        plain = self.selection.pair is None and self.selection.groups_per_person is None
        plain = plain and not self.has_no_groups
        return not self._eager and self.adapter.side_by_side and one_way and plain

    @property
    def text_rules(self) -> FieldRules | None:
        """The rules by which text fields become values; None if types are declared."""
        source = self.data.data if isinstance(self.data, Query) else self.data
        if isinstance(source, TextFile):
            return source.rules
        undeclared = any(name in self._untyped for name in self.selection.values)
        return PLAIN_FIELDS if undeclared else None

    @property
    def file_note(self) -> str:
        """What users should know about the rows of this file format; empty if it is no file."""
        return "" if self._path is None else self._path.note

    @property
    def has_objects(self) -> bool:
        """True if values are Python objects of any type."""
        schema = self.adapter.schema
        return any(schema.get(name) == self.nw.Object for name in self.selection.values)

    @property
    def read_as(self) -> str | None:
        """The type that values of a text file are read as; None where types are declared."""
        text = isinstance(self.data, TextFile) or any(
            n in self._untyped for n in self._column_names
        )
        return field_type(self.kind) if text and not isinstance(self.data, Query) else None

    @property
    def scan_key(self) -> tuple[Any, ...]:
        """Key that tables of the same rows, groups and people share."""
        path = is_path(self.data) and not isinstance(self.data, Query | TextFile)
        place = os.fspath(self.data) if path else id(self.data)
        selection = self.selection
        people = selection.unit, selection.contributions
        where = None if selection.where is None else selection.where.text
        keys: Any = self.keys
        if self.keys is not None:
            values, positions = tuple(self.keys.values), tuple(self.keys.positions)
            keys = self.keys._replace(values=values, positions=positions)
        return path, place, selection.by, keys, people, where, self.read_as

    def answers(self, columns: dict[str, list[Any]]) -> Any:
        """Keys as they were given and released values, as a small frame of the caller's own
        library.
        """
        by, keys = self.selection.groups
        return self.frame({by[i]: list(map(itemgetter(i), keys)) for i in range(len(by))} | columns)

    def frame(self, columns: dict[str, list[Any]]) -> Any:
        """Public columns as a small frame of the caller's own library."""
        if not self.adapter.mixes_types:
            columns = {name: of_one_type(values) for name, values in columns.items()}
        if self._path is not None and self._path.like is not None:
            pattern = self.nw.from_native(self._path.like)
            make_adapter = (
                memory_adapter if isinstance(pattern, self.nw.DataFrame) else query_adapter
            )
            return make_adapter(self.nw, pattern).answer(columns)
        return self.adapter.answer(columns)


class _NoChoice:
    """Randomness for sources in which no rows have to be chosen."""

    def words(self, size: int) -> Any:
        return np.zeros(size, dtype=np.uint64)


_NO_CHOICE = _NoChoice()


def rows_of(nw: Narwhals, path: RowSource) -> Any:
    """The rows of a path, as a narwhals frame."""
    try:
        return nw.from_native(path.rows())
    except Exception as error:
        raise unreadable(path.name, error) from None


def _in_zone(
    nw: Narwhals, types: Mapping[str, Any], zone: str, column_zones: Mapping[str, str]
) -> dict[str, Any]:
    """Types with the zones that were said, and else with that of a session, where an engine has no
    other: zones are a part of them.
    """
    zoned = {
        name: nw.Datetime(dtype.time_unit, column_zones.get(name, zone))
        for name, dtype in types.items()
        if getattr(dtype, "time_zone", None) is not None
    }
    return dict(types) | zoned


def _scale(nw: Narwhals, dtype: Any) -> int | None:
    """The decimals that a type declares, if they are few: 0 and many stand for no declaration."""
    scale = getattr(dtype, "scale", None) if dtype == nw.Decimal else None
    return scale if isinstance(scale, int) and 0 < scale <= MAX_SCALE else None


def _check_people(people: tuple[str, ...], unit: str | None) -> None:
    """Rows that were brought together are those of one person, or nobody is protected."""
    if unit not in people:
        hint = f"for example unit={people[0]!r}" if people else "and select it"
        raise DuffError(
            "sql has GROUP BY, so unit must name one of its columns, the one that identifies the "
            "person, got ",
            Argument("unit", unit),
            f". Pass {hint}.",
        )


def _as_frame(nw: Narwhals, data: Any, names: list[str]) -> Any:
    """A frame or series of narwhals; an array has no columns to choose from."""
    if not is_table(data):
        raise UnsupportedData(
            f"column, by, where and unit need a frame or a path, got {type(data).__name__}. "
            "Pass a frame, for example pandas.DataFrame(...), or a path."
        )
    try:
        frame = nw.from_native(data, allow_series=True)
        if not isinstance(frame, nw.Series):
            frame.collect_schema()
    except TypeError:
        raise UnsupportedData(
            f"data must be a frame, a series, an array or a path, got {type(data).__name__}."
        ) from None
    except nw.exceptions.DuplicateError:
        raise UnsupportedData(
            f"two columns of the {type(data).__name__} have the same name. Rename one of them."
        ) from None
    except Exception as error:  # the library's own words may quote data
        raise UnsupportedData(
            f"the {type(data).__name__} cannot be read ({type(error).__name__}). Check that its "
            "connection is open."
        ) from None
    if isinstance(frame, nw.Series) and names:
        raise DuffError(f"data is a single series, so it has no column {names[0]!r}. Pass a frame.")
    return frame
