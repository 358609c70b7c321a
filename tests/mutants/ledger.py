"""Mutations of duffdp.ledger."""

from __future__ import annotations

from tests.mutants.mutant import DOMINATING, LEDGER, PLAN, PLAN_BEYOND, REFUSED, Mutant

MUTANTS = (
    Mutant(
        "a ledger accepts seeds",
        "ledger/ledger.py",
        "if not self.allow_seeded and",
        "if self.allow_seeded and",
        (REFUSED,),
    ),
    Mutant(
        "anything pure is counted at an eighth",
        "ledger/_composition.py",
        '(8 if family == "bounded-range" else 2)',
        "8",
        ("tests/ledger/composition_test.py::test_what_is_known_comes_from_the_stored_loss",),
        LEDGER,
    ),
    Mutant(
        "draws of one part count once",
        "ledger/_composition.py",
        "draws[draw] += times * count",
        "draws[draw] += times",
        ("tests/ledger/composition_test.py::test_parts_compose_one_by_one",),
        LEDGER,
    ),
    Mutant(
        "what is only pure is taken for geometric noise for many rows",
        "ledger/_composition.py",
        'contributions if family == "geometric" else 1',
        "contributions",
        (f"{DOMINATING}::test_one_step_of_geometric_noise_is_randomised_response",),
        LEDGER,
    ),
    Mutant(
        "a charge that is not synced",
        "ledger/journal.py",
        "PRAGMA synchronous = EXTRA",
        "PRAGMA synchronous = OFF",
        ("tests/ledger/journal_test.py::test_every_commit_is_durable",),
        LEDGER,
    ),
    Mutant(
        "a call id that returns what another file gave",
        "ledger/ledger.py",
        'body["source"] != source',
        "False",
        ("tests/ledger/ledger_test.py::test_a_call_id_belongs_to_one_source",),
        LEDGER,
    ),
    Mutant(
        "a ledger that does not add up",
        "ledger/ledger.py",
        "spent = spent.plus(Amount(loss.epsilon, loss.delta))",
        "spent = Amount(loss.epsilon, loss.delta)",
        ("tests/ledger/ledger_test.py::test_ten_tenths_are_one", PLAN),
    ),
    Mutant(
        "the last release of a plan decides whether the budget suffices",
        "ledger/ledger.py",
        "due = due.plus(Amount(loss.epsilon, loss.delta))",
        "due = Amount(loss.epsilon, loss.delta)",
        (PLAN_BEYOND,),
    ),
    Mutant(
        "a ledger that never refuses",
        "ledger/ledger.py",
        "if due.epsilon > remaining.epsilon or",
        "if due.epsilon > budget.epsilon + remaining.epsilon or",
        (REFUSED,),
    ),
)
