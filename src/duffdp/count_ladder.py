"""A count and the local sensitivities around it: its ladder on a domain that may be too large to list."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from duffdp.domain import Grid, Ints
from duffdp.errors import BoundsError, DuffError
from duffdp.steps import StepFunction, Tail, nested

MOST_LEVELS = 2**22  # levels held in memory
CHUNK = 2**10


@dataclass(frozen=True, slots=True)
class CountLadder:
    """A count, its local sensitivities `sensitivity(begin, end)` at the distances begin .. end - 1, and the largest of all."""

    count: int
    sensitivity: Callable[[int, int], list[int]]
    ceiling: int

    def steps(self, domain: Grid) -> StepFunction:
        """The distance of every candidate of a grid of whole numbers."""
        steps = self.window(domain, MOST_LEVELS)
        if steps.tail is not None:
            raise DuffError(
                f"a ladder has at most {MOST_LEVELS} levels, too few for {domain!r}. Pass a smaller upper bound."
            )
        return steps

    def window(self, domain: Grid, levels: int) -> StepFunction:
        """The candidates up to this distance, and the rest as a tail."""
        if (
            not isinstance(domain, Grid)
            or domain.kind != "int"
            or domain.step != 1
            or not domain.whole
        ):
            raise BoundsError(
                f"a count needs a grid of whole numbers with step 1, got {domain!r}. Pass Grid(0, most, 1)."
            )
        centre, top = domain.index(self.count), domain.size - 1
        sums = self._sums(max(centre, top - centre), min(levels, MOST_LEVELS))
        low, high = np.maximum(centre - sums, 0), np.minimum(centre + sums, top)
        first, last = int(low[-1]), int(high[-1])
        left = top - (last - first)
        tail = (
            Tail(first, last, left, len(sums), lambda index: self.distance(abs(index - centre)))
            if left
            else None
        )
        return StepFunction(domain, *nested(low, high), tail=tail)

    def distance(self, away: int) -> int:
        """The fewest rungs that reach so far."""
        level = reached = 0
        while reached < away:
            for rung in self.sensitivity(level, level + CHUNK):
                if rung == self.ceiling:  # the same from here on
                    return level - (reached - away) // rung
                level, reached = level + 1, reached + rung
                if reached >= away:
                    break
        return level

    def _sums(self, away: int, levels: int) -> Ints:
        """0, I(0), I(0) + I(1), ..., until they reach so far."""
        sums = [0]
        while sums[-1] < away and len(sums) <= levels:
            level = len(sums) - 1
            for rung in self.sensitivity(level, min(level + CHUNK, levels)):
                sums.append(min(sums[-1] + rung, away))
                if sums[-1] == away:
                    break
        return np.array(sums, dtype=np.int64)
