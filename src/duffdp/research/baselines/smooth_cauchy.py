"""Smooth sensitivity with Cauchy noise, a baseline: the paper's SmoothSens with delta = 0."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from duffdp.errors import DuffError
from duffdp.optional import load
from duffdp.parameters import read_number
from duffdp.research.baselines.noise import (
    SMALLEST,
    Floats,
    Noise,
    NoiseMechanism,
    tuned,
)
from duffdp.research.sensitivity.profile import Sensitivity

NEAR = 1e-9  # up to here the tail probability is 1


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
            -np.logaddexp(0, self.gamma * np.log(np.maximum(z, SMALLEST)))
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
        if r <= NEAR:
            return r
        # In the logarithm of z the integrand is smooth over any number of decades: Gauss-Legendre
        # on short panels.
        ends = np.linspace(math.log(NEAR), math.log(r), 2 + int(math.log(r / NEAR)))
        nodes, weights = np.polynomial.legendre.leggauss(12)
        z = np.exp(ends[:-1, None] + (nodes + 1) / 2 * (ends[1] - ends[0]))
        return NEAR + float((z * self.tail(z) @ weights).sum()) * float(ends[1] - ends[0]) / 2

    def draw(self, rng: np.random.Generator, size: int) -> Floats:
        if self.gamma == 2:
            return rng.standard_cauchy(size)
        ratio = rng.gamma(1 / self.gamma, size=size) / np.maximum(
            rng.gamma(1 - 1 / self.gamma, size=size), SMALLEST
        )
        signed: Floats = ratio ** (1 / self.gamma) * rng.choice([-1.0, 1.0], size)
        return signed


class SmoothCauchy(NoiseMechanism):
    """Heavy-tailed noise scaled to the smooth sensitivity, `T + SS_beta / alpha Z`: a baseline, not
    for release.

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
        one for the data set, up to the precision of the search; private too, because it changes the
        scale and not the shape of the noise.

    Privacy
    -------
    Pure epsilon-differential privacy in real arithmetic. A shift by a scale costs at most the
    steepest slope of the log density, (gamma - 1)^((gamma - 1) / gamma); a stretch by exp(beta) at
    most max(1, gamma - 1) beta (`tests/baselines_test.py`). Draws are floating point and can betray
    the truth by their low bits.

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

    def fit(self, sensitivity: Sensitivity) -> tuple[float, Noise]:
        if self.tight:
            most = self.epsilon / self._stretch
            beta = self.beta or tuned(
                sensitivity, lambda b: -np.log(self._alpha(b)), 1e-4 * most, (1 - 1e-9) * most
            )
            alpha = self._alpha(beta)
        else:
            alpha = beta = self.epsilon / (2 * (self.gamma + 1))
        return sensitivity.smooth(beta) / alpha, CauchyNoise(self.gamma)
