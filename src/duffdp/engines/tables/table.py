"""Tables: a frame of any library, in memory or lazy, or what a path names; opened for its types,
then asked for counts.
"""

from __future__ import annotations

import datetime as dt
import difflib
import os
from collections.abc import Callable, Container, Mapping, Sequence
from decimal import Decimal
from functools import partial
from operator import itemgetter
from typing import Any

import numpy as np

from duffdp.domain import Categories, Digits, Membership, Presence, PublicSet
from duffdp.engines.arrays import wrong_kind
from duffdp.engines.condition import Condition
from duffdp.engines.files import DELIMITED, JSON_LINES, WORKBOOKS, PathTable, open_path, unreadable
from duffdp.engines.libraries import is_of_library, is_table, narwhals
from duffdp.engines.pairs import Pairs, no_numbers
from duffdp.engines.query import Query, open_source
from duffdp.engines.selection import Selection
from duffdp.engines.source import Tally
from duffdp.engines.sql import field_type
from duffdp.engines.tables.adapters import memory_adapter, query_adapter
from duffdp.engines.tables.count_classes import ClassedColumn, CountClasses
from duffdp.engines.tables.descent import Descent, failed
from duffdp.engines.tables.kept_rows import KeptRows
from duffdp.engines.tables.lazy_rows import LazyRows
from duffdp.engines.tables.memory import MemoryRows
from duffdp.engines.tables.names import ASKED, KEY, NUMBER, OTHER, PERSON, VALUE
from duffdp.engines.tables.people import Cap, Randomness
from duffdp.engines.tables.public_values import (
    Known,
    check_person,
    known_categories,
    known_keys,
    spellings,
)
from duffdp.engines.text_file import TextFile
from duffdp.errors import DuffError, UnsupportedData

SERIES = "values"  # the column of a series
EVERY_ROW = Presence(rows=True)
_INT64, _PLACES = range(-(2**63), 2**63), 38  # of whole numbers and of decimals in engines
TEXT_FIX = (
    " If it comes from a file of text, let duffdp read that file and say how: --types, --decimal "
    "and --date-format, or duffdp.TextFile in Python."
)


def column_types(path: str | os.PathLike[str], columns: list[str]) -> dict[str, Any]:
    """The declared types of some columns of what a path names, those that it has; in files of
    text all are text.
    """
    named = open_source(path, columns, kind="category")
    schema = narwhals().from_native(named.types).collect_schema()
    return {name: schema[name] for name in columns if name in schema}


def declared_types(path: str | os.PathLike[str]) -> dict[str, Any]:
    """All columns of what a path names with their declared types, in order; None for the type of a
    column that declares none. No record is read.
    """
    named = open_source(path, [], kind="category")
    try:
        schema = narwhals().from_native(named.types).collect_schema()
    finally:
        if named.close is not None:
            named.close()
    file = os.fspath(path).lower().partition("::")[0]
    text = file.endswith((*DELIMITED, *JSON_LINES, *WORKBOOKS))
    return {name: None if text else schema[name] for name in schema}


def read_columns(
    path: str | os.PathLike[str], columns: list[str], kind: str, where: Condition | None = None
) -> list[Any]:
    """All records of some columns as arrays, those that a condition keeps: not private, for
    planning with public records.
    """
    needed = list(dict.fromkeys([*columns, *(() if where is None else where.columns)]))
    named = open_source(path, needed, values=tuple(columns), kind=kind)
    try:
        relation = named.rows()
    except Exception as error:
        raise unreadable(named.name, error) from None
    for column in needed:
        if column not in relation.columns:
            raise _no_column(column, relation.columns)
    nw = narwhals()
    frame = nw.from_native(relation).select(*needed).collect()
    if where is not None:
        adapter = memory_adapter(nw, frame)
        kept = KeptRows(nw, where, adapter.schema, named.untyped, objects=True)
        frame = frame[np.flatnonzero(kept.mask(adapter))]
    if named.close is not None:
        named.close()
    return [frame.get_column(column).to_numpy() for column in columns]


