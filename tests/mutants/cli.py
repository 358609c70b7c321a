"""Mutations of the command."""

from __future__ import annotations

from tests.mutants.mutant import REFUSAL, WORDS, Mutant

MUTANTS = (
    Mutant(
        "a page names the password of a database",
        "_cli/output.py",
        "data.rpartition(SEPARATOR)",
        "data.partition(SEPARATOR)",
        (
            "tests/report/sign_off_test.py::test_data_are_named_without_folder_host_user_and_password",
        ),
        WORDS,
    ),
    Mutant(
        "command: a list is read from the file of the data",
        "_cli/options.py",
        'refuse_data_as_keys(_file_and_column(text)[0], options["data"], parameter.name)',
        "pass",
        ("tests/cli/command_edges_test.py::test_a_list_is_not_read_from_the_data",),
        REFUSAL,
    ),
)
