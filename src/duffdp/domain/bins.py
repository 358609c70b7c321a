"""Bins: public intervals side by side, in which records are counted."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Iterable
from decimal import Decimal
from itertools import pairwise
from typing import Any

import numpy as np

from duffdp.domain.aliases import Ints, Keys
from duffdp.domain.reading import DAY, bound, microseconds, number
from duffdp.domain.thresholds import Edge, Thresholds
from duffdp.domain.zones import Clock, in_zone, instant, reach, read_zone
from duffdp.errors import BoundsError

MOST_BINS = 2**20
_FIX = "Pass for example bins=[0, 18, 65, 120]."


class Bins:
    """Public intervals [a, b) side by side, the last of which holds its upper edge as well.

    Parameters
    ----------
    edges
        Two or more numbers, dates or datetimes in rising order. The first may be -inf and the last
        inf: then nothing lies outside on that side.

    Privacy
    -------
    Edges are public and must not be taken from the data. Every record is put into its bin by
    itself, and dropped if it lies in none.

    References
    ----------
    Dwork, McSherry, Nissim and Smith, "Calibrating noise to sensitivity in private data analysis"
    (TCC 2006), example 1: one record moves one cell of a histogram.

    Examples
    --------
    >>> bins = Bins([0, 18, 65, 120])
    >>> bins.size, bins.record_index(18), bins.label(2)
    (3, 1, '[65, 120]')
    """

    __slots__ = ("clock", "edges", "kind", "size", "thresholds", "whole_ends", "zone")

    def __init__(self, edges: Iterable[Any]) -> None:
        if isinstance(edges, str | bytes | dict) or not isinstance(edges, Iterable):
            raise BoundsError(f"bins must be a list of edges, got {edges!r:.60}. {_FIX}")
        given = [_as_python(edge) for edge in edges]
        if not 2 <= len(given) <= MOST_BINS + 1:
            raise BoundsError(f"bins have two edges or more, up to 2**20, got {len(given)}. {_FIX}")
        read = [_read(edge, place in (0, len(given) - 1)) for place, edge in enumerate(given)]
        self.kind = _kind(given, [kind for kind, _ in read if kind])
        exact: list[Edge] = [position for _, position in read]
        for (a, b), (low, high) in zip(pairwise(exact), pairwise(given), strict=True):
            if a >= b:
                raise BoundsError(
                    f"the edges of bins must rise, got {_text(low)} before {_text(high)}. {_FIX}"
                )
        self.edges = tuple(given)
        self.size = len(given) - 1
        self.thresholds = Thresholds.of(tuple(exact))
        finite = [edge for edge in exact if math.isfinite(edge)] or [0]
        #: The outermost finite edges, as whole numbers: days, microseconds.
        self.whole_ends = math.floor(finite[0]), math.ceil(finite[-1])
        #: The zone of the column, and what its clocks show if edges are days.
        self.zone: dt.tzinfo | None = None
        self.clock: Clock | None = None

    def in_zone(self, zone: dt.tzinfo | str) -> Bins:
        """The same for a column of instants in a time zone: dates are its days, and edges without a
        zone are what its clocks show.
        """
        if not self.timed:
            return self
        known = read_zone(zone)
        made = Bins(self.edges if self.kind == "date" else [_located(e, known) for e in self.edges])
        made.zone = known
        if self.kind == "date":
            made.clock = Clock.of(known, *reach(self.kind, self.whole_ends))
        return made

    @property
    def timed(self) -> bool:
        """Whether edges are dates or datetimes."""
        return self.kind in ("date", "datetime")

    def place(self, record: Any) -> int | None:
        """The bin of a record, -1 if it lies in none; None if it is missing or of another kind."""
        if not self.timed:
            read = number(record)
            return None if read is None else self.thresholds.of_number(read)
        moment = microseconds(record)
        if moment is None:
            return None
        return self.thresholds.of_number(moment // DAY if self.kind == "date" else moment)

    def record_index(self, record: Any) -> int:
        """The bin of a record; -1 for one that is dropped: outside, missing, or of another kind."""
        place = self.place(record)
        return -1 if place is None else place

    def snap(self, keys: Keys) -> Ints:
        """The bin of every key, -1 outside: numbers, or days or microseconds since 1970."""
        return self.thresholds.of_array(keys)

    def label(self, index: int) -> str:
        """A bin as it is written."""
        low, high = map(_text, self.edges[index : index + 2])
        return f"[{low}, {high}{']' if index == self.size - 1 else ')'}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Bins) and self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash(self._identity())

    def _identity(self) -> tuple[Any, ...]:
        # Both of an hour that comes twice are equal as edges.
        return self.kind, self.edges, self.thresholds.whole, self.clock

    def __repr__(self) -> str:
        return f"Bins({list(self.edges)!r})"


def _as_python(edge: Any) -> Any:
    """A number or day of numpy as one of Python; a short float counts as it is printed."""
    if isinstance(edge, np.floating):
        return float(str(edge))
    if isinstance(edge, np.datetime64):
        return edge.item() if isinstance(edge.item(), dt.date) else edge
    return edge.item() if isinstance(edge, np.integer) else edge


def _read(edge: Any, outermost: bool) -> tuple[str, Edge]:
    """Kind and exact position of an edge; no kind for an infinite one."""
    read = bound(edge)
    if read is not None:
        return read
    if outermost and isinstance(edge, float | Decimal) and not math.isnan(edge):
        return "", float(edge)
    raise BoundsError(
        "the edges of bins must be finite numbers, dates or datetimes, but for -inf at the "
        f"beginning and inf at the end, got {edge!r:.60}. {_FIX}"
    )


def _kind(edges: list[Any], kinds: list[str]) -> str:
    timed = {"date", "datetime"} & set(kinds)
    zones = {edge.tzinfo is None for edge in edges if isinstance(edge, dt.datetime)}
    if (timed and len(set(kinds)) > 1) or len(zones) > 1:
        raise BoundsError(
            "the edges of bins must be of one kind: numbers, dates, datetimes with a time zone or "
            f"without, got {', '.join(map(_text, edges))[:60]}. {_FIX}"
        )
    return next((k for k in ("date", "datetime", "float", "decimal", "int") if k in kinds), "float")


def _located(edge: Any, zone: dt.tzinfo) -> Any:
    """An edge in a zone; an infinite one as it is."""
    moment = microseconds(edge)
    if moment is None:
        return edge
    naive = getattr(edge, "tzinfo", None) is None
    return in_zone(instant(moment, zone) if naive else moment, zone)


def _text(edge: Any) -> str:
    """An edge as short as it can be."""
    if isinstance(edge, dt.datetime):
        return edge.isoformat(sep=" ")
    if isinstance(edge, float) and edge.is_integer() and abs(edge) < 1e15:
        return str(int(edge))
    return str(edge)
