"""Confidence intervals of the data's quantiles: the values are drawn first, then the widths.

A half-width comes from a public list in which each is twice the one before. Its score says how many
records the interval has to spare, and is aimed at a public number of them
(docs/explanation/intervals.md).
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
from duffdp._parameters import Q
from duffdp._steps import StepFunction, Windows
from duffdp.domain import Grid, Ints, Ordered, PublicSet
from duffdp.errors import DuffError
from duffdp.statistics.program import Columns, DrawSpec, ProgramRun, ReleaseProgram
from duffdp.statistics.rank_distances import MAX_WINDOW_RANKS
from duffdp.statistics.records import counts_of
from duffdp.statistics.statistic import STEPS_PER_RECORD, TAIL_NATS, DistanceStatistic, Scope

Sides = Literal["both", "low", "high"]

# Share of epsilon for the values. With 1/4 they err 1.8 times as much at the same width, and with
# 3/4 intervals are 1.9 times as wide (`python -m benchmarks.intervals`).
VALUES_SHARE = Fraction(1, 2)
# Nearer to 0 or 1 than this, a quantile has a width for each side: too few records may lie beyond
# it, and one width for both sides would then reach for a bound on the other side as well. By q
# alone, because the number of records is private; other lines than a tenth were not compared.
ONE_WIDTH_FROM = Fraction(1, 10)
FACTOR_PARTS = 64  # widths of several quantiles differ by at most this factor
MAX_SCORE_STEPS = 2**61  # scores fit into 64 bits


class IntervalWidth(DistanceStatistic):
    """Width of intervals around released quantiles, as an index of the half-widths 0, 1, 2, 4, 8
    and so on, in candidates.

    One index serves all quantiles of a group, each with a public factor: the gaps between the
    released values. With one quantile the half-width is that of the list.

    Parameters
    ----------
    qs
        From 0 to 1, as for `Quantile`.
    values
        The released candidates of each quantile in order: one for every group.
    sides
        "both", or the side of the value on which the width counts.
    failure_rate
        The probability with which any of these intervals may miss its quantile on these sides.
    epsilon
        The epsilon of the draw of the width. Another epsilon is just as private, and its coverage
        is not promised.

    Privacy
    -------
    A score changes by at most 1 when one record is added or removed, and needs the rate 1/2
    (`tests/statistics/interval_width_test.py`). Its values must be drawn before.

    Utility
    -------
    An interval spares about 1.55 / epsilon records per side at 95%, times 2 max(q, 1-q).

    Runtime
    -------
    As a quantile.

    References
    ----------
    `docs/explanation/intervals.md`, "The width".

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
        self, qs: Any, values: object, *, failure_rate: Any, epsilon: Any, sides: Sides = "both"
    ) -> None:
        self.qs = tuple(map(Q.read, qs))
        self.values = np.array(values, dtype=np.int64)
        self.sides, self.failure_rate = sides, Fraction(failure_rate)
        self.epsilon = Fraction(epsilon)

    def outputs(self, domain: PublicSet) -> Grid:
        """The indices of the list: the last widths cover the whole domain for any factor."""
        doublings = (domain.size - 1).bit_length()
        return Grid(0, doublings + 1 + (6 if len(self.qs) > 1 else 0), 1)

    def steps(self, values: object, domain: Ordered) -> StepFunction:
        """The score of every width for the records of one group."""
        ranks = GroupedRanks.of_counts(counts_of(values, domain), domain.size)
        return self._windows([ranks] * len(self.qs), domain)[0]

    def windows(self, scope: Scope, max_distance: float) -> Inquiry[Windows]:
        limits = self._limits(scope.ordered)
        targets, least = [], 0
        for q in self.qs:
            # Beyond this rank scores are at their limit.
            reach = math.ceil(Fraction(limits.most, STEPS_PER_RECORD) * max(q, 1 - q)) + 1
            targets.append((q, reach + reach // 4 + 1))  # some ties do no harm
            least = max(least, reach)
        targets = [(q, max(reach, least + 1)) for q, reach in targets]
        ranks = yield from ask(RanksNear(tuple(targets), least))
        return self._windows(ranks, scope.ordered)

    def half_widths(self, domain: Ordered) -> Ints:
        """The half-width of each quantile (first axis) in each group, for every index."""
        return _width_table(domain.size, self.outputs(domain).size)[_factors(self.values)]

    def _limits(self, domain: Ordered) -> _ScoreLimits:
        return _score_limits(self.epsilon, self.failure_rate, self.outputs(domain).size)

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
        """Records that the intervals of one quantile have to spare on the worse side, in steps: at
        most 0 for one that misses. One record moves it by at most `STEPS_PER_RECORD`.
        """
        p, m = q.numerator, q.denominator
        largest = max(p, m - p)
        low, high = values[:, None] - widths, values[:, None] + widths
        target = p * ranks.total[:, None]
        # Clipped before it is multiplied, as an interval may have very many to spare.
        most = limits.most * largest // STEPS_PER_RECORD + largest

        def scaled(spare: Ints, at_bound: Any) -> Ints:
            # Rounding down moves no number further than a whole number of steps.
            steps = np.clip(spare, -most, most) * STEPS_PER_RECORD // largest
            return np.where(at_bound, limits.beyond, np.clip(steps, -limits.most, limits.most))

        below = scaled(target - m * ranks.count_before(low), low <= 0)
        above = scaled(m * ranks.count_before(high + 1) - target, high >= size - 1)
        if self.sides == "both":
            return np.minimum(below, above)
        return below if self.sides == "low" else above

    def __repr__(self) -> str:
        return f"IntervalWidth({', '.join(map(str, self.qs))}, sides={self.sides!r})"


class _ScoreLimits(NamedTuple):
    """Public numbers of a score, in steps: the target of records to spare, the bonus per doubling,
    the largest counted number of records to spare, and the number for an interval that reaches a
    bound.
    """

    aim: int
    offset: int
    most: int
    beyond: int


@lru_cache(maxsize=256)
def _score_limits(epsilon: Fraction, failure_rate: Fraction, widths: int) -> _ScoreLimits:
    """The limits for one draw.

    A width weighs `r` times the one before it; `r` is 2 but for rounding. The aim is the least with
    which failing widths are drawn no more often than promised (docs/explanation/intervals.md, "The
    width").
    """
    steps_per_nat = 2 * STEPS_PER_RECORD / float(epsilon)
    if steps_per_nat * (widths + TAIL_NATS - math.log(failure_rate)) * 1e6 > MAX_SCORE_STEPS:
        raise DuffError(
            f"an interval cannot be drawn with so small an epsilon, {float(epsilon):g}. "
            "Pass a larger epsilon, or no interval."
        )
    offset = max(1, round(steps_per_nat * math.log(2)))
    nats = offset / steps_per_nat  # log r
    log_gain = math.log(math.expm1(min(nats, 100.0)))  # log(r - 1), or less
    log_rate = -math.log(failure_rate) + 1e-9  # doubles err by less
    near_score = log_rate - math.log(3) - log_gain - nats / 2
    far = (log_rate - math.log(2) - log_gain) / 2
    aim = max(1, math.ceil(steps_per_nat * max(near_score, far)))
    # Widths that spare more than this are drawn one time in exp(TAIL_NATS), all together.
    spread = offset * widths + math.ceil(steps_per_nat * TAIL_NATS)
    most = aim + min(spread, max(aim, MAX_WINDOW_RANKS * STEPS_PER_RECORD))
    return _ScoreLimits(aim, offset, most, most + 2 * aim)


@lru_cache(maxsize=16)
def _width_table(size: int, indices: int) -> Ints:
    """Half-widths by factor, in parts of `FACTOR_PARTS`, and index; none beyond the domain."""
    widths = [0, *(2**i for i in range(indices - 1))]
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
    """One draw of a width: the positions of its quantiles, and the sides."""

    positions: tuple[int, ...]
    sides: Sides
    name: str

    @property
    def parts(self) -> int:
        """The parts of a width draw's epsilon: one for each side."""
        return 2 if self.sides == "both" else 1


def _width_draws(qs: Sequence[Fraction], names: Sequence[str]) -> list[_WidthDraw]:
    """One width for all quantiles in the middle, and one for each side of every other."""
    inner = tuple(i for i, q in enumerate(qs) if min(q, 1 - q) >= ONE_WIDTH_FROM)
    draws = [_WidthDraw(inner, "both", "width")] if inner else []
    sides: tuple[Sides, Sides] = ("low", "high")
    for i, name in enumerate(names):
        if i not in inner:
            draws += [_WidthDraw((i,), side, f"{name}_{side}_width") for side in sides]
    return draws


def width_intervals(qs: Sequence[Fraction]) -> int:
    """The number of intervals that may fail independently: those of one width fail together."""
    return sum(draw.sides != "high" for draw in _width_draws(qs, [""] * len(qs)))


def followed_by_ends(
    program: ReleaseProgram,
    qs: tuple[Fraction, ...],
    names: Sequence[str],
    share: Fraction,
    failure_rate: Fraction,
) -> ReleaseProgram:
    """A program whose last numbers are quantiles, followed by the low and the high end of each.

    The widths cost `share` of epsilon in total, and `program` the rest. No interval misses with
    more than `failure_rate`, nor do all that share a width together.
    """
    draws = _width_draws(qs, names)
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
            )
            for draw, spec in zip(draws, specs, strict=True)
        ]
        indices = yield [
            spec.draw(epsilon, width) for spec, width in zip(specs, widths, strict=True)
        ]
        ends = np.stack([values, values], axis=1)  # low and high of each quantile
        for draw, width, (index,) in zip(draws, widths, indices, strict=True):
            half_widths = np.take_along_axis(
                width.half_widths(scope.ordered), np.array(index)[None, :, None], axis=2
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
