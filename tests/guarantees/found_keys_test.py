"""Keys that are found, through the public door: what the draws receive adds up to epsilon, the law
of every neighbor, nothing that a record decides, and nothing read before it is paid.
"""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import duffdp
from duffdp import BoundsError, DuffError, Ledger, Pattern, UnsupportedData
from duffdp._engines.table import SourceTable
from release_draws import laws, recorded

ASKED = Fraction(7, 10)
CODES = Pattern("[ab][01]", false_keys=1)
GRID = {"bounds": (0, 9), "step": 1}
ROWS = {
    "x": [1, 2, 2, 5, 7, 7, 8, 9],
    "code": ["a0", "a0", "b1", "a1", "a0", "zz", None, "b1"],
    "p": [1, 1, 1, 1, 2, 2, 3, 4],
}
PEOPLE = {"unit": "p", "contributions": 3, "groups_per_person": 2}


def frame(rows=ROWS):
    return pl.DataFrame(rows, schema={"x": pl.Int64, "code": pl.String, "p": pl.Int64})


def spent(draws, finding_rows, rows):
    """The sum of what mechanisms follow times the rows of a person that count for each, with the
    draws of one group."""
    find, *values = {id(draw.mechanism): draw for draw in draws}.values()
    assert find.mechanism.name == "thresholded-geometric"
    return find.epsilon * finding_rows + sum(draw.epsilon for draw in values) * rows


@pytest.mark.parametrize("people", [{}, {"unit": "p"}, PEOPLE], ids=["rows", "people", "several"])
@pytest.mark.parametrize("given", [{}, {"other": "rest"}, {"finding": 0.4}], ids=str)
@pytest.mark.parametrize("verb", ["count", "median", "sum", "describe"])
def test_shares_add_up_to_what_is_asked_and_charged(verb, given, people, tmp_path):
    ledger = Ledger(tmp_path / "budget.db", epsilon=10)
    bounds = {} if verb == "count" else {"column": "x", **GRID}
    groups = people.get("groups_per_person", 1)
    rows = people.get("contributions", 1) * groups
    with recorded() as draws:
        release = getattr(duffdp, verb)(
            frame(),
            by="code",
            keys=CODES,
            epsilon=ASKED,
            ledger=ledger,
            **bounds,
            **given,
            **people,
        )
    alone = verb == "count" and not given
    assert release.loss.parts[0].contributions == (rows if alone else groups)
    assert spent(draws, rows if alone else groups, rows) == pytest.approx(float(ASKED), rel=1e-9)
    assert release.loss.epsilon == ASKED == 10 - ledger.remaining_exactly()
    assert sum(part.epsilon for part in release.loss.parts) == ASKED
    assert sum(part.epsilon for part in release.mechanism.parts) == ASKED
    share = release.mechanism.parts[0].epsilon / ASKED
    usual = Fraction(1, 2 if verb == "count" else 4)
    assert share == (1 if alone else Fraction(str(given.get("finding", usual))))


def loss(here, there):
    """The largest log-ratio of the laws of independent keys."""
    total = 0.0
    for law, neighbor in zip(here, there, strict=True):
        total += max(
            abs(law.log_probability(o) - neighbor.log_probability(o)) for o in law.outputs()
        )
    return total


def with_rows(*added):
    rows = {name: list(values) for name, values in ROWS.items()}
    for code, person in added:
        for name, value in zip(("x", "code", "p"), (4, code, person), strict=True):
            rows[name].append(value)
    return frame(rows)


@pytest.mark.parametrize("code", ["a0", "b0", "zz", None], ids=["shared", "new", "none", "null"])
def test_one_row_costs_epsilon(code):
    """A row with a key that others have, with one that nobody has, and with an impossible one."""
    given = {"by": "code", "keys": CODES, "epsilon": 1.0}
    here, there = (
        laws(lambda d=d: duffdp.count(d, **given)) for d in (frame(), with_rows((code, 9)))
    )
    assert loss(here, there) <= 1 + 1e-9
    assert loss(here, there) == pytest.approx(1 if code in ("a0", "b0") else 0)


