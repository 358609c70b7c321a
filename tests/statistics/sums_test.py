"""Sums and means with noise: exact numbers in every engine, what they become, and how they end."""

from __future__ import annotations

import datetime as dt
import math
import sys
from decimal import Decimal
from fractions import Fraction

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

import duffdp
from covering import every_pair
from duffdp import BoundsError, Grid, Release
from duffdp._engines.arrays import array_engine, read_array
from duffdp._engines.requests import LevelSums, Quantization
from duffdp.statistics import SoftCounts, Sum
from duffdp.statistics.mean import soft_place
from engines import ENGINES, open_engine
from inquiries import ask, engine_of, groups_of, totals

SURE = 1e6
HOLES = [None, math.nan, math.inf, -math.inf, 3.5, -2.25, 7.0, 1e300]
GRIDS = [
    Grid(0, 10, 1),
    Grid(-3, 7, 2),
    Grid(-1.5, 2.0, 0.25),
    Grid(0.1, 0.7, 0.1),
    Grid(-10.0, 10.0),
    Grid(Decimal("0.3"), Decimal("1.7"), Decimal("0.1")),
    Grid(10**17, 10**17 + 50, 10),
    Grid(-5, -2, 1),
]


def indices(records, grid):
    return [i for i in (grid.record_index(record) for record in records) if i >= 0]


def exact(value):
    return Fraction(repr(value)) if isinstance(value, float) else Fraction(value)


@pytest.mark.parametrize("grid", GRIDS, ids=repr)
def test_a_sum_is_exact(grid):
    """In units, against fractions: records, what one of them adds, and back to a number."""
    rng = np.random.default_rng(3)
    low, high = float(grid.lower), float(grid.upper)
    records = [*rng.uniform(low - 1, high + 1, 50).tolist(), *HOLES]
    unit, step = grid.exact_unit, exact(grid.lower)
    pitch = 1 / grid.index_units(Fraction(1))
    values = [step + i * pitch for i in indices(records, grid)]
    total = Sum()
    ((found,),) = totals(total, engine_of([records], grid), grid)
    assert found * unit == sum(values)
    ends = [step, step + (grid.size - 1) * pitch]
    assert total.sensitivity(grid) * unit == max(map(abs, ends))
    assert exact(grid.multiple(found)) == pytest.approx(sum(values))
    if grid.kind != "float":
        assert Fraction(grid.multiple(found)) == sum(values)


@pytest.mark.parametrize("grid", GRIDS[:6], ids=repr)
def test_soft_counts_are_exact_and_move_by_their_sensitivity(grid):
    rng = np.random.default_rng(4)
    records = rng.uniform(float(grid.lower), float(grid.upper), 20).tolist()
    counts = SoftCounts()
    (before,) = totals(counts, engine_of([records], grid), grid)
    index = indices(records, grid)
    assert before == (sum(index), sum(grid.size - 1 - i for i in index))
    assert soft_place(0, grid.size - 1, *before) == Fraction(sum(index), len(index))
    for record in (float(grid.lower), float(grid.upper), records[0]):
        (after,) = totals(counts, engine_of([[*records, record]], grid), grid)
        moved = sum(abs(a - b) for a, b in zip(before, after, strict=True))
        assert moved == counts.sensitivity(grid)


def records_of(array, grid):
    """The records of one array, in an engine."""
    return groups_of(array_engine(read_array(array), grid))[0]


