"""The command line: what comes out of each command, what is refused, and what it costs."""

from __future__ import annotations

import json
import re

import click
import duckdb
import polars as pl
import pytest

import duffdp
from command_line import ADULT, AGES, EDGES, SURE, TYPED_ADULT, rows
from duffdp import Ledger
from duffdp._cli.app import COMMANDS, OTHER_COMMANDS, application
from duffdp._cli.options import read_groups, read_list
from duffdp._text import value
from duffdp.audit.cases import mechanism_cases
from duffdp.statistics.registry import REGISTRY


def test_every_statistic(call):
    out = call("median", ADULT, *AGES, "-e", SURE, "-f", "csv")[1]
    assert rows(out) == [{"statistic": "median", "value": "37"}]
    out = call("quantile", ADULT, *AGES, "-e", SURE, "-q", ".25", "-q", ".5", "-f", "csv")[1]
    assert [row["value"] for row in rows(out)] == ["28", "37"]
    fine = ("--bounds", "0", "120", "--step", "0.01", "-e", "50", "-f", "csv")
    out = call("mean", ADULT, "-c", "age", *fine)[1]
    assert float(rows(out)[0]["value"]) == pytest.approx(38.58, abs=0.02)
    levels = ("--categories", "HS-grad,Some-college")
    code, out, _ = call("mode", ADULT, "--column", "education", *levels, "-e", SURE, "-f", "json")
    assert (code, json.loads(out)["value"]) == (0, "HS-grad")
    out = call("mode", ADULT, "-c", "age", "--bounds", "0", "120", "-e", SURE, "-f", "csv")[1]
    assert rows(out)[0]["value"] == "36"


def test_every_statistic_of_the_registry_has_a_command():
    """One with options of its own, or that of which it is a case."""
    several, _ = REGISTRY["quantile"].for_parameters({"q": [0.25, 0.75]})
    for name in REGISTRY:
        assert name.replace("_", "-") in COMMANDS or name == several


@pytest.mark.parametrize("name", OTHER_COMMANDS)
def test_the_list_of_commands_has_the_summary_of_each(name):
    command = application.get_command(click.Context(application), name)
    assert command.name == name
    assert command.help.splitlines()[0] == COMMANDS[name]


def test_epsilon_is_for_the_whole_command(call, tmp_path):
    Ledger(tmp_path / "b.db", epsilon=1)
    three = ("-q", ".1", "-q", ".5", "-q", ".9", "--ledger", tmp_path / "b.db")
    code, out, _ = call("quantile", ADULT, *AGES, "-e", "0.9", *three, "-f", "json")
    assert code == 0
    release = json.loads(out)
    assert (release["epsilon"], len(release["value"])) == (0.9, 3)
    assert release["statistic"] == {"name": "quantiles", "parameters": {"qs": [0.1, 0.5, 0.9]}}
    assert duffdp.Release.from_dict(release).epsilon == 0.9
    assert Ledger(tmp_path / "b.db").spent() == 0.9


@pytest.mark.parametrize("file", [ADULT, TYPED_ADULT], ids=["csv", "parquet"])
def test_groups_take_the_types_of_their_columns(call, file):
    two = ("--by", "sex", "--keys", "Female,Male", "--by", "hours_per_week", "--keys", "40,50")
    code, out, _ = call("median", file, *AGES, "-e", SURE, "-f", "csv", *two)
    assert code == 0
    found = {(row["sex"], row["hours_per_week"]): int(row["value"]) for row in rows(out)}
    truth = duckdb.sql(
        f"SELECT sex, hours_per_week, quantile_disc(age, 0.5) FROM '{ADULT}' "
        "WHERE hours_per_week IN (40, 50) GROUP BY ALL"
    ).fetchall()
    assert found == {(sex, str(hours)): age for sex, hours, age in truth}


