"""`make bench`: time and memory of duffdp as ratios to numpy, interleaved in one run, medians of repeats."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable

import numpy as np

import duffdp


def ratio(ours: Callable[[], object], theirs: Callable[[], object], repeats: int = 15, number: int = 1) -> tuple[float, float]:
    """Median time of one call of ours, and its ratio to theirs; the two take turns."""
    ours(), theirs()
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(repeats):
        for slot, call in zip(times, (ours, theirs), strict=True):
            begin = time.perf_counter()
            for _ in range(number):
                call()
            slot.append((time.perf_counter() - begin) / number)
    mine, other = map(statistics.median, times)
    return mine, mine / other


def row(name: str, against: str, measured: tuple[float, float], limit: float) -> None:
    seconds, share = measured
    print(
        f"{name:52}{against:>14}{seconds * 1e3:11.3f} ms{share:9.2f}x{limit:9.2f}x  {'' if share <= limit else 'over'}",
        flush=True,
    )


def start(code: str) -> Callable[[], object]:
    return lambda: subprocess.run([sys.executable, "-c", code], check=True)


def main() -> None:
    rng = np.random.default_rng(1)
    data = {n: rng.normal(size=n) for n in (10**3, 10**6, 10**7)}
    ages = np.clip(np.rint(data[10**7] * 12 + 40), 0, 120)
    whole = ages.astype(np.int64)
    print(f"{'what':52}{'against':>14}{'time':>14}{'ratio':>10}{'limit':>10}")

    def median(x: np.ndarray, limit: float, name: str, number: int = 1, **more: object) -> None:
        call = {"epsilon": 1.0, "bounds": (-10, 10)} | more
        row(name, "np.median", ratio(lambda: duffdp.median(x, **call), lambda: np.median(x), number=number), limit)  # type: ignore[arg-type]

    for n, limit, number in ((10**3, 10, 300), (10**6, 0.5, 3), (10**7, 0.5, 1)):
        median(data[n], limit, f"median, {n:.0e} doubles", number)
        median(data[n], limit, f"median, {n:.0e} doubles, duff", number, mechanism="duff")
        median(data[n], 3 * limit, f"median, {n:.0e} doubles, epsilon 0.01", number, epsilon=0.01)
    median(ages, 1.5, "median, 1e+07 tied doubles, fine grid", bounds=(0, 120))
    median(ages, 1.5, "median, 1e+07 tied doubles, step 1", bounds=(0, 120), step=1)
    median(np.zeros(10**7), 1.5, "median, 1e+07 equal doubles")
    x = data[10**7]
    for epsilon, limit in ((1.0, 10), (0.01, 30)):
        measured = ratio(lambda e=epsilon: duffdp.mean(x, epsilon=e, bounds=(-10, 10)), lambda: np.mean(x))
        row(f"mean, 1e+07 doubles, epsilon {epsilon:g}", "np.mean", measured, limit)
    row(
        "mode, 1e+07 integers in 0..120",
        "np.bincount",
        ratio(lambda: duffdp.mode(whole, epsilon=1, bounds=(0, 120)), lambda: np.bincount(whole)),
        2,
    )
    row("import duffdp", "import numpy", ratio(start("import duffdp"), start("import numpy"), 9), 1.5)
    for name, values, bounds in (("doubles", x, (-10, 10)), ("tied doubles", ages, (0, 120))):
        tracemalloc.start()
        duffdp.median(values, epsilon=1.0, bounds=bounds)
        peak = tracemalloc.get_traced_memory()[1] / 2**20
        tracemalloc.stop()
        print(
            f"{f'median, 1e+07 {name}: peak memory over the input':66}{peak:11.2f} MiB{'':8}16.00  {'' if peak <= 16 else 'over'}"
        )


if __name__ == "__main__":
    main()
