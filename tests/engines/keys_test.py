"""A row counts in one group at most: keys that a column holds as one value are refused, and types
without a known equality.
"""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from zoneinfo import ZoneInfo

import duckdb
import narwhals as nw
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import duffdp
from covering import every_pair
from duffdp import Categories, DuffError, Grid, UnsupportedData
from duffdp._engines.public_values import column_values, spellings
from duffdp._engines.requests import Quantization
from engines import ENGINES, open_groups

GRID = Grid(0, 9, 1)
BERLIN = ZoneInfo("Europe/Berlin")
ODD = "a\"b'c;--\\ \N{SNOWMAN}"
GROUPS = {
    "text": (pa.string(), ["a", "A", "a ", ODD, "", None], ["A", "a", "", ODD]),
    "int": (pa.int64(), [1, 2, -(2**63), 2**63 - 1, None], [2**63 - 1, 1, -(2**63)]),
    "uint": (pa.uint64(), [1, 2**64 - 1, None], [2**64 - 1, 1]),
    "float": (
        pa.float64(),
        [0.1, -0.0, float("inf"), float("nan"), None],
        [0.1, 0, float("inf"), -1.5],
    ),
    "single": (pa.float32(), [0.1, 2.5, None], [0.1, 2.5]),
    "decimal": (pa.decimal128(9, 2), [Decimal("0.10"), Decimal("2.00"), None], [Decimal("0.1"), 2]),
    "bool": (pa.bool_(), [True, False, None], [True, False]),
    "date": (
        pa.date32(),
        [dt.date(2020, 1, 1), dt.date(1, 1, 1), None],
        [dt.date(1, 1, 1), dt.date(2020, 1, 1)],
    ),
    "moment": (
        pa.timestamp("us"),
        [dt.datetime(2020, 1, 1, 1, 1, 1, 1), None],
        [dt.datetime(2020, 1, 1, 1, 1, 1, 1)],
    ),
    "second": (
        pa.timestamp("s"),
        [dt.datetime(2020, 1, 1, 1, 1, 1), None],
        [dt.datetime(2020, 1, 1, 1, 1, 1)],
    ),
}


def matches(key, record, arrow_type):
    """Whether a record is what a column of this type holds for a key."""
    if arrow_type == pa.float32():
        key, record = (pa.scalar(value, arrow_type).as_py() for value in (key, record))
    return record is not None and key == record


@pytest.mark.parametrize(("engine", "kind", "unit"), every_pair(ENGINES, GROUPS, [None, "p"]))
def test_a_row_is_in_one_group_at_most(engine, kind, unit):
    """Every record is found by its own key, whatever the type, and by no other: every engine with
    every type, each of them with and without people, which are joined after the keys.
    """
    arrow_type, records, keys = GROUPS[kind]
    if engine == "spark" and arrow_type == pa.uint64():
        pytest.skip("no such type there")
    columns = {
        "x": (pa.int64(), list(range(len(records)))),
        "g": (arrow_type, records),
        "p": (pa.int64(), list(range(len(records)))),
    }
    # Times of an Arrow table are instants in Spark, in the zone of its session: UTC here.
    zoned = engine == "spark" and pa.types.is_timestamp(arrow_type)
    given = [key.replace(tzinfo=dt.UTC) for key in keys] if zoned else keys
    groups = open_groups(ENGINES[engine](columns), GRID, "x", "g", given, unit)
    found = [group.value_counts()[0].tolist() for group in groups]
    assert found == [
        [i for i, record in enumerate(records) if matches(key, record, arrow_type)] for key in keys
    ]


def frames_of(arrow_type, records):
    table = pa.table({"x": pa.array([1] * len(records)), "g": pa.array(records, arrow_type)})
    relation = duckdb.from_arrow(table)
    polars = pl.from_arrow(table)
    return [table, polars, polars.lazy(), table.to_pandas(types_mapper=pd.ArrowDtype), relation]


