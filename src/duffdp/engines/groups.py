"""Many groups of one array: what all of them ask is answered in one go."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import overload

import numpy as np

from duffdp.domain import Array, Ints, Ordered
from duffdp.engines.arrays import SORTED, Column, Records, distinct, wanted
from duffdp.engines.source import Levels, LevelSums, Question, Ranks

SUMMED = 2**20  # records of several groups that are summed at once
BLOCK = 256  # groups that are answered at once: their arrays fit into a processor's cache


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
    def __getitem__(self, at: slice) -> list[Column]: ...
    def __getitem__(self, at: int | slice) -> Column | list[Column]:
        if isinstance(at, slice):
            return [self[i] for i in range(*at.indices(len(self)))]
        block, position = divmod(range(len(self))[at], BLOCK)
        if self._latest[0] != block:
            self._latest = block, self._block(block)
        return self._latest[1][position]

    def _block(self, block: int) -> list[Column]:
        own = slice(block * BLOCK, (block + 1) * BLOCK)
        begins, sizes = self._begins[own], self._sizes[own]
        spans = zip(begins.tolist(), (begins + sizes).tolist(), strict=True)
        array, grid = self._records.array, self._grid
        pieces = [Records(array[begin:end], self._records.integer) for begin, end in spans]
        if not self._answered_at_once:
            return [Column(piece, grid) for piece in pieces]
        together = _Together([piece.array for piece in pieces], grid)
        return [_Member(piece, grid, together, i) for i, piece in enumerate(pieces)]


class Counted:
    """Counts that are known already."""

    def __init__(self, index: Ints, count: Ints) -> None:
        self._index, self._count = index, count

    def tally(self) -> tuple[Ints, Ints]:
        return self._index, self._count


class _Member(Column):
    """A group that lets all of them be answered when it is asked first."""

    def __init__(self, records: Records, grid: Ordered, together: _Together, position: int) -> None:
        super().__init__(records, grid)
        self._together, self._position = together, position

    def ask(self, question: Question) -> tuple[list[Ranks], int]:
        if question.total:
            return super().ask(question)
        near = [each[self._position] for each in self._together.answers(question.ranks)]
        found = [ranks for ranks in near if ranks is not None]
        return (found, 0) if len(found) == len(near) else super().ask(question)

    def level_sums(self, levels: Levels) -> LevelSums:
        sums = self._together.level_sums(levels)
        return super().level_sums(levels) if sums is None else sums[self._position]


class _Together:
    """Groups of present float64 or int64 records: select the wanted ranks in each, then snap and
    count all at once.
    """

    def __init__(self, groups: list[Array], grid: Ordered) -> None:
        self._groups, self._grid = groups, grid
        self._found: dict[tuple[tuple[Fraction, int], ...], list[list[Ranks | None]]] = {}
        self._sums: dict[Levels, list[LevelSums]] = {}
        self._lengths = np.array([len(group) for group in groups])
        self._summed_at_once = int(self._lengths.sum()) <= SUMMED

    def answers(self, ranks: tuple[tuple[Fraction, int], ...]) -> list[list[Ranks | None]]:
        """For each of the wanted ranks those of every group; None where ties reach past what was
        selected and one has to look closer.
        """
        found = self._found.get(ranks)
        if found is None:
            found = self._found[ranks] = self._answers(ranks)
        return found

    def level_sums(self, levels: Levels) -> list[LevelSums] | None:
        """The sums of every group; None where each is better off by itself."""
        if not self._summed_at_once or levels.top * SUMMED >= 2**63:
            return None
        if levels not in self._sums:
            index = self._grid.snap(np.concatenate(self._groups))
            level = levels.of(np.clip(index, levels.low, levels.high))
            found = [self._lengths, self._added(level)]
            if levels.squares:
                found.append(self._added(level * level))
            each = zip(*(column.tolist() for column in found), strict=True)
            self._sums[levels] = [LevelSums(*sums) for sums in each]
        return self._sums[levels]

    def _added(self, numbers: Ints) -> Ints:
        """The sum of every group; a running sum that wraps around leaves differences exact."""
        upto = np.zeros(len(numbers) + 1, dtype=np.int64)
        np.cumsum(numbers, out=upto[1:])
        end = np.cumsum(self._lengths)
        added: Ints = upto[end] - upto[end - self._lengths]
        return added

    def _answers(self, ranks: tuple[tuple[Fraction, int], ...]) -> list[list[Ranks | None]]:
        spans = [[_span(q, reach, len(group)) for group in self._groups] for q, reach in ranks]
        middles: list[list[Array]] = [[] for _ in ranks]
        for group, *own in zip(self._groups, *spans, strict=True):
            few = len(group) <= SORTED
            ends = sorted({end for low, high, _ in own for end in (low, high)})
            ordered = np.sort(group) if few else np.partition(group, ends)
            for (low, high, _), parts in zip(own, middles, strict=True):
                middle = ordered[low : high + 1]
                parts.append(middle if few else np.sort(middle))
        return [
            self._ranks(q, *each)
            for (q, _), each in zip(ranks, zip(spans, middles, strict=True), strict=True)
        ]

    def _ranks(
        self, q: Fraction, spans: list[tuple[int, int, int]], middles: list[Array]
    ) -> list[Ranks | None]:
        """One wanted rank of every group, from the sorted records near it."""
        lengths = np.array([len(middle) for middle in middles])
        index = self._grid.snap(np.concatenate(middles))
        values, counts, first = distinct(index, np.cumsum(lengths) - lengths)
        cuts = np.searchsorted(first, np.concatenate([[0], np.cumsum(lengths)])).tolist()
        top = self._grid.size - 1
        found: list[Ranks | None] = []
        for (low, high, total), begin, end in zip(spans, cuts[:-1], cuts[1:], strict=True):
            below, least, most = low, 0, top
            # A value at the edge of what was selected may go on outside: leave it to the tail.
            if low > 0:
                below, least, begin = low + int(counts[begin]), int(values[begin]) + 1, begin + 1
            if high < total - 1:
                end -= 1
                most = int(values[end]) - 1
            near = Ranks(values[begin:end], counts[begin:end], below, total, least, most)
            centre = q.numerator * total // q.denominator
            inside = (
                begin <= end
                and (low == 0 or below < centre)
                and (high == total - 1 or below + int(near.counts.sum()) > centre)
            )
            found.append(near if inside else None)
        return found


def _span(q: Fraction, reach: int, total: int) -> tuple[int, int, int]:
    """The positions of the first and the last wanted record among so many sorted ones, and how
    many these are.
    """
    low, high = wanted(q, reach, total)
    return max(min(low, total - 1), 0), min(high, total - 1), total


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
