"""Several quantiles of many groups, drawn side by side: all drafts together are the law, doubles
decide as exact numbers do, and each group gets its own.
"""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction

import numpy as np
import polars as pl
import pytest

import duffdp
import joint_oracle
from duffdp import Grid
from duffdp._rank_profile import RANK_UNIT
from duffdp._sampling.entropy import entropy
from duffdp.mechanisms import Joint
from duffdp.mechanisms import joint as mechanisms
from duffdp.mechanisms.joint import _grouped_proposal
from duffdp.mechanisms.joint._grouped_proposal import Factor, GroupedDrafts, GroupedProposal
from duffdp.mechanisms.joint._proposal import Proposal
from duffdp.statistics import Quantiles
from duffdp.statistics.statistic import Scope
from inquiries import engine_of, evidence, looking_further, run
from joint_drafts import Explorer, check, chi_squared

HALVES = (Fraction(1, 2), Fraction(3, 4))
QUARTERS = (Fraction(1, 4), Fraction(1, 2), Fraction(3, 4))
TIED = (0, 1, 1, 1, 1, 1, 3, 3)


def near_alone(group, scope, qs, epsilon, reach=None):
    """The ranks near quantiles of a group whose records lie in an engine of their own."""
    engine = engine_of([group], scope.domain)
    made = run(Quantiles(qs).evidence(scope, float(epsilon), reach), engine)
    return looking_further(made, engine).columns[0]


def near(data, size, qs, epsilon, reach=50):
    """Windows around quantiles, however few records there are."""
    scope = Scope(Grid(0, size - 1, 1), max_records=10**6)
    return near_alone(list(data), scope, qs, epsilon, reach)


def near_each(groups, grid, qs, epsilon, reach=None):
    """The ranks near quantiles of every group."""
    return evidence(Quantiles(qs), engine_of(groups, grid), grid, epsilon, reach=reach).columns


class GroupExplorer(Explorer):
    """The same for the drafts of a group."""

    def __init__(self, law: GroupedProposal) -> None:
        self.law = law

    def drafts(self):
        """Every draft with its probability."""
        first = np.zeros(1, dtype=np.int64)
        return self.ways(lambda: GroupedDrafts(self.law, first, self).draft(0))

    def words(self, size):
        """Random words decide about nothing but whether a size is beyond those that are weighed:
        what they decide else is chosen below.
        """
        beyond = 2.0 ** -int(self.law.rare_size_bits[0])
        words = np.zeros(size, dtype=np.uint64)
        words[1] = 0 if self.choose([1 - beyond, beyond]) else 2**64 - 1
        return words


@pytest.fixture
def explored(monkeypatch):
    def pick(weights, holds, words, source):
        top = weights.max()
        whole = (weights[0] / top * _grouped_proposal.WEIGHT_SCALE).astype(np.int64) + holds[0]
        found = source.choose((whole / whole.sum()).tolist())
        return np.array([found]), Factor(whole.sum(keepdims=True), whole[found : found + 1])

    def pick_of_ranges(volume, begin, end, words, source):
        (first,), (last,) = begin, end
        inside = volume[None, first:last]
        at, factor = pick(inside, np.ones_like(inside, dtype=bool), words, source)
        return first + at, factor

    def below(bound, words, source):
        return np.array([source.below(int(bound[0]))])

    monkeypatch.setattr(_grouped_proposal, "_pick", pick)
    monkeypatch.setattr(_grouped_proposal, "_pick_of_ranges", pick_of_ranges)
    monkeypatch.setattr(_grouped_proposal, "below_each", below)
    return lambda law: GroupExplorer(law).drafts()


@pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(2)])
@pytest.mark.parametrize("data", [(), (2,), TIED])
def test_all_drafts_together_are_the_law(explored, data, epsilon):
    law = GroupedProposal([near(data, 4, HALVES, epsilon)], epsilon)
    check(explored, law, joint_oracle.law(data, 4, HALVES, epsilon), 0.1)


def test_all_drafts_of_the_least_and_the_largest_record(explored):
    qs, epsilon = (Fraction(0), Fraction(1)), Fraction(1)
    law = GroupedProposal([near(TIED, 4, qs, epsilon)], epsilon)
    check(explored, law, joint_oracle.law(TIED, 4, qs, epsilon), 0.1)


