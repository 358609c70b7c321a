"""Files as offices write them, through the studio in a real browser: decimal commas, thousands,
German dates, windows-1252, titles above the header, sheets, tables of a server.
"""

from __future__ import annotations

import csv
import json
import re
import sqlite3
from contextlib import closing
from pathlib import Path

import openpyxl
import pyarrow as pa
import pytest

import postgres
from browser import chromium
from duffdp import Ledger, TablePlan
from studio import running, visit

pytestmark = pytest.mark.xdist_group("browser")
COURTS = ("AG01 – Köln", "LG03 – Bonn")
SURE = "1000"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A court's export in windows-1252 and a ministry's workbook with a cover sheet and titles."""
    made = tmp_path_factory.mktemp("offices")
    lines = ["Auszug 2024", "Gericht;Geldbuße;Eingang"]
    for i in range(400):
        fine = "k.A." if i % 4 == 3 else f"1.{i % 200:03d},50"
        lines.append(f"{COURTS[i % 2]};{fine};{1 + i % 28:02d}.06.2024")
    (made / "fines.csv").write_bytes("\r\n".join(lines).encode("windows-1252"))
    lines = [f"p{i};{subject};2.5" for i in range(60) for subject in ("art", "music")]
    (made / "pupils.csv").write_text("\n".join(["pupil;subject;grade", *lines]))
    book = openpyxl.Workbook()
    book.active.title = "Deckblatt"
    book.active.append(["Ministerium"])
    sheet = book.create_sheet("Noten")
    for row in (["Noten 2024"], [], ["Schule", "Note"], *(["S1", 2.5] for _ in range(60))):
        sheet.append(row)
    book.save(made / "grades.xlsx")
    return made


@pytest.fixture(scope="module")
def driver():
    with chromium() as found:
        yield found


@pytest.fixture
def page(driver, folder):
    context = driver.new_context(viewport={"width": 1280, "height": 900})
    context.set_default_timeout(60_000)
    with running(folder) as address:
        opened = context.new_page()
        opened.goto(address)
        opened.wait_for_selector("#source")
        yield opened
    context.close()


def rebuilt(page, change):
    """Make a change that rebuilds the form, and wait until it is there."""
    page.evaluate("window.formBefore = document.getElementById('plan')")
    change()
    page.wait_for_function("() => document.getElementById('plan') !== window.formBefore")


def to_confirm(page, name):
    """The page that asks whether to release."""
    page.fill("#ledger", name)
    page.fill("#budget", "5000")
    page.fill("#epsilon", SURE)
    page.wait_for_function(
        "name => document.querySelector('#toml')?.textContent.includes(name)", arg=name
    )
    page.wait_for_function(
        "() => document.querySelector('#toml')?.textContent.includes('epsilon = 1000')"
    )
    page.click("#release")
    page.wait_for_selector("#start")
    return page.inner_text("main")


def released(page, name):
    to_confirm(page, name)
    page.click("#start")
    page.wait_for_selector("text=was charged to")
    return page.inner_text("main")


def ask(page, column, lower, upper, statistic):
    if column in page.locator("#add option").all_inner_texts():  # the first number is there already
        rebuilt(page, lambda: page.select_option("#add", column))
    page.fill("#lower\\.0", lower)
    page.fill("#upper\\.0", upper)
    page.check(f"#statistic\\.0\\.{statistic}")


def test_a_german_file_is_read_as_it_is_written(page):
    rebuilt(page, lambda: page.select_option("#source", "fines.csv"))
    assert "is the header" not in page.inner_text("#outcome")
    page.click("text=How the file is formatted")
    page.fill("#skip_rows", "1")
    rebuilt(page, lambda: page.press("#skip_rows", "Tab"))
    ask(page, "Geldbuße", "0", "5000", "mean")
    page.wait_for_selector("text=numbers are read as 1280.50")
    rebuilt(page, lambda: page.select_option("#decimal", ","))
    page.wait_for_selector("text=1 280,50 are ignored")
    rebuilt(page, lambda: page.select_option("#thousands", "."))
    page.wait_for_selector("text=numbers are read as 1280,50 and 1.280,50")
    rebuilt(page, lambda: page.select_option("#by\\.0", "Gericht"))
    page.fill("#keys\\.0", "\n".join(COURTS))
    text = released(page, "fines.db")
    for court in COURTS:
        assert court in text
    plan = page.request.get(page.url + "/plan.toml").text()
    for line in ('decimal = ","', 'thousands = "."', "skip_rows = 1"):
        assert line in plan
    table = csv.DictReader(page.request.get(page.url + "/table.csv").text().splitlines())
    means = [float(row["Geldbuße_mean"]) for row in table]
    assert means == pytest.approx([1099.5, 1099.5], abs=4)
    assert 'duffdp.TextFile("fines.csv", ' in page.request.get(page.url + "/plan.py").text()


def test_people_count_in_several_groups(page):
    """The notes name the field that a total of groups depends on."""
    rebuilt(page, lambda: page.select_option("#source", "pupils.csv"))
    assert "Its first line has the column names" in page.inner_text("form")
    ask(page, "grade", "1", "6", "mean")
    rebuilt(page, lambda: page.select_option("#by\\.0", "subject"))
    page.fill("#keys\\.0", "art\nmusic")
    page.select_option("#person", "pupil")
    page.wait_for_selector("text=2 under “Groups per person” counts people in two")
    page.fill("#groups_per_person", "2")
    page.wait_for_selector("text=each person is counted in up to 2 groups")
    page.check("input[name=total]")
    text = released(page, "pupils.db")
    assert "people, each in up to 2 groups" in text
    assert "groups_per_person = 2" in page.request.get(page.url + "/plan.toml").text()
    table = csv.DictReader(page.request.get(page.url + "/table.csv").text().splitlines())
    assert [round(float(row["count"]), -1) for row in table] == [60, 60, 120]


def test_dates_have_the_layout_of_the_file(page):
    rebuilt(page, lambda: page.select_option("#source", "fines.csv"))
    page.click("text=How the file is formatted")
    page.fill("#skip_rows", "1")
    rebuilt(page, lambda: page.press("#skip_rows", "Tab"))
    page.fill("#date_format", "%d.%m.%Y")
    rebuilt(page, lambda: page.press("#date_format", "Tab"))
    ask(page, "Eingang", "2024-01-01", "2024-12-31", "median")
    page.wait_for_selector("text=dates are read as %d.%m.%Y")
    assert "2024-06-1" in released(page, "dates.db")


def test_a_sheet_is_chosen_and_titles_are_skipped(page):
    rebuilt(page, lambda: page.select_option("#source", "grades.xlsx"))
    assert page.locator("#part option").all_inner_texts() == ["Deckblatt", "Noten"]
    rebuilt(page, lambda: page.select_option("#part", label="Noten"))
    page.click("text=How the file is formatted")
    page.fill("#skip_rows", "2")
    rebuilt(page, lambda: page.press("#skip_rows", "Tab"))
    page.fill("#types", "Note = double")
    rebuilt(page, lambda: page.press("#types", "Tab"))
    assert "Note" in page.inner_text("fieldset.column legend")  # a column of numbers now
    page.fill("#lower\\.0", "1")
    page.fill("#upper\\.0", "6")
    page.fill("#step\\.0", "0.5")
    assert "2.5" in released(page, "grades.db")


WORDS = {
    "survey.csv": "values beyond a bound count as that bound; leave out codes like 99 with",
    "names.csv": "lines with too many fields are ignored",
    "merged.xlsx": "only the first of merged cells has their value",
    "office.sqlite::people": "values that do not fit the type that SQLite declares",
    "born.csv": "years 00 to 68 as 2000 to 2068",
    "people.csv": "rows without patient are ignored, and each spelling of patient is another",
}


@pytest.fixture(scope="module")
def pitfalls(folder):
    """Files that no error may find fault with, made before the page is opened."""
    lines = [f"{i},{97 if i % 5 == 0 else 5}" for i in range(400)]
    (folder / "survey.csv").write_text("\n".join(["id,answer", *lines]))
    lines = [f"{i},Doe, Jane" if i % 2 else f"5,Roe{i}" for i in range(400)]
    (folder / "names.csv").write_text("\n".join(["answer,name", *lines]))
    lines = [f"{5},12.03.{30 + i % 30}" for i in range(400)]
    (folder / "born.csv").write_text("\n".join(["answer,born", *lines]))
    lines = [f"5,{' ' * (i % 2)}p{i // 2}" for i in range(400)]
    (folder / "people.csv").write_text("\n".join(["answer,patient", *lines]))
    book = openpyxl.Workbook()
    for row in (["answer", "n"], *([5 if i % 100 == 0 else None, i] for i in range(400))):
        book.active.append(row)
    book.active.merge_cells("A2:A101")
    book.save(folder / "merged.xlsx")
    with closing(sqlite3.connect(folder / "office.sqlite")) as base:
        base.execute("CREATE TABLE people (answer INTEGER)")
        base.executemany("INSERT INTO people VALUES (?)", [(5,), ("k.A.",)] * 200)
        base.commit()
    return folder


@pytest.mark.parametrize("source", WORDS)
def test_what_is_ignored_has_words_before_the_release(pitfalls, page, source):
    """The note is on the page of the plan, and on the one that asks whether to release."""
    file, _, part = source.partition("::")
    rebuilt(page, lambda: page.select_option("#source", file))
    if part and page.locator("#part").count():
        assert part in page.locator("#part option").all_inner_texts()
    column, bounds = "answer", ("0", "10")
    if source == "born.csv":
        page.click("text=How the file is formatted")
        page.fill("#date_format", "%d.%m.%y")
        rebuilt(page, lambda: page.press("#date_format", "Tab"))
        column, bounds = "born", ("1925-01-01", "2010-12-31")
    ask(page, column, *bounds, "median" if column == "born" else "mean")
    if source == "people.csv":
        page.select_option("#person", "patient")
    page.wait_for_selector(f"text={WORDS[source]}")
    assert WORDS[source] in to_confirm(page, f"{file}.db")


FORM = [("epsilon", "1"), ("column.0", "age"), ("lower.0", "0"), ("upper.0", "120")]


def test_a_table_of_a_server(tmp_path):
    postgres.run("DROP TABLE IF EXISTS studio_people")
    rows = pa.table({"age": pa.array([40] * 50), "sex": pa.array(["f", "m"] * 25)})
    name = postgres.table(rows).get_name()
    address = postgres.address(name)
    with visit(tmp_path) as visitor:
        fields = [*FORM, ("server", address), ("statistic.0", "median"), ("ledger", "b.db")]
        page = visitor.post("/plan", fields).text
        assert "a person, identified by sex" in page
        job = visitor.wait_for(started(visitor, fields), "made")
        assert TablePlan.from_text(job.text, tmp_path).plan.source == address
        assert "40" in job.files["table.csv"]


def started(visitor, fields):
    number = visitor.asked(fields)
    visitor.start(number)
    return number


def test_a_password_is_not_shown(tmp_path):
    secret = "postgresql://ann:hunter2@localhost/clinic::people"
    with visit(tmp_path) as visitor:
        page = visitor.post("/plan", [*FORM, ("server", secret)]).text
        assert "must not contain a password" in page
        assert "hunter2" not in page
        outcome = visitor.post("/preview", [*FORM, ("server", secret)]).text
        assert "hunter2" not in outcome


def test_databases_of_the_folder_are_offered_and_ledgers_are_not(tmp_path: Path):
    import duckdb

    with duckdb.connect(tmp_path / "people.duckdb") as made:
        made.execute("CREATE TABLE first AS SELECT 1 AS x")
        made.execute("CREATE TABLE second AS SELECT 1 AS age")
    (tmp_path / "budget.db").touch()
    with visit(tmp_path) as visitor:
        page = visitor.post("/plan", [("epsilon", "1"), ("source", "people.duckdb")]).text
        assert "people.duckdb::second" in page
        assert "budget.db</option>" not in page
        fields = [("epsilon", "1"), ("source", "people.duckdb"), ("part", "people.duckdb::second")]
        assert "a person, identified by age" in visitor.post("/plan", fields).text


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ([("types", "age")], "Each line of types must look like"),
        ([("types", "age = number")], "must be one of"),
        ([("skip_rows", "many")], "must be a number"),
        ([("date_format", "%Q")], "Layout of dates"),
        ([("encoding", "utf-16")], "Encoding"),
    ],
)
def test_wrong_reading_options_are_told_in_words(tmp_path, fields, said):
    (tmp_path / "ages.csv").write_text("age\n40\n")
    form = [*FORM, ("source", "ages.csv"), ("statistic.0", "median"), *fields]
    with visit(tmp_path) as visitor:
        assert said in visitor.post("/plan", form).text


def test_a_first_look_says_what_is_ignored_and_proposes_bounds(page, folder):
    rebuilt(page, lambda: page.select_option("#source", "fines.csv"))
    page.click("text=How the file is formatted")
    page.fill("#skip_rows", "1")
    rebuilt(page, lambda: page.press("#skip_rows", "Tab"))
    rebuilt(page, lambda: page.select_option("#decimal", ","))
    rebuilt(page, lambda: page.select_option("#thousands", "."))
    rebuilt(page, lambda: page.select_option("#add", "Geldbuße"))
    page.fill("#ledger", "look.db")
    page.fill("#budget", "500")
    page.click("text=A first look at the file")
    page.fill("#profile_epsilon", "100")
    page.click("#profile")
    page.wait_for_selector("text=Take a first look at fines.csv?")
    assert not (folder / "look.db").exists()
    page.click("#start")
    page.wait_for_selector("text=was charged to")
    assert Ledger(folder / "look.db").spent() == 100
    remarks = page.inner_text("#remarks")
    assert re.search(r"Geldbuße: about 2[456]% of the fields are not numbers", remarks)
    page.reload()
    assert Ledger(folder / "look.db").spent() == 100
    columns = json.loads(page.request.get(page.url + "/profile.json").text())["columns"]
    assert columns["Geldbuße"]["readable"] == pytest.approx(0.75, abs=0.02)
    page.click("#use-bounds")
    page.wait_for_selector("#lower\\.0")
    assert (page.input_value("#lower\\.0"), page.input_value("#upper\\.0")) == ("1000", "2000")
    assert "profile" in page.input_value("#source\\.bounds")
    assert page.input_value("#thousands") == "."


def test_a_look_that_fails_costs_nothing(tmp_path):
    (tmp_path / "ages.csv").write_text("age\n40\n")
    form = [*FORM, ("source", "ages.csv"), ("ledger", "b.db"), ("budget", "3")]
    with visit(tmp_path) as visitor:
        assert (
            "must be a number" in visitor.post("/profile", [*form, ("profile_epsilon", "x")]).text
        )
        answer = visitor.post("/profile", [*form, ("profile_epsilon", "4")])
        shown = visitor.get(answer.headers["location"]).text
        assert "The budget is too small" in shown
        answer = visitor.post("/profile", [*form, ("profile_epsilon", "1")])
        number = answer.headers["location"].rpartition("/")[2]
        (tmp_path / "ages.csv").unlink()
        visitor.start(number)
        assert "There is no file" in visitor.wait_for(number, "failed").error
    assert not (tmp_path / "b.db").exists()
