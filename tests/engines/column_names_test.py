"""A column may have any name: one that is used inside of queries, one in other letters, one with
quotation marks.
"""

from __future__ import annotations

import pyarrow as pa
import pytest

from duffdp import Grid
from duffdp._engines.queries import names
from engines import ENGINES, SLOW, open_groups

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


@pytest.mark.parametrize("letters", [str, str.upper], ids=["as they are", "in capitals"])
def test_any_name(engine, letters):
    """The same counts whatever the columns are called, and whatever others stand beside them.

    Each name is that of the values, the groups and the people in turn. In capitals, which make a
    difference to engines that do not tell letters apart, and in slow engines it is one of the
    three: an adapter quotes all names in one way.
    """
    names = list({name.casefold(): letters(name) for name in [*NAMES, *INSIDE]}.values())
    triples = list(zip(names, names[1:], names[2:], strict=False))
    capitals = letters is str.upper
    for i, (column, by, unit) in enumerate(
        triples[capitals :: 3 if capitals or engine in SLOW else 1]
    ):
        columns = {
            column: (pa.int64(), [1, 2, 2, 3]),
            by: (pa.string(), ["u", "v", "v", "none"]),
            unit: (pa.int64(), [1, 2, 3, 4]),
        }
        others = {name: (pa.int64(), [0] * 4) for name in names if name not in columns}
        frame = ENGINES[engine](columns | others)
        who = unit if i % 3 else None
        groups = open_groups(frame, Grid(0, 9, 1), column, by, ["v", "u"], who)
        assert [group.value_counts()[1].tolist() for group in groups] == [[2], [1]], (
            column,
            by,
            who,
        )


def test_the_group_may_be_the_person(engine):
    columns = {"x": (pa.int64(), [1, 2, 3]), "p": (pa.string(), ["u", "u", "v"])}
    groups = open_groups(ENGINES[engine](columns), Grid(0, 9, 1), "x", "p", ["u", "v"], "p")
    assert [int(group.value_counts()[1].sum()) for group in groups] == [1, 1]
