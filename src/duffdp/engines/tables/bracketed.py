"""Ranks of a table without groups by a sample: it brackets them, and one pass counts what lies
before a bracket and what is inside.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from duffdp.domain import Ints, Ordered
from duffdp.engines.arrays import trim, wanted
from duffdp.engines.source import Ranks
from duffdp.engines.tables import streamed
from duffdp.engines.tables.lazy_rows import LazyRows
from duffdp.engines.tables.names import COUNT, INDEX, LOW

FEW = 2**12  # candidates that are counted in one pass without a bracket
LEAST = 2**10  # records of a sample that says enough

Rank = tuple[Fraction, int]
Bracket = tuple[int, int]  # first and last candidate


def near_ranks(lazy: LazyRows, ranks: Sequence[Rank]) -> dict[Rank, Ranks]:
    """Those of the wanted ranks that a bracket covers."""
    grid = lazy.domain
    assert isinstance(grid, Ordered)
    if grid.size > FEW:
        sample = lazy.sample(grid)
        if sample is None or len(sample) < LEAST:
            return {}
        sample.sort()
        brackets = [_bracket(sample, grid.size, *rank) for rank in ranks]
    elif lazy.streamed_as:
        brackets = [(0, grid.size - 1)] * len(ranks)
    else:
        return {}
    if lazy.streamed_as:
        found = streamed.ranks_within(lazy, ranks, brackets)
    else:
        found = [_within(lazy, *both) for both in zip(ranks, brackets, strict=True)]
    return {rank: near for rank, near in zip(ranks, found, strict=True) if near is not None}


def _bracket(sample: Ints, size: int, q: Fraction, reach: int) -> Bracket:
    """Two candidates that very likely enclose a rank, by a sample in order."""
    many, share = len(sample), float(q)
    # Blocks are not independent: wide.
    half = 6 * math.sqrt(many * share * (1 - share) + 4) + reach * 1e-6 * many + 1
    low, high = math.floor(share * many - half), math.ceil(share * many + half)
    return int(sample[low]) if low >= 0 else 0, int(sample[high]) if high < many else size - 1


def _within(lazy: LazyRows, rank: Rank, bracket: Bracket) -> Ranks | None:
    """The wanted rank; None if the sample misled."""
    near = _around(lazy, *bracket)
    low, high = wanted(*rank, near.total)
    inside = near.below + int(near.counts.sum())
    before = near.first > 0 and near.below > low
    beyond = near.last < lazy.domain.size - 1 and inside < high
    return None if before or beyond else trim(near, low, high)


def _around(lazy: LazyRows, first: int, last: int) -> Ranks:
    """What lies from one candidate to another, and how many records lie before and in all."""
    grid, fetch = lazy.domain, lazy.engine.fetch
    assert isinstance(grid, Ordered)
    apart = lazy.engine.counts_apart
    rows = (lazy.between if apart else lazy.placed)(grid, first, last)
    got = fetch(rows.group_by(INDEX).agg(lazy.nw.len().alias(COUNT)))
    index, count = (np.array(list(map(int, got[name])), dtype=np.int64) for name in (INDEX, COUNT))
    order = np.argsort(index)
    index, count = index[order], count[order]
    if apart:
        known = fetch(lazy.before(grid, first))
        return Ranks(index, count, int(known[LOW][0]), int(known[COUNT][0]), first, last)
    inside = (index >= 0) & (index < grid.size)
    total, below = int(count.sum()), int(count[index < 0].sum())
    return Ranks(index[inside], count[inside], below, total, first, last)
