"""Queries over the extremes of every type: no record decides whether there is an error, and what
fails for every row fails before the charge.
"""

from __future__ import annotations

import itertools
import random
import threading

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import duffdp
from duffdp import DuffError, Query

SURE = 1e6
OPTIMIZERS = "SELECT current_setting('disabled_optimizers')"

# ------------------------------------------------------------------------------
# constants

CONSTANTS = [
    "CAST('1O' AS INT) > 1",
    "DATE '2024-13-01' > DATE '2020-01-01'",
    "2147483647 + 1 > 5",
    "coalesce(5, CAST('x' AS INT)) = 5",
    "(1 = 2 AND (1 = 1 OR CAST('x' AS INT) = 1)) IS NULL",
    "CASE WHEN hiv IS NULL THEN CAST('a' AS INT) END > 1",
    "CASE WHEN 1 = 2 THEN CAST('a' AS INT) ELSE hiv END > 1",
    "CASE WHEN 1 = 2 THEN CAST('a' AS INT) ELSE 5 END > hiv",
    "hiv > CAST('99999999999' AS INT)",
    "hiv + 100::TINYINT * 100::TINYINT > 1",
    "hiv IN (1, CAST('x' AS INT))",
    "date_diff('hour', TIMESTAMPTZ '200000-01-01 00:00:00+00', "
    "TIMESTAMPTZ '100000-01-01 (BC) 00:00:00+00') > hiv",
]


@pytest.mark.parametrize("part", CONSTANTS)
def test_a_constant_that_fails_is_refused_before_a_charge(part, tmp_path):
    book = duffdp.Ledger(tmp_path / "budget.db", epsilon=1)
    for text in (
        f"SELECT age FROM data WHERE hiv IS NULL AND {part}",
        f"SELECT {part} AS x, hiv FROM data",
        f"SELECT hiv, max({part}) AS x FROM data GROUP BY hiv",
    ):
        with pytest.raises(DuffError, match=r"a constant that cannot be evaluated.*DuckDB reports"):
            duffdp.count(Query("nowhere.csv", text), epsilon=1, unit="hiv", ledger=book)
    assert book.spent() == 0


def test_constants_that_do_not_fail_are_taken():
    rows = duckdb.sql("SELECT 5 AS age, DATE '2024-07-31' AS day")
    for part in (
        "TRY_CAST('1O' AS INT) IS NULL",
        "age > 1 + 2 * 1.5",
        "day >= DATE '2024-01-31' + INTERVAL 1 MONTH",
        "date_diff('day', '2024-01-01', day) > 5",
        "day < '2025-01-01'",
        "CASE WHEN age > 1 THEN 'x' ELSE NULL END = 'x'",
        "CAST(coalesce(CAST(age AS VARCHAR), 'x') AS INT) = 5",
        "1 / 0 IS NULL OR age = 5",
    ):
        query = Query(rows, f"SELECT age FROM data WHERE {part}")
        assert duffdp.count(query, epsilon=SURE).value == 1, part


def source(kind, folder, table):
    """A table with statistics, of which DuckDB knows the least and the largest value."""
    if kind == "parquet":
        pq.write_table(table, folder / "t.parquet")
        return folder / "t.parquet"
    connection = duckdb.connect(folder / "t.duckdb" if kind == "database" else ":memory:")
    connection.register("given", table)
    connection.execute("CREATE OR REPLACE TABLE people AS SELECT * FROM given")
    connection.unregister("given")
    if kind == "duckdb":
        return connection.table("people")
    connection.close()
    return f"{folder / 't.duckdb'}::people"


def seen(data, text, book, column=None):
    """What is seen of a release: its value, or its error and what was charged."""
    before = book.spent()
    try:
        return duffdp.count(Query(data, text), column=column, epsilon=SURE, ledger=book).value
    except DuffError as error:
        return type(error).__name__, str(error), book.spent() > before


