"""What a window leaves out: every statistic states it exactly, and the race draws it exactly.

A window holds the candidates near the statistic, and a tail stands for all others: how many they
are, how near they can be, and how far each of them is. A release follows its law only if all three
are true, at the edge of the window too.
"""

from __future__ import annotations

import inspect
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

import duffdp
from duffdp import Grid
from duffdp._engines.pairs import PairEngine, pairs_of_records
from duffdp._steps import StepFunction, Tail, certain
from duffdp.mechanisms import Exponential, Lattice, PermuteAndFlip
from duffdp.statistics import (
    InterquartileRange,
    Mean,
    Median,
    Mode,
    Quantile,
    Slope,
    TrimmedMean,
    Variance,
)
from duffdp.statistics.quantile import Extreme
from duffdp.statistics.statistic import DistanceStatistic
from inquiries import engine_of, windows

FALSE_ALARM = 1e-9
QS = (0, 0.1, Fraction(1, 3), 0.5, 0.9, 1)
OF_NUMBERS = [
    *(Quantile(q, utility) for q in QS for utility in ("distance", "signed", "rank")),
    Median(),
    *(Extreme(q, epsilon=20) for q in (0, 1)),
    Mean(),
    TrimmedMean(0.25),
    TrimmedMean(0.01),
    Variance(),
    InterquartileRange(),
    Mode(),
]
OF_PAIRS = [Slope(), Slope("balance")]
# A window of these is all there is.
WHOLE = (Mode,)


def numbers():
    """Data sets with and without ties, at the bounds and none at all."""
    rng = np.random.default_rng(4)
    yield Grid(0, 30, 1), np.empty(0)
    yield Grid(0, 30, 1), np.array([7.0])
    for grid in (Grid(0, 400, 1), Grid(0.0, 400.0)):
        yield grid, rng.normal(150, 60, 80)
        yield grid, np.repeat(rng.integers(0, 401, 20), rng.integers(1, 9, 20)) * 1.0
        yield grid, np.concatenate([np.zeros(30), np.arange(100.0, 160.0), np.full(30, 400.0)])
        yield grid, np.full(40, 9.0)


def without(runs, size):
    """Candidates that are in no run, as ranges."""
    upto, left = 0, []
    for start, count in sorted(runs):
        if start > upto:
            left.append((upto, start - 1))
        upto = start + count
    return [*left, (upto, size - 1)] if upto < size else left


def check_tail(whole, batch, at=0, few=25):
    """Compare a window and its tail with the whole step function: how far each candidate is, how
    many are left out, and that none of these is nearer than the floor."""
    if batch.locate is not None:
        return check_positions(whole, batch, at)
    cut = batch[at]
    size = whole.domain.size
    assert cut.domain == whole.domain
    assert (cut.unit, cut.rate) == (whole.unit, whole.rate)
    runs = list(zip(cut.start.tolist(), cut.count.tolist(), strict=True))
    left = without(runs, size)
    assert sum(count for _, count in runs) + sum(b - a + 1 for a, b in left) == size
    begins, ends = whole.start, whole.start + whole.count - 1
    for (start, count), distance in zip(runs, cut.distance.tolist(), strict=True):
        there = (begins < start + count) & (ends >= start)
        assert set(whole.distance[there].tolist()) == {distance}
    if not left:
        assert cut.tail is None
        return 0
    tail = cut.tail
    assert tail.count == sum(b - a + 1 for a, b in left)
    first = int(batch.begin[at])
    raced = (batch.start[first], batch.count[first], batch.distance[first])
    assert raced == (-1, tail.count, tail.floor)
    before, least = 0, []
    for a, b in left:
        assert (tail.candidate(before), tail.candidate(before + b - a)) == (a, b)
        before += b - a + 1
        there = (begins <= b) & (ends >= a)
        least.append(int(whole.distance[there].min()))
        places = np.unique(np.concatenate([begins[there].clip(a), ends[there].clip(max=b)]))
        # Those next to the window, and some of the others.
        near = {places[0], places[-1], *np.random.default_rng(1).permutation(places)[:few]}
        for index in map(int, near):
            assert tail.distance_of(index) == whole.distance_of(index)
    assert min(least) >= tail.floor
    return tail.count


