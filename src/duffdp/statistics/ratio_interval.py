"""Intervals of means and shares: two numbers with noise, and which ratios these leave possible."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, localcontext
from fractions import Fraction
from typing import Any

from duffdp.domain import Grid, PublicSet
from duffdp.statistics.entry import Column, Finish, Parameters, Part, Promise
from duffdp.statistics.noise_interval import Parts, with_ends

# How a miss of the mean of a population is divided: sampling, the noise of the mean, and that of
# the number of records.
SAMPLING, NOISE, RECORDS = Fraction(3, 4), Fraction(3, 16), Fraction(1, 16)
Ends = tuple[Fraction, Fraction]


class RatioEnds:
    """The least and the largest U / (U + V) that two noisy numbers leave possible, or that of the
    population.

    Parameters
    ----------
    part
        The draw of both numbers.
    promise
        What the ends have to hold.
    domain
        Where records lie: one record adds the same to both numbers together.

    Privacy
    -------
    Made of numbers that were drawn and of public facts: post-processing.

    Utility
    -------
    At epsilon 1 and 95 %, for n records: 4 to 6 / n of the range from end to end, least where the
    ratio is a half. For a population 2.8 deviations of a binomial to either side, and half of that.

    References
    ----------
    Fieller, "Some problems in interval estimation" (Journal of the Royal Statistical Society B 16,
    1954); Hoeffding, "Probability inequalities for sums of bounded random variables" (Journal of
    the American Statistical Association 58, 1963), theorem 1; `docs/intervals.md`, "Ratios".
    """

    def __init__(self, part: Part, promise: Promise, domain: PublicSet) -> None:
        noisy = promise.mechanism(part.mechanism, promise.epsilon * part.share)
        self._moved = part.statistic.sensitivity(domain)
        self._population = promise.covers == "population"
        miss = promise.each(1)
        self._tilts = noisy.largest_tilts(self._moved, NOISE * miss if self._population else miss)
        if self._population:
            # One side of a symmetric law: half of the probability of both.
            self._fewer = noisy.largest_tilts(self._moved, 2 * RECORDS * miss)[0]
            self._nats = math.log(2 / float(SAMPLING * miss)) * (1 + 1e-9)

    def __call__(self, above: int, below: int) -> Ends | None:
        """The ends; None where the noise is larger than promised, and leaves nothing possible."""
        ends = possible_ratios(above, below, self._tilts)
        if not self._population or ends is None:
            return ends
        cells = len(self._tilts)
        records = -(-(cells * (above + below) - self._fewer) // (cells * self._moved))
        if records <= 0:
            return Fraction(0), Fraction(1)
        nats = self._nats / records + 1e-15  # doubles err by less
        low, high = (_least_mean(float(end), nats) for end in (ends[0], 1 - ends[1]))
        return Fraction(low), 1 - Fraction(high)


def possible_ratios(above: int, below: int, tilts: Sequence[int]) -> Ends | None:
    """The least and the largest ratio m for which |above - m (above + below)| is at most half of
    what |s + c d| can be for c = 1 - 2 m: `tilts`, in as many parts as there are of them.

    The bound is one number for each of twice as many cells of m, and there the condition is linear.
    """
    cells, total = 2 * len(tilts), above + below
    if total < 0:
        above, total = -above, -total
    most = [*tilts[::-1], *tilts]  # |c| falls from 1 to 0 and rises again
    first, last = 0, cells - 1
    if total > 0:  # with many records few cells are near
        reach = max(tilts)
        first = max(first, -((reach - cells * above) // total) - 2)
        last = min(last, (cells * above + reach) // total)
    inside = []
    for i in range(first, last + 1):
        largest = most[i]
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
    """Of a coin with chance p from one with the smaller chance q, both above 0."""
    rest = (1 - p) * math.log1p((q - p) / (1 - q)) if p < 1 else 0.0
    return p * math.log(p / q) + rest


def around_ratio(
    parts: Parts, finish: Finish, _: Parameters, promise: Promise
) -> tuple[Parts, Finish]:
    """A value that is made of the ratio of two noisy numbers, between those of the ratios that are
    possible; no draw of its own.
    """
    (part,) = parts
    made: dict[PublicSet, RatioEnds] = {}

    def ends(domain: PublicSet, numbers: Sequence[int]) -> Ends | None:
        if domain not in made:
            made[domain] = RatioEnds(part, promise, domain)
        return made[domain](*numbers)

    return parts, _between(finish, ends)


def _between(finish: Finish, ends: Callable[[PublicSet, Sequence[int]], Ends | None]) -> Finish:
    def columns(domain: PublicSet) -> tuple[Column, ...]:
        (value,) = finish.columns(domain)
        return with_ends(value)

    def values(domain: PublicSet, numbers: Sequence[int]) -> list[Any]:
        (value,), (column,) = finish.values(domain, numbers), finish.columns(domain)
        found = ends(domain, numbers)
        if found is None:
            return [value] * 3
        low, high = outward(domain, column, found)
        return [value, min(low, value), max(high, value)]

    chosen = None if finish.on_step is None else _between(finish.on_step, ends)
    return Finish(columns, values, chosen)


def outward(domain: PublicSet, column: Column, ends: Ends) -> tuple[Any, Any]:
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
    near = float(number)
    wrong = near > number if towards < 0 else near < number
    return math.nextafter(near, towards) if wrong else near
