"""Bins: one number, an array and a column of an engine against the definition, at the edges of
every type; and what makes no bins."""

from __future__ import annotations

import datetime as dt
import math
import warnings
from decimal import Decimal
from fractions import Fraction

import duckdb
import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import duffdp
from duffdp import Bins, BoundsError, Categories, DuffError, histogram
from duffdp._engines.arrays import value_counts
from duffdp._engines.queries.expressions import bin_expression
from duffdp.domain import Membership, Presence

INF = math.inf
INT64, UINT64 = (-(2**63), 2**63 - 1), (0, 2**64 - 1)
EDGES = [
    [0, 18, 65, 120],
    [0, 1],
    [-INF, 0, INF],
    [-INF, INF],
    [0, 1, 2, INF],
    [-INF, -3, 5, 8],
    [0.1, 0.2, 0.3, 0.7],
    [0.5, 1.5, 1.6, 9.9],
    [Fraction(1, 3), Fraction(2, 3), 1],
    [Decimal("0.1"), Decimal("0.3"), 2],
    [2**53 - 1, 2**53, 2**53 + 1, 2**53 + 3],
    [-(2**63), -1, 2**63 - 1],
    [2**62, 2**63 - 1],
    [0, 2**63 - 1, 2**63, 2**64 - 1],
    [2**63 + 1, 2**64],
    [-(2**80), -(2**70), 2**64, 2**70],
    [-1e308, 0.0, 1e308],
    [-5e-324, 0.0, 5e-324],
    [1e-300, 2e-300, 3e-300],
    [0.0, 1e-17, 1.0],
    [-1e6, *np.linspace(10.0, 11.0, 101).tolist()],
    np.linspace(-1.0, 1.0, 101).tolist(),
    np.linspace(1e15, 1e15 + 100, 11).tolist(),
    [i / 10 for i in range(11)],
    [1.0 + i * 2**-52 for i in range(6)],
]


def exact_bin(edges, key):
    """The definition: by whole numbers for a whole key, by doubles for any other one."""
    if isinstance(key, float):
        edges = [float(edge) for edge in edges]
    for i in range(len(edges) - 1):
        if edges[i] <= key and (key < edges[i + 1] or (i == len(edges) - 2 and key == edges[-1])):
            return i
    return -1


def nasty_doubles(edges):
    ends = [float(edge) for edge in edges]
    found = [*ends, *(math.nextafter(e, s) for e in ends for s in (-INF, INF)), 0.0, -0.0, INF]
    found += [-INF, 5e-324, 1.7e308, -1.7e308, 2.0**53, 2.0**63, 2.0**64, -(2.0**63), 1.5, 17.9]
    return [key for key in found if key == key]


def nasty_whole(edges, limits):
    ends = [math.floor(edge) for edge in edges if math.isfinite(edge)]
    places = [*ends, *limits, 0, 2**53, -(2**53), 2**63, 2**31]
    near = {place + more for place in places for more in (-2, -1, 0, 1, 2)}
    return sorted(key for key in near if limits[0] <= key <= limits[1])


def expressed(keys, dtype, bins):
    """What polars and DuckDB say."""
    frame = pl.DataFrame({"x": pl.Series(keys, dtype=dtype)}).with_row_index("i")
    for native in (frame.lazy(), duckdb.connect().from_arrow(frame.to_arrow())):
        rows = nw.from_native(native)
        kind = rows.collect_schema()["x"]
        index = bin_expression(nw, nw.col("x"), kind, bins.thresholds).alias("b")
        yield rows.select("i", index).lazy().collect().to_arrow().sort_by("i")["b"].to_pylist()


@pytest.mark.parametrize("edges", EDGES, ids=lambda edges: str(edges)[:60])
def test_all_ways_agree_with_the_definition(edges):
    bins = Bins(edges)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        doubles = nasty_doubles(edges)
        wanted = [exact_bin(edges, key) for key in doubles]
        assert [bins.record_index(key) for key in doubles] == wanted
        assert bins.snap(np.array(doubles)).tolist() == wanted
        for found in expressed(doubles, pl.Float64, bins):
            assert found == wanted
        for limits, kind in ((INT64, pl.Int64), (UINT64, pl.UInt64)):
            keys = nasty_whole(edges, limits)
            wanted = [exact_bin(edges, key) for key in keys]
            assert [bins.record_index(key) for key in keys] == wanted
            assert bins.snap(np.array(keys, dtype=str(kind).lower())).tolist() == wanted
            for found in expressed(keys, kind, bins):
                assert found == wanted
            counted = np.zeros(bins.size + 1, dtype=int)
            index, count = value_counts(np.array(keys, dtype=str(kind).lower()), bins)
            counted[index] = count
            assert (
                counted.tolist()
                == np.bincount(
                    [w if w >= 0 else bins.size for w in wanted if w >= 0], minlength=bins.size + 1
                ).tolist()
            )


