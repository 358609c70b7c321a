"""Releases of the same rows that share one engine: one pass answers the requests about several
columns, and the rows of a person are chosen once for groups and their sums.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, cast

import numpy as np

from duffdp._engines.adapters import query_adapter
from duffdp._engines.adapters.query import QueryAdapter
from duffdp._engines.libraries import is_path
from duffdp._engines.people import Randomness
from duffdp._engines.queries.engine import QueryEngine
from duffdp._engines.queries.names import MAX_COLUMNS
from duffdp._engines.queries.rows import ColumnSpec
from duffdp._engines.requests import Answer, ColumnRequest, Engine, GroupedCounts, Request
from duffdp._engines.table import SourceTable, close_after, rows_of
from duffdp.domain import Ints


def share_scans(tables: Sequence[Any]) -> list[SourceTable]:
    """Let tables about the same rows, in the same groups and for the same people, be read by the
    same passes; returns those that share one.
    """
    sharing: list[SourceTable] = []
    same_rows: dict[Any, list[SourceTable]] = {}
    for table in tables:
        if isinstance(table, SourceTable) and table.can_be_shared:
            same_rows.setdefault(table.scan_key, []).append(table)
    for members in same_rows.values():
        for begin in range(0, len(members), MAX_COLUMNS):
            batch = members[begin : begin + MAX_COLUMNS]
            if len(batch) > 1:
                _SharedScan(batch)
                sharing += batch
    return sharing


def share_rows(tables: Sequence[Any]) -> list[SourceTable]:
    """Let a table that adds the groups of another one up count the same rows of every person, by
    one engine; returns all tables that share one.
    """
    by_rows: dict[Any, list[SourceTable]] = {}
    for table in tables:
        if isinstance(table, SourceTable) and table.selection.by and not table.has_no_groups:
            key = (*table.scan_key, table.selection.values, table.selection.groups_per_person)
            by_rows.setdefault((*key, table.domain), []).append(table)
    sharing: list[SourceTable] = []
    for members in by_rows.values():
        if any(table.selection.sums_leaves for table in members):
            engine = _SharedRows(members[0])
            for table in members:
                table.shared = engine.of
            sharing += members
    return sharing


class _SharedRows:
    """One engine for releases of the same rows, created on first use."""

    def __init__(self, table: SourceTable) -> None:
        self._table = table
        self._engine: tuple[Engine, int] | None = None

    def of(self, randomness: Randomness) -> tuple[Engine, int]:
        """The engine and the number of the column in it."""
        if self._engine is None:
            engine, column = self._table.own_engine(randomness)
            self._engine = SharedEngine(engine), column
        return self._engine


class _SharedScan:
    """One engine for the rows of several tables, created on first use."""

    def __init__(self, tables: list[SourceTable]) -> None:
        self._tables, self._open_tables = tables, len(tables)
        self._close: Callable[[], None] | None = None  # ends what is shared and no table began
        self._engine: QueryEngine | None = None
        #: Each once, if several tables read it for the same domain.
        self._columns: list[ColumnSpec] = []
        for table in tables:
            spec = ColumnSpec(table.selection.values[0], table.domain, table.categories)
            if spec not in self._columns:
                self._columns.append(spec)
            table.shared = partial(self._engine_of, self._columns.index(spec))
            table.close = partial(self._leave, table.close)

    def _engine_of(self, column: int, randomness: Randomness) -> tuple[Engine, int]:
        if self._engine is None:
            first = self._tables[0]
            rows = first.query_rows(self._adapter(first), self._columns, randomness)
            self._engine = QueryEngine(rows)
        return self._engine, column

    def _adapter(self, first: SourceTable) -> QueryAdapter:
        """The adapter of the first table, or of a file that is opened for the columns of all."""
        if not is_path(first.data):
            adapter: QueryAdapter = first.adapter
            return adapter
        values = tuple(dict.fromkeys(column.name for column in self._columns))
        selection = first.selection
        condition = () if selection.where is None else selection.where.columns
        unit = () if selection.unit is None else (selection.unit,)
        names = list(dict.fromkeys([*values, *selection.by, *unit, *condition]))
        path = first.open(names, values)
        self._close = path.close
        adapter = query_adapter(first.nw, rows_of(first.nw, path))
        self._close = close_after(adapter.drop, path.close)
        return adapter

    def _leave(self, close: Callable[[], None] | None) -> None:
        """End what one table began; the last one ends what is shared as well."""
        if close is not None:
            close()
        self._open_tables -= 1
        if self._open_tables == 0 and self._close is not None:
            self._close()


class SharedEngine:
    """Engine for several releases with the same requests: each request is answered once, for all
    groups together.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._known: dict[tuple[int, Request[Answer]], Answer] = {}

    @property
    def groups(self) -> int:
        """Number of groups."""
        return self._engine.groups

    @property
    def max_records(self) -> int:
        """Number of records of the largest group, or more."""
        return self._engine.max_records

    def blocks(self) -> list[Ints]:
        """All groups in one piece."""
        return [np.arange(self.groups)]

    def answer(self, requests: Sequence[ColumnRequest]) -> list[Answer]:
        """One answer for each request."""
        everyone = np.arange(self.groups)
        unknown = dict.fromkeys(
            (column, request)
            for column, _, request in requests
            if (column, request) not in self._known
        )
        asked = [ColumnRequest(column, everyone, request) for column, request in unknown]
        if asked:
            self._known |= dict(zip(unknown, self._engine.answer(asked), strict=True))
        return [
            _about_groups(self._known[column, request], groups)
            for column, groups, request in requests
        ]


def _about_groups(answer: Answer, groups: Ints) -> Answer:
    """The part of an answer that is about some groups."""
    if isinstance(answer, GroupedCounts):
        return answer.take(groups)
    return cast(Answer, [answer[group] for group in groups.tolist()])
