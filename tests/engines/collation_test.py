"""Texts are compared byte by byte, whatever the collation of a column, a session or a server says:
people, groups, categories and conditions.
"""

from __future__ import annotations

import pytest

import adversary
import collated
import duffdp
from duffdp import UnsupportedData
from scenarios import Maker

# Letters that one collation or another takes for the same: by case, accents, blanks at the end.
NAMES = ["ANN", "ann", "Ann ", "ann ", "änn", "a\N{COMBINING DIAERESIS}nn", ""]
EXACT = 1e6  # an epsilon without noise


@pytest.fixture(params=collated.TABLES)
def place(request):
    """Every place where texts may have a collation, in turn."""
    reason = collated.missing(request.param)
    if reason is not None:
        pytest.skip(reason)
    return request.param


@pytest.fixture
def names(place):
    """Those that can be there."""
    return [name for name in NAMES if collated.holds(place, name)]


@pytest.fixture
def table(place, tmp_path):
    """What makes a table of rows with a number, a group and a person."""
    return lambda rows: collated.TABLES[place](rows, tmp_path)


def numbers(release):
    return [value for *_, value in release.rows()]


def test_nobody_pushes_out_another(table, names):
    """All have one row, so all rows count; whoever has three counts once."""
    rows = [(at, "a", name) for at, name in enumerate([*names, "ann", "ann", None])]
    found = duffdp.count(table(rows), unit="p", contributions=1, epsilon=EXACT)
    assert found.value == len(names)


def test_whoever_joins_changes_one_cell(table, names):
    """By one, whoever is there already."""
    for name in ("ANN", "ann "):
        before = [(at, "a", other) for at, other in enumerate(names) if other != name]
        was, now = (
            numbers(
                duffdp.histogram(
                    table(rows), column="x", bins=[*range(11)], unit="p", epsilon=EXACT
                )
            )
            for rows in (before, [*before, (9, "a", name)])
        )
        assert [b - a for a, b in zip(was, now, strict=True)] == [0] * 9 + [1]


def test_people_have_groups_of_their_own(place, table, names):
    """One group of each person counts, and both are told apart by their letters."""
    rows = [(0, group, name) for name in names for group in ("ANN", "ann")]
    asked = {"by": "g", "keys": ["ANN", "ann"], "unit": "p", "epsilon": EXACT}
    if place.startswith("ibis sqlite"):  # whose queries may not be as deep as that
        with pytest.raises(UnsupportedData, match="does not support the queries"):
            duffdp.count(table(rows), groups_per_person=1, **asked)
        return
    found = duffdp.count(table(rows), groups_per_person=1, **asked)
    assert sum(numbers(found)) == len(names)
    found = duffdp.count(table(rows), groups_per_person=2, **asked)
    assert numbers(found) == [len(names)] * 2


def test_a_row_is_in_the_group_of_its_letters(table, names):
    rows = [(at, name, "p") for at, name in enumerate(names) for _ in range(at + 1)]
    found = duffdp.count(table(rows), by="g", keys=names, epsilon=EXACT)
    assert numbers(found) == [at + 1 for at in range(len(names))]
    found = duffdp.median(table(rows), column="x", by="g", keys=names, epsilon=EXACT, bounds=(0, 9))
    assert numbers(found) == list(range(len(names)))


def test_a_row_is_in_the_category_of_its_letters(table, names):
    rows = [(0, name, str(at)) for at, name in enumerate(names) for _ in range(at + 1)]
    for more in ({}, {"unit": "p", "contributions": 9}):
        found = duffdp.histogram(table(rows), column="g", categories=names, epsilon=EXACT, **more)
        assert numbers(found) == [at + 1 for at in range(len(names))]


def test_a_condition_holds_for_its_letters(table, names):
    rows = [(at, name, "p") for at, name in enumerate([*names, None])]
    for condition, kept in (
        ("g = 'ann'", 1),
        ("g <> 'ann '", len(names) - 1),
        ("g IN ('ANN', 'nobody', 'änn', '')", 3),
        ("NOT g IN ('ANN', 'nobody')", len(names) - 1),
    ):
        found = duffdp.count(table(rows), where=condition, epsilon=EXACT)
        assert (condition, found.value) == (condition, kept)


@pytest.mark.slow
def test_no_record_shows(place, tmp_path):
    """In what the adversary sees, but the value."""
    maker = Maker(seed=9)
    for _ in range(3):
        scenario = maker.collated(f"collated {place}")
        assert (scenario, adversary.differences(scenario, tmp_path)) == (scenario, {})
