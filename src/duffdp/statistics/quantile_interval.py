"""Confidence intervals around quantiles.

Intervals for the data: the values first, then their width (`interval_width.py`). Intervals for the
population: each end is drawn. It is aimed at a rank outside of the quantile, far enough to be on
the right side with the wanted confidence, for every number of records
(docs/explanation/intervals.md).
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import Any, Literal

import numpy as np

from duffdp._engines.requests import GroupedRanks, Inquiry, RanksNear, ask
from duffdp._parameters import Covers, Q
from duffdp._steps import StepFunction, Tail, Windows, certain
from duffdp.domain import Floats, Grid, Ints, Ordered, PublicSet
from duffdp.domain.grid import MAX_GRID_SIZE
from duffdp.errors import DuffError
from duffdp.statistics.interval_width import VALUES_SHARE, followed_by_ends, width_intervals
from duffdp.statistics.program import DrawSpec, ReleaseProgram
from duffdp.statistics.rank_distances import MAX_WINDOW_RANKS, RankDistances, least_outside
from duffdp.statistics.records import counts_of
from duffdp.statistics.spec import IntervalSpec
from duffdp.statistics.statistic import DistanceStatistic, Scope

Side = Literal["low", "high"]
SIDES: tuple[Side, Side] = ("low", "high")

# Share of epsilon for the values. For the population a value then errs by a tenth of the width or
# less, and the interval is up to a seventh wider than without it (docs/explanation/intervals.md,
# "The value").
VALUE_SHARES: dict[Covers, Fraction] = {"data": VALUES_SHARE, "population": Fraction(1, 8)}
STEPS_PER_RANK = 64  # about: distances count in fractions of a rank
# Ranks by which one record may move the aim: paid for by as much less noise.
AIM_CHANGE = {"data": Fraction(1, 64), "population": Fraction(1, 32)}
# The weight of the safe end is that of this share of all candidates, divided by the records; less
# where a large epsilon leaves fewer gaps between records to compete with it.
SAFE_SHARE = 1e-3
MAX_RECORDS = 2**57  # beyond, distances do not fit into 64 bits
MAX_DISTANCE_STEPS = 2**61
SHARE_MARGIN = 2.0**-40  # keeps logarithms of a share finite

# The normal distribution function at even places, from above: between them it is convex left of
# zero, so that a chord lies above it; right of zero a chord errs by at most the spacing**2 / 32.
NORMAL_SPACING = 1 / 256
NORMAL_AT = np.arange(-2304, 2305) * NORMAL_SPACING
NORMAL_CDF = np.array([math.erfc(-z / math.sqrt(2)) / 2 for z in NORMAL_AT])
NORMAL_CDF[NORMAL_AT > 0] = np.minimum(NORMAL_CDF[NORMAL_AT > 0] + NORMAL_SPACING**2 / 32, 1)


def around_quantiles(
    program: ReleaseProgram, qs: tuple[Fraction, ...], names: Sequence[str], interval: IntervalSpec
) -> ReleaseProgram:
    """Quantiles, each between two ends: the last numbers are all quantiles in order, then the low
    and the high end of each.

    `program` draws the quantiles for a share of epsilon (`VALUE_SHARES`), perhaps after others.
    """
    share = 1 - VALUE_SHARES[interval.covers]
    if interval.covers == "data":
        rate = interval.failure_rate_each(width_intervals(qs))
        return followed_by_ends(program, qs, names, share, rate)
    rate = interval.failure_rate_each(len(qs))
    return program.beside(end_draws(qs, names, rate, share, interval))


def end_draws(
    qs: Sequence[Fraction],
    names: Sequence[str],
    failure_rate: Fraction,
    share: Fraction,
    interval: IntervalSpec,
) -> tuple[DrawSpec, ...]:
    """Draws of both ends of every quantile, for this share of epsilon in total."""
    share_each = share / (2 * len(qs))

    def draw(q: Fraction, name: str, side: Side) -> DrawSpec:
        end = IntervalEnd(
            q,
            side,
            failure_rate=failure_rate / 2,
            covers=interval.covers,
            epsilon=interval.epsilon * share_each,
        )
        return DrawSpec(end, "exponential", (f"{name}_{side}",), share_each, utility="end")

    pairs = zip(qs, names, strict=True)
    return tuple(draw(q, name, side) for q, name in pairs for side in SIDES)


def value_between_ends(domain: PublicSet, numbers: Sequence[int]) -> list[object]:
    """A value and its two ends; the value is moved between them."""
    assert isinstance(domain, Ordered)
    value, *ends = numbers
    low, high = sorted_ends(domain, *ends)
    return [domain.value(number) for number in (min(max(value, low), high), low, high)]


def values_inside_ends(domain: PublicSet, numbers: Sequence[int]) -> list[object]:
    """Each value and its ends, from all values and then all ends: values stay sorted, and ends are
    moved to hold them.
    """
    assert isinstance(domain, Ordered)
    count, indices = len(numbers) // 3, []
    for i, value in enumerate(sorted(numbers[:count])):
        low, high = sorted_ends(domain, *numbers[count + 2 * i : count + 2 * i + 2])
        indices += [value, min(low, value), max(high, value)]
    return list(map(domain.value, indices))


def sorted_ends(domain: Ordered, low: int, high: int) -> tuple[int, int]:
    """Two drawn ends as candidates: a safe end is the bound."""
    low, high = 0 if low == domain.size else low, min(high, domain.size - 1)
    return min(low, high), max(low, high)


class IntervalEnd(DistanceStatistic):
    """One end of an interval that contains the q-quantile: a rank outside of it, or the safe end.

    The candidates are those of the domain and, with the index after the last of them, the safe
    end: the bound itself, which is never wrong and says nothing.

    Parameters
    ----------
    q
        From 0 to 1, as for `Quantile`.
    side
        "low" or "high".
    failure_rate
        The probability with which the end may lie on the wrong side of the quantile.
    covers
        "data": the quantile of the records, max(1, ceil(q n)) in their order. "population": every
        q-quantile of the distribution that they were drawn from, independently.
    epsilon
        The epsilon of the draw of the end. Another epsilon is just as private, and its coverage is
        not promised.

    Privacy
    -------
    A distance changes by at most 1 when one record joins or leaves, that of the safe end too, and
    needs the rate 1/2 (`tests/statistics/interval_end_test.py`): the number of records is private.

    Utility
    -------
    Ranks outside: about (2 log(1000 n) / epsilon) max(q, 1-q), and for a population sampling error.

    Runtime
    -------
    As a quantile; some 40 ms for parameters that are new.

    References
    ----------
    `docs/explanation/intervals.md`; Zubkov and Serov, "A complete proof of universal inequalities
    for the distribution function of the binomial law" (Theory of Probability and its Applications,
    2013).

    Examples
    --------
    >>> import duffdp
    >>> from duffdp.statistics.quantile_interval import IntervalEnd
    >>> end = IntervalEnd(0.5, "low", failure_rate=0.025, covers="data", epsilon=1)
    >>> steps = end.steps(range(200), duffdp.Grid(0, 199, 1))
    >>> law = duffdp.mechanisms.Exponential(1).law(steps)
    >>> sum(law.probability(x) for x in range(100, 200)) <= 0.025
    True
    """

    rate = Fraction(1, 2)

    def __init__(
        self, q: Any, side: Side, *, failure_rate: Any, covers: Covers, epsilon: Any
    ) -> None:
        self.q, self.side, self.covers = Q.read(q), side, covers
        self.failure_rate, self.epsilon = Fraction(failure_rate), Fraction(epsilon)
        _check_epsilon(self.q, self.epsilon, self.failure_rate, covers)
        self.unit = Fraction(1, _max_distance_change(self.q, covers))

    def outputs(self, domain: PublicSet) -> Grid:
        """The indices of the candidates, and of the safe end."""
        return Grid(0, min(domain.size, MAX_GRID_SIZE - 1), 1)

    def steps(self, values: object, domain: Ordered) -> StepFunction:
        """The distance of every candidate, and of the safe end."""
        ranks = GroupedRanks.of_counts(counts_of(values, domain), domain.size)
        return self._with_safe_end(ranks, domain)[0]

    def windows(self, scope: Scope, max_distance: float) -> Inquiry[Windows]:
        offset = self.offset(scope.ordered)
        aim, _ = offset.at(scope.max_records)  # a guess, for speed alone
        reach = math.ceil((max_distance * offset.max_change + aim) / offset.steps_per_rank) + 2
        min_reach = math.ceil(
            (0.75 * max_distance * offset.max_change + aim) / offset.steps_per_rank
        )
        request = RanksNear(((self.q, min(reach, MAX_WINDOW_RANKS)),), min_reach)
        (ranks,) = yield from ask(request)
        return self._with_safe_end(ranks, scope.ordered)

    def offset(self, domain: Ordered) -> EndpointOffset:
        """Distance of its aim from the quantile."""
        q = self.q if self.side == "low" else 1 - self.q
        return endpoint_offset(q, self.epsilon, self.failure_rate, domain.size, self.covers)

    def _with_safe_end(self, ranks: GroupedRanks, domain: Ordered) -> Windows:
        """The windows around the rank that is aimed at, each followed by the safe end."""
        offset = self.offset(domain)
        windows = _AimDistances(self.q, self.side, offset).windows_of(ranks, domain)
        distances = [self._safe_distance(offset, total) for total in ranks.total.tolist()]

        def open_tail(i: int) -> Tail | None:
            tail = windows.open_tail(i)
            if tail is None:
                return None
            inside = tail.inquire
            return replace(
                tail,
                inquire=lambda at: certain(distances[i]) if at == domain.size else inside(at),
            )

        after = np.append(windows.begin[1:], len(windows.start))
        return replace(
            windows,
            domain=self.outputs(domain),
            start=np.insert(windows.start, after, domain.size),
            count=np.insert(windows.count, after, 1),
            distance=np.insert(windows.distance, after, distances),
            begin=windows.begin + np.arange(len(distances)),
            open_tail=open_tail,
            unit=self.unit,
            rate=self.rate,
        )

    def _safe_distance(self, offset: EndpointOffset, records: int) -> int:
        """The distance of the safe end: at most that of the aim itself, so that it is
        the truth if there are too few records for such a rank.
        """
        aim, safe = offset.at(records)
        q = self.q if self.side == "low" else 1 - self.q
        return min(safe, int(q * offset.steps_per_rank) * records - aim)

    def __repr__(self) -> str:
        return f"IntervalEnd({self.q}, {self.side!r}, covers={self.covers!r})"


class _AimDistances(RankDistances):
    """Distance in ranks from the aim of an end, in steps: max(L - r, r - L - E) for a rank r below
    or above q n.
    """

    rate = Fraction(1, 2)
    unit = Fraction(1)

    def __init__(self, q: Fraction, side: Side, offset: EndpointOffset) -> None:
        self._p, self._m = q.numerator, q.denominator
        self._offset, self._up = offset, -1 if side == "low" else 1
        self._fine = offset.steps_per_rank // self._m

    def _above(self, cumulative: Ints, total: Ints) -> Ints:
        """Steps by which a rank lies above the one that is aimed at."""
        sizes, group = np.unique(total, return_inverse=True)
        aim = np.array([self._offset.at(n)[0] for n in sizes.tolist()])[group]
        above: Ints = self._fine * (self._m * cumulative - self._p * total) - self._up * aim
        return above

    def _distances(self, cumulative: Ints, total: Ints) -> tuple[Ints, Ints]:
        above = self._above(cumulative, total)
        return np.maximum(above[:-1], -above[1:]), np.abs(above)

    def _floors(self, ranks: GroupedRanks, cumulative: Ints, size: int) -> Ints:
        before, after = -self._above(ranks.below, ranks.total), self._above(cumulative, ranks.total)
        return least_outside(ranks, before, after, size)


@dataclass(frozen=True, slots=True)
class EndpointOffset:
    """The number of steps by which an end is aimed outside of the quantile, and the distance of its
    safe end, for every number of records.

    Both are straight lines between knots, rounded up. One record moves the aim by 0 up to
    `max_aim_change` steps, and the distance of the safe end by at most `max_change`. Both are
    checked in whole numbers when the lines are made, and are all that privacy needs.
    """

    steps_per_rank: int
    max_aim_change: int
    max_change: int
    knots: tuple[int, ...]
    aim: tuple[int, ...]
    safe: tuple[int, ...]

    def at(self, records: int) -> tuple[int, int]:
        """The aim, and the distance of the safe end."""
        i = min(bisect_right(self.knots, records), len(self.knots) - 1) - 1
        over_knot, gap = records - self.knots[i], self.knots[i + 1] - self.knots[i]
        aim, safe = (
            line[i] - (line[i] - line[i + 1]) * over_knot // gap for line in (self.aim, self.safe)
        )
        return aim, safe


def _steps_per_rank(q: Fraction) -> int:
    """Steps of a rank: a multiple of the denominator of q, so that q n is a whole number."""
    return q.denominator * -(-STEPS_PER_RANK // q.denominator)


def _max_aim_change(q: Fraction, covers: Covers) -> int:
    """Steps by which one record may move the aim."""
    return math.ceil(AIM_CHANGE[covers] * _steps_per_rank(q))


def _max_distance_change(q: Fraction, covers: Covers) -> int:
    """Steps by which one record can move a distance: q or 1 - q ranks, and as the aim moves."""
    return int(max(q, 1 - q) * _steps_per_rank(q)) + _max_aim_change(q, covers)


def _check_epsilon(q: Fraction, epsilon: Fraction, failure_rate: Fraction, covers: Covers) -> None:
    """Raise an error if distances would not fit into 64 bits: they grow as epsilon falls."""
    nats = 100 + math.ceil(math.log(1 / failure_rate))
    if 2 * _max_distance_change(q, covers) / epsilon * nats > MAX_DISTANCE_STEPS:
        raise DuffError(
            f"an end of an interval for q={q} cannot be drawn with an epsilon of "
            f"{float(epsilon):g}. Pass a larger epsilon, or no interval."
        )


@lru_cache(maxsize=256)
def endpoint_offset(
    q: Fraction, epsilon: Fraction, failure_rate: Fraction, candidates: int, covers: Covers
) -> EndpointOffset:
    """Offset of a lower end of the q-quantile; an upper end is a lower end of 1 - q from above.

    Parameters
    ----------
    q
        From 0 to 1.
    epsilon
        The epsilon that the end may cost.
    failure_rate
        The probability with which the end may lie on the wrong side.
    candidates
        How many there are, without the safe end.
    covers
        "data": the quantile of the records. "population": of what they were drawn from.
    """
    rank, max_change = _steps_per_rank(q), _max_distance_change(q, covers)
    scale = 2 * max_change / float(epsilon)  # steps for one nat
    knots = _knots()
    share = SAFE_SHARE / (1 + 4 * float(epsilon) ** 2)
    safe_alone = [math.ceil(scale * math.log(max(n, 1) / (share * candidates))) for n in knots]
    safe = _no_steeper(knots, safe_alone, max_change)
    # In ranks: the candidate that is right, or the safe end, outweighs all others by so much.
    lead = (scale * math.log(candidates) + np.minimum(safe[1:], 0)) / rank
    if covers == "data":
        aim = lead + math.log((1 - failure_rate) / failure_rate) * scale / rank
    else:
        aim = _SamplingBound(float(q), scale / rank, float(failure_rate), lead, knots).least_aim()
    steps = [max(1, math.ceil(ranks * rank)) for ranks in aim.tolist()]
    max_aim_change = _max_aim_change(q, covers)
    line = _no_steeper(knots, [*steps, steps[-1]], max_aim_change)
    return EndpointOffset(rank, max_aim_change, max_change, knots, tuple(line), tuple(safe))


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
            raise ArithmeticError("one record would move an end by more than it is paid for")
    return line


class _SamplingBound:
    """Bounds on the probability that an end misses the quantile of a population; one bound covers
    all numbers of records between two knots.

    An end that is aimed `a` ranks below misses with at most the expectation of a logistic function
    of B + a, for a binomial B (docs/explanation/intervals.md, "Coverage"). It is summed over cells
    of the logistic function, each at its lower end, with the bound of Zubkov and Serov for B.
    """

    SOLVER_STEPS = 8
    CELL_NATS = 0.125  # costs half a cell of the noise

    def __init__(
        self, q: float, scale: float, failure_rate: float, lead: Floats, knots: tuple[int, ...]
    ) -> None:
        self._q, self._scale, self._failure_rate, self._lead = q, scale, failure_rate, lead[:, None]
        self._log_rate = math.log(failure_rate) - 1e-9  # doubles err by less
        records = np.array(knots, dtype=np.float64)[:, None]
        self._fewest_records, self._most_records = records[:-1], records[1:]
        low, high = math.log(failure_rate) - 6, max(-math.log(failure_rate), 4) + 6
        odds = np.arange(low, high, self.CELL_NATS)
        logistic = 1 / (1 + np.exp(-odds))
        self._first = float(logistic[0])  # below the first cell nothing is known
        self._mass = np.diff(logistic, append=1.0)
        self._reach = np.maximum(self._lead - scale * odds, 0)

    def least_aim(self) -> Floats:
        """Ranks for which a miss is certain to be no likelier than wanted, close to the least."""
        count = len(self._lead)
        sample = np.unique(np.r_[:64, 64 : count - 1 : 8, count - 1].clip(max=count - 1))
        extra = np.interp(np.arange(count), sample, self._solve(sample))[:, None]
        while (wrong := self._excess(np.arange(count), extra) > 0).any():
            extra = np.where(wrong, extra + 0.01 * self._scale + abs(extra) / 1000, extra)
        return (self._lead + extra)[:, 0]

    def _solve(self, intervals: Ints) -> Floats:
        """The least aim beyond the lead for some intervals between knots, by regula falsi in which
        the end that stays counts half.
        """
        normal = float(np.interp(-self._failure_rate, -NORMAL_CDF[::-1], NORMAL_AT[::-1]))
        spread = np.sqrt(self._most_records[intervals] * self._q * (1 - self._q))
        high = np.hypot(self._scale * self._log_rate, normal * spread) + self._scale + spread + 2
        low = -self._lead[intervals]
        under, over = self._excess(intervals, high), self._excess(intervals, low)
        while (under > 0).any():
            high, under = 2 * high, self._excess(intervals, 2 * high)
        for _ in range(self.SOLVER_STEPS):
            middle = (low * under - high * over) / (under - over)
            excess = self._excess(intervals, middle)
            right = excess <= 0
            low, over = np.where(right, low, middle), np.where(right, over / 2, excess)
            high, under = np.where(right, middle, high), np.where(right, excess, under / 2)
        aims: Floats = high[:, 0]
        return aims

    def _excess(self, intervals: Ints, extra: Floats) -> Floats:
        """Nats by which the bound on the probability of a miss is too large."""
        chance = (
            self._binomial_cdf(intervals, self._reach[intervals] - self._lead[intervals] - extra)
            @ self._mass
        )
        excess: Floats = np.log(self._first + chance)[:, None] - self._log_rate
        return excess

    def _binomial_cdf(self, intervals: Ints, offset: Floats) -> Floats:
        """An upper bound of P(B <= q n + past) for all numbers of records n between the knots."""
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