@pytest.mark.parametrize(
    ("arrow_type", "record"),
    [
        (pa.time64("us"), dt.time(10)),
        (pa.binary(), b"a"),
        (pa.list_(pa.int64()), [1]),
        (pa.duration("us"), dt.timedelta(1)),
        (pa.struct([("a", pa.int64())]), {"a": 1}),
    ],
    ids=str,
)
def test_types_without_a_known_equality_are_refused_before_rows_are_read(arrow_type, record):
    for records in ([], [record]):
        for frame in frames_of(arrow_type, records):
            key = record if isinstance(record, dt.time | bytes | dt.timedelta) else "a"
            with pytest.raises(UnsupportedData, match="cannot be compared reliably"):
                duffdp.median(frame, column="x", epsilon=1, bounds=(0, 9), by="g", keys=[key])
            with pytest.raises(UnsupportedData, match="cannot be compared reliably"):
                duffdp.mode(frame, column="g", epsilon=1, categories=[key, "b"])


@pytest.mark.parametrize(
    "kind",
    ["TIME", "BLOB", "INTERVAL", "UUID", "BIT", "TIMESTAMP_NS", "INTEGER[]", "TIMETZ", "BIGNUM"],
)
def test_types_of_duckdb_that_are_refused(kind):
    relation = duckdb.connect().sql(f"SELECT 1 AS x, NULL::{kind} AS g")
    with pytest.raises(UnsupportedData, match="cannot be compared reliably"):
        duffdp.median(
            relation, column="x", epsilon=1, bounds=(0, 9), by="g", keys=[dt.datetime(2020, 1, 1)]
        )


@pytest.mark.parametrize("unit", [None, "p"])
@pytest.mark.parametrize(
    ("kind", "keys"),
    [
        (pa.uint64(), [1, 2**64 - 1]),
        (
            pa.timestamp("us", tz="UTC"),
            [dt.datetime(2020, 1, day, tzinfo=dt.UTC) for day in (1, 2)],
        ),
        (pa.string_view(), ["a", "b"]),
    ],
)
def test_groups_of_an_arrow_table_in_duckdb(kind, keys, unit):
    """DuckDB would let Arrow look for the keys, which cannot look for all of them."""
    table = pa.table({"x": [1, 8] * 99, "p": range(198), "g": pa.array(keys * 99, kind)})
    release = duffdp.median(
        duckdb.from_arrow(table),
        column="x",
        epsilon=50,
        bounds=(0, 9),
        by="g",
        keys=keys,
        unit=unit,
    )
    assert [value for (value,) in release.cells] == [1, 8]


def test_the_hour_that_comes_twice():
    """Two zones or two folds may stand for one instant, and one clock time for two: the instant
    decides.
    """
    first = dt.datetime(2020, 10, 25, 2, 30, tzinfo=BERLIN)
    second = first.replace(fold=1)
    utc = [key.astimezone(dt.UTC) for key in (first, second)]
    table = pa.table({"x": [1, 2], "g": pa.array(utc, pa.timestamp("us", tz="UTC"))})
    frames = [
        table,
        pl.from_arrow(table),
        pl.from_arrow(table).lazy(),
        table.to_pandas(),
        duckdb.from_arrow(table),
    ]
    for frame in frames:
        for keys in ([first, utc[0]], [second, utc[1]]):
            with pytest.raises(DuffError, match="differ"):
                duffdp.median(frame, column="x", epsilon=1, bounds=(0, 9), by="g", keys=keys)
        groups = open_groups(frame, GRID, "x", "g", [first, utc[1]])
        assert [group.value_counts()[0].tolist() for group in groups] == [[1], [2]]


