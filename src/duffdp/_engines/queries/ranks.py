"""Ranks of several groups, found by a search in ever narrower buckets of candidates."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from duffdp._engines.requests import GroupedCounts, GroupedRanks, ranges, rank_span, search_spans
from duffdp.domain import Ints

Target = tuple[Fraction, int]  # q and reach, as in `RanksNear`


class Ranges(NamedTuple):
    """Disjoint, sorted ranges of candidates for every group: group g has those from `lows[i, g]` to
    `highs[i, g]`, and a range from 1 to 0 is empty. `buckets` are all buckets in them that have
    records, of which each has 2**shift candidates.
    """

    lows: Ints
    highs: Ints
    buckets: Ints
    shift: int


class RankSearch:
    """The searched ranks of one column: an entry for each target and group.

    An entry knows the first and the last candidate of the range that its ranks lie in, and how many
    records lie before. Counts of buckets in the range make it narrower.
    """

    def __init__(self, targets: Sequence[tuple[Target, Ints]], totals: Ints, size: int) -> None:
        groups = [target_groups for _, target_groups in targets]
        self._cuts = np.cumsum([0, *map(len, groups)]).tolist()
        self._target = np.repeat(np.arange(len(groups)), list(map(len, groups)))
        self._group = np.concatenate(groups)
        self._total = totals[self._group]
        spans = [rank_span(*target, totals[target_groups]) for target, target_groups in targets]
        self._low, self._high = map(np.concatenate, zip(*spans, strict=True))
        entries = len(self._group)
        self._below, self._first, self._begin, self._end = np.zeros((4, entries), dtype=np.int64)
        self._last = np.full(entries, size - 1, dtype=np.int64)
        self._counts = totals[:0], totals[:0]  # of single candidates, in the end
        self._open = np.arange(entries)  # entries whose range is to be narrower
        self._buckets = totals[:0]  # of these
        self._shift = 0
        self._groups = len(totals)
        self._width = [2 * reach + 1 for (_, reach), _ in targets]
        self.records_inside = 0  # records in these ranges

    @property
    def open_entries(self) -> int:
        """The number of entries that are not found yet."""
        return len(self._open)

    @property
    def open_ranks(self) -> int:
        """The number of ranks that they cover."""
        open_targets = np.bincount(self._target[self._open], minlength=len(self._width)).tolist()
        return sum(n * width for n, width in zip(open_targets, self._width, strict=True))

    @property
    def widest(self) -> int:
        """The number of candidates in the widest range."""
        return int((self._last - self._first)[self._open].max()) + 1

    def narrow(self, counts: GroupedCounts, shift: int) -> None:
        """Cut ranges down by the counts of all buckets of 2**shift candidates in them: to those
        that cover the ranks.
        """
        at, values = self._open, np.append(counts.values, 0)
        first, last, below = self._first[at], self._last[at], self._below[at]
        stop = counts.ends[self._group[at]]
        start = np.append(0, counts.ends)[self._group[at]]
        begin = search_spans(values, start, stop, first)
        end = search_spans(values, begin, stop, last + 1)
        cumulative = np.append(0, np.cumsum(counts.counts))
        before = below - cumulative[begin]  # plus `cumulative`: records before a bucket
        low, high = self._low[at] - before, self._high[at] - before
        begins = np.clip(np.searchsorted(cumulative[1:], low, side="right"), begin, end)
        ends = np.clip(np.searchsorted(cumulative[1:], high, side="right") + 1, begins, end)
        begins = np.where(self._low[at] > below, begins, begin)
        cut = (begins > begin) & (begins < end)
        self._first[at] = np.where(cut, values[begins], first)
        self._below[at] = np.where(cut, before + cumulative[begins], below)
        bucket_end = np.minimum(values[ends - 1] + (2**shift - 1), last)
        self._last[at] = np.where(ends < end, bucket_end, last)
        if shift == 0:
            self._begin[at], self._end[at] = begins, ends
            self._counts = counts.values, counts.counts
            self._open = at[:0]
            return
        is_open = begins < ends
        self._open, begins, ends = at[is_open], begins[is_open], ends[is_open]
        self.records_inside = int((cumulative[ends] - cumulative[begins]).sum())
        self._shift = shift
        self._buckets = np.unique(counts.values[ranges(begins, ends - begins)])

    def ranges(self) -> Ranges:
        """The ranges of all entries that are not found yet."""
        targets = len(self._cuts) - 1
        low = np.full((targets, self._groups), np.iinfo(np.int64).max)
        high = np.full_like(low, -1)
        place = self._target[self._open], self._group[self._open]
        low[place], high[place] = self._first[self._open], self._last[self._open]
        order = np.argsort(low, axis=0)
        low, high = (np.take_along_axis(array, order, axis=0) for array in (low, high))
        lows, highs = np.ones_like(low), np.zeros_like(high)
        part = np.full(self._groups, -1)
        reached = np.full(self._groups, -2, dtype=np.int64)  # the last candidate of that part
        for begin, end in zip(low, high, strict=True):
            new = ((end >= begin) & (begin > reached + 1)).nonzero()[0]
            part[new] += 1
            lows[part[new], new] = begin[new]
            reached = np.maximum(reached, end)
            has_part = (part >= 0).nonzero()[0]
            highs[part[has_part], has_part] = reached[has_part]
        parts = int(part.max()) + 1
        return Ranges(lows[:parts], highs[:parts], self._buckets, self._shift)

    def answers(self) -> list[GroupedRanks]:
        """For every target the ranks of its groups."""
        answers = []
        for begin, end in zip(self._cuts[:-1], self._cuts[1:], strict=True):
            entries = slice(begin, end)
            begins, lengths = self._begin[entries], (self._end - self._begin)[entries]
            places = ranges(begins, lengths)
            values, counts = (array[places] for array in self._counts)
            numbers = (self._below, self._total, self._first, self._last)
            entry_numbers = (array[entries] for array in numbers)
            answers.append(GroupedRanks(values, counts, np.cumsum(lengths), *entry_numbers))
        return answers


def group_counts(group: Ints, index: Ints, count: Ints, groups: int) -> GroupedCounts:
    """Counts in any order, by group and index; those of the same place added up."""
    order = np.lexsort((index, group))
    group, index, count = group[order], index[order], count[order]
    new = np.ones(len(index), dtype=bool)
    new[1:] = (group[1:] != group[:-1]) | (index[1:] != index[:-1])
    if not new.all():
        begin = new.nonzero()[0]
        group, index, count = group[begin], index[begin], np.add.reduceat(count, begin)
    return GroupedCounts(index, count, np.searchsorted(group, np.arange(groups), side="right"))
