"""Every distance equals what a search over all data sets finds."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import oracle
from cases import QS, SMALL, small_data
from duffdp import Categories, Grid
from duffdp.statistics import Mean, Median, Mode, Quantile, TrimmedMean
from inquiries import engine_of, windows

DATA = list(small_data(4))


def whole(steps, size=4):
    assert steps.start[0] == 0
    assert (steps.start[1:] == steps.start[:-1] + steps.count[:-1]).all()
    assert steps.count.sum() == size
    assert (np.diff(steps.distance) != 0).all()
    assert {steps.start.dtype, steps.count.dtype, steps.distance.dtype} == {np.dtype(np.int64)}
    return np.repeat(steps.distance, steps.count).tolist()


@pytest.mark.parametrize("q", QS)
def test_quantile(q):
    exact = q if isinstance(q, Fraction) else Fraction(str(q))
    for data in DATA:
        assert whole(Quantile(q).steps(list(data), SMALL)) == oracle.distances(
            oracle.quantile(exact), data, 4
        )


@pytest.mark.parametrize("q", QS)
def test_signed_distance(q):
    """The distance where it is above 0; else 1 minus the depth, exact but at the ends of the
    domain, where nothing can be added outside and the true depth may be larger (a smaller one is
    safe)."""
    exact = q if isinstance(q, Fraction) else Fraction(str(q))
    statistic = oracle.quantile(exact)
    for data in DATA:
        signed, distance = (
            np.repeat(s.distance, s.count)
            for s in (Quantile(q, u).steps(list(data), SMALL) for u in ("signed", "distance"))
        )
        assert (signed[distance > 0] == distance[distance > 0]).all()
        for x in np.flatnonzero(distance == 0).tolist():
            depth = oracle.depth(statistic, data, 4, x)
            if 0 < x < 3:
                assert signed[x] == 1 - depth
            else:
                assert 1 - depth <= signed[x] <= 0


def test_median_with_more_records():
    for data in small_data(6, size=3):
        assert whole(Median().steps(list(data), Grid(0, 2, 1)), 3) == oracle.distances(
            oracle.quantile(Fraction(1, 2)), data, 3
        )


def test_mode():
    for data in DATA:
        expected = oracle.distances(oracle.mode, data, 4)
        assert whole(Mode().steps(list(data), SMALL)) == expected
        assert whole(Mode().steps(list(data), Categories(range(4)))) == expected


def test_mean():
    for data in DATA:
        assert whole(Mean().steps(list(data), SMALL)) == oracle.distances(
            oracle.mean, data, 4, join=True
        )


def test_mean_on_a_wider_domain():
    rng = np.random.default_rng(1)
    for _ in range(40):
        size = int(rng.integers(2, 8))
        data = tuple(
            sorted(rng.choice([0, size - 1, *range(size)], int(rng.integers(0, 4))).tolist())
        )
        assert whole(Mean().steps(list(data), Grid(0, size - 1, 1)), size) == oracle.distances(
            oracle.mean, data, size, join=True
        )


@pytest.mark.parametrize("q", QS)
def test_rank_score(q):
    exact = q if isinstance(q, Fraction) else Fraction(str(q))
    for data in DATA:
        steps = Quantile(q, utility="rank").steps(list(data), SMALL)
        for x, found in enumerate(whole(steps)):
            low, high = sum(y < x for y in data), sum(y > x for y in data)
            assert found * steps.unit == abs((1 - exact) * low - exact * high) / max(
                exact, 1 - exact
            )


def test_the_papers_step_function():
    """Section 4.1 of the paper for distinct records, with the correction for even n on the right
    side.
    """
    for n in (6, 7):
        records = [10 * (i + 1) for i in range(n)]
        steps = Median().steps(records, Grid(0, 10 * (n + 1), 1))
        y = [0, *records, 10 * (n + 1)]
        m = (n + 1) // 2
        for k in range(1, m + 1):
            assert steps.distance_at(y[m - k] + 5) == 2 * k - n % 2
        for k in range(1, m + (n % 2 == 0) + 1):
            if m + k <= n + 1:
                assert steps.distance_at(y[m + k - 1] + 5) == 2 * k - (n % 2 == 0)


def test_large_n_times_q_is_exact():
    """0.07 * 100 is above 7 in doubles; the rank must be 7 all the same."""
    data = list(range(100))
    assert Quantile(0.07).steps(data, Grid(0, 99, 1)).distance_at(6) == 0
    assert Quantile(0.07).steps(data, Grid(0, 99, 1)).distance_at(7) > 0
    assert Quantile(1 / 3).q == Fraction(1, 3)


def test_level_sets():
    steps = Median().steps([1, 2, 3], Grid(0, 4, 1))
    levels = [steps.distance_at(x) for x in range(5)]
    for k in range(6):
        assert steps.measure(k) == levels.count(k)
        assert steps.within(k) == sum(d <= k for d in levels)
    with pytest.raises(ValueError, match="expected a value of"):
        steps.distance_at(1.5)


@pytest.mark.parametrize("trim", [Fraction(1, 10), Fraction(1, 4), Fraction(1, 3), Fraction(2, 5)])
def test_trimmed_mean(trim):
    """Against all data sets within reach, empty and tied ones included."""
    size = 4
    for data in small_data(4, size):
        steps = TrimmedMean(trim).steps(list(data), Grid(0, size - 1, 1))
        found = [steps.distance_at(x) for x in range(size)]
        assert found == oracle.reached(lambda counts: oracle.trimmed_mean(counts, trim), data, size)


def test_trimmed_mean_in_windows():
    """A window has the distances of the whole, and its tail finds the others."""
    grid = Grid(0, 10**6, 1)
    data = np.random.default_rng(3).lognormal(8, 1, 400).astype(np.int64)
    whole = TrimmedMean(0.2).steps(data, grid)
    (window,) = windows(TrimmedMean(0.2), engine_of([data], grid), grid, 12.0)
    assert window.tail is not None
    for x in [0, 10**6, *np.random.default_rng(4).integers(0, 10**6, 40).tolist()]:
        assert window.distance_of(x) == whole.distance_of(x)
        if not window.tail.first <= x <= window.tail.last:
            assert whole.distance_of(x) >= window.tail.floor


def test_bounds_play_no_part_while_few_change():
    """Up to the ten records that are cut off at an end."""
    data = np.random.default_rng(5).integers(40, 60, 100)
    near, wide = (TrimmedMean(0.1).steps(data, Grid(0, top, 1)) for top in (100, 10**6))
    few = [(near.distance_of(x), wide.distance_of(x)) for x in range(101)]
    assert all(a == b for a, b in few if min(a, b) <= 10)
    assert sum(a <= 10 for a, _ in few) == 2
    mean = [Mean().steps(data, Grid(0, top, 1)).distance_of(52) for top in (100, 10**6)]
    assert mean[0] != mean[1]
