"""Mutations of the modules that belong to no package."""

from __future__ import annotations

from tests.mutants.mutant import SEVERAL_GROUPS, Mutant

MUTANTS = (
    Mutant(
        "groups of a person: what several groups cost is forgotten",
        "_privacy.py",
        "return self.contributions * (self.groups_per_person or 1)",
        "return self.contributions",
        (f"{SEVERAL_GROUPS}::test_one_person_in_several_groups_through_the_verb",),
    ),
)
