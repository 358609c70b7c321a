"""Intervals through the public door: covered as often as promised, paid for, said everywhere, and
refused before data are looked at where nothing can be promised."""

from __future__ import annotations

import datetime as dt
import json
import math
import re
from fractions import Fraction
from functools import partial

import numpy as np
import polars as pl
import pytest

import duffdp
from command_line import ADULT, AGES, rows
from duffdp import DuffError, Ledger, Plan, Release
from duffdp.audit.neighbours import largest_log_ratio, neighbours
from duffdp.mechanisms import Geometric, Staircase
from duffdp.statistics.quantile_interval import value_between_ends
from inquiries import plan_of
from release_draws import laws, recorded

AGE = {"bounds": (0, 120), "step": 1}
COVERS = ["data", "population"]


class Untouchable:
    """Data that fail a test when they are looked at."""

    def __fail(self, *_):
        raise AssertionError("data were looked at before the parameters were checked")

    __len__ = __iter__ = __array__ = to_numpy = __fail


@pytest.mark.parametrize("confidence", [0, 1, 95, -0.5, "0.95", True, math.nan, [0.9]])
def test_a_confidence_that_is_none(confidence):
    with pytest.raises(DuffError, match=r"between 0 and 1.*interval=0\.95"):
        duffdp.median(Untouchable(), epsilon=1, interval=confidence, **AGE)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"interval": 0.9, "covers": "sample"}, r'must be "data".*got \'sample\''),
        ({"covers": None}, 'must be "data"'),
        ({"covers": "population"}, "needs interval"),
        (
            {"interval": 0.9, "covers": "population", "unit": "p", "contributions": 2},
            "independent rows, got up to 2",
        ),
    ],
)
def test_what_an_interval_cannot_cover(given, said):
    with pytest.raises(DuffError, match=said):
        duffdp.quantile(Untouchable(), 0.9, epsilon=1, column="x", **AGE, **given)


REFUSED = [
    (duffdp.variance, {}, "interquartile range"),
    (duffdp.std, {}, "interquartile range"),
    (duffdp.mode, {}, r"histogram.*distance_bound\(\)"),
    (partial(duffdp.top, k=2), {}, "histogram"),
    (partial(duffdp.trimmed_mean, trim=0.1), {}, "mean or a median"),
    (duffdp.mean, {"mechanism": "clipped"}, 'mechanism="best"'),
    (duffdp.mean, {"mechanism": "duff"}, 'mechanism="best"'),
    (duffdp.mean, {"mechanism": "distance"}, 'mechanism="best"'),
]


@pytest.mark.parametrize(("verb", "given", "instead"), REFUSED)
def test_a_statistic_without_an_interval(verb, given, instead):
    with pytest.raises(DuffError, match=rf"no interval is available for .*{instead}"):
        verb(Untouchable(), epsilon=1, interval=0.95, **AGE, **given)


def test_a_slope_without_an_interval():
    with pytest.raises(DuffError, match=r"no interval is available for slope.*quantiles"):
        duffdp.slope("x", "y", data=Untouchable(), epsilon=1, interval=0.95, **AGE)


@pytest.mark.parametrize("together", [1, "yes", None])
def test_simultaneous_is_true_or_false(together):
    with pytest.raises(DuffError, match="simultaneous must be True or False"):
        duffdp.mean(Untouchable(), epsilon=1, interval=0.9, simultaneous=together, **AGE)


def test_simultaneous_needs_an_interval():
    with pytest.raises(DuffError, match=r"needs interval.*interval=0\.95"):
        duffdp.mean(Untouchable(), epsilon=1, simultaneous=True, **AGE)


# The laws of a width and of both ends as they reach the sampler, on data that are hard for them:
# half of the records on the far side of all candidates between.

MOST, TRUTH = 4000, 299
HARD = np.array([*range(300), *[MOST] * 300])


