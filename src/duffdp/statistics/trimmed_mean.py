"""Trimmed mean."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from duffdp._engines.requests import Engine, Inquiry, ValueCounts, ask
from duffdp._parameters import TRIM, Choice
from duffdp._steps import StepFunction, Tail, Windows, certain, nested
from duffdp.domain import Array, Grid, Ints, PublicSet
from duffdp.domain.default_step import StepRule
from duffdp.statistics.mean import mean_value
from duffdp.statistics.program import ReleaseProgram
from duffdp.statistics.records import counts_of, exact_counts
from duffdp.statistics.spec import DrawSettings, Parameters, StatisticSpec
from duffdp.statistics.statistic import DistanceStatistic, Scope

MAX_TRIMMED_NUMBERS = 2**24  # computed for a window
MAX_TRIMMED_LEVELS = 2**12  # work grows with their square; the rest is left to the tail


class TrimmedMean(DistanceStatistic):
    """The mean of the records without the floor(trim n) smallest and the floor(trim n) largest.

    The distance of a candidate is the fewest changes k for which it is between the lowest and the
    highest trimmed mean that k changes can reach.

    Parameters
    ----------
    trim
        The share that is cut off at either end, above 0 and below 1/2.

    Privacy
    -------
    The distance changes by at most 1 when one record is added or removed, so its rate is 1/2
    (`tests/guarantees/neighbours_test.py`). For given numbers of removed and added records, the
    value at every rank is largest if the smallest are removed and the others added at the upper
    bound. So the highest trimmed mean after k changes is the largest of k + 1 numbers, and at least
    the highest one that a neighbor reaches with k - 1 changes. Records are clamped and rounded to
    the public domain.

    Utility
    -------
    The bounds have no effect on distances up to the number of records that are cut off at either
    end.

    Runtime
    -------
    The counts of all distinct values, and work that grows with the square of the number of levels,
    at most 4,096 per window.

    References
    ----------
    Gillenwater and Munoz Medina, "Duff" (NeurIPS 2020), section 4.1;
    `docs/explanation/statistics.md`, "Trimmed mean".

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
        self.trim = TRIM.read(trim)

    def steps(self, values: object, domain: Grid) -> StepFunction:
        """The distance of every candidate of the domain."""
        reach = _Reach(*counts_of(values, domain).group(0), self.trim, domain.size - 1)
        return reach.steps(domain, reach.total + 2)

    def windows(self, scope: Scope, max_distance: float) -> Inquiry[Windows]:
        domain = scope.grid
        levels = min(math.ceil(max_distance) + 1, MAX_TRIMMED_LEVELS)
        counts = yield from ask(ValueCounts())
        reaches = (_Reach(*group, self.trim, domain.size - 1) for group in counts.split())
        return Windows.of([reach.steps(domain, levels) for reach in reaches])

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
        for k in range(empty, empty + max(min(levels, MAX_TRIMMED_NUMBERS // (empty + 1)), 3)):
            low.append(self._top - self._highest(0, k))
            high.append(self._highest(1, k))
            if low[-1] == 0 and high[-1] == self._top:
                break
        lows, highs = np.array(low, dtype=np.int64), np.array(high, dtype=np.int64)
        first, last = low[-1], high[-1]
        outside = domain.size - 1 - (last - first)
        tail = Tail(first, last, outside, empty + len(low), self._inquire) if outside else None
        return StepFunction(domain, *nested(lows, highs, empty), tail=tail)

    def _inquire(self, index: int) -> Inquiry[int]:
        return certain(self._distance_of(index))

    def _distance_of(self, index: int) -> int:
        """The fewest changes that reach a candidate."""
        return self._fewest(
            lambda k: self._top - self._highest(0, k) <= index <= self._highest(1, k)
        )

    def _fewest(self, is_enough: Callable[[int], bool]) -> int:
        """The fewest changes that are enough, by bisection: what is reached only grows."""
        # After one change more than there are records every candidate is reached.
        return bisect_left(range(self.total + 1), True, key=is_enough)

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
        remaining = size - 2 * cut
        joined = np.minimum(joined, remaining)
        return int(max((sums + joined * self._top) // remaining))


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

    def _first(self, count: Ints) -> Array:
        place = np.searchsorted(self._counts, count, side="right") - 1
        sums: Array = self._sums[place] + (count - self._counts[place]) * self._values[place]
        return sums


class TrimmedMeanSpec(StatisticSpec):
    """The trimmed mean."""

    name = "trimmed_mean"
    parameters = (TRIM,)
    examples = ({"trim": 0.25},)
    no_interval_reason = (
        "the distances between records at the cuts are private. Use a mean or a median, which have "
        "intervals"
    )

    def program(self, parameters: Parameters, settings: DrawSettings) -> ReleaseProgram:
        statistic = TrimmedMean(TRIM.of(parameters))
        return ReleaseProgram.by_distance(statistic, self.name, settings.choice)

    def exact(self, parameters: Parameters, engine: Engine, domain: PublicSet) -> Sequence[object]:
        assert isinstance(domain, Grid)
        index, count = exact_counts(engine)
        n = int(count.sum())
        cut = math.floor(TRIM.of(parameters) * n)
        cumulative = np.clip(np.cumsum(count), cut, n - cut)
        remaining = np.diff(cumulative, prepend=cut)
        return [mean_value(domain, index.astype(object), remaining.astype(object))]

    def step_rule(self, choice: Choice) -> StepRule:
        return "average"

    def title(self, parameters: Parameters) -> str:
        return f"Mean without {parameters['trim']} at either end"


SPECS = (TrimmedMeanSpec(),)
