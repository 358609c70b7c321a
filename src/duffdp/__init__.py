"""Differentially private medians, means, counts and whole tables.

Names are loaded when they are first used, so that importing the package costs next to nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from duffdp import audit, mechanisms, report, research, statistics, testing
    from duffdp._engines.files.text_file import TextFile
    from duffdp._engines.keys import CodeBook
    from duffdp._engines.sql.query import Query
    from duffdp._engines.table import columns
    from duffdp._facts import MechanismFact, StatisticFact
    from duffdp._pipeline.comparison import Comparison, Ranking, compare
    from duffdp._pipeline.cross_table import CrossTable
    from duffdp._pipeline.distribution import Distribution
    from duffdp._pipeline.functions import (
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
    from duffdp._pipeline.profile import ColumnProfile, Profile
    from duffdp._pipeline.release import Release
    from duffdp._pipeline.table import Table
    from duffdp._planning import EpsilonPlan, Preview, epsilon_for, preview
    from duffdp._planning.plan import Plan
    from duffdp._planning.profile import profile
    from duffdp._planning.table import table
    from duffdp._planning.table_plan import TablePlan
    from duffdp._privacy import Loss, PrivacyUnit
    from duffdp._steps import StepFunction
    from duffdp.domain import Bins, Categories, Digits, Grid, Pattern
    from duffdp.errors import BoundsError, BudgetExceeded, DuffError, LedgerError, UnsupportedData
    from duffdp.ledger import Ledger
    from duffdp.statistics.ladder import ladder, reach

from duffdp.version import __version__ as __version__

__all__ = [
    "Bins",
    "BoundsError",
    "BudgetExceeded",
    "Categories",
    "CodeBook",
    "ColumnProfile",
    "Comparison",
    "CrossTable",
    "Digits",
    "Distribution",
    "DuffError",
    "EpsilonPlan",
    "Grid",
    "Ledger",
    "LedgerError",
    "Loss",
    "MechanismFact",
    "Pattern",
    "Plan",
    "Preview",
    "PrivacyUnit",
    "Profile",
    "Query",
    "Ranking",
    "Release",
    "StatisticFact",
    "StepFunction",
    "Table",
    "TablePlan",
    "TextFile",
    "UnsupportedData",
    "audit",
    "columns",
    "compare",
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
    "profile",
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
    "domain": ("Bins", "Categories", "Digits", "Grid", "Pattern"),
    "_engines.sql.query": ("Query",),
    "_engines.files.text_file": ("TextFile",),
    "_engines.table": ("columns",),
    "errors": ("BoundsError", "BudgetExceeded", "DuffError", "LedgerError", "UnsupportedData"),
    "_facts": ("MechanismFact", "StatisticFact"),
    "ledger": ("Ledger",),
    "_pipeline.functions": (
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
    "_pipeline.profile": ("ColumnProfile", "Profile"),
    "_pipeline.release": ("Release",),
    "_pipeline.table": ("Table",),
    "_pipeline.comparison": ("Comparison", "Ranking", "compare"),
    "_pipeline.cross_table": ("CrossTable",),
    "_engines.keys": ("CodeBook",),
    "_planning": ("EpsilonPlan", "Preview", "epsilon_for", "preview"),
    "_planning.plan": ("Plan",),
    "_planning.profile": ("profile",),
    "_planning.table": ("table",),
    "_planning.table_plan": ("TablePlan",),
    "_privacy": ("Loss", "PrivacyUnit"),
    "_pipeline.distribution": ("Distribution",),
    "statistics.ladder": ("ladder", "reach"),
    "_steps": ("StepFunction",),
}
_MODULES = ("audit", "mechanisms", "report", "research", "statistics", "testing")


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"duffdp.{name}")
    for module, names in _HOME.items():
        if name in names:
            value = globals()[name] = getattr(import_module(f"duffdp.{module}"), name)
            return value
    from duffdp._alternatives import use_instead

    hint = use_instead(name, __all__) or " See dir(duffdp) for all names."
    raise AttributeError(f"there is no duffdp.{name}.{hint}")


def __dir__() -> list[str]:
    return sorted(__all__)
