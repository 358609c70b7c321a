"""The sum."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from duffdp.domain import Grid, PublicSet
from duffdp.engines.source import Levels, Source
from duffdp.errors import BoundsError
from duffdp.statistics.entry import Column, Finish


class Sum:
    """The sum of the clamped records, as a multiple of the largest number of which every candidate
    is one.

    Privacy
    -------
    Moves by at most the larger absolute value of both bounds when one record joins or leaves. Not
    private by itself: noise goes on top.

    References
    ----------
    Geng and Viswanath, "The optimal noise-adding mechanism in differential privacy" (IEEE
    Transactions on Information Theory 62, 2016); `docs/theory.md`, "Sum".

    Examples
    --------
    >>> import duffdp
    >>> from duffdp.engines.arrays import Column, read
    >>> grid = duffdp.Grid(-1.0, 2.0, 0.5)
    >>> total = duffdp.statistics.Sum()
    >>> total.totals(Column(read([0.5, 7.0, -9.0]), grid), grid), total.sensitivity(grid)
    ((3,), 4)
    """

    def levels(self, domain: Grid) -> Levels:
        """What is summed: the index of every record."""
        return Levels(0, domain.size - 1)

    def totals(self, column: Source, domain: Grid) -> tuple[int]:
        """The sum of one group, in units."""
        found, (low, step) = column.level_sums(self.levels(domain)), domain.units
        return (found.records * low + found.levels * step,)

    def sensitivity(self, domain: Grid) -> int:
        """How much one record moves it, in units."""
        low, step = domain.units
        return max(abs(low), abs(low + (domain.size - 1) * step))


def sum_values(domain: PublicSet, numbers: Sequence[int]) -> list[Any]:
    """A number of units as a number of the kind of the bounds."""
    assert isinstance(domain, Grid)
    return [domain.multiple(numbers[0])]


def refuse_dates(name: str, domain: object) -> None:
    """An error for bounds that cannot be added up."""
    if isinstance(domain, Grid) and domain.timed:
        raise BoundsError(
            f"dates and times have no {name}, got bounds from {domain.lower} to {domain.upper}. "
            "Pass a column of numbers, such as days since a date."
        )


SUM_FINISH = Finish(lambda _: (Column("sum", "number"),), sum_values)
