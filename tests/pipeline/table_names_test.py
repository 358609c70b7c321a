"""Names and keys of a table are text wherever it is handed on: HTML, Markdown, LaTeX, CSV, Excel,
the terminal, a picture."""

from __future__ import annotations

import csv
import io
import json
import re
import sys
import zipfile
from html.parser import HTMLParser
from xml.etree import ElementTree

import markdown_it
import matplotlib as mpl
import polars as pl
import pytest

import duffdp
from duffdp import DuffError, Ledger, TablePlan
from duffdp._text import as_csv_text, visible

mpl.use("Agg")

EVIL = {
    "formula": "=cmd|' /C calc'!A0",
    "plus": "+1+cmd",
    "minus": "-2+3+cmd",
    "at": "@SUM(1+1)",
    "wide": "\uff1d1+1",
    "spaces": "  =1+1",
    "tab": "\t=1+1",
    "return": "\r=1+1",
    "script": "<script>alert(1)</script>",
    "attribute": "\" onload='x",
    "entity": "&lt;b&gt;",
    "link": "[x](http://a) http://a.b",
    "table": "a|b",
    "escape": "\x1b[31mred\x07",
    "lines": "a\n\n# b\r\n- c\u2028d",
    "direction": "a\u202eb",
    "mathematics": r"$\frac{1}$ \$ $",
    "latex": r"\input{/etc/passwd} %x #1 ^~ {",
}
TAGS = {"br", "table", "caption", "thead", "tbody", "tr", "th", "td", "div", "p", "span"}


def released(bad, **given):
    """A name as column, key column and key."""
    columns = {bad: [1, 2, 3] * 9, f"{bad} g": [bad, "b", "c"] * 9}
    return duffdp.table(
        pl.DataFrame(columns),
        {bad: ["median", "mean"]},
        epsilon=1,
        bounds={bad: (0, 9)},
        by=f"{bad} g",
        keys=[bad, "b"],
        **given,
    )


