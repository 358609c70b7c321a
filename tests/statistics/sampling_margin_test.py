"""The margin for sampling error: one record moves it by what is paid for, and it is large enough
for every number of records and not much larger."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from scipy.special import ndtr
from scipy.stats import binom

from duffdp.statistics import sampling_margin as module
from duffdp.statistics.sampling_margin import _no_steeper, sampling_margin, steps_per_rank

QS = [0, 0.07, 0.25, Fraction(1, 3), 0.5, 0.9, 1]
RATIO = math.log(1.2)


def margin_of(q, epsilon=Fraction(1, 4), miss=Fraction(1, 40), ratio=RATIO):
    q = Fraction(q).limit_denominator(10**6)
    return sampling_margin(q, Fraction(epsilon), miss, ratio)


@pytest.mark.parametrize("epsilon", [Fraction(1, 100), Fraction(1), Fraction(50)])
@pytest.mark.parametrize("q", QS)
def test_one_record_moves_the_margin_by_what_is_paid_for(q, epsilon):
    made, share = margin_of(q, epsilon), Fraction(q).limit_denominator(10**6)
    rank = steps_per_rank(share)
    assert rank % share.denominator == 0
    assert made.max_distance_change == max(share, 1 - share) * rank + made.max_change
    for begin in (0, 3000, 10**6 - 50, 2**57 - 50):
        found = [made.at(n) for n in range(begin, begin + 2500 if begin < 10**5 else begin + 100)]
        for fewer, more in itertools.pairwise(found):
            assert 0 <= more - fewer <= made.max_change


def test_a_line_that_rises_too_fast_is_lifted_before():
    knots = (0, 1, 2, 10, 20)
    assert _no_steeper(knots, [0, 5, 5, 30, 31], 3) == [2, 5, 6, 30, 31]
    assert _no_steeper(knots, [9, 5, 5, 6, 5], 1) == [9, 9, 9, 9, 9]


def largest_miss(made, q, records, epsilon, ratio=RATIO):
    """The largest probability of a miss, by the exact binomial law and the bound for each number of
    records up to the quantile."""
    share = Fraction(q).limit_denominator(10**6)
    below = np.arange(records + 1)
    rank, c = steps_per_rank(share), float(epsilon) / 2
    past = (below - float(q) * records) * rank + made.at(records)
    nats = np.maximum(c * past / made.max_distance_change, 0)
    r = math.exp(ratio)
    bound = np.maximum(
        np.exp(-nats) / (3 * (r - 1) * math.sqrt(r)), np.exp(-2 * nats) / 2 / (r - 1)
    )
    chance = np.where(past < 0, 1.0, np.minimum(bound, 1))
    return float(binom.pmf(below, records, float(q)) @ chance)


RECORDS = [*range(1, 70), *range(70, 400, 7), 999, 1013, 4321, 10_001, 33_333, 100_000]


@pytest.mark.parametrize("epsilon", [Fraction(1, 20), Fraction(1, 2), Fraction(5, 2), Fraction(30)])
@pytest.mark.parametrize("q", [0.05, 0.5, 0.95])
def test_the_largest_miss_is_what_was_asked_for_at_every_number_of_records(q, epsilon):
    for miss, ratio in ((Fraction(1, 40), RATIO), (Fraction(1, 5), RATIO), (Fraction(1, 40), 3.0)):
        made = margin_of(q, epsilon, miss, ratio)
        found = [largest_miss(made, q, n, epsilon, ratio) for n in RECORDS]
        assert max(found) <= miss


def test_the_largest_miss_is_not_far_below():
    """A twentieth less, and the promise would be broken."""
    for q, n in ((0.5, 1013), (0.9, 4321), (0.5, 100_000)):
        made = margin_of(q)
        closer = replace(made, steps=tuple(19 * steps // 20 for steps in made.steps))
        assert 0.018 < largest_miss(made, q, n, 0.25) <= 0.025
        assert largest_miss(closer, q, n, 0.25) > 0.025


def test_margins_are_as_small_as_the_noise_and_the_sample_allow():
    """Beside the normal approximation without noise, at epsilon 1 for a release."""
    for records, ratio in ((300, 2.3), (1000, 1.5), (3000, 1.25), (100_000, 1.05)):
        sample = 1.96 * math.sqrt(records) / 2
        assert margin_of(0.5).at(records) / 64 < ratio * sample


def test_the_normal_bound_is_an_upper_bound():
    places = np.random.default_rng(3).uniform(-12, 12, 200_000)
    bound = np.interp(places, module.NORMAL_AT, module.NORMAL_CDF)
    assert (bound >= ndtr(places) * (1 - 1e-12)).all()
    assert (bound - ndtr(places)).max() < 1e-6
