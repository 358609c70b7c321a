"""Piecewise Laplace noise: the exact law against all neighbouring graphs, and draws against that
law.
"""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest

import graph_oracle
from duffdp._count_ladder import CountLadder
from duffdp.mechanisms import PiecewiseLaplace
from duffdp.mechanisms import piecewise_laplace as module
from duffdp.mechanisms.piecewise_laplace import RUNG_BITS
from duffdp.statistics import Stars, Triangles


def smoothed(epsilon: float, ladder: CountLadder, levels: int) -> np.ndarray:
    """J(k) = max(I(k), J(k+1) / (1 + epsilon/12)), from far enough away that the beginning does not
    show.
    """
    end = levels + math.ceil(50 / math.log1p(epsilon / 12))
    found = np.array(ladder.sensitivity(0, end), dtype=float)
    for k in range(end - 2, -1, -1):
        found[k] = max(found[k], found[k + 1] / (1 + epsilon / 12))
    return found[:levels]


def law(mechanism: PiecewiseLaplace, ladder: CountLadder, most: int) -> np.ndarray:
    """Probabilities of 0 .. most from the definition, with the inverse of the piecewise linear map
    at every half.
    """
    c = 5 / 6 * mechanism.epsilon
    smooth = smoothed(mechanism.epsilon, ladder, 4 * most + 50)
    sums = np.concatenate([[0], np.cumsum(smooth)])

    def beyond(x: float) -> float:
        """Half the probability of going further than x on either side, before rounding."""
        return (
            0.5 * math.exp(-c * np.interp(x, sums, np.arange(len(sums)))) if x < math.inf else 0.0
        )

    def probability(x: int) -> float:
        low = -math.inf if x == 0 else x - 0.5 - ladder.count
        high = math.inf if x == most else x + 0.5 - ladder.count
        if low < 0 < high:
            return 1 - beyond(-low) - beyond(high)
        return beyond(low) - beyond(high) if low >= 0 else beyond(-high) - beyond(-low)

    return np.array([probability(x) for x in range(most + 1)])


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0, 15.0])
@pytest.mark.parametrize(
    "statistic", [Triangles(3), Triangles(4), Triangles(5), Stars(3, 2), Stars(4, 2)], ids=repr
)
def test_loss_over_all_neighbouring_graphs(statistic, epsilon):
    """All graphs on five nodes, whatever number of nodes was said."""
    mechanism, nodes = PiecewiseLaplace(epsilon), 5
    known: dict[tuple[int, ...], np.ndarray] = {}
    laws = []
    for code in range(2 ** len(graph_oracle.pairs(nodes))):
        ladder = statistic.ladder(graph_oracle.edges_of(code, nodes))
        key = (ladder.count, *ladder.sensitivity(0, 20))
        if key not in known:
            known[key] = np.log(law(mechanism, ladder, statistic.largest))
        laws.append(known[key])
    losses = [np.abs(laws[a] - laws[b]).max() for a, b in graph_oracle.neighbours(nodes)]
    assert 0.3 * epsilon < max(losses) <= epsilon * (1 + 1e-9)


def test_smoothed_rungs_keep_the_three_promises():
    """At least the sensitivity; a neighbour's next rung is no smaller; growth by at most 1 +
    epsilon/12. Exactly.
    """
    mechanism, nodes = PiecewiseLaplace(1.3), 4
    many = len(graph_oracle.pairs(nodes))
    smooth = [
        mechanism.smoothed(Triangles(nodes).ladder(graph_oracle.edges_of(c, nodes)), 12)
        for c in range(2**many)
    ]
    for code, here in enumerate(smooth):
        raw = Triangles(nodes).ladder(graph_oracle.edges_of(code, nodes)).sensitivity(0, 12)
        assert all(j >= i << RUNG_BITS for i, j in zip(raw, here, strict=True))
        assert all(12 * b * 10 <= (120 + 13) * a for a, b in pairwise(here))
        for bit in range(many):
            there = smooth[code ^ 1 << bit]
            assert all(a <= b for a, b in zip(here, there[1:], strict=False))


