"""A window holds the same distances as the whole step function, its floor is a lower bound, and its
tail answers exactly."""

from __future__ import annotations

import importlib
import itertools
from fractions import Fraction
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cases import QS
from duffdp import Digits, Grid
from duffdp._engines.arrays import column as column_of
from duffdp._engines.arrays.ranks import count_runs, trim
from duffdp._engines.requests import LevelSums, Quantization, RankAt, Ranks, RanksNear, rank_span
from duffdp.statistics import Mean, Median, Quantile
from inquiries import ask, engine_of, window, windows
from windows import same

BY_BLOCKS = importlib.import_module("duffdp._engines.arrays.engine")  # not the function
STATISTICS = [*(Quantile(q, u) for q in QS for u in ("distance", "signed", "rank")), Mean()]


@pytest.mark.parametrize("statistic", STATISTICS, ids=repr)
@pytest.mark.parametrize("far", [0, 1, 5, 40, 10**6])
def test_windows_of_small_data(statistic, far):
    rng = np.random.default_rng(1)
    for grid in (Grid(0, 30, 1), Grid(0.0, 30.0)):
        for data in (
            np.empty(0),
            np.array([7.0]),
            rng.normal(12, 6, 80),
            rng.integers(0, 31, 60) * 1.0,
            np.full(40, 9.0),
        ):
            same(statistic.steps(data, grid), window(statistic, data, grid, far))


@pytest.fixture
def tiny_limits(monkeypatch):
    """Make every code path for large arrays run on small ones."""
    for name, value in {
        "CHUNK": 64,
        "MAX_SORTED": 32,
        "MAX_PENDING": 100,
        "SMALL_HISTOGRAM": 8,
    }.items():
        monkeypatch.setattr(column_of, name, value)


@pytest.mark.parametrize("statistic", STATISTICS, ids=repr)
def test_windows_of_large_data(statistic, tiny_limits):
    rng = np.random.default_rng(2)
    kinds = [
        rng.normal(12, 6, 3000),
        np.sort(rng.normal(12, 6, 1000)),
        np.rint(rng.normal(12, 6, 3000)),
        np.where(rng.random(2000) < 0.6, 9.0, rng.normal(12, 6, 2000)),
        np.where(rng.random(2000) < 0.3, np.nan, rng.normal(12, 16, 2000)),
        np.where(rng.random(1000) < 0.1, np.inf, rng.normal(12, 6, 1000)),
        np.full(500, np.nan),
        rng.integers(-5, 50, 2000),
    ]
    for data in kinds:
        for grid in (Grid(0, 30, 1), Grid(0.0, 30.0)):
            same(statistic.steps(data, grid), window(statistic, data, grid, 6))


