"""Runs of candidates joined into blocks: the steps of a proposal for several quantiles."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import numpy.typing as npt

from duffdp.domain import Ints
from duffdp.rank_profile import FINEST, UNIT, RankProfile
from duffdp.sampling.entropy import Entropy

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]


class Blocks:
    """Runs joined while their ranks, times c, stay within `most` of each other.

    A block holds whole candidates and gaps, or parts of one candidate.
    """

    def __init__(self, profile: RankProfile, c: float, most: float) -> None:
        self._profile = profile
        begin, within = _block_begins(profile, min(int(most * UNIT / c), 2**62))
        end = np.append(begin[1:], len(profile.rank))
        self._begin = begin
        first, last = profile.rank[begin], profile.rank[end - 1]
        width = last - first
        self.rank: Ints = first + width // 2
        self.spread = (
            float((width + (width > 0)).max()) * c / UNIT
        )  # one more for the rounding of the middle
        whole = profile.start[end - 1] + profile.cells[end - 1] - profile.start[begin]
        self._many = np.where(within, end - begin, whole)
        self._parts = np.where(within, profile.parts[begin], 1)
        self._within = within
        self.log_volume: Floats = np.log(self._many) - np.log(self._parts)

    def window(self, j: int) -> tuple[int, int]:
        """The blocks that make up the window of quantile j."""
        low, high = self._profile.low[j], self._profile.high[j]
        return int(np.searchsorted(self._begin, low)), int(np.searchsorted(self._begin, high))

    def volume(self, block: int) -> Fraction:
        """How many candidates a block holds; a part of a candidate counts as such."""
        return Fraction(int(self._many[block]), int(self._parts[block]))

    def place(self, block: int, source: Entropy) -> tuple[int, int]:
        """A uniform place in a block: its candidate and its rank."""
        runs, first = self._profile, int(self._begin[block])
        place = source.below(int(self._many[block]))
        if self._within[block]:
            return int(runs.start[first]), int(runs.rank[first + place])
        cell, part = int(runs.start[first]) + place, source.below(1 << FINEST)
        run = int(np.searchsorted(runs.start, cell, side="left"))
        if run == len(runs.start) or runs.start[run] != cell:
            run -= 1  # within a gap
        return cell, int(runs.rank[run + (part * int(runs.parts[run]) >> FINEST)])


def _block_begins(runs: RankProfile, room: int) -> tuple[Ints, Bools]:
    """Where blocks begin, and whether each lies within one candidate.

    Cells of a fixed grid of ranks, `room` wide, are stretches: what begins and ends in one differs by less than `room`.
    """
    many = len(runs.rank)
    start, part = runs.start, runs.part
    fresh = _changes(start)  # the first run of a candidate or gap
    head = np.flatnonzero(fresh)
    tail = np.append(head[1:], many) - 1
    edge = np.zeros(many + 1, dtype=bool)
    edge[runs.low + runs.high] = True
    # Runs that do not go on where the one before ended: a hole between windows.
    hole = np.ones(many, dtype=bool)
    meets = (
        (start[:-1] + runs.cells[:-1] == start[1:])
        & (part[:-1] == runs.parts[:-1] - 1)
        & (part[1:] == 0)
    )
    hole[1:] = np.where(fresh[1:], ~meets, part[1:] != part[:-1] + 1)
    cut = edge[:-1] | hole | _changes(runs.rank // max(room, 1))
    # A candidate that is not whole, or is cut, is taken by its parts.
    inside = np.cumsum(cut & ~fresh)
    split = (tail - head + 1 != runs.parts[head]) | (inside[tail] != inside[head])
    within = np.repeat(split, tail - head + 1)
    begin = np.flatnonzero(cut | (fresh & (within | np.append(True, within[:-1]))))
    return begin, within[begin]


def _changes(values: Ints) -> Bools:
    """Where a value differs from the one before."""
    changes = np.ones(len(values), dtype=bool)
    changes[1:] = values[1:] != values[:-1]
    return changes
