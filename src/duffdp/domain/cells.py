"""Cells in which records are counted: one for presence, two for membership in a public set, and
those of all fields of a column, missing ones too.

Promise: Each record is in exactly one cell, which depends on that record alone.
"""

from __future__ import annotations

import datetime as dt

from duffdp.domain.bins import Bins
from duffdp.domain.categories import Categories

INSIDE, OUTSIDE = 0, 1
MISSING, OTHER_VALUES = 0, 1  # the first cells of all fields; those of the public set follow


class Presence:
    """The public set of a count: a record is present or missing.

    Parameters
    ----------
    rows
        Whether every row of a table counts; if not, those whose column is not missing.

    Privacy
    -------
    Whether a record counts depends on that record alone.

    References
    ----------
    Dwork, McSherry, Nissim and Smith, "Calibrating noise to sensitivity in private data analysis"
    (TCC 2006), section 1.1: counting.

    Examples
    --------
    >>> [Presence().record_index(record) for record in (0, "a", None, float("nan"))]
    [0, 0, -1, -1]
    """

    __slots__ = ("rows",)
    size = 1

    def __init__(self, rows: bool = False) -> None:
        self.rows = rows

    @property
    def kind(self) -> str:
        return "row" if self.rows else "present"

    def record_index(self, record: object) -> int:
        """0 for a record that counts, -1 for one that is missing."""
        return 0 if self.rows or is_present(record) else -1

    def label(self, index: int) -> str:
        return "rows" if self.rows else "present"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Presence) and self.rows == other.rows

    def __hash__(self) -> int:
        return hash((Presence, self.rows))

    def __repr__(self) -> str:
        return f"Presence(rows={self.rows})"


def is_present(record: object) -> bool:
    """True if a record is neither None nor one of those that differ from themselves: nan, NaT."""
    try:
        return record is not None and not bool(record != record)
    except Exception:  # it cannot be compared, whatever the reason: pandas.NA
        return False


class Membership:
    """The public set of a share: a record is among some values or within a range, or it is not.

    Parameters
    ----------
    among
        The values, or one bin.

    Privacy
    -------
    The set is public. Which cell a record is in depends on that record alone; missing ones,
    and those of another kind than the set of numbers or dates, are in neither.

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

    __slots__ = ("members",)
    size = 2

    def __init__(self, members: Categories | Bins) -> None:
        self.members = members

    @property
    def kind(self) -> str:
        return self.members.kind

    def in_zone(self, zone: dt.tzinfo | str) -> Membership:
        """These cells for a column of instants in a time zone."""
        return Membership(self.members.in_zone(zone)) if isinstance(self.members, Bins) else self

    def record_index(self, record: object) -> int:
        """0 inside, 1 outside, -1 for a record that is dropped."""
        if isinstance(self.members, Bins):
            place = self.members.place(record)
            return -1 if place is None else INSIDE if place >= 0 else OUTSIDE
        if self.members.record_index(record) >= 0:
            return INSIDE
        return OUTSIDE if is_present(record) else -1

    def label(self, index: int) -> str:
        return ("inside", "outside")[index]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Membership) and self.members == other.members

    def __hash__(self) -> int:
        return hash((Membership, self.members))

    def __repr__(self) -> str:
        return f"Membership({self.members!r})"


class Fields:
    """The public set of a profile: a field is missing, in a cell of a public set, or anything else.

    Parameters
    ----------
    members
        Bins or categories that are counted in separate cells; None if only missing fields are.

    Privacy
    -------
    The set is public. Every field is in exactly one cell, which depends on that field alone.

    References
    ----------
    Dwork, McSherry, Nissim and Smith, "Calibrating noise to sensitivity in private data analysis"
    (TCC 2006), example 1: one record moves one cell of a histogram.

    Examples
    --------
    >>> from duffdp.domain import Bins
    >>> ages = Fields(Bins([0, 18, 120]))
    >>> [ages.record_index(age) for age in (None, "n/a", 200, 7, 18)]
    [0, 1, 1, 2, 3]
    """

    __slots__ = ("members",)

    def __init__(self, members: Categories | Bins | None = None) -> None:
        self.members = members

    @property
    def size(self) -> int:
        return OTHER_VALUES + 1 + (0 if self.members is None else self.members.size)

    @property
    def kind(self) -> str:
        return "present" if self.members is None else self.members.kind

    def in_zone(self, zone: dt.tzinfo | str) -> Fields:
        """These cells for a column of instants in a time zone."""
        return Fields(self.members.in_zone(zone)) if isinstance(self.members, Bins) else self

    def record_index(self, record: object) -> int:
        """0 for a missing field, 1 for one in no cell, and 2 or more for those in cells."""
        if not is_present(record):
            return MISSING
        place = -1 if self.members is None else self.members.record_index(record)
        return OTHER_VALUES + 1 + place if place >= 0 else OTHER_VALUES

    def label(self, index: int) -> str:
        if index <= OTHER_VALUES:
            return ("missing", "other")[index]
        cell = index - OTHER_VALUES - 1
        members = self.members
        return members.label(cell) if isinstance(members, Bins) else f"listed {cell + 1}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Fields) and self.members == other.members

    def __hash__(self) -> int:
        return hash((Fields, self.members))

    def __repr__(self) -> str:
        return f"Fields({self.members!r})"
