"""`python -m benchmarks.scale`: how time, memory and what comes back grow when the work does.

Each kind of work grows tenfold at a time, in a process of its own that DuckDB may use `--memory`
for, until one takes longer than `--seconds`. The last column is the slope between two sizes: 1 is
linear, 0 does not grow. Name kinds to run them alone: rows, groups, people, quantiles, columns.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
import tempfile
from pathlib import Path

import duckdb

NORMAL = "sqrt(-2 * ln(1 - random())) * cos(2 * pi() * random())"
PREPARED = """
import json, re, sys, time, duckdb, duffdp
from duffdp._engines.adapters.duckdb import DuckdbRelation

fetch, stored, pieces = DuckdbRelation.fetch, DuckdbRelation.stored, DuckdbRelation.pieces
seen = dict(queries=0, rows=0)
def counted_store(engine, frame):
    seen["queries"] += 1
    return stored(engine, frame)
def counted_pieces(engine, frame, types):
    seen["queries"] += 1
    return pieces(engine, frame, types)
def counted(engine, frame):
    got = fetch(engine, frame)
    seen["queries"] += 1
    seen["rows"] += max(map(len, got.values()))
    return got
DuckdbRelation.fetch, DuckdbRelation.stored = counted, counted_store
DuckdbRelation.pieces = counted_pieces
connection = duckdb.connect(config=dict(memory_limit="{memory}", temp_directory="{folder}"))
data = connection.read_parquet("{path}")
given = dict(column="x", epsilon=1.0, bounds=(-10, 10))
begin = time.perf_counter()
{work}
seconds = time.perf_counter() - begin
peak = int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1]) / 1024
print(json.dumps(dict(seconds=seconds, peak=peak, **seen)))
"""
# For each kind of work the columns of the table, its rows and what is done, for a size {n}.
KINDS: dict[str, tuple[str, str, str, tuple[int, ...]]] = {
    "rows": (
        f"{NORMAL} AS x",
        "{n}",
        "duffdp.median(data, **given)",
        (10**5, 10**6, 10**7, 10**8, 10**9),
    ),
    "groups": (
        f"(random() * {{n}})::BIGINT % {{n}} AS g, {NORMAL} AS x",
        "4_000_000",
        'duffdp.median(data, by="g", keys=range({n}), **given)',
        (10, 100, 1000, 10**4, 10**5, 10**6),
    ),
    "people": (
        f"range % ({{n}} // 4) AS p, {NORMAL} AS x",
        "{n}",
        'duffdp.median(data, unit="p", **given)',
        (10**5, 10**6, 10**7, 10**8),
    ),
    "quantiles": (
        f"{NORMAL} AS x",
        "1_000_000",
        "duffdp.quantiles(data, [(i + 1) / ({n} + 1) for i in range({n})], **given)",
        (1, 9, 99, 999),
    ),
    "columns": (
        ", ".join(f"{NORMAL} AS c{i}" for i in range(100)),
        "1_000_000",
        "for i in range({n}): duffdp.median(data, **given | dict(column=f'c{{i}}'))",
        (1, 10, 100),
    ),
}


def measured(kind: str, size: int, folder: Path, memory: str) -> dict[str, float]:
    """One run in a process of its own."""
    columns, rows, work, _ = KINDS[kind]
    path = folder / f"{kind}.parquet"
    made = f"SELECT {columns.format(n=size)} FROM range({rows.format(n=size)})"
    duckdb.sql(f"COPY ({made}) TO '{path}'")
    code = PREPARED.format(memory=memory, folder=folder, path=path, work=work.format(n=size))
    alone = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    path.unlink()
    # DuckDB may have drawn a bar in front of it.
    found: dict[str, float] = json.loads(alone.stdout[alone.stdout.rindex("{") :])
    return found


def main(kinds: list[str], seconds: float, memory: str) -> None:
    heads = f"{'time':>12}{'peak':>12}{'queries':>9}{'rows back':>11}{'slope':>8}"
    print(f"{'what':12}{'size':>14}{heads}")
    for kind in kinds or KINDS:
        before: tuple[int, float] | None = None
        for size in KINDS[kind][-1]:
            with tempfile.TemporaryDirectory() as folder:
                found = measured(kind, size, Path(folder), memory)
            slope = math.nan
            if before is not None:
                slope = math.log(found["seconds"] / before[1]) / math.log(size / before[0])
            print(
                f"{kind:12}{size:14,}{found['seconds']:10.3f} s{found['peak']:8.0f} MiB"
                f"{found['queries']:9}{found['rows']:11,}{slope:8.2f}",
                flush=True,
            )
            before = size, found["seconds"]
            if found["seconds"] > seconds:
                break


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kinds", nargs="*", choices=[*KINDS, []])
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--memory", default="2GiB")
    given = parser.parse_args()
    main(given.kinds, given.seconds, given.memory)
