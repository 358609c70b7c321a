"""The ends of an interval around a quantile."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, Literal

import numpy as np

from duffdp.domain import Grid, Ints, Ordered
from duffdp.domain.grid import MOST_CANDIDATES
from duffdp.engines.arrays import Column, read
from duffdp.engines.source import Question, Ranks, Source
from duffdp.parameters import Covers, read_q
from duffdp.statistics.interval_shift import Shift, check_epsilon, most_of, shift
from duffdp.statistics.quantile import MOST_RANKS, Quantile, together
from duffdp.steps import Batch, StepFunction, Tail

Side = Literal["low", "high"]
SIDES: tuple[Side, Side] = ("low", "high")


class IntervalEnd:
    """One end of an interval that holds the q-quantile: a rank outside of it, or the safe end.

    The candidates are those of the domain and, with the index after the last of them, the safe
    end: the bound itself, which is never wrong and says nothing.

    Parameters
    ----------
    q
        From 0 to 1, as for `Quantile`.
    side
        "low" or "high".
    miss
        The probability with which the end may lie on the wrong side of the quantile.
    covers
        "data": the quantile of the records, max(1, ceil(q n)) in their order. "population": every
        q-quantile of the distribution that they were drawn from, independently.
    epsilon
        What the end will be drawn with. Another epsilon is just as private, and its coverage is
        not promised.

    Privacy
    -------
    A distance changes by at most 1 when one record joins or leaves, that of the safe end too, and
    needs the rate 1/2 (`tests/interval_end_test.py`): the number of records is private.

    Utility
    -------
    Ranks outside: about (2 log(1000 n) / epsilon) max(q, 1-q), and for a population sampling error.

    Runtime
    -------
    As a quantile; some 40 ms for parameters that are new.

    References
    ----------
    `docs/intervals.md`; Zubkov and Serov, "A complete proof of universal inequalities for the
    distribution function of the binomial law" (Theory of Probability and its Applications, 2013).

    Examples
    --------
    >>> import duffdp
    >>> from duffdp.statistics.interval_end import IntervalEnd
    >>> end = IntervalEnd(0.5, "low", miss=0.025, covers="data", epsilon=1)
    >>> steps = end.steps(range(200), duffdp.Grid(0, 199, 1))
    >>> law = duffdp.mechanisms.Exponential(1).law(steps)
    >>> sum(law.probability(x) for x in range(100, 200)) <= 0.025
    True
    """

    rate = Fraction(1, 2)

    def __init__(self, q: Any, side: Side, *, miss: Any, covers: Covers, epsilon: Any) -> None:
        self.q, self.side, self.covers = read_q(q), side, covers
        self.miss, self.epsilon = Fraction(miss), Fraction(epsilon)
        check_epsilon(self.q, self.epsilon, self.miss, covers)
        self.unit = Fraction(1, most_of(self.q, covers))

    def outputs(self, domain: Ordered) -> Grid:
        """The indices of the candidates, and of the safe end."""
        return Grid(0, min(domain.size, MOST_CANDIDATES - 1), 1)

    def steps(self, values: Any, domain: Ordered) -> StepFunction:
        """The distance of every candidate, and of the safe end."""
        index, count = Column(read(values), domain).tally()
        whole = Ranks(index, count, 0, int(count.sum()), 0, domain.size - 1)
        return self._with_safe_end([whole], [], domain)[0]

    def windows(self, columns: Sequence[Source], domain: Ordered, max_distance: float) -> Batch:
        """The windows of several columns side by side."""
        moved = self.shift(domain)
        ranks = []
        for column in columns:
            aim, _ = moved.at(column.length)  # a guess, for speed alone
            reach = math.ceil((max_distance * moved.most + aim) / moved.grain) + 2
            question = Question(((self.q, min(reach, MOST_RANKS)),), enough=0)
            ranks.append(column.ask(question)[0][0])
        return self._with_safe_end(ranks, columns, domain)

    def shift(self, domain: Ordered) -> Shift:
        """How far outside it is aimed."""
        q = self.q if self.side == "low" else 1 - self.q
        return shift(q, self.epsilon, self.miss, domain.size, self.covers)

    def _with_safe_end(
        self, ranks: list[Ranks], columns: Sequence[Source], domain: Ordered
    ) -> Batch:
        """The windows around the rank that is aimed at, each followed by the safe end."""
        moved = self.shift(domain)
        batch = _Aimed(self.q, self.side, moved).windows_of(ranks, columns, domain)
        distances = [self._safe_distance(moved, near.total) for near in ranks]

        def tail_of(i: int) -> Tail | None:
            tail = batch.tail_of(i)
            if tail is None:
                return None
            inside = tail.distance_of
            return replace(
                tail, distance_of=lambda at: distances[i] if at == domain.size else inside(at)
            )

        after = np.append(batch.begin[1:], len(batch.start))
        return replace(
            batch,
            domain=self.outputs(domain),
            start=np.insert(batch.start, after, domain.size),
            count=np.insert(batch.count, after, 1),
            distance=np.insert(batch.distance, after, distances),
            begin=batch.begin + np.arange(len(ranks)),
            tail_of=tail_of,
            unit=self.unit,
            rate=self.rate,
        )

    def _safe_distance(self, moved: Shift, records: int) -> int:
        """That of the safe end: at most that of the rank itself which is aimed at, so that it is
        the truth if there are too few records for such a rank.
        """
        aim, safe = moved.at(records)
        q = self.q if self.side == "low" else 1 - self.q
        return min(safe, int(q * moved.grain) * records - aim)

    def __repr__(self) -> str:
        return f"IntervalEnd({self.q}, {self.side!r}, covers={self.covers!r})"


class _Aimed(Quantile):
    """The distance in ranks from where an end is aimed, in steps: max(L - r, r - L - E) for a rank
    r below or above q n.
    """

    def __init__(self, q: Fraction, side: Side, moved: Shift) -> None:
        super().__init__(q, "rank")
        self._moved, self._up = moved, -1 if side == "low" else 1
        self._fine = moved.grain // self._m

    def windows_of(self, ranks: list[Ranks], columns: Sequence[Source], domain: Ordered) -> Batch:
        """The windows that hold these ranks."""
        return self._batch(together(ranks), columns, domain)

    def _above(self, upto: Ints | int, total: Ints | int) -> Any:
        """Steps by which a rank lies above the one that is aimed at."""
        if isinstance(total, int):
            aim: Any = self._moved.at(total)[0]
        else:
            each, which = np.unique(total, return_inverse=True)
            aim = np.array([self._moved.at(n)[0] for n in each.tolist()])[which]
        return self._fine * (self._m * upto - self._p * total) - self._up * aim

    def _distances(self, upto: Ints, total: Ints | int) -> tuple[Ints, Ints]:
        above = self._above(upto, total)
        return np.maximum(above[:-1], -above[1:]), np.abs(above)

    def _floor(
        self, domain: Ordered, upto: int, below: int, total: int, first: int, last: int
    ) -> int:
        sides = []
        if first > 0:
            sides.append(-self._above(below, total))
        if last < domain.size - 1:
            sides.append(self._above(upto, total))
        return int(min(sides))
