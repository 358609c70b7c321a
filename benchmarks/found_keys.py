"""Keys found with pure epsilon beside OpenDP's stable keys, which need a delta.

`python -m benchmarks.found_keys` needs opendp with polars: `pip install 'opendp[polars]'`. It draws
a table of diagnoses, where code i has about 20,000 / (i ln 300) rows, and finds its codes again and
again. It prints, for each epsilon, the share of the true codes that are found, the mean error of
the counts of found codes, that of all true codes (0 for one that is not found), and how many codes
without a row are found.
"""

from __future__ import annotations

import math
import sys

import numpy as np
import polars as pl

import duffdp

CODES = duffdp.Pattern("[A-Z][0-9]{2}")
DELTA, TRUE_CODES, DRAWS = 1e-6, 300, 5
ROWS = 20_000
EPSILONS = (0.1, 0.5, 1.0)


def diagnoses() -> pl.DataFrame:
    """A table in which few codes are frequent and most are rare."""
    generator = np.random.default_rng(1)
    places = generator.choice(CODES.size, TRUE_CODES, replace=False)
    counts = [max(1, round(ROWS / (i * math.log(TRUE_CODES)))) for i in range(1, TRUE_CODES + 1)]
    codes = [CODES.value(int(place)) for place in places]
    return pl.DataFrame({"code": [c for c, n in zip(codes, counts, strict=True) for _ in range(n)]})


def by_duffdp(data: pl.DataFrame, epsilon: float, draw: int) -> dict[str, int]:
    """The codes that duffdp finds, with their counts."""
    release = duffdp.count(data, by="code", keys=CODES, epsilon=epsilon, rng=draw)
    return {key: row[0] for (key,), row in zip(release.keys, release.cells, strict=True)}


def by_opendp(data: pl.DataFrame, epsilon: float, draw: int) -> dict[str, int]:
    """The codes that OpenDP finds, with their counts."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    context = dp.Context.compositor(
        data=data.lazy(),
        privacy_unit=dp.unit_of(contributions=1),
        privacy_loss=dp.loss_of(epsilon=epsilon, delta=DELTA),
        split_evenly_over=1,
    )
    found = context.query().group_by("code").agg(dp.len()).release().collect()
    return dict(found.iter_rows())


def main() -> None:
    data = diagnoses()
    true = dict(data.group_by("code").len().iter_rows())
    print(f"{len(data):,} rows, {len(true)} codes among {CODES.size:,} possible, {DRAWS} draws")
    print("epsilon library           found  error of found  error of all  false codes")
    for epsilon in EPSILONS:
        for name, find in (("duffdp, delta 0", by_duffdp), ("OpenDP, 1e-6", by_opendp)):
            found = [find(data, epsilon, draw) for draw in range(DRAWS)]
            share = np.mean([sum(code in true for code in codes) / len(true) for codes in found])
            errors = [
                abs(n - true[code]) for codes in found for code, n in codes.items() if code in true
            ]
            error = np.mean(errors) if errors else math.nan
            every = np.mean([abs(codes.get(c, 0) - n) for codes in found for c, n in true.items()])
            false = np.mean([sum(code not in true for code in codes) for codes in found])
            print(f"{epsilon:7} {name:16} {share:6.1%} {error:14.2f} {every:13.2f} {false:12.3f}")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
