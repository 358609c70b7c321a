"""The budget: sums, refusals, retries, and releases as JSON."""

from __future__ import annotations

import datetime as dt
import json
import math
import sqlite3
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest

import duffdp
from duffdp import BudgetExceeded, DuffError, Ledger, LedgerError
from duffdp._facts import Facts
from duffdp.ledger.charge import Result
from release_facts import facts

AGES = {"bounds": (0, 120), "step": 1}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "budget.db"


def test_ten_tenths_are_one(path):
    ledger = Ledger(path, epsilon=1.0)
    for _ in range(10):
        duffdp.median([1, 2, 3], epsilon=0.1, **AGES, ledger=ledger)
    assert (ledger.spent(), ledger.remaining()) == (1.0, 0.0)
    with pytest.raises(
        BudgetExceeded, match=r"requested epsilon 1e-09, remaining 0 of 1 .*: 1e-09 too much"
    ):
        duffdp.median([1, 2, 3], epsilon=1e-9, **AGES, ledger=ledger)
    assert len(ledger.charges()) == 10


PEOPLE = pl.DataFrame({"age": [31, 35], "who": ["a", "b"]})
LEAST = {"epsilon": 1e-12, **AGES}


@pytest.mark.parametrize(
    "call",
    [
        lambda **kw: duffdp.median(PEOPLE, column="age", unit="who", contributions=9, **kw),
        lambda **kw: duffdp.median(
            PEOPLE, column="age", by="who", keys=["a"], suppress_below=9, **kw
        ),
        lambda **kw: duffdp.describe([1], **kw),
        lambda **kw: duffdp.std([1], **kw),
        lambda **kw: duffdp.mean([1], mechanism="clipped", **kw),
        lambda **kw: duffdp.quantile([1], 0.99, **kw),
        lambda **kw: duffdp.quantiles([1], [i / 30 for i in range(1, 30)], **kw),
        lambda **kw: duffdp.median([1], interval=0.95, **kw),
        lambda **kw: duffdp.triangles([(0, 1)], nodes=5, epsilon=1e-7, ledger=kw["ledger"]),
        lambda **kw: duffdp.count(
            PEOPLE,
            by="who",
            keys=duffdp.Pattern("[a-z]"),
            finding=0.5,
            epsilon=1e-12,
            ledger=kw["ledger"],
        ),
    ],
)
def test_a_share_that_is_too_small_for_a_draw_is_refused_before_the_charge(call, path):
    """What a draw or a row would get follows from public parameters alone."""
    ledger = Ledger(path, epsilon=1)
    with pytest.raises(DuffError, match=r"epsilon is divided among the draws .* Pass a larger"):
        call(**LEAST, ledger=ledger)
    assert ledger.charges() == []


def test_a_refusal_says_what_is_missing_and_charges_nothing(path):
    ledger = Ledger(path, epsilon=1, delta=1e-6, dataset="people")
    ledger.charge(facts(epsilon="7/10", delta="1/10000000"))
    with pytest.raises(
        BudgetExceeded,
        match=r"requested epsilon 0.5, remaining 0.3 of 1 for the data set 'people': 0.2 too much",
    ):
        ledger.charge(facts(epsilon="1/2"))
    with pytest.raises(BudgetExceeded, match=r"requested delta 1e-06, remaining 9e-07 of 1e-06"):
        ledger.charge(facts(epsilon="1/10", delta="1/1000000"))
    with pytest.raises(BudgetExceeded):
        ledger.charge_all([facts(epsilon="1/10"), facts(epsilon="1/10"), facts(epsilon="2/10")])
    assert ledger.spent() == 0.7
    assert [
        charge.earlier
        for charge in ledger.charge_all([facts(epsilon="1/10"), facts(epsilon="2/10")])
    ] == [
        None,
        None,
    ]
    assert ledger.remaining() == 0


@pytest.mark.parametrize(
    "verb",
    [duffdp.median, duffdp.mean, lambda data, **kw: duffdp.quantile(data, 0.9, **kw), duffdp.mode],
    ids=["median", "mean", "quantile", "mode"],
)
def test_every_verb_pays(path, verb):
    Ledger(path, epsilon=1)
    release = verb([1, 2, 2], epsilon=0.25, **AGES, ledger=path)
    (charge,) = Ledger(path).charges()
    assert Facts.from_dict(charge) == release.facts
    assert charge["loss"]["epsilon"] == "1/4"
    assert charge["bounds"] == [0, 120]
    verb([1, 2, 2], epsilon=0.25, **AGES, ledger=str(path))
    assert Ledger(path).spent() == 0.5


