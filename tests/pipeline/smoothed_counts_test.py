"""Smoothed counts: the model by brute force, exact counts, and what noise alone looks like."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from duffdp._pipeline.smoothed_counts import (
    FIRST,
    LEVELS,
    NEXT,
    smoothed_counts,
    state_probabilities,
)


def test_states_by_brute_force():
    """The probabilities of all paths through three cells, added up for each state of each cell."""
    fit = np.log(np.random.default_rng(1).random((3, len(NEXT))))
    expected = np.zeros_like(fit)
    for path in itertools.product(range(len(NEXT)), repeat=3):
        chance = FIRST[path[0]] * NEXT[path[0], path[1]] * NEXT[path[1], path[2]]
        chance *= np.exp(sum(fit[i, state] for i, state in enumerate(path)))
        for i, state in enumerate(path):
            expected[i, state] += chance
    expected /= expected.sum(axis=1, keepdims=True)
    assert state_probabilities(fit) == pytest.approx(expected, rel=1e-9)


def test_states_follow_each_other():
    count = len(LEVELS)
    empty, rising, falling = 0, slice(1, count + 1), slice(count + 1, None)
    assert NEXT.sum(axis=1) == pytest.approx(1)
    assert not NEXT[empty, falling].any()
    assert not np.tril(NEXT[rising, rising], -1).any()
    assert not np.triu(NEXT[falling, falling], 1).any()
    assert (NEXT[rising, falling].diagonal() > 0).all()


@pytest.mark.parametrize(
    "counts",
    [
        [0, 0, 5, 20, 90, 300, 40, 0, 0, 0],
        [0, 1000, 0, 0, 0, 0, 0],
        [0, 30, 70, 0, 0, 0, 200, 500, 100, 0],
        [250, 0, 0, 0, 750],
    ],
)
def test_without_noise_they_are_the_counts(counts):
    smooth = smoothed_counts(counts, sum(counts), 50.0)
    assert smooth.counts == pytest.approx(counts, abs=0.5)
    assert (smooth.occupied > 0.5).tolist() == [count > 0 for count in counts]


@pytest.mark.parametrize("records", [100, 1000, 10**6, 10**12])
@pytest.mark.parametrize("epsilon", [1e-3, 0.05, 1, 1e6])
def test_they_are_finite_for_every_size(records, epsilon):
    rng = np.random.default_rng(1)
    for counts in ([records, *[0] * 40], [*[0] * 40, -records, 2 * records], [0] * 41):
        noisy = np.array(counts) + rng.laplace(0, 1 / epsilon, len(counts))
        smooth = smoothed_counts(noisy, records, epsilon)
        assert np.isfinite(smooth.counts).all()
        assert (smooth.counts >= 0).all()
        assert ((smooth.occupied >= -1e-9) & (smooth.occupied <= 1)).all()


def test_they_err_less_than_the_noisy_counts():
    """Ranks of 1,000 records in twelve of eighty cells, at a fifteenth of epsilon 1."""
    counts = np.zeros(80)
    counts[30:42] = [10, 20, 50, 90, 140, 180, 180, 140, 90, 60, 30, 10]
    rng, plain, smooth = np.random.default_rng(3), [], []
    for _ in range(50):
        noisy = counts + rng.laplace(0, 15, 80)
        exact = np.cumsum(counts)
        plain.append(np.abs(np.cumsum(noisy) - exact).max())
        smooth.append(np.abs(np.cumsum(smoothed_counts(noisy, 1000, 1 / 15).counts) - exact).max())
    assert np.mean(smooth) < 0.5 * np.mean(plain)


def test_they_add_up_to_about_all_records():
    counts = np.zeros(80)
    counts[30:42] = [10, 20, 50, 90, 140, 180, 180, 140, 90, 60, 30, 10]
    rng = np.random.default_rng(3)
    for _ in range(30):
        smooth = smoothed_counts(counts + rng.laplace(0, 15, 80), 1000, 1 / 15)
        assert abs(smooth.counts.sum() - 1000) < 150


@pytest.mark.parametrize(("noises", "is_hill"), [(12, False), (60, True)])
def test_a_lone_count_is_a_hill_if_noise_cannot_explain_it(noises, is_hill):
    counts = np.zeros(40)
    counts[20], counts[5] = 900, 15 * noises
    smooth = smoothed_counts(counts, counts.sum() if is_hill else 900, 1 / 15)
    assert bool(smooth.occupied[5] > 0.5) is is_hill
