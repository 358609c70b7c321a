"""`duffdp paper` in small, from any folder: every stage runs, every figure and table is written, no
field of the page is left open.
"""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FIGURES = [
    "bounds",
    "mean_and_mode",
    "synthetic_exact",
    "synthetic_sampled",
    "timing",
    "utilities",
    "vertebral",
    "vertebral_appendix",
]
TABLES = ["bounds", "mean_and_mode", "synthetic", "timing", "utilities", "vertebral"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    pytest.importorskip("matplotlib")
    pytest.importorskip("rich")
    from duffdp.research.experiments import run, synthetic, timing

    with pytest.MonkeyPatch.context() as patch:
        out = tmp_path_factory.mktemp("docs")
        patch.chdir(tmp_path_factory.mktemp("elsewhere"))
        patch.setattr(synthetic, "SETS", 2)
        patch.setattr(synthetic, "CALLS", 5)
        patch.setattr(timing, "REPEATS", 20)
        run.run(out, ROOT / "demo" / "vertebral_column.csv")
        assert not list(Path.cwd().iterdir())
        yield out / "paper", synthetic


def test_everything_is_written(folder):
    target, _ = folder
    for name in FIGURES:
        assert (target / f"{name}.png").stat().st_size > 5_000
        assert "</svg>" in (target / f"{name}.svg").read_text(encoding="utf-8")
    for name in TABLES:
        rows = list(
            csv.DictReader((target / f"{name}.csv").read_text(encoding="utf-8").splitlines())
        )
        assert rows
        assert not any(value in ("nan", "inf") for row in rows for value in row.values())
    page = (target.parent / "paper.md").read_text(encoding="utf-8")
    assert not re.search(r"[{}]|nan|\binf\b", page)
    assert set(re.findall(r"\(paper/(\w+)\.png\)", page)) == set(FIGURES)


def test_the_order_of_the_paper_holds(folder):
    """Two data sets show it: Duff ahead of all printed baselines, exact and sampled, by the paper's
    orders of magnitude.
    """
    _, synthetic = folder
    for shape in synthetic.POPULATIONS:
        for name in ("cauchy", "smooth-laplace", "log-normal"):
            assert synthetic.ratio(shape, 0.1, name) > 10
            assert synthetic.ratio(shape, 0.1, name, sampled=True) > 10
            assert synthetic.ratio(shape, 2.0, name) > 1
    assert 100 < synthetic.ratio("normal", 0.1, "cauchy") < 300


def test_the_committed_page_is_complete():
    page = (ROOT / "docs" / "explanation" / "paper.md").read_text(encoding="utf-8")
    for name in re.findall(r"\((paper/\w+\.png)\)", page):
        assert (ROOT / "docs" / "explanation" / name).exists()
    for claim in ("187", "34", "130", "15", "Smallest in all experiments"):
        assert claim in page
