"""Ranks of a table without groups by a sample, in two short queries: one counts the records before
a bracket and in all, the other one counts the values inside. A search by buckets takes longer ones.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from duffdp._engines.arrays.column import SMALL_HISTOGRAM, sample_bracket
from duffdp._engines.arrays.ranks import trim
from duffdp._engines.libraries import DataType, Expression, Frame, Narwhals
from duffdp._engines.queries.expressions import reaches_expression
from duffdp._engines.queries.names import BELOW, COUNT, INDEX
from duffdp._engines.queries.ranks import Target
from duffdp._engines.queries.rows import QueryRows, run_query, whole_numbers
from duffdp._engines.queries.streams import StreamColumn, snapped_sample
from duffdp._engines.requests import Ranks, rank_span
from duffdp.domain import Ordered


def bracketed_ranks(rows: QueryRows, targets: Sequence[Target]) -> Ranks | None:
    """The ranks near one target; None if the engine has no sample, or it misled."""
    (column, *other_columns), domain = rows.columns, rows.columns[0].domain
    if (
        len(targets) > 1
        or rows.by
        or rows.has_people
        or other_columns
        or not isinstance(domain, Ordered)
    ):
        return None
    if domain.size <= SMALL_HISTOGRAM or not column.dtype.is_numeric():
        return None
    sample, (target,) = run_query(snapped_sample, rows), targets
    if sample is None:
        return None
    index, share = sample
    index.sort()
    bracket = sample_bracket(index, share, domain.size, *target, StreamColumn.margin)
    ranks = _count_inside(rows, domain, *bracket)
    low, high = (end.item() for end in rank_span(*target, np.array([ranks.total])))
    after = ranks.below + int(ranks.counts.sum())
    misses_low = ranks.first > 0 and ranks.below > low
    misses_high = ranks.last < domain.size - 1 and after <= high
    return None if misses_low or misses_high else trim(ranks, domain.size, low, high)


def _count_inside(rows: QueryRows, grid: Ordered, first: int, last: int) -> Ranks:
    """All values from one candidate to another, with how many records lie before and in all."""
    nw, (column,) = rows.nw, rows.columns
    frame, values, dtype = column.numbers(rows.present(), grid)
    inside = column.between(frame, values, dtype, first, last)
    inside = inside.select(column.snapped(values, dtype).alias(INDEX))
    fetched = rows.fetch(inside.group_by(INDEX).agg(nw.len().alias(COUNT)))
    index, counts = (whole_numbers(fetched[name]) for name in (INDEX, COUNT))
    order = np.argsort(index)
    totals = rows.fetch(_totals_before(nw, grid, frame, values, dtype, first))
    below, total = (int(totals[name][0]) for name in (BELOW, COUNT))
    return Ranks(index[order], counts[order], below, total, first, last)


def _totals_before(
    nw: Narwhals, grid: Ordered, rows: Frame, values: Expression, dtype: DataType, first: int
) -> Frame:
    """Number of rows before a candidate (BELOW) and in all (COUNT)."""
    reaches = None if first == 0 else reaches_expression(nw, values, dtype, grid, first)
    if reaches is None:  # all or none of them: no need to count
        return rows.select(nw.len().alias(COUNT), (nw.len() * int(first > 0)).alias(BELOW))
    before = nw.when(reaches).then(nw.lit(0)).otherwise(nw.lit(1))
    return rows.select(nw.len().alias(COUNT), before.sum().alias(BELOW))
