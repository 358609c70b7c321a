"""Mutations of duffdp.domain."""

from __future__ import annotations

from tests.mutants.mutant import DIGITS, Mutant

MUTANTS = (
    Mutant(
        "an instant at the end of its type leaves the clock",
        "domain/zones.py",
        "moments = np.clip(moments, self.low, self.high)",
        "moments = moments + 0",
        ("tests/engines/zones_test.py::test_a_clock_shows_what_python_says",),
    ),
    Mutant(
        "bounds without a zone are of UTC",
        "domain/grid.py",
        "low, high = (_first_instant(end, tzinfo) for end in (self.lower, self.upper))",
        "low, high = self.lower, self.upper",
        (
            "tests/engines/zones_test.py::test_days_and_bounds_are_those_of_the_zone[polars-Europe/Berlin]",
        ),
    ),
    Mutant(
        "digits of a column are rounded down",
        "domain/digits.py",
        "/ units + 0.5).floor() + offsets",
        "/ units).floor() + offsets",
        (f"{DIGITS}::test_columns_are_snapped_as_arrays_are",),
    ),
    Mutant(
        "digits of an array lose their sign",
        "domain/digits.py",
        "np.copysign(magnitude, keys, out=magnitude)",
        "np.abs(magnitude, out=magnitude)",
        (f"{DIGITS}::test_a_number_goes_to_the_nearest_candidate",),
    ),
    Mutant(
        "a record in two cells of a share",
        "domain/cells.py",
        "return -1 if place is None else INSIDE if place >= 0 else OUTSIDE",
        "return -1 if place is None else INSIDE",
        ("tests/domain/bins_test.py::test_a_record_is_inside_outside_or_missing",),
    ),
    Mutant(
        "an edge that is in the bin before it",
        "domain/bins.py",
        "reached = column >= thresholds[middle]",
        "reached = column > thresholds[middle]",
        ("tests/domain/bins_test.py::test_all_ways_agree_with_the_definition",),
    ),
    Mutant(
        "bins of one width by arithmetic alone",
        "domain/bins.py",
        "count += keys >= self.padded_doubles[count + 1]",
        "pass",
        ("tests/domain/bins_test.py",),
    ),
)
