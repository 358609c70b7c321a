"""Previews of every statistic: exact against brute force over the laws, simulated against releases,
and their inverse."""

from __future__ import annotations

import datetime as dt
import itertools
import math
import statistics

import numpy as np
import polars as pl
import pytest

import duffdp
from duffdp import DuffError, epsilon_for, preview
from duffdp._pipeline.request import ReleaseRequest
from duffdp._planning.outcomes import MAX_LISTED_OUTCOMES, evenly_spread, geometric_quantile
from duffdp.mechanisms import Geometric, Staircase, mechanism_class
from duffdp.statistics.histogram import projected
from duffdp.statistics.registry import REGISTRY, statistic_spec
from duffdp.statistics.statistic import DistanceStatistic, Scope
from inquiries import engine_of
from release_draws import recorded

RECORDS = np.array([0, 1, 1, 2, 3, 3, 3, 5, 6])
BOUNDS = {"bounds": (0, 6), "step": 1}
RNG = np.random.default_rng(8)
AGES = RNG.integers(18, 80, 60)
PAIRS = [(float(x), 0.5 * x + float(e)) for x, e in zip(AGES, RNG.normal(0, 9, 60), strict=True)]
CATEGORIES = ["a"] * 9 + ["b"] * 7 + ["c"] * 2

# Parameters and public set of every statistic, for the records above.
CASES = {
    "median": BOUNDS,
    "quantile": {"q": 0.75, **BOUNDS},
    "quantiles": {"qs": (0.25, 0.75), **BOUNDS},
    "mean": BOUNDS,
    "sum": BOUNDS,
    "trimmed_mean": {"trim": 0.2, **BOUNDS},
    "variance": BOUNDS,
    "std": BOUNDS,
    "iqr": BOUNDS,
    "mode": BOUNDS,
    "describe": BOUNDS,
    "count": {},
    "share": {"between": (2, 4)},
    "histogram": {"bins": (0, 2, 4, 6)},
    "top": {"k": 2, **BOUNDS},
    "slope": {"bounds": (-2.0, 2.0), "step": 0.25},
}
SIMULATED = {
    ("quantiles", "best"),
    ("mean", "clipped"),
    ("sum", "clipped"),
    ("variance", "best"),
    ("std", "best"),
    ("describe", "best"),
    ("top", "best"),
}
KNOWN = [known for known in REGISTRY.values() if known.can_be_planned]
CHOICES = [(known.name, choice) for known in KNOWN for choice in known.choices]


def records_of(name):
    return PAIRS if name == "slope" else RECORDS


def seen(name, choice="best", epsilon=1.0, **more):
    given = {"statistic": name, "mechanisms": [choice], **CASES[name], **more}
    return preview(given.pop("data", records_of(name)), epsilon=epsilon, **given)


def test_all_numbers_but_those_of_graphs_can_be_planned():
    unplanned = {known.name for known in REGISTRY.values() if not known.can_be_planned}
    assert unplanned == {"triangles", "stars", "distribution"}
    assert set(CASES) == {known.name for known in KNOWN}


@pytest.mark.parametrize(("name", "choice"), CHOICES)
def test_every_mechanism_of_every_statistic(name, choice):
    found = seen(name, choice, draws=40)
    assert (found.draws == {choice: 40}) == ((name, choice) in SIMULATED)
    assert ("seeded draws" in str(found)) == ((name, choice) in SIMULATED)
    for output in found.outputs:
        half, most = (found.error_within(choice, p, output) for p in (0.5, 0.95))
        assert 0 <= half <= most < 40
        assert 0 <= found.expected_error(choice, output) < 40
    assert len(found.laws(choice, found.outputs[0])) == 1


# Without noise.


