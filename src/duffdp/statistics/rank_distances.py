"""Distances that depend only on the ranks of candidates, such as those of quantiles."""

from __future__ import annotations

from abc import ABC, abstractmethod
from fractions import Fraction

import numpy as np

from duffdp._engines.requests import GroupedRanks, Inquiry, RankAt, ask
from duffdp._steps import Tail, Windows
from duffdp.domain import Ints, Ordered

_FIRST = np.zeros(1, dtype=np.int64)
MAX_WINDOW_RANKS = 2**18  # to a side of a window; beyond them the tail is visited


class RankDistances(ABC):
    """Distance of every candidate from its rank among the records of a group."""

    rate: Fraction
    unit: Fraction

    @abstractmethod
    def _distances(self, cumulative: Ints, total: Ints) -> tuple[Ints, Ints]:
        """Distances at values, all but the first, and in the gaps after all of them, with so many
        records up to each.
        """

    @abstractmethod
    def _floors(self, ranks: GroupedRanks, cumulative: Ints, size: int) -> Ints:
        """The least distance outside of each window that `cumulative` records do not lie after."""

    def _rank_at(self, index: int, total: int) -> Inquiry[tuple[int, int]]:
        """The number of records before a candidate and at it, among so many of a group."""
        (rank,) = yield from ask(RankAt(index))
        return rank

    def windows_of(self, ranks: GroupedRanks, domain: Ordered) -> Windows:
        """The runs of every group from `first` to `last`: the tail and the first gap, then each
        distinct value and the gap after it.
        """
        totals, first, last = ranks.total, ranks.first, ranks.last
        value, cumulative, begin, end = _cumulative(ranks)
        outside = domain.size - (last - first + 1)
        floor = self._floors(ranks, cumulative[end], domain.size)  # of a tail, if there is one
        runs = np.empty((3, 2 * len(value)), dtype=np.int64)
        start, count, distance = runs
        start[::2] = value
        np.add(value, 1, out=start[1::2])
        np.subtract(start[1:], start[:-1], out=count[:-1])
        count[2 * end + 1] = last - value[end]
        each_total = totals if len(totals) == 1 else np.repeat(totals, end - begin + 1)
        distance[2::2], distance[1::2] = self._distances(cumulative, each_total)
        tail = 2 * begin
        start[tail], count[tail], distance[tail] = -1, outside, floor
        full = count > 0
        if np.count_nonzero(full) < len(full):
            runs = runs.take(full.nonzero()[0], axis=1)
            lengths = np.add.reduceat(full, tail, dtype=np.intp)
            tail = np.cumsum(lengths) - lengths

        def open_tail(i: int) -> Tail | None:
            if not outside.item(i):
                return None
            total = totals[i : i + 1]

            def inquire(index: int) -> Inquiry[int]:
                before, at = yield from self._rank_at(index, int(total[0]))
                value, gap = self._distances(np.array([before, before + at]), total)
                return int(value[0] if at else gap[1])

            return Tail(first.item(i), last.item(i), outside.item(i), floor.item(i), inquire)

        return Windows(domain, runs[0], runs[1], runs[2], tail, open_tail, self.unit, self.rate)


def _cumulative(ranks: GroupedRanks) -> tuple[Ints, Ints, Ints, Ints]:
    """The values of every group, behind a place in front of them for its tail, with the number of
    records up to each; and where those of a group begin and end.
    """
    values, counts, ends, below, _, first, _ = ranks
    if len(ends) == 1:  # by a third of the steps: `make bench`, median of 1e3 doubles
        value = np.concatenate((first - 1, values))
        return value, np.concatenate((below, counts)).cumsum(), _FIRST, ends
    end = ends + np.arange(len(ends))
    begin = np.append(0, end[:-1] + 1)
    inner = np.ones(len(values) + len(ends), dtype=bool)
    inner[begin] = False
    value, equal = np.zeros((2, len(inner)), dtype=np.int64)
    value[inner], equal[inner] = values, counts
    value[begin] = first - 1
    within = np.add.reduceat(equal, begin)
    equal[begin] = below
    equal[begin[1:]] -= (within + below)[:-1]  # so that the sum starts anew with each group
    return value, equal.cumsum(), begin, end


def least_outside(ranks: GroupedRanks, before: Ints, after: Ints, size: int) -> Ints:
    """The smaller distance of those before and after each window, where there are candidates."""
    return np.where(
        ranks.first == 0,
        after,
        np.where(ranks.last == size - 1, before, np.minimum(before, after)),
    )
