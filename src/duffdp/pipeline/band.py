"""A band around shares of noisy counts that holds the exact shares all at once."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from duffdp.domain import Floats
from duffdp.parameters import Covers
from duffdp.sampling.noise_walk import END, walk_bound

ROUNDING = 1e-12  # more than doubles err by
NOISE_SHARE = Fraction(1, 5)  # of what may go wrong, where sampling may go wrong as well


def share_band(
    noisy: Sequence[int], epsilon: Fraction, confidence: Fraction, covers: Covers
) -> tuple[Floats, Floats]:
    """Lower and upper ends for the share of records in the first cell, the first two, and so on.

    With at least this probability all of them hold: for the records, or for the distribution that
    they were drawn from independently. `noisy` are the sums of the first counts, each count with
    two-sided geometric noise at epsilon. The proof is in `docs/distribution.md`.
    """
    miss = 1 - confidence
    cells, total = len(noisy), noisy[-1]
    stray = walk_bound(cells, epsilon, miss if covers == "data" else miss * NOISE_SHARE)
    end = END * stray
    if total <= end:  # too few records to tell
        low, high = np.zeros(cells), np.ones(cells)
    else:
        sums = np.array(noisy, dtype=np.float64)
        clock = np.arange(1, cells + 1) / cells
        low = -_largest_share(-sums + stray, -clock, total, end)
        high = _largest_share(sums + stray, clock, total, end)
        if covers == "population":
            # Dvoretzky, Kiefer and Wolfowitz with the constant of Massart, for the fewest records.
            missed = float(miss * (1 - NOISE_SHARE))
            apart = math.sqrt(math.log(2 / missed) / (2 * (total - end)))
            low, high = low - apart, high + apart
        low, high = np.clip(low - ROUNDING, 0, 1), np.clip(high + ROUNDING, 0, 1)
    low = np.maximum.accumulate(low)
    high = np.minimum.accumulate(high[::-1])[::-1]
    low[-1] = high[-1] = 1
    return low, high


def _largest_share(sums: Floats, clock: Floats, total: int, end: int) -> Floats:
    """The largest f with f total - sums <= end |clock - f|, for a total above `end`."""
    beyond = clock * total <= sums  # then f is the clock or more
    found: Floats = np.where(
        beyond, (sums - end * clock) / (total - end), (sums + end * clock) / (total + end)
    )
    return found
