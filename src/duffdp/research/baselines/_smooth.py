"""Noise scaled to smooth sensitivity: Laplace, Laplace log-normal, Pareto and Cauchy."""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any

import numpy as np

from duffdp._optional import load
from duffdp._parameters import read_number
from duffdp.errors import DuffError
from duffdp.research.baselines._laplace import LaplaceNoise
from duffdp.research.baselines._noise import MIN_SCALE, Floats, NoiseMechanism, NoiseShape, tuned
from duffdp.research.sensitivity import Sensitivity

TRAPEZOID_NODES = (
    801  # of the trapezoid rule over the normal variable, which converges faster than any power
)
MIN_CAUCHY_TAIL = 1e-9  # up to here the tail probability is 1


class SmoothLaplace(NoiseMechanism):
    """Laplace noise scaled to the smooth sensitivity: a baseline, not for release.

    The output is `T + (SS_beta / alpha) * Z`, where T is the exact statistic, SS_beta its
    beta-smooth sensitivity and Z the noise.

    Parameters
    ----------
    epsilon, delta
        The privacy loss; delta between 0 and 1.
    beta
        The smoothing; alpha is then epsilon + beta - (exp(beta) - 1) log(1/delta), which must be
        above 0. None: the beta with the least SS_beta / alpha for the data set, up to the precision
        of the search. The guarantee still holds, because it changes the scale and not the shape of
        the noise.

    Privacy
    -------
    (epsilon, delta)-differential privacy in real arithmetic. Draws are floating point, so their low
    bits can reveal the true value.

    Utility
    -------
    Expected error SS_beta / alpha before clipping.

    Runtime
    -------
    A search over beta. It passes over all levels for the first 21 values, and over fewer and fewer
    after that.

    References
    ----------
    Bun and Steinke, "Average-case averages: private algorithms for smooth sensitivity and mean
    estimation" (NeurIPS 2019), theorem 34. Gillenwater and Munoz Medina, "Duff" (NeurIPS 2020),
    proposition 2.

    Examples
    --------
    >>> import duffdp
    >>> spread = duffdp.research.sensitivity.median(range(1, 100), duffdp.Grid(0, 100, 1))
    >>> round(duffdp.research.baselines.SmoothLaplace(1.0, 1e-3).law(spread).expected_error(50), 1)
    9.8
    """

    name = "smooth-laplace"

    def __init__(self, epsilon: Any, delta: Any, *, beta: float | None = None) -> None:
        super().__init__(epsilon, read_number("delta", delta, 0, 1, 1e-6))
        self._surprise = -math.log(self.delta)
        self.beta = None if beta is None else read_number("beta", beta, 0, math.inf, 0.01)
        if self.beta is not None and self._alpha(self.beta) <= 0:
            raise DuffError(
                "beta must leave epsilon + beta - (exp(beta) - 1) log(1/delta) above 0, got "
                f"beta={beta!r} for "
                f"epsilon={self.epsilon:g} and delta={self.delta:g}. Pass a smaller beta, or none "
                "for the best."
            )

    def _alpha(self, beta: Any) -> Any:
        with np.errstate(over="ignore"):
            return self.epsilon + beta - np.expm1(beta) * self._surprise

    @cached_property
    def _largest(self) -> float:
        """The beta at which alpha comes down to 0, from below."""
        low, high = 0.0, 1.0
        while self._alpha(high) > 0:
            low, high = high, 2 * high
        while high - low > 1e-12 * high:
            middle = (low + high) / 2
            low, high = (middle, high) if self._alpha(middle) > 0 else (low, middle)
        return low

    def fit(self, sensitivity: Sensitivity) -> tuple[float, NoiseShape]:
        beta = self.beta
        if beta is None:
            beta = tuned(
                sensitivity,
                lambda b: -np.log(self._alpha(b)),
                1e-4 * self._largest,
                (1 - 1e-9) * self._largest,
            )
        return sensitivity.smooth(beta) / float(self._alpha(beta)), LaplaceNoise()


