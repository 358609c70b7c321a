"""Running times of one call at n = 1000, from records to a private value."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import duffdp
from duffdp.mechanisms import Exponential
from duffdp.research import sensitivity
from duffdp.research.baselines import (
    SmoothCauchy,
    SmoothLaplace,
    SmoothLaplaceLogNormal,
    SmoothPareto,
)
from duffdp.research.experiments import WIDE_GRID
from duffdp.research.experiments.palette import COLOUR, LABEL, plt, save, table
from duffdp.statistics import Median

TIMED_EPSILON = 1.0
REPEATS = 400  # of each call, the median of which is shown
CALL_ROWS: list[dict[str, Any]] = []


def _scanned(values: Any, rng: np.random.Generator) -> float:
    """SmoothSens with delta, tuned by trying 300 values of beta one after the other."""
    spread = sensitivity.median(values, WIDE_GRID)
    distance = np.arange(len(spread.levels))
    mechanism = SmoothLaplace(TIMED_EPSILON, 1e-3)
    scales = [
        (np.exp(-beta * distance) * spread.levels).max() / mechanism._alpha(beta)
        for beta in np.linspace(1e-4, 1 - 1e-6, 300) * mechanism._largest
    ]
    return float(np.clip(spread.value + min(scales) * rng.laplace(), -10, 10))


def _noisy(mechanism: Any, values: Any, rng: np.random.Generator) -> Any:
    return mechanism.draw(sensitivity.median(values, WIDE_GRID), rng=rng)


def calls() -> dict[str, tuple[str, Callable[[Any, np.random.Generator], Any]]]:
    """Key of the color, and the call."""
    noisy = {
        "cauchy": SmoothCauchy(TIMED_EPSILON),
        "cauchy-tight": SmoothCauchy(TIMED_EPSILON, tight=True),
        "pareto": SmoothPareto(TIMED_EPSILON),
        "smooth-laplace": SmoothLaplace(TIMED_EPSILON, 1e-3),
        "log-normal": SmoothLaplaceLogNormal(TIMED_EPSILON, 1e-3),
    }
    calls_by_label: dict[str, tuple[str, Callable[[Any, np.random.Generator], Any]]] = {
        "Duff, whole step function": (
            "duff",
            lambda v, rng: Exponential(TIMED_EPSILON).draw(Median().steps(v, WIDE_GRID), rng=rng),
        ),
        "Duff, duffdp.median": (
            "duff",
            lambda v, rng: duffdp.median(
                v, epsilon=TIMED_EPSILON, bounds=WIDE_GRID, mechanism="duff", rng=rng
            ),
        ),
    }
    for key, mechanism in noisy.items():
        calls_by_label[LABEL[key]] = (key, partial(_noisy, mechanism))
    calls_by_label["SmoothSens, δ = 1/n, 300 β tried in turn"] = ("smooth-laplace", _scanned)
    return calls_by_label


def run() -> Iterator[str]:
    """Yields once a mechanism. The median over repeats, each on other records."""
    rng = np.random.default_rng(3)
    records = [rng.normal(size=1000) for _ in range(20)]
    for label, (key, call) in calls().items():
        for values in records:
            call(values, rng)
        seconds = []
        for repeat in range(REPEATS if "300" not in label else 40):
            begin = time.perf_counter()
            call(records[repeat % 20], rng)
            seconds.append(time.perf_counter() - begin)
        CALL_ROWS.append(
            {"call": label, "mechanism": key, "microseconds": 1e6 * float(np.median(seconds))}
        )
        yield label
    untuned = microseconds(LABEL["cauchy"])
    for row in CALL_ROWS:
        row["times_untuned_smoothsens"] = row["microseconds"] / untuned


def microseconds(label: str) -> float:
    """The median time of one call."""
    return next(float(row["microseconds"]) for row in CALL_ROWS if row["call"] == label)


def draw(folder: Path) -> None:
    """Bars, and a table."""
    table(folder, "timing", CALL_ROWS)
    figure, axis = plt.subplots(figsize=(8, 3.2), layout="constrained")
    for place, row in enumerate(reversed(CALL_ROWS)):
        axis.barh(place, row["microseconds"], color=COLOUR[row["mechanism"]], height=0.65)
        text = f"{row['microseconds']:.0f} µs ({row['times_untuned_smoothsens']:.1f} ×)"
        axis.text(row["microseconds"] * 1.06, place, text, va="center", fontsize=8)
    axis.set_yticks(range(len(CALL_ROWS)), [row["call"] for row in reversed(CALL_ROWS)])
    axis.set(
        xscale="log",
        xlabel="time of one call at n = 1000 (in brackets: over untuned SmoothSens, δ = 0)",
    )
    axis.set_xlim(right=max(row["microseconds"] for row in CALL_ROWS) * 4)
    axis.grid(axis="y", visible=False)
    save(figure, folder, "timing")
