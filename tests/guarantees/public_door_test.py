"""Epsilon through the public door: what every mechanism receives adds up to what was asked and
charged, and nothing is read or drawn before it is paid. The verbs come from the registry."""

from __future__ import annotations

import inspect
import os
import random
from fractions import Fraction

import numpy as np
import polars as pl
import pytest

import duffdp
from duffdp import BudgetExceeded, DuffError, Ledger, Plan
from duffdp._engines.arrays import ArrayEngine, CellEngine
from duffdp._engines.pairs import PairColumns
from duffdp._engines.sql.query import OpenSources
from duffdp._pipeline.request import ReleaseRequest
from duffdp._pipeline.run import PreparedRelease
from duffdp._sampling.entropy import entropy
from duffdp.mechanisms import CLASSES, mechanism_class
from duffdp.mechanisms.mechanism import DistanceMechanism
from duffdp.statistics.registry import REGISTRY
from release_draws import recorded
from verb_calls import CALLS, GRAPHS, REGISTERED, TABLES

ASKED, BUDGET = Fraction(7, 10), 10
GRID = {"bounds": (0, 9), "step": 1}
EDGES = [(0, 1), (1, 2), (0, 2), (2, 3)]
ROWS = {"x": [1, 2, 2, 5, 7, 7, 8, 9], "g": list("aabbabab"), "p": [1, 1, 1, 1, 2, 2, 3, 4]}
GROUPS = {"by": "g", "keys": ["b", "a"]}
SELECTIONS = {
    "rows": {},
    "groups": GROUPS,
    "people": {"unit": "p"},
    "three-rows": {"unit": "p", "contributions": 3},
    "three-rows-in-groups": {"unit": "p", "contributions": 3, **GROUPS},
    "three-rows-in-each-group": {"unit": "p", "contributions": 3, "groups_per_person": 2, **GROUPS},
    "sizes": {"suppress_below": 2, **GROUPS},
}


@pytest.fixture
def ledger(tmp_path):
    return Ledger(tmp_path / "budget.db", epsilon=BUDGET)


def given_for(call):
    """What a verb needs for the table or graph of this file, but for epsilon."""
    return {} if call.spec.of_graphs else {"column": "x", **call.outputs(**GRID)}


def data_for(call):
    return EDGES if call.spec.of_graphs else pl.DataFrame(ROWS)


def test_every_verb_and_every_mechanism_is_called():
    verbs = {
        name
        for name in duffdp.__all__
        if inspect.isfunction(item := getattr(duffdp, name))
        and inspect.signature(item).return_annotation == "Release"
    }
    assert verbs == {call.spec.name for call in REGISTERED} | {"release"} == {*REGISTRY, "release"}
    drawn = set()
    for call in CALLS:
        with recorded() as draws:
            call(data_for(call), epsilon=1, **given_for(call))
        drawn |= {draw.mechanism.name for draw in draws}
    with recorded() as draws:
        duffdp.count(pl.DataFrame(ROWS), by="g", keys=duffdp.Pattern("[ab]"), epsilon=1)
    drawn |= {draw.mechanism.name for draw in draws}
    assert drawn == set(CLASSES)


def pays(draws, groups):
    """The sum of what mechanisms follow, each used once for every group and with the same epsilon
    for all."""
    found = {}
    for draw in draws:
        found.setdefault(id(draw.mechanism), []).append(draw.epsilon)
    for epsilons in found.values():
        assert len(epsilons) == groups
        assert epsilons == pytest.approx([epsilons[0]] * groups, rel=1e-9)
    return sum(epsilons[0] for epsilons in found.values())


@pytest.mark.parametrize("where", SELECTIONS.values(), ids=SELECTIONS)
@pytest.mark.parametrize("call", TABLES, ids=str)
def test_shares_of_tables_add_up_to_what_is_asked_and_charged(call, where, ledger):
    contributions, groups = where.get("contributions", 1), len(where.get("keys", [0]))
    contributions *= where.get("groups_per_person", 1)
    if "suppress_below" in where and call.spec.shape == "distribution":
        pytest.skip("has no numbers to withhold")
    for paid in (None, ledger):
        with recorded() as draws:
            release = call(data_for(call), epsilon=ASKED, **given_for(call), **where, ledger=paid)
        assert pays(draws, groups) * contributions == pytest.approx(float(ASKED), rel=1e-9)
        assert (
            release.loss.epsilon == ASKED == sum(part.epsilon for part in release.mechanism.parts)
        )
        made = sum(part.draws for part in release.mechanism.parts)
        # Few records: what an interval and a rough mean would cost is spent on the last draw.
        kinds = [(part.name, part.utility) for part in release.mechanism.parts]
        if ("permute-and-flip", "outside") in kinds:
            made -= 1 + kinds.count(("staircase", None))
        assert made * groups == len(draws)
    assert BUDGET - ledger.remaining_exactly() == ASKED


