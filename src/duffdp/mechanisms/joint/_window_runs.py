"""The runs near every quantile of many groups, concatenated in one array, and their blocks.

Promise: The runs of several groups in one array are those of each group alone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from duffdp._rank_profile import (
    BLOCK_FINENESS,
    BLOCK_GROWTH,
    PART_BITS,
    RANK_UNIT,
    QuantileRanks,
    Runs,
    part_count,
    part_ranks,
)
from duffdp.domain import Floats, Ints
from duffdp.mechanisms.joint._draft import Bools

MIN_SPLIT_RECORDS = 4  # so many records at a candidate make parts of it


@dataclass(frozen=True, slots=True)
class Blocks:
    """Blocks of ranks around a target rank, the same for all windows: their starts and
    representatives, in units of 1 / RANK_UNIT of a record.
    """

    edges: Ints
    middles: Ints

    @classmethod
    def around_target(cls, quantiles: int, c: float, reach: int) -> Blocks:
        """For so many quantiles: of half a rank or a nat near the wanted one, and growing with the
        distance from it.
        """
        growth = BLOCK_GROWTH / quantiles
        # Ranks are multiples of a half, but for ties.
        step = max(min(0.5, 1 / (2 * c)), 1 / (BLOCK_FINENESS * quantiles * c))
        inner_count = math.ceil(1 / growth)
        inner = step * np.arange(inner_count + 1)
        first = (inner_count + 0.5) * step
        # What stands for all outside of a window lies at its edge, where few ranks are left out.
        last = max(reach - 2.0, first * (1 + growth))
        outer_count = math.ceil(math.log(last / first) / math.log1p(growth))
        outer = first * (last / first) ** (np.arange(outer_count + 1) / outer_count)
        edges = np.concatenate([inner[1:] - step / 2, outer])
        middles = np.concatenate([inner, (outer[:-1] + outer[1:]) / 2, outer[-1:]])
        mirrored = (
            np.concatenate([-edges[::-1], edges]),
            np.concatenate([-middles[:0:-1], middles]),
        )
        return cls(*((half * RANK_UNIT).astype(np.int64) for half in mirrored))


@dataclass(frozen=True, slots=True)
class WindowRuns:
    """The windows of all quantiles of all groups: quantile j of group g is window g m + j.

    Runs are those of `RankProfile`; window w has `range(cut[w], cut[w + 1])` of them. Their ranks
    are counted from `base[w]`, the whole records before the wanted rank, which lies `fraction[w]`
    of a record further on. Block b of a window begins at run `begin[w, b]`.
    """

    start: Ints
    cells: Ints
    part: Ints
    parts: Ints
    rank: Ints
    cut: Ints
    base: Ints
    fraction: Floats
    begin: Ints

    @classmethod
    def of(
        cls, groups: list[QuantileRanks], qs: tuple[Fraction, ...], reach: int, blocks: Blocks
    ) -> WindowRuns:
        """From the values near every quantile of every group."""
        window_ranks = [ranks for group in groups for ranks in group.ranks]
        numbers = [(len(r.values), r.below, r.total, r.first, r.last) for r in window_ranks]
        value_counts, below, total, first, last = np.array(numbers, dtype=np.int64).T
        top, bottom = (
            np.tile(np.array(column, dtype=np.int64), len(groups))
            for column in ([q.numerator for q in qs], [q.denominator for q in qs])
        )
        base, over = np.divmod(top * total, bottom)
        fraction = over / bottom
        # A gap, a value, a gap, ..., a gap.
        end = np.cumsum(2 * value_counts + 1) - 1
        begin = end - 2 * value_counts
        values, counts = (
            np.concatenate(column)
            for column in zip(*((r.values, r.counts) for r in window_ranks), strict=True)
        )
        at = 2 * np.arange(len(values)) + np.repeat(np.arange(len(window_ranks)), value_counts) + 1
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
        windows = _Windows(begin, end, value_counts > 0, fraction, reach)
        if len(counts) and int(counts.max()) >= MIN_SPLIT_RECORDS:
            runs, cut = windows.with_parts(start, cells, records, rank)
        else:
            rank *= RANK_UNIT
            rank[at] += counts * (RANK_UNIT // 2)
            runs, cut = windows.without_parts(start, cells, rank)
        runs, cut = _within_reach(runs, cut, reach)
        return cls(*runs, cut, base, fraction, _block_begins(runs[-1], cut, blocks.edges))

    def begin_of(self, run: int) -> int:
        """The beginning of a run, in finest parts from the first candidate on."""
        part = (int(self.part[run]) << PART_BITS) // int(self.parts[run])
        return (int(self.start[run]) << PART_BITS) + part

    def end_of(self, run: int) -> int:
        """The end of a run, in finest parts."""
        return self.begin_of(run) + (int(self.cells[run]) << PART_BITS) // int(self.parts[run])


class _Windows(NamedTuple):
    """The beginnings and ends of windows in one array of gaps and values, whether they have values,
    and the positions of their wanted ranks.
    """

    begin: Ints
    end: Ints
    nonempty: Bools
    fraction: Floats
    reach: int

    def without_parts(self, start: Ints, cells: Ints, rank: Ints) -> tuple[Runs, Ints]:
        """Runs of candidates none of which has many records, and where those of windows begin."""
        nonempty = cells > 0
        cut = np.append(self.begin, len(start))
        if not nonempty.all():
            start, cells, rank = start[nonempty], cells[nonempty], rank[nonempty]
            cut = np.append(0, np.cumsum(nonempty))[cut]
        return (start, cells, np.zeros_like(start), np.ones_like(start), rank), cut

    def with_parts(self, start: Ints, cells: Ints, records: Ints, rank: Ints) -> tuple[Runs, Ints]:
        """These runs with candidates of many records split into parts."""
        parts = part_count(records)
        listed, skipped = np.where(cells > 0, parts, 0), np.zeros_like(start)
        self._cut_ties(rank, records, parts, listed, skipped)
        run = np.repeat(np.arange(len(start)), listed)
        part = np.arange(len(run)) - (np.cumsum(listed) - listed - skipped)[run]
        ranks = RANK_UNIT * rank[run]
        tied = np.flatnonzero(records[run])
        ranks[tied] += part_ranks(records[run[tied]], part[tied])
        cut = np.append(0, np.cumsum(np.add.reduceat(listed, self.begin)))
        return (start[run], cells[run], part, parts[run], ranks), cut

    def _cut_ties(
        self, rank: Ints, records: Ints, parts: Ints, listed: Ints, skipped: Ints
    ) -> None:
        """Of a tie at the edge of a window, list the parts near the target rank."""
        begin, end = self.begin[self.nonempty], self.end[self.nonempty]
        fraction = self.fraction[self.nonempty]
        room, edge = self.reach + PART_BITS + 2, end - 1
        place = (fraction + room - rank[edge]) * parts[edge] / records[edge] + 1
        part_end = np.clip(np.floor(place), 0, parts[edge] - 1).astype(np.int64) + 1
        short = part_end < parts[edge]
        listed[edge[short]], listed[end[short]] = part_end[short], 0
        edge = begin + 1
        place = (fraction - room - rank[begin]) * parts[edge] / records[edge] - 1
        part_begin = np.clip(np.floor(place), 0, parts[edge] - 1).astype(np.int64)
        short = part_begin > 0
        skipped[edge[short]], listed[begin[short]] = part_begin[short], 0
        listed[edge[short]] -= part_begin[short]


def _within_reach(runs: Runs, cut: Ints, reach: int) -> tuple[Runs, Ints]:
    """The runs within reach of the wanted rank; where a window has none, all of it."""
    distance = np.abs(runs[-1])
    if int(distance.max()) <= (reach + 4) * RANK_UNIT:
        return runs, cut
    inside = distance <= reach * RANK_UNIT
    run_counts = np.add.reduceat(inside, cut[:-1], dtype=np.int64)
    if not run_counts.all():
        none = np.repeat(run_counts == 0, np.diff(cut))
        inside |= none
        run_counts = np.add.reduceat(inside, cut[:-1], dtype=np.int64)
    start, cells, part, parts, rank = (column[inside] for column in runs)
    return (start, cells, part, parts, rank), np.append(0, np.cumsum(run_counts))


def _block_begins(rank: Ints, cut: Ints, edges: Ints) -> Ints:
    """For each window the run at which each block begins, and the end of the last."""
    limit = int(edges[-1]) + 1
    window = np.arange(len(cut) - 1)
    # Windows one after the other, so that one search serves all.
    offset = np.repeat(2 * limit * window, np.diff(cut))
    begins = np.searchsorted(
        np.clip(rank, -limit, limit - 1) + offset, edges + 2 * limit * window[:, None]
    )
    return np.column_stack([cut[:-1], begins, cut[1:]])
