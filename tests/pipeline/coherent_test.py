"""Rows of a table that agree with each other, steps of decimals, and what is said about people."""

from __future__ import annotations

import decimal
import json

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
MARGINS = ("by g", "by p", "in all")


QUANTILES = {0.25: "x_0.25", 0.5: "x_median", 0.75: "x_0.75"}


@pytest.mark.parametrize(
    ("asked", "columns"),
    [
        (["median", 0.25, 0.75], ["x_median", "x_0.25", "x_0.75"]),
        ([0.75, "mean", "median", 0.25], ["x_0.75", "x_mean", "x_median", "x_0.25"]),
        ([0.75, 0.25, "median"], ["x_0.75", "x_0.25", "x_median"]),
        (
            [{"statistic": "quantile", "q": 0.25, "name": "x_0.25"}, 0.75, "median"],
            ["x_0.25", "x_0.75", "x_median"],
        ),
    ],
)
def test_quantiles_of_a_column_are_one_release(asked, columns):
    for seed in range(10):
        table = duffdp.table(FEW, {"x": asked}, epsilon=0.5, rng=seed, **GIVEN)
        release = table.releases["x_quantiles"]
        assert release.statistic == "quantiles(0.25, 0.5, 0.75)"
        assert table.epsilon == 0.5 == sum(one.epsilon for one in table.releases.values())
        wide = table.wide()
        order = [name for name in wide if name in columns]
        assert order == columns
        for i, row in enumerate(release.cells):
            values = row[::3]
            assert list(values) == sorted(values)
            for name, cells in zip(
                QUANTILES.values(), zip(row[::3], row[1::3], row[2::3], strict=False), strict=False
            ):
                assert tuple(wide[f"{name}{end}"][i] for end in ("", "_low", "_high")) == cells
                assert cells[1] <= cells[0] <= cells[2]
        again = duffdp.Table.from_dict(json.loads(table.to_json()))
        assert (again, again.wide(), again.releases) == (table, wide, table.releases)


def test_numbers_have_intervals_beside_a_median():
    def table(asked, **given):
        return duffdp.table(FEW, {"x": asked}, epsilon=9, **GIVEN, **given)

    both = [0.25, {"statistic": "median", "interval": 0.9}]
    assert table(both).releases["x_quantiles"].confidence == 0.9
    assert table([0.25, "median"]).releases["x_quantiles"].confidence == 0.95
    assert table([0.25, 0.75]).without_interval == ("x_quantiles",)
    assert table([0.25, "median"], interval=None).without_interval == (*("count", "x_quantiles"),)
    population = table([0.25, "median"], covers="population").releases["x_quantiles"]
    assert population.covers == "population"


def test_other_options_are_another_draw():
    rough = {"statistic": "median", "step": 10, "name": "rough"}
    plain = {"statistic": "median", "interval": None, "name": "plain"}
    paper = {"statistic": "quantile", "q": 0.5, "mechanism": "duff", "name": "paper"}
    table = duffdp.table(FEW, {"x": ["median", 0.25, rough, plain, paper]}, epsilon=9, **GIVEN)
    assert list(table.releases) == ["count", "x_quantiles", "rough", "plain", "paper"]
    assert not any(value % 10 for value in table.wide()["rough"])


def test_a_weight_is_for_all_that_is_drawn_together():
    asked = {"x": ["median", 0.25]}
    plan = duffdp.TablePlan(asked, epsilon=3, **GIVEN, weights={"x_quantiles": 2})
    assert [float(one.loss.epsilon) for one in plan.check().releases.values()] == [1, 2]
    for word, wrong in (
        ("weights", lambda: plan.with_weights({"x_median": 2})),
        ("within", lambda: plan.within({"x_median": 2}, group_size=100)),
    ):
        with pytest.raises(DuffError, match=rf"{word} names 'x_median'.*Pass 'x_quantiles'"):
            wrong()
    accurate = plan.within({"x_quantiles": 5}, group_size=1_000, draws=20)
    assert sum(one.loss.epsilon for one in accurate.check().releases.values()) == 3


