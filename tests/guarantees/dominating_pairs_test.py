"""What composition takes for granted of every family: no mechanism of it tells neighbours apart
better than the family's pair of laws, by enumeration."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from fractions import Fraction
from functools import cache

import numpy as np
import polars as pl
import pytest

import duffdp
from cases import SMALL, STATISTICS, small_data
from duffdp import Grid
from duffdp._privacy import Loss, LossPart
from duffdp.audit.neighbours import ListedLaw, neighbours
from duffdp.ledger._composition import deltas, tight_epsilon
from duffdp.mechanisms import Exponential, Lattice, PermuteAndFlip
from duffdp.statistics import Quantile
from duffdp.statistics.registry import REGISTRY
from duffdp.statistics.statistic import DistanceStatistic
from inquiries import plan_of
from release_draws import recorded
from verb_calls import TABLES

EPSILONS = [0.3, 1.0, 2.0, 6.0]
ROUNDING = 1e-10


def grid(epsilon, many=101):
    return np.linspace(-1.2 * epsilon, 1.2 * epsilon, many)


def hockey_stick(one, other, at):
    """Sum of max(0, p - exp(x) q) over all outputs, for every x."""
    p, q = np.array(one, dtype=float), np.array(other, dtype=float)
    return np.maximum(p[None] - np.exp(at)[:, None] * q[None], 0).sum(axis=1)


def largest_excess(one, other, family, epsilon, contributions=1, at=None):
    """By how much a pair of laws, either way, exceeds what its family allows."""
    at = grid(epsilon) if at is None else at
    allowed = deltas(family, epsilon, contributions, at)
    return max(
        float((hockey_stick(*pair, at) - allowed).max()) for pair in ((one, other), (other, one))
    )


def geometric_law(rate, place, low, high):
    """Two-sided geometric noise around a place, what is beyond `low` and `high` put there."""
    ratio = math.exp(-rate)
    inside = [ratio ** abs(x - place) * (1 - ratio) / (1 + ratio) for x in range(low + 1, high)]
    return [ratio ** (place - low) / (1 + ratio), *inside, ratio ** (high - place) / (1 + ratio)]


# The pairs themselves.


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("steps", [1, 2, 3, 7, 50])
def test_geometric_noise_by_enumeration(epsilon, steps):
    """Also beyond where a loss can be, and where no output separates the two."""
    laws = (geometric_law(epsilon / steps, place, -9, steps + 9) for place in (0, steps))
    at = grid(epsilon, 333)
    exact = hockey_stick(*laws, at)
    assert deltas("geometric", epsilon, steps, at) == pytest.approx(exact, abs=1e-12)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_laplace_and_logistic_noise_by_integration(epsilon):
    """Masses of fine bins: what they lose against the densities is at most a bin's width."""
    edges = np.linspace(-50, 50 + epsilon, 200_001)
    distributions = {
        "laplace": lambda x: np.where(x < 0, np.exp(x.clip(max=0)) / 2, 1 - np.exp(-x) / 2),
        "bounded-range": lambda x: 1 / (1 + np.exp(-x)),
    }
    at = grid(epsilon, 23)
    for family, distribution in distributions.items():
        here, there = (np.diff(distribution(edges - place)) for place in (0.0, epsilon))
        assert hockey_stick(here, there, at) == pytest.approx(
            deltas(family, epsilon, 1, at), abs=1e-3
        )


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_one_step_of_geometric_noise_is_randomised_response(epsilon):
    at, yes = grid(epsilon), 1 / (1 + math.exp(-epsilon))
    exact = hockey_stick((yes, 1 - yes), (1 - yes, yes), at)
    for family in ("pure", "geometric"):
        assert deltas(family, epsilon, 1, at) == pytest.approx(exact, abs=1e-12)
    # the rows of a person change nothing for what is only known to be pure
    assert (deltas("pure", epsilon, 5, at) == deltas("pure", epsilon, 1, at)).all()


@pytest.mark.parametrize("epsilon", [0.01, *EPSILONS, 30.0])
def test_families_are_ordered_and_finer_steps_tell_less(epsilon):
    at = grid(epsilon)
    order = [
        deltas("pure", epsilon, 1, at),
        *(deltas("geometric", epsilon, steps, at) for steps in (1, 2, 4, 12, 24, 10**4)),
        deltas("laplace", epsilon, 1, at),
        deltas("bounded-range", epsilon, 1, at),
    ]
    for more, less in itertools.pairwise(order):
        assert (more >= less - 1e-12).all()
    assert order[-3] == pytest.approx(order[-2], abs=1e-3)
    inside = np.abs(at) < epsilon * 0.9
    assert (order[1] - order[2])[inside].max() > 0
    assert (order[-2] - order[-1])[inside].min() > 0


