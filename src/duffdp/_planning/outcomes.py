"""Outcomes of the draws of one group with their probabilities: all of them, representative points,
or seeded draws.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain, islice
from typing import NamedTuple, Protocol, cast

import numpy as np

from duffdp._engines.requests import (
    Answer,
    ColumnRequest,
    Engine,
    GroupedCounts,
    GroupedRanks,
    run_inquiry,
)
from duffdp._pipeline.draw_plan import DrawPlan
from duffdp._pipeline.driver import Account, ReleaseRun, draw_alone
from duffdp._sampling.entropy import SeededEntropy
from duffdp._steps import StepFunction, Windows
from duffdp.domain import Floats, Ints, PublicSet
from duffdp.errors import DuffError
from duffdp.mechanisms import mechanism_class
from duffdp.mechanisms.geometric import Geometric
from duffdp.mechanisms.law import Law
from duffdp.mechanisms.mechanism import DistanceMechanism, Mechanism
from duffdp.mechanisms.noise_errors import best_width
from duffdp.mechanisms.staircase import Staircase
from duffdp.statistics.program import Columns, Draw, DrawSpec
from duffdp.statistics.records import ONE_GROUP
from duffdp.statistics.statistic import DistanceStatistic, Scope, TotalsStatistic

# Outcomes that are listed one by one; of more, as many points stand for all.
MAX_LISTED_OUTCOMES = 2**14
_LISTED_PER_POINT = 2**3  # times as many outcomes as points are still listed
_NOISE_REACH = 37.0  # nats: exp(-37) is below the precision of doubles
NEGLIGIBLE_MASS = 1e-15  # outcomes and runs of candidates with less are left out
_LAW_REACH = 40.0  # nats: a law needs no distances beyond
_DIRECTIONS = 2**4  # of the noise of two numbers, at each distance from 0
_LAPLACE_EPSILON = 1e-3  # below, staircase noise is Laplace noise: only wider, in proportion


class Outcomes(NamedTuple):
    """Rows of drawn numbers, and the probability of each row."""

    rows: Sequence[Sequence[int]]
    weights: Floats


@dataclass(frozen=True, slots=True)
class Effort:
    """The number of points for a distribution that is too long to list, and of draws for an unknown
    one, with their seed.
    """

    points: int
    draws: int
    seed: np.random.SeedSequence


class PlannedDraw(NamedTuple):
    """A part of a release with the mechanism that draws it."""

    part: DrawSpec
    mechanism: Mechanism


def planned_draws(plan: DrawPlan) -> list[PlannedDraw]:
    """The draws of a release, each with its epsilon."""
    return [
        PlannedDraw(part, mechanism_class(part.mechanism)(plan.row_epsilon * part.share))
        for part in plan.program.draws
    ]


def law_of(draw: PlannedDraw, engine: Engine, domain: PublicSet) -> Law | None:
    """The distribution of one candidate; None for a draw of another kind."""
    statistic, drawn_by = draw.part.statistic, draw.mechanism
    if not isinstance(drawn_by, DistanceMechanism) or not isinstance(statistic, DistanceStatistic):
        return None
    return drawn_by.law(_whole_windows(statistic, drawn_by, engine, domain, 1)[0])


def _whole_windows(
    statistic: DistanceStatistic,
    drawn_by: DistanceMechanism,
    engine: Engine,
    domain: PublicSet,
    groups: int,
) -> Windows:
    """The distances of all candidates, for each of several groups with the same records."""
    reach = statistic.distance_for(domain, drawn_by.epsilon, _LAW_REACH)
    scope = Scope(domain, groups, engine.max_records)
    inquiry = statistic.listed_windows(scope, reach)
    windows = run_inquiry(inquiry, _CopiedGroup(engine, groups), np.arange(groups))
    if (windows.start >= 0).all():
        return windows
    return Windows.of([_whole_domain(windows[i]) for i in range(groups)])


def _whole_domain(window: StepFunction) -> StepFunction:
    """A window extended to its whole domain, at the smallest distance possible outside of it."""
    if window.tail is None:
        return window
    end = np.append(0, window.start + window.count)
    gap = np.append(window.start, window.domain.size) - end
    end, gap = end[gap > 0], gap[gap > 0]
    start = np.concatenate([window.start, end])
    order = np.argsort(start)
    count = np.concatenate([window.count, gap])[order]
    distance = np.append(window.distance, np.full(len(gap), window.tail.floor))[order]
    return replace(window, start=start[order], count=count, distance=distance, tail=None)


def noisy_outcomes(
    draw: PlannedDraw, engine: Engine, domain: PublicSet, independent: bool, points: int
) -> Outcomes | None:
    """Totals with noise; None for a draw of something else.

    `independent` says that each released number is made of one of the totals: then all of them may
    get the same noise.
    """
    statistic, drawn_by = draw.part.statistic, draw.mechanism
    if type(drawn_by) not in (Geometric, Staircase) or not isinstance(statistic, TotalsStatistic):
        return None
    (totals,) = run_inquiry(statistic.totals(domain), engine, ONE_GROUP)
    sensitivity = statistic.sensitivity(domain)
    if isinstance(drawn_by, Staircase):
        noise = _staircase_noise(drawn_by.epsilon, sensitivity, len(totals), points)
        weights = np.full(noise.shape[1], 1 / noise.shape[1])
    elif independent or len(totals) == 1:
        single, weights = _geometric_noise(drawn_by.epsilon / sensitivity, points)
        noise = np.repeat(single[None, :], len(totals), axis=0)
    else:
        return None
    rows = [
        [total + int(k) for total, k in zip(totals, row, strict=True)] for row in noise.T.tolist()
    ]
    return Outcomes(rows, weights)


def program_outcomes(
    plan: DrawPlan, engine: Engine, domain: PublicSet, points: int
) -> Outcomes | None:
    """The outcomes of a program of draws, which may depend on earlier ones; None if a distribution
    is unknown or differs between groups.
    """
    if not _has_program_law(plan):
        return None
    program = _ChosenNumbers(plan, engine, domain)
    # Later draws have a law after each outcome of earlier ones: no more of them than points.
    depends = any(draw.statistic is None for draw in plan.program.draws)
    listed = _listed_outcomes(program, points if depends else MAX_LISTED_OUTCOMES)
    return listed or _spread_outcomes(program, points)


def _has_program_law(plan: DrawPlan) -> bool:
    """True if every draw has a known distribution after each outcome of earlier ones."""
    # Groups that pass epsilon on take branches of their own, and are not asked the same.
    return not plan.program.forwards_epsilon and all(map(_has_law, plan.program.draws))


def _has_law(draw: DrawSpec) -> bool:
    """True if the law of what is drawn can be computed."""
    kind = mechanism_class(draw.mechanism)
    if issubclass(kind, DistanceMechanism):
        return draw.statistic is None or isinstance(draw.statistic, DistanceStatistic)
    return kind is Geometric and isinstance(draw.statistic, TotalsStatistic)


class _ChosenNumbers:
    """A program about the records of one group that receives chosen numbers instead of drawn ones.

    Groups of the program differ in the numbers that they were sent: a row of `sent` each.
    """

    def __init__(self, plan: DrawPlan, engine: Engine, domain: PublicSet) -> None:
        self._plan, self._engine, self._domain = plan, engine, domain
        self._lengths: list[list[int]] = []  # how many numbers each draw has, stage by stage
        self._first = self.next_laws(_NOTHING)

    def next_laws(self, sent: Ints) -> list[_NumberLaws] | None:
        """The distributions of the next drawn numbers; None at the end of the program."""
        draws = self._resume(sent)
        if not isinstance(draws, _NextDraws):
            return None
        laws = [self._laws(draw, len(sent)) for draw in draws.draws]
        self._lengths.append([len(numbers) for numbers in laws])
        return list(chain.from_iterable(laws))

    def restart(self) -> list[_NumberLaws] | None:
        """Restart of the program: the distributions of the first numbers, computed once."""
        self._lengths = self._lengths[:1]
        return self._first

    def released(self, sent: Ints) -> Columns:
        """The numbers that the program returns."""
        columns = self._resume(sent)
        assert not isinstance(columns, _NextDraws)
        return columns

    def _resume(self, sent: Ints) -> _NextDraws | Columns:
        """Start the program and send it these numbers."""
        scope = Scope(self._domain, len(sent))
        program = self._plan.program.start(scope, self._plan.row_epsilon)
        columns: Iterator[list[int]] = iter(sent.T.tolist())
        try:
            draws = next(program)
            for lengths in self._lengths:
                draws = program.send([list(islice(columns, length)) for length in lengths])
        except StopIteration as end:
            released: Columns = end.value
            return released
        return _NextDraws(draws)

    def _laws(self, draw: Draw, groups: int) -> Sequence[_NumberLaws]:
        """The laws of the numbers of one draw."""
        statistic, drawn_by = draw.statistics, mechanism_class(draw.mechanism)(draw.epsilon)
        if isinstance(statistic, TotalsStatistic):
            epsilon = drawn_by.epsilon / statistic.sensitivity(self._domain)
            (totals,) = run_inquiry(statistic.totals(self._domain), self._engine, ONE_GROUP)
            return [_NoisyNumbers(total, epsilon) for total in totals]
        assert isinstance(statistic, DistanceStatistic)
        assert isinstance(drawn_by, DistanceMechanism)
        windows = _whole_windows(statistic, drawn_by, self._engine, self._domain, groups)
        return [_CandidateNumbers(windows, drawn_by.masses(windows))]


_NOTHING = np.empty((1, 0), dtype=np.int64)  # sent to one group


class _NextDraws(NamedTuple):
    """Draws that a program waits for."""

    draws: Sequence[Draw]


def _listed_outcomes(program: _ChosenNumbers, limit: int) -> Outcomes | None:
    """All outcomes with their probabilities; None if they are more than a limit."""
    sent, weights, laws = _NOTHING, np.ones(1), program.restart()
    while laws is not None:
        longer, masses = [], []
        for group, (before, weight) in enumerate(zip(sent, weights, strict=True)):
            listed = [law.listed(group) for law in laws]
            complete = [entry for entry in listed if entry is not None]
            count = math.prod(len(outcomes) for outcomes, _ in complete)
            if len(complete) < len(listed) or count > MAX_LISTED_OUTCOMES:
                return None
            outcomes = np.meshgrid(*(outcomes for outcomes, _ in complete))
            chances = np.meshgrid(*(chances for _, chances in complete))
            longer.append(
                np.column_stack([np.tile(before, (count, 1)), *(axis.ravel() for axis in outcomes)])
            )
            masses.append(weight * np.prod([axis.ravel() for axis in chances], axis=0))
        sent, weights = np.concatenate(longer), np.concatenate(masses)
        possible = weights > NEGLIGIBLE_MASS
        sent, weights = sent[possible], weights[possible]
        if len(sent) > limit:
            return None
        laws = program.next_laws(sent)
    return Outcomes(list(zip(*program.released(sent), strict=True)), weights)


def _spread_outcomes(program: _ChosenNumbers, points: int) -> Outcomes:
    """So many equally likely points; those that were sent the same are one group."""
    numbers = np.repeat(_NOTHING, points, axis=0)
    group, laws = np.zeros(points, dtype=np.int64), program.restart()
    while laws is not None:
        shares = evenly_spread(points, numbers.shape[1] + len(laws))[numbers.shape[1] :]
        columns = [law.quantile(group, u) for law, u in zip(laws, shares, strict=True)]
        numbers = np.column_stack([numbers, *columns])
        sent, group = np.unique(numbers, axis=0, return_inverse=True)
        group, laws = group.reshape(points), program.next_laws(sent)
    released = [np.array(column)[group].tolist() for column in program.released(sent)]
    return Outcomes(list(zip(*released, strict=True)), np.full(points, 1 / points))


class _NumberLaws(Protocol):
    """The distribution of one drawn number after each of several histories."""

    def listed(self, group: int) -> tuple[Ints, Floats] | None:
        """All outcomes after one history with their probabilities; None if they are too many."""

    def quantile(self, groups: Ints, shares: Floats) -> Ints:
        """The outcomes up to which the probabilities add up to each share, after the history of
        each group.
        """


class _CandidateNumbers:
    """Drawn numbers that are candidates."""

    def __init__(self, windows: Windows, mass: Floats) -> None:
        self._start, self._count, self._mass = windows.start, windows.count, mass
        self._begin = np.append(windows.begin, len(mass))
        self._cumulative = np.cumsum(mass)

    def listed(self, group: int) -> tuple[Ints, Floats] | None:
        runs = slice(self._begin[group], self._begin[group + 1])
        start, count, mass = self._start[runs], self._count[runs], self._mass[runs]
        if int(start[-1] + count[-1]) > MAX_LISTED_OUTCOMES:
            return None
        weights = np.repeat(mass / count, count)
        return np.arange(len(weights)), weights

    def quantile(self, groups: Ints, shares: Floats) -> Ints:
        cumulative, mass = self._cumulative, self._mass
        first, last = self._begin[groups], self._begin[groups + 1] - 1
        before = cumulative[first] - mass[first]
        shares = before + shares * (cumulative[last] - before)
        run = np.clip(np.searchsorted(cumulative, shares, side="right"), first, last)
        inside = (shares - (cumulative[run] - mass[run])) / mass[run]
        place = np.clip((inside * self._count[run]).astype(np.int64), 0, self._count[run] - 1)
        candidates: Ints = self._start[run] + place
        return candidates


class _NoisyNumbers:
    """Drawn numbers that are a total with geometric noise, the same after every history."""

    def __init__(self, total: int, epsilon: float) -> None:
        self._total, self._epsilon = total, epsilon

    def listed(self, group: int) -> tuple[Ints, Floats] | None:
        noise, weights = _geometric_noise(self._epsilon, MAX_LISTED_OUTCOMES + 1)
        if len(noise) > MAX_LISTED_OUTCOMES:
            return None
        return self._total + noise.astype(np.int64), weights / weights.sum()

    def quantile(self, groups: Ints, shares: Floats) -> Ints:
        noise = geometric_quantile(self._epsilon, shares)
        outcomes: Ints = self._total + noise.astype(np.int64)
        return outcomes


def evenly_spread(points: int, numbers: int) -> Floats:
    """Points between 0 and 1, a row for each of several numbers: multiples of the roots of primes
    (Richtmyer 1951). They are the same for every epsilon, so errors change smoothly with it.
    """
    primes: list[int] = []
    candidate = 2
    while len(primes) < numbers:
        if all(candidate % prime for prime in primes):
            primes.append(candidate)
        candidate += 1
    roots = np.array([math.sqrt(prime) for prime in primes])
    return np.mod(0.5 + np.outer(roots, np.arange(1, points + 1)), 1.0)


# Noise.


def _geometric_noise(epsilon: float, points: int) -> tuple[Floats, Floats]:
    """All geometric noise with its weights, or so many equally likely points."""
    limit = math.ceil(_NOISE_REACH / epsilon)
    if 2 * limit + 1 <= min(MAX_LISTED_OUTCOMES, _LISTED_PER_POINT * points):
        noise = np.arange(-limit, limit + 1, dtype=np.float64)
        return noise, np.exp(-epsilon * np.abs(noise))
    noise = geometric_quantile(epsilon, (np.arange(points) + 0.5) / points)
    return noise, np.full(points, 1 / points)


def geometric_quantile(epsilon: float, u: Floats) -> Floats:
    """The quantiles of two-sided geometric noise at shares u."""
    outer = np.minimum(u, 1 - u) * (1 + math.exp(-epsilon))
    distance: Floats = np.maximum(np.floor(-np.log(outer) / epsilon), 0.0)
    return np.where(u < 0.5, -distance, distance)


@lru_cache(maxsize=8)
def _staircase_noise(epsilon: float, sensitivity: int, numbers: int, points: int) -> Floats:
    """Staircase noise of one number or two, a row each, at about so many equally likely points."""
    wider = max(1.0, _LAPLACE_EPSILON / epsilon)
    rate, unit = epsilon * wider, float(sensitivity) * wider
    width = best_width(rate, sensitivity, numbers) * wider
    edges = np.append(0.0, np.arange(int(60 / rate) + 2) * unit + width)
    inside = _ball_size(edges, numbers)
    mass = np.exp(-rate * np.arange(len(edges) - 1)) * np.diff(inside)
    cumulative = np.append(0.0, np.cumsum(mass))
    distances = points // (2 if numbers == 1 else _DIRECTIONS)
    targets = (np.arange(distances) + 0.5) / distances * cumulative[-1]
    step = np.searchsorted(cumulative, targets, side="right") - 1
    share = (targets - cumulative[step]) / mass[step]
    within = inside[step] + share * np.diff(inside)[step]
    # A point is as far from 0 as the largest ball that does not hold it.
    root = within if numbers == 1 else np.sqrt(np.maximum(2 * within - 1, 0))
    distance = np.floor((root + 1) / 2)
    if numbers == 1:
        return np.concatenate([distance, -distance])[None, :]
    # Directions are turned from distance to distance, so that all of them occur.
    turned = (np.arange(_DIRECTIONS) + 0.5) / _DIRECTIONS
    turned = (turned + np.arange(distances)[:, None] * (math.sqrt(5) - 1) / 2) % 1
    position = np.floor(turned * 4 * distance[:, None])
    side, along = np.divmod(position, np.maximum(distance, 1)[:, None])
    across = distance[:, None] - along
    sides = [side == i for i in range(4)]
    first = np.select(sides, [across, -along, -across, along])
    second = np.select(sides, [along, across, -along, -across])
    return np.array([first.ravel(), second.ravel()])


def _ball_size(radius: Floats, numbers: int) -> Floats:
    """The number of points closer to 0 than each radius."""
    size = 2 * radius - 1 if numbers == 1 else 2 * radius * (radius - 1) + 1
    return np.where(radius > 0, size, 0.0)


# Simulation.


def needs_simulation(plan: DrawPlan, is_post_processed: bool) -> bool:
    """True if the distribution of a released number is unknown, so seeded draws are needed."""
    draws = plan.program.draws
    if is_post_processed and len(draws) > 1:
        return not _has_program_law(plan)
    return not all(_has_own_law(draw) for draw in draws if draw.is_released)


def _has_own_law(draw: DrawSpec) -> bool:
    """True if the distribution of a draw is known without those of earlier ones."""
    kind = mechanism_class(draw.mechanism)
    if issubclass(kind, DistanceMechanism):
        return isinstance(draw.statistic, DistanceStatistic)
    return kind in (Geometric, Staircase) and isinstance(draw.statistic, TotalsStatistic)


def simulated_outcomes(
    plan: DrawPlan, engine: Engine, domain: PublicSet, effort: Effort
) -> Outcomes:
    """Seeded draws, by the code that draws releases."""
    if not effort.draws:
        raise DuffError(
            "the error of this release can only be simulated. Pass draws, such as draws=500."
        )
    entropy = SeededEntropy(np.random.default_rng(effort.seed))
    copies, account = _CopiedGroup(engine, effort.draws), Account(plan.loss.epsilon)
    rows = draw_alone(ReleaseRun(plan, domain, copies, 0, entropy, account))
    return Outcomes(rows, np.full(len(rows), 1 / len(rows)))


class _CopiedGroup:
    """An engine that presents one group as many equal ones, one for each draw."""

    def __init__(self, engine: Engine, groups: int) -> None:
        self._engine, self.groups, self.max_records = engine, groups, engine.max_records

    def blocks(self) -> list[Ints]:
        return [np.arange(self.groups)]

    def answer(self, requests: Sequence[ColumnRequest]) -> list[Answer]:
        answers = self._engine.answer([request._replace(groups=ONE_GROUP) for request in requests])
        counts = (len(request.groups) for request in requests)
        return [_repeated(answer, count) for answer, count in zip(answers, counts, strict=True)]


def _repeated(answer: Answer, count: int) -> Answer:
    """An answer about one group, for so many groups."""
    if isinstance(answer, GroupedCounts):
        return answer.repeat(count)
    if isinstance(answer[0], GroupedRanks):
        return [ranks.repeat(count) for ranks in cast(list[GroupedRanks], answer)]
    return cast(Answer, list(answer) * count)
