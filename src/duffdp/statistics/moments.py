"""Soft counts, from which a mean and a variance follow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from duffdp.domain import Grid
from duffdp.engines.source import Levels, Source
from duffdp.statistics.enclosure import ends_of


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

    ends: tuple[int, int] = (0, 0)

    def given(self, numbers: Sequence[int], domain: Grid, epsilon: Fraction) -> Moments:
        """After a count and an interval."""
        _, candidate = numbers
        return Moments(ends_of(candidate, domain.size - 1))

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


def variance_of(numbers: Sequence[int], top: int) -> Fraction:
    """The variance in squares of steps of the record grid, from a count, an interval and three
    noisy soft counts; from 0 to a quarter of the square of the range.

    The soft counts of a mean m and a variance v are n times (T - m)**2 + v, 2 (m (T - m) - v) and
    m**2 + v: their discriminant 4 a c - b**2 is 4 n**2 T**2 v, their sum n T**2.
    """
    _, candidate, *noisy = numbers
    low, middle, high = (max(each, 0) for each in noisy)
    total = low + middle + high
    levels = Levels.squared(*ends_of(candidate, top))
    if total == 0:
        return Fraction(0)
    share = Fraction(max(4 * low * high - middle**2, 0), 4 * total**2)
    return share * (levels.top << levels.shift) ** 2