def test_finer_noise_is_coarser_noise_and_more():
    """Noise on B m steps is B times noise on m steps, plus the difference of two truncated
    geometric numbers: what is true of m rows covers whole numbers that a row moves by B."""
    for finer, rate in itertools.product((2, 3, 5), (0.1, 1.0)):
        size, ratio = 400 * finer, math.exp(-rate / finer)
        places = np.arange(-size, size + 1)
        fine = ratio ** np.abs(places) * (1 - ratio) / (1 + ratio)
        coarse = np.where(
            places % finer == 0,
            ratio ** np.abs(places) * (1 - ratio**finer) / (1 + ratio**finer),
            0,
        )
        truncated = ratio ** np.arange(finer) * (1 - ratio) / (1 - ratio**finer)
        made = np.convolve(coarse, np.convolve(truncated, truncated[::-1]), mode="same")
        middle = slice(size - 50, size + 51)
        assert made[middle] == pytest.approx(fine[middle], rel=1e-9)


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("rows", [(1, 1), (1, 3), (2, 2), (1, 1, 2), (4, 1, 1)])
def test_a_person_in_several_groups_is_worst_in_one(epsilon, rows):
    """Rows of a person in several groups: the draws of all groups together, against one group
    that has all rows."""
    steps = sum(rows)
    rate = epsilon / steps

    def joint(places):
        laws = (
            geometric_law(rate, place, 0, many) for place, many in zip(places, rows, strict=True)
        )
        return [math.prod(ps) for ps in itertools.product(*laws)]

    here, there = joint([0] * len(rows)), joint(rows)
    assert largest_excess(here, there, "geometric", epsilon, steps) <= ROUNDING
    # on as many steps in one group it is attained
    alone = (geometric_law(rate, place, 0, steps) for place in (0, steps))
    assert largest_excess(*alone, "geometric", epsilon, steps) >= -ROUNDING
    assert largest_excess(here, there, "geometric", epsilon * 0.9, steps) > 0


# The mechanisms, by the laws that they say they have.

FAMILY = {Exponential: "bounded-range", PermuteAndFlip: "laplace"}


def probabilities(mechanism, statistic, domain, most):
    @cache
    def of(data):
        law = mechanism.law(statistic.steps([domain.value(i) for i in data], domain))
        return tuple(law.probability(domain.value(i)) for i in range(domain.size))

    return [(of(here), of(there)) for here, there, _ in neighbours(domain.size, most)]


@pytest.mark.parametrize("epsilon", [0.5, 2.0])
@pytest.mark.parametrize("mechanism", FAMILY)
@pytest.mark.parametrize("statistic", STATISTICS, ids=repr)
def test_mechanisms_of_a_family_never_exceed_it(statistic, mechanism, epsilon):
    at = grid(epsilon, 49)
    for here, there in probabilities(mechanism(epsilon), statistic, SMALL, 5):
        assert largest_excess(here, there, FAMILY[mechanism], epsilon, 1, at) <= ROUNDING


@pytest.mark.parametrize("rows", [1, 2, 3])
@pytest.mark.parametrize("epsilon", [0.5, 2.0, 6.0])
@pytest.mark.parametrize("candidates", [2, 4])
def test_a_lattice_is_geometric_noise_in_as_many_steps_as_rows(candidates, epsilon, rows):
    """All that so many rows can add to small data."""
    at, quantile = grid(epsilon, 49), Quantile(0.5, "signed")
    inside = np.abs(at) < 0.9 * epsilon
    allowed = deltas(Lattice.loss_family, epsilon, rows, at)

    @cache
    def of(data):
        steps = quantile.steps(list(data), Grid(0, candidates - 1, 1))
        law = Lattice(Fraction(epsilon) / rows).law(steps)
        return [law.probability(x) for x in range(candidates)]

    largest = np.zeros(len(at))
    for here in small_data(3, candidates):
        for joined in itertools.combinations_with_replacement(range(candidates), rows):
            one, other = of(here), of(tuple(sorted((*here, *joined))))
            for pair in ((one, other), (other, one)):
                largest = np.maximum(largest, hockey_stick(*pair, at))
    assert (largest <= allowed + ROUNDING).all()
    if candidates == 2 and rows == 1:  # nothing less holds
        assert largest == pytest.approx(allowed, abs=ROUNDING)
        assert (largest - deltas("laplace", epsilon, 1, at))[inside].min() > 0


