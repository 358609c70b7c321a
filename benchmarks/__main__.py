"""`make bench`: time and memory of duffdp as ratios to numpy, interleaved in one run, medians of
repeats.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from itertools import cycle

import numpy as np

import duffdp
from benchmarks.timing import heading, peak, ratio, row


def start(code: str) -> Callable[[], object]:
    # Compiled modules are kept, as after an ordinary installation.
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    return lambda: subprocess.run([sys.executable, "-c", code], check=True, env=environment)


def main() -> None:
    rng = np.random.default_rng(1)
    data = {n: rng.normal(size=n) for n in (10**3, 10**6, 10**7)}
    ages = np.clip(np.rint(data[10**7] * 12 + 40), 0, 120)
    whole = ages.astype(np.int64)
    heading()

    def median(
        arrays: list[np.ndarray], limit: float, name: str, number: int = 1, **more: object
    ) -> None:
        call = {"epsilon": 1.0, "bounds": (-10, 10)} | more
        mine, others = cycle(arrays), cycle(arrays)
        measured = ratio(
            lambda: duffdp.median(next(mine), **call),  # type: ignore[arg-type]
            lambda: np.median(next(others)),
            number=number,
        )
        row(name, "np.median", measured, limit)

    # A processor learns the branches of a small array that is sorted again and again, which halves
    # the time of `np.median`. Few callers ask for one array 300 times: here are others.
    small = list(rng.normal(size=(300, 10**3)))
    for arrays, limit, number in (
        (small, 12, 300),
        ([data[10**6]], 0.5, 3),
        ([data[10**7]], 0.15, 1),
    ):
        n = len(arrays[0])
        median(arrays, limit, f"median, {n:.0e} doubles", number)
        median(arrays, limit, f"median, {n:.0e} doubles, duff", number, mechanism="duff")
        median(arrays, 3 * limit, f"median, {n:.0e} doubles, epsilon 0.01", number, epsilon=0.01)
    median([ages], 1.5, "median, 1e+07 tied doubles, fine grid", bounds=(0, 120))
    median([ages], 1.5, "median, 1e+07 tied doubles, step 1", bounds=(0, 120), step=1)
    median([np.zeros(10**7)], 1.5, "median, 1e+07 equal doubles")
    x = data[10**7]
    for verb, theirs in ((duffdp.sum, np.sum), (duffdp.mean, np.mean)):
        measured = ratio(
            lambda v=verb: v(x, epsilon=1.0, bounds=(-10, 10)),  # type: ignore[misc]
            lambda t=theirs: t(x),  # type: ignore[misc]
        )
        row(f"{verb.__name__}, 1e+07 doubles", f"np.{verb.__name__}", measured, 3)
    for choice, epsilon, limit in (("clipped", 1.0, 30), ("distance", 1.0, 10)):
        measured = ratio(
            lambda m=choice, e=epsilon: duffdp.mean(  # type: ignore[misc]
                x, epsilon=e, bounds=(-10, 10), mechanism=m
            ),
            lambda: np.mean(x),
            repeats=5,
        )
        row(f"mean, 1e+07 doubles, {choice}", "np.mean", measured, limit)
    row(
        "std, 1e+07 doubles",
        "np.std",
        ratio(lambda: duffdp.std(x, epsilon=1.0, bounds=(-10, 10)), lambda: np.std(x)),
        4,
    )
    row(
        "iqr, 1e+07 doubles",
        "np.percentile",
        ratio(
            lambda: duffdp.iqr(x, epsilon=1.0, bounds=(-10, 10)),
            lambda: np.percentile(x, [25, 75]),
        ),
        0.4,
    )
    row(
        "mode, 1e+07 integers in 0..120",
        "np.bincount",
        ratio(lambda: duffdp.mode(whole, epsilon=1, bounds=(0, 120)), lambda: np.bincount(whole)),
        2,
    )
    row(
        "count, 1e+07 doubles",
        "np.count_nonzero",
        ratio(lambda: duffdp.count(x, epsilon=1), lambda: np.count_nonzero(~np.isnan(x))),
        1.2,
    )
    edges = np.linspace(-5, 5, 101)
    row(
        "histogram, 1e+07 doubles, 100 bins",
        "np.histogram",
        ratio(
            lambda: duffdp.histogram(x, bins=edges, epsilon=1),
            lambda: np.histogram(x, 100, (-5, 5)),
        ),
        1.5,
    )
    uneven = np.sinh(edges)
    row(
        "histogram, 1e+07 doubles, 100 bins of any width",
        "np.histogram",
        ratio(lambda: duffdp.histogram(x, bins=uneven, epsilon=1), lambda: np.histogram(x, uneven)),
        1.5,
    )
    row(
        "import duffdp",
        "import numpy",
        ratio(start("import duffdp"), start("import numpy"), 9),
        1.5,
    )
    for name, values, bounds in (("doubles", x, (-10, 10)), ("tied doubles", ages, (0, 120))):
        tracemalloc.start()
        duffdp.median(values, epsilon=1.0, bounds=bounds)
        most = tracemalloc.get_traced_memory()[1] / 2**20
        tracemalloc.stop()
        peak(f"median, 1e+07 {name}: peak memory over the input", most, 16)
    baselines(data[10**3])


def baselines(values: np.ndarray) -> None:
    """Tuned baselines against an untuned one, from records to a value."""
    from duffdp.research import sensitivity
    from duffdp.research.baselines import SmoothCauchy, SmoothLaplace, SmoothLaplaceLogNormal

    grid = duffdp.Grid(-10.0, 10.0)
    untuned = SmoothCauchy(1.0)
    for tuned in (SmoothLaplace(1.0, 0.001), SmoothLaplaceLogNormal(1.0, 0.001)):
        measured = ratio(
            lambda m=tuned: m.draw(sensitivity.median(values, grid), rng=1),  # type: ignore[misc]
            lambda: untuned.draw(sensitivity.median(values, grid), rng=1),
            number=50,
        )
        row(f"{type(tuned).__name__}, tuned, n = 1e3", "SmoothCauchy untuned", measured, 3)


if __name__ == "__main__":
    main()
