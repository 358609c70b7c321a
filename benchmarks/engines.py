"""`python -m benchmarks.engines`: frames, files and Spark against the engines' own medians. Needs a
few GB of disk and memory.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import polars as pl

import duffdp
from benchmarks.timing import heading, peak, ratio, row

ROWS = 50_000_000
ALONE = """
import re, duffdp
duffdp.median({path!r}, column="x", epsilon=1, bounds=(-10, 10))
print(int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1]) / 1024)
"""


def main() -> None:
    heading()
    call = {"column": "x", "epsilon": 1.0, "bounds": (-10, 10)}
    rng = np.random.default_rng(1)
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "normal.parquet")
        draw = "sqrt(-2 * ln(1 - random())) * cos(2 * pi() * random())"
        duckdb.sql(
            f"COPY (SELECT {draw} AS x, (random() * 100)::INT % 100 AS g FROM range({ROWS})) "
            f"TO '{path}'"
        )
        own = f"SELECT median(x) FROM '{path}'"
        row(
            "median, Parquet with 5e7 doubles",
            "DuckDB median",
            ratio(lambda: duffdp.median(path, **call), lambda: duckdb.sql(own).fetchall(), 5),
            0.7,
        )
        alone = subprocess.run(
            [sys.executable, "-c", ALONE.format(path=path)],
            capture_output=True,
            text=True,
            check=True,
        )
        peak(
            "median, Parquet with 5e7 doubles: peak memory of the process", float(alone.stdout), 600
        )
        grouped = f"SELECT g, median(x) FROM '{path}' GROUP BY g"
        measured = ratio(
            lambda: duffdp.median(path, by="g", keys=range(100), **call).value.fetchall(),
            lambda: duckdb.sql(grouped).fetchall(),
            5,
        )
        row("medians of 100 groups, the same file", "DuckDB median", measured, 1.5)
    frame = pl.DataFrame({"g": rng.integers(0, 10_000, 10**7), "x": rng.normal(size=10**7)})
    measured = ratio(
        lambda: duffdp.median(frame, by="g", keys=range(10_000), **call),
        lambda: frame.group_by("g").agg(pl.col("x").median()),
        5,
    )
    row("medians of 10,000 groups, polars, 1e7 rows", "polars median", measured, 5)
    table = pd.DataFrame({"x": frame["x"].to_numpy()})
    array = table["x"].to_numpy()
    measured = ratio(
        lambda: duffdp.median(table, **call),
        lambda: duffdp.median(array, epsilon=1.0, bounds=(-10, 10)),
    )
    row("median, pandas, 1e7 rows", "duffdp on the array", measured, 1.3)
    spark(call)


def spark(call: dict[str, object]) -> None:
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
    data = session.range(10**7).select(f.randn(1).alias("x")).cache()
    data.count()
    # A new query each time: Spark keeps what a query has shuffled.
    row(
        "median, Spark local[2], 1e7 cached rows",
        "percentile_approx",
        ratio(
            lambda: duffdp.median(data, **call),
            lambda: data.select(f.percentile_approx("x", 0.5, 10_000)).collect(),
            5,
        ),
        1,
    )
    row(
        "median, Spark local[2], 1e7 cached rows",
        "percentile",
        ratio(
            lambda: duffdp.median(data, **call),
            lambda: data.select(f.expr("percentile(x, 0.5)")).collect(),
            1,
        ),
        0.2,
    )
    session.stop()


if __name__ == "__main__":
    main()
