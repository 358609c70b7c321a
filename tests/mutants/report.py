"""Mutations of duffdp.report."""

from __future__ import annotations

from tests.mutants.mutant import WORDS, Mutant

MUTANTS = (
    Mutant(
        "a page halves the odds",
        "report/sentences.py",
        "factor, sure = math.exp(epsilon)",
        "factor, sure = math.exp(epsilon / 2)",
        ("tests/report/report_table_test.py::test_the_sentence_to_repeat_and_the_gauge",),
        WORDS,
    ),
)
