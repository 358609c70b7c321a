"""Sheets of Excel: every cell by itself, as one of a CSV file is."""

from __future__ import annotations

import datetime as dt
import json
import warnings
import zipfile
from collections import Counter

import duckdb
import pytest
import xlsxwriter

import duffdp
from duffdp import DuffError, TextFile
from duffdp._engines.files.format import ReadRequest
from duffdp._engines.files.paths import open_path

SURE = 1e6


def write(path, **sheets):
    """Sheets of rows; dates get a format of dates."""
    with xlsxwriter.Workbook(path) as book:
        dated = book.add_format({"num_format": "dd.mm.yyyy hh:mm"})
        for name, rows in sheets.items():
            sheet = book.add_worksheet(name)
            for at, row in enumerate(rows):
                for place, cell in enumerate(row):
                    if isinstance(cell, dt.datetime):
                        sheet.write_datetime(at, place, cell, dated)
                    elif isinstance(cell, tuple):  # a number that looks like a date
                        sheet.write_number(at, place, cell[0], dated)
                    else:
                        sheet.write(at, place, cell)
    return path


def records(source, columns, kind="float", **more):
    return Counter(
        open_path(source, **more)
        .columns(ReadRequest(columns, values=(columns[0],), kind=kind))
        .rows()
        .fetchall()
    )


NOON = dt.datetime(2024, 7, 7, 12, 30)
VISITS = [
    ["cost", "when", "ward", "paid"],
    [12.5, NOON, "ER", True],
    ["7,25", "08.07.2024 08:35", "lab", False],
    [9, dt.datetime(2024, 7, 9), 5, "yes"],
    [None, None, None, None],
    ["free", "soon", "ER", None],
]


def test_cells_are_read_as_those_of_a_csv_file(tmp_path):
    path = write(tmp_path / "visits.xlsx", visits=VISITS)
    assert records(path, ["cost", "ward"]) == Counter(
        [(12.5, "ER"), (None, "lab"), (9.0, "5"), (None, "ER")]
    )
    assert records(path, ["when"], "datetime") == Counter(
        {(NOON,): 1, (dt.datetime(2024, 7, 9),): 1, (None,): 2}
    )
    assert records(path, ["when"], "date") == Counter(
        {(NOON.date(),): 1, (dt.date(2024, 7, 9),): 1, (None,): 2}
    )


def test_what_is_said_about_texts_holds_for_texts(tmp_path):
    """Numbers and dates of Excel itself need no decimal mark and no format."""
    path = write(tmp_path / "visits.xlsx", visits=VISITS)
    visits = TextFile(
        path,
        types={"cost": "double", "when": "timestamp", "paid": "boolean"},
        decimal=",",
        date_format="%d.%m.%Y %H:%M",
    )
    found = records(visits, ["cost", "when", "paid"])
    assert found == Counter(
        [
            (12.5, NOON, True),
            (7.25, dt.datetime(2024, 7, 8, 8, 35), False),
            (9.0, dt.datetime(2024, 7, 9), True),
            (None, None, None),
        ]
    )
    release = duffdp.median(visits, column="cost", epsilon=SURE, bounds=(0, 100), step=0.25)
    assert release.value == 9
    where = "when >= '2024-07-08' AND paid = TRUE"
    assert duffdp.count(visits, epsilon=SURE, where=where).value == 1
    counts = duffdp.count(path, epsilon=SURE, by="ward", keys=["ER", "lab", 5])
    assert [row[-1] for row in counts.rows()] == [2, 1, 1]


def test_a_sheet_is_named_where_there_are_several(tmp_path, call):
    path = write(tmp_path / "two.xlsx", first=[["x"], [1]], second=[["x"], [2], [2]])
    for sheet, expected in (("first", 1), ("second", 2)):
        assert duffdp.count(f"{path}::{sheet}", epsilon=SURE).value == expected
    with pytest.raises(DuffError, match=r"several sheets.* Its sheets are 'first', 'second'"):
        duffdp.count(path, epsilon=1)
    with pytest.raises(
        DuffError, match=r"no sheet 'third' in '[^']*'.* Its sheets are 'first', 'second'"
    ):
        duffdp.count(f"{path}::third", epsilon=1)
    how = ("-c", "x", "--bounds", 0, 9, "-e", SURE, "-f", "json")
    code, out, _ = call("median", f"{path}::second", *how)
    assert (code, json.loads(out)["value"]) == (0, 2)
    code, _, err = call("median", path, "-c", "x", "--bounds", 0, 9, "-e", 1)
    assert (code, err.count("\n")) == (4, 1)


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([["x", "x"], [1, 2]], "names 'x' more than once"),
        ([["y"], [1]], "there is no column 'x'. Available columns: 'y'"),
        ([[None], [1]], "first row .* is empty"),
        ([], "first row .* is empty"),
    ],
)
def test_first_rows_that_name_no_columns(tmp_path, rows, said):
    path = write(tmp_path / "x.xlsx", data=rows)
    with pytest.raises(DuffError, match=said):
        duffdp.median(path, column="x", epsilon=1, bounds=(0, 9))


