"""The step that quantiles have when the caller gives none: exact errors for numbers of candidates.

Five real columns, five quantiles, six epsilons; errors over those with 2**40 candidates, which is
as fine as doubles need.

Run: python -m benchmarks.steps
"""

from __future__ import annotations

import csv
import math
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import numpy as np

from duffdp import Digits, Grid
from duffdp.domain import Ordered
from duffdp.domain.default_step import default_grid, power_of_ten
from duffdp.mechanisms import Lattice, PermuteAndFlip
from duffdp.mechanisms.registry import COARSE, LEAST_EPSILON
from duffdp.statistics import Quantile

DATA = Path(__file__).parent.parent / "tests" / "data"
# File, column, and what somebody who has not seen the data would promise.
COLUMNS = {
    "taxi fares": ("nyc_taxis.csv", "fare", 0.0, 500.0),
    "taxi distances": ("nyc_taxis.csv", "distance", 0.0, 100.0),
    "house incomes": ("california_housing.csv", "median_income", 0.0, 20.0),
    "invoice amounts": ("online_retail_invoices.csv", "amount", -100_000.0, 100_000.0),
    "latitudes": ("california_housing.csv", "latitude", -90.0, 90.0),
}
QS = (0.05, 0.25, 0.5, 0.75, 0.95)
EPSILONS = (0.1, 0.25, 0.5, 1.0, 2.0, 5.0)
RECORDS, SETS = 1000, 3
RULES: dict[str, Callable[[float, float], Ordered]] = {
    "2^40": lambda low, high: Grid(low, high),
    **{
        f"1e{k}": lambda low, high, k=k: Grid(  # type: ignore[misc]
            low, high, power_of_ten(Fraction(high - low) / 10**k)
        )
        for k in (2, 3, 4, 5, 6)
    },
    "default": lambda low, high: default_grid(low, high, "order", whole=False, untyped=False),
    "Digits(3)": lambda low, high: Digits(3),
}


def column(file: str, name: str) -> np.ndarray:
    with (DATA / file).open(newline="") as lines:
        return np.array([float(row[name]) for row in csv.DictReader(lines) if row[name]])


def error(values: np.ndarray, q: float, epsilon: float, domain: Ordered) -> float:
    """The mean error of a release, from its exact law; rounding counts."""
    lattice = domain.size <= COARSE and epsilon >= LEAST_EPSILON
    law = (Lattice if lattice else PermuteAndFlip)(epsilon).law(
        Quantile(q, "signed").steps(values, domain)
    )
    ranked = np.sort(values)
    return law.expected_error(float(ranked[max(1, math.ceil(q * len(ranked))) - 1]))


def row(head: list[str], cells: list[str]) -> None:
    print("|", " | ".join([*head, *cells]), "|", flush=True)


def main() -> None:
    row(["column", "q"], list(RULES))
    print("| --- " * (2 + len(RULES)) + "|")
    better = dict.fromkeys(RULES, 0)
    logs: dict[str, list[float]] = {name: [] for name in RULES}
    for name, (file, field, low, high) in COLUMNS.items():
        everything = column(file, field)
        sets = [
            np.random.default_rng(seed).choice(everything, RECORDS, replace=False)
            for seed in range(SETS)
        ]
        for q in QS:
            ratios: dict[str, list[float]] = {rule: [] for rule in RULES}
            for epsilon in EPSILONS:
                errors = {
                    rule: sum(error(values, q, epsilon, made(low, high)) for values in sets)
                    for rule, made in RULES.items()
                }
                for rule in RULES:
                    ratio = (errors[rule] + 1e-9) / (errors["2^40"] + 1e-9)
                    ratios[rule].append(ratio)
                    better[rule] += ratio <= 1.005
                    logs[rule].append(math.log(ratio))
            means = [math.exp(sum(map(math.log, each)) / len(each)) for each in ratios.values()]
            row([name, f"{q:g}"], [f"{mean:.2f}" for mean in means])
    many = len(COLUMNS) * len(QS) * len(EPSILONS)
    row(["geometric mean", ""], [f"{math.exp(sum(each) / many):.2f}" for each in logs.values()])
    row(["largest", ""], [f"{math.exp(max(each)):.2f}" for each in logs.values()])
    row([f"no worse, of {many}", ""], list(map(str, better.values())))


if __name__ == "__main__":
    main()
