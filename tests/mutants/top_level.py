"""Mutations of the modules that belong to no package."""

from __future__ import annotations

from tests.mutants.mutant import COVERAGE, SEVERAL_GROUPS, Mutant

OUTER = "tests/statistics/outer_quantile_test.py"

MUTANTS = (
    Mutant(
        "groups of a person: what several groups cost is forgotten",
        "_privacy.py",
        "return self.contributions * (self.groups_per_person or 1)",
        "return self.contributions",
        (f"{SEVERAL_GROUPS}::test_one_person_in_several_groups_through_the_verb",),
    ),
    Mutant(
        "several quantiles: their ranks are looked up where records lie, unclamped",
        "_rank_profile.py",
        "            before, at = 0, before + at\n",
        "            pass\n",
        (f"{OUTER}::test_ranks_of_clamped_records_are_those_of_records_that_were_clamped",),
        COVERAGE,
    ),
)