def misses(**given):
    """The probabilities that the low and the high end of a population's median are on the wrong
    side of the data's, or that an interval around some value misses this.
    """
    both = []
    for end, data in (("low", HARD), ("high", MOST - HARD)):
        frame = pl.DataFrame({"x": data, "p": range(len(data))})
        call = {"column": "x", "bounds": (0, MOST), "step": 1, **given}
        if given.get("covers") == "population":
            with recorded() as draws:
                duffdp.median(frame, **call)
            law = draws[1 if end == "low" else 2].law()
            wrong = range(TRUTH + 1, MOST + 1) if end == "low" else range(MOST - TRUTH)
            both.append(sum(math.exp(law.log_probability(x)) for x in wrong))
            continue
        for value in (0, 280, 1000, 2500, MOST):
            with recorded(path=(value,)) as draws:
                duffdp.median(frame, **call)
            law = draws[1].law()
            half_widths = [0, *(2**i for i in range(13))]
            truth = sorted(data.tolist())[299]
            wrong = [i for i, width in enumerate(half_widths) if abs(truth - value) > width]
            both.append(sum(math.exp(law.log_probability(i)) for i in wrong))
    return both


@pytest.mark.parametrize("confidence", [0.5, 0.95])
def test_the_ends_of_a_population_are_right_as_often_as_promised(confidence):
    for missed in misses(epsilon=1, interval=confidence, covers="population"):
        assert missed <= (1 - confidence) / 2


@pytest.mark.parametrize("confidence", [0.5, 0.95])
def test_intervals_for_the_data_miss_no_more_often_than_promised(confidence):
    missed = misses(epsilon=1, interval=confidence)
    assert (1 - confidence) / 3 < max(missed) <= 1 - confidence


def test_people_with_several_rows_widen_the_interval():
    missed = misses(epsilon=2, interval=0.95, unit="p", contributions=3)
    assert 0.02 < max(missed) <= 0.05


def test_either_end_of_a_population_may_be_wrong_half_as_often_as_the_interval():
    made = plan_of("median", interval=0.95, covers="population")
    ends = [part.statistic for part in made.program.draws[1:]]
    assert [(end.side, end.failure_rate) for end in ends] == [
        ("low", Fraction(1, 40)),
        ("high", Fraction(1, 40)),
    ]
    assert [end.epsilon for end in ends] == [Fraction(7, 16)] * 2


@pytest.mark.parametrize(
    ("covers", "shares"),
    [("data", [1 / 2, 1 / 2]), ("population", [1 / 8, 7 / 16, 7 / 16])],
)
def test_epsilon_pays_for_the_value_and_the_interval(covers, shares, tmp_path):
    ledger = Ledger(tmp_path / "budget.db", epsilon=2)
    with recorded() as draws:
        release = duffdp.median(
            range(50), epsilon=0.7, interval=0.9, covers=covers, ledger=ledger, **AGE
        )
    assert [draw.epsilon for draw in draws] == pytest.approx([0.7 * share for share in shares])
    assert ledger.spent() == 0.7
    assert sum(part.epsilon for part in release.mechanism.parts) == Fraction(7, 10)


@pytest.mark.parametrize("covers", COVERS)
@pytest.mark.parametrize("value", [0, 2**14 + 1, 2**15])
def test_neighbours_through_the_verb(covers, value):
    """Whatever value was drawn before the width."""
    places = [0.0, 4.0, 8.0]

    def draws_of(data):
        given = {"bounds": (0.0, 8.0), "step": 2.0**-12, "interval": 0.5, "covers": covers}
        records = [places[i] for i in data]
        return laws(lambda: duffdp.median(records, epsilon=300, **given), path=(value,))

    loss = largest_log_ratio(draws_of, ((a, b) for a, b, _ in neighbours(3, 5)))
    assert (200 if covers == "data" else 0) < loss <= 300 * (1 + 1e-9)


# Counts and sums: the noise tells how far away they are.


