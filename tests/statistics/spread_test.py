"""Variances, standard deviations and interquartile ranges: what k changes reach against a search,
what each draw may lose given the draws before, and what is released."""

from __future__ import annotations

import datetime as dt
import math
import sys
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

import duffdp
import oracle
from cases import small_data
from duffdp import BoundsError, Grid
from duffdp._engines.requests import ColumnRequest, LevelSums, Quantization, RecordCounts
from duffdp.audit.neighbours import StepLaw, largest_log_ratio, neighbours
from duffdp.mechanisms import Exponential, PermuteAndFlip
from duffdp.statistics import InterquartileRange, Variance
from duffdp.statistics.mean import SoftCounts
from duffdp.statistics.private_range import range_ends
from duffdp.statistics.program import NOT_DRAWN
from duffdp.statistics.statistic import Scope
from duffdp.statistics.variance import (
    MOMENTS_PROGRAM,
    Moments,
    SquaresAround,
    released_variance,
    variance_of,
)
from engines import ENGINES, open_engine, open_groups
from inquiries import ask, engine_of, windows
from release_draws import laws
from windows import same

VERBS = {"variance": duffdp.variance, "std": duffdp.std, "iqr": duffdp.iqr}


def statistics_after(count, interval, sides, grid):
    """The rough mean and the sums that a program asks one group for, after numbers that were drawn
    before, at an epsilon at which any record is enough for a rough mean.
    """
    program = MOMENTS_PROGRAM.start(Scope(grid), Fraction(10**6))
    next(program)
    program.send([[[count]]])
    (rough,) = program.send([[[interval]]])
    (sums,) = program.send([[[side] for side in sides]])
    return rough.statistic_of(0), sums.statistic_of(0)


def distances(steps):
    steps.check()
    return np.repeat(steps.distance, steps.count).tolist()


# The interquartile range.


@pytest.mark.parametrize(("size", "most"), [(4, 5), (5, 4), (3, 6)])
def test_iqr_is_what_a_search_reaches(size, most):
    grid = Grid(0, size - 1, 1)
    for data in small_data(most, size):
        if data:  # a search from no record does not go far enough
            found = distances(InterquartileRange().steps(list(data), grid))
            assert found == oracle.reached(oracle.iqr, data, size), data


def test_iqr_of_no_record():
    assert distances(InterquartileRange().steps([], Grid(0, 3, 1))) == [0, 1, 1, 1]


@pytest.mark.parametrize("statistic", [InterquartileRange(), Variance()], ids=repr)
@pytest.mark.parametrize(("size", "most"), [(3, 6), (5, 4)])
def test_one_record_moves_a_distance_by_at_most_one(statistic, size, most):
    grid = Grid(0, size - 1, 1)
    outputs = statistic.outputs(grid)
    places = np.unique(np.linspace(0, outputs.size - 1, 301).astype(np.int64)).tolist()
    known = {}
    for data in small_data(most, size):
        steps = statistic.steps(list(data), grid)
        known[data] = list(map(steps.distance_of, places))
    for here, there, _ in neighbours(size, most):
        change = np.subtract(known[here], known[there])
        assert np.abs(change).max() <= 1, (here, there)


@pytest.mark.parametrize("statistic", [InterquartileRange(), Variance()], ids=repr)
def test_windows_are_parts_of_the_whole(statistic):
    rng = np.random.default_rng(5)
    for _ in range(20):
        size, n = int(rng.integers(2, 40)), int(rng.integers(0, 60))
        data = rng.choice([0, size - 1, *range(size)], n)
        grid = Grid(0, size - 1, 1)
        whole = statistic.steps(data, grid)
        for max_distance in (0, 1, 3, 8, 100):
            for window in windows(statistic, engine_of([data] * 2, grid), grid, max_distance):
                assert window.domain == whole.domain
                same(whole, window)


def test_many_levels_of_an_iqr_are_looked_at_in_pieces(monkeypatch):
    import duffdp.statistics.iqr as module

    data, grid = np.random.default_rng(2).integers(0, 500, 300), Grid(0, 499, 1)
    expected = distances(InterquartileRange().steps(data, grid))
    monkeypatch.setattr(module, "MAX_IQR_NUMBERS", 1000)
    assert distances(InterquartileRange().steps(data, grid)) == expected


# The variance in one draw.


