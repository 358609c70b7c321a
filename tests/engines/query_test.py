"""Queries: what they may say, what they make of each row on every source, and that no record shows
in anything but its own row.
"""

from __future__ import annotations

import datetime as dt
import json
import random
import warnings
from collections import Counter
from decimal import Decimal

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import duffdp
import engines
import postgres
from command_line import duff, rows
from duffdp import DuffError, Query, TextFile
from duffdp._engines.files.format import ReadRequest
from duffdp._engines.sql.parse import MAX_QUERY_LETTERS, read_query
from duffdp._engines.sql.query import open_source

SURE = 1e6
ROWS = [
    {
        "p": f"p{at % 7}",
        "age": 15 + at % 9,
        "cost": [None, 1.5, 2.25, -3.0][at % 4],
        "ward": ["ER", "lab", None][at % 3],
        "seen": dt.datetime(2024, 3, 31, 23, 30) + dt.timedelta(hours=at),
    }
    for at in range(60)
]
TYPES = {"p": pa.string(), "age": pa.int32(), "cost": pa.float64(), "ward": pa.string()}
TYPES |= {"seen": pa.timestamp("us")}


def arrow(rows=ROWS):
    columns = {name: [row[name] for row in rows] for name in TYPES}
    return pa.table({name: pa.array(columns[name], kind) for name, kind in TYPES.items()})


def parquet(folder, table):
    pq.write_table(table, folder / "t.parquet")
    return folder / "t.parquet"


def csv(folder, table):
    table.to_pandas().to_csv(folder / "t.csv", index=False)
    types = {"age": "integer", "cost": "double", "seen": "timestamp"}
    return TextFile(folder / "t.csv", types=types)


def database(folder, table):
    with duckdb.connect(folder / "t.duckdb") as connection:
        connection.register("given", table)
        connection.execute("CREATE TABLE people AS SELECT * FROM given")
    return f"{folder / 't.duckdb'}::people"


def relation(folder, table):
    connection = duckdb.connect()
    connection.register("given", table)
    connection.execute("CREATE TABLE people AS SELECT * FROM given")
    return connection.table("people")


SOURCES = {
    "parquet": parquet,
    "csv": csv,
    "database": database,
    "duckdb": relation,
    "pyarrow": lambda folder, table: table,
    "polars": lambda folder, table: pl.from_arrow(table),
    "polars-lazy": lambda folder, table: pl.from_arrow(table).lazy(),
    "pandas-arrow": lambda folder, table: table.to_pandas(types_mapper=pd.ArrowDtype),
    "pandas": lambda folder, table: table.to_pandas(),
}


def result(query):
    named = open_source(query).columns(ReadRequest([]))
    assert named.types.types == named.rows().types
    return Counter(named.rows().fetchall())


@pytest.mark.parametrize("source", SOURCES)
def test_one_row_of_a_row_on_every_source(source, tmp_path):
    data = SOURCES[source](tmp_path, arrow())
    found = result(
        Query(
            data,
            """SELECT d.p, cost * 2 AS twice, coalesce(ward, 'none') AS place, year(seen) AS year,
            CASE WHEN age >= 18 THEN 'adult' ELSE 'minor' END AS who
            FROM data AS d WHERE age BETWEEN 16 AND 22 AND NOT ward = 'ER'""",
        )
    )
    expected = Counter(
        (
            row["p"],
            None if row["cost"] is None else row["cost"] * 2,
            row["ward"] or "none",
            2024,
            "adult" if row["age"] >= 18 else "minor",
        )
        for row in ROWS
        if 16 <= row["age"] <= 22 and row["ward"] == "lab"
    )
    assert found == expected


@pytest.mark.parametrize("source", SOURCES)
def test_a_star_is_all_columns(source, tmp_path):
    data = SOURCES[source](tmp_path, arrow())
    starred = Query(data, "SELECT *, year(seen) AS year FROM data WHERE age >= 18")
    named = Query(
        data, "SELECT p, age, cost, ward, seen, year(seen) AS year FROM data WHERE age >= 18"
    )
    assert result(starred) == result(named)
    types = duffdp.columns(starred)
    assert types == duffdp.columns(named)
    assert list(types) == [*TYPES, "year"]
    release = duffdp.count(starred, by="year", keys=[2024], epsilon=SURE)
    assert release.facts.sql == starred.sql
    with pytest.raises(DuffError, match="a different name"):
        duffdp.count(Query(data, "SELECT *, age * 2 AS cost FROM data"), epsilon=1)


