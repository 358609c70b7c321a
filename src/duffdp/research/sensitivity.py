"""Sensitivities of a statistic to one record: local, at distance k, global and smooth.

Neighbors differ by one added or removed record. Not private.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from duffdp._engines.arrays import value_counts
from duffdp._parameters import Q
from duffdp.domain import Categories, Grid, Ints
from duffdp.errors import DuffError, UnsupportedData

__all__ = [
    "Sensitivity",
    "mean",
    "median",
    "mode",
    "quantile",
]

Floats = npt.NDArray[np.float64]

MIN_HULL_BETAS = 256  # so many beta in all are worth a hull
MIN_HULL_LEVELS = 2**13  # and so many levels are worth one at once


# points less than this above a chord are left out: a relative error of SS far below that of its use
HULL_ROUNDING = 1e-12


class Sensitivity:
    """Local, global and smooth sensitivity of a statistic at a data set.

    `median`, `quantile`, `mean` and `mode` compute one from data. You can also construct one from
    any local sensitivities at distance 0, 1, 2, ... (or upper bounds of them).

    Parameters
    ----------
    value
        The statistic of the data set, without noise.
    levels
        The largest local sensitivity among the data sets within distance k, for k = 0, 1, ...:
        finite, 0 or more, never falling. The last one is the global sensitivity.
    bounds
        The public range of outputs, to which a baseline clips.

    Methods
    -------
    local, global_, at, smooth, log_smooth

    Privacy
    -------
    Not private: it depends on the data without noise. It is the input of a baseline and not a
    release.

    Runtime
    -------
    A pass over the levels for each of the first values of beta. After many of them, the concave
    hull of the levels and a bisection for each value.

    References
    ----------
    Nissim, Raskhodnikova and Smith, "Smooth sensitivity and sampling in private data analysis"
    (STOC 2007), definitions 2.1 and 2.2. Zhang, Cormode, Procopiuc, Srivastava and Xiao, "Private
    release of graph statistics using ladder functions" (SIGMOD 2015).

    Examples
    --------
    >>> import duffdp
    >>> ladder = duffdp.research.sensitivity.Sensitivity(48.0, levels=[1, 2, 8], bounds=(0, 100))
    >>> ladder.local, ladder.at(1), ladder.global_, round(ladder.smooth(1.0), 3)
    (1.0, 2.0, 8.0, 1.083)
    """

    def __init__(
        self,
        value: float,
        levels: Iterable[float],
        bounds: tuple[float, float] = (-math.inf, math.inf),
    ) -> None:
        self._betas_used = 0
        self.value, self.bounds = float(value), (float(bounds[0]), float(bounds[1]))
        self.levels: Floats = np.asarray(
            levels if isinstance(levels, np.ndarray) else list(levels), dtype=np.float64
        )
        rising = (
            self.levels.ndim == 1
            and len(self.levels) > 0
            and self.levels[0] >= 0
            and math.isfinite(self.levels[-1])
        )
        if not rising or not (self.levels[1:] >= self.levels[:-1]).all():
            raise DuffError(
                "levels must be finite local sensitivities at distance 0, 1, ... that start at "
                "0 or "
                "more and never fall."
            )
        if not self.bounds[0] <= self.value <= self.bounds[1]:
            raise DuffError(
                "the value must be a number within the bounds. Clamp the records first."
            )

    @property
    def local(self) -> float:
        """The most that one record can change the statistic at this data set."""
        return float(self.levels[0])

    @property
    def global_(self) -> float:
        """The most that one record can change the statistic at any data set."""
        return float(self.levels[-1])

    def at(self, k: int) -> float:
        """The largest local sensitivity among the data sets within distance k."""
        if k < 0:
            raise DuffError(f"a distance must be 0 or more, got {k!r}.")
        return float(self.levels[min(k, len(self.levels) - 1)])

    def smooth(self, beta: Any) -> Any:
        """The beta-smooth sensitivity: the largest `exp(-beta k) * at(k)`; for one beta or an array
        of them.
        """
        smooth = np.exp(self.log_smooth(beta))
        return smooth if smooth.ndim else float(smooth)

    def log_smooth(self, beta: Any) -> Floats:
        """Logarithm of the smooth sensitivity, which is finite even if the sensitivity underflows;
        -inf if no record matters.
        """
        betas = np.asarray(beta, dtype=np.float64)
        if not ((betas >= 0) & np.isfinite(betas)).all():
            raise DuffError(
                f"beta must be a finite number of 0 or more, got {beta!r}. Pass for example "
                "beta=0.1."
            )
        if self.global_ == 0:
            return np.full(betas.shape, -math.inf)
        self._betas_used += betas.size
        return (self.hull if self._betas_used > MIN_HULL_BETAS else self.envelope).log_smooth(betas)

    @property
    def envelope(self) -> Envelope:
        """The local sensitivities in the form that is cheapest for a few beta; some level must be
        above 0.
        """
        return (
            self.hull
            if len(self.levels) > MIN_HULL_LEVELS or "hull" in self.__dict__
            else self._lines
        )

    @cached_property
    def hull(self) -> Hull:
        """The local sensitivities in the form that is cheapest for many beta."""
        return Hull(self._lines)

    @cached_property
    def _lines(self) -> Lines:
        positive = self.levels.nonzero()[0]
        return Lines(positive.astype(np.float64), np.log(self.levels[positive]))

    def __repr__(self) -> str:
        return f"Sensitivity({len(self.levels)} levels, not private)"


def sorted_indices(values: Any, domain: Grid) -> Ints:
    """All records as sorted indices of candidates: dropped, clamped and snapped like those of a
    release.
    """
    if not isinstance(domain, Grid) or domain.kind in ("date", "datetime"):
        raise UnsupportedData(
            f"sensitivities need a grid of numbers, got {domain!r}. Pass for example Grid(0, 120, "
            "1)."
        )
    index, count = value_counts(values, domain)
    return np.repeat(index, count)


def on_grid(domain: Grid, index: float, levels: Floats) -> Sensitivity:
    """A sensitivity in units of the grid as one in units of the values."""
    low, high = float(domain.value(0)), float(domain.value(domain.size - 1))
    value = (
        float(domain.value(index))
        if isinstance(index, int)
        else min(max(low + index * domain.spacing, low), high)
    )
    return Sensitivity(value, levels * domain.spacing, (low, high))


class Envelope(Protocol):
    """The upper envelope of lines that fall with slope `distance`."""

    def log_smooth(self, beta: Floats) -> Floats:
        """Its height at every beta."""

    def between(self, low: float, high: float) -> Envelope:
        """An envelope that is the same from beta = low to beta = high, perhaps of fewer lines."""


class Lines:
    """All lines, without preparation: each beta needs a pass over them. For a few of either."""

    def __init__(self, distance: Floats, log_level: Floats) -> None:
        self.distance, self.log_level = distance, log_level

    def log_smooth(self, beta: Floats) -> Floats:
        height: Floats = (self.log_level - beta[..., None] * self.distance).max(axis=-1)
        return height

    def between(self, low: float, high: float) -> Lines:
        # The steeper the discount, the nearer the line on top.
        nearest = int((self.log_level - high * self.distance).argmax())
        farthest = int((self.log_level - low * self.distance).argmax())
        return Lines(self.distance[nearest : farthest + 1], self.log_level[nearest : farthest + 1])


class Hull:
    """The corners of the concave hull of the points (k, log LS(k)): one pass, then a bisection for
    every beta.
    """

    def __init__(self, lines: Lines) -> None:
        corner = upper_hull(lines.distance, lines.log_level)
        self.distance, self.log_level = lines.distance[corner], lines.log_level[corner]
        # Negated, so that they ascend: the line of corner i is on top for beta between slope i and
        # slope i - 1.
        self.falling = -np.diff(self.log_level) / np.diff(self.distance)

    def log_smooth(self, beta: Floats) -> Floats:
        corner = self.falling.searchsorted(-beta)
        log_smooth: Floats = self.log_level[corner] - beta * self.distance[corner]
        return log_smooth

    def between(self, low: float, high: float) -> Hull:
        return self


def upper_hull(x: Floats, y: Floats) -> npt.NDArray[np.intp]:
    """Indices of the corners of the upper hull of points with ascending x.

    Quickhull on all chords at once: the point farthest above a chord between two corners is a
    corner.
    """
    corner = np.unique(np.array([0, len(x) - 1], dtype=np.intp))
    pending = np.arange(1, len(x) - 1)
    while len(pending):
        height = y[pending] - np.interp(x[pending], x[corner], y[corner])
        above = height > HULL_ROUNDING
        pending, height = pending[above], height[above]
        if not len(pending):
            break
        chord = corner.searchsorted(pending)
        begin = np.flatnonzero(np.diff(chord, prepend=-1))
        top = np.maximum.reduceat(height, begin)
        farthest = height == np.repeat(top, np.diff(begin, append=len(pending)))
        corner = np.sort(np.concatenate([corner, pending[farthest]]))
        pending = pending[~farthest]
    return corner


def median(values: Any, domain: Grid) -> Sensitivity:
    """Sensitivities of the lower median.

    Parameters
    ----------
    values
        The records. Missing ones are dropped, and the others clamped and rounded as in a release.
    domain
        The public grid of numbers.

    Returns
    -------
    Sensitivity
        Local, global and smooth.

    Privacy
    -------
    Not private. Neighbors differ by one added or removed record; the median of no records is the
    lower bound.

    Runtime
    -------
    O(n) after sorting: within distance k one gap is the widest, from the record with rank
    floor((n-k)/2) to that with rank floor((n+k)/2) + 1 (`tests/research/sensitivity_test.py`).

    References
    ----------
    Nissim, Raskhodnikova and Smith (STOC 2007), section 3.1, for neighbors that replace a record;
    `docs/explanation/paper.md`.

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
        From 0 to 1. A float is read as its shortest decimal: 0.1 is exactly 1/10.

    Returns
    -------
    Sensitivity
        Local, global and smooth.

    Privacy
    -------
    Not private. Neighbors differ by one added or removed record; the quantile of no records is the
    lower bound for q up to 1/2 and the upper bound above it.

    Runtime
    -------
    O(n^2) after sorting, with memory for n numbers; O(n) for q = 1/2.

    References
    ----------
    Nissim, Raskhodnikova and Smith (STOC 2007), section 3.1, for neighbors that replace a record;
    `docs/explanation/paper.md`.

    Examples
    --------
    >>> import duffdp
    >>> grid = duffdp.Grid(0, 10, 1)
    >>> duffdp.research.sensitivity.quantile([1, 2, 4, 7], 0.25, grid).levels.tolist()
    [1.0, 3.0, 6.0, 7.0, 10.0]
    """
    share = Q.read(q)
    if share == Fraction(1, 2):
        return median(values, domain)
    y = sorted_indices(values, domain)
    n, p, m = len(y), share.numerator, share.denominator
    ranked = np.concatenate([[0], y, [domain.size - 1]])
    rank = max(1, math.ceil(share * n)) if n else 0 if 2 * p <= m else 1
    return on_grid(domain, int(ranked[rank]), widest_gaps(ranked, p, m).astype(np.float64))


def widest_gaps(ranked: Ints, p: int, m: int) -> Ints:
    """For k = 0 .. n the widest gap that the p/m-quantile can be made to cross by k + 1 changes.

    A gap is between two records, or between a record and a bound. The records in it leave, and
    others join or leave until one more change is enough.
    """
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
    balance by up to `largest_move`.
    """
    largest_move = max(p, m - p)
    balance = (m - p) * below - p * above
    if below == 0:  # one must join below, the others are the best moves
        return 1 + np.maximum(0, -((m - p - p * above) // largest_move))
    down = -(balance // largest_move)
    if p == 0:
        up = below + (above == 0)
    else:
        one_joins = 1 + np.maximum(0, ((m - p) * below - p) // largest_move + 1)
        up = np.where(above == 0, one_joins, balance // largest_move + 1)
    return np.where(balance < 0, down, up)


def mean(values: Any, domain: Grid) -> Sensitivity:
    """Sensitivities of the mean of the clamped records.

    Parameters
    ----------
    values
        The records. Missing ones are dropped, and the others clamped and rounded as in a release.
    domain
        The public grid of numbers.

    Returns
    -------
    Sensitivity
        Local, global and smooth.

    Privacy
    -------
    Not private. Neighbors differ by one added or removed record; the mean of no records is the
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


def _largest_moves(gap: Ints, reach: int, max_changes: int) -> npt.NDArray[np.float64]:
    """The largest move of the mean when a record joins, after up to `max_changes` changes.

    `gap` holds the distances of the records from the joining one, ascending; `reach` is the largest
    possible. With m records the mean moves by sum(gap) / (m (m + 1)), so changes drop the j
    smallest gaps and add k - j of size `reach`. The best j never falls as k grows, and the move
    rises in j up to it.
    """
    gaps = gap.tolist()
    total, j, n = sum(gaps), 0, len(gaps)
    moves = np.zeros(max_changes + 1)
    for k in range(max_changes + 1):
        size, gap_sum = n + k - 2 * j, total + (k - j) * reach
        while (
            j < min(k, n)
            and size >= 3
            and (gap_sum - gaps[j] - reach) * size * (size + 1) >= gap_sum * (size - 2) * (size - 1)
        ):
            gap_sum -= gaps[j] + reach
            total -= gaps[j]
            size -= 2
            j += 1
        if size > 0:
            moves[k] = gap_sum / (size * (size + 1))
    return moves


def mode(values: Any, domain: Grid | Categories) -> Sensitivity:
    """Sensitivities of the most common value.

    On a grid the change is the difference of the values; between categories it is 1. With ties any
    of the tied values is a mode, and the sensitivity is the largest over these choices; `value` is
    the first.

    Parameters
    ----------
    values
        The records. Missing ones are dropped, and the others clamped and rounded as in a release.
    domain
        A public grid of numbers, or the public categories (`value` and `bounds` are then positions
        in their list).

    Returns
    -------
    Sensitivity
        Local, global and smooth.

    Privacy
    -------
    Not private. Neighbors differ by one added or removed record.

    Runtime
    -------
    O(n) after counting, because the changes that make two values modes depend on their counts
    alone, and n records have at most sqrt(2 n) different counts.

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
        index, count = value_counts(values, domain)
        tallied = np.zeros(domain.size, dtype=np.int64)
        tallied[index] = count
        first = float(tallied.argmax())
        if domain.size == 1:
            return Sensitivity(first, [0.0], (0.0, 0.0))
        second, highest = np.sort(tallied)[-2:]
        levels = np.zeros(max(0, int(highest - second) - 1) + 1)
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
    for value, tally in zip(index.tolist(), count.tolist(), strict=True):
        ends.setdefault(tally, [value, value])[1] = value
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
    other_counts = list(top)
    for own_count in (high, low):
        if own_count in other_counts:
            other_counts.remove(own_count)
    # Above `level` at most one other value is left, which is cheaper to lower than to raise both.
    level = max(high, other_counts[1])
    return max(0, other_counts[0] - level) + (level - high) + max(0, level - 1 - low)


def _first_absent(index: Ints) -> int:
    """The smallest candidate without records."""
    present = index == np.arange(len(index))
    return len(index) if present.all() else int(present.argmin())
