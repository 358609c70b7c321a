"""The clipped mean: the losses of its parts add up to epsilon in every branch, for every number
that was drawn before, and what is made of them."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import polars as pl
import pytest

import duffdp
from duffdp import Grid
from duffdp.audit.neighbours import Stepped, log_ratio, neighbours
from duffdp.engines.arrays import Column, read
from duffdp.mechanisms import Exponential
from duffdp.statistics import clipped_mean
from duffdp.statistics.clipped_mean import Centre, ClippedSum, Radius, clip_ends, clipped_place
from duffdp.statistics.entry import NOT_DRAWN
from release_draws import Stairs, recorded

GRID = Grid(0, 9, 1)
EPSILON = Fraction(1)


def column(records):
    return Column(read(np.array(records, dtype=np.int64)), GRID)


def test_radii_are_public_and_fall_to_one_in_65536():
    for top in (1, 2, 9, 1000, 2**40, 2**61):
        radii, upto = clipped_mean._radii(top)
        assert radii[0] == top
        assert all(a > b for a, b in pairwise(radii))
        assert radii[-1] >= max(1, top // 2**16 - 1)
        weights = np.diff(np.array(upto, dtype=object), prepend=0)
        for radius, weight in zip(radii, weights, strict=True):
            assert weight == 16 * top**2 // radius**2
        assert upto[-1] < 2**62


@pytest.mark.parametrize("epsilon", [0.3, 2.0])
def test_the_radius_costs_its_epsilon(epsilon):
    """All neighbours of up to three records, all centres: the full rate, and no more."""
    largest = 0.0
    for here, there, _ in neighbours(10, 3):
        for centre in (0, 4, 9):
            laws = []
            for data in (here, there):
                steps = Radius(centre).windows([column(data)], GRID, math.inf)[0]
                laws.append(Stepped(steps, Exponential(epsilon).law(steps)))
            largest = max(largest, log_ratio(laws[:1], laws[1:]))
    assert 0.7 * epsilon < largest <= epsilon * (1 + 1e-9)


def test_the_sum_moves_by_at_most_its_sensitivity():
    largest = 0.0
    for centre in (0, 3, 9):
        for weighed in (upto - 1 for upto in clipped_mean._radii(GRID.size - 1)[1]):
            statistic = ClippedSum(centre, weighed)
            moved = statistic.sensitivity(GRID)
            first, last = clip_ends(GRID, centre, weighed)
            for here, there, _ in neighbours(10, 2):
                (a,), (b,) = (statistic.totals(column(data), GRID) for data in (here, there))
                assert abs(a - b) <= moved
                largest = max(largest, abs(a - b) / moved)
            assert statistic.totals(column([0, 9, centre]), GRID) == (first + last - 2 * centre,)
    assert largest == 1


CHOSEN = [(0, 0), (4, 0), (4, 30), (9, 10**9), (2, 200)]


@pytest.fixture
def drawn_before(monkeypatch):
    """Makes every centre and radius what a test says, and both worth their share."""

    def fixed(centre, weighed):
        monkeypatch.setattr(clipped_mean, "LEAST", -(10**9))
        size = Radius().outputs(GRID).size
        numbers = iter([centre, min(weighed, size - 1)] * 100)
        return lambda batch, c, noise, source: [next(numbers)] * len(batch)

    return fixed


@pytest.mark.parametrize(("centre", "weighed"), CHOSEN)
def test_the_parts_add_up_to_epsilon_whatever_was_drawn(centre, weighed, drawn_before, monkeypatch):
    """The exact laws of all four draws through the verb, given the numbers of those before."""
    import duffdp.mechanisms.mechanism as mechanism

    def draws_of(data):
        with recorded() as draws, pytest.MonkeyPatch.context() as patch:
            recording, fixed = mechanism.race, drawn_before(centre, weighed)

            def race(*given):
                recording(*given)
                return fixed(*given)

            patch.setattr(mechanism, "race", race)
            records = np.array(data, dtype=np.int64)
            given = {"epsilon": 6, "bounds": (0, 9), "mechanism": "clipped"}
            duffdp.mean(records, **given)
        assert [d.mechanism.name for d in draws] == [
            "two-sided-geometric",
            "permute-and-flip",
            "exponential",
            "staircase",
        ]
        assert sum(d.epsilon for d in draws) == pytest.approx(6)
        laws = (d.law() for d in draws)
        return [part for law in laws for part in (law if isinstance(law, tuple) else (law,))]

    largest = 0.0
    for here, there, _ in neighbours(10, 2):
        largest = max(largest, log_ratio(draws_of(here), draws_of(there)))
    assert 4.0 < largest <= 6 * (1 + 1e-9)


@pytest.mark.parametrize("contributions", [1, 3])
def test_what_is_not_drawn_is_spent_on_the_sum(contributions):
    """Below the guard a group pays a tenth for its count and the rest for soft counts; above it
    four parts are paid. Groups differ, and none pays more than epsilon."""
    rows = {"x": [1, 5, 9, 4], "g": list("aabb"), "p": [1, 2, 3, 4]}
    counts = iter([1000 * contributions, 3, 1000 * contributions, 3])
    with recorded() as draws, pytest.MonkeyPatch.context() as patch:
        from duffdp.mechanisms import Geometric

        recording = Geometric.release

        def release(self, groups, sensitivity, source):
            recording(self, groups, sensitivity, source)
            return [[next(counts)] for _ in groups]

        patch.setattr(Geometric, "release", release)
        found = duffdp.mean(
            pl.DataFrame(rows),
            column="x",
            epsilon=1,
            bounds=(0, 9),
            mechanism="clipped",
            by="g",
            keys=["a", "b"],
            unit="p",
            contributions=contributions,
        )
    received = [(d.mechanism.name, round(d.epsilon * contributions, 9)) for d in draws]
    assert received == [
        ("two-sided-geometric", 0.1),
        ("two-sided-geometric", 0.1),
        ("permute-and-flip", 0.1),
        ("exponential", 0.2),
        ("staircase", 0.6),
        ("staircase", 0.9),
    ]
    assert [len(d.law()._totals) for d in draws if isinstance(d.law(), Stairs)] == [1, 2]
    assert [part.epsilon for part in found.mechanism.parts] == [
        Fraction(1, 10),
        Fraction(1, 10),
        Fraction(1, 5),
        Fraction(3, 5),
    ]


def test_the_guard_is_records_times_epsilon():
    centre = Centre()
    assert centre.asked((400,), EPSILON / 10)
    assert not centre.asked((399,), EPSILON / 10)
    assert centre.asked((8000,), EPSILON / 200)
    assert not Radius().asked((400, NOT_DRAWN), EPSILON)


def test_what_is_made_of_the_numbers():
    size = Radius().outputs(GRID).size
    assert clipped_place(GRID, (10, 4, 0, 5, NOT_DRAWN)) == Fraction(9, 2)
    assert clipped_place(GRID, (10, 4, 0, 10**9, NOT_DRAWN)) == 9
    assert clipped_place(GRID, (0, 4, size - 1, 3, NOT_DRAWN)) == 5  # within a radius of 1
    assert clipped_place(GRID, (3, NOT_DRAWN, NOT_DRAWN, 9, 9)) == Fraction(9, 2)


def test_wide_bounds_cost_little():
    """At n = 1000 and epsilon 1 the error hardly grows when the bounds are a hundred times wider;
    that of soft counts does."""
    x = np.random.default_rng(1).normal(size=1000)
    rng = np.random.default_rng(2)

    def error(bound, choice):
        given = {"epsilon": 1.0, "bounds": (-bound, bound), "mechanism": choice, "rng": rng}
        return np.mean([abs(duffdp.mean(x, **given).value - x.mean()) for _ in range(150)])

    assert error(10, "clipped") < 0.012
    assert error(1000, "clipped") < 0.016
    assert error(1000, "best") > 1
    assert error(10, "best") == pytest.approx(0.015, rel=0.25)
