"""The forecast of a release agrees with its law: against `duffdp.preview`, the laws
themselves and draws without noise.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import duffdp
from duffdp import DuffError, TablePlan
from duffdp._parameters import EPSILON
from duffdp._planning.release_forecast import ReleaseForecast
from duffdp._planning.synthetic import SHAPES, SyntheticRecords

AGES = SyntheticRecords("ages", (0.0, 120.0), integer=True)
STATISTICS = ["median", "mean", "sum", 0.75, "iqr", {"statistic": "trimmed_mean", "trim": 0.1}]


def release_forecasts(asked, records=AGES, **given):
    given = {"bounds": {"age": (0, 120)}, "interval": None, **given}
    plan = TablePlan({"age": asked}, epsilon=2, **given)
    return {
        request.title: (request, ReleaseForecast(request, records))
        for request in plan.plan.requests
    }


@pytest.mark.parametrize("interval", [None, 0.9])
def test_errors_are_those_of_preview_on_the_same_records(interval):
    looked = release_forecasts(["median", "sum", "mean"], interval=interval)
    records = AGES.records(300)
    for name in ("median", "sum", "mean"):
        ask, release = looked[f"age_{name}"]
        seen = duffdp.preview(
            records,
            epsilon=ask[EPSILON],
            statistic=name,
            bounds=(0, 120),
            interval=interval,
            mechanisms=["best"],
        )
        forecast = release.errors(ask[EPSILON], 300)
        assert forecast.errors[0].expected_error() == pytest.approx(
            seen.expected_error("best"), rel=0.03
        )
        assert release.within(ask[EPSILON], 300, 0.95) == pytest.approx(
            seen.error_within("best", 0.95), rel=0.06
        )
        found = release.intervals(ask[EPSILON], 300)
        assert bool(found.widths) == (interval is not None)
        if interval is not None:
            assert found.widths[0] == pytest.approx(seen.expected_width("best"), rel=0.05)
            assert found.too_few[0] == pytest.approx(seen.too_few("best"), abs=0.02)


@pytest.mark.parametrize("asked", STATISTICS, ids=str)
def test_deviations_are_quantiles_of_the_same_law(asked):
    """A share of all outcomes is as much below as it says, and their size is the error."""
    ((ask, release),) = list(release_forecasts([asked]).values())[1:]
    errors = release.errors(ask[EPSILON], 200).errors[0]
    at = np.array([errors.deviation(u) for u in (np.arange(2000) + 0.5) / 2000])
    assert (np.diff(at) >= 0).all()
    assert at[0] < 0 < at[-1]
    assert np.abs(at).mean() == pytest.approx(errors.expected_error(), rel=0.02)
    for t in np.quantile(np.abs(at), [0.3, 0.6, 0.9]):
        assert (np.abs(at) > t + 1e-9).mean() == pytest.approx(errors.tail(t), abs=0.01)


ALL_KINDS = [
    *STATISTICS,
    *("std", "variance", "describe", 0.95, [0.25, 0.5, 0.75]),
    {"statistic": "mean", "mechanism": "clipped"},
    {"statistic": "share", "between": (0, 18)},
    {"statistic": "histogram", "bins": [0, 18, 65, 120]},
]


@pytest.mark.parametrize("interval", [None, 0.9])
@pytest.mark.parametrize("asked", ALL_KINDS, ids=str)
def test_a_release_needs_draws_if_its_errors_are_simulated(asked, interval):
    for request, release in release_forecasts([asked], interval=interval).values():
        draws = 3 if release.needs_draws else 0
        for forecast in (release.errors, release.intervals):
            assert forecast(request[EPSILON], 50, 3).draws == draws
        if release.needs_draws:
            with pytest.raises(DuffError, match="only be simulated"):
                release.errors(request[EPSILON], 50)


def test_the_least_epsilon_keeps_the_error_and_a_smaller_one_does_not():
    _, release = release_forecasts(["median"])["age_median"]
    found = release.least_epsilon(3, 0.95, 400)
    for epsilon, kept in ((found, True), (found / 1.01, False)):
        assert (release.within(Fraction(epsilon), 400, 0.95) <= 3) is kept
    assert release.least_epsilon(0, 0.99, 400) < 1e6


@pytest.mark.parametrize(("asked", "power"), [("mean", -0.5), ("sum", 0.5), ("median", -0.5)])
def test_the_sampling_error_is_that_of_samples(asked, power):
    records = replace(AGES, shape="normal", integer=False)
    _, release = release_forecasts([asked], records)[f"age_{asked}"]
    rng = np.random.default_rng(5)
    drawn = 60 + 6 * rng.normal(size=(4000, 900))
    exact = {"mean": drawn.mean(axis=1), "sum": drawn.sum(axis=1)}.get(asked)
    exact = np.median(drawn, axis=1) if exact is None else exact
    assert release.sampling_error(900) == pytest.approx(1.96 * exact.std(), rel=0.25)
    assert release.sampling_error(3600) / release.sampling_error(900) == pytest.approx(4**power)


def test_a_count_is_not_estimated_from_a_sample():
    assert release_forecasts(["median"])["count"][1].sampling_error(100) is None


def test_records_of_a_public_sample_are_its_own():
    sample = np.array([1.0, 2.0, 2.0, 50.0])
    assert SyntheticRecords("mine", sample=sample).records(8).tolist() == [1, 1, 2, 2, 2, 2, 50, 50]
    assert SyntheticRecords("mine", sample=sample).records(2).tolist() == [2, 50]


@pytest.mark.parametrize("shape", ["normal", "skewed", "uniform", "ages", "beta"])
def test_shapes_lie_where_they_are_stretched_to(shape):
    assert shape in SHAPES
    records = SyntheticRecords(shape, (0.0, 120.0)).records(5000)
    assert len(np.unique(records)) == 5000
    assert 0 <= np.quantile(records, 0.001) < np.quantile(records, 0.98) <= 120


def test_ages_are_flat_and_then_fall():
    counts, _ = np.histogram(
        SyntheticRecords("ages", (0.0, 120.0)).records(12000), np.arange(0, 121, 20)
    )
    assert counts[:3] == pytest.approx([3000] * 3, rel=0.03)
    assert counts[3] == pytest.approx(2250, rel=0.05)
    assert counts[4] == pytest.approx(750, rel=0.1)
    assert counts[5] == 0


def test_categories_are_taken_to_be_even():
    plan = TablePlan(
        {"kind": {"statistic": "histogram"}}, epsilon=1, categories={"kind": ["a", "b", "c"]}
    )
    release = ReleaseForecast(plan.plan.requests[1], SyntheticRecords())
    assert release.data(300).truth == (100, 100, 100)
    assert release.within(Fraction(1), 300, 0.95) == pytest.approx(3, abs=1)
