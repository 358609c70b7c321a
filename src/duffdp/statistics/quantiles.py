"""Several quantiles at once: runs of candidates with the number of records before them, in windows around every rank."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from duffdp.domain import Ints
from duffdp.engines.source import Question, Ranks, Source
from duffdp.errors import DuffError
from duffdp.statistics.entry import Choice, Entry, Parameters, Part
from duffdp.statistics.quantile import Quantile, read_q, share_text

FINEST = 6  # a candidate with many records is split into at most 2**6 parts
UNIT = 2 << FINEST  # ranks are whole numbers of 1/128 of a record


def read_qs(qs: Any) -> tuple[Fraction, ...]:
    """Shares from 0 to 1, sorted; at least one, all different."""
    if isinstance(qs, str | bytes) or not isinstance(qs, Iterable):
        raise DuffError(f"qs must be a list of numbers from 0 to 1, got {qs!r}. Pass for example qs=[0.25, 0.5, 0.75].")
    shares = sorted(read_q(q) for q in qs)
    if not shares:
        raise DuffError("qs must hold at least one number from 0 to 1, got none. Pass for example qs=[0.25, 0.5, 0.75].")
    for a, b in pairwise(shares):
        if a == b:
            raise DuffError(f"qs must differ from each other, got {float(a):g} twice. Ask for it once.")
    return tuple(shares)


@dataclass(frozen=True, slots=True)
class Quantiles:
    """Several quantiles together."""

    qs: tuple[Fraction, ...]


@dataclass(frozen=True, slots=True)
class Runs:
    """Neighbouring candidates that no record tells apart, or a part of one candidate, in domain order.

    Run i holds `cells[i]` candidates from `start[i]` on, or `1 / parts[i]` of one; `rank[i]` is the number of records before
    it in units of 1/128. For quantile j the runs from `low[j]` up to, not including, `high[j]` are its window, and any
    candidate outside it is at least `reach[j]` records away from the wanted rank (infinitely many if there is none outside).
    """

    start: Ints
    cells: Ints
    parts: Ints
    rank: Ints
    low: list[int]
    high: list[int]
    reach: list[float]
    total: int
    rank_of: Callable[[int], tuple[int, int]]

    @property
    def log_volume(self) -> npt.NDArray[np.float64]:
        volume: npt.NDArray[np.float64] = np.log(self.cells) - np.log(self.parts)
        return volume

    def holds(self, j: int, cell: int) -> bool:
        """Whether a candidate lies in the window of quantile j."""
        last = self.high[j] - 1
        return bool(self.start[self.low[j]] <= cell < self.start[last] + self.cells[last])

    def rank_at(self, cell: int, part: int) -> int:
        """Records before one of the 64 parts of a candidate, in units of 1/128: one pass."""
        before, equal = self.rank_of(cell)
        parts = part_count(np.array([equal]))
        return UNIT * before + int(part_ranks(np.array([equal]), np.array([part * int(parts[0]) >> FINEST]))[0])


def part_count(records: Ints) -> Ints:
    """Into how many parts a candidate with so many records is split: 1 up to three records, then about half as many."""
    parts: Ints = np.ones(len(records), dtype=np.int64)
    for level in range(1, FINEST + 1):
        parts[records >= 2 ** (level + 1)] = 2**level
    return parts


def part_ranks(records: Ints, part: Ints) -> Ints:
    """How many of the records at a candidate lie before a part of it, in units of 1/128.

    The e-th record at a candidate lies evenly over the `part_count(e)` parts that the candidate has once it joined, half of
    each share before and half after the part. So one more record adds a non-decreasing function of the place, from 0 to 1.
    """
    parts = part_count(records)
    rank: Ints = np.minimum(records, 3) * (UNIT // 2)
    for level in range(1, FINEST + 1):
        many = np.maximum(records + 1 - 2 ** (level + 1), 0)
        many = many if level == FINEST else np.minimum(many, 2 ** (level + 1))
        coarse = np.where(parts >= 2**level, part * 2**level // parts, 0)
        rank = rank + many * (2 * coarse + 1) * 2 ** (FINEST - level)
    return rank


def runs_around(column: Source, qs: tuple[Fraction, ...], reach: int) -> Runs:
    """The runs within `reach` ranks of every quantile, from one pass over the data."""
    found, _ = column.ask(Question(tuple((q, reach) for q in qs)))
    size = column.size
    pieces = [_runs(near) for near in found]
    joined = np.concatenate([np.stack(piece) for piece in pieces], axis=1)
    # Windows that overlap list the same runs: one of each, in order.
    order = np.lexsort((joined[3], joined[0]))
    joined = joined[:, order]
    fresh = np.ones(joined.shape[1], dtype=bool)
    fresh[1:] = (joined[0, 1:] != joined[0, :-1]) | (joined[3, 1:] != joined[3, :-1])
    start, cells, parts, rank = joined[:, fresh]
    low = [int(np.searchsorted(rank, piece[3][0])) for piece in pieces]
    high = [int(np.searchsorted(rank, piece[3][-1])) + 1 for piece in pieces]
    away = [_least_away(near, q, size) for near, q in zip(found, qs, strict=True)]
    return Runs(start, cells, parts, rank, low, high, away, found[0].total, column.rank_of)


def _runs(near: Ranks) -> tuple[Ints, Ints, Ints, Ints]:
    """Gaps and candidates with records from `near.first` to `near.last`."""
    many = len(near.values)
    start, cells, parts, rank, records = np.zeros((5, 2 * many + 1), dtype=np.int64)
    start[0] = near.first
    start[1::2], start[2::2] = near.values, near.values + 1
    cells[:-1] = start[1:] - start[:-1]
    cells[-1] = near.last + 1 - start[-1]
    records[1::2] = near.counts
    rank[0] = near.below
    rank[1:] = near.below + np.cumsum(records)[:-1]
    parts[:] = 1
    parts[1::2] = part_count(near.counts)
    keep = cells > 0
    start, cells, parts, rank, records = (column[keep] for column in (start, cells, parts, rank, records))
    part = np.arange(parts.sum()) - np.repeat(np.cumsum(parts) - parts, parts)
    start, cells, rank, records, each = (np.repeat(column, parts) for column in (start, cells, rank, records, parts))
    return start, cells, each, UNIT * rank + np.where(records > 0, part_ranks(records, part), 0)


def _least_away(near: Ranks, q: Fraction, size: int) -> float:
    """The fewest records between the wanted rank q n and any candidate outside a window."""
    sides = []
    if near.first > 0:
        sides.append(q * near.total - near.below)
    if near.last < size - 1:
        sides.append(near.below + int(near.counts.sum()) - q * near.total)
    return float(min(sides, default=Fraction(0))) if sides else float("inf")


def _parts(given: Parameters, choice: Choice) -> tuple[Part, ...]:
    """All in one draw, or the paper's mechanism for each with the same share of epsilon."""
    qs: tuple[Fraction, ...] = given["qs"]
    names = tuple(map(share_text, qs))
    if choice == "best":
        return (Part(Quantiles(qs), "joint-exponential", names),)
    share = Fraction(1, len(qs))
    return tuple(
        Part(Quantile(q), "exponential", (name,), share, "distance")
        for q, name in zip(qs, names, strict=True)
    )


ENTRIES = {
    "quantiles": Entry(
        name="quantiles",
        parts=_parts,
        title=lambda given: f"Quantiles {', '.join(map(str, given['qs']))}",
        read={"qs": read_qs},
        shape="list",
        label=lambda column: f"quantile({column})",
        sort=True,
        examples=({"qs": (0.25, 0.75)},),
    ),
}
