"""Records that are pairs: how they are read from every container, in groups, for people; what is
refused; and slopes by command, plan and page.
"""

from __future__ import annotations

import datetime as dt
import json
import re
from collections import Counter
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import duffdp
from duffdp import BoundsError, DuffError, Ledger, Plan, UnsupportedData
from duffdp._engines.requests import PairRecords
from duffdp._engines.sql.query import OpenSources
from duffdp._pipeline.request import ReleaseRequest
from duffdp._pipeline.run import PreparedRelease
from engines import ENGINES, written
from inquiries import ask

inf, nan = float("inf"), float("nan")
BOUNDS = {"bounds": (-10, 10)}
EVERY_ENGINE = [
    *(name for name in ENGINES if name != "spark"),
    pytest.param("spark", marks=pytest.mark.slow),
]
ENGINES = ENGINES | {"csv": written(".csv"), "jsonl": written(".jsonl")}
LAZY = ["polars-lazy", "duckdb", "parquet", "csv", "ibis", "dask"]


def pairs_of(data, columns=("x", "y"), rng=1, **where):
    """The pairs of each group as a release gets them."""
    named = dict(zip(("x", "y"), columns, strict=True)) if columns else {}
    request = ReleaseRequest("slope", {"epsilon": 1, **named, **BOUNDS, **where})
    prepared = PreparedRelease.of(request, data, rng, OpenSources())
    engine, column = prepared.data.engine(prepared.entropy)
    return [
        Counter(zip(pairs.x.tolist(), pairs.y.tolist(), strict=True))
        for pairs in ask(engine, PairRecords(), column=column)
    ]


@pytest.mark.parametrize("engine", [*EVERY_ENGINE, "csv", "jsonl"])
@pytest.mark.parametrize(
    ("kind", "other"),
    [
        (pa.float64(), pa.int64()),
        (pa.float32(), pa.float64()),
        (pa.int8(), pa.float64()),
        (pa.decimal128(9, 2), pa.bool_()),
    ],
    ids=str,
)
def test_both_numbers_are_read_as_they_are(engine, kind, other):
    if other == pa.bool_() and engine in ("csv", "jsonl"):
        pytest.skip("a truth value in a file of text is no number")
    x = [1, 2, None, 4, -5, 1]
    y = [True, False, True, None, True, True] if other == pa.bool_() else [3, 4, 5, None, -7, 3]
    if kind == pa.float64():
        x, y = [0.1, inf, nan, -inf, -0.0, 0.1], [3, 4, 5, 6, -7, 3]
    group, columns = list("aabbab"), {"x": (kind, x), "y": (other, y)}
    data = ENGINES[engine](columns | {"g": (pa.string(), group)})
    clamp = {inf: 2.0**300, -inf: -(2.0**300)}
    rows = [
        (g, (clamp.get(u, float(u)), float(v)))
        for g, u, v in zip(group, x, y, strict=True)
        if u is not None and v is not None and u == u
    ]
    assert pairs_of(data) == [Counter(pair for _, pair in rows)]
    found = pairs_of(data, by="g", keys=["b", "none", "a"])
    assert found == [Counter(p for g, p in rows if g == key) for key in ("b", "none", "a")]


@pytest.mark.parametrize("engine", [*EVERY_ENGINE, "csv"])
def test_rows_of_a_person_are_capped_over_all_groups(engine):
    columns = {
        "x": (pa.float64(), [i / 8 for i in range(12)]),
        "y": (pa.float64(), [float(-i) for i in range(12)]),
        "g": (pa.string(), list("abab" * 3)),
        "p": (pa.int64(), [1] * 5 + [2] * 4 + [3, None, 4]),
    }
    people = {i / 8: p for i, p in enumerate(columns["p"][1])}
    data = ENGINES[engine](columns)
    for most in (1, 3):
        found = pairs_of(data, unit="p", contributions=most, by="g", keys=["a", "b"])
        rows = Counter(people[x] for group in found for x, _ in group.elements())
        assert rows == {1: most, 2: most, 3: 1, 4: 1}
        assert all((x * 8) % 2 == place for place, group in enumerate(found) for x, _ in group)


