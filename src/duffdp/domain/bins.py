"""Bins: public intervals side by side, in which records are counted.

The bin of a number is how many thresholds it reaches. The rule has two implementations here, for
one number and for an array, and a third one as an expression of table engines
(`_engines/queries/expressions.py`). All three give the same index. None of them overflows, warns or
fails for any number.

A whole number is compared with thresholds that are whole numbers, exactly. Every other number
counts as the double nearest to it, as every edge does then.

Promise: The bin of a record depends on that record and the public edges alone, and no record makes
this fail.
"""

from __future__ import annotations

import datetime as dt
import math
import sys
from bisect import bisect_right
from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from duffdp.domain._aliases import Floats, Ints, Keys
from duffdp.domain.reading import DAY, bound, microseconds, nearest_double, number
from duffdp.domain.zones import Clock, in_zone, instant, reach, read_zone
from duffdp.errors import Argument, BoundsError

Edge = Fraction | float  # a float is infinite


MOST_BINS = 2**20
_FIX = (" Pass for example ", Argument("bins", [0, 18, 65, 120]), ".")


class Thresholds(NamedTuple):
    """The least key of every bin, and of the values beyond the last one.

    A key in bin i reaches i + 1 of them; one that reaches none, or more than there are bins, lies
    outside.
    """

    size: int  # bins
    integers: tuple[float, ...]  # whole numbers, or infinite ones, in order
    doubles: Floats
    padded_doubles: Floats  # the same between two that are below and above every key
    even: tuple[float, float] | None  # where and how steeply doubles rise, bins of one width

    @classmethod
    def of(cls, edges: tuple[Edge, ...]) -> Thresholds:
        """For edges in order, the last of which belongs to its bin."""
        *least, last = edges
        integers = [math.ceil(edge) if math.isfinite(edge) else float(edge) for edge in least]
        doubles = [nearest_double(edge) for edge in least]
        if math.isfinite(last):  # nothing is beyond infinity
            integers.append(math.floor(last) + 1)
            doubles.append(math.nextafter(nearest_double(last), math.inf))
        array = np.array(doubles)
        padded = np.concatenate([[-math.inf], array, [math.nan]])
        return cls(len(least), tuple(integers), array, padded, _even(array))

    def of_number(self, key: float) -> int:
        """For a whole number, or any double but nan; -1 for what lies outside."""
        place = bisect_right(self.integers if isinstance(key, int) else self.doubles, key) - 1
        return place if place < self.size else -1

    def of_array(self, keys: Keys) -> Ints:
        """For int64, uint64, or float64 without nan."""
        bins = self._reached(keys) - 1
        bins[bins == self.size] = -1
        return bins

    def counts(self, keys: Keys) -> Ints:
        """Number of keys in each bin."""
        # A vectorized sort takes a tenth of the time that a search for every key takes.
        ordered = np.sort(keys)
        edges = self._edges_of(keys.dtype)
        # What no key reaches has no edge.
        ends = np.full(self.size + 1, len(keys))
        ends[: len(edges)] = np.searchsorted(ordered, edges, side="left")
        return np.diff(ends)

    def _reached(self, keys: Keys) -> Ints:
        """Number of thresholds that every key reaches."""
        if keys.dtype.kind != "f" or self.even is None:
            return np.searchsorted(self._edges_of(keys.dtype), keys, side="right")
        # A rising function that is at most one bin off everywhere, then a look at both edges.
        first, steepness = self.even
        with np.errstate(all="ignore"):
            guess = (keys - first) * steepness
        guess += 1
        np.clip(guess, 0, len(self.doubles), out=guess)
        count = guess.astype(np.int64)
        count -= keys < self.padded_doubles[count]
        count += keys >= self.padded_doubles[count + 1]
        return count

    def _edges_of(self, dtype: np.dtype[Any]) -> Keys:
        """The thresholds that keys of a type can reach; those that all reach are the least key."""
        if dtype.kind == "f":
            return self.doubles
        limits = np.iinfo(dtype)
        edges = [max(edge, limits.min) for edge in self.integers if edge <= limits.max]
        return np.array(edges, dtype=dtype)


def _even(doubles: Floats) -> tuple[float, float] | None:
    """The line that goes through all thresholds within a quarter of a bin, if there is one."""
    if len(doubles) < 2 or not np.isfinite(doubles).all():
        return None
    with np.errstate(all="ignore"):
        steepness = (len(doubles) - 1) / (doubles[-1] - doubles[0])
        place = (doubles - doubles[0]) * steepness
    fits = np.abs(place - np.arange(len(doubles))) <= 0.25
    return (float(doubles[0]), float(steepness)) if fits.all() else None


