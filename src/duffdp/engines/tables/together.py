"""Tables of several releases that are about the same rows: they are read together."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from duffdp.domain import PublicSet
from duffdp.engines.files import unreadable
from duffdp.engines.query import open_source
from duffdp.engines.source import Tally
from duffdp.engines.tables.adapters import query_adapter
from duffdp.engines.tables.names import KEY, MOST_COLUMNS, PERSON, VALUES
from duffdp.engines.tables.passes import PassColumn, Passes
from duffdp.engines.tables.people import Randomness
from duffdp.engines.tables.public_values import Known
from duffdp.engines.tables.several_columns import SeveralColumns
from duffdp.engines.tables.table import Table


def read_together(tables: Sequence[Any]) -> None:
    """Let those that are about the same rows, in the same groups and for the same people, be read
    by the same passes.
    """
    alike: dict[Any, list[Table]] = {}
    for table in tables:
        if isinstance(table, Table) and table.can_be_shared:
            alike.setdefault(table.rows_asked_for, []).append(table)
    for some in alike.values():
        for begin in range(0, len(some), MOST_COLUMNS):
            _share(some[begin : begin + MOST_COLUMNS])


def _share(tables: list[Table]) -> None:
    if len(tables) > 1:
        shared = _Shared(tables)
        for table in tables:
            table.shared = partial(shared.sources, table)
            table.close = partial(shared.leave, table.close)


class _Shared:
    """The rows of several tables, read when the first of them is asked for its sources."""

    def __init__(self, tables: list[Table]) -> None:
        self._tables, self._left = tables, len(tables)
        self._end: Callable[[], None] | None = None  # what is shared and no table began
        self._passes: Passes | None = None
        #: Columns with the domains that they are read for, each once.
        self._columns: list[tuple[str, PublicSet, Known | None]] = []
        for table in tables:
            if self._asked(table) not in self._columns:
                self._columns.append(self._asked(table))

    def sources(self, table: Table, source: Randomness) -> list[Tally]:
        """One source of counts for each key, in order; one in all without keys."""
        if self._passes is None:
            self._passes = Passes(self._read(source))
        column = self._columns.index(self._asked(table))
        groups = range(self._passes.rows.groups)
        return [PassColumn(self._passes, column, group) for group in groups]

    def leave(self, close: Callable[[], None] | None) -> None:
        """End what one table began; the last one ends what is shared as well."""
        if close is not None:
            close()
        self._left -= 1
        if self._left == 0 and self._end is not None:
            self._end()

    @staticmethod
    def _asked(table: Table) -> tuple[str, PublicSet, Known | None]:
        return table.selection.values[0], table.domain, table.categories

    def _read(self, source: Randomness) -> SeveralColumns:
        (first, *_), values = self._tables, [column for column, _, _ in self._columns]
        selection, nw = first.selection, first.nw
        keys = map(KEY.format, range(len(selection.by)))
        columns = {VALUES.format(at): name for at, name in enumerate(values)}
        columns |= dict(zip(keys, selection.by, strict=True))
        order: tuple[int, ...] = ()
        if selection.unit is not None:
            columns[PERSON] = selection.unit
            # Two signed 64-bit numbers, for a keyed hash that is the same in every query.
            order = tuple(source.words(2).view(np.int64).tolist())
        adapter = first.adapter
        if isinstance(first.data, str | os.PathLike):
            asked = () if selection.where is None else selection.where.columns
            needed = list(dict.fromkeys([*columns.values(), *asked]))
            path = open_source(
                first.data, needed, values=tuple(values), kind=first.kind, person=selection.unit
            )
            self._end = path.close
            try:
                adapter = query_adapter(nw, nw.from_native(path.rows()))
            except Exception as error:
                raise unreadable(path.name, error) from None
            self._end = path.close or adapter.drop
        kept = first.kept is not None
        rows = first.found(adapter, columns) if kept else adapter.rows(columns)
        domains = [(domain, categories) for _, domain, categories in self._columns]
        most = selection.contributions
        return SeveralColumns(nw, adapter, rows, first.keys, values, domains, most, order)
