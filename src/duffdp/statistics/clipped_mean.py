"""The mean for wide bounds: a private interval, a rough mean, and the sum around it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from duffdp.domain import Grid
from duffdp.engines.source import Levels, Source
from duffdp.statistics.count import Count
from duffdp.statistics.enclosure import Enclosure, ends_of
from duffdp.statistics.entry import NOT_DRAWN, Part
from duffdp.statistics.soft_counts import SoftCounts, mean_finish, soft_place

# What of epsilon goes to the number of records, the interval, the rough mean and the sum.
COUNT, INTERVAL, ROUGH, SUM = Fraction(1, 20), Fraction(1, 5), Fraction(1, 20), Fraction(7, 10)
CENTRES = 128  # parts of an interval between two centres
LEAST = 15  # records times its epsilon, below which a rough mean costs more than it saves


@dataclass(frozen=True, slots=True)
class RoughMean:
    """Soft counts within the interval, if there are records enough for a sum around them, or of
    `squares`: `least`, times the epsilon that they get.
    """

    least: int
    squares: bool = False
    passes_on: ClassVar[bool] = True

    def given(self, numbers: Sequence[int], domain: Grid, epsilon: Fraction) -> SoftCounts | None:
        """After a count and an interval; `epsilon` is that of the rough mean."""
        count, candidate = numbers
        if candidate == NOT_DRAWN or count * epsilon < self.least:
            return None
        return SoftCounts(ends_of(candidate, domain.size - 1), self.squares)


@dataclass(frozen=True, slots=True)
class SumAround:
    """The steps from a centre to every record, clamped to an interval, added up.

    Privacy
    -------
    Moves by at most the distance from the centre to the further end when one record joins or
    leaves. Centre and interval were drawn before and are private themselves. Not private by itself:
    noise goes on top.
    """

    ends: tuple[int, int]
    centre: int

    def levels(self, domain: Grid) -> Levels:
        """Where records are clamped."""
        return Levels(*self.ends)

    def totals(self, column: Source, domain: Grid) -> tuple[int]:
        """The sum of one group."""
        found = column.level_sums(self.levels(domain))
        return (found.levels - found.records * (self.centre - self.ends[0]),)

    def sensitivity(self, domain: Grid) -> int:
        """How much one record moves it."""
        return max(self.centre - self.ends[0], self.ends[1] - self.centre)


@dataclass(frozen=True, slots=True)
class AroundRoughMean:
    """A statistic `around` the rough mean; `without` one, another within the interval."""

    around: Callable[[tuple[int, int], int], Any]
    without: Callable[[tuple[int, int]], Any]

    def given(self, numbers: Sequence[int], domain: Grid, epsilon: Fraction) -> Any:
        """After a count, an interval and a rough mean."""
        _, candidate, above, below = numbers
        ends = ends_of(candidate, domain.size - 1)
        if above == below == NOT_DRAWN:
            return self.without(ends)
        return self.around(ends, rough_centre(ends, above, below))


def clipped_place(domain: Grid, numbers: Sequence[int]) -> Fraction:
    """Where the mean lies between the candidates."""
    _, candidate, above, below, total, rest = numbers
    low, high = ends_of(candidate, domain.size - 1)
    if above == below == NOT_DRAWN:
        return soft_place(low, high, total, rest)
    records = max(Fraction(above + below, high - low), Fraction(1))
    place = rough_centre((low, high), above, below) + total / records
    return min(max(place, Fraction(low)), Fraction(high))


def rough_centre(ends: tuple[int, int], above: int, below: int) -> int:
    """A candidate near the rough mean: one of a few, so that many groups have the same."""
    place = math.floor(soft_place(0, CENTRES, above, below) + Fraction(1, 2))
    return ends[0] + (ends[1] - ends[0]) * place // CENTRES


def clipped_parts() -> tuple[Part, ...]:
    """The draws of a clipped mean; a share that is not used goes to the next part."""
    return (
        Part(Count(), "two-sided-geometric", ("count",), COUNT),
        Part(Enclosure(), "permute-and-flip", ("interval",), INTERVAL, "outside"),
        Part(RoughMean(LEAST), "staircase", ("above", "below"), ROUGH),
        Part(
            AroundRoughMean(SumAround, SoftCounts), "staircase", ("total", "rest"), SUM, "clipped"
        ),
    )


CLIPPED_FINISH = mean_finish(clipped_place)
