"""Ends of intervals: private for every epsilon, on the right side as often as promised for every
number of records, and no wider than that needs."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from scipy.special import ndtr
from scipy.stats import binom

from cases import small_data
from duffdp import Grid
from duffdp._engines.requests import GroupedRanks, RanksNear
from duffdp._sampling.entropy import entropy
from duffdp.audit.neighbours import largest_loss
from duffdp.errors import DuffError
from duffdp.mechanisms import Exponential
from duffdp.statistics import quantile_interval
from duffdp.statistics.quantile_interval import IntervalEnd, _no_steeper, endpoint_offset
from inquiries import ask, engine_of, run, scope_of, windows

QS = [0, 0.07, 0.25, Fraction(1, 3), 0.5, 0.9, 1]
COVERS = ["data", "population"]
SIDES = ["low", "high"]
FINE = 2**40
WITHIN = 1 + 1e-9


def end(q, side="low", *, miss=Fraction(1, 40), covers="population", epsilon=Fraction(1, 2)):
    return IntervalEnd(q, side, failure_rate=miss, covers=covers, epsilon=epsilon)


def moved(q, epsilon=Fraction(1, 2), miss=Fraction(1, 40), candidates=FINE, covers="population"):
    q = Fraction(q).limit_denominator(10**6)
    return endpoint_offset(q, Fraction(epsilon), miss, candidates, covers)


def miss_of(steps, epsilon, wrong):
    """The exact probability of an end among the indices from one to another."""
    c = float(epsilon * steps.rate * steps.unit)
    weight = np.exp(-c * (steps.distance - steps.distance.min()))
    last = steps.start + steps.count
    inside = np.clip(np.minimum(last, wrong[1]) - np.maximum(steps.start, wrong[0]), 0, None)
    return float((weight * inside).sum() / (weight * steps.count).sum())


def wrong_side(side, truth, size):
    return (truth + 1, size) if side == "low" else (0, truth)


# Privacy: by enumeration, and by the whole numbers that it rests on.


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("covers", COVERS)
@pytest.mark.parametrize("q", QS)
def test_loss_is_at_most_epsilon(q, covers, side):
    for paid in (Fraction(1, 2), Fraction(5), Fraction(400)):
        for epsilon in (0.5, 5.0):  # whatever the shift was made for
            made = end(q, side, covers=covers, epsilon=paid)
            assert largest_loss(made, Exponential(epsilon)) <= epsilon * WITHIN


@pytest.mark.parametrize("side", SIDES)
def test_the_loss_is_used_up_and_a_larger_one_is_noticed(side):
    made = end(0.5, side, miss=Fraction(2, 5), epsilon=400)  # aimed among few records
    sizes = {"size": 3, "most": 8}
    assert 0.999 < largest_loss(made, Exponential(20), **sizes) / 20 <= WITHIN
    made.unit *= Fraction(51, 50)
    assert largest_loss(made, Exponential(20), **sizes) / 20 > 1.01


@pytest.mark.parametrize("epsilon", [Fraction(1, 100), Fraction(1), Fraction(50)])
@pytest.mark.parametrize("covers", COVERS)
@pytest.mark.parametrize("q", QS)
def test_one_record_moves_the_aim_and_the_safe_end_by_what_is_paid_for(q, covers, epsilon):
    made = moved(q, epsilon, covers=covers)
    share = Fraction(q).limit_denominator(10**6)
    assert made.max_change == max(share, 1 - share) * made.steps_per_rank + made.max_aim_change
    assert made.steps_per_rank % share.denominator == 0
    for begin in (0, 3000, 10**6 - 50, 2**57 - 50):
        found = [made.at(n) for n in range(begin, begin + 2500 if begin < 10**5 else begin + 100)]
        for (aim, safe), (more, farther) in itertools.pairwise(found):
            assert 0 <= more - aim <= made.max_aim_change
            assert 0 <= farther - safe <= made.max_change


def test_a_line_that_rises_too_fast_is_lifted_before():
    knots = (0, 1, 2, 10, 20)
    assert _no_steeper(knots, [0, 5, 5, 30, 31], 3) == [2, 5, 6, 30, 31]
    assert _no_steeper(knots, [9, 5, 5, 6, 5], 1) == [9, 9, 9, 9, 9]


# Coverage: by enumeration, by exact sums over the binomial law, and by simulation.


@pytest.mark.parametrize(("miss", "epsilon"), [(Fraction(1, 40), 1), (Fraction(1, 5), 20)])
@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("q", QS)
def test_the_quantile_of_every_small_data_set_is_covered(q, side, miss, epsilon):
    made = end(q, side, miss=miss, covers="data", epsilon=Fraction(epsilon))
    share = Fraction(q).limit_denominator(10**6)
    worst = 0.0
    for data in small_data(6):
        if data:
            truth = data[max(1, math.ceil(share * len(data))) - 1]
            steps = made.steps(list(data), Grid(0, 3, 1))
            worst = max(worst, miss_of(steps, epsilon, wrong_side(side, truth, 4)))
    assert worst <= miss


def laws(parts, values):
    """All distributions on a few values whose probabilities are multiples of one number."""
    for cut in itertools.combinations(range(parts + values - 1), values - 1):
        edges = (-1, *cut, parts + values - 1)
        yield [Fraction(b - a - 1, parts) for a, b in itertools.pairwise(edges)]


@pytest.mark.parametrize("records", [1, 3, 6])
@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("q", [0.25, 0.5, 0.75])
def test_the_quantiles_of_small_populations_are_covered(q, side, records):
    """Every sample of every population, and every value that is a quantile of it."""
    miss, epsilon = Fraction(1, 5), 20
    made = end(q, side, miss=miss, epsilon=Fraction(epsilon))
    samples = list(itertools.combinations_with_replacement(range(3), records))
    steps = [made.steps(list(sample), Grid(0, 2, 1)) for sample in samples]
    ways = [
        math.factorial(records) / math.prod(math.factorial(s.count(x)) for x in range(3))
        for s in samples
    ]
    for law in laws(8, 3):
        chance = [w * math.prod(law[x] for x in s) for w, s in zip(ways, samples, strict=True)]
        for truth in range(3):
            if sum(law[:truth]) <= q <= sum(law[: truth + 1]):
                wrong = wrong_side(side, truth, 3)
                found = (
                    float(p) * miss_of(s, epsilon, wrong)
                    for p, s in zip(chance, steps, strict=True)
                )
                assert sum(found) <= miss


def largest_miss(made, q, records, epsilon, candidates):
    """What an end misses by at most, exactly: over the binomial law of the records up to the
    quantile, if all candidates beyond it weigh as much as they can, and one before it counts."""
    aim, safe = made.at(records)
    aim, c = aim / made.steps_per_rank, epsilon / 2
    nat = made.max_change / made.steps_per_rank / c
    below = np.arange(records + 1)
    past = below - float(q) * records + aim
    log_right = max(0.0, -c * safe / made.max_change) - math.log(candidates)
    chance = np.where(past <= 0, 1.0, 1 / (1 + np.exp(np.minimum(past / nat + log_right, 700))))
    return float(binom.pmf(below, records, float(q)) @ chance)


RECORDS = [*range(1, 70), *range(70, 400, 7), 999, 1013, 4321, 10_001, 33_333, 100_000]


@pytest.mark.parametrize("candidates", [2, 121, FINE])
@pytest.mark.parametrize("epsilon", [Fraction(1, 20), Fraction(1, 2), Fraction(5, 2), Fraction(30)])
@pytest.mark.parametrize("q", [0.05, 0.5, 0.95])
def test_the_largest_miss_is_what_was_asked_for_at_every_number_of_records(q, epsilon, candidates):
    for miss in (Fraction(1, 40), Fraction(1, 5)):
        made = moved(q, epsilon, miss, candidates)
        found = [largest_miss(made, q, n, float(epsilon), candidates) for n in RECORDS]
        assert max(found) <= miss


def test_an_upper_end_is_a_lower_end_from_above():
    for q in (0.1, 0.9):
        assert end(q).offset(Grid(1, FINE, 1)) == moved(q)
        assert end(q, "high").offset(Grid(1, FINE, 1)) == moved(1 - q)
    assert moved(0.1).at(1000) < moved(0.9).at(1000)


def test_the_largest_miss_is_not_far_below():
    """A twentieth less, and the promise would be broken."""
    for q, n in ((0.5, 1013), (0.9, 4321), (0.5, 100_000)):
        made = moved(q)
        closer = replace(made, aim=tuple(19 * aim // 20 for aim in made.aim))
        assert 0.018 < largest_miss(made, q, n, 0.5, FINE) <= 0.025
        assert largest_miss(closer, q, n, 0.5, FINE) > 0.025


@pytest.mark.parametrize("q", [0.5, 0.9])
@pytest.mark.parametrize("side", SIDES)
def test_two_values_with_the_quantile_between_them(side, q):
    """The whole law of an end, for all records at the quantile or far on its wrong side."""
    records, epsilon, grid = 300, Fraction(1, 2), Grid(0, 10**6, 1)
    made = end(q, side, epsilon=epsilon)
    truth, other = (400_000, 10**6) if side == "low" else (600_000, 0)
    share = q if side == "low" else 1 - q
    found = 0.0
    for at_truth in range(records + 1):
        data = [truth] * at_truth + [other] * (records - at_truth)
        missed = miss_of(made.steps(data, grid), epsilon, wrong_side(side, truth, grid.size))
        found += binom.pmf(at_truth, records, share) * missed
    assert found <= 0.025


# A false alarm has probability 1e-9: a miss of 0.1 on either side, 4000 samples.
SAMPLES, MISS = 4000, Fraction(1, 10)
MOST_MISSES = int(binom.isf(1e-9, SAMPLES, float(MISS)))


@pytest.mark.parametrize("shrunk", [0, 0.25])
def test_samples_are_covered_and_an_interval_that_is_a_quarter_narrower_is_found_out(shrunk):
    records, epsilon, grid, q = 2000, 20, Grid(0, 2**20, 1), 0.5
    rng, source = np.random.default_rng(20), entropy(21)
    misses = dict.fromkeys(SIDES, 0)
    truth = 2**19
    for _ in range(8):
        samples = [rng.integers(0, grid.size, records) for _ in range(SAMPLES // 8)]
        engine = engine_of(samples, grid)
        found = {}
        for side in SIDES:
            made = end(q, side, miss=MISS, epsilon=Fraction(epsilon))
            batch = windows(made, engine, grid, 4.0)
            found[side] = np.array(Exponential(epsilon).release(batch, source))
        low = np.where(found["low"] == grid.size, 0, found["low"])
        high = np.where(found["high"] == grid.size, grid.size - 1, found["high"])
        inward = shrunk * (high - low) / 2
        misses["low"] += int((low + inward > truth).sum())
        misses["high"] += int((high - inward < truth).sum())
    if shrunk:
        assert min(misses.values()) > MOST_MISSES
    else:
        assert max(misses.values()) <= MOST_MISSES


# Width, windows and limits.


def test_ends_are_as_close_as_the_noise_and_the_sample_allow():
    """Ranks to a side, at epsilon 1 for both ends."""
    data, few = moved(0.5, covers="data"), moved(0.5, candidates=121, covers="data")
    assert data.at(1000)[0] / data.steps_per_rank < 39
    assert few.at(1000)[0] / few.steps_per_rank < 18
    for records, ratio in ((200, 3.3), (1000, 2.1), (10_000, 1.4), (100_000, 1.15)):
        sample = 1.96 * math.sqrt(records) / 2
        assert moved(0.5).at(records)[0] / moved(0.5).steps_per_rank < ratio * sample


def test_without_records_nothing_is_told():
    for side, covers in itertools.product(SIDES, COVERS):
        grid = Grid(0, 10**6, 1)
        steps = end(0.5, side, covers=covers).steps([], grid)
        assert miss_of(steps, 0.5, (0, grid.size)) < 0.03


class OneByOne:
    """The ranks of each group as an engine answers them about this group alone."""

    def __init__(self, engine):
        self._engine, self.groups, self.max_records = engine, engine.groups, engine.max_records

    def answer(self, asked):
        return [self._answer(*each) for each in asked]

    def _answer(self, column, groups, request):
        alone = [ask(self._engine, request, [group], column) for group in groups]
        if not isinstance(request, RanksNear):
            return [answer for (answer,) in alone]
        return [
            GroupedRanks.join([ranks.group(0) for ranks in target])
            for target in zip(*alone, strict=True)
        ]


@pytest.mark.parametrize("covers", COVERS)
@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("q", QS)
def test_windows_hold_what_the_whole_holds(q, side, covers):
    rng = np.random.default_rng(5)
    made = end(q, side, covers=covers, epsilon=Fraction(20))
    grid = Grid(0.0, 30.0)
    kinds = [
        np.empty(0),
        np.array([7.0]),
        rng.normal(12, 6, 3000),
        np.rint(rng.normal(12, 6, 900)),
        np.full(40, 9.0),
        np.array([0.0] * 50 + [30.0] * 50),
    ]
    engine = OneByOne(engine_of(kinds, grid))
    batch, scope = windows(made, engine, grid, 1.0), scope_of(engine, grid)._replace(groups=1)
    for i, data in enumerate(kinds):
        whole, cut = made.steps(data, grid), batch[i]
        alone = run(made.windows(scope, 1.0), engine, groups=[i])[0]
        assert whole.distance_of(grid.size) == cut.distance[-1] == cut.distance_of(grid.size)
        assert (cut.start == alone.start).all()
        assert (cut.distance == alone.distance).all()
        tail = cut.tail
        assert cut.count.sum() + (tail.count if tail else 0) == grid.size + 1
        ends = np.unique(np.r_[whole.start, whole.start + whole.count - 1]).tolist()
        for index in ends[:40] + ends[-40:]:
            assert cut.distance_of(index) == whole.distance_of(index)
            if tail and index < grid.size and not tail.first <= index <= tail.last:
                assert whole.distance_of(index) >= tail.floor
        if tail:
            last = tail.candidate(tail.count - 1)
            assert last == (grid.size - 1 if tail.last < grid.size - 1 else tail.first - 1)
    assert any(batch[i].tail for i in range(len(kinds)))


def test_an_epsilon_that_whole_numbers_cannot_hold_is_refused():
    with pytest.raises(DuffError, match="larger epsilon"):
        end(Fraction(1, 10**6 - 1), epsilon=Fraction(1, 10**12))
    least = end(0.5, epsilon=Fraction(1, 10**12)).offset(Grid(0, 2**60, 1))
    assert 2**40 < max(*least.aim, *map(abs, least.safe)) < 2**62


def test_the_normal_bound_is_an_upper_bound():
    places = np.random.default_rng(3).uniform(-12, 12, 200_000)
    bound = np.interp(places, quantile_interval.NORMAL_AT, quantile_interval.NORMAL_CDF)
    assert (bound >= ndtr(places) * (1 - 1e-12)).all()
    assert (bound - ndtr(places)).max() < 1e-6
