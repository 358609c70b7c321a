"""Runs of candidates joined into blocks: the steps of a proposal for several quantiles."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import numpy.typing as npt

from duffdp.domain import Ints
from duffdp.sampling.entropy import Entropy
from duffdp.statistics.quantiles import FINEST, UNIT, Runs

Floats = npt.NDArray[np.float64]


class Blocks:
    """Runs joined while their ranks, times c, stay within `most` of each other: the steps of a proposal."""

    def __init__(self, runs: Runs, c: float, most: float) -> None:
        self._runs = runs
        begin = _block_begins(runs, c, most)
        end = np.append(begin[1:], len(runs.rank))
        self._begin, self._end = begin, end
        self.rank: Ints = (runs.rank[begin] + runs.rank[end - 1]) // 2
        width = runs.rank[end - 1] - runs.rank[begin]
        self.spread = float((width + (width > 0)).max()) * c / UNIT  # one more for the rounding of the middle
        self._whole = runs.start[end - 1] + runs.cells[end - 1] - runs.start[begin]
        self._parts = np.where(end - begin == 1, runs.parts[begin], 1)
        self.log_volume: Floats = np.log(self._whole) - np.log(self._parts)

    def window(self, low: int, high: int) -> tuple[int, int]:
        """The blocks that make up a range of runs."""
        return int(np.searchsorted(self._begin, low)), int(np.searchsorted(self._begin, high))

    def volume(self, block: int) -> Fraction:
        """How many candidates a block holds; a part of a candidate counts as such."""
        return Fraction(int(self._whole[block]), int(self._parts[block]))

    def place(self, block: int, source: Entropy) -> tuple[int, int]:
        """A uniform place in a block: its candidate and its rank."""
        runs, first = self._runs, int(self._begin[block])
        if self._parts[block] > 1:
            return int(runs.start[first]), int(runs.rank[first])
        cell, part = int(runs.start[first]) + source.below(int(self._whole[block])), source.below(1 << FINEST)
        run = int(np.searchsorted(runs.start, cell, side="left"))
        if run == len(runs.start) or runs.start[run] != cell:
            run -= 1  # within a gap
        return cell, int(runs.rank[run + (part * int(runs.parts[run]) >> FINEST)])


def _block_begins(runs: Runs, c: float, most: float) -> Ints:
    """Where blocks begin: at window edges, at parts of a candidate too wide to be joined, and where a stretch is full."""
    many = len(runs.rank)
    first = np.ones(many, dtype=bool)  # the first part of a candidate, or a gap
    first[1:] = runs.start[1:] != runs.start[:-1]
    group = np.cumsum(first) - 1
    heads = np.flatnonzero(first)
    tails = np.append(heads[1:], many) - 1
    room = int(most * UNIT / c)
    wide = (runs.rank[tails] - runs.rank[heads] > room)[group]
    # Cells of a fixed grid of ranks are stretches: what begins and ends in one cell differs by less than `room`.
    stretch = runs.rank // max(room, 1)
    fits = (stretch[heads] == stretch[tails])[group]
    edge = np.zeros(many + 1, dtype=bool)
    edge[runs.low + runs.high] = True
    begin = first & (edge[:-1] | ~fits | np.append(True, ~fits[:-1]) | np.append(True, stretch[1:] != stretch[:-1]))
    begin |= wide
    begin[1:] |= wide[:-1] & first[1:]
    begin[1:] |= first[1:] & (runs.start[:-1] + runs.cells[:-1] != runs.start[1:])  # between windows that do not meet
    return np.flatnonzero(begin)
