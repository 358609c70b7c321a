"""Several releases of one table share their passes over it: each gets what it would get alone."""

from __future__ import annotations

import datetime as dt
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import chi2

import duffdp
from duffdp import Categories, Grid
from duffdp._engines.adapters.duckdb import DuckdbRelation
from duffdp._engines.adapters.polars import PolarsLazy
from duffdp._engines.arrays.ranks import trim
from duffdp._engines.files.csv import CsvFiles
from duffdp._engines.files.json_lines import JsonLines
from duffdp._engines.queries import engine as query_engine
from duffdp._engines.requests import (
    BinCounts,
    CandidateAt,
    ColumnRequest,
    CountsOfCounts,
    LevelSums,
    Quantization,
    RankAt,
    RanksNear,
    RecordCounts,
    ValueCounts,
    rank_span,
)
from duffdp._engines.shared import share_scans
from duffdp._sampling.entropy import entropy
from duffdp.domain import Bins, Presence
from engines import ENGINES, written
from query_oracle import open_table, plain

KEYS = ["a", "b", "c"]  # nothing is in "c"
FALSE_ALARM = 1e-9
ASKED = (
    ("x", Grid(-10.0, 10.0, 2.0**-20)),
    ("x", Grid(0, 4, 1)),
    ("n", Grid(0, 1000, 1)),
    ("day", Grid(dt.date(2020, 1, 1), dt.date(2030, 1, 1))),
    ("word", Categories(["one", "two", "nowhere"])),
    ("x", Bins([-1.0, 0.0, 0.5, 2.0])),
    ("n", Presence()),
    ("n", Presence(rows=True)),
)
QUARTERS = RanksNear(tuple((Fraction(i, 4), reach) for i, reach in enumerate((3, 0, 5, 1, 2))))


def columns(rows=240):
    """Values of all kinds, some of them missing, in groups and of people of which some are."""
    rng = np.random.default_rng(7)
    x = [*rng.normal(size=rows - 6).tolist(), None, float("nan"), -0.0, 1e300, np.inf, -np.inf]
    some = [None if i % 11 == 3 else int(v) for i, v in enumerate(rng.integers(-5, 1100, rows))]
    days = [dt.date(2019, 6, 1) + dt.timedelta(int(d)) for d in rng.integers(0, 4300, rows)]
    words = [("one", "two", "three", None)[i] for i in rng.integers(0, 4, rows)]
    return {
        "x": (pa.float64(), x),
        "n": (pa.int64(), some),
        "day": (pa.date32(), [None if i % 13 == 5 else day for i, day in enumerate(days)]),
        "word": (pa.string(), words),
        "g": (pa.string(), [("a", "b", "elsewhere", None)[i] for i in rng.integers(0, 4, rows)]),
        "who": (pa.int64(), [None if i % 17 == 0 else i % 60 for i in range(rows)]),
    }


def tables(data, asked=ASKED, grouped=False, unit=None, contributions=1, where=None):
    by = {"by": "g", "keys": KEYS} if grouped else {}
    how = {"unit": unit, "contributions": contributions, "where": where, **by}
    return [open_table(data, domain, column, **how) for column, domain in asked]


def engines(some, seed=1):
    return [table.engine(entropy(seed)) for table in some]


def answers(engine, column, *requests):
    groups = np.arange(engine.groups)
    return engine.answer([ColumnRequest(column, groups, request) for request in requests])


def value_counts(engine, column):
    """Of every group."""
    (counts,) = answers(engine, column, ValueCounts())
    return counts.split()


