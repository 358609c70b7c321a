"""What a release would draw: the law of every draw as it reaches a sampler, from the numbers that
the sampler is given."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np
import pytest

import duffdp.mechanisms.geometric as geometric
import duffdp.mechanisms.joint._proposal as proposal
import duffdp.mechanisms.mechanism as mechanism
import duffdp.mechanisms.piecewise_laplace as piecewise_laplace
import duffdp.mechanisms.staircase as staircase
import duffdp.mechanisms.thresholded_geometric as thresholded_geometric
from duffdp._engines import people
from duffdp._rank_profile import PART_BITS, RANK_UNIT, part_count
from duffdp._sampling.lazy_uniform import LazyUniform
from duffdp._sampling.race import RaceNoise
from duffdp._steps import StepFunction
from duffdp.audit.neighbours import ListedLaw, OutputLaw, StepLaw
from duffdp.mechanisms import (
    CLASSES,
    Exponential,
    Geometric,
    Joint,
    Lattice,
    NoisyRanking,
    PermuteAndFlip,
    PiecewiseLaplace,
    Staircase,
    ThresholdedGeometric,
)
from duffdp.mechanisms.mechanism import DistanceMechanism

KNOWN = {
    "exponential",
    "permute-and-flip",
    "lattice",
    "two-sided-geometric",
    "noisy-ranking",
    "staircase",
    "joint-exponential",
    "piecewise-laplace",
    "thresholded-geometric",
}
LARGE = 14  # counts from here on are one output: no data set of a test has as many records
MOST_LISTED = 16  # numbers of a draw whose laws are listed one by one
LISTED: dict[Any, ListedLaw] = {}  # laws that take long, by all that they depend on
BITS = 44  # of a uniform number: probabilities are found to 2**-BITS


@dataclass(frozen=True)
class Draw:
    """One draw for one group: the mechanism, the epsilon that its sampler follows, and the law of
    what it returns."""

    mechanism: Any
    find_epsilon: Callable[[], float]
    law: Callable[[], OutputLaw | tuple[OutputLaw, ...]]  # several that are independent

    @property
    def epsilon(self) -> float:
        return self.find_epsilon()


class Noisy:
    """A whole number with two-sided geometric noise. The ratio to another one is largest at either
    of the two numbers."""

    def __init__(self, total: int, epsilon: Any) -> None:
        self._total, self._epsilon = total, float(epsilon)
        self._log_peak = math.log(math.tanh(self._epsilon / 2))

    def outputs(self) -> tuple[int]:
        return (self._total,)

    def log_probability(self, output: int) -> float:
        return self._log_peak - self._epsilon * abs(output - self._total)


@contextmanager
def recorded(places: Sequence[int] | None = None, path: Sequence[Any] = ()) -> Iterator[list[Draw]]:
    """Record the draws of the releases made inside; what they return means nothing.

    Parameters
    ----------
    places
        For several quantiles on a fine domain: the candidates that can have records. All others
        between two of them are alike. All candidates if not given.
    path
        What the first draws return (all numbers of a staircase for several), 0 if there are more:
        later ones may depend on it.
    """
    assert set(CLASSES) == KNOWN, "a new mechanism needs its law here"
    draws: list[Draw] = []
    with pytest.MonkeyPatch.context() as patch:
        returned = dict(enumerate(path)).get
        _record_races(patch, draws, returned)
        _record_counts(patch, draws, returned)
        _record_staircases(patch, draws, returned)
        _record_ladders(patch, draws)
        _record_found_keys(patch, draws, returned)
        _record_quantiles(patch, draws, places)
        yield draws


def laws(
    call: Callable[[], Any], places: Sequence[int] | None = None, path: Sequence[Any] = ()
) -> list[OutputLaw]:
    """The laws of the draws that a call makes, each given what the ones before returned."""
    with recorded(places, path) as draws:
        call()
    found = (draw.law() for draw in draws)
    return [part for law in found for part in (law if isinstance(law, tuple) else (law,))]


Returned = Callable[[int, Any], Any]  # of a draw by its number, or else what is given


def _record_races(patch: pytest.MonkeyPatch, draws: list[Draw], returned: Returned) -> None:
    """Exponential, permute-and-flip and lattice: what reaches the race is the distances, the
    coefficient and the noise."""
    racing: list[Any] = []
    original = DistanceMechanism.release

    def release(self, batch, source):
        racing.append(self)
        return original(self, batch, source)

    def race(batch, c, noise, source):
        for i in range(len(batch)):
            epsilon = float(c / (batch.rate * batch.unit))
            draws.append(
                Draw(racing[-1], lambda e=epsilon: e, lambda i=i: _race_law(batch[i], c, noise))
            )
        return [returned(i, 0) for i in range(len(draws) - len(batch), len(draws))]

    patch.setattr(DistanceMechanism, "release", release)
    patch.setattr(mechanism, "race", race)


def _race_law(steps: StepFunction, c: Any, noise: RaceNoise) -> StepLaw:
    size = steps.domain.size
    if steps.tail is None:
        start, count, distance = steps.start, steps.count, steps.distance
    else:
        assert size <= 2**12
        start, count = np.arange(size), np.ones(size, dtype=np.int64)
        distance = np.array([steps.distance_of(i) for i in range(size)])
    whole = StepFunction(steps.domain, start, count, distance, rate=c)
    if noise.period is not None:
        assert noise.slope * noise.period == c
        whole = StepFunction(steps.domain, start, count, distance, rate=noise.slope)
        return StepLaw(whole, Lattice(noise.period).law(whole))
    return StepLaw(whole, (PermuteAndFlip if noise.exponential else Exponential)(1).law(whole))


def _record_counts(patch: pytest.MonkeyPatch, draws: list[Draw], returned: Returned) -> None:
    """Geometric noise: what reaches the sampler is epsilon; every size of the noise is tried."""
    original, ranking = Geometric.release, NoisyRanking.rank

    def release(self, groups, sensitivity, source):
        return [released(self, totals, sensitivity, source) for totals in groups]

    def released(self, totals, sensitivity, source):
        if sensitivity > 1 or len(totals) > MOST_LISTED:
            return several(self, totals, sensitivity, source)
        each = [listed(self, totals, i, sensitivity, source) for i in range(len(totals))]
        (epsilon,) = {epsilon for epsilon, _ in each}
        law = tuple(law for _, law in each)
        draws.append(Draw(self, lambda: float(epsilon * sensitivity), lambda: law))
        return [returned(len(draws) - 1, 0)] + [0] * (len(totals) - 1)

    def several(self, totals, sensitivity, source):
        """Numbers too large, or too many, to list: each gets noise of its own, and nothing else."""
        asked: list[Any] = []

        def noise(epsilon, size, source):
            asked.append(epsilon)
            return list(range(1, size + 1))

        with pytest.MonkeyPatch.context() as inner:
            inner.setattr(geometric, "two_sided_geometrics", noise)
            (output,) = original(self, [totals], sensitivity, source)
        assert output == [total + i + 1 for i, total in enumerate(totals)]
        (epsilon,) = set(asked)
        law = tuple(Noisy(total, epsilon) for total in totals)
        draws.append(Draw(self, lambda: float(epsilon * sensitivity), lambda: law))
        return [0] * len(totals)

    def listed(self, totals, place, sensitivity, source):
        """The epsilon that the noise of one of several numbers follows, and the law of its sum."""
        count, asked = totals[place], []

        def with_noise(k):
            def noise(epsilon, size, source):
                asked.append(epsilon)
                return [k if i == place else 0 for i in range(size)]

            with pytest.MonkeyPatch.context() as inner:
                inner.setattr(geometric, "two_sided_geometrics", noise)
                (outputs,) = original(self, [totals], sensitivity, source)
            others = [x for i, x in enumerate(outputs) if i != place]
            assert others == [x for i, x in enumerate(totals) if i != place]
            return outputs[place]

        found = {k: with_noise(k) for k in range(-LARGE - count, LARGE - count + 1)}
        (epsilon,) = set(asked)
        ratio = math.exp(-epsilon)
        law: Counter[int] = Counter()
        for k, output in found.items():
            beyond = k in (-LARGE - count, LARGE - count)  # this much noise, or more
            law[output] += ratio ** abs(k) * (1 if beyond else 1 - ratio) / (1 + ratio)
        return epsilon, ListedLaw(law)

    def rank(self, groups, sensitivity, places, source):
        for totals in groups:
            asked: list[Any] = []

            def noise(epsilon, size, source, asked=asked):
                asked.append(epsilon)
                return [0] * size

            with pytest.MonkeyPatch.context() as inner:
                inner.setattr(Geometric, "release", original)
                inner.setattr(geometric, "two_sided_geometrics", noise)
                ranking(self, [totals], sensitivity, places, source)
            (epsilon,) = asked
            law = partial(order_law, tuple(totals), float(epsilon), places)
            draws.append(Draw(self, lambda e=epsilon: float(e), law))
        return [list(range(places)) for _ in groups]

    patch.setattr(Geometric, "release", release)
    patch.setattr(NoisyRanking, "rank", rank)


@cache
def order_law(totals: tuple[int, ...], epsilon: float, places: int) -> ListedLaw:
    """The law of the order of the largest numbers with noise: all orders, ties split evenly."""
    reach = math.ceil(60 / epsilon) + max(totals)
    value = np.arange(-reach, reach + 1)
    chance = [np.exp(-epsilon * abs(value - total)) * math.tanh(epsilon / 2) for total in totals]
    law: Counter[tuple[int, ...]] = Counter()
    for order in itertools.permutations(range(len(totals))):
        # By the length of the run of equal values that ends here, and by their value.
        runs = [chance[order[0]]]
        for i in order[1:]:
            above = np.cumsum(sum(runs)[::-1])[::-1] - sum(runs)
            tied = [chance[i] * run / (t + 1) for t, run in enumerate(runs, 1)]
            runs = [chance[i] * above, *tied]
        law[order[:places]] += float(sum(runs).sum())
    assert abs(sum(law.values()) - 1) < 1e-9
    return ListedLaw(law)


# How many points of one number, or two or three, are closer to 0 than r.
BALLS: dict[int, Callable[[int], int]] = {
    1: lambda r: 2 * r - 1,
    2: lambda r: 2 * r * (r - 1) + 1,
    3: lambda r: (2 * r - 1) * (2 * r * (r - 1) + 3) // 3,
}


class Stairs:
    """The law of numbers with staircase noise, from what the sampler is given."""

    def __init__(self, totals: Sequence[int], epsilon: Any, sensitivity: int, width: int) -> None:
        self._totals, self._epsilon = totals, float(epsilon)
        self._sensitivity, self._width = sensitivity, width
        radii = [k * sensitivity + width for k in range(math.ceil(60 / self._epsilon) + 2)]
        points = map(BALLS[len(totals)], radii)
        weighted = (p * math.exp(-self._epsilon * k) for k, p in enumerate(points))
        self._log_scale = math.log(math.fsum(weighted)) + math.log(-math.expm1(-self._epsilon))

    def outputs(self) -> Iterator[tuple[int, ...]]:
        """Points at both sides of the edges of the first steps, in every direction."""
        first = range(1 if len(self._totals) == 3 else 3)
        edges = [k * self._sensitivity + self._width - side for k in first for side in (0, 1)]
        around = sorted({0, *edges, *(-edge for edge in edges)})
        for noise in itertools.product(around, repeat=len(self._totals)):
            yield tuple(a + b for a, b in zip(self._totals, noise, strict=True))

    def log_probability(self, output: tuple[int, ...], /) -> float:
        away = sum(abs(a - b) for a, b in zip(self._totals, output, strict=True))
        step = -((self._width - 1 - away) // self._sensitivity) if away >= self._width else 0
        return -self._epsilon * step - self._log_scale


class FoundKey:
    """A key that is released with its noisy count, or not at all."""

    def __init__(self, count: int, threshold: int, epsilon: Any) -> None:
        self._count, self._threshold = count, threshold
        self._law = ThresholdedGeometric(epsilon)

    def outputs(self) -> tuple[int | None, ...]:
        return (None, *range(self._threshold, self._threshold + LARGE))

    def log_probability(self, output: int | None) -> float:
        return math.log(self._law.probability(self._count, output, self._threshold))


def _record_found_keys(patch: pytest.MonkeyPatch, draws: list[Draw], returned: Returned) -> None:
    """Keys that are found: what reaches the samplers is epsilon; the law of every possible key.
    What is returned are places with noisy counts, the first key if nothing is said."""
    original = ThresholdedGeometric.release

    def release(self, evidence, source):
        seen = set()
        with pytest.MonkeyPatch.context() as inner:

            def noises(epsilon, size, source):
                seen.add(epsilon)
                return [0] * size

            def places(size, epsilon, threshold, source):
                seen.add(epsilon)
                return iter(())

            inner.setattr(thresholded_geometric, "two_sided_geometrics", noises)
            inner.setattr(thresholded_geometric, "geometrics", noises)
            inner.setattr(thresholded_geometric, "rare_places", places)
            original(self, evidence, source)
        (epsilon,) = seen
        law = tuple(
            FoundKey(evidence.counts.get(place, 0), evidence.threshold, epsilon)
            for place in range(evidence.size)
        )
        draws.append(Draw(self, lambda: float(epsilon), lambda: law))
        return returned(len(draws) - 1, {0: evidence.threshold})

    patch.setattr(ThresholdedGeometric, "release", release)


def _record_staircases(patch: pytest.MonkeyPatch, draws: list[Draw], returned: Returned) -> None:
    """Staircase noise: what reaches the sampler is epsilon, the sensitivity and the width."""
    original = Staircase.release

    def release(self, groups, sensitivity, source):
        for totals in groups:
            asked: list[Any] = []

            def noise(*given, asked=asked):
                asked.append(given)
                return [[7, 5, 3][: given[3]]] * given[4]

            with pytest.MonkeyPatch.context() as inner:
                inner.setattr(staircase, "staircases", noise)
                (outputs,) = original(self, [totals], sensitivity, source)
            ((epsilon, sent, width, numbers, many, _),) = asked
            assert (numbers, many) == (len(totals), 1)
            exact = [a - b for a, b in zip(outputs, [7, 5, 3], strict=False)]
            draws.append(
                Draw(
                    self,
                    lambda e=epsilon: float(e),
                    lambda given=(exact, epsilon, sent, width): Stairs(*given),
                )
            )
        ends = range(len(draws) - len(groups), len(draws))
        return [list(returned(i, (0, 0, 0)))[: len(groups[0])] for i in ends]

    patch.setattr(Staircase, "release", release)


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
            first_rung = self.smoothed(ladder, 1)[0] / 2**piecewise_laplace.RUNG_BITS
            # Half a rung is rounded up, and |Z| has the rate 5/6 epsilon.
            return -math.log(beyond(1)) * 2 * first_rung * 6 / 5

        def law():
            key = (self.epsilon, ladder.count, *ladder.sensitivity(0, 64), most)
            if key not in LISTED:
                found: Counter[int] = Counter()
                for sign, distance in itertools.product((0, 1), range(most + 1)):
                    chance = beyond(distance) - (beyond(distance + 1) if distance < most else 0)
                    found[output(sign, distance)] += chance / 2
                LISTED[key] = ListedLaw(found)
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

    def release(self, columns, source):
        for profile in [column.profile(float(self._epsilon)) for column in columns]:
            made = proposal.Proposal(profile, self._epsilon)

            def exponent(size, chosen, made=made):
                places = [proposal.Place((0, 0), *place) for place in chosen]
                made._weighed_draft = lambda words, word, source: made._exact_draft(
                    size, places, 1, word, []
                )
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
        return [[0] * len(column.qs) for column in columns]

    patch.setattr(Joint, "release", release)


def _slope(profile, exponent) -> float:
    """The epsilon that a record weighs, from all records in one gap and three sizes: the score is
    n for none, and large - n and 2 large - n for two that the gap has no room for."""
    assert profile.total, "no record, no weight"
    shares = [b - a for a, b in itertools.pairwise((0, *profile.qs, 1))]
    widest, large = shares.index(max(shares)), 10**6
    where = [(0, 0)] * widest + [(0, RANK_UNIT * profile.total)] * (len(profile.qs) - widest)
    none, one, two = (exponent(size, where) for size in (0, large, 2 * large))
    return float((none + two - 2 * one) / profile.total)


def _quantiles_law(self, profile, exponent, sizes, places) -> ListedLaw:
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
                rank = profile.rank_at(cell, (part << PART_BITS) // parts)
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
        LISTED[key] = ListedLaw({output: each / total for output, each in weight.items()})
    return LISTED[key]


def choose_in_order(patch, *orders):
    """Put known orders of all rows in place of the random choice of the rows of people: one for
    each choice, the same ones again after the last."""
    next_order = itertools.cycle(orders).__next__

    def draw_words(many, generator):
        order = next_order()
        assert many == len(order)
        return many - np.argsort(order).astype(np.uint32)

    def shuffle_beginnings(rows, begin, many, most, generator):
        order = next_order()
        assert len(rows) == len(order)
        for first, size in zip(begin.tolist(), many.tolist(), strict=True):
            assert size > most
            rows[first : first + size] = sorted(rows[first : first + size], key=order.index)

    patch.setattr(people, "draw_words", draw_words)
    patch.setattr(people, "shuffle_beginnings", shuffle_beginnings)
