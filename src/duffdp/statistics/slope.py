"""Slope: the median of the slopes of all pairs of records (Theil-Sen)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from typing import Any, Literal

import numpy as np

from duffdp._engines.pairs import LARGEST_NUMBER, pairs_of_records, within_range
from duffdp._engines.requests import Engine, Inquiry, PairRecords, Pairs, ask, run_inquiry
from duffdp._parameters import X, Y
from duffdp._steps import StepFunction, Tail, Windows, certain, merged
from duffdp.domain import Array, Floats, Grid, Ints, PublicSet
from duffdp.errors import Argument, BoundsError, DuffError
from duffdp.statistics.program import DrawSpec, ReleaseProgram
from duffdp.statistics.records import ONE_GROUP
from duffdp.statistics.spec import DrawSettings, Parameters, StatisticSpec
from duffdp.statistics.statistic import DistanceStatistic, Scope

PARTS_PER_RECORD = 16  # how finely the balance is counted
# Changes of the balance that are listed at once: 16 for each record, within these.
LISTED_AT_ONCE = (2**18, 2**22)
MAX_WINDOW_LISTED = 2**25  # in one window, about; the rest is left to the tail
MIN_SLOPE_STEP = 2.0**-250  # so that at most one candidate beside 0 counts as 0
# Error of a slope's place between the candidates, by the largest candidate over the step. Three
# roundings of the slope, and eight of the places of candidates, come to 11 * 2**-53 at most: a
# third of it.
PLACE_ROUNDING = 2.0**-48
# From 0 to the largest candidate: rounding is then at most a quarter of a step.
MAX_STEPS_FROM_ZERO = 2**46
COMPARED_NEIGHBORS = 64  # are compared one with another before halves are merged
SPLIT_FACTOR = 2.0**27 + 1  # splits a double into halves (Veltkamp)

Utility = Literal["distance", "balance"]
Residuals = tuple[Floats, Floats, Floats]


class Slope(DistanceStatistic):
    """The slope of y over x: the median of the slopes of all pairs of records.

    A candidate b is the slope if as many pairs have a slope above b as below. Let Q be the
    difference of these two numbers. With n records, k added records change Q by at most `k (n +
    (k-1) / 2)`. The distance of b is the least k for which this is at least |Q|.

    Parameters
    ----------
    utility
        "distance": in whole records. "balance": the same in sixteenths of a record, which is more
        accurate for a large epsilon.

    Privacy
    -------
    The distance changes by at most 1 when one record is added or removed, so its rate is 1/2
    (`tests/statistics/slope_test.py`). The candidates are public; x and y need no bounds.

    Utility
    -------
    For n records whose pairs have slopes with the density f at their median, the error is about 2 /
    (f n epsilon), in addition to the sampling error.

    Runtime
    -------
    About 100 n / epsilon pairs of records are listed, at most some 2**24. All records are sorted a
    few dozen times. `steps` lists all pairs.

    References
    ----------
    Sen, "Estimates of the regression coefficient based on Kendall's tau" (JASA 1968); Alabi,
    McMillan, Sarathy, Smith and Vadhan, "Differentially private simple linear regression" (PETS
    2022); the proof in `docs/explanation/statistics.md`.

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
        self._parts = PARTS_PER_RECORD if utility == "balance" else 1
        self.unit = Fraction(1, self._parts)

    def steps(self, values: Iterable[Any], domain: Grid) -> StepFunction:
        """The distance of every candidate of the domain; `values` are pairs of x and y."""
        check_candidates(domain)
        slopes = PairSlopes(pairs_of_records(values), domain)
        return self._steps(slopes, domain, self._level(slopes.records, slopes.count))

    def windows(self, scope: Scope, max_distance: float) -> Inquiry[Windows]:
        """The candidates up to the distance `max_distance` beyond one that is near, and the rest
        as tails.
        """
        groups = yield from ask(PairRecords())
        return Windows.of([self._window(pairs, scope.grid, max_distance) for pairs in groups])

    def _window(self, pairs: Pairs, domain: Grid, max_distance: float) -> StepFunction:
        slopes = PairSlopes(pairs, domain)
        max_level = self._level(slopes.records, slopes.count)
        if 2 * slopes.count > _at_once(slopes):
            margin = min(max_distance, MAX_WINDOW_LISTED / (2 * slopes.records)) * self._parts
            max_level = min(
                max_level, self._near_level(slopes, domain, margin / 4) + math.ceil(margin)
            )
        return self._steps(slopes, domain, max_level)

    def _near_level(self, slopes: PairSlopes, domain: Grid, target: float) -> int:
        """The level of a candidate: at most `target`, or about the least there is."""
        low, high, least = -1, domain.size, math.inf
        while high - low > 1 and slopes.balance(low) - slopes.balance(high) > _at_once(slopes):
            middle = (low + high) // 2
            balance = slopes.balance(middle)
            least = min(least, self._level(slopes.records, balance))
            if least <= target:
                break
            low, high = (middle, high) if balance > 0 else (low, middle)
        return int(least)

    def _steps(self, slopes: PairSlopes, domain: Grid, max_level: int) -> StepFunction:
        """The candidates up to a level, and the rest, if there is one, as a tail."""
        n, parts = slopes.records, self._parts
        level = np.arange(max_level + 1)
        # As large as the balance can be at each level; without a record it is 0.
        reach = level * (level + parts * (2 * n - 1)) // (2 * parts**2)
        reach = np.maximum.accumulate(reach)

        def level_of(balance: Ints) -> Ints:
            """With the sign of the balance; one more than `max_level` for all that is beyond."""
            return np.sign(balance) * np.searchsorted(reach, np.abs(balance))

        runs = list(_runs(slopes, domain.size, level_of))
        begin, signed = (np.concatenate(part) for part in zip(*runs, strict=True))
        by_place = np.argsort(begin, kind="stable")
        begin, distance = begin[by_place], np.abs(signed[by_place])
        start, count, distance = merged(begin, np.diff(begin, append=domain.size), distance)
        inside = distance <= max_level
        start, count, distance = start[inside], count[inside], distance[inside]
        tail = None
        if outside := domain.size - int(count.sum()):

            def inquire(index: int) -> Inquiry[int]:
                return certain(self._level(n, slopes.balance(index)))

            tail = Tail(
                int(start[0]), int(start[-1] + count[-1]) - 1, outside, max_level + 1, inquire
            )
        return StepFunction(domain, start, count, distance, self.unit, self.rate, tail)

    def _level(self, n: int, balance: int) -> int:
        """The distance in parts of a record: the least k with k**2 + k parts (2 n - 1) of at least
        2 parts**2 |balance|.
        """
        linear, target = self._parts * (2 * n - 1), 2 * self._parts**2 * abs(balance)
        if target == 0:
            return 0
        level = (math.isqrt(linear**2 + 4 * target) - linear) // 2
        return level + (level * (level + linear) < target)

    def __repr__(self) -> str:
        return "Slope()" if self.utility == "distance" else f"Slope({self.utility!r})"


