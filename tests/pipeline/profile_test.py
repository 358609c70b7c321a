"""A profile: cells of fields in every engine, text by the rules of statistics, and its words."""

from __future__ import annotations

import datetime as dt
import json

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import duffdp
from duffdp import BoundsError, DuffError, TextFile, UnsupportedData
from duffdp._engines.files.fields import FieldLabels, FieldRules, read_field
from duffdp._engines.requests import ValueCounts, ask, run_inquiry
from duffdp.domain import Bins, Categories, Fields
from engines import ENGINES, SLOW, open_engine

SURE = 1e6
TYPED = {
    "x": (pa.float64(), [None, float("nan"), -3.0, 0.0, 4.5, 5.0, float("inf")]),
    "s": (pa.string(), ["a", "b", None, "", "a", "c", "b"]),
    "p": (pa.int64(), [1, 1, 2, 2, 3, None, 4]),
}


@pytest.mark.parametrize("name", [name for name in ENGINES if name not in SLOW])
@pytest.mark.parametrize(
    ("column", "domain", "cells"),
    [
        ("x", Fields(Bins([0, 5])), {0: 2, 1: 2, 2: 3}),
        ("x", Fields(Bins([float("-inf"), 0, float("inf")])), {0: 2, 2: 1, 3: 4}),
        ("x", Fields(), {0: 2, 1: 5}),
        ("s", Fields(Categories(["b", "a"])), {0: 1, 1: 2, 2: 2, 3: 2}),
        ("s", Fields(), {0: 1, 1: 6}),
    ],
)
def test_every_field_is_in_one_cell_in_every_engine(name, column, domain, cells):
    engine = open_engine(ENGINES[name](TYPED), domain, column)
    values, counts = run_inquiry(ask(ValueCounts()), engine, np.zeros(1, dtype=np.int64)).group(0)
    assert dict(zip(values.tolist(), counts.tolist(), strict=True)) == cells
    people = open_engine(ENGINES[name](TYPED), domain, column, unit="p")
    _, counted = run_inquiry(ask(ValueCounts()), people, np.zeros(1, dtype=np.int64)).group(0)
    assert counted.sum() == 4  # one row of each person, missing fields too


def test_fields_of_objects_are_told_apart_one_by_one():
    column = pd.Series([None, "n/a", 7, 200, dt.date(2024, 1, 1), float("nan")], dtype=object)
    engine = open_engine(pd.DataFrame({"x": column}), Fields(Bins([0, 18])), "x")
    values, counts = run_inquiry(ask(ValueCounts()), engine, np.zeros(1, dtype=np.int64)).group(0)
    assert dict(zip(values.tolist(), counts.tolist(), strict=True)) == {0: 2, 1: 3, 2: 1}


TEXTS = [
    *("7", " 7 ", "-1.5", "1,5", "1.280,00", "1,280.00", "1'280", "1e3", "1_000", "inf", "nan"),
    *("", "k.A.", "2024-01-31", "2024-02-30", "31.01.2024", "2024-01-31T10:00Z", "0.125", "+3"),
]
RULES = [
    FieldRules(),
    FieldRules(decimal=",", thousands="."),
    FieldRules(thousands=","),
    FieldRules(date_format="%d.%m.%Y"),
]


@pytest.mark.parametrize("rules", RULES, ids=range(len(RULES)))
@pytest.mark.parametrize("kind", [None, "integer", "float", "date", "category", "boolean"])
def test_labels_follow_the_rules_of_reading(rules, kind):
    """Brute force: a field is a number or a date exactly where a statistic would read one."""
    labels = FieldLabels(kind, (0.0, 5.0), (dt.date(2020, 1, 1),))
    connection = duckdb.connect()

    def value(expression, text):
        return connection.execute(f"SELECT {expression} FROM (SELECT ? AS t)", [text]).fetchone()[0]

    for text in TEXTS:
        label = value(read_field("t", labels, rules), text)
        number = value(read_field("t", kind or "float", rules), text) if kind != "date" else None
        if number is not None and number != number:
            assert label is None  # nan is missing
            continue
        day = value(read_field("t", "date", rules), text) if kind in (None, "date") else None
        if kind != "category" and number is not None:
            assert label == f"number {sum(edge <= number for edge in (0, 5))}"
        elif day is not None:
            assert label == f"date {int(day >= dt.date(2020, 1, 1))}"
        else:
            assert label == "other"
        assert label in (*labels.names, "other")
    assert value(read_field("t", labels, rules), None) is None


