"""Triangles: exact errors of ladder, smooth sensitivity and piecewise Laplace noise on three
graphs, and the time on a large one.

Run: python -m benchmarks.graphs
"""

from __future__ import annotations

import resource
import time
from fractions import Fraction
from pathlib import Path

import numpy as np

import duffdp
from duffdp import Grid
from duffdp._count_ladder import CountLadder
from duffdp.mechanisms import Exponential, PiecewiseLaplace
from duffdp.research.baselines import SmoothPareto
from duffdp.statistics import Triangles

DATA = Path(__file__).parent.parent / "tests" / "data"
GRAPHS = {
    "ca-GrQc": ("ca_grqc", 5242),
    "ca-HepTh": ("ca_hepth", 9877),
    "ego-Facebook": ("facebook_ego", 4039),
}
EPSILONS = (0.1, 0.5, 1.0, 2.0)


def smooth(ladder: CountLadder, epsilon: float) -> tuple[float, float]:
    """Mean and median error of two-sided Pareto noise scaled to the smooth sensitivity, with the
    largest constant that is private. beta = epsilon / 16 is public. Of epsilon / 8, 12, 16, 20, 24,
    32, 48 and 64 it has the least median error on these graphs (geometric mean).
    """
    beta = epsilon / 16
    sensitivity = np.array(
        ladder.sensitivity(0, ladder.slow_from(Fraction(1 + beta)) + 1)
    )  # falls from there on
    scale = float((np.exp(-beta * np.arange(len(sensitivity))) * sensitivity).max())
    scale /= SmoothPareto(epsilon, beta=beta).shift
    index = epsilon / beta  # P(|X| > scale z) = (1 + z)^-index
    return scale / (index - 1), scale * (2 ** (1 / index) - 1)


def errors() -> None:
    print(
        "| graph | epsilon | ladder: mean, median | smooth sensitivity: mean, median | piecewise "
        "Laplace: mean, median |"
    )
    print("| --- | --- | --- | --- | --- |")
    for name, (file, nodes) in GRAPHS.items():
        ladder = Triangles(nodes).ladder(DATA / f"{file}_edges.csv")
        steps = ladder.steps(Grid(0, 10 * ladder.count, 1))
        for epsilon in EPSILONS:
            law = Exponential(epsilon).law(steps)
            low, high = 0.0, 10.0 * ladder.count
            while high - low > 0.5:
                middle = (low + high) / 2
                low, high = (
                    (middle, high) if law.tail(ladder.count, middle) > 0.5 else (low, middle)
                )
            best = PiecewiseLaplace(epsilon)
            cells = [
                (law.expected_error(ladder.count), high),
                smooth(ladder, epsilon),
                (best.expected_error(ladder), best.median_error(ladder)),
            ]
            print(
                f"| {name} | {epsilon:g} | "
                + " | ".join(f"{mean:.1f}, {median:.1f}" for mean, median in cells)
                + " |"
            )


def speed() -> None:
    """A graph of a million edges with heavy-tailed degrees up to about 1,000, many of them in
    triangles.
    """
    rng = np.random.default_rng(1)
    nodes = 100_000
    weight = np.minimum((1 - rng.random(nodes)) ** -0.7, 105)
    ends = rng.choice(nodes, (1_300_000, 2), p=weight / weight.sum())
    ends = np.sort(ends[ends[:, 0] != ends[:, 1]], axis=1)
    edges = np.unique(ends, axis=0)[:1_000_000]
    degree = np.bincount(edges.ravel())
    begin = time.perf_counter()
    duffdp.triangles(edges, epsilon=1.0, nodes=nodes)
    taken, peak = (
        time.perf_counter() - begin,
        resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20,
    )
    print(
        f"triangles of {len(edges):,} edges, degrees up to {degree.max():,}: {taken:.1f} s, peak "
        f"memory {peak:.1f} GiB"
    )


if __name__ == "__main__":
    errors()
    speed()
