"""Smooth sensitivity with Laplace-log-normal noise, a baseline: the paper's LaplaceLN."""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any

import numpy as np

from duffdp.errors import DuffError
from duffdp.parameters import read_number
from duffdp.research.baselines.noise import Floats, Noise, NoiseMechanism, tuned
from duffdp.research.sensitivity.profile import Sensitivity

NODES = 801  # of the trapezoid rule over the normal variable, which converges faster than any power


class LaplaceLogNormalNoise:
    """The product of a Laplace variable X and exp(sigma Y), Y standard normal."""

    def __init__(self, sigma: float) -> None:
        self.sigma = sigma

    @cached_property
    def _rule(self) -> tuple[Floats, Floats]:
        """The factors exp(sigma y) and their weights; factors of exp(+-sigma y) move the mass by
        sigma to either side.
        """
        y = np.linspace(-9 - self.sigma, 9 + self.sigma, NODES)
        weight = np.exp(-y * y / 2) * (y[1] - y[0]) / math.sqrt(2 * math.pi)
        return np.exp(np.clip(self.sigma * y, -700, 700)), weight

    def _over(self, z: Any) -> Floats:
        """z over every factor; what overflows has no weight."""
        with np.errstate(over="ignore"):
            return np.asarray(z, dtype=np.float64)[..., None] / self._rule[0]

    def density(self, z: Floats) -> Floats:
        factor, weight = self._rule
        density: Floats = np.exp(-self._over(np.abs(z))) @ (weight / factor) / 2
        return density

    def tail(self, z: Floats) -> Floats:
        tail: Floats = np.exp(-self._over(z)) @ self._rule[1]
        return tail

    def quantile_of_tail(self, p: float) -> float:
        low, high = -700.0, 700.0
        while high - low > 1e-13 * (1 + abs(low)):
            middle = (low + high) / 2
            low, high = (
                (middle, high) if self.tail(np.exp(np.asarray(middle))) > p else (low, middle)
            )
        return math.exp(high)

    def clipped_mean(self, r: float) -> float:
        if math.isinf(r):
            return math.exp(self.sigma**2 / 2)
        factor, weight = self._rule
        return float((-np.expm1(-self._over(r)) * factor) @ weight)

    def draw(self, rng: np.random.Generator, size: int) -> Floats:
        draws: Floats = rng.laplace(size=size) * np.exp(self.sigma * rng.standard_normal(size))
        return draws


class SmoothLaplaceLogNormal(NoiseMechanism):
    """Laplace-log-normal noise scaled to the smooth sensitivity, `T + SS_t / s X exp(sigma Y)`: a
    baseline, not for release.

    Parameters
    ----------
    epsilon, delta
        The privacy loss; delta between 0 and 1.
    t
        The smoothing, public. None: the t with the least variance for the data set, as in the
        paper. The shape of the noise then depends on the data and no theorem covers it: for
        comparison alone.

    Privacy
    -------
    With Y standard normal, X Laplace and eps_c = t / sigma + exp(1.5 sigma^2) s it satisfies
    (eps_c^2 / 2)-concentrated differential privacy, hence (epsilon, delta) for eps_c = sqrt(2
    log(1/delta) + 2 epsilon) - sqrt(2 log(1/delta)), if t is public. (The paper prints a Y of
    variance sigma, for which that does not hold.) Draws are floating point.

    Utility
    -------
    Variance 2 SS_t^2 exp(5 sigma^2) / (eps_c - t / sigma)^2 before clipping; sigma is chosen to
    make it least.

    Runtime
    -------
    As `SmoothLaplace`; sigma is the root of a cubic.

    References
    ----------
    Bun and Steinke, "Average-case averages: private algorithms for smooth sensitivity and mean
    estimation" (NeurIPS 2019), section 3.1 and lemma 9. Gillenwater and Munoz Medina, "Duff"
    (NeurIPS 2020), section 6.

    Examples
    --------
    >>> import duffdp
    >>> spread = duffdp.research.sensitivity.median(range(1, 100), duffdp.Grid(0, 100, 1))
    >>> mechanism = duffdp.research.baselines.SmoothLaplaceLogNormal(1.0, 1e-3)
    >>> round(mechanism.law(spread).expected_error(50), 1)
    35.3
    """

    name = "smooth-laplace-log-normal"

    def __init__(self, epsilon: Any, delta: Any, *, t: float | None = None) -> None:
        super().__init__(epsilon, read_number("delta", delta, 0, 1, 1e-6))
        surprise = -2 * math.log(self.delta)
        # The difference of the two roots without its cancellation.
        self.concentrated = (
            2 * self.epsilon / (math.sqrt(surprise + 2 * self.epsilon) + math.sqrt(surprise))
        )
        self.t = None if t is None else read_number("t", t, 0, math.inf, 0.01)

    @property
    def guarantee(self) -> str:
        stated = super().guarantee
        return (
            stated
            if self.t is not None
            else f"none proven, t is tuned to the data; with a public t: {stated}"
        )

    def sigma(self, t: Any) -> Any:
        """The shape with the least variance for a smoothing: the root above t / eps_c of 5 eps_c
        x^3 - 5 t x^2 - t = 0.
        """
        # x = a (1 + 2 cosh(u)) with a = t / (3 eps_c) turns the cubic into cosh(3 u) = 1 + 3 / (10
        # a^2).
        a = t / (3 * self.concentrated)
        return a * (1 + 2 * np.cosh(np.arccosh(1 + 0.3 / (a * a)) / 3))

    def _log_factor(self, t: Any) -> Any:
        """Logarithm of the standard deviation over SS_t, up to a constant."""
        sigma = self.sigma(t)
        return 2.5 * sigma**2 - np.log(self.concentrated - t / sigma)

    def fit(self, sensitivity: Sensitivity) -> tuple[float, Noise]:
        t = self.t
        if t is None:
            # Beyond this exp(5 sigma^2) grows faster than the last level can fall.
            most = self.concentrated * (3 + self.concentrated * len(sensitivity.levels) / 5)
            t = tuned(sensitivity, self._log_factor, 1e-5 * self.concentrated, most)
        sigma = float(self.sigma(t))
        log_scale = (
            float(sensitivity.log_smooth(t))
            + 1.5 * sigma**2
            - math.log(self.concentrated - t / sigma)
        )
        if log_scale > 700:
            raise DuffError(
                f"t={t:g} is too large for epsilon={self.epsilon:g}: the noise exceeds what "
                "doubles "
                "can hold."
            )
        return math.exp(log_scale), LaplaceLogNormalNoise(sigma)
