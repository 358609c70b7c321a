"""Notes that every result has because of its call alone: printed by the command, shown below
tables of notebooks and by `--check`, and the same for all data.
"""

from __future__ import annotations

import datetime as dt

import polars as pl
import pytest

import duffdp
from duffdp import TextFile
from duffdp._cli.dialects import COMMAND_LINE, PLAN
from duffdp._pipeline.notes import EVERY_GROUP, notes_about
from duffdp._studio.choices import FORM

LARGE = "epsilon 100 is above 10: no meaningful protection"
NUMBERS = "values that are not numbers are ignored"
POINT = (
    "numbers are read as 1280.50, and 1.280 as 1.28; 1280,50 and 1,280.50 are ignored; use "
    'TextFile(..., decimal=",") or TextFile(..., thousands=",") to read them'
)
COMMA = (
    "numbers are read as 1280,50; 1.280,50 and 1 280,50 are ignored; "
    'use TextFile(..., thousands=".") or TextFile(..., thousands=" ") to read them'
)
BOTH = "numbers are read as 1280,50 and 1.280,50"
STEP = "answers are rounded to whole numbers; for decimals, pass step=0.1"
TABLE_STEP = STEP.replace("step=0.1", 'step={"age": 0.1}')
LISTED = "values that are not listed are ignored; spell the list as in the data"
MEMBERS = (
    "values that are not listed count as others, and missing ones are ignored; spell the list as "
    "in the data"
)
DATES = (
    "values that are not dates are ignored; dates are read as {}; use "
    'TextFile(..., date_format="{}") for another layout'
)
RECORDS = (
    "every line below the header counts as a row, totals too; lines with too many fields are "
    "ignored"
)
CLAMPED = "values beyond a bound count as that bound"
BINNED = "values beyond the bins are ignored"
OUTSIDE = f"{CLAMPED}; leave out codes like 99 with where"


