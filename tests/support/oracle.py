"""Distances by searching all data sets within reach. Slow, short, and written from the definitions
alone.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import lru_cache


@lru_cache(maxsize=64)
def data_sets(size: int, most: int) -> list[tuple[int, ...]]:
    """All data sets with up to `most` records on 0 .. size-1, as counts of each value."""
    found = []
    for n in range(most + 1):
        for bars in itertools.combinations(range(n + size - 1), size - 1):
            edges = (-1, *bars, n + size - 1)
            found.append(tuple(b - a - 1 for a, b in itertools.pairwise(edges)))
    return found


def records(counts: tuple[int, ...]) -> Iterator[int]:
    for value, count in enumerate(counts):
        yield from [value] * count


def quantile(q: Fraction) -> Callable[[tuple[int, ...]], set[int]]:
    def statistic(counts: tuple[int, ...]) -> set[int]:
        n = sum(counts)
        return {list(records(counts))[max(1, math.ceil(q * n)) - 1]} if n else set()

    return statistic


def mode(counts: tuple[int, ...]) -> set[int]:
    return {value for value, count in enumerate(counts) if count == max(counts)}


def mean(counts: tuple[int, ...]) -> set[int]:
    n = sum(counts)
    exact = Fraction(sum(records(counts)), n) if n else None
    return {int(exact)} if exact is not None and exact.denominator == 1 else set()


def depth(
    statistic: Callable[[tuple[int, ...]], set[int]], data: tuple[int, ...], size: int, x: int
) -> int:
    """The fewest records to add or remove until the statistic is x no more."""
    here = Counter(data)
    return min(
        sum(abs(count - here[value]) for value, count in enumerate(there))
        for there in data_sets(size, 2 * len(data) + 1)
        if x not in statistic(there)
    )


def distances(
    statistic: Callable[[tuple[int, ...]], set[int]],
    data: tuple[int, ...],
    size: int,
    join: bool = False,
) -> list[int]:
    """For every x the fewest records to add or remove until the statistic is x; with `join` at
    least one is added.
    """
    here = Counter(data)
    best = [10**9] * size
    for there in data_sets(size, 2 * len(data) + 1):
        added = sum(max(0, count - here[value]) for value, count in enumerate(there))
        removed = sum(max(0, here[value] - count) for value, count in enumerate(there))
        # let a copy of a record join and leave again
        cost = added + removed + (2 if join and added == 0 else 0)
        for x in statistic(there):
            best[x] = min(best[x], cost)
    return best


def trimmed_mean(counts: tuple[int, ...], trim: Fraction) -> Fraction | None:
    """The mean without floor(trim n) records at either end."""
    ordered = list(records(counts))
    cut = math.floor(trim * len(ordered))
    kept = ordered[cut : len(ordered) - cut]
    return Fraction(sum(kept), len(kept)) if kept else None


def reached(
    statistic: Callable[[tuple[int, ...]], Fraction | None], data: tuple[int, ...], size: int
) -> list[int]:
    """For every x the fewest changes after which some data set has the statistic at x or below and
    another one at x or above.
    """
    here = Counter(data)
    low: dict[int, Fraction] = {}
    high: dict[int, Fraction] = {}
    for there in data_sets(size, 2 * len(data) + 1):
        value = statistic(there)
        if value is not None:
            cost = sum(abs(count - here[place]) for place, count in enumerate(there))
            low[cost] = min(value, low.get(cost, value))
            high[cost] = max(value, high.get(cost, value))
    best = []
    for x in range(size):
        fewest = (
            k
            for k in sorted(low)
            if min(v for c, v in low.items() if c <= k)
            <= x
            <= max(v for c, v in high.items() if c <= k)
        )
        best.append(next(fewest))
    return best


def slope(records: list[tuple[float, float]], b: float, parts: int) -> Fraction:
    """The least multiple k of 1 / parts with k n + k (k - 1) / 2 of at least the number of pairs
    with a slope above b less that below, or the other way round.
    """
    balance = 0
    for (x1, y1), (x2, y2) in itertools.combinations(records, 2):
        if x1 != x2:
            each = (Fraction(y2) - Fraction(y1)) / (Fraction(x2) - Fraction(x1))
            balance += (each > Fraction(b)) - (each < Fraction(b))
    k, n = Fraction(0), len(records)
    while k * n + k * (k - 1) / 2 < abs(balance):
        k += Fraction(1, parts)
    return k


def reaches(
    statistic: Callable[[tuple[int, ...]], Fraction], data: tuple[int, ...], size: int
) -> tuple[list[Fraction], list[Fraction]]:
    """The lowest and the highest value within k changes, for every k up to the number of records
    and one.
    """
    here = Counter(data)
    ends: dict[int, list[Fraction]] = {}
    for there in data_sets(size, 2 * len(data) + 1):
        cost = sum(abs(count - here[place]) for place, count in enumerate(there))
        ends.setdefault(cost, []).append(statistic(there))
    levels = range(len(data) + 2)
    within = [[value for k in range(most + 1) for value in ends[k]] for most in levels]
    return list(map(min, within)), list(map(max, within))


def iqr(counts: tuple[int, ...]) -> Fraction:
    """The record of rank ceil(3 n / 4) minus that of rank ceil(n / 4); 0 of no record."""
    ordered = list(records(counts))
    n = len(ordered)
    return Fraction(ordered[-(-3 * n // 4) - 1] - ordered[-(-n // 4) - 1]) if n else Fraction(0)


def variance(counts: tuple[int, ...]) -> Fraction:
    """The mean squared distance from the mean; 0 of no record."""
    ordered = list(records(counts))
    mean = Fraction(sum(ordered), max(len(ordered), 1))
    return sum(((x - mean) ** 2 for x in ordered), Fraction(0)) / max(len(ordered), 1)
