"""Numbers that an engine in this process hands over in pieces: each is an array, and what is asked
about all of them is put together from what the arrays answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from operator import add

import numpy as np

from duffdp.domain import Array, Ordered
from duffdp.engines.arrays import Column, Records
from duffdp.engines.source import Levels, LevelSums, Ranks
from duffdp.engines.tables.lazy_rows import LazyRows


def pieces(lazy: LazyRows) -> Iterator[Column]:
    """The records of a table, an array at a time."""
    for (array,) in lazy.pieces():
        yield _column(lazy, array)


def _column(lazy: LazyRows, array: Array) -> Column:
    assert isinstance(lazy.domain, Ordered)
    return Column(Records(array, array.dtype.kind != "f"), lazy.domain)


def ranks_within(
    lazy: LazyRows, ranks: Sequence[tuple[Fraction, int]], brackets: list[tuple[int, int]]
) -> list[Ranks | None]:
    """Wanted ranks that lie between two candidates each; None for those that do not."""
    gathers, seen, _ = _column(lazy, np.empty(0, lazy.streamed_as)).scan(brackets, False)
    for piece in pieces(lazy):
        more, also_seen, _ = piece.scan(brackets, False)
        seen += also_seen
        for gather, other in zip(gathers, more, strict=True):
            gather.join(other)
    return [gather.near(*rank, seen) for gather, rank in zip(gathers, ranks, strict=True)]


def level_sums(lazy: LazyRows, levels: Levels) -> LevelSums:
    """Exact sums over all records."""
    found = LevelSums()
    for piece in pieces(lazy):
        found = LevelSums(*map(add, found, piece.level_sums(levels)))
    return found


def within(lazy: LazyRows, starts: tuple[int, ...]) -> list[int]:
    """How many records lie from each candidate to the next one of the list."""
    counts = np.zeros(len(starts), dtype=np.int64)
    for piece in pieces(lazy):
        counts += piece.within(starts, of_all_groups=False)
    return list(counts.tolist())
