"""Ladders, reaches and the search for counterexamples."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest

import duffdp
from cases import STATISTICS
from duffdp import BoundsError, DuffError, Grid, StepFunction
from duffdp.testing import Counterexample, check_statistic


def brute(value, rungs, domain):
    """The fewest rungs for every candidate, one rung at a time."""
    found = []
    for i in range(domain.size):
        away, total, k = abs(Fraction(domain.value(i)) - value), Fraction(0), 0
        while total < away:
            total += Fraction(rungs(k))
            k += 1
        found.append(k)
    return found


@pytest.mark.parametrize("value", [0, 5, 10, Fraction(7, 3), 4.5, np.float64(0.25)])
@pytest.mark.parametrize(
    "rungs", [lambda t: 1, lambda t: t, lambda t: Fraction(1, 3) + t, lambda t: 100], ids=range(4)
)
def test_ladder(value, rungs):
    for domain in (Grid(0, 10, 1), Grid(0, 10, 2)):
        steps = duffdp.ladder(value, rungs, domain)
        steps.check()
        assert np.repeat(steps.distance, steps.count).tolist() == brute(
            Fraction(value), rungs, domain
        )


def test_a_value_outside_the_bounds_is_clamped():
    for value, end in ((-3, 0), (99, 10)):
        clamped, at_end = (duffdp.ladder(v, lambda t: 2, Grid(0, 10, 1)) for v in (value, end))
        assert (clamped.start == at_end.start).all()
        assert (clamped.distance == at_end.distance).all()


def test_a_sequence_of_sensitivities():
    steps = duffdp.ladder(1, [1, 2], Grid(0, 4, 1))
    assert [steps.distance_at(x) for x in range(5)] == [1, 0, 1, 2, 2]


def test_reach_with_empty_levels_and_intervals_beyond_the_domain():
    intervals = [(1.2, 1.4), (1.1, 1.6), (0.9, 1.9), (-5, 2.5), (-5, 99)]
    steps = duffdp.reach(intervals, Grid(0, 4, 1))
    assert [steps.distance_at(x) for x in range(5)] == [3, 2, 3, 4, 4]
    steps = duffdp.reach([(-9, -8), (-9, 0), (-9, 4)], Grid(0, 4, 1))
    assert [steps.distance_at(x) for x in range(5)] == [1, 2, 2, 2, 2]


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: duffdp.ladder(1, [1, 1], Grid(0, 9, 1)), "until every candidate"),
        (lambda: duffdp.ladder(1, lambda t: -1, Grid(0, 9, 1)), "0 or more"),
        (lambda: duffdp.ladder(float("nan"), lambda t: 1, Grid(0, 9, 1)), "finite"),
        (lambda: duffdp.ladder("3", lambda t: 1, Grid(0, 9, 1)), "finite"),
        (lambda: duffdp.ladder(3, lambda t: float("inf"), Grid(0, 9, 1)), "finite"),
        (lambda: duffdp.reach([(3, 4), (4, 9)], Grid(0, 9, 1)), "holds the one before"),
        (lambda: duffdp.reach([(3, 4)], Grid(0, 9, 1)), "until every candidate"),
    ],
)
def test_bad_ladders(call, said):
    with pytest.raises(DuffError, match=said):
        call()


def test_a_ladder_needs_a_grid_of_numbers():
    with pytest.raises(BoundsError, match="grid of numbers"):
        duffdp.ladder(1, lambda t: 1, duffdp.Categories(["a", "b"]))


def test_a_ladder_that_never_ends(monkeypatch):
    monkeypatch.setattr("duffdp.statistics.ladder.MOST_RUNGS", 100)
    with pytest.raises(DuffError, match="levels"):
        duffdp.ladder(1, lambda t: 0, Grid(0, 9, 1))


@pytest.mark.parametrize("statistic", STATISTICS, ids=repr)
def test_the_librarys_own_statistics_pass(statistic):
    assert check_statistic(statistic, most=4) == 4 * sum(
        1 for n in range(4) for _ in itertools.combinations_with_replacement("abcd", n)
    )


class Wrong:
    """Distances that are three times those of the median."""

    def steps(self, values, domain):
        steps = duffdp.statistics.Median().steps(values, domain)
        return StepFunction(domain, steps.start, steps.count, 3 * steps.distance)


def test_the_smallest_counterexample_is_shown():
    with pytest.raises(Counterexample, match="joins") as found:
        check_statistic(Wrong())
    assert found.value.data == ()
    assert "differ by 6" in str(found.value)


class FastRate:
    """The median at the rate of the mode."""

    def steps(self, values, domain):
        steps = duffdp.statistics.Median().steps(values, domain)
        return StepFunction(domain, steps.start, steps.count, steps.distance, rate=Fraction(1))


def test_a_rate_too_large_is_found():
    with pytest.raises(Counterexample, match="at most 1"):
        check_statistic(FastRate())


class Partial:
    def steps(self, values, domain):
        one = np.array([1], dtype=np.int64)
        return StepFunction(domain, one, one, one)


def test_a_step_function_that_does_not_cover_the_domain():
    with pytest.raises(DuffError, match="cover"):
        check_statistic(Partial())
    with pytest.raises(DuffError, match="cover"):
        duffdp.mechanisms.Exponential(1.0).draw(Partial().steps([], Grid(0, 3, 1)))
    with pytest.raises(DuffError, match="cover"):
        duffdp.mechanisms.PermuteAndFlip(1.0).law(Partial().steps([], Grid(0, 3, 1)))


@pytest.mark.parametrize(
    ("statistic", "arguments", "said"),
    [
        (type("Nothing", (), {"steps": lambda self, values, domain: None})(), {}, "StepFunction"),
        (duffdp.statistics.Median(), {"domain": Grid(0, 10**6, 1)}, "every candidate"),
        (duffdp.statistics.Median(), {"most": 0}, "most"),
        (duffdp.statistics.Median(), {"records": []}, "records"),
    ],
)
def test_bad_searches(statistic, arguments, said):
    with pytest.raises(DuffError, match=said):
        check_statistic(statistic, **arguments)