@pytest.mark.parametrize("call", GRAPHS, ids=str)
def test_shares_of_graphs_add_up_to_what_is_asked_and_charged(call, ledger):
    with recorded() as draws:
        release = call(EDGES, epsilon=ASKED, ledger=ledger)
    assert pays(draws, 1) == pytest.approx(float(ASKED), rel=1e-9)
    assert release.loss.epsilon == ASKED == BUDGET - ledger.remaining_exactly()
    assert (release.unit.kind, release.contributions) == ("edge", 1)


@pytest.mark.parametrize("qs", [[0.5], [0.1, 0.8], [0, 0.25, 0.5, 0.75, 1], [0, 1]], ids=str)
@pytest.mark.parametrize("choice", ["best", "duff"])
@pytest.mark.parametrize("contributions", [1, 3])
def test_several_quantiles_share_one_epsilon(qs, choice, contributions):
    where = {"column": "x", "unit": "p", "contributions": contributions, **GRID}
    with recorded() as draws:
        duffdp.quantiles(pl.DataFrame(ROWS), qs, epsilon=ASKED, mechanism=choice, **where)
    assert pays(draws, 1) * contributions == pytest.approx(float(ASKED), rel=1e-9)
    each = float(ASKED) / contributions / len(qs)
    inner = sum(0 < q < 1 for q in qs)
    # 0 and 1 are drawn by themselves, the others together.
    together = [each * inner] * (inner > 0) + [each] * (len(qs) - inner)
    wanted = together if choice == "best" else [each] * len(qs)
    assert sorted(draw.epsilon for draw in draws) == pytest.approx(sorted(wanted))


@pytest.mark.parametrize(
    "change",
    [{"contributions": 4}, {"groups_per_person": 3}, {"groups_per_person": None}, {"unit": None}],
    ids=repr,
)
def test_the_rows_that_are_used_are_those_that_are_paid_for(change):
    """What the engine is told of a person's rows, and what epsilon is divided among."""
    options = GRID | SELECTIONS["three-rows-in-each-group"] | {"column": "x", "epsilon": 1}
    checked = ReleaseRequest("median", options).check()
    PreparedRelease.of_checked(checked, pl.DataFrame(ROWS), None, OpenSources())
    other = checked._replace(selection=checked.selection._replace(**change))
    with pytest.raises(AssertionError, match="paid for"):
        PreparedRelease.of_checked(other, pl.DataFrame(ROWS), None, OpenSources())


def test_many_groups_are_each_drawn_once():
    """More groups than are raced at once."""
    frame, keys = pl.DataFrame({"x": [1], "g": [3]}), list(range(600))
    with recorded() as draws:
        duffdp.median(frame, column="x", by="g", keys=keys, epsilon=ASKED, **GRID)
    assert pays(draws, len(keys)) == pytest.approx(float(ASKED))


class Watch:
    """Reads, random bytes and draws as they happen, each with what the ledger says is spent by
    then."""

    def __init__(self, ledger, patch):
        self.seen, self._ledger = [], ledger
        for name in CLASSES:
            self._wrap(patch, owner_of_release(mechanism_class(name)), "release", "draw")
        for owner in (ArrayEngine, CellEngine):
            self._wrap(patch, owner, "answer", "read")
        self._wrap(patch, PairColumns, "engine", "read")
        self._wrap(patch, os, "urandom", "bits")

    def _wrap(self, patch, owner, name, what):
        original = getattr(owner, name)

        def noticed(*args, **given):
            self.note(what)
            return original(*args, **given)

        patch.setattr(owner, name, noticed)

    def note(self, what):
        self.seen.append((what, self._ledger.spent()))


def owner_of_release(kind):
    return DistanceMechanism if issubclass(kind, DistanceMechanism) else kind