@pytest.mark.parametrize("kind", ["duckdb", "parquet", "database"])
@pytest.mark.parametrize(
    "condition", ["hiv IS NULL AND age > '1O'", "hiv > 5000 AND age > '1O'", "age IN (1, '1O')"]
)
def test_a_text_that_is_no_number_is_refused_by_its_type(kind, condition, tmp_path):
    """One record with a null or a large value used to decide whether it was evaluated."""
    book = duffdp.Ledger(tmp_path / "budget.db", epsilon=1e9)
    found = set()
    for more in ([], [None], [9999]):
        values = [1] * 1000 + more
        table = pa.table({"hiv": pa.array(values, pa.int32()), "age": range(len(values))})
        text = f"SELECT age FROM data WHERE {condition}"
        found.add(seen(source(kind, tmp_path, table), text, book))
    ((name, said, charged),) = found
    assert (name, charged) == ("DuffError", False)
    assert "does not fit the types" in said


# ------------------------------------------------------------------------------
# functions of extremes

# Of each type its ends, and what has a meaning of its own.
EXTREMES = {
    "BOOLEAN": ["true", "false"],
    "TINYINT": ["-128", "127", "0"],
    "BIGINT": ["-9223372036854775808", "9223372036854775807", "0", "-1"],
    "HUGEINT": ["'-170141183460469231731687303715884105728'", "0", "-1"],
    "UBIGINT": ["18446744073709551615", "0"],
    "DOUBLE": ["'nan'", "'inf'", "'-inf'", "1.7976931348623157e308", "5e-324", "-0.0", "-1e19"],
    "FLOAT": ["'nan'", "'-inf'", "3.4e38"],
    "DECIMAL(4, 1)": ["999.9", "-999.9"],
    "DECIMAL(38, 0)": ["'99999999999999999999999999999999999999'", "-1"],
    "VARCHAR": [
        *("''", "'é'", "chr(0)", "repeat('x', 100000)", "'1e999'", "'infinity'", "'epoch'"),
        *("'294247-01-10 04:00:54.775806'", "'290309-12-22 (BC) 00:00:00'", "'5877642-06-25 (BC)'"),
        *("'99999999999999999999999999999999999999999'", "'nan'", "'0x10'", "chr(769)"),
    ],
    "DATE": [
        *("'5881580-07-10'", "'5877642-06-25 (BC)'", "'infinity'", "'-infinity'"),
        *("'294247-01-10'", "'294248-01-01'", "'290308-12-22 (BC)'", "'290310-01-01 (BC)'"),
    ],
    "TIMESTAMP": [
        *("'294247-01-10 04:00:54.775806'", "'290309-12-22 (BC) 00:00:00'"),
        *("'infinity'", "'-infinity'", "'2024-02-29 23:59:59.999999'"),
    ],
    "TIMESTAMP_S": ["'294247-01-10 04:00:54'", "'290309-12-22 (BC) 00:00:00'", "'infinity'"],
    "TIMESTAMP_NS": ["'2262-04-11 23:47:16.854775806'", "'1677-09-22 00:00:00'", "'-infinity'"],
    "TIMESTAMPTZ": [
        *("'294247-01-10 04:00:54.775806+00'", "'290309-12-22 (BC) 00:00:00+00'"),
        *("'infinity'", "'-infinity'", "'2024-03-31 02:30:00+01'"),
        *("'200000-01-01 00:00:00+00'", "'100000-01-01 (BC) 00:00:00+00'"),
    ],
    "TIME": ["'00:00:00'", "'24:00:00'"],
    "INTERVAL": ["INTERVAL 2147483647 MONTHS", "INTERVAL '-2147483648 months'"],
}
UNITS = [
    "year",
    "month",
    "day",
    "decade",
    "century",
    "millennium",
    "quarter",
    "week",
    "hour",
    "minute",
    "second",
    "millisecond",
    "microsecond",
    "isoyear",
    "yearweek",
    "epoch",
    "doy",
    "dow",
    "isodow",
    "era",
    "timezone",
    "timezone_hour",
    "julian",
]
CASTS = [
    "BOOLEAN",
    "TINYINT",
    "INT",
    "BIGINT",
    "FLOAT",
    "DOUBLE",
    "DECIMAL",
    "DECIMAL(38,37)",
    "DECIMAL(1,0)",
    "VARCHAR",
    "DATE",
    "TIMESTAMP",
    "TIMESTAMPTZ",
]
OF_ONE = [
    *("-a", "abs(a)", "ceil(a)", "exp(a)", "floor(a)", "isinf(a)", "isnan(a)", "ln(a)", "round(a)"),
    *("round(a, 2)", "round(a, -400)", "sign(a)", "sqrt(a)", "NOT a", "a IS NULL", "left(a, -1)"),
    *("left(a, 9223372036854775807)", "right(a, -9223372036854775808)", "length(a)", "lower(a)"),
    *("upper(a)", "trim(a)", "trim(a, 'x')", "replace(a, 'x', '')", "a LIKE '%x_'", "a ILIKE '%X'"),
    *("substring(a, -5)", "substring(a, -9223372036854775808, 9223372036854775807)"),
    *("starts_with(a, 'x')", "contains(a, 'x')", "a || 'x'", "concat(a, 'x')", "year(a)", "day(a)"),
    *("a AT TIME ZONE 'America/New_York'", "a AT TIME ZONE 'UTC' AT TIME ZONE 'Asia/Tokyo'"),
    *("dayofmonth(a)", "dayofweek(a)", "dayofyear(a)", "hour(a)", "minute(a)", "month(a)"),
    *("quarter(a)", "second(a)", "week(a)", "a + INTERVAL 1 DAY", "a - INTERVAL 1 MICROSECOND"),
    *("a + INTERVAL 9999 YEAR", "a - INTERVAL 1 MONTH", "a + 1", "a - 1", "a * 2", "a / 0"),
    *("a // 0", "a % 0", "a // -1", "a % -1", "a ** 2", "a ** 0.5", "pow(2, a)", "1 // a", "1 / a"),
    *("nullif(a, a)", "greatest(a, a)", "a IN (1, 2)", "a BETWEEN 1 AND 2", "a > '2024-01-01'"),
    *("a > DATE '2024-01-01'", "a > TIMESTAMPTZ '2024-01-01'", "a - DATE '2024-01-01'"),
    *("TIMESTAMPTZ '2024-01-01' - a", "DATE '2024-01-01' + a", "INTERVAL 1 DAY * a"),
    *("left('abc', a)", "substring('abc', a, a)", "round(1.5::DOUBLE, a)"),
    *(f"date_trunc('{unit}', a)" for unit in UNITS),
    *(f"extract({unit} FROM a)" for unit in UNITS),
    *(f"CAST(a AS {kind})" for kind in CASTS),
    *(f"CAST(a AS {kind}) AT TIME ZONE 'America/New_York'" for kind in ("DATE", "TIMESTAMPTZ")),
    *(f"extract({unit} FROM a - a)" for unit in UNITS),
]
OF_TWO = [
    *("a + b", "a - b", "a * b", "a / b", "a // b", "a % b", "a ** b", "a > b", "a = b"),
    *("greatest(a, b)", "coalesce(a, b)", "nullif(a, b)", "a || b", "CASE WHEN a THEN b END"),
    *("left(a, b)", "round(a, b)", "substring(a, b)", "a BETWEEN b AND a"),
]
OF_TWO_TIMES = [f"date_diff('{unit}', a, b)" for unit in UNITS]
TIMES = ("DATE", "TIMESTAMP", "TIMESTAMP_NS", "TIMESTAMPTZ", "TIME")