def check_positions(whole, batch, at):
    """Runs in another order than that of the candidates: each position of a run is a candidate of
    its distance, and no two are the same one.
    """
    place = batch.place(at)
    runs = zip(batch.start[place], batch.count[place], batch.distance[place], strict=True)
    assert sorted(batch.distance[place].tolist()) == sorted(set(whole.distance.tolist()))
    for start, count, distance in runs:
        assert count == whole.count[whole.distance == distance].sum()
        step = max(1, int(count) // 40)
        positions = sorted({*range(int(start), int(start + count), step), int(start + count) - 1})
        found = [batch.answer(at, batch.locate(at, position)) for position in positions]
        assert {whole.distance_of(candidate) for candidate in found} == {int(distance)}
        assert found == sorted(set(found))
    return 0


@pytest.mark.parametrize("statistic", OF_NUMBERS, ids=repr)
def test_a_tail_is_exactly_what_its_window_leaves_out(statistic):
    left_out = 0
    for grid, records in numbers():
        whole = statistic.steps(records, grid)
        for far in (0, 1, 3, 6, 15):
            batch = windows(statistic, engine_of([records], grid), grid, far)
            left_out += check_tail(whole, batch)
    assert bool(left_out) != isinstance(statistic, WHOLE)


@pytest.mark.parametrize("statistic", OF_NUMBERS, ids=repr)
def test_tails_of_several_columns_side_by_side(statistic):
    by_grid = {}
    for grid, records in numbers():
        by_grid.setdefault(grid, []).append(records)
    for grid, columns in by_grid.items():
        batch = windows(statistic, engine_of(columns, grid), grid, 2)
        for at, records in enumerate(columns):
            check_tail(statistic.steps(records, grid), batch, at)


@pytest.mark.parametrize("statistic", OF_PAIRS, ids=repr)
def test_a_tail_of_slopes(statistic):
    rng = np.random.default_rng(4)
    x = rng.normal(size=1200)
    pairs, grid = list(zip(x, 3 * x + rng.normal(size=1200), strict=True)), Grid(-50.0, 50.0, 0.01)
    batch = windows(statistic, PairEngine([pairs_of_records(pairs)]), grid, 20)
    assert check_tail(statistic.steps(pairs, grid), batch) > 0


def test_every_statistic_with_windows_is_here():
    public = [getattr(duffdp.statistics, name) for name in duffdp.statistics.__all__]
    given = {type(each) for each in (*OF_NUMBERS, *OF_PAIRS)}
    by_distance = {each for each in public if inspect.isclass(each)}
    assert given >= {each for each in by_distance if issubclass(each, DistanceStatistic)}


# The race.


def p_value(drawn, law, domain):
    """Of the chi-square test that draws follow a law; rare outcomes are pooled."""
    values = [domain.value(i) for i in range(domain.size)]
    expected = np.array([law.probability(value) for value in values]) * len(drawn)
    observed = np.array([np.count_nonzero(drawn == value) for value in values])
    rare = expected < 5
    pooled = [np.append(each[~rare], each[rare].sum()) for each in (observed, expected)]
    observed, expected = (each[pooled[1] > 0] for each in pooled)
    assert observed.sum() == len(drawn)
    return stats.chisquare(observed, expected * (len(drawn) / expected.sum())).pvalue


def cut_off(steps, first, last, floor):
    """The candidates from first to last as a window on a whole step function."""
    distance = np.repeat(steps.distance, steps.count)
    inside = np.arange(first, last + 1)
    tail = Tail(
        first, last, len(distance) - len(inside), floor, lambda at: certain(steps.distance_of(at))
    )
    runs = inside, np.ones_like(inside), distance[inside]
    return StepFunction(steps.domain, *runs, steps.unit, steps.rate, tail)


@pytest.mark.parametrize("mechanism", [Exponential, PermuteAndFlip, Lattice])
def test_candidates_of_a_tail_are_drawn_as_often_as_their_law_says(mechanism):
    """Two of four candidates are left out. Their distances exceed the floor, so that they are met,
    measured, and others met after them: one more in the count of the tail would make what is left
    out up to twice as likely. (Other windows: `race_test.py`, race by race.)"""
    steps = Median("signed").steps([0, 1, 2, 3], grid := Grid(0, 3, 1))
    assert np.repeat(steps.distance, steps.count).tolist() == [2, 0, 1, 3]
    chosen = mechanism(0.5)
    drawn = chosen.draw(cut_off(steps, 0, 1, 0), 2_000)
    assert p_value(drawn, chosen.law(steps), grid) > FALSE_ALARM
