"""A median and quartiles of one column of a table: separate releases beside the joint one, at the
same epsilon. `python -m benchmarks.table_quantiles`

Separate releases: without intervals, a median for half of the epsilon and both quartiles for the
other; with intervals for all three, a third for each. What a table did before it drew them
together: a median with its interval for two thirds, and both quartiles without for the rest.
"""

from __future__ import annotations

import sys

import numpy as np

import duffdp

DRAWS, SIZES, EPSILONS = 100, (100, 1_000), (0.2, 1.0)
QS = (0.25, 0.5, 0.75)
SHAPES = {
    "uniform": lambda rng, n: rng.uniform(0, 120, n),
    "ages": lambda rng, n: np.clip(rng.normal(45, 15, n), 0, 120),
    "skewed": lambda rng, n: np.clip(rng.exponential(15, n), 0, 120),
}
GRID = {"bounds": (0, 120), "step": 0.1}


def released(
    values: np.ndarray, epsilon: float, rng: np.random.Generator
) -> dict[str, list[float]]:
    """The three quartiles and, with intervals, the width of each, in every way."""
    given = {**GRID, "rng": rng}
    ends = {**given, "interval": 0.95}

    def quantiles(
        qs: tuple[float, ...], share: float, options: dict[str, object]
    ) -> duffdp.Release:
        return duffdp.quantiles(values, qs, epsilon=epsilon * share, **options)

    def median(share: float, options: dict[str, object]) -> duffdp.Release:
        return duffdp.median(values, epsilon=epsilon * share, **options)

    def between(middle: duffdp.Release, outer: duffdp.Release) -> list[float]:
        return [outer.value[0], middle.value, outer.value[1]]

    joint, each = quantiles(QS, 1, ends), [quantiles((q,), 1 / 3, ends) for q in QS]
    before = median(2 / 3, ends)
    return {
        "before": [*between(before, quantiles(QS[::2], 1 / 3, given)), before.high - before.low],
        "separate": [
            *(one.value[0] for one in each),
            *(one.high[0] - one.low[0] for one in each),
        ],
        "joint": [
            *joint.value,
            *(high - low for low, high in zip(joint.low, joint.high, strict=True)),
        ],
        "separate, no intervals": between(median(0.5, given), quantiles(QS[::2], 0.5, given)),
        "joint, no intervals": list(quantiles(QS, 1, given).value),
    }


def main(draws: int = DRAWS) -> None:
    """Print the mean errors and widths of every way, and how often it was out of order."""
    print(f"mean errors of lower quartile, median, upper quartile, then widths; {draws} draws")
    for shape, draw in SHAPES.items():
        for size in SIZES:
            for epsilon in EPSILONS:
                values = draw(np.random.default_rng(1), size)
                truth = np.quantile(values, QS, method="inverted_cdf")
                rng = np.random.default_rng(2)
                runs = [released(values, epsilon, rng) for _ in range(draws)]
                print(f"{shape}, {size:,} records, epsilon {epsilon:g}")
                for way in runs[0]:
                    numbers = np.array([run[way] for run in runs])
                    errors = np.abs(numbers[:, :3] - truth).mean(axis=0)
                    parts = [*errors, *numbers[:, 3:].mean(axis=0)]
                    crossed = int((np.diff(numbers[:, :3], axis=1) < 0).any(axis=1).sum())
                    texts = " ".join(f"{part:6.2f}" for part in parts)
                    print(f"  {way:24}{texts}   out of order {crossed}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
