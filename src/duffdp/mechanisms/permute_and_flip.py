"""Permute-and-flip.

Promise: Candidates race with exponential noise; this is epsilon-differentially private for
distances whose changes are within 1 / rate of each other.
"""

from __future__ import annotations

from duffdp._steps import StepFunction, Windows
from duffdp.domain import Floats
from duffdp.mechanisms._log_weights import (
    permute_and_flip_log_weights,
    permute_and_flip_masses,
)
from duffdp.mechanisms.mechanism import DistanceMechanism


class PermuteAndFlip(DistanceMechanism):
    """Mechanism that reports the candidate with the least `c d - noise`, where d is its distance
    and the noise is exponential.

    Its expected distance is at most that of the exponential mechanism at the same epsilon, and
    smaller on coarse domains.

    Parameters
    ----------
    epsilon
        The privacy loss; c is `steps.rate * steps.unit * epsilon` as for `Exponential`.

    Privacy
    -------
    Pure epsilon-differential privacy for neighbors that differ in one record. Its privacy loss is
    at most that of Laplace noise. It is not bounded-range (see `duffdp.Loss`): do not account for
    it as (epsilon^2 / 8)-zCDP. The domain is public. Draws are exact
    (`tests/guarantees/neighbours_test.py`, `tests/guarantees/dominating_pairs_test.py`,
    `tests/sampling/race_test.py`).

    Utility
    -------
    `law(steps)` gives the exact error.

    Runtime
    -------
    One random word and three logarithms per run.

    References
    ----------
    McKenna and Sheldon, "Permute-and-flip: a new mechanism for differentially private selection"
    (NeurIPS 2020). Ding, Kifer, Steinke, Wang, Xiao and Zhang, "The permute-and-flip mechanism is
    identical to report-noisy-max with exponential noise" (2021).

    Examples
    --------
    >>> import duffdp
    >>> steps = duffdp.statistics.Median().steps([1, 2, 2, 3], duffdp.Grid(0, 4, 1))
    >>> round(duffdp.mechanisms.PermuteAndFlip(1.0).law(steps).probability(2), 3)
    0.664
    """

    name = "permute-and-flip"
    loss_family = "laplace"

    def _log_weight(self, steps: StepFunction, c: float) -> Floats:
        return permute_and_flip_log_weights(steps, c)

    def masses(self, windows: Windows) -> Floats:
        """The probability of every run of several whole step functions, computed together, which is
        up to thirty times as fast.
        """
        return permute_and_flip_masses(windows, float(self.coefficient(windows)))
