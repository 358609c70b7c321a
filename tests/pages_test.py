"""The examples on the pages about quantiles, graphs and own statistics run."""

from __future__ import annotations

import doctest
from pathlib import Path

import pytest

DOCS = Path(__file__).parent.parent / "docs"


@pytest.mark.parametrize("page", ["several-quantiles.md", "depth.md", "graphs.md", "your-own-statistic.md"])
def test_examples(page):
    result = doctest.testfile(str(DOCS / page), module_relative=False)
    assert result.attempted > 2
    assert result.failed == 0


@pytest.mark.parametrize(
    "module",
    ["graphs", "summary", "testing", "statistics.depth", "statistics.ladder", "statistics.triangles", "statistics.stars",
     "mechanisms.joint", "mechanisms.piecewise_laplace"],
)  # fmt: skip
def test_docstrings(module):
    import importlib

    result = doctest.testmod(importlib.import_module(f"duffdp.{module}"))
    assert result.attempted > 0
    assert result.failed == 0
