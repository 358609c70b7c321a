"""A count and the local sensitivities around it: its ladder on a domain that may be too large to
list.

Promise: A distance is the fewest rungs that reach an output, and rungs do not fall.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import accumulate, chain, islice
from math import ceil

import numpy as np

from duffdp._steps import StepFunction, Tail, certain, nested
from duffdp.domain import Grid, Ints
from duffdp.errors import BoundsError, DuffError

MAX_LADDER_LEVELS = 2**22  # levels held in memory
FIRST_CHUNK, LAST_CHUNK = 2**6, 2**16  # levels asked for at once


class CountLadder:
    """A count and its local sensitivities: the most that one change moves it by after t changes.

    Parameters
    ----------
    count
        The count; a larger one counts as `largest`.
    sensitivity
        `sensitivity(begin, end)` lists I(t) for t = begin .. end - 1. It does not decrease.
    largest
        The largest possible output, public. It bounds the sensitivities too.
    order
        I grows no faster than a polynomial of this order:
        `I(t + 1) <= (1 + order / (t + 1 - order)) I(t)` for t of `order` and more.
    """

    def __init__(
        self,
        count: int,
        sensitivity: Callable[[int, int], list[int]],
        largest: int,
        order: int,
    ) -> None:
        self.count, self.largest, self.order = min(count, largest), largest, order
        self._sensitivity = sensitivity

    def sensitivity(self, begin: int, end: int) -> list[int]:
        """I(t), up to `largest`, at the distances begin .. end - 1."""
        return [min(rung, self.largest) for rung in self._sensitivity(begin, end)]

    def slow_from(self, growth: Fraction) -> int:
        """A level from which no rung is more than `growth` (above 1) times the one before."""
        return self.order - 1 + ceil(self.order / (growth - 1))

    def steps(self, domain: Grid) -> StepFunction:
        """The distance of every candidate of a grid of whole numbers."""
        steps = self.window(domain, MAX_LADDER_LEVELS)
        if steps.tail is not None:
            raise DuffError(
                f"a ladder can have at most {MAX_LADDER_LEVELS} levels, which is too few for "
                f"{domain!r}. Pass a "
                "smaller "
                "upper bound."
            )
        return steps

    def window(self, domain: Grid, levels: int) -> StepFunction:
        """The candidates up to this distance, and the rest as a tail."""
        if (
            not isinstance(domain, Grid)
            or domain.kind != "int"
            or domain.step != 1
            or not domain.is_integer
        ):
            raise BoundsError(
                f"a count needs a grid of whole numbers with step 1, got {domain!r}. Pass Grid(0, "
                "most, 1)."
            )
        centre, top = domain.index(self.count), domain.size - 1
        sums = self._sums(max(centre, top - centre), min(levels, MAX_LADDER_LEVELS))
        low, high = np.maximum(centre - sums, 0), np.minimum(centre + sums, top)
        first, last = int(low[-1]), int(high[-1])
        outside_count = top - (last - first)
        tail = (
            Tail(
                first,
                last,
                outside_count,
                len(sums),
                lambda index: certain(self.distance(abs(index - centre))),
            )
            if outside_count
            else None
        )
        return StepFunction(domain, *nested(low, high), tail=tail)

    def distance(self, offset: int) -> int:
        """The fewest rungs that reach so far."""
        level = reached = 0
        for rungs in self._chunks():
            if rungs[0] == self.largest:  # the same from here on
                return level - (reached - offset) // self.largest
            end = reached + sum(rungs)
            if end >= offset:
                break
            level, reached = level + len(rungs), end
        return level + sum(reach < offset for reach in accumulate(rungs, initial=reached))

    def _sums(self, offset: int, levels: int) -> Ints:
        """0, I(0), I(0) + I(1), ..., until they reach so far."""
        sums = [0]
        for rung in islice(chain.from_iterable(self._chunks()), levels):
            if sums[-1] == offset:
                break
            sums.append(min(sums[-1] + rung, offset))
        return np.array(sums, dtype=np.int64)

    def _chunks(self) -> Iterator[list[int]]:
        """All rungs in order, a few at first and then more at a time."""
        begin, size = 0, FIRST_CHUNK
        while True:
            yield self.sensitivity(begin, begin + size)
            begin, size = begin + size, min(2 * size, LAST_CHUNK)
