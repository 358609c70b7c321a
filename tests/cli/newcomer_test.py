"""A newcomer's mistakes with a court's and a school's files: each ends right, or with words that
depend on the call alone. The files are made here; `tests/studio/studio_reading_test.py` walks the
same in a browser.
"""

from __future__ import annotations

import json
import random
from functools import partial

import openpyxl
import polars as pl
import pytest

import duffdp
from duffdp import DuffError, TextFile

SURE = 1e6
COURTS = ["AG01 – Köln", "AG02 – Düren", "LG03 – „Bonn“"]
TRUE_MEAN = 1229.5


@pytest.fixture
def fines(tmp_path):
    """A court's export in windows-1252: German amounts, dates and typographic keys."""
    lines = ["Auszug des Gerichts", "", "Gericht;Person;Geldbuße;Eingang;Ausgang"]
    for i in range(600):
        amount = "459,50" if i % 2 else "1.999,50"
        outcome = "verurteilt" if i % 3 else "Freispruch"
        lines.append(f"{COURTS[i % 3]};p{i // 2};{amount};{1 + i % 28:02d}.07.2024;{outcome}")
    path = tmp_path / "urteile.csv"
    path.write_bytes("\r\n".join(lines).encode("windows-1252"))
    return path


def read(path, **options):
    return TextFile(path, skip_rows=2, **options)


@pytest.fixture
def run(call):
    """A command with the notes that every call has: exit code, output, errors."""
    return partial(call, quiet=False)


def test_german_amounts(fines, run):
    mean = {"column": "Geldbuße", "epsilon": SURE, "bounds": (0, 5000)}
    right = duffdp.mean(read(fines, decimal=",", thousands="."), **mean)
    assert right.value == pytest.approx(TRUE_MEAN, abs=0.1)
    # Without the mark between thousands half of them are ignored; words say so.
    assert duffdp.mean(read(fines, decimal=","), **mean).value == pytest.approx(459.5, abs=0.1)
    command = ("mean", fines, "-c", "Geldbuße", "--bounds", 0, 5000, "-e", SURE, "-f", "json")
    written = ("--skip-rows", 2, "--decimal", ",")
    code, out, err = run(*command, *written, "--thousands", ".")
    assert (code, json.loads(out)["value"]) == (0, pytest.approx(TRUE_MEAN, abs=0.1))
    assert "numbers are read as 1280,50 and 1.280,50" in err
    _, _, err = run(*command, *written)
    assert (
        "1.280,50 and 1 280,50 are ignored; use --thousands '.' or --thousands ' ' to read" in err
    )
    _, _, err = run(*command, "--skip-rows", 2)
    assert "1,280.50 are ignored; use --decimal ','" in err


def test_french_and_swiss_amounts(tmp_path, run):
    """Spaces of three kinds, and two apostrophes, between thousands."""
    french, swiss = tmp_path / "loyers.csv", tmp_path / "praemien.csv"
    spaces = [" ", "\u00a0", "\u202f"]
    lines = [f"{i};1{spaces[i % 3]}280,50" for i in range(90)]
    french.write_text("\n".join(["id;loyer", *lines]), encoding="utf-8-sig")
    lines = [f"{i},1{mark}280.50" for i in range(45) for mark in "'\u2019"]
    swiss.write_text("\n".join(["id,praemie", *lines]))
    amount = {"epsilon": SURE, "bounds": (0, 5000)}
    for path, column, options in (
        (french, "loyer", {"decimal": ",", "thousands": " "}),
        (french, "loyer", {"decimal": ",", "thousands": "\u202f"}),
        (swiss, "praemie", {"thousands": "'"}),
        (swiss, "praemie", {"thousands": "\u2019"}),
    ):
        release = duffdp.mean(TextFile(path, **options), column=column, **amount)
        assert release.value == pytest.approx(1280.5, abs=0.1)
    command = ("mean", french, "-c", "loyer", "--bounds", 0, 5000, "-e", SURE, "--decimal", ",")
    assert (
        "1 280,50 are ignored; use --thousands '.' or --thousands ' ' to read them"
        in run(*command)[2]
    )


