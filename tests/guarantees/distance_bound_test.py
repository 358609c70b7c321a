"""The bound on the distance of an output holds for every small data set, statistic and mechanism,
and is attained.
"""

from __future__ import annotations

import itertools
import math
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache, partial

import numpy as np
import pytest

import duffdp
from cases import MECHANISMS, SMALL, STATISTICS, small_data
from duffdp import Categories, DuffError, Grid, PrivacyUnit
from duffdp._sampling.race import EXPONENTIAL, GUMBEL
from duffdp.mechanisms import Exponential, Lattice, PermuteAndFlip
from duffdp.mechanisms.distance_bound import distance_bound
from duffdp.statistics import Mean, Median, Mode, Quantile
from duffdp.statistics.quantile import is_outer
from release_facts import release

CONFIDENCES = [0.5, 0.8, 0.95, 0.999]
EPSILONS = [0.1, 1.0, 8.0]
BOUNDED = [s for s in STATISTICS if getattr(s, "utility", "distance") != "rank"]
DOMAINS = [Grid(0, 1, 1), Grid(0, 3, 1), Grid(0, 4000, 1), Grid(0, 2**40, 1)]


def draws_a_range(statistic):
    """Whether all mechanisms but the paper's draw a range first: no distance bounds such values."""
    return isinstance(statistic, Quantile) and is_outer(statistic.q)


def release_of(statistic, mechanism, epsilon, domain, contributions=1):
    name = {Mean: "mean", Mode: "mode"}.get(type(statistic), "quantile")
    return release(
        0,
        name=name,
        parameters={"q": statistic.q} if name == "quantile" else {},
        mechanism=mechanism.name,
        utility=getattr(statistic, "utility", "distance"),
        asked="duff" if mechanism is Exponential else "distance" if name == "mean" else "best",
        epsilon=epsilon if isinstance(epsilon, str) else repr(epsilon),
        domain=domain,
        unit=PrivacyUnit("person", "who", contributions),
    )


def excess(statistic, mechanism, epsilon, domain, data):
    """Distances of all runs, for a mean beyond that of the best candidate, and the exact
    probabilities of the runs.
    """
    steps = steps_of(statistic, domain, tuple(data))
    _, _, mass = mechanism(epsilon).law(steps).runs()
    base = int(steps.distance.min()) if isinstance(statistic, Mean) else 0
    return steps.distance - base, mass


@lru_cache(maxsize=2000)
def steps_of(statistic, domain, data):
    """The same for every epsilon and mechanism."""
    return statistic.steps(list(data), domain)


def test_the_mass_of_a_run_is_that_of_its_candidates():
    """As `excess` takes it."""
    for statistic, mechanism in itertools.product(BOUNDED, [*MECHANISMS, Lattice]):
        steps = statistic.steps([0, 1, 3, 3], SMALL)
        if mechanism is Lattice and not isinstance(statistic, Quantile):
            continue
        start, count, mass = (law := mechanism(1.0).law(steps)).runs()
        each = [law.probability(SMALL.value(int(at))) for at in start]
        assert mass == pytest.approx(each * count, rel=1e-12)


def beyond(statistic, mechanism, epsilon, domain, data, k):
    distance, mass = excess(statistic, mechanism, epsilon, domain, data)
    return mass[distance > k].sum()


