"""Points of the noise that mechanisms put on whole numbers, with their probabilities."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from duffdp.domain import Floats
from duffdp.mechanisms.geometric import Geometric
from duffdp.mechanisms.staircase import Staircase, best_width

LISTED = 2**14  # points that are looked at one by one; where there are more, as many stand for all
FINER = 2**3  # times as many points are all listed rather than thinned out
NEGLIGIBLE = 37.0  # nats: less than doubles can tell from nothing
DIRECTIONS = 2**4  # at each distance from 0 of two numbers
LEAST = 1e-3  # below, the noise is Laplace's: only wider, in proportion


class Points(NamedTuple):
    """Noise, a row for each of several numbers and a column for each point, and how likely each
    point is.
    """

    noise: Floats
    weights: Floats


def geometric_points(mechanism: Geometric, sensitivity: int, many: int) -> Points:
    """All of the noise of one number, or so many points that are equally likely."""
    each = mechanism.epsilon / sensitivity
    most = math.ceil(NEGLIGIBLE / each)
    if 2 * most + 1 <= min(LISTED, FINER * many):
        noise = np.arange(-most, most + 1, dtype=np.float64)
        return Points(noise[None, :], np.exp(-each * np.abs(noise)))
    noise = geometric_quantile(each, (np.arange(many) + 0.5) / many)
    return Points(noise[None, :], np.full(many, 1 / many))


def geometric_quantile(epsilon: float, u: Floats) -> Floats:
    """The noise below which, or at which, is a share u of all."""
    outer = np.minimum(u, 1 - u) * (1 + math.exp(-epsilon))
    away: Floats = np.maximum(np.floor(-np.log(outer) / epsilon), 0.0)
    return np.where(u < 0.5, -away, away)


def staircase_points(mechanism: Staircase, sensitivity: int, numbers: int, many: int) -> Points:
    """Noise of one number or of two, at about so many points that are equally likely."""
    noise = _staircase(mechanism.epsilon, sensitivity, numbers, many)
    return Points(noise, np.full(noise.shape[1], 1 / noise.shape[1]))


@lru_cache(maxsize=8)
def _staircase(epsilon: float, sensitivity: int, numbers: int, many: int) -> Floats:
    wider = max(1.0, LEAST / epsilon)
    rate, unit = epsilon * wider, float(sensitivity) * wider
    width = best_width(rate, sensitivity, numbers) * wider
    edges = np.append(0.0, np.arange(int(60 / rate) + 2) * unit + width)
    inside = _points(edges, numbers)
    mass = np.exp(-rate * np.arange(len(edges) - 1)) * np.diff(inside)
    upto = np.append(0.0, np.cumsum(mass))
    distances = many // (2 if numbers == 1 else DIRECTIONS)
    wanted = (np.arange(distances) + 0.5) / distances * upto[-1]
    step = np.searchsorted(upto, wanted, side="right") - 1
    share = (wanted - upto[step]) / mass[step]
    within = inside[step] + share * np.diff(inside)[step]
    # A point is as far from 0 as the largest ball that does not hold it.
    root = within if numbers == 1 else np.sqrt(np.maximum(2 * within - 1, 0))
    away = np.floor((root + 1) / 2)
    if numbers == 1:
        return np.concatenate([away, -away])[None, :]
    # Directions are turned from distance to distance, so that all of them come up.
    turned = (np.arange(DIRECTIONS) + 0.5) / DIRECTIONS
    turned = (turned + np.arange(distances)[:, None] * (math.sqrt(5) - 1) / 2) % 1
    at = np.floor(turned * 4 * away[:, None])
    side, along = np.divmod(at, np.maximum(away, 1)[:, None])
    across = away[:, None] - along
    sides = [side == i for i in range(4)]
    first = np.select(sides, [across, -along, -across, along])
    second = np.select(sides, [along, across, -along, -across])
    return np.array([first.ravel(), second.ravel()])


def _points(radius: Floats, numbers: int) -> Floats:
    """How many points are closer to 0 than each radius."""
    many = 2 * radius - 1 if numbers == 1 else 2 * radius * (radius - 1) + 1
    return np.where(radius > 0, many, 0.0)
