"""Keys of patterns and the group of all others on every engine: the same counts, whatever the
library, and people who have rows in several groups.
"""

from __future__ import annotations

import datetime as dt
from collections import Counter

import polars as pl
import pyarrow as pa
import pytest

import duffdp
from duffdp import Pattern
from duffdp._engines.people import Cap
from duffdp._engines.selection import select
from duffdp._engines.sql.query import OpenSources
from duffdp._engines.table import SourceTable
from duffdp._sampling.entropy import entropy
from duffdp.domain import Presence
from engines import ENGINES, SLOW

CODES = Pattern("[A-C][0-9]{1,2}")
TEXTS = [
    "A1",
    "a1",
    "A1 ",
    " A1",
    "A01",
    "A10",
    "B7",
    "B7",
    "B7",
    None,
    "",
    "Ä1",
    "C99",
    "C999",
    "A1",
]
SIZE = len(TEXTS)
COLUMNS = {
    "code": (pa.string(), TEXTS),
    "number": (pa.int64(), [*range(-3, SIZE - 4), None]),
    "day": (pa.date32(), [dt.date(2024, 2, 27) + dt.timedelta(days=i % 5) for i in range(SIZE)]),
    "x": (pa.float64(), [float(i) if i % 4 else None for i in range(SIZE)]),
    "p": (pa.int64(), [i // 3 for i in range(SIZE)]),
}
engines = pytest.mark.parametrize(
    "engine", [pytest.param(e, marks=[pytest.mark.slow] if e in SLOW else []) for e in ENGINES]
)


def opened(engine, by, keys, unit=None, column="x", columns=COLUMNS):
    selection = select(column, by, keys, unit)
    data = ENGINES[engine](columns)
    return SourceTable(data, selection, "row", lambda *_: Presence(rows=True), OpenSources())


def counts(table, cap=Cap(1), every_row=True, seed=1):  # noqa: B008
    universe = table.selection.universe
    found = table.key_counts(cap, every_row, entropy(seed))
    return {universe.key(place): count for place, count in found.items()}


@engines
def test_counts_of_possible_keys(engine):
    wanted = Counter((text,) for text in TEXTS if text in CODES)
    assert set(wanted) == {("A1",), ("A01",), ("A10",), ("B7",), ("C99",)}
    assert counts(opened(engine, "code", CODES)) == wanted


@engines
def test_numbers_days_and_several_columns(engine):
    numbers, days = Pattern(numbers=(0, 4)), Pattern(days=("2024-02-28", "2024-03-01"))
    assert counts(opened(engine, "number", numbers)) == {(i,): 1 for i in range(5)}
    _, all_days = COLUMNS["day"]
    wanted = Counter((day,) for day in all_days if day in days)
    assert counts(opened(engine, "day", days)) == wanted
    both = {"number": numbers, "code": ["B7", "A10", "none"]}
    _, all_numbers = COLUMNS["number"]
    pairs = Counter(
        pair
        for pair in zip(all_numbers, TEXTS, strict=True)
        if pair[0] in numbers and pair[1] in ("B7", "A10")
    )
    assert counts(opened(engine, ["number", "code"], both)) == pairs


@engines
def test_rows_without_a_value(engine):
    _, values = COLUMNS["x"]
    wanted = Counter(
        (text,) for text, x in zip(TEXTS, values, strict=True) if text in CODES and x is not None
    )
    assert counts(opened(engine, "code", CODES), every_row=False) == wanted


@engines
def test_people_count_for_few_keys(engine):
    """Within the limit every row counts; beyond it as many keys as the limit says, for each
    person.
    """
    texts = ["A1", "A1", "A2", "A3", "B1", "B1", "B1", "C5"]
    people = [1, 1, 1, 1, 2, 2, 3, 4]
    columns = COLUMNS | {
        "code": (pa.string(), texts),
        "p": (pa.int64(), people),
        "x": (pa.float64(), [1.0] * 8),
    }
    columns = {name: columns[name] for name in ("code", "p", "x")}
    table = opened(engine, "code", CODES, "p", columns=columns)
    everything = {("A1",): 1, ("A2",): 1, ("A3",): 1, ("B1",): 2, ("C5",): 1}
    assert counts(table, Cap(1, 3)) == everything
    assert counts(opened(engine, "code", CODES, "p", columns=columns), Cap(2, 3)) == {
        **everything,
        ("A1",): 2,
        ("B1",): 3,
    }
    for limit in (1, 2):
        found = counts(opened(engine, "code", CODES, "p", columns=columns), Cap(1, limit))
        assert (found["B1",], found["C5",]) == (2, 1)
        assert sum(n for (key,), n in found.items() if key.startswith("A")) == limit
    found = counts(opened(engine, "code", CODES, "p", columns=columns), Cap(1))
    assert sum(found.values()) == 4


@engines
def test_all_others(engine):
    """Every row is in one group: rows with another key, or none, in the last one."""
    data = ENGINES[engine](COLUMNS)
    release = duffdp.count(
        data, by="code", keys=["B7", "A1"], other="all others", epsilon=1e6, rng=1
    )
    assert [row[-1] for row in release.rows()] == [3, 2, SIZE - 5]
    assert list(release.keys) == [("B7",), ("A1",), ("all others",)]
    grid = {"column": "number", "bounds": (-3, 20), "step": 1, "epsilon": 1e6, "rng": 1}
    release = duffdp.sum(data, by="code", keys=["B7"], other="rest", **grid)
    values = [row[-1] for row in release.rows()]
    _, numbers = COLUMNS["number"]
    inside = sum(n for n, t in zip(numbers, TEXTS, strict=True) if t == "B7" and n is not None)
    assert values == [inside, sum(n for n in numbers if n is not None) - inside]


@engines
def test_people_among_all_others(engine):
    """A person with rows in a listed group and in others counts once, or in each of two groups."""
    texts, people = ["A1", "zz", "zz", "A1", "B2", None], [1, 1, 1, 2, 3, 3]
    columns = {
        "code": (pa.string(), texts),
        "p": (pa.int64(), people),
        "x": (pa.float64(), [1.0] * 6),
    }
    given = {"by": "code", "keys": ["A1"], "other": "rest", "unit": "p", "epsilon": 1e6, "rng": 1}
    data = ENGINES[engine](columns)
    listed, rest = (row[-1] for row in duffdp.count(data, **given).rows())
    assert listed + rest == 3
    assert 1 <= listed <= 2
    both = duffdp.count(data, groups_per_person=2, **given)
    assert [row[-1] for row in both.rows()] == [2, 2]
    many = duffdp.count(data, groups_per_person=2, contributions=5, **given)
    assert [row[-1] for row in many.rows()] == [2, 4]


@engines
def test_found_keys_and_all_others(engine):
    """One call from the first stage to the last, with groups that add up to all rows."""
    data = ENGINES[engine](COLUMNS)
    given = {"by": "code", "keys": CODES, "epsilon": 1e3, "rng": 1}
    release = duffdp.count(data, **given)
    assert [(key, row[-1]) for (key,), row in zip(release.keys, release.rows(), strict=True)] == [
        *(("A01", 1), ("A1", 2), ("A10", 1), ("B7", 3), ("C99", 1)),
    ]
    release = duffdp.count(data, other="rest", **given)
    assert sum(row[-1] for row in release.rows()) == SIZE
    median = {"column": "number", "bounds": (-3, 20), "step": 1}
    release = duffdp.median(data, other="rest", **median, **given)
    assert (
        dict(zip((k for (k,) in release.keys), (r[-1] for r in release.rows()), strict=True))["B7"]
        == 4
    )


@engines
def test_whole_numbers_of_doubles(engine):
    values = [0.0, -0.0, 1.0, 1.5, float("nan"), float("inf"), 1e300, None, 3.0]
    columns = {"g": (pa.float64(), values), "x": (pa.float64(), [1.0] * 9)}
    table = opened(engine, "g", Pattern(numbers=(0, 3)), columns=columns)
    assert counts(table) == {(0,): 2, (1,): 1, (3,): 1}


def test_far_days_decide_nothing():
    """Days beyond those of Python are in no group; they are no error."""
    far = pl.Series("day", [0, 10**6 * 3, -(10**6) * 3], dtype=pl.Int32).cast(pl.Date)
    data = pl.DataFrame({"day": far})
    days = Pattern(days=("1970-01-01", "1970-01-03"))
    for frame in (data, data.lazy()):
        release = duffdp.count(frame, by="day", keys=days, epsilon=1e3, rng=1)
        assert [row[-1] for row in release.rows()] == [1]


def test_text_files(tmp_path):
    path = tmp_path / "codes.csv"
    path.write_text("code,n\nA1,1\nA1,07\nB2,7\nzz,7\n")
    given = {"epsilon": 1e3, "rng": 1}
    release = duffdp.count(path, by="code", keys=Pattern("[AB][0-9]"), **given)
    assert [(k, r[-1]) for (k,), r in zip(release.keys, release.rows(), strict=True)] == [
        *(("A1", 2), ("B2", 1)),
    ]
    release = duffdp.count(path, by="n", keys=Pattern(numbers=(1, 9)), **given)
    assert [(k, r[-1]) for (k,), r in zip(release.keys, release.rows(), strict=True)] == [
        *((1, 1), (7, 2)),
    ]


def test_stored_releases_as_keys(tmp_path):
    """The keys that were found last year are the public ones of this year."""
    data = ENGINES["polars"](COLUMNS)
    found = duffdp.count(data, by="code", keys=CODES, other="rest", epsilon=1e3, rng=1)
    path = tmp_path / "release.json"
    path.write_text(found.to_json())
    again = duffdp.count(data, by="code", keys=str(path), epsilon=1e3, rng=1)
    assert [*again.keys, ("rest",)] == list(found.keys)
    days = Pattern(days=("2024-02-01", "2024-03-31"))
    table = duffdp.table(
        data, {"x": "sum"}, bounds={"x": (0, 9)}, by="day", keys=days, epsilon=1e3, rng=1
    )
    path.write_text(table.to_json())
    again = duffdp.count(data, by="day", keys=path, epsilon=1e3, rng=1)
    assert list(again.keys) == list(table.keys)
    path.write_text("{}")
    with pytest.raises(duffdp.DuffError, match="cannot read the keys of the release"):
        duffdp.count(data, by="code", keys=path, epsilon=1.0)
