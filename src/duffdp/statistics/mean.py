"""Mean: by soft counts, by sums within a private range, or by distance."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

import numpy as np

from duffdp._engines.requests import (
    Engine,
    GroupedRanks,
    Inquiry,
    LevelSums,
    Quantization,
    Ranks,
    RanksNear,
    ValueCounts,
    ask,
    ask_both,
)
from duffdp._parameters import Choice
from duffdp._steps import StepFunction, Tail, Windows, nested
from duffdp.domain import Array, Grid, Ints, Ordered, PublicSet
from duffdp.domain.default_step import StepRule
from duffdp.statistics.count import Count
from duffdp.statistics.noise_interval import around_ratio
from duffdp.statistics.private_range import Ends, PrivateRange, range_ends
from duffdp.statistics.program import (
    NOT_DRAWN,
    DrawSpec,
    OutputColumn,
    PostProcess,
    ProgramRun,
    ReleaseProgram,
)
from duffdp.statistics.records import counts_of, exact_integers
from duffdp.statistics.spec import DrawSettings, IntervalSpec, Parameters, StatisticSpec
from duffdp.statistics.statistic import (
    HALF,
    BaseStatistic,
    DistanceStatistic,
    Scope,
    TotalsStatistic,
)

MAX_MEAN_LEVELS = 2**15  # beyond the closest candidate; the rest is left to the tail
MAX_CLOSEST_LEVEL = 2**20  # changes within which the closest candidate is looked for
# Shares of epsilon of a clipped mean: the number of records, the range, the rough mean and the sum.
MEAN_COUNT_SHARE, MEAN_RANGE_SHARE = Fraction(1, 20), Fraction(1, 5)
ROUGH_MEAN_SHARE, MEAN_SUM_SHARE = Fraction(1, 20), Fraction(7, 10)
CENTERS = 128  # parts of a range between two possible centers
# Records times its epsilon, below which a rough mean costs more than it saves.
MIN_MEAN_WEIGHT = 15


class Mean(DistanceStatistic):
    """The mean of the clamped records.

    The distance of a candidate is the fewest records to add or remove, at least one of them added,
    that make it the mean.

    Privacy
    -------
    The distance changes by at most 1 when one record is added or removed, so its rate is 1/2
    (`tests/guarantees/neighbours_test.py`). The domain is public.

    Utility
    -------
    k changes can move the mean by about k (upper - lower) / n to either side.

    Runtime
    -------
    One pass for the exact sum and the extreme records; one step of exact integer arithmetic per
    level. `steps` has up to n + 1 levels.

    References
    ----------
    Gillenwater and Munoz Medina, "Duff" (NeurIPS 2020), section 4.1; the closed form and its proof
    in `docs/explanation/statistics.md`.

    Examples
    --------
    >>> import duffdp
    >>> steps = duffdp.statistics.Mean().steps([4, 5, 6], duffdp.Grid(0, 10, 1))
    >>> [steps.distance_at(x) for x in range(11)]
    [4, 4, 3, 2, 1, 1, 1, 2, 3, 4, 4]
    """

    rate = Fraction(1, 2)
    unit = Fraction(1)

    def steps(self, values: object, domain: Grid) -> StepFunction:
        """The distance of every candidate of the domain."""
        return self._steps_of_ranks(
            GroupedRanks.of_counts(counts_of(values, domain), domain.size), domain
        )

    def windows(self, scope: Scope, max_distance: float) -> Inquiry[Windows]:
        """The candidates up to `max_distance` beyond the distance of the closest one; the others
        are tails.
        """
        domain = scope.grid
        levels = math.ceil(min(max_distance + 1, MAX_MEAN_LEVELS))
        level_sums = LevelSums(Quantization(0, domain.size - 1))
        ends, sums = yield from ask_both(_ends(levels), level_sums)
        # With more records than candidates no level may hold a candidate before about n / (N - 1)
        # changes.
        closest = int(ends[0].total.max()) // (domain.size - 1)
        if closest > 1:
            levels = min(levels + closest, MAX_CLOSEST_LEVEL)
            ends = yield from ask(_ends(levels))
        end_records = zip(*(group_ranks.split() for group_ranks in ends), strict=True)
        return Windows.of(
            [
                self._steps(least, largest, total.levels, domain, levels)
                for (least, largest), total in zip(end_records, sums, strict=True)
            ]
        )

    def _steps_of_ranks(self, ranks: GroupedRanks, domain: Grid) -> StepFunction:
        """All levels, from all values of one group."""
        records = ranks.group(0)
        total = sum(
            map(math.prod, zip(records.values.tolist(), records.counts.tolist(), strict=True))
        )
        return self._steps(records, records, total, domain, None)

    def _steps(
        self, least: Ranks, largest: Ranks, total: int, domain: Grid, levels: int | None
    ) -> StepFunction:
        """The candidates that up to so many changes reach."""
        n, top = least.total, domain.size - 1
        reached = n + 1 if levels is None else min(levels, n + 1)
        smallest_records = _first(least.values, least.counts, reached)
        largest_records = _first(largest.values[::-1], largest.counts[::-1], reached)
        high = np.fromiter(_reach(smallest_records, total, n, top, reached), dtype=np.int64)
        low = top - np.fromiter(
            _reach(top - largest_records, n * top - total, n, top, reached), dtype=np.int64
        )
        first, last = int(low[-1]), int(high[-1])
        outside = domain.size - (last - first + 1)
        tail = None
        if outside:

            def inquire(index: int) -> Inquiry[int]:
                counts = yield from ask(ValueCounts())
                ranks = GroupedRanks.of_counts(counts, domain.size)
                return self._steps_of_ranks(ranks, domain).distance_of(index)

            tail = Tail(first, last, outside, reached + 1, inquire)
        return StepFunction(domain, *nested(low, high, first=1), self.unit, self.rate, tail)

    def __repr__(self) -> str:
        return "Mean()"


def _ends(levels: int) -> RanksNear:
    """The records at both ends."""
    return RanksNear(((Fraction(0), levels), (Fraction(1), levels)))


def _first(index: Ints, count: Ints, limit: int) -> Ints:
    """The first `limit` records of distinct values with counts."""
    return np.repeat(index, np.diff(np.minimum(np.cumsum(count), limit), prepend=0))


def _reach(smallest: Ints, total: int, n: int, top: int, levels: int) -> Iterator[int]:
    """The largest candidate that k = 1, 2, ... changes reach: add k - j records at `top`, remove
    the j smallest.

    The best j never decreases with k, and j + 1 is better than j as long as the mean exceeds
    (y_{j+1} + top) / 2.
    """
    removed = 0
    j = 0
    records = smallest.tolist()
    for k in range(1, levels + 1):
        while j < min(k - 1, n):
            numerator, denominator = total - removed + (k - j) * top, n + k - 2 * j
            if 2 * numerator <= denominator * (records[j] + top):
                break
            removed += records[j]
            j += 1
        yield (total - removed + (k - j) * top) // (n + k - 2 * j)


@dataclass(frozen=True, slots=True)
class SoftCounts(TotalsStatistic):
    """Sums of the distances of all records from the lower and from the upper bound, in steps.

    The mean follows from both without the number of records: it divides the range in the ratio of
    the first to the second.

    Parameters
    ----------
    ends
        Two candidates that replace the bounds: records beyond them count as the nearer one.
    squares
        True: round records as for the sums of squares of a variance, so one pass is enough for
        both.

    Privacy
    -------
    A record at step i of B (at least 1) adds i to one and B - i to the other. So together they
    change by exactly B when one record is added or removed, and the number of records stays
    private. Not private without noise (`tests/guarantees/neighbours_test.py`).

    Utility
    -------
    With staircase noise the error of the mean is 0.75 to 1 times (upper - lower) / (epsilon n). It
    is least in the middle of the bounds, and a third less at epsilon 5.

    References
    ----------
    `docs/explanation/statistics.md`, "Mean by soft counts".

    Examples
    --------
    >>> import duffdp
    >>> counts, grid = duffdp.statistics.SoftCounts(), duffdp.Grid(0, 10, 1)
    >>> counts.of_records([1, 2, 3], grid), counts.sensitivity(grid)
    ((6, 24), 10)
    """

    ends: Ends | None = None
    squares: bool = False

    def levels(self, domain: Ordered) -> Quantization:
        """The levels to which records are clamped."""
        make = Quantization.squared if self.squares else Quantization
        return make(*(self.ends or (0, domain.size - 1)))

    def totals(self, domain: PublicSet) -> Inquiry[list[tuple[int, ...]]]:
        """Both numbers of every group."""
        assert isinstance(domain, Ordered)
        sums = yield from ask(LevelSums(self.levels(domain)))
        widest = self.sensitivity(domain)
        return [(group.levels, group.records * widest - group.levels) for group in sums]

    def sensitivity(self, domain: PublicSet) -> int:
        """The largest change of both together when one record is added or removed.

        If the domain has a single candidate, it is 1.
        """
        assert isinstance(domain, Ordered)
        return max(1, self.levels(domain).top)


def soft_place(low: int, high: int, above: int, below: int) -> Fraction:
    """Position of the mean between two candidates; the middle if the numbers leave it open."""
    total = above + below
    if total <= 0:
        return Fraction(low + high, 2)
    return Fraction(low * total + min(max(above, 0), total) * (high - low), total)


def mean_post_process(place: Callable[[Grid, Sequence[int]], Fraction]) -> PostProcess:
    """A mean from the drawn numbers of a group, which give its place between the candidates: a
    number, or where the caller chose the step, and for dates, the nearest candidate.
    """

    def nearest(domain: PublicSet, numbers: Sequence[int]) -> list[object]:
        assert isinstance(domain, Grid)
        return [domain.value(math.floor(place(domain, numbers) + HALF))]

    def columns(domain: PublicSet) -> tuple[OutputColumn, ...]:
        timed = isinstance(domain, Grid) and domain.timed
        return (OutputColumn("mean", "candidate" if timed else "average"),)

    def values(domain: PublicSet, numbers: Sequence[int]) -> list[object]:
        assert isinstance(domain, Grid)
        if domain.timed:
            return nearest(domain, numbers)
        return [domain.number_at(place(domain, numbers))]

    return PostProcess(columns, values, PostProcess(lambda _: (OutputColumn("mean"),), nearest))


@dataclass(frozen=True, slots=True)
class SumAround(TotalsStatistic):
    """Sum of the signed distances of all records from a center, in steps, with records clamped to
    an interval.

    Privacy
    -------
    Moves by at most the distance from the center to the further end when one record joins or
    leaves. Center and interval were drawn before and are private themselves. Not private without
    noise.
    """

    ends: Ends
    center: int

    def totals(self, domain: PublicSet) -> Inquiry[list[tuple[int, ...]]]:
        """The sum of every group."""
        sums = yield from ask(LevelSums(Quantization(*self.ends)))
        low = self.center - self.ends[0]
        return [(group.levels - group.records * low,) for group in sums]

    def sensitivity(self, domain: PublicSet) -> int:
        """The most by which one record moves it."""
        return max(self.center - self.ends[0], self.ends[1] - self.center)


def within_private_range(
    around_center: Callable[[Ends, int], BaseStatistic],
    without_center: Callable[[Ends], BaseStatistic],
    min_weight: int,
    squares: bool,
    draws: Sequence[DrawSpec],
    scope: Scope,
    epsilon: Fraction,
) -> ProgramRun:
    """Draw a count, a private range, a rough mean and sums within the range.

    The sums are those around the rough mean or, in groups with fewer than `min_weight` records
    times the epsilon of the rough mean, without it. What a group does not spend on a range or a
    rough mean, it spends on what follows.
    """
    count_draw, range_draw, rough_draw, sums_draw = draws
    zero, top = Fraction(0), scope.domain.size - 1
    ((counts,),) = yield [count_draw.draw(epsilon)]
    ranges = [
        PrivateRange.after_count(count, scope.domain, epsilon * range_draw.share)
        for count in counts
    ]
    ((intervals,),) = yield [range_draw.draw(epsilon, ranges)]
    ends = [range_ends(candidate, top) for candidate in intervals]
    unspent = [
        epsilon * range_draw.share if candidate == NOT_DRAWN else zero for candidate in intervals
    ]
    has_center = [
        candidate != NOT_DRAWN and count * epsilon * rough_draw.share >= min_weight
        for candidate, count in zip(intervals, counts, strict=True)
    ]
    rough = [
        SoftCounts(interval, squares) if has_rough else None
        for interval, has_rough in zip(ends, has_center, strict=True)
    ]
    ((above, below),) = yield [rough_draw.draw(epsilon, rough)]
    unspent = [
        before + (zero if has_rough else epsilon * rough_draw.share)
        for before, has_rough in zip(unspent, has_center, strict=True)
    ]
    # By the numbers and not by `has_center`: post-processing knows no more than them, and noise may
    # have made them look as if there were no rough mean.
    statistics = [
        without_center(interval)
        if high_side == low_side == NOT_DRAWN
        else around_center(interval, rough_center(interval, high_side, low_side))
        for interval, high_side, low_side in zip(ends, above, below, strict=True)
    ]
    (sums,) = yield [sums_draw.draw(epsilon, statistics, unspent)]
    return [counts, intervals, above, below, *sums]


def clipped_place(domain: Grid, numbers: Sequence[int]) -> Fraction:
    """Position of the mean between the candidates."""
    _, candidate, above, below, total, rest = numbers
    low, high = range_ends(candidate, domain.size - 1)
    if above == below == NOT_DRAWN:
        return soft_place(low, high, total, rest)
    records = max(Fraction(above + below, high - low), Fraction(1))
    place = rough_center((low, high), above, below) + total / records
    return min(max(place, Fraction(low)), Fraction(high))


def rough_center(ends: Ends, above: int, below: int) -> int:
    """A candidate near the rough mean, one of a few, so many groups share one."""
    place = math.floor(soft_place(0, CENTERS, above, below) + HALF)
    return ends[0] + (ends[1] - ends[0]) * place // CENTERS


SOFT_MEAN = mean_post_process(lambda domain, numbers: soft_place(0, domain.size - 1, *numbers))
CLIPPED_MEAN = ReleaseProgram(
    (
        DrawSpec(Count(), "two-sided-geometric", ("count",), MEAN_COUNT_SHARE),
        DrawSpec(None, "permute-and-flip", ("interval",), MEAN_RANGE_SHARE, "outside"),
        DrawSpec(None, "staircase", ("above", "below"), ROUGH_MEAN_SHARE),
        DrawSpec(None, "staircase", ("total", "rest"), MEAN_SUM_SHARE, "clipped"),
    ),
    partial(within_private_range, SumAround, SoftCounts, MIN_MEAN_WEIGHT, False),
    mean_post_process(clipped_place),
    forwards_epsilon=True,
)


def mean_value(domain: Grid, index: Array, count: Array) -> object:
    """The exact mean of records: a number or, of dates and times, the nearest candidate; without
    records the middle of the bounds.
    """
    n = int(count.sum())
    place = Fraction(int((index * count).sum()), n) if n else Fraction(domain.size - 1, 2)
    return domain.value(math.floor(place + HALF)) if domain.timed else domain.number_at(place)


class MeanSpec(StatisticSpec):
    """The mean."""

    name = "mean"
    choices = ("best", "clipped", "distance", "duff")
    interval_choices = ("best",)
    covers_population = True
    no_interval_reason = "its error depends on the data"
    distance_bound = "mean"
    baselines = "mean"

    def program(self, parameters: Parameters, settings: DrawSettings) -> ReleaseProgram:
        if settings.choice == "best":
            return ReleaseProgram.by_noise(SoftCounts(), ("above", "below"), SOFT_MEAN)
        if settings.choice == "clipped":
            return CLIPPED_MEAN
        return ReleaseProgram.by_distance(Mean(), self.name, settings.choice)

    def interval_program(
        self, parameters: Parameters, settings: DrawSettings, interval: IntervalSpec
    ) -> ReleaseProgram:
        return around_ratio(self.program(parameters, settings), interval)

    def exact(self, parameters: Parameters, engine: Engine, domain: PublicSet) -> Sequence[object]:
        assert isinstance(domain, Grid)
        return [mean_value(domain, *exact_integers(engine))]

    def step_rule(self, choice: Choice) -> StepRule:
        return "average" if choice in ("duff", "distance") else "sum"


SPECS = (MeanSpec(),)
