"""Two-sided geometric noise for whole numbers.

Promise: Noise falls by exp(-epsilon / sensitivity) for each whole number.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from duffdp._evidence import Totals
from duffdp._parameters import EPSILON
from duffdp._privacy import LossFamily
from duffdp._sampling.entropy import Entropy
from duffdp._sampling.integer_noise import two_sided_geometrics
from duffdp.mechanisms._noise_sums import largest_sum
from duffdp.mechanisms._ratio_noise import TwoNoises, largest_tilts


class Geometric:
    """Whole numbers, each plus a whole number k with probability proportional to
    exp(-epsilon |k| / sensitivity).

    Parameters
    ----------
    epsilon
        The privacy loss.

    Privacy
    -------
    Pure epsilon-differential privacy for neighbours whose numbers differ by at most `sensitivity`,
    all differences added up; for one count exactly as much as randomised response tells. Its range
    is not bounded: do not account it as (epsilon^2 / 8)-zCDP. Draws are exact
    (`tests/mechanisms/geometric_test.py`).

    Utility
    -------
    Each number errs by about sensitivity / epsilon; for one count no other mechanism does better
    for every reader who has an opinion before (Ghosh et al.).

    Runtime
    -------
    A random word or two and a logarithm for a number, all numbers at once.

    References
    ----------
    Ghosh, Roughgarden and Sundararajan, "Universally utility-maximizing privacy mechanisms" (STOC
    2009).

    Examples
    --------
    >>> import duffdp
    >>> [round(duffdp.mechanisms.Geometric(1.0).probability(2, x), 3) for x in range(5)]
    [0.063, 0.17, 0.462, 0.17, 0.063]
    """

    name: ClassVar[str] = "two-sided-geometric"
    loss_family: ClassVar[LossFamily] = "geometric"

    def __init__(self, epsilon: Any) -> None:
        self._epsilon = EPSILON.read(epsilon)
        self.epsilon = float(self._epsilon)

    def release(
        self, groups: Sequence[Sequence[int]], sensitivity: int, source: Entropy
    ) -> list[list[int]]:
        """The numbers of each group with noise; one record moves those of its group by at most
        `sensitivity` in all.
        """
        scaled = self._epsilon / sensitivity
        noise = iter(two_sided_geometrics(scaled, sum(map(len, groups)), source))
        return [[total + next(noise) for total in totals] for totals in groups]

    def numbers(self, evidence: Totals, source: Entropy) -> list[Sequence[int]]:
        """A column for each number, with noise for every group."""
        return list(zip(*self.release(evidence.numbers, evidence.sensitivity, source), strict=True))

    def largest_noise(self, sensitivity: int, confidence: float | Fraction) -> int:
        """The noise of one number that is not exceeded with this probability."""
        rate, miss = self.epsilon / sensitivity, float(1 - confidence)
        # P(more than t) = 2 exp(-each (t + 1)) / (1 + exp(-each)); doubles err by less than 1e-12
        threshold = math.log(2 / (miss * (1 + math.exp(-rate)))) / rate
        return max(0, math.ceil(threshold * (1 + 1e-12)) - 1)

    def tail(self, sensitivity: int, least: int) -> float:
        """The probability that the noise of one number is `least`, above 0, or more in size."""
        rate = self.epsilon / sensitivity
        return 2 * math.exp(-rate * least) / (1 + math.exp(-rate))

    def variance(self, sensitivity: int) -> float:
        """The variance of the noise of one number, in squares of the sensitivity."""
        rate = self.epsilon / sensitivity
        return 2 * math.exp(-rate) / (math.expm1(-rate) * sensitivity) ** 2

    def characteristic(self, sensitivity: int, angles: Any) -> Any:
        """The characteristic function of the noise of one number, at real or complex angles per
        sensitivity.
        """
        rate = self.epsilon / sensitivity
        peak = 4 * math.exp(-rate) / math.expm1(-rate) ** 2
        return 1 / (1 + peak * np.sin(angles / (2 * sensitivity)) ** 2)

    def largest_noise_of_sum(self, sensitivity: int, count: int, confidence: Fraction) -> int:
        """The noise of the sum of so many numbers that is not exceeded with this probability."""
        kind: Any = type(self)  # mypy takes no class for hashable
        return largest_sum(kind, self._epsilon, sensitivity, count, float(1 - confidence))

    def largest_tilts(self, sensitivity: int, miss: Fraction) -> tuple[int, ...]:
        """Bound on the noise of a ratio of two numbers."""
        return largest_tilts(TwoNoises(float(self._epsilon / sensitivity), 1, 1), miss)

    def probability(self, total: int, output: int, sensitivity: int = 1) -> float:
        """The probability of an output for a number: not private."""
        scaled = self.epsilon / sensitivity
        weight = math.exp(-scaled * abs(output - total))
        return weight * -math.expm1(-scaled) / (1 + math.exp(-scaled))

    def __repr__(self) -> str:
        return f"Geometric(epsilon={self.epsilon:g})"
