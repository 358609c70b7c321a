"""Several ranks of one small array: what was found for the first is not changed by looking for the next."""

from __future__ import annotations

import numpy as np

from duffdp import Grid
from duffdp.engines.arrays import read
from duffdp.statistics import Mean


def test_a_window_of_the_mean_has_the_distances_of_the_whole():
    for seed in range(5):
        records = np.random.default_rng(seed).random(3000)
        window, whole = Mean().window(read(records), Grid(0.0, 1.0), 50.0), Mean().steps(records, Grid(0.0, 1.0))
        assert window.distance.tolist() == [whole.distance_of(int(i)) for i in window.start]
