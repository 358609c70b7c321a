"""Databases behind ibis: what one lacks is refused before anything is charged, and what it has
gives what other engines give.
"""

from __future__ import annotations

import datetime as dt
import sqlite3

import polars as pl
import pyarrow as pa
import pytest

import duffdp
import servers
from duffdp import Ledger, UnsupportedData
from duffdp._engines.adapters.query import NarwhalsQuery
from duffdp._engines.table import SourceTable

EXACT = 1e6  # an epsilon without noise
NASTY = [1.7e308, -1.7e308, 5e-324, -5e-324, 1e300, 0.1 + 0.2]
ROWS = [
    (at, at % 3, ["ANN", "ann", "Bob"][at % 3], at / 8, dt.date(2024, 1, 1 + at % 28))
    for at in range(199)
]
SCHEMA = ["n", "g", "p", "x", "d"]
GROUPS, PEOPLE = {"by": "g", "keys": [0, 1, 2]}, {"unit": "p", "contributions": 500}
DAYS = dt.date(2023, 1, 1), dt.date(2025, 1, 1)
ASKED = {
    "count": lambda data, **more: duffdp.count(data, epsilon=EXACT, **more),
    # Of shares such that one record is nearest, not two with candidates between them.
    "quantile": lambda data, **more: duffdp.quantile(
        data, 0.37, column="n", bounds=(0, 10**6), epsilon=EXACT, **more
    ),
    "fine quantiles": lambda data, **more: duffdp.quantiles(
        data, [0.37, 0.61], column="x", bounds=(0, 100), step=2**-24, epsilon=EXACT, **more
    ),
    "mean": lambda data, **more: duffdp.mean(
        data, column="x", bounds=(0, 100), step=2**-20, epsilon=EXACT, **more
    ),
    "variance": lambda data, **more: duffdp.variance(
        data, column="x", bounds=(0, 100), step=0.125, epsilon=EXACT, **more
    ),
    "sum": lambda data, **more: duffdp.sum(
        data, column="n", bounds=(0, 300), epsilon=EXACT, **more
    ),
    "histogram": lambda data, **more: duffdp.histogram(
        data, column="x", bins=[0, 5, 10, 50], epsilon=EXACT, **more
    ),
    "days": lambda data, **more: duffdp.quantile(
        data, 0.37, column="d", bounds=DAYS, epsilon=EXACT, **more
    ),
}
MORE = {
    "all": {},
    "groups": GROUPS,
    "people": PEOPLE,
    "both": GROUPS | PEOPLE,
    "some": {"where": "x > 3.5 AND p <> 'ann'"},
}


def sqlite_table(rows, path):
    import ibis

    base = sqlite3.connect(path / "base.sqlite")
    base.execute("CREATE TABLE t (n INTEGER, g INTEGER, p TEXT COLLATE NOCASE, x REAL, d DATE)")
    listed = [(*row[:4], None if row[4] is None else row[4].isoformat()) for row in rows]
    base.executemany("INSERT INTO t VALUES (?, ?, ?, ?, ?)", listed)
    base.commit()
    base.close()
    return ibis.sqlite.connect(path / "base.sqlite").table("t")


def mariadb_table(rows, _):
    reason = servers.missing(servers.MARIADB)
    if reason is not None:
        pytest.skip(reason)
    columns = "n BIGINT, g INTEGER, p VARCHAR(50), x DOUBLE, d DATE"
    return servers.mariadb_table(columns, rows)


def polars_table(rows, _):
    import ibis

    frame = pl.DataFrame(rows, schema=SCHEMA, orient="row")
    return ibis.polars.connect({"t": frame}).table("t")


MAKERS = {"sqlite": sqlite_table, "mariadb": mariadb_table}


def rows_of(release):
    return [value for *_, value in release.rows()]


