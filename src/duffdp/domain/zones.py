"""Time zones: the local time of a zone at an instant, the same for a number, an array and, in
`_engines/queries/expressions.py`, a column of any engine.

A zone is public: it is the type of a column, or a caller's. No record has a say in it.

Promise: The conversion of a time between zones depends on public rules and that time alone.
"""

from __future__ import annotations

import datetime as dt
import re
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from duffdp.domain._aliases import Ints
from duffdp.domain.reading import DAY, EPOCH
from duffdp.errors import UnsupportedData

_MICROSECOND = dt.timedelta(microseconds=1)
_FIXED = re.compile(r"(?:UTC|GMT)?([+-])(\d{2}):?(\d{2})")
# Where rules of zones are looked at; before and after that, the first and the last offset holds.
_RULES = tuple((dt.datetime(year, 1, 1) - EPOCH) // _MICROSECOND for year in (1850, 2200))


def read_zone(zone: object) -> dt.tzinfo:
    """The zone with a name such as Europe/Berlin, UTC or +02:00."""
    if isinstance(zone, dt.timezone):
        return zone
    name = zone_name(zone) if isinstance(zone, dt.tzinfo) else str(zone)
    fixed = _FIXED.fullmatch(name)
    if fixed is not None:
        sign, hours, minutes = fixed.groups()
        offset = dt.timedelta(hours=int(hours), minutes=int(minutes))
        if offset < dt.timedelta(days=1):
            return dt.timezone(-offset if sign == "-" else offset)
    from zoneinfo import ZoneInfo

    try:
        return dt.UTC if name == "UTC" else ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        raise UnsupportedData(
            f"the time zone {name!r:.60} is not known here. Convert the times to a zone such as "
            "'Europe/Berlin'; if no zone is known at all, run: pip install tzdata."
        ) from None


def zone_name(zone: dt.tzinfo) -> str:
    """The name by which `read_zone` finds a zone again."""
    if not isinstance(zone, dt.timezone):
        return str(zone)
    return str(zone).removeprefix("UTC") or "UTC"


def instant(wall: int, zone: dt.tzinfo) -> int:
    """The instant of a local time in a zone, in microseconds since 1970: the first one if there are
    two, and one that is later by the length of the gap if there is none.
    """
    time = (EPOCH + dt.timedelta(microseconds=wall)).replace(tzinfo=zone)
    return wall - (time.utcoffset() or dt.timedelta()) // _MICROSECOND


def in_zone(moment: int, zone: dt.tzinfo) -> dt.datetime:
    """An instant in a zone; left in UTC if it is there in a year that Python lacks."""
    utc = (EPOCH + dt.timedelta(microseconds=moment)).replace(tzinfo=dt.UTC)
    try:
        return utc.astimezone(zone)
    except (OverflowError, ValueError):
        return utc


def reach(kind: str, ends: tuple[int, int]) -> tuple[int, int]:
    """Microseconds from a day before the ends of a scale to two days after: times beyond count as
    the nearer end, in every zone.
    """
    unit = DAY if kind == "date" else 1
    return ends[0] * unit - DAY, ends[1] * unit + 2 * DAY


class Clock(NamedTuple):
    """The local times of a zone between two instants, in microseconds: from each of `starts` on, an
    offset is added. Instants outside of the two are moved to them first.
    """

    low: int
    high: int
    starts: tuple[int, ...]  # the first is `low`
    offsets: tuple[int, ...]

    @classmethod
    def of(cls, zone: dt.tzinfo, low: int, high: int) -> Clock | None:
        """The clock of a zone; None if it shows UTC all the time."""
        clock = cls(low, high, *_changes(zone, low, high))
        return clock if any(clock.offsets) else None

    def of_number(self, moment: int) -> int:
        """The time at one instant."""
        return int(self.of_array(np.array([min(max(moment, self.low), self.high)]))[0])

    def of_array(self, moments: Ints) -> Ints:
        """The time at each instant."""
        moments = np.clip(moments, self.low, self.high)
        if len(self.offsets) == 1:
            return moments + self.offsets[0]
        place = np.searchsorted(np.array(self.starts), moments, side="right") - 1
        times: Ints = moments + np.array(self.offsets)[place]
        return times


@lru_cache(maxsize=64)
def _changes(zone: dt.tzinfo, low: int, high: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """From when on which offset holds: found day by day, then to the second."""
    first, last = (min(max(end, _RULES[0]), _RULES[1]) for end in (low, high))
    starts, offsets = [low], [_offset(zone, first)]
    for day in range((first // DAY + 1) * DAY, last + DAY, DAY):
        offset = offsets[-1]
        if _offset(zone, day) == offset:
            continue
        before, after = max(day - DAY, first) // 1_000_000, day // 1_000_000
        while after - before > 1:
            middle = (before + after) // 2
            unchanged = _offset(zone, middle * 1_000_000) == offset
            before, after = (middle, after) if unchanged else (before, middle)
        starts.append(after * 1_000_000)
        offsets.append(_offset(zone, day))
    return tuple(starts), tuple(offsets)


def _offset(zone: dt.tzinfo, moment: int) -> int:
    return (in_zone(moment, zone).utcoffset() or dt.timedelta()) // _MICROSECOND
