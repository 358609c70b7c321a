"""The command line as real processes: pipes, interruptions, and what is loaded."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import duffdp
from command_line import ADULT, AGES, COMMAND, SURE, duff, rows
from duffdp import Ledger, UnsupportedData
from duffdp._cli.app import run
from duffdp._pipeline.run import PreparedRelease

STOPPED = "duffdp: stopped; what was charged stays charged\n"
CHARGED = "duffdp: stopped; epsilon 1 was charged to the data set 'data' and stays charged\n"


def test_a_median_as_a_process():
    ran = duff("median", ADULT, *AGES, "--epsilon", SURE)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.splitlines()[:2] == ["statistic  value", "median        37"]


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_pipes(tmp_path, kind):
    file = tmp_path / f"x.{kind}"
    form = "json" if kind == "jsonl" else kind
    duckdb.sql(f"COPY (SELECT range AS age, 'a' AS g FROM range(101)) TO '{file}' (FORMAT {form})")
    for named in ((), ("--pipe", kind)) if kind != "jsonl" else (("--pipe", kind),):
        by = ("--by", "g", "--keys", "a", *named)
        with file.open("rb") as pipe:
            ran = duff("median", "-", *AGES, "-e", SURE, "-f", "csv", *by, stdin=pipe)
        assert (ran.returncode, ran.stderr) == (0, "")
        assert rows(ran.stdout) == [{"g": "a", "statistic": "median", "value": "50"}]


def test_a_pipe_can_be_read_again(tmp_path):
    """What comes through it has no name that a retry could differ by."""
    book = tmp_path / "budget.db"
    duff("ledger", "init", book, "--epsilon", "1")
    paid = "-e", "1", "--ledger", book, "--call-id", "again"
    first, second = (duff("median", "-", *AGES, *paid, input="age\n33\n") for _ in range(2))
    assert (first.returncode, first.stderr) == (0, "")
    assert (second.stdout, second.stderr) == (first.stdout, "")


LINES = ["", '{"age": 33, "g": "a"}\n', ' {"age": 33}\n', "[1]\n", '\n{"age": 33}\n']


def test_no_record_of_a_pipe_decides_what_it_is():
    """JSON lines with one record or another, or none: the same error without a name, released with
    it.
    """
    unnamed = [duff("median", "-", *AGES, "-e", "1", input=text) for text in LINES]
    assert {ran.returncode for ran in unnamed} == {4}
    (told,) = {ran.stderr for ran in unnamed}
    assert "--pipe jsonl" in told
    named = [duff("median", "-", *AGES, "-e", "1", "--pipe", "jsonl", input=text) for text in LINES]
    assert {(ran.returncode, ran.stderr, ran.stdout.count("\n")) for ran in named} == {(0, "", 3)}


@pytest.mark.parametrize("groups", [(), ("--by", "sex", "--keys", "Female,Male")])
def test_a_process_of_its_own_writes_parquet(tmp_path, groups):
    """Without what the tests have loaded already."""
    file = tmp_path / "out.parquet"
    done = duff("median", ADULT, *AGES, "-e", "1", *groups, "--out", file)
    assert (done.returncode, done.stderr) == (0, "")
    assert len(pl.read_parquet(file)) == max(len(groups) // 2, 1)


def test_debug_tells_the_traceback():
    given = ("median", "none.csv", *AGES, "-e", "1")
    short, debugged = duff(*given), duff(*given, "--debug")
    assert short.returncode == debugged.returncode == 4
    assert short.stderr.count("\n") == 1
    assert "Traceback" in debugged.stderr
    assert debugged.stderr.splitlines()[-1] == short.stderr.strip()
    evil = duff("median", "x.csv", "--a\u202e\x1b[31m", "--debug").stderr
    assert "Traceback" in evil
    assert all(char.isprintable() or char == "\n" for char in evil)


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_ends_cleanly(tmp_path, sent):
    """Interrupted while it waits for a pipe that has sent rows: one line, code 130, no charge,
    nothing left behind.
    """
    Ledger(tmp_path / "b.db", epsilon=1)
    waiting = subprocess.Popen(
        [*COMMAND, "median", "-", *AGES, "-e", "1", "--ledger", str(tmp_path / "b.db")],
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"TMPDIR": str(tmp_path)},
    )
    waiting.stdin.write("age\n" + "33\n" * 200_000)
    waiting.stdin.flush()
    while not list(tmp_path.glob("duffdp-*/piped.csv")):
        time.sleep(0.05)
    waiting.send_signal(sent)
    out, err = waiting.communicate(timeout=60)
    assert (waiting.returncode, out, err) == (130, "", STOPPED)
    assert [path.name for path in tmp_path.iterdir()] == ["b.db"]
    assert Ledger(tmp_path / "b.db").spent() == 0


@pytest.mark.parametrize(
    ("raised", "code", "told"),
    [
        (KeyboardInterrupt, 130, "duffdp: stopped; epsilon {} was charged to the data set 'data' "),
        (
            MemoryError,
            1,
            "went wrong (MemoryError). Please report it. Epsilon ",
        ),
    ],
)
def test_what_is_paid_is_told(raised, code, told, tmp_path, monkeypatch, capsys):
    """A plan of two releases, which are about other rows and so read one after the other, ends in
    the middle of the second: both are paid. Called again, the first is not paid again.
    """
    (tmp_path / "ages.csv").write_text("age\n" + "33\n" * 50)
    book = Ledger(tmp_path / "b.db", epsilon=10)
    asked = '[[release]]\nname = "{}"\nstatistic = "median"\ncolumn = "age"\nbounds = [0, 120]\n'
    (tmp_path / "plan.toml").write_text(
        f"source = '{tmp_path}/ages.csv'\nepsilon = 3\ncall_id = 'a'\n"
        + asked.format("one")
        + asked.format("two")
        + "where = 'age IS NOT NULL'\n"
    )
    open_release, many = PreparedRelease.open, []

    def breaks(prepared):
        many.append(1)
        if len(many) % 2 == 0:
            raise raised("a record: 4711")
        return open_release(prepared)

    monkeypatch.setattr(PreparedRelease, "open", breaks)
    for cost in ("3", "1.5"):
        many[:] = [1] * (cost == "1.5")
        command = ["release", str(tmp_path / "plan.toml"), "--ledger", str(book.path)]
        assert run(command) == code
        error = capsys.readouterr().err
        assert told.format(cost) in error
        assert f"psilon {cost} was charged to the data set 'data' and stays charged" in error
        assert "the same call with the call id 'a' costs epsilon 1.5" in error
        assert "un again" not in error
        assert "4711" not in error
    assert book.spent() == 4.5


def test_an_error_in_words_of_options_tells_what_is_paid(tmp_path, monkeypatch, capsys):
    """An engine that is interrupted ends with an error of its own, of which the words change."""
    (tmp_path / "ages.csv").write_text("age\n" + "33\n" * 50)
    book = Ledger(tmp_path / "b.db", epsilon=10)

    def breaks(*_):
        raise UnsupportedData("the query failed.")

    monkeypatch.setattr(PreparedRelease, "open", breaks)
    command = ["median", str(tmp_path / "ages.csv"), *AGES, "-e", "1", "--ledger", str(book.path)]
    assert run(command) == 4
    cost = "Epsilon 1 was charged to the data set 'data' and stays charged."
    assert capsys.readouterr().err.strip().endswith(f"the query failed. {cost}")
    assert book.spent() == 1


@pytest.mark.parametrize("unit", [[], ["--unit", "person", "--contributions", "1"]])
@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_a_file_that_is_replaced_after_the_charge(tmp_path, monkeypatch, capsys, kind, unit):
    """By one with other columns at their places, or by none: these are not taken for those that
    were asked for, and the error says what was paid.
    """
    file, charge_all = tmp_path / f"ages.{kind}", Ledger.charge_all
    book = Ledger(tmp_path / "b.db", epsilon=10)
    command = ["median", str(file), *AGES, *unit, "-e", "1", "--ledger", str(book.path)]
    columns = "range AS person, 'a' AS word, range % 90 AS age"
    write = f"COPY (SELECT {{}} FROM range(50)) TO '{file}'"

    others = ["range AS age, 'a' AS x, 1 AS person", "1 AS x", None]

    def replaced(*given, **more):
        paid = charge_all(*given, **more)
        file.unlink()
        if (other := others[int(book.spent()) - 1]) is not None:
            duckdb.sql(write.format(other))
        return paid

    monkeypatch.setattr(Ledger, "charge_all", replaced)
    paid = "Epsilon 1 was charged to the data set 'data' and stays charged."
    for spent in range(1, len(others) + 1):
        duckdb.sql(write.format(columns))
        assert run(command) == 4
        said = capsys.readouterr().err
        assert said.strip().endswith(paid)
        assert "Traceback" not in said
        assert book.spent() == spent


def test_a_file_that_is_replaced_in_the_second_of_its_making(tmp_path, monkeypatch):
    """Nothing that was read of the first one is taken for a part of the other."""
    file, charge_all = tmp_path / "ages.parquet", Ledger.charge_all

    def write(*names):
        columns = {"age": [20] * 9, "other": [70] * 9}
        pq.write_table(pa.table({name: columns[name] for name in names}), file)
        os.utime(file, (1e9, 1e9))

    def replaced(*given, **more):
        paid = charge_all(*given, **more)
        write("other", "age")
        return paid

    monkeypatch.setattr(Ledger, "charge_all", replaced)
    for asked in (file, duffdp.Query(file, "SELECT age FROM data")):
        write("age", "other")
        book = Ledger(tmp_path / f"{type(asked).__name__}.db", epsilon=1e6)
        given = {"epsilon": 1e6, "bounds": (0, 120), "step": 1, "ledger": book}
        assert duffdp.median(asked, column="age", **given).value == 20


@pytest.mark.slow
def test_ctrl_c_in_the_middle(tmp_path):
    """Interrupted at many moments of a release: it ends with 0 or 130, one line at most, and the
    ledger stays in order.
    """
    file = tmp_path / "big.csv"
    rows_ = "SELECT range % 100 AS age, random() AS x FROM range(2000000)"
    duckdb.sql(f"COPY ({rows_}) TO '{file}'")
    book = Ledger(tmp_path / "b.db", epsilon=100)
    released = told = 0
    begin = time.perf_counter()
    duff("--help")
    start = time.perf_counter() - begin  # until then Python itself is starting, on this machine
    for moment in range(12):
        running = subprocess.Popen(
            [
                *COMMAND,
                "median",
                "--quiet",
                str(file),
                *AGES,
                "-e",
                "1",
                "--ledger",
                str(book.path),
            ],
            stderr=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        time.sleep(start + 0.06 * moment)
        running.send_signal(signal.SIGINT)
        out, err = running.communicate(timeout=60)
        assert running.returncode in (0, 130)
        assert out or running.returncode == 130  # an interrupt after the answer comes too late
        assert err in ("", STOPPED, CHARGED)
        told += err == CHARGED
        released += running.returncode == 0
        assert book.verify().charges >= released + told


def test_ctrl_c_inside_a_destructor():
    """Python cannot raise there: the interrupt comes again a moment later, without a word."""
    program = """
