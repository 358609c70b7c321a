"""Sound calls replayed on neighbors: `python -m tests.mutants --replay` runs this file on broken
copies of the library.
"""

from __future__ import annotations

import datetime as dt
from functools import partial

import numpy as np
import polars as pl
import pytest

import duffdp
from duffdp.audit import neighbors, replay
from duffdp.audit.replay_cases import JOINING_ROWS, KEYS, replay_cases, synthetic_table

PEOPLE = {"unit": "person", "contributions": 2}
GROUPS = {"by": "group", "keys": KEYS}
GRID = {"bounds": (0, 1000), "step": 1}


# Every statistic, on data that move it in different ways.


@pytest.mark.parametrize("rows", [600, 40, 3])
@pytest.mark.parametrize("case", list(map(str, replay_cases(10))))
def test_every_statistic(case, rows):
    result = cases_of(rows)[case].replay()
    assert result.ok, result.findings
    assert result.rows
    assert 0 <= result.loss <= 1 + 1e-9


_cases = {}


def cases_of(rows):
    if rows not in _cases:
        _cases[rows] = {str(case): case for case in replay_cases(rows)}
    return _cases[rows]


def test_as_many_quantiles_as_are_drawn_together():
    call = partial(duffdp.quantiles, qs=np.arange(1, 20) / 20, epsilon=1, **GRID)
    data = np.arange(300.0)
    for value in (0.0, 150.0, 1000.0):
        assert sound(call, data, np.append(data, value))


def test_a_list_whose_records_become_others():
    call = partial(duffdp.median, epsilon=1, bounds=(0, 9))
    for value in (2.5, "2.5", None, True, "word"):
        sound(call, [1, 2, 3], [1, 2, 3, value])


# Every engine, for people, groups and pairs.

FRAME = pl.from_arrow(synthetic_table(600)).with_columns(
    sex=pl.Series(np.array(["m", "f"])[np.arange(600) % 2])
)
ENGINES = ("pandas", "polars", "lazy", "arrow", "parquet", "csv")


def sound(call, data, neighbor, **options):
    result = replay(call, data, neighbor, **options)
    assert result.ok, result.findings
    return result


def in_container(frame, kind, folder, name):
    path = folder / f"{name}.{kind}"
    match kind:
        case "pandas":
            return frame.to_pandas()
        case "lazy":
            return frame.lazy()
        case "arrow":
            return frame.to_arrow()
        case "parquet":
            frame.write_parquet(path)
            return path
        case "csv":
            frame.write_csv(path)
            return path
    return frame


def pairs_in(kind, folder, column="x", values=(0.0, 1000.0), unit="person"):
    """Neighbors in a container: a person leaves, or joins with more rows than count."""
    pairs = neighbors(FRAME, column=column, values=values, unit=unit, rows=JOINING_ROWS)
    for pair in pairs:
        yield tuple(in_container(f, kind, folder, n) for f, n in zip(pair[1:], "ab", strict=True))


CALLS = {
    "count": partial(duffdp.count, column="x", **PEOPLE),
    "std": partial(duffdp.std, column="x", **GRID, **PEOPLE),
    "quartiles": partial(
        duffdp.quantiles, qs=(0.25, 0.75), interval=0.8, column="x", **GRID, **PEOPLE
    ),
    "groups": partial(duffdp.sum, column="x", groups_per_person=2, **GRID, **PEOPLE, **GROUPS),
    "rows": partial(duffdp.mean, column="x", mechanism="clipped", **GRID, **GROUPS),
    "share": partial(duffdp.share, column="x", between=(0, 50), where="not sex = 'f'", **PEOPLE),
}


@pytest.mark.parametrize("kind", ENGINES)
@pytest.mark.parametrize("name", CALLS)
def test_every_engine(name, kind, tmp_path):
    call = partial(CALLS[name], epsilon=1)
    for pair in pairs_in(kind, tmp_path, unit="person" if "unit" in call.keywords else None):
        sound(call, *pair)


@pytest.mark.parametrize("kind", ["polars", "lazy", "parquet"])
def test_pairs_of_people(kind, tmp_path):
    call = partial(duffdp.slope, "x", "y", epsilon=1, bounds=(-9, 9), step=0.5, **PEOPLE)
    for pair in pairs_in(kind, tmp_path, column="y", values=(-1e6, 1e6)):
        sound(lambda data, rng: call(data=data, rng=rng), *pair)


