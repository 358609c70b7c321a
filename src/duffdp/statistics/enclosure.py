"""An interval that holds nearly all records."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate
from typing import Any, ClassVar, NamedTuple

import numpy as np

from duffdp.domain import Array, Grid, Ints
from duffdp.engines.source import Question, Ranks, Source
from duffdp.statistics.entry import NOT_DRAWN
from duffdp.steps import Batch, StepFunction, merged

WIDTHS = 33  # of intervals: from the whole range, half an octave narrower each
MOST_RANKS = 2**18  # that are looked at, at either end
FINENESS = 64  # steps of a score that are one record
EXCLUDED = 2**50  # the score of what is not to come out
STEEPEST = 2 * math.log(2)  # nats for half an octave: probabilities in proportion to width**-4
# Where epsilon is large noise is less than in proportion to 1 / epsilon, and the bias by records
# outside is not. So the first of the widths count for less, half as much at such an epsilon; no
# more than the first, lest bounds that are far too wide cost.
FIRST, HALF_AS_STEEP = 4, 5.0
# What records weigh is known from a noisy count: so many nats less count, and of these so much.
MARGIN, TRUSTED = 3, 0.7
SURE = 2.0  # nats by which records have to outweigh chance
GENTLE = 30.0  # nats of records for one nat of a narrower width, where there are few
NEGLIGIBLE = 20.0  # nats that say enough


class Width(NamedTuple):
    """Intervals of one width: `cells` of the `parts` that the range is divided into, from every
    one of them on. The first is the candidate `begin`.
    """

    cells: int
    parts: int
    begin: int = 0

    @property
    def places(self) -> int:
        return self.parts - self.cells + 1

    @property
    def end(self) -> int:
        return self.begin + self.places


def _width(number: int) -> Width:
    """The range, eleven or eight sixteenths of it, then half of that, a quarter, ..."""
    if number == 0:
        return Width(1, 1)
    octave, narrow = divmod(number - 1, 2)
    return Width(8 if narrow else 11, 16 << octave)


_EVERY = tuple(
    accumulate(
        map(_width, range(1, WIDTHS)),
        lambda before, width: width._replace(begin=before.end),
        initial=_width(0),
    )
)
OUTPUTS = Grid(0, _EVERY[-1].end - 1, 1)


def ends_of(candidate: int, top: int) -> tuple[int, int]:
    """The first and the last index of the interval that a candidate stands for; of the whole range
    if none was drawn.
    """
    if candidate == NOT_DRAWN:
        return 0, top
    width = next(width for width in _EVERY if candidate < width.end)
    place = candidate - width.begin
    return top * place // width.parts, -(-top * (place + width.cells) // width.parts)


@dataclass(frozen=True, slots=True)
class Enclosure:
    """How many records lie outside of each of many intervals, up to a number that says enough, and
    what an interval costs for its width, which is public.

    Parameters
    ----------
    prices
        What intervals of each width cost, the widest first, in parts of a record; None for a width
        that is not to come out.
    most
        The number of records that says enough.

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
    "Enclosure".
    """

    prices: tuple[int | None, ...] = (0,)
    most: int = MOST_RANKS
    rate: ClassVar[Fraction] = Fraction(1)
    unit: ClassVar[Fraction] = Fraction(1, FINENESS)
    passes_on: ClassVar[bool] = True  # its epsilon to the next part, where it is not asked

    def given(self, numbers: Sequence[int], domain: Grid, epsilon: Fraction) -> Enclosure | None:
        """After a count, the widths that would not come out by chance; None if that is the whole
        range alone.
        """
        # In whole nats, and not beyond what decides: many groups have the same enclosure.
        nats = min(max(math.floor(epsilon * numbers[0]) - MARGIN, 0), 1000)
        fitting = 2 * (domain.size - 1).bit_length() + 1  # no narrower than the grid
        return _offered(nats, fitting, epsilon)

    def outputs(self, domain: Grid) -> Grid:
        """The intervals of all widths, one after the other."""
        return OUTPUTS

    def windows(self, columns: Sequence[Source], domain: Grid, max_distance: float) -> Batch:
        """The score of every interval."""
        top = domain.size - 1
        question = Question(((Fraction(0), self.most), (Fraction(1), self.most)))
        return Batch.of([self._steps(column.ask(question)[0], top) for column in columns])

    def _steps(self, ranks: list[Ranks], top: int) -> StepFunction:
        least, largest = ranks
        # Products of an index and a number of parts.
        exact: Any = np.int64 if top < 2**40 else object
        low, high = least.values.astype(exact), largest.values.astype(exact)
        below = np.append(0, np.cumsum(least.counts))
        above = largest.total - largest.below - np.append(0, np.cumsum(largest.counts))
        apart = _apart(low, below, high, above, self.most)
        starts: list[Ints] = []
        scores: list[Ints] = []
        for price, (cells, parts, begin) in zip(self.prices, _EVERY, strict=False):
            if price is None or parts * (apart - 2) > cells * top:
                score = EXCLUDED if price is None else FINENESS * self.most + price
                starts.append(np.array([begin]))
                scores.append(np.array([score]))
                continue
            # The first place whose interval begins after a record, and ends no more before it.
            passed = _up((low + 1) * parts, top)
            reached = (high - 1) * parts // top - cells + 1
            edges = np.concatenate([[0], passed, reached]).astype(np.int64)
            place = np.unique(edges[(edges >= 0) & (edges <= parts - cells)])
            outside = below[np.searchsorted(passed, place, side="right")]
            outside += above[np.searchsorted(reached, place, side="right")]
            starts.append(begin + place)
            scores.append(FINENESS * np.minimum(outside, self.most) + price)
        if len(self.prices) < WIDTHS:
            starts.append(np.array([_EVERY[len(self.prices)].begin]))
            scores.append(np.array([EXCLUDED]))
        start = np.concatenate(starts)
        runs = merged(start, np.diff(start, append=OUTPUTS.size), np.concatenate(scores))
        return StepFunction(OUTPUTS, *runs, self.unit, self.rate)


@lru_cache(maxsize=1024)
def _offered(nats: int, fitting: int, epsilon: Fraction) -> Enclosure | None:
    """The enclosure for records that weigh so much in all.

    Were they spread over the whole range, `1 - width` of them would lie outside of every interval
    of a width: that has to exceed what all these intervals together weigh more than the range.
    """
    slope = min(STEEPEST, nats / GENTLE)
    relief = slope / (1 + HALF_AS_STEEP / float(epsilon))

    def gain(number: int) -> float:
        """The nats for a width in the place of the range."""
        return slope * number - relief * min(number, FIRST)

    def allowed(number: int, width: Width) -> bool:
        weight, share = math.log(width.places) + gain(number), width.cells / width.parts
        by_chance = number > 0 and TRUSTED * nats * (1 - share) < weight + SURE
        return not by_chance and _enough(number, slope) <= epsilon * MOST_RANKS

    offered = [number for number, width in enumerate(_EVERY[:fitting]) if allowed(number, width)]
    if len(offered) < 2:
        return None
    each, last = FINENESS / float(epsilon), offered[-1]
    prices = (
        math.floor(each * (gain(last) - gain(number))) if number in offered else None
        for number in range(last + 1)
    )
    most = math.ceil(_enough(WIDTHS - 1, STEEPEST) / epsilon)  # the same for all groups
    return Enclosure(tuple(prices), min(most, MOST_RANKS))


def _enough(last: int, slope: float) -> float:
    """The nats that say enough against an interval, if there are widths up to this one."""
    return slope * last + math.log(_EVERY[last].end) + NEGLIGIBLE


def _apart(low: Array, below: Ints, high: Array, above: Ints, most: int) -> int:
    """How far the record of rank `most` is from the one with as many above it: of a narrower
    interval at least `most` records lie on one side. -1 if there are too few.
    """
    if most == 0 or below[-1] < most or above[0] < most:
        return -1
    # The first value up to which there are so many, and the last from which on there are.
    lower = low[np.searchsorted(below, most) - 1]
    upper = high[np.searchsorted(-above, -most, side="right") - 1]
    return int(upper - lower)


def _up(numerator: Array, denominator: int) -> Array:
    """A quotient, rounded up."""
    quotient: Array = -(-numerator // denominator)
    return quotient