def check_candidates(domain: PublicSet) -> None:
    """Refuse candidates that are no numbers, or that doubles cannot distinguish well enough."""
    if not isinstance(domain, Grid) or domain.timed:
        raise BoundsError(
            f"the bounds of a slope must be two numbers, got {domain!r:.80}. Pass for example ",
            Argument("bounds", (-10, 10)),
            ".",
        )
    largest = max(abs(domain.value(0)), abs(domain.value(domain.size - 1)))
    if largest > LARGEST_NUMBER or domain.spacing < MIN_SLOPE_STEP:
        raise BoundsError(
            "the bounds of a slope must be within 2**300 of 0, with a step of at least 2**-250, "
            "got "
            f"{domain!r:.80}. Pass x and y in other units."
        )
    if float(largest) > MAX_STEPS_FROM_ZERO * domain.spacing:
        raise BoundsError(
            "the step of a slope must be at least 2**-46 of the larger bound, got "
            f"{domain!r:.80}. Pass a larger step."
        )


def _at_once(slopes: PairSlopes) -> int:
    return min(max(LISTED_AT_ONCE[0], 16 * slopes.records), LISTED_AT_ONCE[1])


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


class PairSlopes:
    """The slopes of all pairs of records that differ in x.

    `balance(i)` is the number of slopes above candidate i less the number below: it never rises
    with i. Before the first candidate, at -1, all slopes lie above; after the last, all below.
    """

    def __init__(self, pairs: Pairs, grid: Grid) -> None:
        by_x = np.lexsort((pairs.y, pairs.x))
        self._x, self._y, self._grid = pairs.x[by_x], pairs.y[by_x], grid
        self.records = n = len(by_x)
        new_x = self._x[1:] != self._x[:-1]
        self._x_rank = np.concatenate([[0], np.cumsum(new_x)])[:n]
        alike = ~new_x
        self._twins = _tied_pairs(alike & (self._y[1:] == self._y[:-1]))
        self.count = n * (n - 1) // 2 - _tied_pairs(alike)
        self._balance = {-1: self.count, grid.size: -self.count}

    def balance(self, index: int) -> int:
        """Slopes above a candidate less slopes below it."""
        if index not in self._balance:
            keys = self._residuals(index)
            above = order(keys)
            # Of two records in the order of x, the residual falls if their slope lies below.
            below = count_inversions(above)
            equal = _tied_pairs(equal_to_next(keys, above)) - self._twins
            self._balance[index] = self.count - 2 * below - equal
        return self._balance[index]

    def changes(self, low: int, high: int) -> tuple[Ints, Ints]:
        """The candidates after `low`, up to `high`, at which the balance is less than before, in
        order, and the balance there.
        """
        first = np.arange(self.records) if low < 0 else order(self._residuals(low))
        if high >= self._grid.size:
            last = np.lexsort((self._y, -self._x))
        else:
            last = order(self._residuals(high), -self._x_rank)
        rank = np.empty(self.records, dtype=np.int64)
        rank[last] = np.arange(self.records)
        # Whatever changes places between the two candidates has its slope there.
        left, right = list_inversions(rank[first])
        reached, passed = self._places(last[left], last[right])
        on_candidates = (reached != passed).any()
        reached = self._between(reached, low, high)
        reached.sort()
        if not on_candidates:
            ends = np.flatnonzero(np.diff(reached, append=-1))
            return reached[ends], self.balance(low) - 2 * (ends + 1)
        passed = self._between(passed, low, high)
        passed.sort()
        places = np.union1d(reached, passed)
        fallen = np.searchsorted(reached, places, side="right")
        fallen += np.searchsorted(passed, places, side="right")
        return places.astype(np.int64), self.balance(low) - fallen.astype(np.int64)

    def _between(self, places: Ints, low: int, high: int) -> Ints:
        return places[(places > low) & (places <= min(high, self._grid.size - 1))]

    def _places(self, first_record: Ints, second_record: Ints) -> tuple[Ints, Ints]:
        """For each pair the first candidate at or above its slope, and the first above."""
        grid, x, y = self._grid, self._x, self._y
        with np.errstate(over="ignore"):
            slope = (y[second_record] - y[first_record]) / (x[second_record] - x[first_record])
        low, high = abs(float(grid.value(0))), abs(float(grid.value(grid.size - 1)))
        place = np.clip((slope - float(grid.value(0))) / grid.spacing, -1, grid.size)
        after = np.floor(place).astype(np.int64) + 1
        nearest = np.rint(place).astype(np.int64)
        unsure = np.abs(place - nearest) <= PLACE_ROUNDING * max(low, high) / grid.spacing
        unsure &= (nearest >= 0) & (nearest < grid.size)
        first_above = after.copy()
        if unsure.any():
            nearest, first_record, second_record = (
                nearest[unsure],
                first_record[unsure],
                second_record[unsure],
            )
            different, position = np.unique(nearest, return_inverse=True)
            b = self._candidates(different.tolist())[position]
            first_residual, second_residual = (
                residuals(x[first_record], y[first_record], b),
                residuals(x[second_record], y[second_record], b),
            )
            side = compare(second_residual, first_residual)
            after[unsure], first_above[unsure] = nearest + (side > 0), nearest + (side >= 0)
        return after, first_above

    def _residuals(self, index: int) -> Residuals:
        return residuals(self._x, self._y, self._candidates([index]))

    def _candidates(self, indices: list[int]) -> Floats:
        """The double nearest to each candidate, which stands for it."""
        return within_range(np.array([self._grid.value(i) for i in indices], dtype=np.float64))


