"""Differentially private medians, quantiles, modes and means by dataset distance, drawn exactly."""

from duffdp import guarantees, mechanisms, sensitivity, statistics
from duffdp.domain import Categories, Grid
from duffdp.errors import BoundsError, DuffError, UnsupportedData
from duffdp.planning import EpsilonPlan, Preview, epsilon_for, preview
from duffdp.release import Release, mean, median, mode, quantile
from duffdp.steps import StepFunction

__version__ = "0.1.0"

__all__ = [
    "BoundsError",
    "Categories",
    "DuffError",
    "EpsilonPlan",
    "Grid",
    "Preview",
    "Release",
    "StepFunction",
    "UnsupportedData",
    "epsilon_for",
    "guarantees",
    "mean",
    "mechanisms",
    "median",
    "mode",
    "preview",
    "quantile",
    "sensitivity",
    "statistics",
]