@pytest.mark.parametrize("limit", [1, 2, 3])
def test_one_person_with_many_keys_costs_epsilon(limit):
    """A person with all keys and several rows in each, at the limit and beyond it."""
    rows = [(code, 99) for code in ("a0", "a1", "b0", "b1") for _ in range(3)]
    given = {"by": "code", "keys": CODES, "epsilon": 1.0, "unit": "p", "groups_per_person": limit}
    # Others have one row each, so that no choice of theirs matters.
    one_row = {"x": [1, 2], "code": ["a0", "b1"], "p": [1, 2]}
    data = frame(one_row)
    more = pl.concat(
        [data, frame({"x": [4] * 12, "code": [c for c, _ in rows], "p": [p for _, p in rows]})]
    )
    for contributions in (1, 2):
        options = given | {"contributions": contributions}
        here, there = (laws(lambda d=d, o=options: duffdp.count(d, **o)) for d in (data, more))
        assert loss(here, there) == pytest.approx(1, rel=1e-9)


def test_one_person_in_a_later_draw_pays_the_rest():
    """The median is drawn in the found groups, with what finding left."""
    with recorded(path=({0: 50, 3: 50},)) as draws:
        release = duffdp.median(
            frame(), column="x", by="code", keys=CODES, epsilon=1.0, finding=0.25, **GRID
        )
    assert [draw.epsilon for draw in draws] == pytest.approx([0.25, 0.75, 0.75])
    assert [key for (key,) in release.keys] == ["a0", "b1"]
    assert release.sizes == (50, 50)


def test_a_table_finds_keys_once():
    asked = {"x": ["median", "sum"]}
    with recorded(path=({0: 50},)) as draws:
        table = duffdp.table(
            frame(), asked, epsilon=2, bounds={"x": (0, 9)}, by="code", keys=CODES, interval=None
        )
    names = [draw.mechanism.name for draw in draws]
    assert names.count("thresholded-geometric") == 1
    assert sum(draw.epsilon for draw in draws) == pytest.approx(2)
    assert table.epsilon == 2
    assert [key for (key,) in table.keys] == ["a0"]


def test_each_release_that_finds_keys_has_its_own():
    """Two releases of a plan find keys: "b1" is found by one, by both or by none."""
    rows = {"x": [1] * 50 + [7] * 9, "code": ["a0"] * 50 + ["b1"] * 9, "p": range(59)}
    given = {"column": "x", "by": "code", "keys": CODES, **GRID}
    plan = duffdp.Plan(
        epsilon=2,
        releases=[
            {"name": "first", "statistic": "median", "finding": 0.05, **given},
            {"name": "second", "statistic": "median", "finding": 0.25, **given},
        ],
    )
    differ, same_counts = 0, 0
    for seed in range(40):
        released = plan.run(frame(rows), rng=seed)
        first, second = (released[name] for name in ("first", "second"))
        differ += first.keys != second.keys
        same_counts += first.sizes == second.sizes
    assert differ
    assert same_counts < 20


def test_nothing_is_read_before_it_is_paid(tmp_path, monkeypatch):
    ledger, seen = Ledger(tmp_path / "budget.db", epsilon=1), []
    original = SourceTable.key_counts

    def noticed(self, *args):
        seen.append(ledger.spent())
        return original(self, *args)

    monkeypatch.setattr(SourceTable, "key_counts", noticed)
    given = {"column": "x", "by": "code", "keys": CODES, **GRID}
    duffdp.median(frame(), epsilon=0.6, ledger=ledger, **given)
    assert seen == [0.6]
    with pytest.raises(duffdp.BudgetExceeded):
        duffdp.median(frame(), epsilon=0.6, ledger=ledger, **given)
    assert seen == [0.6]


