"""Median, quantile, minimum and maximum."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from duffdp._engines.requests import (
    BinCounts,
    Engine,
    GroupedRanks,
    Inquiry,
    Ranks,
    RanksNear,
    ask,
    ask_both,
)
from duffdp._parameters import EPSILON, Choice, Q
from duffdp._steps import StepFunction, Windows, merged
from duffdp.domain import Grid, Ints, Ordered, PublicSet
from duffdp.domain.default_step import StepRule
from duffdp.errors import Argument, DuffError
from duffdp.statistics.count import Count
from duffdp.statistics.private_range import Ends, PrivateRange, range_ends
from duffdp.statistics.program import (
    NOT_DRAWN,
    Draw,
    DrawSpec,
    OutputColumn,
    PostProcess,
    ProgramRun,
    ReleaseProgram,
)
from duffdp.statistics.quantile_interval import (
    VALUE_SHARES,
    around_quantiles,
    value_between_ends,
)
from duffdp.statistics.rank_distances import MAX_WINDOW_RANKS, RankDistances, least_outside
from duffdp.statistics.records import counts_of, exact_quantiles
from duffdp.statistics.spec import DrawSettings, IntervalSpec, Parameters, StatisticSpec
from duffdp.statistics.statistic import HALF, BaseStatistic, DistanceStatistic, Scope

# Up to so many candidates and from this epsilon on a lattice errs less than permute-and-flip, over
# shapes and sizes of data (`python -m benchmarks.lattice`). On finer domains it errs as much on
# average and sometimes more; at a smaller epsilon the two are the same to half a percent.
LATTICE_CANDIDATES, LATTICE_EPSILON = 2**20, Fraction(1, 4)
# Outer quantiles, for which a private range is drawn first where few records lie beyond them. Many
# lower bounds, such as 0, hug the records: up to these low quantiles a range still gains.
MAX_LOW_OUTER, MIN_HIGH_OUTER = Fraction(1, 50), Fraction(9, 10)
# Shares of epsilon of an outer quantile: the number of records and, at most, the range; the rest is
# its own. The range needs some 40 nats of records, so with more than so many records times epsilon
# a smaller share is enough (`python -m benchmarks.outer_quantiles`, `benchmarks.deciles`).
OUTER_COUNT_SHARE, MAX_RANGE_SHARE = Fraction(1, 20), Fraction(2, 5)
SMALLER_RANGE_SHARES = ((150, Fraction(3, 10)), (300, Fraction(1, 5)), (600, Fraction(1, 10)))
# Records beyond the quantile, times epsilon, from which on no range is drawn: the gap beyond the
# last record then weighs too little. It holds no more than all candidates, so few of them weigh
# less.
MAX_NARROWED_WEIGHT, NARROWED_WEIGHT_PER_NAT = 35.0, 3.0
BEYOND_ALL_RECORDS = 1 / 50  # the largest probability of a maximum above, or a minimum below, all


class Quantile(RankDistances, DistanceStatistic):
    """The q-quantile: the value with rank max(1, ceil(q n)) among the n sorted records.

    Parameters
    ----------
    q
        From 0 (the minimum) to 1 (the maximum). A float is read as its shortest decimal: 0.1 is
        exactly 1/10. A number with more than six digits is rounded to the nearest fraction with a
        denominator up to a million, so 1/3 is one third.
    utility
        "distance": the fewest records to add or remove that make a candidate the quantile (the
        paper's utility). "signed": the same, except for the quantile itself: 1 minus the fewest
        records to add or remove until it is no longer the quantile. It favors the exact quantile
        more than "distance" does. "rank": |(1-q) * records below - q * records above| / max(q,
        1-q), the paper's u_2.
    inside
        For q = 0 and 1 and the first two utilities: aim at a record with this many others beyond
        it, instead of the smallest or the largest.

    Privacy
    -------
    Each utility changes by at most 1 when one record is added or removed, and needs the rate 1/2
    (`tests/guarantees/neighbours_test.py`). Records are clamped and rounded to the public domain.

    Utility
    -------
    With every rank away from the quantile, each utility grows by 1 / max(q, 1-q) on average.

    Runtime
    -------
    `steps` sorts the records. A release needs one pass and a small sort.

    References
    ----------
    Gillenwater and Munoz Medina, "Duff" (NeurIPS 2020), section 4.1 and u_2 in section 4;
    `docs/explanation/statistics.md`.

    Examples
    --------
    >>> import duffdp
    >>> steps = duffdp.statistics.Quantile(0.25).steps([1, 2, 3, 4], duffdp.Grid(0, 5, 1))
    >>> [steps.distance_at(x) for x in range(6)]
    [2, 0, 1, 2, 3, 5]
    """

    rate, unit = HALF, Fraction(1)
    uneven = True  # candidates need no even spacing: their order is all that counts

    def __init__(self, q: Any, utility: str = "distance", inside: int = 0) -> None:
        if utility not in ("distance", "signed", "rank"):
            raise DuffError(f'utility must be "distance", "signed" or "rank", got {utility!r}.')
        self.q, self.utility, self._inside = Q.read(q), utility, inside
        self._p, self._m = p, m = self.q.numerator, self.q.denominator
        if inside and (0 < p < m or utility == "rank" or inside < 0):
            raise DuffError(
                "inside must be 0, or above 0 for the distance of q = 0 and 1, got "
                f"inside={inside!r:.40}."
            )
        # So many ranks more does a gap lie above the record that is meant: for q = 0 its rank is
        # inside + 1.
        self._rank_shift = 0 if 0 < p < m else inside if p == m else -inside - 1
        self._largest = max(p, m - p)
        if utility == "rank":
            self.unit = Fraction(1, self._largest)

    def steps(self, values: object, domain: Ordered) -> StepFunction:
        """The distance of every candidate of the domain."""
        ranks = GroupedRanks.of_counts(counts_of(values, domain), domain.size)
        runs = self.windows_of(ranks, domain)[0]
        return StepFunction(
            domain, *merged(runs.start, runs.count, runs.distance), self.unit, self.rate
        )

    def _ranks_near(self, max_distance: float) -> RanksNear:
        """The request for the ranks up to about a distance."""
        reach = math.ceil(min(max_distance * self._largest / self._m + 2, MAX_WINDOW_RANKS))
        # What is meant lies in the window, or a candidate of the tail is nearer than its floor; and
        # most of the reach does: the nearer a tail, the more of it has to be visited.
        min_reach = self._inside + 3 * reach // 4
        return RanksNear(((self.q, reach + self._inside),), min_reach)

    def windows(self, scope: Scope, max_distance: float) -> Inquiry[Windows]:
        request = self._ranks_near(max_distance)
        (ranks,) = yield from ask(request)
        windows = self.windows_of(ranks, scope.ordered)
        if self.utility == "rank" and _misses_a_gap(windows):
            # Tied records may be further from it than the gap after them, which lies outside.
            (ranks,) = yield from ask(_past_ties(request, ranks))
            windows = self.windows_of(ranks, scope.ordered)
        return windows

    def _distances(self, cumulative: Ints, total: Ints) -> tuple[Ints, Ints]:
        """Distances at values, all but the first, and in the gaps after all of them, with so many
        records up to each (docs/explanation/statistics.md, "Quantiles").
        """
        p, m, largest = self._p, self._m, self._largest
        # m times the ranks by which a gap lies above the quantile.
        over = m * cumulative - p * total
        if self.utility == "rank":
            return np.abs(over[1:] - (m - p) * (cumulative[1:] - cumulative[:-1])), np.abs(over)
        if self._rank_shift:
            over += m * self._rank_shift
        # A value lies as far above the quantile as the gap before it, and below as the gap after.
        if largest == 1 and m == 2:  # the median: nothing to divide
            above, below = over + 1, -over
            value, gap = np.maximum(above[:-1], below[1:]), np.maximum(above, below)
        else:
            gap = np.maximum((over - p) // largest + 2, 1 - (over + (m - p)) // largest)
            ranks = over // largest
            value = np.maximum(ranks[:-1] + 1, -ranks[1:])
        return value if self.utility == "signed" else np.maximum(value, 0), gap

    def _floors(self, ranks: GroupedRanks, cumulative: Ints, size: int) -> Ints:
        """The distance of a record just outside, without the 1 for joining."""
        p, m = self._p, self._m
        over, under = m * cumulative - p * ranks.total, p * ranks.total - m * ranks.below
        if self.utility == "rank":
            after, before = np.maximum(over, 0), np.maximum(under, 0)
        else:
            if self._rank_shift:
                over, under = over + m * self._rank_shift, under - m * self._rank_shift
            after = np.maximum(1 + over // self._largest, 0)
            before = np.maximum(-(-under // self._largest), 0)
        return least_outside(ranks, before, after, size)

    def __repr__(self) -> str:
        inside = f", inside={self._inside}" if self._inside else ""
        return f"Quantile({self.q}, utility={self.utility!r}{inside})"


def _misses_a_gap(windows: Windows) -> bool:
    """True if the tail of some group may be nearer than every candidate of its window."""
    for i in range(len(windows)):
        tail = windows.open_tail(i)
        if tail is not None and tail.floor < windows.distance[windows.place(i)].min():
            return True
    return False


def _past_ties(request: RanksNear, ranks: GroupedRanks) -> RanksNear:
    """A request past all records of first windows, so that the gaps at their ends are inside."""
    ((q, reach),) = request.targets
    center = q.numerator * ranks.total // q.denominator
    inside = np.diff(np.append(0, np.cumsum(ranks.counts))[np.append(0, ranks.ends)])
    distance = int(np.maximum(center - ranks.below, ranks.below + inside - center).max())
    reach = min(reach + distance + 1, MAX_WINDOW_RANKS)
    return RanksNear(((q, reach),), reach)


class Median(Quantile):
    """The lower median: the value with rank ceil(n / 2).

    Parameters
    ----------
    utility
        "distance" (the paper's), "signed" or "rank", as for `Quantile`.

    Privacy
    -------
    The same as for `Quantile(1/2)`.

    References
    ----------
    Gillenwater and Munoz Medina, "Duff" (NeurIPS 2020), section 4.1.

    Examples
    --------
    >>> import duffdp
    >>> duffdp.statistics.Median().steps([], duffdp.Grid(0, 9, 1)).measure(1)
    10
    """

    def __init__(self, utility: str = "distance") -> None:
        super().__init__(HALF, utility)


class Extreme(DistanceStatistic):
    """The minimum or the maximum, drawn as the record with a few others beyond it.

    Every candidate beyond the largest record is one record away from being the maximum, however far
    it is, so most answers would be anywhere up to the bound. The record with `inside` others beyond
    it is a better target, because an answer beyond all records is `inside` + 1 records away from
    it.

    Parameters
    ----------
    q
        0 or 1.
    epsilon
        What the draw may cost.

    Privacy
    -------
    `inside` follows from epsilon and the number of candidates, which are public. The distance is
    that of an order statistic: it changes by at most 1 when one record joins or leaves, and needs
    the rate 1/2 (`tests/statistics/extreme_test.py`).

    Utility
    -------
    With more than `inside` records an answer lies beyond all of them at most one time in fifty.
    Otherwise it is usually anywhere from the other bound to the record nearest to that bound.

    References
    ----------
    `docs/explanation/statistics.md`, "The least and the largest record".

    Examples
    --------
    >>> from duffdp import Grid
    >>> Extreme(1, epsilon=1).inside(Grid(0, 120, 1)), Extreme(1, epsilon=20).inside(Grid(0, 9, 1))
    (17, 0)
    """

    rate = Fraction(1, 2)
    unit = Fraction(1)
    uneven = True

    def __init__(self, q: Any, epsilon: Any) -> None:
        self.q, self.epsilon = Q.read(q), EPSILON.read(epsilon)
        if self.q not in (0, 1):
            raise DuffError(
                Argument("q"), f" must be 0 or 1, got {q!r:.40}. Use Quantile for other values."
            )

    def inside(self, domain: Ordered) -> int:
        """The number of records that may lie beyond the target."""
        nats = math.log(domain.size / BEYOND_ALL_RECORDS)
        return max(0, math.ceil(nats / float(self.rate * self.epsilon)) - 1)

    def steps(self, values: object, domain: Ordered) -> StepFunction:
        """The distance of every candidate of the domain."""
        return self._target(domain).steps(values, domain)

    def windows(self, scope: Scope, max_distance: float) -> Inquiry[Windows]:
        return self._target(scope.ordered).windows(scope, max_distance)

    def _target(self, domain: Ordered) -> Quantile:
        return Quantile(self.q, "signed", self.inside(domain))

    def __repr__(self) -> str:
        return f"Extreme({self.q}, epsilon={float(self.epsilon):g})"


class ClampedQuantile(Quantile):
    """The q-quantile of records that are clamped to an interval of candidates.

    A candidate is the number of steps from the first end of the interval.

    Parameters
    ----------
    q
        Between 0 and 1.
    ends
        The first and the last index of the interval.

    Privacy
    -------
    Each record is clamped on its own, so neighbors remain neighbors. One record moves the signed
    distance of every candidate by at most 1, as for `Quantile`; rate 1/2. The interval was drawn
    before and is private itself.
    """

    def __init__(self, q: Any, ends: Ends) -> None:
        super().__init__(q, "signed")
        self.ends = ends

    def outputs(self, domain: PublicSet) -> Grid:
        """The candidates of the interval."""
        return Grid(0, self.ends[1] - self.ends[0], 1)

    def steps(self, values: object, domain: Ordered) -> StepFunction:
        """The distance of every candidate of the interval."""
        index, count = counts_of(values, domain).group(0)
        clamped = np.clip(np.repeat(index, count), *self.ends) - self.ends[0]
        return super().steps(clamped, self.outputs(domain))

    def windows(self, scope: Scope, max_distance: float) -> Inquiry[Windows]:
        cells = end_cells(self.ends)
        (ranks,), counts = yield from ask_both(self._ranks_near(max_distance), cells)
        clamped = [
            clamped_ranks(group_ranks, self.ends, int(cells[0]), int(cells[-1]))
            for group_ranks, cells in zip(ranks.split(), counts, strict=True)
        ]
        return self.windows_of(GroupedRanks.join(clamped), self.outputs(scope.domain))

    def _rank_at(self, index: int, total: int) -> Inquiry[tuple[int, int]]:
        low, high = self.ends
        before, at = yield from super()._rank_at(low + index, total)
        if index == 0:
            return 0, before + at
        return (before, total - before) if index == high - low else (before, at)

    def __repr__(self) -> str:
        return f"ClampedQuantile({self.q}, ends={self.ends})"


def end_cells(ends: Ends) -> BinCounts:
    """The request whose first and last number are the records clamped to either end."""
    low, high = ends
    return BinCounts(tuple(sorted({0, low + 1, high})))


def clamped_ranks(ranks: Ranks, ends: Ends, at_low: int, at_high: int) -> Ranks:
    """Ranks of clamped records, counted from the first end: so many of them lie at either end.

    A window beyond an end is the window of that end alone.
    """
    low, high = ends
    first, last = (min(max(edge, low), high) for edge in (ranks.first, ranks.last))
    inside = (low < ranks.values) & (ranks.values < high)
    values, counts = [ranks.values[inside]], [ranks.counts[inside]]
    below = ranks.below
    if first == low:
        below = 0
        if at_low:
            values, counts = [np.array([low]), *values], [np.array([at_low]), *counts]
    if first == high:
        below = ranks.total - at_high
    if last == high and at_high:
        values, counts = [*values, np.array([high])], [*counts, np.array([at_high])]
    return Ranks(
        np.concatenate(values) - low,
        np.concatenate(counts),
        below,
        ranks.total,
        first - low,
        last - low,
    )


def quantile_draw(q: Fraction, column: str, settings: DrawSettings) -> DrawSpec:
    """One quantile, drawn in the most accurate way or in the paper's."""
    if settings.choice == "duff":
        return DrawSpec(Quantile(q), "exponential", (column,), utility="distance")
    coarse = settings.domain.size <= LATTICE_CANDIDATES and settings.epsilon >= LATTICE_EPSILON
    mechanism = "lattice" if coarse else "permute-and-flip"
    if q in (0, 1):
        return DrawSpec(Extreme(q, settings.epsilon), mechanism, (column,), utility="inside")
    return DrawSpec(Quantile(q, "signed"), mechanism, (column,), utility="signed")


def quantile_program(q: Fraction, column: str, settings: DrawSettings) -> ReleaseProgram:
    """One quantile: in one draw or, for the best outer quantile, in stages."""
    draw = quantile_draw(q, column, settings)
    if settings.choice == "best" and is_outer(q):
        return narrowed_program(draw, min(q, 1 - q), lambda ends: ClampedQuantile(q, ends))
    return ReleaseProgram((draw,))


def is_outer(q: Fraction) -> bool:
    """True for quantiles that may be drawn within a private range."""
    return 0 < q <= MAX_LOW_OUTER or MIN_HIGH_OUTER <= q < 1


def narrowed_program(
    value: DrawSpec, beyond: Fraction, clamped: Callable[[Ends], BaseStatistic]
) -> ReleaseProgram:
    """A count, a private range for groups with few records beyond the outermost quantile, and the
    draw `value` of quantiles: of `clamped` records if there is a range.

    Every candidate beyond the last record is nearly as close to an outer quantile as the quantile
    itself. In wide bounds there are so many of them that most draws would lie in that gap. What a
    group does not spend on a range, it spends on the quantiles. `beyond` is the share of records
    beyond the outermost quantile.
    """
    plain = value.statistic

    def body(draws: Sequence[DrawSpec], scope: Scope, epsilon: Fraction) -> ProgramRun:
        count_draw, range_draw, quantile_draw = draws
        top = scope.domain.size - 1
        max_weight = min(MAX_NARROWED_WEIGHT, NARROWED_WEIGHT_PER_NAT * math.log(top + 1))
        ((counts,),) = yield [count_draw.draw(epsilon)]
        range_epsilons = [epsilon * _range_share(count * epsilon) for count in counts]
        ranges = [
            PrivateRange.after_count(count, scope.domain, cost)
            if count * beyond * epsilon < max_weight
            else None
            for count, cost in zip(counts, range_epsilons, strict=True)
        ]
        ((intervals,),) = yield [Draw(ranges, range_draw.mechanism, range_epsilons)]
        ends = {candidate: range_ends(candidate, top) for candidate in set(intervals)}
        quantiles: dict[int, BaseStatistic | None] = {
            candidate: plain if candidate == NOT_DRAWN else clamped(interval)
            for candidate, interval in ends.items()
        }
        statistics = [quantiles[candidate] for candidate in intervals]
        unspent = [
            epsilon * range_draw.share - (0 if candidate == NOT_DRAWN else cost)
            for candidate, cost in zip(intervals, range_epsilons, strict=True)
        ]
        (columns,) = yield [quantile_draw.draw(epsilon, statistics, unspent)]
        return [
            [ends[candidate][0] + place for candidate, place in zip(intervals, places, strict=True)]
            for places in columns
        ]

    count = DrawSpec(
        Count(), "two-sided-geometric", ("count",), OUTER_COUNT_SHARE, is_released=False
    )
    interval = DrawSpec(
        None, "permute-and-flip", ("interval",), MAX_RANGE_SHARE, "outside", is_released=False
    )
    quantile_share = 1 - OUTER_COUNT_SHARE - MAX_RANGE_SHARE
    quantile = replace(value, statistic=None, share=quantile_share)
    return ReleaseProgram((count, interval, quantile), body, forwards_epsilon=True)


def _range_share(weight: Fraction) -> Fraction:
    """The share of epsilon of a private range, for so many records times epsilon."""
    share = MAX_RANGE_SHARE
    for min_weight, smaller in SMALLER_RANGE_SHARES:
        if weight >= min_weight:
            share = smaller
    return share


class MedianSpec(StatisticSpec):
    """The median: the quantile with q = 1/2."""

    name = "median"
    allows_uneven_grid = True
    interval_choices = ("best", "duff")
    interval_costs_epsilon = True
    covers_population = True
    distance_bound = "one"
    baselines = "quantile"

    def _q(self, parameters: Parameters) -> Fraction:
        return HALF

    def program(self, parameters: Parameters, settings: DrawSettings) -> ReleaseProgram:
        return quantile_program(self._q(parameters), self.name, settings)

    def interval_program(
        self, parameters: Parameters, settings: DrawSettings, interval: IntervalSpec
    ) -> ReleaseProgram:
        """The value between two ends."""
        value = self.program_for_share(parameters, settings, VALUE_SHARES[interval.covers])
        program = around_quantiles(value, (self._q(parameters),), (self.name,), interval)
        columns = OutputColumn(self.name).with_ends()
        return replace(program, post_process=PostProcess(lambda _: columns, value_between_ends))

    def exact(self, parameters: Parameters, engine: Engine, domain: PublicSet) -> Sequence[object]:
        assert isinstance(domain, Ordered)
        (index,) = exact_quantiles((self._q(parameters),), engine)
        return [domain.value(index)]

    def step_rule(self, choice: Choice) -> StepRule:
        return "order"


class QuantileSpec(MedianSpec):
    """One quantile; a list of several is passed on to `quantiles`."""

    name = "quantile"
    parameters = (Q,)
    examples = ({"q": 0.9}, {"q": 0})

    def _q(self, parameters: Parameters) -> Fraction:
        return Q.of(parameters)

    def title(self, parameters: Parameters) -> str:
        return f"Quantile {parameters['q']}"

    def heading(self) -> str:
        return "Quantiles"

    def for_parameters(self, parameters: Parameters) -> tuple[str, Parameters]:
        q = parameters["q"]  # as it was passed
        if not isinstance(q, list | tuple):
            return self.name, parameters
        return (self.name, {"q": q[0]}) if len(q) == 1 else ("quantiles", {"qs": tuple(q)})


SPECS = (MedianSpec(), QuantileSpec())
