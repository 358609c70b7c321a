"""The total of many releases for a delta, against computations by hand."""

from __future__ import annotations

import itertools
import math
import subprocess
import sys
import time
from collections import Counter
from fractions import Fraction
from functools import cache

import numpy as np
import pytest

import duffdp
from duffdp import BudgetExceeded, DuffError, Ledger, Loss
from duffdp._privacy import LossPart
from duffdp.ledger._composition import tight_epsilon
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


def alike(family, epsilon, count=1, contributions=1):
    """As many losses of one draw each."""
    part = LossPart(family, Fraction(epsilon), 1, contributions)
    return [Loss(Fraction(epsilon), Fraction(0), (part,))] * count


def geometric_pair(epsilon, steps):
    """Losses and probabilities, under the one law, of geometric noise that moved by `steps`."""
    ratio = math.exp(-epsilon / steps)
    inside = [ratio**k * (1 - ratio) / (1 + ratio) for k in range(1, steps)]
    other = [1 / (1 + ratio), *inside, ratio**steps / (1 + ratio)]
    losses = [(2 * k - steps) * epsilon / steps for k in range(steps + 1)]
    return [(loss, q * math.exp(loss)) for loss, q in zip(losses, other, strict=True)]


def by_listing(pairs, delta):
    """The least epsilon of independent pairs of laws, each a list of losses and probabilities:
    all outputs together, by bisection."""
    together = Counter({0.0: 1.0})
    for pair in pairs:
        longer: Counter[float] = Counter()
        for (before, p), (loss, q) in itertools.product(together.items(), pair):
            longer[round(before + loss, 9)] += p * q
        together = longer
    losses, masses = np.array(list(together)), np.array(list(together.values()))
    low, high = 0.0, float(losses.max())
    for _ in range(60):
        middle = (low + high) / 2
        above = -np.expm1(np.minimum(middle - losses, 0)) @ masses > delta
        low, high = (middle, high) if above else (low, middle)
    return high


@pytest.mark.parametrize(("epsilon", "count"), [(Fraction(1, 10), 30), (Fraction(1, 2), 8)])
def test_totals_by_hand(epsilon, count):
    delta = 1e-6
    exact = optimal_pure(float(epsilon), count, delta)
    pure = tight_epsilon(alike("pure", epsilon, count), delta)
    assert exact <= pure <= exact * (1 + 2e-4)
    assert pure < float(count * epsilon)
    bounded = tight_epsilon(alike("bounded-range", epsilon, count), delta)
    assert bounded <= concentrated(count * float(epsilon) ** 2 / 8, delta) * (1 + 5e-3)
    assert bounded < pure


def test_a_hundred_joint_releases(tmp_path):
    """At 0.1 and delta 1e-6 they come to 2.42; as if nothing were known of them to 4.77."""
    ledger = Ledger(tmp_path / "joint.db", epsilon=10)
    asked = {"epsilon": 0.1, **AGES, "ledger": ledger}
    for _ in range(100):
        duffdp.quantiles([1, 2], [0.25, 0.75], **asked)
    assert ledger.spent() == 10
    assert ledger.total(1e-6) == pytest.approx(concentrated(100 * 0.1**2 / 8, 1e-6), rel=5e-3)
    assert ledger.total(1e-6) == pytest.approx(2.42, abs=0.01)
    assert tight_epsilon(alike("pure", "1/10", 100), 1e-6) == pytest.approx(4.77, abs=0.01)


@pytest.mark.parametrize("delta", [1e-3, 1e-6])
@pytest.mark.parametrize(("epsilon", "steps", "count"), [(0.5, 2, 9), (1.0, 3, 6), (0.2, 1, 20)])
def test_geometric_noise_against_listing(epsilon, steps, count, delta):
    exact = by_listing([geometric_pair(epsilon, steps)] * count, delta)
    found = tight_epsilon(alike("geometric", str(epsilon), count, steps), delta)
    assert exact * (1 - 1e-9) <= found <= exact * (1 + 1e-3)


