"""The budget: sums, refusals, retries, verification, and the total for a delta against hand computations."""

from __future__ import annotations

import datetime as dt
import json
import math
import sqlite3
import subprocess
import sys
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest

import duffdp
from duffdp import BudgetExceeded, DuffError, Ledger, LedgerError
from duffdp.ledger.charge import Charge, Paid, Rehearsal, Rehearsed, Request
from duffdp.ledger.composition import tight_epsilon
from duffdp.ledger.journal import START, seal
from duffdp.ledger.ledger import _replayed

AGES = {"bounds": (0, 120), "step": 1}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "budget.db"


def request(epsilon="1/10", mechanism="permute-and-flip(signed)", secure=True, delta=0):
    return Request(
        epsilon=Fraction(epsilon), delta=Fraction(delta), statistic="median", mechanism=mechanism, parameters={}, secure=secure
    )


def test_ten_tenths_are_one(path):
    ledger = Ledger(path, epsilon=1.0)
    for _ in range(10):
        duffdp.median([1, 2, 3], epsilon=0.1, **AGES, ledger=ledger)
    assert (ledger.spent(), ledger.remaining()) == (1.0, 0.0)
    with pytest.raises(BudgetExceeded, match=r"requested epsilon 1e-09, remaining 0 of 1 .*: 1e-09 too much"):
        duffdp.median([1, 2, 3], epsilon=1e-9, **AGES, ledger=ledger)
    assert len(ledger.charges()) == 10


def test_a_refusal_says_what_is_missing_and_charges_nothing(path):
    ledger = Ledger(path, epsilon=1, delta=1e-6, dataset="people")
    ledger.charge(request("7/10", delta="1/10000000"))
    with pytest.raises(
        BudgetExceeded, match=r"requested epsilon 0.5, remaining 0.3 of 1 for the data set 'people': 0.2 too much"
    ):
        ledger.charge(request("1/2"))
    with pytest.raises(BudgetExceeded, match=r"requested delta 1e-06, remaining 9e-07 of 1e-06"):
        ledger.charge(request("1/10", delta="1/1000000"))
    with pytest.raises(BudgetExceeded):
        ledger.charge_all([request("1/10"), request("1/10"), request("2/10")])
    assert ledger.spent() == 0.7
    assert [charge.drawn for charge in ledger.charge_all([request("1/10"), request("2/10")])] == [None, None]
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
    assert charge["statistic"] == release.statistic
    assert charge["mechanism"] == release.mechanism
    assert charge["epsilon"] == "1/4"
    assert charge["parameters"]["bounds"] == [0, 120]
    verb([1, 2, 2], epsilon=0.25, **AGES, ledger=str(path))
    assert Ledger(path).spent() == 0.5


def test_seeds_are_refused_unless_allowed(path):
    ledger = Ledger(path, epsilon=1)
    with pytest.raises(DuffError, match="seed is not private"):
        duffdp.median([1], epsilon=0.5, **AGES, ledger=ledger, rng=3)
    assert ledger.spent() == 0
    assert not duffdp.median([1], epsilon=0.5, **AGES, ledger=Ledger(path, allow_seeded=True), rng=3).secure
    assert ledger.spent() == 0.5


def test_the_charge_comes_before_the_rows_and_the_draw(path, monkeypatch):
    ledger = Ledger(path, epsilon=1)
    spent = []
    from duffdp.engines import arrays, descent
    from duffdp.mechanisms import mechanism

    for owner, name in ((arrays.Column, "ask"), (descent.LazyTable, "ask"), (mechanism, "race")):
        original = getattr(owner, name)

        def watch(*args, original=original, name=name, **kw):
            spent.append((name, ledger.spent()))
            return original(*args, **kw)

        monkeypatch.setattr(owner, name, watch)
    file = path.parent / "x.csv"
    file.write_text("x\n1\n2\n")
    for data, column in (([1, 2, 3], None), (pl.DataFrame({"x": [1, 2]}), "x"), (file, "x")):
        before = ledger.spent()
        duffdp.median(data, column=column, epsilon=0.125, **AGES, ledger=ledger)
        assert spent == [("ask", before + 0.125), ("race", before + 0.125)]
        spent.clear()