def test_keys_with_nanoseconds_are_refused():
    frame = pd.DataFrame({"x": [1], "g": pd.to_datetime(["2020-01-01"]).astype("M8[ns]")})
    keys = [pd.Timestamp("2020-01-01"), pd.Timestamp("2020-01-01") + pd.Timedelta(1, "ns")]
    with pytest.raises(DuffError, match="type of that column"):
        duffdp.median(frame, column="x", epsilon=1, bounds=(0, 9), by="g", keys=keys)
    with pytest.raises(DuffError, match="type of that column"):
        duffdp.median(
            frame, column="x", epsilon=1, bounds=(0, 9), by="g", keys=[dt.datetime(9999, 1, 1)]
        )
    (group,) = open_groups(frame, GRID, "x", "g", keys[:1])
    assert group.value_counts()[0].tolist() == [1]


@pytest.mark.parametrize(
    "setting", ["VARCHAR COLLATE NOCASE", "VARCHAR COLLATE NOACCENT", "VARCHAR"]
)
def test_collations_of_duckdb(setting):
    """A collation that takes letters for one another does not put a row into two groups."""
    connection = duckdb.connect()
    connection.execute(f"CREATE TABLE t (x INTEGER, g {setting}, p {setting})")
    connection.execute("INSERT INTO t VALUES (1, 'a', 'u'), (2, 'A', 'v'), (3, 'ä', 'w')")
    if setting == "VARCHAR":
        connection.execute("SET default_collation = NOCASE")
    for unit in (None, "p"):
        groups = open_groups(connection.table("t"), GRID, "x", "g", ["a", "A", "ä"], unit)
        assert [group.value_counts()[0].tolist() for group in groups] == [[1], [2], [3]]
        (group,) = open_groups(connection.table("t"), Categories(["A", "a", "ä"]), "g", unit=unit)
        assert group.value_counts()[1].tolist() == [1, 1, 1]


def test_keys_come_back_as_they_were_given():
    frame = pl.DataFrame({"x": [1.0, 2.0], "g": pl.Series([0.1, 2.0], dtype=pl.Float32)})
    for data in (frame, frame.lazy(), frame.to_pandas(), frame.to_arrow()):
        given = duffdp.median(
            data, column="x", epsilon=1, bounds=(0, 9), by="g", keys=[0.1, 2.0]
        ).rows()
        assert [keys["g"] for keys, _, _ in given] == [0.1, 2.0]


def test_values_of_files_without_types():
    """What public values print as; two that print the same are one."""
    assert spellings(1) == ("1",)
    assert spellings(2.5) == ("2.5",)
    assert spellings("x") == ("x",)
    assert spellings(Decimal("1.10")) == ("1.10",)
    assert spellings(True) == ("True", "true", "TRUE")
    assert spellings(dt.date(2020, 1, 2)) == ("2020-01-02",)
    assert spellings(dt.datetime(2020, 1, 2, 3)) == ("2020-01-02 03:00:00", "2020-01-02T03:00:00")
    assert spellings("\ud800") == ()
    assert column_values(nw, nw.String(), untyped=True)(7) == ("7",)
    assert column_values(nw, nw.String())(7) == ()
    assert column_values(nw, nw.Float64(), untyped=True)(7) == (7.0,)


def test_groups_of_a_file_without_types(tmp_path):
    """One group may be spelled in several ways: its rows are counted together, and each once."""
    rows = ["1,true,u", "1,True,v", "3,false,w", "1,TRUE,w2", "4,x,w3", "4,true,u", "5,no,y"]
    (tmp_path / "t.csv").write_text("\n".join(["x,g,p", *rows]) + "\n")
    yes, no = open_groups(tmp_path / "t.csv", GRID, "x", "g", [True, False])
    assert [part.tolist() for part in yes.value_counts()] == [[1, 4], [3, 1]]
    assert [part.tolist() for part in no.value_counts()] == [[3], [1]]
    assert yes.level_sums(Quantization(0, GRID.size - 1)).levels == 7
    people = open_groups(tmp_path / "t.csv", GRID, "x", "g", [True, False], "p")
    assert [int(group.value_counts()[1].sum()) for group in people] == [3, 1]
    with pytest.raises(DuffError, match="differ"):
        duffdp.median(
            tmp_path / "t.csv", column="x", epsilon=1, bounds=(0, 9), by="g", keys=[True, "true"]
        )