def fines(path, count=200, share=0.44):
    """A file with German amounts, of which the larger ones have a mark of thousands."""
    large = round(count * share)
    amounts = [f"1.{200 + i % 700},00" for i in range(large)]
    amounts += [f"{100 + i % 800},50" for i in range(count - large)]
    days = [f"2024-0{1 + i % 9}-1{i % 10}" for i in range(count)]
    lines = [f"{i};{amounts[i]};{days[i]};{'fm'[i % 2]}" for i in range(count)]
    path.write_text("\n".join(["id;fine;day;sex", *lines]) + "\n")
    return path


def test_unreadable_fields_are_called_so(tmp_path, call):
    path = fines(tmp_path / "fines.csv")
    look = duffdp.profile(TextFile(path, decimal=","), epsilon=SURE, unit="id")
    column = look.to_dict()["columns"]["fine"]
    assert column["readable"] == pytest.approx(0.56)
    assert column["unreadable"] == pytest.approx(0.44)
    assert column["missing"] == 0
    assert (look.rows, look.people, look.columns["day"].kind) == (200, 200, "date")
    assert look.columns["day"].bounds == (dt.date(2024, 1, 1), dt.date(2025, 1, 1))
    assert [line for line in look.remarks if line.startswith("fine")] == [
        "fine: about 44% of the fields are not numbers, so statistics ignore them; check decimal, "
        "thousands and date_format"
    ]
    right = duffdp.profile(TextFile(path, decimal=",", thousands="."), epsilon=SURE, unit="id")
    assert right.columns["fine"].readable == 1
    code, out, err = call(
        *("profile", path, "-e", SURE, "--decimal", ",", "--columns", "fine", "--unit", "id")
    )
    assert (code, err) == (0, "")
    assert "about 44% of the fields are not numbers" in out


def test_it_is_called_so_in_spite_of_noise(tmp_path):
    path = fines(tmp_path / "fines.csv", 1000)
    look = TextFile(path, decimal=",")
    for seed in range(5):
        noisy = duffdp.profile(look, epsilon=0.2, columns=["fine", "day", "sex"], rng=seed)
        assert any(line.startswith("fine: about") for line in noisy.remarks)
        assert abs(noisy.columns["fine"].unreadable - 0.44) < 0.2


@pytest.mark.slow
def test_all_quartiles_of_fifteen_columns_are_within_a_factor_of_two():
    right = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        columns = {
            **{f"age {i}": rng.normal(40, 12, 1000).clip(0, 100).round() for i in range(5)},
            **{f"income {i}": rng.lognormal(10, 0.8, 1000) for i in range(5)},
            **{f"hours {i}": rng.gamma(4, 10, 1000) for i in range(5)},
        }
        look = duffdp.profile(pl.DataFrame(columns), epsilon=1, rng=seed)
        released = np.array([look.columns[name].quartiles for name in columns], dtype=float)
        exact = np.quantile(list(columns.values()), [0.25, 0.5, 0.75], axis=1).T
        right += bool(np.all((released >= exact / 2) & (released <= exact * 2)))
    assert right >= 38


