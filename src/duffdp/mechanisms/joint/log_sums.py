"""Logarithms of sums of exponentials."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from duffdp.domain import Ints

Floats = npt.NDArray[np.float64]


def log_sum(logs: Floats) -> float:
    top = float(logs.max())
    return top + math.log(float(np.exp(logs - top).sum()))


def range_log_sums(logs: Floats, low: Ints, high: Ints) -> Floats:
    """log of the sum of exp(logs[low:high]) for ranges whose ends never go back; no differences, so nothing cancels."""
    out = np.full(len(low), -np.inf)
    i = 0
    while i < len(low):
        pivot, first = int(high[i]), int(low[i])
        until = int(np.searchsorted(low, pivot, side="right"))
        if pivot > first:
            back = np.append(np.logaddexp.accumulate(logs[first:pivot][::-1])[::-1], -np.inf)
            out[i:until] = back[low[i:until] - first]
        most = int(high[until - 1])
        if most > pivot:
            ahead = np.concatenate([[-np.inf], np.logaddexp.accumulate(logs[pivot:most])])
            out[i:until] = np.logaddexp(out[i:until], ahead[high[i:until] - pivot])
        i = until
    return out
