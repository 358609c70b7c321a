"""Candidates with the number of records before them, in windows around several quantiles."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Protocol

import numpy as np

from duffdp.domain import Ints

# A candidate with many records is split into at most 2**FINEST parts of about three records each,
# so that a quantile within
# a tie finds a part a few records away, whatever the number of ties. Ranks fit 64 bits up to 2**37
# records.
FINEST = 24
Runs = tuple[Ints, Ints, Ints, Ints, Ints]  # start, cells, part, parts, rank
UNIT = 2 << FINEST  # ranks are whole numbers of 1 / UNIT of a record
# Blocks are for speed alone; m is the number of quantiles. Ranks in a block differ by so little
# that the weights of m places differ by a nat in FINENESS; blocks grow with their distance from a
# quantile by GROWTH / m of it; and no block holds more than 1 / (PIECES m) of the domain, so that
# few places share one, unless quantiles lie ROOM nats more than any domain has apart.
FINENESS, GROWTH, PIECES, ROOM = 8, 2 / 3, 8, 10.0
SIDE_BY_SIDE = 8  # from so many columns on, windows of all of them are weighed together


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
class NearRanks:
    """The values near every quantile of a column or, as one, near all; the other fields are those
    of its `RankProfile`.
    """

    qs: tuple[Fraction, ...]
    records: int | None
    size: int
    total: int
    reach: int
    ranks: Sequence[Ranks]
    rank_of: Callable[[int], tuple[int, int]]
    wider: Callable[[int], RankProfile]

    def profile(self, epsilon: float) -> RankProfile:
        """The runs that the values make, with blocks that suit this epsilon."""
        return RankProfile.of(self, epsilon)


@dataclass(frozen=True, slots=True)
class RankProfile:
    """Runs in domain order: neighbouring candidates that no record tells apart, or a part of one
    candidate.

    Run i holds `cells[i]` candidates from `start[i]` on, or, of the `parts[i]` equal parts of
    candidate `start[i]`, the one numbered `part[i]`; `rank[i]` is the number of records before it
    in units of 1 / UNIT. For quantile j the runs from `low[j]` up to, not including, `high[j]` are
    its window, which reaches about `reach` ranks to both sides and has no holes, and at the runs
    `blocks[j]` begin the blocks of it that are weighed together. `rank_of` tells the records before
    and at any candidate, by a pass over the data, and `wider` the profile with another reach.
    `records` is the number of records that is public by now, if one is; `total` is the true one.
    """

    qs: tuple[Fraction, ...]
    records: int | None
    size: int
    total: int
    reach: int
    start: Ints
    cells: Ints
    part: Ints
    parts: Ints
    rank: Ints
    low: Ints
    high: Ints
    blocks: list[Ints]
    rank_of: Callable[[int], tuple[int, int]]
    wider: Callable[[int], RankProfile]

    @classmethod
    def of(cls, column: NearRanks, epsilon: float) -> RankProfile:
        """The profile of a column, from the values near every quantile or, as one, near all."""
        near, qs, size, reach = column.ranks, column.qs, column.size, column.reach
        total = column.total
        if len(near) == len(qs):
            windows = [_window(ranks, q, reach) for ranks, q in zip(near, qs, strict=True)]
        else:
            windows = [_window(near[0], Fraction(1, 2), total)]
        start, cells, part, parts, rank = _joined(windows)
        low = np.searchsorted(rank, [runs[-1][0] for runs in windows])
        high = np.searchsorted(rank, [runs[-1][-1] for runs in windows]) + 1
        ends = [[math.floor(UNIT * (q * total + side * reach)) for q in qs] for side in (-1, 1)]
        # One run more than the reach asks for, so that no window is empty.
        first = np.searchsorted(rank, ends[0], side="right") - 1
        last = np.searchsorted(rank, ends[1]) + 1
        low, high = np.clip(first, low, high - 1), np.clip(last, low + 1, high)
        runs = cls(
            qs,
            column.records,
            size,
            total,
            reach,
            *(start, cells, part, parts, rank),
            low,
            high,
            [],
            column.rank_of,
            column.wider,
        )
        volume = cells / parts * (PIECES * len(qs) / size)
        wide = np.flatnonzero(volume > 1)
        pieces = {run: 1 << math.ceil(math.log2(volume[run])) for run in wide.tolist()}
        return runs.cut(pieces, epsilon)

    def begin(self, run: int) -> int:
        """Where a run begins, in finest parts from the first candidate on."""
        return (int(self.start[run]) << FINEST) + (int(self.part[run]) << FINEST) // int(
            self.parts[run]
        )

    def end(self, run: int) -> int:
        """Where a run ends, in finest parts."""
        return self.begin(run) + (int(self.cells[run]) << FINEST) // int(self.parts[run])

    def find(self, place: int) -> tuple[int, bool]:
        """The last run that begins no later than a place, in finest parts (-1 if none does), and
        whether it holds the place.
        """
        run = bisect_right(range(len(self.rank)), place, key=self.begin) - 1
        return run, run >= 0 and place < self.end(run)

    def rank_at(self, cell: int, part: int) -> int:
        """Records before one of the 2**FINEST finest parts of a candidate, in units of 1 / UNIT:
        one pass.
        """
        return rank_at(self.rank_of, cell, part)

    def cut(self, pieces: dict[int, int], epsilon: float, fineness: int = FINENESS) -> RankProfile:
        """The same with some runs cut, each into about so many (a power of two) of one rank, and
        with blocks that suit this epsilon.
        """
        runs = self._cut(pieces) if pieces else self
        return replace(runs, blocks=_blocks(runs, epsilon / 2, fineness))

    def _cut(self, pieces: dict[int, int]) -> RankProfile:
        many = np.ones(
            (2, len(self.rank)), dtype=np.int64
        )  # stretches of candidates, parts of each
        for run, asked in pieces.items():
            cells, finest = int(self.cells[run]), 2**FINEST // int(self.parts[run])
            each = min(1 << (asked // cells - 1).bit_length(), finest) if asked >= cells else 1
            many[:, run] = min(asked, cells), each
        of = np.repeat(np.arange(len(self.rank)), many.prod(axis=0))
        ahead = np.append(0, np.cumsum(many.prod(axis=0)))
        stretches, parts = many[:, of]
        stretch, part = np.divmod(np.arange(len(of)) - ahead[of], parts)
        step, rest = self.cells[of] // stretches, self.cells[of] % stretches
        return replace(
            self,
            # The first `rest` stretches have one candidate more.
            start=self.start[of] + stretch * step + np.minimum(stretch, rest),
            cells=step + (stretch < rest),
            part=self.part[of] * parts + part,
            parts=self.parts[of] * parts,
            rank=self.rank[of],
            low=ahead[self.low],
            high=ahead[self.high],
        )


def rank_at(rank_of: Callable[[int], tuple[int, int]], cell: int, part: int) -> int:
    """Records before one of the 2**FINEST finest parts of a candidate, in units of 1 / UNIT."""
    before, equal = rank_of(cell)
    records = np.array([equal])
    own = part * part_count(records) >> FINEST
    return UNIT * before + int(part_ranks(records, own)[0])


def _blocks(runs: RankProfile, c: float, fineness: int) -> list[Ints]:
    """For every quantile the runs at which the blocks of its window begin."""
    many = len(runs.qs)
    finest, growth = 1 / (fineness * many), GROWTH / many * FINENESS / fineness
    begin = _shared_begins(runs, max(int(finest * UNIT / c), 1))
    windows = [
        slice(*np.searchsorted(begin, ends)) for ends in zip(runs.low, runs.high, strict=True)
    ]
    shares = np.diff([float(q) for q in runs.qs])
    apart = c * runs.total * float(shares.min(initial=1.0))
    if apart <= math.log(runs.size) + ROOM:
        return [begin[window] for window in windows]
    # Here blocks of different quantiles may overlap: no two places lie near each other.
    near = max(finest, c / 2) / growth  # from here on a block is wider than half a rank
    steps = math.ceil(max(math.log(c * runs.reach / near), 0) / math.log1p(growth)) + 1
    away = (near * (1 + growth) ** np.arange(steps) * (UNIT / c)).astype(np.int64)
    found = []
    for q, window in zip(runs.qs, windows, strict=True):
        wanted, ranks = math.floor(UNIT * runs.total * q), runs.rank[begin[window]]
        before, after = (
            np.searchsorted(ranks, wanted - away[::-1]),
            np.searchsorted(ranks, wanted + away),
        )
        kept = np.concatenate([[0], before, np.arange(before[-1], after[0]), after])
        kept = np.flatnonzero(np.bincount(kept, minlength=len(ranks))[: len(ranks)])
        found.append(begin[window][kept])
    return found


def _shared_begins(runs: RankProfile, room: int) -> Ints:
    """Where blocks begin that all windows can share: at the ends of windows, at steps of `room`
    ranks, and so that none holds much of the domain.
    """
    cut = np.zeros(len(runs.rank) + 1, dtype=bool)
    cut[0] = True
    cut[runs.low] = cut[runs.high] = True
    cut[1:-1] |= runs.rank[1:] == runs.rank[:-1]  # pieces of one run
    volume = np.cumsum(runs.cells / runs.parts) * (PIECES * len(runs.qs) / runs.size)
    for steps in (runs.rank // room, np.floor(volume)):
        cut[1:-1] |= steps[1:] != steps[:-1]
    return np.flatnonzero(cut[:-1])


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


def _window(near: Ranks, q: Fraction, reach: int) -> Runs:
    """Gaps and candidates with records from `near.first` to `near.last`, as start, cells, part,
    parts and rank of runs."""
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
    skipped, listed = np.zeros_like(parts), np.where(cells > 0, parts, 0)
    wanted = q * near.total
    if many:  # of a tie that goes on outside, the parts near the wanted rank are enough
        last = _part_near(wanted + reach - int(rank[-2]), int(counts[-1]), int(parts[-2]), 1) + 1
        if last < parts[-2]:
            listed[-2], listed[-1] = last, 0
        first = _part_near(wanted - reach - near.below, int(counts[0]), int(parts[1]), -1)
        if first > 0:
            skipped[1], listed[0] = first, 0
            listed[1] -= first
    run = np.repeat(np.arange(2 * many + 1), listed)
    part = np.arange(len(run)) - (np.cumsum(listed) - listed - skipped)[run]
    rank = UNIT * rank[run]
    tied = np.flatnonzero(run & 1)  # candidates with records are every other one
    rank[tied] += part_ranks(records[run[tied]], part[tied])
    return start[run], cells[run], part, parts[run], rank


def _joined(windows: list[Runs]) -> Runs:
    """One of each run, in order. Runs of the same rank are the same part, or lie in the same gap
    and become one.
    """
    if len(windows) == 1:
        return windows[0]
    start, cells, part, parts, rank = map(np.concatenate, zip(*windows, strict=True))
    order = np.argsort(rank, kind="stable")
    start, cells, part, parts, rank = (
        column[order] for column in (start, cells, part, parts, rank)
    )
    begin = np.flatnonzero(np.append(True, rank[1:] != rank[:-1]))
    first = np.minimum.reduceat(start, begin)
    beyond = np.maximum.reduceat(start + cells, begin)
    return first, beyond - first, part[begin], parts[begin], rank[begin]


def _part_near(records: Fraction, equal: int, parts: int, side: int) -> int:
    """A part of a candidate with no fewer (side 1), or no more (side -1), than so many records
    before it, if there is one.

    Of `equal` records spread evenly, `equal * (part + 1/2) / parts` lie before a part; each time
    that parts were halved moves this by at most one record, and the first three by two.
    """
    place = (records + side * (FINEST + 2)) * parts / equal + side
    return min(max(math.floor(place), 0), parts - 1)