@settings(max_examples=150, deadline=None)
@given(
    values=st.lists(
        st.floats(width=32) | st.sampled_from([0.0, 1.0, 1.0, 2.5, float("nan"), float("inf")]),
        max_size=60,
    ),
    q=st.fractions(0, 1, max_denominator=50),
    reach=st.integers(0, 70),
    step=st.sampled_from([None, 0.5, 1, 0.1, 3]),
)
def test_ranks_against_sorting(values, q, reach, step):
    grid = Grid(-10.0, 10.0, step)
    index = sorted(i for i in map(grid.record_index, values) if i >= 0)
    engine = engine_of([np.array(values)], grid)
    (near,) = ask(engine, RanksNear(((q, reach),)))
    (sums,) = ask(engine, LevelSums(Quantization(0, grid.size - 1)))
    near = near.group(0)
    assert sums.records == len(index)
    assert sums.levels == sum(index)
    assert near.total == len(index)
    inside = [i for i in index if near.first <= i <= near.last]
    assert np.repeat(near.values, near.counts).tolist() == inside
    assert near.below == sum(i < near.first for i in index)
    centre = q.numerator * len(index) // q.denominator
    low, high = max(centre - reach, 0), min(centre + 1 + reach, len(index))
    assert near.below <= low
    assert near.below + len(inside) >= high
    for i in (0, grid.size // 2, grid.size - 1):
        assert ask(engine, RankAt(i)) == [(sum(x < i for x in index), index.count(i))]


def test_a_bracket_that_misses_is_widened(tiny_limits, monkeypatch):
    """The sample may lie: here it sees only the largest records."""
    data = np.arange(2000.0)
    monkeypatch.setattr(
        column_of.ArrayColumn, "_sample", lambda column: (np.sort(column.grid.snap(data))[-50:], 1)
    )
    same(
        Median().steps(data, Grid(0.0, 2000.0)),
        window(Median(), data, Grid(0.0, 2000.0), 6),
    )


def test_memory_stays_small():
    """No copy of the data and no full sort: less than half of the input is held at any time."""
    import tracemalloc

    data = np.random.default_rng(1).normal(size=3_000_000)
    for values in (data, np.rint(data * 12)):
        grid = Grid(-100.0, 100.0)
        tracemalloc.start()
        window(Median(), values, grid, 140)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < values.nbytes / 2


def test_tiny_epsilon_does_not_take_in_everything():
    grid = Grid(0.0, 2.0**20, 1.0)
    cut = window(Median(), np.arange(2.0**20), grid, 10**12)
    assert cut.tail is not None
    assert cut.tail.distance_of(0) == Quantile(Fraction(1, 2)).steps(
        np.arange(2.0**20), Grid(0.0, 2.0**20, 1.0)
    ).distance_of(0)


def test_looking_for_one_rank_does_not_change_what_was_found_for_another():
    for seed in range(5):
        records, grid = np.random.default_rng(seed).random(3000), Grid(0.0, 1.0)
        same(Mean().steps(records, grid), window(Mean(), records, grid, 50.0))


def test_a_window_that_is_most_of_a_large_array():
    """A small epsilon wants so many ranks that no bracket can narrow them down."""
    records, grid = np.random.default_rng(1).random(100_000), Grid(0.0, 1.0)
    for reach in (20_000, 49_000, 99_000):
        (near,) = ask(engine_of([records], grid), RanksNear(((Fraction(1, 2), reach),)))
        assert near.counts.sum() >= min(2 * reach, 100_000)
    same(
        Median().steps(records, grid),
        window(Median(), records, grid, 60_000.0),
        few=5,
    )


@settings(max_examples=200, deadline=None)
@given(
    groups=st.lists(
        st.lists(st.sampled_from([0.0, 0.5, 1.0, 1.0, 1.0, 2.0, 2.25, 3.0, 9.0]), max_size=40),
        min_size=1,
        max_size=6,
    ),
    q=st.sampled_from(QS),
    far=st.integers(0, 12),
    utility=st.sampled_from(["distance", "signed", "rank"]),
    limit=st.sampled_from([10, 2**14]),
)
def test_groups_side_by_side(groups, q, far, utility, limit):
    """Many groups answered in one go: with ties that reach past what was selected, and with empty
    groups. The signed distance needs
    the quantile inside of the window: outside of it no floor above its depth would hold."""
    grid, statistic = Grid(0.0, 4.0, 0.5), Quantile(q, utility)
    small = {
        "MAX_SORTED": limit,
        "SHORT_GROUP": limit // 2,
        "BLOCK_GROUPS": 4,
        "MIN_BLOCK": 4,
        "MAX_BLOCK": 4,
    }
    with mock.patch.multiple(BY_BLOCKS, **small):
        engine = engine_of(groups, grid)
        blocks = engine.blocks()
        found = [
            cut for block in blocks for cut in windows(statistic, engine, grid, far, groups=block)
        ]
        assert len(found) == len(groups)
        for group, cut in zip(groups, found, strict=True):
            same(statistic.steps(group, grid), cut)


@pytest.mark.parametrize("q", [0.3, 0.5, 0.7])
@pytest.mark.parametrize("grid", [Grid(0.0, 9.0, 0.001), Digits(2)], ids=str)
def test_a_window_of_ranks_reaches_past_tied_records(q, grid):
    """The gap after tied records may have a better rank than they have: outside of the window its
    candidates would be looked for one at a time."""
    data = np.array([1.5, 2.75, 8.0] * 50)
    cut = window(Quantile(q, "rank"), data, grid, 0.8)
    assert cut.tail is None or cut.distance.min() <= cut.tail.floor
    same(Quantile(q, "rank").steps(data, grid), cut, few=3)


def test_the_mean_of_many_records_on_a_coarse_grid():
    """The closest candidate is many changes away; the window reaches it, so that the tail is not
    visited."""
    ages, grid = np.random.default_rng(1).integers(0, 90, 30_000), Grid(0, 120, 1)
    cut = window(Mean(), ages, grid, 0.2)
    same(Mean().steps(ages, grid), cut, few=3)
    closest = int(cut.distance.min())
    assert closest > 50
    assert cut.tail is not None
    assert cut.tail.floor > closest + 1


@pytest.mark.parametrize("utility", ["distance", "signed", "rank"])
def test_a_group_whose_quantile_lies_at_the_edge_of_what_was_selected(utility):
    """Two heavy values that meet near the median: whichever is cut off by the selection, the
    quantile stays inside of the window."""
    grid, median = Grid(0.0, 4.0, 0.5), Median(utility)
    for first in range(10, 31):
        group = [1.0] * first + [2.0] * (40 - first)
        cut = windows(median, engine_of([group, [0.0]], grid), grid, 0)[0]
        same(median.steps(group, grid), cut)
        assert cut.tail is None or cut.tail.first <= grid.index(sorted(group)[19]) <= cut.tail.last


@pytest.mark.parametrize("values", [[0.0, 100.0], [0.0, 10.0, 20.0], [3.0]])
@pytest.mark.parametrize("n", [20_000, 60_000, 400_000])
def test_heavy_ties_far_apart_on_a_fine_grid(values, n):
    """Ties keep the bracket as wide as the data; then it is counted as it is."""
    records, grid = np.resize(values, n), Grid(0.0, 100.0)
    for q in (Fraction(1, 2), Fraction(34, 100)):
        same(
            Quantile(q, "signed").steps(records, grid),
            window(Quantile(q, "signed"), records, grid, 100),
            few=3,
        )


@pytest.mark.parametrize("q", [Fraction(0), Fraction(1, 3), Fraction(1)])
@pytest.mark.parametrize("reach", [0, 1, 3])
def test_what_is_cut_down_holds_the_wanted_ranks(q, reach):
    """Of every sorted list of up to five records, at both ends too and with no reach at all."""
    for size in range(6):
        for records in itertools.combinations_with_replacement(range(3), size):
            runs = count_runs(np.array(records, dtype=np.int64))
            low, high = (int(end[0]) for end in rank_span(q, reach, np.array([size])))
            near = trim(Ranks(*runs, 0, size, 0, 2), 3, low, high)
            found = np.repeat(near.values, near.counts).tolist()
            assert tuple(found) == records[near.below : near.below + len(found)]
            assert near.below <= low
            assert near.below + len(found) > high
            assert size == 0 or found
