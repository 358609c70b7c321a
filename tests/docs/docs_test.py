"""The pages lead somewhere: every link, every named test and every named section exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import duffdp

ROOT = Path(__file__).parents[2]
PAGES = [*(ROOT / "docs").rglob("*.md"), ROOT / "README.md"]
PROOFS = [*(ROOT / "docs" / "explanation").glob("*.md")]


def test_there_are_pages():
    assert len(PAGES) >= 11


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_links_and_files(page):
    text = page.read_text()
    for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", text):
        assert "://" in target or (page.parent / target).exists(), target
    for module in re.findall(r"python -m ((?:benchmarks|tests)[\w.]*)", text):
        path = ROOT / module.replace(".", "/")
        assert path.with_suffix(".py").exists() or (path / "__main__.py").exists(), module


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_named_tests_exist(page):
    """A test without a file is in one of the files that the page names."""
    text = page.read_text()
    files = {*re.findall(r"\btests/[\w/]+\.py\b", text)}
    tests = {path: {*re.findall(r"def (test_\w+)", (ROOT / path).read_text())} for path in files}
    for path, name in re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", text):
        assert name in tests[path], (path, name)
    for name in re.findall(r"`(test_\w+)`", text):
        assert any(name in names for names in tests.values()), name


@pytest.mark.parametrize("page", PROOFS, ids=lambda p: p.name)
def test_proofs_name_the_tests_that_run_them(page):
    for section in re.split(r"^## ", page.read_text(), flags=re.MULTILINE):
        if re.search(r"\*\*(Statement|Theorem)\.\*\*", section):
            assert "`tests/" in section, section.splitlines()[0]
            assert "∎" in section, section.splitlines()[0]


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
