"""What belongs to the caller: a DuckDB connection is left as it was, and what a query runs into is
not quoted.
"""

from __future__ import annotations

import duckdb
import polars as pl
import pytest

import duffdp
from duffdp._engines.adapters.duckdb import statements


def test_nothing_is_left_behind_in_a_connection():
    connection = duckdb.connect()
    connection.execute(
        "CREATE TABLE __rows AS SELECT i % 10 AS x, i AS p, 'a' AS g FROM range(100) t(i)"
    )
    relation = connection.table("__rows")
    for by in ({}, {"by": "g", "keys": ["a", "b"]}):
        for unit in (None, "p"):
            given = {"epsilon": 1e6, "unit": unit, **by}
            assert duffdp.count(relation, column="x", **given).rows()[0][-1] == 100
            duffdp.table(relation, {"x": ["mean", 0.5]}, bounds={"x": (0, 9)}, **given)
    given = {"epsilon": 1e6, "unit": "p", "bounds": {"x": (0, 9), "q": (0, 99)}}
    asked = duffdp.Query(relation, "SELECT p, x, p + 1 AS q FROM data")
    duffdp.table(asked, {"x": ["mean", 0.5], "q": [0.5]}, **given)
    assert names_in(connection) == ["__rows"]


def test_a_view_of_the_caller_stays_as_it_is():
    connection = duckdb.connect()
    connection.execute('CREATE TEMP VIEW "duffdp rows" AS SELECT 5 AS own')
    relation = connection.sql("SELECT i AS p, i % 10 AS x FROM range(100) t(i)")
    assert duffdp.count(relation, column="x", unit="p", epsilon=1e6).value == 100
    duffdp.median(relation, column="x", epsilon=1e6, bounds=(0, 9))
    assert connection.execute('SELECT own FROM "duffdp rows"').fetchall() == [(5,)]


def test_releases_of_one_connection_have_no_name_in_common():
    """What a thread calls a view, another one must not make anew meanwhile."""
    connection = duckdb.connect()
    given = [connection.sql(f"SELECT {x} AS x") for x in (1, 2)]
    with statements(given[0]) as (run, first), statements(given[1]) as (other, second):
        assert first != second
        assert other(f"SELECT x FROM {second}").fetchall() == [(2,)]
        assert run(f"SELECT x FROM {first}").fetchall() == [(1,)]
    assert names_in(connection) == []


def test_a_release_that_fails_in_a_transaction_says_what_it_cost(tmp_path):
    """Nothing can be dropped in a transaction that failed, and nothing has to."""
    connection = duckdb.connect()
    connection.execute("BEGIN")
    relation = connection.sql(
        "SELECT i AS p, i % 10 AS x, CASE WHEN i = 7 THEN error('own words') ELSE i END AS y "
        "FROM range(100) t(i)"
    )
    each = [{"statistic": "median", "column": name, "bounds": (0, 99)} for name in "xy"]
    each[0] |= {"contributions": 2}  # other rows, so that they are read by themselves
    ledger = duffdp.Ledger(tmp_path / "budget.db", epsilon=1)
    with pytest.raises(duffdp.UnsupportedData, match="the query failed in the engine") as raised:
        duffdp.Plan(each, epsilon=1.0, unit="p").run(relation, ledger=ledger)
    assert raised.value.__notes__ == [
        "epsilon 1 was charged to the data set 'data' and stays charged"
    ]
    connection.execute("ROLLBACK")
    assert names_in(connection) == []


def names_in(connection):
    """What tables and views are called."""
    found = connection.execute(
        "SELECT view_name FROM duckdb_views() WHERE NOT internal UNION ALL SELECT table_name FROM "
        "duckdb_tables()"
    )
    return [name for (name,) in found.fetchall()]


@pytest.mark.parametrize("unit", [None, "p"])
def test_a_function_of_the_caller_that_fails_in_a_query_is_not_quoted(unit):
    def fail(values):
        raise KeyError(f"cannot take {values[0]}")

    rows = pl.LazyFrame({"p": [1, 2], "x": [7.0, 8.0]})
    rows = rows.with_columns(pl.col("x").map_batches(fail, return_dtype=pl.Float64))
    with pytest.raises(duffdp.UnsupportedData, match=r"the query failed .* \(KeyError\)") as raised:
        duffdp.median(rows, column="x", unit=unit, bounds=(0, 9), epsilon=1)
    assert "7" not in str(raised.value)
    assert raised.value.__suppress_context__