@pytest.mark.parametrize(
    "given",
    [
        {"keys": Pattern(numbers=(1, 5))},
        {"keys": Pattern(days=("2024-01-01", "2024-01-05"))},
        {"keys": [CODES, CODES]},
        {"keys": {"x": CODES}},
        {"keys": CODES, "finding": 0},
        {"keys": CODES, "finding": 1, "other": "rest"},
        {"keys": CODES, "finding": 1.5},
        {"keys": ["a0"], "finding": 0.5},
        {"keys": ["a0"], "other": "a0"},
        {"keys": ["a0"], "other": 3},
        {"keys": CODES, "interval": 0.9, "simultaneous": True},
    ],
    ids=str,
)
def test_what_is_refused_costs_nothing(given, tmp_path):
    ledger = Ledger(tmp_path / "budget.db", epsilon=1)
    with pytest.raises((DuffError, UnsupportedData)):
        duffdp.count(frame(), by="code", epsilon=1, ledger=ledger, **given)
    assert ledger.spent() == 0


@pytest.mark.parametrize("text", ["a*", "(a|b){0,40}a(a|b){40}", "a?", "[^a]"])
def test_patterns_without_end_are_refused_before_the_charge(text):
    with pytest.raises(BoundsError):
        Pattern(text)


def test_retry_returns_the_same_keys(tmp_path):
    ledger = Ledger(tmp_path / "budget.db", epsilon=100)
    given = {"by": "code", "keys": CODES, "epsilon": 40}
    first = duffdp.count(frame(), ledger=ledger.call("one"), **given)
    again = duffdp.count(frame(), ledger=ledger.call("one"), **given)
    assert first == again
    assert ledger.spent() == 40
    median = {"column": "x", **given, **GRID, "other": "rest"}
    first = duffdp.median(frame(), ledger=ledger.call("two"), **median)
    assert duffdp.median(frame(), ledger=ledger.call("two"), **median) == first
    with pytest.raises(DuffError, match="other parameters"):
        duffdp.median(frame(), ledger=ledger.call("two"), **median | {"other": "others"})


@pytest.mark.parametrize("verb", ["count", "median", "mean", "describe", "share", "distribution"])
@pytest.mark.parametrize("rows", [0, 8])
def test_no_key_is_found_and_nothing_fails(verb, rows, tmp_path):
    """Whether a key is found is a draw: empty results have all their forms."""
    bounds = {"count": {}, "share": {"column": "x", "between": (0, 5)}}.get(
        verb, {"column": "x", **GRID}
    )
    data = frame().head(rows)
    release = getattr(duffdp, verb)(
        data, by="code", keys=Pattern("[xy][0-9]{5}"), epsilon=0.01, rng=1, **bounds
    )
    assert len(release.keys) == 0
    assert release.rows() == []
    assert duffdp.Release.from_dict(json.loads(release.to_json())) == release
    release._repr_html_()
    release.to_markdown()
    for ending in ("md", "html"):
        duffdp.report.write(release, tmp_path / f"report.{ending}")


def test_an_empty_table_has_all_its_forms(tmp_path):
    given = {"epsilon": 0.01, "bounds": {"x": (0, 9)}, "by": "code", "rng": 1}
    for more in ({}, {"total": True}, {"suppress_below": 5}):
        table = duffdp.table(
            frame(), {"x": ["median", "sum"]}, keys=Pattern("[xy][0-9]{5}"), **given, **more
        )
        assert len(table.keys) == 0
        assert duffdp.Table.from_dict(json.loads(table.to_json())) == table
        table._repr_html_()
        table.tidy().to_pandas()
        for ending in ("md", "html"):
            duffdp.report.write(table, tmp_path / f"report.{ending}")


