"""Does a test notice? Each mutation breaks one promise in a copy of the source; some test must
fail.

`python tests/mutants.py` tries all of them, `python tests/mutants.py plan ledger` those with such
a word in their name. `--from 117`, before all words, begins with that number: each line says its
own, so that a run can go on where another one stopped.
"""

from __future__ import annotations

import compileall
import importlib
import os
import py_compile
import re
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple, NoReturn

import pytest

ROOT = Path(__file__).parent.parent
# Slow to import, the same for every mutation and safe to fork: read once, for all processes.
LIBRARIES = ("scipy.stats", "pandas", "narwhals", "ibis")


class Mutant(NamedTuple):
    """A promise that is broken: in one file of the library, one text becomes another."""

    name: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]  # where it is looked for, in order


PEOPLE = "tests/people_test.py::test_people_are_independent_of_each_other_and_of_other_releases"
DOOR, NEIGHBOURS = "tests/public_door_test.py", "tests/neighbours_test.py"
DRAFTS = "tests/joint_proposal_test.py"
SIDE_BY_SIDE = "tests/joint_groups_test.py"
CLASSES = "tests/count_classes_test.py"
SHARES = f"{DOOR}::test_shares_of_tables_add_up_to_what_is_asked_and_charged"
GRAPH_SHARES = f"{DOOR}::test_shares_of_graphs_add_up_to_what_is_asked_and_charged"
QUANTILES = f"{DOOR}::test_several_quantiles_share_one_epsilon"
ORDER = f"{DOOR}::test_nothing_is_read_or_drawn_before_it_is_paid"
REFUSED = f"{DOOR}::test_what_is_refused_reads_and_draws_nothing"
CHECKS = f"{DOOR}::test_parameters_are_checked_before_data_are_looked_at"
BITS = f"{DOOR}::test_every_draw_is_a_function_of_the_operating_systems_bits"
BYTES = f"{DOOR}::test_random_words_are_the_operating_systems_bytes"
PLAN = f"{DOOR}::test_the_shares_of_a_plan_add_up"
PLAN_ORDER = f"{DOOR}::test_a_plan_is_paid_for_before_any_of_it_is_read_or_drawn"
PLAN_FAILS = f"{DOOR}::test_a_plan_with_one_release_that_cannot_be_made_pays_and_draws_nothing"
PLAN_BEYOND = f"{DOOR}::test_a_plan_beyond_the_budget_pays_and_draws_nothing"
ONE_ROW = f"{NEIGHBOURS}::test_one_row_through_the_verb"
ONE_CATEGORY = f"{NEIGHBOURS}::test_one_category_through_the_verb"
IN_GROUPS = f"{NEIGHBOURS}::test_one_row_in_one_of_two_groups_through_the_verb"
ONE_PERSON = f"{NEIGHBOURS}::test_one_person_with_all_their_rows_through_the_verb"
PEOPLE_FILE, SEVERAL_GROUPS = "tests/people_test.py", "tests/groups_per_person_test.py"
SIZES, KEY_FORMS = "tests/suppression_test.py", "tests/key_forms_test.py"
ENDS, INTERVALS = "tests/interval_end_test.py", "tests/interval_test.py"
SEVERAL, RATIOS = "tests/several_intervals_test.py", "tests/ratio_interval_test.py"
SLOPE, PAIRS = "tests/slope_test.py", "tests/pairs_test.py"
ONE_EDGE = f"{NEIGHBOURS}::test_one_edge_through_the_verb"
DOMINATING = "tests/dominating_pairs_test.py"
FAMILIES = f"{DOMINATING}::test_every_draw_is_of_the_family_that_its_release_names"
PASSED_ON = f"{DOMINATING}::test_a_draw_that_gets_what_others_left_is_named_with_all_of_it"
SERVERS = "tests/server_query_test.py::test_no_record_stops_a_query_or_changes_another_row"
NASTY = "tests/postgres_test.py::test_no_record_stops_a_query"
ADDRESSES = "tests/addresses_test.py"
LOWER = "tests/lower_bound_test.py"
STUDIO_DOOR, STUDIO_PLAN = "tests/studio_door_test.py", "tests/studio_plan_test.py"
STUDIO_RELEASE = "tests/studio_release_test.py"
DIGITS, STEPS = "tests/digits_test.py", "tests/default_step_test.py"

DISTRIBUTIONS, BANDS = "tests/distribution_test.py", "tests/distribution_band_test.py"
CLIPPED, STAIRS = "tests/clipped_mean_test.py", "tests/staircase_test.py"

SPREAD = "tests/spread_test.py"
TABLE_DOOR = "tests/table_door_test.py"
PATHS = f"{SPREAD}::test_no_path_of_draws_loses_more_than_epsilon"
ONE_DRAW = f"{SPREAD}::test_one_draw_costs_its_epsilon_and_a_larger_rate_more"
IQR = f"{SPREAD}::test_iqr_is_what_a_search_reaches"
VARIANCE = f"{SPREAD}::test_variance_by_its_definition"
ONE_MORE = f"{SPREAD}::test_one_record_moves_a_distance_by_at_most_one"
ENCLOSURE = "tests/enclosure_test.py"
SCORES = f"{ENCLOSURE}::test_the_score_of_every_interval"
STREAMED = "tests/streamed_test.py"
LEVEL_SUMS = f"{SPREAD}::test_every_engine_sums_levels[polars-lazy]"

MADE = "mechanism(part.mechanism)(total * part.share / unit.rows)"
CHARGES = "    charges: Sequence[Charge | None] = ("
SHUFFLED = "taken = to + generator.integers(0, many - place)"
REPLACED = "tests/command_process_test.py::test_a_file_that_is_replaced_after_the_charge"
REPLACED_SOON = (
    "tests/command_process_test.py::test_a_file_that_is_replaced_in_the_second_of_its_making"
)
CALLER = "tests/caller_connection_test.py"
FAIR = "tests/people_test.py::test_every_set_of_rows_is_chosen_alike"
CHOOSING = "tests/people_test.py::test_choosing_is_quick_and_keeps_the_cap"
CAPPED = "np.repeat(begin, many) < most"
DRAWN = "found: list[int] = mechanism.release(batch, source)"

