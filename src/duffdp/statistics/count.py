"""The number of records."""

from __future__ import annotations

from duffdp.domain import Domain
from duffdp.engines.source import Source


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

    def totals(self, column: Source, domain: Domain) -> tuple[int]:
        """The number of records of one group."""
        return (column.count(),)

    def sensitivity(self, domain: Domain) -> int:
        """How much one record moves it."""
        return 1
