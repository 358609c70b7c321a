"""Private range that holds nearly all records."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np

from duffdp._engines.requests import Inquiry, Ranks, RanksNear, ask
from duffdp._steps import StepFunction, Windows, merged
from duffdp.domain import Array, Grid, Ints, PublicSet
from duffdp.statistics.program import NOT_DRAWN
from duffdp.statistics.statistic import STEPS_PER_RECORD, DistanceStatistic, Scope

WIDTH_COUNT = 33  # widths of intervals: the whole range, and each half an octave narrower
MAX_RANGE_RANKS = 2**18  # counted from either end
EXCLUDED_SCORE = 2**50  # of an interval that must not be drawn
# For half an octave: probabilities are in proportion to width**-4.
MAX_WIDTH_NATS = 2 * math.log(2)
# Where epsilon is large noise is less than in proportion to 1 / epsilon, and the bias by records
# outside is not. So the first of the widths count for less, half as much at such an epsilon; no
# more than the first, lest bounds that are far too wide cost.
RELIEVED_WIDTHS, HALF_RELIEF_EPSILON = 4, 5.0
# The weight of records follows from a noisy count: less so many nats, times this share.
COUNT_MARGIN_NATS, COUNT_TRUST = 3, 0.7
CHANCE_MARGIN_NATS = 2.0  # by which records have to outweigh chance
# Nats of records for one nat of a narrower width, where there are few records.
RECORD_NATS_PER_WIDTH_NAT = 30.0
NEGLIGIBLE_SCORE_NATS = 20.0  # beyond, an interval is ruled out

Ends = tuple[int, int]  # the first and the last candidate of an interval


class Width(NamedTuple):
    """Intervals of one width: `cells` of the `parts` of the range, one beginning at every part. The
    first is the candidate `begin`.
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


_WIDTHS = tuple(
    accumulate(
        map(_width, range(1, WIDTH_COUNT)),
        lambda before, width: width._replace(begin=before.end),
        initial=_width(0),
    )
)
RANGE_CANDIDATES = Grid(0, _WIDTHS[-1].end - 1, 1)


def range_ends(candidate: int, top: int) -> Ends:
    """The first and the last index of the interval of a candidate, or of the whole range if none
    was drawn.
    """
    if candidate == NOT_DRAWN:
        return 0, top
    width = next(width for width in _WIDTHS if candidate < width.end)
    place = candidate - width.begin
    return top * place // width.parts, -(-top * (place + width.cells) // width.parts)


@dataclass(frozen=True, slots=True)
class PrivateRange(DistanceStatistic):
    """Private range that holds nearly all records.

    Its score is the number of records outside of an interval, up to a limit, and a public price
    for the width of the interval.

    Parameters
    ----------
    prices
        What intervals of each width cost, the widest first, in parts of a record; None for a width
        that is not to come out.
    max_outside
        Records outside are counted up to this number, which rules an interval out.

    Privacy
    -------
    An added record moves each number up by 0 or 1. All move in one direction, so the rate is 1. Not
    private: it is the input of a mechanism.

    Runtime
    -------
    One pass for the records at both ends.

    References
    ----------
    McSherry and Talwar, "Mechanism design via differential privacy" (FOCS 2007);
    `docs/explanation/statistics.md`, "Private range".
    """

    prices: tuple[int | None, ...] = (0,)
    max_outside: int = MAX_RANGE_RANKS
    rate = Fraction(1)
    unit = Fraction(1, STEPS_PER_RECORD)

    @classmethod
    def after_count(cls, count: int, domain: PublicSet, epsilon: Fraction) -> PrivateRange | None:
        """The range for a noisy count, with the widths that would not come out by chance; None if
        that is the whole range alone.
        """
        # In whole nats, and not beyond what decides: many groups have the same range.
        nats = min(max(math.floor(epsilon * count) - COUNT_MARGIN_NATS, 0), 1000)
        fitting = 2 * (domain.size - 1).bit_length() + 1  # no narrower than the grid
        return _offered(nats, fitting, epsilon)

    def outputs(self, domain: PublicSet) -> Grid:
        """The intervals of all widths, one after the other."""
        return RANGE_CANDIDATES

    def windows(self, scope: Scope, max_distance: float) -> Inquiry[Windows]:
        """The score of every interval."""
        top = scope.domain.size - 1
        request = RanksNear(((Fraction(0), self.max_outside), (Fraction(1), self.max_outside)))
        ends = yield from ask(request)
        end_ranks = zip(*(group_ranks.split() for group_ranks in ends), strict=True)
        return Windows.of([self._steps(least, largest, top) for least, largest in end_ranks])

    def _steps(self, least: Ranks, largest: Ranks, top: int) -> StepFunction:
        # Products of an index and a number of parts.
        exact: Any = np.int64 if top < 2**40 else object
        low, high = least.values.astype(exact), largest.values.astype(exact)
        below = np.append(0, np.cumsum(least.counts))
        above = largest.total - largest.below - np.append(0, np.cumsum(largest.counts))
        inner_width = _inner_width(low, below, high, above, self.max_outside)
        starts: list[Ints] = []
        scores: list[Ints] = []
        for price, (cells, parts, begin) in zip(self.prices, _WIDTHS, strict=False):
            if price is None or parts * (inner_width - 2) > cells * top:
                score = (
                    EXCLUDED_SCORE if price is None else STEPS_PER_RECORD * self.max_outside + price
                )
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
            scores.append(STEPS_PER_RECORD * np.minimum(outside, self.max_outside) + price)
        if len(self.prices) < WIDTH_COUNT:
            starts.append(np.array([_WIDTHS[len(self.prices)].begin]))
            scores.append(np.array([EXCLUDED_SCORE]))
        start = np.concatenate(starts)
        runs = merged(start, np.diff(start, append=RANGE_CANDIDATES.size), np.concatenate(scores))
        return StepFunction(RANGE_CANDIDATES, *runs, self.unit, self.rate)


