"""Rows of a table that agree with each other, steps of decimals, and what is said about people."""

from __future__ import annotations

import decimal

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest

import duffdp
from duffdp import DuffError, Ledger
from duffdp._pipeline.estimates import is_nearly_whole
from duffdp.domain import Digits, Grid
from duffdp.statistics.program import OutputColumn

FEW = pl.DataFrame({"x": [1.0, 50.0, 90.0, 3.0, 60.0], "g": list("aabbb"), "p": range(5)})
GIVEN = {"bounds": {"x": (0, 100)}, "by": "g", "keys": ["a", "b"]}


@pytest.mark.parametrize("asked", [["median", 0.25, 0.75], [0.75, 0.25, "median"]])
def test_quantiles_of_a_row_are_in_order(asked):
    for seed in range(30):
        table = duffdp.table(FEW, {"x": asked}, epsilon=0.5, rng=seed, **GIVEN)
        rows = table.to_pandas()
        assert (rows["x_0.25"] <= rows["x_median"]).all()
        assert (rows["x_median"] <= rows["x_0.75"]).all()
        assert (rows["x_median_low"] <= rows["x_median"]).all()
        assert (rows["x_median"] <= rows["x_median_high"]).all()
        again = duffdp.Table.from_dict(table.to_dict())
        assert again.wide() == table.wide()


def test_order_moves_the_later_values_only():
    names = ["x_median", "x_quantiles"]
    moved = 0
    for seed in range(30):
        table = duffdp.table(FEW, {"x": ["median", 0.25, 0.75]}, epsilon=0.5, rng=seed, **GIVEN)
        first, second = (table.releases[name] for name in names)
        wide = table.wide()
        assert wide["x_median"] == [row[0] for row in first.cells]
        for i, (low, high) in enumerate(second.cells):
            middle = wide["x_median"][i]
            assert wide["x_0.25"][i] == min(low, middle)
            assert wide["x_0.75"][i] == max(high, middle)
            moved += low > middle or high < middle
    assert moved  # else nothing was tested


@pytest.mark.parametrize(
    ("low", "high", "marked"), [(0, 100, True), (7, 99, True), (0, 89, False), (20, 60, False)]
)
def test_intervals_of_nearly_all_of_the_range_are_marked(low, high, marked):
    assert is_nearly_whole(OutputColumn("x"), Grid(0, 100, 1), low, high) is marked
    assert not is_nearly_whole(OutputColumn("x"), Grid(1, 11, 1), 1, 10)  # ten answers of eleven
    assert not is_nearly_whole(OutputColumn("n", "count"), Grid(0, 100, 1), low, high)
    assert is_nearly_whole(OutputColumn("x"), Digits(2), -1e12, 1e12)


@pytest.mark.parametrize(("kind", "step"), [("DECIMAL(2,1)", 0.1), ("DECIMAL(10,2)", 0.01)])
def test_the_step_follows_a_declared_scale(kind, step):
    connection = duckdb.connect()
    relation = connection.sql(f"SELECT CAST(i % 6 AS {kind}) AS x FROM range(100) r(i)")
    release = duffdp.median(relation, column="x", epsilon=1, bounds=(0, 6))
    assert float(release.domain.step) == step
    schema = {"x": pl.Decimal(4, int(-np.log10(step)))}
    frame = pl.DataFrame({"x": [decimal.Decimal("1.5")]}, schema=schema)
    assert float(duffdp.median(frame, column="x", epsilon=1, bounds=(0, 6)).domain.step) == step
    whole = pl.DataFrame({"x": [decimal.Decimal(1)]}, schema={"x": pl.Decimal(38, 0)})
    other = duffdp.median(whole, column="x", epsilon=1, bounds=(0, 6))
    assert float(other.domain.step) < 0.01  # 0 is also what is said where nothing is declared
    mean = duffdp.mean(frame, column="x", epsilon=1, bounds=(0, 6))
    assert float(mean.domain.step) < step  # what is summed is not rounded


def test_the_step_of_a_column_is_not_for_means():
    frame = pl.DataFrame({"grade": [2.0, 2.5, 3.0, 1.5] * 50})
    table = duffdp.table(
        frame,
        {"grade": ["median", "mean"]},
        epsilon=1e6,
        bounds={"grade": (1, 6)},
        step={"grade": 0.5},
    )
    wide = table.wide()
    assert wide["grade_median"][0] in (2.0, 2.5)
    assert wide["grade_mean"][0] == pytest.approx(2.25, abs=0.01)


def test_people_are_called_people():
    table = duffdp.table(FEW, {"x": "mean"}, epsilon=1, unit="p", **GIVEN)
    assert table.display_tables()[0].header[1] == "people, each in one group"
    assert "count" in table.wide()
    several = duffdp.table(FEW, {"x": "mean"}, epsilon=1, unit="p", groups_per_person=2, **GIVEN)
    assert several.display_tables()[0].header[1] == "people"
    rows = duffdp.table(FEW, {"x": "mean"}, epsilon=1, **GIVEN)
    assert rows.display_tables()[0].header[1] == "count"
    assert any("groups_per_person=2 counts people in two" in note for note in table.notes)
    assert any("the rows that were picked" in note for note in table.notes)
    assert not any("groups_per_person" in note for note in several.notes)
    assert not any("picked" in note for note in rows.notes)


def test_habits_of_other_libraries(tmp_path, call):
    frame = pd.DataFrame({"income": [1.0, 2.0] * 50, "sex": ["f", "m"] * 50})
    given = {"epsilon": 1e6, "column": "income", "bounds": (0, 3)}
    for where in ("sex == 'f'", "sex = 'f'"):
        assert duffdp.mean(frame, where=where, **given).value == pytest.approx(1, abs=0.01)
    with pytest.raises(
        DuffError, match="text goes in single quotes: f alone is the name of a column"
    ):
        duffdp.mean(frame, where='sex = "f"', **given)
    for mask in (frame["sex"] == "f", (frame["sex"] == "f").to_numpy(), [True] * 100):
        with pytest.raises(DuffError, match="condition written as in SQL"):
            duffdp.mean(frame, where=mask, **given)
    with pytest.raises(TypeError, match="pass column='income'"):
        duffdp.median(frame, "income", epsilon=1, bounds=(0, 3))


def test_a_ledger_with_several_data_sets_lists_them(tmp_path, call):
    path = tmp_path / "budget.db"
    for name, epsilon in (("y2023", 1), ("y2024", 2)):
        Ledger(path, epsilon=epsilon, dataset=name)
    duffdp.count([1, 2], epsilon=0.5, ledger=Ledger(path, dataset="y2024"))
    code, out, err = call("ledger", "show", path)
    assert (code, err) == (0, "")
    lines = [line.split() for line in out.splitlines()]
    assert lines[1:3] == [["y2023", "1", "0", "1"], ["y2024", "2", "0.5", "1.5"]]
    assert call("ledger", "show", path, "--dataset", "y2024")[0] == 0
    assert call("ledger", "show", path, "--delta", "1e-6")[0] == 2
