"""Search for a whole number from which on a condition holds."""

from __future__ import annotations

from collections.abc import Callable


def least_number(condition: Callable[[int], bool], guess: int = 1) -> int:
    """The least number of 0 and more for which a condition holds that holds from there on.

    Not by `bisect`, whose numbers have 64 bits: a sensitivity may be larger.
    """
    low, high = -1, guess
    while not condition(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if condition(middle) else (middle, high)
    return high
