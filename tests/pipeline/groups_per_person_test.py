"""A person in several groups: what is lost in all of them together, and what a release says."""

from __future__ import annotations

import itertools
from fractions import Fraction
from functools import cache

import polars as pl
import pytest

import duffdp
from duffdp import DuffError
from duffdp._engines import people
from duffdp.audit.neighbours import log_ratio
from release_draws import choose_in_order, laws
from verb_calls import TABLES

WITHIN = 1 + 1e-9
KEYS = {"by": "g", "keys": ["a", "b", "c"]}
GRID = {"bounds": (0.0, 2.0), "step": 1.0}
# Rows of several persons: value, group, person.
CROWDS = [
    [(0.0, "a", 1), (0.0, "b", 1), (2.0, "c", 1)],
    [(0.0, "a", 1), (0.0, "a", 1), (2.0, "b", 1), (2.0, "b", 1)],
    [(0.0, "a", 1), (2.0, "b", 1), (2.0, "b", 2)],
    [(0.0, "a", 1), (0.0, "other", 1), (0.0, "b", 2), (2.0, "c", 2)],
]
CALLS = {
    call.spec.name: call
    for call in reversed(TABLES)
    if call.spec.name in ("count", "median", "mean", "histogram", "mode")
}


def frame_of(rows):
    schema = {"x": pl.Float64, "g": pl.String, "p": pl.Int64}
    return pl.DataFrame(rows, schema=schema, orient="row")


def pairs_of(rows):
    """The persons and groups of rows, in the order in which they are numbered."""
    return sorted({(person, group) for _, group, person in rows if group != "other"})


def orders_without(person, rows, pairs, row_order, pair_order):
    """The orders that are left of those of all rows, and of all groups of persons."""
    others = [i for i, row in enumerate(rows) if row[2] != person]
    left = [i for i, pair in enumerate(pairs) if pair[0] != person]
    return (
        tuple(others.index(i) for i in row_order if i in others),
        tuple(left.index(i) for i in pair_order if i in left),
    )


@pytest.mark.parametrize("sizes", [{}, {"suppress_below": 1}], ids=["values", "sizes"])
@pytest.mark.parametrize("contributions", [1, 2])
@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_one_person_in_several_groups_through_the_verb(call, contributions, sizes):
    """Remove each person in turn, for every order by which rows and groups are chosen and the one
    that it leaves for the others: the laws of all groups together are within epsilon."""
    most = 2
    epsilon = 5.0 * contributions * most
    given = {"column": "x", "unit": "p", "contributions": contributions, "groups_per_person": most}
    given |= {"epsilon": epsilon, **KEYS, **call.outputs(**GRID), **sizes}

    @cache
    def draws_of(rows, *orders):
        with pytest.MonkeyPatch.context() as patch:
            choose_in_order(patch, *orders)
            patch.setattr(people, "ROUNDS", 1)  # rows by races and by shuffles, groups by these
            return laws(lambda: call(frame_of(rows), **given))

    largest = 0.0
    for rows in CROWDS:
        counted, pairs = [row for row in rows if row[1] != "other"], pairs_of(rows)
        for orders in itertools.product(
            itertools.permutations(range(len(counted))), itertools.permutations(range(len(pairs)))
        ):
            here = draws_of(tuple(rows), *orders)
            for person in {person for *_, person in rows}:
                left = orders_without(person, counted, pairs, *orders)
                there = draws_of(tuple(row for row in rows if row[2] != person), *left)
                largest = max(largest, log_ratio(here, there))
    assert largest <= epsilon * WITHIN
    assert largest > 0.5 * epsilon


def test_what_is_charged_does_not_depend_on_how_often_a_person_counts(tmp_path):
    ledger = duffdp.Ledger(tmp_path / "budget.db", epsilon=10)
    rows = frame_of([(0.0, "a", 1), (2.0, "b", 1)])
    given = {"column": "x", "unit": "p", "contributions": 3, "groups_per_person": 2, **GRID, **KEYS}
    release = duffdp.median(rows, epsilon=1, ledger=ledger, **given)
    assert ledger.remaining_exactly() == 9
    (part,) = release.loss.parts
    assert (part.epsilon, part.contributions) == (1, 6)
    assert release.unit == duffdp.PrivacyUnit("person", "p", 3, 2)
    assert release.unit.rows == 6
    again = duffdp.Release.from_dict(release.to_dict())
    assert again.unit == release.unit
    single = duffdp.median(rows, epsilon=Fraction(1, 6), **GRID, column="x", **KEYS)
    assert release.distance_bound() == single.distance_bound()


def test_more_groups_than_there_are_cost_nothing():
    """Of two groups a person is in two at most, and all of them together are one."""
    rows = frame_of([(0.0, "a", 1)])
    given = {"epsilon": 1, "unit": "p", "by": "g", "keys": ["a", "b"], "groups_per_person": 9}
    assert duffdp.count(rows, **given).unit.groups_per_person == 2
    table = duffdp.table(rows, {"x": "median"}, bounds={"x": (0, 2)}, total=True, **given)
    assert table.releases["x_median"].unit.groups_per_person == 2
    assert table.releases["x_median in all"].unit.groups_per_person is None


def test_each_group_counts_a_person_and_says_so():
    rows = frame_of([(1.0, group, person) for group in "abc" for person in range(100)])
    given = {"epsilon": 1e6, "unit": "p", **KEYS}
    one, two = duffdp.count(rows, **given), duffdp.count(rows, groups_per_person=2, **given)
    assert sum(value for _, _, value in one.rows()) == 100
    assert sum(value for _, _, value in two.rows()) == 200
    assert two.counted == "people, once in each of at most 2 groups"
    more = duffdp.count(rows, groups_per_person=3, contributions=4, **given)
    assert [value for _, _, value in more.rows()] == [100] * 3
    assert more.counted == "rows of people, at most 4 each in each of at most 3 groups"


@pytest.mark.parametrize(
    ("given", "rule"),
    [
        ({"groups_per_person": 2, "unit": "p"}, "groups_per_person=2 needs by"),
        ({"groups_per_person": 2, **KEYS}, "groups_per_person=2 needs unit"),
        ({"groups_per_person": 0, "unit": "p", **KEYS}, "whole number of 1 or more, got 0"),
        ({"groups_per_person": 1.5, "unit": "p", **KEYS}, "whole number of 1 or more, got 1.5"),
        ({"groups_per_person": True, "unit": "p", **KEYS}, "whole number of 1 or more, got True"),
    ],
)
def test_what_is_no_number_of_groups(given, rule):
    with pytest.raises(DuffError, match=rule):
        duffdp.median(frame_of([]), column="x", epsilon=1, **GRID, **given)


def test_only_persons_have_groups():
    with pytest.raises(DuffError, match="groups_per_person must be a whole number of 1 or more"):
        duffdp.PrivacyUnit("row", groups_per_person=2)
    with pytest.raises(DuffError, match="groups_per_person must be a whole number of 1 or more"):
        duffdp.PrivacyUnit("person", "p", groups_per_person=0)