def truths(name, values, **given):
    """Of whole numbers from 0 to 6, by hand."""
    ranked = sorted(values)
    n = len(ranked)

    def at(q):
        return ranked[max(1, math.ceil(round(q * n, 9))) - 1]

    cut = math.floor(given.get("trim", 0) * n)
    return {
        "median": lambda: [at(0.5)],
        "quantile": lambda: [at(given["q"])],
        "quantiles": lambda: [at(q) for q in given["qs"]],
        "mean": lambda: [sum(ranked) / n],
        "sum": lambda: [sum(ranked)],
        "trimmed_mean": lambda: [sum(ranked[cut : n - cut]) / (n - 2 * cut)],
        "variance": lambda: [statistics.pvariance(ranked)],
        "std": lambda: [statistics.pstdev(ranked)],
        "iqr": lambda: [at(0.75) - at(0.25)],
        "mode": lambda: [max(range(7), key=ranked.count)],
        "describe": lambda: [n, sum(ranked) / n, *map(at, (0.01, 0.25, 0.5, 0.75, 0.99))],
        "count": lambda: [n],
        "share": lambda: [sum(2 <= x <= 4 for x in ranked) / n],
        "histogram": lambda: [
            sum(low <= x < high + (high == 6) for x in ranked)
            for low, high in ((0, 2), (2, 4), (4, 6))
        ],
        "top": lambda: sorted(range(7), key=lambda x: -ranked.count(x))[: given["k"]],
    }[name]()


@pytest.mark.parametrize("name", [name for name in CASES if name != "slope"])
def test_the_truth_is_the_statistic(name):
    given = {key: value for key, value in CASES[name].items() if key not in BOUNDS}
    rng = np.random.default_rng(4)
    for n in (1, 2, 3, 4, 7, 10, 20, 99):
        values = rng.integers(0, 7, n)
        bounds = BOUNDS if "bounds" in CASES[name] else {}
        options = {"epsilon": 1, "mechanism": statistic_spec(name).choices[0], **given, **bounds}
        checked = ReleaseRequest(name, options).check()
        domain = checked.domain_for(True, False)
        found = statistic_spec(name).exact(
            checked.plan.parameters, engine_of([values], domain), domain
        )
        assert list(found) == pytest.approx(truths(name, values.tolist(), **given))


def true_slope():
    """The candidate that divides the slopes of all pairs best."""
    pairs = itertools.combinations(PAIRS, 2)
    slopes = np.array([(d - b) / (c - a) for (a, b), (c, d) in pairs if a != c])
    return min(np.arange(-2, 2.25, 0.25), key=lambda b: abs(np.sign(slopes - b).sum()))


def test_the_true_slope():
    released = duffdp.slope(*zip(*PAIRS, strict=True), epsilon=1e4, rng=1, **CASES["slope"])
    assert released.value == true_slope()
    assert seen("slope", epsilon=1e4).expected_error("best") == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("name", CASES)
def test_no_records_at_all(name):
    found = seen(name, data=[], draws=3)
    assert all(0 <= found.expected_error("best", output) < 100 for output in found.outputs)


# Against brute force.


def listed(name, choice, epsilon, values, **more):
    """Everything that can be released, with its probability."""
    given = {key: value for key, value in CASES[name].items() if key not in BOUNDS}
    public = BOUNDS if "bounds" in CASES[name] else {}
    asked = {**given, "mechanism": choice, **public, **more}
    checked = ReleaseRequest(name, {"epsilon": epsilon, **asked}).check()
    domain = checked.domain_for(True, False)
    plan = checked.plan_on(domain)
    post_process = checked.post_process(plan)
    for numbers, chance in outcomes_of(plan, values, domain):
        if post_process is not None:
            yield post_process.values(domain, numbers), chance
        else:
            kinds = [column.kind for column in plan.columns]
            yield (
                [
                    domain.value(x) if kind == "candidate" else max(0, x)
                    for x, kind in zip(numbers, kinds, strict=True)
                ],
                chance,
            )


