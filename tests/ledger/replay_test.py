"""A call id and its retry: every fact has to be the same, and what was stored comes back."""

from __future__ import annotations

import dataclasses
import datetime as dt
from fractions import Fraction

import polars as pl
import pytest

import duffdp
from duffdp import Bins, Categories, DuffError, Grid, Ledger, Loss, Pattern, PrivacyUnit
from duffdp._facts import Facts, MechanismFact, MechanismPart, StatisticFact
from duffdp._parameters import FoundKeys, Groups, Interval, Suppression
from duffdp.domain import Membership, Presence
from duffdp.domain.key_level import KeyLevel
from duffdp.ledger.charge import Result
from release_facts import facts

DAYS = Grid(dt.datetime(2024, 1, 1), dt.datetime(2024, 1, 3), 60)
PAIRED = {"column": "age", "by": ("ward",), "keys": (("A",), ("B",))}
# For each field of the facts, values of which no two are the same release.
FIELDS = {
    "statistic": [
        StatisticFact("median"),
        StatisticFact("mean"),
        StatisticFact("median", {"q": 0.5}),
    ],
    "mechanism": [
        MechanismFact("best", (MechanismPart("lattice", "signed", Fraction(1, 10)),)),
        MechanismFact("duff", (MechanismPart("lattice", "signed", Fraction(1, 10)),)),
        MechanismFact("best", (MechanismPart("lattice", "rank", Fraction(1, 10)),)),
        MechanismFact("best", (MechanismPart("lattice", "signed", Fraction(1, 10), 2),)),
    ],
    "loss": [Loss(Fraction(1, 10)), Loss(Fraction(2, 10)), Loss(Fraction(1, 10), Fraction(1, 99))],
    "unit": [
        PrivacyUnit("row"),
        PrivacyUnit("person", "patient"),
        PrivacyUnit("person", "name"),
        PrivacyUnit("person", "patient", 2),
        PrivacyUnit("person", "patient", 1, 3),
    ],
    "domain": [
        Grid(0, 120, 1),
        Grid(0, 119, 1),
        Grid(0, 120, 2),
        DAYS,
        DAYS.in_zone("Europe/Berlin"),
        duffdp.Digits(3),
        Categories(["a", "b"]),
        Bins([0, 60, 120]),
        Membership(Categories(["a", "b"])),
        Membership(Bins([0, 60])),
        Presence(),
        Presence(rows=True),
    ],
    "column": [None, "age", "size"],
    "by": [(), ("ward",), ("floor",)],
    "keys": [(), (("A",), ("B",)), (("B",), ("A",)), (("A",),)],
    "secure": [True, False],
    "interval": [
        None,
        Interval(Fraction(9, 10), "data", False),
        Interval(Fraction(8, 10), "data", False),
        Interval(Fraction(9, 10), "population", False),
        Interval(Fraction(9, 10), "data", True),
    ],
    "where": [None, "age > 50", "age > 51"],
    "sql": [None, "SELECT age FROM data", "SELECT 2 * age AS age FROM data"],
    "within": [None, Groups(("ward",), (("A",),)), Groups(("ward",), (("A",), ("B",)))],
    "suppression": [None, Suppression(5), Suppression(6), Suppression(5, "count")],
    "found": [
        None,
        FoundKeys((Pattern("[AB]"),), 2, 5, Fraction(1, 2), False),
        FoundKeys((Pattern("[AB]"),), 2, 6, Fraction(1, 2), False),
    ],
    "other": [None, "all others", "the rest"],
    "level": [None, KeyLevel("letter", characters=1), KeyLevel("letter", characters=2)],
}


def test_every_field_of_the_facts_is_here():
    assert list(FIELDS) == [field.name for field in dataclasses.fields(Facts)]


@pytest.mark.parametrize("field", FIELDS)
def test_a_retry_that_differs_in_one_field_is_refused(tmp_path, field):
    """In every order, what is there or not there included; nothing is charged or returned."""
    budget = Ledger(tmp_path / "budget.db", epsilon=99, delta=0.9, allow_seeded=True)
    result = Result([[7]], dt.datetime.now(dt.UTC))
    base = facts(**PAIRED)
    for number, value in enumerate(FIELDS[field]):
        ledger = budget.call(f"call {number}")
        first = dataclasses.replace(base, **{field: value})
        ledger.charge(first).store(result)
        before = len(ledger.charges())
        for other in FIELDS[field]:
            if other is not value:
                with pytest.raises(DuffError, match=r"other parameters"):
                    ledger.charge(dataclasses.replace(base, **{field: other}))
        assert ledger.charge(first).earlier == result
        assert len(ledger.charges()) == before
    budget.verify()


def test_a_retry_may_know_more_of_the_mechanism(tmp_path):
    """The same epsilon, of which more is known than when it was charged."""
    ledger = Ledger(tmp_path / "budget.db", epsilon=1).call("a")
    result = Result([[7]], dt.datetime.now(dt.UTC))
    ledger.charge(facts(family="pure")).store(result)
    assert ledger.charge(facts(family="bounded-range")).earlier == result


