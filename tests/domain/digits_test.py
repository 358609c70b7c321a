"""Numbers with so many significant digits: one number, an array and a column of every engine
against exact fractions, and what is released, said and refused of them."""

from __future__ import annotations

import json
import math
import sys
import warnings
from bisect import bisect_right
from decimal import Decimal
from fractions import Fraction

import duckdb
import narwhals as nw
import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import duffdp
from duffdp import BoundsError, Digits, DuffError, Release, StepFunction
from duffdp._engines.queries.expressions import reaches_expression, snap_expression
from duffdp._engines.requests import ColumnRequest, RankAt
from duffdp.audit.neighbours import largest_loss
from duffdp.mechanisms import Exponential, PermuteAndFlip
from duffdp.statistics import Median, Mode, Quantile
from engines import ENGINES, SLOW, open_groups
from inquiries import engine_of, groups_of

DOMAINS = [
    Digits(3),
    Digits(1),
    Digits(2, smallest=0.5, largest=700),
    Digits(1, smallest=7, largest=9),
    Digits(2, smallest=95, largest=110),
    Digits(3, smallest=1e6, largest=1e7),
    Digits(5, smallest=1e-290, largest=1e-280),
    Digits(4, smallest=1e300, largest=1e308),
    Digits(12, smallest=1e-290, largest=1e308),
    Digits(1, smallest=Fraction(1, 5), largest=Decimal("0.3")),
]
HALVES = [9.995, 99.95, 0.9995, 0.995, 1.005, 1.015, 999.5, 999.4999999999999, 12.345, 0.25, 4.5]
NASTY = [0.0, 5e-324, 2.2e-308, 1e-9, 5e-10, 4.999999999999999e-10, 1e12, 9.995e11, 0.1 + 0.2]
NASTY += [2.0**53, 2.0**53 + 2, 2.0**63, 1e22, 1e23, 1e308, sys.float_info.max, math.inf, *HALVES]
INTS = [0, 1, 5, 995, 9995, 99950, 1005, 999499999999, 999500000000, 10**12 + 1, 10**18 - 1]
INTS += [2**53 - 1, 2**53 + 1, 2**54 + 2, 2**62 + 1, 2**63 - 1]


def signed(numbers):
    return [*numbers, *(-number for number in numbers)]


def candidates(domain):
    """By their definition, in fractions: all numbers whose digits are few, in order."""
    low, high = (Fraction(repr(end)) for end in (domain.smallest, domain.largest))
    found = {Fraction(0)}
    for power in range(math.floor(math.log10(low)) - 1, math.ceil(math.log10(high)) + 1):
        unit = Fraction(10) ** (power - domain.digits + 1)
        many = (unit * m for m in range(10 ** (domain.digits - 1), 10**domain.digits))
        found |= {sign * number for number in many if low <= number <= high for sign in (1, -1)}
    return sorted(found)


def near(numbers):
    """The numbers and the doubles on both sides of them."""
    found = {math.nextafter(x, side) for x in numbers for side in (-math.inf, math.inf)}
    return sorted(found | set(numbers))


