"""Residuals y - b x without rounding, as sums of three doubles that compare like the numbers they
stand for.

Every step is free of error for x, y and b that are 0 or between 2**-300 and 2**300: nothing in it
is too large or too small for a double.
"""

from __future__ import annotations

import numpy as np

from duffdp.domain import Array, Floats, Ints

_SPLIT = 2.0**27 + 1

Residuals = tuple[Floats, Floats, Floats]


def residuals(x: Floats, y: Floats, b: Floats) -> Residuals:
    """y - b x: the nearest double, the double nearest to what is left, and the rest."""
    product, error = _product(x, b)
    first, second = _sum(y, -product)
    second, third = _sum(second, -error)
    for _ in range(2):
        first, second = _sum(first, second)
        second, third = _sum(second, third)
    # Halfway between two doubles, and the rest leads on: the other one is nearer.
    onward = (third != 0) & (np.sign(second) == np.sign(third))
    beyond = onward & ((first + 2 * second) - first == 2 * second)
    first = np.where(beyond, first + 2 * second, first)
    second, third = _sum(np.where(beyond, -second, second), third)
    return first, second, third


def order(keys: Residuals, ties: Ints | None = None) -> Ints:
    """Positions by residual; equal ones by `ties`, and else as they stand."""
    by_first = np.argsort(keys[0])
    ordered = keys[0][by_first]
    if (ordered[1:] != ordered[:-1]).all():
        return by_first
    first, second, third = keys
    columns = (third, second, first) if ties is None else (ties, third, second, first)
    return np.lexsort(columns)


def equal_to_next(keys: Residuals, positions: Ints) -> Array:
    """Whether each residual in this order equals the one that follows."""
    first, second, third = (part[positions[1:]] == part[positions[:-1]] for part in keys)
    equal: Array = first & second & third
    return equal


def compare(one: Residuals, other: Residuals) -> Ints:
    """-1, 0 or 1 as one is below, equal to or above the other."""
    sign = np.zeros(len(one[0]), dtype=np.int64)
    for a, b in zip(one, other, strict=True):
        sign = np.where(sign == 0, (a > b).astype(np.int64) - (a < b), sign)
    return sign


def _sum(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """The rounded sum and its error (Knuth)."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def _product(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """The rounded product and its error (Dekker, Veltkamp)."""
    product = a * b
    (a_high, a_low), (b_high, b_low) = _halves(a), _halves(b)
    error = ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low
    return product, error


def _halves(a: Floats) -> tuple[Floats, Floats]:
    """The leading 26 digits and the rest."""
    shifted = _SPLIT * a
    high = shifted - (shifted - a)
    return high, a - high