@pytest.mark.parametrize(
    ("statistic", "mechanism"),
    [
        *((statistic, Exponential) for statistic in BOUNDED),
        *((statistic, PermuteAndFlip) for statistic in BOUNDED if not draws_a_range(statistic)),
        *((Quantile(q, "signed"), Lattice) for q in (0, 0.1, 0.5, 0.8)),
        (Median(), Lattice),
        (Mode(), Lattice),
    ],
)
def test_it_holds_for_all_small_data(statistic, mechanism):
    """All data sets with up to four records on four values, spread over domains of 2 to 2**40
    candidates.
    """
    if isinstance(statistic, Mode) and (statistic.rate == 1) == (mechanism is Exponential):
        # the verbs pair the paper's rate with the exponential mechanism, and the full rate with
        # the others
        return
    allowed = 1 - np.array(CONFIDENCES) + 1e-9
    # Half of the pairs for one statistic, the other half for another one.
    pairs = list(itertools.product(DOMAINS, EPSILONS))[len(repr(statistic)) % 2 :: 2]
    for domain, epsilon in pairs:
        places = sorted({round(x * (domain.size - 1) / 3) for x in range(4)})
        release = release_of(statistic, mechanism, epsilon, domain)
        bounds = np.array([release.distance_bound(confidence) for confidence in CONFIDENCES])
        for data in small_data(4, len(places)):
            chosen = [places[x] for x in data]
            distance, mass = excess(statistic, mechanism, epsilon, domain, chosen)
            assert ((distance > bounds[:, None]) @ mass <= allowed).all()


@pytest.mark.parametrize("mechanism", [*MECHANISMS, Lattice])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
@pytest.mark.parametrize("domain", [Grid(0, 3, 1), Grid(0, 120, 1), Grid(0.0, 1.0)], ids=repr)
def test_no_smaller_number_holds(mechanism, epsilon, domain):
    """Records that are all equal reach the worst case of the plain distance, so one less is
    exceeded too often.
    """
    mode = Mode(Fraction(1, 2) if mechanism is Exponential else 1)
    for statistic in (*(Quantile(q) for q in (0, 0.1, 0.5, 0.9, 1)), mode):
        if mechanism is not Exponential and draws_a_range(statistic):
            continue
        for confidence in CONFIDENCES:
            k = release_of(statistic, mechanism, epsilon, domain).distance_bound(confidence)
            if k >= 2:
                ends = [[domain.value(i)] * n for i in (0, domain.size - 1) for n in (k - 1, k)]
                worst = max(
                    beyond(statistic, mechanism, epsilon, domain, data, k - 1) for data in ends
                )
                assert worst > 1 - confidence


