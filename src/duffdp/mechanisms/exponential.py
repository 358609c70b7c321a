"""The exponential mechanism.

Promise: The probability of a candidate falls by exp(-c) for each step of distance.
"""

from __future__ import annotations

from duffdp._steps import StepFunction
from duffdp.domain import Floats
from duffdp.mechanisms.mechanism import DistanceMechanism


class Exponential(DistanceMechanism):
    """The exponential mechanism: a candidate at distance d has probability proportional to exp(-c
    d).

    Parameters
    ----------
    epsilon
        The privacy loss; c is `steps.rate * steps.unit * epsilon`, that is epsilon/2 for the
        paper's distances.

    Privacy
    -------
    Pure epsilon-differential privacy for neighbors that differ in one record. It is bounded-range
    (see `duffdp.Loss`). The domain is public. Draws are exact
    (`tests/guarantees/neighbours_test.py`, `tests/sampling/race_test.py`).

    Utility
    -------
    `law(steps)` gives the exact error.

    Runtime
    -------
    One random word and three logarithms per run.

    References
    ----------
    McSherry and Talwar, "Mechanism design via differential privacy" (FOCS 2007). Gillenwater and
    Munoz Medina, "Duff" (NeurIPS 2020), section 5 and Algorithm 1.

    Examples
    --------
    >>> import duffdp
    >>> steps = duffdp.statistics.Median().steps([1, 2, 2, 3], duffdp.Grid(0, 4, 1))
    >>> round(duffdp.mechanisms.Exponential(1.0).law(steps).probability(2), 3)
    0.553
    """

    name = "exponential"
    loss_family = "bounded-range"

    exponential_noise = False

    def _log_weight(self, steps: StepFunction, c: float) -> Floats:
        log_weight: Floats = -c * (steps.distance - steps.distance.min())
        return log_weight
