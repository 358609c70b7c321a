"""Every sentence of a page that depends on a fact, with the fact and with its opposite."""

from __future__ import annotations

from fractions import Fraction

import polars as pl
import pytest

import duffdp
from duffdp import Ledger
from duffdp.mechanisms import Geometric
from pages import read

FRAME = pl.DataFrame({"x": [1, 2, 3] * 20, "g": ["a", "b", "b"] * 20, "p": list(range(30)) * 2})
AGES = {"column": "x", "bounds": (0, 9), "step": 1}
GROUPS = {"by": "g", "keys": ["a", "b", "c", "d", "e", "f", "h"]}
PERSON = {"unit": "p"}
EDGES = [(0, 1), (1, 2)]


def median(**more):
    return duffdp.median(FRAME, **{"epsilon": 1, **AGES, **more})


def count(**more):
    return duffdp.count(FRAME, **{"epsilon": 1, **more})


def histogram(**more):
    return duffdp.histogram(FRAME, column="x", bins=[0, 2, 4], epsilon=1, **more)


def triangles():
    return duffdp.triangles(EDGES, epsilon=1, nodes=4)


def table(**more):
    given = {"bounds": {"x": (0, 9)}, "by": "g", "keys": ["a", "b"], "epsilon": 1}
    return duffdp.table(FRAME, {"x": "median"}, **given | more)


def noise(epsilon, rows=1):
    """How far a noisy size is off, with 95 % probability."""
    return Geometric(Fraction(epsilon) / 10 / rows).largest_noise(1, 0.95)


