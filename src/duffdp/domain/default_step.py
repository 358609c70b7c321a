"""The step of candidates when the caller gives none: a function of public facts alone."""

from __future__ import annotations

import datetime as dt
import math
from decimal import Decimal
from fractions import Fraction
from typing import Any, Literal

import numpy as np

from duffdp.domain.grid import Grid
from duffdp.domain.grid_parameters import LEAST_STEP
from duffdp.domain.reading import bound

# What is asked of records: their order, an average that is one of the candidates, or sums.
StepRule = Literal["order", "average", "sum"]
# Steps between the bounds, at least. For quantiles fewer are too coarse in wide bounds where
# records lie on no decimals, and more cost accuracy (`python -m benchmarks.steps`).
STEPS: dict[StepRule, int] = {"order": 10**5, "average": 10**9}
MOST_STEPS = 10**12  # for a step of 1 in the widest bounds
WIDE = 10  # whole bounds of records without a type say that these are whole, if as far apart
_TIMES = [*(10**k for k in range(7)), 60 * 10**6, 3600 * 10**6, 86400 * 10**6]  # microseconds


def default_grid(lower: Any, upper: Any, rule: StepRule, whole: bool, untyped: bool) -> Grid:
    """The candidates between two bounds.

    `whole` says that the type of the column holds whole numbers alone, `untyped` that records have
    no declared type, as in lists and CSV files: then bounds that are whole numbers say so.
    """
    fine = Grid(lower, upper)  # which checks the bounds
    (_, low), (_, high) = (bound(end) or ("", Fraction(0)) for end in (lower, upper))
    span = high - low
    if fine.timed:
        if fine.kind == "date" or rule == "sum":
            return fine
        fitting = [step for step in _TIMES if step * STEPS["order"] <= span]
        return Grid(lower, upper, dt.timedelta(microseconds=max(fitting, default=1)))
    numbers = isinstance(lower, int | np.integer) and isinstance(upper, int | np.integer)
    # What is summed is not rounded on a guess.
    whole = whole or (untyped and rule == "order" and numbers and span >= WIDE)
    if whole and rule != "average" and span >= 1:
        return Grid(lower, upper, 1)
    if rule == "sum":
        return fine
    step = power_of_ten(span / STEPS[rule])
    if rule == "order":  # generous bounds must not round what is far from them
        step = min(step, max(Fraction(1), power_of_ten(span / MOST_STEPS)))
    step = max(step, Fraction(math.ulp(max(abs(float(lower)), abs(float(upper))))), LEAST_STEP)
    return Grid(lower, upper, _decimal(step) if fine.kind == "decimal" else step)


def power_of_ten(most: Fraction) -> Fraction:
    """The largest power of ten up to a number."""
    power = len(str(most.numerator)) - len(str(most.denominator))
    return Fraction(10) ** (power - (most < Fraction(10) ** power))


def _decimal(step: Fraction) -> Decimal:
    return Decimal(step.numerator) / Decimal(step.denominator)
