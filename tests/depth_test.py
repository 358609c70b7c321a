"""The depth score: its definition, its privacy, its windows, and that it beats the rank score on ties."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from cases import QS, SMALL, small_data
from duffdp import Grid
from duffdp.engines.arrays import read
from duffdp.mechanisms import PermuteAndFlip
from duffdp.statistics import DepthQuantile, Quantile
from duffdp.testing import check_statistic


@pytest.mark.parametrize("q", QS)
def test_score(q):
    exact = q if isinstance(q, Fraction) else Fraction(str(q))
    for data in small_data(4):
        steps = DepthQuantile(q).steps(list(data), SMALL)
        raw = [
            max(sum(y < x for y in data) - exact * len(data), exact * len(data) - sum(y <= x for y in data))
            / max(exact, 1 - exact)
            for x in range(4)
        ]
        assert [steps.distance_at(x) * steps.unit for x in range(4)] == [score - min(raw) for score in raw]


@pytest.mark.parametrize("q", QS)
def test_privacy(q):
    for epsilon in (0.3, 3.0):
        check_statistic(DepthQuantile(q), most=5, epsilon=epsilon)


@pytest.mark.parametrize("q", [0.07, 0.5, 0.9])
def test_the_true_quantile_has_the_least_score(q):
    rng = np.random.default_rng(4)
    for _ in range(50):
        data = rng.integers(0, 12, int(rng.integers(1, 60)))
        truth = np.sort(data)[max(1, -(-Quantile(q).q * len(data) // 1)) - 1]
        assert DepthQuantile(q).steps(data, Grid(0, 11, 1)).distance_at(int(truth)) == 0


@pytest.mark.parametrize("q", [0, 0.1, 0.5, 1])
def test_a_window_has_the_distances_of_the_whole(q):
    data, grid = np.random.default_rng(3).integers(0, 400, 900), Grid(0, 499, 1)
    whole = DepthQuantile(q).steps(data, grid)
    for far in (1.0, 20.0):
        window = DepthQuantile(q).window(read(data), grid, far)
        assert [window.distance_of(i) for i in range(500)] == [whole.distance_of(i) for i in range(500)]
        if window.tail is not None:
            outside = [whole.distance_of(i) for i in range(500) if not window.tail.first <= i <= window.tail.last]
            assert min(outside) >= window.tail.floor >= 0


def test_better_than_the_rank_score_on_ties():
    rng, grid = np.random.default_rng(8), Grid(0, 120, 1)
    errors = {"rank": 0.0, "depth": 0.0}
    for _ in range(20):
        ages = np.rint(rng.normal(40, 12, 1000)).clip(0, 120).astype(int)
        for q in (0.1, 0.5, 0.9):
            truth = int(np.sort(ages)[round(q * 1000) - 1])
            for name, statistic in (("rank", Quantile(q, "rank")), ("depth", DepthQuantile(q))):
                errors[name] += PermuteAndFlip(1.0).law(statistic.steps(ages, grid)).expected_error(truth)
    assert errors["depth"] < errors["rank"] / 3
