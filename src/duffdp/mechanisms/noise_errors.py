"""The size of the noise of mechanisms, in doubles, for intervals, planning and tests. No draw uses
it, but for the width of the first stair, for which any will do.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from duffdp.domain import Array
from duffdp.mechanisms._ratio_noise import TwoNoises, largest_tilts
from duffdp.mechanisms._search import least_number
from duffdp.mechanisms.weighted_noises import Noise


class GeometricErrors(Noise):
    """The size of two-sided geometric noise.

    Methods
    -------
    probability, tail, largest_noise, variance
    """

    def largest_noise(self, sensitivity: int, confidence: float | Fraction) -> int:
        """The largest absolute noise of one number, with this confidence."""
        rate, miss = self.epsilon / sensitivity, float(1 - confidence)
        # P(more than t) = 2 exp(-each (t + 1)) / (1 + exp(-each)); doubles err by less than 1e-12
        threshold = math.log(2 / (miss * (1 + math.exp(-rate)))) / rate
        return max(0, math.ceil(threshold * (1 + 1e-12)) - 1)

    def tail(self, sensitivity: int, least: int) -> float:
        """The probability that the absolute noise of one number is at least `least`, above 0."""
        rate = self.epsilon / sensitivity
        return 2 * math.exp(-rate * least) / (1 + math.exp(-rate))

    def variance(self, sensitivity: int) -> float:
        """The variance of the noise of one number, divided by the squared sensitivity."""
        rate = self.epsilon / sensitivity
        return 2 * math.exp(-rate) / (math.expm1(-rate) * sensitivity) ** 2

    def characteristic(self, sensitivity: int, angles: Array) -> Array:
        """The characteristic function of the noise of one number, at real or complex angles per
        sensitivity.
        """
        rate = self.epsilon / sensitivity
        peak = 4 * math.exp(-rate) / math.expm1(-rate) ** 2
        return 1 / (1 + peak * np.sin(angles / (2 * sensitivity)) ** 2)

    def largest_tilts(self, sensitivity: int, miss: Fraction) -> tuple[int, ...]:
        """Bound on the noise of a ratio of two numbers."""
        return largest_tilts(TwoNoises(float(self._epsilon / sensitivity), 1, 1), miss)

    def probability(self, total: int, output: int, sensitivity: int = 1) -> float:
        """The probability of this output for this exact number. Not private."""
        scaled = self.epsilon / sensitivity
        weight = math.exp(-scaled * abs(output - total))
        return weight * -math.expm1(-scaled) / (1 + math.exp(-scaled))


class ThresholdErrors:
    """The distributions of noisy counts of keys that are released from a threshold on.

    Methods
    -------
    probability, possible_counts
    """

    epsilon: float

    def probability(self, count: int, output: int | None, threshold: int) -> float:
        """The probability of a noisy count for a key with `count` records, or with `output=None`
        that it is not released. Not private.
        """
        decay = math.exp(-self.epsilon)
        if output is not None:
            inside = output >= threshold
            return inside * decay ** abs(output - count) * (1 - decay) / (1 + decay)
        missing = threshold - count
        tail = decay ** abs(missing if missing > 0 else 1 - missing) / (1 + decay)
        return 1 - tail if missing > 0 else tail

    def possible_counts(
        self, output: int, threshold: int, confidence: float | Fraction
    ) -> tuple[int, int]:
        """The least and the largest count of a released key: an interval with this confidence for
        every key that is released.

        The noisy count of a released key is at least the threshold, so small outputs leave every
        smaller count possible. Each side fails with at most half of 1 - `confidence`, given that
        the key is released.
        """
        miss = float(1 - confidence) / 2 * (1 - 1e-9)  # doubles err by less
        low = least_number(
            lambda count: count >= output or self._at_least(count, output, threshold) > miss, output
        )
        last = output + math.ceil(-math.log(miss) / self.epsilon) + 2
        above = least_number(
            lambda count: count >= last or self._at_most(count, output, threshold) <= miss, last
        )
        return low, max(output, above - 1)

    def _at_least(self, count: int, output: int, threshold: int) -> float:
        """The probability of this noisy count or a larger one, for a key that is released."""
        if count < threshold:  # a ratio of tails that may both be below all doubles
            return math.exp(-self.epsilon * (output - threshold))
        return self._tail(output - count) / self._tail(threshold - count)

    def _at_most(self, count: int, output: int, threshold: int) -> float:
        """The probability of this noisy count or a smaller one, for a key that is released."""
        if count > output:  # both tails are small: no difference of large numbers
            tail, before = self._tail(count - output), self._tail(count - threshold + 1)
            return (tail - before) / (1 - before)
        return 1 - self._at_least(count, output + 1, threshold)

    def _tail(self, least: int) -> float:
        """The probability that noise is at least this."""
        decay = math.exp(-self.epsilon)
        if least > 0:
            return decay**least / (1 + decay)
        return 1 - decay ** (1 - least) / (1 + decay)


class StaircaseErrors(Noise):
    """The size of staircase noise.

    Methods
    -------
    probability, expected_error, tail, largest_noise, variance
    """

    def probability(
        self, totals: Sequence[int], outputs: Sequence[int], sensitivity: int = 1
    ) -> float:
        """The probability of these outputs for these exact numbers. Not private."""
        width = best_width(self.epsilon, sensitivity, len(totals))
        distance = sum(abs(a - b) for a, b in zip(totals, outputs, strict=True))
        step = 0 if distance < width else 1 + (distance - width) // sensitivity
        scale = _moments(self.epsilon, Fraction(width, sensitivity), sensitivity, len(totals))
        return math.exp(-self.epsilon * step) / (scale.points * float(sensitivity) ** len(totals))

    def expected_error(self, sensitivity: int, numbers: int = 1) -> float:
        """The expected absolute noise of one of the numbers."""
        width = best_width(self.epsilon, sensitivity, numbers)
        scale = _moments(self.epsilon, Fraction(width, sensitivity), sensitivity, numbers)
        return float(Fraction(max(scale.sums, 0.0) / scale.points) * sensitivity) / numbers

    def tail(self, sensitivity: int, least: int) -> float:
        """The probability that the absolute noise of one number is at least `least`, above 0."""
        width = best_width(self.epsilon, sensitivity, 1)
        # In units of the sensitivity, which may be beyond all doubles.
        points = _moments(self.epsilon, Fraction(width, sensitivity), sensitivity, 1).points
        points = max(points, math.ulp(0.0))
        if least <= width:
            return 1 - float(Fraction(2 * least - 1, sensitivity)) / points
        step, into = divmod(least - width, sensitivity)
        later = math.exp(-self.epsilon) / -math.expm1(-self.epsilon)  # all the steps after this one
        mass = float(Fraction(sensitivity - into, sensitivity)) + later
        return 2 * mass * math.exp(-self.epsilon * (step + 1)) / points

    def largest_noise(self, sensitivity: int, confidence: float | Fraction) -> int:
        """The size that the noise of one number does not exceed with this confidence."""
        return least_number(lambda size: self.tail(sensitivity, size + 1) <= 1 - confidence)

    def variance(self, sensitivity: int) -> float:
        """The variance of the noise of one number, divided by the squared sensitivity."""
        width = Fraction(best_width(self.epsilon, sensitivity, 1), sensitivity)
        scale = _moments(self.epsilon, width, sensitivity, 1)
        return max(scale.squares, 0.0) / scale.points  # doubles may make it less than 0

    def characteristic(self, sensitivity: int, angles: Array) -> Array:
        """The characteristic function of the noise of one number, at real or complex angles per
        sensitivity, none of them 0.

        The noise is uniform on a ball whose radius is a geometric number of sensitivities larger
        than the first step.
        """
        width = Fraction(best_width(self.epsilon, sensitivity, 1), sensitivity)
        points = _moments(self.epsilon, width, sensitivity, 1).points
        decay, complement = math.exp(-self.epsilon), -math.expm1(-self.epsilon)
        half = angles / sensitivity / 2
        edge = float(width) * angles - half
        # The sum over all radii of the sines at their edges, by two geometric series.
        rising, falling = (np.exp(s * edge) / (1 - decay * np.exp(s * angles)) for s in (1j, -1j))
        sines = (rising - falling) / 2j
        values: Array = 2 * complement * sines / (points * angles * np.sinc(half / np.pi))
        return values

    def largest_tilts(self, sensitivity: int, miss: Fraction) -> tuple[int, ...]:
        """Bound on the noise of a ratio of two numbers."""
        width = best_width(self.epsilon, sensitivity, 2)
        return largest_tilts(TwoNoises(self.epsilon, sensitivity, width), miss)


class _Moments(NamedTuple):
    """Moments of a uniform point in each ball, weighted with exp(-epsilon k) (1 - exp(-epsilon)):
    the number of points and the sum of their distances from 0 (for one number also of their
    squares). In units of the sensitivity.
    """

    points: float
    sums: float
    squares: float = 0.0


def _moments(epsilon: float, share: Fraction, sensitivity: int, numbers: int) -> _Moments:
    """For a first step whose width is this share of the sensitivity."""
    b, complement = math.exp(-epsilon), -math.expm1(-epsilon)
    # Moments of a geometric number k, then of the radius k + share.
    k1, k2, k3 = (
        b / complement,
        b * (1 + b) / complement**2,
        b * (1 + 4 * b + b * b) / complement**3,
    )
    w, h = float(share), float(Fraction(1, sensitivity))
    m1 = k1 + w
    m2 = k2 + 2 * w * k1 + w**2
    m3 = k3 + 3 * w * k2 + 3 * w**2 * k1 + w**3
    if numbers == 1:  # 2 m - 1 points, with a sum of m (m - 1) and squares of m (m-1) (2 m-1) / 3
        return _Moments(2 * m1 - h, m2 - h * m1, (2 * m3 - 3 * h * m2 + h * h * m1) / 3)
    if numbers == 2:  # 2 m^2 - 2 m + 1 points, with a sum of 2 m (m - 1) (2 m - 1) / 3
        return _Moments(2 * m2 - 2 * h * m1 + h * h, (4 * m3 - 6 * h * m2 + 2 * h * h * m1) / 3)
    # (4 m^3 - 6 m^2 + 8 m - 3) / 3 points, with a sum of m^4 - 2 m^3 + 2 m^2 - m
    k4 = b * (1 + 11 * b + 11 * b * b + b**3) / complement**4
    m4 = k4 + 4 * w * k3 + 6 * w**2 * k2 + 4 * w**3 * k1 + w**4
    points = (4 * m3 - 6 * h * m2 + 8 * h**2 * m1 - 3 * h**3) / 3
    return _Moments(points, m4 - 2 * h * m3 + 2 * h**2 * m2 - h**3 * m1)


@lru_cache(maxsize=256)
def best_width(epsilon: float, sensitivity: int, numbers: int) -> int:
    """The width of the first step that makes the expected noise least; the guarantee holds for
    any width.
    """

    def error(share: Fraction) -> float:
        points, sums, _ = _moments(epsilon, share, sensitivity, numbers)
        return sums / points if points else 0.0  # a product that no double holds

    low, high = Fraction(1, sensitivity), Fraction(1)
    for _ in range(60):  # the error falls and then rises
        third = Fraction(float(high - low)) / 3
        first_third, second_third = low + third, high - third
        low, high = (
            (low, second_third)
            if error(first_third) <= error(second_third)
            else (first_third, high)
        )
        low, high = Fraction(float(low)), Fraction(float(high))
    center = int(low * sensitivity)
    widths = {min(max(center + i, 1), sensitivity) for i in range(-2, 3)}
    return min(sorted(widths), key=lambda width: error(Fraction(width, sensitivity)))
