"""Differentially private medians, quantiles, modes and means by dataset distance, drawn exactly.

Names are loaded when they are first used, so that importing the package costs next to nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from duffdp import mechanisms, report, research, statistics, testing
    from duffdp.domain import Bins, Categories, Digits, Grid
    from duffdp.engines.query import Query
    from duffdp.engines.text_file import TextFile
    from duffdp.errors import BoundsError, BudgetExceeded, DuffError, LedgerError, UnsupportedData
    from duffdp.facts import MechanismFact, StatisticFact
    from duffdp.ledger import Ledger
    from duffdp.pipeline.distribution import Distribution
    from duffdp.pipeline.outcome import Release
    from duffdp.pipeline.table import Table
    from duffdp.pipeline.verbs.cells import count, histogram, share
    from duffdp.pipeline.verbs.distribution import distribution
    from duffdp.pipeline.verbs.graphs import stars, triangles
    from duffdp.pipeline.verbs.most_common import mode, top
    from duffdp.pipeline.verbs.own import release
    from duffdp.pipeline.verbs.pairs import slope
    from duffdp.pipeline.verbs.quantile import median, quantile, quantiles
    from duffdp.pipeline.verbs.spread import iqr, std, variance
    from duffdp.pipeline.verbs.summary import describe, trimmed_mean
    from duffdp.pipeline.verbs.sums import mean, sum
    from duffdp.pipeline.verbs.table import table
    from duffdp.planning import EpsilonPlan, Preview, epsilon_for, preview
    from duffdp.planning.plans import Plan, TablePlan
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
    "engines.query": ("Query",),
    "engines.text_file": ("TextFile",),
    "errors": ("BoundsError", "BudgetExceeded", "DuffError", "LedgerError", "UnsupportedData"),
    "facts": ("MechanismFact", "StatisticFact"),
    "ledger": ("Ledger",),
    "pipeline.outcome": ("Release",),
    "pipeline.table": ("Table",),
    "pipeline.verbs.cells": ("count", "histogram", "share"),
    "pipeline.verbs.distribution": ("distribution",),
    "pipeline.verbs.graphs": ("stars", "triangles"),
    "pipeline.verbs.own": ("release",),
    "pipeline.verbs.pairs": ("slope",),
    "pipeline.verbs.quantile": ("median", "quantile", "quantiles"),
    "pipeline.verbs.spread": ("iqr", "std", "variance"),
    "pipeline.verbs.most_common": ("mode", "top"),
    "pipeline.verbs.summary": ("describe", "trimmed_mean"),
    "pipeline.verbs.sums": ("mean", "sum"),
    "pipeline.verbs.table": ("table",),
    "planning": ("EpsilonPlan", "Preview", "epsilon_for", "preview"),
    "planning.plans": ("Plan", "TablePlan"),
    "privacy": ("Loss", "PrivacyUnit"),
    "pipeline.distribution": ("Distribution",),
    "statistics.ladder": ("ladder", "reach"),
    "steps": ("StepFunction",),
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
    from duffdp.alternatives import refused

    raise AttributeError(refused(name) or f"module 'duffdp' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