class WatchedEdges:
    """Edges that notice when they are read."""

    def __init__(self, watch):
        self._watch = watch

    def __iter__(self):
        self._watch.note("read")
        return iter(EDGES)


def lazy_rows(watch):
    def noticed(frame):
        watch.note("read")
        return frame

    return pl.LazyFrame(ROWS).map_batches(noticed, validate_output_schema=False)


def array_rows(watch):
    return np.array(ROWS["x"])


def memory_rows(watch):
    return pl.DataFrame(ROWS)


CONTAINERS = {
    "array": (array_rows, {}),
    "frame": (memory_rows, {"column": "x"}),
    "frame of people": (memory_rows, {"column": "x", "unit": "p"}),
    "lazy frame": (lazy_rows, {"column": "x"}),
    "lazy frame of people": (lazy_rows, {"column": "x", "unit": "p", **GROUPS}),
}
CASES = [
    *(
        pytest.param(call, make, {**call.outputs(**GRID), **where}, id=f"{call}-{name}")
        for call in TABLES
        for name, (make, where) in CONTAINERS.items()
    ),
    *(pytest.param(call, WatchedEdges, {}, id=str(call)) for call in GRAPHS),
]


@pytest.mark.parametrize(("call", "make", "given"), CASES)
def test_nothing_is_read_or_drawn_before_it_is_paid(call, make, given, ledger, monkeypatch):
    watch = Watch(ledger, monkeypatch)
    call(make(watch), epsilon=0.25, ledger=ledger, **given)
    assert {what for what, _ in watch.seen} >= {"draw", "bits"}
    assert make is memory_rows or "read" in {what for what, _ in watch.seen}
    assert {spent for _, spent in watch.seen} == {0.25}


@pytest.mark.parametrize(("call", "make", "given"), CASES)
def test_what_is_refused_reads_and_draws_nothing(call, make, given, ledger, monkeypatch):
    watch = Watch(ledger, monkeypatch)
    with pytest.raises(BudgetExceeded):
        call(make(watch), epsilon=11, ledger=ledger, **given)
    with pytest.raises(DuffError, match="seed is not private"):
        call(make(watch), epsilon=0.25, ledger=ledger, rng=3, **given)
    assert watch.seen == []
    assert ledger.spent() == 0


class Untouchable:
    """Data that fail a test when they are looked at."""

    def __fail(self, *_):
        raise AssertionError("data were looked at before the parameters were checked")

    __len__ = __iter__ = __array__ = to_numpy = __fail


@pytest.mark.parametrize("call", CALLS, ids=str)
def test_parameters_are_checked_before_data_are_looked_at(call):
    grid = {} if call.spec.of_graphs else call.outputs(**GRID)
    right = {"epsilon": 1.0, **grid}
    with pytest.raises(AssertionError, match="looked at"):
        call(Untouchable(), **right)
    wrong = [{"epsilon": 0}, {"rng": -1}]
    wrong += [] if call.spec.of_graphs else [{"contributions": 2}]
    wrong += [{"bounds": None}, {"step": 0}] if grid else []
    for change in wrong:
        with pytest.raises(DuffError):
            call(Untouchable(), **{**right, **change})
    left_out = (
        {p.name for p in call.spec.parameters if not p.required} - call.spec.domain_parameters
    ) | {"interval"}
    for name in call.parameters.keys() - left_out:
        with pytest.raises(DuffError):
            call.verb(Untouchable(), **right, **{**call.parameters, name: None})


class Stream:
    """Bytes in the place of the operating system's: the same for the same seed, and counted."""

    def __init__(self, seed):
        self._random, self.calls = random.Random(seed), 0

    def __call__(self, size):
        self.calls += 1
        return self._random.randbytes(size)


def test_random_words_are_the_operating_systems_bytes(monkeypatch):
    """As they are: a generator that was seeded with a few of them would give no more than these."""
    monkeypatch.setattr(os, "urandom", Stream(5))
    expected = Stream(5)(8 * 100)
    assert entropy(None).words(100).tobytes() == expected
    monkeypatch.setattr(os, "urandom", Stream(5))
    assert entropy(None).below(2**800) == int.from_bytes(Stream(5)(100), "big")


