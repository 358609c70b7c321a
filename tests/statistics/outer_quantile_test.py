"""Outer quantiles: clamped records, draws that add up to epsilon in every branch, and errors."""

from __future__ import annotations

from fractions import Fraction

import duckdb
import numpy as np
import polars as pl
import pytest

import duffdp
from duffdp import Grid
from duffdp.audit.neighbours import largest_loss, log_ratio, neighbours
from duffdp.mechanisms import Geometric, Lattice, PermuteAndFlip
from duffdp.statistics import Quantile, Quantiles
from duffdp.statistics.private_range import range_ends
from duffdp.statistics.quantile import ClampedQuantile, quantile_program
from duffdp.statistics.spec import DrawSettings
from duffdp.statistics.statistic import Scope
from inquiries import engine_of, evidence, windows
from release_draws import recorded

GRID = Grid(0, 9, 1)
ENDS = [(0, 9), (2, 7), (4, 5), (0, 1), (8, 9), (0, 4)]
QS = [Fraction(9, 10), Fraction(99, 100), Fraction(1, 100), Fraction(1, 2)]


def clamped(records, ends):
    return np.clip(np.array(records, dtype=np.int64), *ends) - ends[0]


@pytest.mark.parametrize("q", QS, ids=str)
@pytest.mark.parametrize("ends", ENDS, ids=str)
def test_it_is_the_quantile_of_clamped_records(ends, q):
    grid = Grid(0, ends[1] - ends[0], 1)
    for here, _, _ in neighbours(10, 2):
        steps = ClampedQuantile(q, ends).steps(np.array(here, dtype=np.int64), GRID)
        expected = Quantile(q, "signed").steps(clamped(here, ends), grid)
        distances = [[each.distance_of(i) for i in range(grid.size)] for each in (steps, expected)]
        assert distances[0] == distances[1]