def test_a_point_between_thousands_has_words(tmp_path, run):
    path = tmp_path / "gemeinden.csv"
    path.write_text("ort;einwohner\n" + "a;3.952\n" * 60)
    release = duffdp.median(path, column="einwohner", epsilon=SURE, bounds=(0, 100_000))
    assert release.value == 4
    assert "1.280 as 1.28" in str(release)
    assert "see .notes" in repr(release)
    for command in ("median", "profile"):
        options = ("-c", "einwohner", "--bounds", 0, 100_000) if command == "median" else ()
        assert "1.280 as 1.28" in run(command, path, *options, "-e", 1)[2]
    assert "1.280 as 1.28" in str(duffdp.profile(path, epsilon=1))


def test_what_is_printed_has_the_words(fines):
    table = duffdp.table(
        read(fines),
        {"Geldbuße": "mean"},
        bounds={"Geldbuße": (0, 5000)},
        by="Ausgang",
        keys=["Verurteilt"],
        epsilon=1,
    )
    assert "spell keys as in the data" in str(table)
    assert "1,280.50 are ignored; use TextFile(..., decimal=" in str(table)
    assert "spell keys" not in table.to_text()


def test_titles_above_the_header_have_words(fines, run):
    words = "line 1 names the columns; if a title is above it, use --skip-rows 1"
    assert words in run("columns", fines)[1]
    assert "line 3 names the columns\n" in run("profile", fines, "--skip-rows", 2, "-e", 1)[2]
    assert "--quiet" not in run("profile", fines, "--skip-rows", 2, "-e", 1, "--quiet")[2]
    assert run("profile", fines, "--skip-rows", 2, "-e", 1, "--quiet")[2] == ""
    code, _, err = run("mean", fines, "-c", "Geldbuße", "--bounds", 0, 5000, "-e", 1)
    assert code == 4
    assert "The first line names them; --skip-rows skips titles above it" in err


@pytest.mark.parametrize("order", ["utf-16-le", "utf-16-be"])
def test_utf_16_is_called_so(tmp_path, run, order):
    path = tmp_path / "unicode.csv"
    path.write_bytes("\ufeffOrt;Lohn\r\nKöln;2.000,00\r\n".encode(order))
    for command in (("columns",), ("profile", "-e", 1)):
        code, _, err = run(command[0], path, *command[1:])
        assert (code, "is in UTF-16" in err, "iconv" in err) == (4, True, True)


def test_text_with_digits_among_objects_has_words():
    import pandas as pd

    for numbers in (["5"] * 90, pd.Series(["5"] * 90, dtype=object)):
        release = duffdp.median(numbers, epsilon=1, bounds=(0, 2000))
        assert "values that are not numbers are ignored, and so is text with digits" in str(release)
    assert "text" not in str(duffdp.median(pd.Series([5.0] * 90), epsilon=1, bounds=(0, 2000)))


def test_reading_options_belong_to_the_file(fines):
    for call in (
        lambda: duffdp.mean(fines, column="Geldbuße", epsilon=1, bounds=(0, 1), decimal=","),
        lambda: duffdp.profile(fines, epsilon=1, decimal=","),
        lambda: duffdp.table(fines, {}, epsilon=1, decimal=","),
    ):
        with pytest.raises(TypeError, match=r"pass duffdp.TextFile\(path, decimal=...\) as data"):
            call()


def test_a_code_book_of_the_only_column(fines, tmp_path, run):
    rows = "\n".join(["Code;Name", *(f"{court};{court[:4]}" for court in COURTS)])
    (tmp_path / "gerichte.csv").write_text(rows)
    (tmp_path / "plan.toml").write_text(
        'source = "urteile.csv"\nskip_rows = 2\nepsilon = 1\nby = "Gericht"\n'
        'keys = {file = "gerichte.csv", key = "Code", label = "Name"}\n[statistics]\n'
    )
    code, out, _ = run("table", tmp_path / "plan.toml")
    assert code == 0
    assert [line.split()[0] for line in out.splitlines()[1:4]] == [court[:4] for court in COURTS]


def test_german_dates(fines, run):
    year = ("2024-01-01", "2024-12-31")
    command = ("median", fines, "--skip-rows", 2, "-c", "Eingang", "--bounds", *year, "-e", SURE)
    _, _, err = run(*command)
    assert "dates are read as 2024-12-31; use --date-format %d.%m.%Y for another layout" in err
    code, out, err = run(*command, "--date-format", "%d.%m.%Y", "-f", "json")
    assert (code, json.loads(out)["value"][:8]) == (0, "2024-07-")
    assert "dates are read as %d.%m.%Y" in err


