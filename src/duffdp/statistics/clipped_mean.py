"""The mean for wide bounds: a private centre and radius, and the sum of what lies within."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate

import numpy as np

from duffdp.domain import Grid
from duffdp.engines.source import Source
from duffdp.statistics.count import Count
from duffdp.statistics.entry import NOT_DRAWN, Part
from duffdp.statistics.quantile import Median
from duffdp.statistics.soft_counts import SoftCounts, mean_finish, soft_place
from duffdp.steps import Batch, StepFunction

# What of epsilon goes to the number of records, the centre, the radius and the sum.
COUNT, CENTRE, RADIUS, SUM = Fraction(1, 10), Fraction(1, 10), Fraction(1, 5), Fraction(3, 5)
LEAST = 400  # records times epsilon, below which centre and radius cost more than they save
OCTAVES = 16  # between the largest and the smallest radius
FINENESS = 4  # radii to an octave


class Centre(Median):
    """The candidate around which records are clipped: the median."""

    def __init__(self) -> None:
        super().__init__("signed")

    def asked(self, numbers: Sequence[int], epsilon: Fraction) -> bool:
        """Whether there are records enough, by the noisy count and the epsilon of the centre."""
        (count,) = numbers
        return count * epsilon >= LEAST * CENTRE


class Radius:
    """How far from the centre records are left alone, by how many are outside.

    Candidates are radii R, each as often as in proportion to R^-2: smaller ones are favoured, for
    noise grows with the radius.

    Privacy
    -------
    One record is outside of some radii and inside of the others: all scores move in one direction,
    by at most 1, so that the full rate holds.
    """

    rate = Fraction(1)
    unit = Fraction(1)

    def __init__(self, centre: int = NOT_DRAWN) -> None:
        self._centre = centre

    def asked(self, numbers: Sequence[int], epsilon: Fraction) -> bool:
        """Whether a centre was drawn."""
        return numbers[1] != NOT_DRAWN

    def given(self, numbers: Sequence[int]) -> Radius:
        """Around the centre that was drawn."""
        return Radius(numbers[1])

    def outputs(self, domain: Grid) -> Grid:
        """Every radius as often as it weighs."""
        return Grid(0, _radii(domain.size - 1)[1][-1] - 1, 1)

    def windows(self, columns: Sequence[Source], domain: Grid, max_distance: float) -> Batch:
        """The number of records outside of every radius."""
        radii, upto = _radii(domain.size - 1)
        count = np.diff(np.array(upto), prepend=0)
        start = np.array(upto) - count
        scores = (column.outside(self._centre, radii) for column in columns)
        outputs = self.outputs(domain)
        return Batch.of(
            [
                StepFunction(
                    outputs, start, count, np.array(score, dtype=np.int64), self.unit, self.rate
                )
                for score in scores
            ]
        )


class ClippedSum:
    """The steps from the centre to every record, clamped to the radius, added up; or soft counts
    where no centre was drawn.

    Privacy
    -------
    Moves by at most the radius when one record joins or leaves. Centre and radius were drawn before
    and are private themselves. Not private by itself: noise goes on top.
    """

    def __init__(self, centre: int = NOT_DRAWN, weighed: int = NOT_DRAWN) -> None:
        self._centre, self._weighed = centre, weighed

    def given(self, numbers: Sequence[int]) -> ClippedSum | SoftCounts:
        """Around the centre and within the radius that were drawn."""
        _, centre, weighed = numbers
        return SoftCounts() if centre == NOT_DRAWN else ClippedSum(centre, weighed)

    def totals(self, column: Source, domain: Grid) -> tuple[int]:
        """The sum of one group."""
        count, indices = column.clamped_sum(*clip_ends(domain, self._centre, self._weighed))
        return (indices - count * self._centre,)

    def sensitivity(self, domain: Grid) -> int:
        """How much one record moves it."""
        first, last = clip_ends(domain, self._centre, self._weighed)
        return max(self._centre - first, last - self._centre)


def clip_ends(domain: Grid, centre: int, weighed: int) -> tuple[int, int]:
    """The first and the last candidate that is not clipped; `weighed` is what `Radius` drew."""
    radii, upto = _radii(domain.size - 1)
    radius = radii[bisect_right(upto, weighed)]
    return max(centre - radius, 0), min(centre + radius, domain.size - 1)


def clipped_place(domain: Grid, numbers: Sequence[int]) -> Fraction:
    """Where the mean lies between the candidates."""
    count, centre, weighed, total, rest = numbers
    if centre == NOT_DRAWN:
        return soft_place(domain, total, rest)
    first, last = clip_ends(domain, centre, weighed)
    place = centre + Fraction(total, max(count, 1))
    return min(max(place, Fraction(first)), Fraction(last))


@lru_cache(maxsize=64)
def _radii(top: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Public radii from `top` downwards, four to an octave, and how often they and those before
    them are candidates: 16 times the square of top / R.
    """
    found = (math.isqrt(math.isqrt(top**4 >> j)) for j in range(OCTAVES * FINENESS + 1))
    radii = tuple(sorted({radius for radius in found if radius > 0}, reverse=True))
    return radii, tuple(accumulate(16 * top**2 // radius**2 for radius in radii))


def clipped_parts() -> tuple[Part, ...]:
    """The draws of a clipped mean; a share that is not used goes to the sum."""
    return (
        Part(Count(), "two-sided-geometric", ("count",), COUNT),
        Part(Centre(), "permute-and-flip", ("centre",), CENTRE, "signed"),
        Part(Radius(), "exponential", ("radius",), RADIUS, "outside"),
        Part(ClippedSum(), "staircase", ("total", "rest"), SUM, "clipped"),
    )


CLIPPED_FINISH = mean_finish(clipped_place)
