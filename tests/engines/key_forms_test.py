"""Keys in every form: a list, a frame, a series, a declared type, a file, and mappings of these."""

from __future__ import annotations

import enum

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import duffdp
from command_line import duff
from duffdp import Categories, DuffError, UnsupportedData

ROWS = {"x": [1, 2, 3, 4] * 5, "ward": [1, 2, 1, 2] * 5, "sex": ["f", "m"] * 10}
PEOPLE = pd.DataFrame(ROWS)
GIVEN = {"column": "x", "epsilon": 1, "bounds": (0, 9), "step": 1}


class Ward(enum.Enum):
    north = 1
    south = 2


@pytest.fixture
def files(tmp_path):
    (tmp_path / "wards.csv").write_text("name,ward\nnorth,1\nsouth,2\n")
    (tmp_path / "wards.txt").write_text("\ufeff1\n2\n\n", encoding="utf-8")
    pl.DataFrame({"ward": [1, 2]}).write_parquet(tmp_path / "wards.parquet")
    (tmp_path / "both.csv").write_text("sex,ward\nm,1\nf,2\n")
    PEOPLE.to_csv(tmp_path / "people.csv", index=False)
    return tmp_path


@pytest.mark.parametrize(
    "keys",
    [
        [1, 2],
        [(1,), (2,)],
        Categories([1, 2]),
        {"ward": [1, 2]},
        pd.Series([1, 2]),
        pd.Index([1, 2]),
        pl.Series("another name", [1, 2]),
        pa.chunked_array([[1], [2]]),
        pd.DataFrame({"ward": [1, 2], "more": [0, 0]}),
        pl.LazyFrame({"ward": [1, 2]}),
        pd.CategoricalDtype([1, 2]),
        Ward,
        {"ward": Ward},
    ],
    ids=lambda keys: type(keys).__name__,
)
def test_forms_of_the_same_keys(keys):
    assert duffdp.median(PEOPLE, by="ward", keys=keys, **GIVEN).keys == ((1,), (2,))


@pytest.mark.parametrize("name", ["wards.csv", "wards.txt", "wards.parquet"])
@pytest.mark.parametrize("people", [PEOPLE, pl.LazyFrame(ROWS)], ids=["memory", "lazy"])
def test_files_are_read_by_the_type_of_their_column(files, name, people):
    release = duffdp.median(people, by="ward", keys=files / name, **GIVEN)
    assert release.keys == ((1,), (2,))
    assert duffdp.count(people, by="ward", keys=files / name, epsilon=1e6).rows()[1][2] == 10


def test_text_stays_text_where_the_column_is_text(files):
    release = duffdp.median(files / "people.csv", by="ward", keys=str(files / "wards.csv"), **GIVEN)
    assert release.keys == (("1",), ("2",))


def test_a_query_and_a_workbook_can_list_keys(files):
    listed = duffdp.Query(files / "wards.csv", "SELECT ward FROM data WHERE name = 'south'")
    assert duffdp.median(PEOPLE, by="ward", keys=listed, **GIVEN).keys == ((2,),)
    pd.DataFrame({"ward": [1, 2]}).to_excel(files / "wards.xlsx", index=False)
    assert duffdp.median(PEOPLE, by="ward", keys=files / "wards.xlsx", **GIVEN).keys == ((1,), (2,))


def test_an_address_of_keys_keeps_its_password():
    address = "postgresql://someone:secret@localhost:1/db::wards"
    with pytest.raises(DuffError) as error:
        duffdp.median(PEOPLE, by="ward", keys=address, **GIVEN)
    assert "secret" not in str(error.value)


def test_mappings_are_all_combinations_in_the_order_of_by(files):
    keys = {"sex": pl.Enum(["m", "f"]), "ward": files / "wards.csv"}
    release = duffdp.median(PEOPLE, by=["ward", "sex"], keys=keys, **GIVEN)
    assert release.keys == ((1, "m"), (1, "f"), (2, "m"), (2, "f"))


def test_a_table_of_several_columns_lists_groups_and_no_combinations(files):
    release = duffdp.count(PEOPLE, by=["ward", "sex"], keys=files / "both.csv", epsilon=1e6)
    assert release.keys == ((1, "m"), (2, "f"))
    assert [count for _, _, count in release.rows()] == [0, 0]


@pytest.mark.parametrize("kind", [pl.Categorical, pl.Categorical(), pl.Enum, pd.CategoricalDtype()])
def test_types_without_declared_values_are_refused(kind):
    with pytest.raises(DuffError, match="lists the values that are in the data"):
        duffdp.median(PEOPLE, by="ward", keys=kind, **GIVEN)


