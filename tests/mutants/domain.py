"""Mutations of duffdp.domain."""

from __future__ import annotations

from tests.mutants.mutant import ROWS, Mutant

MUTANTS = (
    Mutant(
        "a record in two cells of a share",
        "domain/cells.py",
        "return -1 if place is None else INSIDE if place >= 0 else OUTSIDE",
        "return -1 if place is None else INSIDE",
        ("tests/domain/bins_test.py::test_a_record_is_inside_outside_or_missing",),
        ROWS,
    ),
    Mutant(
        "one missing number switches the clamping of all others off",
        "domain/snapping.py",
        "    if keys.size and not (low <= keys.item(keys.argmin()) "
        "and keys.item(keys.argmax()) <= high):\n",
        "    if keys.size and (keys.item(keys.argmin()) < low "
        "or keys.item(keys.argmax()) > high):\n",
        ("tests/domain/snapping_test.py::test_a_missing_number_decides_about_itself_alone",),
        ROWS,
    ),
)
