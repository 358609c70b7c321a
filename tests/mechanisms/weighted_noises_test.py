"""Weighted sums of noises: the bound against a convolution on a fine lattice."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from duffdp.mechanisms import Geometric, Staircase
from duffdp.mechanisms._ratio_noise import CELLS
from duffdp.mechanisms.weighted_noises import SLACK, NoiseSum, WeightedNoise, ratio_tilts

PARTS = 12  # all weights here are multiples of a twelfth


def lattice(noise, sensitivity, weight, reach):
    """The distribution of a noise times a weight, on multiples of a twelfth up to `reach`."""
    law = np.zeros(2 * reach * PARTS + 1)
    step = abs(weight) * PARTS
    assert step.denominator == 1
    most = reach * PARTS // int(step)
    for x in range(-most, most + 1):
        p = noise.probability(*((0, x) if sensitivity == 1 else ([0], [x])), sensitivity)
        law[reach * PARTS + x * int(step)] += p
    return law


def distribution(parts, sensitivity, reach=400):
    """The sizes of a sum, and their probabilities, by convolution."""
    law = np.array([1.0])
    for noise, weight, count in parts:
        for _ in range(count):
            law = np.convolve(law, lattice(noise, sensitivity, weight, reach), mode="full")
            middle = len(law) // 2
            law = law[max(0, middle - reach * PARTS) : middle + reach * PARTS + 1]
    sizes = np.abs(np.arange(len(law)) - len(law) // 2) / PARTS
    return sizes, law


def exceeded(sizes, law, bound):
    return law[sizes > bound].sum()


CASES = [
    ([(Geometric(1), Fraction(1, 2), 3), (Geometric(0.5), Fraction(1, 3), 2)], 1),
    ([(Geometric(1), Fraction(-1, 4), 7), (Geometric(1), Fraction(3, 4), 1)], 1),
    ([(Geometric(3), Fraction(1, 3), 1)], 1),
    ([(Staircase(1), Fraction(1, 2), 2), (Staircase(2), Fraction(2, 3), 1)], 5),
    ([(Staircase(0.5), Fraction(1, 4), 1), (Staircase(3), Fraction(1), 2)], 3),
]


@pytest.mark.parametrize(("parts", "sensitivity"), CASES)
@pytest.mark.parametrize("failure_rate", [Fraction(1, 5), Fraction(1, 20), Fraction(1, 1000)])
def test_bounds_hold_and_are_not_too_large(parts, sensitivity, failure_rate):
    total = NoiseSum([WeightedNoise(*part) for part in parts], sensitivity)
    sizes, law = distribution(parts, sensitivity)
    bound = float(total.largest(failure_rate))
    slack = 2.5 * SLACK * total.deviation * sensitivity
    assert exceeded(sizes, law, bound) <= failure_rate
    assert exceeded(sizes, law, bound - slack - 1 / PARTS) > failure_rate


RATIO_CASES = [
    [(Geometric(1.5), Fraction(1), 4)],
    [(Geometric(1), Fraction(1, 2), 3), (Geometric(0.8), Fraction(1, 3), 2)],
    [(Geometric(4), Fraction(2, 3), 1), (Geometric(2), Fraction(1, 4), 3)],
]


@pytest.mark.parametrize("parts", RATIO_CASES)
@pytest.mark.parametrize("failure_rate", [Fraction(1, 5), Fraction(1, 20), Fraction(1, 1000)])
def test_noises_of_ratios_are_exceeded_as_rarely_as_is_said(parts, failure_rate):
    """At both ends and inside of the cells, by all pairs of two sums; and bounds are not much too
    large.
    """
    tilts = ratio_tilts([WeightedNoise(*part) for part in parts], 1, failure_rate)
    assert len(tilts) == CELLS
    numbers, law = distribution(parts, 1, reach=100)
    signed = np.where(np.arange(len(law)) < len(law) // 2, -numbers, numbers)
    matter = law > 1e-9
    signed, law = signed[matter], law[matter]
    weight, outside = np.outer(law, law), 1 - law.sum() ** 2
    assert outside < failure_rate / 1000
    difference, total = np.subtract.outer(signed, signed), np.add.outer(signed, signed)
    for i in (0, 1, 7, CELLS // 2, CELLS - 1):
        bound = tilts[i] / CELLS
        for place in (0.0, 0.37, 0.5, 1.0):
            size = np.abs(difference + (i + place) / CELLS * total)
            assert weight[size > bound + 1e-9].sum() <= failure_rate
        less = bound * 0.93 - 1 / PARTS - 1 / CELLS
        assert weight[size > less].sum() + outside > failure_rate


@pytest.mark.parametrize(("parts", "sensitivity"), CASES)
def test_moments_are_those_of_the_convolution(parts, sensitivity):
    total = NoiseSum([WeightedNoise(*part) for part in parts], sensitivity)
    sizes, law = distribution(parts, sensitivity)
    assert (sizes**2 * law).sum() ** 0.5 == pytest.approx(total.deviation * sensitivity, rel=1e-6)
    assert (sizes * law).sum() == pytest.approx(total.expected_size() * sensitivity, rel=0.01)


@pytest.mark.parametrize("epsilon", [0.1, 1, 4])
@pytest.mark.parametrize("sensitivity", [1, 2, 7, 40])
@pytest.mark.parametrize("kind", [Geometric, Staircase])
def test_characteristic_functions_are_sums_of_cosines(kind, epsilon, sensitivity):
    noise = kind(epsilon)
    numbers = np.arange(
        -60 * int(sensitivity / epsilon + 1), 60 * int(sensitivity / epsilon + 1) + 1
    )
    law = np.array(
        [
            noise.probability(0, int(x), sensitivity)
            if kind is Geometric
            else noise.probability([0], [int(x)], sensitivity)
            for x in numbers
        ]
    )
    assert law.sum() == pytest.approx(1)
    for angle in (0.01, 0.7, 3.0, 11.0):
        cosines = (law * np.cos(angle / sensitivity * numbers)).sum()
        assert noise.characteristic(sensitivity, angle).real == pytest.approx(cosines, abs=1e-9)
    tilt = epsilon / 2
    moment = (law * np.exp(tilt / sensitivity * numbers)).sum()
    assert noise.characteristic(sensitivity, 1j * tilt).real == pytest.approx(moment)
    assert noise.variance(sensitivity) == pytest.approx((law * (numbers / sensitivity) ** 2).sum())


def test_whole_sums_have_the_exact_bound():
    parts = [
        WeightedNoise(Geometric(1), Fraction(1), 4),
        WeightedNoise(Geometric(1), Fraction(-1), 3),
    ]
    bound = Geometric(1).largest_noise_of_sum(1, 7, Fraction(19, 20))
    assert NoiseSum(parts[:1], 1).largest(Fraction(1, 20)) < bound
    noise = Geometric(1)
    parts = [WeightedNoise(noise, Fraction(1), 4), WeightedNoise(noise, Fraction(-1), 3)]
    assert NoiseSum(parts, 1).largest(Fraction(1, 20)) == bound


def test_tiny_failure_rates_are_shared():
    a, b, miss = Geometric(1), Geometric(2), Fraction(1, 10**9)
    parts = [WeightedNoise(a, Fraction(1, 2), 3), WeightedNoise(b, Fraction(1), 1)]
    each = 1 - miss / 4
    expected = Fraction(3, 2) * a.largest_noise(1, each) + b.largest_noise(1, each)
    assert NoiseSum(parts, 1).largest(miss) == expected


@pytest.mark.parametrize("epsilon", [20, 60, 299, 1e3, 1e8])
def test_huge_epsilons_leave_no_noise(epsilon):
    """The noise is 0 but for a probability below the failure rate."""
    parts = [
        WeightedNoise(Geometric(epsilon), Fraction(1, 3), 4),
        WeightedNoise(Geometric(2 * epsilon), Fraction(2, 3), 4),
    ]
    assert NoiseSum(parts, 1).largest(Fraction(1, 20)) < Fraction(1, 100)


@pytest.mark.parametrize("epsilon", range(30, 300, 9))
def test_hardly_any_noise_has_no_negative_variance(epsilon):
    """Differences of doubles may be below 0."""
    for sensitivity in (2, 5, 9):
        noise = Staircase(Fraction(epsilon))
        assert noise.variance(sensitivity) >= 0
        parts = [WeightedNoise(noise, Fraction(1, 3), 4), WeightedNoise(noise, Fraction(1, 2), 1)]
        assert NoiseSum(parts, sensitivity).largest(Fraction(1, 20)) < 1


def test_many_noises_of_huge_sensitivity():
    """A thousand noises: nearly normal, whatever the unit is."""
    parts = [
        WeightedNoise(Staircase(1), Fraction(1, 3), 500),
        WeightedNoise(Staircase(1), Fraction(2, 3), 500),
    ]
    for sensitivity in (1000, 10**30):
        total = NoiseSum(parts, sensitivity)
        size = float(total.largest(Fraction(1, 20)) / sensitivity) / total.deviation
        assert 1.955 < size < 1.98