def test_people_dates_and_decimals(call, tmp_path):
    file = tmp_path / "visits.csv"
    lines = (f"{i % 50},2024-03-{i % 9 + 1:02d},{i % 7}.25,{i % 2 == 0}\n" for i in range(500))
    file.write_text("who,day,paid,open\n" + "".join(lines))
    year = ("--bounds", "2024-01-01", "2024-12-31")
    code, out, _ = call("median", file, "--column", "day", *year, "-e", SURE, "-f", "json")
    assert (code, json.loads(out)["value"]) == (0, "2024-03-05")
    paid = ("--column", "paid", "--bounds", "-1", "10", "--step", "0.25", "-e", SURE)
    whose = ("--unit", "who", "--contributions", "3")
    code, out, _ = call("median", file, *paid, "-f", "json", *whose)
    unit = {"kind": "person", "column": "who", "contributions": 3}
    assert (code, json.loads(out)["unit"]) == (0, unit)
    two = ("--by", "day", "--keys", "2024-03-01,2024-04-01", "--by", "open", "--keys", "True")
    code, out, _ = call("mode", file, *paid, "-f", "csv", *two)
    assert code == 0
    found = [(row["day"], row["open"]) for row in rows(out)]
    assert found == [("2024-03-01", "True"), ("2024-04-01", "True")]


def test_files_out(call, tmp_path):
    for ending in ("csv", "json", "parquet"):
        file = tmp_path / f"m.{ending}"
        assert call("median", ADULT, *AGES, "-e", SURE, "--out", file)[:2] == (0, "")
        assert duckdb.sql(f"SELECT value FROM '{file}'").fetchall() == [(37,)]
    file = tmp_path / "m.txt"
    assert call("median", ADULT, *AGES, "-e", SURE, "--out", file)[0] == 0
    assert "epsilon 500 for each row of the data" in file.read_text()
    assert "lattice" not in file.read_text()
    _, _, err = call("median", ADULT, *AGES, "-e", SURE, "--explain")
    assert err == "median of age is drawn by lattice(signed)\n"


MEDIAN = ("median", ADULT, *AGES, "-e", "1")
RANGE = ("--bounds", "0", "9")
WRONG = [
    (("median",), 2, "DATA"),
    (("nothing",), 2, "nothing"),
    (("median", ADULT, "-e", "1"), 2, "--column"),
    (("median", ADULT, *AGES), 2, "--epsilon"),
    (("median", ADULT, *AGES, "-e", "much"), 2, "--epsilon"),
    (("median", ADULT, *AGES, "-e", "-1"), 2, "--epsilon must be"),
    (("median", ADULT, *AGES, "-e", "nan"), 2, "--epsilon must be"),
    (("median", ADULT, "-c", "age", "-e", "1", "--bounds", "9", "3"), 2, "lower bound"),
    (("median", ADULT, "-c", "age", "-e", "1", "--bounds", "a", "b"), 2, "ISO date"),
    (("median", ADULT, "-c", "age", "-e", "1", "--bounds", "0"), 2, "--bounds"),
    ((*MEDIAN, "--by", "sex"), 2, "keys"),
    ((*MEDIAN, "--keys", "a"), 2, "by"),
    ((*MEDIAN, "--by", "sex", "--keys", "a,a"), 2, "twice"),
    ((*MEDIAN, "--mechanism", "laplace"), 2, "laplace"),
    ((*MEDIAN, "--contributions", "2"), 2, "unit"),
    ((*MEDIAN, "-f", "parquet"), 2, "--out"),
    ((*MEDIAN, "--out", "/none/x.csv"), 2, "cannot write"),
    ((*MEDIAN, "--call-id", "x"), 2, "--ledger"),
    ((*MEDIAN, "--pipe", "csv"), 2, "--pipe"),
    (
        ("median", TYPED_ADULT, *AGES, "-e", "1", "--by", "hours_per_week", "--keys", "old"),
        2,
        "'old'",
    ),
    (("quantile", ADULT, *AGES, "-e", "1"), 2, "-q"),
    (("quantile", ADULT, *AGES, "-e", "1", "-q", "2"), 2, "-q must"),
    (("mode", ADULT, "-c", "sex", "-e", "1"), 2, "categories"),
    (("mode", ADULT, "-c", "sex", "-e", "1", "--categories", "@none"), 2, "none"),
    (("median", "none.csv", *AGES, "-e", "1"), 4, "no file"),
    (("median", __file__, *AGES, "-e", "1"), 4, "format of"),
    (("median", ADULT, "-c", "ages", "-e", "1", "--bounds", "0", "9"), 4, "'age'"),
    (("median", TYPED_ADULT, "-c", "sex", "-e", "1", "--bounds", "0", "9"), 4, "numbers"),
    ((*MEDIAN, "--ledger", "none.db"), 3, "no ledger"),
    ((*MEDIAN, "--ledger", ADULT), 3, "not a ledger"),
    (("triangles", EDGES, "-e", "1"), 2, "--nodes"),
    (("stars", EDGES, "-e", "1", "--nodes", "9"), 2, "-k"),
    (("stars", EDGES, "-e", "1", "--nodes", "9", "-k", "1"), 2, "-k must be"),
    (("stars", "none.csv", "-e", "1", "--nodes", "9", "-k", "2"), 4, "none.csv"),
    (("release", "none.toml"), 2, "plan"),
    (("ledger", "verify", "none.db"), 3, "no ledger"),
    (("ledger", "show", ADULT), 3, "not a ledger"),
    (("ledger", "init", "/none/b.db", "-e", "1"), 3, "read-only or missing"),
    (("ledger", "init", "b.db", "-e", "0"), 2, "--epsilon must"),
    (("preview", ADULT, "-e", "1", "--bounds", "0", "9"), 2, "--column"),
    (("preview", EDGES, "-e", "1", "--statistic", "triangles"), 2, "whole graph"),
    (("preview", ADULT, *AGES, "-e", "1", "--trim", "0.1"), 2, "trim is only valid for"),
    (("preview", ADULT, "-e", "1", *RANGE, "--statistic", "slope"), 2, "--x and --y"),
    (("preview", "normal", "--n", "9", "-e", "1", *RANGE, "--group-size", "0"), 2, "--group-size"),
    (("epsilon-for", "normal", "--n", "9", *RANGE), 2, "either --within"),
    (("paper",), 2, "--out"),
    (("paper", "--out", "p", "--data", "none.csv"), 2, "vertebral_column.csv"),
]


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    WRONG,
    ids=lambda v: " ".join(map(str, v))[-60:] if isinstance(v, tuple) else None,
)
def test_one_line_errors(call, tmp_path, monkeypatch, arguments, code, told):
    monkeypatch.chdir(tmp_path)
    found, out, err = call(*arguments)
    assert found == code
    if arguments:
        assert told in err
        assert out == ""
    assert not list(tmp_path.iterdir())


