"""Clamp and snap: one number, an array and a column of an engine against exact fractions, at the
edges of every type."""

from __future__ import annotations

import datetime as dt
import math
import sys
import warnings
from fractions import Fraction

import duckdb
import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from duffdp import BoundsError, Digits, Grid
from duffdp._engines.arrays.column import KeyReader
from duffdp._engines.queries.expressions import reaches_expression, snap_expression
from duffdp._engines.requests import Quantization
from duffdp.domain.snapping import DoubleSteps
from engines import open_groups
from inquiries import engine_of, groups_of

HALF = Fraction(1, 2)
INT64, UINT64 = (-(2**63), 2**63 - 1), (0, 2**64 - 1)
WHOLE = [
    (0, 120, 1),
    (-7, 50, 3),
    (0, 2**61, 1),
    (-(2**61), 2**61 - 1, 1),
    (-(2**61) - 1, 2**61 - 1, 2),
    (-(2**63), 2**63 - 1, 4),
    (-(2**63), 2**63 - 1, 5),
    (-(2**63), 2**63 - 1, 2**40 + 1),
    (-(2**63), 2**63 - 1, 2**62 + 1),
    (-(2**63), 2**63 - 1, 2**64 - 1),
    (-(2**62) - 3, 2**63 - 1, 7),
    (-5, 2**63 - 1, 3),
    (-(2**63), 10, 3),
    (2**62 + 1, 2**63 - 1, 2),
    (2**63, 2**64 - 1, 2),
    (0, 2**64 - 1, 5),
    (2**64, 2**65, 8),
    (-(2**65), -(2**64), 8),
    (-(10**30), 10**30, 10**12 + 1),
    (-(2**80), 2**70, 3**30),
    (-3, 2**100, 2**64),
    (2**53 - 1, 2**53 + 9, 1),
    (-1e308, 1e308, None),
    (0, 1.7e308, None),
]
DOUBLES = [
    (0.0, 1.0, None),
    (-10.0, 10.0, 0.1),
    (0.1, 0.9, 0.05),
    (-1e6, 1e6, 0.01),
    (-1e308, 1e308, None),
    (-1e308, 1e308, 3e300),
    (-1.7e308, 1.7e308, 1e306),
    (0, 1e-300, None),
    (-1e-290, 1e-290, 3e-300),
    (0.5, 2**53 + 0.5, 1),
    (0, 1, Fraction(1, 3)),
    (0.0, 1.0, 2.0**-61),
    (-(2**63), 2**63 - 1, 4),
    (10**15, 10**15 + 10**6, 0.25),
]


def exact_index(grid: Grid, key: int | float) -> int:
    """The definition, in fractions."""
    if isinstance(key, float) and math.isinf(key):
        return grid.size - 1 if key > 0 else 0
    place = grid.index_place(Fraction(key))
    return min(max(math.floor(place + Fraction(1, 2)), 0), grid.size - 1)


