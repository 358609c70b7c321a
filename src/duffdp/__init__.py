"""Differentially private medians, quantiles, modes and means by dataset distance, drawn exactly.

Names are loaded when they are first used, so that importing the package costs next to nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from duffdp import mechanisms, statistics
    from duffdp.domain import Categories, Grid
    from duffdp.errors import BoundsError, BudgetExceeded, DuffError, LedgerError, UnsupportedData
    from duffdp.ledger import Ledger
    from duffdp.release import Release, mean, median, mode, quantile
    from duffdp.steps import StepFunction

__version__ = "0.1.0"

__all__ = [
    "BoundsError",
    "BudgetExceeded",
    "Categories",
    "DuffError",
    "Grid",
    "Ledger",
    "LedgerError",
    "Release",
    "StepFunction",
    "UnsupportedData",
    "mean",
    "mechanisms",
    "median",
    "mode",
    "quantile",
    "statistics",
]

_HOME = {
    "domain": ("Categories", "Grid"),
    "errors": ("BoundsError", "BudgetExceeded", "DuffError", "LedgerError", "UnsupportedData"),
    "ledger": ("Ledger",),
    "release": ("Release", "mean", "median", "mode", "quantile"),
    "steps": ("StepFunction",),
}


def __getattr__(name: str) -> Any:
    if name in ("mechanisms", "statistics"):
        return import_module(f"duffdp.{name}")
    for module, names in _HOME.items():
        if name in names:
            value = globals()[name] = getattr(import_module(f"duffdp.{module}"), name)
            return value
    raise AttributeError(f"module 'duffdp' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