THREE_EACH = {**PERSON, **GROUPS, "contributions": 3, "groups_per_person": 5}
ONE_EACH = {**PERSON, **GROUPS, "groups_per_person": 5}
# A sentence; releases of which it is true; releases of which it is not, one fact apart.
SENTENCES = {
    # how accurate it is
    "counts set to 0": (
        "Counts that came out below 30 are reported as 0.",
        lambda: histogram(zero_below=30),
        lambda: [histogram(zero_below=20), histogram()],
    ),
    # how private it is
    "odds of you": (
        "changes anyone's odds about you by",
        lambda: median(**PERSON),
        lambda: [median(**PERSON), median()],
    ),
    "odds of both": (
        "odds about one person or one row of the table by",
        lambda: [median(**PERSON), median()],
        lambda: [median(**PERSON), count(**PERSON)],
    ),
    "odds of a row": ("odds about one row of the table by", median, lambda: median(**PERSON)),
    "odds of an edge": ("odds about one edge of the graph by", triangles, median),
    "large epsilon": ("no meaningful protection", lambda: median(epsilon=21), median),
    "for whom": (
        "for whoever has rows in all of them",
        lambda: [median(), count()],
        lambda: [triangles(), triangles()],
    ),
    # who is protected
    "a row": ("This protects a person if a person has one row.", median, lambda: median(**PERSON)),
    "a person": (
        "All rows with the same value of “p” together: the guarantee covers them all at once.",
        lambda: median(**PERSON),
        median,
    ),
    "one row": (
        "At most one row of each took part, picked at random.",
        lambda: median(**PERSON),
        lambda: median(**PERSON, contributions=2),
    ),
    "two rows": (
        "At most 2 rows of each took part, picked at random.",
        lambda: median(**PERSON, contributions=2),
        lambda: median(**PERSON),
    ),
    "over all groups": (
        "At most one row of each took part, over all groups together, picked at random.",
        lambda: median(**PERSON, **GROUPS),
        lambda: median(**ONE_EACH),
    ),
    "in each of some groups": (
        "At most 3 rows of each took part, in each of at most 5 groups, picked at random.",
        lambda: median(**THREE_EACH),
        lambda: median(**THREE_EACH | {"groups_per_person": 3, "contributions": 5}),
    ),
    # what is counted
    "rows": ("Rows, whatever is in them.", count, lambda: count(where="x > 1")),
    "chosen rows": ("Rows where x > 1.", lambda: count(where="x > 1"), count),
    "present values": ("Rows whose value is not missing.", lambda: count(column="x"), count),
    "people": (
        "People: each counts once, by one of their rows that was picked at random.",
        lambda: count(**PERSON),
        lambda: count(**PERSON, contributions=2),
    ),
    "people in groups": (
        "People: each counts once in each of at most 5 groups, by one of their rows that was "
        "picked at random.",
        lambda: count(**ONE_EACH),
        lambda: count(**PERSON, **GROUPS),
    ),
    "rows of people": (
        "Rows of people, of which at most 3 a person count in each of at most 5 groups.",
        lambda: count(**THREE_EACH),
        lambda: count(**ONE_EACH),
    ),
    "used rows of people": (
        "Numbers are about the rows that were used, at most 1 row per person, picked at random.",
        lambda: median(**PERSON),
        median,
    ),
    "used rows of people in groups": (
        "rows that were used, at most 3 rows per person in each of at most 5 groups, picked",
        lambda: count(**THREE_EACH),
        lambda: count(**ONE_EACH),
    ),
    "people of a group who are counted in another": (
        "at most 1 row per person, picked at random, so a group may show fewer people than it has.",
        lambda: count(**PERSON, **GROUPS),
        lambda: count(**ONE_EACH),
    ),
    "error in short of used rows": (
        "an interval beside it holds the exact answer for the rows that were used",
        lambda: median(interval=0.9, **PERSON),
        lambda: median(interval=0.9),
    ),
    # how wrong it can be
    "interval of picked rows": (
        "the exact answer for the records, of the rows that were picked,",
        lambda: median(interval=0.9, **PERSON),
        lambda: median(interval=0.9),
    ),
    "interval of the data": (
        "probability the exact answer for the records lies in the interval",
        lambda: median(interval=0.9),
        lambda: median(interval=0.9, covers="population"),
    ),
    "interval of a population": (
        "With at least 90 % probability the answer for the population that the records were drawn "
        "from independently, whatever its distribution, lies in the interval.",
        lambda: median(interval=0.9, covers="population"),
        lambda: median(interval=0.9),
    ),
    "interval of each group": (
        "lies in the interval, in each group by itself.",
        lambda: median(interval=0.9, **GROUPS),
        lambda: median(interval=0.9, **GROUPS, simultaneous=True),
    ),
    "intervals together": (
        "lies in the interval, for all groups together.",
        lambda: median(interval=0.9, **GROUPS, simultaneous=True),
        lambda: median(interval=0.9, **GROUPS),
    ),
    "withheld": (
        "Numbers of groups with a noisy size below 6 are withheld.",
        lambda: median(**GROUPS, suppress_below=6),
        lambda: median(**GROUPS, suppress_below=5),
    ),
    "noise of sizes": (
        f"the noisy size of a group is off by at most {noise(1)}.",
        lambda: median(**GROUPS, suppress_below=6),
        lambda: count(**GROUPS, suppress_below=6),
    ),
    "noise of sizes of people": (
        f"the noisy size of a group is off by at most {noise(1, rows=15)}.",
        lambda: median(**THREE_EACH, suppress_below=6),
        lambda: median(**ONE_EACH, suppress_below=6),
    ),
    "people of a bound": ("people would have to join", lambda: median(**PERSON), median),
    "each group": (
        "This holds for each group by itself.",
        lambda: median(**GROUPS),
        median,
    ),
    # what was assumed to be public
    "groups": ("the list of groups;", lambda: median(**GROUPS), median),
    "where": ("which rows count, those where x > 1", lambda: median(where="x > 1"), median),
    "query": (
        "the query that made the rows, SELECT x FROM data",
        lambda: duffdp.count(duffdp.Query(FRAME, "SELECT x FROM data"), epsilon=1),
        count,
    ),
    "margins": (
        "the listed groups by g, of which it takes some or all together",
        lambda: table(total=True),
        table,
    ),
    # for the reviewer
    "seeded": (
        "Draws From a seed: there is no guarantee at all.",
        lambda: [median(rng=1), median(rng=1)],
        lambda: [median(), median()],
    ),
    "one of them seeded": (
        "Draws From a seed: there is no guarantee at all.",
        lambda: [median(rng=1), median()],
        median,
    ),
    "the other one seeded": (
        "Draws From a seed: there is no guarantee at all.",
        lambda: [median(), count(rng=1)],
        lambda: [median(), count()],
    ),
    "not private": ("Not private. At least one value", lambda: [median(), median(rng=1)], median),
    "exact draws": (
        "Draws From the operating system's randomness",
        lambda: [median(), count()],
        lambda: [median(), count(rng=1)],
    ),
    "bias of people": (
        "Of a person at most 3 rows in 5 groups each count, picked at random",
        lambda: median(**THREE_EACH),
        lambda: median(**ONE_EACH),
    ),
    "bias of bounds": ("Values beyond the bounds count as the nearest bound", median, count),
    "bias of groups": ("Groups that are not listed are left out.", lambda: count(**GROUPS), count),
    "unit of a row": ("Unit One row. Somebody", median, lambda: median(**PERSON)),
    "unit of a person": ("Unit One person, by “p”.", lambda: median(**PERSON), median),
    "replaced": (
        "this page costs 2 instead",
        median,
        lambda: [median(), median()],
    ),
}


@pytest.mark.parametrize("name", SENTENCES)
def test_a_sentence_is_there_when_it_is_true_and_not_otherwise(name, tmp_path):
    sentence, true, false = SENTENCES[name]
    text, _ = read(duffdp.report.write(true(), tmp_path / "true.html"))
    assert sentence in text
    text, _ = read(duffdp.report.write(false(), tmp_path / "false.html"))
    assert sentence not in text


def test_what_a_ledger_says(tmp_path):
    """Charged there, charged elsewhere, and no ledger."""
    ledgers = [Ledger(tmp_path / f"{name}.db", epsilon=4) for name in ("one", "two")]
    release = median(ledger=ledgers[0])
    said = {
        "other releases: 0": [True, False, False],
        "The ledger holds less than this page cost": [False, True, False],
        "No ledger was kept with this page": [False, False, True],
        "Epsilon in all 1 of 4, by the ledger.": [True, False, False],
        "This page was not charged to the ledger it came with.": [False, True, False],
        "No ledger says what else was spent.": [False, False, True],
    }
    pages = [
        read(duffdp.report.write(release, tmp_path / "page.html", ledger))[0]
        for ledger in (*ledgers, None)
    ]
    for words, known in said.items():
        assert [words in page for page in pages] == known
