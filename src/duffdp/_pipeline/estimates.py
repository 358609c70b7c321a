"""Released numbers, each with its interval."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from duffdp._parameters import Interval
from duffdp.domain import Ordered, PublicSet
from duffdp.statistics.noise_interval import outward
from duffdp.statistics.program import OutputColumn

INTERVAL_COLUMNS = 3  # of a value with an interval: itself, and both ends
NEARLY = 0.9  # of the range: a wider interval is marked as if it were all of it
MIN_MARKED_SIZE = 20  # candidates; among fewer, an interval that leaves out one says something


class Estimate(NamedTuple):
    """A value with the ends of its interval, if it has one.

    `too_few` says that the value is withheld, or that the interval is the whole range.
    """

    value: Any
    low: Any = None
    high: Any = None
    too_few: bool = False


def columns_per_number(interval: Interval | None) -> int:
    """Number of columns of each released number: its value, and the ends of an interval."""
    return 1 if interval is None else INTERVAL_COLUMNS


def estimates_of(
    columns: Sequence[OutputColumn],
    row: Sequence[Any],
    domain: PublicSet,
    interval: Interval | None,
) -> list[Estimate]:
    """The estimates of one group from its cells."""
    if interval is None:
        return [Estimate(value, too_few=value is None) for value in row]
    estimates = []
    for i, column in enumerate(columns[::INTERVAL_COLUMNS]):
        value, low, high = row[INTERVAL_COLUMNS * i : INTERVAL_COLUMNS * (i + 1)]
        is_whole_range = low is not None and is_nearly_whole(column, domain, low, high)
        estimates.append(Estimate(value, low, high, value is None or is_whole_range))
    return estimates


def is_nearly_whole(column: OutputColumn, domain: PublicSet, low: Any, high: Any) -> bool:
    """True if an interval is at least `NEARLY` of the range, and so says next to nothing."""
    ends = whole_range(column, domain)
    if ends is None:
        return False
    if (low, high) == ends:
        return True
    if not isinstance(domain, Ordered):  # of a share, whose range is that of numbers
        return bool(high - low >= NEARLY * (ends[1] - ends[0]))
    first, last, lower, upper = (domain.place(end) for end in (*ends, low, high))
    return domain.size > MIN_MARKED_SIZE and upper - lower >= NEARLY * (last - first)


def whole_range(column: OutputColumn, domain: PublicSet) -> tuple[Any, Any] | None:
    """The ends of an interval that says nothing; None if there are no such ends."""
    if column.kind == "average":
        return outward(domain, column, (Fraction(0), Fraction(1)))
    if column.kind != "candidate":
        return None
    assert isinstance(domain, Ordered)
    return domain.value(0), domain.value(domain.size - 1)
