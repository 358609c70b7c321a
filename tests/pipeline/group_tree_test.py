"""Estimates of all levels together: against least squares by numpy, and numbers that add up."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from duffdp._pipeline.group_tree import GroupEstimator, GroupTree, divided

TREES = [
    GroupTree(((0, 0, 0),)),
    GroupTree(((0, 0, 1, 2, 2, 2), (0, 0, 0))),
    GroupTree(((0, 1, 1, 2, 2, 2, 3), (0, 0, 1, 1), (0, 0))),
    GroupTree(((0,), (0,))),
]
VARIANCES = [Fraction(1), Fraction(2), Fraction(1, 3), None]


def members(tree):
    """For each level and group the lowest groups in it, as rows of zeros and ones."""
    rows = [np.eye(tree.sizes[0])]
    for parents in tree.parents:
        above = np.zeros((max(parents) + 1, tree.sizes[0]))
        np.add.at(above, list(parents), rows[-1])
        rows.append(above)
    return rows


def drawn_for(tree, variances, seed):
    generator = np.random.default_rng(seed)
    return [
        None if variance is None else generator.integers(-20, 60, size).tolist()
        for size, variance in zip(tree.sizes, variances, strict=True)
    ]


def by_numpy(tree, variances, drawn):
    """The weighted least squares estimate of every group, in floating point."""
    rows = members(tree)
    used = [i for i, variance in enumerate(variances) if variance is not None]
    weights = np.concatenate([[float(variances[i]) ** -0.5] * tree.sizes[i] for i in used])
    design = np.vstack([rows[i] for i in used]) * weights[:, None]
    lowest = np.linalg.lstsq(design, np.concatenate([drawn[i] for i in used]) * weights)[0]
    return [matrix @ lowest for matrix in rows]


def settings_of(tree):
    return product([Fraction(1), Fraction(5, 2)], *[VARIANCES] * len(tree.parents))


@pytest.mark.parametrize("tree", TREES)
def test_estimates_are_those_of_weighted_least_squares(tree):
    for seed, variances in enumerate(settings_of(tree)):
        drawn = drawn_for(tree, variances, seed)
        estimates = GroupEstimator(tree, variances).estimates(drawn)
        for exact, approximate in zip(estimates, by_numpy(tree, variances, drawn), strict=True):
            np.testing.assert_allclose(list(map(float, exact)), approximate, atol=1e-9)


@pytest.mark.parametrize("tree", TREES)
def test_error_weights_give_the_variance_of_least_squares(tree):
    for variances in settings_of(tree):
        estimator = GroupEstimator(tree, variances)
        rows = members(tree)
        used = [i for i, variance in enumerate(variances) if variance is not None]
        design = np.vstack([rows[i] / float(variances[i]) ** 0.5 for i in used])
        covariance = np.linalg.inv(design.T @ design)
        for level, matrix in enumerate(rows):
            for group, row in enumerate(matrix):
                weights = estimator.error_weights(level, group)
                variance = sum(n * w**2 * variances[at] for (at, w), n in weights.items())
                assert float(variance) == pytest.approx(row @ covariance @ row)


@pytest.mark.parametrize("tree", TREES)
def test_error_weights_are_those_of_the_estimate(tree):
    """One noise at a time: the estimate moves by a weight, and all weights are named."""
    for variances in settings_of(tree):
        estimator = GroupEstimator(tree, variances)
        zero = [
            None if variance is None else [0] * size
            for size, variance in zip(tree.sizes, variances, strict=True)
        ]
        seen = [[[] for _ in range(size)] for size in tree.sizes]
        for at, numbers in enumerate(zero):
            for place in range(len(numbers or ())):
                one = [None if n is None else list(n) for n in zero]
                one[at][place] = 1
                for level, values in enumerate(estimator.estimates(one)):
                    for group, value in enumerate(values):
                        seen[level][group] += [(at, value)] if value else []
        for level, groups in enumerate(seen):
            for group, weights in enumerate(groups):
                named = estimator.error_weights(level, group)
                assert sorted(weights) == sorted(
                    key for key, count in named.items() for _ in range(count)
                )


@pytest.mark.parametrize("tree", TREES)
@pytest.mark.parametrize("least", [None, 0])
def test_every_level_adds_up(tree, least):
    for seed, variances in enumerate(settings_of(tree)):
        drawn = drawn_for(tree, variances, seed)
        estimator = GroupEstimator(tree, variances)
        estimates = estimator.estimates(drawn)
        values = estimator.whole(estimates, least)
        assert list(map(len, values)) == tree.sizes
        for level, parents in enumerate(tree.parents):
            for group in range(tree.sizes[level + 1]):
                parts = [i for i, parent in enumerate(parents) if parent == group]
                assert sum(estimates[level][i] for i in parts) == estimates[level + 1][group]
                assert sum(values[level][i] for i in parts) == values[level + 1][group]
        if least is not None:
            assert min(min(level) for level in values) >= least
        if least is None or min(min(level) for level in estimates) >= 1:
            for exact, whole in zip(estimates, values, strict=True):
                assert all(abs(a - b) <= len(values) for a, b in zip(exact, whole, strict=True))


def test_the_lowest_level_alone_stays_as_it_was_drawn():
    tree, drawn = TREES[1], [[5, -3, 7, 0, 2, 2], None, None]
    estimator = GroupEstimator(tree, [Fraction(1), None, None])
    assert estimator.estimates(drawn) == [[5, -3, 7, 0, 2, 2], [2, 7, 4], [13]]
    assert estimator.error_weights(0, 3) == {(0, 1): 1}
    assert estimator.error_weights(2, 0) == {(0, 1): 6}


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.tuples(st.integers(-30, 30), st.integers(1, 4)), min_size=1, max_size=5),
    st.integers(0, 12),
)
def test_divided_is_next_to_the_closest_point(parts, whole):
    """No numbers of 0 and more with the same sum are closer by more than rounding costs."""
    targets = [Fraction(target, 3) for target, _ in parts]
    variances = [Fraction(variance) for _, variance in parts]
    result = divided(whole, targets, variances, 0)
    assert sum(result) == whole
    assert min(result) >= 0

    def distance(numbers):
        return sum((a - b) ** 2 / v for a, b, v in zip(numbers, targets, variances, strict=True))

    # Each number is within one of the closest point in reals, where no step between two numbers
    # of which one can fall is downhill.
    closest = distance(result)
    for i, j in product(range(len(result)), repeat=2):
        if i != j and result[j] >= 2:
            moved = list(result)
            moved[i], moved[j] = moved[i] + 2, moved[j] - 2
            assert distance(moved) >= closest - Fraction(1, 10**9)


def test_divided_by_hand():
    third = Fraction(1, 3)
    assert divided(10, [Fraction(4), Fraction(6)], [Fraction(1)] * 2, 0) == [4, 6]
    assert divided(4, [Fraction(4), Fraction(6)], [Fraction(1)] * 2, 0) == [1, 3]
    assert divided(5, [Fraction(-9), Fraction(6)], [Fraction(1)] * 2, 0) == [0, 5]
    assert divided(5, [Fraction(4), Fraction(4)], [Fraction(1), Fraction(2)], 0) == [3, 2]
    assert divided(1, [third] * 3, [Fraction(1)] * 3, 0) == [1, 0, 0]
    assert divided(-4, [Fraction(1), Fraction(1)], [Fraction(1)] * 2, None) == [-2, -2]
    assert divided(0, [Fraction(9), Fraction(1)], [Fraction(1)] * 2, 0) == [0, 0]
    assert divided(0, [], [], 0) == []


def test_places_become_a_tree():
    assert GroupTree.of_places([(0, 0, 1, 1, 2), (0, 0, 0, 0, 0)]) == GroupTree(
        ((0, 0, 1, 1, 2), (0, 0, 0))
    )
    assert math.prod(GroupTree.of_places([(0, 0)]).sizes) == 2
