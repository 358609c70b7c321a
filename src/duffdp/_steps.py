"""The distance of every candidate, as runs of neighboring candidates with equal distance.

Promise: Runs and a tail give each candidate one distance, and groups that are drawn together have
one unit and one rate. That no candidate of a tail is nearer than its floor is a claim of the
statistic.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Protocol, TypeVar

import numpy as np

from duffdp._engines.requests import Inquiry
from duffdp.domain import Domain, Ints
from duffdp.errors import DuffError

T = TypeVar("T")


class AnswerFor(Protocol):
    """Function that runs an inquiry about one group, by its position in the evidence."""

    def __call__(self, position: int, inquiry: Inquiry[T], /) -> T: ...


def certain(result: T) -> Inquiry[T]:
    """An inquiry that needs no answer."""
    return result
    yield ()


def without_answers(position: int, inquiry: Inquiry[T]) -> T:
    """Run an inquiry that asks nothing."""
    try:
        next(inquiry)
    except StopIteration as end:
        result: T = end.value
        return result
    raise DuffError("this step function needs counts from data, and there are none here.")


@dataclass(frozen=True, slots=True)
class Tail:
    """Candidates outside of a window: before `first` and after `last`.

    `floor` is a lower bound of their distance; `inquire` finds the distance of one of them, and
    asks for counts on its way.
    """

    first: int
    last: int
    count: int
    floor: int
    inquire: Callable[[int], Inquiry[int]]
    position: int = 0  # of the group, for `answer`
    answer: AnswerFor = without_answers

    def distance_of(self, index: int) -> int:
        """The distance of one candidate."""
        return self.answer(self.position, self.inquire(index))

    def candidate(self, position: int) -> int:
        """The candidate at this position (0 .. count - 1) among those left out."""
        return position if position < self.first else position - self.first + self.last + 1


@dataclass(frozen=True, slots=True, eq=False)
class StepFunction:
    """Distance of every candidate of a domain: the number of records to add or remove until it is
    the value of the statistic.

    Parameters
    ----------
    domain
        The public candidates.
    start, count, distance
        int64 arrays in domain order, with one entry for each run of neighboring candidates at the
        same distance: its first candidate, their number and their distance.
    unit
        The size of one step of `distance`: 1, or a fraction for rank scores and slopes.
    rate
        A draw with weights exp(-c distance) is epsilon-private for c up to `rate * epsilon`. The
        rate is 1/2 in general, and 1 if one record moves all distances in one direction.
    tail
        None for a whole step function. If the arrays cover only a window of the domain, the tail
        has the distances of the candidates outside of it.

    Methods
    -------
    distance_at, measure, within, check

    Privacy
    -------
    Not private: it is a function of the data without noise. It is the input of a mechanism and not
    part of a release.

    References
    ----------
    Gillenwater and Munoz Medina, "Duff" (NeurIPS 2020), definition 6 and section 4.1.

    Examples
    --------
    >>> import duffdp
    >>> steps = duffdp.statistics.Median().steps([1, 2, 3], duffdp.Grid(0, 4, 1))
    >>> [steps.distance_at(x) for x in range(5)], steps.measure(0), steps.within(2)
    ([3, 1, 0, 2, 4], 1, 3)
    """

    domain: Domain
    start: Ints
    count: Ints
    distance: Ints
    unit: Fraction = Fraction(1)
    rate: Fraction = Fraction(1, 2)
    tail: Tail | None = None

    def check(self) -> None:
        """Raise an error unless the runs and the tail together are the whole domain, in order and
        without gaps.
        """
        kinds = {getattr(a, "dtype", None) for a in (self.start, self.count, self.distance)}
        if kinds != {np.dtype(np.int64)} or not len(self.start) == len(self.count) == len(
            self.distance
        ):
            raise DuffError(
                "start, count and distance of a step function must be int64 arrays of the same "
                "length. "
                "Use np.array(..., np.int64)."
            )
        first, last = (
            (0, self.domain.size - 1) if self.tail is None else (self.tail.first, self.tail.last)
        )
        edge = self.start + self.count
        is_covered = (
            len(edge) > 0
            and self.start[0] == first
            and edge[-1] == last + 1
            and (self.start[1:] == edge[:-1]).all()
        )
        if not is_covered or (self.count <= 0).any():
            raise DuffError(
                f"the runs of a step function must cover {self.domain!r}: begin at {first}, end at "
                f"{last}, none empty, no gaps. "
                "Give every candidate a distance, a large one if it cannot be reached."
            )

    def distance_at(self, value: object) -> int:
        """Distance of one candidate, in steps of `unit`."""
        index = self.domain.find(value)
        if index is None:
            raise DuffError(f"expected a value of {self.domain!r}, got {value!r}.")
        return self.distance_of(index)

    def distance_of(self, index: int) -> int:
        """Distance of the candidate with this index."""
        if self.tail is not None and not self.tail.first <= index <= self.tail.last:
            return self.tail.distance_of(index)
        return int(self.distance[np.searchsorted(self.start, index, side="right") - 1])

    def measure(self, k: int) -> int:
        """Number of candidates at distance k, the paper's lambda(A_k)."""
        return int(self.count[self.distance == k].sum())

    def within(self, t: float) -> int:
        """Number of candidates at distance t or less, the paper's lambda(H_t)."""
        return int(self.count[self.distance <= t].sum())


