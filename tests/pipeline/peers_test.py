"""What the test suites of other libraries ask of quantiles, medians, means, counts, sums and
histograms, asked here. Each test names the case that it takes up. The code is ours, and what is
expected is derived here: where a peer promises something else, the test says so.

diffprivlib: github.com/IBM/differential-privacy-library, tests/tools. OpenDP: github.com/opendp/
opendp, python/test/integration and rust/src/transformations. Google: github.com/google/
differential-privacy, cc/algorithms and java/tests. PipelineDP: github.com/OpenMined/PipelineDP,
tests.
"""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pandas as pd
import pytest

import duffdp
from duffdp import Grid
from duffdp.mechanisms import Exponential, PermuteAndFlip
from duffdp.statistics import Median, Quantile

NOISELESS = 1e6  # an epsilon at which noise is as good as none
FALSE_ALARM = 1e-9
NUMBERS = ("median", "mean", "sum", "std", "variance", "iqr", "trimmed_mean")


def released(verb, data, **given):
    own = {"trim": 0.1} if verb == "trimmed_mean" else {}
    return getattr(duffdp, verb)(data, **own, **given)


# Parameters.


@pytest.mark.parametrize("verb", NUMBERS)
def test_no_bounds(verb):
    """diffprivlib, test_median, test_mean, test_sum, test_std: test_no_bounds and
    test_missing_bounds. There a warning, and bounds from the data; here an error.
    """
    with pytest.raises(duffdp.BoundsError):
        released(verb, [1, 2, 3], epsilon=1.0)


@pytest.mark.parametrize("bounds", [(1, 0), (1, 1), (0, math.inf), (math.nan, 1), (0,)])
@pytest.mark.parametrize("verb", NUMBERS)
def test_bad_bounds(verb, bounds):
    """diffprivlib: test_bad_bounds, test_mis_ordered_bounds. Google, quantiles_test.cc:
    InvalidParametersTest, where equal bounds are refused too. PipelineDP, dp_computations_test:
    test_compute_dp_variance_equal_min_max, which answers with the bound; here an error.
    """
    with pytest.raises(duffdp.BoundsError):
        released(verb, [1, 2, 3], epsilon=1.0, bounds=bounds)


@pytest.mark.parametrize("epsilon", [0, -1, math.nan, math.inf, None, "1.0", True])
@pytest.mark.parametrize("verb", ["median", "mean", "count"])
def test_bad_epsilon(verb, epsilon):
    """diffprivlib: test_inf_epsilon, which answers without noise; here infinity is refused, for it
    is no privacy. Google, count_test.cc: InsufficientPrivacyBudgetTest.
    """
    own = {} if verb == "count" else {"bounds": (0, 9)}
    with pytest.raises(duffdp.DuffError, match="epsilon"):
        released(verb, [1, 2, 3], epsilon=epsilon, **own)


@pytest.mark.parametrize("qs", [[], [-1], [1.5], [0.5, 0.5, -1], -0.1, 1.1, math.nan])
def test_bad_quantiles(qs):
    """diffprivlib, test_quantile: test_bad_quantile; test_percentile: test_bad_percents. Google,
    quantiles_test.cc: InvalidParametersTest. BoundedQuantilesTest.java: rankLessThanZero and
    rankGreaterThanOne.
    """
    verb = duffdp.quantiles if isinstance(qs, list) else duffdp.quantile
    with pytest.raises(duffdp.DuffError, match="q"):
        verb([1, 2, 3], qs, epsilon=1.0, bounds=(0, 9))


def test_histogram_without_range():
    """diffprivlib, test_histogram: test_no_params, test_no_range. There a warning, and a range from
    the data; here an error.
    """
    with pytest.raises(duffdp.DuffError, match="bins"):
        duffdp.histogram([1, 2, 3], epsilon=1.0)


