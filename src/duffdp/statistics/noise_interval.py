"""Confidence intervals that follow from known noise and cost no epsilon.

Of one noisy number the exact one is no further away than the noise; two noisy numbers leave some
ratios possible.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from decimal import ROUND_CEILING, ROUND_FLOOR, localcontext
from fractions import Fraction
from functools import cache
from typing import Any, cast

from duffdp.domain import Grid, PublicSet
from duffdp.statistics.program import DrawSpec, OutputColumn, PostProcess, ReleaseProgram
from duffdp.statistics.spec import IntervalSpec
from duffdp.statistics.statistic import TotalsStatistic

# Division of the failure rate for the mean of a population: sampling, the noise of the mean, and
# the noise of the number of records.
SAMPLING_FAILURES, NOISE_FAILURES, COUNT_FAILURES = Fraction(3, 4), Fraction(3, 16), Fraction(1, 16)
RatioInterval = tuple[Fraction, Fraction]
Rational = int | Fraction


def largest_noise(draw: DrawSpec, interval: IntervalSpec, domain: PublicSet, count: int = 1) -> int:
    """The noise that one of so many numbers does not exceed, up to its failure rate."""
    noise = interval.noise(draw.mechanism, interval.epsilon * draw.share)
    sensitivity, confidence = sensitivity_of(draw, domain), 1 - interval.failure_rate_each(count)
    if interval.summands == 1:
        return noise.largest_noise(sensitivity, confidence)
    return noise.largest_noise_of_sum(sensitivity, interval.summands, confidence)


def sensitivity_of(draw: DrawSpec, domain: PublicSet) -> int:
    """The most by which one record moves the numbers of a draw together."""
    assert isinstance(draw.statistic, TotalsStatistic)
    return draw.statistic.sensitivity(domain)


def around_number(program: ReleaseProgram, interval: IntervalSpec) -> ReleaseProgram:
    """A value that rises with one noisy number, between the values of the least and the largest
    number that the noise leaves possible.
    """
    (draw,), (number_column,) = program.draws, program.columns
    post_process = program.post_process

    @cache
    def largest(domain: PublicSet) -> int:
        return largest_noise(draw, interval, domain)

    def columns(domain: PublicSet) -> tuple[OutputColumn, ...]:
        (value,) = (number_column,) if post_process is None else post_process.columns(domain)
        return value.with_ends()

    def values(domain: PublicSet, numbers: Sequence[int]) -> list[object]:
        (number,) = numbers
        noise = largest(domain)
        possible = ([number], [number - noise], [number + noise])
        if post_process is None:
            return [max(0, total) for (total,) in possible]
        return [value for total in possible for value in post_process.values(domain, total)]

    return replace(program, post_process=PostProcess(columns, values))


def around_cells(program: ReleaseProgram, interval: IntervalSpec) -> ReleaseProgram:
    """The number of records in each cell, between the numbers that the noise leaves possible.

    Ends are moved to hold a number that was moved, to add up or because it was negative.
    """
    (draw,), post_process = program.draws, program.post_process
    assert post_process is not None

    @cache
    def largest(domain: PublicSet) -> int:
        return largest_noise(draw, interval, domain, domain.size)

    def columns(domain: PublicSet) -> tuple[OutputColumn, ...]:
        return tuple(column for cell in post_process.columns(domain) for column in cell.with_ends())

    def values(domain: PublicSet, numbers: Sequence[int]) -> list[int]:
        noise, released = largest(domain), []
        counts = cast(Sequence[int], post_process.values(domain, numbers))
        for number, value in zip(numbers, counts, strict=True):
            low, high = max(0, number - noise), max(0, number + noise)
            released += [value, min(low, value), max(high, value)]
        return released

    return replace(program, post_process=PostProcess(columns, values))


def around_ratio(program: ReleaseProgram, interval: IntervalSpec) -> ReleaseProgram:
    """A value that follows from the ratio of two noisy numbers, between the values of the ratios
    that the noise leaves possible.
    """
    (draw,), post_process = program.draws, program.post_process
    assert post_process is not None
    return replace(program, post_process=ratio_post_process(draw, post_process, interval))


def ratio_post_process(
    draw: DrawSpec, post_process: PostProcess, interval: IntervalSpec
) -> PostProcess:
    """A value between the ends that the two noisy numbers of a draw leave possible."""

    @cache
    def ratio_ends(domain: PublicSet) -> RatioEnds:
        noise = interval.noise(draw.mechanism, interval.epsilon * draw.share)
        sensitivity, count = sensitivity_of(draw, domain), interval.summands

        def tilts(failure_rate: Fraction) -> Sequence[int]:
            if count == 1:
                return noise.largest_tilts(sensitivity, failure_rate)
            return noise.largest_tilts_of_sum(sensitivity, count, failure_rate)

        return RatioEnds(tilts, sensitivity, interval)

    return _between(post_process, lambda domain, numbers: ratio_ends(domain)(*numbers))


class RatioEnds:
    """The ends of an interval for U / (U + V), computed from two noisy numbers, or for that of the
    population.

    Parameters
    ----------
    tilts
        Bounds on the noise of both numbers for a failure rate, as of `possible_ratios`.
    sensitivity
        What one record adds to both numbers together.
    interval
        The guarantee of the ends.

    Privacy
    -------
    Made of numbers that were drawn and of public facts: post-processing.

    Utility
    -------
    At epsilon 1 and 95%, for n records: 4 to 6 / n of the range from end to end, least where the
    ratio is a half. For a population 2.8 deviations of a binomial to either side, and half of that.

    References
    ----------
    Fieller, "Some problems in interval estimation" (Journal of the Royal Statistical Society B 16,
    1954). Hoeffding, "Probability inequalities for sums of bounded random variables" (Journal of
    the American Statistical Association 58, 1963), theorem 1. `docs/explanation/intervals.md`,
    "Ratios".
    """

    def __init__(
        self, tilts: Callable[[Fraction], Sequence[int]], sensitivity: int, interval: IntervalSpec
    ) -> None:
        self._sensitivity = sensitivity
        self._population = interval.covers == "population"
        rate = interval.failure_rate_each(1)
        self._tilts = tilts(NOISE_FAILURES * rate if self._population else rate)
        if self._population:
            # One side of a symmetric law: half of the probability of both.
            self._fewer = tilts(2 * COUNT_FAILURES * rate)[0]
            self._nats = math.log(2 / float(SAMPLING_FAILURES * rate)) * (1 + 1e-9)

    def __call__(self, above: Rational, below: Rational) -> RatioInterval | None:
        """The ends; None where the noise is larger than promised, and leaves nothing possible."""
        ends = possible_ratios(above, below, self._tilts)
        if not self._population or ends is None:
            return ends
        cells = len(self._tilts)
        records = -(-(cells * (above + below) - self._fewer) // (cells * self._sensitivity))
        if records <= 0:
            return Fraction(0), Fraction(1)
        nats = self._nats / records + 1e-15  # doubles err by less
        low, high = (_least_mean(float(end), nats) for end in (ends[0], 1 - ends[1]))
        return Fraction(low), 1 - Fraction(high)


def possible_ratios(above: Rational, below: Rational, tilts: Sequence[int]) -> RatioInterval | None:
    """The least and the largest ratio m for which |above - m (above + below)| is at most half of
    what |s + c d| can be for c = 1 - 2 m: `tilts`, in as many parts as there are of them.

    The bound is one number for each of twice as many cells of m, and there the condition is linear.
    """
    cells, total = 2 * len(tilts), above + below
    if total < 0:
        above, total = -above, -total
    bounds = [*tilts[::-1], *tilts]  # |c| falls from 1 to 0 and rises again
    first, last = 0, cells - 1
    if total > 0:  # with many records few cells are near
        reach = max(tilts)
        first = max(first, -((reach - cells * above) // total) - 2)
        last = min(last, (cells * above + reach) // total)
    inside = []
    for i in range(first, last + 1):
        largest = bounds[i]
        low = max(i * total, cells * above - largest)
        high = min((i + 1) * total, cells * above + largest)
        if low <= high:
            inside.append((i, low, high))
    if not inside:
        return None
    (i, low, _), (j, _, high) = inside[0], inside[-1]
    if total == 0:
        return Fraction(i, cells), Fraction(j + 1, cells)
    return Fraction(low, cells * total), Fraction(high, cells * total)


def _least_mean(sample: float, nats: float) -> float:
    """The least mean, from below, of which a sample mean is no further than so many nats (the
    divergence of two coins).
    """
    low, high = 0.0, max(0.0, sample * (1 - 1e-12) - 1e-15)
    for _ in range(60):
        middle = (low + high) / 2
        if middle == 0:
            return 0.0
        low, high = (low, middle) if _divergence(sample, middle) <= nats else (middle, high)
    return low * (1 - 1e-12)


def _divergence(p: float, q: float) -> float:
    """Divergence of a coin with chance p from one with the smaller chance q, both above 0."""
    other_side = (1 - p) * math.log1p((q - p) / (1 - q)) if p < 1 else 0.0
    return p * math.log(p / q) + other_side


def _between(
    post_process: PostProcess, ends: Callable[[PublicSet, Sequence[int]], RatioInterval | None]
) -> PostProcess:
    def columns(domain: PublicSet) -> tuple[OutputColumn, ...]:
        (value,) = post_process.columns(domain)
        return value.with_ends()

    def values(domain: PublicSet, numbers: Sequence[int]) -> list[object]:
        (value,), (column,) = post_process.values(domain, numbers), post_process.columns(domain)
        return around_value(domain, column, value, ends(domain, numbers))

    on_step = None if post_process.on_step is None else _between(post_process.on_step, ends)
    return PostProcess(columns, values, on_step)


def around_value(
    domain: PublicSet, column: OutputColumn, value: object, ends: RatioInterval | None
) -> list[object]:
    """A value with both ends, moved to hold it; where nothing is possible, the value itself."""
    if ends is None:
        return [value] * 3
    low, high = outward(domain, column, ends)
    return [value, min(low, value), max(high, value)]


def outward(domain: PublicSet, column: OutputColumn, ends: RatioInterval) -> tuple[Any, Any]:
    """Ends as they are released, rounded away from each other."""
    low, high = ends
    if isinstance(domain, Grid):
        low, high = ((domain.size - 1) * end for end in ends)
        if column.kind == "candidate":
            return domain.value(math.floor(low)), domain.value(math.ceil(high))
        if domain.kind == "decimal":
            return _decimal(domain, low, ROUND_FLOOR), _decimal(domain, high, ROUND_CEILING)
        low, high = domain.exact_at(low), domain.exact_at(high)
    return _double(low, -math.inf), _double(high, math.inf)


def _decimal(domain: Grid, place: Fraction, rounding: str) -> Any:
    with localcontext() as context:
        context.rounding = rounding
        return domain.number_at(place)


def _double(number: Fraction, towards: float) -> float:
    """The closest double that lies on this side of a number."""
    nearest = float(number)
    wrong = nearest > number if towards < 0 else nearest < number
    return math.nextafter(nearest, towards) if wrong else nearest
