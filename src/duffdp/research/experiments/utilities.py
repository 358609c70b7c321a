"""Comparison of the utilities u_1, u_2 and the distance, plain and signed, on distinct and on tied
records.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from duffdp import Grid
from duffdp.mechanisms import Exponential, PermuteAndFlip
from duffdp.research import sensitivity
from duffdp.research.baselines import ErrorExponential
from duffdp.research.experiments import PLOTTED, WIDE_GRID
from duffdp.research.experiments.palette import plt, save, style, table
from duffdp.statistics import Median

UTILITY_SETS = 30  # data sets that errors are averaged over
RECORD_SETS: dict[str, tuple[str, Grid, Callable[[np.random.Generator], Any]]] = {
    "normal": (
        "N(0, 1) on [−10, 10], n = 1000",
        WIDE_GRID,
        lambda rng: rng.normal(size=1000),
    ),
    "ages": (
        "whole ages on 0 … 120, n = 1000",
        Grid(0, 120, 1),
        lambda rng: np.clip(np.rint(rng.gamma(4, 10, 1000)), 0, 120).astype(np.int64),
    ),
}
UTILITY_ERRORS: dict[tuple[str, float, str], list[float]] = {}


def run() -> Iterator[str]:
    """Yields once a data set."""
    for data, (_, grid, make) in RECORD_SETS.items():
        for number in range(UTILITY_SETS):
            values = make(np.random.default_rng([13, number]))
            spread = sensitivity.median(values, grid)
            distance, rank = (
                Median().steps(values, grid),
                Median(utility="rank").steps(values, grid),
            )
            for epsilon in PLOTTED:
                laws: dict[str, Any] = {
                    "error": ErrorExponential(epsilon).law(spread),
                    "rank": Exponential(epsilon).law(rank),
                    "duff": Exponential(epsilon).law(distance),
                }
                if data == "ages":  # on a fine grid it is the same as the exponential mechanism
                    laws["rank-flip"] = PermuteAndFlip(epsilon).law(rank)
                    laws["signed-flip"] = PermuteAndFlip(epsilon).law(
                        Median(utility="signed").steps(values, grid)
                    )
                for name, law in laws.items():
                    UTILITY_ERRORS.setdefault((data, epsilon, name), []).append(
                        law.expected_error(spread.value)
                    )
            yield data


def mean(data: str, epsilon: float, name: str) -> float:
    """Average exact error over the data sets."""
    return float(np.mean(UTILITY_ERRORS[data, epsilon, name]))


def off_peak() -> int:
    """In how many data sets with ties the rank score of another value than the median is as good or
    better.
    """
    _, grid, make = RECORD_SETS["ages"]
    set_count = 0
    for number in range(UTILITY_SETS):
        values = make(np.random.default_rng([13, number]))
        steps = Median(utility="rank").steps(values, grid)
        truth = int(sensitivity.median(values, grid).value)
        set_count += any(
            steps.distance_at(x) <= steps.distance_at(truth) for x in (truth - 1, truth + 1)
        )
    return set_count


def draw(folder: Path) -> None:
    """Two panels, and a table."""
    table(
        folder,
        "utilities",
        [
            {"data": d, "epsilon": e, "mechanism": m, "exact_mean_error": mean(d, e, m)}
            for d, e, m in UTILITY_ERRORS
        ],
    )
    figure, axes = plt.subplots(1, 2, figsize=(8.5, 3.7), layout="constrained")
    for axis, (data, (title, _, _)) in zip(axes, RECORD_SETS.items(), strict=True):
        for name in ("error", "duff", "rank", "rank-flip", "signed-flip"):
            if (data, PLOTTED[0], name) in UTILITY_ERRORS:
                axis.plot(
                    PLOTTED,
                    [mean(data, epsilon, name) for epsilon in PLOTTED],
                    **style(name),
                )
        axis.set(title=title, xlabel="ε", yscale="log")
    axes[0].set_ylabel("mean |T − M| (exact)")
    figure.legend(*axes[1].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    save(figure, folder, "utilities")
