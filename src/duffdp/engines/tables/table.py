"""Tables: a frame of any library, in memory or lazy, or what a path names; opened for its types, then asked for counts."""

from __future__ import annotations

import difflib
import os
from typing import Any

import numpy as np

from duffdp.domain import Categories, Domain
from duffdp.engines.arrays import wrong_kind
from duffdp.engines.files import PathTable, open_path
from duffdp.engines.selection import LIBRARIES, Selection, is_table, narwhals
from duffdp.engines.source import Tally
from duffdp.engines.tables.adapters import memory_adapter, query_adapter
from duffdp.engines.tables.descent import Descent
from duffdp.engines.tables.lazy_rows import LazyRows
from duffdp.engines.tables.memory import MemoryRows
from duffdp.engines.tables.names import KEY, PERSON, VALUE
from duffdp.engines.tables.people import Randomness
from duffdp.engines.tables.public_values import Known, known_categories, known_keys
from duffdp.errors import DuffError, UnsupportedData

SERIES = "values"  # the column of a series


def column_types(path: str, columns: list[str]) -> dict[str, Any]:
    """The declared types of some columns of what a path names, those that it has; in files of text all are text."""
    opened = open_path(path, columns, kind="category")
    schema = narwhals().from_native(opened.types).collect_schema()
    return {name: schema[name] for name in columns if name in schema}


def read_column(path: str, column: str, kind: str) -> Any:
    """All records of one column as an array: not private, for planning with public records."""
    relation = open_path(path, [column], value=column, kind=kind).rows()
    if column not in relation.columns:
        raise _no_column(column, relation.columns)
    return narwhals().from_native(relation).select(column).collect().get_column(column).to_numpy()


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
        The kind of the public domain ("int", "float", "decimal", "date", "datetime" or "category"): what a file
        without types is read as.
    """

    def __init__(self, data: Any, selection: Selection, kind: str) -> None:
        self._nw = nw = narwhals()
        named = (selection.column, *selection.by, selection.unit)
        needed = list(dict.fromkeys(name for name in named if name is not None))
        self._path: PathTable | None = None
        self.untyped = False
        if isinstance(data, str | os.PathLike):
            # Names and types alone; its rows are read when they are asked for.
            self._path = open_path(data, needed, value=selection.column, kind=kind)
            self.untyped, frame = self._path.untyped, nw.from_native(self._path.types)
        else:
            frame = _opened(nw, data, needed)
            if isinstance(frame, nw.Series):
                frame, selection = frame.alias(SERIES).to_frame(), selection._replace(column=SERIES)
                needed = [SERIES]
        self._selection = selection
        known = list(frame.collect_schema())
        if selection.column is None:
            names = ", ".join(map(repr, known))
            raise DuffError(
                f"data have columns, so one must be named. Hint: column= one of {names}."
            )
        for name in needed:
            if name not in known:
                raise _no_column(name, known)
        self._eager = isinstance(frame, nw.DataFrame)
        self._adapter: Any = memory_adapter(nw, frame) if self._eager else query_adapter(nw, frame)
        types = dict(zip(needed, map(self._adapter.dtype, needed), strict=True))
        self.dtype = types[selection.column]
        self.integer = self.dtype.is_integer() or self.dtype == nw.Boolean
        self._categories: Known | None = None
        self._keys = (
            known_keys(nw, self._adapter, types, selection, self.untyped) if selection.by else None
        )

    def check(self, domain: Domain) -> None:
        """Refuse what the types forbid: numbers for numbers, dates or times for dates and times, categories that can be."""
        nw, dtype, column = self._nw, self.dtype, self._selection.column
        assert column is not None
        if isinstance(domain, Categories):
            self._categories = known_categories(
                nw, self._adapter, dtype, column, domain, self.untyped
            )
            return
        if self._eager and dtype == nw.Object:
            return
        timed, moments = (
            domain.kind in ("date", "datetime"),
            isinstance(dtype, nw.Date | nw.Datetime),
        )
        if timed != moments or not (timed or dtype.is_numeric() or dtype == nw.Boolean):
            raise UnsupportedData(wrong_kind(timed, f"{column!r} of type {dtype}", moments))

    def sources(self, domain: Domain, source: Randomness) -> list[Tally]:
        """One source of counts for each key, in order; one in all without keys.

        Parameters
        ----------
        domain
            What rows become indices of; it has passed `check`.
        source
            What decides which rows of a person count.
        """
        try:
            return self._sources(domain, source)
        except Exception as error:  # the library's own words may quote data
            if type(error).__module__.partition(".")[0].lstrip("_") not in LIBRARIES:
                raise
            raise UnsupportedData(
                f"the query cannot be made ({type(error).__name__}). Is the connection closed?"
            ) from None

    def _sources(self, domain: Domain, source: Randomness) -> list[Tally]:
        nw, adapter, (column, by, _, unit, most) = self._nw, self._adapter, self._selection
        assert column is not None
        if self._eager:
            memory = MemoryRows(adapter, column, by, self._keys, unit, most)
            return memory.sources(domain, self._categories, source)
        keys = map(KEY.format, range(len(by)))
        columns = {VALUE: column, **dict(zip(keys, by, strict=True))}
        order = (0, 0)
        if unit is not None:
            columns[PERSON] = unit
            # Two signed 64-bit numbers, for a keyed hash that is the same in every query.
            order = tuple(source.words(2).view(np.int64).tolist())
        if self._path is not None:
            adapter.frame = nw.from_native(self._path.rows())
        rows = LazyRows(
            nw, adapter, adapter.rows(columns), self._keys, self._categories, domain, most, order
        )
        return list(Descent(rows).sources())

    def answers(self, columns: dict[str, list[Any]]) -> Any:
        """Keys as they were given and released values, as a small frame of the caller's own library."""
        by, keys = self._selection.by, self._selection.keys
        return self._adapter.answer(
            {name: [key[i] for key in keys] for i, name in enumerate(by)} | columns
        )


def _opened(nw: Any, data: Any, needed: list[str]) -> Any:
    """A frame or series of narwhals; an array has no columns to choose from."""
    if not is_table(data):
        raise UnsupportedData(
            f"column, by and unit need a frame or a path, got {type(data).__name__}. "
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
            f"the {type(data).__name__} cannot be read ({type(error).__name__}). Is its connection closed?"
        ) from None
    if isinstance(frame, nw.Series) and needed:
        raise DuffError(f"data are one series, so there is no column {needed[0]!r}. Pass a frame.")
    return frame
