"""Found keys with all others and larger groups above them on every engine: one call, the same
numbers, and every level adds up.
"""

from __future__ import annotations

import pyarrow as pa
import pytest

import duffdp
from duffdp import Pattern
from engines import ENGINES, SLOW

CODES = ["A00"] * 60 + ["A09"] * 40 + ["B20"] * 2 + ["C50"] * 50 + ["I10"] * 3 + ["Z99"] * 45
CODES += ["a00", "A00 ", None, "", "Ä00"] * 2
SIZE = len(CODES)
COLUMNS = {
    "code": (pa.string(), CODES),
    "age": (pa.int64(), [(7 * i) % 90 for i in range(SIZE)]),
    "p": (pa.int64(), list(range(SIZE))),
}
CHAPTERS = {
    "A00-B99": Pattern("[AB][0-9]{2}"),
    "C00-D49": Pattern("C[0-9]{2}|D[0-4][0-9]"),
    "I00-I99": Pattern("I[0-9]{2}"),
}
COUNTS = {
    ("A00-B99", None): 102,
    ("A00-B99", "A00"): 60,
    ("A00-B99", "A09"): 40,
    ("A00-B99", "others"): 2,
    ("C00-D49", None): 50,
    ("C00-D49", "C50"): 50,
    ("C00-D49", "others"): 0,
    ("I00-I99", None): 3,
    ("I00-I99", "others"): 3,
    ("others", None): 55,
    ("others", "Z99"): 45,
    ("others", "others"): 10,
    (None, None): SIZE,
}
engines = pytest.mark.parametrize(
    "engine", [pytest.param(e, marks=[pytest.mark.slow] if e in SLOW else []) for e in ENGINES]
)


@engines
def test_chapters_above_found_codes(engine):
    data = ENGINES[engine](COLUMNS)
    # Counts find keys with a tiny part of epsilon, so that a code needs about ten rows.
    given = {"weights": {"count": 1, "count by chapter": 40, "age_sum": 40}, "interval": None}
    table = duffdp.table(
        data,
        {"age": "sum"},
        epsilon=100,
        bounds={"age": (0, 89)},
        by="code",
        keys=Pattern("[A-Z][0-9]{2}"),
        other="others",
        levels={"chapter": CHAPTERS},
        rng=2,
        **given,
    )
    columns = table.wide()
    keys = table.row_keys()
    assert set(keys) == set(COUNTS)
    by_age = dict(zip(keys, columns["age_sum"], strict=True))
    sums = dict.fromkeys(COUNTS, 0)
    for code, age in zip(CODES, COLUMNS["age"][1], strict=True):
        chapter = next((name for name, codes in CHAPTERS.items() if code in codes), "others")
        leaf = (chapter, code) if code and (chapter, code) in COUNTS else (chapter, "others")
        for key in (leaf, (chapter, None), (None, None)):
            sums[key] += age
    assert by_age == sums  # with next to no noise
    counts = dict(zip(keys, columns["count"], strict=True))
    assert counts == pytest.approx(COUNTS, abs=12)
    for name in ("count", "age_sum"):
        values = dict(zip(keys, columns[name], strict=True))
        for chapter in (*CHAPTERS, "others"):
            parts = [v for (group, code), v in values.items() if group == chapter and code]
            assert sum(parts) == values[chapter, None]
        assert sum(values[chapter, None] for chapter in (*CHAPTERS, "others")) == values[None, None]