def _tied_pairs(equal_to_following: Ints) -> int:
    """The number of equal pairs in a sorted row, where each says if the next equals it."""
    ends = np.flatnonzero(~np.concatenate([equal_to_following, [False]]))
    sizes = np.diff(ends, prepend=-1)
    return int((sizes * (sizes - 1)).sum()) // 2


# Residuals y - b x without rounding: sums of three doubles that compare like the numbers they stand
# for. Every step is exact for x, y and b that are 0 or between 2**-300 and 2**300: nothing in it is
# too large or too small for a double.


def residuals(x: Floats, y: Floats, b: Floats) -> Residuals:
    """y - b x: the nearest double, the double nearest to its error, and the rest."""
    product, error = _product(x, b)
    first, second = _sum(y, -product)
    second, third = _sum(second, -error)
    for _ in range(2):
        first, second = _sum(first, second)
        second, third = _sum(second, third)
    # Halfway between two doubles, and the rest leads on: the other one is nearer.
    onward = (third != 0) & (np.sign(second) == np.sign(third))
    past_half = onward & ((first + 2 * second) - first == 2 * second)
    first = np.where(past_half, first + 2 * second, first)
    second, third = _sum(np.where(past_half, -second, second), third)
    return first, second, third


def order(keys: Residuals, ties: Ints | None = None) -> Ints:
    """Positions by residual; equal ones by `ties`, and otherwise in their old order."""
    by_first = np.argsort(keys[0])
    ordered = keys[0][by_first]
    if (ordered[1:] != ordered[:-1]).all():
        return by_first
    first, second, third = keys
    columns = (third, second, first) if ties is None else (ties, third, second, first)
    return np.lexsort(columns)


