"""The pages lead somewhere: every link, every named test and every named section exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import duffdp

ROOT = Path(__file__).parents[2]
PAGES = [*(ROOT / "docs").rglob("*.md"), ROOT / "README.md"]


def test_there_are_pages():
    assert len(PAGES) >= 11


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_links_and_files(page):
    text = page.read_text()
    for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", text):
        assert "://" in target or (page.parent / target).exists(), target
    for path, _, name in re.findall(r"`(tests/[\w/]+_test\.py)(::(\w+))?`", text):
        assert name in (ROOT / path).read_text()


def test_sections_that_docstrings_name():
    for path in (ROOT / "src").rglob("*.py"):
        named = re.findall(r'`?(docs/[\w/-]+\.md)`?(?:,\s+(?:# )?"([^"]+)")?', path.read_text())
        for page, section in named:
            assert (ROOT / page).exists(), (path.name, page)
            text = (ROOT / page).read_text()
            section = " ".join(section.replace("#", " ").split())  # a line may end in it
            headings = re.findall(r"^##? (.+)$", text, re.MULTILINE)
            bold = f"**{section}.**" in " ".join(text.split())
            assert not section or section in headings or bold, (path.name, page, section)


def test_every_public_name_has_an_example():
    """On a page that was written, not in the reference that is made from docstrings."""
    written = [page for page in PAGES if page.parent.name != "api"]
    code = "\n".join(
        line
        for page in written
        for line in page.read_text().splitlines()
        if line.startswith((">>>", "..."))
    )
    names = {*duffdp.__all__} - {"research"}  # experiments: explanation/paper.md
    missing = {name for name in names if not re.search(rf"\bduffdp\.{name}\b", code)}
    audit = re.search(r"from duffdp\.audit import", code)
    assert audit
    assert not missing - {"audit"}
