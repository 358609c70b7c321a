"""Names, labels, units, digits and cross tables of a table, in every output."""

from __future__ import annotations

import csv
import io
import re
import subprocess
import sys
import tempfile
import zipfile
from decimal import Decimal
from pathlib import Path
from xml.etree import ElementTree

import polars as pl
import pytest

import duffdp
from duffdp import CodeBook, DuffError, Ledger, Table, TablePlan
from duffdp._pipeline.estimates import Estimate
from duffdp._pipeline.number_text import NumberFormat, decimals_for, number_format
from duffdp.domain import Grid, Membership, Presence
from pages import read

GOLDEN = Path(__file__).parent / "golden"
COURTS = pl.DataFrame(
    {
        "court": ["a", "b", "b", "c"] * 300,
        "outcome": ["won", "lost", "won", "lost", "lost"] * 240,
        "days": [10 * (i % 40) for i in range(1200)],
    }
)
KEYS = {"court": ["a", "b", "c"], "outcome": ["won", "lost"]}
WORDS = {
    "names": {
        "count": "Cases",
        "days_median": "Median duration",
        "outcome": "Result",
        "all": "in total",
        "to": "bis",
        "too_small": "klein",
    },
    "labels": {"court": {"a": "Aachen", "b": "Bonn", "c": "Cologne"}},
    "shown_in": {"days": "days"},
}
# A large epsilon makes every number the exact one, so that files can be compared.
GIVEN = {"bounds": {"days": (0, 1000)}, "step": {"days": 1}, "epsilon": 1e6, "total": True}


def one_way(**more):
    share = {"statistic": "share", "values": ["won"], "name": "won"}
    asked = {"days": "median", "outcome": share}
    words = {
        "names": {"days_median": "Median duration", "count": "Cases", "won": "Won"},
        "labels": WORDS["labels"],
        "shown_in": {"days": "days", "won": "%"},
    }
    return duffdp.table(COURTS, asked, by="court", keys=KEYS["court"], **GIVEN | words | more)


def two_way(**more):
    asked = {"days": ["median", {"statistic": "histogram", "bins": [0, 100, 200, 300, 400]}]}
    return duffdp.table(COURTS, asked, by=["court", "outcome"], keys=KEYS, **GIVEN | WORDS | more)


def test_two_digits_of_an_error():
    assert [decimals_for(x) for x in (0.0123, 0.1, 1.5, 9.9, 10, 47, 3600)] == [
        3,
        2,
        1,
        1,
        0,
        0,
        -2,
    ]
    grid = Grid(0.0, 1000.0, 0.01)
    form = number_format([Estimate(332.4787, 328.11, 336.9)], "candidate", grid)
    assert (form.decimals, form.text(332.4787), form.low(328.11), form.high(336.9)) == (
        *(1, "332.5"),
        *("328.1", "336.9"),
    )
    # Ends are rounded outward, so a printed interval holds what the exact one holds.
    assert (form.low(328.19), form.high(336.81)) == ("328.1", "336.9")
    assert number_format([Estimate(31234, 30400, 32000)], "number", grid).text(31234) == "31,230"
    # No finer than what can come out; counts keep all their digits.
    assert number_format([Estimate(40, 39, 41)], "candidate", Grid(0, 120, 1)).text(40) == "40"
    assert number_format([Estimate(31234, 20000, 40000)], "count", Presence()).text(31234) == (
        "31,234"
    )
    share = Membership(duffdp.Categories(["x"]))
    form = number_format([Estimate(0.51049, 0.48, 0.54)], "average", share, "%")
    assert (form.with_unit(0.51049), form.low(0.48)) == ("51.0%", "48.0")
    assert form.number(0.51049) == 0.510
    assert NumberFormat(2).number(Decimal("1.005")) == Decimal("1.00")
    assert NumberFormat(1).text(-0.01) == "0.0"


