"""Comparisons: exact where the noise is known, by the union bound where ends were drawn."""

from __future__ import annotations

import datetime as dt
import json
import math
from fractions import Fraction

import numpy as np
import polars as pl
import pytest

import duffdp
from duffdp import DuffError, Table
from duffdp.mechanisms import Geometric
from duffdp.report.picker import picker_data

SIZES = {"a": 300, "b": 220, "c": 60}
ROWS = pl.DataFrame(
    {
        "g": [key for key, size in SIZES.items() for _ in range(size)],
        "x": [float((7 * i) % 101) for i in range(sum(SIZES.values()))],
        "yes": ["y" if i % 3 else "n" for i in range(sum(SIZES.values()))],
    }
)
GIVEN = {"bounds": {"x": (0, 100)}, "by": "g", "keys": list(SIZES)}
ASKED = {
    "x": ["sum", "mean", "median"],
    "yes": {"statistic": "share", "values": ["y"], "name": "share"},
}


def exact(column):
    """The exact number of each group."""
    groups = {key: ROWS.filter(pl.col("g") == key) for key in SIZES}
    return {
        key: {
            "count": rows.height,
            "x_sum": rows["x"].sum(),
            "x_mean": rows["x"].mean(),
            "x_median": np.median(rows["x"].to_numpy()),
            "share": (rows["yes"] == "y").mean(),
        }[column]
        for key, rows in groups.items()
    }


COLUMNS = ("count", "x_sum", "x_mean", "x_median", "share")


@pytest.fixture(scope="module")
def tables():
    return [duffdp.table(ROWS, ASKED, epsilon=2, rng=seed, **GIVEN) for seed in range(400)]


@pytest.mark.parametrize("column", COLUMNS)
def test_intervals_hold_as_often_as_they_say(tables, column):
    """Of 400 tables; with a false-alarm rate of 1e-9, and too wide ones are refused as well."""
    truth, held, ratios = exact(column), 0, 0
    for table in tables:
        found = table.compare(column, "a", "b")
        held += found.low <= truth["a"] - truth["b"] <= found.high
        ratios += found.ratio_low <= truth["a"] / truth["b"] <= found.ratio_high
        assert found.low <= found.difference <= found.high
    confidence = 0.9 if column == "x_median" else 0.95
    assert found.confidence == confidence
    assert found.exact == (column != "x_median")
    # P(Binomial(400, 0.95) < 351) and P(Binomial(400, 0.9) < 316) are below 1e-9.
    least = 351 if confidence == 0.95 else 316
    assert held >= least
    assert ratios >= least
    if column in ("count", "x_sum"):  # the exact distribution: no wider than needed
        assert held < 400


@pytest.mark.parametrize("column", COLUMNS)
def test_an_order_that_is_certain_is_right(tables, column):
    truth, wrong = exact(column), 0
    for table in tables:
        ranked = table.rank(column)
        assert len(ranked.certain) + len(ranked.uncertain) == 3
        wrong += any(truth[high] < truth[low] for high, low in ranked.certain)
    assert ranked.simultaneous == (column != "x_median")
    assert wrong <= 49  # P(Binomial(400, 0.05) > 49) < 1e-9
    if column == "count":
        assert ranked.certain == [("a", "b"), ("a", "c"), ("b", "c")]
        assert [(group.first_place, group.last_place) for group in ranked.groups] == [
            *((1, 1), (2, 2)),
            (3, 3),
        ]


def test_the_difference_of_counts_by_brute_force():
    """The reach is the least that the difference of two geometric noises keeps to."""
    table = duffdp.table(ROWS, {"x": "mean"}, epsilon=1, rng=1, **GIVEN)
    found = table.compare("count", "a", "b")
    epsilon = table.releases["count"].loss.epsilon
    alpha = math.exp(-float(epsilon))
    sizes = np.arange(-4000, 4001)
    noise = (1 - alpha) / (1 + alpha) * alpha ** np.abs(sizes)
    both = np.convolve(noise, noise)
    middle = len(both) // 2
    reach = (found.high - found.low) // 2
    inside = both[middle - reach : middle + reach + 1].sum()
    less = both[middle - reach + 1 : middle + reach].sum()
    assert less < 0.95 <= inside
    one = Geometric(Fraction(epsilon)).largest_noise(1, 0.95)
    assert one < reach < 2 * one


def test_both_sides_share_the_probability():
    """The ends of a difference of means follow from intervals of 97.5 %."""
    given = {"column": "x", "bounds": (0, 100), "epsilon": 1, "rng": 1, "by": "g"}
    given["keys"] = list(SIZES)
    each = duffdp.mean(ROWS, interval=0.975, **given)
    found = duffdp.compare(each, each, confidence=0.95)
    low, high = each.low[0] - each.high[0], each.high[0] - each.low[0]
    assert (found.low[0], found.high[0]) == pytest.approx((low, high))


def test_all_groups_share_the_probability_of_an_order():
    table = duffdp.table(ROWS, {"x": "mean"}, epsilon=1, rng=1, **GIVEN)
    noise = Geometric(table.releases["count"].loss.epsilon)
    reach = noise.largest_noise(1, 1 - 0.05 / 3)
    for group in table.rank("count").groups:
        assert group.high - group.value == reach


def test_totals_and_their_groups():
    table = duffdp.table(ROWS, ASKED, epsilon=50, total=True, rng=1, **GIVEN)
    found = table.compare("count", "a", "all")
    assert found.low <= -280 <= found.high
    numbers = table.compared_numbers(table.measures[0], 0)
    assert numbers[0].reach(numbers[1], Fraction(1, 20)) is not None
    assert numbers[0].reach(numbers[3], Fraction(1, 20)) is None  # the total has its noise too
    assert table.compare("x_mean", "a", "all").exact
    again = Table.from_dict(table.to_dict())
    for column in COLUMNS:
        first, second = (one.compare(column, "a", "c") for one in (table, again))
        assert first.wide() == second.wide()


