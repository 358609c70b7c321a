"""Several quantiles at once: the law against all neighbours, draws against the law, windows, ties,
bad input.
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import polars as pl
import pytest

import duffdp
import joint_oracle
from cases import small_data
from covering import every_pair
from duffdp import DuffError, Grid
from duffdp import _parameters as parameters
from duffdp._engines.requests import GroupedRanks, RanksNear
from duffdp._rank_profile import PART_BITS, RANK_UNIT, part_count, part_ranks
from duffdp._sampling.entropy import entropy
from duffdp._sampling.lazy_uniform import bernoulli
from duffdp.audit.neighbours import largest_log_ratio, neighbours
from duffdp.mechanisms import Joint
from duffdp.mechanisms import joint as mechanisms
from duffdp.mechanisms.joint._proposal import DRAFT_WORDS, Proposal
from duffdp.statistics import Quantiles, quantiles
from inquiries import engine_of, evidence
from joint_drafts import chi_squared
from release_draws import laws, recorded

HALF, QUARTERS = (Fraction(1, 2),), (Fraction(1, 4), Fraction(1, 2), Fraction(3, 4))
QS = [HALF, (Fraction(1, 10), Fraction(1, 5)), (Fraction(0), Fraction(1)), QUARTERS]


def column(data, size):
    """An engine with the records, and their domain."""
    grid = Grid(0, size - 1, 1)
    return engine_of([list(data)], grid), grid


def near_ranks(epsilon, column, qs, reach=None, records=None):
    (near,) = evidence(Quantiles(qs, records), *column, epsilon, reach=reach).columns
    return near


def profile_of(epsilon, *column):
    return near_ranks(epsilon, *column).profile(float(epsilon))


def proposal_of(epsilon, column, qs):
    return Proposal(profile_of(epsilon, column, qs), Fraction(epsilon))


def accepted(made, source):
    """Draft by draft from one proposal, until one is accepted."""
    while True:
        words = source.words(DRAFT_WORDS * (len(made._layers) + 1)).tolist()
        draft = made.draft(words, source)
        if draft.ratio and bernoulli(draft.exponent, draft.ratio, source, draft.word):
            return draft


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


@pytest.mark.parametrize("epsilon", [Fraction(3, 10), Fraction(3)])
@pytest.mark.parametrize("qs", QS)
def test_loss_after_a_count(qs, epsilon):
    """For every count that may have come out before; with the loss of the count it is epsilon."""
    largest = 0.0
    for records in (0, 1, 4, 9):
        laws = {
            data: joint_oracle.law(data, 3, qs, epsilon, records=Fraction(records))
            for data in small_data(5, 3)
        }
        for data, here in laws.items():
            for x in range(3) if len(data) < 5 else ():
                there = laws[tuple(sorted((*data, x)))]
                largest = max(largest, *(abs(math.log(here[t] / there[t])) for t in here))
    assert 0.5 * float(epsilon) < largest <= float(epsilon) * (1 + 1e-9)


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
        assert added.max() <= RANK_UNIT
        assert (np.diff(added) >= 0).all()
        if records < 40:
            expected = [
                joint_oracle.before(records, Fraction(int(i), 256)) * RANK_UNIT for i in fine[::7]
            ]
            assert here[::7].tolist() == expected
        last = here


def compare(proposal, data, size, qs, epsilon, draws, seed=1):
    source, law = entropy(seed), joint_oracle.law(tuple(sorted(data)), size, qs, epsilon)
    keys = sorted(law)
    place = {key: i for i, key in enumerate(keys)}
    counts = np.bincount(
        [place[tuple(accepted(proposal, source).candidates)] for _ in range(draws)],
        minlength=len(keys),
    )
    return chi_squared(counts, np.array([law[key] for key in keys]) * draws)


@pytest.mark.parametrize(
    ("qs", "data", "epsilon"),
    every_pair(
        QS,
        [(), (1,), (0, 1, 1, 2, 3), (0, 1, 1, 1, 1, 1, 2, 3)],
        [Fraction(1, 2), Fraction(2)],
    ),
)
def test_draws_follow_the_law(qs, data, epsilon):
    """Any two of quantiles, records and an epsilon; `joint_proposal_test.py` adds up all drafts
    without a draw.
    """
    found, limit = compare(proposal_of(epsilon, column(data, 4), qs), data, 4, qs, epsilon, 1500)
    assert found < limit


def test_the_test_of_draws_can_fail():
    data, qs = (0, 1, 1, 2, 3, 3), QUARTERS
    found, limit = compare(proposal_of(2.0, column(data, 4), qs), data, 4, qs, Fraction(3), 3000)
    assert found > limit


@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1), Fraction(30)])
@pytest.mark.parametrize(("reach", "records"), [(1, None), (50, None), (50, 7)])
def test_every_draw_is_weighed_by_its_score_at_the_stated_epsilon(
    monkeypatch, epsilon, reach, records
):
    """What a draw is accepted with is exp(-epsilon/2 score) of the oracle, exactly, inside the
    windows and outside.
    """
    data, qs = (0, 0, 2, 3, 3, 3, 3, 5, 6), QUARTERS
    weighed, drafts, tops = [], [], []

    def recorded(exponent, ratio, *_):
        weighed.append((exponent, ratio))
        return True

    original = Proposal.draft

    def kept(self, *given):
        drafts.append(original(self, *given))
        tops.append(self._log_top)
        return drafts[-1]

    monkeypatch.setattr(Proposal, "draft", kept)
    monkeypatch.setattr(mechanisms, "bernoulli", recorded)
    monkeypatch.setattr(mechanisms, "MIN_GROUPED_COLUMNS", 41)
    near = near_ranks(epsilon, column(data, 7), qs, reach, records)
    found = Joint(epsilon).release([near] * 40, entropy(2))
    whole = [draft for draft in drafts if draft.ratio]
    assert weighed == [(draft.exponent, draft.ratio) for draft in whole]
    assert sorted(found) == sorted(draft.candidates for draft in whole)
    for draft, top in zip(drafts, tops, strict=True):
        if not draft.ratio:
            continue
        ranks = tuple(Fraction(rank, RANK_UNIT) for rank in draft.ranks)
        size = draft.size if records is None else Fraction(records)
        assert (draft.size * epsilon / 16).denominator == 1 or draft.size == records
        score = joint_oracle.score(ranks, len(data), qs, size)
        assert draft.exponent == top + epsilon / 2 * score  # one constant for all of a proposal


def test_groups_are_drawn_together_and_each_gets_its_own(monkeypatch):
    """More groups than are kept at a time, some of them refused, and each with its own law."""
    monkeypatch.setattr(mechanisms, "PROPOSALS_AT_ONCE", 3)
    columns = [near_ranks(30, column((at,) * 40, 9), QUARTERS) for at in range(8)]
    assert Joint(30).release(columns, entropy(1)) == [[at] * 3 for at in range(8)]


def test_above_the_largest_epsilon_the_law_is_that_of_the_largest(monkeypatch):
    near = near_ranks(64, column((0, 1, 1, 2, 3), 4), HALF)
    asked = []
    original = Proposal.__init__

    def kept(self, profile, epsilon):
        asked.append(epsilon)
        original(self, profile, epsilon)

    monkeypatch.setattr(Proposal, "__init__", kept)
    for epsilon in (64, 65, 10**6):
        joint = Joint(epsilon)
        assert joint.epsilon == epsilon
        joint.release([near], entropy(1))
    assert asked == [64, 64, 64]


def test_the_finest_parts_rise_as_well():
    """Where parts are doubled for the last times, and far beyond."""
    places = np.random.default_rng(4).integers(0, 2**PART_BITS, 500)
    places.sort()
    for records in (2**23, 2**25 - 1, 2**25, 2**25 + 1, 2**30):
        before, after = (
            part_ranks(many, places * part_count(many) >> PART_BITS)
            for many in (np.full(500, records - 1), np.full(500, records))
        )
        added = after - before
        assert 0 <= added.min() <= added.max() <= RANK_UNIT
        assert (np.diff(added) >= 0).all()


def test_windows_of_a_large_array_hold_the_runs_of_the_whole():
    rng = np.random.default_rng(5)
    data = np.round(rng.normal(50, 20, 40_000), 1)
    grid = Grid(0, 100, 0.05)
    source = engine_of([data], grid), grid
    near, whole = (profile_of(1, source, QUARTERS, reach) for reach in (300, 40_000))
    runs = [
        list(zip(*(x.tolist() for x in (p.start, p.cells, p.part, p.parts, p.rank)), strict=True))
        for p in (near, whole)
    ]
    assert set(runs[0]) < set(runs[1])
    assert (np.diff(near.rank) > 0).all()
    for profile, reach in ((near, 299), (whole, 9_900)):
        for q, low, high in zip(QUARTERS, profile.low, profile.high, strict=True):
            ranks = profile.rank[[low, high - 1]] / RANK_UNIT - float(q) * profile.total
            assert ranks[0] <= -reach
            assert ranks[1] >= reach
    cell = int(whole.start[1000])
    assert near.rank_at(cell, 2**PART_BITS - 1) == whole.rank[whole.start == cell][-1]


def test_windows_within_a_tie():
    """Of a tie that is wider than a window the parts near the rank are listed, and no others."""
    data = np.concatenate([np.zeros(3), np.full(10**6, 5), np.full(7, 9)])
    profile = profile_of(1, column(data, 11), QUARTERS, 300)
    assert len(profile.rank) < 3 * 700 / 2 + 20
    for j, q in enumerate(QUARTERS):
        ranks = (
            profile.rank[profile.low[j] : profile.high[j]] / RANK_UNIT - float(q) * profile.total
        )
        assert ranks[0] < -300
        assert ranks[-1] > 300
        # a record each time that parts were halved
        assert np.diff(ranks).max() <= 2 * math.log2(10**6)
        assert np.median(np.diff(ranks)) <= 4
        assert ranks[-1] - ranks[0] < 680
    # What is listed has the ranks that a pass finds.
    for run in range(0, len(profile.rank), 97):
        part = (int(profile.part[run]) << PART_BITS) // int(profile.parts[run])
        assert profile.rank_at(int(profile.start[run]), part) == profile.rank[run]


class Coarse:
    """Ranks as from buckets: each window is cut down to a range of candidates, which may begin or
    end within a gap.
    """

    groups, max_records = 1, 10**6  # so many that no statistic asks for all values

    def __init__(self, engine, ranges):
        self._engine, self._ranges = engine, ranges

    def answer(self, asked):
        answers = self._engine.answer(asked)
        return [
            self._cut_all(answer) if isinstance(one.request, RanksNear) else answer
            for one, answer in zip(asked, answers, strict=True)
        ]

    def _cut_all(self, targets):
        windows = zip(targets, self._ranges, strict=True)
        return [GroupedRanks.join([self._cut(near.group(0), *cut)]) for near, cut in windows]

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
    """No place is listed twice, a place is found in the run that holds it, and windows have no
    holes.
    """
    data, qs = (0,) * 6 + (6,) * 7, (Fraction(1, 5), Fraction(4, 5))
    engine, grid = column(data, 10)
    profile = profile_of(1, (Coarse(engine, ranges), grid), qs, 20)
    ends = [(profile.begin(i), profile.end(i)) for i in range(len(profile.rank))]
    assert all(a[1] <= b[0] for a, b in itertools.pairwise(ends))
    for low, high in zip(profile.low, profile.high, strict=True):
        assert all(a[1] == b[0] for a, b in itertools.pairwise(ends[low:high]))
    for place in range(0, 10 << PART_BITS, 1 << PART_BITS - 2):
        holders = [i for i, (begin, end) in enumerate(ends) if begin <= place < end]
        run, holds = profile.find(place)
        assert holders == [run] * holds
        assert sum(begin <= place for begin, _ in ends) == run + 1
        if holds:
            cell, part = divmod(place, 1 << PART_BITS)
            assert profile.rank_at(cell, part) == profile.rank[run]


def test_a_coin():
    source, size = entropy(3), 4000
    heads = sum(bernoulli(Fraction(1, 3), Fraction(5, 4), source) for _ in range(size))
    chance = 1.25 * math.exp(-1 / 3)
    assert abs(heads - size * chance) < 6.2 * math.sqrt(size * chance * (1 - chance))
    with pytest.raises(ArithmeticError):
        bernoulli(Fraction(0), Fraction(2), source)


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
def test_places_within_a_tie_follow_the_law(qs, epsilon):
    """A window that ends within a tie: not the candidate, which is nearly always the tie, but the
    part of it that is drawn.
    """
    data = (0,) * 5 + (1,) * 200 + (2,) * 3
    profile = profile_of(epsilon, column(data, 3), qs, 40)
    assert profile.part[profile.low[0]] > 0
    proposal = Proposal(profile, epsilon)
    options = joint_oracle.places(data, 3)
    index = {(cell, rank * RANK_UNIT): i for i, (cell, _, rank) in enumerate(options)}
    weight, c = np.zeros(len(options)), float(epsilon) / 2
    sizes = (
        16 / float(epsilon) * np.arange(1, math.ceil((len(data) + 100 / c) * float(epsilon) / 16))
    )
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
        draft = accepted(proposal, source)
        counts[index[draft.candidates[0], draft.ranks[0]]] += 1
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
        source = engine_of([data], Grid(0.0, 1.0)), Grid(0.0, 1.0)
        for epsilon in (1, 10, 100, 1000):
            proposal = proposal_of(epsilon, source, QUARTERS)
            work[name, epsilon] = len(proposal._sizes) * sum(map(len, proposal._profile.blocks))
    assert max(work.values()) < 12 * work["apart", 1]


@pytest.mark.parametrize("epsilon", [1e-3, 1, 1000])
@pytest.mark.parametrize("n", [0, 1, 10**5])
def test_percentiles_of_equal_records(n, epsilon):
    """All fall into tiny parts of one candidate, so the logarithm of their weight is far below that
    of every double.
    """
    percentiles = [i / 100 for i in range(1, 100)]
    found = duffdp.quantiles(np.full(n, 5), percentiles, epsilon=epsilon, bounds=(0, 10), step=1)
    assert len(found.value) == 99
    if n * epsilon >= 10**5:
        assert set(found.value) == {5}


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
    assert list(release.value) == ["count", "mean", "1%", "25%", "50%", "75%", "99%"]
    assert abs(release.value["count"] - 2000) < 60
    assert abs(release.value["50%"] - 1000) < 60
    assert abs(release.value["mean"] - 999.5) < 60
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
    assert parameters.QS.read(np.array([0.9, 0.1])) == (Fraction(1, 10), Fraction(9, 10))


@pytest.mark.parametrize(
    "change", [{"epsilon": 0}, {"bounds": None}, {"mechanism": "x"}, {"rng": -1}]
)
def test_bad_parameters_are_found_before_data_are_read(change):
    with pytest.raises(DuffError):
        duffdp.quantiles(object(), [0.5], **{"epsilon": 1.0, "bounds": (0, 9), **change})


@pytest.fixture
def after_a_count(monkeypatch):
    """Two quantiles are many."""
    monkeypatch.setattr(quantiles, "MAX_QUANTILES_WITH_SIZE", 1)


@pytest.mark.parametrize("count", [0, 3, 20])
def test_many_quantiles_through_the_verb(after_a_count, count):
    """For every count that may have come out: its loss and that of the quantiles add up to at most
    epsilon.
    """
    for epsilon in (1.0, 9.0):

        def draws_of(data, epsilon=epsilon):
            return laws(
                lambda: duffdp.quantiles(
                    list(map(float, data)), [0.25, 0.75], epsilon=epsilon, bounds=(0.0, 2.0), step=1
                ),
                path=(count,),
            )

        loss = largest_log_ratio(draws_of, ((a, b) for a, b, _ in neighbours(3, 4)))
        # A size of 0 makes all places alike, and a third of epsilon is for the count.
        assert (0.9 if count == 3 and epsilon == 9 else 0.33) * epsilon < loss
        assert loss <= epsilon * (1 + 1e-9)


def test_many_quantiles_are_charged_for_their_count(after_a_count):
    """What the count and the places receive adds up to epsilon, and is written down."""
    with recorded() as draws:
        release = duffdp.quantiles(range(50), [0.2, 0.5, 0.8, 0.9], epsilon=3, bounds=(0, 49))
    assert [draw.mechanism.name for draw in draws] == ["two-sided-geometric", "joint-exponential"]
    assert [draw.epsilon for draw in draws] == pytest.approx([3 / 6, 3 * 5 / 6])
    assert [part.family for part in release.loss.parts] == ["geometric", "bounded-range"]
    assert [part.epsilon for part in release.loss.parts] == [Fraction(1, 2), Fraction(5, 2)]


@pytest.mark.parametrize("mechanism", ["best", "duff"])
def test_many_quantiles(mechanism):
    """In order, near the truth, and no count among them."""
    shares = [i / 40 for i in range(1, 40)]
    data = np.arange(4000)
    release = duffdp.quantiles(
        data, shares, epsilon=20.0, bounds=(0, 3999), mechanism=mechanism, rng=2
    )
    assert len(release.value) == 39
    assert release.value == sorted(release.value)
    assert np.abs(np.array(release.value) - 4000 * np.array(shares)).max() < 60
    table = duffdp.quantiles(
        pl.DataFrame({"x": data, "g": ["a", "b"] * 2000}),
        shares,
        column="x",
        by="g",
        keys=["a", "b", "c"],
        epsilon=20.0,
        bounds=(0, 3999),
        mechanism=mechanism,
        rng=2,
    ).value
    assert table.shape == (3, 40)
    assert table.columns[1] == "0.025"


@pytest.mark.parametrize("data", [[], [5] * 3, list(range(30))])
def test_many_quantiles_of_few_records(data):
    """Places that share runs by the dozen: they are cut, and the draw ends."""
    shares = [i / 60 for i in range(1, 60)]
    found = duffdp.quantiles(data, shares, epsilon=1.0, bounds=(0.0, 100.0), rng=1).value
    assert len(found) == 59
    assert found == sorted(found)


def test_one_quantile_is_the_single_one():
    data = np.arange(101)
    one = duffdp.quantiles(data, [0.5], epsilon=1, bounds=(0, 100), rng=4)
    assert one.value == [duffdp.median(data, epsilon=1, bounds=(0, 100), rng=4).value]
    assert [part.name for part in one.mechanism.parts] == ["lattice"]


@pytest.mark.parametrize("epsilon", [1.0, 10.0, 30.0, 64.0])
@pytest.mark.parametrize(
    ("values", "qs", "upper"),
    [
        ([i % 30 for i in range(600)], (0.5, 0.9), 60),
        ([7 * (i % 5) for i in range(1000)], (0.21, 0.28, 0.32, 0.52, 0.64, 0.98), 10**6),
    ],
)
def test_ties_far_from_a_rank_cost_few_drafts(values, qs, upper, epsilon, monkeypatch):
    """No record is near the wanted ranks: blocks there were wide, and nearly all was refused."""
    drafts, usual = [], Proposal.draft

    def counted(self, *given):
        drafts.append(usual(self, *given))
        assert len(drafts) < 100
        return drafts[-1]

    monkeypatch.setattr(Proposal, "draft", counted)
    for _ in range(3):
        duffdp.quantiles(values, qs, epsilon=epsilon, bounds=(0, upper), step=1)
    assert drafts
