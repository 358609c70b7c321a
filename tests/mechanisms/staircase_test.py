"""Staircase noise: the exact law over all neighbouring numbers, the best width, and draws against
the law."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

import duffdp._sampling.integer_noise as sampling
from duffdp import DuffError
from duffdp._sampling import lazy_uniform
from duffdp._sampling.entropy import SYSTEM, entropy
from duffdp._sampling.integer_noise import points, staircases
from duffdp._sampling.lazy_uniform import bernoulli
from duffdp.mechanisms import Geometric, Staircase
from duffdp.mechanisms.noise_errors import best_width

FALSE_ALARM = 1e-9
EPSILONS = [0.3, 1.0, 2.5, 5.0]


def around(reach, numbers):
    """All points up to a distance."""
    each = range(-reach, reach + 1)
    return [p for p in itertools.product(each, repeat=numbers) if sum(map(abs, p)) <= reach]


@pytest.mark.parametrize(
    ("sensitivity", "numbers"), [(1, 1), (2, 1), (5, 1), (1, 2), (2, 2), (5, 2), (1, 3), (2, 3)]
)
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_the_loss_over_all_neighbours_is_epsilon(epsilon, sensitivity, numbers):
    """Every shift that one record can make, and every output near: the whole of epsilon is used,
    and no more."""
    mechanism, zero = Staircase(epsilon), (0,) * numbers
    outputs = around(3 * sensitivity, numbers)
    here = [math.log(mechanism.probability(zero, x, sensitivity)) for x in outputs]
    largest = 0.0
    for shift in around(sensitivity, numbers):
        there = [math.log(mechanism.probability(shift, x, sensitivity)) for x in outputs]
        largest = max(largest, *(abs(a - b) for a, b in zip(here, there, strict=True)))
    assert largest == pytest.approx(epsilon, rel=1e-9)
    beyond = [(sensitivity + 1,) + (0,) * (numbers - 1)]
    ratios = [
        mechanism.probability(zero, x, sensitivity) / mechanism.probability(shift, x, sensitivity)
        for shift in beyond
        for x in outputs
    ]
    assert max(map(abs, map(math.log, ratios))) > 1.5 * epsilon


@pytest.mark.parametrize("numbers", [1, 2])
@pytest.mark.parametrize("sensitivity", [1, 3, 4])
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_probabilities_and_errors_add_up(epsilon, sensitivity, numbers):
    mechanism = Staircase(epsilon)
    outputs = around(math.ceil(35 * sensitivity / epsilon), numbers) if numbers == 1 else None
    outputs = outputs or around(min(60, math.ceil(35 * sensitivity / epsilon)), numbers)
    zero = (0,) * numbers
    chances = [mechanism.probability(zero, x, sensitivity) for x in outputs]
    missing = math.exp(-60 * epsilon / sensitivity) * 3000 if numbers == 2 else 1e-9
    assert sum(chances) == pytest.approx(1, abs=max(missing, 1e-9))
    if missing < 1e-6:
        error = sum(abs(x[0]) * chance for x, chance in zip(outputs, chances, strict=True))
        assert mechanism.expected_error(sensitivity, numbers) == pytest.approx(error, rel=1e-4)


@pytest.mark.parametrize("numbers", [1, 2, 3])
@pytest.mark.parametrize("epsilon", [1e-3, 0.3, 1.0, 2.0, 5.0, 20.0])
def test_the_width_is_the_best_one(epsilon, numbers, monkeypatch):
    """Among all widths, by the sum over balls."""

    def error(width, sensitivity):
        weights = np.exp(-epsilon * np.arange(math.ceil(60 / epsilon) + 3))
        radius = np.arange(len(weights)) * float(sensitivity) + width
        if numbers == 1:
            many, far = 2 * radius - 1, radius * (radius - 1)
        elif numbers == 2:
            many = 2 * radius * (radius - 1) + 1
            far = 2 * radius * (radius - 1) * (2 * radius - 1) / 3
        else:
            many = (2 * radius - 1) * (2 * radius * (radius - 1) + 3) / 3
            far = radius * (radius - 1) * (radius * (radius - 1) + 1)
        return (weights * far).sum() / (weights * many).sum()

    for sensitivity in (1, 2, 3, 10, 97):
        found = best_width(epsilon, sensitivity, numbers)
        best = min(error(width, sensitivity) for width in range(1, sensitivity + 1))
        assert error(found, sensitivity) <= best * (1 + 1e-9) + 1e-12


def test_errors_against_laplace():
    """4, 15 and 59 % less at epsilon 1, 2 and 5 for one number, for two 1, 5 and 34 %, for three
    0.1, 1.5 and 20 %; with a sensitivity of 1 it is geometric noise."""
    less = {
        numbers: [
            1 - Staircase(e).expected_error(10**9, numbers) / (10**9 / e) for e in (1.0, 2.0, 5.0)
        ]
        for numbers in (1, 2, 3)
    }
    assert less[1] == pytest.approx([0.04, 0.15, 0.59], abs=0.005)
    assert less[2] == pytest.approx([0.01, 0.05, 0.34], abs=0.005)
    assert less[3] == pytest.approx([0.001, 0.015, 0.2], abs=0.003)
    for x in range(-3, 4):
        same = Geometric(1.3).probability(0, x)
        assert Staircase(1.3).probability([0], [x]) == pytest.approx(same, rel=1e-12)


@pytest.mark.parametrize("sensitivity", [1, 3, 20])
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_how_large_noise_is(epsilon, sensitivity):
    mechanism = Staircase(epsilon)
    sizes = range(1, 3 * sensitivity + 2)
    inside = [
        sum(mechanism.probability([0], [x], sensitivity) for x in range(-size + 1, size))
        for size in sizes
    ]
    for size, chance in zip(sizes, inside, strict=True):
        assert mechanism.tail(sensitivity, size) == pytest.approx(1 - chance, abs=1e-12)
    for confidence in (0.5, 0.95, 0.999):
        noise = mechanism.largest_noise(sensitivity, confidence)
        assert mechanism.tail(sensitivity, noise + 1) <= 1 - confidence
        assert noise == 0 or mechanism.tail(sensitivity, noise) > 1 - confidence


def test_extreme_parameters():
    for epsilon, sensitivity, numbers in itertools.product(
        (1e-12, 1.0, 1e9), (1, 2**60, 10**300), (1, 2, 3)
    ):
        assert 1 <= best_width(epsilon, sensitivity, numbers) <= sensitivity
        (released,) = Staircase(epsilon).release([[5] * numbers], sensitivity, SYSTEM)
        assert len(released) == numbers
        assert epsilon < 1e9 or released == [5] * numbers


def p_value(found, epsilon, sensitivity, numbers):
    """Of the chi-square test that draws follow the law."""
    law, zero = Staircase(epsilon), (0,) * numbers
    outputs = around(4 * sensitivity, numbers)
    expected = np.array([law.probability(zero, x, sensitivity) for x in outputs])
    expected = np.append(expected, max(1 - expected.sum(), 1e-12)) * len(found)
    seen = Counter(map(tuple, found))
    observed = np.array([seen[x] for x in outputs] + [0])
    observed[-1] = len(found) - observed.sum()
    rare = expected < 5
    pairs = [np.append(v[~rare], v[rare].sum()) for v in (observed, expected)]
    pairs = [v[pairs[1] > 0] for v in pairs]
    return stats.chisquare(pairs[0], pairs[1] * (pairs[0].sum() / pairs[1].sum())).pvalue


@pytest.mark.parametrize(
    ("epsilon", "sensitivity", "numbers"),
    [
        *[(0.5, 3, 1), (2.0, 4, 1), (5.0, 30, 1)],
        *[(0.5, 2, 2), (2.0, 3, 2), (4.0, 6, 2), (1.0, 1, 2)],
        *[(2.0, 2, 3), (4.0, 4, 3), (1.5, 1, 3)],
    ],
)
def test_draws_follow_the_law(epsilon, sensitivity, numbers):
    drawn = Staircase(epsilon).release([[0] * numbers] * 12_000, sensitivity, entropy(4))
    assert p_value(drawn, epsilon, sensitivity, numbers) > FALSE_ALARM
    assert p_value(drawn, 1.3 * epsilon, sensitivity, numbers) < FALSE_ALARM
    assert p_value(drawn, 0.75 * epsilon, sensitivity, numbers) < FALSE_ALARM
    assert p_value(drawn, epsilon, sensitivity + -(-sensitivity // 3), numbers) < FALSE_ALARM


class At:
    """A source that returns one number."""

    def __init__(self, number):
        self.number = number

    def below(self, bound):
        assert self.number < bound
        return self.number


class Answers:
    """A source that returns some numbers, one after the other."""

    def __init__(self, bound, numbers):
        self.bound, self.numbers = bound, iter(numbers)

    def below(self, bound):
        assert bound == self.bound
        return next(self.numbers)


@pytest.mark.parametrize("numbers", [1, 2])
def test_all_points_of_a_ball_are_alike(numbers):
    for radius in (1, 2, 3, 7):
        inside = around(radius - 1, numbers)
        assert len(inside) == points(radius, numbers)

        found = [tuple(sampling._point(radius, numbers, At(at))) for at in range(len(inside))]
        assert sorted(found) == sorted(inside)


def test_all_points_of_a_ball_of_three_numbers_are_alike():
    """A point of the cube around it is taken if it is inside, and no other."""
    for radius in (1, 2, 4):
        inside = set(around(radius - 1, 3))
        assert len(inside) == points(radius, 3)
        middle = radius - 1
        for corner in itertools.product(range(-middle, middle + 1), repeat=3):
            cube = Answers(2 * radius - 1, [*(i + middle for i in corner), *[middle] * 3])
            found = tuple(sampling._point(radius, 3, cube))
            assert found == (corner if corner in inside else (0, 0, 0))


@pytest.mark.parametrize(("epsilon", "sensitivity"), [(2.5, 1), (2.5, 3), (5.0, 4)])
def test_probabilities_and_errors_of_three_numbers_add_up(epsilon, sensitivity):
    mechanism, outputs = Staircase(epsilon), around(24, 3)
    chances = [mechanism.probability((0, 0, 0), x, sensitivity) for x in outputs]
    assert sum(chances) == pytest.approx(1, abs=1e-5)
    error = sum(abs(x[0]) * chance for x, chance in zip(outputs, chances, strict=True))
    assert mechanism.expected_error(sensitivity, 3) == pytest.approx(error, rel=1e-3)


def test_refinement_decides(monkeypatch):
    """Coins that doubles leave open are decided by more digits; the law stays."""
    exact = []

    def slowly(*given):
        exact.append(1)
        return bernoulli(*given)

    monkeypatch.setattr(lazy_uniform, "bernoulli", slowly)
    monkeypatch.setattr(lazy_uniform, "COIN_SLACK", 1.0)
    found = staircases(Fraction(1), 2, 1, 1, 4_000, entropy(9))
    assert len(exact) > 2_000
    best = best_width(1.0, 2, 1)
    assert best == 1
    assert p_value(found, 1.0, 2, 1) > FALSE_ALARM
    assert p_value(found, 1.5, 2, 1) < FALSE_ALARM


def test_epsilon_is_checked():
    for wrong in (0, -1, None, True, math.inf):
        with pytest.raises(DuffError, match="epsilon must be"):
            Staircase(wrong)


@pytest.mark.parametrize("numbers", [0, 4])
def test_other_numbers_of_coordinates_are_refused(numbers):
    """Not drawn as if they were two, and cut to as many."""
    with pytest.raises(ValueError, match="one, two or three"):
        Staircase(1.0).release([[5] * numbers], 1, entropy(1))


def test_every_number_of_every_group_gets_noise():
    with pytest.raises(ValueError, match="shorter"):
        Staircase(1.0).release([[5, 5], [5, 5, 5]], 1, entropy(1))
