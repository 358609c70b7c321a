"""Bounds on the distance of an output from the truth, in records, without reading data."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import partial

from duffdp._parameters import CONFIDENCE
from duffdp._sampling.race import RaceNoise
from duffdp.mechanisms._search import least_number

# The number of candidates (19 digits), a miss of 1e-16 and its square, with room to spare.
DECIMAL_PRECISION = 80
# With fewer rivals expected to win, the first-order bound is exact to all digits shown.
MIN_EXPECTED_RIVALS, MAX_RARE_RIVALS = Decimal("1e-30"), Decimal("1e-9")


def distance_bound(
    candidates: int, coefficient: Fraction, noise: RaceNoise, confidence: object
) -> int:
    """The least k such that an output at distance 0 up to k has at least this probability, for all
    data.

    Parameters
    ----------
    candidates
        Number of possible outputs; at least one of them has distance 0 or less.
    coefficient
        What one step of distance takes off the logarithm of a weight.
    noise
        That of the mechanism, such as `Exponential(1).noise(rate)`.
    confidence
        Between 0 and 1.

    Privacy
    -------
    Computed from public parameters alone.

    Utility
    -------
    Attained by data whose records are all equal (`docs/explanation/mechanisms.md`, "How far an
    output can be").

    References
    ----------
    Asi and Duchi, "Instance-optimality in differential privacy" (NeurIPS 2020), for the exponential
    mechanism; the exact worst case of each mechanism is in `docs/explanation/mechanisms.md`.

    Examples
    --------
    >>> from duffdp.mechanisms import Exponential, PermuteAndFlip
    >>> half = Fraction(1, 2)
    >>> distance_bound(121, half, Exponential(1).noise(half), confidence=0.95)
    15
    >>> distance_bound(121, half, PermuteAndFlip(1).noise(half), confidence=0.95)
    14
    """
    if not noise.exponential:
        tail = _gumbel_tail
    elif noise.period is None:
        tail = _exponential_tail
    else:
        tail = partial(_lattice_tail, noise.period)
    return _least_distance(lambda k: tail(candidates, coefficient * (k + 1)), confidence)


def mean_distance_bound(coefficient: Fraction, confidence: object) -> int:
    """Bound on the distance of a mean, on any grid, under the exponential mechanism and
    permute-and-flip; the distance is counted from that of the closest candidate.

    Parameters
    ----------
    coefficient, confidence
        As for `distance_bound`.

    Privacy
    -------
    Computed from public parameters alone.

    Utility
    -------
    Does not depend on the number of candidates, so it is the smaller bound on fine grids.

    References
    ----------
    `docs/explanation/mechanisms.md`, "How far a mean can be".

    Examples
    --------
    >>> mean_distance_bound(Fraction(1, 2), confidence=0.95)
    15
    """

    def tail(k: int) -> Decimal:
        ratio = _exp(-coefficient)
        odds = _exp(-coefficient * (k + 1)) * (8 * (k + 1) + 12 + 8 * ratio / (1 - ratio))
        return odds / (1 + odds)

    return _least_distance(tail, confidence)


def _least_distance(tail: Callable[[int], Decimal], confidence: object) -> int:
    """The least k at which a probability that falls with k is down to 1 - confidence."""
    with localcontext() as context:
        context.prec = DECIMAL_PRECISION
        miss = 1 - CONFIDENCE.read(confidence)
        return least_number(lambda k: tail(k) <= miss)


def _exp(exponent: Fraction) -> Decimal:
    return (Decimal(exponent.numerator) / Decimal(exponent.denominator)).exp()


# Probabilities that one of the others wins, if one candidate has distance 0 and all others are so
# many nats lighter; or, where digits run out, an upper bound that is as good.


def _gumbel_tail(candidates: int, nats: Fraction) -> Decimal:
    odds = (candidates - 1) * _exp(-nats)
    return odds / (1 + odds)


def _exponential_tail(candidates: int, nats: Fraction) -> Decimal:
    weight = _exp(-nats)
    expected = candidates * weight
    if expected < MIN_EXPECTED_RIVALS:
        return expected / 2
    # The one wins with the integral of (1 - weight y)^(candidates - 1) over y from 0 to 1.
    return 1 - (1 - (candidates * (1 - weight).ln()).exp()) / expected


def _lattice_tail(period: Fraction, candidates: int, nats: Fraction) -> Decimal:
    strides = math.ceil(nats / period)
    if strides * period == nats:  # all are on one lattice: it only breaks ties
        return _exponential_tail(candidates, nats)
    # The one wins if it is k strides ahead, with probability (1 - ratio) ratio^k, and the others
    # are not `strides` + k strides ahead.
    ratio, weight = _exp(-period), _exp(-period * strides)
    lead_probability, tail = Decimal(1), Decimal(0)
    while (candidates - 1) * weight > MAX_RARE_RIVALS:
        lose = ((candidates - 1) * (1 - weight).ln()).exp()
        tail += (1 - ratio) * lead_probability * (1 - lose)
        lead_probability, weight = lead_probability * ratio, weight * ratio
    return tail + lead_probability * (candidates - 1) * weight / (1 + ratio)
