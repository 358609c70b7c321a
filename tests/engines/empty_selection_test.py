"""A selection without rows is released like any other: every engine, every kind of column, with
and without people.
"""

from __future__ import annotations

import datetime as dt

import pandas as pd
import pyarrow as pa
import pytest

import duffdp
from covering import every_pair
from duffdp import Categories, Grid
from engines import ENGINES, SLOW, open_groups

DAY, NOON = dt.date(2020, 5, 1), dt.datetime(2020, 5, 1, 12)
KINDS = {
    "float": (pa.float64(), 1.5, Grid(0.0, 9.0, 0.5)),
    "int": (pa.int64(), 3, Grid(0, 9, 1)),
    "date": (pa.date32(), DAY, Grid(dt.date(2020, 1, 1), dt.date(2020, 12, 31))),
    "datetime": (
        pa.timestamp("us"),
        NOON,
        Grid(dt.datetime(2020, 1, 1), dt.datetime(2021, 1, 1), 60),
    ),
    "category": (pa.string(), "a", Categories(["a", "b"])),
    "bool": (pa.bool_(), True, Grid(0, 1, 1)),
    "bool category": (pa.bool_(), True, Categories([True, False])),
    "date category": (pa.date32(), DAY, Categories([DAY, dt.date(2021, 1, 1)])),
}
SITUATIONS = {
    "no rows": ([], [], []),
    "no matching key": (["value"], ["other"], [1]),
    "no value": ([None], ["a"], [1]),
    "nobody": (["value"], ["a"], [None]),
}


@pytest.mark.parametrize(("engine", "kind", "situation"), every_pair(ENGINES, KINDS, SITUATIONS))
def test_no_row_is_no_reason(engine, kind, situation):
    """All counts are 0; what would be one record more is no error either.

    Every engine meets every kind and every situation, and every kind every situation: an adapter
    reads types, and what it does without rows depends on the type alone.
    """
    arrow_type, value, domain = KINDS[kind]
    values, groups, people = SITUATIONS[situation]
    filled = [value if v == "value" else v for v in values]
    for more in ([], [(value, "a", 1)]):
        columns = {
            "x": (arrow_type, filled + [row[0] for row in more]),
            "g": (pa.string(), groups + [row[1] for row in more]),
            "p": (pa.int64(), people + [row[2] for row in more]),
        }
        frame = ENGINES[engine](columns)
        selections = [(keys, unit) for keys in (None, ["a", "none"]) for unit in (None, "p")]
        # Slow engines: without groups and people, and with both.
        for keys, unit in selections[:: 3 if engine in SLOW else 1]:
            by = "g" if keys else None
            found = open_groups(frame, domain, "x", by, keys, unit)
            assert len(found) == len(keys or [0])
            outside = situation == "no matching key" and by is None
            nobody = situation == "nobody" and unit is None
            expected = len(more) + (outside or nobody)
            # With people, a person's two rows count as one.
            expected = min(expected, 1) if unit else expected
            assert sum(int(group.value_counts()[1].sum()) for group in found) == expected


@pytest.mark.parametrize(("engine", "unit", "rows"), every_pair(ENGINES, [None, "p"], [0, 1, 20]))
def test_people_and_a_ledger(engine, unit, rows, tmp_path):
    """Charged and released, however many rows there are: every engine with each number of rows,
    with and without people.
    """
    columns = {
        "x": (pa.float64(), [1.0] * rows),
        "g": (pa.string(), ["a"] * rows),
        "p": (pa.int64(), list(range(rows))),
    }
    ledger = duffdp.Ledger(tmp_path / "ledger.sqlite", epsilon=10)
    where = {
        "column": "x",
        "unit": unit,
        "ledger": ledger,
        "epsilon": 1,
        "bounds": (0, 9),
        "step": 1,
    }
    assert duffdp.median(ENGINES[engine](columns), **where).value in range(10)
    grouped = duffdp.quantiles(ENGINES[engine](columns), [0.5], by="g", keys=["a", "b"], **where)
    assert len(grouped.rows()) == 2
    assert ledger.spent() == 2


def test_objects_of_pandas_are_objects_whatever_they_look_like():
    """A column of objects with text alone, with nothing, or with a number in it: no error, and
    the same outputs.
    """
    for records in ([], ["a"], ["a", 1], [None], [1, "a", [2]], ["a"] * 200 + [1]):
        frame = pd.DataFrame(
            {"x": pd.Series(records, dtype=object), "g": pd.Series(records, dtype=object), "p": 1}
        )
        for unit in (None, "p"):
            (group,) = open_groups(frame, Grid(0, 9, 1), "x", unit=unit)
            assert group.value_counts()[1].sum() == (1 in records)
            (group,) = open_groups(
                frame, Categories(["a", "b"]), "x", by="g", keys=["a"], unit=unit
            )
            assert group.value_counts()[1].sum() == min(records.count("a"), 1 if unit else 1000)
