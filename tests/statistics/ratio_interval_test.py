"""Intervals of means and shares: every data set of small domains with the whole law of the noise,
small populations, samples, and what would go unnoticed if ends were closer."""

from __future__ import annotations

import itertools
import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import binom

import duffdp
import duffdp.statistics.noise_interval as ratio
from duffdp import Grid
from duffdp._sampling.entropy import entropy
from duffdp.domain import Bins, Membership
from duffdp.mechanisms import Geometric, Staircase, _ratio_noise
from duffdp.mechanisms._ratio_noise import CELLS, TwoNoises, largest_tilts
from duffdp.mechanisms.noise_errors import best_width
from duffdp.statistics.noise_interval import outward, possible_ratios
from duffdp.statistics.program import OutputColumn
from inquiries import plan_of

BEYOND = 1e-5  # of the noise that is not looked at
SHARES = Membership(Bins([0, 1]))


def noise_of(mechanism, sensitivity):
    """Both noises of every point that matters, and how likely each is."""
    chance, reach = mechanism.probability, 1
    while True:
        line = range(-reach, reach + 1)
        points = [p for p in itertools.product(line, line) if sum(map(abs, p)) <= reach]
        if isinstance(mechanism, Staircase):
            law = [chance((0, 0), p, sensitivity) for p in points]
        else:
            law = [chance(0, a, sensitivity) * chance(0, b, sensitivity) for a, b in points]
        if sum(law) > 1 - BEYOND:
            return points, law
        reach += 1 + reach // 4


def finished(name, epsilon, confidence, domain, covers="data"):
    """What is made of two noisy numbers, through the plan of the verb."""
    given = {"between": (0, 1)} if name == "share" else {}
    made = plan_of(name, given, epsilon, domain=domain, interval=confidence, covers=covers)
    return lambda *numbers: made.program.post_process.values(domain, numbers)


def domain_of(name, top):
    return SHARES if name == "share" else Grid(0, top, 1)


def noisy_by(name, epsilon):
    return (Geometric if name == "share" else Staircase)(epsilon)


CASES = [("share", 1), ("mean", 1), ("mean", 3)]


def largest_miss(name, top, epsilon, confidence, most_records=5):
    """Over all data sets, which matter by the number of records and their sum."""
    domain = domain_of(name, top)
    values = finished(name, epsilon, confidence, domain)
    points, law = noise_of(noisy_by(name, epsilon), top)
    misses = []
    for records in (*range(1, most_records), 30):
        for above in range(0, records * top + 1, 1 if records < 30 else 7):
            truth, missed = Fraction(above, records), 0.0
            for (a, b), chance in zip(points, law, strict=True):
                value, low, high = values(above + a, records * top - above + b)
                assert low <= value <= high
                missed += chance * (not low <= truth <= high)
            misses.append(missed)
    return max(misses)


@pytest.mark.parametrize("listed", [True, False])
@pytest.mark.parametrize(("epsilon", "confidence"), [(1.5, 0.8), (3.0, 0.95)])
@pytest.mark.parametrize(("name", "top"), CASES)
def test_every_small_data_set_is_covered(name, top, epsilon, confidence, listed, monkeypatch):
    """With the whole law of the noise, whichever way its size is bounded."""
    fresh(monkeypatch, listed)
    assert largest_miss(name, top, epsilon, confidence) <= 1 - confidence


def fresh(monkeypatch, listed=True):
    """Bounds on the noise that are found again, by adding up points or not."""
    if not listed:
        monkeypatch.setattr(_ratio_noise, "MAX_LISTED_RADIUS", 1)
    largest_tilts.cache_clear()


@pytest.fixture(autouse=True)
def _afterwards():
    yield
    largest_tilts.cache_clear()


@pytest.mark.parametrize("epsilon", [1, 30, 1000])
def test_what_the_caller_does_about_tiny_numbers_plays_no_part(epsilon, monkeypatch):
    ask = {"epsilon": epsilon, "bounds": (0, 9), "interval": 0.9, "rng": 1}
    expected = duffdp.mean([3, 4, 5], **ask).to_dict()
    fresh(monkeypatch)
    with np.errstate(all="raise"):
        found = duffdp.mean([3, 4, 5], **ask).to_dict()
    assert found | {"time": None} == expected | {"time": None}


