"""Whole numbers, up to three together, whose probability falls in steps: the discrete staircase.

A point is as far from 0 as the absolute values of its coordinates add up to. Points closer than
`width` are on the first step, and every `sensitivity` further begins another one, less likely by a
factor of exp(-epsilon). Such a law is a mixture of uniform laws on balls: it is enough to draw
which ball, and a point of it.
"""

from __future__ import annotations

import math
from fractions import Fraction

from duffdp.sampling.entropy import Entropy
from duffdp.sampling.geometric import coins, geometrics
from duffdp.sampling.lazy_uniform import happen


def staircases(
    epsilon: Fraction, sensitivity: int, width: int, numbers: int, many: int, source: Entropy
) -> list[list[int]]:
    """So many times one number, or two or three, with probability proportional to exp(-epsilon k)
    on step k, exactly.
    """
    balls = _balls(epsilon, sensitivity, width, numbers, many, source)
    return [_point(ball * sensitivity + width, numbers, source) for ball in balls]


def points(radius: int, numbers: int) -> int:
    """How many points are closer to 0 than `radius`."""
    if numbers == 3:
        return (2 * radius - 1) * (2 * radius * (radius - 1) + 3) // 3
    return 2 * radius - 1 if numbers == 1 else 2 * radius * (radius - 1) + 1


def _point(radius: int, numbers: int, source: Entropy) -> list[int]:
    """A uniform one of them."""
    if numbers == 3:  # a sixth of a cube, or more
        while True:
            point = [source.below(2 * radius - 1) - (radius - 1) for _ in range(3)]
            if sum(map(abs, point)) < radius:
                return point
    at = source.below(points(radius, numbers))
    if numbers == 1:
        return [at - (radius - 1)]
    # The sum and the difference of both numbers are alike, even or odd: two squares of pairs.
    side = radius
    if at >= radius**2:
        at, side = at - radius**2, radius - 1
    total, difference = (2 * i - (side - 1) for i in divmod(at, side))
    return [(total + difference) // 2, (total - difference) // 2]


def _balls(
    epsilon: Fraction, sensitivity: int, width: int, numbers: int, many: int, source: Entropy
) -> list[int]:
    """Numbers k, each with probability proportional to exp(-epsilon k) times the points of the
    ball whose radius is k sensitivities and the width.

    Either the first ball or a later one is proposed, the (j + 1)-th of them with probability
    proportional to exp(-epsilon j) C(j + numbers, j): j is a sum of geometric numbers. It is
    accepted by what its weight is more or less than that; the first one if j is 0, which makes up
    for the scale of the others. The radius is at most j + 2 sensitivities, so that no ratio of
    points to C(j + numbers, j) exceeds `steepest`.
    """
    least, steepest = points(width, numbers), 2 ** (numbers + 1) * sensitivity**numbers
    # No later ball weighs more than this in proportion to its proposal.
    scale = max(least, math.ceil(Fraction(1.000001 * math.exp(-float(epsilon))) * steepest))
    found: list[int] = []
    while len(found) < many:
        size = many - len(found)
        each = iter(geometrics(epsilon, (numbers + 1) * size, source))
        sums = map(sum, zip(*[each] * (numbers + 1), strict=True))
        later, words = coins(size, source).tolist(), source.words(size).tolist()
        alike: dict[tuple[int, bool], list[int]] = {}  # what is accepted with one probability
        for i, proposed in enumerate(zip(sums, later, strict=True)):
            alike.setdefault(proposed, []).append(i)
        accepted: list[int | None] = [None] * size
        for (j, is_later), which in alike.items():
            if is_later:
                inside = points((j + 1) * sensitivity + width, numbers)
                weight = Fraction(inside, scale * math.comb(j + numbers, numbers))
                coin = happen(epsilon, weight, source, [words[i] for i in which])
            elif j == 0:
                first = Fraction(least, scale)
                coin = happen(Fraction(0), first, source, [words[i] for i in which])
            else:
                continue
            for i, taken in zip(which, coin, strict=True):
                accepted[i] = j + is_later if taken else None
        found += [ball for ball in accepted if ball is not None]
    return found
