"""Tables: a frame of any library, in memory or lazy, or what a path names; opened for its types, then asked for counts."""

from __future__ import annotations

import copy
import difflib
from typing import Any

from duffdp.domain import Categories, Domain, Grid
from duffdp.engines.arrays import wrong_kind
from duffdp.engines.files import is_path, is_untyped, open_path
from duffdp.engines.selection import LIBRARIES, Selection, is_table, narwhals
from duffdp.engines.source import Tally
from duffdp.engines.tables.adapters import memory_adapter, query_adapter
from duffdp.engines.tables.descent import Descent
from duffdp.engines.tables.lazy_rows import LazyRows, columns_of
from duffdp.engines.tables.memory import MemoryRows
from duffdp.engines.tables.people import Randomness
from duffdp.engines.tables.public_values import known_categories, known_keys
from duffdp.errors import DuffError, UnsupportedData

SERIES = "values"  # the column of a series


def open_table(data: Any, selection: Selection, kind: str) -> Table:
    """A table of rows; an array has no columns to choose from."""
    if not is_table(data):
        raise UnsupportedData(
            f"column, by and unit need a frame or a path, got {type(data).__name__}. "
            "Pass the frame that holds the columns."
        )
    return Table(data, selection, kind)


def column_types(path: str, columns: list[str]) -> dict[str, Any]:
    """The declared types of some columns of what a path names, those that it has; in files of text all are text."""
    relation = open_path(path, columns, kind="category", rows=False)
    schema = narwhals().from_native(relation).collect_schema()
    return {name: schema[name] for name in columns if name in schema}


def read_column(path: str, column: str, kind: str) -> Any:
    """All records of one column as an array: not private, for planning with public records."""
    relation = open_path(path, [column], value=column, kind=kind)
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
        self._path = data if is_path(data) else None
        self.untyped = is_untyped(data)
        frame, self._selection = self._opened(data, selection, kind)
        self._kind, column = kind, self._selection.column
        if column is None:
            names = ", ".join(map(repr, frame.collect_schema()))
            raise DuffError(
                f"data have columns, so one must be named. Hint: column= one of {names}."
            )
        self._check_names(list(frame.collect_schema()))
        self._eager = isinstance(frame, nw.DataFrame)
        self._adapter: Any = memory_adapter(nw, frame) if self._eager else query_adapter(nw, frame)
        self.dtype = self._adapter.dtype(column)
        self.integer = self.dtype.is_integer() or self.dtype == nw.Boolean
        self._keys = (
            known_keys(nw, self._adapter, self._selection, self.untyped) if selection.by else None
        )

    def _opened(self, data: Any, selection: Selection, kind: str) -> tuple[Any, Selection]:
        """The data as a narwhals frame."""
        nw = self._nw
        needed = selection.columns
        native = data
        if is_path(data):  # names and types alone; its rows are read when they are asked for
            native = open_path(data, needed, value=selection.column, kind=kind, rows=False)
        try:
            frame = nw.from_native(native, allow_series=True)
            if isinstance(frame, nw.Series):
                if needed:
                    raise DuffError(
                        f"data are one series, so there is no column {needed[0]!r}. Pass a frame."
                    )
                return frame.alias(SERIES).to_frame(), selection._replace(column=SERIES)
            frame.collect_schema()
        except DuffError:
            raise
        except TypeError:
            raise UnsupportedData(
                f"data must be a frame, a series, an array or a path, got {type(data).__name__}."
            ) from None
        except Exception as error:  # the library's own words may quote data
            raise UnsupportedData(
                f"the {type(data).__name__} cannot be read ({type(error).__name__}). Is its connection closed?"
            ) from None
        return frame, selection

    def _check_names(self, known: list[str]) -> None:
        for name in (self._selection.column, *self._selection.by, self._selection.unit):
            if name is not None and name not in known:
                raise _no_column(name, known)

    def without_rows(self) -> Table:
        """The same columns with nothing in them; a lazy table reads no row until it is asked."""
        if self._eager:
            return Table(self._adapter.without_rows(), self._selection, self._kind)
        empty = copy.copy(self)
        empty._path = None
        return empty

    def sources(self, domain: Domain, source: Randomness) -> list[Tally]:
        """One source of counts for each key, in order; one in all without keys.

        Parameters
        ----------
        domain
            What rows become indices of.
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
        nw, (column, by, _, unit, most) = self._nw, self._selection
        assert column is not None
        if self._path is not None:
            needed = self._selection.columns
            relation = open_path(self._path, needed, value=column, kind=self._kind)
            self._adapter = query_adapter(nw, nw.from_native(relation))
        categories = None
        if isinstance(domain, Categories):
            categories = known_categories(nw, self._adapter, column, domain, self.untyped)
        else:
            self._check_kind(domain)
        if self._eager:
            rows = MemoryRows(self._adapter, column, by, self._keys, unit, most)
            return rows.sources(domain, categories, source)
        names = columns_of(column, by, unit)
        lazy = LazyRows(nw, self._adapter, names, self._keys, most, domain, categories, source)
        return list(Descent(lazy).sources())

    def _check_kind(self, grid: Grid) -> None:
        """Numbers for numbers, dates or times for dates and times, by the declared type."""
        nw, dtype = self._nw, self.dtype
        if self._eager and dtype == nw.Object:
            return
        timed, moments = grid.kind in ("date", "datetime"), isinstance(dtype, nw.Date | nw.Datetime)
        if timed != moments or not (timed or dtype.is_numeric() or dtype == nw.Boolean):
            name = self._selection.column
            raise UnsupportedData(wrong_kind(timed, f"{name!r} of type {dtype}", moments))

    def answers(self, columns: dict[str, list[Any]]) -> Any:
        """Keys as they were given and released values, as a small frame of the caller's own library."""
        by, keys = self._selection.by, self._selection.keys
        return self._adapter.answer({name: [key[i] for key in keys] for i, name in enumerate(by)} | columns)
