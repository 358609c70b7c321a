"""Intervals of private medians: widths over those without privacy, misses, ranks to a side, and the
price of the value.

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
from duffdp.statistics.quantile_interval import VALUE_SHARES, endpoint_offset

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
    """Median width over that of the binomial interval, misses, and ends that are bounds."""
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


def data_cell(
    sampler: Sampler, bounds: tuple[float, float], q: float, n: int, epsilon: float, many: int
) -> tuple[float, float, int]:
    """Mean error of the value, median width of an interval for the data, and misses."""
    rng = np.random.default_rng(n)
    errors, widths, misses = [], [], 0
    for _ in range(many):
        records = sampler(rng, n)
        truth = float(np.sort(records)[max(1, math.ceil(q * n)) - 1])
        seed = int(rng.integers(2**62))
        found = duffdp.quantile(
            records, q, epsilon=epsilon, bounds=bounds, interval=CONFIDENCE, rng=seed
        )
        errors.append(abs(found.value - truth))
        widths.append(found.high - found.low)
        place = round(found.domain.place(truth))
        misses += not found.domain.find(found.low) <= place <= found.domain.find(found.high)
    return float(np.mean(errors)), float(np.median(widths)), misses


def data_table(many: int = 40) -> None:
    """Errors and widths for the data's quantiles."""
    epsilons = (0.5, 1.0, 2.0)
    head = " | ".join(f"epsilon {e:g}: error, width" for e in epsilons)
    print(f"| data | q | n | {head} |")
    print("| --- | --- | --- |" + " --- |" * len(epsilons))
    missed = 0
    for q in (0.5, 0.9, 0.95, 0.99):
        for name, sampler, bounds, _ in POPULATIONS:
            for n in (300, 1000, 10_000):
                cells = []
                for epsilon in epsilons:
                    error, width, misses = data_cell(sampler, bounds, q, n, epsilon, many)
                    missed += misses
                    cells.append(f"{error:.3g}, {width:.3g}")
                print(f"| {name} | {q:g} | {n:,} | {' | '.join(cells)} |", flush=True)
    print(f"\n{missed} of these intervals missed the data's quantile\n")


def share_table(many: int = 20) -> None:
    """Shares of the value: its error over that of a median without an interval, and the width over
    that of the library's share, as geometric means over all cells.
    """
    chosen = VALUE_SHARES["data"]
    cells = [
        (sampler, bounds, n, epsilon)
        for _, sampler, bounds, _ in POPULATIONS
        for n in (300, 1000, 10_000)
        for epsilon in (0.5, 1.0, 2.0)
    ]
    alone = []
    for sampler, bounds, n, epsilon in cells:
        rng = np.random.default_rng(n)
        errors = []
        for _ in range(many):
            records = sampler(rng, n)
            truth = float(np.sort(records)[math.ceil(n / 2) - 1])
            seed = int(rng.integers(2**62))
            value = duffdp.median(records, epsilon=epsilon, bounds=bounds, rng=seed).value
            errors.append(abs(value - truth))
        alone.append(float(np.mean(errors)))
    by_share = {}
    try:
        for share in (Fraction(1, 4), Fraction(1, 2), Fraction(3, 4)):
            VALUE_SHARES["data"] = share
            by_share[share] = [
                data_cell(sampler, bounds, 0.5, n, epsilon, many)
                for sampler, bounds, n, epsilon in cells
            ]
    finally:
        VALUE_SHARES["data"] = chosen
    print("| share of the value | error / median without interval | width / width at 1/2 |")
    print("| --- | --- | --- |")
    for share, measured in by_share.items():
        errors, widths = ([one[i] for one in measured] for i in (0, 1))
        middle = [one[1] for one in by_share[Fraction(1, 2)]]
        print(f"| {share} | {_mean_ratio(errors, alone):.2f} | {_mean_ratio(widths, middle):.2f} |")
    print()


def population_shares(many: int = 200) -> None:
    """For medians of populations: the mean error of the value over the median width, by the value's
    share, and that of the middle of both ends; then the width over that with nearly all of epsilon
    for the ends. Geometric means, and the smallest and the largest, over cells with a number of
    records times epsilon of at least 500.
    """
    chosen, least = VALUE_SHARES["population"], Fraction(1, 1000)
    cells: dict[Fraction, list[tuple[float, float, float]]] = {}
    try:
        for share in (least, Fraction(1, 8), Fraction(1, 4)):
            VALUE_SHARES["population"] = share
            cells[share] = [
                _population_cell(sampler, bounds, n, epsilon, many)
                for _, sampler, bounds, _ in POPULATIONS
                for n in (200, 1000, 10_000)
                for epsilon in (0.5, 1.0, 2.0)
                if n * epsilon >= 500
            ]
    finally:
        VALUE_SHARES["population"] = chosen
    print("| share of the value | value / width | middle / width | width / width without value |")
    print("| --- | --- | --- | --- |")
    for share, measured in cells.items():
        values, middles, widths = map(np.array, zip(*measured, strict=True))
        wider = widths / [width for _, _, width in cells[least]]
        spans = (
            f"{np.exp(np.log(x).mean()):.2f} ({x.min():.2f} to {x.max():.2f})"
            for x in (values, middles, wider)
        )
        print(f"| {share} | {' | '.join(spans)} |")
    print()


def _population_cell(
    sampler: Sampler, bounds: tuple[float, float], n: int, epsilon: float, many: int
) -> tuple[float, float, float]:
    """Mean errors of the value and of the middle of both ends, over the median width; and this
    width.
    """
    rng = np.random.default_rng(n)
    values, middles, widths = [], [], []
    for _ in range(many):
        records = sampler(rng, n)
        truth = float(np.sort(records)[math.ceil(n / 2) - 1])
        seed = int(rng.integers(2**62))
        found = duffdp.median(
            records,
            epsilon=epsilon,
            bounds=bounds,
            interval=CONFIDENCE,
            covers="population",
            rng=seed,
        )
        values.append(abs(found.value - truth))
        middles.append(abs((found.low + found.high) / 2 - truth))
        widths.append(found.high - found.low)
    width = float(np.median(widths))
    return float(np.mean(values)) / width, float(np.mean(middles)) / width, width


def _mean_ratio(numbers: list[float], others: list[float]) -> float:
    pairs = [(a, b) for a, b in zip(numbers, others, strict=True) if a > 0 and b > 0]
    return math.exp(np.mean([math.log(a / b) for a, b in pairs]))


def ranks(candidates: int, n: int, epsilon: float) -> float:
    """How many ranks outside of the population's median each end is aimed."""
    each = Fraction(str(epsilon)) * (1 - VALUE_SHARES["population"]) / 2
    made = endpoint_offset(Fraction(1, 2), each, Fraction(1, 40), candidates, "population")
    return made.at(n)[0] / made.steps_per_rank


def main() -> None:
    share_table()
    population_shares()
    data_table()
    print("| ranks to a side | n | " + " | ".join(f"epsilon {e:g}" for e in EPSILONS) + " |")
    print("| --- | --- |" + " --- |" * len(EPSILONS))
    for candidates, said in ((121, "121"), (2**40, "2^40")):
        for n in SIZES:
            found = (f"{ranks(candidates, n, e):,.0f}" for e in EPSILONS)
            print(f"| population, {said} candidates | {n:,} | {' | '.join(found)} |")
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
