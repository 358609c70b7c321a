"""`python -m benchmarks.databases`: tables of PostgreSQL by address against its percentile_cont, on
a server that is started for it.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import psycopg

import duffdp
from benchmarks.timing import heading, peak, ratio, row

sys.path.append(str(Path(__file__).parent.parent / "tests" / "support"))

import postgres

ROWS = 1_000_000
PERCENTILE = "percentile_cont(0.5) WITHIN GROUP (ORDER BY x)"
ALONE = """
import re, duffdp
duffdp.median({data!r}, column="x", epsilon=1, bounds=(0, 1000))
duffdp.median({data!r}, column="x", by="g", keys=range(100), epsilon=1, bounds=(0, 1000))
print(int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1]) / 1024)
"""


def main() -> None:
    heading()
    postgres.run(
        "CREATE TABLE people AS SELECT random() * 1000 AS x, (random() * 100)::int % 100 AS g, i "
        f"FROM generate_series(1, {ROWS}) i",
        "VACUUM ANALYZE people",
    )
    data = postgres.address("people")
    call = {"column": "x", "epsilon": 1.0, "bounds": (0, 1000)}
    with psycopg.connect(postgres.address(), autocommit=True) as own:
        measured = ratio(
            lambda: duffdp.median(data, **call),
            lambda: own.execute(f"SELECT {PERCENTILE} FROM people").fetchall(),
        )
        row("median, PostgreSQL, 1e6 rows", "percentile_cont", measured, 1.3)
        measured = ratio(
            lambda: duffdp.median(data, by="g", keys=range(100), **call),
            lambda: own.execute(f"SELECT g, {PERCENTILE} FROM people GROUP BY g").fetchall(),
        )
        row("medians of 100 groups, the same table", "percentile_cont", measured, 1.5)
    alone = subprocess.run(
        [sys.executable, "-c", ALONE.format(data=data)], capture_output=True, text=True, check=True
    )
    peak("the same: peak memory of the process that asks", float(alone.stdout), 200)
    postgres.stop()


if __name__ == "__main__":
    main()
