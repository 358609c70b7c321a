"""The smallest epsilon for a wanted accuracy."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from duffdp._parameters import read_number
from duffdp._pipeline.signatures import takes_aliases
from duffdp._planning.previews import NOT_PRIVATE, SYNTHETIC, Preview, PreviewRequest, SampleOptions
from duffdp.errors import Argument, DuffError

_MIN_SEARCHED_EPSILON, _MAX_SEARCHED_EPSILON = 1e-9, 1e6  # of the search
# The ratio of the result to an epsilon that is not enough; from draws no closer one can be told.
CLOSE_RATIO, SIMULATED_RATIO = 1.001, 1.02


@dataclass(frozen=True, slots=True)
class EpsilonPlan:
    """The smallest epsilon for a wanted accuracy; `float(plan)` is that number.

    Attributes
    ----------
    epsilon, statistic, mechanism
        The result, and the statistic and mechanism that it is for.
    within, probability
        The wanted error and its probability; None if a width was wanted.
    width
        The expected width of the interval; None if an error was wanted.
    draws
        The number of simulated draws per epsilon; 0 if the output distribution is known.
    not_private
        True if records were passed.

    Privacy
    -------
    Not private if `not_private` is True, because it was computed from records that were passed. Its
    text states this.

    References
    ----------
    Gillenwater and Munoz Medina, "Duff" (NeurIPS 2020), section 5: the output distribution as a sum
    over level sets.

    Examples
    --------
    >>> import duffdp
    >>> shape = {"n": 100, "bounds": (0, 1), "data_sets": 2}
    >>> plan = duffdp.epsilon_for("uniform", within=0.05, probability=0.9, **shape)
    >>> 0.5 < float(plan) < 3
    True
    """

    epsilon: float
    within: float | None
    probability: float | None
    width: float | None
    statistic: str
    mechanism: str
    draws: int
    not_private: bool

    def __float__(self) -> float:
        return self.epsilon

    def __str__(self) -> str:
        if self.width is not None:
            goal = f"interval of the {self.statistic} is {self.width:g} wide on average"
        else:
            error = f"error of the {self.statistic} is at most {self.within:g}"
            goal = f"{error} with probability {self.probability:g}"
        result = f"epsilon {self.epsilon:.4g}: {goal} (mechanism {self.mechanism})"
        notes = [f"Simulated: {self.draws} seeded draws for each epsilon."] if self.draws else []
        return "\n".join([result, *notes, NOT_PRIVATE if self.not_private else SYNTHETIC])


@takes_aliases
def epsilon_for(
    data: Any,
    *,
    within: float | None = None,
    probability: float | None = None,
    width: float | None = None,
    output: str | None = None,
    statistic: str = "median",
    bounds: Any = None,
    step: Any = None,
    categories: Iterable[Any] | None = None,
    contributions: int = 1,
    interval: Any = None,
    covers: str = "data",
    mechanism: str = "best",
    delta: float | None = None,
    n: int | None = None,
    half_between: tuple[float, float] | None = None,
    group_size: int | None = None,
    data_sets: int = 8,
    draws: int = 500,
    seed: int = 0,
    **parameters: Any,
) -> EpsilonPlan:
    """The smallest epsilon that is accurate enough. The result is NOT PRIVATE if records are
    passed.

    Parameters
    ----------
    within, probability
        The output must be within `within` (at least 0) of the truth with this probability, between
        0 and 1.
    width
        Instead: the largest expected width of the interval; with `interval`.
    output
        One of several outputs (`Preview.outputs`); None: each of them individually.
    mechanism
        One of the names of `preview`.
    data, statistic, bounds, step, categories, contributions, interval, covers, delta
        As for `preview`.
    n, half_between, group_size, data_sets, draws, seed, parameters
        As for `preview`.

    Returns
    -------
    EpsilonPlan
        `epsilon` is the smallest one that suffices.

    Privacy
    -------
    With records: none, and the result is marked (`not_private`). With a name: no record is read.

    Utility
    -------
    If the output distribution is known, epsilon is exact to a thousandth, rounded up. If it is
    simulated, epsilon suffices for these draws, and some epsilon at most 2% smaller does not.

    Runtime
    -------
    About twenty previews, or ten if they are simulated.

    References
    ----------
    Gillenwater and Munoz Medina, "Duff" (NeurIPS 2020), section 5: the output distribution as a sum
    over level sets.

    Examples
    --------
    >>> import duffdp
    >>> ages = [25, 38, 40, 41, 70] * 20
    >>> grid = {"bounds": (0, 120), "step": 1}
    >>> print(duffdp.epsilon_for(ages, within=3, probability=0.95, **grid, mechanism="duff"))
    epsilon 0.2085: error of the median is at most 3 with probability 0.95 (mechanism duff)
    NOT PRIVATE: computed from the records without noise. Share it only if the records are public.
    >>> shape = {"n": 1000, "bounds": (0, 100), "data_sets": 2}
    >>> print(duffdp.epsilon_for("normal", interval=0.95, width=4, **shape))
    epsilon 0.05821: interval of the median is 4 wide on average (mechanism best)
    Computed from synthetic data, which describes no real person.
    """
    share = _check_goal(within, probability, width, interval)
    sample = SampleOptions(n, group_size, data_sets, draws, seed, half_between)
    sample.check()
    request = PreviewRequest(
        statistic,
        parameters,
        is_shape=isinstance(data, str),
        bounds=bounds,
        step=step,
        categories=categories,
        contributions=contributions,
        interval=interval,
        covers=covers,
        delta=delta,
    )
    request.check(mechanism, 1.0)
    sets = request.data_sets(data, sample)
    outputs = request.outputs(sets[0])

    def preview_at(epsilon: float) -> Preview:
        forecasts = {mechanism: request.forecasts(mechanism, epsilon, sets, sample)}
        return Preview(request.spec.name, epsilon, (mechanism,), outputs, False, forecasts)

    def is_too_small(epsilon: float) -> bool:
        if width is not None:
            return preview_at(epsilon).expected_width(mechanism) > width
        assert within is not None
        assert share is not None
        return preview_at(epsilon).tail(mechanism, within, output) > 1 - share

    simulated = sum(preview_at(1.0).draws.values())
    epsilon = least_epsilon(is_too_small, SIMULATED_RATIO if simulated else CLOSE_RATIO)
    if epsilon is None:
        goal = f"within {within!r}" if width is None else f"to a width of {width!r}"
        raise DuffError(
            f"no epsilon up to a million keeps {mechanism!r} {goal}. Accept a larger error or "
            "width, or pass a smaller step."
        )
    return EpsilonPlan(
        epsilon,
        None if within is None else float(within),
        share,
        None if width is None else float(width),
        request.spec.name,
        mechanism,
        simulated,
        not isinstance(data, str),
    )


def least_epsilon(is_too_small: Callable[[float], bool], ratio: float) -> float | None:
    """The least epsilon that is large enough, by bisection up to a ratio; None if none is."""
    low = high = 1.0
    while is_too_small(high):
        low, high = high, 4 * high
        if high > _MAX_SEARCHED_EPSILON:
            return None
    while low == high or not is_too_small(low):
        low, high = low / 4, low
        if low < _MIN_SEARCHED_EPSILON:
            return high  # any epsilon will do
    while high > ratio * low:
        middle = math.sqrt(low * high)
        low, high = (middle, high) if is_too_small(middle) else (low, middle)
    return high


def _check_goal(
    within: object, probability: object, width: object, interval: object
) -> float | None:
    """Raise an error for a goal that is none; return the probability, if it has one."""
    if (within is None) == (width is None):
        combination = "neither" if width is None else "both"
        raise DuffError(
            *("pass either ", Argument("within"), " and ", Argument("probability"), ", or "),
            *(
                Argument("width"),
                " and ",
                Argument("interval"),
                f", got {combination}. For example ",
            ),
            Argument("within", 1),
            ", ",
            Argument("probability", 0.95),
            ".",
        )
    for name, number in (("within", within), ("width", width)):
        if number is not None and (
            isinstance(number, bool)
            or not isinstance(number, int | float | np.number)
            or not 0 <= number < math.inf
        ):
            raise DuffError(
                f"{name} must be a finite number of 0 or more, got {number!r:.40}. Pass for "
                f"example {name}=1."
            )
    if width is None:
        return read_number("probability", probability, 0, 1, 0.95)
    if interval is None or probability is not None:
        raise DuffError(
            Argument("width"),
            " needs interval, the confidence, and not probability. Pass for example ",
            Argument("width", 2),
            ", ",
            Argument("interval", 0.95),
            ".",
        )
    return None
