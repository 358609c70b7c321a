"""Sensitivities of the mode."""

from __future__ import annotations

from typing import Any

import numpy as np

from duffdp.domain import Categories, Grid, Ints
from duffdp.engines.arrays import CategoryColumn, read
from duffdp.research.sensitivity.profile import Sensitivity, on_grid, sorted_indices


def mode(values: Any, domain: Grid | Categories) -> Sensitivity:
    """Sensitivities of the most common value.

    On a grid the change is the difference of the values; between categories it is 1. With ties the
    mode may be any of them, and the sensitivity is the largest that any choice allows; `value` is
    the first.

    Parameters
    ----------
    values
        Records, dropped, clamped and snapped as in a release.
    domain
        A public grid of numbers, or the public categories (`value` and `bounds` are then positions
        in their list).

    Returns
    -------
    Sensitivity
        Local, global and smooth.

    Privacy
    -------
    Not private. Neighbours differ by one record that joins or leaves.

    Runtime
    -------
    O(n) after counting: what two values need to become modes in turn depends on their counts alone,
    and n records have at most sqrt(2 n) different counts.

    References
    ----------
    Nissim, Raskhodnikova and Smith (STOC 2007), definitions 2.1 and 2.2; Gillenwater and Munoz
    Medina, "Duff" (NeurIPS 2020), section 4.1, for the mode itself.

    Examples
    --------
    >>> import duffdp
    >>> spread = duffdp.research.sensitivity.mode([2, 2, 2, 2, 5], duffdp.Grid(0, 9, 1))
    >>> spread.value, spread.levels.tolist()
    (2.0, [0.0, 0.0, 3.0, 7.0, 9.0])
    """
    if isinstance(domain, Categories):
        index, count = CategoryColumn(read(values), domain).tally()
        tallied = np.zeros(domain.size, dtype=np.int64)
        tallied[index] = count
        first = float(tallied.argmax())
        if domain.size == 1:
            return Sensitivity(first, [0.0], (0.0, 0.0))
        second, most = np.sort(tallied)[-2:]
        levels = np.zeros(max(0, int(most - second) - 1) + 1)
        levels[-1] = 1.0
        return Sensitivity(first, levels, (0.0, domain.size - 1.0))
    index, count = np.unique(sorted_indices(values, domain), return_counts=True)
    commonest = int(index[count.argmax()]) if len(index) else 0
    return on_grid(domain, commonest, _levels(index, count, domain.size))


def _levels(index: Ints, count: Ints, size: int) -> np.ndarray[Any, np.dtype[np.float64]]:
    """For every k the largest difference of two values that become modes in turn within k changes
    and one more.
    """
    ends: dict[int, list[int]] = {}
    for value, taken in zip(index.tolist(), count.tolist(), strict=True):
        ends.setdefault(taken, [value, value])[1] = value
    if len(index) < size:
        ends[0] = [_first_absent(index), size - 1 - _first_absent(size - 1 - index[::-1])]
    top = sorted([*count.tolist(), 0, 0, 0, 0], reverse=True)[:4]
    widest: dict[int, int] = {}
    for high, (high_first, high_last) in ends.items():
        for low, (low_first, low_last) in ends.items():
            if low <= high:
                k = _changes(high, low, top)
                widest[k] = max(widest.get(k, 0), high_last - low_first, low_last - high_first)
    levels = np.zeros(max(widest) + 1)
    for k, width in widest.items():
        levels[k] = width
    return np.maximum.accumulate(levels)


def _changes(high: int, low: int, top: list[int]) -> int:
    """Changes until a value with count `high` is a mode and one with count `low` has one record
    less than a mode.
    """
    others = list(top)
    for taken in (high, low):
        if taken in others:
            others.remove(taken)
    # Above `level` at most one other value is left, which is cheaper to lower than to raise both.
    level = max(high, others[1])
    return max(0, others[0] - level) + (level - high) + max(0, level - 1 - low)


def _first_absent(index: Ints) -> int:
    """The smallest candidate without records."""
    taken = index == np.arange(len(index))
    return len(index) if taken.all() else int(taken.argmin())
