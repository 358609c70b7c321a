"""Two-sided geometric noise: the exact law over neighbouring counts, and draws against it."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from duffdp import DuffError
from duffdp._sampling import integer_noise as sampler
from duffdp._sampling.entropy import SeededEntropy, entropy
from duffdp._sampling.integer_noise import geometrics, two_sided_geometrics
from duffdp._sampling.lazy_uniform import LazyUniform
from duffdp.mechanisms import Geometric

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


def p_value_of_sizes(found, epsilon):
    """Of the chi-square test that sizes follow P(k or more) = exp(-epsilon k)."""
    most = 40
    expected = np.exp(-epsilon * np.arange(most)) * -np.expm1(-epsilon)
    expected = np.append(expected, 1 - expected.sum()) * len(found)
    observed = np.bincount(np.minimum(found, most), minlength=most + 1)
    rare = expected < 5
    seen = [np.append(v[~rare], v[rare].sum()) for v in (observed, expected)]
    return stats.chisquare(*seen).pvalue


def test_refinement_decides(monkeypatch):
    """With three bits at a time every number is refined, mostly more than once; the law stays."""
    import duffdp._sampling.lazy_uniform as module

    class Few(SeededEntropy):
        def words(self, size):
            return super().words(size) >> np.uint64(61)

    for changed in (module, sampler):
        monkeypatch.setattr(changed, "WORD", 3)
    found = np.array(geometrics(Fraction(1, 2), 6_000, Few(np.random.default_rng(2))))
    assert p_value_of_sizes(found, 0.5) > FALSE_ALARM
    assert p_value_of_sizes(found, 0.6) < FALSE_ALARM
    assert p_value_of_sizes(found, 0.4) < FALSE_ALARM


@pytest.mark.parametrize("slack", [2.0**-47, 0.05, 10.0])
def test_a_wider_slack_refines_more_and_changes_no_number(slack, monkeypatch):
    """The same words give the same numbers, however many of them are decided in doubles."""
    asked = []
    decide = sampler.decide

    def counted(*given):
        asked.append(1)
        return decide(*given)

    wanted = geometrics(Fraction(1, 3), 3_000, entropy(8))
    monkeypatch.setattr(sampler, "GEOMETRIC_SLACK", slack)
    monkeypatch.setattr(sampler, "decide", counted)
    assert geometrics(Fraction(1, 3), 3_000, entropy(8)) == wanted
    least, most = {2.0**-47: (0, 0), 0.05: (100, 2_000), 10.0: (2_500, 3_000)}[slack]
    assert least <= len(asked) <= most


@pytest.mark.parametrize("epsilon", [1.0, 0.01, 1e-6, 1e-12, 1e-15, 1e-30])
def test_bounds_hold_the_exact_number(epsilon):
    """At the ends of words, near whole numbers, and anywhere: what is decided in doubles is so."""
    exact = Fraction(epsilon)
    near = [round(2**64 * -math.expm1(-epsilon * k)) + d for k in (1, 2, 30) for d in (-1, 0, 1)]
    ends = [d for i in range(0, 64, 3) for d in (2**i, 2**64 - 2**i, 2**i - 1)]
    some = entropy(3).words(200).tolist()
    words = np.array([w for w in [*near, *ends, *some] if 0 <= w < 2**64], dtype=np.uint64)
    low, high = sampler._bounds(words, epsilon)
    for word, least, most in zip(words.tolist(), low.tolist(), high.tolist(), strict=True):
        bounds = LazyUniform(word, 64).exponential()
        if bounds is None or least != most:
            assert least != most  # nan, where doubles say nothing
            continue
        first, last = (math.floor(b / exact) for b in bounds)
        assert least <= first
        assert last <= most


def test_numbers_beyond_64_bits():
    found = two_sided_geometrics(Fraction(1, 10**30), 20, entropy(1))
    assert all(type(number) is int for number in found)
    assert max(map(abs, found)) > 2**64


def test_many_numbers_take_no_loop():
    """A million numbers in less than the time that a hundred thousand of them took one by one."""
    import time

    begin = time.perf_counter()
    two_sided_geometrics(Fraction(1), 10**6, entropy(1))
    assert time.perf_counter() - begin < 10


@pytest.mark.parametrize("size", [0, 1, 63, 64, 65, 1000])
def test_signs_are_fair_and_as_many_as_asked(size):
    coins = sampler.coins(size, entropy(size))
    assert (len(coins), coins.dtype) == (size, bool)
    if size == 1000:
        assert 400 < coins.sum() < 600


def test_epsilon_is_checked():
    for wrong in (0, -1, None, True, math.inf):
        with pytest.raises(DuffError, match="epsilon must be"):
            Geometric(wrong)