@pytest.mark.parametrize("made", [list, tuple, np.array, pd.Series])
def test_array_like(made):
    """diffprivlib: test_array_like, for medians, quantiles, means and sums."""
    data = made([1, 2, 3])
    for verb, exact in (("median", 2), ("mean", 2), ("sum", 6)):
        found = released(verb, data, epsilon=NOISELESS, bounds=(1, 3)).value
        assert found == pytest.approx(exact, abs=1e-3)


# Without noise: the exact statistic.


def test_large_epsilon():
    """diffprivlib: test_large_epsilon, for every statistic. Google, bounded-mean_test.cc:
    LargeEpsilonTest. Of an even number of records the median is the lower of the two in the middle.
    """
    data = np.random.default_rng(1).random(1000)
    exact = {
        "median": np.sort(data)[499],
        "mean": data.mean(),
        "sum": data.sum(),
        "std": data.std(),
        "variance": data.var(),
    }
    for verb, value in exact.items():
        found = released(verb, data, epsilon=NOISELESS, bounds=(0.0, 1.0)).value
        assert found == pytest.approx(value, abs=1e-3), verb


@pytest.mark.parametrize("kind", [int, float])
def test_approximates_true_quantile(kind):
    """Google, quantiles_test.cc: ApproximatesTrueQuantile, with 1,001 records in half of the bounds
    and ten ranks. A quantile here is the record of rank max(1, ceil(q n)).
    """
    data = np.random.default_rng(2).uniform(-25, 25, 1001).astype(kind)
    qs = [i / 10 for i in range(1, 10)]
    step = 1 if kind is int else 0.001
    given = {"epsilon": NOISELESS, "bounds": (-50, 50), "step": step}
    together = duffdp.quantiles(data, qs, **given).value
    for q, among in zip(qs, together, strict=True):
        rank = max(1, math.ceil(round(q * 1001, 9)))
        before, exact, after = np.sort(data)[rank - 2 : rank + 1]
        assert abs(duffdp.quantile(data, q, **given).value - exact) <= step
        # Several quantiles are drawn between two records of their ranks.
        assert before - step <= among <= after + step


def test_percentiles_of_a_thousand_and_one_numbers():
    """PipelineDP, combiners_test, QuantileCombinerTest: test_compute_metrics_without_merge. The
    numbers 0 to 1000 have their percentiles 10, 50 and 90 at 100, 500 and 900.
    """
    numbers = list(range(1001))
    for q, value in ((0.1, 100), (0.5, 500), (0.9, 900)):
        given = {"epsilon": NOISELESS, "bounds": (0, 1000)}
        assert duffdp.quantile(numbers, q, **given).value == value


@pytest.mark.parametrize("q", [0.1, 0.5, 0.9])
def test_simple(q):
    """diffprivlib, test_quantile and test_percentile: test_simple, test_multiple_q. 1,000 numbers
    from 0 to 1; at epsilon 5 an answer is within 0.05, which is 50 records on either side.
    """
    data = np.linspace(0, 1, 1000)
    release = duffdp.quantile(data, q, epsilon=5, bounds=(0.0, 1.0))
    if q < 0.9:  # from 0.9 on a range is drawn first
        assert release.distance_bound(1 - FALSE_ALARM) < 50
    assert abs(release.value - q) < 0.06


def test_normal():
    """diffprivlib, test_median and test_quantile: test_normal."""
    data = np.random.default_rng(3).normal(size=2000)
    assert abs(duffdp.median(data, epsilon=3, bounds=(-10.0, 10.0)).value) < 0.2


def test_single_input():
    """Google, BoundedMeanTest.java: computeResult_singleInput_returnsInput."""
    for verb in ("median", "mean", "sum"):
        found = released(verb, [1.2], epsilon=NOISELESS, bounds=(0.0, 5.0)).value
        assert found == pytest.approx(1.2, abs=1e-3)


def test_int_output():
    """diffprivlib, test_sum: test_int_output; test_median: test_output_type, where it is always a
    float. Here whole numbers stay whole.
    """
    data = np.array([1, 2, 3])
    assert type(duffdp.sum(data, epsilon=NOISELESS, bounds=(0, 3)).value) is int
    assert type(duffdp.median(data, epsilon=1.0, bounds=(0, 3)).value) is int
    assert type(duffdp.median(data / 2, epsilon=1.0, bounds=(0, 3)).value) is float


