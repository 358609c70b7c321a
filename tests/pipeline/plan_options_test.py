"""No option is ignored: each entry of a plan, of a table and of their files changes what is
released, or is refused, and says there what it says in a call of the function.
"""

from __future__ import annotations

import datetime as dt
import inspect
import json
import re

import polars as pl
import pytest

import duffdp
from duffdp import DuffError, Plan, TablePlan
from duffdp.statistics.registry import REGISTRY

ROWS = 400
FRAME = pl.DataFrame(
    {
        "x": [(37 * i) % 101 for i in range(ROWS)],
        "other": [(i * i) % 89 for i in range(ROWS)],
        "word": [("u", "v", "w")[i % 3] for i in range(ROWS)],
        "g": [("a", "b")[i % 2] for i in range(ROWS)],
        "h": [("c", "d")[i // 2 % 2] for i in range(ROWS)],
        "who": [i // 4 for i in range(ROWS)],
    }
)
EDGES = [(i, (i * j) % 20) for i in range(20) for j in range(2, 7) if i != (i * j) % 20]
STATISTICS = {known.name: known for known in REGISTRY.values()}
LIMITS = {"bounds": [0, 100]}
# What a release of each statistic needs, if it is not a column and its bounds.
NEEDS = {
    "quantile": {"q": 0.5, **LIMITS},
    "quantiles": {"qs": [0.25, 0.75], **LIMITS},
    "trimmed_mean": {"trim": 0.25, **LIMITS},
    "count": {},
    "share": {"between": [0, 50]},
    "histogram": {"bins": [0, 20, 50, 100]},
    "top": {"k": 1, "column": "word", "categories": ["u", "v", "w"]},
    "slope": {"x": "x", "y": "other", "bounds": [-2, 2]},
    "triangles": {"nodes": 20},
    "stars": {"nodes": 20, "k": 2},
}
GROUPS = {"by": "g", "keys": ["a", "b"]}
PERSON = {"unit": "who"}
# For each option what else it needs, and a value that is not the usual one. Several ways where one
# does not suit all statistics.
OPTIONS = {
    "q": [({}, 0.9)],
    "qs": [({}, [0.1, 0.9])],
    "trim": [({}, 0.1)],
    "k": [({}, 3)],
    "x": [({}, "who")],
    "y": [({}, "who")],
    "nodes": [({}, 25)],
    "bins": [({}, [0, 50, 100])],
    "nonnegative": [({}, True), ({}, False)],
    "adds_up": [({}, True), ({}, False)],
    "zero_below": [({}, 90)],
    "values": [({"between": None, "column": "word"}, ["u"])],
    "between": [({}, [10, 20])],
    "confidence": [({}, 0.9)],
    "bounds": [({}, [0, 60])],
    "digits": [({"bounds": None}, 3)],
    "step": [({}, 4)],
    "categories": [({"bounds": None, "bins": None, "column": "word"}, ["u", "v"])],
    "column": [({}, "other")],
    "by": [({"keys": ["a", "b"]}, "g")],
    "keys": [({"by": "g"}, ["b"])],
    "other": [(GROUPS, "all others")],
    "levels": [(GROUPS, {"larger": {"all of them": ["a", "b"]}})],
    "finding": [({"by": "g", "keys": {"g": {"text": "[ab]"}}}, 0.5)],
    "margin": [({"by": ["g", "h"], "keys": [["a", "c"], ["b", "d"]]}, ["g"])],
    "interval": [({}, 0.9)],
    "covers": [({"interval": 0.9}, "population")],
    "simultaneous": [({"interval": 0.9, **GROUPS}, True)],
    "suppress_below": [(GROUPS, 20)],
    "where": [({}, "x > 20")],
    "unit": [({}, "who")],
    "contributions": [(PERSON, 3)],
    "groups_per_person": [({**PERSON, **GROUPS}, 1)],
    "mechanism": [({}, "duff"), ({}, "clipped")],
}
# What belongs to a plan and to no call of a function.
OF_PLANS = {"statistic", "weight", "name", "digits", "levels", "margin"}
OF_CALLS = {"data", "edges", "epsilon", "ledger", "rng"}
SHARED = ("where", "unit", "contributions", "groups_per_person", "mechanism")


def release_of(name, *changes):
    """A release as a plan has it; what is None is left out."""
    asked = {"statistic": name, "column": "x", **NEEDS.get(name, LIMITS)}
    if STATISTICS[name].of_pairs or STATISTICS[name].of_graphs:
        del asked["column"]
    for change in changes:
        asked |= change
    return {key: value for key, value in asked.items() if value is not None}


def known_entries(name):
    """All that a plan knows of a release of this statistic, as its error lists them."""
    with pytest.raises(DuffError, match="unknown entry") as error:
        Plan([release_of(name, {"qqqqqqqqqq": 1})], epsilon=1)
    return re.search(r"Known are (.*)\.$", str(error.value)).group(1).split(", ")


def data_of(name):
    return EDGES if STATISTICS[name].of_graphs else FRAME


def outcome(make):
    """All that is released by a seed; None where it is refused."""
    try:
        release = make()
    except DuffError:
        return None
    return {key: value for key, value in release.to_dict().items() if key != "time"}


def by_plan(asked, **shared):
    def make():
        made = Plan([asked], epsilon=4, **shared)
        (release,) = made.run(data_of(asked["statistic"]), rng=5).values()
        return release

    return outcome(make)


def by_call(asked):
    given = dict(asked)
    name = given.pop("statistic")
    place = {"data": FRAME} if STATISTICS[name].of_pairs else {}
    first = () if place else (data_of(name),)
    return outcome(lambda: getattr(duffdp, name)(*first, epsilon=4, rng=5, **place, **given))


CASES = [(name, option) for name in STATISTICS for option in known_entries(name)]


@pytest.mark.parametrize(("name", "option"), [c for c in CASES if c[1] in OPTIONS])
def test_an_entry_of_a_plan_changes_the_release_or_is_refused(name, option):
    taken = inspect.signature(getattr(duffdp, name)).parameters
    changed = []
    for context, value in OPTIONS[option]:
        asked = release_of(name, context, {option: value})
        found, before = by_plan(asked), by_plan(release_of(name, context, {option: None}))
        changed.append(found is None or found != before)
        if set(asked) - {"statistic"} <= set(taken):  # and it is what the function makes of it
            assert found == by_call(asked)
    assert any(changed)


def test_every_entry_of_a_plan_is_here():
    assert {option for _, option in CASES} == {*OPTIONS, *OF_PLANS}


@pytest.mark.parametrize("name", STATISTICS)
def test_every_option_of_a_function_is_an_entry_of_a_plan(name):
    taken = set(inspect.signature(getattr(duffdp, name)).parameters)
    assert taken - OF_CALLS <= set(known_entries(name))


@pytest.mark.parametrize("option", SHARED)
@pytest.mark.parametrize("name", [name for name in STATISTICS if not STATISTICS[name].of_graphs])
def test_what_is_said_for_all_releases_is_said_for_each(name, option):
    ((context, value), *_) = OPTIONS[option]
    one = by_plan(release_of(name, context, {option: value}))
    shared = {key: each for key, each in {**context, option: value}.items() if key in SHARED}
    own = {key: each for key, each in context.items() if key not in SHARED}
    for_all = by_plan(release_of(name, own), **shared)
    if option == "mechanism" and one is None:  # what one cannot do, it does in its own way
        assert for_all == by_plan(release_of(name))
    else:
        assert for_all == one


def test_names_and_weights():
    pair = [release_of("median"), release_of("mean")]
    made = Plan([pair[0] | {"weight": 3, "name": "first"}, pair[1]], epsilon=4).check()
    assert {name: facts.loss.epsilon for name, facts in made.releases.items()} == {
        "first": 3,
        "mean of x": 1,
    }


# Files.


def toml(value):
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key} = {toml(each)}" for key, each in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(toml, value)) + "]"
    return value.isoformat() if isinstance(value, dt.date) else json.dumps(value)


def written(folder, top, releases=()):
    FRAME.write_csv(folder / "rows.csv")
    lines = [f"{key} = {toml(value)}" for key, value in top.items()]
    for release in releases:
        lines += ["[[release]]", *(f"{key} = {toml(value)}" for key, value in release.items())]
    (folder / "plan.toml").write_text("\n".join(lines))
    return folder / "plan.toml"


OF_FILE = {
    name: option
    for name, option in OPTIONS.items()
    if name not in ("nodes", "levels", "margin")  # edges are no rows; the others are of tables
}


@pytest.mark.parametrize("option", OF_FILE)
def test_an_entry_of_a_file_is_that_of_a_plan(tmp_path, option):
    """For the first statistic that takes it."""
    for name in STATISTICS:
        for context, value in OPTIONS[option]:
            asked = release_of(name, context, {option: value})
            if option not in known_entries(name) or by_plan(asked) is None:
                continue
            path = written(tmp_path, {"source": "rows.csv", "epsilon": 4}, [asked])
            (found,) = Plan.from_toml(path).check().releases.values()
            (wanted,) = Plan([asked], epsilon=4).check(tmp_path / "rows.csv").releases.values()
            assert found == wanted
            return
    raise AssertionError(f"no statistic takes {option}")


# What is said of a whole plan or table in a file: what else it needs, and a value.

FILE = {
    "source": ({}, "others.csv"),
    "epsilon": ({}, 5),
    "types": ({}, {"x": "VARCHAR"}),
    "decimal": ({}, ","),
    "date_format": ({}, "%d.%m.%Y"),
    "thousands": ({"decimal": ","}, ","),  # refused: it is the decimal mark
    "encoding": ({}, "utf-16"),  # refused: a byte is no character
    "skip_rows": ({}, 1),  # the header
    "sql": ({}, "SELECT x / 2 AS x, z, day, g, who FROM data"),
    "where": ({}, "x > 20"),
    "ledger": ({}, "budget.db"),
    "dataset": ({"ledger": "budgets.db", "dataset": "one"}, "another"),
    "call_id": ({"ledger": "budget.db"}, "call 1"),
    "unit": ({}, "who"),
    "contributions": (PERSON, 3),
    "groups_per_person": (PERSON, 1),
    "mechanism": ({}, "duff"),
    "sources": ({}, {"bounds": "the law"}),
}
DAYS = [dt.date(2020, 1, 1), dt.date(2021, 1, 1)]
BOUNDS = {"x": [0, 100], "z": [0.0, 100.0], "day": DAYS}
RELEASES = [
    {"statistic": "median", "column": column, "bounds": ends, **GROUPS}
    for column, ends in BOUNDS.items()
]
TABLE = {
    "statistics": ({}, {"x": ["median"], "z": ["mean"], "day": ["median", "mean"]}),
    "bounds": ({}, {**BOUNDS, "x": [0, 60]}),
    "step": ({}, {"x": 4}),
    "categories": ({"statistics": {"h": ["mode"]}, "bounds": {}}, {"h": ["c", "d"]}),
    "by": ({}, "h"),
    "keys": ({}, ["b", "a"]),
    "other": ({}, "all others"),
    "levels": ({}, {"larger": {"all of them": ["a", "b"]}}),
    "total": ({}, True),
    "interval": ({}, 0.8),
    "covers": ({}, "population"),
    "simultaneous": ({}, True),
    "names": ({}, {"count": "People"}),
    "labels": ({}, {"g": {"a": "A"}}),
    "shown_in": ({}, {"x": "years"}),
    "smallest": ({}, 10**6),
    "suppress_below": ({}, 10),
    "weights": ({}, {"z_median": 9}),
    "within": ({"group_size": 100}, {"z_median": 5.0}),
    "group_size": ({"within": {"z_median": 5.0}}, 100),
}


def folder_with_files(folder):
    """Two files of rows, a ledger, and one with two budgets."""
    days = [f"{1 + i % 28:02}.{1 + i % 12:02}.2020" for i in range(ROWS)]
    rows = FRAME.with_columns(
        z=pl.Series([f"{i % 70},5" for i in range(ROWS)]), day=pl.Series(days)
    )
    rows.write_csv(folder / "rows.csv")
    rows.with_columns(pl.col("x") // 3).write_csv(folder / "others.csv")
    duffdp.Ledger(folder / "budget.db", epsilon=100)
    for name, budget in (("one", 100), ("another", 50)):
        duffdp.Ledger(folder / "budgets.db", epsilon=budget, dataset=name)


def state(make, top):
    """All that a plan or a table of a file comes to: facts and values by a seed, or what two runs
    leave of a budget; None where it is refused."""
    folder, kind, releases = make
    folder_with_files(folder)
    path = folder / "plan.toml"
    lines = [f"{key} = {toml(value)}" for key, value in top.items()]
    for release in releases:
        lines += ["[[release]]", *(f"{key} = {toml(value)}" for key, value in release.items())]
    path.write_text("\n".join(lines))
    try:
        made = kind.from_toml(path)
        cost = made.check()
        plan = getattr(made, "plan", made)
        found = [cost.releases, cost.epsilon, cost.remaining, plan.sources]
        if "ledger" in top:
            made.run()
            made.run()
            return [*found, made.check().remaining]
        released = made.run(rng=5)
    except DuffError:
        return None
    values = released.to_dict() if kind is TablePlan else [r.rows() for r in released.values()]
    said = json.dumps(values, default=str).replace(str(folder), "")
    return [*found, re.sub(r'"time": "[^"]*"', "", said)]  # which is never the same


STATES = {}  # without the entry that is tried: nearly all begin with the same plan


def changes(folder, kind, top, releases, option, context, value):
    """Whether an entry of a file changes something, or is refused."""
    before, after = {**top, **context}, {**top, **context, option: value}
    (folder / "before").mkdir()
    (folder / "after").mkdir()
    name = kind, repr(before)
    if name not in STATES:
        STATES[name] = state((folder / "before", kind, releases), before)
    both = [STATES[name], state((folder / "after", kind, releases), after)]
    assert both != [None, None]
    return both[1] is None or both[0] != both[1]


def test_nothing_else_changes_a_plan_or_a_table(tmp_path):
    """What is compared below is the same for the same entries."""
    asked = {"statistics": {name: ["median"] for name in BOUNDS}, "bounds": BOUNDS, **GROUPS}
    for kind, releases, more in ((Plan, RELEASES, {}), (TablePlan, (), asked)):
        both = []
        for at in range(2):
            folder = tmp_path / f"{kind.__name__} {at}"
            folder.mkdir()
            top = {"source": "rows.csv", "epsilon": 4, **more}
            both.append(state((folder, kind, releases), top))
        assert both[0] is not None
        assert both[0] == both[1]


def known_in_file(folder, kind):
    path = folder / "unknown.toml"
    path.write_text("qqqqqqqqqq = 1")
    with pytest.raises(DuffError, match="unknown entry") as error:
        kind.from_toml(path)
    return set(re.search(r"Known are (.*)\.$", str(error.value)).group(1).split(", "))


@pytest.mark.parametrize("option", FILE)
def test_an_entry_for_a_whole_plan_changes_it_or_is_refused(tmp_path, option):
    top = {"source": "rows.csv", "epsilon": 4}
    assert changes(tmp_path, Plan, top, RELEASES, option, *FILE[option])


@pytest.mark.parametrize("option", {**FILE, **TABLE})
def test_an_entry_for_a_whole_table_changes_it_or_is_refused(tmp_path, option):
    asked = {"statistics": {name: ["median"] for name in BOUNDS}, "bounds": BOUNDS, **GROUPS}
    top = {"source": "rows.csv", "epsilon": 4, **asked}
    assert changes(tmp_path, TablePlan, top, (), option, *{**FILE, **TABLE}[option])


def test_every_entry_for_a_whole_plan_or_table_is_here(tmp_path):
    assert known_in_file(tmp_path, Plan) == {*FILE, "release"}
    assert known_in_file(tmp_path, TablePlan) == {*FILE, *TABLE}
    python = set(inspect.signature(Plan).parameters) - {"releases"}
    assert python <= set(FILE)
    for taken in (TablePlan, duffdp.table):
        names = set(inspect.signature(taken).parameters) - OF_CALLS
        assert names <= {*FILE, *TABLE}
