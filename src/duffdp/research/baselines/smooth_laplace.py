"""Smooth sensitivity with Laplace noise, a baseline: the paper's SmoothSens with delta > 0."""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any

import numpy as np

from duffdp.errors import DuffError
from duffdp.parameters import read_number
from duffdp.research.baselines.laplace import LaplaceNoise
from duffdp.research.baselines.noise import Noise, NoiseMechanism, tuned
from duffdp.research.sensitivity.profile import Sensitivity


class SmoothLaplace(NoiseMechanism):
    """Laplace noise scaled to the smooth sensitivity, `T + SS_beta / alpha Z`: a baseline, not for
    release.

    Parameters
    ----------
    epsilon, delta
        The privacy loss; delta between 0 and 1.
    beta
        The smoothing; alpha is then epsilon + beta - (exp(beta) - 1) log(1/delta), which must be
        above 0. None: the beta with the least SS_beta / alpha for the data set, up to the precision
        of the search; private too, because it changes the scale and not the shape of the noise.

    Privacy
    -------
    (epsilon, delta)-differential privacy in real arithmetic. Draws are floating point and can
    betray the truth by their low bits.

    Utility
    -------
    Expected error SS_beta / alpha before clipping.

    Runtime
    -------
    A search over beta that passes over all levels for the first 21 and over fewer and fewer for the
    next.

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

    def fit(self, sensitivity: Sensitivity) -> tuple[float, Noise]:
        beta = self.beta
        if beta is None:
            beta = tuned(
                sensitivity,
                lambda b: -np.log(self._alpha(b)),
                1e-4 * self._largest,
                (1 - 1e-9) * self._largest,
            )
        return sensitivity.smooth(beta) / float(self._alpha(beta)), LaplaceNoise()
