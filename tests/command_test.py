"""The command line, as real processes: what comes out, exit codes, pipes, plans, interruptions."""

from __future__ import annotations

import csv
import datetime as dt
import io
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import duckdb
import polars as pl
import pytest

import duffdp
from duffdp import Ledger
from duffdp.cli.app import application, run
from duffdp.cli.values import listed, typed_values, value

DATA = Path(__file__).parent / "data"
ADULT = str(DATA / "adult.csv")
AGES = ["--column", "age", "--bounds", "0", "120", "--step", "1"]
COMMAND = [sys.executable, "-c", "from duffdp.cli import main; main()"]
SURE = "500"


def duff(*arguments, **options):
    """A real process."""
    return subprocess.run([*COMMAND, *map(str, arguments)], capture_output=True, text=True, check=False, timeout=120, **options)


@pytest.fixture
def call(capsys):
    """The same in this process, for speed: exit code, output, errors."""

    def called(*arguments):
        code = run([str(part) for part in arguments])
        out, err = capsys.readouterr()
        assert "Traceback" not in err
        assert err.count("\n") <= 1
        return code, out, err

    return called


def rows(text):
    return list(csv.DictReader(io.StringIO(text)))


def test_a_median_as_a_process():
    ran = duff("median", ADULT, *AGES, "--epsilon", SURE)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.splitlines()[:2] == ["statistic  value", "median        37"]


def test_every_statistic(call):
    assert rows(call("median", ADULT, *AGES, "-e", SURE, "-f", "csv")[1]) == [{"statistic": "median", "value": "37"}]
    found = rows(call("quantile", ADULT, *AGES, "-e", SURE, "-q", ".25", "-q", ".5", "-f", "csv")[1])
    assert [row["value"] for row in found] == ["28", "37"]
    found = rows(call("mean", ADULT, "-c", "age", "--bounds", "0", "120", "--step", "0.01", "-e", "50", "-f", "csv")[1])
    assert float(found[0]["value"]) == pytest.approx(38.58, abs=0.02)
    code, out, _ = call("mode", ADULT, "--column", "education", "--categories", "HS-grad,Some-college", "-e", SURE, "-f", "json")
    assert code == 0
    assert json.loads(out)["value"] == "HS-grad"
    assert rows(call("mode", ADULT, "--column", "age", "--bounds", "0", "120", "-e", SURE, "-f", "csv")[1])[0]["value"] == "36"


def test_epsilon_is_for_the_whole_command(call, tmp_path):
    Ledger(tmp_path / "b.db", epsilon=1)
    code, out, _ = call(
        "quantile", ADULT, *AGES, "-e", "0.9", *["-q", ".1", "-q", ".5", "-q", ".9"], "-f", "json", "--ledger", tmp_path / "b.db"
    )
    assert code == 0
    release = json.loads(out)
    assert (release["epsilon"], len(release["value"])) == (0.9, 3)
    assert release["statistic"] == "quantiles(0.1, 0.5, 0.9)"
    assert Ledger(tmp_path / "b.db").spent() == 0.9


def test_groups_take_the_types_of_their_columns(call):
    code, out, _ = call("median", ADULT, *AGES, "-e", SURE, "-f", "csv", "--by", "sex", "--keys", "Female,Male", "--by", "education_num",
                        "--keys", "9,13")  # fmt: skip
    assert code == 0
    truth = {
        (sex, str(years)): str(age)
        for sex, years, age in duckdb.sql(
            f"SELECT sex, education_num, quantile_disc(age, 0.5) FROM '{ADULT}' WHERE education_num IN (9, 13) GROUP BY ALL"
        ).fetchall()
    }
    assert {(row["sex"], row["education_num"]): row["value"] for row in rows(out)} == truth


