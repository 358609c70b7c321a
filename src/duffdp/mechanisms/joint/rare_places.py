"""Places that are hardly ever drawn: outside a window, and with a size that is not weighed."""

from __future__ import annotations

import math
from fractions import Fraction

from duffdp.rank_profile import FINEST
from duffdp.sampling.entropy import Entropy


def place_between(low: int, high: int, source: Entropy) -> tuple[int, int]:
    """A uniform place from `low` up to, not including, `high`, in finest parts: its candidate, and
    the place.
    """
    cell, finest = 0, -1
    while not low <= finest < high:
        cell = (low >> FINEST) + source.below(-(-high >> FINEST) - (low >> FINEST))
        finest = (cell << FINEST) + source.below(1 << FINEST)
    return cell, finest


def tuple_of_far_size(
    first: int, upto: int, size: int, many: int, source: Entropy
) -> tuple[int, list[tuple[int, int]], Fraction]:
    """A size that is not from `first` up to, not including, `upto`, half as likely with each step
    away from these, and a uniform tuple of so many sorted places: candidates, each with a finest
    part; and one over the density of all.
    """
    steps, below = 0, source.below(2)
    while source.below(2):
        steps += 1
    cells = sorted((source.below(size), source.below(1 << FINEST)) for _ in range(many))
    index = first - 1 - steps if below else upto + steps
    return index, cells, Fraction(size**many * 2 ** (steps + 2), math.factorial(many))
