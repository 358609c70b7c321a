"""Whole numbers with geometric tails, many at once.

A number is the whole part of E / epsilon for an Exp(1) number E = -log(1 - V). All are computed in
doubles first, as intervals that hold every rounding and every bit of V not yet drawn; those whose
interval holds a whole number get more bits and more digits until they are certain.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from duffdp.domain import Array
from duffdp.sampling.entropy import Entropy, Words
from duffdp.sampling.lazy_uniform import WORD, LazyUniform, decide

# Bounds what a logarithm, a division and epsilon as a double can err by, a few units of 2**-52,
# with room to spare: the price is that a number k is refined with a probability of k 2**-46.
SLACK = 2.0**-47


def two_sided_geometrics(epsilon: Fraction, size: int, source: Entropy) -> list[int]:
    """Independent whole numbers k with probability proportional to exp(-epsilon |k|), exactly."""
    found = np.zeros(size, dtype=object)
    left = np.arange(size)
    while len(left):
        sizes = np.array(geometrics(epsilon, len(left), source), dtype=object)
        negative = coins(len(left), source)
        kept = ~negative | (sizes != 0).astype(bool)  # zero has one sign
        found[left[kept]] = np.where(negative, -sizes, sizes)[kept]
        left = left[~kept]
    return list(found)


def geometrics(epsilon: Fraction, size: int, source: Entropy) -> list[int]:
    """The whole parts of E / epsilon for independent Exp(1) numbers E: P(k or more) =
    exp(-epsilon k).
    """
    words = source.words(size)
    low, high = _bounds(words, float(epsilon))
    sure = low == high
    numbers: list[int] = np.where(sure, low, 0).astype(np.int64).tolist()
    for i in np.flatnonzero(~sure).tolist():
        numbers[i] = decide(source, lambda uniform: _whole(uniform, epsilon), int(words[i]))
    return numbers


def _bounds(words: Words, epsilon: float) -> tuple[Array, Array]:
    """The least and the largest whole part that is possible, for V from word / 2**WORD on."""
    known = words.astype(np.float64)
    rest = (np.uint64(2**WORD - 1) - words).astype(np.float64)  # 1 - V is this, or one unit more
    time = np.full(len(words), np.inf)
    np.log1p(known * -(2.0**-WORD), where=rest > 2.0**12, out=time)
    np.abs(time, out=time)
    with np.errstate(all="ignore"):
        # As a double V errs by 2**-53 of itself, and by the bits not drawn; 1 / (1 - V) times that
        # is what the logarithm errs by, and near 1 a double is too coarse for it.
        slack = (known * 2.0**-51 + 4) / rest + time * SLACK
        low, high = (np.floor((time + side * slack) / epsilon) for side in (-1, 1))
    return np.maximum(low, 0), high


def _whole(uniform: LazyUniform, epsilon: Fraction) -> int | None:
    if (bounds := uniform.exponential()) is None:
        return None
    low, high = (math.floor(bound / epsilon) for bound in bounds)
    return low if low == high else None


def coins(size: int, source: Entropy) -> Array:
    """Independent fair truth values, 64 of a word."""
    words = source.words(-(-size // WORD))
    return np.unpackbits(words.view(np.uint8), count=size).astype(bool)
