"""Sums within a private interval, from which a variance follows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from duffdp.domain import Grid
from duffdp.engines.source import Levels, Source
from duffdp.statistics.clipped_mean import AroundRoughMean, RoughMean, rough_centre
from duffdp.statistics.count import Count
from duffdp.statistics.enclosure import Enclosure, ends_of
from duffdp.statistics.entry import NOT_DRAWN, Part
from duffdp.statistics.soft_counts import soft_place

# What of epsilon goes to the number of records, the interval, the rough mean and the sums.
COUNT, INTERVAL, ROUGH, SUMS = Fraction(1, 12), Fraction(1, 4), Fraction(1, 24), Fraction(5, 8)
LEAST = 50  # records times its epsilon, below which a rough mean costs more than it saves
# Of the noise of a soft count: what a root takes off where the noise is all that it may be; and of
# the square of the range in proportion to that noise: what it is at least.
TAKEN_OFF, AT_LEAST = Fraction(2, 5), Fraction(1, 100)


@dataclass(frozen=True, slots=True)
class Moments:
    """Three soft counts of records with levels x from 0 to T: the sums of (T - x)**2, of
    2 x (T - x) and of x**2.

    Parameters
    ----------
    ends
        Two candidates that take the place of the bounds: records beyond them count as if they were
        there.

    Privacy
    -------
    One record adds T**2 to the three together, wherever it lies: noise of that scale covers all of
    them. Not private by themselves.

    References
    ----------
    Dwork, McSherry, Nissim and Smith, "Calibrating noise to sensitivity in private data analysis"
    (TCC 2006); `docs/theory.md`, "Variance".
    """

    ends: tuple[int, int]

    def levels(self, domain: Grid) -> Levels:
        """Where records are clamped."""
        return Levels.squared(*self.ends)

    def totals(self, column: Source, domain: Grid) -> tuple[int, int, int]:
        """The soft counts of one group."""
        levels = self.levels(domain)
        records, total, squares = column.level_sums(levels)
        top = levels.top
        cross = 2 * (top * total - squares)
        return records * top**2 - cross - squares, cross, squares

    def sensitivity(self, domain: Grid) -> int:
        """What one record adds to all of them."""
        return self.levels(domain).top ** 2


@dataclass(frozen=True, slots=True)
class SquaresAround:
    """The squares of how many levels records are from a centre, added up, and what they lack of
    the largest such square.

    Privacy
    -------
    One record adds the largest square to both together, wherever it lies. Centre and interval were
    drawn before and are private themselves. Not private by itself: noise goes on top.
    """

    ends: tuple[int, int]
    centre: int

    def levels(self, domain: Grid) -> Levels:
        """Where records are clamped."""
        return Levels.squared(*self.ends)

    def totals(self, column: Source, domain: Grid) -> tuple[int, int]:
        """Both sums of one group."""
        levels = self.levels(domain)
        centre = levels.of(self.centre)
        records, total, squares = column.level_sums(levels)
        around = squares - 2 * centre * total + records * centre**2
        return around, records * self.sensitivity(domain) - around

    def sensitivity(self, domain: Grid) -> int:
        """What one record adds to both of them."""
        levels = self.levels(domain)
        return _longest(levels, self.centre) ** 2


def variance_parts() -> tuple[Part, ...]:
    """The draws of a variance; a share that is not used goes to the next part."""
    sums = AroundRoughMean(SquaresAround, Moments)
    return (
        Part(Count(), "two-sided-geometric", ("count",), COUNT),
        Part(Enclosure(), "permute-and-flip", ("interval",), INTERVAL, "outside"),
        Part(RoughMean(LEAST, squares=True), "staircase", ("above", "below"), ROUGH),
        Part(sums, "staircase", ("first", "second", "third"), SUMS, "clipped"),
    )


def variance_of(numbers: Sequence[int], top: int) -> Fraction:
    """The variance in squares of steps of the record grid, from what was drawn for a group; from 0
    to a quarter of the square of the range.
    """
    _, candidate, above, below, *sums = numbers
    ends = ends_of(candidate, top)
    levels = Levels.squared(*ends)
    width = levels.top << levels.shift
    most = Fraction((ends[1] - ends[0]) ** 2, 4)  # whole levels may reach a little further
    if above == below == NOT_DRAWN:
        return min(_share(*(max(each, 0) for each in sums)) * width**2, most)
    centre = rough_centre(ends, above, below)
    around, rest, _ = (max(each, 0) for each in sums)
    if around + rest == 0:
        return Fraction(0)
    squares = Fraction(around, around + rest) * (_longest(levels, centre) << levels.shift) ** 2
    beside = soft_place(0, width, above, below) - (int(levels.of(centre)) << levels.shift)
    return min(max(squares - beside * beside, Fraction(0)), most)


def deviation_square(numbers: Sequence[int], top: int, epsilon: Fraction) -> Fraction:
    """The variance whose root is released, if the draws cost epsilon.

    A root makes much of little noise. Where there are too few records for an interval, noise may be
    all that there is: a part of it is taken off, and what it may well have hidden is left.
    """
    if numbers[1] != NOT_DRAWN:
        return variance_of(numbers, top)
    left = (1 - COUNT) * epsilon
    levels = Levels.squared(0, top)
    scale = levels.top**2 / left
    zero = Fraction(0)
    low, high = (max(each - TAKEN_OFF * scale, zero) for each in (numbers[-3], numbers[-1]))
    middle = max(Fraction(numbers[-2]), zero)
    records = (low + middle + high) / levels.top**2
    least = AT_LEAST / max(left * records, Fraction(1))
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


def _longest(levels: Levels, centre: int) -> int:
    """How many levels the further end is from a centre."""
    level = int(levels.of(centre))
    return max(level, levels.top - level)
