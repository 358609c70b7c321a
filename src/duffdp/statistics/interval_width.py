"""Confidence intervals of quantiles: the values first, then how wide the intervals are.

A half-width comes from a public list, each longer than the one before. Its score says how many
records the interval has to spare, and is aimed at a public number of them (docs/intervals.md).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import chain
from typing import Any, Literal, NamedTuple

import numpy as np

from duffdp._engines.requests import GroupedRanks, Inquiry, RanksNear, ask
from duffdp._parameters import Covers, Q
from duffdp._steps import StepFunction, Windows
from duffdp.domain import Grid, Ints, Ordered
from duffdp.errors import DuffError
from duffdp.statistics.program import Columns, DrawSpec, ProgramRun, ReleaseProgram
from duffdp.statistics.rank_distances import MAX_WINDOW_RANKS
from duffdp.statistics.records import counts_of
from duffdp.statistics.sampling_margin import (
    FIRST_CELL_NATS,
    SamplingMargin,
    sampling_margin,
    steps_per_rank,
)
from duffdp.statistics.statistic import TAIL_NATS, DistanceStatistic, Scope

Sides = Literal["both", "low", "high"]

# Share of epsilon for the values. With 1/4 they err 1.8 times as much at the same width, and with
# 3/4 intervals are 1.9 times as wide (`python -m benchmarks.intervals`).
VALUES_SHARE = Fraction(1, 2)
# Nearer to 0 or 1 than this, a quantile has a width for each side: too few records may lie beyond
# it, and one width for both sides would then reach for a bound on the other side as well. By q
# alone, because the number of records is private; other lines than a tenth were not compared.
ONE_WIDTH_FROM = Fraction(1, 10)
# How much longer a half-width is than the one before it, and how much more it weighs. Sampling
# error does not shrink with epsilon, so a population needs a finer list. Of seven pairs for it,
# tried on six columns, this one is at most 4 % wider than the best at n = 3,000, epsilon 1, and
# narrowest or next to it at n = 300.
GROWTH: dict[Covers, Fraction] = {"data": Fraction(2), "population": Fraction(23, 20)}
WEIGHT_RATIO: dict[Covers, float] = {"data": 2.0, "population": 1.2}
STEPS_PER_RECORD = 64  # of a score
FACTOR_PARTS = 64  # widths of several quantiles differ by at most this factor
MAX_SCORE_STEPS = 2**61  # scores fit into 64 bits


class IntervalWidth(DistanceStatistic):
    """Width of intervals around released quantiles: an index of a list of half-widths in
    candidates. For the data it is 0, 1, 2, 4, 8, ...; for a population each is about a seventh
    longer than the one before.

    One index serves all quantiles of a group, each with a public factor: the gaps between the
    released values. With one quantile the half-width is that of the list.

    Parameters
    ----------
    qs
        From 0 to 1, as for `Quantile`.
    values
        The released candidates of each quantile in order: one for every group.
    sides
        "both", or the side of the value on which the width counts: one of them for a population.
    failure_rate
        The probability with which any of these intervals may miss its quantile on these sides.
    covers
        "data": the quantile of the records, max(1, ceil(q n)) in their order. "population": every
        q-quantile of the distribution that they were drawn from, independently.
    epsilon
        What the width will be drawn with. Another epsilon is just as private, and its coverage is
        not promised.

    Privacy
    -------
    A score changes by at most 1 when one record joins or leaves and needs the rate 1/2
    (`tests/statistics/interval_width_test.py`). Its values have to be released before.

    Utility
    -------
    For the data an interval spares about 1.55 / epsilon records to a side at 95 %, times 2 max(q,
    1-q).

    Runtime
    -------
    As a quantile; for a population some 40 ms for parameters that are new.

    References
    ----------
    `docs/intervals.md`, "The width"; Zubkov and Serov, "A complete proof of universal inequalities
    for the distribution function of the binomial law" (Theory of Probability and its Applications,
    2013).

    Examples
    --------
    >>> import duffdp
    >>> from duffdp.statistics.interval_width import IntervalWidth
    >>> width = IntervalWidth([0.5], [[100]], failure_rate=0.05, epsilon=1)
    >>> law = duffdp.mechanisms.PermuteAndFlip(1).law(
    ...     width.steps(range(200), duffdp.Grid(0, 199, 1))
    ... )
    >>> [round(law.probability(i), 2) for i in range(9)]
    [0.01, 0.06, 0.5, 0.35, 0.08, 0.0, 0.0, 0.0, 0.0]
    """

    rate = Fraction(1, 2)
    unit = Fraction(1, STEPS_PER_RECORD)

    def __init__(
        self,
        qs: Any,
        values: Any,
        *,
        failure_rate: Any,
        epsilon: Any,
        sides: Sides = "both",
        covers: Covers = "data",
    ) -> None:
        self.qs = tuple(map(Q.read, qs))
        self.values = np.array(values, dtype=np.int64)
        self.sides, self.failure_rate = sides, Fraction(failure_rate)
        self.covers, self.epsilon = covers, Fraction(epsilon)

    def outputs(self, domain: Ordered) -> Grid:
        """The indices of the list: the last width covers the whole domain, whatever the factor."""
        return Grid(0, len(self._list(domain)) - 1, 1)

    def steps(self, values: Any, domain: Ordered) -> StepFunction:
        """The score of every width for the records of one group."""
        ranks = GroupedRanks.of_counts(counts_of(values, domain), domain.size)
        return self._windows([ranks] * len(self.qs), domain)[0]

    def windows(self, scope: Scope, max_distance: float) -> Inquiry[Windows]:
        records = scope.max_records  # a guess
        while True:
            reaches = [self._reach(q, records, scope.domain) for q in self.qs]
            least = max(reaches)
            # Some ties do no harm.
            targets = [
                (q, max(reach + reach // 4 + 1, least + 1))
                for q, reach in zip(self.qs, reaches, strict=True)
            ]
            ranks = yield from ask(RanksNear(tuple(targets), least))
            largest = int(ranks[0].total.max(initial=0))
            if self.covers == "data" or largest <= records:
                return self._windows(ranks, scope.domain)
            records = largest

    def half_widths(self, domain: Ordered) -> Ints:
        """The half-width of each quantile (first axis) in each group, for every index."""
        table = _width_table(domain.size, self._list(domain))
        return table[_factors(self.values)]

    def _list(self, domain: Ordered) -> tuple[int, ...]:
        reach = (domain.size - 1) * (FACTOR_PARTS if len(self.qs) > 1 else 1)
        return _half_widths(reach, GROWTH[self.covers])

    def _limits(self, domain: Ordered) -> _ScoreLimits:
        widths = self.outputs(domain).size
        return _score_limits(self.epsilon, self.failure_rate, widths, self.covers)

    def _margin(self, q: Fraction, limits: _ScoreLimits) -> SamplingMargin:
        """What an interval for a population has to spare below its q-quantile."""
        return sampling_margin(q, self.epsilon, self.failure_rate, limits.log_ratio)

    def _reach(self, q: Fraction, records: int, domain: Ordered) -> int:
        """Ranks from `q n` beyond which scores are at their limit, for at most so many records."""
        limits = self._limits(domain)
        if self.covers == "data":
            return math.ceil(Fraction(limits.most, STEPS_PER_RECORD) * max(q, 1 - q)) + 1
        margins = [self._margin(share, limits) for share in (q, 1 - q)]
        most = -(-limits.most * margins[0].max_distance_change // STEPS_PER_RECORD)
        return -(-(most + max(margin.at(records) for margin in margins)) // steps_per_rank(q)) + 1

    def _windows(self, ranks: Sequence[GroupedRanks], domain: Ordered) -> Windows:
        """The score of every width in every group."""
        limits, outputs = self._limits(domain), self.outputs(domain)
        every = zip(self.qs, ranks, self.values, self.half_widths(domain), strict=True)
        spare = np.minimum.reduce([self._spare(*each, limits, domain.size) for each in every])
        # From the aim to what the width spares and to what the one before it does, which is less.
        before = np.full((len(spare), 1), -limits.beyond)
        before = np.concatenate([before, spare[:, :-1]], axis=1)
        score = np.maximum(limits.aim - spare, before - limits.aim)
        score -= limits.offset * np.arange(outputs.size)
        groups = len(score)
        return Windows(
            outputs,
            np.tile(np.arange(outputs.size), groups),
            np.ones(score.size, dtype=np.int64),
            score.ravel(),
            np.arange(groups) * outputs.size,
            lambda _: None,
            self.unit,
            self.rate,
        )

    def _spare(
        self,
        q: Fraction,
        ranks: GroupedRanks,
        values: Ints,
        widths: Ints,
        limits: _ScoreLimits,
        size: int,
    ) -> Ints:
        """Records that the intervals of one quantile have to spare on the worse side, in steps. One
        record moves it by at most `STEPS_PER_RECORD`.
        """
        p, m = q.numerator, q.denominator
        low, high = values[:, None] - widths, values[:, None] + widths
        target = p * ranks.total[:, None]
        in_steps = self._data_steps if self.covers == "data" else self._population_steps

        def limited(spare: Ints, share: Fraction, at_bound: Any) -> Ints:
            steps = np.clip(in_steps(spare, share, ranks.total, limits), -limits.most, limits.most)
            return np.where(at_bound, limits.beyond, steps)

        # Numbers of records in parts of 1 / m.
        sides = []
        if self.sides != "high":
            sides.append(limited(target - m * ranks.count_before(low), q, low <= 0))
        if self.sides != "low":
            above = m * ranks.count_before(high + 1) - target
            sides.append(limited(above, 1 - q, high >= size - 1))
        worse: Ints = np.minimum.reduce(sides)
        return worse

    def _data_steps(self, spare: Ints, q: Fraction, total: Ints, limits: _ScoreLimits) -> Ints:
        """Records to spare, at most 0 for an interval that misses, in steps."""
        largest = max(q.numerator, q.denominator - q.numerator)
        # Clipped before it is multiplied, as an interval may have very many to spare.
        most = limits.most * largest // STEPS_PER_RECORD + largest
        # Rounding down moves no number further than a whole number of steps.
        steps: Ints = np.clip(spare, -most, most) * STEPS_PER_RECORD // largest
        return steps

    def _population_steps(
        self, spare: Ints, q: Fraction, total: Ints, limits: _ScoreLimits
    ) -> Ints:
        """Records to spare beyond the margin for sampling error, in steps."""
        margin, fine = self._margin(q, limits), steps_per_rank(q) // q.denominator
        sizes, group = np.unique(total, return_inverse=True)
        margins = np.array([margin.at(n) for n in sizes.tolist()])[group][:, None]
        largest = margin.max_distance_change
        most = limits.most * largest // STEPS_PER_RECORD + largest
        most_spare = (most + margins) // fine + 1
        beyond = np.clip(spare, -most_spare, most_spare) * fine - margins
        steps: Ints = np.clip(beyond, -most, most) * STEPS_PER_RECORD // largest
        return steps

    def __repr__(self) -> str:
        names = ", ".join(map(str, self.qs))
        return f"IntervalWidth({names}, sides={self.sides!r}, covers={self.covers!r})"


class _ScoreLimits(NamedTuple):
    """Public numbers of a score, in steps: the records to spare that are aimed at, the bonus for
    each further width, the most records to spare that count, and what an interval up to a bound
    has; and the nats of the bonus.
    """

    aim: int
    offset: int
    most: int
    beyond: int
    log_ratio: float


@lru_cache(maxsize=256)
def _score_limits(
    epsilon: Fraction, failure_rate: Fraction, widths: int, covers: Covers
) -> _ScoreLimits:
    """The limits for one draw.

    A width weighs `r` times the one before it, but for rounding as in `WEIGHT_RATIO`. For the data
    the aim is the least with which failing widths are drawn no more often than promised
    (docs/intervals.md, "The width"). For a population the margin for sampling error has that part.
    """
    steps_per_nat = 2 * STEPS_PER_RECORD / float(epsilon)
    if steps_per_nat * (widths + TAIL_NATS - math.log(failure_rate)) * 1e6 > MAX_SCORE_STEPS:
        raise DuffError(
            f"the width of an interval cannot be drawn with an epsilon of {float(epsilon):g}. "
            "Pass a larger epsilon, or no interval."
        )
    offset = max(1, round(steps_per_nat * math.log(WEIGHT_RATIO[covers])))
    nats = offset / steps_per_nat  # log r
    log_rate = -math.log(failure_rate) + 1e-9  # doubles err by less
    # Widths that spare more than this are drawn one time in exp(TAIL_NATS), all together.
    spread = offset * widths + math.ceil(steps_per_nat * TAIL_NATS)
    farthest = MAX_WINDOW_RANKS * STEPS_PER_RECORD
    if covers == "population":
        least = math.ceil(steps_per_nat * (FIRST_CELL_NATS + log_rate))
        most = max(least, min(spread, farthest))
        return _ScoreLimits(0, offset, most, most, nats)
    log_gain = math.log(math.expm1(min(nats, 100.0)))  # log(r - 1), or less
    near = log_rate - math.log(3) - log_gain - nats / 2
    far = (log_rate - math.log(2) - log_gain) / 2
    aim = max(1, math.ceil(steps_per_nat * max(near, far)))
    most = aim + min(spread, max(aim, farthest))
    return _ScoreLimits(aim, offset, most, most + 2 * aim, nats)


@lru_cache(maxsize=64)
def _half_widths(reach: int, growth: Fraction) -> tuple[int, ...]:
    """The list of half-widths, up to one that reaches so far."""
    widths = [0, 1]
    while widths[-1] < reach:
        widths.append(max(widths[-1] + 1, math.floor(widths[-1] * growth)))
    return tuple(widths)


@lru_cache(maxsize=16)
def _width_table(size: int, widths: tuple[int, ...]) -> Ints:
    """Half-widths by factor, in parts of `FACTOR_PARTS`, and index; none beyond the domain."""
    return np.array(
        [
            [min(size, -(-width * part // FACTOR_PARTS)) for width in widths]
            for part in range(FACTOR_PARTS + 1)
        ]
    )


def _factors(values: Ints) -> Ints:
    """The factor of each quantile's width in every group, in parts of `FACTOR_PARTS`: the gaps to
    the values beside it, over the largest such gaps.
    """
    if len(values) == 1:
        return np.full(values.shape, FACTOR_PARTS)
    gaps = np.diff(values.astype(np.float64), axis=0)
    gaps = np.concatenate([gaps[:1], gaps]) + np.concatenate([gaps, gaps[-1:]])
    largest = gaps.max(axis=0)
    share = np.divide(gaps, largest, out=np.ones_like(gaps), where=largest > 0)
    parts = np.ceil(FACTOR_PARTS * share).astype(np.int64)
    factors: Ints = np.clip(parts, 1, FACTOR_PARTS)
    return factors


class _WidthDraw(NamedTuple):
    """One draw of a width: positions of the quantiles that it serves, and on which sides."""

    positions: tuple[int, ...]
    sides: Sides
    name: str

    @property
    def parts(self) -> int:
        """Parts of what is paid for widths: one for each side."""
        return 2 if self.sides == "both" else 1


def _width_draws(qs: Sequence[Fraction], names: Sequence[str], covers: Covers) -> list[_WidthDraw]:
    """For the data one width for all quantiles in the middle, and one for each side of every other.
    For a population one for each side.
    """
    sides: tuple[Sides, Sides] = ("low", "high")
    if covers == "population":
        every = tuple(range(len(qs)))
        return [_WidthDraw(every, side, f"{side}_width") for side in sides]
    inner = tuple(i for i, q in enumerate(qs) if min(q, 1 - q) >= ONE_WIDTH_FROM)
    draws = [_WidthDraw(inner, "both", "width")] if inner else []
    for i, name in enumerate(names):
        if i not in inner:
            draws += [_WidthDraw((i,), side, f"{name}_{side}_width") for side in sides]
    return draws


def width_intervals(qs: Sequence[Fraction], covers: Covers = "data") -> int:
    """The number of intervals that may fail independently: those of the data that share a width
    fail together.
    """
    if covers == "population":
        return len(qs)
    return sum(draw.sides != "high" for draw in _width_draws(qs, [""] * len(qs), covers))


def followed_by_ends(
    program: ReleaseProgram,
    qs: tuple[Fraction, ...],
    names: Sequence[str],
    share: Fraction,
    failure_rate: Fraction,
    covers: Covers = "data",
) -> ReleaseProgram:
    """A program whose last numbers are quantiles, followed by the low and the high end of each.

    The widths cost `share` of epsilon in total, and `program` the rest. No interval misses with
    more than `failure_rate`, nor do all of the data that share a width together.
    """
    draws = _width_draws(qs, names, covers)
    parts = sum(draw.parts for draw in draws)
    specs = tuple(
        DrawSpec(
            None, "permute-and-flip", (draw.name,), share * draw.parts / parts, "width", "number"
        )
        for draw in draws
    )

    def body(_: Sequence[DrawSpec], scope: Scope, epsilon: Fraction) -> ProgramRun:
        columns = yield from program.start(scope, epsilon)
        values = np.sort(np.array(columns[-len(qs) :], dtype=np.int64), axis=0)
        widths = [
            IntervalWidth(
                [qs[i] for i in draw.positions],
                values[list(draw.positions)],
                sides=draw.sides,
                failure_rate=failure_rate if draw.sides == "both" else failure_rate / 2,
                epsilon=epsilon * spec.share,
                covers=covers,
            )
            for draw, spec in zip(draws, specs, strict=True)
        ]
        indices = yield [
            spec.draw(epsilon, width) for spec, width in zip(specs, widths, strict=True)
        ]
        ends = np.stack([values, values], axis=1)  # low and high of each quantile
        for draw, width, (index,) in zip(draws, widths, indices, strict=True):
            half_widths = np.take_along_axis(
                width.half_widths(scope.domain), np.array(index)[None, :, None], axis=2
            )[:, :, 0]
            positions = list(draw.positions)
            if draw.sides != "high":
                ends[positions, 0] = np.maximum(values[positions] - half_widths, 0)
            if draw.sides != "low":
                top = scope.domain.size - 1
                ends[positions, 1] = np.minimum(values[positions] + half_widths, top)
        ends_by_column: Columns = [end.tolist() for end in chain.from_iterable(ends)]
        return [*columns, *ends_by_column]

    return ReleaseProgram((*program.draws, *specs), body, forwards_epsilon=program.forwards_epsilon)
