"""The private interval: its scores by their definition, what it costs, which widths it has, and
groups that are drawn together."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import polars as pl
import pytest

import duffdp
from duffdp import Grid
from duffdp.audit.neighbours import StepLaw, log_ratio, neighbours
from duffdp.mechanisms import PermuteAndFlip
from duffdp.mechanisms.mechanism import DistanceMechanism
from duffdp.statistics.private_range import (
    EXCLUDED_SCORE,
    MAX_RANGE_RANKS,
    RANGE_CANDIDATES,
    STEPS_PER_RECORD,
    WIDTH_COUNT,
    PrivateRange,
    range_ends,
)
from duffdp.statistics.program import NOT_DRAWN
from inquiries import window

FINE = Grid(0, 2**20, 1)


def intervals(widths):
    """The number of the width of each interval, its candidate, and where it lies, up to so many
    widths."""
    candidate = 0
    for number in range(widths):
        parts = 16 << (number - 1) // 2 if number else 1
        cells = (8 if number % 2 == 0 else 11) if number else 1
        for place in range(parts - cells + 1):
            yield number, candidate, place, cells, parts
            candidate += 1


def test_intervals_are_narrower_by_half_octaves():
    for number, candidate, place, cells, parts in intervals(9):
        low, high = range_ends(candidate, 16_000)
        assert 0 <= low == 16_000 * place // parts
        assert high == math.ceil(16_000 * (place + cells) / parts) <= 16_000
        assert (high - low) / 16_000 == pytest.approx(2 ** (-number / 2), rel=0.05)
    for top in (1, 7, 2**40):
        assert range_ends(0, top) == range_ends(NOT_DRAWN, top) == (0, top)
        low, high = range_ends(RANGE_CANDIDATES.size - 1, top)
        assert low < high == top


@pytest.mark.parametrize("top", [1, 99, 2**50])
@pytest.mark.parametrize("most", [1, 20, 1000])
@pytest.mark.parametrize("prices", [(40, None, 0), (300, None, 200, 150, 100, 64, None, 0)])
def test_the_score_of_every_interval(prices, most, top):
    """Records outside, at most so many, and a price; spread, in a lump and at the ends, so that
    narrow intervals are told apart from those that need no look."""
    rng, grid = np.random.default_rng(4), Grid(0, top, 1)
    for n in (0, 1, 5, 300):
        for data in (
            rng.integers(0, top + 1, n) // rng.integers(1, 9),
            np.clip(rng.normal(top / 3, top / 30, n), 0, top).astype(np.int64),
            rng.choice([0, top // 2, top], n),
        ):
            steps = window(PrivateRange(prices, most), data, grid, math.inf)
            steps.check()
            for number, candidate, *_ in intervals(9):
                low, high = range_ends(candidate, top)
                outside = min(int(((data < low) | (data > high)).sum()), most)
                price = prices[number] if number < len(prices) else None
                expected = EXCLUDED_SCORE if price is None else STEPS_PER_RECORD * outside + price
                assert steps.distance_of(candidate) == expected, (n, candidate)


@pytest.mark.parametrize("epsilon", [0.3, 2.0])
@pytest.mark.parametrize("prices", [(0, 0, 0, 0), (200, None, 100, 0)])
def test_an_interval_costs_its_epsilon(prices, epsilon):
    """All neighbours of up to three records: the full rate, and no more."""
    grid, largest = Grid(0, 9, 1), 0.0
    for here, there, _ in neighbours(10, 3):
        laws = []
        for data in (here, there):
            records = np.array(data, dtype=np.int64)
            steps = window(PrivateRange(prices, 50), records, grid, math.inf)
            laws.append(StepLaw(steps, PermuteAndFlip(epsilon).law(steps)))
        largest = max(largest, log_ratio(laws[:1], laws[1:]))
    assert 0.6 * epsilon < largest <= epsilon * (1 + 1e-9)


@pytest.mark.parametrize("epsilon", [Fraction(1, 10**300), Fraction(1, 1000), Fraction(1, 4), 40])
def test_widths_follow_from_the_count(epsilon):
    """More records allow narrower intervals; no price is beyond what scores bear, whatever the
    noise of the count came to."""
    epsilon, last, most = Fraction(epsilon), 0, set()
    for nats in (-(10**6), 0, 5, 10, 12, 15, 20, 40, 100, 10**6, 10**12):
        found = PrivateRange.after_count(math.ceil(nats / epsilon), FINE, epsilon)
        if found is None:
            assert nats < 20 or epsilon < Fraction(1, 10**6)
            assert last == 0
            continue
        prices = [price for price in found.prices if price is not None]
        assert prices[-1] == 0
        assert prices == sorted(prices, reverse=True)
        assert (
            found.prices[0]
            == prices[0]
            <= STEPS_PER_RECORD * found.max_outside
            <= STEPS_PER_RECORD * MAX_RANGE_RANKS
        )
        assert last <= len(found.prices) <= WIDTH_COUNT
        last = len(found.prices)
        most.add(found.max_outside)
    assert len(most) <= 1  # one question for all groups
    assert epsilon < Fraction(1, 10**6) or last == WIDTH_COUNT
    few = PrivateRange.after_count(10**9, Grid(0, 3, 1), Fraction(1))
    assert len(few.prices) == 5  # none narrower than the grid


@pytest.mark.parametrize("nats", [10, 15, 20, 40, 80])
def test_records_all_over_the_range_keep_it(nats):
    """The probability that the interval is the whole range, for evenly spread records and a count
    without noise; half as many as the count says keep most of it."""
    epsilon, n = Fraction(1, 4), 4 * nats
    found = PrivateRange.after_count(n, FINE, epsilon)
    if found is None:
        assert nats < 20
        return
    for records, least in ((n, 0.97), (n - 16, 0.7)):
        data = np.linspace(0, FINE.size - 1, records).astype(np.int64)
        steps = window(found, data, FINE, math.inf)
        law = PermuteAndFlip(epsilon).law(steps)
        assert law.probability(0) > least


def test_records_in_a_lump_get_a_narrow_interval():
    data = np.random.default_rng(1).normal(2**19, 2**9, 2000).astype(np.int64)
    found = PrivateRange.after_count(2000, FINE, Fraction(1, 4))
    steps = window(found, data, FINE, math.inf)
    for candidate in PermuteAndFlip(0.25).draw(steps, 50, rng=3):
        low, high = range_ends(int(candidate), FINE.size - 1)
        assert high - low <= 2**13
        assert low < 2**19 - 2**9 < 2**19 + 2**9 < high


@pytest.mark.parametrize("lazy", [False, True], ids=["frame", "lazy"])
@pytest.mark.parametrize(("verb", "choice"), [("std", "best"), ("mean", "clipped")])
def test_groups_that_ask_alike_are_drawn_together(verb, choice, lazy, monkeypatch):
    """Each gets its own answer, and there are far fewer draws than groups."""
    rng, groups = np.random.default_rng(5), 60
    size = rng.integers(1, 9, groups)
    x = [rng.normal(10 * (g % 7), 1 + g % 3, 40 * size[g]) for g in range(groups)]
    rows = [(value, g) for g in range(groups) for value in x[g]]
    frame = pl.DataFrame(rows, schema=["x", "g"], orient="row").sample(
        fraction=1, shuffle=True, seed=1
    )
    frame = frame.lazy() if lazy else frame
    drawn, release = [], DistanceMechanism.release
    monkeypatch.setattr(
        DistanceMechanism, "release", lambda self, *given: drawn.append(1) or release(self, *given)
    )
    given = {"column": "x", "by": "g", "keys": list(range(groups)), "bounds": (-200, 200)}
    found = getattr(duffdp, verb)(frame, epsilon=20_000, mechanism=choice, rng=8, **given)
    truth = [getattr(values, verb)() for values in x]
    assert [row[-1] for row in found.rows()] == pytest.approx(truth, abs=0.15)
    assert 0 < len(drawn) < groups / 6
