"""Ways in which one record once decided about others, about people or about an error."""

from __future__ import annotations

import datetime as dt
import gzip
import sqlite3
import warnings
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute
import pytest

import duffdp
from duffdp import DuffError, Grid, UnsupportedData
from duffdp.statistics import TrimmedMean
from engines import open_groups
from inquiries import engine_of, windows

GIVEN = {"epsilon": 1.0, "bounds": (0, 10), "step": 1}
UNIT = Grid(0, 9, 1)


def told(call):
    """The error of a call, or that there was none."""
    try:
        call()
    except DuffError as error:
        return type(error).__name__, str(error)
    return "released"


@pytest.mark.parametrize("ones", [7, 8, 65, 66, 100, 200])
def test_a_trimmed_mean_between_two_candidates(ones):
    """However many changes it takes to reach one of them, there is a release."""
    for data in ([0] * 180 + [1] * ones, np.repeat([0, 1], [180, ones])):
        assert 0 <= duffdp.trimmed_mean(data, 0.1, **GIVEN).value <= 10
    records = [0] * 180 + [1] * ones
    whole = TrimmedMean(0.1).steps(records, UNIT)
    (window,) = windows(TrimmedMean(0.1), engine_of([records], UNIT), UNIT, 3.0)
    assert [window.distance_of(x) for x in range(10)] == [whole.distance_of(x) for x in range(10)]


@pytest.mark.parametrize(
    "declared", ["NUMERIC", "DECIMAL(20, 0)", "INTEGER", "TEXT", "REAL", "DATE", ""]
)
def test_people_of_sqlite_are_told_apart(tmp_path, declared):
    """Ids that one double, or one day, stands for are still different people."""
    base = sqlite3.connect(tmp_path / "x.sqlite")
    base.execute(f"CREATE TABLE t (x INTEGER, id {declared})")
    apart = declared != "REAL"  # SQLite itself keeps doubles there
    ids = (
        [2**60 + i for i in range(500)]
        if declared != "DATE"
        else [f"2024-01-01 {i}" for i in range(500)]
    )
    base.executemany("INSERT INTO t VALUES (?, ?)", [(1, i) for i in ids])
    base.commit()
    base.close()
    (source,) = open_groups(f"{tmp_path / 'x.sqlite'}::t", UNIT, "x", unit="id")
    assert (int(source.value_counts()[1].sum()) == 500) == apart


def test_a_person_is_not_named_by_the_value(tmp_path):
    """In a file of text the value is a number, and ids that are one double would be one person."""
    (tmp_path / "x.csv").write_text("id\n1\n2\n")
    for data in (tmp_path / "x.csv", pl.DataFrame({"id": [1, 2]})):
        with pytest.raises(DuffError, match="unit must not name the column 'id' itself"):
            duffdp.median(data, column="id", unit="id", **GIVEN)


class Nameless:
    """Equal to itself alone."""


PERSONS = {
    "tuples with a missing part": [("a", float("nan"))] * 50,
    "frozen sets": [frozenset([float(i), float("nan")]) for i in range(50)],
    "objects": [Nameless() for _ in range(50)],
    "lists": [["a"]] * 50,
    "missing": [None, float("nan"), pd.NaT, pd.NA] * 12,
}


@pytest.mark.parametrize("people", PERSONS.values(), ids=PERSONS)
def test_what_names_nobody_is_left_out(people):
    frame = pd.DataFrame({"x": [1] * len(people), "p": pd.Series(people, dtype=object)})
    (source,) = open_groups(frame, UNIT, "x", unit="p")
    assert int(source.value_counts()[1].sum()) == 0


def test_one_person_however_it_is_written():
    day = dt.datetime(2024, 1, 1)
    for same in (
        [1, 1.0, True, np.int8(1)],
        [("a", 1), ("a", 1.0)],
        [day, pd.Timestamp(day), np.datetime64(day, "us")],
    ):
        frame = pd.DataFrame({"x": [1] * len(same), "p": pd.Series(same, dtype=object)})
        (source,) = open_groups(frame, UNIT, "x", unit="p")
        assert int(source.value_counts()[1].sum()) == 1


def dask_frame(records):
    import dask.dataframe

    with dask.config.set({"dataframe.convert-string": False}):
        frame = pd.DataFrame({"x": [1.0] * len(records), "o": pd.Series(records, dtype=object)})
        return dask.dataframe.from_pandas(frame, npartitions=1)


LAZY = {
    "dask": dask_frame,
    "polars": lambda records: pl.DataFrame(
        {"x": [1.0] * len(records), "o": pl.Series(records, dtype=pl.Object)}
    ).lazy(),
}


@pytest.mark.parametrize("make", LAZY.values(), ids=LAZY)
@pytest.mark.parametrize(
    "asked",
    [{"by": "o", "keys": ["a"]}, {"by": "o", "keys": ["a", "b"]}, {"unit": "o"}],
    ids=["one key", "two keys", "person"],
)
def test_objects_in_lazy_engines_are_refused_by_type(make, asked):
    """One that cannot be compared would stop the query."""
    ends = {
        told(lambda records=records: duffdp.median(make(records), column="x", **asked, **GIVEN))
        for records in (["a"], ["a", "b"], ["a", []], ["a", "\ud800"])
    }
    assert len(ends) == 1
    assert next(iter(ends))[0] == "UnsupportedData"


@pytest.mark.parametrize("make", LAZY.values(), ids=LAZY)
def test_categories_of_objects_in_lazy_engines_are_refused_by_type(make):
    for records in (["a"], ["a", []]):
        with pytest.raises(UnsupportedData, match="type"):
            duffdp.mode(make(records), column="o", epsilon=1, categories=["a", "b"])