def test_people_dates_and_decimals(call, tmp_path):
    file = tmp_path / "visits.csv"
    file.write_text(
        "who,day,paid,open\n" + "".join(f"{i % 50},2024-03-{i % 9 + 1:02d},{i % 7}.25,{i % 2 == 0}\n" for i in range(500))
    )
    code, out, _ = call("median", file, "--column", "day", "--bounds", "2024-01-01", "2024-12-31", "-e", SURE, "-f", "json")
    assert (code, json.loads(out)["value"]) == (0, "2024-03-05")
    code, out, _ = call("median", file, "--column", "paid", "--bounds", "0", "10", "--step", "0.25", "-e", SURE, "-f", "json",
                        "--unit", "who", "--contributions", "3")  # fmt: skip
    release = json.loads(out)
    assert (code, release["unit"], release["contributions"]) == (0, "who", 3)
    code, out, _ = call("mode", file, "--column", "paid", "--bounds", "-1", "10", "--step", "0.25", "-e", SURE, "-f", "csv",
                        "--by", "day", "--keys", "2024-03-01,2024-04-01", "--by", "open", "--keys", "True")  # fmt: skip
    assert code == 0
    assert [(row["day"], row["open"]) for row in rows(out)] == [("2024-03-01", "True"), ("2024-04-01", "True")]


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_pipes(tmp_path, kind):
    file = tmp_path / f"x.{kind}"
    form = "json" if kind == "jsonl" else kind
    duckdb.sql(f"COPY (SELECT range AS age, 'a' AS g FROM range(101)) TO '{file}' (FORMAT {form})")
    with file.open("rb") as pipe:
        ran = duff("median", "-", *AGES, "-e", SURE, "-f", "csv", "--by", "g", "--keys", "a", stdin=pipe)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert rows(ran.stdout) == [{"g": "a", "statistic": "median", "value": "50"}]


def test_files_out(call, tmp_path):
    for ending in ("csv", "json", "parquet"):
        file = tmp_path / f"m.{ending}"
        assert call("median", ADULT, *AGES, "-e", SURE, "--out", file)[:2] == (0, "")
        assert duckdb.sql(f"SELECT value FROM '{file}'").fetchall() == [(37,)]
    file = tmp_path / "m.txt"
    assert call("median", ADULT, *AGES, "-e", SURE, "--out", file)[0] == 0
    assert "permute-and-flip" in file.read_text()


WRONG = [
    ((), 2, ""), (("median",), 2, "DATA"), (("nothing",), 2, "nothing"), (("median", ADULT), 2, "--column"),
    (("median", ADULT, *AGES), 2, "--epsilon"), (("median", ADULT, *AGES, "-e", "much"), 2, "--epsilon"),
    (("median", ADULT, *AGES, "-e", "-1"), 2, "epsilon must be"), (("median", ADULT, *AGES, "-e", "nan"), 2, "epsilon must be"),
    (("median", ADULT, "-c", "age", "-e", "1", "--bounds", "9", "3"), 2, "lower bound"),
    (("median", ADULT, "-c", "age", "-e", "1", "--bounds", "a", "b"), 2, "ISO date"),
    (("median", ADULT, "-c", "age", "-e", "1", "--bounds", "0"), 2, "--bounds"),
    (("median", ADULT, *AGES, "-e", "1", "--by", "sex"), 2, "keys"), (("median", ADULT, *AGES, "-e", "1", "--keys", "a"), 2, "by"),
    (("median", ADULT, *AGES, "-e", "1", "--mechanism", "laplace"), 2, "laplace"),
    (("median", ADULT, *AGES, "-e", "1", "--contributions", "2"), 2, "unit"),
    (("median", ADULT, *AGES, "-e", "1", "-f", "parquet"), 2, "--out"),
    (("median", ADULT, *AGES, "-e", "1", "--out", "/none/x.csv"), 2, "cannot write"),
    (("median", ADULT, *AGES, "-e", "1", "--call-id", "x"), 2, "--ledger"),
    (("quantile", ADULT, *AGES, "-e", "1"), 2, "-q"), (("quantile", ADULT, *AGES, "-e", "1", "-q", "2"), 2, "q must"),
    (("mode", ADULT, "-c", "sex", "-e", "1"), 2, "categories"), (("mode", ADULT, "-c", "sex", "-e", "1", "--categories", "@none"), 2, "none"),
    (("median", "none.csv", *AGES, "-e", "1"), 4, "no file"), (("median", __file__, *AGES, "-e", "1"), 4, "kind of"),
    (("median", ADULT, "-c", "ages", "-e", "1", "--bounds", "0", "9"), 4, "'age'"),
    (("median", ADULT, *AGES, "-e", "1", "--ledger", "none.db"), 3, "no ledger"),
    (("median", ADULT, *AGES, "-e", "1", "--ledger", ADULT), 3, "not a ledger"),
    (("release", "none.toml"), 2, "plan"), (("ledger", "verify", "none.db"), 3, "no ledger"), (("ledger", "show", ADULT), 3, "not a ledger"),
    (("ledger", "init", "/none/b.db", "-e", "1"), 3, "read-only or missing"), (("ledger", "init", "b.db", "-e", "0"), 2, "epsilon must"),
    (("paper",), 2, "--out"), (("paper", "--out", "p", "--data", "none.csv"), 2, "vertebral_column.csv"),
]  # fmt: skip


