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
)