@pytest.mark.parametrize("size", [1, 2**12 - 1, 2**17, 2**17 + 5, 300_001])
@pytest.mark.parametrize(
    "kind", [np.float64, np.float32, np.int64, np.uint8, np.int32, ">f8"], ids=str
)
def test_sums_of_arrays(kind, size):
    """Blocks, their ends and missing ones in them; clamped to two candidates or not."""
    rng = np.random.default_rng(size)
    values = (rng.normal(50, 40, size)).clip(0, 200).astype(kind)
    if np.dtype(kind).kind == "f":
        values[rng.random(size) < 0.01] = np.nan
        values[:1] = np.inf
    for grid in (Grid(0, 100, 1), Grid(0.0, 100.0), Grid(0, 99, 3)):
        column = records_of(values, grid)
        index = np.repeat(*column.value_counts()).astype(object)
        top = grid.size - 1
        for first, last in ((0, top), (top // 3, top // 2), (0, top // 2), (top // 3, top)):
            level = np.clip(index, first, last) - first
            assert column.level_sums(Quantization(first, last)) == (len(index), int(level.sum()), 0)
            few = Quantization.squared(first, last)
            level = few.of(level + first)
            sums = len(index), int(level.sum()), int((level**2).sum())
            assert column.level_sums(few) == sums


def test_a_fine_grid_of_many_large_indices():
    """Sums beyond 2**63, in doubles and in whole numbers."""
    values = np.full(300_000, 10.0)
    for grid, array in (
        (Grid(-10.0, 10.0), values),
        (Grid(0.0, 10.0, 2.0**-55), values),
        (Grid(-(2**61), 2**61 - 2, 1), np.full(300_000, 2**61 - 2)),
    ):
        column = records_of(array, grid)
        every = Quantization(0, grid.size - 1)
        assert column.level_sums(every) == (300_000, 300_000 * (grid.size - 1), 0)


TABLE = {
    "x": (pa.float64(), [0.5, None, 9.0, 2.0, math.nan, 7.25, -3.0, 12.0] * 5),
    "i": (pa.int64(), [3, None, 5, 7, 3, 9, -4, 200] * 5),
    "g": (pa.string(), ["a", "a", "b", "b", "other", "a", None, "b"] * 5),
    "p": (pa.int64(), list(range(40))),
}
SELECTIONS = [{}, {"by": "g", "keys": ["b", "none", "a"]}, {"unit": "p"}]
WHERE = dict(zip(["all", "groups", "people"], SELECTIONS, strict=True))
WHERE["both"] = {**SELECTIONS[1], **SELECTIONS[2]}


@pytest.mark.parametrize(("engine", "column", "rows"), every_pair(ENGINES, ["x", "i"], WHERE))
def test_the_same_sums_in_every_engine(engine, column, rows):
    """Every engine with each column and each selection of rows; what a column is multiplied by
    does not depend on the rows that are selected.
    """
    where = WHERE[rows]
    grid = Grid(0.0, 10.0) if column == "x" else Grid(0, 100, 1)
    rows = list(zip(TABLE[column][1], TABLE["g"][1], strict=True))
    groups = [None] if "by" not in where else where["keys"]
    truth = [
        indices([value for value, at in rows if group in (None, at)], grid) for group in groups
    ]
    top = grid.size - 1
    opened = open_engine(ENGINES[engine](TABLE), grid, column, **where)
    for first, last in ((0, top), (top // 3, top // 2)):
        levels = [[min(max(i, first), last) - first for i in index] for index in truth]
        sums = [(len(level), sum(level), 0) for level in levels]
        assert list(ask(opened, LevelSums(Quantization(first, last)))) == sums


@pytest.mark.parametrize("verb", [duffdp.sum, duffdp.mean])
def test_one_query_for_all_groups(verb, monkeypatch):
    """Of a table that stays where it is."""
    from duffdp._engines.adapters.query import NarwhalsQuery

    seen, fetch = [], NarwhalsQuery.fetch
    monkeypatch.setattr(
        NarwhalsQuery, "fetch", lambda self, rows: seen.append(1) or fetch(self, rows)
    )
    frame = pl.DataFrame({"x": np.arange(1000.0), "g": np.arange(1000) % 50}).lazy()
    for where in ({}, {"by": "g", "keys": list(range(50))}, {"unit": "g"}):
        seen.clear()
        verb(frame, column="x", epsilon=1.0, bounds=(0, 1000), **where)
        assert len(seen) == 1


def test_a_mean_converges():
    given = {"epsilon": SURE, "bounds": (-1, 5)}
    assert duffdp.mean([1.5, 2.5, 3.5, 4.5], **given).value == pytest.approx(3.0, abs=1e-4)
    assert duffdp.mean([1.2, 3.1, 4.6], **given, step=1).value == 3
    whole = duffdp.mean(np.array([1, 2, 2]), **given).value
    assert isinstance(whole, float)
    assert whole == pytest.approx(5 / 3, abs=1e-4)
    by_distance = duffdp.mean(np.array([1, 2, 2]), **given, mechanism="distance").value
    assert 1 <= by_distance <= 3
    assert by_distance % 1 > 0
    assert duffdp.mean([True, False, False, False], **given).value == pytest.approx(0.25, abs=1e-4)


def test_what_a_mean_is():
    """A number of the kind of the bounds; for dates, and where a step was chosen, a candidate."""
    sure = {"epsilon": SURE}
    money = duffdp.mean([Decimal("1.10"), Decimal("2.15")], **sure, bounds=(Decimal(0), Decimal(5)))
    assert isinstance(money.value, Decimal)
    assert float(money.value) == pytest.approx(1.625, abs=1e-4)
    assert Release.from_dict(money.to_dict()) == money
    cents = duffdp.mean([1.1, 2.16], **sure, bounds=(Decimal(0), Decimal(5)), step=Decimal("0.01"))
    assert cents.value == Decimal("1.63")
    days = [dt.date(2024, 3, 1), dt.date(2024, 3, 4)]
    bounds = dt.date(2024, 1, 1), dt.date(2024, 12, 31)
    assert duffdp.mean(days * 3, **sure, bounds=bounds).value in (
        dt.date(2024, 3, 2),
        dt.date(2024, 3, 3),
    )
    moments = [dt.datetime(2024, 3, 1, 12), dt.datetime(2024, 3, 1, 14)]
    ends = dt.datetime(2024, 3, 1), dt.datetime(2024, 3, 2)
    noon = duffdp.mean(moments, **sure, bounds=ends, step=3600).value
    assert noon == dt.datetime(2024, 3, 1, 13)
    on_grid = duffdp.mean([1.2, 1.3], **sure, bounds=Grid(0, 4, 1))
    assert (on_grid.value, on_grid.columns[0].kind) == (1, "candidate")


def test_no_records_at_all():
    """An answer like any other, between the bounds, by every mechanism."""
    for choice in ("best", "clipped", "distance", "duff"):
        for epsilon in (0.01, 1.0, SURE):
            found = duffdp.mean([], epsilon=epsilon, bounds=(2, 4), mechanism=choice).value
            assert 2 <= found <= 4
    assert duffdp.mean([], epsilon=SURE, bounds=(2, 4)).value == 3.0
    assert duffdp.sum([], epsilon=SURE, bounds=(2, 4), step=1).value == 0


def test_what_a_sum_is():
    sure = {"epsilon": SURE}
    whole = duffdp.sum(np.array([3, 4, 100]), **sure, bounds=(0, 9))
    assert (whole.value, type(whole.value)) == (16, int)
    assert duffdp.sum([0.1, 0.2], **sure, bounds=(0, 1), step=0.1).value == pytest.approx(0.3)
    money = duffdp.sum([Decimal("1.10")], **sure, bounds=(Decimal(0), Decimal(5)), step=1)
    assert money.value == Decimal(1)
    assert Release.from_dict(money.to_dict()) == money
    below = duffdp.sum([-5, -6], **sure, bounds=(-10, -1), step=1)
    assert below.value == -11
    frame = pl.DataFrame({"x": [1, 2, 3, 50], "g": ["a", "b", "a", "b"]})
    by = duffdp.sum(frame, column="x", **sure, bounds=(0, 9), by="g", keys=["a", "b", "c"])
    assert by.value["sum"].to_list() == [4, 11, 0]


def test_dates_have_no_sum():
    with pytest.raises(BoundsError, match="dates and times have no sum"):
        duffdp.sum([dt.date(2020, 1, 1)], epsilon=1, bounds=(dt.date(2020, 1, 1), dt.date.max))


@pytest.mark.parametrize("bounds", [(1e-308, 100.0), (0.1, 1e308), (5e-324, 1e308)])
def test_units_beyond_all_doubles(bounds):
    """The least common part of both bounds is so near to 0 that sums are many of it."""
    for records in ([], [bounds[1]] * 20):
        found = duffdp.sum(records, epsilon=SURE, bounds=bounds, interval=0.95)
        assert found.low <= found.value <= found.high
        exact = min(len(records) * Fraction(bounds[1]), Fraction(sys.float_info.max))
        assert found.value == pytest.approx(float(exact), abs=bounds[1] / 100)


def test_a_sum_beyond_all_doubles_is_the_largest_one():
    most = sys.float_info.max
    for sign in (1, -1):
        found = duffdp.sum([sign * most] * 50, epsilon=SURE, bounds=(-most, most)).value
        assert found == sign * most
        mean = duffdp.mean([sign * most] * 50, epsilon=SURE, bounds=(-most, most)).value
        assert mean == pytest.approx(sign * most)


@pytest.mark.parametrize("epsilon", [1.0, 5.0])
def test_errors_of_means(epsilon):
    """0.75 of what one record can move in the middle of the bounds, and all of it at an end; a
    third less at epsilon 5."""
    rng = np.random.default_rng(9)
    factor = {1.0: 0.993, 5.0: 0.664}[epsilon]
    for records, expected in ((np.full(500, 5.0), 0.75), (np.full(500, 0.0), 0.5)):
        errors = [
            abs(duffdp.mean(records, epsilon=epsilon, bounds=(0, 10), rng=rng).value - records[0])
            for _ in range(1500)
        ]
        wanted = expected * factor * 10 / (500 * epsilon)  # below 0 it is clamped: half of them
        assert np.mean(errors) == pytest.approx(wanted, rel=0.1)


def test_people_with_several_rows_move_a_sum_by_all_of_them():
    """Noise as wide as so many rows; the rest is as for rows."""
    frame = pl.DataFrame({"x": [5.0] * 40, "p": [i // 4 for i in range(40)]})
    rng = np.random.default_rng(2)
    given = {"column": "x", "epsilon": 1.0, "bounds": (0, 10), "rng": rng}
    errors = [
        abs(duffdp.sum(frame, **given, unit="p", contributions=4).value - 200) for _ in range(800)
    ]
    assert np.mean(errors) == pytest.approx(40, rel=0.2)


@pytest.mark.parametrize("records", [2**12, 2**14 + 2**12 - 1, 2**18 + 3])
def test_a_sum_of_the_largest_indices_that_doubles_add_is_exact(records):
    """2**12 of them stay below 2**53; twice as many need not."""
    grid = Grid(0.0, 2.0**41 - 1, 1)
    values = np.full(records, 2.0**41 - 1)
    values[-1] = math.nan
    for also in (values, np.append(values[:-1], 2.0**41 - 2)):
        present = also[~np.isnan(also)]
        found = records_of(also, grid).level_sums(Quantization(0, grid.size - 1))
        assert found == (len(present), sum(map(int, present.tolist())), 0)
