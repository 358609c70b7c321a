"""The baselines: their privacy, executed; their exact quantities against integration; their draws
against their laws.
"""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from scipy import integrate, stats

from cases import small_data
from duffdp import DuffError, Grid
from duffdp.mechanisms import Exponential
from duffdp.research import sensitivity
from duffdp.research.baselines import (
    ErrorExponential,
    Laplace,
    ProposeTestRelease,
    RankExponential,
    SmoothCauchy,
    SmoothLaplace,
    SmoothLaplaceLogNormal,
    SmoothPareto,
)
from duffdp.research.baselines._noise import SEARCH_GRID, NoiseLaw
from duffdp.research.sensitivity import Sensitivity
from duffdp.statistics import Median

SMALL = Grid(0, 3, 1)
PURE = [
    Laplace,
    SmoothCauchy,
    lambda eps: SmoothCauchy(eps, gamma=1.3),
    lambda eps: SmoothCauchy(eps, gamma=4),
    lambda eps: SmoothCauchy(eps, tight=True),
    lambda eps: SmoothCauchy(eps, tight=True, beta=eps / 3),
    lambda eps: SmoothCauchy(eps, gamma=1.5, tight=True),
    lambda eps: SmoothCauchy(eps, gamma=3, tight=True),
    SmoothPareto,
    lambda eps: SmoothPareto(eps, beta=0.9 * eps),
    lambda eps: SmoothPareto(eps, beta=0.05 * eps),
    ErrorExponential,
]
APPROXIMATE = [
    lambda eps: SmoothLaplace(eps, 0.01),
    lambda eps: SmoothLaplace(eps, 0.01, beta=eps / 20),
    lambda eps: SmoothLaplaceLogNormal(eps, 0.01, t=eps / 10),
]
ALL = [make(1.0) for make in (*PURE, *APPROXIMATE)] + [SmoothLaplaceLogNormal(1.0, 0.01)]
FAR = np.concatenate([-np.geomspace(1e6, 1e-3, 80), [0.0], np.geomspace(1e-3, 1e6, 80)])
SPREAD = sensitivity.median(np.random.default_rng(8).normal(size=99), Grid(-3.0, 3.0))


def neighbours(most=4):
    for data in small_data(most):
        for x in range(4):
            yield list(data), [*data, x]


def unclipped(mechanism, data):
    found = sensitivity.median(data, SMALL)
    if isinstance(mechanism, ErrorExponential):
        return mechanism.law(found)
    return NoiseLaw(found.value, *mechanism.fit(found))


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 3.0])
@pytest.mark.parametrize("make", PURE)
def test_loss_is_at_most_epsilon(make, epsilon):
    mechanism = make(epsilon)
    points = np.unique(np.concatenate([np.linspace(0, 3, 31), *(FAR + x for x in range(4))]))
    points = (
        points[(points >= 0) & (points <= 3)] if isinstance(mechanism, ErrorExponential) else points
    )
    for here, there in neighbours():
        one, other = (unclipped(mechanism, data).density(points) for data in (here, there))
        # the rest of an exponential tail is beyond doubles
        seen = (one > 1e-300) & (other > 1e-300)
        assert np.abs(np.log(one[seen] / other[seen])).max() <= epsilon * (1 + 1e-9)


def largest_loss(make_noise, shift, stretch):
    """Over all shifts up to `shift` smaller scales and all stretches up to `stretch`, the worst
    that any data could do.
    """
    worst = 0.0
    for ratio in np.exp(np.linspace(-stretch, stretch, 21)):
        one = NoiseLaw(0.0, 1.0, make_noise)
        other = NoiseLaw(shift * min(1.0, ratio), ratio, make_noise)
        worst = max(worst, float(np.abs(np.log(one.density(FAR) / other.density(FAR))).max()))
        worst = max(
            worst,
            float(
                np.abs(
                    np.log(one.density(FAR + other.value) / other.density(FAR + other.value))
                ).max()
            ),
        )
    return worst


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 3.0])
@pytest.mark.parametrize("share", [0.1, 1 / 3, 0.7])
def test_the_pareto_shift_is_the_largest_possible(epsilon, share):
    """Any shift and stretch that smoothness allows costs at most epsilon, and with 2 % less noise
    it would cost more.
    """
    mechanism = SmoothPareto(epsilon, beta=share * epsilon)
    _, noise = mechanism.fit(SPREAD)
    assert largest_loss(noise, mechanism.shift, mechanism.beta) <= epsilon * (1 + 1e-9)
    at_truth = (1 + 1 / share) * np.log1p(
        1.02 * mechanism.shift * np.array([1.0, math.exp(-mechanism.beta)])
    )
    assert max(at_truth[0], at_truth[1] + mechanism.beta) > epsilon
    weaker = share * epsilon * (1 - share) / (1 + share)  # the bound of the slope alone
    assert mechanism.shift > weaker


