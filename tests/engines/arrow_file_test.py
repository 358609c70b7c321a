"""Arrow IPC files: read as Parquet files of the same records are, or refused before the charge."""

from __future__ import annotations

import datetime as dt
import json

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.feather as feather
import pytest

import duffdp
from duffdp import Ledger, UnsupportedData

RNG = np.random.default_rng(3)
DAYS = [dt.date(2024, 1, 1) + dt.timedelta(days=i) for i in RNG.integers(0, 300, 500).tolist()]
FRAME = pl.DataFrame(
    {
        "age": RNG.integers(0, 100, 500),
        "pay": [None if i % 7 == 0 else i * 1.5 for i in range(500)],
        "ward": RNG.choice(["north", "south"], 500),
        "patient": RNG.integers(0, 200, 500),
        "day": DAYS,
        "time": pl.Series(DAYS).cast(pl.Datetime("us", "Europe/Berlin")),
    }
)
SURE = 1e6
MOMENTS = (dt.datetime(2023, 1, 1), dt.datetime(2025, 1, 1))
CALLS = {
    "median": lambda data: duffdp.median(data, column="age", epsilon=SURE, bounds=(0, 100)),
    "missing": lambda data: duffdp.mean(data, column="pay", epsilon=SURE, bounds=(0, 800)),
    "groups of people": lambda data: duffdp.sum(
        data,
        column="age",
        epsilon=SURE,
        bounds=(0, 100),
        by="ward",
        keys=["north", "south", "west"],
        unit="patient",
        contributions=100,
    ),
    "days": lambda data: duffdp.median(
        data, column="day", epsilon=SURE, bounds=(dt.date(2023, 1, 1), dt.date(2025, 1, 1))
    ),
    "zoned times": lambda data: duffdp.median(
        data, column="time", epsilon=SURE, bounds=MOMENTS, step=60
    ),
    "condition": lambda data: duffdp.count(data, where="ward = 'north'", epsilon=SURE),
}


@pytest.fixture
def files(tmp_path):
    FRAME.write_parquet(tmp_path / "rows.parquet")
    feather.write_feather(
        FRAME.to_arrow(compat_level=pl.CompatLevel.oldest()), tmp_path / "rows.arrow"
    )
    FRAME.to_pandas().to_feather(tmp_path / "rows.feather")
    return tmp_path


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("name", ["rows.arrow", "rows.feather"])
def test_as_parquet(files, name, call):
    release, expected = (CALLS[call](files / one) for one in (name, "rows.parquet"))
    assert [row[2] for row in release.rows()] == [row[2] for row in expected.rows()]
    assert release.facts == expected.facts


def test_a_dictionary_is_read_as_its_values(tmp_path):
    """Its list of values would otherwise be a type that the records decide."""
    wards = pa.array(["north", "south", "north"]).dictionary_encode()
    feather.write_feather(pa.table({"ward": wards}), tmp_path / "rows.arrow")
    release = duffdp.count(
        tmp_path / "rows.arrow", by="ward", keys=["south", "north", "west"], epsilon=SURE
    )
    assert [count for *_, count in release.rows()] == [1, 2, 0]


def test_several_files_are_one_table(tmp_path):
    for i in range(3):
        feather.write_feather(pa.table({"x": [i] * (i + 1)}), tmp_path / f"{i}.arrow")
    for data in (tmp_path, str(tmp_path / "*.arrow")):
        assert duffdp.count(data, epsilon=SURE).value == 6


def _refused(path):
    ledger = Ledger(path.parent / "budget.db", epsilon=1)
    with pytest.raises(UnsupportedData) as caught:
        duffdp.count(path, by="x", keys=["a"], epsilon=1, ledger=ledger)
    assert ledger.remaining() == 1
    return str(caught.value)


def test_what_is_refused_costs_nothing(tmp_path):
    (tmp_path / "not.arrow").write_text("secret")
    assert "is not an Arrow IPC file" in _refused(tmp_path / "not.arrow")
    (tmp_path / "parts").mkdir()
    for name, x in (("a", [1]), ("b", ["1"])):
        feather.write_feather(pa.table({"x": x}), tmp_path / "parts" / f"{name}.arrow")
    assert "do not declare the same" in _refused(tmp_path / "parts" / "*.arrow")
    views = pl.DataFrame({"x": ["a"]}, schema={"x": pl.Categorical})
    views.write_ipc(tmp_path / "views.arrow")
    assert "is a dictionary of string_view" in _refused(tmp_path / "views.arrow")


def test_at_the_command_line(files, call):
    arguments = ["--column", "age", "--bounds", "0", "100", "--epsilon", "1000000"]
    code, out, _ = call("median", files / "rows.arrow", *arguments, "--format", "json")
    assert code == 0
    assert json.loads(out)["value"] == CALLS["median"](FRAME).value
