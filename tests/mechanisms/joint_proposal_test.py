"""Drafts of several quantiles, all of them: what is proposed, times the chance that it is accepted,
is the law.
"""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest

import joint_oracle
from duffdp import Grid
from duffdp import _rank_profile as rank_profile
from duffdp.mechanisms.joint import _proposal as proposals
from duffdp.mechanisms.joint._proposal import Proposal, _range_log_sums
from duffdp.statistics import Quantiles
from inquiries import engine_of, evidence
from joint_drafts import Explorer, check


@pytest.fixture
def explored(monkeypatch):
    """All drafts of a proposal, with the choices in its hands replaced by all that they can be."""

    def pick(logs, words, source):
        weights = (np.exp(logs - logs.max()) * proposals.WEIGHT_SCALE).astype(np.int64) + (
            logs > -np.inf
        )
        found = source.choose((weights / weights.sum()).tolist())
        return found, Fraction(int(weights.sum()), int(weights[found]))

    def below(bound, words, source):
        if bound > 2**20:  # whether a size is far: the only choice of so many
            far = source.choose([1 - 1 / bound, 1 / bound])
            return bound - 1 if far else 0
        return source.below(bound)

    monkeypatch.setattr(proposals, "_pick", pick)
    monkeypatch.setattr(proposals, "_below", below)

    def ways(made):
        explorer = Explorer()
        return explorer.ways(lambda: made.draft([0] * 99, explorer))

    return ways


def profile_of(data, size, qs, epsilon, reach=50, records=None):
    grid, asked = Grid(0, size - 1, 1), Quantiles(qs, records)
    near = evidence(asked, engine_of([list(data)], grid), grid, epsilon, reach=reach)
    return near.columns[0].profile(float(epsilon))


HALVES = (Fraction(1, 2), Fraction(3, 4))
TIED = (0, 1, 1, 1, 1, 1, 3, 3)


@pytest.mark.parametrize("epsilon", [Fraction(1, 5), Fraction(2)])
@pytest.mark.parametrize("data", [(), (2,), TIED])
@pytest.mark.parametrize("qs", [HALVES, (Fraction(0), Fraction(1))])
def test_all_drafts_together_are_the_law(explored, qs, data, epsilon):
    made = Proposal(profile_of(data, 4, qs, epsilon), epsilon)
    check(explored, made, joint_oracle.law(data, 4, qs, epsilon), 0.8)


@pytest.mark.parametrize("records", [0, 3, 8, 40])
def test_all_drafts_with_a_size_that_is_known(explored, records):
    epsilon = Fraction(1)
    made = Proposal(profile_of(TIED, 4, HALVES, epsilon, records=records), epsilon)
    law = joint_oracle.law(TIED, 4, HALVES, epsilon, records=Fraction(records))
    check(explored, made, law, 0.8)


@pytest.mark.parametrize("epsilon", [Fraction(1), Fraction(3)])
@pytest.mark.parametrize("records", [None, 5, 12])
def test_windows_that_leave_out_much_of_the_law(explored, epsilon, records):
    """One rank to a side: what lies outside is proposed as a whole, and counted."""
    data, qs = (0, 1, 2, 2, 4, 5, 5, 6), (Fraction(1, 4), Fraction(3, 4))
    profile = profile_of(data, 7, qs, epsilon, reach=1, records=records)
    narrow = profile.low[1] > 0 and profile.high[0] < len(profile.rank)
    assert narrow
    given = None if records is None else Fraction(records)
    law = joint_oracle.law(data, 7, qs, epsilon, records=given)
    check(explored, Proposal(profile, epsilon), law, 1e-9)


def test_sizes_that_leave_out_much_of_the_law(explored, monkeypatch):
    """Hardly any size is weighed: the others come with uniform tuples."""
    monkeypatch.setattr(proposals, "RARE_SIZE_BITS", -40)
    monkeypatch.setattr(rank_profile, "DOMAIN_PIECES", 0.1)
    data, epsilon, qs = (0, 1, 1), Fraction(8), (Fraction(1, 2),)
    made = Proposal(profile_of(data, 3, qs, epsilon), epsilon)
    assert len(made._sizes) <= 3
    assert made._rare_size_bits < 15
    check(explored, made, joint_oracle.law(data, 3, qs, epsilon), 0.5)


