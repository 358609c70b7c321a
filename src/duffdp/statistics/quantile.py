"""Quantiles, the median among them."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from duffdp.domain import Grid, Ints
from duffdp.engines.arrays import Column, read
from duffdp.engines.source import Question, Ranks, Source
from duffdp.errors import DuffError
from duffdp.steps import StepFunction, Tail, filled, merged

MOST_RANKS = 2**18  # a window never holds more ranks to a side; beyond it the tail is visited
LARGEST_DENOMINATOR = 10**6  # keeps m * n in int64 up to 9 * 10**12 records


def read_q(q: Any) -> Fraction:
    """A share from 0 to 1 as the decimal that was written: 0.1 is 1/10, and 1/3 is one third."""
    if isinstance(q, np.generic):
        q = q.item()
    number = isinstance(q, int | float | Decimal | Fraction) and not isinstance(q, bool)
    if not number or not 0 <= q <= 1:
        raise DuffError(f"q must be a number from 0 to 1, got {q!r}. Pass for example q=0.25.")
    return Fraction(repr(q) if isinstance(q, float) else q).limit_denominator(LARGEST_DENOMINATOR)


class Quantile:
    """The q-quantile: the value with rank max(1, ceil(q n)) among the n sorted records.

    Parameters
    ----------
    q
        From 0 (the minimum) to 1 (the maximum), read as the decimal that was written; more than six digits are rounded
        to the nearest fraction with a denominator up to a million, so that 1/3 is one third.
    utility
        "distance": the fewest records to add or remove that make a candidate the quantile (the paper's utility).
        "signed": the same, and below 0 for the quantile itself if many records are tied there: 1 minus the fewest records
        to add or remove until it is the quantile no more. The most accurate of the three.
        "rank": |(1-q) * records below - q * records above| / max(q, 1-q), the paper's u_2.

    Privacy
    -------
    Each changes by at most 1 when one record joins or leaves, and needs the rate 1/2
    (`tests/privacy_test.py`). Clamped and snapped records, public domain.

    Utility
    -------
    Each grows by 1 / max(q, 1-q) for every rank away from the quantile.

    Runtime
    -------
    `steps` sorts the records. A release needs one pass and a small sort.

    References
    ----------
    Gillenwater and Munoz Medina, "Duff" (NeurIPS 2020), section 4.1 and u_2 in section 4; `docs/theory.md`.

    Examples
    --------
    >>> import duffdp
    >>> steps = duffdp.statistics.Quantile(0.25).steps([1, 2, 3, 4], duffdp.Grid(0, 5, 1))
    >>> [steps.distance_at(x) for x in range(6)]
    [2, 0, 1, 2, 3, 5]
    """

    rate = Fraction(1, 2)

    def __init__(self, q: Any, utility: str = "distance") -> None:
        if utility not in ("distance", "signed", "rank"):
            raise DuffError(f'utility must be "distance", "signed" or "rank", got {utility!r}.')
        self.q, self.utility = read_q(q), utility
        self._p, self._m = self.q.numerator, self.q.denominator
        self._largest = max(self._p, self._m - self._p)
        self.unit = Fraction(1, self._largest) if utility == "rank" else Fraction(1)

    def steps(self, values: Any, domain: Grid) -> StepFunction:
        """The distance of every candidate of the domain."""
        index, count = Column(read(values), domain).tally()
        return self._steps(Ranks(index, count, 0, int(count.sum()), 0, domain.size - 1), domain, None)

    def question(self, far: float) -> Question:
        """What a window up to the distance `far` needs to know."""
        reach = min(math.ceil(far * self._largest / self._m) + 2, MOST_RANKS)
        return Question(((self.q, reach),))

    def window(self, column: Source, domain: Grid, far: float) -> StepFunction:
        """The candidates up to about the distance `far`, and the rest as a tail."""
        ((ranks,), _) = column.ask(self.question(far))
        left = domain.size - (ranks.last - ranks.first + 1)
        if not left:
            return self._steps(ranks, domain, None)

        def distance_of(index: int) -> int:
            below, equal = column.rank_of(index)
            value, count = np.array([[index], [equal]])[:, : int(equal > 0)]
            alone = Ranks(value, count, below, ranks.total, index, index)
            return int(self._steps(alone, domain, None).distance[0])

        return self._steps(ranks, domain, Tail(ranks.first, ranks.last, left, self._floor(ranks, domain), distance_of))

    def _steps(self, ranks: Ranks, domain: Grid, tail: Tail | None) -> StepFunction:
        """Runs from `ranks.first` to `ranks.last`: every distinct value, and the gaps before, between and after."""
        start, count, distance = np.empty((3, 2 * len(ranks.values) + 1), dtype=np.int64)
        start[0] = ranks.first
        start[1::2] = ranks.values
        np.add(ranks.values, 1, out=start[2::2])
        np.subtract(start[1:], start[:-1], out=count[:-1])
        count[-1] = ranks.last + 1 - start[-1]
        below = np.empty(
            len(ranks.values) + 1, dtype=np.int64
        )  # records below each gap; below a value as below the gap before it
        below[0] = ranks.below
        below[1:] = ranks.counts
        distance[::2], distance[1::2] = self._distances(np.cumsum(below, out=below), ranks.counts, ranks.total)
        runs = (merged if tail is None else filled)(start, count, distance)
        return StepFunction(domain, *runs, self.unit, self.rate, tail)

    def _distances(self, below: Ints, equal: Ints, total: int) -> tuple[Ints, Ints]:
        """Distances in the gaps with so many records below, and at the values between them (docs/theory.md, "Quantiles")."""
        p, m, largest = self._p, self._m, self._largest
        over = m * below - p * total  # m times the ranks by which a gap lies above the quantile
        if self.utility == "rank":
            return np.abs(over), np.abs(over[:-1] + p * equal)
        if p == 0:
            return below + 1, below[:-1]
        if p == m:
            return 1 - over, -over[1:]
        gap = np.maximum((over - p) // largest + 2, 1 - (over + (m - p)) // largest)
        over //= largest
        value = np.maximum(over[:-1] + 1, -over[1:])
        return gap, value if self.utility == "signed" else np.maximum(value, 0)

    def _floor(self, ranks: Ranks, domain: Grid) -> int:
        """The least distance outside a window: that of a record just outside, without the 1 for joining."""
        p, m = self._p, self._m
        upto = ranks.below + int(ranks.counts.sum())
        over, under = m * upto - p * ranks.total, p * ranks.total - m * ranks.below
        if self.utility == "rank":
            above, below = max(over, 0), max(under, 0)
        elif p == 0:
            above, below = upto, 0
        elif p == m:
            above, below = 0, ranks.total - ranks.below
        else:
            above = 1 + over // self._largest if over >= 0 else 0
            below = -(-under // self._largest) if under > 0 else 0
        sides = ([below] if ranks.first > 0 else []) + ([above] if ranks.last < domain.size - 1 else [])
        return min(sides)

    def __repr__(self) -> str:
        return f"Quantile({self.q}, utility={self.utility!r})"


class Median(Quantile):
    """The lower median: the value with rank ceil(n / 2).

    Parameters
    ----------
    utility
        "distance" (the paper's), "signed" or "rank", as for `Quantile`.

    Privacy
    -------
    As `Quantile(1/2)`.

    References
    ----------
    Gillenwater and Munoz Medina, "Duff" (NeurIPS 2020), section 4.1.

    Examples
    --------
    >>> import duffdp
    >>> duffdp.statistics.Median().steps([], duffdp.Grid(0, 9, 1)).measure(1)
    10
    """

    def __init__(self, utility: str = "distance") -> None:
        super().__init__(Fraction(1, 2), utility)
