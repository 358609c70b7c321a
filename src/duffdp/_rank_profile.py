"""Candidates with the number of records before each, in windows around several quantiles.

Promise: One record adds a non-decreasing function from 0 to 1 to the ranks of all places.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from duffdp._engines.requests import Inquiry, RankAt, Ranks, ask
from duffdp._steps import AnswerFor, without_answers
from duffdp.domain import Ints

# A candidate with many records is split into at most 2**PART_BITS parts of about three records
# each, so that a quantile within a tie finds a part a few records away. Ranks fit 64 bits up to
# 2**37 records.
PART_BITS = 24
RANK_UNIT = 2 << PART_BITS  # ranks are whole numbers of 1 / RANK_UNIT of a record
Runs = tuple[Ints, Ints, Ints, Ints, Ints]  # start, cells, part, parts, rank
# Blocks are for speed alone; m is the number of quantiles. Ranks in a block differ by so little
# that the weights of m places differ by a nat in BLOCK_FINENESS. Blocks grow with their distance
# from a quantile by BLOCK_GROWTH / m of it. No block holds more than 1 / (DOMAIN_PIECES m) of the
# domain, so that few places share one, unless quantiles lie SEPARATION_NATS further apart than any
# domain.
BLOCK_FINENESS, BLOCK_GROWTH, DOMAIN_PIECES, SEPARATION_NATS = 8, 2 / 3, 8, 10.0
MIN_GROUPED_COLUMNS = 8  # from this number of columns on, their windows are weighed together


@dataclass(frozen=True, slots=True)
class QuantileRanks:
    """The values near every quantile of a column (or, as one, near all), with the other fields of
    its `RankProfile`.

    Values are counted from the candidate `first`. Records beyond the first or the last of the
    `size` values are clamped to them.
    """

    qs: tuple[Fraction, ...]
    records: int | None
    size: int
    total: int
    reach: int
    ranks: Sequence[Ranks]
    inquire: Callable[[int], Inquiry[QuantileRanks]]  # the same with another reach
    first: int = 0
    position: int = 0  # of the group, for `answer`
    answer: AnswerFor = without_answers

    def profile(self, epsilon: float) -> RankProfile:
        """The runs that the values make, with blocks that suit this epsilon."""
        return RankProfile.of(self, epsilon)

    def rank_of(self, index: int) -> tuple[int, int]:
        """The records before and at any value, by a pass over the data."""
        ((before, at),) = self.answer(self.position, ask(RankAt(self.first + index)))
        if index == 0:
            before, at = 0, before + at
        return (before, self.total - before) if index == self.size - 1 else (before, at)

    def wider(self, reach: int) -> QuantileRanks:
        """The values within another reach, by a pass over the data."""
        ranks = self.answer(self.position, self.inquire(reach))
        return replace(ranks, position=self.position, answer=self.answer)


@dataclass(frozen=True, slots=True)
class RankProfile:
    """Runs in domain order: neighboring candidates between which there is no record, or a part of
    one candidate.

    Run i holds `cells[i]` candidates from `start[i]` on, or, of the `parts[i]` equal parts of
    candidate `start[i]`, the one numbered `part[i]`; `rank[i]` is the number of records before it
    in units of 1 / RANK_UNIT. The window of quantile j is the runs from `low[j]` up to, not
    including, `high[j]`: it reaches about `reach` ranks to both sides and has no holes. Blocks of
    it, which are weighed together, begin at the runs `blocks[j]`. `rank_of` returns the records
    before and at any candidate, by a pass over the data, and `wider` the profile with another
    reach. `records` is the number of records if it is public by now; `total` is the true one.
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
    def of(cls, column: QuantileRanks, epsilon: float) -> RankProfile:
        """The profile of a column, from the values near every quantile or, as one, near all."""
        qs, size, reach, total = column.qs, column.size, column.reach, column.total
        if len(column.ranks) == len(qs):
            pairs = zip(column.ranks, qs, strict=True)
            windows = [_window(ranks, q, reach) for ranks, q in pairs]
        else:
            windows = [_window(column.ranks[0], Fraction(1, 2), total)]
        start, cells, part, parts, rank = _joined(windows)
        low = np.searchsorted(rank, [runs[-1][0] for runs in windows])
        high = np.searchsorted(rank, [runs[-1][-1] for runs in windows]) + 1
        ends = [
            [math.floor(RANK_UNIT * (q * total + side * reach)) for q in qs] for side in (-1, 1)
        ]
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
            lambda reach: column.wider(reach).profile(epsilon),
        )
        volume = cells / parts * (DOMAIN_PIECES * len(qs) / size)
        wide = np.flatnonzero(volume > 1)
        pieces = {run: 1 << math.ceil(math.log2(volume[run])) for run in wide.tolist()}
        return runs.cut(pieces, epsilon)

    def begin(self, run: int) -> int:
        """Beginning of a run, in finest parts from the first candidate on."""
        return (int(self.start[run]) << PART_BITS) + (int(self.part[run]) << PART_BITS) // int(
            self.parts[run]
        )

    def end(self, run: int) -> int:
        """End of a run, in finest parts."""
        return self.begin(run) + (int(self.cells[run]) << PART_BITS) // int(self.parts[run])

    def find(self, place: int) -> tuple[int, bool]:
        """The last run that begins no later than a place, in finest parts (-1 if none does), and
        whether it holds the place.
        """
        run = bisect_right(range(len(self.rank)), place, key=self.begin) - 1
        return run, run >= 0 and place < self.end(run)

    def rank_at(self, cell: int, part: int) -> int:
        """Records before one of the finest parts of a candidate, in units of 1 / RANK_UNIT: one
        pass.
        """
        return rank_at(self.rank_of, cell, part)

    def cut(
        self, pieces: dict[int, int], epsilon: float, fineness: int = BLOCK_FINENESS
    ) -> RankProfile:
        """A copy with some runs cut, each into about so many (a power of two) of one rank, and with
        blocks that suit this epsilon.
        """
        runs = self._cut(pieces) if pieces else self
        return replace(runs, blocks=_blocks(runs, epsilon / 2, fineness))

    def _cut(self, pieces: dict[int, int]) -> RankProfile:
        # Stretches of candidates that a run is cut into, and parts of each candidate.
        counts = np.ones((2, len(self.rank)), dtype=np.int64)
        for run, piece_count in pieces.items():
            cells, max_parts = int(self.cells[run]), 2**PART_BITS // int(self.parts[run])
            parts_each = max(1, piece_count // cells)
            finer = min(1 << (parts_each - 1).bit_length(), max_parts)
            counts[:, run] = min(piece_count, cells), finer
        source = np.repeat(np.arange(len(self.rank)), counts.prod(axis=0))
        run_offsets = np.append(0, np.cumsum(counts.prod(axis=0)))
        stretches, parts = counts[:, source]
        stretch, part = np.divmod(np.arange(len(source)) - run_offsets[source], parts)
        step, remainder = self.cells[source] // stretches, self.cells[source] % stretches
        return replace(
            self,
            # The first `remainder` stretches have one candidate more.
            start=self.start[source] + stretch * step + np.minimum(stretch, remainder),
            cells=step + (stretch < remainder),
            part=self.part[source] * parts + part,
            parts=self.parts[source] * parts,
            rank=self.rank[source],
            low=run_offsets[self.low],
            high=run_offsets[self.high],
        )


def rank_at(rank_of: Callable[[int], tuple[int, int]], cell: int, part: int) -> int:
    """Records before one of the finest parts of a candidate, in units of 1 / RANK_UNIT."""
    before, equal = rank_of(cell)
    records = np.array([equal])
    own_part = part * part_count(records) >> PART_BITS
    return RANK_UNIT * before + int(part_ranks(records, own_part)[0])


def _blocks(runs: RankProfile, c: float, fineness: int) -> list[Ints]:
    """For every quantile the runs at which the blocks of its window begin."""
    quantiles = len(runs.qs)
    finest = 1 / (fineness * quantiles)
    growth = BLOCK_GROWTH / quantiles * BLOCK_FINENESS / fineness
    begin = _shared_begins(runs, max(int(finest * RANK_UNIT / c), 1))
    windows = [
        slice(*np.searchsorted(begin, ends)) for ends in zip(runs.low, runs.high, strict=True)
    ]
    shares = np.diff([float(q) for q in runs.qs])
    separation = c * runs.total * float(shares.min(initial=1.0))
    if separation <= math.log(runs.size) + SEPARATION_NATS:
        return [begin[window] for window in windows]
    # Here blocks of different quantiles may overlap: no two places lie near each other.
    inner_reach = max(finest, c / 2) / growth  # from here on a block is wider than half a rank
    steps = math.ceil(max(math.log(c * runs.reach / inner_reach), 0) / math.log1p(growth)) + 1
    distances = (inner_reach * (1 + growth) ** np.arange(steps) * (RANK_UNIT / c)).astype(np.int64)
    begins = []
    for q, window in zip(runs.qs, windows, strict=True):
        target, ranks = math.floor(RANK_UNIT * runs.total * q), runs.rank[begin[window]]
        before, after = (
            np.searchsorted(ranks, target - distances[::-1]),
            np.searchsorted(ranks, target + distances),
        )
        cuts = np.concatenate([[0], before, np.arange(before[-1], after[0]), after])
        cuts = np.flatnonzero(np.bincount(cuts, minlength=len(ranks))[: len(ranks)])
        begins.append(begin[window][cuts])
    return begins


def _shared_begins(runs: RankProfile, room: int) -> Ints:
    """Beginnings of blocks that all windows can share: at the ends of windows, at steps of `room`
    ranks, and so that none holds much of the domain.
    """
    cut = np.zeros(len(runs.rank) + 1, dtype=bool)
    cut[0] = True
    cut[runs.low] = cut[runs.high] = True
    cut[1:-1] |= runs.rank[1:] == runs.rank[:-1]  # pieces of one run
    volume = np.cumsum(runs.cells / runs.parts) * (DOMAIN_PIECES * len(runs.qs) / runs.size)
    for steps in (runs.rank // room, np.floor(volume)):
        cut[1:-1] |= steps[1:] != steps[:-1]
    return np.flatnonzero(cut[:-1])


def part_count(records: Ints) -> Ints:
    """Into how many parts a candidate with so many records is split: 1 up to three records, then
    about half as many.
    """
    parts: Ints = np.ones(len(records), dtype=np.int64)
    for level in range(1, PART_BITS + 1):
        if not (splits := records >= 2 ** (level + 1)).any():
            break
        parts[splits] = 2**level
    return parts


def part_ranks(records: Ints, part: Ints) -> Ints:
    """Number of the records at a candidate that lie before a part of it, in units of 1 / RANK_UNIT.

    The e-th record at a candidate lies evenly over the `part_count(e)` parts that the candidate has
    once it joined, half of each share before and half after the part. So one more record adds a
    non-decreasing function of the place, from 0 to 1.
    """
    parts = part_count(records)
    rank: Ints = np.minimum(records, 3) * (RANK_UNIT // 2)
    for level in range(1, PART_BITS + 1):
        level_records = np.maximum(records + 1 - 2 ** (level + 1), 0)
        if not level_records.any():
            break
        level_records = (
            level_records if level == PART_BITS else np.minimum(level_records, 2 ** (level + 1))
        )
        coarse = np.where(parts >= 2**level, part * 2**level // parts, 0)
        rank = rank + level_records * (2 * coarse + 1) * 2 ** (PART_BITS - level)
    return rank


def _window(ranks: Ranks, q: Fraction, reach: int) -> Runs:
    """Gaps and candidates with records from `ranks.first` to `ranks.last`, as start, cells, part,
    parts and rank of runs.
    """
    values, counts = ranks.values, ranks.counts
    value_count = len(values)
    start, cells, records, rank = np.zeros((4, 2 * value_count + 1), dtype=np.int64)
    start[0] = ranks.first
    start[1::2], start[2::2] = values, values + 1
    cells[:-1] = start[1:] - start[:-1]
    cells[-1] = ranks.last + 1 - start[-1]
    records[1::2] = counts
    rank[0] = ranks.below
    rank[1:] = ranks.below + np.cumsum(records)[:-1]
    parts = np.ones(2 * value_count + 1, dtype=np.int64)
    parts[1::2] = part_count(counts)
    skipped, listed = np.zeros_like(parts), np.where(cells > 0, parts, 0)
    target = q * ranks.total
    if value_count:  # of a tie that goes on outside, the parts near the wanted rank are enough
        last = _part_near(target + reach - int(rank[-2]), int(counts[-1]), int(parts[-2]), 1) + 1
        if last < parts[-2]:
            listed[-2], listed[-1] = last, 0
        first = _part_near(target - reach - ranks.below, int(counts[0]), int(parts[1]), -1)
        if first > 0:
            skipped[1], listed[0] = first, 0
            listed[1] -= first
    run = np.repeat(np.arange(2 * value_count + 1), listed)
    part = np.arange(len(run)) - (np.cumsum(listed) - listed - skipped)[run]
    rank = RANK_UNIT * rank[run]
    tied = np.flatnonzero(run & 1)  # candidates with records are every other one
    rank[tied] += part_ranks(records[run[tied]], part[tied])
    return start[run], cells[run], part, parts[run], rank


def _joined(windows: list[Runs]) -> Runs:
    """One representative of each run, in order. Runs of the same rank are the same part, or lie in
    the same gap and become one.
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
    end = np.maximum.reduceat(start + cells, begin)
    return first, end - first, part[begin], parts[begin], rank[begin]


def _part_near(records: Fraction, equal: int, parts: int, side: int) -> int:
    """A part of a candidate with no fewer (side 1), or no more (side -1), than so many records
    before it, if there is one.

    Of `equal` records spread evenly, `equal * (part + 1/2) / parts` lie before a part; each time
    that parts were halved moves this by at most one record, and the first three by two.
    """
    place = (records + side * (PART_BITS + 2)) * parts / equal + side
    return min(max(math.floor(place), 0), parts - 1)
