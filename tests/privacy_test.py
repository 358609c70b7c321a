"""The guarantee, executed: for all neighbours on a small domain the largest log-ratio of the explicit laws is at most epsilon."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from cases import MECHANISMS, SMALL, STATISTICS, small_data
from duffdp import Categories, Grid
from duffdp.statistics import Median, Mode

EPSILONS = [0.3, 1.0, 3.0]


def largest_loss(statistic, mechanism, epsilon, domain=SMALL, most=5, size=4):
    law = {
        data: np.array([mechanism(epsilon).law(statistic.steps(list(data), domain)).log_probability(x) for x in range(size)])
        for data in small_data(most, size)
    }
    neighbours = ((data, tuple(sorted((*data, x)))) for data in law if len(data) < most for x in range(size))
    return max(np.abs(law[here] - law[there]).max() for here, there in neighbours)


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("statistic", STATISTICS, ids=repr)
def test_loss_is_at_most_epsilon(statistic, mechanism, epsilon):
    assert largest_loss(statistic, mechanism, epsilon) <= epsilon * (1 + 1e-9)


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_the_test_can_fail(mechanism):
    """A rate twice too large is found out."""
    median = Median()
    median.rate = 2 * median.rate
    assert largest_loss(median, mechanism, 1.0) > 1.1
    assert largest_loss(Mode(rate=2), mechanism, 1.0) > 1.1


@pytest.mark.parametrize("statistic", STATISTICS, ids=repr)
def test_one_record_moves_a_distance_by_at_most_one(statistic):
    for data in small_data(5):
        here = statistic.steps(list(data), SMALL)
        for x in range(4):
            there = statistic.steps([*data, x], SMALL)
            change = [(there.distance_at(v) - here.distance_at(v)) * here.unit for v in range(4)]
            if isinstance(statistic, Mode):  # up to a constant, which no mechanism sees
                assert max(change) - min(change) <= 1
            else:
                assert max(map(abs, change)) <= 1


def test_categories():
    domain = Categories([0, 1, 2, 3])
    for mechanism in MECHANISMS:
        assert largest_loss(Mode(), mechanism, 1.0, domain) <= 1 + 1e-9


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("utility", ["distance", "signed", "rank"])
def test_a_fine_domain_uses_the_whole_budget(mechanism, epsilon, utility):
    """Runs of 2**20 candidates: the loss is at most epsilon, and within 0.1 % of it, so no budget is wasted."""
    fine = Grid(0.0, 3.0, 2.0**-20)
    places = [x + shift for x in range(3) for shift in (0, 0.25, 0.5)] + [3]
    laws = {}
    for data in small_data(5):
        law = mechanism(epsilon).law(Median(utility).steps([float(x) for x in data], fine))
        laws[data] = np.array([law.log_probability(x) for x in places])
    losses = [np.abs(laws[d] - laws[tuple(sorted((*d, x)))]).max() for d in laws if len(d) < 5 for x in range(4)]
    assert 0.999 * epsilon <= max(losses) <= epsilon * (1 + 1e-9)


def test_levels_are_ordered():
    """What is further away is never more likely."""
    for statistic in STATISTICS:
        for mechanism in MECHANISMS:
            law = mechanism(1.0).law(steps := statistic.steps([0, 1, 1, 2, 3], SMALL))
            ranked = sorted(range(4), key=steps.distance_at)
            assert all(law.probability(a) >= law.probability(b) - 1e-12 for a, b in pairwise(ranked))
