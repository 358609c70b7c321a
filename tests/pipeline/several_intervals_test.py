"""Several numbers with an interval each, ranges between two quantiles, and what holds for all of
them together: what is drawn, what is covered, what is said."""

from __future__ import annotations

import datetime as dt
import itertools
import json
import math
import re
from collections import Counter
from decimal import Decimal
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from matplotlib import pyplot
from scipy.stats import binom

import duffdp
from command_line import ADULT, AGES, rows
from duffdp import Grid, Plan, Release
from duffdp._pipeline.request import ReleaseRequest
from duffdp._sampling.entropy import entropy
from duffdp.domain import Bins
from duffdp.mechanisms import Geometric
from duffdp.mechanisms.noise_errors import best_width
from duffdp.statistics.interval_width import IntervalWidth
from duffdp.statistics.quantile_interval import IntervalEnd
from duffdp.statistics.statistic import Scope
from inquiries import plan_of
from release_draws import recorded

AGE = {"bounds": (0, 120), "step": 1}
GRID = Grid(0, 9, 1)
QUARTILES = (Fraction(1, 4), Fraction(1, 2), Fraction(3, 4))


BOTH = list(itertools.product(QUARTILES, ("low", "high")))


def ends_of(statistic, parameters, together, groups):
    """The ends of a population's quantiles, and what each costs and misses."""
    ends = {"interval": 0.9, "covers": "population", "simultaneous": together}
    drawn = plan_of(statistic, parameters, groups=groups, **ends).program.draws
    assert sum(part.share for part in drawn) == 1
    parts = [part for part in drawn if isinstance(part.statistic, IntervalEnd)]
    assert all(part.statistic.epsilon == part.share for part in parts)
    return [(part.statistic.q, part.statistic.side) for part in parts], {
        (part.share, part.statistic.failure_rate) for part in parts
    }


@pytest.mark.parametrize(("together", "groups"), [(False, 1), (False, 7), (True, 1), (True, 7)])
def test_what_the_ends_of_a_population_cost_and_miss(together, groups):
    """Epsilon is split evenly; a miss is halved for both ends, and divided where all hold."""
    miss = Fraction(1, 20) / (3 * groups if together else 1)
    found = ends_of("quantiles", {"qs": QUARTILES}, together, groups)
    assert found == (BOTH, {(Fraction(7, 8) / 6, miss)})
    ranges = ends_of("iqr", None, together, groups)
    miss = Fraction(1, 40) / (groups if together else 1)
    assert ranges == (BOTH[:2] + BOTH[4:], {(Fraction(7, 32), miss)})
    alone = ends_of("median", None, together, groups)
    assert alone[1] == {(Fraction(7, 16), Fraction(1, 20) / (groups if together else 1))}


def widths_of(statistic, parameters=None, together=False, groups=1, domain=GRID):
    """Every width that is drawn for the data, and the share of epsilon that it costs."""
    ends = {"interval": 0.9, "simultaneous": together, "unit": "p", "contributions": 2}
    plan = plan_of(statistic, parameters, groups=groups, domain=domain, **ends)
    assert sum(part.share for part in plan.program.draws) == 1
    made = []

    def watched(run):
        numbers = None
        while True:
            try:
                draws = run.send(numbers)
            except StopIteration:
                return
            made.extend(d for d in draws if isinstance(d.statistics, IntervalWidth))
            numbers = [[[3]] * draw.width for draw in draws]

    watched(plan.program.start(Scope(domain), plan.row_epsilon))
    for draw in made:
        assert draw.statistics.epsilon == draw.epsilon
    return [
        (draw.statistics.qs, draw.statistics.sides, draw.statistics.failure_rate, 2 * draw.epsilon)
        for draw in made
    ]


