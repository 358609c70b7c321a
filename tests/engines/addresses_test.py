"""Tables of a real PostgreSQL server by their address: names, passwords, plans, rights, snapshots,
lost connections, and what the server is asked.
"""

from __future__ import annotations

import subprocess
import sys
import threading
import time
import warnings
from pathlib import Path
from urllib.parse import quote

import pyarrow as pa
import pytest

import duffdp
import postgres
from command_line import SURE, duff, rows
from duffdp import DuffError, Ledger, UnsupportedData
from duffdp._engines.adapters.postgres import PostgresTable
from duffdp._engines.addresses import ADDRESS, _split, printable, read_address
from duffdp._engines.sql.query import source_name

INCOME = {"column": "income", "epsilon": 500.0, "bounds": (0, 1000), "step": 1}
COMMAND = ["--column", "income", "--epsilon", SURE, "--bounds", "0", "1000", "--step", "1"]
WARDS = ["north's", 'so"uth', "b\\ck"]
REFUSED = "or it has no such user or database"
PEOPLE = "clinic.people"


@pytest.fixture(scope="module", autouse=True)
def clinic():
    """A schema with people: incomes 0 to 1000 in each ward, three rows for each person."""
    wards = ", ".join("'{}'".format(ward.replace("'", "''")) for ward in WARDS)
    postgres.run(
        "CREATE SCHEMA clinic",
        "CREATE TABLE clinic.people AS SELECT i % 1001 AS person, (i % 1001)::float8 AS income, "
        f"(ARRAY[{wards}])[i / 1001 + 1] AS ward, '2024-02-29'::date AS day "
        "FROM generate_series(0, 3002) i",
        "CREATE VIEW clinic.rich AS SELECT * FROM clinic.people WHERE income >= 500",
        'CREATE SCHEMA "My.Clinic"',
        'CREATE TABLE "My.Clinic"."Peo""ple of 2024" AS SELECT * FROM clinic.people',
        "CREATE TABLE elsewhere AS SELECT * FROM clinic.people",
        "CREATE TYPE sex AS ENUM ('f', 'm')",
        "CREATE TABLE clinic.sexes AS SELECT income, 'f'::sex AS sex FROM clinic.people",
        "CREATE SCHEMA closed",
        "CREATE TABLE closed.people AS SELECT * FROM clinic.people",
        f"GRANT USAGE ON SCHEMA clinic TO {postgres.guarded_user()}",
        "GRANT SELECT (income) ON clinic.people TO guarded",
    )
    yield
    postgres.run('DROP SCHEMA clinic, closed, "My.Clinic" CASCADE', "DROP TABLE elsewhere")
    postgres.run("DROP TYPE sex")


def guarded(table, password=postgres.PASSWORD):
    """An address with a user who has a password."""
    return postgres.address(table, f"guarded:{quote(password, safe='')}")


def connections():
    """How many connections duffdp has to the server, which ends them a little later."""
    counted = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'duffdp'"
    for _ in range(100):
        with postgres.connection().raw_sql(counted) as cursor:
            (many,) = cursor.fetchone()
        if many == 0:
            break
        time.sleep(0.05)
    return many


@pytest.mark.parametrize(
    ("table", "median"),
    [
        (PEOPLE, 500),
        ("clinic.rich", 750),
        ("elsewhere", 500),
        ('"My.Clinic"."Peo""ple of 2024"', 500),
        ('clinic."people"', 500),
    ],
)
def test_a_table_by_its_address(call, table, median):
    data = postgres.address(table)
    assert duffdp.median(data, **INCOME).value == median
    code, out, err = call("median", data, *COMMAND)
    assert (code, err) == (0, "")
    assert out.splitlines()[1].split() == ["median", str(median)]
    assert connections() == 0


def test_groups_and_people():
    data = postgres.address(PEOPLE)
    groups = duffdp.median(data, by="ward", keys=[*WARDS, "no\0ne"], **INCOME).value
    assert isinstance(groups, pa.Table)
    assert groups["ward"].to_pylist() == [*WARDS, "no\0ne"]
    assert groups["median"].to_pylist()[:3] == [500] * 3
    sexes = duffdp.mode(
        postgres.address("clinic.sexes"), column="sex", categories=["m", "f"], epsilon=500.0
    )
    assert sexes.value == "f"
    by = duffdp.median(postgres.address("clinic.sexes"), by="sex", keys=["f"], **INCOME).value
    assert by["median"].to_pylist() == [500]
    release = duffdp.median(data, unit="person", contributions=2, **INCOME)
    assert release.value == pytest.approx(500, abs=25)
    assert connections() == 0


