"""Mutations of duffdp.audit."""

from __future__ import annotations

from tests.mutants.mutant import COVERAGE, ROWS, Mutant

LOWER = "tests/audit/lower_bound_test.py"
ENGINES = "tests/engines/engine_check_test.py"

MUTANTS = (
    Mutant(
        "auditor: draws that chose the event count it",
        "audit/lower_bound.py",
        "inside(draws[1::2]).sum()",
        "inside(draws[::2]).sum()",
        (f"{LOWER}::test_draws_that_chose_the_event_do_not_count_it",),
        COVERAGE,
    ),
    Mutant(
        "auditor: it never sees the one who joins",
        "audit/cases.py",
        "for j in ((), (joined,))",
        "for j in ((), ())",
        (f"{LOWER}::test_a_release_that_spends_more_is_found_out",),
        COVERAGE,
    ),
    Mutant(
        "check of an engine: people who are merged are no mistake",
        "audit/engine_check.py",
        'reason = "" if total == expected else',
        'reason = "" if total <= expected else',
        (f"{ENGINES}::test_a_collation_without_case_is_wrong",),
        ROWS,
    ),
    Mutant(
        "check of an engine: a statistic that fails after the charge counts as refused",
        "audit/engine_check.py",
        "            if ledger.charges():\n",
        "            if not ledger.charges():\n",
        (f"{ENGINES}::test_what_fails_after_the_charge_is_wrong",),
        ROWS,
    ),
)
