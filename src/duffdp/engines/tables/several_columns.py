"""Several columns of one lazy table side by side, each as candidates of a domain of its own: one
query is about all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from duffdp.domain import Ints, PublicSet
from duffdp.engines.tables.adapters.query import QueryEngine
from duffdp.engines.tables.descent import answered, in_order, whole
from duffdp.engines.tables.lazy_rows import Candidates, GroupedRows
from duffdp.engines.tables.names import (
    CANDIDATES,
    COLUMN,
    COUNT,
    GROUP,
    INDEX,
    PERSON,
    PRESENT,
    VALUES,
)
from duffdp.engines.tables.public_values import Known

Limits = dict[str, list[int]]
Counts = dict[tuple[int, int], tuple[Ints, Ints]]  # by column and group: indices and numbers


class SeveralColumns(GroupedRows):
    """The rows of one lazy table that a selection names, with an index for each of its columns;
    it is missing where a row does not count for that column.

    Parameters
    ----------
    nw, engine
        narwhals, and the adapter of the engine.
    rows
        VALUES, the columns of groups, and PERSON if people are asked for, in a frame of narwhals.
    keys
        Public values as the columns of groups hold them.
    given
        What each of the columns is called where it comes from: some may be the same.
    columns
        The domain of each column and, if it has some, the public values that the column holds.
    most, order
        How many rows of a person count, and two random keys that decide which.
    """

    def __init__(
        self,
        nw: Any,
        engine: QueryEngine,
        rows: Any,
        keys: Known | None,
        given: Sequence[str],
        columns: Sequence[tuple[PublicSet, Known | None]],
        most: int,
        order: tuple[int, ...],
    ) -> None:
        schema = rows.collect_schema()
        values = [VALUES.format(at) for at in range(len(columns))]
        super().__init__(nw, engine, keys, schema, values)
        self.names = [CANDIDATES.format(at) for at in range(len(columns))]
        self.sizes = [domain.size for domain, _ in columns]
        rows = self.present(rows, schema, (PERSON,))
        every = [
            Candidates(nw, engine, value, index, schema[value], *how)
            for value, index, how in zip(values, self.names, columns, strict=True)
        ]
        first: dict[str, str] = {}  # values that are capped before they are snapped, each once
        capped, after = [], []
        for name, made in zip(given, every, strict=True):
            if not (self.has_people and engine.caps_values and made.missing_as_given):
                rows = made.beside(rows, PRESENT)
                capped.append(made.index)
                continue
            if name not in first:
                first[name] = made.value
                rows = made.without_nan(rows)
                capped.append(made.value)
            after.append(replace(made, value=first[name]))
        people = [PERSON] if self.has_people else []
        rows = rows.select(*self.by, *people, *capped)
        if not self.late:
            rows = self.joined(rows)
        if people:
            rows = engine.cap_each(rows, order, most, capped).drop(PERSON)
            for made in after:
                rows = made.beside(rows, PRESENT)
            rows = engine.stored(rows.select(*([GROUP] if self.by else []), *self.names))
        self._rows = rows

    def counts(self, wanted: Mapping[int, Any], limits: Limits | None = None) -> Counts:
        """For every column that is wanted and every group, how often each value of an expression
        occurs; where it is missing, a row does not count.

        With `limits`, columns of numbers that expressions may use, in groups that they name.
        """
        names = {self.names[at]: at for at in wanted}
        rows, by = self._of_groups(limits)
        rows = rows.select(*by, *(wanted[at].alias(name) for name, at in names.items()))
        found = self.engine.counts(rows, list(names), by)
        got = self._fetch(self.joined(found) if by == self.by and by else found)
        index, count = whole(got[INDEX]), whole(got[COUNT])
        column = np.array([names[name] for name in got[COLUMN]], dtype=np.int64)
        group = whole(got[GROUP]) if GROUP in got else np.zeros_like(index)
        group, column, index, count = in_order(group, column, index, count)
        every = [(at, g) for g in range(self.groups) for at in range(len(self.names))]
        ends = np.searchsorted(group * len(self.names) + column, np.arange(len(every) + 1))
        return {
            pair: (index[begin:end], count[begin:end])
            for pair, begin, end in zip(every, ends[:-1], ends[1:], strict=True)
            if pair[0] in wanted
        }

    def sums(
        self, with_levels: Callable[[Any], Any], aggregates: list[Any], limits: Limits | None
    ) -> dict[str, Any]:
        """Aggregates for every group, with GROUP if there are several."""
        rows, by = self._of_groups(limits)
        rows = with_levels(rows)
        if not by:
            return self._fetch(rows.select(*aggregates))
        found = rows.group_by(*by).agg(*aggregates)
        return self._fetch(self.joined(found) if by == self.by else found)

    def of_group(self, group: int) -> Any:
        """The rows of one group."""
        if self.late:
            return self.joined(self._rows, {GROUP: [group]})
        return self._rows if self.groups == 1 else self._rows.filter(self.nw.col(GROUP) == group)

    def fetch_group(self, group: int, *aggregates: Any) -> dict[str, Any]:
        """Aggregates over the rows of one group."""
        return self._fetch(self.of_group(group).select(*aggregates))

    def _of_groups(self, limits: Limits | None) -> tuple[Any, list[str]]:
        """Rows, and the columns that tell their groups; with limits, if they are given."""
        if limits is None:
            return self._rows, self.by if self.late else [GROUP] if self.groups > 1 else []
        if self.late:
            return self.joined(self._rows, limits), [GROUP]
        small = self.engine.literal_frame(self._rows, limits)
        return self._rows.join(small, on=GROUP, how="inner"), [GROUP]

    def _fetch(self, rows: Any) -> dict[str, Any]:
        return answered(self.engine.fetch, rows)
