"""Records at the ends of their types clamp to the bounds, whatever stands beside them; sums stay
exact.
"""

from __future__ import annotations

import datetime as dt

import duckdb
import narwhals as nw
import numpy as np
import polars as pl
import pyarrow as pa
import pytest

import duffdp
from duffdp import Grid
from duffdp._engines.adapters.duckdb import DuckdbRelation
from duffdp._engines.requests import Quantization
from engines import ENGINES, open_groups, spark

DATES = Grid(dt.date(2020, 1, 1), dt.date(2020, 1, 10))
TIMES = Grid(dt.datetime(2020, 1, 1), dt.datetime(2020, 1, 10), 3600)
ZONED = Grid(dt.datetime(2020, 1, 1, tzinfo=dt.UTC), dt.datetime(2020, 1, 10, tzinfo=dt.UTC), 3600)
FINEST = np.iinfo(np.int64)


def tally(data, grid, **where):
    (group,) = open_groups(data, grid, "x", **where)
    index, count = group.value_counts()
    return dict(zip(index.tolist(), count.tolist(), strict=True))


@pytest.mark.parametrize(
    "kind", ["DATE", "TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS", "TIMESTAMPTZ"]
)
@pytest.mark.parametrize("grid", [DATES, TIMES, ZONED], ids=["dates", "times", "zoned"])
def test_infinite_moments_of_duckdb(kind, grid):
    """-infinity is the lower bound and infinity the upper one, in counts and in releases."""
    connection = duckdb.connect()
    connection.execute("SET TimeZone = 'America/New_York'")
    values = ["'infinity'", "'-infinity'", "'2020-01-03'", "NULL"]
    if kind == "TIMESTAMPTZ":
        # Bounds without a zone are times of the session's clocks.
        values[2] = f"'2020-01-03 00:00:00{'+00' if grid is ZONED else '-05'}'"
    if kind == "DATE":
        values += ["'5000000-01-01'", "'5000000-01-01 (BC)'"]
    connection.execute(
        f"CREATE TABLE t AS SELECT unnest([{', '.join(f'{v}::{kind}' for v in values)}]) AS x, 'p' "
        "AS p"
    )
    table = connection.table("t")
    ends = 2 if kind == "DATE" else 1
    middle = 2 if grid is DATES else 48
    assert tally(table, grid) == {0: ends, middle: 1, grid.size - 1: ends}
    assert sum(tally(table, grid, unit="p").values()) == 1
    for verb in (duffdp.mean, duffdp.median):
        release = verb(
            table, column="x", epsilon=1, bounds=(grid.lower, grid.upper), step=grid.step
        )
        given = release.domain
        assert given.value(0) <= release.value <= given.value(given.size - 1)


