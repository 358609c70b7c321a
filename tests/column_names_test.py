"""A column may have any name: one that is used inside of queries, one in other letters, one with
quotation marks.
"""

from __future__ import annotations

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


@pytest.mark.parametrize("letters", [str, str.upper], ids=["as they are", "in capitals"])
def test_any_name(engine, letters):
    """The same counts whatever the columns are called, and whatever others stand beside them."""
    names = list({name.casefold(): letters(name) for name in [*NAMES, *INSIDE]}.values())
    for i, (column, by, unit) in enumerate(zip(names, names[1:], names[2:], strict=False)):
        columns = {
            column: (pa.int64(), [1, 2, 2, 3]),
            by: (pa.string(), ["u", "v", "v", "none"]),
            unit: (pa.int64(), [1, 2, 3, 4]),
        }
        others = {name: (pa.int64(), [0] * 4) for name in names if name not in columns}
        frame = ENGINES[engine](columns | others)
        who = unit if i % 3 else None
        sources = open_sources(frame, Grid(0, 9, 1), column, by, ["v", "u"], who)
        assert [source.tally()[1].tolist() for source in sources] == [[2], [1]], (column, by, who)


def test_the_group_may_be_the_person(engine):
    columns = {"x": (pa.int64(), [1, 2, 3]), "p": (pa.string(), ["u", "u", "v"])}
    sources = open_sources(ENGINES[engine](columns), Grid(0, 9, 1), "x", "p", ["u", "v"], "p")
    assert [int(source.tally()[1].sum()) for source in sources] == [1, 1]
