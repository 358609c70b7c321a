"""How far Cauchy noise scaled to smooth sensitivity errs."""

from __future__ import annotations

from typing import Any

from duffdp.parameters import read_number
from duffdp.research.baselines.smooth_cauchy import SmoothCauchy
from duffdp.research.sensitivity.profile import Sensitivity


def cauchy_error_within(sensitivity: Sensitivity, epsilon: Any, eta: float) -> float:
    """The error that `SmoothCauchy(epsilon)` stays within with probability 1 - eta, before
    clipping.

    6 SS / epsilon * tan(pi (1 - eta) / 2) with beta = epsilon / 6: exact, and of order 1 / eta.

    Parameters
    ----------
    sensitivity
        Of the statistic at the data set.
    epsilon
        The privacy loss.
    eta
        The probability of a larger error, between 0 and 1.

    Returns
    -------
    float
        The error, in the unit of the statistic.

    Privacy
    -------
    Not private: it depends on the data without noise.

    References
    ----------
    Gillenwater and Munoz Medina, "Duff" (NeurIPS 2020), proposition 8 in the appendix.

    Examples
    --------
    >>> import duffdp
    >>> spread = duffdp.research.sensitivity.median(range(1000), duffdp.Grid(0, 1000, 1))
    >>> within = duffdp.research.guarantees.cauchy_error_within
    >>> [round(within(spread, 1.0, eta)) for eta in (0.1, 0.01)]
    [99, 996]
    """
    scale, noise = SmoothCauchy(epsilon).fit(sensitivity)
    return scale * noise.quantile_of_tail(read_number("eta", eta, 0, 1, 0.05))