def test_a_star_of_a_server_and_of_json_lines(tmp_path):
    table = postgres.table(arrow()).get_name()
    query = Query(postgres.address(table), "SELECT *, age * 2 AS twice FROM data")
    assert list(duffdp.columns(query)) == [*TYPES, "twice"]
    assert duffdp.count(query, column="twice", epsilon=SURE).value == len(ROWS)
    (tmp_path / "t.jsonl").write_text('{"age": 3}\n')
    with pytest.raises(DuffError, match="must name its columns"):
        duffdp.count(Query(tmp_path / "t.jsonl", "SELECT * FROM data"), epsilon=1)


@pytest.mark.parametrize("source", SOURCES)
def test_sums_over_the_rows_of_a_person(source, tmp_path):
    data = SOURCES[source](tmp_path, arrow())
    query = Query(
        data,
        """SELECT p, sum(cost) AS total, avg(cost) AS each, count(*) AS visits, max(age) AS oldest
        FROM data WHERE age >= 18 GROUP BY p""",
    )
    expected = {}
    for person in {row["p"] for row in ROWS}:
        own = [row for row in ROWS if row["p"] == person and row["age"] >= 18]
        costs = [row["cost"] for row in own if row["cost"] is not None]
        total = sum(costs) if costs else None
        expected[person] = (total, total / len(costs), len(own), max(row["age"] for row in own))
    assert {row[0]: row[1:] for row in result(query)} == expected
    how = {"epsilon": SURE, "bounds": (-100, 100), "step": 0.25}
    release = duffdp.quantile(query, 1, column="total", unit="p", mechanism="duff", **how)
    assert release.value == max(total for total, *_ in expected.values())
    assert duffdp.count(query, epsilon=SURE, unit="p").value == len(expected)
    for unit in (None, "total", "visits"):
        with pytest.raises(DuffError, match="unit must name one of its columns"):
            duffdp.count(query, epsilon=SURE, unit=unit)


def test_answers_are_frames_of_the_caller(tmp_path):
    for source, module in (("pandas", "pandas"), ("polars", "polars"), ("pyarrow", "pyarrow")):
        data = SOURCES[source](tmp_path, arrow())
        query = Query(data, "SELECT age, ward FROM data WHERE age >= 18")
        release = duffdp.count(query, epsilon=SURE, by="ward", keys=["ER", "lab"])
        assert type(release.value).__module__.partition(".")[0] == module
        expected = [
            sum(r["age"] >= 18 and r["ward"] == ward for r in ROWS) for ward in ("ER", "lab")
        ]
        assert [row[-1] for row in release.rows()] == expected


