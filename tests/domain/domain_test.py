"""Grids and categories: kinds, values, snapping record by record, thresholds."""

from __future__ import annotations

import datetime as dt
import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from duffdp import BoundsError, Categories, Grid
from duffdp._engines.arrays import value_counts
from engines import open_groups
from inquiries import engine_of, groups_of

UTC = dt.UTC


def kind_of(grid, index):
    value = grid.value(index)
    return type(value), value


def test_values_come_back_in_the_kind_that_went_in():
    assert kind_of(Grid(0, 120, 1), 37) == (int, 37)
    assert kind_of(Grid(-5, 5, 2), 1) == (int, -3)
    assert kind_of(Grid(0.0, 20.0, 0.01), 1234) == (float, 12.34)
    assert kind_of(Grid(0, 20, 0.01), 1234) == (float, 12.34)
    assert kind_of(Grid(0.1, 0.9, 0.1), 2) == (float, 0.3)
    assert kind_of(Grid(Decimal("0.00"), Decimal(9), Decimal("0.01")), 123) == (
        Decimal,
        Decimal("1.23"),
    )
    assert kind_of(Grid(np.int64(0), np.int64(9), np.int64(1)), 3) == (int, 3)
    assert kind_of(Grid(np.float32(0.1), np.float32(0.9), np.float32(0.1)), 2) == (float, 0.3)
    assert kind_of(Grid(dt.date(2024, 1, 1), dt.date(2024, 12, 31)), 59) == (
        dt.date,
        dt.date(2024, 2, 29),
    )
    assert kind_of(Grid(dt.date(2024, 1, 1), dt.date(2024, 12, 31), 7), 1) == (
        dt.date,
        dt.date(2024, 1, 8),
    )
    hour = Grid(dt.datetime(2024, 1, 1), dt.datetime(2024, 1, 2), 3600)
    assert kind_of(hour, 5) == (dt.datetime, dt.datetime(2024, 1, 1, 5))
    assert hour == Grid(dt.datetime(2024, 1, 1), dt.datetime(2024, 1, 2), dt.timedelta(hours=1))
    zone = dt.timezone(dt.timedelta(hours=2))
    aware = Grid(dt.datetime(2024, 1, 1, tzinfo=zone), dt.datetime(2024, 1, 2, tzinfo=zone), 60)
    assert aware.value(60) == dt.datetime(2024, 1, 1, 1, tzinfo=zone)
    assert aware.value(60).utcoffset() == dt.timedelta(hours=2)
    assert Grid(np.datetime64("2024-01-01"), np.datetime64("2024-01-05")).value(4) == dt.date(
        2024, 1, 5
    )
    assert (
        Grid(np.datetime64("2024-01-01T00:00:00"), np.datetime64("2024-01-05T00:00:00"), 1)
        .value(1)
        .second
        == 1
    )


def test_the_default_step():
    for lower, upper in [(0, 1), (0.0, 120.0), (-10, 10), (0, 1e-9), (0, 1e300), (0.1, 0.7)]:
        grid = Grid(lower, upper)
        assert 2**39 <= grid.size <= 2**41
        assert math.frexp(float(grid.step))[0] == 0.5
        assert isinstance(grid.value(5), float)
    assert Grid(dt.date(2024, 1, 1), dt.date(2024, 1, 31)).size == 31
    year = Grid(dt.datetime(2024, 1, 1), dt.datetime(2025, 1, 1))
    assert 2**39 <= year.size <= 2**41
    close = Grid(1e9, 1e9 + 1e-5)  # finer than doubles would be pointless
    assert len({close.value(i) for i in range(close.size)}) == close.size


def test_a_step_that_does_not_divide_the_range():
    grid = Grid(0, 10, 3)
    assert [grid.value(i) for i in range(grid.size)] == [0, 3, 6, 9]
    assert grid.index(10) == 3