def outcomes_of(plan, values, domain, stages=()):
    """All numbers that a program returns after those of some stages, with their probabilities."""
    program = plan.program.start(Scope(domain), plan.row_epsilon)
    try:
        draws = next(program)
        for stage in stages:
            draws = program.send([[[number] for number in numbers] for numbers in stage])
    except StopIteration as end:
        yield [number for (number,) in end.value], 1.0
        return
    laws = [law_of_draw(draw, values, domain) for draw in draws]
    for outcome in itertools.product(*laws):
        chance = math.prod(chance for _, chance in outcome)
        stage = [numbers for numbers, _ in outcome]
        for numbers, later in outcomes_of(plan, values, domain, (*stages, stage)):
            yield numbers, chance * later


def law_of_draw(draw, values, domain):
    """The numbers of one draw with their probabilities."""
    mechanism = mechanism_class(draw.mechanism)(draw.epsilon)
    if isinstance(draw.statistics, DistanceStatistic):
        steps = draw.statistics.steps(values, domain)
        law = mechanism.law(steps)
        return [((i,), law.probability(steps.domain.value(i))) for i in range(steps.domain.size)]
    assert type(mechanism) is Geometric
    totals = draw.statistics.of_records(values, domain)
    noisy = [
        [(x, mechanism.probability(total, x)) for x in range(total - 40, total + 41)]
        for total in totals
    ]
    return [
        (tuple(x for x, _ in outcome), math.prod(chance for _, chance in outcome))
        for outcome in itertools.product(*noisy)
    ]


EXACT = [
    ("median", "best"),
    ("median", "duff"),
    ("quantile", "best"),
    ("mean", "distance"),
    ("mean", "duff"),
    ("trimmed_mean", "best"),
    ("trimmed_mean", "duff"),
    ("iqr", "best"),
    ("iqr", "duff"),
    ("mode", "best"),
    ("count", "best"),
    ("share", "best"),
    ("quantiles", "duff"),
]


@pytest.mark.parametrize(("name", "choice"), EXACT)
@pytest.mark.parametrize("epsilon", [1.0, 3.0])
def test_errors_are_those_of_the_law(name, choice, epsilon):
    found = seen(name, choice, epsilon)
    given = {key: value for key, value in CASES[name].items() if key not in BOUNDS}
    expected = truths(name, RECORDS.tolist(), **given)
    outcomes = list(listed(name, choice, epsilon, RECORDS))
    for place, (output, truth) in enumerate(zip(found.outputs, expected, strict=True)):
        errors = [(abs(float(values[place]) - truth), chance) for values, chance in outcomes]
        mean = sum(error * chance for error, chance in errors)
        assert found.expected_error(choice, output) == pytest.approx(mean, rel=1e-9)
        for t in (0, 0.01, 0.1, 1, 2):
            beyond = sum(chance for error, chance in errors if error > t + 1e-12)
            assert found.tail(choice, t, output) == pytest.approx(beyond, rel=1e-9, abs=1e-14)


@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_bins_have_the_errors_of_the_law(epsilon):
    """Every bin by itself; counts below 0 become 0, or stay."""
    noisy = Geometric(epsilon)
    for given in ({}, {"nonnegative": False}):
        found = seen("histogram", "best", epsilon, **given)
        assert found.outputs == ("[0, 2)", "[2, 4)", "[4, 6]")
        for output, count in zip(found.outputs, (3, 4, 2), strict=True):
            least = -math.inf if given else 0
            mean = sum(
                abs(max(x, least) - count) * noisy.probability(count, x) for x in range(-90, 90)
            )
            assert found.expected_error("best", output) == pytest.approx(mean, rel=1e-9)


