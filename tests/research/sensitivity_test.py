"""Every sensitivity equals what a search over all data sets finds."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

import oracle
from cases import QS, small_data
from duffdp import Categories, DuffError, Grid, UnsupportedData
from duffdp.research import sensitivity
from duffdp.research.sensitivity import upper_hull, widest_gaps

SIZE = 4


def searched(statistic, empty, data, size, difference=lambda x, y: abs(x - y)):
    """LS(k) for k = 0 .. n: the largest change over one record among the data sets within distance
    k.
    """
    here = np.bincount(np.array(data, dtype=int), minlength=size)
    levels = [0.0] * (len(data) + 1)
    for there in oracle.data_sets(size, 2 * len(data)):
        away = int(np.abs(here - there).sum())
        if away > len(data):
            continue
        values = statistic(there) if any(there) else empty
        for joins in range(size):
            for one in (1, -1):
                beyond = tuple(c + one * (v == joins) for v, c in enumerate(there))
                if min(beyond) >= 0:
                    others = statistic(beyond) if any(beyond) else empty
                    change = max(float(difference(x, y)) for x in values for y in others)
                    levels[away] = max(levels[away], change)
    return np.maximum.accumulate(levels)


def exact_mean(counts):
    return {Fraction(sum(oracle.records(counts)), sum(counts))}


@pytest.mark.parametrize("q", [*QS, Fraction(5, 6), Fraction(2, 3), 0.96])
def test_quantile(q):
    exact = q if isinstance(q, Fraction) else Fraction(str(q))
    empty = {0 if exact <= Fraction(1, 2) else SIZE - 1}
    for data in small_data(4):
        found = sensitivity.quantile(list(data), q, Grid(0, SIZE - 1, 1))
        assert found.levels.tolist() == searched(oracle.quantile(exact), empty, data, SIZE).tolist()
        assert {found.value} == (
            oracle.quantile(exact)(tuple(data.count(v) for v in range(SIZE))) or empty
        )


def test_median_with_more_records():
    for data in small_data(6, size=3):
        found = sensitivity.median(list(data), Grid(0, 2, 1))
        assert (
            found.levels.tolist()
            == searched(oracle.quantile(Fraction(1, 2)), {0}, data, 3).tolist()
        )


def test_the_one_gap_of_the_median_is_the_widest_of_all():
    """The closed form for q = 1/2 against the general sweep, on records that no search could
    cover.
    """
    rng = np.random.default_rng(5)
    for n in (0, 1, 2, 7, 40, 41):
        y = np.sort(rng.integers(0, 1000, n))
        swept = widest_gaps(np.concatenate([[0], y, [999]]), 1, 2)
        assert sensitivity.median(y, Grid(0, 999, 1)).levels.tolist() == swept.tolist()


def test_mean():
    for data in small_data(4):
        found = sensitivity.mean(list(data), Grid(0, SIZE - 1, 1))
        assert found.levels == pytest.approx(
            searched(exact_mean, {Fraction(SIZE - 1, 2)}, data, SIZE), abs=1e-12
        )


def test_mean_of_more_records_on_a_wider_domain():
    for size, most in ((2, 6), (3, 5), (6, 3)):
        for data in small_data(most, size):
            found = sensitivity.mean(list(data), Grid(0, size - 1, 1))
            assert found.levels == pytest.approx(
                searched(exact_mean, {Fraction(size - 1, 2)}, data, size), abs=1e-12
            )


def test_mode():
    for size, most in ((4, 4), (3, 6), (5, 3)):
        for data in small_data(most, size):
            expected = searched(oracle.mode, set(range(size)), data, size)
            found = sensitivity.mode(list(data), Grid(0, size - 1, 1))
            assert [found.at(k) for k in range(len(expected))] == expected.tolist()
            apart = searched(oracle.mode, set(range(size)), data, size, lambda x, y: x != y)
            found = sensitivity.mode(list(data), Categories(range(size)))
            assert [found.at(k) for k in range(len(expected))] == apart.tolist()


def test_a_mode_far_ahead_of_the_others():
    """The search above reaches n changes; a lead this long needs the case of one value to be
    lowered.
    """
    found = sensitivity.mode([3] * 9 + [0], Grid(0, 9, 1))
    assert [found.at(k) for k in range(8)] == [0, 0, 0, 0, 0, 0, 0, 3]
    assert found.global_ == 9


@pytest.mark.parametrize("n", [0, 1, 2, 3, 50, 1000])
@pytest.mark.parametrize("statistic", ["median", "mean", "mode"])
def test_smooth_is_the_largest_discounted_level(n, statistic):
    values = np.random.default_rng(n).normal(size=n)
    found = getattr(sensitivity, statistic)(values, Grid(-10.0, 10.0, 0.01))
    beta = np.concatenate([[0.0], np.geomspace(1e-4, 20, 200)])
    k = np.arange(len(found.levels))
    expected = [(np.exp(-b * k) * found.levels).max() for b in beta]
    assert found.smooth(beta) == pytest.approx(expected, rel=1e-11)
    # the form for many beta
    assert np.exp(found.hull.log_smooth(beta)) == pytest.approx(expected, rel=1e-11)
    assert found.smooth(0) == pytest.approx(found.global_)
    assert found.local * (1 - 1e-12) <= found.smooth(1.0) <= found.global_ * (1 + 1e-12)


def test_smooth_sensitivity_is_smooth():
    """For neighbours it changes by a factor of at most exp(beta)."""
    for statistic in (sensitivity.median, sensitivity.mean, sensitivity.mode):
        for data in small_data(5):
            here = statistic(list(data), Grid(0, 3, 1))
            for x in range(4):
                there = statistic([*data, x], Grid(0, 3, 1))
                for beta in (0.05, 0.4, 2.0):
                    assert abs(here.log_smooth(beta) - there.log_smooth(beta)) <= beta + 1e-9


def test_hull_against_all_pairs():
    rng = np.random.default_rng(3)
    for size in (1, 2, 3, 10, 60):
        for _ in range(20):
            y = (
                np.cumsum(rng.exponential(size=size))
                if rng.random() < 0.5
                else rng.normal(size=size)
            )
            x = np.cumsum(rng.integers(1, 4, size)).astype(float)
            under = {
                j
                for i in range(size)
                for j in range(i + 1, size)
                for k in range(j + 1, size)
                if y[j] <= y[i] + (y[k] - y[i]) * (x[j] - x[i]) / (x[k] - x[i])
            }
            assert set(upper_hull(x, y).tolist()) == set(range(size)) - under


def test_all_records_equal():
    """LS is 0 up to about n changes; the smooth sensitivity is small, positive and finite in its
    logarithm.
    """
    found = sensitivity.median([5.0] * 100_000, Grid(0.0, 10.0))
    assert found.local == 0
    assert found.smooth(0.001) == pytest.approx(5 * math.exp(-0.001 * 99_999), rel=1e-3)
    assert found.smooth(1.0) == 0.0  # underflow
    assert found.log_smooth(1.0) == pytest.approx(math.log(5) - 99_999, rel=1e-6)


def test_bad_input():
    grid = Grid(0, 9, 1)
    for beta in (-1, math.nan, math.inf):
        with pytest.raises(DuffError, match="beta must be"):
            sensitivity.median([1], grid).smooth(beta)
    for levels in ([], [2, 1], [-1, 1], [math.nan], [1, math.inf], [1, math.nan, 2], [[1]]):
        with pytest.raises(DuffError, match="levels must be"):
            sensitivity.Sensitivity(0, levels)
    with pytest.raises(DuffError, match="within the bounds"):
        sensitivity.Sensitivity(5, [1], (0, 1))
    with pytest.raises(UnsupportedData, match="grid of numbers"):
        sensitivity.mean([1], Categories([1, 2]))
    with pytest.raises(DuffError, match="q must be"):
        sensitivity.quantile([1], 2, grid)
    with pytest.raises(DuffError, match="distance must be 0 or more"):
        sensitivity.median([1], grid).at(-1)
    assert sensitivity.mode([1], Categories([1])).smooth(1.0) == 0
