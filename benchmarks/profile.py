"""How close the first look of `duffdp.profile` comes to the quartiles of tables of many columns:
`python -m benchmarks.profile`.

Each profile is made of 15 columns of 1,000 people for one epsilon. The margins of noise were chosen
by other shapes; edges below 0 and `LONE_MARGIN_NATS` were added because of these, and checked on
other seeds. A second table has a column of which 44 % of the fields are no numbers; it is called so
if a remark names it and its share is right within five points.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import polars as pl

import duffdp

ROWS, DRAWS, EPSILONS = 1_000, 40, (1.0, 2.0)
QUARTILES = (0.25, 0.5, 0.75)
Generator = np.random.Generator
SHAPES: dict[str, Callable[[Generator], np.ndarray]] = {
    "gamma": lambda rng: rng.gamma(2, 30, ROWS),
    "weibull": lambda rng: 100 * rng.weibull(0.7, ROWS),
    "pareto": lambda rng: 1_000 * (1 + rng.pareto(2.5, ROWS)),
    "poisson of 40": lambda rng: rng.poisson(40, ROWS).astype(float),
    "below zero": lambda rng: rng.normal(-50, 10, ROWS),
    "temperatures": lambda rng: rng.normal(14, 6, ROWS),
    "log-normal": lambda rng: rng.lognormal(3, 0.5, ROWS),
    "triangle": lambda rng: rng.triangular(0, 10, 100, ROWS),
    "waiting": lambda rng: rng.exponential(5_000, ROWS),
    "narrow": lambda rng: rng.uniform(500, 700, ROWS),
    "small": lambda rng: 0.01 * rng.chisquare(5, ROWS),
    "years": lambda rng: rng.integers(1930, 2010, ROWS).astype(float),
    "grades": lambda rng: rng.integers(1, 7, ROWS).astype(float),
    "two hills": lambda rng: np.concatenate(
        [rng.normal(20, 2, 2 * ROWS // 5), rng.normal(2_000, 200, ROWS - 2 * ROWS // 5)]
    ),
    "large": lambda rng: rng.lognormal(12, 1.2, ROWS),
}


def within_factor(value: float, truth: float, factor: float = 2) -> bool:
    """True if two numbers have one sign and lie within a factor of each other."""
    return value * truth > 0 and 1 / factor <= value / truth <= factor


def misses(seed: int, epsilon: float) -> Iterator[str]:
    """The columns of one profile of which a quartile is off by more than a factor of 2."""
    rng = np.random.default_rng(seed)
    data = {name: draw(rng) for name, draw in SHAPES.items()}
    look = duffdp.profile(pl.DataFrame(data), epsilon=epsilon, rng=seed)
    for name, values in data.items():
        found = look.columns[name].quartiles
        truths = np.quantile(values, QUARTILES, method="inverted_cdf")
        if found is None or not all(map(within_factor, found, truths)):
            yield name


def is_called_unreadable(folder: Path, seed: int, epsilon: float) -> bool:
    """Whether a profile names the column of which 44 % of the fields are no numbers."""
    rng = np.random.default_rng(seed)
    fines = [f"{fine:.2f}" for fine in rng.lognormal(6, 1, ROWS)]
    for at in rng.choice(ROWS, round(0.44 * ROWS), replace=False):
        fines[at] = "k.A."
    others = {name: list(map(str, draw(rng))) for name, draw in list(SHAPES.items())[:4]}
    path = folder / "fines.csv"
    pl.DataFrame({"fine": fines, **others}).write_csv(path)
    look = duffdp.profile(path, epsilon=epsilon, rng=seed)
    named = any(remark.startswith("fine:") for remark in look.remarks)
    return named and abs(look.columns["fine"].unreadable - 0.44) <= 0.05


def main(draws: int = DRAWS) -> None:
    """Print the profiles that hit all of their quartiles, and those that name the column."""
    print(f"{len(SHAPES)} columns of {ROWS:,} people, {draws} profiles")
    for epsilon in EPSILONS:
        missed = [list(misses(seed, epsilon)) for seed in range(draws)]
        hits = sum(not names for names in missed)
        columns = sum(map(len, missed))
        print(
            f"epsilon {epsilon:g}: all quartiles within a factor of 2 in {hits} of {draws}; "
            f"columns missed {columns} of {draws * len(SHAPES)}"
        )
        for name in SHAPES:
            if count := sum(name in names for names in missed):
                print(f"  {name}: {count}")
    with tempfile.TemporaryDirectory() as folder:
        called = sum(is_called_unreadable(Path(folder), seed, 1.0) for seed in range(draws))
    print(f"epsilon 1, 5 columns: 44 % unreadable fields are named in {called} of {draws}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