def test_quartiles_of_dates_zeros_and_both_signs():
    """The first two were off by months and by 0.0003, the last one had no quartile below 0."""
    days = [dt.date(2025, 1, 1) + dt.timedelta(i % 365) for i in range(1000)]
    rng = np.random.default_rng(2)
    columns = {
        "day": days,
        "tip": [0.0] * 400 + [2.5] * 600,
        "both": rng.normal(0, 100, 1000),
        **{f"c{i}": rng.normal(50, 5, 1000) for i in range(12)},
    }
    frame, right = pl.DataFrame(columns), [0, 0, 0]
    for seed in range(10):
        look = duffdp.profile(frame, epsilon=1, rng=seed).columns
        exact = [days[round(q * 364)] for q in (0.25, 0.5, 0.75)]
        found = look["day"].quartiles
        right[0] += all(abs((a - b).days) <= 31 for a, b in zip(found, exact, strict=True))
        right[1] += look["tip"].quartiles[0] == 0 and 2 <= look["tip"].quartiles[1] <= 5
        low, _, high = look["both"].quartiles
        right[2] += -200 < low < 0 < high < 200
    assert min(right) >= 9


def test_many_records_have_quartiles_on_three_digits():
    values = np.random.default_rng(1).normal(170, 10, 20_000)
    look = duffdp.profile(pl.DataFrame({"height": values}), epsilon=2, rng=0)
    exact = np.quantile(values, [0.25, 0.5, 0.75])
    assert look.columns["height"].quartiles == pytest.approx(exact, abs=1)


def test_bounds_and_keys_that_are_passed():
    ages = [None] * 10 + [5] * 20 + [30] * 60 + [120] * 10
    frame = pl.DataFrame({"age": ages, "sex": (["f", "m", "x", None] * 25)})
    look = duffdp.profile(frame, epsilon=SURE, bounds={"age": (18, 120)}, by="sex", keys=["f", "m"])
    age, sex = look.columns["age"], look.columns["sex"]
    assert (age.missing, age.readable, age.inside) == pytest.approx((0.1, 0.9, 0.7))
    assert (sex.listed, sex.unreadable, sex.missing) == pytest.approx((0.5, 0.25, 0.25))
    assert look.bounds == {"age": (18, 120)}
    assert any("are outside of the bounds" in line for line in look.remarks)
    assert any("not among the keys" in line for line in look.remarks)


def test_a_condition_and_declared_types(tmp_path):
    path = fines(tmp_path / "fines.csv")
    some = duffdp.profile(path, epsilon=SURE, where="sex = 'f'", columns=["sex", "day"])
    assert (some.rows, some.columns["sex"].kind, some.columns["day"].kind) == (100, "text", "date")
    typed = TextFile(path, decimal=",", types={"fine": "double", "sex": "text"})
    look = duffdp.profile(typed, epsilon=SURE, columns=["fine", "sex"])
    assert look.columns["fine"].unreadable == pytest.approx(0.44)
    assert (look.columns["fine"].type, look.columns["sex"].type) == ("Float64", "String")


def test_too_few_rows_are_called_so():
    look = duffdp.profile(pl.DataFrame({"x": [1, 2, 3], "y": [1, 2, 3]}), epsilon=0.1, rng=1)
    assert look.remarks[0].startswith("too few rows for epsilon 0.1 and 2 columns")
    empty = duffdp.profile(pl.DataFrame({"x": pl.Series([], dtype=pl.Int64)}), epsilon=SURE)
    assert (empty.rows, empty.columns["x"].quartiles, empty.bounds) == (0, None, {})


def test_printed_shares_do_not_repeat_others(tmp_path, call):
    """No "unreadable 100%" for text, and no listed share twice; the numbers are in `to_dict`."""
    path = tmp_path / "a.csv"
    path.write_text("\n".join(["ward,age,note", *["a,2,?", "b,x,?", "c,4,7"] * 40]))
    look = duffdp.profile(path, epsilon=SURE, by="ward", keys=["a", "b"])
    table = look.display_tables()[0]
    places = [table.header.index(name) for name in ("readable", "unreadable", "missing")]
    assert [[row[i] for i in places] for row in table.rows] == [
        ["", "", "0%"],  # 67% are listed
        ["67%", "33%", "0%"],
        ["33%", "67%", "0%"],
    ]
    assert look.columns["ward"].readable == pytest.approx(2 / 3, abs=0.01)
    plain = duffdp.profile(path, epsilon=SURE, columns=["ward", "age"])
    assert plain.display_tables()[0].rows[0][: len(places) + 3] == [
        *("ward", "text", "text", "", "", "0%")
    ]
    assert plain.to_dict()["columns"]["ward"]["unreadable"] == pytest.approx(1, abs=0.01)
    _, out, _ = call("profile", path, "-e", SURE, "--columns", "age")
    assert "check --decimal, --thousands and --date-format" in out
    assert "check decimal, thousands and date_format" in plain.remarks[0]


