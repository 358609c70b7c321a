"""Queries that PostgreSQL and Spark run: the same as in DuckDB, and no record stops them."""

from __future__ import annotations

import datetime as dt
import json
import math
import random
from dataclasses import replace
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import duffdp
import engines
import postgres
from duffdp import DuffError, Query
from duffdp._engines.adapters.postgres import POSTGRES, compiled
from duffdp._engines.adapters.spark import SPARK
from duffdp._engines.files.format import ReadRequest
from duffdp._engines.sql.expressions import MOST_DEEP, Kind, RowExpressions
from duffdp._engines.sql.parse import read_query
from duffdp._engines.sql.query import open_source

SURE = 1e6
ENGINES = ("postgres", "spark")
SUMS = """SELECT s, sum(b) AS total, avg(b) AS mean, count(*) AS n, count(k) AS some, max(a) AS top,
min(s || 'x') AS word FROM data GROUP BY s"""
COLUMNS = {
    "i": ("int4", pa.int32()),
    "a": ("int8", pa.int64()),
    "k": ("int4", pa.int32()),
    "b": ("float8", pa.float64()),
    "m": ("numeric", pa.decimal128(38, 9)),
    "s": ("text", pa.string()),
    "w": ("timestamp", pa.timestamp("us")),
    "z": ("timestamptz", pa.timestamp("us", "UTC")),
    "d": ("date", pa.date32()),
    "o": ("boolean", pa.bool_()),
}
EXPRESSIONS = """
a + 1; a * a * a; -a; a - b; a // k; a % k; b % 2.5; b / b; a / k; b * b * b * b
b + b; a * a; abs(a); abs(b); sign(a); sign(b); round(b, 1); round(b); round(a, -1); floor(b)
ceil(b); floor(a); sqrt(b); ln(b); (a * a * a) % 7; a * b / m; round(m, 2); m % 3; m + b; m * 2
CAST(s AS INTEGER); TRY_CAST(s AS DOUBLE); CAST(b AS TINYINT); b::DECIMAL(10, 2)
CAST(a AS SMALLINT); CAST(a AS VARCHAR); CAST(CAST(a AS VARCHAR) AS BIGINT)
CAST(o AS INTEGER); CAST(a AS BOOLEAN); CAST(b AS BIGINT); CAST(o AS DOUBLE); b - 1e300
year(w); quarter(w); month(z); week(d); day(w); dayofweek(d); dayofyear(w); hour(w); minute(z)
second(w); extract(hour FROM w); extract(dow FROM d); date_trunc('month', w); date_trunc('day', z)
date_trunc('week', w); date_trunc('year', d); date_trunc('day', w); date_trunc('quarter', w)
w::DATE; d::TIMESTAMP; z::DATE; w + INTERVAL 399 YEAR; w - INTERVAL 2 MONTH; d + INTERVAL 1 DAY
z + INTERVAL 36 HOUR; date_diff('day', w, d); date_diff('month', d, w); date_diff('year', d, d)
w < '2024-01-01'; d >= '2000-01-01'; w = d; z < '2024-01-01 00:00:00+01:00'
DATE '2024-02-29' = d
left(s, 2); right(s, 2); substring(s, 2, 3); substring(s, 2); upper(s) || lower(s); length(s)
s LIKE '%e%'; s LIKE 'a\\_%'; s LIKE 'a\\'; s ILIKE '_X%'; replace(s, ',', '.'); trim(s)
ltrim(s); rtrim(s); contains(s, 'x'); starts_with(s, 'x'); ends_with(s, 'x')
contains(s, s); concat(s, s, 'a''"'); s = 'x'; s < 'x'; s IN ('x', '5'); s IS NULL
CASE WHEN b > 0 THEN 1 / b ELSE CAST(s AS DOUBLE) END; CASE a WHEN 0 THEN 'zero' WHEN k THEN 'k' END
nullif(a, 0); nullif(b, 0.0); greatest(a, k); least(a, k, 3); coalesce(b, 0); coalesce(a, b, m)
coalesce(NULL, d); coalesce(NULL, s); coalesce(NULL, m); coalesce(NULL, a * 2); coalesce(NULL, w)
coalesce(NULL, o); coalesce(NULL, z); coalesce(NULL, b); coalesce(NULL, b * 2); m > 1.5; m > a
b BETWEEN 0 AND 1; a BETWEEN k AND 5; o AND b > 1; NOT o OR a IS NULL; o IS TRUE; if(o, a, k)
b IS NOT DISTINCT FROM a; b IS DISTINCT FROM 1.5; isnan(b); isinf(b); a > 99999999999999999999999
sqrt(b - 1); sqrt(-b * b); ln(-b); b / 0; a // 0; a % 0; b * 0
""".replace("\n", "; ")
EXPRESSIONS = [part.strip() for part in EXPRESSIONS.split(";") if part.strip()]
ALONE = {  # what one engine takes and the other one does not, or has no zero for
    "postgres": "date_trunc('hour', w); date_diff('second', w, w); date_diff('hour', z, z); "
    "w AT TIME ZONE 'Europe/Berlin'; z AT TIME ZONE 'America/New_York'; date_diff('minute', w, w)",
    "spark": "exp(b); b ** 3; CAST(s AS DATE); CAST(s AS TIMESTAMP)",
}
TAME = {
    "a": [0, 1, -1, 5, 12, None],
    "k": [1, -1, 3, 7, None],
    "b": [0.0, 1.5, 2.25, -7.25, 100.125, None],
    "m": [Decimal("1.5"), Decimal("-2.25"), Decimal("1234.5"), None],
    "s": ["5", "x", "12.25", "-3", "Xx,y", "a\\_b", "axb", "it's", "e", None],
    "w": [dt.datetime(2024, 2, 29, 12, 34, 56), dt.datetime(1969, 12, 31, 23, 59), None],
    "z": [dt.datetime(2024, 3, 31, 1, 30, tzinfo=dt.UTC), None],
    "d": [dt.date(2024, 2, 29), dt.date(1970, 1, 1), None],
    "o": [True, False, None],
}
EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
OLD, LATE = "4713-11-24 00:00:00 BC", "294276-12-31 23:59:59.999999"
NASTY = {
    "a": [2**63 - 1, -(2**63), 0],
    "k": [0, -1, -(2**31)],
    "b": [
        *(math.nan, math.inf, -math.inf, 1.7976931348623157e308, 5e-324, -5e-324, -0.0, 1e-200),
        *(1e154, 2.2e-308, -1e308, 0.0),
    ],
    "m": ["1e400", "-1e400", "1e-400", "NaN", "Infinity", "-Infinity", "1e130000", "1e-16000", "0"],
    "s": [
        *("", ".", "+", "1e999", "1e-999", "9" * 300, "9" * 199, "NaN", "Infinity", "1_000", "é"),
        *("2024-13-45", "a\\", "%", "1" + "0" * 200 + "e999"),
    ],
    "w": ["-infinity", "infinity", OLD, LATE, "0001-01-01", "9999-12-31 23:59:59.999999"],
    "z": ["-infinity", "infinity", OLD, LATE],
    "d": ["-infinity", "infinity", "4713-11-24 BC", "5874897-12-31", "0001-01-01", "9999-12-31"],
    "o": [True],
}