@pytest.mark.parametrize(("size", "most"), [(4, 4), (3, 5), (5, 3)])
def test_what_a_search_reaches_is_reached(size, most):
    """The distance is never more than the fewest changes, and 0 at the truth alone."""
    grid, statistic = Grid(0, size - 1, 1), Variance()
    step = Fraction(1) / statistic.outputs(grid).index_units(Fraction(1))
    for data in small_data(most, size):
        if not data:
            continue
        steps = statistic.steps(list(data), grid)
        low, high = oracle.reaches(oracle.variance, data, size)
        for k, ends in enumerate(zip(low, high, strict=True)):
            for end in ends:
                place = math.isqrt(
                    end.numerator * step.denominator**2 // (end.denominator * step.numerator**2)
                )
                assert steps.distance_of(place) <= k, (data, k)
        truth = math.isqrt(
            low[0].numerator * step.denominator**2 // (low[0].denominator * step.numerator**2)
        )
        assert steps.measure(0) == 1
        assert steps.distance_of(truth) == 0


def test_variance_by_its_definition():
    """What is reached, level by level, from sums over the records themselves."""
    rng = np.random.default_rng(3)
    for _ in range(50):
        top, n = int(rng.integers(1, 9)), int(rng.integers(1, 9))
        data = sorted(rng.integers(0, top + 1, n).tolist())
        steps = Variance().steps(data, Grid(0, top, 1))
        half = Fraction(top, 2)
        exact = Fraction(1) / steps.domain.index_units(Fraction(1))
        for k in range(n + 2):
            kept = data[k : n - k]
            lowest = deviations(kept) / (n + k) if kept else Fraction(0)
            highest = Fraction(0)
            for i in range(k + 1):
                if n + 2 * i - k >= 1:
                    spread = max(
                        deviations([*data, *[0] * i], top, Fraction(q, 32) * i) for q in range(33)
                    )
                    highest = max(highest, spread / (n + 2 * i - k))
            highest = min(highest, half**2)
            inside = [i for i, d in zip(steps.start, steps.distance, strict=True) if d <= k]
            reached = max(
                i + c
                for i, c, d in zip(steps.start, steps.count, steps.distance, strict=True)
                if d <= k
            )
            assert (
                (int(min(inside)) * exact) ** 2 <= lowest <= ((int(min(inside)) + 1) * exact) ** 2
            )
            # The best proportion of what joins lies between two of those tried.
            assert float((int(reached) * exact) ** 2) >= float(highest) * (1 - 1e-9)
            assert float((int(reached) * exact) ** 2) <= float(highest) * 1.01 + 1e-9


def deviations(data, top=0, at_top=Fraction(0)):
    """The sum of squared deviations, with some of the zeros at the end moved to the top."""
    n = len(data)
    total = sum(data) + at_top * top
    return sum(x * x for x in data) + at_top * top**2 - Fraction(total) ** 2 / n


# Soft counts.


NOTHING = (NOT_DRAWN, NOT_DRAWN)


