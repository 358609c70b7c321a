"""Mutations of duffdp._pipeline."""

from __future__ import annotations

from tests.mutants.mutant import (
    COVERAGE,
    DOOR,
    DRIVER,
    FAMILY_OF_SIZES,
    LEDGER,
    LEVELS,
    ONE_CALL,
    PASSED_ON,
    PLAN,
    PLAN_BEYOND,
    REFUSED,
    ROWS,
    SEVERAL,
    SHARES,
    SIZES,
    TABLE_SHARES,
    Mutant,
)

ORDER = f"{DOOR}::test_nothing_is_read_or_drawn_before_it_is_paid"
STEPS = "tests/domain/default_step_test.py"

KEYS = "tests/guarantees/found_keys_test.py"
KEY_SHARES = f"{KEYS}::test_shares_add_up_to_what_is_asked_and_charged"
FINDING_PAID = f"{DRIVER}::test_finding_keys_is_paid_before_the_draw"
FINDING_REST = f"{DRIVER}::test_values_have_what_finding_keys_left"

COMPARED = "tests/pipeline/comparison_test.py"

TREE = "tests/pipeline/group_tree_test.py"

MUTANTS = (
    Mutant(
        "levels: parts do not add up after rounding",
        "_pipeline/group_tree.py",
        "for i in remainders[:missing]:",
        "for i in remainders[: missing - 1]:",
        (f"{TREE}::test_every_level_adds_up",),
        COVERAGE,
    ),
    Mutant(
        "levels: a larger group counts the groups of a person as one",
        "_pipeline/request.py",
        "    if selection.sums_leaves:\n        groups = selection.most_leaves\n",
        "    if selection.sums_leaves:\n        groups = 1\n",
        (f"{LEVELS}::test_shares_of_all_levels_add_up",),
        ROWS,
    ),
    Mutant(
        "values spend what found their keys once more",
        "_pipeline/draw_plan.py",
        "value_epsilon = self.epsilon if finding is None else self.epsilon - finding.epsilon",
        "value_epsilon = self.epsilon",
        (KEY_SHARES,),
    ),
    Mutant(
        "finding keys ignores the keys of a person",
        "_pipeline/draw_plan.py",
        "return self.unit.epsilon_per_row(self.epsilon)",
        "return self.epsilon",
        (KEY_SHARES, f"{KEYS}::test_one_person_with_many_keys_costs_epsilon"),
    ),
    Mutant(
        "a count by found keys ignores the rows of a person",
        "_pipeline/draw_plan.py",
        "rows = self.contributions if counts_are_values else 1",
        "rows = 1",
        (KEY_SHARES,),
        ROWS,
    ),
    Mutant(
        "account: finding keys is paid for one row of a person",
        "_pipeline/driver.py",
        "cost = finding.row_epsilon * finding.unit.rows",
        "cost = finding.row_epsilon",
        (FINDING_PAID, FINDING_REST),
    ),
    Mutant(
        "account: values have what found their keys once more",
        "_pipeline/driver.py",
        "unit.epsilon_per_row(self._budget - self._for_all)",
        "unit.epsilon_per_row(self._budget)",
        (FINDING_REST,),
    ),
    Mutant(
        "account: keys are found with an account of their own",
        "_pipeline/run.py",
        "driver.find_keys(entry.plan, counts, entry.entropy, entry.account)",
        "driver.find_keys(entry.plan, counts, entry.entropy, driver.Account(finding.epsilon))",
        ("tests/audit/replayed_calls_test.py::test_a_program_that_spends_what_found_its_keys",),
    ),
    Mutant(
        "account: groups that pay different prices draw with the first one's",
        "_pipeline/driver.py",
        "yield _Share(i, statistic, epsilon, make(epsilon), places)",
        "yield _Share(i, statistic, epsilon, make(draw.epsilon_of(0)), places)",
        (f"{DRIVER}::test_groups_that_pay_different_prices_draw_with_their_own",),
    ),
    Mutant(
        "finding keys is accounted for more rows than count",
        "_pipeline/draw_plan.py",
        "finding.epsilon, 1, finding.unit.rows)",
        "finding.epsilon, 1, 2 * finding.unit.rows)",
        (KEY_SHARES,),
    ),
    Mutant(
        "a release for another epsilon keeps its draws",
        "_pipeline/request.py",
        "return changed._replace(plan=_plan_for(terms, self.domain, self.selection))",
        "return changed",
        (TABLE_SHARES,),
    ),
    Mutant(
        "levels: intervals that hold together are those of single groups",
        "_pipeline/level_rows.py",
        "rate = (1 - lowest.interval.confidence) / (groups if simultaneous else 1)",
        "rate = 1 - lowest.interval.confidence",
        (f"{LEVELS}::test_intervals_of_all_levels_hold_together",),
        COVERAGE,
    ),
    Mutant(
        "levels: intervals are those of noise for twice the epsilon",
        "_pipeline/level_rows.py",
        "one.row_epsilon, abs(weight), times))",
        "2 * one.row_epsilon, abs(weight), times))",
        ("tests/pipeline/level_shares_test.py::test_every_small_table_is_covered",),
        COVERAGE,
    ),
    Mutant(
        "account: groups are opened twice",
        "_pipeline/driver.py",
        "            self._opened.append((first, last))",
        "            self._opened = [(first, last)] if last < 0 else []",
        (f"{DRIVER}::test_a_release_is_drawn_once",),
        ONE_CALL,
    ),
    Mutant(
        "account: keys are found with what values have",
        "_pipeline/driver.py",
        "budget = ZERO if self._opened else self._budget",
        "budget = self._budget",
        (f"{DRIVER}::test_keys_are_not_found_after_values",),
        ONE_CALL,
    ),
    Mutant(
        "programs see how many records there are",
        "_pipeline/driver.py",
        "start(Scope(self.domain, count), plan.row_epsilon)",
        "start(Scope(self.domain, count, self.engine.max_records), plan.row_epsilon)",
        (f"{DRIVER}::test_a_program_sees_nothing_of_the_records",),
    ),
    Mutant(
        "account: keys are found before they are paid",
        "_pipeline/driver.py",
        "    account.pay([Draw(Count(), mechanism.name, cost)])\n"
        "    evidence = KeyCounts(counts, finding.size, finding.threshold)\n"
        "    return list("
        "zip(*entropy.draw(KeyCall(plan, cost, mechanism, evidence)), strict=True))\n",
        "    evidence = KeyCounts(counts, finding.size, finding.threshold)\n"
        "    keys = list("
        "zip(*entropy.draw(KeyCall(plan, cost, mechanism, evidence)), strict=True))\n"
        "    account.pay([Draw(Count(), mechanism.name, cost)])\n"
        "    return keys\n",
        (FINDING_PAID,),
    ),
    Mutant(
        "a share that no mechanism takes is refused after the charge",
        "_pipeline/draw_plan.py",
        "            _check_share(draw.mechanism, share_of(row_epsilon, draw.share))\n",
        "            share_of(row_epsilon, draw.share)\n",
        (
            "tests/ledger/ledger_test.py::"
            "test_a_share_that_is_too_small_for_a_draw_is_refused_before_the_charge",
        ),
    ),
    Mutant(
        "more rows of a person are used than are paid for",
        "_pipeline/run.py",
        "    if used != (unit.column, unit.contributions, unit.groups_per_person):\n",
        "    if used[0] != unit.column:\n",
        (f"{DOOR}::test_the_rows_that_are_used_are_those_that_are_paid_for",),
        ONE_CALL,
    ),
    Mutant(
        "all rows of a person find keys",
        "_pipeline/run.py",
        "cap = Cap(finding.unit.contributions, finding.unit.groups_per_person)",
        "cap = Cap(10**6, 10**6)",
        (f"{KEYS}::test_one_person_with_many_keys_costs_epsilon",),
    ),
    Mutant(
        "finding keys counts all rows that count for values",
        "_pipeline/run.py",
        "cap = Cap(finding.unit.contributions, finding.unit.groups_per_person)",
        "cap = Cap(entry.plan.unit.contributions, entry.plan.unit.groups_per_person)",
        (f"{KEYS}::test_one_person_with_many_keys_costs_epsilon",),
    ),
    Mutant(
        "intervals of counts that found their keys are those of a row",
        "_pipeline/draw_plan.py",
        "ThresholdedGeometric(finding.row_epsilon), finding.threshold, confidence",
        "ThresholdedGeometric(finding.epsilon), finding.threshold, confidence",
        (f"{KEYS}::test_intervals_of_counts_know_what_a_row_costs",),
        COVERAGE,
    ),
    Mutant(
        "comparisons: noise that both sides share counts as independent",
        "_pipeline/comparison.py",
        "or self.draws & other.draws:",
        "or False:",
        (f"{COMPARED}::test_totals_and_their_groups",),
        COVERAGE,
    ),
    Mutant(
        "the step of a list depends on its records",
        "_pipeline/run.py",
        "domain_for(self._records.integer, self.has_objects)",
        "domain_for(all(type(r) is int for r in self._records.array), False)",
        (f"{STEPS}::test_without_a_type_the_bounds_decide_and_no_record_does",),
    ),
    Mutant(
        "account: what groups pay one by one is not added",
        "_pipeline/driver.py",
        "largest = for_all + max(for_each) if for_each else for_all",
        "largest = for_all",
        (f"{DRIVER}::test_one_group_that_spends_more_stops_all",),
    ),
    Mutant(
        "account: the draw comes before its payment",
        "_pipeline/driver.py",
        "            account.pay(draws)\n"
        "            shares = list(_shares(draws, count))\n"
        "            answers = yield from self._collect(shares, groups)\n"
        "            columns = _by_draw(draws, count)\n"
        "            for share, (requests, evidence) in zip(shares, answers, strict=True):\n"
        "                draw, statistic, paid, mechanism, positions = share\n"
        "                payment = (draw, statistic, paid, mechanism, groups[positions])\n"
        "                numbers = entropy.draw("
        "MechanismCall(plan, stage, *payment, requests, evidence))\n"
        "                _place(columns[draw], positions, numbers, count)\n",
        "            shares = list(_shares(draws, count))\n"
        "            answers = yield from self._collect(shares, groups)\n"
        "            columns = _by_draw(draws, count)\n"
        "            for share, (requests, evidence) in zip(shares, answers, strict=True):\n"
        "                draw, statistic, paid, mechanism, positions = share\n"
        "                payment = (draw, statistic, paid, mechanism, groups[positions])\n"
        "                numbers = entropy.draw("
        "MechanismCall(plan, stage, *payment, requests, evidence))\n"
        "                _place(columns[draw], positions, numbers, count)\n"
        "            account.pay(draws)\n",
        (f"{DRIVER}::test_a_program_that_spends_more_is_stopped_before_the_draw",),
    ),
    Mutant(
        "account: twice the epsilon may be spent",
        "_pipeline/driver.py",
        "if largest > budget or",
        "if largest >= 2 * budget or",
        (f"{DRIVER}::test_a_program_that_spends_more_is_stopped_before_the_draw",),
    ),
    Mutant(
        "driver: a draw for all groups is made with more than is paid",
        "_pipeline/driver.py",
        "paid, make(paid), np.arange",
        "paid, make(2 * paid), np.arange",
        (SHARES,),
    ),
    Mutant(
        "driver: a draw is made again until it pleases",
        "_pipeline/driver.py",
        "columns: Columns = self.mechanism.numbers(self.evidence, entropy)\n",
        "columns: Columns = min(self.mechanism.numbers(self.evidence, entropy) for _ in '12')\n",
        (SHARES,),
    ),
    Mutant(
        "a release is called bounded for one of its parts",
        "_pipeline/draw_plan.py",
        "family = mechanism_class(draw.mechanism).loss_family",
        "family = mechanism_class(program.draws[-1].mechanism).loss_family",
        (FAMILY_OF_SIZES,),
    ),
    Mutant(
        "epsilon that is passed on is accounted where it was not spent",
        "_pipeline/draw_plan.py",
        "if draw.statistic is None and program.forwards_epsilon:",
        "if False:",
        (PASSED_ON,),
    ),
    Mutant(
        "facts that say less than is spent",
        "_pipeline/draw_plan.py",
        "MechanismPart(*kind, _cost(shares, total), len(shares))",
        "MechanismPart(*kind, _cost(shares, total) / 2, len(shares))",
        (SHARES,),
    ),
    Mutant(
        "sizes: values get all of epsilon as well",
        "_pipeline/draw_plan.py",
        "values.scaled(1 - SIZE_SHARE).beside([_SIZES])",
        "values.beside([_SIZES])",
        (f"{SIZES}::test_a_tenth_pays_for_sizes_and_the_rest_for_values",),
    ),
    Mutant(
        "sizes: withheld values stay in the cells",
        "_pipeline/released_values.py",
        "cells = withhold_small_groups(facts, columns, cells, sizes)",
        "cells = tuple(zip(*values, strict=True))",
        (f"{SIZES}::test_values_of_small_groups_are_withheld_and_sizes_stand_beside",),
        ROWS,
    ),
    Mutant(
        "a person is charged like a row",
        "_pipeline/draw_plan.py",
        "Loss(self.epsilon, parts=losses)",
        "Loss(self.epsilon / unit.rows)",
        (SHARES,),
    ),
    Mutant(
        "bits of the release are drawn before the charge",
        "_pipeline/run.py",
        "        return cls(\n            plan=plan,",
        "        source.engine(entropy_source)\n        return cls(\n            plan=plan,",
        (
            ORDER,
            REFUSED,
        ),
    ),
    Mutant(
        "a plan that pays for its first release alone",
        "_pipeline/run.py",
        "[entry.facts for entry in prepared],\n"
        "            [partial(source_name, entry.source) for entry in prepared],\n"
        "        )",
        "[prepared[0].facts]) * len(prepared)",
        (PLAN,),
    ),
    Mutant(
        "a plan that pays for each release by itself",
        "_pipeline/run.py",
        "ledger.charge_all(\n"
        "            [entry.facts for entry in prepared],\n"
        "            [partial(source_name, entry.source) for entry in prepared],\n"
        "        )",
        "[ledger.charge(entry.facts) for entry in prepared]",
        (PLAN_BEYOND,),
    ),
    Mutant(
        "interval: groups do not count where all hold together",
        "_pipeline/draw_plan.py",
        "(groups if simultaneous else 1)",
        "1",
        (f"{SEVERAL}::test_groups_are_counted_where_all_hold_together",),
        COVERAGE,
    ),
    Mutant(
        "a retry finds other keys than those that were stored",
        "_pipeline/run.py",
        "if finding is not None and finder not in found:",
        "if finding is not None:",
        (
            "tests/guarantees/levels_test.py::"
            "test_a_retry_after_an_interrupt_has_the_keys_that_were_stored",
        ),
        LEDGER,
    ),
)
