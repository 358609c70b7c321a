"""Sums of noises: the bound against a convolution number by number."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from duffdp.mechanisms import Geometric, Staircase


def convolved(one, count, failure_rate):
    """The least size that the sum of so many noises exceeds at most this often."""
    law = np.array([1.0])
    for _ in range(count):
        law = np.convolve(law, one)
    middle = len(law) // 2
    return next(
        size
        for size in range(middle)
        if law[: middle - size].sum() + law[middle + size + 1 :].sum() <= failure_rate
    )


@pytest.mark.parametrize("epsilon", [0.3, 1, 3])
@pytest.mark.parametrize("count", [1, 2, 7, 20])
@pytest.mark.parametrize("failure_rate", [Fraction(1, 2), Fraction(1, 20), Fraction(1, 1000)])
def test_geometric_noises_as_convolved(epsilon, count, failure_rate):
    noise = Geometric(epsilon)
    one = np.array([noise.probability(0, x) for x in range(-150, 151)])
    bound = noise.largest_noise_of_sum(1, count, 1 - failure_rate)
    assert bound == convolved(one, count, float(failure_rate))
    if count == 1:
        assert bound == noise.largest_noise(1, 1 - failure_rate)


@pytest.mark.parametrize(("epsilon", "sensitivity"), [(0.5, 3), (1, 7), (2, 20)])
@pytest.mark.parametrize("count", [1, 2, 5])
def test_staircase_noises_as_convolved(epsilon, sensitivity, count):
    noise = Staircase(epsilon)
    reach = 40 * sensitivity
    one = np.array([noise.probability([0], [x], sensitivity) for x in range(-reach, reach + 1)])
    bound = noise.largest_noise_of_sum(sensitivity, count, Fraction(19, 20))
    assert bound == convolved(one, count, 0.05)


@pytest.mark.parametrize("count", [2, 30, 1000])
def test_rounding_to_cells_costs_about_a_percent_and_never_narrows(count):
    """A sensitivity of a billion is rounded to cells; one of a hundred is not."""
    exact = Staircase(1).largest_noise_of_sum(100, count, Fraction(19, 20)) / 100
    rounded = Staircase(1).largest_noise_of_sum(10**9, count, Fraction(19, 20)) / 10**9
    assert exact * 0.999 <= rounded <= exact * 1.02


def test_tiny_failure_rates_are_shared():
    noise = Geometric(1)
    bound = noise.largest_noise_of_sum(1, 10, 1 - Fraction(1, 10**9))
    assert bound == 10 * noise.largest_noise(1, 1 - Fraction(1, 10**10))
