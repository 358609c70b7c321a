"""Differentially private medians, quantiles, modes and means by dataset distance, drawn exactly."""

from duffdp import mechanisms, statistics, testing
from duffdp.domain import Categories, Grid
from duffdp.errors import BoundsError, DuffError, UnsupportedData
from duffdp.graphs import stars, triangles
from duffdp.release import Release, mean, median, mode, quantile
from duffdp.statistics.ladder import ladder, reach
from duffdp.steps import StepFunction
from duffdp.summary import describe, quantiles

__version__ = "0.1.0"

__all__ = [
    "BoundsError",
    "Categories",
    "DuffError",
    "Grid",
    "Release",
    "StepFunction",
    "UnsupportedData",
    "describe",
    "ladder",
    "mean",
    "mechanisms",
    "median",
    "mode",
    "quantile",
    "quantiles",
    "reach",
    "stars",
    "statistics",
    "testing",
    "triangles",
]
