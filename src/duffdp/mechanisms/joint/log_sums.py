"""Sums of numbers that are known by their logarithms."""

from __future__ import annotations

import math
from bisect import bisect_right

import numpy as np
import numpy.typing as npt

from duffdp.domain import Floats, Ints

Bools = npt.NDArray[np.bool_]


def log_sum(logs: Floats) -> float:
    top = float(logs.max())
    return top + math.log(float(np.exp(logs - top).sum()))


def range_log_sums(logs: Floats, low: Ints, high: Ints) -> Floats:
    """log of the sum of exp(logs[low:high]) for ranges whose ends never go back; no differences,
    so nothing cancels: every range is what lies before a pivot and what lies after it.
    """
    out = np.full(len(low), -np.inf)
    some = np.flatnonzero(high > low)
    if not len(some):
        return out
    low, high = low[some], high[some]
    pivots, begins, i = [], low.tolist(), 0
    while i < len(begins):
        pivots.append(int(high[i]))
        i = bisect_right(begins, pivots[-1], i)
    pivot = np.array(pivots)
    own = pivot[np.searchsorted(pivot, low)]
    finite = logs[np.isfinite(logs)]
    # Sums begin anew at every pivot: what was added before is too little to be noticed.
    marks = np.zeros(len(logs) + 1)
    marks[pivot] = float(np.ptp(finite)) + 64 if len(finite) else 1.0
    stretch = np.cumsum(marks[:-1])
    back = np.logaddexp.accumulate((logs - stretch)[::-1])[::-1] + stretch
    found = np.where(low < own, back[np.minimum(low, len(logs) - 1)], -np.inf)
    if (high > own).any():
        ahead = np.logaddexp.accumulate(logs + stretch) - stretch
        found = np.where(high > own, np.logaddexp(found, ahead[high - 1]), found)
    out[some] = found
    return out


def exponential_sums(
    total: Floats, source: Floats, target: Floats, split: Ints, before: Ints, same: Bools
) -> Floats:
    """In each row, for each target the log of the sum of exp(total - |target - source|) over as
    many sources as `before` says, the last of them by half if it is the `same`; the first `split`
    sources do not lie to the right of the target.
    """
    until = before - same
    split = np.minimum(split, until)
    rising = np.logaddexp.accumulate(total + source, axis=1)
    left = np.take_along_axis(rising, np.maximum(split, 1) - 1, axis=1)
    near = np.where(split > 0, left, -np.inf) - target
    rows = np.arange(len(total))[:, None] * total.shape[1]  # one after the other
    ahead = range_log_sums((total - source).ravel(), (rows + split).ravel(), (rows + until).ravel())
    found = np.logaddexp(near, ahead.reshape(target.shape) + target)
    if same.any():
        at = np.maximum(before - 1, 0)
        own = total[:, at] - np.abs(target - source[:, at]) - math.log(2)
        found = np.where(same, np.logaddexp(found, own), found)
    return found