def test_the_typical_error_decides_for_a_column():
    estimates = [Estimate(5.123456, 5 - e, 5 + e) for e in (0.001, 0.03, 4.0)]
    form = number_format(estimates, "average", Grid(0.0, 10.0, 0.0001))
    assert form.decimals == 3  # of 0.030, the middle one


def test_every_output_has_names_and_labels():
    table = one_way()
    frame = table.to_pandas()
    assert list(frame.columns) == [
        *("court", "Cases", "Cases low", "Cases high"),
        *("Median duration", "Median duration low", "Median duration high"),
        *("Won", "Won low", "Won high", "too_small"),
    ]
    assert list(frame["court"])[:3] == ["Aachen", "Bonn", "Cologne"]
    assert "all" in table.to_csv()
    for text in (str(table), table.to_markdown(), table.to_latex(), table.to_html()):
        for word in ("Median duration", "Cases", "Aachen", "days"):
            assert word in text
        assert "days_median" not in text
    assert "days_median" in table.to_json()  # names are for readers
    again = Table.from_dict(table.to_dict())
    assert again.to_markdown() == table.to_markdown()
    assert again == table


def workbook_text(result):
    """The cells of a workbook with their formats, a line each row; when it was drawn is masked."""
    import openpyxl

    with tempfile.TemporaryDirectory() as folder:
        result.to_excel(Path(folder, "book.xlsx"))
        book = openpyxl.load_workbook(Path(folder, "book.xlsx"))
    lines = []
    for sheet in book:
        widths = [round(column.width, 1) for column in sheet.column_dimensions.values()]
        lines.append(f"# {sheet.title}, frozen at {sheet.freeze_panes}, widths {widths}")
        for row in sheet.iter_rows():
            cells = [f"{cell.value!r} {cell.number_format}" for cell in row]
            lines.append(" | ".join(cells).replace(" General", ""))
    return masked("\n".join(lines) + "\n")


def masked(text):
    """Text without the day of the draw and the version."""
    text = re.sub(r"\d{4}-\d\d-\d\d( \d\d:\d\d:\d\d\+00:00)?", "DAY", text)
    return text.replace(duffdp.__version__, "VERSION")


def page_text(result):
    """The page without its style and script, a line each tag."""
    with tempfile.TemporaryDirectory() as folder:
        page = duffdp.report.write(result, Path(folder, "page.html"), title="Cases")
        text = page.read_text(encoding="utf-8")
    body = re.sub(r"<script>.*?</script>", "", text[text.index("<main>") :], flags=re.DOTALL)
    return masked(re.sub(r"\n+", "\n", body.replace("><", ">\n<")))


def single():
    return duffdp.median(
        COURTS, column="days", bounds=(0, 1000), step=1, epsilon=1e6, interval=0.95
    )


def outputs():
    """The text of every output, by the name of its golden file."""
    one, two, release = one_way(), two_way(), single()
    return {
        "one.txt": f"{one.to_text()}\n",
        "one.md": one.to_markdown(),
        "one.csv": one.to_csv(separator=";", decimal=","),
        "one.tex": one.to_latex(),
        "one.html": one.to_html().replace("><", ">\n<"),
        "one.xlsx.txt": workbook_text(one),
        "one.page.html": page_text(one),
        "two.txt": f"{two.to_text()}\n",
        "two.md": two.to_markdown(),
        "two.csv": two.to_csv(raw=True),
        "two.tex": two.to_latex(),
        "two.html": two.to_html().replace("><", ">\n<"),
        "two.xlsx.txt": workbook_text(two),
        "two.page.html": page_text(two),
        "release.txt": f"{release.to_text()}\n",
        "release.md": release.to_markdown(),
        "release.tex": release.to_latex(),
        "release.card.html": release._repr_html_().replace("><", ">\n<"),
        "release.xlsx.txt": workbook_text(release),
    }


@pytest.fixture(scope="module")
def texts():
    return outputs()


