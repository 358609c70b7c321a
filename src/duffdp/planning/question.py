"""What is asked: a statistic on given or synthetic records, and a mechanism by its name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from duffdp.domain import Categories, Digits, Domain, Grid, Ordered
from duffdp.engines.addresses import printable
from duffdp.engines.arrays import Column, Records, read
from duffdp.errors import BoundsError, DuffError
from duffdp.mechanisms.staircase import Staircase
from duffdp.parameters import read_q
from duffdp.pipeline.ask import bounded, even, settled
from duffdp.pipeline.recipe import Recipe, make_recipe
from duffdp.planning.noise import Noisy, NoisyLaws
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
from duffdp.statistics.entry import Entry
from duffdp.statistics.registry import REGISTRY, entries, entry
from duffdp.statistics.sum import Sum

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
RELEASED = ("best", "duff", "distance")
MECHANISMS = (*RELEASED, "rank-exponential", *NOISY)

NOT_PRIVATE = (
    "NOT PRIVATE: computed from the records without noise. Share it only if the records are public."
)
SYNTHETIC = "From synthetic data: it says nothing about any person."


class Question:
    """One statistic on one data set: its truth, and what each mechanism works on."""

    def __init__(
        self,
        values: Any,
        statistic: str,
        parameters: Mapping[str, Any],
        domain: Domain,
        stepped: bool,
    ) -> None:
        self._values, self._statistic, self._parameters = values, statistic, parameters
        self.domain = domain
        self._ready: dict[tuple[str, int], Any] = {}
        self._stepped = stepped  # whether the step was chosen
        known = entry(statistic)
        if known.planned in ("mean", "sum"):
            self.truth: Any = self._sensitivity().value
        else:
            (part,) = known.parts(known.checked(parameters), "duff")
            steps = part.statistic.steps(values, domain)
            self.truth = domain.value(int(steps.start[steps.distance.argmin()]))

    def _sensitivity(self) -> sensitivity.Sensitivity:
        known = entry(self._statistic)
        if known.planned == "sum":
            return self._sum_sensitivity()
        found: Any = getattr(sensitivity, str(known.planned))
        if known.planned == "quantile":
            share = _share(self._parameters)
            return found(self._values, share, self.domain)  # type: ignore[no-any-return]
        return found(self._values, self.domain)  # type: ignore[no-any-return]

    def _sum_sensitivity(self) -> sensitivity.Sensitivity:
        """One record moves a sum by the same, whatever the others are."""
        noisy, grid = self._noisy(Sum()), self.domain
        assert isinstance(grid, Grid)
        moved = float(grid.multiple(noisy.sensitivity))
        return sensitivity.Sensitivity(float(grid.multiple(noisy.totals[0])), [moved])

    def _noisy(self, statistic: Any) -> Noisy:
        """Whole numbers that get noise."""
        grid = self.domain
        assert isinstance(grid, Grid)
        totals = statistic.totals(Column(read(self._values), grid), grid)
        moved = statistic.sensitivity(grid)
        if isinstance(statistic, Sum):
            return Noisy.sum_of(totals, moved, grid)
        return Noisy.mean_of(totals, moved, grid, self._stepped or grid.timed)

    def prepared(self, mechanism: str, epsilon: Any) -> Any:
        """The input of the mechanism; it seldom depends on epsilon."""
        if mechanism in RELEASED:
            ((part, maker),) = _recipe(self._statistic, self._parameters, mechanism, epsilon).parts
            aim = part.statistic.inside(self.domain) if part.utility == "inside" else 0
            if (mechanism, aim) not in self._ready:
                self._ready[mechanism, aim] = (
                    self._noisy(part.statistic)
                    if isinstance(maker, Staircase)
                    else part.statistic.steps(self._values, self.domain)
                )
            return self._ready[mechanism, aim]
        if mechanism == "rank-exponential":
            ranked = RankExponential(1.0, _share(self._parameters))
            return ranked.steps(self._values, self.domain)  # type: ignore[arg-type]
        if isinstance(self.domain, Categories):
            raise DuffError(
                f'{mechanism!r} adds noise to a number, got categories. Use "best" or "duff".'
            )
        if isinstance(self.domain, Digits):
            raise DuffError(
                f"{mechanism!r} needs evenly spaced candidates, got {self.domain!r}. Pass bounds."
            )
        return self._sensitivity()


def _share(parameters: Mapping[str, Any]) -> Fraction:
    return read_q(parameters["q"]) if "q" in parameters else Fraction(1, 2)


def _recipe(statistic: str, parameters: Mapping[str, Any], mechanism: str, epsilon: Any) -> Recipe:
    return make_recipe(statistic, tuple(parameters.items()), mechanism, epsilon)


def made(mechanism: str, statistic: str, epsilon: Any, delta: float | None, domain: Domain) -> Any:
    """The mechanism behind a name; "best" and "duff" are what a release would use."""
    if mechanism in NOISY:
        return NOISY[mechanism](epsilon, delta)
    if mechanism == "rank-exponential":
        return RankExponential(epsilon)
    examples = entry(
        statistic
    ).examples  # the law of a mechanism does not depend on parameters of the statistic
    ((_, released),) = settled(_recipe(statistic, examples[0], mechanism, epsilon), domain).parts
    return NoisyLaws(released) if isinstance(released, Staircase) else released


def check(mechanism: str, statistic: str, epsilon: Any, delta: float | None) -> None:
    """An error if there is no such mechanism for the statistic, or none with these parameters."""
    if statistic not in REGISTRY or entry(statistic).planned is None:
        plannable = [known.name for known in entries() if known.planned is not None]
        raise DuffError(f"statistic must be one of {', '.join(plannable)}, got {statistic!r}.")
    known = [n for n in MECHANISMS if n not in RELEASED or n in entry(statistic).choices]
    if mechanism not in known:
        unknown = " Measure it with releases of synthetic records." * (mechanism == "clipped")
        raise DuffError(f"mechanism must be one of {', '.join(known)}, got {mechanism!r}.{unknown}")
    if mechanism == "rank-exponential" and entry(statistic).planned != "quantile":
        raise DuffError(
            f'"rank-exponential" is for medians and quantiles, got statistic={statistic!r}.'
        )
    made(mechanism, statistic, epsilon, delta, Grid(0, 1, 1))  # on any domain


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
    known = entry(statistic)
    if (q is None) == ("q" in known.read):
        raise DuffError(
            f'q goes with statistic="quantile" and with no other, got q={q!r} and '
            f"statistic={statistic!r}."
        )
    parameters = {} if q is None else {"q": q}
    known.checked(parameters)
    if (categories is None) == (bounds is None) or (
        categories is not None and known.outputs == "grid"
    ):
        raise BoundsError(
            "pass either bounds or, for a mode, categories: the public domain. For example "
            "bounds=(0, 120)."
        )
    stepped = step is not None or isinstance(bounds, Ordered)
    if not isinstance(data, str):
        if n is not None:
            raise DuffError(
                'n goes with the name of a shape such as "normal", got records and n. Leave n out.'
            )
        domain = _domain(known, bounds, step, categories, read(data))
        if not isinstance(domain, Categories):
            even(known, domain)
        if known.check_domain is not None:
            known.check_domain(parameters, domain)
        return [Question(data, statistic, parameters, domain, stepped)]
    if data not in SHAPES or categories is not None:
        raise DuffError(
            f"data must be records or, with bounds, one of {', '.join(SHAPES)}, "
            f"got {printable(data)!r}."
        )
    for name, number in (("n", n), ("data_sets", sets)):
        if (
            isinstance(number, bool)
            or not isinstance(number, int | np.integer)
            or number < (name == "data_sets")
        ):
            raise DuffError(
                f"{name} must be a whole number, at least {int(name == 'data_sets')}, got "
                f"{number!r}."
            )
    domain = _domain(known, bounds, step, None, None)
    if not isinstance(domain, Grid) or domain.kind in ("date", "datetime"):
        raise BoundsError(
            f"a named shape needs bounds that are numbers, got {bounds!r}. Pass records instead."
        )
    low, span = float(domain.lower), float(domain.upper) - float(domain.lower)
    generators = np.random.default_rng(seed).spawn(sets)
    return [
        Question(
            low + span * SHAPES[data](rng, int(n or 0)), statistic, parameters, domain, stepped
        )
        for rng in generators
    ]


def default_mechanisms(statistic: str) -> tuple[str, ...]:
    """What a preview compares if nothing is said: the best one, and the paper's if there is one."""
    choices = entry(statistic).choices if statistic in REGISTRY else RELEASED
    return tuple(name for name in ("best", "duff") if name in choices)


def _domain(
    known: Entry,
    bounds: Any,
    step: Any,
    categories: Iterable[Any] | None,
    records: Records | None,
) -> Domain:
    """The public outputs of a release of these records, or of doubles."""
    if categories is not None:
        return categories if isinstance(categories, Categories) else Categories(categories)
    whole = records is not None and records.integer
    untyped = records is not None and records.array.dtype.kind == "O"
    return bounded(bounds, step, known.step_rule("best"), whole, untyped)
