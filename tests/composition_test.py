"""The total of many releases for a delta, against computations by hand."""

from __future__ import annotations

import math
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest

import duffdp
from duffdp import BudgetExceeded, DuffError, Ledger
from duffdp.ledger.composition import tight_epsilon
from release_facts import facts

AGES = {"bounds": (0, 120), "step": 1}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "budget.db"


def optimal_pure(epsilon, count, delta):
    """The least epsilon of `count` pure epsilon releases for a delta: Kairouz, Oh and Viswanath
    (2015), by bisection.
    """

    def least_delta(target):
        terms = (
            math.comb(count, i)
            * max(0.0, math.exp((count - i) * epsilon) - math.exp(target + i * epsilon))
            for i in range(count + 1)
        )
        return sum(terms) / (1 + math.exp(epsilon)) ** count

    low, high = 0.0, count * epsilon
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if least_delta(middle) > delta else (low, middle)
    return high


def concentrated(rho, delta):
    """From rho-zCDP to epsilon: Canonne, Kamath and Steinke (2020), proposition 12, by a fine
    search over orders.
    """
    orders = 1 + np.logspace(-3, 4, 200_001)
    return float(
        (orders * rho + np.log1p(-1 / orders) - np.log(delta * orders) / (orders - 1)).min()
    )


@pytest.mark.parametrize(("epsilon", "count"), [(Fraction(1, 10), 30), (Fraction(1, 2), 8)])
def test_totals_by_hand(epsilon, count):
    delta = 1e-6
    pure = tight_epsilon([(False, epsilon, Fraction(0))] * count, delta)
    assert pure == pytest.approx(optimal_pure(float(epsilon), count, delta), rel=2e-3)
    assert pure < float(count * epsilon)
    bounded = tight_epsilon([(True, epsilon, Fraction(0))] * count, delta)
    by_hand = min(
        optimal_pure(float(epsilon), count, delta),
        concentrated(count * float(epsilon) ** 2 / 8, delta),
    )
    assert bounded == pytest.approx(by_hand, rel=5e-3)
    assert bounded < pure


def test_totals_of_a_mixture():
    charges = [(True, Fraction(1, 20), Fraction(0))] * 400 + [
        (False, Fraction(1, 20), Fraction(0))
    ] * 20
    rho = 400 * 0.05**2 / 8 + 20 * 0.05**2 / 2
    assert tight_epsilon(charges, 1e-6) == pytest.approx(concentrated(rho, 1e-6), rel=5e-3)
    with_delta = [*charges, (False, Fraction(1, 20), Fraction(1, 2_000_000))]
    by_hand = concentrated(rho + 0.05**2 / 2, 5e-7)
    assert tight_epsilon(with_delta, 1e-6) == pytest.approx(by_hand, rel=5e-3)


def test_the_constant_of_a_ledger_comes_from_the_stored_loss(tmp_path):
    """Two ledgers that differ in what the charges say of their range."""
    totals = {}
    for bounded_range in (False, True):
        asked = facts(epsilon="1/20", bounded_range=bounded_range)
        ledger = Ledger(tmp_path / f"{bounded_range}.db", epsilon=20)
        ledger.charge_all([asked] * 400)
        assert ledger.spent() == 20
        assert ledger.verify().charges == 400
        with pytest.raises(BudgetExceeded):
            ledger.charge(asked)
        totals[bounded_range] = ledger.total(1e-6)
    assert totals[True] == pytest.approx(concentrated(400 * 0.05**2 / 8, 1e-6), rel=5e-3)
    assert totals[False] == pytest.approx(optimal_pure(0.05, 400, 1e-6), rel=5e-3)


def test_what_is_bounded_is_written_down_by_every_verb(tmp_path):
    """Exponential mechanisms, joint ones too, are bounded; permute-and-flip and noise are not."""
    ledger = Ledger(tmp_path / "b.db", epsilon=100)
    paid = {"epsilon": 0.1, "bounds": (0, 120), "step": 1, "ledger": ledger}
    duffdp.quantiles([1, 2], [0.25, 0.75], **paid)
    duffdp.quantiles([1, 2], [0.25, 0.75], **paid, mechanism="duff")
    duffdp.median([1, 2], **paid, mechanism="duff")
    duffdp.median([1, 2], **paid)
    duffdp.describe([1, 2], **paid)
    bounded = [charge["loss"]["bounded_range"] for charge in ledger.charges()]
    assert bounded == [True, True, True, False, False]


def test_totals_of_a_ledger(path):
    ledger = Ledger(path, epsilon=1)
    assert ledger.total(1e-6) == 0
    duffdp.median([1], epsilon=0.5, **AGES, ledger=ledger)
    assert ledger.total(1e-6) == pytest.approx(0.5, abs=1e-4)
    for wrong in (0, 1, -1, 2):
        with pytest.raises(DuffError, match="delta"):
            ledger.total(wrong)


def test_without_dp_accounting_the_error_says_what_to_install():
    code = (
        "import sys; sys.modules['dp_accounting'] = None; "
        "from duffdp.ledger.composition import tight_epsilon; tight_epsilon([], .1)"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "pip install 'duffdp[accounting]'" in ran.stderr
