"""Whole numbers, or pairs of them, whose probability falls in steps: the discrete staircase.

A point is as far from 0 as the absolute values of its coordinates add up to. Points closer than
`width` are on the first step, and every `sensitivity` further begins another one, less likely by a
factor of exp(-epsilon). Such a law is a mixture of uniform laws on balls: it is enough to draw
which ball, and a point of it.
"""

from __future__ import annotations

import math
from fractions import Fraction

from duffdp.sampling.entropy import Entropy
from duffdp.sampling.geometric import geometrics
from duffdp.sampling.lazy_uniform import happens


def staircase(
    epsilon: Fraction, sensitivity: int, width: int, numbers: int, source: Entropy
) -> list[int]:
    """One number, or two, with probability proportional to exp(-epsilon k) on step k, exactly."""
    ball = _ball(epsilon, sensitivity, width, numbers, source)
    return _point(ball * sensitivity + width, numbers, source)


def points(radius: int, numbers: int) -> int:
    """How many points are closer to 0 than `radius`."""
    return 2 * radius - 1 if numbers == 1 else 2 * radius * (radius - 1) + 1


def _point(radius: int, numbers: int, source: Entropy) -> list[int]:
    """A uniform one of them."""
    at = source.below(points(radius, numbers))
    if numbers == 1:
        return [at - (radius - 1)]
    # The sum and the difference of both numbers are alike, even or odd: two squares of pairs.
    side = radius
    if at >= radius**2:
        at, side = at - radius**2, radius - 1
    total, difference = (2 * i - (side - 1) for i in divmod(at, side))
    return [(total + difference) // 2, (total - difference) // 2]


def _ball(epsilon: Fraction, sensitivity: int, width: int, numbers: int, source: Entropy) -> int:
    """k with probability proportional to exp(-epsilon k) times the points of the ball whose radius
    is k sensitivities and the width.

    Either the first ball or a later one is proposed, the (j + 1)-th of them with probability
    proportional to exp(-epsilon j) C(j + numbers, j): as the sum of geometric numbers. It is
    accepted by what its weight is more or less than that. The radius is at most j + 2
    sensitivities, so that no ratio of points to C(j + numbers, j) exceeds `steepest`.
    """
    least, steepest = points(width, numbers), 2 ** (numbers + 1) * sensitivity**numbers
    # No later ball weighs more than this in proportion to its proposal.
    scale = max(least, math.ceil(Fraction(1.000001 * math.exp(-float(epsilon))) * steepest))
    while True:
        if source.below(2):
            j = sum(geometrics(epsilon, numbers + 1, source))
            weight = Fraction(
                points((j + 1) * sensitivity + width, numbers),
                scale * math.comb(j + numbers, numbers),
            )
            if happens(epsilon, weight, source):
                return j + 1
        elif source.below(scale) < least and not any(
            happens(epsilon, Fraction(1), source) for _ in range(numbers + 1)
        ):
            return 0
