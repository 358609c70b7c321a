"""The band of a distribution: exact laws of walks of noise, coverage by enumeration and by
simulation, and that a narrower band would not do."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import binom

import duffdp
from duffdp._pipeline import distribution
from duffdp._pipeline.distribution import share_band
from duffdp._sampling import cumulative_noise
from duffdp._sampling.cumulative_noise import END_RATIO, walk_bound

FALSE_ALARM = 1e-9


def noise(epsilon, shape, rng):
    chance = -math.expm1(-epsilon)
    return rng.geometric(chance, shape) - rng.geometric(chance, shape)


def exact_chance(steps, epsilon, bound):
    """The probability that a walk ends within END_RATIO times the bound of 0 and is everywhere
    within the bound of its chord: for every end, the walks that get there between two lines."""
    reach = (END_RATIO + 1) * bound
    places = np.arange(-reach, reach + 1)
    apart = np.abs(places[:, None] - places[None, :])
    kernel = np.exp(-epsilon * apart) * math.tanh(epsilon / 2)
    ends = np.arange(-END_RATIO * bound, END_RATIO * bound + 1)
    weight = np.zeros((len(ends), len(places)))
    weight[:, reach] = 1.0
    for step in range(1, steps + 1):
        near = np.abs(steps * places[None, :] - step * ends[:, None]) <= steps * bound
        weight = (weight @ kernel) * near
    return float(weight[np.arange(len(ends)), ends + reach].sum())


@pytest.mark.parametrize("confidence", ["0.8", "0.95", "0.99"])
@pytest.mark.parametrize(("steps", "epsilon"), [(1, "1"), (2, "0.3"), (8, "1"), (33, "0.5")])
def test_the_bound_of_a_walk_by_its_exact_law(steps, epsilon, confidence):
    wanted = Fraction(confidence)
    bound = walk_bound(steps, Fraction(epsilon), 1 - wanted)
    assert exact_chance(steps, float(epsilon), bound) >= wanted
    if bound > 5:  # a fifth of less is not a record
        assert exact_chance(steps, float(epsilon), math.floor(0.8 * bound)) < wanted


def test_the_exact_law_by_listing_walks():
    steps, epsilon, bound = 3, 1.2, 2
    listed = 0.0
    for walk in itertools.product(range(-12, 13), repeat=steps):
        sums = list(itertools.accumulate(walk))
        chord = [abs(steps * e - k * sums[-1]) <= steps * bound for k, e in enumerate(sums, 1)]
        if all(chord) and abs(sums[-1]) <= END_RATIO * bound:
            weight = math.exp(-epsilon * sum(map(abs, walk)))
            listed += weight * math.tanh(epsilon / 2) ** steps
    assert exact_chance(steps, epsilon, bound) == pytest.approx(listed, rel=1e-9)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_other_seeds_give_nearly_the_same_bound(seed, monkeypatch):
    given = (100, Fraction(3, 4), Fraction(1, 20))
    usual = walk_bound(*given)
    monkeypatch.setattr(cumulative_noise, "WALK_SEED", seed)
    assert walk_bound.__wrapped__(*given) == pytest.approx(usual, rel=0.06)


def test_a_quantile_of_few_walks_is_not_taken_for_the_true_one():
    """Of so many walks, so few may lie beyond the bound that it is too low for one seed in a
    million."""
    for walks, miss in ((2000, 0.05), (10_000, 0.01), (100, 0.99), (400, 0.25)):
        beyond = cumulative_noise._allowed_exceeding(walks, miss)
        assert binom.cdf(beyond, walks, miss) <= cumulative_noise.MAX_SEED_FAILURE
        assert binom.cdf(beyond + 1, walks, miss) > cumulative_noise.MAX_SEED_FAILURE


@pytest.mark.parametrize(
    ("epsilon", "miss"), [("1e-12", "0.05"), ("1000000000", "0.05"), ("1", "0.999")]
)
def test_bounds_at_the_ends_of_what_can_be_asked(epsilon, miss):
    bound = walk_bound(64, Fraction(epsilon), Fraction(miss))
    assert 0 <= bound < 1e15
    assert (bound == 0) == (Fraction(epsilon) > 1000)


def covered(counts, noisy, epsilon, confidence):
    """Whether the band around noisy counts holds the shares of the exact ones."""
    sums = np.cumsum(counts)
    low, high = share_band(np.cumsum(noisy).tolist(), epsilon, confidence, "data")
    shares = sums / sums[-1]
    return bool(np.all((low <= shares) & (shares <= high)))


@pytest.mark.parametrize("counts", [(1, 0, 0), (0, 5, 1), (7, 7, 7), (0, 0, 40)])
def test_coverage_by_listing_all_noise(counts):
    """Three cells; noise that is not listed counts as a miss."""
    epsilon, confidence = Fraction(3, 2), Fraction("0.8")
    chance = 0.0
    for added in itertools.product(range(-9, 10), repeat=3):
        if covered(counts, np.add(counts, added), epsilon, confidence):
            chance += math.exp(-1.5 * sum(map(abs, added))) * math.tanh(0.75) ** 3
    assert chance >= confidence


def missed(counts, epsilon, runs, seed):
    """How often the band misses, of so many draws of noise."""
    rng = np.random.default_rng(seed)
    draws = noise(epsilon, (runs, len(counts)), rng)
    exact = Fraction(str(epsilon))
    return sum(not covered(counts, counts + added, exact, Fraction("0.95")) for added in draws)


SHAPES = {
    "even": np.full(120, 30),
    "one cell": np.where(np.arange(120) == 37, 3600, 0),
    "both ends": np.where(np.arange(120) % 119 == 0, 1800, 0),
    "few": np.where(np.arange(120) < 9, 1, 0),
    "rising": np.arange(120),
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("epsilon", [0.05, 0.75])
def test_the_band_covers(shape, epsilon):
    runs = 1500
    assert missed(SHAPES[shape], epsilon, runs, 5) <= binom.isf(FALSE_ALARM, runs, 0.05)


def test_a_band_shrunk_by_a_fifth_does_not_cover(monkeypatch):
    runs = 1500
    monkeypatch.setattr(
        distribution, "walk_bound", lambda *given: math.floor(0.8 * walk_bound(*given))
    )
    assert missed(np.full(120, 300), 0.75, runs, 5) > binom.isf(FALSE_ALARM, runs, 0.05)


def population_misses(records, runs, seed, confidence="0.95"):
    """How often the band for a population misses: each of 120 cells is as likely."""
    rng = np.random.default_rng(seed)
    truth = np.arange(1, 121) / 120
    found = 0
    for _ in range(runs):
        counts = rng.multinomial(records, np.full(120, 1 / 120)) + noise(0.75, 120, rng)
        low, high = share_band(
            np.cumsum(counts).tolist(), Fraction(3, 4), Fraction(confidence), "population"
        )
        found += not np.all((low <= truth) & (truth <= high))
    return found


@pytest.mark.parametrize("records", [40, 600, 20_000])
def test_the_band_covers_the_population(records):
    runs = 800
    assert population_misses(records, runs, 3) <= binom.isf(FALSE_ALARM, runs, 0.05)


def test_the_band_for_the_records_does_not_cover_the_population(monkeypatch):
    """Sampling errs by more than noise does here."""
    runs = 200
    monkeypatch.setattr(distribution.math, "sqrt", lambda _: 0.0)
    assert population_misses(20_000, runs, 3) > binom.isf(FALSE_ALARM, runs, 0.05)


def test_too_few_records_to_tell():
    low, high = share_band([1, 2, 3], Fraction(1, 100), Fraction("0.95"), "data")
    assert low.tolist() == [0, 0, 1]
    assert high.tolist() == [1, 1, 1]
    low, high = share_band([-5, -8, -3], Fraction(1), Fraction("0.95"), "population")
    assert low.tolist() == [0, 0, 1]
    assert high.tolist() == [1, 1, 1]


@pytest.mark.parametrize("covers", ["data", "population"])
def test_coverage_through_the_verb_at_every_value(covers):
    """Records of a skewed distribution on a fine grid, where cells follow the noisy counts."""
    rng, runs, records, failed = np.random.default_rng(8), 100, 2000, 0
    for seed in range(runs):
        data = np.sort(rng.lognormal(0, 1.5, records))
        found = duffdp.distribution(
            data, epsilon=1.0, bounds=(0, 1000), step=0.001, rng=seed, confidence=0.9
        ).value
        snapped = np.sort([found.domain.index(value) for value in data])
        places = np.unique([*found.ends, *(end - 1 for end in found.ends[1:]), *snapped[::40]])
        for place in places.tolist():
            low, high = found.band(found.domain.value(place), covers)
            share = np.searchsorted(snapped, place, side="right") / records
            if covers == "population" and place < found.domain.size - 1:
                share = 0.5 * math.erfc(-math.log((place + 0.5) * 0.001) / 1.5 / math.sqrt(2))
            if not low - 1e-9 <= share <= high + 1e-9:
                failed += 1
                break
    assert failed <= binom.isf(FALSE_ALARM, runs, 0.1)