@pytest.mark.parametrize("engine", LAZY)
def test_every_row_of_a_person_may_count(engine):
    """200 people with rows that differ behind the point alone: no row is preferred to another."""
    rows = [(0.1, 0.0), (0.2, 0.0), (0.3, 0.0), (0.3, 0.5)]
    columns = {
        "x": (pa.float64(), [x for x, _ in rows] * 200),
        "y": (pa.float64(), [y for _, y in rows] * 200),
        "p": (pa.int64(), [i // 4 for i in range(800)]),
    }
    (found,) = pairs_of(ENGINES[engine](columns), unit="p")
    assert (sorted(found), found.total()) == (rows, 200)
    assert min(found.values()) > 12  # 50 on average: fewer once in 10**9 runs
    (others,) = pairs_of(ENGINES[engine](columns), unit="p", rng=2)
    assert found != others


X, Y = [0.0, 1.0, 2.0, 7.0], [5.0, 3.0, 4.0, 1.0]
CONTAINERS = {
    "list": list,
    "tuple": tuple,
    "array": np.array,
    "narrow array": lambda v: np.array(v, dtype=np.float32),
    "whole array": lambda v: np.array(v, dtype=np.uint8),
    "object array": lambda v: np.array(v, dtype=object),
    "pandas series": pd.Series,
    "object series": lambda v: pd.Series(v, dtype=object),
    "nullable series": lambda v: pd.Series(v, dtype="Float64"),
    "polars series": pl.Series,
    "arrow array": lambda v: pa.chunked_array([v]),
    "decimals": lambda v: [Decimal(u) for u in v],
}


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("other", ["list", "polars series", "whole array"])
def test_two_columns_without_a_table(container, other):
    expected = [Counter(zip(X, Y, strict=True))]
    assert pairs_of((CONTAINERS[container](X), CONTAINERS[other](Y)), None) == expected
    assert pairs_of((CONTAINERS[other](X), CONTAINERS[container](Y)), None) == expected


def test_records_that_are_no_pairs_are_left_out_one_by_one():
    y = [1, "word", None, nan, Decimal("NaN"), object(), 10**400, True, 2 + 1j, np.float32(2)]
    (found,) = pairs_of((list(range(10)), y), None)
    assert found == Counter([(0.0, 1.0), (6.0, 2.0**300), (7.0, 1.0), (9.0, 2.0)])
    masked = np.ma.array([1.0, 2.0, 3.0], mask=[False, True, False])
    assert pairs_of((masked, [4, 5, 6]), None) == [Counter([(1.0, 4.0), (3.0, 6.0)])]
    missing = pl.Series([1, None, 3]), pd.Series([None, 2, 3], dtype="Int64")
    assert pairs_of(missing, None) == [Counter([(3.0, 3.0)])]


FRAME = pl.DataFrame({"x": X, "y": Y, "g": list("abab"), "p": [1, 1, 2, 3]})
DATED = FRAME.with_columns(pl.lit(dt.date(2024, 1, 1)).alias("d"))


@pytest.mark.parametrize(
    ("arguments", "given", "error", "said"),
    [
        ((X, Y[:3]), {}, UnsupportedData, "the same length"),
        ((X, Y), {"data": FRAME}, DuffError, "names of two columns"),
        (("x", "y"), {}, DuffError, "names of two columns"),
        (("x", Y), {"data": FRAME}, DuffError, "names of two columns"),
        (("x", "x"), {"data": FRAME}, DuffError, "two different columns"),
        (("x", "z"), {"data": FRAME}, UnsupportedData, "no column 'z'. Available columns: 'x'"),
        (("x", "g"), {"data": FRAME}, UnsupportedData, "must be of numbers, got 'g' of type Str"),
        (("d", "y"), {"data": DATED}, UnsupportedData, "got 'd' of type Date"),
        (("d", "y"), {"data": DATED.lazy()}, UnsupportedData, "got 'd' of type Date"),
        ((DATED["d"], Y), {}, UnsupportedData, "got x of type Date"),
        ((X, np.array(list("abcd"))), {}, UnsupportedData, "got y of dtype <U1"),
        ((X, FRAME), {}, UnsupportedData, "y must be an array, a series or a list"),
        ((X, 5), {}, UnsupportedData, "one-dimensional array, series or list"),
        ((X, Y), {"by": "g", "keys": ["a"]}, DuffError, "need a table"),
        ((X, Y), {"unit": "p"}, DuffError, "need a table"),
        (("x", "y"), {"data": FRAME, "by": "y", "keys": [1]}, DuffError, "by must not name"),
        (("x", "y"), {"data": FRAME, "unit": "x"}, DuffError, "unit must not name"),
        (("x", "y"), {"data": FRAME["x"]}, DuffError, "a single series"),
        ((X, Y), {"bounds": None}, BoundsError, "bounds are missing"),
        ((X, Y), {"bounds": (dt.date(2024, 1, 1), dt.date(2025, 1, 1))}, BoundsError, "numbers"),
        ((X, Y), {"bounds": (0, 1), "step": 2.0**-50}, BoundsError, "Pass a larger step"),
        ((X, Y), {"bounds": (0, 1e100), "step": 1e99}, BoundsError, "within 2\\*\\*300"),
        ((X, Y), {"bounds": (0, 1e-90)}, BoundsError, "step of at least 2\\*\\*-250"),
        ((X, Y), {"mechanism": "other"}, DuffError, "mechanism must be"),
    ],
    ids=lambda part: part if isinstance(part, str) else "",
)
def test_what_is_refused_is_refused_before_it_is_paid(arguments, given, error, said, tmp_path):
    ledger = Ledger(tmp_path / "budget.db", epsilon=1)
    with pytest.raises(error, match=said) as caught:
        duffdp.slope(*arguments, **{"epsilon": 1, **BOUNDS, **given}, ledger=ledger)
    assert ledger.charges() == []
    assert not re.search(r"\b[34]\b", str(caught.value))  # how many records


def test_a_slope_is_no_statistic_of_one_column():
    with pytest.raises(DuffError, match=r"duffdp\.slope"):
        duffdp.release(duffdp.statistics.Slope(), X, epsilon=1, **BOUNDS)
    with pytest.raises(DuffError, match="utility must be"):
        duffdp.statistics.Slope("rank")


def test_what_a_release_says():
    release = duffdp.slope("x", "y", data=FRAME, epsilon=1, bounds=(-2, 2), step=0.5)
    assert (str(release.statistic), release.title) == ("slope(x, y)", "Slope of y over x")
    assert release.statistic.parameters == {"x": "x", "y": "y"}
    assert (release.column, release.unit.kind) == (None, "row")
    assert duffdp.Release.from_dict(release.to_dict()) == release
    alone = duffdp.slope(X, Y, epsilon=1, bounds=(-2, 2), step=0.5, mechanism="duff")
    assert (str(alone.statistic), alone.title) == ("slope", "Slope")
    assert str(alone.mechanism) == "exponential(distance)"
    assert duffdp.Release.from_dict(alone.to_dict()) == alone
    with pytest.raises(DuffError, match="distance_bound is for"):
        alone.distance_bound()


def test_whole_numbers_have_slopes_between_them():
    """No step of 1, whatever the types of columns and files are."""
    x = list(range(200))
    y = [3 * v // 2 for v in x]
    frame = pl.DataFrame({"x": x, "y": y})
    for release in (
        duffdp.slope(np.array(x), np.array(y), epsilon=9, **BOUNDS),
        duffdp.slope("x", "y", data=frame, epsilon=9, **BOUNDS),
        duffdp.slope("x", "y", data=frame.lazy(), epsilon=9, **BOUNDS),
    ):
        assert release.value == pytest.approx(1.5, abs=0.01)
        assert release.domain.size > 2**39


PLAN = """
source = "people.csv"
epsilon = 1.0

[[release]]
statistic = "slope"
x = "x"
y = "y"
bounds = [-10, 10]
by = "g"
keys = ["a", "b"]
"""


def test_a_command_and_a_plan(tmp_path, call):
    FRAME.write_csv(tmp_path / "people.csv")
    line = ("slope", tmp_path / "people.csv", "--x", "x", "--y", "y", "-e", "1")
    page = tmp_path / "page.md"
    code, out, _ = call(*line, "--bounds", "-2", "2", "-f", "json", "--report", page)
    assert code == 0
    assert json.loads(out)["statistic"] == {"name": "slope", "parameters": {"x": "x", "y": "y"}}
    text = page.read_text()
    assert "## Slope of y over x" in text
    assert "in sixteenths of a record" in text
    assert "records outside" not in text
    code, _, err = call(*line[:4], "-e", "1", "--bounds", "-2", "2")
    assert (code, "--y" in err) == (2, True)
    (tmp_path / "plan.toml").write_text(PLAN)
    code, out, _ = call("release", tmp_path / "plan.toml", "-f", "csv")
    assert (code, out.count("slope")) == (0, 4)


def test_plans_that_do_not_fit():
    whole = {"statistic": "slope", "x": "x", "y": "y", **BOUNDS}
    found = Plan([whole], epsilon=1).run(FRAME)
    assert list(found) == ["slope of y over x"]
    for change, said in (
        ({"column": "x"}, "unknown entry 'column'"),
        ({"x": None}, "two different columns"),
        ({"x": 3}, "name of a column"),
        ({"statistic": "median"}, "x is only valid for slope"),
    ):
        with pytest.raises(DuffError, match=said):
            Plan([whole | change], epsilon=1).run(FRAME)
    with pytest.raises(DuffError, match="needs x and y"):
        Plan([{"statistic": "slope", "x": "x", **BOUNDS}], epsilon=1)