def test_chosen_confidence_and_simultaneous_tables():
    table = duffdp.table(ROWS, ASKED, epsilon=2, rng=1, simultaneous=True, **GIVEN)
    wide = table.compare("count", "a", "b", confidence=0.999)
    narrow = table.compare("count", "a", "b", confidence=0.5)
    assert wide.low < narrow.low
    assert wide.confidence == 0.999
    with pytest.raises(DuffError, match="follows from the intervals"):
        table.compare("x_median", "a", "b", confidence=0.9)
    with pytest.raises(DuffError, match="follows from the intervals"):
        table.rank("x_median", confidence=0.9)
    median = table.compare("x_median", "a", "b")
    assert median.confidence == table.releases["x_median"].confidence
    assert table.rank("x_median").simultaneous


def test_releases_of_two_years():
    given = {"column": "x", "bounds": (0, 100), "epsilon": 1, "interval": 0.95, "rng": 1}
    this, last = duffdp.median(ROWS, **given), duffdp.median(ROWS, **given | {"rng": 2})
    change = duffdp.compare(this, last)
    assert change.difference == this.value - last.value
    assert (change.low, change.high) == pytest.approx((this.low - last.high, this.high - last.low))
    assert change.confidence == 0.9
    assert change.different is False
    groups = {"by": "g", "keys": list(SIZES)}
    counts = [duffdp.count(ROWS, epsilon=e, rng=1, **groups) for e in (1, 2)]
    change = duffdp.compare(*counts)
    assert len(change.difference) == len(change.low) == 3
    assert change.confidence == 0.95  # the noise is known, so no interval was needed
    assert change.to_polars().columns[0] == "group"
    assert "with at least 95%" in str(change)
    days = [dt.date(2024, 1, 1) + dt.timedelta(days=i) for i in range(300)]
    bounds = (dt.date(2023, 1, 1), dt.date(2025, 12, 31))
    first, second = (
        duffdp.median(days, epsilon=5, bounds=bounds, interval=0.95, rng=i) for i in (1, 2)
    )
    change = duffdp.compare(first, second)
    assert isinstance(change.difference, dt.timedelta)
    assert change.low <= dt.timedelta(0) <= change.high
    assert change.ratio is None


def test_what_cannot_be_compared():
    count, mean = duffdp.count(ROWS, epsilon=1), duffdp.mean([1, 2], epsilon=1, bounds=(0, 9))
    with pytest.raises(DuffError, match="the same statistic"):
        duffdp.compare(count, mean)
    with pytest.raises(DuffError, match="needs two releases"):
        duffdp.compare(count, 5)
    grouped = duffdp.count(ROWS, epsilon=1, by="g", keys=["a", "b"])
    with pytest.raises(DuffError, match="same groups"):
        duffdp.compare(count, grouped)
    modes = duffdp.mode(ROWS, column="g", categories=["a", "b"], epsilon=1)
    with pytest.raises(DuffError, match="not numbers"):
        duffdp.compare(modes, modes)
    quartiles = duffdp.quantiles([1, 2], [0.1, 0.9], epsilon=1, bounds=(0, 9))
    with pytest.raises(DuffError, match="one number"):
        duffdp.compare(quartiles, quartiles)
    population = duffdp.mean([1, 2], epsilon=1, bounds=(0, 9), interval=0.95, covers="population")
    with pytest.raises(DuffError, match="intervals with the same target"):
        duffdp.compare(population, duffdp.mean([1], epsilon=1, bounds=(0, 9), interval=0.95))
    table = duffdp.table(ROWS, {"x": "median"}, epsilon=1, **GIVEN)
    with pytest.raises(DuffError, match="there is no group 'z'"):
        table.compare("count", "a", "z")
    with pytest.raises(DuffError, match="there is no column"):
        table.compare("x_mean", "a", "b")


def test_withheld_numbers_are_not_compared():
    given = GIVEN | {"suppress_below": 100, "keys": ["a", "c"]}
    table = duffdp.table(ROWS, {"x": "mean"}, epsilon=50, **given)
    found = table.compare("x_mean", "a", "c")
    assert (found.difference, found.low, found.ratio) == (None, None, None)
    assert table.rank("x_mean").order == ["a"]


def test_without_intervals_there_are_none():
    table = duffdp.table(ROWS, {"x": "median"}, epsilon=1, interval=None, **GIVEN)
    found = table.compare("x_median", "a", "b")
    assert (found.low, found.confidence, found.different) == (None, None, None)
    assert table.compare("count", "a", "b").confidence == 0.95


def test_the_picker_agrees_with_python(tables):
    data = json.loads(picker_data(tables[0]))
    assert data["groups"] == list(SIZES)
    for measure in data["measures"]:
        found = tables[0].compare(measure["name"], "a", "b")
        assert measure["name"] in COLUMNS
        if "centers" in measure:
            drawn = measure["centers"][0] - measure["centers"][1]
            low, high = drawn - measure["reach"], drawn + measure["reach"]
        else:
            low = measure["lows"][0] - measure["highs"][1]
            high = measure["highs"][0] - measure["lows"][1]
        assert (low, high) == pytest.approx((found.low, found.high))
        assert measure["confidence"] == pytest.approx(100 * found.confidence)
    assert {measure["name"] for measure in data["measures"]} == set(COLUMNS)
