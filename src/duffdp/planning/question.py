"""What is asked: a statistic on the records that were given or on synthetic ones, and a mechanism by its name."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any

import numpy as np

from duffdp.domain import Categories, Domain, Grid
from duffdp.engines.arrays import read
from duffdp.errors import BoundsError, DuffError
from duffdp.mechanisms.mechanism import read_epsilon
from duffdp.opened import bounded
from duffdp.release import planned
from duffdp.research import sensitivity
from duffdp.research.baselines import (
    ErrorExponential,
    Laplace,
    RankExponential,
    SmoothCauchy,
    SmoothLaplace,
    SmoothLaplaceLogNormal,
    SmoothPareto,
)
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


class Question:
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
            _, statistic, *_ = planned(self._statistic, self._q, mechanism, 1.0, 1)
            return statistic.steps(self._values, self._domain)  # type: ignore[arg-type]
        if mechanism == "rank-exponential":
            return RankExponential(1.0, self._q).steps(self._values, self._domain)  # type: ignore[arg-type]
        if isinstance(self._domain, Categories):
            raise DuffError(f'{mechanism!r} adds noise to a number, got categories. Use "best" or "duff".')
        return self._sensitivity()


def made(mechanism: str, statistic: str, epsilon: Any, delta: float | None) -> Any:
    """The mechanism behind a name; "best" and "duff" are what a release would use."""
    if mechanism in NOISY:
        return NOISY[mechanism](epsilon, delta)
    if mechanism == "rank-exponential":
        return RankExponential(epsilon)
    return planned(statistic, Fraction(1, 2), mechanism, float(read_epsilon(epsilon)), 1)[0]


def checked(mechanism: str, statistic: str, epsilon: Any, delta: float | None) -> Any:
    """The mechanism behind a name, or an error about its parameters."""
    if statistic not in STATISTICS:
        raise DuffError(f"statistic must be one of {', '.join(STATISTICS)}, got {statistic!r}.")
    if mechanism not in MECHANISMS:
        raise DuffError(f"mechanism must be one of {', '.join(MECHANISMS)}, got {mechanism!r}.")
    if mechanism == "rank-exponential" and statistic in ("mean", "mode"):
        raise DuffError(f'"rank-exponential" is for medians and quantiles, got statistic={statistic!r}.')
    return made(mechanism, statistic, epsilon, delta)


def questions(
    data: Any,
    statistic: str,
    q: Any,
    bounds: Any,
    step: Any,
    categories: Iterable[Any] | None,
    n: int | None,
    sets: int,
    seed: int,
) -> list[Question]:
    """The data sets to look at: the one that was given, or some of a named shape."""
    if (q is None) == (statistic == "quantile"):
        raise DuffError(f'q goes with statistic="quantile" and with no other, got q={q!r} and statistic={statistic!r}.')
    share = Fraction(1, 2) if q is None else read_q(q)
    if (categories is None) == (bounds is None) or (categories is not None and statistic != "mode"):
        raise BoundsError("pass either bounds or, for a mode, categories: the public domain. For example bounds=(0, 120).")
    if not isinstance(data, str):
        if n is not None:
            raise DuffError('n goes with the name of a shape such as "normal", got records and n. Leave n out.')
        return [Question(data, statistic, share, _domain(bounds, step, categories, read(data).integer))]
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
    return [Question(low + span * SHAPES[data](rng, int(n or 0)), statistic, share, domain) for rng in generators]


def _domain(bounds: Any, step: Any, categories: Iterable[Any] | None, integer: bool) -> Domain:
    if categories is not None:
        return categories if isinstance(categories, Categories) else Categories(categories)
    return bounded(bounds, step, integer and step is None)
