"""Differentially private medians, quantiles, modes and means by dataset distance, drawn exactly.

Names are loaded when they are first used, so that importing the package costs next to nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from duffdp import mechanisms, report, research, statistics, testing
    from duffdp.domain import Bins, Categories, Digits, Grid
    from duffdp.engines.files.text_file import TextFile
    from duffdp.engines.sql.query import Query
    from duffdp.engines.table import columns
    from duffdp.errors import BoundsError, BudgetExceeded, DuffError, LedgerError, UnsupportedData
    from duffdp.facts import MechanismFact, StatisticFact
    from duffdp.ledger import Ledger
    from duffdp.pipeline.distribution import Distribution
    from duffdp.pipeline.functions import (
        count,
        describe,
        distribution,
        histogram,
        iqr,
        mean,
        median,
        mode,
        quantile,
        quantiles,
        release,
        share,
        slope,
        stars,
        std,
        sum,
        top,
        triangles,
        trimmed_mean,
        variance,
    )
    from duffdp.pipeline.release import Release
    from duffdp.pipeline.table import Table
    from duffdp.planning import EpsilonPlan, Preview, epsilon_for, preview
    from duffdp.planning.plan import Plan
    from duffdp.planning.table import table
    from duffdp.planning.table_plan import TablePlan
    from duffdp.privacy import Loss, PrivacyUnit
    from duffdp.statistics.ladder import ladder, reach
    from duffdp.steps import StepFunction

from duffdp.version import __version__ as __version__

__all__ = [
    "Bins",
    "BoundsError",
    "BudgetExceeded",
    "Categories",
    "Digits",
    "Distribution",
    "DuffError",
    "EpsilonPlan",
    "Grid",
    "Ledger",
    "LedgerError",
    "Loss",
    "MechanismFact",
    "Plan",
    "Preview",
    "PrivacyUnit",
    "Query",
    "Release",
    "StatisticFact",
    "StepFunction",
    "Table",
    "TablePlan",
    "TextFile",
    "UnsupportedData",
    "columns",
    "count",
    "describe",
    "distribution",
    "epsilon_for",
    "histogram",
    "iqr",
    "ladder",
    "mean",
    "mechanisms",
    "median",
    "mode",
    "preview",
    "quantile",
    "quantiles",
    "reach",
    "release",
    "report",
    "research",
    "share",
    "slope",
    "stars",
    "statistics",
    "std",
    "sum",
    "table",
    "testing",
    "top",
    "triangles",
    "trimmed_mean",
    "variance",
]

_HOME = {
    "domain": ("Bins", "Categories", "Digits", "Grid"),
    "engines.sql.query": ("Query",),
    "engines.files.text_file": ("TextFile",),
    "engines.table": ("columns",),
    "errors": ("BoundsError", "BudgetExceeded", "DuffError", "LedgerError", "UnsupportedData"),
    "facts": ("MechanismFact", "StatisticFact"),
    "ledger": ("Ledger",),
    "pipeline.functions": (
        "count",
        "describe",
        "distribution",
        "histogram",
        "iqr",
        "mean",
        "median",
        "mode",
        "quantile",
        "quantiles",
        "release",
        "share",
        "slope",
        "stars",
        "std",
        "sum",
        "top",
        "triangles",
        "trimmed_mean",
        "variance",
    ),
    "pipeline.release": ("Release",),
    "pipeline.table": ("Table",),
    "planning": ("EpsilonPlan", "Preview", "epsilon_for", "preview"),
    "planning.plan": ("Plan",),
    "planning.table": ("table",),
    "planning.table_plan": ("TablePlan",),
    "privacy": ("Loss", "PrivacyUnit"),
    "pipeline.distribution": ("Distribution",),
    "statistics.ladder": ("ladder", "reach"),
    "steps": ("StepFunction",),
}
_MODULES = ("mechanisms", "report", "research", "statistics", "testing")


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"duffdp.{name}")
    for module, names in _HOME.items():
        if name in names:
            value = globals()[name] = getattr(import_module(f"duffdp.{module}"), name)
            return value
    from duffdp._alternatives import refused

    raise AttributeError(refused(name) or f"module 'duffdp' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
