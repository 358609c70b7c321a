"""One name, color and marker per mechanism for all figures, in colors that color-blind readers can
distinguish.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt

__all__ = ["CLASS_COLOUR", "CLASS_LABEL", "COLOUR", "LABEL", "plt", "save", "style", "table"]

LABEL = {
    "duff": "Duff",
    "signed-flip": "signed distance, permute-and-flip",
    "rank-flip": "rank score, permute-and-flip",
    "flip": "permute-and-flip, full ε",
    "rank": "rank score (u₂)",
    "full-rate": "exponential mechanism, full ε",
    "error": "error as utility (u₁)",
    "laplace": "Laplace, global sensitivity",
    "cauchy": "SmoothSens, δ = 0",
    "cauchy-tight": "SmoothSens, δ = 0, tight",
    "smooth-laplace": "SmoothSens, δ = 1/n",
    "log-normal": "LaplaceLN, δ = 1/n",
    "log-normal-public": "LaplaceLN, δ = 1/n, public t",
    "pareto": "smooth Pareto, δ = 0",
    "sum-and-count": "noisy sum and count",
}
COLOUR = {
    "duff": "#0072B2",
    "signed-flip": "#661100",
    "rank-flip": "#000000",
    "flip": "#000000",
    "rank": "#44AA99",
    "full-rate": "#AA4499",
    "error": "#999999",
    "laplace": "#555555",
    "cauchy": "#D55E00",
    "cauchy-tight": "#E69F00",
    "smooth-laplace": "#117733",
    "log-normal": "#CC79A7",
    "log-normal-public": "#882255",
    "pareto": "#56B4E9",
    "sum-and-count": "#332288",
}
MARKER = {
    "duff": "o",
    "signed-flip": "v",
    "rank-flip": "*",
    "flip": "*",
    "rank": "P",
    "full-rate": "X",
    "error": "x",
    "laplace": "+",
    "cauchy": "s",
    "cauchy-tight": "s",
    "smooth-laplace": "^",
    "log-normal": "D",
    "log-normal-public": "d",
    "pareto": "v",
    "sum-and-count": "h",
}
CLASS_COLOUR = {"AB": "#D55E00", "NO": "#0072B2"}
CLASS_LABEL = {"AB": "abnormal", "NO": "normal"}

plt.rcParams.update(
    {
        "figure.dpi": 110,
        "savefig.dpi": 110,
        "font.size": 9,
        "axes.titlesize": 10,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.grid": True,
        "axes.grid.which": "major",
        "grid.color": "#dddddd",
        "grid.linewidth": 0.6,
        "axes.axisbelow": True,
        "lines.linewidth": 1.4,
        "lines.markersize": 4.5,
        "legend.frameon": False,
        "svg.fonttype": "none",
        "svg.hashsalt": "duffdp",
        "font.family": "DejaVu Sans",
    }
)


def style(name: str) -> dict[str, Any]:
    """Keywords for `plot`. Duff lies on top, and what may lie under it is larger or dashed."""
    keys: dict[str, Any] = {"color": COLOUR[name], "marker": MARKER[name], "label": LABEL[name]}
    if name == "duff":
        keys["zorder"] = 5
    elif name in ("rank", "sum-and-count"):
        keys |= {"ls": "--", "markersize": 9, "markerfacecolor": "none"}
    elif name in ("rank-flip", "flip"):
        keys["markersize"] = 7
    return keys


def save(figure: Any, folder: Path, name: str) -> None:
    """A figure as PNG and SVG, the same bytes for the same numbers."""
    folder.mkdir(parents=True, exist_ok=True)
    figure.savefig(folder / f"{name}.png", metadata={"Software": None})
    figure.savefig(folder / f"{name}.svg", metadata={"Date": None, "Creator": None})
    plt.close(figure)


def table(folder: Path, name: str, rows: Iterable[dict[str, Any]]) -> None:
    """The numbers of a figure as CSV, six digits each."""
    rows = list(rows)
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        for row in rows:
            writer.writerow(
                {
                    key: f"{value:.6g}" if isinstance(value, float) else value
                    for key, value in row.items()
                }
            )