@pytest.mark.parametrize(("name", "top"), CASES)
def test_closer_ends_would_be_noticed(name, top, monkeypatch):
    fresh(monkeypatch)
    original = ratio.possible_ratios

    def closer(above, below, tilts):
        return original(above, below, [4 * tilted // 5 for tilted in tilts])

    monkeypatch.setattr(ratio, "possible_ratios", closer)
    assert largest_miss(name, top, 0.8, 0.8, 3) > 0.2


@pytest.mark.parametrize("miss", [Fraction(1, 5), Fraction(1, 1000)])
@pytest.mark.parametrize(("epsilon", "top"), [(0.5, 1), (1.0, 4), (4.0, 10), (1.0, 8)])
def test_tilted_noise_is_exceeded_as_rarely_as_is_said(epsilon, top, miss, monkeypatch):
    """At places inside of the cells; and the bound without listing is larger, but not by much."""
    noise = TwoNoises(epsilon, top, best_width(epsilon, top, 2))
    points, law = noise_of(Staircase(epsilon), top)
    (a, b), law = np.array(points).T, np.array(law)
    fresh(monkeypatch)
    exact = largest_tilts(noise, miss)
    fresh(monkeypatch, listed=False)
    smooth = largest_tilts(noise, miss)
    assert len(exact) == len(smooth) == CELLS
    assert sorted(smooth) == list(smooth)
    for i, c in enumerate((np.arange(CELLS) + 0.37) / CELLS):
        for bound in (exact[i], smooth[i]):
            for turned in (c, -c):
                size = np.abs(a - b + turned * (a + b))
                assert law[size > bound / CELLS + 1e-9].sum() <= miss
        assert exact[i] <= smooth[i] <= exact[i] + 2.5 * CELLS * (1 + c) + 0.1 * exact[i]


def test_the_tail_of_spread_points_is_that_of_squares():
    """Against numbers drawn from all balls; a tenth less of the bound would be noticed."""
    epsilon, top, many = 0.7, 1000, 200_000
    noise = TwoNoises(epsilon, top, best_width(epsilon, top, 2))
    rng, steps = np.random.default_rng(4), np.arange(200)
    radius = steps * top + noise.width
    weight = np.exp(-epsilon * steps) * (radius**2.0 + (radius - 1.0) ** 2)
    size = rng.choice(radius, many, p=weight / weight.sum())
    s, d = (rng.uniform(-1, 1, many) * size for _ in range(2))
    for c in (Fraction(1, 32), Fraction(1, 2), Fraction(1)):
        for x in (500, 3000, 9000):
            drawn = np.mean(np.abs(s + float(c) * d) > x)
            found = _ratio_noise._tail(noise, int(c * CELLS), x)
            assert abs(drawn - found) < 6.2 * math.sqrt(found / many) + 1e-3 * found
            assert _ratio_noise._tail(noise, int(c * CELLS), x * 9 // 10) > found * 1.01


def test_ratios_that_are_possible_are_those_of_the_definition():
    """On a fine grid of ratios, for totals above, at and below nothing."""
    tilts = largest_tilts(TwoNoises(1.0, 1, 1), Fraction(1, 10))
    most = [*tilts[::-1], *tilts]
    for above, below in itertools.product(range(-6, 12, 3), range(-7, 12, 2)):
        fine = [Fraction(i, 640) for i in range(641)]
        possible = [
            m
            for m in fine
            if any(
                64 * abs(above - m * (above + below)) <= most[i]
                for i in {min(int(64 * m), 63), max(math.ceil(64 * m) - 1, 0)}
            )
        ]
        found = possible_ratios(above, below, tilts)
        if found is None:
            assert possible == []
            continue
        low, high = found
        assert 0 <= low <= high <= 1
        if possible:
            assert low <= possible[0] <= low + Fraction(1, 640)
            assert high >= possible[-1] >= high - Fraction(1, 640)


# Populations.


def population_miss(top, chances, records, epsilon, confidence, covers="population"):
    """How often the mean of a population is missed, exactly: all samples, all noise."""
    name = "share" if len(chances) == 2 else "mean"
    values = finished(name, epsilon, confidence, domain_of(name, top), covers)
    points, law = noise_of(noisy_by(name, epsilon), top)
    of_sum = np.array([1.0])
    for _ in range(records):
        of_sum = np.convolve(of_sum, chances)
    truth = sum(Fraction(chance) * i for i, chance in enumerate(chances)) / (
        1 if name == "mean" else top
    )
    missed = 0.0
    for above, often in enumerate(of_sum.tolist()):
        if often < 1e-9:
            continue
        for (a, b), chance in zip(points, law, strict=True):
            _, low, high = values(above + a, records * top - above + b)
            missed += often * chance * (not low <= truth <= high)
    return missed


@pytest.mark.parametrize("chances", [(0.5, 0.5), (0.875, 0.125), (0.25, 0.5, 0.25), (0, 0, 1)])
@pytest.mark.parametrize("records", [1, 12, 40])
def test_the_means_of_small_populations_are_covered(chances, records):
    assert population_miss(len(chances) - 1, chances, records, 4.0, 0.7) <= 0.3


def test_the_data_say_less_of_the_population_than_of_themselves():
    assert population_miss(1, (0.5, 0.5), 40, 4.0, 0.7, covers="data") > 0.3


@pytest.mark.parametrize("nats", [1e-6, 0.01, 0.3, 5.0])
def test_the_least_mean_by_divergence(nats):
    """The chance of a sample mean that is no smaller is at most exp(-n nats) (Hoeffding)."""
    for sample in (0.0, 1e-9, 0.2, 0.5, 0.999, 1.0):
        least = ratio._least_mean(sample, nats)
        assert 0 <= least <= sample
        if least > 0:
            assert ratio._divergence(sample, least) >= nats * (1 - 1e-6)
        if 0 < least < sample * (1 - 1e-6):
            assert ratio._divergence(sample, least * (1 + 1e-6)) <= nats * (1 + 1e-3)
    for records in (5, 50):
        for above in range(1, records + 1):
            least = ratio._least_mean(above / records, nats)
            assert binom.sf(above - 1, records, least) <= math.exp(-records * nats) * (1 + 1e-9)


def test_a_smaller_number_of_records_is_believed(monkeypatch):
    """The number of records in the bound on sampling errs to the lower side as often as is
    said."""
    seen = []
    monkeypatch.setattr(ratio, "_least_mean", lambda sample, nats: seen.append(nats) or 0.0)
    values = finished("share", 2.0, 0.9, SHARES, "population")
    points, law = noise_of(Geometric(2.0), 1)
    records, more = 40, 0.0
    nats = math.log(2 / 0.075)
    for (a, b), chance in zip(points, law, strict=True):
        seen.clear()
        values(15 + a, 25 + b)
        more += chance * bool(seen and seen[0] < nats / records)
    assert 0 < more <= 0.1 / 16


# Samples, with a false alarm in 1e9 runs.

DRAWS, MISS = 4000, 0.1
MOST_MISSES = int(binom.isf(1e-9, DRAWS, MISS))


@pytest.mark.parametrize("shrunk", [0, 0.2])
def test_noise_is_covered_and_an_interval_that_is_a_fifth_narrower_is_found_out(shrunk):
    """For many records, means at a bound and in the middle."""
    grid, records = Grid(0, 120, 1), 700
    for above, below in ((records * 60, records * 60), (records * 3, records * 117)):
        values = finished("mean", 1.0, 1 - MISS, grid)
        noisy = Staircase(1.0).release([(above, below)] * DRAWS, 120, entropy(8))
        truth, missed = above / records, 0
        for numbers in noisy:
            _, low, high = values(*numbers)
            inward = shrunk * (high - low) / 2
            missed += not low + inward <= truth <= high - inward
        assert (missed > MOST_MISSES) == bool(shrunk)


def test_how_wide_they_are():
    """In ranges / (epsilon n), for many records: a half at the middle is less than at a bound."""
    values = finished("mean", 1.0, 0.95, Grid(0, 2**20, 1))
    widths = []
    for share in (0.5, 0.02):
        above = int(2**20 * 10**6 * share)
        _, low, high = values(above, 2**20 * 10**6 - above)
        widths.append((high - low) * 10**6 / 2**20)
    assert widths == pytest.approx([4.14, 5.92], abs=0.05)


# What is released.


def test_ends_are_rounded_away_from_each_other():
    third = (Fraction(1, 3), Fraction(2, 3))
    mean = OutputColumn("mean", "average")
    low, high = outward(Grid(0, 1, 1), mean, third)
    assert Fraction(low) < third[0] < third[1] < Fraction(high)
    assert high - low < 0.34
    low, high = outward(Grid(Decimal(0), Decimal(1), Decimal("0.1")), mean, third)
    assert isinstance(low, Decimal)
    assert Fraction(low) < third[0] < third[1] < Fraction(high)
    assert outward(Grid(0, 10, 1), OutputColumn("mean"), third) == (3, 7)
    assert outward(SHARES, mean, (Fraction(0), Fraction(1))) == (0.0, 1.0)
    low, high = outward(SHARES, mean, third)
    assert Fraction(low) < third[0] < third[1] < Fraction(high)


def test_noise_that_leaves_nothing_possible():
    """It is larger than promised: a miss, whatever is said."""
    values = finished("share", 3.0, 0.5, SHARES)
    assert values(-40, 50) == [0.0, 0.0, 0.0]
    assert values(0, 0) == [0.5, 0.0, 1.0]
