"""Widths of intervals: private for every epsilon, wide enough for every data set as often as
promised, and no wider than that needs."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from covering import every_pair
from duffdp import Grid
from duffdp.audit.neighbours import largest_loss
from duffdp.errors import DuffError
from duffdp.mechanisms import PermuteAndFlip
from duffdp.statistics import interval_width
from duffdp.statistics.interval_width import IntervalWidth
from inquiries import engine_of, plan_of, run, scope_of

SMALL = Grid(0, 5, 1)
QS = [0, 0.05, 0.25, Fraction(1, 3), 0.5, 0.9, 1]
SIDES = ["both", "low", "high"]
QUARTILES = [Fraction(1, 4), Fraction(1, 2), Fraction(3, 4)]
WITHIN = 1 + 1e-9


def width_of(qs, values, *, miss=Fraction(1, 20), epsilon=1, sides="both"):
    given = {"failure_rate": miss, "epsilon": Fraction(epsilon), "sides": sides}
    return IntervalWidth(qs, [[value] for value in values], **given)


def data_sets(most, size=6):
    for records in range(1, most + 1):
        yield from itertools.combinations_with_replacement(range(size), records)


def exact(data, q):
    return data[max(1, math.ceil(Fraction(q).limit_denominator(10**6) * len(data))) - 1]


def largest_miss(width, most=5, domain=SMALL):
    """The largest probability, over data sets, that some interval misses its quantile."""
    half_widths, values = width.half_widths(domain)[:, 0], width.values[:, 0]
    low, high = values[:, None] - half_widths, values[:, None] + half_widths
    low = low if width.sides != "high" else np.full_like(low, -1)
    high = high if width.sides != "low" else np.full_like(high, domain.size)
    largest = 0.0
    for data in data_sets(most, domain.size):
        truth = np.array([exact(data, q) for q in width.qs])[:, None]
        failing = ((truth < low) | (truth > high)).any(axis=0)
        law = PermuteAndFlip(width.epsilon).law(width.steps(list(data), domain))
        probability = [law.probability(i) for i in np.flatnonzero(failing).tolist()]
        largest = max(largest, math.fsum(probability))
    return largest


# Privacy: all data sets of up to four records on six values, and those with one more.


@pytest.mark.parametrize("sides", SIDES)
@pytest.mark.parametrize("q", QS)
def test_loss_is_at_most_epsilon(q, sides):
    # Whatever the aim was chosen for: what was paid is not the epsilon of the draw.
    for value, paid, epsilon in ((0, 1, 0.5), (2, Fraction(1, 2), 4.0), (3, 8, 0.5)):
        width = width_of([q], [value], epsilon=paid, sides=sides)
        loss = largest_loss(width, PermuteAndFlip(epsilon), domain=SMALL, size=6, most=4)
        assert loss <= epsilon * WITHIN


@pytest.mark.parametrize("values", [(0, 0, 0), (1, 2, 2), (0, 1, 5), (2, 3, 4)])
def test_loss_of_one_width_for_several_quantiles(values):
    for epsilon in (0.5, 3.0):
        width = width_of(QUARTILES, values, epsilon=Fraction(epsilon))
        loss = largest_loss(width, PermuteAndFlip(epsilon), domain=SMALL, size=6, most=4)
        assert loss <= epsilon * WITHIN


def test_the_loss_is_used_up_and_a_larger_one_is_noticed():
    width = width_of([0.5], [2])
    cases = {"domain": SMALL, "size": 6, "most": 4}
    assert 0.999 < largest_loss(width, PermuteAndFlip(1.0), **cases) <= WITHIN
    width.unit *= Fraction(51, 50)
    assert largest_loss(width, PermuteAndFlip(1.0), **cases) > 1.01


# Coverage: the whole law on every data set of up to five records on six values.


PROMISES = [(0.05, 1), (0.3, 3), (0.3, Fraction(1, 2))]


@pytest.mark.parametrize(("q", "sides", "promise"), every_pair(QS, SIDES, PROMISES))
def test_every_small_data_set_is_covered(q, sides, promise):
    miss, epsilon = promise
    for value in (0, 1, 3):
        width = width_of([q], [value], miss=Fraction(str(miss)), epsilon=epsilon, sides=sides)
        assert largest_miss(width, most=4) <= miss


@pytest.mark.parametrize("values", [(0, 0, 0), (0, 1, 5), (2, 3, 4)])
def test_several_quantiles_are_covered_together(values):
    for epsilon in (1, 3):
        assert largest_miss(width_of(QUARTILES, values, epsilon=epsilon)) <= 0.05


def test_a_nearer_aim_would_be_noticed(monkeypatch):
    values = range(6)
    assert 0.04 < max(largest_miss(width_of([0.5], [value]), 4) for value in values) <= 0.05
    limits = interval_width._score_limits

    def nearer(*given):
        return limits(*given)._replace(aim=limits(*given).aim * 2 // 3)

    monkeypatch.setattr(interval_width, "_score_limits", nearer)
    assert max(largest_miss(width_of([0.5], [value]), 4) for value in values) > 0.05


@pytest.mark.parametrize("epsilon", [Fraction(1, 1000), Fraction(1), Fraction(30), Fraction(5000)])
@pytest.mark.parametrize("miss", [1e-9, 0.05, 0.3, 0.5, 0.999])
def test_worst_profiles_of_what_widths_spare(epsilon, miss):
    """The law for any records to spare that rise with the width, where the first ones fail."""
    limits = interval_width._score_limits(epsilon, Fraction(miss), 12)
    rng, c = np.random.default_rng(1), float(epsilon / 2 / interval_width.STEPS_PER_RECORD)
    for _ in range(200):
        failing = int(rng.integers(1, 12))  # 11: the next width reaches the bounds
        scale = limits.aim * rng.choice([0.5, 1, 2, 3])
        spare = np.sort(rng.uniform(0, scale, 12 - failing)).astype(np.int64) + 1
        spare = np.concatenate([-rng.integers(0, 2, failing), spare])
        spare[-1] = limits.beyond
        spare = np.sort(spare)
        before = np.append(-limits.beyond, spare[:-1])
        score = np.maximum(limits.aim - spare, before - limits.aim)
        score = score - limits.offset * np.arange(12)
        log_weight = -c * (score - score.min())
        y = (np.arange(20_000) + 0.5) / 20_000  # exp(-noise) of the winner
        lose = 1 - np.exp(log_weight)[:, None] * y
        whole = np.prod(lose, axis=0)
        chance = (np.exp(log_weight)[:, None] * whole / lose).mean(axis=1)
        assert chance.sum() == pytest.approx(1, abs=1e-3)
        assert chance[:failing].sum() <= miss + 1e-3 * chance[:failing].sum() + 1e-12


# Counting: windows of ranks are enough, for one group and for several.


@pytest.mark.parametrize("qs", [[0.5], [0.9], QUARTILES])
def test_scores_from_a_window_are_those_of_all_records(qs):
    rng, domain = np.random.default_rng(2), Grid(0, 2**30, 1)
    for records in (0, 1, 30, 20_000):
        for spread in (2**29, 40):
            data = 2**29 + rng.integers(-spread, spread, records)
            values = sorted(rng.choice([0, 2**29, 2**29 + 5, 2**30], len(qs)).tolist())
            width = width_of(qs, values, epsilon=20)
            engine = engine_of([data], domain)
            found = run(width.evidence(scope_of(engine, domain), 20.0), engine)[0]
            assert found.distance.tolist() == width.steps(data, domain).distance.tolist()


def test_groups_have_values_and_scores_of_their_own():
    rng, domain = np.random.default_rng(3), Grid(0, 2**20, 1)
    groups = [rng.integers(0, 2**20, size) for size in (0, 5, 3000, 700, 20_000)]
    values = np.sort(rng.integers(0, 2**20, (3, len(groups))), axis=0)
    every = IntervalWidth(QUARTILES, values, failure_rate=0.05, epsilon=8)
    engine = engine_of(groups, domain)
    found = run(every.evidence(scope_of(engine, domain), 8.0), engine)
    for i, group in enumerate(groups):
        alone = width_of(QUARTILES, values[:, i], epsilon=8).steps(group, domain)
        assert found[i].distance.tolist() == alone.distance.tolist()


def test_narrow_quantiles_get_narrow_intervals():
    width = IntervalWidth(QUARTILES, [[0, 5], [10, 5], [90, 5]], failure_rate=0.05, epsilon=1)
    table = width.half_widths(Grid(0, 99, 1))
    assert table.shape == (3, 2, width.outputs(Grid(0, 99, 1)).size)
    assert table[:, 0, 7].tolist() == [8, 36, 64]  # gaps of 20, 90 and 160
    assert table[:, 1, 7].tolist() == [64, 64, 64]
    assert (table[:, :, -1] >= 99).all()


def test_an_epsilon_that_is_too_small():
    with pytest.raises(DuffError, match=r"so small an epsilon, 1e-20. Pass a larger epsilon"):
        width_of([0.5], [1], epsilon=Fraction(1, 10**20)).steps([1], SMALL)


@pytest.mark.parametrize(
    ("q", "utilities"), [(0.5, ["width"]), (0.1, ["width"]), (0.95, ["width", "width"])]
)
def test_outer_quantiles_have_a_width_for_each_side(q, utilities):
    draws = plan_of("quantile", {"q": q}, interval=0.95).program.draws
    widths = [draw for draw in draws if draw.utility == "width"]
    assert sum(draw.share for draw in draws[: -len(widths)]) == Fraction(1, 2)
    assert [draw.utility for draw in widths] == utilities
    assert [draw.share for draw in widths] == [Fraction(1, 2 * len(widths))] * len(widths)


def test_draws_follow_the_law():
    """A million draws would be needed to see the fourth digit; two are told apart."""
    width = width_of([0.5], [3])
    steps = width.steps([0, 1, 3, 3, 4, 5] * 3, SMALL)
    law, draws = PermuteAndFlip(1).law(steps), 20_000
    found = np.bincount(PermuteAndFlip(1).draw(steps, draws, rng=3), minlength=steps.domain.size)
    expected = np.array([law.probability(i) for i in range(steps.domain.size)])
    error = np.abs(found / draws - expected)
    assert (error <= 6.2 * np.sqrt(expected / draws) + 40 / draws).all()
