"""Several ranks of one small array: what was found for the first is not changed by looking for the next."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

import duffdp
from duffdp import Grid
from duffdp.engines.arrays import Column, read
from duffdp.statistics import Mean


def test_a_window_of_the_mean_has_the_distances_of_the_whole():
    for seed in range(5):
        records = np.random.default_rng(seed).random(3000)
        window, whole = Mean().window(read(records), Grid(0.0, 1.0), 50.0), Mean().steps(records, Grid(0.0, 1.0))
        assert window.distance.tolist() == [whole.distance_of(int(i)) for i in window.start]


def test_a_window_that_is_most_of_a_large_array():
    """A small epsilon wants so many ranks that no bracket can narrow them down."""
    records = np.random.default_rng(1).random(100_000)
    found = duffdp.median(records, epsilon=0.004, bounds=(0.0, 1.0), rng=1).value
    assert 0.4 < found < 0.6
    for reach in (20_000, 49_000, 99_000):
        (near,), _ = Column(read(records), Grid(0.0, 1.0)).around((Fraction(1, 2), reach))
        assert near.counts.sum() >= min(2 * reach, 100_000)