def test_seeds_are_refused_unless_allowed(path):
    ledger = Ledger(path, epsilon=1)
    with pytest.raises(DuffError, match="seed is not private"):
        duffdp.median([1], epsilon=0.5, **AGES, ledger=ledger, rng=3)
    assert ledger.spent() == 0
    assert not duffdp.median(
        [1], epsilon=0.5, **AGES, ledger=Ledger(path, allow_seeded=True), rng=3
    ).secure
    assert ledger.spent() == 0.5


def test_the_charge_comes_before_the_rows_and_the_draw(path, monkeypatch):
    ledger = Ledger(path, epsilon=1)
    spent = []
    from duffdp._engines.arrays import ArrayEngine
    from duffdp._engines.queries.engine import QueryEngine
    from duffdp.mechanisms import mechanism

    for owner, name in ((ArrayEngine, "answer"), (QueryEngine, "answer"), (mechanism, "race")):
        original = getattr(owner, name)

        def watch(*args, original=original, name=name, **kw):
            spent.append((name, ledger.spent()))
            return original(*args, **kw)

        monkeypatch.setattr(owner, name, watch)
    file = path.parent / "x.csv"
    file.write_text('x\n1\n"2"\n')
    for data, column in (([1, 2, 3], None), (pl.DataFrame({"x": [1, 2]}), "x"), (file, "x")):
        before = ledger.spent()
        duffdp.median(data, column=column, epsilon=0.125, **AGES, ledger=ledger)
        assert spent == [("answer", before + 0.125), ("race", before + 0.125)]
        spent.clear()


def test_records_of_files_are_read_after_the_charge(path, monkeypatch):
    """Of a file of text, its first line; of SQLite, the declared types."""
    from duffdp._engines.files import csv, databases, json_lines

    ledger = Ledger(path, epsilon=1)
    plain, quoted, lines = (path.parent / name for name in ("plain.csv", "quoted.csv", "x.jsonl"))
    plain.write_text("x\n1\n2\n")
    quoted.write_text('x\n"1"\n2\n')
    lines.write_text('{"x": 1}\n')
    base = sqlite3.connect(path.parent / "x.sqlite")
    base.execute("CREATE TABLE t (x INTEGER)")
    base.execute("INSERT INTO t VALUES (1)")
    base.commit()
    base.close()
    spent = []
    watched = ((csv, "survey"), (json_lines, "survey"), (databases, "_texts"))
    for owner, name in watched:
        original = getattr(owner, name)

        def watch(*args, original=original, **kw):
            spent.append(ledger.spent())
            return original(*args, **kw)

        monkeypatch.setattr(owner, name, watch)
    for data in (plain, quoted, lines, f"{path.parent / 'x.sqlite'}::t"):
        before = ledger.spent()
        duffdp.median(data, column="x", epsilon=0.125, **AGES, ledger=ledger)
        assert spent
        assert set(spent) == {before + 0.125}
        spent.clear()


def test_what_the_types_forbid_is_not_charged(path):
    ledger = Ledger(path, epsilon=1)
    frame = {"x": [1, 2], "s": ["a", "b"]}
    file = path.parent / "x.csv"
    file.write_text("x,s\n1,a\n2,b\n")
    texts = pd.DataFrame(frame).astype({"s": "string"})  # else objects in pandas 2: anything
    for data in (pl.DataFrame(frame), texts, pl.LazyFrame(frame), file):
        wrongs = [{"column": "none"}, {"column": "x", "unit": "who"}]
        # in a file of text every column is text, and keys are compared as such
        if data is not file:
            wrongs += [{"column": "s"}, {"column": "x", "by": "s", "keys": [3]}]
        for wrong in wrongs:
            with pytest.raises(DuffError):
                duffdp.median(data, epsilon=0.1, **AGES, ledger=ledger, **wrong)
        if data is not file:
            with pytest.raises(DuffError):
                duffdp.mode(data, column="x", epsilon=0.1, categories=["a", "b"], ledger=ledger)
    with pytest.raises(DuffError):
        duffdp.median(np.array(["a"]), epsilon=0.1, **AGES, ledger=ledger)
    with pytest.raises(DuffError):
        duffdp.median([1], epsilon=-1, **AGES, ledger=ledger)
    with pytest.raises(DuffError):
        duffdp.median(path.parent / "none.csv", column="x", epsilon=0.1, **AGES, ledger=ledger)
    assert ledger.charges() == []


FRAME = pl.DataFrame({"x": [1.0, 2.0, 3.0] * 30, "g": ["a", "b", "c"] * 30})
DATES = [dt.date(2024, 1, 1) + dt.timedelta(days=d) for d in range(30)]
RETRIES = [
    lambda **kw: duffdp.median(list(range(100)), epsilon=0.01, bounds=(0.0, 100.0), **kw),
    lambda **kw: duffdp.median(
        FRAME, column="x", by="g", keys=["a", "c"], epsilon=0.01, bounds=(0.0, 9.0), **kw
    ),
    lambda **kw: duffdp.median(
        DATES, epsilon=0.01, bounds=(dt.date(2020, 1, 1), dt.date(2030, 1, 1)), **kw
    ),
    lambda **kw: duffdp.mean(
        [Decimal(1)], epsilon=0.01, bounds=(Decimal(0), Decimal(9)), step=Decimal("0.01"), **kw
    ),
    lambda **kw: duffdp.mode(["a"], epsilon=0.01, categories=[f"{i}" for i in range(500)], **kw),
]