# The scores behind a draw, exactly.


def test_quantile_score_candidates():
    """OpenDP, test_quantile.py and quantile_score_candidates/test.rs: test_quantile_score_
    candidates. Of the numbers 0 to 99, as many as lie below a candidate less those above it. This
    library's rank score is that number; its distance, which it draws by, is within one of it.
    """
    candidates = [20, 33, 40, 50, 72, 100]
    scores = [abs(c - (99 - c)) if c < 100 else 100 for c in candidates]
    assert scores == [59, 33, 19, 1, 45, 100]
    for utility, within in (("rank", 0), ("distance", 1), ("signed", 1)):
        steps = Median(utility).steps(list(range(100)), Grid(0, 100, 1))
        for candidate, score in zip(candidates, scores, strict=True):
            assert abs(abs(steps.distance_at(candidate)) - score) <= within


def test_quantile_score_candidates_offset():
    """OpenDP, quantile_score_candidates/test.rs: test_quantile_score_candidates_offset and
    test_score_candidates_function, without its cap.
    """
    steps = Median("rank").steps(list(range(101)), Grid(0, 100, 1))
    assert [steps.distance_at(c) for c in (0, 25, 50, 75, 100)] == [100, 50, 0, 50, 100]
    data = [0, 2, 2, 3, 5, 7, 7, 7]
    steps = Median("rank").steps(data, Grid(-1, 22, 1))
    for c in (-1, 2, 4, 7, 12, 22):
        below, above = sum(x < c for x in data), sum(x > c for x in data)
        assert steps.distance_at(c) == abs(below - above)


def test_private_quantile():
    """OpenDP, test_quantile.py: test_private_quantile. Scale 0.1 is epsilon 10 there; the other
    candidates are 49 records away or more.
    """
    grid = Grid(0, 100, 25)
    for mechanism in (Exponential(10), PermuteAndFlip(10)):
        law = mechanism.law(Median().steps(list(range(100)), grid))
        assert law.probability(50) > 1 - 1e-12
    assert duffdp.median(range(100), epsilon=10, bounds=grid).value == 50


def test_input_order():
    """Google, quantiles_test.cc: InputOrderInvariant; BoundedQuantilesTest.java:
    computeResult_invariantToEntryOrder. The law is the same, and so is what a seed gives.
    """
    data = np.random.default_rng(4).integers(-25, 25, 1001)
    mixed = np.random.default_rng(5).permutation(data)
    given = {"epsilon": 1.0, "bounds": (-50, 50), "rng": 7}
    for q in (0.1, 0.5, 0.9):
        here, there = (Quantile(q).steps(d, Grid(-50, 50, 1)) for d in (data, mixed))
        assert np.array_equal(here.distance, there.distance)
        assert duffdp.quantile(data, q, **given).value == duffdp.quantile(mixed, q, **given).value


def test_pre_clamping():
    """Google, BoundedQuantilesTest.java: computeResult_invariantToPreClamping;
    BoundedMeanTest.java: addEntry_clampsInput; bounded-mean_test.cc: LowClampTest, HighClampTest.
    """
    data = np.array([-1e9, -7.0, 0.0, 3.0, 12.0, math.inf, -math.inf])
    clamped = np.clip(data, 0, 5)
    grid = Grid(0.0, 5.0, 0.5)
    for q in (0, 0.25, 0.5, 1):
        here, there = (Quantile(q).steps(d, grid) for d in (data, clamped))
        assert np.array_equal(here.distance, there.distance)
    for verb in ("mean", "sum", "std"):
        found = [
            released(verb, d, epsilon=NOISELESS, bounds=(0.0, 5.0)).value for d in (data, clamped)
        ]
        assert found[0] == pytest.approx(found[1], abs=1e-3)