REFUSED = {
    "SELECT * EXCLUDE (age) FROM data": "one row, got '\\*",
    "SELECT * FROM data GROUP BY p": "of each group, got '\\*'",
    "SELECT a FROM data LIMIT 5": "got LIMIT",
    "SELECT a FROM data OFFSET 5": "got OFFSET",
    "SELECT alter * 2 AS e FROM data": "SQL keyword, put it in double quotes",
    "SELECT DISTINCT a FROM data": "got DISTINCT",
    "SELECT DISTINCT ON (a) a FROM data": "got DISTINCT",
    "SELECT a FROM data ORDER BY a": "got ORDER",
    "SELECT a FROM data, other": "got JOINS",
    "SELECT a FROM data JOIN data AS b USING (a)": "got JOINS",
    "SELECT a FROM data POSITIONAL JOIN data": "got JOINS|cannot be read",
    "SELECT a FROM data UNION ALL SELECT a FROM data": "must be one SELECT",
    "SELECT a FROM data EXCEPT SELECT a FROM data": "must be one SELECT",
    "WITH data AS (SELECT 1 AS a) SELECT a FROM data": "got WITH",
    "SELECT a, row_number() OVER () AS r FROM data": "Window",
    "SELECT a, lag(a) OVER (ORDER BY a) AS r FROM data": "Window",
    "SELECT a FROM data QUALIFY row_number() OVER () = 1": "got QUALIFY",
    "SELECT random() AS r, a FROM data": "Rand",
    "SELECT now() AS r, a FROM data": "one value",
    "SELECT sum(a) AS s FROM data": "Sum",
    "SELECT count(*) AS s FROM data": "Count",
    "SELECT a FROM data WHERE sum(a) > 1": "Sum",
    "SELECT (SELECT max(a) FROM data) AS m, a FROM data": "Subquery",
    "SELECT a FROM data WHERE a IN (SELECT a FROM data)": "IN with",
    "SELECT a FROM data WHERE a IN data": "IN with|cannot be read",
    "SELECT a FROM data WHERE EXISTS (SELECT 1)": "Exists",
    "SELECT unnest([1, 2]) AS a, b FROM data": "one value",
    "SELECT a FROM read_csv('/etc/passwd')": "must say FROM data",
    "SELECT a FROM 'people.csv'": "must say FROM data",
    "SELECT a FROM other": "must say FROM data",
    "SELECT a FROM main.data": "must say FROM data",
    "SELECT a FROM data TABLESAMPLE 10%": "must say FROM data",
    "SELECT a FROM data AS d(x)": "must say FROM data",
    "SELECT 1 AS a": "must say FROM data",
    "SELECT 1 AS a FROM data": "use at least one column",
    "SELECT b.a FROM data": "called data",
    "SELECT data.a FROM data AS d": "called data",
    "SELECT a FROM data; DROP TABLE data": "must be one SELECT",
    "DROP TABLE data": "must be one SELECT",
    "COPY data TO 'x.csv'": "must be one SELECT|cannot be read",
    "ATTACH 'x.db'": "must be one SELECT|cannot be read",
    "SELECT getenv('HOME') AS e, a FROM data": "Anonymous",
    "SELECT error('x') AS e, a FROM data": "Anonymous",
    "SELECT nextval('s') AS e, a FROM data": "one value",
    "SELECT repeat('x', a) AS e FROM data": "one value",
    "SELECT replace(a, 'x', 'xxxxxx') AS e FROM data": "not longer",
    "SELECT replace(a, b, 'x') AS e FROM data": "not longer",
    "SELECT a LIKE b AS e FROM data": "with a pattern",
    "SELECT a ILIKE b AS e FROM data": "with a pattern",
    "SELECT a ILIKE 'x' || b AS e FROM data": "with a pattern",
    "SELECT a AT TIME ZONE b AS e FROM data": "only known zones",
    "SELECT a AT TIME ZONE 'Foo/Bar' AS e FROM data": "only known zones",
    "SELECT a::INTEGER[] AS e FROM data": "the type",
    "SELECT CAST(a AS STRUCT(x INTEGER)) AS e FROM data": "the type|cannot be read",
    "SELECT a[1] AS e FROM data": "Bracket",
    "SELECT COLUMNS('a') AS e FROM data": "one value",
    "SELECT ? + a AS e FROM data": "Placeholder",
    "SELECT $1 + a AS e FROM data": "one value",
    "SELECT a + 1 FROM data": "must name",
    "SELECT a AS x, b AS X FROM data": "different name",
    "SELECT p, a FROM data GROUP BY p": "must be in GROUP BY",
    "SELECT p, count(*) AS n FROM data GROUP BY ALL": "GROUP BY",
    "SELECT p, count(*) AS n FROM data GROUP BY 1": "GROUP BY",
    "SELECT p, count(*) AS n FROM data GROUP BY ROLLUP (p)": "GROUP BY",
    "SELECT p, count(*) AS n FROM data GROUP BY GROUPING SETS ((p), ())": "GROUP BY",
    "SELECT p, count(*) AS n FROM data GROUP BY lower(p)": "GROUP BY",
    "SELECT p, count(*) AS n FROM data GROUP BY p HAVING count(*) > 1": "got HAVING",
    "SELECT p, count(DISTINCT a) AS n FROM data GROUP BY p": "Distinct",
    "SELECT p, count() AS n FROM data GROUP BY p": "of each group",
    "SELECT p, sum(sum(a)) AS n FROM data GROUP BY p": "Sum",
    "SELECT p, string_agg(a) AS n FROM data GROUP BY p": "of each group",
    "SELECT p, first(a) AS n FROM data GROUP BY p": "of each group",
    "SELECT p, sum(a) + 1 AS n FROM data GROUP BY p": "of each group",
    "SELECT p, count(*) FILTER (WHERE a > 1) AS n FROM data GROUP BY p": "of each group",
    "SELECT p, sum(a ORDER BY a) AS n FROM data GROUP BY p": "one value|of each group",
    "SELECT p, max(a, 2) AS n FROM data GROUP BY p": "of each group",
    "SELECT " + "s || " * 21 + "s AS e FROM data": "at most 20 texts",
    "SELECT concat(" + "s, " * 21 + "s) AS e FROM data": "at most 20 texts",
    "SELECT p IS a AS b FROM data": "IS NULL, IS TRUE",
    "SELECT p IS NOT (a > 1) AS b FROM data": "IS NULL, IS TRUE",
    "SELECT a FROM data WHERE a BETWEEN SYMMETRIC 5 AND 1": "BETWEEN without more",
    "SELECT length(s, 2) AS b FROM data": "LENGTH without more",
    "SELECT": "sql",
    "SELECT a FROM": "sql",
    "hello": "must be one SELECT",
    "SELECT a FROM data WHERE " + "(" * 2000 + "a" + ")" * 2000: "sql",
    "SELECT a FROM data -- " + "x" * MAX_QUERY_LETTERS: "at most",
    "": "must be text",
    "  ": "must be text",
}