def equal_to_next(keys: Residuals, positions: Ints) -> Array:
    """True for each residual in this order that equals the one that follows."""
    first, second, third = (part[positions[1:]] == part[positions[:-1]] for part in keys)
    equal: Array = first & second & third
    return equal


def compare(first: Residuals, second: Residuals) -> Ints:
    """-1, 0 or 1 as one is below, equal to or above the other."""
    sign = np.zeros(len(first[0]), dtype=np.int64)
    for a, b in zip(first, second, strict=True):
        sign = np.where(sign == 0, (a > b).astype(np.int64) - (a < b), sign)
    return sign


def _sum(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """The rounded sum and its error (Knuth)."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def _product(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """The rounded product and its error (Dekker, Veltkamp)."""
    product = a * b
    (a_high, a_low), (b_high, b_low) = _halves(a), _halves(b)
    error = ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low
    return product, error


def _halves(a: Floats) -> tuple[Floats, Floats]:
    """The leading 26 digits and the rest."""
    shifted = SPLIT_FACTOR * a
    high = shifted - (shifted - a)
    return high, a - high


# Inversions of a permutation of 0, 1, 2, ...: pairs in the wrong order, counted or listed.


def count_inversions(permutation: Ints) -> int:
    """The number of pairs in the wrong order.

    Positions and values are cut into blocks. A table of how many fall into each pair of blocks
    counts the pairs that differ in both; the others are compared one by one.
    """
    size = len(permutation)
    width = 1 << (((40 * size).bit_length() + 2) // 3)  # table and comparisons take alike
    blocks = -(-size // width)
    place, value = np.arange(size) // width, permutation // width
    table = np.bincount(place * blocks + value, minlength=blocks * blocks).reshape(blocks, blocks)
    later = np.cumsum(table[::-1], axis=0)[::-1] - table
    lower = np.cumsum(later, axis=1) - later
    in_both = int((table * lower).sum())
    inverse = np.empty(size, dtype=np.int64)
    inverse[permutation] = place
    return in_both + sum(
        int(np.count_nonzero(rows[:, :-gap] > rows[:, gap:]))
        for rows in (_rows(permutation, width), _rows(inverse, width))
        for gap in range(1, width)
    )


def list_inversions(permutation: Ints) -> tuple[Ints, Ints]:
    """All pairs in the wrong order: the larger values, which come first, and the smaller ones."""
    blocks = -(-len(permutation) // COMPARED_NEIGHBORS)
    rows = _rows(permutation, COMPARED_NEIGHBORS << (blocks - 1).bit_length()).reshape(
        -1, COMPARED_NEIGHBORS
    )
    pairs = [*_within_rows(rows), *_between_rows(np.sort(rows, axis=1))]
    larger, smaller = (np.concatenate(part) for part in zip(*pairs, strict=True))
    return larger.astype(np.int64), smaller.astype(np.int64)


def _rows(values: Ints, width: int) -> Array:
    """Values in rows of this width, filled up with larger ones that are in order."""
    size = len(values)
    filled = np.concatenate([values, np.arange(size, size + -size % width)])
    narrow = np.int32 if len(filled) < 2**31 else np.int64
    return filled.astype(narrow).reshape(-1, width)


def _within_rows(rows: Array) -> Iterator[tuple[Array, Array]]:
    for gap in range(1, rows.shape[1]):
        inverted = rows[:, :-gap] > rows[:, gap:]
        yield rows[:, :-gap][inverted], rows[:, gap:][inverted]


def _between_rows(rows: Array) -> Iterator[tuple[Array, Array]]:
    """Sorted rows are merged two by two; what is larger than a value of the right one is the end of
    the left one.
    """
    while len(rows) > 1:
        first_rows, second_rows = rows[::2], rows[1::2]
        pairs, width = first_rows.shape
        shift = (np.arange(pairs, dtype=np.int64) * rows.size)[:, None]
        begin = np.searchsorted((first_rows + shift).reshape(-1), (second_rows + shift).reshape(-1))
        times = np.repeat(np.arange(1, pairs + 1) * width, width) - begin
        inverted = np.flatnonzero(times)
        times = times[inverted]
        place = np.repeat(begin[inverted] - np.cumsum(times) + times, times) + np.arange(
            times.sum()
        )
        yield first_rows.reshape(-1)[place], np.repeat(second_rows.reshape(-1)[inverted], times)
        rows = np.sort(rows.reshape(pairs, 2 * width), axis=1)


class SlopeSpec(StatisticSpec):
    """The slope of one column over another."""

    name = "slope"
    parameters = (X, Y)
    of_pairs = True
    no_interval_reason = (
        "the distribution of the slopes of pairs is private. Use quantiles of either column"
    )

    def program(self, parameters: Parameters, settings: DrawSettings) -> ReleaseProgram:
        """In parts of a record, or in whole records by the paper's mechanism."""
        if settings.choice == "duff":
            return ReleaseProgram.by_distance(Slope(), self.name, settings.choice)
        balance = Slope("balance")
        draw = DrawSpec(balance, "permute-and-flip", (self.name,), utility="balance")
        return ReleaseProgram((draw,))

    def exact(self, parameters: Parameters, engine: Engine, domain: PublicSet) -> Sequence[object]:
        """The candidate in the middle of those that divide the slopes of all pairs best."""
        assert isinstance(domain, Grid)
        windows = run_inquiry(Slope("balance").windows(Scope(domain), 1.0), engine, ONE_GROUP)
        steps = windows[0]
        best = int(steps.distance.argmin())
        return [domain.value(int(steps.start[best]) + (int(steps.count[best]) - 1) // 2)]

    def check_domain(self, parameters: Parameters, domain: PublicSet) -> None:
        check_candidates(domain)

    def title(self, parameters: Parameters) -> str:
        return f"Slope of {Y.of(parameters)} over {X.of(parameters)}" if parameters else "Slope"


SPECS = (SlopeSpec(),)
