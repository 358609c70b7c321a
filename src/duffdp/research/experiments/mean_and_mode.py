"""The mean and the mode, which the paper defines and does not test."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from duffdp import Categories
from duffdp.mechanisms import Exponential, PermuteAndFlip
from duffdp.research import sensitivity
from duffdp.research.baselines import Laplace, SmoothCauchy, SmoothLaplace, SmoothPareto
from duffdp.research.experiments import PLOTTED, SET_RECORDS, WIDE_GRID
from duffdp.research.experiments.palette import plt, save, style, table
from duffdp.statistics import Mean, Mode

MEAN_SETS = 20  # data sets that errors are averaged over
VOTE_OPTIONS = Categories(range(20))
# The first option leads the second by a fifth.
VOTE_SHARES = 1 / np.arange(4, 24) / np.sum(1 / np.arange(4, 24))
MODES = {
    "duff": "Duff (exponential mechanism, ε/2)",
    "full-rate": "exponential mechanism, full ε",
    "flip": "permute-and-flip, full ε",
}
MEAN_AND_MODE_ERRORS: dict[tuple[str, float, str], list[float]] = {}


def sum_and_count(values: Any, epsilon: float, rng: np.random.Generator) -> float:
    """Mean error, over 400 draws, of a noisy sum over a noisy count with half of epsilon each."""
    low, high = WIDE_GRID.lower, WIDE_GRID.upper
    middle, reach = (low + high) / 2, (high - low) / 2
    total = np.sum(values - middle) + rng.laplace(scale=2 * reach / epsilon, size=400)
    count = np.maximum(len(values) + rng.laplace(scale=2 / epsilon, size=400), 1)
    return float(np.abs(np.clip(middle + total / count, low, high) - values.mean()).mean())


def run() -> Iterator[str]:
    """Yields once a data set."""
    grid, bounds = WIDE_GRID, (WIDE_GRID.lower, WIDE_GRID.upper)
    for number in range(MEAN_SETS):
        rng = np.random.default_rng([17, number])
        values = np.clip(rng.normal(size=SET_RECORDS), *bounds)
        spread, steps = sensitivity.mean(values, grid), Mean().steps(values, grid)
        votes = rng.choice(20, size=SET_RECORDS, p=VOTE_SHARES)
        ballots = {
            rate: Mode(rate).steps(votes, VOTE_OPTIONS) for rate in (Fraction(1, 2), Fraction(1))
        }
        winners = np.flatnonzero(np.bincount(votes, minlength=20) == np.bincount(votes).max())
        for epsilon in PLOTTED:
            laws: dict[str, Any] = {
                "duff": Exponential(epsilon).law(steps),
                "laplace": Laplace(epsilon).law(spread),
                "cauchy": SmoothCauchy(epsilon).law(spread),
                "cauchy-tight": SmoothCauchy(epsilon, tight=True).law(spread),
                "smooth-laplace": SmoothLaplace(epsilon, 1 / SET_RECORDS).law(spread),
                "pareto": SmoothPareto(epsilon).law(spread),
            }
            for name, law in laws.items():
                MEAN_AND_MODE_ERRORS.setdefault(("mean", epsilon, name), []).append(
                    law.expected_error(spread.value)
                )
            MEAN_AND_MODE_ERRORS.setdefault(("mean", epsilon, "sum-and-count"), []).append(
                sum_and_count(values, epsilon, rng)
            )
            picked = {
                "duff": Exponential(epsilon).law(ballots[Fraction(1, 2)]),
                "full-rate": Exponential(epsilon).law(ballots[Fraction(1)]),
                "flip": PermuteAndFlip(epsilon).law(ballots[Fraction(1)]),
            }
            for name, law in picked.items():
                wrong = 1 - sum(law.probability(int(winner)) for winner in winners)
                MEAN_AND_MODE_ERRORS.setdefault(("mode", epsilon, name), []).append(wrong)
        yield "mean and mode"


def mean(statistic: str, epsilon: float, name: str) -> float:
    """Average error, or probability of a wrong mode, over the data sets."""
    return float(np.mean(MEAN_AND_MODE_ERRORS[statistic, epsilon, name]))


def draw(folder: Path) -> None:
    """Two panels, and a table."""
    table(
        folder,
        "mean_and_mode",
        [
            {"statistic": s, "epsilon": e, "mechanism": m, "mean_error": mean(s, e, m)}
            for s, e, m in MEAN_AND_MODE_ERRORS
        ],
    )
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 4.9), layout="constrained")
    for name in (
        "duff",
        "cauchy",
        "cauchy-tight",
        "smooth-laplace",
        "pareto",
        "laplace",
        "sum-and-count",
    ):
        left.plot(
            PLOTTED,
            [mean("mean", epsilon, name) for epsilon in PLOTTED],
            **style(name),
        )
    left.set(
        title="mean of N(0, 1) on [−10, 10], n = 1000",
        xlabel="ε",
        ylabel="mean |T − M|",
        yscale="log",
    )
    left.legend(fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=2)
    for name, label in MODES.items():
        errors = [mean("mode", epsilon, name) for epsilon in PLOTTED]
        right.plot(PLOTTED, errors, **(style(name) | {"label": label}))
    right.set(
        title="mode of 1000 votes for 20 options",
        xlabel="ε",
        ylabel="probability of a wrong mode",
        yscale="log",
    )
    right.legend(fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.14))
    save(figure, folder, "mean_and_mode")