@pytest.mark.parametrize("text", REFUSED, ids=lambda text: text[:60])
def test_what_could_mix_records_is_refused_before_anything_is_read(text, tmp_path):
    book = duffdp.Ledger(tmp_path / "budget.db", epsilon=1)
    with pytest.raises(DuffError, match=REFUSED[text]) as error:
        duffdp.count(Query("nowhere.csv", text), epsilon=1, unit="p", ledger=book)
    assert len(str(error.value)) < 400
    assert book.spent() == 0


@pytest.mark.parametrize("text", [5, None, b"SELECT a FROM data"])
def test_what_is_no_text_is_refused(text):
    with pytest.raises(DuffError, match="sql must be text"):
        Query("nowhere.csv", text)


def test_what_runs_is_what_was_read():
    """Comments, quotation and odd names do not get into the query as they stand."""
    read = read_query(
        'SELECT "a""b" AS "x;y", c /* , d */ FROM data -- , e\nWHERE c <> \'it\'\'s; --\''
    )
    assert read.columns == ('a"b', "c")
    assert read.condition == "TRY(\"c\" <> 'it''s; --')"
    assert [(one.name, one.sql) for one in read.outputs] == [("x;y", '"a""b"'), ("c", '"c"')]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("SELECT agee FROM data", "no column 'agee'. Did you mean 'age'"),
        ("SELECT age FROM data WHERE agee > 1", "no column 'agee'"),
        ("SELECT ward + age AS x FROM data WHERE age", "does not fit|no column"),
        ("SELECT date_trunc('day', age) AS x FROM data", "does not fit the types"),
        ("SELECT seen AT TIME ZONE 'Europe/Berlin' AS x FROM data WHERE ward > age + seen", "fit"),
    ],
)
def test_a_query_that_does_not_fit_is_refused_before_a_charge(text, said, tmp_path):
    book = duffdp.Ledger(tmp_path / "budget.db", epsilon=1)
    for source in ("parquet", "polars", "duckdb"):
        query = Query(SOURCES[source](tmp_path, arrow()), text)
        with pytest.raises(DuffError, match=said):
            duffdp.count(query, epsilon=1, ledger=book)
    assert book.spent() == 0


def test_where_queries_do_not_run():
    import ibis

    for data, said in (
        ([1, 2], "got list"),
        (ibis.memtable({"a": [1]}), "got ibis"),
        (engines.dask_frame({"a": (pa.int64(), [1])}), "got dask"),
        (Query("t.csv", "SELECT a FROM data"), "got Query"),
    ):
        with pytest.raises(DuffError, match=f"sql is for files.*{said}"):
            duffdp.count(Query(data, "SELECT a FROM data"), epsilon=1)
    objects = pd.DataFrame({"a": pd.Series([1, "x"], dtype=object), "b": [1, 2]})
    assert duffdp.count(Query(objects, "SELECT b FROM data"), epsilon=SURE).value == 2


