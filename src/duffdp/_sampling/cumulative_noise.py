"""Bounds on sums of noise by simulation, from a public seed.

Nothing that is private is sampled here, and no data play a part: the bound depends on public
numbers alone and is the same wherever it is computed.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

import numpy as np

from duffdp.domain import Array

WALK_SEED = 20_100_913
CHUNK_NUMBERS = 2**21  # numbers at once
MAX_SEED_FAILURE = 1e-6  # share of seeds for which the bound would be too low
MIN_WALKS = 10_000  # at least
MIN_EXCEEDING_WALKS = 100  # of them that are expected beyond the bound, at least
END_RATIO = 2  # how much further the end of a walk may be than the walk is from its chord


@lru_cache(maxsize=256)
def walk_bound(steps: int, epsilon: Fraction, miss: Fraction) -> int:
    """A bound T on a walk e_0 = 0, ..., e_m of m steps of two-sided geometric noise.

    Except with probability `miss`, the walk ends within 2 T of 0, and |e_k - e_m k / m| <= T for
    all k.

    It is a sample quantile, high enough to be above the true one for all but a share of
    `MAX_SEED_FAILURE` of the seeds, by the binomial distribution of the number of walks that exceed
    it.
    """
    walks = max(MIN_WALKS, math.ceil(MIN_EXCEEDING_WALKS / miss))
    bounds = np.concatenate(
        [
            _walk_bounds(steps, float(epsilon), size, generator)
            for size, generator in _chunks(walks, steps)
        ]
    )
    # Doubles err by less than a thousandth of a record.
    bound = float(np.sort(bounds)[walks - 1 - _allowed_exceeding(walks, float(miss))])
    return math.ceil(bound - 1e-3)


def _chunks(walks: int, steps: int) -> list[tuple[int, np.random.Generator]]:
    chunk_walks = max(1, CHUNK_NUMBERS // steps)
    generator = np.random.Generator(np.random.PCG64DXSM(WALK_SEED))
    return [(min(chunk_walks, walks - begin), generator) for begin in range(0, walks, chunk_walks)]


def _walk_bounds(steps: int, epsilon: float, walks: int, generator: np.random.Generator) -> Array:
    """For each walk the least T."""
    chance = -math.expm1(-epsilon)
    noise = generator.geometric(chance, (walks, steps)).astype(np.float64)
    noise -= generator.geometric(chance, (walks, steps))
    walk = np.cumsum(noise, axis=1)
    ends = walk[:, -1:].copy()
    walk -= ends * (np.arange(1, steps + 1) / steps)
    bounds: Array = np.maximum(np.abs(walk).max(axis=1), np.abs(ends[:, 0]) / END_RATIO)
    return bounds


def _allowed_exceeding(walks: int, miss: float) -> int:
    """The largest number that Bin(walks, miss) stays at or below with probability at most
    MAX_SEED_FAILURE, minus one: with as many walks beyond it, a bound is too low for so few seeds.
    """
    log_term, count = walks * math.log1p(-miss), 0
    total = math.exp(log_term)
    while total <= MAX_SEED_FAILURE:
        log_term += math.log((walks - count) * miss / ((count + 1) * (1 - miss)))
        count += 1
        total += math.exp(log_term)
    return count - 1
