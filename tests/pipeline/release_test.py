"""The verbs: what they return, which data they take, what they refuse, and that no error tells
about data.
"""

from __future__ import annotations

import array
import datetime as dt
import math
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import numpy as np
import polars as pl
import pytest

import duffdp
from duffdp import BoundsError, Categories, DuffError, Grid, UnsupportedData

ALL = [
    duffdp.median,
    lambda data, **kw: duffdp.quantile(data, 0.25, **kw),
    duffdp.mean,
    duffdp.mode,
]
SURE = 500.0  # an epsilon at which the truth comes out


def test_what_a_release_says():
    release = duffdp.median([1, 2, 3], epsilon=0.5, bounds=(0, 10), step=1)
    assert (release.epsilon, release.delta, release.contributions) == (0.5, 0.0, 1)
    assert (release.statistic.name, release.statistic.parameters) == ("median", {})
    assert (release.unit.kind, release.unit.column) == ("row", None)
    (part,) = release.mechanism.parts
    assert (part.name, part.utility, part.epsilon) == ("lattice", "signed", Fraction(1, 2))
    assert release.domain == Grid(0, 10, 1)
    assert release.secure
    assert float(release) == release.value
    assert release.to_dict()["bounds"] == [0, 10]
    assert not duffdp.median([1], epsilon=1, bounds=(0, 10), rng=1).secure
    duff = duffdp.median([1], epsilon=1, bounds=(0, 10), mechanism="duff").mechanism
    assert (duff.asked, duff.parts[0].name, duff.parts[0].utility) == (
        "duff",
        "exponential",
        "distance",
    )
    categories = duffdp.mode(["a"], epsilon=1, categories=["a", "b"]).to_dict()["categories"]
    assert categories == ["a", "b"]
    with pytest.raises(AttributeError):
        release.value = 3


def test_facts_equal_their_text_as_in_version_0_1():
    release = duffdp.median([1, 2, 3], epsilon=0.5, bounds=(0, 10), step=1)
    assert release.statistic == "median"
    assert release.unit == "row"
    assert release.mechanism == "lattice(signed)"
    assert release.unit != "person"


def test_a_release_holds_nothing_but_the_value():
    assert set(duffdp.Release.__slots__) == {
        "value",
        "facts",
        "columns",
        "cells",
        "time",
        "version",
        "sizes",
        "noisy",
        "reading",  # rules of the call and declared types alone: see notes_test.py
    }
    release = duffdp.median([1, 2, 3], epsilon=0.5, bounds=(0, 10), step=1)
    assert release.cells == ((release.value,),)


@pytest.mark.parametrize("mechanism", ["best", "duff"])
def test_the_truth_comes_out_at_a_large_epsilon(mechanism):
    ages = np.arange(1, 102)
    given = {"epsilon": SURE, "bounds": (0, 120), "step": 1, "mechanism": mechanism}
    assert duffdp.median(ages, **given).value == 51
    assert duffdp.quantile(ages, 0.25, **given).value == 26
    assert duffdp.quantile(ages, 0, **given).value == 1
    assert duffdp.quantile(ages, 1, **given).value == 101
    assert duffdp.mean(ages, **given).value == 51
    assert duffdp.mode([5, 5, 7], **given).value == 5
    assert (
        duffdp.mode(["b", "a", "b"], epsilon=SURE, categories=["a", "b"], mechanism=mechanism).value
        == "b"
    )


def test_the_papers_mode_uses_half_of_epsilon():
    """ "duff" is the paper to the letter; "best" has twice its rate. A lead of 4 records at epsilon
    1.
    """
    data = ["a"] * 4
    share = {
        m: np.mean(
            [
                duffdp.mode(data, epsilon=1, categories=["a", "b"], mechanism=m, rng=i).value == "a"
                for i in range(2000)
            ]
        )
        for m in ("duff", "best")
    }
    assert share["duff"] == pytest.approx(1 / (1 + math.exp(-2)), abs=0.04)
    assert share["best"] == pytest.approx(1 - math.exp(-4) / 2, abs=0.02)


KINDS = [
    [1.0, 2.0, 3.0],
    (1, 2, 3),
    range(1, 4),
    array.array("d", [1, 2, 3]),
    np.array([1, 2, 3], np.int8),
    np.array([1, 2, 3], np.uint64),
    np.array([1, 2, 3], np.float32),
    np.array([1, 2, 3], np.float16),
    np.array([1.0, 2, 3], ">f8"),
    np.array([1, 9, 2, 9, 3])[::2],
    np.ma.array([1, 2, 3, 99, 98], mask=[0, 0, 0, 1, 1]),
    [Decimal(1), Decimal(2), Decimal(3)],
    [Fraction(1), 2, 3.0],
    np.array([1, 2.0, Decimal(3)], object),
    [1.0, None, 2.0, math.nan, 3.0],
    np.array([1, None, 2, 3, "text"], object),
    memoryview(b"\1\2\3"),
]


