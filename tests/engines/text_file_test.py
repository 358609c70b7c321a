"""Files of text with declared types: every field by itself, what does not fit is missing."""

from __future__ import annotations

import datetime as dt
import gzip
import json
import os

import pytest

import duffdp
from command_line import duff, rows
from duffdp import DuffError, TextFile, UnsupportedData
from duffdp._engines.files.format import ReadRequest
from duffdp._engines.files.paths import open_path
from duffdp._engines.sql.query import OpenSources
from duffdp._engines.table import column_types

SURE = 1e5
NOON = dt.datetime(2024, 7, 7, 12, 0)
#: For each declared type: the fields that fit with what they are, and fields that do not.
FIELDS = {
    "integer": (
        {"7": 7, " -12 ": -12, "+3": 3, "0009": 9, "9223372036854775807": 2**63 - 1},
        ["1.5", "1e3", "x", "9223372036854775808", "1_000", "0x1F", "--1", "1 2", "٣"],
    ),
    "double": (
        {"1.5": 1.5, " -2 ": -2.0, "1e3": 1000.0, "inf": float("inf")},
        ["1,5", "x", "1.2.3", "--1", "1 2"],
    ),
    "boolean": (
        {"true": True, "F": False, "Yes": True, "0": False, " n ": False},
        ["2", "maybe", "truetrue", "1.0"],
    ),
    "date": (
        {"2024-07-07": NOON.date(), "2024-07-07 12:00": NOON.date()},
        ["07.07.2024", "2024-02-30", "2024-7-7", "epoch", "infinity"],
    ),
    "timestamp": (
        {"2024-07-07T12:00": NOON, "2024-07-07 14:00:00+02:00": NOON},
        ["07.07.2024", "2024-02-30", "epoch", "infinity", "12:00"],
    ),
}
WRITTEN = {
    "%d.%m.%Y %H:%M": (
        {"07.07.2024 12:00": NOON, " 7.7.2024 12:0 ": NOON},
        ["2024-07-07 12:00", "31.02.2024 12:00", "07.07.24 12:00", "epoch", "infinity"],
    ),
    "%m/%d/%y %I:%M:%S.%f %p": (
        {"07/07/24 12:00:00.0 PM": NOON},
        ["13/07/24 12:00:00.0 PM", "07/07/24 13:00:00.0 PM", "07/07/24 12:00:00 PM"],
    ),
    "%d %B %Y, %H o'clock": ({"7 July 2024, 12 o'clock": NOON}, ["7 Juli 2024, 12 o'clock"]),
    "%Y(%b)%d%% %H": ({"2024(Jul)07% 12": NOON}, ["2024(Jul)07 12", "2024Jul07% 12"]),
}


def field_values(path, fields, **how):
    """What the fields of one column are read as; every other column stays away."""
    lines = [f'{number},"{field}"' for number, field in enumerate(fields)]
    path.write_text("\n".join(["number,given", *lines]) + "\n")
    opened = open_path(TextFile(path, **how)).columns(ReadRequest(["number", "given"]))
    found = dict(opened.rows().fetchall())
    return [found[str(number)] for number in range(len(fields))]


@pytest.mark.parametrize("said", FIELDS)
def test_a_field_is_what_is_declared_or_missing(tmp_path, said):
    fit, others = FIELDS[said]
    found = field_values(tmp_path / "a.csv", [*fit, *others], types={"given": said})
    assert found == [*fit.values(), *[None] * len(others)]
    # A field alone is what it is among others.
    for field, value in {**fit, **dict.fromkeys(others)}.items():
        assert field_values(tmp_path / "b.csv", [field], types={"given": said}) == [value]


@pytest.mark.parametrize("written", WRITTEN)
def test_dates_are_read_in_their_format_alone(tmp_path, written):
    fit, others = WRITTEN[written]
    how = {"types": {"given": "timestamp"}, "date_format": written}
    found = field_values(tmp_path / "a.csv", [*fit, *others], **how)
    assert found == [*fit.values(), *[None] * len(others)]
    how["types"] = {"given": "date"}
    assert field_values(tmp_path / "a.csv", [*fit], **how) == [NOON.date()] * len(fit)


def test_decimal_commas(tmp_path):
    fields = ["1,5", "-2", "1e3", "1.5", "1.234,5", "1,2,3", "x"]
    found = field_values(tmp_path / "a.csv", fields, types={"given": "double"}, decimal=",")
    assert found == [1.5, -2.0, 1000.0, None, None, None, None]


