"""Variance and standard deviation: by sums within a private range, or by distance."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from duffdp._engines.requests import (
    Engine,
    GroupedCounts,
    Inquiry,
    LevelSums,
    Quantization,
    RanksNear,
    Sums,
    ValueCounts,
    ask,
    ask_both,
)
from duffdp._steps import StepFunction, Windows
from duffdp.domain import Grid, Ints, PublicSet
from duffdp.domain.reading import nearest_double
from duffdp.errors import BoundsError
from duffdp.statistics.count import Count
from duffdp.statistics.ladder import ReachableInterval
from duffdp.statistics.mean import rough_center, soft_place, within_private_range
from duffdp.statistics.private_range import Ends, range_ends
from duffdp.statistics.program import (
    NOT_DRAWN,
    DrawSpec,
    OutputColumn,
    PostProcess,
    ReleaseProgram,
)
from duffdp.statistics.records import counts_of, exact_integers
from duffdp.statistics.spec import DrawSettings, Parameters, StatisticSpec
from duffdp.statistics.statistic import DistanceStatistic, Scope, TotalsStatistic

MAX_VARIANCE_LEVELS = 2**13  # the rest is left to the tail
CANDIDATE_BITS = 40
# Shares of epsilon: the number of records, the range, the rough mean and the sums.
VARIANCE_COUNT_SHARE, VARIANCE_RANGE_SHARE = Fraction(1, 12), Fraction(1, 4)
VARIANCE_ROUGH_SHARE, VARIANCE_SUMS_SHARE = Fraction(1, 24), Fraction(5, 8)
# Records times its epsilon, below which a rough mean costs more than it saves.
MIN_VARIANCE_WEIGHT = 50
# Where noise may be all that there is: the part of its scale that is taken off soft counts, and the
# least variance, as a part of the square of the range in proportion to that noise.
NOISE_REMOVED, MIN_SPREAD = Fraction(2, 5), Fraction(1, 100)

EndRecords = tuple[tuple[Ints, Ints], tuple[Ints, Ints]]  # values and counts from either end


class Variance(DistanceStatistic):
    """The mean squared distance of the clamped records from their mean; 0 if there is no record.

    Candidates are standard deviations. The distance of a candidate is a lower bound on the number
    of records to add or remove until it is the standard deviation of the data.

    Privacy
    -------
    The distance changes by at most 1 when one record is added or removed, so its rate is 1/2
    (`tests/guarantees/neighbours_test.py`). No k changes reach a larger variance than removing k
    records at the mean of the rest and adding k at the bounds. None reach a smaller one than
    cutting off k records at either end and adding k at the mean of the rest. Records are clamped to
    the bounds and rounded to at most 2**16 levels. Candidates are public.

    Utility
    -------
    k changes can move the variance by about k (upper - lower)**2 / (2 n).

    Runtime
    -------
    One pass for the records at both ends and one for exact sums; one step of exact integer
    arithmetic per level.

    References
    ----------
    Gillenwater and Munoz Medina, "Duff" (NeurIPS 2020), section 4.1; the bounds and their proof in
    `docs/explanation/statistics.md`, "Variance".

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

    def outputs(self, domain: PublicSet) -> Grid:
        """Standard deviations from 0 to half the range, about 2**40 of them."""
        assert isinstance(domain, Grid)
        levels, step = _levels(domain), _step(domain)
        return Grid(0, _highest(levels.top) * step, step)

    def steps(self, values: object, domain: Grid) -> StepFunction:
        """The distance of every candidate of `outputs(domain)`."""
        reach = _reach_of_counts(counts_of(values, domain), domain)
        return reach.steps(self.outputs(domain), reach.records + 2, self.rate)

    def windows(self, scope: Scope, max_distance: float) -> Inquiry[Windows]:
        domain = scope.grid
        max_level = math.ceil(min(max_distance + 1, MAX_VARIANCE_LEVELS))
        request = RanksNear(((Fraction(0), max_level), (Fraction(1), max_level)))
        levels = _levels(domain)
        ends, sums = yield from ask_both(request, LevelSums(levels))

        def all_records() -> Inquiry[ReachableInterval]:
            counts = yield from ask(ValueCounts())
            return _reach_of_counts(counts, domain)

        outputs, steps = self.outputs(domain), []
        end_ranks = zip(*(group_ranks.split() for group_ranks in ends), strict=True)
        for (least, largest), moments in zip(end_ranks, sums, strict=True):
            records = (least.values, least.counts), (largest.values, largest.counts)
            reach = _Reach(moments, records, levels)
            steps.append(reach.steps(outputs, max_level, self.rate, all_records))
        return Windows.of(steps)

    def __repr__(self) -> str:
        return "Variance()"


