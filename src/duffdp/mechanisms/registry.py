"""The mechanisms that releases are drawn by, by their names; one is loaded when it is first asked
for.

Each class states its `loss_family`, which totals for a delta rest on: "pure" unless more is proven
in `docs/theory.md`.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

HOMES = {
    "exponential": ("exponential", "Exponential"),
    "permute-and-flip": ("permute_and_flip", "PermuteAndFlip"),
    "joint-exponential": ("joint", "Joint"),
    "two-sided-geometric": ("geometric", "Geometric"),
    "piecewise-laplace": ("piecewise_laplace", "PiecewiseLaplace"),
}


def mechanism(name: str) -> Any:
    """The class of a mechanism: made with an epsilon, it releases."""
    module, kind = HOMES[name]
    return getattr(import_module(f"duffdp.mechanisms.{module}"), kind)
