"""Counts, shares, histograms and orders: what they are of every engine, group and person, that one
record moves one cell, and what is made of the numbers after the draw."""

from __future__ import annotations

import itertools
import json
import math
from functools import partial

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import duffdp
from covering import every_pair
from duffdp import Bins, BoundsError, Categories, DuffError, Plan, Release, UnsupportedData
from duffdp._engines.adapters.duckdb import DuckdbRelation
from duffdp._engines.adapters.query import NarwhalsQuery
from duffdp._pipeline.error_bounds import count_bound
from duffdp.audit.neighbours import largest_log_ratio, neighbours
from duffdp.domain import Membership, Presence
from duffdp.statistics import Cells
from duffdp.statistics.histogram import labels, projected
from engines import ENGINES, written
from release_draws import laws

SURE = 400.0  # no noise to speak of
COLUMNS = {
    "x": (pa.float64(), [3.0, None, 5.0, 17.9, 18.0, 65.0, 120.0, 121.0, -1.0, math.nan, 30.0]),
    "i": (pa.int64(), [3, None, 5, 17, 18, 65, 120, 121, -1, None, 30]),
    "c": (pa.string(), ["a", "b", None, "a", "z", "b", "a", "", "a", None, "b"]),
    "g": (pa.string(), ["n", "n", "s", "s", "s", "n", "n", "s", "n", "other", None]),
    "p": (pa.int64(), [1, 1, 1, 2, 2, 3, 4, 5, 6, 7, 7]),
}
EDGES = [0, 18, 65, 120]
GROUPS = {"by": "g", "keys": ["n", "s"]}
PEOPLE = {"unit": "p", "contributions": 20}  # enough for all of their rows


def released(value):
    """A value, or the rows of a frame by their keys."""
    if isinstance(value, int | float | dict | list):
        return value
    rows = nw.from_native(value).lazy().collect().rows()
    return {row[0]: row[1:] if len(row) > 2 else row[1] for row in rows}