def law_of(mechanism, thousandths):
    """The probabilities of candidates at distances in units of 1/1000."""
    size = len(thousandths)
    steps = duffdp.StepFunction(
        Grid(0, size - 1, 1),
        np.arange(size),
        np.ones(size, dtype=np.int64),
        np.array(thousandths, dtype=np.int64),
        unit=Fraction(1, 1000),
    )
    law = mechanism.law(steps)
    return [law.probability(i) for i in range(size)]


@pytest.mark.parametrize("mechanism", FAMILY)
def test_any_scores_that_move_against_each_other(mechanism):
    """Up to six candidates at any distance, each moved by any amount up to 1: scores that no
    statistic of ours has."""
    numbers = np.random.default_rng(7)
    for trial in range(600):
        epsilon, size = (0.3, 2.0, 5.0)[trial % 3], int(numbers.integers(2, 7))
        before = numbers.exponential(numbers.choice([500, 2000, 6000]), size).astype(np.int64)
        most = 1000 if trial % 2 else int(numbers.integers(1, 1000))
        after = before + most * numbers.choice([-1, 0, 1], size)
        laws = (law_of(mechanism(epsilon), distance) for distance in (before, after))
        assert largest_excess(*laws, FAMILY[mechanism], epsilon) <= ROUNDING


def test_a_random_choice_of_rows_exceeds_no_family():
    """The law is then a mixture, which need not have a bounded range."""
    epsilon, numbers, widest = 2.0, np.random.default_rng(3), 0.0
    pairs = np.array(probabilities(Exponential(epsilon), Quantile(0.5), SMALL, 4))
    for _ in range(2000):
        chosen = pairs[numbers.integers(len(pairs), size=2)]
        here, there = np.average(chosen, axis=0, weights=numbers.dirichlet([1, 1]))
        assert largest_excess(here, there, "bounded-range", epsilon) <= ROUNDING
        ratios = np.log(there) - np.log(here)
        widest = max(widest, float(ratios.max() - ratios.min()))
    assert widest > epsilon * 1.001


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_between_two_candidates_permute_and_flip_is_laplace_noise(epsilon):
    """Nothing less holds: each x has two data sets that attain it. So permute-and-flip has no
    bounded range, and its charge may not be that of one."""
    flip, losses = PermuteAndFlip(epsilon), []
    for ahead in range(0, 2001, 20):  # the first candidate, and then the second, each moved by 1
        here, there = law_of(flip, (0, ahead)), law_of(flip, (2000 - ahead, 0))
        losses.append(hockey_stick(there, here, np.array([(ahead / 1000 - 1) * epsilon])))
    at = np.linspace(-1, 1, len(losses)) * epsilon
    attained = np.concatenate(losses)
    assert attained == pytest.approx(deltas("laplace", epsilon, 1, at), abs=1e-9)
    middle = np.abs(at) < epsilon / 2
    assert (attained - deltas("bounded-range", epsilon, 1, at))[middle].min() > 1e-3


# Through the verbs: what a release says it costs, part by part.


def masses(one, other):
    """The probabilities of all outputs under both."""
    if isinstance(one, ListedLaw):
        outputs = dict.fromkeys([*one.outputs(), *other.outputs()])
    else:
        outputs = dict.fromkeys((0, 1, 2))
    return tuple([math.exp(law.log_probability(x)) for x in outputs] for law in (one, other))


def listable(call, top=2):
    """Whether the laws of all draws on a grid from 0 to `top` are listed here: draws that wait for
    others, noise on sums and candidates of their own are too many.
    """
    name = call.spec.name if call.spec.name in REGISTRY else None
    given = {k: v for k, v in call.parameters.items() if k != "mechanism"}
    choice = call.parameters.get("mechanism", "best")
    domain = Grid(0, top, 1)
    parts = plan_of(name, given, choice=choice, domain=domain).program.draws if name else ()
    return not any(
        part.statistic is None or _has_own_candidates(part.statistic) for part in parts
    ) and all(part.mechanism != "staircase" for part in parts)


def _has_own_candidates(statistic):
    """Whether a statistic has other candidates than the values of records."""
    return (
        isinstance(statistic, DistanceStatistic)
        and type(statistic).outputs is not DistanceStatistic.outputs
    )