def test_a_command_of_its_own():
    """Without what the tests have loaded already: ibis needs pandas, and no DuckDB is loaded."""
    groups = ("--by", "ward", "--keys", "north's", "--by", "day", "--keys", "2024-02-29")
    ran = duff("median", postgres.address(PEOPLE), *COMMAND, *groups, "--format", "csv")
    assert (ran.returncode, ran.stderr) == (0, "")
    assert rows(ran.stdout) == [
        {"ward": "north's", "day": "2024-02-29", "statistic": "median", "value": "500"}
    ]


def test_without_duckdb():
    """Groups come back as an Arrow table where DuckDB is not installed."""
    program = f"""
import sys
sys.modules["duckdb"] = None
import duffdp
found = duffdp.median({postgres.address(PEOPLE)!r}, by="ward", keys={WARDS!r}, **{INCOME!r}).value
print(type(found).__module__, found["median"].to_pylist())
"""
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert ran.stdout == "pyarrow.lib [500, 500, 500]\n"


PLAN = """
source = {source!r}
epsilon = 1000
ledger = "budget.db"

[[release]]
statistic = "median"
column = "income"
bounds = [0, 1000]
step = 1

[[release]]
statistic = "median"
column = "income"
bounds = [0, 1000]
step = 1
by = "ward"
keys = ["north's"]
name = "by ward"
"""


def test_a_plan_names_an_address(tmp_path, call):
    plan = tmp_path / "plan.toml"
    plan.write_text(PLAN.format(source=postgres.address(PEOPLE)))
    ledger = Ledger(tmp_path / "budget.db", epsilon=1000.0)
    code, _, err = call("release", plan, "--check")
    assert (code, err, ledger.spent()) == (0, "", 0)
    code, out, err = call("release", plan, "--call-id", "first", "--format", "csv")
    assert (code, err, ledger.spent()) == (0, "", 1000)
    assert [row["value"] for row in rows(out)] == ["500", "500"]
    code, again, err = call("release", plan, "--call-id", "first", "--format", "csv")
    assert (code, again, err, ledger.spent()) == (0, out, "", 1000)
    assert connections() == 0


NOBODY = "postgresql://ann:hunter2@127.0.0.1:1/db::t"
BAD = {
    "no table": (lambda: postgres.address(), "names no table"),
    "no table, only the separator": (lambda: postgres.address() + "::", "names no table"),
    "a name with dots": (lambda: postgres.address("a.b.c"), "must end in TABLE or SCHEMA.TABLE"),
    "an open quotation": (
        lambda: postgres.address('clinic."people'),
        "must end in TABLE or SCHEMA.TABLE",
    ),
    "no such table": (lambda: postgres.address("clinic.poeple"), "'people'"),
    "capitals": (lambda: postgres.address("clinic.People"), "'people'"),
    "no such schema": (lambda: postgres.address("clinics.people"), "there is no such schema"),
    "an index is no table": (lambda: postgres.address("pg_catalog.pg_class_oid_index"), "no table"),
    "another database": (lambda: "mysql://root:hunter2@host/db::t", "ibis and use the frame"),
    "files elsewhere": (
        lambda: "s3://bucket/people.parquet",
        "open it with DuckDB, Polars, Spark or ibis",
    ),
    "nobody listens": (lambda: NOBODY, REFUSED),
    "no such host": (lambda: "postgresql://ann:hunter2@no.such.host.invalid/db::t", REFUSED),
    "no such user": (lambda: postgres.address(PEOPLE, "nobody:hunter2"), REFUSED),
    "no such database": (lambda: postgres.address(PEOPLE, database="none"), REFUSED),
    "a wrong password": (lambda: guarded(PEOPLE, "hunter2"), "refused the password"),
    "must not contain a password": (
        lambda: postgres.address(PEOPLE, "guarded"),
        "asks for a password",
    ),
    "no right to a schema": (lambda: guarded("closed.people"), "may not read it"),
    "no right to a table": (lambda: guarded("clinic.rich"), "may not read it"),
    "a sign that is not escaped": (lambda: "postgresql://ann:hun@ter2@host/db::t", "%40"),
    "a slash that is not escaped": (lambda: "postgresql://ann:hun/ter2@host/db::t", "%2F"),
    "a port that is none": (lambda: "postgresql://ann:hunter2@host:ter2/db::t", "cannot be read"),
    "half a percent sign": (lambda: "postgresql://ann:hunter2%zz@host/db::t", "cannot be read"),
    "an unknown option": (lambda: "postgresql://host/db?hunter2=ter2::t", "cannot be read"),
    "a path": (lambda: Path("postgresql://ann:hunter2@host/db::t"), "not as Path"),
}


