"""Whole numbers with geometric tails."""

from __future__ import annotations

import math
from fractions import Fraction

from duffdp.sampling.entropy import Entropy
from duffdp.sampling.lazy_uniform import LazyUniform, decide


def two_sided_geometric(epsilon: Fraction, source: Entropy) -> int:
    """A whole number k with probability proportional to exp(-epsilon |k|), exactly."""
    while True:
        size, negative = geometric(epsilon, source), source.below(2)
        if size or not negative:  # zero has one sign
            return -size if negative else size


def geometric(epsilon: Fraction, source: Entropy) -> int:
    """The whole part of E / epsilon for an Exp(1) number E: P(k or more) = exp(-epsilon k)."""

    def whole(uniform: LazyUniform) -> int | None:
        if (bounds := uniform.exponential()) is None:
            return None
        low, high = (math.floor(bound / epsilon) for bound in bounds)
        return low if low == high else None

    return decide(source, whole)
