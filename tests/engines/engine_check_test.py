"""The check of engines, run on every engine that the documentation claims, and on engines that are
broken on purpose.
"""

from __future__ import annotations

import json
import sqlite3

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import duffdp
import engines
import postgres
import servers
from command_line import duff
from duffdp import UnsupportedData
from duffdp._engines.adapters.duckdb import DuckdbRelation
from duffdp._engines.adapters.ibis import IbisDuckdb, IbisSqlite
from duffdp._engines.adapters.polars import PolarsLazy
from duffdp.audit import EngineCheck, check_engine
from duffdp.audit.engine_check import DOMAINS, EngineCheckRow, poisonous_records


def ibis_backend(name):
    import ibis

    return getattr(ibis, name).connect()


def mariadb():
    reason = servers.missing(servers.MARIADB)
    if reason is not None:
        pytest.skip(reason)
    return servers.mariadb()


ENGINES = {
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "polars (lazy)": pl.LazyFrame,
    "pyarrow": lambda: pa.table({}),
    "duckdb": duckdb.connect,
    "ibis duckdb": lambda: ibis_backend("duckdb"),
    "ibis sqlite": lambda: ibis_backend("sqlite"),
    "ibis datafusion": lambda: ibis_backend("datafusion"),
    "postgres": postgres.connection,
    "mariadb": mariadb,
}
# What an engine cannot hold or answer; all else has to be exact.
REFUSED = {
    "ibis sqlite": {"amount: stored", "cap per person"},
    "mariadb": {"real: stored", "instant: stored"},
}


def assert_exact(check, refused=()):
    """Nothing is wrong, and nothing is refused but what is known to be."""
    assert check.ok, str(check)
    for row in check.rows:
        if row.verdict == "refused":
            assert any(row.question.startswith(begin) for begin in refused), row


@pytest.mark.slow
@pytest.mark.parametrize("name", ENGINES)
def test_every_claimed_engine_is_exact(name):
    assert_exact(check_engine(ENGINES[name]()), REFUSED.get(name, ()))


@pytest.mark.slow
@pytest.mark.xdist_group("spark")
def test_spark_is_exact():
    assert_exact(check_engine(engines.spark()))


def test_every_kind_of_question_is_asked():
    questions = [row.question for row in check_engine(pl.DataFrame()).rows]
    assert len(set(questions)) == len(questions)
    assert {question.partition(" ")[0].rstrip(":") for question in questions} >= {*DOMAINS}
    for words in ("by name", "of people", "where", "cap per person", "statistic std"):
        assert any(words in question for question in questions)


def without_case(rows):
    """A select that takes upper and lower case for one."""

    def loose(self, columns):
        nw = self.nw
        frame = rows(self, columns)
        texts = [name for name, kind in frame.collect_schema().items() if kind == nw.String]
        return frame.with_columns(*(nw.col(name).str.to_lowercase() for name in texts))

    return loose


def without_a_batch(rows):
    """A select that loses some of its rows."""

    def lossy(self, columns):
        return rows(self, columns).head(100)

    return lossy


def test_a_collation_without_case_is_wrong(monkeypatch):
    monkeypatch.setattr(DuckdbRelation, "rows", without_case(DuckdbRelation.rows))
    wrong = {row.question for row in check_engine(duckdb.connect()).rows if row.verdict == "wrong"}
    assert "cap per person: one row each" in wrong
    assert any("by name" in question for question in wrong)


def test_a_dropped_batch_is_wrong(monkeypatch):
    monkeypatch.setattr(PolarsLazy, "rows", without_a_batch(PolarsLazy.rows))
    check = check_engine(pl.LazyFrame())
    assert not check.ok
    assert "statistic sum" in {row.question for row in check.rows if row.verdict == "wrong"}


def test_sums_in_doubles_are_wrong(monkeypatch):
    """Those of large numbers, which single precision rounds."""
    fetch = IbisDuckdb.fetch

    def rounded(self, rows):
        answer = fetch(self, rows)
        return {
            name: [
                int(pa.scalar(float(number)).cast(pa.float32()).as_py())
                if isinstance(number, int)
                else number
                for number in column
            ]
            for name, column in answer.items()
        }

    monkeypatch.setattr(IbisDuckdb, "fetch", rounded)
    rows = check_engine(ibis_backend("duckdb")).rows
    assert "day: sums of squares" in {row.question for row in rows if row.verdict == "wrong"}


