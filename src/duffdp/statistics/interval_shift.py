"""How far outside of a quantile an end of its interval is aimed: far enough to be on the right side
with the wanted confidence, for every number of records (docs/intervals.md).
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
from duffdp.errors import DuffError
from duffdp.parameters import Covers

FINEST = 64  # a rank is cut in about so many steps
# Ranks by which the aim may move when a record joins: paid for by as much less noise.
SLACK = {"data": Fraction(1, 64), "population": Fraction(1, 32)}
# The weight of the safe end is that of this share of all candidates, divided by the records; less
# where a large epsilon leaves fewer gaps between records to compete with it.
SAFE_SHARE = 1e-3
MOST_RECORDS = 2**57  # beyond, distances do not fit into 64 bits
MOST_STEPS = 2**61
TINY = 2.0**-40

# The normal distribution function at even places, from above: between them it is convex left of
# zero, so that a chord lies above it, and a chord right of zero errs by at most WIDTH**2 / 32.
WIDTH = 1 / 256
NORMAL_AT = np.arange(-2304, 2305) * WIDTH
NORMAL_UPTO = np.array([math.erfc(-z / math.sqrt(2)) / 2 for z in NORMAL_AT])
NORMAL_UPTO[NORMAL_AT > 0] = np.minimum(NORMAL_UPTO[NORMAL_AT > 0] + WIDTH**2 / 32, 1)


@dataclass(frozen=True, slots=True)
class Shift:
    """By how many steps an end is aimed outside of the quantile, and how far from the truth its
    safe end counts, for every number of records.

    Both are straight lines between knots, rounded up. One record moves the aim by 0 up to `slack`
    steps, and the distance of the safe end by at most `most`: that is checked when they are made,
    in whole numbers, and all that privacy needs.
    """

    grain: int  # steps of a rank
    slack: int
    most: int  # steps by which one record moves a distance at most
    knots: tuple[int, ...]
    aim: tuple[int, ...]
    safe: tuple[int, ...]

    def at(self, records: int) -> tuple[int, int]:
        """The aim, and the distance of the safe end."""
        i = min(bisect_right(self.knots, records), len(self.knots) - 1) - 1
        past, gap = records - self.knots[i], self.knots[i + 1] - self.knots[i]
        aim, safe = (
            line[i] - (line[i] - line[i + 1]) * past // gap for line in (self.aim, self.safe)
        )
        return aim, safe


def grain_of(q: Fraction) -> int:
    """Steps of a rank: a multiple of the denominator of q, so that q n is a whole number."""
    return q.denominator * -(-FINEST // q.denominator)


def slack_of(q: Fraction, covers: Covers) -> int:
    """Steps by which one record may move the aim."""
    return math.ceil(SLACK[covers] * grain_of(q))


def most_of(q: Fraction, covers: Covers) -> int:
    """Steps by which one record moves a distance at most: by q or 1 - q ranks, and the slack."""
    return int(max(q, 1 - q) * grain_of(q)) + slack_of(q, covers)


def check_epsilon(q: Fraction, epsilon: Fraction, miss: Fraction, covers: Covers) -> None:
    """Raise an error if distances would not fit into 64 bits: they grow as epsilon falls."""
    if 2 * most_of(q, covers) / epsilon * (100 + math.ceil(math.log(1 / miss))) > MOST_STEPS:
        raise DuffError(
            f"an end of an interval for q={q} cannot be drawn with an epsilon of "
            f"{float(epsilon):g}. Pass a larger epsilon, or no interval."
        )


@lru_cache(maxsize=256)
def shift(q: Fraction, epsilon: Fraction, miss: Fraction, candidates: int, covers: Covers) -> Shift:
    """The shift of a lower end of the q-quantile; an upper end is a lower end of 1 - q from above.

    Parameters
    ----------
    q
        From 0 to 1.
    epsilon
        What the end may cost.
    miss
        The probability with which the end may lie on the wrong side.
    candidates
        How many there are, without the safe end.
    covers
        "data": the quantile of the records. "population": of what they were drawn from.
    """
    grain, slack, most = grain_of(q), slack_of(q, covers), most_of(q, covers)
    scale = 2 * most / float(epsilon)  # steps for one nat
    knots = _knots()
    share = SAFE_SHARE / (1 + 4 * float(epsilon) ** 2)
    alone = [math.ceil(scale * math.log(max(n, 1) / (share * candidates))) for n in knots]
    safe = _no_steeper(knots, alone, most)
    # In ranks: the candidate that is right, or the safe end, outweighs all others by so much.
    lead = (scale * math.log(candidates) + np.minimum(safe[1:], 0)) / grain
    if covers == "data":
        aim = lead + math.log((1 - miss) / miss) * scale / grain
    else:
        aim = _Sampling(float(q), scale / grain, float(miss), lead, knots).least_aim()
    steps = [max(1, math.ceil(rank * grain)) for rank in aim.tolist()]
    line = _no_steeper(knots, [*steps, steps[-1]], slack)
    return Shift(grain, slack, most, knots, tuple(line), tuple(safe))


@lru_cache(maxsize=1)
def _knots() -> tuple[int, ...]:
    """Numbers of records: all of the lowest, then 2 % apart, and further where few tables are."""
    knots = list(range(65))
    while knots[-1] < MOST_RECORDS:
        apart = 50 if knots[-1] < 10**7 else 20 if knots[-1] < 10**9 else 2
        knots.append(knots[-1] + -(-knots[-1] // apart))
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
            raise ArithmeticError("one record would move an end by more than it is paid for")
    return line


class _Sampling:
    """Bounds on the probability that an end misses the quantile of a population, one for all
    numbers of records between two knots.

    An end that is aimed `a` ranks below misses with at most the expectation of a logistic function
    of B + a, for a binomial B (docs/intervals.md, "Coverage"). It is summed over cells of the
    logistic function, each at its upper end, with the bound of Zubkov and Serov for B.
    """

    STEPS = 8
    CELL = 0.125  # nats: costs half a cell of the noise

    def __init__(
        self, q: float, scale: float, miss: float, lead: Floats, knots: tuple[int, ...]
    ) -> None:
        self._q, self._scale, self._miss, self._lead = q, scale, miss, lead[:, None]
        self._wanted = math.log(miss) - 1e-9  # doubles err by less
        records = np.array(knots, dtype=np.float64)[:, None]
        self._fewest, self._most = records[:-1], records[1:]
        low, high = math.log(miss) - 6, max(-math.log(miss), 4) + 6
        odds = np.arange(low, high, self.CELL)
        upto = 1 / (1 + np.exp(-odds))
        self._first = float(upto[0])  # below the first cell nothing is known
        self._mass = np.diff(upto, append=1.0)
        self._reach = np.maximum(self._lead - scale * odds, 0)

    def least_aim(self) -> Floats:
        """Ranks for which a miss is certain to be no likelier than wanted, close to the least."""
        count = len(self._lead)
        some = np.unique(np.r_[:64, 64 : count - 1 : 8, count - 1].clip(max=count - 1))
        beyond = np.interp(np.arange(count), some, self._solved(some))[:, None]
        while (wrong := self._excess(np.arange(count), beyond) > 0).any():
            beyond = np.where(wrong, beyond + 0.01 * self._scale + abs(beyond) / 1000, beyond)
        return (self._lead + beyond)[:, 0]

    def _solved(self, which: Ints) -> Floats:
        """The same for some intervals between knots, beyond the lead: by regula falsi, in which the
        end that stays counts half.
        """
        normal = float(np.interp(-self._miss, -NORMAL_UPTO[::-1], NORMAL_AT[::-1]))
        spread = np.sqrt(self._most[which] * self._q * (1 - self._q))
        high = np.hypot(self._scale * self._wanted, normal * spread) + self._scale + spread + 2
        low = -self._lead[which]
        under, over = self._excess(which, high), self._excess(which, low)
        while (under > 0).any():
            high, under = 2 * high, self._excess(which, 2 * high)
        for _ in range(self.STEPS):
            middle = (low * under - high * over) / (under - over)
            found = self._excess(which, middle)
            right = found <= 0
            low, over = np.where(right, low, middle), np.where(right, over / 2, found)
            high, under = np.where(right, middle, high), np.where(right, found, under / 2)
        aims: Floats = high[:, 0]
        return aims

    def _excess(self, which: Ints, beyond: Floats) -> Floats:
        """Nats by which the bound on the probability of a miss is too large."""
        chance = self._upto(which, self._reach[which] - self._lead[which] - beyond) @ self._mass
        excess: Floats = np.log(self._first + chance)[:, None] - self._wanted
        return excess

    def _upto(self, which: Ints, past: Floats) -> Floats:
        """An upper bound of P(B <= q n + past) for all numbers of records n between the knots."""
        q, place = self._q, past + 1
        if q in (0, 1):
            return np.where(past >= 0, 1.0, 0.0)
        # With more records the bound rises below the mean and falls above it.
        records = np.where(place < 0, self._most[which], np.maximum(self._fewest[which], 1))
        share = place / records
        none, all_of_them = share <= -q, share >= 1 - q
        share = share.clip(-q * (1 - TINY), (1 - q) * (1 - TINY))
        apart = (q + share) * np.log1p(share / q) + (1 - q - share) * np.log1p(-share / (1 - q))
        size = np.sqrt(2 * records * np.maximum(apart, 0))
        chance: Floats = np.interp(np.copysign(size, place), NORMAL_AT, NORMAL_UPTO)
        chance[none], chance[all_of_them] = 0, 1
        return chance
