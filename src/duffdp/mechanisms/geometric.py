"""Two-sided geometric noise for whole numbers.

Promise: The probability of the noise falls by exp(-epsilon / sensitivity) with each whole number.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from duffdp._evidence import Evidence, Totals
from duffdp._privacy import LossFamily
from duffdp._sampling.entropy import Entropy
from duffdp._sampling.integer_noise import two_sided_geometrics
from duffdp.mechanisms.mechanism import Mechanism
from duffdp.mechanisms.noise_errors import GeometricErrors


class Geometric(GeometricErrors, Mechanism):
    """Two-sided geometric noise on whole numbers: k has a probability proportional to exp(-epsilon
    |k| / sensitivity).

    Parameters
    ----------
    epsilon
        The privacy loss.

    Privacy
    -------
    Pure epsilon-differential privacy for neighbors whose numbers differ by at most `sensitivity`,
    all differences added up. For one count the loss is that of randomized response. It is not
    bounded-range (see `duffdp.Loss`): do not account for it as (epsilon^2 / 8)-zCDP. Draws are
    exact (`tests/mechanisms/geometric_test.py`).

    Utility
    -------
    The error of each number is about sensitivity / epsilon. For one count it is optimal for every
    reader with a prior (Ghosh et al.).

    Runtime
    -------
    One or two random words and a logarithm per number, all numbers at once.

    References
    ----------
    Ghosh, Roughgarden and Sundararajan, "Universally utility-maximizing privacy mechanisms" (STOC
    2009).

    Examples
    --------
    >>> import duffdp
    >>> [round(duffdp.mechanisms.Geometric(1.0).probability(2, x), 3) for x in range(5)]
    [0.063, 0.17, 0.462, 0.17, 0.063]
    """

    name: ClassVar[str] = "two-sided-geometric"
    loss_family: ClassVar[LossFamily] = "geometric"

    def release(
        self, groups: Sequence[Sequence[int]], sensitivity: int, source: Entropy
    ) -> list[list[int]]:
        """The noisy numbers of each group; one record moves those of its group by at most
        `sensitivity` in all.
        """
        scaled = self._epsilon / sensitivity
        noise = iter(two_sided_geometrics(scaled, sum(map(len, groups)), source))
        return [[total + next(noise) for total in totals] for totals in groups]

    def numbers(self, evidence: Evidence, source: Entropy) -> list[Sequence[int]]:
        """A column for each number, with noise for every group."""
        assert isinstance(evidence, Totals)
        return list(zip(*self.release(evidence.numbers, evidence.sensitivity, source), strict=True))