@pytest.mark.parametrize("gamma", [1.2, 2, 3.5])
def test_the_tight_cauchy_uses_the_budget(gamma):
    """Shift and stretch together cost at most epsilon for every beta; the paper's choice leaves
    more than a third unused.
    """
    for share in (0.1, 0.5):
        epsilon, beta = 1.0, share / max(1, gamma - 1)
        mechanism = SmoothCauchy(epsilon, gamma, tight=True, beta=beta)
        scale, noise = mechanism.fit(SPREAD)
        shift = SPREAD.smooth(beta) / scale
        worst = largest_loss(noise, shift, beta)
        assert 0.5 * epsilon < worst <= epsilon * (1 + 1e-9)
    plain = 1 / (2 * (gamma + 1))
    assert largest_loss(noise, plain, plain) < 0.63


@pytest.mark.parametrize("epsilon", [0.5, 2.0])
@pytest.mark.parametrize("make", APPROXIMATE)
def test_excess_loss_is_at_most_delta(make, epsilon):
    """The integral of max(0, p - exp(epsilon) p') over all neighbours of up to 3 records."""
    mechanism = make(epsilon)
    points = np.unique(np.concatenate([np.linspace(-3, 6, 1201), FAR]))
    for pair in neighbours(3):
        p, other = (unclipped(mechanism, data).density(points) for data in pair)
        for one, two in ((p, other), (other, p)):
            excess = np.maximum(0, one - math.exp(epsilon) * two)
            assert integrate.trapezoid(excess, points) <= mechanism.delta * (1 + 1e-6)


def test_propose_test_release_is_private():
    """No reply and reply, each over all neighbours: probability within exp(epsilon) and delta."""
    mechanism = ProposeTestRelease(1.0, 0.02, eta=1.5)
    points = np.linspace(-300, 300, 40_001)
    for here, there in neighbours():
        found = [sensitivity.median(data, SMALL) for data in (here, there)]
        reply = [mechanism.reply_probability(f) for f in found]
        density = [
            r * NoiseLaw(f.value, *_ptr(mechanism)).density(points)
            for r, f in zip(reply, found, strict=True)
        ]
        for one, two in ((0, 1), (1, 0)):
            excess = integrate.trapezoid(
                np.maximum(0, density[one] - math.e * density[two]), points
            )
            excess += max(0.0, 1 - reply[one] - math.e * (1 - reply[two]))
            assert excess <= mechanism.delta * (1 + 1e-6)


def _ptr(mechanism):
    law = mechanism.law(SPREAD)
    return law.scale, law.noise


def test_propose_test_release_replies():
    spread = sensitivity.median(range(1, 1000), Grid(0, 1000, 1))
    assert ProposeTestRelease(1.0, 1e-3, eta=1e6).reply_probability(spread) == 1.0
    assert ProposeTestRelease(1.0, 1e-3, eta=0.5).reply_probability(spread) == pytest.approx(1e-3)
    mechanism = ProposeTestRelease(1.0, 1e-3, eta=11)
    drawn = mechanism.draw(spread, size=4000, rng=1)
    replies = int(drawn.count())
    assert stats.binomtest(replies, 4000, mechanism.reply_probability(spread)).pvalue > 1e-9
    assert {type(mechanism.draw(spread, rng=seed)) for seed in range(40)} == {float, type(None)}


@pytest.mark.parametrize("mechanism", ALL, ids=repr)
def test_exact_quantities_against_integration(mechanism):
    law = mechanism.law(SPREAD)
    low, high = SPREAD.bounds
    for target in (law.value, -1.0, 2.5):
        pieces = sorted({low, target, law.value, high})
        inside = sum(
            integrate.quad(lambda x, t=target: abs(x - t) * float(law.density(x)), a, b, limit=400)[
                0
            ]
            for a, b in pairwise(pieces)
        )
        atoms = 0.0
        if isinstance(law, NoiseLaw):  # what is clipped lies at the bounds
            atoms = law._tail_beyond(high - law.value) * (high - target) + law._tail_beyond(
                law.value - low
            ) * (target - low)
        assert law.expected_error(target) == pytest.approx(inside + atoms, rel=1e-5)
        for t in (0.3, 1.0):
            cuts = sorted(
                {
                    max(low, target - t),
                    min(max(law.value, target - t), target + t, high),
                    min(high, target + t),
                }
            )
            within = sum(
                integrate.quad(lambda x: float(law.density(x)), a, b)[0] for a, b in pairwise(cuts)
            )
            if isinstance(law, NoiseLaw):
                within += law._tail_beyond(high - law.value) * (
                    target + t >= high
                ) + law._tail_beyond(law.value - low) * (target - t <= low)
            assert law.tail(target, t) == pytest.approx(1 - within, abs=1e-6)
    assert law.tail(law.value, 100) == 0
    first, last = law.interval(0.5)
    assert low <= first <= law.value <= last <= high