def test_words_and_cross_tables_of_quantiles_that_are_drawn_together():
    given = {"bounds": {"x": (0, 100)}, "by": ["g", "p"], "keys": {"g": ["a", "b"], "p": [0, 1]}}
    names = {"x_median": "Median", "x_0.25": "Lower"}
    asked = {"x": ["median", 0.25, 0.75]}
    table = duffdp.table(FEW, asked, epsilon=9, **given, total=True, names=names, rng=1)
    assert [one.name for one in table.cross_tables()] == ["count", "Median", "x_quantiles"]
    assert table.cross("x_median").wide() == table.cross("Median").wide()
    assert list(table.wide())[5:9] == ["Median", "Median low", "Median high", "Lower"]
    expected = ["count", "x_quantiles", *(f"x_quantiles {by}" for by in MARGINS)]
    assert list(table.releases) == expected
    again = duffdp.Table.from_dict(table.to_dict())
    assert again.wide() == table.wide()
    assert table.rank("Median").certain == []
    for row, margin in ((4, 0), (6, 1)):  # margins are drawn together, too
        cells = table.releases[expected[2 + margin]].cells[0]
        assert [table.wide()[name][row] for name in ("Lower", "Median", "x_0.75")] == [*cells[::3]]


def test_marks_of_quantiles_that_are_drawn_together():
    """One row in a group: no quantile of it can be told, and every one says so."""
    frame = pl.DataFrame({"x": [50.0], "g": ["a"]})
    asked = {"x": ["median", 0.25, 0.75]}
    marked = 0
    for seed in range(20):
        table = duffdp.table(frame, asked, epsilon=0.2, smallest=0, rng=seed, **GIVEN)
        row = table.releases["x_quantiles"].cells[0]
        wide = [high - low >= 90 for low, high in zip(row[1::3], row[2::3], strict=True)]
        assert table.too_small()[0] == (wide[1] or (wide[0] and wide[2]))
        marked += table.too_small()[0]
    assert marked > 10


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


def test_people_are_called_people(tmp_path):
    table = duffdp.table(FEW, {"x": "mean"}, epsilon=1, unit="p", **GIVEN)
    assert table.display_tables()[0].header[1] == "people, each in one group"
    assert "count" in table.wide()
    several = duffdp.table(FEW, {"x": "mean"}, epsilon=1, unit="p", groups_per_person=2, **GIVEN)
    assert several.display_tables()[0].header[1] == "people, each in up to 2 groups"
    assert any("a total counts people more than once" in note for note in several.notes)
    rows = duffdp.table(FEW, {"x": "mean"}, epsilon=1, **GIVEN)
    assert rows.display_tables()[0].header[1] == "count"
    assert any("groups_per_person=2 counts people in two" in note for note in table.notes)
    assert any("the rows chosen at random" in note for note in table.notes)
    assert not any("groups_per_person" in note for note in several.notes)
    named = {"names": {"count": "Patients"}, "total": True, "groups_per_person": 2}
    renamed = duffdp.table(FEW, {"x": "mean"}, epsilon=1, unit="p", **named, **GIVEN)
    assert renamed.display_tables()[0].header[1] == "Patients"
    assert "each person in up to 2 groups" in renamed.to_text()
    page = duffdp.report.write(renamed, tmp_path / "page.html").read_text()
    assert "A person counts in up to 2 groups, so “all” counts people more than once" in page
    alone = duffdp.table(FEW, {"x": "mean"}, epsilon=1, unit="p", bounds=GIVEN["bounds"])
    assert alone.display_tables()[0].header[0] == "people"
    assert not any("chosen" in note for note in rows.notes)


def test_habits_of_other_libraries(tmp_path, call):
    frame = pd.DataFrame({"income": [1.0, 2.0] * 50, "sex": ["f", "m"] * 50})
    given = {"epsilon": 1e6, "column": "income", "bounds": (0, 3)}
    for where in ("sex == 'f'", "sex = 'f'"):
        assert duffdp.mean(frame, where=where, **given).value == pytest.approx(1, abs=0.01)
    with pytest.raises(
        DuffError, match=r"got the name of a column, f\. Put text in single quotes: 'f'"
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
