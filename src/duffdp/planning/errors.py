"""How far what is released is from the truth: a law of errors, exact or from weighted points."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from duffdp.domain import Categories, Floats, PublicSet
from duffdp.mechanisms.law import Law
from duffdp.statistics.entry import Column

PIECES = 16  # of a run, between which what is released of a candidate is a straight line
MOST_PIECES = 2**10
DIGITS = 12  # of an error
SLACK = 1e-12  # what rounding may do to an error, as a share of the numbers
LEAST_STEP = 1e-300  # between candidates that doubles do not tell apart
NEGLIGIBLE = 1e-15  # what a run weighs that is left out


class Errors(Protocol):
    """The law of an error."""

    def expected_error(self) -> float:
        """Its mean."""

    def tail(self, t: float) -> float:
        """The probability that it is more than t."""

    def deviation(self, share: float) -> float:
        """How far above the truth the released number is where the probabilities of all below it
        add up to this share; negative if it is below.
        """


class LawErrors:
    """The errors of a mechanism that says its own."""

    def __init__(self, law: Any, target: Any) -> None:
        self._law, self._target = law, target

    def expected_error(self) -> float:
        return float(self._law.expected_error(self._target))

    def tail(self, t: float) -> float:
        return float(self._law.tail(self._target, t))

    def deviation(self, share: float) -> float:
        law, column = self._law, Column("")
        at = [position(column, law.domain, value) for value in (law.quantile(share), self._target)]
        return at[0] - at[1]


class CandidateErrors:
    """The errors of a number that is made of one candidate and rises with it.

    Parameters
    ----------
    law
        Of the candidate.
    position
        Of what is released for a candidate, as a number.
    target
        That of the truth.
    """

    def __init__(self, law: Law, position: Callable[[int], float], target: float) -> None:
        start, count, mass = law.runs()
        heavy = mass > NEGLIGIBLE
        start, count, mass = start[heavy], count[heavy], mass[heavy]
        pieces = np.minimum(count, max(1, min(PIECES, MOST_PIECES // len(count))))
        run = np.repeat(np.arange(len(count)), pieces)
        each = np.arange(len(run)) - np.repeat(np.cumsum(pieces) - pieces, pieces)
        cuts = [
            (start[run] + _share(count[run], each + i, pieces[run])).astype(np.int64)
            for i in (0, 1)
        ]
        self._count = cuts[1] - cuts[0]
        self._mass = mass[run] * (self._count / count[run])
        first = np.array([position(i) for i in cuts[0].tolist()])
        last, longer = first.copy(), self._count > 1
        last[longer] = [position(i) for i in (cuts[1] - 1)[longer].tolist()]
        self._slack = SLACK * max(abs(target), float(np.abs(last).max()))
        self._first, self._last = first - target, last - target
        # What lies between two candidates of a piece; anything where there is but one.
        self._step = np.where(longer, (last - first) / np.maximum(self._count - 1, 1), 1.0)
        self._step[self._step <= 0] = LEAST_STEP

    def expected_error(self) -> float:
        first, last, count, step = self._first, self._last, self._count, self._step
        with np.errstate(over="ignore"):
            below = np.clip(np.ceil(-first / step), 0, count)
        above = count - below
        # Two arithmetic series, one on either side of the truth.
        sums = below * (-first) - step * below * (below - 1) / 2
        sums += above * last - step * above * (above - 1) / 2
        return float(self._mass @ (sums / count))

    def tail(self, t: float) -> float:
        reach = t + self._slack
        with np.errstate(over="ignore"):
            low = np.clip(np.ceil((-reach - self._first) / self._step), 0, self._count)
            high = np.clip(np.floor((reach - self._first) / self._step) + 1, 0, self._count)
        return float(self._mass @ (1 - np.maximum(high - low, 0) / self._count))

    def deviation(self, share: float) -> float:
        upto = np.cumsum(self._mass)
        share *= upto[-1]
        run = min(int(np.searchsorted(upto, share, side="right")), len(upto) - 1)
        inside = (share - (upto[run] - self._mass[run])) / self._mass[run] * self._count[run]
        place = min(max(int(inside), 0), int(self._count[run]) - 1)
        return float(self._first[run] + place * self._step[run])


class PointErrors:
    """Differences to the truth with their probabilities; `scale` is the size of the numbers that
    they are differences of, which says what of them is rounding.
    """

    def __init__(self, deviations: Floats, weights: Floats, scale: float) -> None:
        digits = DIGITS - math.ceil(math.log10(scale)) if scale else DIGITS
        self._deviations, weights = np.round(deviations, digits), weights / weights.sum()
        self._weights, errors = weights, np.abs(self._deviations)
        order = np.argsort(errors)
        self._errors, weights = errors[order], weights[order]
        self._mean = float(self._errors @ weights)
        self._beyond = np.append(np.cumsum(weights[::-1])[::-1], 0.0)

    def expected_error(self) -> float:
        return self._mean

    def tail(self, t: float) -> float:
        return float(self._beyond[np.searchsorted(self._errors, t, side="right")])

    def deviation(self, share: float) -> float:
        order = np.argsort(self._deviations)
        upto = np.cumsum(self._weights[order])
        at = min(int(np.searchsorted(upto, share * upto[-1], side="right")), len(order) - 1)
        return float(self._deviations[order[at]])


def positions(column: Column, domain: PublicSet, values: Sequence[Any]) -> Floats:
    """Released values as numbers that errors are differences of: days and seconds for dates and
    times.
    """
    return np.array([position(column, domain, value) for value in values])


def position(column: Column, domain: Any, value: Any) -> float:
    """One released value as a number."""
    if isinstance(value, dt.timedelta):
        return value / dt.timedelta(**({"days": 1} if domain.kind == "date" else {"seconds": 1}))
    if isinstance(value, dt.date):
        return float(domain.place(value) * domain.spacing)
    return float(value)


def point_errors(
    column: Column, domain: PublicSet, values: Sequence[Any], weights: Floats, truth: Any
) -> PointErrors:
    """The errors of values with their probabilities; 1 for a category that is another one."""
    if column.kind == "candidate" and isinstance(domain, Categories):
        wrong = np.array([float(value != truth) for value in values])
        return PointErrors(wrong, weights, 1.0)
    target, found = position(column, domain, truth), positions(column, domain, values)
    largest = max(abs(target), float(np.abs(found).max()))
    return PointErrors(found - target, weights, largest)


def _share(count: Any, part: Any, parts: Any) -> Any:
    """So many parts of a number of candidates, in whole ones."""
    whole, rest = np.divmod(count, parts)
    return whole * part + rest * part // parts