@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
@pytest.mark.parametrize("epsilon", [0.05, 1.0, 6.0])
def test_geometric_noise_is_not_exceeded_as_often_as_promised(epsilon, confidence):
    for sensitivity in (1, 7):
        noisy = Geometric(epsilon)
        most = noisy.largest_noise(sensitivity, confidence)

        def within(most, noisy=noisy, sensitivity=sensitivity):
            reach = range(-most, most + 1)
            return math.fsum(noisy.probability(0, noise, sensitivity) for noise in reach)

        assert within(most) >= confidence
        assert most == 0 or within(most - 1) < confidence


def test_counts_and_sums_end_where_the_noise_does():
    ages = np.arange(20, 60)
    for contributions in (1, 3):
        frame = pl.DataFrame({"x": ages, "p": ages // 2})
        given = {"column": "x", "unit": "p", "contributions": contributions, "interval": 0.9}
        each = Fraction(1, 2) / contributions
        found = duffdp.sum(frame, epsilon=0.5, bounds=(0, 100), step=1, **given)
        most = Staircase(each).largest_noise(100, 0.9)
        assert (found.value - found.low, found.high - found.value) == (most, most)
        found = duffdp.count(frame, epsilon=0.5, **given)
        most = Geometric(each).largest_noise(1, 0.9)
        assert found.low == max(0, found.high - 2 * most)
        assert found.columns[1].name == "count_low"
        assert Release.from_dict(found.to_dict()) == found


def test_a_count_below_none_ends_there():
    for seed in range(20):
        found = duffdp.count([], epsilon=0.5, interval=0.9, rng=seed)
        assert 0 <= found.low <= found.value <= found.high


@pytest.mark.parametrize("statistic", [{"statistic": "count"}, {"statistic": "sum", **AGE}])
def test_noise_tells_nothing_of_a_population(statistic):
    asked = {"column": "x", "interval": 0.95, "covers": "population"}
    with pytest.raises(DuffError, match=r'only cover the data.*covers="data"'):
        Plan([{**statistic, **asked}], epsilon=1)


# What comes out.


def test_the_value_lies_between_ends_in_order():
    grid = duffdp.Grid(0, 9, 1)
    assert value_between_ends(grid, [5, 3, 7]) == [5, 3, 7]
    assert value_between_ends(grid, [1, 3, 7]) == [3, 3, 7]
    assert value_between_ends(grid, [9, 3, 7]) == [7, 3, 7]
    assert value_between_ends(grid, [5, 10, 10]) == [5, 0, 9]
    assert value_between_ends(grid, [5, 8, 2]) == [5, 2, 8]


def test_a_release_with_an_interval():
    ages = np.random.default_rng(1).normal(40, 12, 20_000)
    release = duffdp.median(ages, epsilon=1, interval=0.95, covers="population", **AGE, rng=3)
    assert release.low <= release.value <= release.high <= release.low + 2
    assert (release.confidence, release.covers) == (0.95, "population")
    assert release.rows() == [
        ({}, "median", release.value),
        ({}, "median low", release.low),
        ({}, "median high", release.high),
    ]
    assert f"median: {release.value} ({release.low} to {release.high})" in repr(release)
    told = release.to_dict()
    assert told["interval"] == {
        "confidence": 0.95,
        "covers": "population",
        "simultaneous": False,
    }
    assert (told["low"], told["high"]) == (release.low, release.high)
    assert Release.from_dict(json.loads(json.dumps(told))) == release
    assert release.too_few() == [False]


def test_without_an_interval_nothing_changes():
    release = duffdp.median(range(50), epsilon=1, **AGE, rng=3)
    assert (release.low, release.high, release.confidence, release.covers) == (None,) * 4
    assert not {"low", "high", "interval"} & release.to_dict().keys()
    assert len(release.rows()) == len(release.columns) == 1


def test_groups_and_dates():
    day = dt.date(2024, 1, 1)
    frame = pl.DataFrame(
        {
            "x": [day + dt.timedelta(days=i % 300) for i in range(9000)],
            "g": ["a", "b", "b"] * 3000,
            "quantile_low": 1,
        }
    )
    release = duffdp.quantile(
        frame,
        0.25,
        column="x",
        by="g",
        keys=["a", "b", "none"],
        epsilon=4,
        bounds=(day, dt.date(2025, 1, 1)),
        interval=0.9,
        rng=1,
    )
    assert release.value.columns == ["g", "quantile", "quantile_low", "quantile_high"]
    assert release.value["quantile_low"].to_list() == release.low
    assert all(isinstance(end, dt.date) for end in release.low + release.high)
    assert release.too_few() == [False, False, True]
    assert Release.from_dict(release.to_dict()) == release


def test_a_retry_needs_the_same_interval(tmp_path):
    ledger = Ledger(tmp_path / "budget.db", epsilon=5)
    given = {"epsilon": 1, **AGE}
    first = duffdp.median(range(90), interval=0.9, ledger=ledger.call("a"), **given)
    again = duffdp.median(range(90), interval=0.9, ledger=ledger.call("a"), **given)
    assert first == again
    for other in ({}, {"interval": 0.8}, {"interval": 0.9, "covers": "population"}):
        with pytest.raises(DuffError, match="other parameters"):
            duffdp.median(range(90), ledger=ledger.call("a"), **given, **other)
    assert ledger.spent() == 1


def test_a_plan_with_intervals(tmp_path):
    (tmp_path / "plan.toml").write_text(
        f"""
        source = "{ADULT}"
        epsilon = 2
        [[release]]
        statistic = "median"
        column = "age"
        bounds = [0, 120]
        interval = 0.95
        covers = "population"
        """
    )
    plan = Plan.from_toml(tmp_path / "plan.toml")
    assert plan.check().rows == {"median of age": 1}
    (release,) = plan.run().values()
    assert release.confidence == 0.95
    assert 35 <= release.low <= release.high <= 39


def test_commands(call, tmp_path):
    page = tmp_path / "page.md"
    asked = ("--interval", "0.95", "-e", "1")
    code, out, _ = call("median", ADULT, *AGES, *asked, "--report", page)
    assert code == 0
    assert re.search(r"median +3\d \(3\d to 3\d\)\n", out)
    assert "brackets contain the exact answer for the records with 95% probability" in out
    assert "With at least 95% probability the exact answer for the records is" in page.read_text()
    assert re.search(r"\| 3\d \(3\d to 3\d\) \|", page.read_text())
    out = call("median", ADULT, *AGES, *asked, "--covers", "population", "-f", "csv")[1]
    (row,) = rows(out)
    assert int(row["low"]) <= int(row["value"]) <= int(row["high"])
    few = ("--by", "sex", "--keys", "nobody")
    out = call("median", ADULT, *AGES, *asked, "--covers", "population", *few)[1]
    assert "(too few to tell)" in out
    assert "the population they were sampled from with 95% probability, for each group" in out
    code, _, err = call("median", ADULT, *AGES, "--interval", "95", "-e", "1")
    assert (code, "between 0 and 1, got 95.0" in err) == (2, True)
    out = call("count", ADULT, "--interval", "0.95", "-e", "1")[1]
    assert re.search(r"count +[\d,]+ \([\d,]+ to [\d,]+\)\n", out)
    out = call("sum", ADULT, *AGES, "--interval", "0.95", "-e", "1", "-f", "csv")[1]
    assert list(rows(out)[0]) == ["statistic", "value", "low", "high"]
    clipped = ("--mechanism", "clipped", "--interval", "0.95")
    code, _, err = call("mean", ADULT, *AGES, *clipped, "-e", "1")
    assert (code, "--mechanism best" in err) == (2, True)


def test_a_page_shows_the_interval(tmp_path):
    ages = np.random.default_rng(1).normal(40, 12, 500)
    release = duffdp.median(ages, epsilon=1, interval=0.95, covers="population", **AGE)
    page = duffdp.report.write(release, tmp_path / "page.html").read_text()
    assert f"{release.value} ({release.low} to {release.high})" in page
    assert 'class="span"' in page
    assert "may have any distribution, is in the interval" in page