@pytest.mark.parametrize(("together", "groups"), [(False, 1), (False, 7), (True, 1), (True, 7)])
def test_what_widths_cost_and_miss(together, groups):
    """One width holds together for free; a side may fail half as often, and gets half as much."""
    miss = Fraction(1, 10) / (groups if together else 1)
    for statistic, parameters, qs in (
        ("median", None, QUARTILES[1:2]),
        ("quantiles", {"qs": QUARTILES}, QUARTILES),
        ("iqr", None, QUARTILES[::2]),
    ):
        found = widths_of(statistic, parameters, together, groups)
        assert found == [(qs, "both", miss, Fraction(1, 2))]
    each = miss / (5 if together else 1)  # count, mean, quartiles, 1 % and 99 %
    inner, *outer = widths_of("describe", None, together, groups)
    assert inner == (QUARTILES, "both", each, Fraction(2, 5) * Fraction(1, 3))
    assert outer == [
        ((Fraction(q, 100),), side, each / 2, Fraction(2, 5) / 6)
        for q in (1, 99)
        for side in ("low", "high")
    ]
    alone = widths_of("quantile", {"q": 0.99}, together, groups)
    assert [part[1:] for part in alone] == [
        (side, miss / 2, Fraction(1, 4)) for side in ("low", "high")
    ]


def test_groups_are_counted_where_all_hold_together():
    """Through the public keys; and for a margin those of the margin."""
    given = {"epsilon": 1, "column": "x", "interval": 0.9, "covers": "population", **AGE}
    for together, many in ((True, 4), (False, 1)):
        keys = {"by": "g", "keys": list("abcd"), "simultaneous": together}
        made = ReleaseRequest("median", {**given, **keys}).check().plan
        assert made.program.draws[1].statistic.failure_rate == Fraction(1, 20) / many
        assert made.interval.simultaneous == together
    made = ReleaseRequest("median", {**given, "simultaneous": True}).check().plan
    assert made.program.draws[1].statistic.failure_rate == Fraction(1, 20)


@pytest.mark.parametrize("together", [False, True])
def test_the_noise_of_counts_cells_and_sums_by_how_many_there_are(together):
    frame = pl.DataFrame({"x": [1, 5, 5, 8] * 50, "g": list("aabb") * 50})
    keys = {"by": "g", "keys": list("abcde")}
    given = {"epsilon": 0.5, "interval": 0.9, "simultaneous": together, "column": "x"}
    miss = Fraction(1, 10)

    def most(many):
        return Geometric(0.5).largest_noise(1, 1 - miss / (many if together else 1))

    found = duffdp.count(frame, **given, **keys)
    assert max(h - lo for lo, h in zip(found.low, found.high, strict=True)) == 2 * most(5)
    found = duffdp.histogram(frame, bins=[0, 3, 6, 9], nonnegative=False, rng=1, **given, **keys)
    assert found.value.columns[1:4] == ["[0, 3)", "[0, 3)_low", "[0, 3)_high"]
    widths = {
        high[cell] - low[cell]
        for low, high in zip(found.low, found.high, strict=True)
        for cell in low
    }
    assert max(widths) == 2 * most(15)
    assert (most(15) > most(5) > most(1)) == together
    found = duffdp.sum(frame, **given, **keys, bounds=(0, 10), step=1)
    alone = duffdp.sum(frame, **given, bounds=(0, 10), step=1)
    assert (found.high[0] - found.low[0] > alone.high - alone.low) == together


@pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(1), Fraction(12)])
def test_the_mean_of_a_describe_has_the_ends_of_a_mean_for_a_fifth_of_epsilon(epsilon):
    ends = {"interval": 0.9, "covers": "data", "simultaneous": False}
    whole = plan_of("describe", epsilon=epsilon, **ends)
    alone = plan_of("mean", epsilon=epsilon / 5, **ends)
    numbers = [12_000, 18_000]
    found = whole.program.post_process.values(GRID, [*numbers, *[3] * 15])
    assert found[3:6] == alone.program.post_process.values(GRID, numbers)
    assert found[4] < found[3] < found[5]


