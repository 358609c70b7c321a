"""Mutations of duffdp._pipeline."""

from __future__ import annotations

from tests.mutants.mutant import (
    BANDS,
    CLIPPED,
    DOOR,
    DRIVER,
    ENCLOSURE,
    FAMILIES,
    GRAPH_SHARES,
    INTERVALS,
    ONE_PERSON,
    PASSED_ON,
    PLAN,
    REFUSED,
    SEVERAL,
    SEVERAL_GROUPS,
    SHARES,
    SIZES,
    Mutant,
)

ORDER = f"{DOOR}::test_nothing_is_read_or_drawn_before_it_is_paid"
CHECKS = f"{DOOR}::test_parameters_are_checked_before_data_are_looked_at"
PLAN_BEYOND = f"{DOOR}::test_a_plan_beyond_the_budget_pays_and_draws_nothing"
STEPS = "tests/domain/default_step_test.py"
CHARGES = "    charges: Sequence[Charge | None] = ("

MUTANTS = (
    Mutant(
        "totals: counts below 0 are added as 0",
        "_pipeline/group_sums.py",
        "sums = [sum(column) for column in zip(*noisy, strict=True)]",
        "sums = [sum(max(0, n) for n in column) for column in zip(*noisy, strict=True)]",
        ("tests/pipeline/table_test.py::test_totals_of_groups_without_rows_are_unbiased",),
    ),
    Mutant(
        "totals: the interval is that of one count",
        "_pipeline/group_sums.py",
        "summands=len(noisy)",
        "summands=1",
        ("tests/pipeline/table_test.py::test_totals_of_groups_without_rows_are_unbiased",),
    ),
    Mutant(
        "the step of a list depends on its records",
        "_pipeline/run.py",
        "domain_for(self._records.integer, untyped)",
        "domain_for(all(type(r) is int for r in self._records.array), False)",
        (f"{STEPS}::test_without_a_type_the_bounds_decide_and_no_record_does",),
    ),
    Mutant(
        "all mechanisms ignore contributions",
        "_pipeline/draw_plan.py",
        "return epsilon / unit.rows",
        "return epsilon",
        (
            f"{DRIVER}::test_rows_of_a_person_divide_epsilon",
            ONE_PERSON,
        ),
    ),
    Mutant(
        "the draws of a release may cost a row what they cost a person",
        "_pipeline/draw_plan.py",
        "return epsilon_per_row(self.loss.epsilon, self.unit)",
        "return self.loss.epsilon",
        (f"{DRIVER}::test_rows_of_a_person_divide_epsilon",),
    ),
    Mutant(
        "account: what groups pay one by one is not added",
        "_pipeline/driver.py",
        "largest = max(for_each, default=Fraction(0)) if for_each else Fraction(0)",
        "largest = Fraction(0)",
        (f"{DRIVER}::test_one_group_that_spends_more_stops_all",),
    ),
    Mutant(
        "account: the draw comes before its payment",
        "_pipeline/driver.py",
        "            account.pay(draws)\n"
        "            shares = list(_shares(draws, count))\n"
        "            answered = yield from self._collect(shares, scope, groups)\n"
        "            columns = _by_draw(draws, count)\n"
        "            for share, (requests, evidence) in zip(shares, answered, strict=True):\n"
        "                draw, statistic, mechanism, positions = share\n"
        "                who = (draw, statistic, mechanism, groups[positions])\n"
        "                numbers = entropy.draw("
        "MechanismCall(plan, stage, *who, requests, evidence))\n"
        "                _place(columns[draw], positions, numbers, count)\n",
        "            shares = list(_shares(draws, count))\n"
        "            answered = yield from self._collect(shares, scope, groups)\n"
        "            columns = _by_draw(draws, count)\n"
        "            for share, (requests, evidence) in zip(shares, answered, strict=True):\n"
        "                draw, statistic, mechanism, positions = share\n"
        "                who = (draw, statistic, mechanism, groups[positions])\n"
        "                numbers = entropy.draw("
        "MechanismCall(plan, stage, *who, requests, evidence))\n"
        "                _place(columns[draw], positions, numbers, count)\n"
        "            account.pay(draws)\n",
        (f"{DRIVER}::test_a_program_that_spends_more_is_stopped_before_the_draw",),
    ),
    Mutant(
        "account: twice the epsilon may be spent",
        "_pipeline/driver.py",
        "if for_all + largest > self._budget or",
        "if for_all + largest >= 2 * self._budget or",
        (f"{DRIVER}::test_a_program_that_spends_more_is_stopped_before_the_draw",),
    ),
    Mutant(
        "account: what was paid is forgotten",
        "_pipeline/driver.py",
        "self._for_all, self._for_each = for_all, for_each",
        "pass",
        (f"{DRIVER}::test_a_program_that_spends_more_is_stopped_before_the_draw",),
    ),
    Mutant(
        "account: what a group paid by itself is forgotten",
        "_pipeline/driver.py",
        "before = for_each or [Fraction(0)] * self._groups",
        "before = [Fraction(0)] * self._groups",
        (f"{DRIVER}::test_what_a_group_paid_before_counts",),
    ),
    Mutant(
        "account: what all pay and what one pays are compared, not added",
        "_pipeline/driver.py",
        "if for_all + largest > self._budget or",
        "if max(for_all, largest) > self._budget or",
        (f"{DRIVER}::test_what_a_group_paid_before_counts",),
    ),
    Mutant(
        "account: a draw may cost nothing",
        "_pipeline/driver.py",
        " or any(_lowest(draw) <= 0 for draw in draws):",
        ":",
        (f"{DRIVER}::test_what_costs_nothing_is_no_draw",),
    ),
    Mutant(
        "account: a draw may cost one group nothing",
        "_pipeline/driver.py",
        "else min(draw.epsilon)",
        "else max(draw.epsilon)",
        (f"{DRIVER}::test_what_costs_one_group_nothing_is_no_draw",),
    ),
    Mutant(
        "account: groups pay for draws that leave them out",
        "_pipeline/driver.py",
        "spent if statistic is None else spent + cost",
        "spent + cost",
        (f"{DRIVER}::test_groups_may_take_different_branches",),
    ),
    Mutant(
        "driver: a draw for all groups is made with more than is paid",
        "_pipeline/driver.py",
        "make(draw.epsilon), np.arange",
        "make(2 * draw.epsilon), np.arange",
        (SHARES,),
    ),
    Mutant(
        "driver: a draw for some groups is made with more than is paid",
        "_pipeline/driver.py",
        "make(epsilon), np.array",
        "make(2 * epsilon), np.array",
        (f"{CLIPPED}::test_what_is_not_drawn_is_spent_on_the_sum",),
    ),
    Mutant(
        "driver: groups that a draw leaves out are drawn for",
        "_pipeline/driver.py",
        "            if statistic is not None:\n                by_share",
        "            if True:\n                by_share",
        (f"{DRIVER}::test_groups_may_take_different_branches",),
    ),
    Mutant(
        "driver: a draw is made again until it pleases",
        "_pipeline/driver.py",
        "columns: Columns = self.mechanism.numbers(self.evidence, entropy)\n",
        "columns: Columns = min(self.mechanism.numbers(self.evidence, entropy) for _ in '12')\n",
        (SHARES,),
    ),
    Mutant(
        "driver: the tail of a group is looked for in the first one",
        "_pipeline/driver.py",
        "single = groups[position : position + 1]",
        "single = groups[:1]",
        (f"{DRIVER}::test_the_tail_of_a_group_is_its_own",),
    ),
    Mutant(
        "driver: the tails of some groups are looked for in others",
        "_pipeline/driver.py",
        "self._with_further_answers(end.value, groups[shares[i].positions])",
        "self._with_further_answers(end.value, groups)",
        (f"{DRIVER}::test_the_tail_of_a_group_is_its_own",),
    ),
    Mutant(
        "driver: statistics that are asked together get each other's answers",
        "_pipeline/driver.py",
        "                begin = stop\n",
        "                begin = 0\n",
        (f"{DRIVER}::test_statistics_that_are_asked_together_get_their_own_answers",),
    ),
    Mutant(
        "graphs are drawn before they are charged",
        "_pipeline/run.py",
        CHARGES,
        (
            "    [driver.draw_alone(p.open()) for p in prepared if p.plan.spec.of_graphs]\n"
            "    charges: Sequence[Charge | None] = ("
        ),
        (f"{ORDER}[triangles(nodes=4, mechanism=best)]",),
    ),
    Mutant(
        "graphs are read before they are charged",
        "_pipeline/run.py",
        "return EdgeSource(data, checked.domain)",
        "return EdgeSource(list(data), checked.domain)",
        (f"{ORDER}[triangles(nodes=4, mechanism=best)]",),
    ),
    Mutant(
        "a ledger accepts seeded graphs",
        "_pipeline/run.py",
        "table.domain, entropy_source.secure, sql)",
        "table.domain, entropy_source.secure or checked.spec.of_graphs, sql)",
        (f"{REFUSED}[triangles(nodes=4, mechanism=best)]",),
    ),
    Mutant(
        "a release is called bounded for one of its parts",
        "_pipeline/draw_plan.py",
        "draws[mechanism_class(draw.mechanism).loss_family, draw.share] += 1",
        "draws[mechanism_class(program.draws[-1].mechanism).loss_family, draw.share] += 1",
        (FAMILIES,),
    ),
    Mutant(
        "a count of rows is called one of people with several",
        "_pipeline/draw_plan.py",
        "share * count * total, count, rows)",
        "share * count * total, count, rows + 1)",
        (FAMILIES,),
    ),
    Mutant(
        "draws of a part that cost a share of what they do",
        "_pipeline/draw_plan.py",
        "share * count * total, count, rows)",
        "share * count * total, 2 * count, rows)",
        (FAMILIES,),
    ),
    Mutant(
        "epsilon that is passed on is accounted where it was not spent",
        "_pipeline/draw_plan.py",
        "if draw.statistic is None and program.forwards_epsilon:",
        "if False:",
        (PASSED_ON,),
    ),
    Mutant(
        "data are read before the parameters of quantiles are checked",
        "_pipeline/run.py",
        "        return cls.of_checked(request.check(), data, rng)\n",
        '        len(data) if request.statistic == "quantiles" else 0\n'
        "        return cls.of_checked(request.check(), data, rng)\n",
        (CHECKS,),
    ),
    Mutant(
        "facts that say less than is spent",
        "_pipeline/draw_plan.py",
        "sum((p.share for p in parts), Fraction(0)) * total",
        "sum((p.share for p in parts), Fraction(0)) * total / 2",
        (SHARES,),
    ),
    Mutant(
        "groups of a person: more than there are cost as much as that many",
        "_pipeline/draw_plan.py",
        "reachable = None if groups == 1 else min(reachable, groups)",
        "pass",
        (f"{SEVERAL_GROUPS}::test_more_groups_than_there_are_cost_nothing",),
    ),
    Mutant(
        "groups of a person: the engine is not told",
        "_pipeline/request.py",
        "selection = selection._replace(groups_per_person=plan.unit.groups_per_person)",
        "pass",
        (f"{SEVERAL_GROUPS}::test_each_group_counts_a_person_and_says_so",),
    ),
    Mutant(
        "sizes: values get all of epsilon as well",
        "_pipeline/draw_plan.py",
        "values.scaled(value_share).beside([_SIZES])",
        "values.beside([_SIZES])",
        (f"{SIZES}::test_a_tenth_pays_for_sizes_and_the_rest_for_values",),
    ),
    Mutant(
        "sizes: ends of intervals believe in all of epsilon",
        "_pipeline/draw_plan.py",
        "epsilon = epsilon_per_row(self.epsilon, unit) * value_share",
        "epsilon = epsilon_per_row(self.epsilon, unit)",
        (f"{SIZES}::test_ends_of_intervals_know_what_is_left_of_epsilon",),
    ),
    Mutant(
        "sizes: a value is withheld at the threshold",
        "_pipeline/released_values.py",
        "value if size >= below",
        "value if size > below",
        (f"{SIZES}::test_the_threshold_itself_is_enough",),
    ),
    Mutant(
        "sizes: withheld values stay in the cells",
        "_pipeline/released_values.py",
        "cells = withhold_small_groups(facts, columns, cells, sizes)",
        "cells = tuple(zip(*values, strict=True))",
        (f"{SIZES}::test_values_of_small_groups_are_withheld_and_sizes_stand_beside",),
    ),
    Mutant(
        "a person is charged like a row",
        "_pipeline/draw_plan.py",
        "Loss(self.epsilon, parts=_losses(program, self.epsilon, unit.rows))",
        "Loss(self.epsilon / unit.rows)",
        (SHARES,),
    ),
    Mutant(
        "edges are called rows",
        "_pipeline/draw_plan.py",
        'PrivacyUnit("edge")',
        'PrivacyUnit("row")',
        (GRAPH_SHARES,),
    ),
    Mutant(
        "bits of the release are drawn before the charge",
        "_pipeline/run.py",
        (
            "        return cls(plan, checked.post_process(plan), facts, table,"
            " entropy_source, data, reading)\n"
        ),
        (
            "        table.engine(entropy_source)\n"
            "        return cls(plan, checked.post_process(plan), facts, table,"
            " entropy_source, data, reading)\n"
        ),
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
        "numbers of groups that are asked alike are those of other groups",
        "_pipeline/driver.py",
        "places = positions.tolist()",
        "places = positions[::-1].tolist()",
        (f"{ENCLOSURE}::test_groups_that_ask_alike_are_drawn_together",),
    ),
    Mutant(
        "groups that are asked alike are drawn for alike, whatever they pay",
        "_pipeline/driver.py",
        "by_share.setdefault((statistic, draw.epsilon_of(position)), [])",
        "by_share.setdefault((statistic, draw.epsilon_of(0)), [])",
        (f"{CLIPPED}::test_what_is_not_drawn_is_spent_on_the_sum",),
    ),
    Mutant(
        "interval: the ends are not told how many rows a person has",
        "_pipeline/draw_plan.py",
        ("            settings.epsilon,\n            lambda"),
        ("            self.epsilon,\n            lambda"),
        (INTERVALS,),
    ),
    Mutant(
        "interval: groups do not count where all hold together",
        "_pipeline/draw_plan.py",
        "(groups if simultaneous else 1)",
        "1",
        (SEVERAL,),
    ),
    Mutant(
        "interval: rows of a person count as a sample",
        "_pipeline/draw_plan.py",
        'if contributions != 1:\n        raise DuffError(\n            f"an interval for',
        'if False:\n        raise DuffError(\n            f"an interval for',
        (INTERVALS,),
    ),
    Mutant(
        "distribution: the band forgets that the total is noisy",
        "_pipeline/distribution.py",
        "end_bound = END_RATIO * bound",
        "end_bound = 0",
        (f"{BANDS}::test_the_band_covers",),
    ),
    Mutant(
        "distribution: the band forgets sampling",
        "_pipeline/distribution.py",
        "low, high = low - distance, high + distance",
        "low, high = low, high",
        (f"{BANDS}::test_the_band_covers_the_population",),
    ),
)
