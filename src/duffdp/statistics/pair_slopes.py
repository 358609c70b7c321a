"""The slopes of all pairs of records beside the candidates of a grid: counted at one candidate, or
placed one by one between two.
"""

from __future__ import annotations

import numpy as np

from duffdp.domain import Floats, Grid, Ints
from duffdp.engines.pairs import Pairs, within_range
from duffdp.statistics.inversions import count_inversions, list_inversions
from duffdp.statistics.residuals import Residuals, compare, equal_to_next, order, residuals

# Of a slope's place between the candidates, by the largest candidate over the step. Three roundings
# of the slope, and eight of the places of candidates, come to 11 * 2**-53 at most: a third of it.
ROUNDING = 2.0**-48
MOST_STEPS = 2**46  # from 0 to the largest candidate: rounding is then a quarter of a step at most


class PairSlopes:
    """The slopes of all pairs of records that differ in x.

    `balance(i)` is the number of slopes above candidate i less the number below: it never rises
    with i. Before the first candidate, at -1, all slopes lie above; after the last, all below.
    """

    def __init__(self, pairs: Pairs, grid: Grid) -> None:
        by_x = np.lexsort((pairs.y, pairs.x))
        self._x, self._y, self._grid = pairs.x[by_x], pairs.y[by_x], grid
        self.records = n = len(by_x)
        new_x = self._x[1:] != self._x[:-1]
        self._x_rank = np.concatenate([[0], np.cumsum(new_x)])[:n]
        alike = ~new_x
        self._twins = _tied_pairs(alike & (self._y[1:] == self._y[:-1]))
        self.count = n * (n - 1) // 2 - _tied_pairs(alike)
        self._balance = {-1: self.count, grid.size: -self.count}

    def balance(self, index: int) -> int:
        """Slopes above a candidate less slopes below it."""
        if index not in self._balance:
            keys = self._residuals(index)
            above = order(keys)
            # Of two records in the order of x, the residual falls if their slope lies below.
            below = count_inversions(above)
            equal = _tied_pairs(equal_to_next(keys, above)) - self._twins
            self._balance[index] = self.count - 2 * below - equal
        return self._balance[index]

    def changes(self, low: int, high: int) -> tuple[Ints, Ints]:
        """The candidates after `low`, up to `high`, at which the balance is less than before, in
        order, and the balance there.
        """
        first = np.arange(self.records) if low < 0 else order(self._residuals(low))
        if high >= self._grid.size:
            last = np.lexsort((self._y, -self._x))
        else:
            last = order(self._residuals(high), -self._x_rank)
        rank = np.empty(self.records, dtype=np.int64)
        rank[last] = np.arange(self.records)
        # Whatever changes places between the two candidates has its slope there.
        left, right = list_inversions(rank[first])
        reached, passed = self._places(last[left], last[right])
        on_candidates = (reached != passed).any()
        reached = self._between(reached, low, high)
        reached.sort()
        if not on_candidates:
            ends = np.flatnonzero(np.diff(reached, append=-1))
            return reached[ends], self.balance(low) - 2 * (ends + 1)
        passed = self._between(passed, low, high)
        passed.sort()
        places = np.union1d(reached, passed)
        fallen = np.searchsorted(reached, places, side="right")
        fallen += np.searchsorted(passed, places, side="right")
        return places.astype(np.int64), self.balance(low) - fallen.astype(np.int64)

    def _between(self, places: Ints, low: int, high: int) -> Ints:
        return places[(places > low) & (places <= min(high, self._grid.size - 1))]

    def _places(self, left: Ints, right: Ints) -> tuple[Ints, Ints]:
        """For each pair the first candidate at or above its slope, and the first above."""
        grid, x, y = self._grid, self._x, self._y
        with np.errstate(over="ignore"):
            slope = (y[right] - y[left]) / (x[right] - x[left])
        low, high = abs(float(grid.value(0))), abs(float(grid.value(grid.size - 1)))
        place = np.clip((slope - float(grid.value(0))) / grid.spacing, -1, grid.size)
        after = np.floor(place).astype(np.int64) + 1
        near = np.rint(place).astype(np.int64)
        unsure = np.abs(place - near) <= ROUNDING * max(low, high) / grid.spacing
        unsure &= (near >= 0) & (near < grid.size)
        beyond = after.copy()
        if unsure.any():
            near, left, right = near[unsure], left[unsure], right[unsure]
            different, which = np.unique(near, return_inverse=True)
            b = self._candidates(different.tolist())[which]
            one, other = residuals(x[left], y[left], b), residuals(x[right], y[right], b)
            side = compare(other, one)
            after[unsure], beyond[unsure] = near + (side > 0), near + (side >= 0)
        return after, beyond

    def _residuals(self, index: int) -> Residuals:
        return residuals(self._x, self._y, self._candidates([index]))

    def _candidates(self, indices: list[int]) -> Floats:
        """The double nearest to each candidate, which stands for it."""
        return within_range(np.array([self._grid.value(i) for i in indices], dtype=np.float64))


def _tied_pairs(same: Ints) -> int:
    """How many pairs are alike, where each of a row says whether the next is like it."""
    ends = np.flatnonzero(~np.concatenate([same, [False]]))
    sizes = np.diff(ends, prepend=-1)
    return int((sizes * (sizes - 1)).sum()) // 2
