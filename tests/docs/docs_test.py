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
    text = (ROOT / "docs" / "explanation" / "theory.md").read_text()
    headings, theory = re.findall(r"^## (.+)$", text, re.MULTILINE), " ".join(text.split())
    for path in (ROOT / "src").rglob("*.py"):
        for section in re.findall(r'`docs/explanation/theory\.md`,\s+"([^"]+)"', path.read_text()):
            section = " ".join(section.split())  # a line may end in it
            assert section in headings or f"**{section}.**" in theory, section
