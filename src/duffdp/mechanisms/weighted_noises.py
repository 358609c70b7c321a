"""Bounds on the sum of independent noises with weights."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np

from duffdp.domain import Array, Floats
from duffdp.mechanisms._noise_sums import LEAST_FAILURE_RATE, largest_sum
from duffdp.mechanisms._ratio_noise import CELLS

SLACK = 0.01  # deviations by which a bound may be too large
SMOOTHING_REACH = 5  # deviations of the smoothing normal, which it rarely leaves
SMOOTHING_MISS = 6e-7  # how often it does
LAST_ANGLE = 8  # deviations of the smoothed distribution's transform: exp(-32) of it is left out
MAX_SMOOTHINGS = (
    20_000  # smoothing deviations in the reach: large epsilons have long tails of little
)
STEEP_EPSILON = 300.0  # beyond, doubles cannot hold a tail
OUTSIDE_SHARE = 1e-6  # of the failure rate: what lies outside of the period
ROUNDING_CHANCE = 1e-12  # probability that doubles lose
CELL_SHARE = Fraction(1, 50)  # of the failure rate: for the change of a ratio's noise in a cell
TILTS = 2.0 ** np.arange(-14, 0)  # shares of the largest possible tilt that a tail is bounded by


class Noise(ABC):
    """Symmetric noise on whole numbers, whose tails fall exponentially: by exp(-epsilon) for each
    `sensitivity`.
    """

    _epsilon: Fraction
    epsilon: float

    @abstractmethod
    def tail(self, sensitivity: int, least: int) -> float:
        """The probability that the absolute noise of one number is at least `least`, above 0."""

    @abstractmethod
    def variance(self, sensitivity: int) -> float:
        """The variance of the noise of one number, divided by the squared sensitivity."""

    @abstractmethod
    def characteristic(self, sensitivity: int, angles: Array) -> Array:
        """The characteristic function of the noise of one number, at real or complex angles per
        sensitivity, none of them 0.
        """

    @abstractmethod
    def largest_noise(self, sensitivity: int, confidence: float | Fraction) -> int:
        """The largest absolute noise of one number, with this confidence."""

    @abstractmethod
    def largest_tilts(self, sensitivity: int, miss: Fraction) -> tuple[int, ...]:
        """Bound on the noise of a ratio of two numbers."""

    def largest_noise_of_sum(self, sensitivity: int, count: int, confidence: Fraction) -> int:
        """The largest absolute noise of a sum of numbers, with this confidence."""
        return largest_sum(self, sensitivity, count, float(1 - confidence))

    def largest_tilts_of_sum(self, sensitivity: int, count: int, miss: Fraction) -> tuple[int, ...]:
        """Bound on the noise of a ratio of two sums of `count` numbers."""
        return _tilts_of_sum(self, sensitivity, count, miss)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Noise)
            and type(other) is type(self)
            and other._epsilon == self._epsilon
        )

    def __hash__(self) -> int:
        return hash((type(self), self._epsilon))


@lru_cache(maxsize=256)  # a margin of a table asks again for every format that is written
def _tilts_of_sum(noise: Noise, sensitivity: int, count: int, miss: Fraction) -> tuple[int, ...]:
    return ratio_tilts([WeightedNoise(noise, Fraction(1), count)], sensitivity, miss)


class WeightedNoise(NamedTuple):
    """Several noises of one distribution, each with the same weight."""

    noise: Noise
    weight: Fraction
    times: int


class NoiseSum:
    """Sum of independent noises of one sensitivity, each with a weight.

    Its distribution is found by its characteristic function, the product of those of its parts. A
    little normal noise is added to make the function end, and the bound is moved outward by as
    much.
    What lies outside of a long period is bounded by Chernoff's inequality. So bounds hold, and are
    too large by at most `SLACK` deviations.
    """

    def __init__(self, parts: Sequence[WeightedNoise], sensitivity: int) -> None:
        self._parts = [part for part in parts if part.weight and part.times]
        self._sensitivity = sensitivity

    @cached_property
    def deviation(self) -> float:
        """The standard deviation, in sensitivities."""
        variances = (
            part.times * float(part.weight) ** 2 * part.noise.variance(self._sensitivity)
            for part in self._parts
        )
        return math.sqrt(math.fsum(variances))

    def largest(self, failure_rate: Fraction) -> Fraction:
        """The size of the sum that is exceeded with at most this probability."""
        if not self._parts:
            return Fraction(0)
        noises = {part.noise for part in self._parts}
        if len(noises) == 1 and all(abs(part.weight) == 1 for part in self._parts):
            (noise,), count = noises, sum(part.times for part in self._parts)
            return Fraction(noise.largest_noise_of_sum(self._sensitivity, count, 1 - failure_rate))
        steep = max(part.noise.epsilon for part in self._parts) > STEEP_EPSILON
        if steep or failure_rate < LEAST_FAILURE_RATE:
            return self._largest_by_parts(failure_rate)
        spectrum = self._spectrum(float(failure_rate))
        allowed = float(failure_rate) * (1 - SMOOTHING_MISS - OUTSIDE_SHARE) - ROUNDING_CHANCE
        bound = spectrum.largest(allowed) + SMOOTHING_REACH * spectrum.smoothing
        return Fraction(bound) * self._sensitivity

    def expected_size(self) -> float:
        """The expected absolute value, in sensitivities, up to rounding errors."""
        return self._spectrum(LEAST_FAILURE_RATE).expected_size() if self._parts else 0.0

    def _largest_by_parts(self, failure_rate: Fraction) -> Fraction:
        """A bound by which each noise has its part of the failure rate."""
        confidence = 1 - failure_rate / sum(part.times for part in self._parts)
        return sum(
            (
                part.times
                * abs(part.weight)
                * part.noise.largest_noise(self._sensitivity, confidence)
                for part in self._parts
            ),
            Fraction(0),
        )

    def _spectrum(self, failure_rate: float) -> _Spectrum:
        outside = failure_rate * OUTSIDE_SHARE
        least = self._reach(outside, 0.0) / MAX_SMOOTHINGS
        smoothing = max(least, self.deviation * SLACK / SMOOTHING_REACH)
        reach = self._reach(outside, smoothing)
        last = math.ceil(LAST_ANGLE * reach / (math.pi * smoothing))
        angles: Floats = np.arange(1.0, last + 1) * (math.pi / reach)
        values: Floats = np.exp(-((smoothing * angles) ** 2) / 2)
        for part in self._parts:
            tilted = float(part.weight) * angles
            values = (
                values * part.noise.characteristic(self._sensitivity, tilted).real ** part.times
            )
        return _Spectrum(angles, values, reach, smoothing)

    def _reach(self, probability: float, smoothing: float) -> float:
        """The size that the smoothed sum exceeds with at most this probability (Chernoff)."""
        largest = min(part.noise.epsilon / abs(float(part.weight)) for part in self._parts)
        tilts = largest * np.append(TILTS, 1 - TILTS[:-1])
        nats = (smoothing * tilts) ** 2 / 2 + math.log(2 / probability)
        for part in self._parts:
            angles = 1j * float(part.weight) * tilts
            moments = part.noise.characteristic(self._sensitivity, angles).real
            nats += part.times * np.log(moments)
        return float(np.min(nats / tilts))


class _Spectrum(NamedTuple):
    """The characteristic function of a symmetric sum at the angles of a period of twice `reach`."""

    angles: Floats
    values: Floats
    reach: float
    smoothing: float

    def largest(self, failure_rate: float) -> float:
        """The first of many sizes that the sum exceeds with at most this probability."""
        period = 2 ** math.ceil(math.log2(2 * len(self.angles) + 2))
        waves = np.append(0.0, self.values / self.angles)
        sizes = np.arange(period // 2 + 1) * (2 * self.reach / period)
        coverages = (sizes - 2 * np.fft.rfft(waves, period).imag) / self.reach
        return float(sizes[np.argmax(1 - coverages <= failure_rate)])

    def expected_size(self) -> float:
        """The expected size of the sum."""
        odd, angles = self.values[::2], self.angles[::2]
        return self.reach / 2 - 4 / self.reach * math.fsum((odd / angles**2).tolist())


def ratio_tilts(
    noises: Sequence[WeightedNoise], sensitivity: int, failure_rate: Fraction
) -> tuple[int, ...]:
    """A bound, times CELLS, that |s + c d| exceeds with at most this probability, for |c| between
    i / CELLS and (i + 1) / CELLS.

    s and d are the difference and the sum of two independent numbers that are both such sums of
    noises (`docs/explanation/intervals.md`, "Ratios").

    s + c d is a weighted sum of noises, too. Within a cell it differs from that in the middle by at
    most |d| times half of the cell, and d is distributed like s.
    """

    def tilted(c: Fraction, rate: Fraction) -> Fraction:
        both = [
            WeightedNoise(noise, weight * side, times)
            for noise, weight, times in noises
            for side in (1 + c, 1 - c)
        ]
        return NoiseSum(both, sensitivity).largest(rate)

    half = Fraction(1, 2 * CELLS)
    change = half * tilted(Fraction(0), CELL_SHARE * failure_rate)
    rest = (1 - CELL_SHARE) * failure_rate
    middles = ((2 * i + 1) * half for i in range(CELLS))
    return tuple(math.ceil(CELLS * (tilted(c, rest) + change)) for c in middles)
