"""Keys that are found: the exact law over neighbors on small universes, draws against it, and
intervals that hold for keys that are released.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from decimal import Context, Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from duffdp._evidence import KeyCounts
from duffdp._sampling import lazy_uniform
from duffdp._sampling.entropy import SeededEntropy, entropy
from duffdp._sampling.rare_places import event_rate, rare_places
from duffdp.mechanisms import ThresholdedGeometric

FALSE_ALARM = 1e-9


def outputs(threshold, reach):
    return [None, *range(threshold, threshold + reach)]


def law_of(mechanism, counts, output, threshold):
    """The probability of the released keys and counts, from the counts of all possible keys."""
    return math.prod(
        mechanism.probability(count, released, threshold)
        for count, released in zip(counts, output, strict=True)
    )


@pytest.mark.parametrize("epsilon", [0.3, 1.0])
@pytest.mark.parametrize("threshold", [1, 3])
def test_loss_over_all_neighbors(epsilon, threshold):
    """A record joins: with a new key, with one that others have, with one of several."""
    mechanism, largest = ThresholdedGeometric(epsilon), 0.0
    for counts in itertools.product(range(3), repeat=3):
        for place in range(3):
            more = [count + (at == place) for at, count in enumerate(counts)]
            for output in itertools.product(outputs(threshold, 5), repeat=3):
                here, there = (
                    law_of(mechanism, data, output, threshold) for data in (counts, more)
                )
                largest = max(largest, abs(math.log(here / there)))
    assert largest == pytest.approx(epsilon, rel=1e-9)
    assert largest <= epsilon * (1 + 1e-9)


def test_loss_of_a_person_with_several_keys():
    """Two rows of a person at half of epsilon each cost epsilon, and no less."""
    mechanism, largest = ThresholdedGeometric(0.5), 0.0
    for output in itertools.product(outputs(2, 6), repeat=2):
        here, there = (law_of(mechanism, data, output, 2) for data in ((0, 0), (1, 1)))
        largest = max(largest, abs(math.log(here / there)))
    assert largest == pytest.approx(1.0, rel=1e-9)


@pytest.mark.parametrize("count", [0, 2, 4, 9])
def test_probabilities_add_up(count):
    mechanism = ThresholdedGeometric(0.7)
    whole = sum(mechanism.probability(count, output, 4) for output in outputs(4, 80))
    assert whole == pytest.approx(1, abs=1e-12)


def draws(epsilon, counts, size, threshold, times, source):
    mechanism = ThresholdedGeometric(epsilon)
    seen = []
    for _ in range(times):
        places, numbers = mechanism.numbers(KeyCounts(counts, size, threshold), source)
        assert list(places) == sorted(places)
        seen.append(dict(zip(places, numbers, strict=True)))
    return seen


def p_value(seen, mechanism, counts, size, threshold):
    """Of the chi-square test over whole outputs of a small universe, capped at a few counts."""
    cells = outputs(threshold, 4)
    observed = Counter(
        tuple(
            None if released.get(place) is None else min(released[place], cells[-1])
            for place in range(size)
        )
        for released in seen
    )
    expected = []
    for output in itertools.product(cells, repeat=size):
        chance = 1.0
        for place, released in enumerate(output):
            count = counts.get(place, 0)
            if released == cells[-1]:
                others = (mechanism.probability(count, o, threshold) for o in cells[:-1])
                chance *= 1 - sum(others)
            else:
                chance *= mechanism.probability(count, released, threshold)
        expected.append((output, chance * len(seen)))
    rare = sum(number for _, number in expected if number < 5)
    table = [(observed[output], number) for output, number in expected if number >= 5]
    rest = len(seen) - sum(number for number, _ in table)
    found, hoped = zip(*table, (rest, rare), strict=True)
    return stats.chisquare(found, np.array(hoped) * (sum(found) / sum(hoped))).pvalue


def test_draws_follow_the_law():
    source, counts = entropy(11), {0: 1, 2: 3}
    seen = draws(0.8, counts, 3, 2, 8_000, source)
    assert p_value(seen, ThresholdedGeometric(0.8), counts, 3, 2) > FALSE_ALARM
    for wrong in (0.7, 0.9):
        assert p_value(seen, ThresholdedGeometric(wrong), counts, 3, 2) < FALSE_ALARM
    assert p_value(seen, ThresholdedGeometric(0.8), {0: 1, 1: 1, 2: 3}, 3, 2) < FALSE_ALARM


def test_false_keys_are_uniform_and_as_many_as_promised():
    """36**20 possible keys, of which none occurs: their places spread over the whole universe."""
    size, epsilon, source = 36**20, Fraction(1), entropy(5)
    threshold = 68  # 36**20 exp(-68) / (1 + exp(-1)): about 29 false keys
    chance = math.exp(-68) / (1 + math.exp(-1))
    found = [list(rare_places(size, epsilon, threshold, source)) for _ in range(150)]
    mean = size * chance
    total = sum(map(len, found))
    assert stats.poisson.sf(total - 1, 150 * mean) > FALSE_ALARM
    assert stats.poisson.cdf(total, 150 * mean) > FALSE_ALARM
    assert stats.poisson.cdf(total, 150 * mean * 1.2) < FALSE_ALARM
    cells = np.bincount([place * 20 // size for places in found for place in places], minlength=20)
    assert stats.chisquare(cells).pvalue > FALSE_ALARM
    # The last digits of places are as random as the first ones.
    digits = np.bincount([place % 20 for places in found for place in places], minlength=20)
    assert stats.chisquare(digits).pvalue > FALSE_ALARM


def test_places_are_independent_events():
    """All sets of places of a small universe against the law, also with few bits at a time."""
    epsilon, size, times = Fraction(1, 2), 3, 6_000
    chance = math.exp(-0.5) / (1 + math.exp(-0.5))
    source = entropy(3)
    seen = Counter(tuple(rare_places(size, epsilon, 1, source)) for _ in range(times))
    sets = [c for n in range(size + 1) for c in itertools.combinations(range(size), n)]
    law = [chance ** len(s) * (1 - chance) ** (size - len(s)) for s in sets]
    found = [seen[s] for s in sets]
    assert stats.chisquare(found, np.array(law) * times).pvalue > FALSE_ALARM
    assert stats.chisquare(found, np.full(len(sets), times / len(sets))).pvalue < FALSE_ALARM


def test_few_bits_are_refined(monkeypatch):
    """With three bits at a time nearly every gap needs more of them; the law stays."""

    class Few(SeededEntropy):
        def words(self, size):
            return super().words(size) >> np.uint64(61)

    monkeypatch.setattr(lazy_uniform, "WORD", 3)
    source = Few(np.random.default_rng(1))
    total = sum(len(list(rare_places(1000, Fraction(1), 3, source))) for _ in range(100))
    mean = 100 * 1000 * math.exp(-3) / (1 + math.exp(-1))
    assert stats.poisson.cdf(total, mean) > FALSE_ALARM
    assert stats.poisson.sf(total - 1, mean) > FALSE_ALARM


@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1, 3), Fraction(3)])
@pytest.mark.parametrize("threshold", [1, 40])
@pytest.mark.parametrize("digits", [20, 60])
def test_rate_is_within_its_bounds(epsilon, threshold, digits):
    """Against 200 digits, whatever the decimals of the caller are like."""
    with localcontext(Context(prec=200)):
        step = Decimal(epsilon.numerator) / epsilon.denominator
        chance = (-step * threshold).exp() / (1 + (-step).exp())
        rate = -Fraction((1 - chance).ln())
    for context in (Context(), Context(prec=2)):
        with localcontext(context):
            low, high = event_rate(epsilon, threshold, digits)
        assert low < rate < high
        assert high - low < 3 * rate / 10**digits


@pytest.mark.parametrize("epsilon", [2_000, 10**5, 10**9])
def test_huge_epsilons_find_no_false_key_in_no_time(epsilon):
    """Digits of their chances would take seconds, or never end."""
    assert list(rare_places(2**4096, Fraction(epsilon), 3, entropy())) == []


@pytest.mark.parametrize("threshold", [1, 2, 5, 9])
def test_a_rough_bound_of_the_chance_decides_nothing_that_is_not_certain(threshold, monkeypatch):
    """Where it is looked at for small exponents, too, the same bits give the same places."""
    found = []
    for largest in (10**9, 0):
        monkeypatch.setattr("duffdp._sampling.rare_places._LARGE_EXPONENT", largest)
        found.append(
            [list(rare_places(200, Fraction(1), threshold, entropy(seed))) for seed in range(60)]
        )
    assert found[0] == found[1]
    assert any(found[0])


@pytest.mark.parametrize("epsilon", [1, 20, 300, 10**5])
def test_intervals_of_released_keys_beyond_all_doubles(epsilon):
    """Tails of the noise that no double holds: whether a key is found decides no error."""
    mechanism = ThresholdedGeometric(epsilon)
    for threshold in (1, 100, 3000):
        for output in (threshold, threshold + 5):
            low, high = mechanism.possible_counts(output, threshold, 0.95)
            assert 0 <= low <= output <= high
    assert mechanism.possible_counts(10**4, 3000, 0.95)[0] >= 10**4 - 4


@pytest.mark.parametrize("epsilon", [0.2, 1.0, 3.0])
@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_intervals_hold_for_released_keys(epsilon, confidence):
    """Summed over all outputs that release a key, for every true count: also for none at all."""
    mechanism, threshold = ThresholdedGeometric(epsilon), 7
    reach = math.ceil(30 / epsilon)
    for count in range(threshold + 12):
        covered = whole = 0.0
        for output in range(threshold, max(threshold, count) + reach):
            low, high = mechanism.possible_counts(output, threshold, confidence)
            assert 0 <= low <= output <= high
            chance = mechanism.probability(count, output, threshold)
            whole += chance
            covered += chance * (low <= count <= high)
        assert covered >= confidence * whole - 1e-9
    # They are no wider than they have to be: far above the threshold as for any other count.
    low, high = mechanism.possible_counts(10_000, threshold, confidence)
    assert high - low <= 2 * math.ceil(math.log(2 / (1 - confidence)) / epsilon) + 2
