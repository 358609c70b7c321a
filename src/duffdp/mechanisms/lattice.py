"""Permute-and-flip on a lattice: a sharper law for distances that are whole numbers.

Promise: The whole part of the noise moves in steps as large as one record can move two candidates
apart.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

import numpy as np

from duffdp._steps import StepFunction
from duffdp.domain import Array, Floats, Ints
from duffdp.mechanisms.mechanism import Mechanism

NEGLIGIBLE_WEIGHT_NATS = 40.0  # what is lighter than the whole by this much is left out
# Of a quadrature over a panel in which the integrand falls by a factor of e or less.
PANEL_NODES = 8
MAX_SERIES_CHANCE = 1 / 4  # a power series is used below; SERIES_TERMS of it leave 2**-60
SERIES_TERMS = 30


@cache
def _gauss_legendre() -> tuple[Floats, Floats]:
    """Nodes between 0 and 1, and their weights."""
    nodes, weights = np.polynomial.legendre.leggauss(PANEL_NODES)
    return (nodes + 1) / 2, weights / 2


class Lattice(Mechanism):
    """Report the least `d - noise`, where the whole part of the noise is geometric in steps as
    large as one record can move two candidates apart, and the rest only breaks ties.

    With w an exponential noise of rate epsilon, the noise is `floor(w) / rate + (w - floor(w))`
    where permute-and-flip has `w / rate`. At the full rate the two are the same.

    Parameters
    ----------
    epsilon
        The privacy loss.

    Privacy
    -------
    Pure epsilon-differential privacy for neighbours that differ in one record; between two
    candidates exactly as much as randomised response tells. It is not bounded-range: do not account
    it as (epsilon^2 / 8)-zCDP. The domain is public. Distances have to be whole numbers (`unit` is
    1). Draws are exact (`tests/mechanisms/lattice_test.py`, `tests/sampling/race_test.py`).

    Utility
    -------
    Between two candidates one record apart it errs 1 / cosh(epsilon / 2) times as often as
    permute-and-flip, and as seldom as any mechanism that treats them alike. `law(steps)` gives the
    exact error.

    Runtime
    -------
    As for `PermuteAndFlip`; `law` grows with 1 / epsilon.

    References
    ----------
    McKenna and Sheldon, "Permute-and-flip: a new mechanism for differentially private selection"
    (NeurIPS 2020). Geng and Viswanath, "The optimal mechanism in differential privacy" (ISIT
    2014): noise in stairs. The proof is in `docs/explanation/mechanisms.md`, "On a lattice".

    Examples
    --------
    >>> import duffdp
    >>> steps = duffdp.statistics.Median("signed").steps([1, 2, 2, 3], duffdp.Grid(0, 4, 1))
    >>> round(duffdp.mechanisms.Lattice(2.0).law(steps).probability(2), 3)
    0.972
    >>> round(duffdp.mechanisms.PermuteAndFlip(2.0).law(steps).probability(2), 3)
    0.962
    """

    name = "lattice"
    loss_family = "geometric"
    on_lattice = True

    def _log_weight(self, steps: StepFunction, c: float) -> Floats:
        """One integral for the candidates on each of the 1 / rate lattices
        (`docs/explanation/mechanisms.md`, "On a lattice").
        """
        stride = int(1 / steps.rate)
        level, run = np.unique(steps.distance, return_inverse=True)
        excess = level - level[0]
        size = np.bincount(run, weights=steps.count).astype(np.float64)
        log_weight = np.empty(len(level))
        for first in range(stride):
            # How many strides each candidate needs to reach the lattice of `first`, or pass it.
            strides, short = np.divmod(excess + first, stride)
            members = short == 0
            if members.any():
                integral = _Integral(self.epsilon, strides + ~members, size, members)
                log_weight[members] = integral.log_weight()
        return log_weight[run]


@dataclass(frozen=True, slots=True)
class _Integral:
    """The law of the candidates on one lattice: exp(-epsilon k) times the integral over y in (0,
    1) of the chance that all others lose, with y = exp(-noise) of the winner beyond its k strides.
    A rival on the same lattice wins with the chance p y, one on another with p h, where p =
    exp(-epsilon k) for its own k, and h is the least power of exp(-epsilon) that is at least y.
    """

    epsilon: float
    strides: Ints
    size: Floats
    members: Array  # whether a level is on this lattice

    def log_weight(self) -> Floats:
        """Logarithm of the probability of one candidate of each level on this lattice."""
        epsilon, members, size = self.epsilon, self.members, self.size
        p = np.exp(-epsilon * self.strides)
        cell, place, log_g = self._nodes(p)
        h = np.exp(-epsilon * cell)
        y, top = h * place, float(h.max())
        log_g -= epsilon * cell  # places are in units of h
        # Few levels have a large chance; the logarithms of all others add up to a power series.
        direct = p * top > MAX_SERIES_CHANCE
        for count, chance, is_on in zip(size[direct], p[direct], members[direct], strict=True):
            log_g += count * np.log1p(-chance * (y if is_on else h))
        light, order = p[~direct] * top, np.arange(1, SERIES_TERMS + 1)
        sums = light ** order[:, None] * size[~direct] / order[:, None]
        for kind, chance in ((members[~direct], y / top), (~members[~direct], h / top)):
            log_g -= chance * _series(sums[:, kind].sum(axis=1), chance)
        largest = float(log_g.max())
        g = np.exp(log_g - largest)
        integral = np.empty(len(p))
        for i in np.flatnonzero(direct & members):
            integral[i] = (g / (1 - p[i] * y)).sum()
        moments, share = np.empty(SERIES_TERMS), y / top
        for power in range(SERIES_TERMS):
            moments[power] = g.sum()
            g *= share
        integral[~direct] = _series(moments, light)
        log_weights: Floats = np.log(integral[members]) + largest - epsilon * self.strides[members]
        return log_weights

    def _nodes(self, p: Floats) -> tuple[Floats, Floats, Floats]:
        """Nodes of a quadrature: the cell of each, exp(-epsilon (cell + 1)) < y <= exp(-epsilon
        cell), its place as a share of the upper end, and the logarithm of its weight. In a panel
        the integrand falls by a factor of e at most; where it is negligible there are none."""
        epsilon, ratio = self.epsilon, math.exp(-self.epsilon)
        on, off = (float(self.size[kind] @ p[kind]) for kind in (self.members, ~self.members))
        # The integral is at least about exp(-epsilon) / (on + off).
        cutoff = NEGLIGIBLE_WEIGHT_NATS + epsilon
        begin = math.ceil(math.log(max(on * ratio + off, cutoff) / cutoff) / epsilon)
        end = math.ceil(max(begin, (cutoff + math.log(max(on + off, 1.0))) / epsilon)) + 1
        cell = np.arange(begin, end + 1, dtype=np.float64)
        steepness = np.maximum(on * np.exp(-epsilon * cell), 1e-200)
        low, high = np.full(len(cell), ratio), np.minimum(1, cutoff / steepness)
        low[-1] = 0  # the last cell is all the rest
        panels = np.maximum(1, np.ceil(steepness * (high - low))).astype(np.int64)
        width = np.repeat((high - low) / panels, panels)[:, None]
        panel = np.arange(panels.sum()) - np.repeat(np.cumsum(panels) - panels, panels)
        nodes, weights = _gauss_legendre()
        place = np.repeat(low, panels)[:, None] + width * (panel[:, None] + nodes)
        return (
            np.repeat(cell, panels * PANEL_NODES),
            place.ravel(),
            np.log(width * weights).ravel(),
        )


def _series(coefficients: Floats, x: Floats) -> Floats:
    """The sum of the coefficients times 1, x, x**2, ..."""
    value = np.zeros_like(x)
    for coefficient in coefficients[::-1]:
        value = value * x + coefficient
    return value
