"""What a release would draw: the law of every draw as it reaches a sampler, from the numbers that
the sampler is given."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pytest

import duffdp.mechanisms.geometric as geometric
import duffdp.mechanisms.joint.proposal as proposal
import duffdp.mechanisms.mechanism as mechanism
import duffdp.mechanisms.piecewise_laplace as piecewise_laplace
from duffdp.audit.neighbours import Distribution, Listed, Stepped
from duffdp.mechanisms import Exponential, Geometric, Joint, PermuteAndFlip, PiecewiseLaplace
from duffdp.mechanisms.mechanism import Mechanism
from duffdp.mechanisms.registry import HOMES
from duffdp.rank_profile import FINEST, UNIT, part_count
from duffdp.sampling.lazy_uniform import LazyUniform
from duffdp.steps import StepFunction

KNOWN = {
    "exponential",
    "permute-and-flip",
    "two-sided-geometric",
    "joint-exponential",
    "piecewise-laplace",
}
LARGE = 14  # counts from here on are one output: no data set of a test has as many records
LISTED: dict[Any, Listed] = {}  # laws that take long, by all that they depend on
BITS = 44  # of a uniform number: probabilities are found to 2**-BITS


@dataclass(frozen=True)
class Draw:
    """One draw for one group: the mechanism, the epsilon that its sampler follows, and the law of
    what it returns."""

    mechanism: Any
    find_epsilon: Callable[[], float]
    law: Callable[[], Distribution]

    @property
    def epsilon(self) -> float:
        return self.find_epsilon()


@contextmanager
def recorded(places: Sequence[int] | None = None) -> Iterator[list[Draw]]:
    """Record the draws of the releases made inside; what they return means nothing.

    Parameters
    ----------
    places
        For several quantiles on a fine domain: the candidates that can have records. All others
        between two of them are alike. All candidates if not given.
    """
    assert set(HOMES) == KNOWN, "a new mechanism needs its law here"
    draws: list[Draw] = []
    with pytest.MonkeyPatch.context() as patch:
        _record_races(patch, draws)
        _record_counts(patch, draws)
        _record_ladders(patch, draws)
        _record_quantiles(patch, draws, places)
        yield draws


def laws(call: Callable[[], Any], places: Sequence[int] | None = None) -> list[Distribution]:
    """The laws of the independent draws that a call makes."""
    with recorded(places) as draws:
        call()
    return [draw.law() for draw in draws]


def _record_races(patch: pytest.MonkeyPatch, draws: list[Draw]) -> None:
    """Exponential and permute-and-flip: what reaches the race is the distances and the
    coefficient."""
    racing: list[Any] = []
    original = Mechanism.release

    def release(self, batch, source):
        racing.append(self)
        return original(self, batch, source)

    def race(batch, c, flip, source):
        for i in range(len(batch)):
            epsilon = float(c / (batch.rate * batch.unit))
            draws.append(
                Draw(racing[-1], lambda e=epsilon: e, lambda i=i: _race_law(batch[i], c, flip))
            )
        return [0] * len(batch)

    patch.setattr(Mechanism, "release", release)
    patch.setattr(mechanism, "race", race)


def _race_law(steps: StepFunction, c: Any, flip: bool) -> Stepped:
    size = steps.domain.size
    if steps.tail is None:
        start, count, distance = steps.start, steps.count, steps.distance
    else:
        assert size <= 2**12
        start, count = np.arange(size), np.ones(size, dtype=np.int64)
        distance = np.array([steps.distance_of(i) for i in range(size)])
    whole = StepFunction(steps.domain, start, count, distance, rate=c)
    return Stepped(whole, (PermuteAndFlip if flip else Exponential)(1).law(whole))


def _record_counts(patch: pytest.MonkeyPatch, draws: list[Draw]) -> None:
    """Geometric noise: what reaches the sampler is epsilon; every size of the noise is tried."""
    original = Geometric.release

    def release(self, groups, sensitivity, source):
        return [released(self, totals, sensitivity, source) for totals in groups]

    def released(self, totals, sensitivity, source):
        (count,) = totals
        asked: list[Any] = []

        def with_noise(k):
            def noise(epsilon, source):
                asked.append(epsilon)
                return k

            with pytest.MonkeyPatch.context() as inner:
                inner.setattr(geometric, "two_sided_geometric", noise)
                ((output,),) = original(self, [totals], sensitivity, source)
                return output

        found = {k: with_noise(k) for k in range(-LARGE - count, LARGE - count + 1)}
        (epsilon,) = set(asked)
        ratio = math.exp(-epsilon)
        law: Counter[int] = Counter()
        for k, output in found.items():
            beyond = k in (-LARGE - count, LARGE - count)  # this much noise, or more
            law[output] += ratio ** abs(k) * (1 if beyond else 1 - ratio) / (1 + ratio)
        draws.append(Draw(self, lambda: float(epsilon), lambda: Listed(law)))
        return [0]

    patch.setattr(Geometric, "release", release)


class _Sign:
    """A coin that falls on one side."""

    secure = False

    def __init__(self, sign: int) -> None:
        self.sign = sign

    def below(self, bound: int) -> int:
        assert bound == 2
        return self.sign


def _record_ladders(patch: pytest.MonkeyPatch, draws: list[Draw]) -> None:
    """Piecewise Laplace noise: what reaches the sampler is a rising function of a uniform number,
    which is inverted."""
    original = PiecewiseLaplace.release

    def release(self, ladder, most, source):
        asked: list[Any] = []

        def output(sign, distance):
            def decide(source, outcome):
                asked.append(outcome)
                return distance

            with pytest.MonkeyPatch.context() as inner:
                inner.setattr(piecewise_laplace, "decide", decide)
                return original(self, ladder, most, _Sign(sign))

        output(0, 0)
        beyond = cache(lambda distance: 1.0 if distance == 0 else _chance_of(asked[0], distance))

        def epsilon():
            first_rung = self.smoothed(ladder, 1)[0] / 2**piecewise_laplace.BITS
            # Half a rung is rounded up, and |Z| has the rate 5/6 epsilon.
            return -math.log(beyond(1)) * 2 * first_rung * 6 / 5

        def law():
            key = (self.epsilon, ladder.count, *ladder.sensitivity(0, 64), most)
            if key not in LISTED:
                found: Counter[int] = Counter()
                for sign, distance in itertools.product((0, 1), range(most + 1)):
                    chance = beyond(distance) - (beyond(distance + 1) if distance < most else 0)
                    found[output(sign, distance)] += chance / 2
                LISTED[key] = Listed(found)
            return LISTED[key]

        draws.append(Draw(self, epsilon, law))
        return 0

    patch.setattr(PiecewiseLaplace, "release", release)


def _chance_of(outcome: Callable[[LazyUniform], int | None], least: int) -> float:
    """The probability of an outcome of at least so much, for an outcome that rises with the
    uniform number."""
    low, high = 0, 2**BITS - 1
    while high - low > 1:
        middle = (low + high) // 2
        found = outcome(LazyUniform(middle, BITS))
        if found is None:  # it depends on the next bits
            return 1 - (middle + 0.5) / 2**BITS
        low, high = (low, middle) if found >= least else (middle, high)
    return 1 - high / 2**BITS


class _Zero:
    """Bits that are all zero."""

    secure = False

    def below(self, bound: int) -> int:
        return 0

    def words(self, size: int) -> Any:
        return np.zeros(size, dtype=np.uint64)


def _record_quantiles(
    patch: pytest.MonkeyPatch, draws: list[Draw], places: Sequence[int] | None
) -> None:
    """Several quantiles: what reaches the coin that accepts a proposal is the exponent of its
    weight."""

    def release(self, profiles, source):
        for profile in profiles:
            made = proposal.Proposal(profile, self._epsilon)

            def exponent(size, chosen, made=made):
                places = [proposal.Place((0, 0), *place) for place in chosen]
                made._near = lambda words, word, source: made._made(size, places, 1, word, [])
                return made.draft([0, 0], _Zero()).exponent

            draws.append(
                Draw(
                    self,
                    lambda profile=profile, exponent=exponent: _slope(profile, exponent),
                    lambda profile=profile, exponent=exponent, made=made: _quantiles_law(
                        self, profile, exponent, made._sizes, places
                    ),
                )
            )
        return [[0] * len(profile.qs) for profile in profiles]

    patch.setattr(Joint, "release", release)


def _slope(profile, exponent) -> float:
    """The epsilon that a record weighs, from all records in one gap and three sizes: the score is
    n for none, and large - n and 2 large - n for two that the gap has no room for."""
    assert profile.total, "no record, no weight"
    shares = [b - a for a, b in itertools.pairwise((0, *profile.qs, 1))]
    widest, large = shares.index(max(shares)), 10**6
    where = [(0, 0)] * widest + [(0, UNIT * profile.total)] * (len(profile.qs) - widest)
    none, one, two = (exponent(size, where) for size in (0, large, 2 * large))
    return float((none + two - 2 * one) / profile.total)


def _quantiles_law(self, profile, exponent, sizes, places) -> Listed:
    """The law over sorted tuples of candidates and gaps between them, by listing all sizes and
    all places."""
    cells = range(profile.size) if places is None else places
    inside = []  # name, volume and place of every part of every candidate, and of every gap
    after = 0
    for cell in [*cells, profile.size]:
        if cell > after:
            inside.append((("gap", after), cell - after, (after, profile.rank_at(after, 0))))
        if cell < profile.size:
            equal = profile.rank_of(cell)[1]
            parts = int(part_count(np.array([equal]))[0])
            for part in range(parts):
                rank = profile.rank_at(cell, (part << FINEST) // parts)
                inside.append(((cell,), 1 / parts, (cell, rank)))
        after = cell + 1
    base = exponent(0, [inside[0][2]] * len(profile.qs))
    key = (self.epsilon, profile.qs, profile.records, profile.size, tuple(inside), base)
    if key not in LISTED:
        weight: Counter[Any] = Counter()
        for chosen in itertools.combinations_with_replacement(range(len(inside)), len(profile.qs)):
            volume = math.prod(
                inside[i][1] ** many / math.factorial(many) for i, many in Counter(chosen).items()
            )
            where = [inside[i][2] for i in chosen]
            each = sum(math.exp(float(base - exponent(size, where))) for size in sizes)
            weight[tuple(inside[i][0] for i in chosen)] += volume * each
        total = sum(weight.values())
        LISTED[key] = Listed({output: each / total for output, each in weight.items()})
    return LISTED[key]
