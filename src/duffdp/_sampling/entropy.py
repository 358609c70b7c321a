"""Sources of random bits: the operating system, or a seeded generator for experiments.

Promise: Bits come from the operating system and are used once; with a seed, a release has
`secure=False`.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol, TypeAlias

import numpy as np

from duffdp.domain import Ints
from duffdp.errors import DuffError

if TYPE_CHECKING:
    import numpy.typing as npt

Words: TypeAlias = "npt.NDArray[np.uint64]"
MAX_WORD = np.uint64(2**64 - 1)


class DrawCall(Protocol):
    """A call of a mechanism that waits for its bits."""

    def numbers(self, entropy: Entropy, /) -> list[Sequence[int]]:
        """Draw: a column for each number."""


class Entropy(Protocol):
    """A source of independent uniform bits."""

    secure: bool

    def words(self, size: int) -> Words:
        """Independent uniform 64-bit words."""

    def below(self, bound: int) -> int:
        """A uniform integer from 0 to bound - 1."""

    def split(self) -> Entropy:
        """Bits for another thread, independent of those that are drawn here later."""

    def draw(self, call: DrawCall) -> list[Sequence[int]]:
        """The numbers of a mechanism call, from these bits. The driver draws through this method
        alone, so a source that records it sees every draw.
        """


class SystemEntropy:
    """The operating system's generator, called for each draw: forks and threads share no state."""

    secure = True

    def words(self, size: int) -> Words:
        return np.frombuffer(system_bytes(8 * size), dtype=np.uint64)

    def below(self, bound: int) -> int:
        bits = (bound - 1).bit_length()
        size = (bits + 7) // 8
        while (number := int.from_bytes(system_bytes(size), "big") >> (8 * size - bits)) >= bound:
            pass
        return number

    def split(self) -> SystemEntropy:
        return self

    def draw(self, call: DrawCall) -> list[Sequence[int]]:
        return call.numbers(self)


class SeededEntropy:
    """A numpy generator: reproducible, and therefore not private."""

    secure = False

    def __init__(self, generator: np.random.Generator) -> None:
        self._generator = generator

    def words(self, size: int) -> Words:
        return self._generator.integers(0, 2**64, size=size, dtype=np.uint64)

    def below(self, bound: int) -> int:
        if bound <= 2**63:
            return int(self._generator.integers(bound))
        bits = (bound - 1).bit_length()
        size = (bits + 7) // 8
        excess_bits = 8 * size - bits
        while (
            number := int.from_bytes(self._generator.bytes(size), "big") >> excess_bits
        ) >= bound:
            pass
        return number

    def split(self) -> SeededEntropy:
        return SeededEntropy(np.random.default_rng(self.words(4)))

    def draw(self, call: DrawCall) -> list[Sequence[int]]:
        return call.numbers(self)


def seeded_generator(*seeds: int) -> np.random.Generator:
    """A numpy generator that depends on some whole numbers alone."""
    return np.random.default_rng(seeds)


def system_bytes(size: int) -> bytes:
    """Random bytes of the operating system."""
    random = os.urandom(size)
    if len(random) != size:  # repeated or missing bits would not show in the release
        raise OSError("the operating system returned too few random bytes")
    return random


def below_each(bound: Ints, words: Words, source: Entropy) -> Ints:
    """Uniform numbers from 0 to bound - 1: from a word each, or from new bits where that would
    favour some numbers.
    """
    bounds = bound.astype(np.uint64)
    numbers: Ints = (words % bounds).astype(np.int64)
    partial_range = (MAX_WORD % bounds + np.uint64(1)) % bounds
    for i in np.flatnonzero(words > MAX_WORD - partial_range).tolist():
        numbers[i] = source.below(int(bound[i]))
    return numbers


SYSTEM = SystemEntropy()


def entropy(rng: object = None) -> Entropy:
    """The source for an `rng` argument: None is the operating system, an integer seed or a numpy
    Generator is not.
    """
    if rng is None:
        return SYSTEM
    if isinstance(rng, SeededEntropy):
        return rng.split()  # each release has a part of its own
    if isinstance(rng, np.random.Generator):
        return SeededEntropy(rng)
    if isinstance(rng, int | np.integer) and not isinstance(rng, bool) and rng >= 0:
        return SeededEntropy(np.random.default_rng(int(rng)))
    raise DuffError(
        f"rng must be None, a seed of 0 or more or a numpy.random.Generator, got {rng!r}. Leave it "
        "out for a private release."
    )
