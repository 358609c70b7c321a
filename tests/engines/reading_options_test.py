"""Marks of thousands, encodings and titles above the header: declared by the caller, and how one
record is read never depends on another.
"""

from __future__ import annotations

import pytest
import xlsxwriter

import duffdp
from command_line import duff, rows
from duffdp import DuffError, TextFile, UnsupportedData
from duffdp._engines.files.format import ReadRequest
from duffdp._engines.files.paths import open_path

SURE = 1e6
#: For each pair of marks: fields with the number that they are, and fields that are none.
GROUPED = {
    (",", "."): (
        {"1.280,00": 1280.0, "1.280": 1280.0, "-1.000.000,5": -1e6 - 0.5, "999,5": 999.5},
        ["1.28", "1.2800", "12.80,00", "1280.000", "0.125", "1,280.00", "1..280", ".280", "1.280."],
    ),
    (".", ","): (
        {"1,280.00": 1280.0, " 12,345 ": 12345.0, "1280.5": 1280.5, "1,000e2": 1e5},
        ["1,28", "1.280,00", "12,80", "0,125", ",280", "1,,280"],
    ),
    (",", " "): (
        {"1 280,00": 1280.0, "1\u00a0280": 1280.0, "1\u202f280,5": 1280.5, " 7 ": 7.0},
        ["1 28", "12 80", "1  280", "1.280"],
    ),
    (".", "'"): ({"1'280.50": 1280.5, "1\u2019280": 1280.0}, ["1'28", "'280", "1,280"]),
}
WESTERN = ["Müller – Söhne", "„Zum Löwen“", "5 €"]


def fields(path, texts, **how):
    """What the fields of one column are read as."""
    lines = [f'{number};"{text}"' for number, text in enumerate(texts)]
    path.write_text("\n".join(["number;given", *lines]) + "\n", encoding="utf-8")
    read = dict(
        open_path(TextFile(path, **how)).columns(ReadRequest(["number", "given"])).rows().fetchall()
    )
    return [read[str(number)] for number in range(len(texts))]


@pytest.mark.parametrize("marks", GROUPED)
def test_digits_in_groups_of_three_are_a_number(tmp_path, marks):
    fit, others = GROUPED[marks]
    how = {"types": {"given": "double"}, "decimal": marks[0], "thousands": marks[1]}
    assert fields(tmp_path / "a.csv", [*fit, *others], **how) == [
        *fit.values(),
        *[None] * len(others),
    ]
    for text, value in {**fit, **dict.fromkeys(others)}.items():  # alone as among others
        assert fields(tmp_path / "b.csv", [text], **how) == [value]


def test_whole_numbers_in_groups(tmp_path):
    texts = ["1.280", "-12.345.678", "1280", "1.28", "1.280,0", "0.128"]
    how = {"types": {"given": "integer"}, "decimal": ",", "thousands": "."}
    assert fields(tmp_path / "a.csv", texts, **how) == [1280, -12345678, 1280, None, None, None]


def test_without_the_option_a_mark_of_thousands_is_no_number(tmp_path):
    how = {"types": {"given": "double"}, "decimal": ","}
    assert fields(tmp_path / "a.csv", ["1.280,00", "1.280", "12,5"], **how) == [None, None, 12.5]


def german_fines(path):
    """Fines as a court exports them: a title, an empty line, windows-1252, points and commas."""
    amounts = [f"{i:,}".translate(str.maketrans(",.", ".,")) + ",00" for i in range(500, 2500, 4)]
    lines = ["Geldstrafen – Auszug", "", "Gericht;Betrag"]
    lines += [f"{WESTERN[i % 3]};{amount}" for i, amount in enumerate(amounts)]
    path.write_bytes("\r\n".join([*lines, ""]).encode("cp1252"))
    return TextFile(path, decimal=",", thousands=".", skip_rows=2)


def test_german_amounts(tmp_path):
    fines = german_fines(tmp_path / "fines.csv")
    release = duffdp.mean(fines, column="Betrag", epsilon=SURE, bounds=(0, 5000))
    assert release.value == pytest.approx(1498, abs=0.1)
    counts = duffdp.count(fines, by="Gericht", keys=WESTERN, epsilon=SURE)
    assert [row[-1] for row in counts.rows()] == [167, 167, 166]


def test_german_amounts_at_the_command_line_and_in_a_plan(tmp_path):
    fines = german_fines(tmp_path / "fines.csv")
    how = ["--decimal", ",", "--thousands", ".", "--skip-rows", "2"]
    usual = ["mean", fines.path, "-c", "Betrag", "--bounds", "0", "5000", "-e", SURE, "-f", "csv"]
    done = duff(*usual, *how)
    assert done.returncode == 0
    assert float(rows(done.stdout)[0]["value"]) == pytest.approx(1498, abs=0.1)
    plan = 'source = "fines.csv"\nepsilon = 1e6\ndecimal = ","\nthousands = "."\nskip_rows = 2\n'
    plan += '[[release]]\nstatistic = "mean"\ncolumn = "Betrag"\nbounds = [0, 5000]\n'
    (tmp_path / "plan.toml").write_text(plan)
    (release,) = duffdp.Plan.from_toml(tmp_path / "plan.toml").run().values()
    assert release.value == pytest.approx(1498, abs=0.1)