def test_what_fails_after_the_charge_is_wrong(monkeypatch):
    """And what fails before it is refused."""

    def failing(self, rows):
        raise ValueError

    monkeypatch.setattr(IbisSqlite, "fetch", failing)
    assert {row.verdict for row in check_engine(ibis_backend("sqlite")).rows} == {"refused"}
    monkeypatch.setattr(IbisSqlite, "without_rows", lambda self: None)
    check = check_engine(ibis_backend("sqlite"))
    assert not check.ok
    failed = [row.question for row in check.rows if "failed after the charge" in row.reason]
    assert {"small", "statistic sum"} <= {*failed}


def test_nothing_is_left_behind(tmp_path):
    import ibis

    path = tmp_path / "base.sqlite"
    check_engine(ibis.sqlite.connect(path))
    assert sqlite3.connect(path).execute("SELECT name FROM sqlite_master").fetchall() == []
    connection = duckdb.connect()
    check_engine(connection)
    assert connection.execute("SHOW TABLES").fetchall() == []


def test_the_records_are_poisonous():
    """What the check is about is in its records."""
    records = poisonous_records().to_pydict()
    assert {"ANN", "ann", "ann ", "\u00e4nn", "a\u0308nn", "", None} <= {*records["name"]}
    assert {2**53 + 1, 2**63 - 1, -(2**63), None} <= {*records["integer"]}
    assert {float("inf"), float("-inf"), 5e-324} <= {*records["real"]}
    people = {}
    for person, region in zip(records["person"], records["region"], strict=True):
        people.setdefault(person, set()).add(region)
    assert any(len(regions) > 1 for person, regions in people.items() if person is not None)


def test_a_result_can_be_kept():
    check = check_engine(pl.DataFrame())
    assert EngineCheck.from_dict(json.loads(json.dumps(check.to_dict()))) == check
    with pytest.raises(ValueError, match="not a result of check_engine"):
        EngineCheck.from_dict({"engine": "polars"})


def test_a_report_shows_the_check_that_was_kept(tmp_path):
    row = EngineCheckRow("name by region: ranks", "wrong", "other values than arrays have")
    check = EngineCheck("mysql", "10.11 (ibis 12)", "2026-11-18", (row,))
    kept = tmp_path / "check.json"
    kept.write_text(json.dumps(check.to_dict()))
    release = duffdp.count([1, 2, 3], epsilon=1.0)
    page = tmp_path / "page.md"
    duffdp.report.write(release, page, engine_check=EngineCheck.from_file(kept))
    line = "mysql 10.11 (ibis 12), 2026-11-18: NOT SAFE (1 questions: 0 exact, 0 refused, 1 wrong)"
    assert f"Engine check: {line}" in page.read_text().replace("\\", "")
    duffdp.report.write(release, page)
    assert "Engine check" not in page.read_text()


def test_a_kept_check_is_read_before_the_charge(tmp_path):
    (tmp_path / "rows.csv").write_text("x\n1\n2\n")
    (tmp_path / "check.json").write_text('{"engine": "duckdb"}')
    ledger = duffdp.Ledger(tmp_path / "budget.db", epsilon=1.0)
    words = ["median", "rows.csv", "--column", "x", "--bounds", "0", "9", "--epsilon", "1"]
    words += ["--ledger", "budget.db", "--report", "page.md", "--engine-check", "check.json"]
    result = duff(*words, cwd=tmp_path)
    assert result.returncode == 2
    assert "is not a result of check_engine" in result.stderr
    assert ledger.charges() == []


@pytest.mark.parametrize("engine", [3, "people.csv", "nowhere://user:secret@host/db"])
def test_what_is_no_engine(engine):
    with pytest.raises(UnsupportedData) as caught:
        check_engine(engine)
    assert "secret" not in str(caught.value)


def test_command(tmp_path):
    out = tmp_path / "check.json"
    result = duff("check-engine", "duckdb://", "--out", out)
    assert result.returncode == 0
    assert "0 refused, 0 wrong" in result.stdout
    assert json.loads(out.read_text())["ok"] is True
    refused = duff("check-engine", "people.csv")
    assert refused.returncode == 4
    assert "an address must begin with" in refused.stderr
