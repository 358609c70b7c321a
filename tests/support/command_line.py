"""The command line for tests: as a real process, and what its output says."""

from __future__ import annotations

import csv
import io
import subprocess
import sys
from pathlib import Path

from duffdp._cli.app import STATISTIC_COMMANDS

DATA = Path(__file__).parents[1] / "data"
ADULT = str(DATA / "adult.csv")
EDGES = DATA / "ca_grqc_edges.csv"
TYPED_ADULT = str(Path(__file__).parents[2] / "demo" / "adult.parquet")
AGES = ["--column", "age", "--bounds", "0", "120", "--step", "1"]
COMMAND = [sys.executable, "-m", "duffdp"]
SURE = "500"  # an epsilon at which the answer is as good as certain


def words_of(arguments, quiet=True):
    """The words of a command, without the notes that every result has."""
    words = [str(part) for part in arguments]
    if quiet and words and words[0] in (*STATISTIC_COMMANDS, "release", "table", "profile"):
        words.insert(1, "--quiet")
    return words


def duff(*arguments, quiet=True, **options):
    """A real process."""
    given = [*COMMAND, *words_of(arguments, quiet)]
    return subprocess.run(
        given, capture_output=True, text=True, check=False, timeout=120, **options
    )


def rows(text):
    """The rows of CSV text."""
    return list(csv.DictReader(io.StringIO(text)))
