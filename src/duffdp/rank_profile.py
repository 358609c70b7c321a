"""Candidates with the number of records before them, in windows around several quantiles."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from duffdp.domain import Ints

# A candidate with many records is split into at most 2**FINEST parts of about three records each, so that a quantile within
# a tie finds a part a few records away, whatever the number of ties. Ranks fit 64 bits up to 2**37 records.
FINEST = 24
UNIT = 2 << FINEST  # ranks are whole numbers of 1 / UNIT of a record


@dataclass(frozen=True, slots=True)
class RankProfile:
    """Runs in domain order: neighbouring candidates that no record tells apart, or a part of one candidate.

    Run i holds `cells[i]` candidates from `start[i]` on, or, of the `parts[i]` equal parts of candidate `start[i]`, the one
    numbered `part[i]`; `rank[i]` is the number of records before it in units of 1 / UNIT. For quantile j the runs from `low[j]`
    up to, not including, `high[j]` are its window, which reaches about `reach` ranks to both sides; any place outside it is at
    least `away[j]` records away from the wanted rank (infinitely many if there is none outside). `rank_of` tells the records
    before and at any candidate, by a pass over the data.
    """

    qs: tuple[Fraction, ...]
    size: int
    total: int
    reach: int
    start: Ints
    cells: Ints
    part: Ints
    parts: Ints
    rank: Ints
    low: list[int]
    high: list[int]
    away: list[float]
    rank_of: Callable[[int], tuple[int, int]]

    def holds(self, j: int, cell: int, rank: int) -> bool:
        """Whether a place, the candidate and its rank, lies in the window of quantile j: no two runs have the same rank."""
        run = int(np.searchsorted(self.rank, rank))
        if not self.low[j] <= run < self.high[j] or self.rank[run] != rank:
            return False
        return bool(self.start[run] <= cell < self.start[run] + self.cells[run])

    def rank_at(self, cell: int, part: int) -> int:
        """Records before one of the 2**FINEST finest parts of a candidate, in units of 1 / UNIT: one pass."""
        before, equal = self.rank_of(cell)
        records = np.array([equal])
        own = part * part_count(records) >> FINEST
        return UNIT * before + int(part_ranks(records, own)[0])


def part_count(records: Ints) -> Ints:
    """Into how many parts a candidate with so many records is split: 1 up to three records, then about half as many."""
    parts: Ints = np.ones(len(records), dtype=np.int64)
    for level in range(1, FINEST + 1):
        if not (more := records >= 2 ** (level + 1)).any():
            break
        parts[more] = 2**level
    return parts


def part_ranks(records: Ints, part: Ints) -> Ints:
    """How many of the records at a candidate lie before a part of it, in units of 1 / UNIT.

    The e-th record at a candidate lies evenly over the `part_count(e)` parts that the candidate has once it joined, half of
    each share before and half after the part. So one more record adds a non-decreasing function of the place, from 0 to 1.
    """
    parts = part_count(records)
    rank: Ints = np.minimum(records, 3) * (UNIT // 2)
    for level in range(1, FINEST + 1):
        many = np.maximum(records + 1 - 2 ** (level + 1), 0)
        if not many.any():
            break
        many = many if level == FINEST else np.minimum(many, 2 ** (level + 1))
        coarse = np.where(parts >= 2**level, part * 2**level // parts, 0)
        rank = rank + many * (2 * coarse + 1) * 2 ** (FINEST - level)
    return rank
