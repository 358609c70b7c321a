"""A uniform number whose bits are drawn until the outcome is certain: the one loop behind every exact draw."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from typing import TypeVar

from duffdp.sampling.entropy import Entropy

WORD = 64

Outcome = TypeVar("Outcome")


@dataclass(slots=True)
class LazyUniform:
    """A uniform number V of which the first `bits` bits are drawn: known <= V * 2**bits <= known + 1."""

    known: int
    bits: int

    @classmethod
    def begin(cls, source: Entropy) -> LazyUniform:
        """A number of which one word is drawn."""
        return cls(int(source.words(1)[0]), WORD)

    def refine(self, source: Entropy) -> None:
        """Draw one more word."""
        self.known = (self.known << WORD) | int(source.words(1)[0])
        self.bits += WORD

    def exponential(self) -> tuple[Fraction, Fraction] | None:
        """Bounds of the Exp(1) number -log(1 - V), or None if it has no upper bound yet.

        `Decimal.ln` is correctly rounded, so with `bits` + 20 digits 1 - V and its logarithm err by less than
        10**-(bits + 19); the logarithm is 0 or at least 2**-bits, so this is less than 2**-bits of it.
        """
        whole = 1 << self.bits
        if self.known + 1 == whole:
            return None
        near = Context(prec=self.bits + 20)
        low, high = (
            -Fraction(near.ln(near.divide(Decimal(whole - self.known - upper), Decimal(whole))))
            for upper in (0, 1)
        )
        return low * (1 - Fraction(1, whole)), high * (1 + Fraction(1, whole))


def decide(source: Entropy, outcome: Callable[[LazyUniform], Outcome | None]) -> Outcome:
    """What `outcome` says of a uniform number, once it says the same for all bits not yet drawn; until then it says None."""
    uniform = LazyUniform.begin(source)
    while (found := outcome(uniform)) is None:
        uniform.refine(source)
    return found
