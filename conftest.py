"""For all tests and examples: pages run in a folder that has the demo data and nothing else, and
each test closes the figures that it opened.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest
from tools.pages import compare_shapes

from duffdp._cli.extras import DEMO_FILES

compare_shapes()
# Made from docstrings, whose examples run where they are.
collect_ignore_glob = ["docs/reference/api/*"]


@pytest.fixture(autouse=True)
def _demo_folder(request, tmp_path_factory, monkeypatch):
    """What a reader has who installed duffdp and ran `duffdp demo`."""
    if request.path.suffix == ".md":
        folder = tmp_path_factory.mktemp("reader")
        (folder / "demo").mkdir()
        for name in DEMO_FILES:
            shutil.copyfile(Path(__file__).parent / "demo" / name, folder / "demo" / name)
        monkeypatch.chdir(folder)


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
