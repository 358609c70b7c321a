"""A call opens each of its files once, whatever its releases read."""

import gzip
import sqlite3
import sys
from datetime import date, timedelta
from pathlib import Path

import openpyxl
import polars as pl
import pytest

import duffdp
from duffdp.ledger import Ledger

SURE = 1e6
COLUMNS = ["age", "score", "day", "ward", "person"]
ROWS = [
    (i % 90, i % 7 / 2, date(2024, 1, 1) + timedelta(days=i % 60), "ab"[i % 2], f"p{i}")
    for i in range(600)
]
TABLE = pl.DataFrame(ROWS, schema=COLUMNS, orient="row")
OPENED: list[str] = []


def watch(event, arguments):
    """Note the files that Python opens, and the databases that SQLite does."""
    if event in ("open", "sqlite3.connect"):
        OPENED.append(str(arguments[0]))


sys.addaudithook(watch)  # for the rest of the process: it cannot be taken off


def write_quoted(path):
    path.write_text(TABLE.write_csv(quote_style="always"))


def write_odd(path):
    """A line that is not well-formed: records are not parsed by DuckDB."""
    path.write_text(TABLE.write_csv() + '1,"x"y,,c,p1\n')


def write_sqlite(path):
    with sqlite3.connect(path) as base:
        base.execute(
            "CREATE TABLE rows (age INTEGER, score REAL, day DATE, ward TEXT, person TEXT)"
        )
        base.executemany(
            "INSERT INTO rows VALUES (?, ?, ?, ?, ?)", [(*r[:2], str(r[2]), *r[3:]) for r in ROWS]
        )
    base.close()


def write_excel(path, table=TABLE):
    book = openpyxl.Workbook()
    for row in (table.columns, *table.rows()):
        book.active.append(row)
    book.save(path)


#: All that Python opens. Parquet, Arrow and DuckDB files are opened by the engine, out of sight.
FILES = {
    "lines.csv": TABLE.write_csv,
    "quoted.csv": write_quoted,
    "odd.csv": write_odd,
    "packed.csv.gz": lambda path: path.write_bytes(gzip.compress(TABLE.write_csv().encode())),
    "rows.jsonl": TABLE.write_ndjson,
    "rows.xlsx": write_excel,
    "rows.sqlite": write_sqlite,
}
BY = {"by": "ward", "keys": ["a", "b"], "unit": "person"}


def table(data):
    """Three releases that share a scan, one of other values, and the count."""
    statistics = {"age": ["median", "mean", "std"], "score": "median"}
    bounds = {"age": (0, 90), "score": (0, 3)}
    return duffdp.table(data, statistics, epsilon=SURE, bounds=bounds, interval=None, **BY)


def plan(data):
    """Numbers, dates, and text as categories and as groups: no two releases share a scan."""
    releases = [
        {"statistic": "median", "column": "age", "bounds": (0, 90)},
        {"statistic": "mean", "column": "score", "bounds": (0, 3), **BY},
        {"statistic": "mode", "column": "ward", "categories": ["a", "b"]},
        {"statistic": "count", "where": "ward = 'a'"},
        {
            "statistic": "median",
            "column": "day",
            "bounds": (date(2024, 1, 1), date(2024, 12, 31)),
            "unit": "person",
        },
    ]
    return duffdp.Plan(releases, epsilon=SURE).run(data)


def opens(call, path):
    """How often a call opens a file, and what it returns."""
    del OPENED[:]
    returned = call(f"{path}::rows" if path.suffix == ".sqlite" else path)
    return sum(path.name in one for one in OPENED), returned


def one_release(data):
    return duffdp.median(data, column="age", bounds=(0, 90), epsilon=SURE, **BY)


@pytest.mark.parametrize("name", FILES)
def test_a_call_opens_its_file_as_often_as_one_release(name, tmp_path):
    """Once for names and types, and then as often as one reading of all records needs."""
    path = tmp_path / name
    FILES[name](path)
    once, _ = opens(one_release, path)
    assert once > 0
    counted, released = opens(table, path)
    assert counted == once
    groups = TABLE.group_by("ward", maintain_order=True).agg(pl.col("age", "score").median())
    for column in ("age", "score"):
        values = released.to_pandas()[f"{column}_median"]
        assert values.tolist() == pytest.approx(groups[column].to_list(), abs=1)
    counted, releases = opens(plan, path)
    assert counted == once
    assert releases["median of age"].value == pytest.approx(TABLE["age"].median(), abs=1)
    assert str(releases["median of day"].value) == "2024-01-30"
    assert releases["mode of ward"].value in ("a", "b")
    assert releases["count"].value == (TABLE["ward"] == "a").sum()


def test_a_profile_opens_its_file_as_often_as_one_release(tmp_path):
    path = tmp_path / "rows.csv"
    TABLE.write_csv(path)
    counted, _ = opens(lambda data: duffdp.profile(data, epsilon=SURE), path)
    assert counted == opens(one_release, path)[0]


@pytest.mark.parametrize("name", ["rows.csv", "rows.xlsx"])
def test_another_header_after_the_charge_is_an_error(name, tmp_path, monkeypatch):
    """Columns of a file that was replaced are not taken for those that were checked."""
    path, charge_all = tmp_path / name, Ledger.charge_all

    def write(table):
        write_excel(path, table) if path.suffix == ".xlsx" else table.write_csv(path)

    write(TABLE)

    def replaced(*given, **more):
        paid = charge_all(*given, **more)
        write(TABLE.select("score", "age"))
        return paid

    monkeypatch.setattr(Ledger, "charge_all", replaced)
    ledger = Ledger(tmp_path / "budget.db", epsilon=10)
    with pytest.raises(duffdp.UnsupportedData, match="has changed since the release began"):
        duffdp.median(path, column="age", bounds=(0, 90), epsilon=1, ledger=ledger)
    assert ledger.spent() == 1


def test_each_call_reads_the_file_anew(tmp_path):
    path = tmp_path / "rows.csv"
    run = duffdp.Plan([{"statistic": "median", "column": "x", "bounds": (0, 9)}], epsilon=SURE).run
    for value in (3, 7):
        path.write_text("x\n" + f"{value}\n" * 9)
        assert run(Path(path))["median of x"].value == value