@pytest.mark.parametrize("epsilon", [0.4, 4.0])
@pytest.mark.parametrize("call", list(filter(listable, TABLES)), ids=str)
def test_every_draw_is_of_the_family_that_its_release_names(call, epsilon):
    @cache
    def draws_of(data):
        with recorded() as draws:
            loss = call(list(data), epsilon=epsilon, **call.outputs(bounds=(0, 2), step=1)).loss
        return loss, [(draw.mechanism, draw.law()) for draw in draws]

    at = grid(epsilon, 49)
    unsaid = -1.0
    for here, there, _ in neighbours(3, 3):
        (loss, before), (_, after) = draws_of(here), draws_of(there)
        named = {
            (part.family, float(part.epsilon / part.draws)): part.contributions
            for part in loss.parts
        }
        assert Counter(one.loss_family for one, _ in before) == sum(
            (Counter({part.family: part.draws}) for part in loss.parts), Counter()
        )
        for (mechanism, law), (_, other) in zip(before, after, strict=True):
            kind = mechanism.loss_family, mechanism.epsilon
            # Of independent numbers one record moves one, and the others tell nothing.
            each = zip(law, other, strict=True) if isinstance(law, tuple) else [(law, other)]
            for both in map(masses, *zip(*each, strict=True)):
                assert largest_excess(*both, *kind, named[kind], at) <= ROUNDING
                if kind[0] != "bounded-range":
                    unsaid = max(unsaid, largest_excess(*both, "bounded-range", kind[1], 1, at))
    # So few pairs do not show it, nor do so few records where more than those lie inside.
    aims_inside = call.parameters.get("q") in (0, 1) and epsilon < 1
    if not (call.spec.of_pairs or aims_inside):
        assert (unsaid > 1e-3) == any(part.family != "bounded-range" for part in loss.parts)


def test_sizes_beside_values_are_of_a_family_of_their_own():
    with recorded() as draws:
        loss = duffdp.median(
            pl.DataFrame({"age": [1, 2, 3], "town": ["a", "a", "b"]}),
            column="age",
            by="town",
            keys=["a"],
            suppress_below=2,
            epsilon=1,
            bounds=(0, 4),
            step=1,
            mechanism="duff",
        ).loss
    named = sum((Counter({part.family: part.draws}) for part in loss.parts), Counter())
    assert Counter(draw.mechanism.loss_family for draw in draws) == named
    assert len(named) == 2


@pytest.mark.parametrize("call", [each for each in TABLES if not listable(each, 2**20)], ids=str)
def test_a_draw_that_gets_what_others_left_is_named_with_all_of_it(call):
    """Nobody is asked for an interval of few records: the next draw gets its epsilon."""
    with recorded() as draws:
        loss = call([], epsilon=0.5, **call.outputs(bounds=(0, 2**20), step=1)).loss
    spent = tuple(
        LossPart(draw.mechanism.loss_family, Fraction(draw.mechanism.epsilon).limit_denominator())
        for draw in draws
    )
    drawn = Loss(sum((part.epsilon for part in spent), Fraction(0)), parts=spent)
    named, found = (tight_epsilon([one] * 200, 1e-6) for one in (loss, drawn))
    assert found <= named * (1 + 1e-6)


@pytest.mark.parametrize("contributions", [1, 3])
def test_a_person_with_several_rows_pays_in_as_many_steps(contributions):
    """All rows of a person, in one group or in two, against the loss that the release names."""
    epsilon = 0.25
    given = {"column": "x", "unit": "p", "contributions": contributions, "by": "g"}

    def draws_of(groups):
        frame = pl.DataFrame(
            {"x": [1.0] * (len(groups) + 4), "p": [7] * len(groups) + [1, 2, 3, 4]}
            | {"g": [*groups, "a", "b", "a", "b"]}
        )
        with recorded() as draws:
            release = duffdp.histogram(
                frame, epsilon=epsilon, bins=[0, 2], keys=["a", "b"], **given
            )
        laws = [d.law()[0] for d in draws]
        (part,) = release.loss.parts
        return part, laws

    part, without = draws_of([])
    assert (float(part.epsilon), part.contributions) == (epsilon, contributions)
    at, most = grid(epsilon), -1.0
    for in_one in range(contributions + 1):
        _, rows = draws_of(["a"] * in_one + ["b"] * (contributions - in_one))
        here, there = (
            [math.prod(ps) for ps in itertools.product(*side)]
            for side in zip(*map(masses, without, rows), strict=True)
        )
        excess = largest_excess(here, there, "geometric", epsilon, contributions, at)
        assert excess <= ROUNDING
        most = max(most, excess)
    assert most >= -ROUNDING  # all rows in one group