def _no_column(name: str, known: list[str]) -> UnsupportedData:
    near = difflib.get_close_matches(name, known, 3, 0.5) or known[:8]
    hint = ", ".join(map(repr, near)) or "the data have no columns"
    return UnsupportedData(f"there is no column {name!r}. Hint: {hint}.")


class Table:
    """One source of rows, of which the types are known and no row is read yet.

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
        The public domain for a column, given whether its type is one of whole numbers and whether
        it declares none.
    """

    def __init__(
        self,
        data: Any,
        selection: Selection,
        kind: str,
        domain_for: Callable[[bool, bool], PublicSet],
    ) -> None:
        self.nw, self.data, self.kind = narwhals(), data, kind
        nw = self.nw
        asked = () if selection.where is None else selection.where.columns
        named = (*selection.values, *selection.by, selection.unit, *asked)
        needed = list(dict.fromkeys(name for name in named if name is not None))
        self._path: PathTable | None = None
        self.close: Callable[[], None] | None = None  # ends what was begun to read
        #: What gives sources in its place, if its rows are read together with those of others.
        self.shared: Callable[[Randomness], list[Tally]] | None = None
        untyped: Container[str] = ()
        series = False
        if isinstance(data, str | os.PathLike):
            # Names and types alone; its rows are read when they are asked for.
            open_data = open_source if isinstance(data, Query) else open_path
            self._path = open_data(
                data, needed, values=selection.values, kind=kind, person=selection.unit
            )
            if self._path.people is not None:
                _check_people(self._path.people, selection.unit)
            untyped, self.close = self._path.untyped, self._path.close
            frame = nw.from_native(self._path.types)
        else:
            frame = _as_frame(nw, data, needed)
            if series := isinstance(frame, nw.Series):
                frame, selection = (
                    frame.alias(SERIES).to_frame(),
                    selection._replace(column=SERIES, values=(SERIES,)),
                )
                needed = [SERIES]
        known = list(frame.collect_schema())
        if selection.column is None and kind == EVERY_ROW.kind:
            # Any column stands for the row, whatever is in it.
            first = (*needed, *known)[:1]
            selection = selection._replace(column=(*first, None)[0], values=first)
        self.selection = selection
        if not selection.values:
            names = ", ".join(map(repr, known))
            raise DuffError(
                f"data have columns, so one must be named. Hint: column= one of {names}."
            )
        for name in needed:
            if name not in known:
                raise _no_column(name, known)
        self._eager = isinstance(frame, nw.DataFrame)
        adapter_of: Any = memory_adapter if self._eager else query_adapter
        self.adapter = adapter_of(nw, frame)
        if self.close is None and not self._eager:  # a connection that ends lets go of all
            self.close = self.adapter.drop
        types = self.adapter.schema
        zone = self.adapter.session_zone if self._path is None else self._path.zone
        if zone is not None:
            types = _in_zone(nw, types, zone, {} if self._path is None else self._path.zones)
        self._untyped, self._needed = untyped, needed
        self.kept: KeptRows | None = None
        if selection.where is not None:
            self.kept = KeptRows(nw, selection.where, types, untyped, self._eager)
        # What the types forbid is refused here, before a row is read or anything is charged.
        if selection.unit is not None:
            check_person(nw, self.adapter, types[selection.unit], selection.unit)
        self.keys = (
            known_keys(nw, self.adapter, types, selection, untyped) if selection.by else None
        )
        self.categories: Known | None = None
        whole, undeclared = True, False
        for name in selection.values:
            whole = whole and (types[name].is_integer() or types[name] == nw.Boolean)
            undeclared = undeclared or name in untyped or types[name] == nw.Object
        self.domain = domain_for(whole, undeclared)
        zone = getattr(types[selection.values[0]], "time_zone", None)
        if zone is not None and not isinstance(self.domain, Categories | Digits | Presence):
            self.domain = self.domain.in_zone(zone)
        if series and self.domain == EVERY_ROW:
            self.domain = Presence()  # the records of a series are its values
        among = self.domain.among if isinstance(self.domain, Membership) else self.domain
        for name in selection.values:
            dtype = types[name]
            if isinstance(among, Categories):
                self.categories = known_categories(
                    nw, self.adapter, dtype, name, among, name in untyped
                )
            elif not (isinstance(among, Presence) or (self._eager and dtype == nw.Object)):
                timed = self.domain.kind in ("date", "datetime")
                moments = isinstance(dtype, nw.Date | nw.Datetime)
                given = f"{name!r} of type {dtype}"
                if timed != moments or not (timed or dtype.is_numeric() or dtype == nw.Boolean):
                    said = (
                        no_numbers(given) if selection.pair else wrong_kind(timed, given, moments)
                    )
                    raise UnsupportedData(said + TEXT_FIX if dtype == nw.String else said)

    def sources(self, source: Randomness) -> Sequence[Tally] | Sequence[Pairs]:
        """One source of counts, or the pairs, for each key, in order; one in all without keys.

        `source` decides which rows of a person count.
        """
        try:
            return self._sources(source) if self.shared is None else self.shared(source)
        except Exception as error:  # of any type: a query may call a function of the caller
            if isinstance(error, DuffError) or (self._eager and not is_of_library(error)):
                raise
            raise failed(error) from None

    def _sources(self, source: Randomness) -> Sequence[Tally] | Sequence[Pairs]:
        nw, domain, adapter = self.nw, self.domain, self.adapter
        _, by, _, unit, most, pair, values, *_ = self.selection
        cap = Cap(most, self.selection.groups_per_person)
        if self._eager:
            if self.kept is not None:
                kept = np.flatnonzero(self.kept.mask(adapter))
                adapter = memory_adapter(nw, adapter.frame[kept])
            memory = MemoryRows(adapter, values[0], by, self.keys, unit, cap)
            if pair is not None:
                return memory.pairs(pair[1], source)
            return memory.sources(domain, self.categories, source)
        keys = map(KEY.format, range(len(by)))
        columns = dict(zip((VALUE, OTHER), values, strict=False)) | dict(zip(keys, by, strict=True))
        order: tuple[int, ...] = ()
        if unit is not None:
            columns[PERSON] = unit
            # Two signed 64-bit numbers, for a keyed hash that is the same in every query, and two
            # for the choice of groups.
            order = tuple(source.words(2 if cap.groups is None else 4).view(np.int64).tolist())
        if self._path is not None:
            try:
                adapter.frame = nw.from_native(self._path.rows())
            except Exception as error:
                raise unreadable(self._path.name, error) from None
        found = adapter.rows(columns) if self.kept is None else self.found(adapter, columns)
        rows = LazyRows(nw, adapter, found, self.keys, self.categories, domain, cap, order)
        if pair is not None:
            return rows.pairs()
        column = partial(ClassedColumn, Descent(rows), counts=CountClasses(rows))
        return list(map(column, range(rows.groups)))

    @property
    def can_be_shared(self) -> bool:
        """Whether its rows can be read together with others: no text is read in two ways."""
        asked = () if self.selection.where is None else self.selection.where.columns
        apart = self.read_as is None or self.selection.values[0] not in asked
        plain = self.selection.pair is None and self.selection.groups_per_person is None
        return not self._eager and self.adapter.side_by_side and apart and plain

    @property
    def read_as(self) -> str | None:
        """The type that values of a file of text are read as; None where types are declared."""
        text = isinstance(self.data, TextFile) or any(n in self._untyped for n in self._needed)
        return field_type(self.kind) if text and not isinstance(self.data, Query) else None

    @property
    def rows_asked_for(self) -> tuple[Any, ...]:
        """What is the same for tables of the same rows, groups and people."""
        path = isinstance(self.data, str | os.PathLike) and not isinstance(
            self.data, Query | TextFile
        )
        place = os.fspath(self.data) if path else id(self.data)
        _, by, _, unit, most, *_ = self.selection
        where = None if self.selection.where is None else self.selection.where.text
        keys = None if self.keys is None else (tuple(self.keys.values), tuple(self.keys.positions))
        return path, place, by, keys, unit, most, where, self.read_as

    def found(self, adapter: Any, columns: dict[str, str]) -> Any:
        """The rows that a condition keeps, with these columns."""
        assert self.kept is not None
        assert self.selection.where is not None
        asked = {name: ASKED.format(at) for at, name in enumerate(self.selection.where.columns)}
        numbers = {name: NUMBER.format(at) for at, name in enumerate(self.kept.numbers)}
        more = [(new, name) for named in (asked, numbers) for name, new in named.items()]
        rows = adapter.rows(columns | dict(more))
        return self.kept.filtered(adapter, rows, asked, numbers).select(*columns)

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
            like = self.nw.from_native(self._path.like)
            made = memory_adapter if isinstance(like, self.nw.DataFrame) else query_adapter
            return made(self.nw, like).answer(columns)
        return self.adapter.answer(columns)


