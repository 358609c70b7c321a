"""Summary of a column: its count, mean, quartiles, and quantiles near both ends."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from duffdp._engines.requests import Engine
from duffdp._parameters import Choice
from duffdp.domain import Grid, Ordered, PublicSet
from duffdp.domain.default_step import StepRule
from duffdp.statistics.interval_width import VALUES_SHARE, followed_by_ends, width_intervals
from duffdp.statistics.mean import SOFT_MEAN, SoftCounts, mean_value
from duffdp.statistics.noise_interval import ratio_post_process, sensitivity_of
from duffdp.statistics.program import DrawSpec, OutputColumn, PostProcess, ReleaseProgram
from duffdp.statistics.quantile_interval import values_inside_ends
from duffdp.statistics.quantiles import Quantiles
from duffdp.statistics.records import exact_counts, exact_integers, exact_quantiles
from duffdp.statistics.spec import DrawSettings, IntervalSpec, Parameters, StatisticSpec

#: Quantiles of a summary, by their names.
QUANTILES = {f"{hundredth}%": Fraction(hundredth, 100) for hundredth in (1, 25, 50, 75, 99)}
# Share of epsilon for the count and the mean, which are one draw: the count then errs by about
# 7.5 / epsilon, enough for most.
MEAN_SHARE = Fraction(1, 5)


def _draws(quantile_share: Fraction) -> tuple[DrawSpec, ...]:
    """Two numbers that tell count and mean, and all quantiles."""
    qs = tuple(QUANTILES.values())
    return (
        DrawSpec(SoftCounts(), "staircase", ("above", "below"), MEAN_SHARE, kind="number"),
        DrawSpec(Quantiles(qs), "joint-exponential", tuple(QUANTILES), quantile_share),
    )


def _has_mean(domain: PublicSet) -> bool:
    """True for evenly spaced candidates: others have no lengths to add up."""
    return isinstance(domain, Grid)


def _columns(domain: PublicSet) -> tuple[OutputColumn, ...]:
    means = SOFT_MEAN.columns(domain) if _has_mean(domain) else ()
    return (OutputColumn("count", "count"), *means, *map(OutputColumn, QUANTILES))


def _values(domain: PublicSet, numbers: Sequence[int]) -> list[object]:
    assert isinstance(domain, Ordered)
    soft_counts, places = numbers[:2], numbers[2:]
    means = SOFT_MEAN.values(domain, soft_counts) if _has_mean(domain) else ()
    count = Fraction(sum(soft_counts), SoftCounts().sensitivity(domain))
    return [max(0, round(count)), *means, *map(domain.value, places)]


class DescribeSpec(StatisticSpec):
    """The summary of a column, for one epsilon."""

    name = "describe"
    choices = ("best",)
    shape = "dictionary"
    allows_uneven_grid = True
    interval_choices = ("best",)
    interval_costs_epsilon = True
    row_header = "of all"
    size_column = "count"

    def program(self, parameters: Parameters, settings: DrawSettings) -> ReleaseProgram:
        return ReleaseProgram(_draws(1 - MEAN_SHARE), post_process=PostProcess(_columns, _values))

    def interval_program(
        self, parameters: Parameters, settings: DrawSettings, interval: IntervalSpec
    ) -> ReleaseProgram:
        """The ends of the count and the mean follow from their noise; those of quantiles come
        from widths.
        """
        qs, names = tuple(QUANTILES.values()), tuple(QUANTILES)
        quantile_share, rate = 1 - MEAN_SHARE, interval.failure_rate_each(2 + width_intervals(qs))
        draws = _draws(quantile_share * VALUES_SHARE)
        totals = draws[0]
        width_share = quantile_share * (1 - VALUES_SHARE)
        program = followed_by_ends(ReleaseProgram(draws), qs, names, width_share, rate)
        mean = ratio_post_process(totals, SOFT_MEAN, interval._replace(failure_rate=rate))

        def columns(domain: PublicSet) -> tuple[OutputColumn, ...]:
            return tuple(
                end_column for column in _columns(domain) for end_column in column.with_ends()
            )

        def counts(domain: PublicSet, total: int) -> list[int]:
            noise = interval.noise(totals.mechanism, interval.epsilon * totals.share)
            sensitivity = sensitivity_of(totals, domain)
            tilts = noise.largest_tilts(sensitivity, rate)  # the first bounds the noise of the sum
            bound = Fraction(tilts[0], len(tilts))
            low = math.ceil((total - bound) / sensitivity)
            high = math.floor((total + bound) / sensitivity)
            return [max(0, count) for count in (round(Fraction(total, sensitivity)), low, high)]

        def values(domain: PublicSet, numbers: Sequence[int]) -> list[object]:
            soft_counts, places = numbers[:2], numbers[2:]
            means = mean.values(domain, soft_counts) if _has_mean(domain) else ()
            quantiles = values_inside_ends(domain, places)
            return [*counts(domain, sum(soft_counts)), *means, *quantiles]

        return replace(program, post_process=PostProcess(columns, values))

    def exact(self, parameters: Parameters, engine: Engine, domain: PublicSet) -> Sequence[object]:
        """Count, mean where candidates are evenly spaced, and quantiles."""
        assert isinstance(domain, Ordered)
        count = int(exact_counts(engine)[1].sum())
        means = [mean_value(domain, *exact_integers(engine))] if isinstance(domain, Grid) else []
        quantiles = exact_quantiles(tuple(QUANTILES.values()), engine)
        return [count, *means, *map(domain.value, quantiles)]

    def step_rule(self, choice: Choice) -> StepRule:
        return "order"

    def title(self, parameters: Parameters) -> str:
        return "Summary"


SPECS = (DescribeSpec(),)
