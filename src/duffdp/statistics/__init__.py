"""Statistics: the distance of every candidate from being the statistic of the data.

The file of a statistic is loaded when it is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from duffdp.statistics.cells import Cells
    from duffdp.statistics.count import Count
    from duffdp.statistics.iqr import InterquartileRange
    from duffdp.statistics.ladder import Statistic
    from duffdp.statistics.mean import Mean, SoftCounts
    from duffdp.statistics.mode import Mode
    from duffdp.statistics.quantile import Median, Quantile
    from duffdp.statistics.quantiles import Quantiles
    from duffdp.statistics.slope import Slope
    from duffdp.statistics.stars import Stars
    from duffdp.statistics.sum import Sum
    from duffdp.statistics.top import Top
    from duffdp.statistics.triangles import Triangles
    from duffdp.statistics.trimmed_mean import TrimmedMean
    from duffdp.statistics.variance import Variance

__all__ = [
    "Cells",
    "Count",
    "InterquartileRange",
    "Mean",
    "Median",
    "Mode",
    "Quantile",
    "Quantiles",
    "Slope",
    "SoftCounts",
    "Stars",
    "Statistic",
    "Sum",
    "Top",
    "Triangles",
    "TrimmedMean",
    "Variance",
]

_HOME = {
    "Cells": "cells",
    "Count": "count",
    "InterquartileRange": "iqr",
    "Mean": "mean",
    "Median": "quantile",
    "Mode": "mode",
    "Quantile": "quantile",
    "Quantiles": "quantiles",
    "Slope": "slope",
    "SoftCounts": "mean",
    "Stars": "stars",
    "Statistic": "ladder",
    "Sum": "sum",
    "Top": "top",
    "Triangles": "triangles",
    "TrimmedMean": "trimmed_mean",
    "Variance": "variance",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'duffdp.statistics' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"duffdp.statistics.{_HOME[name]}"), name)
    return value
