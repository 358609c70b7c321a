"""One cell for all records that are there."""

from __future__ import annotations

from typing import Any


class Presence:
    """The public set of a count: a record is there, or it is not.

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

    def record_index(self, record: Any) -> int:
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


def is_present(record: Any) -> bool:
    """Whether a record is neither None nor one of those that differ from themselves: nan, NaT."""
    try:
        return record is not None and not bool(record != record)
    except Exception:  # it cannot be compared, whatever the reason: pandas.NA
        return False
