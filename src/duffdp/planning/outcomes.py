"""What a recipe can draw for one group, as numbers with their probabilities: all of them, points
that stand for all, or seeded draws."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from duffdp.domain import Floats, Ints, PublicSet
from duffdp.errors import DuffError
from duffdp.mechanisms.geometric import Geometric
from duffdp.mechanisms.law import Law
from duffdp.mechanisms.mechanism import Mechanism
from duffdp.mechanisms.staircase import Staircase
from duffdp.pipeline.draw import draw
from duffdp.pipeline.recipe import Recipe
from duffdp.planning.noise import (
    LISTED,
    Points,
    geometric_points,
    geometric_quantile,
    staircase_points,
)
from duffdp.sampling.entropy import SeededEntropy
from duffdp.statistics.entry import Part
from duffdp.steps import StepFunction

NEGLIGIBLE = 40.0  # nats, beyond which a law needs no distances: doubles do not tell the difference


class Outcomes(NamedTuple):
    """Rows of numbers as they are drawn, and how likely each is."""

    rows: Sequence[Sequence[int]]
    weights: Floats


class NoLaw(DuffError):
    """Only a simulation can tell."""


@dataclass(frozen=True, slots=True)
class Effort:
    """How many points stand for a law that is not listed, and how many draws for one that is not
    known, from which seed.
    """

    points: int
    draws: int
    seed: np.random.SeedSequence


def law_of(part: Part, mechanism: Any, source: Any, domain: PublicSet) -> Law | None:
    """The law of one candidate; None for a part that is no such draw."""
    statistic = part.statistic
    if not isinstance(mechanism, Mechanism) or not hasattr(statistic, "windows"):
        return None
    if hasattr(statistic, "given") or hasattr(statistic, "asked"):
        return None
    size = statistic.outputs(domain).size if hasattr(statistic, "outputs") else domain.size
    enough = (NEGLIGIBLE + math.log(size)) / (float(statistic.rate) * mechanism.epsilon)
    return mechanism.law(_whole(statistic.windows([source], domain, enough)[0]))


def _whole(window: StepFunction) -> StepFunction:
    """A window with the least distance that they can have for all that it leaves out."""
    if window.tail is None:
        return window
    end = np.append(0, window.start + window.count)
    left = np.append(window.start, window.domain.size) - end
    end, left = end[left > 0], left[left > 0]
    start = np.concatenate([window.start, end])
    order = np.argsort(start)
    count = np.concatenate([window.count, left])[order]
    distance = np.append(window.distance, np.full(len(left), window.tail.floor))[order]
    return replace(window, start=start[order], count=count, distance=distance, tail=None)


def noisy_outcomes(
    part: Part, mechanism: Any, source: Any, domain: PublicSet, alone: bool, many: int
) -> Outcomes | None:
    """Whole numbers with noise; None for what is something else.

    `alone` says that what is released of a number depends on no other: then all may get the same
    noise.
    """
    statistic = part.statistic
    if type(mechanism) not in (Geometric, Staircase) or hasattr(statistic, "given"):
        return None
    totals, moved = statistic.totals(source, domain), statistic.sensitivity(domain)
    points: Points
    if isinstance(mechanism, Staircase):
        points = staircase_points(mechanism, moved, len(totals), many)
    elif alone or len(totals) == 1:
        points = geometric_points(mechanism, moved, many)
        points = points._replace(noise=np.repeat(points.noise, len(totals), axis=0))
    else:
        return None
    noise = points.noise.T.tolist()
    rows = [[total + int(k) for total, k in zip(totals, row, strict=True)] for row in noise]
    return Outcomes(rows, points.weights)


class _Candidate:
    """One number that is a candidate."""

    def __init__(self, law: Law) -> None:
        self._start, self._count, self._mass = law.runs()

    def listed(self) -> tuple[Ints, Floats] | None:
        """All candidates with their probabilities, if they are not too many."""
        if int(self._start[-1] + self._count[-1]) > LISTED:
            return None
        each = np.repeat(self._mass / self._count, self._count)
        return np.arange(len(each)), each

    def quantile(self, u: Floats) -> Ints:
        """The candidates up to which the probabilities add up to u."""
        upto = np.cumsum(self._mass)
        u = u * upto[-1]
        run = np.minimum(np.searchsorted(upto, u, side="right"), len(upto) - 1)
        share = (u - (upto[run] - self._mass[run])) / self._mass[run]
        inside = np.clip((share * self._count[run]).astype(np.int64), 0, self._count[run] - 1)
        found: Ints = self._start[run] + inside
        return found


class _Noisy:
    """One number with geometric noise."""

    def __init__(self, total: int, mechanism: Geometric, sensitivity: int) -> None:
        self._total, self._mechanism, self._sensitivity = total, mechanism, sensitivity

    def listed(self) -> tuple[Ints, Floats] | None:
        """All outcomes with their probabilities, if they are not too many."""
        (noise,), weights = geometric_points(self._mechanism, self._sensitivity, LISTED + 1)
        if len(noise) > LISTED:
            return None
        return self._total + noise.astype(np.int64), weights / weights.sum()

    def quantile(self, u: Floats) -> Ints:
        """The outcomes up to which the probabilities add up to u."""
        each = self._mechanism.epsilon / self._sensitivity
        found: Ints = self._total + geometric_quantile(each, u).astype(np.int64)
        return found


def independent_outcomes(
    made: Recipe, source: Any, domain: PublicSet, many: int
) -> Outcomes | None:
    """The outcomes of parts that do not depend on each other; None if some do, or if the law of
    one is not known.
    """
    numbers: list[_Candidate | _Noisy] = []
    for part, mechanism in made.parts:
        law = law_of(part, mechanism, source, domain)
        if law is not None:
            numbers.append(_Candidate(law))
        elif type(mechanism) is Geometric and not hasattr(part.statistic, "given"):
            moved = part.statistic.sensitivity(domain)
            totals = part.statistic.totals(source, domain)
            numbers += [_Noisy(total, mechanism, moved) for total in totals]
        else:
            return None
    listed = [number.listed() for number in numbers]
    every = [one for one in listed if one is not None]
    if len(every) == len(listed) and math.prod(len(one) for one, _ in every) <= LISTED:
        rows = np.stack([part.ravel() for part in np.meshgrid(*(one for one, _ in every))], axis=1)
        shares = np.meshgrid(*(weights for _, weights in every))
        return Outcomes(rows.tolist(), np.prod([share.ravel() for share in shares], axis=0))
    at = evenly_spread(many, len(numbers))
    columns = [number.quantile(u) for number, u in zip(numbers, at, strict=True)]
    return Outcomes(np.stack(columns, axis=1).tolist(), np.full(many, 1 / many))


def evenly_spread(many: int, numbers: int) -> Floats:
    """Points between 0 and 1, a row for each of several numbers: multiples of the roots of primes
    (Richtmyer 1951), the same for every epsilon, so that errors change smoothly with it.
    """
    primes: list[int] = []
    candidate = 2
    while len(primes) < numbers:
        if all(candidate % prime for prime in primes):
            primes.append(candidate)
        candidate += 1
    roots = np.array([math.sqrt(prime) for prime in primes])
    return np.mod(0.5 + np.outer(roots, np.arange(1, many + 1)), 1.0)


def simulated_outcomes(made: Recipe, source: Any, domain: PublicSet, effort: Effort) -> Outcomes:
    """Seeded draws, through what draws releases; refused where none are allowed."""
    if not effort.draws:
        raise NoLaw("the law of this release is not known: its errors have to be simulated.")
    entropy = SeededEntropy(np.random.default_rng(effort.seed))
    rows = draw(made, [source] * effort.draws, domain, entropy)
    return Outcomes(rows, np.full(len(rows), 1 / len(rows)))
