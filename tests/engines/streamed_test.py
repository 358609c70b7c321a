"""Numbers that come from DuckDB in pieces are counted as the same records in one array."""

from __future__ import annotations

import math
import subprocess
import sys
from fractions import Fraction

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import duffdp
from duffdp import Digits, Grid
from duffdp._engines.adapters.arrow_stream import FULL, batches
from duffdp._engines.adapters.duckdb import DuckdbRelation
from duffdp._engines.arrays.column import KeyReader
from duffdp._engines.files.format import ReadRequest
from duffdp._engines.files.paths import open_path
from duffdp._engines.queries import engine as query_engine
from duffdp._engines.queries import streams
from duffdp._engines.queries.brackets import bracketed_ranks
from duffdp._engines.requests import (
    BinCounts,
    LevelSums,
    Quantization,
    RankAt,
    RanksNear,
    RecordCounts,
)
from query_oracle import ask, check, open_engine

TARGETS = ((Fraction(0), 3), (Fraction(1, 2), 40), (Fraction(9, 10), 0))
FINE, COARSE = Grid(-10.0, 10.0, 2.0**-30), Grid(-3, 3, 1)
EXTREMES = {
    "DOUBLE": [math.nan, math.inf, -math.inf, -0.0, 5e-324, 1e308, -1e308, 2.5, -2.5],
    "FLOAT": [math.nan, math.inf, -math.inf, -0.0, 1e-45, 3e38, 0.1, -2.5],
    "BIGINT": [2**63 - 1, -(2**63), 2**53 + 1, 0, -3],
    "UBIGINT": [2**64 - 1, 2**63, 2**53 + 1, 0, 3],
    "INTEGER": [2**31 - 1, -(2**31), 2, -2],
    "UTINYINT": [255, 0, 2],
}
DTYPES = {"DOUBLE": "f8", "FLOAT": "f4", "BIGINT": "i8", "UBIGINT": "u8", "INTEGER": "i4"}


FORKED = """
import os, duffdp
given = dict(column="x", epsilon=1e6, bounds=(0, 8), step=1)
print(duffdp.median({path!r}, **given).value, flush=True)
if os.fork() == 0:
    print(duffdp.median({path!r}, **given).value, flush=True)
else:
    os.wait()
"""


def indices(values, grid):
    """The candidates of an array, as the array itself reads them."""
    return grid.snap(KeyReader(values.dtype, grid).keys(values))