LINES = ["ward;cost;seen;id", "ER;12,50;07.07.2024 08:35;1", "ER;7,25;08.07.2024 09:00;2"]
LINES += ["lab;9,75;09.07.2024 10:30;3", "lab;x;yesterday;four"]
HOW = {"decimal": ",", "date_format": "%d.%m.%Y %H:%M"}
SEEN = (dt.datetime(2024, 1, 1), dt.datetime(2025, 1, 1))


@pytest.fixture
def visits(tmp_path):
    path = tmp_path / "visits.csv"
    path.write_text("\n".join(LINES) + "\n")
    return path


@pytest.mark.parametrize("types", [{}, {"cost": "double", "seen": "timestamp", "id": "integer"}])
def test_verbs_take_a_file_with_declared_fields(visits, types):
    given = TextFile(visits, types=types, **HOW)
    cost = {"epsilon": SURE, "column": "cost", "bounds": (0, 100), "step": 0.25}
    assert duffdp.median(given, **cost).value == 9.75
    seen = duffdp.median(given, epsilon=SURE, column="seen", bounds=SEEN, step=60)
    assert seen.value == dt.datetime(2024, 7, 8, 9)
    keys = [1, 2, 3, 4]
    groups = duffdp.count(given, epsilon=SURE, by="id", keys=keys)
    assert [row[-1] for row in groups.rows()] == [1, 1, 1, 0]
    assert (
        duffdp.count(given, epsilon=SURE).value == 4
    )  # a field that does not fit is no less a row
    assert duffdp.count(given, epsilon=SURE, column="cost").value == (3 if types else 4)


def test_a_declared_type_decides_the_step_and_the_kind_of_keys(visits):
    whole = TextFile(visits, types={"id": "integer", "ward": "text"})
    ids = duffdp.median(whole, epsilon=SURE, column="id", bounds=(0, 10))
    assert (ids.value, ids.domain.step) == (2, 1)
    with pytest.raises(DuffError, match="must have the type of that column"):
        duffdp.count(whole, epsilon=1, by="ward", keys=[1])
    with pytest.raises(DuffError, match="must have the type of that column"):
        duffdp.count(whole, epsilon=1, by="id", keys=["1"])
    assert str(column_types(whole, ["id"], OpenSources())["id"]) == "Int64"


def test_the_error_for_a_text_column_names_the_option(visits):
    text = TextFile(visits, types={"cost": "text"})
    with pytest.raises(UnsupportedData, match="declared as text: change types"):
        duffdp.median(text, epsilon=1, column="cost", bounds=(0, 9))


@pytest.mark.parametrize("ending", [".jsonl", ".jsonl.gz", ".csv.gz"])
def test_other_files_of_text(tmp_path, visits, ending):
    path = tmp_path / f"other{ending}"
    names, *rows = (line.split(";") for line in LINES)
    text = "".join(json.dumps(dict(zip(names, row, strict=True))) + "\n" for row in rows)
    content = visits.read_bytes() if "csv" in ending else text.encode()
    path.write_bytes(gzip.compress(content) if ending.endswith("gz") else content)
    given = TextFile(path, types={"cost": "double", "seen": "timestamp"}, **HOW)
    cost = {"epsilon": SURE, "column": "cost", "bounds": (0, 100), "step": 0.25}
    assert duffdp.median(given, **cost).value == 9.75
    seen = duffdp.median(given, epsilon=SURE, column="seen", bounds=SEEN, step=60)
    assert seen.value == dt.datetime(2024, 7, 8, 9)


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"types": {"cost": "duble"}}, "must be one of text, integer.*'duble'.*mean 'double'"),
        ({"types": {"cost": 1}}, "must be one of"),
        ({"types": ["cost"]}, "types must be a mapping from columns"),
        ({"types": {1: "double"}}, "types must be a mapping from columns"),
        ({"decimal": ";"}, 'decimal must be "." or ","'),
        ({"decimal": None}, "decimal must be"),
        ({"date_format": "%d.%m.%Q"}, "'%Q'"),
        ({"date_format": "%d.%m.%Y %z"}, "'%z'"),
        ({"date_format": "%d.%m.%Y %"}, "'%' in"),
        ({"date_format": "%d.%m"}, "a year"),
        ({"date_format": "%d.%Y"}, "a month"),
        ({"date_format": "%m.%Y"}, "a day"),
        ({"date_format": "%d.%m.%Y %y"}, "exactly one of a year"),
        ({"date_format": "%d.%m.%Y %H %I %p"}, "hours at most once"),
        ({"date_format": "%d.%m.%Y %I"}, "%I and %p together"),
        ({"date_format": "%d.%m.%Y\n"}, "one line of text"),
        ({"date_format": 5}, "one line of text"),
    ],
)
def test_what_is_said_about_fields_is_checked_without_a_file(how, said):
    with pytest.raises(DuffError, match=said):
        TextFile("nowhere.csv", **how)


