"""The file of a ledger: what was changed is found, its name is its name, every commit is
durable.
"""

from __future__ import annotations

import datetime as dt
import json
import sqlite3

import pytest

import duffdp
from duffdp import DuffError, Ledger, LedgerError
from duffdp.ledger import journal
from duffdp.ledger.charge import Result
from duffdp.ledger.journal import FIRST_HASH, with_hash
from duffdp.ledger.verification import replay
from release_facts import facts

AGES = {"bounds": (0, 120), "step": 1}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "budget.db"


# What verify finds: each change of the file by hand, made with plain SQL.
TAMPERED = {
    "a smaller charge": "UPDATE entry SET body = "
    """replace(body, '"epsilon":"1/10"', '"epsilon":"1/20"') WHERE number = 4""",
    "a larger budget": "UPDATE entry SET body = "
    """replace(body, '"epsilon":"1"', '"epsilon":"9"') WHERE number = 1""",
    "another value": "UPDATE entry SET body = replace(body, '[5]', '[6]') WHERE kind = 'release'",
    "another name": "UPDATE entry SET dataset = 'other' WHERE number = 4",
    "another call id": "UPDATE entry SET call = 'x' WHERE number = 2",
    "a charge removed": "DELETE FROM entry WHERE number = 5",
    "the first removed": "DELETE FROM entry WHERE number = 1",
    "two exchanged": "UPDATE entry SET number = CASE number WHEN 2 THEN -3 ELSE -2 END "
    "WHERE number "
    "IN (2, 3); UPDATE entry SET number = abs(number)",
    "a release twice": "INSERT INTO entry SELECT 7, dataset, kind, call, body, hash FROM entry "
    "WHERE kind = 'release'",
}


@pytest.fixture
def filled(path):
    ledger = Ledger(path, epsilon=1)
    ledger.call("a").charge(facts()).store(Result([[5]], dt.datetime.now(dt.UTC)))
    for _ in range(3):
        ledger.charge(facts())
    assert ledger.verify().entries == 6
    return ledger


@pytest.mark.parametrize("change", TAMPERED.values(), ids=TAMPERED.keys())
def test_tampering_is_found(filled, change):
    with sqlite3.connect(filled.path) as base:
        base.executescript(change)
    base.close()
    with pytest.raises(
        LedgerError, match=r"is damaged: (the hash does not match|an entry is missing)"
    ):
        filled.verify()


def resealed(entries):
    """The same entries with hashes that fit: a forger who knows the rules."""
    before, out = FIRST_HASH, []
    for number, entry in enumerate(entries, 1):
        out.append(with_hash(before, entry._replace(number=number)))
        before = out[-1].hash
    return out


def saying(entry, **changes):
    """The entry with another body."""
    return entry._replace(text=json.dumps(entry.body | changes))


def test_a_forger_with_fitting_hashes_still_has_to_keep_the_books(filled):
    with filled._journal.reading() as view:
        entries = view.entries
    budget, charge, release, *rest = entries
    assert replay(resealed(entries), "x", None).head == entries[-1].hash
    assert resealed(entries) == entries
    small = saying(budget, epsilon="3/10")
    forged = {
        "overdrawn": [small, charge, release, *rest],
        "sum of the charges": [budget, charge, release, *rest[1:]],
        "no charge of its own": [budget, charge, release, release, *rest],
        "budget is missing": [charge, release],
        "given twice": [budget, budget],
        "missing or given": [budget, charge._replace(kind="gift")],
        "cannot be read": [budget, saying(charge, loss={"epsilon": "1/0", "delta": "0"})],
        "KeyError": [budget, charge._replace(text="{}")],
        "ValueError": [budget, saying(charge, loss={"epsilon": "a tenth", "delta": "0"})],
        "JSONDecodeError": [budget, charge._replace(text="{")],
        "TypeError": [budget, charge._replace(text="[]")],
        "overdrawn at": [
            budget,
            saying(
                charge, loss={"epsilon": "-1", "delta": "0"}, spent={"epsilon": "-1", "delta": "0"}
            ),
        ],
    }
    for found, wrong in forged.items():
        with pytest.raises(LedgerError, match=found):
            replay(resealed(wrong), "x", None)


@pytest.fixture
def two_budgets(path):
    """A file with the budgets of two data sets, two charges with call ids and one release."""
    people = Ledger(path, epsilon=1, delta=0.25, dataset="people")
    Ledger(path, epsilon=1, delta=0.25, dataset="visits").call("a").charge(facts())
    paid = people.call("a").charge(facts(epsilon="1/2", delta="1/8"))
    paid.store(Result([[5]], dt.datetime.now(dt.UTC)))
    people.call("b").charge(facts(epsilon="1/2", delta="1/8"))
    assert people.verify().datasets == ("people", "visits")
    return people


# Forged files with fitting hashes: which entry is changed, how, and what is found.
FORGED = {
    "epsilon is overdrawn alone": (1, {"epsilon": "1/2"}, "overdrawn at entry 6"),
    "delta is overdrawn alone": (1, {"delta": "1/8"}, "overdrawn at entry 6"),
    "the release of another data set": (5, {"dataset": "visits"}, "no charge of its own"),
    "the release of another call": (5, {"call": "b"}, "no charge of its own"),
    "a release without a call": (5, {"call": None}, "no charge of its own"),
    "the release of a charge of others": (5, {"charge": 3}, "no charge of its own"),
    "the release of a charge to come": (5, {"charge": 6}, "no charge of its own"),
    "the release of a budget": (5, {"charge": 1}, "no charge of its own"),
}