class LaplaceLogNormalNoise:
    """The product of a Laplace variable X and exp(sigma Y), Y standard normal."""

    def __init__(self, sigma: float) -> None:
        self.sigma = sigma

    @cached_property
    def _rule(self) -> tuple[Floats, Floats]:
        """The factors exp(sigma y) and their weights; factors of exp(+-sigma y) move the mass by
        sigma to either side.
        """
        y = np.linspace(-9 - self.sigma, 9 + self.sigma, TRAPEZOID_NODES)
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
    """Laplace-log-normal noise scaled to the smooth sensitivity: a baseline, not for release.

    The output is `T + (SS_t / s) * X * exp(sigma Y)`, where T is the exact statistic and SS_t its
    t-smooth sensitivity.

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
    Y is standard normal, X is Laplace, and t must be public. With eps_c = t / sigma + exp(1.5
    sigma^2) s it satisfies (eps_c^2 / 2)-concentrated differential privacy. Hence it satisfies
    (epsilon, delta) for eps_c = sqrt(2 log(1/delta) + 2 epsilon) - sqrt(2 log(1/delta)). (The paper
    prints a Y of variance sigma; for that Y this does not hold.) Draws are floating point.

    Utility
    -------
    Variance 2 SS_t^2 exp(5 sigma^2) / (eps_c - t / sigma)^2 before clipping; sigma is chosen to
    make it least.

    Runtime
    -------
    The same as for `SmoothLaplace`; sigma is the root of a cubic.

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

    def fit(self, sensitivity: Sensitivity) -> tuple[float, NoiseShape]:
        t = self.t
        if t is None:
            # Beyond this exp(5 sigma^2) grows faster than the last level can fall.
            largest = self.concentrated * (3 + self.concentrated * len(sensitivity.levels) / 5)
            t = tuned(sensitivity, self._log_factor, 1e-5 * self.concentrated, largest)
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


class ParetoNoise:
    """The density proportional to (1 + |z|)^-(1 + index): a Pareto distribution of the second kind
    on either side.
    """

    def __init__(self, index: float) -> None:
        self.index = index

    def density(self, z: Floats) -> Floats:
        density: Floats = self.index / 2 * np.exp(-(1 + self.index) * np.log1p(np.abs(z)))
        return density

    def tail(self, z: Floats) -> Floats:
        tail: Floats = np.exp(-self.index * np.log1p(z))
        return tail

    def quantile_of_tail(self, p: float) -> float:
        return math.expm1(-math.log(p) / self.index)

    def clipped_mean(self, r: float) -> float:
        return -math.expm1((1 - self.index) * math.log1p(r)) / (self.index - 1)

    def draw(self, rng: np.random.Generator, size: int) -> Floats:
        signed: Floats = np.expm1(rng.exponential(1 / self.index, size)) * rng.choice(
            [-1.0, 1.0], size
        )
        return signed


class SmoothPareto(NoiseMechanism):
    """Two-sided Pareto noise scaled to the smooth sensitivity: a baseline, not for release.

    Parameters
    ----------
    epsilon
        The privacy loss.
    beta
        The smoothing, public, above 0 and below epsilon; None: epsilon / 3. It shapes the noise
        (the index is epsilon / beta) and so must not be tuned to private data.

    Privacy
    -------
    Pure epsilon-differential privacy in real arithmetic. The scale is SS_beta / c and the index
    epsilon / beta.

    The log-ratio of the densities at neighbors is largest far out or at the exact value. Far out it
    is epsilon. At the exact value it is (1 + epsilon / beta) log(1 + c r) - log(r), for a ratio r
    of scales between exp(-beta) and 1. That is convex in log(r), so the largest c follows from its
    two ends (`tests/research/baselines_test.py`). Draws are floating point.

    Utility
    -------
    Expected error SS_beta / c * beta / (epsilon - beta) before clipping: finite, unlike that of
    `SmoothCauchy`.

    References
    ----------
    Nissim, Raskhodnikova and Smith (STOC 2007), section 2.1, for admissible noise;
    `docs/explanation/paper.md`.

    Examples
    --------
    >>> import duffdp
    >>> spread = duffdp.research.sensitivity.median(range(1, 100), duffdp.Grid(0, 100, 1))
    >>> round(duffdp.research.baselines.SmoothPareto(1.0).law(spread).expected_error(50), 1)
    3.0
    """

    name = "smooth-pareto"

    def __init__(self, epsilon: Any, *, beta: float | None = None) -> None:
        super().__init__(epsilon)
        self.beta = (
            self.epsilon / 3
            if beta is None
            else read_number("beta", beta, 0, self.epsilon, self.epsilon / 3)
        )
        harmonic = self.epsilon * self.beta / (self.epsilon + self.beta)
        stretched = (self.epsilon - self.beta) * self.beta / (self.epsilon + self.beta)
        self.shift = min(math.expm1(harmonic), math.exp(self.beta) * math.expm1(stretched))

    def fit(self, sensitivity: Sensitivity) -> tuple[float, NoiseShape]:
        return sensitivity.smooth(self.beta) / self.shift, ParetoNoise(self.epsilon / self.beta)


class CauchyNoise:
    """The density proportional to 1 / (1 + |z|^gamma); gamma = 2 is the Cauchy distribution."""

    def __init__(self, gamma: float) -> None:
        self.gamma = gamma

    def density(self, z: Floats) -> Floats:
        angle = math.pi / self.gamma
        density: Floats = math.sin(angle) / (2 * angle) / (1 + np.abs(z) ** self.gamma)
        return density

    def tail(self, z: Floats) -> Floats:
        if self.gamma == 2:
            tail: Floats = np.arctan2(1, z) * (2 / math.pi)
            return tail
        inside = np.exp(
            -np.logaddexp(0, self.gamma * np.log(np.maximum(z, MIN_SCALE)))
        )  # 1 / (1 + z^gamma), never an overflow
        share: Floats = load("scipy.special", "research").betainc(
            1 - 1 / self.gamma, 1 / self.gamma, inside
        )
        return share

    def quantile_of_tail(self, p: float) -> float:
        if self.gamma == 2:
            return 1 / math.tan(p * math.pi / 2)
        share = float(
            load("scipy.special", "research").betaincinv(1 - 1 / self.gamma, 1 / self.gamma, p)
        )
        return float((1 / share - 1) ** (1 / self.gamma))

    def clipped_mean(self, r: float) -> float:
        if math.isinf(r):
            angle = math.pi / self.gamma
            return math.sin(angle) / math.sin(2 * angle) if self.gamma > 2 else math.inf
        if self.gamma == 2:
            return (2 * r * math.atan2(1, r) + 2 * math.log(math.hypot(1, r))) / math.pi
        if r <= MIN_CAUCHY_TAIL:
            return r
        # In the logarithm of z the integrand is smooth over any number of decades: Gauss-Legendre
        # on short panels.
        ends = np.linspace(
            math.log(MIN_CAUCHY_TAIL), math.log(r), 2 + int(math.log(r / MIN_CAUCHY_TAIL))
        )
        nodes, weights = np.polynomial.legendre.leggauss(12)
        z = np.exp(ends[:-1, None] + (nodes + 1) / 2 * (ends[1] - ends[0]))
        return (
            MIN_CAUCHY_TAIL
            + float((z * self.tail(z) @ weights).sum()) * float(ends[1] - ends[0]) / 2
        )

    def draw(self, rng: np.random.Generator, size: int) -> Floats:
        if self.gamma == 2:
            return rng.standard_cauchy(size)
        ratio = rng.gamma(1 / self.gamma, size=size) / np.maximum(
            rng.gamma(1 - 1 / self.gamma, size=size), MIN_SCALE
        )
        signed: Floats = ratio ** (1 / self.gamma) * rng.choice([-1.0, 1.0], size)
        return signed


class SmoothCauchy(NoiseMechanism):
    """Heavy-tailed noise scaled to the smooth sensitivity: a baseline, not for release.

    The output is `T + (SS_beta / alpha) * Z`, where T is the exact statistic, SS_beta its
    beta-smooth sensitivity and Z the noise.

    Parameters
    ----------
    epsilon
        The privacy loss.
    gamma
        The density is proportional to 1 / (1 + |z|^gamma), gamma above 1; 2 is the Cauchy
        distribution.
    tight
        False: alpha = beta = epsilon / (2 (gamma + 1)) as in the paper. True: the largest alpha
        that the density allows, which for gamma = 2 is alpha + beta = epsilon.
    beta
        With `tight`: the smoothing, above 0 and below epsilon / max(1, gamma - 1). None: the best
        one for the data set, up to the precision of the search. The guarantee still holds, because
        it changes the scale and not the shape of the noise.

    Privacy
    -------
    Pure epsilon-differential privacy in real arithmetic. A shift by a scale costs at most the
    steepest slope of the log density, (gamma - 1)^((gamma - 1) / gamma); a stretch by exp(beta) at
    most max(1, gamma - 1) beta (`tests/research/baselines_test.py`). Draws are floating point, so
    their low bits can reveal the true value.

    Utility
    -------
    The mean is infinite for gamma up to 2 unless clipped to bounds.

    References
    ----------
    Nissim, Raskhodnikova and Smith (STOC 2007), lemmas 2.6 and 2.7. Gillenwater and Munoz Medina,
    "Duff" (NeurIPS 2020), proposition 3.

    Examples
    --------
    >>> import duffdp
    >>> spread = duffdp.research.sensitivity.median(range(1, 100), duffdp.Grid(0, 100, 1))
    >>> cauchy = duffdp.research.baselines.SmoothCauchy
    >>> printed, tight = (cauchy(1.0, tight=t).law(spread) for t in (False, True))
    >>> round(printed.expected_error(50), 1), round(tight.expected_error(50), 1)
    (21.7, 5.9)
    """

    name = "smooth-cauchy"

    def __init__(
        self, epsilon: Any, gamma: float = 2.0, *, tight: bool = False, beta: float | None = None
    ) -> None:
        super().__init__(epsilon)
        self.gamma, self.tight = read_number("gamma", gamma, 1, math.inf, 2), tight
        self._stretch = max(1.0, self.gamma - 1)
        self._slope = (self.gamma - 1) ** ((self.gamma - 1) / self.gamma)
        if beta is not None and not tight:
            raise DuffError(
                "beta is epsilon / (2 (gamma + 1)) unless tight=True, got both. Leave one out."
            )
        self.beta = (
            None
            if beta is None
            else read_number("beta", beta, 0, self.epsilon / self._stretch, self.epsilon / 4)
        )

    def _alpha(self, beta: Any) -> Any:
        """The largest scale of the shift next to this smoothing."""
        return (self.epsilon - self._stretch * beta) / self._slope

    def fit(self, sensitivity: Sensitivity) -> tuple[float, NoiseShape]:
        if self.tight:
            largest = self.epsilon / self._stretch
            beta = self.beta or tuned(
                sensitivity, lambda b: -np.log(self._alpha(b)), 1e-4 * largest, (1 - 1e-9) * largest
            )
            alpha = self._alpha(beta)
        else:
            alpha = beta = self.epsilon / (2 * (self.gamma + 1))
        return sensitivity.smooth(beta) / alpha, CauchyNoise(self.gamma)
