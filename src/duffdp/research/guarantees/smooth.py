"""How far the exponential mechanism with a dataset distance errs, in terms of smooth sensitivity.

The theorems need a statistic with one value for each data set: medians, quantiles and means, not
modes, which may be tied.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from duffdp.errors import DuffError
from duffdp.mechanisms.exponential import Exponential
from duffdp.optional import load
from duffdp.parameters import read_number
from duffdp.research.sensitivity.profile import Sensitivity
from duffdp.steps import StepFunction


def inverse_smoothing(sensitivity: Sensitivity, ratio: float) -> float:
    """The paper's beta*: the beta at which SS_beta / beta, which falls from infinity to 0, equals
    `ratio`.

    Parameters
    ----------
    sensitivity
        Of the statistic at the data set; not 0 everywhere.
    ratio
        Above 0.

    Returns
    -------
    float
        The beta.

    Privacy
    -------
    Not private: it depends on the data without noise.

    Runtime
    -------
    The hull of the sensitivities; then Lambert's W on the one line that is on top.

    References
    ----------
    Gillenwater and Munoz Medina, "Duff" (NeurIPS 2020), section 4.2.

    Examples
    --------
    >>> import duffdp
    >>> spread = duffdp.research.sensitivity.median(range(1, 100), duffdp.Grid(0, 100, 1))
    >>> beta = duffdp.research.guarantees.inverse_smoothing(spread, 30.0)
    >>> round(spread.smooth(beta) / beta, 6)
    30.0
    """
    if sensitivity.global_ == 0:
        raise DuffError(
            "the sensitivity is 0 everywhere, so there is no beta to find. Pass a domain of at "
            "least two candidates."
        )
    aim = math.log(read_number("ratio", ratio, 0, math.inf, 1))
    hull = sensitivity.hull
    with np.errstate(
        divide="ignore"
    ):  # a flat last line is on top down to beta = 0, where the ratio is infinite
        at_corner = hull.log_smooth(-hull.falling) - np.log(-hull.falling)
    top = int((at_corner < aim).sum())
    distance, excess = float(hull.distance[top]), float(hull.log_level[top]) - aim
    if distance == 0:
        return math.exp(excess)
    # distance * beta + log(beta) = excess
    return (
        float(load("scipy.special", "research").wrightomega(excess + math.log(distance)).real)
        / distance
    )


def _check_distance(steps: StepFunction) -> None:
    if steps.unit != 1 or steps.distance.min() < 0:
        raise DuffError(
            "this needs a dataset distance, got another score. Use a statistic with "
            'utility="distance".'
        )


def growth_constant(steps: StepFunction) -> float:
    """The largest C with #{d <= t} >= C t for all real t from 1 to the largest distance.

    The paper asks for all t, but distance 0 is a single candidate; and its value for evenly spaced
    records, 2 (b - a) / n, is too large: one gap of length (b - a) / (n + 1) is gained per unit of
    t, so just below t = 2 it is half a gap.

    Parameters
    ----------
    steps
        The distance of every candidate.

    Returns
    -------
    float
        In candidates; times the step of a grid it is a length.

    Privacy
    -------
    Not private: it depends on the data without noise.

    References
    ----------
    Gillenwater and Munoz Medina, "Duff" (NeurIPS 2020), corollary 1.

    Examples
    --------
    >>> import duffdp
    >>> steps = duffdp.statistics.Median().steps(range(10, 100, 10), duffdp.Grid(0, 100, 1))
    >>> duffdp.research.guarantees.growth_constant(steps)
    5.5
    """
    _check_distance(steps)
    most = max(int(steps.distance.max()), 1)
    within = np.cumsum(np.bincount(steps.distance, weights=steps.count, minlength=most + 1))[
        1 : most + 1
    ]
    # Between whole distances the count stands still while t grows to the next; at the last one t
    # ends.
    upto = np.append(np.arange(2, most + 1), most)
    return float((within / upto).min())


def error_probability(
    steps: StepFunction, sensitivity: Sensitivity, epsilon: Any, t: float
) -> float:
    """A bound on the probability that the output errs by more than t (the paper's Theorem 1), at
    most 1.

    With g = 1 / (2 beta*(t / (e - 1))): 2 N exp(-c g) / #{d <= g}, where c is epsilon / 2 and N the
    number of candidates.

    Parameters
    ----------
    steps, sensitivity
        The distance of every candidate and the sensitivity, of one statistic at one data set: a
        quantile or a mean.
    epsilon
        The privacy loss.
    t
        The error, above 0.

    Returns
    -------
    float
        The probability, at most 1.

    Privacy
    -------
    Not private: it depends on the data without noise.

    Utility
    -------
    Loose; `Exponential(epsilon).law(steps).tail(value, t)` is exact.

    References
    ----------
    Gillenwater and Munoz Medina, "Duff" (NeurIPS 2020), theorem 1.

    Examples
    --------
    >>> import duffdp
    >>> grid = duffdp.Grid(0, 1000, 1)
    >>> steps = duffdp.statistics.Median().steps(range(1000), grid)
    >>> spread = duffdp.research.sensitivity.median(range(1000), grid)
    >>> round(duffdp.research.guarantees.error_probability(steps, spread, 4.0, 100), 4)
    0.0016
    """
    _check_distance(steps)
    c = float(Exponential(epsilon).coefficient(steps))
    reach = 1 / (
        2 * inverse_smoothing(sensitivity, read_number("t", t, 0, math.inf, 1) / (math.e - 1))
    )
    near = steps.within(reach)
    return min(1.0, 2 * steps.domain.size * math.exp(-c * reach) / near) if near else 1.0


def error_within(steps: StepFunction, sensitivity: Sensitivity, epsilon: Any, eta: float) -> float:
    """A bound on the error that holds with probability 1 - eta (the paper's Corollary 1).

    (e - 1) SS_beta / beta with beta = c / (2 W(2 c N / (C eta))), c = epsilon / 2, W Lambert's
    function and C from `growth_constant`. Where beta exceeds 1/2, for which C promises nothing, 1/2
    is taken, which is valid too. Never more than the distance to the farther bound.

    Parameters
    ----------
    steps, sensitivity, epsilon
        As for `error_probability`.
    eta
        The probability of a larger error, between 0 and 1.

    Returns
    -------
    float
        The error, in the unit of the candidates.

    Privacy
    -------
    Not private: it depends on the data without noise.

    Utility
    -------
    Loose; `exact_error_within` is exact.

    References
    ----------
    Gillenwater and Munoz Medina, "Duff" (NeurIPS 2020), corollary 1.

    Examples
    --------
    >>> import duffdp
    >>> grid = duffdp.Grid(0, 1000, 1)
    >>> steps = duffdp.statistics.Median().steps(range(1000), grid)
    >>> spread = duffdp.research.sensitivity.median(range(1000), grid)
    >>> round(duffdp.research.guarantees.error_within(steps, spread, 4.0, 0.05), 1)
    58.2
    """
    chance = read_number("eta", eta, 0, 1, 0.05)
    c = float(Exponential(epsilon).coefficient(steps))
    farthest = max(
        sensitivity.value - sensitivity.bounds[0], sensitivity.bounds[1] - sensitivity.value
    )
    constant = growth_constant(steps)
    if constant == 0:
        return farthest
    log_argument = math.log(2 * c * steps.domain.size) - math.log(constant * chance)
    lambert = float(load("scipy.special", "research").wrightomega(log_argument).real)
    beta = min(c / (2 * lambert), 0.5)
    return min((math.e - 1) * float(sensitivity.smooth(beta)) / beta, farthest)