def requests(domain, every=True):
    """What a column is asked for; on a grid in groups that differ."""
    if not isinstance(domain, Grid):
        return [ValueCounts(), RecordCounts()]
    levels = Quantization(0, domain.size - 1), Quantization(1, domain.size // 2, 0, True)
    some = [QUARTERS, RecordCounts(), *map(LevelSums, levels)]
    return [*some, BinCounts((0, 1, domain.size // 3)), RankAt(2)] if every else some


def same_answers(request, one, other):
    if not isinstance(request, RanksNear):
        assert plain(one) == plain(other)
        return
    for target, *both in zip(request.targets, one, other, strict=True):
        for mine, shared in zip(*(ranks.split() for ranks in both), strict=True):
            assert ranks_of(mine, *target) == ranks_of(shared, *target)


def ranks_of(near, q, reach):
    low, high = (int(end[0]) for end in rank_span(q, reach, np.array([near.total])))
    near = trim(near, near.last + 1, low, high)
    return near.values.tolist(), near.counts.tolist(), near.below, near.total


@pytest.mark.parametrize(
    ("engine", "grouped", "unit", "asked"),
    [
        *((engine, True, None, ASKED) for engine in ("duckdb", "polars-lazy")),
        *((engine, False, "who", ASKED) for engine in ("duckdb", "polars-lazy")),
        ("polars-lazy", False, None, ASKED),
        ("polars-lazy", True, "who", ASKED),
        ("duckdb", True, "who", ASKED[:1] + ASKED[3:5]),
        ("parquet", True, None, ASKED[:1] + ASKED[3:5]),
        ("ibis", True, None, ASKED[:1] + ASKED[3:5]),
        ("postgres", False, "who", ASKED[:1] + ASKED[3:5]),
        ("spark", False, "who", (("x", Grid(-10.0, 10.0, 0.01)), ASKED[4])),
    ],
)
def test_each_column_answers_as_it_does_alone(monkeypatch, engine, grouped, unit, asked):
    """Few buckets, and few values at once: it takes several rounds. All columns are asked in one
    round.
    """
    monkeypatch.setattr(query_engine, "BUCKETS", 64)
    monkeypatch.setattr(query_engine, "BUCKETS_OF_PEOPLE", 64)
    monkeypatch.setattr(query_engine, "MAX_COUNTED_BY_VALUE", 1)
    data = ENGINES[engine](columns())
    given = {"grouped": grouped, "unit": unit, "contributions": 4, "where": "n <> 7 OR n IS NULL"}
    alone, together = (tables(data, asked, **given) for _ in range(2))
    share_scans(together)
    assert all(table.shared is not None for table in together)
    shared = engines(together)
    assert [number for _, number in shared] == list(range(len(asked)))
    (engine,) = {id(each): each for each, _ in shared}.values()
    groups = np.arange(engine.groups)
    rounds = [requests(domain, len(asked) == len(ASKED)) for _, domain in asked]
    everything = [
        ColumnRequest(number, groups, request)
        for number, own in enumerate(rounds)
        for request in own
    ]
    found = iter(engine.answer(everything))
    for own, (one, _) in zip(rounds, engines(alone), strict=True):
        for request, mine in zip(own, answers(one, 0, *own), strict=True):
            same_answers(request, mine, next(found))


@pytest.mark.parametrize("unit", [None, "who"])
def test_a_mode_among_other_columns(unit):
    """Candidates by their records, of a column that has rows without a value."""
    data, fine = ENGINES["duckdb"](columns()), Grid(-10.0, 10.0, 2.0**-20)
    asked = (("x", fine), ("n", Grid(0, 1000, 1)))
    alone, together = (tables(data, asked, True, unit, 4) for _ in range(2))
    share_scans(together)
    for (one, _), (engine, column) in zip(engines(alone), engines(together), strict=True):
        some = [CountsOfCounts(), CandidateAt(0, 5)]
        both = answers(one, 0, *some), answers(engine, column, *some)
        assert [plain(each) for each in both[0]] == [plain(each) for each in both[1]]


@pytest.mark.parametrize("engine", ["duckdb", "polars-lazy", "ibis", "spark"])
def test_the_rows_of_a_person_that_count_are_a_fair_choice_for_each_column(engine):
    """Of four rows, two of which are alike, and one has nothing in the second column."""
    people, most = 1000, 1
    rows = [(i, first, second) for i in range(people) for first, second in _ROWS]
    who, first, second = (list(column) for column in zip(*rows, strict=True))
    kinds = {"who": pa.int64(), "first": pa.int64(), "second": pa.int64()}
    given = zip(kinds.values(), (who, first, second), strict=True)
    data = ENGINES[engine](dict(zip(kinds, given, strict=True)))
    grid = Grid(0, 3, 1)
    asked = (("first", grid), ("second", grid))
    some = tables(data, asked, unit="who", contributions=most)
    share_scans(some)
    for made, chances in zip(engines(some, seed=None), _CHANCES, strict=True):
        ((index, count),) = value_counts(*made)
        assert count.sum() == most * people  # no person has fewer in either column
        expected = np.array([people * most * chance for chance in chances])
        seen = np.zeros(len(chances))
        seen[index] = count
        there = expected > 0
        distance = ((seen - expected)[there] ** 2 / expected[there]).sum()
        assert distance < chi2.isf(FALSE_ALARM, there.sum() - 1)


_ROWS = ((0, 0), (0, 0), (0, None), (1, 2))
_CHANCES = ((3 / 4, 1 / 4), (2 / 3, 0, 1 / 3))


@pytest.mark.parametrize("engine", ["duckdb", "polars-lazy"])
def test_a_person_who_leaves_takes_their_rows_and_moves_nobody_elses(engine):
    given, most = columns(), 2
    people = [23 if 100 <= i < 150 else who for i, who in enumerate(given["who"][1])]
    given["who"] = pa.int64(), people  # one of them with many rows
    asked = ASKED[:4]
    stays = [i for i, who in enumerate(given["who"][1]) if who != 23]
    fewer = {name: (kind, [values[i] for i in stays]) for name, (kind, values) in given.items()}
    tallies = []
    for each in (given, fewer):
        some = tables(ENGINES[engine](each), asked, True, "who", most)
        share_scans(some)
        tallies.append([value_counts(*made) for made in engines(some)])
    for before, after in zip(*tallies, strict=True):
        moved = 0
        for one, other in zip(before, after, strict=True):
            known = dict(zip(*map(np.ndarray.tolist, one), strict=True))
            for index, count in zip(*map(np.ndarray.tolist, other), strict=True):
                known[index] -= count
            assert min(known.values(), default=0) >= 0
            moved += sum(known.values())
        assert moved == most


def test_only_tables_of_the_same_rows_are_share_scans():
    data, other = (ENGINES["duckdb"](columns()) for _ in range(2))
    asked = ASKED[:1]
    apart = [
        *tables(data, asked),
        *tables(other, asked),
        *tables(data, asked, grouped=True),
        *tables(data, asked, unit="who"),
        *tables(data, asked, unit="who", contributions=2),
        *tables(data, asked, where="n > 3"),
    ]
    share_scans(apart)
    assert all(table.shared is None for table in apart)
    share_scans([*apart, *tables(data, ASKED[2:3], unit="who", contributions=2)])
    assert [table.shared is not None for table in apart] == [False] * 4 + [True, False]


@pytest.mark.parametrize(
    ("ending", "reader"), [(".csv", CsvFiles), (".jsonl", JsonLines)], ids=["csv", "jsonl"]
)
def test_files_of_text_are_read_once_for_each_kind_of_values(monkeypatch, ending, reader):
    """But not together with a condition about the values, which is about text."""
    data, real, read = written(ending)(columns()), reader.parse, []
    monkeypatch.setattr(reader, "parse", lambda *given: read.append(1) or real(*given))
    words = Categories(["a", "b", "one", "two"])
    asked = (*ASKED[:4], ("day", Grid(dt.date(2021, 1, 1), dt.date(2022, 1, 1))), ("word", words))
    asked = (*asked, ("n", Presence()))
    given = {"grouped": True, "unit": "who", "contributions": 4}
    alone, together = (tables(data, asked, **given) for _ in range(2))
    share_scans(together)
    assert all(table.shared is not None for table in together)
    known = [value_counts(*made) for made in engines(alone)]
    read.clear()
    found = [value_counts(*made) for made in engines(together)]
    assert len(read) == 3
    for one, other in zip(known, found, strict=True):
        for mine, shared in zip(one, other, strict=True):
            assert [a.tolist() for a in mine] == [a.tolist() for a in shared]
    apart = tables(data, asked[5:], where="word <> 'one'")
    share_scans(apart)
    assert all(table.shared is None for table in apart)


def scans(monkeypatch, engine, plan_text):
    """How often what is fetched or stored scans its source, by the plans of what is sent."""
    found = []
    for name, real in (("fetch", engine.fetch), ("stored", engine.stored)):

        def counted(self, rows, run=real):
            found.append(plan_text(rows.to_native()))
            return run(self, rows)

        monkeypatch.setattr(engine, name, counted)
    return found


def five_columns(monkeypatch, engine):
    """A table of five columns of numbers, and the scans of each query about it."""
    rng, rows = np.random.default_rng(3), 3000
    given = {name: (pa.float64(), rng.normal(size=rows).tolist()) for name in "abcde"}
    given["g"] = pa.string(), rng.choice(["a", "b"], rows).tolist()
    given["who"] = pa.int64(), rng.integers(0, 900, rows).tolist()
    data = ENGINES[engine](given)
    if engine == "polars-lazy":
        return data, scans(monkeypatch, PolarsLazy, lambda q: q.explain().count('DF ["a"'))
    # An operator says its name, and that of its function.
    scanned = "READ_PARQUET"
    return data, scans(monkeypatch, DuckdbRelation, lambda q: q.explain().count(scanned) // 2)


@pytest.mark.parametrize("unit", [None, "who"])
@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("engine", ["parquet", "polars-lazy"])
def test_a_table_of_five_columns_reads_its_source_three_times(monkeypatch, engine, grouped, unit):
    """And once for people, whose rows that count are stored."""
    data, found = five_columns(monkeypatch, engine)
    groups = {"by": "g", "keys": KEYS} if grouped else {}
    asked = {name: ["mean", 0.25, 0.5, 0.75] for name in "abcde"}
    bounds = dict.fromkeys("abcde", (-10, 10))
    table = duffdp.table(data, asked, epsilon=1, bounds=bounds, unit=unit, **groups)
    assert len(table.releases) == 11
    assert 0 < sum(found) <= (3 if unit is None else 1)


def test_a_plan_gives_what_its_releases_give_alone():
    """At an epsilon that leaves no noise: draws one after the other, and later ones that depend on
    earlier ones. A quantile is any candidate between two records.
    """
    data = ENGINES["duckdb"](columns())
    x, n = ({"column": "x", "bounds": (-8, 8)}, {"column": "n", "bounds": (0, 1000)})
    releases = [
        ({"statistic": "count", "column": "n"}, 0),
        ({"statistic": "mean", **n}, 1e-6),
        ({"statistic": "mean", "mechanism": "clipped", **x}, 1e-6),
        ({"statistic": "quantiles", "qs": [0.3, 0.7], **x}, 0.2),
        ({"statistic": "sum", **n}, 1e-6),
        ({"statistic": "std", **n}, 1e-6),
        ({"statistic": "iqr", **x}, 0.2),
        ({"statistic": "mode", "column": "word", "categories": ["one", "two"]}, None),
    ]
    for each in ({}, {"by": "g", "keys": KEYS[:2]}):
        asked = [(one | each, error) for one, error in releases]
        made = duffdp.Plan([one for one, _ in asked], epsilon=10**9).run(data)
        for (one, error), release in zip(asked, made.values(), strict=True):
            (alone,) = duffdp.Plan([one], epsilon=10**8).run(data).values()
            for (*mine, value), (*other, known) in zip(release.rows(), alone.rows(), strict=True):
                assert mine == other
                assert value == (known if error is None else pytest.approx(known, abs=error))


def test_what_is_asked_cell_by_cell_is_answered_in_a_plan_as_well():
    data = ENGINES["duckdb"](columns())
    x = {"column": "x", "bounds": (-8, 8)}
    asked = [{"statistic": "distribution", **x}, {"statistic": "median", **x}]
    made, _ = duffdp.Plan(asked, epsilon=4, unit="who").run(data).values()
    assert len(made.rows()) == 7


def test_squares_are_those_of_few_levels():
    """Of groups that ask for sums, some for squares and some not: a record that lies high in one of
    the latter has a square that no engine holds.
    """
    fine = Grid(-10.0, 10.0, 2.0**-36)
    some = tables(ENGINES["duckdb"](columns()), [("x", fine), ASKED[1]], grouped=True)
    share_scans(some)
    (engine, column), _ = engines(some)
    few, wide = Quantization.squared(0, fine.size - 1), Quantization(0, fine.size - 1)
    asked = [ColumnRequest(column, np.array([g]), LevelSums(q)) for g, q in enumerate((few, wide))]
    (first,), (second,) = engine.answer(asked)
    assert first.squares > 0
    assert second.levels > 2**36


def test_a_nan_takes_the_place_of_no_number():
    """Of a person with a number and a nan the number counts, whichever comes first."""
    columns = {
        "x": (pa.float64(), [1.0, float("nan")] * 200),
        "n": (pa.int64(), [None, 3] * 200),
        "who": (pa.int64(), [i // 2 for i in range(400)]),
    }
    asked = (("x", Grid(0, 4, 1)), ("x", Grid(-10.0, 10.0, 2.0**-20)), ("n", Grid(0, 9, 1)))
    made = tables(ENGINES["duckdb"](columns), asked, unit="who")
    share_scans(made)
    assert [answers(*each, RecordCounts()) for each in engines(made)] == [[[200]]] * 3


@pytest.mark.parametrize("unit", [None, "who"])
@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("engine", ["parquet", "polars-lazy"])
def test_a_round_of_five_columns_scans_three_times(monkeypatch, engine, grouped, unit):
    """Ranks, counts and sums of all; once more for nothing that was asked before."""
    data, found = five_columns(monkeypatch, engine)
    asked = [(name, Grid(-10.0, 10.0, 2.0**-20)) for name in "abcde"]
    some = tables(data, asked, grouped, unit)
    share_scans(some)
    made, _ = engines(some)[0]
    some_requests = QUARTERS, RecordCounts(), LevelSums(Quantization(0, asked[0][1].size - 1))
    groups = np.arange(made.groups)
    asked = [ColumnRequest(column, groups, each) for column in range(5) for each in some_requests]
    for _ in range(2):
        made.answer(asked)
        assert 0 < sum(found) <= (3 if unit is None else 1)
