"""Explicit laws against enumeration: probabilities, expected errors, tails and intervals."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

import duffdp
from cases import MECHANISMS, SMALL, STATISTICS, small_data
from duffdp import Categories, DuffError, Grid, UnsupportedData
from duffdp._privacy import FAMILIES
from duffdp._steps import StepFunction
from duffdp.mechanisms import CLASSES, Exponential, Joint, Lattice, PermuteAndFlip, mechanism_class
from duffdp.mechanisms import mechanism as mechanism_module
from duffdp.statistics import Mean, Median, Mode


def permute_and_flip(weights):
    """By the definition of McKenna and Sheldon: go through a random permutation, stop at x with
    probability p_x / max p.
    """
    p = [w / max(weights) for w in weights]
    total = [0.0] * len(p)
    for order in itertools.permutations(range(len(p))):
        alive = 1 / math.factorial(len(p))
        for x in order:
            total[x] += alive * p[x]
            alive *= 1 - p[x]
    return total


@pytest.mark.parametrize("statistic", STATISTICS, ids=repr)
@pytest.mark.parametrize("epsilon", [0.01, 0.5, 1.0, 7.0])
def test_probabilities(statistic, epsilon):
    for data in ([], [2], [0, 0, 1, 3], [3] * 9 + [0] * 4):
        steps = statistic.steps(data, SMALL)
        c = float(steps.rate * steps.unit) * epsilon
        weights = [math.exp(-c * (steps.distance_at(x) - steps.distance.min())) for x in range(4)]
        em, pf = (mechanism(epsilon).law(steps) for mechanism in MECHANISMS)
        assert [em.probability(x) for x in range(4)] == pytest.approx(
            [w / sum(weights) for w in weights], rel=1e-12
        )
        assert [pf.probability(x) for x in range(4)] == pytest.approx(
            permute_and_flip(weights), rel=1e-10
        )


def test_permute_and_flip_with_long_runs():
    """Seven candidates in runs of up to five against the same law by enumeration, and huge runs
    that must sum to 1.
    """
    steps = Median().steps([5], Grid(0, 6, 1))
    p = [math.exp(-0.5 * steps.distance_at(x)) for x in range(7)]
    law = PermuteAndFlip(1.0).law(steps)
    assert [law.probability(x) for x in range(7)] == pytest.approx(permute_and_flip(p), rel=1e-10)
    for data in ([], [0.3], np.random.default_rng(1).normal(0.5, 0.1, 500)):
        for epsilon in (0.001, 1, 100):
            fine = Median().steps(np.asarray(data), Grid(0.0, 1.0))
            law = PermuteAndFlip(epsilon).law(fine)
            each = [law.probability(fine.domain.value(int(i))) for i in fine.start]
            assert float(np.dot(each, fine.count.astype(float))) == pytest.approx(1, abs=1e-10)
            raw = np.exp(
                PermuteAndFlip(epsilon)._log_weight(
                    fine, float(PermuteAndFlip(epsilon).coefficient(fine))
                )
            )
            # the integral, before it is normalised
            assert float(raw @ fine.count.astype(float)) == pytest.approx(1, abs=1e-9)


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("statistic", [Median(), Median("rank"), Mean(), Mode()], ids=repr)
@pytest.mark.parametrize("grid", [Grid(0, 30, 1), Grid(-5.0, 4.0, 0.25)], ids=repr)
def test_errors_tails_and_intervals(mechanism, statistic, grid):
    steps = statistic.steps([1.3, 2.0, 2.2, 7.5, 3.0, -2.0], grid)
    law = mechanism(0.8).law(steps)
    values = [grid.value(i) for i in range(grid.size)]
    p = np.array([law.probability(v) for v in values])
    assert p.sum() == pytest.approx(1, abs=1e-12)
    for target in (grid.lower, 2, 2.1, 1.875, grid.upper, 40, -7.5):
        assert law.expected_error(target) == pytest.approx(
            np.dot(p, np.abs(np.array(values) - target)), rel=1e-9
        )
        for t in (0, 0.25, 1, 3.3):
            assert law.tail(target, t) == pytest.approx(
                p[np.abs(np.array(values) - target) > t + 1e-12].sum(), abs=1e-12
            )
    for confidence in (0.5, 0.9, 0.99):
        low, high = law.interval(confidence)
        inside = sum(q for q, v in zip(p, values, strict=True) if low <= v <= high)
        assert inside >= confidence - 1e-12
        for tighter in (
            (values.index(low) + 1, values.index(high)),
            (values.index(low), values.index(high) - 1),
        ):
            outside_of_one_side = max(p[: tighter[0]].sum(), p[tighter[1] + 1 :].sum())
            assert outside_of_one_side > (1 - confidence) / 2 - 1e-12


def test_categories():
    steps = Mode().steps(["a", "a", "b"], Categories(["a", "b", "c"]))
    law = Exponential(1.0).law(steps)
    weights = np.exp([2, 1, 0])
    assert law.probability("b") == pytest.approx(weights[1] / weights.sum())
    assert law.probability("z") == 0
    assert (
        law.expected_error("a")
        == law.tail("a", 0.5)
        == pytest.approx(1 - weights[0] / weights.sum())
    )
    assert law.tail("a", 1) == 0
    with pytest.raises(UnsupportedData, match="ordered"):
        law.interval(0.9)


def test_confidence_is_checked():
    law = Exponential(1.0).law(Median().steps([1], SMALL))
    for wrong in (0, 1, -1, 2):
        with pytest.raises(DuffError, match="confidence"):
            law.interval(wrong)


def test_dates():
    import datetime as dt

    grid = Grid(dt.date(2024, 1, 1), dt.date(2024, 1, 31))
    law = Exponential(1.0).law(Median().steps([dt.date(2024, 1, 10)] * 5, grid))
    assert law.expected_error(dt.date(2024, 1, 10)) == pytest.approx(
        sum(law.probability(grid.value(i)) * abs(i - 9) for i in range(31))
    )
    assert (
        law.interval(0.5) == (grid.value(9), grid.value(9))
        or law.interval(0.5)[0] <= grid.value(9) <= law.interval(0.5)[1]
    )


RATES = [
    (
        lambda m: duffdp.median([1, 2], epsilon=3, bounds=(0, 9), mechanism=m),
        Fraction(1, 2),
        Fraction(1, 2),
    ),
    (
        lambda m: duffdp.quantile([1, 2], 0.8, epsilon=3, bounds=(0, 9), mechanism=m),
        Fraction(1, 2),
        Fraction(1, 2),
    ),
    (
        lambda m: duffdp.mean(
            [1, 2], epsilon=3, bounds=(0, 9), mechanism="distance" if m == "best" else m
        ),
        Fraction(1, 2),
        Fraction(1, 2),
    ),
    (
        lambda m: duffdp.mode([1, 2], epsilon=3, bounds=(0, 9), mechanism=m),
        Fraction(1),
        Fraction(1, 2),
    ),
    (
        lambda m: duffdp.mode(["a"], epsilon=3, categories=["a", "b"], mechanism=m),
        Fraction(1),
        Fraction(1, 2),
    ),
]


@pytest.mark.parametrize(
    ("release", "best", "duff"), RATES, ids=["median", "quantile", "mean", "mode", "categories"]
)
def test_what_one_step_of_distance_costs_in_a_release(monkeypatch, release, best, duff):
    """The coefficient that the race gets, through the verb: rate times epsilon; the paper's is
    always one half.
    """
    seen = []
    original = mechanism_module.race

    def race(batch, c, noise, source):
        seen.append((c / batch.unit, noise.exponential))
        return original(batch, c, noise, source)

    monkeypatch.setattr(mechanism_module, "race", race)
    release("best")
    release("duff")
    assert seen == [(3 * best, True), (3 * duff, False)]


@pytest.mark.parametrize("unit", [Fraction(1), Fraction(1, 3)])
@pytest.mark.parametrize("rate", [Fraction(1, 2), Fraction(1)])
@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_the_coefficient_is_rate_times_epsilon_times_unit(mechanism, rate, unit):
    one = np.array([0], dtype=np.int64)
    steps = StepFunction(SMALL, one, one + 4, one, unit, rate)
    assert mechanism(0.7).coefficient(steps) == rate * unit * Fraction(7, 10)


def test_only_the_exponential_mechanisms_have_a_bounded_range():
    """The largest loss less the smallest, over all outputs of two neighbours: at most epsilon for
    these, more for permute-and-flip.
    """
    kinds = list(map(mechanism_class, CLASSES))
    bounded = [kind for kind in kinds if kind.loss_family == "bounded-range"]
    assert bounded == [Exponential, Joint]
    assert [kind.name for kind in kinds] == list(CLASSES)
    assert {kind.loss_family for kind in kinds} <= set(FAMILIES)
    widest = dict.fromkeys((*MECHANISMS, Lattice), 0.0)
    for mechanism in widest:
        for data in small_data(4):
            for x in range(4):
                laws = [mechanism(2.0).law(Median().steps(d, SMALL)) for d in (data, (*data, x))]
                losses = [laws[0].log_probability(v) - laws[1].log_probability(v) for v in range(4)]
                widest[mechanism] = max(widest[mechanism], max(losses) - min(losses))
    assert widest[Exponential] <= 2.0 * (1 + 1e-9)
    assert min(widest[PermuteAndFlip], widest[Lattice]) > 2.05
