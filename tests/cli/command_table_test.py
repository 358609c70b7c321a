"""`duffdp table`: what it costs, what it writes, and that a wrong one costs nothing."""

from __future__ import annotations

import json
import os
import re

import polars as pl
import pytest

import duffdp
from command_line import ADULT, TYPED_ADULT, duff, rows
from duffdp import Ledger

PLAN = """
source = "people.parquet"
epsilon = 1.5
ledger = "budget.db"
by = "sex"
keys = ["Female", "Male"]
total = true

[statistics]
age = "median"
hours_per_week = [0.25, 0.75]

[bounds]
age = [0, 120]
hours_per_week = [0, 99]
"""


@pytest.fixture
def plan(tmp_path):
    file = tmp_path / "plan.toml"
    file.write_text(PLAN)
    (tmp_path / "people.parquet").symlink_to(TYPED_ADULT)
    Ledger(tmp_path / "budget.db", epsilon=2)
    return file


def left(plan):
    return Ledger(plan.parent / "budget.db").remaining()


def test_a_table(call, plan):
    code, out, _ = call("table", plan, "--check")
    assert code == 0
    assert "age_median in all" in out
    assert "budget of 'data': 2 of 2 left, the plan fits" in out
    assert left(plan) == 2
    code, out, _ = call("table", plan)
    assert (code, left(plan)) == (0, 0.5)
    head, *lines, caption = out.splitlines()
    assert head.split() == [
        *("sex", "count", "age_median", "hours_per_week_0.25", "hours_per_week_0.75")
    ]
    assert [line.split()[0] for line in lines] == ["Female", "Male", "all"]
    assert caption == "2 groups by sex, epsilon=1.5 for each row of the data, intervals 95% each"
    code, _, err = call("table", plan)
    assert (code, left(plan)) == (3, 0.5)
    assert "requested epsilon 1.5, remaining 0.5" in err
    assert call("table", plan, "--check")[0] == 3


@pytest.mark.parametrize("ending", [".csv", ".json", ".md", ".tex", ".html", ".parquet", ".xlsx"])
def test_the_name_of_a_file_says_how(call, plan, ending):
    out = plan.parent / f"table{ending}"
    page = plan.parent / "page.html"
    assert call("table", plan, "--out", out, "--report", page) == (0, "", "")
    assert "takes groups together" in page.read_text()
    assert "Data: people.parquet" in page.read_text()
    columns = ["sex", "count", "count_low", "count_high", "age_median"]
    if ending == ".csv":
        assert list(rows(out.read_text())[0])[:5] == columns
    elif ending == ".json":
        assert list(duffdp.Table.from_dict(json.loads(out.read_text())).wide())[:5] == columns
    elif ending == ".parquet":
        assert pl.read_parquet(out).columns[:5] == columns
    else:
        start = {".md": b"| sex |", ".tex": b"\\begin{tabular}", ".html": b"<table", ".xlsx": b"PK"}
        assert out.read_bytes().startswith(start[ending])


def test_a_pipe_and_another_ledger(plan):
    plan.write_text(PLAN.replace("people.parquet", "-").replace('ledger = "budget.db"', ""))
    given = ("table", plan, "-f", "csv", "--ledger", plan.parent / "budget.db", "--call-id", "a")
    found = []
    for _ in range(2):  # a retry costs nothing
        with open(ADULT, "rb") as pipe:
            ran = duff(*given, stdin=pipe)
        assert (ran.returncode, ran.stderr) == (0, "")
        found.append(ran.stdout)
    assert found[0] == found[1]
    assert len(rows(found[0])) == 3
    assert left(plan) == 0.5


WRONG = [
    ("epsilon = 1.5", "", 2, "the plan needs 'epsilon'"),
    (
        'age = "median"',
        'age = "medain"',
        2,
        "of the table: there is no statistic 'medain'. Did you mean",
    ),
    ("age = [0, 120]", "", 2, "age_median: bounds of the column 'age' are missing"),
    ('age = "median"', 'agee = "median"', 2, "bounds has the column 'age', but statistics has no"),
    (
        "total = true",
        'unit = "nobody"',
        4,
        "duffdp: there is no column 'nobody'. Available columns: 'age', 'sex'",
    ),
    ("total = true", "weights = {age_median = 0}", 2, "weights of 'age_median' must be"),
    ('"people.parquet"', '"none.parquet"', 4, "no file"),
    ('"budget.db"', '"none.db"', 3, "no ledger"),
]


@pytest.mark.parametrize(("old", "new", "code", "told"), WRONG)
def test_a_wrong_table_costs_nothing(call, plan, old, new, code, told):
    assert old in PLAN
    plan.write_text(PLAN.replace(old, new))
    found, out, err = call("table", plan)
    assert (found, out, left(plan)) == (code, "", 2)
    assert told in err


def test_what_could_not_be_written_is_refused_before_it_is_paid(call, plan, monkeypatch):
    assert call("table", plan, "-f", "excel")[0] == 2
    assert call("table", plan, "-o", plan.parent / "none" / "t.csv")[0] == 2
    assert call("table", plan, "--report", plan.parent / "page.txt")[0] == 2
    monkeypatch.setitem(os.sys.modules, "xlsxwriter", None)
    code, _, err = call("table", plan, "-o", plan.parent / "t.xlsx")
    assert (code, "duffdp[tables]" in err) == (2, True)
    assert left(plan) == 2


def test_a_file_that_fails_after_all_loses_nothing(call, plan, monkeypatch):
    write = duffdp.Table.to_parquet

    def full(self, path):
        if left(plan) < 2:  # after the charge, and not when it is rehearsed
            raise OSError(28, "No space left on device")
        write(self, path)

    monkeypatch.setattr(duffdp.Table, "to_parquet", full)
    code, out, err = call("table", plan, "-o", plan.parent / "t.parquet")
    assert (code, left(plan)) == (2, 0.5)
    assert out.startswith("sex,count,")
    assert "printed on standard output instead" in err


def test_all_digits_and_what_was_written(call, plan):
    """CSV is rounded by the error unless all digits are asked for; files are named."""
    data = plan.parent / "people.parquet"
    given = ("mean", data, "-c", "age", "--bounds", "0", "120", "-e", "1", "--interval", "0.9")
    short, long = (
        next(iter(rows(call(*given, "-f", "csv", *more)[1])))["value"]
        for more in ((), ("--all-digits",))
    )
    assert len(short) < len(long)
    mark = call(*given, "-f", "csv", "--csv-separator", ";", "--csv-decimal", ",")[1]
    assert re.search(r"mean;\d+,\d+;\d+,\d+", mark)
    for ending, words in ((".md", "| mean |"), (".tex", r"\toprule"), (".html", "<table")):
        out = plan.parent / f"mean{ending}"
        assert call(*given, "--out", out)[0] == 0
        assert words in out.read_text()
