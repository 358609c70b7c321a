"""Mutations of duffdp._engines."""

from __future__ import annotations

from tests.mutants.mutant import (
    ADDRESSES,
    DOOR,
    FAIRNESS,
    LEVELS,
    ONE_PERSON,
    ONE_ROW,
    ROWS,
    SERVER,
    SEVERAL_GROUPS,
    TABLE_DOOR,
    WORDS,
    Mutant,
)

SAME_ROWS = "tests/engines/passes_test.py::test_only_tables_of_the_same_rows_are_share_scans"
PLAN_FAILS = f"{DOOR}::test_a_plan_with_one_release_that_cannot_be_made_pays_and_draws_nothing"
PEOPLE_FILE = "tests/engines/people_test.py"
KEY_FORMS = "tests/engines/key_forms_test.py"
PAIRS = "tests/engines/pairs_test.py"
SERVERS = "tests/engines/server_query_test.py::test_no_record_stops_a_query_or_changes_another_row"
SHUFFLED = "offsets = generator.integers(0, row_counts[:, None] - places)"
CALLER = "tests/engines/caller_connection_test.py"
FAIR = "tests/engines/people_test.py::test_every_set_of_rows_is_chosen_alike"

FOUND_KEYS = "tests/engines/found_keys_test.py"

MUTANTS = (
    Mutant(
        "memory: people count for all their keys",
        "_engines/frames.py",
        "group = group[choose(people[rows], group, self._cap, source)] if len(rows) else group",
        "pass",
        (f"{FOUND_KEYS}::test_people_count_for_few_keys",),
    ),
    Mutant(
        "queries: people count for all their keys",
        "_engines/queries/rows.py",
        "    return adapter.cap(memberships, order, limit)",
        "    return memberships",
        (f"{FOUND_KEYS}::test_people_count_for_few_keys",),
    ),
    Mutant(
        "sql: where an expression fails, the query does",
        "_engines/sql/parse.py",
        'f"TRY({written})"',
        'f"({written})"',
        ("tests/engines/query_test.py::test_a_record_changes_its_own_row_alone",),
    ),
    Mutant(
        "sql: sums depend on the order of rows",
        "_engines/sql/parse.py",
        '_SUMMED = "TRY_CAST({} AS DECIMAL(26, 9))"',
        '_SUMMED = "TRY_CAST({} AS DOUBLE)"',
        ("tests/engines/query_test.py::test_a_person_changes_their_own_row_alone",),
    ),
    Mutant(
        "sql: what is not known is let in",
        "_engines/sql/parse.py",
        "if kind not in _ALLOWED or misplaced:",
        "if misplaced:",
        (
            "tests/engines/query_test.py::test_what_could_mix_records_is_refused_before_anything_is_read",
        ),
    ),
    Mutant(
        "sql: rows are brought together without people",
        "_engines/table.py",
        "if unit not in people:",
        "if False:",
        ("tests/engines/query_test.py::test_sums_over_the_rows_of_a_person",),
    ),
    Mutant(
        "sql: a collation brings people together",
        "_engines/sql/query.py",
        """_LETTERS = '::VARCHAR COLLATE "C"'""",
        """_LETTERS = ''""",
        ("tests/engines/query_test.py::test_a_collation_brings_no_two_people_together",),
    ),
    Mutant(
        "sql: a division by 0 stops PostgreSQL",
        "_engines/adapters/postgres.py",
        '"divide": _rounded("({0} / NULLIF({1}, 0))")',
        '"divide": _rounded("({0} / {1})")',
        (f"{SERVERS}[postgres]",),
        SERVER,
    ),
    Mutant(
        "a field that does not fit its declared type is an error",
        "_engines/files/fields.py",
        'f"THEN TRY_STRPTIME(',
        'f"THEN STRPTIME(',
        ("tests/engines/text_file_test.py::test_dates_are_read_in_their_format_alone",),
    ),
    Mutant(
        "groups of a person: one more than was said, in memory",
        "_engines/people.py",
        "choose_rows(memberships // group_count, cap.groups, source)",
        "choose_rows(memberships // group_count, cap.groups + 1, source)",
        (f"{SEVERAL_GROUPS}::test_one_person_in_several_groups_through_the_verb",),
    ),
    Mutant(
        "one more row of a person counts in DuckDB",
        "_engines/adapters/duckdb.py",
        'filter(f"{PLACE} <= {limit}")',
        'filter(f"{PLACE} <= {limit} + 1")',
        ("tests/engines/people_test.py::test_one_of_two_rows[duckdb-numbers]",),
    ),
    Mutant(
        "rows of people stay in the connection of the caller",
        "_engines/table.py",
        "self.close = close_after(self.adapter.drop, self.close)",
        "pass",
        (f"{CALLER}::test_nothing_is_left_behind_in_a_connection",),
        SERVER,
    ),
    Mutant(
        "what a lazy query runs into is quoted",
        "_engines/table.py",
        "(self._eager and not is_of_library(error))",
        "not is_of_library(error)",
        (f"{CALLER}::test_a_function_of_the_caller_that_fails_in_a_query_is_not_quoted[p]",),
        WORDS,
    ),
    Mutant(
        "shared passes: one more row of a person counts",
        "_engines/adapters/duckdb.py",
        "CASE WHEN count({n}) {window} <= {limit} THEN",
        "CASE WHEN count({n}) {window} <= {limit} + 1 THEN",
        (
            "tests/engines/passes_test.py::test_a_person_who_leaves_takes_their_rows_and_moves_nobody_elses",
        ),
    ),
    Mutant(
        "shared passes: tables of different conditions are read together",
        "_engines/table.py",
        "return path, place, selection.by, keys, people, where",
        "return path, place, selection.by, keys, people",
        (SAME_ROWS,),
        ROWS,
    ),
    Mutant(
        "groups of a person: one more than was said, in lazy tables",
        "_engines/queries/rows.py",
        "    return adapter.cap(memberships, order, limit)",
        "    return adapter.cap(memberships, order, limit + 1)",
        (f"{PEOPLE_FILE}::test_every_set_of_groups_is_as_likely[duckdb]",),
    ),
    Mutant(
        "groups of a person: groups with many rows are chosen more often",
        "_engines/queries/rows.py",
        "memberships = rows.group_by(*pair).agg(nw.len().alias(COUNT)).select(*pair)",
        "memberships = rows.select(*pair)",
        (
            f"{PEOPLE_FILE}::test_how_many_rows_a_group_has_does_not_decide_whether_it_counts[duckdb]",
        ),
        FAIRNESS,
    ),
    Mutant(
        "keys: a column of the data is quoted",
        "_engines/keys.py",
        "quoted = isinstance(keys, list | tuple) or not is_of_library(keys)",
        "quoted = True",
        (f"{KEY_FORMS}::test_a_column_of_the_data_as_keys_shows_none_of_them",),
    ),
    Mutant(
        "keys: the data themselves are taken for keys",
        "_engines/keys.py",
        "        is_data = part is data and part is not None\n",
        "        is_data = False\n",
        (f"{KEY_FORMS}::test_the_data_are_no_keys",),
    ),
    Mutant(
        "a plan that checks no types before it pays",
        "_engines/table.py",
        "if timed == moments and (timed or dtype.is_numeric() or dtype == nw.Boolean):",
        "if True:",
        (PLAN_FAILS,),
    ),
    Mutant(
        "a person wins the race once more than is paid for",
        "_engines/people.py",
        "return race(people, limit, generator)",
        "return race(people, limit + 1, generator)",
        (ONE_PERSON,),
    ),
    Mutant(
        "the last row of a person counts less often",
        "_engines/people.py",
        SHUFFLED,
        "offsets = generator.integers(0, np.maximum(row_counts[:, None] - places - 1, 1))",
        (FAIR,),
        FAIRNESS,
    ),
    Mutant(
        "postgres: queries of one release see different rows",
        "_engines/adapters/postgres.py",
        '_SNAPSHOT = "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY"',
        '_SNAPSHOT = "BEGIN READ ONLY"',
        ("tests/engines/postgres_test.py::test_a_release_sees_one_state_of_the_table",),
        SERVER,
    ),
    Mutant(
        "postgres: an error tells a password",
        "_engines/addresses.py",
        "user = f\"{quote(parts['user'])}@\"",
        "user = f\"{quote(parts['user'])}:{parts.get('password')}@\"",
        (f"{ADDRESSES}::test_one_clear_line_and_nothing_charged",),
        WORDS,
    ),
    Mutant(
        "pairs: rows of people are not capped in lazy tables",
        "_engines/queries/rows.py",
        "self.adapter.fetch(self._cap_people(rows) if self.has_people else rows)",
        "self.adapter.fetch(rows)",
        (f"{PAIRS}::test_rows_of_a_person_are_capped_over_all_groups",),
    ),
    Mutant(
        "table: a margin of every row, listed or not",
        "_engines/table.py",
        "if selection.by:\n            self.keys",
        "if selection.groups.by:\n            self.keys",
        (f"{TABLE_DOOR}::test_one_row_moves_all_of_a_table_by_at_most_epsilon",),
        ROWS,
    ),
    Mutant(
        "distribution: a record counts in two cells",
        "_engines/arrays/column.py",
        "self._counts[: len(places) + 1] += np.diff(places,",
        "self._counts[: len(places) + 1] += 2 * np.diff(places,",
        (f"{ONE_ROW}[distribution()-list]",),
    ),
    Mutant(
        "levels: rows that count decide which keys are others",
        "_engines/table.py",
        "return set(self._memory_key_counts(rows, True, _NO_CHOICE))",
        "return set(self._memory_key_counts(self._memory_rows(everyone), True, _NO_CHOICE))",
        (f"{LEVELS}::test_the_group_of_a_row_follows_from_its_key",),
    ),
    Mutant(
        "pandas: people whose ids are one double are one person",
        "_engines/adapters/pandas.py",
        "if native.dtype in _WIDE:",
        "if False:",
        (
            "tests/guarantees/reopened_test.py::"
            "test_long_doubles_that_are_one_double_are_different_people",
        ),
        ROWS,
    ),
)
