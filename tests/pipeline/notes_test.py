"""Notes that every result has because of its call alone: printed by the command, shown below
tables of notebooks and by `--check`, and the same for all data.
"""

from __future__ import annotations

import polars as pl
import pytest

import duffdp
from duffdp import TextFile
from duffdp._pipeline.notes import EVERY_GROUP

LARGE = "epsilon 100 is above 10: no meaningful protection"
NUMBERS = "values that are not numbers are ignored"
POINT = (
    "numbers are read as 1280.50, and 1.280 as 1.28; 1280,50 and 1,280.50 are ignored; decimal and "
    "thousands change it"
)
COMMA = (
    "numbers are read as 1280,50; 1.280,50 and 1 280,50 are ignored; "
    'thousands="." or thousands=" " reads them'
)
BOTH = "numbers are read as 1280,50 and 1.280,50"
STEP = "answers are in steps of 1; step changes it"
LISTED = "values that are not listed are ignored; spell them as in the data"
MEMBERS = (
    "values that are not listed count as others, and missing ones are ignored; spell them as in "
    "the data"
)
RECORDS = (
    "every line below the header counts as a row, totals too; lines with too many fields are "
    "ignored"
)
CLAMPED = "values beyond a bound count as that bound"
BINNED = "values beyond the bins count in the nearest bin"
OUTSIDE = f"{CLAMPED}; leave out codes like 99 with where"
DATES = "values that are not dates are ignored; dates are read as {}, date_format changes it"


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
            [RECORDS, NUMBERS, POINT, OUTSIDE.replace(CLAMPED, BINNED)],
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


def test_dates(people):
    import datetime as dt

    day = DAY | {"bounds": (dt.date(2024, 1, 1), dt.date(2024, 12, 31))}
    outside = f"{CLAMPED}; leave out dates like 9999-12-31 with where"
    for layout, shown in (
        (None, "2024-12-31"),
        ("%d.%m.%Y", "%d.%m.%Y"),
        ("%d.%m.%y", "%d.%m.%y, years 00 to 68 as 2000 to 2068 and 69 to 99 as 1969 to 1999"),
    ):
        notes = duffdp.median(TextFile(people, date_format=layout), **day).notes
        assert notes == [RECORDS, DATES.format(shown), outside]


def test_declared_types_have_few_notes(tmp_path):
    frame = pl.DataFrame({"age": [33, 44]})
    frame.write_parquet(tmp_path / "people.parquet")
    for data in (frame, tmp_path / "people.parquet"):
        assert duffdp.mean(data, **AGE).notes == [OUTSIDE]
        assert duffdp.median(data, **AGE).notes == [OUTSIDE, STEP]
        assert duffdp.count(data, epsilon=1).notes == []
    for alone in ([33, 44], frame["age"]):
        notes = duffdp.mean(alone, bounds=(0, 120), epsilon=1).notes
        assert notes[-1] == CLAMPED
    assert duffdp.slope([1, 2], [2, 4], bounds=(-5, 5), step=1, epsilon=1).notes == []
    both = frame.with_columns(half=pl.col("age") / 2)
    slope = duffdp.slope("age", "half", data=both, bounds=(-5, 5), step=1, epsilon=1)
    assert slope.notes == []


def test_notes_of_a_table_name_columns(people):
    table = duffdp.table(
        people,
        {"age": ["mean", "median"], "word": {"statistic": "mode", "categories": ["a", "b"]}},
        epsilon=100,
        bounds={"age": (0, 120)},
    )
    ages = [f"age: {note}" for note in (NUMBERS, POINT, OUTSIDE, STEP)]
    expected = [LARGE, RECORDS, *ages, f"word: {LISTED}"]
    assert table.notes == expected
    assert all(note in table._repr_html_() for note in expected)


def test_the_command_prints_them_in_its_own_words(people, call):
    words = ["mean", people, "-c", "age", "--bounds", "0", "120", "-e", "100", "--decimal", ","]
    code, out, err = call(*words, "--by", "word", "--keys", "a,b", quiet=False)
    comma = COMMA.replace('thousands="."', "--thousands .").replace(
        'thousands=" "', "--thousands ' '"
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
    comma = COMMA.replace("thousands=", "thousands = ")
    expected = [RECORDS, *(f"{column}{note}" for note in (NUMBERS, comma, OUTSIDE))]
    code, out, err = call(kind, plan, "--check", quiet=False)
    assert (code, out.splitlines()[-4:], err) == (0, expected, "")
    assert NUMBERS not in call(kind, plan, "--check")[1]
    code, _, err = call(kind, plan, quiet=False)
    assert (code, err.splitlines()) == (0, expected)


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
