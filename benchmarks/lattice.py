"""Exact errors of a lattice over those of permute-and-flip, and by which public facts one of the
two is chosen.

Run: python -m benchmarks.lattice, or python -m benchmarks.lattice means for means alone
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Iterable

import numpy as np

from duffdp import Grid
from duffdp.mechanisms import Lattice, PermuteAndFlip
from duffdp.statistics import Mean, Quantile, TrimmedMean

Shape = Callable[[np.random.Generator, int], np.ndarray]

EPSILONS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
TABLES: dict[str, tuple[Grid, Shape]] = {
    "ages": (Grid(0, 120, 1), lambda rng, n: rng.normal(40, 18, n).round()),
    "incomes in hundreds": (Grid(0, 10**6, 100), lambda rng, n: rng.lognormal(10.5, 0.8, n)),
    "incomes": (Grid(0, 10**6, 1), lambda rng, n: rng.lognormal(10.5, 0.8, n)),
    "N(0, 1), fine grid": (Grid(-10.0, 10.0), lambda rng, n: rng.normal(size=n)),
    "U(0, 1), fine grid": (Grid(0.0, 1.0), lambda rng, n: rng.random(n)),
}
SHAPES: tuple[Shape, ...] = (  # between 0 and 1
    lambda rng, n: rng.random(n),
    lambda rng, n: 0.5 + rng.normal(size=n) / 20,
    lambda rng, n: np.minimum(rng.lognormal(-4, 0.8, n), 1),
    lambda rng, n: rng.beta(0.5, 0.5, n),
)
SETS = 4
MEANS: dict[str, Mean | TrimmedMean] = {"mean": Mean(), "trimmed mean": TrimmedMean(0.1)}


def ratio(sets: Iterable[np.ndarray], q: float, grid: Grid, epsilon: float) -> float | None:
    """The mean error of the lattice over that of permute-and-flip; None if neither has an error."""
    errors = np.zeros(2)
    for values in sets:
        steps, plain = (
            Quantile(q, utility).steps(values, grid) for utility in ("signed", "distance")
        )
        truth = grid.value(int(plain.start[plain.distance.argmin()]))
        errors += [
            kind(epsilon).law(steps).expected_error(truth) for kind in (Lattice, PermuteAndFlip)
        ]
    return float(errors[0] / errors[1]) if errors[1] > 1e-9 * grid.spacing else None


def mean_ratio(
    sets: Iterable[np.ndarray], statistic: Mean | TrimmedMean, grid: Grid, epsilon: float
) -> float | None:
    """The same for a mean by distance; its error is counted from the closest candidate."""
    errors = np.zeros(2)
    for values in sets:
        steps = statistic.steps(values, grid)
        least = int(steps.distance.argmin())
        truth = grid.value(int(steps.start[least] + (steps.count[least] - 1) // 2))
        errors += [
            kind(epsilon).law(steps).expected_error(truth) for kind in (Lattice, PermuteAndFlip)
        ]
    return float(errors[0] / errors[1]) if errors[1] > 1e-9 * grid.spacing else None


def sets_of(shape: Shape, n: int) -> list[np.ndarray]:
    return [shape(np.random.default_rng(seed), n) for seed in range(SETS)]


def heading(*words: str) -> None:
    print("|", " | ".join([*words, *(f"epsilon {epsilon:g}" for epsilon in EPSILONS)]), "|")
    print("| --- " * (len(words) + len(EPSILONS)) + "|")


def tables() -> None:
    heading("median of", "n")
    for (name, (grid, shape)), n in itertools.product(TABLES.items(), (100, 1000)):
        found = (ratio(sets_of(shape, n), 0.5, grid, epsilon) for epsilon in EPSILONS)
        cells = ("no error" if each is None else f"{each:.2f}" for each in found)
        print(f"| {name} | {n} |", " | ".join(cells), "|", flush=True)


def choice() -> None:
    """Over four shapes, three sizes and three quantiles."""
    heading("candidates, geometric mean and largest")
    for size in (11, 121, 1001, 10**4 + 1, 10**5 + 1, 10**6 + 1, 10**7 + 1, 10**9 + 1, 10**15 + 1):
        cells = []
        for epsilon in EPSILONS:
            found = [
                ratio(
                    [(values * (size - 1)).round() for values in sets_of(shape, n)],
                    q,
                    Grid(0, size - 1, 1),
                    epsilon,
                )
                for shape, n, q in itertools.product(SHAPES, (20, 100, 1000), (0.5, 0.9, 0.25))
            ]
            seen = np.array([each for each in found if each is not None])
            cells.append(
                f"{np.exp(np.log(seen).mean()):.3f}, {seen.max():.2f}" if len(seen) else ""
            )
        print(f"| {size:,} |", " | ".join(cells), "|", flush=True)


def means() -> None:
    """Over four shapes and three sizes."""
    heading("statistic", "candidates: geometric mean, largest, cells above 1")
    for (name, statistic), size in itertools.product(MEANS.items(), (11, 121, 1001, 10**4 + 1)):
        cells = []
        for epsilon in EPSILONS:
            found = [
                mean_ratio(
                    [(values * (size - 1)).round() for values in sets_of(shape, n)],
                    statistic,
                    Grid(0, size - 1, 1),
                    epsilon,
                )
                for shape, n in itertools.product(SHAPES, (20, 100, 1000))
            ]
            seen = np.array([each for each in found if each is not None])
            above = int((seen > 1.005).sum())
            cells.append(
                f"{np.exp(np.log(seen).mean()):.3f}, {seen.max():.2f}, {above} of {len(seen)}"
                if len(seen)
                else ""
            )
        print(f"| {name} | {size:,} |", " | ".join(cells), "|", flush=True)


if __name__ == "__main__":
    if "means" not in sys.argv[1:]:
        tables()
        print()
        choice()
        print()
    means()
