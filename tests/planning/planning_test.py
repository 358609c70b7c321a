"""Previews and their inverse: exact against the laws, averaged over data sets, and plain about what
is not private.
"""

from __future__ import annotations

import datetime as dt
import math

import numpy as np
import pytest

import duffdp
from duffdp import DuffError, Grid, epsilon_for, preview
from duffdp._planning.baselines import baselines_of
from duffdp.mechanisms import Exponential
from duffdp.statistics import Median
from duffdp.statistics.registry import statistic_spec
from inquiries import mechanism_of, plan_of

AGES = np.random.default_rng(2).integers(18, 80, 200)
EXACT = {"bounds": (0, 120)}


def test_preview_is_the_law():
    found = preview(AGES, epsilon=0.5, **EXACT)
    truth = int(np.sort(AGES)[99])
    grid = Grid(0, 120, 1)
    duff = Exponential(0.5).law(Median().steps(AGES, grid))
    plan = plan_of("median", epsilon=0.5, domain=grid)
    (part,) = plan.program.draws
    best = mechanism_of(plan, part).law(part.statistic.steps(AGES, grid))
    for name, law in (("duff", duff), ("best", best)):
        assert found.expected_error(name) == pytest.approx(law.expected_error(truth), rel=1e-12)
        assert found.tail(name, 3) == pytest.approx(law.tail(truth, 3), rel=1e-12)
        t = found.error_within(name, 0.9)
        assert law.tail(truth, t) <= 0.1 < law.tail(truth, t - 1)


def test_preview_agrees_with_releases():
    """The mean error of 2000 seeded releases is within five standard errors of the exact one."""
    found = preview(AGES, epsilon=0.2, **EXACT)
    rng = np.random.default_rng(9)
    errors = [
        abs(duffdp.median(AGES, epsilon=0.2, rng=rng, **EXACT).value - int(np.sort(AGES)[99]))
        for _ in range(2000)
    ]
    assert abs(np.mean(errors) - found.expected_error("best")) < 6 * np.std(errors) / math.sqrt(
        2000
    )


@pytest.mark.parametrize("statistic", ["median", "quantile", "mean", "mode"])
def test_all_mechanisms_of_all_statistics(statistic):
    names = [*statistic_spec(statistic).choices, *baselines_of(statistic_spec(statistic))]
    given = {"q": 0.9} if statistic == "quantile" else {}
    found = preview(
        AGES, epsilon=1.0, delta=1e-3, statistic=statistic, mechanisms=names, **given, **EXACT
    )
    for name in names:
        assert 0 <= found.expected_error(name) <= 120
        assert 0 <= found.error_within(name, 0.5) <= found.error_within(name, 0.95) <= 120
        assert len(found.laws(name)) == 1
    assert found.expected_error("best") < found.expected_error("laplace")


@pytest.mark.parametrize(
    ("statistic", "step", "epsilon"), [("mean", None, 0.3), ("mean", 5, 3.0), ("sum", None, 3.0)]
)
def test_noise_is_previewed_as_it_is_released(statistic, step, epsilon):
    """The mean error of 2000 seeded releases is within six standard errors of the preview; so is
    how often it exceeds what it should exceed one time in four."""
    given = {"epsilon": epsilon, "bounds": (0, 120), "step": step}
    records = AGES[:50]
    found = preview(records, statistic=statistic, mechanisms=["best"], **given)
    rng, verb = np.random.default_rng(5), getattr(duffdp, statistic)
    truth = getattr(np, statistic)(records)
    if step is not None:
        truth = np.mean(5 * np.floor(records / 5 + 0.5))
    released = np.array([verb(records, rng=rng, **given).value for _ in range(2000)])
    errors = np.round(np.abs(released - truth), 9)  # 9.7 and not a bit more
    error = errors.std() / math.sqrt(2000)
    assert abs(errors.mean() - found.expected_error("best")) < 6 * error
    beyond = round(found.error_within("best", 0.75), 9)
    assert abs((errors > beyond).mean() - found.tail("best", beyond)) < 6 * math.sqrt(0.25 / 2000)


