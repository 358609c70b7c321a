"""Epsilon of a table through the public door: the shares that mechanisms receive add up to what was
asked and charged, all is paid before anything is read, and no neighbours differ by more."""

from __future__ import annotations

import itertools
from fractions import Fraction
from functools import cache

import polars as pl
import pytest

import duffdp
from duffdp import BudgetExceeded, DuffError, Ledger, TablePlan
from duffdp.audit.neighbours import largest_log_ratio, log_ratio, neighbours
from release_draws import choose_in_order, laws, recorded

ASKED, BUDGET = Fraction(7, 10), 10
ROWS = {
    "x": [1, 2, 2, 5, 7, 7, 8, 9],
    "g": list("aabbabab"),
    "s": list("mfmfmfmf"),
    "p": list(range(8)),
}
GIVEN = {"bounds": {"x": (0, 9)}, "step": {"x": 1}}
STATISTICS = {"x": ["median", "mean", "sum", 0.25, 0.75]}
# The weight of each of them beside the count, by the stated rule.
# The median and the numbers are one draw with its width.
WEIGHTS = {"count": 1, "x_quantiles": 8, "x_mean": 4, "x_sum": 4}
ADDED_UP = {"count", "x_sum"}
TWO_WAYS = {"by": ["g", "s"], "keys": list(itertools.product("ab", "fm"))}


@pytest.fixture
def ledger(tmp_path):
    return Ledger(tmp_path / "budget.db", epsilon=BUDGET)


def received(draws, release):
    """Take the draws of a release from those that are left: what its mechanisms follow in all."""
    groups = max(len(release.keys), 1)
    many = groups * sum(part.draws for part in release.mechanism.parts)
    own = [draws.pop(0) for _ in range(many)]
    by_mechanism = {}
    for draw in own:
        by_mechanism.setdefault(id(draw.mechanism), []).append(draw.epsilon)
    for epsilons in by_mechanism.values():
        assert len(epsilons) == groups
        assert epsilons == pytest.approx([epsilons[0]] * groups, rel=1e-9)
    return sum(epsilons[0] for epsilons in by_mechanism.values())


@pytest.mark.parametrize("contributions", [1, 3])
@pytest.mark.parametrize("interval", [None, 0.8])
@pytest.mark.parametrize(
    ("where", "levels"),
    [
        ({}, 1),
        ({"by": "g", "keys": ["b", "a"], "groups_per_person": 2, "total": True}, 2),
        ({"by": "g", "keys": ["b", "a"]}, 1),
        ({"by": "g", "keys": ["b", "a"], "total": True}, 2),
        ({**TWO_WAYS, "total": True}, 4),
    ],
    ids=["one row", "several groups of a person", "groups", "total", "two ways"],
)
def test_the_shares_of_a_table_add_up(where, levels, interval, contributions, ledger):
    given = {**GIVEN, **where, "interval": interval, "unit": "p", "contributions": contributions}
    with recorded() as draws:
        table = duffdp.table(pl.DataFrame(ROWS), STATISTICS, epsilon=ASKED, ledger=ledger, **given)
    shares = {name: release.loss.epsilon for name, release in table.releases.items()}
    weights = {
        name: Fraction(weight * (1 if name == "count" else contributions))
        for name, weight in (WEIGHTS | ({} if interval else {"x_quantiles": 4})).items()
    }
    for name, share in shares.items():
        own = name.partition(" ")[0]
        part = 1 if own in ADDED_UP else levels
        assert share == ASKED * weights[own] / part / sum(weights.values())
    assert sum(shares.values()) == ASKED
    made = len(WEIGHTS) + (levels - 1) * (len(WEIGHTS) - len(ADDED_UP))
    assert len(shares) == made
    for name, release in table.releases.items():
        rows = 1 if name == "count" else contributions  # people are counted, each of them once
        assert release.contributions == rows
        rows *= where.get("groups_per_person", 1) if release.by else 1  # all of them are one
        assert received(draws, release) * rows == pytest.approx(float(release.loss.epsilon))
    assert draws == []
    assert [Fraction(one["loss"]["epsilon"]) for one in ledger.charges()] == list(shares.values())
    assert ledger.remaining_exactly() == BUDGET - ASKED
    assert table.epsilon == float(ASKED)


def test_weights_are_in_proportion_to_the_usual_ones():
    given = {"epsilon": ASKED, **GIVEN, "weights": {"x_sum": 0.5, "count": Fraction(7, 2)}}
    shares = {n: f.loss.epsilon for n, f in TablePlan(STATISTICS, **given).check().releases.items()}
    assert sum(shares.values()) == ASKED
    assert {name: share / ASKED * 16 for name, share in shares.items()} == {
        "count": Fraction(7, 2),
        "x_quantiles": 8,
        "x_mean": 4,
        "x_sum": Fraction(1, 2),
    }


def watched(ledger, seen):
    """Rows that note what the ledger says is spent when they are read."""

    def noticed(frame):
        seen.append(ledger.spent())
        return frame

    return pl.LazyFrame(ROWS).map_batches(noticed, validate_output_schema=False)


