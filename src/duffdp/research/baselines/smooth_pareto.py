"""Smooth sensitivity with two-sided Pareto noise, a baseline: pure epsilon and a finite mean."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from duffdp.parameters import read_number
from duffdp.research.baselines.noise import Floats, Noise, NoiseMechanism
from duffdp.research.sensitivity.profile import Sensitivity


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
    Pure epsilon-differential privacy in real arithmetic. With scale SS_beta / c and index epsilon /
    beta, the log-ratio of the densities at neighbours is largest far out, where it is epsilon, or
    at the truth, where it is (1 + epsilon / beta) log(1 + c r) - log(r) for a ratio r of scales
    between exp(-beta) and 1. That is convex in log(r), so the largest c follows from its two ends
    (`tests/baselines_test.py`). Draws are floating point.

    Utility
    -------
    Expected error SS_beta / c * beta / (epsilon - beta) before clipping: finite, unlike that of
    `SmoothCauchy`.

    References
    ----------
    Nissim, Raskhodnikova and Smith (STOC 2007), section 2.1, for admissible noise; `docs/paper.md`.

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

    def fit(self, sensitivity: Sensitivity) -> tuple[float, Noise]:
        return sensitivity.smooth(self.beta) / self.shift, ParetoNoise(self.epsilon / self.beta)
