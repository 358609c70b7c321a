"""The account of a program of draws: no group spends more than its epsilon, whatever it branches
into, and a program that would is stopped before the draw.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import polars as pl
import pytest

import duffdp
from duffdp._engines.arrays import ArrayEngine, Records
from duffdp._engines.universe import KeyUniverse
from duffdp._pipeline import driver
from duffdp._pipeline.draw_plan import KeyFinding, Terms
from duffdp._sampling.entropy import entropy
from duffdp.statistics.count import Count
from duffdp.statistics.mode import Mode
from duffdp.statistics.program import NOT_DRAWN, Draw, DrawSpec, ReleaseProgram
from duffdp.statistics.quantile import Quantile
from duffdp.statistics.registry import REGISTRY
from inquiries import plan_of

GRID = duffdp.Grid(0, 9, 1)
ONE = Fraction(1)
PERSON = {"unit": "person", "contributions": 2}
COUNT = DrawSpec(Count(), "two-sided-geometric", ("count",))


class Recorded:
    """Entropy that says how often it was asked."""

    secure = False

    def __init__(self):
        self._inner, self.asked = entropy(1), 0

    def words(self, size):
        self.asked += 1
        return self._inner.words(size)

    def below(self, bound):
        self.asked += 1
        return self._inner.below(bound)

    def split(self):
        return self

    def draw(self, call):
        return call.numbers(self)


def engine(sizes=(3, 5)):
    values = np.arange(sum(sizes)) % 10
    begins = np.cumsum(sizes) - sizes
    return ArrayEngine(Records(values, integer=True), GRID, begins, np.array(sizes))


def release(program, *draws, contributions=1, source=None, sizes=(3, 5)):
    """The numbers of a program whose whole epsilon is 1."""
    person = "person" if contributions > 1 else None
    plan = plan_of("count", unit=person, contributions=contributions, domain=GRID)
    made = replace(plan, program=ReleaseProgram(draws or (COUNT,), program))
    return drawn(made, GRID, engine(sizes), source or Recorded())


def drawn(plan, domain, records, source, account=None):
    """The numbers of a plan, whose account has its whole epsilon if none is given."""
    account = account or driver.Account(plan.loss.epsilon)
    return driver.draw_alone(driver.ReleaseRun(plan, domain, records, 0, source, account))


def spend(*epsilons):
    """A program of one count after the other."""

    def program(draws, scope, epsilon):
        columns = []
        for share in epsilons:
            numbers = yield [Draw(Count(), "two-sided-geometric", share)]
            columns += numbers[0]
        return columns

    return program


@pytest.mark.parametrize("shares", [(ONE,), (ONE / 3, ONE / 3, ONE / 3), (ONE / 2,)])
def test_a_program_may_spend_its_epsilon(shares):
    rows = release(spend(*shares))
    assert [len(row) for row in rows] == [len(shares)] * 2


@pytest.mark.parametrize(
    ("shares", "draws"),
    [
        ((ONE + Fraction(1, 10**30),), 0),
        ((ONE / 2, ONE / 2, Fraction(1, 10**30)), 2),
        ((2 * ONE,), 0),
        ((ONE, ONE), 1),
    ],
)
def test_a_program_that_spends_more_is_stopped_before_the_draw(shares, draws):
    """The least too much, in exact fractions; nothing is drawn for it."""
    allowed = Recorded()
    release(spend(*shares[:draws]) if draws else spend(ONE / 2), source=allowed)
    source = Recorded()
    with pytest.raises(driver.Overspent, match="has 1"):
        release(spend(*shares), source=source)
    assert source.asked == (allowed.asked if draws else 0)


def test_draws_that_are_made_together_add_up():
    def program(draws, scope, epsilon):
        half = [Draw(Count(), "two-sided-geometric", ONE / 2)]
        first, second = yield half * 2
        return [*first, *second]

    assert len(release(program)[0]) == 2

    def greedy(draws, scope, epsilon):
        yield [Draw(Count(), "two-sided-geometric", ONE / 2)] * 3

    with pytest.raises(driver.Overspent):
        release(greedy)


def test_groups_that_pay_different_prices_draw_with_their_own():
    """Each mechanism has the epsilon that its groups paid."""
    calls = []

    class Calls(Recorded):
        def draw(self, call):
            calls.append(call)
            return super().draw(call)

    def program(draws, scope, epsilon):
        (columns,) = yield [Draw([Count()] * 2, "two-sided-geometric", [ONE / 4, ONE / 2])]
        return columns

    release(program, source=Calls())
    assert sorted(Fraction(call.mechanism.epsilon) for call in calls) == [ONE / 4, ONE / 2]
    assert all(call.mechanism.epsilon == call.paid for call in calls)


def branching(first_pays):
    """The first group draws once for all of epsilon, the second twice for a half."""

    def program(draws, scope, epsilon):
        half = epsilon / 2
        (first,) = yield [Draw([None, Count()], "two-sided-geometric", half)]
        costs = [first_pays * half, half]
        (second,) = yield [Draw([Count(), Count()], "two-sided-geometric", costs)]
        return [*first, *second]

    return program


def test_groups_may_take_different_branches():
    rows = release(branching(2))
    assert [row[0] == NOT_DRAWN for row in rows] == [True, False]


def test_one_group_that_spends_more_stops_all():
    with pytest.raises(driver.Overspent):
        release(branching(Fraction(21, 10)))


@pytest.mark.parametrize("apart", [(True, True), (False, True), (True, False)], ids=str)
def test_what_a_group_paid_before_counts(apart):
    """Whether it was paid by all groups at the same price or by each at its own."""

    def spend_twice(second):
        def program(draws, scope, epsilon):
            columns = []
            for own, cost in zip(apart, (ONE / 2, second), strict=True):
                costs = [ONE / 4, cost] if own else cost
                (numbers,) = yield [Draw(Count(), "two-sided-geometric", costs)]
                columns += numbers
            return columns

        return program

    assert len(release(spend_twice(ONE / 2))[0]) == 2
    with pytest.raises(driver.Overspent):
        release(spend_twice(ONE / 2 + Fraction(1, 10**30)))


@pytest.mark.parametrize("epsilon", [Fraction(0), -ONE])
def test_what_costs_one_group_nothing_is_no_draw(epsilon):
    """A group could have back what it spent."""

    def program(draws, scope, budget):
        yield [Draw(Count(), "two-sided-geometric", [ONE / 2, epsilon])]

    source = Recorded()
    with pytest.raises(driver.Overspent):
        release(program, source=source)
    assert source.asked == 0


@pytest.mark.parametrize("epsilon", [Fraction(0), -ONE])
def test_what_costs_nothing_is_no_draw(epsilon):
    with pytest.raises(driver.Overspent):
        release(spend(epsilon))


def test_rows_of_a_person_divide_epsilon():
    """Of epsilon 1 for ten rows of a person, one row may cost a tenth."""
    release(spend(ONE / 10), contributions=10)
    with pytest.raises(driver.Overspent, match=r"has 1/10\b"):
        release(spend(ONE / 10 + Fraction(1, 10**30)), contributions=10)


def test_a_release_is_drawn_once():
    """Its account opens each group once, alone and in blocks."""
    plan = replace(plan_of("count", domain=GRID), program=ReleaseProgram((COUNT,), spend(ONE)))
    account, source = driver.Account(plan.loss.epsilon), Recorded()
    drawn(plan, GRID, engine(), source, account)
    asked = source.asked
    with pytest.raises(driver.Overspent, match="twice"):
        drawn(plan, GRID, engine(), source, account)
    assert source.asked == asked
    account = driver.Account(ONE)
    for groups in (np.arange(3), np.arange(3, 5), np.arange(0)):
        account.for_groups(groups, plan.unit)
    for groups in (np.arange(2, 4), np.arange(1), np.arange(9)):
        with pytest.raises(driver.Overspent, match="twice"):
            account.for_groups(groups, plan.unit)


def test_a_program_sees_nothing_of_the_records():
    """Not how many there are either, which statistics may use to choose a faster way."""
    seen = []

    def program(draws, scope, epsilon):
        seen.append(scope)
        (numbers,) = yield [Draw(Count(), "two-sided-geometric", epsilon)]
        return numbers

    release(program, sizes=(3, 5))
    release(program, sizes=(3, 5000))
    assert seen[0] == seen[1]


CODES = KeyUniverse(("code",), (duffdp.Pattern("[ab][01]", false_keys=1),))
PEOPLE = {"unit": "person", "contributions": 3, "groups_per_person": 2}
TOO_MUCH = Fraction(1, 10**30)


def plan_with_keys(statistic, **options):
    """The plan of a release whose keys are found, with epsilon 1."""
    terms = Terms.check(statistic, {"epsilon": 1, **options})
    return terms.plan(GRID, CODES.size, CODES)


@pytest.mark.parametrize("people", [{}, PEOPLE], ids=["rows", "people"])
@pytest.mark.parametrize("statistic", ["count", "median"])
def test_finding_keys_is_paid_before_the_draw(statistic, people):
    """A draw that costs too much by the least, all rows of a person together, finds nothing."""
    plan = plan_with_keys(statistic, **people)
    epsilon = plan.finding.epsilon
    account = driver.Account(epsilon)
    assert driver.find_keys(plan, {1: 10**6}, Recorded(), account)
    source = Recorded()
    with pytest.raises(driver.Overspent):
        driver.find_keys(plan, {1: 10**6}, source, driver.Account(epsilon - TOO_MUCH))
    with pytest.raises(driver.Overspent):
        driver.find_keys(plan, {1: 10**6}, source, account)  # twice for one price
    assert source.asked == 0


def test_keys_are_not_found_after_values():
    """What values may spend was opened for them."""
    plan = plan_with_keys("median")
    account, source = driver.Account(plan.loss.epsilon), Recorded()
    account.for_groups(np.arange(2), plan.unit)
    with pytest.raises(driver.Overspent, match="has 0"):
        driver.find_keys(plan, {1: 10**6}, source, account)
    assert source.asked == 0


@pytest.mark.parametrize("people", [{}, PEOPLE], ids=["rows", "people"])
def test_values_have_what_finding_keys_left(people):
    """Three quarters, divided by the rows of a person, and not the least more."""
    plan = plan_with_keys("median", **people)
    rest = Fraction(3, 4) / (6 if people else 1)
    for cost, enough in ((rest, True), (rest + TOO_MUCH, False)):
        account, source = driver.Account(plan.loss.epsilon), Recorded()
        driver.find_keys(plan, {}, Recorded(), account)
        values = replace(plan, program=ReleaseProgram((COUNT,), spend(cost)))
        if enough:
            assert len(drawn(values, GRID, engine(), source, account)) == 2
        else:
            with pytest.raises(driver.Overspent):
                drawn(values, GRID, engine(), source, account)
            assert source.asked == 0


def test_a_release_that_spends_more_on_keys_stops(monkeypatch):
    """Through the public door: values are not drawn if keys cost more than their share."""
    honest = KeyFinding.row_epsilon
    greedy = property(lambda finding: honest.fget(finding) + TOO_MUCH)
    data = pl.DataFrame({"x": [1, 2], "code": ["a0", "a0"]})
    options = {"column": "x", "by": "code", "keys": CODES.parts[0], "bounds": (0, 9)}
    duffdp.median(data, epsilon=80, **options)
    monkeypatch.setattr(KeyFinding, "row_epsilon", greedy)
    with pytest.raises(driver.Overspent):
        duffdp.median(data, epsilon=80, **options)
    with pytest.raises(driver.Overspent):
        duffdp.count(data, epsilon=80, by="code", keys=CODES.parts[0])


WIDE = duffdp.Grid(0, 10**6, 1)


def release_of(groups, program):
    """The numbers of a program whose whole epsilon is 1, for groups of records on a wide grid."""
    plan = replace(plan_of("count", domain=WIDE), program=ReleaseProgram((COUNT,), program))
    sizes = np.array([len(values) for values in groups])
    records = Records(np.concatenate(groups), integer=True)
    made = ArrayEngine(records, WIDE, np.cumsum(sizes) - sizes, sizes)
    return drawn(plan, WIDE, made, entropy(1))


def test_the_tail_of_a_group_is_its_own():
    """What is looked up while a draw is made: where some groups take no part, too."""

    def program(draws, scope, epsilon):
        asked = Mode()  # the same for both: they are drawn for together
        (found,) = yield [Draw([None, asked, asked], "permute-and-flip", epsilon)]
        return found

    groups = [np.full(400, value) for value in (5, 700_000, 999_999)]
    assert release_of(groups, program) == [(NOT_DRAWN,), (700_000,), (999_999,)]


def test_statistics_that_are_asked_together_get_their_own_answers():
    def program(draws, scope, epsilon):
        asked = [Quantile(Fraction(q, 10)) for q in (1, 5, 9)]
        columns = yield [Draw(each, "exponential", epsilon / 3) for each in asked]
        return [column for (column,) in columns]

    values = np.repeat([3, 500_000, 10**6], 2000)
    assert release_of([values, values // 2], program) == [
        (3, 500_000, 10**6),
        (1, 250_000, 500_000),
    ]


@pytest.mark.parametrize(
    ("statistic", "choice"), [("mean", "clipped"), ("sum", "clipped"), ("variance", "best")]
)
def test_a_share_of_a_program_passes_epsilon_on(statistic, choice):
    """Beside noisy sizes as well: of draws that may get more, no more is said than their sum."""
    alone = plan_of(statistic, choice=choice, domain=WIDE).loss.parts
    beside = plan_of(statistic, choice=choice, domain=WIDE, suppress_below=10).loss.parts
    named = [[part for part in parts if part.family == "pure"] for parts in (alone, beside)]
    assert [len(parts) for parts in named] == [1, 1]
    ((before,), (after,)) = named
    assert (after.epsilon, after.draws) == (before.epsilon * Fraction(9, 10), before.draws)


DOMAINS = (GRID, WIDE)


@pytest.mark.parametrize("domain", DOMAINS, ids=lambda domain: f"{domain.size}")
@pytest.mark.parametrize(
    ("known", "choice"),
    [(known, choice) for known in REGISTRY.values() for choice in known.choices],
    ids=lambda case: case if isinstance(case, str) else case.name,
)
def test_every_program_spends_exactly_its_epsilon_in_every_group(
    known, choice, domain, monkeypatch
):
    """Whatever branch a group takes: no more, and no less, which would be a waste."""
    if known.of_graphs or known.of_pairs:
        pytest.skip("no groups of records")
    example = dict(known.examples[0])
    own = None
    if known.makes_domain:
        own = known.own_domain(known.checked(example))
    if own is not None or known.outputs == "own or categories":
        pytest.skip("cells: one draw")
    plan = plan_of(known.name, example, Fraction(3, 7), choice=choice, domain=domain, **PERSON)
    check_account(plan, domain, monkeypatch)


MANY_QS = tuple(Fraction(i, 32) for i in range(1, 32))


@pytest.mark.parametrize(
    ("statistic", "parameters", "choice", "given"),
    [
        ("quantiles", {"qs": MANY_QS}, "best", {}),
        ("quantiles", {"qs": (0, *MANY_QS, 1)}, "best", {}),
        ("quantiles", {"qs": (0, *MANY_QS)}, "best", {"suppress_below": 10}),
        ("quantiles", {"qs": (0, 0.25, 0.75, 1)}, "duff", {"suppress_below": 10}),
        ("quantiles", {"qs": MANY_QS}, "best", {"interval": 0.9}),
        ("median", {}, "best", {"interval": 0.9, "suppress_below": 10}),
        ("quantile", {"q": 0.99}, "best", {"interval": 0.9, "suppress_below": 10}),
        ("iqr", {}, "best", {"interval": 0.9}),
        ("describe", {}, "best", {"interval": 0.9}),
        ("mean", {}, "clipped", {"suppress_below": 10}),
        ("sum", {}, "clipped", {"suppress_below": 10}),
        ("variance", {}, "best", {"suppress_below": 10}),
    ],
)
def test_what_is_drawn_beside_or_after_others_spends_exactly_epsilon(
    statistic, parameters, choice, given, monkeypatch
):
    """Counts, ends of intervals, extremes and sizes: all of one epsilon."""
    options = {"choice": choice, "domain": WIDE, "groups": 5, **PERSON, **given}
    plan = plan_of(statistic, parameters, Fraction(3, 7), **options)
    check_account(plan, WIDE, monkeypatch)


def check_account(plan, domain, monkeypatch):
    """Draw for groups of several sizes: each spends 3/7 for two rows of a person."""
    paid, account = [], driver.Account(plan.loss.epsilon)

    class Watched(driver.Account):
        def __init__(self, budget, groups):
            super().__init__(budget, groups)
            self.spent = [Fraction(0)] * groups
            self.budget = budget
            paid.append(self)

        def pay(self, draws):
            super().pay(draws)
            for draw in draws:
                for group in range(len(self.spent)):
                    if draw.statistic_of(group) is not None:
                        self.spent[group] += draw.epsilon_of(group)

    monkeypatch.setattr(driver, "Account", Watched)
    sizes = np.array([0, 1, 40, 4000, 3])
    rng = np.random.default_rng(5)
    values = rng.integers(0, domain.size, int(sizes.sum())) // np.repeat([1, 1, 1, 50, 1], sizes)
    begins = np.cumsum(sizes) - sizes
    source = ArrayEngine(Records(values, integer=True), domain, begins, sizes)
    drawn(plan, domain, source, entropy(3), account)
    assert paid
    for account in paid:
        assert account.budget == Fraction(3, 14)
        assert account.spent == [Fraction(3, 14)] * len(account.spent)
