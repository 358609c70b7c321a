"""Interquartile range."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from duffdp._engines.requests import (
    Engine,
    GroupedCounts,
    GroupedRanks,
    Inquiry,
    Ranks,
    RanksNear,
    ValueCounts,
    ask,
)
from duffdp._parameters import Choice
from duffdp._steps import StepFunction, Windows
from duffdp.domain import Grid, Ints, PublicSet
from duffdp.domain.default_step import StepRule
from duffdp.statistics.ladder import ReachableInterval
from duffdp.statistics.program import OutputColumn, PostProcess, ReleaseProgram
from duffdp.statistics.quantile_interval import (
    VALUE_SHARES,
    around_quantiles,
    end_draws,
    sorted_ends,
)
from duffdp.statistics.quantiles import quantiles_program
from duffdp.statistics.records import counts_of, exact_quantiles
from duffdp.statistics.spec import DrawSettings, IntervalSpec, Parameters, StatisticSpec
from duffdp.statistics.statistic import DistanceStatistic, Scope

OUTER_QUARTILES = Fraction(1, 4), Fraction(3, 4)
MAX_IQR_LEVELS = 2**13  # work grows with their square; the rest is left to the tail
MAX_IQR_NUMBERS = 2**18  # computed at once


class InterquartileRange(DistanceStatistic):
    """The third quartile minus the first; 0 if there is no record.

    The distance of a candidate is the fewest changes k for which it is between the narrowest and
    the widest range that k changes can reach.

    Privacy
    -------
    The distance changes by at most 1 when one record is added or removed, so its rate is 1/2
    (`tests/guarantees/neighbours_test.py`).

    The widest range after k changes is the widest range over ceil((n + k) / 2) ranks around the
    middle. The narrowest is the narrowest range over floor((n - k) / 2) of them. One added or
    removed record moves such a range by at most one rank. Records are clamped to the bounds and
    rounded to the step. Candidates are 0 to the range of the bounds.

    Utility
    -------
    k changes widen or narrow the range by about k / 2 ranks. The bounds have no effect while all
    these ranks have records.

    Runtime
    -------
    One pass for the ranks around both quartiles, and work that grows with the square of the number
    of levels, at most 8,192 per window.

    References
    ----------
    Gillenwater and Munoz Medina, "Duff" (NeurIPS 2020), section 4.1; the closed form and its proof
    in `docs/explanation/statistics.md`, "Interquartile range".

    Examples
    --------
    >>> import duffdp
    >>> grid = duffdp.Grid(0, 9, 1)
    >>> steps = duffdp.statistics.InterquartileRange().steps([1, 3, 4, 6], grid)
    >>> [steps.distance_at(x) for x in range(10)]
    [3, 1, 1, 0, 1, 1, 2, 3, 3, 5]
    """

    name = "iqr"
    rate = Fraction(1, 2)
    unit = Fraction(1)

    def outputs(self, domain: PublicSet) -> Grid:
        """All differences of two candidates."""
        assert isinstance(domain, Grid)
        return domain.differences()

    def steps(self, values: object, domain: Grid) -> StepFunction:
        """The distance of every candidate of `outputs(domain)`."""
        reach = _reach_of_counts(counts_of(values, domain), domain.size)
        return reach.steps(self.outputs(domain), reach.records + 2, self.rate)

    def windows(self, scope: Scope, max_distance: float) -> Inquiry[Windows]:
        domain = scope.grid
        levels = math.ceil(min(max_distance + 1, MAX_IQR_LEVELS))
        ranks = yield from ask(RanksNear(tuple((q, 3 * levels // 4 + 2) for q in OUTER_QUARTILES)))

        def all_records() -> Inquiry[ReachableInterval]:
            counts = yield from ask(ValueCounts())
            return _reach_of_counts(counts, domain.size)

        outputs, steps = self.outputs(domain), []
        for first, third in zip(*(group_ranks.split() for group_ranks in ranks), strict=True):
            reach = _Reach(first, third, domain.size - 1)
            steps.append(reach.steps(outputs, levels, self.rate, all_records))
        return Windows.of(steps)

    def __repr__(self) -> str:
        return "InterquartileRange()"


class _Reach(ReachableInterval):
    """The narrowest and the widest interquartile range that k changes reach, for the records around
    both quartiles; ranks before the first record are at 0, after the last at `top`.
    """

    def __init__(self, first: Ranks, third: Ranks, top: int) -> None:
        self.records, self._top = first.total, top
        self._first, self._third = first, third
        self._cumulative = [
            quartile.below + np.cumsum(quartile.counts) for quartile in (first, third)
        ]

    def between(self, begin: int, end: int) -> tuple[Ints, Ints]:
        """The narrowest and the widest range after `begin`, ..., `end - 1` changes."""
        low, high = np.empty((2, end - begin), dtype=np.int64)
        at = begin
        while at < end:
            count = max(1, min(MAX_IQR_NUMBERS // (end + 2), end - at))
            k = np.arange(at, at + count)[:, None]
            low[at - begin : at - begin + count] = self._narrowest(k)
            high[at - begin : at - begin + count] = self._widest(k)
            at += count
        return low, high

    def _widest(self, k: Ints) -> Ints:
        """The widest stretch of ceil((n + k) / 2) ranks, for a column of numbers of changes."""
        n = self.records
        last = _up(n + k)
        rank = _up(n - 3 * k) + np.arange(int(k.max()) + 2)
        rank = np.minimum(rank, last)
        other = np.minimum(rank + (n + k + 1) // 2, _up(3 * (n + k)))
        widest: Ints = (self._values(1, other) - self._values(0, rank)).max(axis=1)
        return widest

    def _narrowest(self, k: Ints) -> Ints:
        """The narrowest stretch of floor((n - k) / 2) ranks, for a column of numbers of changes."""
        n = self.records
        k = np.minimum(k, n)
        rank = _up(n - k) + np.arange(int(k.max()) + 2)
        rank = np.minimum(rank, _up(n + 3 * k))
        other = np.maximum(rank + (n - k) // 2, _up(3 * (n - k)))
        narrowest: Ints = (self._values(1, other) - self._values(0, rank)).min(axis=1)
        return narrowest

    def _values(self, part: int, rank: Ints) -> Ints:
        """The records with these ranks, around the first or the third quartile."""
        quartile, cumulative = (self._first, self._third)[part], self._cumulative[part]
        smallest, largest = int(rank.min()), int(rank.max())
        ranks = np.arange(smallest, largest + 1)
        inside = np.searchsorted(cumulative, ranks).clip(0, max(len(cumulative) - 1, 0))
        values = quartile.values[inside] if len(quartile.values) else np.zeros_like(ranks)
        values = np.where(ranks < 1, 0, np.where(ranks > self.records, self._top, values))
        return values[rank - smallest]


def _up(four_times: Ints) -> Ints:
    """A quarter, rounded up."""
    return -(-four_times // 4)


def _reach_of_counts(counts: GroupedCounts, size: int) -> _Reach:
    """The ranges that changes of all records of one group reach."""
    ranks = GroupedRanks.of_counts(counts, size).group(0)
    return _Reach(ranks, ranks, size - 1)


def _columns(domain: PublicSet) -> tuple[OutputColumn, ...]:
    timed = isinstance(domain, Grid) and domain.timed
    return (OutputColumn("iqr", "duration" if timed else "number"),)


def _values(domain: PublicSet, numbers: Sequence[int]) -> list[object]:
    """Differences of two candidates, in the kind of the bounds."""
    assert isinstance(domain, Grid)
    return [domain.difference(number) for number in numbers]


def _values_between_ends(domain: PublicSet, numbers: Sequence[int]) -> list[object]:
    """The range between those that the ends of both quartiles leave possible."""
    assert isinstance(domain, Grid)
    value, *ends = numbers
    first, third = (sorted_ends(domain, *ends[i : i + 2]) for i in (0, 2))
    low, high = max(0, third[0] - first[1]), max(0, third[1] - first[0])
    return _values(domain, (min(max(value, low), high), low, high))


def _range_of_quartiles(domain: PublicSet, numbers: Sequence[int]) -> list[object]:
    """The range of two drawn quartiles between those that their ends leave possible."""
    first, third = sorted(numbers[:2])
    return _values_between_ends(domain, (third - first, *numbers[2:]))


class InterquartileRangeSpec(StatisticSpec):
    """The interquartile range."""

    name = "iqr"
    interval_choices = ("best", "duff")
    interval_costs_epsilon = True
    covers_population = True
    distance_bound = "any"

    def program(self, parameters: Parameters, settings: DrawSettings) -> ReleaseProgram:
        release = PostProcess(_columns, _values)
        statistic = InterquartileRange()
        return ReleaseProgram.by_distance(statistic, self.name, settings.choice, release)

    def interval_program(
        self, parameters: Parameters, settings: DrawSettings, interval: IntervalSpec
    ) -> ReleaseProgram:
        """The range between those that the ends of both quartiles leave possible.

        For the data the quartiles are drawn and the range follows from them. For the population
        the range is drawn beside four ends, each of which may fail a quarter as often as the
        interval.
        """
        share, names = VALUE_SHARES[interval.covers], ("first", "third")

        def columns(domain: PublicSet) -> tuple[OutputColumn, ...]:
            (column,) = _columns(domain)
            return column.with_ends()

        if interval.covers == "data":
            quartiles = quantiles_program(OUTER_QUARTILES, settings.for_share(share)).scaled(share)
            program = around_quantiles(quartiles, OUTER_QUARTILES, names, interval)
            return replace(program, post_process=PostProcess(columns, _range_of_quartiles))
        value = self.program_for_share(parameters, settings, share)
        rate = interval.failure_rate_each(1) / 2
        ends = end_draws(OUTER_QUARTILES, names, rate, 1 - share, interval)
        return value.beside(ends, PostProcess(columns, _values_between_ends))

    def exact(self, parameters: Parameters, engine: Engine, domain: PublicSet) -> Sequence[object]:
        assert isinstance(domain, Grid)
        first, third = exact_quantiles(OUTER_QUARTILES, engine)
        return [domain.difference(third - first)]

    def step_rule(self, choice: Choice) -> StepRule:
        return "order"

    def title(self, parameters: Parameters) -> str:
        return "Interquartile range"


SPECS = (InterquartileRangeSpec(),)