@pytest.mark.parametrize("case", BAD)
def test_one_clear_line_and_nothing_charged(tmp_path, call, capsys, case):
    make, told = BAD[case]
    data = make()
    ledger = Ledger(tmp_path / "budget.db", epsilon=1000.0)
    with pytest.raises(UnsupportedData) as raised:
        duffdp.median(data, ledger=ledger, **INCOME)
    assert told in str(raised.value)
    code, out, err = call("median", data, *COMMAND, "--ledger", ledger.path)
    assert (code, out) == (4, "")
    assert told in err
    from duffdp._cli.app import run

    run(["median", str(data), *COMMAND, "--ledger", str(ledger.path), "--debug"])
    debug = "".join(capsys.readouterr())
    for text in (str(raised.value), repr(raised.value), err, debug, printable(str(data))):
        for secret in ("hunter2", "ter2", "ultra", "secret", quote(postgres.PASSWORD, safe="")):
            assert secret not in text
    assert ledger.spent() == 0
    assert connections() == 0


@pytest.mark.parametrize("column", ["ward", "no such column"])
def test_a_user_may_read_some_columns(tmp_path, column):
    """What one may not read is refused before anything is charged; what one may read is read."""
    ledger = Ledger(tmp_path / "budget.db", epsilon=1000.0)
    assert duffdp.median(guarded(PEOPLE), **INCOME).value == 500
    with pytest.raises(UnsupportedData):
        duffdp.mode(guarded(PEOPLE), column=column, categories=WARDS, epsilon=1.0, ledger=ledger)
    assert ledger.spent() == 0


def test_a_password_appears_nowhere(tmp_path, call):
    """Not in a release, a ledger, a plan, a report, an output or an error about something else."""
    data, ledger = guarded(PEOPLE), Ledger(tmp_path / "budget.db", epsilon=1e6)
    plan = duffdp.Plan(
        [{"statistic": "median", "column": "income", "bounds": (0, 1000)}],
        epsilon=1.0,
        source=data,
        ledger=ledger,
        call_id="once",
    )
    (release,) = plan.run().values()
    texts = [repr(release), str(release.to_dict()), repr(plan), repr(ledger)]
    report, out = tmp_path / "report.html", tmp_path / "out.csv"
    more = ("--ledger", ledger.path, "--report", report, "--out", out)
    texts += map(str, call("median", data, *COMMAND, *more))
    texts += map(str, call("median", data, *COMMAND, "--pipe", "csv"))
    texts += map(str, call("median", data, "--column", "incme", *COMMAND[2:]))
    texts += map(str, call("triangles", data, "--nodes", "5", "--epsilon", "1"))
    texts += map(str, call("preview", data, "--epsilon", "1"))
    for misplaced in (("table",), ("release",), ("ledger", "show"), ("studio",), ("audit",)):
        texts += map(str, call(*misplaced, data))
    with pytest.raises(DuffError) as raised:
        duffdp.preview(data, statistic="median", epsilon=1.0, bounds=(0, 1))
    texts += [str(raised.value), report.read_text(), out.read_text()]
    texts += [ledger.path.read_bytes().decode("latin-1")]
    for text in texts:
        assert "secret" not in text
        assert quote(postgres.PASSWORD, safe="") not in text


@pytest.mark.parametrize(
    ("name", "server", "table"),
    [
        ("postgresql://ann@host/db::t", "postgresql://ann@host/db", "t"),
        ("postgresql://ann:a::b@host/db::t", "postgresql://ann:a::b@host/db", "t"),
        ("postgresql://ann@[::1]:5433/db::s.t", "postgresql://ann@[::1]:5433/db", "s.t"),
        ("postgresql://[fe80::1]/db", "postgresql://[fe80::1]/db", ""),
        ("postgresql://host::t", "postgresql://host", "t"),
        ("postgresql:///db?host=/tmp::t", "postgresql:///db?host=/tmp", "t"),
        ('postgresql://h/db::s."a::b"', "postgresql://h/db", 's."a::b"'),
    ],
)
def test_where_the_table_begins(name, server, table):
    assert _split(name) == (server, table)


