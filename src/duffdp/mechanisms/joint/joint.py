"""The joint exponential mechanism for several quantiles."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, ClassVar

from duffdp.loss_family import LossFamily
from duffdp.mechanisms.joint.proposal import RARE, Proposal, nats_outside, needed_nats
from duffdp.parameters import read_epsilon
from duffdp.rank_profile import RankProfile
from duffdp.sampling.entropy import Entropy

MOST_EPSILON = Fraction(64)  # a rank is then missed one time in e**32: more would only take longer
MOST_RANKS = 2**21  # a window never holds more ranks to a side


class Joint:
    """Sorted places t_1 <= ... <= t_m for several quantiles, and a size s, by one exponential
    mechanism.

    The score of (s, t) is `sum over gaps of |records in the gap - s * share of the gap|`, and the
    probability is proportional to `exp(-epsilon/2 * score)`, over all sorted places in the domain
    and all s that are multiples of 16 / epsilon. Records at one value are spread over the width of
    their candidate, so that a gap may begin within a tie.

    Parameters
    ----------
    epsilon
        The privacy loss for all quantiles together; above 64 the law is that of 64.

    Privacy
    -------
    Pure epsilon-differential privacy for neighbours that differ in one record, and epsilon-bounded
    range. For any fixed (s, t) a record that joins adds 1 in all to the gaps, so the score moves by
    at most 1. With s held at the true number of records, as published, every gap moves and the
    score by up to `2 (1 - smallest share)`: making s part of the output nearly halves the noise
    (`tests/joint_test.py` enumerates both).

    Utility
    -------
    Deciles err by about 3.5 / epsilon ranks, whatever the number of records.

    Runtime
    -------
    About 50 forward passes over windows of a few hundred ranks for deciles at epsilon 1; ties
    change this little.

    References
    ----------
    Gillenwater, Joseph and Kulesza, "Differentially private quantiles" (ICML 2021): the score with
    s = n and its forward pass. `docs/several-quantiles.md`: the free size, ties, windows and the
    exact draw.

    Examples
    --------
    >>> from duffdp.engines.arrays import Column, read
    >>> from duffdp.sampling.entropy import entropy
    >>> import duffdp
    >>> column = Column(read(range(1000)), duffdp.Grid(0, 999, 1))
    >>> profile = duffdp.statistics.Quantiles([0.25, 0.75]).profile(column, reach=100)
    >>> duffdp.mechanisms.Joint(5.0).release(profile, entropy(1))
    [250, 750]
    """

    name: ClassVar[str] = "joint-exponential"
    loss_family: ClassVar[LossFamily] = "bounded-range"

    def __init__(self, epsilon: Any) -> None:
        self._asked = read_epsilon(epsilon)
        self._epsilon = min(self._asked, MOST_EPSILON)
        self.epsilon = float(self._asked)

    def first_reach(self, m: int, length: int) -> int:
        """How many ranks to a side to ask for: wide enough for m quantiles of evenly spread
        records, about `length` of them.
        """
        return self._reach(m * math.log(length + 2) - math.lgamma(m + 1) + RARE)

    def wider_reach(self, profile: RankProfile) -> int | None:
        """How many ranks to ask for instead, so that the tail is hardly ever visited; None if the
        profile is wide enough.

        Any profile gives the same law: this is about time alone.
        """
        needed, outside = needed_nats(profile, self._epsilon), nats_outside(profile, self._epsilon)
        wider = self._reach(needed)
        enough = outside >= needed - RARE / 2 * math.log(2)
        return None if enough or wider <= profile.reach else wider

    def release(self, profile: RankProfile, source: Entropy) -> list[int]:
        """The indices of one candidate for each of the sorted shares of the profile."""
        return self.proposal(profile).release(source)

    def proposal(self, profile: RankProfile) -> Proposal:
        """The law over sizes and places, ready to be drawn from: not private."""
        return Proposal.fitting(profile, self._epsilon)

    def _reach(self, nats: float) -> int:
        return min(math.ceil(2 * nats / float(self._epsilon)) + 1, MOST_RANKS)

    def __repr__(self) -> str:
        return f"Joint(epsilon={self.epsilon:g})"
