"""The runs near every quantile of many groups, one after the other in one array, and the blocks
that they are weighed in.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from duffdp.domain import Floats, Ints
from duffdp.mechanisms.joint.draft import Bools
from duffdp.rank_profile import (
    FINENESS,
    FINEST,
    GROWTH,
    UNIT,
    NearRanks,
    Runs,
    part_count,
    part_ranks,
)

SPLIT = 4  # so many records at a candidate make parts of it


@dataclass(frozen=True, slots=True)
class Blocks:
    """Blocks of ranks around a wanted one, the same for all windows: where the next one begins,
    and what stands for each, in units of 1 / UNIT of a record.
    """

    edges: Ints
    middles: Ints

    @classmethod
    def around(cls, many: int, c: float, reach: int) -> Blocks:
        """For so many quantiles: of half a rank or a nat near the wanted one, and growing with the
        distance from it.
        """
        growth = GROWTH / many
        # Ranks are multiples of a half, but for ties.
        step = max(min(0.5, 1 / (2 * c)), 1 / (FINENESS * many * c))
        near = math.ceil(1 / growth)
        inner = step * np.arange(near + 1)
        first = (near + 0.5) * step
        # What stands for all outside of a window lies at its edge, where few ranks are left out.
        last = max(reach - 2.0, first * (1 + growth))
        more = math.ceil(math.log(last / first) / math.log1p(growth))
        outer = first * (last / first) ** (np.arange(more + 1) / more)
        edges = np.concatenate([inner[1:] - step / 2, outer])
        middles = np.concatenate([inner, (outer[:-1] + outer[1:]) / 2, outer[-1:]])
        both = (
            np.concatenate([-edges[::-1], edges]),
            np.concatenate([-middles[:0:-1], middles]),
        )
        return cls(*((half * UNIT).astype(np.int64) for half in both))


@dataclass(frozen=True, slots=True)
class WindowRuns:
    """The windows of all quantiles of all groups: quantile j of group g is window g m + j.

    Runs are those of `RankProfile`, of which window w has those from `cut[w]` up to, not including,
    `cut[w + 1]`; their ranks are counted from `base[w]`, the whole records before the wanted rank,
    which lies `rest[w]` of a record further on. Block b of a window begins at run `begin[w, b]`.
    """

    start: Ints
    cells: Ints
    part: Ints
    parts: Ints
    rank: Ints
    cut: Ints
    base: Ints
    rest: Floats
    begin: Ints

    @classmethod
    def of(
        cls, groups: list[NearRanks], qs: tuple[Fraction, ...], reach: int, blocks: Blocks
    ) -> WindowRuns:
        """From the values near every quantile of every group."""
        near = [ranks for group in groups for ranks in group.ranks]
        numbers = [(len(r.values), r.below, r.total, r.first, r.last) for r in near]
        many, below, total, first, last = np.array(numbers, dtype=np.int64).T
        top, bottom = (
            np.tile(np.array(each, dtype=np.int64), len(groups))
            for each in ([q.numerator for q in qs], [q.denominator for q in qs])
        )
        base, over = np.divmod(top * total, bottom)
        rest = over / bottom
        # A gap, a value, a gap, ..., a gap.
        end = np.cumsum(2 * many + 1) - 1
        begin = end - 2 * many
        values, counts = (
            np.concatenate(each) for each in zip(*((r.values, r.counts) for r in near), strict=True)
        )
        at = 2 * np.arange(len(values)) + np.repeat(np.arange(len(near)), many) + 1
        start, cells, records, rank = np.zeros((4, int(end[-1]) + 1), dtype=np.int64)
        start[begin] = first
        start[at], start[at + 1] = values, values + 1
        np.subtract(start[1:], start[:-1], out=cells[:-1])
        cells[end] = last + 1 - start[end]
        records[at] = counts
        rank[1:] = records[:-1]
        rank[begin] = below - base
        # So that the sum starts anew with each window.
        rank[begin[1:]] -= (np.add.reduceat(records, begin) + below - base)[:-1]
        rank = np.cumsum(rank)
        windows = _Windows(begin, end, many > 0, rest, reach)
        if len(counts) and int(counts.max()) >= SPLIT:
            runs, cut = windows.with_parts(start, cells, records, rank)
        else:
            rank *= UNIT
            rank[at] += counts * (UNIT // 2)
            runs, cut = windows.without_parts(start, cells, rank)
        runs, cut = _within_reach(runs, cut, reach)
        return cls(*runs, cut, base, rest, _block_begins(runs[-1], cut, blocks.edges))

    def begin_of(self, run: int) -> int:
        """Where a run begins, in finest parts from the first candidate on."""
        part = (int(self.part[run]) << FINEST) // int(self.parts[run])
        return (int(self.start[run]) << FINEST) + part

    def end_of(self, run: int) -> int:
        """Where a run ends, in finest parts."""
        return self.begin_of(run) + (int(self.cells[run]) << FINEST) // int(self.parts[run])


class _Windows(NamedTuple):
    """Where windows begin and end among gaps and values one after the other, which have values,
    and where their wanted ranks lie.
    """

    begin: Ints
    end: Ints
    some: Bools
    rest: Floats
    reach: int

    def without_parts(self, start: Ints, cells: Ints, rank: Ints) -> tuple[Runs, Ints]:
        """Runs of candidates none of which has many records, and where those of windows begin."""
        kept = cells > 0
        cut = np.append(self.begin, len(start))
        if not kept.all():
            start, cells, rank = start[kept], cells[kept], rank[kept]
            cut = np.append(0, np.cumsum(kept))[cut]
        return (start, cells, np.zeros_like(start), np.ones_like(start), rank), cut

    def with_parts(self, start: Ints, cells: Ints, records: Ints, rank: Ints) -> tuple[Runs, Ints]:
        """The same where candidates with many records are split."""
        parts = part_count(records)
        listed, skipped = np.where(cells > 0, parts, 0), np.zeros_like(start)
        self._cut_ties(rank, records, parts, listed, skipped)
        run = np.repeat(np.arange(len(start)), listed)
        part = np.arange(len(run)) - (np.cumsum(listed) - listed - skipped)[run]
        ranks = UNIT * rank[run]
        tied = np.flatnonzero(records[run])
        ranks[tied] += part_ranks(records[run[tied]], part[tied])
        cut = np.append(0, np.cumsum(np.add.reduceat(listed, self.begin)))
        return (start[run], cells[run], part, parts[run], ranks), cut

    def _cut_ties(
        self, rank: Ints, records: Ints, parts: Ints, listed: Ints, skipped: Ints
    ) -> None:
        """Of a tie at the edge of a window, list the parts near the wanted rank."""
        begin, end, rest = self.begin[self.some], self.end[self.some], self.rest[self.some]
        room, edge = self.reach + FINEST + 2, end - 1
        place = (rest + room - rank[edge]) * parts[edge] / records[edge] + 1
        upto = np.clip(np.floor(place), 0, parts[edge] - 1).astype(np.int64) + 1
        short = upto < parts[edge]
        listed[edge[short]], listed[end[short]] = upto[short], 0
        edge = begin + 1
        place = (rest - room - rank[begin]) * parts[edge] / records[edge] - 1
        left = np.clip(np.floor(place), 0, parts[edge] - 1).astype(np.int64)
        short = left > 0
        skipped[edge[short]], listed[begin[short]] = left[short], 0
        listed[edge[short]] -= left[short]


def _within_reach(runs: Runs, cut: Ints, reach: int) -> tuple[Runs, Ints]:
    """The runs within reach of the wanted rank; where a window has none, all of it."""
    away = np.abs(runs[-1])
    if int(away.max()) <= (reach + 4) * UNIT:
        return runs, cut
    kept = away <= reach * UNIT
    many = np.add.reduceat(kept, cut[:-1], dtype=np.int64)
    if not many.all():
        none = np.repeat(many == 0, np.diff(cut))
        kept |= none
        many = np.add.reduceat(kept, cut[:-1], dtype=np.int64)
    start, cells, part, parts, rank = (each[kept] for each in runs)
    return (start, cells, part, parts, rank), np.append(0, np.cumsum(many))


def _block_begins(rank: Ints, cut: Ints, edges: Ints) -> Ints:
    """For each window the run at which each block begins, and the end of the last."""
    most = int(edges[-1]) + 1
    window = np.arange(len(cut) - 1)
    # Windows one after the other, so that one search serves all.
    apart = np.repeat(2 * most * window, np.diff(cut))
    found = np.searchsorted(
        np.clip(rank, -most, most - 1) + apart, edges + 2 * most * window[:, None]
    )
    return np.column_stack([cut[:-1], found, cut[1:]])
