"""Sorted records: runs of equal values, ranks of small arrays, and the order of groups."""

from __future__ import annotations

import numpy as np

from duffdp._engines.requests import Ranks
from duffdp.domain import Ints

MAX_SORTED = 2**14  # records up to which a sort is cheaper than a pass in chunks
SAMPLE = 2**8  # records that bracket ranks among many others
SAMPLE_ERROR = 20  # places by which a rank in such a sample is hardly ever off


def run_begins(ordered: Ints, *starts: Ints) -> Ints:
    """Positions at which runs of equal values begin in a sorted array, or in sorted pieces one
    after the other that begin at 0 and at `starts`.
    """
    first = np.empty(len(ordered), dtype=bool)
    first[:1] = True
    np.not_equal(ordered[1:], ordered[:-1], out=first[1:])
    for start in starts:
        first[start[start < len(ordered)]] = True
    return first.nonzero()[0]


def count_runs(ordered: Ints) -> tuple[Ints, Ints]:
    """Distinct values of a sorted array, and their counts."""
    begins = run_begins(ordered)
    counts = np.empty_like(begins)
    np.subtract(begins[1:], begins[:-1], out=counts[:-1])
    counts[-1:] = len(ordered) - begins[-1:]
    return ordered[begins], counts


def add_counts(values: Ints, counts: Ints) -> tuple[Ints, Ints]:
    """Distinct values in order with their counts, where values may occur more than once."""
    order = np.argsort(values, kind="stable")
    values, counts = values[order], counts[order]
    begins = run_begins(values)
    return values[begins], np.add.reduceat(counts, begins) if len(begins) else counts


def ranks_between(index: Ints, size: int, low: int, high: int) -> Ranks:
    """The values at the sorted positions from `low` to `high`, with all records at them. It may
    reorder the array.
    """
    total, before = len(index), 0
    if total > MAX_SORTED:
        index, before = _bracketed(index, low, high)
    index.sort()
    ranks = sorted_ranks(index, size, low - before, high - before)
    first, last = _ends(ranks.values, size, low, high, total)
    return ranks._replace(below=before + ranks.below, total=total, first=first, last=last)


def sorted_ranks(ordered: Ints, size: int, low: int, high: int) -> Ranks:
    """The values at these positions of sorted records, with all records at them."""
    total = len(ordered)
    begin = int(ordered.searchsorted(ordered[low])) if total else 0
    end = int(ordered.searchsorted(ordered[high], side="right")) if total else 0
    values, counts = count_runs(ordered[begin:end])
    return Ranks(values, counts, begin, total, *_ends(values, size, low, high, total))


def _bracketed(index: Ints, low: int, high: int) -> tuple[Ints, int]:
    """All records of some values that cover these positions, and how many lie before them: as a
    sample brackets them, or the whole array if it misses one.
    """
    total = len(index)
    sample = index[:: -(-total // SAMPLE)].copy()
    sample.sort()
    size = len(sample)
    before = low * size // total - SAMPLE_ERROR
    after = high * size // total + 1 + SAMPLE_ERROR
    inside = index >= (sample.item(before) if before >= 0 else 0)
    outside = total - int(np.count_nonzero(inside))
    if after < size:
        inside &= index <= sample.item(after)
    middle = index.take(inside.nonzero()[0])
    covers = outside <= low and high < outside + len(middle)
    return (middle, outside) if covers else (index, 0)


def trim(ranks: Ranks, size: int, low: int, high: int) -> Ranks:
    """Cut distinct values down to those at the sorted positions from `low` to `high`."""
    cumulative = ranks.below + np.cumsum(ranks.counts)
    begin = int(cumulative.searchsorted(low, side="right"))
    end = int(cumulative.searchsorted(high, side="right")) + 1
    below = int(cumulative[begin - 1]) if begin else ranks.below
    values, counts, total = ranks.values[begin:end], ranks.counts[begin:end], ranks.total
    return Ranks(values, counts, below, total, *_ends(values, size, low, high, total))


def _ends(values: Ints, size: int, low: int, high: int, total: int) -> tuple[int, int]:
    """The first and the last candidate between which all records are listed."""
    first = values.item(0) if low > 0 else 0
    return first, values.item(-1) if high < total - 1 else size - 1


def stable_order(numbers: Ints) -> Ints:
    """Positions of whole numbers from 0 to below 2**32 that bring equal ones together, in order:
    sixteen bits at a time, which numpy sorts by counting.
    """
    order: Ints = np.argsort((numbers & 0xFFFF).astype(np.uint16), kind="stable")
    if len(numbers) and int(numbers.max()) >= 2**16:
        high = (numbers >> 16).astype(np.uint16)
        order = order[np.argsort(high[order], kind="stable")]
    return order
