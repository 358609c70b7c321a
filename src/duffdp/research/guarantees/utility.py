"""How much utility the exponential mechanism loses."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from duffdp.mechanisms.exponential import Exponential
from duffdp.parameters import read_number
from duffdp.steps import StepFunction


def utility_loss_probability(steps: StepFunction, epsilon: Any, t: float) -> float:
    """A bound on the probability that the output is more than t further away than the best
    candidate.

    For the exponential mechanism: N / #{d < best + t/2} * exp(-c t / 2) with N candidates, at most
    1.

    Parameters
    ----------
    steps
        The distance, or any other score, of every candidate.
    epsilon
        The privacy loss.
    t
        The loss of utility, above 0, in the unit of the score.

    Returns
    -------
    float
        The probability, at most 1.

    Privacy
    -------
    Not private: it depends on the data without noise.

    References
    ----------
    McSherry and Talwar, "Mechanism design via differential privacy" (FOCS 2007). Gillenwater and
    Munoz Medina, "Duff" (NeurIPS 2020), proposition 4.

    Examples
    --------
    >>> import duffdp
    >>> steps = duffdp.statistics.Median().steps(range(100), duffdp.Grid(0, 99, 1))
    >>> round(duffdp.research.guarantees.utility_loss_probability(steps, 1.0, 20), 4)
    0.0674
    """
    loss = read_number("t", t, 0, math.inf, 10) / float(steps.unit)
    c = float(Exponential(epsilon).coefficient(steps))
    near = int(steps.count[steps.distance < steps.distance.min() + loss / 2].sum())
    return float(min(1.0, steps.domain.size / near * np.exp(-c * loss / 2)))
