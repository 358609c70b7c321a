"""Spark as it runs elsewhere: Spark Connect, and a cluster whose executors are processes of their
own. Each in a process of its own, because a process has one kind of session.

Both run the adapter that engine_check_test.py asks every question. Here are the questions whose
answers pass through other ways: literals, several columns of keys, times, caps, collected counts.
"""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from java import provide_java

PROGRAM = """
import sys
from pyspark.sql import SparkSession
from duffdp.audit import check_engine, engine_check

engine_check.DOMAINS = {name: engine_check.DOMAINS[name] for name in ("small", "name", "moment")}
engine_check.SELECTIONS_OF = {"small": [engine_check.EVERYTHING, *engine_check.SELECTIONS[5:7]]}
engine_check.REGISTRY = {name: engine_check.REGISTRY[name] for name in ("median", "describe")}
builder = SparkSession.builder.config("spark.sql.shuffle.partitions", "2")
builder = builder.config("spark.ui.enabled", "false").config("spark.executor.memory", "512m")
builder = getattr(builder, sys.argv[1])(sys.argv[2])
session = builder.getOrCreate()
check = check_engine(session)
print(check)
print("questions:", len(check.rows))
print("exact:", check.count("exact") == len(check.rows))
session.stop()
"""


@pytest.mark.slow
@pytest.mark.xdist_group("spark")
@pytest.mark.parametrize(
    ("kind", "place", "name"),
    [
        ("remote", "local[2]", "Spark Connect"),
        ("master", "local-cluster[2,1,1024]", "Spark"),
    ],
)
def test_exact_there_too(kind, place, name, tmp_path):
    provide_java()
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "JAVA_TOOL_OPTIONS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",  # they end soon
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_LOCAL_DIRS": str(tmp_path),
    }
    ended = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", PROGRAM, kind, place],
        capture_output=True,
        text=True,
        env=environment,
        cwd=tmp_path,
        check=False,
        timeout=540,
    )
    print(ended.stdout)
    assert ended.returncode == 0, ended.stderr[-2000:]
    assert f"\n{name} " in f"\n{ended.stdout}"
    assert "exact: True" in ended.stdout, ended.stdout
