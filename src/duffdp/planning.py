"""Planning: how far each mechanism would err, and the epsilon that a wanted accuracy needs. Exact, and not private."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from duffdp import sensitivity
from duffdp.domain import Categories, Domain, Grid
from duffdp.engines.arrays import read
from duffdp.errors import BoundsError, DuffError
from duffdp.guarantees.exact import least_error
from duffdp.mechanisms import (
    ErrorExponential,
    Laplace,
    RankExponential,
    SmoothCauchy,
    SmoothLaplace,
    SmoothLaplaceLogNormal,
    SmoothPareto,
)
from duffdp.mechanisms.mechanism import read_epsilon
from duffdp.mechanisms.noise import read_number
from duffdp.release import _bounded, _plan
from duffdp.statistics import Mode, Quantile
from duffdp.statistics.quantile import read_q

# Named shapes, stretched to the bounds; on (-10, 10) the first is the standard normal distribution.
SHAPES: dict[str, Callable[[np.random.Generator, int], Any]] = {
    "normal": lambda rng, n: 0.5 + rng.normal(size=n) / 20,
    "uniform": lambda rng, n: rng.random(n),
    "beta": lambda rng, n: rng.beta(0.5, 0.5, n),
}
NOISY: dict[str, Callable[[float, float | None], Any]] = {
    "laplace": lambda epsilon, delta: Laplace(epsilon),
    "error-exponential": lambda epsilon, delta: ErrorExponential(epsilon),
    "smooth-cauchy": lambda epsilon, delta: SmoothCauchy(epsilon),
    "smooth-cauchy-tight": lambda epsilon, delta: SmoothCauchy(epsilon, tight=True),
    "smooth-pareto": lambda epsilon, delta: SmoothPareto(epsilon),
    "smooth-laplace": lambda epsilon, delta: SmoothLaplace(epsilon, delta),
    "smooth-laplace-log-normal": lambda epsilon, delta: SmoothLaplaceLogNormal(epsilon, delta),
}
RELEASED = ("best", "duff")
MECHANISMS = (*RELEASED, "rank-exponential", *NOISY)
STATISTICS = ("median", "quantile", "mean", "mode")

NOT_PRIVATE = "NOT PRIVATE: computed from the records without noise. Share it only if the records are public."
SYNTHETIC = "From synthetic data: it says nothing about any person."


class _Question:
    """One statistic on one data set: its truth, and the law of every mechanism."""

    def __init__(self, values: Any, statistic: str, q: Fraction, domain: Domain) -> None:
        self._values, self._statistic, self._q, self._domain = values, statistic, q, domain
        if statistic == "mean":
            assert isinstance(domain, Grid)
            self.truth: Any = sensitivity.mean(values, domain).value
        else:
            steps = (Mode() if statistic == "mode" else Quantile(q)).steps(values, domain)  # type: ignore[arg-type]
            self.truth = domain.value(int(steps.start[steps.distance.argmin()]))

    def _sensitivity(self) -> sensitivity.Sensitivity:
        if self._statistic in ("mean", "mode"):
            return getattr(sensitivity, self._statistic)(self._values, self._domain)  # type: ignore[no-any-return]
        return sensitivity.quantile(self._values, self._q, self._domain)  # type: ignore[arg-type]

    def prepared(self, mechanism: str) -> Any:
        """What does not depend on epsilon: the input of the mechanism."""
        if mechanism in RELEASED:
            _, statistic, _ = _plan(self._statistic, self._q, mechanism, 1.0)
            return statistic.steps(self._values, self._domain)  # type: ignore[arg-type]
        if mechanism == "rank-exponential":
            return RankExponential(1.0, self._q).steps(self._values, self._domain)  # type: ignore[arg-type]
        return self._sensitivity()


def _made(mechanism: str, statistic: str, epsilon: Any, delta: float | None) -> Any:
    """The mechanism behind a name; "best" and "duff" are what a release would use."""
    if mechanism in NOISY:
        return NOISY[mechanism](epsilon, delta)
    if mechanism == "rank-exponential":
        return RankExponential(epsilon)
    return _plan(statistic, Fraction(1, 2), mechanism, float(read_epsilon(epsilon)))[0]


@dataclass(frozen=True, slots=True)
class Preview:
    """The exact errors of some mechanisms on some data, without noise.

    Privacy
    -------
    Not private if `not_private` is True: it was computed from records that were given. Its text says so. From synthetic data it
    says nothing about anyone.

    References
    ----------
    Gillenwater and Munoz Medina, "Duff" (NeurIPS 2020), section 5: the law as a sum over level sets.

    Examples
    --------
    >>> import duffdp
    >>> seen = duffdp.preview("uniform", n=100, epsilon=1.0, bounds=(0, 1), data_sets=2)
    >>> seen.not_private, seen.expected_error("duff") < 0.05
    (False, True)
    """

    statistic: str
    epsilon: float
    mechanisms: tuple[str, ...]
    not_private: bool
    _laws: dict[str, list[tuple[Any, Any]]] = field(repr=False)

    def laws(self, mechanism: str) -> list[Any]:
        """The explicit law of a mechanism on each of the data sets."""
        return [law for law, _ in self._known(mechanism)]

    def expected_error(self, mechanism: str) -> float:
        """Expected error, the mean over the data sets."""
        return float(np.mean([law.expected_error(truth) for law, truth in self._known(mechanism)]))

    def tail(self, mechanism: str, t: float) -> float:
        """Probability of an error of more than t, the mean over the data sets."""
        return float(np.mean([law.tail(truth, t) for law, truth in self._known(mechanism)]))

    def error_within(self, mechanism: str, probability: float) -> float:
        """The error that is not exceeded with this probability."""
        share = read_number("probability", probability, 0, 1, 0.95)
        return least_error(lambda t: self.tail(mechanism, t), 1 - share)

    def _known(self, mechanism: str) -> list[tuple[Any, Any]]:
        if mechanism not in self._laws:
            raise DuffError(f"mechanism must be one of {', '.join(self.mechanisms)}, got {mechanism!r}.")
        return self._laws[mechanism]

    def __str__(self) -> str:
        lines = [
            f"{self.statistic}, epsilon {self.epsilon:g}",
            f"{'':<28}{'mean error':>12}{'half within':>13}{'95 % within':>13}",
        ]
        for name in self.mechanisms:
            half, most = (self.error_within(name, share) for share in (0.5, 0.95))
            lines.append(f"{name:<28}{self.expected_error(name):>12.4g}{half:>13.4g}{most:>13.4g}")
        return "\n".join([*lines, NOT_PRIVATE if self.not_private else SYNTHETIC])


@dataclass(frozen=True, slots=True)
class EpsilonPlan:
    """The smallest epsilon for a wanted accuracy; `float(plan)` is that number.

    Privacy
    -------
    Not private if `not_private` is True: it was computed from records that were given. Its text says so.

    References
    ----------
    Gillenwater and Munoz Medina, "Duff" (NeurIPS 2020), section 5: the law as a sum over level sets.

    Examples
    --------
    >>> import duffdp
    >>> plan = duffdp.epsilon_for("uniform", n=100, within=0.05, probability=0.9, bounds=(0, 1), data_sets=2)
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


