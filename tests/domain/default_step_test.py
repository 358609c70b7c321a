"""The step that answers have when the caller gives none: one rule for all containers, by public
facts alone."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from fractions import Fraction

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import duffdp
from duffdp import Grid
from duffdp.domain.default_step import default_grid, power_of_ten
from duffdp.statistics.quantile import LATTICE_CANDIDATES
from duffdp.statistics.registry import REGISTRY

DAY, NEXT = dt.datetime(2024, 1, 1), dt.datetime(2025, 1, 1)
DOUBLES = [
    ((0.0, 1.0), 1e-5),
    ((0, 1), 1e-5),
    ((0, 10), 1e-4),
    ((0.0, 120.0), 0.001),
    ((-90, 90), 0.001),
    ((0, 500), 0.001),
    ((-100_000, 100_000), 1),
    ((0, 10**6), 1),
    ((0.0, 1e9), 1),  # generous bounds do not round what is far from them
    ((0, 1e12), 1),
    ((0, 1e15), 1000),
    ((0, 1e-3), 1e-8),
    ((10**15, 10**15 + 10), 0.125),  # no finer than doubles are
    ((Decimal(0), Decimal("2.5")), Decimal("0.00001")),
    ((dt.date(2020, 1, 1), dt.date(2024, 1, 1)), dt.timedelta(days=1)),
    ((DAY, NEXT), dt.timedelta(minutes=1)),
    ((DAY, DAY + dt.timedelta(hours=1)), dt.timedelta(milliseconds=10)),
    ((dt.datetime(1900, 1, 1), NEXT), dt.timedelta(hours=1)),
    ((DAY, DAY + dt.timedelta(microseconds=9)), dt.timedelta(microseconds=1)),
]


@pytest.mark.parametrize(("bounds", "step"), DOUBLES, ids=repr)
def test_a_power_of_ten_for_what_asks_for_order(bounds, step):
    grid = default_grid(*bounds, "order", integer_type=False, untyped=False)
    assert grid.step == step
    assert type(grid.step) is type(step) or isinstance(grid.step, float)


@pytest.mark.parametrize(
    ("bounds", "whole", "untyped", "step"),
    [
        ((0, 120), True, False, 1),
        ((0.0, 120.0), True, False, 1),
        ((0, 1), True, False, 1),
        ((0.2, 0.7), True, False, 1e-6),  # no two whole numbers
        ((0, 120), False, True, 1),
        ((0, 10), False, True, 1),
        ((np.int64(0), np.int64(10)), False, True, 1),
        ((0, 9), False, True, 1e-5),  # shares, rates and the like
        ((0, 1), False, True, 1e-5),
        ((0.0, 120.0), False, True, 0.001),
        ((0, 120.0), False, True, 0.001),
        ((0, 10**8), False, True, 1),
    ],
)
def test_whole_numbers(bounds, whole, untyped, step):
    assert default_grid(*bounds, "order", whole, untyped).step == step
    # Sums of records without a type are not rounded.
    assert (default_grid(*bounds, "sum", whole, untyped).step == 1) == (whole and step == 1)
    assert default_grid(*bounds, "average", whole, untyped).step < 1


def test_sums_are_as_fine_as_doubles_need():
    for bounds in ((0, 10), (0.0, 1e6), (DAY, NEXT)):
        assert default_grid(*bounds, "sum", integer_type=False, untyped=False) == Grid(*bounds)


@pytest.mark.parametrize("number", ["1", "0.999", "1e30", "7e-9", "123.4"])
def test_the_largest_power_of_ten(number):
    power = power_of_ten(Fraction(number))
    assert power <= Fraction(number) < 10 * power
    assert 1 in (power.numerator, power.denominator)
    assert str(max(power.numerator, power.denominator)).strip("0") == "1"


def test_usual_bounds_have_few_candidates():
    """So that the sharper law is used."""
    for bounds in ((0.0, 1.0), (0, 7), (0.0, 99.9), (-90, 90), (0, 10**6), (-0.5, 0.4)):
        assert (
            10**5
            <= default_grid(*bounds, "order", False, False).size - 1
            < 10**6 + 1
            <= LATTICE_CANDIDATES
        )


def test_every_statistic_has_a_rule():
    asked = {known.name: set(map(known.step_rule, known.choices)) for known in REGISTRY.values()}
    order = {"median", "quantile", "quantiles", "describe", "mode", "top", "iqr", "distribution"}
    assert {name for name, rules in asked.items() if rules == {"order"}} == order
    assert asked["trimmed_mean"] == {"average"}
    assert REGISTRY["mean"].step_rule("best") == "sum"
    assert REGISTRY["mean"].step_rule("duff") == REGISTRY["mean"].step_rule("distance") == "average"
    assert asked["sum"] == asked["variance"] == asked["std"] == {"sum"}


# The same for all containers.

VALUES = [2.7, 3.1, 40.0, 8.25] * 40


def csv_file(folder, values):
    path = folder / "x.csv"
    path.write_text("\n".join(["x", *map(str, values)]))
    return path


def jsonl_file(folder, values):
    path = folder / "x.jsonl"
    path.write_text("\n".join(f'{{"x": {value}}}' for value in values))
    return path


def parquet_file(folder, values):
    path = folder / "x.parquet"
    pl.DataFrame({"x": values}).write_parquet(path)
    return path


def table(values):
    connection = duckdb.connect()
    connection.register("given", pa.table({"x": values}))
    return connection.sql("SELECT * FROM given")


TYPED = {
    "array": lambda folder, values: np.array(values),
    "masked": lambda folder, values: np.ma.array(values),
    "series": lambda folder, values: pd.Series(values),
    "pandas": lambda folder, values: pd.DataFrame({"x": values}),
    "polars": lambda folder, values: pl.DataFrame({"x": values}),
    "lazy": lambda folder, values: pl.LazyFrame({"x": values}),
    "arrow": lambda folder, values: pa.table({"x": values}),
    "duckdb": lambda folder, values: table(values),
    "parquet": parquet_file,
}
UNTYPED = {
    "list": lambda folder, values: values,
    "tuple": lambda folder, values: tuple(values),
    "objects": lambda folder, values: np.array(values, dtype=object),
    "object frame": lambda folder, values: pd.DataFrame({"x": pd.Series(values, dtype=object)}),
    "csv": csv_file,
    "jsonl": jsonl_file,
}
NO_COLUMN = ("array", "masked", "series", "list", "tuple", "objects")


def domain_of(name, data, bounds):
    column = {} if name in NO_COLUMN else {"column": "x"}
    return duffdp.median(data, epsilon=9.0, bounds=bounds, **column).domain


@pytest.mark.parametrize("name", TYPED)
def test_a_declared_type_decides(name, tmp_path):
    whole = [int(value) for value in VALUES]
    assert domain_of(name, TYPED[name](tmp_path, whole), (0, 100)) == Grid(0, 100, 1)
    assert domain_of(name, TYPED[name](tmp_path, whole), (0.0, 100.0)).step == 1
    assert domain_of(name, TYPED[name](tmp_path, VALUES), (0, 100)) == Grid(0, 100, 0.001)


@pytest.mark.parametrize("name", UNTYPED)
def test_without_a_type_the_bounds_decide_and_no_record_does(name, tmp_path):
    kinds = [VALUES, [int(value) for value in VALUES], [*map(int, VALUES[1:]), 2.7], [5], [2.5]]
    for values in kinds:
        data = UNTYPED[name](tmp_path, values)
        assert domain_of(name, data, (0, 100)) == Grid(0, 100, 1)
        assert domain_of(name, data, (0.0, 100.0)) == Grid(0.0, 100.0, 0.001)
        assert domain_of(name, data, (0, 5)) == Grid(0, 5, 0.00001)


def test_values_print_clean():
    for data, bounds, shown in (
        (np.array([2.7] * 400), (0, 10), "2.7"),
        ([40] * 400, (0, 120), "40"),
        ([0.25] * 400, (0, 1), "0.25"),
        (np.array([3141.59] * 400), (0, 1e7), "3142.0"),
    ):
        assert repr(duffdp.median(data, epsilon=20.0, bounds=bounds).value) == shown


def test_an_average_of_whole_numbers_is_not_whole():
    flags = np.array([0, 1, 1, 1] * 500)
    for choice in ("best", "clipped", "distance", "duff"):
        mean = duffdp.mean(flags, epsilon=20.0, bounds=(0, 1), mechanism=choice).value
        assert abs(mean - 0.75) < 0.1
    assert abs(duffdp.trimmed_mean(flags, 0.1, epsilon=20.0, bounds=(0, 1)).value - 0.8) < 0.1
    assert duffdp.sum(flags, epsilon=20.0, bounds=(0, 1)).value == pytest.approx(1500, abs=20)


def test_records_without_a_type_are_not_rounded_before_they_are_summed(tmp_path):
    shares = [0.4] * 3000
    for data, column in ((shares, None), (csv_file(tmp_path, shares), "x")):
        given = {"epsilon": 50.0, "bounds": (0, 10), "column": column}
        assert duffdp.mean(data, **given).value == pytest.approx(0.4, abs=0.05)
        assert duffdp.sum(data, **given).value == pytest.approx(1200, abs=20)


def test_wide_bounds_do_not_round_small_values():
    amounts = np.random.default_rng(0).lognormal(8, 1, 5000)
    found = duffdp.median(amounts, epsilon=5.0, bounds=(0, 1e12)).value
    assert abs(found - np.median(amounts)) < 200


def test_the_command_says_the_step(tmp_path, call):
    path = csv_file(tmp_path, VALUES)
    line = ("median", path, "-c", "x", "-e", "9", "-f", "csv")
    whole, decimal, chosen, digits = (
        call(*line, *how, quiet=False)[2]
        for how in (
            ("--bounds", "0", "100"),
            ("--bounds", "0.0", "100.0"),
            ("--bounds", "0", "100", "--step", "0.5"),
            ("--digits", "3"),
        )
    )
    assert "rounded to whole numbers;" in whole
    assert "steps of 0.001;" in decimal
    assert "steps of" not in chosen + digits


def test_planning_looks_at_the_same_candidates():
    ages = [25, 38, 40, 41, 70] * 20
    listed, typed, chosen = (
        duffdp.preview(data, epsilon=0.5, bounds=(0, 120), **more).expected_error("best")
        for data, more in ((ages, {}), (np.array(ages), {}), (ages, {"step": 1}))
    )
    assert listed == typed == chosen
