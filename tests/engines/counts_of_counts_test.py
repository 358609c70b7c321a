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
from duffdp._engines.adapters.duckdb import DuckdbRelation
from duffdp._engines.queries import counts_of_counts
from duffdp._engines.requests import CandidateAt, CountsOfCounts
from duffdp.statistics import mode
from engines import ENGINES
from inquiries import engine_of, windows
from query_oracle import ask, check, open_engine

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


@pytest.mark.parametrize(("engine", "bits", "fetched"), CUTS)
def test_positions_are_the_candidates_by_their_records(monkeypatch, engine, bits, fetched):
    """Every position is one candidate, with the records that it is among: so the law of positions
    is that of candidates. Buckets of all sizes, with groups and without.
    """
    monkeypatch.setattr(counts_of_counts, "BUCKET_BITS", bits)
    monkeypatch.setattr(counts_of_counts, "MAX_FETCHED", fetched)
    data = ENGINES[engine]({"x": (pa.float64(), VALUES), "g": (pa.string(), GROUPED)})
    cases = [({}, [VALUES])]
    if engine in ("polars-lazy", "duckdb"):
        own = [[x for x, g in zip(VALUES, GROUPED, strict=True) if g == key] for key in "abd"]
        cases.append(({"by": "g", "keys": ["a", "b", "d"]}, own))
    for selection, parts in cases:
        made = open_engine(data, DOMAIN, "x", **selection)
        for group, (values, (records, many)) in enumerate(
            zip(parts, ask(made, CountsOfCounts()).split(), strict=True)
        ):
            counts = counts_of(values)
            assert int(many.sum()) == DOMAIN.size
            for kind, candidates in zip(records.tolist(), many.tolist(), strict=True):
                every = [i for i in range(DOMAIN.size) if counts[i] == kind]
                assert len(every) == candidates
                step = 24 if engine in SLOW else 3 if bits == 2 else 1
                for at in range(0, candidates, step):
                    assert ask(made, CandidateAt(kind, at), groups=[group]) == [every[at]]


def test_many_groups_are_counted_by_value(monkeypatch):
    """So that no group takes a query of its own; what is asked afterwards takes none."""
    groups = [i % 20 for i in range(200)]
    values = [float(i * i % 40) for i in range(200)]
    data = ENGINES["duckdb"]({"x": (pa.float64(), values), "g": (pa.int64(), groups)})
    made = open_engine(data, DOMAIN, "x", "g", list(range(20)))
    own = [
        np.array([int(v) for v, g in zip(values, groups, strict=True) if g == key])
        for key in range(20)
    ]
    check(made, own, DOMAIN.size, [CountsOfCounts()])
    monkeypatch.setattr(DuckdbRelation, "fetch", None)
    monkeypatch.setattr(DuckdbRelation, "pieces", None)
    for request in (CandidateAt(0, 3), CandidateAt(int(own[0].size > 0), 0)):
        some = [
            g
            for g in range(20)
            if request.records in (0, *np.unique(own[g], return_counts=True)[1])
        ]
        check(made, own, DOMAIN.size, [request], groups=some)


@pytest.mark.parametrize("engine", ["polars-lazy", "duckdb"])
def test_no_records(engine):
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


def test_every_position_of_a_mode_is_one_candidate_at_its_distance(monkeypatch):
    """In two groups, with several candidates of each number of records: one for one, so that the
    law of positions is that of candidates.
    """
    monkeypatch.setattr(mode, "MAX_LISTED_CANDIDATES", 8)
    groups = [[3, 3, 4, 4, 9, 12, 12, 12, 15, 15, 15], [0, 15, 15, 7]]
    grid, statistic = Grid(0, 15, 1), mode.Mode()
    made = windows(statistic, engine_of(groups, grid), grid, 99)
    for group, values in enumerate(groups):
        whole, steps = statistic.steps(values, grid), made[group]
        assert made.locate is not None
        found = [made.answer(group, made.locate(group, at)) for at in range(grid.size)]
        assert sorted(found) == list(range(grid.size))
        runs = zip(steps.start.tolist(), steps.count.tolist(), steps.distance.tolist(), strict=True)
        for start, count, distance in runs:
            own = {whole.distance_at(candidate) for candidate in found[start : start + count]}
            assert own == {distance}


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


def test_data_that_change_in_between():
    """A position that is not there any more is said to be so, and nothing else."""
    made = open_engine(ENGINES["duckdb"]({"x": (pa.float64(), VALUES)}), DOMAIN, "x")
    ask(made, CountsOfCounts())
    with pytest.raises(duffdp.DuffError, match="changed between two queries"):
        ask(made, CandidateAt(3, 2))
