"""Synthetic records of a named shape."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

# On 0 to 1, stretched to the bounds; on (-10, 10) the first is the standard normal distribution.
SHAPES: dict[str, Callable[[np.random.Generator, int], Any]] = {
    "normal": lambda rng, n: 0.5 + rng.normal(size=n) / 20,
    "uniform": lambda rng, n: rng.random(n),
    "beta": lambda rng, n: rng.beta(0.5, 0.5, n),
}
