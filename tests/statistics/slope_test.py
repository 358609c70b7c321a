"""The slope: its distance against the definition, windows and ties, and the exact arithmetic
behind it.
"""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest

import duffdp
import duffdp.statistics.slope as slope_module
import inquiries
import oracle
import windows
from duffdp import Grid
from duffdp._engines.pairs import PairEngine, make_pairs
from duffdp.statistics import Slope
from duffdp.statistics.slope import (
    PairSlopes,
    compare,
    count_inversions,
    list_inversions,
    order,
    residuals,
)
from duffdp.testing import Counterexample, check_statistic

PARTS = {"distance": 1, "balance": 16}
POINTS = list(itertools.product((0, 1, 3), (0, 1, 2)))
# How many changes are listed at once: all, a few, none, so that candidates are halved to the end.
LISTED = [(2**16, 2**22), (0, 3), (0, 0)]


@pytest.mark.parametrize("listed", LISTED, ids=["listed", "few listed", "halved"])
@pytest.mark.parametrize("utility", PARTS)
def test_distance(utility, listed, monkeypatch):
    """All data sets of up to three points, ties in x, in y and of whole records included."""
    monkeypatch.setattr(slope_module, "LISTED_AT_ONCE", listed)
    grid = Grid(-2.5, 2.5, 0.5)
    for many in range(4):
        for records in itertools.combinations_with_replacement(POINTS, many):
            steps = Slope(utility).steps(records, grid)
            steps.check()
            for i in range(grid.size):
                found = steps.distance_of(i) * steps.unit
                assert found == oracle.slope(records, grid.value(i), PARTS[utility])


@pytest.mark.parametrize("listed", LISTED, ids=["listed", "few listed", "halved"])
@pytest.mark.parametrize("utility", PARTS)
def test_distance_of_doubles(utility, listed, monkeypatch):
    """Slopes between candidates, beside them by the last digit, and on them; 0.1 is no tenth."""
    monkeypatch.setattr(slope_module, "LISTED_AT_ONCE", listed)
    rng = np.random.default_rng(4)
    grids = Grid(-1, 1, 0.1), Grid(-2, 2, 2.0**-6), Grid(0, 3), Grid(5.0, 6.0, 0.25)
    for case in range(60):
        n, grid = int(rng.integers(2, 8)), grids[case % 4]
        x = rng.integers(0, 4, n) * rng.choice([0.1, 1.0, 10.0])
        exact = [grid.value(int(i)) for i in rng.integers(0, grid.size, 3)]
        y = x * rng.choice(exact, n) + rng.choice([0, 0, 2.0**-55, 0.3, 7], n)
        records = list(zip(x.tolist(), y.tolist(), strict=True))
        steps = Slope(utility).steps(records, grid)
        ends = [*steps.start.tolist(), *map(grid.index, exact)]
        around = {min(max(i + j, 0), grid.size - 1) for i in ends for j in (-1, 0, 1)}
        for i in sorted(around)[:40]:
            want = oracle.slope(records, grid.value(i), PARTS[utility])
            assert steps.distance_of(i) * steps.unit == want


def test_no_fewer_records_make_it_true():
    """As many pairs above as below: what fewer records than the distance, of all points, leave out
    of reach."""
    grid = Grid(-2, 2, 1)

    def balanced(records, b):
        return oracle.slope(records, b, 1) == 0

    for records in itertools.combinations_with_replacement(POINTS, 3):
        steps = Slope().steps(records, grid)
        for b in range(-2, 3):
            if steps.distance_at(b) > 1:
                more = [(*records, point) for point in POINTS]
                fewer = [records[:i] + records[i + 1 :] for i in range(3)]
                assert not any(balanced(changed, b) for changed in (*more, *fewer))


@pytest.mark.parametrize("utility", PARTS)
def test_one_pair_moves_a_distance_by_at_most_one(utility):
    """Random neighbours of up to 40 records, ties and outliers among them."""
    rng, grid, moved = np.random.default_rng(5), Grid(-3, 3, 0.25), 0
    for case in range(150):
        n = int(rng.integers(0, 40))
        records = rng.integers(0, 5, (n + 1, 2)) * [1.0, rng.choice([1, 100])]
        if case % 3:
            records = rng.normal(size=(n + 1, 2)) * [1, rng.choice([0.01, 1, 100])]
        here, there = (Slope(utility).steps(records[:many], grid) for many in (n, n + 1))
        change = [
            (there.distance_of(i) - here.distance_of(i)) * here.unit for i in range(grid.size)
        ]
        assert max(map(abs, change)) <= 1
        moved = max(moved, max(change) - min(change))
    assert moved > 1.5  # so that half of epsilon is what the rate has to be


