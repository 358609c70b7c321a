"""Propose-test-release, a baseline that may give no reply."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from duffdp.parameters import read_epsilon, read_number
from duffdp.research.baselines.floating import generator, how_many
from duffdp.research.baselines.laplace import LaplaceNoise
from duffdp.research.baselines.noise import NoiseLaw
from duffdp.research.sensitivity.profile import Sensitivity


class ProposeTestRelease:
    """Propose a sensitivity, test whether the data are far from exceeding it, and only then
    release: a baseline.

    Parameters
    ----------
    epsilon, delta
        The privacy loss; delta between 0 and 1/2.
    eta
        The proposed sensitivity, public, above 0.
    test
        The share of epsilon for the test, between 0 and 1; the rest scales the noise.

    Privacy
    -------
    (epsilon, delta)-differential privacy in real arithmetic: k*, the least distance at which the
    local sensitivity exceeds eta, changes by at most 1 between neighbours; without the right to
    reply, a reply has probability delta. Draws are floating point and not for release.

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
        self.epsilon = float(read_epsilon(epsilon))
        self.delta = read_number("delta", delta, 0, 0.5, 1e-6)
        self.eta = read_number("eta", eta, 0, math.inf, 1)
        share = read_number("test", test, 0, 1, 0.5)
        self._test, self._noise = share * self.epsilon, (1 - share) * self.epsilon
        self._threshold = -math.log(2 * self.delta) / self._test

    @property
    def guarantee(self) -> str:
        """What the real-valued mechanism satisfies, and that its floating-point draws do not."""
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
        """The law of the clipped output, given that there is one."""
        return NoiseLaw(
            sensitivity.value, self.eta / self._noise, LaplaceNoise(), sensitivity.bounds
        )

    def draw(self, sensitivity: Sensitivity, size: int | None = None, rng: object = None) -> Any:
        """One clipped output or None for no reply; with `size` a masked array. Floating point: not
        for release.
        """
        source = generator(rng)
        many = how_many(size)
        silent = source.random(many) >= self.reply_probability(sensitivity)
        noisy = sensitivity.value + self.eta / self._noise * source.laplace(size=many)
        draws = np.ma.masked_array(np.clip(noisy, *sensitivity.bounds), mask=silent)
        if size is not None:
            return draws
        return None if silent[0] else float(draws[0])

    def __repr__(self) -> str:
        return (
            f"ProposeTestRelease(epsilon={self.epsilon:g}, delta={self.delta:g}, eta={self.eta:g})"
        )
