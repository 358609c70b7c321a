"""Replay: sound calls pass on real sizes; whatever breaks a promise of privacy is found.

Every statistic and every engine: `replayed_calls_test.py`.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import get_args

import numpy as np
import polars as pl
import pyarrow.parquet as parquet
import pytest

import duffdp
from command_line import duff
from duffdp._count_ladder import CountLadder
from duffdp._engines import people
from duffdp._engines.requests import RecordCounts, ValueCounts, ask
from duffdp._evidence import Evidence, KeyCounts, Ladders, Totals
from duffdp._pipeline import driver
from duffdp._privacy import PrivacyUnit
from duffdp._steps import StepFunction
from duffdp.audit import neighbors, replay
from duffdp.audit.movement import GroupEvidence, PromiseBroken, movement, public_facts
from duffdp.audit.neighbor_tables import neighbor_files
from duffdp.audit.replay_cases import replay_cases, synthetic_table
from duffdp.mechanisms import mechanism_class
from duffdp.statistics import Quantile
from duffdp.statistics.count import Count
from duffdp.statistics.mean import SoftCounts
from duffdp.statistics.program import Draw, DrawSpec, ReleaseProgram
from duffdp.statistics.registry import REGISTRY
from duffdp.statistics.statistic import TotalsStatistic

GRID = {"bounds": (0, 9), "step": 1}
NUMBERS = np.arange(200.0) % 10
MEAN = partial(duffdp.mean, epsilon=1, **GRID)
MEDIAN = partial(duffdp.median, epsilon=1, **GRID)


def joined(data, value=9.0):
    return np.append(data, value)


def table(rows=300):
    order = np.arange(rows)
    return pl.DataFrame(
        {"x": order * 7 % 10.0, "g": np.array(["a", "b"])[order % 2], "p": order // 3}
    )


def with_person(frame, rows):
    """The table with one more person, whose rows are like the last ones."""
    last = frame.tail(rows)
    person = pl.lit(frame["p"].max() + 1, dtype=pl.Int64).alias("p")
    return pl.concat([frame, last.with_columns(person, pl.lit(9.0).alias("x"))])


# Sound calls.


def test_all_statistics_and_all_mechanisms_are_replayed():
    from duffdp.mechanisms import CLASSES

    cases = list(replay_cases(100))
    assert {case.spec.name for case in cases} == set(REGISTRY)
    seen = {row.mechanism for case in cases for row in case.replay().rows}
    assert seen == set(CLASSES)


LARGE = {
    "std": {},
    "variance": {"interval": 0.9},
    "mean": {"mechanism": "clipped"},
    "quantiles": {"qs": (0.1, 0.5, 0.9), "interval": 0.9},
    "describe": {},
    "distribution": {},
}


@pytest.fixture(scope="module")
def million():
    return synthetic_table(10**6)


@pytest.mark.parametrize("name", LARGE)
def test_calls_in_stages_on_a_million_rows(name, million):
    options = LARGE[name]
    if "interval" in options and not REGISTRY[name].interval_choices:
        options = {}
    if options.get("mechanism") not in (None, *REGISTRY[name].choices):
        options = {}
    call = partial(
        getattr(duffdp, name),
        epsilon=1,
        bounds=(0, 1000),
        step=1,
        column="x",
        unit="person",
        contributions=2,
        **options,
    )
    _, pair = neighbors(million, column="x", values=[1000.0], unit="person", rows=4)
    result = replay(call, pair.data, pair.neighbor)
    assert result.ok, result.findings
    assert max(row.moved for row in result.rows) > 0


def test_a_table_and_a_plan():
    frame = table()
    call = partial(
        duffdp.table,
        statistics={"x": ["median", "mean"]},
        epsilon=2,
        bounds={"x": (0, 9)},
        by="g",
        keys=["a", "b"],
        unit="p",
        contributions=2,
    )
    result = replay(call, frame, with_person(frame, 5), epsilon=2)
    assert result.ok, result.findings
    assert result.epsilon == 2
    assert len({row.release for row in result.rows}) == 3
    plan = duffdp.Plan(
        epsilon=1,
        releases=[
            {"statistic": "std", "column": "x", "bounds": (0, 9)},
            {"statistic": "count"},
        ],
    )
    assert replay(plan.run, frame, frame[:-1]).ok


@pytest.mark.parametrize("kind", ["pandas", "polars", "lazy", "arrow", "parquet", "csv"])
def test_people_of_every_kind_of_table_are_chosen_alike(kind, tmp_path):
    call = partial(
        duffdp.quantiles, qs=(0.25, 0.75), epsilon=1, column="x", **GRID, unit="p", contributions=2
    )
    frame = table()
    pairs = list(neighbors(frame, column="x", values=[0, 9], unit="p", rows=5))
    assert [pair.title for pair in pairs] == ["the last person leaves", "0 joins", "9 joins"]

    def made(data, name):
        path = tmp_path / f"{name}.{kind}"
        match kind:
            case "pandas":
                return data.to_pandas()
            case "lazy":
                return data.lazy()
            case "arrow":
                return data.to_arrow()
            case "parquet":
                data.write_parquet(path)
                return path
            case "csv":
                data.write_csv(path)
                return path
        return data

    for pair in pairs:
        result = replay(call, made(pair.data, "a"), made(pair.neighbor, "b"))
        assert result.ok, result.findings
        assert result.rows[0].moved > 0


def test_large_caps_are_chosen_alike():
    """More rows of a person count than a race has rounds."""
    frame = table(3000).with_columns(pl.Series("p", np.arange(3000) // 20))
    call = partial(duffdp.sum, epsilon=1, column="x", **GRID, unit="p", contributions=8)
    result = replay(call, frame, with_person(frame, 20))
    assert result.ok, result.findings
    assert result.rows[0].moved == 8


def test_a_statistic_of_a_caller():
    own = partial(duffdp.release, duffdp.statistics.Median("rank"), epsilon=1, **GRID)
    assert replay(own, NUMBERS, joined(NUMBERS)).ok


def test_a_part_of_a_sensitivity_can_cost_a_whole_step():
    """Staircase noise and a lattice fall in steps; other noise falls evenly."""
    noise = mechanism_class("staircase")(1.0)
    ratios = [noise.probability([0], [x], 9) / noise.probability([1], [x], 9) for x in range(40)]
    assert max(map(abs, np.log(ratios))) == pytest.approx(1)
    result = replay(partial(duffdp.sum, epsilon=1, **GRID), NUMBERS, joined(NUMBERS, 1.0))
    (row,) = result.rows
    assert (row.mechanism, row.moved, row.loss) == ("staircase", pytest.approx(1 / 9), 1)
    domain = duffdp.Grid(0, 2, 1)  # distances change by 0 and 1: half of what a record may do
    steps = [Quantile(0.25, "signed").steps(data, domain) for data in ([1.0], [1.0, 1.0])]
    laws = [mechanism_class("lattice")(1.0).law(each) for each in steps]
    ratios = [laws[0].probability(x) / laws[1].probability(x) for x in range(3)]
    assert 0.55 < max(map(abs, np.log(ratios))) < 1
    call = partial(duffdp.quantile, q=0.25, epsilon=1, bounds=domain)
    (row,) = replay(call, [1.0], [1.0, 1.0]).rows
    assert (row.mechanism, row.moved, row.loss) == ("lattice", 0.5, 1)
    (row,) = replay(partial(call, mechanism="duff"), [0.0, 0.0], [0.0, 0.0, 2.0]).rows
    assert row.loss == row.moved


def test_the_result_prints_as_a_table():
    text = str(replay(MEDIAN, NUMBERS, joined(NUMBERS)))
    assert text.startswith("release")
    assert "loss 1 of epsilon 1" in text
    assert text.endswith("no promise was broken")


def test_a_ledger_refuses_a_replay(tmp_path):
    ledger = duffdp.Ledger(tmp_path / "budget.db", epsilon=1)
    result = replay(partial(MEDIAN, ledger=ledger), NUMBERS, joined(NUMBERS))
    assert "both runs fail" in result.findings[0]
    assert ledger.remaining() == 1


# Broken promises, each found.


def found(call, data, neighbor, words):
    result = replay(call, data, neighbor)
    assert not result.ok
    assert any(words in finding for finding in result.findings), result.findings


def test_twice_the_epsilon_is_passed_on(monkeypatch):
    def doubled(name):
        return lambda epsilon: mechanism_class(name)(2 * epsilon)

    monkeypatch.setattr(driver, "mechanism_class", doubled)
    found(MEDIAN, NUMBERS, joined(NUMBERS), "has more than was paid")
    found(MEDIAN, NUMBERS, joined(NUMBERS), "add up to more than epsilon")


def test_epsilon_is_not_divided_among_the_rows_of_a_person(monkeypatch):
    monkeypatch.setattr(PrivacyUnit, "epsilon_per_row", lambda unit, epsilon: epsilon)
    frame = table()
    call = partial(duffdp.sum, epsilon=1, column="x", **GRID, unit="p", contributions=2)
    found(call, frame, with_person(frame, 5), "add up to more than epsilon")


def test_half_the_sensitivity(monkeypatch):
    sensitivity = SoftCounts.sensitivity
    monkeypatch.setattr(
        SoftCounts, "sensitivity", lambda self, domain: sensitivity(self, domain) // 2
    )
    found(MEAN, NUMBERS, joined(NUMBERS), "times its sensitivity, where 1 are promised")


class Doubled:
    """Distances that one record moves by two."""

    def steps(self, values, domain):
        steps = duffdp.statistics.Median().steps(values, domain)
        return StepFunction(domain, steps.start, steps.count, 2 * steps.distance)


def test_evidence_that_moves_by_two():
    call = partial(duffdp.release, Doubled(), epsilon=1, **GRID)
    found(call, NUMBERS, joined(NUMBERS), "moves by 2 times its sensitivity")


def test_a_rate_that_is_too_large():
    class Hasty:
        def steps(self, values, domain):
            return replace(duffdp.statistics.Median().steps(values, domain), rate=Fraction(1))

    call = partial(duffdp.release, Hasty(), epsilon=1, **GRID)
    odd = np.array([1.0, 4.0, 6.0])
    found(call, odd, joined(odd, 9.0), "times its sensitivity")


def test_rows_of_a_person_are_not_capped(monkeypatch):
    monkeypatch.setattr(people, "choose_rows", lambda who, limit, source: np.arange(len(who)))
    frame = table()
    call = partial(duffdp.count, epsilon=1, column="x", unit="p", contributions=2)
    found(call, frame, with_person(frame, 5), "moves by 5 times its sensitivity")


def test_groups_of_a_person_are_not_capped(monkeypatch):
    rows = people.choose_rows
    monkeypatch.setattr(
        people, "choose", lambda who, groups, cap, source: rows(who * 9 + groups, cap.rows, source)
    )
    monkeypatch.setattr("duffdp._engines.frames.choose", people.choose)
    frame = table()
    call = partial(
        duffdp.count,
        epsilon=1,
        column="x",
        by="g",
        keys=["a", "b"],
        unit="p",
        groups_per_person=1,
    )
    found(call, frame, with_person(frame, 5), "add up to more than epsilon")


class Leaking(TotalsStatistic):
    """A count that leaves the true number where the program finds it."""

    def __init__(self):
        self.seen = []

    def sensitivity(self, domain):
        return 1

    def totals(self, domain):
        counts = yield from ask(RecordCounts())
        self.seen.append(counts[0])
        return [(count,) for count in counts]


def with_program(monkeypatch, draws, body):
    """`duffdp.count` by another program."""
    spec = REGISTRY["count"]
    program = ReleaseProgram(draws, body)
    monkeypatch.setattr(type(spec), "program", lambda *_: program)
    return partial(duffdp.count, epsilon=1)


COUNT = DrawSpec(Count(), "two-sided-geometric", ("count",), kind="count")


def test_a_branch_by_a_number_that_was_not_released(monkeypatch):
    def body(draws, scope, epsilon):
        leaking = Leaking()
        (first,) = yield [Draw(leaking, "two-sided-geometric", epsilon / 2)]
        share = epsilon / 2 if leaking.seen[-1] > 200 else epsilon / 4
        yield [Draw(Count(), "two-sided-geometric", share)]
        return first

    call = with_program(monkeypatch, (COUNT,), body)
    found(call, NUMBERS, joined(NUMBERS), "or its epsilon differs")


def test_a_draw_that_only_some_data_have(monkeypatch):
    def body(draws, scope, epsilon):
        leaking = Leaking()
        (first,) = yield [Draw(leaking, "two-sided-geometric", epsilon / 2)]
        if leaking.seen[-1] > 200:
            yield [Draw(Count(), "two-sided-geometric", epsilon / 2)]
        return first

    call = with_program(monkeypatch, (COUNT,), body)
    found(call, NUMBERS, joined(NUMBERS), "is made for one data set alone")
    found(call, joined(NUMBERS), NUMBERS, "make different draws")


def test_a_statistic_by_a_number_that_was_not_released(monkeypatch):
    def body(draws, scope, epsilon):
        leaking = Leaking()
        (first,) = yield [Draw(leaking, "two-sided-geometric", epsilon / 2)]
        ends = (0, leaking.seen[-1])
        yield [Draw(SoftCounts(ends), "staircase", epsilon / 2, 2)]
        return first

    call = partial(with_program(monkeypatch, (COUNT,), body))
    found(call, NUMBERS, joined(NUMBERS), "the statistic of a draw differs")


def test_a_result_that_holds_a_number_that_was_not_drawn(monkeypatch):
    def body(draws, scope, epsilon):
        leaking = Leaking()
        yield [Draw(leaking, "two-sided-geometric", epsilon)]
        return [[leaking.seen[-1]]]

    call = with_program(monkeypatch, (COUNT,), body)
    found(call, NUMBERS, joined(NUMBERS), "the results differ though all draws are the same")


def test_a_sensitivity_by_the_data(monkeypatch):
    class Adaptive(Leaking):
        def evidence(self, scope, epsilon):
            numbers = yield from self.totals(scope.domain)
            return Totals(numbers, max(self.seen))

    def body(draws, scope, epsilon):
        (first,) = yield [Draw(Adaptive(), "two-sided-geometric", epsilon)]
        return first

    call = with_program(monkeypatch, (COUNT,), body)
    found(call, NUMBERS, joined(NUMBERS), "the sensitivity or the candidates")


def test_requests_by_the_data(monkeypatch):
    seen = []

    class Curious(Leaking):
        def totals(self, domain):
            if seen:  # what an earlier run saw
                yield from ask(ValueCounts())
            seen.append((yield from ask(RecordCounts())))
            return [(1,)]

    def body(draws, scope, epsilon):
        (first,) = yield [Draw(Curious(), "two-sided-geometric", epsilon)]
        return first

    call = with_program(monkeypatch, (COUNT,), body)
    found(partial(call, column="x"), table(), table()[:-1], "the requests")


def test_more_epsilon_than_the_account_has(monkeypatch):
    monkeypatch.setattr(driver.Account, "pay", lambda self, draws: None)

    def body(draws, scope, epsilon):
        (first,) = yield [Draw(Count(), "two-sided-geometric", epsilon)]
        yield [Draw(Count(), "two-sided-geometric", epsilon)]
        return first

    call = with_program(monkeypatch, (COUNT,), body)
    found(call, NUMBERS, joined(NUMBERS), "more epsilon than the release has")


def test_a_call_that_costs_more_than_it_may():
    result = replay(MEDIAN, NUMBERS, joined(NUMBERS), epsilon=0.5)
    assert result.findings == ("the releases declare epsilon 1, above 0.5",)


def test_an_error_by_a_record():
    def call(data, rng):
        if len(data) > 200:
            raise ValueError("too many")
        return MEDIAN(data, rng=rng)

    found(call, NUMBERS, joined(NUMBERS), "the runs end differently")


def test_a_warning_by_a_record():
    def call(data, rng):
        if len(data) > 200:
            warnings.warn("too many", stacklevel=1)
        return MEDIAN(data, rng=rng)

    found(call, NUMBERS, joined(NUMBERS), "the runs warn differently")


@pytest.mark.parametrize("more", [True, False])
def test_a_release_that_only_some_data_have(more):
    def call(data, rng):
        releases = [MEDIAN(data, rng=rng)]
        return releases + ([MEAN(data, rng=rng)] if (len(data) > 200) == more else [])

    result = replay(call, NUMBERS, joined(NUMBERS))
    words = "more releases" if more else "the results differ"
    assert any(words in finding for finding in result.findings), result.findings


# The rules of evidence.


def group(evidence, statistic=None):
    mechanism = mechanism_class("two-sided-geometric")(1)
    return GroupEvidence(statistic or Count(), evidence, 0, mechanism, Fraction(1))


def ladder(count, *rungs, largest=100):
    def sensitivity(begin, end):
        return [rungs[min(t, len(rungs) - 1)] for t in range(begin, end)]

    return Ladders([CountLadder(count, sensitivity, largest, 1)], duffdp.Grid(0, largest, 1))


def test_every_kind_of_evidence_has_a_rule():
    kinds = {type(call.evidence) for call in recorded_calls()}
    # Counts of keys have a call of their own.
    assert kinds == set(get_args(Evidence)) - {KeyCounts}


def recorded_calls():
    from duffdp.audit.replay import Recorder

    names = {"median", "count", "quantiles", "triangles"}
    for case in replay_cases(100):
        if case.spec.name in names and case.kind in ("row", "edge"):
            recorder = Recorder(1)
            case(case.data, rng=recorder)
            for release in recorder.releases:
                for calls in release.calls.values():
                    assert public_facts(calls[0].evidence) == public_facts(calls[0].evidence)
                    yield from calls


@pytest.mark.parametrize(
    ("before", "after", "moves"),
    [
        (ladder(5, 2, 3), ladder(5, 2, 3), 0),
        (ladder(5, 2, 3), ladder(7, 2, 3), 1),
        (ladder(5, 2, 3), ladder(8, 2, 3), 2),
        (ladder(5, 2, 3), ladder(5, 3), 1),
        (ladder(5, 1, 2, 3), ladder(5, 3), 2),
    ],
)
def test_ladders(before, after, moves):
    assert movement(group(before), group(after)) == moves
    assert movement(group(after), group(before)) == moves


def test_a_ladder_that_falls():
    with pytest.raises(PromiseBroken, match="falls"):
        movement(group(ladder(5, 3, 2)), group(ladder(5, 3, 2)))


def test_totals():
    before, after = Totals([(5, 7)], 4), Totals([(2, 8)], 4)
    assert movement(group(before), group(after)) == 1
    assert movement(group(before), group(Totals([(5, 12)], 4))) == Fraction(5, 4)


@pytest.mark.parametrize("utility", ["distance", "signed", "rank"])
def test_windows_move_as_all_candidates_do(utility):
    """Against the whole step functions, over many random data sets."""
    source = np.random.default_rng(3)
    for _ in range(40):
        data = source.integers(0, 30, source.integers(1, 12)).tolist()
        other = [*data, int(source.integers(0, 30))]
        statistic = duffdp.statistics.Quantile(Fraction(1, 3), utility)
        steps = [statistic.steps(values, duffdp.Grid(0, 29, 1)) for values in (data, other)]
        spread = np.ptp(np.subtract(*(np.repeat(s.distance, s.count) for s in steps)))
        call = partial(duffdp.release, statistic, epsilon=2, bounds=(0, 29), step=1)
        result = replay(call, data, other)
        assert result.rows[0].moved == pytest.approx(float(spread * statistic.unit / 2))


# Neighbors of files, and the command.


def test_neighbors_of_text_files(tmp_path):
    path = tmp_path / "people.csv"
    path.write_bytes('größe;p;note\n1,5;7;"a\n;b"\n2;8;x\n3;7;y'.encode())
    pairs = list(neighbor_files(path, tmp_path, column="größe", values=[9, ""], unit="p", rows=2))
    assert [pair.title for pair in pairs] == [
        "the last person leaves",
        "9 joins",
        "a missing value joins",
    ]
    header = "größe;p;note\n"
    assert pairs[0].data.read_text() == f'{header}2;8;x\n1,5;7;"a\n;b"\n3;7;y\n'
    assert pairs[0].neighbor.read_text() == f"{header}2;8;x\n"
    assert pairs[1].neighbor.read_text().endswith("3;7;y\n9;9;x\n9;9;y\n")


def row_count(path):
    return len(pl.read_ndjson(path) if path.suffix == ".jsonl" else parquet.read_table(path))


def test_neighbors_of_other_files(tmp_path):
    frame = table(9)
    frame.write_parquet(tmp_path / "t.parquet")
    frame.write_ndjson(tmp_path / "t.jsonl")
    for name in ("t.parquet", "t.jsonl"):
        file = tmp_path / name
        pairs = neighbor_files(file, tmp_path, column="x", values=[4], unit="p", rows=3)
        sizes = [[row_count(changed) for changed in pair[1:]] for pair in pairs]
        assert sizes == [[9, 6], [9, 12]]
    with pytest.raises(duffdp.UnsupportedData, match="replay makes neighbors"):
        list(neighbor_files(tmp_path / "t.xlsx", tmp_path))


def test_neighbors_of_arrays_and_lists():
    titles = [pair.title for pair in neighbors(NUMBERS, values=[1.5])]
    assert titles == ["the last record leaves", "1.5 joins"]
    assert [len(pair.neighbor) for pair in neighbors([1, 2], values=[3])] == [1, 3]
    with pytest.raises(duffdp.UnsupportedData):
        list(neighbors(3))


def test_the_command_on_a_table_of_the_caller(tmp_path):
    table().write_csv(tmp_path / "people.csv")
    words = "median people.csv --column x --bounds 0 9 --epsilon 1 --unit p --contributions 2"
    ended = duff("audit", "--replay", *words.split(), cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.count(" ok") == 4
    assert "NOT private" in ended.stdout


def test_the_command_finds_a_broken_promise(tmp_path, monkeypatch):
    table().write_csv(tmp_path / "people.csv")
    monkeypatch.chdir(tmp_path)
    sensitivity = SoftCounts.sensitivity
    monkeypatch.setattr(
        SoftCounts, "sensitivity", lambda self, domain: sensitivity(self, domain) // 2
    )
    from duffdp._cli.app import run

    words = "mean people.csv --column x --bounds 0 9 --epsilon 1"
    assert run(["audit", "--replay", *words.split()]) == 1
