"""The variance."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import cache, partial
from typing import Any

import numpy as np

from duffdp.domain import Grid, Ints
from duffdp.engines.arrays import Column, read
from duffdp.engines.source import Levels, Question, Source
from duffdp.errors import BoundsError
from duffdp.statistics.reached import Reached
from duffdp.steps import Batch, StepFunction

MOST_LEVELS = 2**13  # of a window: the tail knows the rest
CANDIDATE_BITS = 40
Ends = tuple[tuple[Ints, Ints], tuple[Ints, Ints]]  # values and counts from either end


class Variance:
    """The mean squared distance of the clamped records from their mean; 0 if there is no record.

    The distance of a candidate, a standard deviation, is at most the fewest records to add or
    remove until it is that of the data.

    Privacy
    -------
    Changes by at most 1 when one record joins or leaves; rate 1/2 (`tests/neighbours_test.py`).
    What k changes reach is bounded by removing k records at the mean of what is left and adding k
    at the bounds, and by cutting k records off at either end and adding k at the mean of the rest.
    Clamped and snapped records, rounded to at most 2**16 levels; public candidates.

    Utility
    -------
    About k (b - a)**2 / (2 n) for k changes.

    Runtime
    -------
    One pass for the records at both ends and one for exact sums; one step of exact integer
    arithmetic a level.

    References
    ----------
    Gillenwater and Munoz Medina, "Duff" (NeurIPS 2020), section 4.1; the bounds and their proof in
    `docs/theory.md`, "Variance".

    Examples
    --------
    >>> import duffdp
    >>> grid = duffdp.Grid(0, 10, 1)
    >>> steps = duffdp.statistics.Variance().steps([2, 4, 4, 4, 5, 5, 7, 9], grid)
    >>> [steps.distance_at(x) for x in (0, 1, 1.5, 1.75, 2, 3, 4)]
    [4, 1, 1, 1, 0, 3, 6]
    """

    name = "variance"
    rate = Fraction(1, 2)
    unit = Fraction(1)

    def outputs(self, domain: Grid) -> Grid:
        """Standard deviations from 0 to half the range, about 2**40 of them."""
        levels, step = _levels(domain), _step(domain)
        return Grid(0, _highest(levels.top) * step, step)

    def steps(self, values: Any, domain: Grid) -> StepFunction:
        """The distance of every candidate of `outputs(domain)`."""
        reach = _whole(Column(read(values), domain), domain)
        return reach.steps(self.outputs(domain), reach.records + 2, self.rate)

    def windows(self, columns: Sequence[Source], domain: Grid, max_distance: float) -> Batch:
        """The candidates up to about a distance of each column, and the rest as tails."""
        most = math.ceil(min(max_distance + 1, MOST_LEVELS))
        outputs, levels = self.outputs(domain), _levels(domain)
        question = Question(((Fraction(0), most), (Fraction(1), most)))
        for column in columns:
            column.expect(levels)
        steps = []
        for column in columns:
            least, largest = column.ask(question)[0]
            ends = (least.values, least.counts), (largest.values, largest.counts)
            reach = _Reach(column.level_sums(levels), ends, levels)
            whole = cache(partial(_whole, column, domain))
            steps.append(reach.steps(outputs, most, self.rate, whole))
        return Batch.of(steps)

    def __repr__(self) -> str:
        return "Variance()"


def deviation_of(candidate: int, domain: Grid) -> Fraction:
    """The standard deviation that a candidate is, in steps of the record grid."""
    return candidate * _width(_levels(domain))


def _levels(domain: Grid) -> Levels:
    return Levels.squared(0, domain.size - 1)


def _finer(top: int) -> int:
    """Logarithm of the number of candidates in a level."""
    return CANDIDATE_BITS + 1 - top.bit_length()


def _highest(top: int) -> int:
    """The last candidate: half of all levels."""
    return top << _finer(top) >> 1


def _width(levels: Levels) -> Fraction:
    """What lies between two candidates, in steps of the record grid."""
    return Fraction(1 << levels.shift, 1 << _finer(levels.top))


def _step(domain: Grid) -> Fraction:
    one = Fraction(1) if domain.timed else 1 / domain.index_units(Fraction(1))
    return _width(_levels(domain)) * one


class _Reach(Reached):
    """The lowest and the highest standard deviation that k changes reach, as candidates.

    A record with level x from 0 to T counts as z = 2 x - T, whose variance is four times as large
    and whose bounds are -T and T.
    """

    def __init__(self, moments: tuple[int, int, int], ends: Ends, levels: Levels) -> None:
        self.records, total, squares = moments
        self._top = top = levels.top
        self._sum = 2 * total - self.records * top
        self._squares = 4 * (squares - top * total) + self.records * top**2
        (low, low_counts), (high, high_counts) = ends
        self._ends = (
            _PrefixSums(2 * levels.of(low) - top, low_counts),
            _PrefixSums(2 * levels.of(high[::-1]) - top, high_counts[::-1]),
        )
        self._scale = 4 ** (_finer(top) - 1)
        self._highest_candidate = _highest(top)

    def between(self, begin: int, end: int) -> tuple[Ints, Ints]:
        """The lowest and the highest candidate after `begin`, ..., `end - 1` changes."""
        each = [(self._lowest(k), self._highest(k)) for k in range(begin, end)]
        low, high = np.array(each, dtype=np.int64).T
        return low, high

    def _lowest(self, k: int) -> int:
        """Without k records at either end, and with k at the mean of the rest."""
        left = self.records - 2 * k
        if left <= 0:
            return 0
        (low, low_squares), (high, high_squares) = (end.first(k) for end in self._ends)
        total = self._sum - low - high
        deviations = left * (self._squares - low_squares - high_squares) - total**2
        return self._candidate(deviations, left * (self.records + k))

    def _highest(self, k: int) -> int:
        """With i records at the bounds, in the best proportion, and without k - i at the mean."""
        few, many = max(0, (k - self.records) // 2 + 1), k
        if few > many:
            return 0  # no record
        # One addition more is better until it is not: the sum of squares is concave in i.
        if few < many and not self._better(many, many - 1, k):
            while few < many:
                i = (few + many) // 2
                few, many = (i + 1, many) if self._better(i + 1, i, k) else (few, i)
        numerator, denominator = self._spread(many, k)
        return min(self._candidate(numerator, denominator), self._highest_candidate)

    def _better(self, i: int, other: int, k: int) -> bool:
        (a, b), (c, d) = self._spread(i, k), self._spread(other, k)
        return a * d >= c * b

    def _spread(self, i: int, k: int) -> tuple[int, int]:
        """The variance of z after i records joined and k - i left, as a fraction."""
        n, top = self.records, self._top
        off = max(0, abs(self._sum) - i * top)
        return (self._squares + i * top**2) * (n + i) - off**2, (n + i) * (n + 2 * i - k)

    def _candidate(self, numerator: int, denominator: int) -> int:
        """The last candidate up to the root of a variance of z."""
        return math.isqrt(self._scale * numerator // denominator)


class _PrefixSums:
    """Exact sums, and sums of squares, of the first records from one end."""

    def __init__(self, values: Ints, counts: Ints) -> None:
        self._values = values.astype(object)
        self._counts = np.append(0, np.cumsum(counts))
        weights = self._values * counts.astype(object)
        nothing = np.zeros(1, dtype=object)
        self._sums = np.append(nothing, np.cumsum(weights))
        self._squares = np.append(nothing, np.cumsum(weights * self._values))

    def first(self, many: int) -> tuple[int, int]:
        """Of so many records."""
        place = int(np.searchsorted(self._counts, many, side="right")) - 1
        more = many - int(self._counts[place])
        value = self._values[place] if more else 0
        return self._sums[place] + more * value, self._squares[place] + more * value**2


def _whole(column: Source, domain: Grid) -> _Reach:
    levels = _levels(domain)
    every = column.tally()
    return _Reach(column.level_sums(levels), (every, every), levels)


def refuse_dates(domain: object) -> None:
    """An error for bounds whose squares are no lengths of time."""
    if isinstance(domain, Grid) and domain.timed:
        raise BoundsError(
            f"the variance of dates would be in squares of time, got bounds from {domain.lower} to "
            f"{domain.upper}. Ask for std, or pass numbers."
        )
