"""Exact mean errors of one quantile of integer ages with the rank score and with the depth score, permute-and-flip.

Run: python -m benchmarks.depth
"""

from __future__ import annotations

import numpy as np

from duffdp import Grid
from duffdp.mechanisms import PermuteAndFlip
from duffdp.statistics import DepthQuantile, Quantile

SETS = 200


def main() -> None:
    grid = Grid(0, 120, 1)
    rng = np.random.default_rng(1)
    data = [np.rint(rng.normal(40, 12, 1000)).clip(0, 120).astype(int) for _ in range(SETS)]
    print("| q | epsilon | distance | rank score | depth score |")
    print("| --- | --- | --- | --- | --- |")
    for q in (0.1, 0.25, 0.5, 0.75, 0.9):
        for epsilon in (0.1, 1.0):
            cells = []
            for statistic in (Quantile(q), Quantile(q, "rank"), DepthQuantile(q)):
                truths = (int(np.sort(ages)[round(q * 1000) - 1]) for ages in data)
                laws = (PermuteAndFlip(epsilon).law(statistic.steps(ages, grid)) for ages in data)
                cells.append(np.mean([law.expected_error(truth) for law, truth in zip(laws, truths, strict=True)]))
            print(f"| {q:g} | {epsilon:g} | " + " | ".join(f"{cell:.4f}" for cell in cells) + " |", flush=True)


if __name__ == "__main__":
    main()
