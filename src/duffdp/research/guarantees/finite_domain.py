"""How far the exponential mechanism errs on a finite domain."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from duffdp.domain import Grid
from duffdp.errors import UnsupportedData
from duffdp.mechanisms.exponential import Exponential
from duffdp.parameters import read_number
from duffdp.steps import StepFunction


def finite_domain_error_within(
    steps: StepFunction, value: float, epsilon: Any, eta: float
) -> float:
    """A bound on the error that holds with probability 1 - eta, from the number N of candidates.

    The farthest candidate within floor(log(N / eta) / c) records of the best one, c being epsilon /
    2: simpler and tighter than the bounds by smooth sensitivity.

    Parameters
    ----------
    steps
        The distance of every candidate of a grid.
    value
        The statistic of the data set.
    epsilon
        The privacy loss.
    eta
        The probability of a larger error, between 0 and 1.

    Returns
    -------
    float
        The error, in the unit of the candidates.

    Privacy
    -------
    Not private: it depends on the data without noise.

    References
    ----------
    Asi and Duchi, "Near instance-optimality in differential privacy" (2020), section 3.

    Examples
    --------
    >>> import duffdp
    >>> steps = duffdp.statistics.Median().steps(range(1000), duffdp.Grid(0, 1000, 1))
    >>> duffdp.research.guarantees.finite_domain_error_within(steps, 499, 1.0, 0.05)
    10.0
    """
    if not isinstance(steps.domain, Grid):
        raise UnsupportedData(
            "an error bound needs ordered candidates, got categories. Use law(steps).tail()."
        )
    chance = read_number("eta", eta, 0, 1, 0.05)
    c = float(Exponential(epsilon).coefficient(steps))
    reach = math.floor(math.log(steps.domain.size / chance) / c)
    near = steps.distance <= steps.distance.min() + reach
    place = steps.domain.place(value)
    first, last = steps.start[near] - place, (steps.start + steps.count - 1)[near] - place
    return float(max(np.abs(first).max(), np.abs(last).max()) * steps.domain.spacing)
