"""What the studio's pages say about budget, people and odds, each with both of its facts."""

from __future__ import annotations

import re
import tomllib

import pytest

from duffdp import Ledger, count
from studio import AGES, changed, visit, with_data


@pytest.fixture
def folder(tmp_path):
    return with_data(tmp_path)


def spend(ledger, epsilon):
    if epsilon:
        count([1], epsilon=epsilon, ledger=ledger)


def release(visitor, fields, state="made"):
    number = visitor.asked(fields)
    visitor.start(number)
    visitor.wait_for(number, state)
    return number


@pytest.mark.parametrize(
    ("spent", "epsilon", "after"),
    [
        (0, "1", "2"),
        (0, "3", "0"),  # exactly used up
        (0, "3.01", None),
        (1, "1.5", "0.5"),
        (1, "2", "0"),
        (1, "2.01", None),
        (3, "0.01", None),
    ],
)
def test_the_budget_on_the_pages(folder, spent, epsilon, after):
    """A budget of 3, of which a part is spent: what a table leaves, or that it is too much."""
    spend(Ledger(folder / "budget.db", epsilon=3), spent)
    fields = changed(AGES, epsilon=epsilon)
    with visit(folder) as visitor:
        page = visitor.post("/preview", fields).text
        assert f"</i>spent: {spent}</li>" in page
        assert f"</i>this table: epsilon {epsilon}</li>" in page
        assert (
            f"Budget: epsilon 3. Spent: {spent}. This table: {epsilon}. "
            f"Left after it: {after or 0}."
        ) in page
        fits = after is not None
        assert (f"left after it: {after} of 3<" in page) == fits
        assert ("more than remains of 3<" in page) == (not fits)
        assert ("is too small for this table" in page) == (not fits)
        assert ('id="release" disabled' in page) == (not fits)
        confirmation = visitor.get(f"/release/{visitor.asked(fields)}").text
        assert f"{3 - spent} of 3 is left now" in confirmation
        assert (f"{after} will be left" in confirmation) == fits
        assert (f"Spend epsilon {epsilon} and release" in confirmation) == fits
        assert ("that is too little" in confirmation) == (not fits)
        release(visitor, fields, "made" if fits else "failed")
    assert Ledger(folder / "budget.db").spent() == (spent + float(epsilon) if fits else spent)


ROWS_OR_PEOPLE = [("", "one row", "one row of the table"), ("occupation", "you", "you")]


@pytest.mark.parametrize(("person", "who", "whose"), ROWS_OR_PEOPLE)
@pytest.mark.parametrize(
    ("epsilon", "right", "wrong", "factor"), [("1", 73, 27, "2.72"), ("3", 95, 5, "20.1")]
)
def test_the_odds_on_the_pages(folder, person, who, whose, epsilon, right, wrong, factor):
    """An attacker says "took part" about right of 100 times if so, about wrong of 100 if not."""
    with visit(folder) as visitor:
        fields = changed(AGES, person=person, epsilon=epsilon)
        page = visitor.post("/preview", fields).text
        assert f"What an attacker can learn about {who}<" in page
        assert f"<b>{right} of 100</b> say “took part” if so" in page
        assert f"<b>{wrong} of 100</b> say “took part” if not" in page
        confirmation = visitor.get(f"/release/{visitor.asked(fields)}").text
        for text in (page, confirmation):
            odds = re.findall(r"odds about (.*?) by a factor of at most (.*?):", text)
            assert odds == [(whose, factor)]


def test_every_start_has_releases_of_its_own(folder):
    """The same table in two starts is two releases, and both are paid for."""
    numbers = []
    for start in (1, 2):
        with visit(folder) as visitor:
            numbers += [release(visitor, AGES), visitor.asked(AGES), visitor.asked(AGES)]
        assert Ledger(folder / "budget.db").spent() == start
    assert len(set(numbers)) == 6


@pytest.mark.parametrize("dataset", ["first", "second"])
def test_the_data_set_of_the_form_is_charged_and_written_down(folder, dataset):
    other = {"first": "second", "second": "first"}[dataset]
    for name in (dataset, other):
        Ledger(folder / "budget.db", epsilon=3, dataset=name)
    fields = changed(AGES, dataset=dataset)
    with visit(folder) as visitor:
        number = release(visitor, fields)
        plans = [
            visitor.post("/download/plan.toml", fields).text,
            visitor.get(f"/release/{number}/plan.toml").text,
        ]
        programs = [
            visitor.post("/download/plan.py", fields).text,
            visitor.get(f"/release/{number}/plan.py").text,
        ]
        without = visitor.post("/download/plan.toml", changed(AGES, ledger="other.db")).text
    assert [tomllib.loads(text)["dataset"] for text in plans] == [dataset, dataset]
    assert all(dataset in text and other not in text for text in programs)
    assert "dataset" not in tomllib.loads(without)
    left = [Ledger(folder / "budget.db", dataset=name).remaining() for name in (dataset, other)]
    assert left == [2, 3]


def test_what_is_made_goes_before_what_failed(folder, monkeypatch):
    """A failed release may have been paid for and can be tried again; what is made is in the
    ledger.
    """
    from duffdp._studio import jobs

    monkeypatch.setattr(jobs, "MAX_JOBS", 3)
    with visit(folder) as visitor:
        failed = release(visitor, changed(AGES, epsilon="5"), "failed")
        made = [release(visitor, AGES) for _ in range(2)]
        visitor.asked(AGES)
        found = [visitor.get(f"/release/{number}").status_code for number in (failed, *made)]
        assert found == [200, 400, 200]
