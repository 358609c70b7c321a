"""`python -m benchmarks.engines`: frames, files and Spark against the engines' own answers. Needs a
few GB of disk and memory. Name parts to run them alone: groups, people, parquet, passes, spark.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl

import duffdp
from benchmarks.timing import came_back, heading, peak, ratio, row, scans

ROWS = 50_000_000
CALL = {"column": "x", "epsilon": 1.0, "bounds": (-10, 10)}
NORMAL = "sqrt(-2 * ln(1 - random())) * cos(2 * pi() * random())"
A_MILLION = """
import re, numpy as np, polars as pl, duffdp
rng = np.random.default_rng(1)
data = pl.DataFrame({"g": rng.integers(0, 10**6, 4 * 10**6), "x": rng.normal(size=4 * 10**6)})
duffdp.median(data, by="g", keys=range(10**6), column="x", epsilon=1, bounds=(-10, 10))
print(int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1]) / 1024)
"""
ALONE = """
import re, duffdp
duffdp.median({path!r}, column="x", epsilon=1, bounds=(-10, 10))
print(int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1]) / 1024)
"""


@contextmanager
def written(columns: str, rows: int) -> Iterator[str]:
    """A Parquet file with these columns."""
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "rows.parquet")
        duckdb.sql(f"COPY (SELECT {columns} FROM range({rows})) TO '{path}'")
        yield path


def parquet() -> None:
    """Files of doubles, alone and in a hundred groups."""
    with written(f"{NORMAL} AS x, (random() * 100)::INT % 100 AS g", ROWS) as path:
        own = f"SELECT median(x) FROM '{path}'"
        measured = ratio(lambda: duffdp.median(path, **CALL), lambda: fetched(own), 5)
        row("median, Parquet with 5e7 doubles", "DuckDB median", measured, 0.35)
        alone = peak_of(ALONE.format(path=path))
        peak("median, Parquet with 5e7 doubles: peak memory of the process", alone, 600)
        grouped = f"SELECT g, median(x) FROM '{path}' GROUP BY g"
        measured = ratio(
            lambda: duffdp.median(path, by="g", keys=range(100), **CALL).value.fetchall(),
            lambda: fetched(grouped),
            5,
        )
        row("medians of 100 groups, the same file", "DuckDB median", measured, 1.0)
    with written(f"{NORMAL} AS x", 4_000_000) as path:
        own = f"SELECT avg(x) FROM '{path}'"
        measured = ratio(lambda: duffdp.mean(path, **CALL), lambda: fetched(own), 9)
        row("mean, Parquet with 4e6 doubles", "DuckDB avg", measured, 4)
    with written("random() AS x", 10_000_000) as path:
        fine = {"column": "x", "epsilon": 1.0, "bounds": duffdp.Grid(0.0, 1.0)}
        came_back(
            "mode, 1e7 rows on 2**40 candidates: rows that came back",
            lambda: duffdp.mode(path, **fine),
            100_000,
        )


def groups() -> None:
    """Many groups of a polars frame, and one column of a pandas frame."""
    rng = np.random.default_rng(1)
    values, x = rng.normal(size=10**7), pl.col("x")
    thirds = [0.25, 0.5, 0.75]
    described = [x.count().alias("count"), x.mean().alias("mean")] + [
        x.quantile(q).alias(str(q)) for q in (0, *thirds, 1)
    ]
    cases: dict[str, tuple[Callable[..., Any], list[Any], list[pl.Expr], float]] = {
        "medians": (duffdp.median, [], [x.median()], 2.5),
        "means": (duffdp.mean, [], [x.mean()], 3),
        "three quantiles": (
            duffdp.quantiles,
            [thirds],
            [x.quantile(q).alias(str(q)) for q in thirds],
            6,
        ),
        "describe": (duffdp.describe, [], described, 6),
    }
    for many, (name, (verb, more, own, goal)) in product((10_000, 1000), cases.items()):
        frame = pl.DataFrame({"g": rng.integers(0, many, 10**7), "x": values})
        measured = ratio(
            lambda f=frame, v=verb, m=more, n=many: v(f, *m, by="g", keys=range(n), **CALL),  # type: ignore[misc]
            lambda f=frame, o=own: f.group_by("g").agg(o),  # type: ignore[misc]
            3,
        )
        row(f"{name} of {many:,} groups, polars, 1e7 rows", "polars", measured, goal)
    for many, goal in ((10**5, 5.0), (10**6, 8.0)):
        frame = pl.DataFrame(
            {"g": rng.integers(0, many, 4 * 10**6), "x": rng.normal(size=4 * 10**6)}
        )
        measured = ratio(
            lambda f=frame, n=many: duffdp.median(f, by="g", keys=range(n), **CALL),  # type: ignore[misc]
            lambda f=frame: f.group_by("g").agg(x.median()),  # type: ignore[misc]
            3,
        )
        row(f"medians of {many:.0e} groups, polars, 4e6 rows", "polars", measured, goal)
    name = "medians of 1e+06 groups, the same: peak memory of the process"
    peak(name, peak_of(A_MILLION), 400)
    table = pd.DataFrame({"x": rng.normal(size=10**7)})
    array = table["x"].to_numpy()
    measured = ratio(
        lambda: duffdp.median(table, **CALL),
        lambda: duffdp.median(array, epsilon=1.0, bounds=(-10, 10)),
    )
    row("median, pandas, 1e7 rows", "duffdp on the array", measured, 1.3)


def people() -> None:
    """Four rows of each of a million people, of which one counts."""
    rng = np.random.default_rng(2)
    who = {"unit": "person", **CALL}
    frame = pl.DataFrame(
        {"person": rng.integers(0, 10**6, 4 * 10**6), "x": rng.normal(size=4 * 10**6)}
    )
    measured = ratio(
        lambda: duffdp.median(frame, **who), lambda: frame.select(pl.col("x").median()), 5
    )
    row("median of 1e6 people, polars, 4e6 rows", "polars median", measured, 20)
    with written(f"(random() * 1e6)::INT AS person, {NORMAL} AS x", 4 * 10**6) as path:
        own = f"SELECT median(x) FROM '{path}'"
        measured = ratio(lambda: duffdp.median(path, **who), lambda: fetched(own), 5)
        row("median of 1e6 people, Parquet, 4e6 rows", "DuckDB median", measured, 5)


def spark() -> None:
    """Cached rows in Spark on this machine."""
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    from pyspark.sql import SparkSession
    from pyspark.sql import functions as f

    builder = (
        SparkSession.builder.master("local[2]")
        .config("spark.driver.memory", "8g")
        .config("spark.ui.enabled", "false")
    )
    session = builder.config("spark.driver.bindAddress", "127.0.0.1").getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    number = f.col("id")
    data = session.range(10**7).select(
        f.randn(1).alias("x"),
        (number % 1000).alias("g"),
        (number % 2_500_000).alias("person"),
    )
    data = data.cache()
    data.count()
    approximate = f.percentile_approx("x", 0.5, 10_000)
    plain = lambda: duffdp.median(data, **CALL)  # noqa: E731
    name = "Spark local[2], 1e7 cached rows"
    # A new query each time: Spark keeps what a query has shuffled.
    measured = ratio(plain, lambda: data.select(approximate).collect(), 5)
    row(f"median, {name}", "percentile_approx", measured, 0.7)
    measured = ratio(
        lambda: duffdp.median(data, by="g", keys=range(1000), **CALL),
        lambda: data.groupBy("g").agg(approximate).collect(),
        3,
    )
    row(f"medians of 1,000 groups, {name}", "percentile_approx", measured, 1.0)
    measured = ratio(lambda: duffdp.median(data, unit="person", **CALL), plain, 3)
    row(f"median of people, {name}", "the same of rows", measured, 2.5)
    moved = data.select("x", "person").repartition("person").write.format("noop").mode("overwrite")
    row(f"rows moved by person, {name}", "median of rows", ratio(moved.save, plain, 3), 2.5)
    in_groups = {"by": "g", "keys": range(1000), **CALL}
    measured = ratio(
        lambda: duffdp.median(data, unit="person", **in_groups),
        lambda: duffdp.median(data, **in_groups),
        3,
    )
    row(f"medians of people, 1,000 groups, {name}", "the same of rows", measured, 2.5)
    many = session.range(10**8).select(f.randn(1).alias("x"))  # made anew for every query
    measured = ratio(
        lambda: duffdp.median(many, **CALL), lambda: many.select(approximate).collect(), 1
    )
    row("median, Spark local[2], 1e8 rows", "percentile_approx", measured, 1.0)
    session.stop()


def passes() -> None:
    """Count, mean and quartiles of five columns, which share their passes over a file."""
    names, quartiles = "abcde", [0.25, 0.5, 0.75]
    listed = ", ".join(f"{NORMAL} AS {name}" for name in names)
    known = f"(random() * 10)::INT % 10 AS g, (random() * 1e6)::INT AS person, {listed}"
    with written(known, 4 * 10**6) as path:
        own = ", ".join(f"avg({name}), quantile_disc({name}, {quartiles})" for name in names)
        asked = {name: ["mean", *quartiles] for name in names}
        given = {"epsilon": 1.0, "bounds": dict.fromkeys(names, (-10, 10)), "interval": None}
        groups = {"by": "g", "keys": range(10)}
        kinds: dict[str, tuple[dict[str, Any], str]] = {
            "five columns": ({}, f"SELECT count(*), {own} FROM '{path}'"),
            "in ten groups": (groups, f"SELECT g, count(*), {own} FROM '{path}' GROUP BY g"),
            "of people": ({"unit": "person"}, f"SELECT count(*), {own} FROM '{path}'"),
            "of people in ten groups": (
                groups | {"unit": "person"},
                f"SELECT g, count(*), {own} FROM '{path}' GROUP BY g",
            ),
        }
        for name, (more, query) in kinds.items():
            run = lambda m=more: duffdp.table(path, asked, **given, **m)  # type: ignore[misc]  # noqa: E731
            scans(f"count, mean, quartiles, Parquet, 4e6 rows: {name}", run, 3)
            measured = ratio(run, lambda q=query: fetched(q), 1)  # type: ignore[misc]
            row(f"the same: {name}", "DuckDB, one query", measured, 5)


def peak_of(code: str) -> float:
    """The memory that a process of its own prints, in MiB."""
    alone = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return float(alone.stdout)


def fetched(query: str) -> list[Any]:
    return duckdb.sql(query).fetchall()


PARTS = {
    "parquet": parquet,
    "groups": groups,
    "people": people,
    "passes": passes,
    "spark": spark,
}


def main(names: list[str]) -> None:
    heading()
    for name in names or PARTS:
        PARTS[name]()


if __name__ == "__main__":
    main(sys.argv[1:])