@pytest.mark.parametrize("where", [{}, {"unit": "p", **GROUPS}], ids=["rows", "people"])
@pytest.mark.parametrize("call", CALLS, ids=str)
def test_every_draw_is_a_function_of_the_operating_systems_bits(call, where, monkeypatch):
    graph = call.spec.of_graphs
    data = EDGES if graph else pl.DataFrame({**ROWS, "x": [10**5 * x for x in ROWS["x"]]})
    grid = call.outputs(bounds=(0, 10**6), step=1000 if call.spec.name == "top" else 1)
    given = {} if graph else {"column": "x", **grid, **where}
    parameters = {**call.parameters, **({"nodes": 100} if graph else {})}
    found = []
    for seed in (1, *range(1, 12)):
        monkeypatch.setattr(os, "urandom", stream := Stream(seed))
        release = call.verb(data, epsilon=0.05, **parameters, **given)
        assert stream.calls > 0
        assert release.secure
        found.append(release.cells)
    assert found[0] == found[1]
    assert any(other != found[0] for other in found[2:])


AGES = {"column": "x", "bounds": (0, 9)}
RELEASES = [
    {"statistic": "median", **AGES},
    {"statistic": "quantile", "q": [0.1, 0.8], **AGES, "weight": 0.3},
    {"statistic": "describe", **AGES, "weight": Fraction(1, 7), "by": "g", "keys": ["a", "b"]},
]


@pytest.mark.parametrize("contributions", [1, 3])
def test_the_shares_of_a_plan_add_up(contributions, ledger):
    plan = Plan(RELEASES, epsilon=ASKED, unit="p", contributions=contributions)
    shares = [facts.loss.epsilon for facts in plan.check().releases.values()]
    assert sum(shares) == ASKED == plan.check().epsilon
    assert [share / shares[0] for share in shares] == [1, Fraction(3, 10), Fraction(1, 7)]
    with recorded() as draws:
        found = plan.run(pl.DataFrame(ROWS), ledger=ledger)
    median, quantiles, *summaries = draws
    received = [pays([median], 1), pays([quantiles], 1), pays(summaries, 2)]
    assert [r * contributions for r in received] == pytest.approx(
        [float(share) for share in shares]
    )
    assert [release.loss.epsilon for release in found.values()] == shares
    charged = [Fraction(charge["loss"]["epsilon"]) for charge in ledger.charges()]
    assert charged == shares
    assert ledger.remaining_exactly() == BUDGET - ASKED


def test_a_plan_is_paid_for_before_any_of_it_is_read_or_drawn(ledger, monkeypatch):
    watch = Watch(ledger, monkeypatch)
    Plan(RELEASES, epsilon=0.5, unit="p").run(lazy_rows(watch), ledger=ledger)
    assert {what for what, _ in watch.seen} == {"read", "draw", "bits"}
    assert {spent for _, spent in watch.seen} == {0.5}


@pytest.mark.parametrize(
    "second",
    [
        {"statistic": "median", "column": "none", "bounds": (0, 9)},
        {"statistic": "median", "column": "g", "bounds": (0, 9)},
        {"statistic": "median", **AGES, "by": "g", "keys": [3], "name": "b"},
        {"statistic": "mode", "column": "x", "categories": ["a"]},
        {"statistic": "median", **AGES, "unit": "none", "name": "b"},
    ],
    ids=str,
)
@pytest.mark.parametrize("make", [memory_rows, lazy_rows])
def test_a_plan_with_one_release_that_cannot_be_made_pays_and_draws_nothing(
    make, second, ledger, monkeypatch
):
    watch = Watch(ledger, monkeypatch)
    plan = Plan([{"statistic": "median", **AGES, "unit": "p"}, second], epsilon=0.5)
    with pytest.raises(DuffError):
        plan.run(make(watch), ledger=ledger)
    assert (watch.seen, ledger.charges(), ledger.spent()) == ([], [], 0)


def test_a_plan_beyond_the_budget_pays_and_draws_nothing(ledger, monkeypatch):
    watch = Watch(ledger, monkeypatch)
    with pytest.raises(BudgetExceeded):
        Plan(RELEASES, epsilon=Fraction(101, 10)).run(lazy_rows(watch), ledger=ledger)
    with pytest.raises(DuffError, match="seed is not private"):
        Plan(RELEASES, epsilon=1).run(lazy_rows(watch), ledger=ledger, rng=1)
    assert (watch.seen, ledger.charges()) == ([], [])