AGES = pl.DataFrame(
    {
        "age": [i % 100 for i in range(2000)],
        "size": [i % 90 for i in range(2000)],
        "patient": list(range(2000)),
        "ward": ["A", "B"] * 1000,
        "seen": [dt.datetime(2024, 1, 1) + dt.timedelta(hours=i % 40) for i in range(2000)],
    }
)
GRID = {"bounds": (0, 120), "step": 1}
MEDIAN = (duffdp.median, {"column": "age", **GRID})
WARDS = {"by": "ward", "keys": ["A", "B"]}
TEXT = "SELECT age FROM data WHERE age > 50"
# Calls that differ in one argument, as users make them: with the earlier one stored, each of the
# others is refused.
CALLS = {
    "where": [MEDIAN, (MEDIAN[0], {**MEDIAN[1], "where": "age > 50"})],
    "where of a count": [(duffdp.count, {}), (duffdp.count, {"where": "age > 50"})],
    "interval": [(duffdp.count, {}), (duffdp.count, {"interval": 0.9})],
    "confidence": [(duffdp.count, {"interval": c}) for c in (0.9, 0.8)],
    "suppression": [
        (duffdp.count, {**WARDS, **more})
        for more in ({}, {"suppress_below": 5}, {"suppress_below": 6})
    ],
    "unit": [MEDIAN, (MEDIAN[0], {**MEDIAN[1], "unit": "patient"})],
    "contributions": [
        (MEDIAN[0], {**MEDIAN[1], "unit": "patient", "contributions": n}) for n in (1, 2)
    ],
    "column": [MEDIAN, (MEDIAN[0], {**MEDIAN[1], "column": "size"})],
    "keys": [
        (MEDIAN[0], {**MEDIAN[1], "by": "ward", "keys": keys}) for keys in (["A", "B"], ["B", "A"])
    ],
    "groups": [MEDIAN, (MEDIAN[0], {**MEDIAN[1], **WARDS})],
    "bounds": [(MEDIAN[0], {**MEDIAN[1], "bounds": (0, top)}) for top in (120, 119)],
    "statistic": [(verb, {"column": "age", **GRID}) for verb in (duffdp.median, duffdp.mean)],
    "mechanism": [(MEDIAN[0], {**MEDIAN[1], "mechanism": which}) for which in ("best", "duff")],
    "epsilon": [(MEDIAN[0], {**MEDIAN[1], "epsilon": epsilon}) for epsilon in (0.1, 0.2)],
}


@pytest.mark.parametrize("name", CALLS)
def test_a_call_that_differs_in_one_argument_is_refused(tmp_path, name):
    budget = Ledger(tmp_path / "budget.db", epsilon=99)
    asked = [{"epsilon": 0.1, **given} for _, given in CALLS[name]]
    verbs = [verb for verb, _ in CALLS[name]]
    for at, (verb, given) in enumerate(zip(verbs, asked, strict=True)):
        ledger = budget.call(f"call {at}")
        first = verb(AGES, **given, ledger=ledger)
        before = budget.spent()
        for other, (another, more) in enumerate(zip(verbs, asked, strict=True)):
            if other != at:
                with pytest.raises(DuffError, match="other parameters"):
                    another(AGES, **more, ledger=ledger)
        assert verb(AGES, **given, ledger=ledger) == first
        assert budget.spent() == before


@pytest.mark.parametrize("reverse", [False, True])
def test_a_call_with_and_without_a_query_is_refused(tmp_path, reverse):
    """The rows of the query alone, which would be taken for all rows, or the other way around."""
    ledger = Ledger(tmp_path / "budget.db", epsilon=1).call("a")
    data = [AGES, duffdp.Query(AGES, TEXT)]
    first, second = data[::-1] if reverse else data
    made = duffdp.count(first, epsilon=0.1, ledger=ledger)
    with pytest.raises(DuffError, match="other parameters"):
        duffdp.count(second, epsilon=0.1, ledger=ledger)
    assert duffdp.count(first, epsilon=0.1, ledger=ledger) == made
    assert ledger.spent() == 0.1


def test_groups_that_a_margin_takes_together_are_a_fact(tmp_path):
    """The same total of a table, of other groups: each release of it is known by its own facts."""
    ledger = Ledger(tmp_path / "budget.db", epsilon=9).call("a")
    given = {"epsilon": 1, "bounds": {"age": (0, 120)}, "by": "ward", "total": True}
    first = duffdp.table(AGES, {"age": "median"}, keys=["A", "B"], **given, ledger=ledger)
    with pytest.raises(DuffError, match="other parameters"):
        duffdp.table(AGES, {"age": "median"}, keys=["A"], **given, ledger=ledger)
    again = duffdp.table(AGES, {"age": "median"}, keys=["A", "B"], **given, ledger=ledger)
    assert again == first
    assert ledger.spent() == 1
