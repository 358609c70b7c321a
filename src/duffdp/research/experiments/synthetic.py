"""Figure 1 of the paper: the average error on synthetic data, sampled as in the paper and exact."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from duffdp import Grid
from duffdp.mechanisms import Exponential
from duffdp.research import sensitivity
from duffdp.research.baselines import (
    ErrorExponential,
    Laplace,
    ProposeTestRelease,
    SmoothCauchy,
    SmoothLaplace,
    SmoothLaplaceLogNormal,
    SmoothPareto,
)
from duffdp.research.experiments import SET_RECORDS, WIDE_GRID
from duffdp.research.experiments.palette import plt, save, style, table
from duffdp.statistics import Median

PAPER_DELTA = 1 / SET_RECORDS
SETS, CALLS = 100, 100  # data sets, and draws for each, as in the paper
EPSILONS = (0.1, 0.2, 0.35, 0.5, 0.75, 1.0, 1.25, 1.5, 1.75, 2.0)
POPULATIONS: dict[str, tuple[str, Grid, Callable[[np.random.Generator], Any]]] = {
    "normal": ("N(0, 1) on [−10, 10]", WIDE_GRID, lambda rng: rng.normal(size=SET_RECORDS)),
    "uniform": ("U(0, 1)", Grid(0.0, 1.0), lambda rng: rng.random(SET_RECORDS)),
    "beta": ("Beta(0.5, 0.5)", Grid(0.0, 1.0), lambda rng: rng.beta(0.5, 0.5, SET_RECORDS)),
}
PRINTED = ("duff", "cauchy", "smooth-laplace", "log-normal")
FAIR = ("cauchy-tight", "pareto", "log-normal-public", "rank", "error", "laplace")


def noisy(epsilon: float, public: dict[str, float]) -> dict[str, Any]:
    """The baselines that add noise, and u_1; parameters that shape the noise are public."""
    return {
        "cauchy": SmoothCauchy(epsilon),
        "cauchy-tight": SmoothCauchy(epsilon, tight=True),
        "smooth-laplace": SmoothLaplace(epsilon, PAPER_DELTA),
        "log-normal": SmoothLaplaceLogNormal(epsilon, PAPER_DELTA),
        "log-normal-public": SmoothLaplaceLogNormal(epsilon, PAPER_DELTA, t=public["t"]),
        "pareto": SmoothPareto(epsilon, beta=public["beta"]),
        "laplace": Laplace(epsilon),
        "error": ErrorExponential(epsilon),
    }


def tuned_aside(spreads: list[sensitivity.Sensitivity], epsilon: float) -> dict[str, float]:
    """Public parameters: those with the least mean error on some data sets of the same shape that
    nobody is in.
    """

    def best(grid: Any, make: Callable[[float], Any]) -> float:
        errors = [
            np.mean([make(float(x)).law(spread).expected_error(spread.value) for spread in spreads])
            for x in grid
        ]
        return float(grid[np.argmin(errors)])

    concentrated = SmoothLaplaceLogNormal(epsilon, PAPER_DELTA).concentrated
    return {
        "t": best(
            np.geomspace(0.02, 2, 30) * concentrated,
            lambda t: SmoothLaplaceLogNormal(epsilon, PAPER_DELTA, t=t),
        ),
        "beta": best(
            np.geomspace(0.05, 0.95, 40) * epsilon, lambda beta: SmoothPareto(epsilon, beta=beta)
        ),
    }


def replacing(values: Any, low: float, high: float) -> sensitivity.Sensitivity:
    """The median's sensitivities for neighbors that replace a record: the double maximum of Nissim
    et al. (2007).
    """
    n = len(values)
    padded = np.concatenate([np.full(n + 1, low), np.sort(values), np.full(n + 1, high)])
    median = n + (n + 1) // 2
    levels = [
        np.max(padded[median : median + k + 2] - padded[median - k - 1 : median + 1])
        for k in range(n + 1)
    ]
    return sensitivity.Sensitivity(
        float(padded[median]), np.maximum.accumulate(levels), (low, high)
    )


def unconverted(epsilon: float) -> SmoothLaplaceLogNormal:
    """LaplaceLN with epsilon taken for the concentrated parameter itself: a reading in which lemma
    9 is forgotten.
    """
    mechanism = SmoothLaplaceLogNormal(epsilon, PAPER_DELTA)
    mechanism.concentrated = epsilon
    return mechanism


def run() -> Iterator[str]:
    """Yields once a data set; the errors are then in `RESULTS`."""
    for shape, (_, grid, make) in POPULATIONS.items():
        aside = [
            sensitivity.median(make(np.random.default_rng([8, number])), grid)
            for number in range(10)
        ]
        public = {epsilon: tuned_aside(aside, epsilon) for epsilon in EPSILONS}
        for number in range(SETS):
            rng = np.random.default_rng([7, number])
            values = make(rng)
            spread = sensitivity.median(values, grid)
            steps = {
                name: Median(utility).steps(values, grid)
                for name, utility in (("duff", "distance"), ("rank", "rank"))
            }
            other = (
                replacing(np.clip(values, *spread.bounds), *spread.bounds)
                if shape == "normal"
                else spread
            )
            truth = spread.value
            for epsilon in EPSILONS:
                mechanisms: dict[str, tuple[Any, Any]] = {
                    name: (Exponential(epsilon), steps[name]) for name in steps
                }
                mechanisms |= {
                    name: (mechanism, spread)
                    for name, mechanism in noisy(epsilon, public[epsilon]).items()
                }
                for name, (mechanism, evidence) in mechanisms.items():
                    exact = mechanism.law(evidence).expected_error(truth)
                    draws = (
                        mechanism.draw(evidence, size=CALLS, rng=rng)
                        if name in PRINTED
                        else np.array([])
                    )
                    sampled = float(np.abs(draws - truth).mean()) if len(draws) else float("nan")
                    RESULTS.setdefault((shape, epsilon, name), []).append((exact, sampled))
                if shape == "normal":
                    readings: dict[str, Any] = {"unconverted": unconverted(epsilon).law(spread)}
                    readings |= {
                        f"{name} replacing": mechanisms[name][0].law(other) for name in PRINTED[1:]
                    }
                    for name, law in readings.items():
                        RESULTS.setdefault((shape, epsilon, name), []).append(
                            (law.expected_error(truth), 0.0)
                        )
            yield shape


RESULTS: dict[tuple[str, float, str], list[tuple[float, float]]] = {}


def mean(shape: str, epsilon: float, name: str, sampled: bool = False) -> float:
    """Average error over the data sets."""
    return float(np.mean([pair[sampled] for pair in RESULTS[shape, epsilon, name]]))


def ratio(shape: str, epsilon: float, name: str, sampled: bool = False) -> float:
    """The error as a multiple of Duff's."""
    return mean(shape, epsilon, name, sampled) / mean(shape, epsilon, "duff", sampled)


