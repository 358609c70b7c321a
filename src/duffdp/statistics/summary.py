"""The summary of a column: its count, mean, quartiles, and quantiles near both ends."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from duffdp.domain import Grid, Ordered, PublicSet
from duffdp.statistics.entry import Column, Finish, Parameters, Part, Promise
from duffdp.statistics.interval import VALUE_SHARE, quantile_ends, values_with_room
from duffdp.statistics.noise_interval import Parts, with_ends
from duffdp.statistics.quantiles import SUMMARY, Quantiles
from duffdp.statistics.ratio_interval import around_ratio
from duffdp.statistics.soft_counts import SOFT_FINISH, SoftCounts

# What of epsilon goes to the count and the mean, which are one draw: the count then errs by about
# 7.5 / epsilon, enough for most.
MEAN_SHARE = Fraction(1, 5)


def summary_parts() -> Parts:
    """Two numbers that tell count and mean, and all quantiles."""
    qs = tuple(SUMMARY.values())
    return (
        Part(SoftCounts(), "staircase", ("above", "below"), MEAN_SHARE, kind="number"),
        Part(Quantiles(qs), "joint-exponential", tuple(SUMMARY), 1 - MEAN_SHARE),
    )


def _has_mean(domain: PublicSet) -> bool:
    """Candidates that are unevenly spaced have no lengths to add up."""
    return isinstance(domain, Grid)


def _columns(domain: PublicSet) -> tuple[Column, ...]:
    means = SOFT_FINISH.columns(domain) if _has_mean(domain) else ()
    return (Column("count", "count"), *means, *map(Column, SUMMARY))


def _values(domain: PublicSet, numbers: Sequence[int]) -> list[Any]:
    assert isinstance(domain, Ordered)
    both, places = numbers[:2], numbers[2:]
    means = SOFT_FINISH.values(domain, both) if _has_mean(domain) else ()
    count = Fraction(sum(both), SoftCounts().sensitivity(domain))
    return [max(0, round(count)), *means, *map(domain.value, places)]


SUMMARY_FINISH = Finish(_columns, _values)


def around_summary(
    parts: Parts, _: Finish | None, given: Parameters, promise: Promise
) -> tuple[Parts, Finish]:
    """A count and a mean, whose ends follow from the noise, and quantiles with ends of their
    own.
    """
    totals, quantiles = parts
    qs, names = quantiles.statistic.qs, quantiles.columns
    left, miss = 1 - totals.share, promise.each(2 + len(qs))
    ends = quantile_ends(qs, names, miss, left * (1 - VALUE_SHARE), promise)
    drawn = (totals, replace(quantiles, share=left * VALUE_SHARE), *ends)
    mean = around_ratio((totals,), SOFT_FINISH, given, promise._replace(miss=miss))[1]

    def columns(domain: PublicSet) -> tuple[Column, ...]:
        return tuple(each for column in _columns(domain) for each in with_ends(column))

    def counts(domain: PublicSet, total: int) -> list[int]:
        noisy = promise.mechanism(totals.mechanism, promise.epsilon * totals.share)
        moved = totals.statistic.sensitivity(domain)
        tilts = noisy.largest_tilts(moved, miss)  # the first one bounds the noise of the sum
        most = Fraction(tilts[0], len(tilts))
        low, high = math.ceil((total - most) / moved), math.floor((total + most) / moved)
        return [max(0, count) for count in (round(Fraction(total, moved)), low, high)]

    def values(domain: PublicSet, numbers: Sequence[int]) -> list[Any]:
        both, places = numbers[:2], numbers[2:]
        means = mean.values(domain, both) if _has_mean(domain) else ()
        return [*counts(domain, sum(both)), *means, *values_with_room(domain, places)]

    return drawn, Finish(columns, values)
