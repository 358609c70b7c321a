"""Shares of a table for wanted errors: what is promised is what its preview says."""

from __future__ import annotations

import json

import pytest

import duffdp
from command_line import duff
from duffdp import DuffError, TablePlan

SIZE = 200


def planned(**given):
    asked = {"age": ["median", "sum"]}
    usual = {"epsilon": 2, "bounds": {"age": (0, 100)}, "step": {"age": 1}, "interval": None}
    return TablePlan(asked, **{**usual, **given})


def errors(plan):
    rows = plan.preview(group_size=SIZE).wide()
    return dict(zip(rows["release"], rows["mean error"], strict=True))


def shares(plan):
    return {name: facts.loss.epsilon for name, facts in plan.check().releases.items()}


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"by": "g", "keys": ["a", "b"], "total": True},
        {"unit": "p", "contributions": 2, "by": "g", "keys": ["a", "b"], "groups_per_person": 2},
    ],
    ids=["rows", "margins", "people"],
)
def test_errors_are_as_wanted_and_shares_add_up(given):
    plan = planned(**given, epsilon=12)
    wanted = {"age_median": 1.5, "count": 4}
    made = plan.within(wanted, group_size=SIZE)
    found = errors(made)
    assert all(0.9 * most <= found[name] <= most for name, most in wanted.items())
    assert sum(shares(made).values()) == 12
    left = 12 - sum(share for name, share in shares(made).items() if "sum" not in name)
    assert shares(made)["age_sum"] == left


def test_if_all_are_named_each_gets_more():
    wanted = {"count": 10, "age_median": 3, "age_sum": 900}
    made = planned().within(wanted, group_size=SIZE)
    assert sum(shares(made).values()) == 2
    found = errors(made)
    assert all(found[name] < most for name, most in wanted.items())


def test_the_rest_is_shared_as_before():
    plan = planned(weights={"age_sum": 3, "count": 1})
    share = shares(plan.within({"age_median": 4}, group_size=SIZE))
    assert share["age_sum"] == 3 * share["count"]


@pytest.mark.parametrize(
    ("wanted", "rule"),
    [
        ({"age_median": 0.1}, r"epsilon=2 is not enough .* age_median needs .* leaves nothing for"),
        ({"age_mean": 1}, "within has an unknown entry 'age_mean'. Did you mean 'age_median'"),
        ({"age_median": 0}, "within of age_median must be a finite number above 0, got 0"),
        ({"age_median": "1"}, "within of age_median must be a finite number above 0"),
        ({}, "within must be a mapping from releases to mean errors"),
        (["age_median"], "within must be a mapping from releases to mean errors"),
    ],
)
def test_what_cannot_be_wanted(wanted, rule):
    with pytest.raises(DuffError, match=rule):
        planned().within(wanted, group_size=SIZE)


def test_what_has_no_shape_names_its_release():
    plan = TablePlan({"kind": "mode"}, epsilon=1, categories={"kind": ["a", "b"]})
    with pytest.raises(DuffError, match="kind_mode: "):
        plan.within({"kind_mode": 1}, group_size=SIZE)
    with pytest.raises(DuffError, match="group_size must be a whole number"):
        planned().within({"count": 1}, group_size=0)


def test_a_file_says_it_too(tmp_path):
    (tmp_path / "p.csv").write_text("age,g\n" + "40,a\n" * 50)
    lines = ["source = 'p.csv'", "epsilon = 4", "interval = false", "within = {count = 10}"]
    lines += ["group_size = 200", "[statistics]", "age = 'median'", "[bounds]", "age = [0, 99]"]
    file = tmp_path / "plan.toml"
    file.write_text("\n".join(lines))
    made = TablePlan.from_toml(file)
    assert errors(made)["count"] <= 10 < 1.1 * errors(made)["count"]
    assert sum(shares(made).values()) == 4
    assert made.run().to_pandas()["count"][0] >= 0
    told = duff("table", file, "--format", "json")
    assert duffdp.Table.from_dict(json.loads(told.stdout)).epsilon == 4
    for line in ("within = {count = 10}", "group_size = 200"):
        file.write_text("\n".join(one for one in lines if one != line))
        assert "within and group_size go together" in duff("table", file).stderr