def deviation_of(candidate: int, domain: Grid) -> Fraction:
    """The standard deviation that a candidate is, in steps of the record grid."""
    return candidate * _width(_levels(domain))


def _levels(domain: Grid) -> Quantization:
    return Quantization.squared(0, domain.size - 1)


def _finer(top: int) -> int:
    """Logarithm of the number of candidates in a level."""
    return CANDIDATE_BITS + 1 - top.bit_length()


def _highest(top: int) -> int:
    """The last candidate: half of all levels."""
    return top << _finer(top) >> 1


def _width(levels: Quantization) -> Fraction:
    """The distance of two candidates, in steps of the record grid."""
    return Fraction(1 << levels.shift, 1 << _finer(levels.top))


def _step(domain: Grid) -> Fraction:
    unit = Fraction(1) if domain.timed else 1 / domain.index_units(Fraction(1))
    return _width(_levels(domain)) * unit


class _Reach(ReachableInterval):
    """The lowest and the highest standard deviation that k changes can reach, as candidates.

    A record with level x from 0 to T counts as z = 2 x - T, whose variance is four times as large
    and whose bounds are -T and T.
    """

    def __init__(self, moments: Sums, ends: EndRecords, levels: Quantization) -> None:
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
        reached = [(self._lowest(k), self._highest(k)) for k in range(begin, end)]
        low, high = np.array(reached, dtype=np.int64).T
        return low, high

    def _lowest(self, k: int) -> int:
        """Without k records at either end, and with k at the mean of the rest."""
        remaining = self.records - 2 * k
        if remaining <= 0:
            return 0
        (low, low_squares), (high, high_squares) = (end.first(k) for end in self._ends)
        total = self._sum - low - high
        deviations = remaining * (self._squares - low_squares - high_squares) - total**2
        return self._candidate(deviations, remaining * (self.records + k))

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
        zero = np.zeros(1, dtype=object)
        self._sums = np.append(zero, np.cumsum(weights))
        self._squares = np.append(zero, np.cumsum(weights * self._values))

    def first(self, count: int) -> tuple[int, int]:
        """Sum and sum of squares of so many records."""
        place = int(np.searchsorted(self._counts, count, side="right")) - 1
        partial = count - int(self._counts[place])
        value = self._values[place] if partial else 0
        return self._sums[place] + partial * value, self._squares[place] + partial * value**2


def _reach_of_counts(counts: GroupedCounts, domain: Grid) -> _Reach:
    """The deviations that changes of all records of one group reach."""
    levels = _levels(domain)
    index, count = counts.group(0)
    level, records = levels.of(index).astype(object), count.astype(object)
    total, squares = int((level * records).sum()), int((level**2 * records).sum())
    records_from_end = index, count
    return _Reach(
        Sums(int(count.sum()), total, squares), (records_from_end, records_from_end), levels
    )


@dataclass(frozen=True, slots=True)
class Moments(TotalsStatistic):
    """Three soft counts of records with levels x from 0 to T: the sums of (T - x)**2, of
    2 x (T - x) and of x**2.

    Parameters
    ----------
    ends
        Two candidates that replace the bounds: records beyond them count as the nearer one.

    Privacy
    -------
    One record adds T**2 to the three together, wherever it lies: noise of that scale covers all of
    them. Not private by themselves.

    References
    ----------
    Dwork, McSherry, Nissim and Smith, "Calibrating noise to sensitivity in private data analysis"
    (TCC 2006); `docs/explanation/statistics.md`, "Variance".
    """

    ends: Ends

    @property
    def levels(self) -> Quantization:
        """The levels to which records are clamped."""
        return Quantization.squared(*self.ends)

    def totals(self, domain: PublicSet) -> Inquiry[list[tuple[int, ...]]]:
        """The soft counts of every group."""
        levels = self.levels
        sums = yield from ask(LevelSums(levels))
        top = levels.top
        numbers: list[tuple[int, ...]] = []
        for records, total, squares in sums:
            cross = 2 * (top * total - squares)
            numbers.append((records * top**2 - cross - squares, cross, squares))
        return numbers

    def sensitivity(self, domain: PublicSet) -> int:
        """The sum that one record adds to all of them."""
        return self.levels.top**2


