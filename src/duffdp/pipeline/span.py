"""Released numbers, each with its interval."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from duffdp.domain import Ordered, PublicSet
from duffdp.statistics.entry import Column
from duffdp.statistics.ratio_interval import outward

ENDS = 3  # columns of a value with an interval: itself, and both ends


class Span(NamedTuple):
    """A value, the ends of the interval around it if there is one, and whether that is all that
    could come out, or the value is withheld.
    """

    value: Any
    low: Any = None
    high: Any = None
    too_few: bool = False


def spans_of(
    columns: Sequence[Column], row: Sequence[Any], domain: PublicSet, ends: bool
) -> list[Span]:
    """The numbers of one group, which come in threes where they have ends."""
    if not ends:
        return [Span(value, too_few=value is None) for value in row]
    found = []
    for i, column in enumerate(columns[::ENDS]):
        value, low, high = row[ENDS * i : ENDS * (i + 1)]
        whole = whole_range(column, domain)
        all_of_it = low is not None and (low, high) == whole
        found.append(Span(value, low, high, value is None or all_of_it))
    return found


def whole_range(column: Column, domain: PublicSet) -> tuple[Any, Any] | None:
    """The ends of an interval that says nothing; None if there are no such ends."""
    if column.kind == "average":
        return outward(domain, column, (Fraction(0), Fraction(1)))
    if column.kind != "candidate":
        return None
    assert isinstance(domain, Ordered)
    return domain.value(0), domain.value(domain.size - 1)