def edges(domain):
    """Doubles around candidates, and around the middle between two of them."""
    places = {0, 1, domain.size // 3, domain.size // 2, domain.size - 2}
    places |= {int(s) + more for s in domain.stretches()[:40] for more in (-2, -1, 0, 1, 2)}
    places = sorted(place for place in places if 0 <= place < domain.size - 1)
    values = [domain.value(place) for place in places]
    halves = [a / 2 + domain.value(p + 1) / 2 for a, p in zip(values, places, strict=True)]
    return near([*values, *halves, *signed(NASTY), domain.value(domain.size - 1)])


@pytest.mark.parametrize("domain", [d for d in DOMAINS if d.size < 10**5], ids=repr)
def test_candidates_are_all_numbers_with_so_many_digits(domain):
    wanted = candidates(domain)
    assert domain.size == len(domain) == len(wanted)
    found = domain.values(range(domain.size))
    assert found.tolist() == [float(number) for number in wanted]
    assert domain.snap(found).tolist() == list(range(domain.size))
    assert [domain.find(value) for value in found.tolist()] == list(range(domain.size))


def test_900_candidates_a_decade():
    assert Digits(3).size == 2 * 21 * 900 + 3  # both signs; zero and the two last ones
    assert Digits(3, 1, 10).size == 2 * 900 + 3
    assert [Digits(3).value(i) for i in (0, 18901, 18902)] == [-1e12, 0.0, 1e-9]


@pytest.mark.parametrize("domain", DOMAINS, ids=repr)
def test_a_number_goes_to_the_nearest_candidate(domain):
    """By exact fractions, up to the rounding of one division in doubles; in order, and the same for
    one number and for an array."""
    keys = edges(domain)
    with warnings.catch_warnings(), np.errstate(all="raise"):
        warnings.simplefilter("error")
        found = domain.snap(np.array(keys)).tolist()
    assert found == [domain.record_index(key) for key in keys] == sorted(found)
    assert (found[0], found[-1]) == (0, domain.size - 1)
    for key, index in zip(keys, found, strict=True):
        inside = Fraction(min(max(key, domain.lower), domain.upper))
        here = abs(Fraction(domain.value(index)) - inside)
        others = [i for i in (index - 1, index + 1) if 0 <= i < domain.size]
        slack = Fraction(4 * math.ulp(float(inside)))
        assert all(here <= abs(Fraction(domain.value(i)) - inside) + slack for i in others)


def test_ties_go_away_from_zero():
    domain = Digits(2, smallest=1, largest=1e6)
    for number, rounded in ((10.5, 11), (125, 130), (0.5, 1), (0.499, 0), (99.5, 100), (995, 1000)):
        assert domain.value(domain.index(number)) == rounded
        assert domain.value(domain.index(-number)) == -rounded


@settings(max_examples=300, deadline=None)
@given(
    digits=st.integers(1, 12),
    powers=st.tuples(st.integers(-290, 307), st.integers(1, 30)),
    keys=st.lists(st.floats(allow_nan=False), min_size=1, max_size=20),
)
def test_random_numbers_keep_their_order(digits, powers, keys):
    low, more = powers
    domain = Digits(digits, Fraction(10) ** low, Fraction(10) ** min(low + more, 308))
    keys = sorted([*keys, *(k * 10.0 ** max(-307, low) for k in keys if abs(k) < 1e3)])
    found = domain.snap(np.array(keys)).tolist()
    assert found == [domain.record_index(key) for key in keys] == sorted(found)
    mirrored = [domain.record_index(-key) for key in keys]
    assert [a + b for a, b in zip(found, mirrored, strict=True)] == [domain.size - 1] * len(keys)


@pytest.mark.parametrize("domain", DOMAINS, ids=repr)
def test_thresholds_are_the_least_keys(domain):
    assert domain.threshold(0, False) == -math.inf
    assert domain.threshold(domain.size, False) is None
    places = [1, 2, domain.size // 3, domain.size // 2, domain.size // 2 + 1, domain.size - 1]
    for index in places:
        least = domain.threshold(index, False)
        assert (
            domain.record_index(least)
            >= index
            > domain.record_index(math.nextafter(least, -math.inf))
        )


def placed(frame, domain, kind):
    """What an engine makes of column x, in order: its index, and whether it reaches some others."""
    rows = nw.from_native(frame)
    column = nw.col("x")
    asked = {"index": snap_expression(nw, column, kind, domain)}
    asked["bucket"] = snap_expression(nw, column, kind, domain, 3)
    for index in (1, domain.size // 2, domain.size // 2 + 1, domain.size - 1):
        asked[str(index)] = reaches_expression(nw, column, kind, domain, index)
    columns = [expression.alias(name) for name, expression in asked.items()]
    return rows.select("i", *columns).lazy().collect().to_polars().sort("i").drop("i").to_dict()


@pytest.mark.parametrize("domain", DOMAINS, ids=repr)
def test_columns_are_snapped_as_arrays_are(domain):
    keys = edges(domain)
    frame = pl.DataFrame({"x": keys}).with_row_index("i")
    wanted = domain.snap(np.array(keys))
    for native in (frame.lazy(), duckdb.connect().from_arrow(frame.to_arrow())):
        found = placed(native, domain, nw.Float64)
        assert found.pop("index").to_list() == wanted.tolist()
        assert found.pop("bucket").to_list() == (wanted - wanted % 8).tolist()
        for index, reached in found.items():
            assert reached.to_list() == (wanted >= int(index)).tolist()


KINDS = {
    "doubles": (pa.float64(), [*signed(near(NASTY[:-1])), math.inf, -math.inf, None]),
    "integers": (pa.int64(), [*signed(INTS), -(2**63), None]),
    "decimals": (
        pa.decimal128(20, 6),
        [Decimal(x) for x in ("9.995", "-1.005", "0.0005", "123456789012.5", "0", "999.5")],
    ),
    "cents": (pa.decimal128(9, 2), [None, *(Decimal(i) / 100 for i in range(-999, 1000, 3))]),
    "long decimals": (
        pa.decimal128(20, 16),
        [None, *(Decimal(5 + 10 * i) / 10**k for i in range(-999, 999, 40) for k in (3, 4, 5))],
    ),
    "short": (pa.float32(), [float(np.float32(x)) for x in signed(HALVES)]),
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_engine_agrees_bit_by_bit(engine, kind):
    """Every engine counts every type; the slow ones are asked for ranks of doubles alone, as the
    expressions that ranks are made of are those of the counts.
    """
    domain = Digits(3)
    dtype, values = KINDS[kind]
    wanted = sorted(domain.record_index(value) for value in values if value is not None)
    (group,) = open_groups(ENGINES[engine]({"x": (dtype, values)}), domain, "x")
    if engine not in SLOW or kind == "doubles":
        (ranks,) = group.ranks((Fraction(1, 2), 3))
        places = ranks.values.tolist()
        assert ranks.counts.tolist() == [wanted.count(at) for at in places]
        places = places[:: len(places) // 40 + 1]
        asked = [ColumnRequest(0, np.array([0]), RankAt(at)) for at in places]  # in one round
        found = [answer[0] for answer in group.engine.answer(asked)]
        assert found == [(sum(x < at for x in wanted), wanted.count(at)) for at in places]
    index, count = group.value_counts()  # last: it would answer the others
    assert np.repeat(index, count).tolist() == wanted


def test_text_files_agree(tmp_path):
    values = [*signed(near(NASTY[:-1])), math.inf, -math.inf]
    domain = Digits(3)
    wanted = sorted(map(domain.record_index, values))
    (tmp_path / "x.csv").write_text("\n".join(["x", *map(repr, values), "", "word"]))
    (tmp_path / "x.jsonl").write_text("\n".join(json.dumps({"x": v}) for v in values[:-2]))
    (group,) = open_groups(tmp_path / "x.csv", domain, "x")
    index, count = group.value_counts()
    assert np.repeat(index, count).tolist() == wanted
    (group,) = open_groups(tmp_path / "x.jsonl", domain, "x")
    index, count = group.value_counts()
    assert np.repeat(index, count).tolist() == sorted(map(domain.record_index, values[:-2]))


def test_a_list_is_read_record_by_record():
    strange = [10**400, -(10**400), True, Fraction(1, 3), Decimal("NaN"), None, "7", 2**64, np.inf]
    (group,) = groups_of(engine_of([[*strange, *signed(INTS), *HALVES]], domain := Digits(3)))
    index, count = group.value_counts()
    kept = [domain.record_index(record) for record in [*strange, *signed(INTS), *HALVES]]
    assert np.repeat(index, count).tolist() == sorted(place for place in kept if place >= 0)
    assert kept.count(-1) == 3


@pytest.mark.parametrize("sampled", [False, True])
def test_large_tables_in_the_engine(sampled):
    """Through buckets, and through a sample that brackets the rank."""
    x = np.exp(np.random.default_rng(5).normal(3, 4, 400_000 if sampled else 20_000))
    x[::3] *= -1
    domain, connection = Digits(4), duckdb.connect()
    connection.register("given", pa.table({"x": x}))
    connection.execute("CREATE TABLE numbers AS SELECT * FROM given")
    target = Fraction(1, 3), 20
    (group,) = open_groups(connection.table("numbers"), domain, "x")
    (found,) = group.ranks(target)
    (wanted,) = groups_of(engine_of([x], domain))[0].ranks(target)
    for place in found.values[1:-1].tolist():
        assert place in wanted.values
    centre = math.floor(target[0] * len(x))
    ranked = np.sort(domain.snap(x))
    upto = np.cumsum(found.counts) + found.below
    assert found.values[bisect_right(upto.tolist(), centre)] == ranked[centre]


# What is released.


def test_a_median_without_bounds():
    incomes = np.random.default_rng(1).lognormal(10, 1, 5000)
    release = duffdp.median(incomes, epsilon=1.0, bounds=Digits(3), rng=1)
    assert abs(release.value - np.median(incomes)) < 2000
    assert float(f"{release.value:.3g}") == release.value
    assert release.domain == Digits(3)
    assert release.domain.parameters() == {"digits": 3, "smallest": 1e-9, "largest": 1e12}
    assert release.distance_bound() == 25


CALLS = {
    "median": lambda data, **given: duffdp.median(data, **given),
    "quantile": lambda data, **given: duffdp.quantile(data, 0.9, **given),
    "quantiles": lambda data, **given: duffdp.quantiles(data, [0.25, 0.75], **given),
    "describe": lambda data, **given: duffdp.describe(data, **given),
    "mode": lambda data, **given: duffdp.mode(data, **given),
    "top": lambda data, **given: duffdp.top(data, 2, **given),
    "interval": lambda data, **given: duffdp.median(data, interval=0.9, **given),
    "own": lambda data, **given: duffdp.release(Quantile(0.3, "rank"), data, **given),
}
FRAME = pl.DataFrame({"x": [1.5, 2.718281828, 1e5] * 50, "g": ["u", "v", "w"] * 50})


@pytest.mark.parametrize("name", CALLS)
def test_what_asks_for_order_takes_digits(name):
    options = {"epsilon": 50.0, "bounds": Digits(2), "column": "x"}
    release = CALLS[name](FRAME, **options)
    candidate = [
        value
        for row in release.cells
        for value, column in zip(row, release.columns, strict=True)
        if column.kind == "candidate"
    ]
    assert candidate
    assert all(Digits(2).find(value) is not None for value in candidate)
    back = Release.from_dict(json.loads(release.to_json()))
    assert back == release
    assert back.domain == Digits(2)
    assert "Digits" not in release.to_json()
    by = CALLS[name](FRAME, **options, by="g", keys=["u", "v"])
    assert len(by.cells) == 2


REFUSED = {
    "mean": lambda data, **given: duffdp.mean(data, **given),
    "sum": lambda data, **given: duffdp.sum(data, **given),
    "std": lambda data, **given: duffdp.std(data, **given),
    "variance": lambda data, **given: duffdp.variance(data, **given),
    "iqr": lambda data, **given: duffdp.iqr(data, **given),
    "trimmed_mean": lambda data, **given: duffdp.trimmed_mean(data, 0.1, **given),
    "slope": lambda data, **given: duffdp.slope(data, data, **given),
    "own": lambda data, **given: duffdp.release(duffdp.statistics.Mean(), data, **given),
}


class Unread:
    """Data that must not be looked at."""

    def __getattr__(self, name):
        raise AssertionError(name)


@pytest.mark.parametrize("name", REFUSED)
def test_what_needs_lengths_refuses_digits_before_data_are_read(name):
    with pytest.raises(
        BoundsError, match=r"evenly spaced possible answers, got Digits\(3\).*median"
    ):
        REFUSED[name](Unread(), epsilon=1.0, bounds=Digits(3))


def test_every_statistic_says_whether_it_takes_digits():
    from duffdp.statistics.registry import REGISTRY

    on_grids = {entry.name for entry in REGISTRY.values() if entry.outputs.startswith("grid")}
    taken = {entry.name for entry in REGISTRY.values() if entry.allows_uneven_grid}
    assert taken == set(CALLS) - {"own", "interval"}
    assert on_grids - taken - {"distribution"} == set(REFUSED) - {"own"}
    with pytest.raises(BoundsError, match="distribution needs evenly spaced"):
        duffdp.distribution([1.0, 2.0], epsilon=1.0, bounds=Digits(3))


class Middle:
    """A statistic of somebody's own that asks for order alone."""

    uneven = True

    def steps(self, values, domain):
        inner = Median().steps(values, domain)
        return StepFunction(domain, inner.start, inner.count, inner.distance)


def test_a_statistic_of_ones_own_may_take_digits():
    released = duffdp.release(Middle(), [3.14159] * 99, epsilon=9.0, bounds=Digits(2))
    assert released.value == 3.1


@pytest.mark.parametrize("mechanism", [Exponential, PermuteAndFlip])
@pytest.mark.parametrize("statistic", [Median("signed"), Quantile(0.9), Mode()], ids=repr)
def test_loss_is_at_most_epsilon(statistic, mechanism):
    """All neighbours among small data sets of numbers that digits tell apart."""
    domain = Digits(1, smallest=1, largest=3)
    assert largest_loss(statistic, mechanism(1.0), domain=domain) <= 1 + 1e-9


def test_two_records_that_one_candidate_stands_for_are_the_same():
    here = Median().steps([1.234, 5.0, 7.0], Digits(2))
    there = Median().steps([1.2340001, 5.0, 7.0], Digits(2))
    for a, b in zip((here.start, here.count), (there.start, there.count), strict=True):
        assert a.tolist() == b.tolist()


@pytest.mark.parametrize("mechanism", [Exponential, PermuteAndFlip])
def test_errors_are_sums_over_all_candidates(mechanism):
    domain = Digits(1, smallest=0.1, largest=200)
    law = mechanism(0.8).law(Median().steps([0.13, 2.0, 2.2, 7.5, -30.0], domain))
    values = domain.values(range(domain.size))
    p = np.array([law.probability(value) for value in values.tolist()])
    assert p.sum() == pytest.approx(1, abs=1e-12)
    for target in (0, 2, 2.1, 0.15, -0.05, 200, -200, 1000, -1e9):
        away = np.abs(values - target)
        assert law.expected_error(target) == pytest.approx(np.dot(p, away), rel=1e-9)
        for t in (0, 0.1, 1, 3.3, 250):
            wanted = p[away > t * (1 + 1e-12) + 1e-12].sum()
            assert law.tail(target, t) == pytest.approx(wanted, abs=1e-12)


def test_planning_knows_them():
    records = np.random.default_rng(2).lognormal(3, 1, 300)
    seen = duffdp.preview(records, epsilon=1.0, bounds=Digits(3))
    assert 0 < seen.expected_error("best") < seen.expected_error("duff") < 5
    with pytest.raises(DuffError, match="evenly spaced"):
        duffdp.preview(records, epsilon=1.0, bounds=Digits(3), mechanisms=["laplace"])
    with pytest.raises(BoundsError, match="evenly spaced"):
        duffdp.preview(records, epsilon=1.0, bounds=Digits(3), statistic="mean")
    with pytest.raises(BoundsError, match="named distribution"):
        duffdp.preview("normal", n=10, epsilon=1.0, bounds=Digits(3))


WRONG = [
    ((0,), "digits must be a whole number from 1 to 12, got 0"),
    ((13,), "got 13"),
    ((2.0,), "got 2.0"),
    ((True,), "got True"),
    (("3",), "got '3'"),
    ((3, 0, 1), "smallest must be a number above 0"),
    ((3, -1, 1), "smallest"),
    ((3, 1e-300, 1), "smallest"),
    ((3, 1, math.inf), "largest"),
    ((3, 1, None), "largest"),
    ((3, 1.234, 10), "at most 3 significant digits, got 1.234"),
    ((1, 1, 25), "at most 1 significant digits"),
    ((3, 10, 10), "below largest"),
    ((3, 10, 1), "swapped"),
]


@pytest.mark.parametrize(("arguments", "told"), WRONG, ids=repr)
def test_what_makes_no_digits(arguments, told):
    with pytest.raises(BoundsError, match=told):
        Digits(*arguments)


def test_digits_have_no_step():
    with pytest.raises(BoundsError, match=r"Digits\(3\) has no step, got step=1"):
        duffdp.median([1], epsilon=1, bounds=Digits(3), step=1)


def test_their_words():
    assert repr(Digits(3)) == "Digits(3)"
    assert repr(Digits(2, 1, 100)) == "Digits(2, smallest=1.0, largest=100.0)"
    assert eval(repr(Digits(2, 1, 100))) == Digits(2, 1, 100) == Digits(np.int64(2), 1.0, 1e2)
    assert Digits(2) != Digits(3)
    assert len({Digits(3), Digits(3, 1e-9, 1e12)}) == 1
    with pytest.raises(BoundsError, match="expected a number"):
        Digits(3).index("x")
    assert Digits(3).find("x") is None
    assert Digits(3).find(1.234) is None


# The command line, plans and pages.


@pytest.fixture
def amounts(tmp_path):
    path = tmp_path / "amounts.csv"
    path.write_text(
        "\n".join(["cost,ward", *(f"{12.34 + i / 100},{'ab'[i % 2]}" for i in range(60))])
    )
    return path


def test_the_command_takes_digits(amounts, tmp_path, call):
    page = tmp_path / "page.md"
    line = ("median", amounts, "-c", "cost", "-e", "80", "--digits", "2")
    code, out, _ = call(*line, "-f", "json", "--report", page)
    assert code == 0
    told = json.loads(out)
    assert (told["digits"], told["smallest"], told["largest"]) == (2, 1e-9, 1e12)
    assert told["value"] in (12.0, 13.0)
    assert (
        "numbers of either sign with 2 significant digits from 1e-09 to 1e+12" in page.read_text()
    )
    assert call(*line, "--interval", "0.9")[0] == 0
    assert call("mode", amounts, "-c", "cost", "-e", "9", "--digits", "1", "-f", "csv")[0] == 0
    grouped = (*line, "--by", "ward", "--keys", "a,b", "--report", tmp_path / "page.html")
    assert call(*grouped)[0] == 0
    assert "<svg" in (tmp_path / "page.html").read_text()
    assert call("preview", amounts, "-c", "cost", "-e", "1", "--digits", "2")[0] == 0


def test_the_command_says_what_is_missing_or_too_much(amounts, call):
    line = ("median", amounts, "-c", "cost", "-e", "1")
    for more, word in (
        ((), "--bounds 0 120, or --digits 3"),
        (("--digits", "2", "--bounds", "0", "1"), "Pass one of them"),
        (("--digits", "99"), "from 1 to 12"),
        (("--digits", "2", "--step", "1"), "has no step, got --step 1"),
    ):
        code, _, told = call(*line, *more)
        assert code == 2
        assert word in told


def test_plans_take_digits(amounts, tmp_path):
    plan = tmp_path / "plan.toml"
    plan.write_text(
        f'source = "{amounts}"\nepsilon = 80\n[[release]]\nstatistic = "median"\n'
        'column = "cost"\ndigits = 2\n'
    )
    (release,) = duffdp.Plan.from_toml(plan).run().values()
    assert release.domain == Digits(2)
    one = {"statistic": "median", "column": "cost", "digits": 2}
    with pytest.raises(BoundsError, match="bounds and digits"):
        duffdp.Plan([{**one, "bounds": (0, 1)}], epsilon=1)
    with pytest.raises(BoundsError, match="release 1 of the plan: mean needs evenly"):
        duffdp.Plan([{**one, "statistic": "mean"}], epsilon=1)
    with pytest.raises(BoundsError, match="whole number from 1 to 12"):
        duffdp.Plan([{**one, "digits": "many"}], epsilon=1)


def test_a_ledger_keeps_them(tmp_path):
    ledger = duffdp.Ledger(tmp_path / "budget.db", epsilon=10)
    duffdp.median([1.0], epsilon=1, bounds=Digits(3), ledger=ledger)
    (charge,) = ledger.charges()
    assert (charge["digits"], charge["smallest"], charge["largest"]) == (3, 1e-9, 1e12)


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0, "0"), (1230.0, "1,230"), (-0.00123, "-0.00123"), (1e12, "1,000,000,000,000")],
)
def test_values_are_written_with_their_digits(value, text):
    from duffdp.report.formats import candidate_text

    assert candidate_text(value, Digits(3)) == text
    assert candidate_text(1.23e-9, Digits(3)) == "1.23e-09"