def test_bins_that_add_up_depend_on_each_other():
    """In the mean over all noise of three bins; a bin by itself would err otherwise."""
    noisy, counts = Geometric(1.0), (3, 4, 2)
    around = [[(x, noisy.probability(c, x)) for x in range(c - 16, c + 17)] for c in counts]
    mean = np.zeros(3)
    for outcome in itertools.product(*around):
        found = projected([x for x, _ in outcome])
        mean += np.abs(np.subtract(found, counts)) * math.prod(chance for _, chance in outcome)
    together, alone = (seen("histogram", adds_up=adds_up) for adds_up in (True, False))
    found, other = (
        [each.expected_error("best", output) for output in each.outputs]
        for each in (together, alone)
    )
    assert found == pytest.approx(mean.tolist(), rel=5e-3)
    assert other != pytest.approx(mean.tolist(), rel=1e-2)


@pytest.mark.parametrize("epsilon", [1.0, 3.0])
def test_points_stand_for_staircase_noise(epsilon):
    noisy, width = Staircase(epsilon), int(40 / epsilon) * 6
    around = range(-width, width + 1)
    total = int(RECORDS.sum())
    mean = sum(abs(k) * noisy.probability([total], [total + k], 6) for k in around)
    assert seen("sum", "best", epsilon).expected_error("best") == pytest.approx(mean, rel=2e-3)
    totals, mean = (total, 6 * len(RECORDS) - total), 0.0
    around = range(-width // 2, width // 2 + 1)
    for a, b in itertools.product(around, around):
        above, below = totals[0] + a, totals[1] + b
        place = 6 * above / (above + below) if above + below > 0 else 3.0
        error = abs(min(max(place, 0), 6) - total / len(RECORDS))
        mean += error * noisy.probability(totals, [above, below], 6)
    found = seen("mean", "best", epsilon, step=None).expected_error("best")
    assert found == pytest.approx(mean, rel=2e-3)


@pytest.mark.parametrize(("name", "covers"), [("median", "data"), ("median", "population")])
@pytest.mark.parametrize("epsilon", [3.0, 20.0])
def test_widths_are_those_of_the_law(name, covers, epsilon):
    given = {"interval": 0.8, "covers": covers}
    found = seen(name, "best", epsilon, **given)
    outcomes = list(listed(name, "best", epsilon, RECORDS, **given))
    width = sum((high - low) * chance for (_, low, high), chance in outcomes)
    whole = sum(chance for (_, low, high), chance in outcomes if (low, high) == (0, 6))
    error = sum(abs(value - 3) * chance for (value, *_), chance in outcomes)
    assert found.expected_width("best") == pytest.approx(width, rel=1e-9)
    assert found.too_few("best") == pytest.approx(whole, rel=1e-9)
    assert found.expected_error("best") == pytest.approx(error, rel=1e-9)


def test_widths_that_follow_from_noise():
    found = seen("count", interval=0.9, data=np.zeros(1000))
    assert found.expected_width("best") == 2 * Geometric(1.0).largest_noise(1, 0.9)
    assert found.too_few("best") == 0
    found = seen("sum", interval=0.9)
    assert found.expected_width("best") == 2 * Staircase(1.0).largest_noise(6, 0.9)


# Against releases.

RELEASED = [
    ("mean", "clipped", {}),
    ("sum", "clipped", {}),
    ("quantile", "best", {"q": 0.95}),
    ("variance", "best", {}),
    ("variance", "duff", {}),
    ("std", "best", {}),
    ("std", "duff", {}),
    ("iqr", "best", {}),
    ("slope", "best", {}),
    ("slope", "duff", {}),
    ("quantiles", "best", {}),
    ("describe", "best", {}),
    ("top", "best", {"k": 3}),
    ("top", "best", {"k": 1}),
    ("histogram", "best", {"adds_up": True}),
    ("share", "best", {"epsilon": 0.1}),
    ("median", "best", {"interval": 0.8, "epsilon": 1.5}),
    ("quantile", "duff", {"interval": 0.8, "covers": "population", "epsilon": 9.0}),
]


@pytest.mark.parametrize(("name", "choice", "more"), RELEASED)
def test_previews_agree_with_releases(name, choice, more):
    """The mean errors of seeded releases, and the widths of their intervals, are within six
    standard errors of the preview."""
    many, given = 300, {"epsilon": 1.0, **CASES[name], **more}
    data = PAIRS if name == "slope" else np.tile(RECORDS, 5)
    found = preview(data, statistic=name, mechanisms=[choice], draws=many, seed=1, **given)
    chosen = {"mechanism": choice} if len(statistic_spec(name).choices) > 1 else {}
    asked = zip(*PAIRS, strict=True) if name == "slope" else (data,)
    parameters = [given.pop(key) for key in ("q", "qs", "k", "trim") if key in given]
    rng, verb, inputs = np.random.default_rng(6), getattr(duffdp, name), [*asked, *parameters]
    rows = [verb(*inputs, rng=rng, **given, **chosen) for _ in range(many)]
    values = np.array([[float(x) for x in release.cells[0]] for release in rows])
    names = statistic_spec(name).parameter_names
    own = {key: value for key, value in {**CASES[name], **more}.items() if key in names}
    expected = [true_slope()] if name == "slope" else truths(name, data.tolist(), **own)
    twice = 2 if found.draws else 1  # both are from draws
    for place, (output, truth) in enumerate(zip(found.outputs, expected, strict=True)):
        errors = np.abs(values[:, place] - truth)
        near = 6 * math.sqrt(twice / many) * max(errors.std(), 1e-9) + 1e-3 * errors.mean()
        assert abs(errors.mean() - found.expected_error(choice, output)) < near
    if "interval" in more:
        widths = values[:, 2] - values[:, 1]
        near = 6 * widths.std() / math.sqrt(many) + 1e-3 * widths.mean()
        assert abs(widths.mean() - found.expected_width(choice)) < near


# People, groups, epsilon.


@pytest.mark.parametrize(("name", "choice"), CHOICES)
def test_rows_of_a_person_divide_epsilon(name, choice):
    """As in a release: three rows a person at epsilon 3 are one at epsilon 1."""
    one = seen(name, choice, 1.0, draws=20)
    three = seen(name, choice, 3.0, draws=20, contributions=3)
    for output in one.outputs:
        assert three.expected_error(choice, output) == pytest.approx(
            one.expected_error(choice, output), rel=1e-9
        )


def test_baselines_divide_epsilon_too():
    names = {"mechanisms": ["laplace", "smooth-pareto", "rank-exponential"]}
    one = preview(RECORDS, epsilon=1.0, **BOUNDS, **names)
    two = preview(RECORDS, epsilon=2.0, contributions=2, **BOUNDS, **names)
    for name in names["mechanisms"]:
        assert two.expected_error(name) == pytest.approx(one.expected_error(name))


def test_people_are_previewed_as_they_are_released():
    table = pl.DataFrame({"id": range(45), "x": np.tile(RECORDS, 5)})
    found = seen("median", data=np.tile(RECORDS, 5), epsilon=1.0, contributions=5)
    rng = np.random.default_rng(2)
    people = {"column": "x", "unit": "id", "contributions": 5, **BOUNDS}
    errors = [
        abs(duffdp.median(table, epsilon=1.0, rng=rng, **people).value - 3) for _ in range(400)
    ]
    near = 6 * np.std(errors) / 20
    assert abs(np.mean(errors) - found.expected_error("best")) < near
    rows = seen("median", data=np.tile(RECORDS, 5), epsilon=1.0).expected_error("best")
    assert abs(np.mean(errors) - rows) > near


def test_groups_are_as_large_as_was_said():
    for shape in ({"data": "uniform"}, {"data": "uniform", "n": 5000}, {"data": AGES}):
        found = seen("count", group_size=20, data_sets=3, **shape)
        assert len(found.laws("best")) == 3
        # it becomes 0 and no less
        assert found.error_within("best", 0.999999999) == pytest.approx(20)
    data = RNG.random(4000)
    bounds = {"bounds": (0.0, 1.0), "epsilon": 1.0}
    groups = preview(data, group_size=50, data_sets=20, **bounds).expected_error("best")
    shape = preview("uniform", n=50, data_sets=20, **bounds).expected_error("best")
    assert groups == pytest.approx(shape, rel=0.4)
    assert groups > 10 * preview(data, **bounds).expected_error("best")


GROWING = [*EXACT, ("sum", "best"), ("mean", "best"), ("histogram", "best"), ("slope", "best")]


@pytest.mark.parametrize(("name", "choice"), GROWING)
def test_errors_fall_as_epsilon_grows(name, choice):
    errors = [seen(name, choice, epsilon).expected_error(choice) for epsilon in (0.3, 1, 3, 9)]
    rounding = 0.6 if name in ("mean", "trimmed_mean") else 0  # to a candidate, and no less
    assert all(b < a + 1e-9 for a, b in itertools.pairwise(errors) if a > rounding)
    assert errors[0] > errors[-1]


@pytest.mark.parametrize(("name", "choice"), [*GROWING, ("variance", "duff"), ("std", "duff")])
def test_epsilon_for_is_the_smallest(name, choice):
    """It does, and 2 % less does not; for each of several outputs."""
    given = {"statistic": name, **CASES[name]}
    data = PAIRS if name == "slope" else np.tile(RECORDS, 20)
    within = {"share": 0.02, "slope": 0.25, "count": 4, "histogram": 4, "sum": 20}.get(name, 1)
    plan = epsilon_for(data, within=within, probability=0.9, mechanism=choice, **given)
    assert plan.draws == 0
    tails = [
        seen(name, choice, epsilon, data=data).tail(choice, within)
        for epsilon in (float(plan), 0.98 * float(plan))
    ]
    assert tails[0] <= 0.1 < tails[1]


@pytest.mark.parametrize("name", ["median", "quantile", "count", "sum"])
def test_epsilon_for_a_width(name):
    data, width = np.tile(RECORDS, 20), {"count": 9, "sum": 60}.get(name, 2.5)
    given = {"statistic": name, "interval": 0.9, **CASES[name]}
    plan = epsilon_for(data, width=width, **given)
    widths = [
        seen(name, epsilon=epsilon, data=data, interval=0.9).expected_width("best")
        for epsilon in (float(plan), 0.98 * float(plan))
    ]
    assert widths[0] <= width < widths[1]
    assert f"{width:g} wide" in str(plan)


def test_epsilon_for_what_is_simulated():
    """It does for these draws and this seed; half of it does not."""
    data = np.tile(RECORDS, 20)
    given = {"statistic": "std", "draws": 100, **BOUNDS}
    plan = epsilon_for(data, within=0.2, probability=0.8, **given)
    assert plan.draws == 100
    assert "100 seeded draws" in str(plan)
    for epsilon, enough in ((float(plan), True), (float(plan) / 2, False)):
        assert (preview(data, epsilon=epsilon, **given).tail("best", 0.2) <= 0.2) == enough


def test_one_of_several_outputs():
    given = {"statistic": "describe", "draws": 50, **BOUNDS}
    data = np.tile(RECORDS, 20)
    plan = epsilon_for(data, within=5, probability=0.9, output="count", **given)
    alone = epsilon_for(data, within=5, probability=0.9, statistic="count")
    assert 5 < float(plan) / float(alone) < 12  # it gets a fifth, and two noises
    found = preview(data, epsilon=1.0, **given)
    errors = [found.expected_error("best", output) for output in found.outputs]
    assert found.expected_error("best") == max(errors)
    assert found.tail("best", 1) == max(found.tail("best", 1, output) for output in found.outputs)
    with pytest.raises(DuffError, match="output must be one of count"):
        found.tail("best", 1, "2%")
    with pytest.raises(DuffError, match="pass one of"):
        found.laws("best")


def test_too_few_to_tell():
    found = preview("normal", n=40, epsilon=0.05, interval=0.95, bounds=(0, 100))
    assert found.too_few("best") > 0.9
    assert "too few to tell" in str(found)
    many = preview("normal", n=4000, epsilon=1.0, interval=0.95, bounds=(0, 100))
    assert many.too_few("best") < 0.01
    assert "too few" not in str(many)
    with pytest.raises(DuffError, match="the preview has no interval"):
        preview("normal", n=40, epsilon=0.1, bounds=(0, 100)).expected_width("best")


def test_dates_and_categories():
    days = [dt.date(2020, 1, 1 + i % 28) for i in range(200)]
    bounds = {"bounds": (dt.date(2019, 1, 1), dt.date(2021, 1, 1))}
    numbers = [(day - dt.date(2019, 1, 1)).days for day in days]
    same = {"bounds": (0, 731), "step": 1}
    for name in ("median", "iqr", "std", "mean"):
        dated = preview(days, epsilon=1.0, statistic=name, draws=50, **bounds)
        counted = preview(numbers, epsilon=1.0, statistic=name, draws=50, **same)
        assert dated.expected_error("best") == pytest.approx(
            counted.expected_error("best"), rel=1e-6, abs=0.6 if name == "mean" else 0
        )
    listed = {"categories": ["a", "b", "c"], "epsilon": 1.0}
    top = preview(CATEGORIES, statistic="top", k=2, **listed)
    assert top.outputs == ("top_1", "top_2")
    assert top.expected_error("best", "top_1") == pytest.approx(top.tail("best", 0, "top_1"))
    cells = preview(CATEGORIES, statistic="histogram", **listed)
    assert cells.outputs == ("a", "b", "c")
    share = preview(CATEGORIES, statistic="share", values=["a"], epsilon=1.0)
    assert 0 < share.expected_error("best") < 0.1


class Unread:
    """Data that must not be looked at."""

    def __len__(self):
        raise AssertionError("read")

    __iter__ = __array__ = __getitem__ = __len__


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"statistic": "triangles"}, "depends on the whole graph.*rng=1"),
        ({"statistic": "stars"}, "depends on the whole graph"),
        ({"statistic": "trimmed_mean"}, "trimmed_mean needs trim"),
        ({"statistic": "trimmed_mean", "trim": 0.7}, "trim must"),
        ({"statistic": "top", "k": 0}, "k must"),
        ({"colour": 3}, "median takes no colour"),
        ({"statistic": "slope", "x": "a", "y": "b"}, "slope takes no x"),
        ({"statistic": "count", "bounds": (0, 1)}, "count takes no bounds"),
        ({"contributions": 0}, "contributions must"),
        ({"interval": 2}, "interval must be a confidence"),
        ({"statistic": "std", "interval": 0.9}, "no interval is available for std"),
        ({"covers": "people", "interval": 0.9}, "covers must be"),
        ({"mechanisms": ["laplace"], "interval": 0.9}, "baseline and has no interval"),
        (
            {"mechanisms": ["smooth-laplace"], "delta": 0.1, "contributions": 2},
            "delta cannot be divided",
        ),
        (
            {"statistic": "iqr", "mechanisms": ["laplace"]},
            "'laplace' is not a mechanism of iqr. Use one of best, duff",
        ),
        ({"group_size": 0}, "group_size must be"),
        ({"group_size": 2.5}, "group_size must be"),
        ({"draws": 0}, "draws must be"),
        ({"seed": -1}, "seed must be"),
    ],
)
def test_bad_input_is_refused_before_data_are_read(arguments, text):
    given = {"epsilon": 1.0, "bounds": (0, 6)} | arguments
    with pytest.raises(DuffError, match=text):
        preview(Unread(), **given)
    if "mechanisms" not in given:
        del given["epsilon"]
        with pytest.raises(DuffError, match=text):
            epsilon_for(Unread(), within=1, probability=0.9, **given)


