"""Every bound really bounds the exact tail, on many data sets, and is not empty talk."""

from __future__ import annotations

import math

import numpy as np
import pytest

from duffdp import Categories, DuffError, Grid
from duffdp.mechanisms import Exponential
from duffdp.research import guarantees, sensitivity
from duffdp.research.baselines import Laplace, SmoothCauchy
from duffdp.research.sensitivity import Sensitivity
from duffdp.statistics import Mean, Median, Mode, Quantile

RNG = np.random.default_rng(12)
GRID = Grid(0.0, 10.0, 0.01)
DATA = {
    "none": [],
    "one": [3.0],
    "two": [3.0, 3.0],
    "equal": [5.0] * 40,
    "ends": [0.0] * 20 + [10.0] * 21,
    "even": np.arange(1, 100) / 10,
    "normal": RNG.normal(5, 1, 200),
    "tied": RNG.integers(0, 11, 300).astype(float),
    "skewed": RNG.exponential(1, 150),
    "uniform": RNG.random(31) * 10,
}
STATISTICS = {
    "median": (Median(), sensitivity.median),
    "quantile": (Quantile(0.9), lambda values, grid: sensitivity.quantile(values, 0.9, grid)),
    "mean": (Mean(), sensitivity.mean),
    "mode": (Mode(), sensitivity.mode),
}
EPSILONS = [0.1, 1.0, 10.0]


@pytest.fixture(params=[(s, d) for s in STATISTICS for d in DATA], ids="-".join)
def case(request):
    name, data = request.param
    statistic, sensitive = STATISTICS[name]
    return statistic.steps(DATA[data], GRID), sensitive(DATA[data], GRID)


def test_beta_star_is_the_inverse(case):
    _, spread = case
    for ratio in np.geomspace(1e-6, 1e6, 25):
        beta = guarantees.inverse_smoothing(spread, ratio)
        assert float(spread.log_smooth(beta)) - math.log(beta) == pytest.approx(
            math.log(ratio), abs=1e-8
        )


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_bounds_bound(case, epsilon):
    steps, spread = case
    law = Exponential(epsilon).law(steps)
    mass = np.array([law.probability(GRID.value(int(s))) for s in steps.start]) * steps.count
    for t in (1, 2, 3.5, 10, 40):
        worse = float(mass[steps.distance > steps.distance.min() + t].sum())
        assert worse <= guarantees.utility_loss_probability(steps, epsilon, t) * (1 + 1e-9)
    # a mode may be tied, and the bounds by smooth sensitivity do not cover it
    one_value = steps.rate != 1
    for t in (0.05, 0.3, 1, 3, 8) if one_value else ():
        assert law.tail(spread.value, t) <= guarantees.error_probability(
            steps, spread, epsilon, t
        ) * (1 + 1e-9)
    for eta in (0.3, 0.05, 1e-4):
        exact = guarantees.exact_error_within(law, spread.value, eta)
        # Half a step of the grid is the distance from a mean to its nearest candidate.
        slack = 0.005 + 1e-9
        assert (
            not one_value or exact <= guarantees.error_within(steps, spread, epsilon, eta) + slack
        )
        assert (
            exact
            <= guarantees.finite_domain_error_within(steps, spread.value, epsilon, eta) + slack
        )


@pytest.mark.parametrize("eta", [0.3, 0.05, 1e-4])
def test_cauchy_is_exact(eta):
    spread = sensitivity.median(DATA["normal"], GRID)
    free = Sensitivity(spread.value, spread.levels)
    law = SmoothCauchy(1.0).law(free)
    assert law.tail(
        spread.value, guarantees.cauchy_error_within(spread, 1.0, eta)
    ) == pytest.approx(eta)
    tangent = 6 * spread.smooth(1 / 6) * math.tan(math.pi * (1 - eta) / 2)
    assert guarantees.cauchy_error_within(spread, 1.0, eta) == pytest.approx(tangent)