@pytest.mark.parametrize("epsilon", [1e-6, 0.01, 0.1, 1.0, 10.0, 1e4])
def test_the_rate_and_the_growth_of_rungs_are_paid_by_epsilon(epsilon):
    """exp(c) (1 + epsilon/12)^2 is at most exp(epsilon), and for a small epsilon no less: nothing
    is given away either.
    """
    mechanism = PiecewiseLaplace(epsilon)
    spent = float(mechanism.rate) + 2 * math.log1p(epsilon / 12)
    assert spent <= epsilon * (1 + 1e-12)
    assert spent == pytest.approx(epsilon, rel=1e-3) or epsilon > 0.1


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
def test_outputs_are_the_definition_of_the_bits(epsilon):
    """For given bits of V: the count plus or minus the piecewise linear map of -log(1 - V) / (5/6
    epsilon), rounded.
    """
    ladder, most = Triangles(60).ladder([(i, j) for i in range(9) for j in range(i)]), 34220
    sums = np.concatenate([[0], np.cumsum(smoothed(epsilon, ladder, 3000))])

    class Given:
        secure = False

        def __init__(self, word, sign):
            self.word, self.sign = word, sign

        def words(self, size):
            return np.full(size, self.word, dtype=np.uint64)

        def below(self, bound):
            return self.sign

    compared = 0
    for word in np.random.default_rng(1).integers(0, 2**64, 60, dtype=np.uint64).tolist():
        place = -math.log1p(-word / 2**64) / (5 / 6 * epsilon)
        away = float(np.interp(place, np.arange(len(sums)), sums))
        if abs(away % 1 - 0.5) > 1e-6:
            for sign in (0, 1):
                expected = ladder.count + round(away) * (1 if sign else -1)
                found = PiecewiseLaplace(epsilon).release(ladder, most, Given(word, sign))
                assert found == min(max(expected, 0), most)
                compared += 1
    assert compared > 100


@pytest.mark.parametrize("epsilon", [0.03, 0.3, 3.0])
@pytest.mark.parametrize(
    "statistic", [Triangles(10**5), Triangles(6), Stars(10**4, 3), Stars(5, 3)], ids=repr
)
def test_smoothing_looks_far_enough(statistic, epsilon, monkeypatch):
    """The same recursion from ten times as far, exactly, and from parts of any size."""
    mechanism, ladder = PiecewiseLaplace(epsilon), statistic.ladder([(0, 1), (1, 2), (2, 3)])
    growth, ahead, expected = 1 + mechanism._epsilon / 12, 0, []
    for rung in reversed(ladder.sensitivity(0, 10 * ladder.slow_from(growth))):
        ahead = max(rung << RUNG_BITS, math.ceil(ahead / growth))
        expected.append(ahead)
    expected.reverse()
    for chunk, levels in ((2**16, 1), (2**16, 70), (7, 70)):
        monkeypatch.setattr(module, "RUNG_CHUNK", chunk)
        assert mechanism.smoothed(ladder, levels) == expected[:levels]
    assert mechanism.smoothed(ladder, len(expected)) == expected


def test_draws_follow_the_law():
    ladder, mechanism, size = (
        Triangles(6).ladder([(0, 1), (1, 2), (0, 2), (2, 3)]),
        PiecewiseLaplace(1.0),
        8_000,
    )
    drawn = np.bincount(mechanism.draw(ladder, 20, size, rng=5), minlength=21)

    def statistic(epsilon: float) -> float:
        expected = law(PiecewiseLaplace(epsilon), ladder, 20) * size
        return float(((drawn - expected) ** 2 / expected).sum())

    limit = 90.0  # the chi-squared quantile at 1 - 1e-9 for 20 degrees of freedom is 88.3
    assert statistic(1.0) < limit
    assert statistic(1.3) > limit


def test_refinement_decides(monkeypatch):
    """With four bits at a time nearly every draw is refined; the law stays."""
    import duffdp._sampling.lazy_uniform as lazy_uniform
    from duffdp._sampling.entropy import SeededEntropy

    class Few(SeededEntropy):
        def words(self, size):
            return super().words(size) >> np.uint64(60)

    monkeypatch.setattr(lazy_uniform, "WORD", 4)
    ladder, source, size = (
        Triangles(6).ladder([(0, 1), (1, 2), (0, 2)]),
        Few(np.random.default_rng(2)),
        4000,
    )
    drawn = np.bincount(
        [PiecewiseLaplace(1.0).release(ladder, 20, source) for _ in range(size)], minlength=21
    )
    expected = law(PiecewiseLaplace(1.0), ladder, 20) * size
    assert ((drawn - expected) ** 2 / expected).sum() < 90.0


def test_half_the_error_of_the_ladder():
    from duffdp import Grid
    from duffdp.mechanisms import Exponential

    ladder = Triangles(200).ladder([(i, j) for i in range(40) for j in range(i)])
    for epsilon in (0.5, 1.0, 2.0):
        error = (
            Exponential(epsilon).law(ladder.steps(Grid(0, 1313400, 1))).expected_error(ladder.count)
        )
        assert PiecewiseLaplace(epsilon).expected_error(ladder) < 0.6 * error
