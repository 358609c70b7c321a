"""Mutations of duffdp.audit."""

from __future__ import annotations

from tests.mutants.mutant import Mutant

LOWER = "tests/audit/lower_bound_test.py"

MUTANTS = (
    Mutant(
        "auditor: draws that chose the event count it",
        "audit/lower_bound.py",
        "inside(draws[1::2]).sum()",
        "inside(draws[::2]).sum()",
        (f"{LOWER}::test_draws_that_chose_the_event_do_not_count_it",),
    ),
    Mutant(
        "auditor: each end takes all that may be missed",
        "audit/lower_bound.py",
        "np.maximum(other_misses, 1), 1 - miss / 2)",
        "np.maximum(other_misses, 1), 1 - miss)",
        (f"{LOWER}::test_the_bound_is_that_of_clopper_and_pearson",),
    ),
    Mutant(
        "auditor: it never sees the one who joins",
        "audit/cases.py",
        "for j in ((), (joined,))",
        "for j in ((), ())",
        (f"{LOWER}::test_a_release_that_spends_more_is_found_out",),
    ),
)
