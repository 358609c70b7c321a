"""Candidates with the number of records before them, in windows around several quantiles."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

import numpy as np

from duffdp.domain import Ints

# A candidate with many records is split into at most 2**FINEST parts of about three records each,
# so that a quantile within
# a tie finds a part a few records away, whatever the number of ties. Ranks fit 64 bits up to 2**37
# records.
FINEST = 24
UNIT = 2 << FINEST  # ranks are whole numbers of 1 / UNIT of a record


class Ranks(Protocol):
    """All values from candidate `first` to candidate `last`: distinct indices with counts, and
    how many lie before.
    """

    @property
    def values(self) -> Ints: ...
    @property
    def counts(self) -> Ints: ...
    @property
    def below(self) -> int: ...
    @property
    def total(self) -> int: ...
    @property
    def first(self) -> int: ...
    @property
    def last(self) -> int: ...


@dataclass(frozen=True, slots=True)
class RankProfile:
    """Runs in domain order: neighbouring candidates that no record tells apart, or a part of one
    candidate.

    Run i holds `cells[i]` candidates from `start[i]` on, or, of the `parts[i]` equal parts of
    candidate `start[i]`, the one numbered `part[i]`; `rank[i]` is the number of records before it
    in units of 1 / UNIT. For quantile j the runs from `low[j]` up to, not including, `high[j]` are
    its window, which reaches about `reach` ranks to both sides; any place outside it is at least
    `away[j]` records away from the wanted rank (infinitely many if there is none outside).
    `rank_of` tells the records before and at any candidate, by a pass over the data.
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

    @classmethod
    def of(
        cls,
        near: Sequence[Ranks],
        qs: tuple[Fraction, ...],
        reach: int,
        size: int,
        rank_of: Callable[[int], tuple[int, int]],
    ) -> RankProfile:
        """The profile of a column, from the values near every quantile."""
        windows = [_window(ranks, q, reach, size) for ranks, q in zip(near, qs, strict=True)]
        start, cells, part, parts, rank = _joined([runs for runs, _ in windows])
        return cls(
            qs=qs,
            size=size,
            total=near[0].total,
            reach=reach,
            start=start,
            cells=cells,
            part=part,
            parts=parts,
            rank=rank,
            low=[int(np.searchsorted(rank, runs[-1, 0])) for runs, _ in windows],
            high=[int(np.searchsorted(rank, runs[-1, -1])) + 1 for runs, _ in windows],
            away=[away for _, away in windows],
            rank_of=rank_of,
        )

    def holds(self, j: int, cell: int, rank: int) -> bool:
        """Whether a place, the candidate and its rank, lies in the window of quantile j: no two
        runs have the same rank.
        """
        run = int(np.searchsorted(self.rank, rank))
        if not self.low[j] <= run < self.high[j] or self.rank[run] != rank:
            return False
        return bool(self.start[run] <= cell < self.start[run] + self.cells[run])

    def rank_at(self, cell: int, part: int) -> int:
        """Records before one of the 2**FINEST finest parts of a candidate, in units of 1 / UNIT:
        one pass.
        """
        before, equal = self.rank_of(cell)
        records = np.array([equal])
        own = part * part_count(records) >> FINEST
        return UNIT * before + int(part_ranks(records, own)[0])


def part_count(records: Ints) -> Ints:
    """Into how many parts a candidate with so many records is split: 1 up to three records, then
    about half as many.
    """
    parts: Ints = np.ones(len(records), dtype=np.int64)
    for level in range(1, FINEST + 1):
        if not (more := records >= 2 ** (level + 1)).any():
            break
        parts[more] = 2**level
    return parts


def part_ranks(records: Ints, part: Ints) -> Ints:
    """How many of the records at a candidate lie before a part of it, in units of 1 / UNIT.

    The e-th record at a candidate lies evenly over the `part_count(e)` parts that the candidate has
    once it joined, half of each share before and half after the part. So one more record adds a
    non-decreasing function of the place, from 0 to 1.
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


def _window(near: Ranks, q: Fraction, reach: int, size: int) -> tuple[Ints, float]:
    """Gaps and candidates with records from `near.first` to `near.last`, as start, cells, part,
    parts and rank of runs; and the fewest records between the wanted rank and any place outside."""
    values, counts = near.values, near.counts
    many = len(values)
    start, cells, records, rank = np.zeros((4, 2 * many + 1), dtype=np.int64)
    start[0] = near.first
    start[1::2], start[2::2] = values, values + 1
    cells[:-1] = start[1:] - start[:-1]
    cells[-1] = near.last + 1 - start[-1]
    records[1::2] = counts
    rank[0] = near.below
    rank[1:] = near.below + np.cumsum(records)[:-1]
    parts = np.ones(2 * many + 1, dtype=np.int64)
    parts[1::2] = part_count(counts)
    begin, end = np.zeros_like(parts), parts.copy()
    kept = cells > 0
    wanted = q * near.total
    cut_low, cut_high = near.first > 0, near.last < size - 1
    upto = near.below + int(counts.sum())
    if many:  # of a tie that goes on outside, the parts near the wanted rank are enough
        first = _part_near(wanted - reach - near.below, int(counts[0]), int(parts[1]), -1)
        last = _part_near(wanted + reach - int(rank[-2]), int(counts[-1]), int(parts[-2]), 1) + 1
        if first > 0:
            begin[1], kept[0], cut_low = first, False, True
        if last < parts[-2]:
            end[-2], kept[-1], cut_high = last, False, True
    start, cells, records, rank, parts, begin, end = (
        column[kept] for column in (start, cells, records, rank, parts, begin, end)
    )
    length = end - begin
    part = np.arange(length.sum()) - np.repeat(np.cumsum(length) - length - begin, length)
    start, cells, records, rank, parts = (
        np.repeat(column, length) for column in (start, cells, records, rank, parts)
    )
    rank = UNIT * rank + np.where(records > 0, part_ranks(records, part), 0)
    below = near.below if part[0] == 0 else Fraction(int(rank[0]), UNIT)
    above = upto if part[-1] == parts[-1] - 1 else Fraction(int(rank[-1]), UNIT)
    sides = [wanted - below] * cut_low + [above - wanted] * cut_high
    return np.stack([start, cells, part, parts, rank]), float(min(sides, default=float("inf")))


def _joined(windows: list[Ints]) -> Ints:
    """One of each run, in order. Runs of the same rank are the same part, or lie in the same gap
    and become one.
    """
    if len(windows) == 1:
        return windows[0]
    runs = np.concatenate(windows, axis=1)
    start, cells, part, parts, rank = runs[:, np.argsort(runs[-1], kind="stable")]
    begin = np.flatnonzero(np.append(True, rank[1:] != rank[:-1]))
    first = np.minimum.reduceat(start, begin)
    beyond = np.maximum.reduceat(start + cells, begin)
    return np.stack([first, beyond - first, part[begin], parts[begin], rank[begin]])


def _part_near(records: Fraction, equal: int, parts: int, side: int) -> int:
    """A part of a candidate with no fewer (side 1), or no more (side -1), than so many records
    before it, if there is one.

    Of `equal` records spread evenly, `equal * (part + 1/2) / parts` lie before a part; each time
    that parts were halved moves this by at most one record, and the first three by two.
    """
    place = (records + side * (FINEST + 2)) * parts / equal + side
    return min(max(math.floor(place), 0), parts - 1)