def test_previews_of_sums():
    """15 % less than Laplace's at epsilon 2, whatever the records are."""
    found = preview(AGES, epsilon=2.0, statistic="sum", mechanisms=["best", "laplace"], **EXACT)
    assert found.expected_error("laplace") == pytest.approx(60)
    assert found.expected_error("best") == pytest.approx(60 * 0.851, rel=2e-3)
    assert preview(AGES, epsilon=2.0, statistic="sum", **EXACT).mechanisms == ("best", "clipped")
    plan = epsilon_for("uniform", n=50, within=100, probability=0.9, statistic="sum", **EXACT)
    tail = preview("uniform", n=50, epsilon=float(plan), statistic="sum", **EXACT).tail("best", 100)
    assert 0.09 < tail <= 0.1


def test_synthetic_shapes():
    found = preview("normal", n=300, epsilon=1.0, bounds=(-10, 10), data_sets=3)
    assert len(found.laws("duff")) == 3
    rngs = np.random.default_rng(0).spawn(3)
    sets = [-10 + 20 * (0.5 + rng.normal(size=300) / 20) for rng in rngs]
    errors = [
        preview(values, epsilon=1.0, bounds=(-10, 10)).expected_error("duff") for values in sets
    ]
    assert found.expected_error("duff") == pytest.approx(np.mean(errors), rel=1e-6)
    assert preview("beta", n=0, epsilon=1.0, bounds=(0, 1), data_sets=1).expected_error(
        "duff"
    ) == pytest.approx(0.5)
    assert preview("uniform", n=50, epsilon=1.0, bounds=(0, 1)).expected_error("best") < 0.1


def test_what_is_not_private_says_so():
    given = preview(AGES, epsilon=1.0, **EXACT)
    synthetic = preview("uniform", n=50, epsilon=1.0, data_sets=1, **EXACT)
    assert given.not_private
    assert not synthetic.not_private
    assert "NOT PRIVATE" in str(given)
    assert "NOT PRIVATE" not in str(synthetic)
    plan = epsilon_for(AGES, within=5, probability=0.9, **EXACT)
    assert plan.not_private
    assert "NOT PRIVATE" in str(plan)


@pytest.mark.parametrize("mechanism", ["best", "duff", "smooth-pareto", "laplace"])
def test_epsilon_for_is_the_smallest(mechanism):
    plan = epsilon_for(AGES, within=4, probability=0.9, mechanism=mechanism, **EXACT)
    assert (
        preview(AGES, epsilon=float(plan), mechanisms=[mechanism], **EXACT).tail(mechanism, 4)
        <= 0.1
    )
    assert (
        preview(AGES, epsilon=float(plan) * 0.99, mechanisms=[mechanism], **EXACT).tail(
            mechanism, 4
        )
        > 0.1
    )


def test_epsilon_for_at_the_ends():
    assert float(epsilon_for(AGES, within=200, probability=0.99, **EXACT)) < 1e-6
    with pytest.raises(DuffError, match="no epsilon up to a million"):
        epsilon_for([0.5, 0.7], within=0.0, probability=0.99, bounds=(0, 1), mechanism="laplace")


def test_dates_and_categories():
    days = [dt.date(2020, 1, 1 + i % 28) for i in range(200)]
    found = preview(days, epsilon=1.0, bounds=(dt.date(2019, 1, 1), dt.date(2021, 1, 1)))
    assert 0 < found.expected_error("best") < 3
    votes = preview(["a"] * 10 + ["b"] * 7, epsilon=1.0, categories=["a", "b"], statistic="mode")
    assert votes.expected_error("best") == pytest.approx(votes.tail("best", 0))


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"epsilon": 0}, "epsilon must be"),
        ({"statistic": "maximum"}, "It depends on a single record"),
        (
            {"statistic": "sum", "mechanisms": ["duff"]},
            "Use one of best, clipped, laplace",
        ),
        (
            {
                "data": [dt.date(2020, 1, 2)],
                "statistic": "sum",
                "bounds": (dt.date(2020, 1, 1), dt.date(2021, 1, 1)),
            },
            "have no sum",
        ),
        ({"mechanisms": ["gauss"]}, "'gauss' is not a mechanism of median"),
        ({"mechanisms": ["smooth-laplace"]}, "'smooth-laplace' needs delta"),
        ({"mechanisms": ["rank-exponential"], "statistic": "mean"}, "medians and quantiles"),
        ({"q": 0.3}, "q is only valid for"),
        ({"statistic": "quantile"}, "quantile needs q"),
        ({"bounds": None}, "bounds are missing"),
        (
            {"bounds": None, "categories": [1, 2], "statistic": "mode", "mechanisms": ["laplace"]},
            "adds noise to a number",
        ),
        ({"bounds": 3}, "must be a pair"),
        ({"n": 5}, "n is only for"),
        ({"data": "gamma", "n": 5}, "data must be a list or array of public records or"),
        ({"data": "normal"}, "n is missing"),
        ({"data": "normal", "n": 5, "data_sets": 0}, "data_sets must be"),
        (
            {"data": "normal", "n": 5, "bounds": (dt.date(2020, 1, 1), dt.date(2021, 1, 1))},
            "needs numbers as bounds",
        ),
    ],
)
def test_bad_input(arguments, text):
    call = {"data": AGES, "epsilon": 1.0, "bounds": (0, 120)} | arguments
    with pytest.raises(DuffError, match=text):
        preview(call.pop("data"), **call)