class Read(HTMLParser):
    """Tags, attributes and texts of a page."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes, self.texts = set(), set(), []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attributes}

    def handle_data(self, data):
        self.texts.append(data)


def printable(text):
    return all(char.isprintable() or char == "\n" for char in text)


@pytest.mark.parametrize("bad", EVIL.values(), ids=EVIL)
def test_html(bad):
    table = released(bad)
    release = table.releases[f"{bad}_median"]
    for text in (table._repr_html_(), release._repr_html_(), table.tidy()._repr_html_()):
        page = Read(text)
        assert page.tags <= TAGS
        assert page.attributes == {"style"}
        assert visible(bad) in page.texts
        assert printable(text)


@pytest.mark.parametrize("bad", EVIL.values(), ids=EVIL)
def test_markdown(bad):
    table = released(bad, total=True)
    made = markdown_it.MarkdownIt("commonmark").enable(["table", "strikethrough"])
    page = Read(made.render(table.to_markdown()))
    assert page.tags <= TAGS | {"p"}
    assert " ".join(visible(bad).split()) in page.texts
    assert sum(text == "all" for text in page.texts) == 1


@pytest.mark.parametrize("bad", EVIL.values(), ids=EVIL)
def test_csv(bad, tmp_path):
    table = released(bad)
    text = table.to_csv(tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_text() == text
    rows = list(csv.reader(io.StringIO(text)))
    assert [len(row) for row in rows] == [len(table.wide())] * 3
    for cell in (cell for row in rows for cell in row):
        assert printable(cell)
        assert cell.lstrip()[:1] not in ("=", "@", "\uff1d")
        assert cell[:1] not in "+-" or re.fullmatch(r"[+-]?[\d.e+-]+", cell)
    assert rows[1][0].removeprefix("'") == visible(bad)


def test_numbers_stay_numbers_in_a_csv():
    assert [as_csv_text(text) for text in ("-1", "+2.5", "-1e-5", "1,5")] == [
        *("-1", "+2.5", "-1e-5", "1,5")
    ]
    assert as_csv_text("-1-1") == "'-1-1"
    table = duffdp.table(
        pl.DataFrame({"x": [-5] * 99, "g": [-1] * 99}),
        {"x": "sum"},
        epsilon=100,
        bounds={"x": (-9, 0)},
        by="g",
        keys=[-1],
    )
    assert table.to_csv().splitlines()[1].startswith("-1,99,")
    assert ",-495," in table.to_csv()


@pytest.mark.parametrize("bad", EVIL.values(), ids=EVIL)
def test_excel(bad, tmp_path):
    table = released(bad, total=True)
    table.to_excel(tmp_path / "t.xlsx")
    with zipfile.ZipFile(tmp_path / "t.xlsx") as book:
        parts = {name: book.read(name).decode() for name in book.namelist()}
    sheet = ElementTree.fromstring(parts["xl/worksheets/sheet1.xml"])
    tags = [element.tag.rpartition("}")[2] for element in sheet.iter()]
    assert "f" not in tags
    assert "hyperlink" not in tags
    assert tags.count("row") == 4
    texts = [e.text for e in ElementTree.fromstring(parts["xl/sharedStrings.xml"]).iter()]
    assert visible(bad) in texts
    values = [e.text for e in sheet.iter() if e.tag.endswith("}v")]
    assert str(table.wide()["count"][0]) in values


@pytest.mark.parametrize("bad", EVIL.values(), ids=EVIL)
def test_latex(bad):
    text = released(bad).to_latex()
    assert printable(text)
    assert len(re.findall(r"\\\\\n", text)) == 3
    commands = set(re.findall(r"\\([a-zA-Z]+)", text))
    assert commands <= {
        *("begin", "end", "toprule", "midrule", "bottomrule"),
        *("textbackslash", "textasciicircum", "textasciitilde", "footnotesize", "textbar"),
        *("textquotesingle", "textquotedbl", "textasciigrave", "textless", "textgreater"),
    }
    body, note = text.split("\\midrule")[1].split("\\bottomrule")
    note = note.split("\\footnotesize ")[1].removesuffix("}\n")
    for part in (body, note):
        assert not re.search(r"(?<!\\)[%$#_{](?![a-z]*\}|\})", part)


@pytest.mark.filterwarnings("ignore:Glyph")  # a font need not have every letter
@pytest.mark.parametrize("bad", EVIL.values(), ids=EVIL)
def test_a_picture(bad, tmp_path):
    table = released(bad, total=True)
    axes = table.plot(f"{bad}_median", "count")
    assert len(axes) == 2
    axes[0].figure.savefig(tmp_path / "t.png")
    mpl.pyplot.close(axes[0].figure)
    ax = table.releases[f"{bad}_median"].plot()
    ax.figure.savefig(tmp_path / "r.png")
    mpl.pyplot.close(ax.figure)


def test_what_a_picture_shows():
    table = released("x", total=True)
    axes = table.plot()
    assert [ax.get_xlabel() for ax in axes] == ["count", "x_median", "x_mean"]
    assert [text.get_text() for text in axes[0].get_yticklabels()] == ["x", "b", "all"]
    row = table.wide()
    segments = [line.get_xdata() for line in axes[1].lines]
    assert [row["x_median_low"][0], row["x_median_high"][0]] in [list(s) for s in segments]
    assert [row["x_median"][1]] in [list(s) for s in segments]
    mpl.pyplot.close(axes[0].figure)
    with pytest.raises(DuffError, match="there is no column 'none'"):
        table.plot("none")
    figure, given = mpl.pyplot.subplots(1, 2)
    assert table.plot("count", "x_mean", axes=given) == list(given)
    mpl.pyplot.close(figure)
    several = duffdp.describe([1, 2, 3], epsilon=1, bounds=(0, 9)).plot()
    assert len(several.get_yticklabels()) == 7
    mpl.pyplot.close(several.figure)


@pytest.mark.parametrize("bad", EVIL.values(), ids=EVIL)
def test_the_terminal(bad, tmp_path, call):
    pl.DataFrame({"x": [1, 2] * 9, "g": [bad, "b"] * 9}).write_parquet(tmp_path / "a.parquet")
    lines = ["source = 'a.parquet'", "epsilon = 1", "by = 'g'", f'keys = [{json.dumps(bad)}, "b"]']
    lines += ["[statistics]", "x = 'median'", "[bounds]", "x = [0, 9]"]
    (tmp_path / "plan.toml").write_text("\n".join(lines), encoding="utf-8")
    assert TablePlan.from_toml(tmp_path / "plan.toml").plan.requests[0].options["keys"][0] == bad
    for form in ("table", "csv", "markdown", "html", "json", "latex"):
        code, out, err = call("table", tmp_path / "plan.toml", "-f", form)
        assert (code, err) == (0, "")
        assert printable(out)


def test_a_ledger_is_a_gauge(tmp_path):
    ledger = Ledger(tmp_path / "b.db", epsilon=4, dataset="<b>people</b>")
    duffdp.count([1, 2], epsilon=1, ledger=ledger)
    text = ledger._repr_html_()
    page = Read(text)
    assert page.tags == {"div"}
    assert page.texts[0] == "<b>people</b>: epsilon 1 of 4 spent, 3 left"
    assert "width:25%" in text


def test_a_preview_is_a_table():
    seen = duffdp.preview("uniform", n=100, epsilon=1.0, bounds=(0, 1), data_sets=2)
    page = Read(seen._repr_html_())
    assert {"duff", "best", "mean error"} <= set(page.texts)
    assert f"{seen.expected_error('duff'):.4g}" in page.texts


@pytest.mark.parametrize(
    ("module", "method"),
    [
        ("pandas", "to_pandas"),
        ("polars", "to_polars"),
        ("pyarrow", "to_arrow"),
        ("xlsxwriter", "to_excel"),
        ("matplotlib.pyplot", "plot"),
    ],
)
def test_what_is_missing_is_named(module, method, monkeypatch, tmp_path):
    table = released("x")
    monkeypatch.setitem(sys.modules, module, None)
    given = [tmp_path / "t"] if method == "to_excel" else []
    with pytest.raises(DuffError, match=r"pip install 'duffdp\[tables\]'"):
        getattr(table, method)(*given)


def test_plots_have_labels_units_and_plain_numbers():
    """Ticks have no exponent; a label names the column, its unit, and millions if ticks count
    these.
    """
    pay = [1_000_000 + 4_000 * i for i in range(1000)]
    rich = pl.DataFrame({"g": ["a", "b"] * 500, "pay": pay, "yes": ["y", "n", "n", "n"] * 250})
    given = {"column": "pay", "bounds": (0, 5_000_000), "step": 1000, "epsilon": 50}
    groups = {"by": "g", "keys": ["a", "b"]}

    def ticks(axes):
        axes.figure.draw_without_rendering()
        assert axes.xaxis.get_offset_text().get_text() == ""
        texts = [label.get_text() for label in axes.get_xticklabels()]
        assert all(re.fullmatch("[−-]?[0-9,.]+", text) for text in texts)
        return axes.get_xlabel(), texts

    label, texts = ticks(duffdp.median(rich, **given, **groups).plot())
    assert label == "Median of pay"
    assert all(text.startswith(("2,9", "3,0")) for text in texts)
    assert ticks(duffdp.distribution(rich, **given).plot())[0] == "pay"
    assert ticks(duffdp.count(rich, epsilon=1, **groups).plot())[0] == "Count (rows)"
    table = duffdp.table(
        rich,
        {"pay": ["sum", "median"], "yes": {"statistic": "share", "values": ["y"], "name": "share"}},
        epsilon=500,
        bounds={"pay": (0, 5_000_000)},
        shown_in={"pay": "EUR", "share": "%"},
        **groups,
    )
    labels = [ticks(axes) for axes in table.plot()]
    assert [label for label, _ in labels] == [
        *("count", "pay_sum (million EUR)", "pay_median (EUR)"),
        "share (%)",
    ]
    assert all(text.startswith(("1,4", "1,5")) for text in labels[1][1])  # not 1,490,000,000


def test_a_release_is_a_card_in_a_notebook():
    given = {"bounds": (0, 120), "step": 1, "epsilon": 1, "interval": 0.95}
    card = duffdp.median([31, 35, 40] * 100, **given)._repr_html_()
    assert Read(card).tags == {"div", "p", "span", "br"}
    assert re.search(
        r"Median.*35.*\(\d+ to \d+\).*epsilon=1 for each row of the data, interval 95%", card
    )
    assert "<table" in duffdp.describe([31, 35], epsilon=1, bounds=(0, 120))._repr_html_()
    withheld = duffdp.median([1], **given)._repr_html_()
    assert "NOT PRIVATE" not in withheld
    assert "NOT PRIVATE" in duffdp.median([1], **given, rng=1)._repr_html_()