MUTANTS = (
    Mutant(
        "a page halves the odds",
        "report/words.py",
        "factor, sure = math.exp(epsilon)",
        "factor, sure = math.exp(epsilon / 2)",
        ("tests/report_table_test.py::test_the_sentence_to_repeat_and_the_gauge",),
    ),
    Mutant(
        "a page names the password of a database",
        "cli/output.py",
        "data.rpartition(SEPARATOR)",
        "data.partition(SEPARATOR)",
        ("tests/sign_off_test.py::test_data_are_named_without_folder_host_user_and_password",),
    ),
    Mutant(
        "where: a row without a value is kept by a negation",
        "engines/tables/kept_rows.py",
        "return present & ~found if part.negated else found",
        "return ~found if part.negated else found",
        ("tests/where_test.py::test_one_record_moves_one_count_by_one_or_none",),
    ),
    Mutant(
        "where: nan is above all numbers",
        "engines/tables/kept_rows.py",
        "missing[column] = missing[column] | read.is_nan()",
        "pass",
        ("tests/where_test.py::test_the_same_rows_on_every_engine[duckdb]",),
    ),
    Mutant(
        "where: a time without a zone is one of UTC",
        "engines/tables/kept_rows.py",
        "return found if zone is None or moment.tzinfo else instant(found, read_zone(zone))",
        "return found",
        ("tests/where_test.py::test_the_same_rows_on_every_engine[polars]",),
    ),
    Mutant(
        "days are those of UTC, in memory",
        "engines/arrays/keyed_array.py",
        "if self._clock is None:",
        "if True:",
        ("tests/zones_test.py::test_days_and_bounds_are_those_of_the_zone[polars-Europe/Berlin]",),
    ),
    Mutant(
        "days are those of UTC, in queries",
        "engines/tables/clocks.py",
        "column = grid.clock.of_column(nw, column)",
        "pass",
        ("tests/zones_test.py::test_days_and_bounds_are_those_of_the_zone[duckdb-Europe/Berlin]",),
    ),
    Mutant(
        "an instant at the end of its type leaves the clock",
        "domain/zones.py",
        "moments = np.clip(moments, self.low, self.high)",
        "moments = moments + 0",
        ("tests/zones_test.py::test_a_clock_shows_what_python_says",),
    ),
    Mutant(
        "bounds without a zone are of UTC",
        "domain/grid.py",
        "low, high = (_first_instant(end, known) for end in (self.lower, self.upper))",
        "low, high = self.lower, self.upper",
        ("tests/zones_test.py::test_days_and_bounds_are_those_of_the_zone[polars-Europe/Berlin]",),
    ),
    Mutant(
        "sql: where an expression fails, the query does",
        "engines/query_text.py",
        'f"TRY({written})"',
        'f"({written})"',
        ("tests/query_test.py::test_a_record_changes_its_own_row_alone",),
    ),
    Mutant(
        "sql: sums depend on the order of rows",
        "engines/query_text.py",
        '_SUMMED = "TRY_CAST({} AS DECIMAL(26, 9))"',
        '_SUMMED = "TRY_CAST({} AS DOUBLE)"',
        ("tests/query_test.py::test_a_person_changes_their_own_row_alone",),
    ),
    Mutant(
        "sql: what is not known is let in",
        "engines/query_text.py",
        "if kind not in _ALLOWED or misplaced:",
        "if misplaced:",
        ("tests/query_test.py::test_what_could_mix_records_is_refused_before_anything_is_read",),
    ),
    Mutant(
        "sql: clauses are let in",
        "engines/query_text.py",
        "if part and name not in _CLAUSES:",
        "if False:",
        ("tests/query_test.py::test_what_could_mix_records_is_refused_before_anything_is_read",),
    ),
    Mutant(
        "sql: rows are brought together without people",
        "engines/tables/table.py",
        "if unit not in people:",
        "if False:",
        ("tests/query_test.py::test_sums_over_the_rows_of_a_person",),
    ),
    Mutant(
        "sql: a collation brings people together",
        "engines/query.py",
        """_LETTERS = '::VARCHAR COLLATE "C"'""",
        """_LETTERS = ''""",
        ("tests/query_test.py::test_a_collation_brings_no_two_people_together",),
    ),
    Mutant(
        "sql: a division by 0 stops PostgreSQL",
        "engines/tables/adapters/postgres_words.py",
        '"divide": _rounded("({0} / NULLIF({1}, 0))")',
        '"divide": _rounded("({0} / {1})")',
        (f"{SERVERS}[postgres]",),
    ),
    Mutant(
        "sql: a double that decimals become stops PostgreSQL",
        "engines/tables/adapters/postgres_words.py",
        'return _finite(f"trim_scale(round({value}, {_PLACES}))")',
        'return f"trim_scale(round({value}, {_PLACES}))"',
        (f"{SERVERS}[postgres]",),
    ),
    Mutant(
        "sql: a number near 0 stops PostgreSQL",
        "engines/tables/adapters/postgres_words.py",
        'return _finite(f"trim_scale(round({value}, {_PLACES}))")',
        "return _finite(value)",
        (f"{SERVERS}[postgres]",),
    ),
    Mutant(
        "sql: a whole number beyond 64 bits stops PostgreSQL",
        "engines/tables/adapters/postgres_words.py",
        "return _within(value, str(-(2**63) - 1), str(2**63))",
        "return value",
        (f"{SERVERS}[postgres]",),
    ),
    Mutant(
        "sql: a text that is no number stops PostgreSQL",
        "engines/tables/adapters/postgres_words.py",
        'f"CAST(substring({{0}} FROM {_DIGITS}) AS numeric)"',
        'f"CAST({{0}} AS numeric)"',
        (f"{SERVERS}[postgres]",),
    ),
    Mutant(
        "sql: a time at the end of all times stops PostgreSQL",
        "engines/tables/adapters/postgres_words.py",
        'return _within("{0}", *_YEARS[kind])',
        'return "{0}"',
        (f"{SERVERS}[postgres]",),
    ),
    Mutant(
        "sql: a pattern that ends in an escape stops PostgreSQL",
        "engines/tables/adapters/postgres_words.py",
        """"like": "({0} LIKE {1} ESCAPE '')",""",
        """"like": "({0} LIKE {1})",""",
        (f"{SERVERS}[postgres]",),
    ),
    Mutant(
        "sql: sums of PostgreSQL depend on the order of rows",
        "engines/tables/adapters/postgres_words.py",
        """"sum": f"CAST(sum({_within('round({0}, 9)', '-1e17', '1e17')}) AS float8)",""",
        """"sum": "sum(({0})::float8)",""",
        ("tests/server_query_test.py::test_sums_over_the_rows_of_a_person[postgres]",),
    ),
    Mutant(
        "sql: an overflow stops Spark",
        "engines/tables/adapters/spark_words.py",
        '"multiply integer": "try_multiply({0}, {1})"',
        '"multiply integer": "({0} * {1})"',
        (f"{SERVERS}[spark]",),
    ),
    Mutant(
        "sql: a type that one record can stop is handed over",
        "engines/tables/adapters/duckdb_input.py",
        'return unit in ("us", "ns")',
        "return True",
        ("tests/query_test.py::test_types_that_a_record_can_keep_from_duckdb_are_refused",),
    ),
    Mutant(
        "a cell of Excel is warned about",
        "engines/workbook.py",
        'warnings.simplefilter("ignore")',
        "pass",
        ("tests/workbook_test.py::test_an_odd_cell_changes_itself_alone",),
    ),
    Mutant(
        "where: a negation stops at OR",
        "engines/condition.py",
        'self._combined(self._both, "OR", negated, every=negated)',
        'self._combined(self._both, "OR", negated, every=False)',
        ("tests/where_test.py::test_what_a_condition_says",),
    ),
    Mutant(
        "a declared whole number is rounded",
        "engines/sql.py",
        'return f"CASE WHEN {whole} THEN TRY_CAST({text} AS BIGINT) END"',
        'return f"TRY_CAST({text} AS BIGINT)"',
        ("tests/text_file_test.py::test_a_field_is_what_is_declared_or_missing",),
    ),
    Mutant(
        "a field that does not fit its declared type is an error",
        "engines/sql.py",
        'f"THEN TRY_STRPTIME(',
        'f"THEN STRPTIME(',
        ("tests/text_file_test.py::test_dates_are_read_in_their_format_alone",),
    ),
    Mutant(
        "the step of a list depends on its records",
        "pipeline/run.py",
        "domain_for(records.integer, untyped)",
        "domain_for(all(type(r) is int for r in records.array), records.integer)",
        (f"{STEPS}::test_without_a_type_the_bounds_decide_and_no_record_does",),
    ),
    Mutant(
        "an average of whole numbers is whole",
        "domain/default_step.py",
        'if whole and rule != "average" and span >= 1',
        "if whole and span >= 1",
        (f"{STEPS}::test_whole_numbers",),
    ),
    Mutant(
        "a record moves an extreme twice",
        "statistics/quantile.py",
        "over += m * self._more",
        "over += m * self._more + upto",
        ("tests/extreme_test.py::test_one_record_moves_it_by_at_most_one",),
    ),
    Mutant(
        "an extreme is aimed at from epsilon of the whole release",
        "pipeline/recipe.py",
        "parts = tuple(_at(part, each * part.share) for part in parts)",
        "parts = tuple(_at(part, total) for part in parts)",
        ("tests/extreme_test.py::test_each_draw_aims_by_its_own_epsilon",),
    ),
    Mutant(
        "extremes are paid twice",
        "statistics/quantile_entries.py",
        "replace(part, share=Fraction(1, len(qs)))",
        "replace(part, share=Fraction(2, len(qs)))",
        ("tests/extreme_test.py::test_what_is_paid_and_said",),
    ),
    Mutant(
        "digits of a column are rounded down",
        "domain/digit_steps.py",
        "/ units + 0.5).floor() + offsets",
        "/ units).floor() + offsets",
        (f"{DIGITS}::test_columns_are_snapped_as_arrays_are",),
    ),
    Mutant(
        "digits of an array lose their sign",
        "domain/digit_steps.py",
        "np.copysign(magnitude, keys, out=magnitude)",
        "np.abs(magnitude, out=magnitude)",
        (f"{DIGITS}::test_a_number_goes_to_the_nearest_candidate",),
    ),
    Mutant(
        "a mean takes digits",
        "statistics/entry.py",
        "uneven: bool = False",
        "uneven: bool = True",
        (f"{DIGITS}::test_what_needs_lengths_refuses_digits_before_data_are_read",),
    ),
    Mutant(
        "duff ignores contributions",
        "pipeline/recipe.py",
        MADE,
        MADE.replace("unit.rows", '(1 if choice == "duff" else unit.rows)'),
        (SHARES,),
    ),
    Mutant(
        "quantiles ignore contributions",
        "pipeline/recipe.py",
        MADE,
        MADE.replace("unit.rows", '(1 if known.name == "quantiles" else unit.rows)'),
        (QUANTILES,),
    ),
    Mutant(
        "all mechanisms ignore contributions",
        "pipeline/recipe.py",
        MADE,
        MADE.replace(" / unit.rows", ""),
        (ONE_PERSON,),
    ),
    Mutant(
        "each of several quantiles gets the whole epsilon",
        "statistics/quantile_entries.py",
        "share = Fraction(1, len(qs))",
        "share = Fraction(1)",
        (QUANTILES,),
    ),
    Mutant(
        "the quantiles of a summary get the whole epsilon",
        "statistics/summary.py",
        "tuple(SUMMARY), 1 - MEAN_SHARE)",
        "tuple(SUMMARY), Fraction(1))",
        (f"{SHARES}[describe()-rows]",),
    ),
    Mutant(
        "spread: noise for half of what a record adds",
        "statistics/moments.py",
        "return self.levels(domain).top ** 2",
        "return self.levels(domain).top ** 2 // 2",
        (PATHS,),
    ),
    Mutant(
        "spread: the interval at twice the rate",
        "statistics/enclosure.py",
        "rate: ClassVar[Fraction] = Fraction(1)",
        "rate: ClassVar[Fraction] = Fraction(2)",
        (PATHS,),
    ),
    Mutant(
        "spread: more shares than there are",
        "statistics/moments.py",
        "Fraction(1, 12), Fraction(1, 4), Fraction(1, 24), Fraction(5, 8)",
        "Fraction(1, 12), Fraction(1, 4), Fraction(1, 24), Fraction(6, 8)",
        (f"{SHARES}[variance(mechanism=best)-rows]",),
    ),
    Mutant(
        "spread: noise for squares as far as the nearer end",
        "statistics/moments.py",
        "return max(level, levels.top - level)",
        "return max(1, min(level, levels.top - level))",
        (PATHS,),
    ),
    Mutant(
        "spread: the centre of squares is not that of their noise",
        "statistics/moments.py",
        "centre = levels.of(self.centre)",
        "centre = levels.of(self.ends[0])",
        (PATHS,),
    ),
    Mutant(
        "three numbers with a staircase of two",
        "sampling/staircase.py",
        "if sum(map(abs, point)) < radius:",
        "if sum(map(abs, point[:2])) < radius:",
        (f"{STAIRS}::test_draws_follow_the_law",),
    ),
    Mutant(
        "balls of three numbers are chosen like those of two",
        "sampling/staircase.py",
        "return (2 * radius - 1) * (2 * radius * (radius - 1) + 3) // 3",
        "return 2 * radius * (radius - 1) + 1",
        (f"{STAIRS}::test_all_points_of_a_ball_of_three_numbers_are_alike",),
    ),
    Mutant(
        "spread: levels are not clamped in doubles",
        "engines/arrays/column.py",
        "np.clip(level, levels.low, levels.high, out=level)",
        "np.clip(level, levels.low, None, out=level)",
        (PATHS,),
    ),
    Mutant(
        "spread: levels are not clamped in tables",
        "engines/tables/level_sums.py",
        "nw.when(nw.col(index) > high).then(high)",
        "nw.when(nw.col(index) > high).then(nw.col(index))",
        (LEVEL_SUMS,),
    ),
    Mutant(
        "spread: an interval counts records more than once",
        "statistics/enclosure.py",
        "unit: ClassVar[Fraction] = Fraction(1, FINENESS)",
        "unit: ClassVar[Fraction] = Fraction(2, FINENESS)",
        (PATHS, f"{ENCLOSURE}::test_an_interval_costs_its_epsilon"),
    ),
    Mutant(
        "spread: intervals that need no look are too many",
        "statistics/enclosure.py",
        "parts * (apart - 2) > cells * top",
        "parts * (apart + 2) > cells * top",
        (SCORES,),
    ),
    Mutant(
        "spread: few records are enclosed by chance",
        "statistics/enclosure.py",
        "MARGIN, TRUSTED = 3, 0.7",
        "MARGIN, TRUSTED = 0, 1.2",
        (f"{ENCLOSURE}::test_records_all_over_the_range_keep_it",),
    ),
    Mutant(
        "spread: records outside are counted on one side",
        "statistics/enclosure.py",
        "outside += above[",
        "outside += 0 * above[",
        (SCORES,),
    ),
    Mutant(
        "spread: an iqr at the full rate",
        "statistics/iqr.py",
        "rate = Fraction(1, 2)",
        "rate = Fraction(1)",
        (ONE_DRAW,),
    ),
    Mutant(
        "spread: a variance at the full rate",
        "statistics/variance.py",
        "rate = Fraction(1, 2)",
        "rate = Fraction(1)",
        (ONE_DRAW,),
    ),
    Mutant(
        "spread: the widest iqr is one rank short",
        "statistics/iqr.py",
        "(n + k + 1) // 2",
        "(n + k) // 2",
        (IQR,),
    ),
    Mutant(
        "spread: the narrowest iqr ignores ranks above",
        "statistics/iqr.py",
        "_up(n + 3 * k))",
        "_up(n + k))",
        (IQR,),
    ),
    Mutant(
        "spread: the lowest variance is not divided by what joins",
        "statistics/variance.py",
        "left * (self.records + k))",
        "left * (self.records - k))",
        (ONE_MORE, VARIANCE),
    ),
    Mutant(
        "spread: the highest variance without removals",
        "statistics/variance.py",
        "(n + i) * (n + 2 * i - k)",
        "(n + i) * (n + i)",
        (VARIANCE,),
    ),
    Mutant(
        "graphs are drawn before they are charged",
        "pipeline/run.py",
        CHARGES,
        "    [draw(p.recipe, p.data.sources(p.entropy), p.data.domain, p.entropy)\n"
        f"     for p in prepared if p.recipe.entry.of_graphs]\n{CHARGES}",
        (f"{ORDER}[triangles(nodes=4, mechanism=best)]",),
    ),
    Mutant(
        "graphs are read before they are charged",
        "pipeline/run.py",
        "table = Edges(data, checked.domain)",
        "table = Edges(list(data), checked.domain)",
        (f"{ORDER}[triangles(nodes=4, mechanism=best)]",),
    ),
    Mutant(
        "a ledger accepts seeded graphs",
        "pipeline/run.py",
        "secure=source.secure,",
        "secure=source.secure or checked.recipe.entry.of_graphs,",
        (f"{REFUSED}[triangles(nodes=4, mechanism=best)]",),
    ),
    Mutant(
        "a ledger accepts seeds",
        "ledger/ledger.py",
        "if not self.allow_seeded and",
        "if self.allow_seeded and",
        (REFUSED,),
    ),
    Mutant(
        "numpy's generator in the place of the operating system",
        "sampling/entropy.py",
        "        return SYSTEM\n",
        "        source = SeededEntropy(np.random.default_rng())\n"
        "        source.secure = True\n        return source\n",
        (BYTES,),
    ),
    Mutant(
        "bytes of Python's generator",
        "sampling/entropy.py",
        "found = os.urandom(size)",
        "found = os.urandom(0) or __import__('random').randbytes(size)",
        (BITS,),
    ),
    Mutant(
        "a joint law that is a tenth too steep",
        "mechanisms/joint/proposal.py",
        "self._log_top + self._epsilon / 2 * score",
        "self._log_top + self._epsilon * 11 / 20 * score",
        (QUANTILES,),
    ),
    Mutant(
        "many quantiles at the true number of records",
        "mechanisms/joint/proposal.py",
        "Fraction(profile.records)",
        "Fraction(profile.total)",
        (f"{DRAFTS}::test_all_drafts_with_a_size_that_is_known",),
    ),
    Mutant(
        "many quantiles at the true number of records, by their count",
        "statistics/quantiles.py",
        "known = self.qs, self.records, size",
        "known = self.qs, near[0].total, size",
        (f"{DRAFTS}::test_all_drafts_with_a_size_that_is_known",),
    ),
    Mutant(
        "a run that lies in two blocks counts twice",
        "mechanisms/joint/proposal.py",
        "factors += [Fraction(1, math.factorial(many)) for many in shared.values()]",
        "factors += [Fraction(1, 1) for many in shared.values()]",
        (f"{DRAFTS}::test_windows_that_leave_out_much_of_the_law",),
    ),
    Mutant(
        "a block counts as often as places lie in it",
        "mechanisms/joint/proposal.py",
        "factors.append(Fraction(1, math.factorial(len(found))))",
        "factors.append(Fraction(1, max(len(found), 1)))",
        (f"{DRAFTS}::test_places_that_share_a_run",),
    ),
    Mutant(
        "far sizes are twice as likely",
        "mechanisms/joint/rare_places.py",
        "2 ** (steps + 2)",
        "2 ** (steps + 3)",
        (f"{DRAFTS}::test_sizes_that_leave_out_much_of_the_law",),
    ),
    Mutant(
        "a place outside a window is proposed twice as often as it is said to be",
        "mechanisms/joint/proposal.py",
        "return place, Fraction(high - low, 1 << FINEST)",
        "return place, Fraction(high - low, 2 << FINEST)",
        (f"{DRAFTS}::test_windows_that_leave_out_much_of_the_law",),
    ),
    Mutant(
        "a joint law of many groups that is a tenth too steep, in doubles",
        "mechanisms/joint/group_drafts.py",
        "-np.abs(np.diff(ends)).sum(axis=1)",
        "-1.1 * np.abs(np.diff(ends)).sum(axis=1)",
        (f"{SIDE_BY_SIDE}::test_doubles_are_as_close_to_the_exact_chance_as_they_say",),
    ),
    Mutant(
        "a joint law of many groups that is a tenth too steep, in exact numbers",
        "mechanisms/joint/group_drafts.py",
        "law.epsilon / 2 * score",
        "law.epsilon * 11 / 20 * score",
        (f"{SIDE_BY_SIDE}::test_all_drafts_together_are_the_law",),
    ),
    Mutant(
        "places of many groups at one candidate count in every order",
        "mechanisms/joint/group_drafts.py",
        "Factor(np.ones_like(orders), orders)",
        "Factor(orders, orders)",
        (f"{SIDE_BY_SIDE}::test_all_drafts_together_are_the_law",),
    ),
    Mutant(
        "places of many groups need not be in order",
        "mechanisms/joint/group_drafts.py",
        "ordered: Bools = rising.all(axis=1)",
        "ordered: Bools = rising.any(axis=1)",
        (f"{SIDE_BY_SIDE}::test_draws_follow_the_law",),
    ),
    Mutant(
        "a place outside a window of many groups is proposed twice as often as it is said to be",
        "mechanisms/joint/group_drafts.py",
        "density = Fraction(high - low, 1 << FINEST)",
        "density = Fraction(high - low, 2 << FINEST)",
        (f"{SIDE_BY_SIDE}::test_windows_that_leave_out_much_of_the_law",),
    ),
    Mutant(
        "far sizes of many groups are twice as likely",
        "mechanisms/joint/group_drafts.py",
        "ratio *= 2 ** int(law.beyond_bits[group]) - 1",
        "ratio *= 2 * (2 ** int(law.beyond_bits[group]) - 1)",
        (f"{SIDE_BY_SIDE}::test_sizes_that_leave_out_much_of_the_law",),
    ),
    Mutant(
        "words favour small numbers in draws of many groups",
        "sampling/entropy.py",
        "np.flatnonzero(words > LARGEST - favoured)",
        "np.flatnonzero(words > LARGEST)",
        (f"{SIDE_BY_SIDE}::test_words_favour_no_number",),
    ),
    Mutant(
        "several drafts at once: groups take those of others",
        "mechanisms/joint/joint.py",
        "np.arange(len(waiting)) * each + first",
        "np.arange(len(waiting)) + first",
        (f"{SIDE_BY_SIDE}::test_draws_follow_the_law",),
    ),
    Mutant(
        "what doubles leave open is accepted",
        "mechanisms/joint/group_drafts.py",
        "(high <= chance - slack)",
        "(high <= chance + slack)",
        (f"{SIDE_BY_SIDE}::test_what_doubles_leave_open_is_decided_exactly",),
    ),
    Mutant(
        "a mode by classes that forgets candidates without a record",
        "engines/tables/count_classes.py",
        "none = self.lazy.domain.size - int(many.sum())",
        "none = 0 * int(many.sum())",
        (f"{CLASSES}::test_the_whole_step_function_has_the_same_runs",),
    ),
    Mutant(
        "a mode by classes that is off by one position",
        "statistics/mode.py",
        "int(records[at]), position - int(upto[at] - many[at])",
        "int(records[at]), position - int(upto[at] - many[at]) - (at > 1)",
        (f"{CLASSES}::test_positions_are_the_candidates_by_their_records",),
    ),
    Mutant(
        "a mode by classes at the first candidate without a record",
        "engines/tables/count_classes.py",
        'np.searchsorted(before, member.position, side="right")',
        'np.searchsorted(before, member.position, side="left")',
        (f"{CLASSES}::test_positions_are_the_candidates_by_their_records",),
    ),
    Mutant(
        "races that are a tenth too steep",
        "mechanisms/mechanism.py",
        "c, noise = self.coefficient(batch), self.noise(batch.rate)",
        "c, noise = self.coefficient(batch) * 11 / 10, self.noise(batch.rate)",
        (SHARES,),
    ),
    Mutant(
        "a coefficient without the rate of the statistic",
        "mechanisms/mechanism.py",
        "return steps.rate * steps.unit * self._epsilon",
        "return steps.unit * self._epsilon",
        (ONE_ROW,),
    ),
    Mutant(
        "a lattice with strides a tenth too long",
        "mechanisms/mechanism.py",
        "period=self._epsilon, slope=rate",
        "period=self._epsilon * 11 / 10, slope=rate",
        (f"{ONE_ROW}[median(mechanism=best) on few candidates-list]",),
    ),
    Mutant(
        "a lattice whose law has strides a tenth too long",
        "mechanisms/lattice.py",
        "p = np.exp(-epsilon * self.strides)",
        "p = np.exp(-1.1 * epsilon * self.strides)",
        ("tests/lattice_test.py::test_the_law_by_integration",),
    ),
    Mutant(
        "a lattice for distances that are no whole numbers",
        "mechanisms/mechanism.py",
        "if self.on_lattice and (steps.unit != 1 or steps.rate.numerator != 1):",
        "if self.on_lattice and steps.rate.numerator != 1:",
        ("tests/lattice_test.py::test_what_is_no_lattice_is_refused",),
    ),
    Mutant(
        "a first pass of the race that bends the noise too little",
        "sampling/race.py",
        "np.multiply(rest, lost, out=rest)",
        "np.multiply(rest, 0.9 * lost, out=rest)",
        ("tests/race_test.py::test_bounds_of_the_first_pass_hold",),
    ),
    Mutant(
        "an upper bound that forgets a whole period",
        "sampling/race.py",
        "high = high + lost * period",
        "high = high + 0 * period",
        ("tests/race_test.py::test_bounds_of_the_first_pass_hold",),
    ),
    Mutant(
        "a word of zeros is overlooked but in the first run",
        "sampling/race.py",
        "known.item(known.argmin())",
        "known.item(0)",
        ("tests/race_test.py::test_bounds_of_the_first_pass_hold",),
    ),
    Mutant(
        "candidates of a tail come as if none had been met before",
        "sampling/race.py",
        "times.add(LazyUniform.begin(entropy), tail.count - many)",
        "times.add(LazyUniform.begin(entropy), tail.count)",
        ("tests/race_test.py::test_every_window_gives_the_same_law",),
    ),
    Mutant(
        "the time of a candidate of a tail forgets those before it",
        "sampling/race.py",
        "before = sums[-1] if sums else Decimal(0)",
        "before = Decimal(0)",
        ("tests/race_test.py::test_times_of_a_tail_are_summed_once_each",),
    ),
    Mutant(
        "an upper bound that forgets what bits not yet drawn can do",
        "sampling/race.py",
        "2.0**16 / (units + 2.0**-990)",
        "2.0**-16 / (units + 2.0**-990)",
        ("tests/race_test.py::test_bounds_of_the_first_pass_hold",),
    ),
    Mutant(
        "a uniform of the first pass may be 1",
        "sampling/race.py",
        "-(1 - 2.0**-51)",
        "-1.0",
        ("tests/race_test.py::test_bounds_of_the_first_pass_hold",),
    ),
    Mutant(
        "one record more of each side is taken for one that is tied",
        "engines/arrays/ranks.py",
        "near.item(begin - least - 1) == first",
        "near.item(begin - least - 1) < first",
        ("tests/ranks_test.py",),
    ),
    Mutant(
        "a sample of a small array is believed where it misses",
        "engines/arrays/ranks.py",
        "covers = outside <= low and high < outside + len(found)",
        "covers = True",
        ("tests/ranks_test.py",),
    ),
    Mutant(
        "a window of one column that keeps runs without candidates",
        "statistics/quantile.py",
        "lead = 0 if count.item(1) else 1",
        "lead = 1",
        ("tests/window_test.py",),
    ),
    Mutant(
        "a window of ranks ends with the records that are tied",
        "statistics/quantile.py",
        "if cut and batch.distance[0] < batch.distance[1:].min():",
        "if cut and batch.distance[0] < 0:",
        ("tests/window_test.py::test_a_window_of_ranks_reaches_past_tied_records",),
    ),
    Mutant(
        "what was asked for with numbers of another type is taken for the same",
        "pipeline/ask.py",
        "alike = isinstance(other, _Typed) and list(map(type, self)) == list(map(type, other))",
        "alike = isinstance(other, _Typed)",
        ("tests/bins_test.py::test_edges_are_those_of_this_call",),
    ),
    Mutant(
        "a number that equals one of an earlier call is taken for it, whatever its type",
        "pipeline/ask.py",
        "_Typed((name, _hashable(value)))",
        "(name, _hashable(value))",
        ("tests/bins_test.py::test_one_number_is_that_of_this_call",),
    ),
    Mutant(
        "refined bits that forget the lattice",
        "sampling/race.py",
        "c * self.distance - noise.bent(-bound)",
        "c * self.distance + bound",
        ("tests/lattice_test.py::test_few_bits_keep_the_law",),
    ),
    Mutant(
        "a lattice is called Laplace noise",
        "mechanisms/lattice.py",
        'loss_family = "geometric"',
        'loss_family = "laplace"',
        (f"{DOMINATING}::test_a_lattice_is_geometric_noise_in_as_many_steps_as_rows",),
    ),
    Mutant(
        "a distance bound that puts all candidates on one lattice",
        "mechanisms/distance_bound.py",
        "if strides * period == nats:",
        "if True:",
        ("tests/distance_bound_test.py::test_no_smaller_number_holds",),
    ),
    Mutant(
        "permute-and-flip is called bounded",
        "mechanisms/permute_and_flip.py",
        'loss_family = "laplace"',
        'loss_family = "bounded-range"',
        (FAMILIES,),
    ),
    Mutant(
        "geometric noise is called Laplace noise",
        "mechanisms/geometric.py",
        'ClassVar[LossFamily] = "geometric"',
        'ClassVar[LossFamily] = "laplace"',
        (FAMILIES,),
    ),
    Mutant(
        "joint quantiles are called pure",
        "mechanisms/joint/joint.py",
        'ClassVar[LossFamily] = "bounded-range"',
        'ClassVar[LossFamily] = "pure"',
        ("tests/composition_test.py::test_the_family_is_written_down_by_every_verb",),
    ),
    Mutant(
        "a release is called bounded for one of its parts",
        "pipeline/recipe.py",
        "draws[made.loss_family, part.share] += 1",
        "draws[drawing[-1][1].loss_family, part.share] += 1",
        (FAMILIES,),
    ),
    Mutant(
        "a count of rows is called one of people with several",
        "pipeline/recipe.py",
        "many, rows)\n        for (family",
        "many, rows + 1)\n        for (family",
        (FAMILIES,),
    ),
    Mutant(
        "draws of a part that cost a share of what they do",
        "pipeline/recipe.py",
        "share * many * total, many, rows",
        "share * many * total, 2 * many, rows",
        (FAMILIES,),
    ),
    Mutant(
        "epsilon that is passed on is accounted where it was not spent",
        "pipeline/recipe.py",
        'if passed_on and hasattr(part.statistic, "given"):',
        "if False:",
        (PASSED_ON,),
    ),
    Mutant(
        "an interval does not say that it passes epsilon on",
        "statistics/enclosure.py",
        "passes_on: ClassVar[bool] = True",
        "passes_on: ClassVar[bool] = False",
        (PASSED_ON,),
    ),
    Mutant(
        "a bounded range is counted at a sixteenth",
        "ledger/composition.py",
        '(8 if family == "bounded-range" else 2)',
        '(16 if family == "bounded-range" else 2)',
        ("tests/composition_test.py::test_an_adversary_who_chooses_by_what_came_out",),
    ),
    Mutant(
        "Laplace noise is counted at twice its scale",
        "ledger/composition.py",
        "dp_event.LaplaceDpEvent(1 / epsilon)",
        "dp_event.LaplaceDpEvent(2 / epsilon)",
        ("tests/composition_test.py",),
    ),
    Mutant(
        "anything pure is counted at an eighth",
        "ledger/composition.py",
        '(8 if family == "bounded-range" else 2)',
        "8",
        ("tests/composition_test.py::test_what_is_known_comes_from_the_stored_loss",),
    ),
    Mutant(
        "a bounded range is used where there is a delta",
        "ledger/composition.py",
        "    if loss.delta:\n",
        "    if loss.delta and not loss.parts:\n",
        ("tests/composition_test.py::test_of_a_release_with_a_delta_nothing_else_is_used",),
    ),
    Mutant(
        "draws of one part count once",
        "ledger/composition.py",
        "draws[draw] += times * many",
        "draws[draw] += times",
        ("tests/composition_test.py::test_parts_compose_one_by_one",),
    ),
    Mutant(
        "a grid of losses that ends before epsilon",
        "ledger/composition.py",
        "places = math.ceil(epsilon / gap)",
        "places = math.ceil(epsilon / gap * 0.9)",
        ("tests/composition_test.py",),
    ),
    Mutant(
        "logistic noise that tells less",
        "ledger/dominating_pairs.py",
        "np.expm1((at - epsilon) / 2) ** 2 / -np.expm1(-epsilon)",
        "np.expm1((at - epsilon) / 2) ** 2",
        (f"{DOMINATING}::test_laplace_and_logistic_noise_by_integration",),
    ),
    Mutant(
        "geometric noise on one step too many",
        "ledger/dominating_pairs.py",
        "steps = contributions if",
        "steps = contributions + 1 if",
        (f"{DOMINATING}::test_geometric_noise_by_enumeration",),
    ),
    Mutant(
        "what is only pure is taken for geometric noise for many rows",
        "ledger/dominating_pairs.py",
        'contributions if family == "geometric" else 1',
        "contributions",
        (DOMINATING,),
    ),
    Mutant(
        "earlier charges are all called bounded",
        "privacy.py",
        'given.get("bounded_range") is True',
        '"bounded_range" in given',
        ("tests/facts_test.py::test_losses_of_earlier_releases_are_read",),
    ),
    Mutant(
        "a lower room imports a verb through the package",
        "statistics/mean.py",
        "MOST_LEVELS = 2**15",
        "if __name__ == '':\n    from duffdp import release as release\nMOST_LEVELS = 2**15",
        ("tests/architecture_test.py::test_imports_go_one_way",),
    ),
    Mutant(
        "data are read before the parameters of quantiles are checked",
        "pipeline/run.py",
        "        checked = ask.check()\n",
        '        len(data) if ask.statistic == "quantiles" else 0\n        checked = ask.check()\n',
        (CHECKS,),
    ),
    Mutant(
        "a charge that is not synced",
        "ledger/journal.py",
        "PRAGMA synchronous = EXTRA",
        "PRAGMA synchronous = OFF",
        ("tests/journal_test.py::test_every_commit_is_durable",),
    ),
    Mutant(
        "piecewise Laplace noise at 11/12 of epsilon",
        "mechanisms/piecewise_laplace.py",
        "Fraction(SHARE - 2, SHARE)",
        "Fraction(SHARE - 1, SHARE)",
        (GRAPH_SHARES,),
    ),
    Mutant(
        "rungs that grow twice as fast as is paid for",
        "mechanisms/piecewise_laplace.py",
        "growth = 1 + self._epsilon / SHARE",
        "growth = 1 + 2 * self._epsilon / SHARE",
        ("tests/piecewise_laplace_test.py::test_smoothed_rungs_keep_the_three_promises",),
    ),
    Mutant(
        "a ladder that is one too low",
        "statistics/triangles.py",
        "np.minimum(t + a, (t + s) // 2)",
        "np.minimum(t + a, (t + s) // 2 - (t > 0))",
        ("tests/triangles_test.py::test_sensitivities_are_exact_where_any_number_may_be_a_node",),
    ),
    Mutant(
        "a count with noise for twice the epsilon",
        "mechanisms/geometric.py",
        "two_sided_geometrics(scaled, ",
        "two_sided_geometrics(2 * scaled, ",
        (SHARES,),
    ),
    Mutant(
        "a count without noise",
        "pipeline/draw.py",
        "noisy = mechanism.release(exact, sensitivity, entropy)",
        "noisy = exact",
        (SHARES,),
    ),
    Mutant(
        "an order without noise",
        "mechanisms/ranking.py",
        "self.release(groups, sensitivity, source)",
        "groups",
        (f"{SHARES}[top(k=2)-rows]",),
    ),
    Mutant(
        "an order that costs nothing",
        "statistics/cell_entries.py",
        'Part(Top(given["k"]), "noisy-ranking", columns)',
        'Part(Top(given["k"]), "noisy-ranking", columns, 2)',
        (f"{SHARES}[top(k=2)-rows]",),
    ),
    Mutant(
        "ties in the order of the list",
        "mechanisms/ranking.py",
        "other = place + source.below(end - place)",
        "other = place",
        ("tests/ranking_test.py::test_ties_are_fair",),
    ),
    Mutant(
        "zero twice as likely as it should be",
        "sampling/geometric.py",
        "kept = ~negative | (sizes != 0).astype(bool)",
        "kept = ~negative | (sizes == sizes).astype(bool)",
        ("tests/geometric_test.py::test_draws_follow_the_law",),
    ),
    Mutant(
        "doubles that are trusted too far",
        "sampling/geometric.py",
        "slack = (known * 2.0**-51 + 4) / rest + time * SLACK",
        "slack = time * 0",
        ("tests/geometric_test.py::test_bounds_hold_the_exact_number",),
    ),
    Mutant(
        "signs that are all alike",
        "sampling/geometric.py",
        "negative = coins(len(left), source)",
        "negative = coins(len(left), source) & False",
        ("tests/geometric_test.py::test_draws_follow_the_law",),
    ),
    Mutant(
        "a record in two cells of a share",
        "domain/membership.py",
        "return -1 if place is None else INSIDE if place >= 0 else OUTSIDE",
        "return -1 if place is None else INSIDE",
        ("tests/bins_test.py::test_a_record_is_inside_outside_or_missing",),
    ),
    Mutant(
        "an edge that is in the bin before it",
        "domain/thresholds.py",
        "reached = column >= met[middle]",
        "reached = column > met[middle]",
        ("tests/bins_test.py::test_all_ways_agree_with_the_definition",),
    ),
    Mutant(
        "bins of one width by arithmetic alone",
        "domain/thresholds.py",
        "found += keys >= self.around[found + 1]",
        "pass",
        ("tests/bins_test.py",),
    ),
    Mutant(
        "missing records that make up a share, in memory",
        "engines/tables/memory.py",
        "outside = np.where(self._missing(), -1, OUTSIDE)",
        "outside = OUTSIDE",
        ("tests/cells_test.py::test_every_engine_counts_alike",),
    ),
    Mutant(
        "rows without a value that do not count",
        "engines/tables/lazy_rows.py",
        "(PERSON,) if self._candidates.of_rows else (VALUE, OTHER, PERSON)",
        "(VALUE, OTHER, PERSON)",
        ("tests/cells_test.py::test_rows_without_a_value_count",),
    ),
    Mutant(
        "counts that add up to the exact sum of what is positive",
        "statistics/cell_entries.py",
        "total = max(0, sum(numbers))",
        "total = sum(max(0, number) for number in numbers)",
        ("tests/cells_test.py::test_counts_that_add_up_are_the_nearest_ones",),
    ),
    Mutant(
        "the smaller one of two draws",
        "pipeline/draw.py",
        DRAWN,
        "pairs = zip(*(mechanism.release(batch, source) for _ in range(2)), strict=True)\n"
        "        found = list(map(min, pairs))",
        (SHARES,),
    ),
    Mutant(
        "a mode at twice its rate",
        "statistics/registry.py",
        'Mode(1), "permute-and-flip"',
        'Mode(2), "permute-and-flip"',
        (ONE_CATEGORY,),
    ),
    Mutant(
        "the paper's mode at four times its rate",
        "statistics/registry.py",
        "Mode(Fraction(1, 2))",
        "Mode(2)",
        (f"{ONE_ROW}[mode(mechanism=duff)-list]",),
    ),
    Mutant(
        "facts that say less than is spent",
        "pipeline/recipe.py",
        "MechanismPart(name, utility, sum(",
        "MechanismPart(name, utility, Fraction(1, 2) * sum(",
        (SHARES,),
    ),
    Mutant(
        "groups of a person: what several groups cost is forgotten",
        "privacy.py",
        "return self.contributions * (self.groups_per_person or 1)",
        "return self.contributions",
        (f"{SEVERAL_GROUPS}::test_one_person_in_several_groups_through_the_verb",),
    ),
    Mutant(
        "groups of a person: one more than was said, in memory",
        "engines/tables/people.py",
        "choose_rows(found // many, cap.groups, source)",
        "choose_rows(found // many, cap.groups + 1, source)",
        (f"{SEVERAL_GROUPS}::test_one_person_in_several_groups_through_the_verb",),
    ),
    Mutant(
        "groups of a person: rows are not capped in each, in memory",
        "engines/tables/people.py",
        "rows = choose_rows(membership, cap.rows, source)",
        "rows = choose_rows(membership, cap.rows + 1, source)",
        (f"{SEVERAL_GROUPS}::test_one_person_in_several_groups_through_the_verb",),
    ),
    Mutant(
        "columns of a replaced file are taken by their places",
        "engines/files.py",
        'chosen = relation.project(", ".join(map(quote_name, alike)))',
        "chosen = relation",
        (f"{REPLACED}[parquet-unit1]",),
    ),
    Mutant(
        "a first line that changed is not looked at again",
        "engines/delimited.py",
        "read_layout(path) != layout",
        "False",
        (f"{REPLACED}[csv-unit1]",),
    ),
    Mutant(
        "one more row of a person counts in DuckDB",
        "engines/tables/adapters/duckdb_relation.py",
        'filter(f"{PLACE} <= {most}")',
        'filter(f"{PLACE} <= {most} + 1")',
        ("tests/people_test.py::test_one_of_two_rows[duckdb-numbers]",),
    ),
    Mutant(
        "which rows of a person count is no draw in DuckDB",
        "engines/tables/adapters/duckdb_relation.py",
        'row = f"hash(hash({COPY}, ({keys[1]})::BIGINT))"',
        'row = f"hash(hash({PERSON}, ({keys[1]})::BIGINT))"',
        ("tests/people_test.py::test_rows_alike_count_as_often_as_there_are[duckdb]",),
    ),
    Mutant(
        "rows of a person up to the one that counts in Spark",
        "engines/tables/adapters/spark_frame.py",
        "f.col(PLACE) == chosen + 1",
        "f.col(PLACE) <= chosen + 1",
        ("tests/people_test.py::test_one_of_two_rows[spark-numbers]",),
    ),
    Mutant(
        "the same row of a person in every release in Spark",
        "engines/tables/adapters/spark_frame.py",
        "chosen = f.pmod(f.xxhash64(f.lit(keys[0]), PERSON, *within, f.lit(keys[1])), COUNT)",
        "chosen = f.pmod(f.xxhash64(PERSON, *within), COUNT)",
        (f"{PEOPLE}[spark]",),
    ),
    Mutant(
        "one more of several rows of a person counts in Spark",
        "engines/tables/adapters/spark_frame.py",
        "native.where(f.col(COUNT) <= most)",
        "native.where(f.col(COUNT) <= most + 1)",
        ("tests/people_test.py::test_every_set_of_rows_is_as_likely[spark]",),
    ),
    Mutant(
        "rows of people stay in the connection of the caller",
        "engines/tables/table.py",
        "self.close = self.adapter.drop",
        "self.close = None",
        (f"{CALLER}::test_nothing_is_left_behind_in_a_connection",),
    ),
    Mutant(
        "shared passes: rows of people stay in the connection of the caller",
        "engines/tables/together.py",
        "self._end = path.close or adapter.drop",
        "self._end = path.close",
        (f"{CALLER}::test_nothing_is_left_behind_in_a_connection",),
    ),
    Mutant(
        "two threads call their rows by one name",
        "engines/tables/adapters/duckdb_relation.py",
        'name = f"duffdp rows {next(_NUMBERS)}"',
        'name = "duffdp rows"',
        (f"{CALLER}::test_releases_of_one_connection_have_no_name_in_common",),
    ),
    Mutant(
        "what a lazy query runs into is quoted",
        "engines/tables/table.py",
        "(self._eager and not is_of_library(error))",
        "not is_of_library(error)",
        (f"{CALLER}::test_a_function_of_the_caller_that_fails_in_a_query_is_not_quoted[p]",),
    ),
    Mutant(
        "blocks of a file are taken for those of another one",
        "engines/files.py",
        '"enable_external_file_cache": False',
        '"enable_external_file_cache": True',
        (REPLACED_SOON,),
    ),
    Mutant(
        "a call id belongs to all tables of a server",
        "engines/source_name.py",
        "repr((server, schema, table))",
        "server",
        ("tests/addresses_test.py::test_a_call_id_belongs_to_one_table",),
    ),
    Mutant(
        "shared passes: days of a file of text are read as numbers",
        "engines/tables/table.py",
        "most, where, self.read_as",
        "most, where",
        ("tests/passes_test.py::test_files_of_text_are_read_once_for_each_kind_of_values[csv]",),
    ),
    Mutant(
        "shared passes: a condition about text is one about values",
        "engines/tables/table.py",
        "self.selection.values[0] not in asked",
        "True",
        ("tests/passes_test.py::test_files_of_text_are_read_once_for_each_kind_of_values[csv]",),
    ),
    Mutant(
        "shared passes: one more row of a person counts",
        "engines/tables/adapters/duckdb_relation.py",
        "CASE WHEN count({n}) {own} <= {most} THEN",
        "CASE WHEN count({n}) {own} <= {most} + 1 THEN",
        ("tests/passes_test.py::test_a_person_who_leaves_takes_their_rows_and_moves_nobody_elses",),
    ),
    Mutant(
        "shared passes: the rows of a person that count are the same for all values alike",
        "engines/tables/adapters/polars_lazy.py",
        "copies = polars.int_ranges(0, polars.col(COPY)).alias(COPY)",
        "copies = (polars.int_ranges(0, polars.col(COPY)) * 0).alias(COPY)",
        (
            "tests/passes_test.py::"
            "test_the_rows_of_a_person_that_count_are_a_fair_choice_for_each_column[polars-lazy]",
        ),
    ),
    Mutant(
        "shared passes: what is missing counts",
        "engines/tables/lazy_rows.py",
        "index = nw.when(known).then(nw.col(self.index))",
        "index = nw.when(known).then(nw.col(self.index)).otherwise(nw.lit(0, nw.Int64))",
        ("tests/passes_test.py::test_each_column_answers_as_it_does_alone",),
    ),
    Mutant(
        "shared passes: tables of different conditions are read together",
        "engines/tables/table.py",
        "return path, place, by, keys, unit, most, where",
        "return path, place, by, keys, unit, most",
        ("tests/passes_test.py::test_only_tables_of_the_same_rows_are_read_together",),
    ),
    Mutant(
        "shared passes: tables of different contributions are read together",
        "engines/tables/table.py",
        "return path, place, by, keys, unit, most, where",
        "return path, place, by, keys, unit, where",
        ("tests/passes_test.py::test_only_tables_of_the_same_rows_are_read_together",),
    ),
    Mutant(
        "groups of a person: one more than was said, in lazy tables",
        "engines/tables/lazy_rows.py",
        "self.engine.cap(found, self._order[2:], groups)",
        "self.engine.cap(found, self._order[2:], groups + 1)",
        (f"{PEOPLE_FILE}::test_every_set_of_groups_is_as_likely[duckdb]",),
    ),
    Mutant(
        "streams: what is missing counts as a number",
        "engines/tables/arrow_stream.py",
        "return found if present is None else [column[present] for column in found]",
        "return found",
        (f"{STREAMED}::test_an_offset_and_a_mask_of_a_batch_are_heeded",),
    ),
    Mutant(
        "streams: a batch is read from its beginning, wherever its rows are",
        "engines/tables/arrow_stream.py",
        ".view(dtype)[begin:]",
        ".view(dtype)[: batch.length]",
        (f"{STREAMED}::test_an_offset_and_a_mask_of_a_batch_are_heeded",),
    ),
    Mutant(
        "streams: of several batches the last one is summed",
        "engines/tables/streamed.py",
        "LevelSums(*map(add, found, piece.level_sums(levels)))",
        "piece.level_sums(levels)",
        (f"{STREAMED}::test_several_batches_are_one_column[duckdb]",),
    ),
    Mutant(
        "streams: a bracket that missed is taken for the rank",
        "engines/arrays/column.py",
        "self._below + inside < high and self._high < self._column.size - 1",
        "False",
        (f"{STREAMED}::test_a_sample_that_misleads_costs_time_and_nothing_else",),
    ),
    Mutant(
        "streams: rows of no public key are in the last group",
        "engines/tables/lazy_rows.py",
        "known = group >= 0\n",
        "known = group >= -1\n",
        (f"{STREAMED}::test_every_number_counts_in_its_group",),
    ),
    Mutant(
        "streams: a group has the records of the ranges of others",
        "engines/tables/streamed_groups.py",
        "inside = index >= low[group]",
        "inside = index >= low.min()",
        (f"{STREAMED}::test_every_number_counts_in_its_group",),
    ),
    Mutant(
        "streams: a nan is a record of its group",
        "engines/tables/streamed_groups.py",
        "math.isnan(values.max())",
        "False",
        (f"{STREAMED}::test_every_number_counts_in_its_group",),
    ),
    Mutant(
        "people: a nan takes the place of a number in the cap of several columns",
        "engines/tables/several_columns.py",
        "rows = made.without_nan(rows)",
        "pass",
        ("tests/passes_test.py::test_a_nan_takes_the_place_of_no_number",),
    ),
    Mutant(
        "groups of a person: groups with many rows are chosen more often",
        "engines/tables/lazy_rows.py",
        "found = rows.group_by(both).agg(self.nw.len().alias(COUNT)).select(*both)",
        "found = rows.select(*both)",
        (
            f"{PEOPLE_FILE}::test_how_many_rows_a_group_has_does_not_decide_whether_it_counts[duckdb]",
        ),
    ),
    Mutant(
        "groups of a person: rows are capped over all of them in lazy tables",
        "engines/tables/lazy_rows.py",
        "self.engine.cap(chosen, self._order[:2], most, GROUP)",
        "self.engine.cap(chosen, self._order[:2], most)",
        (
            f"{PEOPLE_FILE}::test_rows_are_capped_in_each_group_and_groups_for_each_person[duckdb-2-2-4]",
        ),
    ),
    Mutant(
        "groups of a person: more than there are cost as much as that many",
        "pipeline/recipe.py",
        "return None if groups == 1 else min(wanted, groups)",
        "return wanted",
        (f"{SEVERAL_GROUPS}::test_more_groups_than_there_are_cost_nothing",),
    ),
    Mutant(
        "groups of a person: the engine is not told",
        "pipeline/ask.py",
        "selection = selection._replace(groups_per_person=made.unit.groups_per_person)",
        "pass",
        (f"{SEVERAL_GROUPS}::test_each_group_counts_a_person_and_says_so",),
    ),
    Mutant(
        "sizes: values get all of epsilon as well",
        "pipeline/recipe.py",
        "replace(part, share=part.share * (1 - SIZE_SHARE))",
        "replace(part, share=part.share)",
        (f"{SIZES}::test_a_tenth_pays_for_sizes_and_the_rest_for_values",),
    ),
    Mutant(
        "sizes: ends of intervals believe in all of epsilon",
        "pipeline/recipe.py",
        "left = 1 - SIZE_SHARE if apart else Fraction(1)",
        "left = Fraction(1)",
        (f"{SIZES}::test_ends_of_intervals_know_what_is_left_of_epsilon",),
    ),
    Mutant(
        "sizes: a value is withheld at the threshold",
        "pipeline/suppression.py",
        "value if size >= below",
        "value if size > below",
        (f"{SIZES}::test_the_threshold_itself_is_enough",),
    ),
    Mutant(
        "sizes: withheld values stay in the cells",
        "pipeline/answer.py",
        "cells = withheld(facts, columns, cells, sizes)",
        "cells = tuple(zip(*values, strict=True))",
        (f"{SIZES}::test_values_of_small_groups_are_withheld_and_sizes_stand_beside",),
    ),
    Mutant(
        "tables: intervals that hold together are those that hold each",
        "pipeline/table_words.py",
        "1 - (1 - wanted.confidence) / many",
        "wanted.confidence",
        ("tests/table_test.py::test_intervals_of_a_table_hold_together",),
    ),
    Mutant(
        "tables: wanted errors forget that margins cost as much",
        "planning/wanted_errors.py",
        "_needed(asks[name], limit, size, shape, draws) * plan.copies[name]",
        "_needed(asks[name], limit, size, shape, draws)",
        ("tests/wanted_errors_test.py::test_errors_are_as_wanted_and_shares_add_up[margins]",),
    ),
    Mutant(
        "keys: a column of the data is quoted",
        "engines/selection.py",
        "quoted = isinstance(keys, list | tuple) or not is_of_library(keys)",
        "quoted = True",
        (f"{KEY_FORMS}::test_a_column_of_the_data_as_keys_shows_none_of_them",),
    ),
    Mutant(
        "keys: the data themselves are taken for keys",
        "engines/keys.py",
        "        same = part is data and part is not None\n",
        "        same = False\n",
        (f"{KEY_FORMS}::test_the_data_are_no_keys",),
    ),
    Mutant(
        "keys: the file of the data is taken for keys",
        "engines/keys.py",
        "same = os.path.realpath(path) == os.path.realpath(os.fspath(data))",
        "same = False",
        (f"{KEY_FORMS}::test_the_data_are_no_keys",),
    ),
    Mutant(
        "command: a list is read from the file of the data",
        "cli/values.py",
        "refuse_data_as_keys(text[1:], data, name)",
        "pass",
        ("tests/command_edges_test.py::test_a_list_is_not_read_from_the_data",),
    ),
    Mutant(
        "studio: the second of two clicks pays after the first failed",
        "studio/releases.py",
        " or attempt != str(asked.attempts):",
        ":",
        ("tests/studio_release_test.py::test_a_second_try_does_not_pay_for_what_was_drawn",),
    ),
    Mutant(
        "keys: a type that lists what the data hold is taken for keys",
        "engines/selection.py",
        'if kind.__name__ == "Categorical" or isinstance(keys, type) or listed is None:',
        "if listed is None:",
        (f"{KEY_FORMS}::test_types_without_declared_values_are_refused",),
    ),
    Mutant(
        "a person is charged like a row",
        "pipeline/recipe.py",
        "Loss(total, parts=_losses(drawing, total, unit.rows))",
        "Loss(total / unit.rows)",
        (SHARES,),
    ),
    Mutant(
        "edges are called rows",
        "pipeline/recipe.py",
        'PrivacyUnit("edge")',
        'PrivacyUnit("row")',
        (GRAPH_SHARES,),
    ),
    Mutant(
        "bits of the release are drawn before the charge",
        "pipeline/run.py",
        "return cls(made, finish, facts, table, source, data)",
        "table.sources(source)\n        return cls(made, finish, facts, table, source, data)",
        (ORDER, REFUSED),
    ),
    Mutant(
        "a call id that returns what another file gave",
        "ledger/ledger.py",
        'body.get("source", source) != source',
        "False",
        ("tests/ledger_test.py::test_a_call_id_belongs_to_one_source",),
    ),
    Mutant(
        "a plan whose weights are not shares",
        "pipeline/plan.py",
        "self.epsilon * weight / sum(weights)",
        "self.epsilon * weight / len(weights)",
        (PLAN,),
    ),
    Mutant(
        "a plan that gives each release the whole epsilon",
        "pipeline/plan.py",
        "self.epsilon * weight / sum(weights)",
        "self.epsilon",
        (PLAN,),
    ),
    Mutant(
        "a plan that pays for its first release alone",
        "pipeline/run.py",
        "[one.facts for one in prepared], [partial(source_name, one.given) for one in prepared]\n"
        "        )",
        "[prepared[0].facts]) * len(prepared)",
        (PLAN,),
    ),
    Mutant(
        "a plan that pays for each release by itself",
        "pipeline/run.py",
        "ledger.charge_all(\n            [one.facts for one in prepared], "
        "[partial(source_name, one.given) for one in prepared]\n        )",
        "[ledger.charge(one.facts) for one in prepared]",
        (PLAN_BEYOND,),
    ),
    Mutant(
        "a plan that checks no types before it pays",
        "engines/tables/table.py",
        "if timed != moments or not",
        "if False and not",
        (PLAN_FAILS,),
    ),
    Mutant(
        "a plan without its ledger",
        "pipeline/plan.py",
        "ledger = self.ledger if given is None else given",
        "ledger = self.ledger",
        (PLAN, PLAN_ORDER),
    ),
    Mutant(
        "unlikely sizes weigh less than they may",
        "mechanisms/joint/proposal.py",
        "FLAT * apart - (1 - FLAT) * np.array(wrong)",
        "FLAT * apart - np.array(wrong)",
        (f"{DRAFTS}::test_a_tuple_whose_weight_is_nearly_the_bound_of_its_size",),
    ),
    Mutant(
        "unlikely sizes weigh as if they were the middle one",
        "mechanisms/joint/proposal.py",
        "self._pass(self._middle, FLAT) if self._unlikely[pick] else self._pass(size)",
        "self._pass(size, FLAT)",
        (f"{DRAFTS}::test_sizes_that_share_a_pass",),
    ),
    Mutant(
        "a mechanism keeps the rate of the first statistic",
        "mechanisms/mechanism.py",
        " or raced[1] is not batch.rate",
        "",
        ("tests/lattice_test.py::test_a_mechanism_serves_statistics_of_different_rates",),
    ),
    Mutant(
        "a person has one row more than is paid for",
        "engines/tables/people.py",
        CAPPED,
        "np.repeat(begin, many) <= most",
        (CHOOSING,),
    ),
    Mutant(
        "people have no cap",
        "engines/tables/people.py",
        CAPPED,
        "np.repeat(begin, many) < len(rows)",
        (CHOOSING,),
    ),
    Mutant(
        "a person wins the race once more than is paid for",
        "engines/tables/people.py",
        "return race(people, most, generator)",
        "return race(people, most + 1, generator)",
        (ONE_PERSON,),
    ),
    Mutant(
        "two rows with the largest word of a person",
        "engines/tables/people.py",
        "if np.count_nonzero(wins) > np.count_nonzero(largest):",
        "if False:",
        ("tests/people_test.py::test_largest_words_are_exactly_fair",),
    ),
    Mutant(
        "the same words in every release",
        "engines/tables/people.py",
        "return generator.integers(1,",
        "return np.random.default_rng(0).integers(1,",
        (f"{PEOPLE}[polars]",),
    ),
    Mutant(
        "the first rows of every person",
        "engines/tables/people.py",
        SHUFFLED,
        "taken = to",
        (FAIR,),
    ),
    Mutant(
        "the same choice in every release",
        "engines/tables/people.py",
        SHUFFLED,
        "taken = to + np.random.default_rng(0).integers(0, many - place)",
        (FAIR,),
    ),
    Mutant(
        "the last row of a person counts less often",
        "engines/tables/people.py",
        SHUFFLED,
        "taken = to + generator.integers(0, np.maximum(many - place - 1, 1))",
        (FAIR,),
    ),
    Mutant(
        "the first rows of a person who alone has too many",
        "engines/tables/people.py",
        "generator.shuffle(rows[first : first + size])",
        "pass",
        (FAIR,),
    ),
    Mutant(
        "people whose numbers wrap around",
        "engines/tables/people.py",
        "array.dtype.itemsize == 8",
        "array.dtype.itemsize >= 1",
        ("tests/people_test.py::test_people_named_by_numbers_of_any_type",),
    ),
    Mutant(
        "lazy engines keep one row more",
        "engines/tables/adapters/polars_lazy.py",
        "person.shift(most)",
        "person.shift(most + 1)",
        ("tests/people_test.py::test_one_of_two_rows[polars-lazy-numbers]",),
    ),
    Mutant(
        "short groups that are sorted together take a row of their neighbours",
        "engines/groups.py",
        "self._array[_ranges(begins[which], many)]",
        "self._array[_ranges(begins[which], many) - 1]",
        ("tests/side_by_side_test.py::test_ranks_of_all_groups_are_those_of_each",),
    ),
    Mutant(
        "of many groups, those that doubles leave open are not settled exactly",
        "sampling/race.py",
        "np.flatnonzero(~alone | (found < 0))",
        "np.flatnonzero(found < 0)",
        ("tests/lattice_test.py::test_few_bits_keep_the_law",),
    ),
    Mutant(
        "short groups forget the records before what was selected",
        "engines/groups.py",
        "below[before] += counts[begin[before]]",
        "below[before] += 0",
        ("tests/side_by_side_test.py::test_ranks_of_all_groups_are_those_of_each",),
    ),
    Mutant(
        "a window of a group need not hold its quantile",
        "engines/groups.py",
        "enough = (begin <= end) & (~before | (below < centre - least_reach))",
        "enough = begin <= end",
        (
            "tests/window_test.py"
            "::test_a_group_whose_quantile_lies_at_the_edge_of_what_was_selected",
        ),
    ),
    Mutant(
        "a window of a group need not hold the record that a minimum aims at",
        "engines/groups.py",
        "(upto > centre + least_reach)",
        "(upto > centre)",
        ("tests/side_by_side_test.py::test_the_record_that_is_aimed_at_lies_in_the_window",),
    ),
    Mutant(
        "a group leaves out tied records that a statistic counts on",
        "engines/groups.py",
        "enough = ~before & ~after",
        "enough = begin <= end",
        ("tests/side_by_side_test.py::test_tied_records_at_the_edge_are_not_left_out",),
    ),
    Mutant(
        "a winner among many groups is the first candidate of its run",
        "sampling/race.py",
        "if len(wide := np.flatnonzero(count > 1)):",
        "if len(wide := np.flatnonzero(count > 2**62)):",
        ("tests/race_test.py::test_side_by_side",),
    ),
    Mutant(
        "sums of groups are those of other groups",
        "engines/groups.py",
        "for place in np.argsort(order).tolist()",
        "for place in order.tolist()",
        ("tests/side_by_side_test.py::test_sums_of_all_groups_are_those_of_each",),
    ),
    Mutant(
        "groups take the records of no group that lie between them",
        "engines/groups.py",
        "if (begins[1:] == ends[:-1]).all():",
        "if (begins[1:] >= ends[:-1]).all():",
        ("tests/side_by_side_test.py::test_sums_of_all_groups_are_those_of_each",),
    ),
    Mutant(
        "of many coins, those that doubles leave open fall",
        "sampling/lazy_uniform.py",
        "(word <= high + 1 and happens(exponent, ratio, source, word))",
        "(word <= high + 1)",
        ("tests/lazy_uniform_test.py::test_many_coins_fall_as_each_would",),
    ),
    Mutant(
        "blocks of groups have the bits of the whole",
        "sampling/entropy.py",
        "return SeededEntropy(np.random.default_rng(self.words(4)))",
        "return self",
        ("tests/threads_test.py::test_blocks_have_bits_of_their_own",),
    ),
    Mutant(
        "many keys need not differ",
        "engines/selection.py",
        "if column and len(set(column)) == len(column):",
        "if column:",
        ("tests/rows_test.py::test_many_keys_differ",),
    ),
    Mutant(
        "a group takes the first row of the next",
        "engines/groups.py",
        "(self._begins + self.sizes).tolist()",
        "(self._begins + self.sizes + 1).tolist()",
        (IN_GROUPS,),
    ),
    Mutant(
        "keys that are one value in the column are two groups",
        "engines/tables/public_values.py",
        "return len(set(values)) < len(values)",
        "return False",
        ("tests/keys_test.py::test_the_hour_that_comes_twice",),
    ),
    Mutant(
        "a ledger that does not add up",
        "ledger/ledger.py",
        "spent = spent.plus(Amount(loss.epsilon, loss.delta))",
        "spent = Amount(loss.epsilon, loss.delta)",
        ("tests/ledger_test.py::test_ten_tenths_are_one", PLAN),
    ),
    Mutant(
        "a sum whose noise is for a little less than a record",
        "statistics/sum.py",
        "return max(abs(low), abs(low + (domain.size - 1) * step))",
        "return max(abs(low), abs(low + (domain.size - 1) * step)) - 1",
        (f"{ONE_ROW}[sum()-list]",),
    ),
    Mutant(
        "a sum that looks at one of its bounds",
        "statistics/sum.py",
        "return max(abs(low), abs(low + (domain.size - 1) * step))",
        "return abs(low + (domain.size - 1) * step)",
        ("tests/sums_test.py::test_a_sum_is_exact",),
    ),
    Mutant(
        "soft counts whose noise is for one number alone",
        "statistics/soft_counts.py",
        "return max(1, self.levels(domain).top)\n",
        "return max(1, self.levels(domain).top // 2)\n",
        (f"{ONE_ROW}[mean(mechanism=best)-list]",),
    ),
    Mutant(
        "soft counts that forget the distance from the upper bound",
        "statistics/soft_counts.py",
        "return found.levels, found.records * self.sensitivity(domain) - found.levels",
        "return found.levels, found.records * self.sensitivity(domain)",
        (f"{ONE_ROW}[mean(mechanism=best)-list]",),
    ),
    Mutant(
        "a clipped mean whose shares exceed epsilon",
        "statistics/clipped_mean.py",
        "Fraction(1, 20), Fraction(1, 5), Fraction(1, 20), Fraction(7, 10)",
        "Fraction(1, 20), Fraction(1, 5), Fraction(1, 20), Fraction(8, 10)",
        (SHARES,),
    ),
    Mutant(
        "epsilon that was not spent counts twice",
        "pipeline/draw.py",
        "unspent[i] += epsilon",
        "unspent[i] += 2 * epsilon",
        (SHARES,),
    ),
    Mutant(
        "groups share what one of them did not spend",
        "pipeline/draw.py",
        "unspent[i] += epsilon",
        "unspent[:] = [each + epsilon for each in unspent]",
        (f"{CLIPPED}::test_what_is_not_drawn_is_spent_on_the_sum",),
    ),
    Mutant(
        "a clipped sum whose noise is for the nearer end",
        "statistics/clipped_mean.py",
        "return max(self.centre - self.ends[0], self.ends[1] - self.centre)",
        "return max(1, min(self.centre - self.ends[0], self.ends[1] - self.centre))",
        (CLIPPED,),
    ),
    Mutant(
        "a clipped sum whose records are not clamped",
        "statistics/clipped_mean.py",
        "        return Levels(*self.ends)\n",
        "        return Levels(0, domain.size - 1)\n",
        (CLIPPED,),
    ),
    Mutant(
        "clipped means and spreads of groups are those of other groups",
        "pipeline/draw.py",
        "for i, numbers in zip(groups, zip(*columns, strict=True), strict=True):",
        "for i, numbers in zip(groups[::-1], zip(*columns, strict=True), strict=True):",
        (f"{ENCLOSURE}::test_groups_that_ask_alike_are_drawn_together",),
    ),
    Mutant(
        "clipped means and spreads: what is unspent does not tell groups apart",
        "pipeline/draw.py",
        "alike.setdefault((own, unspent[i]), []).append(i)",
        "alike.setdefault((own, max(unspent)), []).append(i)",
        (f"{CLIPPED}::test_what_is_not_drawn_is_spent_on_the_sum",),
    ),
    Mutant(
        "the first step of a staircase is accepted too often",
        "sampling/staircase.py",
        "elif j == 0:",
        "elif True:",
        (f"{STAIRS}::test_draws_follow_the_law",),
    ),
    Mutant(
        "coins that are decided in doubles fall too often",
        "sampling/lazy_uniform.py",
        "<= quick * (1 - SLACK)",
        "<= quick * 1.2",
        (f"{STAIRS}::test_draws_follow_the_law",),
    ),
    Mutant(
        "a ledger that never refuses",
        "ledger/ledger.py",
        "if due.epsilon > left.epsilon or",
        "if due.epsilon > budget.epsilon + left.epsilon or",
        (REFUSED,),
    ),
    Mutant(
        "postgres: a number near 0 stops a query",
        "domain/snapping.py",
        "start = start if start < most and made._place(start) == 0 else least",
        "start = least",
        (NASTY,),
    ),
    Mutant(
        "postgres: a large decimal stops a query",
        "engines/tables/adapters/postgres_table.py",
        "clamped = ibis.least(ibis.greatest(column, -largest), largest)",
        "clamped = column",
        (NASTY,),
    ),
    Mutant(
        "postgres: nan is a large number",
        "engines/tables/adapters/postgres_table.py",
        'native.filter(column < _number("NaN", kind))',
        "native.filter(column.notnull())",
        (NASTY,),
    ),
    Mutant(
        "postgres: a zero character ends a list of keys",
        "engines/tables/adapters/postgres_table.py",
        'possible = [row for row in listed if not any("\\0" in text for text in row)]',
        "possible = list(listed)",
        (f"{ADDRESSES}::test_groups_and_people",),
    ),
    Mutant(
        "postgres: queries of one release see different rows",
        "engines/addresses.py",
        '_SNAPSHOT = "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY"',
        '_SNAPSHOT = "BEGIN READ ONLY"',
        ("tests/postgres_test.py::test_a_release_sees_one_state_of_the_table",),
    ),
    Mutant(
        "postgres: what is below a bracket is forgotten",
        "engines/tables/lazy_rows.py",
        "nw.when(reaches).then(nw.lit(0)).otherwise(nw.lit(1))",
        "nw.when(reaches).then(nw.lit(0)).otherwise(nw.lit(0))",
        ("tests/postgres_test.py::test_a_sample_decides_about_speed_alone",),
    ),
    Mutant(
        "postgres: an error tells a password",
        "engines/addresses.py",
        "user = f\"{quote(parts['user'])}@\"",
        "user = f\"{quote(parts['user'])}:{parts.get('password')}@\"",
        (f"{ADDRESSES}::test_one_clear_line_and_nothing_charged",),
    ),
    Mutant(
        "postgres: rights are looked at after the charge",
        "engines/addresses.py",
        "self._check_rights([name for name in needed if name in self.types.columns])",
        "pass",
        (f"{ADDRESSES}::test_a_user_may_read_some_columns",),
    ),
    Mutant(
        "postgres: connections stay open",
        "pipeline/run.py",
        "if one.data.close is not None:",
        "if False:",
        (f"{ADDRESSES}::test_a_table_by_its_address",),
    ),
    Mutant(
        "interval: the slack of an end is not paid for",
        "statistics/interval_shift.py",
        "return int(max(q, 1 - q) * grain_of(q)) + slack_of(q, covers)",
        "return int(max(q, 1 - q) * grain_of(q))",
        (f"{ENDS}::test_the_loss_is_used_up_and_a_larger_one_is_noticed",),
    ),
    Mutant(
        "interval: the aim moves faster than its slack",
        "statistics/interval_shift.py",
        "line = _no_steeper(knots, [*steps, steps[-1]], slack)",
        "line = _no_steeper(knots, [*steps, steps[-1]], 2 * slack)",
        (f"{ENDS}::test_one_record_moves_the_aim_and_the_safe_end_by_what_is_paid_for",),
    ),
    Mutant(
        "interval: the safe end moves faster than a record may",
        "statistics/interval_shift.py",
        "safe = _no_steeper(knots, alone, most)",
        "safe = _no_steeper(knots, alone, 50 * most)",
        (f"{ENDS}::test_one_record_moves_the_aim_and_the_safe_end_by_what_is_paid_for",),
    ),
    Mutant(
        "interval: the number of records is taken to be even",
        "statistics/interval_shift.py",
        "past, gap = records - self.knots[i]",
        "past, gap = records // 2 * 2 - self.knots[i]",
        (f"{ENDS}::test_one_record_moves_the_aim_and_the_safe_end_by_what_is_paid_for",),
    ),
    Mutant(
        "interval: ends may use the full rate",
        "statistics/interval_end.py",
        "rate = Fraction(1, 2)",
        "rate = Fraction(1)",
        (ENDS,),
    ),
    Mutant(
        "interval: too few records have no safe end",
        "statistics/interval_end.py",
        "return min(safe, int(q * moved.grain) * records - aim)",
        "return safe",
        (f"{ENDS}::test_the_quantile_of_every_small_data_set_is_covered",),
    ),
    Mutant(
        "interval: the upper end is aimed as the lower end",
        "statistics/interval_end.py",
        'q = self.q if self.side == "low" else 1 - self.q\n        return shift(',
        "q = self.q\n        return shift(",
        (f"{ENDS}::test_an_upper_end_is_a_lower_end_from_above",),
    ),
    Mutant(
        "interval: sampling errs by less than it does",
        "statistics/interval_shift.py",
        "size = np.sqrt(2 * records * np.maximum(apart, 0))",
        "size = np.sqrt(2.4 * records * np.maximum(apart, 0))",
        (f"{ENDS}::test_the_largest_miss_is_what_was_asked_for_at_every_number_of_records",),
    ),
    Mutant(
        "interval: an end is wrong as often as the interval",
        "statistics/interval.py",
        "miss=miss / 2,",
        "miss=miss,",
        (INTERVALS, SEVERAL),
    ),
    Mutant(
        "interval: the ends are not told how many rows a person has",
        "pipeline/recipe.py",
        "promise = _promise(wanted, each, groups or 1)",
        "promise = _promise(wanted, total, groups or 1)",
        (INTERVALS,),
    ),
    Mutant(
        "interval: the ends are paid twice",
        "statistics/interval.py",
        "each = share / (2 * len(qs))",
        "each = share / len(qs)",
        (f"{SHARES}[median(interval=0.8, mechanism=best)-rows]",),
    ),
    Mutant(
        "interval: the values of several quantiles are paid in full",
        "statistics/interval.py",
        "share=part.share * VALUE_SHARE)",
        "share=part.share)",
        (f"{SHARES}[quantiles(qs=(0.25, 0.75), interval=0.8, mechanism=best)-rows]",),
    ),
    Mutant(
        "interval: the quantiles of a summary forget its mean",
        "statistics/summary.py",
        "left, miss = 1 - totals.share,",
        "left, miss = Fraction(1),",
        (f"{SHARES}[describe(interval=0.8)-rows]",),
    ),
    Mutant(
        "interval: the ends of a range are wrong as often as those of a quantile",
        "statistics/interval.py",
        "promise.each(1) / 2, 1 - VALUE_SHARE",
        "promise.each(1), 1 - VALUE_SHARE",
        (SEVERAL,),
    ),
    Mutant(
        "interval: groups do not count where all hold together",
        "pipeline/recipe.py",
        "(groups if together else 1)",
        "1",
        (SEVERAL,),
    ),
    Mutant(
        "interval: numbers do not count where all hold together",
        "statistics/entry.py",
        "return self.miss / many if self.together else self.miss",
        "return self.miss",
        (SEVERAL,),
    ),
    Mutant(
        "ratio: the noise is taken for that of one number in the middle",
        "statistics/ratio_interval.py",
        "most = [*tilts[::-1], *tilts]",
        "most = [tilts[0] for _ in range(cells)]",
        (RATIOS,),
    ),
    Mutant(
        "ratio: points are not spread",
        "mechanisms/tilt.py",
        "float(miss)) + CELLS + i + 1",
        "float(miss))",
        (f"{RATIOS}::test_tilted_noise_is_exceeded_as_rarely_as_is_said",),
    ),
    Mutant(
        "ratio: noise is bounded at one end of a cell",
        "mechanisms/tilt.py",
        "for c in (cell, cell + 1)",
        "for c in (cell, cell)",
        (RATIOS,),
    ),
    Mutant(
        "ratio: as many records as the noise says",
        "statistics/ratio_interval.py",
        "records = -(-(cells * (above + below) - self._fewer) // (cells * self._moved))",
        "records = -(-(cells * (above + below)) // (cells * self._moved))",
        (f"{RATIOS}::test_a_smaller_number_of_records_is_believed",),
    ),
    Mutant(
        "ratio: the population is taken for the sample",
        "statistics/ratio_interval.py",
        "if not self._population or ends is None:",
        "if True:",
        (f"{RATIOS}::test_the_means_of_small_populations_are_covered",),
    ),
    Mutant(
        "interval: rows of a person count as a sample",
        "pipeline/recipe.py",
        'if contributions != 1:\n        raise DuffError(\n            f"an interval for',
        'if False:\n        raise DuffError(\n            f"an interval for',
        (INTERVALS,),
    ),
    Mutant(
        "slope: the rate is twice what it may be",
        "statistics/slope.py",
        "rate = Fraction(1, 2)",
        "rate = Fraction(1)",
        (f"{ONE_ROW}[slope(mechanism=best)-list]",),
    ),
    Mutant(
        "slope: a record counts as half of what it moves",
        "statistics/slope.py",
        "reach = level * (level + parts * (2 * n - 1)) // (2 * parts**2)",
        "reach = level * (level + parts * (n - 1)) // (2 * parts**2)",
        (f"{SLOPE}::test_one_pair_moves_a_distance_by_at_most_one",),
    ),
    Mutant(
        "slope: a window and its tail measure differently",
        "statistics/slope.py",
        "linear, wanted = self._parts * (2 * n - 1)",
        "linear, wanted = self._parts * (2 * n + 1)",
        (f"{SLOPE}::test_windows",),
    ),
    Mutant(
        "slope: the tail may hold what is nearer than it says",
        "statistics/slope.py",
        "left, most + 1, distance_of)",
        "left, most + 2, distance_of)",
        (f"{SLOPE}::test_windows",),
    ),
    Mutant(
        "slope: a pair on a candidate counts as above it",
        "statistics/pair_slopes.py",
        "near + (side > 0), near + (side >= 0)",
        "near + (side >= 0), near + (side >= 0)",
        (f"{SLOPE}::test_distance",),
    ),
    Mutant(
        "slope: records that are alike count as a pair",
        "statistics/pair_slopes.py",
        "_tied_pairs(equal_to_next(keys, above)) - self._twins",
        "_tied_pairs(equal_to_next(keys, above))",
        (f"{SLOPE}::test_distance",),
    ),
    Mutant(
        "slope: places of pairs are trusted to the last digit",
        "statistics/pair_slopes.py",
        "unsure = np.abs(place - near) <= ROUNDING * max(low, high) / grid.spacing",
        "unsure = np.abs(place - near) <= 0",
        (f"{SLOPE}::test_distance_of_doubles",),
    ),
    Mutant(
        "slope: residuals are rounded",
        "statistics/residuals.py",
        "    product, error = _product(x, b)",
        "    product, error = x * b, 0 * x",
        (f"{SLOPE}::test_residuals_are_exact",),
    ),
    Mutant(
        "slope: halfway residuals sort wrongly",
        "statistics/residuals.py",
        "onward = (third != 0) & (np.sign(second) == np.sign(third))",
        "onward = third != third",
        (f"{SLOPE}::test_residuals_halfway_between_doubles",),
    ),
    Mutant(
        "slope: a tie in x breaks the order at the far candidate",
        "statistics/pair_slopes.py",
        "order(self._residuals(high), -self._x_rank)",
        "order(self._residuals(high))",
        (f"{SLOPE}::test_distance",),
    ),
    Mutant(
        "pairs: rows of people are not capped in lazy tables",
        "engines/tables/lazy_rows.py",
        "rows = self._capped(rows)",
        "rows = self.joined(rows)",
        (f"{PAIRS}::test_rows_of_a_person_are_capped_over_all_groups",),
    ),
    Mutant(
        "pairs: the choice of a person's rows depends on values",
        "engines/tables/adapters/dask_frame.py",
        "return numbers.view(np.int64) if numbers.dtype == np.float64 else numbers",
        "return numbers",
        (f"{PAIRS}::test_every_row_of_a_person_may_count",),
    ),
    Mutant(
        "pairs: a pair with one number is not left out",
        "engines/pairs.py",
        "present = ~(np.isnan(x) | np.isnan(y))",
        "present = ~np.isnan(x)",
        (f"{PAIRS}::test_records_that_are_no_pairs_are_left_out_one_by_one",),
    ),
    Mutant(
        "pairs: unequal lengths are cut",
        "engines/tables/pair_columns.py",
        "if one != other:",
        "if one > 10 * other:",
        (f"{PAIRS}::test_what_is_refused_is_refused_before_it_is_paid",),
    ),
    Mutant(
        "table: weights that no share is divided by",
        "pipeline/table_plan.py",
        'each = words | {"weight": weight / (1 + len(again))}',
        'each = words | {"weight": weight}',
        (f"{TABLE_DOOR}::test_the_shares_of_a_table_add_up",),
    ),
    Mutant(
        "table: a plan that spends its epsilon on every release",
        "pipeline/plan.py",
        "self.epsilon * weight / sum(weights)",
        "self.epsilon * min(1, weight)",
        (f"{TABLE_DOOR}::test_one_row_moves_all_of_a_table_by_at_most_epsilon",),
    ),
    Mutant(
        "table: people are counted as often as they have rows",
        "pipeline/table_words.py",
        '"interval": interval, "contributions": 1}',
        '"interval": interval}',
        ("tests/table_test.py::test_people_are_counted_once_whatever_else_counts",),
    ),
    Mutant(
        "table: a margin of the first group alone",
        "engines/tables/memory.py",
        "apart = isinstance(places, range) or len(set(places)) == len(places)",
        "apart = True",
        ("tests/table_test.py::test_every_group_and_the_total_of_those_listed",),
    ),
    Mutant(
        "table: a margin of every row, listed or not",
        "engines/tables/table.py",
        "known_keys(nw, self.adapter, types, selection, untyped) if selection.by else None",
        "known_keys(nw, self.adapter, types, selection, untyped) if selection.groups.by else None",
        (f"{TABLE_DOOR}::test_one_row_moves_all_of_a_table_by_at_most_epsilon",),
    ),
    Mutant(
        "table: formulas in a CSV",
        "printable.py",
        """return f"'{text}" if acts else text""",
        "return text",
        ("tests/table_names_test.py::test_csv",),
    ),
    Mutant(
        "table: markup in HTML",
        "printable.py",
        "return escape(visible(str(value)))",
        "return visible(str(value))",
        ("tests/table_names_test.py::test_html",),
    ),
    Mutant(
        "table: formulas in a workbook",
        "pipeline/columnar.py",
        "sheet.write_string(row, at, visible(str(as_json(value))))",
        "sheet.write(row, at, visible(str(as_json(value))))",
        ("tests/table_names_test.py::test_excel",),
    ),
    Mutant(
        "distribution: the last stage gets more than is left",
        "statistics/narrowing.py",
        "LAST_SHARE = 1 - sum(",
        "LAST_SHARE = Fraction(9, 8) - sum(",
        (f"{SHARES}[distribution()-rows]",),
    ),
    Mutant(
        "distribution: a record counts in two cells",
        "engines/arrays/column.py",
        "counts += np.bincount(cell, minlength=len(starts))",
        "counts += 2 * np.bincount(cell, minlength=len(starts))",
        (f"{ONE_ROW}[distribution()-list]",),
    ),
    Mutant(
        "distribution: cells begin after their first candidate",
        "engines/arrays/column.py",
        'cell = np.searchsorted(first, self.grid.snap(part), side="right")',
        'cell = np.searchsorted(first, self.grid.snap(part), side="left")',
        (DISTRIBUTIONS,),
    ),
    Mutant(
        "distribution: the band takes the noise for smaller than it is",
        "statistics/distribution_entry.py",
        "epsilon * LAST_SHARE, *known",
        "epsilon, *known",
        (f"{DISTRIBUTIONS}::test_few_candidates_are_counted_one_by_one",),
    ),
    Mutant(
        "distribution: the band forgets the rows of a person",
        "pipeline/recipe.py",
        "*known.by_epsilon(checked, choice, each, contributions",
        "*known.by_epsilon(checked, choice, total, contributions",
        (f"{DISTRIBUTIONS}::test_people_and_the_noise_of_their_rows",),
    ),
    Mutant(
        "distribution: the end of a walk is not looked at",
        "sampling/noise_walk.py",
        "walk[:, -1:].copy()",
        "walk[:, -1:]",
        (BANDS,),
    ),
    Mutant(
        "distribution: the band forgets that the total is noisy",
        "pipeline/band.py",
        "end = END * stray",
        "end = 0",
        (f"{BANDS}::test_the_band_covers",),
    ),
    Mutant(
        "distribution: the band forgets sampling",
        "pipeline/band.py",
        "low, high = low - apart, high + apart",
        "low, high = low, high",
        (f"{BANDS}::test_the_band_covers_the_population",),
    ),
    Mutant(
        "auditor: draws that chose the event count it",
        "audit/lower_bound.py",
        "inside(draws[1::2]).sum()",
        "inside(draws[::2]).sum()",
        (f"{LOWER}::test_draws_that_chose_the_event_do_not_count_it",),
    ),
    Mutant(
        "auditor: each end takes all that may be missed",
        "audit/lower_bound.py",
        "np.maximum(rest, 1), 1 - miss / 2)",
        "np.maximum(rest, 1), 1 - miss)",
        (f"{LOWER}::test_the_bound_is_that_of_clopper_and_pearson",),
    ),
    Mutant(
        "auditor: it never sees the one who joins",
        "audit/releases.py",
        "for j in ((), (joined,))",
        "for j in ((), ())",
        (f"{LOWER}::test_a_release_that_spends_more_is_found_out",),
    ),
    Mutant(
        "studio: any host",
        "studio/guard.py",
        'if headers.get("host") not in self.hosts:',
        'if "host" not in headers:',
        (STUDIO_DOOR,),
    ),
    Mutant(
        "studio: any origin",
        "studio/guard.py",
        'if headers.get("origin", own[0]) not in own or',
        "if",
        (STUDIO_DOOR,),
    ),
    Mutant(
        "studio: other ports are the same site",
        "studio/guard.py",
        '            "same-site",\n',
        "",
        (STUDIO_DOOR,),
    ),
    Mutant(
        "studio: a form without an origin",
        "studio/guard.py",
        'if "origin" not in headers:',
        "if False:",
        (STUDIO_DOOR,),
    ),
    Mutant(
        "studio: any token",
        "studio/guard.py",
        "if not _same(given, self.token):",
        "if not given:",
        (STUDIO_DOOR,),
    ),
    Mutant(
        "studio: no cookie",
        "studio/guard.py",
        'if not _same(_cookie(headers.get("cookie", ""), self._cookie), self._session):',
        "if False:",
        (STUDIO_DOOR,),
    ),
    Mutant(
        "studio: scripts read the cookie",
        "studio/guard.py",
        "; HttpOnly; SameSite=Strict",
        "; SameSite=Strict",
        (STUDIO_DOOR,),
    ),
    Mutant(
        "studio: other sites send the cookie",
        "studio/guard.py",
        "; HttpOnly; SameSite=Strict",
        "; HttpOnly",
        (STUDIO_DOOR,),
    ),
    Mutant(
        "studio: no secret in a form",
        "studio/guard.py",
        "if not _same(given, self.csrf):",
        "if False:",
        (f"{STUDIO_DOOR}::test_changes_of_state_need_the_secret_of_the_page",),
    ),
    Mutant(
        "studio: one secret for all starts",
        "studio/guard.py",
        "return secrets.token_hex(32)",
        'return "0" * 64',
        (STUDIO_DOOR,),
    ),
    Mutant(
        "studio: requests of any size",
        "studio/guard.py",
        "if len(body) > MOST_BYTES:",
        "if False:",
        (f"{STUDIO_DOOR}::test_requests_are_bounded",),
    ),
    Mutant(
        "studio: scripts in the page",
        "studio/guard.py",
        "script-src 'self';",
        "script-src 'self' 'unsafe-inline';",
        (STUDIO_DOOR,),
    ),
    Mutant(
        "studio: all addresses of the machine",
        "studio/serve.py",
        'LOCAL = "127.0.0.1"',
        'LOCAL = "0.0.0.0"',
        (f"{STUDIO_DOOR}::test_a_process_listens_on_this_machine_alone",),
    ),
    Mutant(
        "studio: paths out of the folder",
        "studio/folder.py",
        "if path == self.root or not path.is_relative_to(self.root):",
        "if path == self.root:",
        (f"{STUDIO_DOOR}::test_no_path_leads_out_of_the_folder",),
    ),
    Mutant(
        "studio: links out of the folder",
        "studio/folder.py",
        "path = (self.root / name).resolve()",
        "path = self.root / name",
        (f"{STUDIO_DOOR}::test_no_path_leads_out_of_the_folder",),
    ),
    Mutant(
        "studio: errors in their own words",
        "studio/routes.py",
        '({type(error).__name__}). Reload the page."',
        '({error}). Reload the page."',
        (f"{STUDIO_DOOR}::test_an_unexpected_error_is_told_in_words",),
    ),
    Mutant(
        "studio: a second click pays again",
        "studio/releases.py",
        'if asked.state not in ("asked", "failed") or attempt != str(asked.attempts):',
        "if False:",
        (f"{STUDIO_RELEASE}::test_asking_again_and_again_pays_once",),
    ),
    Mutant(
        "studio: a retry is a new call",
        "studio/releases.py",
        '        call_id = f"studio {number}"',
        "        call_id = None",
        (STUDIO_RELEASE,),
    ),
    Mutant(
        "studio: a ledger is made for a file that has gone",
        "studio/releases.py",
        "table_plan(asked.form, self._folder).check(self._folder.source(asked.form.source))",
        "pass",
        (f"{STUDIO_RELEASE}::test_a_file_that_disappears_costs_nothing_and_can_come_back",),
    ),
    Mutant(
        "studio: a release charges nothing",
        "studio/plan_text.py",
        '"epsilon": words.pop("epsilon"), **ledger, **words}',
        '"epsilon": words.pop("epsilon"), **words}',
        (STUDIO_RELEASE,),
    ),
    Mutant(
        "studio: failures in their own words",
        "studio/releases.py",
        'told = f"something unexpected went wrong ({type(error).__name__})."',
        "told = str(error)",
        (f"{STUDIO_RELEASE}::test_a_second_try_does_not_pay_for_what_was_drawn",),
    ),
    Mutant(
        "command: what a failure has cost is forgotten",
        "cli/option_words.py",
        "error.args = (in_options(str(error)),)",
        "raise type(error)(in_options(str(error))) from None",
        ("tests/command_process_test.py::test_an_error_in_words_of_options_tells_what_is_paid",),
    ),
    Mutant(
        "command: a misplaced address is quoted with its password",
        "cli/app.py",
        'without_passwords(" ".join(text.split()))',
        '" ".join(text.split())',
        (f"{ADDRESSES}::test_a_password_appears_nowhere",),
    ),
    Mutant(
        "studio: the odds of half of epsilon",
        "studio/odds.py",
        "math.exp(-epsilon)",
        "math.exp(-epsilon / 2)",
        (f"{STUDIO_PLAN}::test_the_icons_are_what_the_best_attacker_attains",),
    ),
    Mutant(
        "studio: the epsilon of one number for all",
        "studio/expectations.py",
        "total = found * float(plan.plan.epsilon / one.ask.epsilon)",
        "total = found",
        (f"{STUDIO_PLAN}::test_found_epsilon_is_enough_and_little_less_is_not",),
    ),
    Mutant(
        "studio: a public sample is not marked",
        "studio/expectations.py",
        '"the PUBLIC sample that you loaded, which is not protected"',
        '"a sample"',
        (f"{STUDIO_PLAN}::test_a_public_sample_stands_for_the_records_and_is_marked",),
    ),
    Mutant(
        "studio: the epsilon of the whole table for one number",
        "studio/expectations.py",
        "within = one.outlook.within(one.ask.epsilon, size",
        "within = one.outlook.within(Fraction(1), size",
        (f"{STUDIO_PLAN}::test_the_error_is_that_of_the_plans_own_preview",),
    ),
)