@pytest.mark.parametrize("epsilon", [Fraction(1, 5), Fraction(2)])
@pytest.mark.parametrize("data", [(), (2,), (0, 0, 0, 0, 0, 0, 0, 3), TIED])
def test_sizes_that_share_a_pass(explored, monkeypatch, data, epsilon):
    """All sizes but one come from the flat pass, likely as they are: their weights are bounds."""
    monkeypatch.setattr(proposals, "UNLIKELY_NATS", -100.0)
    made = Proposal(profile_of(data, 4, HALVES, epsilon), epsilon)
    assert made._unlikely.sum() == len(made._sizes) - 1 > 3
    check(explored, made, joint_oracle.law(data, 4, HALVES, epsilon), 0.01)


def test_a_tuple_whose_weight_is_nearly_the_bound_of_its_size(explored, monkeypatch):
    """A size above the number of records, and ranks that are too low for it alone: the middle size
    they miss on both sides, so that the flat pass is closest to what it must not fall below.
    """
    monkeypatch.setattr(proposals, "UNLIKELY_NATS", -100.0)
    data, epsilon, qs = (1, 1, 1, 1), Fraction(8), (Fraction(1, 3),)
    made = Proposal(profile_of(data, 4, qs, epsilon), epsilon)
    assert made._middle == 4
    assert made._unlikely[made._sizes.index(6)]
    check(explored, made, joint_oracle.law(data, 4, qs, epsilon), 0.3)


def test_blocks_that_all_layers_share(explored, monkeypatch):
    """Runs whose ranks differ are proposed together."""
    monkeypatch.setattr(rank_profile, "DOMAIN_PIECES", 0.1)
    data, epsilon = (0, 1, 1, 1, 1, 1, 2, 3, 5), Fraction(1)
    made = Proposal(profile_of(data, 6, HALVES, epsilon).cut({}, 1.0, Fraction(1, 4)), epsilon)
    assert min(map(len, made._profile.blocks)) <= len(made._profile.rank) / 2
    check(explored, made, joint_oracle.law(data, 6, HALVES, epsilon), 0.05)


def test_blocks_that_overlap(explored, monkeypatch):
    """Blocks that grow with the distance from a quantile differ from layer to layer."""
    monkeypatch.setattr(rank_profile, "SEPARATION_NATS", -(10**6))
    monkeypatch.setattr(rank_profile, "BLOCK_GROWTH", 3.0)
    monkeypatch.setattr(rank_profile, "DOMAIN_PIECES", 0.1)
    data, epsilon = (0, 1, 1, 1, 1, 1, 2, 3, 5, 5, 5, 6), Fraction(1)
    made = Proposal(profile_of(data, 7, HALVES, epsilon, records=11), epsilon)
    first, second = (set(layer.first.tolist()) for layer in made._layers)
    assert first != second
    law = joint_oracle.law(data, 7, HALVES, epsilon, records=Fraction(11))
    check(explored, made, law, 0.01)


def test_places_that_share_a_run(explored, monkeypatch):
    """Four quantiles of hardly any record: many places in one run, which is cut or is not."""
    qs = tuple(Fraction(i, 5) for i in range(1, 5))
    law = joint_oracle.law((1,), 3, qs, Fraction(1), records=Fraction(1))
    for pieces, least in ((0.1, 0.1), (2, 0.5)):
        monkeypatch.setattr(rank_profile, "DOMAIN_PIECES", pieces)
        made = Proposal(profile_of((1,), 3, qs, Fraction(1), records=1), Fraction(1))
        check(explored, made, law, least)


