"""The table that the generic tests walk through: statistics, mechanisms, and good and bad
parameters.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from fractions import Fraction

from duffdp import Grid
from duffdp.mechanisms import Exponential, PermuteAndFlip
from duffdp.statistics import Mean, Median, Mode, Quantile

QS = [0, 0.07, 0.1, 0.25, Fraction(1, 3), 0.4, 0.5, 0.6, 0.75, 0.9, 1]
MECHANISMS = [Exponential, PermuteAndFlip]
STATISTICS = [
    *(Quantile(q) for q in QS),
    *(Quantile(q, utility="signed") for q in QS),
    *(Quantile(q, utility="rank") for q in QS),
    Median(),
    Mean(),
    Mode(),
    Mode(rate=Fraction(1, 2)),
]
SMALL = Grid(0, 3, 1)


def small_data(most: int, size: int = 4) -> Iterator[tuple[int, ...]]:
    """All data sets on the domain 0 .. size-1 with up to `most` records."""
    for n in range(most + 1):
        yield from itertools.combinations_with_replacement(range(size), n)