def test_keys_in_windows_1252_match(fines):
    release = duffdp.count(read(fines), by="Gericht", keys=COURTS, epsilon=SURE)
    assert [row[-1] for row in release.rows()] == [200, 200, 200]


def test_misspelt_keys_and_values_have_words(fines, run):
    groups = ("--by", "Ausgang", "--keys", "Verurteilt,freispruch")
    code, _, err = run("count", fines, "--skip-rows", 2, *groups, "-e", 1)
    assert code == 0
    assert "every listed group gets a value, even without rows; spell keys as in the data" in err
    share = ("share", fines, "--skip-rows", 2, "-c", "Ausgang", "--values", "Verurteilt", "-e", 1)
    assert (
        "not listed count as others, and missing ones are ignored; spell the list" in run(*share)[2]
    )


def test_a_profile_names_what_is_ignored(fines, run):
    look = duffdp.profile(read(fines, decimal=","), epsilon=100, columns=["Geldbuße"], rng=1)
    assert look.to_dict()["columns"]["Geldbuße"]["readable"] == pytest.approx(0.5, abs=0.02)
    assert "are not numbers, so statistics ignore them" in look.remarks[0]
    code, out, _ = run(
        *("profile", fines, "--skip-rows", 2, "--decimal", ",", "-e", 100),
        *("--columns", "Geldbuße"),
    )
    assert code == 0
    assert "are not numbers" in out


def test_people_in_one_court_each(fines):
    person = {"unit": "Person", "by": "Gericht", "keys": COURTS, "epsilon": SURE}
    table = duffdp.table(
        read(fines, decimal=",", thousands="."),
        {"Geldbuße": "mean"},
        bounds={"Geldbuße": (0, 5000)},
        **person,
    )
    notes = "\n".join(note.worded() for note in table_notes(table))
    assert "each person is counted in one group, chosen at random" in notes
    assert "groups_per_person=2 counts people in two, and doubles the noise" in notes
    assert "intervals cover the rows chosen at random" in notes


def table_notes(table):
    from duffdp._pipeline.notes import notes_about

    return notes_about((one.facts, one.reading) for one in table.releases.values())


def test_a_page_with_withheld_shares_is_written(fines, tmp_path, run):
    """Once this failed after the charge."""
    book, page = tmp_path / "budget.db", tmp_path / "page.html"
    duffdp.Ledger(book, epsilon=3)
    code, _, _ = run(
        *("share", fines, "--skip-rows", 2, "-c", "Ausgang", "--values", "verurteilt", "-e", 1),
        *("--by", "Gericht", "--keys", ",".join(COURTS), "--suppress-below", 5000),
        *("--ledger", book, "--report", page),
    )
    assert code == 0
    assert page.read_text().count("too few to tell") >= 3
    assert duffdp.Ledger(book).spent() == 1


def test_quartiles_of_a_row_are_in_order():
    rng = random.Random(3)
    frame = pl.DataFrame({"x": [min(5000, rng.expovariate(1 / 900)) for _ in range(40)]})
    for seed in range(20):
        table = duffdp.table(
            frame, {"x": ["median", 0.25, 0.75]}, epsilon=1, bounds={"x": (0, 5000)}, rng=seed
        ).wide()
        quartiles = [table[name][0] for name in ("x_0.25", "x_median", "x_0.75")]
        assert quartiles == sorted(quartiles)


def test_a_step_of_grades_is_not_for_their_mean(tmp_path):
    frame = pl.DataFrame({"grade": pl.Series([2.0, 2.5, 2.3, 2.6] * 50, dtype=pl.Decimal(2, 1))})
    bounds, step = {"grade": (1, 6)}, {"grade": 0.5}
    wide = duffdp.table(
        frame, {"grade": ["median", "mean"]}, epsilon=SURE, bounds=bounds, step=step
    ).wide()
    assert wide["grade_median"] == [2.5]
    assert wide["grade_mean"] == pytest.approx([2.35], abs=0.001)
    release = duffdp.median(frame, column="grade", epsilon=SURE, bounds=(1, 6))
    assert float(release.domain.step) == 0.1


