"""What to expect of the releases of a plan or a table: that of `duffdp.preview` at their shares."""

from __future__ import annotations

import pytest

import duffdp
from duffdp import DuffError, Pattern, Plan, TablePlan

BOUNDS = {"age": (0, 120), "x": (0, 1)}


def planned(ages=("median", "sum", 0.25, 0.75), **given):
    asked = {"age": ages, "kind": "mode"}
    given = {"epsilon": 3, "bounds": {"age": (0, 120)}, "step": {"age": 1}, **given}
    return TablePlan(asked, categories={"kind": ["a", "b"]}, **given)


def test_every_number_of_a_table_once():
    rows = planned().preview(group_size=300, draws=20).to_pandas()
    assert rows["release"].tolist() == [
        *("count", "age_quantiles", "age_quantiles", "age_quantiles", "age_sum", "kind_mode")
    ]
    assert rows["output"].tolist()[:5] == ["count", "0.25", "0.5", "0.75", "sum"]
    assert rows["epsilon"].drop_duplicates().sum() == pytest.approx(3 * (1 + 8 + 4) / 17)
    assert rows["interval width"].isna().tolist() == [False] * 5 + [True]
    assert rows["mean error"].isna().tolist() == [False] * 5 + [True]
    assert "a list or array of public records" in rows["note"][5]
    grouped = planned(by="g", keys=["a", "b"], total=True).preview(group_size=300, draws=20)
    assert grouped.wide()["release"] == rows["release"].tolist()


@pytest.mark.parametrize("people", [{}, {"unit": "p", "contributions": 3}], ids=["rows", "people"])
def test_a_number_is_that_of_preview(people):
    plan = planned(["median", "sum"], **people)
    rows = plan.preview(group_size=400, shape="normal", draws=20).wide()
    shares = plan.check().releases
    given = {"data_sets": 2, "group_size": 400, "mechanisms": ["best"], "interval": 0.95}
    contributions = people.get("contributions", 1)
    for place, name in ((0, "count"), (1, "age_median"), (2, "age_sum")):
        # A step is for candidates: a sum has none.
        own = {} if name == "count" else {"bounds": (0, 120)}
        own |= {"step": 1} if name == "age_median" else {}
        rows_each = 1 if name == "count" else contributions
        epsilon = shares[name].loss.epsilon
        seen = duffdp.preview(
            "normal",
            epsilon=epsilon,
            statistic=name.removeprefix("age_"),
            contributions=rows_each,
            **own,
            **given,
        )
        assert rows["epsilon"][place] == float(epsilon)
        assert rows["mean error"][place] == seen.expected_error("best")
        assert rows["95% within"][place] == seen.error_within("best", 0.95)
        assert rows["interval width"][place] == seen.expected_width("best")


def test_a_plan_too():
    plan = Plan(
        [{"statistic": "median", "column": "x", "bounds": (0, 1), "step": 0.01, "interval": 0.9}],
        epsilon=1.0,
    )
    few, many = (plan.preview(group_size=size).wide() for size in (3, 2000))
    assert (few["note"], few["interval width"]) == (["too few to tell"], [None])
    assert (many["note"], many["release"]) == ([None], ["median of x"])
    assert many["mean error"][0] < few["mean error"][0]
    assert "groups of 3 records" in repr(plan.preview(group_size=3))


@pytest.mark.parametrize(
    ("options", "share"),
    [
        ({"keys": ["a", "b"]}, 1),
        ({"keys": ["a", "b"], "suppress_below": 20}, 0.9),
        ({"keys": Pattern("[ab]")}, 0.75),
        ({"keys": Pattern("[ab]"), "finding": 0.5}, 0.5),
        ({"keys": Pattern("[ab]"), "suppress_below": 20, "other": "others"}, 0.675),
    ],
    ids=["listed", "with sizes", "found", "half finds", "found, with sizes"],
)
def test_values_have_what_sizes_and_found_keys_leave(options, share):
    release = {"statistic": "mean", "column": "x", "bounds": (0, 100), "by": "g", **options}
    (seen,) = Plan([release], epsilon=1).preview(group_size=100).wide()["mean error"]
    alone = {"statistic": "mean", "bounds": (0, 100), "data_sets": 2, "group_size": 100}
    left = duffdp.preview("uniform", epsilon=share, mechanisms=["best"], **alone)
    assert seen == left.expected_error("best")


def test_a_file_has_it_too(tmp_path):
    lines = ["source = 'a.csv'", "epsilon = 1", "[statistics]", "x = 'mean'"]
    (tmp_path / "t.toml").write_text("\n".join([*lines, "[bounds]", "x = [0, 1]"]))
    seen = TablePlan.from_toml(tmp_path / "t.toml").preview(group_size=50)
    assert seen.wide()["release"] == ["count", "x_mean"]


@pytest.mark.parametrize("size", [0, -1, 1.5, "many", None, True])
def test_a_wrong_size(size):
    with pytest.raises(DuffError, match="group_size must be a whole number of 1 or more"):
        planned().preview(group_size=size)
