"""The step of candidates when the caller gives none: a function of public facts alone."""

from __future__ import annotations

import datetime as dt
import math
import sys
from decimal import Decimal
from fractions import Fraction
from typing import Any, Literal

import numpy as np

from duffdp.domain.grid import Grid, read_end

# What a statistic needs of records: their order, an average that is a candidate, or sums.
StepRule = Literal["order", "average", "sum"]
# Steps between the bounds, at least. For quantiles fewer are too coarse in wide bounds where
# records lie on no decimals, and more cost accuracy (`python -m benchmarks.steps`).
MIN_DEFAULT_STEPS: dict[StepRule, int] = {"order": 10**5, "average": 10**9}
MAX_DEFAULT_STEPS = 10**12  # for a step of 1 in the widest bounds
# Whole bounds of records without a type say that these are whole, if as far apart.
MIN_INTEGER_SPAN = 10
_TIMES = [*(10**k for k in range(7)), 60 * 10**6, 3600 * 10**6, 86400 * 10**6]  # microseconds


def default_grid(
    lower: Any,
    upper: Any,
    rule: StepRule,
    integer_type: bool,
    untyped: bool,
    scale: int | None = None,
) -> Grid:
    """The candidates between two bounds.

    `integer_type`: the type of the column holds whole numbers alone. `untyped`: records have no
    declared type, as in lists and CSV files, so whole bounds mean whole numbers. `scale`: the
    decimals that the type of the column declares.
    """
    (kind, low), (upper_kind, high) = read_end(lower), read_end(upper)
    kinds, span = {kind, upper_kind}, high - low
    timed = not kinds.isdisjoint(("date", "datetime"))
    if span.numerator <= 0 or (timed and len(kinds) > 1):
        return Grid(lower, upper)  # which says what is wrong with them
    if timed and (kind == "date" or rule == "sum"):
        return Grid(lower, upper)
    if timed:
        fitting = [step for step in _TIMES if step * MIN_DEFAULT_STEPS["order"] <= span]
        return Grid(lower, upper, dt.timedelta(microseconds=max(fitting, default=1)))
    numbers = isinstance(lower, int | np.integer) and isinstance(upper, int | np.integer)
    # What is summed is not rounded on a guess.
    integer_type = integer_type or (
        untyped and rule == "order" and numbers and span >= MIN_INTEGER_SPAN
    )
    if integer_type and rule != "average" and span >= 1:
        return Grid(lower, upper, 1)
    if rule == "sum":
        return Grid(lower, upper)
    step = power_of_ten(span, MIN_DEFAULT_STEPS[rule])
    if (
        rule == "order" and step.denominator == 1
    ):  # generous bounds must not round what is far from them
        step = min(step, max(Fraction(1), power_of_ten(span, MAX_DEFAULT_STEPS)))
    if rule == "order" and scale is not None and span * 10**scale <= MAX_DEFAULT_STEPS:
        step = Fraction(1, 10**scale)
    least = max(math.ulp(max(abs(float(lower)), abs(float(upper)))), sys.float_info.min)
    if float(step) < least:
        step = Fraction(least)
    decimal = "decimal" in kinds and "float" not in kinds
    return Grid(lower, upper, _decimal(step) if decimal else step)


def power_of_ten(span: Fraction, parts: int = 1) -> Fraction:
    """The largest power of ten up to one of so many parts of a span."""
    top, bottom = span.numerator, span.denominator * parts
    power = len(str(top)) - len(str(bottom))
    power -= top * 10 ** max(-power, 0) < bottom * 10 ** max(power, 0)
    return Fraction(10**power) if power >= 0 else Fraction(1, 10**-power)


def _decimal(step: Fraction) -> Decimal:
    return Decimal(step.numerator) / Decimal(step.denominator)