_ZERO = np.zeros(1, dtype=np.intp)


@dataclass(slots=True, eq=False)  # not frozen: each field would cost a call of a setter
class Windows:
    """Step functions or windows of several groups, with their runs in one array, for one race.

    The tail of a window comes before its runs, as one run at the least distance that it can have,
    with the start -1. With `locate`, runs hold positions in another order than that of the domain,
    and it finds the candidate of a group at a position. `answer` runs the inquiries of tails and of
    `locate`.
    """

    domain: Domain
    start: Ints
    count: Ints
    distance: Ints
    begin: Ints
    open_tail: Callable[[int], Tail | None]
    unit: Fraction
    rate: Fraction
    locate: Callable[[int, int], Inquiry[int]] | None = None
    answer: AnswerFor = without_answers

    @classmethod
    def of(cls, steps: Sequence[StepFunction]) -> Windows:
        """Step functions that share a domain, a unit and a rate."""
        first = steps[0]
        if any(s is not first and (s.unit, s.rate) != (first.unit, first.rate) for s in steps):
            # The coefficient of one group would be that of another.
            raise DuffError(
                "step functions that are drawn together must have one unit and one rate. Declare "
                "both for the statistic, not for its records."
            )
        pieces = [
            (s.start, s.count, s.distance)
            if s.tail is None
            else (
                _prepend(-1, s.start),
                _prepend(s.tail.count, s.count),
                _prepend(s.tail.floor, s.distance),
            )
            for s in steps
        ]
        begin = _ZERO
        start, count, distance = pieces[0]
        if len(pieces) > 1:
            runs = np.array([len(count) for _, count, _ in pieces])
            begin = np.cumsum(runs) - runs
            start, count, distance = (
                np.concatenate(column) for column in zip(*pieces, strict=True)
            )
        return cls(
            first.domain,
            *(start, count, distance, begin),
            lambda i: steps[i].tail,
            first.unit,
            first.rate,
        )

    def __len__(self) -> int:
        return len(self.begin)

    def tail_of(self, i: int) -> Tail | None:
        """The tail of one window, able to find distances."""
        tail = self.open_tail(i)
        if tail is None or self.answer is without_answers:
            return tail
        return replace(tail, position=i, answer=self.answer)

    def answered_by(self, answer: AnswerFor) -> Windows:
        """This step function, able to look into tails."""
        return replace(self, answer=answer)

    def candidates(self, positions: list[int]) -> list[int]:
        """The candidates at these positions, one for each group."""
        if self.locate is None:
            return positions
        return [self.answer(i, self.locate(i, at)) for i, at in enumerate(positions)]

    def __getitem__(self, i: int) -> StepFunction:
        place = self.place(i)
        start, count, distance = self.start[place], self.count[place], self.distance[place]
        return StepFunction(
            self.domain, start, count, distance, self.unit, self.rate, self.tail_of(i)
        )

    def place(self, i: int) -> slice:
        """The positions of the runs of one step function, without its tail."""
        begin = int(self.begin[i])
        end = int(self.begin[i + 1]) if i + 1 < len(self.begin) else len(self.start)
        return slice(begin + int(self.start[begin] < 0), end)


def _prepend(first: int, runs: Ints) -> Ints:
    longer = np.empty(len(runs) + 1, dtype=np.int64)
    longer[0] = first
    longer[1:] = runs
    return longer


def nested(low: Ints, high: Ints, first: int = 0) -> tuple[Ints, Ints, Ints]:
    """Runs for intervals [low_k, high_k] of candidates, each within the next: distance `first + k`
    where k is the first that holds a candidate."""
    level = np.arange(first, first + len(low))
    start = np.concatenate([low[::-1], high[:-1] + 1])
    count = np.concatenate([low[-2::-1] - low[:0:-1], [high[0] - low[0] + 1], high[1:] - high[:-1]])
    return merged(start, count, np.concatenate([level[::-1], level[1:]]))


def filled(start: Ints, count: Ints, distance: Ints) -> tuple[Ints, Ints, Ints]:
    """Drop runs without candidates."""
    if count.all():
        return start, count, distance
    full = count > 0
    return start[full], count[full], distance[full]


def merged(start: Ints, count: Ints, distance: Ints) -> tuple[Ints, Ints, Ints]:
    """Drop runs without candidates and join neighboring runs of equal distance."""
    start, count, distance = filled(start, count, distance)
    if not len(distance):
        return start, count, distance
    begin = np.flatnonzero(np.diff(distance, prepend=distance[0] - 1))
    return start[begin], np.add.reduceat(count, begin), distance[begin]