@lru_cache(maxsize=1024)
def _offered(nats: int, fitting: int, epsilon: Fraction) -> PrivateRange | None:
    """The range for records that weigh so much in total.

    Were they spread over the whole range, `1 - width` of them would lie outside of every interval
    of a width: that has to exceed what all these intervals together weigh more than the range.
    """
    slope = min(MAX_WIDTH_NATS, nats / RECORD_NATS_PER_WIDTH_NAT)
    relief = slope / (1 + HALF_RELIEF_EPSILON / float(epsilon))

    def gain(number: int) -> float:
        """The nats for a width instead of the range."""
        return slope * number - relief * min(number, RELIEVED_WIDTHS)

    def allowed(number: int, width: Width) -> bool:
        weight, share = math.log(width.places) + gain(number), width.cells / width.parts
        by_chance = number > 0 and COUNT_TRUST * nats * (1 - share) < weight + CHANCE_MARGIN_NATS
        return not by_chance and _max_nats(number, slope) <= epsilon * MAX_RANGE_RANKS

    offered = [number for number, width in enumerate(_WIDTHS[:fitting]) if allowed(number, width)]
    if len(offered) < 2:
        return None
    steps_per_nat, last = STEPS_PER_RECORD / float(epsilon), offered[-1]
    prices = (
        math.floor(steps_per_nat * (gain(last) - gain(number))) if number in offered else None
        for number in range(last + 1)
    )
    # The same for all groups.
    max_outside = math.ceil(_max_nats(WIDTH_COUNT - 1, MAX_WIDTH_NATS) / epsilon)
    return PrivateRange(tuple(prices), min(max_outside, MAX_RANGE_RANKS))


def _max_nats(last: int, slope: float) -> float:
    """Nats of records outside that rule an interval out, if there are widths up to this one."""
    return slope * last + math.log(_WIDTHS[last].end) + NEGLIGIBLE_SCORE_NATS


def _inner_width(low: Array, below: Ints, high: Array, above: Ints, max_outside: int) -> int:
    """Distance of the record of rank `max_outside` from the one with as many above it: at least so
    many records lie on one side of a narrower interval. -1 if there are too few records.
    """
    if max_outside == 0 or below[-1] < max_outside or above[0] < max_outside:
        return -1
    # The first value up to which there are so many, and the last from which on there are.
    lower = low[np.searchsorted(below, max_outside) - 1]
    upper = high[np.searchsorted(-above, -max_outside, side="right") - 1]
    return int(upper - lower)


def _up(numerator: Array, denominator: int) -> Array:
    """A quotient, rounded up."""
    quotient: Array = -(-numerator // denominator)
    return quotient
