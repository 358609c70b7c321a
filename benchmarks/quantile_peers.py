"""`python -m benchmarks.quantile_peers`: the default quantile beside what other libraries release,
by exact mean errors in 150 cells of real columns.

diffprivlib: the exponential mechanism on the gaps between records (Smith, STOC 2011). OpenDP:
permute-and-flip on the rank scores of a list of candidates. The caller must pass the list: those in
its documentation have 5 to 101 candidates, or are the whole numbers between the bounds.

If both libraries are installed, the output distributions that are used for them here are compared
with their draws.
"""

from __future__ import annotations

import csv
import math
import warnings
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import numpy as np

from duffdp import Grid
from duffdp._steps import StepFunction
from duffdp.domain.default_step import default_grid
from duffdp.mechanisms import Lattice, PermuteAndFlip
from duffdp.mechanisms.mechanism import DistanceMechanism
from duffdp.statistics import Quantile
from duffdp.statistics.quantile import LATTICE_CANDIDATES, LATTICE_EPSILON

DATA = Path(__file__).parent.parent / "tests" / "data"
# File, column, and what somebody who has not seen the data would promise.
COLUMNS = {
    "taxi fares": ("nyc_taxis.csv", "fare", 0.0, 500.0),
    "taxi distances": ("nyc_taxis.csv", "distance", 0.0, 100.0),
    "house incomes": ("california_housing.csv", "median_income", 0.0, 20.0),
    "invoice amounts": ("online_retail_invoices.csv", "amount", -100_000.0, 100_000.0),
    "latitudes": ("california_housing.csv", "latitude", -90.0, 90.0),
}
QS = (0.05, 0.25, 0.5, 0.75, 0.95)
EPSILONS = (0.1, 0.25, 0.5, 1.0, 2.0, 5.0)
RECORDS, SETS = 1000, 3
LISTS = (100, 1000, 10_000)  # steps between the bounds, where the caller lists candidates
EXACT = 1e-6  # errors are told from none from this part of the width of the bounds on
CHECKED = 1000  # draws of an installed library

Cell = tuple[str, float, float]  # column, quantile, epsilon
Error = Callable[[np.ndarray, float, float, float, float], float]


def column(file: str, name: str) -> np.ndarray:
    with (DATA / file).open(newline="") as lines:
        return np.array([float(row[name]) for row in csv.DictReader(lines) if row[name]])


def quantile(values: np.ndarray, q: float) -> float:
    return float(np.sort(values)[max(1, math.ceil(q * len(values))) - 1])


def best(epsilon: float, size: int) -> DistanceMechanism:
    """The mechanism that a default call is drawn by."""
    coarse = size <= LATTICE_CANDIDATES and epsilon >= LATTICE_EPSILON
    return (Lattice if coarse else PermuteAndFlip)(epsilon)


def default_error(values: np.ndarray, q: float, epsilon: float, low: float, high: float) -> float:
    """The mean error of a default call; rounding counts."""
    grid = default_grid(low, high, "order", integer_type=False, untyped=False)
    law = best(epsilon, grid.size).law(Quantile(q, "signed").steps(values, grid))
    return law.expected_error(quantile(values, q))


def gap_error(values: np.ndarray, q: float, epsilon: float, low: float, high: float) -> float:
    """The mean error of a draw: a gap by its length and its rank, then a uniform place in it."""
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


def list_error(steps: int) -> Error:
    """The mean error of permute-and-flip on a list: by |(1-q) below - q above|, which one record
    moves by max(q, 1-q) at most.
    """

    def found(values: np.ndarray, q: float, epsilon: float, low: float, high: float) -> float:
        grid = Grid(low, high, (high - low) / steps)
        places, ranked = grid.values(range(grid.size)), np.sort(values)
        below = np.searchsorted(ranked, places, side="left")
        above = len(ranked) - np.searchsorted(ranked, places, side="right")
        p, m = Fraction(str(q)).as_integer_ratio()
        score = abs((m - p) * below - p * above).astype(np.int64)
        each = np.arange(grid.size), np.ones(grid.size, dtype=np.int64)
        scores = StepFunction(grid, *each, score, Fraction(1, max(p, m - p)))
        return PermuteAndFlip(epsilon).law(scores).expected_error(quantile(values, q))

    return found


