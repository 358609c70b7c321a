"""Times of the command line and the ledger against what they stand on, in one run: `python -m
benchmarks.command`.
"""

from __future__ import annotations

import json
import os
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from fractions import Fraction
from pathlib import Path

import duckdb

from duffdp import Ledger
from duffdp._engines.sql.query import OpenSources
from duffdp._pipeline.request import ReleaseRequest
from duffdp._pipeline.run import PreparedRelease

DUFFDP = [sys.executable, "-m", "duffdp"]
ROUNDS = 11
# As after an installation: with the bytecode of all modules in place.
INSTALLED = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def best(*commands: list[str]) -> list[float]:
    """The shortest time of each command, taken in turns."""
    times: list[list[float]] = [[] for _ in commands]
    for _ in range(ROUNDS):
        for taken, command in zip(times, commands, strict=True):
            begin = time.perf_counter()
            subprocess.run(command, capture_output=True, check=True, env=INSTALLED)
            taken.append(time.perf_counter() - begin)
    return [min(taken) for taken in times]


def inserts(path: Path, count: int) -> list[float]:
    """SQLite's own durable inserts, a connection each, like a charge."""
    with sqlite3.connect(path) as base:
        base.execute("CREATE TABLE entry (number INTEGER PRIMARY KEY, body TEXT)")
    base.close()
    taken = []
    for number in range(count):
        begin = time.perf_counter()
        base = sqlite3.connect(path, isolation_level=None)
        base.execute("PRAGMA synchronous = EXTRA")
        base.execute("BEGIN IMMEDIATE")
        base.execute(
            "INSERT INTO entry VALUES (?, ?)",
            (number, json.dumps({"epsilon": "1/10", "statistic": "median"})),
        )
        base.execute("COMMIT")
        base.close()
        taken.append(time.perf_counter() - begin)
    return taken


def charges(path: Path, count: int, before: int) -> list[float]:
    """Charges of a ledger that holds some already."""
    ledger = Ledger(path, epsilon=10**6)
    asked = ReleaseRequest("median", {"epsilon": Fraction(1, 10), "bounds": (0, 120)})
    facts = PreparedRelease.of(asked, [1.0], None, OpenSources()).facts
    ledger.charge_all([facts] * before)
    taken = []
    for _ in range(count):
        begin = time.perf_counter()
        ledger.charge(facts)
        taken.append(time.perf_counter() - begin)
    return taken


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        usage, imports = best([*DUFFDP, "--help"], [sys.executable, "-c", "import click"])
        print(
            f"duffdp --help {usage * 1e3:.0f} ms, import click {imports * 1e3:.0f} ms: "
            f"{usage / imports:.2f}x"
        )
        file = folder / "people.csv"
        columns = (
            "range AS person, (random() * 100)::INT AS age, round(exp(10 + random()), 2) AS income"
        )
        duckdb.sql(f"COPY (SELECT {columns} FROM range(1000000)) TO '{file}'")
        own = [
            sys.executable,
            "-c",
            f"import duckdb; print(duckdb.sql(\"SELECT median(age) FROM '{file}'\").fetchall())",
        ]
        ours = [
            *DUFFDP,
            "median",
            str(file),
            "--column",
            "age",
            "--epsilon",
            "1",
            "--bounds",
            "0",
            "120",
            "--step",
            "1",
        ]
        private, plain = best(ours, own)
        print(
            f"duffdp median of a CSV of 1e6 rows {private * 1e3:.0f} ms, DuckDB {plain * 1e3:.0f} "
            f"ms: {private / plain:.2f}x"
        )
        least = statistics.median(inserts(folder / "plain.db", 200))
        for before in (0, 10_000):
            taken = statistics.median(charges(folder / f"ledger{before}.db", 200, before))
            print(
                f"a charge after {before} others {taken * 1e3:.2f} ms, SQLite's durable insert "
                f"{least * 1e3:.2f} ms: "
                f"{(taken - least) * 1e3:.2f} ms over it"
            )


if __name__ == "__main__":
    main()