@pytest.mark.parametrize(
    ("wish", "text"),
    [
        ({}, "either within and probability, or width"),
        ({"within": 1, "width": 1}, "got both"),
        ({"within": 1}, "probability must"),
        ({"width": 1}, "width needs interval"),
        ({"width": 1, "interval": 0.9, "probability": 0.9}, "and not probability"),
        ({"width": -1, "interval": 0.9}, "width must be a finite number"),
    ],
)
def test_bad_wishes(wish, text):
    with pytest.raises(DuffError, match=text):
        epsilon_for(Unread(), bounds=(0, 6), **wish)


@pytest.mark.parametrize(
    ("data", "given", "text"),
    [
        (
            "normal",
            {"statistic": "slope", "bounds": (0, 1), "n": 9},
            "a list or array of public records",
        ),
        (
            "normal",
            {"statistic": "share", "values": ["a"], "n": 9},
            "a list or array of public records",
        ),
        ("normal", {"statistic": "share", "between": (0, 1), "n": 9}, "bounds are missing"),
        ([1, 2], {"bounds": (0, 9), "group_size": 3}, "more than the number of records"),
        ([1, 2], {"statistic": "slope", "bounds": (0, 9)}, "slope needs pairs of records"),
    ],
)
def test_records_that_do_not_fit(data, given, text):
    with pytest.raises(DuffError, match=text):
        preview(data, epsilon=1.0, **given)


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
def test_errors_of_any_size(scale):
    """The same in other units, where candidates are few and where they are many."""
    for step in (1.0, 2.0**-12):
        given = {"bounds": (0.0, 6 * scale), "statistic": "iqr", "epsilon": 2.0}
        found = preview(RECORDS * scale, **given, step=step * scale)
        one = preview(RECORDS * 1.0, **{**given, "bounds": (0.0, 6.0)}, step=step)
        for t in (0, 0.5, 1, 2, 1e15):
            assert found.tail("best", t * scale) == pytest.approx(one.tail("best", t), abs=1e-9)
        assert found.expected_error("best") == pytest.approx(one.expected_error("best") * scale)