@dataclass(frozen=True, slots=True)
class SquaresAround(TotalsStatistic):
    """The sum of the squared distances of records from a center, in levels, and what each lacks of
    the largest square, added up.

    Privacy
    -------
    One record adds the largest square to both together, wherever it lies. Centre and interval were
    drawn before and are private themselves. Not private without noise.
    """

    ends: Ends
    center: int

    @property
    def levels(self) -> Quantization:
        """The levels to which records are clamped."""
        return Quantization.squared(*self.ends)

    def totals(self, domain: PublicSet) -> Inquiry[list[tuple[int, ...]]]:
        """Both sums of every group."""
        levels = self.levels
        sums = yield from ask(LevelSums(levels))
        center, widest = levels.of(self.center), self.sensitivity(domain)
        numbers: list[tuple[int, ...]] = []
        for records, total, squares in sums:
            centered = squares - 2 * center * total + records * center**2
            numbers.append((centered, records * widest - centered))
        return numbers

    def sensitivity(self, domain: PublicSet) -> int:
        """The sum that one record adds to both of them."""
        levels = self.levels
        return _longest(levels, self.center) ** 2


def variance_of(numbers: Sequence[int], top: int) -> Fraction:
    """The variance in squares of steps of the record grid, from the numbers drawn for a group; from
    0 to a quarter of the square of the range.
    """
    _, candidate, above, below, *sums = numbers
    ends = range_ends(candidate, top)
    levels = Quantization.squared(*ends)
    width = levels.top << levels.shift
    largest = Fraction((ends[1] - ends[0]) ** 2, 4)  # whole levels may reach a little further
    if above == below == NOT_DRAWN:
        return min(_share(*(max(number, 0) for number in sums)) * width**2, largest)
    center = rough_center(ends, above, below)
    squares_inside, squares_missing, _ = (max(number, 0) for number in sums)
    if squares_inside + squares_missing == 0:
        return Fraction(0)
    squares = (
        Fraction(squares_inside, squares_inside + squares_missing)
        * (_longest(levels, center) << levels.shift) ** 2
    )
    bias = soft_place(0, width, above, below) - (int(levels.of(center)) << levels.shift)
    return min(max(squares - bias * bias, Fraction(0)), largest)


def released_variance(numbers: Sequence[int], top: int, epsilon: Fraction) -> Fraction:
    """The variance that is released, or whose root is, if the draws cost epsilon.

    Where there are too few records for an interval, noise may be all that there is: a part of it is
    taken off, and what it may well have hidden is left.
    """
    if numbers[1] != NOT_DRAWN:
        return variance_of(numbers, top)
    unspent = (1 - VARIANCE_COUNT_SHARE) * epsilon
    levels = Quantization.squared(0, top)
    scale = levels.top**2 / unspent
    zero = Fraction(0)
    low, high = (
        max(soft_count - NOISE_REMOVED * scale, zero) for soft_count in (numbers[-3], numbers[-1])
    )
    middle = max(Fraction(numbers[-2]), zero)
    records = (low + middle + high) / levels.top**2
    least = MIN_SPREAD / max(unspent * records, Fraction(1))
    width = levels.top << levels.shift
    return min(max(_share(low, middle, high), least) * width**2, Fraction(top**2, 4))


def _share(low: Fraction | int, middle: Fraction | int, high: Fraction | int) -> Fraction:
    """The variance that soft counts tell, of the square of the range.

    The soft counts of a mean m and a variance v are n times (T - m)**2 + v, 2 (m (T - m) - v) and
    m**2 + v: their discriminant 4 a c - b**2 is 4 n**2 T**2 v, their sum n T**2.
    """
    total = low + middle + high
    if total == 0:
        return Fraction(0)
    return max(Fraction(4 * low * high - middle**2), Fraction(0)) / (4 * total**2)


