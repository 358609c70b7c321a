"""A column may have any name: one that is used inside of queries, one in other letters, one with quotation marks."""

from __future__ import annotations

import duckdb
import pyarrow as pa
import pytest

from duffdp import Grid
from duffdp.engines.tables import names
from engines import ENGINES, open_sources

INSIDE = [
    name
    for name in vars(names).values()
    if isinstance(name, str) and name.isidentifier() and "__" not in name
]
NAMES = [
    "__index",
    "__GROUP",
    "group",
    "*",
    "^x.*$",
    "a.b",
    'say "no"',
    "it's",
    "back`tick",
    "a\\b",
    "ä ö",
    "{x}",
    "%s",
    "key_0",
]


@pytest.mark.parametrize("name", [*NAMES, *INSIDE, *(name.upper() for name in INSIDE)])
def test_any_name(engine, name):
    """The same counts whatever the columns are called, each of them in turn."""
    for column, by, unit in ((name, "g", "p"), ("x", name, "p"), ("x", "g", name)):
        columns = {
            column: (pa.int64(), [1, 2, 2, 3]),
            by: (pa.string(), ["u", "v", "v", "none"]),
            unit: (pa.int64(), [1, 2, 3, 4]),
        }
        frame = ENGINES[engine](columns)
        for who in (None, unit):
            sources = open_sources(frame, Grid(0, 9, 1), column, by, ["v", "u"], who)
            assert [source.tally()[1].tolist() for source in sources] == [[2], [1]]


def test_the_group_may_be_the_person(engine):
    columns = {"x": (pa.int64(), [1, 2, 3]), "p": (pa.string(), ["u", "u", "v"])}
    sources = open_sources(ENGINES[engine](columns), Grid(0, 9, 1), "x", "p", ["u", "v"], "p")
    assert [int(source.tally()[1].sum()) for source in sources] == [1, 1]


def test_nothing_is_left_behind_in_a_connection():
    connection = duckdb.connect()
    connection.execute(
        "CREATE TABLE __rows AS SELECT i % 10 AS x, i AS p, 'a' AS g FROM range(100) t(i)"
    )
    relation = connection.table("__rows")
    for by in (None, "g"):
        for unit in (None, "p"):
            sources = open_sources(
                relation, Grid(0, 9, 1), "x", by, ["a", "b"] if by else None, unit
            )
            assert sources[0].tally()[1].sum() == 100
    assert connection.execute(
        "SELECT count(*) FROM duckdb_views() WHERE NOT internal"
    ).fetchone() == (0,)