def test_a_table_is_paid_for_before_any_of_it_is_read(ledger):
    seen = []
    given = {**GIVEN, **TWO_WAYS, "total": True, "unit": "p"}
    duffdp.table(watched(ledger, seen), STATISTICS, epsilon=0.5, ledger=ledger, **given)
    assert len(seen) >= 4  # the rows of people in each way to group them, once
    assert set(seen) == {0.5}


@pytest.mark.parametrize("call_id", [None, "one"])
def test_an_interrupt_after_the_charge_says_what_was_charged(ledger, call_id, monkeypatch):
    """Also where all numbers are drawn, and the table is made of them."""

    def interrupt(table):
        raise KeyboardInterrupt

    frame = pl.DataFrame(ROWS)
    book = ledger if call_id is None else ledger.call(call_id)
    with monkeypatch.context() as patch:
        patch.setattr(duffdp.Table, "wide", interrupt)
        with pytest.raises(KeyboardInterrupt) as stopped:
            duffdp.table(frame, STATISTICS, epsilon=0.5, ledger=book, **GIVEN)
    (note,) = stopped.value.__notes__
    assert note.startswith("epsilon 0.5 was charged")
    assert note.endswith("stays charged" if call_id is None else "'one' costs nothing")
    if call_id is not None:
        duffdp.table(frame, STATISTICS, epsilon=0.5, ledger=book, **GIVEN)
    assert ledger.spent() == 0.5


def test_a_table_beyond_the_budget_pays_and_reads_nothing(ledger):
    seen = []
    for epsilon, rng, error in ((Fraction(101, 10), None, BudgetExceeded), (1, 3, DuffError)):
        with pytest.raises(error):
            duffdp.table(
                watched(ledger, seen), STATISTICS, epsilon=epsilon, ledger=ledger, rng=rng, **GIVEN
            )
    assert (seen, ledger.charges()) == ([], [])


# Neighbours: the exact laws of all draws of a table together.

FEW = {"x": ["median", "sum"]}
GRID = {"bounds": {"x": duffdp.Grid(0.0, 2.0, 2.0**-8)}}
LISTED = {"by": "g", "keys": ["b", "a"], "total": True}
WITHIN = 1 + 1e-9


def frame_of(rows):
    schema = {"x": pl.Float64, "g": pl.String, "p": pl.Int64}
    return pl.DataFrame(rows, schema=schema, orient="row")


@pytest.mark.parametrize("interval", [None, 0.8])
def test_one_row_moves_all_of_a_table_by_at_most_epsilon(interval):
    """A row in a group counts there and in the total, one elsewhere nowhere."""
    kinds = list(itertools.product((0.0, 2.0), ("a", "b", "other")))
    epsilon = 9.0
    given = {"epsilon": epsilon, "interval": interval, **GRID, **LISTED}

    def draws_of(data):
        rows = frame_of([(*kinds[i], 0) for i in data])
        return laws(lambda: duffdp.table(rows, FEW, **given))

    pairs = [(here, there, joined) for here, there, joined in neighbours(len(kinds), 3)]
    largest = largest_log_ratio(draws_of, ((here, there) for here, there, _ in pairs))
    assert 0.5 * epsilon < largest <= epsilon * WITHIN
    elsewhere = [(a, b) for a, b, joined in pairs if kinds[joined][1] == "other"]
    assert largest_log_ratio(draws_of, elsewhere) == 0


CROWDS = [
    [(0.0, "a", 1), (0.0, "a", 1), (0.0, "a", 1)],
    [(0.0, "a", 1), (2.0, "a", 1), (0.0, "b", 1), (2.0, "b", 2)],
    [(0.0, "a", 1), (2.0, "b", 1), (2.0, "a", 2), (2.0, "a", 2)],
    [(0.0, "a", 1), (0.0, "other", 1), (2.0, "b", 2)],
]


@pytest.mark.parametrize("contributions", [1, 3])
def test_one_person_moves_all_of_a_table_by_at_most_epsilon(contributions):
    """As for one release: it is enough that the laws are close for every order of all rows and the
    one that it leaves for the others."""
    epsilon = 9.0 * contributions
    given = {"epsilon": epsilon, "unit": "p", "contributions": contributions, **GRID, **LISTED}

    @cache
    def draws_of(rows, order):
        with pytest.MonkeyPatch.context() as patch:
            choose_in_order(patch, order)
            return laws(lambda: duffdp.table(frame_of(rows), FEW, **given))

    largest = 0.0
    for rows in CROWDS:
        counted = [row for row in rows if row[1] != "other"]
        for order in itertools.permutations(range(len(counted))):
            here = draws_of(tuple(rows), order)
            for person in {person for *_, person in rows}:
                others = [i for i, row in enumerate(counted) if row[2] != person]
                left = tuple(others.index(i) for i in order if i in others)
                there = draws_of(tuple(row for row in rows if row[2] != person), left)
                largest = max(largest, log_ratio(here, there))
    assert 0.29 * epsilon < largest <= epsilon * WITHIN
