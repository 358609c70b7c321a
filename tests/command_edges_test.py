"""Edges of the command line: bare words, pipes that end, files by their ending, completion, and
errors in the words of options.
"""

from __future__ import annotations

import os
import subprocess

import polars as pl
import pytest

from command_line import ADULT, COMMAND, duff
from duffdp.cli.option_words import in_options

MEDIAN = ("median", ADULT, "-c", "age", "-e", "1", "--bounds", "0", "120")


@pytest.mark.parametrize("words", [(), ("ledger",)])
def test_a_bare_word_shows_the_help(words):
    told = duff(*words)
    assert (told.returncode, told.stderr) == (0, "")
    assert told.stdout == duff(*words, "--help").stdout
    assert "Commands:" in told.stdout


def test_a_reader_that_goes_away_ends_the_command_quietly():
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    for words in ([*MEDIAN, "--step", "1"], [*MEDIAN, "--step", "1", "-f", "json"], ["--help"]):
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
    said = f"duffdp: {words[-1]} must be known without the data, got the data themselves. "
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
    assert "says no format that is known: .txt, .json, .csv, .parquet, .xlsx" in told.stderr
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
    assert "'--draws': expected 2 or more, got '1'" in said.stderr


def test_completion(tmp_path):
    home = os.environ | {"HOME": str(tmp_path)}
    asked = {"_DUFFDP_COMPLETE": "complete_bash", "COMP_WORDS": "duffdp med", "COMP_CWORD": "1"}
    assert duff(env=home | asked).stdout.split() == ["median"]
    asked |= {"COMP_WORDS": "duffdp median --ke", "COMP_CWORD": "2"}
    assert duff(env=home | asked).stdout.split() == ["--keys"]
    made = duff("--install-completion", "bash", env=home)
    assert made.returncode == 0
    assert (tmp_path / ".bash_completions" / "duffdp.sh").exists()


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--by", "sex", "--keys", "a,a"), "--keys must differ from each other, got 'a' twice"),
        (("--by", "sex", "--keys", ""), "Pass for example --keys north,south."),
        (("--contributions", "2"), "--contributions 2 needs --unit, the column"),
        (("--groups-per-person", "2"), "--groups-per-person 2 needs --unit, the column"),
        (("--suppress-below", "5"), "--suppress-below 5 needs --by, the columns"),
        (("--simultaneous",), "--simultaneous says how intervals hold"),
        (("--interval", "2"), "--interval must be a confidence"),
        (("--contributions", "two"), "'--contributions': expected a whole number, got 'two'"),
        (("--interval", "wide"), "'--interval': expected a number, got 'wide'"),
        (("--mechanism", "worst"), "'--mechanism': 'worst' is not one of 'best', 'duff'"),
        (("--intervall", "2"), "(Possible options: --interval)"),
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
    ("text", "expected"),
    [
        ("Pass for example bounds=(0, 120).", "Pass for example --bounds 0 120."),
        (
            "Pass bounds=(0, 1), or bounds=duffdp.Digits(3) instead.",
            "Pass --bounds 0 1, or --digits 3 instead.",
        ),
        ('by=["region", "sex"]', "--by region --by sex"),
        ('Pass contributions=1 or covers="data".', "Pass --contributions 1 or --covers data."),
        ("Pass interval=None", "Pass no --interval"),
        ("qs must differ, got qs=[0.1, 0.1]", "-q must differ, got -q 0.1 -q 0.1"),
        ("keys of the column 'x=3' are fine", "keys of the column 'x=3' are fine"),
        ("got a value 'step=3'", "got a value 'step=3'"),
        ("share needs either values or between, got both.", None),
        ("there is no column 'keys'. Hint: 'key'.", "there is no column 'keys'. Hint: 'key'."),
    ],
)
def test_words_of_options(text, expected):
    either = "share needs either --values or --between, got both."
    assert in_options(text) == (expected or either)


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
    assert "--types is for the records of a file, got the shape 'uniform'" in shape.stderr


def test_a_condition_decides_which_records_planning_sees(tmp_path):
    from duffdp.engines.condition import read_condition
    from duffdp.engines.tables import read_columns

    path = tmp_path / "p.csv"
    path.write_text("x,g\n1,a\n2,b\n3,a\n")
    (found,) = read_columns(path, ["x"], "int", read_condition("g = 'a'"))
    assert found.tolist() == [1, 3]
