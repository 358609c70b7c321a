"""The number of records."""

from __future__ import annotations

from typing import Any

from duffdp.domain import Ordered, PublicSet
from duffdp.engines.pairs import Pairs
from duffdp.engines.source import Source, Tally


class Count:
    """How many records there are that are not missing.

    Privacy
    -------
    Moves by 1 when one record joins or leaves. Not private by itself: noise goes on top.

    References
    ----------
    Ghosh, Roughgarden and Sundararajan, "Universally utility-maximizing privacy mechanisms" (STOC
    2009).

    Examples
    --------
    >>> import duffdp
    >>> from duffdp.engines.arrays import Column, read
    >>> grid = duffdp.Grid(0, 9, 1)
    >>> duffdp.statistics.Count().totals(Column(read([1.0, None, 3.0]), grid), grid)
    (2,)
    """

    def totals(self, column: Source | Tally | Pairs, domain: PublicSet) -> tuple[int]:
        """The number of records of one group."""
        if isinstance(column, Pairs):
            return (len(column.x),)
        if isinstance(domain, Ordered):
            ordered: Any = column
            return (ordered.count(),)
        return (int(column.tally()[1].sum()),)

    def sensitivity(self, domain: PublicSet) -> int:
        """How much one record moves it."""
        return 1