@pytest.mark.parametrize("name", ["a.parquet", "a.duckdb::t", "postgresql://me:secret@host/db::t"])
def test_only_files_of_text_take_types(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.parquet").write_bytes(b"PAR1")
    with pytest.raises(UnsupportedData, match="are only for text files") as error:
        duffdp.count(TextFile(name, types={"a": "text"}), epsilon=1)
    assert "secret" not in str(error.value)


def test_a_type_of_an_unknown_column_is_an_error_before_a_charge(visits, tmp_path):
    book = duffdp.Ledger(tmp_path / "budget.db", epsilon=1)
    given = TextFile(visits, types={"costs": "double"})
    with pytest.raises(UnsupportedData, match=r"no column 'costs'\. Did you mean 'cost'"):
        duffdp.count(given, epsilon=1, ledger=book)
    assert book.spent() == 0


def test_what_is_no_path_is_no_file():
    with pytest.raises(DuffError, match="path must be a path, got int"):
        TextFile(3)
    assert os.fspath(TextFile("a.csv")) == "a.csv"


# ------------------------------------------------------------------------------
# the command and plans

OPTIONS = ["--decimal", ",", "--date-format", "%d.%m.%Y %H:%M"]
COSTS = ["-c", "cost", "-e", "500", "--bounds", "0", "100", "--step", "0.25", "-f", "csv"]


@pytest.mark.parametrize("types", [[], ["--types", "cost=double, seen=timestamp"]])
def test_the_command_takes_the_options(call, visits, types):
    code, out, _ = call("median", visits, *types, *OPTIONS, *COSTS)
    assert (code, rows(out)[0]["value"]) == (0, "9.8")
    piped = duff("median", "-", *types, *OPTIONS, *COSTS, input=visits.read_text())
    assert rows(piped.stdout)[0]["value"] == "9.8"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--types", "cost"], "takes COLUMN=TYPE"),
        (["--types", "cost=double,cost=text"], "each column once"),
        (["--types", "cost=money"], "must be one of"),
        (["--types", "costs=double"], "no column 'costs'"),
        (["--types", "cost=date"], "these bounds need a column of numbers"),
        (["--decimal", ";"], "decimal must be"),
        (["--date-format", "%d"], "a year"),
    ],
)
def test_a_bad_option_is_one_line_and_costs_nothing(call, visits, tmp_path, options, said):
    book = duffdp.Ledger(tmp_path / "budget.db", epsilon=500)
    code, out, err = call("median", visits, *options, *COSTS, "--ledger", tmp_path / "budget.db")
    assert code in (2, 4)
    assert (said in err, out) == (True, "")
    assert book.spent() == 0


@pytest.mark.parametrize("command", ["release", "table"])
def test_plans_take_the_same_words(call, visits, tmp_path, command):
    words = """source = "visits.csv"
epsilon = 5000
types = { cost = "double" }
decimal = ","
date_format = "%d.%m.%Y %H:%M"
"""
    if command == "release":
        words += '[[release]]\nstatistic = "median"\ncolumn = "cost"\n'
        words += "bounds = [0, 100]\nstep = 0.25\n"
    else:
        words += 'interval = false\nstatistics = { cost = "median" }\n'
        words += "bounds = { cost = [0, 100] }\nstep = { cost = 0.25 }\n"
    plan = tmp_path / "plan.toml"
    plan.write_text(words)
    code, out, err = call(command, plan, "-f", "csv")
    assert (code, err) == (0, "")
    assert "9.8" in out
    piped = tmp_path / "piped.toml"
    piped.write_text(words.replace("visits.csv", "-"))
    assert "9.8" in duff(command, piped, "-f", "csv", input=visits.read_text()).stdout
    plan.write_text(words.replace('","', '"?"'))
    assert "decimal must be" in call(command, plan)[2]


@pytest.mark.parametrize("command", ["release", "table"])
def test_a_page_names_the_file_alone(call, tmp_path, command):
    """Not its folder, nor how it was read."""
    (tmp_path / "visits.csv").write_text("age;cost\n30;1,5\n40;2,5\n")
    of_table = 'bounds = {cost = [0, 9]}\nstatistics = {cost = "median"}\n'
    of_plan = '[[release]]\nstatistic = "median"\ncolumn = "cost"\nbounds = [0, 9]\n'
    asked = of_table if command == "table" else of_plan
    plan, page = tmp_path / "plan.toml", tmp_path / "page.md"
    plan.write_text(f'source = "visits.csv"\nepsilon = 1\ndecimal = ","\n{asked}')
    assert call(command, plan, "--report", page)[0] == 0
    assert "- Data: visits.csv\n" in page.read_text()
    assert str(tmp_path) not in page.read_text()
