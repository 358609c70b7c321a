"""A coin whose probability is a logarithm away: exactly p exp(-x)."""

from __future__ import annotations

from decimal import Context, Decimal
from fractions import Fraction

from duffdp.sampling.entropy import Entropy
from duffdp.sampling.lazy_uniform import LazyUniform, decide


def happens(exponent: Fraction, ratio: Fraction, source: Entropy) -> bool:
    """True with probability exactly `ratio * exp(-exponent)`, which must be at most 1.

    `Decimal.ln` and `Decimal.exp` are correctly rounded. With `digits` beyond those of the exponent the probability errs by
    less than 10**-(digits - 8) of itself, far less than a bit that is not drawn.
    """

    def below(uniform: LazyUniform) -> bool | None:
        digits = uniform.bits // 3 + 20
        near = Context(prec=digits + len(str(int(exponent))), Emin=-(10**9), Emax=10**9)
        size = near.ln(near.divide(Decimal(ratio.numerator), Decimal(ratio.denominator)))
        taken = near.divide(Decimal(exponent.numerator), Decimal(exponent.denominator))
        chance = Fraction(near.exp(near.subtract(size, taken)))
        slack, whole = Fraction(1, 10 ** (digits - 8)), 1 << uniform.bits
        if chance > 1 + slack:
            raise ArithmeticError("a probability above 1: the proposal does not cover the law")
        if Fraction(uniform.known + 1, whole) <= chance * (1 - slack):
            return True
        return False if Fraction(uniform.known, whole) >= chance * (1 + slack) else None

    return decide(source, below)