def _in_zone(
    nw: Any, types: Mapping[str, Any], zone: str, said: Mapping[str, str]
) -> dict[str, Any]:
    """Types with the zones that were said, and else with that of a session, where an engine has no
    other: zones are a part of them.
    """
    zoned = {
        name: nw.Datetime(dtype.time_unit, said.get(name, zone))
        for name, dtype in types.items()
        if getattr(dtype, "time_zone", None) is not None
    }
    return dict(types) | zoned


def _check_people(people: tuple[str, ...], unit: str | None) -> None:
    """Rows that were brought together are those of one person, or nobody is protected."""
    if unit not in people:
        hint = f"for example unit={people[0]!r}" if people else "and select it"
        raise DuffError(
            "sql brings rows together by GROUP BY, so unit must name one of those columns, which "
            f"tells people apart, got unit={unit!r}. Pass {hint}."
        )


def _as_frame(nw: Any, data: Any, needed: list[str]) -> Any:
    """A frame or series of narwhals; an array has no columns to choose from."""
    if not is_table(data):
        raise UnsupportedData(
            f"column, by, where and unit need a frame or a path, got {type(data).__name__}. "
            "Pass the frame that holds the columns."
        )
    try:
        frame = nw.from_native(data, allow_series=True)
        if not isinstance(frame, nw.Series):
            frame.collect_schema()
    except TypeError:
        raise UnsupportedData(
            f"data must be a frame, a series, an array or a path, got {type(data).__name__}."
        ) from None
    except Exception as error:  # the library's own words may quote data
        raise UnsupportedData(
            f"the {type(data).__name__} cannot be read ({type(error).__name__}). Is its connection "
            "closed?"
        ) from None
    if isinstance(frame, nw.Series) and needed:
        raise DuffError(f"data are one series, so there is no column {needed[0]!r}. Pass a frame.")
    return frame


def of_one_type(given: list[Any]) -> list[Any]:
    """Values as they are if a typed column can hold them together, else as numbers or text that
    it can hold; what is missing stays missing.
    """
    if type(None) not in set(map(type, given)):
        return _of_one_type(given)
    found = iter(_of_one_type([value for value in given if value is not None]))
    return [None if value is None else next(found) for value in given]


def _of_one_type(values: list[Any]) -> list[Any]:
    kinds = set(map(type, values))
    times = values if any(issubclass(kind, dt.datetime) for kind in kinds) else []
    zones = {value.tzinfo is None for value in times if isinstance(value, dt.datetime)}
    large = kinds == {int} and not (min(values) in _INT64 and max(values) in _INT64)
    if len(kinds) == 1 and len(zones) < 2 and not large:
        return values
    if large and all(abs(value) < 10**_PLACES for value in values):
        return [Decimal(value) for value in values]
    try:
        if kinds <= {int, float, Decimal} and (
            large or all(float(value) == value for value in values)
        ):
            return [float(value) for value in values]
    except OverflowError:
        pass
    if all(isinstance(value, str) for value in values):
        return [str.__str__(value) for value in values]
    return [(spellings(value) or (str(value),))[0] for value in values]