@pytest.mark.parametrize("mechanism", ALL, ids=repr)
def test_draws_follow_the_law(mechanism):
    """Kolmogorov's test on absolute errors at a false-alarm rate of 1e-9, which a scale 30 % off
    must fail.
    """
    wide = (
        Sensitivity(SPREAD.value, SPREAD.levels, (-1e9, 1e9))
        if not isinstance(mechanism, ErrorExponential)
        else SPREAD
    )
    law, errors = mechanism.law(wide), np.abs(mechanism.draw(wide, size=20_000, rng=4) - wide.value)

    def below(x, stretch=1.0):
        return np.array([1 - law.tail(law.value, v / stretch) for v in x])

    some = errors[:4000]
    assert stats.kstest(some, below).pvalue > 1e-9
    if not isinstance(mechanism, ErrorExponential):
        assert stats.kstest(errors[:4000], lambda x: below(x, 1.4)).pvalue < 1e-9
    assert isinstance(mechanism.draw(wide), float)


@pytest.mark.parametrize("n", [2, 30, 1000])
@pytest.mark.parametrize("epsilon", [0.05, 1.0, 5.0])
def test_tuned_parameters_are_the_best(n, epsilon):
    rng = np.random.default_rng(n)
    for values in (rng.normal(size=n), rng.integers(-3, 3, n), np.zeros(n)):
        spread = sensitivity.median(values, Grid(-10.0, 10.0))
        beta = (
            np.concatenate(
                [np.geomspace(1e-5, 1, 3000), SEARCH_GRID[1:-1], np.linspace(0.001, 0.999, 3000)]
            )
            * epsilon
        )
        best = np.min(
            spread.log_smooth(beta[beta < epsilon]) - np.log(epsilon - beta[beta < epsilon])
        )
        scale, _ = SmoothCauchy(epsilon, tight=True).fit(spread)
        assert scale == 0 or math.log(scale) <= best + 5e-3  # 0 by underflow: a law floors it
        mechanism = SmoothLaplace(epsilon, 1e-3)
        beta = np.geomspace(1e-5, 1, 6000) * mechanism._largest * (1 - 1e-9)
        best = np.min(spread.log_smooth(beta) - np.log(mechanism._alpha(beta)))
        scale, _ = mechanism.fit(spread)
        assert scale == 0 or math.log(scale) <= best + 5e-3
        mechanism = SmoothLaplaceLogNormal(epsilon, 1e-3)
        t = (
            np.geomspace(1e-5, 50 + 10 * n * mechanism.concentrated, 20_000)
            * mechanism.concentrated
        )
        best = np.min(spread.log_smooth(t) + mechanism._log_factor(t))
        scale, noise = mechanism.fit(spread)
        if scale > 0:
            assert math.log(scale) + noise.sigma**2 <= best + 1e-2


def test_the_shape_of_least_variance():
    mechanism = SmoothLaplaceLogNormal(1.0, 1e-3)
    c = mechanism.concentrated
    assert c**2 / 2 + c * math.sqrt(2 * math.log(1e3)) == pytest.approx(1.0)  # lemma 9
    for t in (1e-4, 0.01, 0.1, 1.0):
        sigma = float(mechanism.sigma(t))
        assert 5 * c * sigma**3 - 5 * t * sigma**2 - t == pytest.approx(0, abs=1e-9 * t)
        assert sigma > t / c
        around = sigma * np.linspace(0.99, 1.01, 201)
        cost = 5 * around**2 - 2 * np.log(np.maximum(c - t / around, 1e-300))
        assert abs(cost.argmin() - 100) <= 1


def test_rank_exponential():
    """Between distinct records the score is the paper's u_2; over neighbours the loss is at most
    epsilon.
    """
    values = [10.0, 20.0, 30.0, 50.0]
    grid = Grid(0.0, 60.0, 0.5)
    ranks = RankExponential(1.0).steps(values, grid)
    u_2 = Median(utility="rank").steps(values, grid)
    for x in (5, 15, 25.5, 40, 55):
        assert ranks.distance_at(x) * ranks.unit == u_2.distance_at(x) * u_2.unit
    for q in (0.1, 0.5, 0.75):
        mechanism = RankExponential(1.0, q)
        laws = {tuple(d): mechanism.law(mechanism.steps(list(d), SMALL)) for d in small_data(5)}
        for here, there in neighbours():
            for x in range(4):
                assert (
                    abs(
                        laws[tuple(here)].log_probability(x)
                        - laws[tuple(sorted(there))].log_probability(x)
                    )
                    <= 1 + 1e-9
                )


