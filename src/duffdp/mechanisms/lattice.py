"""Permute-and-flip on a lattice: a more accurate mechanism for distances that are whole numbers.

Promise: A step of the noise is as large as one record can move two candidates apart.
"""

from __future__ import annotations

from duffdp._steps import StepFunction
from duffdp.domain import Floats
from duffdp.mechanisms._log_weights import lattice_log_weights
from duffdp.mechanisms.mechanism import DistanceMechanism


class Lattice(DistanceMechanism):
    """Mechanism that reports the candidate with the least `d - noise`, where d is its distance and
    the noise is on a lattice.

    Let w be exponential noise with mean 1 / epsilon, and let `rate` be that of the step function.
    The noise is `floor(w) / rate + (w - floor(w))`: a multiple of 1 / rate, and a part that breaks
    ties. One record changes the difference of two distances by at most 1 / rate. Permute-and-flip
    has the noise `w / rate` instead. For rate 1 the two are the same.

    Parameters
    ----------
    epsilon
        The privacy loss.

    Privacy
    -------
    Pure epsilon-differential privacy for neighbors that differ in one record; between two
    candidates the loss is that of randomized response. It is not bounded-range (see `duffdp.Loss`):
    do not account for it as (epsilon^2 / 8)-zCDP. The domain is public. Distances must be whole
    numbers (`unit` is 1). Draws are exact (`tests/mechanisms/lattice_test.py`,
    `tests/sampling/race_test.py`).

    Utility
    -------
    Of two candidates whose distances differ by 1 / rate, it reports the farther one 1 /
    cosh(epsilon / 2) times as often as permute-and-flip. No mechanism that treats the two alike
    does so less often. `law(steps)` gives the exact error.

    Runtime
    -------
    The same as for `PermuteAndFlip`; `law` grows with 1 / epsilon.

    References
    ----------
    McKenna and Sheldon, "Permute-and-flip: a new mechanism for differentially private selection"
    (NeurIPS 2020). Geng and Viswanath, "The optimal mechanism in differential privacy" (ISIT
    2014): noise in stairs. The proof is in `docs/explanation/mechanisms.md`, "On a lattice".

    Examples
    --------
    >>> import duffdp
    >>> steps = duffdp.statistics.Median("signed").steps([1, 2, 2, 3], duffdp.Grid(0, 4, 1))
    >>> round(duffdp.mechanisms.Lattice(2.0).law(steps).probability(2), 3)
    0.972
    >>> round(duffdp.mechanisms.PermuteAndFlip(2.0).law(steps).probability(2), 3)
    0.962
    """

    name = "lattice"
    loss_family = "geometric"
    on_lattice = True

    def _log_weight(self, steps: StepFunction, c: float) -> Floats:
        return lattice_log_weights(steps, self.epsilon)