@pytest.mark.parametrize("epsilon", [Fraction(1)])
def test_windows_that_leave_out_much_of_the_law(explored, epsilon):
    """One rank to a side: what lies outside is proposed as a whole, and counted."""
    data, qs = (0, 1, 2, 3, 3, 4), (Fraction(1, 4), Fraction(3, 4))
    law = GroupedProposal([near(data, 5, qs, epsilon, reach=1)], epsilon)
    assert law.nonempty[0, 0, -1]
    assert law.nonempty[0, 1, 0]
    check(explored, law, joint_oracle.law(data, 5, qs, epsilon), 1e-4)


def test_sizes_that_leave_out_much_of_the_law(explored, monkeypatch):
    """Hardly any size is weighed: the others come with uniform tuples."""
    monkeypatch.setattr(_grouped_proposal, "RARE_SIZE_BITS", -60)
    monkeypatch.setattr(_grouped_proposal, "MIN_WEIGHED_SIZES", 0)
    monkeypatch.setattr(_grouped_proposal, "MAX_WEIGHED_SIZES", 0)
    data, epsilon, qs = (0, 1, 1), Fraction(8), (Fraction(1, 2),)
    law = GroupedProposal([near(data, 3, qs, epsilon)], epsilon)
    assert law.rare_size_bits[0] < 15
    check(explored, law, joint_oracle.law(data, 3, qs, epsilon), 0.05)


@pytest.mark.parametrize("data", [(2,), TIED])
def test_sizes_that_share_a_pass(explored, monkeypatch, data):
    """All sizes but one come from the flat pass, likely as they are: their weights are bounds."""
    monkeypatch.setattr(_grouped_proposal, "MIN_WEIGHED_SIZES", 0)
    monkeypatch.setattr(_grouped_proposal, "MAX_WEIGHED_SIZES", 0)
    epsilon = Fraction(1)
    law = GroupedProposal([near(data, 4, HALVES, epsilon)], epsilon)
    check(explored, law, joint_oracle.law(data, 4, HALVES, epsilon), 0.01)


def test_large_groups_waste_few_drafts():
    """Bounds of sizes get weaker the more records a group has; more sizes are weighed then."""
    rng, epsilon, domain = np.random.default_rng(1), Fraction(1), Grid(-10.0, 10.0)
    qs = [0.01, 0.25, 0.5, 0.75, 0.99]
    tries = []
    for n in (10**3, 10**5):
        groups = [rng.normal(size=n) for _ in range(16)]
        law = GroupedProposal(near_each(groups, domain, qs, 1.0), epsilon)
        assert law.fits.all()
        tries.append(
            sum(GroupedDrafts(law, np.arange(16), entropy(i)).accepted() for i in range(9))
        )
    assert law.weighed_reach > _grouped_proposal.MIN_WEIGHED_SIZES
    assert all(many.sum() > 9 * 16 / 6 for many in tries)


def test_the_test_of_drafts_can_fail(explored):
    law = GroupedProposal([near(TIED, 4, HALVES, Fraction(1))], Fraction(1))
    with pytest.raises(AssertionError):
        check(explored, law, joint_oracle.law(TIED, 4, HALVES, Fraction(11, 10)), 0.01)


@pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(2)])
@pytest.mark.parametrize(("data", "reach"), [((0, 1, 1, 2, 3), 50), (TIED, 50)])
def test_draws_follow_the_law(data, reach, epsilon):
    """Draws of many like groups, and not those of another epsilon."""
    columns = [near(data, 4, QUARTERS, epsilon, reach)] * 4096
    drawn = Counter(map(tuple, Joint(epsilon).release(columns, entropy(7))))
    for steeper in (1, 3):
        law = joint_oracle.law(data, 4, QUARTERS, epsilon * steeper)
        keys = sorted(law)
        expected = np.array([law[key] for key in keys]) * len(columns)
        found, limit = chi_squared(np.array([drawn[key] for key in keys]), expected)
        assert (found < limit) == (steeper == 1)


FINE = Grid(0, 100, 0.001)


def groups(many, rng, sizes=(5, 3000)):
    """Groups of different sizes, ties among them."""
    for i in range(many):
        values = rng.normal(50, 20, rng.integers(*sizes))
        yield np.round(values) if i % 2 else values


