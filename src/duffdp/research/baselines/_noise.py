"""Additive noise around the true value, scaled to a sensitivity and clipped to the bounds: the
shared part of the baselines. Draws are floating point, for comparison and never for release.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, Protocol

import numpy as np
import numpy.typing as npt

from duffdp._parameters import EPSILON, read_number
from duffdp.errors import DuffError
from duffdp.research.sensitivity import Sensitivity

Floats = npt.NDArray[np.float64]
SEARCH_GRID = np.linspace(0, 1, 21)
SEARCH_ROUNDS = 4  # of a search, each of which narrows the range to a tenth
MIN_SCALE = 1e-250  # of a scale: errors over it stay finite


def draw_count(size: object) -> int:
    """The number of draws for a `size` argument: one for None."""
    if size is None:
        return 1
    if isinstance(size, int | np.integer) and not isinstance(size, bool) and size >= 0:
        return int(size)
    raise DuffError(f"size must be None or a whole number of 0 or more, got {size!r}.")


def generator(rng: object = None) -> np.random.Generator:
    """The generator for an `rng` argument: fresh for None, else from a seed or as given."""
    if isinstance(rng, np.random.Generator):
        return rng
    if rng is None or (
        isinstance(rng, int | np.integer) and not isinstance(rng, bool) and rng >= 0
    ):
        return np.random.default_rng(None if rng is None else int(rng))
    raise DuffError(
        f"rng must be None, a seed of 0 or more or a numpy.random.Generator, got {rng!r}."
    )


class NoiseShape(Protocol):
    """A symmetric distribution of unit scale around 0."""

    def density(self, z: Floats) -> Floats:
        """Density at z."""

    def tail(self, z: Floats) -> Floats:
        """P(|Z| > z) for z of 0 or more."""

    def quantile_of_tail(self, p: float) -> float:
        """The z with P(|Z| > z) = p."""

    def clipped_mean(self, r: float) -> float:
        """E min(|Z|, r); for an infinite r the mean of |Z|."""

    def draw(self, rng: np.random.Generator, size: int) -> Floats:
        """Independent values."""


class NoiseLaw:
    """The distribution of `value + scale Z`, clipped to the bounds.

    Parameters
    ----------
    value, scale, noise, bounds
        Center, scale above 0, shape of Z, and the range to which outputs are clipped.

    Methods
    -------
    density, interval, expected_error, tail

    Privacy
    -------
    Not private: it depends on the data without noise. For planning on public data, for tests and
    for research.

    References
    ----------
    Gillenwater and Munoz Medina, "Duff" (NeurIPS 2020), section 6.1, on clipping.

    Examples
    --------
    >>> import duffdp
    >>> spread = duffdp.research.sensitivity.median([1, 2, 4, 7], duffdp.Grid(0, 10, 1))
    >>> law = duffdp.research.baselines.Laplace(1.0).law(spread)
    >>> round(law.expected_error(2), 3), round(law.tail(2, 5), 3), law.interval(0.9)
    (3.66, 0.303, (0.0, 10.0))
    """

    def __init__(
        self,
        value: float,
        scale: float,
        noise: NoiseShape,
        bounds: tuple[float, float] = (-math.inf, math.inf),
    ) -> None:
        self.value, self.scale, self.noise, self.bounds = (
            value,
            max(scale, MIN_SCALE),
            noise,
            bounds,
        )

    def density(self, x: Any) -> Floats:
        """Density inside the bounds. The clipped outputs add a point mass at each bound."""
        return (
            self.noise.density((np.asarray(x, dtype=np.float64) - self.value) / self.scale)
            / self.scale
        )

    def expected_error(self, target: float) -> float:
        """Expected distance between the clipped output and `target`; inf for a heavy tail without
        bounds.
        """
        low, high = self.bounds
        return self._expected_excess(
            target - self.value, high - self.value
        ) + self._expected_excess(self.value - target, self.value - low)

    def _expected_excess(self, offset: float, room: float) -> float:
        """Integral of P(output - value > x) from x = offset to the bound."""
        full = self._half(room)
        if offset >= room:
            return 0.0
        return full - self._half(offset) if offset >= 0 else full - offset - self._half(-offset)

    def _half(self, x: float) -> float:
        """Integral of P(output - value > u) from 0 to x."""
        return self.scale * self.noise.clipped_mean(x / self.scale) / 2

    def tail(self, target: float, t: float) -> float:
        """Probability that the clipped output is more than `t` away from `target`."""
        low, high = self.bounds
        over = 0.0 if target + t >= high else self._tail_beyond(target + t - self.value)
        under = 0.0 if target - t <= low else self._tail_beyond(self.value - target + t)
        return over + under

    def _tail_beyond(self, x: float) -> float:
        half = float(self.noise.tail(np.asarray(abs(x) / self.scale))) / 2
        return half if x >= 0 else 1 - half

    def interval(self, confidence: float) -> tuple[float, float]:
        """Two numbers that enclose the output with at least this probability and equal tails."""
        reach = self.scale * self.noise.quantile_of_tail(
            1 - read_number("confidence", confidence, 0, 1, 0.95)
        )
        low, high = self.bounds
        return max(self.value - reach, low), min(self.value + reach, high)


class NoiseMechanism(ABC):
    """A baseline that adds noise scaled to a sensitivity. Draws are floating point: for comparison,
    not for release.

    Methods
    -------
    law, draw, guarantee
    """

    name: ClassVar[str]

    def __init__(self, epsilon: Any, delta: Any = None) -> None:
        self.epsilon = float(EPSILON.read(epsilon))
        self.delta = 0.0 if delta is None else read_number("delta", delta, 0, 1, 1e-6)

    @property
    def guarantee(self) -> str:
        """The guarantee of the real-valued mechanism, which its floating-point draws do not
        satisfy.
        """
        kind = f"({self.epsilon:g}, {self.delta:g})" if self.delta else f"pure {self.epsilon:g}"
        return (
            f"{kind}-differential privacy over add/remove neighbours in real arithmetic; "
            "floating-point draws, not for release"
        )

    @abstractmethod
    def fit(self, sensitivity: Sensitivity) -> tuple[float, NoiseShape]:
        """Scale and shape of the noise for a data set."""

    def law(self, sensitivity: Sensitivity) -> NoiseLaw:
        """The output distribution after clipping."""
        return NoiseLaw(sensitivity.value, *self.fit(sensitivity), sensitivity.bounds)

    def draw(self, sensitivity: Sensitivity, size: int | None = None, rng: object = None) -> Any:
        """One clipped output, or an array of `size` independent ones, in floating point and not for
        release.
        """
        law = self.law(sensitivity)
        draws = law.value + law.scale * law.noise.draw(generator(rng), draw_count(size))
        clipped = np.clip(draws, *sensitivity.bounds)
        return float(clipped[0]) if size is None else clipped

    def __repr__(self) -> str:
        delta = f", delta={self.delta:g}" if self.delta else ""
        return f"{type(self).__name__}(epsilon={self.epsilon:g}{delta})"


def tuned(
    sensitivity: Sensitivity, log_cost: Callable[[Floats], Floats], low: float, high: float
) -> float:
    """The beta between two numbers above 0 with the least `log SS_beta + log_cost(beta)`."""
    if sensitivity.global_ == 0:
        return math.sqrt(low * high)
    envelope = sensitivity.envelope
    for _ in range(SEARCH_ROUNDS):
        beta = low * (high / low) ** SEARCH_GRID
        best = int((envelope.log_smooth(beta) + log_cost(beta)).argmin())
        low, high = float(beta[max(best - 1, 0)]), float(beta[min(best + 1, len(SEARCH_GRID) - 1)])
        envelope = envelope.between(low, high)
    return float(beta[best])
