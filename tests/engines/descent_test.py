"""Requests about a table that stays where it is are answered as numpy answers them."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

from covering import every_pair
from duffdp import Categories, Grid
from duffdp._engines.adapters.duckdb import DuckdbRelation
from duffdp._engines.adapters.query import NarwhalsQuery
from duffdp._engines.adapters.spark import FAST_HASH_CELLS, SparkFrame
from duffdp._engines.queries import cells as cell_counts
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
)
from duffdp.domain import Bins, Presence
from engines import ENGINES
from query_oracle import ask, check, check_answer, open_engine

SHARES = tuple(Fraction(i, 20) for i in range(21))
FINE = Grid(-10.0, 10.0, 2.0**-30)
GRID = Grid(-10.0, 10.0, 20 / (2**24 - 1))
KEYS = [3, 0, 1, 7]  # nothing is in 7
QUARTERS = RanksNear(tuple((Fraction(i, 4), reach) for i, reach in enumerate((3, 0, 5, 1, 2))))
HALF = GRID.size // 2
REQUESTS = [
    QUARTERS,
    RecordCounts(),
    LevelSums(Quantization(0, GRID.size - 1)),
    LevelSums(Quantization(5, HALF + 7, 3)),
    LevelSums(Quantization.squared(HALF - 10**6, HALF + 10**6)),
    BinCounts((0, 5, HALF)),
    RankAt(HALF),
    RankAt(0),
    RankAt(GRID.size - 1),
    CountsOfCounts(),
    CandidateAt(1, 3),
]


@pytest.fixture
def few_buckets(monkeypatch):
    """Few buckets, and few values at once: it takes several rounds."""
    monkeypatch.setattr(query_engine, "BUCKETS", 64)
    monkeypatch.setattr(query_engine, "BUCKETS_OF_PEOPLE", 64)
    monkeypatch.setattr(query_engine, "MAX_COUNTED_BY_VALUE", 50)


def columns(rows=400):
    """Values with ties, missing ones and infinities, in groups and of one person each."""
    rng = np.random.default_rng(5)
    x = np.concatenate([rng.normal(size=rows - 90), np.full(80, 1.5), [1e300, -np.inf] * 5])
    values = [None if i % 13 == 4 else float("nan") if i % 29 == 3 else v for i, v in enumerate(x)]
    return {
        "x": (pa.float64(), values),
        "g": (pa.int64(), [None if i % 17 == 5 else int(rng.integers(0, 5)) for i in range(rows)]),
        "who": (pa.int64(), list(range(rows))),
    }


def indices(given, grid=GRID, keys=None):
    """The candidates of each group."""
    both = zip(given["x"][1], given["g"][1], strict=True)
    kept = [(v, g) for v, g in both if v is not None and v == v]
    snapped = grid.snap(np.array([v for v, _ in kept]))
    if keys is None:
        return [snapped]
    return [snapped[[g == key for _, g in kept]] for key in keys]


@pytest.mark.parametrize(
    ("engine", "keys", "unit"),
    every_pair(["duckdb", "polars-lazy", "ibis"], [None, KEYS, [3]], [None, "who"]),
)
def test_all_requests_of_a_round(few_buckets, engine, keys, unit):
    """Of all groups and of some, together and one by one; remembered answers are the same.

    Every engine with each selection of groups, each of them with and without people: requests are
    counted from the rows that are left, whichever they are.
    """
    given = columns()
    data, own = ENGINES[engine](given), indices(given, keys=keys)
    by = None if keys is None else "g"
    open_one = lambda: open_engine(data, GRID, "x", by, keys, unit)  # noqa: E731
    for groups in ([0],) if len(own) == 1 else ([0, 1, 2, 3], [2, 0]):
        some = REQUESTS[:-1] if 3 in groups else REQUESTS  # no candidate of 7 has a record
        together = open_one()
        check(together, own, GRID.size, some, groups=groups)
        check(together, own, GRID.size, some[::-1], groups=groups)
        for request in some:
            check(open_one(), own, GRID.size, [request, request], groups=groups)
        counted = open_one()
        check(counted, own, GRID.size, [ValueCounts()], groups=groups)
        check(counted, own, GRID.size, some, groups=groups)


@pytest.mark.parametrize(
    ("engine", "keys", "unit"),
    [
        ("parquet", KEYS, None),
        ("postgres", None, None),
        ("postgres", KEYS, "who"),
        ("spark", KEYS, None),
        ("dask", KEYS, None),
        ("dask", None, "who"),
    ],
)
def test_other_engines(few_buckets, engine, keys, unit):
    """Where each query takes long: one round, and one about some groups."""
    given = columns(200)
    data, own = ENGINES[engine](given), indices(given, keys=keys)
    made = open_engine(data, GRID, "x", None if keys is None else "g", keys, unit)
    requests = [QUARTERS, *REQUESTS[2:5], REQUESTS[5], CountsOfCounts()]
    check(made, own, GRID.size, requests)
    check(made, own, GRID.size, [RankAt(HALF), CandidateAt(1, 2), RecordCounts()], groups=[0])


@pytest.mark.parametrize("reach", [2, 400])
@pytest.mark.parametrize("listed", [2**12, 3])
@pytest.mark.parametrize("engine", ["polars-lazy", "duckdb"])
def test_many_ranks(monkeypatch, few_buckets, engine, listed, reach):
    """Ranges that touch, overlap, lie in one another, reach the ends of the domain, and are empty
    between; asked for by their buckets or by their ends.
    """
    monkeypatch.setattr(cell_counts, "MAX_LISTED_BUCKETS", listed)
    rng = np.random.default_rng(reach)
    values = np.concatenate([rng.normal(size=700), np.full(200, 1.5), rng.normal(9, 0.001, 99)])
    data = ENGINES[engine]({"x": (pa.float64(), values.tolist())})
    request = RanksNear(tuple((q, each) for q in SHARES for each in (reach, 0)))
    check(open_engine(data, FINE, "x"), [FINE.snap(values)], FINE.size, [request])


def test_requests_about_different_groups_in_one_round(few_buckets):
    """Each with targets, levels and cells of its own; the answers are in the order that is asked
    for.
    """
    given = columns()
    own = indices(given, keys=KEYS)
    for engine in ("duckdb", "polars-lazy"):
        made = open_engine(ENGINES[engine](given), GRID, "x", "g", KEYS)
        wanted = [
            ([2, 0], RanksNear(((Fraction(1, 2), 3),))),
            ([1], RanksNear(((Fraction(1, 2), 3), (Fraction(1, 9), 0)))),
            ([3, 1], RanksNear(((Fraction(1), 1),))),
            *(([g], LevelSums(Quantization(g * 1000, HALF + g, g))) for g in range(4)),
            ([1, 2], LevelSums(Quantization.squared(HALF - 2**12, HALF + 2**20))),
            *(([g], BinCounts((0, HALF - g * 10**5, HALF + 2))) for g in range(4)),
            ([2, 1], RecordCounts()),
        ]
        for groups, request in wanted:
            check(made, own, GRID.size, [request], groups=groups)
        again = open_engine(ENGINES[engine](given), GRID, "x", "g", KEYS)
        asked = [ColumnRequest(0, np.array(groups), request) for groups, request in wanted]
        answers = again.answer(asked)
        for (groups, request), answer in zip(wanted, answers, strict=True):
            check_answer(request, answer, [own[g] for g in groups], GRID.size)


def test_a_key_that_is_spelled_in_several_ways_is_one_group(few_buckets):
    given = {"x": (pa.float64(), [1.0, 2.0, 2.0, 5.0]), "g": (pa.float64(), [0.0, -0.0, 1.0, 0.0])}
    grid = Grid(0, 9, 1)
    for engine in ("duckdb", "polars-lazy"):
        made = open_engine(ENGINES[engine](given), grid, "x", "g", [0.0, 1.0])
        requests = [ValueCounts(), LevelSums(Quantization(0, 9)), BinCounts((0, 2))]
        check(made, [np.array([1, 2, 5]), np.array([2])], grid.size, requests)


@pytest.mark.parametrize("unit", [None, "who"])
@pytest.mark.parametrize(
    ("domain", "counts"),
    [
        (Categories([1.0, 2.0, 9.0]), [([0, 1], [1, 2]), ([1], [1])]),
        (Bins([0.0, 2.0, 4.0]), [([0, 1], [1, 2]), ([1], [1])]),
        (Presence(), [([0], [4]), ([0], [1])]),
        (Presence(rows=True), [([0], [5]), ([0], [2])]),
    ],
    ids=repr,
)
@pytest.mark.parametrize("engine", ["duckdb", "polars-lazy"])
def test_domains_that_are_no_grid(engine, domain, counts, unit):
    given = {
        "x": (pa.float64(), [1.0, 2.0, 2.0, 5.0, None, 2.0, float("nan")]),
        "g": (pa.string(), ["a", "a", "a", "a", "a", "b", "b"]),
        "who": (pa.int64(), list(range(7))),
    }
    made = open_engine(ENGINES[engine](given), domain, "x", "g", ["a", "b"], unit)
    values, records = ask(made, ValueCounts(), RecordCounts())
    assert [(v.tolist(), c.tolist()) for v, c in values.split()] == counts
    assert records == [sum(count) for _, count in counts]


def test_many_quantiles_take_a_few_queries(monkeypatch):
    fetch, seen = DuckdbRelation.fetch, []
    monkeypatch.setattr(
        DuckdbRelation, "fetch", lambda self, rows: seen.append(1) or fetch(self, rows)
    )
    values = np.random.default_rng(1).normal(size=20_000).tolist()
    made = open_engine(ENGINES["duckdb"]({"x": (pa.float64(), values)}), FINE, "x")
    request = RanksNear(tuple((Fraction(i, 100), 5) for i in range(1, 100)))
    ask(made, request)
    assert len(seen) <= 4
    ask(made, request, RecordCounts())
    assert len(seen) <= 4


@pytest.mark.parametrize(
    ("cells", "unit", "bits"),
    [(2**9, None, 7), (2**9 - 1, None, 6), (2**8 - 1, None, 12), (2**9, "who", 18)],
)
def test_groups_are_counted_by_as_many_cells_as_are_fast(monkeypatch, cells, unit, bits):
    """Unless these are few buckets of each, or every pass brings people together."""
    count, shifts = query_engine.count_cells, []

    def counted(rows, wanted, groups=None):
        shifts.append(wanted[0].shift)
        return count(rows, wanted, groups)

    monkeypatch.setattr(query_engine, "count_cells", counted)
    monkeypatch.setattr(NarwhalsQuery, "fast_hash_cells", cells)
    monkeypatch.setattr(query_engine, "MAX_COUNTED_BY_VALUE", 50)
    values, group = np.random.default_rng(1).normal(size=2000), np.arange(2000) % 4
    given = {
        "x": (pa.float64(), values.tolist()),
        "g": (pa.int64(), group.tolist()),
        "who": (pa.int64(), list(range(2000))),
    }
    made = open_engine(ENGINES["ibis"](given), GRID, "x", "g", range(4), unit)
    own = [GRID.snap(values[group == g]) for g in range(4)]
    check(made, own, GRID.size, [RanksNear(((Fraction(1, 2), 2),))])
    assert GRID.size == 2**24
    assert shifts[0] == 24 - bits
    assert shifts[-1] == 0


def test_cached_frames_of_spark_are_counted_by_fewer_cells():
    """One more pass over these takes less time than a large map; over others it may not."""
    given = {"x": (pa.float64(), [1.0, 2.0]), "g": (pa.int64(), [0, 1])}
    cached = ENGINES["spark"](given)
    others = cached.where("x < 9")
    for data, cells in ((cached, FAST_HASH_CELLS), (others, SparkFrame.max_result_rows)):
        made = open_engine(data, Grid(0.0, 9.0), "x", "g", [0, 1])
        assert made.rows.adapter.fast_hash_cells == cells