@pytest.mark.parametrize(
    ("within", "probability"),
    [(-1, 0.9), (math.inf, 0.9), (math.nan, 0.9), (1, 0), (1, 1), ("1", 0.5)],
)
def test_bad_wishes(within, probability):
    with pytest.raises(DuffError, match="must be"):
        epsilon_for(AGES, within=within, probability=probability, **EXACT)
    with pytest.raises(DuffError, match="one of best"):
        preview(AGES, epsilon=1.0, mechanisms=["best"], **EXACT).tail("duff", 1)


def test_a_preview_says_which_mean_to_take():
    """A narrow column in wide bounds, and one that fills its bounds."""
    x = np.random.default_rng(1).normal(50, 1, 1000)
    wide = duffdp.preview(x, statistic="mean", epsilon=1.0, bounds=(0.0, 1e5), draws=50)
    assert wide.mechanisms == ("best", "clipped", "duff")
    assert wide.advice() == ['At epsilon 1 the mechanism "clipped" has the smaller error.']
    assert wide.advice()[0] in str(wide)
    tail = np.append(x, [1e5] * 10)
    heavy = duffdp.preview(tail, statistic="mean", epsilon=1.0, bounds=(0.0, 1e5), draws=50)
    assert heavy.advice() == ['At epsilon 1 the mechanism "best" has the smaller error.']
    few = duffdp.preview(x[:5], statistic="mean", epsilon=0.1, bounds=(0.0, 100.0), draws=2000)
    assert few.advice() == ['At epsilon 0.1 "best" and "clipped" err about the same.']
    assert duffdp.preview(x, epsilon=1.0, bounds=(0.0, 100.0)).advice() == []


@pytest.mark.parametrize("shape", ["normal", "uniform", "skewed", "ages", "beta"])
def test_half_of_a_shape_lies_where_it_is_said_to(shape):
    """Errors grow with the width of the shape, not with that of the bounds."""
    given = {"n": 1000, "epsilon": 1.0, "mechanisms": ["best"], "data_sets": 4, "step": 0.001}
    narrow = preview(shape, bounds=(0.0, 1e4), half_between=(20.0, 45.0), **given)
    wide = preview(shape, bounds=(0.0, 1e4), half_between=(2000.0, 4500.0), **given)
    assert 30 < wide.expected_error("best") / narrow.expected_error("best") < 300
    plan = epsilon_for(
        shape, within=5.0, probability=0.9, half_between=(20, 45), n=200, bounds=(0, 1e4)
    )
    assert float(plan) < float(
        epsilon_for(
            shape, within=5.0, probability=0.9, half_between=(200, 450), n=200, bounds=(0, 1e4)
        )
    )


@pytest.mark.parametrize("pair", [(45, 20), (3, 3), (1,), "ab", (0, math.inf), 7])
def test_half_between_is_two_numbers(pair):
    with pytest.raises(DuffError, match="two finite numbers, the smaller one first"):
        preview("normal", n=10, epsilon=1, bounds=(0, 9), half_between=pair)


def test_half_between_is_for_shapes():
    with pytest.raises(DuffError, match="only for a named distribution"):
        preview([1, 2, 3], epsilon=1, bounds=(0, 9), half_between=(1, 2))