@pytest.mark.slow
@pytest.mark.parametrize("kept", MORE)
@pytest.mark.parametrize("kind", MAKERS)
def test_as_other_engines(kind, kept, tmp_path, monkeypatch):
    """And no query has an operation in it that was not tried before the charge.

    Every release meets every selection of rows in one of the databases, and each database every
    release and every selection: both are asked through ibis, which writes the SQL.
    """
    rows, tried, sent = MAKERS[kind](ROWS, tmp_path), set(), set()
    fetch, rehearse, trying = NarwhalsQuery.fetch, SourceTable._rehearse, []

    def fetched(engine, query):
        from ibis.expr.operations import Node

        (tried if trying else sent).update(map(type, query.to_native().op().find(Node)))
        return fetch(engine, query)

    def rehearsed(table):
        trying.append(table)
        try:
            rehearse(table)
        finally:
            trying.clear()

    monkeypatch.setattr(NarwhalsQuery, "fetch", fetched)
    monkeypatch.setattr(SourceTable, "_rehearse", rehearsed)
    expected = pa.table(dict(zip(SCHEMA, map(list, zip(*ROWS, strict=True)), strict=True)))
    first = (list(MAKERS).index(kind) + list(MORE).index(kept)) % 2
    for name, ask in list(ASKED.items())[first::2]:
        tried.clear()
        sent.clear()
        try:
            found = ask(rows, **MORE[kept])
        except UnsupportedData:
            assert (kind, kept) == ("sqlite", "both")  # whose queries may not be as deep as that
            assert not sent
            continue
        plain = rows_of(ask(expected, **MORE[kept]))
        if name == "fine quantiles":  # which are drawn together, also between records
            plain = pytest.approx(plain, abs=0.8)
        assert (name, rows_of(found)) == (name, plain)
        assert sent
        names = {kind.__name__.partition("_")[0] for kind in tried}  # functions have numbers
        assert {kind.__name__.partition("_")[0] for kind in sent} <= names


@pytest.mark.slow
@pytest.mark.parametrize("kind", MAKERS)
def test_no_number_stops_a_query(kind, tmp_path):
    listed = [(at, 0, str(at), x, None) for at, x in enumerate(NASTY)]
    rows = MAKERS[kind](listed, tmp_path)
    for bounds, step in (((0, 1), 0.125), ((-1.7e308, 1.7e308), 1e300), ((0, 1e-300), 1e-305)):
        asked = {"bounds": bounds, "step": step, "epsilon": EXACT}
        found = duffdp.quantile(rows, 0.37, column="x", unit="p", **asked).value
        assert found == duffdp.quantile([x for *_, x, _ in listed], 0.37, **asked).value


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"unit": "p"}, "'p' is text"),
        ({"by": "p", "keys": ["ANN"]}, "'p' is text"),
        ({"where": "p = 'ANN'"}, "'p' is text"),
        ({"unit": "n"}, "polars does not support"),  # which has no digests
    ],
)
def test_refused_before_the_charge(more, said, tmp_path):
    ledger = Ledger(tmp_path / "budget.db", epsilon=10)
    with pytest.raises(UnsupportedData, match=said):
        duffdp.count(polars_table(ROWS, tmp_path), epsilon=1, ledger=ledger, **more)
    with pytest.raises(UnsupportedData, match="'p' is text"):
        duffdp.mode(
            polars_table(ROWS, tmp_path), column="p", categories=["a"], epsilon=1, ledger=ledger
        )
    assert ledger.charges() == []


def test_a_query_that_is_too_deep_is_refused_before_the_charge(tmp_path):
    ledger = Ledger(tmp_path / "budget.db", epsilon=10)
    asked = GROUPS | {"unit": "p", "groups_per_person": 1, "ledger": ledger}
    with pytest.raises(UnsupportedData, match="sqlite does not support"):
        duffdp.count(sqlite_table(ROWS, tmp_path), epsilon=1, **asked)
    assert ledger.charges() == []


def test_data_of_this_machine(tmp_path):
    """Texts of a table that ibis would have to send first are refused, numbers are not."""
    import ibis

    reason = servers.missing(servers.MARIADB)
    if reason is not None:
        pytest.skip(reason)
    sent = ibis.memtable(pa.table({"x": [1, 2], "p": ["a", "b"]}))
    table = mariadb_table(ROWS, tmp_path).select("n").cross_join(sent)
    with pytest.raises(UnsupportedData, match="data from this machine"):
        duffdp.count(table, unit="p", epsilon=1)
