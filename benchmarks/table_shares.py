"""Relative errors of statistics at the same epsilon, beside a count. The shares of epsilon in a
table follow from them. `python -m benchmarks.table_shares`
"""

from __future__ import annotations

import numpy as np

import duffdp

EPSILON, SIZE, DRAWS = 1.0, 1000, 200
SHARES = [0.01, 0.25, 0.5, 0.75, 0.99]  # those of a summary, without its count


def records() -> dict[str, tuple[np.ndarray, dict[str, object]]]:
    """A column that fills its bounds, an ordinary one and a skewed one."""
    random = np.random.default_rng(1)
    return {
        "uniform": (random.integers(0, 121, SIZE), {"bounds": (0, 120), "step": 1}),
        "ages": (
            np.clip(random.normal(45, 15, SIZE), 0, 120).round().astype(int),
            {"bounds": (0, 120), "step": 1},
        ),
        "costs": (
            np.clip(random.lognormal(7, 1, SIZE), 0, 20_000),
            {"bounds": (0.0, 20_000.0)},
        ),
    }


def relative_error(verb: object, truth: object, grid: dict[str, object], *given: object) -> float:
    """The mean of |error| / |truth| over draws and numbers."""
    wanted = np.atleast_1d(truth)
    errors = []
    for seed in range(DRAWS):
        found = np.atleast_1d(verb(*given, **grid, epsilon=EPSILON, rng=seed).value)
        errors.append(np.mean(np.abs(found - wanted) / np.abs(wanted)))
    return float(np.mean(errors))


def main() -> None:
    print(f"mean relative error x {SIZE}, epsilon {EPSILON:g}, {SIZE} records, {DRAWS} draws")
    for name, (values, grid) in records().items():
        q = np.quantile(values, SHARES, method="inverted_cdf")
        with_interval = {**grid, "interval": 0.95}
        rows = {
            "count": relative_error(duffdp.count, SIZE, {}, values),
            "sum": relative_error(duffdp.sum, values.sum(), grid, values),
            "mean": relative_error(duffdp.mean, values.mean(), grid, values),
            "median": relative_error(duffdp.median, q[2], grid, values),
            "median, interval": relative_error(duffdp.median, q[2], with_interval, values),
            "quantile 0.9": relative_error(
                duffdp.quantile, np.quantile(values, 0.9), grid, values, 0.9
            ),
            "quantiles .5 .9": relative_error(
                duffdp.quantiles, np.quantile(values, [0.5, 0.9]), grid, values, [0.5, 0.9]
            ),
            "quartiles": relative_error(duffdp.quantiles, q[1:4], grid, values, SHARES[1:4]),
            "std": relative_error(duffdp.std, values.std(), grid, values),
            "iqr": relative_error(duffdp.iqr, q[3] - q[1], grid, values),
        }
        print(name, {row: round(SIZE * error, 1) for row, error in rows.items()})


if __name__ == "__main__":
    main()