def tame_rows():
    draw = random.Random(7)
    return [{"i": at} | {n: draw.choice(v) for n, v in TAME.items()} for at in range(40)]


def arrow(rows):
    return pa.table(
        {n: pa.array([row[n] for row in rows], kind) for n, (_, kind) in COLUMNS.items()}
    )


def spark_frame(rows, tmp_path):
    """By a file: what is beyond the times of Python cannot be handed over."""
    made = {}
    for name, (_, kind) in COLUMNS.items():
        values = [row[name] for row in rows]
        if kind == pa.date32() or pa.types.is_timestamp(kind):
            bits = pa.int32() if kind == pa.date32() else pa.int64()
            made[name] = pa.array([_ticks(value, bits) for value in values], bits).cast(kind)
        elif name == "m":
            fits = (None if v is None else Decimal(v) for v in values)
            fits = [v if v is None or v.is_finite() else None for v in fits]
            fits = [None if v is None or abs(v.adjusted()) > 9 else v for v in fits]
            made[name] = pa.array(fits, kind)
        else:
            made[name] = pa.array(values, kind)
    path = tmp_path / f"rows{len(rows)}.parquet"
    pq.write_table(pa.table(made), path)
    return engines.spark().read.parquet(str(path))


def _ticks(value, bits):
    """Days or microseconds since 1970, those before and after all times of Python too."""
    days = bits == pa.int32()
    if isinstance(value, str) and (value in (LATE, "5874897-12-31") or value[-1] in "Cy"):
        most = 2 ** (31 if days else 63) - 1
        sign = -1 if value[0] == "-" or value.endswith("BC") else 1
        return sign * most // (1 if value.endswith("y") else 2)
    if isinstance(value, str):
        value = (dt.date if days else dt.datetime).fromisoformat(value)
    if value is None or days:
        return None if value is None else (value - dt.date(1970, 1, 1)).days
    return (value.replace(tzinfo=dt.UTC) - EPOCH) // dt.timedelta(microseconds=1)


