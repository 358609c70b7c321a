"""How often an error is within the goal that `epsilon_for` was asked for.

For each statistic it asks for the epsilon that keeps the error within a goal with 95% probability,
for given records or for a named shape, and makes seeded releases with that epsilon: of the same
records, or each of other records of that shape. It prints the share of releases that keep the goal.
Run it: python -m benchmarks.epsilons [releases]
"""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np

import duffdp
from benchmarks.real_columns import Floats

SIZE, PROBABILITY, RELEASES = 1000, 0.95, 2000
RANGE = {"bounds": (0.0, 100.0)}
#: For each statistic what bounds it has, and the goals.
CASES: dict[str, tuple[dict[str, Any], tuple[float, ...]]] = {
    "median": (RANGE, (0.1, 0.5, 2.0)),
    "mean": (RANGE, (0.1, 0.5, 2.0)),
    "count": ({}, (3, 10, 30)),
}


def incomes(rng: np.random.Generator) -> Floats:
    """Records with a heavy tail."""
    return np.clip(rng.lognormal(2.5, 0.7, SIZE), *RANGE["bounds"])


def normal(rng: np.random.Generator) -> Floats:
    """Records of the shape "normal" of `epsilon_for`: the range is twenty deviations wide."""
    return np.clip(rng.normal(50, 5, SIZE), *RANGE["bounds"])


def exact(statistic: str, x: Floats) -> float:
    """The answer without noise; of a median the record with rank n / 2."""
    if statistic == "count":
        return float(len(x))
    return float(x.mean() if statistic == "mean" else np.sort(x)[(len(x) - 1) // 2])


def kept(statistic: str, goal: float, shape: str, releases: int) -> tuple[float, float]:
    """The epsilon for a goal, and the share of releases that keep it."""
    bounds, _ = CASES[statistic]
    fixed = incomes(np.random.default_rng(1))
    known = {"data": "normal", "n": SIZE} if shape == "normal" else {"data": fixed}
    # Without bounds, those of the shape: a count has none.
    asked = {**known, "statistic": statistic, "within": goal, "probability": PROBABILITY}
    epsilon = float(duffdp.epsilon_for(**asked, **(RANGE if shape == "normal" else bounds)))
    inside = 0
    for seed in range(releases):
        x = normal(np.random.default_rng([2, seed])) if shape == "normal" else fixed
        found = getattr(duffdp, statistic)(x, epsilon=epsilon, rng=seed, **bounds)
        inside += abs(found.value - exact(statistic, x)) <= goal * (1 + 1e-12)
    return epsilon, inside / releases


def main(arguments: list[str]) -> None:
    releases = int(arguments[0]) if arguments else RELEASES
    error = 100 * math.sqrt(PROBABILITY * (1 - PROBABILITY) / releases)
    print(f"epsilon_for at {100 * PROBABILITY:g}%, {SIZE} records, {releases} releases a line")
    print(f"| records | statistic | within | epsilon | kept, % (standard error {error:.1f}) |")
    print("| --- " * 5 + "|")
    for shape in ("given", "normal"):
        for statistic, (_, goals) in CASES.items():
            for goal in goals:
                epsilon, share = kept(statistic, goal, shape, releases)
                print(f"| {shape} | {statistic} | {goal:g} | {epsilon:.4g} | {100 * share:.1f} |")


if __name__ == "__main__":
    main(sys.argv[1:])
