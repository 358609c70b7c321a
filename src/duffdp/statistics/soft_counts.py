"""The mean as two numbers: how far all records together are from either bound."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from duffdp.domain import Grid, Ordered, PublicSet
from duffdp.engines.source import Levels, Source
from duffdp.statistics.entry import Column, Finish


@dataclass(frozen=True, slots=True)
class SoftCounts:
    """The steps from the lower bound to every record, and from every record to the upper bound,
    added up.

    The number of records is a part of neither of them, and yet both together tell the mean: it
    divides the range as the first is to the second.

    Parameters
    ----------
    ends
        Two candidates that take the place of the bounds: records beyond them count as if they were
        there.
    squares
        Whether steps are the levels whose squares are added up next: one pass is enough for both.

    Privacy
    -------
    A record at step i of B (at least 1) adds i to one and B - i to the other: together they move by
    exactly B when one record joins or leaves, and so does the number of records stay private. Not
    private by itself: noise goes on top (`tests/neighbours_test.py`).

    Utility
    -------
    With staircase noise the mean errs by 0.75 to 1 (upper - lower) / (epsilon n), least where it
    lies in the middle of the bounds, and a third less at epsilon 5.

    References
    ----------
    `docs/theory.md`, "Mean by soft counts".

    Examples
    --------
    >>> import duffdp
    >>> from duffdp.engines.arrays import Column, read
    >>> grid = duffdp.Grid(0, 10, 1)
    >>> counts = duffdp.statistics.SoftCounts()
    >>> counts.totals(Column(read([1, 2, 3]), grid), grid), counts.sensitivity(grid)
    ((6, 24), 10)
    """

    ends: tuple[int, int] | None = None
    squares: bool = False

    def levels(self, domain: Ordered) -> Levels:
        """Where records are clamped."""
        make = Levels.squared if self.squares else Levels
        return make(*(self.ends or (0, domain.size - 1)))

    def totals(self, column: Source, domain: Ordered) -> tuple[int, int]:
        """Both numbers of one group."""
        found = column.level_sums(self.levels(domain))
        return found.levels, found.records * self.sensitivity(domain) - found.levels

    def sensitivity(self, domain: Ordered) -> int:
        """How much one record moves both together: if there is one candidate, by 1, so that they
        always tell how many records there are.
        """
        return max(1, self.levels(domain).top)


def soft_place(low: int, high: int, above: int, below: int) -> Fraction:
    """Where the mean lies between two candidates; in the middle if the numbers leave it open."""
    total = above + below
    if total <= 0:
        return Fraction(low + high, 2)
    return Fraction(low * total + min(max(above, 0), total) * (high - low), total)


def mean_finish(place: Callable[[Grid, Sequence[int]], Fraction]) -> Finish:
    """A mean from what was drawn for a group, which says its place between the candidates: a
    number, or where the caller chose the step, and for dates, the nearest candidate.
    """

    def nearest(domain: PublicSet, numbers: Sequence[int]) -> list[Any]:
        assert isinstance(domain, Grid)
        return [domain.value(math.floor(place(domain, numbers) + Fraction(1, 2)))]

    def columns(domain: PublicSet) -> tuple[Column, ...]:
        timed = isinstance(domain, Grid) and domain.timed
        return (Column("mean", "candidate" if timed else "average"),)

    def values(domain: PublicSet, numbers: Sequence[int]) -> list[Any]:
        assert isinstance(domain, Grid)
        if domain.timed:
            return nearest(domain, numbers)
        return [domain.number_at(place(domain, numbers))]

    return Finish(columns, values, Finish(lambda _: (Column("mean"),), nearest))


SOFT_FINISH = mean_finish(lambda domain, numbers: soft_place(0, domain.size - 1, *numbers))
