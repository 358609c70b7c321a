"""What a reviewer is told: every answer from the facts of the releases, and what is open."""

from __future__ import annotations

import json

import polars as pl
import pytest

import duffdp
import release_facts
from command_line import TYPED_ADULT
from duffdp import Categories, DuffError, Grid, Ledger, PrivacyUnit
from pages import read

HUNDRED = Grid(0, 100, 1)
PEOPLE = PrivacyUnit("person", "patient", 3)
ASKED = ("bounds", "step", "keys", "plan", "publications", "audit")
OPEN = {
    "bounds": "Source of bounds",
    "step": "Source of step",
    "keys": "Source of keys",
    "categories": "Source of categories",
    "plan": "Plan fixed first",
    "publications": "Other publications",
    "audit": "Audit",
}


def told(releases, **given):
    """The answers by their topics, and the topics that are open."""
    listed = duffdp.report.sign_off(releases, **given)
    answers = {answer["topic"]: answer["text"] for answer in listed}
    assert len(answers) == len(listed)
    return answers, {answer["topic"] for answer in listed if answer["open"]}


@pytest.mark.parametrize(
    ("unit", "words", "others"),
    [
        (PrivacyUnit("row"), "One row. Somebody with several rows is not", "person"),
        (PEOPLE, "One person, identified by “patient”. Not fully protected: ", "row"),
        (PrivacyUnit("edge"), "One edge. A node with all of its edges is not", "row"),
    ],
)
def test_the_unit_and_what_it_does_not_protect(unit, words, others):
    said = told(release_facts.release(3, unit=unit, domain=HUNDRED))[0]["Unit"]
    assert words in said
    assert others not in said


def test_a_replaced_record_costs_twice_the_page():
    releases = [release_facts.release(3, epsilon=e, domain=HUNDRED) for e in ("1/4", "1/2")]
    answers, _ = told(releases)
    assert answers["Epsilon of this report"] == "0.75"
    assert "for which epsilon is 1.5" in answers["Neighbors"]


def test_epsilon_in_all(tmp_path):
    ledger = Ledger(tmp_path / "budget.db", epsilon=4)
    given = {"epsilon": 1, "bounds": (0, 9), "step": 1}
    release = duffdp.median([1], ledger=ledger, **given)
    duffdp.median([1], ledger=ledger, **given)
    answers, missing = told(release, ledger=ledger)
    assert answers["Total epsilon"] == "2 of 4, according to the ledger."
    assert "Total epsilon" not in missing
    assert "Total epsilon" in told(release)[1]
    other = Ledger(tmp_path / "other.db", epsilon=4)
    answers, missing = told(release, ledger=other)
    assert "was not charged" in answers["Total epsilon"]
    assert "Total epsilon" in missing


def test_delta():
    assert told(release_facts.release(3))[0]["Delta"].startswith("0: ")
    assert told([release_facts.release(3, delta="1/1000")] * 2)[0]["Delta"] == "0.002"


def test_what_has_no_answer_is_open():
    release = release_facts.grouped([1, 2], domain=HUNDRED)
    _, missing = told(release)
    assert missing == {*(OPEN[name] for name in ASKED), "Total epsilon"}
    for name in ASKED:
        answers, missing = told(release, sources={name: f"somebody said {name}"})
        assert answers[OPEN[name]] == f"somebody said {name}"
        assert OPEN[name] not in missing
        assert len(missing) == len(ASKED)


def test_what_was_not_given_needs_no_source():
    topics, _ = told(duffdp.count([1], epsilon=1))
    assert not {OPEN[name] for name in ("bounds", "step", "keys", "categories")} & set(topics)
    topics, _ = told(release_facts.release("a", name="mode", domain=Categories(["a", "b"])))
    assert OPEN["categories"] in topics
    assert OPEN["bounds"] not in topics
    topics, _ = told(duffdp.triangles([(0, 1)], epsilon=1, nodes=3))
    assert OPEN["bounds"] not in topics
    assert topics["Bias"] == "None: every edge counts."


def test_bias_follows_from_what_was_asked():
    person = release_facts.grouped([1, 2], unit=PEOPLE, domain=HUNDRED)
    said = told(person)[0]["Bias"]
    for words in (
        "nearest bound",
        "Groups that are not listed",
        "At most 3 rows per person are used",
        "Missing",
    ):
        assert words in said
    said = told(release_facts.release("a", name="mode", domain=Categories(["a", "b"])))[0]["Bias"]
    assert "Values that are not listed or in no bin are dropped." in said
    for words in ("nearest bound", "Groups", "per person are used"):
        assert words not in said