@pytest.mark.parametrize("others", [[2], ["a"], ["\ud800"], [2**70], [(1, 2)]])
def test_categories_that_cannot_be_handed_over_are_refused(others):
    """Whatever they are: what goes wrong with one of them would quote it."""
    kind = pd.CategoricalDtype(pd.Index([1, *others], dtype=object))
    frame = pd.DataFrame({"a": pd.Categorical([1, 1], dtype=kind), "b": [1, 2]})
    with pytest.raises(DuffError, match="sql: the column 'a' has the type"):
        duffdp.count(Query(frame, "SELECT b FROM data WHERE a IS NULL"), epsilon=1)


def test_categories_of_pandas_that_are_text_or_numbers():
    for values in (["x", "y"], [1, 2], [1.5, 2.5]):
        frame = pd.DataFrame({"a": pd.Categorical(values)})
        query = Query(frame, "SELECT a FROM data WHERE a IS NOT NULL")
        assert duffdp.count(query, epsilon=SURE).value == 2


@pytest.mark.parametrize("source", SOURCES)
def test_what_stands_twice_stays_in_try(source, tmp_path):
    """DuckDB would work it out once, before TRY, and stop at the first record that does not fit."""
    parts = ["nullif(CAST(ward AS INT), 3)", "CAST(ward AS INT) BETWEEN 1 AND age"]
    for part in parts:
        query = Query(
            SOURCES[source](tmp_path, arrow()), f"SELECT p, max({part}) AS x FROM data GROUP BY p"
        )
        assert duffdp.count(query, column="x", unit="p", epsilon=SURE).value == 0
        for path in tmp_path.iterdir():
            path.unlink()


def test_an_enum_counts_as_text_and_shows_none_of_its_values():
    """DuckDB makes one of a column of categories, from the records."""
    connection = duckdb.connect()
    frame = pd.DataFrame(
        {"a": pd.Categorical(["m", "z", "b"], categories=["z", "secret", "b", "m"])}
    )
    relation = connection.from_df(frame)
    assert "secret" in str(relation.types)
    with pytest.raises(DuffError, match="does not fit") as error:
        duffdp.count(Query(relation, "SELECT a * 2 AS b FROM data"), epsilon=1)
    assert "secret" not in str(error.value)
    query = Query(relation, "SELECT a FROM data WHERE a > 'c' AND a <> 'unknown'")
    assert duffdp.count(query, epsilon=SURE).value == 2


@pytest.mark.parametrize("records", [[], [None]])
def test_types_that_a_record_can_keep_from_duckdb_are_refused(records):
    """By the type, whatever the records are: one of them would stop the query."""
    arrows = [pa.timestamp("s", "UTC"), pa.timestamp("ms", "UTC"), pa.duration("us"), pa.binary()]
    frames = [pa.table({"a": pa.array(records, kind)}) for kind in [*arrows, pa.list_(pa.int8())]]
    frames += [frame.to_pandas(types_mapper=pd.ArrowDtype) for frame in frames[:2]]
    frames += [
        pd.DataFrame({"a": pd.Series(records, dtype=kind)})
        for kind in (object, "string[python]", "datetime64[ms, America/New_York]")
    ]
    frames.append(pl.DataFrame({"a": pl.Series(records, dtype=pl.Object)}))
    frames.append(pl.DataFrame({"a": pl.Series(records, dtype=pl.Datetime("ms", "UTC"))}).lazy())
    for frame in frames:
        with pytest.raises(DuffError, match="sql: the column 'a' has the type"):
            duffdp.count(Query(frame, "SELECT a FROM data"), epsilon=1)
    zoned = pd.DataFrame({"a": pd.Series(records, dtype="datetime64[us, America/New_York]")})
    query = Query(zoned, "SELECT a AT TIME ZONE 'America/New_York' AS wall FROM data")
    assert duffdp.count(query, epsilon=SURE, column="wall").value == 0


# ------------------------------------------------------------------------------
# one record more or less

