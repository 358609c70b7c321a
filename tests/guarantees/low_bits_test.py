"""The floating-point attack: outputs come from a set that is the same for every data set, bit by
bit.
"""

from __future__ import annotations

import numpy as np
import pytest

import duffdp
from duffdp import Grid
from duffdp.statistics import Mean, Median, Mode, Quantile

FALSE_ALARM = 1e-9
DATA = {
    "none": [],
    "one": [0.3],
    "low bits": [0.3, 0.1 + 2**-50, 1 / 3],
    "outside": [1e300, -1e-300, float("inf")],
}


@pytest.mark.parametrize(
    ("verb", "mechanism"),
    [(duffdp.median, "best"), (duffdp.mean, "distance"), (duffdp.mode, "best")]
    + [(verb, "duff") for verb in (duffdp.median, duffdp.mean, duffdp.mode)],
)
def test_every_output_lies_on_the_public_grid(verb, mechanism):
    """The doubles of public candidates and nothing else, to the last bit: those between them tell
    nothing. (A mean by soft counts is made of two whole numbers with noise.)
    """
    grids = set()
    for data in DATA.values():
        for seed in range(60):
            given = {"epsilon": 1.0, "bounds": (0.0, 1.0), "mechanism": mechanism, "rng": seed}
            release = verb(data, **given)
            place = release.domain.find(release.value)
            assert place is not None
            assert release.value.hex() == release.domain.value(place).hex()
            grids.add(repr(release.domain))
    assert len(grids) == 1


def test_share_of_fine_outputs_does_not_tell_neighbours_apart():
    """The share of outputs on every coarser dyadic grid is the same for S = [] and S' = [0.3] up to
    the factor exp(epsilon) that privacy allows; in a sampler with Mironov's flaw one of the two
    shares is 0 where the other is not."""
    n, epsilon = 20_000, 0.1
    steps = {name: Median().steps(DATA[name], Grid(0.0, 1.0)) for name in ("none", "one")}
    drawn = {name: duffdp.mechanisms.Exponential(epsilon).draw(s, n) for name, s in steps.items()}
    slack = np.sqrt(np.log(2 / FALSE_ALARM) / (2 * n))  # Hoeffding
    for bits in range(0, 60, 4):
        share = [np.mean(drawn[name] * 2.0**bits % 1 == 0) for name in ("none", "one")]
        assert abs(share[0] - share[1]) <= np.exp(epsilon) - 1 + 2 * slack
        if bits >= 40:
            assert share == [1, 1]


@pytest.mark.parametrize(
    "statistic", [Median(), Median("rank"), Quantile(0.9), Mean(), Mode()], ids=repr
)
def test_every_candidate_is_possible_for_every_data_set(statistic):
    """The laws have the same support: all candidates, none with probability 0 in exact
    arithmetic.
    """
    grid = Grid(0.0, 1.0, 2.0**-8)
    for data in DATA.values():
        steps = statistic.steps(data, grid)
        assert steps.count.sum() == grid.size
        law = duffdp.mechanisms.PermuteAndFlip(1.0).law(steps)
        assert all(np.isfinite(law.log_probability(grid.value(i))) for i in range(grid.size))


def test_a_released_double_is_the_nearest_to_its_candidate():
    from fractions import Fraction

    grid = Grid(0.1, 7.3, 0.001)
    for index in range(0, grid.size, 37):
        assert grid.value(index) == float(Fraction(1, 10) + index * Fraction(1, 1000))