@pytest.mark.parametrize("delta", [1e-3, 1e-6])
def test_a_mixture_against_listing(delta):
    """Several families and epsilons: Laplace noise as geometric noise on many steps."""
    pairs = [
        *[geometric_pair(0.3, 1)] * 4,
        *[geometric_pair(0.8, 2)] * 3,
        *[geometric_pair(1.0, 100)] * 3,
    ]
    losses = alike("pure", "3/10", 4) + alike("geometric", "4/5", 3, 2) + alike("laplace", 1, 3)
    exact = by_listing(pairs, delta)
    assert tight_epsilon(losses, delta) == pytest.approx(exact, rel=2e-3)
    assert tight_epsilon(losses[::-1], delta) == pytest.approx(tight_epsilon(losses, delta))


@pytest.mark.parametrize(
    ("epsilon", "count"), [(Fraction(1, 10), 100), (Fraction(1, 2), 30), (Fraction(1), 12)]
)
def test_an_adversary_who_chooses_by_what_came_out(epsilon, count):
    """Whoever picks each bounded-range release by the outputs of those before it gains more than
    by picking them at once (Dong, Durfee and Rogers 2020), and never more than the total."""
    delta, parts, e = 1e-6, 8, float(epsilon)
    total = tight_epsilon(alike("bounded-range", epsilon, count), delta)
    # a release has two outputs with losses t and t - epsilon, for any t from 0 to epsilon
    above = [(i, (math.exp(e) - math.exp(i * e / parts)) / math.expm1(e)) for i in range(parts + 1)]

    @cache
    def gain(rounds, spent):
        """The largest expectation of max(0, 1 - exp(total - loss)), in steps of epsilon / parts."""
        if rounds == 0:
            return max(0.0, -math.expm1(total - spent * e / parts))
        return max(
            p * gain(rounds - 1, spent + i) + (1 - p) * gain(rounds - 1, spent + i - parts)
            for i, p in above
        )

    for rounds in range(count):  # not deep
        gain(rounds, 0)
    assert 1e-9 < gain(count, 0) <= delta


def test_whoever_stops_by_what_came_out_gains_more():
    """Why the number of releases must be fixed for a total: up to 60 releases of 1/2, until the
    loss of those so far exceeds their total.
    """
    delta, e, count = 1e-6, 0.5, 60
    likely = 1 / (1 + math.exp(-e))  # of a loss of e; else it is -e
    totals = [0.0]
    totals += [tight_epsilon([Loss(Fraction(1, 2))] * n, delta) for n in range(1, count + 1)]

    @cache
    def gain(n, spent):
        now = max(0.0, -math.expm1(totals[n] - spent * e)) if n else 0.0
        if n == count:
            return now
        later = likely * gain(n + 1, spent + 1) + (1 - likely) * gain(n + 1, spent - 1)
        return max(now, later)

    for n in range(count, 0, -1):  # not deep
        for spent in range(-n, n + 1, 2):
            gain(n, spent)
    assert 4 * delta < gain(0, 0) < 5 * delta


def test_totals_of_a_mixture():
    charges = alike("bounded-range", "1/20", 400) + alike("pure", "1/20", 20)
    rho = 400 * 0.05**2 / 8 + 20 * 0.05**2 / 2
    assert tight_epsilon(charges, 1e-6) == pytest.approx(concentrated(rho, 1e-6), rel=5e-3)
    with_delta = [*charges, Loss(Fraction(1, 20), Fraction(1, 2_000_000))]
    by_hand = concentrated(rho + 0.05**2 / 2, 5e-7)
    assert tight_epsilon(with_delta, 1e-6) == pytest.approx(by_hand, rel=5e-3)


def test_of_a_release_with_a_delta_nothing_else_is_used():
    """A bounded range is a fact about pure privacy."""
    twentieth, tiny = Fraction(1, 20), Fraction(1, 10**9)
    totals = {
        tight_epsilon([Loss(twentieth, tiny, (LossPart(family, twentieth),))] * 400, 1e-6)
        for family in ("pure", "bounded-range")
    }
    assert len(totals) == 1


def test_parts_compose_one_by_one():
    """A summary is a mean and quantiles, and not one loss of which nothing is known."""
    release = duffdp.describe([1, 2], epsilon=1, **AGES).loss
    assert [(part.family, part.epsilon) for part in release.parts] == [
        ("pure", Fraction(1, 5)),
        ("bounded-range", Fraction(4, 5)),
    ]
    together = tight_epsilon([release] * 100, 1e-6)
    apart = alike("pure", "1/5", 100) + alike("bounded-range", "4/5", 100)
    assert together == tight_epsilon(apart, 1e-6)
    assert together < 0.5 * tight_epsilon([Loss(Fraction(1))] * 100, 1e-6)
    several = duffdp.quantiles([1, 2], [0.2, 0.4, 0.6], epsilon=1, **AGES, mechanism="duff").loss
    assert several.parts == (LossPart("bounded-range", Fraction(1), 3),)
    assert tight_epsilon([several] * 9, 1e-6) == tight_epsilon(
        alike("bounded-range", "1/3", 27), 1e-6
    )