@pytest.mark.parametrize("again", RETRIES)
def test_a_retry_returns_the_stored_release(path, again):
    ledger = Ledger(path, epsilon=1).call("monthly")
    first, second = again(ledger=ledger), again(ledger=ledger)
    assert first.to_dict() == second.to_dict()
    assert type(first.value) is type(second.value)
    assert len(ledger.charges()) == 1
    # A draw would differ: of up to 90, for a value may be drawn half of the time.
    stored, book = first.to_dict()["value"], Ledger(path)
    drawn = next(n for n in range(1, 91) if again(ledger=book).to_dict()["value"] != stored)
    assert len(ledger.charges()) == 1 + drawn


def test_a_call_id_belongs_to_one_release(path):
    ledger = Ledger(path, epsilon=1).call("a")
    duffdp.median([1], epsilon=0.1, **AGES, ledger=ledger)
    for other in ({"epsilon": 0.2, **AGES}, {"epsilon": 0.1, "bounds": (0, 119), "step": 1}):
        with pytest.raises(DuffError, match="other parameters"):
            duffdp.median([1], **other, ledger=ledger)
    duffdp.median([1], epsilon=0.1, **AGES, ledger=ledger.call("b"))
    assert ledger.spent() == 0.2
    for wrong in ("", None, 3):
        with pytest.raises(DuffError, match="call id"):
            ledger.call(wrong)


def sources(folder):
    """Files and tables that differ, each as somebody would name it."""
    for name in ("a.csv", "b.csv"):
        (folder / name).write_text("age,size\n5,6\n")
    other = folder / "more" / "a.csv"
    other.parent.mkdir()
    other.write_text("age,size\n5,6\n")
    first = str(folder / "a.csv")
    return [
        first,
        folder / "b.csv",
        other,
        duffdp.TextFile(first, types={"age": "integer"}),
        duffdp.TextFile(first, types={"age": "double"}),
        pd.DataFrame({"age": [5]}),
    ]


def test_a_call_id_belongs_to_one_source(path, tmp_path, monkeypatch):
    """The same call about other data is refused and costs nothing; a file by another of its names
    is the same.
    """
    ledger = Ledger(path, epsilon=1)
    ask = {"column": "age", "epsilon": 0.1, **AGES}
    known = sources(tmp_path)
    for data in known:
        bound = ledger.call(f"{data}")
        first = duffdp.median(data, **ask, ledger=bound)
        before = ledger.spent()
        for other in known:
            if other is not data:
                with pytest.raises(DuffError, match=r"other data\. Nothing was charged"):
                    duffdp.median(other, **ask, ledger=bound)
        assert duffdp.median(data, **ask, ledger=bound).value == first.value
        assert ledger.spent() == before
    monkeypatch.chdir(tmp_path / "more")
    before = ledger.spent()
    duffdp.median("../a.csv", **ask, ledger=ledger.call(known[0]))
    assert ledger.spent() == before


def test_a_query_is_known_by_its_data(path, tmp_path):
    ask = {"column": "age", "epsilon": 0.1, **AGES, "ledger": Ledger(path, epsilon=1).call("a")}
    known = [duffdp.Query(data, "SELECT age FROM data") for data in sources(tmp_path)[3:]]
    made = duffdp.median(known[0], **ask)
    for other in known[1:]:
        with pytest.raises(DuffError, match="other data"):
            duffdp.median(other, **ask)
    assert duffdp.median(known[0], **ask).to_dict() == made.to_dict()


def test_a_call_that_died_pays_again(path):
    ledger = Ledger(path, epsilon=1).call("a")
    ledger.charge(facts())  # and never stored
    charge = ledger.charge(facts())
    assert charge.earlier is None
    result = Result([[7]], dt.datetime.now(dt.UTC))
    charge.store(result)
    assert ledger.charge(facts()).earlier == result
    assert len(ledger.charges()) == 2
    assert ledger.verify().releases == 1


def test_a_full_budget_still_answers_a_retry(path):
    ledger = Ledger(path, epsilon=0.1).call("a")
    first = duffdp.median([5], epsilon=0.1, **AGES, ledger=ledger)
    assert duffdp.median([5], epsilon=0.1, **AGES, ledger=ledger).value == first.value


