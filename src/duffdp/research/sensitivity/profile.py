"""The sensitivities of one statistic on one data set."""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from duffdp.domain import Grid, Ints
from duffdp.engines.arrays import Column, read
from duffdp.errors import DuffError, UnsupportedData
from duffdp.research.sensitivity.hull import Envelope, Hull, Lines

Floats = npt.NDArray[np.float64]

ENOUGH = 256  # so many beta in all are worth a hull
MANY = 2**13  # and so many levels are worth one at once


class Sensitivity:
    """Local, global and smooth sensitivity of a statistic at a data set.

    `median`, `quantile`, `mean` and `mode` make one from data. Made by hand it serves any ladder:
    local sensitivities at distance 0, 1, 2, ... (or upper bounds of them) from whatever source.

    Parameters
    ----------
    value
        The statistic of the data set, without noise.
    levels
        The largest local sensitivity among the data sets within distance k, for k = 0, 1, ...:
        finite, 0 or more, never falling. The last one is the global sensitivity.
    bounds
        The public range of outputs, to which a baseline clips.

    Privacy
    -------
    Not private: everything here depends on the data without noise. It is the input of a baseline
    and never a release.

    Runtime
    -------
    A pass over the levels for each of the first beta; once there are many, their concave hull and a
    bisection for every beta.

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
        self._asked = 0
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
            raise DuffError(f"a distance is 0 or more, got {k!r}.")
        return float(self.levels[min(k, len(self.levels) - 1)])

    def smooth(self, beta: Any) -> Any:
        """The beta-smooth sensitivity: the largest exp(-beta k) LS(k); for one beta or an array of
        them.
        """
        smooth = np.exp(self.log_smooth(beta))
        return smooth if smooth.ndim else float(smooth)

    def log_smooth(self, beta: Any) -> Floats:
        """Logarithm of the smooth sensitivity, which stays finite where it underflows itself; -inf
        if no record matters.
        """
        betas = np.asarray(beta, dtype=np.float64)
        if not ((betas >= 0) & np.isfinite(betas)).all():
            raise DuffError(
                f"beta must be a finite number of 0 or more, got {beta!r}. Pass for example "
                "beta=0.1."
            )
        if self.global_ == 0:
            return np.full(betas.shape, -math.inf)
        self._asked += betas.size
        return (self.hull if self._asked > ENOUGH else self.envelope).log_smooth(betas)

    @property
    def envelope(self) -> Envelope:
        """What smooth sensitivity depends on, in the form that is cheapest for a few beta; some
        level must be above 0.
        """
        return self.hull if len(self.levels) > MANY or "hull" in self.__dict__ else self._lines

    @cached_property
    def hull(self) -> Hull:
        """The same, in the form that is cheapest for many beta."""
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
    index, count = Column(read(values), domain).tally()
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
