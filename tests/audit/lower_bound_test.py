"""The auditor from the outside: real releases by the public verbs, of which an event is counted.
No release may show more than its epsilon, and one that spends more must be found out.
"""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from scipy import stats

import duffdp
from duffdp.audit import cases as releases
from duffdp.audit.cases import release_cases
from duffdp.audit.lower_bound import LowerBound, lower_bound
from duffdp.statistics.registry import REGISTRY

CASES = list(release_cases(duffdp))
FALSE_ALARM = 1e-6  # of the whole file
SURE = 1 - FALSE_ALARM / (2 * len(CASES))
DRAWS = 600
SLOW = {"describe": 200, "quantiles": 240, "slope": 400, "triangles": 240, "stars": 240}
# How many times its epsilon a release must spend to be found out by so few draws. The slow ones
# have fewer draws, and numbers that say little about one record each.
FOUND_AT = {"describe": 64, "quantiles": 64, "slope": 64, "variance": 64, "std": 64}


def draws(case):
    return SLOW.get(case.spec.name, DRAWS)


def test_every_statistic_mechanism_and_kind_of_neighbour_is_there():
    for known in REGISTRY.values():
        own = [case for case in CASES if case.spec is known]
        families = {"edge"} if known.of_graphs else {"row", "group", "person"}
        assert {case.family for case in own} == families
        assert len(own) == len(known.examples) * len(known.choices) * len(families)
    assert len(CASES) >= 100


def in_turn():
    """Every statistic with each of its mechanisms, for groups and for people in turn, and those
    with one mechanism for both."""
    others = [case for case in CASES if case.family != "row"]
    for known in REGISTRY.values():
        own = [case for case in others if case.spec is known]
        by_family = {}
        for case in own:
            by_family.setdefault(case.family, []).append(case)
        for at, same in enumerate(zip(*by_family.values(), strict=True)):
            yield from same if len(own) == len(by_family) else [same[at % len(same)]]


ARRAYS = [case for case in CASES if case.family == "row"]


@pytest.mark.parametrize("case", [*ARRAYS, *in_turn()], ids=str)
def test_no_release_shows_more_than_its_epsilon(case):
    many = draws(case) // (2 if case.family == "row" else 1)
    assert case.lower_bound(1.0, many).epsilon(SURE) <= 1.0


@pytest.mark.parametrize("case", list(in_turn()), ids=str)
def test_a_release_that_spends_more_is_found_out(case):
    """The same verb with a multiple of the epsilon that is claimed: what a forgotten share, a wrong
    rate or a wrong cap would be. Each mechanism is attacked in groups or of people: how epsilon is
    shared among them does not depend on the mechanism (`neighbours_test.py` has the whole product,
    without draws).
    """
    spent = FOUND_AT.get(case.spec.name, 16)
    assert case.lower_bound(spent, draws(case)).epsilon(SURE) > 1.0


def test_an_array_that_spends_more_is_found_out():
    for case in CASES:
        if case.family == "row" and case.spec.name in ("median", "mean", "count"):
            assert case.lower_bound(16, DRAWS).epsilon(SURE) > 1.0, case


def test_twice_the_epsilon_is_found_out_by_enough_draws():
    (case,) = (c for c in CASES if str(c) == "count() by group")
    assert case.lower_bound(1.0, 20_000).epsilon(SURE) <= 1.0
    assert case.lower_bound(2.0, 20_000).epsilon(SURE) > 1.0


@pytest.mark.parametrize("confidence", [0.95, 1 - 1e-8])
def test_the_bound_is_that_of_clopper_and_pearson(confidence):
    """Both ends by their definition: the probability at which so many, or so few, would be as rare
    as half of what may be missed.
    """
    for seen, beside in ((50, 3), (1, 1), (100, 0), (99, 99)):
        least, most = stats.binomtest(seen, 100), stats.binomtest(beside, 100)
        low = least.proportion_ci(confidence, method="exact").low
        high = most.proportion_ci(confidence, method="exact").high
        found = LowerBound(seen, 100, beside, 100).epsilon(confidence)
        assert found == pytest.approx(math.log(low / high), rel=1e-6)
    assert LowerBound(0, 100, 50, 100).epsilon(confidence) == -math.inf
    assert LowerBound(50, 100, 100, 100).epsilon(confidence) < 0


def test_a_bound_misses_as_rarely_as_it_says():
    """All counts of two coins, by their exact law: how often the bound is above the truth."""
    one, other, many = 0.6, 0.3, 40
    truth, missed = math.log(one / other), 0.0
    for a, b in product(range(many + 1), repeat=2):
        if LowerBound(a, many, b, many).epsilon(0.9) > truth:
            missed += stats.binom.pmf(a, many, one) * stats.binom.pmf(b, many, other)
    assert 0 < missed <= 0.1


def test_draws_that_chose_the_event_do_not_count_it():
    """Of fair dice the best event is far from even where it was chosen, and not elsewhere."""
    rng = np.random.default_rng(1)
    above = 0
    for _ in range(200):
        here, there = rng.integers(0, 32, (2, 400, 1)).astype(float)
        above += lower_bound(here, there).epsilon(0.95) > 0
    assert above <= stats.binom.isf(1e-9, 200, 0.05)
    # Draws that choose an event differ as much as they can, those that count it not at all.
    here = np.tile([[1.0], [0.0]], (200, 1))
    assert lower_bound(here, np.zeros((400, 1))).epsilon(0.95) <= 0


def test_several_numbers_tell_more_than_one():
    """Four numbers with a little each: together they are found out, one by one they are not."""
    rng = np.random.default_rng(2)
    here, there = rng.binomial(1, 0.35, (4000, 4)) * 1.0, rng.binomial(1, 0.65, (4000, 4)) * 1.0
    alone = max(lower_bound(here[:, [i]], there[:, [i]]).epsilon() for i in range(4))
    assert lower_bound(here, there).epsilon() > 1.3 > 0.9 > alone


def test_the_direction_and_the_size_do_not_matter():
    here = np.repeat([0.0, 1.0], [900, 100])[:, None]
    there = np.repeat([0.0, 1.0], [50, 450])[:, None]
    rng = np.random.default_rng(3)
    here, there = rng.permutation(here), rng.permutation(there)
    forth, back = lower_bound(here, there), lower_bound(there, here)
    assert forth.epsilon() > 1.5
    assert back.epsilon() > 1.5
    with pytest.raises(duffdp.DuffError, match="the same columns"):
        lower_bound(here, np.ones((3, 2)))


def test_the_command(call):
    code, out, _ = call("audit", "--lower-bound", "--draws", "8")
    assert code == 0
    assert out.count(" ok\n") == len(CASES)
    assert "real releases" in out
    assert call("audit", "--lower-bound", "--draws", "1")[0] == 2


def test_the_command_can_fail(call, monkeypatch):
    """Counts whose noise is for a hundred times the epsilon that was asked for."""
    true = duffdp.count
    spends = lambda *data, epsilon, **given: true(*data, epsilon=100 * epsilon, **given)  # noqa: E731
    monkeypatch.setattr(duffdp, "count", spends)
    monkeypatch.setattr(releases, "REGISTRY", {"count": REGISTRY["count"]})
    code, out, _ = call("audit", "--lower-bound", "--draws", "400", "--processes", "1")
    assert code == 1
    assert out.count("FAILED\n") == 3
    assert "do not release with this installation" in out