def test_the_data_are_no_keys(files):
    """Whatever they hold: nothing of it is in the message."""
    said = set()
    for ward in ([1, 2], [1, 1]):
        people = pd.DataFrame({"x": [1, 2], "ward": ward})
        path = files / "same.csv"
        people.to_csv(path, index=False)
        indirect = f"{files}/../{files.name}/same.csv"
        for data, keys in ((people, people), (path, str(path)), (str(path), indirect)):
            for form in (keys, {"ward": keys}):
                with pytest.raises(DuffError, match="but these are the data") as error:
                    duffdp.median(data, by="ward", keys=form, **GIVEN)
                said.add(str(error.value))
        by_query = duffdp.Query(people, "SELECT x, ward FROM data")
        with pytest.raises(DuffError, match="but these are the data"):
            duffdp.median(by_query, by="ward", keys=people, **GIVEN)
        with pytest.raises(DuffError, match="but these are the data") as error:
            duffdp.table(
                path, {"x": "median"}, epsilon=1, bounds={"x": (0, 9)}, by="ward", keys=path
            )
    assert len(said) == 1


@pytest.mark.parametrize(
    "column",
    [
        lambda rows: pd.DataFrame(rows)["ward"],
        lambda rows: pd.DataFrame(rows)[["ward"]],
        lambda rows: pd.Index(rows["ward"]),
        lambda rows: pl.DataFrame(rows)["ward"],
        lambda rows: pl.DataFrame(rows).select("ward"),
        lambda rows: pl.LazyFrame(rows).select("ward"),
        lambda rows: pa.table(rows).select(["ward"]),
        lambda rows: {"ward": pl.DataFrame(rows).select("ward")},
    ],
)
def test_a_column_of_the_data_as_keys_shows_none_of_them(column):
    """Nobody can tell that it is one; but keys that stand twice are none, and are not quoted."""
    for wards in ([987, 987], [987, 654, 987], [987, None]):
        with pytest.raises(DuffError, match="keys must") as error:
            duffdp.median(PEOPLE, by="ward", keys=column({"ward": wards}), **GIVEN)
        assert "987" not in str(error.value)


@pytest.mark.parametrize(
    ("keys", "rule", "kind"),
    [
        ("north", "there is no file 'north'", DuffError),
        ("nothing.csv", "there is no file", UnsupportedData),
        (5, "keys must be a list, a frame", DuffError),
        ({"sex": ["f"]}, r"a list for each column of by \(ward\), got sex", DuffError),
        ({}, r"a list for each column of by \(ward\), got none", DuffError),
        ([1, 1], "differ from each other, got 1 twice", DuffError),
        (pl.Series([1, None]), "missing values", DuffError),
        (pd.DataFrame({"sex": ["f"]}), "ward is missing", DuffError),
    ],
)
def test_what_is_no_list_of_keys(keys, rule, kind):
    with pytest.raises(kind, match=rule):
        duffdp.median(PEOPLE, by="ward", keys=keys, **GIVEN)


def test_a_table_without_the_column_and_text_that_is_no_value(files):
    with pytest.raises(DuffError, match=r"the keys in '.*csv': there is no column 'sex'"):
        duffdp.median(PEOPLE, by="sex", keys=files / "wards.csv", **GIVEN)
    with pytest.raises(DuffError, match=r"the keys in '.*parquet': there is no column 'sex'"):
        duffdp.median(PEOPLE, by="sex", keys=files / "wards.parquet", **GIVEN)
    (files / "words.txt").write_text("north\n")
    with pytest.raises(DuffError, match="has the type Int64, got 'north'"):
        duffdp.median(PEOPLE, by="ward", keys=files / "words.txt", **GIVEN)
    with pytest.raises(DuffError, match="one value for each of the 2 columns"):
        duffdp.median(PEOPLE, by=["ward", "sex"], keys=files / "words.txt", **GIVEN)


def test_the_command_line_and_plans(files):
    command = ["count", str(files / "people.csv"), "-e", "1e6", "-f", "csv"]
    listed = duff(*command, "--by", "ward", "--keys", f"@{files}/wards.csv")
    assert listed.stdout.endswith("2,count,10\n")
    assert listed.stdout == duff(*command, "--by", "ward", "--keys", "1,2").stdout
    both = duff(*command, "--by", "ward", "--by", "sex", "--keys", f"@{files}/both.csv")
    assert both.stdout.splitlines()[1:] == ["1,m,count,0", "2,f,count,0"]
    release = '[[release]]\nstatistic="count"\nby=["ward", "sex"]\n'
    plan = files / "plan.toml"
    for keys, expected in (
        ('"both.csv"', (("1", "m"), ("2", "f"))),
        ('{ward = "wards.txt", sex = ["m"]}', (("1", "m"), ("2", "m"))),
    ):
        plan.write_text(f'source = "people.csv"\nepsilon = 1\n{release}keys = {keys}\n')
        (made,) = duffdp.Plan.from_toml(plan).run().values()
        assert made.keys == expected


def test_a_table_reads_its_file_once(files):
    """All of its releases have the same groups, even if the file changes in between."""
    keys = files / "wards.txt"
    given = {"epsilon": 1, "bounds": {"x": (0, 9)}, "by": "ward", "keys": keys}
    plan = duffdp.TablePlan({"x": ["median", "mean"]}, **given)
    keys.write_text("3\n")
    assert plan.run(PEOPLE).keys == ((1,), (2,))
