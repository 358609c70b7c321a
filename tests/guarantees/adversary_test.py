"""The adversary for a short while, and that it sees what it is there to see."""

from __future__ import annotations

import itertools
import math
import sys
import warnings
from dataclasses import replace

import pytest

import adversary
import duffdp
from adversary import differences
from scenarios import Scenario

PAIRS = 120
NUMBERS = Scenario(
    "list", (("1",), ("5",), ("None",)), 2, "median", {"bounds": "(0, 120)", "step": "1"}
)
FRAME = Scenario(
    "polars",
    (("1", "'a'", "1"), ("5", "'b'", "2"), ("17", "'a'", "1")),
    1,
    "median",
    {"bounds": "(0, 120)", "column": "'x'", "by": "'g'", "keys": "['a', 'b']"},
    ("int64", "string", "person"),
    ledger=True,
)


@pytest.mark.slow
def test_no_record_shows():
    """`python tests/support/adversary.py --minutes 10` looks further."""
    hunted = list(itertools.islice(adversary.hunt(math.inf, seed=5), PAIRS))
    assert [finding for finding in hunted if finding[0] is not None] == []


TABLE = replace(FRAME, verb="table", options=FRAME.options | {"total": "True"})


@pytest.mark.parametrize("scenario", [NUMBERS, FRAME, TABLE], ids=["list", "frame", "table"])
def test_what_is_private_is_no_finding(scenario, tmp_path):
    assert differences(scenario, tmp_path) == {}


def raises(data):
    if None in data:
        raise duffdp.UnsupportedData("a record is missing")


def warns(data):
    if None in data:
        warnings.warn("a record is missing", UserWarning, stacklevel=1)


def prints(data):
    if None in data:
        print("a record is missing")


def complains(data):
    if None in data:
        print("a record is missing", file=sys.stderr)


@pytest.mark.parametrize(
    ("leak", "places"),
    [
        (raises, {"error", "release"}),
        (warns, {"warnings"}),
        (prints, {"printed"}),
        (complains, {"printed"}),
    ],
)
def test_a_verb_that_tells(leak, places, tmp_path, monkeypatch):
    median = duffdp.median

    def leaking(data, **options):
        leak(data)
        return median(data, **options)

    monkeypatch.setattr(duffdp, "median", leaking)
    assert set(differences(NUMBERS, tmp_path)) == places


@pytest.mark.parametrize("step", [1, 0.5, None])
def test_a_domain_that_follows_the_records(step, tmp_path, monkeypatch):
    """Another step, or other bounds, where a record is missing."""
    median = duffdp.median

    def leaking(data, *, bounds, **options):
        options |= {"step": step} if None in data else {"step": 2}
        return median(data, bounds=bounds, **options)

    monkeypatch.setattr(duffdp, "median", leaking)
    assert set(differences(NUMBERS, tmp_path)) == {"release"}


def test_a_charge_that_follows_the_records(tmp_path, monkeypatch):
    median = duffdp.median

    def leaking(data, *, epsilon, **options):
        return median(data, epsilon=epsilon / 2 if len(data) > 2 else epsilon, **options)

    monkeypatch.setattr(duffdp, "median", leaking)
    assert {"release", "ledger"} <= set(differences(FRAME, tmp_path))


def test_a_table_that_follows_the_records(tmp_path, monkeypatch):
    """Another share, threshold or row where a record is there."""
    table = duffdp.table

    def leaking(data, statistics, **options):
        return table(data, statistics, **options, **({"smallest": 9} if len(data) > 2 else {}))

    monkeypatch.setattr(duffdp, "table", leaking)
    assert set(differences(TABLE, tmp_path)) == {"release"}


def test_counts_that_differ_by_more_than_a_record(tmp_path, monkeypatch):
    """One record decides how another is read."""
    counts = adversary.counts

    def moved(data, verb, options):
        found = counts(data, verb, options)
        return (
            found if None in data else type(found)({(g, i + 1): n for (g, i), n in found.items()})
        )

    monkeypatch.setattr(adversary, "counts", moved)
    assert set(differences(NUMBERS, tmp_path)) == {"counts"}


def test_counts_that_cannot_be_had(tmp_path, monkeypatch):
    """As where an engine makes nothing of a record and counts it all the same."""
    monkeypatch.setattr(adversary, "engine_of", lambda data, verb, options: (None, 0))
    assert set(differences(NUMBERS, tmp_path)) == {"counts"}


def test_a_value_outside_of_the_public_set(tmp_path, monkeypatch):
    monkeypatch.setattr(adversary, "_is_candidate", lambda domain, value: False)
    assert set(differences(NUMBERS, tmp_path)) == {"public set"}


@pytest.mark.slow
def test_the_command_line_is_watched_too(tmp_path):
    """Its exit code, all that it prints, and the ledger."""
    scenario = Scenario(
        "csv",
        (b"1,a,p1", b"5,b,p2", b"7,a,p1"),
        2,
        "quantiles",
        {"column": "'x'", "bounds": "(0, 120)", "by": "'g'", "keys": "['a', 'b']"},
        ledger=True,
        command=True,
    )
    seen = adversary.observed(
        scenario, adversary.containers.build("csv", scenario.records, (), tmp_path), tmp_path
    )
    assert (seen["exit code"], len(seen["ledger"])) == (0, 1)
    assert seen["stderr"].endswith(
        b"\nanswers are rounded to whole numbers; for decimals, pass --step 0.1\n"
    )
    assert seen["stdout"]["value"] == [{"g": "str", "0.25": "int", "0.5": "int"}] * 2
    assert differences(scenario, tmp_path) == {}


def test_findings_are_made_small(tmp_path, monkeypatch):
    median = duffdp.median

    def leaking(data, **options):
        raises(data)
        return median(data, **options)

    monkeypatch.setattr(duffdp, "median", leaking)
    records = (("1",),) * 9 + (("None",), ("5",))
    large = Scenario(
        "list",
        records,
        9,
        "median",
        {"bounds": "(0, 120)", "step": "1", "mechanism": "'duff'"},
        ledger=True,
    )
    small = adversary.shrunk(large, tmp_path)
    assert small == Scenario("list", (("None",),), 0, "median", {"bounds": "(0, 120)"})
    assert eval(repr(small), {"Scenario": Scenario}) == small
