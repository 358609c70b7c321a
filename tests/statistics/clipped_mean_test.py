"""The clipped mean: the losses of its parts add up to epsilon in every branch, for every number
that was drawn before, and what is made of them."""

from __future__ import annotations

from fractions import Fraction
from functools import partial

import numpy as np
import polars as pl
import pytest

import duffdp
from duffdp import Grid
from duffdp.audit.neighbours import log_ratio, neighbours
from duffdp.statistics import SoftCounts
from duffdp.statistics.mean import CLIPPED_MEAN, SumAround, clipped_place
from duffdp.statistics.private_range import range_ends
from duffdp.statistics.program import NOT_DRAWN
from duffdp.statistics.statistic import Scope
from release_draws import Stairs, recorded

GRID = Grid(0, 9, 1)
NOTHING = (NOT_DRAWN, NOT_DRAWN)


def whole(records):
    return np.array(records, dtype=np.int64)


@pytest.mark.parametrize("ends", [(0, 9), (2, 7), (4, 5), (0, 1)])
def test_the_sums_move_by_at_most_their_sensitivity(ends):
    """Clamped to the interval, for every centre in it; and by all of it at times."""
    low, high = ends
    for statistic in (SoftCounts(ends), *(SumAround(ends, c) for c in range(low, high + 1))):
        moved, largest = statistic.sensitivity(GRID), 0
        for here, there, _ in neighbours(10, 2):
            both = (statistic.of_records(whole(data), GRID) for data in (here, there))
            change = sum(abs(a - b) for a, b in zip(*both, strict=True))
            assert change <= moved
            largest = max(largest, change)
        assert largest == moved
    clamped = np.clip([0, 3, 5, 9], low, high)
    assert SumAround(ends, high).of_records([0, 3, 5, 9], GRID) == ((clamped - high).sum(),)
    assert SoftCounts(ends).of_records([0, 3, 5, 9], GRID) == (
        (clamped - low).sum(),
        (high - clamped).sum(),
    )


MANY = 10**6
PATHS = {
    "sum": [(MANY, 0, (5, 4)), (MANY, 3, (1000, 0)), (MANY, 20, (-3, 9)), (MANY, 30, NOTHING)],
    "interval": [(60, 0), (60, 5)],
    "soft counts": [(0,), (-5,), (15,)],
}
SHARES = {
    "sum": [0.05, 0.2, 0.05, 0.7],
    "interval": [0.05, 0.2, 0.75],
    "soft counts": [0.05, 0.95],
}
NAMES = ["two-sided-geometric", "permute-and-flip", "staircase", "staircase"]


@pytest.mark.parametrize(
    ("branch", "path"), [(branch, path) for branch in PATHS for path in PATHS[branch]]
)
def test_the_parts_add_up_to_epsilon_whatever_was_drawn(branch, path):
    """The exact laws of all draws through the verb, given the numbers of those before."""

    def draws_of(data):
        with recorded(path=path) as draws:
            records = np.array(data, dtype=np.int64)
            duffdp.mean(records, epsilon=4, bounds=(0, 9), mechanism="clipped")
        names = [d.mechanism.name for d in draws]
        assert names == [*NAMES[: len(draws) - 1], "staircase"]
        assert [d.epsilon / 4 for d in draws] == pytest.approx(SHARES[branch])
        laws = (d.law() for d in draws)
        return [part for law in laws for part in (law if isinstance(law, tuple) else (law,))]

    largest = 0.0
    for here, there, _ in neighbours(10, 2):
        largest = max(largest, log_ratio(draws_of(here), draws_of(there)))
    assert 2.5 < largest <= 4 * (1 + 1e-9)


@pytest.mark.parametrize(
    ("rough", "numbers"), [((6, 3), (1, 2)), (NOTHING, (2, 3)), ((NOT_DRAWN, 0), (1, 2))]
)
def test_a_rough_mean_that_looks_like_none_is_none(rough, numbers):
    """Noise may make its two numbers those of a group without one: the sums that follow are then
    the ones that the value is made of, with the epsilon that is left.
    """
    verbs = (partial(duffdp.mean, mechanism="clipped"), duffdp.variance)
    for verb, many in zip(verbs, numbers, strict=True):
        with recorded(path=[1000, 0, rough]) as draws:
            verb(whole([1, 5, 9]), epsilon=4, bounds=(0, 9))
        assert [d.mechanism.name for d in draws] == NAMES
        assert len(next(iter(draws[-1].law().outputs()))) == many
        assert sum(d.epsilon for d in draws) == pytest.approx(4)


