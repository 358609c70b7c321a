"""Laplace noise by global sensitivity, and by propose-test-release."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from duffdp._parameters import EPSILON, read_number
from duffdp.research.baselines._noise import (
    Floats,
    NoiseLaw,
    NoiseMechanism,
    NoiseShape,
    draw_count,
    generator,
)
from duffdp.research.sensitivity import Sensitivity


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
    delta
        Shown by `guarantee`. The noise does not depend on it.

    Privacy
    -------
    Pure epsilon-differential privacy in real arithmetic. Draws are floating point, so their low
    bits can reveal the true value.

    Utility
    -------
    Before clipping, the expected error is GS / epsilon, where GS is the global sensitivity: for a
    median, the whole range.

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

    def fit(self, sensitivity: Sensitivity) -> tuple[float, NoiseShape]:
        return sensitivity.global_ / self.epsilon, LaplaceNoise()


class ProposeTestRelease:
    """Propose-test-release: a baseline, not for release. It adds noise for a proposed sensitivity
    if a private test finds that the data is far from exceeding it. Otherwise it gives no reply.

    Parameters
    ----------
    epsilon, delta
        The privacy loss; delta between 0 and 1/2.
    eta
        The proposed sensitivity, public, above 0.
    test
        The share of epsilon for the test, between 0 and 1; the rest scales the noise.

    Methods
    -------
    law, draw, reply_probability, guarantee

    Privacy
    -------
    (epsilon, delta)-differential privacy in real arithmetic: k*, the least distance at which the
    local sensitivity exceeds eta, changes by at most 1 between neighbors. If it is 0, a reply has
    probability delta. Draws are floating point and not for release.

    Utility
    -------
    Expected error eta / (epsilon (1 - test)) when it replies.

    References
    ----------
    Dwork and Lei, "Differential privacy and robust statistics" (STOC 2009). Avella-Medina and
    Brunel, "Propose, test, release" (2020). Gillenwater and Munoz Medina, "Duff" (NeurIPS 2020),
    sections 3 and 6.

    Examples
    --------
    >>> import duffdp
    >>> spread = duffdp.research.sensitivity.median(range(1, 100), duffdp.Grid(0, 100, 1))
    >>> mechanism = duffdp.research.baselines.ProposeTestRelease(1.0, 1e-3, eta=20)
    >>> round(mechanism.reply_probability(spread), 3), mechanism.law(spread).scale
    (0.989, 40.0)
    """

    name = "propose-test-release"

    def __init__(self, epsilon: Any, delta: Any, *, eta: float, test: float = 0.5) -> None:
        self.epsilon = float(EPSILON.read(epsilon))
        self.delta = read_number("delta", delta, 0, 0.5, 1e-6)
        self.eta = read_number("eta", eta, 0, math.inf, 1)
        share = read_number("test", test, 0, 1, 0.5)
        self._test, self._noise = share * self.epsilon, (1 - share) * self.epsilon
        self._threshold = -math.log(2 * self.delta) / self._test

    @property
    def guarantee(self) -> str:
        """The guarantee of the real-valued mechanism, which its floating-point draws do not
        satisfy.
        """
        kind = f"({self.epsilon:g}, {self.delta:g})"
        return (
            f"{kind}-differential privacy over add/remove neighbours in real arithmetic; "
            "floating-point draws, not for release"
        )

    def reply_probability(self, sensitivity: Sensitivity) -> float:
        """Probability that the test passes."""
        # Never more than eta anywhere: far from any data set that fails.
        distance = (
            sensitivity.levels.searchsorted(self.eta, side="right")
            if sensitivity.global_ > self.eta
            else math.inf
        )
        room = float(distance) - self._threshold
        return (
            1 - math.exp(-self._test * room) / 2 if room >= 0 else math.exp(self._test * room) / 2
        )

    def law(self, sensitivity: Sensitivity) -> NoiseLaw:
        """The distribution of the clipped output, given that there is one."""
        return NoiseLaw(
            sensitivity.value, self.eta / self._noise, LaplaceNoise(), sensitivity.bounds
        )

    def draw(self, sensitivity: Sensitivity, size: int | None = None, rng: object = None) -> Any:
        """One clipped output or None for no reply; with `size` a masked array. Floating point: not
        for release.
        """
        source = generator(rng)
        count = draw_count(size)
        silent = source.random(count) >= self.reply_probability(sensitivity)
        noisy = sensitivity.value + self.eta / self._noise * source.laplace(size=count)
        draws = np.ma.masked_array(np.clip(noisy, *sensitivity.bounds), mask=silent)
        if size is not None:
            return draws
        return None if silent[0] else float(draws[0])

    def __repr__(self) -> str:
        return (
            f"ProposeTestRelease(epsilon={self.epsilon:g}, delta={self.delta:g}, eta={self.eta:g})"
        )