@pytest.fixture(scope="module")
def connection():
    return duckdb.connect(config={"threads": 1})


def outcome(connection, part, rows):
    """What is seen of a count: how many values there are, or what is said."""
    query = Query(connection.sql(rows), f"SELECT {part} AS x FROM data")
    try:
        return duffdp.count(query, column="x", epsilon=SURE).value
    except DuffError as error:
        return f"{type(error).__name__}: {error}"


def check(connection, part, types):
    """The same is seen with extremes as without a record, but for the number."""
    columns = ", ".join(f"CAST(NULL AS {kind}) AS {name}" for name, kind in types.items())
    connection.execute(f"CREATE OR REPLACE TABLE t AS SELECT {columns} LIMIT 0")
    without = outcome(connection, part, "FROM t")
    for values in itertools.product(*(EXTREMES[kind] for kind in types.values())):
        given = zip(values, types.values(), strict=True)
        listed = ", ".join(f"CAST({value} AS {kind})" for value, kind in given)
        connection.execute(f"INSERT INTO t SELECT {listed}")
    found = outcome(connection, part, "FROM t")
    if isinstance(without, int):
        assert isinstance(found, int), (part, types, found)
    else:
        assert found == without, (part, types)
    return isinstance(found, int)


OTHERS = ("TINYINT", "HUGEINT", "DOUBLE", "VARCHAR", "DATE", "TIMESTAMP", "INTERVAL")
WALKS = {
    "one": list(itertools.product(OF_ONE, EXTREMES)),
    "two": list(itertools.product(OF_TWO, EXTREMES, OTHERS)),
    "times": list(itertools.product(OF_TWO_TIMES, TIMES, TIMES)),
}


