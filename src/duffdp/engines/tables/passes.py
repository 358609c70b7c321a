"""What several releases ask of one table, answered by passes over it that they share.

A release says what it will ask for before it asks (`PassColumn.waits_for`); when all have said so,
one query answers them together. Whatever is asked unannounced is answered by a query of its own, so
that no number depends on who else asks.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import reduce
from typing import Any, ClassVar

import numpy as np

from duffdp.domain import Ints
from duffdp.domain.snapping import rounded_down
from duffdp.domain.thresholds import Thresholds
from duffdp.engines.arrays import trim, wanted
from duffdp.engines.source import Levels, LevelSums, Question, Ranks
from duffdp.engines.tables.descent import ANY, BUCKETS, BUCKETS_OF_PEOPLE, EXACT, whole
from duffdp.engines.tables.level_sums import (
    in_pieces,
    level_limits,
    level_of,
    sums_named,
    with_own_level,
)
from duffdp.engines.tables.names import (
    COUNT,
    GROUP,
    HIGHS,
    LEVELS,
    LOW,
    LOWS,
    RECORDS,
    SQUARES,
    STARTS,
    WIDTHS,
)
from duffdp.engines.tables.several_columns import Counts, Limits, SeveralColumns

Rank = tuple[Fraction, int]
Range = tuple[int, int, int]  # first and last candidate, records before


class NotYet(Exception):
    """What is asked for is not known; it has been noted down."""


@dataclass
class Passes:
    """The answers about several columns of one table that are known, and what is asked for."""

    rows: SeveralColumns
    only_noted: bool = False  # while releases say what they will ask for
    _asked: dict[tuple[int, Rank], None] = field(default_factory=dict)
    _asked_whole: dict[int, None] = field(default_factory=dict)
    _coarse: dict[int, tuple[int, Counts]] = field(default_factory=dict)
    _ranks: dict[tuple[int, Rank], list[Ranks]] = field(default_factory=dict)
    _levels: dict[tuple[int, int], dict[Levels, None]] = field(default_factory=dict)
    _sums: dict[tuple[int, int, Levels], LevelSums] = field(default_factory=dict)
    _cells: dict[tuple[int, int | None, tuple[int, ...]], Counts] = field(default_factory=dict)

    def answer(self) -> None:
        """Answer what was noted down. Sums wait until no ranks are asked for: what follows from
        these may be more sums.
        """
        if self._asked or self._asked_whole:
            self._answer_ranks()
        else:
            self._answer_sums()

    def ask(self, column: int, group: int, question: Question) -> tuple[list[Ranks], int]:
        """The wanted ranks and, if asked for, the sum of all indices."""
        keys = [(column, rank) for rank in question.ranks]
        missing = [key for key in keys if key not in self._ranks]
        self._asked |= dict.fromkeys(missing)
        total = 0
        if question.total:
            every = Levels(0, self.rows.sizes[column] - 1)
            for g in range(self.rows.groups):
                self.expect(column, g, every)
            total = self.level_sums(column, group, every).levels
        if missing:
            self._now(self._answer_ranks)
        return [self._ranks[key][group] for key in keys], total

    def tally(self, column: int, group: int) -> tuple[Ints, Ints]:
        """Every distinct index with its count."""
        if self._coarse.get(column, (1, {}))[0] != 0:
            self._asked_whole[column] = None
            self._now(self._answer_ranks)
        return self._coarse[column][1][column, group]

    def expect(self, column: int, group: int, levels: Levels) -> None:
        """Note down levels that will be asked for."""
        if (column, group, levels) not in self._sums:
            self._levels.setdefault((column, group), {})[levels] = None

    def level_sums(self, column: int, group: int, levels: Levels) -> LevelSums:
        """The sums of a group, together with all that are noted down."""
        if (column, group, levels) not in self._sums:
            self.expect(column, group, levels)
            self._now(self._answer_sums)
        return self._sums[column, group, levels]

    def within(
        self, column: int, group: int, starts: tuple[int, ...], of_all_groups: bool
    ) -> list[int]:
        """How many records lie from each candidate to the next one of the list."""
        nw, index = self.rows.nw, self._index(column)
        one = self.rows.groups > 1 and not of_all_groups
        asked = column, group if one else None, starts
        if asked not in self._cells:
            last = Fraction(self.rows.sizes[column] - 1)
            cell = Thresholds.of((*map(Fraction, starts), last)).of_column(nw, index, nw.Int64)
            cell = nw.when(~index.is_null()).then(cell)
            limits: Limits | None = {GROUP: [group]} if one else None
            self._cells[asked] = self.rows.counts({column: cell}, limits)
        return _filled(self._cells[asked][column, group], len(starts))

    def rank_of(self, column: int, group: int, place: int) -> tuple[int, int]:
        """How many records lie before a candidate and how many at it."""
        nw, index = self.rows.nw, self._index(column)
        one, none = nw.lit(1), nw.lit(0)
        got = self.rows.fetch_group(
            group,
            nw.when(index < place).then(one).otherwise(none).sum().alias(LOW),
            nw.when(index == place).then(one).otherwise(none).sum().alias(COUNT),
        )
        below, at = (0 if got[name][0] is None else int(got[name][0]) for name in (LOW, COUNT))
        return below, at

    def _now(self, answer: Callable[[], None]) -> None:
        if self.only_noted:
            raise NotYet
        answer()

    def _index(self, column: int) -> Any:
        return self.rows.nw.col(self.rows.names[column])

    def _answer_ranks(self) -> None:
        """Coarse buckets of all columns first, then those that cover the ranks, until they are
        single values.
        """
        asked, self._asked = self._asked, {}
        every, self._asked_whole = self._asked_whole, {}
        groups, sizes = self.rows.groups, self.rows.sizes
        columns = dict.fromkeys([*every, *(column for column, _ in asked)])
        buckets = BUCKETS_OF_PEOPLE if self.rows.has_people else BUCKETS
        most = max(16, min(buckets, self.rows.engine.rows_back // (groups * len(columns))))
        coarse = {
            c: 0 if c in every else max(0, (sizes[c] - 1).bit_length() - int(math.log2(most)))
            for c in columns
            if c not in self._coarse or (c in every and self._coarse[c][0] > 0)
        }
        if coarse:
            found = self.rows.counts({c: rounded_down(self._index(c), coarse[c]) for c in coarse})
            for c, shift in coarse.items():
                own = {pair: both for pair, both in found.items() if pair[0] == c}
                self._coarse[c] = shift, own
        shifts = {c: self._coarse[c][0] for c, _ in asked}
        counts = {pair: both for c in shifts for pair, both in self._coarse[c][1].items()}
        total = {pair: int(count.sum()) for pair, (_, count) in counts.items()}
        ranges: dict[tuple[int, int, Rank], Range] = {
            (c, g, rank): (0, sizes[c] - 1, 0) for c, rank in asked for g in range(groups)
        }
        ranks: dict[tuple[int, int, Rank], Ranks] = {}
        while ranges:
            following: dict[tuple[int, int, Rank], Range] = {}
            inside = reached = 0
            for (c, g, rank), (low, high, below) in ranges.items():
                index, count = counts[c, g]
                span = slice(*np.searchsorted(index, (low, high + 1)))
                near = Ranks(index[span], count[span], below, total[c, g], low, high)
                near = trim(near, *wanted(*rank, total[c, g]))
                if shifts[c] == 0 or not len(near.values):
                    ranks[c, g, rank] = near
                    continue
                last = near.last if near.last == high else near.last + 2 ** shifts[c] - 1
                following[c, g, rank] = near.first, min(last, high), near.below
                inside += int(near.counts.sum())
                reached += 2 * rank[1] + 1
            ranges = following
            if ranges:
                few = max(EXACT * len(shifts), 64 * groups * len(shifts), 4 * reached)
                self._refine(shifts, ranges, buckets, inside <= few)
                counts = self._counts_within(shifts, ranges)
        for c, rank in asked:
            self._ranks[c, rank] = [ranks[c, g, rank] for g in range(groups)]

    def _refine(
        self,
        shifts: dict[int, int],
        ranges: dict[tuple[int, int, Rank], Range],
        buckets: int,
        few: bool,
    ) -> None:
        """Narrower buckets: single values if `few` records are left."""
        most = max(16, min(buckets, self.rows.engine.rows_back // len(ranges)))
        for c in {c for c, _, _ in ranges}:
            widest = max(high - low + 1 for (at, _, _), (low, high, _) in ranges.items() if at == c)
            finer = max(0, widest.bit_length() - int(math.log2(most)))
            shifts[c] = 0 if few else min(finer, shifts[c] - 1)

    def _counts_within(
        self, shifts: dict[int, int], ranges: dict[tuple[int, int, Rank], Range]
    ) -> Counts:
        """The buckets of every group that lie in its ranges."""
        nw = self.rows.nw
        spans: dict[tuple[int, int], list[tuple[int, int]]] = {}
        for (c, g, _), (low, high, _) in ranges.items():
            spans.setdefault((c, g), []).append((low, high))
        spans = {pair: _merged(each) for pair, each in spans.items()}
        columns = sorted({c for c, _ in spans})
        within: dict[int, list[tuple[Any, Any]]] = {}
        limits: Limits | None = None
        if self.rows.groups == 1:
            within = {c: [(low, high) for low, high in spans[c, 0]] for c in columns}
        else:
            groups = sorted({g for _, g in spans})
            limits = {GROUP: groups}
            for c in columns:
                parts = max(len(each) for (at, _), each in spans.items() if at == c)
                within[c] = [
                    (nw.col(LOWS.format(c, p)), nw.col(HIGHS.format(c, p))) for p in range(parts)
                ]
                for p in range(parts):
                    # Nothing lies from 1 to 0.
                    own = [(spans.get((c, g), []) + [(1, 0)] * parts)[p] for g in groups]
                    limits[LOWS.format(c, p)] = [low for low, _ in own]
                    limits[HIGHS.format(c, p)] = [high for _, high in own]
        expressions = {}
        for c in columns:
            index = self._index(c)
            inside = _any((index >= low) & (index <= high) for low, high in within[c])
            expressions[c] = nw.when(inside).then(rounded_down(index, shifts[c]))
        return self.rows.counts(expressions, limits)

    def _answer_sums(self) -> None:
        """The sums of all levels that are noted down, in one pass."""
        noted, self._levels = self._levels, {}
        # By column, whether squares are wanted, which fit few levels alone, and position.
        slots: dict[tuple[int, bool, int], dict[int, Levels]] = {}
        for (c, g), every in noted.items():
            for squares in (False, True):
                for at, levels in enumerate(one for one in every if one.squares == squares):
                    slots.setdefault((c, squares, at), {})[g] = levels
        nw, names, groups = self.rows.nw, self.rows.names, self.rows.groups
        alike = [len(own) == groups and len(set(own.values())) == 1 for own in slots.values()]
        limits: Limits | None = None
        if not all(alike):
            limits = {GROUP: list(range(groups))}
            for slot, own in enumerate(slots.values()):
                unasked = next(iter(own.values()))
                limits |= level_limits([own.get(g, unasked) for g in range(groups)], _limits(slot))
        aggregates = []

        def with_levels(rows: Any) -> Any:
            for slot, ((c, squares, _), own) in enumerate(slots.items()):
                level, square, some = LEVELS.format(slot), SQUARES.format(slot), own.values()
                if alike[slot]:
                    (levels, *_) = some
                    made = level_of(nw, self._index(c), levels, self.rows.sizes[c])
                    rows = rows.with_columns(made.alias(level))
                else:
                    shifted = any(levels.shift for levels in some)
                    rows = with_own_level(nw, rows, names[c], level, _limits(slot), shifted)
                bits = max(levels.top for levels in some).bit_length()
                summed = [(level, bits)]
                if squares:
                    rows = rows.with_columns((nw.col(level) * nw.col(level)).alias(square))
                    summed.append((square, 2 * bits))
                aggregates.append(self._index(c).count().alias(RECORDS.format(slot)))
                for name, most in summed:
                    rows, pieces = in_pieces(self.rows, rows, name, most)
                    aggregates.extend(nw.col(piece).sum() for piece in pieces)
            return rows

        got = self.rows.sums(with_levels, aggregates, limits)
        at_group = whole(got[GROUP]).tolist() if GROUP in got else [0]
        for slot, ((c, _, _), own) in enumerate(slots.items()):
            sums = dict.fromkeys(own, LevelSums())
            for at, g in enumerate(at_group):
                if g in own:  # which may be spelled in several ways
                    more = sums_named(
                        got, at, RECORDS.format(slot), LEVELS.format(slot), SQUARES.format(slot)
                    )
                    sums[g] = LevelSums(*map(operator.add, sums[g], more))
            self._sums |= {(c, g, own[g]): sums[g] for g in own}


@dataclass(frozen=True, slots=True)
class PassColumn:
    """One group of one column."""

    passes: Passes
    column: int
    group: int
    length: ClassVar[int] = 10**8  # not known before the first query

    @property
    def size(self) -> int:
        return self.passes.rows.sizes[self.column]

    def waits_for(self, ask: Callable[[], object]) -> Passes | None:
        """Note down what is asked for, and by whom it is to be answered; None if it is known."""
        self.passes.only_noted = True
        try:
            ask()
        except NotYet:
            return self.passes
        finally:
            self.passes.only_noted = False
        return None

    def ask(self, question: Question) -> tuple[list[Ranks], int]:
        return self.passes.ask(self.column, self.group, question)

    def count(self) -> int:
        (ranks,), _ = self.ask(ANY)
        return ranks.total

    def expect(self, levels: Levels) -> None:
        self.passes.expect(self.column, self.group, levels)

    def level_sums(self, levels: Levels) -> LevelSums:
        return self.passes.level_sums(self.column, self.group, levels)

    def rank_of(self, index: int) -> tuple[int, int]:
        return self.passes.rank_of(self.column, self.group, index)

    def within(self, starts: Sequence[int], of_all_groups: bool) -> list[int]:
        return self.passes.within(self.column, self.group, tuple(starts), of_all_groups)

    def tally(self) -> tuple[Ints, Ints]:
        return self.passes.tally(self.column, self.group)


def _limits(slot: int) -> tuple[str, str, str, str]:
    at = LOWS.format(slot, 0), HIGHS.format(slot, 0)
    return *at, STARTS.format(slot), WIDTHS.format(slot)


def _any(conditions: Iterable[Any]) -> Any:
    return reduce(operator.or_, conditions)


def _merged(ranges: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The same candidates as ranges that do not overlap, in order."""
    found: list[tuple[int, int]] = []
    for low, high in sorted(ranges):
        if found and low <= found[-1][1] + 1:
            found[-1] = found[-1][0], max(high, found[-1][1])
        else:
            found.append((low, high))
    return found


def _filled(counts: tuple[Ints, Ints], cells: int) -> list[int]:
    """How many records lie in each cell, none included."""
    found = np.zeros(cells, dtype=np.int64)
    found[counts[0]] = counts[1]
    return list(found.tolist())
