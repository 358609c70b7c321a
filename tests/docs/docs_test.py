"""The pages lead somewhere: every link, every named test and every named section exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

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
