"""An interval that holds nearly all records."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from typing import Any, ClassVar, NamedTuple

import numpy as np

from duffdp.domain import Array, Grid, Ints
from duffdp.engines.source import Question, Source
from duffdp.steps import Batch, StepFunction, merged

WIDTHS = 33  # of intervals: from the whole range, half an octave narrower each
MOST_RANKS = 2**18  # that are looked at, at either end
EXCLUDED = 2**50  # the distance of what is not to come out


class Width(NamedTuple):
    """Intervals of one width: `cells` of the `parts` that the range is divided into, from every
    one of them on; each of them has `weight` candidates.
    """

    cells: int
    parts: int
    weight: int

    @property
    def places(self) -> int:
        return self.parts - self.cells + 1


def _width(number: int) -> Width:
    """Eleven or eight sixteenths of the range, then half of that, a quarter, ...: as long as it is
    cut to about the root of a half, twice as many candidates are in proportion to width**-2.
    """
    if number == 0:
        return Width(1, 1, 1)
    octave, narrow = divmod(number - 1, 2)
    return Width(8 if narrow else 11, 16 << octave, 1 << number)


_EVERY = tuple(map(_width, range(WIDTHS)))
_BEGIN = (0, *accumulate(width.places * width.weight for width in _EVERY))


def interval_of(candidate: int, top: int) -> tuple[int, int]:
    """The first and the last index of the interval that a candidate stands for."""
    number = next(i for i in range(WIDTHS) if candidate < _BEGIN[i + 1])
    cells, parts, weight = _EVERY[number]
    place = (candidate - _BEGIN[number]) // weight
    return top * place // parts, -(-top * (place + cells) // parts)


@dataclass(frozen=True, slots=True)
class Enclosure:
    """How many records lie outside of each of many intervals, up to a number that says enough.

    An interval half as wide has four times as many candidates: the exponential mechanism returns
    one of width w with probability proportional to w**-2 exp(-epsilon x records outside).

    Parameters
    ----------
    count
        Drawn before: how many records there are.

    Privacy
    -------
    A record that joins moves no number down and each by at most 1: all in one direction, so that
    the rate is 1. Not private by itself.

    Runtime
    -------
    One pass for the records at both ends.

    References
    ----------
    McSherry and Talwar, "Mechanism design via differential privacy" (FOCS 2007); `docs/theory.md`,
    "Variance".
    """

    count: int = 0
    rate: ClassVar[Fraction] = Fraction(1)
    unit: ClassVar[Fraction] = Fraction(1)

    def given(self, numbers: Sequence[int]) -> Enclosure:
        """After a count."""
        return Enclosure(*numbers)

    def outputs(self, domain: Grid) -> Grid:
        """The candidates of all widths, one after the other."""
        return Grid(0, _BEGIN[-1] - 1, 1)

    def windows(self, columns: Sequence[Source], domain: Grid, max_distance: float) -> Batch:
        """How many records lie outside, at most about `max_distance`."""
        return Batch.of([self._steps(column, domain, max_distance) for column in columns])

    def _steps(self, column: Source, domain: Grid, max_distance: float) -> StepFunction:
        most, top = math.ceil(min(max_distance, MOST_RANKS)), domain.size - 1
        (least, largest), _ = column.ask(Question(((Fraction(0), most), (Fraction(1), most))))
        widths = self._widths(top, max_distance)
        # Products of an index and a number of parts.
        exact: Any = np.int64 if top < 2**40 else object
        low, high = least.values.astype(exact), largest.values.astype(exact)
        below = np.append(0, np.cumsum(least.counts))
        above = largest.total - largest.below - np.append(0, np.cumsum(largest.counts))
        starts: list[Ints] = []
        distances: list[Ints] = []
        for begin, width in zip(_BEGIN, widths, strict=False):
            # The first place whose interval begins after a record, and ends no more before it.
            passed = _up((low + 1) * width.parts, top)
            held = (high - 1) * width.parts // top - width.cells + 1
            edges = np.concatenate([[0], passed, held]).astype(np.int64)
            place = np.unique(edges[(edges >= 0) & (edges < width.places)])
            outside = below[np.searchsorted(passed, place, side="right")]
            outside += above[np.searchsorted(held, place, side="right")]
            starts.append(begin + place * width.weight)
            distances.append(np.minimum(outside, most))
        end = _BEGIN[len(widths)]
        if len(widths) < WIDTHS:
            starts.append(np.array([end]))
            distances.append(np.array([EXCLUDED]))
        start = np.concatenate(starts)
        runs = merged(start, np.diff(start, append=_BEGIN[-1]), np.concatenate(distances))
        return StepFunction(self.outputs(domain), *runs, self.unit, self.rate)

    def _widths(self, top: int, max_distance: float) -> tuple[Width, ...]:
        """All widths, or the larger ones if there are too few records to speak against small ones;
        and none that is narrower than the grid.

        `max_distance` is about 56 / epsilon, so that a width half an octave narrower needs nearly 3
        / epsilon records: all of them outside weigh more than twice what it has more candidates.
        """
        enough = math.floor(20 * max(self.count, 0) / max_distance)
        return _EVERY[: min(enough, 2 * top.bit_length()) + 1]


def _up(numerator: Array, denominator: int) -> Array:
    """A quotient, rounded up."""
    quotient: Array = -(-numerator // denominator)
    return quotient