@settings(max_examples=300, deadline=None)
@given(
    st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=30, unique=True).map(sorted),
    st.lists(st.floats(allow_nan=False), max_size=50),
)
def test_arrays_agree_for_any_edges(edges, keys):
    bins = Bins(edges)
    near = [*keys, *edges, *(math.nextafter(edge, INF) for edge in edges)]
    assert bins.snap(np.array(near)).tolist() == [exact_bin(edges, key) for key in near]


@settings(max_examples=300, deadline=None)
@given(st.floats(-1e9, 1e9), st.floats(1e-9, 1e9), st.integers(2, 200))
def test_bins_of_one_width_are_counted_off_exactly(first, width, many):
    edges = [first + i * width for i in range(many + 1)]
    if len(set(edges)) < len(edges):
        return
    bins = Bins(edges)
    near = [math.nextafter(edge, side) for edge in edges for side in (-INF, edge, INF)]
    near += [INF, -INF, 1.7e308, -1.7e308]
    assert bins.snap(np.array(near)).tolist() == [exact_bin(edges, key) for key in near]


def test_bins_of_one_width_take_the_quick_way():
    assert Bins(np.linspace(0, 1, 101)).thresholds.even is not None
    assert Bins([0, 1, 5]).thresholds.even is None


def test_counts_are_those_of_numpy():
    rng = np.random.default_rng(5)
    keys = rng.normal(0, 3, 200_000)
    for edges in (np.linspace(-5, 5, 101), np.sort(rng.normal(0, 2, 40))):
        index, count = value_counts(keys, Bins(edges))
        wanted = np.histogram(keys, edges)[0]
        assert count.tolist() == wanted[wanted > 0].tolist()
        assert index.tolist() == np.flatnonzero(wanted).tolist()


DAYS = [dt.date(2020, 1, 1), dt.date(2021, 1, 1), dt.date(2022, 1, 1)]
MOMENTS = [dt.datetime(2020, 1, 1), dt.datetime(2020, 1, 1, 12), dt.datetime(2022, 1, 1)]
ZONED = [moment.replace(tzinfo=dt.UTC) for moment in MOMENTS]


def test_dates_and_times():
    bins = Bins(DAYS)
    records = [dt.date(2019, 12, 31), *DAYS, dt.date(2022, 1, 2), dt.datetime(2020, 12, 31, 23)]
    assert [bins.record_index(r) for r in records] == [-1, 0, 1, 1, -1, 0]
    array = np.array(records[:-1], dtype="M8[D]")
    assert dict(zip(*map(list, value_counts(array, bins)), strict=True)) == {
        0: 1,
        1: 2,
    }
    times = Bins(MOMENTS)
    records = [MOMENTS[0] - dt.timedelta(microseconds=1), *MOMENTS]
    assert [times.record_index(r) for r in records] == [-1, 0, 1, 1]
    late = dt.datetime(2020, 1, 1, 13, tzinfo=dt.timezone(dt.timedelta(hours=2)))
    assert Bins(ZONED).record_index(late) == 0  # 11 o'clock UTC
    assert Bins([-INF, DAYS[0], INF]).record_index(dt.date(1, 1, 1)) == 0
    assert Bins([-INF, DAYS[0], INF]).kind == "date"
    assert Bins(np.array(DAYS, dtype="M8[D]")) == bins


@pytest.mark.parametrize(
    ("edges", "words"),
    [
        ([], "from 2 to 2"),
        ([3], "from 2 to 2"),
        ([3, 1], "must be in rising order, got 3 before 1"),
        ([0, 1, 1], "must be in rising order"),
        ([0, 5, 3, 9], "must be in rising order"),
        ([0, math.nan], "finite numbers"),
        ([0, INF, 5], "finite numbers"),
        ([INF, 0], "must be in rising order"),
        ([0, -INF], "must be in rising order"),
        ([0, "a"], "finite numbers"),
        ([0, 10**400], "finite numbers"),
        ([0, Decimal("1e400")], "finite numbers"),
        ([0, True], "finite numbers"),
        ([0, None], "finite numbers"),
        ([0, dt.date(2020, 1, 1)], "have one type"),
        ([DAYS[0], MOMENTS[2]], "have one type"),
        ([MOMENTS[0], ZONED[2]], "have one type"),
        ("0,1", "a list of edges"),
        (5, "a list of edges"),
        ({0: 1, 1: 2}, "a list of edges"),
    ],
    ids=str,
)
def test_what_makes_no_bins(edges, words):
    with pytest.raises(BoundsError, match=words):
        Bins(edges)


