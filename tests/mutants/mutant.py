"""What a mutation is, and the tests that notice mutations of several packages."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent.parent


class Mutant(NamedTuple):
    """A promise that is broken: in one file of the library, one text becomes another."""

    name: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]  # where it is looked for, in order
    unseen: str = ""  # why a replay cannot find it; one does find all others


# Why a replay cannot find a mutation: both runs do the same, or nothing of it is about epsilon.
LAW = "law of a draw: a replay repeats its numbers"
FAIRNESS = "which rows count: both runs choose alike"
LEDGER = "what a ledger stores, or totals for a delta: a replay looks at the charge alone"
FAMILY = "family of a mechanism's losses: a replay takes it from the mechanism"
ONE_CALL = "a promise that no statistic of today uses: nothing differs unless a program does wrong"
COVERAGE = "how often an interval holds, or how large an error is: no epsilon"
ROWS = "what is read or shown of each record by itself: a promise, but none about epsilon"
REFUSAL = "what a command refuses: replays call functions"
WORDS = "words, passwords, addresses, pages: no draw"
SERVER = "a server or another process: not a part of these replays"
REASONS = (
    *(LAW, FAIRNESS, LEDGER, FAMILY, ONE_CALL),
    *(COVERAGE, ROWS, REFUSAL, WORDS, SERVER),
)

DOOR = "tests/guarantees/public_door_test.py"
NEIGHBOURS = "tests/guarantees/neighbours_test.py"
DRAFTS = "tests/mechanisms/joint_proposal_test.py"
SIDE_BY_SIDE = "tests/mechanisms/joint_groups_test.py"
DRIVER = "tests/guarantees/driver_test.py"
SHARES = f"{DOOR}::test_shares_of_tables_add_up_to_what_is_asked_and_charged"
QUANTILES = f"{DOOR}::test_several_quantiles_share_one_epsilon"
REFUSED = f"{DOOR}::test_what_is_refused_reads_and_draws_nothing"
PLAN_BEYOND = f"{DOOR}::test_a_plan_beyond_the_budget_pays_and_draws_nothing"
PLAN = f"{DOOR}::test_the_shares_of_a_plan_add_up"
ONE_ROW = f"{NEIGHBOURS}::test_one_row_through_the_verb"
ONE_PERSON = f"{NEIGHBOURS}::test_one_person_with_all_their_rows_through_the_verb"
SEVERAL_GROUPS = "tests/pipeline/groups_per_person_test.py"
SIZES = "tests/pipeline/suppression_test.py"
INTERVALS = "tests/pipeline/interval_test.py"
SEVERAL = "tests/pipeline/several_intervals_test.py"
DOMINATING = "tests/guarantees/dominating_pairs_test.py"
FAMILIES = f"{DOMINATING}::test_every_draw_is_of_the_family_that_its_release_names"
FAMILY_OF_SIZES = f"{DOMINATING}::test_sizes_beside_values_are_of_a_family_of_their_own"
PASSED_ON = f"{DOMINATING}::test_a_draw_that_gets_what_others_left_is_named_with_all_of_it"
ADDRESSES = "tests/engines/addresses_test.py"
CLIPPED = "tests/statistics/clipped_mean_test.py"
SPREAD = "tests/statistics/spread_test.py"
TABLE_DOOR = "tests/guarantees/table_door_test.py"
TABLE_SHARES = f"{TABLE_DOOR}::test_the_shares_of_a_table_add_up"
PATHS = f"{SPREAD}::test_no_path_of_draws_loses_more_than_epsilon"
ENCLOSURE = "tests/statistics/private_range_test.py"
LEVELS = "tests/guarantees/levels_test.py"