@pytest.mark.parametrize(
    ("given", "public"),
    [
        ("postgresql://ann:pw@host:5433/db::t", "postgresql://ann@host:5433/db"),
        ("postgres://host/db?password=pw&user=ann::t", "postgresql://ann@host/db"),
        ("postgresql:///db?host=/tmp&sslmode=require::t", "postgresql:///tmp/db"),
        ("postgresql://a%40b:pw@host/db::t", "postgresql://a%40b@host/db"),
    ],
)
def test_what_may_be_printed(given, public):
    assert read_address(given).public == public
    assert ADDRESS.match(given)
    assert not ADDRESS.match("people.csv")
    assert not ADDRESS.match("C:/people.csv")


def test_a_connection_is_lost(tmp_path, monkeypatch, call):
    """A clear error; what was charged stays. A retry pays again, since nothing was released; when a
    release is stored, its retry is free.
    """
    ledger = Ledger(tmp_path / "budget.db", epsilon=5000.0)
    data, real = postgres.address(PEOPLE), PostgresTable.fetch

    def fetch(self, rows):
        pid = self.native.get_backend().con.info.backend_pid
        postgres.run(f"SELECT pg_terminate_backend({pid}, 10000)")
        return real(self, rows)

    monkeypatch.setattr(PostgresTable, "fetch", fetch)
    with pytest.raises(UnsupportedData, match=r"the query failed .* connection is open") as raised:
        duffdp.median(data, ledger=ledger.call("a"), **INCOME)
    charged = "epsilon 500 was charged to the data set 'data' and stays charged"
    again = "the same call with the call id 'a' costs epsilon 500"
    assert raised.value.__notes__ == [f"{charged}; {again}"]
    assert ledger.spent() == 500
    monkeypatch.undo()
    first = duffdp.median(data, ledger=ledger.call("a"), **INCOME)
    assert ledger.spent() == 1000
    assert duffdp.median(data, ledger=ledger.call("a"), **INCOME).value == first.value
    assert ledger.spent() == 1000
    assert connections() == 0


def test_a_call_id_belongs_to_one_table(tmp_path):
    """By whatever password it is read."""
    ledger = Ledger(tmp_path / "budget.db", epsilon=5000.0).call("a")
    first = duffdp.median(postgres.address(PEOPLE), ledger=ledger, **INCOME)
    for other in ("elsewhere", "closed.people", "clinic.rich"):
        with pytest.raises(DuffError, match="other data"):
            duffdp.median(postgres.address(other), ledger=ledger, **INCOME)
    assert duffdp.median(postgres.address(PEOPLE), ledger=ledger, **INCOME).value == first.value
    assert ledger.spent() == 500
    assert source_name(guarded(PEOPLE)) == source_name(guarded(PEOPLE, "another"))


def test_a_query_is_ended_while_it_runs():
    postgres.run(
        "CREATE VIEW clinic.slow AS SELECT income, pg_sleep(0.05) IS NULL AS ward "
        "FROM clinic.people"
    )
    ended = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE '%slow%' AND "
    ended += "application_name = 'duffdp'"
    timer = threading.Timer(2, postgres.run, [ended])
    timer.start()
    data = postgres.address("clinic.slow")
    with pytest.raises(UnsupportedData, match="the query failed") as raised:
        duffdp.median(data, by="ward", keys=[True], **INCOME)
    timer.join()
    assert "slow" not in str(raised.value)
    assert connections() == 0


def test_no_connection_is_left_to_the_collector():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UnsupportedData):
            duffdp.median(postgres.address("clinic.poeple"), **INCOME)
        with pytest.raises(UnsupportedData):
            duffdp.median(postgres.address(PEOPLE), **INCOME | {"column": "none"})
        duffdp.median(postgres.address(PEOPLE), **INCOME)
    assert connections() == 0


def test_decimals_of_more_digits_than_other_engines_know():
    postgres.run(
        "CREATE TABLE clinic.wide AS SELECT income::numeric(60, 20) AS income, ward "
        "FROM clinic.people"
    )
    assert duffdp.median(postgres.address("clinic.wide"), **INCOME).value == 500
