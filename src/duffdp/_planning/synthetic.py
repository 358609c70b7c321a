"""Synthetic records of a named shape, or like a public sample."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np

from duffdp.domain import Floats

# On 0 to 1, stretched to the bounds; on (-10, 10) the first is the standard normal distribution.
SHAPES: dict[str, Callable[[np.random.Generator, int], Any]] = {
    "normal": lambda rng, n: 0.5 + rng.normal(size=n) / 20,
    "uniform": lambda rng, n: rng.random(n),
    # Incomes and the like: most records low, a long tail to the upper bound.
    "skewed": lambda rng, n: rng.lognormal(np.log(0.1), 0.75, n),
    "ages": lambda rng, n: _ages(rng.random(n)),
    "beta": lambda rng, n: rng.beta(0.5, 0.5, n),
}
BASE_RECORDS = 2**14  # of a shape; others are interpolated between them


def _ages(u: Any) -> Any:
    """On bounds of 0 and 120 years: as many of every age up to 60, then ever fewer up to 100."""
    return np.where(u < 0.75, u / 1.5, (100 - 40 * np.sqrt(np.maximum(0, 4 - 4 * u))) / 120)


@dataclass(frozen=True, slots=True)
class SyntheticRecords:
    """Synthetic records of a column: of a shape between two ends, or like those of a public sample.

    `integer` and `untyped` are facts about the type of the column.
    """

    shape: str = "uniform"
    ends: tuple[float, float] = (0.0, 1.0)
    sample: Any = field(default=None, compare=False)  # a sorted array, named by `shape`
    integer: bool = False
    untyped: bool = False

    def records(self, size: int) -> Any:
        """So many records, evenly spread over the ranks."""
        if self.sample is None:
            base = _base_records(self.shape)
            low, high = self.ends
            ranks = (np.arange(size) + 0.5) * (len(base) / max(size, 1)) - 0.5
            records: Any = low + (high - low) * np.interp(ranks, np.arange(len(base)), base)
        else:
            ranks = (np.arange(size) + 0.5) * (len(self.sample) / max(size, 1))
            records = self.sample[ranks.astype(np.int64)]
        return np.rint(records).astype(np.int64) if self.integer else records


@lru_cache(maxsize=16)
def _base_records(shape: str) -> Floats:
    base: Floats = np.sort(SHAPES[shape](np.random.default_rng(0), BASE_RECORDS))
    return base


def stretched(shape: str, first_quartile: float, third_quartile: float) -> tuple[float, float]:
    """The place and the length of 0 to 1 that give a shape these quartiles."""
    base = _base_records(shape)
    low, high = (float(base[place]) for place in (BASE_RECORDS // 4, 3 * BASE_RECORDS // 4))
    length = (third_quartile - first_quartile) / (high - low)
    return first_quartile - length * low, length