# ------------------------------------------------------------------------------
# encodings


@pytest.mark.parametrize("encoding", ["utf-8", "cp1252"])
@pytest.mark.parametrize("quoted", [False, True])
def test_a_field_that_is_not_utf8_is_windows_1252(tmp_path, encoding, quoted):
    mark = '"' if quoted else ""
    lines = ["name,n", *(f"{mark}{name}{mark},1" for name in WESTERN for _ in range(20))]
    (tmp_path / "a.csv").write_bytes("\n".join([*lines, ""]).encode(encoding))
    counts = duffdp.count(tmp_path / "a.csv", by="name", keys=WESTERN, epsilon=SURE)
    assert [row[-1] for row in counts.rows()] == [20] * 3


def test_fields_of_one_file_are_decoded_one_by_one(tmp_path):
    lines = [b"name,town", "Jörg,Köln".encode(), "Jörg,Köln".encode("cp1252"), b"J\x81,\xc3\xb6"]
    (tmp_path / "a.csv").write_bytes(b"\n".join(lines))
    read = open_path(tmp_path / "a.csv").columns(ReadRequest(["name", "town"])).rows().fetchall()
    # 0x81 is no character of windows-1252 and stays what it is in Latin-1.
    assert sorted(read) == sorted([("Jörg", "Köln"), ("Jörg", "Köln"), ("J\x81", "ö")])


@pytest.mark.parametrize("name", ["windows-1252", "latin-1", "iso-8859-2", "cp437", "mac-roman"])
@pytest.mark.parametrize("ending", [".csv", ".jsonl"])
def test_declared_encodings(tmp_path, name, ending):
    text = "name,n\nKöln,1\nUlm,2\n" if ending == ".csv" else '{"name": "Köln"}\n{"name": "Ulm"}\n'
    (tmp_path / f"a{ending}").write_bytes(text.encode(name))
    file = TextFile(tmp_path / f"a{ending}", encoding=name)
    counts = duffdp.count(file, by="name", keys=["Köln", "Ulm", "Trier"], epsilon=SURE)
    assert [row[-1] for row in counts.rows()] == [1, 1, 0]


def test_a_declared_encoding_has_precedence_over_utf8(tmp_path):
    (tmp_path / "a.csv").write_text("näme\nKöln\n", encoding="utf-8")
    file = TextFile(tmp_path / "a.csv", encoding="cp1252")
    assert open_path(file).columns(ReadRequest(["nÃ¤me"])).rows().fetchall() == [("KÃ¶ln",)]


@pytest.mark.parametrize("name", ["utf-16", "shift_jis", "gbk", "utf-7", "rot13", "klingon", 7, ""])
def test_encodings_that_cannot_be_split_are_refused(name):
    with pytest.raises(DuffError, match="encoding must be utf-8 or an encoding with one byte"):
        TextFile("a.csv", encoding=name)


def test_lists_of_keys_may_be_windows_1252(tmp_path):
    (tmp_path / "a.csv").write_text("name\n" + "\n".join(WESTERN * 3) + "\n", encoding="utf-8")
    (tmp_path / "keys.txt").write_bytes("\r\n".join(WESTERN).encode("cp1252"))
    counts = duffdp.count(
        tmp_path / "a.csv", by="name", keys=str(tmp_path / "keys.txt"), epsilon=SURE
    )
    assert [row[-1] for row in counts.rows()] == [3, 3, 3]
    (tmp_path / "keys.txt").write_text("a\nb\n", encoding="utf-16")
    with pytest.raises(DuffError, match="is not text in UTF-8 or windows-1252"):
        duffdp.count(tmp_path / "a.csv", by="name", keys=str(tmp_path / "keys.txt"), epsilon=SURE)


# ------------------------------------------------------------------------------
# titles above the header


@pytest.mark.parametrize(
    "titles",
    [
        "Report\n2024\n",
        "Report\n\n",
        "\ufeffReport; of; many; fields\r\n\r\n",
        '"Report\n"2024"\n',
        "x" * 2**21 + "\n2024\n",
    ],
)
@pytest.mark.parametrize("quoted", [False, True])
def test_titles_above_the_header(tmp_path, titles, quoted):
    end = "\r\n" if "\r" in titles else "\n"
    mark = '"' if quoted else ""
    body = end.join(["a;b", f"1;{mark}x{mark}", f"2;{mark}y{mark}", ""])
    (tmp_path / "t.csv").write_text(titles + body, encoding="utf-8", newline="")
    read = (
        open_path(TextFile(tmp_path / "t.csv", skip_rows=2))
        .columns(ReadRequest(["a", "b"]))
        .rows()
        .fetchall()
    )
    assert sorted(read) == [("1", "x"), ("2", "y")]


def test_titles_in_several_files(tmp_path):
    for name in ("a", "b"):
        (tmp_path / f"{name}.csv").write_text(f"Report {name}\nn\n1\n2\n")
    assert duffdp.count(TextFile(tmp_path, skip_rows=1), epsilon=SURE).value == 4


