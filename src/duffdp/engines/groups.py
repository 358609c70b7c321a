"""Many groups of one array: what all of them ask is answered in one go."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import cached_property, partial
from itertools import chain
from typing import NamedTuple, overload

import numpy as np

from duffdp.domain import Array, Ints, Ordered
from duffdp.engines.arrays import SORTED, Column, Records, distinct
from duffdp.engines.arrays.threads import side_by_side
from duffdp.engines.source import Levels, LevelSums, ManyRanks, Question, Ranks

SUMMED = 2**20  # records of several groups that are summed at once
BLOCK = 256  # groups that are answered at once: their arrays fit into a processor's cache
# With few records each, more groups do: up to MOST of them, with about RECORDS records in all. With
# many each, fewer groups, so that there is work for all cores: no less than LEAST of them.
LEAST, MOST, RECORDS = 16, 2**12, 2**16
SHORT = 2**9  # up to so many records a group is sorted together with others of its length


class SideBySide(Sequence[Column]):
    """A column for each group of an array that holds each of them in one piece, made when it is
    looked at: there may be a million.
    """

    def __init__(self, records: Records, begins: Ints, sizes: Ints, grid: Ordered) -> None:
        array = records.array
        self._records, self._begins, self._sizes, self._grid = records, begins, sizes, grid
        complete = array.dtype == np.float64 and not (len(array) and np.isnan(array.max()))
        self._answered_at_once = complete or (array.dtype == np.int64 and grid.whole)
        self._latest: tuple[int, list[Column]] = (-1, [])  # a block of groups, by its number

    def __len__(self) -> int:
        return len(self._begins)

    @overload
    def __getitem__(self, at: int) -> Column: ...
    @overload
    def __getitem__(self, at: slice) -> SideBySide: ...
    def __getitem__(self, at: int | slice) -> Column | SideBySide:
        if isinstance(at, slice):
            return self._some(at)
        block, position = divmod(range(len(self))[at], BLOCK)
        if self._latest[0] != block:
            self._latest = block, self._block(block)
        return self._latest[1][position]

    @property
    def block(self) -> int:
        """How many groups are best answered at once."""
        records = max(len(self._records.array), 1)
        many = min(max(RECORDS * len(self) // records, BLOCK), MOST)
        return max(min(16 * RECORDS * len(self) // records, many), LEAST)

    @property
    def longest(self) -> int:
        """The number of records of the largest group."""
        return int(self._sizes.max())

    @property
    def size(self) -> int:
        """Number of candidates."""
        return self._grid.size

    def ranks(self, question: Question) -> list[ManyRanks | list[Ranks]]:
        """Each of the wanted ranks, of all groups: together, if none has to be asked by itself."""
        if question.total or not self._answered_at_once:
            answers = (column.ask(question)[0] for column in self)
            return list(map(list, zip(*answers, strict=True)))
        array, integer = self._records
        together = _Together(array, self._begins, self._sizes, self._grid)
        found: list[ManyRanks | list[Ranks]] = []
        for at, (near, enough) in enumerate(together.answers(question)):
            if enough.all():
                found.append(near)
                continue
            each = near.columns()
            for i in np.flatnonzero(~enough).tolist():
                group = Records(together.group(i), integer)
                each[i] = Column(group, self._grid).ask(question)[0][at]
            found.append(each)
        return found

    def level_sums(self, levels: Levels) -> list[Summed]:
        """The sums of every group, on all cores."""
        if not self._answered_at_once:
            return [Summed(column.level_sums(levels)) for column in self]
        order = np.argsort(self._begins, kind="stable")  # as records lie
        some = [order[at : at + self.block] for at in range(0, len(order), self.block)]
        found = list(chain.from_iterable(side_by_side(partial(self._sums_of, levels), some)))
        return [found[place] for place in np.argsort(order).tolist()]

    def _sums_of(self, levels: Levels, which: Ints) -> list[Summed]:
        (array, integer), grid = self._records, self._grid
        together = _Together(array, self._begins[which], self._sizes[which], grid)
        sums = together.level_sums(levels)
        if sums is None:
            pieces = (Records(together.group(i), integer) for i in range(len(which)))
            sums = [Column(piece, grid).level_sums(levels) for piece in pieces]
        return list(map(Summed, sums))

    def _some(self, at: slice) -> SideBySide:
        some = SideBySide.__new__(SideBySide)
        some.__dict__ |= self.__dict__
        some._begins, some._sizes, some._latest = self._begins[at], self._sizes[at], (-1, [])
        return some

    def _block(self, block: int) -> list[Column]:
        own = slice(block * BLOCK, (block + 1) * BLOCK)
        (array, integer), grid = self._records, self._grid
        together = _Together(array, self._begins[own], self._sizes[own], grid)
        pieces = [Records(together.group(i), integer) for i in range(len(together.sizes))]
        if not self._answered_at_once:
            return [Column(piece, grid) for piece in pieces]
        return [_Member(piece, grid, together, i) for i, piece in enumerate(pieces)]


class Counted:
    """Counts that are known already."""

    def __init__(self, index: Ints, count: Ints) -> None:
        self._index, self._count = index, count

    def tally(self) -> tuple[Ints, Ints]:
        return self._index, self._count


class Summed:
    """Sums that are known already."""

    __slots__ = ("_sums",)

    def __init__(self, sums: LevelSums) -> None:
        self._sums = sums

    def level_sums(self, levels: Levels) -> LevelSums:
        return self._sums


class _Member(Column):
    """A group that lets all of them be answered when it is asked first."""

    def __init__(self, records: Records, grid: Ordered, together: _Together, position: int) -> None:
        super().__init__(records, grid)
        self._together, self._position = together, position

    def ask(self, question: Question) -> tuple[list[Ranks], int]:
        if question.total:
            return super().ask(question)
        found = self._together.answers_of_each(question)[self._position]
        return super().ask(question) if found is None else (found, 0)

    def level_sums(self, levels: Levels) -> LevelSums:
        sums = self._together.level_sums(levels)
        return super().level_sums(levels) if sums is None else sums[self._position]


class _Answer(NamedTuple):
    """One of the wanted ranks of several groups; not `enough` where ties reach past what was
    selected and one has to look closer.
    """

    near: ManyRanks
    enough: Array


class _Together:
    """Groups of present float64 or int64 records: select the wanted ranks in each, then snap and
    count all at once.
    """

    def __init__(self, array: Array, begins: Ints, sizes: Ints, grid: Ordered) -> None:
        self._array, self._begins, self.sizes, self._grid = array, begins, sizes, grid
        self._found: dict[Question, list[list[Ranks] | None]] = {}
        self._latest: Question | None = None  # the last that was asked for
        self._answered: list[list[Ranks] | None] = []
        self._sums: dict[Levels, list[LevelSums]] = {}

    @cached_property
    def _spans(self) -> list[tuple[int, int]]:
        return list(zip(self._begins.tolist(), (self._begins + self.sizes).tolist(), strict=True))

    def group(self, i: int) -> Array:
        """The records of one group."""
        begin, end = self._spans[i]
        return self._array[begin:end]

    def answers_of_each(self, question: Question) -> list[list[Ranks] | None]:
        """All of the wanted ranks for each group; None for one that has to look closer."""
        if question is not self._latest:  # which takes less than to look it up
            if question not in self._found:
                answers = self.answers(question)
                each = zip(*(near.columns() for near, _ in answers), strict=True)
                enough = np.logical_and.reduce([enough for _, enough in answers]).tolist()
                self._found[question] = [
                    list(near) if own else None for near, own in zip(each, enough, strict=True)
                ]
            self._latest, self._answered = question, self._found[question]
        return self._answered

    def level_sums(self, levels: Levels) -> list[LevelSums] | None:
        """The sums of every group; None where each is better off by itself."""
        if int(self.sizes.sum()) > SUMMED or levels.top * SUMMED >= 2**63:
            return None
        if levels not in self._sums:
            index = self._grid.snap(self._records())
            level = levels.of(np.clip(index, levels.low, levels.high))
            found = [self.sizes, self._added(level)]
            if levels.squares:
                found.append(self._added(level * level))
            each = zip(*(column.tolist() for column in found), strict=True)
            self._sums[levels] = [LevelSums(*sums) for sums in each]
        return self._sums[levels]

    def _records(self) -> Array:
        """The records of all groups, one group after the other."""
        begins, ends = self._begins, self._begins + self.sizes
        if (begins[1:] == ends[:-1]).all():  # as they lie
            return self._array[begins[0] : ends[-1]]
        records: Array = self._array[_ranges(begins, self.sizes)]
        return records

    def _added(self, numbers: Ints) -> Ints:
        """The sum of every group; a running sum that wraps around leaves differences exact."""
        upto = np.zeros(len(numbers) + 1, dtype=np.int64)
        np.cumsum(numbers, out=upto[1:])
        end = np.cumsum(self.sizes)
        added: Ints = upto[end] - upto[end - self.sizes]
        return added

    def answers(self, question: Question) -> list[_Answer]:
        """Each of the wanted ranks, of all groups."""
        ranks = question.ranks
        spans = [_span(q, reach, self.sizes) for q, reach in ranks]
        lengths = [high - low + 1 for low, high in spans]
        selected = [np.empty(int(many.sum()), dtype=self._array.dtype) for many in lengths]
        places = [np.cumsum(many) - many for many in lengths]
        short = self.sizes <= SHORT
        if short.any():
            ordered = self._in_order(short)
            ahead = np.cumsum(self.sizes * short)[short] - self.sizes[short]
            for near, (low, _), many, place in zip(selected, spans, lengths, places, strict=True):
                if len(near) == len(ordered) and short.all():
                    near[:] = ordered
                else:
                    own = many[short]
                    near[_ranges(place[short], own)] = ordered[_ranges(ahead + low[short], own)]
        # Numbers of Python, once: so that of each group little but the sort holds up other threads.
        parts = [
            (near, low.tolist(), (high + 1).tolist(), place.tolist())
            for near, (low, high), place in zip(selected, spans, places, strict=True)
        ]
        for i in np.flatnonzero(~short).tolist():
            in_order = self.group(i).copy()
            few = len(in_order) <= SORTED
            if few:
                in_order.sort()
            else:
                in_order.partition(
                    sorted({end for low, high in spans for end in (low[i], high[i])})
                )
            for near, first, last, place in parts:
                middle, begin = in_order[first[i] : last[i]], place[i]
                near[begin : begin + len(middle)] = middle if few else np.sort(middle)
        return [
            self._ranks(q, question.enough, span, near)
            for (q, _), span, near in zip(ranks, spans, selected, strict=True)
        ]

    def _in_order(self, short: Array) -> Array:
        """The records of some groups, each sorted, one group after the other."""
        begins, sizes = self._begins[short], self.sizes[short]
        ordered = np.empty(int(sizes.sum()), dtype=self._array.dtype)
        places, length = np.cumsum(sizes) - sizes, np.frexp(sizes)[1]
        top = np.inf if ordered.dtype == np.float64 else np.iinfo(np.int64).max
        for like in np.flatnonzero(np.bincount(length)[1:]).tolist():
            # As rows of one array, in front of what nothing is above, one call sorts them all.
            which = np.flatnonzero(length == like + 1)
            many = sizes[which]
            inside = np.arange(int(many.max())) < many[:, None]
            rows = np.full(inside.shape, top, dtype=ordered.dtype)
            rows[inside] = self._array[_ranges(begins[which], many)]
            rows.sort(axis=1)
            ordered[_ranges(places[which], many)] = rows[inside]
        return ordered

    def _ranks(
        self, q: Fraction, least_reach: int | None, span: tuple[Ints, Ints], near: Array
    ) -> _Answer:
        """One wanted rank of every group, from the sorted records near it."""
        low, high = span
        upto = np.cumsum(high - low + 1)
        values, counts, first = distinct(self._grid.snap(near), upto[:-1])
        begin, end = np.searchsorted(first, upto - (high - low + 1)), np.searchsorted(first, upto)
        least, most = np.zeros_like(low), np.full_like(low, self._grid.size - 1)
        # A value at the edge of what was selected may go on outside: leave it out.
        before, after = low > 0, high < self.sizes - 1
        below = low.copy()
        below[before] += counts[begin[before]]
        least[before] = values[begin[before]] + 1
        most[after] = values[end[after] - 1] - 1
        begin, end = begin + before, end - after
        counted = np.append(0, np.cumsum(counts))
        within = np.maximum(end, begin)
        if least_reach is None:
            enough = ~before & ~after
        else:
            centre = q.numerator * self.sizes // q.denominator
            upto = below + counted[within] - counted[begin]
            enough = (begin <= end) & (~before | (below < centre - least_reach))
            enough &= ~after | (upto > centre + least_reach)
        if before.any() or after.any():
            inside = _ranges(begin, within - begin)
            values, counts = values[inside], counts[inside]
        ends = np.cumsum(within - begin)
        return _Answer(ManyRanks(values, counts, ends, below, self.sizes, least, most), enough)


def _span(q: Fraction, reach: int, total: Ints) -> tuple[Ints, Ints]:
    """The positions of the first and the last wanted record among so many sorted ones."""
    centre = q.numerator * total // q.denominator
    return np.clip(centre - reach, 0, np.maximum(total - 1, 0)), np.minimum(
        centre + 1 + reach, total - 1
    )


def _ranges(begins: Ints, many: Ints) -> Ints:
    """So many positions from each of these on, one range after the other."""
    ahead = np.cumsum(many) - many
    found: Ints = np.repeat(begins - ahead, many) + np.arange(int(many.sum()))
    return found


def by_group(records: Records, groups: Array | None, many: int, grid: Ordered) -> Sequence[Column]:
    """The rows of each group side by side, by a counting sort of the groups."""
    if groups is None:
        return [Column(records, grid)]
    order = stable_order(groups)
    sizes = np.bincount(groups, minlength=many)
    return SideBySide(
        Records(records.array[order], records.integer), np.cumsum(sizes) - sizes, sizes, grid
    )


def stable_order(numbers: Ints) -> Ints:
    """Positions of whole numbers from 0 to below 2**32 that bring equal ones together, in order:
    sixteen bits at a time, which numpy sorts by counting.
    """
    order: Ints = np.argsort((numbers & 0xFFFF).astype(np.uint16), kind="stable")
    if len(numbers) and int(numbers.max()) >= 2**16:
        high = (numbers >> 16).astype(np.uint16)
        order = order[np.argsort(high[order], kind="stable")]
    return order


def counted(index: Ints, group: Array | None, many: int, size: int) -> Iterable[Counted]:
    """Counts of each of `size` cells in each group."""
    code = index if group is None else group * size + index
    for row in np.bincount(code, minlength=many * size).reshape(many, -1):
        found = row.nonzero()[0]
        yield Counted(found, row[found])
