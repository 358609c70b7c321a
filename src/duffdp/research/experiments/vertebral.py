"""Figures 2 and 3 of the paper: medians of vertebral-column measurements by class."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from duffdp import Grid
from duffdp.mechanisms import Exponential
from duffdp.research import sensitivity
from duffdp.research.baselines import (
    SmoothCauchy,
    SmoothLaplace,
    SmoothLaplaceLogNormal,
    SmoothPareto,
)
from duffdp.research.experiments.palette import CLASS_COLOUR, CLASS_LABEL, plt, save, table
from duffdp.statistics import Median

VERTEBRAL_EPSILON, TRIALS = 0.5, 1000  # as in the paper
MEDIAN_ROWS: list[dict[str, Any]] = []
DRAWN: dict[tuple[str, str], dict[str, Any]] = {}


def measurements(path: Path) -> dict[str, dict[str, Any]]:
    """Name to class to values."""
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    names = [name for name in rows[0] if name != "class"]
    return {
        name: {
            kind: np.array([float(r[name]) for r in rows if r["class"] == kind])
            for kind in ("AB", "NO")
        }
        for name in names
    }


def run(patients: dict[str, dict[str, Any]]) -> Iterator[str]:
    """Yields once a measurement; draws and errors are then in `DRAWN` and `MEDIAN_ROWS`."""
    for place, (name, classes) in enumerate(patients.items()):
        all_values = np.concatenate(list(classes.values()))
        # As in the paper: the range of the data themselves, which is not private.
        grid = Grid(float(all_values.min()), float(all_values.max()))
        for kind, values in classes.items():
            delta = 1 / len(values)
            rng = np.random.default_rng([11, place, len(values)])
            spread, steps = sensitivity.median(values, grid), Median().steps(values, grid)
            mechanisms: dict[str, tuple[Any, Any]] = {
                "duff": (Exponential(VERTEBRAL_EPSILON), steps),
                "log-normal": (SmoothLaplaceLogNormal(VERTEBRAL_EPSILON, delta), spread),
                "cauchy": (SmoothCauchy(VERTEBRAL_EPSILON), spread),
                "cauchy-tight": (SmoothCauchy(VERTEBRAL_EPSILON, tight=True), spread),
                "smooth-laplace": (SmoothLaplace(VERTEBRAL_EPSILON, delta), spread),
                "pareto": (SmoothPareto(VERTEBRAL_EPSILON), spread),
            }
            error = {
                key: mechanism.law(evidence).expected_error(spread.value)
                for key, (mechanism, evidence) in mechanisms.items()
            }
            MEDIAN_ROWS.append(
                {"measurement": name, "class": kind, "n": len(values), "median": spread.value}
                | error
            )
            DRAWN[name, kind] = {"data": values} | {
                key: mechanisms[key][0].draw(mechanisms[key][1], size=TRIALS, rng=rng)
                for key in ("log-normal", "duff")
            }
        yield name


def _panel(axis: Any, name: str, source: str) -> None:
    all_values = np.concatenate([DRAWN[name, kind]["data"] for kind in ("AB", "NO")])
    # One far outlier in degree_spondylolisthesis would squeeze all else into one bin: 60 bins over
    # the range show it.
    edges = np.linspace(all_values.min(), all_values.max(), 61)
    for kind in ("AB", "NO"):
        values = DRAWN[name, kind][source]
        axis.hist(
            values, edges, density=True, histtype="stepfilled", color=CLASS_COLOUR[kind], alpha=0.35
        )
        axis.hist(
            values,
            edges,
            density=True,
            histtype="step",
            color=CLASS_COLOUR[kind],
            lw=1.0,
            label=CLASS_LABEL[kind],
        )
        middle = next(
            row["median"]
            for row in MEDIAN_ROWS
            if row["measurement"] == name and row["class"] == kind
        )
        axis.axvline(middle, color=CLASS_COLOUR[kind], ls="--", lw=1.1)
    axis.grid(False)
    axis.set_yticks([])


TITLES = {"data": "data", "log-normal": "LaplaceLN, δ = 1/n", "duff": "Duff"}


def draw(folder: Path) -> None:
    """The figure of the first measurement, that of the others, and a table."""
    table(folder, "vertebral", MEDIAN_ROWS)
    names = list(dict.fromkeys(name for name, _ in DRAWN))
    figure, axes = plt.subplots(1, 3, figsize=(9.5, 2.9), layout="constrained")
    for axis, (source, title) in zip(axes, TITLES.items(), strict=True):
        _panel(axis, names[0], source)
        axis.set(title=title, xlabel=names[0].replace("_", " "))
    axes[0].set_ylabel("share of values (density)")
    axes[0].legend(loc="upper right", title="dashed: class median", title_fontsize=8)
    save(figure, folder, "vertebral")
    figure, axes = plt.subplots(3, 5, figsize=(12, 6), layout="constrained", sharex="col")
    for row, (source, title) in zip(axes, TITLES.items(), strict=True):
        for axis, name in zip(row, names[1:], strict=True):
            _panel(axis, name, source)
        row[0].set_ylabel(title)
    for axis, name in zip(axes[-1], names[1:], strict=True):
        axis.set_xlabel(name.replace("_", " "))
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside upper right", ncols=2)
    save(figure, folder, "vertebral_appendix")
