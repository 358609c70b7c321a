"""The largest error of a share of a distribution, compared with other methods, with the error of
sampling alone, and with PyDP's tree.

Run: python -m benchmarks.distribution [a Python that has python-dp]
"""

from __future__ import annotations

import json
import math
import subprocess
import sys
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

import duffdp

Floats = npt.NDArray[np.float64]
Bounds = tuple[float, float]
Way = Callable[[Floats, float, Bounds], float]
RNG = np.random.default_rng(7)
POPULATIONS: dict[str, tuple[Callable[[int], Floats], Bounds]] = {
    "normal(0, 1) in -10..10": (lambda n: RNG.normal(size=n), (-10.0, 10.0)),
    "uniform in 0..1": (lambda n: RNG.random(n), (0.0, 1.0)),
    "lognormal(0, 1.5) in 0..1000": (lambda n: RNG.lognormal(0, 1.5, n), (0.0, 1000.0)),
    "normal(100, 0.01) in 0..10^6": (lambda n: RNG.normal(100, 0.01, n), (0.0, 1e6)),
    "two peaks in -10..10": (
        lambda n: RNG.normal(np.where(RNG.random(n) < 0.5, -3, 3), 0.3),
        (-10.0, 10.0),
    ),
}
CASES = [(1000, 0.1), (1000, 1.0), (10_000, 0.1), (10_000, 1.0), (100_000, 0.1), (100_000, 2.0)]
TREE_OF_PYDP = """
import json, sys
from pydp.algorithms.quantile_tree import QuantileTree
asked = json.load(sys.stdin)
tree = QuantileTree(*asked["bounds"], 4, 16)
for record in asked["data"]:
    tree.add_entry(record)
print(json.dumps(tree.compute_quantiles(asked["epsilon"], 0.0, 1, 1, asked["qs"], "laplace")))
"""


def noise(epsilon: float, size: int) -> npt.NDArray[np.int64]:
    chance = -math.expm1(-epsilon)
    return RNG.geometric(chance, size) - RNG.geometric(chance, size)


def largest_error(data: Floats, edges: Floats, shares: Floats) -> float:
    """Between the shares of records and a line through shares at edges, over all values."""
    records, many = np.sort(data), len(data)
    found = np.interp(records, edges, shares)
    upto = np.searchsorted(records, records, side="right") / many
    below = np.searchsorted(records, records, side="left") / many
    return float(max(np.abs(upto - found).max(), np.abs(below - found).max()))


def risen(counts: Floats) -> Floats:
    sums = np.concatenate([[0.0], np.cumsum(counts)])
    if sums[-1] <= 0:
        return np.linspace(0, 1, len(sums))
    within = np.clip(sums / sums[-1], 0, 1)
    after = np.minimum.accumulate(within[::-1])[::-1]
    found: Floats = (np.maximum.accumulate(within) + after) / 2
    return found


def shipped(data: Floats, epsilon: float, bounds: Bounds) -> float:
    found = duffdp.distribution(data, epsilon=epsilon, bounds=bounds).value
    steps = found.steps()
    edges = np.array([bounds[0], *(step.upper for step in steps)])
    return largest_error(data, edges, np.array([0.0, *(step.cdf for step in steps)]))


def flat(data: Floats, epsilon: float, bounds: Bounds) -> float:
    """256 cells of the same width."""
    counts, edges = np.histogram(data.clip(*bounds), 256, bounds)
    return largest_error(data, edges, risen(counts + noise(epsilon, 256)))


def tree(data: Floats, epsilon: float, bounds: Bounds) -> float:
    """16 x 16 x 16 cells in three levels, made consistent by least squares (Hay et al. 2010)."""
    level, edges = np.histogram(data.clip(*bounds), 4096, bounds)
    noisy = []
    for _ in range(3):
        noisy.append((level + noise(epsilon / 3, len(level))).astype(float))
        level = level.reshape(-1, 16).sum(axis=1)
    combined, variance = [noisy[0]], 1.0
    for own in noisy[1:]:
        weight = 16 * variance / (16 * variance + 1)
        below = combined[-1].reshape(-1, 16).sum(axis=1)
        combined.append(weight * own + (1 - weight) * below)
        variance = weight
    counts = combined[-1]
    for inner in combined[-2::-1]:
        rest = counts - inner.reshape(-1, 16).sum(axis=1)
        counts = (inner.reshape(-1, 16) + rest[:, None] / 16).ravel()
    return largest_error(data, edges, risen(counts))