def test_nan():
    """diffprivlib: test_nan, where one NaN makes the answer NaN, and test_nanmean, where it is left
    out. Google, BoundedQuantilesTest.java: addEntry_ignoresNanValues; bounded-mean_test.cc:
    DropNanEntries. Here it is always left out.
    """
    with_nan, without = [math.nan, 2.0, 3.0, 4.0, math.nan], [2.0, 3.0, 4.0]
    for verb in ("median", "mean", "sum", "std", "iqr"):
        found = [
            released(verb, d, epsilon=NOISELESS, bounds=(0.0, 5.0)).value
            for d in (with_nan, without)
        ]
        assert found[0] == pytest.approx(found[1], abs=1e-3)
    assert duffdp.count(with_nan, epsilon=NOISELESS).value == 3


# With noise: what holds for every draw.


@pytest.mark.parametrize("verb", ["median", "mean", "trimmed_mean", "std", "variance", "iqr"])
def test_clipped_output(verb):
    """diffprivlib: test_clipped_output, at epsilon 1e-5. Google, BoundedMeanTest.java:
    computeResult_resultAlwaysInsideProvidedBoundaries, clampsTooHighAverage, clampsTooLowAverage;
    PipelineDP, dp_computations_test: test_compute_mean_negative_dp_count.
    """
    data = np.random.default_rng(6).random(10)
    for _ in range(100):
        found = released(verb, data, epsilon=1e-5, bounds=(0.0, 1.0)).value
        assert 0 <= found <= 1


def test_entries_beyond_one_bound():
    """Google, BoundedQuantilesTest.java: computeResult_entriesSmallerThanLowerBound and
    entriesGreaterThanUpperBound.
    """
    for value, bound in ((-1000.0, 0), (1000.0, 10)):
        given = {"epsilon": NOISELESS, "bounds": (0, 10), "step": 1}
        assert duffdp.median([value] * 50, **given).value == bound
        assert 0 <= duffdp.median([value], epsilon=0.01, bounds=(0, 10)).value <= 10


def test_results_increase():
    """Google, quantiles_test.cc: ResultsIncreaseMonotonically; BoundedQuantilesTest.java:
    computeResult_increasesMonotonicallyAsRankIncreases. With noise as well.
    """
    for data in ([], [3], np.random.default_rng(7).uniform(-25, 25, 200)):
        for _ in range(20):
            found = duffdp.quantiles(
                data, [0.1, 0.3, 0.5, 0.9], epsilon=0.1, bounds=(-50, 50)
            ).value
            assert found == sorted(found)


def test_no_entries():
    """Google, BoundedQuantilesTest.java: computeResult_emptySetOfEntries_resultIsLinearly
    Distributed; PipelineDP, ExponentialMechanismTests: test_constant_scoring_function_returns_all_
    elements_after_many_runs. Without records every candidate is as likely as every other.
    """
    for mechanism in (Exponential(1.0), PermuteAndFlip(1.0)):
        law = mechanism.law(Median("rank").steps([], Grid(0, 9, 1)))
        assert [law.probability(c) for c in range(10)] == pytest.approx([0.1] * 10)
    many = 400  # that one of ten is missing after these has a probability of 10 * 0.9**400
    seen = Counter(duffdp.median([], epsilon=1.0, bounds=(0, 9), step=1).value for _ in range(many))
    assert set(seen) == set(range(10))


def test_no_entries_of_means_and_counts():
    """Google, BoundedMeanTest.java: computeResult_noInput_returnsMidpoint; CountTest.java:
    computeResult_noIncrements_returnsZero. The mean of noise alone lies around the middle.
    """
    means = [duffdp.mean([], epsilon=1.0, bounds=(2.0, 6.0)).value for _ in range(400)]
    # Of values within 2 of their mean, the average of 400 is within 0.65 of it (Hoeffding).
    assert abs(np.mean(means) - 4) < 2 * math.sqrt(2 * math.log(2 / FALSE_ALARM) / 400)
    assert duffdp.count([], epsilon=NOISELESS).value == 0
    assert duffdp.sum([], epsilon=NOISELESS, bounds=(0, 9)).value == pytest.approx(0, abs=1e-3)