def test_it_prints_and_is_exported(tmp_path, call):
    frame = pl.DataFrame({"age": [30] * 50, "sex": ["f"] * 50})
    look = duffdp.profile(frame, epsilon=SURE)
    assert str(look).splitlines()[0].split() == [
        *("column", "type", "kind", "readable", "unreadable", "missing"),
        *("q25", "median", "q75", "lower", "upper"),
    ]
    assert look.bounds == {"age": (20, 50)}
    assert "proposed bounds are released numbers" in look._repr_html_()
    assert look.to_pandas()["column"].tolist() == look.to_polars()["column"].to_list()
    assert json.loads(look.to_json()) == look.to_dict()
    page = duffdp.report.write_profile(look, tmp_path / "a.html", "A <look>").read_text()
    assert "<h1>A &lt;look&gt;</h1>" in page
    assert "NOT PRIVATE" not in page
    with pytest.raises(DuffError, match="Pass for example"):
        duffdp.report.write_profile(look, tmp_path / "a.doc")
    frame.write_csv(tmp_path / "a.csv")
    arguments = ("profile", tmp_path / "a.csv", "-e", SURE, "--bounds", "age", "0", "60")
    code, out, _ = call(*arguments, "--format", "json", "--report", tmp_path / "b.md")
    assert (code, json.loads(out)["columns"]["age"]["inside"]) == (0, 1)
    assert "| age |" in (tmp_path / "b.md").read_text()


def test_files_without_a_list_of_columns(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"x": 7}\n{"x": "k.A."}\n{"y": 1}\n{"x": 9}\n')
    look = duffdp.profile(path, epsilon=SURE, columns=["x"])
    assert look.columns["x"].unreadable == look.columns["x"].missing == 0.25
    notes = [note.worded() for note in look.reading]
    folder = duffdp.profile(tmp_path, epsilon=SURE, columns=["x"])
    assert folder.rows == 4
    assert [note.worded() for note in folder.reading] == notes
    assert not any("names the columns" in note for note in notes)
    for files in (path, tmp_path):
        with pytest.raises(UnsupportedData, match="so the column is required"):
            duffdp.profile(files, epsilon=1)


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"columns": ["agee"]}, UnsupportedData, "there is no column 'agee'"),
        ({"columns": 3}, DuffError, "columns must be a list of names"),
        ({"bounds": (0, 120)}, BoundsError, "must be a mapping from columns"),
        ({"bounds": {"age": 3}}, BoundsError, "must be a pair"),
        ({"bounds": {"age": (0, 10**400)}}, BoundsError, "finite numbers"),
        ({"bounds": {"age": (-1.7e308, 0)}}, BoundsError, "between the numbers -1e"),
        ({"bounds": {"age": (dt.date(2020, 1, 1), dt.date.max)}}, BoundsError, "2 and 9998"),
        ({"bounds": {"age": (dt.datetime.min, dt.datetime.max)}}, BoundsError, "2 and 9998"),
        ({"bounds": {"age": (dt.date(2020, 1, 1), dt.date(2021, 1, 1))}}, BoundsError, "numbers"),
        ({"by": "sex"}, DuffError, "needs keys"),
        ({"unit": "age", "columns": ["age"]}, DuffError, "is not profiled"),
        ({"rng": -1}, DuffError, "rng must be"),
    ],
)
def test_what_is_refused(options, error, words):
    frame = pl.DataFrame({"age": [30], "sex": ["f"]})
    with pytest.raises(error, match=words):
        duffdp.profile(frame, epsilon=1, **options)