@pytest.mark.parametrize("name", sorted(path.name for path in GOLDEN.iterdir()))
def test_golden_files(name, texts):
    """The text of every output, letter by letter. To write the files again, run
    `python tests/pipeline/table_words_test.py` and read the difference.
    """
    assert texts[name] == (GOLDEN / name).read_text(encoding="utf-8")


def test_every_output_has_a_golden_file(texts):
    assert {path.name for path in GOLDEN.iterdir()} == set(texts)


def test_raw_numbers_on_request():
    asked = {"days": "mean"}
    table = duffdp.table(COURTS, asked, bounds={"days": (0, 1000)}, epsilon=1, rng=1)
    (row,) = csv.DictReader(io.StringIO(table.to_csv()))
    (raw,) = csv.DictReader(io.StringIO(table.to_csv(raw=True)))
    assert float(raw["days_mean"]) == table.wide()["days_mean"][0]
    assert len(row["days_mean"]) < len(raw["days_mean"])
    assert float(row["days_mean_low"]) <= float(raw["days_mean_low"])
    assert float(row["days_mean_high"]) >= float(raw["days_mean_high"])


@pytest.mark.parametrize("marks", [{"separator": "x"}, {"decimal": ";"}, {"decimal": ","}])
def test_marks_that_csv_cannot_have(marks):
    with pytest.raises(DuffError, match=r"separator|decimal"):
        one_way().to_csv(**marks)


def test_cross_tables():
    table = two_way()
    cross = table.cross("days_median")
    assert cross.header() == ["court", "won", "lost", "in total"]
    assert cross.row_labels() == ["Aachen", "Bonn", "Cologne", "in total"]
    wide = table.wide()
    counts = table.cross("count").wide()
    for court, row in zip(cross.row_labels(), zip(*counts.values(), strict=True), strict=True):
        assert row[0] == court
        assert row[3] == row[1] + row[2]  # so large an epsilon draws no noise
    assert counts["in total"][3] == 1200
    assert table.cross("Median duration").wide() == cross.wide()
    assert cross.wide()["won"][0] == wide["Median duration"][0]
    assert "█▅█▅" in table.cross("days_histogram").to_text()
    assert str(table).count("court × Result") == 3
    with pytest.raises(DuffError, match="there is no column 'x'"):
        table.cross("x")
    with pytest.raises(DuffError, match="two columns of groups"):
        one_way().cross("count")


def test_keys_that_are_no_product_leave_cells_empty():
    keys = [("a", "won"), ("b", "lost")]
    table = duffdp.table(
        COURTS, {"days": "median"}, by=["court", "outcome"], keys=keys, **GIVEN | {"total": False}
    )
    cross = table.cross("count")
    assert cross.wide()["won"][1] is None
    assert cross.display_tables()[0].rows[1][1] == ""


def test_a_code_book_has_keys_and_labels(tmp_path):
    path = tmp_path / "codes.csv"
    path.write_text("Kürzel;Name\na;Aachen\nb;Bonn\n", encoding="utf-8")
    book = CodeBook(path, key="Kürzel", label="Name")
    table = duffdp.table(COURTS, {"days": "median"}, by="court", keys={"court": book}, **GIVEN)
    assert [key for (key,) in table.keys] == ["a", "b"]
    assert list(table.to_pandas()["court"])[:2] == ["Aachen", "Bonn"]
    only_labels = duffdp.table(
        *(COURTS, {"days": "median"}), by="court", keys=["a"], labels={"court": book}, **GIVEN
    )
    assert list(only_labels.to_pandas()["court"])[:1] == ["Aachen"]
    with pytest.raises(DuffError, match="no column 'code'"):
        CodeBook(path, key="code", label="Name")
    own = duffdp.table(
        *(COURTS, {"days": "median"}),
        by="court",
        keys=book,
        labels={"court": {"b": "Bonn (district)"}},
        **GIVEN,
    )
    assert list(own.to_pandas()["court"])[:2] == ["Aachen", "Bonn (district)"]
    with pytest.raises(DuffError, match="has an unknown entry 'x'"):
        duffdp.table(
            *(COURTS, {"days": "median"}),
            by="court",
            keys=book,
            labels={"court": {"x": "X"}},
            **GIVEN,
        )


