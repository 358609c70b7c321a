"""The least and the largest record, by the record that a public number of others lie beyond: the
distance against a search, the guarantee, and how far answers are off."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction

import numpy as np
import polars as pl
import pytest

import duffdp
import oracle
from cases import SMALL, small_data
from duffdp import Digits, DuffError, Grid
from duffdp.audit.neighbours import largest_loss, neighbours
from duffdp.mechanisms import Exponential, Lattice, PermuteAndFlip
from duffdp.statistics.quantile import Extreme, Quantile
from inquiries import mechanism_of, plan_of, window
from windows import same

INSIDE = [0, 1, 2, 3]


def nth(q, inside):
    """The record with `inside` others beyond it; none if there are too few."""

    def statistic(counts):
        ordered = list(oracle.records(counts))
        ordered = ordered if q == 0 else ordered[::-1]
        return {ordered[inside]} if len(ordered) > inside else set()

    return statistic


def fewest_changes(statistic, data, size):
    """The fewest records to add or remove until the statistic is each of the candidates."""
    here, least = Counter(data), [math.inf] * size
    for there in oracle.data_sets(size, len(data) + 5):
        away = sum(abs(count - here[value]) for value, count in enumerate(there))
        for x in statistic(there):
            least[x] = min(least[x], away)
    return least


@pytest.mark.parametrize("inside", INSIDE)
@pytest.mark.parametrize("q", [0, 1])
def test_the_distance_is_what_a_search_finds(q, inside):
    for data in small_data(4):
        steps = Quantile(q, inside=inside).steps(list(data), SMALL)
        found = np.repeat(steps.distance, steps.count).tolist()
        assert found == fewest_changes(nth(q, inside), data, 4)


@pytest.mark.parametrize("inside", INSIDE)
@pytest.mark.parametrize("q", [0, 1])
def test_below_zero_it_is_one_minus_the_changes_to_leave(q, inside):
    for data in small_data(4):
        signed, distance = (
            np.repeat(s.distance, s.count)
            for s in (Quantile(q, u, inside).steps(data, SMALL) for u in ("signed", "distance"))
        )
        assert (signed[distance > 0] == distance[distance > 0]).all()
        for x in np.flatnonzero(distance == 0).tolist():
            depth = oracle.depth(nth(q, inside), data, 4, x)
            assert signed[x] == 1 - depth if 0 < x < 3 else 1 - depth <= signed[x] <= 0


@pytest.mark.parametrize("inside", INSIDE)
@pytest.mark.parametrize("q", [0, 1])
def test_one_record_moves_it_by_at_most_one(q, inside):
    statistic = Quantile(q, "signed", inside)
    for here, there, _ in neighbours(4, 6):
        one, other = (statistic.steps(list(data), SMALL) for data in (here, there))
        assert max(abs(one.distance_at(x) - other.distance_at(x)) for x in range(4)) <= 1


@pytest.mark.parametrize("mechanism", [Exponential, PermuteAndFlip, Lattice])
@pytest.mark.parametrize("inside", INSIDE)
@pytest.mark.parametrize("q", [0, 1])
def test_loss_is_at_most_epsilon(q, inside, mechanism):
    for domain in (Grid(0, 3, 1), Grid(0.0, 3.0, 2.0**-16)):
        loss = largest_loss(Quantile(q, "signed", inside), mechanism(1.0), domain=domain)
        assert loss <= 1 + 1e-9


def test_the_test_can_fail():
    statistic = Quantile(1, "signed", 2)
    statistic.rate = 2 * statistic.rate
    assert largest_loss(statistic, Exponential(1.0)) > 1.1


@pytest.mark.parametrize("q", [0, 1])
@pytest.mark.parametrize("domain", [Grid(0, 50, 1), Grid(0.0, 50.0), Digits(2)], ids=repr)
def test_windows_are_the_whole_function(q, domain):
    rng = np.random.default_rng(3)
    for n in (0, 1, 5, 40, 400):
        values = np.round(rng.normal(25, 10, n))
        for statistic in (Extreme(q, 1), Extreme(q, 0.05), Extreme(q, 50)):
            for far in (0, 3, 30, 10**6):
                same(statistic.steps(values, domain), window(statistic, values, domain, far))


@pytest.mark.parametrize("size", [121, 2049, 2**30])
@pytest.mark.parametrize("epsilon", [0.3, 1.0, 4.0, 40.0])
def test_an_answer_beyond_all_records_is_rare(size, epsilon):
    """At most one time in fifty as long as there are more records than `inside`."""
    domain = Grid(0, size - 1, 1)
    statistic = Extreme(1, epsilon)
    inside = statistic.inside(domain)
    for values in (np.zeros(inside + 1), np.arange(inside + 1) % 100, np.full(5000, 60)):
        if len(values) <= inside:
            continue
        law = PermuteAndFlip(epsilon).law(statistic.steps(values, domain))
        beyond = law.tail(0, float(values.max()))  # no record is below 0
        assert 0 <= beyond <= 1 / 50


def test_how_far_inside():
    assert Extreme(1, 1).inside(Grid(0, 120, 1)) == math.ceil(2 * math.log(50 * 121)) - 1 == 17
    assert Extreme(0, 1e6).inside(Grid(0.0, 1.0)) == 0
    assert Extreme(0, 0.5).inside(Grid(0, 120, 1)) == 34


def test_a_maximum_far_below_the_bound():
    values = np.random.default_rng(0).integers(0, 201, 1000)
    grid = Grid(0, 2048, 1)
    epsilon = math.log(3)
    error = {}
    for choice in ("best", "duff"):
        seen = duffdp.preview(
            values, statistic="quantile", q=1, epsilon=epsilon, bounds=grid, mechanisms=[choice]
        )
        error[choice] = seen.expected_error(choice)
    assert error["duff"] > 900
    assert error["best"] < 4


def test_more_epsilon_settles_on_the_record():
    values = [-25.0, -3.0, 4.0, 11.5, 30.0]
    for q, record in ((0, -25.0), (1, 30.0)):
        call = {"epsilon": 1e4, "bounds": (-100.0, 100.0)}
        assert duffdp.quantile(values, q, **call).value == pytest.approx(record, abs=1e-9)
    found = duffdp.quantiles(values * 50, [0, 0.5, 1], epsilon=1e4, bounds=(-100.0, 100.0)).value
    assert found == pytest.approx([-25, 4, 30], abs=1e-6)


def test_what_is_paid_and_said():
    data = pl.DataFrame({"x": range(400), "g": ["a", "b"] * 200})
    given = {"epsilon": 1.0, "bounds": (0, 1000), "column": "x", "step": 1}
    release = duffdp.quantile(data, 1, **given)
    (part,) = release.mechanism.parts
    assert (part.utility, part.epsilon) == ("inside", 1)
    several = duffdp.quantiles(data, [0, 0.25, 0.5, 1], **given)
    assert [part.epsilon for part in several.mechanism.parts] == [
        Fraction(1, 4),
        Fraction(1, 2),
        Fraction(1, 4),
    ]
    assert [column.name for column in several.columns] == ["0", "0.25", "0.5", "1"]
    assert several.value == sorted(several.value)
    ends = duffdp.quantiles(data, [0, 1], **given, by="g", keys=["a", "b"])
    assert sum(part.epsilon for part in ends.mechanism.parts) == 1
    many = duffdp.quantiles(data, [i / 30 for i in range(31)], **given)
    assert sum(part.epsilon for part in many.mechanism.parts) == 1
    assert len(many.value) == 31
    person = duffdp.quantile(data.with_columns(p="g"), 0, unit="g", contributions=2, **given)
    assert person.loss.epsilon == 1
    narrow = duffdp.quantile(data, 0, interval=0.9, **given)
    assert narrow.low <= narrow.value <= narrow.high


def test_each_draw_aims_by_its_own_epsilon():
    """By its share, divided by the rows of a person."""
    made = plan_of("quantiles", {"qs": (0, 0.5, 1)}, 3, unit="person", contributions=2)
    parts = made.program.draws
    aimed = [part.statistic.epsilon for part in parts if part.utility == "inside"]
    assert aimed == [Fraction(1, 2)] * 2
    assert [mechanism_of(made, part).epsilon for part in parts] == [0.5, 0.5, 0.5]


def test_the_bound_on_the_distance_counts_from_the_extreme():
    """An answer with d records to the target has at most d and `inside` records beyond it."""
    grid = Grid(0, 1000, 1)
    release = duffdp.quantile(range(400), 1, epsilon=1.0, bounds=grid)
    inside = Extreme(1, 1).inside(grid)
    assert release.distance_bound() > inside
    values = np.arange(400)
    law = Lattice(1.0).law(Extreme(1, 1).steps(values, grid))
    bound = release.distance_bound(0.95)
    within = sum(law.probability(x) for x in range(1001) if np.count_nonzero(values > x) <= bound)
    assert within >= 0.95


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: Quantile(0.5, "signed", 3),
        lambda: Quantile(1, "rank", 3),
        lambda: Quantile(1, inside=-1),
    ],
)
def test_inside_is_for_the_ends(wrong):
    with pytest.raises(DuffError, match="inside must be 0, or above 0"):
        wrong()


def test_an_extreme_is_zero_or_one():
    with pytest.raises(DuffError, match="q must be 0 or 1"):
        Extreme(0.5, 1)


def test_planning_aims_as_a_release_does():
    values = np.random.default_rng(1).integers(0, 100, 500)
    plan = duffdp.epsilon_for(
        values, statistic="quantile", q=1, within=5, probability=0.9, bounds=(0, 1000), step=1
    )
    seen = duffdp.preview(
        values, statistic="quantile", q=1, epsilon=plan.epsilon, bounds=(0, 1000), step=1
    )
    assert seen.tail("best", 5) <= 0.1
