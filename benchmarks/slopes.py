"""`python -m benchmarks.slopes`: private slopes beside OpenDP's Theil-Sen and least squares from
noisy sums, in one run.

Each error is the difference from the slope that the method gives without noise: the median of the
slopes of all pairs, or that of least squares. OpenDP is left out where it is not installed: pip
install 'opendp[scikit-learn]'
"""

from __future__ import annotations

import csv
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

import duffdp

EPSILONS = (0.1, 1.0, 5.0)
DRAWS = 100
Arrays = tuple[np.ndarray, np.ndarray]
Call = Callable[[], float]


class Case(NamedTuple):
    """Records, and what is public about them: x and y for the peers alone."""

    name: str
    data: Arrays
    bounds: tuple[float, float]
    x_bounds: tuple[float, float]
    y_bounds: tuple[float, float]


def cases() -> list[Case]:
    rng = np.random.default_rng(1)
    x = rng.normal(size=1000)
    y = 2 * x + rng.normal(size=1000)
    odd = np.where(np.arange(1000) % 10 == 0, 15.0, y)
    path = Path(__file__).parent.parent / "tests" / "data" / "nyc_taxis.csv"
    with path.open(newline="") as file:
        rides = [(float(row["distance"]), float(row["fare"])) for row in csv.DictReader(file)]
    miles, fare = np.array(rides[:2000]).T
    return [
        Case("y = 2 x + N(0, 1), n = 1000", (x, y), (-10, 10), (-5, 5), (-15, 15)),
        Case("the same, every tenth y is 15", (x, odd), (-10, 10), (-5, 5), (-15, 15)),
        Case(f"taxi fare a mile, n = {len(fare)}", (miles, fare), (0, 20), (0, 40), (0, 150)),
    ]


def ours(mechanism: str) -> Callable[[Case, float], Call]:
    return lambda case, epsilon: (
        lambda: (
            duffdp.slope(*case.data, epsilon=epsilon, bounds=case.bounds, mechanism=mechanism).value
        )
    )


def noisy_sums(case: Case, epsilon: float) -> Call:
    """n and the sums of x, y, x x and x y, scaled to -1 .. 1, each with a fifth of epsilon.

    Noise of numpy: for comparison, not for release.
    """
    scaled, halves = [], []
    for values, (low, high) in zip(case.data, case[3:], strict=True):
        half = (high - low) / 2
        scaled.append((np.clip(values, low, high) - low) / half - 1)
        halves.append(half)
    x, y = scaled
    sums = np.array([len(x), x.sum(), y.sum(), (x * x).sum(), (x * y).sum()])
    rng = np.random.default_rng(2)

    def call() -> float:
        n, sx, sy, sxx, sxy = sums + rng.laplace(scale=5 / epsilon, size=5)
        spread = n * sxx - sx * sx
        found = (n * sxy - sx * sy) / spread * halves[1] / halves[0] if spread > 0 else 0.0
        return float(np.clip(found, *case.bounds))

    return call


def opendp(case: Case, epsilon: float) -> Call:
    """Predictions at two places from pairs that are matched at random, and a median of each.

    The number of records is public there.
    """
    import opendp.prelude as dp

    dp.enable_features("contrib", "idealized-numerics", "honest-but-curious", "floating-point")

    def model(scale: float):  # type: ignore[no-untyped-def]
        return dp.sklearn.linear_model.LinearRegression(
            dp.max_divergence(),
            x_bounds=[case.x_bounds],
            y_bounds=case.y_bounds,
            scale=scale,
            candidates_count=1000,
        )

    scale = model(1.0).measurement.map(1) / epsilon
    fitted = model(scale)
    assert fitted.measurement.map(1) <= epsilon * (1 + 1e-6)
    x, y = case.data
    return lambda: float(np.clip(fitted.fit(x[:, None], y).coef_[0], *case.bounds))


def all_pairs(case: Case) -> float:
    x, y = case.data
    left, right = np.triu_indices(len(x), 1)
    different = x[left] != x[right]
    left, right = left[different], right[different]
    return float(np.median((y[right] - y[left]) / (x[right] - x[left])))


def least_squares(case: Case) -> float:
    return float(np.polyfit(*case.data, 1)[0])


METHODS: list[tuple[str, Callable[[Case, float], Call], Callable[[Case], float]]] = [
    ("duffdp, best", ours("best"), all_pairs),
    ("duffdp, duff", ours("duff"), all_pairs),
    ("OpenDP, Theil-Sen (count public)", opendp, all_pairs),
    ("least squares from noisy sums", noisy_sums, least_squares),
]


def main() -> None:
    warnings.simplefilter("ignore")
    for case in cases():
        print(f"\n{case.name}: mean absolute error of {DRAWS} draws; time of one call at epsilon 1")
        print(f"{'':36}{'no noise':>10}" + "".join(f"{f'epsilon {e:g}':>13}" for e in EPSILONS))
        for name, make, truth in METHODS:
            try:
                exact, errors, taken = truth(case), [], 0.0
                for epsilon in EPSILONS:
                    call = make(case, epsilon)
                    begin = time.perf_counter()
                    errors.append(np.mean([abs(call() - exact) for _ in range(DRAWS)]))
                    if epsilon == 1:
                        taken = (time.perf_counter() - begin) / DRAWS
            except ImportError:
                print(f"{name:36}  not installed")
                continue
            cells = "".join(f"{error:13.4f}" for error in errors)
            print(f"{name:36}{exact:10.4f}{cells}{taken * 1e3:10.1f} ms", flush=True)
    speed()


def speed() -> None:
    """One slope of many records."""
    rng = np.random.default_rng(3)
    for n in (10**4, 10**5):
        x = rng.normal(size=n)
        y = 2 * x + rng.normal(size=n)
        for epsilon in (0.1, 1.0):
            begin = time.perf_counter()
            duffdp.slope(x, y, epsilon=epsilon, bounds=(-10, 10))
            print(f"{n:,} records, epsilon {epsilon:g}: {time.perf_counter() - begin:.2f} s")


if __name__ == "__main__":
    main()