@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1), Fraction(8)])
@pytest.mark.parametrize("qs", [QUARTERS, (0.01, 0.25, 0.5, 0.75, 0.99)])
def test_doubles_are_as_close_to_the_exact_chance_as_they_say(qs, epsilon):
    """For all drafts, outside of windows as well; and what is weighed is the score of the
    oracle.
    """
    rng = np.random.default_rng(3)
    columns = near_each(list(groups(40, rng)), FINE, qs, epsilon, math.ceil(20 / epsilon))
    law = GroupedProposal(columns, epsilon)
    which = np.flatnonzero(law.fits)
    assert len(which) > 20
    drafts = GroupedDrafts(law, which, entropy(1))
    chance, slack = drafts._chances()
    for i in range(len(which)):
        draft = drafts.draft(i)
        column = columns[which[i]]
        ranks = tuple(Fraction(rank, RANK_UNIT) for rank in draft.ranks)
        score = joint_oracle.score(ranks, column.total, column.qs, draft.size)
        assert draft.exponent == Fraction(law.log_top[which[i]]) + epsilon / 2 * score
        assert (draft.size * epsilon / 16).denominator == 1
        if draft.ratio:
            top, bottom = draft.ratio.as_integer_ratio()
            exact = math.log(top) - math.log(bottom) - float(draft.exponent)
            assert abs(exact - chance[i]) < slack[i] / 100
            assert exact <= 0
            assert draft.candidates == sorted(draft.candidates)


def test_what_doubles_leave_open_is_decided_exactly(monkeypatch):
    """With a slack that leaves all open: the same drafts are accepted."""
    rng = np.random.default_rng(4)
    columns = near_each(list(groups(60, rng)), FINE, QUARTERS, 1.0)
    law = GroupedProposal(columns, Fraction(1))
    which = np.flatnonzero(law.fits)
    quick = GroupedDrafts(law, which, entropy(2)).accepted()
    monkeypatch.setattr(_grouped_proposal, "DRAFT_SLACK", 2.0**20)
    exact = GroupedDrafts(law, which, entropy(2)).accepted()
    assert quick.tolist() == exact.tolist()
    assert 0.2 < quick.mean() < 1


def test_a_law_that_is_not_covered_stops(monkeypatch):
    columns = [near(TIED, 4, QUARTERS, Fraction(1))] * 64
    monkeypatch.setattr(_grouped_proposal, "WEIGHT_TOLERANCE", -9.0)
    with pytest.raises(ArithmeticError):
        Joint(1).release(columns, entropy(1))


