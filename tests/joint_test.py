"""Several quantiles at once: the law against all neighbours, draws against the law, windows, ties,
bad input.
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

import duffdp
import joint_oracle
from cases import small_data
from duffdp import DuffError, Grid
from duffdp.engines.arrays import Column, read
from duffdp.mechanisms import Joint
from duffdp.mechanisms.joint import proposal as proposals
from duffdp.mechanisms.joint.proposal import Proposal, range_log_sums
from duffdp.pipeline.draw import wide_profile
from duffdp.rank_profile import FINEST, UNIT, part_count, part_ranks
from duffdp.sampling.entropy import entropy
from duffdp.sampling.lazy_uniform import happens
from duffdp.statistics import Quantiles
from duffdp.statistics.quantiles import read_qs

HALF, QUARTERS = (Fraction(1, 2),), (Fraction(1, 4), Fraction(1, 2), Fraction(3, 4))
QS = [HALF, (Fraction(1, 10), Fraction(1, 5)), (Fraction(0), Fraction(1)), QUARTERS]


def column(data, size):
    return Column(read(list(data)), Grid(0, size - 1, 1))


def proposal_of(epsilon, column, qs):
    joint = Joint(epsilon)
    return joint.proposal(wide_profile(joint, Quantiles(qs), column))


@pytest.mark.parametrize("epsilon", [Fraction(3, 10), Fraction(1), Fraction(3), Fraction(12)])
@pytest.mark.parametrize("qs", QS)
def test_loss_over_all_neighbours(qs, epsilon):
    """Up to five records on three values: ties of four and five are split into parts."""
    laws = {data: joint_oracle.law(data, 3, qs, epsilon) for data in small_data(5, 3)}
    for data, here in laws.items():
        if len(data) < 5:
            for x in range(3):
                there = laws[tuple(sorted((*data, x)))]
                loss = max(abs(math.log(here[t] / there[t])) for t in here)
                assert loss <= float(epsilon) * (1 + 1e-9)


@pytest.mark.parametrize("qs", [*QS, (Fraction(1, 10), Fraction(3, 10), Fraction(9, 10))])
def test_sensitivity_with_a_free_and_with_the_true_size(qs):
    """With any fixed size the score moves by at most 1, and by 1. With the size at n it moves by up
    to 2 (1 - smallest share), up and, for shares that n records can fill, down: no smaller constant
    will do, and none below 1 for a free size."""
    smallest = min(b - a for a, b in itertools.pairwise((Fraction(0), *qs, Fraction(1))))
    free, true = [], []
    for n in range(9):
        # Every way to put n records, and one more, between the places.
        for gaps in itertools.product(range(n + 1), repeat=len(qs)):
            if sum(gaps) <= n:
                full = [*gaps, n - sum(gaps)]
                for i in range(len(full)):
                    more = [g + (i == j) for j, g in enumerate(full)]
                    scores = [
                        joint_oracle.score(
                            tuple(Fraction(r) for r in itertools.accumulate(g))[:-1],
                            sum(g),
                            qs,
                            Fraction(s),
                        )
                        for g, s in ((full, 5), (more, 5), (full, n), (more, n + 1))
                    ]
                    free.append(scores[1] - scores[0])
                    true.append(scores[3] - scores[2])
    assert max(map(abs, free)) == 1
    assert max(map(abs, true)) <= 2 * (1 - smallest)
    assert max(true) >= Fraction(9, 10) * 2 * (1 - smallest)
    if qs in (HALF, QUARTERS):  # a gap can miss a whole record only if its share of n is a record
        assert max(true) == -min(true) == 2 * (1 - smallest)


def test_one_more_record_adds_a_rising_function_from_0_to_1():
    """Whatever the number of records at a value, at the resolution of 256 parts."""
    fine = np.arange(256)
    last = np.zeros(256, dtype=np.int64)
    for records in range(1, 1000):
        many = np.full(256, records)
        here = part_ranks(many, fine * part_count(many) // 256)
        added = here - last
        assert added.min() >= 0
        assert added.max() <= UNIT
        assert (np.diff(added) >= 0).all()
        if records < 40:
            expected = [
                joint_oracle.before(records, Fraction(int(i), 256)) * UNIT for i in fine[::7]
            ]
            assert here[::7].tolist() == expected
        last = here


def chi_squared(drawn, expected):
    """The statistic, with cells of less than 5 expected joined into one, and its limit at a
    false-alarm rate of 1e-9.
    """
    rare = expected < 5
    seen, wanted = (
        np.append(drawn[~rare], drawn[rare].sum()),
        np.append(expected[~rare], expected[rare].sum()),
    )
    freedom = len(seen) - 1
    return ((seen - wanted) ** 2 / np.maximum(wanted, 1e-9)).sum(), freedom + 9 * math.sqrt(
        2 * freedom
    ) + 20


def compare(proposal, data, size, qs, epsilon, draws, seed=1):
    source, law = entropy(seed), joint_oracle.law(tuple(sorted(data)), size, qs, epsilon)
    keys = sorted(law)
    place = {key: i for i, key in enumerate(keys)}
    counts = np.bincount(
        [place[tuple(proposal.release(source))] for _ in range(draws)], minlength=len(keys)
    )
    return chi_squared(counts, np.array([law[key] for key in keys]) * draws)


@pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(2)])
@pytest.mark.parametrize("data", [(), (1,), (0, 1, 1, 2, 3), (0, 1, 1, 1, 1, 1, 2, 3)])
@pytest.mark.parametrize("qs", QS)
def test_draws_follow_the_law(qs, data, epsilon):
    found, limit = compare(proposal_of(epsilon, column(data, 4), qs), data, 4, qs, epsilon, 1500)
    assert found < limit


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


def test_the_test_of_draws_can_fail():
    data, qs = (0, 1, 1, 2, 3, 3), QUARTERS
    found, limit = compare(proposal_of(2.0, column(data, 4), qs), data, 4, qs, Fraction(3), 3000)
    assert found > limit


@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1), Fraction(30)])
@pytest.mark.parametrize("reach", [1, 50])
def test_every_draw_is_weighed_by_its_score_at_the_stated_epsilon(monkeypatch, epsilon, reach):
    """What a draw is accepted with is exp(-epsilon/2 score) of the oracle, exactly, inside the
    windows and outside.
    """
    data, qs = (0, 0, 2, 3, 3, 3, 3, 5, 6), QUARTERS
    weighed, proposed = [], []

    def recorded(exponent, ratio, *_):
        weighed.append(exponent)
        return True

    for name in ("_inside", "_outside"):
        original = getattr(Proposal, name)

        def wrapped(self, *bits, original=original):
            found = original(self, *bits)
            if found is not None:
                proposed.append((found[0], found[2]))
            return found

        monkeypatch.setattr(Proposal, name, wrapped)
    monkeypatch.setattr(proposals, "happens", recorded)
    joint, source = Joint(epsilon), entropy(2)
    profile = Quantiles(qs).profile(column(data, 7), reach)
    tops = set()
    for _ in range(40):
        found = joint.release(profile, source)
        size, places = proposed[-1]
        assert found == [cell for cell, _ in places]
        ranks = tuple(Fraction(rank, UNIT) for _, rank in places)
        score = joint_oracle.score(ranks, len(data), qs, 16 * size / epsilon)
        tops.add(weighed[-1] - epsilon / 2 * score)
    assert len(tops) == 1  # the same constant for all


def test_above_the_largest_epsilon_the_law_is_that_of_the_largest():
    data, sizes = (0, 1, 1, 2, 3), []
    for epsilon in (64, 65, 10**6):
        joint = Joint(epsilon)
        assert joint.epsilon == epsilon
        profile = Quantiles(HALF).profile(column(data, 4), joint.first_reach(1, 5))
        proposal = joint.proposal(profile)
        sizes.append((proposal._epsilon, proposal.bits, proposal._log_top))
    assert sizes[0] == sizes[1] == sizes[2]
    assert sizes[0][0] == 64


@pytest.mark.parametrize(
    ("epsilon", "nats", "draws"), [(3, 6.0, 3000), (3, 4.0, 1500), (1, 2.5, 500)]
)
def test_narrow_windows_leave_the_law_as_it_is(epsilon, nats, draws):
    """Windows and sizes that leave out much of the law: the uniform proposal makes up for it."""
    data, qs = (0, 0, 2, 3, 3, 3, 3, 5, 6), (Fraction(1, 4), Fraction(3, 4))
    profile = Quantiles(qs).profile(column(data, 7), 1)
    assert all(epsilon / 2 * away / (3 / 4) >= nats for away in profile.away)
    proposal = Proposal(profile, Fraction(epsilon), nats)
    assert proposal.bits < 0
    found, limit = compare(proposal, data, 7, qs, Fraction(epsilon), draws)
    assert found < limit


def test_joined_runs_leave_the_law_as_it_is():
    """At a small epsilon neighbouring runs are proposed together."""
    data, qs, epsilon = (
        (0, 1, 2, 2, 2, 2, 4, 6, 6),
        (Fraction(1, 3), Fraction(2, 3)),
        Fraction(1, 5),
    )
    proposal = proposal_of(epsilon, column(data, 7), qs)
    assert proposal._blocks.spread > 0
    found, limit = compare(proposal, data, 7, qs, epsilon, 4000)
    assert found < limit


def test_the_finest_parts_rise_as_well():
    """Where parts are doubled for the last times, and far beyond."""
    places = np.random.default_rng(4).integers(0, 2**FINEST, 500)
    places.sort()
    for records in (2**23, 2**25 - 1, 2**25, 2**25 + 1, 2**30):
        before, after = (
            part_ranks(many, places * part_count(many) >> FINEST)
            for many in (np.full(500, records - 1), np.full(500, records))
        )
        added = after - before
        assert 0 <= added.min() <= added.max() <= UNIT
        assert (np.diff(added) >= 0).all()


def test_windows_of_a_large_array_hold_the_runs_of_the_whole():
    rng = np.random.default_rng(5)
    data = np.round(rng.normal(50, 20, 40_000), 1)
    source = Column(read(data), Grid(0, 100, 0.05))
    near, whole = (Quantiles(QUARTERS).profile(source, reach) for reach in (300, 40_000))
    runs = [
        list(zip(*(x.tolist() for x in (p.start, p.cells, p.part, p.parts, p.rank)), strict=True))
        for p in (near, whole)
    ]
    assert set(runs[0]) < set(runs[1])
    assert (np.diff(near.rank) > 0).all()
    assert min(near.away) >= 299
    assert min(whole.away) == math.inf
    cell = int(whole.start[1000])
    assert near.rank_at(cell, 2**FINEST - 1) == whole.rank[whole.start == cell][-1]


def test_windows_within_a_tie():
    """Of a tie that is wider than a window the parts near the rank are listed, and no others."""
    data = np.concatenate([np.zeros(3), np.full(10**6, 5), np.full(7, 9)])
    profile = Quantiles(QUARTERS).profile(column(data, 11), 300)
    assert len(profile.rank) < 3 * 700 / 2 + 20
    for j, q in enumerate(QUARTERS):
        ranks = profile.rank[profile.low[j] : profile.high[j]] / UNIT - float(q) * profile.total
        assert ranks[0] < -300
        assert ranks[-1] > 300
        # a record each time that parts were halved
        assert np.diff(ranks).max() <= 2 * math.log2(10**6)
        assert np.median(np.diff(ranks)) <= 4
        assert 300 <= profile.away[j] < 340
    # What is listed has the ranks that a pass finds.
    for run in range(0, len(profile.rank), 97):
        part = (int(profile.part[run]) << FINEST) // int(profile.parts[run])
        assert profile.rank_at(int(profile.start[run]), part) == profile.rank[run]


class Coarse:
    """Ranks as from buckets: each window is cut down to a range of candidates, which may begin or
    end within a gap.
    """

    def __init__(self, source, ranges):
        self._source, self._ranges, self.size, self.length = (
            source,
            ranges,
            source.size,
            source.length,
        )
        self.rank_of = source.rank_of

    def ask(self, question):
        found, total = self._source.ask(question)
        return [self._cut(near, *cut) for near, cut in zip(found, self._ranges, strict=True)], total

    def _cut(self, near, low, high):
        inside = (near.values >= low) & (near.values <= high)
        below = near.below + int(near.counts[near.values < low].sum())
        return near._replace(
            values=near.values[inside],
            counts=near.counts[inside],
            below=below,
            first=low,
            last=high,
        )


@pytest.mark.parametrize(
    "ranges", [((0, 4), (3, 9)), ((0, 2), (4, 9)), ((0, 3), (2, 6)), ((0, 9), (3, 9))]
)
def test_windows_that_meet_or_overlap_within_a_gap(ranges):
    """No place is listed twice, and a place is said to lie in a window if a run of the window holds
    it, and not else.
    """
    data, qs = (0,) * 6 + (6,) * 7, (Fraction(1, 5), Fraction(4, 5))
    profile = Quantiles(qs).profile(Coarse(column(data, 10), ranges), 20)
    beyond = profile.start + profile.cells
    same = profile.start[1:] == profile.start[:-1]
    assert (np.diff(profile.rank) > 0).all()
    assert (
        np.where(same, profile.part[1:] == profile.part[:-1] + 1, profile.start[1:] >= beyond[:-1])
    ).all()
    for j, (low, high) in enumerate(ranges):
        window = slice(profile.low[j], profile.high[j])
        listed = {
            c
            for a, b in zip(profile.start[window], beyond[window], strict=True)
            for c in range(a, b)
        }
        assert listed >= set(range(low, high + 1))
        for cell in range(10):
            held = {
                profile.holds(j, cell, profile.rank_at(cell, part << FINEST - 2))
                for part in range(4)
            }
            assert held == {cell in listed}


def test_range_sums_do_not_cancel():
    rng = np.random.default_rng(2)
    for _ in range(50):
        logs = rng.normal(0, 200, 60)
        ends = np.sort(rng.integers(0, 61, (2, 40)), axis=1)
        low, high = np.minimum(*ends), np.maximum(*ends)
        found = range_log_sums(logs, low, high)
        expected = [
            np.logaddexp.reduce(logs[a:b]) if b > a else -np.inf
            for a, b in zip(low, high, strict=True)
        ]
        np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_a_coin():
    source, size = entropy(3), 4000
    heads = sum(happens(Fraction(1, 3), Fraction(5, 4), source) for _ in range(size))
    chance = 1.25 * math.exp(-1 / 3)
    assert abs(heads - size * chance) < 6.2 * math.sqrt(size * chance * (1 - chance))
    with pytest.raises(ArithmeticError):
        happens(Fraction(0), Fraction(2), source)


def test_deciles_are_as_close_as_promised():
    """Bounds of the published mechanism, with room: the mean error is about 30 % below them."""
    rng, deciles = np.random.default_rng(11), [i / 10 for i in range(1, 10)]
    cases = [
        (lambda: rng.normal(size=1000), {"bounds": (-10.0, 10.0)}, 0.018),
        (lambda: rng.random(1000), {"bounds": (0.0, 1.0)}, 0.0053),
        (
            lambda: np.rint(rng.normal(40, 12, 1000)).clip(0, 120).astype(int),
            {"bounds": (0, 120)},
            0.27,
        ),
    ]
    for make, where, most in cases:
        errors = []
        for _ in range(20):
            data = make()
            truth = np.sort(data)[[100 * i - 1 for i in range(1, 10)]]
            errors.append(
                np.abs(
                    np.array(duffdp.quantiles(data, deciles, epsilon=1, rng=rng, **where).value)
                    - truth
                ).mean()
            )
        assert np.mean(errors) < most


def test_ties_wider_than_a_gap_between_quantiles():
    """Half of the records at one value of a fine grid: three of nine deciles lie in the tie, and
    are found there.
    """
    data = np.concatenate([np.zeros(500), np.linspace(1, 100, 500)])
    found = duffdp.quantiles(
        data, [0.1, 0.2, 0.3, 0.4, 0.8], epsilon=2.0, bounds=(0.0, 100.0), rng=3
    ).value
    assert found[:4] == [0.0, 0.0, 0.0, 0.0]
    assert abs(found[4] - 60) < 5


@pytest.mark.parametrize("epsilon", [Fraction(1, 4), Fraction(1)])
@pytest.mark.parametrize("qs", [HALF, (Fraction(2, 5), Fraction(1, 2))])
def test_places_within_a_tie_follow_the_law(monkeypatch, qs, epsilon):
    """A window that ends within a tie: not the candidate, which is nearly always the tie, but the
    part of it that is drawn.
    """
    data = (0,) * 5 + (1,) * 200 + (2,) * 3
    profile = Quantiles(qs).profile(column(data, 3), 12)
    assert profile.part[profile.start == 1].min() > 0
    proposal = Joint(epsilon).proposal(profile)
    assert proposal._blocks._within.any()
    proposed = []
    for name in ("_inside", "_outside"):
        original = getattr(Proposal, name)

        def wrapped(self, *bits, original=original):
            proposed.append(original(self, *bits))
            return proposed[-1]

        monkeypatch.setattr(Proposal, name, wrapped)
    options = joint_oracle.places(data, 3)
    index = {(cell, rank * UNIT): i for i, (cell, _, rank) in enumerate(options)}
    weight, c = np.zeros(len(options)), float(epsilon) / 2
    sizes = 16 / float(epsilon) * np.arange(math.ceil((len(data) + 100 / c) * float(epsilon) / 16))
    shares = np.diff([0.0, *map(float, qs), 1.0])
    for chosen in itertools.combinations_with_replacement(range(len(options)), len(qs)):
        ranks = [float(options[i][2]) for i in chosen]
        gaps = np.diff([0.0, *ranks, len(data)])
        volume = math.prod(float(options[i][1]) for i in chosen) / (
            2 if len(set(chosen)) < len(chosen) else 1
        )
        weight[chosen[0]] += (
            volume * np.exp(-c * np.abs(gaps[:, None] - shares[:, None] * sizes).sum(axis=0)).sum()
        )
    draws, source, counts = 1500, entropy(6), np.zeros(len(options))
    for _ in range(draws):
        proposal.release(source)
        counts[index[proposed[-1][2][0]]] += 1
    found, limit = chi_squared(counts, weight / weight.sum() * draws)
    assert found < limit
    steeper = weight**1.5
    found, limit = chi_squared(counts, steeper / steeper.sum() * draws)
    assert found > limit


def test_ties_and_epsilon_take_no_longer():
    """A million equal records, at any epsilon: no more sizes and blocks than a few times those of
    records that differ.
    """
    n = 10**6
    work = {}
    for name, data in (("tied", np.zeros(n)), ("apart", np.linspace(0, 1, n))):
        source = Column(read(data), Grid(0.0, 1.0))
        for epsilon in (1, 10, 100, 1000):
            proposal = proposal_of(epsilon, source, QUARTERS)
            work[name, epsilon] = proposal._sizes * len(proposal._blocks.rank)
    assert max(work.values()) < 12 * work["apart", 1]


@pytest.mark.parametrize("mechanism", ["best", "duff"])
def test_releases(mechanism):
    data = np.arange(500)
    release = duffdp.quantiles(data, [0.9, 0.1], epsilon=5.0, bounds=(0, 499), mechanism=mechanism)
    assert release.value == sorted(release.value)
    assert release.secure
    assert str(release.statistic) == "quantiles(0.1, 0.9)"
    twice = [
        duffdp.quantiles(
            data, [0.9, 0.1], epsilon=1, bounds=(0, 499), mechanism=mechanism, rng=3
        ).value
        for _ in range(2)
    ]
    assert twice[0] == twice[1]


def test_empty_and_missing_data():
    for data in ([], [None, float("nan")], [None] * 3 + [4.0]):
        found = duffdp.quantiles(data, [0, 0.5, 1], epsilon=0.1, bounds=(0, 10), step=1).value
        assert len(found) == 3
        assert 0 <= found[0] <= found[1] <= found[2] <= 10
        assert duffdp.describe(data, epsilon=0.1, bounds=(0, 10), step=1).value["count"] >= 0


def test_dates():
    import datetime as dt

    days = [dt.date(2024, 1, 1) + dt.timedelta(days=i) for i in range(300)]
    bounds = dt.date(2024, 1, 1), dt.date(2024, 12, 31)
    first, last = duffdp.quantiles(days, [0.25, 0.75], epsilon=3.0, bounds=bounds, rng=1).value
    assert dt.date(2024, 2, 20) < first < last < dt.date(2024, 9, 10)


def test_describe():
    release = duffdp.describe(np.arange(2000), epsilon=4.0, bounds=(0, 1999), rng=5)
    assert list(release.value) == ["count", "1%", "25%", "50%", "75%", "99%"]
    assert abs(release.value["count"] - 2000) < 60
    assert abs(release.value["50%"] - 1000) < 60
    assert (release.epsilon, release.secure) == (4.0, False)


@pytest.mark.parametrize(
    ("qs", "said"),
    [
        ([], "at least one"),
        ([0.5, 0.5], "twice"),
        ([0.5, 2], "from 0 to 1"),
        ([None], "from 0 to 1"),
        (0.5, "a list"),
        ("0.5", "a list"),
        ([True], "from 0 to 1"),
        ([float("nan")], "from 0 to 1"),
    ],
)
def test_bad_qs(qs, said):
    with pytest.raises(DuffError, match=said):
        duffdp.quantiles([1, 2], qs, epsilon=1, bounds=(0, 9))


def test_qs_are_sorted():
    assert read_qs(np.array([0.9, 0.1])) == (Fraction(1, 10), Fraction(9, 10))


@pytest.mark.parametrize(
    "change", [{"epsilon": 0}, {"bounds": None}, {"mechanism": "x"}, {"rng": -1}]
)
def test_bad_parameters_are_found_before_data_are_read(change):
    with pytest.raises(DuffError):
        duffdp.quantiles(object(), [0.5], **{"epsilon": 1.0, "bounds": (0, 9), **change})
