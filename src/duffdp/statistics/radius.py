"""How far from a centre nearly all records lie."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from duffdp.domain import Grid
from duffdp.engines.source import Question, Source
from duffdp.steps import Batch, StepFunction, Tail

HALVINGS = 32  # of the square of the range: radii go down by sixteen octaves
MOST_RANKS = 2**18  # that a window looks at, at either end
EXCLUDED = 2**50  # the distance of what is not to come out


def radius(place: int, top: int) -> int:
    """The range divided by the square root of two, `place` times; at least one candidate."""
    return max(1, math.isqrt(top * top >> place))


def place_of(candidate: int) -> int:
    """The radius that a candidate stands for: the smaller it is, the more candidates it has."""
    return (candidate + 1).bit_length() - 1


@dataclass(frozen=True, slots=True)
class Radius:
    """How many records lie further from a centre than each of several radii.

    A radius half as large has four times as many candidates: the exponential mechanism returns R
    with probability proportional to R**-2 exp(-epsilon x records outside).

    Parameters
    ----------
    count, centre
        Drawn before: how many records there are, and the index of the centre.

    Privacy
    -------
    A record that joins moves no count down and each by at most 1: all in one direction, so that the
    rate is 1. Not private by itself.

    References
    ----------
    McSherry and Talwar, "Mechanism design via differential privacy" (FOCS 2007); `docs/theory.md`,
    "Variance".
    """

    count: int = 0
    centre: int = 0
    rate: ClassVar[Fraction] = Fraction(1)
    unit: ClassVar[Fraction] = Fraction(1)

    def given(self, numbers: Sequence[int]) -> Radius:
        """After a count and a centre."""
        return Radius(*numbers)

    def outputs(self, domain: Grid) -> Grid:
        """One candidate for the range, two for the next radius, four for the one after, ..."""
        return Grid(0, 2 ** (HALVINGS + 1) - 2, 1)

    def windows(self, columns: Sequence[Source], domain: Grid, max_distance: float) -> Batch:
        """The radii outside of which so many records lie, and smaller ones as tails."""
        return Batch.of([self._window(column, domain, max_distance) for column in columns])

    def _window(self, column: Source, domain: Grid, max_distance: float) -> StepFunction:
        reach, top = math.ceil(min(max_distance + 1, MOST_RANKS)), domain.size - 1
        (least, most), _ = column.ask(Question(((Fraction(0), reach), (Fraction(1), reach))))
        radii = self._radii(top, max_distance)
        below = np.append(0, np.cumsum(least.counts))
        above = most.total - most.below - np.append(0, np.cumsum(most.counts))
        distance: list[int] = []
        floor = 0  # of the first radius outside of which more records lie than were asked for
        for each in radii:
            low, high = self.centre - each, self.centre + each
            floor = int(
                below[np.searchsorted(least.values, low)]
                + above[np.searchsorted(most.values, high, side="right")]
            )
            if low > least.last or high < most.first:
                break
            distance.append(floor)
        known = len(distance)

        def distance_of(candidate: int) -> int:
            if (place := place_of(candidate)) >= len(radii):
                return EXCLUDED
            before, _ = column.rank_of(max(self.centre - radii[place], 0))
            upto = sum(column.rank_of(min(self.centre + radii[place], top)))
            return before + least.total - upto

        outputs, count = self.outputs(domain), 2 ** np.arange(known)
        tail = None
        if known < len(radii):
            tail = Tail(0, 2**known - 2, outputs.size + 1 - 2**known, floor, distance_of)
        elif known <= HALVINGS:
            distance.append(EXCLUDED)
            count = np.append(count, outputs.size + 1 - 2**known)
        start, steps = np.cumsum(count) - count, np.array(distance, dtype=np.int64)
        return StepFunction(outputs, start, count, steps, self.unit, self.rate, tail)

    def _radii(self, top: int, max_distance: float) -> list[int]:
        """All radii, or the larger ones if there are too few records to speak against small ones:
        so many that all records outside would weigh twice as much as the number of candidates.
        """
        halvings = math.floor(max(self.count, 0) * HALVINGS / (1.5 * max_distance))
        return [radius(place, top) for place in range(min(halvings, HALVINGS) + 1)]
