"""`python -m benchmarks.quantile_peers`: the default quantile beside the exponential mechanism on
the gaps between records (Smith, STOC 2011), which is what diffprivlib releases: exact mean errors
of both, in 150 cells of real columns. And beside permute-and-flip on 1,001 and 10,001 evenly spaced
candidates, as somebody could choose who has to list them: OpenDP asks for such a list and has no
default.

Where diffprivlib is installed, the law that stands for it here is compared with its draws.
"""

from __future__ import annotations

import math
import warnings

import numpy as np

from benchmarks.steps import COLUMNS, EPSILONS, QS, RECORDS, SETS, column, error, row
from duffdp import Grid
from duffdp.domain.default_step import default_grid
from duffdp.mechanisms import PermuteAndFlip
from duffdp.statistics import Quantile

CHOSEN = (1000, 10_000)  # steps between the bounds, where the caller lists candidates
CHECKED = 2000  # draws of the installed library


def gap_error(values: np.ndarray, q: float, epsilon: float, low: float, high: float) -> float:
    """The mean error of a draw: a gap by its length and its rank, then any place in it alike."""
    ends = np.concatenate([[low], np.sort(np.clip(values, low, high)), [high]])
    begin, end = ends[:-1], ends[1:]
    ranks = np.arange(len(values) + 1)
    with np.errstate(divide="ignore"):
        weights = np.log(end - begin) - epsilon / 2 * abs(ranks - q * len(values))
    chances = np.exp(weights - weights.max())
    chances /= chances.sum()
    truth = ends[max(1, math.ceil(q * len(values)))]
    outside = np.where(truth <= begin, (begin + end) / 2 - truth, truth - (begin + end) / 2)
    lengths = np.where(end > begin, end - begin, 1.0)
    inside = ((truth - begin) ** 2 + (end - truth) ** 2) / (2 * lengths)
    distances = np.where((begin < truth) & (truth < end), inside, outside)
    return float(chances @ distances)


def listed_error(values: np.ndarray, q: float, epsilon: float, grid: Grid) -> float:
    """The mean error on a list of candidates."""
    law = PermuteAndFlip(epsilon).law(Quantile(q, "signed").steps(values, grid))
    return law.expected_error(float(np.sort(values)[max(1, math.ceil(q * len(values))) - 1]))


def check_law(values: np.ndarray, low: float, high: float) -> None:
    """Say how close the law comes to what the installed library draws."""
    try:
        from diffprivlib.tools import quantile
    except ImportError:
        print("diffprivlib is not installed: its law is not compared with its draws")
        return
    truth = np.sort(values)[math.ceil(0.5 * len(values)) - 1]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        draws = [quantile(values, 0.5, epsilon=0.5, bounds=(low, high)) for _ in range(CHECKED)]
    found = float(np.mean(np.abs(np.array(draws) - truth)))
    print(f"law {gap_error(values, 0.5, 0.5, low, high):.4g}, diffprivlib {found:.4g}")


def main() -> None:
    row(["column", "q"], [f"{epsilon:g}" for epsilon in EPSILONS])
    print("| --- " * (2 + len(EPSILONS)) + "|")
    ratios = {}
    beside: dict[int, list[float]] = {steps: [] for steps in CHOSEN}
    for name, (file, field, low, high) in COLUMNS.items():
        everything = column(file, field)
        sets = [
            np.random.default_rng(seed).choice(everything, RECORDS, replace=False)
            for seed in range(SETS)
        ]
        grid = default_grid(low, high, "order", whole=False, untyped=False)
        for q in QS:
            for epsilon in EPSILONS:
                ours = sum(error(values, q, epsilon, grid) for values in sets)
                peer = sum(gap_error(values, q, epsilon, low, high) for values in sets)
                ratios[name, q, epsilon] = ours / peer
                for steps, found in beside.items():
                    chosen = Grid(low, high, (high - low) / steps)
                    found.append(ours / sum(listed_error(v, q, epsilon, chosen) for v in sets))
            cells = [f"{ratios[name, q, epsilon]:.2f}" for epsilon in EPSILONS]
            row([name, f"{q:g}"], cells)
    above = {cell: ratio for cell, ratio in ratios.items() if ratio > 1}
    print(f"\nat most 1.0 in {len(ratios) - len(above)} of {len(ratios)} cells; above:")
    for (name, q, epsilon), ratio in above.items():
        print(f"{name}, q {q:g}, epsilon {epsilon:g}: {ratio:.3f}")
    for steps, found in beside.items():
        mean = math.exp(sum(map(math.log, np.maximum(found, 1e-9))) / len(found))
        within = sum(ratio <= 1 for ratio in found)
        print(
            f"beside {steps + 1:,} candidates: at most 1.0 in {within} cells, geometric mean "
            f"{mean:.2f}, largest {max(found):.3g}"
        )
    check_law(sets[0], low, high)


if __name__ == "__main__":
    main()
