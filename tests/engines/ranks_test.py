"""Ranks of small arrays: what a sample brackets, what it misses, and ties at both ends."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from duffdp import Grid
from duffdp._engines.arrays import array_engine, ranks, read_array
from duffdp._engines.requests import Ranks, RanksNear, rank_span
from inquiries import ask

SHAPES = {
    "distinct": lambda rng, n: rng.permutation(4 * n)[:n],
    "sorted": lambda rng, n: np.arange(n),
    "few values": lambda rng, n: rng.integers(0, 7, n),
    "one value": lambda rng, n: np.full(n, 3),
    "mostly one value": lambda rng, n: np.where(rng.random(n) < 0.9, 50, rng.integers(0, 99, n)),
    # Every fourth and every eighth record lies above all others: a sample of these misses.
    "with a period": lambda rng, n: np.where(np.arange(n) % 4 == 0, n + 5, rng.integers(0, n, n)),
}


def span(q, reach, n):
    """The first and the last position near a target."""
    return [int(end[0]) for end in rank_span(q, reach, np.array([n]))]


def by_definition(index, size, q, reach):
    """All distinct values from the wanted rank `low` to `high`, with all records at them."""
    low, high = span(q, reach, len(index))
    ordered = np.sort(index)
    values, counts = np.unique(index, return_counts=True)
    wanted = np.isin(values, ordered[low : high + 1])
    first = int(ordered[low]) if low > 0 else 0
    last = int(ordered[high]) if high < len(index) - 1 else size - 1
    below = int(np.count_nonzero(index < values[wanted][0])) if wanted.any() else 0
    return Ranks(values[wanted], counts[wanted], below, len(index), first, last)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("n", [0, 1, 2, 255, 257, 512, 513, 1000, 1024, 5000])
@pytest.mark.parametrize("limit", [2**8, 2**14])
def test_the_wanted_ranks_of_arrays(shape, n, limit, monkeypatch):
    """Sorted as a whole, or from a limit on as far as a sample brackets them."""
    monkeypatch.setattr(ranks, "MAX_SORTED", limit)
    rng = np.random.default_rng(n)
    index = SHAPES[shape](rng, n).astype(np.int64)
    size = int(index.max(initial=0)) + 3
    for q in (Fraction(0), Fraction(1, 10), Fraction(1, 2), Fraction(9, 10), Fraction(1)):
        for reach in (0, 1, 27, 200, 2 * n):
            found = ranks.ranks_between(index.copy(), size, *span(q, reach, n))
            expected = by_definition(index, size, q, reach)
            for part, right in zip(found, expected, strict=True):
                assert np.array_equal(part, right), (q, reach)


def test_a_sample_narrows_what_is_selected_from():
    index = np.random.default_rng(1).permutation(10**4)
    found, outside = ranks._bracketed(index, 4970, 5030)
    assert len(found) < 2500
    assert sorted(found.tolist()) == list(range(outside, outside + len(found)))
    assert outside <= 4970
    assert outside + len(found) > 5030


def test_a_sample_that_misses_narrows_nothing():
    index = SHAPES["with a period"](np.random.default_rng(1), 10**3)
    found, outside = ranks._bracketed(index, 470, 530)
    assert found is index
    assert outside == 0


@pytest.mark.parametrize(("q", "reach"), [(Fraction(0), 100), (Fraction(1, 2), 100), (1, 400)])
def test_a_seed_gives_the_same_of_long_arrays(q, reach):
    """Which way the ranks are found depends on an unseeded sample; what is found does not."""
    grid, data = Grid(-10.0, 10.0), read_array(np.random.default_rng(0).normal(size=50_000))
    found = [
        ask(array_engine(data, grid), RanksNear(((Fraction(q), reach),)))[0].group(0)
        for _ in range(40)
    ]
    assert len({(near.below, near.first, near.last, *near.values.tolist()) for near in found}) == 1
