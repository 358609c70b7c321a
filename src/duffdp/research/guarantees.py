"""The paper's theorems as functions, and the exact error beside them.

Not private: they read the data. The theorems need a statistic with one value for each data set:
medians, quantiles and means, not modes, which may be tied.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from duffdp._optional import load
from duffdp._parameters import read_number
from duffdp._steps import StepFunction
from duffdp.domain import Grid
from duffdp.errors import DuffError, UnsupportedData
from duffdp.mechanisms.exponential import Exponential
from duffdp.research.baselines import SmoothCauchy
from duffdp.research.sensitivity import Sensitivity

__all__ = [
    "cauchy_error_within",
    "error_probability",
    "error_within",
    "exact_error_within",
    "finite_domain_error_within",
    "growth_constant",
    "inverse_smoothing",
    "utility_loss_probability",
]


class Tailed(Protocol):
    """A distribution with a tail: `Law`, `NoiseLaw`, `ErrorExponentialLaw`."""

    def tail(self, target: Any, t: float) -> float:
        """Probability of an error of more than t."""


def exact_error_within(law: Tailed, target: Any, eta: float) -> float:
    """The least error that an output stays within with probability 1 - eta, exactly.

    Parameters
    ----------
    law
        The explicit output distribution of a mechanism.
    target
        The statistic of the data set.
    eta
        The probability of a larger error, between 0 and 1.

    Returns
    -------
    float
        The error, in the unit of the candidates.

    Privacy
    -------
    Not private: it depends on the data without noise.

    Runtime
    -------
    A bisection over the tail, about 60 sums over the runs.

    References
    ----------
    Gillenwater and Munoz Medina, "Duff" (NeurIPS 2020), section 5: the output distribution as a sum
    over level sets.

    Examples
    --------
    >>> import duffdp
    >>> steps = duffdp.statistics.Median().steps(range(1000), duffdp.Grid(0, 1000, 1))
    >>> law = duffdp.mechanisms.Exponential(1.0).law(steps)
    >>> round(duffdp.research.guarantees.exact_error_within(law, 499, 0.05), 6)
    3.0
    """
    return least_error(lambda t: law.tail(target, t), read_number("eta", eta, 0, 1, 0.05))


def least_error(tail: Callable[[float], float], eta: float) -> float:
    """The least t with `tail(t) <= eta`, to twelve digits."""
    if tail(0.0) <= eta:
        return 0.0
    low, high = 0.0, 1.0
    while tail(high) > eta:
        low, high = high, 4 * high
        if high > 1e300:
            raise DuffError(
                "no finite error has this probability: the law has no bounds. Pass a sensitivity "
                "with finite bounds."
            )
    while tail(high / 4) <= eta:
        high /= 4
    while high - low > 1e-12 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if tail(middle) > eta else (low, middle)
    return high


def utility_loss_probability(steps: StepFunction, epsilon: Any, t: float) -> float:
    """A bound on the probability that the output is more than t further away than the best
    candidate.

    For the exponential mechanism and N candidates it is N / #{d < best + t/2} * exp(-c t / 2), or 1
    if this is larger. Here c is that of `Exponential`, and #{d < x} is the number of candidates
    nearer than x.

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
    close_candidates = int(steps.count[steps.distance < steps.distance.min() + loss / 2].sum())
    return float(min(1.0, steps.domain.size / close_candidates * np.exp(-c * loss / 2)))


def finite_domain_error_within(
    steps: StepFunction, value: float, epsilon: Any, eta: float
) -> float:
    """A bound on the error that holds with probability 1 - eta, from the number N of candidates.

    The bound is the distance to the farthest candidate within floor(log(N / eta) / c) records of
    the best one, where c is epsilon / 2. It needs no smooth sensitivity.

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
    close = steps.distance <= steps.distance.min() + reach
    place = steps.domain.place(value)
    first, last = steps.start[close] - place, (steps.start + steps.count - 1)[close] - place
    return float(max(np.abs(first).max(), np.abs(last).max()) * steps.domain.spacing)


def inverse_smoothing(sensitivity: Sensitivity, ratio: float) -> float:
    """The paper's beta*: the beta at which SS_beta / beta equals `ratio`, where SS_beta is the
    beta-smooth sensitivity. The quotient falls from infinity to 0.

    Parameters
    ----------
    sensitivity
        The sensitivity of the statistic at the data set; not 0 everywhere.
    ratio
        The quotient to reach, above 0.

    Returns
    -------
    float
        The beta.

    Privacy
    -------
    Not private: it depends on the data without noise.

    Runtime
    -------
    One pass over the sensitivities for their concave hull, and one value of Lambert's function.

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
    """The largest C with #{d <= t} >= C t for all real t from 1 to the largest distance, where #{d
    <= t} is the number of candidates at distance t or less.

    The paper asks for all t, but only one candidate has distance 0. For n evenly spaced records in
    [a, b], the paper's constant 2 (b - a) / n is too large. Each unit of t adds one gap between
    records, of length (b - a) / (n + 1). So just below t = 2, the constant is at most half a gap.

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
    largest = max(int(steps.distance.max()), 1)
    within = np.cumsum(np.bincount(steps.distance, weights=steps.count, minlength=largest + 1))[
        1 : largest + 1
    ]
    # Between whole distances the count stands still while t grows to the next; at the last one t
    # ends.
    interval_ends = np.append(np.arange(2, largest + 1), largest)
    return float((within / interval_ends).min())


def error_probability(
    steps: StepFunction, sensitivity: Sensitivity, epsilon: Any, t: float
) -> float:
    """A bound on the probability of an error above t (the paper's Theorem 1), at most 1.

    The bound is 2 N exp(-c g) / #{d <= g} for N candidates, with c = epsilon / 2 and g = 1 / (2
    beta*(t / (e - 1))). Here #{d <= g} is the number of candidates at distance g or less, and beta*
    is `inverse_smoothing`.

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
    close_candidates = steps.within(reach)
    return (
        min(1.0, 2 * steps.domain.size * math.exp(-c * reach) / close_candidates)
        if close_candidates
        else 1.0
    )


def error_within(steps: StepFunction, sensitivity: Sensitivity, epsilon: Any, eta: float) -> float:
    """A bound on the error that holds with probability 1 - eta (the paper's Corollary 1).

    The bound is (e - 1) SS_beta / beta, where SS_beta is the beta-smooth sensitivity. Here beta = c
    / (2 W(2 c N / (C eta))) with c = epsilon / 2, N candidates, Lambert's function W, and C from
    `growth_constant`. If beta exceeds 1/2, where C has no guarantee, 1/2 is used, which is valid
    too. The result is at most the distance to the farther bound.

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


def cauchy_error_within(sensitivity: Sensitivity, epsilon: Any, eta: float) -> float:
    """The error that `SmoothCauchy(epsilon)` stays within with probability 1 - eta, before
    clipping.

    The error is exactly 6 SS_beta / epsilon * tan(pi (1 - eta) / 2), where SS_beta is the
    beta-smooth sensitivity and beta = epsilon / 6. It is of order 1 / eta.

    Parameters
    ----------
    sensitivity
        The sensitivity of the statistic at the data set.
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
