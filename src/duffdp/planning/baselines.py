"""The paper's baselines by their names, for comparison: none of them is ever released."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from duffdp.domain import Categories, Grid
from duffdp.errors import DuffError
from duffdp.pipeline.recipe import Recipe
from duffdp.planning.errors import LawErrors
from duffdp.planning.forecast import DataSet, Forecast
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

NOISY: dict[str, Callable[[Any, float | None], Any]] = {
    "laplace": lambda epsilon, delta: Laplace(epsilon),
    "error-exponential": lambda epsilon, delta: ErrorExponential(epsilon),
    "smooth-cauchy": lambda epsilon, delta: SmoothCauchy(epsilon),
    "smooth-cauchy-tight": lambda epsilon, delta: SmoothCauchy(epsilon, tight=True),
    "smooth-pareto": lambda epsilon, delta: SmoothPareto(epsilon),
    "smooth-laplace": lambda epsilon, delta: SmoothLaplace(epsilon, delta),
    "smooth-laplace-log-normal": lambda epsilon, delta: SmoothLaplaceLogNormal(epsilon, delta),
}
RANKED = "rank-exponential"
BASELINES = (RANKED, *NOISY)


def baselines_of(known: Entry) -> tuple[str, ...]:
    """Those that a statistic can be compared with."""
    if known.baselines is None:
        return ()
    return BASELINES if known.baselines == "quantile" else tuple(NOISY)


def check_baseline(name: str, recipe: Recipe, delta: float | None) -> None:
    """An error for what a baseline cannot do; `recipe` is that of a release in its place."""
    if recipe.interval is not None:
        raise DuffError(
            f"{name!r} is a baseline and has no interval. Pass interval=None, or the mechanisms of "
            "releases alone."
        )
    if delta is not None and recipe.unit.contributions != 1:
        raise DuffError(
            "delta does not divide among the rows of a person as epsilon does, got "
            f"contributions={recipe.unit.contributions}. Pass contributions=1, or no delta."
        )
    _made(name, recipe, delta)


def baseline_forecast(name: str, recipe: Recipe, delta: float | None, data: DataSet) -> Forecast:
    """The errors that a baseline would make with the same epsilon."""
    maker = _made(name, recipe, delta)
    if name == RANKED:
        ready = maker.steps(data.records, data.domain)
    elif isinstance(data.domain, Categories):
        raise DuffError(f'{name!r} adds noise to a number, got categories. Use "best" or "duff".')
    elif not isinstance(data.domain, Grid):
        raise DuffError(
            f"{name!r} needs evenly spaced candidates, got {data.domain!r}. Pass bounds, for "
            "example bounds=(0, 100)."
        )
    else:
        ready = _sensitivity(recipe, data)
    return Forecast((LawErrors(maker.law(ready), data.truth[0]),))


def _made(name: str, recipe: Recipe, delta: float | None) -> Any:
    epsilon = recipe.loss.epsilon / recipe.unit.rows
    return RankExponential(epsilon, _q(recipe)) if name == RANKED else NOISY[name](epsilon, delta)


def _q(recipe: Recipe) -> Fraction:
    q: Fraction = recipe.given.get("q", Fraction(1, 2))
    return q


def _sensitivity(recipe: Recipe, data: DataSet) -> sensitivity.Sensitivity:
    """The local sensitivities of a statistic."""
    kind, grid = recipe.entry.baselines, data.domain
    assert isinstance(grid, Grid)
    if kind == "quantile":
        return sensitivity.quantile(data.records, _q(recipe), grid)
    if kind == "sum":  # one record moves a sum by the same, whatever the others are
        ((part, _),) = recipe.parts
        moved = float(grid.multiple(part.statistic.sensitivity(grid)))
        return sensitivity.Sensitivity(float(data.truth[0]), [moved])
    return {"mean": sensitivity.mean, "mode": sensitivity.mode}[str(kind)](data.records, grid)
