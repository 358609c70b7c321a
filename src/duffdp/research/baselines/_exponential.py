"""The exponential mechanism with other utilities: the error itself, and the rank."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from duffdp._engines.arrays import value_counts
from duffdp._parameters import EPSILON, Q, read_number
from duffdp._steps import StepFunction, merged
from duffdp.domain import Grid
from duffdp.errors import DuffError
from duffdp.mechanisms.exponential import Exponential
from duffdp.research.baselines._noise import Floats, draw_count, generator
from duffdp.research.sensitivity import Sensitivity


class ErrorExponentialLaw:
    """The density proportional to exp(-rate |x - value|) between the bounds.

    Parameters
    ----------
    value, rate, bounds
        The truth, the fall of the log density per unit of error, and the finite range of outputs.

    Methods
    -------
    density, below, quantile, interval, expected_error, tail

    Privacy
    -------
    Not private: it depends on the data without noise. For planning on public data, for tests and
    for research.

    References
    ----------
    Gillenwater and Munoz Medina, "Duff" (NeurIPS 2020), section 4, u_1.

    Examples
    --------
    >>> import duffdp
    >>> spread = duffdp.research.sensitivity.median([1, 2, 4, 7], duffdp.Grid(0, 10, 1))
    >>> round(duffdp.research.baselines.ErrorExponential(1.0).law(spread).expected_error(2), 2)
    3.12
    """

    def __init__(self, value: float, rate: float, bounds: tuple[float, float]) -> None:
        self.value, self.rate, self.bounds = value, rate, bounds
        self._low, high = (float(self._area(np.asarray(end))) for end in bounds)
        self._mass = high - self._low

    def _area(self, x: Floats) -> Floats:
        """Integral of exp(-rate |u - value|) from the truth to x."""
        error = x - self.value
        area: Floats = -np.sign(error) * np.expm1(-self.rate * np.abs(error)) / self.rate
        return area

    def _twice(self, x: float) -> float:
        """Integral of `_area` from the truth to x."""
        error = abs(x - self.value)
        return (error + math.expm1(-self.rate * error) / self.rate) / self.rate

    def density(self, x: Any) -> Floats:
        """Density between the bounds."""
        points = np.asarray(x, dtype=np.float64)
        inside = (points >= self.bounds[0]) & (points <= self.bounds[1])
        density: Floats = np.where(
            inside, np.exp(-self.rate * np.abs(points - self.value)) / self._mass, 0.0
        )
        return density

    def below(self, x: float) -> float:
        """Probability of an output up to x."""
        return (float(self._area(np.clip(x, *self.bounds))) - self._low) / self._mass

    def expected_error(self, target: float) -> float:
        """Expected distance between the output and a `target` within the bounds."""
        low, high = self.bounds
        under = self._twice(target) - self._twice(low) - self._low * (target - low)
        over = (self._low + self._mass) * (high - target) - self._twice(high) + self._twice(target)
        return (under + over) / self._mass

    def tail(self, target: float, t: float) -> float:
        """Probability that the output is more than `t` away from `target`."""
        return 1 - self.below(target + t) + self.below(target - t)

    def quantile(self, share: Any) -> Floats:
        """The x with `below(x) = share`."""
        area = self._low + np.asarray(share) * self._mass
        x: Floats = self.value - np.sign(area) * np.log1p(-self.rate * np.abs(area)) / self.rate
        return np.clip(x, *self.bounds)

    def interval(self, confidence: float) -> tuple[float, float]:
        """Two numbers that enclose the output with this probability and equal tails."""
        tail_share = (1 - read_number("confidence", confidence, 0, 1, 0.95)) / 2
        return float(self.quantile(tail_share)), float(self.quantile(1 - tail_share))


class ErrorExponential:
    """The exponential mechanism with u_1 = -|x - T|, where T is the exact statistic: a
    baseline, not for release.

    Parameters
    ----------
    epsilon
        The privacy loss.

    Methods
    -------
    law, draw, guarantee

    Privacy
    -------
    Pure epsilon-differential privacy in real arithmetic: u_1 changes by at most the global
    sensitivity of T. Draws are floating point, so their low bits can reveal the true value.

    Utility
    -------
    Poor for a median: the range of u_1 is no larger than its sensitivity, so the density varies by
    exp(epsilon / 2) at most.

    References
    ----------
    McSherry and Talwar, "Mechanism design via differential privacy" (FOCS 2007). Gillenwater and
    Munoz Medina, "Duff" (NeurIPS 2020), section 4.

    Examples
    --------
    >>> import duffdp
    >>> spread = duffdp.research.sensitivity.median([1, 2, 4, 7], duffdp.Grid(0, 10, 1))
    >>> law = duffdp.research.baselines.ErrorExponential(1.0).law(spread)
    >>> [round(end, 1) for end in law.interval(0.9)]
    [0.5, 9.4]
    """

    name = "error-exponential"
    delta = 0.0

    def __init__(self, epsilon: Any) -> None:
        self.epsilon = float(EPSILON.read(epsilon))

    @property
    def guarantee(self) -> str:
        """The guarantee of the real-valued mechanism, which its floating-point draws do not
        satisfy.
        """
        kind = f"pure {self.epsilon:g}"
        return (
            f"{kind}-differential privacy over add/remove neighbours in real arithmetic; "
            "floating-point draws, not for release"
        )

    def law(self, sensitivity: Sensitivity) -> ErrorExponentialLaw:
        """The output distribution between the bounds."""
        if not all(map(math.isfinite, sensitivity.bounds)) or sensitivity.global_ == 0:
            raise DuffError(
                "u_1 needs finite bounds and a global sensitivity above 0. Pass a grid of at least "
                "two candidates."
            )
        return ErrorExponentialLaw(
            sensitivity.value, self.epsilon / (2 * sensitivity.global_), sensitivity.bounds
        )

    def draw(self, sensitivity: Sensitivity, size: int | None = None, rng: object = None) -> Any:
        """One output, or an array of `size` independent ones. Floating point: not for release."""
        draws = self.law(sensitivity).quantile(generator(rng).random(draw_count(size)))
        return float(draws[0]) if size is None else draws

    def __repr__(self) -> str:
        return f"ErrorExponential(epsilon={self.epsilon:g})"


class RankExponential(Exponential):
    """The exponential mechanism with the score |i - q n|, where i is the number of records below a
    candidate: a baseline.

    Between distinct records the score is that of `Quantile(q, utility="rank")`, the paper's u_2; at
    tied records it differs, and releases use that of `Quantile`. Draws are as exact as those of
    `Exponential`.

    Parameters
    ----------
    epsilon
        The privacy loss.
    q
        From 0 to 1. A float is read as its shortest decimal: 0.1 is exactly 1/10.

    Methods
    -------
    steps, guarantee

    Privacy
    -------
    Pure epsilon-differential privacy for neighbors that differ in one record: it moves i by 0 or 1
    and q n by q, so the score by at most max(q, 1 - q).

    References
    ----------
    Smith, "Privacy-preserving statistical estimation with optimal convergence rates" (STOC 2011),
    algorithm 2.

    Examples
    --------
    >>> import duffdp
    >>> mechanism = duffdp.research.baselines.RankExponential(1.0, q=0.5)
    >>> steps = mechanism.steps([1, 2, 2, 3], duffdp.Grid(0, 4, 1))
    >>> [round(mechanism.law(steps).probability(x), 3) for x in range(5)]
    [0.119, 0.119, 0.322, 0.322, 0.119]
    """

    name = "rank-exponential"

    def __init__(self, epsilon: Any, q: Any = Fraction(1, 2)) -> None:
        super().__init__(epsilon)
        self.q = Q.read(q)

    @property
    def guarantee(self) -> str:
        """The guarantee of the mechanism."""
        return f"pure {self.epsilon:g}-differential privacy over add/remove neighbours; exact draws"

    def steps(self, values: Any, domain: Grid) -> StepFunction:
        """The score of every candidate of the domain."""
        index, count = value_counts(values, domain)
        p, m = self.q.numerator, self.q.denominator
        start = np.concatenate([[0], index + 1])
        size = np.diff(start, append=domain.size)
        below = np.concatenate([[0], np.cumsum(count)])
        distance = np.abs(m * below - p * int(count.sum()))
        return StepFunction(domain, *merged(start, size, distance), Fraction(1, max(p, m - p)))