def test_adds_noise():
    """Google, CountTest.java: computeResult_addsNoise; BoundedMeanTest.java: addsNoiseToSum,
    addsNoiseToCount; diffprivlib, test_histogram: test_different_result.
    """
    data = [1, 1, 2, 5, 5, 5]
    for verb in ("mean", "sum"):
        found = {released(verb, data * 100, epsilon=0.1, bounds=(0, 9)).value for _ in range(10)}
        assert len(found) == 10
    assert len({duffdp.count(data * 100, epsilon=0.01).value for _ in range(30)}) > 5
    bins = {
        tuple(duffdp.histogram(data * 50, epsilon=0.1, bins=[0, 3, 9]).value.values())
        for _ in range(20)
    }
    assert len(bins) > 5


def test_random_state():
    """diffprivlib, test_quantile and test_percentile: test_random_state. The same seed gives the
    same, several quantiles included, and no seed gives another each time.
    """
    given = {"epsilon": 0.01, "bounds": (0, 1_000_000)}
    ask = lambda **how: duffdp.quantiles([0, 1, 2, 3, 4], [0.33, 0.66], **given, **how).value  # noqa: E731
    assert ask(rng=0) == ask(rng=0)
    assert ask() != ask()


def test_histogram_edges():
    """diffprivlib, test_histogram: test_same_edges. A bin holds its lower edge, the last one both,
    as in numpy.
    """
    data = [1, 1, 1, 2, 5, 10]
    edges = [0, 1, 2, 5, 10]
    found = duffdp.histogram(data, epsilon=NOISELESS, bins=edges).value
    assert list(found.values()) == np.histogram(data, edges)[0].tolist()


def test_strings():
    """diffprivlib, test_count_nonzero: test_strings. OpenDP, test_count.py: test_count, 40 lines of
    text.
    """
    assert duffdp.count(["a", "b", ""], epsilon=NOISELESS).value == 3
    assert duffdp.count([str(i) for i in range(40)], epsilon=NOISELESS).value == 40


# Large numbers.


def test_overflow():
    """Google, bounded-mean_test.cc: OverflowAddEntryManualBoundsTest, UnderflowAddEntryManualBounds
    Test, SensitivityOverflow; BoundedSum: hugeIntegerValues. Nothing wraps around.
    """
    most = 1.7e308
    found = duffdp.mean([most] * 3, epsilon=NOISELESS, bounds=(-most, most)).value
    assert found == pytest.approx(most)
    huge = np.array([2**61] * 5)
    found = duffdp.sum(huge, epsilon=NOISELESS, bounds=(0, 2**61)).value
    assert found == pytest.approx(5 * 2**61, rel=1e-3)
    assert duffdp.median(huge, epsilon=NOISELESS, bounds=(0, 2**61), step=1).value == 2**61


@pytest.mark.parametrize("epsilon", [0.3, 0.5, 1.0])
def test_many_ties(epsilon):
    """diffprivlib, issue 107: a median of whole numbers, four fifths of which are the same, ends in
    an error for n = 100,000 since all weights underflow. Here weights are compared, not added up.
    """
    same = np.full(80_000, 65_000)
    others = np.random.default_rng(0).integers(0, 500_000, 20_000)
    data = np.concatenate([same, others])
    assert duffdp.median(data, epsilon=epsilon, bounds=(0, 500_000)).value == 65_000


def test_one_record_more_is_no_error():
    """SmartNoise, issue 572 (github.com/opendp/smartnoise-sdk): a median of 1,491 zeros and a one
    is answered and that of 1,492 zeros and a one is an error, which tells them apart.
    """
    for zeros in (1491, 1492, 100_000):
        assert duffdp.median([0] * zeros + [1], epsilon=1.0, bounds=(0, 1), step=1).value == 0


# Groups, people and budgets.