@pytest.mark.parametrize("grid", [DATES, TIMES], ids=["dates", "times"])
@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_moments_at_the_ends_of_64_bits(grid, unit):
    """No unit overflows on its way to another: polars, in memory and lazy, and dask."""
    third = pl.Series([dt.datetime(2020, 1, 3)]).cast(pl.Datetime("us")).to_physical()[0]
    scale = {"s": (1, 10**6), "ms": (1, 1000), "us": (1, 1), "ns": (1000, 1)}[unit]
    numbers = [FINEST.min + 1, third * scale[0] // scale[1], FINEST.max]
    table = pa.table({"x": pa.array(numbers, pa.int64()).cast(pa.timestamp(unit))})
    expected = {0: 1, (2 if grid is DATES else 48): 1, grid.size - 1: 1}
    frames = [pl.from_arrow(table).lazy()] if unit != "s" else []
    for frame in frames:
        assert tally(frame, grid) == expected


@pytest.mark.parametrize("grid", [DATES, TIMES], ids=["dates", "times"])
def test_dates_at_the_ends_of_32_bits(grid):
    days = pl.Series(
        "x", [-(2**31), (dt.date(2020, 1, 3) - dt.date(1970, 1, 1)).days, 2**31 - 1], dtype=pl.Int32
    )
    lazy = pl.DataFrame([days.cast(pl.Date)]).lazy()
    assert tally(lazy, grid) == {0: 1, (2 if grid is DATES else 48): 1, grid.size - 1: 1}


@pytest.mark.slow
def test_moments_of_spark():
    """Far years, and times without a zone in a session that has one where an hour is missing."""
    session = spark()
    zone = session.conf.get("spark.sql.session.timeZone")
    try:
        session.conf.set("spark.sql.session.timeZone", "Europe/Berlin")
        frame = session.sql(
            "SELECT timestamp_ntz'2020-01-03 00:00:00' AS x UNION ALL SELECT "
            "timestamp_ntz'+290000-01-01 00:00:00' "
            "UNION ALL SELECT timestamp_ntz'-290000-01-01 00:00:00'"
        )
        assert tally(frame, TIMES) == {0: 1, 48: 1, TIMES.size - 1: 1}
        assert tally(frame, DATES) == {0: 1, 2: 1, DATES.size - 1: 1}
        frame = session.sql(
            "SELECT date'2020-01-03' AS x UNION ALL SELECT date'+200000-01-01' UNION ALL SELECT "
            "date'-9000-01-01'"
        )
        assert tally(frame, TIMES) == {0: 1, 48: 1, TIMES.size - 1: 1}
        # 2:30 does not exist on that day in Berlin, and 3:30 does.
        frame = session.sql(
            "SELECT 1 AS x, timestamp_ntz'2020-03-29 02:30:00' AS g UNION ALL SELECT 2, "
            "timestamp_ntz'2020-03-29 03:30:00'"
        )
        keys = [dt.datetime(2020, 3, 29, 2, 30), dt.datetime(2020, 3, 29, 3, 30)]
        groups = open_groups(frame, Grid(0, 9, 1), "x", "g", keys)
        assert [group.value_counts()[0].tolist() for group in groups] == [[1], [2]]
    finally:
        session.conf.set("spark.sql.session.timeZone", zone)


@pytest.mark.parametrize(
    ("kind", "records"),
    [
        ("HUGEINT", [-(2**127), -(2**63) - 1, 3, 2**63, 2**127 - 1]),
        ("UHUGEINT", [0, 0, 3, 2**63, 2**128 - 1]),
        ("UBIGINT", [0, 0, 3, 2**63, 2**64 - 1]),
        ("BIGINT", [-(2**63), -1, 3, 2**62, 2**63 - 1]),
    ],
)
def test_wide_integers_of_duckdb(kind, records):
    connection = duckdb.connect()
    values = ", ".join(f"'{record}'::{kind}" for record in records)
    connection.execute(f"CREATE TABLE t AS SELECT unnest([{values}]) AS x")
    assert tally(connection.table("t"), Grid(0, 9, 1)) == {0: 2, 3: 1, 9: 2}
    release = duffdp.median(connection.table("t"), column="x", epsilon=500, bounds=(0, 9))
    assert release.value == 3


@pytest.mark.parametrize("dtype", [pl.Int128, pl.UInt64])
def test_wide_integers_of_polars(dtype):
    records = (
        [0, 0, 3, 2**63, 2**64 - 1]
        if dtype == pl.UInt64
        else [-(2**127), -(2**63) - 1, 3, 2**63, 2**127 - 1]
    )
    frame = pl.DataFrame({"x": pl.Series(records, dtype=dtype)})
    for data in (frame, frame.lazy()):
        assert tally(data, Grid(0, 9, 1)) == {0: 2, 3: 1, 9: 2}


def test_sums_beyond_what_doubles_hold(engine):
    """The sum of indices is exact: many of them beyond 2**53 together, and each beyond it alone."""
    grid = Grid(0, 2**61, 1)
    records = [2**61 - 1, 2**60 + 1, 2**53 + 1, 1, 2**61 - 7] * 20
    data = {
        "x": (pa.int64(), records),
        "g": (pa.string(), ["a", "b"] * 50),
    }
    frame = ENGINES[engine](data)
    (group,) = open_groups(frame, grid, "x")
    levels = Quantization(0, grid.size - 1)
    assert group.level_sums(levels) == (100, sum(records), 0)
    grouped = open_groups(frame, grid, "x", "g", ["b", "a"])
    assert [each.level_sums(levels) for each in grouped] == [
        (50, sum(records[1::2]), 0),
        (50, sum(records[::2]), 0),
    ]


def test_sums_of_duckdb_come_back_exactly():
    """They have 128 bits, and would be rounded in a double."""
    relation = duckdb.connect().sql(
        "SELECT sum(x) AS x FROM (VALUES (1152921504606846976::BIGINT), (1)) t(x)"
    )
    frame = nw.from_native(relation)
    adapter = DuckdbRelation(nw, frame, frame.collect_schema())
    assert [int(x) for x in adapter.fetch(frame)["x"]] == [2**60 + 1]