def postgres_table(rows, name):
    kinds = ", ".join(f"{column} {kind}" for column, (kind, _) in COLUMNS.items())
    postgres.run(f"DROP TABLE IF EXISTS {name}", f"CREATE TABLE {name} ({kinds})")
    with postgres.connection().con.cursor() as cursor:
        marks = ", ".join(["%s"] * len(COLUMNS))
        listed = [[row[column] for column in COLUMNS] for row in rows]
        cursor.executemany(f"INSERT INTO {name} VALUES ({marks})", listed)
    postgres.connection().con.commit()
    return postgres.address(name)


def printed(query, engine):
    """The rows of a result, all but the number of the row as text; and the types."""
    named = open_source(query).columns(ReadRequest([]))
    try:
        rows = named.rows()
        others = [name for name in rows.columns if name != "i"]
        if engine == "spark":
            found = rows.selectExpr("i", *(f"CAST({n} AS STRING) AS {n}" for n in others)).collect()
            return {row[0]: tuple(row)[1:] for row in found}, str(named.types.schema)
        texts = ", ".join(f"{name}::text" for name in others)
        sql = f"SELECT i, {texts} FROM ({compiled(rows)}) AS t"
        found = rows.get_backend().con.execute(sql).fetchall()
        return {row[0]: row[1:] for row in found}, str(named.types.schema())
    finally:
        if named.close is not None:
            named.close()


def asked(engine):
    return [*EXPRESSIONS, *(part.strip() for part in ALONE[engine].split(";"))]


def select(expressions):
    return ", ".join(f"{one} AS x{at}" for at, one in enumerate(expressions))


def source(engine, rows, tmp_path):
    return (
        postgres_table(rows, f"queried_{len(rows)}")
        if engine == "postgres"
        else spark_frame(rows, tmp_path)
    )


def in_parts(expressions):
    """Queries with some of them each: an engine takes long for many at once."""
    parts = (expressions[at : at + 40] for at in range(0, len(expressions), 40))
    return [(part, f"SELECT i, {select(part)} FROM data") for part in parts]


def fetched(query):
    """The rows of a result by their first column."""
    named = open_source(query).columns(ReadRequest([]))
    try:
        rows = named.rows()
        if hasattr(rows, "collect"):
            found = rows.collect()
        else:
            found = rows.get_backend().con.execute(compiled(rows)).fetchall()
        return {row[0]: tuple(row)[1:] for row in found}
    finally:
        if named.close is not None:
            named.close()