def preview(
    data: Any, *, epsilon: Any, bounds: Any = None, step: Any = None, categories: Iterable[Any] | None = None,
    statistic: str = "median", q: Any = None, mechanisms: Sequence[str] = ("best", "duff"), delta: float | None = None,
    n: int | None = None, data_sets: int = 8, seed: int = 0,
) -> Preview:  # fmt: skip
    """The exact errors that mechanisms would make. NOT PRIVATE if records are given: for public or synthetic data.

    Parameters
    ----------
    data
        Records shaped like yours (public or synthetic ones, so that nothing leaks), or a name with `n`: "normal" (centred in the
        bounds, a twentieth of their range its standard deviation), "uniform", "beta" (1/2, 1/2).
    epsilon
        The privacy loss that a release would have.
    bounds, step, categories
        The public domain, as for `median` and `mode`.
    statistic, q
        "median", "quantile" (with q), "mean" or "mode".
    mechanisms
        Names: "best" and "duff" as in a release; the baselines "rank-exponential", "error-exponential", "laplace",
        "smooth-cauchy", "smooth-cauchy-tight", "smooth-pareto", "smooth-laplace" and "smooth-laplace-log-normal".
    delta
        For the last two.
    n, data_sets, seed
        With a name: how many records, and how many data sets to average over.

    Returns
    -------
    Preview

    Privacy
    -------
    With records: none, and the result says so (`not_private`). With a name: it touches no record.

    Utility
    -------
    Exact: errors are sums over the law, not samples.

    Runtime
    -------
    A sort and, for "best", up to n integrals for each data set.

    References
    ----------
    Gillenwater and Munoz Medina, "Duff" (NeurIPS 2020), section 5: the law as a sum over level sets.

    Examples
    --------
    >>> import duffdp
    >>> ages = [25, 38, 40, 41, 70] * 20
    >>> print(duffdp.preview(ages, epsilon=0.5, bounds=(0, 120), step=1, mechanisms=["duff", "smooth-pareto"]))
    median, epsilon 0.5
                                  mean error  half within  95 % within
    duff                             0.02514            0            0
    smooth-pareto                      0.521        0.271        1.787
    NOT PRIVATE: computed from the records without noise. Share it only if the records are public.
    """
    names = tuple(mechanisms)
    makers = {name: _checked(name, statistic, epsilon, delta) for name in names}
    questions = _questions(data, statistic, q, bounds, step, categories, n, data_sets, seed)
    laws = {
        name: [(maker.law(question.prepared(name)), question.truth) for question in questions] for name, maker in makers.items()
    }
    return Preview(statistic, float(epsilon), names, not isinstance(data, str), laws)


