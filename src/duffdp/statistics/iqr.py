"""The interquartile range."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import cache, partial
from typing import Any

import numpy as np

from duffdp.domain import Grid, Ints
from duffdp.engines.arrays import Column, read
from duffdp.engines.source import Question, Ranks, Source
from duffdp.statistics.reached import Reached
from duffdp.steps import Batch, StepFunction

QUARTILES = Fraction(1, 4), Fraction(3, 4)
MOST_LEVELS = 2**13  # of a window: work grows with their square, and the tail knows the rest
MOST_NUMBERS = 2**18  # that are looked at in one go


class InterquartileRange:
    """The third quartile minus the first; 0 if there is no record.

    The distance of a candidate is the fewest changes after which what can be reached, from the
    narrowest range to the widest, holds it.

    Privacy
    -------
    Changes by at most 1 when one record joins or leaves; rate 1/2 (`tests/neighbours_test.py`). The
    widest range after k changes is the widest stretch of ceil((n + k) / 2) ranks around the middle,
    the narrowest the narrowest of floor((n - k) / 2); a record that joins or leaves moves a stretch
    by at most one rank. Clamped and snapped records; candidates are 0 to the range of the bounds.

    Utility
    -------
    About k / 2 ranks at either quartile for k changes: bounds play no part while these lie inside.

    Runtime
    -------
    One pass for the ranks around both quartiles, and numbers of the order of the square of the
    levels, at most 8,192 of them in a window.

    References
    ----------
    Gillenwater and Munoz Medina, "Duff" (NeurIPS 2020), section 4.1; the closed form and its proof
    in `docs/theory.md`, "Interquartile range".

    Examples
    --------
    >>> import duffdp
    >>> grid = duffdp.Grid(0, 9, 1)
    >>> steps = duffdp.statistics.InterquartileRange().steps([1, 3, 4, 6], grid)
    >>> [steps.distance_at(x) for x in range(10)]
    [3, 1, 1, 0, 1, 1, 2, 3, 3, 5]
    """

    name = "iqr"
    rate = Fraction(1, 2)
    unit = Fraction(1)

    def outputs(self, domain: Grid) -> Grid:
        """What two candidates can differ by."""
        return domain.differences()

    def steps(self, values: Any, domain: Grid) -> StepFunction:
        """The distance of every candidate of `outputs(domain)`."""
        reach = _whole(Column(read(values), domain), domain.size - 1)
        return reach.steps(self.outputs(domain), reach.records + 2, self.rate)

    def question(self, max_distance: float) -> Question:
        """What a window up to the distance `max_distance` needs to know: the ranks around both
        quartiles.
        """
        return self._question(math.ceil(min(max_distance + 1, MOST_LEVELS)))

    def _question(self, levels: int) -> Question:
        return Question(tuple((q, 3 * levels // 4 + 2) for q in QUARTILES))

    def windows(self, columns: Sequence[Source], domain: Grid, max_distance: float) -> Batch:
        """The candidates up to about a distance of each column, and the rest as tails."""
        levels = math.ceil(min(max_distance + 1, MOST_LEVELS))
        outputs, question, top = self.outputs(domain), self._question(levels), domain.size - 1
        steps = []
        for column in columns:
            (first, third), _ = column.ask(question)
            reach = _Reach(first, third, top)
            whole = cache(partial(_whole, column, top))
            steps.append(reach.steps(outputs, levels, self.rate, whole))
        return Batch.of(steps)

    def __repr__(self) -> str:
        return "InterquartileRange()"


class _Reach(Reached):
    """The narrowest and the widest interquartile range that k changes reach, for the records around
    both quartiles; ranks before the first record are at 0, after the last at `top`.
    """

    def __init__(self, first: Ranks, third: Ranks, top: int) -> None:
        self.records, self._top = first.total, top
        self._first, self._third = first, third
        self._upto = [near.below + np.cumsum(near.counts) for near in (first, third)]

    def between(self, begin: int, end: int) -> tuple[Ints, Ints]:
        """The narrowest and the widest range after `begin`, ..., `end - 1` changes."""
        low, high = np.empty((2, end - begin), dtype=np.int64)
        at = begin
        while at < end:
            many = max(1, min(MOST_NUMBERS // (end + 2), end - at))
            k = np.arange(at, at + many)[:, None]
            low[at - begin : at - begin + many] = self._narrowest(k)
            high[at - begin : at - begin + many] = self._widest(k)
            at += many
        return low, high

    def _widest(self, k: Ints) -> Ints:
        """The widest stretch of ceil((n + k) / 2) ranks, for a column of numbers of changes."""
        n = self.records
        last = _up(n + k)
        rank = _up(n - 3 * k) + np.arange(int(k.max()) + 2)
        rank = np.minimum(rank, last)
        other = np.minimum(rank + (n + k + 1) // 2, _up(3 * (n + k)))
        widest: Ints = (self._values(1, other) - self._values(0, rank)).max(axis=1)
        return widest

    def _narrowest(self, k: Ints) -> Ints:
        """The narrowest stretch of floor((n - k) / 2) ranks, for a column of numbers of changes."""
        n = self.records
        k = np.minimum(k, n)
        rank = _up(n - k) + np.arange(int(k.max()) + 2)
        rank = np.minimum(rank, _up(n + 3 * k))
        other = np.maximum(rank + (n - k) // 2, _up(3 * (n - k)))
        narrowest: Ints = (self._values(1, other) - self._values(0, rank)).min(axis=1)
        return narrowest

    def _values(self, part: int, rank: Ints) -> Ints:
        """The records with these ranks, around the first or the third quartile."""
        near, upto = (self._first, self._third)[part], self._upto[part]
        least, most = int(rank.min()), int(rank.max())
        ranks = np.arange(least, most + 1)
        inside = np.searchsorted(upto, ranks).clip(0, max(len(upto) - 1, 0))
        found = near.values[inside] if len(near.values) else np.zeros_like(ranks)
        found = np.where(ranks < 1, 0, np.where(ranks > self.records, self._top, found))
        return found[rank - least]


def _up(four_times: Ints) -> Ints:
    """A quarter, rounded up."""
    return -(-four_times // 4)


def _whole(column: Source, top: int) -> _Reach:
    index, count = column.tally()
    every = Ranks(index, count, 0, int(count.sum()), 0, top)
    return _Reach(every, every, top)
