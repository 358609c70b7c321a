"""Confidence intervals of quantiles beside those of an earlier version, beside binomial intervals
without privacy, and beside the band of `distribution`.

Run: python -m benchmarks.intervals
     python -m benchmarks.intervals --figures FILE   writes the figures of the installed version

The first form compares with `benchmarks/intervals_0.2.json`, which the second form wrote with 0.2.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.stats import binom

import duffdp

Floats = npt.NDArray[np.float64]
Sampler = Callable[[np.random.Generator, int], Floats]
# Sampler, bounds, step and median of the population.
COLUMNS: dict[str, tuple[Sampler, tuple[float, float], float, float]] = {
    "normal": (lambda rng, n: rng.normal(size=n), (-10, 10), 2e-4, 0.0),
    "uniform": (lambda rng, n: rng.random(n), (0, 1), 1e-5, 0.5),
    "exponential": (lambda rng, n: rng.exponential(size=n), (0, 50), 5e-4, math.log(2)),
    "lognormal": (lambda rng, n: rng.lognormal(3, 1, n), (0, 1000), 0.01, math.exp(3)),
    "two peaks": (
        lambda rng, n: rng.normal(np.where(rng.random(n) < 0.5, -1.5, 1.5)),
        (-10, 10),
        2e-4,
        0.0,
    ),
    "gamma": (lambda rng, n: rng.gamma(2, 10, n), (0, 500), 0.01, 16.7835),
    "laplace": (lambda rng, n: rng.laplace(0, 5, n), (-200, 200), 0.01, 0.0),
    "student t3": (lambda rng, n: 10 * rng.standard_t(3, n), (-1000, 1000), 0.01, 0.0),
    "weibull": (lambda rng, n: 50 * rng.weibull(0.7, n), (0, 2000), 0.01, 29.6200),
    "arcsine": (lambda rng, n: rng.beta(0.5, 0.5, n), (0, 1), 1e-5, 0.5),
    "incomes": (
        lambda rng, n: np.round(rng.lognormal(10.3, 0.8, n), -2),
        (0, 1e6),
        1,
        round(math.exp(10.3), -2),
    ),
    "ages": (lambda rng, n: np.floor(rng.gamma(4, 10, n)), (0, 120), 1, 36.0),
}
SIZES, EPSILONS = (300, 1000, 10_000), (0.5, 1.0, 2.0)
QS = (0.5, 0.9, 0.99)
CONFIDENCE = 0.95
QUARTILES = [0.25, 0.5, 0.75]
OLD = Path(__file__).with_name("intervals_0.2.json")
MANY = 25  # releases of a cell


def exact(records: Floats, q: float) -> float:
    """The q-quantile of the records."""
    return float(np.sort(records)[max(1, math.ceil(q * len(records))) - 1])


def samples(name: str, n: int, many: int) -> Any:
    """Records on the grid, with a seed for each release."""
    sampler, bounds, step, _ = COLUMNS[name]
    rng = np.random.default_rng([n, len(name)])
    for _ in range(many):
        records = np.clip(sampler(rng, n), *bounds)
        records = bounds[0] + np.rint((records - bounds[0]) / step) * step
        yield records, {"bounds": bounds, "step": step, "rng": int(rng.integers(2**62))}


def one_quantile(name: str, q: float, n: int, epsilon: float) -> list[float]:
    """Mean error of the value, median width of an interval for the data, and misses."""
    errors, widths, misses = [], [], 0
    for records, given in samples(name, n, MANY):
        found = duffdp.quantile(records, q, epsilon=epsilon, interval=CONFIDENCE, **given)
        truth, half_step = exact(records, q), given["step"] / 2
        errors.append(abs(found.value - truth))
        widths.append(found.high - found.low)
        misses += not found.low - half_step <= truth <= found.high + half_step
    return [float(np.mean(errors)), float(np.median(widths)), misses]


def population(name: str, n: int, epsilon: float) -> list[float]:
    """Median width of an interval for the population's median over the binomial one, and misses."""
    truth = COLUMNS[name][3]
    low, high = (int(binom.ppf(p, n, 0.5)) for p in (0.025, 0.975))
    widths, plain, misses = [], [], 0
    for records, given in samples(name, n, MANY):
        found = duffdp.median(
            records, epsilon=epsilon, interval=CONFIDENCE, covers="population", **given
        )
        ordered = np.sort(records)
        plain.append(ordered[min(high, n - 1)] - ordered[max(low - 1, 0)])
        widths.append(found.high - found.low)
        misses += not found.low - given["step"] <= truth <= found.high + given["step"]
    return [float(np.median(widths) / max(np.median(plain), given["step"])), misses]


