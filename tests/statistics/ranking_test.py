"""The order of the largest numbers with noise: what it is, that ties are fair, and draws against
the exact law."""

from __future__ import annotations

import itertools
import math
from collections import Counter

import numpy as np
import pytest
from scipy import stats

import duffdp
from duffdp._sampling.entropy import entropy
from duffdp.audit.neighbours import log_ratio
from duffdp.mechanisms import NoisyRanking, geometric
from duffdp.mechanisms.ranking import ranked
from release_draws import order_law

FALSE_ALARM = 1e-9


def test_the_largest_come_first_for_any_noise(monkeypatch):
    for noise in itertools.permutations([0, 10, 20, 30]):
        monkeypatch.setattr(geometric, "two_sided_geometrics", lambda *_, noise=noise: noise)
        totals = [5, 1, 2, 4]
        noisy = [a + b for a, b in zip(totals, noise, strict=True)]
        wanted = sorted(range(4), key=lambda i: -noisy[i])
        for places in (1, 2, 4):
            assert NoisyRanking(1.0).rank([totals], 1, places, entropy(1)) == [wanted[:places]]


def test_huge_numbers_are_put_in_order():
    assert ranked([2**70, -(2**90), 2**71, 5], 4, entropy(1)) == [2, 0, 3, 1]


@pytest.mark.parametrize("places", [1, 2, 3])
def test_ties_are_fair(places):
    """Every order of the three that tie is as likely as any other; the one behind never comes
    before."""
    source, size = entropy(5), 6_000
    found = Counter(tuple(ranked([7, 3, 7, 7], places, source)) for _ in range(size))
    orders = list(itertools.permutations([0, 2, 3], places))
    assert set(found) == set(orders)
    assert stats.chisquare([found[order] for order in orders]).pvalue > FALSE_ALARM
    assert ranked([7, 3, 7, 7], 4, source)[3] == 1


def test_draws_follow_the_law():
    source, size, totals = entropy(2), 8_000, [3, 2, 0, 2]
    found = Counter(map(tuple, NoisyRanking(0.7).rank([totals] * size, 1, 2, source)))

    def p_value(epsilon):
        law = order_law(tuple(totals), epsilon, 2)
        outputs = list(law.outputs())
        assert set(found) <= set(outputs)
        expected = [size * math.exp(law.log_probability(x)) for x in outputs]
        return stats.chisquare([found[x] for x in outputs], expected).pvalue

    assert p_value(0.7) > FALSE_ALARM
    assert p_value(1.0) < FALSE_ALARM
    assert p_value(0.45) < FALSE_ALARM


@pytest.mark.parametrize("places", [1, 2, 3])
@pytest.mark.parametrize("epsilon", [0.3, 1.0, 3.0])
def test_the_loss_does_not_grow_with_the_places(epsilon, places):
    """Exact laws of all neighbours with up to four records in each of three cells."""
    largest = 0.0
    for totals in itertools.product(range(4), repeat=3):
        for i in range(3):
            more = tuple(n + (i == j) for j, n in enumerate(totals))
            laws = ([order_law(t, epsilon, places)] for t in (totals, more))
            largest = max(largest, log_ratio(*laws))
    assert 0.8 * epsilon < largest <= epsilon * (1 + 1e-9)


def peeled(counts, k, epsilon, rng):
    """One place after another by report-noisy-max with exponential noise at epsilon / k."""
    left, found = dict(enumerate(counts)), []
    for _ in range(k):
        noisy = {i: n + rng.exponential(k / epsilon) for i, n in left.items()}
        found.append(max(noisy, key=noisy.__getitem__))
        del left[found[-1]]
    return found


@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1.0])
def test_it_is_right_more_often_than_peeling(epsilon):
    """The first five of 50 values with Zipf counts, 1,000 records."""
    weight = 1 / np.arange(1, 51)
    counts = np.round(1000 * weight / weight.sum()).astype(int).tolist()
    rng, tries, truth = np.random.default_rng(3), 600, [0, 1, 2, 3, 4]
    orders = NoisyRanking(epsilon).rank([counts] * tries, 1, 5, entropy(4))
    right = [sum(order == truth for order in orders)]
    right += [sum(peeled(counts, 5, epsilon, rng) == truth for _ in range(tries))]
    assert right[0] > 1.2 * right[1] + 5


def test_the_first_place_alone_is_the_mode():
    found = duffdp.top(["a", "b", "b"], 1, categories=["a", "b"], epsilon=1)
    mode = duffdp.mode(["a", "b", "b"], categories=["a", "b"], epsilon=1)
    assert found.mechanism.parts == mode.mechanism.parts
