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
from duffdp.steps import StepFunction, Tail

HALVINGS = 32  # of the square of the range: radii go down by sixteen octaves
MOST_RANKS = 2**18  # that a window looks at, at either end


def radius(place: int, top: int) -> int:
    """The range divided by the square root of two, `place` times."""
    return math.isqrt(top * top >> place)


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
    centre
        The index of a candidate, drawn before.
    halvings
        The smallest radius: so many times the range is divided by the square root of two.

    Privacy
    -------
    A record that joins moves no count down and each by at most 1: all in one direction, so that the
    rate is 1. Not private by itself.

    References
    ----------
    McSherry and Talwar, "Mechanism design via differential privacy" (FOCS 2007); `docs/theory.md`,
    "Variance".
    """

    centre: int = 0
    halvings: int = 0
    rate: ClassVar[Fraction] = Fraction(1)
    unit: ClassVar[Fraction] = Fraction(1)

    def given(self, numbers: Sequence[int], epsilon: float) -> Radius:
        """After a count and a centre.

        With few records nothing could be said against a small radius: a count as large as all
        records weighs twice as much as the number of its candidates.
        """
        count, centre = numbers
        return Radius(centre, min(HALVINGS, math.floor(max(count, 0) * epsilon / 2)))

    def outputs(self, domain: Grid) -> Grid:
        """One candidate for the range, two for the next radius, four for the one after, ..."""
        return Grid(0, 2 ** (HALVINGS + 1) - 2, 1)

    def window(self, column: Source, domain: Grid, max_distance: float) -> StepFunction:
        """The radii outside of which so many records lie, and smaller ones as a tail."""
        reach, top = math.ceil(min(max_distance + 1, MOST_RANKS)), domain.size - 1
        (least, most), _ = column.ask(Question(((Fraction(0), reach), (Fraction(1), reach))))
        radii = [radius(place, top) for place in range(self.halvings + 1)]
        radii = [each for each in radii if each > 0]
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
        count = 2 ** np.arange(known)

        def distance_of(candidate: int) -> int:
            each = radii[place_of(candidate)]
            before, _ = column.rank_of(max(self.centre - each, 0))
            upto = sum(column.rank_of(min(self.centre + each, top)))
            return before + least.total - upto

        left = 2 ** len(radii) - 2**known
        tail = Tail(0, 2**known - 2, left, floor, distance_of) if left else None
        return StepFunction(
            self.outputs(domain),
            count - 1,
            count,
            np.array(distance, dtype=np.int64),
            self.unit,
            self.rate,
            tail,
        )
