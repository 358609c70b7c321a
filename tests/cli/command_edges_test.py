"""Edges of the command line: bare words, pipes that end, files by their ending, completion, and
errors in the words of options.
"""

from __future__ import annotations

import os
import subprocess

import polars as pl
import pytest

from command_line import ADULT, COMMAND, duff
from duffdp import DuffError
from duffdp._cli.dialects import COMMAND_LINE, PLAN
from duffdp.errors import Argument

MEDIAN = ("median", ADULT, "-c", "age", "-e", "1", "--bounds", "0", "120")


@pytest.mark.parametrize("words", [(), ("ledger",)])
def test_a_bare_word_shows_the_help(words):
    told = duff(*words)
    assert (told.returncode, told.stderr) == (0, "")
    assert told.stdout == duff(*words, "--help").stdout
    assert "Commands:" in told.stdout


def test_a_reader_that_goes_away_ends_the_command_quietly():
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    for words in ([*MEDIAN, "--quiet"], [*MEDIAN, "--quiet", "-f", "json"], ["--help"]):
        with subprocess.Popen([*COMMAND, *words], **pipes) as ran:
            ran.stdout.close()  # before the first letter
            complained = ran.stderr.read()
        assert (ran.wait(), complained) == (0, "")


@pytest.mark.parametrize("rows", ["A,1\nB,2", "A,1\nA,1", "A,1\nB,x\nB,x"])
@pytest.mark.parametrize(
    "words",
    [
        ("median", "-c", "x", "--bounds", "0", "9", "--by", "ward", "--keys"),
        ("mode", "-c", "ward", "--categories"),
        ("share", "-c", "ward", "--values"),
        ("histogram", "-c", "x", "--bins"),
    ],
    ids=lambda words: words[0],
)
def test_a_list_is_not_read_from_the_data(tmp_path, words, rows):
    """Whatever records they hold, and quoting none of them."""
    data = tmp_path / "data.csv"
    data.write_text(f"ward,x\n{rows}\n")
    (tmp_path / "folder").mkdir()
    told = duff(words[0], data, "-e", "1", *words[1:], f"@{tmp_path}/folder/../data.csv")
    assert (told.returncode, told.stdout) == (2, "")
    said = f"duffdp: {words[-1]} must be known without the data, but these are the data. "
    assert told.stderr.startswith(said + "Pass a public list")
    assert told.stderr.count("\n") == 1


def test_a_plan_of_the_other_kind_is_told_apart(tmp_path):
    table, releases = tmp_path / "table.toml", tmp_path / "releases.toml"
    table.write_text('source = "x.csv"\nepsilon = 1\nby = "a"\n[statistics]\nx = "median"\n')
    releases.write_text('source = "x.csv"\nepsilon = 1\n[[release]]\nstatistic = "count"\n')
    for command, plan, right in (("release", table, "table"), ("table", releases, "release")):
        told = duff(command, plan)
        assert told.returncode == 2
        assert f"Run it with: duffdp {right}, " in told.stderr


def test_a_file_is_what_its_ending_says(tmp_path):
    book = tmp_path / "median.XLSX"
    assert duff(*MEDIAN, "--out", book).returncode == 0
    assert pl.read_excel(book, engine="openpyxl").columns == ["statistic", "value"]
    told = duff(*MEDIAN, "--out", tmp_path / "median.pdf")
    assert told.returncode == 2
    assert "is not one of .txt, .json, .csv, .parquet, .xlsx" in told.stderr
    assert not (tmp_path / "median.pdf").exists()
    assert duff(*MEDIAN, "--format", "csv", "--out", tmp_path / "median.dat").returncode == 0
    assert "excel needs a file" in duff(*MEDIAN, "--format", "excel").stderr
    (tmp_path / "t.toml").write_text(
        f"source = '{ADULT}'\nepsilon = 1\n[statistics]\nage = 'mean'\n[bounds]\nage = [0, 120]\n"
    )
    told = duff("table", tmp_path / "t.toml", "--out", tmp_path / "x.pdf")
    assert (told.returncode, (tmp_path / "x.pdf").exists()) == (2, False)


def test_a_wrong_file_costs_nothing(tmp_path):
    book = tmp_path / "budget.db"
    duff("ledger", "init", book, "--epsilon", "1")
    duff(*MEDIAN, "--ledger", book, "--out", tmp_path / "median.pdf")
    assert duff(*MEDIAN, "--ledger", book).returncode == 0


def test_the_least_value_of_an_option():
    said = duff("audit", "--draws", "1")
    assert said.returncode == 2
    assert "'--draws': 1 is not in the range x>=2" in said.stderr