def epsilon_for(
    data: Any, *, within: float, probability: float, bounds: Any = None, step: Any = None,
    categories: Iterable[Any] | None = None, statistic: str = "median", q: Any = None, mechanism: str = "best",
    delta: float | None = None,
    n: int | None = None, data_sets: int = 8, seed: int = 0,
) -> EpsilonPlan:  # fmt: skip
    """The smallest epsilon with which a release is accurate enough. NOT PRIVATE if records are given, see `preview`.

    Parameters
    ----------
    within, probability
        The output shall be within `within` (0 or more) of the truth with this probability, between 0 and 1.
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
    Gillenwater and Munoz Medina, "Duff" (NeurIPS 2020), section 5: the law as a sum over level sets.

    Examples
    --------
    >>> import duffdp
    >>> ages = [25, 38, 40, 41, 70] * 20
    >>> print(duffdp.epsilon_for(ages, within=3, probability=0.95, bounds=(0, 120), step=1, mechanism="duff"))
    epsilon 0.2085: median by duff within 3 of the truth with probability 0.95
    NOT PRIVATE: computed from the records without noise. Share it only if the records are public.
    """
    share = read_number("probability", probability, 0, 1, 0.95)
    if isinstance(within, bool) or not isinstance(within, int | float | np.number) or not 0 <= within < math.inf:
        raise DuffError(f"within must be a finite number of 0 or more, got {within!r}. Pass for example within=1.")
    _checked(mechanism, statistic, 1.0, delta)
    questions = _questions(data, statistic, q, bounds, step, categories, n, data_sets, seed)
    prepared = [(question.prepared(mechanism), question.truth) for question in questions]

    def misses(epsilon: float) -> bool:
        maker = _made(mechanism, statistic, epsilon, delta)
        return float(np.mean([maker.law(ready).tail(truth, within) for ready, truth in prepared])) > 1 - share

    low = high = 1.0
    while misses(high):
        low, high = high, 4 * high
        if high > 1e6:
            raise DuffError(
                f"no epsilon up to a million keeps {mechanism!r} within {within!r}. Pass a larger one or a smaller step."
            )
    while low == high or not misses(low):
        low, high = low / 4, low
        if low < 1e-9:
            break  # any epsilon will do
    while high > 1.001 * low:
        middle = math.sqrt(low * high)
        low, high = (middle, high) if misses(middle) else (low, middle)
    return EpsilonPlan(high, float(within), share, statistic, mechanism, not isinstance(data, str))


def _checked(mechanism: str, statistic: str, epsilon: Any, delta: float | None) -> Any:
    """The mechanism behind a name, or an error about its parameters."""
    if statistic not in STATISTICS:
        raise DuffError(f"statistic must be one of {', '.join(STATISTICS)}, got {statistic!r}.")
    if mechanism not in MECHANISMS:
        raise DuffError(f"mechanism must be one of {', '.join(MECHANISMS)}, got {mechanism!r}.")
    if mechanism == "rank-exponential" and statistic in ("mean", "mode"):
        raise DuffError(f'"rank-exponential" is for medians and quantiles, got statistic={statistic!r}.')
    return _made(mechanism, statistic, epsilon, delta)


def _questions(
    data: Any,
    statistic: str,
    q: Any,
    bounds: Any,
    step: Any,
    categories: Iterable[Any] | None,
    n: int | None,
    sets: int,
    seed: int,
) -> list[_Question]:
    """The data sets to look at: the one that was given, or some of a named shape."""
    if (q is None) == (statistic == "quantile"):
        raise DuffError(f'q goes with statistic="quantile" and with no other, got q={q!r} and statistic={statistic!r}.')
    share = Fraction(1, 2) if q is None else read_q(q)
    if (categories is None) == (bounds is None) or (categories is not None and statistic != "mode"):
        raise BoundsError("pass either bounds or, for a mode, categories: the public domain. For example bounds=(0, 120).")
    if not isinstance(data, str):
        if n is not None:
            raise DuffError('n goes with the name of a shape such as "normal", got records and n. Leave n out.')
        return [_Question(data, statistic, share, _domain(bounds, step, categories, read(data).integer))]
    if data not in SHAPES or categories is not None:
        raise DuffError(f"data must be records or, with bounds, one of {', '.join(SHAPES)}, got {data!r}.")
    for name, number in (("n", n), ("data_sets", sets)):
        if isinstance(number, bool) or not isinstance(number, int | np.integer) or number < (name == "data_sets"):
            raise DuffError(f"{name} must be a whole number, at least {int(name == 'data_sets')}, got {number!r}.")
    domain = _domain(bounds, step, None, integer=False)
    if not isinstance(domain, Grid) or domain.kind in ("date", "datetime"):
        raise BoundsError(f"a named shape needs bounds that are numbers, got {bounds!r}. Pass records instead.")
    low, span = float(domain.lower), float(domain.upper) - float(domain.lower)
    generators = np.random.default_rng(seed).spawn(sets)
    return [_Question(low + span * SHAPES[data](rng, int(n or 0)), statistic, share, domain) for rng in generators]


def _domain(bounds: Any, step: Any, categories: Iterable[Any] | None, integer: bool) -> Domain:
    if categories is not None:
        return categories if isinstance(categories, Categories) else Categories(categories)
    return _bounded(bounds, step, integer and step is None)