PEERS: dict[str, Error] = {
    "gaps": gap_error,
    **{f"{steps + 1:,} listed": list_error(steps) for steps in LISTS},
}


def errors(find: Error) -> dict[Cell, float]:
    """The mean error in every cell, over its data sets."""
    cells = {}
    for name, (file, field, low, high) in COLUMNS.items():
        everything = column(file, field)
        sets = [
            np.random.default_rng(seed).choice(everything, RECORDS, replace=False)
            for seed in range(SETS)
        ]
        for q in QS:
            for epsilon in EPSILONS:
                found = [find(values, q, epsilon, low, high) for values in sets]
                cells[name, q, epsilon] = float(np.mean(found)) + EXACT * (high - low)
    return cells


def compared(ours: dict[Cell, float], peer: dict[Cell, float]) -> tuple[int, float, float]:
    """The number of cells in which our error is at most as large; the geometric mean ratio and the
    largest one.
    """
    ratios = np.array([ours[cell] / peer[cell] for cell in ours])
    return int((ratios <= 1).sum()), float(np.exp(np.log(ratios).mean())), float(ratios.max())


def row(*cells: str) -> None:
    print("|", " | ".join(cells), "|", flush=True)


def check_laws() -> None:
    """Print the mean errors by output distributions beside those of the libraries' own draws."""
    file, field, low, high = COLUMNS["house incomes"]
    values, epsilon = column(file, field)[:RECORDS], 0.05
    truth = quantile(values, 0.5)
    try:
        import opendp.prelude as dp
        from diffprivlib import tools
    except ImportError:
        print("opendp and diffprivlib are not both installed: nothing is compared with draws")
        return
    dp.enable_features("contrib")
    candidates = np.linspace(low, high, LISTS[0] + 1).tolist()
    space = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.symmetric_distance()
    release = dp.binary_search_chain(
        lambda scale: (
            space >> dp.m.then_private_quantile(dp.max_divergence(), candidates, 0.5, scale)
        ),
        d_in=1,
        d_out=epsilon,
    )
    calls: dict[str, tuple[Callable[[], float], Error]] = {
        "OpenDP": (lambda: float(release(values)), list_error(LISTS[0])),
        "diffprivlib": (
            lambda: float(tools.quantile(values, 0.5, epsilon=epsilon, bounds=(low, high))),
            gap_error,
        ),
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, (call, law) in calls.items():
            found = np.abs(np.array([call() for _ in range(CHECKED)]) - truth).mean()
            expected = law(values, 0.5, epsilon, low, high)
            print(f"{name}: law {expected:.4g}, {CHECKED} draws {found:.4g}")


def main() -> None:
    ours, peers = errors(default_error), {name: errors(find) for name, find in PEERS.items()}
    row("column", "q", *(f"{epsilon:g}" for epsilon in EPSILONS))
    print("| --- " * (2 + len(EPSILONS)) + "|")
    for name in COLUMNS:
        for q in QS:
            cells = [(name, q, epsilon) for epsilon in EPSILONS]
            row(name, f"{q:g}", *(f"{ours[cell] / peers['gaps'][cell]:.2f}" for cell in cells))
    print()
    row("beside", f"at most 1.0, of {len(ours)}", "geometric mean", "largest")
    print("| --- | --: | --: | --: |")
    for name, peer in peers.items():
        within, mean, largest = compared(ours, peer)
        row(name, str(within), f"{mean:.2f}", f"{largest:.3g}")
    check_laws()


if __name__ == "__main__":
    main()