@pytest.mark.parametrize("engine", ENGINES)
def test_what_duckdb_says(engine, tmp_path):
    """For records that no step fails for, results are those of DuckDB."""
    rows = tame_rows()
    data = source(engine, rows, tmp_path)
    for expressions, text in in_parts(asked(engine)):
        relation = (
            open_source(Query(arrow(rows), text)).columns(ReadRequest([])).rows().to_arrow_table()
        )
        found = fetched(Query(data, text))
        assert len(found) == len(rows)
        for row in relation.to_pylist():
            for at, expression in enumerate(expressions):
                own = found[row["i"]][at]
                assert same(own, row[f"x{at}"]), (expression, rows[row["i"]])


def same(found, expected):
    if isinstance(found, dt.date) and isinstance(expected, dt.date):
        # A part of a date is a time there, and a date in DuckDB.
        return wall(found) == wall(expected)
    if isinstance(expected, float | Decimal) and not math.isfinite(expected):
        return found is None or not math.isfinite(found)  # a division by 0
    if found is None or expected is None or isinstance(found, str | bool | dt.date):
        return found == expected
    return float(found) == pytest.approx(float(expected), rel=1e-12, abs=1e-300)


def wall(value):
    if isinstance(value, dt.datetime):
        return value.replace(tzinfo=None)
    return dt.datetime.combine(value, dt.time())


@pytest.mark.parametrize("engine", ENGINES)
def test_no_record_stops_a_query_or_changes_another_row(engine, tmp_path):
    """Each value at which a step could fail, alone in its row and beside others."""
    draw, tame = random.Random(3), tame_rows()
    rows = list(tame)
    for name, values in NASTY.items():
        rows += [tame[at] | {name: value} for at, value in enumerate(values)]
    rows += [
        {name: draw.choice(values) for name, values in NASTY.items()} for _ in range(len(rows))
    ]
    rows.append(tame[0] | {"s": "x" * 1_500_000})
    rows = [row | {"i": at} for at, row in enumerate(rows)]
    every, few = (source(engine, some, tmp_path) for some in (rows, rows[: len(tame)]))
    for expressions, text in in_parts(asked(engine)):
        whole, types = printed(Query(every, text), engine)
        left, alike = printed(Query(few, text), engine)
        assert len(whole) == len(rows)
        assert types == alike
        assert all(whole[at] == left[at] for at in left)
        if engine == "postgres":  # as conditions, which its planner may take in any order
            condition = " AND ".join(f"(({one}) IS NULL) IN (true, false)" for one in expressions)
            found = fetched(Query(every, f"SELECT i, a FROM data WHERE {condition}"))
            assert len(found) == len(rows)


@pytest.mark.parametrize("engine", ENGINES)
def test_every_form_is_attacked(engine):
    """What is written in an engine's words is in the list of expressions above."""
    used = set()

    class Watched(dict):
        def get(self, name, default=None):
            used.add(name)
            return super().get(name, default)

        def __getitem__(self, name):
            used.add(name)
            return super().__getitem__(name)

    words = POSTGRES if engine == "postgres" else SPARK
    names = "integer integer integer double decimal text time instant date boolean"
    kinds = dict(zip(COLUMNS, map(Kind, names.split()), strict=True))
    written = RowExpressions(replace(words, forms=Watched(words.forms)), kinds)
    for one in read_query(f"SELECT {select(asked(engine))} FROM data").outputs:
        written.output(one.tree)
    for one in read_query(SUMS).outputs[1:]:
        written.total(one.tree)
    assert set(words.forms) - used == set()


def data_of(engine, rows, tmp_path):
    """By address, through ibis, or in Spark."""
    if engine != "ibis":
        return source(engine, rows, tmp_path)
    postgres_table(rows, "through_ibis")
    return postgres.connection().table("through_ibis")


