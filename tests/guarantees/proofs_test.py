"""Statements about distances for all sizes and all counts, checked by an SMT solver.

Each statement has a false variant that the solver must refute with a counterexample, and the
formulas that are proven are compared with what the library computes.
"""

from __future__ import annotations

import random
from fractions import Fraction

import pytest
import z3

from duffdp import Grid
from duffdp.statistics import Quantile, Slope

FRACTIONS = sorted(
    {Fraction(p, m) for m in (2, 3, 4, 7, 10, 100, 1000) for p in (1, m // 2, m - 1) if 0 < p < m}
)


def holds(claim, *assumptions):
    """Whether a claim follows from assumptions for all values of its variables."""
    solver = z3.Solver()
    solver.set("timeout", 120_000)
    solver.add(*assumptions, z3.Not(claim))
    answer = solver.check()
    assert answer != z3.unknown, solver.reason_unknown()
    return answer == z3.unsat


def larger(a, b):
    return z3.If(a >= b, a, b)


def floor(x):
    return z3.ToInt(x)


def ceiling(x):
    return -z3.ToInt(-x)


def within(change, most):
    return z3.And(-most <= change, change <= most)


# Quantiles. All is divided by M = max(q, 1 - q): alpha = q / M, beta = (1 - q) / M, one of which is
# 1, t = (L - q n) / M and eta = E / M, where L records lie below a candidate and E at it.


def quantile_distance(t, eta, alpha, beta, signed):
    gap = larger(2 + floor(t - alpha), 1 + ceiling(-t - beta))
    value = larger(1 + floor(t), ceiling(-t - eta))
    return z3.If(eta == 0, gap, value if signed else larger(value, 0))


def any_quantile():
    """t, eta, alpha, beta and what is known of them, for every share between 0 and 1."""
    t, eta, alpha, beta = z3.Reals("t eta alpha beta")
    shares = z3.Or(
        z3.And(alpha == 1, beta > 0, beta <= 1), z3.And(beta == 1, alpha > 0, alpha <= 1)
    )
    return t, eta, alpha, beta, [shares, z3.Or(eta == 0, eta >= alpha + beta)]


def joined(t, eta, alpha, beta):
    """The same after a record joined below, at, or above the candidate."""
    return [(t + beta, eta), (t - alpha, eta + alpha + beta), (t - alpha, eta)]


@pytest.mark.parametrize("signed", [False, True])
def test_one_record_moves_the_distance_of_a_quantile_by_at_most_one(signed):
    t, eta, alpha, beta, known = any_quantile()
    before = quantile_distance(t, eta, alpha, beta, signed)
    for after in joined(t, eta, alpha, beta):
        change = quantile_distance(*after, alpha, beta, signed) - before
        assert holds(within(change, 1), *known)
        assert not holds(within(change, 0), *known)


def test_without_the_record_that_has_to_join_the_distance_would_jump():
    t, eta, alpha, beta, known = any_quantile()

    def wrong(t, eta):
        return larger(larger(1 + floor(t), ceiling(-t - eta)), 0) + z3.If(eta == 0, 1, 0)

    changes = [wrong(*after) - wrong(t, eta) for after in joined(t, eta, alpha, beta)]
    assert not all(holds(within(change, 1), *known) for change in changes)


@pytest.mark.parametrize("q", FRACTIONS, ids=str)
def test_the_distance_of_a_quantile_is_exact(q):
    """It is 0 where the candidate is the quantile and nowhere else, and wherever it is above 0 some
    change lowers it: with the step of at most one that is the fewest changes.
    """
    below, at, above = z3.Ints("below at above")
    p, m = q.numerator, q.denominator

    def distance(below, at, above):
        total, most = below + at + above, max(p, m - p)
        over = m * (below + at) - p * total
        gap = larger((over - p) / most + 2, 1 - (over + (m - p)) / most)
        value = larger((over - m * at) / most + 1, -(over / most))
        return z3.If(at == 0, gap, larger(value, 0))

    total = below + at + above
    is_quantile = z3.And(at > 0, m * below < p * total, p * total <= m * (below + at))
    known = [below >= 0, at >= 0, above >= 0]
    here = distance(below, at, above)
    assert holds((here == 0) == is_quantile, *known)
    lower = [
        distance(below, at + 1, above) < here,
        z3.And(below > 0, distance(below - 1, at, above) < here),
        z3.And(above > 0, distance(below, at, above - 1) < here),
    ]
    assert holds(z3.Or(*lower), here > 0, *known)
    also_below = z3.And(at > 0, m * below <= p * total, p * total <= m * (below + at))
    assert not holds((here == 0) == also_below, *known)


@pytest.mark.parametrize("q", [*FRACTIONS, Fraction(1, 3), Fraction(999_999, 10**6)], ids=str)
@pytest.mark.parametrize("utility", ["distance", "signed"])
def test_what_is_proven_is_what_the_library_computes(q, utility):
    source = random.Random(f"{q} {utility}")
    for _ in range(20):
        records = [source.randrange(5) for _ in range(source.randrange(40))]
        steps = Quantile(q, utility).steps(records, Grid(0, 4, 1))
        most = max(q, 1 - q)
        for x in range(5):
            t = (sum(y < x for y in records) - q * len(records)) / most
            scaled = [t, records.count(x) / most, q / most, (1 - q) / most]
            proven = quantile_distance(*map(_real, scaled), utility == "signed")
            assert z3.simplify(proven).as_long() == steps.distance_at(x)


def _real(number):
    return z3.Q(Fraction(number).numerator, Fraction(number).denominator)


def test_one_record_moves_the_rank_score_by_at_most_one():
    """|t + alpha E| in the same units: a record at the candidate does not move it."""
    score, alpha, beta = z3.Reals("score alpha beta")
    *_, known = any_quantile()
    for step in (beta, -alpha):
        change = abs_(score + step) - abs_(score)
        assert holds(within(change, 1), known[0])
        assert not holds(within(change, z3.Q(9, 10)), known[0])


def abs_(x):
    return z3.If(x >= 0, x, -x)


@pytest.mark.parametrize("candidates", [2, 3, 5, 8])
def test_one_record_moves_all_distances_of_a_mode_to_one_side(candidates):
    """Up to a constant, which laws do not see: the full rate."""
    counts = z3.Ints([f"count_{i}" for i in range(candidates)])
    known = [count >= 0 for count in counts]

    def distances(counts):
        most = counts[0]
        for count in counts[1:]:
            most = larger(most, count)
        return [most - count for count in counts]

    before = distances(counts)
    after = distances([counts[0] + 1, *counts[1:]])
    changes = [there - here for here, there in zip(before, after, strict=True)]
    within_one = z3.And(*(within(a - b, 1) for a in changes for b in changes))
    assert holds(z3.And(within_one, *(within(change, 1) for change in changes)), *known)
    assert not holds(z3.And(*(change >= 0 for change in changes)), *known)


# The mean. `total` of `n` records, `top` the largest index; j records leave, k - j join at the top.


def test_leaving_beats_joining_exactly_above_half_way():
    """One more record that leaves, instead of one that joins, raises num / den exactly if num / den
    exceeds (y + top) / 2: what the sweep over levels decides by.
    """
    num, den, y, top = z3.Reals("num den y top")
    known = [den > 2, y >= 0, y <= top]
    higher = (num - y - top) * den > num * (den - 2)
    assert holds(higher == (2 * num > den * (y + top)), *known)
    assert not holds(higher == (2 * num > den * y), *known)


def test_the_best_number_of_leaving_records_never_goes_back():
    """If leaving beats joining at a level, it does so at the next, which has one more record at the
    top; and if it does not for one record, it does not for a larger one afterwards.
    """
    num, den, y, z, top = z3.Reals("num den y z top")
    known = [den > 2, y >= 0, y <= z, z <= top, num >= 0, num <= den * top]
    better = 2 * num > den * (y + top)
    assert holds(z3.Implies(better, 2 * (num + top) > (den + 1) * (y + top)), *known)
    after = 2 * (num - y - top) > (den - 2) * (z + top)
    assert holds(z3.Implies(z3.Not(better), z3.Not(after)), *known)
    assert not holds(z3.Implies(better, after), *known)


def test_what_a_mean_reaches_is_nested_and_without_holes():
    """A record that joins at the top raises every mean, and exchanging a record that left for
    another moves the sum by no more than one that joins can make up for.
    """
    num, den, top, y, z, s = z3.Reals("num den top y z s")
    bounds = [den > 0, num >= 0, num <= den * top]
    assert holds((num + top) * den >= num * (den + 1), *bounds)
    assert not holds((num + y) * den >= num * (den + 1), *bounds, y >= 0, y <= top)
    records = [y >= 0, y <= top, z >= 0, z <= top]
    # the sums s - y + [0, top] and s - z + [0, top] overlap
    assert holds(z3.And(s - y <= s - z + top, s - z <= s - y + top), *records)


def test_a_way_of_a_neighbour_with_one_more_step_is_a_way():
    """Shortest ways, of any kind that may be continued by the record in which neighbours differ,
    move by at most one: here and there are at most 1 + the other.
    """
    here, there = z3.Ints("here there")
    known = [here >= 0, there >= 0, here <= 1 + there, there <= 1 + here]
    assert holds(within(here - there, 1), *known)
    assert not holds(within(here - there, 1), *known[:3])


@pytest.mark.parametrize("places", [1, 2, 3, 5])
def test_one_record_moves_the_joint_score_by_at_most_one(places):
    """For a fixed size gaps change by amounts from 0 that add up to 1; a size of n fails."""
    gaps = z3.Reals([f"gap_{i}" for i in range(places + 1)])
    wanted = z3.Reals([f"wanted_{i}" for i in range(places + 1)])
    shares = z3.Reals([f"share_{i}" for i in range(places + 1)])
    known = [*(gap >= 0 for gap in gaps), *(s >= 0 for s in shares), z3.Sum(shares) == 1]

    def score(gaps, wanted):
        return z3.Sum([abs_(gap - want) for gap, want in zip(gaps, wanted, strict=True)])

    more = [gap + share for gap, share in zip(gaps, shares, strict=True)]
    change = score(more, wanted) - score(gaps, wanted)
    assert holds(within(change, 1), *known)
    if places > 1:  # with the target of every gap one share of a record further
        moved = [want + z3.Q(1, places + 1) for want in wanted]
        assert not holds(within(score(more, moved) - score(gaps, wanted), 1), *known)


# The slope. k records move a balance of n records by at most g(n, k).


def moved(n, k):
    return k * n + k * (k - 1) / 2


def test_one_pair_moves_the_distance_of_a_slope_by_at_most_one():
    """For all numbers of records and all distances, whole or not: what is within k of a data set is
    within k + 1 of its neighbour."""
    n, k, before, after = z3.Reals("n k before after")
    known = [n >= 0, k >= 0, before >= 0, after >= 0, within(after - before, n)]
    joined, left = [*known, before <= moved(n, k)], [*known, after <= moved(n + 1, k)]
    assert holds(after <= moved(n + 1, k + 1), *joined)
    assert holds(before <= moved(n, k + 1), *left)
    assert not holds(before <= moved(n, k + z3.Q(15, 16)), *left)
    assert not holds(before <= moved(n, k + 1), *known, after <= moved(n + 2, k))


@pytest.mark.parametrize("utility", ["distance", "balance"])
def test_the_distance_that_is_proven_is_the_one_that_is_computed(utility):
    """For points on an arch, of which every pair has a slope of its own."""
    for n in range(2, 12):
        steps = Slope(utility).steps([(i, -i * i) for i in range(n)], Grid(-2 * n, 2 * n, 1))
        for b in range(-2 * n, 2 * n + 1):
            slopes = [-i - j for i in range(n) for j in range(i)]
            balance = abs(sum((slope > b) - (slope < b) for slope in slopes))
            k = steps.distance_at(b) * steps.unit
            assert moved(n, k) >= balance
            assert k == 0 or moved(n, k - steps.unit) < balance
