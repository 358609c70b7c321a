"""The probabilities of candidates in doubles, to about 12 digits, for planning and tests. No draw
uses them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

import numpy as np

from duffdp._steps import StepFunction, Windows
from duffdp.domain import Array, Floats, Ints

NEGLIGIBLE_WEIGHT_NATS = 40.0  # what is lighter than the whole by this much is left out
# Of a quadrature over a panel in which the integrand falls by a factor of e or less.
PANEL_NODES = 8
MAX_SERIES_CHANCE = 1 / 4  # a power series is used below; SERIES_TERMS of it leave 2**-60
SERIES_TERMS = 30


@cache
def _gauss_legendre(count: int) -> tuple[Floats, Floats]:
    """Nodes between 0 and 1, and their weights."""
    nodes, weights = np.polynomial.legendre.leggauss(count)
    return (nodes + 1) / 2, weights / 2


# Permute-and-flip.


def permute_and_flip_log_weights(steps: StepFunction, c: float) -> Floats:
    """Logarithm of the probability of one candidate of each run, up to a common constant."""
    level, run = np.unique(steps.distance, return_inverse=True)
    size = np.bincount(run, weights=steps.count).astype(np.float64)
    log_weight: Floats = _level_log_weights(c * (level - level[0])[None], size[None])[0, run]
    return log_weight


def permute_and_flip_masses(windows: Windows, c: float) -> Floats:
    """The probability of every run of several whole step functions."""
    runs = np.diff(np.append(windows.begin, len(windows.start)))
    group = np.repeat(np.arange(len(runs)), runs)
    place = np.arange(len(group)) - np.repeat(windows.begin, runs)
    least = np.minimum.reduceat(windows.distance, windows.begin)
    nats = np.full((len(runs), int(runs.max())), np.inf)
    nats[group, place] = c * (windows.distance - least[group])
    size = np.zeros(nats.shape)
    size[group, place] = windows.count
    order = np.argsort(nats, axis=1)
    mass = np.empty(nats.shape)
    ordered = [np.take_along_axis(array, order, axis=1) for array in (nats, size)]
    np.put_along_axis(mass, order, np.exp(_level_log_weights(*ordered)), axis=1)
    mass *= size
    mass /= mass.sum(axis=1, keepdims=True)
    probabilities: Floats = mass[group, place]
    return probabilities


def _level_log_weights(nats: Floats, size: Floats) -> Floats:
    """Logarithm of the probability of one candidate of each level, a row for each law: levels rise
    from 0, and `size` is the number of their candidates.

    P(x) = p_x times the integral over y in (0, 1) of G(y) / (1 - p_x y), G(y) = product over all
    candidates of (1 - p y), p = exp(-nats): y is exp(-noise) of the winner. Gauss-Legendre on
    panels of width 1 / sum(p), over which G falls by at least a factor e.
    """
    nodes, weights = _gauss_legendre(24)
    p = np.exp(-nats)
    mass = (size * p).sum(axis=1, keepdims=True)
    panels = max(1, min(int(np.ceil(mass.max())), 48))
    width = np.minimum(1.0, panels / mass) / panels
    y = (np.arange(panels)[:, None] + nodes).ravel() * width
    weight = np.tile(weights, panels) * width
    # Beyond this p is so small that log(1 - p y) is -p y and 1 / (1 - p y) is 1, to the last
    # digit.
    heavy = int((p > 2.0**-60).any(axis=0).sum())
    log_g = -(size[:, heavy:] * p[:, heavy:]).sum(axis=1, keepdims=True) * y
    others = np.empty((heavy, *y.shape))
    for level in range(heavy):
        chance = -p[:, level, None] * y
        log_g += size[:, level, None] * np.log1p(chance)
        others[level] = 1 + chance
    g = weight * np.exp(log_g)
    integral = np.repeat(g.sum(axis=1, keepdims=True), nats.shape[1], axis=1)
    for level in range(heavy):
        integral[:, level] = (g / others[level]).sum(axis=1)
    log_weights: Floats = np.log(integral) - nats
    return log_weights


# On a lattice.


def lattice_log_weights(steps: StepFunction, epsilon: float) -> Floats:
    """Logarithm of the probability of one candidate of each run: one integral for the candidates on
    each of the 1 / rate lattices (`docs/explanation/mechanisms.md`, "On a lattice").
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
            integral = _LatticeIntegral(epsilon, strides + ~members, size, members)
            log_weight[members] = integral.log_weight()
    return log_weight[run]


@dataclass(frozen=True, slots=True)
class _LatticeIntegral:
    """The distribution of the candidates on one lattice: exp(-epsilon k) times the integral over y
    in (0, 1) of the probability that all others lose, with y = exp(-noise) of the winner beyond its
    k strides. A rival on the same lattice wins with the chance p y, one on another with p h, where
    p = exp(-epsilon k) for its own k, and h is the least power of exp(-epsilon) that is at least y.
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
        nodes, weights = _gauss_legendre(PANEL_NODES)
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
