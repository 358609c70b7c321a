"""A uniform number whose bits are drawn until the outcome is certain; every exact draw uses it.

Promise: An outcome is decided only when no bit that is not drawn yet could change it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction
from typing import TypeVar

from duffdp._sampling.entropy import Entropy

WORD = 64
# Bounds the rounding of a few operations in doubles, 2**-52 each, with room to spare: the price of
# a wide slack is only that the exact way is taken one time in 10**9.
COIN_SLACK = 2.0**-36
MIN_QUICK_CHANCE = 2.0**-900  # far above the doubles that have lost digits
MAX_QUICK_EXPONENT = 600  # neither the exponential nor its inverse leaves the doubles
_MAX_EXPONENT = 10**12  # of decimals: none comes near it

Outcome = TypeVar("Outcome")


def exact_context(digits: int) -> Context:
    """Decimals of so many digits, independent of the settings of the caller's program."""
    return Context(
        prec=digits,
        rounding=ROUND_HALF_EVEN,
        Emin=-_MAX_EXPONENT,
        Emax=_MAX_EXPONENT,
        capitals=1,
        clamp=0,
        flags=[],
        traps=[],
    )


@dataclass(slots=True)
class LazyUniform:
    """A uniform number V of which `bits` bits are drawn: prefix <= V * 2**bits <= prefix + 1."""

    prefix: int
    bits: int

    @classmethod
    def begin(cls, source: Entropy) -> LazyUniform:
        """A number of which one word is drawn."""
        return cls(int(source.words(1)[0]), WORD)

    def refine(self, source: Entropy) -> None:
        """Draw one more word."""
        self.prefix = (self.prefix << WORD) | int(source.words(1)[0])
        self.bits += WORD

    def exponential(self) -> tuple[Fraction, Fraction] | None:
        """Bounds of the Exp(1) number -log(1 - V), or None if it has no upper bound yet.

        `Decimal.ln` is correctly rounded. So with `bits` + 20 digits the errors of 1 - V and its
        logarithm are below 10**-(bits + 19). The logarithm is 0 or at least 2**-bits, so its
        relative error is below 2**-bits.
        """
        scale = 1 << self.bits
        if self.prefix + 1 == scale:
            return None
        context = exact_context(self.bits + 20)
        low, high = (
            -Fraction(
                context.ln(context.divide(Decimal(scale - self.prefix - upper), Decimal(scale)))
            )
            for upper in (0, 1)
        )
        return low * (1 - Fraction(1, scale)), high * (1 + Fraction(1, scale))


def decide(
    source: Entropy, outcome: Callable[[LazyUniform], Outcome | None], first: int | None = None
) -> Outcome:
    """The outcome of a uniform number: bits are drawn until `outcome` is the same for all bits not
    yet drawn; until then it returns None.

    `first` is a word that was drawn for it before, and for nothing else.
    """
    uniform = LazyUniform.begin(source) if first is None else LazyUniform(first, WORD)
    while (result := outcome(uniform)) is None:
        uniform.refine(source)
    return result


def bernoulli(
    exponent: Fraction, ratio: Fraction, source: Entropy, first: int | None = None
) -> bool:
    """True with probability exactly `ratio * exp(-exponent)`, which must be at most 1.

    `first` is a random word that was drawn for it before.

    `Decimal.ln` and `Decimal.exp` are correctly rounded. With `digits` beyond those of the exponent
    the probability errs by less than 10**-(digits - 8) of itself, far less than a bit that is not
    drawn.
    """
    quick = _chance_in_doubles(exponent, ratio)

    def below(uniform: LazyUniform) -> bool | None:
        scale = 1 << uniform.bits
        if quick <= 1:
            if (uniform.prefix + 1) / scale <= quick * (1 - COIN_SLACK):
                return True
            if uniform.prefix / scale >= quick * (1 + COIN_SLACK):
                return False
        digits = uniform.bits // 3 + 20
        context = exact_context(digits + len(str(int(exponent))))
        size = context.ln(context.divide(Decimal(ratio.numerator), Decimal(ratio.denominator)))
        log_factor = context.divide(Decimal(exponent.numerator), Decimal(exponent.denominator))
        probability = context.exp(context.subtract(size, log_factor))
        if probability.adjusted() < -digits:  # less than any bit that is drawn
            return False if uniform.prefix else None
        chance, slack = Fraction(probability), Fraction(1, 10 ** (digits - 8))
        if chance > 1 + slack:
            raise ArithmeticError("a probability above 1: the proposal does not cover the law")
        if Fraction(uniform.prefix + 1, scale) <= chance * (1 - slack):
            return True
        return False if Fraction(uniform.prefix, scale) >= chance * (1 + slack) else None

    return decide(source, below, first)


def bernoullis(
    exponent: Fraction, ratio: Fraction, source: Entropy, words: Sequence[int]
) -> list[bool]:
    """Decisions for several random words that were drawn before: those that doubles leave open are
    decided exactly.
    """
    chance = _chance_in_doubles(exponent, ratio)
    if len(words) == 1 or chance > 1:
        return [bernoulli(exponent, ratio, source, word) for word in words]
    low, high = (int(2**WORD * chance * (1 + side * COIN_SLACK)) for side in (-1, 1))
    return [
        word < low - 1 or (word <= high + 1 and bernoulli(exponent, ratio, source, word))
        for word in words
    ]


def _chance_in_doubles(exponent: Fraction, ratio: Fraction) -> float:
    """`ratio * exp(-exponent)`, off by far less than COIN_SLACK of itself; infinite where doubles
    could not hold it or one of its factors with all their digits.
    """
    if not -MAX_QUICK_EXPONENT < exponent < MAX_QUICK_EXPONENT:
        return math.inf
    factors = float(ratio), math.exp(-float(exponent))
    chance = factors[0] * factors[1]
    return chance if min(chance, *factors) > MIN_QUICK_CHANCE else math.inf
