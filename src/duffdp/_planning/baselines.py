"""Baselines of the paper by their names, for previews only."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from duffdp._parameters import Q
from duffdp._pipeline.draw_plan import DrawPlan
from duffdp._planning.forecast import DataSet, Forecast, MechanismErrorLaw
from duffdp.domain import Categories, Grid
from duffdp.errors import Argument, DuffError
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
from duffdp.statistics.spec import StatisticSpec
from duffdp.statistics.sum import Sum

_NOISE_BASELINES: dict[str, Callable[[Any, float | None], Any]] = {
    "laplace": lambda epsilon, delta: Laplace(epsilon),
    "error-exponential": lambda epsilon, delta: ErrorExponential(epsilon),
    "smooth-cauchy": lambda epsilon, delta: SmoothCauchy(epsilon),
    "smooth-cauchy-tight": lambda epsilon, delta: SmoothCauchy(epsilon, tight=True),
    "smooth-pareto": lambda epsilon, delta: SmoothPareto(epsilon),
    "smooth-laplace": lambda epsilon, delta: SmoothLaplace(epsilon, delta),
    "smooth-laplace-log-normal": lambda epsilon, delta: SmoothLaplaceLogNormal(epsilon, delta),
}
_RANK_BASELINE = "rank-exponential"
BASELINES = (_RANK_BASELINE, *_NOISE_BASELINES)
_WITH_DELTA = ("smooth-laplace", "smooth-laplace-log-normal")


def baselines_of(spec: StatisticSpec) -> tuple[str, ...]:
    """The baselines that a statistic can be compared with."""
    if spec.baselines is None:
        return ()
    return BASELINES if spec.baselines == "quantile" else tuple(_NOISE_BASELINES)


def check_baseline(name: str, plan: DrawPlan, delta: float | None) -> None:
    """Raise an error for what a baseline cannot do; `plan` is that of a release instead of it."""
    if plan.interval is not None:
        raise DuffError(
            f"{name!r} is a baseline and has no interval. Pass ",
            Argument("interval", None),
            ", or the mechanisms of releases alone.",
        )
    if delta is None and name in _WITH_DELTA:
        raise DuffError(
            f"{name!r} needs ",
            *(Argument("delta"), ". Pass for example ", Argument("delta", 1e-6), "."),
        )
    if delta is not None and plan.unit.contributions != 1:
        raise DuffError(
            "delta cannot be divided among the rows of a person as epsilon can, got "
            f"contributions={plan.unit.contributions}. Pass ",
            Argument("contributions", 1),
            ", or no delta.",
        )
    _baseline(name, plan, delta)


def baseline_forecast(name: str, plan: DrawPlan, delta: float | None, data: DataSet) -> Forecast:
    """The forecast of a baseline with the same epsilon."""
    baseline = _baseline(name, plan, delta)
    if name == _RANK_BASELINE:
        argument = baseline.steps(data.records, data.domain)
    elif isinstance(data.domain, Categories):
        raise DuffError(f'{name!r} adds noise to a number, got categories. Use "best" or "duff".')
    elif not isinstance(data.domain, Grid):
        raise DuffError(
            f"{name!r} needs evenly spaced possible answers, got {data.domain!r}. Pass bounds, for "
            "example ",
            Argument("bounds", (0, 100)),
            ".",
        )
    else:
        argument = _sensitivity(plan, data)
    return Forecast((MechanismErrorLaw(baseline.law(argument), data.truth[0]),))


def _baseline(name: str, plan: DrawPlan, delta: float | None) -> Any:
    if name == _RANK_BASELINE:
        return RankExponential(plan.row_epsilon, _q(plan))
    return _NOISE_BASELINES[name](plan.row_epsilon, delta)


def _q(plan: DrawPlan) -> Fraction:
    return Q.of(plan.parameters) if Q.name in plan.parameters else Fraction(1, 2)


def _sensitivity(plan: DrawPlan, data: DataSet) -> sensitivity.Sensitivity:
    """The local sensitivities of a statistic."""
    kind, grid = plan.spec.baselines, data.domain
    assert isinstance(grid, Grid)
    if kind == "quantile":
        return sensitivity.quantile(data.records, _q(plan), grid)
    if kind == "sum":  # one record changes a sum by the same amount, whatever the others are
        change = float(grid.multiple(Sum().sensitivity(grid)))
        return sensitivity.Sensitivity(float(data.truth[0]), [change])
    return {"mean": sensitivity.mean, "mode": sensitivity.mode}[str(kind)](data.records, grid)
