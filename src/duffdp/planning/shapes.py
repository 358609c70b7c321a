"""Synthetic records of a named shape."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

# On 0 to 1, stretched to the bounds; on (-10, 10) the first is the standard normal distribution.
SHAPES: dict[str, Callable[[np.random.Generator, int], Any]] = {
    "normal": lambda rng, n: 0.5 + rng.normal(size=n) / 20,
    "uniform": lambda rng, n: rng.random(n),
    # Incomes and the like: most records low, a long tail to the upper bound.
    "skewed": lambda rng, n: rng.lognormal(np.log(0.1), 0.75, n),
    "ages": lambda rng, n: _ages(rng.random(n)),
    "beta": lambda rng, n: rng.beta(0.5, 0.5, n),
}


def _ages(u: Any) -> Any:
    """On bounds of 0 and 120 years: as many of every age up to 60, then ever fewer up to 100."""
    return np.where(u < 0.75, u / 1.5, (100 - 40 * np.sqrt(np.maximum(0, 4 - 4 * u))) / 120)
