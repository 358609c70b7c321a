"""The paper's error bounds compared with the exact tails."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from duffdp.mechanisms import Exponential
from duffdp.research import guarantees, sensitivity
from duffdp.research.baselines import SmoothCauchy
from duffdp.research.experiments import WIDE_GRID
from duffdp.research.experiments.palette import COLOUR, plt, save, table
from duffdp.statistics import Median

BOUND_EPSILONS = (1.0, 4.0)
ETAS = np.geomspace(0.5, 1e-6, 40)
CURVES = {
    "duff_exact": ("Duff, exact", COLOUR["duff"], "-"),
    "finite_domain": ("Duff, finite-domain bound (Asi, Duchi)", "#009E73", "--"),
    "corollary_1": ("Duff, Corollary 1", "#CC79A7", "-."),
    "theorem_1": ("Duff, Theorem 1", "#E69F00", ":"),
    "cauchy_clipped": ("SmoothSens, δ = 0, exact, clipped", COLOUR["cauchy"], "-"),
    "cauchy_bound": ("SmoothSens, δ = 0, tangent bound", COLOUR["cauchy"], "--"),
}
BOUND_ROWS: list[dict[str, Any]] = []


def run() -> Iterator[str]:
    """Yields once an epsilon. The error that is exceeded with probability eta, and its bounds; 10
    is the distance to a bound.
    """
    values = np.random.default_rng(19).normal(size=1000)
    spread, steps = sensitivity.median(values, WIDE_GRID), Median().steps(values, WIDE_GRID)
    for epsilon in BOUND_EPSILONS:
        law, cauchy = Exponential(epsilon).law(steps), SmoothCauchy(epsilon).law(spread)
        errors = np.geomspace(1e-3, 10, 300)
        theorem = np.array(
            [guarantees.error_probability(steps, spread, epsilon, float(t)) for t in errors]
        )
        for eta in map(float, ETAS):
            proven = np.flatnonzero(theorem <= eta)
            BOUND_ROWS.append(
                {
                    "epsilon": epsilon,
                    "eta": eta,
                    "duff_exact": guarantees.exact_error_within(law, spread.value, eta),
                    "finite_domain": guarantees.finite_domain_error_within(
                        steps, spread.value, epsilon, eta
                    ),
                    "corollary_1": guarantees.error_within(steps, spread, epsilon, eta),
                    "theorem_1": float(errors[proven[0]]) if len(proven) else 10.0,
                    "cauchy_clipped": guarantees.exact_error_within(cauchy, spread.value, eta),
                    "cauchy_bound": guarantees.cauchy_error_within(spread, epsilon, eta),
                }
            )
        yield f"bounds {epsilon}"


def at(epsilon: float, eta: float, name: str) -> float:
    """The value of a curve at the eta nearest to the one asked for."""
    rows = [row for row in BOUND_ROWS if row["epsilon"] == epsilon]
    return float(min(rows, key=lambda row: abs(np.log(row["eta"] / eta)))[name])


def draw(folder: Path) -> None:
    """One panel an epsilon, and a table."""
    table(folder, "bounds", BOUND_ROWS)
    figure, axes = plt.subplots(1, 2, figsize=(9.5, 4.2), layout="constrained", sharey=True)
    for axis, epsilon in zip(axes, BOUND_EPSILONS, strict=True):
        rows = [row for row in BOUND_ROWS if row["epsilon"] == epsilon]
        for name, (label, colour, line) in CURVES.items():
            axis.plot([row[name] for row in rows], ETAS, color=colour, ls=line, label=label)
        axis.axvline(10, color="#999999", lw=0.8)
        axis.set(
            title=f"median of N(0, 1) on [−10, 10], n = 1000, ε = {epsilon:g}",
            xscale="log",
            yscale="log",
            xlim=(5e-4, 1e3),
        )
        axis.set_xlabel("t (grey line: no error can be larger)")
    axes[0].set_ylabel("P(|T − M| > t), exact or bound")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    save(figure, folder, "bounds")