def test_points_are_spread_as_the_noise_is():
    u = (np.arange(10**5) + 0.5) / 10**5
    noise = geometric_quantile(0.5, u)
    for k in range(-9, 10):
        chance = Geometric(0.5).probability(0, k)
        assert (noise == k).mean() == pytest.approx(chance, abs=2e-5)
    points = evenly_spread(2**12, 3)
    assert np.abs(points.mean(axis=1) - 0.5).max() < 1e-3
    assert np.abs(np.corrcoef(points) - np.eye(3)).max() < 1e-2


@pytest.mark.parametrize(
    ("covers", "step", "outcomes", "epsilon"),
    [("population", 0.2, 31 * 32 * 32, 3.0), ("data", 0.002, 3001 * 14, 12.0)],
)
def test_points_stand_for_outcomes_that_are_too_many(covers, step, outcomes, epsilon):
    """31 candidates and two ends, or 3,001 candidates and a width, are more than are listed."""
    given = {"interval": 0.8, "covers": covers, "step": step}
    found = seen("median", "best", epsilon, **given)
    every = list(listed("median", "best", epsilon, RECORDS, **given))
    assert len(every) == outcomes > MAX_LISTED_OUTCOMES
    width = sum((high - low) * chance for (_, low, high), chance in every)
    error = sum(abs(value - 3) * chance for (value, *_), chance in every)
    assert found.expected_width("best") == pytest.approx(width, rel=5e-3)
    assert found.expected_error("best") == pytest.approx(error, rel=5e-3)


@pytest.mark.parametrize(("name", "choice"), sorted(SIMULATED))
def test_simulated_draws_get_the_epsilon_that_a_release_gets(name, choice):
    """What samplers are given by one simulated release adds up to epsilon, divided by the rows of
    a person."""
    for contributions in (1, 4):
        with recorded() as draws:
            seen(name, choice, 2.0, draws=1, contributions=contributions)
        assert sum(draw.epsilon for draw in draws) == pytest.approx(2.0 / contributions)
