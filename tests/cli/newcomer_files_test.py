"""Files as offices really write them: codes for missing answers, birth years of two digits, people
with two spellings, lines with too many fields, merged cells, SQLite columns of mixed types. Each
release is right, or has a note that leads to the mistake and depends on the call alone.
"""

from __future__ import annotations

import datetime as dt
import json
import sqlite3
from contextlib import closing
from functools import partial

import openpyxl
import polars as pl
import pytest

import duffdp
from duffdp import DuffError, TextFile

SURE = 1e6
CODES = "values beyond a bound count as that bound; leave out codes like 99 with"
LINES = "lines with too many fields are ignored"


@pytest.fixture
def run(call):
    """A command with the notes that every call has: exit code, output, errors."""
    return partial(call, quiet=False)


@pytest.fixture
def write(tmp_path):
    """A text file of some lines."""

    def written(name, *lines):
        path = tmp_path / name
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return path

    return written


def value(answer):
    code, out, _ = answer
    assert code == 0
    return json.loads(out)["value"]


def test_codes_for_a_missing_answer(write, run):
    """97, 98 and 99 in a scale from 0 to 10 count as 10."""
    answers = [5, 7, 97, 98, 99] * 60
    path = write("survey.csv", "id,satisfaction", *(f"{i},{x}" for i, x in enumerate(answers)))
    asked = {"column": "satisfaction", "bounds": (0, 10), "epsilon": SURE}
    for data in (path, pl.read_csv(path)):
        release = duffdp.mean(data, **asked)
        assert release.value == pytest.approx(8.4)
        # Files of text have codes; a frame is taken for data that somebody has prepared.
        assert (f"{CODES} where" in str(release)) is (data is path)
        right = duffdp.mean(data, **asked, where="satisfaction < 97")
        assert right.value == pytest.approx(6)
    command = ("mean", path, "-c", "satisfaction", "--bounds", 0, 10, "-e", SURE, "-f", "json")
    assert f"{CODES} --where" in run(*command)[2]
    assert value(run(*command, "--where", "satisfaction < 97")) == pytest.approx(6)
    _, out, _ = run("profile", path, "-e", 100, "--bounds", "satisfaction", 0, 10)
    assert "outside of the bounds, and count as the nearest bound" in out
    binned = duffdp.histogram(path, column="satisfaction", bins=[0, 5, 10], epsilon=SURE)
    assert sum(binned.value.values()) == 120
    assert "values beyond the bins are ignored" in str(binned)


def test_birth_years_of_two_digits(write, run):
    """The year 45 is 2045, which counts as the upper bound."""
    path = write("born.csv", "id;born", *(f"{i};12.03.{30 + i % 30}" for i in range(300)))
    words = "years 00 to 68 as 2000 to 2068 and 69 to 99 as 1969 to 1999"
    born = {"column": "born", "bounds": (dt.date(1925, 1, 1), dt.date(2010, 12, 31))}
    release = duffdp.median(TextFile(path, date_format="%d.%m.%y"), **born, epsilon=SURE)
    assert release.value == dt.date(2010, 12, 31)
    assert words in str(release)
    command = ("median", path, "-c", "born", "--bounds", "1925-01-01", "2010-12-31", "-e", 1)
    assert words in run(*command, "--date-format", "%d.%m.%y")[2]
    assert words in run("profile", path, "-e", 1, "--date-format", "%d.%m.%y")[2]
    assert words not in run(*command, "--date-format", "%d.%m.%Y")[2]


def test_conditions_on_text_and_on_unreadable_fields(write, run):
    lines = [f"{'ER' if i % 2 else 'eye'};1.{100 + i},50" for i in range(300)]
    path = write("visits.csv", "ward;cost", *lines)
    release = duffdp.count(path, where="ward = 'er'", epsilon=SURE)
    assert release.value == 0
    words = (
        ": a missing or unreadable value satisfies no comparison; text is compared as spelled, "
        "also NA"
    )
    assert f"where{words}" in str(release)
    command = ("count", path, "--where", "cost > 1000", "-e", SURE, "--types", "cost=double")
    code, out, err = run(*command, "-f", "json")
    assert (code, json.loads(out)["value"]) == (0, 0)
    assert f"--where{words}" in err
    assert "1280,50 and 1,280.50 are ignored; use --decimal" in err
    assert value(run(*command, "--decimal", ",", "--thousands", ".", "-f", "json")) == 300
    assert words not in run("count", path, "-e", 1)[2]


