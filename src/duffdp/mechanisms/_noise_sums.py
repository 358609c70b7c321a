"""Bounds on the sum of several independent noises of one distribution."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Protocol

import numpy as np

from duffdp.domain import Floats
from duffdp.mechanisms._search import least_number

SUM_CELLS = 4096  # of the size of one noise; more would narrow a bound by less than 1 %
ROUNDING_CHANCE = 1e-13  # probability that doubles lose
ROUNDING_SHARE = 1e-3  # of the failure rate, for noises that are rounded to cells
LEAST_FAILURE_RATE = 1e-6  # below it, doubles are too coarse


class Tails(Protocol):
    """Symmetric noise on whole numbers."""

    def tail(self, sensitivity: int, least: int) -> float:
        """The probability that the noise has an absolute value of at least `least`, above 0."""

    def __hash__(self) -> int: ...


@lru_cache(maxsize=256)  # a margin of a table asks again for every format that is written
def largest_sum(noise: Tails, sensitivity: int, count: int, failure_rate: float) -> int:
    """The size of the sum of `count` noises that is exceeded with at most this probability.

    The noises are rounded to cells, whose sum has a distribution by Fourier transform. Noises that
    need no rounding have an exact bound, up to 1e-9 of the failure rate; otherwise rounding errors
    are symmetric, independent and at most half a cell each, and Hoeffding's inequality bounds their
    sum. For tiny failure rates each noise has its part of the failure rate.
    """

    def tail(least: int) -> float:
        return noise.tail(sensitivity, least) if least > 0 else 1.0

    if failure_rate < LEAST_FAILURE_RATE:
        return count * least_number(lambda size: tail(size + 1) <= failure_rate / count)
    reach = least_number(lambda size: tail(size) <= ROUNDING_CHANCE / count)
    cell = max(1, reach // SUM_CELLS)
    starts = [tail(cell * k - cell // 2) for k in range(1, reach // cell + 3)]
    sizes = np.maximum(-np.diff([1.0, *starts]), 0)  # the probabilities of cell 0, 1, ...
    allowed = failure_rate * (1 - 1e-9) - 10 * ROUNDING_CHANCE
    rounding = 0
    if cell > 1:
        missed = failure_rate * ROUNDING_SHARE
        allowed -= missed
        hoeffding = math.ceil(cell / 2 * math.sqrt(2 * count * math.log(2 / missed)))
        rounding = min(count * (cell // 2), hoeffding)
    exceeded = _two_sided_tails(sizes, count)
    cells = int(np.argmax(exceeded <= allowed))  # P(more cells than this) is small enough
    return cells * cell + rounding


def _two_sided_tails(sizes: Floats, count: int) -> Floats:
    """P(|sum| > k) for k = 0, 1, ..., where a noise has the size k with probability `sizes[k]`."""
    half = _reach_of_sum(sizes, count)
    length = 1 << (2 * half + 2).bit_length()
    one = np.zeros(length)
    one[0] = sizes[0]
    one[1 : len(sizes)] = sizes[1:] / 2
    one[-1 : -len(sizes) : -1] = sizes[1:] / 2
    total = np.fft.irfft(np.fft.rfft(one) ** count, length)
    upper = total[1 : length // 2]
    beyond = 2 * np.cumsum(upper[::-1])[::-1]  # P(|sum| > k) at k, by symmetry
    return np.append(beyond, 0.0)


def _reach_of_sum(sizes: Floats, count: int) -> int:
    """Cells that the sum of so many noises leaves with a negligible probability (Chernoff)."""
    steps = np.arange(len(sizes))
    spread = math.sqrt(float((sizes * steps**2).sum())) or 1.0
    reach = math.inf
    for nats in 2.0 ** np.arange(-12, 7):
        tilt = nats / spread
        if tilt * len(sizes) < 600:
            log_moment = math.log(float((sizes * np.cosh(tilt * steps)).sum()))
            reach = min(reach, (count * log_moment - math.log(ROUNDING_CHANCE)) / tilt)
    return max(len(sizes), math.ceil(min(reach, count * len(sizes))))
