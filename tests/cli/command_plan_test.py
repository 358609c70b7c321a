"""Plans on the command line: what they cost, what comes out, and that a wrong one costs nothing."""

from __future__ import annotations

import re

import duckdb
import pytest

from command_line import ADULT, SURE, TYPED_ADULT, duff, rows
from duffdp import Ledger

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
by = ["sex", "hours_per_week"]
keys = [["Female"], [40, 50]]

[[release]]
statistic = "mode"
column = "education"
categories = ["HS-grad", "Masters"]
mechanism = "best"
"""


@pytest.fixture
def plan(tmp_path):
    file = tmp_path / "plan.toml"
    file.write_text(PLAN)
    (tmp_path / "people.csv").symlink_to(ADULT)
    (tmp_path / "people.parquet").symlink_to(TYPED_ADULT)
    Ledger(tmp_path / "budget.db", epsilon=1.5)
    return file


def test_a_plan(call, plan):
    book = Ledger(plan.parent / "budget.db")
    code, out, _ = call("release", plan, "--check", "--explain")
    assert code == 0
    assert re.search(r"age +median +exponential\(distance\) +0.5 +2  sex, value", out)
    assert "the plan fits" in out
    assert book.spent() == 0
    code, out, _ = call("release", plan, "-f", "csv")
    assert code == 0
    two = "quantile 0.9 of age by sex, hours_per_week"
    names = [row["release"] for row in rows(out)]
    assert names == ["age"] * 2 + [two] * 2 + ["mode of education"]
    assert book.spent() == 1
    assert [charge["loss"]["epsilon"] for charge in book.charges()] == ["1/2", "1/4", "1/4"]
    code, out, err = call("release", plan)
    assert (code, out) == (3, "")
    assert "requested epsilon 1, remaining 0.5" in err
    code, out, _ = call("release", plan, "--check")
    assert (code, "does NOT fit" in out) == (3, True)
    assert book.spent() == 1


def test_a_plan_with_several_numbers(call, plan):
    several = 'statistic = "quantile"\nq = [0.75, 0.25]\ncolumn = "age"\nbounds = [0, 120]\n'
    by = 'by = "sex"\nkeys = ["Female", "Male"]\n'
    summary = f'statistic = "describe"\ncolumn = "age"\nbounds = [0, 120]\n{by}'
    top = f'source = "people.csv"\nepsilon = {SURE}\nmechanism = "duff"\n'
    plan.write_text(f"{top}[[release]]\n{several}[[release]]\n{summary}")
    out = call("release", plan, "--check", "--explain")[1]
    assert re.search(r"exponential\(distance\) x 2 +\S+ +2  value", out)
    assert re.search(r"staircase \+ joint-exponential +\S+ +14  sex, value", out)
    code, out, _ = call("release", plan, "-f", "csv")
    found = rows(out)
    assert code == 0
    two = [("quantile(0.25)", "28"), ("quantile(0.75)", "48")]
    assert [(row["statistic"], row["value"]) for row in found[:2]] == two
    lines = ["count", "mean", "1%", "25%", "50%", "75%", "99%"]
    assert [row["statistic"] for row in found[2:]] == lines * 2
    names = {"quantiles 0.25, 0.75 of age", "summary of age by sex"}
    assert {row["release"] for row in found} == names


@pytest.mark.parametrize("source", ["people.csv", "people.parquet"])
def test_text_stands_for_values_of_its_column(call, plan, source):
    """Keys and categories in quotation marks, of columns that hold numbers."""
    text = PLAN.replace('"people.csv"', f'"{source}"').replace("[40, 50]", '["40", "50"]')
    listed = 'column = "education"\ncategories = ["HS-grad", "Masters"]'
    text = text.replace(listed, 'column = "hours_per_week"\ncategories = ["40", "50"]')
    plan.write_text(text.replace("epsilon = 1.0", f"epsilon = {SURE}").replace("ledger", "# "))
    code, out, _ = call("release", plan, "-f", "csv")
    assert code == 0
    found = rows(out)
    asked = f"SELECT quantile_disc(age, 0.9) FROM '{ADULT}' WHERE sex = 'Female'"
    for row, hours in zip(found[2:4], (40, 50), strict=True):
        ((truth,),) = duckdb.sql(f"{asked} AND hours_per_week = {hours}").fetchall()
        assert (row["hours_per_week"], int(row["value"])) == (str(hours), truth)
    assert found[4]["value"] == "40"


def test_a_plan_with_a_call_id(call, plan):
    first, second = (call("release", plan, "-f", "json", "--call-id", "x") for _ in range(2))
    assert first == second
    assert Ledger(plan.parent / "budget.db").spent() == 1
    file = plan.parent / "all.parquet"
    assert call("release", plan, "-f", "parquet", "--call-id", "x", "--out", file)[0] == 0
    assert duckdb.sql(f"SELECT count(*) FROM '{file}'").fetchall() == [(5,)]


def test_a_plan_over_a_pipe(plan):
    plan.write_text(PLAN.replace('"people.csv"', '"-"'))
    with open(ADULT, "rb") as pipe:
        ran = duff("release", plan, "-f", "csv", "--report", plan.parent / "page.md", stdin=pipe)
    assert (ran.returncode, ran.stderr, len(rows(ran.stdout))) == (0, "", 5)
    assert "Mode of education" in (plan.parent / "page.md").read_text()


THIRD = "release 3 of the plan"
WRONG = [
    ('column = "education"', 'column = "educated"', 4, f"{THIRD}: there is no column 'educated'"),
    ("weight = 2", "weight = 0", 2, "release 1 of the plan (age): weight"),
    ("weight = 2", "wieght = 2", 2, "Did you mean 'weight'"),
    ("weight = 2", "q = 0.5", 2, "q is only valid for quantile"),
    (
        "weight = 2",
        'unit = "nobody"',
        4,
        "plan (age): there is no column 'nobody'",
    ),
    ("weight = 2", "categories = [1, 2]", 2, "categories"),
    ("epsilon = 1.0", "", 2, "'epsilon'"),
    ("epsilon = 1.0", "epsilon = -1", 2, "epsilon must"),
    ("epsilon = 1.0", "epsilon = 1.0\nepsilons = 2", 2, "Did you mean 'epsilon'"),
    ("q = 0.9", "q = 1.5", 2, "release 2 of the plan: q must"),
    ("q = 0.9", "", 2, "quantile needs q. Pass for example q = 0.25."),
    ('"mode"', '"modus"', 2, f"{THIRD}: there is no statistic 'modus'. Did you mean 'mode'?"),
    ('"mode"', '"triangles"', 2, "triangles has an unknown entry 'column'"),
    ('name = "age"', "name = 3", 2, "name must be text"),
    ('name = "age"', 'name = "mode of education"', 2, "have the name 'mode of education'"),
    ("keys = [[", "keys = [", 2, "TOML"),
    ('"people.csv"', '"none.csv"', 4, "no file"),
    ('"people.csv"', "3", 2, "source must be text"),
    (
        '"people.csv"',
        '{ path = "people.csv", decimal = "," }',
        2,
        'Reading options have lines of their own: source = "people.csv", and below it',
    ),
    ('keys = ["Female", "Male"]', "", 2, "keys"),
    ("[40, 50]]", "[40, 50], [1]]", 2, "release 2 of the plan: keys must have one"),
    ("bounds = [0, 120]\nby", "bounds = [5, 5]\nby", 2, "lower bound"),
    ("[0, 120]", '["2020-01-01", 3]', 2, "bounds"),
    ('"budget.db"', '"none.db"', 3, "no ledger"),
    ("[[release]]", "[[results]]", 2, "unknown entry"),
    ("[[release]]", "[release]", 2, "TOML"),
]


@pytest.mark.parametrize(("old", "new", "code", "told"), WRONG)
def test_a_wrong_plan_costs_nothing(call, plan, old, new, code, told):
    assert old in PLAN
    plan.write_text(PLAN.replace(old, new))
    found, out, err = call("release", plan, "-f", "csv")
    assert (found, out) == (code, "")
    assert told in err
    assert Ledger(plan.parent / "budget.db").spent() == 0


def test_a_typed_column_refuses_what_it_cannot_hold(call, plan):
    text = PLAN.replace('"people.csv"', '"people.parquet"').replace("[40, 50]", '["x"]')
    plan.write_text(text)
    found, out, err = call("release", plan, "-f", "csv")
    assert (found, out) == (2, "")
    assert "release 2 of the plan: the column 'hours_per_week' has the type Int64" in err
    assert Ledger(plan.parent / "budget.db").spent() == 0


@pytest.mark.parametrize("kind", ["release", "table"])
def test_a_plan_runs_on_other_data_that_are_read_alike(call, tmp_path, monkeypatch, kind):
    """Relative to the working folder, as every path on the command line; the plan's own source
    need not be there.
    """
    monkeypatch.chdir(tmp_path)
    (tmp_path / "plans").mkdir()
    body = '[[release]]\nstatistic = "mean"\ncolumn = "cost"\nbounds = [0, 5000]\n'
    if kind == "table":
        body = '[statistics]\ncost = "mean"\n[bounds]\ncost = [0, 5000]\n'
    how = 'decimal = ","\nthousands = "."\n'
    plan = tmp_path / "plans" / "plan.toml"
    plan.write_text(f'source = "2024.csv"\nepsilon = 1e6\n{how}{body}')
    (tmp_path / "2025.csv").write_text("cost;n\n" + "1.280,00;1\n" * 50)
    code, out, err = call(kind, plan, "--source", "2025.csv", "-f", "csv")
    assert (code, err) == (0, "")
    assert float(rows(out)[0]["value" if kind == "release" else "cost_mean"]) == pytest.approx(1280)
    assert call(kind, plan)[0] == 4  # its own source is not there
