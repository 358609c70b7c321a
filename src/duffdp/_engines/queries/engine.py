"""Counting engine for tables that stay in a database or a lazy frame, for any number of columns and
groups.

Ranks are searched for by a descent: count by coarse buckets of candidates, keep those that cover
the ranks, count these more finely. Requests of one round share their passes over the rows.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial

import numpy as np

from duffdp._engines.arrays.engine import answer_by_value, answer_column
from duffdp._engines.queries import streams
from duffdp._engines.queries.brackets import bracketed_ranks
from duffdp._engines.queries.cells import CellQuery, count_cells
from duffdp._engines.queries.counts_of_counts import CountTable, count_tables, find_candidate
from duffdp._engines.queries.ranks import Ranges, RankSearch, Target
from duffdp._engines.queries.rows import QueryRows, run_query
from duffdp._engines.queries.sums import level_sums
from duffdp._engines.requests import (
    SQUARED_LEVEL_BITS,
    Answer,
    BinCounts,
    CandidateAt,
    ColumnRequest,
    CountsOfCounts,
    GroupedCounts,
    GroupedRanks,
    LevelSums,
    Quantization,
    RankAt,
    RanksNear,
    RecordCounts,
    Request,
    ValueCounts,
)
from duffdp.domain import Ints, Ordered

BUCKETS = 2**12  # of a group in one pass
BUCKETS_OF_PEOPLE = 2**18  # where every pass brings the rows of each person together
MIN_BUCKETS = 64  # of each group: with fewer, quicker passes are too many
MAX_COUNTED_BY_VALUE = 2**17  # records that are counted value by value rather than by buckets
MAX_MODE_GROUPS = 16  # groups of which each candidate of a mode takes a query of its own
MAX_STREAMED_TARGETS = 16  # of ranks that one pass over a stream brackets

Key = tuple[int, Request[Answer], bytes]  # column, request, groups


@dataclass
class QueryEngine:
    """Answers requests about the rows of one lazy table by few queries.

    Coarse counts, totals and answers are remembered: a program may repeat a request (as
    `ArrayEngine`), and so may releases that share a scan.
    """

    rows: QueryRows
    max_records: int = 10**8  # a guess: nothing is known before the first query
    _answers: dict[Key, Answer] = field(default_factory=dict)
    _coarse: dict[int, tuple[int, GroupedCounts]] = field(default_factory=dict)  # with the shift
    _totals: dict[int, Ints] = field(default_factory=dict)
    _count_tables: dict[tuple[int, int], CountTable] = field(default_factory=dict)

    @property
    def groups(self) -> int:
        """Number of groups."""
        return self.rows.groups

    def blocks(self) -> list[Ints]:
        """All groups in one piece: the same queries are about all of them."""
        return [np.arange(self.groups)]

    def answer(self, requests: Sequence[ColumnRequest]) -> list[Answer]:
        """One answer for each request, with as few passes over the rows as possible."""
        keys = [(column, request, groups.tobytes()) for column, groups, request in requests]
        new = {
            key: request
            for key, request in zip(keys, requests, strict=True)
            if key not in self._answers
        }
        self._stream(new)
        self._bracket_ranks(new)
        self._count_cells(new)
        self._search_ranks(new)
        self._sum_levels(new)
        for key, (column, groups, request) in new.items():
            if key not in self._answers:
                self._answers[key] = self._answer_by_value(column, groups, request)
        return [self._answers[key] for key in keys]

    def rehearse(self) -> None:
        """Send every kind of query that a request may take, about rows without a record: what the
        engine lacks is an error.
        """
        all_groups, first, last = (
            np.arange(self.groups),
            np.zeros(1, np.int64),
            self.rows.sizes[0] - 1,
        )
        if not isinstance(self.rows.columns[0].domain, Ordered):
            self.answer([ColumnRequest(0, all_groups, ValueCounts())])
            return
        high = min(last, 2**SQUARED_LEVEL_BITS)
        sums = [LevelSums(Quantization(low, high, 1, True)) for low in (high // 2, 0)]
        cells = BinCounts((0, last // 2 + 1)), RankAt(last)
        if self.groups > 1:  # which may have levels of their own
            self.answer(
                [ColumnRequest(0, first, sums[0]), ColumnRequest(0, all_groups[1:], sums[1])]
            )
        for groups in (all_groups, first):
            ranks = RanksNear(((Fraction(1, 2), 1),))
            requests: list[Request[Answer]] = [*sums, *cells, ranks]
            self.answer([ColumnRequest(0, groups, request) for request in requests])
        for parts in (1, 2):  # what narrows a search, which ends at once without records
            lows = np.zeros((parts, self.groups), dtype=np.int64)
            ranges = Ranges(lows, lows + last, np.zeros(1, np.int64), 1)
            self._count([CellQuery(0, 1, ranges)])
        count_tables(self.rows, 0, all_groups[:MAX_MODE_GROUPS].tolist())

    def _stream(self, new: dict[Key, ColumnRequest]) -> None:
        """Answer what arrays count sooner than a query, if the engine hands them over."""
        if self.rows.streamed_as is None or self.rows.by:
            return
        in_memory = self._value_counts(0) is not None
        streamed = {
            key: request
            for key, (_, _, request) in new.items()
            if isinstance(request, LevelSums) or (_is_streamed(request) and not in_memory)
        }
        if streamed:
            column = streams.StreamColumn(self.rows)
            answers = run_query(partial(answer_column, column), list(streamed.values()))
            self._answers |= zip(streamed, answers, strict=True)

    def _bracket_ranks(self, new: dict[Key, ColumnRequest]) -> None:
        """Ranks of the only group of the only column that a sample brackets: no long query."""
        ranked = [key for key in new if isinstance(key[1], RanksNear) and key not in self._answers]
        if len(ranked) != 1 or self._value_counts(0) is not None:
            return
        ((_, request, _),) = ranked
        assert isinstance(request, RanksNear)
        ranks = bracketed_ranks(self.rows, request.targets)
        if ranks is not None:
            self._totals[0] = np.array([ranks.total])
            self._answers[ranked[0]] = [GroupedRanks.join([ranks])]

    def _count_cells(self, new: dict[Key, ColumnRequest]) -> None:
        """Count what requests about all values or about bins need, and the coarse buckets that
        searches begin with: one pass for all.
        """
        by_value, coarse = set(), set()  # columns that are counted by value, or by wide buckets
        bins: dict[tuple[int, tuple[int, ...]], list[Key]] = {}
        for key, (column, groups, request) in new.items():
            if key in self._answers or self._value_counts(column) is not None:
                continue
            match request:
                case ValueCounts():
                    by_value.add(column)
                case CountsOfCounts() if len(groups) > MAX_MODE_GROUPS:
                    by_value.add(column)
                case RanksNear():
                    coarse.add(column)
                case RecordCounts() if column not in self._totals:
                    coarse.add(column)
                case BinCounts(starts):
                    bins.setdefault((column, starts), []).append(key)
                case RankAt():
                    starts = request.bins(self.rows.sizes[column]).starts
                    bins.setdefault((column, starts), []).append(key)
        columns = sorted(by_value | {c for c in coarse if c not in self._coarse})
        bits = self._bucket_bits(self.groups * max(1, len(columns)))
        shifts = {
            c: 0 if c in by_value else max(0, (self.rows.sizes[c] - 1).bit_length() - bits)
            for c in columns
        }
        cells = [CellQuery(c, shift) for c, shift in shifts.items()]
        cells += [CellQuery(c, starts=starts) for c, starts in bins]
        # Bins of some groups are counted in these alone, unless all are counted anyway.
        bin_groups = (
            [new[key].groups for keys in bins.values() for key in keys] if not shifts else []
        )
        counts = self._count(cells, np.unique(np.concatenate(bin_groups)) if bin_groups else None)
        for (column, shift), column_counts in zip(shifts.items(), counts, strict=False):
            self._coarse[column] = shift, column_counts
            self._totals[column] = column_counts.totals()
        for ((_, starts), keys), column_counts in zip(
            bins.items(), counts[len(shifts) :], strict=True
        ):
            for key in keys:
                _, groups, request = new[key]
                filled = column_counts.take(groups).histogram(len(starts))
                answers = request.answer(filled) if isinstance(request, RankAt) else filled
                self._answers[key] = answers

    def _search_ranks(self, new: dict[Key, ColumnRequest]) -> None:
        """Search for ranks of all columns by narrower and narrower buckets, until these are single
        values.
        """
        targets: dict[int, dict[tuple[Target, bytes], Ints]] = {}
        waiting: dict[Key, tuple[Target, ...]] = {}
        for key, (column, groups, request) in new.items():
            if isinstance(request, RanksNear) and key not in self._answers:
                waiting[key] = request.targets
                column_targets = targets.setdefault(column, {})
                column_targets |= {(target, key[2]): groups for target in request.targets}
        shifts = {c: self._coarse[c][0] for c in targets}
        searches = {
            c: RankSearch(
                [(target, groups) for (target, _), groups in column_targets.items()],
                self._totals[c],
                self.rows.sizes[c],
            )
            for c, column_targets in targets.items()
        }
        for c, search in searches.items():
            search.narrow(self._coarse[c][1], shifts[c])
        while unfinished := {c: search for c, search in searches.items() if search.open_entries}:
            self._refine(shifts, unfinished)
            cells = [CellQuery(c, shifts[c], search.ranges()) for c, search in unfinished.items()]
            for (c, search), counts in zip(unfinished.items(), self._count(cells), strict=True):
                search.narrow(counts, shifts[c])
        ranks = {
            (c, *target_key): answer
            for c, search in searches.items()
            for target_key, answer in zip(targets[c], search.answers(), strict=True)
        }
        for key, sought in waiting.items():
            self._answers[key] = [ranks[key[0], target, key[2]] for target in sought]

    def _refine(self, shifts: dict[int, int], searches: dict[int, RankSearch]) -> None:
        """Choose narrower buckets: single values if few records are inside of all ranges, as
        another round pays only if it leaves out many of them.
        """
        columns, all_searches = len(searches), searches.values()
        inside = sum(search.records_inside for search in all_searches)
        ranks = sum(search.open_ranks for search in all_searches)
        limit = max(MAX_COUNTED_BY_VALUE * columns, 64 * self.groups * columns, 4 * ranks)
        bits = self._bucket_bits(sum(search.open_entries for search in all_searches))
        for c, search in searches.items():
            finer = max(0, search.widest.bit_length() - bits)
            shifts[c] = 0 if inside <= limit else min(finer, shifts[c] - 1)

    def _bucket_bits(self, ranges: int) -> int:
        """Number of bits of a candidate that one pass distinguishes in each of some ranges."""
        adapter = self.rows.adapter
        if self.rows.has_people:
            buckets = min(BUCKETS_OF_PEOPLE, adapter.max_result_rows // ranges)
        else:
            # Spark counts cached rows by few cells several times as fast as by more.
            fast = adapter.fast_hash_cells // ranges
            is_fast = fast >= MIN_BUCKETS
            buckets = min(BUCKETS, fast if is_fast else adapter.max_result_rows // ranges)
        return int(math.log2(max(16, buckets)))

    def _sum_levels(self, new: dict[Key, ColumnRequest]) -> None:
        """Sum the levels of all columns and groups, in one pass."""
        requests = {
            key: (column, groups, request.quantization)
            for key, (column, groups, request) in new.items()
            if isinstance(request, LevelSums) and key not in self._answers
        }
        if requests:
            sums = level_sums(self.rows, list(requests.values()))
            for key, (column, groups, quantization) in requests.items():
                self._answers[key] = [sums[column, g, quantization] for g in groups.tolist()]

    def _answer_by_value(self, column: int, groups: Ints, request: Request[Answer]) -> Answer:
        """An answer from what is counted by now; candidates of modes may take further queries."""
        if isinstance(request, RecordCounts):
            totals: list[int] = self._totals[column][groups].tolist()
            return totals
        values, size = self._value_counts(column), self.rows.sizes[column]
        if values is not None:
            return answer_by_value(values.take(groups), request, size)
        # Nearly as many candidates as records have some on a wide grid: they are not fetched.
        tables = self._tables(column, groups.tolist())
        if isinstance(request, CountsOfCounts):
            return GroupedCounts.join([table.counts_of_counts() for table in tables])
        assert isinstance(request, CandidateAt), request
        return [
            find_candidate(self.rows, column, group, table, request.records, request.position)
            for group, table in zip(groups.tolist(), tables, strict=True)
        ]

    def _tables(self, column: int, groups: list[int]) -> list[CountTable]:
        """Number of candidates by their number of records, in each group."""
        if new := [group for group in groups if (column, group) not in self._count_tables]:
            tables = count_tables(self.rows, column, new)
            self._count_tables |= {(column, g): table for g, table in zip(new, tables, strict=True)}
        return [self._count_tables[column, group] for group in groups]

    def _value_counts(self, column: int) -> GroupedCounts | None:
        """The counts of all values of a column, if these are known."""
        shift, counts = self._coarse.get(column, (1, None))
        return counts if shift == 0 else None

    def _count(self, cells: Sequence[CellQuery], groups: Ints | None = None) -> list[GroupedCounts]:
        """Counts of every group, or only of some `groups`: one pass for all."""
        streamed = [self._stream_cells(query) for query in cells]
        unstreamed = [
            query for query, counts in zip(cells, streamed, strict=True) if counts is None
        ]
        queried = iter(count_cells(self.rows, unstreamed, groups) if unstreamed else [])
        return [next(queried) if counts is None else counts for counts in streamed]

    def _stream_cells(self, cells: CellQuery) -> GroupedCounts | None:
        """Counts of streamed groups, which takes no large hash tables; None for what a query counts
        as fast.
        """
        rows, (column, shift, ranges, starts) = self.rows, cells
        if rows.streamed_as is None or not rows.by or starts is not None:
            return None
        if ranges is not None:
            return run_query(partial(streams.counts_within, rows, shift), ranges)
        if rows.groups * (rows.sizes[column] >> shift) > streams.MAX_BUCKETS:
            return None
        return run_query(partial(streams.bucket_counts, rows), shift)


def _is_streamed(request: Request[Answer]) -> bool:
    """True if one pass over a stream answers a request, without much memory."""
    if isinstance(request, RanksNear):
        return len(request.targets) <= MAX_STREAMED_TARGETS
    return isinstance(request, BinCounts | RankAt | RecordCounts)
