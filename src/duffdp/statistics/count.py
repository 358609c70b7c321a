"""The number of records."""

from __future__ import annotations

from fractions import Fraction

from duffdp.engines.source import Question, Source

ANY = Question(((Fraction(1, 2), 0),))


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
    >>> duffdp.statistics.Count().count(Column(read([1.0, None, 3.0]), duffdp.Grid(0, 9, 1)))
    2
    """

    def count(self, column: Source) -> int:
        """The number of records of one group."""
        (ranks,), _ = column.ask(ANY)
        return ranks.total