EXPRESSIONS = [
    *("a + 1", "a * a * a", "-a", "a // 0", "a % b", "b / 0", "b ** 999", "ln(b)", "sqrt(b)"),
    *(
        "exp(b)",
        "CAST(s AS INTEGER)",
        "TRY_CAST(s AS DATE)",
        "CAST(b AS TINYINT)",
        "a::DECIMAL(4, 2)",
    ),
    *("CAST(s AS TIMESTAMP) + INTERVAL 1 YEAR", "year(w)", "date_trunc('month', w)", "w::DATE"),
    *("w + INTERVAL 9999 YEAR", "date_diff('second', w, w)", "w AT TIME ZONE 'Europe/Berlin'"),
    *("substring(s, a, a)", "left(s, a)", "upper(s) || lower(s)", "length(s)", "s LIKE '%e%'"),
    *(
        "replace(s, ',', '.')",
        "CASE WHEN b > 0 THEN 1 / b ELSE CAST(s AS DOUBLE) END",
        "round(b, 2)",
    ),
    *(
        "nullif(a, 0)",
        "greatest(a, b)",
        "s IN ('x', '5')",
        "b BETWEEN 0 AND 1",
        "extract(hour FROM w)",
    ),
]
NASTY = {
    "a": [0, 1, -1, 2**63 - 1, -(2**63), None],
    "b": [0.0, -0.0, 1.5, float("nan"), float("inf"), -float("inf"), 1e308, 5e-324, None],
    "s": ["", "5", "x", "1e999", "2024-13-45", "2024-02-29", "1,5", "é" * 50, "\0", "'", None],
    "w": [0, 2**62, -(2**62), 1, None],
}
KINDS = {"a": pa.int64(), "b": pa.float64(), "s": pa.string(), "w": pa.timestamp("us")}


def nasty(seed, many):
    draw = random.Random(seed)
    return [{name: draw.choice(values) for name, values in NASTY.items()} for _ in range(many)]


def table_of(rows):
    return pa.table(
        {
            name: pa.array([row[name] for row in rows], pa.int64() if name == "w" else kind).cast(
                kind
            )
            for name, kind in KINDS.items()
        }
    )


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_a_record_changes_its_own_row_alone(expression):
    """Whatever an expression does for a record, there is no error, no warning, no other type, and
    all other rows of the result are the same.
    """
    rows = nasty(1, 30)
    texts = [f"SELECT {expression} AS x, a FROM data"]
    texts.append(f"SELECT a FROM data WHERE ({expression}) IS NOT NULL")
    for text in texts:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            whole, types = printed(text, rows)
            for at in range(0, 30, 5):
                left, same = printed(text, rows[:at] + rows[at + 1 :])
                assert types == same
                assert not left - whole
                assert (whole - left).total() <= 1


def printed(text, rows):
    """The rows of a result as text, nan and all."""
    found = open_source(Query(table_of(rows), text)).columns(ReadRequest([])).rows()
    texts = ", ".join(f"CAST(#{at + 1} AS VARCHAR)" for at in range(len(found.columns)))
    return Counter(found.project(texts).fetchall()), found.types


def test_a_person_changes_their_own_row_alone(tmp_path):
    """Sums are exact: they do not depend on the order of rows, nor on who else is there."""
    draw = random.Random(5)
    values = [0.1, 0.2, 0.3, 1e16, -1e16, 1e300, float("nan"), float("inf"), 123456.789, None]
    rows = [{"p": f"p{draw.randrange(40)}", "x": draw.choice(values)} for _ in range(5000)]
    text = "SELECT p, sum(x) AS s, avg(x) AS m, min(x) AS low, count(x) AS n FROM data GROUP BY p"

    def sums(some):
        table = pa.table(
            {"p": [r["p"] for r in some], "x": pa.array([r["x"] for r in some], pa.float64())}
        )
        found = open_source(Query(table, text)).columns(ReadRequest([])).rows()
        texts = ", ".join(f"CAST(#{at + 1} AS VARCHAR)" for at in range(5))
        return {row[0]: row[1:] for row in found.project(texts).fetchall()}

    whole = sums(rows)
    for person in ("p0", "p7", "p39"):
        kept = [row for row in rows if row["p"] != person]
        draw.shuffle(kept)
        left = sums(kept)
        assert whole.keys() - left.keys() == {person}
        assert all(whole[other] == left[other] for other in left)
    exact = [Decimal(repr(r["x"])) for r in rows if r["p"] == "p1" and r["x"] in values[:5]]
    exact += [Decimal("123456.789") for r in rows if r["p"] == "p1" and r["x"] == 123456.789]
    assert float(whole["p1"][0]) == pytest.approx(float(sum(exact)), rel=1e-12)


