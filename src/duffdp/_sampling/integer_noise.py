"""Whole-number noise, drawn exactly: two-sided geometric, and the discrete staircase.

A geometric number is the whole part of E / epsilon for an Exp(1) number E = -log(1 - V). All are
computed in doubles first, as intervals that hold every rounding and every bit of V not yet drawn;
those whose interval holds a whole number get more bits and more digits until they are certain.

A staircase has one, two or three coordinates, and a point is as far from 0 as their absolute values
add up to. Points closer than `width` are on the first step, and every `sensitivity` further begins
another one, less likely by a factor of exp(-epsilon). This is a mixture of uniform distributions on
balls: it is enough to draw which ball, and a point of it.

Promise: Whole-number noise has exactly its stated distribution, however doubles round.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from duffdp._sampling.entropy import Entropy, Words
from duffdp._sampling.lazy_uniform import WORD, LazyUniform, bernoullis, decide
from duffdp.domain import Array

# Bounds what a logarithm, a division and epsilon as a double can err by, a few units of 2**-52,
# with room to spare: the price is that a number k is refined with a probability of k 2**-46.
GEOMETRIC_SLACK = 2.0**-47


def two_sided_geometrics(epsilon: Fraction, size: int, source: Entropy) -> list[int]:
    """Independent whole numbers k with probability proportional to exp(-epsilon |k|), exactly."""
    noise = np.zeros(size, dtype=object)
    pending = np.arange(size)
    while len(pending):
        sizes = np.array(geometrics(epsilon, len(pending), source), dtype=object)
        negative = coins(len(pending), source)
        valid = ~negative | (sizes != 0).astype(bool)  # zero has one sign
        noise[pending[valid]] = np.where(negative, -sizes, sizes)[valid]
        pending = pending[~valid]
    return list(noise)


def geometrics(epsilon: Fraction, size: int, source: Entropy) -> list[int]:
    """The whole parts of E / epsilon for independent Exp(1) numbers E: P(k or more) =
    exp(-epsilon k).
    """
    words = source.words(size)
    low, high = _bounds(words, float(epsilon))
    sure = low == high
    numbers: list[int] = np.where(sure, low, 0).astype(np.int64).tolist()
    for i in np.flatnonzero(~sure).tolist():
        numbers[i] = decide(
            source, lambda uniform: _geometric_or_none(uniform, epsilon), int(words[i])
        )
    return numbers


def _bounds(words: Words, epsilon: float) -> tuple[Array, Array]:
    """The least and the largest whole part that is possible, for V from word / 2**WORD on."""
    drawn_word = words.astype(np.float64)
    complement = (np.uint64(2**WORD - 1) - words).astype(
        np.float64
    )  # 1 - V is this, or one unit more
    time = np.full(len(words), np.inf)
    np.log1p(drawn_word * -(2.0**-WORD), where=complement > 2.0**12, out=time)
    np.abs(time, out=time)
    with np.errstate(all="ignore"):
        # As a double V errs by 2**-53 of itself, and by the bits not drawn; 1 / (1 - V) times that
        # is what the logarithm errs by, and near 1 a double is too coarse for it.
        slack = (drawn_word * 2.0**-51 + 4) / complement + time * GEOMETRIC_SLACK
        low, high = (np.floor((time + side * slack) / epsilon) for side in (-1, 1))
    return np.maximum(low, 0), high


def _geometric_or_none(uniform: LazyUniform, epsilon: Fraction) -> int | None:
    if (bounds := uniform.exponential()) is None:
        return None
    low, high = (math.floor(bound / epsilon) for bound in bounds)
    return low if low == high else None


def coins(size: int, source: Entropy) -> Array:
    """Independent fair truth values, 64 of a word."""
    words = source.words(-(-size // WORD))
    return np.unpackbits(words.view(np.uint8), count=size).astype(bool)


def staircases(
    epsilon: Fraction, sensitivity: int, width: int, numbers: int, count: int, source: Entropy
) -> list[list[int]]:
    """So many times one number, or two or three, with probability proportional to exp(-epsilon k)
    on step k, exactly.
    """
    balls = _balls(epsilon, sensitivity, width, numbers, count, source)
    return [_point(ball * sensitivity + width, numbers, source) for ball in balls]


def points(radius: int, numbers: int) -> int:
    """Number of points that are closer to 0 than `radius`."""
    match numbers:
        case 1:
            return 2 * radius - 1
        case 2:
            return 2 * radius * (radius - 1) + 1
        case 3:
            return (2 * radius - 1) * (2 * radius * (radius - 1) + 3) // 3
    raise ValueError(f"a staircase has one, two or three coordinates, got {numbers}")


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
    epsilon: Fraction, sensitivity: int, width: int, numbers: int, count: int, source: Entropy
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
    balls: list[int] = []
    while len(balls) < count:
        size = count - len(balls)
        geometric_numbers = iter(geometrics(epsilon, (numbers + 1) * size, source))
        sums = map(sum, zip(*[geometric_numbers] * (numbers + 1), strict=True))
        later, words = coins(size, source).tolist(), source.words(size).tolist()
        by_proposal: dict[tuple[int, bool], list[int]] = {}  # what is accepted with one probability
        for i, proposed in enumerate(zip(sums, later, strict=True)):
            by_proposal.setdefault(proposed, []).append(i)
        accepted: list[int | None] = [None] * size
        for (j, is_later), positions in by_proposal.items():
            if is_later:
                inside = points((j + 1) * sensitivity + width, numbers)
                weight = Fraction(inside, scale * math.comb(j + numbers, numbers))
                coin = bernoullis(epsilon, weight, source, [words[i] for i in positions])
            elif j == 0:
                first = Fraction(least, scale)
                coin = bernoullis(Fraction(0), first, source, [words[i] for i in positions])
            else:
                continue
            for i, accept in zip(positions, coin, strict=True):
                accepted[i] = j + is_later if accept else None
        balls += [ball for ball in accepted if ball is not None]
    return balls