def test_the_error_by_size_is_that_of_the_release():
    release = duffdp.median([1], epsilon=1.0, bounds=(0, 120), step=1)
    bound = release.distance_bound(0.95)
    assert bound == 14
    said = told({"Age": release})[0]["Error by group size"]
    assert said.endswith("Age: median 14 (14%, 1.4%, 0.14%).")
    count = duffdp.count([1], epsilon=0.01)
    assert "(all, 30%, 3%)" in told({"Count": count})[0]["Error by group size"]
    other = release_facts.release(1, mechanism="laplace", utility=None)
    assert "No data-independent error bound" in told(other)[0]["Error by group size"]


def test_a_seed_is_an_open_point():
    release = duffdp.median([1], epsilon=1.0, bounds=(0, 9), step=1, rng=1)
    answers, missing = told(release)
    assert "no guarantee" in answers["Draws"]
    assert "Draws" in missing


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"bound": "x"}, "Did you mean 'bounds'"),
        ({"bounds": ""}, "must be text"),
        ({"bounds": 3}, "must be text"),
        ("the form", "a mapping from topics to text"),
    ],
)
def test_bad_sources(wrong, words, tmp_path):
    release = release_facts.release(3)
    with pytest.raises(DuffError, match=words):
        duffdp.report.write(release, tmp_path / "page.html", sources=wrong)
    assert list(tmp_path.iterdir()) == []
    ages = {"statistic": "median", "column": "age", "bounds": (0, 120)}
    with pytest.raises(DuffError, match=words):
        duffdp.Plan([ages], epsilon=1, sources=wrong)
    with pytest.raises(DuffError, match=words):
        duffdp.TablePlan({"age": "mean"}, epsilon=1, bounds={"age": (0, 9)}, sources=wrong)


def test_it_is_on_the_page_and_open_points_are_marked(tmp_path):
    release = release_facts.release(3, domain=HUNDRED)
    sources = {"bounds": "the form"}
    answers = duffdp.report.sign_off(release, sources=sources)
    path = duffdp.report.write(release, tmp_path / "page.html", sources=sources)
    text, _ = read(path)
    assert all(f"{answer['topic']} {answer['text']}" in text for answer in answers)
    assert path.read_text().count('<dd class="open">') == sum(one["open"] for one in answers)
    markdown = duffdp.report.write(release, tmp_path / "page.md", sources=sources).read_text()
    assert markdown.count("**(open)**") == sum(one["open"] for one in answers)


PLAN = f"""
source = "{TYPED_ADULT}"
epsilon = 1
by = "sex"
keys = ["Female", "Male"]
statistics.age = "median"
bounds.age = [0, 120]

[sources]
bounds = "the questionnaire"
"""


def test_commands(call, tmp_path):
    plan, page = tmp_path / "plan.toml", tmp_path / "page.html"
    plan.write_text(PLAN)
    options = ("--report", page, "--title", "Ages", "--author", "The office")
    code, out, _ = call("table", plan, "-f", "json", *options)
    assert code == 0
    answers = {one["topic"]: one["text"] for one in json.loads(out)["sign_off"]}
    assert answers["Source of bounds"] == "the questionnaire"
    duffdp.Table.from_dict(json.loads(out))
    text, _ = read(page)
    for words in ("Ages", "Author: The office", "Data: adult.parquet", "Plan: plan.toml"):
        assert words in text
    assert answers["Source of bounds"] in text
    given = ("median", TYPED_ADULT, "--column", "age", "--bounds", "0", "120", "-e", "1")
    assert call(*given, *options)[0] == 0
    text, _ = read(page)
    for words in ("Ages", "Author: The office", "Data: adult.parquet"):
        assert words in text


@pytest.mark.parametrize(
    ("data", "name"),
    [
        ("/home/me/people.csv", "people.csv"),
        ("folder/", "folder"),
        ("/home/me/all.duckdb::visits", "all.duckdb::visits"),
        ("postgresql://me:secret@host/db::public.visits", "public.visits"),
        ("postgresql://me:se::cret@host/db::visits", "visits"),
        ("postgresql://me:secret@host/db", None),
        ("-", None),
    ],
)
def test_data_are_named_without_folder_host_user_and_password(data, name):
    from duffdp._cli.output import data_name

    assert data_name(data) == name


def test_sources_of_plans(tmp_path):
    frame = pl.DataFrame({"age": [1.0, 2.0]})
    ages = {"statistic": "median", "column": "age", "bounds": (0, 120)}
    plan = duffdp.Plan([ages], epsilon=1, sources={"bounds": "the form"})
    releases = plan.run(frame)
    assert told(releases, sources=plan.sources)[0]["Source of bounds"] == "the form"