@pytest.mark.parametrize("utility", PARTS)
def test_the_laws_of_neighbours(utility):
    """All data sets of up to four of nine points; and a rate twice too large is found out."""
    grid = Grid(-2, 2, 1)
    assert check_statistic(Slope(utility), grid, records=POINTS, most=4) == 9 * (1 + 9 + 45 + 165)
    wrong = Slope(utility)
    wrong.rate = Fraction(1)
    points = [(0, 0), (1, 2), (2, 0), (3, 2)]
    with pytest.raises(Counterexample):
        check_statistic(wrong, grid, records=points, most=6)


def window_of(pairs, grid, max_distance, utility="distance"):
    return inquiries.windows(Slope(utility), PairEngine([pairs]), grid, max_distance)[0]


@pytest.mark.parametrize("utility", PARTS)
@pytest.mark.parametrize("bounds", [(-3, 3), (1.9, 2.2), (4, 9), (-9, -4)], ids=str)
@pytest.mark.parametrize("kind", ["doubles", "ties"])
def test_windows(utility, bounds, kind, monkeypatch):
    """A window holds the distances of the whole and its tail finds the others."""
    rng, grid = np.random.default_rng(6), Grid(*bounds, 2.0**-20)
    x, noise = rng.normal(size=90), rng.normal(size=90)
    if kind == "ties":
        x, noise = np.round(3 * x), np.round(noise)
    pairs = make_pairs(x, 2 * x + noise)
    whole = Slope(utility).steps(zip(*pairs, strict=True), grid)
    for listed, most in (((0, 400), 2**25), ((0, 60), 2**25), ((0, 400), 700)):
        monkeypatch.setattr(slope_module, "LISTED_AT_ONCE", listed)
        monkeypatch.setattr(slope_module, "MAX_WINDOW_LISTED", most)
        window = window_of(pairs, grid, 5.0, utility)
        window.check()
        assert window.tail is not None or bounds != (-3, 3)
        assert window.distance.min() == whole.distance.min()
        windows.same(whole, window)


def test_draws_from_a_window_with_a_tail_follow_the_law(monkeypatch):
    """The same draws, in distribution, as from the whole step function."""
    rng, grid = np.random.default_rng(7), Grid(-4, 4, 1)
    x = rng.normal(size=40)
    pairs, draws = make_pairs(x, x + rng.normal(size=40)), 500
    law = duffdp.mechanisms.PermuteAndFlip(0.2).law(Slope().steps(zip(*pairs, strict=True), grid))
    monkeypatch.setattr(slope_module, "LISTED_AT_ONCE", (0, 0))
    monkeypatch.setattr(slope_module, "MAX_WINDOW_LISTED", 80)
    window = window_of(pairs, grid, 1.0)
    assert window.tail.count > 4
    drawn = duffdp.mechanisms.PermuteAndFlip(0.2).draw(window, draws, rng=8)
    for i in range(grid.size):
        share = np.mean([value == grid.value(i) for value in drawn])
        p = law.probability(grid.value(i))
        assert abs(share - p) < 6.2 * np.sqrt(p * (1 - p) / draws)


@pytest.mark.parametrize(
    "pairs",
    [
        [],
        [(1, 2)],
        [(1, 2)] * 50,
        [(1, i) for i in range(50)],
        [(np.inf, 1), (np.nan, 2), (1, None)],
    ],
    ids=["none", "one", "alike", "one x", "one is whole"],
)
def test_records_without_a_slope_say_nothing(pairs):
    steps = Slope().steps(pairs, Grid(-3, 3))
    assert (len(steps.start), steps.distance.tolist()) == (1, [0])


def test_many_ties_are_counted_and_not_listed():
    """Four million pairs of one slope."""
    x = np.arange(3000.0)
    window = window_of(make_pairs(x, 0 * x), Grid(-1, 1), 30.0)
    middle = window.domain.find(0)
    assert window.distance_of(middle) == 0
    assert (window.start[0], window.count[0]) == (middle, 1)
    assert window.distance_of(middle + 1) == window.distance_of(0) == 1243


