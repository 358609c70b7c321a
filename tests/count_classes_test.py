"""The mode of a table that stays where it is: candidates by how many records they have, and any of
them by its position, against the counts of an array.
"""

from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest

import duffdp
from duffdp import Grid
from duffdp.engines.tables import count_classes
from duffdp.engines.tables.adapters.duckdb_relation import DuckdbRelation
from duffdp.engines.tables.count_classes import Member
from duffdp.statistics import Mode, mode
from engines import ENGINES, open_sources

SLOW = ["dask", "spark"]  # one way of cutting is enough where each query takes long
CUTS = [
    (engine, *cut)
    for engine in ("polars-lazy", "duckdb", "ibis")
    for cut in ((8, 2**16), (2, 0), (3, 2))
] + [(engine, 8, 2**16) for engine in SLOW]
VALUES = [3.0, 3.0, 3.0, 4.0, 4.0, 9.0, 12.0, 12.0, 12.0, 13.0, 40.0, 41.0, 42.0, None, 99.0]
GROUPED = ["a", "b", "a", "a", "a", "b", "a", "a", "a", "b", "b", "b", "b", "b", "c"]
DOMAIN = Grid(0.0, 49.0, 1.0)


def counts_of(values):
    return Counter(min(int(x), 49) for x in values if x is not None)


@pytest.fixture
def classed(monkeypatch):
    monkeypatch.setattr(mode, "LISTED", 8)


@pytest.mark.parametrize(("engine", "bits", "fetched"), CUTS)
def test_positions_are_the_candidates_by_their_records(monkeypatch, classed, engine, bits, fetched):
    """Every position is one candidate, at the distance that the candidate has: so the law of
    positions is that of candidates. Buckets of all sizes, with groups and without.
    """
    monkeypatch.setattr(count_classes, "BUCKETS", bits)
    monkeypatch.setattr(count_classes, "FETCHED", fetched)
    data = ENGINES[engine]({"x": (pa.float64(), VALUES), "g": (pa.string(), GROUPED)})
    cases = [({}, [VALUES])]
    if engine in ("polars-lazy", "duckdb"):
        own = [[x for x, g in zip(VALUES, GROUPED, strict=True) if g == key] for key in "abd"]
        cases.append(({"by": "g", "keys": ["a", "b", "d"]}, own))
    for selection, parts in cases:
        sources = open_sources(data, DOMAIN, column="x", **selection)
        batch = Mode().windows(sources, DOMAIN, 5.0)
        assert batch.candidates_of is not None
        positions = range(0, DOMAIN.size, 24 if engine in SLOW else 3 if bits == 2 else 1)
        rows = [batch.candidates_of([position] * len(sources)) for position in positions]
        for i, values in enumerate(parts):
            counts, most = counts_of(values), max(counts_of(values).values(), default=0)
            candidates = [row[i] for row in rows]
            assert len(set(candidates)) == len(positions)
            assert set(candidates) <= set(range(DOMAIN.size))
            for position, candidate in zip(positions, candidates, strict=True):
                assert batch[i].distance_of(position) == most - counts[candidate]


def test_the_whole_step_function_has_the_same_runs(classed):
    """As many candidates at each distance as in an array."""
    data = ENGINES["duckdb"]({"x": (pa.float64(), VALUES)})
    (source,) = open_sources(data, DOMAIN, column="x")
    steps = Mode().windows([source], DOMAIN, 5.0)[0]
    steps.check()
    whole = Mode().steps([x for x in VALUES if x is not None], DOMAIN)
    assert [steps.measure(k) for k in range(5)] == [whole.measure(k) for k in range(5)]


@pytest.mark.parametrize("engine", ["polars-lazy", "duckdb"])
def test_no_records(classed, engine):
    data = ENGINES[engine]({"x": (pa.float64(), [None]), "g": (pa.string(), ["a"])})
    found = duffdp.mode(data, column="x", epsilon=1.0, bounds=DOMAIN).value
    assert 0 <= found <= 49


@pytest.mark.parametrize("engine", ["polars-lazy", "duckdb"])
def test_a_mode_on_many_candidates(monkeypatch, engine):
    """With a large epsilon the most common value, with a small one any candidate."""
    rng = np.random.default_rng(1)
    values = np.concatenate([rng.random(3000), np.full(200, 0.25)]).tolist()
    data = ENGINES[engine]({"x": (pa.float64(), values)})
    ask = {"column": "x", "bounds": Grid(0.0, 1.0)}
    assert duffdp.mode(data, epsilon=1.0, **ask).value == 0.25
    # One record in 2**40 candidates is found by chance if epsilon says so.
    values = rng.random(3000).tolist()
    data = ENGINES[engine]({"x": (pa.float64(), values)})
    assert duffdp.mode(data, epsilon=100.0, **ask).value in Grid(0.0, 1.0).values(
        Grid(0.0, 1.0).snap(np.array(values))
    )
    assert 0 <= duffdp.mode(data, epsilon=0.01, **ask).value <= 1


def test_few_rows_come_back(monkeypatch):
    """Records that nearly all differ stay where they are."""
    fetch, rows = DuckdbRelation.fetch, []

    def counted(self, frame):
        got = fetch(self, frame)
        rows.append(max(map(len, got.values())))
        return got

    monkeypatch.setattr(DuckdbRelation, "fetch", counted)
    values = np.random.default_rng(1).random(50_000).tolist()
    data = ENGINES["duckdb"]({"x": (pa.float64(), values)})
    for epsilon in (0.1, 100.0):
        rows.clear()
        duffdp.mode(data, column="x", epsilon=epsilon, bounds=Grid(0.0, 1.0))
        assert sum(rows) < 2000
        assert len(rows) == 2


def test_data_that_change_in_between(classed):
    """A position that is not there any more is said to be so, and nothing else."""
    data = ENGINES["duckdb"]({"x": (pa.float64(), VALUES)})
    (source,) = open_sources(data, DOMAIN, column="x")
    source.classes()
    with pytest.raises(duffdp.DuffError, match="changed between two queries"):
        source.counts.candidates([Member(0, 3, 2)])