@pytest.mark.parametrize(
    "data", KINDS, ids=lambda d: f"{type(d).__name__}-{getattr(d, 'dtype', '')}"
)
def test_kinds_of_data(data):
    assert duffdp.median(data, epsilon=SURE, bounds=(0, 10), step=1).value == 2
    assert duffdp.median(data, epsilon=SURE, bounds=(0.0, 10.0), step=0.5).value == 2.0


def test_the_default_step_follows_the_declared_type():
    def kind(data, **more):
        return type(duffdp.median(data, epsilon=1, bounds=(0, 9), **more).value)

    assert kind(np.array([1, 2])) is int
    assert kind(np.array([True, False])) is int
    assert kind(np.array([1.0, 2.0])) is float
    assert kind([1, 2]) is kind([1, 2.5]) is kind([]) is kind([None]) is float
    assert kind([1, 2], step=1) is int
    assert kind(np.array([1, 2]), step=0.5) is float
    assert duffdp.median(np.array([1, 2]), epsilon=1, bounds=(0, 9)).domain.size == 10


def test_dates_and_times():
    days = [dt.date(2024, 3, d) for d in range(1, 32)]
    bounds = (dt.date(2024, 1, 1), dt.date(2024, 12, 31))
    for data in (
        days,
        np.array(days, dtype="M8[D]"),
        np.array(days, dtype="M8[ns]"),
        np.array([*days, "NaT"], dtype="M8[s]"),
    ):
        assert duffdp.median(data, epsilon=SURE, bounds=bounds).value == dt.date(2024, 3, 16)
    noon = (dt.datetime(2024, 1, 1), dt.datetime(2025, 1, 1))
    times = np.array(days, dtype="M8[D]").astype("M8[ms]") + np.timedelta64(12, "h")
    assert duffdp.median(times, epsilon=SURE, bounds=noon, step=3600).value == dt.datetime(
        2024, 3, 16, 12
    )
    assert duffdp.mean(days * 40, epsilon=SURE, bounds=bounds).value == dt.date(2024, 3, 16)
    assert duffdp.mode([*days, days[4]], epsilon=SURE, bounds=bounds).value == days[4]


@pytest.mark.parametrize("verb", ALL)
def test_what_is_never_an_error(verb):
    """Missing, infinite, outside, empty, of another kind: dropped or clamped one by one, and a
    value comes out.
    """
    for data in (
        [],
        [None],
        [math.nan],
        [math.inf, -math.inf],
        [1e300, -1e300, 5],
        [10**400, 3],
        np.array([]),
        [None, "x", 4.0, object()],
    ):
        release = verb(data, epsilon=1.0, bounds=(0, 9), step=1)
        assert release.value in range(10)
    assert (
        duffdp.mode(
            ["z", None, 5, ["unhashable"], math.nan], epsilon=1, categories=["a", "b"]
        ).value
        in "ab"
    )


def test_clamping():
    assert (
        duffdp.mode([math.inf, math.inf, -math.inf], epsilon=SURE, bounds=(0, 9), step=1).value == 9
    )
    assert duffdp.mode(np.array([99, 98, -5]), epsilon=SURE, bounds=(0, 9)).value == 9
    assert (
        duffdp.mode(
            np.array([2**63 + 5, 2**64 - 1, 0], np.uint64), epsilon=SURE, bounds=(0, 9)
        ).value
        == 9
    )
    assert duffdp.mean([1e300] * 300, epsilon=SURE, bounds=(0, 9), step=1).value == 9


