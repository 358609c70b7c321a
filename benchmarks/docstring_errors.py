"""The factors of the errors in the Utility sections of docstrings, measured: python -m
benchmarks.docstring_errors

Each row has the mean error divided by the unit of its sentence, such as 1 / epsilon ranks.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

import duffdp

DRAWS = 100
EPSILONS = (0.5, 1.0, 2.0)
DECILES = [i / 10 for i in range(1, 10)]
Row = tuple[str, float]


def mean_error(call: Callable[..., Any], target: float) -> float:
    """The mean absolute error of a call over seeds."""
    return float(np.mean([abs(float(call(rng=seed).value) - target) for seed in range(DRAWS)]))


def ranks(epsilon: float) -> Iterator[Row]:
    """Errors in ranks: records are 0, 1, 2, ..., so a value is its rank."""
    records = np.arange(20_001)
    given: dict[str, Any] = {"bounds": (0, 20_000), "step": 1}
    for function in (duffdp.median, duffdp.iqr):
        error = mean_error(partial(function, records, epsilon=epsilon, **given), 10_000)
        yield f"{function.__name__}: 1 / epsilon ranks", error * epsilon
    targets = np.quantile(records, DECILES, method="inverted_cdf")
    joint, separate = [], []
    for seed in range(DRAWS):
        rng = np.random.default_rng(seed)
        drawn = duffdp.quantiles(records, DECILES, epsilon=epsilon, rng=rng, **given).value
        joint.append(np.abs(np.array(drawn) - targets).mean())
        given["epsilon"] = epsilon / 9
        drawn = [duffdp.quantile(records, q, rng=rng, **given).value for q in DECILES]
        del given["epsilon"]
        separate.append(np.abs(np.array(drawn) - targets).mean())
    yield "nine deciles: 1 / epsilon ranks", float(np.mean(joint)) * epsilon
    yield "nine deciles: separate releases / joint", float(np.mean(separate) / np.mean(joint))


def proportions(epsilon: float) -> Iterator[Row]:
    """Errors of means and shares of 1,000 records, in the middle and near a bound."""
    rng = np.random.default_rng(1)
    for place in (0.5, 0.05):
        records = np.clip(rng.normal(place, 0.01, 1000), 0, 1)
        for mechanism in ("best", "distance"):
            call = partial(
                duffdp.mean, records, epsilon=epsilon, bounds=(0, 1), mechanism=mechanism
            )
            error = mean_error(call, float(records.mean()))
            name = f'mean "{mechanism}" at {place:g}: (upper - lower) / (epsilon n)'
            yield name, error * epsilon * 1000
        inside = (np.arange(1000) < 1000 * place).astype(int)
        error = mean_error(partial(duffdp.share, inside, values=[1], epsilon=epsilon), place)
        yield f"share of {place:g}: 1 / (epsilon n)", error * epsilon * 1000


def clipped(epsilon: float) -> Iterator[Row]:
    """Errors of clipped means in units of s / (epsilon n)."""
    rng = np.random.default_rng(1)
    for size in (2_000, 100_000):
        shapes = {
            "normal": rng.normal(50, 1, size),
            "exponential": 50 + rng.exponential(1, size),
            "uniform": rng.uniform(49, 51, size),
        }
        for shape, records in shapes.items():
            for upper in (100, 10**6):
                call = partial(duffdp.mean, records, epsilon=epsilon, bounds=(0, upper))
                error = mean_error(partial(call, mechanism="clipped"), float(records.mean()))
                name = f"clipped mean, {size} {shape}, (0, {upper:g}): s / (epsilon n)"
                yield name, error * epsilon * size / float(records.std())


def slopes(epsilon: float) -> Iterator[Row]:
    """Errors of slopes in units of 1 / (f n epsilon)."""
    rng = np.random.default_rng(1)
    for size in (500, 2000):
        x = rng.normal(0, 1, size)
        y = 2 * x + rng.normal(0, 1, size)
        first, second = np.triu_indices(size, 1)
        pairs = (y[second] - y[first]) / (x[second] - x[first])
        slope = float(np.median(pairs))
        density = float((np.abs(pairs - slope) < 0.05).mean()) / 0.1
        error = mean_error(partial(duffdp.slope, x, y, epsilon=epsilon, bounds=(-10, 10)), slope)
        yield f"slope, n = {size}: 1 / (f n epsilon)", error * density * size * epsilon


def graphs(epsilon: float) -> Iterator[Row]:
    """Errors of triangles in units of a / epsilon, and of stars in units of C(d, k-1) / epsilon."""
    rng = np.random.default_rng(1)
    size = 200
    edges = [(i, j) for i in range(size) for j in range(i) if rng.random() < 0.2]
    adjacency = np.zeros((size, size), dtype=np.int64)
    for i, j in edges:
        adjacency[i, j] = adjacency[j, i] = 1
    common = adjacency @ adjacency
    triangles = float((common * adjacency).sum()) / 6
    most_common = int((common - np.diag(np.diag(common))).max())
    for mechanism in ("best", "duff"):
        call = partial(duffdp.triangles, edges, nodes=size, epsilon=epsilon, mechanism=mechanism)
        error = mean_error(call, triangles)
        yield f'triangles "{mechanism}": a / epsilon', error * epsilon / most_common
    degrees = [int(degree) for degree in adjacency.sum(axis=1)]
    for k in (2, 3):
        error = mean_error(
            partial(duffdp.stars, edges, k, nodes=size, epsilon=epsilon),
            sum(math.comb(degree, k) for degree in degrees),
        )
        scale = epsilon / math.comb(max(degrees), k - 1)
        yield f"{k}-stars: C(d, {k - 1}) / epsilon", error * scale


def main() -> None:
    print("| error in units of | epsilon | factor |\n| --- | --- | --- |")
    for part in (ranks, proportions, clipped, slopes, graphs):
        for epsilon in EPSILONS:
            for name, factor in part(epsilon):
                print(f"| {name} | {epsilon:g} | {factor:.2f} |", flush=True)


if __name__ == "__main__":
    main()