@pytest.fixture
def people(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("age;word;day\n33;a;2024-05-01\n44;b;01.05.2024\nold;;\n")
    return path


AGE = {"column": "age", "bounds": (0, 120), "epsilon": 1.0}
DAY = {"column": "day", "bounds": ("2024-01-01", "2024-12-31"), "epsilon": 1.0, "step": 1}
GROUPS = {"by": "word", "keys": ["a", "b"]}


@pytest.mark.parametrize(
    ("how", "release", "notes"),
    [
        ({}, lambda data: duffdp.median(data, **AGE), [RECORDS, NUMBERS, POINT, OUTSIDE, STEP]),
        ({}, lambda data: duffdp.median(data, **AGE, step=1), [RECORDS, NUMBERS, POINT, OUTSIDE]),
        ({}, lambda data: duffdp.mean(data, **AGE), [RECORDS, NUMBERS, POINT, OUTSIDE]),
        (
            {"decimal": ","},
            lambda data: duffdp.mean(data, **AGE),
            [RECORDS, NUMBERS, COMMA, OUTSIDE],
        ),
        (
            {"decimal": ",", "thousands": "."},
            lambda data: duffdp.mean(data, **AGE),
            [RECORDS, NUMBERS, BOTH, OUTSIDE],
        ),
        (
            {"types": {"age": "double"}},
            lambda data: duffdp.mean(data, **AGE | {"epsilon": 100}),
            [LARGE, RECORDS, NUMBERS, POINT, OUTSIDE],
        ),
        (
            {},
            lambda data: duffdp.mean(data, **AGE, **GROUPS),
            [EVERY_GROUP, RECORDS, NUMBERS, POINT, OUTSIDE],
        ),
        ({}, lambda data: duffdp.count(data, epsilon=10), [RECORDS]),
        (
            {},
            lambda data: duffdp.mode(data, column="word", categories=["a", "b"], epsilon=1.0),
            [RECORDS, LISTED],
        ),
        (
            {},
            lambda data: duffdp.share(data, column="word", values=["a"], epsilon=1.0),
            [RECORDS, MEMBERS],
        ),
        (
            {},
            lambda data: duffdp.histogram(data, column="age", bins=[0, 50, 120], epsilon=1.0),
            [RECORDS, NUMBERS, POINT, BINNED],
        ),
    ],
)
def test_notes_of_a_release(people, how, release, notes):
    data = TextFile(people, **how) if how else people
    made = release(data)
    assert made.notes == notes
    html = made._repr_html_()
    assert all(note.replace('"', "&quot;") in html for note in notes)
    assert not any(note in made.to_html() for note in notes)  # what is published is the table


@pytest.mark.parametrize(
    ("options", "ignored"),
    [
        ({}, "12.5 and 1.280 and 1,280"),
        ({"decimal": ",", "thousands": "."}, "12,5 and 1,280"),
    ],
)
def test_declared_whole_numbers_say_what_they_ignore(people, options, ignored):
    text = TextFile(people, types={"age": "integer"}, **options)
    words = f"values that are not whole numbers are ignored, also {ignored}; declare double"
    notes = duffdp.mean(text, **AGE).notes
    assert any(note.startswith(words) for note in notes)
    assert not any("numbers are read as" in note for note in notes)


def test_dates(people):
    day = DAY | {"bounds": (dt.date(2024, 1, 1), dt.date(2024, 12, 31))}
    outside = f"{CLAMPED}; leave out dates like 9999-12-31 with where"
    for layout, shown, other in (
        (None, "2024-12-31", "%d.%m.%Y"),
        ("%d.%m.%Y", "%d.%m.%Y", "%Y-%m-%d"),
        (
            "%d.%m.%y",
            "%d.%m.%y, years 00 to 68 as 2000 to 2068 and 69 to 99 as 1969 to 1999",
            "%Y-%m-%d",
        ),
    ):
        notes = duffdp.median(TextFile(people, date_format=layout), **day).notes
        assert notes == [RECORDS, DATES.format(shown, other), outside]


def test_declared_types_need_no_words(tmp_path):
    frame = pl.DataFrame({"age": [33, 44]})
    frame.write_parquet(tmp_path / "people.parquet")
    for data in (frame, tmp_path / "people.parquet"):
        assert duffdp.mean(data, **AGE).notes == []
        assert duffdp.mean(data, **AGE, where="age > 3").notes == []
        assert duffdp.median(data, **AGE).notes == [STEP]
        assert duffdp.count(data, epsilon=1).notes == []
    assert duffdp.slope([1, 2], [2, 4], bounds=(-5, 5), step=1, epsilon=1).notes == []


def test_notes_of_a_table_name_columns(people):
    table = duffdp.table(
        people,
        {"age": ["mean", "median"], "word": {"statistic": "mode", "categories": ["a", "b"]}},
        epsilon=100,
        bounds={"age": (0, 120)},
    )
    ages = [f"age: {note}" for note in (NUMBERS, POINT, OUTSIDE, TABLE_STEP)]
    expected = [LARGE, RECORDS, *ages, f"word: {LISTED}"]
    assert table.notes == expected
    html = table._repr_html_()
    assert all(note.replace('"', "&quot;") in html for note in expected)


def test_the_command_prints_them_in_its_own_words(people, call):
    words = ["mean", people, "-c", "age", "--bounds", "0", "120", "-e", "100", "--decimal", ","]
    code, out, err = call(*words, "--by", "word", "--keys", "a,b", quiet=False)
    comma = COMMA.replace('TextFile(..., thousands=".")', "--thousands '.'").replace(
        'TextFile(..., thousands=" ")', "--thousands ' '"
    )
    assert (code, err.splitlines()) == (
        0,
        [LARGE, EVERY_GROUP, RECORDS, NUMBERS, comma, OUTSIDE.replace("where", "--where")],
    )
    assert NUMBERS not in out
    assert call(*words, "--quiet", quiet=False)[2] == ""
    # An error is one line, as ever.
    assert call(*words[:3], "nobody", *words[4:], quiet=False)[2].count("\n") == 1


@pytest.mark.parametrize("kind", ["release", "table"])
def test_plans_print_them_too(tmp_path, people, call, kind):
    body = '[[release]]\nstatistic = "mean"\ncolumn = "age"\nbounds = [0, 120]\n'
    if kind == "table":
        body = '[statistics]\nage = "mean"\n[bounds]\nage = [0, 120]\n'
    plan = tmp_path / "plan.toml"
    plan.write_text('source = "people.csv"\nepsilon = 1\ndecimal = ","\n' + body)
    column = "age: " if kind == "table" else ""
    comma = COMMA.replace("TextFile(..., thousands=", "thousands = ").replace('")', '"')
    expected = [RECORDS, *(f"{column}{note}" for note in (NUMBERS, comma, OUTSIDE))]
    code, out, err = call(kind, plan, "--check", quiet=False)
    assert (code, out.splitlines()[-4:], err) == (0, expected, "")
    assert NUMBERS not in call(kind, plan, "--check")[1]
    code, _, err = call(kind, plan, quiet=False)
    assert (code, err.splitlines()) == (0, expected)


DAYS = (dt.date(2024, 1, 1), dt.date(2024, 12, 31))
TIMES = (dt.datetime(2024, 1, 1), dt.datetime(2024, 12, 31))


@pytest.mark.parametrize(
    ("bounds", "note"),
    [
        ((0, 120), "whole numbers; for decimals, pass step=0.1"),
        ((0.0, 5.0), "steps of 1e-05; for coarser steps, pass step=0.01"),
        ((0.0, 1e14), "steps of 100; for finer steps, pass step=1"),
        (DAYS, "days; for weeks, pass step=7"),
        (TIMES, "steps of 60 seconds; for hours, pass step=3600"),
    ],
)
def test_the_step_that_nobody_chose(bounds, note):
    release = duffdp.median([bounds[0]], bounds=bounds, epsilon=1)
    assert release.notes[-1] == f"answers are rounded to {note}"
    step = float(note.rpartition("=")[2])
    assert (
        duffdp.median([bounds[0]], bounds=bounds, epsilon=1, step=step).notes == release.notes[:-1]
    )


def test_steps_in_the_words_of_each_place():
    release = duffdp.median([40], bounds=(0, 120), epsilon=1)
    *_, note = notes_about([(release.facts, release.reading)])
    note = note._replace(about=("age",)).in_table()
    assert note.worded(COMMAND_LINE).endswith("pass --step 0.1")
    assert note.worded(PLAN).endswith("pass [step] with age = 0.1")
    assert note.worded(FORM).endswith("type 0.1 under “Step” of age")


def test_graphs_have_no_step():
    assert duffdp.triangles([(1, 2)], nodes=10, epsilon=1).notes == [
        "rows that are not pairs of whole numbers are ignored"
    ]


ODD = ["", "1.280,00", "x", '"', "\x1b[31m", "1e999", "nan"]


def test_no_record_changes_a_note(tmp_path, call):
    """Tables that differ in one record: the same lines and the same shape."""
    seen = set()
    for odd in ODD:
        (tmp_path / "t.csv").write_text("age;word\n33;a\n" + f"{odd};a\n" * bool(odd))
        words = ("median", tmp_path / "t.csv", "-c", "age", "--bounds", "0", "120", "-e", "1")
        code, out, err = call(*words, "--by", "word", "--keys", "a,b", quiet=False)
        seen.add((code, out.count("\n"), err))
    assert len(seen) == 1
    assert seen.pop()[2].count("\n") == 6


def test_an_engine_that_no_test_runs_on():
    """polars behind ibis; all others that the tests use have no such note."""
    import ibis

    frame = pl.DataFrame({"age": [33, 44]})
    note = "polars behind ibis is not tested with duffdp; check it first with {}".format(
        "duffdp.audit.check_engine"
    )
    table = ibis.polars.connect({"people": frame}).table("people")
    assert note in duffdp.mean(table, **AGE).notes
    for tested in (frame, frame.lazy(), ibis.memtable(frame)):
        assert note not in duffdp.mean(tested, **AGE).notes
