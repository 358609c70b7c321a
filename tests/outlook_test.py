"""What the outlook of a release says is what the law says: against `duffdp.preview`, the laws
themselves and draws without noise.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import duffdp
from duffdp import TablePlan
from duffdp.planning.outcomes import NoLaw
from duffdp.planning.outlook import Likeness, Outlook
from duffdp.planning.shapes import SHAPES

AGES = Likeness("ages", (0.0, 120.0), integer=True)
STATISTICS = ["median", "mean", "sum", 0.9, "iqr", {"statistic": "trimmed_mean", "trim": 0.1}]


def outlooks(asked, likeness=AGES, **given):
    given = {"bounds": {"age": (0, 120)}, "interval": None, **given}
    plan = TablePlan({"age": asked}, epsilon=2, **given)
    return {ask.title: (ask, Outlook(ask, likeness)) for ask in plan.plan.asks}


@pytest.mark.parametrize("interval", [None, 0.9])
def test_errors_are_those_of_preview_on_the_same_records(interval):
    looked = outlooks(["median", "sum", "mean"], interval=interval)
    records = AGES.records(300)
    for name in ("median", "sum", "mean"):
        ask, outlook = looked[f"age_{name}"]
        seen = duffdp.preview(
            records,
            epsilon=ask.epsilon,
            statistic=name,
            bounds=(0, 120),
            interval=interval,
            mechanisms=["best"],
        )
        forecast = outlook.errors(ask.epsilon, 300)
        assert forecast.errors[0].expected_error() == pytest.approx(
            seen.expected_error("best"), rel=0.03
        )
        assert outlook.within(ask.epsilon, 300, 0.95) == pytest.approx(
            seen.error_within("best", 0.95), rel=0.06
        )
        found = outlook.intervals(ask.epsilon, 300)
        assert bool(found.widths) == (interval is not None)
        if interval is not None:
            assert found.widths[0] == pytest.approx(seen.expected_width("best"), rel=0.05)
            assert found.too_few[0] == pytest.approx(seen.too_few("best"), abs=0.02)


@pytest.mark.parametrize("asked", STATISTICS, ids=str)
def test_deviations_are_quantiles_of_the_same_law(asked):
    """A share of all outcomes is as much below as it says, and their size is the error."""
    ((ask, outlook),) = list(outlooks([asked]).values())[1:]
    errors = outlook.errors(ask.epsilon, 200).errors[0]
    at = np.array([errors.deviation(u) for u in (np.arange(2000) + 0.5) / 2000])
    assert (np.diff(at) >= 0).all()
    assert at[0] < 0 < at[-1]
    assert np.abs(at).mean() == pytest.approx(errors.expected_error(), rel=0.02)
    for t in np.quantile(np.abs(at), [0.3, 0.6, 0.9]):
        assert (np.abs(at) > t + 1e-9).mean() == pytest.approx(errors.tail(t), abs=0.01)


def test_what_only_draws_can_tell_says_so_and_is_then_simulated():
    ask, outlook = outlooks(["std"])["age_std"]
    for _ in range(2):
        with pytest.raises(NoLaw, match="simulated"):
            outlook.errors(ask.epsilon, 200)
    assert outlook.errors(ask.epsilon, 200, draws=20).draws == 20


def test_the_least_epsilon_keeps_the_error_and_a_smaller_one_does_not():
    _, outlook = outlooks(["median"])["age_median"]
    found = outlook.least_epsilon(3, 0.95, 400)
    for epsilon, kept in ((found, True), (found / 1.01, False)):
        assert (outlook.within(Fraction(epsilon), 400, 0.95) <= 3) is kept
    assert outlook.least_epsilon(0, 0.99, 400) < 1e6


@pytest.mark.parametrize(("asked", "power"), [("mean", -0.5), ("sum", 0.5), ("median", -0.5)])
def test_the_sampling_error_is_that_of_samples(asked, power):
    like = replace(AGES, shape="normal", integer=False)
    _, outlook = outlooks([asked], like)[f"age_{asked}"]
    rng = np.random.default_rng(5)
    drawn = 60 + 6 * rng.normal(size=(4000, 900))
    exact = {"mean": drawn.mean(axis=1), "sum": drawn.sum(axis=1)}.get(asked)
    exact = np.median(drawn, axis=1) if exact is None else exact
    assert outlook.sampling_error(900) == pytest.approx(1.96 * exact.std(), rel=0.25)
    assert outlook.sampling_error(3600) / outlook.sampling_error(900) == pytest.approx(4**power)


def test_a_count_is_not_estimated_from_a_sample():
    assert outlooks(["median"])["count"][1].sampling_error(100) is None


def test_records_of_a_public_sample_are_its_own():
    sample = np.array([1.0, 2.0, 2.0, 50.0])
    assert Likeness("mine", sample=sample).records(8).tolist() == [1, 1, 2, 2, 2, 2, 50, 50]
    assert Likeness("mine", sample=sample).records(2).tolist() == [2, 50]


@pytest.mark.parametrize("shape", ["normal", "skewed", "uniform", "ages", "beta"])
def test_shapes_lie_where_they_are_stretched_to(shape):
    assert shape in SHAPES
    records = Likeness(shape, (0.0, 120.0)).records(5000)
    assert len(np.unique(records)) == 5000
    assert 0 <= np.quantile(records, 0.001) < np.quantile(records, 0.98) <= 120


def test_ages_are_flat_and_then_fall():
    counts, _ = np.histogram(Likeness("ages", (0.0, 120.0)).records(12000), np.arange(0, 121, 20))
    assert counts[:3] == pytest.approx([3000] * 3, rel=0.03)
    assert counts[3] == pytest.approx(2250, rel=0.05)
    assert counts[4] == pytest.approx(750, rel=0.1)
    assert counts[5] == 0


def test_categories_are_taken_to_be_even():
    plan = TablePlan(
        {"kind": {"statistic": "histogram"}}, epsilon=1, categories={"kind": ["a", "b", "c"]}
    )
    outlook = Outlook(plan.plan.asks[1], Likeness())
    assert outlook.data(300).truth == (100, 100, 100)
    assert outlook.within(Fraction(1), 300, 0.95) == pytest.approx(3, abs=1)
