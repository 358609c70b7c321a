"""Confidence intervals around quantiles, as parts of programs and of post-processing."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from duffdp.domain import Ordered, PublicSet
from duffdp.statistics.interval_width import VALUES_SHARE, followed_by_ends, width_intervals
from duffdp.statistics.program import ReleaseProgram
from duffdp.statistics.spec import IntervalSpec


def around_quantiles(
    program: ReleaseProgram, qs: tuple[Fraction, ...], names: Sequence[str], interval: IntervalSpec
) -> ReleaseProgram:
    """Quantiles, each between two ends: the last numbers are all quantiles in order, then the low
    and the high end of each.

    `program` draws the quantiles for `VALUES_SHARE` of epsilon, perhaps after others.
    """
    rate = interval.failure_rate_each(width_intervals(qs, interval.covers))
    return followed_by_ends(program, qs, names, 1 - VALUES_SHARE, rate, interval.covers)


def values_with_ends(domain: PublicSet, numbers: Sequence[int]) -> list[Any]:
    """Each value and its ends, from all values in any order and then the ends of all of them."""
    assert isinstance(domain, Ordered)
    count, indices = len(numbers) // 3, []
    for i, value in enumerate(sorted(numbers[:count])):
        indices += [value, *numbers[count + 2 * i : count + 2 * i + 2]]
    return list(map(domain.value, indices))
