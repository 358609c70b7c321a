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
    """How far a noisy size is off, with 95% probability."""
    return Geometric(Fraction(epsilon) / 10 / rows).largest_noise(1, 0.95)


THREE_EACH = {**PERSON, **GROUPS, "contributions": 3, "groups_per_person": 5}
ONE_EACH = {**PERSON, **GROUPS, "groups_per_person": 5}
# A sentence; releases of which it is true; releases of which it is not, one fact apart.
SENTENCES = {
    # how accurate it is
    "counts set to 0": (
        "Noisy counts below 30 are reported as 0.",
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
        "for anyone with rows in all of them",
        lambda: [median(), count()],
        lambda: [triangles(), triangles()],
    ),
    # who is protected
    "a row": (
        "This protects a person fully only if the person has one row.",
        median,
        lambda: median(**PERSON),
    ),
    "a person": (
        "All rows with the same value of “p” together: the guarantee covers them all at once.",
        lambda: median(**PERSON),
        median,
    ),
    "one row": (
        "At most one row per person was used, picked at random.",
        lambda: median(**PERSON),
        lambda: median(**PERSON, contributions=2),
    ),
    "two rows": (
        "At most 2 rows per person were used, picked at random.",
        lambda: median(**PERSON, contributions=2),
        lambda: median(**PERSON),
    ),
    "over all groups": (
        "At most one row per person was used, over all groups together, picked at random.",
        lambda: median(**PERSON, **GROUPS),
        lambda: median(**ONE_EACH),
    ),
    "in each of some groups": (
        "At most 3 rows per person were used, in each of at most 5 groups, picked at random.",
        lambda: median(**THREE_EACH),
        lambda: median(**THREE_EACH | {"groups_per_person": 3, "contributions": 5}),
    ),
    # what is counted
    "rows": ("Rows, whatever their content.", count, lambda: count(where="x > 1")),
    "chosen rows": ("Rows where x > 1.", lambda: count(where="x > 1"), count),
    "present values": ("Rows with a value.", lambda: count(column="x"), count),
    "people": (
        "People: each counts once, by one of their rows, picked at random.",
        lambda: count(**PERSON),
        lambda: count(**PERSON, contributions=2),
    ),
    "people in groups": (
        "People: each counts once in each of at most 5 groups, by one of their rows, picked "
        "at random.",
        lambda: count(**ONE_EACH),
        lambda: count(**PERSON, **GROUPS),
    ),
    "rows of people": (
        "Rows of people: at most 3 per person in each of at most 5 groups.",
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
        "The interval beside it contains the exact answer for the rows that were used",
        lambda: median(interval=0.9, **PERSON),
        lambda: median(interval=0.9),
    ),
    # how wrong it can be
    "interval of picked rows": (
        "the exact answer for the rows chosen at random is in the interval",
        lambda: median(interval=0.9, **PERSON),
        lambda: median(interval=0.9),
    ),
    "interval of the data": (
        "probability the exact answer for the records is in the interval",
        lambda: median(interval=0.9),
        lambda: median(interval=0.9, covers="population"),
    ),
    "interval of a population": (
        "With at least 90% probability the answer for the population, from which the records "
        "were sampled independently and which may have any distribution, is in the interval.",
        lambda: median(interval=0.9, covers="population"),
        lambda: median(interval=0.9),
    ),
    "interval of each group": (
        "is in the interval, for each group individually.",
        lambda: median(interval=0.9, **GROUPS),
        lambda: median(interval=0.9, **GROUPS, simultaneous=True),
    ),
    "intervals together": (
        "is in the interval, for all groups at once.",
        lambda: median(interval=0.9, **GROUPS, simultaneous=True),
        lambda: median(interval=0.9, **GROUPS),
    ),
    "withheld": (
        "Numbers of groups with a noisy size below 6 are withheld,",
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
    "people of a bound": (
        "people would make this the exact answer",
        lambda: median(**PERSON),
        median,
    ),
    "each group": (
        "This holds for each group individually.",
        lambda: median(**GROUPS),
        median,
    ),
    # what was assumed to be public
    "groups": ("the list of groups;", lambda: median(**GROUPS), median),
    "where": ("the condition for rows that are used, x > 1", lambda: median(where="x > 1"), median),
    "query": (
        "the query that made the rows, SELECT x FROM data",
        lambda: duffdp.count(duffdp.Query(FRAME, "SELECT x FROM data"), epsilon=1),
        count,
    ),
    "margins": (
        "the listed groups by g, some or all of which are combined",
        lambda: table(total=True),
        table,
    ),
    # for the reviewer
    "seeded": (
        "Draws From a seed: there is no guarantee.",
        lambda: [median(rng=1), median(rng=1)],
        lambda: [median(), median()],
    ),
    "one of them seeded": (
        "Draws From a seed: there is no guarantee.",
        lambda: [median(rng=1), median()],
        median,
    ),
    "the other one seeded": (
        "Draws From a seed: there is no guarantee.",
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
        "At most 3 rows in 5 groups each per person are used, picked at random",
        lambda: median(**THREE_EACH),
        lambda: median(**ONE_EACH),
    ),
    "bias of bounds": ("Values outside of the bounds count as the nearest bound", median, count),
    "bias of groups": ("Groups that are not listed are dropped.", lambda: count(**GROUPS), count),
    "unit of a row": ("Unit One row. Somebody", median, lambda: median(**PERSON)),
    "unit of a person": ("Unit One person, identified by “p”.", lambda: median(**PERSON), median),
    "replaced": (
        "for which epsilon is 2",
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
        "The ledger was not charged for all of this report": [False, True, False],
        "This report has no ledger": [False, False, True],
        "Total epsilon 1 of 4, according to the ledger.": [True, False, False],
        "The ledger of this report was not charged for all of it.": [False, True, False],
        "There is no ledger that shows what else was spent.": [False, False, True],
    }
    pages = [
        read(duffdp.report.write(release, tmp_path / "page.html", ledger))[0]
        for ledger in (*ledgers, None)
    ]
    for words, known in said.items():
        assert [words in page for page in pages] == known
