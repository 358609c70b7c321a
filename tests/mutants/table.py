"""All mutations, package by package."""

from __future__ import annotations

from tests.mutants import (
    audit,
    cli,
    domain,
    engines,
    ledger,
    mechanisms,
    pipeline,
    planning,
    report,
    sampling,
    statistics,
    studio,
    top_level,
)

PACKAGES = (
    audit,
    cli,
    domain,
    engines,
    ledger,
    mechanisms,
    pipeline,
    planning,
    report,
    sampling,
    statistics,
    studio,
    top_level,
)
MUTANTS = tuple(mutant for package in PACKAGES for mutant in package.MUTANTS)
