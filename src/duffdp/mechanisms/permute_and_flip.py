"""Permute-and-flip.

Promise: Candidates race with exponential noise: epsilon-differentially private for distances that
change within 1 / rate of each other.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from duffdp._steps import StepFunction
from duffdp.domain import Floats
from duffdp.mechanisms.mechanism import Mechanism


@cache
def _gauss_legendre() -> tuple[Floats, Floats]:
    nodes, weights = np.polynomial.legendre.leggauss(24)
    return nodes, weights


class PermuteAndFlip(Mechanism):
    """Permute-and-flip: report the least `c d - noise` with exponential noise for each candidate.

    Never worse in expectation than the exponential mechanism at the same epsilon, and better on
    coarse domains.

    Parameters
    ----------
    epsilon
        The privacy loss; c is `steps.rate * steps.unit * epsilon` as for `Exponential`.

    Privacy
    -------
    Pure epsilon-differential privacy for neighbours that differ in one record. Its privacy loss is
    that of Laplace noise at worst; it is not bounded-range: do not account it as
    (epsilon^2 / 8)-zCDP. The domain is public. Draws are exact
    (`tests/guarantees/neighbours_test.py`, `tests/guarantees/dominating_pairs_test.py`,
    `tests/sampling/race_test.py`).

    Utility
    -------
    `law(steps)` gives the exact error.

    Runtime
    -------
    One random word and three logarithms for a run.

    References
    ----------
    McKenna and Sheldon, "Permute-and-flip: a new mechanism for differentially private selection"
    (NeurIPS 2020). Ding, Kifer, Steinke, Wang, Xiao and Zhang, "The permute-and-flip mechanism is
    identical to report-noisy-max with exponential noise" (2021).

    Examples
    --------
    >>> import duffdp
    >>> steps = duffdp.statistics.Median().steps([1, 2, 2, 3], duffdp.Grid(0, 4, 1))
    >>> round(duffdp.mechanisms.PermuteAndFlip(1.0).law(steps).probability(2), 3)
    0.664
    """

    name = "permute-and-flip"
    loss_family = "laplace"

    def _log_weight(self, steps: StepFunction, c: float) -> Floats:
        """P(x) = p_x times the integral over y in (0, 1) of G(y) / (1 - p_x y), G(y) = product over
        all candidates of (1 - p y), p = exp(-c (d - min d)): y is exp(-noise) of the winner.
        Gauss-Legendre on panels of width 1 / sum(p), over which G falls by at least a factor e."""
        nodes, weights = _gauss_legendre()
        level, run = np.unique(steps.distance, return_inverse=True)
        size = np.bincount(run, weights=steps.count.astype(np.float64))
        p = np.exp(-c * (level - level[0]))
        mass = float(size @ p)
        panels = max(1, min(int(np.ceil(mass)), 48))
        width = min(1.0, panels / mass) / panels
        y = (np.arange(panels)[:, None] + (nodes + 1) / 2).ravel() * width
        weight = np.tile(weights / 2, panels) * width
        # Beyond this p is so small that log(1 - p y) is -p y and 1 / (1 - p y) is 1, to the last
        # digit.
        heavy = int((p > 2.0**-60).sum())
        log_g = -float(size[heavy:] @ p[heavy:]) * y
        inverse = np.ones((heavy, len(y)))
        for row, (count, chance) in enumerate(zip(size[:heavy], p, strict=False)):
            log_g += count * np.log1p(-chance * y)
            inverse[row] /= 1 - chance * y
        g = weight * np.exp(log_g)
        integral = np.full(len(level), g.sum())
        integral[:heavy] = inverse @ g
        log_weight: Floats = (np.log(integral) - c * (level - level[0]))[run]
        return log_weight
