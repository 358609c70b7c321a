"""Ranks of a table that stays where it is: those of the same records in an array."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

from duffdp import Grid
from duffdp.engines.arrays import Column, Records
from duffdp.engines.source import Question
from duffdp.engines.tables import descent
from duffdp.engines.tables.adapters.duckdb_relation import DuckdbRelation
from duffdp.engines.tables.adapters.query import NarwhalsQuery
from duffdp.engines.tables.adapters.spark_frame import QUICK_CELLS, SparkFrame
from engines import ENGINES, open_sources

SHARES = tuple(Fraction(i, 20) for i in range(21))


@pytest.mark.parametrize(
    ("engine", "buckets", "reach"),
    [("polars-lazy", 64, 2), ("polars-lazy", 64, 400), ("duckdb", 64, 2), ("dask", 2**12, 2)],
)
def test_many_ranks_are_those_of_an_array(monkeypatch, engine, buckets, reach):
    """Ranges that touch, overlap, reach the ends of the domain, and are empty between."""
    monkeypatch.setattr(descent, "BUCKETS", buckets)
    monkeypatch.setattr(descent, "EXACT", 50)
    rng = np.random.default_rng(reach)
    values = np.concatenate([rng.normal(size=700), np.full(200, 1.5), rng.normal(9, 0.001, 99)])
    grid = Grid(-10.0, 10.0, 2.0**-30)
    question = Question(tuple((q, reach) for q in SHARES))
    alone, _ = Column(Records(values, False), grid).ask(question)
    data = ENGINES[engine]({"x": (pa.float64(), values.tolist())})
    (source,) = open_sources(data, grid, column="x")
    same_ranks(question, source.ask(question)[0], alone)


def same_ranks(question, found, alone):
    for (q, reach), one, other in zip(question.ranks, found, alone, strict=True):
        low, high = descent.wanted(q, reach, one.total)
        assert one.total == other.total
        for near in (one, other):  # what lies further out may be there or not
            assert near.below <= low
            assert near.below + near.counts.sum() >= high
        near, wide = (descent.trim(each, low, high) for each in (one, other))
        assert near.values.tolist() == wide.values.tolist()
        assert near.counts.tolist() == wide.counts.tolist()
        assert near.below == wide.below


def test_many_quantiles_take_a_few_queries(monkeypatch):
    fetch, seen = DuckdbRelation.fetch, []
    monkeypatch.setattr(
        DuckdbRelation, "fetch", lambda self, rows: seen.append(1) or fetch(self, rows)
    )
    values = np.random.default_rng(1).normal(size=20_000).tolist()
    data = ENGINES["duckdb"]({"x": (pa.float64(), values)})
    (source,) = open_sources(data, Grid(-10.0, 10.0, 2.0**-30), column="x")
    source.ask(Question(tuple((Fraction(i, 100), 5) for i in range(1, 100))))
    assert len(seen) <= 4


@pytest.mark.parametrize(
    ("cells", "unit", "bits"),
    [(2**9, None, 7), (2**9 - 1, None, 6), (2**8 - 1, None, 12), (2**9, "p", 18)],
)
def test_groups_are_counted_by_as_many_cells_as_are_quick(monkeypatch, cells, unit, bits):
    """Unless these are few buckets of each, or every pass brings people together."""
    count, shifts = descent.Descent._count, []
    monkeypatch.setattr(
        descent.Descent,
        "_count",
        lambda self, shift, ranges: shifts.append(shift) or count(self, shift, ranges),
    )
    monkeypatch.setattr(NarwhalsQuery, "quick_cells", cells)
    monkeypatch.setattr(descent, "EXACT", 50)
    values = np.random.default_rng(1).normal(size=2000)
    group, person = np.arange(2000) % 4, np.arange(2000)
    columns = {
        "x": (pa.float64(), values.tolist()),
        "g": (pa.int64(), group.tolist()),
        "p": (pa.int64(), person.tolist()),
    }
    grid, question = Grid(-10.0, 10.0, 20 / (2**24 - 1)), Question(((Fraction(1, 2), 2),))
    sources = open_sources(ENGINES["ibis"](columns), grid, "x", "g", range(4), unit)
    for number, source in enumerate(sources):
        alone, _ = Column(Records(values[group == number], False), grid).ask(question)
        same_ranks(question, source.ask(question)[0], alone)
    assert grid.size == 2**24
    assert shifts[0] == 24 - bits
    assert shifts[-1] == 0


def test_cached_frames_of_spark_are_counted_by_fewer_cells():
    """One more pass over these takes less time than a large map; over others it may not."""
    columns = {"x": (pa.float64(), [1.0, 2.0]), "g": (pa.int64(), [0, 1])}
    cached = ENGINES["spark"](columns)
    for data, quick in ((cached, QUICK_CELLS), (cached.where("x < 9"), SparkFrame.rows_back)):
        source, _ = open_sources(data, Grid(0.0, 9.0), "x", "g", [0, 1])
        assert source.descent.lazy.engine.quick_cells == quick
