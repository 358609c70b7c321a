"""`python -m benchmarks.means`: mean absolute errors of private means, bias included, for wide
and narrow bounds, beside other libraries. Only our draws are seeded.

Peers that are not installed are left out: pip install opendp python-dp. `--quick` takes one size.
"""

from __future__ import annotations

import csv
import sys
import warnings
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import numpy as np

import duffdp

DATA = Path(__file__).parent.parent / "tests" / "data"
SIZES, EPSILONS = (500, 5_000, 100_000), (0.05, 0.5, 1.0, 5.0)
DRAWS = {500: 200, 5_000: 100, 100_000: 30}
Maker = Callable[[np.ndarray, tuple[float, float], float], Callable[[], float]]


def column(file: str, name: str, kind: type = float) -> np.ndarray:
    with (DATA / file).open(newline="") as lines:
        return np.array([kind(row[name]) for row in csv.DictReader(lines) if row[name]])


def cases(rng: np.random.Generator) -> dict[str, tuple[np.ndarray, tuple[float, float]]]:
    """Populations and public bounds."""
    many = 10**6
    return {
        "N(0, 1) in +-10": (rng.normal(size=many), (-10, 10)),
        "N(0, 1) in +-1000": (rng.normal(size=many), (-1000, 1000)),
        "incomes, lognormal, to 1e7": (rng.lognormal(10.5, 0.8, many), (0, 10**7)),
        "exponential, to 100": (rng.exponential(size=many), (0, 100)),
        "ages, whole, to 120": (column("adult.csv", "age", int), (0, 120)),
        "taxi fares, to 1000": (column("nyc_taxis.csv", "fare"), (0, 1000)),
        "retail amounts, to 1e5": (
            column("online_retail_invoices.csv", "amount").clip(0, 10**5),
            (0, 10**5),
        ),
        "house values, whole, to 1e7": (
            column("california_housing.csv", "median_house_value", int),
            (0, 10**7),
        ),
    }


def ours(choice: str) -> Maker:
    def make(x: np.ndarray, bounds: tuple[float, float], epsilon: float) -> Callable[[], float]:
        rng = np.random.default_rng(7)
        given = {"bounds": bounds, "epsilon": epsilon, "rng": rng}
        if choice == "trimmed":
            return lambda: float(duffdp.trimmed_mean(x.astype(float), 0.1, **given).value)
        return lambda: float(duffdp.mean(x, mechanism=choice, **given).value)

    return make


def opendp(x: np.ndarray, bounds: tuple[float, float], epsilon: float) -> Callable[[], float]:
    """The sum from the lower bound with nine tenths of epsilon, over a count with the rest."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    span = float(bounds[1] - bounds[0])
    space = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.symmetric_distance()
    clamped = space >> dp.t.then_clamp((0.0, span)) >> dp.t.then_sum()
    total = dp.binary_search_chain(
        lambda s: clamped >> dp.m.then_laplace(s), d_in=1, d_out=0.9 * epsilon
    )
    counted = space >> dp.t.then_count()
    count = dp.binary_search_chain(
        lambda s: counted >> dp.m.then_laplace(s), d_in=1, d_out=0.1 * epsilon
    )
    shifted = x.astype(float) - bounds[0]
    return lambda: float(
        np.clip(bounds[0] + total(shifted) / max(count(shifted), 1), bounds[0], bounds[1])
    )


def pydp(x: np.ndarray, bounds: tuple[float, float], epsilon: float) -> Callable[[], float]:
    from pydp.algorithms.laplacian import BoundedMean

    records = x.astype(float).tolist()
    given = {"lower_bound": float(bounds[0]), "upper_bound": float(bounds[1]), "dtype": "float"}
    return lambda: float(BoundedMean(epsilon=epsilon, **given).quick_result(records))


WAYS: dict[str, tuple[str, Maker]] = {
    "best": ("duffdp", ours("best")),
    "clipped": ("duffdp", ours("clipped")),
    "distance": ("duffdp", ours("distance")),
    "trimmed": ("duffdp", ours("trimmed")),
    "OpenDP": ("opendp", opendp),
    "PyDP": ("pydp", pydp),
}


def main(arguments: list[str]) -> None:
    warnings.simplefilter("ignore")
    rng = np.random.default_rng(1)
    ways = {name: make for name, (package, make) in WAYS.items() if find_spec(package)}
    peers = [name for name in ways if WAYS[name][0] != "duffdp"]
    heads = [*ways, "best/peer", "clipped/peer"]
    print(f"{'':30}{'n':>8}{'epsilon':>8}" + "".join(f"{name:>13}" for name in heads))
    for name, (population, bounds) in cases(rng).items():
        for n in SIZES[1:2] if "--quick" in arguments else SIZES:
            x = rng.choice(population, n)
            truth = x.mean()
            for epsilon in EPSILONS:
                errors = {}
                for way, make in ways.items():
                    slow = way in ("trimmed", "distance") and n > 10_000
                    call, draws = make(x, bounds, epsilon), DRAWS[n]
                    if slow or (way == "trimmed" and epsilon < 0.5):
                        errors[way] = np.nan  # takes long
                        continue
                    errors[way] = float(np.mean([abs(call() - truth) for _ in range(draws)]))
                cells = "".join(f"{error:13.4g}" for error in errors.values())
                least = min((errors[peer] for peer in peers), default=np.nan)
                ratios = "".join(f"{errors[way] / least:13.2f}" for way in ("best", "clipped"))
                print(f"{name:30}{n:8}{epsilon:8}{cells}{ratios}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
