"""The trimmed mean."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from duffdp.domain import Array, Domain, Grid, Ints
from duffdp.engines.arrays import Column, read
from duffdp.engines.source import Tally
from duffdp.parameters import read_trim
from duffdp.steps import Batch, StepFunction, Tail, nested

MOST_NUMBERS = 2**24  # that a window looks at
MOST_LEVELS = 2**12  # of a window: work grows with their square, and the tail knows the rest


class TrimmedMean:
    """The mean of what is left when floor(trim n) records are cut off at either end.

    The distance of a candidate is the fewest changes after which what can be reached, from the
    lowest trimmed mean to the highest, holds it.

    Parameters
    ----------
    trim
        The share that is cut off at either end, above 0 and below 1/2.

    Privacy
    -------
    Changes by at most 1 when one record joins or leaves; rate 1/2 (`tests/neighbours_test.py`). For
    so many that leave and so many that join, every rank is largest when the smallest leave and the
    others join at the upper bound, so the highest trimmed mean after k changes is the largest of k
    + 1 numbers; it is at least what a neighbour reaches with one change less. Clamped and snapped
    records, public domain.

    Utility
    -------
    While fewer changes than are cut off at an end suffice, the bounds play no part in the distance.

    Runtime
    -------
    The counts of all distinct values, and numbers of the order of the square of the levels, at most
    4,096 of them in a window.

    References
    ----------
    Gillenwater and Munoz Medina, "Duff" (NeurIPS 2020), section 4.1; `docs/theory.md`, "Trimmed
    mean".

    Examples
    --------
    >>> import duffdp
    >>> steps = duffdp.statistics.TrimmedMean(0.25).steps([0, 4, 6, 9], duffdp.Grid(0, 9, 1))
    >>> [steps.distance_at(x) for x in range(10)]
    [3, 3, 2, 2, 1, 0, 1, 2, 3, 3]
    """

    name = "trimmed_mean"
    rate = Fraction(1, 2)
    unit = Fraction(1)

    def __init__(self, trim: Any) -> None:
        self.trim = read_trim(trim)

    def steps(self, values: Any, domain: Grid) -> StepFunction:
        """The distance of every candidate of the domain."""
        reach = _Reach(*Column(read(values), domain).tally(), self.trim, domain.size - 1)
        return reach.steps(domain, reach.total + 2)

    def windows(self, columns: Sequence[Tally], domain: Domain, max_distance: float) -> Batch:
        """The candidates up to about a distance of each column, and the rest as tails."""
        assert isinstance(domain, Grid)
        levels = min(math.ceil(max_distance) + 1, MOST_LEVELS)
        reaches = (_Reach(*column.tally(), self.trim, domain.size - 1) for column in columns)
        return Batch.of([reach.steps(domain, levels) for reach in reaches])

    def __repr__(self) -> str:
        return f"TrimmedMean({self.trim})"


class _Reach:
    """The lowest and the highest candidate that k changes reach, for indices from 0 to `top`."""

    def __init__(self, values: Ints, counts: Ints, trim: Fraction, top: int) -> None:
        self.total, self._top = int(counts.sum()), top
        self._trim = trim.numerator, trim.denominator
        # The highest of the mirrored records is the lowest of the records.
        self._sides = (
            _PrefixSums(top - values[::-1], counts[::-1], top),
            _PrefixSums(values, counts, top),
        )

    def steps(self, domain: Grid, levels: int) -> StepFunction:
        """Runs for fewer than so many changes; levels that reach no candidate have no run."""
        low: list[int] = []
        high: list[int] = []
        # Where the trimmed mean lies between two candidates, so many changes reach none.
        empty = self._fewest(lambda k: self._top - self._highest(0, k) <= self._highest(1, k))
        for k in range(empty, empty + max(min(levels, MOST_NUMBERS // (empty + 1)), 3)):
            low.append(self._top - self._highest(0, k))
            high.append(self._highest(1, k))
            if low[-1] == 0 and high[-1] == self._top:
                break
        lows, highs = np.array(low, dtype=np.int64), np.array(high, dtype=np.int64)
        first, last = low[-1], high[-1]
        left = domain.size - 1 - (last - first)
        tail = Tail(first, last, left, empty + len(low), self._distance_of) if left else None
        return StepFunction(domain, *nested(lows, highs, empty), tail=tail)

    def _distance_of(self, index: int) -> int:
        """The fewest changes that reach a candidate."""
        return self._fewest(
            lambda k: self._top - self._highest(0, k) <= index <= self._highest(1, k)
        )

    def _fewest(self, enough: Callable[[int], bool]) -> int:
        """The fewest changes that are enough, by bisection: what is reached only grows."""
        few, many = -1, self.total + 1  # all but one leave, or one joins: that reaches everything
        while many - few > 1:
            k = (few + many) // 2
            few, many = (few, k) if enough(k) else (k, many)
        return many

    def _highest(self, side: int, k: int) -> int:
        """The highest candidate up to the largest trimmed mean after k changes: j leave, k - j
        join.
        """
        p, m = self._trim
        leave = np.arange(min(k, self.total) + 1)
        join = k - leave
        size = self.total - leave + join
        leave, join, size = leave[size > 0], join[size > 0], size[size > 0]
        if not len(size):  # no record at all
            return -1
        cut = p * size // m
        joined = np.maximum(join - cut, 0)  # of those at the upper bound, how many are kept
        begin, end = leave + cut, leave + size - cut - joined
        sums = self._sides[side].between(np.minimum(begin, end), end)
        kept = size - 2 * cut
        joined = np.minimum(joined, kept)
        return int(max((sums + joined * self._top) // kept))


class _PrefixSums:
    """Exact sums of the first records of a sorted multiset."""

    def __init__(self, values: Ints, counts: Ints, top: int) -> None:
        exact: Any = np.int64 if int(counts.sum() + 2) * (top + 1) < 2**62 else object
        self._values = np.append(values.astype(exact), np.array([0], dtype=exact))
        self._counts = np.append(0, np.cumsum(counts))
        weights: Array = values.astype(exact) * counts.astype(exact)
        self._sums = np.append(np.array([0], dtype=exact), np.cumsum(weights))

    def between(self, begin: Ints, end: Ints) -> Array:
        """The sum of the records with ranks above `begin` up to `end`."""
        return self._first(end) - self._first(begin)

    def _first(self, many: Ints) -> Array:
        place = np.searchsorted(self._counts, many, side="right") - 1
        sums: Array = self._sums[place] + (many - self._counts[place]) * self._values[place]
        return sums