@pytest.mark.parametrize("walk", WALKS)
def test_no_extreme_of_a_type_stops_a_function(connection, walk):
    """Functions that a query may name, with every extreme of types: TRY catches what fails.

    A draw of them; this file as a script walks all, which takes minutes.
    """
    drawn = random.Random(walk).sample(WALKS[walk], 60)
    taken = [
        check(connection, part, dict(zip("ab", types, strict=False))) for part, *types in drawn
    ]
    assert sum(taken) > 5


@pytest.mark.parametrize("kind", ["duckdb", "parquet", "database"])
@pytest.mark.parametrize("unit", ["year", "week", "hour", "century"])
def test_a_far_date_truncates_to_nothing(kind, unit, tmp_path):
    """DuckDB truncated the least and the largest date of a column while it planned, past TRY."""
    book = duffdp.Ledger(tmp_path / "budget.db", epsilon=1e9)
    for declared, usual, odd in (
        (pa.date32(), 19_000, [2**31 - 2, -(2**31) + 2, 106_751_992]),
        (pa.timestamp("us"), 10**15, [-(2**63) + 2, 2**63 - 2]),
    ):
        numbers = pa.int32() if declared == pa.date32() else pa.int64()
        text = f"SELECT date_trunc('{unit}', day) AS x FROM data"
        for more in ([], *([one] for one in odd)):
            days = pa.array([usual] * 10 + more, numbers).cast(declared)
            found = seen(source(kind, tmp_path, pa.table({"day": days})), text, book, "x")
            assert found in (10, 10 + len(more))


def test_times_that_are_far_apart_have_no_difference_and_the_database_stays():
    connection = duckdb.connect()
    connection.execute("CREATE TABLE own AS SELECT 7 AS x")
    for first, last, expected in (
        ("2024-01-01 00:00:00+00", "2024-01-02 12:00:00+00", 1),
        ("0001-01-02 00:00:00+00", "9999-12-30 00:00:00+00", 1),
        ("100000-01-01 (BC) 00:00:00+00", "200000-01-01 00:00:00+00", 0),
        ("2024-01-01 00:00:00+00", "294247-01-09 00:00:00+00", 0),
    ):
        rows = connection.sql(f"SELECT TIMESTAMPTZ '{first}' AS a, TIMESTAMPTZ '{last}' AS b")
        query = Query(rows, "SELECT date_diff('hour', a, b) AS x FROM data")
        assert duffdp.count(query, column="x", epsilon=SURE).value == expected
        assert connection.execute("SELECT x FROM own").fetchall() == [(7,)]
    hours = duffdp.quantile(
        Query(
            connection.sql("SELECT TIMESTAMP_NS '2024-01-01' AS a, DATE '2024-01-03' AS b"),
            "SELECT date_diff('hour', a, b) AS x FROM data",
        ),
        1,
        column="x",
        bounds=(0, 100),
        epsilon=SURE,
        mechanism="duff",
    )
    assert hours.value == 48
    with pytest.raises(DuffError, match="only DATE_DIFF that is not nested"):
        Query(rows, "SELECT date_diff('day', a, a + date_diff('day', a, b)) AS x FROM data")