CASES = {
    "rows": (duffdp.count, {}, 11, {"n": 5, "s": 4}),
    "present numbers": (duffdp.count, {"column": "x"}, 9, {"n": 4, "s": 4}),
    "present text": (duffdp.count, {"column": "c"}, 9, {"n": 5, "s": 3}),
    "between": (
        duffdp.share,
        {"column": "x", "between": (18, 120)},
        4 / 9,
        {"n": 2 / 4, "s": 1 / 4},
    ),
    "between whole numbers": (
        duffdp.share,
        {"column": "i", "between": (17.5, math.inf)},
        5 / 9,
        {"n": 2 / 4, "s": 2 / 4},
    ),
    "values": (duffdp.share, {"column": "c", "values": ["a"]}, 4 / 9, {"n": 3 / 5, "s": 1 / 3}),
    "numbers as values": (
        duffdp.share,
        {"column": "i", "values": [3, 18, 4]},
        2 / 9,
        {"n": 1 / 4, "s": 1 / 4},
    ),
    "bins": (
        duffdp.histogram,
        {"column": "x", "bins": EDGES},
        [3, 2, 2],
        {"n": (1, 0, 2), "s": (2, 1, 0)},
    ),
    "bins of whole numbers": (
        duffdp.histogram,
        {"column": "i", "bins": EDGES},
        [3, 2, 2],
        {"n": (1, 0, 2), "s": (2, 1, 0)},
    ),
    "categories": (
        duffdp.histogram,
        {"column": "c", "categories": ["b", "a", "q"]},
        [3, 4, 0],
        {"n": (2, 3, 0), "s": (0, 1, 0)},
    ),
    "top": (
        lambda data, **given: duffdp.top(data, 2, **given),
        {"column": "c", "categories": ["b", "a", "q"]},
        ["a", "b"],
        {"n": ("a", "b"), "s": None},
    ),
}
TEXT = {"csv": written(".csv"), "jsonl": written(".jsonl")}
PLACES = ENGINES | TEXT
# In files of text an empty text is missing, and any other one is present: "nan" too.
IN_TEXT = {
    "present numbers": (10, {"n": 4, "s": 4}),
    "present text": (8, {"n": 5, "s": 2}),
    "values": (4 / 8, {"n": 3 / 5, "s": 1 / 2}),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("engine", PLACES)
def test_every_engine_counts_alike(engine, case):
    verb, given, whole, groups = CASES[case]
    data = PLACES[engine](COLUMNS)
    if engine in TEXT:
        whole, groups = IN_TEXT.get(case, (whole, groups))
    # In turn: whether people count is decided before the cells are.
    turn = list(PLACES).index(engine) + list(CASES).index(case)
    for people in [({}, PEOPLE)[turn % 2]]:
        epsilon = SURE * people.get("contributions", 1)
        value = verb(data, epsilon=epsilon, **given, **people).value
        value = list(value.values()) if isinstance(value, dict) else value
        assert value == (pytest.approx(whole) if isinstance(whole, float) else whole)
        found = released(verb(data, epsilon=epsilon, **given, **GROUPS, **people).value)
        for key, wanted in groups.items():
            if wanted is not None:
                assert found[key] == (
                    pytest.approx(wanted) if isinstance(wanted, float) else wanted
                )


@pytest.mark.parametrize("engine", PLACES)
def test_people_count_once(engine):
    """The number of people who have a row, or one where the column is present, in a public
    group."""
    data = PLACES[engine](COLUMNS)
    given = {"epsilon": SURE, "unit": "p"}
    assert duffdp.count(data, **given).value == 7
    assert duffdp.count(data, column="x", **given).value == 7
    empty = engine not in TEXT  # all that person 5 has
    assert duffdp.count(data, column="c", **given).value == 6 + empty
    in_groups = duffdp.count(data, **given, **GROUPS)
    assert sum(row[0] for row in in_groups.cells) == 6  # each in the group of one of their rows
    capped = duffdp.count(data, epsilon=SURE, unit="p", contributions=2)
    assert capped.value == 10
    assert (duffdp.count(data, **given).counted, capped.counted, in_groups.counted) == (
        "people",
        "rows of people, at most 2 each",
        "people",
    )


def test_what_is_counted_is_said():
    rows = duffdp.count([1, None], epsilon=SURE)
    assert (rows.value, rows.counted) == (1, "rows")
    assert "count: 1 rows, epsilon" in repr(rows)
    people = duffdp.count(pl.DataFrame({"p": [1, 1, 2]}), unit="p", epsilon=SURE)
    assert "count: 2 people, epsilon" in repr(people)
    assert duffdp.median([1], epsilon=1, bounds=(0, 1)).counted is None
    assert duffdp.share([1], epsilon=1, values=[1]).counted is None


QUERIES = {
    "count": {},
    "count of a column": {"column": "x"},
    "share": {"column": "x", "between": (0, 1)},
    "share of values": {"column": "c", "values": ["a"]},
    "histogram": {"column": "x", "bins": EDGES},
    "histogram of categories": {"column": "c", "categories": ["a", "b"]},
}
SELECTED = {
    "rows": {},
    "groups": GROUPS,
    "people": {"unit": "p"},
    "people in groups": {**GROUPS, "unit": "p"},
}


@pytest.mark.parametrize(
    ("engine", "name", "rows"),
    every_pair(["polars-lazy", "duckdb", "dask", "ibis", "spark", "parquet"], QUERIES, SELECTED),
)
def test_a_table_is_asked_once(engine, name, rows, monkeypatch):
    """Every engine with each release and each selection of rows: the queries are made of the
    release and the selection, and an engine only runs them.
    """
    asked = []
    for kind in (NarwhalsQuery, DuckdbRelation):  # no other one has a way of its own
        fetch = kind.fetch

        def counted(self, frame, fetch=fetch):
            asked.append(1)
            return fetch(self, frame)

        monkeypatch.setattr(kind, "fetch", counted)
    data = ENGINES[engine](COLUMNS)
    getattr(duffdp, name.split()[0])(data, epsilon=1, **QUERIES[name], **SELECTED[rows])
    assert asked == [1]


def test_rows_without_a_value_count():
    """All columns missing, an empty line of fields, a JSON object without fields."""
    gone = {"a": [None, None, None], "b": [None, None, None]}
    for frame in (pl.DataFrame(gone), pl.LazyFrame(gone), pd.DataFrame(gone), pa.table(gone)):
        assert duffdp.count(frame, epsilon=SURE).value == 3
        assert duffdp.count(frame, column="a", epsilon=SURE).value == 0


def test_rows_of_files(tmp_path):
    (tmp_path / "a.csv").write_text("x,y\n1,2\n,\n3,\n,4\n")
    (tmp_path / "a.jsonl").write_text('{"x": 1}\n{}\nnot json\n[1]\n{"row": 2}\n')
    assert duffdp.count(tmp_path / "a.csv", epsilon=SURE).value == 4
    assert duffdp.count(tmp_path / "a.csv", column="x", epsilon=SURE).value == 2
    assert duffdp.count(tmp_path / "a.jsonl", epsilon=SURE).value == 3
    assert duffdp.count(tmp_path / "a.jsonl", column="x", epsilon=SURE).value == 1


def test_text_in_numeric_bins_is_read_field_by_field(tmp_path):
    (tmp_path / "a.csv").write_text("x\n1\nabc\n 2 \ninf\nnan\n1e1\n2020-01-01\n")
    histogram = duffdp.histogram(tmp_path / "a.csv", column="x", bins=[0, 2, 10], epsilon=SURE)
    assert histogram.value == {"[0, 2)": 1, "[2, 10]": 2}
    share = duffdp.share(tmp_path / "a.csv", column="x", between=(0, 9), epsilon=SURE)
    assert share.value == 0.5  # of 1, 2, inf and 10
    with pytest.raises(UnsupportedData, match="numbers"):
        duffdp.histogram(pl.DataFrame({"x": ["1"]}), column="x", bins=[0, 2], epsilon=1)


# One record moves one cell, and all of epsilon is used.


@pytest.mark.parametrize(
    "domain",
    [
        Bins([0, 1, 2]),
        Membership(Bins([1, 2])),
        Membership(Categories([0, 3])),
        Presence(),
        Categories([0, 1, 3]),
    ],
    ids=str,
)
def test_one_record_moves_one_cell(domain):
    records = [0, 1, 2, 3, None, "a", math.inf]
    cells = Cells()
    for here, there, joined in neighbours(len(records), 3):
        a, b = (cells.of_records([records[i] for i in data], domain) for data in (here, there))
        moved = [y - x for x, y in zip(a, b, strict=True)]
        assert sum(map(abs, moved)) <= cells.sensitivity(domain)
        index = domain.record_index(records[joined])
        assert moved == [int(i == index) for i in range(domain.size)]


LISTED = {"categories": ["a", "b", "c"]}
OF_WORDS = {
    "histogram": LISTED,
    "share": {"values": ["a", "b"]},
    "top": {"k": 2, **LISTED},
    "count": {},
}


@pytest.mark.parametrize("name", OF_WORDS)
@pytest.mark.parametrize("epsilon", [0.3, 3.0])
def test_one_word_through_the_verb(name, epsilon):
    """The records of a list: a, b, one that is no category, and one that is missing."""
    verb = partial(getattr(duffdp, name), **OF_WORDS[name])
    words = ["a", "b", "?", None]
    largest = largest_log_ratio(
        lambda data: laws(lambda: verb([words[i] for i in data], epsilon=epsilon)),
        ((a, b) for a, b, _ in neighbours(len(words), 4)),
    )
    assert largest <= epsilon * (1 + 1e-9)
    assert largest > 0.9 * epsilon


# What becomes of the numbers.


def nearest(numbers):
    """Whole numbers of 0 and more with the same sum, by trying all."""
    total = max(0, sum(numbers))
    return min(
        sum((x - y) ** 2 for x, y in zip(numbers, tried, strict=True))
        for tried in itertools.product(range(total + 1), repeat=len(numbers))
        if sum(tried) == total
    )


@pytest.mark.parametrize("many", [1, 2, 3])
def test_counts_that_add_up_are_the_nearest_ones(many):
    for numbers in itertools.product(range(-4, 6), repeat=many):
        found = projected(numbers)
        assert min(found) >= 0
        assert sum(found) == max(0, sum(numbers))
        assert sum((x - y) ** 2 for x, y in zip(numbers, found, strict=True)) == nearest(numbers)


def test_counts_are_clamped_projected_or_left(monkeypatch):
    from duffdp.mechanisms import geometric

    noise = [-5, 2, 0]
    monkeypatch.setattr(geometric, "two_sided_geometrics", lambda epsilon, size, source: noise)
    given = {"bins": [0, 1, 2, 3], "epsilon": 1}
    data = [0, 1, 1, 2]
    assert list(duffdp.histogram(data, **given).value.values()) == [0, 4, 1]
    assert list(duffdp.histogram(data, nonnegative=False, **given).value.values()) == [-4, 4, 1]
    assert list(duffdp.histogram(data, adds_up=True, **given).value.values()) == [0, 1, 0]
    noise[:] = [-5, -5]
    share = {"between": (0, 1), "epsilon": 1}
    assert duffdp.share(data, **share).value == 0.5  # nothing is left
    noise[:] = [-5, 5]
    assert duffdp.share(data, **share).value == 0
    noise[:] = [5, -3]
    assert duffdp.share(data, **share).value == 1
    noise[:] = [1, 0]
    assert duffdp.share(data, **share).value == 4 / 5
    noise[:] = [-9]
    assert duffdp.count(data, epsilon=1).value == 0


def test_labels_differ():
    assert labels(Categories(["a", 1])) == ("a", "1")
    assert labels(Categories(["1", 1])) == ("'1'", "1")
    assert labels(Categories(["a", ""])) == ("'a'", "''")

    class Same:
        def __repr__(self):
            return "same"

    assert labels(Categories([Same(), Same()])) == ("same (1)", "same (2)")
    frame = pl.DataFrame({"a": ["x"], "c": ["a"]})
    found = duffdp.histogram(
        frame, column="c", categories=["a", "a_value"], by="a", keys=["x"], epsilon=SURE
    )
    assert found.value.columns == ["a", "a_value", "a_value_value"]
    relation = ENGINES["duckdb"]({"c": (pa.string(), ["a", "A"]), "g": (pa.int64(), [1, 1])})
    cases = duffdp.histogram(
        relation, column="c", categories=["a", "A"], by="g", keys=[1], epsilon=SURE
    )
    assert cases.value.columns == ["g", "a", "A_value"]
    assert cases.value.fetchall() == [(1, 1, 1)]


def test_the_bound_of_a_count_is_the_quantile_of_its_noise():
    for epsilon, contributions in itertools.product((0.1, 1.0, 5.0), (1, 3)):
        frame = pl.DataFrame({"p": [1]})
        made = duffdp.count(frame, epsilon=epsilon, unit="p", contributions=contributions)
        law = duffdp.mechanisms.Geometric(epsilon / contributions)
        for confidence in (0.5, 0.95, 0.99):
            bound = count_bound(made.facts, confidence)

            def within(t):
                return sum(law.probability(0, x) for x in range(-t, t + 1))  # noqa: B023

            assert within(bound) >= confidence - 1e-9
            assert bound == 0 or within(bound - 1) < confidence
    assert count_bound(duffdp.median([1], epsilon=1, bounds=(0, 1)).facts, 0.95) is None
    assert count_bound(duffdp.top([1], 2, epsilon=1, categories=[1, 2]).facts, 0.95) is None


# Facts, plans, and what is refused.

MADE = {
    "rows": lambda: duffdp.count(pl.DataFrame({"x": [1]}), epsilon=1),
    "present": lambda: duffdp.count([1], epsilon=1),
    "between": lambda: duffdp.share([1], between=(-math.inf, 0.1), epsilon=1),
    "values": lambda: duffdp.share([1], values=["a", 1], epsilon=1),
    "bins": lambda: duffdp.histogram([1], bins=[0.1, 0.5, math.inf], epsilon=1),
    "dates": lambda: duffdp.histogram(
        np.array(["2020-01-01"], "M8[D]"), bins=np.array(["2020", "2021"], "M8[D]"), epsilon=1
    ),
    "categories": lambda: duffdp.histogram(["a"], categories=["a", "b"], epsilon=1),
    "top": lambda: duffdp.top([1], 2, bounds=(0, 3), step=1, epsilon=1),
    "groups": lambda: duffdp.histogram(
        pl.DataFrame({"x": [1], "g": [1]}), column="x", by="g", keys=[1], bins=[0, 2, 9], epsilon=1
    ),
}


@pytest.mark.parametrize("name", MADE)
def test_facts_survive_json(name):
    made = MADE[name]()
    again = Release.from_dict(json.loads(json.dumps(made.to_dict(), allow_nan=False)))
    assert again == made
    assert again.domain == made.domain
    assert again.cells == made.cells


def test_statistics_are_named_by_what_is_not_in_the_public_set():
    said = {name: str(make().statistic) for name, make in MADE.items()}
    assert said["rows"] == "count"
    assert said["between"] == said["values"] == "share"
    assert said["bins"] == "histogram(nonnegative)"
    assert said["top"] == "top(2)"
    found = duffdp.histogram([1], bins=[0, 1], nonnegative=False, adds_up=True, epsilon=1)
    assert str(found.statistic) == "histogram(adds_up)"


def test_a_plan_of_counts(tmp_path):
    (tmp_path / "a.csv").write_text("age,sex,when\n10,1,2020-05-05\n20,2,\n70,1,2021-05-05\n")
    (tmp_path / "plan.toml").write_text(
        'source = "a.csv"\nepsilon = 2000\n'
        '[[release]]\nstatistic = "count"\n'
        '[[release]]\nstatistic = "share"\ncolumn = "sex"\nvalues = ["1"]\n'
        '[[release]]\nstatistic = "share"\ncolumn = "age"\nbetween = [0, inf]\nname = "all"\n'
        '[[release]]\nstatistic = "histogram"\ncolumn = "when"\n'
        "bins = [2020-01-01, 2021-01-01, 2022-01-01]\nadds_up = true\n"
        '[[release]]\nstatistic = "histogram"\ncolumn = "sex"\ncategories = ["1", "2"]\n'
        '[[release]]\nstatistic = "top"\nk = 1\ncolumn = "sex"\ncategories = ["1", "2"]\n'
    )
    plan = Plan.from_toml(tmp_path / "plan.toml")
    assert list(plan.check().rows.values()) == [1, 1, 1, 2, 2, 1]
    found = {name: release.value for name, release in plan.run().items()}
    assert found == {
        "count": 3,
        "share of sex": pytest.approx(2 / 3),
        "all": 1,
        "histogram of when": {"[2020-01-01, 2021-01-01)": 1, "[2021-01-01, 2022-01-01]": 1},
        "histogram of sex": {"1": 2, "2": 1},
        "top 1 of sex": ["1"],
    }


class Untouchable:
    """Data that fail a test when they are looked at."""

    def __fail(self, *_):
        raise AssertionError("data were looked at before the parameters were checked")

    __len__ = __iter__ = __array__ = to_numpy = __fail


WRONG = [
    ("histogram", {}, "either bins or categories, got neither"),
    ("histogram", {"bins": [0, 1], "categories": ["a"]}, "either bins or categories, got both"),
    ("histogram", {"bins": [1, 0]}, "must be in rising order"),
    ("histogram", {"bins": [0, 0]}, "must be in rising order"),
    ("histogram", {"bins": [0]}, "from 2 to 2"),
    ("histogram", {"bins": []}, "from 2 to 2"),
    ("histogram", {"bins": [0, math.nan]}, "finite"),
    ("histogram", {"categories": []}, "must not be empty"),
    ("histogram", {"bins": [0, 1], "adds_up": 1}, "adds_up must be True or False"),
    ("histogram", {"bins": [0, 1], "nonnegative": "no"}, "nonnegative must be True or False"),
    ("share", {}, "either values or between, got neither"),
    ("share", {"values": [1], "between": (0, 1)}, "either values or between, got both"),
    ("share", {"values": []}, "must not be empty"),
    ("share", {"values": "abc"}, "list of values"),
    ("share", {"values": [None]}, "missing"),
    ("share", {"between": (1, 0)}, "must have the smaller end first"),
    ("share", {"between": (1, 1)}, "must have the smaller end first"),
    ("share", {"between": (1,)}, "two ends"),
    ("share", {"between": 5}, "two ends"),
    ("share", {"between": (0, "a")}, "must have the smaller end first"),
    ("top", {"k": 0, "categories": ["a"]}, "whole number of 1 or more"),
    ("top", {"k": True, "categories": ["a"]}, "whole number of 1 or more"),
    ("top", {"k": 1.5, "categories": ["a"]}, "whole number of 1 or more"),
    ("top", {"k": 3, "categories": ["a", "b"]}, "at most the number of possible values, 2"),
    ("top", {"k": 9, "bounds": (0, 2), "step": 1}, "at most the number of possible values, 3"),
    ("top", {"k": 1}, "either categories or bounds"),
    ("top", {"k": 2, "bounds": (0.0, 1.0), "step": 1e-9}, "at most 2..20"),
    ("count", {"column": 3}, "name of a column"),
    ("count", {"by": "g"}, "by needs keys"),
]


@pytest.mark.parametrize(("verb", "given", "words"), WRONG, ids=str)
def test_what_is_wrong_is_said_before_data_are_looked_at(verb, given, words):
    with pytest.raises(DuffError, match=words):
        getattr(duffdp, verb)(Untouchable(), epsilon=1, **given)


def test_a_domain_that_depends_on_the_type_is_checked_before_anything_is_paid(tmp_path):
    ledger = duffdp.Ledger(tmp_path / "b.db", epsilon=1)
    given = {"epsilon": 1, "ledger": ledger, "bounds": (0, 3)}
    with pytest.raises(BoundsError, match=r"at most 2\*\*20 possible values"):
        duffdp.top(np.array([1.0, 2.0]), 2, **given, step=1e-7)
    with pytest.raises(DuffError, match="at most the number of possible values, 4"):
        duffdp.top(np.array([1, 2]), 5, **given)
    assert ledger.spent() == 0
    assert len(duffdp.top(np.array([1, 2]), 4, **given).value) == 4


def test_a_column_is_needed_where_a_value_is():
    frame = pl.DataFrame({"x": [1]})
    for make in (
        lambda: duffdp.share(frame, values=[1], epsilon=1),
        lambda: duffdp.histogram(frame, bins=[0, 1], epsilon=1),
        lambda: duffdp.top(frame, 1, categories=[1], epsilon=1),
    ):
        with pytest.raises(
            DuffError, match=r"column is required for a table\. Available columns: 'x'"
        ):
            make()
    with pytest.raises(UnsupportedData, match="no column 'y'"):
        duffdp.count(frame, column="y", epsilon=1)
    with pytest.raises(DuffError, match=r"is only valid for .*histogram"):
        Plan([{"statistic": "median", "bins": [0, 1], "column": "x"}], epsilon=1)
    with pytest.raises(BoundsError, match="count takes no bounds"):
        Plan([{"statistic": "count", "bounds": (0, 1)}], epsilon=1)


@pytest.mark.parametrize("name", ["min", "maximum", "gini", "pearson", "correlation", "mad"])
def test_statistics_that_there_are_not_have_an_alternative(name):
    with pytest.raises(AttributeError, match=f"no duffdp.{name}. .*(Use|Compare)"):
        getattr(duffdp, name)
    assert not hasattr(duffdp, name)
    with pytest.raises(AttributeError, match=r"no duffdp\.nothing"):
        _ = duffdp.nothing
