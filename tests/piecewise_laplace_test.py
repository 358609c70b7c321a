"""Piecewise Laplace noise: the exact law against all neighbouring graphs, and draws against that law."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest

import graph_oracle
from duffdp.count_ladder import CountLadder
from duffdp.mechanisms import PiecewiseLaplace
from duffdp.mechanisms.piecewise_laplace import BITS
from duffdp.statistics import Stars, Triangles


def law(mechanism: PiecewiseLaplace, ladder: CountLadder, most: int) -> np.ndarray:
    """Probabilities of 0 .. most from the definition, with the inverse of the piecewise linear map at every half."""
    c = float(mechanism.rate)
    smooth = np.array([j / 2**BITS for j in mechanism.smoothed(ladder, 4 * most + 50)])
    sums = np.concatenate([[0], np.cumsum(smooth)])

    def beyond(x: float) -> float:
        """Half the probability of going further than x on either side, before rounding."""
        return 0.5 * math.exp(-c * np.interp(x, sums, np.arange(len(sums)))) if x < math.inf else 0.0

    def probability(x: int) -> float:
        low = -math.inf if x == 0 else x - 0.5 - ladder.count
        high = math.inf if x == most else x + 0.5 - ladder.count
        if low < 0 < high:
            return 1 - beyond(-low) - beyond(high)
        return beyond(low) - beyond(high) if low >= 0 else beyond(-high) - beyond(-low)

    return np.array([probability(x) for x in range(most + 1)])


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0, 15.0])
@pytest.mark.parametrize("statistic", [Triangles(4), Triangles(5), Stars(4, 2)], ids=repr)
def test_loss_over_all_neighbouring_graphs(statistic, epsilon):
    mechanism, many = PiecewiseLaplace(epsilon), len(graph_oracle.pairs(statistic.nodes))
    known: dict[tuple[int, ...], np.ndarray] = {}
    laws = []
    for code in range(2**many):
        ladder = statistic.ladder(graph_oracle.edges_of(code, statistic.nodes))
        key = (ladder.count, *ladder.sensitivity(0, 2 * many))
        if key not in known:
            known[key] = np.log(law(mechanism, ladder, statistic.most))
        laws.append(known[key])
    losses = [np.abs(laws[code] - laws[code ^ 1 << bit]).max() for code in range(2**many) for bit in range(many)]
    assert 0.5 * epsilon < max(losses) <= epsilon * (1 + 1e-9)


def test_smoothed_rungs_keep_the_three_promises():
    """At least the sensitivity; a neighbour's next rung is no smaller; growth by at most 1 + epsilon/12. Exactly."""
    mechanism, nodes = PiecewiseLaplace(1.3), 4
    many = len(graph_oracle.pairs(nodes))
    smooth = [mechanism.smoothed(Triangles(nodes).ladder(graph_oracle.edges_of(c, nodes)), 12) for c in range(2**many)]
    for code, here in enumerate(smooth):
        raw = Triangles(nodes).ladder(graph_oracle.edges_of(code, nodes)).sensitivity(0, 12)
        assert all(j >= i << BITS for i, j in zip(raw, here, strict=True))
        assert all(12 * b * 10 <= (120 + 13) * a for a, b in pairwise(here))
        for bit in range(many):
            there = smooth[code ^ 1 << bit]
            assert all(a <= b for a, b in zip(here, there[1:], strict=False))


def test_smoothing_does_not_depend_on_how_far_it_looked():
    ladder = CountLadder(0, lambda begin, end: [min(3 + t // 50, 40) for t in range(begin, end)], 40)
    for epsilon in (0.01, 0.3):
        mechanism = PiecewiseLaplace(epsilon)
        assert mechanism.smoothed(ladder, 3000)[:7] == mechanism.smoothed(ladder, 7)


def test_draws_follow_the_law():
    ladder, mechanism, size = Triangles(6).ladder([(0, 1), (1, 2), (0, 2), (2, 3)]), PiecewiseLaplace(1.0), 20_000
    drawn = np.bincount(mechanism.draw(ladder, 20, size, rng=5), minlength=21)

    def statistic(epsilon: float) -> float:
        expected = law(PiecewiseLaplace(epsilon), ladder, 20) * size
        return float(((drawn - expected) ** 2 / expected).sum())

    limit = 90.0  # the chi-squared quantile at 1 - 1e-9 for 20 degrees of freedom is 88.3
    assert statistic(1.0) < limit
    assert statistic(1.3) > limit


def test_refinement_decides(monkeypatch):
    """With four bits at a time nearly every draw is refined; the law stays."""
    import duffdp.sampling.lazy_uniform as module
    from duffdp.sampling.entropy import SeededEntropy

    class Few(SeededEntropy):
        def words(self, size):
            return super().words(size) >> np.uint64(60)

    monkeypatch.setattr(module, "WORD", 4)
    ladder, source, size = Triangles(6).ladder([(0, 1), (1, 2), (0, 2)]), Few(np.random.default_rng(2)), 4000
    drawn = np.bincount([PiecewiseLaplace(1.0).release(ladder, 20, source) for _ in range(size)], minlength=21)
    expected = law(PiecewiseLaplace(1.0), ladder, 20) * size
    assert ((drawn - expected) ** 2 / expected).sum() < 90.0


def test_half_the_error_of_the_ladder():
    from duffdp import Grid
    from duffdp.mechanisms import Exponential

    ladder = Triangles(200).ladder([(i, j) for i in range(40) for j in range(i)])
    for epsilon in (0.5, 1.0, 2.0):
        error = Exponential(epsilon).law(ladder.steps(Grid(0, 1313400, 1))).expected_error(ladder.count)
        assert PiecewiseLaplace(epsilon).expected_error(ladder) < 0.6 * error