def test_what_is_no_workbook_is_refused_without_its_words(tmp_path):
    (tmp_path / "x.xlsx").write_bytes(b"x\nsecret\n")
    with zipfile.ZipFile(tmp_path / "y.xlsx", "w") as packed:
        packed.writestr("secret.xml", "<secret/>")
    for name in ("x.xlsx", "y.xlsx"):
        with pytest.raises(DuffError, match="not a readable Excel workbook") as error:
            duffdp.median(tmp_path / name, column="x", epsilon=1, bounds=(0, 9))
        assert "secret" not in str(error.value)
    with pytest.raises(DuffError, match="no file or folder"):
        duffdp.median(tmp_path / "z.xlsx", column="x", epsilon=1, bounds=(0, 9))


ODD = [
    *(1e308, -1e308, 2**60, 0.1 + 0.2, "nan", "inf", "#DIV/0!", "1e999", "\x1f5", "=1/0", "x" * 9),
    *((1e12,), (-5.0,), (60.0,), (2958466.0,), (1e308,), True, None, "'", '"', "NULL", "é"),
]


def test_an_odd_cell_changes_itself_alone(tmp_path):
    """With it and without it: no error, no warning, the same types, and all other records alike."""
    usual = [["x", "g"], [1.5, "a"], [2, "b"], ["3", "a"]]
    paths = {None: write(tmp_path / "usual.xlsx", data=usual)}
    for at, odd in enumerate(ODD):
        rows = [*usual[:2], [odd, odd], *usual[2:]]
        paths[at] = write(tmp_path / f"{at}.xlsx", data=rows)
    connection = duckdb.connect()
    for kind in ("float", "datetime"):
        found = {}
        for at, path in paths.items():
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                named = open_path(path, connection).columns(
                    ReadRequest(["x", "g"], values=("x",), kind=kind)
                )
                rows = named.rows()
            assert named.types.types == rows.types
            found[at] = Counter(rows.fetchall())
        for at, odd in enumerate(ODD):
            assert not found[None] - found[at]
            assert (found[at] - found[None]).total() == (odd is not None), odd


def test_a_cell_far_away_is_no_other_record(tmp_path):
    """In the last column, or the last row, of all that Excel has."""
    for place in ((1, 16_383), (200_000, 0)):
        with xlsxwriter.Workbook(tmp_path / "x.xlsx") as book:
            sheet = book.add_worksheet("data")
            sheet.write_row(0, 0, ["x"])
            sheet.write_row(1, 0, [1])
            sheet.write(*place, 7)
        assert records(tmp_path / "x.xlsx", ["x"]).total() == 1 + (place[1] == 0)


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".jsonl"])
def test_files_that_zstandard_packed(tmp_path, ending):
    """In one frame or several, well-formed or not: the same records as unpacked."""
    import zstandard

    mark = "\t" if ending == ".tsv" else ","
    lines = [f"{at}{mark}{'ab'[at % 2]}" for at in range(5000)]
    head = f"x{mark}g"
    if ending == ".jsonl":
        lines = [f'{{"x": {at}, "g": "{"ab"[at % 2]}"}}' for at in range(5000)]
        head = '{"x": 1, "g": "a"}'
    for odd in ([], ['"'], [f'"5"{mark}"a"', f'"7"x"{mark}b']):
        raw = "\n".join([head, *lines, *odd, ""]).encode()
        plain, packed = tmp_path / f"t{ending}", tmp_path / f"t{ending}.zst"
        plain.write_bytes(raw)
        press = zstandard.ZstdCompressor()
        packed.write_bytes(press.compress(raw[:777]) + press.compress(raw[777:]))
        assert records(packed, ["x", "g"]) == records(plain, ["x", "g"])
    frame = zstandard.ZstdCompressor(write_checksum=True).compress(raw)
    skipped = b"\x50\x2a\x4d\x18\x02\0\0\0ab"
    packed.write_bytes(skipped + frame + skipped + press.compress(b""))
    assert records(packed, ["x", "g"]) == records(plain, ["x", "g"])
    for left in (frame[:-1], frame[:-5], frame[: len(frame) // 2], frame[:7], frame + frame[:-9]):
        packed.write_bytes(left)  # as a copy that broke off leaves it
        with pytest.raises(DuffError, match="its content does not match its file name"):
            duffdp.count(packed, epsilon=1)
    packed.write_bytes(b"secret")
    with pytest.raises(DuffError, match="its content does not match its file name") as error:
        duffdp.median(packed, column="x", epsilon=1, bounds=(0, 9))
    assert "secret" not in str(error.value)