VISITS = pd.DataFrame(
    {
        "person": [1, 1, 1, 2, 3, 3, 4, 5],
        "place": ["a", "a", "b", "a", "b", "unlisted", "b", "b"],
        "spent": [1, 2, 3, 4, 5, 6, 7, 8],
    }
)


def test_public_partitions():
    """PipelineDP, dp_engine_test: test_aggregate_public_partitions_drop_non_public,
    add_empty_public_partitions and test_run_e2e_count_public_partition_local.
    """
    release = duffdp.count(VISITS, by="place", keys=["a", "b", "empty"], epsilon=NOISELESS)
    assert dict(zip(release.value["place"], release.value["count"], strict=True)) == {
        "a": 3,
        "b": 4,
        "empty": 0,
    }


def test_contributions_are_bounded():
    """PipelineDP, dp_engine_test: contribution bounding per person, and test_run_e2e_count; Google,
    MaxContributionsVarianceTest. Persons 1 and 3 have several rows with a listed place, or one.
    """
    given = {"by": "place", "keys": ["a", "b"], "unit": "person", "epsilon": NOISELESS}
    people = duffdp.count(VISITS, **given).value["count"]
    assert sum(people) == 5  # each person once
    rows = duffdp.count(VISITS, **given, contributions=2).value["count"]
    assert sum(rows) == 6  # two rows of person 1, one of the others
    total = duffdp.sum(VISITS, column="spent", bounds=(0, 4), **given).value["sum"]
    # Clamped to 4: of person 1 one of 1, 2 and 3; of the others 4 each.
    assert round(sum(total)) in (17, 18, 19)


def test_accountant(tmp_path):
    """diffprivlib: test_accountant, for every tool: one call of the whole budget, and no second.
    test_accountant_with_axes: parts of an answer cost no more than all of it.
    """
    calls = {
        "median": {"bounds": (0, 9)},
        "mean": {"bounds": (0, 9)},
        "sum": {"bounds": (0, 9)},
        "std": {"bounds": (0, 9)},
        "count": {},
        "histogram": {"bins": [0, 3, 9]},
        "describe": {"bounds": (0, 9)},
    }
    for verb, own in calls.items():
        ledger = duffdp.Ledger(tmp_path / f"{verb}.db", epsilon=1.0)
        released(verb, [1, 2, 3], epsilon=1.0, ledger=ledger, **own)
        assert ledger.remaining() == 0
        with pytest.raises(duffdp.BudgetExceeded):
            released(verb, [1, 2, 3], epsilon=0.01, ledger=ledger, **own)


def test_repeated_result():
    """Google, count_test.cc and bounded-mean_test.cc: RepeatedResultTest;
    BoundedQuantilesTest.java: calledTwiceForTheSameRank_returnsSameResult. What was released
    stays as it is.
    """
    release = duffdp.mean([1, 2, 3], epsilon=1.0, bounds=(0, 9), interval=0.9)
    assert release.value == release.value
    assert duffdp.Release.from_dict(release.to_dict()).value == release.value


def test_confidence_intervals():
    """Google, count_test.cc: ConfidenceIntervalTest; bounded-mean_test.cc: ConfidenceIntervalWith
    LowerLevelGetsTighter, FixedBoundsMeanOutputHasConfidenceIntervalWithinBounds. For geometric
    noise the half width w is the least with P(|noise| > w) at most what may be missed.
    """
    for confidence in (0.5, 0.95, 0.999):
        release = duffdp.count([1] * 1000, epsilon=0.5, interval=confidence)
        a = math.exp(-0.5)
        beyond = [2 * a ** (w + 1) / (1 + a) for w in range(60)]
        w = next(w for w, miss in enumerate(beyond) if miss <= 1 - confidence + 1e-12)
        assert (release.value - release.low, release.high - release.value) == (w, w)
    narrow, wide = (
        duffdp.mean([1.0] * 500, epsilon=1.0, bounds=(0.0, 9.0), interval=c) for c in (0.5, 0.99)
    )
    assert 0 <= wide.low <= wide.value <= wide.high <= 9
    assert narrow.high - narrow.low < wide.high - wide.low