def test_completion(tmp_path):
    home = os.environ | {"HOME": str(tmp_path)}
    line = {"_DUFFDP_COMPLETE": "bash_complete", "COMP_WORDS": "duffdp med", "COMP_CWORD": "1"}
    assert duff(env=home | line).stdout.split() == ["plain,median"]
    line |= {"COMP_WORDS": "duffdp median --ke", "COMP_CWORD": "2"}
    assert duff(env=home | line).stdout.split() == ["plain,--keys"]
    line |= {"COMP_WORDS": "duffdp median x.csv --mechanism ", "COMP_CWORD": "4"}
    assert duff(env=home | line).stdout.split() == ["plain,best", "plain,duff"]
    line |= {"COMP_WORDS": "duffdp median ", "COMP_CWORD": "2"}
    assert duff(env=home | line).stdout.split() == ["file,"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_is_installed(tmp_path, shell):
    home = os.environ | {"HOME": str(tmp_path), "SHELL": f"/bin/{shell}"}
    shown = duff("--show-completion", env=home)
    for words in (["--install-completion"], ["--install-completion", shell]):
        made = duff(*words, env=home)
        assert (made.returncode, made.stderr) == (0, "")
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    (script,) = [path for path in files if path.read_text() == shown.stdout.removesuffix("\n")]
    startup = [path for path in files if path != script]
    assert [path.read_text().count(str(script)) for path in startup] == [1] * (shell != "fish")


def test_completion_of_another_shell(tmp_path):
    told = duff("--install-completion", env=os.environ | {"SHELL": "/bin/tcsh"})
    assert (told.returncode, "bash, zsh, fish, got 'tcsh'" in told.stderr) == (2, True)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--by", "sex", "--keys", "a,a"), "--keys must differ from each other, got 'a' twice"),
        (("--by", "sex", "--keys", ""), "Pass for example --keys north,south."),
        (("--contributions", "2"), "--contributions 2 needs --unit, the column"),
        (("--groups-per-person", "2"), "--groups-per-person 2 needs --unit, the column"),
        (("--suppress-below", "5"), "--suppress-below 5 needs --by, the columns"),
        (("--simultaneous",), "--simultaneous needs --interval"),
        (("--interval", "2"), "--interval must be a confidence"),
        (("--contributions", "two"), "'--contributions': 'two' is not a valid integer"),
        (("--interval", "wide"), "'--interval': 'wide' is not a number"),
        (("--mechanism", "worst"), "'--mechanism': 'worst' is not one of 'best', 'duff'"),
        (("--intervall", "2"), "--interval"),
        (("--where", "age >"), "--where \"age >= 18 AND ward <> 'ER'\""),
    ],
)
def test_errors_speak_of_options(options, told):
    said = duff(*MEDIAN, *options)
    assert said.returncode == 2
    assert told in said.stderr
    for word in ("=[", '="', "Input should", "Value error", "pydantic"):
        assert word not in said.stderr


@pytest.mark.parametrize(
    ("parts", "command", "plan"),
    [
        ((Argument("bounds"), " must"), "--bounds must", "bounds must"),
        ((Argument("bounds", (0, 120)),), "--bounds 0 120", "bounds = [0, 120]"),
        ((Argument("digits", 3),), "--digits 3", "digits = 3"),
        ((Argument("by", "region"),), "--by region", 'by = "region"'),
        ((Argument("by", ["region", "sex"]),), "--by region --by sex", 'by = ["region", "sex"]'),
        ((Argument("keys", ["a", "b c"]),), "--keys 'a,b c'", 'keys = ["a", "b c"]'),
        ((Argument("keys", ["a", "b,c"]),), "--keys 'a,\"b,c\"'", 'keys = ["a", "b,c"]'),
        ((Argument("qs", [0.25, 0.75]),), "-q 0.25 -q 0.75", "qs = [0.25, 0.75]"),
        ((Argument("k", 2),), "-k 2", "k = 2"),
        ((Argument("between", (0, 18)),), "--between 0 18", "between = [0, 18]"),
        ((Argument("groups_per_person", 2),), "--groups-per-person 2", "groups_per_person = 2"),
        ((Argument("simultaneous", True),), "--simultaneous", "simultaneous = true"),
        ((Argument("nonnegative", False),), "--negative", "nonnegative = false"),
        ((Argument("interval", None),), "no --interval", "no interval"),
        (
            (Argument("where", "age >= 18 AND ward <> 'ER'"),),
            "--where \"age >= 18 AND ward <> 'ER'\"",
            "where = \"age >= 18 AND ward <> 'ER'\"",
        ),
        ((Argument("where", "cost > '$5'"),), "--where 'cost > '\"'\"'$5'\"'\"''", None),
        (("there is no column 'keys'.",), "there is no column 'keys'.", None),
    ],
)
def test_errors_in_the_words_of_commands_and_plans(parts, command, plan):
    error = DuffError(*parts)
    assert error.worded(COMMAND_LINE) == command
    assert plan is None or error.worded(PLAN) == plan


def test_planning_reads_files_as_releases_do(tmp_path):
    path = tmp_path / "q.csv"
    path.write_text("x;g\n" + "1,5;a\n90,5;b\n" * 200)
    grid = ("--bounds", "0", "100", "--step", "0.5", "-e", "1", "--statistic", "mean")
    told = duff("preview", path, "-c", "x", "--decimal", ",", "--where", "g = 'a'", *grid)
    assert told.returncode == 0, told.stderr
    assert "NOT PRIVATE" in told.stdout
    none = duff("preview", path, "-c", "x", "--decimal", ",", "--where", "h = 'a'", *grid)
    assert none.returncode == 4
    assert "there is no column 'h'" in none.stderr
    shape = duff("preview", "uniform", "--n", "9", "--types", "x=double", *grid)
    assert "--types can only be used with a file, got the distribution 'uniform'" in shape.stderr


def test_a_condition_decides_which_records_planning_sees(tmp_path):
    from duffdp._engines.table import read_columns
    from duffdp._engines.where import read_condition

    path = tmp_path / "p.csv"
    path.write_text("x,g\n1,a\n2,b\n3,a\n")
    (found,) = read_columns(path, ["x"], "int", read_condition("g = 'a'"))
    assert found.tolist() == [1, 3]
