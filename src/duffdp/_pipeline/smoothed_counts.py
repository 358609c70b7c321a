"""Counts of neighboring cells without most of their noise.

Most columns have one hill of records, or a few: along the cells, counts rise, fall and end. The
counts expected of such columns are the means of a hidden Markov model given the noisy counts. They
are computed from released numbers and cost no epsilon.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

# The constants were chosen with tables of 15 columns of 1,000 records (`python -m
# benchmarks.profile`). Levels twice as far apart lose 8 of 100 profiles; the others matter less.
STEP = math.sqrt(2)  # between the levels of a hill
LEVELS = STEP ** np.arange(-16.0, 1.0)  # from a 256th of all records to all of them
BEGIN = 0.01  # a hill begins behind an empty cell
END = 0.7  # a hill ends behind a cell of the lowest level, and less often behind higher ones
TURN = 0.15  # a hill begins to fall
RISE_AGAIN = 0.03  # a falling hill rises again
FIRST_OCCUPIED = 0.05  # the first cell, which is beyond all edges, has records
TILTS = 9  # halvings of the tilt that makes the counts add up
NOISE_NATS = 7.0  # noise is larger one time in a thousand


class SmoothedCounts(NamedTuple):
    """The expected count of each cell, and the probability that it has records."""

    counts: Floats
    occupied: Floats


def smoothed_counts(counts: Sequence[float], records: float, epsilon: float) -> SmoothedCounts:
    """Expected counts that add up to about so many records, given counts with geometric noise."""
    noisy = np.asarray(counts, dtype=float)
    shares = np.concatenate([[0.0], LEVELS, LEVELS])  # empty, rising, falling
    expected = max(records, 1.0) * shares
    fit = -epsilon * np.abs(noisy[:, None] - expected)
    # More or fewer records are made likelier until there are as many as was released.
    low, high = -epsilon, epsilon
    for _ in range(TILTS):
        tilt = (low + high) / 2
        probabilities = state_probabilities(fit - tilt * expected)
        smooth = probabilities @ expected
        low, high = (tilt, high) if smooth.sum() > records else (low, tilt)
    # Levels are rounded: within half a level, and where there is little noise, noisy counts are
    # closer.
    smooth = np.clip(noisy, smooth / math.sqrt(STEP), smooth * math.sqrt(STEP))
    reach = NOISE_NATS / epsilon
    smooth = np.clip(smooth, noisy - reach, np.maximum(noisy + reach, 0))
    return SmoothedCounts(smooth, 1 - probabilities[:, 0])


def state_probabilities(fit: Floats) -> Floats:
    """The probabilities of the states of every cell, from the logarithms of how well each state
    fits its count: one pass forward and one backward.
    """
    weights = np.exp(fit - fit.max(axis=1, keepdims=True))
    forward, backward = np.empty_like(weights), np.ones_like(weights)
    state = FIRST
    for i, weight in enumerate(weights):
        state = state * weight
        state /= state.sum()
        forward[i] = state
        state = state @ NEXT
    for i in range(len(weights) - 2, -1, -1):
        state = NEXT @ (backward[i + 1] * weights[i + 1])
        backward[i] = state / state.sum()
    both: Floats = forward * backward
    both /= both.sum(axis=1, keepdims=True)
    return both


def _next_states() -> Floats:
    """The probability of the state of a cell (column) given the state of the cell before (row)."""
    ratios = LEVELS / LEVELS[:, None]
    rise, fall = np.triu(1 / ratios), np.tril(ratios)  # small steps are likelier than large ones
    rise /= rise.sum(axis=1, keepdims=True)
    fall /= fall.sum(axis=1, keepdims=True)
    end = (END * np.sqrt(LEVELS[0] / LEVELS))[:, None]
    begin = np.full((1, len(LEVELS)), BEGIN / len(LEVELS))
    return np.block(
        [
            [np.array([[1 - BEGIN]]), begin, np.zeros_like(begin)],
            [end, (1 - end) * (1 - TURN) * rise, (1 - end) * TURN * fall],
            [end, (1 - end) * RISE_AGAIN * rise, (1 - end) * (1 - RISE_AGAIN) * fall],
        ]
    )


NEXT = _next_states()
FIRST = np.full(len(NEXT), FIRST_OCCUPIED / (len(NEXT) - 1))
FIRST[0] = 1 - FIRST_OCCUPIED