@pytest.mark.parametrize("grid", [FINE, COARSE, Grid(0, 2**62 - 1, 1), Digits(3)], ids=repr)
@pytest.mark.parametrize("kind", EXTREMES)
def test_every_number_counts_as_in_an_array(kind, grid):
    """Missing ones, nan, infinities and the ends of every type among them."""
    values = EXTREMES[kind] * 7 + [None, None] * 3
    written = pa.array(values, {"UBIGINT": pa.uint64()}.get(kind))
    data = duckdb.connect().from_arrow(pa.table({"x": written})).project(f"x::{kind} AS x")
    present = np.array([v for v in values if v is not None], DTYPES.get(kind, "u1"))
    engine = open_engine(data, grid, "x")
    assert engine.rows.streamed_as
    starts = tuple(sorted({0, grid.size // 3, grid.size - 1}))
    levels = Quantization(0, grid.size - 1), Quantization.squared(grid.size // 4, grid.size // 2)
    requests = [RanksNear(TARGETS), RecordCounts(), BinCounts(starts), RankAt(grid.size // 2)]
    check(engine, [indices(present, grid)], grid.size, [*requests, *map(LevelSums, levels)])


@pytest.mark.parametrize("writer", ["duckdb", "pyarrow"])
def test_several_batches_are_one_column(tmp_path, monkeypatch, writer):
    """More rows than a batch has, with brackets from a sample; what statistics in the file say is
    not taken for what is in it: they leave nan out.
    """
    rng = np.random.default_rng(4)
    values = rng.normal(size=2_300_000)
    values[::1000] = math.nan
    path = str(tmp_path / "rows.parquet")
    table = pa.table({"x": pa.array(values, mask=np.arange(len(values)) % 77 == 3)})
    if writer == "pyarrow":
        pq.write_table(table, path)
    else:
        duckdb.connect().from_arrow(table).write_parquet(path)
    seen, pieces = [], DuckdbRelation.pieces

    def counted(self, rows, types):
        for arrays in pieces(self, rows, types):
            seen.append(len(arrays[0]))
            yield arrays

    monkeypatch.setattr(DuckdbRelation, "pieces", counted)
    engine = open_engine(path, FINE, "x")
    alone = indices(values[np.arange(len(values)) % 77 != 3], FINE)
    ranks = RanksNear(tuple((Fraction(i, 8), 100) for i in range(9)))
    check(engine, [alone], FINE.size, [ranks])
    assert 2 < len(seen) <= 9  # by brackets of one sample, in one pass
    levels = Quantization(100, FINE.size - 100)
    ((records, total, _),) = ask(engine, LevelSums(levels))
    assert records == len(alone)
    assert total == int(levels.of(np.clip(alone, levels.low, levels.high)).sum())


@pytest.mark.parametrize("blocks", [slice(-5000, None), slice(5000)])
def test_a_sample_that_misleads_costs_time_and_nothing_else(monkeypatch, blocks):
    """Blocks that hold the largest records alone, or the least ones."""
    values = np.sort(np.random.default_rng(2).normal(size=300_000))
    data = duckdb.connect().from_arrow(pa.table({"x": values}))
    monkeypatch.setattr(DuckdbRelation, "sample", lambda *_: (values[blocks].copy(), 0.01))
    engine = open_engine(data, FINE, "x")
    check(engine, [indices(values, FINE)], FINE.size, [RanksNear(TARGETS)])


@pytest.mark.parametrize("blocks", [slice(-5000, None), slice(5000), slice(None)])
def test_decimals_are_bracketed_by_a_query(monkeypatch, blocks):
    """They are not streamed; a sample that misleads them is noticed as well."""
    values = np.sort(np.random.default_rng(2).integers(-(10**8), 10**8, 100_000))
    data = duckdb.connect().from_arrow(pa.table({"n": values}))
    data = data.project("(n / 100)::DECIMAL(18, 2) AS x")
    grid = Grid(-(10.0**6), 10.0**6, 0.01)
    monkeypatch.setattr(DuckdbRelation, "sample", lambda *_: (values[blocks] / 100, 0.01))
    engine = open_engine(data, grid, "x")
    assert engine.rows.streamed_as is None
    bracketed = bracketed_ranks(engine.rows, [(Fraction(1, 2), 5)])
    assert (bracketed is not None) == (blocks == slice(None))
    own = [indices(values / 100, grid)]
    for target in TARGETS:
        check(engine, own, grid.size, [RanksNear((target,)), RecordCounts()])


def test_an_offset_and_a_mask_of_a_batch_are_heeded():
    values = pa.chunked_array([pa.array([9.0, 1.0, None, 2.0, 3.0] * 5)[3:19]])
    also = pa.chunked_array([pa.array(range(25))[3:19]])
    capsule = pa.table({"x": values, "n": also}).__arrow_c_stream__()
    found = batches(capsule, ["float64", "int64"], lambda: 16)
    ((x, n),) = [[a.copy() for a in arrays] for arrays in found]
    known = [(v, i) for v, i in zip(values.to_pylist(), also.to_pylist(), strict=True) if v]
    assert list(zip(x.tolist(), n.tolist(), strict=True)) == known


def test_a_table_without_rows():
    data = duckdb.connect().sql("SELECT 1.5::DOUBLE AS x WHERE false")
    for verb in (duffdp.median, duffdp.mean, duffdp.sum):
        assert verb(data, column="x", epsilon=1.0, bounds=(-10, 10)).value is not None


def test_a_query_that_fails_on_its_way_says_nothing_of_the_record():
    broken = "CASE WHEN i = 2900000 THEN error('record ' || i) ELSE i END::DOUBLE"
    data = duckdb.connect().sql(f"SELECT {broken} AS x FROM range(3000000) t(i)")
    engine = open_engine(data, FINE, "x")
    with pytest.raises(duffdp.UnsupportedData, match="the query failed") as caught:
        ask(engine, LevelSums(Quantization(0, FINE.size - 1)))
    assert "2900000" not in str(caught.value)


@pytest.mark.parametrize("read", [0, 1, 2])
def test_another_query_in_the_connection_does_not_leave_rows_out(read):
    """As another thread may run one: DuckDB ends the stream of the first without an error."""
    connection = duckdb.connect()
    data = connection.sql("SELECT i::DOUBLE AS x FROM range(2000001) t(i)")
    engine = open_engine(data, FINE, "x")
    capsule = data.__arrow_c_stream__()
    assert [len(x) for (x,) in batches(capsule, ["float64"], lambda: 0)] == [FULL, FULL, 1]
    found = engine.rows.pieces()
    for _ in range(read):
        next(found)
    if not read:  # begun, with no batch read yet
        found = batches(data.__arrow_c_stream__(), ["float64"], lambda: 2 * FULL + 1)
    connection.execute("SELECT 1").fetchall()
    with pytest.raises(RuntimeError, match="stopped before all rows"):
        list(found)


@pytest.mark.parametrize("rows", [0, FULL, 2 * FULL])
def test_a_table_of_full_batches_is_read_to_its_end(rows):
    data = duckdb.connect().sql(f"SELECT 1.0::DOUBLE AS x FROM range({rows})")
    (sums,) = ask(open_engine(data, FINE, "x"), LevelSums(Quantization(0, FINE.size - 1)))
    assert sums.records == rows


def test_parquet_files_share_a_database_and_nothing_else(tmp_path):
    """No table or view is left behind; a process that was forked has a database of its own."""
    path = tmp_path / "rows.parquet"
    duckdb.sql(f"COPY (SELECT i % 9 AS x, i % 5 AS who FROM range(900) t(i)) TO '{path}'")
    people = {"column": "x", "epsilon": 1e6, "bounds": (0, 8), "unit": "who"}
    assert 0 <= duffdp.median(path, **people).value <= 8
    assert duffdp.median(path, **people).domain == duffdp.Grid(0, 8, 1)
    other = open_path(path).columns(ReadRequest(["x"])).rows()
    made = "duckdb_views() WHERE NOT internal AND view_name <> 'other'"
    for kind in ("duckdb_tables()", made):
        assert other.query("other", f"SELECT count(*) FROM {kind}").fetchall() == [(0,)]
    code = FORKED.format(path=str(path))
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert run.stdout.split() == ["4", "4"]


WORDS = {0: "a", 1: "b", 2: "c", -5: "d", 2**40: "e"}


@pytest.mark.parametrize("grid", [FINE, COARSE, Grid(0, 2**62 - 1, 1)], ids=repr)
@pytest.mark.parametrize("by", [["n"], ["word"], ["n", "word"], ["real"]], ids="-".join)
@pytest.mark.parametrize("kind", ["DOUBLE", "BIGINT", "UBIGINT"])
def test_every_number_counts_in_its_group(monkeypatch, kind, by, grid):
    """Of keys that are whole numbers, near each other or not, texts, doubles, two columns; others
    and missing ones are left out.
    """
    monkeypatch.setattr(query_engine, "BUCKETS", 64)
    monkeypatch.setattr(query_engine, "MAX_COUNTED_BY_VALUE", 40)
    monkeypatch.setattr(streams, "MAX_PENDING_RECORDS", 100)
    monkeypatch.setattr(streams, "STREAM_CHUNK", 32)
    rng = np.random.default_rng(3)
    values = EXTREMES[kind] * 30 + rng.integers(0, 5, 200).tolist() + [None] * 9
    number = rng.choice([0, 1, 2, -5, 7, 2**62, -(2**63)], len(values)).tolist()
    number[::23] = [None] * len(number[::23])
    columns = {
        "x": pa.array(values, {"UBIGINT": pa.uint64()}.get(kind)),
        "n": pa.array(number, pa.int64()),
        "word": [WORDS.get(n, "elsewhere") for n in number],
        "real": pa.array([None if n is None else -0.0 if n == 0 else float(n) for n in number]),
    }
    data = duckdb.connect().from_arrow(pa.table(columns)).project(f"* REPLACE (x::{kind} AS x)")
    asked = [0, 2, 1, -5, 3]
    spelled = {"n": asked, "word": [WORDS.get(n, "nobody") for n in asked], "real": asked}
    keys = list(zip(*(spelled[name] for name in by), strict=True))
    keys = [key for (key,) in keys] if len(by) == 1 else keys
    engine = open_engine(data, grid, "x", by=by if len(by) > 1 else by[0], keys=keys)
    assert engine.rows.streamed_as
    own = []
    for group in asked:
        some = [v for v, n in zip(values, number, strict=True) if n == group and v is not None]
        own.append(indices(np.array(some, DTYPES[kind]), grid))
    check(engine, own, grid.size, [RanksNear(TARGETS), RecordCounts()])
    check(engine, own, grid.size, [RanksNear(TARGETS[1:2])], groups=[3, 1])


@pytest.mark.parametrize("keys", [[3, 2**30, 9], [2**62 + 5, 3], [3]])
def test_keys_that_lie_wide_apart(keys):
    rows = "SELECT i % 11 AS x, CASE i % 4 WHEN 0 THEN 3 WHEN 1 THEN 2**30 ELSE 9 END::BIGINT AS g"
    data = duckdb.connect().sql(f"{rows} FROM range(800) t(i)")
    engine = open_engine(data, Grid(0, 10, 1), "x", by="g", keys=keys)
    known = {3: 200, 2**30: 200, 9: 400}
    assert ask(engine, RecordCounts()) == [known.get(key, 0) for key in keys]
