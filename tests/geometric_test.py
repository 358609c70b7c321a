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


@pytest.mark.parametrize("sensitivity", [1, 7])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0])
def test_loss_over_neighbouring_counts(epsilon, sensitivity):
    mechanism = Geometric(epsilon)
    largest = 0.0
    for count in range(6):
        here, there = (
            [mechanism.probability(n, x, sensitivity) for x in range(-40, 40)]
            for n in (count, count + sensitivity)
        )
        largest = max(largest, *(abs(math.log(a / b)) for a, b in zip(here, there, strict=True)))
    assert largest == pytest.approx(epsilon, rel=1e-9)
    reach = math.ceil(50 * sensitivity / epsilon)
    whole = sum(mechanism.probability(3, x, sensitivity) for x in range(3 - reach, 3 + reach))
    assert whole == pytest.approx(1, abs=1e-12)


def p_value(found, epsilon, count, sensitivity=1):
    """Of the chi-square test that draws follow the law."""
    size = 60
    law = Geometric(epsilon)
    expected = np.array([law.probability(count, x - size // 2, sensitivity) for x in range(size)])
    expected = np.append(expected, 1 - expected.sum()) * len(found)
    inside = abs(found) < size // 2
    observed = np.bincount(np.where(inside, found + size // 2, size), minlength=size + 1)
    rare = expected < 5
    seen = [np.append(v[~rare], v[rare].sum()) for v in (observed, expected)]
    return stats.chisquare(seen[0], seen[1] * (seen[0].sum() / seen[1].sum())).pvalue


def test_draws_follow_the_law():
    source = entropy(4)
    found = np.array(Geometric(0.5).release([[3] * 8_000], 1, source)[0])
    assert p_value(found, 0.5, 3) > FALSE_ALARM
    assert p_value(found, 0.6, 3) < FALSE_ALARM
    assert p_value(found, 0.4, 3) < FALSE_ALARM
    wider = np.array(Geometric(0.5).release([[3] * 8_000], 2, source)[0])
    assert p_value(wider, 0.5, 3, sensitivity=2) > FALSE_ALARM
    assert p_value(wider, 0.5, 3) < FALSE_ALARM


def test_refinement_decides(monkeypatch):
    """With three bits at a time nearly every draw is refined; the law stays."""
    import duffdp.sampling.lazy_uniform as module

    class Few(SeededEntropy):
        def words(self, size):
            return super().words(size) >> np.uint64(61)

    monkeypatch.setattr(module, "WORD", 3)
    source = Few(np.random.default_rng(2))
    found = np.array([3 + two_sided_geometric(Fraction(1, 2), source) for _ in range(6_000)])
    assert p_value(found, 0.5, 3) > FALSE_ALARM
    assert p_value(found, 0.7, 3) < FALSE_ALARM


def test_epsilon_is_checked():
    for wrong in (0, -1, None, True, math.inf):
        with pytest.raises(DuffError, match="epsilon must be"):
            Geometric(wrong)