@pytest.mark.parametrize("max_distance", [0, 3, 40])
@pytest.mark.parametrize("q", QS, ids=str)
@pytest.mark.parametrize("ends", [(0, 999), (200, 700), (0, 3), (996, 999), (499, 500)], ids=str)
def test_a_window_and_its_tail_are_the_whole_step_function(ends, q, max_distance):
    """Windows around the quantile, which may lie beyond an end; the tail is asked for its ranks."""
    grid, rng = Grid(0, 999, 1), np.random.default_rng(5)
    data = [
        rng.integers(0, 1000, 300),
        rng.integers(300, 310, 300),
        np.repeat([5, 990], [250, 50]),
        np.zeros(0, dtype=np.int64),
        np.array([700]),
        np.full(80, 996),
    ]
    statistic, engine = ClampedQuantile(q, ends), engine_of(data, grid)
    found = windows(statistic, engine, grid, max_distance)
    for group, records in enumerate(data):
        whole, window = statistic.steps(records, grid), found[group]
        window.check()
        assert window.tail is None or window.tail.count + window.count.sum() == whole.domain.size
        outside = []
        for i in {0, 1, whole.domain.size // 3, whole.domain.size - 2, whole.domain.size - 1}:
            assert window.distance_of(i) == whole.distance_of(i)
            if window.tail is not None and not window.tail.first <= i <= window.tail.last:
                outside.append(whole.distance_of(i))
        assert window.tail is None or min(outside, default=2**40) >= window.tail.floor


@pytest.mark.parametrize("mechanism", [PermuteAndFlip, Lattice])
@pytest.mark.parametrize("q", QS[:2], ids=str)
def test_one_draw_costs_its_epsilon(mechanism, q):
    for ends in ((0, 3), (1, 3), (1, 2)):
        loss = largest_loss(ClampedQuantile(q, ends), mechanism(1.0), domain=Grid(0, 3, 1), most=4)
        assert loss <= 1 + 1e-9


MANY = 10**6
PATHS = {
    "narrowed": [(30, 0), (30, 7), (30, 30)],
    "narrowed, more records": [(60, 7), (60, 30)],
    "narrowed, even more records": [(110, 7), (110, 30)],
    "narrowed, most records": [(150, 7), (150, 30)],
    "many records": [(MANY,)],
    "few records": [(0,), (-5,)],
}
SHARES = {
    "narrowed": [0.05, 0.4, 0.55],
    "narrowed, more records": [0.05, 0.3, 0.65],
    "narrowed, even more records": [0.05, 0.2, 0.75],
    "narrowed, most records": [0.05, 0.1, 0.85],
    "many records": [0.05, 0.95],
    "few records": [0.05, 0.95],
}


@pytest.mark.parametrize("q", [0.99, 0.992, 0.01])
@pytest.mark.parametrize(
    ("branch", "path"), [(branch, path) for branch in PATHS for path in PATHS[branch]]
)
def test_the_draws_add_up_to_epsilon_whatever_was_drawn(branch, path, q):
    """The exact distributions of all draws through the public function, given the numbers of those
    before."""

    def draws_of(data):
        with recorded(path=path) as draws:
            records = np.array(data, dtype=np.int64)
            duffdp.quantile(records, q, epsilon=4, bounds=(0, 9))
        assert [draw.epsilon / 4 for draw in draws] == pytest.approx(SHARES[branch])
        laws = (draw.law() for draw in draws)
        return [part for law in laws for part in (law if isinstance(law, tuple) else (law,))]

    largest = 0.0
    for here, there, _ in neighbours(3, 3):
        largest = max(largest, log_ratio(*(draws_of([4 * i for i in d]) for d in (here, there))))
    assert 1.0 < largest <= 4 * (1 + 1e-9)


ROWS = {"x": [1, 5, 9, 4, 3], "g": list("aabbc"), "p": [1, 2, 3, 4, 5]}


def duckdb_table(rows):
    connection = duckdb.connect()
    connection.register("rows", pl.DataFrame(rows).to_arrow())
    connection.execute("create table people as select * from rows")
    return connection.table("people")


@pytest.mark.parametrize("contributions", [1, 3])
@pytest.mark.parametrize("make", [pl.DataFrame, duckdb_table])
def test_groups_take_their_own_branches(make, contributions):
    """A group without a range spends the epsilon of the range on its quantile."""
    counts = [[count * contributions] for count in (1000, 3, 150)]
    with recorded() as draws, pytest.MonkeyPatch.context() as patch:
        recording = Geometric.release

        def release(self, groups, sensitivity, source):
            recording(self, groups, sensitivity, source)
            return counts

        patch.setattr(Geometric, "release", release)
        released = duffdp.quantile(
            make(ROWS),
            0.99,
            column="x",
            epsilon=1,
            bounds=(0, 9),
            by="g",
            keys=["a", "b", "c"],
            unit="p",
            contributions=contributions,
        )
    received = sorted(round(d.epsilon * contributions, 9) for d in draws)
    assert received == [0.05, 0.05, 0.05, 0.3, 0.65, 0.95, 0.95]
    assert [column.name for column in released.columns] == ["quantile"]


def test_which_groups_are_narrowed():
    """Those with few records beyond the quantile, times epsilon, and enough for a range."""

    def narrowed(q, count, epsilon=Fraction(1), top=2**20):
        settings = DrawSettings("best", Grid(0, top, 1), epsilon)
        run = quantile_program(Fraction(q), "q", settings).start(Scope(settings.domain), epsilon)
        next(run)
        (draw,) = run.send([[[count]]])
        return draw.statistic_of(0) is not None

    assert narrowed("99/100", 3499)
    assert not narrowed("99/100", 3500)
    assert narrowed("99/100", 6999, Fraction(1, 2))
    assert not narrowed("99/100", 7000, Fraction(1, 2))
    assert narrowed("9/10", 349)
    assert not narrowed("9/10", 350)
    assert not narrowed("99/100", 3)
    # Up to three times the logarithm of 121 candidates, 14.4, the gap beyond the records matters.
    assert narrowed("9/10", 143, top=120)
    assert not narrowed("9/10", 144, top=120)


@pytest.mark.parametrize("q", [0.03, 0.1, 0.25, 0.5, 0.75, 0.89])
def test_inner_quantiles_are_one_draw(q):
    released = duffdp.quantile([1.0], q, epsilon=1, bounds=(0, 9))
    assert len(released.mechanism.parts) == 1


@pytest.mark.parametrize("choice", ["best", "duff"])
def test_one_of_a_list_is_drawn_as_it_is_alone(choice):
    given = {"epsilon": 1, "bounds": (0, 9), "mechanism": choice}
    alone = duffdp.quantile([1.0], 0.99, **given)
    assert duffdp.quantiles([1.0], [0.99], **given).mechanism == alone.mechanism


def test_the_value_lies_within_the_range():
    low, high = range_ends(20, 2**20)
    with recorded(path=(1000, 20)):
        released = duffdp.quantile(
            np.array([1.0] * 500), 0.99, epsilon=1, bounds=(0, 2**20), step=1
        )
    assert low <= released.value <= high


@pytest.mark.parametrize("covers", ["data", "population"])
def test_intervals_are_drawn_around_the_narrowed_value(covers):
    x = np.random.default_rng(1).exponential(12.0, 1000)
    given = {"epsilon": 2.0, "bounds": (0.0, 1000.0), "interval": 0.95, "covers": covers}
    released = duffdp.quantile(x, 0.9, **given, rng=1)
    assert sum(part.epsilon for part in released.mechanism.parts) == 2
    assert [part.utility for part in released.mechanism.parts][:2] == [None, "outside"]
    assert released.low <= np.quantile(x, 0.9, method="inverted_cdf") <= released.high
    assert duffdp.preview(x, statistic="quantile", q=0.9, **given).expected_width("best") > 0


def test_wide_bounds_cost_little():
    """Ten records lie beyond the quantile, and most candidates beyond the last of them."""
    x = np.random.default_rng(1).exponential(12.0, 1000)
    truth = np.quantile(x, 0.99, method="inverted_cdf")
    rng = np.random.default_rng(2)
    given = {"epsilon": 0.5, "bounds": (0.0, 1000.0), "rng": rng}
    errors = [abs(duffdp.quantile(x, 0.99, **given).value - truth) for _ in range(100)]
    assert np.mean(errors) < 40  # 320 without a range


@pytest.mark.parametrize("bounds", [(0, 1), (-(2**61), 2**61 - 1), (0.0, 1e300), (-1e-300, 0.0)])
def test_extreme_bounds(bounds):
    kind = type(bounds[0])
    for data in ([], [bounds[0]] * 500, [*bounds] * 250):
        for epsilon in (1e-6, 0.1, 1.0, 1e6):
            array = np.array(data, dtype=kind)
            released = duffdp.quantile(array, 0.99, epsilon=epsilon, bounds=bounds)
            assert bounds[0] <= released.value <= bounds[1]
    digits = duffdp.Digits(2)
    assert duffdp.quantile([3.0] * 300, 0.99, epsilon=1.0, bounds=digits).value is not None


# Several quantiles in one draw, within a range.


@pytest.mark.parametrize("reach", [2, 40, 1000])
@pytest.mark.parametrize("ends", [(0, 999), (200, 700), (0, 3), (996, 999), (499, 500)], ids=str)
def test_ranks_of_clamped_records_are_those_of_records_that_were_clamped(ends, reach):
    """In windows near the quantiles and outside of them."""
    grid, rng = Grid(0, 999, 1), np.random.default_rng(5)
    narrow, qs = Grid(0, ends[1] - ends[0], 1), tuple(map(Fraction, ("1/10", "1/2", "9/10")))
    data = [
        rng.integers(0, 1000, 300),
        rng.integers(300, 310, 300),
        np.repeat([5, 990], [250, 50]),
        np.zeros(0, dtype=np.int64),
        np.array([700]),
    ]
    engine, expected_engine = (
        engine_of(groups, domain)
        for groups, domain in ((data, grid), ([clamped(x, ends) for x in data], narrow))
    )
    found = evidence(Quantiles(qs, ends=ends), engine, grid, 1.0, reach=reach)
    expected = evidence(Quantiles(qs), expected_engine, narrow, 1.0, reach=reach)
    for here, there in zip(found.columns, expected.columns, strict=True):
        assert (here.size, here.total) == (there.size, there.total)
        for i in {0, 1, here.size // 3, here.size - 2, here.size - 1}:
            assert here.rank_of(i) == there.rank_of(i)
        for records, others in zip(here.ranks, there.ranks, strict=True):
            assert _ranks_before(records, others)
            assert records.total == others.total


def _ranks_before(records, others):
    """The same number of records before each candidate that both windows hold."""
    common = range(max(records.first, others.first), min(records.last, others.last) + 1)
    counts = [
        [ranks.below + int(ranks.counts[ranks.values < i].sum()) for i in common]
        for ranks in (records, others)
    ]
    return counts[0] == counts[1]


@pytest.mark.parametrize(
    ("branch", "path"), [(branch, path) for branch in PATHS for path in PATHS[branch]]
)
def test_the_draws_of_several_quantiles_add_up_to_epsilon(branch, path):
    """The exact distributions of all draws, given the numbers of those before."""

    def laws_of(data):
        with recorded(path=path) as draws:
            records = np.array(data, dtype=np.int64)
            duffdp.quantiles(records, [0.5, 0.99], epsilon=4, bounds=(0, 9))
        if data:
            shares = [draw.epsilon / 4 for draw in draws]
            assert shares == pytest.approx(SHARES[branch])
        laws = (draw.law() for draw in draws)
        return [part for law in laws for part in (law if isinstance(law, tuple) else (law,))]

    largest = 0.0
    for here, there, _ in neighbours(3, 2):
        largest = max(largest, log_ratio(*(laws_of([4 * i for i in d]) for d in (here, there))))
    assert 1.0 < largest <= 4 * (1 + 1e-9)


def test_several_quantiles_lie_within_the_range():
    low, high = range_ends(20, 2**20)
    with recorded(path=(1000, 20)):
        released = duffdp.quantiles(
            np.array([1.0] * 500), [0.5, 0.99], epsilon=1, bounds=(0, 2**20), step=1
        )
    assert all(low <= value <= high for value in released.value)


def test_deciles_of_few_records_in_wide_bounds():
    """Without a range most of them are anywhere up to the bound."""
    x = np.random.default_rng(1).lognormal(10.0, 0.8, 300)
    qs = [i / 10 for i in range(1, 10)]
    truth, rng = np.quantile(x, qs, method="inverted_cdf"), np.random.default_rng(2)
    given = {"epsilon": 0.5, "bounds": (0.0, 1e7), "rng": rng}
    errors = [abs(np.array(duffdp.quantiles(x, qs, **given).value) - truth) for _ in range(40)]
    assert np.mean(errors) < 60_000  # 740,000 without a range