def test_how_often_the_count_of_a_describe_is_covered():
    """The law of both noises, added up: the promise holds, and a bound a fifth closer breaks it."""
    domain, epsilon, moved = duffdp.Grid(0, 3, 1), 1.0, 3
    made = plan_of("describe", epsilon=5.0, domain=domain, interval=0.9)
    width = best_width(epsilon, moved, 2)
    line = range(-120, 121)
    law = Counter()
    for a, b in itertools.product(line, line):
        away = abs(a) + abs(b)
        step = 0 if away < width else 1 + (away - width) // moved
        law[a + b] += math.exp(-epsilon * step)
    whole = math.fsum(law.values())
    missed = {0.8: 0.0, 1.0: 0.0}
    for noise, weight in law.items():
        count, low, high, *_ = made.program.post_process.values(
            domain, [1500, 1500 + noise, *[0] * 15]
        )
        for scale in missed:
            inside = count - scale * (count - low) <= 1000 <= count + scale * (high - count)
            missed[scale] += 0 if inside else weight / whole
    assert missed[1.0] <= 0.1 < missed[0.8]


def test_all_cells_hold_together_and_closer_ones_would_be_noticed():
    """Exactly, for noise that is independent from cell to cell; the union bound costs little."""
    for cells, epsilon in ((3, 0.4), (20, 0.1)):
        domain = Bins(range(cells + 1))
        ends = {"interval": 0.9, "simultaneous": True}
        made = plan_of("histogram", epsilon=epsilon, domain=domain, **ends)
        _, low, high = made.program.post_process.values(domain, [10_000] * cells)[:3]
        most = high - 10_000
        assert low == 10_000 - most

        def held(size, cells=cells, epsilon=epsilon):
            noise = range(-size, size + 1)
            return math.fsum(Geometric(epsilon).probability(0, k) for k in noise) ** cells

        assert 0.9 <= held(most) < 0.92
        assert held(most * 4 // 5) < 0.9


@pytest.mark.parametrize("given", [{"adds_up": True}, {"nonnegative": False}, {}])
def test_the_ends_of_cells_hold_the_exact_numbers_and_the_value(given):
    """Whenever the noise is no larger than promised, for all noise of two cells."""
    domain, most = Bins([0, 1, 2]), Geometric(1).largest_noise(1, 0.8)
    made = plan_of("histogram", given, domain=domain, interval=0.8)
    for exact in itertools.product((0, 1, 4), repeat=2):
        for noise in itertools.product(range(-most - 3, most + 4), repeat=2):
            numbers = [a + b for a, b in zip(exact, noise, strict=True)]
            found = made.program.post_process.values(domain, numbers)
            for i in range(2):
                value, low, high = found[3 * i : 3 * i + 3]
                assert low <= value <= high
                assert abs(noise[i]) > most or low <= exact[i] <= high
                assert low >= 0 or given == {"nonnegative": False}


# Interquartile ranges.


def quantile(data, q):
    return sorted(data)[max(1, math.ceil(Fraction(q) * len(data))) - 1]


def test_right_ends_of_quartiles_hold_the_range():
    """All data sets of a small domain, all ends that are right; and one that is not can miss."""
    domain, missed = Grid(0, 3, 1), 0
    made = plan_of("iqr", domain=domain, interval=0.8, covers="population")
    drawn = plan_of("iqr", domain=domain, interval=0.8)
    for size in range(1, 5):
        for data in itertools.combinations_with_replacement(range(4), size):
            first, third = (quantile(data, q) for q in (0.25, 0.75))
            for ends in itertools.product(range(5), repeat=4):
                low = [0 if end == 4 else end for end in ends[::2]]
                high = [min(end, 3) for end in ends[1::2]]
                value, least, most = made.program.post_process.values(domain, [2, *ends])
                assert 0 <= least <= value <= most
                # The range of two quartiles that were drawn, in any order.
                for quartiles in ((0, 2), (3, 1)):
                    found = drawn.program.post_process.values(domain, [*quartiles, *ends])
                    assert found == [value, least, most]
                right = low[0] <= first <= high[0] and low[1] <= third <= high[1]
                held = least <= third - first <= most
                assert held or not right
                missed += not held
    assert missed > 0


def test_samples_of_ranges_are_covered_and_the_middle_of_an_interval_is_not():
    """With a false alarm in 1e9 runs. Four ends that are right are more than is needed, so that an
    interval that is a fifth narrower would not be found out."""
    draws, miss, grid = 400, 0.4, Grid(0, 2**16, 1)
    rng = np.random.default_rng(9)
    most = int(binom.isf(1e-9, draws, miss))
    middle = missed = 0
    data = rng.integers(0, grid.size, 400)
    exact = quantile(data, 0.75) - quantile(data, 0.25)
    source = np.random.default_rng(10)
    for _ in range(draws):
        found = duffdp.iqr(data, epsilon=4, bounds=grid, interval=1 - miss, rng=source)
        missed += not found.low <= exact <= found.high
        off = (found.high - found.low) * 0.49
        middle += not found.low + off <= exact <= found.high - off
    assert missed <= most < middle


# Quantiles in order.


def test_quantiles_stay_in_order_and_ends_make_room():
    made = plan_of("quantiles", {"qs": QUARTILES}, interval=0.8)
    rng = np.random.default_rng(2)
    for numbers in rng.integers(0, 11, (2000, 9)).tolist():
        numbers[:3] = sorted(min(number, 9) for number in numbers[:3])
        found = made.program.post_process.values(GRID, numbers)
        assert found[::3] == numbers[:3]
        for i in range(3):
            value, low, high = found[3 * i : 3 * i + 3]
            first, last = numbers[3 + 2 * i : 5 + 2 * i]
            first, last = 0 if first == 10 else first, min(last, 9)
            assert low == min(value, first, last)
            assert high == max(value, first, last)


def test_many_quantiles_after_a_count():
    qs = [i / 40 for i in range(1, 40)]
    with recorded() as draws:
        duffdp.quantiles(range(50), qs, epsilon=2, interval=0.9, **AGE)
    assert sum(draw.epsilon for draw in draws) == pytest.approx(2)
    # A count, all quantiles, a width for those from 10 % to 90 %, and two for each of the others.
    assert len(draws) == 3 + 2 * 6
    found = duffdp.quantiles([0, 4, 9] * 900, [0, 0.5, 1], epsilon=40, interval=0.9, **AGE)
    assert [len(each) for each in (found.value, found.low, found.high)] == [3, 3, 3]
    assert found.value == sorted(found.value)
    assert found.low[1] <= 4 <= found.high[1]


# What comes out, in every shape.

RECORDS = np.random.default_rng(1).normal(40, 12, 20_000).round(2)
FRAME = pl.DataFrame({"x": RECORDS, "g": ["a", "b"] * 10_000, "mean_low": 1})
BY = {"by": "g", "keys": ["a", "b", "none"]}
CALLS = {
    "mean": lambda data, **g: duffdp.mean(data, bounds=(0, 120), **g),
    "mean of candidates": lambda data, **g: duffdp.mean(data, **AGE, **g),
    "decimal": lambda data, **g: duffdp.mean(
        data, bounds=(Decimal(0), Decimal(120)), step=Decimal("0.1"), **g
    ),
    "share": lambda data, **g: duffdp.share(data, between=(0, 40), **g),
    "histogram": lambda data, **g: duffdp.histogram(data, bins=[0, 40, 120], **g),
    "quantiles": lambda data, **g: duffdp.quantiles(data, [0.25, 0.75], **AGE, **g),
    "describe": lambda data, **g: duffdp.describe(data, **AGE, **g),
    "iqr": lambda data, **g: duffdp.iqr(data, **AGE, **g),
    "count": lambda data, **g: duffdp.count(data, **g),
    "sum": lambda data, **g: duffdp.sum(data, **AGE, **g),
}


@pytest.mark.parametrize("together", [False, True])
@pytest.mark.parametrize("name", CALLS)
def test_releases_and_what_is_said_of_them(name, together, tmp_path):
    given = {"epsilon": 2, "column": "x", "interval": 0.9, "simultaneous": together}
    for where in ({}, BY):
        found = CALLS[name](FRAME, **given, **where)
        assert found.simultaneous is together
        told = json.loads(found.to_json())
        assert told["interval"] == {"confidence": 0.9, "covers": "data", "simultaneous": together}
        again = Release.from_dict(told)
        assert again == found
        assert (again.low, again.high, again.too_few()) == (
            found.low,
            found.high,
            found.too_few(),
        )
        assert ("intervals hold together" in repr(found)) == together
        for group in found.estimates():
            for span in group:
                assert span.low <= span.value <= span.high
        assert len(found.labels()) == len(found.columns)
        page = duffdp.report.write(found, tmp_path / "page.md").read_text()
        together_said = "at once" in page[page.index("With at least 90%") :][:400]
        assert together_said == (together and (bool(where) or len(found.columns) > 3))
        assert len(found.display_tables()[0].header) == len(where) // 2 + len(found.columns) // 3
        axes = found.plot()
        pyplot.close(axes.figure)
        assert len(axes.get_yticklabels()) == len(found.cells) * len(found.columns) // 3
        if not where and found.columns[0].name not in ("count", "25%", "[0, 40)"):
            assert found.low == found.cells[0][1] or isinstance(found.low, list)


def test_too_few_to_tell():
    """A mean and a share of nobody are the whole range; counts and sums have none."""
    given = {"epsilon": 1, "column": "x", "interval": 0.9, **BY}
    for name in ("mean", "mean of candidates", "decimal", "share", "quantiles", "describe"):
        found = [CALLS[name](FRAME, **given, rng=seed) for seed in range(8)]
        told = [one.too_few() for one in found]
        assert {tuple(each[:2]) for each in told} == {(False, False)}
        least = next(i for i, each in enumerate(told) if each[2])
        assert "(too few to tell)" in found[least].to_markdown()
    for name in ("count", "sum", "histogram", "iqr"):
        assert CALLS[name](FRAME, **given).too_few() == [False] * 3
    assert CALLS["mean"](FRAME, epsilon=1, column="x").too_few() == [False]


def test_dates_have_a_mean_between_two_dates():
    day = dt.date(2024, 1, 1)
    days = pl.Series([day + dt.timedelta(days=i % 300) for i in range(9000)])
    bounds = (day, dt.date(2025, 1, 1))
    found = duffdp.mean(days, epsilon=4, bounds=bounds, interval=0.9)
    assert day < found.low <= dt.date(2024, 5, 30) <= found.high
    assert (found.high - found.low).days <= 1
    found = duffdp.iqr(days, epsilon=4, bounds=bounds, interval=0.9)
    assert found.low <= dt.timedelta(days=150) <= found.high
    assert Release.from_dict(found.to_dict()) == found


def test_seeds_and_populations():
    source = entropy(3)
    assert source.secure is False
    given = {"epsilon": 2, "interval": 0.9}
    for name in ("mean", "share", "quantiles", "iqr"):
        data = CALLS[name](RECORDS, **given, rng=3)
        wider = CALLS[name](RECORDS, **given, rng=3, covers="population")
        assert wider.covers == "population"
        widths = [
            np.subtract(np.atleast_1d(one.high), np.atleast_1d(one.low)) for one in (wider, data)
        ]
        assert (widths[0] >= widths[1]).all()


def test_plans_and_commands(call, tmp_path):
    words = {"column": "x", "by": "g", "keys": ["a", "b"], "interval": 0.9, "simultaneous": True}
    plan = Plan(
        [{"statistic": "quantile", "q": [0.1, 0.9], **AGE, **words}, {"statistic": "count"}],
        epsilon=2,
    )
    assert list(plan.check().rows.values()) == [4, 1]
    found = plan.run(FRAME)
    assert next(iter(found.values())).simultaneous
    by = ("--by", "sex", "--keys", "Male,Female")
    shared = (ADULT, *AGES, "--interval", "0.9", "-e", "1")
    code, out, _ = call("mean", *shared, "--simultaneous", *by)
    assert code == 0
    assert re.search(r"Male +mean +39 \(39 to 40\)\n", out)
    assert "for all groups at once" in out
    code, out, _ = call("describe", *shared, "-f", "csv")
    assert code == 0
    assert [row["statistic"] for row in rows(out)][:3] == ["count", "mean", "1%"]
    assert all(float(r["low"]) <= float(r["value"]) <= float(r["high"]) for r in rows(out))
    asked = ("histogram", ADULT, "--column", "age", "--bins", "0,40,120", "--interval", "0.9")
    code, out, _ = call(*asked, "-e", "1", "--simultaneous")
    assert re.search(r"\[0, 40\) +[\d,]+ \([\d,]+ to [\d,]+\)\n", out)
    assert "for all numbers at once" in out