TEXT_COLUMNS = [("-c", "sex", "--bounds", "0", "9"), (*AGES, "--by", "age_group", "--keys", "old")]


@pytest.mark.parametrize("column", TEXT_COLUMNS, ids=["value", "key"])
def test_a_column_of_a_text_file_has_no_type_to_be_refused_for(call, tmp_path, column):
    """What does not fit is missing, so that no record decides about an error."""
    file = tmp_path / "x.csv"
    file.write_text("age,sex,age_group\n33,f,40\n34,m,50\n")
    code, _, err = call("median", file, *column, "-e", "1")
    assert (code, err) == (0, "")


def test_a_line_that_does_not_fit_tells_nothing(call, tmp_path):
    """Two tables that differ in one line, whatever it holds: all but the value is the same."""
    seen = []
    for i, last in enumerate(("", "33,f,a secret\n", '"', "33\n", "\x1b[31m,f\n")):
        file, book = tmp_path / f"{i}.csv", tmp_path / f"{i}.db"
        file.write_text("age,sex\n" + "33,f\n" * 500 + last)
        Ledger(book, epsilon=1)
        code, out, err = call("median", file, *AGES, "-e", "0.5", "--ledger", book)
        kept = Ledger(book)
        seen.append((code, len(out.splitlines()), err, kept.spent(), len(kept.charges())))
    assert seen == [(0, 3, "", 0.5, 1)] * 5


def test_describe(call, tmp_path):
    page, file = tmp_path / "page.html", tmp_path / "out.parquet"
    given = ("describe", ADULT, *AGES, "-e", SURE)
    assert rows(call(*given, "-f", "csv")[1])[4] == {"statistic": "50%", "value": "37"}
    by = ("--by", "sex", "--keys", "Female,Male")
    assert call(*given, *by, "--out", file, "--report", page)[0] == 0
    asked = f"SELECT value FROM '{file}' WHERE sex = 'Male' AND statistic = 'count'"
    assert duckdb.sql(asked).fetchall() == [(21790,)]
    assert re.search(r'data-name="[^"]*count">21,790<', page.read_text())
    assert "Summary of age by sex" in page.read_text()