@pytest.mark.parametrize("contributions", [1, 3])
def test_what_is_not_drawn_is_spent_on_the_sum(contributions):
    """Groups differ in what they are asked, and none pays more than epsilon."""
    rows = {"x": [1, 5, 9, 4, 3], "g": list("aabbc"), "p": [1, 2, 3, 4, 5]}
    counts = [[many * contributions] for many in (1000, 3, 150)]
    with recorded() as draws, pytest.MonkeyPatch.context() as patch:
        from duffdp.mechanisms import Geometric

        recording = Geometric.release

        def release(self, groups, sensitivity, source):
            recording(self, groups, sensitivity, source)
            return counts

        patch.setattr(Geometric, "release", release)
        found = duffdp.mean(
            pl.DataFrame(rows),
            column="x",
            epsilon=1,
            bounds=(0, 9),
            mechanism="clipped",
            by="g",
            keys=["a", "b", "c"],
            unit="p",
            contributions=contributions,
        )
    received = [(d.mechanism.name, round(d.epsilon * contributions, 9)) for d in draws]
    assert received == [
        *[("two-sided-geometric", 0.05)] * 3,
        *[("permute-and-flip", 0.2)] * 2,
        ("staircase", 0.05),
        ("staircase", 0.7),
        ("staircase", 0.95),
        ("staircase", 0.75),
    ]
    laws = [d.law() for d in draws if isinstance(d.law(), Stairs)]
    assert [len(law._totals) for law in laws] == [2, 1, 2, 2]
    shares = [Fraction(1, 20), Fraction(1, 5), Fraction(1, 20), Fraction(7, 10)]
    assert [part.epsilon for part in found.mechanism.parts] == shares


def asked_after(count, interval, sides=NOTHING, epsilon=Fraction(1)):
    """The rough mean and the sums that one group is asked for after numbers of earlier draws."""
    program = CLIPPED_MEAN.start(Scope(GRID), epsilon)
    next(program)
    program.send([[[count]]])
    (rough,) = program.send([[[interval]]])
    (sums,) = program.send([[[side] for side in sides]])
    return rough.statistic_of(0), sums.statistic_of(0)


def test_what_is_asked_follows_from_what_was_drawn():
    assert asked_after(300, 7)[0] == SoftCounts(range_ends(7, 9))
    assert asked_after(299, 7)[0] is None
    assert asked_after(6000, 7, epsilon=Fraction(1, 20))[0] is not None
    assert asked_after(5999, 7, epsilon=Fraction(1, 20))[0] is None
    assert asked_after(10**9, NOT_DRAWN)[0] is None
    assert asked_after(5, 7)[1] == SoftCounts(range_ends(7, 9))
    assert asked_after(5, NOT_DRAWN)[1] == SoftCounts((0, 9))
    low, high = range_ends(7, 9)
    for numbers, centre in (((1, 1), (low + high) // 2), ((5, 0), high), ((-1, 9), low)):
        assert asked_after(5, 7, numbers)[1] == SumAround((low, high), centre)
    # Noise may come to what stands for no draw: what is asked then is what `clipped_place` reads.
    assert asked_after(300, 7, NOTHING)[1] == SoftCounts((low, high))


def test_what_is_made_of_the_numbers():
    low, high = range_ends(7, 9)
    assert (low, high) == (0, 5)
    assert clipped_place(GRID, (10, 7, 20, 30, 5, NOT_DRAWN)) == 1 + Fraction(5, 10)
    assert clipped_place(GRID, (10, 7, 20, 30, 10**9, NOT_DRAWN)) == high
    assert clipped_place(GRID, (10, 7, -20, 3, 1, NOT_DRAWN)) == 3  # no record: one
    assert clipped_place(GRID, (10, 7, *NOTHING, 2, 3)) == 2
    assert clipped_place(GRID, (3, NOT_DRAWN, *NOTHING, 9, 9)) == Fraction(9, 2)


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


@pytest.mark.parametrize("bounds", [(0, 1), (-(2**61), 2**61 - 1), (0.0, 1e300), (-1e-300, 0.0)])
def test_extreme_bounds(bounds):
    """One step between the bounds, and as many as there can be."""
    kind = type(bounds[0])
    for data in ([], [bounds[0]] * 5000, [*bounds] * 2500):
        for epsilon in (1e-9, 1.0, 1e6):
            given = {"epsilon": epsilon, "bounds": bounds, "mechanism": "clipped"}
            found = duffdp.mean(np.array(data, dtype=kind), **given).value
            # A mean is a double: 2**61 is the nearest one to the upper bound 2**61 - 1.
            assert float(bounds[0]) <= found <= float(bounds[1])
