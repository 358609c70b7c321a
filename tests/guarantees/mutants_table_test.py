"""The table of mutations fits the source as it is now: none is left behind by a change."""

from __future__ import annotations

import pytest
from tests.mutants.mutant import REASONS, ROOT
from tests.mutants.table import MUTANTS, PACKAGES


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_mutation_can_be_made_and_looked_for(mutant):
    text = (ROOT / "src" / "duffdp" / mutant.file).read_text()
    assert text.count(mutant.old) == 1
    assert mutant.new != mutant.old
    assert mutant.tests
    assert mutant.unseen in ("", *REASONS)
    for test in mutant.tests:
        path, separator, name = test.partition("::")
        assert separator, "name the test that notices, not its file"
        assert f"def {name.partition('[')[0]}" in (ROOT / path).read_text()


def test_names_are_different():
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS)


def test_every_mutation_is_in_the_file_of_its_package():
    for package in PACKAGES:
        own = package.__name__.rpartition(".")[2]
        for mutant in package.MUTANTS:
            folder, slash, _ = mutant.file.partition("/")
            assert own == (folder.removeprefix("_") if slash else "top_level")