def test_several_quantiles_by_group_and_a_report(call, tmp_path):
    page = tmp_path / "page.md"
    by = ("--by", "sex", "--keys", "Male,Female", "-f", "csv", "--report", page)
    out = call("quantile", ADULT, *AGES, "-e", SURE, "-q", ".5", "-q", ".25", *by)[1]
    names = [(row["sex"], row["statistic"]) for row in rows(out)]
    assert names == [(sex, f"quantile({q})") for sex in ("Male", "Female") for q in ("0.25", "0.5")]
    assert [int(row["value"]) for row in rows(out)] == pytest.approx([29, 38, 25, 35], abs=1)
    assert "## Quantiles 0.25, 0.5 of age by sex\n" in page.read_text()


@pytest.mark.parametrize(
    ("given", "truth"),
    [(("triangles",), 48_260), (("stars", "-k", "2"), 229_867)],
    ids=["triangles", "stars"],
)
def test_graphs(call, tmp_path, given, truth):
    book, page = tmp_path / "b.db", tmp_path / "page.md"
    Ledger(book, epsilon=200)
    more = ("-e", "100", "--nodes", "5242", "-f", "json", "--ledger", book, "--report", page)
    name, *own = given
    code, out, _ = call(name, EDGES, *own, *more)
    release = json.loads(out)
    assert (code, release["unit"]["kind"]) == (0, "edge")
    assert release["value"] == pytest.approx(truth, abs=50)
    assert Ledger(book).spent() == 100
    assert "One edge of the graph" in page.read_text()


def test_reports(call, tmp_path):
    book, page = tmp_path / "b.db", tmp_path / "page.html"
    Ledger(book, epsilon=3)
    given = ("median", ADULT, *AGES, "-e", "1", "--report", page, "--ledger", book)
    assert call(*given)[0] == 0
    assert "<html" in page.read_text()


@pytest.mark.parametrize("form", ["table", "csv", "json"])
def test_no_text_acts_on_a_terminal(call, tmp_path, monkeypatch, form):
    """Keys, columns, titles and errors with control, format and bidirectional characters."""
    evil = "a\x1b[31m\u202eb\x07"
    file = tmp_path / "x.csv"
    file.write_text(f"age,{evil}\n33,f\n")
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    by = ("--by", evil, "--keys", f"{evil},f")
    code, out, _ = call("median", file, *AGES, "-e", "1", *by, "-f", form)
    told = call("median", file, "-c", evil + "x", "--bounds", "0", "9", "-e", "1")[2]
    made = call("ledger", "init", tmp_path / "b.db", "-e", "1", "--dataset", evil)[1]
    checked = call("ledger", "verify", tmp_path / "b.db")[1]
    listed_charges = call("ledger", "show", tmp_path / "b.db")[1]
    unknown = call("median", file, f"--{evil}")[2]
    assert code == 0
    for text in (out, told, made, checked, listed_charges, unknown):
        assert text
        assert all(char.isprintable() or char == "\n" for char in text)


def test_files_and_pipes_get_values_as_they_are(call, tmp_path):
    evil = "a\x1b[31m"
    file, copy = tmp_path / "x.csv", tmp_path / "out.csv"
    file.write_text("age,g\n33,f\n")
    given = ("median", file, *AGES, "-e", "1", "--by", "g", "--keys", evil, "-f", "csv")
    assert rows(call(*given)[1])[0]["g"] == evil
    assert call(*given, "--out", copy)[0] == 0
    assert rows(copy.read_text())[0]["g"] == evil


@pytest.mark.slow
def test_audit(call):
    code, out, _ = call("audit")
    assert code == 0
    assert "FAILED" not in out
    assert out.count(" ok\n") == len(list(mechanism_cases())) >= 10
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
    picture = tmp_path / "p.png"
    code, out, _ = call("preview", *given, "-e", "0.1", "-e", "1", "--picture", picture)
    assert code == 0
    assert out.count("best") == 2
    assert "synthetic" in out
    assert picture.stat().st_size > 5000
    few = ("normal", "--n", "100", "--bounds", "-10", "10")
    assert call("epsilon-for", *few, "--within", "1")[1].split()[0] == "epsilon"
    code, out, _ = call("preview", ADULT, *AGES, "-e", "1")
    assert (code, "NOT PRIVATE" in out) == (0, True)
    levels = ("--statistic", "mode", "--categories", "40,50", "-c", "hours_per_week")
    code, out, _ = call("preview", TYPED_ADULT, *levels, "-e", "1")
    assert (code, "NOT PRIVATE" in out) == (0, True)
    width = ("--interval", "0.9", "--width", "9")
    assert call("epsilon-for", *few, *width)[1].split()[0] == "epsilon"