def quartiles(name: str, n: int, epsilon: float) -> list[float]:
    """Median sum of the widths of three quartiles together, the same by the band of a distribution,
    the width of an interquartile range and its own by the band.
    """
    sums = []
    for records, given in samples(name, n, MANY // 2):
        asked = {"epsilon": epsilon, **given}
        found = duffdp.quantiles(
            records, QUARTILES, interval=CONFIDENCE, simultaneous=True, **asked
        )
        several = sum(np.subtract(found.high, found.low))
        spread = duffdp.iqr(records, interval=CONFIDENCE, **asked)
        whole = duffdp.distribution(records, confidence=CONFIDENCE, **asked).value
        ends = [whole.quantile_interval(q) for q in QUARTILES]
        band = sum(high - low for low, high in ends)
        between = (ends[2][1] - ends[0][0]) - max(0, ends[2][0] - ends[0][1])
        sums.append([several, band, spread.high - spread.low, between])
    return [float(x) for x in np.median(sums, axis=0)]


def measure() -> dict[str, list[float]]:
    """All figures, by the name of their cell."""
    figures = {}
    for name in COLUMNS:
        for n in SIZES:
            for epsilon in EPSILONS:
                cell = f"{name}, {n}, {epsilon:g}"
                for q in QS:
                    figures[f"q {q:g}, {cell}"] = one_quantile(name, q, n, epsilon)
                figures[f"population, {cell}"] = population(name, n, epsilon)
                figures[f"quartiles, {cell}"] = quartiles(name, n, epsilon)
        figures[f"population, {name}, 3000, 1"] = population(name, 3000, 1.0)
    return figures


def print_tables(new: dict[str, list[float]], old: dict[str, list[float]]) -> None:
    """Ratios to the earlier version, and what else was measured."""
    print("| quantile | n | error / 0.2 | width / 0.2 | wider by a tenth | missed |")
    print("| --- | --- | --- | --- | --- | --- |")
    for q in QS:
        for n in SIZES:
            cells = [c for c in new if c.startswith(f"q {q:g}, ") and f", {n}, " in c]
            wider = sum(new[c][1] > 1.1 * old[c][1] + 1e-12 for c in cells)
            missed = sum(new[c][2] for c in cells) / (MANY * len(cells))
            error, width = (mean_ratio([(new[c][i], old[c][i]) for c in cells]) for i in (0, 1))
            print(
                f"| {q:g} | {n:,} | {error:.2f} | {width:.2f} | {wider} of {len(cells)} | "
                f"{missed:.1%} |"
            )
    print("\n| population: median width / binomial | " + " | ".join(map(str, EPSILONS)) + " |")
    print("| --- |" + " --- |" * len(EPSILONS))
    for n in SIZES:
        parts = []
        for epsilon in EPSILONS:
            cells = [c for c in new if c.startswith("population") and f", {n}, {epsilon:g}" in c]
            ratios = [mean_ratio([(f[c][0], 1.0) for c in cells]) for f in (new, old)]
            parts.append(f"{ratios[0]:.2f} (0.2: {ratios[1]:.2f})")
        print(f"| n = {n:,} | {' | '.join(parts)} |")
    cells = [c for c in new if c.startswith("population")]
    at = [c for c in cells if c.endswith(", 3000, 1")]
    print(f"n = 3,000, epsilon 1: {', '.join(f'{new[c][0]:.2f}' for c in at)}")
    wider = sum(new[c][0] > 1.1 * old[c][0] for c in cells)
    missed = sum(new[c][1] for c in cells) / (MANY * len(cells))
    print(f"wider than 0.2 by a tenth in {wider} of {len(cells)} cells; missed {missed:.1%}")
    cells = [c for c in new if c.startswith("quartiles")]
    for said, i in (("three quartiles together", 0), ("interquartile range", 2)):
        band = mean_ratio([(new[c][i], new[c][i + 1]) for c in cells])
        before = mean_ratio([(new[c][i], old[c][i]) for c in cells])
        narrower = sum(new[c][i] <= new[c][i + 1] for c in cells)
        print(
            f"{said}: {band:.2f} of the band's width, {before:.2f} of 0.2's, narrower than it "
            f"in {narrower} of {len(cells)} cells"
        )
    print("\ncells that are wider than 0.2 by more than a tenth:")
    for cell, (_, width, *_) in ((c, f) for c, f in new.items() if c.startswith("q ")):
        if width > 1.1 * old[cell][1] + 1e-12:
            print(f"  {cell}: {width:.3g} against {old[cell][1]:.3g}")


def mean_ratio(pairs: list[tuple[float, float]]) -> float:
    """The geometric mean of ratios, without those of a zero."""
    logs = [math.log(a / b) for a, b in pairs if a > 0 and b > 0]
    return math.exp(float(np.mean(logs))) if logs else math.nan


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--figures", type=Path)
    asked = parser.parse_args()
    figures = measure()
    if asked.figures:
        rounded = {cell: [float(f"{x:.4g}") for x in numbers] for cell, numbers in figures.items()}
        lines = ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in rounded.items())
        asked.figures.write_text(f"{{\n{lines}\n}}\n")
    else:
        print_tables(figures, json.loads(OLD.read_text()))


if __name__ == "__main__":
    main()
