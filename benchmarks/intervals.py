"""Intervals of private medians: widths over those without privacy, misses, ranks to a side, and
what the value costs.

Run: python -m benchmarks.intervals
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import numpy.typing as npt
from scipy.stats import binom

import duffdp
from duffdp.statistics.quantile_interval import VALUE_SHARE, Covers, endpoint_offset

Floats = npt.NDArray[np.float64]
Sampler = Callable[[np.random.Generator, int], Floats]
# Name, sampler, bounds and median.
POPULATIONS: list[tuple[str, Sampler, tuple[float, float], float]] = [
    ("normal(0, 1) in -10..10", lambda rng, n: rng.normal(size=n), (-10.0, 10.0), 0.0),
    ("uniform in 0..1", lambda rng, n: rng.random(n), (0.0, 1.0), 0.5),
    ("exponential(1) in 0..50", lambda rng, n: rng.exponential(size=n), (0.0, 50.0), math.log(2)),
    (
        "lognormal(0, 1.5) in 0..1000",
        lambda rng, n: rng.lognormal(0, 1.5, n),
        (0.0, 1000.0),
        1.0,
    ),
    (
        "two peaks in -10..10",
        lambda rng, n: rng.normal(np.where(rng.random(n) < 0.5, -1.5, 1.5), 1.0),
        (-10.0, 10.0),
        0.0,
    ),
]
SIZES = (200, 1000, 10_000, 100_000)
EPSILONS = (0.1, 0.5, 1.0, 2.0, 5.0)
CONFIDENCE = 0.95


def ratios(
    sampler: Sampler, bounds: tuple[float, float], truth: float, n: int, epsilon: float, many: int
) -> tuple[float, int, int]:
    """Median width over that of the binomial interval, misses, and ends that told nothing."""
    rng = np.random.default_rng(n)
    low, high = (int(binom.ppf(p, n, 0.5)) for p in (0.025, 0.975))
    widths, plain, misses, silent = [], [], 0, 0
    for _ in range(many):
        records = sampler(rng, n)
        ordered = np.sort(records)
        plain.append(ordered[min(high, n - 1)] - ordered[max(low - 1, 0)])
        found = duffdp.median(
            records,
            epsilon=epsilon,
            bounds=bounds,
            interval=CONFIDENCE,
            covers="population",
            rng=int(rng.integers(2**62)),
        )
        widths.append(found.high - found.low)
        misses += not found.low <= truth <= found.high
        silent += (found.low == bounds[0]) + (found.high == found.domain.upper)
    return float(np.median(widths) / np.median(plain)), misses, silent


def ranks(candidates: int, n: int, epsilon: float, covers: Covers) -> float:
    """How many ranks outside of the median each end is aimed."""
    each = Fraction(str(epsilon)) * (1 - VALUE_SHARE) / 2
    made = endpoint_offset(Fraction(1, 2), each, Fraction(1, 40), candidates, covers)
    return made.at(n)[0] / made.steps_per_rank


def main() -> None:
    print("| ranks to a side | n | " + " | ".join(f"epsilon {e:g}" for e in EPSILONS) + " |")
    print("| --- | --- |" + " --- |" * len(EPSILONS))
    for covers in ("data", "population"):
        for candidates, said in ((121, "121"), (2**40, "2^40")):
            for n in SIZES:
                found = (f"{ranks(candidates, n, e, covers):,.0f}" for e in EPSILONS)
                print(f"| {covers}, {said} candidates | {n:,} | {' | '.join(found)} |")
    print()
    print("| population | n | " + " | ".join(f"epsilon {e:g}" for e in EPSILONS) + " |")
    print("| --- | --- |" + " --- |" * len(EPSILONS))
    tried = missed = 0
    for name, sampler, bounds, truth in POPULATIONS:
        for n in SIZES:
            cells = []
            for epsilon in EPSILONS:
                many = 25 if n == SIZES[-1] else 75
                ratio, misses, silent = ratios(sampler, bounds, truth, n, epsilon, many)
                useful = silent < many  # else most intervals end at a bound
                tried, missed = tried + many, missed + misses
                cells.append(f"{ratio:.2f}" if useful else "-")
            print(f"| {name} | {n:,} | {' | '.join(cells)} |", flush=True)
    print(f"\n{missed} of {tried} intervals missed the median")


if __name__ == "__main__":
    main()