@pytest.mark.parametrize(
    "arguments",
    [
        (5, 0),
        (1, 1),
        (math.nan, 1),
        (0, math.inf),
        (-math.inf, 0),
        (None, 1),
        ("0", "1"),
        (True, 5),
        (0, 1, 0),
        (0, 1, -1),
        (0, 1, math.nan),
        (0, 1, math.inf),
        (0, 1, "1"),
        (0, 1, True),
        (0, 1, 2),
        (0, 2**63, 1),
        (0, 1, 1e-30),
        (-1.7e308, 1.7e308, Decimal("3e308")),
        ([0], [1]),
        (0, dt.date(2024, 1, 1)),
        (dt.date(2024, 1, 1), dt.datetime(2024, 1, 2)),
        (dt.date(2024, 1, 2), dt.date(2024, 1, 1)),
        (dt.date(2024, 1, 1), dt.date(2024, 1, 9), 0.5),
        (dt.date(2024, 1, 1), dt.date(2024, 1, 9), dt.timedelta(hours=1)),
        (dt.datetime(2024, 1, 1), dt.datetime(2024, 1, 2, tzinfo=UTC)),
        (0, 10, dt.timedelta(1)),
        (Decimal("NaN"), Decimal(1)),
        (np.datetime64("NaT"), np.datetime64("2024-01-01")),
        (np.float64("nan"), 1.0),
        (0, 1, dt.date(2024, 1, 1)),
    ],
    ids=repr,
)
def test_bad_grids(arguments):
    with pytest.raises(BoundsError):
        Grid(*arguments)


@pytest.mark.parametrize(
    "values", [[], ["a", "a"], [1, 1.0], "ab", None, 5, [None, 1], [math.nan], [[1], [2]]], ids=repr
)
def test_bad_categories(values):
    with pytest.raises(BoundsError, match="categories"):
        Categories(values)


def test_categories():
    domain = Categories(np.array(["x", "y"]))
    assert list(domain) == ["x", "y"]
    assert (domain.size, len(domain), domain.index("y"), domain.find("z")) == (2, 2, 1, None)
    assert domain == Categories(["x", "y"])
    assert len({domain, Categories(["x", "y"])}) == 1
    assert domain.record_index([1]) == domain.record_index(None) == -1
    with pytest.raises(BoundsError, match="one of the 2 categories"):
        domain.index("z")


GRIDS = [
    Grid(0, 120, 1),
    Grid(-7, 50, 3),
    Grid(0.0, 1.0),
    Grid(-10.0, 10.0, 0.1),
    Grid(0.1, 0.9, 0.05),
    Grid(0.0, 120.0, 1),
    Grid(-1e6, 1e6, 0.01),
    Grid(0, 2**61, 1),
    Grid(0.0, 1.0, 2.0**-61),
]


@settings(max_examples=300, deadline=None)
@given(
    grid=st.sampled_from(GRIDS),
    value=st.floats(allow_nan=False) | st.floats(-10, 10) | st.integers(-(2**62), 2**62),
)
def test_snapping(grid, value):
    """One record: nearest candidate (up to the rounding of doubles), clamped, the same for arrays,
    lists and scalars."""
    index = grid.record_index(value)
    assert 0 <= index < grid.size
    dtype = np.int64 if isinstance(value, int) else np.float64
    for data in ([value], np.array([value], dtype=dtype), np.array([value], dtype=object)):
        assert value_counts(data, grid)[0].tolist() == [index]
    exact = min(
        max(
            Fraction(value) if math.isfinite(value) else Fraction(math.copysign(10**30, value)),
            Fraction(grid.lower),
        ),
        Fraction(grid.upper),
    )
    place = (exact - Fraction(str(grid.lower))) / Fraction(str(grid.step))
    assert abs(min(place, grid.size - 1) - index) <= Fraction(1, 2) + Fraction(grid.size, 2**48)


@settings(max_examples=300, deadline=None)
@given(grid=st.sampled_from(GRIDS), share=st.floats(0, 1))
def test_thresholds(grid, share):
    """key < threshold(i) says the same as snap(key) < i."""
    index = min(int(share * grid.size), grid.size - 1)
    edge = grid.threshold(index, integer=False)
    assert grid.threshold(grid.size, integer=False) is None
    if edge is None:
        assert grid.record_index(math.inf) < index
    elif math.isfinite(edge):
        assert grid.record_index(edge) >= index
        assert grid.record_index(math.nextafter(edge, -math.inf)) < index
    if grid.is_integer:
        edge = grid.threshold(index, integer=True)
        if index:
            assert grid.snap(np.array([edge]))[0] >= index > grid.snap(np.array([edge - 1]))[0]


