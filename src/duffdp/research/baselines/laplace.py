"""The Laplace mechanism, a baseline."""

from __future__ import annotations

import math

import numpy as np

from duffdp.research.baselines.noise import Floats, Noise, NoiseMechanism
from duffdp.research.sensitivity.profile import Sensitivity


class LaplaceNoise:
    """The density exp(-|z|) / 2."""

    def density(self, z: Floats) -> Floats:
        density: Floats = np.exp(-np.abs(z)) / 2
        return density

    def tail(self, z: Floats) -> Floats:
        tail: Floats = np.exp(-z)
        return tail

    def quantile_of_tail(self, p: float) -> float:
        return -math.log(p)

    def clipped_mean(self, r: float) -> float:
        return -math.expm1(-r)

    def draw(self, rng: np.random.Generator, size: int) -> Floats:
        return rng.laplace(size=size)


class Laplace(NoiseMechanism):
    """Laplace noise scaled to the global sensitivity: a baseline, not for release.

    Parameters
    ----------
    epsilon
        The privacy loss.

    Privacy
    -------
    Pure epsilon-differential privacy in real arithmetic. Draws are floating point and can betray
    the truth by their low bits.

    Utility
    -------
    Expected error GS / epsilon before clipping; for a median GS is the whole range.

    References
    ----------
    Dwork, McSherry, Nissim and Smith, "Calibrating noise to sensitivity in private data analysis"
    (TCC 2006). Mironov, "On significance of the least significant bits for differential privacy"
    (CCS 2012).

    Examples
    --------
    >>> import duffdp
    >>> spread = duffdp.research.sensitivity.mean([2, 4, 6], duffdp.Grid(0, 10, 1))
    >>> duffdp.research.baselines.Laplace(5.0).law(spread).scale
    1.0
    """

    name = "laplace"

    def fit(self, sensitivity: Sensitivity) -> tuple[float, Noise]:
        return sensitivity.global_ / self.epsilon, LaplaceNoise()
