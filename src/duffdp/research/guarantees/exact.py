"""How far a mechanism with an explicit law errs: no bound, the thing itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from duffdp.errors import DuffError
from duffdp.parameters import read_number


class Tailed(Protocol):
    """A law with a tail: `Law`, `NoiseLaw`, `ErrorExponentialLaw`."""

    def tail(self, target: Any, t: float) -> float:
        """Probability of an error of more than t."""


def exact_error_within(law: Tailed, target: Any, eta: float) -> float:
    """The least error that the output of a law stays within with probability 1 - eta.

    Parameters
    ----------
    law
        The explicit law of a mechanism.
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
    Gillenwater and Munoz Medina, "Duff" (NeurIPS 2020), section 5: the law as a sum over level
    sets.

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
