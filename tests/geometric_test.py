"""Two-sided geometric noise: the exact law over neighbouring counts, and draws against it."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from duffdp import DuffError
from duffdp.mechanisms import Geometric
from duffdp.sampling.entropy import SeededEntropy, entropy
from duffdp.sampling.geometric import two_sided_geometric

FALSE_ALARM = 1e-9


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0])
def test_loss_over_neighbouring_counts(epsilon):
    mechanism = Geometric(epsilon)
    largest = 0.0
    for count in range(6):
        here, there = ([mechanism.probability(n, x) for x in range(40)] for n in (count, count + 1))
        largest = max(largest, *(abs(math.log(a / b)) for a, b in zip(here, there, strict=True)))
    assert largest == pytest.approx(epsilon, rel=1e-9)
    whole = sum(mechanism.probability(3, x) for x in range(math.ceil(3 + 50 / epsilon)))
    assert whole == pytest.approx(1, abs=1e-12)
    assert mechanism.probability(3, -1) == 0


def p_value(found, epsilon, count):
    """Of the chi-square test that draws follow the law."""
    size = 30
    expected = np.array([Geometric(epsilon).probability(count, x) for x in range(size)])
    expected = np.append(expected, 1 - expected.sum()) * len(found)
    observed = np.bincount(np.minimum(found, size), minlength=size + 1)
    rare = expected < 5
    seen = [np.append(v[~rare], v[rare].sum()) for v in (observed, expected)]
    return stats.chisquare(seen[0], seen[1] * (seen[0].sum() / seen[1].sum())).pvalue


def test_draws_follow_the_law():
    source = entropy(4)
    found = np.array([Geometric(0.5).release(3, source) for _ in range(8_000)])
    assert p_value(found, 0.5, 3) > FALSE_ALARM
    assert p_value(found, 0.6, 3) < FALSE_ALARM
    assert p_value(found, 0.4, 3) < FALSE_ALARM


def test_refinement_decides(monkeypatch):
    """With three bits at a time nearly every draw is refined; the law stays."""
    import duffdp.sampling.lazy_uniform as module

    class Few(SeededEntropy):
        def words(self, size):
            return super().words(size) >> np.uint64(61)

    monkeypatch.setattr(module, "WORD", 3)
    source = Few(np.random.default_rng(2))
    found = np.array(
        [max(0, 3 + two_sided_geometric(Fraction(1, 2), source)) for _ in range(6_000)]
    )
    assert p_value(found, 0.5, 3) > FALSE_ALARM
    assert p_value(found, 0.7, 3) < FALSE_ALARM


def test_epsilon_is_checked():
    for wrong in (0, -1, None, True, math.inf):
        with pytest.raises(DuffError, match="epsilon must be"):
            Geometric(wrong)