def test_a_code_book_for_one_release(tmp_path):
    """In Python, in a plan, and as @FILE[COLUMN] on the command line; never from the data."""
    path = tmp_path / "codes.csv"
    path.write_text("Kürzel;Name\na;Aachen\nb;Bonn\n", encoding="utf-8")
    COURTS.write_csv(tmp_path / "courts.csv")
    book = CodeBook(path, key="Kürzel")
    assert book.labels == {}
    for keys in (book, {"court": book}):
        release = duffdp.count(COURTS, by="court", keys=keys, epsilon=1e6)
        assert list(release.value.iter_rows()) == [("a", 300), ("b", 600)]
    entry = {"file": str(path), "key": "Kürzel", "label": "Name"}
    plan = duffdp.Plan(
        [{"statistic": "count", "by": "court", "keys": {"court": entry}}], epsilon=1e6
    )
    (release,) = plan.run(COURTS).values()
    assert list(release.value["count"]) == [300, 600]
    command = [sys.executable, "-m", "duffdp", "count", "courts.csv"]
    words = ["--by", "court", "--epsilon", "1e6", "--format", "csv", "--quiet", "--keys"]

    def call(keys):
        return subprocess.run(
            [*command, *words, keys], cwd=tmp_path, capture_output=True, text=True, check=False
        )

    assert call("@codes.csv[Kürzel]").stdout == "court,statistic,value\na,count,300\nb,count,600\n"
    assert "there is no column 'code'" in call("@codes.csv[code]").stderr
    own = call("@courts.csv[court]")
    assert own.returncode != 0
    assert "must be known without the data" in own.stderr
    with pytest.raises(DuffError, match="known without the data"):
        duffdp.count(
            tmp_path / "courts.csv",
            by="court",
            keys=CodeBook(tmp_path / "courts.csv", key="court"),
            epsilon=1,
        )


def test_words_in_a_plan(tmp_path):
    COURTS.write_parquet(tmp_path / "courts.parquet")
    (tmp_path / "codes.csv").write_text("k,l\na,Aachen\nb,Bonn\n")
    text = """
source = "courts.parquet"
epsilon = 1000
by = "court"
[keys.court]
file = "codes.csv"
key = "k"
label = "l"
[statistics]
days = "median"
[bounds]
days = [0, 1000]
[names]
count = "Cases"
[shown_in]
days = "days"
"""
    (tmp_path / "plan.toml").write_text(text)
    table = TablePlan.from_toml(tmp_path / "plan.toml").run()
    assert "Cases" in str(table)
    assert "Aachen" in str(table)
    labels = text.replace(
        '[keys.court]\nfile = "codes.csv"\nkey = "k"\nlabel = "l"',
        '[keys]\ncourt = ["a"]\n[labels.court]\na = "AC"',
    )
    (tmp_path / "plan.toml").write_text(labels)
    assert "AC" in str(TablePlan.from_toml(tmp_path / "plan.toml").run())


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"names": {"days_medain": "x"}}, "Did you mean 'days_median'"),
        ({"names": {"days_median": ""}}, "names must be"),
        ({"names": ["x"]}, "names must be"),
        ({"names": {"days_median": "Cases", "count": "Cases"}}, "two columns"),
        ({"labels": {"court": {"x": "X"}}}, "labels of court has an unknown entry"),
        ({"labels": {"town": {"a": "X"}}}, "labels has an unknown entry 'town'"),
        ({"labels": {"court": {"a": "X", "b": "X"}}}, "two keys the same label"),
        ({"labels": {"court": "codes.csv"}}, "labels must be"),
        ({"shown_in": {"days": "%"}}, "is not a share"),
        ({"shown_in": {"nights": "days"}}, "unknown entry 'nights'"),
    ],
)
def test_wrong_words_cost_nothing(words, message, tmp_path):
    ledger = Ledger(tmp_path / "budget.db", epsilon=5)
    given = {"by": "court", "keys": KEYS["court"], "bounds": {"days": (0, 1000)}}
    with pytest.raises(DuffError, match=re.escape(message)):
        duffdp.table(COURTS, {"days": "median"}, epsilon=1, ledger=ledger, **given, **words)
    assert ledger.remaining() == 5


