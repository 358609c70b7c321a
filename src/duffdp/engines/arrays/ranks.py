"""Ranks of sorted or selected indices: distinct values with their counts, cut down to what is
wanted."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from duffdp.domain import Ints
from duffdp.engines.source import Ranks

SORTED = 2**14  # up to here a sort is cheaper than a pass in chunks
NETWORK = 2**8  # up to here numpy sorts without branches
ROOM = 20  # so far from its place in a sample of that size a rank hardly ever is


def begins(ordered: Ints) -> Ints:
    """Where the runs of equal values begin in a sorted array."""
    first = np.empty(len(ordered), dtype=bool)
    first[:1] = True
    np.not_equal(ordered[1:], ordered[:-1], out=first[1:])
    return first.nonzero()[0]


def distinct(ordered: Ints, also: Ints) -> tuple[Ints, Ints, Ints]:
    """Distinct values of sorted stretches that begin at 0 and at the places in `also`, their
    counts, and where they begin."""
    first = np.empty(len(ordered), dtype=bool)
    first[:1] = True
    np.not_equal(ordered[1:], ordered[:-1], out=first[1:])
    first[also[also < len(ordered)]] = True
    begin = first.nonzero()[0]
    return ordered[begin], np.diff(begin, append=len(ordered)), begin


def counted_runs(ordered: Ints) -> tuple[Ints, Ints]:
    """Distinct values of a sorted array, and their counts."""
    rise = ordered[1:] - ordered[:-1]
    if not len(rise) or rise.item(rise.argmin()):  # none is tied
        count = np.empty(len(ordered), dtype=np.int64)
        count.fill(1)  # which np.ones takes longer for
        return ordered, count
    begin = begins(ordered)
    count = np.empty(len(begin), dtype=np.int64)
    np.subtract(begin[1:], begin[:-1], out=count[:-1])
    count[-1] = len(ordered) - begin[-1]
    return ordered[begin], count


def wanted(q: Fraction, reach: int, total: int) -> tuple[int, int]:
    """From which rank to which, of all; at the upper end at least the last one."""
    centre = q.numerator * total // q.denominator
    return max(min(centre - reach, total - 1), 0), min(centre + 1 + reach, total)


def ranks_of_few(index: Ints, size: int, q: Fraction, reach: int) -> Ranks:
    """The wanted ranks of a small array, which is reordered: select both ends, then sort what lies
    between."""
    total = len(index)
    low, high = wanted(q, reach, total)
    high = min(high, total - 1)
    index, outside = _around(index, low, high) if total > 2 * NETWORK else (index, 0)
    many, begin, end = len(index), low - outside, high - outside
    least, most = 0, many - 1
    if many > NETWORK:
        least, most = max(begin - 1, 0), min(end + 1, most)  # one more tells whether some are tied
        index.partition((least, most))
    near = index[least : most + 1].copy()  # the next rank reorders the array
    near.sort()
    distinct, count = counted_runs(near[begin - least : end + 1 - least])
    below, first, last = low, 0, size - 1
    if low > 0:
        first = distinct.item(0)
        if begin > least and near.item(begin - least - 1) == first:
            below = outside + int(np.count_nonzero(index < first))
            count[0] += low - below
    if high < total - 1:
        last = distinct.item(-1)
        if end < most and near.item(end - least + 1) == last:
            count[-1] += many - 1 - end - np.count_nonzero(index > last)
    return Ranks(distinct, count, below, total, first, last)


def _around(index: Ints, low: int, high: int) -> tuple[Ints, int]:
    """All records of some values that cover these ranks, and how many lie before them: as a sample
    brackets them, or the whole array if it misses one.
    """
    total = len(index)
    sample = index[:: -(-total // NETWORK)].copy()
    sample.sort()
    few = len(sample)
    before, after = low * few // total - ROOM, high * few // total + 1 + ROOM
    inside = index >= (sample.item(before) if before >= 0 else 0)
    outside = total - int(np.count_nonzero(inside))
    if after < few:
        inside &= index <= sample.item(after)
    found = index.take(inside.nonzero()[0])
    covers = outside <= low and high < outside + len(found)
    return (found, outside) if covers else (index, 0)


def trim(near: Ranks, low: int, high: int) -> Ranks:
    """Cut distinct values down to those that cover the wanted ranks."""
    upto = near.below + np.cumsum(near.counts)
    most = int(upto[-1]) if len(upto) else near.below
    begin = int(upto.searchsorted(low, side="right")) if low > near.below else 0
    end = min(int(upto.searchsorted(high)) + 1, len(upto)) if high < most else len(upto)
    first = int(near.values[begin]) if begin else near.first
    last = int(near.values[end - 1]) if end < len(upto) else near.last
    below = int(upto[begin - 1]) if begin else near.below
    return Ranks(near.values[begin:end], near.counts[begin:end], below, near.total, first, last)
