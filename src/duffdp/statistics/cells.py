"""How many records lie in each cell of a public domain."""

from __future__ import annotations

import numpy as np

from duffdp.domain import PublicSet
from duffdp.engines.source import Tally


class Cells:
    """The number of records in every cell: categories, bins, inside and outside of a set, or all.

    Privacy
    -------
    One record lies in one cell at most, so that all numbers together move by 1 when it joins or
    leaves (`tests/cells_test.py`). Not private by themselves: noise goes on top.

    Runtime
    -------
    One pass over the data; one query of a table that stays where it is.

    References
    ----------
    Dwork, McSherry, Nissim and Smith, "Calibrating noise to sensitivity in private data analysis"
    (TCC 2006), example 1.

    Examples
    --------
    >>> import duffdp
    >>> from duffdp.engines.arrays import array_source, read
    >>> bins = duffdp.Bins([0, 18, 65])
    >>> duffdp.statistics.Cells().totals(array_source(read([3, 18, 65, 70, None]), bins), bins)
    (1, 2)
    """

    def totals(self, column: Tally, domain: PublicSet) -> tuple[int, ...]:
        """The numbers of one group, cell by cell."""
        counts = np.zeros(domain.size, dtype=np.int64)
        index, count = column.tally()
        counts[index] = count
        return tuple(counts.tolist())

    def sensitivity(self, domain: PublicSet) -> int:
        """How much one record moves all of them together."""
        return 1

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class Top(Cells):
    """The same numbers, of which the order of the largest is released.

    Parameters
    ----------
    k
        How many places of the order.

    Privacy
    -------
    As `Cells`: one record moves one number by 1, and `duffdp.mechanisms.Ranking` puts noise on all
    of them before it looks for the largest.

    References
    ----------
    `docs/theory.md`, "The most common values".

    Examples
    --------
    >>> import duffdp
    >>> duffdp.statistics.Top(3).k
    3
    """

    def __init__(self, k: int) -> None:
        self.k = k

    def __repr__(self) -> str:
        return f"Top({self.k})"
