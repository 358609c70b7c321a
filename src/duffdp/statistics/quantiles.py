"""Several quantiles at once."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from duffdp.domain import Ints
from duffdp.engines.source import Question, Ranks, Source
from duffdp.parameters import read_qs
from duffdp.rank_profile import FINEST, UNIT, RankProfile, part_count, part_ranks


class Quantiles:
    """Several quantiles of one column, for the joint mechanism.

    Parameters
    ----------
    qs
        Different numbers from 0 to 1, in any order, each read as for `Quantile`.

    Privacy
    -------
    A profile is not private: it is the input of `duffdp.mechanisms.Joint`, which says how far one record moves its score.

    Runtime
    -------
    One pass over the data for a profile; its length depends on the reach alone.

    References
    ----------
    Gillenwater, Joseph and Kulesza, "Differentially private quantiles" (ICML 2021); `docs/several-quantiles.md`.

    Examples
    --------
    >>> import duffdp
    >>> duffdp.statistics.Quantiles([0.75, 0.25])
    Quantiles(1/4, 3/4)
    """

    def __init__(self, qs: Any) -> None:
        self.qs = read_qs(qs)

    def profile(self, column: Source, reach: int) -> RankProfile:
        """The runs within about `reach` ranks of every quantile, from one pass over the data."""
        found, _ = column.ask(Question(tuple((q, reach) for q in self.qs)))
        windows = [
            _window(near, q, reach, column.size) for near, q in zip(found, self.qs, strict=True)
        ]
        start, cells, part, parts, rank = _joined([runs for runs, _ in windows])
        return RankProfile(
            qs=self.qs,
            size=column.size,
            total=found[0].total,
            reach=reach,
            start=start,
            cells=cells,
            part=part,
            parts=parts,
            rank=rank,
            low=[int(np.searchsorted(rank, runs[-1, 0])) for runs, _ in windows],
            high=[int(np.searchsorted(rank, runs[-1, -1])) + 1 for runs, _ in windows],
            away=[away for _, away in windows],
            rank_of=column.rank_of,
        )

    def __repr__(self) -> str:
        return f"Quantiles({', '.join(map(str, self.qs))})"


def _window(near: Ranks, q: Fraction, reach: int, size: int) -> tuple[Ints, float]:
    """Gaps and candidates with records from `near.first` to `near.last`, as start, cells, part, parts and rank of runs; and
    the fewest records between the wanted rank and any place outside."""
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
    """One of each run, in order. Runs of the same rank are the same part, or lie in the same gap and become one."""
    if len(windows) == 1:
        return windows[0]
    runs = np.concatenate(windows, axis=1)
    start, cells, part, parts, rank = runs[:, np.argsort(runs[-1], kind="stable")]
    begin = np.flatnonzero(np.append(True, rank[1:] != rank[:-1]))
    first = np.minimum.reduceat(start, begin)
    beyond = np.maximum.reduceat(start + cells, begin)
    return np.stack([first, beyond - first, part[begin], parts[begin], rank[begin]])


def _part_near(records: Fraction, equal: int, parts: int, side: int) -> int:
    """A part of a candidate with no fewer (side 1), or no more (side -1), than so many records before it, if there is one.

    Of `equal` records spread evenly, `equal * (part + 1/2) / parts` lie before a part; each time that parts were halved
    moves this by at most one record, and the first three by two.
    """
    place = (records + side * (FINEST + 2)) * parts / equal + side
    return min(max(math.floor(place), 0), parts - 1)
