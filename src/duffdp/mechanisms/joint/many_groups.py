"""Several quantiles of many groups at once: one law to draw all of them from that covers the exact
ones, and drafts that are accepted in proportion.
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np

from duffdp.domain import Floats
from duffdp.mechanisms.joint.draft import Bools
from duffdp.mechanisms.joint.proposal import FIRST, FLAT, RARE, SPACING, TOLERANCE
from duffdp.mechanisms.joint.window_runs import Blocks, WindowRuns
from duffdp.rank_profile import UNIT, NearRanks

# Sizes to each side of the middle one with a pass of their own: more of them, as long as bounds of
# all others together weigh more than LOOSE of a draft. With many records to a group bounds are
# weak.
NEAR, MOST_NEAR, LOOSE = 3, 9, 1 / 8
# Doubles hold what is weighed as long as no place lies further than so many nats from the wanted
# one.
WIDEST = 160.0
# What a pass adds up to at least, of the largest it could: sums below it lose what they are made
# of, for no double is that near 0.
FAINTEST = 1e-200


class ManyGroups:
    """What `Proposal` is for one group, for many, with blocks of the same ranks for all.

    Places of different quantiles are drawn as if they need not be in order, and refused if they are
    not: this suits few quantiles, or quantiles that lie apart.
    """

    def __init__(self, groups: list[NearRanks], epsilon: Fraction) -> None:
        self.groups, self.epsilon = groups, epsilon
        self.qs, self.size = groups[0].qs, groups[0].size
        self.shares = [b - a for a, b in pairwise((Fraction(0), *self.qs, Fraction(1)))]
        self.shares_upto = np.array([float(q) for q in self.qs])
        c = float(epsilon) / 2
        self.nat = c / UNIT
        blocks = Blocks.around(len(self.qs), c, groups[0].reach)
        runs = self.runs = WindowRuns.of(groups, self.qs, groups[0].reach, blocks)
        self.volume: Floats = runs.cells / runs.parts
        shape = len(groups), len(self.qs)
        self.rest = runs.rest.reshape(shape) * c
        top, bottom = epsilon.as_integer_ratio()
        totals = [group.total for group in groups]
        self.middle = np.array(
            [max(FIRST, (2 * top * n + SPACING * bottom) // (2 * SPACING * bottom)) for n in totals]
        )
        # c times the records by which the middle size is too small.
        self.excess = np.array(
            [
                (top * n - SPACING * bottom * middle) / (2 * bottom)
                for n, middle in zip(totals, self.middle.tolist(), strict=True)
            ]
        )
        # What stands for each block, in nats, with all that lies before and after a window.
        inner = blocks.middles * self.nat
        self.place: Floats = np.concatenate([inner[:1], inner, inner[-1:]])
        self._weigh_blocks(blocks, shape)
        self.near = NEAR
        self._weigh()
        while self.near < MOST_NEAR and self._bounded() > LOOSE:
            self.near += 2
            self._weigh()
        self.fits = self._fit()

    def _weigh_blocks(self, blocks: Blocks, shape: tuple[int, int]) -> None:
        """How much each block holds, and by how much the law may exceed its value at what stands
        for it; in logarithms, the largest of a window is 0.
        """
        runs = self.runs
        begin, end = runs.begin[:, :-1], runs.begin[:, 1:]
        some = end > begin
        inside = np.add.reduceat(np.append(self.volume, 0.0), begin.ravel()).reshape(begin.shape)
        least, most = (
            np.where(some, runs.rank[np.where(some, at, 0)] - blocks.middles, 0)
            for at in (begin, end - 1)
        )
        first, last = runs.cut[:-1], runs.cut[1:] - 1
        before = runs.start[first] + runs.part[first] / runs.parts[first]
        split = runs.parts[last] > 1
        rest = np.where(split, (runs.parts[last] - 1 - runs.part[last]) / runs.parts[last], 0.0)
        after = (self.size - runs.start[last] - runs.cells[last]) + rest
        weight = np.zeros((len(begin), len(self.place)))
        weight[:, 0], weight[:, -1] = before, after
        weight[:, 1:-1] = np.where(some, inside, 0.0)
        self.holds: Bools = (weight > 0).reshape(*shape, -1)
        away = np.zeros_like(weight)
        away[:, 1:-1] = np.maximum(-least, most)
        away[:, 0] = np.maximum(runs.rank[first] - blocks.middles[0], 0)
        away[:, -1] = np.maximum(blocks.middles[-1] - runs.rank[last], 0)
        away *= 2 * self.nat
        with np.errstate(divide="ignore"):
            logs = np.log(weight)
        top = (logs + away).max(axis=1, keepdims=True)
        self.scale: Floats = top.reshape(shape).sum(axis=1)
        flat, whole = (np.exp(logs + f * away - top).reshape(*shape, -1) for f in (FLAT, 1.0))
        self.flat_and_whole: Floats = np.stack([flat, whole], axis=1)

    def _weigh(self) -> None:
        """One pass for the middle size at FLAT of epsilon, and one for each size near it: a row of
        a group each. Weights of two places in a row fall geometrically with their difference.
        """
        steps = np.array([0, *range(-self.near, self.near + 1)])
        weight = self.flat_and_whole[:, np.minimum(np.arange(len(steps)), 1)]
        share = np.ones(len(steps))
        share[0] = FLAT
        self.row_share = share
        excess = self.row_excess = self.excess[:, None] - SPACING / 2 * steps
        # Group, row and quantile: where a place of the wanted rank lies.
        shift = self.shift = excess[:, :, None] * self.shares_upto
        shift -= self.rest[:, None, :]
        place = share[:, None] * self.place
        rising, falling = np.exp(place), np.exp(-place)
        further = self._further()
        self.totals: list[Floats] = []
        entry: Floats = np.exp(-np.abs(place + (share * shift[:, :, 0])[:, :, None]))
        rows = np.arange(shift.shape[0] * shift.shape[1]).reshape(shift.shape[:2])[:, :, None]
        blocks = len(self.place)
        for j in range(len(self.qs)):
            if j:
                moved = shift[:, :, j] - shift[:, :, j - 1]
                earlier = self.totals[-1]
                split = np.searchsorted(self.place, self.place + moved[:, :, None], side="right")
                split += rows * (blocks + 1)
                left, right = np.zeros((2, *earlier.shape[:2], blocks + 1))
                np.cumsum(earlier * rising, axis=2, out=left[:, :, 1:])
                np.cumsum((earlier * falling)[:, :, ::-1], axis=2, out=right[:, :, -2::-1])
                beyond = np.exp(share * moved)[:, :, None]
                entry = left.ravel()[split] * falling / beyond
                entry += right.ravel()[split] * rising * beyond
            total = entry * weight[:, :, j]
            total[:, :, 0] *= further[0, j]
            total[:, :, -1] *= further[1, j]
            self.totals.append(total)
        ends = place + (share * shift[:, :, -1])[:, :, None]
        self.last = total * np.exp(-np.abs((share * excess)[:, :, None] - ends))
        sums = self.last.sum(axis=2)
        known = (sums >= FAINTEST) & (sums < np.inf)
        self.weighed: Bools = known.all(axis=1)
        self._weigh_sizes(np.log(np.where(known, sums, FAINTEST)) + self.scale[:, None])

    def _further(self) -> Floats:
        """By what the law may exceed its value at the edge of a window, where the places before and
        after may lie further out: for both sides, all quantiles, groups and rows.
        """
        many, rows = self.row_excess.shape
        ends = np.zeros((2, len(self.qs) + 2, many, rows))
        for side in (0, 1):
            ends[side, 1:-1] = np.moveaxis(self.place[-side] + self.shift, 2, 0)
            ends[side, -1] = self.row_excess
        ends[1] *= -1
        apart = np.maximum(ends[:, 1:-1] - [ends[:, :-2], ends[:, 2:]], 0.0).sum(axis=0)
        further: Floats = np.exp(np.minimum(apart * self.row_share, 4 * WIDEST))
        return further

    def _weigh_sizes(self, rows: Floats) -> None:
        """The weights of sizes, as `Proposal` has them: those without a pass of their own by a
        bound, and how rare those beyond are.
        """
        volume = len(self.qs) * math.log(self.size) - math.lgamma(len(self.qs) + 1)
        own = rows[:, 1 + self.near]
        nats = max(volume - float(own.min()) + RARE * math.log(2), 0.0)
        self.more = more = max(math.ceil(2 * nats / SPACING) + 1, self.near)
        steps = np.arange(-more, more + 1)
        apart = SPACING / 2 * np.abs(steps)
        wrong = np.abs(self.excess[:, None] - SPACING / 2 * steps)
        bound = rows[:, :1] + FLAT * apart - (1 - FLAT) * wrong
        bound[:, more - self.near : more + self.near + 1] = rows[:, 1:]
        bound[self.middle[:, None] + steps < FIRST] = -np.inf
        top = bound.max(axis=1, keepdims=True)
        self.sizes = np.exp(bound - top)
        self.some_size: Bools = np.isfinite(bound)
        total = top[:, 0] + np.log(self.sizes.sum(axis=1))
        self.log_top = total + TOLERANCE
        off = SPACING / 2 * (more + 0.5)
        self.beyond_bits = np.minimum(np.floor((total + off - volume) / math.log(2)) - 3, 60)

    def _bounded(self) -> float:
        """What share of drafts has a size that is weighed by a bound."""
        own = self.sizes[:, self.more - self.near : self.more + self.near + 1]
        bounded = 1 - own.sum(axis=1) / self.sizes.sum(axis=1)
        return float(bounded[self.weighed].sum()) / len(bounded)

    def _fit(self) -> Bools:
        """For which groups doubles hold all that is weighed, and no bound is too weak to be of
        use.
        """
        nats = np.abs(self.shift).max(axis=(1, 2))
        finite = self.weighed & np.isfinite(self.log_top) & np.isfinite(self.scale)
        finite &= np.isfinite(self.sizes).all(axis=1)
        wide = nats + float(self.place[-1]) <= WIDEST
        # What lies before one window lies before what lies after the next one.
        apart = np.abs(np.diff(self.shift, axis=2)).max(axis=(1, 2), initial=0.0)
        fits: Bools = finite & wide & (apart <= 2 * self.place[-1]) & (self.beyond_bits > 0)
        return fits