@pytest.mark.parametrize("name", FORGED)
def test_verify_tells_forged_books(two_budgets, name):
    number, changes, found = FORGED[name]
    with two_budgets._journal.reading() as view:
        entries = list(view.entries)
    entry = entries[number - 1]
    fields = {field: value for field, value in changes.items() if field in entry._fields}
    body = {field: value for field, value in changes.items() if field not in fields}
    entries[number - 1] = saying(entry, **body)._replace(**fields)
    with sqlite3.connect(two_budgets.path) as base:
        base.execute("DELETE FROM entry")
        base.executemany("INSERT INTO entry VALUES (?, ?, ?, ?, ?, ?)", resealed(entries))
    base.close()
    with pytest.raises(LedgerError, match=found):
        two_budgets.verify()


def test_cutting_off_the_end_is_found_by_an_earlier_head(filled):
    head = filled.verify().head
    filled.charge(facts())
    filled.verify(head)
    with sqlite3.connect(filled.path) as base:
        base.execute("DELETE FROM entry WHERE number >= 6")
    base.close()
    filled.verify()  # a shorter ledger is a ledger
    with pytest.raises(LedgerError, match="removed or replaced"):
        filled.verify(head)


def test_a_forged_total_is_refused_at_once(filled):
    with sqlite3.connect(filled.path) as base:
        base.execute("""UPDATE entry SET body = replace(body, '"2/5"', '"0"') WHERE number = 6""")
    base.close()
    with pytest.raises(LedgerError, match="hash does not match at entry 6"):
        filled.charge(facts())


@pytest.mark.parametrize(
    "name",
    [
        "p%41.db",
        "a#b.db",
        "a?mode=memory",
        "a b.db",
        "größe-数.db",
        "%23",
        "a&b;c.db",
        ":memory:",
        "a\\b",
    ],
)
def test_every_name_of_a_file_is_that_file(tmp_path, name):
    """Names that mean something in an address: the ledger is the file of this name and no other."""
    (tmp_path / "pA.db").write_text("not a ledger")
    ledger = Ledger(tmp_path / name, epsilon=1)
    duffdp.median([1], epsilon=0.25, **AGES, ledger=str(tmp_path / name))
    assert ledger.spent() == 0.25
    assert {file.name for file in tmp_path.iterdir()} == {name, "pA.db"}
    with sqlite3.connect(tmp_path / name) as base:
        assert base.execute("SELECT count(*) FROM entry").fetchone() == (2,)
    base.close()


def test_a_path_with_a_zero_character(tmp_path):
    Ledger(tmp_path / "a", epsilon=1)
    for given in (f"{tmp_path}/a\0b", f"{tmp_path}/c\0b"):
        with pytest.raises(DuffError, match="null character"):
            Ledger(given, epsilon=1)
    assert [file.name for file in tmp_path.iterdir()] == ["a"]


def test_a_ledger_stays_the_same_file_when_the_process_moves(tmp_path, monkeypatch):
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        monkeypatch.chdir(tmp_path / folder)
        Ledger("budget.db", epsilon=1)
    ledger = Ledger("budget.db")
    monkeypatch.chdir(tmp_path / "one")
    ledger.charge(facts())
    assert (Ledger("budget.db").spent(), ledger.spent()) == (0, 0.1)


def test_a_ledger_that_was_replaced_is_not_charged(path):
    ledger = Ledger(path, epsilon=1)
    path.unlink()
    Ledger(path, epsilon=9)
    with pytest.raises(LedgerError, match="was replaced since it was opened"):
        ledger.charge(facts())
    assert Ledger(path).spent() == 0


def test_another_database_is_no_place_for_a_ledger(path):
    with sqlite3.connect(path) as base:
        base.execute("CREATE TABLE other (x)")
    base.close()
    with pytest.raises(LedgerError, match="is not a ledger"):
        Ledger(path, epsilon=1)


def test_every_commit_is_durable(path, monkeypatch):
    """What the connection says of itself when it commits: 3 is EXTRA, and the rollback journal is
    on the disk.
    """
    said = []

    class Watched(sqlite3.Connection):
        def execute(self, statement, *values):
            if statement == "COMMIT":
                asked = ("synchronous", "journal_mode", "fullfsync")
                said.append(
                    [super(Watched, self).execute(f"PRAGMA {name}").fetchone()[0] for name in asked]
                )
            return super().execute(statement, *values)

        def commit(self):
            raise AssertionError("not the way of a journal")

    connect = sqlite3.connect
    monkeypatch.setattr(
        journal.sqlite3, "connect", lambda *a, **kw: connect(*a, factory=Watched, **kw)
    )
    ledger = Ledger(path, epsilon=1)
    duffdp.median([1], epsilon=0.25, **AGES, ledger=ledger.call("a"))  # a charge and a release
    assert said == [[3, "delete", 1]] * 3
    assert ledger.verify().entries == 3


def test_a_path_that_no_file_can_have(tmp_path):
    with pytest.raises(LedgerError, match="there is no ledger"):
        Ledger(tmp_path / ("a" * 5000))
    with pytest.raises(LedgerError):
        Ledger(tmp_path / ("a" * 5000), epsilon=1)
