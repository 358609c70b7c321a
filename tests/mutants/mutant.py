"""What a mutation is, and the tests that notice mutations of several packages."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent.parent


class Mutant(NamedTuple):
    """A promise that is broken: in one file of the library, one text becomes another."""

    name: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]  # where it is looked for, in order
    unseen: str = ""  # why a replay cannot find it; one does find all others


DOOR = "tests/guarantees/table_door_test.py"
PATHS = f"{SPREAD}::test_no_path_of_draws_loses_more_than_epsilon"
ENCLOSURE = "tests/statistics/private_range_test.py"
