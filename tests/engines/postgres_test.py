"""What is particular to PostgreSQL: one state of a table, numbers that stop its queries, samples of
pages.
"""

from __future__ import annotations

import contextlib
import os
from fractions import Fraction

import numpy as np
import psycopg
import pytest

import duffdp
import postgres
from duffdp import Grid
from duffdp._engines.adapters.postgres import PostgresTable, ServedTable
from engines import open_groups


def test_one_process_has_all_tests_of_a_server(request):
    """If not, every process starts every server, and Spark too."""
    assert "PYTEST_XDIST_WORKER" not in os.environ or request.node.nodeid.endswith("@postgres")


def test_a_release_sees_one_state_of_the_table(monkeypatch):
    """Rows that others write between two queries of a release are not in it."""
    postgres.run("CREATE TABLE growing AS SELECT i::float8 AS x FROM generate_series(1, 99) i")
    real, asked = PostgresTable.fetch, []

    def fetch(self, rows):
        found = real(self, rows)
        asked.append(sum(found["records"]))
        postgres.run("INSERT INTO growing SELECT 50 FROM generate_series(1, 1000)")
        return found

    monkeypatch.setattr(PostgresTable, "fetch", fetch)
    monkeypatch.setattr("duffdp._engines.queries.engine.MAX_COUNTED_BY_VALUE", 0)
    data = postgres.address("growing")
    release = duffdp.median(data, column="x", epsilon=500.0, bounds=(0.0, 2.0**20))
    assert release.value == pytest.approx(50, abs=1)
    assert len(asked) > 1
    assert max(asked) == 99


def test_a_release_writes_nothing():
    """Not even what lasts as long as a session: the transaction is one that reads."""
    source = ServedTable(postgres.address("pg_catalog.pg_class"), ["relname"]).source()
    connection = source.rows().get_backend().con
    with pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
        connection.execute("CREATE TEMP TABLE left_behind (x int)")
    source.close()
    assert connection.closed


NASTY = ["5e-324", "-5e-324", "2e-323", "1e-45", "1e-400", "-1e-400", "1e400", "-1e400", "1.8e308"]
NASTY += ["1.7976931348623157e308", "NaN", "Infinity", "-Infinity", "0", "-0.0", "1e-200", "7.5"]
NASTY += ["7.4999999999999999", "0.5", "1e-301", "-3", "1e37"]
GRIDS = [
    Grid(0.0, 100.0, 10.0),
    Grid(0.0, 10.0, 1e-9),
    Grid(-1e308, 1e308, 1e300),
    Grid(0.0, 1e-300, 1e-305),
    Grid(0, 10, 1),
    Grid(-7.5, -7.5 + 2**-40, 2**-50),
    Grid(5e-324, 3.0, 1.0),
]


@pytest.mark.parametrize("kind", ["float8", "float4", "numeric", "numeric(38, 20)"])
@pytest.mark.parametrize("grid", GRIDS, ids=str)
def test_no_record_stops_a_query(kind, grid):
    """PostgreSQL fails where a product or a double would be nearer to 0 or larger than any. No
    number of any type gets there, and each snaps as it does elsewhere.
    """
    postgres.run("DROP TABLE IF EXISTS nasty", f"CREATE TABLE nasty (x {kind})")
    for record in ["NULL", *(f"'{text}'" for text in NASTY)]:
        with contextlib.suppress(psycopg.Error):  # the column cannot hold it
            postgres.run(f"INSERT INTO nasty VALUES ({record})")
    exact = "x::float8" if kind.startswith("float") else "x"
    with postgres.connection().raw_sql(f"SELECT {exact}::text FROM nasty") as cursor:
        records = [float(text) for (text,) in cursor.fetchall() if text is not None]
    assert len(records) > 10
    expected = np.bincount(grid.snap(np.array([x for x in records if x == x])) % 2**20)
    (group,) = open_groups(postgres.connection().table("nasty"), grid, "x")
    index, count = group.value_counts()
    assert np.bincount(np.repeat(index, count) % 2**20).tolist() == expected.tolist()


ROWS = 200_000  # enough pages for a sample


@pytest.mark.parametrize("order", ["random()", "x"], ids=["shuffled", "sorted"])
@pytest.mark.parametrize("kind", ["float8", "int", "numeric"])
def test_a_sample_decides_about_speed_alone(monkeypatch, kind, order):
    """A sample of pages brackets the rank; where it misleads, all is counted by buckets."""
    postgres.run(
        f"CREATE TABLE large AS SELECT x FROM (SELECT (i % 9973 * 20 + i % 7)::{kind} AS x "
        f"FROM generate_series(1, {ROWS}) i) t ORDER BY {order}"
    )
    if kind != "int":
        postgres.run("INSERT INTO large VALUES (NULL), ('NaN'), ('Infinity')")
    if kind == "numeric":
        postgres.run("INSERT INTO large VALUES (1e400), (1e-400)")
    real, samples = PostgresTable.sample, []

    def sample(self, rows, name):
        samples.append(real(self, rows, name))
        return samples[-1]

    monkeypatch.setattr(PostgresTable, "sample", sample)
    grid, reach = Grid(0, 200_000, 1), 50
    qs = Fraction(3, 10), Fraction(1, 300)  # the second has a bracket wider than what is below it
    nears = []
    for q in qs:
        (group,) = open_groups(postgres.connection().table("large"), grid, "x")
        nears += group.ranks((q, reach))
    postgres.run("DROP TABLE large")
    assert len(samples) == len(qs)
    assert all(1000 < len(found) < ROWS / 4 for found, _ in samples)
    i = np.arange(1, ROWS + 1)
    more = {"float8": [200_000], "int": [], "numeric": [200_000, 200_000, 0]}[kind]
    values = np.sort(np.concatenate([i % 9973 * 20 + i % 7, more]))
    for q, near in zip(qs, nears, strict=True):
        assert near.total == len(values)
        inside = values[(values >= near.first) & (values <= near.last)]
        assert near.below == np.searchsorted(values, near.first)
        assert np.repeat(near.values, near.counts).tolist() == inside.tolist()
        centre = int(q * len(values))
        assert near.below <= centre - reach
        assert near.below + len(inside) >= centre + reach


def test_money_is_a_decimal():
    """Also what has more digits than the type that ibis takes it for."""
    postgres.run(
        "DROP TABLE IF EXISTS prices",
        "CREATE TABLE prices AS SELECT i::money AS price FROM generate_series(1, 99) i",
        "INSERT INTO prices VALUES (NULL), ('92233720368547758.07'), ('-92233720368547758.08')",
    )
    data = postgres.address("prices")
    how = {"column": "price", "bounds": (0, 100), "step": 0.5, "epsilon": 1e6}
    assert duffdp.median(data, **how).value == 50
    assert duffdp.count(data, where="price > 98.5", epsilon=1e6).value == 2
    query = duffdp.Query(data, "SELECT price FROM data WHERE price BETWEEN 51 AND 99")
    assert duffdp.median(query, **how).value == 75
