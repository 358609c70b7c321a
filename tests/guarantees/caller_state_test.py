"""What a caller's program has set for itself changes no release: decimals, and errors of numpy."""

from __future__ import annotations

from decimal import (
    ROUND_UP,
    Context,
    FloatOperation,
    Inexact,
    Overflow,
    Rounded,
    Subnormal,
    Underflow,
    localcontext,
)
from fractions import Fraction

import numpy as np
import polars as pl
import pytest

import duffdp
from duffdp.audit.replay_cases import replay_cases

TRAPS = [Inexact, Rounded, Overflow, Underflow, FloatOperation, Subnormal]
FEW_DIGITS = Context(prec=2, rounding=ROUND_UP, Emin=-5, Emax=5, traps=TRAPS)
CASES = [case for case in replay_cases(60) if case.kind in ("row", "group", "edge")]


def numbers(call):
    """All that was released, but for the time."""
    return {name: repr(item) for name, item in call().to_dict().items() if name != "time"}


@pytest.mark.parametrize("case", CASES, ids=str)
def test_every_statistic(case):
    def call():
        return case(case.data, rng=5)

    expected = numbers(call)
    with localcontext(FEW_DIGITS), np.errstate(all="raise"):
        assert numbers(call) == expected


def test_keys_that_are_found():
    frame = pl.DataFrame({"code": ["a0"] * 40 + ["b1"] * 20})
    codes = duffdp.Pattern("[a-z]{2}[0-9]{3}", false_keys=20)

    def call():
        return duffdp.count(frame, by="code", keys=codes, epsilon=Fraction(1, 3), rng=5)

    expected = numbers(call)
    with localcontext(FEW_DIGITS), np.errstate(all="raise"):
        assert numbers(call) == expected
