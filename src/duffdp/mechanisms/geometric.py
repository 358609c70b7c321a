"""Two-sided geometric noise for a count."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from duffdp.loss_family import LossFamily
from duffdp.parameters import read_epsilon
from duffdp.sampling.entropy import Entropy
from duffdp.sampling.geometric import two_sided_geometric


class Geometric:
    """A count plus a whole number k with probability proportional to exp(-epsilon |k|), and at
    least 0.

    Parameters
    ----------
    epsilon
        The privacy loss.

    Privacy
    -------
    Pure epsilon-differential privacy for neighbours whose counts differ by at most 1, and exactly
    as much as randomised response tells. Its range is not bounded: do not account it as
    (epsilon^2 / 8)-zCDP. Clamping at 0 reads no data. Draws are exact (`tests/geometric_test.py`).

    Utility
    -------
    Errs by about 1 / epsilon; no other mechanism does better for every reader who has an opinion
    before (Ghosh et al.).

    Runtime
    -------
    One random word and one logarithm.

    References
    ----------
    Ghosh, Roughgarden and Sundararajan, "Universally utility-maximizing privacy mechanisms" (STOC
    2009).

    Examples
    --------
    >>> import duffdp
    >>> [round(duffdp.mechanisms.Geometric(1.0).probability(2, x), 3) for x in range(5)]
    [0.099, 0.17, 0.462, 0.17, 0.063]
    """

    name: ClassVar[str] = "two-sided-geometric"
    loss_family: ClassVar[LossFamily] = "geometric"

    def __init__(self, epsilon: Any) -> None:
        self._epsilon = read_epsilon(epsilon)
        self.epsilon = float(self._epsilon)

    def release(self, count: int, source: Entropy) -> int:
        """The count with noise, at least 0."""
        return max(0, count + two_sided_geometric(self._epsilon, source))

    def probability(self, count: int, output: int) -> float:
        """The probability of an output for a count: not private."""
        if output < 0:
            return 0.0
        ratio = math.exp(-self.epsilon)
        away = math.exp(-self.epsilon * abs(output - count)) / (1 + ratio)
        return away if output == 0 else away * -math.expm1(-self.epsilon)

    def __repr__(self) -> str:
        return f"Geometric(epsilon={self.epsilon:g})"
