"""Sensitivities of the mean."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from duffdp.domain import Grid, Ints
from duffdp.research.sensitivity.profile import Sensitivity, on_grid, sorted_indices


def mean(values: Any, domain: Grid) -> Sensitivity:
    """Sensitivities of the mean of the clamped records.

    Parameters
    ----------
    values
        Records, dropped, clamped and snapped as in a release.
    domain
        The public grid of numbers.

    Returns
    -------
    Sensitivity
        Local, global and smooth.

    Privacy
    -------
    Not private. Neighbours differ by one record that joins or leaves; the mean of no records is the
    middle of the bounds.

    Runtime
    -------
    O(n) after sorting: one sweep with two pointers for each of four extremes.

    References
    ----------
    Nissim, Raskhodnikova and Smith (STOC 2007), definitions 2.1 and 2.2; Gillenwater and Munoz
    Medina, "Duff" (NeurIPS 2020), section 4.1, for the mean itself.

    Examples
    --------
    >>> import duffdp
    >>> spread = duffdp.research.sensitivity.mean([2, 4, 6], duffdp.Grid(0, 10, 1))
    >>> spread.value, spread.local, spread.global_
    (4.0, 1.5, 5.0)
    """
    y = sorted_indices(values, domain)
    n, top = len(y), domain.size - 1
    if n == 0:
        return on_grid(domain, top / 2, np.array([top / 2]))
    # A record joins at an end of the range, or the outermost one leaves, which is as if it joined
    # the others.
    extremes = [
        (top - y[::-1], top),
        (y, top),
        ((y[-1] - y[:-1])[::-1], y[-1]),
        (y[1:] - y[0], top - y[0]),
    ]
    levels = np.max([_largest_moves(gap, int(reach), n) for gap, reach in extremes], axis=0)
    levels[n] = top / 2  # all have left: the one that joins decides alone
    return on_grid(domain, float(y.mean()), np.maximum.accumulate(levels))


def _largest_moves(gap: Ints, reach: int, most: int) -> npt.NDArray[np.float64]:
    """The largest move of the mean when a record joins, after up to `most` changes.

    `gap` holds the distances of the records from the joining one, ascending; `reach` is the largest
    possible. With m records the mean moves by sum(gap) / (m (m + 1)), so changes drop the j
    smallest gaps and add k - j of size `reach`. The best j never falls as k grows, and the move
    rises in j up to it.
    """
    gaps = gap.tolist()
    total, j, n = sum(gaps), 0, len(gaps)
    moves = np.zeros(most + 1)
    for k in range(most + 1):
        size, rest = n + k - 2 * j, total + (k - j) * reach
        while (
            j < min(k, n)
            and size >= 3
            and (rest - gaps[j] - reach) * size * (size + 1) >= rest * (size - 2) * (size - 1)
        ):
            rest -= gaps[j] + reach
            total -= gaps[j]
            size -= 2
            j += 1
        if size > 0:
            moves[k] = rest / (size * (size + 1))
    return moves