def run(mutant: Mutant | None, source: Path, tests: tuple[str, ...]) -> str | None:
    """The first test that fails, if any, with the library taken from `source`."""
    with tempfile.TemporaryFile("w+") as output:
        child = os.fork()
        if child == 0:
            run_here(source, tests, output.fileno())
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        output.seek(0)
        told = output.read()
    if code == 0:
        return None
    found = re.search(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", told, re.MULTILINE)
    if found is None or found[0].startswith("ERROR"):
        raise SystemExit(f"{mutant.name if mutant else 'no mutation'}: {told[-2000:]}")
    return found[1]


def run_here(source: Path, tests: tuple[str, ...], output: int) -> NoReturn:
    """Run tests in this process, which has not imported the library yet, and end it."""
    code = -1
    try:
        os.dup2(output, 1)
        os.dup2(output, 2)
        os.chdir(ROOT)
        os.environ["PYTHONPATH"] = str(source)  # for the processes that tests start
        sys.path.insert(0, str(source))
        code = pytest.main(["-x", "-q", "-rfE", "-p", "no:cacheprovider", *tests])
        sys.stdout.flush()
    finally:
        os._exit(code)


def broken(mutant: Mutant, source: Path) -> str | None:
    """Break the copy, look for a test that notices, and mend the copy."""
    path = source / "duffdp" / mutant.file
    text = path.read_text()
    if text.count(mutant.old) != 1:
        raise SystemExit(f"{mutant.name}: its text is not in {mutant.file} once. Adapt the table.")
    path.write_text(text.replace(mutant.old, mutant.new))
    try:
        return run(mutant, source, mutant.tests)
    finally:
        path.write_text(text)


def main(words: list[str]) -> int:
    """Try all mutations with one of the words in their name; how many survived."""
    begin, words = (int(words[1]), words[2:]) if words[:1] == ["--from"] else (1, words)
    chosen = {
        number: mutant
        for number, mutant in enumerate(MUTANTS, 1)
        if number >= begin and (not words or any(word in mutant.name for word in words))
    }
    for library in LIBRARIES:
        importlib.import_module(library)
    survived = 0
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "src"
        shutil.copytree(ROOT / "src", source, ignore=shutil.ignore_patterns("__pycache__"))
        by_content = py_compile.PycInvalidationMode.CHECKED_HASH  # times are too coarse for edits
        compileall.compile_dir(source, quiet=1, invalidation_mode=by_content)
        sound = tuple(dict.fromkeys(test for each in chosen.values() for test in each.tests))
        if (failed := run(None, source, sound)) is not None:
            raise SystemExit(f"{failed} fails without a mutation")
        for number, mutant in chosen.items():
            began = time.monotonic()
            killer = broken(mutant, source)
            survived += killer is None
            seconds = time.monotonic() - began
            print(
                f"{number:4} {mutant.name:62} {seconds:5.1f} s  {killer or 'SURVIVED'}", flush=True
            )
    print(f"{len(chosen) - survived} of {len(chosen)} mutations were noticed")
    return survived


if __name__ == "__main__":
    raise SystemExit(min(main(sys.argv[1:]), 1))
