"""The price of a median without known bounds: how many records would have to change until an answer
is true, with significant digits and with evenly spaced candidates.

Run: python -m benchmarks.digits
"""

from __future__ import annotations

import math

import numpy as np

import duffdp
from duffdp import Digits, Grid
from duffdp.mechanisms import Lattice, PermuteAndFlip
from duffdp.statistics import Median
from duffdp.statistics.quantile import LATTICE_CANDIDATES

EPSILONS = (0.5, 1.0, 2.0)
DOMAINS: dict[str, Digits | Grid] = {
    "Digits(1)": Digits(1),
    "Digits(2)": Digits(2),
    "Digits(3)": Digits(3),
    "Digits(4)": Digits(4),
    "2^40 even steps, -1e12 to 1e12": Grid(-1e12, 1e12, 2e12 / (2**40 - 1)),
}
RECORDS = {
    "log-normal amounts": lambda rng: rng.lognormal(4, 2, 2000),
    "N(0, 1)": lambda rng: rng.normal(size=2000),
    "tiny rates": lambda rng: rng.gamma(2, 1e-5, 2000),
}
SETS = 4


def bounds() -> None:
    print("With 95% probability, at most this many changes make the answer true, for all data:\n")
    print("| candidates | how many |", " | ".join(f"epsilon {e:g}" for e in EPSILONS), "|")
    print("| --- " * (2 + len(EPSILONS)) + "|")
    for name, domain in DOMAINS.items():
        found = [duffdp.median([], epsilon=e, bounds=domain).distance_bound(0.95) for e in EPSILONS]
        print(f"| {name} | {domain.size:,} |", " | ".join(map(str, found)), "|")


def errors() -> None:
    print("\nMean error of a median of 2,000 records at epsilon 1, as a share of the median (for")
    print("N(0, 1), of the standard deviation), rounding included:\n")
    print("| records |", " | ".join(DOMAINS), "|")
    print("| --- " * (1 + len(DOMAINS)) + "|")
    for name, made in RECORDS.items():
        found = []
        for domain in DOMAINS.values():
            mechanism = (Lattice if domain.size <= LATTICE_CANDIDATES else PermuteAndFlip)(1.0)
            each = []
            for seed in range(SETS):
                values = made(np.random.default_rng(seed))
                truth = float(np.sort(values)[len(values) // 2 - 1])
                law = mechanism.law(Median("signed").steps(values, domain))
                scale = 1.0 if name == "N(0, 1)" else abs(truth)
                each.append(law.expected_error(truth) / scale)
            found.append(math.fsum(each) / SETS)
        print(f"| {name} |", " | ".join(f"{error:.4f}" for error in found), "|")


if __name__ == "__main__":
    bounds()
    errors()