def test_intervals_name_nobody():
    """A month and thirty days are equal in DuckDB."""
    import duckdb

    relation = duckdb.sql("SELECT 1 AS x, INTERVAL 1 MONTH AS p")
    with pytest.raises(UnsupportedData, match="cannot identify people reliably"):
        duffdp.median(relation, column="x", unit="p", **GIVEN)


@pytest.mark.parametrize("ending", [".csv.gz", ".jsonl.gz"])
def test_how_a_file_is_packed_is_no_matter_of_records(tmp_path, ending):
    """Python reads a padded gzip file, DuckDB does not; which of them is asked depends on
    records.
    """
    lines = {
        ".csv.gz": (b"x,n\n", b"1,Ann\n", b"5,Jos\xe9\n"),
        ".jsonl.gz": (b"", b'{"x": 1}\n', b'{"x": 5, "n": "\xe9"}\n'),
    }
    head, line, odd = lines[ending]
    counts = []
    for extra in (b"", odd):
        path = tmp_path / f"{len(extra)}{ending}"
        path.write_bytes(gzip.compress(head + line * 100 + extra) + b"\0" * 512)
        (source,) = open_groups(path, UNIT, "x")
        counts.append(int(source.value_counts()[1].sum()))
    assert counts[0] == 100
    assert counts[1] in (100, 101)


def test_edges_that_are_objects_are_refused_by_what_the_library_declares():
    ends = {
        told(lambda u=u: duffdp.triangles(pd.DataFrame({"u": u, "v": u}), epsilon=1, nodes=4))
        for u in (
            pd.Series(["a", "b"], dtype=object),
            pd.Series(["a", 7], dtype=object),
            pd.Series([], dtype=object),
        )
    }
    assert len(ends) == 1


def test_an_edge_that_raises_is_no_edge():
    class Odd:
        def __iter__(self):
            raise RuntimeError("a secret")

    assert duffdp.triangles([(0, 1), Odd()], epsilon=1, nodes=4).value >= 0


@pytest.mark.parametrize("kind", [np.longdouble, np.clongdouble])
def test_long_doubles_that_are_one_double_are_different_people(kind):
    """And one that no double holds warns of nothing."""
    wide = np.dtype(np.longdouble).itemsize > 8
    one = np.longdouble(1)
    more, huge = np.nextafter(one, one + 1), np.finfo(np.longdouble).max
    ids = np.array([one, one, more, np.nan, 0, -0.0, huge], dtype=kind)
    frame = pd.DataFrame({"x": [1] * len(ids), "p": ids})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        (source,) = open_groups(frame, UNIT, "x", unit="p")
    assert int(source.value_counts()[1].sum()) == (4 if wide else 3)


def test_keys_of_half_precision_do_not_fail_after_the_charge():
    frame = pd.DataFrame({"g": np.array([1, 5, 5, np.nan, 0.1], dtype=np.float16)})
    release = duffdp.count(frame, by="g", keys=[1, 5, 0.1], epsilon=1e6)
    assert [int(count) for (count,) in release.cells] == [1, 2, 1]
    assert duffdp.mode(frame, column="g", categories=[1, 5], epsilon=1e3).value == 5


@pytest.mark.parametrize("digits", [9, 18])
def test_short_decimals_do_not_fail_after_the_charge(digits):
    short = {9: getattr(pa, "decimal32", None), 18: getattr(pa, "decimal64", None)}[digits]
    if short is None:
        pytest.skip("this pyarrow has no short decimals")
    values = pa.array([Decimal("1.50"), Decimal(5), Decimal(5), None], short(digits, 2))
    column = pd.Series(pd.arrays.ArrowExtensionArray(values))
    for table in (pa.table({"p": values}), pd.DataFrame({"p": column})):
        assert duffdp.count(table, unit="p", epsilon=1e6).value == 2
        counts = duffdp.count(table, by="p", keys=[Decimal("1.5"), 5], epsilon=1e6).cells
        assert [int(count) for (count,) in counts] == [1, 2]


def test_numbers_in_a_dictionary_are_numbers():
    """In Arrow tables: keys of such columns failed after the charge."""
    values = pa.array([1, 5, 5, None], pa.int64()).dictionary_encode()
    table = pa.table({"p": values, "x": [1.0] * 4})
    for data in (table, table.to_pandas(types_mapper=pd.ArrowDtype)):
        assert duffdp.count(data, unit="p", epsilon=1e6).value == 2
        counts = duffdp.count(data, by="p", keys=[1, 5], other="rest", epsilon=1e6).cells
        assert [int(count) for (count,) in counts] == [1, 2, 1]
        found = duffdp.count(data, by="p", keys=duffdp.Pattern(numbers=(1, 9)), epsilon=1e3)
        assert [key for (key,) in found.keys] == [1, 5]


@pytest.mark.parametrize(
    "kind", [pa.map_(pa.string(), pa.int64()), pa.int64()], ids=["map", "runs"]
)
def test_people_that_arrow_cannot_tell_apart_are_refused_before_the_charge(kind, tmp_path):
    maps = kind != pa.int64()
    people = pa.array([[("a", 1)], None] if maps else [1, 2], kind)
    table = pa.table({"p": people if maps else pa.compute.run_end_encode(people)})
    ledger = duffdp.Ledger(tmp_path / "budget.db", epsilon=1)
    with pytest.raises(UnsupportedData, match="cannot identify people"):
        duffdp.count(table, unit="p", epsilon=1, ledger=ledger)
    assert ledger.spent() == 0
