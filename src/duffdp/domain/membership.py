"""Two cells: records inside of a public set, and all others that are present."""

from __future__ import annotations

import datetime as dt
from typing import Any

from duffdp.domain.bins import Bins
from duffdp.domain.categories import Categories
from duffdp.domain.presence import is_present

INSIDE, OUTSIDE = 0, 1


class Membership:
    """The public set of a share: a record is among some values or between two ends, or it is not.

    Parameters
    ----------
    among
        The values, or one bin.

    Privacy
    -------
    The set is public. Which cell a record is in depends on that record alone; missing ones, and
    what is no number or date where the set is one of numbers or dates, are in neither.

    References
    ----------
    Dwork, McSherry, Nissim and Smith, "Calibrating noise to sensitivity in private data analysis"
    (TCC 2006), example 1: one record moves one of two cells.

    Examples
    --------
    >>> from duffdp.domain import Bins
    >>> adult = Membership(Bins([18, 120]))
    >>> [adult.record_index(age) for age in (18, 120, 7, None)]
    [0, 0, 1, -1]
    """

    __slots__ = ("among",)
    size = 2

    def __init__(self, among: Categories | Bins) -> None:
        self.among = among

    @property
    def kind(self) -> str:
        return self.among.kind

    def in_zone(self, zone: dt.tzinfo | str) -> Membership:
        """The same for a column of instants in a time zone."""
        return Membership(self.among.in_zone(zone)) if isinstance(self.among, Bins) else self

    def record_index(self, record: Any) -> int:
        """0 inside, 1 outside, -1 for a record that is dropped."""
        if isinstance(self.among, Bins):
            place = self.among.place(record)
            return -1 if place is None else INSIDE if place >= 0 else OUTSIDE
        if self.among.record_index(record) >= 0:
            return INSIDE
        return OUTSIDE if is_present(record) else -1

    def label(self, index: int) -> str:
        return ("inside", "outside")[index]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Membership) and self.among == other.among

    def __hash__(self) -> int:
        return hash((Membership, self.among))

    def __repr__(self) -> str:
        return f"Membership({self.among!r})"
