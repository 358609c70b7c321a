"""Counts of records in cells of candidates, for all columns and groups in one query."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import reduce
from operator import or_
from typing import Any, NamedTuple

import numpy as np

from duffdp._engines.libraries import Expression, Frame
from duffdp._engines.queries.expressions import bin_expression, rounded_down
from duffdp._engines.queries.names import COLUMN_NAME, COUNT, GROUP, HIGHS, INDEX, INDEXES, LOWS
from duffdp._engines.queries.ranks import Ranges, group_counts
from duffdp._engines.queries.rows import Limits, QueryRows, whole_numbers
from duffdp._engines.requests import GroupedCounts
from duffdp.domain import Array, Ints
from duffdp.domain.bins import Thresholds

MAX_LISTED_BUCKETS = 2**12  # buckets that a query lists


class CellQuery(NamedTuple):
    """Cells of one column: buckets of 2**shift candidates (in some ranges or everywhere), or the
    ranges between consecutive candidates of `starts`.
    """

    column: int
    shift: int = 0
    ranges: Ranges | None = None
    starts: tuple[int, ...] | None = None


def count_cells(
    rows: QueryRows, queries: Sequence[CellQuery], groups: Ints | None = None
) -> list[GroupedCounts]:
    """Number of records in each nonempty cell of the queries: in every group, or only in some
    `groups`.
    """
    if len(queries) > 1 and not rows.adapter.side_by_side:
        return [count_cells(rows, [cells], groups)[0] for cells in queries]
    limits = None if rows.groups == 1 else _limits(queries, groups, rows.groups)
    if len(queries) == 1:
        # Rows without a value are left out early, and no column has to be told from others.
        (cells,) = queries
        frame, by = rows.in_groups(_single_column(rows, cells), limits)
        inside = _inside(rows, cells, 0)
        frame = frame if inside is None else frame.filter(inside)
        bucketed = cells.ranges is None and cells.starts is None
        cell = rows.nw.col(INDEXES.format(cells.column)) if bucketed else _cell(rows, cells)
        results = frame.select(*by, cell.alias(INDEX)).group_by(*by, INDEX)
        fetched = rows.fetch(results.agg(rows.nw.len().alias(COUNT)), by)
        return [_grouped(rows, fetched, slice(None))]
    names = [INDEXES.format(number) for number in range(len(queries))]
    frame, by = rows.in_groups(rows.side_by_side(sorted({c.column for c in queries})), limits)
    columns = []
    for number, (name, cells) in enumerate(zip(names, queries, strict=True)):
        present = ~rows.nw.col(INDEXES.format(cells.column)).is_null()
        inside = _inside(rows, cells, number)
        cell = rows.nw.when(present if inside is None else inside).then(_cell(rows, cells))
        columns.append(cell.alias(name))
    fetched = rows.fetch(rows.adapter.counts(frame.select(*by, *columns), names, by), by)
    column_names = np.array(fetched[COLUMN_NAME], dtype=str)
    return [_grouped(rows, fetched, column_names == name) for name in names]


def _single_column(rows: QueryRows, cells: CellQuery) -> Frame:
    """The rows of the column, bucketed if all count; without those outside of the range if every
    group has one.
    """
    column, shift, ranges, starts = cells
    if ranges is None:
        return rows.column_rows(column, shift=0 if starts is not None else shift)
    if len(ranges.lows) > 1:
        return rows.column_rows(column)
    has_range = ranges.highs[0] >= ranges.lows[0]
    return rows.column_rows(
        column, int(ranges.lows[0][has_range].min()), int(ranges.highs[0].max())
    )


def _cell(rows: QueryRows, cells: CellQuery) -> Expression:
    """The cell of a candidate, as an expression."""
    index = rows.nw.col(INDEXES.format(cells.column))
    if cells.starts is None:
        return rounded_down(index, cells.shift)
    last = Fraction(rows.sizes[cells.column] - 1)
    edges = Thresholds.of((*map(Fraction, cells.starts), last))
    return bin_expression(rows.nw, index, rows.nw.Int64, edges)


def _inside(rows: QueryRows, cells: CellQuery, number: int) -> Expression | None:
    """Expression that is true for candidates in the ranges of their group; None if all count."""
    nw, ranges = rows.nw, cells.ranges
    if ranges is None:
        return None
    index = nw.col(INDEXES.format(cells.column))
    parts = len(ranges.lows)
    if rows.groups == 1 and parts > 1 and len(ranges.buckets) <= MAX_LISTED_BUCKETS:
        # Looked up in a list, an index is computed once and not for each end of a range.
        return rounded_down(index, ranges.shift).is_in(ranges.buckets.tolist())
    ends: list[tuple[Expression | int, Expression | int]]
    if rows.groups == 1:
        ends = list(zip(ranges.lows[:, 0].tolist(), ranges.highs[:, 0].tolist(), strict=True))
    else:
        names = ((LOWS.format(number, p), HIGHS.format(number, p)) for p in range(parts))
        ends = [(nw.col(low), nw.col(high)) for low, high in names]
    return reduce(or_, ((index >= low) & (index <= high) for low, high in ends))


def _limits(queries: Sequence[CellQuery], groups: Ints | None, size: int) -> Limits | None:
    """The groups that a query is about with the ranges of each; None if it is about all rows."""
    if groups is not None:
        return None if len(groups) == size else {GROUP: groups.tolist()}
    ranges = {n: cells.ranges for n, cells in enumerate(queries) if cells.ranges is not None}
    if not ranges:
        return None
    has_range = np.zeros(size, dtype=bool)
    for part_ranges in ranges.values():
        has_range |= (part_ranges.highs >= part_ranges.lows).any(axis=0)
    limits: Limits = {GROUP: has_range.nonzero()[0].tolist()}
    for number, part_ranges in ranges.items():
        for part, (low, high) in enumerate(zip(part_ranges.lows, part_ranges.highs, strict=True)):
            limits[LOWS.format(number, part)] = low[has_range].tolist()
            limits[HIGHS.format(number, part)] = high[has_range].tolist()
    return limits


def _grouped(rows: QueryRows, fetched: dict[str, Any], entries: Array | slice) -> GroupedCounts:
    index, count = (whole_numbers(fetched[name])[entries] for name in (INDEX, COUNT))
    group = whole_numbers(fetched[GROUP])[entries] if GROUP in fetched else np.zeros_like(index)
    return group_counts(group, index, count, rows.groups)
