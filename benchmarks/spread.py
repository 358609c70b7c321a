"""`python -m benchmarks.spread`: mean errors of private standard deviations and interquartile
ranges, beside other libraries, in one run.

Peers that are not installed are left out: pip install opendp 'scikit-learn<1.6' diffprivlib. The
number of records is public for both, and private here.
"""

from __future__ import annotations

import csv
import importlib.util
import math
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

import duffdp

Values = np.ndarray
Call = Callable[[], float]
SIZES, EPSILONS = (500, 1000, 10_000, 100_000), (0.05, 0.2, 1.0, 5.0)


class Case(NamedTuple):
    """A population, and the bounds that somebody gives who knows the subject."""

    name: str
    draw: Callable[[np.random.Generator, int], Values]
    bounds: tuple[float, float]


def ages() -> Values:
    path = Path(__file__).parent.parent / "tests" / "data" / "adult.csv"
    with path.open(newline="") as file:
        return np.array([float(row["age"]) for row in csv.DictReader(file)])


AGES = ages()
CASES = (
    Case("N(0,1) in +-10", lambda rng, n: rng.normal(size=n), (-10.0, 10.0)),
    Case("N(0,1) in +-1000", lambda rng, n: rng.normal(size=n), (-1000.0, 1000.0)),
    Case("incomes in (0, 1e7)", lambda rng, n: np.exp(rng.normal(10.5, 0.8, n)), (0.0, 1e7)),
    Case("ages in (0, 120)", lambda rng, n: rng.choice(AGES, n), (0.0, 120.0)),
    Case("exponential in (0, 20)", lambda rng, n: rng.exponential(1.0, n), (0.0, 20.0)),
    Case("uniform in (0, 1)", lambda rng, n: rng.random(n), (0.0, 1.0)),
)


def ours(verb: str, mechanism: str) -> Callable[[Values, float, tuple[float, float]], Call]:
    def make(data: Values, epsilon: float, bounds: tuple[float, float]) -> Call:
        call = getattr(duffdp, verb)
        return lambda: call(data, epsilon=epsilon, bounds=bounds, mechanism=mechanism).value

    return make


def two_quartiles(data: Values, epsilon: float, bounds: tuple[float, float]) -> Call:
    def call() -> float:
        low, high = duffdp.quantiles(data, [0.25, 0.75], epsilon=epsilon, bounds=bounds).value
        return float(high - low)

    return call


def diffprivlib(data: Values, epsilon: float, bounds: tuple[float, float]) -> Call:
    from diffprivlib import tools

    return lambda: float(tools.std(data, epsilon=epsilon, bounds=bounds))


def opendp(data: Values, epsilon: float, bounds: tuple[float, float]) -> Call:
    """The variance of a public number of records, divided by n, and its root."""
    import opendp.prelude as dp

    dp.enable_features("contrib", "floating-point")
    n = len(data)
    space = dp.vector_domain(dp.atom_domain(bounds=bounds), size=n), dp.symmetric_distance()
    variance = space >> dp.t.then_variance(ddof=0)
    release = dp.binary_search_chain(
        lambda scale: variance >> dp.m.then_laplace(scale), d_in=2, d_out=epsilon
    )
    clipped = np.clip(data, *bounds)
    return lambda: math.sqrt(max(release(clipped), 0.0))


MAKERS = {
    "std": {
        "best": ours("std", "best"),
        "duff": ours("std", "duff"),
        "diffprivlib": diffprivlib,
        "opendp": opendp,
    },
    "iqr": {
        "best": ours("iqr", "best"),
        "duff": ours("iqr", "duff"),
        "two quartiles": two_quartiles,
    },
}


def truth(verb: str, data: Values) -> float:
    if verb == "std":
        return float(data.std())
    first, third = np.quantile(data, [0.25, 0.75], method="inverted_cdf")
    return float(third - first)


def main() -> None:
    rng = np.random.default_rng(1)
    warnings.simplefilter("ignore")
    draws = int(sys.argv[1]) if len(sys.argv) > 1 else 60
    for verb, every in MAKERS.items():
        makers = {
            name: make
            for name, make in every.items()
            if name not in ("diffprivlib", "opendp") or importlib.util.find_spec(name)
        }
        print(f"{verb}: mean error over {draws} draws")
        print(f"{'':26}{'n':>8}{'epsilon':>9}" + "".join(f"{name:>15}" for name in makers))
        for case in CASES:
            for n in SIZES:
                for epsilon in EPSILONS:
                    errors: dict[str, list[float]] = {name: [] for name in makers}
                    for _ in range(max(draws // 10, 1)):
                        data = np.clip(case.draw(rng, n), *case.bounds)
                        right = truth(verb, data)
                        for name, make in makers.items():
                            call = make(data, epsilon, case.bounds)
                            errors[name] += [abs(call() - right) for _ in range(10)]
                    row = "".join(f"{np.mean(found):15.4g}" for found in errors.values())
                    print(f"{case.name:26}{n:8}{epsilon:9g}{row}", flush=True)
        print()


if __name__ == "__main__":
    main()