class Bins:
    """Adjacent public intervals [a, b), the last of which includes its upper edge.

    Parameters
    ----------
    edges
        Two or more numbers, dates or datetimes in rising order. The first may be -inf and the last
        inf: then no value is outside on that side.

    Methods
    -------
    label, record_index

    Privacy
    -------
    Edges are public and must not be taken from the data. Every record is put into its bin
    individually, and dropped if it is in none.

    References
    ----------
    Dwork, McSherry, Nissim and Smith, "Calibrating noise to sensitivity in private data analysis"
    (TCC 2006), example 1: one record moves one cell of a histogram.

    Examples
    --------
    >>> import duffdp
    >>> bins = duffdp.Bins([0, 18, 65, 120])
    >>> bins.size, bins.record_index(18), bins.label(2)
    (3, 1, '[65, 120]')
    """

    __slots__ = ("clock", "edges", "kind", "size", "thresholds", "whole_ends", "zone")

    def __init__(self, edges: Iterable[Any]) -> None:
        if isinstance(edges, str | bytes | dict) or not isinstance(edges, Iterable):
            raise BoundsError(
                Argument("bins"),
                f" must be a list of edges, got {edges!r:.60}.",
                *_FIX,
            )
        values = [_as_python(edge) for edge in edges]
        if not 2 <= len(values) <= MOST_BINS + 1:
            raise BoundsError(
                Argument("bins"),
                f" must have from 2 to 2**20 edges, got {len(values)}.",
                *_FIX,
            )
        read = [_read(edge, place in (0, len(values) - 1)) for place, edge in enumerate(values)]
        self.kind = _kind(values, [kind for kind, _ in read if kind])
        exact: list[Edge] = [position for _, position in read]
        for (a, b), (low, high) in zip(pairwise(exact), pairwise(values), strict=True):
            if a >= b:
                raise BoundsError(
                    Argument("bins"),
                    f" must be in rising order, got {_text(low)} before {_text(high)}.",
                    *_FIX,
                )
        self.edges = tuple(values)
        self.size = len(values) - 1
        self.thresholds = Thresholds.of(tuple(exact))
        finite = [edge for edge in exact if math.isfinite(edge)] or [0]
        #: The outermost finite edges, as whole numbers: days, microseconds.
        self.whole_ends = math.floor(finite[0]), math.ceil(finite[-1])
        #: The zone of the column, and what its clocks show if edges are days.
        self.zone: dt.tzinfo | None = None
        self.clock: Clock | None = None

    def in_zone(self, zone: dt.tzinfo | str) -> Bins:
        """These bins for a column of instants in a time zone: dates are days of the zone, and edges
        without a zone are in local time.
        """
        if not self.timed:
            return self
        tzinfo = read_zone(zone)
        bins = Bins(
            self.edges if self.kind == "date" else [_located(e, tzinfo) for e in self.edges]
        )
        bins.zone = tzinfo
        if self.kind == "date":
            bins.clock = Clock.of(tzinfo, *reach(self.kind, self.whole_ends))
        return bins

    @property
    def timed(self) -> bool:
        """True if edges are dates or datetimes."""
        return self.kind in ("date", "datetime")

    def place(self, record: object) -> int | None:
        """The bin of a record, or -1 if it is in none; None if it is missing or of another kind."""
        if not self.timed:
            read = number(record)
            return None if read is None else self.thresholds.of_number(read)
        moment = microseconds(record)
        if moment is None:
            return None
        return self.thresholds.of_number(moment // DAY if self.kind == "date" else moment)

    def record_index(self, record: object) -> int:
        """The bin of a record; -1 for one that is dropped: outside, missing, or of another kind."""
        place = self.place(record)
        return -1 if place is None else place

    def snap(self, keys: Keys) -> Ints:
        """The bin of every key, -1 outside: numbers, or days or microseconds since 1970."""
        return self.thresholds.of_array(keys)

    def label(self, index: int) -> str:
        """The label of a bin."""
        low, high = map(_text, self.edges[index : index + 2])
        return f"[{low}, {high}{']' if index == self.size - 1 else ')'}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Bins) and self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash(self._identity())

    def _identity(self) -> tuple[Any, ...]:
        # Both of an hour that comes twice are equal as edges.
        return self.kind, self.edges, self.thresholds.integers, self.clock

    def __repr__(self) -> str:
        return f"Bins({list(self.edges)!r})"


def _as_python(edge: object) -> Any:
    """A number or day of numpy as one of Python; a short float counts as it is printed."""
    if isinstance(edge, np.floating):
        return float(str(edge))
    if isinstance(edge, np.datetime64):
        return edge.item() if isinstance(edge.item(), dt.date) else edge
    return edge.item() if isinstance(edge, np.integer) else edge


def _read(edge: object, outermost: bool) -> tuple[str, Edge]:
    """Kind and exact position of an edge; no kind for an infinite one."""
    read = bound(edge)
    if read is not None and abs(read[1]) <= sys.float_info.max:
        return read
    if outermost and isinstance(edge, float | Decimal) and edge in (math.inf, -math.inf):
        return "", float(edge)
    raise BoundsError(
        *("the edges of ", Argument("bins")),
        " must be finite numbers, dates or datetimes; only the first may be "
        f"-inf and the last inf, got {edge!r:.60}.",
        *_FIX,
    )


def _kind(edges: list[Any], kinds: list[str]) -> str:
    timed = {"date", "datetime"} & set(kinds)
    zones = {edge.tzinfo is None for edge in edges if isinstance(edge, dt.datetime)}
    if (timed and len(set(kinds)) > 1) or len(zones) > 1:
        raise BoundsError(
            *("the edges of ", Argument("bins")),
            " must all have one type: numbers, dates, or datetimes with or "
            f"without a time zone, got {', '.join(map(_text, edges))[:60]}.",
            *_FIX,
        )
    return next((k for k in ("date", "datetime", "float", "decimal", "int") if k in kinds), "float")


def _located(edge: object, zone: dt.tzinfo) -> Any:
    """An edge in a zone; an infinite one as it is."""
    moment = microseconds(edge)
    if moment is None:
        return edge
    naive = getattr(edge, "tzinfo", None) is None
    return in_zone(instant(moment, zone) if naive else moment, zone)


def _text(edge: object) -> str:
    """An edge as short as it can be."""
    if isinstance(edge, dt.datetime):
        return edge.isoformat(sep=" ")
    if isinstance(edge, float) and edge.is_integer() and abs(edge) < 1e15:
        return str(int(edge))
    return str(edge)
