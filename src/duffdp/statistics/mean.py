"""The mean."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from duffdp.domain import Grid, Ints
from duffdp.engines.arrays import Column, read
from duffdp.engines.source import Question, Ranks, Source
from duffdp.steps import Batch, StepFunction, Tail, nested

# a window holds no more levels beyond the closest candidate; the rest is left to the tail
MOST_LEVELS = 2**15
CLOSEST = 2**20  # how many changes away the closest candidate is looked for
MOST_RECORDS = 2**62  # all of them


class Mean:
    """The mean of the clamped records.

    The distance of a candidate is the fewest records to add or remove, at least one of them added,
    that make it the mean.

    Privacy
    -------
    Changes by at most 1 when one record joins or leaves; rate 1/2 (`tests/neighbours_test.py`).
    Public domain.

    Utility
    -------
    Within k changes the mean reaches an interval [lo_k, hi_k] around the truth; about k (b - a) / n
    to a side.

    Runtime
    -------
    One pass for the exact sum and the extreme records; one step of exact integer arithmetic a
    level. `steps` has up to n + 1 levels.

    References
    ----------
    Gillenwater and Munoz Medina, "Duff" (NeurIPS 2020), section 4.1; the closed form and its proof
    in `docs/theory.md`.

    Examples
    --------
    >>> import duffdp
    >>> steps = duffdp.statistics.Mean().steps([4, 5, 6], duffdp.Grid(0, 10, 1))
    >>> [steps.distance_at(x) for x in range(11)]
    [4, 4, 3, 2, 1, 1, 1, 2, 3, 4, 4]
    """

    rate = Fraction(1, 2)
    unit = Fraction(1)

    def steps(self, values: Any, domain: Grid) -> StepFunction:
        """The distance of every candidate of the domain."""
        return self._whole(Column(read(values), domain), domain)

    def question(self, max_distance: float) -> Question:
        """What a window up to the distance `max_distance` needs to know: the sum, and the records
        at both ends.
        """
        return self._question(math.ceil(min(max_distance + 1, MOST_LEVELS)))

    def _question(self, levels: int) -> Question:
        return Question(((Fraction(0), levels), (Fraction(1), levels)), total=True)

    def window(self, column: Source, domain: Grid, max_distance: float) -> StepFunction:
        """The candidates up to the distance `max_distance` beyond that of the closest, and the rest
        as a tail.
        """
        question = self.question(max_distance)
        answer, levels = column.ask(question), question.ranks[0][1]
        # With more records than candidates no level may hold a candidate before about n / (N - 1)
        # changes.
        closest = answer[0][0].total // (domain.size - 1)
        if closest > 1:
            # rounded: groups ask the same question
            levels = 2 ** min(levels + closest, CLOSEST).bit_length()
            answer = column.ask(self._question(levels))
        return self._steps(column, domain, answer, levels)

    def windows(self, columns: Sequence[Source], domain: Grid, max_distance: float) -> Batch:
        """The windows of several columns side by side."""
        return Batch.of([self.window(column, domain, max_distance) for column in columns])

    def _whole(self, column: Source, domain: Grid) -> StepFunction:
        return self._steps(column, domain, column.ask(self._question(MOST_RECORDS)), None)

    def _steps(
        self, column: Source, domain: Grid, answer: tuple[list[Ranks], int], levels: int | None
    ) -> StepFunction:
        (least, most), total = answer
        n, top = least.total, domain.size - 1
        wanted = n + 1 if levels is None else min(levels, n + 1)
        smallest = _first(least.values, least.counts, wanted)
        largest = _first(most.values[::-1], most.counts[::-1], wanted)
        high = np.fromiter(_reach(smallest, total, n, top, wanted), dtype=np.int64)
        low = top - np.fromiter(
            _reach(top - largest, n * top - total, n, top, wanted), dtype=np.int64
        )
        first, last = int(low[-1]), int(high[-1])
        left = domain.size - (last - first + 1)
        tail = None
        if left:

            def distance_of(index: int) -> int:
                return self._whole(column, domain).distance_of(index)

            tail = Tail(first, last, left, wanted + 1, distance_of)
        return StepFunction(domain, *nested(low, high, first=1), self.unit, self.rate, tail)

    def __repr__(self) -> str:
        return "Mean()"


def _first(index: Ints, count: Ints, most: int) -> Ints:
    """The first `most` records of distinct values with counts."""
    return np.repeat(index, np.diff(np.minimum(np.cumsum(count), most), prepend=0))


def _reach(smallest: Ints, total: int, n: int, top: int, levels: int) -> Iterator[int]:
    """The largest candidate that k = 1, 2, ... changes reach: add k - j records at `top`, remove
    the j smallest.

    The best j never decreases with k, and j + 1 is better than j as long as the mean exceeds
    (y_{j+1} + top) / 2.
    """
    removed = 0
    j = 0
    records = smallest.tolist()
    for k in range(1, levels + 1):
        while j < min(k - 1, n):
            numerator, denominator = total - removed + (k - j) * top, n + k - 2 * j
            if 2 * numerator <= denominator * (records[j] + top):
                break
            removed += records[j]
            j += 1
        yield (total - removed + (k - j) * top) // (n + k - 2 * j)
