"""The lines log LS(k) - beta k, whose upper envelope over beta is the logarithm of the smooth
sensitivity.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

# points less than this above a chord are left out: a relative error of SS far below that of its use
ROUNDING = 1e-12


class Envelope(Protocol):
    """The upper envelope of lines that fall with slope `distance`."""

    def log_smooth(self, beta: Floats) -> Floats:
        """Its height at every beta."""

    def between(self, low: float, high: float) -> Envelope:
        """An envelope that is the same from beta = low to beta = high, perhaps of fewer lines."""


class Lines:
    """All lines: nothing to prepare, a pass over them for every beta. Best for a few of either."""

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
    """The lines that matter, which are the corners of the concave hull of the points (k, log
    LS(k)): a pass, then a bisection for every beta."""

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
    left = np.arange(1, len(x) - 1)
    while len(left):
        height = y[left] - np.interp(x[left], x[corner], y[corner])
        above = height > ROUNDING
        left, height = left[above], height[above]
        if not len(left):
            break
        chord = corner.searchsorted(left)
        begin = np.flatnonzero(np.diff(chord, prepend=-1))
        top = np.maximum.reduceat(height, begin)
        farthest = height == np.repeat(top, np.diff(begin, append=len(left)))
        corner = np.sort(np.concatenate([corner, left[farthest]]))
        left = left[~farthest]
    return corner
