"""Drafts of several quantiles, and the rare places outside the weighed windows.

Promise: A draft has the exact exponent of its weight.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from duffdp._rank_profile import PART_BITS
from duffdp._sampling.entropy import Entropy
from duffdp.domain import Floats, Ints

Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Layer:
    """The blocks for one quantile: one before its window, those of the window, and one after it.

    `place` is the middle of the ranks of a block less the wanted rank, times c. `weight` is a
    logarithm: of its number of candidates, times a bound on the exact weight over the weight at the
    middle. `first` and `last` define the order of blocks: twice the run, and odd between runs.
    As many blocks of the layer before as `before` says do not lie wholly after the block, and the
    last of them, if `is_same`, is the same block.
    """

    q: float
    place: Floats
    weight: Floats
    first: Ints
    last: Ints
    before: Ints
    is_same: Bools


class Place(NamedTuple):
    """A place: twice the run that contains it (odd if none does), the position in the run, and its
    candidate and rank.
    """

    where: tuple[int, int]
    cell: int
    rank: int


@dataclass(frozen=True, slots=True)
class Draft:
    """A proposed size and places, with candidates and ranks.

    It is accepted with probability `ratio * exp(-exponent)`; `word` was drawn to decide this.
    """

    size: Fraction
    candidates: list[int]
    ranks: list[int]
    exponent: Fraction
    ratio: Fraction
    word: int
    # The runs of the blocks, from and up to: -1 and the first of the window before it, the first
    # after the window and -1 after it. None for a far size.
    blocks: list[tuple[int, int]] | None


def place_between(low: int, high: int, source: Entropy) -> tuple[int, int]:
    """A uniform place from `low` up to, not including, `high`, in finest parts: its candidate, and
    the place.
    """
    cell, finest = 0, -1
    while not low <= finest < high:
        cell = (low >> PART_BITS) + source.below(-(-high >> PART_BITS) - (low >> PART_BITS))
        finest = (cell << PART_BITS) + source.below(1 << PART_BITS)
    return cell, finest


def tuple_of_far_size(
    first: int, end: int, size: int, count: int, source: Entropy
) -> tuple[int, list[tuple[int, int]], Fraction]:
    """A size outside of `range(first, end)`, a uniform tuple of sorted places, and one over the
    density of both.

    The size is half as likely with each step away from the range. A place is a candidate and its
    finest part.
    """
    steps, below = 0, source.below(2)
    while source.below(2):
        steps += 1
    cells = sorted((source.below(size), source.below(1 << PART_BITS)) for _ in range(count))
    index = first - 1 - steps if below else end + steps
    return index, cells, Fraction(size**count * 2 ** (steps + 2), math.factorial(count))
