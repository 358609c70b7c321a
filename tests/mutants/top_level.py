"""Mutations of the modules that belong to no package."""

from __future__ import annotations

from tests.mutants.mutant import DRIVER, ONE_CALL, ONE_PERSON, SEVERAL_GROUPS, Mutant

MUTANTS = (
    Mutant(
        "all mechanisms ignore contributions",
        "_privacy.py",
        "return epsilon if self.rows == 1 else epsilon / self.rows",
        "return epsilon",
        (
            f"{DRIVER}::test_rows_of_a_person_divide_epsilon",
            ONE_PERSON,
        ),
    ),
    Mutant(
        "groups of a person: what several groups cost is forgotten",
        "_privacy.py",
        "return self.contributions * (self.groups_per_person or 1)",
        "return self.contributions",
        (f"{SEVERAL_GROUPS}::test_one_person_in_several_groups_through_the_verb",),
    ),
    Mutant(
        "the rate of one group is that of all",
        "_steps.py",
        "(s.unit, s.rate) != (first.unit, first.rate)",
        "s.unit != first.unit",
        ("tests/pipeline/release_test.py::test_no_group_is_drawn_for_at_the_rate_of_another",),
        ONE_CALL,
    ),
)