@pytest.mark.parametrize(
    "part",
    [
        *("week(w - w)", "extract(era FROM w - w)", "date_diff('era', w, w)", "dayofyear(w - w)"),
        *("date_trunc('timezone', z)", "extract(timezone FROM d)", "extract(era FROM t)"),
        *("date_diff('year', t, t)", "CASE WHEN w IS NULL THEN week(w - w) END"),
    ],
)
def test_a_unit_that_a_type_does_not_have_is_refused_before_a_charge(part, tmp_path):
    """DuckDB says so at the first value, so a record decided."""
    book = duffdp.Ledger(tmp_path / "budget.db", epsilon=1e9)
    made = "SELECT TIMESTAMP '2024-01-01' AS w, TIMESTAMPTZ '2024-01-01' AS z, DATE '2024-01-01' "
    rows = duckdb.sql(f"{made} AS d, TIME '12:00' AS t")
    found = {
        seen(some, f"SELECT {part} AS x FROM data", book) for some in (rows, rows.filter("1 = 2"))
    }
    ((name, said, charged),) = found
    assert (name, charged) == ("DuffError", False)
    assert "does not fit the types" in said


# ------------------------------------------------------------------------------
# the settings of a caller's connection


@pytest.mark.parametrize("own", ["", "top_n", "common_subexpressions,top_n"])
def test_the_optimizers_of_a_caller_are_as_they_were(own, tmp_path):
    connection = duckdb.connect()
    connection.execute(f"SET disabled_optimizers = '{own}'")
    (before,) = connection.execute(OPTIMIZERS).fetchone()
    rows = connection.sql("SELECT i AS p, i % 10 AS x FROM range(100) t(i)")
    query = Query(rows, "SELECT p, x + 1 AS y, x - 1 AS z FROM data")
    given = {"epsilon": SURE, "unit": "p", "bounds": {"y": (0, 9), "z": (0, 9)}}
    duffdp.table(query, {"y": ["mean", 0.5], "z": [0.5]}, **given)
    assert duffdp.count(query, column="y", unit="p", epsilon=SURE).value == 100
    assert connection.execute(OPTIMIZERS).fetchone() == (before,)
    failing = connection.sql(
        "SELECT CASE WHEN i = 7 THEN error('own') ELSE i END AS x FROM range(9) t(i)"
    )
    with pytest.raises(DuffError, match="the query failed"):
        duffdp.count(Query(failing, "SELECT x FROM data"), column="x", epsilon=1)
    assert connection.execute(OPTIMIZERS).fetchone() == (before,)


def test_releases_in_threads_leave_the_optimizers_as_they_were():
    connection = duckdb.connect()
    connection.execute("CREATE TABLE t AS SELECT '1' AS x, range AS p FROM range(2000)")
    connection.execute("INSERT INTO t VALUES ('one', 2000)")
    text = "SELECT nullif(CAST(x AS INT), 3) AS y FROM data"  # fails where parts occur once
    found = []

    def release():
        query = Query(connection.cursor().table("t"), text)
        found.extend(duffdp.count(query, column="y", epsilon=SURE).value for _ in range(5))

    threads = [threading.Thread(target=release) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [2000] * 20
    assert connection.execute(OPTIMIZERS).fetchone() == ("",)


def test_a_connection_whose_settings_are_locked_is_refused_before_a_charge(tmp_path):
    book = duffdp.Ledger(tmp_path / "budget.db", epsilon=1e9)
    connection = duckdb.connect()
    connection.execute("SET disabled_optimizers = 'top_n'")
    connection.execute("SET lock_configuration = true")
    text = "SELECT x FROM data"
    with pytest.raises(
        DuffError, match=r"locked\. Run SET disabled_optimizers = '(.*)' be"
    ) as error:
        duffdp.count(Query(connection.sql("SELECT 1 AS x"), text), epsilon=1, ledger=book)
    assert book.spent() == 0
    told = str(error.value).split("Run ")[1].split(" before")[0]
    connection = duckdb.connect()
    connection.execute(told)
    connection.execute("SET lock_configuration = true")
    assert duffdp.count(Query(connection.sql("SELECT 1 AS x"), text), epsilon=SURE).value == 1


def walk_all():
    """Every function with every type."""
    for walk in WALKS.values():
        for part, *types in walk:
            check(duckdb.connect(config={"threads": 1}), part, dict(zip("ab", types, strict=False)))


if __name__ == "__main__":
    walk_all()
