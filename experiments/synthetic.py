"""Figure 1 of the paper: the average error on synthetic data, sampled as there and exactly from the laws."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from duffdp import Grid, sensitivity
from duffdp.mechanisms import (
    ErrorExponential,
    Exponential,
    Laplace,
    ProposeTestRelease,
    SmoothCauchy,
    SmoothLaplace,
    SmoothLaplaceLogNormal,
    SmoothPareto,
)
from duffdp.statistics import Median
from experiments.palette import plt, save, style, table

N = 1000
DELTA = 1 / N
SETS, CALLS = 100, 100
EPSILONS = (0.1, 0.2, 0.35, 0.5, 0.75, 1.0, 1.25, 1.5, 1.75, 2.0)
SHAPES: dict[str, tuple[str, Grid, Callable[[np.random.Generator], Any]]] = {
    "normal": ("N(0, 1) on [−10, 10]", Grid(-10.0, 10.0), lambda rng: rng.normal(size=N)),
    "uniform": ("U(0, 1)", Grid(0.0, 1.0), lambda rng: rng.random(N)),
    "beta": ("Beta(0.5, 0.5)", Grid(0.0, 1.0), lambda rng: rng.beta(0.5, 0.5, N)),
}
PRINTED = ("duff", "cauchy", "smooth-laplace", "log-normal")
FAIR = ("cauchy-tight", "pareto", "log-normal-public", "rank", "error", "laplace")


def noisy(epsilon: float, public: dict[str, float]) -> dict[str, Any]:
    """The baselines that add noise, and u_1; parameters that shape the noise are public."""
    return {
        "cauchy": SmoothCauchy(epsilon),
        "cauchy-tight": SmoothCauchy(epsilon, tight=True),
        "smooth-laplace": SmoothLaplace(epsilon, DELTA),
        "log-normal": SmoothLaplaceLogNormal(epsilon, DELTA),
        "log-normal-public": SmoothLaplaceLogNormal(epsilon, DELTA, t=public["t"]),
        "pareto": SmoothPareto(epsilon, beta=public["beta"]),
        "laplace": Laplace(epsilon),
        "error": ErrorExponential(epsilon),
    }


def tuned_aside(spread: sensitivity.Sensitivity, epsilon: float) -> dict[str, float]:
    """Public parameters: the best ones on a data set of the same shape that nobody is in."""
    mechanism = SmoothLaplaceLogNormal(epsilon, DELTA)
    t = np.geomspace(1e-4, 10, 2000) * mechanism.concentrated
    beta = np.geomspace(0.01, 0.9, 100) * epsilon
    pareto = [SmoothPareto(epsilon, beta=float(b)).law(spread).expected_error(spread.value) for b in beta]
    return {
        "t": float(t[(spread.log_smooth(t) + mechanism._log_factor(t)).argmin()]),
        "beta": float(beta[np.argmin(pareto)]),
    }


def unconverted(epsilon: float) -> SmoothLaplaceLogNormal:
    """LaplaceLN with epsilon taken for the concentrated parameter itself: a reading in which lemma 9 is forgotten."""
    mechanism = SmoothLaplaceLogNormal(epsilon, DELTA)
    mechanism.concentrated = epsilon
    return mechanism


def run() -> Iterator[str]:
    """Yields once a data set; the errors are then in `RESULTS`."""
    for shape, (_, grid, make) in SHAPES.items():
        aside = sensitivity.median(make(np.random.default_rng(999)), grid)
        public = {epsilon: tuned_aside(aside, epsilon) for epsilon in EPSILONS}
        for number in range(SETS):
            rng = np.random.default_rng([7, number])
            values = make(rng)
            spread = sensitivity.median(values, grid)
            steps = {name: Median(utility).steps(values, grid) for name, utility in (("duff", "distance"), ("rank", "rank"))}
            truth = spread.value
            for epsilon in EPSILONS:
                mechanisms = {name: (Exponential(epsilon), steps[name]) for name in steps}
                mechanisms |= {name: (mechanism, spread) for name, mechanism in noisy(epsilon, public[epsilon]).items()}
                for name, (mechanism, ready) in mechanisms.items():
                    exact = mechanism.law(ready).expected_error(truth)
                    drawn = mechanism.draw(ready, size=CALLS, rng=rng) if name in PRINTED else np.array([])
                    sampled = float(np.abs(drawn - truth).mean()) if len(drawn) else float("nan")
                    RESULTS.setdefault((shape, epsilon, name), []).append((exact, sampled))
                exact = unconverted(epsilon).law(spread).expected_error(truth)
                RESULTS.setdefault((shape, epsilon, "unconverted"), []).append((exact, exact))
            yield shape


RESULTS: dict[tuple[str, float, str], list[tuple[float, float]]] = {}


def mean(shape: str, epsilon: float, name: str, sampled: bool = False) -> float:
    """Average error over the data sets."""
    return float(np.mean([pair[sampled] for pair in RESULTS[shape, epsilon, name]]))


def ratio(shape: str, epsilon: float, name: str, sampled: bool = False) -> float:
    """How many times the error of Duff."""
    return mean(shape, epsilon, name, sampled) / mean(shape, epsilon, "duff", sampled)


def spread_of(shape: str, epsilon: float, name: str, sampled: bool) -> float:
    return float(np.std([pair[sampled] for pair in RESULTS[shape, epsilon, name]]))


def draw() -> None:
    """Two figures and a table."""
    rows = [
        {
            "data": shape,
            "epsilon": epsilon,
            "mechanism": name,
            "exact_mean_error": mean(shape, epsilon, name),
            "exact_sd_over_data_sets": spread_of(shape, epsilon, name, False),
            "sampled_mean_error": mean(shape, epsilon, name, True) if name in PRINTED else "",
            "sampled_sd_over_data_sets": spread_of(shape, epsilon, name, True) if name in PRINTED else "",
            "times_duff": ratio(shape, epsilon, name),
        }
        for shape in SHAPES
        for epsilon in EPSILONS
        for name in (*PRINTED, *FAIR)
    ]
    table("synthetic", rows)
    for file, names, sampled in (("synthetic_sampled", PRINTED, True), ("synthetic_exact", (*PRINTED, *FAIR), False)):
        figure, axes = plt.subplots(1, 3, figsize=(10.5, 4.2 if sampled else 4.7), layout="constrained")
        for axis, (shape, (title, _, _)) in zip(axes, SHAPES.items(), strict=True):
            for name in names:
                centre = np.array([mean(shape, epsilon, name, sampled) for epsilon in EPSILONS])
                around = np.array([spread_of(shape, epsilon, name, sampled) for epsilon in EPSILONS])
                # A bar never reaches below a tenth of the mean, or a log axis would swallow the figure.
                bars = [np.minimum(around, 0.9 * centre), around] if sampled else None
                axis.errorbar(EPSILONS, centre, yerr=bars, capsize=2, elinewidth=0.8, **style(name))
            axis.set(title=title, xlabel="ε", yscale="log")
        axes[0].set_ylabel("mean |T − M|" + (" (100 × 100 draws)" if sampled else " (exact)"))
        figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
        save(figure, file)


def propose_test_release(epsilon: float) -> tuple[float, float]:
    """Reply probability and error, over Duff's, of propose-test-release with the eta at which half of its replies are lost."""
    _, grid, make = SHAPES["normal"]
    spreads = [sensitivity.median(make(np.random.default_rng([7, number])), grid) for number in range(20)]

    def replies(eta: float) -> float:
        mechanism = ProposeTestRelease(epsilon, DELTA, eta=eta)
        return float(np.mean([mechanism.reply_probability(spread) for spread in spreads]))

    low, high = 1e-6, 20.0
    while high / low > 1.001:
        middle = (low * high) ** 0.5
        low, high = (middle, high) if replies(middle) < 0.5 else (low, middle)
    mechanism = ProposeTestRelease(epsilon, DELTA, eta=high)
    error = float(np.mean([mechanism.law(spread).expected_error(spread.value) for spread in spreads]))
    return replies(high), error / mean("normal", epsilon, "duff")