def spread_of(shape: str, epsilon: float, name: str, sampled: bool) -> float:
    return float(np.std([pair[sampled] for pair in RESULTS[shape, epsilon, name]]))


def draw(folder: Path) -> None:
    """Two figures and a table."""
    rows = [
        {
            "data": shape,
            "epsilon": epsilon,
            "mechanism": name,
            "exact_mean_error": mean(shape, epsilon, name),
            "exact_sd_over_data_sets": spread_of(shape, epsilon, name, False),
            "sampled_mean_error": mean(shape, epsilon, name, True) if name in PRINTED else "",
            "sampled_sd_over_data_sets": spread_of(shape, epsilon, name, True)
            if name in PRINTED
            else "",
            "times_duff": ratio(shape, epsilon, name),
        }
        for shape in POPULATIONS
        for epsilon in EPSILONS
        for name in (*PRINTED, *FAIR)
    ]
    table(folder, "synthetic", rows)
    for file, names, sampled in (
        ("synthetic_sampled", PRINTED, True),
        ("synthetic_exact", (*PRINTED, *FAIR), False),
    ):
        figure, axes = plt.subplots(
            1, 3, figsize=(10.5, 4.2 if sampled else 4.7), layout="constrained"
        )
        for axis, (shape, (title, _, _)) in zip(axes, POPULATIONS.items(), strict=True):
            for name in names:
                centre = np.array([mean(shape, epsilon, name, sampled) for epsilon in EPSILONS])
                bars_around = np.array(
                    [spread_of(shape, epsilon, name, sampled) for epsilon in EPSILONS]
                )
                # A bar never reaches below a tenth of the mean, or a log axis would swallow the
                # figure.
                bars = [np.minimum(bars_around, 0.9 * centre), bars_around] if sampled else None
                axis.errorbar(EPSILONS, centre, yerr=bars, capsize=2, elinewidth=0.8, **style(name))
            axis.set(title=title, xlabel="ε", yscale="log")
        axes[0].set_ylabel("mean |T − M|" + (" (100 × 100 draws)" if sampled else " (exact)"))
        figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
        save(figure, folder, file)


def pareto_beyond(epsilon: float) -> float:
    """The error of smooth Pareto over Duff's at an epsilon outside the paper's range, N(0, 1)."""
    _, grid, make = POPULATIONS["normal"]
    public = tuned_aside(
        [
            sensitivity.median(make(np.random.default_rng([8, number])), grid)
            for number in range(10)
        ],
        epsilon,
    )
    pareto = duff = 0.0
    for number in range(SETS):
        values = make(np.random.default_rng([7, number]))
        spread = sensitivity.median(values, grid)
        pareto += (
            SmoothPareto(epsilon, beta=public["beta"]).law(spread).expected_error(spread.value)
        )
        duff += Exponential(epsilon).law(Median().steps(values, grid)).expected_error(spread.value)
    return pareto / duff


def propose_test_release(epsilon: float) -> float:
    """The error, over Duff's, of propose-test-release with the eta at which half of its replies are
    lost.
    """
    _, grid, make = POPULATIONS["normal"]
    spreads = [
        sensitivity.median(make(np.random.default_rng([7, number])), grid) for number in range(20)
    ]

    def replies(eta: float) -> float:
        mechanism = ProposeTestRelease(epsilon, PAPER_DELTA, eta=eta)
        return float(np.mean([mechanism.reply_probability(spread) for spread in spreads]))

    low, high = 1e-6, 20.0
    while high / low > 1.001:
        middle = (low * high) ** 0.5
        low, high = (middle, high) if replies(middle) < 0.5 else (low, middle)
    mechanism = ProposeTestRelease(epsilon, PAPER_DELTA, eta=high)
    error = float(
        np.mean([mechanism.law(spread).expected_error(spread.value) for spread in spreads])
    )
    return error / mean("normal", epsilon, "duff")