def test_labels():
    def labels(bins):
        return [bins.label(i) for i in range(bins.size)]

    assert labels(Bins([0, 18, 65])) == ["[0, 18)", "[18, 65]"]
    assert labels(Bins([-INF, 0.5, 1e20, INF])) == ["[-inf, 0.5)", "[0.5, 1e+20)", "[1e+20, inf]"]
    assert labels(Bins([0.0, 2.0])) == ["[0, 2]"]
    assert labels(Bins(DAYS[:2])) == ["[2020-01-01, 2021-01-01]"]
    assert labels(Bins(MOMENTS[:2])) == ["[2020-01-01 00:00:00, 2020-01-01 12:00:00]"]
    assert labels(Bins(np.array([0.1, 0.3], dtype=np.float32))) == ["[0.1, 0.3]"]


class Refuses:
    """A record that cannot be compared."""

    def __ne__(self, other):
        raise RuntimeError

    __hash__ = None


@pytest.mark.parametrize(
    ("domain", "inside", "outside", "dropped"),
    [
        (Membership(Bins([0, 5])), [0, 5, 2.5, True, Decimal(3)], [-1, 6, INF], ["a", "3"]),
        (Membership(Categories(["a", 3])), ["a", 3, 3.0], ["b", "", 4, INF, [1], {}], []),
        (Presence(), ["a", "", 0, INF, [1]], [], []),
    ],
    ids=str,
)
def test_a_record_is_inside_outside_or_missing(domain, inside, outside, dropped):
    missing = [None, math.nan, np.float64("nan"), pd.NA, pd.NaT, Decimal("sNaN"), Refuses()]
    records = [*inside, *outside, *dropped, *missing]
    wanted = [0] * len(inside) + [1] * len(outside) + [-1] * len(dropped + missing)
    assert [domain.record_index(record) for record in records] == wanted
    objects = np.empty(len(records), dtype=object)
    objects[:] = records
    counts = dict(zip(*map(list, value_counts(objects, domain)), strict=True))
    assert counts == {0: len(inside)} | ({1: len(outside)} if outside else {})


def test_times_that_python_lacks_are_present():
    """Nanoseconds are no time of Python; they are outside of a list of times, and not missing."""
    array = np.array(["2020-01-01T00:00:00.000000001", "2020-01-01", "NaT"], dtype="M8[ns]")
    index, count = value_counts(array, Membership(Categories([MOMENTS[0]])))
    assert (index.tolist(), count.tolist()) == ([0, 1], [1, 1])
    assert value_counts(array, Presence())[1].tolist() == [2]


def test_facts_of_public_sets_are_told_apart():
    sets = [Bins([0, 1]), Bins([0.0, 1.0]), Bins([0, 2]), Membership(Bins([0, 1])), Presence()]
    sets += [Presence(rows=True), Membership(Categories([0, 1])), Categories([0, 1])]
    for i, one in enumerate(sets):
        assert [one == other for other in sets] == [i == j for j in range(len(sets))]
        assert hash(one) == hash(one)
        assert repr(one).startswith(type(one).__name__)


@pytest.mark.parametrize("of", [list, tuple, np.array])
def test_edges_are_those_of_this_call(of):
    """What is kept of earlier calls is kept by the types of numbers, too: 1, 1.0 and True are
    equal."""
    data = np.array([0.5, 1.5])
    for edges in ([0, 1, 2], [0.0, 1.0, 2.0], [0, 1, 2]):
        domain = histogram(data, bins=of(edges), epsilon=1.0).domain
        assert repr(domain) == f"Bins({edges})"
    with pytest.raises(BoundsError, match="got False"):
        histogram(data, bins=[False, True, 2], epsilon=1.0)


def test_one_number_is_that_of_this_call():
    """A number on its own is kept by its type as well: what is refused at first stays refused."""
    data = np.array([0.5, 1.5])
    assert duffdp.quantile(data, 1, bounds=(0, 2), step=1, epsilon=1.0).epsilon == 1
    assert len(duffdp.top(["a"], 1, categories=["a", "b"], epsilon=1.0).value) == 1
    with pytest.raises(DuffError, match="got True"):
        duffdp.quantile(data, True, bounds=(0, 2), step=1, epsilon=1.0)
    with pytest.raises(DuffError, match=r"got 1\.0"):
        duffdp.top(["a"], 1.0, categories=["a", "b"], epsilon=1.0)