@pytest.mark.parametrize("kind", ["polars", "parquet"])
def test_releases_that_share_passes(kind, tmp_path):
    plan = duffdp.Plan(
        epsilon=1,
        unit="person",
        contributions=2,
        releases=[
            {"statistic": "sum", "column": "x", "bounds": (0, 1000), "step": 1},
            {"statistic": "median", "column": "y", "bounds": (0, 1000), "step": 1},
            {"statistic": "count", "column": "x"},
            {"statistic": "sum", "column": "y", "bounds": (0, 1000), "where": "sex = 'f'"},
        ],
    )
    for pair in pairs_in(kind, tmp_path):
        sound(plan.run, *pair, epsilon=1)


# Tables, plans and profiles, whose epsilon is the total of several releases.


def test_a_plan_with_weights():
    plan = duffdp.Plan(
        epsilon=1,
        releases=[
            {"statistic": "std", "column": "x", "bounds": (0, 1000), "weight": 3},
            {"statistic": "count", "weight": 2},
        ],
    )
    sound(plan.run, FRAME, FRAME[:-1], epsilon=1)


def test_a_table_with_totals():
    call = partial(
        duffdp.table,
        statistics={"x": ["median", "mean"], "y": ["sum"]},
        epsilon=2,
        bounds={"x": (0, 1000), "y": (0, 1000)},
        by=["group", "sex"],
        keys={"group": KEYS[:2], "sex": ["m", "f"]},
        total=True,
        suppress_below=5,
        **PEOPLE,
    )
    for pair in neighbors(FRAME, column="x", values=[1000.0], unit="person", rows=JOINING_ROWS):
        sound(call, pair.data, pair.neighbor, epsilon=2)


@pytest.mark.parametrize("unit", [None, "person"])
def test_a_profile(unit):
    people = {"unit": unit, "contributions": 2} if unit else {}
    call = partial(duffdp.profile, epsilon=1, bounds={"x": (0, 100)}, **people)
    for pair in neighbors(FRAME, column="x", values=[1000.0], unit=unit, rows=JOINING_ROWS):
        sound(call, pair.data, pair.neighbor, epsilon=1)


# Records that could stop a query, or change how others are read.

ODD = pl.DataFrame({"p": [1, 1, 2, 3], "text": ["1", "7", "3", "12"], "day": ["01.02.2024"] * 4})


@pytest.mark.parametrize("text", ["x", "", "1e999", "-3", "99999999999999999999"])
def test_a_field_that_does_not_fit(text, tmp_path):
    more = pl.concat([ODD, pl.DataFrame({"p": [9], "text": [text], "day": [f"31.02.20{text:.2}"]})])
    files = [in_container(frame, "csv", tmp_path, n) for frame, n in ((ODD, "a"), (more, "b"))]
    typed = [
        duffdp.TextFile(file, types={"text": "double", "day": "date"}, date_format="%d.%m.%Y")
        for file in files
    ]
    sound(partial(duffdp.mean, column="text", epsilon=1, bounds=(0, 9)), *files)
    sound(partial(duffdp.median, column="text", epsilon=1, bounds=(0, 9), step=1), *typed)
    days = {"bounds": (dt.date(2024, 1, 1), dt.date(2024, 12, 31))}
    sound(partial(duffdp.median, column="day", epsilon=1, **days), *typed)
    queries = [
        duffdp.Query(frame, "SELECT CAST(text AS DOUBLE) / (p - 9) AS v FROM data")
        for frame in (ODD, more)
    ]
    sound(partial(duffdp.sum, column="v", epsilon=1, bounds=(-9, 9), step=1), *queries)


def test_sums_over_the_rows_of_a_person():
    sql = "SELECT person, SUM(x) AS x FROM data GROUP BY person"
    call = partial(duffdp.sum, column="x", epsilon=1, **GRID, unit="person")
    for pair in neighbors(FRAME, column="x", values=[1e18], unit="person", rows=JOINING_ROWS):
        sound(call, duffdp.Query(pair.data, sql), duffdp.Query(pair.neighbor, sql))
