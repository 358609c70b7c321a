"""Histograms whose small counts are reported as 0: only what is released changes, not the draw."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pandas as pd
import pytest

import duffdp
from duffdp import DuffError, Ledger
from duffdp._pipeline.error_bounds import count_bound
from duffdp.domain import Bins
from duffdp.mechanisms import Geometric
from inquiries import plan_of

FRAME = pd.DataFrame(
    {
        "x": [0] * 3 + [1] * 12 + [2] * 60 + [3] * 25,
        "c": ["a"] * 3 + ["b"] * 12 + ["c"] * 60 + ["d"] * 25,
        "g": [*"stu", "t"] * 25,
        "h": [*"vw"] * 50,
    }
)
BINNED = {"bins": [0, 1, 2, 3, 4], "column": "x"}
LISTED = {"categories": [*"abcd"], "column": "c"}
GROUPS = {"by": "g", "keys": [*"stu"]}


def expected(number, least):
    """What becomes of a drawn number."""
    return 0 if number < least else number


@pytest.mark.parametrize("least", [1, 2, 13, 1000])
@pytest.mark.parametrize("given", [BINNED, LISTED, BINNED | GROUPS, LISTED | GROUPS], ids=str)
def test_it_is_the_same_histogram_with_zeros(given, least):
    for seed in range(5):
        asked = {**given, "epsilon": 0.3, "rng": seed}
        plain = duffdp.histogram(FRAME, **asked, interval=0.9)
        found = duffdp.histogram(FRAME, **asked, interval=0.9, zero_below=least)
        assert found.noisy == plain.noisy
        assert found.epsilon == plain.epsilon
        for numbers, before, after in zip(found.noisy, plain.cells, found.cells, strict=True):
            for i, number in enumerate(numbers):
                value, low, high = after[3 * i : 3 * i + 3]
                assert value == expected(number, least)
                assert high == before[3 * i + 2]
                assert low == (before[3 * i + 1] if value else 0)
        bare = duffdp.histogram(FRAME, **asked, zero_below=least)
        assert bare.cells == tuple(row[::3] for row in found.cells)


@pytest.mark.parametrize("least", [1, 3, 50])
def test_ends_hold_the_exact_numbers_and_the_value(least):
    """Whenever the noise is no larger than promised, for all noise of two cells."""
    domain, most = Bins([0, 1, 2]), Geometric(1).largest_noise(1, 0.8)
    made = plan_of("histogram", {"zero_below": least}, domain=domain, interval=0.8)
    for exact in itertools.product((0, 1, 4), repeat=2):
        for noise in itertools.product(range(-most - 3, most + 4), repeat=2):
            numbers = [a + b for a, b in zip(exact, noise, strict=True)]
            found = made.program.post_process.values(domain, numbers)
            for i in range(2):
                value, low, high = found[3 * i : 3 * i + 3]
                assert value == expected(numbers[i], least)
                assert 0 <= low <= value <= high
                assert abs(noise[i]) > most or low <= exact[i] <= high


def test_the_bound_on_the_error_holds():
    """The law of the noise itself, for every count around the threshold."""
    least = 6
    facts = duffdp.histogram(FRAME, **BINNED, epsilon=1, zero_below=least).facts
    bound = count_bound(facts, 0.95)
    for exact in range(3 * bound):
        inside = (k for k in range(-200, 201) if abs(expected(exact + k, least) - exact) <= bound)
        assert math.fsum(Geometric(1).probability(0, k) for k in inside) >= 0.95


@pytest.mark.parametrize("crossed", [False, True])
@pytest.mark.parametrize("interval", [None, 0.9])
def test_totals_are_of_the_numbers_as_drawn(crossed, interval):
    by, keys = ("g", [*"stu"]) if not crossed else (["g", "h"], {"g": [*"stu"], "h": [*"vw"]})
    asked = {"by": by, "keys": keys, "total": True, "epsilon": 1, "interval": interval}
    for seed in range(3):

        def made(seed=seed, **more):
            entry = {"statistic": "histogram", "bins": [0, 1, 2, 3, 4], **more}
            return duffdp.table(FRAME, {"x": [entry]}, **asked, rng=seed)

        plain, found = made(nonnegative=False), made(zero_below=12)
        (_, measure), columns, others = found.measures, found.wide(), plain.wide()
        noisy = measure.release.noisy
        for i, name in enumerate(measure.columns[:: measure.step]):
            numbers = [row[i] for row in noisy]
            assert columns[name][: len(noisy)] == [expected(n, 12) for n in numbers]
            assert columns[name][-1] == expected(sum(numbers), 12)
            if interval:
                assert [max(0, end) for end in others[f"{name}_high"]] == columns[f"{name}_high"]
                sides = (columns[f"{name}_low"], columns[f"{name}_high"])
                ends = zip(columns[name], *sides, strict=True)
                assert all(low <= value <= high for value, low, high in ends)


def test_intervals_hold_as_often_as_those_of_the_plain_histogram():
    exact, missed = [3, 12, 60, 25], np.zeros(4)
    for seed in range(400):
        given = {**BINNED, "epsilon": 0.5, "interval": 0.9, "rng": seed}
        (row,) = duffdp.histogram(FRAME, **given, zero_below=13).cells
        (plain,) = duffdp.histogram(FRAME, **given).cells
        for i, number in enumerate(exact):
            held = [low <= number <= high for _, low, high in (row[3 * i : 3 * i + 3],)]
            before = plain[3 * i + 1] <= number <= plain[3 * i + 2]
            missed[i] += not held[0]
            assert held[0] or not before  # a zeroed count has the wider interval
    # Binomial(400, .1) exceeds 80 with a probability below 1e-9.
    assert missed.max() <= 80
    assert missed[2] > 8  # the noise does exceed its bound now and then


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"zero_below": 0}, "zero_below must be a whole number of 1 or more"),
        ({"zero_below": -3}, "zero_below must be a whole number of 1 or more"),
        ({"zero_below": 2.5}, "zero_below must be a whole number of 1 or more"),
        ({"zero_below": True}, "zero_below must be a whole number of 1 or more"),
        ({"zero_below": 5, "adds_up": True}, "zero_below=5 sets counts to 0, and adds_up=True"),
        ({"zero_below": 5, "nonnegative": False}, "nonnegative=False keeps them. Leave one"),
    ],
)
def test_what_is_refused_costs_nothing(more, words, tmp_path):
    ledger = Ledger(tmp_path / "one.db", epsilon=1)
    with pytest.raises(DuffError, match=words):
        duffdp.histogram(FRAME, **BINNED, epsilon=0.5, ledger=ledger, **more)
    assert ledger.spent() == 0


def test_another_value_is_no_replay(tmp_path):
    ledger = Ledger(tmp_path / "one.db", epsilon=1)

    def call(least):
        given = {**BINNED, "epsilon": 0.5, "zero_below": least}
        return duffdp.histogram(FRAME, **given, ledger=ledger.call("once"))

    first = call(13)
    assert call(13) == first
    for other in (12, None):
        with pytest.raises(DuffError):
            call(other)
    assert ledger.spent() == 0.5
    assert first.statistic.parameters["zero_below"] == 13
    assert duffdp.Release.from_dict(first.to_dict()) == first
