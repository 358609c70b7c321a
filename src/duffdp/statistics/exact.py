"""What every statistic is of records, without noise: not private, for planning with public ones."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from duffdp.domain import Grid, Ints, PublicSet
from duffdp.engines.pairs import Pairs
from duffdp.engines.source import Tally
from duffdp.statistics.iqr import QUARTILES
from duffdp.statistics.quantiles import SUMMARY
from duffdp.statistics.slope import Slope

Given = Mapping[str, Any]  # the checked parameters
HALF = Fraction(1, 2)


def quantile(given: Given, source: Tally, domain: Grid) -> list[Any]:
    """The record with the rank max(1, ceil(q n)); the lower bound if there is none."""
    return quantiles({"qs": (given.get("q", HALF),)}, source, domain)


def quantiles(given: Given, source: Tally, domain: Grid) -> list[Any]:
    """Several of them."""
    return [domain.value(place) for place in _places(given["qs"], source)]


def iqr(_: Given, source: Tally, domain: Grid) -> list[Any]:
    """The third quartile minus the first."""
    first, third = _places(QUARTILES, source)
    return [domain.difference(third - first)]


def mean(_: Given, source: Tally, domain: Grid) -> list[Any]:
    """Of numbers exactly, of dates and times the nearest candidate; without records the middle."""
    index, count = _whole(source)
    return [_mean_value(domain, index, count)]


def trimmed_mean(given: Given, source: Tally, domain: Grid) -> list[Any]:
    """The mean of what is left when floor(trim n) records are cut off at either end."""
    index, count = source.tally()
    n = int(count.sum())
    cut = math.floor(given["trim"] * n)
    upto = np.clip(np.cumsum(count), cut, n - cut)
    kept = np.diff(upto, prepend=cut)
    return [_mean_value(domain, index.astype(object), kept.astype(object))]


def sum_of(_: Given, source: Tally, domain: Grid) -> list[Any]:
    """The sum, in the kind of the bounds."""
    index, count = _whole(source)
    low, step = domain.units
    return [domain.multiple(int(count.sum()) * low + int((index * count).sum()) * step)]


def variance(_: Given, source: Tally, domain: Grid) -> list[Any]:
    """The mean squared distance from the mean; 0 without records."""
    return [float(_variance(source) / domain.index_units(Fraction(1)) ** 2)]


def std(_: Given, source: Tally, domain: Grid) -> list[Any]:
    """The root of the variance, a duration for dates and times."""
    return [domain.length(math.sqrt(_variance(source)))]


def top(given: Given, source: Tally, domain: Any) -> list[Any]:
    """The most common values in falling order, the first candidates first among equals."""
    order = np.argsort(-_cells(source, domain), kind="stable")
    return [domain.value(place) for place in order[: given["k"]].tolist()]


def mode(_: Given, source: Tally, domain: Any) -> list[Any]:
    """The most common value, the first of several."""
    index, count = source.tally()
    return [domain.value(int(index[count.argmax()]) if len(index) else 0)]


def cells(_: Given, source: Tally, domain: PublicSet) -> list[Any]:
    """The number of records in every cell."""
    counts: list[Any] = _cells(source, domain).tolist()
    return counts


def count(_: Given, source: Tally, domain: PublicSet) -> list[Any]:
    """The number of records that are not missing."""
    return [int(source.tally()[1].sum())]


def summary(_: Given, source: Tally, domain: Grid) -> list[Any]:
    """Count, mean where candidates are evenly spaced, and quantiles."""
    qs = tuple(SUMMARY.values())
    means = mean({}, source, domain) if isinstance(domain, Grid) else []
    return [*count({}, source, domain), *means, *quantiles({"qs": qs}, source, domain)]


def share(_: Given, source: Tally, domain: PublicSet) -> list[Any]:
    """How many of the records are inside, one half without records."""
    inside, outside = _cells(source, domain).tolist()
    return [inside / (inside + outside) if inside + outside else 0.5]


def slope(_: Given, source: Pairs, domain: Grid) -> list[Any]:
    """The candidate in the middle of those that divide the slopes of all pairs best."""
    steps = Slope("balance").windows([source], domain, 1.0)[0]
    best = int(steps.distance.argmin())
    return [domain.value(int(steps.start[best]) + (int(steps.count[best]) - 1) // 2)]


def _whole(source: Tally) -> tuple[Any, Any]:
    """Distinct places and their counts as numbers without an end."""
    index, count = source.tally()
    return index.astype(object), count.astype(object)


def _places(qs: tuple[Fraction, ...], source: Tally) -> list[int]:
    index, count = source.tally()
    upto = np.cumsum(count)
    if not len(index):
        return [0] * len(qs)
    ranks = [max(1, math.ceil(q * int(upto[-1]))) for q in qs]
    return [int(index[np.searchsorted(upto, rank)]) for rank in ranks]


def _cells(source: Tally, domain: PublicSet) -> Ints:
    counts = np.zeros(domain.size, dtype=np.int64)
    index, count = source.tally()
    counts[index] = count
    return counts


def _mean_value(domain: Grid, index: Any, count: Any) -> Any:
    n = int(count.sum())
    place = Fraction(int((index * count).sum()), n) if n else Fraction(domain.size - 1, 2)
    return domain.value(math.floor(place + HALF)) if domain.timed else domain.number_at(place)


def _variance(source: Tally) -> Fraction:
    """In squares of steps."""
    index, count = _whole(source)
    n, total = int(count.sum()), int((index * count).sum())
    if not n:
        return Fraction(0)
    return Fraction(int((index**2 * count).sum()), n) - Fraction(total, n) ** 2