@pytest.mark.parametrize("epsilon", [0.1, 1.0])
@pytest.mark.parametrize("mechanism", [*MECHANISMS, Lattice])
def test_the_signed_distance_is_within_log_2(mechanism, epsilon):
    """Half the records at the last candidate and half beside it: all others k + 1 away, the two
    rivals at 0 and 1.
    """
    domain = Grid(0, 5000, 1)
    k = release_of(Median("signed"), mechanism, epsilon, domain).distance_bound(0.95)
    less = k - 1 - math.ceil(2 * math.log(2) / epsilon)
    n = less + 1
    data = [4999] * (n // 2) + [5000] * (n - n // 2)
    assert beyond(Median("signed"), mechanism, epsilon, domain, data, less) > 0.05


def test_the_levels_of_a_mean_widen_slowly():
    """Within i changes more than the closest candidate needs there are at most 8 i + 13 times as
    many candidates.
    """
    rng = np.random.default_rng(1)
    shapes = [
        [0] * z + [top] * m
        for z, m in ((1, 1), (1, 30), (40, 1), (25, 25), (200, 3), (500, 500))
        for top in (1, 7, 300, 10**6)
    ]
    random = [
        rng.integers(0, top + 1, n).tolist()
        for top in (3, 50, 10**6)
        for n in (1, 7, 60, 400)
        for _ in range(3)
    ]
    for data in (*shapes, *random, *map(list, small_data(5))):
        for size in (4, 60, 10**6 + 1):
            steps = Mean().steps(data, Grid(0, size - 1, 1))
            best = int(steps.distance.min())
            for i in range(int(steps.distance.max()) - best + 1):
                assert steps.within(best + i) <= (8 * i + 13) * steps.within(best)


@pytest.mark.parametrize("statistic", BOUNDED, ids=repr)
def test_permute_and_flip_is_never_further(statistic):
    """At the same coefficient no distance is exceeded more often than under the exponential
    mechanism.
    """
    for domain in DOMAINS[1:]:
        for data in small_data(3):
            chosen = [round(x * (domain.size - 1) / 3) for x in data]
            (distance, em), (_, pf) = (
                excess(statistic, mechanism, 1.0, domain, chosen)
                for mechanism in (Exponential, PermuteAndFlip)
            )
            for k in np.unique(distance):
                assert pf[distance > k].sum() <= em[distance > k].sum() + 1e-12


def test_a_fine_grid_does_not_widen_the_bound_of_a_mean():
    coarse, fine = (
        release_of(Mean(), PermuteAndFlip, 1.0, Grid(0.0, 1.0, step)).distance_bound()
        for step in (1e-9, 1e-15)
    )
    assert coarse == fine == 15
    assert release_of(Mean(), PermuteAndFlip, 1.0, Grid(0, 1, 1)).distance_bound() < 15


def test_the_test_can_fail():
    """Half of the bound is exceeded too often."""
    k = release_of(Median(), Exponential, 1.0, Grid(0, 120, 1)).distance_bound(0.95)
    assert beyond(Median(), Exponential, 1.0, Grid(0, 120, 1), [120] * k, k // 2) > 0.05


def test_no_candidate_is_further_than_the_simple_bound():
    """ln(N / eta) / c is the bound of the textbooks."""
    for size in (2, 121, 2**40, 2**62):
        for c in (Fraction(1, 1000), Fraction(1, 2), Fraction(3)):
            for confidence in (0.5, 0.95, 1 - 1e-12):
                textbook = math.log(size / (1 - confidence)) / c
                em, pf = (
                    distance_bound(size, c, noise, confidence) for noise in (GUMBEL, EXPONENTIAL)
                )
                assert 0 <= pf <= em <= textbook


def test_rows_of_a_person_and_the_mode():
    domain = Grid(0, 120, 1)
    for statistic in (Median("signed"), Mean(), Mode()):
        one = release_of(statistic, PermuteAndFlip, 0.25, domain).distance_bound()
        assert (
            release_of(statistic, PermuteAndFlip, 1.0, domain, contributions=4).distance_bound()
            == one
        )
    votes = Categories(["yes", "no", "blank"])
    best, paper = (
        duffdp.mode([], epsilon=1, categories=votes, mechanism=m).distance_bound()
        for m in ("best", "duff")
    )
    assert best < paper


def test_the_same_number_for_any_data():
    given = {"epsilon": 0.5, "bounds": (0, 120), "step": 1}
    assert (
        len({duffdp.median(data, **given).distance_bound() for data in ([], [3], range(100))}) == 1
    )


def test_large_and_small_epsilons():
    for epsilon in (1e-6, 1e-3, 1e3, 1e9):
        release = release_of(Median(), PermuteAndFlip, epsilon, Grid(0.0, 1.0))
        assert (
            1
            <= release.distance_bound(0.95)
            <= release.distance_bound(Decimal("0.999999"))
            <= 100 / epsilon + 1
        )
    assert distance_bound(1, Fraction(1), EXPONENTIAL, 0.99) == 0


@pytest.mark.parametrize(
    "wrong", [0, 1, -1, 95, "0.9", None, True, math.nan, math.inf, np.array([0.5])]
)
def test_bad_confidence(wrong):
    with pytest.raises(DuffError, match="confidence must be a probability between 0 and 1"):
        duffdp.median([1], epsilon=1, bounds=(0, 9)).distance_bound(wrong)


def test_a_mechanism_without_a_bound():
    made = release(0, name="triangles", mechanism="piecewise-laplace", utility=None)
    with pytest.raises(DuffError, match="distance_bound is for"):
        made.distance_bound()


def test_the_advice_without_a_bound_is_possible():
    options = {"epsilon": 1, "bounds": (0, 9), "rng": 1}
    with pytest.raises(DuffError, match=r"Pass interval=0\.95"):
        duffdp.mean([1, 2], **options).distance_bound()
    for refused in (duffdp.std, partial(duffdp.mean, mechanism="clipped")):
        with pytest.raises(DuffError, match=r"Use duffdp\.preview"):
            refused([1, 2], **options).distance_bound()
