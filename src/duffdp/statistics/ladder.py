"""Step functions from local sensitivities (a ladder) or from the intervals that k changes can
reach.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from decimal import Decimal
from fractions import Fraction
from itertools import accumulate, islice
from numbers import Rational
from typing import Any, Protocol, runtime_checkable

import numpy as np

from duffdp._engines.requests import Inquiry
from duffdp._steps import StepFunction, Tail, certain, nested
from duffdp.domain import Domain, Grid, Ints
from duffdp.errors import BoundsError, DuffError

# levels held in memory; a ladder that needs more wants a coarser statistic or larger sensitivities
MOST_RUNGS = 2**22


@runtime_checkable
class Statistic(Protocol):
    """Protocol of a statistic: the distance of every candidate of a public domain.

    Methods
    -------
    steps

    Privacy
    -------
    When one record is added or removed, `max(change) - min(change)` of the distances, times
    `StepFunction.unit`, must be at most 1 / `StepFunction.rate`: 2 for the usual rate 1/2.
    `duffdp.testing.check_statistic` searches for a counterexample.

    References
    ----------
    Gillenwater and Munoz Medina, "Duff" (NeurIPS 2020), definition 6;
    `docs/how-to/your-own-statistic.md`.

    Examples
    --------
    >>> import duffdp
    >>> isinstance(duffdp.statistics.Median(), duffdp.statistics.Statistic)
    True
    """

    def steps(self, values: object, domain: object) -> StepFunction:
        """The distance of every candidate of the domain."""


def ladder(
    value: Any, sensitivities: Callable[[int], Any] | Iterable[Any], domain: Grid
) -> StepFunction:
    """The step function of a statistic with known local sensitivities.

    The distance of a candidate x is the least k with `I(0) + ... + I(k-1) >= |x - value|`. The
    sensitivities are a ladder, and each of them is a rung.

    Parameters
    ----------
    value
        The statistic of the data, an exact number (int, Fraction, Decimal) or a float. Clamped to
        the bounds.
    sensitivities
        `I(t)` for t = 0, 1, ...: as a function of t, or in order. I(t) is the local sensitivity at
        distance t: the most that one more change can move the statistic after t changes. Upper
        bounds are allowed if `I(t)(S') <= I(t+1)(S)` for all neighbors S and S'. Do not round down.
    domain
        A grid of numbers: the public candidates.

    Returns
    -------
    StepFunction
        The distance of every candidate.

    Privacy
    -------
    The distance moves by at most 1 when one record is added or removed, because k + 1 rungs of a
    neighbor reach as far as k rungs around `value`. It is at most the true dataset distance. The
    result is not private: draw from it with a mechanism.

    Utility
    -------
    The error is about 2 I(0) / epsilon, with tails that fall exponentially in the number of rungs.

    Runtime
    -------
    One step of exact arithmetic per rung, until the domain is covered.

    References
    ----------
    Zhang, Cormode, Procopiuc, Srivastava and Xiao, "Private release of graph statistics using
    ladder functions" (SIGMOD 2015), section 4. `docs/how-to/your-own-statistic.md`.

    Examples
    --------
    >>> import duffdp
    >>> steps = duffdp.ladder(5, lambda t: 1 + t, duffdp.Grid(0, 10, 1))
    >>> [steps.distance_at(x) for x in range(11)]
    [3, 3, 2, 2, 1, 0, 1, 2, 2, 3, 3]
    """
    grid = _numeric(domain)
    centre = min(
        max(grid.index_place(_exact(value, "value")), Fraction(0)), Fraction(grid.size - 1)
    )
    rungs = map(sensitivities, _naturals()) if callable(sensitivities) else iter(sensitivities)
    lengths = accumulate((grid.index_units(_rung(r)) for r in rungs), initial=Fraction(0))
    return _covered(
        ((centre - length, centre + length) for length in lengths), grid, "sensitivities"
    )


def reach(intervals: Iterable[tuple[Any, Any]], domain: Grid) -> StepFunction:
    """The step function of a statistic for which the values that k changes can reach are known.

    The distance of a candidate x is the least k with `low_k <= x <= high_k`.

    Parameters
    ----------
    intervals
        `(low_k, high_k)` for k = 0, 1, ..., until the domain is covered. Every interval contains
        the one before it, and the interval of k + 1 changes contains that of k changes of every
        neighbor. The exact sets of reachable values, and the smallest intervals around them, have
        both properties.
    domain
        A grid of numbers: the public candidates.

    Returns
    -------
    StepFunction
        The distance of every candidate.

    Privacy
    -------
    The distance moves by at most 1 when one record is added or removed, by the second condition.
    The result is not private: draw from it with a mechanism.

    References
    ----------
    Gillenwater and Munoz Medina, "Duff" (NeurIPS 2020), section 4.1;
    `docs/how-to/your-own-statistic.md`.

    Examples
    --------
    >>> import duffdp
    >>> steps = duffdp.reach([(2, 2), (1, 3), (0, 4)], duffdp.Grid(0, 4, 1))
    >>> [steps.distance_at(x) for x in range(5)]
    [2, 1, 0, 1, 2]
    """
    grid = _numeric(domain)
    exact = ((_exact(low, "intervals"), _exact(high, "intervals")) for low, high in intervals)
    return _covered(
        ((grid.index_place(low), grid.index_place(high)) for low, high in exact), grid, "intervals"
    )


class ReachableInterval(ABC):
    """Interval of candidates that k changes of a data set reach, from the lowest to the highest.

    It grows with k, and after one change more than there are records it holds every candidate.
    If one record less or more reaches with k changes nothing that the data set does not reach with
    k + 1, the distance moves by at most 1.
    """

    records: int

    @abstractmethod
    def between(self, begin: int, end: int) -> tuple[Ints, Ints]:
        """The lowest and the highest candidate after `begin`, ..., `end - 1` changes."""

    def steps(
        self,
        outputs: Grid,
        levels: int,
        rate: Fraction,
        all_records: Callable[[], Inquiry[ReachableInterval]] | None = None,
    ) -> StepFunction:
        """Runs for fewer than so many changes; `all_records` finds all other distances."""
        levels = min(levels, self.records + 2)
        low, high = self.between(0, levels)
        first, last = int(low[-1]), int(high[-1])
        outside = outputs.size - (last - first + 1)
        tail = None
        if outside:

            def inquire(index: int) -> Inquiry[int]:
                reachable = yield from certain(self) if all_records is None else all_records()
                return reachable.distance_of(index)

            tail = Tail(first, last, outside, levels, inquire)
        return StepFunction(outputs, *nested(low, high), rate=rate, tail=tail)

    def distance_of(self, index: int) -> int:
        """The fewest changes that reach a candidate, by bisection."""

        def reaches(k: int) -> bool:
            low, high = self.between(k, k + 1)
            return bool(low[0] <= index <= high[0])

        return bisect_left(range(self.records + 1), True, key=reaches)


def _covered(places: Iterable[tuple[Fraction, Fraction]], grid: Grid, name: str) -> StepFunction:
    """Runs for nested intervals of fractional indices that end with one that covers the grid."""
    top = grid.size - 1
    lows: list[int] = []
    highs: list[int] = []
    empty = 0  # levels that hold no candidate yet
    for low, high in islice(places, MOST_RUNGS):
        first, last = max(math.ceil(low), 0), min(math.floor(high), top)
        if first > last:
            if lows:
                raise DuffError(_shrinking(name, empty + len(lows)))
            empty += 1
            continue
        if lows and (first > lows[-1] or last < highs[-1]):
            raise DuffError(_shrinking(name, empty + len(lows)))
        lows.append(first)
        highs.append(last)
        if first == 0 and last == top:
            return StepFunction(
                grid,
                *nested(np.array(lows, dtype=np.int64), np.array(highs, dtype=np.int64), empty),
            )
    raise DuffError(
        f"{name} must go on until every candidate of {grid!r} is reached, and within {MOST_RUNGS} "
        "levels. "
        "Pass a function of t, or end with the whole range of the bounds."
    )


def _shrinking(name: str, level: int) -> str:
    return f"{name} must give intervals of which each holds the one before. Check level {level}."


def _naturals() -> Iterator[int]:
    t = 0
    while True:
        yield t
        t += 1


def _numeric(domain: Domain) -> Grid:
    if not isinstance(domain, Grid) or domain.kind in ("date", "datetime"):
        raise BoundsError(
            f"expected a grid of numbers, got {domain!r}. Pass for example duffdp.Grid(0, 100, 1)."
        )
    return domain


def _exact(number: object, name: str) -> Fraction:
    if isinstance(number, np.generic):
        number = number.item()
    if (
        isinstance(number, bool)
        or not isinstance(number, int | float | Decimal | Rational)
        or not math.isfinite(number)
    ):
        raise DuffError(
            f"{name} must be finite numbers, got {type(number).__name__}. Pass int, "
            "float, Fraction or Decimal."
        )
    return Fraction(number)


def _rung(number: object) -> Fraction:
    rung = _exact(number, "sensitivities")
    if rung < 0:
        raise DuffError("sensitivities must be 0 or more, got a negative number.")
    return rung
