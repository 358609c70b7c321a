"""The lattice: its law against enumeration and integration, its guarantee over all small
neighbours, and by which public facts it is chosen."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from scipy import integrate, stats

import duffdp
from cases import SMALL, small_data
from duffdp import DuffError, Grid
from duffdp._sampling.entropy import SYSTEM
from duffdp._sampling.race import RaceNoise, races
from duffdp._steps import StepFunction, Windows
from duffdp.audit.neighbours import largest_loss
from duffdp.mechanisms import Lattice, PermuteAndFlip
from duffdp.statistics import Mean, Median, Mode, Quantile
from duffdp.statistics.quantile import LATTICE_CANDIDATES, LATTICE_EPSILON

EPSILONS = [0.5, 1.0, 2.0, 4.0]
QUANTILES = [Quantile(q, utility) for q in (0.3, 0.5, 0.9) for utility in ("distance", "signed")]
DISTANCES = [[0, 1], [0, 0, 1], [-3, 0, 2], [0, 1, 3], [5, 5, 5], [0, 1, 1, 4]]


def steps_of(distance, rate=Fraction(1, 2), count=None):
    count = np.ones(len(distance), dtype=np.int64) if count is None else np.array(count)
    domain = Grid(0, int(count.sum()) - 1, 1)
    return StepFunction(
        domain, np.cumsum(count) - count, count, np.array(distance, dtype=np.int64), rate=rate
    )


def probabilities(mechanism, steps):
    law = mechanism.law(steps)
    return [law.probability(x) for x in range(steps.domain.size)]


def by_enumeration(distance, epsilon, stride):
    """Geometric numbers of strides for each candidate; ties are broken evenly."""
    ratio = math.exp(-epsilon)
    most = math.ceil(30 / epsilon)
    chance = [(1 - ratio) * ratio**k for k in range(most)] + [ratio**most]
    found = [0.0] * len(distance)
    for strides in itertools.product(range(most + 1), repeat=len(distance)):
        scores = [d - stride * k for d, k in zip(distance, strides, strict=True)]
        ties = [i for i, score in enumerate(scores) if score == min(scores)]
        for i in ties:
            found[i] += math.prod(chance[k] for k in strides) / len(ties)
    return found


def by_integration(distance, epsilon, stride):
    """From the definition: one candidate's noise is given, the others' stay below."""

    def noise(w):
        return stride * math.floor(w) + w - math.floor(w)

    def below(t):  # the probability that a noise is at most t
        if t < 0:
            return 0.0
        whole, rest = divmod(t, stride)
        return 1 - math.exp(-epsilon * (whole + min(rest, 1.0)))

    def density(w, x):
        others = (d - distance[x] + noise(w) for i, d in enumerate(distance) if i != x)
        return epsilon * math.exp(-epsilon * w) * math.prod(map(below, others))

    return [
        sum(
            integrate.quad(density, k, k + 1 - 1e-15, args=(x,), epsabs=1e-14)[0]
            for k in range(math.ceil(30 / epsilon))
        )
        for x in range(len(distance))
    ]


@pytest.mark.parametrize("rate", [Fraction(1), Fraction(1, 2), Fraction(1, 3)])
@pytest.mark.parametrize("epsilon", [1.0, 2.5, 4.0])
def test_the_law_by_enumeration(epsilon, rate):
    for distance in DISTANCES[:5]:
        assert probabilities(Lattice(epsilon), steps_of(distance, rate)) == pytest.approx(
            by_enumeration(distance, epsilon, int(1 / rate)), abs=1e-11
        )


@pytest.mark.parametrize("rate", [Fraction(1, 2), Fraction(1, 3)])
@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_the_law_by_integration(epsilon, rate):
    for distance in DISTANCES:
        assert probabilities(Lattice(epsilon), steps_of(distance, rate)) == pytest.approx(
            by_integration(distance, epsilon, int(1 / rate)), abs=1e-10
        )


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_runs_are_many_single_candidates(epsilon):
    run = steps_of([3, 0, 1, 4], count=[5, 2, 7, 300])
    single = steps_of(np.repeat(run.distance, run.count))
    assert probabilities(Lattice(epsilon), run) == pytest.approx(
        probabilities(Lattice(epsilon), single), rel=1e-12
    )


@pytest.mark.parametrize("epsilon", [0.01, 0.3, 3.0, 40.0, 900.0])
@pytest.mark.parametrize("count", [[1, 1, 1], [10**6, 1, 10**17], [1, 10**17, 1]])
def test_probabilities_add_up_before_they_are_normalised(epsilon, count):
    for distance, rate in itertools.product(
        ([0, 1, 2], [0, 7, 40], [-1000, 3, 4]), (Fraction(1), Fraction(1, 2), Fraction(1, 3))
    ):
        steps = steps_of(distance, rate, count)
        each = np.exp(Lattice(epsilon)._log_weight(steps, 0.0))
        assert float(each @ steps.count) == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 8.0])
def test_at_the_full_rate_it_is_permute_and_flip(epsilon):
    for data in ([], [2], [0, 0, 1, 3], [3] * 9 + [0] * 4):
        steps = Mode().steps(data, SMALL)
        assert probabilities(Lattice(epsilon), steps) == pytest.approx(
            probabilities(PermuteAndFlip(epsilon), steps), rel=1e-10
        )


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_two_candidates_are_told_apart_as_well_as_can_be(epsilon):
    """A record turns a lead of 1 into one of the rival: the odds are exp(epsilon), no less."""
    ahead, behind = probabilities(Lattice(epsilon), steps_of([0, 1]))
    assert math.log(ahead / behind) == pytest.approx(epsilon)
    flipped = probabilities(PermuteAndFlip(epsilon), steps_of([0, 1]))
    assert flipped[1] / behind == pytest.approx(math.cosh(epsilon / 2))


# The guarantee.


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("statistic", [*QUANTILES, Mode(), Mode(Fraction(1, 2)), Mean()], ids=repr)
def test_loss_is_at_most_epsilon(statistic, epsilon):
    share = largest_loss(statistic, Lattice(epsilon), most=6) / epsilon
    assert share <= 1 + 1e-9
    if isinstance(statistic, Quantile):
        assert share > 1 - 1e-9


@pytest.mark.parametrize("rows", [2, 3])
@pytest.mark.parametrize("epsilon", [1.0, 4.0])
@pytest.mark.parametrize("statistic", QUANTILES, ids=repr)
def test_whole_persons(statistic, epsilon, rows):
    """All that a person with so many rows can add or take, at epsilon for the person."""
    mechanism = Lattice(Fraction(epsilon) / rows)
    laws = {}

    def law(data):
        if data not in laws:
            found = mechanism.law(statistic.steps(list(data), SMALL))
            laws[data] = [found.log_probability(x) for x in range(4)]
        return laws[data]

    widest = 0.0
    for data in small_data(4):
        for many in range(1, rows + 1):
            for joined in itertools.combinations_with_replacement(range(4), many):
                pair = zip(law(data), law(tuple(sorted((*data, *joined)))), strict=True)
                widest = max(widest, *(abs(a - b) for a, b in pair))
    assert widest <= epsilon * (1 + 1e-9)
    assert widest > 0.6 * epsilon  # so that twice as much would be too much


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 3.0])
@pytest.mark.parametrize("utility", ["distance", "signed"])
def test_a_fine_domain_uses_the_whole_budget(utility, epsilon):
    fine = Grid(0.0, 3.0, 2.0**-20)
    share = largest_loss(Median(utility), Lattice(epsilon), most=4, domain=fine) / epsilon
    assert 0.99 <= share <= 1 + 1e-9


def test_the_test_can_fail():
    median = Median()
    median.rate = Fraction(1)
    assert largest_loss(median, Lattice(1.0)) > 1.1


@pytest.mark.parametrize("slope", [Fraction(1, 3), Fraction(1, 2), Fraction(1)])
def test_one_more_period_counts_in_full(slope):
    """What the proof rests on: the noise rises, and by exactly a period in a period."""
    noise = RaceNoise(exponential=True, period=Fraction(3, 7), slope=slope)
    places = [Fraction(i, 50) for i in range(150)]
    bent = [noise.bent(place) for place in places]
    assert bent == sorted(set(bent))
    assert bent[0] == 0
    assert [
        noise.bent(place + Fraction(3, 7)) - b for place, b in zip(places, bent, strict=True)
    ] == [Fraction(3, 7)] * len(places)


# Draws.


def test_draws_through_the_verb_follow_the_law():
    """Windows, tails and the exact race behind `median`; another law is rejected."""
    data, grid = [*range(20, 60)] * 2, Grid(0, 120, 1)
    drawn = [duffdp.median(data, epsilon=1.5, bounds=grid).value for _ in range(6000)]
    steps = Median("signed").steps(data, grid)

    def p_value(law):
        expected = np.array([law.probability(v) for v in range(grid.size)]) * len(drawn)
        observed = np.bincount(drawn, minlength=grid.size)
        often = expected > 5
        pooled = [np.append(each[often], each[~often].sum()) for each in (observed, expected)]
        return stats.chisquare(*pooled).pvalue

    assert p_value(Lattice(1.5).law(steps)) > 1e-9
    for wrong in (Lattice(2.0), Lattice(1.1), PermuteAndFlip(2.0)):
        assert p_value(wrong.law(steps)) < 1e-9


def test_few_bits_keep_the_law():
    """Nearly every race is refined, and permute-and-flip errs four times as often. (Other numbers
    of bits: `race_test.py`, race by race.)"""
    steps, mechanism = steps_of([0, 1]), Lattice(4.0)
    drawn = races(
        steps, 4000, mechanism.coefficient(steps), mechanism.noise(steps.rate), SYSTEM, bits=1
    )
    right, wrong = (
        stats.binomtest(sum(drawn), len(drawn), probabilities(kind(4.0), steps)[1]).pvalue
        for kind in (Lattice, PermuteAndFlip)
    )
    assert right > 1e-9 > wrong


# Where it is chosen.


def test_public_facts_choose():
    rows = pl.DataFrame({"x": [1, 2, 3], "p": [1, 2, 3]})

    def named(epsilon, candidates, contributions=1):
        grid, whom = Grid(0, candidates - 1, 1), {"unit": "p", "contributions": contributions}
        made = duffdp.median(rows, column="x", epsilon=epsilon, bounds=grid, **whom)
        return made.mechanism.parts[0].name

    assert named(1, LATTICE_CANDIDATES) == "lattice"
    assert named(1, LATTICE_CANDIDATES + 1) == "permute-and-flip"
    assert named(LATTICE_EPSILON, 100) == "lattice"
    assert named(float(LATTICE_EPSILON) - 0.001, 100) == "permute-and-flip"
    assert named(3 * LATTICE_EPSILON, 100, contributions=3) == "lattice"
    assert named(3 * LATTICE_EPSILON, 100, contributions=4) == "permute-and-flip"


def test_no_record_chooses():
    for bounds in ((0, 100), (0.0, 1.0)):
        names = {
            str(
                duffdp.quantile(
                    np.array(data, dtype=float), 0.9, epsilon=2, bounds=bounds
                ).mechanism
            )
            for data in ([], [0.5], [0.25] * 1000, [1e9, -1e9])
        }
        assert len(names) == 1


def test_a_release_is_drawn_by_what_it_says():
    made = duffdp.median([1, 2, 3], epsilon=2, bounds=(0, 120), step=1)
    assert str(made.mechanism) == "lattice(signed)"
    assert str(duffdp.mode([1], epsilon=2, bounds=(0, 120), step=1).mechanism) == (
        "permute-and-flip(distance)"
    )
    paper = duffdp.median([1, 2, 3], epsilon=2, bounds=(0, 120), step=1, mechanism="duff")
    assert str(paper.mechanism) == "exponential(distance)"


def test_previews_follow():
    ages = [25, 38, 40, 41, 70] * 20
    seen = duffdp.preview(ages, epsilon=1.0, bounds=(0, 120), step=1)
    steps = Median("signed").steps(ages, Grid(0, 120, 1))
    error = Lattice(1.0).law(steps).expected_error(40)
    assert seen.expected_error("best") == pytest.approx(error, rel=1e-12)


@pytest.mark.parametrize(
    ("unit", "rate"), [(Fraction(1, 3), Fraction(1, 2)), (Fraction(1), Fraction(2, 3))]
)
def test_what_is_no_lattice_is_refused(unit, rate):
    one = np.array([0], dtype=np.int64)
    steps = StepFunction(SMALL, one, one + 4, one, unit, rate)
    for use in (Lattice(1).law, Lattice(1).draw):
        with pytest.raises(DuffError, match=r"whole numbers.*Use PermuteAndFlip"):
            use(steps)


@pytest.mark.parametrize(("epsilon", "most"), [(1.0, 0.90), (2.0, 0.66), (4.0, 0.28)])
def test_ages_err_less(epsilon, most):
    ages = np.clip(np.random.default_rng(1).normal(40, 18, 1000).round(), 0, 120).astype(int)
    steps = Median("signed").steps(ages, Grid(0, 120, 1))
    truth = int(np.sort(ages)[499])
    lattice, flip = (
        kind(epsilon).law(steps).expected_error(truth) for kind in (Lattice, PermuteAndFlip)
    )
    assert lattice < most * flip


def test_a_mechanism_serves_statistics_of_different_rates(monkeypatch):
    """What it prepared for one is not used for another."""
    given = []
    monkeypatch.setattr(
        "duffdp.mechanisms.mechanism.race",
        lambda batch, c, noise, source: given.append((c, noise.slope)) or [0],
    )
    mechanism, half, one = Lattice(3.0), Fraction(1, 2), Fraction(1)
    for rate in (half, one, half):
        mechanism.release(Windows.of([steps_of([0, 1], rate)]), SYSTEM)
    assert given == [(3 * rate, rate) for rate in (half, one, half)]