def test_people_with_two_spellings_and_without_a_name(write, run):
    """The number of people is wrong, and nobody may say so: a note says what a person is."""
    people = [f"{' ' * (i % 2)}p{i // 2}" if i % 3 else "" for i in range(300)]
    path = write("people.csv", "patient,cost", *(f"{one},100" for one in people))
    words = "rows without patient are ignored, and each spelling of patient is another person"
    release = duffdp.count(path, unit="patient", epsilon=SURE)
    assert release.value == 200
    assert words in str(release)
    assert words in run("count", path, "--unit", "patient", "-e", 1)[2]


def test_a_sum_over_people_is_not_that_of_all_rows(write, run):
    path = write("invoices.csv", "customer,amount", *(f"c{i // 9},100" for i in range(900)))
    asked = {"column": "amount", "bounds": (0, 1000), "unit": "customer", "epsilon": SURE}
    release = duffdp.sum(path, **asked)
    assert release.value == 10_000
    words = "the rows chosen at random, at most 1 row per person; for all rows, a sum may be"
    assert f"answers are for {words}" in str(release)
    assert "intervals cover the rows chosen at random" in str(
        duffdp.sum(path, **asked, interval=0.95)
    )
    command = ("sum", path, "-c", "amount", "--bounds", 0, 1000, "--unit", "customer", "-e", 1)
    assert words in run(*command)[2]
    assert words not in run("count", path, "--unit", "customer", "-e", 1)[2]


def test_lines_with_too_many_fields(write, run):
    """A comma in a name that is not quoted."""
    names = ["Doe, Jane", "Roe"]
    path = write("names.csv", "id,name", *(f"{i},{names[i % 2]}" for i in range(300)))
    release = duffdp.count(path, epsilon=SURE)
    assert release.value == 150
    assert LINES in str(release)
    for command in ("count", "profile"):
        assert LINES in run(command, path, "-e", 1)[2]
    packed = path.with_name("folder")
    packed.mkdir()
    path.rename(packed / "names.csv")
    assert LINES in str(duffdp.count(packed, epsilon=1))


def test_missing_answers_have_no_share(write):
    path = write(
        "answers.csv", "id,smoker", *(f"{i},{['yes', 'no', ''][i % 3]}" for i in range(300))
    )
    release = duffdp.share(path, column="smoker", values=["yes"], epsilon=SURE)
    assert release.value == pytest.approx(0.5)
    assert "count as others, and missing ones are ignored" in str(release)


def test_booleans_in_another_language(write):
    path = write("answers.csv", "id,smoker", *(f"{i},{['ja', 'nein'][i % 2]}" for i in range(300)))
    data = TextFile(path, types={"smoker": "boolean"})
    release = duffdp.mean(data, column="smoker", bounds=(0, 1), epsilon=1)
    assert "values other than true, yes, t, y, 1, false, no, f, n and 0 are ignored" in str(release)
    assert "numbers are read as" not in str(release)


def test_columns_that_json_objects_lack(write, run):
    path = write("people.jsonl", *('{"age": 40, "sex": "f"}' for _ in range(300)))
    words = "a column that an object does not have is missing in it; spell columns as in the file"
    release = duffdp.count(path, where="Sex = 'f'", epsilon=SURE)
    assert release.value == 0
    assert words in str(release)
    assert words in run("median", path, "-c", "aeg", "--bounds", 0, 120, "-e", 1)[2]