@pytest.mark.parametrize("engine", ["postgres", "ibis", "spark"])
def test_releases_of_results(engine, tmp_path):
    rows = tame_rows()
    data = data_of(engine, rows, tmp_path)
    query = Query(data, "SELECT a * 2 AS twice, s AS word FROM data AS q WHERE q.a IS NOT NULL")
    how = {"column": "twice", "epsilon": SURE, "bounds": (-10, 30), "mechanism": "duff"}
    twice = sorted(2 * row["a"] for row in rows if row["a"] is not None)
    assert duffdp.quantile(query, 1, **how).value == twice[-1]
    found = duffdp.count(query, by="word", keys=["x", "none"], where="twice > 0", epsilon=SURE)
    expected = sum(row["s"] == "x" and (row["a"] or 0) > 0 for row in rows)
    assert [row[-1] for row in found.rows()] == [expected, 0]
    kind = {"postgres": "pyarrow", "ibis": "pyarrow", "spark": "pyspark"}[engine]
    assert type(found.value).__module__.partition(".")[0] == kind
    assert found.facts.sql == query.sql


@pytest.mark.parametrize("engine", ["postgres", "ibis", "spark"])
def test_sums_over_the_rows_of_a_person(engine, tmp_path):
    """They are exact, whatever the order of rows, and large amounts are none."""
    draw = random.Random(5)
    values = [0.1, 0.2, 0.3, 1e16, -1e16, 1e300, math.nan, math.inf, 123456.789, None]
    rows = [
        row | {"b": draw.choice(values), "s": f"p{draw.randrange(9)}"} for row in tame_rows() * 8
    ]
    query = Query(data_of(engine, rows, tmp_path), SUMS)
    expected = {}
    for person in {row["s"] for row in rows}:
        own = [row for row in rows if row["s"] == person]
        given = [row["b"] for row in own if row["b"] is not None and abs(row["b"]) < 1e17]
        exact = sum(Decimal(repr(one)) for one in given)
        some = sum(row["k"] is not None for row in own)
        top = max(row["a"] for row in own if row["a"] is not None)
        amounts = float(exact), float(exact) / len(given)
        expected[person] = (*amounts, len(own), some, top, f"{person}x")
    found = fetched(query)
    assert found == expected
    how = {"column": "n", "epsilon": SURE, "bounds": (0, 1000), "mechanism": "duff"}
    assert duffdp.quantile(query, 1, unit="s", **how).value == max(row[2] for row in found.values())
    for unit in (None, "total"):
        with pytest.raises(DuffError, match="unit must name one of its columns"):
            duffdp.median(query, unit=unit, **how)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_sum_may_be_called_like_a_column_of_group_by(engine, tmp_path):
    rows = tame_rows()
    data = data_of(engine, rows, tmp_path)
    found = fetched(Query(data, "SELECT s AS k, count(*) AS s FROM data GROUP BY s"))
    own = [row["s"] for row in rows]
    assert found == {name: (own.count(name),) for name in own}


REFUSED = {
    "CAST(w AS VARCHAR)": "is not supported for",
    "s + 1": "is not supported for",
    "s = 5": "is not supported for",
    "o = 1": "is not supported for",
    "a // 0.5": "is not supported for",
    "substring(s, a, 2)": "is not supported for",
    "left(s, -1)": "is not supported for",
    "round(b, k)": "is not supported for",
    "round(b, 301)": "is not supported for",
    "hour(d)": "is not supported for",
    "year(s)": "is not supported for",
    "w + INTERVAL 4001 YEAR": "is not supported for",
    "w + INTERVAL '1 day 2 hours'": "is not supported for",
    "w < 'soon'": "a time such as",
    "z < '2024-01-01'": "an instant with its offset",
    "d < '2024-02-30'": "a date such as",
    "w - w": "is not supported for",
    "CASE WHEN a THEN 1 END": "is not supported for",
    "coalesce(a, s)": "is not supported for",
    "trim(s, 'x')": "is not supported for",
    "c": "no column 'c'",
    " + ".join(["a"] * (MOST_DEEP + 2)): "nested expressions",
}
REFUSED_ALONE = {
    "postgres": {
        "exp(b)": "is not supported for",
        "b ** 2": "is not supported for",
        "CAST(s AS DATE)": "is not supported for",
    },
    "spark": {
        "w AT TIME ZONE 'UTC'": "is not supported for",
        "date_trunc('hour', w)": "is not supported for",
    },
}