def nasty_whole(grid: Grid, limits: tuple[int, int]) -> list[int]:
    """Whole numbers at the ends of types, at the bounds, and on both sides of thresholds."""
    steps = grid.whole_steps
    at = [0, 1, grid.size // 3, grid.size // 2, grid.size - 2, grid.size - 1]
    places = [0, *(sign * 2**k for sign in (1, -1) for k in (7, 31, 32, 52, 53, 61, 62, 63, 64))]
    places += [steps.low, steps.high, *limits]
    places += [steps.threshold(index) for index in at]
    reached = [steps.of_number(end) for end in limits]
    places += [steps.threshold(index + more) for index in reached for more in (-1, 0, 1)]
    near = {place + more for place in places for more in (-2, -1, 0, 1, 2)}
    return sorted(key for key in near if limits[0] <= key <= limits[1])


def nasty_doubles(grid: Grid) -> list[float]:
    at = (grid.value(index) for index in (0, 1, grid.size // 3, grid.size // 2, grid.size - 1))
    places = [0.0, 1.0, 5e-324, 2.0**53, 2.0**63, 1e308, sys.float_info.max, *map(float, at)]
    places += [-place for place in places]
    near = {math.nextafter(p, side) for p in places for side in (-math.inf, math.inf)}
    return sorted({*places, *near, math.inf, -math.inf, 0.5, 1 / 3})


@pytest.mark.parametrize("arguments", WHOLE, ids=repr)
def test_whole_numbers_are_snapped_exactly(arguments):
    grid = Grid(*arguments)
    for dtype, limits in ((np.int64, INT64), (np.uint64, UINT64)):
        keys = nasty_whole(grid, limits)
        found = grid.snap(np.array(keys, dtype=dtype))
        assert found.dtype == np.int64
        assert found.tolist() == [exact_index(grid, key) for key in keys]
        assert found.tolist() == [grid.record_index(key) for key in keys]
    huge = [10**400, -(10**400), 2**200, -(2**64) - 1]
    assert [grid.record_index(key) for key in huge] == [exact_index(grid, key) for key in huge]


@settings(max_examples=400, deadline=None)
@given(
    ends=st.tuples(st.integers(-(2**66), 2**66), st.integers(-(2**66), 2**66)).filter(
        lambda ends: ends[0] != ends[1]
    ),
    share=st.integers(1, 2**62),
    keys=st.lists(st.integers(*INT64), min_size=1, max_size=20),
)
def test_whole_numbers_on_random_grids(ends, share, keys):
    low, high = sorted(ends)
    step = min(max(1, -(-(high - low) // (2**62 - 1)), share), high - low)
    grid = Grid(low, high, step)
    exact = [exact_index(grid, key) for key in keys]
    assert grid.snap(np.array(keys, dtype=np.int64)).tolist() == exact
    assert [grid.record_index(key) for key in keys] == exact


@pytest.mark.parametrize("arguments", DOUBLES, ids=repr)
def test_doubles_are_snapped_within_their_rounding(arguments):
    """In order, inside of the grid, and the nearest candidate up to the rounding of doubles."""
    grid = Grid(*arguments)
    keys = nasty_doubles(grid)
    with warnings.catch_warnings(), np.errstate(all="raise"):
        warnings.simplefilter("error")
        found = grid.snap(np.array(keys)).tolist()
    assert found == [grid.record_index(key) for key in keys] == sorted(found)
    assert 0 == found[0] <= found[-1] <= grid.size - 1
    rounding = grid.index_units(
        Fraction(math.ulp(max(abs(float(grid.lower)), abs(float(grid.upper)))))
    )
    for key, index in zip(keys, found, strict=True):
        ends = Fraction(grid.lower), Fraction(grid.upper)
        clamped = ends[math.copysign(1, key) > 0] if math.isinf(key) else Fraction(key)
        place = min(max(grid.index_place(clamped), 0), grid.size - 1)
        assert abs(index - place) <= Fraction(1, 2) + Fraction(grid.size, 2**50) + 2 * rounding


@pytest.mark.parametrize("arguments", WHOLE, ids=repr)
def test_doubles_and_whole_numbers_agree_where_it_is_said(arguments):
    grid = Grid(*arguments)
    if not grid.whole_steps.same_in_doubles:
        return
    keys = nasty_whole(grid, INT64)
    assert [grid.record_index(float(key)) for key in keys] == [grid.record_index(k) for k in keys]


def test_some_grids_agree_in_doubles_and_some_do_not():
    same = [Grid(*arguments).whole_steps.same_in_doubles for arguments in WHOLE]
    assert True in same
    assert False in same


@settings(max_examples=300, deadline=None)
@given(
    low=st.integers(-(2**48), 2**48 - 1),
    span=st.integers(1, 2**49),
    step=st.integers(1, 2**49),
    more=st.integers(-3, 3),
    share=st.floats(0, 1),
)
def test_whole_numbers_in_doubles(low, span, step, more, share):
    """Between -2**48 and 2**48 a whole number has one index, whether it comes as an integer or as a
    double."""
    high = min(low + span, 2**48)
    grid = Grid(low, high, min(step, high - low))
    assert grid.whole_steps.same_in_doubles
    key = grid.whole_steps.threshold(1 + int(share * (grid.size - 2))) + more
    assert grid.record_index(float(key)) == grid.record_index(key) == exact_index(grid, key)


def polars_lazy(keys, dtype):
    return pl.LazyFrame({"x": pl.Series(keys, dtype=dtype)})


def duckdb_table(keys, kind):
    connection = duckdb.connect()
    connection.execute(f"CREATE TABLE given (place INTEGER, x {kind})")
    connection.executemany("INSERT INTO given VALUES (?, ?)", list(enumerate(keys)))
    return connection.sql("SELECT x FROM given ORDER BY place")


def pandas_frame(keys, dtype):
    return pd.DataFrame({"x": np.array(keys, dtype=dtype)})


ENGINES = {
    "polars": (polars_lazy, {"int": pl.Int64, "uint": pl.UInt64, "float": pl.Float64}),
    "duckdb": (duckdb_table, {"int": "BIGINT", "uint": "UBIGINT", "float": "DOUBLE"}),
    "pandas": (pandas_frame, {"int": "int64", "uint": "uint64", "float": "float64"}),
}


def column_of(native, expression, name="y"):
    frame = nw.from_native(native).select(expression.alias(name))
    return frame.lazy().collect().get_column(name).to_list()


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("kind", ["int", "uint"])
@pytest.mark.parametrize("arguments", WHOLE, ids=repr)
def test_engines_snap_whole_numbers_as_arrays_do(engine, kind, arguments):
    grid = Grid(*arguments)
    keys = nasty_whole(grid, INT64 if kind == "int" else UINT64)
    make, types = ENGINES[engine]
    native = make(keys, types[kind])
    check_column(native, keys, grid)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("arguments", DOUBLES, ids=repr)
def test_engines_snap_doubles_as_arrays_do(engine, arguments):
    grid = Grid(*arguments)
    make, types = ENGINES[engine]
    keys = nasty_doubles(grid)
    check_column(make(keys, types["float"]), keys, grid)


@pytest.mark.parametrize("arguments", WHOLE, ids=repr)
def test_engines_with_wider_whole_numbers(arguments):
    grid = Grid(*arguments)
    for kind, limits in (("HUGEINT", (-(2**127), 2**127 - 1)), ("UHUGEINT", (0, 2**128 - 1))):
        keys = [key for key in nasty_whole(grid, limits) if key > -(2**127)]
        keys = [key for key in keys if abs(key) < 2**127]  # what DuckDB takes from Python
        check_column(duckdb_table(keys, kind), keys, grid)


@pytest.mark.parametrize("engine", ENGINES)
def test_engines_with_short_types_and_truth_values(engine):
    make, _ = ENGINES[engine]
    types = {
        "polars": (pl.Int8, pl.Boolean),
        "duckdb": ("TINYINT", "BOOLEAN"),
        "pandas": ("int8", "bool"),
    }
    for arguments in ((-3, 100, 7), (0, 2**61, 1), (-(2**63), 2**63 - 1, 4), (0.0, 1.0, 0.25)):
        grid = Grid(*arguments)
        check_column(make([-128, -1, 0, 1, 127], types[engine][0]), [-128, -1, 0, 1, 127], grid)
        check_column(make([True, False], types[engine][1]), [True, False], grid)


def check_column(native, keys, grid):
    """Indices, indices rounded down, and comparisons with thresholds are those of single
    numbers."""
    dtype = nw.from_native(native).collect_schema()["x"]
    exact = [grid.record_index(key) for key in keys]
    assert column_of(native, snap_expression(nw, nw.col("x"), dtype, grid)) == exact
    for shift in (1, 5, 40):
        rounded = snap_expression(nw, nw.col("x"), dtype, grid, shift)
        assert column_of(native, rounded) == [i >> shift << shift for i in exact]
    for index in sorted({1, 2, grid.size // 2, grid.size - 1, grid.size, *exact[1:-1:5]} - {0}):
        reached = reaches_expression(nw, nw.col("x"), dtype, grid, index)
        truth = [i >= index for i in exact]
        assert (not any(truth)) if reached is None else column_of(native, reached) == truth


@pytest.mark.parametrize("dtype", [np.int64, np.uint64])
@pytest.mark.parametrize("arguments", WHOLE, ids=repr)
def test_answers_of_arrays_at_the_edges(arguments, dtype):
    """Ranks, sums and counts of records at the edges, by the sort and by the bracket."""
    grid = Grid(*arguments)
    keys = nasty_whole(grid, INT64 if dtype == np.int64 else UINT64)
    exact = [exact_index(grid, key) for key in keys]
    for copies in (1, 2**14 // len(keys) + 1):
        (group,) = groups_of(engine_of([np.array(keys * copies, dtype=dtype)], grid))
        index, count = group.value_counts()
        assert np.repeat(index, count).tolist() == sorted(exact * copies)
        half = Fraction(1, 2)
        (near,) = group.ranks((half, 3))
        sums = group.level_sums(Quantization(0, grid.size - 1))
        assert sums == (len(exact) * copies, sum(exact) * copies, 0)
        inside = [i for i in sorted(exact * copies) if near.first <= i <= near.last]
        assert np.repeat(near.values, near.counts).tolist() == inside
        assert near.below == copies * sum(i < near.first for i in exact)
        for i in {0, 1, grid.size // 2, grid.size - 1, *exact[::7]}:
            before, at = sum(j < i for j in exact), exact.count(i)
            assert group.rank_at(i) == (before * copies, at * copies)
    array = np.array(keys * copies, dtype=dtype)
    assert grid.snap(KeyReader(array.dtype, grid).keys(array)).tolist() == exact * copies


def test_grids_that_doubles_cannot_hold_are_refused():
    for arguments in ((0, 10**400), (0, 1, Fraction(1, 10**320)), (0, 5e-324), (0, 1e-310, 1e-312)):
        with pytest.raises(BoundsError):
            Grid(*arguments)


def test_thresholds_of_times():
    grid = Grid(dt.datetime(1, 1, 1), dt.datetime(9999, 12, 31), dt.timedelta(hours=1))
    for index in (1, 2, grid.size // 2, grid.size - 1):
        edge = grid.threshold(index, integer=True)
        assert grid.snap(np.array([edge - 1, edge])).tolist() == [index - 1, index]


HALF_STEPS = [
    *((first, Fraction(2) ** power) for first in (0, -1, 1, -3, 40) for power in (0, -3, -40, 4)),
    *((first, Fraction(2) ** -30) for first in (-(2**33), 2**40 + 1, -(2**49) - 1, 2**52 + 1)),
    (-(2**23), Fraction(2) ** 999),
    (-(2**24) + 2, Fraction(2) ** 999),
    *((first, Fraction(1)) for first in (Fraction(1, 3), Fraction(-1, 2**44), Fraction(1, 2**60))),
    (0, Fraction(2) ** -1073),
]


@pytest.mark.parametrize(("first", "step"), HALF_STEPS)
@pytest.mark.parametrize("size", [3, 1000, 2**25 + 2, 2**41, 2**52])
def test_an_array_of_doubles_gets_the_indices_of_its_numbers(first, step, size):
    """Next to thresholds, and next to 0, where offsets from the lower bound are rounded."""
    if (first + size) * step > sys.float_info.max:
        pytest.skip("beyond doubles")
    denominator = math.lcm((first * step).as_integer_ratio()[1], step.denominator)
    steps = DoubleSteps.of(
        int(first * step * denominator), int(step * denominator), denominator, size
    )
    thresholds = [1, 2, 3, size // 2, size - 1, 2 ** (size.bit_length() - 2)]
    thresholds += np.random.default_rng(size).integers(1, size, 40).tolist()
    keys = [float((first + k + near) * step) for k in thresholds for near in (-HALF, 0)]
    keys += [0.0, *(sign * float(step) * 2.0**-at for sign in (1, -1) for at in range(0, 99, 3))]
    for _ in range(3):
        keys += [math.nextafter(key, way) for key in keys for way in (-math.inf, math.inf)]
    keys = sorted(set(keys))
    found = steps.of_array(np.array(keys))
    assert np.minimum(found, size - 1).tolist() == list(map(steps.of_number, keys))
    into = np.empty(len(keys))
    assert steps.of_array(np.array(keys), into) is into
    assert into.tolist() == found.tolist()


@pytest.mark.parametrize("grid", [Grid(0, 10, 0.1), Grid(-8, 8, 0.25), Digits(2)], ids=repr)
def test_a_missing_number_decides_about_itself_alone(grid):
    """With one nan among them, all others are still clamped and snapped alike."""
    keys = np.array([math.inf, 1e300, 3.0, 0.0, -1e300, -math.inf])
    alone = grid.snap_float(keys)
    for place in range(len(keys) + 1):
        with_nan = np.insert(keys, place, math.nan)
        for out in (None, np.empty(len(with_nan))):
            found = grid.snap_float(with_nan, out)
            assert math.isnan(found[place])
            assert np.delete(found, place).tolist() == alone.tolist()


@pytest.mark.parametrize(
    "domain",
    [
        Grid(0, 1000, 0.1),
        Grid(-50, 50, 0.05),
        Grid(0, 10**6, 1e-6),
        Grid(-1e300, 1e300, 1e285),
        Digits(3, smallest=1e-3, largest=1e6),
        Digits(2, smallest=10.0, largest=99.0),
    ],
    ids=repr,
)
@pytest.mark.parametrize("engine", ["polars", "duckdb"])
def test_a_lazy_table_has_the_indices_of_arrays_half_way_between_candidates(engine, domain):
    """polars multiplies by an inverse where it is told to divide by a fixed number."""
    places = np.random.default_rng(1).integers(1, domain.size, 3000)
    at = np.array([[domain.value(i - 1), domain.value(i)] for i in places.tolist()], dtype=float)
    middle = at.mean(axis=1)
    keys = np.concatenate([middle, np.nextafter(middle, np.inf), np.nextafter(middle, -np.inf)])
    frame = pl.DataFrame({"x": keys})
    lazy = frame.lazy() if engine == "polars" else duckdb.from_arrow(frame.to_arrow())
    (group,) = open_groups(lazy, domain, column="x")
    index, count = group.value_counts()
    expected, often = np.unique(domain.snap(keys), return_counts=True)
    assert (index.tolist(), count.tolist()) == (expected.tolist(), often.tolist())
