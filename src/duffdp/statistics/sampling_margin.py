"""Margin for sampling error: records that an interval for a population has to spare.

A sample has fewer or more records up to a population's quantile than it should. The margin grows
with the number of records, slowly enough to stay private, and is large enough for each of them.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise

import numpy as np

from duffdp.domain import Floats, Ints

STEPS_PER_RANK = 64  # about: margins count in fractions of a rank
# Ranks by which one record may move the margin: paid for by as much less noise.
MAX_MARGIN_CHANGE = Fraction(1, 32)
MAX_RECORDS = 2**57  # beyond, scores do not fit into 64 bits
SHARE_MARGIN = 2.0**-40  # keeps logarithms of a share finite
FIRST_CELL_NATS = 6.0  # below the failure rate: what is likelier to fail than this is summed

# The normal distribution function at even places, from above: between them it is convex left of
# zero, so that a chord lies above it; right of zero a chord errs by at most the spacing**2 / 32.
NORMAL_SPACING = 1 / 256
NORMAL_AT = np.arange(-2304, 2305) * NORMAL_SPACING
NORMAL_CDF = np.array([math.erfc(-z / math.sqrt(2)) / 2 for z in NORMAL_AT])
NORMAL_CDF[NORMAL_AT > 0] = np.minimum(NORMAL_CDF[NORMAL_AT > 0] + NORMAL_SPACING**2 / 32, 1)


@dataclass(frozen=True, slots=True)
class SamplingMargin:
    """Steps that a lower end of a q-quantile has to spare, for every number of records.

    A straight line between knots, rounded up. One record moves it by 0 up to `max_change` steps,
    which is checked in whole numbers when the line is made, and is all that privacy needs: a rank
    that moves by q or 1 - q and by the margin moves by at most `max_distance_change`.
    """

    max_change: int
    max_distance_change: int
    knots: tuple[int, ...]
    steps: tuple[int, ...]

    def at(self, records: int) -> int:
        """The margin for so many records."""
        i = min(bisect_right(self.knots, records), len(self.knots) - 1) - 1
        over_knot, gap = records - self.knots[i], self.knots[i + 1] - self.knots[i]
        return self.steps[i] - (self.steps[i] - self.steps[i + 1]) * over_knot // gap


def steps_per_rank(q: Fraction) -> int:
    """Steps of a rank: a multiple of the denominator of q, so that q n is a whole number."""
    return q.denominator * -(-STEPS_PER_RANK // q.denominator)


@lru_cache(maxsize=256)
def sampling_margin(
    q: Fraction, epsilon: Fraction, failure_rate: Fraction, log_ratio: float
) -> SamplingMargin:
    """The margin of a lower end of the q-quantile; an upper end is a lower end of 1 - q from above.

    Parameters
    ----------
    q
        From 0 to 1.
    epsilon
        What the width is drawn with.
    failure_rate
        The probability with which the end may lie on the wrong side.
    log_ratio
        Nats by which a width weighs more than the one before it.
    """
    rank, knots = steps_per_rank(q), _knots()
    max_change = math.ceil(MAX_MARGIN_CHANGE * rank)
    max_distance_change = int(max(q, 1 - q) * rank) + max_change
    scale = 2 * max_distance_change / rank / float(epsilon)  # ranks for one nat
    bound = _SamplingBound(float(q), scale, math.log(failure_rate), log_ratio, knots)
    steps = [max(1, math.ceil(ranks * rank)) for ranks in bound.least_margins().tolist()]
    line = _no_steeper(knots, [*steps, steps[-1]], max_change)
    return SamplingMargin(max_change, max_distance_change, knots, tuple(line))


@lru_cache(maxsize=1)
def _knots() -> tuple[int, ...]:
    """Numbers of records: all of the lowest, then 2 % apart, and further where few tables are."""
    knots = list(range(65))
    while knots[-1] < MAX_RECORDS:
        fraction = 50 if knots[-1] < 10**7 else 20 if knots[-1] < 10**9 else 2
        knots.append(knots[-1] + -(-knots[-1] // fraction))
    return tuple(knots)


def _no_steeper(knots: tuple[int, ...], least: list[int], slope: int) -> list[int]:
    """The lowest line through knots that lies above another one, never falls and rises by at most
    `slope` a record.
    """
    line = least.copy()
    for i in range(1, len(line)):
        line[i] = max(line[i], line[i - 1])
    for i in range(len(line) - 2, -1, -1):
        line[i] = max(line[i], line[i + 1] - slope * (knots[i + 1] - knots[i]))
    for (fewer, low), (more, high) in pairwise(zip(knots, line, strict=True)):
        if not 0 <= high - low <= slope * (more - fewer):
            raise ArithmeticError("one record would move a margin by more than it is paid for")
    return line


def log_failure(nats: Floats, log_ratio: float) -> Floats:
    """Logarithm of a bound on the probability that a failing width is drawn, where failing widths
    are so many nats from the aim (docs/intervals.md, "The width").
    """
    log_gain = math.log(math.expm1(min(log_ratio, 100.0)))  # log(r - 1), or less
    near = -nats - math.log(3) - log_gain - log_ratio / 2
    far = -2 * nats - math.log(2) - log_gain
    bound: Floats = np.where(nats < 0, 0.0, np.minimum(np.maximum(near, far), 0.0))
    return bound


class _SamplingBound:
    """Bounds on the probability that an end misses the quantile of a population, one for all
    numbers of records between two knots.

    With a margin of `a` ranks, failing widths are (a + B - q n) / scale nats from the aim, for a
    binomial B. The bound on their probability is summed over cells of it, each at its upper end,
    with the bound of Zubkov and Serov for B (docs/intervals.md, "Coverage").
    """

    SOLVER_STEPS = 8
    CELL_NATS = 0.125  # costs half a cell of the noise

    def __init__(
        self, q: float, scale: float, log_rate: float, log_ratio: float, knots: tuple[int, ...]
    ) -> None:
        self._q, self._scale = q, scale
        self._log_rate = log_rate - 1e-9  # doubles err by less
        records = np.array(knots, dtype=np.float64)[:, None]
        self._fewest_records, self._most_records = records[:-1], records[1:]
        nats = np.arange(FIRST_CELL_NATS - log_rate, -self.CELL_NATS, -self.CELL_NATS)
        failure = np.exp(log_failure(nats, log_ratio))
        self._first = float(failure[0])  # below the first cell nothing is known
        self._mass, self._reach = np.diff(failure, append=1.0), scale * nats

    def least_margins(self) -> Floats:
        """Ranks for which a miss is certain to be no likelier than wanted, close to the least."""
        count = len(self._most_records)
        sample = np.unique(np.r_[:64, 64 : count - 1 : 8, count - 1].clip(max=count - 1))
        margin = np.interp(np.arange(count), sample, self._solve(sample))[:, None]
        while (wrong := self._excess(np.arange(count), margin) > 0).any():
            margin = np.where(wrong, margin + 0.01 * self._scale + margin / 1000, margin)
        return margin[:, 0]

    def _solve(self, intervals: Ints) -> Floats:
        """The least margin for some intervals between knots, by regula falsi in which the end that
        stays counts half.
        """
        normal = float(np.interp(-math.exp(self._log_rate), -NORMAL_CDF[::-1], NORMAL_AT[::-1]))
        spread = np.sqrt(self._most_records[intervals] * self._q * (1 - self._q))
        high = np.hypot(self._scale * self._log_rate, normal * spread) + self._scale + spread + 2
        low = np.zeros_like(high)
        under, over = self._excess(intervals, high), self._excess(intervals, low)
        while (under > 0).any():
            high, under = 2 * high, self._excess(intervals, 2 * high)
        for _ in range(self.SOLVER_STEPS):
            middle = np.where(over > 0, (low * under - high * over) / (under - over), 0.0)
            excess = self._excess(intervals, middle)
            right = excess <= 0
            low, over = np.where(right, low, middle), np.where(right, over / 2, excess)
            high, under = np.where(right, middle, high), np.where(right, excess, under / 2)
        margins: Floats = high[:, 0]
        return margins

    def _excess(self, intervals: Ints, margin: Floats) -> Floats:
        """Nats by which the bound on the probability of a miss is too large."""
        chance = self._binomial_cdf(intervals, self._reach - margin) @ self._mass
        excess: Floats = np.log(self._first + chance)[:, None] - self._log_rate
        return excess

    def _binomial_cdf(self, intervals: Ints, offset: Floats) -> Floats:
        """An upper bound of P(B <= q n + offset) for all numbers of records n between the knots."""
        q, place = self._q, offset + 1
        if q in (0, 1):
            return np.where(offset >= 0, 1.0, 0.0)
        # With more records the bound rises below the mean and falls above it.
        records = np.where(
            place < 0, self._most_records[intervals], np.maximum(self._fewest_records[intervals], 1)
        )
        share = place / records
        none, all_of_them = share <= -q, share >= 1 - q
        share = share.clip(-q * (1 - SHARE_MARGIN), (1 - q) * (1 - SHARE_MARGIN))
        divergence = (q + share) * np.log1p(share / q) + (1 - q - share) * np.log1p(
            -share / (1 - q)
        )
        size = np.sqrt(2 * records * np.maximum(divergence, 0))
        chance: Floats = np.interp(np.copysign(size, place), NORMAL_AT, NORMAL_CDF)
        chance[none], chance[all_of_them] = 0, 1
        return chance