def test_each_group_gets_its_own_and_few_are_left(monkeypatch):
    """More groups than are weighed at once; nearly all of them are drawn side by side."""
    monkeypatch.setattr(mechanisms, "GROUPS_AT_ONCE", 16)
    made, usual = [], Proposal.__init__

    def counted(self, *given):
        made.append(1)
        usual(self, *given)

    monkeypatch.setattr(Proposal, "__init__", counted)
    parts = [10 * i + np.arange(400 + 10 * i) % 9 for i in range(50)]
    found = Joint(2).release(near_each(parts, Grid(0, 499, 1), QUARTERS, 2.0), entropy(1))
    assert [[x // 10 for x in each] for each in found] == [[i] * 3 for i in range(50)]
    made.clear()
    rng = np.random.default_rng(5)
    parts = list(groups(200, rng, (50, 2000)))
    scope = Scope(FINE, len(parts), max(map(len, parts)))
    Joint(1).release([near_alone(part, scope, QUARTERS, 1.0) for part in parts], entropy(1))
    assert len(made) < 10
    # Where an engine answers all at once, windows end nearer to the quantiles of tied records.
    made.clear()
    Joint(1).release(near_each(parts, FINE, QUARTERS, 1.0), entropy(1))
    assert len(made) < 20


@pytest.mark.parametrize("verb", ["quantiles", "describe"])
def test_groups_of_a_frame_are_as_close_as_one_by_one(monkeypatch, verb):
    """The mean error of medians is that of groups that are drawn for one by one."""
    rng = np.random.default_rng(6)
    frame = pl.DataFrame({"g": np.arange(120_000) % 300, "x": rng.normal(size=120_000)})
    more = ([0.25, 0.5, 0.75],) if verb == "quantiles" else ()
    truth = frame.group_by("g", maintain_order=True).agg(pl.col("x").median())["x"].to_numpy()
    errors = []
    for least in (8, 10**6):
        monkeypatch.setattr(mechanisms, "MIN_GROUPED_COLUMNS", least)
        release = getattr(duffdp, verb)(
            *(frame, *more), epsilon=1, bounds=(-10, 10), column="x", by="g", keys=range(300), rng=8
        )
        name = "0.5" if verb == "quantiles" else "50%"
        errors.append(np.abs(release.value[name].to_numpy() - truth).mean())
    assert abs(math.log(errors[0] / errors[1])) < 0.25


def test_an_empty_group_among_many():
    frame = pl.DataFrame({"g": [i % 9 for i in range(900)], "x": [float(i) for i in range(900)]})
    found = duffdp.quantiles(
        frame, [0.25, 0.75], epsilon=1, bounds=(0, 900), column="x", by="g", keys=range(12)
    ).value
    assert len(found) == 12
    assert (found["0.25"] <= found["0.75"]).all()


def test_words_favour_no_number():
    """The words that would are drawn anew."""

    class Anew:
        def below(self, asked):
            return asked - 1

    for bound in (1, 2, 3, 7, 2**40 + 5, 2**62 + 1, 2**63 - 1):
        rounds = 2**64 // bound
        words = sorted({0, 1, rounds * bound - 1, min(rounds * bound, 2**64 - 1), 2**64 - 1})
        expected = [word % bound if word < rounds * bound else bound - 1 for word in words]
        bounds = np.full(len(words), bound, dtype=np.int64)
        found = _grouped_proposal.below_each(bounds, np.array(words, dtype=np.uint64), Anew())
        assert found.tolist() == expected


def test_a_choice_has_the_probability_that_it_is_said_to_have():
    """By the words that lead to each: whole weights, and their sum."""
    weights = np.array([[0.5, 0.0, 1e-30, 0.25]])
    holds = np.array([[True, False, True, True]])
    many = 4096
    words = np.linspace(0, 2**63, many).astype(np.uint64)
    rows = np.ones((many, 1))
    pick, factor = _grouped_proposal._pick(weights * rows, holds & (rows > 0), words, None)
    assert set(pick.tolist()) <= {0, 2, 3}
    whole = {0: 2**40 + 1, 2: 1, 3: 2**39 + 1}
    assert set(factor.top.tolist()) == {sum(whole.values())}
    assert factor.bottom.tolist() == [whole[i] for i in pick.tolist()]
    begin, end = np.zeros(many, dtype=np.int64) + 1, np.zeros(many, dtype=np.int64) + 3
    run, factor = _grouped_proposal._pick_of_ranges(
        np.array([9.0, 1.0, 2.0, 5.0]), begin, end, words, None
    )
    assert set(run.tolist()) == {1, 2}
    assert set(factor.top.tolist()) == {2**40 + 1 + 2**39 + 1}
    assert factor.bottom.tolist() == [{1: 2**39 + 1, 2: 2**40 + 1}[i] for i in run.tolist()]


def test_runs_of_many_groups_add_up_within_64_bits(monkeypatch):
    """However many runs there are: each range gives one of its own."""
    monkeypatch.setattr(_grouped_proposal, "WEIGHT_SCALE", 2**60)
    begin = np.arange(0, 100, 10)
    words = np.linspace(0, 2**63, len(begin)).astype(np.uint64)
    run, factor = _grouped_proposal._pick_of_ranges(
        np.ones(100), begin, begin + 10, words, entropy(1)
    )
    assert ((begin <= run) & (run < begin + 10)).all()
    assert (factor.top == 10 * factor.bottom).all()


def test_weights_that_doubles_do_not_hold_are_left_to_the_other_way():
    """One large group, and small ones whose weights are too near 0."""
    values = [np.full(10**6, 333_333), *[np.arange(50)] * 7]
    qs = [Fraction(i, 20) for i in range(1, 20)]
    asked = near_each(values, Grid(0, 10**6, 1), qs, 10.0)
    with np.errstate(all="ignore"):
        assert not GroupedProposal(asked, Fraction(10)).fits.any()
    # One by one as well, whatever the caller has asked of numpy.
    with np.errstate(all="raise"):
        assert len(Joint(10).release(asked, entropy(1))) == 8


@pytest.mark.parametrize("epsilon", [1e-12, 1e-9])
def test_tiny_epsilons_of_many_groups(epsilon):
    """Blocks of ranks would be wider than whole numbers of 64 bits."""
    asked = near_each([range(40)] * 8, Grid(0, 99, 1), [0.5, 0.501], epsilon)
    assert all(a <= b for a, b in Joint(epsilon).release(asked, entropy(1)))


def test_more_orders_than_64_bits_hold_are_left_to_the_other_way():
    """Without a record all places have one rank, and on one candidate any order."""
    for many in (20, 21):
        qs = tuple(Fraction(i + 1, many + 1) for i in range(many))
        asked = [near((), 2, qs, 1)] * 8
        fits = math.factorial(many) < 2**63
        assert mechanisms.can_group(asked) is fits
        if fits:
            drafts = GroupedDrafts(GroupedProposal(asked, Fraction(1)), np.arange(8), entropy(1))
            drafts.candidates[:] = 0
            drafts._order()
            assert set(drafts._factors[-1].bottom.tolist()) == {math.factorial(many)}