@pytest.mark.parametrize("more", [{}, {"total": True}, {"other": "rest"}, {"suppress_below": 5}])
def test_rehearsals_try_tables_with_and_without_keys(more):
    """What cannot be written is noticed before the charge, whatever is found."""
    plan = duffdp.TablePlan(
        {"x": ["median", "sum"]}, epsilon=1, bounds={"x": (0, 9)}, by="code", keys=CODES, **more
    )
    seen = []
    plan.run(frame(), rehearsal=lambda table: seen.append((len(table.keys), len(table))))
    with_other, with_total = "other" in more, "total" in more
    assert seen == [(found + with_other, found + with_other + with_total) for found in (2, 0)]


def test_notes_say_how_many_people_a_key_needs():
    codes = Pattern("[A-Z][0-9]{2}")
    release = duffdp.count(frame(), by="code", keys=codes, epsilon=1.0, unit="p")
    (note,) = (note for note in release.notes if "possible" in note)
    assert "2,600 possible" in note
    assert "a key with 13 people is found with 95% probability" in note
    assert f"below {codes.threshold(1)}" in note
    plan = duffdp.Plan([{"statistic": "count", "by": "code", "keys": codes}], epsilon=1.0, unit="p")
    assert note in [line.worded() for line in plan.check().notes]


def test_every_pair_of_small_universes_is_numbered_once():
    keys = {"code": CODES, "p": [1, 2, 4]}
    release = duffdp.count(frame(), by=["code", "p"], keys=keys, epsilon=30, rng=1)
    wanted = [("a0", 1), ("a0", 2), ("a1", 1), ("b1", 1), ("b1", 4)]
    assert list(release.keys) == wanted


def raw_texts(texts):
    """An Arrow column of bytes that it declares to be text."""
    offsets = np.cumsum([0, *map(len, texts)], dtype=np.int32)
    buffers = [None, pa.py_buffer(offsets.tobytes()), pa.py_buffer(b"".join(texts))]
    return pa.Array.from_buffers(pa.string(), len(texts), buffers)


@pytest.mark.parametrize("other", [None, "rest"])
@pytest.mark.parametrize("unit", [None, "p"])
@pytest.mark.parametrize("library", ["pyarrow", "pandas"])
def test_bytes_that_are_no_text_stop_nothing(library, unit, other):
    """In tables of Arrow, which does not check them: they are no possible key."""
    texts = [b"a0"] * 40 + [b"\xff", b"a\xed\xa0\x80", b"a0\xff"]
    columns = {"code": raw_texts(texts), "p": pa.array(range(len(texts)))}
    data = pa.table(columns)
    if library == "pandas":
        data = data.to_pandas(types_mapper=pd.ArrowDtype)
    given = {"by": "code", "keys": CODES, "unit": unit, "other": other, "epsilon": 1e4}
    release = duffdp.count(data, **given)
    counts = dict(zip(release.keys, release.cells, strict=True))
    assert counts == {("a0",): (40,)} | ({} if other is None else {("rest",): (3,)})


@pytest.mark.parametrize("verb", ["count", "median", "describe", "histogram", "distribution"])
@pytest.mark.parametrize("found", [{}, {0: 50, 3: 40}], ids=["none", "some"])
def test_a_release_of_no_found_key_is_shown_like_any_other(verb, found, tmp_path):
    """Whether a key is found depends on a record, so it decides no error afterwards."""
    pyplot = pytest.importorskip("matplotlib.pyplot")
    options = {"count": {}, "histogram": {"column": "x", "bins": [0, 5, 10]}}
    asked = options.get(verb, {"column": "x", **GRID})
    with recorded(path=(found,)):
        release = getattr(duffdp, verb)(frame(), by="code", keys=CODES, epsilon=2.0, **asked)
    assert len(release.keys) == len(found)
    for shown in (release.plot, release.to_markdown, release._repr_html_, release.to_csv):
        shown()
    pyplot.close("all")
    release.to_excel(tmp_path / "release.xlsx")
    duffdp.report.write(release, tmp_path / "page.html")
    assert duffdp.Release.from_dict(json.loads(release.to_json())) == release
