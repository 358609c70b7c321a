"""The exponential mechanism with the error itself as utility, the paper's u_1: a baseline."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from duffdp.errors import DuffError
from duffdp.parameters import read_epsilon, read_number
from duffdp.research.baselines.floating import generator, how_many
from duffdp.research.baselines.noise import Floats
from duffdp.research.sensitivity.profile import Sensitivity


class ErrorExponentialLaw:
    """The density proportional to exp(-rate |x - value|) between the bounds.

    Parameters
    ----------
    value, rate, bounds
        The truth, the fall of the log density per unit of error, and the finite range of outputs.

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
        away = x - self.value
        area: Floats = -np.sign(away) * np.expm1(-self.rate * np.abs(away)) / self.rate
        return area

    def _twice(self, x: float) -> float:
        """Integral of `_area` from the truth to x."""
        away = abs(x - self.value)
        return (away + math.expm1(-self.rate * away) / self.rate) / self.rate

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
        """Two numbers between which the output lies with this probability, cut evenly from both
        sides.
        """
        rest = (1 - read_number("confidence", confidence, 0, 1, 0.95)) / 2
        return float(self.quantile(rest)), float(self.quantile(1 - rest))


class ErrorExponential:
    """The exponential mechanism with u_1 = -|x - T|: a baseline, not for release.

    Parameters
    ----------
    epsilon
        The privacy loss.

    Privacy
    -------
    Pure epsilon-differential privacy in real arithmetic: u_1 changes by at most the global
    sensitivity of T. Draws are floating point and can betray the truth by their low bits.

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
        self.epsilon = float(read_epsilon(epsilon))

    @property
    def guarantee(self) -> str:
        """What the real-valued mechanism satisfies, and that its floating-point draws do not."""
        kind = f"pure {self.epsilon:g}"
        return (
            f"{kind}-differential privacy over add/remove neighbours in real arithmetic; "
            "floating-point draws, not for release"
        )

    def law(self, sensitivity: Sensitivity) -> ErrorExponentialLaw:
        """The explicit law over the bounds."""
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
        draws = self.law(sensitivity).quantile(generator(rng).random(how_many(size)))
        return float(draws[0]) if size is None else draws

    def __repr__(self) -> str:
        return f"ErrorExponential(epsilon={self.epsilon:g})"
