"""The movement of evidence between two data sets, in units of its sensitivity.

A mechanism with epsilon loses at most epsilon times this number, if it keeps its own promise. For
noise in steps, the number counts as the next whole one. Where windows leave candidates to a tail, a
few of them are looked at.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields, is_dataclass
from fractions import Fraction
from itertools import accumulate, pairwise
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from duffdp._count_ladder import CountLadder
from duffdp._engines.requests import Ranks
from duffdp._evidence import Evidence, KeyCounts, Ladders, RankProfiles, Totals
from duffdp._rank_profile import QuantileRanks
from duffdp._steps import StepFunction, Windows
from duffdp.domain import Ints
from duffdp.mechanisms.lattice import Lattice
from duffdp.mechanisms.mechanism import DistanceMechanism, Mechanism
from duffdp.mechanisms.staircase import Staircase
from duffdp.statistics.statistic import BaseStatistic, DistanceStatistic, Scope

TAIL_PROBES = 8  # candidates of a tail that are looked at: each may be a pass over the data
LADDER_LEVELS = 512  # local sensitivities that are compared
MAX_LADDER_MOVES = 64

#: What evidence says of candidates: a number for each of some, or the distances of all.
View: TypeAlias = "Ints | StepFunction"


class PromiseBroken(Exception):
    """Error of evidence that breaks a promise other than its sensitivity."""


class GroupEvidence(NamedTuple):
    """The evidence about one group: its position among the groups of the evidence."""

    statistic: BaseStatistic
    evidence: Evidence
    position: int
    mechanism: Mechanism
    paid: Fraction


def public_facts(evidence: Evidence) -> tuple[Any, ...]:
    """The parts of evidence that must not depend on records."""
    match evidence:
        case Totals():
            widths = {len(numbers) for numbers in evidence.numbers}
            return ("totals", evidence.sensitivity, evidence.places, widths)
        case Windows():
            located = evidence.locate is not None
            return ("windows", evidence.domain, evidence.unit, evidence.rate, located)
        case Ladders():
            ladders = {(ladder.largest, ladder.order) for ladder in evidence.ladders}
            return ("ladders", evidence.domain, ladders)
        case RankProfiles():
            return ("ranks", {(c.qs, c.records, c.size) for c in evidence.columns})
        case KeyCounts():
            return ("keys", evidence.size, evidence.threshold)


def points_to_compare(before: GroupEvidence, after: GroupEvidence) -> Ints | None:
    """Candidates at which the evidence of one group is compared; None if it needs no look."""
    match before.evidence, after.evidence:
        case Windows() as first, Windows() as second:
            if _same_runs(first, before.position, second, after.position):
                return None
            if first.locate is not None:
                return np.zeros(0, dtype=np.int64)  # all of them, in the order of the domain
            return _points(first[before.position], second[after.position])
        case RankProfiles() as first, RankProfiles() as second:
            return _rank_points(first.columns[before.position], second.columns[after.position])
    return None


def look(group: GroupEvidence, points: Ints) -> View:
    """The distances of some candidates by the evidence of one group; it may ask the engine, so the
    run must still be open.
    """
    match group.evidence:
        case Windows() as windows:
            if windows.locate is not None:
                return _listed(group)
            return _distances(windows[group.position], points)
        case RankProfiles() as profiles:
            return _ranks_at(profiles.columns[group.position], points)
    raise PromiseBroken("evidence of two kinds")


def movement(
    before: GroupEvidence,
    after: GroupEvidence,
    views: tuple[View, View] | None = None,
) -> Fraction:
    """Number of records, at least, that the change of the evidence of one group is worth; `views`
    is its view at the points to compare.
    """
    match before.evidence, after.evidence:
        case Totals() as first, Totals() as second:
            pairs = zip(first.numbers[before.position], second.numbers[after.position], strict=True)
            change = sum(abs(int(a) - int(b)) for a, b in pairs)
            return Fraction(change, first.sensitivity)
        case Ladders() as first, Ladders() as second:
            return _ladder_movement(first.ladders[before.position], second.ladders[after.position])
        case Windows() as first, Windows():
            if views is None:
                return Fraction(0)
            assert isinstance(before.mechanism, DistanceMechanism)
            # What the mechanism makes of a step, not what the statistic says that it may.
            return int(np.ptp(_changes(*views))) * before.mechanism.coefficient(first) / before.paid
        case RankProfiles(), RankProfiles():
            if views is None:
                return Fraction(0)
            changes = [0, *_changes(*views).tolist()]
            # For fixed places and a fixed size, the score of a joint draw moves by at most this.
            return Fraction(sum(abs(b - a) for a, b in pairwise(changes)))
    raise PromiseBroken("evidence of two kinds")


def loss_of_movement(moved: Fraction, mechanism: Mechanism) -> Fraction:
    """Multiple of epsilon that a movement can cost. Where noise falls in steps, a part of a
    sensitivity can cross a whole step.
    """
    return Fraction(math.ceil(moved)) if isinstance(mechanism, (Lattice, Staircase)) else moved


def key_movement(before: KeyCounts, after: KeyCounts) -> Fraction:
    """Number of records, at least, that the change of the counts of keys is worth."""
    places = before.counts.keys() | after.counts.keys()
    change = sum(abs(before.counts.get(at, 0) - after.counts.get(at, 0)) for at in places)
    return Fraction(change)


def _changes(before: View, after: View) -> Ints:
    """The change at every point that was looked at, or at all candidates."""
    if isinstance(before, StepFunction):
        assert isinstance(after, StepFunction)
        points = _points(before, after)
        before, after = _distances(before, points), _distances(after, points)
    assert not isinstance(after, StepFunction)
    return after - before


def _same_runs(first: Windows, i: int, second: Windows, j: int) -> bool:
    """True if the windows of two groups are the same, tails included."""
    first_place, second_place = first.place(i), second.place(j)
    begins = int(first.begin[i]), int(second.begin[j])
    if first_place.stop - begins[0] != second_place.stop - begins[1]:
        return False
    spans = slice(begins[0], first_place.stop), slice(begins[1], second_place.stop)
    return all(
        np.array_equal(a[spans[0]], b[spans[1]])
        for a, b in (
            (first.start, second.start),
            (first.count, second.count),
            (first.distance, second.distance),
        )
    )


def _points(before: StepFunction, after: StepFunction) -> Ints:
    """Candidates that show every change within both windows, and some outside."""
    size = before.domain.size
    starts = np.unique(np.concatenate([before.start, after.start]))
    inside = (_runs_at(before, starts) >= 0) & (_runs_at(after, starts) >= 0)
    outside = starts[~inside]
    if len(outside) > TAIL_PROBES:
        outside = outside[np.linspace(0, len(outside) - 1, TAIL_PROBES).astype(np.int64)]
    edges = [0, size - 1]
    for tail in (before.tail, after.tail):
        if tail is not None:
            edges += [tail.first - 1, tail.first, tail.last, tail.last + 1]
    candidates = np.array([edge for edge in edges if 0 <= edge < size], dtype=np.int64)
    return np.unique(np.concatenate([starts[inside], outside, candidates]))


def _runs_at(steps: StepFunction, points: Ints) -> Ints:
    """The run that holds each candidate; -1 for those of the tail."""
    runs = np.searchsorted(steps.start, points, side="right") - 1
    inside = (runs >= 0) & (points < (steps.start + steps.count)[runs])
    return np.where(inside, runs, -1)


def _distances(steps: StepFunction, points: Ints) -> Ints:
    """The distance of some candidates; those in the tail one by one."""
    runs = _runs_at(steps, points)
    distances: Ints = steps.distance[runs].astype(np.int64)
    for at in np.flatnonzero(runs < 0).tolist():
        tail = steps.tail
        if tail is None:
            raise PromiseBroken("a candidate has no distance")
        distances[at] = tail.distance_of(int(points[at]))
        if distances[at] < tail.floor:
            raise PromiseBroken("a candidate of the tail is nearer than its floor")
    return distances


def _listed(group: GroupEvidence) -> StepFunction:
    """The step function in the order of candidates, checked against that in another order."""
    windows, statistic = group.evidence, group.statistic
    assert isinstance(windows, Windows)
    assert isinstance(statistic, DistanceStatistic)
    assert windows.locate is not None
    steps = windows[group.position]
    listed = windows.answer(
        group.position,
        statistic.listed_windows(
            Scope(windows.domain),
            statistic.distance_for(windows.domain, group.mechanism.epsilon, 0.0),
        ),
    )[0]
    if _candidates_by_distance(listed) != _candidates_by_distance(steps):
        raise PromiseBroken("two orders of candidates have different distances")
    for run in np.linspace(0, len(steps.start) - 1, TAIL_PROBES).astype(np.int64).tolist():
        position = int(steps.start[run])
        candidate = windows.answer(group.position, windows.locate(group.position, position))
        if listed.distance_of(candidate) != steps.distance[run]:
            raise PromiseBroken("a position stands for a candidate at another distance")
    return listed


def _candidates_by_distance(steps: StepFunction) -> dict[int, int]:
    distances, run = np.unique(steps.distance, return_inverse=True)
    counts = np.zeros(len(distances), dtype=np.int64)
    np.add.at(counts, run, steps.count)
    return dict(zip(distances.tolist(), counts.tolist(), strict=True))


def _rank_points(before: QuantileRanks, after: QuantileRanks) -> Ints | None:
    """Candidates where the number of records before them changes, within both windows, and some
    outside; the number of candidates stands for the end.
    """
    first, second = (_known_ranks(column.ranks) for column in (before, after))
    if before.total == after.total and first == second:
        return None
    shared = first.keys() & second.keys()
    unshared = sorted((first.keys() | second.keys()) - shared)
    probes = unshared[:: max(1, len(unshared) // TAIL_PROBES)]
    return np.array(sorted({*shared, *probes, before.size}), dtype=np.int64)


def _ranks_at(column: QuantileRanks, points: Ints) -> Ints:
    """The number of records before some candidates."""
    ranks = {**_known_ranks(column.ranks), column.size: column.total}
    rank_counts = [ranks[at] if at in ranks else column.rank_of(at)[0] for at in points.tolist()]
    return np.array(rank_counts, dtype=np.int64)


def _known_ranks(windows: Sequence[Ranks]) -> dict[int, int]:
    """The number of records before the candidates where it changes, within windows."""
    ranks: dict[int, int] = {}
    for window in windows:
        below = list(accumulate(window.counts.tolist(), initial=window.below))
        values = window.values.tolist()
        ranks[window.first] = window.below
        ranks |= dict(zip(values, below, strict=False))
        ranks |= {value + 1: rank for value, rank in zip(values, below[1:], strict=True)}
    return ranks


def _ladder_movement(before: CountLadder, after: CountLadder) -> Fraction:
    """The fewest changes that explain both the counts and the local sensitivities."""
    rungs = [ladder.sensitivity(0, LADDER_LEVELS) for ladder in (before, after)]
    if any(a > b for own in rungs for a, b in pairwise(own)):
        raise PromiseBroken("a local sensitivity falls with the number of changes")
    offset = abs(after.count - before.count)
    if not offset and rungs[0] == rungs[1]:
        return Fraction(0)
    for moves in range(1, MAX_LADDER_MOVES + 1):
        reached = all(sum(own[:moves]) >= offset for own in rungs)
        ordered = all(
            a <= b
            for here, there in (rungs, rungs[::-1])
            for a, b in zip(here, there[moves:], strict=False)
        )
        if reached and ordered:
            return Fraction(moves)
    raise PromiseBroken(f"no {MAX_LADDER_MOVES} changes explain two ladders")


def same_value(first: Any, second: Any) -> bool:
    """True if two public objects, such as statistics, were made from the same parameters."""
    if first is second:
        return True
    if type(first) is not type(second):
        return False
    if isinstance(first, np.ndarray):
        return np.array_equal(first, second)
    if isinstance(first, list | tuple):
        return len(first) == len(second) and all(map(same_value, first, second))
    if isinstance(first, dict):
        return first.keys() == second.keys() and all(
            same_value(first[key], second[key]) for key in first
        )
    if isinstance(first, BaseStatistic) or is_dataclass(first):
        return same_value(list(_attributes(first)), list(_attributes(second)))
    # A function cannot be compared, but its results are.
    return callable(first) or bool(np.all(first == second))


def _attributes(item: object) -> Iterator[tuple[str, Any]]:
    """The names and values of an object's attributes."""
    names: Iterable[str] = getattr(item, "__dict__", {}).keys()
    if is_dataclass(item):
        names = [field.name for field in fields(item)]
    yield from ((name, getattr(item, name)) for name in names)