BAD = [
    ({"epsilon": 0}, DuffError, "epsilon"),
    ({"epsilon": -1}, DuffError, "epsilon"),
    ({"epsilon": math.nan}, DuffError, "epsilon"),
    ({"epsilon": math.inf}, DuffError, "epsilon"),
    ({"epsilon": "1"}, DuffError, "epsilon"),
    ({"epsilon": None}, DuffError, "epsilon"),
    ({"epsilon": True}, DuffError, "epsilon"),
    ({"epsilon": [1]}, DuffError, "epsilon"),
    ({"bounds": (9, 0)}, BoundsError, "below"),
    ({"bounds": (1, 1)}, BoundsError, "below"),
    ({"bounds": (math.nan, 1)}, BoundsError, "finite"),
    ({"bounds": (0, math.inf)}, BoundsError, "finite"),
    ({"bounds": None}, BoundsError, "bounds"),
    ({"bounds": 5}, BoundsError, "pair"),
    ({"bounds": (1, 2, 3)}, BoundsError, "pair"),
    ({"bounds": ([0], [1])}, BoundsError, "finite"),
    ({"bounds": "09"}, BoundsError, "finite"),
    ({"step": 0}, BoundsError, "step"),
    ({"step": -1}, BoundsError, "step"),
    ({"step": 99}, BoundsError, "step"),
    ({"step": 1e-30}, BoundsError, r"2\*\*62 values"),
    ({"mechanism": "laplace"}, DuffError, "mechanism"),
    ({"mechanism": None}, DuffError, "mechanism"),
    ({"mechanism": ["best"]}, DuffError, "mechanism"),
    ({"rng": "seed"}, DuffError, "rng"),
]


class Untouchable:
    """Data that fail a test when they are looked at."""

    def __len__(self):
        raise AssertionError("data were read before the parameters were checked")

    def __array__(self, *_):
        raise AssertionError("data were read before the parameters were checked")


@pytest.mark.parametrize("verb", ALL)
@pytest.mark.parametrize(("change", "kind", "word"), BAD, ids=repr)
def test_bad_parameters_before_data(verb, change, kind, word):
    with pytest.raises(kind, match=word) as caught:
        verb(Untouchable(), **{"epsilon": 1.0, "bounds": (0, 9), "step": 1} | change)
    assert isinstance(caught.value, ValueError)
    assert str(caught.value).endswith(".")


@pytest.mark.parametrize("q", [-0.1, 1.1, math.nan, "0.5", None, True, [1.5], {}])
def test_bad_q(q):
    with pytest.raises(DuffError, match="q must be"):
        duffdp.quantile(Untouchable(), q, epsilon=1, bounds=(0, 9))


def test_missing_parameters():
    with pytest.raises(BoundsError, match="bounds"):
        duffdp.median(Untouchable(), epsilon=1)
    with pytest.raises(TypeError, match="epsilon"):
        duffdp.median(Untouchable(), bounds=(0, 9))
    for wrong in ({}, {"bounds": (0, 9), "categories": ["a"]}):
        with pytest.raises(BoundsError, match="either"):
            duffdp.mode(Untouchable(), epsilon=1, **wrong)
    for wrong in ([], ["a", "a"], "abc"):
        with pytest.raises(BoundsError, match="categories"):
            duffdp.mode(Untouchable(), epsilon=1, categories=wrong)


@pytest.mark.parametrize("verb", ALL)
@pytest.mark.parametrize(
    "data",
    [
        np.ones((2, 2)),
        np.array(["a", "b"]),
        "12",
        b"12",
        None,
        5,
        {1, 2},
        {"a": 1},
        np.array([1j]),
        np.array([1], "m8[s]"),
        np.array(3.0),
        np.array([1], "M8[D]"),
        (x for x in [1]),
    ],
    ids=lambda data: f"{type(data).__name__}-{getattr(data, 'dtype', '')}",
)
def test_data_of_the_wrong_kind(verb, data):
    with pytest.raises(UnsupportedData) as caught:
        verb(data, epsilon=1, bounds=(0, 9), step=1)
    assert "'a'" not in str(caught.value)


def test_numbers_for_dates():
    with pytest.raises(UnsupportedData, match="dates"):
        duffdp.median(np.array([1.0]), epsilon=1, bounds=(dt.date(2024, 1, 1), dt.date(2025, 1, 1)))


def test_one_record_never_decides_about_an_error():
    """Neighbours of a data set are accepted or refused together: no record's value or type turns an
    answer into an error.
    """
    odd = [
        math.nan,
        None,
        math.inf,
        -math.inf,
        10**400,
        1e308,
        "x",
        b"x",
        object(),
        [1],
        dt.date(2024, 1, 1),
        True,
        Decimal("sNaN"),
        1j,
    ]
    for verb in ALL:
        for record in odd:
            assert verb([1.0, 2.0, record], epsilon=1, bounds=(0, 9), step=1).value in range(10)
            assert verb(
                np.array([1.0, 2.0, record], dtype=object), epsilon=1, bounds=(0, 9), step=1
            ).value in range(10)
    for record in odd:
        assert duffdp.mode(["a", record], epsilon=1, categories=["a", "b"]).value in "ab"