def test_what_the_types_forbid_is_not_charged(path):
    ledger = Ledger(path, epsilon=1)
    frame = {"x": [1, 2], "s": ["a", "b"]}
    file = path.parent / "x.csv"
    file.write_text("x,s\n1,a\n2,b\n")
    for data in (pl.DataFrame(frame), pd.DataFrame(frame), pl.LazyFrame(frame), file):
        for wrong in (
            {"column": "s"},
            {"column": "none"},
            {"column": "x", "by": "s", "keys": [3]},
            {"column": "x", "unit": "who"},
        ):
            if data is file and "s" in wrong.values():
                continue  # a file of text declares no types
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
    lambda **kw: duffdp.median(FRAME, column="x", by="g", keys=["a", "c"], epsilon=0.01, bounds=(0.0, 9.0), **kw),
    lambda **kw: duffdp.median(DATES, epsilon=0.01, bounds=(dt.date(2020, 1, 1), dt.date(2030, 1, 1)), **kw),
    lambda **kw: duffdp.mean([Decimal(1)], epsilon=0.01, bounds=(Decimal(0), Decimal(9)), step=Decimal("0.01"), **kw),
    lambda **kw: duffdp.mode(["a"], epsilon=0.01, categories=[f"{i}" for i in range(500)], **kw),
]


@pytest.mark.parametrize("again", RETRIES)
def test_a_retry_returns_the_stored_release(path, again):
    ledger = Ledger(path, epsilon=1).call("monthly")
    first, second = again(ledger=ledger), again(ledger=ledger)
    assert first.to_dict() == second.to_dict()
    assert type(first.value) is type(second.value)
    assert len(ledger.charges()) == 1
    others = {str(again(ledger=Ledger(path)).to_dict()) for _ in range(3)}  # a draw would differ
    assert others != {str(first.to_dict())}
    assert len(ledger.charges()) == 4


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


def test_a_call_that_died_pays_again(path):
    ledger = Ledger(path, epsilon=1).call("a")
    ledger.charge(request())  # and never stored
    charge = ledger.charge(request())
    assert charge.drawn is None
    charge.keep([7])
    assert ledger.charge(request()).drawn == [7]
    assert len(ledger.charges()) == 2
    assert ledger.verify().releases == 1


def test_a_full_budget_still_answers_a_retry(path):
    ledger = Ledger(path, epsilon=0.1).call("a")
    first = duffdp.median([5], epsilon=0.1, **AGES, ledger=ledger)
    assert duffdp.median([5], epsilon=0.1, **AGES, ledger=ledger).value == first.value


def test_budgets_by_name(path):
    Ledger(path, epsilon=1)
    Ledger(path, epsilon=2, dataset="other")
    with pytest.raises(LedgerError, match=r"name the data set.*'data', 'other'"):
        Ledger(path)
    with pytest.raises(LedgerError, match="no budget for 'more'"):
        Ledger(path, dataset="more")
    Ledger(path, dataset="other").charge(request("3/2"))
    assert Ledger(path, dataset="data").spent() == 0
    assert Ledger(path, 2, dataset="other").remaining() == 0.5
    with pytest.raises(LedgerError, match="cannot be changed"):
        Ledger(path, epsilon=3, dataset="other")
    assert "dataset='other'" in repr(Ledger(path, dataset="other"))


@pytest.mark.parametrize("wrong", [{"epsilon": 0}, {"epsilon": math.nan}, {"epsilon": 1, "delta": -0.1}, {"epsilon": 1, "delta": 1},
                                   {"epsilon": 1, "delta": math.nan}, {"epsilon": 1, "delta": "0"}, {"epsilon": 1, "dataset": ""},
                                   {"epsilon": 1, "dataset": 3}])  # fmt: skip
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


