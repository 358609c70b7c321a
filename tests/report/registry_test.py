"""Entries for the registry: filled from facts, open questions shown, and refused where the registry
would refuse them.
"""

from __future__ import annotations

import copy
import datetime as dt

import polars as pl
import pytest
import yaml

import duffdp
from command_line import duff
from duffdp.report.registry import (
    QUESTION,
    QUESTIONS,
    RULES,
    Rule,
    entry_problems,
    open_questions,
    registry_text,
)

SOURCES = {
    "curator": "Statistics office",
    "purpose": "a table of incomes",
    "region": 'Nowhere: §2 "law"',
    "sector": "Government",
    "actors": "the office",
    "justification": "agreed in public",
    "bounds": "the form",
}
SLUG = f"incomes-statistics-office-{dt.datetime.now(dt.UTC).year}"
FRAME = pl.DataFrame({"x": [1.0, 2.0, 3.0], "g": ["a", "b", "a"], "p": [1, 2, 2]})


@pytest.fixture(scope="module")
def table():
    return duffdp.table(
        FRAME,
        {"x": ["median", "mean"]},
        epsilon=1.5,
        bounds={"x": (0, 9)},
        by="g",
        keys=["a", "b"],
        unit="p",
        contributions=2,
    )


def test_an_entry_from_facts(table):
    entry = duffdp.report.registry_entry(table, title="Incomes", author="A", sources=SOURCES)
    assert (entry["url_slug"], entry["status"], entry["tier"]) == (SLUG, "Draft", 3)
    deployment = entry["deployment"]
    assert deployment["basic"]["data_curators"] == ["Statistics office"]
    assert deployment["basic"]["data_product_sector"] == "Government"
    assert deployment["privacy_loss"]["privacy_parameters"]["epsilon"] == pytest.approx(1.5)
    assert deployment["privacy_loss"]["privacy_unit"] == "people; rows of people, at most 2 each"
    assert deployment["basic"]["description"] == "Count by g; median of x by g; mean of x by g."
    shares = deployment["privacy_loss"]["privacy_parameters_details"].splitlines()
    assert len(shares) == 3
    assert shares[1].startswith("- median of x by g: epsilon ")
    assert deployment["dp_variant"]["variant_name"] == "Pure DP"
    assert f"duffdp {duffdp.__version__}" in deployment["implementation"]["mechanisms"]
    assert (
        "bounds: the form"
        in (deployment["implementation"]["preprocessing_and_hyperparameter_tuning"])
    )
    assert open_questions(entry) == []


def test_what_nobody_answered_is_a_question(table):
    entry = duffdp.report.registry_entry(table)
    assert entry["tier"] == 2
    assert set(QUESTIONS.values()) <= set(open_questions(entry))
    slug, open_line, *_ = registry_text(entry).splitlines()
    assert slug == f"url_slug: private-release-{dt.datetime.now(dt.UTC).year}"
    assert open_line.startswith("# Open questions")
    assert entry["deployment"]["basic"]["intended_use"].startswith(QUESTION)


@pytest.mark.parametrize("sources", [SOURCES, {}], ids=["answered", "open"])
def test_yaml_is_read_as_the_entry(table, sources):
    entry = duffdp.report.registry_entry(table, sources=sources)
    assert yaml.safe_load(registry_text(entry)) == entry


def test_no_released_value_is_in_it():
    releases = [
        duffdp.sum([7] * 9, epsilon=1e6, bounds=(0, 987_654), step=1),
        duffdp.count([1] * 54_321, epsilon=1e6),
    ]
    text = registry_text(duffdp.report.registry_entry(releases))
    assert float(releases[1].value) == 54_321
    assert "54321" not in text
    assert "54,321" not in text


def test_a_seeded_release_is_refused():
    release = duffdp.count([1, 2], epsilon=1, rng=1)
    with pytest.raises(duffdp.DuffError, match="not private"):
        duffdp.report.registry_entry(release)


def test_a_sector_that_the_registry_does_not_have(table):
    with pytest.raises(duffdp.DuffError, match="sector must be one of"):
        duffdp.report.registry_entry(table, sources={"sector": "Fishing"})


def change(entry, path, value):
    *parts, last = path.split(".")
    for part in parts:
        entry = entry[part]
    if value is None:
        del entry[last]
    else:
        entry[last] = value


@pytest.mark.parametrize(
    ("path", "value", "problem"),
    [
        ("status", None, "status is missing"),
        ("status", "Fine", "status is not one of"),
        ("tier", 0, "tier is not one of 1, 2, 3"),
        ("tier", True, "tier has the type bool"),
        ("surprise", "x", "surprise is no field"),
        ("deployment.basic", None, "deployment.basic is missing"),
        ("deployment.basic.surprise", "x", "deployment.basic.surprise is no field"),
        ("deployment.basic.publication_date", "1/1/2026", "not in the format"),
        ("deployment.basic.data_curators", [], "not in the format"),
        ("deployment.basic.data_curators", "me", "has the type str"),
        ("deployment.basic.data_product_sector", "Fishing", "is not one of"),
        ("deployment.privacy_loss.privacy_parameters.epsilon", "1", "has the type str"),
        ("deployment.privacy_loss.privacy_parameters", 1, "has fields of its own"),
        ("deployment.administrative.registry_authors", None, "is missing"),
    ],
)
def test_the_rules_of_the_registry(table, path, value, problem):
    entry = copy.deepcopy(duffdp.report.registry_entry(table, sources=SOURCES))
    assert entry_problems(entry) == []
    change(entry, path, value)
    (found,) = entry_problems(entry)
    assert problem in found


def test_every_rule_is_a_rule_or_has_fields():
    def rules(part):
        for rule in part.values():
            yield from rules(rule) if isinstance(rule, dict) else [rule]

    assert all(isinstance(rule, Rule) for rule in rules(RULES))
    assert len(list(rules(RULES))) == 37


def test_the_command_writes_an_entry(tmp_path):
    FRAME.write_csv(tmp_path / "people.csv")
    words = "count people.csv --epsilon 1 --registry entry.yaml --title Counted --author Office"
    ended = duff(*words.split(), cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr
    entry = yaml.safe_load((tmp_path / "entry.yaml").read_text())
    assert entry_problems(entry) == []
    assert entry["deployment"]["administrative"]["registry_authors"] == ["Office"]
    ended = duff(*words.replace("entry.yaml", "Entry.yml").split(), cwd=tmp_path)
    assert ended.returncode == 2
    assert "--registry needs a file name" in ended.stderr
