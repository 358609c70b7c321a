"""Places of rare events among very many, drawn exactly without looking at each place.

From one event to the next it takes a geometric number of places: the whole part of E / rate for an
Exp(1) number E, where rate = -log(1 - chance). Both get more digits until the number is certain.

Promise: The event has the same exact probability at each place, independently of other places.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction

from duffdp._sampling.entropy import Entropy
from duffdp._sampling.lazy_uniform import LazyUniform, decide, exact_context

_GUARD_DIGITS = 12  # a few roundings, and the exponent's own error, cost less
# Beyond the first exponent a rough bound comes first: digits of very small chances take long.
_LARGE_EXPONENT, _MAX_POWER = 1_000, 20_000


def rare_places(size: int, epsilon: Fraction, threshold: int, source: Entropy) -> Iterator[int]:
    """The places from 0 to `size` - 1 at which two-sided geometric noise, with probability
    proportional to exp(-epsilon |k|), is `threshold` or more, in order; `threshold` is 1 or more.
    """
    rates: dict[int, tuple[Fraction, Fraction]] = {}
    exponent = epsilon * threshold
    # For the chance p, at most exp(-exponent) and a half, -log(1 - p) is at most 2 p.
    rough_rate = Fraction(2, 2 ** min(int(exponent), _MAX_POWER))
    place = 0
    while True:
        places_left = size - place

        def gap(uniform: LazyUniform, places_left: int = places_left) -> int | None:
            bounds = uniform.exponential()
            if bounds is None:
                return None
            if exponent > _LARGE_EXPONENT:
                if bounds[0] // rough_rate >= places_left:
                    return places_left
                if not bounds[0]:
                    return None
            digits = uniform.bits // 3 + 8
            if digits not in rates:
                rates[digits] = event_rate(epsilon, threshold, digits)
            least, most = rates[digits]
            low, high = bounds[0] // most, bounds[1] // least
            return min(low, places_left) if low == high or low >= places_left else None

        place += decide(source, gap)
        if place >= size:
            return
        yield place
        place += 1


def event_rate(epsilon: Fraction, threshold: int, digits: int) -> tuple[Fraction, Fraction]:
    """Bounds of -log(1 - p) for p = exp(-epsilon threshold) / (1 + exp(-epsilon)), so many digits
    of which are right.

    `Decimal.exp` and `Decimal.ln` are correctly rounded. 1 - p loses the leading zeros of p, and
    the exponential as many digits as its exponent has: so many more are computed.
    """
    exponent = epsilon * threshold
    zeros, exponent_digits = int(exponent) // 2 + 2, len(str(int(exponent)))
    context = exact_context(digits + zeros + exponent_digits + _GUARD_DIGITS)
    powers = [  # by `context` alone: an operator would round as the caller's context says
        context.exp(context.divide(Decimal(-number.numerator), Decimal(number.denominator)))
        for number in (exponent, epsilon)
    ]
    chance = context.divide(powers[0], context.add(1, powers[1]))
    rate = -Fraction(context.ln(context.subtract(1, chance)))
    slack = Fraction(1, 10**digits)
    return rate * (1 - slack), rate * (1 + slack)