def test_the_test_of_drafts_can_fail(explored):
    made = Proposal(profile_of(TIED, 4, HALVES, Fraction(1)), Fraction(1))
    with pytest.raises(AssertionError):
        check(explored, made, joint_oracle.law(TIED, 4, HALVES, Fraction(11, 10)), 0.8)


def test_a_refused_draft_makes_windows_wider_and_blocks_finer():
    """And neither changes the size that was drawn before."""
    qs = tuple(Fraction(i, 10) for i in range(1, 10))
    profile = profile_of(range(100), 1000, qs, 1, reach=3, records=7)
    made = Proposal(profile, Fraction(1))
    low = int(profile.low[0])
    blocks = [(-1, low)] + [(low, low + 1)] * 8
    draft = proposals.Draft(Fraction(7), [], [], Fraction(0), Fraction(1), 0, blocks)
    assert made.after(draft)._profile.reach == 6
    run = int(np.argmax(profile.cells))
    draft = proposals.Draft(Fraction(7), [], [], Fraction(0), Fraction(1), 0, [(run, run + 1)] * 9)
    finer = made.after(draft)
    assert len(finer._profile.rank) > len(profile.rank)
    assert finer._sizes == [7]
    beyond = proposals.Draft(Fraction(7), [], [], Fraction(0), Fraction(0), 0, None)
    assert made.after(beyond) is made


def test_pieces_are_the_run_that_was_cut():
    profile = profile_of((3, 3, 3, 3, 3, 900), 1000, HALVES, 1)
    widest = int(np.argmax(profile.cells))
    tied = int(np.flatnonzero(profile.start == 3)[0])
    narrow = int(np.flatnonzero(profile.cells == 3)[0])
    cut = profile.cut({widest: 32, tied: 4, narrow: 16}, 1.0)
    for run, many in ((widest, 32), (tied, 4), (narrow, 3 * 8)):
        begin, end = profile.begin(run), profile.end(run)
        inside = [i for i in range(len(cut.rank)) if begin <= cut.begin(i) and cut.end(i) <= end]
        assert len(inside) == many
        assert cut.begin(inside[0]) == begin
        assert cut.end(inside[-1]) == end
        assert all(cut.end(a) == cut.begin(b) for a, b in itertools.pairwise(inside))
        assert {int(cut.rank[i]) for i in inside} == {int(profile.rank[run])}
    for j in range(2):
        assert cut.begin(int(cut.low[j])) == profile.begin(int(profile.low[j]))
        assert cut.end(int(cut.high[j]) - 1) == profile.end(int(profile.high[j]) - 1)


def test_range_sums_do_not_cancel():
    rng = np.random.default_rng(2)
    for _ in range(50):
        logs = rng.normal(0, 200, 60)
        logs[rng.random(60) < 0.1] = -np.inf
        ends = np.sort(rng.integers(0, 61, (2, 40)), axis=1)
        low, high = np.minimum(*ends), np.maximum(*ends)
        found = _range_log_sums(logs, low, high)
        ranges = zip(low, high, strict=True)
        expected = np.array([np.logaddexp.reduce(logs[a:b], initial=-np.inf) for a, b in ranges])
        there = np.isfinite(expected)
        np.testing.assert_allclose(found[there], expected[there], rtol=1e-9, atol=1e-8)
        assert (found[~there] < logs[np.isfinite(logs)].min() - 20).all()


@pytest.mark.parametrize(
    "bound", [1, 2, 3, 7, 2**24, 2**40 + 5, 2**62 + 1, 2**64, 2**64 + 1, 2**70]
)
def test_a_random_word_favours_no_number(bound):
    """All words that are used fall into whole rounds of the numbers; for others bits are drawn
    anew.
    """

    class Anew:
        def below(self, asked):
            assert asked == bound
            return "anew"

    rounds = 2**64 // bound
    for word in {0, 1, rounds * bound - 1, rounds * bound, 2**64 - 1} - {-1, 2**64}:
        expected = word % bound if word < rounds * bound else "anew"
        words = [5, word]
        assert proposals._below(bound, words, Anew()) == expected
        assert words == [5]  # each word is used once
