"""The exponential mechanism over the gaps between records, by rank: a baseline."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from duffdp.domain import Grid
from duffdp.engines.arrays import Column, read
from duffdp.mechanisms.exponential import Exponential
from duffdp.parameters import read_q
from duffdp.steps import StepFunction, merged


class RankExponential(Exponential):
    """The exponential mechanism with the score |i - q n|, i the number of records below a
    candidate: a baseline.

    Between distinct records the score is that of `Quantile(q, utility="rank")`, the paper's u_2; at
    tied records it is not, and the release verbs use the latter. A baseline for comparison, though
    its draws are as exact as those of `Exponential`.

    Parameters
    ----------
    epsilon
        The privacy loss.
    q
        From 0 to 1, read as the decimal that was written.

    Privacy
    -------
    Pure epsilon-differential privacy for neighbours that differ in one record: it moves i by 0 or 1
    and q n by q, so the score by at most max(q, 1 - q).

    References
    ----------
    Smith, "Privacy-preserving statistical estimation with optimal convergence rates" (STOC 2011),
    algorithm 2.

    Examples
    --------
    >>> import duffdp
    >>> mechanism = duffdp.research.baselines.RankExponential(1.0, q=0.5)
    >>> steps = mechanism.steps([1, 2, 2, 3], duffdp.Grid(0, 4, 1))
    >>> [round(mechanism.law(steps).probability(x), 3) for x in range(5)]
    [0.119, 0.119, 0.322, 0.322, 0.119]
    """

    name = "rank-exponential"

    def __init__(self, epsilon: Any, q: Any = Fraction(1, 2)) -> None:
        super().__init__(epsilon)
        self.q = read_q(q)

    @property
    def guarantee(self) -> str:
        """What the mechanism satisfies."""
        return f"pure {self.epsilon:g}-differential privacy over add/remove neighbours; exact draws"

    def steps(self, values: Any, domain: Grid) -> StepFunction:
        """The score of every candidate of the domain."""
        index, count = Column(read(values), domain).tally()
        p, m = self.q.numerator, self.q.denominator
        start = np.concatenate([[0], index + 1])
        size = np.diff(start, append=domain.size)
        below = np.concatenate([[0], np.cumsum(count)])
        distance = np.abs(m * below - p * int(count.sum()))
        return StepFunction(domain, *merged(start, size, distance), Fraction(1, max(p, m - p)))