@pytest.mark.parametrize(("arguments", "code", "told"), WRONG, ids=lambda v: " ".join(v)[-60:] if isinstance(v, tuple) else None)
def test_one_line_errors(call, tmp_path, monkeypatch, arguments, code, told):
    monkeypatch.chdir(tmp_path)
    found, out, err = call(*arguments)
    assert found == code
    if arguments:
        assert told in err
        assert out == ""
    assert not list(tmp_path.iterdir())


def test_debug_shows_the_traceback():
    plain, debugged = duff("median", "none.csv", *AGES, "-e", "1"), duff("median", "none.csv", *AGES, "-e", "1", "--debug")
    assert plain.returncode == debugged.returncode == 4
    assert plain.stderr.count("\n") == 1
    assert "Traceback" in debugged.stderr


@pytest.mark.parametrize("groups", [(), ("--by", "sex", "--keys", "Female,Male")])
def test_a_process_of_its_own_writes_parquet(tmp_path, groups):
    """Without what the tests have loaded already."""
    file = tmp_path / "out.parquet"
    done = duff("median", ADULT, *AGES, "-e", "1", *groups, "--out", file)
    assert (done.returncode, done.stderr) == (0, "")
    assert len(pl.read_parquet(file)) == max(len(groups) // 2, 1)


def test_a_line_that_does_not_fit_is_no_error(call, tmp_path):
    """Neither before the charge nor after it."""
    file = tmp_path / "x.csv"
    file.write_text("age,sex\n" + "33,f\n" * 100_000 + "33,f,a secret\n")
    Ledger(tmp_path / "b.db", epsilon=1)
    code, out, err = call("median", file, *AGES, "-e", "0.5", "--ledger", tmp_path / "b.db")
    assert (code, err) == (0, "")
    assert "33" in out
    assert Ledger(tmp_path / "b.db").spent() == 0.5


def test_the_budget_refuses(call, tmp_path):
    book = tmp_path / "b.db"
    assert call("ledger", "init", book, "--epsilon", "1", "--dataset", "adult")[0] == 0
    given = ("median", ADULT, *AGES, "--epsilon", "0.6", "--ledger", book)
    assert call(*given)[0] == 0
    code, out, err = call(*given)
    assert (code, out) == (3, "")
    assert "requested epsilon 0.6, remaining 0.4 of 1 for the data set 'adult': 0.2 too much" in err
    code, out, _ = call("ledger", "show", book)
    assert "spent 0.6 of 1, 0.4 left" in out
    shown = json.loads(call("ledger", "show", book, "--format", "json", "--delta", "1e-6")[1])
    assert shown["remaining"] == 0.4
    assert shown["total"]["epsilon"] <= 0.6001
    assert shown["charges"][0]["parameters"]["column"] == "age"
    code, out, _ = call("ledger", "verify", book)
    assert (code, "in order: 2 entries, 1 charges" in out) == (0, True)
    head = out.split()[-1]
    assert call("ledger", "verify", book, "--head", head)[0] == 0
    assert call("ledger", "verify", book, "--head", "0" * 63 + "1")[0] == 3


def test_a_retry_is_free(call, tmp_path):
    book = tmp_path / "b.db"
    Ledger(book, epsilon=1)
    given = ("quantile", ADULT, "-c", "age", "--bounds", "0", "120", "--step", "0.001", "-q", ".1", "-q", ".5", "-e", "0.01", "-f", "csv",
             "--ledger", book, "--call-id", "may")  # fmt: skip
    first, second = call(*given), call(*given)
    assert first == second
    assert Ledger(book).spent() == 0.01
    assert call(*given[:-1], "june")[1] != first[1]


def test_a_refused_output_costs_nothing(call, tmp_path):
    Ledger(tmp_path / "b.db", epsilon=1)
    for wrong in (("--out", tmp_path), ("--out", "/none/x.csv"), ("--report", "/none/x.html")):
        assert call("median", ADULT, *AGES, "-e", "1", "--ledger", tmp_path / "b.db", *wrong)[0] == 2
    assert Ledger(tmp_path / "b.db").spent() == 0


PLAN = """
source = "people.csv"
epsilon = 1.0
ledger = "budget.db"
mechanism = "duff"

[[release]]
name = "age"
statistic = "median"
column = "age"
bounds = [0, 120]
step = 1
weight = 2
by = "sex"
keys = ["Female", "Male"]

[[release]]
statistic = "quantile"
q = 0.9
column = "age"
bounds = [0, 120]
by = ["sex", "education_num"]
keys = [["Female"], [9, 13]]

[[release]]
statistic = "mode"
column = "workclass"
categories = ["Private", "State-gov"]
mechanism = "best"
"""


@pytest.fixture
def plan(tmp_path):
    file = tmp_path / "plan.toml"
    file.write_text(PLAN)
    (tmp_path / "people.csv").symlink_to(ADULT)
    Ledger(tmp_path / "budget.db", epsilon=1.5)
    return file


def test_a_plan(call, plan):
    book = Ledger(plan.parent / "budget.db")
    code, out, _ = call("release", plan, "--check")
    assert code == 0
    assert re.search(r"age +median +exponential\(distance\) +0.5 +2  sex, value", out)
    assert "the plan fits" in out
    assert book.spent() == 0
    code, out, _ = call("release", plan, "-f", "csv")
    assert code == 0
    assert [row["release"] for row in rows(out)] == ["age"] * 2 + ["quantile 0.9 of age by sex, education_num"] * 2 + [
        "mode of workclass"
    ]
    assert book.spent() == 1
    assert [charge["epsilon"] for charge in book.charges()] == ["1/2", "1/4", "1/4"]
    code, out, err = call("release", plan)
    assert (code, out) == (3, "")
    assert "requested epsilon 1, remaining 0.5" in err
    code, out, _ = call("release", plan, "--check")
    assert (code, "does NOT fit" in out) == (3, True)
    assert book.spent() == 1


def test_a_plan_with_several_numbers(call, plan):
    several = 'statistic = "quantile"\nq = [0.75, 0.25]\ncolumn = "age"\nbounds = [0, 120]\n'
    summary = 'statistic = "describe"\ncolumn = "age"\nbounds = [0, 120]\nby = "sex"\nkeys = ["Female", "Male"]\n'
    plan.write_text(f'source = "people.csv"\nepsilon = {SURE}\nmechanism = "duff"\n[[release]]\n{several}[[release]]\n{summary}')
    out = call("release", plan, "--check")[1]
    assert re.search(r"exponential\(distance\) x 2 +\S+ +2  value", out)
    assert re.search(r"two-sided-geometric \+ joint-exponential +\S+ +12  sex, value", out)
    code, out, _ = call("release", plan, "-f", "csv")
    found = rows(out)
    assert code == 0
    assert [(row["statistic"], row["value"]) for row in found[:2]] == [("quantile(0.25)", "28"), ("quantile(0.75)", "48")]
    assert [row["statistic"] for row in found[2:]] == ["count", "1%", "25%", "50%", "75%", "99%"] * 2
    assert {row["release"] for row in found} == {"quantiles 0.25, 0.75 of age", "summary of age by sex"}


def test_a_page_of_an_unknown_kind_costs_nothing(call, tmp_path):
    book = Ledger(tmp_path / "b.db", epsilon=1)
    code, out, err = call("median", ADULT, *AGES, "-e", "1", "--ledger", tmp_path / "b.db", "--report", tmp_path / "page.pdf")
    assert (code, out, book.spent()) == (2, "", 0)
    assert ".html or .md" in err


def test_describe(call, tmp_path):
    page, file = tmp_path / "page.html", tmp_path / "out.parquet"
    given = ("describe", ADULT, *AGES, "-e", SURE)
    assert rows(call(*given, "-f", "csv")[1])[3] == {"statistic": "50%", "value": "37"}
    assert call(*given, "--by", "sex", "--keys", "Female,Male", "--out", file, "--report", page)[0] == 0
    assert duckdb.sql(f"SELECT value FROM '{file}' WHERE sex = 'Male' AND statistic = 'count'").fetchall() == [(21790,)]
    assert "<td>count</td>" in page.read_text()
    assert "Summary of age by sex" in page.read_text()


def test_a_plan_with_a_call_id(call, plan):
    first, second = (call("release", plan, "-f", "json", "--call-id", "x") for _ in range(2))
    assert first == second
    assert Ledger(plan.parent / "budget.db").spent() == 1
    file = plan.parent / "all.parquet"
    assert call("release", plan, "-f", "parquet", "--call-id", "x", "--out", file)[0] == 0
    assert duckdb.sql(f"SELECT count(*) FROM '{file}'").fetchall() == [(5,)]


@pytest.mark.parametrize(
    ("old", "new", "code", "told"),
    [
        ('column = "workclass"', 'column = "work"', 4, "'workclass'"), ("weight = 2", "weight = 0", 2, "weight"),
        ("weight = 2", "wieght = 2", 2, "Did you mean 'weight'"), ("epsilon = 1.0", "", 2, "'epsilon'"), ("q = 0.9", "q = 1.5", 2, "q must"),
        ("epsilon = 1.0", "epsilon = -1", 2, "epsilon must"), ('"mode"', '"modus"', 2, "statistic must"), ("q = 0.9", "", 2, "q goes with"),
        ("keys = [[", "keys = [", 2, "TOML"), ('"people.csv"', '"none.csv"', 4, "no file"),
        ('keys = ["Female", "Male"]', "", 2, "keys"), ("bounds = [0, 120]\nby", "bounds = [5, 5]\nby", 2, "lower bound"),
        ('"budget.db"', '"none.db"', 3, "no ledger"), ("[[release]]", "[[results]]", 2, "unknown entry"), ("[0, 120]", '["2020-01-01", 3]', 2, "bounds"),
        ('column = "workclass"', 'column = "workclass"\nname = "age"', 2, "same name"),
    ],
)  # fmt: skip
def test_a_wrong_plan_costs_nothing(call, plan, old, new, code, told):
    assert old in PLAN
    plan.write_text(PLAN.replace(old, new))
    found, out, err = call("release", plan, "-f", "csv")
    assert (found, out) == (code, "")
    assert told in err
    assert Ledger(plan.parent / "budget.db").spent() == 0


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_ends_cleanly(tmp_path, sent):
    """Interrupted while it waits for a pipe that has sent rows: one line, code 130, no charge, nothing left behind."""
    Ledger(tmp_path / "b.db", epsilon=1)
    waiting = subprocess.Popen(
        [*COMMAND, "median", "-", *AGES, "-e", "1", "--ledger", str(tmp_path / "b.db")], stdin=subprocess.PIPE, stderr=subprocess.PIPE,
        stdout=subprocess.PIPE, text=True, env=os.environ | {"TMPDIR": str(tmp_path)},
    )  # fmt: skip
    waiting.stdin.write("age\n" + "33\n" * 200_000)
    waiting.stdin.flush()
    while not list(tmp_path.glob("duffdp-*/piped.csv")):
        time.sleep(0.05)
    waiting.send_signal(sent)
    out, err = waiting.communicate(timeout=60)
    assert (waiting.returncode, out) == (130, "")
    assert err == "duffdp: stopped; what was charged stays charged\n"
    assert [path.name for path in tmp_path.iterdir()] == ["b.db"]
    assert Ledger(tmp_path / "b.db").spent() == 0


@pytest.mark.slow
def test_ctrl_c_in_the_middle(tmp_path):
    """Interrupted at many moments of a release: it ends with 0 or 130, one line at most, and the ledger stays in order."""
    file = tmp_path / "big.csv"
    duckdb.sql(f"COPY (SELECT range % 100 AS age, random() AS x FROM range(2000000)) TO '{file}'")
    book = Ledger(tmp_path / "b.db", epsilon=100)
    released = 0
    for moment in range(12):
        running = subprocess.Popen(
            [*COMMAND, "median", str(file), *AGES, "-e", "1", "--ledger", str(book.path)],
            stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        time.sleep(0.25 + 0.06 * moment)
        running.send_signal(signal.SIGINT)
        out, err = running.communicate(timeout=60)
        assert running.returncode in (0, 130)
        assert out or running.returncode == 130  # an interrupt after the answer was written comes too late
        assert err in ("", "duffdp: stopped; what was charged stays charged\n")
        released += running.returncode == 0
        assert book.verify().charges >= released


def test_a_reader_that_goes_away():
    ran = subprocess.run(
        f"{sys.executable} -c 'from duffdp.cli import main; main()' --help | head -1",
        shell=True,
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stderr == ""


def test_audit(call):
    code, out, _ = call("audit")
    assert code == 0
    assert "FAILED" not in out
    assert out.count(" ok\n") == 14
    assert "Not checked" in out


def test_an_audit_can_fail():
    from duffdp.audit import draw_deviation, largest_loss
    from duffdp.mechanisms import Exponential, PermuteAndFlip
    from duffdp.statistics import Median, Mode

    assert largest_loss(Mode(rate=2), Exponential(1.0)) > 1.1
    for mechanism in (Exponential, PermuteAndFlip):
        deviation, limit = draw_deviation(Median(), mechanism(1.0), law=mechanism(1.3))
        assert deviation > limit


def test_planning(call, tmp_path):
    given = ("normal", "--n", "1000", "--bounds", "-10", "10")
    code, out, err = call("preview", *given, "-e", "0.1", "-e", "1", "--picture", tmp_path / "p.png")
    if not (Path(duffdp.__file__).parent / "planning").exists():
        assert (code, out) == (2, "")
        assert "cannot plan" in err
        return
    assert code == 0
    assert out.count("best") == 2
    assert "synthetic" in out
    assert (tmp_path / "p.png").stat().st_size > 5000
    assert call("epsilon-for", *given, "--within", "0.1")[1].startswith("epsilon ")
    code, out, _ = call("preview", ADULT, *AGES, "-e", "1")
    assert (code, "NOT PRIVATE" in out) == (0, True)


def test_reports(call, tmp_path):
    Ledger(tmp_path / "b.db", epsilon=3)
    code, _, err = call("median", ADULT, *AGES, "-e", "1", "--report", tmp_path / "page.html", "--ledger", tmp_path / "b.db")
    if not (Path(duffdp.__file__).parent / "report").exists():
        assert (code, Ledger(tmp_path / "b.db").spent()) == (2, 0)
        assert "cannot write reports" in err
        return
    assert code == 0
    assert "<html" in (tmp_path / "page.html").read_text()


def test_values():
    assert value("3") == 3
    assert value("0.1") == 0.1
    assert str(value("2024-02-29")) == "2024-02-29"
    assert value("2024-02-29T10:00").hour == 10
    assert listed('a,"b,c", d') == ["a", "b,c", "d"]


def test_keys_and_categories_are_read_as_their_columns_are(tmp_path):
    file = str(tmp_path / "x.parquet")
    kinds = "1::DOUBLE AS d, 1::INTEGER AS i, true AS b, TIMESTAMP '2024-01-01' AS t, 'x' AS s"
    duckdb.sql(f"COPY (SELECT {kinds}) TO '{file}'")
    asked = {"d": ["1", "2.5"], "i": ["3"], "b": ["TRUE"], "t": ["2024-01-01 10:00"], "s": ["1"]}
    (key, _), options = (found := typed_values(file, "s", list(asked), list(asked.values()), ["a"]))["keys"], found
    assert key == (1, 3, True, dt.datetime(2024, 1, 1, 10), "1")
    assert options["categories"] == ["a"]
    (tmp_path / "x.csv").write_text("i\n1\n")
    assert typed_values(str(tmp_path / "x.csv"), "i", ["i"], [["1"]], None)["keys"] == [("1",)]
    for wrong in (["i"], [["x"]]), (["b"], [["yes"]]), (["t"], [["today"]]):
        with pytest.raises(duffdp.DuffError, match="is no such value"):
            typed_values(file, "s", *wrong, None)
    with pytest.raises(duffdp.DuffError, match="each --by needs its own --keys"):
        typed_values(file, "s", ["i"], [], None)


def test_keys_from_a_file(call, tmp_path):
    (tmp_path / "keys.txt").write_text("Male\nFemale\n")
    code, out, _ = call("median", ADULT, *AGES, "-e", SURE, "-f", "csv", "--by", "sex", "--keys", f"@{tmp_path / 'keys.txt'}")
    assert (code, [row["sex"] for row in rows(out)]) == (0, ["Male", "Female"])


def test_help_is_light():
    code = (
        "import sys; sys.argv = ['duffdp', '--help']; from duffdp.cli.app import run; run(['--help']); print(sorted(sys.modules))"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert "'typer'" in out
    for heavy in ("numpy", "duckdb", "narwhals", "sqlite3", "matplotlib", "scipy"):
        assert f"'{heavy}'" not in out


def test_without_typer_the_error_says_what_to_install():
    code = "import sys; sys.modules['typer'] = None; from duffdp.cli import main; main()"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "pip install 'duffdp[cli]'" in ran.stderr


def test_every_command_has_a_file():
    folder = Path(duffdp.__file__).parent / "cli"
    names = {command.name or command.callback.__name__ for command in application().registered_commands} | {"ledger"}
    assert {name.replace("-", "_") for name in names} <= {path.stem for path in folder.glob("*.py")}


def test_several_quantiles_by_group_and_a_report(call, tmp_path):
    page = tmp_path / "page.md"
    found = rows(call("quantile", ADULT, *AGES, "-e", SURE, "-q", ".5", "-q", ".25", "--by", "sex", "--keys", "Male,Female", "-f", "csv",
                      "--report", page)[1])  # fmt: skip
    assert [(row["sex"], row["statistic"]) for row in found] == [
        (sex, f"quantile({q})") for sex in ("Male", "Female") for q in ("0.25", "0.5")
    ]
    assert [int(row["value"]) for row in found] == pytest.approx([29, 38, 25, 35], abs=1)
    assert "## Quantiles 0.25, 0.5 of age by sex\n" in page.read_text()


def test_triangles(call, tmp_path):
    edges = Path(__file__).parent / "data" / "ca_grqc_edges.csv"
    Ledger(tmp_path / "b.db", epsilon=200)
    code, out, _ = call("triangles", edges, "-e", "100", "--nodes", "5242", "-f", "json", "--ledger", tmp_path / "b.db")
    release = json.loads(out)
    assert (code, release["unit"]) == (0, "edge")
    assert abs(release["value"] - 48_260) < 20
    assert Ledger(tmp_path / "b.db").spent() == 100
    assert call("triangles", tmp_path / "missing.csv", "-e", "1", "--nodes", "10")[0] in (2, 4)