def _longest(levels: Quantization, center: int) -> int:
    """Levels from a center to the further end."""
    level = int(levels.of(center))
    return max(level, levels.top - level)


MOMENTS_PROGRAM = ReleaseProgram(
    (
        DrawSpec(Count(), "two-sided-geometric", ("count",), VARIANCE_COUNT_SHARE),
        DrawSpec(None, "permute-and-flip", ("interval",), VARIANCE_RANGE_SHARE, "outside"),
        DrawSpec(None, "staircase", ("above", "below"), VARIANCE_ROUGH_SHARE),
        DrawSpec(None, "staircase", ("first", "second", "third"), VARIANCE_SUMS_SHARE, "clipped"),
    ),
    partial(within_private_range, SquaresAround, Moments, MIN_VARIANCE_WEIGHT, True),
    forwards_epsilon=True,
)


def spread_columns(name: str, domain: PublicSet) -> tuple[OutputColumn, ...]:
    """The column of a spread: a number, or a duration for dates and times."""
    timed = isinstance(domain, Grid) and domain.timed
    return (OutputColumn(name, "duration" if timed else "number"),)


class VarianceSpec(StatisticSpec):
    """The variance."""

    name = "variance"
    no_interval_reason = (
        "the share of records outside of the private range is private. Use the "
        "interquartile range, which has an interval"
    )

    def program(self, parameters: Parameters, settings: DrawSettings) -> ReleaseProgram:
        def values(domain: PublicSet, numbers: Sequence[int]) -> list[object]:
            assert isinstance(domain, Grid)
            if settings.choice == "duff":
                variance = deviation_of(numbers[0], domain) ** 2
            else:
                variance = released_variance(numbers, domain.size - 1, settings.epsilon)
            return [self._value(variance, domain)]

        release = PostProcess(lambda domain: spread_columns(self.name, domain), values)
        if settings.choice == "duff":
            return ReleaseProgram.by_distance(Variance(), "deviation", settings.choice, release)
        return replace(MOMENTS_PROGRAM, post_process=release)

    def _value(self, variance: Fraction, domain: Grid) -> Any:
        """A variance in squares of steps, as it is released."""
        return min(
            nearest_double(variance / domain.index_units(Fraction(1)) ** 2), sys.float_info.max
        )

    def exact(self, parameters: Parameters, engine: Engine, domain: PublicSet) -> Sequence[object]:
        assert isinstance(domain, Grid)
        return [float(_exact_variance(engine) / domain.index_units(Fraction(1)) ** 2)]

    def check_domain(self, parameters: Parameters, domain: PublicSet) -> None:
        if isinstance(domain, Grid) and domain.timed:
            raise BoundsError(
                "the variance of dates would be in squares of time, got bounds from "
                f"{domain.lower} to {domain.upper}. Use std, or pass numbers."
            )


class StdSpec(VarianceSpec):
    """The standard deviation, a duration for dates and times."""

    name = "std"

    def _value(self, variance: Fraction, domain: Grid) -> Any:
        return domain.length(math.sqrt(variance))

    def exact(self, parameters: Parameters, engine: Engine, domain: PublicSet) -> Sequence[object]:
        assert isinstance(domain, Grid)
        return [domain.length(math.sqrt(_exact_variance(engine)))]

    def check_domain(self, parameters: Parameters, domain: PublicSet) -> None:
        """Any grid: lengths of time have a deviation."""

    def title(self, parameters: Parameters) -> str:
        return "Standard deviation"


def _exact_variance(engine: Engine) -> Fraction:
    """The mean squared distance from the mean, in squares of steps; 0 without records."""
    index, count = exact_integers(engine)
    n, total = int(count.sum()), int((index * count).sum())
    if not n:
        return Fraction(0)
    return Fraction(int((index**2 * count).sum()), n) - Fraction(total, n) ** 2


SPECS = (VarianceSpec(), StdSpec())