FAMILIES = ["bounded-range", "laplace", "geometric", "pure"]


@pytest.mark.parametrize("epsilon", ["1/100", "1/2", "3", "40", "1000000"])
@pytest.mark.parametrize("count", [1, 12, 300])
def test_totals_are_monotone_and_at_most_the_sum(epsilon, count):
    """In what is known, in the number of releases, in epsilon, and in delta."""
    totals = [tight_epsilon(alike(family, epsilon, count, 2), 1e-6) for family in FAMILIES]
    assert totals == pytest.approx(sorted(totals), rel=1e-3)
    assert max(totals) <= float(count * Fraction(epsilon))
    for family, total in zip(FAMILIES, totals, strict=True):
        more = (
            tight_epsilon(alike(family, epsilon, count, 2) + alike(family, epsilon, 1, 2), 1e-6),
            tight_epsilon(alike(family, Fraction(epsilon) * 11 / 10, count, 2), 1e-6),
            tight_epsilon(alike(family, epsilon, count, 2), 1e-9),
        )
        assert min(more) >= total * (1 - 1e-3)
    # an epsilon beyond all sense is added to what the others come to
    others = alike("pure", "1/10", 100)
    assert tight_epsilon(others + alike("pure", 10**6), 1e-6) == pytest.approx(
        10**6 + tight_epsilon(others, 1e-6), abs=1e-6
    )


def test_what_is_known_comes_from_the_stored_loss(tmp_path):
    """Ledgers that differ in what the charges say of their mechanism."""
    totals = {}
    for family in FAMILIES:
        asked = facts(epsilon="1/20", family=family)
        ledger = Ledger(tmp_path / f"{family}.db", epsilon=20)
        ledger.charge_all([asked] * 400)
        assert ledger.spent() == 20
        assert ledger.verify().charges == 400
        with pytest.raises(BudgetExceeded):
            ledger.charge(asked)
        totals[family] = ledger.total(1e-6)
    assert totals["bounded-range"] == pytest.approx(concentrated(400 * 0.05**2 / 8, 1e-6), rel=5e-3)
    assert totals["pure"] == pytest.approx(optimal_pure(0.05, 400, 1e-6), rel=5e-3)
    assert totals["bounded-range"] < totals["laplace"] < totals["geometric"] == totals["pure"]


def test_the_family_is_written_down_by_every_verb(tmp_path):
    ledger = Ledger(tmp_path / "b.db", epsilon=100)
    paid = {"epsilon": 0.1, "bounds": (0, 120), "step": 1, "ledger": ledger}
    duffdp.quantiles([1, 2], [0.25, 0.75], **paid)
    duffdp.quantiles([1, 2], [0.25, 0.75], **paid, mechanism="duff")
    duffdp.median([1, 2], **paid, mechanism="duff")
    duffdp.median([1, 2], **paid)
    duffdp.describe([1, 2], **paid)
    duffdp.triangles([(0, 1)], nodes=4, epsilon=0.1, ledger=ledger)
    found = [[part["family"] for part in charge["loss"]["parts"]] for charge in ledger.charges()]
    bounded = ["bounded-range"]
    assert found == [bounded, bounded, bounded, ["laplace"], ["pure", *bounded], ["pure"]]


def test_many_charges_take_no_longer_than_few(path):
    """Equal losses are composed at once: 10,000 charges of four kinds, in seconds with a margin
    for a busy machine."""
    ledger = Ledger(path, epsilon=10_000)
    ledger.charge_all([facts(epsilon="1/10", family=family) for family in FAMILIES] * 2500)
    ledger.total(1e-6)  # loads dp-accounting
    began = time.process_time()
    total = ledger.total(1e-6)
    assert time.process_time() - began < 5
    assert 60 < total < 100


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
        "from duffdp.ledger._composition import tight_epsilon; tight_epsilon([], .1)"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "pip install 'duffdp[accounting]'" in ran.stderr
