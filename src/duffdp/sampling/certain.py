"""Decisions that hold whatever the bits not yet drawn: a coin with probability p exp(-x), and two-sided geometric noise."""

from __future__ import annotations

import math
from decimal import Context, Decimal
from fractions import Fraction

from duffdp.sampling.entropy import Entropy

WORD = 64


def happens(exponent: Fraction, ratio: Fraction, source: Entropy) -> bool:
    """True with probability exactly `ratio * exp(-exponent)`, which must be at most 1.

    `Decimal.ln` and `Decimal.exp` are correctly rounded. With `digits` beyond those of the exponent the probability errs by
    less than 10**-(digits - 8) of itself; a uniform number that this cannot decide gets 64 more bits.
    """
    known, bits = int(source.words(1)[0]), WORD
    while True:
        digits = bits // 3 + 20
        near = Context(prec=digits + len(str(int(exponent))), Emin=-(10**9), Emax=10**9)
        size = near.ln(near.divide(Decimal(ratio.numerator), Decimal(ratio.denominator)))
        chance = Fraction(near.exp(near.subtract(size, near.divide(Decimal(exponent.numerator), Decimal(exponent.denominator)))))
        slack = Fraction(1, 10 ** (digits - 8))
        if chance > 1 + slack:
            raise ArithmeticError("a probability above 1: the proposal does not cover the law")
        if Fraction(known + 1, 1 << bits) <= chance * (1 - slack):
            return True
        if Fraction(known, 1 << bits) >= chance * (1 + slack):
            return False
        known, bits = (known << WORD) | int(source.words(1)[0]), bits + WORD


def two_sided_geometric(epsilon: Fraction, source: Entropy) -> int:
    """A whole number k with probability proportional to exp(-epsilon |k|), exactly."""
    while True:
        size, negative = _geometric(epsilon, source), source.below(2)
        if size or not negative:  # zero has one sign
            return -size if negative else size


def _geometric(epsilon: Fraction, source: Entropy) -> int:
    """The whole part of E / epsilon for an Exp(1) number E = -log(1 - V): P(k or more) = exp(-epsilon k)."""
    known, bits = int(source.words(1)[0]), WORD
    while True:
        if known + 1 < 1 << bits:
            low, high = (_exponential(known + upper, bits) * (1 + _slack(bits, upper)) / epsilon for upper in (0, 1))
            if math.floor(low) == math.floor(high):
                return math.floor(low)
        known, bits = (known << WORD) | int(source.words(1)[0]), bits + WORD


def _exponential(known: int, bits: int) -> Fraction:
    near = Context(prec=bits + 50)
    return -Fraction(near.ln(near.divide(Decimal((1 << bits) - known), Decimal(1 << bits))))


def _slack(bits: int, upper: int) -> Fraction:
    return Fraction(1 if upper else -1, 10**bits)
