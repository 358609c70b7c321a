"""Bounds on the noise of a ratio of two noisy numbers.

If U and V got the noise a and b, and U / (U + V) = m, then (U + a) - m (U + a + V + b) is
(1 - m) a - m b, whatever U and V are. With s = a - b and d = a + b that is half of s + c d for
c = 1 - 2 m (docs/explanation/intervals.md, "Ratios").
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from duffdp.domain import Floats, Ints
from duffdp.mechanisms._search import least_number

CELLS = 32  # of |c|, from 0 to 1: one bound for each, in parts of 1 / CELLS
MAX_LISTED_RADIUS = 160  # points up to this distance are looked at one by one
DOUBLE_ERROR = 1e-9  # doubles err by less


class TwoNoises(NamedTuple):
    """Two noisy whole numbers: the probability falls by exp(-epsilon) each time |a| + |b| grows by
    `sensitivity`, first at `width`.
    """

    epsilon: float
    sensitivity: int
    width: int


@lru_cache(maxsize=256)
def largest_tilts(noise: TwoNoises, miss: Fraction) -> tuple[int, ...]:
    """For |c| between i / CELLS and (i + 1) / CELLS, what |s + c d| does not exceed but with the
    probability `miss`, times CELLS.
    """
    return _by_listing(noise, float(miss)) or tuple(
        CELLS * _by_smoothing(noise, i + 1, float(miss)) + CELLS + i + 1 for i in range(CELLS)
    )


@np.errstate(all="ignore")  # weights of far points may be 0, whatever the caller does about that
def _by_listing(noise: TwoNoises, miss: float) -> tuple[int, ...] | None:
    """By adding up points; None if too many matter.

    |s + c d| is convex in c, so that the larger one of both ends of a cell bounds it within.
    """
    radius = np.arange(MAX_LISTED_RADIUS)
    step = np.where(radius < noise.width, 0, 1 + (radius - noise.width) // noise.sensitivity)
    weight = np.exp(-noise.epsilon * step) / _points(noise)
    within = np.cumsum(np.where(radius == 0, 1, 4 * radius) * weight)
    sufficient = np.flatnonzero(1 - within + 1e-12 <= miss / 100)
    if not len(sufficient):
        return None
    last = int(sufficient[0])
    outside = 1 - float(within[last]) + 1e-12
    line = np.arange(-last, last + 1)
    a, b = (side.ravel() for side in np.meshgrid(line, line))
    distance = np.abs(a) + np.abs(b)
    a, b, distance = (side[distance <= last] for side in (a, b, distance))
    tilts = [
        _quantile(_larger_tilt(a, b, i), weight[distance], miss - outside) for i in range(CELLS)
    ]
    return tuple(tilts)


def _larger_tilt(a: Ints, b: Ints, cell: int) -> Ints:
    s, d = a - b, a + b
    larger: Ints = np.maximum(*(np.abs(CELLS * s + c * d) for c in (cell, cell + 1)))
    return larger


def _quantile(values: Ints, weight: Floats, miss: float) -> int:
    """The least of some values that larger ones exceed with at most this probability."""
    order = np.argsort(-values)
    values, above = values[order], np.cumsum(weight[order]) * (1 + DOUBLE_ERROR)
    first = int(np.searchsorted(above, miss, side="right"))  # the largest that has to be within
    return int(values[min(first, len(values) - 1)])


def _by_smoothing(noise: TwoNoises, c: int, miss: float) -> int:
    """The least whole number that |s + c d / CELLS| exceeds with at most this probability, if every
    point is spread evenly over the square around it, which moves it by up to 1 + c / CELLS.
    """
    return least_number(lambda x: _tail(noise, c, x) <= miss, noise.sensitivity)


def _tail(noise: TwoNoises, c: int, x: int) -> float:
    """The probability that spread points have |s + c d| > x, from above, for c in parts of CELLS.

    The points of a ball with radius r are two squares of s and d, of r**2 and of (r - 1)**2 points.
    In a square of side r, the share beyond x is (r (1 + c) - x)**2 - (r (1 - c) - x)**2, each where
    its base is positive, divided by 4 c r**2.
    """
    outer, inner = (
        sum(_squares(noise, noise.width - i, side, x) for i in (0, 1))
        for side in (CELLS + c, CELLS - c)
    )
    return (outer - inner) / (4 * c / CELLS) / _weighted_points(noise) * (1 + DOUBLE_ERROR)


def _squares(noise: TwoNoises, first: int, side: int, x: int) -> float:
    """The sum of exp(-epsilon k) (r side - x)**2 over the radii r = k sensitivity + first for which
    the base is positive; `side` in parts of CELLS.
    """
    if side == 0:
        return 0.0
    k = max(0, (x * CELLS - first * side) // (side * noise.sensitivity) + 1)
    base = (k * noise.sensitivity + first) * side - x * CELLS
    b, complement = math.exp(-noise.epsilon), -math.expm1(-noise.epsilon)
    z, step = base / CELLS, noise.sensitivity * side / CELLS
    m0, m1, m2 = 1 / complement, b / complement**2, b * (1 + b) / complement**3
    return math.exp(-noise.epsilon * k) * (z * z * m0 + 2 * z * step * m1 + step * step * m2)


@lru_cache(maxsize=256)
def _weighted_points(noise: TwoNoises) -> float:
    """The points of all balls, that with k sensitivities more weighted with exp(-epsilon k)."""
    return sum(_squares(noise, noise.width - i, CELLS, 0) for i in (0, 1))


def _points(noise: TwoNoises) -> float:
    """The weights of all points, of which each is in the balls from its own step on."""
    return _weighted_points(noise) * -math.expm1(-noise.epsilon)