def test_other_words_are_the_same_release(tmp_path):
    """Words change no draw: a retry with the same call id returns the numbers, uncharged."""
    ledger = Ledger(tmp_path / "budget.db", epsilon=5).call("one")
    given = {"by": "court", "keys": KEYS["court"], "bounds": {"days": (0, 1000)}, "epsilon": 1}
    first = duffdp.table(COURTS, {"days": "median"}, ledger=ledger, **given)
    names = {"names": {"count": "Cases"}}
    second = duffdp.table(COURTS, {"days": "median"}, ledger=ledger, **given, **names)
    assert second.wide()["Cases"] == first.wide()["count"]
    assert ledger.remaining() == 4
    assert second.call_id == "one"


EVIL = {
    "tag": "<b onmouseover=alert(1)>x</b>",
    "script": "</script><script>alert(1)</script>",
    "formula": "=HYPERLINK(1)",
    "plus": "+1+cmd",
    "latex": r"\input{x} $y$ %",
    "escape": "\x1b[31mred\x07",
    "direction": "a\u202eb",
    "sheet": "a/b:c*[d]?'e",
    "quotes": "\" onload='x",
}


@pytest.mark.parametrize("bad", EVIL.values(), ids=EVIL)
def test_words_are_text_everywhere(bad, tmp_path):
    words = {
        "names": {"count": f"{bad}1", "days_median": f"{bad}2", "all": f"{bad}3", "to": f"{bad}4"},
        "labels": {"court": {"a": f"{bad}5"}, "outcome": {"won": f"{bad}6"}},
        "shown_in": {"days": f"{bad}7"},
    }
    table = duffdp.table(
        COURTS, {"days": "median"}, by=["court", "outcome"], keys=KEYS, **GIVEN | words
    )
    page = duffdp.report.write(table, tmp_path / "page.html").read_text(encoding="utf-8")
    texts = [page, table.to_html(), str(table), table.to_markdown(), table.to_latex()]
    for text in texts:
        assert all(char.isprintable() or char == "\n" for char in text)
    for text in texts[:2]:
        assert "<b onmouseover" not in text
        assert "<script>alert" not in text
        path = tmp_path / "read.html"
        path.write_text(text, encoding="utf-8")
        names = {name for _, attributes in read(path)[1].tags for name in attributes}
        assert not {"onload", "onmouseover"} & names
    assert r"\input" not in table.to_latex()
    for row in csv.reader(io.StringIO(table.to_csv())):
        assert not any(re.match(r"\s*[=+@]", cell) for cell in row)
    table.to_excel(tmp_path / "t.xlsx")
    with zipfile.ZipFile(tmp_path / "t.xlsx") as book:
        sheets = [name for name in book.namelist() if name.startswith("xl/worksheets/")]
        for name in sheets:
            tags = {
                each.tag.rpartition("}")[2]
                for each in ElementTree.fromstring(book.read(name)).iter()
            }
            assert not tags & {"f", "hyperlink"}
    assert len(sheets) == 4  # a cross table each, all numbers, the facts