def test_titles_above_the_header_of_a_sheet(tmp_path):
    with xlsxwriter.Workbook(tmp_path / "a.xlsx") as book:
        sheet = book.add_worksheet("march")
        for number, row in enumerate(
            [["Report"], [], ["ward", "cost"], ["ER", "1.280,50"], ["ER", 7]]
        ):
            sheet.write_row(number, 0, row)
    file = TextFile(tmp_path / "a.xlsx", skip_rows=2, decimal=",", thousands=".")
    release = duffdp.sum(file, column="cost", epsilon=SURE, bounds=(0, 2000), step=0.5)
    assert release.value == 1287.5
    with pytest.raises(UnsupportedData, match=r"row 2 of the sheet .* is empty"):
        duffdp.count(TextFile(tmp_path / "a.xlsx", skip_rows=1), epsilon=SURE)
    with pytest.raises(UnsupportedData, match="encoding is for text files"):
        duffdp.count(TextFile(tmp_path / "a.xlsx", encoding="cp1252"), epsilon=SURE)


def test_json_lines_have_no_header(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"n": 1}\n')
    with pytest.raises(UnsupportedData, match="skip_rows is for CSV and Excel"):
        duffdp.count(TextFile(tmp_path / "a.jsonl", skip_rows=1), epsilon=SURE)


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"thousands": "."}, "thousands must differ from decimal, got '.' for both"),
        ({"thousands": "x"}, "thousands must be"),
        ({"decimal": ",", "thousands": ","}, "thousands must differ from decimal"),
        ({"skip_rows": -1}, "skip_rows must be a whole number from 0 to 100"),
        ({"skip_rows": 101}, "skip_rows must be a whole number from 0 to 100"),
        ({"skip_rows": True}, "skip_rows must be"),
    ],
)
def test_options_that_cannot_be(tmp_path, call, how, words):
    with pytest.raises(DuffError, match=words):
        TextFile("a.csv", **how)
    flags = [part for name, value in how.items() for part in (f"--{name.replace('_', '-')}", value)]
    if True not in how.values():
        code, _, err = call("count", tmp_path / "a.csv", "-e", 1, *flags)
        assert code == 2
        assert words.split()[0].replace("_", "-") in err


# ------------------------------------------------------------------------------
# one record


ODD = [b"1.280,00", b"1.28", b"\x84x\x93", b'"', b"", b"\xc3\xb6", b"\0", b"a;b;c", b"0.125"]


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize(
    "how", [{}, {"thousands": "."}, {"encoding": "cp1252"}, {"skip_rows": 1}], ids=str
)
def test_no_record_changes_how_another_one_is_read(tmp_path, odd, how):
    """Tables that differ in one record: the same error or none, and all other records alike."""
    titles = [b"Report"] * how.get("skip_rows", 0)
    usual = [b"n;value", b"1;12,5", b"2;1.500,25", "3;Köln".encode(), "4;Köln".encode("cp1252")]
    both = []
    for more in ([], [b"5;" + odd]):
        (tmp_path / "t.csv").write_bytes(b"\n".join([*titles, *usual, *more, b""]))
        file = TextFile(tmp_path / "t.csv", types={"value": "double"}, decimal=",", **how)
        text = TextFile(tmp_path / "t.csv", decimal=",", **how)
        found = [open_path(one).columns(ReadRequest(["n", "value"])) for one in (file, text)]
        both.append([{n: v for n, v in one.rows().fetchall() if n != "5"} for one in found])
    assert both[0] == both[1]
    assert len(both[0][0]) == 4


@pytest.mark.parametrize(
    ("options", "lines"),
    [
        ({"decimal": ","}, ["1,5", "2,5", "3,5"]),
        ({"decimal": ",", "thousands": "."}, ["1,5", "2,5", "3,5"]),
        ({"thousands": ","}, ["1", "2.5", "4"]),
    ],
)
def test_a_file_of_one_column_is_not_split_at_the_marks_of_its_numbers(tmp_path, options, lines):
    path = tmp_path / "fines.csv"
    path.write_text("\n".join(["fine", *lines]) + "\n")
    data = duffdp.TextFile(path, **options)
    total = duffdp.sum(data, column="fine", epsilon=1e6, bounds=(0, 10), step=0.5)
    assert total.value == 7.5


def test_no_error_quotes_a_record_that_is_taken_for_the_header(tmp_path, call):
    path = tmp_path / "people.csv"
    path.write_text("Report\nname,age\nAnn Secret,33\nBob,44\n")
    given = {"column": "age", "epsilon": 1, "bounds": (0, 120)}
    with pytest.raises(duffdp.UnsupportedData, match="Check skip_rows") as error:
        duffdp.median(duffdp.TextFile(path, skip_rows=2), **given)
    assert "Secret" not in str(error.value)
    arguments = ("--column", "age", "-e", 1, "--bounds", 0, 120, "--skip-rows", 2)
    code, out, err = call("median", path, *arguments)
    assert (code, out) == (4, "")
    assert "--skip-rows" in err
    assert "Secret" not in err
