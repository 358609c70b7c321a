"""The upper hull of log LS(k) over k: all that smooth sensitivity depends on."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

ROUNDING = 1e-12  # points less than this above a chord are left out: a relative error of SS far below that of its use


class Hull:
    """The envelope of the lines log LS(k) - beta k, from the corners of the concave hull of the points (k, log LS(k))."""

    def __init__(self, levels: Floats) -> None:
        positive = levels.nonzero()[0]
        log_level = np.log(levels[positive])
        corner = upper_hull(positive.astype(np.float64), log_level)
        self.distance = positive[corner].astype(np.float64)
        self.log_level = log_level[corner]
        # Negated, so that they ascend: the line of corner i is on top for beta between slope i and slope i - 1.
        self.falling = -np.diff(self.log_level) / np.diff(self.distance)

    def log_smooth(self, beta: Floats) -> Floats:
        """Logarithm of the smooth sensitivity for every beta, each by one bisection."""
        corner = self.falling.searchsorted(-beta)
        log_smooth: Floats = self.log_level[corner] - beta * self.distance[corner]
        return log_smooth


def upper_hull(x: Floats, y: Floats) -> npt.NDArray[np.intp]:
    """Indices of the corners of the upper hull of points with ascending x.

    Quickhull on all chords at once: the point farthest above a chord between two corners is a corner.
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