def joint(data: Floats, epsilon: float, bounds: Bounds) -> float:
    """99 quantiles in one draw."""
    qs = [i / 100 for i in range(1, 100)]
    places = duffdp.quantiles(data, qs, epsilon=epsilon, bounds=bounds).value
    return largest_error(data, np.array([bounds[0], *places, bounds[1]]), np.linspace(0, 1, 101))


def pydp(python: str) -> Way:
    """199 quantiles of one tree of PyDP, 16^4 leaves."""

    def error(data: Floats, epsilon: float, bounds: Bounds) -> float:
        qs = [i / 200 for i in range(1, 200)]
        asked = {"data": data.tolist(), "epsilon": epsilon, "bounds": bounds, "qs": qs}
        given = [python, "-c", TREE_OF_PYDP]
        ran = subprocess.run(
            given, input=json.dumps(asked), capture_output=True, text=True, check=True
        )
        places = np.maximum.accumulate(json.loads(ran.stdout))
        edges = np.array([bounds[0], *places, bounds[1]])
        return largest_error(data, edges, np.linspace(0, 1, 201))

    return error


def band(data: Floats, epsilon: float, bounds: Bounds) -> tuple[float, float]:
    """Half the width of the bands for the data and for a population, on average over records."""
    found = duffdp.distribution(data, epsilon=epsilon, bounds=bounds).value
    picked = data.clip(*bounds)[:200].tolist()
    halves = [
        np.mean([np.diff(found.band(x, covers))[0] / 2 for x in picked])
        for covers in ("data", "population")
    ]
    return float(halves[0]), float(halves[1])


def on_whole_numbers() -> None:
    """The largest error over whole numbers: of 121 candidates each is counted, of 100,001 none."""
    print("\n| data | n | epsilon | DKW | duffdp | 99 quantiles |\n|" + " --- |" * 6)
    for name, top, sampler in (
        ("ages in 0..120", 120, lambda n: RNG.normal(40, 18, n)),
        ("pay in 0..100000", 100_000, lambda n: RNG.lognormal(10, 0.6, n)),
    ):
        for records, epsilon in CASES:
            errors = []
            for _ in range(10 if records < 100_000 else 3):
                data = np.rint(sampler(records)).clip(0, top).astype(np.int64)
                given = {"epsilon": epsilon, "bounds": (0, top), "step": 1}
                found = duffdp.distribution(data, **given).value
                upto = np.cumsum(np.bincount(data, minlength=top + 1)) / records
                ends = np.array([-1, *found.ends])
                shares = np.array([0.0, *(step.cdf for step in found.steps())])
                own = np.abs(np.interp(np.arange(top + 1), ends, shares) - upto).max()
                qs = [i / 100 for i in range(1, 100)]
                places = duffdp.quantiles(data, qs, **given).value
                steps = np.searchsorted(places, np.arange(top + 1), side="right") / 100
                errors.append((own, np.abs(steps - upto).max()))
            apart = math.sqrt(math.log(2 / 0.05) / (2 * records))
            cells = [f"{each:.4f}" for each in (apart, *np.mean(errors, axis=0))]
            print(f"| {name} | {records} | {epsilon:g} | {' | '.join(cells)} |", flush=True)


def main() -> None:
    ways: dict[str, Way] = {"duffdp": shipped, "flat": flat, "tree": tree, "99 quantiles": joint}
    if len(sys.argv) > 1:
        ways["PyDP's tree"] = pydp(sys.argv[1])
    columns = ["data", "n", "epsilon", "DKW", *ways, "band: data", "band: population"]
    print("| " + " | ".join(columns) + " |")
    print("|" + " --- |" * len(columns))
    for name, (sampler, bounds) in POPULATIONS.items():
        for records, epsilon in CASES:
            tables = [sampler(records) for _ in range(10 if records < 100_000 else 3)]
            apart = math.sqrt(math.log(2 / 0.05) / (2 * records))
            errors = [np.mean([way(t, epsilon, bounds) for t in tables]) for way in ways.values()]
            bands = np.mean([band(t, epsilon, bounds) for t in tables[:3]], axis=0)
            cells = [f"{each:.4f}" for each in (apart, *errors, *bands)]
            print(f"| {name} | {records} | {epsilon:g} | {' | '.join(cells)} |", flush=True)
    on_whole_numbers()


if __name__ == "__main__":
    main()
