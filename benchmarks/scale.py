"""`python -m benchmarks.scale`: what a release costs as tables grow.

Each kind of work grows tenfold at a time, in a process of its own, until one takes longer than
`--seconds`. Name kinds to run them alone. `--engine` is one of

- duckdb: a Parquet file, as DuckDB reads it for duffdp, with `--memory` for itself;
- sql: the same file by the SQL that databases behind ibis get, which DuckDB runs here;
- spark: the same file in Spark on two cores.

`scanned` is what a warehouse bills: each query reads every value of the columns that it needs, at 8
bytes a value. `shuffled` are the rows that Spark moved between tasks. `rows back` came to this
process. The slope is between the times of two sizes: 1 is linear, 0 does not grow.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import duckdb

import duffdp

NORMAL = "sqrt(-2 * ln(1 - random())) * cos(2 * pi() * random())"
CALL: dict[str, Any] = {"column": "x", "epsilon": 1.0, "bounds": (-10, 10)}
ROW_SIZES = (10**6, 10**7, 10**8, 10**9)
GROUP_SIZES = (1, 10, 100, 1000, 10**4, 10**5)
PEOPLE = "range % greatest({rows} // 4, 1) AS p"
GROUP = "(random() * {size})::BIGINT % {size} AS g"
ENGINES = ("duckdb", "sql", "spark")
VALUE_BYTES = 8
SCANNED = "scanned_rows"  # the name of the table, which SQL names once for each scan
GIB, TIB = 2**30, 2**40
# On paper: the queries of a release, as the runs below count them, and the columns of each.
QUERIES = {
    "count, sum, mean": (1, 1),
    "median, at most 4,096 candidates": (1, 1),
    "median, default grid": (2, 1),
    "the same by group": (2, 2),
    "the same of people": (1, 2),
    "the same of people by group": (2, 3),
}


class Kind(NamedTuple):
    """One kind of work: the columns of its table, its sizes, the rows of a size, how many columns a
    query reads, and the release.
    """

    columns: str
    sizes: tuple[int, ...]
    rows: Callable[[int], int]
    columns_read: int
    release: Callable[[Any, int], object]


def _median(**options: Any) -> Callable[[Any, int], object]:
    """A median with these options; `keys` are as many groups as the size says."""

    def release(data: Any, size: int) -> object:
        groups = {"keys": range(size)} if "by" in options else {}
        return duffdp.median(data, **CALL, **options, **groups)

    return release


def _columns(data: Any, size: int) -> None:
    for i in range(size):
        duffdp.median(data, **CALL | {"column": f"c{i}"})


def _quantiles(data: Any, size: int) -> object:
    return duffdp.quantiles(data, [(i + 1) / (size + 1) for i in range(size)], **CALL)


def _a_million(size: int) -> int:
    return 10**6


KINDS: dict[str, Kind] = {
    "rows": Kind(f"{NORMAL} AS x", ROW_SIZES, int, 1, _median()),
    "people": Kind(f"{PEOPLE}, {NORMAL} AS x", ROW_SIZES, int, 2, _median(unit="p")),
    "groups": Kind(f"{GROUP}, {NORMAL} AS x", GROUP_SIZES, _a_million, 2, _median(by="g")),
    "groups of people": Kind(
        f"{GROUP}, {PEOPLE}, {NORMAL} AS x", GROUP_SIZES, _a_million, 3, _median(by="g", unit="p")
    ),
    "quantiles": Kind(f"{NORMAL} AS x", (1, 9, 99, 999), _a_million, 1, _quantiles),
    "columns": Kind(
        ", ".join(f"{NORMAL} AS c{i}" for i in range(100)), (1, 10, 100), _a_million, 1, _columns
    ),
}


class Cost(NamedTuple):
    """What one release cost."""

    seconds: float
    mebibytes: float  # of memory, at most, in the process that asks
    scans: int
    rows_shuffled: int
    rows_back: int


class Meter:
    """Counts the scans of a table and the rows that come back, in the adapter of an engine."""

    def __init__(self, adapter: type, count_scans: Callable[[Any], int]) -> None:
        self.scans = self.rows_back = 0
        for name in ("fetch", "stored", "pieces"):
            self._count(adapter, name, count_scans)

    def _count(self, adapter: type, name: str, count_scans: Callable[[Any], int]) -> None:
        method = getattr(adapter, name)

        def counted(engine: Any, frame: Any, *more: Any) -> Any:
            if name != "stored" or adapter.__name__ == "DuckdbRelation":  # which stores at once
                self.scans += count_scans(frame.to_native())
            answer = method(engine, frame, *more)
            if name == "fetch":
                self.rows_back += max(map(len, answer.values()), default=0)
            return answer

        setattr(adapter, name, counted)


def _parquet_scans(plan: str) -> int:
    """How often a plan reads a whole Parquet file: it shows a name and a function for each."""
    if "SAMPLE" in plan:  # of a few blocks
        return 0
    return (plan.count("READ_PARQUET") + plan.count("PARQUET_SCAN")) // 2


def cost_in_duckdb(kind: Kind, size: int, path: str, memory: str) -> Cost:
    """The cost of a release as DuckDB reads a file for duffdp."""
    from duffdp._engines.adapters.duckdb import DuckdbRelation

    meter = Meter(DuckdbRelation, lambda relation: _parquet_scans(relation.explain()))
    connection = _connection(path, memory)
    seconds = _time(kind, size, connection.read_parquet(path))
    return Cost(seconds, _peak(), meter.scans, 0, meter.rows_back)


def cost_in_sql(kind: Kind, size: int, path: str, memory: str) -> Cost:
    """The cost of a release by the SQL of ibis."""
    import ibis

    from duffdp._engines.adapters.ibis import IbisDuckdb

    backend = ibis.duckdb.from_connection(_connection(path, memory))
    data = backend.read_parquet(path, table_name=SCANNED)
    meter = Meter(IbisDuckdb, lambda expression: str(ibis.to_sql(expression)).count(SCANNED))
    seconds = _time(kind, size, data)
    return Cost(seconds, _peak(), meter.scans, 0, meter.rows_back)


def cost_in_spark(kind: Kind, size: int, path: str, memory: str) -> Cost:
    """The cost of a release in Spark, by what its stages read and wrote."""
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    from pyspark.sql import SparkSession

    from duffdp._engines.adapters.spark import SparkFrame

    builder = SparkSession.builder.master("local[2]").config("spark.driver.memory", "4g")
    builder = builder.config("spark.ui.enabled", "false")
    session = builder.config("spark.driver.bindAddress", "127.0.0.1").getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    context = session.sparkContext
    meter = Meter(SparkFrame, lambda frame: 0)
    data = session.read.parquet(path)
    seconds = _time(kind, size, data)
    peak, rows = _peak(), kind.rows(size)
    assert context._gateway is not None
    none = context._gateway.new_array(context._gateway.jvm.double, 0)
    listed = context._jsc.sc().statusStore().stageList(None, False, False, none, None)
    stages = [listed.apply(place) for place in range(listed.size())]
    scanned = sum(stage.inputRecords() for stage in stages if stage.inputRecords() >= rows)
    shuffled = sum(stage.shuffleWriteRecords() for stage in stages)
    session.stop()
    return Cost(seconds, peak, round(scanned / rows), shuffled, meter.rows_back)


def _connection(path: str, memory: str) -> Any:
    folder = str(Path(path).parent)
    return duckdb.connect(config={"memory_limit": memory, "temp_directory": folder})


def _time(kind: Kind, size: int, data: Any) -> float:
    begin = time.perf_counter()
    kind.release(data, size)
    return time.perf_counter() - begin


def _peak() -> float:
    """The most memory that this process has had, in MiB."""
    peak = re.search(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text())
    assert peak is not None
    return int(peak[1]) / 1024


COSTS = {"duckdb": cost_in_duckdb, "sql": cost_in_sql, "spark": cost_in_spark}


def cost_alone(engine: str, name: str, size: int, folder: str, memory: str) -> Cost:
    """The cost of one size, in a process of its own."""
    kind = KINDS[name]
    path = str(Path(folder) / "rows.parquet")
    columns = kind.columns.format(size=size, rows=kind.rows(size))
    duckdb.sql(f"COPY (SELECT {columns} FROM range({kind.rows(size)})) TO '{path}'")
    child = [sys.executable, "-m", "benchmarks.scale", name, "--engine", engine]
    child += ["--memory", memory, "--alone", str(size), path]
    alone = subprocess.run(child, capture_output=True, text=True, check=True)
    # DuckDB and Spark may have drawn a bar in front of it.
    return Cost(*json.loads(alone.stdout[alone.stdout.rindex("[") :]))


def main(engine: str, kinds: list[str], seconds: float, memory: str, largest: int) -> None:
    print(
        f"{engine:18}{'size':>14}{'rows':>15}{'queries':>9}{'scanned':>13}{'shuffled':>14}"
        f"{'rows back':>11}{'time':>12}{'peak':>12}{'slope':>8}"
    )
    for name in kinds or KINDS:
        before: tuple[int, float] | None = None
        for size in KINDS[name].sizes:
            rows = KINDS[name].rows(size)
            if rows > largest:
                break
            with tempfile.TemporaryDirectory() as folder:
                cost = cost_alone(engine, name, size, folder, memory)
            slope = math.nan
            if before is not None:
                slope = math.log(cost.seconds / before[1]) / math.log(size / before[0])
            scanned = cost.scans * rows * KINDS[name].columns_read * VALUE_BYTES / GIB
            shuffled = f"{cost.rows_shuffled:,}" if engine == "spark" else "-"
            print(
                f"{name:18}{size:14,}{rows:15,}{cost.scans:9}{scanned:9.2f} GiB{shuffled:>14}"
                f"{cost.rows_back:11,}{cost.seconds:10.2f} s{cost.mebibytes:8.0f} MiB{slope:8.2f}",
                flush=True,
            )
            before = size, cost.seconds
            if cost.seconds > seconds:
                break


def bill(price: float) -> None:
    """What a warehouse that bills by bytes scanned takes for one release."""
    heads = "".join(f"{f'{rows:.0e} rows':>22}" for rows in ROW_SIZES)
    print(f"{'release':34}{'queries':>8}{'columns':>8}{heads}")
    for name, (queries, columns) in QUERIES.items():
        scanned = [queries * columns * rows * VALUE_BYTES / TIB for rows in ROW_SIZES]
        costs = "".join(f"{tebi:10.5f} TiB{tebi * price:8.4f}" for tebi in scanned)
        print(f"{name:34}{queries:8}{columns:8}{costs}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("kinds", nargs="*", choices=[*KINDS, []])
    parser.add_argument("--engine", choices=ENGINES, default="duckdb")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--memory", default="2GiB")
    parser.add_argument("--largest", type=float, default=1e9, help="the most rows of a table")
    parser.add_argument("--bill", type=float, metavar="PRICE", help="costs at a price per TiB")
    parser.add_argument("--alone", nargs=2, metavar=("SIZE", "PATH"), help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.alone:
        size, path = given.alone
        print(json.dumps(COSTS[given.engine](KINDS[given.kinds[0]], int(size), path, given.memory)))
    elif given.bill:
        bill(given.bill)
    else:
        main(given.engine, given.kinds, given.seconds, given.memory, int(given.largest))
