"""The slope: Theil-Sen over all pairs."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from typing import Any, Literal

import numpy as np

from duffdp.domain import Grid, Ints, PublicSet
from duffdp.engines.pairs import LARGEST, Pairs
from duffdp.errors import BoundsError, DuffError
from duffdp.statistics.pair_slopes import MOST_STEPS, PairSlopes
from duffdp.steps import Batch, StepFunction, Tail, merged

PARTS = 16  # of a record: how finely the balance is counted
LISTED = (2**18, 2**22)  # changes of the balance that are listed at once: 16 a record, within these
MOST_LISTED = 2**25  # in one window, about; the rest is left to the tail

LEAST_STEP = 2.0**-250  # so that at most one candidate beside 0 counts as 0

Utility = Literal["distance", "balance"]


class Slope:
    """The slope of y over x: the median of the slopes of all pairs of records.

    A candidate b is the slope if as many pairs have a slope above b as below. Let Q be the one
    number less the other. With n records, k more change Q by at most k n + k (k - 1) / 2, and the
    distance of b is the least k for which that is |Q| or more.

    Parameters
    ----------
    utility
        "distance": in whole records. "balance": the same in sixteenths of a record, which is more
        accurate where epsilon is large.

    Privacy
    -------
    Changes by at most 1 when one record joins or leaves; rate 1/2 (`tests/slope_test.py`). The
    candidates are public; x and y need no bounds.

    Utility
    -------
    Of n records with pairs whose slopes have the density f at their median, the answer errs by
    about 1 / (f n epsilon) beside the error of the sample.

    Runtime
    -------
    Pairs of records are listed as far as the law needs them, about 100 n / epsilon of them and
    some 2**24 at most, and all records are sorted a few dozen times. `steps` lists all pairs.

    References
    ----------
    Sen, "Estimates of the regression coefficient based on Kendall's tau" (JASA 1968); Alabi,
    McMillan, Sarathy, Smith and Vadhan, "Differentially private simple linear regression" (PETS
    2022); the proof in `docs/theory.md`.

    Examples
    --------
    >>> import duffdp
    >>> records = [(0, 0), (1, 1), (2, 2), (3, 9)]
    >>> steps = duffdp.statistics.Slope().steps(records, duffdp.Grid(-1, 4, 1))
    >>> [steps.distance_at(b) for b in range(-1, 5)]
    [2, 2, 1, 0, 1, 1]
    """

    rate = Fraction(1, 2)

    def __init__(self, utility: Utility = "distance") -> None:
        if utility not in ("distance", "balance"):
            raise DuffError(f'utility must be "distance" or "balance", got {utility!r:.40}.')
        self.utility: Utility = utility
        self._parts = PARTS if utility == "balance" else 1
        self.unit = Fraction(1, self._parts)

    def steps(self, values: Iterable[Any], domain: Grid) -> StepFunction:
        """The distance of every candidate of the domain; `values` are pairs of x and y."""
        check_candidates(domain)
        slopes = PairSlopes(Pairs.of_records(values), domain)
        return self._steps(slopes, domain, self._level(slopes.records, slopes.count))

    def windows(self, columns: Sequence[Pairs], domain: Grid, max_distance: float) -> Batch:
        """The candidates up to the distance `max_distance` beyond one that is near, and the rest
        as a tail.
        """
        return Batch.of([self._window(pairs, domain, max_distance) for pairs in columns])

    def _window(self, pairs: Pairs, domain: Grid, max_distance: float) -> StepFunction:
        slopes = PairSlopes(pairs, domain)
        most = self._level(slopes.records, slopes.count)
        if 2 * slopes.count > _at_once(slopes):
            beyond = min(max_distance, MOST_LISTED / (2 * slopes.records)) * self._parts
            most = min(most, self._near(slopes, domain, beyond / 4) + math.ceil(beyond))
        return self._steps(slopes, domain, most)

    def _near(self, slopes: PairSlopes, domain: Grid, enough: float) -> int:
        """The level of a candidate: at most `enough`, or about the least there is."""
        low, high, least = -1, domain.size, math.inf
        while high - low > 1 and slopes.balance(low) - slopes.balance(high) > _at_once(slopes):
            middle = (low + high) // 2
            balance = slopes.balance(middle)
            least = min(least, self._level(slopes.records, balance))
            if least <= enough:
                break
            low, high = (middle, high) if balance > 0 else (low, middle)
        return int(least)

    def _steps(self, slopes: PairSlopes, domain: Grid, most: int) -> StepFunction:
        """The candidates up to a level, and the rest, if there is one, as a tail."""
        n, parts = slopes.records, self._parts
        level = np.arange(most + 1)
        # As large as the balance can be at each level; without a record it is 0.
        reach = level * (level + parts * (2 * n - 1)) // (2 * parts**2)
        reach = np.maximum.accumulate(reach)

        def level_of(balance: Ints) -> Ints:
            """With the sign of the balance; one more than `most` for all that is beyond."""
            return np.sign(balance) * np.searchsorted(reach, np.abs(balance))

        runs = list(_runs(slopes, domain.size, level_of))
        begin, signed = (np.concatenate(part) for part in zip(*runs, strict=True))
        by_place = np.argsort(begin, kind="stable")
        begin, distance = begin[by_place], np.abs(signed[by_place])
        start, count, distance = merged(begin, np.diff(begin, append=domain.size), distance)
        inside = distance <= most
        start, count, distance = start[inside], count[inside], distance[inside]
        tail = None
        if left := domain.size - int(count.sum()):

            def distance_of(index: int) -> int:
                return self._level(n, slopes.balance(index))

            tail = Tail(int(start[0]), int(start[-1] + count[-1]) - 1, left, most + 1, distance_of)
        return StepFunction(domain, start, count, distance, self.unit, self.rate, tail)

    def _level(self, n: int, balance: int) -> int:
        """The distance in parts of a record: the least k with k**2 + k parts (2 n - 1) of at least
        2 parts**2 |balance|.
        """
        linear, wanted = self._parts * (2 * n - 1), 2 * self._parts**2 * abs(balance)
        if wanted == 0:
            return 0
        level = (math.isqrt(linear**2 + 4 * wanted) - linear) // 2
        return level + (level * (level + linear) < wanted)

    def __repr__(self) -> str:
        return "Slope()" if self.utility == "distance" else f"Slope({self.utility!r})"


def check_candidates(domain: PublicSet) -> None:
    """Refuse candidates that are no numbers, or that doubles cannot tell apart well enough."""
    if not isinstance(domain, Grid) or domain.timed:
        raise BoundsError(
            f"the bounds of a slope are two numbers, got {domain!r:.80}. Pass for example "
            "bounds=(-10, 10)."
        )
    largest = max(abs(domain.value(0)), abs(domain.value(domain.size - 1)))
    if largest > LARGEST or domain.spacing < LEAST_STEP:
        raise BoundsError(
            "the bounds of a slope lie within 2**300 of 0, with a step of at least 2**-250, got "
            f"{domain!r:.80}. Pass x and y in other units."
        )
    if float(largest) > MOST_STEPS * domain.spacing:
        raise BoundsError(
            "the step of a slope must be at least 2**-46 of the larger bound, got "
            f"{domain!r:.80}. Pass a larger step."
        )


def _at_once(slopes: PairSlopes) -> int:
    return min(max(LISTED[0], 16 * slopes.records), LISTED[1])


def _runs(
    slopes: PairSlopes, size: int, level_of: Callable[[Ints], Ints]
) -> Iterator[tuple[Ints, Ints]]:
    """Candidates from which on the level is another one, in any order, with that level.

    The balance never rises, so that two candidates of one level have none of another between them.
    """
    yield np.zeros(1, dtype=np.int64), level_of(np.array([slopes.count]))
    waiting = [(-1, size)]
    while waiting:
        low, high = waiting.pop()
        balances = slopes.balance(low), slopes.balance(high)
        before, after = level_of(np.array(balances)).tolist()
        if before == after:
            continue
        if high - low == 1:
            if high < size:
                yield np.array([high]), np.array([after])
        elif balances[0] - balances[1] <= _at_once(slopes):
            place, balance = slopes.changes(low, high)
            level = level_of(balance)
            new = np.diff(level, prepend=before) != 0
            yield place[new], level[new]
        else:
            middle = (low + high) // 2
            waiting += [(low, middle), (middle, high)]