@pytest.mark.parametrize("engine", ["postgres", "ibis", "spark"])
def test_what_a_record_could_stop_is_refused_before_a_charge(engine, tmp_path):
    book = duffdp.Ledger(tmp_path / "budget.db", epsilon=1)
    data = data_of(engine, tame_rows(), tmp_path)
    refused = REFUSED | REFUSED_ALONE["spark" if engine == "spark" else "postgres"]
    for expression, said in refused.items():
        for text in (f"{expression} AS x FROM data", f"a FROM data WHERE ({expression}) IS NULL"):
            with pytest.raises(DuffError, match=said):
                duffdp.count(Query(data, f"SELECT {text}"), epsilon=1, ledger=book)
    with pytest.raises(DuffError, match="is not supported for"):
        duffdp.count(Query(data, "SELECT a, NULL AS x FROM data"), epsilon=1, ledger=book)
    assert book.spent() == 0


def test_columns_of_other_types_are_passed_on():
    postgres.run(
        "DROP TABLE IF EXISTS odd",
        "CREATE TABLE odd (u uuid, x float4, c char(5), j jsonb)",
        "INSERT INTO odd VALUES (gen_random_uuid(), 0.1, 'a', '{}'), (NULL, 0.2, 'b', NULL)",
    )
    data = postgres.address("odd")
    query = Query(data, "SELECT x, c, u FROM data WHERE u IS NOT NULL")
    assert duffdp.count(query, by="c", keys=["a"], epsilon=SURE).rows()[0][-1] == 1
    assert duffdp.count(query, by="x", keys=[0.1], epsilon=SURE).rows()[0][-1] == 1
    with pytest.raises(DuffError, match="is not supported for"):
        duffdp.count(Query(data, "SELECT x FROM data WHERE u = u"), epsilon=1)


def test_the_types_of_columns_that_a_query_leaves_out_do_not_matter():
    postgres.run(
        "DROP TABLE IF EXISTS wide",
        "CREATE TABLE wide AS SELECT i AS a, i::numeric(50, 2) AS n FROM generate_series(1, 9) i",
    )
    query = Query(postgres.connection().table("wide"), "SELECT a * 2 AS x FROM data")
    assert duffdp.median(query, column="x", bounds=(0, 99), step=1, epsilon=SURE).value == 10


def test_no_setting_of_a_session_ends_a_text_elsewhere(tmp_path):
    """With it a backslash could escape a quotation mark, and what follows would be run."""
    postgres_table(tame_rows(), "escaped")
    data = postgres.address("escaped", options="-c standard_conforming_strings=off")
    query = Query(data, "SELECT a FROM data WHERE s <> '\\' AND s <> ' OR a // 0 = 1 --'")
    texts = sum(row["s"] is not None for row in tame_rows())
    assert duffdp.count(query, epsilon=SURE).value == texts


def test_a_password_is_not_in_a_query():
    query = Query("postgresql://user:secret@host/db::people", "SELECT a FROM data")
    assert "secret" not in repr(query)


def test_the_command_runs_it_on_the_server(call):
    postgres.run(
        "DROP TABLE IF EXISTS stays",
        "CREATE TABLE stays AS SELECT i AS person, i % 5 AS days FROM generate_series(1, 99) i",
    )
    sql = "SELECT days * 2 AS twice FROM data WHERE person <= 50"
    asked = ("-c", "twice", "--bounds", 0, 20, "--step", 1, "-e", SURE, "-f", "json")
    code, out, err = call("median", postgres.address("stays"), "--sql", sql, *asked)
    assert (code, err) == (0, "")
    assert json.loads(out)["value"] == 4
    code, out, err = call(
        "median", postgres.address("stays"), "--sql", f"{sql} AND exp(days) > 1", *asked
    )
    assert (code, out, err.count("\n")) == (2, "", 1)
