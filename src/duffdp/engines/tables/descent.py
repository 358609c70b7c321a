"""Tables that stay where they are: count by coarse buckets, keep those that cover the ranks,
count these more finely.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from itertools import pairwise
from typing import Any, ClassVar, TypeVar

import numpy as np

from duffdp.domain import Ints, Ordered
from duffdp.domain.snapping import rounded_down
from duffdp.engines.arrays import trim, wanted
from duffdp.engines.source import Levels, LevelSums, Question, Ranks
from duffdp.engines.tables import streamed
from duffdp.engines.tables.bracketed import Rank, near_ranks
from duffdp.engines.tables.cell_counts import by_cell, celled
from duffdp.engines.tables.lazy_rows import LazyRows
from duffdp.engines.tables.level_sums import level_sums, shared, sums_of
from duffdp.engines.tables.names import COUNT, GROUP, HIGH, INDEX, LOW, PART
from duffdp.engines.tables.streamed_groups import MOST_CELLS, bucket_counts, counts_within
from duffdp.errors import UnsupportedData

BUCKETS = 2**12  # a group's buckets in one pass
BUCKETS_OF_PEOPLE = 2**18  # where every pass brings the rows of each person together
FEWEST = 64  # with fewer buckets of each group, quicker passes are too many
LISTED = 2**12  # buckets that one query asks for
MOST_BRACKETS = 16  # ranks that are looked for by a sample, in the same pass
EXACT = 2**17  # as few records as this are counted value by value
ANY = Question(((Fraction(1, 2), 0),))  # some rank: what is wanted is the number of records

Answer = TypeVar("Answer")


@dataclass
class Descent:
    """Rows with INDEX and GROUP in an engine that runs queries; all groups are answered by the
    same few queries.
    """

    lazy: LazyRows
    _answers: dict[Question, list[tuple[list[Ranks], int]]] = field(default_factory=dict)
    _tallies: list[tuple[Ints, Ints]] | None = None
    _buckets: tuple[int, list[int]] = (0, [])  # a shift, and those with records in the ranges
    _cells: dict[tuple[int, ...], Ints] = field(default_factory=dict)
    _expected: dict[int, Levels] = field(default_factory=dict)
    _sums: dict[tuple[int, Levels], LevelSums] = field(default_factory=dict)

    def ask(self, question: Question) -> list[tuple[list[Ranks], int]]:
        """The answer for every group."""
        if question not in self._answers:
            sums = self._index_sums() if question.total else [0] * self.lazy.groups
            near = self._near(question.ranks)
            missing = tuple(dict.fromkeys(r for r in question.ranks if r not in near))
            near |= dict(zip(missing, self._descend(missing), strict=True))
            self._answers[question] = [
                ([near[rank][g] for rank in question.ranks], sums[g])
                for g in range(self.lazy.groups)
            ]
        return self._answers[question]

    def tallies(self) -> list[tuple[Ints, Ints]]:
        """Every distinct index of every group with its count."""
        if self._tallies is None:
            group, _, index, count = self._count(0, None)
            cut = np.searchsorted(group, np.arange(self.lazy.groups + 1))
            self._tallies = [(index[a:b], count[a:b]) for a, b in pairwise(cut)]
        return self._tallies

    def _index_sums(self) -> list[int]:
        """The sum of all indices of every group."""
        groups, every = range(self.lazy.groups), Levels(0, self.lazy.domain.size - 1)
        for group in groups:
            self.expect(group, every)
        return [self.level_sums(group, every).levels for group in groups]

    def within(self, group: int, starts: tuple[int, ...], of_all_groups: bool) -> list[int]:
        """How many records of a group lie from each candidate to the next one of the list."""
        lazy, number = self.lazy, self.lazy.nw.len().alias(COUNT)
        if (together := of_all_groups and lazy.groups > 1) and starts in self._cells:
            return list(self._cells[starts][group].tolist())
        if lazy.streamed_as and not lazy.by:
            return answered(partial(streamed.within, lazy), starts)
        rows = celled(lazy, lazy.counted if together else self.lazy.of_group(group), starts)
        if together:
            got = self._by_group(rows, [INDEX], [number])
            self._cells[starts] = by_cell(_whole(got), lazy.groups, len(starts))
            return list(self._cells[starts][group].tolist())
        got = self._fetch(rows.group_by(INDEX).agg(number))
        return list(by_cell(_whole(got), 1, len(starts))[0].tolist())

    def expect(self, group: int, levels: Levels) -> None:
        """Levels that a group will ask for."""
        if (group, levels) not in self._sums:
            self._expected[group] = levels

    def level_sums(self, group: int, levels: Levels) -> LevelSums:
        """The sums of a group, together with those of all groups whose levels are expected."""
        if (group, levels) not in self._sums:
            expected = self._expected.items()
            wanted = {g: each for g, each in expected if each.squares == levels.squares}
            wanted[group] = levels
            self._expected = {}
            self._sums |= dict.fromkeys(wanted.items(), LevelSums())
            if self.lazy.streamed_as and not self.lazy.by:
                self._sums[group, levels] = answered(
                    partial(streamed.level_sums, self.lazy), levels
                )
                return self._sums[group, levels]
            rows, sums = level_sums(self.lazy, wanted)
            if self.lazy.groups == 1:
                self._sums[group, levels] = sums_of(self._fetch(rows.select(*sums)), 0)
                return self._sums[group, levels]
            if shared(self.lazy, wanted):
                got = self._by_group(rows, [], sums)
            else:
                got = self._fetch(rows.group_by(GROUP).agg(*sums))
            for at, g in enumerate(whole(got[GROUP]).tolist()):
                more, known = sums_of(got, at), self._sums[g, wanted[g]]
                # A group may be spelled in several ways.
                self._sums[g, wanted[g]] = LevelSums(*map(operator.add, known, more))
        return self._sums[group, levels]

    def rank_of(self, group: int, index: int) -> tuple[int, int]:
        nw, rows = self.lazy.nw, self.lazy.of_group(group)
        number = nw.len().alias(COUNT)
        below, upto = (
            int(self._fetch(rows.filter(nw.col(INDEX) < end).select(number))[COUNT][0])
            for end in (index, index + 1)
        )
        return below, upto - below

    def _near(self, ranks: tuple[Rank, ...]) -> dict[Rank, list[Ranks]]:
        """Those of a few ranks without groups that a sample of the table brackets."""
        lazy, most = self.lazy, MOST_BRACKETS if self.lazy.streamed_as else 1
        if lazy.by or lazy.has_people or not isinstance(lazy.domain, Ordered) or len(ranks) > most:
            return {}
        return {rank: [near] for rank, near in answered(partial(near_ranks, lazy), ranks).items()}

    def _descend(self, ranks: tuple[tuple[Fraction, int], ...]) -> list[list[Ranks]]:
        """For every wanted rank and group: coarse buckets first, then the few that cover the
        rank, until they are single values.
        """
        size, groups = self.lazy.domain.size, self.lazy.groups
        shift = max(0, (size - 1).bit_length() - int(math.log2(self._buckets_of_each(groups))))
        found: dict[tuple[int, int], Ranks] = {}
        ranges: dict[tuple[int, int], tuple[int, int, int]] | None = (
            None  # (part, group): low, high, records below
        )
        total = [0] * groups
        while len(found) < len(ranks) * groups:
            group, part, bucket, count = self._count(shift, ranges)
            cuts = np.searchsorted(group * len(ranks) + part, np.arange(groups * len(ranks) + 1))
            if ranges is None:
                whole = np.searchsorted(group, np.arange(groups + 1))
                total = [int(count[a:b].sum()) for a, b in pairwise(whole)]
            following: dict[tuple[int, int], tuple[int, int, int]] = {}
            covering: list[Ints] = []
            inside = asked = 0
            for g in range(groups):
                for p, (q, reach) in enumerate(ranks):
                    if (p, g) in found:
                        continue
                    low, high, below = ranges[p, g] if ranges else (0, size - 1, 0)
                    begin, end = (
                        (cuts[g * len(ranks) + p], cuts[g * len(ranks) + p + 1])
                        if ranges
                        else (whole[g], whole[g + 1])
                    )
                    near = trim(
                        Ranks(bucket[begin:end], count[begin:end], below, total[g], low, high),
                        *wanted(q, reach, total[g]),
                    )
                    if shift == 0 or not len(near.values):
                        found[p, g] = near
                    else:
                        last = (
                            near.last if near.last == high else min(near.last + 2**shift - 1, high)
                        )
                        following[p, g] = (near.first, last, near.below)
                        covering.append(near.values)
                        inside += int(near.counts.sum())
                        asked += 2 * reach + 1
            ranges = following
            if ranges:
                if groups == 1:
                    self._buckets = shift, np.unique(np.concatenate(covering)).tolist()
                widest = max(high - low + 1 for low, high, _ in ranges.values())
                most = self._buckets_of_each(len(ranges))
                finer = max(0, widest.bit_length() - int(math.log2(most)))
                # Another round of buckets pays if it leaves out much more than what is wanted
                # anyway.
                shift = 0 if inside <= max(EXACT, 64 * groups, 4 * asked) else min(finer, shift - 1)
        return [[found[p, g] for g in range(groups)] for p in range(len(ranks))]

    def _buckets_of_each(self, ranges: int) -> int:
        """How many buckets one pass counts in each of some ranges of candidates."""
        engine = self.lazy.engine
        if self.lazy.has_people:
            return max(16, min(BUCKETS_OF_PEOPLE, engine.rows_back // ranges))
        quick = engine.quick_cells // ranges
        return max(16, min(BUCKETS, quick if quick >= FEWEST else engine.rows_back // ranges))

    def _count(
        self, shift: int, ranges: dict[tuple[int, int], tuple[int, int, int]] | None
    ) -> tuple[Ints, Ints, Ints, Ints]:
        """Group, part, bucket and number of records, ordered."""
        number, size = self.lazy.nw.len().alias(COUNT), self.lazy.domain.size
        if self.lazy.groups == 1:
            ends = {part: (low, high) for (part, _), (low, high, _) in (ranges or {}).items()}
            index, count = self._counts_within(shift, list(ends.values()) if ranges else None)
            pieces = []
            for part, (low, high) in (ends or {0: (0, size - 1)}).items():
                own = slice(*np.searchsorted(index, (low, high + 1)))
                zeros = np.zeros_like(index[own])
                pieces.append((zeros, zeros + part, index[own], count[own]))
            group, part_of, index, count = (
                np.concatenate(column) for column in zip(*pieces, strict=True)
            )
        elif self.lazy.streamed_as and ranges:
            return answered(partial(counts_within, self.lazy, shift, in_order), ranges)
        elif self.lazy.streamed_as and self.lazy.groups * (size >> shift) <= MOST_CELLS:
            return answered(partial(bucket_counts, self.lazy), shift)
        else:
            if ranges is None:
                got = self._by_group(self._bucketed(None, shift), [INDEX], [number])
                part_of = np.zeros(len(got[COUNT]), dtype=np.int64)
            else:
                got = self._fetch(
                    self._bucketed(self._within(ranges), shift)
                    .group_by(GROUP, PART, INDEX)
                    .agg(number)
                )
                part_of = whole(got[PART])
            group, index, count = (whole(got[name]) for name in (GROUP, INDEX, COUNT))
        return in_order(group, part_of, index, count)

    def _counts_within(self, shift: int, ranges: list[tuple[int, int]] | None) -> tuple[Ints, Ints]:
        """Every bucket in some ranges of candidates, or (None) in all, with its records, in order.

        Several ranges are asked for by the coarser buckets that they are made of.
        """
        index, number, asked = self.lazy.nw.col(INDEX), self.lazy.nw.len().alias(COUNT), [None]
        if ranges is not None and len(ranges) == 1:
            ((low, high),) = ranges
            asked = [self.lazy.counted.filter((index >= low) & (index <= high))]
        elif ranges is not None:
            # Asked for as a list, an index is computed once and not for each end of a range.
            coarse, listed = self._buckets
            some = (listed[begin : begin + LISTED] for begin in range(0, len(listed), LISTED))
            bucket = rounded_down(index, coarse)
            asked = [self.lazy.counted.filter(bucket.is_in(values)) for values in some]
        got = [
            _whole(self._fetch(self._bucketed(rows, shift).group_by(INDEX).agg(number)))
            for rows in asked
        ]
        found, count = (np.concatenate([each[name] for each in got]) for name in (INDEX, COUNT))
        order = np.argsort(found)
        return found[order], count[order]

    def _bucketed(self, rows: Any, shift: int) -> Any:
        """INDEX rounded down to multiples of 2**shift, in some rows or (None) in all."""
        if rows is None and shift and not self.lazy.has_people:
            return self.lazy.indexed(shift=shift)
        rows = self.lazy.counted if rows is None else rows
        if shift == 0:
            return rows
        return rows.with_columns(rounded_down(self.lazy.nw.col(INDEX), shift).alias(INDEX))

    def _by_group(self, rows: Any, also: list[str], aggregates: list[Any]) -> dict[str, Any]:
        """Aggregates for every group; where rows still have their own group columns, the keys
        are joined to the result.
        """
        by = self.lazy.by if self.lazy.late else [GROUP]
        counted = rows.group_by(*by, *also).agg(*aggregates)
        if self.lazy.late:
            counted = self.lazy.joined(counted)
        return self._fetch(counted)

    def _within(self, ranges: dict[tuple[int, int], tuple[int, int, int]]) -> Any:
        """The rows of every group that lie in its ranges, with GROUP and PART."""
        nw = self.lazy.nw
        limits: dict[str, list[Any]] = {
            GROUP: [g for _, g in ranges],
            PART: [p for p, _ in ranges],
            LOW: [low for low, _, _ in ranges.values()],
            HIGH: [high for _, high, _ in ranges.values()],
        }
        if self.lazy.late:
            narrow = len(set(limits[PART])) == 1
            rows = (
                self.lazy.indexed(min(limits[LOW]), max(limits[HIGH]))
                if narrow
                else self.lazy.counted
            )
            rows = self.lazy.joined(rows, limits)
        else:
            rows = self.lazy.counted.join(
                self.lazy.engine.literal_frame(self.lazy.counted, limits), on=GROUP, how="inner"
            )
        return rows.filter((nw.col(INDEX) >= nw.col(LOW)) & (nw.col(INDEX) <= nw.col(HIGH)))

    def _fetch(self, rows: Any) -> dict[str, Any]:
        return answered(self.lazy.engine.fetch, rows)


@dataclass(frozen=True, slots=True)
class LazyColumn:
    """One group of a lazy table."""

    descent: Descent
    group: int
    length: ClassVar[int] = 10**8  # not known before the first query

    @property
    def size(self) -> int:
        return self.descent.lazy.domain.size

    def ask(self, question: Question) -> tuple[list[Ranks], int]:
        return self.descent.ask(question)[self.group]

    def count(self) -> int:
        (ranks,), _ = self.ask(ANY)
        return ranks.total

    def expect(self, levels: Levels) -> None:
        self.descent.expect(self.group, levels)

    def level_sums(self, levels: Levels) -> LevelSums:
        return self.descent.level_sums(self.group, levels)

    def rank_of(self, index: int) -> tuple[int, int]:
        return self.descent.rank_of(self.group, index)

    def within(self, starts: Sequence[int], of_all_groups: bool) -> list[int]:
        return self.descent.within(self.group, tuple(starts), of_all_groups)

    def tally(self) -> tuple[Ints, Ints]:
        return self.descent.tallies()[self.group]


def answered(query: Callable[[Any], Answer], about: Any) -> Answer:
    """What an engine answers, or that it failed."""
    try:
        return query(about)
    except Exception as error:
        raise failed(error) from None


def failed(error: Exception) -> UnsupportedData:
    """That an engine failed, without its own words, which may quote data."""
    return UnsupportedData(
        f"the query failed in the engine that holds the data ({type(error).__name__}). Is it "
        "readable, as it was when the release began, and its connection open?"
    )


def in_order(group: Ints, part: Ints, index: Ints, count: Ints) -> tuple[Ints, Ints, Ints, Ints]:
    """Counts by group, part and index; those of the same place made one, as a group may be spelled
    in several ways.
    """
    order = np.lexsort((index, part, group))
    group, part, index, count = group[order], part[order], index[order], count[order]
    new = np.ones(len(index), dtype=bool)
    new[1:] = (group[1:] != group[:-1]) | (part[1:] != part[:-1]) | (index[1:] != index[:-1])
    if new.all():
        return group, part, index, count
    begin = new.nonzero()[0]
    return group[begin], part[begin], index[begin], np.add.reduceat(count, begin)


def whole(values: Any) -> Ints:
    """Whole numbers from whatever an engine returns them as."""
    if isinstance(values, np.ndarray) and values.dtype.kind in "iu":
        return values.astype(np.int64)
    return np.array([int(value) for value in values], dtype=np.int64)


def _whole(got: dict[str, Any]) -> dict[str, Ints]:
    return {name: whole(values) for name, values in got.items()}
