"""Mutations of duffdp.domain."""

from __future__ import annotations

from tests.mutants.mutant import DIGITS, ROWS, Mutant

MUTANTS = (
    Mutant(
        "digits of a column are rounded down",
        "domain/digits.py",
        "/ units + 0.5).floor() + offsets",
        "/ units).floor() + offsets",
        (f"{DIGITS}::test_columns_are_snapped_as_arrays_are",),
        ROWS,
    ),
    Mutant(
        "a record in two cells of a share",
        "domain/cells.py",
        "return -1 if place is None else INSIDE if place >= 0 else OUTSIDE",
        "return -1 if place is None else INSIDE",
        ("tests/domain/bins_test.py::test_a_record_is_inside_outside_or_missing",),
        ROWS,
    ),
)
