"""Quantiles, the median among them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from duffdp.domain import Ints, Ordered
from duffdp.engines.arrays import Column, read
from duffdp.engines.groups import SideBySide
from duffdp.engines.source import ManyRanks, Question, Ranks, Source
from duffdp.errors import DuffError
from duffdp.parameters import read_q
from duffdp.steps import Batch, StepFunction, Tail, merged

MOST_RANKS = 2**18  # a window never holds more ranks to a side; beyond it the tail is visited


class Quantile:
    """The q-quantile: the value with rank max(1, ceil(q n)) among the n sorted records.

    Parameters
    ----------
    q
        From 0 (the minimum) to 1 (the maximum), read as the decimal that was written; more than six
        digits are rounded to the nearest fraction with a denominator up to a million, so that 1/3
        is one third.
    utility
        "distance": the fewest records to add or remove that make a candidate the quantile (the
        paper's utility). "signed": the same, and below 0 for the quantile itself if many records
        are tied there: 1 minus the fewest records to add or remove until it is the quantile no
        more. The most accurate of the three. "rank": |(1-q) * records below - q * records above| /
        max(q, 1-q), the paper's u_2.
    inside
        For q = 0 and 1 and the first two utilities: the record that so many others lie beyond is
        meant, in the place of the least or the largest one.

    Privacy
    -------
    Each changes by at most 1 when one record joins or leaves, and needs the rate 1/2
    (`tests/neighbours_test.py`). Clamped and snapped records, public domain.

    Utility
    -------
    Each grows by 1 / max(q, 1-q) for every rank away from the quantile.

    Runtime
    -------
    `steps` sorts the records. A release needs one pass and a small sort.

    References
    ----------
    Gillenwater and Munoz Medina, "Duff" (NeurIPS 2020), section 4.1 and u_2 in section 4;
    `docs/theory.md`.

    Examples
    --------
    >>> import duffdp
    >>> steps = duffdp.statistics.Quantile(0.25).steps([1, 2, 3, 4], duffdp.Grid(0, 5, 1))
    >>> [steps.distance_at(x) for x in range(6)]
    [2, 0, 1, 2, 3, 5]
    """

    rate = Fraction(1, 2)
    uneven = True  # candidates need no even spacing: their order is all that counts

    def __init__(self, q: Any, utility: str = "distance", inside: int = 0) -> None:
        if utility not in ("distance", "signed", "rank"):
            raise DuffError(f'utility must be "distance", "signed" or "rank", got {utility!r}.')
        self.q, self.utility, self._inside = read_q(q), utility, inside
        if inside and (self.q not in (0, 1) or utility == "rank" or inside < 0):
            raise DuffError(
                "inside must be 0, or above 0 for the distance of q = 0 and 1, got "
                f"inside={inside!r:.40}."
            )
        self._p, self._m = self.q.numerator, self.q.denominator
        # So many ranks more does a gap lie above the record that is meant: for q = 0 its rank is
        # inside + 1.
        self._more = 0 if 0 < self.q < 1 else inside if self.q == 1 else -inside - 1
        self._largest = max(self._p, self._m - self._p)
        self.unit = Fraction(1, self._largest) if utility == "rank" else Fraction(1)

    def steps(self, values: Any, domain: Ordered) -> StepFunction:
        """The distance of every candidate of the domain."""
        index, count = Column(read(values), domain).tally()
        ranks = Ranks(index, count, 0, int(count.sum()), 0, domain.size - 1)
        whole = self._batch(ranks, [], domain)[0]
        return StepFunction(
            domain, *merged(whole.start, whole.count, whole.distance), self.unit, self.rate
        )

    def question(self, max_distance: float) -> Question:
        """What a window up to the distance `max_distance` needs to know."""
        reach = math.ceil(min(max_distance * self._largest / self._m + 2, MOST_RANKS))
        # What is meant lies in the window, or a candidate of the tail is nearer than its floor; and
        # most of the reach does: the nearer a tail, the more of it has to be visited.
        enough = self._inside + 3 * reach // 4
        return Question(((self.q, reach + self._inside),), enough=enough)

    def window(self, column: Source, domain: Ordered, max_distance: float) -> StepFunction:
        """The candidates up to about the distance `max_distance`, and the rest as a tail."""
        return self.windows([column], domain, max_distance)[0]

    def windows(self, columns: Sequence[Source], domain: Ordered, max_distance: float) -> Batch:
        """The windows of several columns side by side."""
        question = self.question(max_distance)
        if len(columns) == 1:
            near = columns[0].ask(question)[0][0]
            batch = self._batch(near, columns, domain)
            cut = self.utility == "rank" and batch.start.item(0) < 0
            if cut and batch.distance[0] < batch.distance[1:].min():
                # Tied records may be further from it than the gap after them, which lies outside.
                near = columns[0].ask(self._past_ties(near, question))[0][0]
                batch = self._batch(near, columns, domain)
            return batch
        if isinstance(columns, SideBySide):
            (ranks,) = columns.ranks(question)
        else:
            ranks = [column.ask(question)[0][0] for column in columns]
        return self._batch(together(ranks), columns, domain)

    def _past_ties(self, ranks: Ranks, question: Question) -> Question:
        """The same past all records of a first window, so that the gaps at its ends are in it."""
        ((q, reach),) = question.ranks
        centre, upto = int(q * ranks.total), ranks.below + int(ranks.counts.sum())
        reach = min(reach + max(centre - ranks.below, upto - centre) + 1, MOST_RANKS)
        return Question(((q, reach),), enough=reach)

    def _batch(self, ranks: Ranks | ManyRanks, columns: Sequence[Source], domain: Ordered) -> Batch:
        """Runs from `first` to `last` of each: every distinct value and the gap after it; in front
        the tail and the first gap.
        """
        made = self._side_by_side if isinstance(ranks, ManyRanks) else self._alone
        runs, begin, left, floor = made(ranks, domain)  # type: ignore[arg-type]

        def tail_of(i: int) -> Tail | None:
            near, outside, least = ranks, left, floor
            if isinstance(near, ManyRanks):
                near, outside, least = near.column(i), left.item(i), floor.item(i)
            records = near.total

            def distance_of(index: int) -> int:
                below, equal = columns[i].rank_of(index)
                value, gap = self._distances(np.array([below, below + equal]), records)
                return int(value[0] if equal else gap[1])

            if not outside:
                return None
            return Tail(near.first, near.last, outside, least, distance_of)

        return Batch(domain, runs[0], runs[1], runs[2], begin, tail_of, self.unit, self.rate)

    def _alone(self, ranks: Ranks, domain: Ordered) -> _Windows:
        """The window of one column, in few calls."""
        values, counts, below, total, first, last = ranks
        many = len(values)
        if many and counts.item(counts.argmax()) == 1:  # none is tied
            upto = np.arange(below, below + many + 1, dtype=np.int64)
        else:
            upto = np.empty(many + 1, dtype=np.int64)
            upto[0] = below
            upto[1:] = counts
            np.add.accumulate(upto, out=upto)
        runs = np.empty((3, 2 * many + 2), dtype=np.int64)
        start, count, distance = runs[0], runs[1], runs[2]
        start[1] = first
        start[2::2] = values
        np.add(values, 1, out=start[3::2])
        np.subtract(start[2:], start[1:-1], out=count[1:-1])
        after = count[-1] = last + 1 - start.item(-1)
        distance[2::2], distance[1::2] = self._distances(upto, total)
        left = domain.size - (last - first + 1)
        floor = self._floor(domain, upto.item(-1), *ranks[2:]) if left else 0
        lead = 0 if count.item(1) else 1  # a window that is cut off begins and ends with a value
        start[lead], count[lead], distance[lead] = -1, left, floor
        runs = runs[:, lead:] if after else runs[:, lead:-1]
        count = runs[1]
        if not count.item(count.argmin()):
            runs = runs.take(count.nonzero()[0], axis=1)
        return _Windows(runs, _FIRST, left, floor)

    def _side_by_side(self, ranks: ManyRanks, domain: Ordered) -> _Windows:
        """The windows of several columns one after the other."""
        values, counts, ends, below, totals, first, last = ranks
        end = ends + np.arange(len(ends))
        begin = np.append(0, end[:-1] + 1)
        inner = np.ones(len(values) + len(ends), dtype=bool)
        inner[begin] = False
        value, equal = np.zeros((2, len(inner)), dtype=np.int64)
        value[inner], equal[inner] = values, counts
        value[begin] = first - 1
        within = np.add.reduceat(equal, begin)
        equal[begin] = below
        # so that the sum starts anew with each column
        equal[begin[1:]] -= (within + below)[:-1]
        upto = equal.cumsum()
        left = domain.size - (last - first + 1)
        floor = np.zeros(len(begin), dtype=np.int64)
        cut = left.nonzero()[0]
        each = (upto[end], *ranks[3:])
        for i, *near in zip(cut.tolist(), *(part[cut].tolist() for part in each), strict=True):
            floor[i] = self._floor(domain, *near)
        runs = np.empty((3, 2 * len(value)), dtype=np.int64)
        start, count, distance = runs
        start[::2] = value
        np.add(value, 1, out=start[1::2])
        np.subtract(start[1:], start[:-1], out=count[:-1])
        count[2 * end + 1] = last - value[end]
        distance[2::2], distance[1::2] = self._distances(upto, np.repeat(totals, end - begin + 1))
        tail = 2 * begin
        start[tail], count[tail], distance[tail] = -1, left, floor
        full = count > 0
        kept = np.add.reduceat(full, tail, dtype=np.intp)
        runs = runs.take(full.nonzero()[0], axis=1)
        return _Windows(runs, np.cumsum(kept) - kept, left, floor)

    def _distances(self, upto: Ints, total: Ints | int) -> tuple[Ints, Ints]:
        """Distances at values, all but the first, and in the gaps after all of them, with so many
        records up to each (docs/theory.md, "Quantiles").
        """
        p, m, largest = self._p, self._m, self._largest
        over = m * upto - p * total  # m times the ranks by which a gap lies above the quantile
        if self.utility == "rank":
            return np.abs(over[1:] - (m - p) * (upto[1:] - upto[:-1])), np.abs(over)
        if self._more:
            over += m * self._more
        # A value lies as far above the quantile as the gap before it, and below as the gap after.
        if largest == 1 and m == 2:  # the median: nothing to divide
            above, below = over + 1, -over
            value, gap = np.maximum(above[:-1], below[1:]), np.maximum(above, below)
        else:
            gap = np.maximum((over - p) // largest + 2, 1 - (over + (m - p)) // largest)
            ranks = over // largest
            value = np.maximum(ranks[:-1] + 1, -ranks[1:])
        return value if self.utility == "signed" else np.maximum(value, 0), gap

    def _floor(
        self, domain: Ordered, upto: int, below: int, total: int, first: int, last: int
    ) -> int:
        """The least distance outside a window that `upto` records do not lie after: that of a
        record just outside, without the 1 for joining.
        """
        p, m = self._p, self._m
        over, under = m * upto - p * total, p * total - m * below
        if self.utility == "rank":
            after, before = max(over, 0), max(under, 0)
        else:
            over, under = over + m * self._more, under - m * self._more
            after = 1 + over // self._largest if over >= 0 else 0
            before = -(-under // self._largest) if under > 0 else 0
        if first == 0:
            return after
        return before if last == domain.size - 1 else min(before, after)

    def __repr__(self) -> str:
        inside = f", inside={self._inside}" if self._inside else ""
        return f"Quantile({self.q}, utility={self.utility!r}{inside})"


class _Windows(NamedTuple):
    """The runs of one column or of several: starts, counts and distances."""

    runs: Ints
    begin: Ints  # where those of each column begin
    left: Any  # candidates outside of each window
    floor: Any  # and how near these can be


_FIRST = np.zeros(1, dtype=np.int64)


def together(ranks: ManyRanks | list[Ranks]) -> ManyRanks:
    """The ranks of several columns side by side, if they are not yet."""
    if isinstance(ranks, ManyRanks):
        return ranks
    values, counts, *numbers = zip(*ranks, strict=True)
    ends = np.cumsum([len(each) for each in values])
    return ManyRanks(np.concatenate(values), np.concatenate(counts), ends, *np.array(numbers))


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