def test_purses(path):
    with pytest.raises(Rehearsed) as stopped:
        duffdp.median([1], epsilon=0.25, **AGES, ledger=Rehearsal())
    assert stopped.value.request.epsilon == Fraction(1, 4)
    paid = Paid(Charge(stopped.value.request))
    duffdp.median([1], epsilon=0.25, **AGES, ledger=paid)
    with pytest.raises(DuffError, match="used up"):
        duffdp.median([1], epsilon=0.25, **AGES, ledger=paid)
    with pytest.raises(DuffError, match="another release"):
        duffdp.median([1], epsilon=0.5, **AGES, ledger=Paid(Charge(stopped.value.request)))


# What verify finds: each change of the file by hand, made with plain SQL.
TAMPERED = {
    "a smaller charge": """UPDATE entry SET body = replace(body, '"epsilon":"1/10"', '"epsilon":"1/20"') WHERE number = 4""",
    "a larger budget": """UPDATE entry SET body = replace(body, '"epsilon":"1"', '"epsilon":"9"') WHERE number = 1""",
    "another value": "UPDATE entry SET body = replace(body, '[5]', '[6]') WHERE kind = 'release'",
    "another name": "UPDATE entry SET dataset = 'other' WHERE number = 4",
    "another call id": "UPDATE entry SET call = 'x' WHERE number = 2",
    "a charge removed": "DELETE FROM entry WHERE number = 5",
    "the first removed": "DELETE FROM entry WHERE number = 1",
    "two exchanged": "UPDATE entry SET number = CASE number WHEN 2 THEN -3 ELSE -2 END WHERE number IN (2, 3); UPDATE entry SET number = abs(number)",
    "a release twice": "INSERT INTO entry SELECT 7, dataset, kind, call, body, hash FROM entry WHERE kind = 'release'",
}


@pytest.fixture
def filled(path):
    ledger = Ledger(path, epsilon=1)
    ledger.call("a").charge(request()).keep([5])
    for _ in range(3):
        ledger.charge(request())
    assert ledger.verify().entries == 6
    return ledger


@pytest.mark.parametrize("change", TAMPERED.values(), ids=TAMPERED.keys())
def test_tampering_is_found(filled, change):
    with sqlite3.connect(filled.path) as base:
        base.executescript(change)
    base.close()
    with pytest.raises(LedgerError, match="not in order"):
        filled.verify()


def resealed(entries):
    """The same entries with hashes that fit: a forger who knows the rules."""
    before, out = START, []
    for number, entry in enumerate(entries, 1):
        entry = entry._replace(number=number)
        before = seal(before, entry)
        out.append(entry._replace(hash=before))
    return out


def test_a_forger_with_fitting_hashes_still_has_to_keep_the_books(filled):
    with filled._journal.reading() as view:
        entries = view.all()
    budget, charge, release, *rest = entries
    assert _replayed(resealed(entries), "x", None).head == entries[-1].hash
    small = budget._replace(body=budget.body | {"epsilon": "3/10"})
    forged = {
        "overdrawn": [small, charge, release, *rest],
        "sum of the charges": [budget, charge, release, *rest[1:]],
        "no charge of its own": [budget, charge, release, release, *rest],
        "budget is missing": [charge, release],
        "given twice": [budget, budget],
        "missing or given": [budget, charge._replace(kind="gift")],
        "cannot be read": [budget, charge._replace(body={"epsilon": "1/0", "delta": "0"})],
        "KeyError": [budget, charge._replace(body={})],
        "overdrawn at": [budget, charge._replace(body=charge.body | {"epsilon": "-1", "spent": {"epsilon": "-1", "delta": "0"}})],
    }
    for found, wrong in forged.items():
        with pytest.raises(LedgerError, match=found):
            _replayed(resealed(wrong), "x", None)


