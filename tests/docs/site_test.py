"""The site builds without a warning, loads nothing from elsewhere and has every public name; the
notebook, the gallery and the page for reviewers are what the code says now.
"""

from __future__ import annotations

import html.parser
import json
import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

import browser
import duffdp
from duffdp.audit.cases import attack_cases

pytestmark = pytest.mark.xdist_group("site")  # it is built once
ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
# What a browser fetches by itself; an `a` leads somewhere only if it is clicked.
FETCHED = {"script": "src", "link": "href", "img": "src", "iframe": "src", "source": "src"}
ELSEWHERE = re.compile(r"(?:@import|url\()\s*['\"]?(?:https?:)?//")


class Resources(html.parser.HTMLParser):
    """The addresses that a page fetches, the anchors that it has, and its links."""

    def __init__(self, path):
        super().__init__()
        self.fetched, self.anchors = [], set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        if address := given.get(FETCHED.get(tag, "")):
            self.fetched.append(address)
        if "id" in given:
            self.anchors.add(given["id"])


def elsewhere(address):
    return address.startswith(("http:", "https:", "//"))


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    place = tmp_path_factory.mktemp("site")
    subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", place],
        cwd=ROOT,
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
        check=True,
    )
    return place


@pytest.fixture(scope="module")
def pages(site):
    return {path.relative_to(site).as_posix(): Resources(path) for path in site.rglob("*.html")}


def test_every_page_is_there(pages):
    written = {
        path.relative_to(DOCS).with_suffix(".html").as_posix() for path in DOCS.rglob("*.md")
    }
    added = {"index.html", "contributing.html", "changes.html", "get-started/notebook.html"}
    assert written | added <= {*pages}
    assert len(pages) >= 45


def test_nothing_is_loaded_from_elsewhere(site, pages):
    assert sum(len(page.fetched) for page in pages.values()) >= 5 * len(pages)
    for name, page in pages.items():
        assert not list(filter(elsewhere, page.fetched)), name
    sheets = list(site.rglob("*.css"))
    assert len(sheets) >= 3
    for path in sheets:
        assert not ELSEWHERE.search(path.read_text(encoding="utf-8")), path.name


def test_what_loads_from_elsewhere_is_found(tmp_path):
    page = tmp_path / "page.html"
    page.write_text('<link href="https://fonts.example/x"><a href="https://x.example">x</a>')
    assert [*filter(elsewhere, Resources(page).fetched)] == ["https://fonts.example/x"]
    assert ELSEWHERE.search("@import url(https://fonts.example/x)")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_in_a_browser(site, scheme):
    """As wide as a telephone: nothing sticks out, nothing is fetched from elsewhere by a script
    either, axe-core finds no serious fault, and the colours follow the reader's choice.
    """
    with browser.chromium() as chromium:
        window = chromium.new_context(
            color_scheme=scheme, viewport={"width": 390, "height": 844}
        ).new_page()
        asked = []
        window.on("request", lambda request: asked.append(request.url))
        for name in (
            "how-to/choose-a-statistic",
            "get-started/notebook",
            "reference/api/medians-and-quantiles",
        ):
            window.goto((site / f"{name}.html").as_uri())
            assert window.evaluate("document.documentElement.scrollWidth") == 390
            ground = window.evaluate("getComputedStyle(document.body).backgroundColor")
            assert (ground == "rgb(255, 255, 255)") == (scheme == "light")
            assert browser.severe_faults(window) == []
        assert len(asked) >= 10
        assert not list(filter(elsewhere, asked))


def test_every_public_name_has_its_place(pages):
    anchors = {anchor for page in pages.values() for anchor in page.anchors}
    modules = {name for name in duffdp.__all__ if name in duffdp._MODULES}
    for name in {*duffdp.__all__} - modules:
        assert f"duffdp.{name}" in anchors
    for module in ("statistics", "mechanisms", "report"):
        for name in getattr(duffdp, module).__all__:
            assert f"duffdp.{module}.{name}" in anchors
    assert "duffdp.testing.check_statistic" in anchors
    assert "duffdp.Release.distance_bound" in anchors  # members too


def test_the_reference_is_current():
    made = runpy.run_path(str(DOCS / "api.py"))["pages"]()
    stored = {path.name: path.read_text() for path in (DOCS / "reference" / "api").iterdir()}
    assert stored == made, "run: python docs/commands.py"


def test_search_finds_names_and_words(site):
    index = json.loads((site / "search" / "search_index.json").read_text(encoding="utf-8"))["docs"]
    assert any(entry["location"].endswith("#duffdp.trimmed_mean") for entry in index)
    assert any("permute-and-flip" in entry["text"].lower() for entry in index)


def test_search_works_without_a_server(site):
    with browser.chromium() as chromium:
        window = chromium.new_page()
        window.goto((site / "how-to" / "tables.html").as_uri())
        window.click(".md-search__input")
        found = window.locator(".md-search-result__meta")
        found.filter(has_text="Type to start").wait_for()  # the index is made
        window.keyboard.type("permute-and-flip")
        found.filter(has_text="matching document").wait_for()
        assert window.locator(".md-search-result__item a").count() > 1


def test_no_mark_of_a_test_is_on_a_page(site):
    for path in site.rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        assert "doctest: +" not in text, path.name
        assert "&lt;BLANKLINE&gt;" not in text, path.name


def test_the_notebook_gives_what_it_says():
    script = runpy.run_path(str(DOCS / "notebook.py"))
    notebook = (DOCS / "get-started" / "notebook.ipynb").read_text(encoding="utf-8")
    stored = json.loads(notebook)["cells"]
    ran = script["executed"]().cells
    assert len(ran) >= 15
    for before, now in zip(stored, ran, strict=True):
        for then, given in zip(before.get("outputs", []), now.get("outputs", []), strict=True):
            assert words(given) == words(then), "run: python docs/notebook.py"


def words(output):
    """What a cell printed or returned, but for pictures, whose bytes depend on the machine."""
    text = output.get("text") or output["data"]["text/plain"]
    return "".join(text)


def test_the_page_for_reviewers_is_current():
    page = runpy.run_path(str(DOCS / "reviewers.py"))["page"]()
    stored = (DOCS / "review" / "reviewers.md").read_text(encoding="utf-8")
    assert page == stored, "run: python docs/reviewers.py"


def test_every_attack_is_on_the_page_for_reviewers():
    page = (DOCS / "review" / "reviewers.md").read_text(encoding="utf-8")
    missing = {case.title for case in attack_cases() if f"| `{case.title}` |" not in page}
    assert not missing, "run: python docs/audit.py"


def test_every_example_of_the_gallery_has_its_picture():
    found = runpy.run_path(str(DOCS / "gallery.py"))["examples"]()
    named = [name for code, name in found if "picture = " in code]
    assert len(named) >= 6
    assert all((DOCS / name).exists() for name in named)
    on_disk = {f"images/{path.name}" for path in (DOCS / "images").iterdir()}
    assert on_disk == {*named, "images/studio.png"}
