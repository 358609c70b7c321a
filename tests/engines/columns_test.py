"""Names and declared types of columns: no record is read, and none changes the list."""

from __future__ import annotations

import pandas as pd
import polars as pl
import pytest

import duffdp
from duffdp import TextFile, UnsupportedData


def test_files_and_frames(tmp_path):
    frame = pl.DataFrame({"age": [33], "sex": ["f"]})
    frame.write_parquet(tmp_path / "a.parquet")
    frame.write_csv(tmp_path / "a.csv")
    declared = {"age": "Int64", "sex": "String"}
    assert duffdp.columns(frame) == duffdp.columns(tmp_path / "a.parquet") == declared
    assert duffdp.columns(frame.lazy()) == declared
    assert duffdp.columns(tmp_path / "a.csv") == {"age": "text", "sex": "text"}
    typed = TextFile(tmp_path / "a.csv", types={"age": "integer"})
    assert duffdp.columns(typed) == {"age": "Int64", "sex": "text"}
    with pytest.raises(UnsupportedData, match="Pass a frame"):
        duffdp.columns(frame["age"])


def test_the_command(tmp_path, call):
    (tmp_path / "a.csv").write_text("Report\nage;sex\n33;f\n")
    code, out, err = call(
        "columns", tmp_path / "a.csv", "--skip-rows", "1", "--types", "age=double"
    )
    assert (code, err) == (0, "")
    assert [line.split() for line in out.splitlines()[:3]] == [
        ["column", "type"],
        ["age", "Float64"],
        ["sex", "text"],
    ]
    assert call("columns", tmp_path / "none.csv")[0] == 4


@pytest.mark.parametrize("more", [[], ["7"], [7], [None], ["a secret"], [b"x"]])
def test_no_record_changes_the_list(tmp_path, call, more):
    objects = pd.DataFrame({"x": pd.Series([*more], dtype=object)})
    assert duffdp.columns(objects) == {"x": "Object"}
    levels = pd.Series(["f", *map(str, more)], dtype="category").cat.as_ordered()
    assert "secret" not in str(duffdp.columns(pd.DataFrame({"x": levels})))
    lines = "".join(f"{value}\n" for value in more)
    (tmp_path / "a.csv").write_text("x,y\n" + lines)
    assert call("columns", tmp_path / "a.csv")[1].splitlines()[1:3] == [
        "x       text",
        "y       text",
    ]
