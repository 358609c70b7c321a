"""The mechanisms that releases are drawn by, by their names; one is loaded when it is first asked
for.

Each class states its `loss_family`, which totals for a delta rest on: "pure" unless more is proven
in `docs/theory.md`.
"""

from __future__ import annotations

from fractions import Fraction
from importlib import import_module
from typing import Any

HOMES = {
    "exponential": ("exponential", "Exponential"),
    "permute-and-flip": ("permute_and_flip", "PermuteAndFlip"),
    "lattice": ("lattice", "Lattice"),
    "joint-exponential": ("joint", "Joint"),
    "two-sided-geometric": ("geometric", "Geometric"),
    "noisy-ranking": ("ranking", "Ranking"),
    "staircase": ("staircase", "Staircase"),
    "piecewise-laplace": ("piecewise_laplace", "PiecewiseLaplace"),
}

# Up to so many candidates and from this epsilon on a lattice errs less than permute-and-flip, over
# shapes and sizes of data (`python -m benchmarks.lattice`); on finer domains it errs as much on
# the average and now and then more, at a smaller epsilon the two are the same to half a percent.
COARSE = 2**20
LEAST_EPSILON = Fraction(1, 4)


def mechanism(name: str) -> Any:
    """The class of a mechanism: made with an epsilon, it releases."""
    module, kind = HOMES[name]
    return getattr(import_module(f"duffdp.mechanisms.{module}"), kind)