def test_a_query_shows_no_record_and_is_no_graph():
    query = Query(pl.DataFrame({"a": ["secret"]}), "SELECT a FROM data")
    assert repr(query) == "Query('DataFrame', 'SELECT a FROM data')"
    with pytest.raises(DuffError, match="edges cannot come from a query"):
        duffdp.triangles(query, nodes=5, epsilon=1)


def test_a_collation_brings_no_two_people_together():
    connection = duckdb.connect()
    connection.execute("CREATE TABLE t (p VARCHAR COLLATE NOCASE, x INTEGER)")
    connection.execute("INSERT INTO t VALUES ('a', 1), ('A', 2), ('b', 3)")
    query = Query(connection.table("t"), "SELECT p, sum(x) AS s FROM data GROUP BY p")
    assert result(query) == Counter([("a", 1.0), ("A", 2.0), ("b", 3.0)])
    assert duffdp.count(query, epsilon=SURE, unit="p").value == 3
    assert connection.sql("SHOW TABLES").fetchall() == [("t",)]


# ------------------------------------------------------------------------------
# the command, plans and what is said


@pytest.fixture
def visits(tmp_path):
    path = tmp_path / "visits.csv"
    path.write_text("person;ward;cost\n1;ER;12,50\n1;lab;7,25\n2;ER;9,75\n3;ER;free\n")
    return path


def test_the_command_the_ledger_and_the_report_say_it(call, visits, tmp_path):
    book, page = tmp_path / "budget.db", tmp_path / "page.md"
    duffdp.Ledger(book, epsilon=1e7)
    sql = "SELECT person, sum(cost) AS total FROM data GROUP BY person"
    how = ("--types", "cost=double", "--decimal", ",", "--sql", sql, "-e", SURE, "--ledger", book)
    asked = ("-c", "total", "--bounds", 0, 100, "--step", "0.25", "--unit", "person")
    code, out, _ = call("median", visits, *how, *asked, "-f", "json", "--report", page)
    assert code == 0
    told = duffdp.Release.from_dict(json.loads(out))
    assert (told.value, told.facts.sql) in ((9.75, sql), (19.75, sql))
    assert "sum(cost) AS total" in page.read_text()
    assert sql in call("ledger", "show", book)[1]
    assert duffdp.Ledger(book).charges()[0]["sql"] == sql
    code, out, err = call("count", visits, "--sql", "SELECT DISTINCT cost FROM data", "-e", 1)
    assert (code, out, err.count("\n")) == (2, "", 1)
    code, _, err = call("count", visits, "--sql", "SELECT costs FROM data", "-e", 1)
    assert (code, "Did you mean 'cost'" in err) == (4, True)
    assert call("median", visits, *how, *asked[:-2])[0] == 2


def test_plans_have_queries(visits, tmp_path):
    plan = tmp_path / "plan.toml"
    plan.write_text(
        'source = "visits.csv"\ntypes = { cost = "double" }\ndecimal = ","\nepsilon = 1e6\n'
        "sql = \"SELECT cost * 2 AS twice FROM data WHERE ward = 'ER'\"\n"
        '[[release]]\nstatistic = "quantile"\nq = 1\ncolumn = "twice"\nbounds = [0, 100]\n'
        'step = 0.5\nname = "most"\nmechanism = "duff"\n[[release]]\nstatistic = "count"\n'
        'name = "rows"\n'
    )
    found = duffdp.Plan.from_toml(plan).run()
    assert (found["most"].value, found["rows"].value) == (25, 3)


def test_queries_are_piped_as_well(visits):
    sql = "SELECT TRY_CAST(replace(cost, ',', '.') AS DOUBLE) AS euro FROM data"
    how = ("-c", "euro", "--sql", sql, "-e", "500", "-f", "csv")
    with visits.open("rb") as pipe:
        ran = duff("count", "-", *how, stdin=pipe)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert rows(ran.stdout) == [{"statistic": "count", "value": "3"}]
