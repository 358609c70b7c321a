"""Plans in Python and as TOML: the same releases, and errors that name the release."""

from __future__ import annotations

import datetime as dt
from fractions import Fraction

import pandas as pd
import polars as pl
import pytest

import duffdp
from command_line import TYPED_ADULT
from duffdp import DuffError, Plan, UnsupportedData

AGES = {"column": "age", "bounds": (0, 120)}
MEDIAN = {"statistic": "median", **AGES}
FRAME = pl.DataFrame({"age": [30, 40, 50], "g": [1, 2, 1]})


def test_a_file_and_a_list_say_the_same(tmp_path):
    written = Plan.from_toml(
        write(
            tmp_path,
            f"""
            source = '{TYPED_ADULT}'
            epsilon = 0.3
            unit = "occupation"
            contributions = 2
            [[release]]
            statistic = "median"
            column = "age"
            bounds = [0, 120]
            by = ["sex", "hours_per_week"]
            keys = [["Female", "Male"], ["40", 50]]
            weight = 2
            [[release]]
            name = "levels"
            statistic = "mode"
            column = "hours_per_week"
            categories = ["40", "50"]
            contributions = 1
            """,
        )
    )
    keys = [("Female", 40), ("Female", 50), ("Male", 40), ("Male", 50)]
    levels = {"name": "levels", "statistic": "mode", "column": "hours_per_week"}
    given = Plan(
        [
            MEDIAN | {"by": ["sex", "hours_per_week"], "keys": keys, "weight": 2},
            levels | {"categories": [40, 50], "contributions": 1},
        ],
        epsilon=0.3,
        unit="occupation",
        contributions=2,
    )
    found, expected = written.check(), given.check(TYPED_ADULT)
    assert {n: f.to_dict() for n, f in found.releases.items()} == {
        n: f.to_dict() for n, f in expected.releases.items()
    }
    assert found.rows == {"median of age by sex, hours_per_week": 4, "levels": 1}
    assert [f.loss.epsilon for f in found.releases.values()] == [Fraction(1, 5), Fraction(1, 10)]
    releases = written.run()
    assert releases["levels"].value in (40, 50)
    assert [row[0] for row in releases["median of age by sex, hours_per_week"].rows()] == [
        {"sex": sex, "hours_per_week": hours} for sex, hours in keys
    ]


def write(folder, text):
    path = folder / "plan.toml"
    path.write_text(text)
    return path


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pl.LazyFrame])
def test_texts_of_a_file_take_the_types_of_a_frame(tmp_path, make):
    """A plan in TOML may be run on a frame; text stands for the number, the day or the truth that
    the column holds.
    """
    days = [dt.date(2024, 1, i) for i in (1, 2)]
    frame = make({"x": [1, 9], "day": days, "yes": [True, False], "f": [0.5, 2.0]})
    if isinstance(frame, pd.DataFrame):
        frame["day"] = pd.to_datetime(frame["day"])
    text = """
    source = "none"
    epsilon = 500
    [[release]]
    statistic = "median"
    column = "x"
    bounds = [0, 9]
    by = ["day", "yes", "f"]
    keys = [["2024-01-02"], ["FALSE"], ["2"]]
    """
    ((_, release),) = Plan.from_toml(write(tmp_path, text)).run(frame).items()
    assert [value for _, _, value in release.rows()] == [9]
    with pytest.raises(
        DuffError, match="release 1 of the plan: the column 'yes' has the type Bool"
    ):
        Plan.from_toml(write(tmp_path, text.replace("FALSE", "no"))).check(frame)


def test_in_python_text_is_text():
    """A number is not found by its text: whether it is would depend on how a caller wrote it."""
    listed = MEDIAN | {"by": "g", "keys": ["1", "2"]}
    with pytest.raises(DuffError, match=r"release 1 of the plan: .*'1'"):
        Plan([listed], epsilon=1.0).run(FRAME)


WRONG = [
    ([], "a plan must be a list of releases"),
    ("median", "a plan must be a list of releases"),
    ([3], "a plan must be a list of releases"),
    (MEDIAN, "a plan must be a list of releases"),
    ([MEDIAN, MEDIAN], "have the name 'median of age'"),
    ([MEDIAN, {**MEDIAN, "name": 3}], "release 2 of the plan: name must be text"),
    ([MEDIAN, {**AGES}], "release 2 of the plan: statistic is missing"),
    ([{**MEDIAN, "q": 0.5}], "release 1 of the plan: q is only valid for quantile"),
    ([{**MEDIAN, "nodes": 5}], "nodes is only valid for triangles, stars"),
    ([{**MEDIAN, "statistic": "quantile"}], "quantile needs q. Pass for example q=0.25"),
    ([{**MEDIAN, "weigth": 1}], "median has an unknown entry 'weigth'. Did you mean 'weight'"),
    ([{**MEDIAN, "mechanism": "laplace"}], "release 1 of the plan: mechanism must be"),
    ([{**MEDIAN, "by": "g"}], "release 1 of the plan: by needs keys"),
    ([{"statistic": "triangles", "nodes": 5, "column": "x"}], "triangles has an unknown entry"),
]


@pytest.mark.parametrize(("releases", "told"), WRONG, ids=range(len(WRONG)))
def test_a_wrong_plan_names_the_release(releases, told):
    with pytest.raises(DuffError, match=told):
        Plan(releases, epsilon=1.0)


def test_a_mechanism_for_all_must_be_one():
    summary = {"statistic": "describe", **AGES}
    assert Plan([summary], epsilon=1.0, mechanism="duff").requests[0].options["mechanism"] == "best"
    with pytest.raises(DuffError, match="mechanism must be"):
        Plan([summary], epsilon=1.0, mechanism="laplace")


@pytest.mark.parametrize(
    ("second", "told"),
    [
        ({"column": "ages"}, r"release 2 of the plan \(second\): there is no column 'ages'"),
        ({"unit": "who"}, r"release 2 of the plan \(second\): there is no column 'who'"),
        ({"column": "g"}, r"release 2 of the plan \(second\): these bounds need"),
    ],
)
@pytest.mark.parametrize("paid", [False, True])
def test_what_types_forbid_names_the_release_and_costs_nothing(tmp_path, second, told, paid):
    ledger = duffdp.Ledger(tmp_path / "b.db", epsilon=3) if paid else None
    frame = pl.DataFrame({"age": [30, 40], "g": ["a", "b"]})
    plan = Plan([MEDIAN, MEDIAN | {"name": "second"} | second], epsilon=1.0, ledger=ledger)
    drawn = []
    for attempt in (plan.check, lambda data: plan.run(data, done=lambda: drawn.append(1))):
        with pytest.raises(UnsupportedData, match=told):
            attempt(frame)
    assert drawn == []
    assert ledger is None or ledger.spent() == 0


def test_a_graph_in_a_plan():
    edges = [(0, i) for i in range(1, 30)]
    releases = [
        {"statistic": "stars", "k": 2, "nodes": 30},
        {"statistic": "triangles", "nodes": 30, "mechanism": "duff"},
    ]
    plan = Plan(releases, epsilon=1.0)
    assert {facts.unit.kind for facts in plan.check(edges).releases.values()} == {"edge"}
    assert list(plan.run(edges)) == ["2-stars", "triangles"]


def test_a_plan_without_a_source():
    plan = Plan([MEDIAN], epsilon=1.0)
    assert list(plan.check().rows.values()) == [1]
    with pytest.raises(DuffError, match="has no source"):
        plan.run()
