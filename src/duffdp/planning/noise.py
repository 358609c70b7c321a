"""The error of whole numbers with staircase noise, from points of the noise that are equally
likely."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from duffdp.domain import Floats, Grid
from duffdp.mechanisms.staircase import Staircase, best_width

DISTANCES = 2**11  # of the noise from 0, equally likely
DIRECTIONS = 2**5  # at each of these
LEAST = 1e-3  # below, the noise is Laplace's: only wider, in proportion


@dataclass(frozen=True, slots=True)
class Noisy:
    """Numbers that get noise: what they make of a value, and where a target lies among these."""

    totals: tuple[int, ...]
    sensitivity: int
    values: Callable[[Floats], Floats]
    position: Callable[[Any], float]

    @classmethod
    def sum_of(cls, totals: tuple[int, ...], sensitivity: int, domain: Grid) -> Noisy:
        """A sum, in units of the domain."""
        unit = float(domain.exact_unit)
        return cls(totals, sensitivity, lambda numbers: numbers[0] * unit, float)

    @classmethod
    def mean_of(
        cls, totals: tuple[int, ...], sensitivity: int, domain: Grid, rounded: bool
    ) -> Noisy:
        """A mean from soft counts, perhaps rounded to the step of the domain."""
        top = domain.size - 1

        def values(numbers: Floats) -> Floats:
            above, total = numbers[0], numbers.sum(axis=0)
            found = np.full(len(total), top / 2)
            np.divide(above * top, total, where=total > 0, out=found)
            np.clip(found, 0, top, out=found)
            return (np.floor(found + 0.5) if rounded else found) * domain.spacing

        return cls(
            totals, sensitivity, values, lambda target: domain.place(target) * domain.spacing
        )


class NoisyLaw:
    """What is released for numbers with staircase noise, as values that are equally likely.

    Privacy
    -------
    Not private: it depends on the data without noise. For planning on public data.
    """

    def __init__(self, noisy: Noisy, epsilon: float) -> None:
        numbers = np.array([float(total) for total in noisy.totals])[:, None]
        self._values = noisy.values(numbers + points(epsilon, noisy.sensitivity, len(noisy.totals)))
        self._position = noisy.position

    def expected_error(self, target: Any) -> float:
        """Expected distance between the output and `target`."""
        return float(self._errors(target).mean())

    def tail(self, target: Any, t: float) -> float:
        """Probability that the output is more than `t` away from `target`."""
        return float((self._errors(target) > t).mean())

    def _errors(self, target: Any) -> Floats:
        errors: Floats = np.abs(self._values - self._position(target))
        return errors


class NoisyLaws:
    """A staircase mechanism by its epsilon, as planning asks for it."""

    def __init__(self, mechanism: Staircase) -> None:
        self._epsilon = mechanism.epsilon

    def law(self, noisy: Noisy) -> NoisyLaw:
        """The law of what is released."""
        return NoisyLaw(noisy, self._epsilon)


@lru_cache(maxsize=8)
def points(epsilon: float, sensitivity: int, numbers: int) -> Floats:
    """Noise, a row for each number, of which all columns are equally likely: about a thousandth is
    what means of errors are off by.
    """
    wider = max(1.0, LEAST / epsilon)
    rate, unit = epsilon * wider, float(sensitivity) * wider
    width = best_width(rate, sensitivity, numbers) * wider
    edges = np.append(0.0, np.arange(int(60 / rate) + 2) * unit + width)
    inside = _points(edges, numbers)
    mass = np.exp(-rate * np.arange(len(edges) - 1)) * np.diff(inside)
    upto = np.append(0.0, np.cumsum(mass))
    many = DISTANCES * (DIRECTIONS // 2 if numbers == 1 else 1)
    wanted = (np.arange(many) + 0.5) / many * upto[-1]
    step = np.searchsorted(upto, wanted, side="right") - 1
    share = (wanted - upto[step]) / mass[step]
    within = inside[step] + share * np.diff(inside)[step]
    # A point is as far from 0 as the largest ball that does not hold it.
    root = within if numbers == 1 else np.sqrt(np.maximum(2 * within - 1, 0))
    away = np.floor((root + 1) / 2)
    if numbers == 1:
        return np.concatenate([away, -away])[None, :]
    at = np.floor((np.arange(DIRECTIONS) + 0.5) / DIRECTIONS * 4 * away[:, None])
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
