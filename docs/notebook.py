"""Runs notebook.ipynb from the root of the project and writes what its cells gave into it:
`python docs/notebook.py`.
"""

from __future__ import annotations

import re
from pathlib import Path

import nbformat
from nbclient import NotebookClient

ROOT = Path(__file__).parents[1]
NOTEBOOK = ROOT / "docs" / "get-started" / "notebook.ipynb"


def executed() -> nbformat.NotebookNode:
    """The notebook, run from its first cell to its last in a new kernel."""
    cells = nbformat.read(NOTEBOOK, as_version=4)
    place = {"metadata": {"path": str(ROOT)}}
    NotebookClient(cells, timeout=120, kernel_name="python3", resources=place).execute()
    for cell in cells.cells:
        cell.metadata.pop("execution", None)  # times of this run
        for output in cell.get("outputs", []):  # addresses in memory, new with every run
            for kind, text in output.get("data", {}).items():
                output.data[kind] = re.sub(r" at 0x[0-9a-f]+", "", text)
    return cells


if __name__ == "__main__":
    nbformat.write(executed(), NOTEBOOK)