def test_a_ministry_sheet_with_titles(tmp_path, run):
    book = openpyxl.Workbook()
    book.active.title = "Deckblatt"
    sheet = book.create_sheet("Noten")
    for row in (["Noten 2024"], [], ["Schule", "Note"], *(["S1", 2.5] for _ in range(80))):
        sheet.append(row)
    path = tmp_path / "noten.xlsx"
    book.save(path)
    code, _, err = run("columns", path)
    assert (code, "several sheets. Name one" in err) == (4, True)
    named = f"{path}::Noten"
    code, out, _ = run("columns", named, "--skip-rows", 2)
    assert (code, "Schule" in out) == (0, True)
    release = duffdp.median(
        TextFile(named, skip_rows=2), column="Note", bounds=(1, 6), step=0.1, epsilon=SURE
    )
    assert release.value == 2.5


def test_another_year_of_the_same_plan(fines, tmp_path, run):
    (tmp_path / "next.csv").write_bytes(fines.read_bytes())
    (tmp_path / "plan.toml").write_text(
        'source = "urteile.csv"\nskip_rows = 2\nepsilon = 1\n[statistics]\nAusgang = "mode"\n'
        '[categories]\nAusgang = ["verurteilt", "Freispruch"]\n'
    )
    code, _, _ = run("table", tmp_path / "plan.toml", "--source", tmp_path / "next.csv")
    assert code == 0
    for name in ("2024", "2025"):
        duffdp.Ledger(tmp_path / "budget.db", epsilon=3, dataset=name)
    code, out, _ = run("ledger", "show", tmp_path / "budget.db")
    assert code == 0
    assert "2024" in out
    assert "2025" in out


def test_a_large_epsilon_is_called_so(fines, run):
    assert "epsilon 100 is above 10" in run("count", fines, "--skip-rows", 2, "-e", 100)[2]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"where": "Ausgang == 'verurteilt'"}, None),
        ({"where": 'Ausgang = "verurteilt"'}, "Put text in single quotes"),
        ({"where": [True, False]}, "a condition written as in SQL"),
        ({"by": "Gericht"}, "by needs keys"),
        ({"by": "Gericht", "keys": "AG01"}, "To list values themselves, pass"),
        (
            {"by": "Gerichte", "keys": ["AG01"]},
            "there is no column 'Gerichte' in the header, line",
        ),
    ],
)
def test_habits(fines, options, said):
    call = {"epsilon": SURE, **options}
    if said is None:
        assert duffdp.count(read(fines), **call).value == 400
        return
    with pytest.raises(DuffError, match=said):
        duffdp.count(read(fines), **call)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("median", "--bounds", "0,120"), "--bounds takes 2 values with spaces between them"),
        (("median", "--bounds", "0,120", "-c", "x"), "Write --bounds 0 120"),
        (("median", "--eps", "1"), "there is no option '--eps'. Did you mean '--epsilon'"),
        (("median", "--seed", "1"), "Commands always draw privately"),
        (("count", "-e", "2", "-e", "3"), "--epsilon is passed more than once"),
        (("count", "--interval", "95%"), "Write --interval 0.95"),
        (("histogram", "-c", "x", "--bins", "0", "10"), "'10' belongs to no option"),
        (("count", "-e", "1", "--where", "a = 1 && b = 2"), "Write AND instead of &&"),
        (("count", "-e", "1", "--where", "a LIKE 'x%'"), "use --sql"),
        (("medain",), "Did you mean 'median'"),
        (("avg",), "Did you mean 'mean'"),
        (("run",), "duffdp table"),
        (("median", "-c", "Geldbusse"), "there is no column 'Geldbusse' in the header, line"),
        (("median", "-c", "Geldbuße", "--by", "Gericht"), "--by Gericht needs --keys"),
        (
            *(("median", "-c", "Geldbuße", "--by", "Gericht", "--keys", "a", "--keys", "b"),),
            "Write all groups of one column as one list: --keys a,b",
        ),
        (("quantile", "-c", "Geldbuße", "-q", "0.1,0.9"), "-q 0.1 -q 0.9"),
    ],
)
def test_mistakes_at_the_command_line(fines, arguments, said, run):
    command, *rest = arguments
    bounds = () if "--bounds" in rest else ("--bounds", 0, 5000)
    usual = ("-e", 1, "--skip-rows", 2) if command in ("median", "quantile") else ()
    code, out, err = run(command, fines, *usual, *(bounds if usual else ()), *rest)
    assert (code in (2, 4), out) == (True, "")
    assert said in err
