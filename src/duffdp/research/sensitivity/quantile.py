"""Sensitivities of quantiles, the median among them."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from duffdp.domain import Grid, Ints
from duffdp.parameters import read_q
from duffdp.research.sensitivity.profile import Sensitivity, on_grid, sorted_indices


def median(values: Any, domain: Grid) -> Sensitivity:
    """Sensitivities of the lower median.

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
    Not private. Neighbours differ by one record that joins or leaves; the median of no records is
    the lower bound.

    Runtime
    -------
    O(n) after sorting: within distance k one gap is the widest, from the record with rank
    floor((n-k)/2) to that with rank floor((n+k)/2) + 1 (`tests/sensitivity_test.py`).

    References
    ----------
    Nissim, Raskhodnikova and Smith (STOC 2007), section 3.1, for neighbours that replace a record;
    `docs/paper.md`.

    Examples
    --------
    >>> import duffdp
    >>> spread = duffdp.research.sensitivity.median([1, 2, 4, 7], duffdp.Grid(0, 10, 1))
    >>> spread.value, spread.levels.tolist()
    (2.0, [2.0, 3.0, 6.0, 7.0, 10.0])
    """
    y = sorted_indices(values, domain)
    n = len(y)
    ranked = np.concatenate([[0], y, [domain.size - 1]])
    k = np.arange(n + 1)
    levels = ranked[(n + k) // 2 + 1] - ranked[(n - k) // 2]
    return on_grid(domain, int(ranked[(n + 1) // 2]), levels.astype(np.float64))


def quantile(values: Any, q: Any, domain: Grid) -> Sensitivity:
    """Sensitivities of the q-quantile, the record with rank max(1, ceil(q n)).

    Parameters
    ----------
    values, domain
        As for `median`.
    q
        From 0 to 1, read as the decimal that was written.

    Returns
    -------
    Sensitivity
        Local, global and smooth.

    Privacy
    -------
    Not private. Neighbours differ by one record that joins or leaves; the quantile of no records is
    the lower bound for q up to 1/2 and the upper bound above it.

    Runtime
    -------
    O(n^2) after sorting, a vector of n at a time; O(n) for q = 1/2.

    References
    ----------
    Nissim, Raskhodnikova and Smith (STOC 2007), section 3.1, for neighbours that replace a record;
    `docs/paper.md`.

    Examples
    --------
    >>> import duffdp
    >>> grid = duffdp.Grid(0, 10, 1)
    >>> duffdp.research.sensitivity.quantile([1, 2, 4, 7], 0.25, grid).levels.tolist()
    [1.0, 3.0, 6.0, 7.0, 10.0]
    """
    share = read_q(q)
    if share == Fraction(1, 2):
        return median(values, domain)
    y = sorted_indices(values, domain)
    n, p, m = len(y), share.numerator, share.denominator
    ranked = np.concatenate([[0], y, [domain.size - 1]])
    rank = max(1, math.ceil(share * n)) if n else 0 if 2 * p <= m else 1
    return on_grid(domain, int(ranked[rank]), widest_gaps(ranked, p, m).astype(np.float64))


def widest_gaps(ranked: Ints, p: int, m: int) -> Ints:
    """For k = 0 .. n the widest gap between two records, or a record and a bound, that the
    p/m-quantile can be made to cross by k changes and one more: the records in the gap leave,
    others join or leave until one is enough."""
    n = len(ranked) - 2
    levels = np.zeros(n + 1, dtype=np.int64)
    for below in range(n + 1):
        upper = np.arange(below + 1, n + 2)
        changes = (upper - below - 1) + _moves(below, n + 1 - upper, p, m) - 1
        widest = np.zeros(n + 1, dtype=np.int64)
        widest[changes] = (
            ranked[upper] - ranked[below]
        )  # both ascend, so the widest gap of each level comes last
        np.maximum(levels, widest, out=levels)
    return np.maximum.accumulate(levels)


def _moves(below: int, above: Ints, p: int, m: int) -> Ints:
    """With so many records below and above an empty gap: the fewest that must join or leave until
    the quantile, and a record there, is on the other side of it.

    The quantile is below the gap if (m - p) * below >= p * above and below > 0. A record moves the
    balance by up to `most`.
    """
    most = max(p, m - p)
    balance = (m - p) * below - p * above
    if below == 0:  # one must join below, the others are the best moves
        return 1 + np.maximum(0, -((m - p - p * above) // most))
    down = -(balance // most)
    if p == 0:
        up = below + (above == 0)
    else:
        one_joins = 1 + np.maximum(0, ((m - p) * below - p) // most + 1)
        up = np.where(above == 0, one_joins, balance // most + 1)
    return np.where(balance < 0, down, up)