import signal, sys, time
from duffdp._cli import app

class Closing:
    def __del__(self):
        signal.raise_signal(signal.SIGINT)

def get_command(*_):
    Closing()
    time.sleep(60)

app.application.get_command = get_command
sys.exit(app.run(["median"]))
"""
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=30, check=False
    )
    assert (ran.returncode, ran.stderr) == (130, STOPPED)


def test_a_reader_that_goes_away():
    ran = subprocess.run(
        f"{sys.executable} -c 'from duffdp._cli import main; main()' --help | head -1",
        shell=True,
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stderr == ""


def loaded(*arguments: object) -> str:
    """The modules that a command has loaded when it ends."""
    code = (
        "import sys; from duffdp._cli.app import run; "
        "code = run(sys.argv[1:]); print(sorted(sys.modules)); sys.exit(code)"
    )
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_help_is_light():
    found = loaded("--help")
    assert "'click'" in found
    for heavy in ("numpy", "duckdb", "narwhals", "sqlite3", "matplotlib", "scipy", "pydantic"):
        assert f"'{heavy}'" not in found


def test_a_command_loads_what_it_needs(tmp_path):
    (tmp_path / "t.csv").write_text("age\n1\n")
    options = "-c", "age", "-e", 1, "--bounds", 0, 9, "--step", 1
    found = loaded("median", tmp_path / "t.csv", *options)
    assert "'numpy'" in found
    for other in ("pydantic", "pandas", "pyarrow", "rich", "sqlite3", "html", "scipy"):
        assert f"'{other}'" not in found


def test_without_click_the_error_says_what_to_install():
    code = "import sys; sys.modules['click'] = None; from duffdp._cli import main; main()"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "pip install 'duffdp[cli]'" in ran.stderr
