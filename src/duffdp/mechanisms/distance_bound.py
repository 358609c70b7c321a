"""How far from the truth an output can be, in records, without looking at the data."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

from duffdp.parameters import read_confidence

DIGITS = (
    80  # the number of candidates (19 digits), a rest of 1e-16 and its square, with room to spare
)
TINY = Decimal("1e-30")


def distance_bound(candidates: int, coefficient: Fraction, flip: bool, confidence: Any) -> int:
    """The least k such that an output at distance 0 up to k has at least this probability, whatever
    the data.

    Parameters
    ----------
    candidates
        Number of possible outputs; at least one of them has distance 0 or less.
    coefficient
        What one step of distance takes off the logarithm of a weight.
    flip
        Whether the mechanism is permute-and-flip, else the exponential mechanism.
    confidence
        Between 0 and 1.

    Privacy
    -------
    Computed from public parameters alone.

    Utility
    -------
    Attained by data whose records are all equal (`docs/theory.md`, "How far an output can be").

    References
    ----------
    Asi and Duchi, "Instance-optimality in differential privacy" (NeurIPS 2020), for the exponential
    mechanism; the exact worst case of both mechanisms is in `docs/theory.md`.

    Examples
    --------
    >>> distance_bound(121, Fraction(1, 2), flip=False, confidence=0.95)
    15
    >>> distance_bound(121, Fraction(1, 2), flip=True, confidence=0.95)
    14
    """
    return _least(
        lambda k, c: _beyond(candidates, (-c * (k + 1)).exp(), flip), coefficient, confidence
    )


def mean_distance_bound(coefficient: Fraction, confidence: Any) -> int:
    """The same for a mean, on any grid and under both mechanisms; the distance is counted from that
    of the closest candidate.

    Parameters
    ----------
    coefficient, confidence
        As for `distance_bound`.

    Privacy
    -------
    Computed from public parameters alone.

    Utility
    -------
    Does not depend on the number of candidates, so that it is the smaller one on fine grids.

    References
    ----------
    `docs/theory.md`, "How far a mean can be".

    Examples
    --------
    >>> mean_distance_bound(Fraction(1, 2), confidence=0.95)
    15
    """

    def beyond(k: int, c: Decimal) -> Decimal:
        ratio = (-c).exp()
        odds = (-c * (k + 1)).exp() * (8 * (k + 1) + 12 + 8 * ratio / (1 - ratio))
        return odds / (1 + odds)

    return _least(beyond, coefficient, confidence)


def _least(
    beyond: Callable[[int, Decimal], Decimal], coefficient: Fraction, confidence: Any
) -> int:
    """The least k at which a probability that falls with k is down to 1 - confidence."""
    with localcontext() as context:
        context.prec = DIGITS
        rest = 1 - read_confidence(confidence)
        c = Decimal(coefficient.numerator) / Decimal(coefficient.denominator)
        low, high = -1, 1  # the rest is exceeded at `low` and kept at `high`
        while beyond(high, c) > rest:
            low, high = high, 2 * high
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if beyond(middle, c) <= rest else (middle, high)
        return high


def _beyond(candidates: int, weight: Decimal, flip: bool) -> Decimal:
    """Probability that one of the others wins, if one candidate has weight 1 and all others have
    this weight.
    """
    expected = candidates * weight
    if not flip:
        return (expected - weight) / (1 + expected - weight)
    if expected < TINY:
        return expected / 2  # an upper bound, and the limit: the digits of 1 - weight are used up
    # The one wins with the integral of (1 - weight y)^(candidates - 1) over y from 0 to 1.
    return 1 - (1 - (candidates * (1 - weight).ln()).exp()) / expected