def test_errors_do_not_quote_data():
    secret = 73.125
    for data in (np.full((3, 3), secret), np.array([str(secret)] * 3)):
        with pytest.raises(UnsupportedData) as caught:
            duffdp.median(data, epsilon=1, bounds=(0, 100))
        assert "73" not in str(caught.value)


def test_grid_and_categories_objects():
    assert duffdp.median([1, 2, 3], epsilon=SURE, bounds=Grid(0, 9, 1)).value == 2
    assert duffdp.mode(["a"], epsilon=SURE, categories=Categories(["a", "b"])).value == "a"


def test_data_are_not_changed():
    data = np.array([3.0, 1.0, 2.0, np.nan])
    before = data.copy()
    for verb in ALL:
        verb(data, epsilon=1, bounds=(0, 9))
    assert np.array_equal(data, before, equal_nan=True)
    integers = np.array([5, 3, 4])
    for verb in ALL:
        verb(integers, epsilon=1, bounds=(0, 9))
    assert integers.tolist() == [5, 3, 4]


@pytest.mark.parametrize("epsilon", [1e-320, 5e-324, 10**400, 1e308, Fraction(1, 10**400)])
def test_an_epsilon_beyond_doubles(epsilon):
    for verb in (duffdp.median, duffdp.mean):
        with pytest.raises(DuffError, match="epsilon must be"):
            verb([1.0, 2.0], epsilon=epsilon, bounds=(0, 9))


@pytest.mark.parametrize("epsilon", [1e-11, 1e9])
def test_the_least_and_the_largest_epsilon(epsilon):
    for verb in (duffdp.median, duffdp.mean, duffdp.describe):
        assert verb([1.0, 2.0, 3.0], epsilon=epsilon, bounds=(0, 9), step=1).epsilon == epsilon
    several = duffdp.quantiles(range(10**5), [0.1, 0.9], epsilon=1e9, bounds=(0, 10**5), step=1)
    assert several.value == pytest.approx([9999.5, 89999.5], abs=1)


def test_a_statistic_of_ones_own_gets_numbers_of_python():
    """Those of numpy would overflow in its sums, for some records and not for others."""
    seen = []

    class Largest:
        def steps(self, values, domain):
            seen.append(values)
            return duffdp.statistics.Quantile(1).steps(values, domain)

    for data in (np.array([3, 1, 3]), [3, 1, 3], pl.DataFrame({"x": [3, 1, 3]})):
        column = "x" if isinstance(data, pl.DataFrame) else None
        duffdp.release(Largest(), data, column=column, epsilon=1.0, bounds=(0, 2**61), step=1)
    assert seen == [[1, 3, 3]] * 3
    assert {type(value) for values in seen for value in values} == {int}


@pytest.mark.parametrize("field", [{"rate": Fraction(1)}, {"unit": Fraction(1, 2)}])
def test_no_group_is_drawn_for_at_the_rate_of_another(field):
    """A statistic whose rate follows from records: the group without any would decide for all."""

    class Hasty:
        def steps(self, values, domain):
            steps = duffdp.statistics.Median().steps(values, domain)
            return steps if values else replace(steps, **field)

    data = pl.DataFrame({"x": [3, 1, 3], "g": ["b"] * 3})
    options = {"column": "x", "by": "g", "epsilon": 1.0, "bounds": (0, 9), "step": 1}
    with pytest.raises(DuffError, match="one unit and one rate"):
        duffdp.release(Hasty(), data, keys=["a", "b"], **options)


@pytest.mark.parametrize("library", ["polars", "pandas", "pyarrow"])
def test_sums_and_means_of_decimals_fit_a_column(library):
    """A default step has a binary fraction of 36 decimals: a column has room for 38 digits."""
    frame = pl.DataFrame({"g": ["a", "b"], "x": [Decimal("1.25"), Decimal("9.99")]})
    data = {"polars": frame, "pandas": frame.to_pandas(), "pyarrow": frame.to_arrow()}[library]
    given = {"column": "x", "by": "g", "keys": ["a", "b"], "bounds": (Decimal(0), Decimal(10))}
    for epsilon in (1e-3, 1, 1e3):
        total = duffdp.sum(data, epsilon=epsilon, interval=0.95, **given)
        duffdp.mean(data, epsilon=epsilon, interval=0.95, **given).to_polars()
        for shown, exact in zip(total.to_polars()["sum"], total.cells, strict=True):
            assert abs(shown - exact[0]) < Decimal("1e-15")
    wide = given | {"bounds": (Decimal(0), Decimal(10) ** 40)}
    assert duffdp.sum(data, epsilon=1, **wide).to_polars()["sum"].dtype == pl.Float64