def test_large_and_small_numbers():
    """Infinite ones count as 2**300 and tiny ones as 0, each by itself."""
    large, tiny = [(0, 0), (1, np.inf), (2, -np.inf)], [(0, 0), (1e-200, 1), (1, 1e-320)]
    for given, stand_for in (
        (large, [(0, 0), (1, 2.0**300), (2, -(2.0**300))]),
        (tiny, [(0, 0), (0, 1), (1, 0)]),
        ([(10**400, 1), (0, 0)], [(2.0**300, 1), (0, 0)]),
    ):
        one, other = (Slope().steps(records, Grid(-4, 4, 0.5)) for records in (given, stand_for))
        assert (one.start.tolist(), one.distance.tolist()) == (
            other.start.tolist(),
            other.distance.tolist(),
        )


def test_a_hundred_thousand_records():
    rng = np.random.default_rng(9)
    x = rng.normal(size=100_000)
    value = duffdp.slope(x, 2 * x + rng.normal(size=100_000), epsilon=5.0, bounds=(-10, 10)).value
    assert abs(value - 2) < 0.03


@pytest.mark.parametrize("size", [0, 1, 2, 3, 31, 64, 65, 127, 128, 129, 200, 700])
def test_inversions(size):
    rng = np.random.default_rng(size)
    for permutation in (rng.permutation(size), np.arange(size), np.arange(size)[::-1].copy()):
        want = {(b, a) for b, a in itertools.combinations(permutation.tolist(), 2) if b > a}
        larger, smaller = list_inversions(permutation)
        assert len(larger) == len(want) == count_inversions(permutation)
        assert set(zip(larger.tolist(), smaller.tolist(), strict=True)) == want


def nasty_doubles(rng, size):
    """Small whole numbers, neighbours of 1, and numbers of every size that is allowed."""
    kinds = [
        rng.normal(size=size),
        rng.integers(-5, 6, size).astype(float),
        1 + rng.integers(-3, 4, size) * 2.0**-53,
        np.ldexp(rng.integers(-3, 4, size).astype(float), rng.integers(-110, 5, size)),
        np.ldexp(rng.choice([1.0, -1.0, 1.5], size), rng.integers(-299, 299, size)),
    ]
    return np.choose(rng.integers(0, len(kinds), size), kinds)


def test_residuals_are_exact():
    """The nearest double, the nearest to the rest, and the rest; they sort like fractions."""
    rng = np.random.default_rng(10)
    for case in range(400):
        x, y, b = nasty_doubles(rng, 20), nasty_doubles(rng, 20), nasty_doubles(rng, 1)
        if case % 2 and np.abs(x * b).max() < 2.0**200:
            y = b * x + np.where(np.abs(y) < 1e9, y * 2.0**-54, 0)  # they nearly cancel
            y[np.abs(y) < 2.0**-300] = 0
        keys = residuals(x, y, b)
        exact = [Fraction(v) - Fraction(b[0]) * Fraction(u) for u, v in zip(x, y, strict=True)]
        for want, parts in zip(exact, zip(*keys, strict=True), strict=True):
            first, second, third = map(Fraction, map(float, parts))
            assert first == Fraction(float(want))
            assert second == Fraction(float(want - first))
            assert third == want - first - second
        assert order(keys).tolist() == sorted(range(20), key=exact.__getitem__)
        other = tuple(part[::-1] for part in keys)
        sign = [(a > b) - (a < b) for a, b in zip(exact, exact[::-1], strict=True)]
        assert compare(keys, other).tolist() == sign


def test_residuals_halfway_between_doubles():
    """A product of a little more or less than half of the last digit."""
    steps = np.arange(-4, 5)
    for last, k, j in itertools.product((0, 1, 2**52 - 1), steps, steps):
        for sign in (1, -1):
            x = np.array([2.0**-53 * (1 + k * 2.0**-52)])
            y = np.array([1 + last * 2.0**-52])
            b = np.array([sign * (1 + j * 2.0**-52)])
            first, second, third = (Fraction(float(part[0])) for part in residuals(x, y, b))
            want = Fraction(y[0]) - Fraction(b[0]) * Fraction(x[0])
            assert first == Fraction(float(want))
            assert (second, third) == (Fraction(float(want - first)), want - first - second)


def test_the_balance_never_rises():
    rng = np.random.default_rng(11)
    slopes = PairSlopes(make_pairs(rng.normal(size=70), rng.normal(size=70)), Grid(-2, 2, 0.01))
    found = [slopes.balance(i) for i in range(-1, 402)]
    assert found == sorted(found, reverse=True)
    assert found[0] == slopes.count == 70 * 69 // 2
