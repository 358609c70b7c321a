"""Many rows that are kept as columns read as the tuple of rows that few are."""

from __future__ import annotations

import copy
import json
import pickle

import polars as pl
import pytest

import duffdp
from duffdp._rows import MIN_COLUMNAR_ROWS, RowsOfColumns

ROWS = ((1, "a"), (2, "b"), (3, "c"))
KEPT = RowsOfColumns([range(1, 4), ["a", "b", "c"]])
DATA = pl.DataFrame({"g": [0, 1, 1, MIN_COLUMNAR_ROWS - 1] * 50, "x": [1.0, 2.0, 3.0, 4.0] * 50})
GIVEN = {"column": "x", "by": "g", "epsilon": 9.0, "bounds": (0, 9), "step": 1, "rng": 1}


def test_they_read_as_a_tuple():
    assert KEPT == ROWS
    assert ROWS == KEPT
    assert ROWS[:2] != KEPT
    assert list(KEPT) != KEPT
    assert hash(KEPT) == hash(ROWS)
    assert repr(KEPT) == repr(ROWS)
    assert (len(KEPT), KEPT[1], KEPT[-1], KEPT[1:]) == (3, ROWS[1], ROWS[-1], ROWS[1:])
    assert tuple(KEPT) == ROWS
    assert (2, "b") in KEPT
    with pytest.raises(IndexError):
        KEPT[3]
    for same in (copy.deepcopy(KEPT), pickle.loads(pickle.dumps(KEPT))):
        assert same == ROWS


@pytest.mark.parametrize(
    "keys",
    [
        range(MIN_COLUMNAR_ROWS),
        list(range(MIN_COLUMNAR_ROWS)),
        [(i,) for i in range(MIN_COLUMNAR_ROWS)],
    ],
)
def test_many_keys_and_cells(keys):
    release = duffdp.median(DATA, keys=keys, **GIVEN)
    assert release.keys == tuple((i,) for i in range(MIN_COLUMNAR_ROWS))
    assert release.value["g"].to_list() == list(range(MIN_COLUMNAR_ROWS))
    assert release.value.columns == ["g", "median"]
    assert [value for (value,) in release.cells] == release.value["median"].to_list()
    assert {type(value) for value in release.value["median"]} == {int}
    again = duffdp.Release.from_dict(json.loads(release.to_json()))
    assert again == release
    assert [row[0]["g"] for row in release.rows()] == list(range(MIN_COLUMNAR_ROWS))
    assert [value for _, _, value in release.rows()] == release.value["median"].to_list()
    near = {i: release.cells[i][0] for i in (0, 1, MIN_COLUMNAR_ROWS - 1)}
    assert near == {0: 1, 1: 2, MIN_COLUMNAR_ROWS - 1: 4} or near == {
        0: 1,
        1: 3,
        MIN_COLUMNAR_ROWS - 1: 4,
    }


@pytest.mark.parametrize(
    "keys", [[*range(MIN_COLUMNAR_ROWS), 7], (*range(MIN_COLUMNAR_ROWS), 7), [*range(10**5), 7]]
)
def test_many_keys_differ(keys):
    with pytest.raises(duffdp.DuffError, match="got 7 twice"):
        duffdp.median(DATA, keys=keys, **GIVEN)
    with pytest.raises(duffdp.DuffError, match="one value for each of the 2 columns"):
        duffdp.median(DATA, keys=range(MIN_COLUMNAR_ROWS), **GIVEN | {"by": ["g", "h"]})


def test_a_retry_finds_many_numbers_again(tmp_path):
    book = duffdp.Ledger(tmp_path / "budget.db", epsilon=10.0, allow_seeded=True)
    first, second = (
        duffdp.median(DATA, keys=range(MIN_COLUMNAR_ROWS), **GIVEN, ledger=book.call("a"))
        for _ in range(2)
    )
    assert first.cells == second.cells
    assert len(book.charges()) == 1
