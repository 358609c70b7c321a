"""What a proposal of several quantiles is made of, and what is drawn from it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from duffdp.domain import Floats, Ints

Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Layer:
    """The blocks for one quantile: all that lies before its window, the window, all that lies
    after it.

    `place` is the middle of the ranks of a block less the wanted rank, times c, and `weight` the
    logarithm of how many candidates it holds, and of what the law may exceed its value at the
    middle by. `first` and `last` tell in which order blocks lie: twice the run, odd for what is
    between runs. As many blocks of the layer before as `before` says do not lie wholly after the
    block, and the last of them, if `same`, is the same block.
    """

    q: float
    place: Floats
    weight: Floats
    first: Ints
    last: Ints
    before: Ints
    same: Bools


class Place(NamedTuple):
    """Where a place lies: twice the run that holds it, odd if none does, and where in it; and its
    candidate and rank.
    """

    where: tuple[int, int]
    cell: int
    rank: int


@dataclass(frozen=True, slots=True)
class Draft:
    """A size and places, the candidates with their ranks; it is to be accepted with probability
    `ratio * exp(-exponent)`, for which `word` was drawn.
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