def test_a_call_id_belongs_to_one_data_set(path):
    """The same id for two data sets of one ledger is two calls, and each is paid for."""
    names = ("people", "visits")
    books = [Ledger(path, epsilon=1, dataset=name).call("monthly") for name in names]
    made = [duffdp.median([5], epsilon=0.9, **AGES, ledger=book) for book in books]
    assert [book.spent() for book in books] == [0.9, 0.9]
    again = [duffdp.median([5], epsilon=0.9, **AGES, ledger=book) for book in books]
    assert again == made
    assert [book.spent() for book in books] == [0.9, 0.9]
    assert books[0].verify().releases == 2


@pytest.mark.parametrize("other", [{"epsilon": 2}, {"delta": 0.2}, {"epsilon": 2, "delta": 0.2}])
def test_a_budget_cannot_be_changed(path, other):
    given = {"epsilon": 1, "delta": 0.1}
    Ledger(path, **given)
    with pytest.raises(LedgerError, match=r"epsilon 1 and delta 0\.1, got .* cannot be changed"):
        Ledger(path, **given | other)
    again = Ledger(path, **given)
    assert (again.epsilon, again.delta) == (1, 0.1)
    assert again.verify().entries == 1


def test_budgets_by_name(path):
    Ledger(path, epsilon=1)
    Ledger(path, epsilon=2, dataset="other")
    with pytest.raises(LedgerError, match=r"'data', 'other'. Pass dataset"):
        Ledger(path)
    with pytest.raises(LedgerError, match="no budget for 'more'"):
        Ledger(path, dataset="more")
    Ledger(path, dataset="other").charge(facts(epsilon="3/2"))
    assert Ledger(path, dataset="data").spent() == 0
    assert Ledger(path, 2, dataset="other").remaining() == 0.5
    with pytest.raises(LedgerError, match="cannot be changed"):
        Ledger(path, epsilon=3, dataset="other")
    assert "dataset='other'" in repr(Ledger(path, dataset="other"))


@pytest.mark.parametrize(
    "wrong",
    [
        {"epsilon": 0},
        {"epsilon": math.nan},
        {"epsilon": 1, "delta": -0.1},
        {"epsilon": 1, "delta": 1},
        {"epsilon": 1, "delta": math.nan},
        {"epsilon": 1, "delta": "0"},
        {"epsilon": 1, "dataset": ""},
        {"epsilon": 1, "dataset": 3},
    ],
)
def test_wrong_budgets(path, wrong):
    with pytest.raises(DuffError, match="got"):
        Ledger(path, **wrong)
    assert not path.exists()


def test_no_ledger(tmp_path):
    for make in (
        lambda: Ledger(tmp_path / "none.db"),
        lambda: duffdp.median([1], epsilon=1, **AGES, ledger=tmp_path / "none.db"),
    ):
        with pytest.raises(LedgerError, match="no ledger"):
            make()
    assert not list(tmp_path.iterdir())
    with pytest.raises(DuffError, match="path of a file"):
        Ledger(3, epsilon=1)
    with pytest.raises(DuffError, match="path of a file"):
        duffdp.median([1], epsilon=1, **AGES, ledger=3)


@pytest.mark.parametrize("scheme", ["postgresql", "mysql+ssl"])
@pytest.mark.parametrize("kind", [str, Path, str.encode])
def test_no_error_about_a_ledger_quotes_a_password(scheme, kind):
    given = kind(f"{scheme}://ann:hunter2@host/db")
    for make in (
        lambda: Ledger(given),
        lambda: Ledger(given, epsilon=1),
        lambda: duffdp.median([1], epsilon=1, **AGES, ledger=given),
    ):
        with pytest.raises(DuffError, match=r"Pass .*budget\.db") as told:
            make()
        assert "hunter2" not in str(told.value)


@pytest.mark.parametrize("again", RETRIES)
def test_releases_as_json(again):
    release = again()
    back = json.loads(release.to_json())
    assert back["epsilon"] == 0.01
    assert json.loads(json.dumps(release.to_dict())) == back


def test_json_of_dates_decimals_and_frames():
    dates = json.loads(RETRIES[2]().to_json())
    assert dates["bounds"] == ["2020-01-01", "2030-01-01"]
    assert dates["step"] == 1
    assert dt.date.fromisoformat(dates["value"])
    decimals = json.loads(RETRIES[3]().to_json())
    assert (decimals["bounds"], decimals["step"]) == (["0", "9"], "0.01")
    assert Decimal(decimals["value"]) <= 9
    assert [row["g"] for row in json.loads(RETRIES[1]().to_json())["value"]] == ["a", "c"]
    moments = duffdp.median(
        [dt.datetime(2024, 1, 1)],
        epsilon=1,
        bounds=(dt.datetime(2024, 1, 1), dt.datetime(2024, 1, 3)),
        step=90,
    )
    assert moments.to_dict()["step"] == 90