@pytest.mark.parametrize("rough", [NOTHING, (0, 0), (9, 0), (-3, 9), (1, 2), (500, 490)])
@pytest.mark.parametrize("top", [1, 7, 2**16, 2**16 + 1, 2**40])
def test_one_record_adds_as_much_as_the_noise_is_made_for(top, rough):
    grid = Grid(0, top, 1)
    for candidate in (NOT_DRAWN, 0, 1, 12, 2**9, 2**20):
        _, statistic = statistics_after(5, candidate, rough, grid)
        assert isinstance(statistic, Moments if rough == NOTHING else SquaresAround)
        for record in {0, 1, top // 2, top // 3 + 1, top - 1, top}:
            totals = statistic.of_records(np.array([record]), grid)
            assert min(totals) >= 0
            assert sum(totals) == statistic.sensitivity(grid)
        assert set(statistic.of_records(np.array([], dtype=np.int64), grid)) == {0}


def test_a_variance_from_soft_counts():
    rng = np.random.default_rng(6)
    for top in (1, 9, 1000, 2**16 - 1):
        data = rng.integers(0, top + 1, 50)
        grid = Grid(0, top, 1)
        mean = Fraction(int(data.sum()), 50)
        exact = sum((int(x) - mean) ** 2 for x in data) / 50
        totals = Moments((0, top)).of_records(data, grid)
        assert variance_of((0, 0, *NOTHING, *totals), top) == exact
        # Around the exact mean, rounded: what it is beside the centre is taken off.
        rough = SoftCounts(squares=True).of_records(data, grid)
        _, sums = statistics_after(5, 0, rough, grid)
        around = sums.of_records(data, grid)
        assert variance_of((0, 0, *rough, *around, NOT_DRAWN), top) == exact
    assert variance_of((0, 0, *NOTHING, 0, 0, 0), 9) == 0
    assert variance_of((0, 0, *NOTHING, -5, -1, -2), 9) == 0
    assert variance_of((0, 0, *NOTHING, 4, 100, 4), 9) == 0  # no data have such sums
    assert variance_of((0, 0, *NOTHING, 7, -3, 7), 10) == 25  # half the range, squared
    assert variance_of((0, 0, 9, 0, 5, -3, NOT_DRAWN), 10) == 25  # no more, all around an end
    assert variance_of((0, 0, 9, 1, -5, -3, NOT_DRAWN), 10) == 0
    assert variance_of((0, 0, 9, 1, -5, 7, NOT_DRAWN), 10) == 0


def test_few_records_make_less_of_noise():
    """Without an interval a part of the noise is taken off, and a part is left; with one the sums
    are taken as they are."""
    epsilon = Fraction(12, 11)  # the soft counts get 1
    numbers = (0, 7, *NOTHING, 30, 20, 10)
    assert released_variance(numbers, 10, epsilon) == variance_of(numbers, 10)
    few = (0, NOT_DRAWN, *NOTHING)
    # Noise is of the size of 100, the square of the range: 40 are taken off at either end.
    assert released_variance((*few, 640, 0, 440), 10, epsilon) == Fraction(600 * 400, 1000**2) * 100
    for low, high in ((0, 0), (40, 40), (-999, 40)):
        assert released_variance((*few, low, 0, high), 10, epsilon) == 1
    assert released_variance((*few, 440, 0, 0), 10, epsilon) == Fraction(1, 4)
    assert released_variance((*few, 440, 0, 0), 10, epsilon / 4) == 1


@pytest.mark.parametrize("size", [5, 40, 3000])
def test_a_variance_is_the_square_of_a_standard_deviation(size):
    """With the same draws, with and without an interval."""
    data = np.random.default_rng(8).exponential(5, size)
    for seed in range(10):
        given = {"epsilon": 1.0, "bounds": (0.0, 1000.0), "rng": seed}
        root = duffdp.std(data, **given).value
        assert duffdp.variance(data, **given).value == pytest.approx(root**2, rel=1e-9)


def test_clamped_and_rounded_records_keep_their_variance():
    grid = Grid(-10.0, 10.0)
    data, candidate = np.random.default_rng(7).normal(0, 1, 20_000), 28
    ends = range_ends(candidate, grid.size - 1)
    low, high = map(grid.value, ends)
    assert (low, high) == pytest.approx((-2.5, 4.375))
    totals = Moments(ends).of_records(data, grid)
    found = variance_of((0, candidate, *NOTHING, *totals), grid.size - 1)
    assert float(found) * grid.spacing**2 == pytest.approx(np.clip(data, low, high).var(), rel=1e-5)
    assert Moments(ends).levels.top <= 2**16
    rough = SoftCounts(ends, squares=True).of_records(data, grid)
    _, around = statistics_after(5, candidate, rough, grid)
    totals = around.of_records(data, grid)
    assert variance_of((0, candidate, *rough, *totals, NOT_DRAWN), grid.size - 1) == found


def test_a_rough_mean_that_looks_like_none_is_read_as_none():
    """Noise may come to what stands for no draw; `variance_of` reads three sums then."""
    _, sums = statistics_after(10**6, 28, NOTHING, Grid(-10.0, 10.0))
    assert isinstance(sums, Moments)


def test_the_rough_mean_needs_no_pass_of_its_own():
    grid = Grid(-10.0, 10.0)
    mean, sums = statistics_after(10**6, 28, (7, 9), grid)
    assert mean.levels(grid) == sums.levels


def test_levels_are_the_nearest():
    levels = Quantization.squared(100, 100 + 2**18)
    assert levels.shift == 3
    assert [levels.of(100 + x) for x in (0, 3, 4, 11, 12)] == [0, 0, 1, 1, 2]
    assert levels.top == 2**15
    assert Quantization.squared(5, 9) == (5, 9, 0, True)


@pytest.mark.parametrize("engine", ENGINES)
def test_every_engine_sums_levels(engine):
    rng, n = np.random.default_rng(8), 400
    x, g = rng.normal(0, 3, n), rng.integers(0, 3, n)
    frame = ENGINES[engine](
        {
            "x": (pa.float64(), x.tolist()),
            "g": (pa.int64(), g.tolist()),
            "p": (pa.int64(), list(range(n))),
        }
    )
    grid = Grid(-10.0, 10.0)
    cuts = [
        Quantization.squared(2**38, 2**39 + 12345),
        Quantization.squared(0, grid.size - 1),
        Quantization.squared(2**39, 2**39 + 70000),
        Quantization.squared(0, 9),
    ]

    def expected(values, levels):
        index = grid.snap(values).clip(levels.low, levels.high)
        level = [int(i) for i in levels.of(index)]
        return len(level), sum(level), sum(i * i for i in level)

    for levels in cuts:
        (group,) = open_groups(frame, grid, "x")
        assert group.level_sums(levels) == expected(x, levels)
        assert group.records() == n
    for person in ({}, {"unit": "p"}):
        engine = open_engine(frame, grid, "x", by="g", keys=[0, 1, 2, 7], **person)
        asked = [
            ColumnRequest(0, np.array([group]), LevelSums(levels))
            for group, levels in enumerate(cuts)
        ]
        answers, counts = engine.answer(asked), ask(engine, RecordCounts())
        for key, (sums,), count, levels in zip((0, 1, 2, 7), answers, counts, cuts, strict=True):
            assert sums == expected(x[g == key], levels)
            assert count == int((g == key).sum())


def test_all_groups_are_summed_by_one_query(monkeypatch):
    from duffdp._engines.adapters.query import NarwhalsQuery

    asked = []
    fetch = NarwhalsQuery.fetch
    monkeypatch.setattr(
        NarwhalsQuery, "fetch", lambda self, rows: asked.append(1) or fetch(self, rows)
    )
    frame = ENGINES["polars-lazy"](
        {"x": (pa.float64(), [1.0, 2.0] * 50), "g": (pa.int64(), list(range(100)))}
    )
    given = {"column": "x", "by": "g", "keys": list(range(100)), "bounds": (0, 10)}
    duffdp.std(frame, epsilon=1.0, **given)
    assert len(asked) < 12


# The guarantee, given what the draws before came to.

FINE = Grid(0.0, 2.0, 2.0**-20)
PLACES = [0, 2**20, 2**21]


@pytest.mark.parametrize(
    "path",
    [
        (0,),
        (-50,),
        *((100, candidate) for candidate in (0, 20, 2**12)),
        *((399, candidate) for candidate in (1, 2**20)),
        (10**4, 0, (0, 0)),
        (10**4, 20, (7, 2)),
        (10**4, 2**12, (-4, 10**6)),
        (10**4, 100, NOTHING),
    ],
    ids=repr,
)
def test_no_path_of_draws_loses_more_than_epsilon(path):
    """Whatever the count, the interval and the rough mean came to, the largest losses of all draws
    add up to at most epsilon, and to all of it where intervals can differ."""
    epsilon = 3.0

    def draws_of(data):
        call = lambda: duffdp.std([float(i) for i in data], epsilon=epsilon, bounds=FINE)  # noqa: E731
        return laws(call, PLACES, path)

    pairs = ((here, there) for here, there, _ in neighbours(3, 5))
    largest = largest_log_ratio(draws_of, pairs)
    assert largest <= epsilon * (1 + 1e-9)
    assert largest > (0.9 if path[0] > 400 else 0.74) * epsilon


@pytest.mark.parametrize("mechanism", [Exponential, PermuteAndFlip])
@pytest.mark.parametrize("statistic", [InterquartileRange(), Variance()], ids=repr)
def test_one_draw_costs_its_epsilon_and_a_larger_rate_more(statistic, mechanism):
    def largest(times):
        def draws_of(data):
            steps = statistic.steps([float(i) for i in data], Grid(0.0, 3.0, 2.0**-12))
            steps = replace(steps, rate=times * steps.rate)
            return [StepLaw(steps, mechanism(1.0).law(steps))]

        pairs = ((here, there) for here, there, _ in neighbours(4, 4))
        return largest_log_ratio(draws_of, pairs)

    assert 0.5 < largest(1) <= 1 + 1e-9
    assert largest(2) > 1.1


# What is released.


@pytest.mark.parametrize("mechanism", ["best", "duff"])
@pytest.mark.parametrize("verb", VERBS)
def test_a_large_epsilon_gives_the_truth(verb, mechanism):
    data = np.random.default_rng(9).normal(1, 2, 5000)
    first, third = np.quantile(data, [0.25, 0.75], method="inverted_cdf")
    truth = {"variance": data.var(), "std": data.std(), "iqr": third - first}[verb]
    found = VERBS[verb](data, epsilon=2000.0, bounds=(-50.0, 50.0), mechanism=mechanism)
    assert found.value == pytest.approx(truth, rel=0.01)
    assert type(found.value) is float
    assert duffdp.Release.from_dict(found.to_dict()) == found
    assert float(found) == found.value


@pytest.mark.parametrize("mechanism", ["best", "duff"])
@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("epsilon", [1e-3, 0.3, 50.0])
def test_never_negative_and_never_nan(verb, mechanism, epsilon):
    given = {"epsilon": epsilon, "bounds": (-3, 4), "mechanism": mechanism}
    for data in ([], [math.nan], [0.0], [math.inf, -math.inf], [1.0] * 50, [-3.0, 4.0] * 20):
        for _ in range(5):
            value = VERBS[verb](np.array(data), **given).value
            assert 0 <= value <= {"variance": 3.5**2, "std": 3.5, "iqr": 7}[verb]


def test_a_spread_is_of_the_kind_of_the_bounds():
    given = {"epsilon": 500.0}
    whole = duffdp.iqr([1, 4, 6, 9] * 20, bounds=(0, 9), step=1, **given)
    assert (whole.value, type(whole.value)) == (5, int)
    exact = [Decimal("0.1"), Decimal("0.4"), Decimal("0.6"), Decimal("0.9")] * 20
    bounds = Decimal(0), Decimal(1)
    assert duffdp.iqr(exact, bounds=bounds, step=Decimal("0.1"), **given).value == Decimal("0.5")
    fine = duffdp.iqr(exact, bounds=bounds, **given).value
    assert isinstance(fine, Decimal)
    assert float(fine) == pytest.approx(0.5, abs=1e-6)
    days = [dt.date(2020, 1, 1) + dt.timedelta(days=day) for day in range(100)]
    dated = {"bounds": (dt.date(2019, 1, 1), dt.date(2021, 1, 1)), **given}
    assert duffdp.iqr(days, **dated).value == dt.timedelta(days=50)
    for mechanism in ("best", "duff"):
        found = duffdp.std(days, **dated, mechanism=mechanism)
        assert abs(found.value / dt.timedelta(days=1) - np.arange(100).std()) < 2
        assert duffdp.Release.from_dict(found.to_dict()).to_dict() == found.to_dict()


def test_the_variance_of_dates_is_refused_before_data_are_read():
    with pytest.raises(BoundsError, match="squares of time"):
        duffdp.variance(object(), epsilon=1.0, bounds=(dt.date(2019, 1, 1), dt.date(2021, 1, 1)))


@pytest.mark.parametrize("choice", ["best", "duff"])
def test_a_variance_beyond_all_doubles_is_the_largest_one(choice):
    records = [-1e300, 1e300] * 300
    given = {"epsilon": 50.0, "bounds": (-1e300, 1e300), "mechanism": choice}
    assert duffdp.variance(records, **given).value == sys.float_info.max
    assert duffdp.std(records, **given).value == pytest.approx(1e300, rel=0.01)


def test_no_spread_exceeds_half_the_range():
    """Whole levels may reach further than the bounds."""
    at_both = [0] * 500 + [65_537] * 500
    for verb, most in ((duffdp.std, 65_537 / 2), (duffdp.variance, 65_537**2 / 4)):
        for epsilon in (1e6, 0.01):
            asked = {"epsilon": epsilon, "bounds": (0, 65_537), "step": 1}
            assert all(float(verb(at_both, **asked, rng=i)) <= most for i in range(20))