def test_merged_cells_and_formulas(tmp_path, run):
    book = openpyxl.Workbook()
    book.active.append(["region", "n", "double"])
    for i in range(300):
        key = ["north", "south"][i // 150] if i % 150 == 0 else None
        book.active.append([key, 5, f"=B{i + 2}*2"])
    book.active.merge_cells("A2:A151")
    book.active.merge_cells("A152:A301")
    path = tmp_path / "regions.xlsx"
    book.save(path)
    groups = {"by": "region", "keys": ["north", "south"]}
    release = duffdp.count(path, **groups, epsilon=SURE)
    assert [row[-1] for row in release.rows()] == [1, 1]
    words = "only the first of merged cells has their value, and a formula has the result that was"
    assert words in str(release)
    command = ("mean", path, "-c", "double", "--bounds", 0, 100, "-e", 1)
    assert words in run(*command)[2]
    _, out, err = run("profile", path, "-e", 100, "-f", "csv")
    assert words in err
    missing = [float(line.split(",")[5]) for line in out.splitlines()[1:4]]
    assert missing == pytest.approx([0.993, 0, 1], abs=0.01)


@pytest.fixture
def database(tmp_path):
    path = tmp_path / "office.db"
    with closing(sqlite3.connect(path)) as base:
        base.execute("CREATE TABLE people (age INTEGER, price INT, seen TIMESTAMP)")
        rows = [(40 if i % 2 else "k.A.", 0.5 if i % 2 else 1, 1_704_067_200) for i in range(300)]
        base.executemany("INSERT INTO people VALUES (?, ?, ?)", rows)
        base.commit()
    return f"{path}::people"


def test_sqlite_values_of_another_type(database, run):
    words = "values that do not fit the type that SQLite declares for their column are ignored"
    asked = {"bounds": (0, 100), "epsilon": SURE}
    assert duffdp.mean(database, column="age", **asked).value == pytest.approx(40)
    # A half is no whole number: it is ignored, and not rounded.
    release = duffdp.mean(database, column="price", **asked)
    assert release.value == pytest.approx(1)
    assert words in str(release)
    # Neither is a number that SQLite writes without a point, nor what it leaves as text.
    with closing(sqlite3.connect(database.partition("::")[0])) as base:
        rows = [(value,) for value in (1e-07, -5e-324, 1e20, "1_000", "0x10")]
        base.executemany("INSERT INTO people (price) VALUES (?)", rows)
        base.commit()
    counted = duffdp.count(database, column="price", epsilon=SURE)
    assert counted.value == pytest.approx(150)
    year = ("2024-01-01", "2024-12-31")
    assert words in run("median", database, "-c", "seen", "--bounds", *year, "-e", 1)[2]
    assert words in run("profile", database, "-e", 1)[2]
    frame = pl.DataFrame({"price": [1, 2]})
    frame.write_parquet(database.partition("::")[0] + ".parquet")
    parquet = duffdp.count(database.partition("::")[0] + ".parquet", epsilon=1)
    assert words not in str(parquet)


def test_notes_of_a_pattern_and_of_a_missing_database(database, run):
    words = "values that do not fit the type that SQLite declares for their column are ignored"
    pattern = database.replace("office", "off*")
    assert words in str(duffdp.count(pattern, epsilon=1))
    assert words in run("profile", pattern, "-e", 1)[2]
    missing = database.replace("office", "officer")
    for release in (duffdp.count, duffdp.profile):
        with pytest.raises(duffdp.DuffError, match="Did you mean 'office"):
            release(missing, epsilon=1)


def test_a_query_that_fails_for_most_rows(write, run):
    path = write("visits.csv", "ward;cost", *(f"ER;1.{100 + i},50" for i in range(300)))
    words = "sql: if an expression fails for a row, its value is missing"
    query = "SELECT CAST(cost AS DOUBLE) AS cost FROM data"
    cost = {"column": "cost", "bounds": (0, 5000), "epsilon": 1}
    assert words in str(duffdp.mean(duffdp.Query(path, query), **cost))
    command = ("mean", path, "-c", "cost", "--bounds", 0, 5000, "-e", 1)
    assert f"--{words}" in run(*command, "--sql", query)[2]
    # Rows of a person that the query adds up are all used.
    totals = duffdp.Query(path, "SELECT ward, count(*) AS visits FROM data GROUP BY ward")
    release = duffdp.sum(totals, column="visits", unit="ward", bounds=(0, 500), epsilon=SURE)
    assert release.value == pytest.approx(300)
    assert "rows chosen at random" not in str(release)


def test_a_profile_of_a_folder_names_what_is_ignored(write, run):
    """Once the fields that are no numbers were shown as missing, if files were in a folder."""
    path = write("a.csv", "id,quote", *(f"{i},{i % 100}{' %' * (i % 2)}" for i in range(300)))
    folder = path.with_name("quotes")
    folder.mkdir()
    path.rename(folder / "a.csv")
    look = duffdp.profile(folder, epsilon=100, columns=["quote"], rng=1)
    assert look.columns["quote"].unreadable == pytest.approx(0.5, abs=0.02)
    assert "are not numbers, so statistics ignore them" in look.remarks[0]
    code, out, err = run("profile", folder, "-e", 100, "--columns", "quote")
    assert code == 0
    assert "are not numbers" in out
    assert "line 1 names the columns" in err


def test_names_of_pandas_columns():
    """Two of one name, numbers, and tuples: an error before the data are read."""
    import pandas as pd

    asked = {"column": "x", "bounds": (0, 10), "epsilon": 1}
    twice = pd.DataFrame([[1, 2]] * 90, columns=["x", "x"])
    with pytest.raises(DuffError, match=r"two columns of the DataFrame have the same name"):
        duffdp.mean(twice, **asked)
    for names in ([0, 1], pd.MultiIndex.from_tuples([("a", "x"), ("a", "y")])):
        with pytest.raises(DuffError, match="there is no column 'x'"):
            duffdp.mean(pd.DataFrame([[1, 2]] * 90, columns=names), **asked)
