"""The same table wherever the rows live: the same public facts, a frame of the same library, and
margins of the groups that are listed."""

from __future__ import annotations

import itertools

import narwhals as nw
import numpy as np
import pyarrow as pa
import pytest

import duffdp
from duffdp import Ledger
from engines import ENGINES

WARDS = ["north", "south", "nobody"]
MANY = 120
ROWS = {
    "ward": (pa.string(), [("north", "south", "elsewhere")[i % 3] for i in range(MANY)]),
    "sex": (pa.string(), ["fm"[i % 2] for i in range(MANY)]),
    "patient": (pa.int64(), [i // 2 for i in range(MANY)]),
    "age": (pa.int64(), [(7 * i) % 90 for i in range(MANY)]),
    "cost": (pa.float64(), [10.0 * i for i in range(MANY)]),
    "stay": (pa.int64(), [i % 37 for i in range(MANY)]),
}
STATISTICS = {"age": ["median", "mean"], "cost": "describe", "stay": [0.5, 0.9]}
GIVEN = {
    "bounds": {"age": (0, 120), "cost": (0, 20_000), "stay": (0, 60)},
    "by": "ward",
    "keys": WARDS,
}
UNSEEN = ("value", "low", "high", "noisy", "time")  # what may differ


def public(table):
    told = table.to_dict()
    for measure in told["measures"]:
        for release in (measure["release"], *measure["margins"]):
            for name in UNSEEN:
                release.pop(name, None)
    told["frame"] = list(nw.from_native(table.to_frame()).collect_schema())
    told["keys"] = table.keys
    return told


def test_the_example_has_the_same_public_facts_everywhere(engine, tmp_path):
    found = []
    for i, name in enumerate(("pyarrow", engine)):
        Ledger(path := tmp_path / f"{i}.db", epsilon=2)
        table = duffdp.table(
            ENGINES[name](ROWS),
            STATISTICS,
            **GIVEN,
            epsilon=2,
            unit="patient",
            contributions=2,
            ledger=path,
        )
        assert Ledger(path).remaining() == 0
        found.append(public(table))
    assert found[0] == found[1]
    assert found[1]["frame"][:4] == ["ward", "count", "count_low", "count_high"]


def quantile(values, q):
    return int(np.quantile(values, q, method="inverted_cdf")) if len(values) else None


@pytest.mark.parametrize("unit", [{}, {"unit": "patient", "contributions": 2}], ids=["rows", "all"])
def test_margins_are_those_of_the_listed_groups(engine, unit):
    """At an epsilon that leaves no doubt; a patient has two rows, and both count."""
    keys = [("north", "f"), ("north", "m"), ("south", "f"), ("nobody", "m")]
    given = {"bounds": {"age": (0, 120)}, "by": ["ward", "sex"], "keys": keys, "total": True}
    table = duffdp.table(
        ENGINES[engine](ROWS), {"age": ["median", "sum", "count"]}, epsilon=5000, **given, **unit
    )
    frame = nw.from_native(table.to_frame()).lazy().collect()
    assert frame.columns == list(table.wide())
    columns = table.wide()
    found = dict(zip(zip(columns["ward"], columns["sex"], strict=True), range(99), strict=False))
    ages = {key: [] for key in keys}
    for ward, sex, age in zip(*(ROWS[name][1] for name in ("ward", "sex", "age")), strict=True):
        if (ward, sex) in ages:
            ages[ward, sex].append(age)
    wards, sexes = ["north", "south", "nobody"], ["f", "m"]
    margins = [*((ward, None) for ward in wards), *((None, sex) for sex in sexes), (None, None)]
    assert list(found) == [*keys, *margins]
    for (ward, sex), place in found.items():
        values = list(
            itertools.chain.from_iterable(
                ages[key] for key in keys if ward in (None, key[0]) and sex in (None, key[1])
            )
        )
        assert columns["age_count"][place] == len(values)
        assert columns["age_sum"][place] == sum(values)
        if values:
            assert columns["age_median"][place] == quantile(values, 0.5)
    counts = frame["count"].to_list()
    assert [int(count) for count in counts] == columns["count"]
    missing = frame["ward"].is_null().to_list()
    named = zip(frame["ward"].to_list(), missing, strict=True)
    assert [None if gone else ward for ward, gone in named] == columns["ward"]


@pytest.mark.parametrize("kind", [pa.int64(), pa.string(), pa.date32()], ids=str)
def test_keys_of_a_margin_are_missing_in_every_library(engine, kind):
    values = pa.array([1, 2, 1, 2] * 5).cast(pa.int32()).cast(kind).to_pylist()
    rows = {"g": (kind, values), "x": (pa.int64(), list(range(20)))}
    keys = list(dict.fromkeys(values))
    given = {"by": "g", "keys": keys, "total": True, "bounds": {"x": (0, 20)}}
    table = duffdp.table(ENGINES[engine](rows), {"x": "median"}, epsilon=1000, **given)
    assert table.wide()["count"] == [10, 10, 20]
    frame = nw.from_native(table.to_frame()).lazy().collect()
    assert frame["g"].is_null().to_list() == [False, False, True]
    assert frame["count_low"].is_null().to_list() == [False, False, False]