def test_bounds_say_something():
    """On 1000 even records at epsilon 4 the bounds are far below the trivial ones, and the
    finite-domain one is the best.
    """
    grid = Grid(0.0, 1001.0, 0.01)
    values = np.arange(1.0, 1001)
    steps, spread = Median().steps(values, grid), sensitivity.median(values, grid)
    exact = guarantees.exact_error_within(Exponential(4.0).law(steps), spread.value, 0.05)
    smooth = guarantees.error_within(steps, spread, 4.0, 0.05)
    finite = guarantees.finite_domain_error_within(steps, spread.value, 4.0, 0.05)
    assert exact < finite < smooth < 70
    assert guarantees.error_probability(steps, spread, 4.0, 100) < 0.01
    assert guarantees.utility_loss_probability(steps, 4.0, 15) < 0.01


def test_growth_constant():
    """The largest that holds for all real t from 1 on; the paper's 2 (b - a) / n for even records
    does not.
    """
    for values in DATA.values():
        for statistic in (Median(), Mean(), Quantile(0.9)):
            steps = statistic.steps(values, GRID)
            found = guarantees.growth_constant(steps)
            t = np.concatenate(
                [
                    np.linspace(1, max(1, steps.distance.max()), 5001),
                    np.arange(2, steps.distance.max() + 1) - 1e-9,
                ]
            )
            share = np.array([steps.within(x) / x for x in t])
            assert share.min() == pytest.approx(found, rel=1e-6)
    even = np.arange(1.0, 100)
    steps = Median().steps(even, Grid(0.0, 100.0, 0.001))
    assert guarantees.growth_constant(steps) * 0.001 == pytest.approx(0.5, rel=1e-2)
    assert steps.within(50) * 0.001 < 2 * 100 / 99 * 50


def test_exact_error_is_the_least():
    law = Laplace(1.0).law(sensitivity.median(DATA["normal"], GRID))
    for eta in (0.9, 0.1, 0.02):
        t = guarantees.exact_error_within(law, 4.0, eta)
        assert law.tail(4.0, t) <= eta < law.tail(4.0, t * (1 - 1e-9))
    steps = Median().steps([5] * 100, Grid(0, 9, 1))
    assert guarantees.exact_error_within(Exponential(5.0).law(steps), 5, 0.01) == 0


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (
            lambda s, v: guarantees.error_within(s, v, 1.0, 0),
            "eta must be a number between 0 and 1",
        ),
        (lambda s, v: guarantees.error_within(s, v, 1.0, -1), "eta must be"),
        (
            lambda s, v: guarantees.error_probability(s, v, 1.0, 0),
            "t must be a finite number above 0",
        ),
        (lambda s, v: guarantees.error_probability(s, v, 0, 1), "epsilon must be"),
        (lambda s, v: guarantees.utility_loss_probability(s, 1.0, -1), "t must be"),
        (lambda s, v: guarantees.cauchy_error_within(v, 1.0, 1), "eta must be"),
        (lambda s, v: guarantees.inverse_smoothing(v, 0), "ratio must be"),
        (lambda s, v: guarantees.inverse_smoothing(Sensitivity(0, [0]), 1), "0 everywhere"),
        (
            lambda s, v: guarantees.growth_constant(Quantile(0.9, utility="rank").steps([1], GRID)),
            "another score",
        ),
        (
            lambda s, v: guarantees.exact_error_within(
                Laplace(1).law(Sensitivity(0, [1e300])), 0, 1e-99
            ),
            "no bounds",
        ),
        (
            lambda s, v: guarantees.finite_domain_error_within(
                Mode().steps([1], Categories([1, 2])), 0, 1.0, 0.1
            ),
            "ordered candidates",
        ),
    ],
)
def test_bad_input(call, text):
    with pytest.raises(DuffError, match=text):
        call(Median().steps([5.0], GRID), sensitivity.median([5.0], GRID))