@settings(max_examples=200, deadline=None)
@given(grid=st.sampled_from(GRIDS[:7]), share=st.floats(0, 1))
def test_candidates_snap_to_themselves(grid, share):
    index = min(int(share * grid.size), grid.size - 1)
    assert grid.index(grid.value(index)) == index
    assert grid.find(grid.value(index)) == index
    assert grid.find("x") is None


def test_dates_and_times_as_records():
    days = Grid(dt.date(2024, 1, 1), dt.date(2024, 1, 31))
    assert days.index(dt.datetime(2024, 1, 5, 23, 59)) == 4  # a moment counts for its day
    assert days.index(np.datetime64("2024-01-05T23:59")) == 4
    assert days.index(dt.date(1999, 1, 1)) == 0
    assert (
        days.record_index(17.0)
        == days.record_index(17)
        == days.record_index(np.datetime64("NaT"))
        == -1
    )
    hours = Grid(dt.datetime(2024, 1, 1), dt.datetime(2024, 1, 2), 3600)
    assert hours.index(dt.datetime(2024, 1, 1, 1, 31)) == 2
    assert hours.index(dt.date(2024, 1, 2)) == 24
    aware = Grid(dt.datetime(2024, 1, 1, tzinfo=UTC), dt.datetime(2024, 1, 2, tzinfo=UTC), 3600)
    assert aware.index(dt.datetime(2024, 1, 1, 3, tzinfo=dt.timezone(dt.timedelta(hours=2)))) == 1
    with pytest.raises(BoundsError, match="kind of the bounds"):
        days.index("2024-01-01")


def test_identity():
    assert Grid(0, 9, 1) == Grid(0, 9, 1) != Grid(0, 9, 3)
    assert Grid(0, 9, 1) != Grid(0.0, 9.0, 1.0)
    assert len({Grid(0, 9, 1), Grid(0, 9, 1)}) == 1
    assert repr(Grid(0, 9, 1)) == "Grid(0, 9, step=1)"


@pytest.mark.parametrize("lower", [1_700_000_000_000_000_001, -(2**60) - 1, 2**61 + 3])
def test_bounds_that_doubles_cannot_tell_apart(lower):
    """Records in doubles are rounded, but never to an index outside of the grid, on arrays and on
    engines."""
    import polars as pl

    grid = Grid(lower, lower + 199, 1)
    records = [float(lower + i) for i in range(-300, 500, 7)] + [math.inf, -math.inf]
    index = grid.snap(np.array(records))
    assert 0 <= index.min() <= index.max() <= grid.size - 1
    assert index.tolist() == [grid.record_index(x) for x in records]
    (group,) = open_groups(pl.LazyFrame({"x": records}), grid, "x")
    assert [a.tolist() for a in group.value_counts()] == [
        a.tolist() for a in np.unique(index, return_counts=True)
    ]


def test_records_beyond_a_grid_that_is_finer_than_doubles():
    grid = Grid(0.0, 10.0, 2.0**-58)
    (group,) = groups_of(engine_of([np.array([math.inf, 1.0, 10.0])], grid))
    last = int(group.value_counts()[0].max())
    assert last < grid.size - 1
    assert group.rank_at(grid.size - 1) == (3, 0)
    assert group.rank_at(last) == (1, 2)


@pytest.mark.parametrize(
    "grid",
    [
        Grid(-10, 10),
        Grid(-7, 9, 3),
        Grid(0, 1, 0.1),
        Grid(0.1, 0.7, 0.1),
        Grid(-1e300, 1e300),
        Grid(0.0, 3.0, 2**-52),
        Grid(-(2**53), 2**53, 1),
        Grid(-(2**60) - 1, 2**60, 1),
        Grid(-(2**63), 2**63, 2**9),
        Grid(1e-300, 1e-298, 1e-300),
    ],
    ids=str,
)
def test_many_candidates_are_those_of_each_index(grid):
    """To the last bit, and of the same type."""
    rng = np.random.default_rng(4)
    indices = [0, grid.size - 1, *rng.integers(0, grid.size, 500).tolist()]
    each = [grid.value(i) for i in indices]
    many = grid.values(indices).tolist()
    assert list(map(type, many)) == list(map(type, each))
    assert many == each