def test_u_1_is_the_limit_of_a_fine_grid():
    """The closed form against the exponential mechanism over 2,001 candidates with their errors as
    distances.
    """
    from duffdp._steps import StepFunction

    grid = Grid(0.0, 10.0, 0.005)
    spread = sensitivity.median([1.0, 2.0, 4.0, 7.0], grid)
    index = np.arange(grid.size)
    steps = StepFunction(
        grid,
        index,
        np.ones_like(index),
        np.abs(index - grid.index(2.0)),
        rate=Exponential(1)._epsilon / 4000,
    )
    fine, law = Exponential(3.0).law(steps), ErrorExponential(3.0).law(spread)
    assert law.expected_error(2.0) == pytest.approx(fine.expected_error(2.0), rel=1e-3)
    assert law.tail(2.0, 3.0) == pytest.approx(fine.tail(2.0, 3.0), rel=1e-2)


def test_limits():
    """No records, one record, equal records: finite and positive scales, no nan."""
    for values in ([], [4.0], [4.0] * 50, [0.0] * 5, [10.0] * 5000):
        for statistic in (sensitivity.median, sensitivity.mean):
            spread = statistic(values, Grid(0.0, 10.0))
            for mechanism in ALL:
                law = mechanism.law(spread)
                assert 0 <= law.expected_error(spread.value) <= 10
                assert 0 <= law.tail(spread.value, 1.0) <= 1
                assert 0 <= mechanism.draw(spread, rng=1) <= 10


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: Laplace(0), "epsilon must be"),
        (lambda: Laplace(math.nan), "epsilon must be"),
        (lambda: SmoothLaplace(1, 0), "delta must be a number between 0 and 1"),
        (lambda: SmoothLaplace(1, 1), "delta must be"),
        (lambda: SmoothLaplace(1, None), "delta must be"),
        (lambda: SmoothLaplace(1, 1e-6, beta=5), "beta must leave"),
        (lambda: SmoothLaplaceLogNormal(1, 2), "delta must be"),
        (lambda: SmoothLaplaceLogNormal(1, 0.1, t=-1), "t must be a finite number above 0"),
        (lambda: SmoothLaplaceLogNormal(1, 0.1, t=1e3).law(SPREAD), "too large"),
        (lambda: SmoothCauchy(1, gamma=1), "gamma must be a finite number above 1"),
        (lambda: SmoothCauchy(1, gamma=math.inf), "gamma must be"),
        (lambda: SmoothCauchy(1, tight=True, beta=1), "beta must be a number between 0 and 1"),
        (lambda: SmoothCauchy(1, beta=0.1), "unless tight"),
        (lambda: SmoothPareto(1, beta=1), "beta must be"),
        (lambda: ProposeTestRelease(1, 0.6, eta=1), "delta must be a number between 0 and 0.5"),
        (lambda: ProposeTestRelease(1, 0.1, eta=0), "eta must be a finite number above 0"),
        (lambda: ProposeTestRelease(1, 0.1, eta=-1), "eta must be"),
        (lambda: ErrorExponential(1).law(Sensitivity(0, [1])), "finite bounds"),
        (lambda: Laplace(1).draw(SPREAD, rng="x"), "rng must be"),
        (lambda: Laplace(1).draw(SPREAD, size=-1), "size must be"),
        (lambda: ProposeTestRelease(1, 0.1, eta=1).draw(SPREAD, size=1.5), "size must be"),
        (lambda: Laplace(1).law(SPREAD).interval(1), "confidence must be"),
    ],
)
def test_bad_input(make, text):
    with pytest.raises(DuffError, match=text):
        make()


def test_guarantees_are_stated():
    for mechanism in (*ALL, ProposeTestRelease(1.0, 0.01, eta=1)):
        assert "not for release" in mechanism.guarantee
        assert f"{mechanism.epsilon:g}" in mechanism.guarantee
    assert "none proven" in SmoothLaplaceLogNormal(1, 0.1).guarantee


def test_the_verbs_do_not_offer_baselines():
    import duffdp

    for name in ("laplace", "smooth-cauchy", "rank-exponential", "propose-test-release"):
        with pytest.raises(DuffError, match="mechanism must be"):
            duffdp.median([1, 2], epsilon=1.0, bounds=(0, 3), mechanism=name)
