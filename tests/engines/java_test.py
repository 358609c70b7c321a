"""Spark runs on a machine without Java."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
from engines import spark
import duffdp

frame = spark().range(1001)
print(duffdp.median(frame, column="id", epsilon=1e6, bounds=(0, 1000)).value)
"""


@pytest.mark.slow
@pytest.mark.xdist_group("spark")
def test_spark_without_a_java_of_the_machine(tmp_path):
    tools = ("env", "sh", "bash", "dirname", "uname", "ps", "cat", "tr", "sed", "grep", "nice")
    for name in tools:
        found = next(filter(Path.exists, (Path(f, name) for f in ("/bin", "/usr/bin"))), None)
        if found is not None:
            (tmp_path / name).symlink_to(found)
    environment = {name: value for name, value in os.environ.items() if name != "JAVA_HOME"}
    environment |= {"PATH": str(tmp_path), "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True
    )
    assert done.stdout.strip() == "500", done.stderr[-2000:]
