"""The smallest epsilon that is accurate enough."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from duffdp.errors import DuffError
from duffdp.parameters import read_number
from duffdp.planning.question import NOT_PRIVATE, SYNTHETIC, check, made, questions


@dataclass(frozen=True, slots=True)
class EpsilonPlan:
    """The smallest epsilon for a wanted accuracy; `float(plan)` is that number.

    Privacy
    -------
    Not private if `not_private` is True: it was computed from records that were given. Its text
    says so.

    References
    ----------
    Gillenwater and Munoz Medina, "Duff" (NeurIPS 2020), section 5: the law as a sum over level
    sets.

    Examples
    --------
    >>> import duffdp
    >>> shape = {"n": 100, "bounds": (0, 1), "data_sets": 2}
    >>> plan = duffdp.epsilon_for("uniform", within=0.05, probability=0.9, **shape)
    >>> 0.5 < float(plan) < 3
    True
    """

    epsilon: float
    within: float
    probability: float
    statistic: str
    mechanism: str
    not_private: bool

    def __float__(self) -> float:
        return self.epsilon

    def __str__(self) -> str:
        wanted = f"within {self.within:g} of the truth with probability {self.probability:g}"
        found = f"epsilon {self.epsilon:.4g}: {self.statistic} by {self.mechanism} {wanted}"
        return f"{found}\n{NOT_PRIVATE if self.not_private else SYNTHETIC}"


def epsilon_for(
    data: Any,
    *,
    within: float,
    probability: float,
    bounds: Any = None,
    step: Any = None,
    categories: Iterable[Any] | None = None,
    statistic: str = "median",
    q: Any = None,
    mechanism: str = "best",
    delta: float | None = None,
    n: int | None = None,
    data_sets: int = 8,
    seed: int = 0,
) -> EpsilonPlan:
    """The smallest epsilon that is accurate enough. NOT PRIVATE if records are given, see
    `preview`.

    Parameters
    ----------
    within, probability
        The output shall be within `within` (0 or more) of the truth with this probability, between
        0 and 1.
    mechanism
        One of the names of `preview`.
    data, bounds, step, categories, statistic, q, delta, n, data_sets, seed
        As for `preview`.

    Returns
    -------
    EpsilonPlan

    Privacy
    -------
    With records: none, and the result says so (`not_private`). With a name: it touches no record.

    Utility
    -------
    Exact to three digits, rounded to the safe side.

    Runtime
    -------
    About twenty previews.

    References
    ----------
    Gillenwater and Munoz Medina, "Duff" (NeurIPS 2020), section 5: the law as a sum over level
    sets.

    Examples
    --------
    >>> import duffdp
    >>> ages = [25, 38, 40, 41, 70] * 20
    >>> grid = {"bounds": (0, 120), "step": 1}
    >>> print(duffdp.epsilon_for(ages, within=3, probability=0.95, **grid, mechanism="duff"))
    epsilon 0.2085: median by duff within 3 of the truth with probability 0.95
    NOT PRIVATE: computed from the records without noise. Share it only if the records are public.
    """
    share = read_number("probability", probability, 0, 1, 0.95)
    if (
        isinstance(within, bool)
        or not isinstance(within, int | float | np.number)
        or not 0 <= within < math.inf
    ):
        raise DuffError(
            f"within must be a finite number of 0 or more, got {within!r}. Pass for example "
            "within=1."
        )
    check(mechanism, statistic, 1.0, delta)
    asked = questions(data, statistic, q, bounds, step, categories, n, data_sets, seed)

    def misses(epsilon: float) -> bool:
        maker = made(mechanism, statistic, epsilon, delta, asked[0].domain)
        tails = [
            maker.law(question.prepared(mechanism, epsilon)).tail(question.truth, within)
            for question in asked
        ]
        return float(np.mean(tails)) > 1 - share

    low = high = 1.0
    while misses(high):
        low, high = high, 4 * high
        if high > 1e6:
            raise DuffError(
                f"no epsilon up to a million keeps {mechanism!r} within {within!r}. Pass a "
                "larger one or a smaller step."
            )
    while low == high or not misses(low):
        low, high = low / 4, low
        if low < 1e-9:
            break  # any epsilon will do
    while high > 1.001 * low:
        middle = math.sqrt(low * high)
        low, high = (middle, high) if misses(middle) else (low, middle)
    return EpsilonPlan(high, float(within), share, statistic, mechanism, not isinstance(data, str))
