"""An interval for a population misses by noise and by sampling: what each of them may miss is at
most its share of what is promised, by the formulas that `docs/explanation/intervals.md` and
`docs/explanation/distribution.md` state, and in order are the quantiles of one release.
"""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest

import duffdp

MISS = 0.1


def of_mean(data, **given):
    found = duffdp.mean(data, bounds=(0, 1), step=2.0**-20, **given)
    return found.low, found.high


def of_share(data, **given):
    found = duffdp.share(data, between=(0.5, 1), **given)
    return found.low, found.high


def of_distribution(data, interval, covers, **given):
    found = duffdp.distribution(data, bounds=(0, 1), step=1, confidence=interval, **given)
    return found.value.band(0, covers)


# What of a miss the noise and the sampling of records may use.
SHARES = [(of_mean, 3 / 16, 3 / 4), (of_share, 3 / 16, 3 / 4), (of_distribution, 1 / 5, 4 / 5)]


@pytest.mark.parametrize(("ends", "noise", "sampling"), SHARES)
@pytest.mark.parametrize("seed", range(4))
def test_the_noise_of_a_population_has_its_share_of_what_may_be_missed(ends, noise, sampling, seed):
    """The interval holds the one for the records that misses so rarely: the noise, which a seed
    repeats, is much larger than the error of sampling here."""
    data, given = np.arange(3000) % 2 * 1.0, {"epsilon": 0.01, "rng": seed}
    low, high = ends(data, interval=1 - MISS, covers="population", **given)
    inner = ends(data, interval=round(1 - noise * MISS, 6), covers="data", **given)
    narrow = ends(data, interval=1 - MISS, covers="data", **given)
    assert low <= inner[0] <= inner[1] <= high
    # Else nothing would have been compared.
    assert (inner[0] > 0 and inner[0] < narrow[0]) or (inner[1] < 1 and inner[1] > narrow[1])


def hoeffding(p, margin, n):
    """How often the mean of n records lies so far above that of their population, at most."""
    return math.exp(
        -n * (p * math.log(p / (p - margin)) + (1 - p) * math.log((1 - p) / (1 - p + margin)))
    )


def massart(_, margin, n):
    return math.exp(-2 * n * margin**2)


@pytest.mark.parametrize(("ends", "noise", "sampling"), SHARES)
@pytest.mark.parametrize("ones", [100, 250])
def test_the_sampling_of_a_population_has_its_share_of_what_may_be_missed(
    ends, noise, sampling, ones
):
    """Without noise the distance of an end tells what it misses."""
    n = 500
    data = np.repeat([0.0, 1.0], [n - ones, ones])
    low, high = ends(data, interval=1 - MISS, covers="population", epsilon=1e9)
    if ends is of_distribution:
        missed = massart(0, (n - ones) / n - low, n) + massart(0, high - (n - ones) / n, n)
    else:
        share = ones / n
        missed = hoeffding(share, share - low, n) + hoeffding(1 - share, high - share, n)
    assert missed == pytest.approx(sampling * MISS, rel=1e-3)


@pytest.mark.parametrize("mechanism", ["best", "duff"])
@pytest.mark.parametrize(
    "qs", [[0, 1], [0, 0.5, 1], [0.5, 1], [i / 24 for i in range(25)]], ids=len
)
def test_quantiles_are_released_in_order(qs, mechanism):
    """Those that are drawn one by one too, at an epsilon at which most draws are out of order; in
    each of many groups."""
    keys = list(range(40))
    data = {"x": [0.5] * 40, "g": keys}
    given = {"column": "x", "by": "g", "keys": keys, "bounds": (0.0, 1.0), "epsilon": 0.01}
    found = duffdp.quantiles(pl.DataFrame(data), qs, mechanism=mechanism, **given)
    rows = np.array(found.value.drop("g").rows())
    assert rows.shape == (40, len(qs))
    assert (np.diff(rows, axis=1) >= 0).all()
