"""Differentially private medians, quantiles, modes and means by dataset distance, drawn exactly.

Names are loaded when they are first used, so that importing the package costs next to nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from duffdp import mechanisms, report, research, statistics, testing
    from duffdp.domain import Categories, Grid
    from duffdp.errors import BoundsError, BudgetExceeded, DuffError, LedgerError, UnsupportedData
    from duffdp.graphs import stars, triangles
    from duffdp.ledger import Ledger
    from duffdp.planning import EpsilonPlan, Preview, epsilon_for, preview
    from duffdp.release import Release, mean, median, mode, quantile
    from duffdp.statistics.ladder import ladder, reach
    from duffdp.steps import StepFunction
    from duffdp.summary import describe, quantiles

__version__ = "0.1.0"

__all__ = [
    "BoundsError",
    "BudgetExceeded",
    "Categories",
    "DuffError",
    "EpsilonPlan",
    "Grid",
    "Ledger",
    "LedgerError",
    "Preview",
    "Release",
    "StepFunction",
    "UnsupportedData",
    "describe",
    "epsilon_for",
    "ladder",
    "mean",
    "mechanisms",
    "median",
    "mode",
    "preview",
    "quantile",
    "quantiles",
    "reach",
    "report",
    "research",
    "stars",
    "statistics",
    "testing",
    "triangles",
]

_HOME = {
    "domain": ("Categories", "Grid"),
    "errors": ("BoundsError", "BudgetExceeded", "DuffError", "LedgerError", "UnsupportedData"),
    "graphs": ("stars", "triangles"),
    "ledger": ("Ledger",),
    "planning": ("EpsilonPlan", "Preview", "epsilon_for", "preview"),
    "release": ("Release", "mean", "median", "mode", "quantile"),
    "statistics.ladder": ("ladder", "reach"),
    "steps": ("StepFunction",),
    "summary": ("describe", "quantiles"),
}
_MODULES = ("mechanisms", "report", "research", "statistics", "testing")
_MOVED = ("guarantees", "sensitivity")  # to duffdp.research; what is in them warns


def __getattr__(name: str) -> Any:
    if name in _MODULES or name in _MOVED:
        return import_module(f"duffdp.{name}")
    for module, names in _HOME.items():
        if name in names:
            value = globals()[name] = getattr(import_module(f"duffdp.{module}"), name)
            return value
    raise AttributeError(f"module 'duffdp' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