def test_a_workbook(tmp_path):
    import openpyxl

    ledger = Ledger(tmp_path / "budget.db", epsilon=2e6).call("7")
    one_way(ledger=ledger).to_excel(tmp_path / "t.xlsx")
    book = openpyxl.load_workbook(tmp_path / "t.xlsx")
    assert book.sheetnames == ["table", "about"]
    sheet = book["table"]
    assert sheet.freeze_panes == "A2"
    header = [cell.value for cell in sheet[1]]
    formats = dict(zip(header, [cell.number_format for cell in sheet[2]], strict=True))
    assert formats["Cases"] == "#,##0"
    assert formats["Median duration"] == '#,##0" days"'
    assert formats["Won"].endswith("%")
    assert [row[0].value for row in sheet.iter_rows(min_row=2)] == [
        "Aachen",
        "Bonn",
        "Cologne",
        "all",
    ]
    assert sheet.column_dimensions["A"].width > 8
    facts = {row[0].value: row[1].value for row in book["about"].iter_rows(min_row=2)}
    assert facts["epsilon"] == "1000000"
    assert facts["call id"] == "7"
    assert facts["protects"] == "row"
    assert "bounds 0 to 1,000 in steps of 1" in facts["Median duration"]
    assert "intervals 95% for the data" in facts["Median duration"]
    assert facts["made with"] == f"duffdp {duffdp.__version__}"
    assert "mechanism two-sided-geometric" in facts["Cases"]
    assert facts["keys"] == "a; b; c"
    duffdp.count(COURTS, epsilon=1, interval=0.9).to_excel(tmp_path / "c.xlsx")
    assert openpyxl.load_workbook(tmp_path / "c.xlsx").sheetnames == ["table", "about"]


def test_a_table_for_the_population():
    asked = {"days": ["mean", "median", "sum"]}
    given = {"bounds": {"days": (0, 1000)}, "epsilon": 5, "rng": 1}
    data = duffdp.table(COURTS, asked, **given)
    people = duffdp.table(COURTS, asked, covers="population", **given)
    covered = {name: release.covers for name, release in people.releases.items()}
    assert covered == {
        "count": "data",
        "days_mean": "population",
        "days_median": "population",
        "days_sum": "data",
    }
    assert (data.covers, people.covers) == ("data", "population")
    wide, narrow = people.wide(), data.wide()
    assert wide["days_mean_high"][0] - wide["days_mean_low"][0] > 2 * (
        narrow["days_mean_high"][0] - narrow["days_mean_low"][0]
    )
    assert Table.from_dict(people.to_dict()).covers == "population"
    assert "population" in str(people)


if __name__ == "__main__":
    for name, text in outputs().items():
        (GOLDEN / name).write_text(text, encoding="utf-8")


@pytest.mark.parametrize("sample", ["1.234,5", "1 234,5", "1\u202f234,5", "1'234.5", "1234,5"])
def test_marks_of_numbers(tmp_path, sample):
    marks = sample[1] if sample[1] != "2" else "", sample[-2]
    plain = duffdp.table(COURTS, {"days": "mean"}, bounds={"days": (0, 1000)}, epsilon=1, rng=1)
    names = {"1,234.5": sample, "to": "bis"}
    table = duffdp.table(
        COURTS, {"days": "mean"}, bounds={"days": (0, 1000)}, epsilon=1, rng=1, names=names
    )
    (row,) = plain.display_tables()[0].rows
    assert "1,2" in row[0]
    assert "." in row[1]
    expected = [
        text.replace(" to ", " bis ").translate({ord(","): marks[0], ord("."): marks[1]})
        for text in row
    ]
    assert list(table.display_tables()[0].rows[0]) == expected
    assert expected[0] in table.to_text()
    assert table.to_csv(tmp_path / "a.csv") == plain.to_csv(tmp_path / "b.csv")
    assert Table.from_dict(table.to_dict()).to_text() == table.to_text()
    duffdp.report.write(table, tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text("utf-8").replace("&#39;", "'")
    assert expected[0].partition(" (")[0] in page
    assert f"The numbers of this table are written like {sample}" in page


@pytest.mark.parametrize("sample", ["1234.6", "1,234,5", "1x234.5", ""])
def test_marks_of_numbers_that_are_none(sample):
    with pytest.raises(DuffError, match="names must"):
        duffdp.table(COURTS, {}, epsilon=1, names={"1,234.5": sample})