def test_cutting_off_the_end_is_found_by_an_earlier_head(filled):
    head = filled.verify().head
    filled.charge(request())
    filled.verify(head)
    with sqlite3.connect(filled.path) as base:
        base.execute("DELETE FROM entry WHERE number >= 6")
    base.close()
    filled.verify()  # a shorter ledger is a ledger
    with pytest.raises(LedgerError, match="cut off"):
        filled.verify(head)


def test_a_forged_total_is_refused_at_once(filled):
    with sqlite3.connect(filled.path) as base:
        base.execute("""UPDATE entry SET body = replace(body, '"2/5"', '"0"') WHERE number = 6""")
    base.close()
    with pytest.raises(LedgerError, match="changed by hand"):
        filled.charge(request())


def optimal_pure(epsilon, count, delta):
    """The least epsilon of `count` pure epsilon releases for a delta: Kairouz, Oh and Viswanath (2015), by bisection."""

    def least_delta(target):
        terms = (
            math.comb(count, i) * max(0.0, math.exp((count - i) * epsilon) - math.exp(target + i * epsilon))
            for i in range(count + 1)
        )
        return sum(terms) / (1 + math.exp(epsilon)) ** count

    low, high = 0.0, count * epsilon
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if least_delta(middle) > delta else (low, middle)
    return high


def concentrated(rho, delta):
    """From rho-zCDP to epsilon: Canonne, Kamath and Steinke (2020), proposition 12, by a fine search over orders."""
    orders = 1 + np.logspace(-3, 4, 200_001)
    return float((orders * rho + np.log1p(-1 / orders) - np.log(delta * orders) / (orders - 1)).min())


@pytest.mark.parametrize(("epsilon", "count"), [(Fraction(1, 10), 30), (Fraction(1, 2), 8)])
def test_totals_by_hand(epsilon, count):
    delta = 1e-6
    pure = tight_epsilon([("permute-and-flip(signed)", epsilon, Fraction(0))] * count, delta)
    assert pure == pytest.approx(optimal_pure(float(epsilon), count, delta), rel=2e-3)
    assert pure < float(count * epsilon)
    duff = tight_epsilon([("exponential(distance)", epsilon, Fraction(0))] * count, delta)
    by_hand = min(optimal_pure(float(epsilon), count, delta), concentrated(count * float(epsilon) ** 2 / 8, delta))
    assert duff == pytest.approx(by_hand, rel=5e-3)
    assert duff < pure


def test_totals_of_a_mixture():
    charges = [("exponential(distance)", Fraction(1, 20), Fraction(0))] * 400 + [
        ("permute-and-flip(signed)", Fraction(1, 20), Fraction(0))
    ] * 20
    rho = 400 * 0.05**2 / 8 + 20 * 0.05**2 / 2
    assert tight_epsilon(charges, 1e-6) == pytest.approx(concentrated(rho, 1e-6), rel=5e-3)
    with_delta = [*charges, ("other", Fraction(1, 20), Fraction(1, 2_000_000))]
    assert tight_epsilon(with_delta, 1e-6) == pytest.approx(concentrated(rho + 0.05**2 / 2, 5e-7), rel=5e-3)


def test_totals_of_a_ledger(path):
    ledger = Ledger(path, epsilon=1)
    assert ledger.total(1e-6) == 0
    duffdp.median([1], epsilon=0.5, **AGES, ledger=ledger)
    assert ledger.total(1e-6) == pytest.approx(0.5, abs=1e-4)
    for wrong in (0, 1, -1, 2):
        with pytest.raises(DuffError, match="delta"):
            ledger.total(wrong)


def test_without_dp_accounting_the_error_says_what_to_install():
    code = "import sys; sys.modules['dp_accounting'] = None; from duffdp.ledger.composition import tight_epsilon; tight_epsilon([], .1)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "pip install 'duffdp[accounting]'" in ran.stderr


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
        [dt.datetime(2024, 1, 1)], epsilon=1, bounds=(dt.datetime(2024, 1, 1), dt.datetime(2024, 1, 3)), step=90
    )
    assert moments.to_dict()["step"] == 90
