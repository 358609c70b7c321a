"""Step functions of statistics whose lowest and highest value after k changes is known."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from fractions import Fraction

from duffdp.domain import Grid, Ints
from duffdp.steps import StepFunction, Tail, nested


class Reached(ABC):
    """What k changes of a data set reach: from the lowest candidate to the highest.

    What is reached grows with k, and after one change more than there are records it is everything.
    If one record less or more reaches with k changes nothing that the data set does not reach with
    k + 1, the distance moves by at most 1.
    """

    records: int

    @abstractmethod
    def between(self, begin: int, end: int) -> tuple[Ints, Ints]:
        """The lowest and the highest candidate after `begin`, ..., `end - 1` changes."""

    def steps(
        self,
        outputs: Grid,
        levels: int,
        rate: Fraction,
        whole: Callable[[], Reached] | None = None,
    ) -> StepFunction:
        """Runs for fewer than so many changes; `whole` knows the distance of all others."""
        levels = min(levels, self.records + 2)
        low, high = self.between(0, levels)
        first, last = int(low[-1]), int(high[-1])
        left = outputs.size - (last - first + 1)
        tail = None
        if left:
            every = whole if whole is not None else lambda: self
            tail = Tail(first, last, left, levels, lambda index: every().distance_of(index))
        return StepFunction(outputs, *nested(low, high), rate=rate, tail=tail)

    def distance_of(self, index: int) -> int:
        """The fewest changes that reach a candidate, by bisection."""
        few, many = -1, self.records + 1
        while many - few > 1:
            k = (few + many) // 2
            low, high = self.between(k, k + 1)
            few, many = (few, k) if low[0] <= index <= high[0] else (k, many)
        return many