PREVIEWS = [
    (("normal", "--n", "99", "--statistic", "count", "--interval", "0.9"), "interval width"),
    (("normal", "--n", "99", "--statistic", "trimmed-mean", "--trim", "0.1", *RANGE), "best"),
    (("normal", "--n", "99", "--statistic", "quantile", "-q", "0.1", "-q", "0.9", *RANGE), "0.9"),
    (("uniform", "--n", "99", "--statistic", "share", "--between", "0", "1", *RANGE), "best"),
    (("uniform", "--group-size", "9", "--contributions", "2", *RANGE), "best"),
    ((ADULT, "-c", "age", "--statistic", "histogram", "--bins", "0,40,120", "--negative"), "40"),
    ((ADULT, "-c", "sex", "--statistic", "share", "--values", "Male"), "best"),
    ((ADULT, "-c", "sex", "--statistic", "top", "-k", "2", "--categories", "Male,Female"), "top_2"),
    ((ADULT, "-c", "age", "--statistic", "count"), "best"),
    ((ADULT, "--statistic", "slope", "--x", "age", "--y", "education_num", *RANGE), "best"),
    ((TYPED_ADULT, "-c", "hours_per_week", "--statistic", "share", "--values", "40,50"), "best"),
]


def test_a_preview_of_a_plan_says_how_to_check_it(call):
    code, _, err = call("preview", "plan.toml", "--epsilon", 1)
    assert code == 2
    assert "takes one statistic and no plan" in err
    assert "duffdp table PLAN --check" in err


@pytest.mark.parametrize(("given", "told"), PREVIEWS, ids=lambda v: " ".join(map(str, v))[-60:])
def test_previews_of_statistics(call, given, told):
    more = () if "slope" not in given else ("--group-size", "200", "--mechanism", "best")
    code, out, _ = call("preview", *given, "-e", "1", "--draws", "20", *more)
    assert (code, told in out) == (0, True), out
    assert ("NOT PRIVATE" in out) == (given[0] not in ("normal", "uniform"))
    assert ("seeded draws" in out) == ("top" in given or "-q" in given)


def test_values():
    assert value("3") == 3
    assert value("0.1") == 0.1
    assert str(value("2024-02-29")) == "2024-02-29"
    assert value("2024-02-29T10:00").hour == 10
    assert read_list('a,"b,c", d') == ["a", "b,c", "d"]
    two = read_groups(["x", "y"], ["a,b", "1,2"])
    assert two == {"by": ["x", "y"], "keys": {"x": ["a", "b"], "y": ["1", "2"]}}


def test_keys_from_a_file(call, tmp_path):
    (tmp_path / "keys.txt").write_text("Male\nFemale\n")
    by = ("--by", "sex", "--keys", f"@{tmp_path / 'keys.txt'}")
    code, out, _ = call("median", ADULT, *AGES, "-e", SURE, "-f", "csv", *by)
    assert (code, [row["sex"] for row in rows(out)]) == (0, ["Male", "Female"])


def test_a_frame_of_groups_is_read_back(call, tmp_path):
    file = tmp_path / "out.parquet"
    by = ("--by", "sex", "--keys", "Male,Female", "--out", file)
    assert (
        call("mode", TYPED_ADULT, "-c", "hours_per_week", "--bounds", "0", "99", "-e", SURE, *by)[0]
        == 0
    )
    assert pl.read_parquet(file).rows() == [("Male", "mode", 40), ("Female", "mode", 40)]


def test_the_step_of_dates_is_said_in_words(call, tmp_path):
    (tmp_path / "x.csv").write_text("day\n2024-05-01\n")
    dated = ("--bounds", "2024-01-01", "2024-12-31")
    err = call("median", tmp_path / "x.csv", "-c", "day", "-e", "1", *dated, quiet=False)[2]
    assert err.endswith("\nanswers are rounded to days; for weeks, pass --step 7\n")


def test_a_hint_ends_with_one_mark(call):
    assert "'mean'? Try 'duffdp --help'." in call("medain")[2]
